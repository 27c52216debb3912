\set ECHO none
\i sql/include/plan.sql
\set ECHO none
-- rows_of returns the number of rows of a query and their hash, or its error. both_ways runs a
-- query with bloomfilter.scan on and off. It returns whether the plan has a node, whether both runs
-- have the same rows or error, and the number of rows or the error.
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $body$
DECLARE
  rows text;
BEGIN
  EXECUTE format($$SELECT count(*) || ' ' ||
    md5(coalesce(string_agg(r::text, ',' ORDER BY r::text), '')) FROM (%s) r$$, query) INTO rows;
  RETURN rows;
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ': ' || SQLERRM;
END $body$;
CREATE FUNCTION both_ways(query text, node text, OUT used boolean, OUT same boolean, OUT rows text)
LANGUAGE plpgsql AS $$
BEGIN
  used := line_of(query, node) IS NOT NULL;
  rows := rows_of(query);
  SET LOCAL bloomfilter.scan = off;
  same := rows = rows_of(query);
  SET LOCAL bloomfilter.scan = on;
  rows := regexp_replace(rows, ' [0-9a-f]{32}$', '');
END $$;
\set ECHO all
