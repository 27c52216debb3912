\set ECHO none
-- Plans, written in the same way on every supported server.

-- Returns the lines of a plan. Servers differ in the name of an InitPlan and of its result, in the
-- decimals of row counts, and in whether they list parameters and disabled nodes. Memory depends on
-- the machine.
CREATE FUNCTION explained(query text, options text DEFAULT 'VERBOSE OFF') RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (COSTS OFF, %s) %s', options, query) LOOP
    line := regexp_replace(line, '^(\s*)InitPlan \w+.*', '\1InitPlan');
    line := regexp_replace(line, '(\$\d+|\(InitPlan \w+\).col1) @>', 'InitPlan @>');
    line := regexp_replace(line, 'Memory: \d+', 'Memory: N');
    line := replace(line, '.00 ', ' ');
    IF line !~ 'Disabled|Params Evaluated' THEN
      RETURN NEXT line;
    END IF;
  END LOOP;
END $$;

-- Returns the first line of a plan that matches a pattern.
CREATE FUNCTION line_of(query text, pattern text) RETURNS text LANGUAGE sql AS
  'SELECT trim(line) FROM explained(query) line WHERE line ~ pattern LIMIT 1';

-- Lists the nodes of a plan that a test is about, in the order of the function's body.
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(', ', substring(lines FROM 'Finalize Aggregate'),
    substring(lines FROM 'Partial Aggregate|Bloom Filter Build'), substring(lines FROM 'Gather'),
    substring(lines FROM 'Merge Append'),
    substring(lines FROM 'Hash Join|Merge Join|Nested Loop|HashAggregate|Group|Index'))
  FROM (SELECT string_agg(line, '') AS lines FROM explained(query) line) l
$$;

-- Returns a plan as JSON.
CREATE FUNCTION plan_of(query text, options text DEFAULT 'VERBOSE OFF') RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE format('EXPLAIN (FORMAT json, %s) %s', options, query) INTO plan;
  RETURN plan;
END $$;
\set ECHO all
