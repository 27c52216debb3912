\set ECHO none
-- Lists the steps of a plan that a test is about, in the order given here.
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  lines text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    lines := lines || line;
  END LOOP;
  RETURN concat_ws(', ', substring(lines FROM 'Finalize Aggregate'),
    substring(lines FROM 'Partial Aggregate|Bloom Filter Build'), substring(lines FROM 'Gather'),
    substring(lines FROM 'Merge Append'),
    substring(lines FROM 'Hash Join|Merge Join|Nested Loop|HashAggregate|Group|Index'));
END $$;
\set ECHO all
