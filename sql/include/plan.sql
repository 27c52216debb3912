\set ECHO none
-- Which of the steps that a test is about a plan has, in the order of this list.
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  lines text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    lines := lines || line;
  END LOOP;
  RETURN concat_ws(', ', substring(lines FROM 'Finalize Aggregate'),
    substring(lines FROM 'Partial Aggregate'), substring(lines FROM 'Gather'),
    substring(lines FROM 'Hash Join|Merge Join|Nested Loop|HashAggregate|Group|Index'));
END $$;
\set ECHO all
