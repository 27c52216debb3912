-- Text under a nondeterministic collation. SQL calls values equal that differ in bytes, so a filter
-- could miss members. Such values raise an error, wherever the collation comes from.
CREATE SCHEMA collation_test;
SET search_path = collation_test, public;
\i sql/include/outcome.sql

CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION exact (provider = icu, locale = 'und');
SELECT 'a' = 'A' COLLATE any_case AS equal;

CREATE TYPE any_case_range AS RANGE (subtype = text, collation = any_case);
CREATE TYPE exact_range AS RANGE (subtype = text, collation = exact);
CREATE TYPE any_case_row AS (i int, t text COLLATE any_case);
CREATE TYPE exact_row AS (i int, t text COLLATE exact);
CREATE DOMAIN any_case_domain AS text COLLATE any_case;
CREATE DOMAIN any_case_row_domain AS any_case_row;
CREATE TABLE any_case_table (t text COLLATE any_case, a text[] COLLATE any_case);

-- Each use is tried with OFFSET 0 and without it. Without it, the planner folds constants.
CREATE TABLE uses (way text, statement text);
INSERT INTO uses VALUES
  ('bf_add', 'SELECT bf_add(f, x) FROM %s'),
  ('+', 'SELECT f + x FROM %s'),
  ('bf_put', 'SELECT bf_put(f, x) FROM %s'),
  ('bf_contains', 'SELECT bf_contains(f, x) FROM %s'),
  ('@>', 'SELECT f @> x FROM %s'),
  ('<@', 'SELECT x <@ f FROM %s'),
  ('where', 'SELECT 1 FROM %s WHERE f @> x'),
  ('bf_add_all', 'SELECT bf_add_all(f, array[x]) FROM %s'),
  ('bf_contains_any', 'SELECT bf_contains_any(f, array[x]) FROM %s'),
  ('bf_contains_all', 'SELECT bf_contains_all(f, array[x]) FROM %s'),
  ('bf_contains_each', 'SELECT bf_contains_each(f, array[x]) FROM %s'),
  ('bf_hash', 'SELECT bf_hash(x) FROM %s'),
  ('bf_agg', 'SELECT bf_agg(x) FROM %s'),
  ('bf_agg with capacity', 'SELECT bf_agg(x, 100) FROM %s'),
  ('bf_agg with rate', 'SELECT bf_agg(x, 100, 0.001) FROM %s'),
  ('bf_agg over a window', 'SELECT bf_agg(x) OVER () FROM %s');
CREATE FUNCTION outcomes(value text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT outcome(format(statement, format('(SELECT %s AS f, %s AS x %s) s', filter, value, fence)))
  FROM uses, (VALUES ('bf_create(10)'), ('bf_add_hash(bf_create(10), 1)')) f(filter),
    (VALUES (''), ('OFFSET 0')) o(fence)
$$;

-- value: an expression. Every use of a value in `refused` ends with 0A000. Every use of a value in
-- `accepted` succeeds.
CREATE TABLE refused (value text);
INSERT INTO refused VALUES
  ('''a'' COLLATE any_case'),
  ('''a''::text COLLATE any_case'),
  ('''a''::varchar COLLATE any_case'),
  ('''a''::varchar(5) COLLATE any_case'),
  ('''a''::char(5) COLLATE any_case'),
  ('''a''::name COLLATE any_case'),
  ('''a''::any_case_domain'),
  ('lower(''A'' COLLATE any_case)'),
  ('''{a}''::text[] COLLATE any_case'),
  ('''{a}''::char(5)[] COLLATE any_case'),
  ('array[''a''::any_case_domain]'),
  ('any_case_range(''a'', ''b'')'),
  ('any_case_multirange(any_case_range(''a'', ''b''))'),
  ('array[any_case_range(''a'', ''b'')]'),
  ('row(1, ''a'')::any_case_row'),
  ('row(1, ''a'')::any_case_row_domain'),
  ('row(1, ''a''::text COLLATE any_case)'),
  ('row(1, row(''a''::text COLLATE any_case))'),
  ('row(1, any_case_range(''a'', ''b''))'),
  ('row(''{a}''::text[] COLLATE any_case)'),
  ('array[row(1, ''a'')::any_case_row]');
CREATE TABLE accepted (value text);
INSERT INTO accepted VALUES
  ('''a''::text COLLATE exact'),
  ('''a''::char(5) COLLATE "C"'),
  ('''a''::any_case_domain COLLATE "C"'),
  ('''{a}''::text[] COLLATE exact'),
  ('exact_range(''a'', ''b'')'),
  ('row(1, ''a'')::exact_row'),
  ('''a''::name'),
  ('''"a"''::jsonb');
SELECT count(*) AS refused FROM refused;
SELECT outcomes AS outcome, count(*) FROM refused, outcomes(value) GROUP BY 1;
SELECT outcomes AS outcome, count(*) FROM accepted, outcomes(value) GROUP BY 1;

-- The element type of an empty filter is given by name. The type's own collation decides.
SELECT type, outcome(format('SELECT bf_create(10, type => %L)', type)) AS bloom,
  outcome(format('SELECT bf_create_by_size(512, 3, type => %L)', type)) AS "by size",
  outcome(format('SELECT cbf_create(10, type => %L)', type)) AS counting,
  outcome(format('SELECT cf_create(10, type => %L)', type)) AS cuckoo
FROM unnest('{any_case_domain,any_case_domain[],any_case_range,any_case_row,any_case_row_domain,
  any_case_table,exact_range,exact_row,text,name}'::text[]) type;
SELECT bf_create(10, type => 'any_case_domain');

-- Stored columns. The query does not name their collation.
INSERT INTO any_case_table VALUES ('a', '{a}');
SELECT bf_agg(t) FROM any_case_table;
SELECT bf_agg(a) FROM any_case_table;
SELECT t FROM any_case_table WHERE bf_create(10) + 'a'::text @> t;
SELECT t FROM any_case_table r WHERE bf_create(10) + row('a'::text) @> r;
SELECT bf_agg(t COLLATE "C") @> 'a' AS contained FROM any_case_table;

-- The messages of the errors.
SELECT bf_create(10) + 'a'::text COLLATE any_case;
SELECT bf_create(10) @> 'a'::text COLLATE any_case;
SELECT bf_create(10) @> 'a' COLLATE any_case;
SELECT bf_create(10) + 'a' COLLATE any_case;
SELECT bf_hash('a' COLLATE any_case);
SELECT bf_agg('a' COLLATE any_case);
SELECT bf_hash(row('a' COLLATE any_case));
SELECT bf_create(10) @> any_case_range('a', 'b');
SELECT bf_agg(r) FROM (VALUES (row(1, 'a')::any_case_row)) v(r);

-- Under a deterministic collation, the hash of a text is the hash of its bytes.
SELECT count(DISTINCT hash) AS hashes FROM (VALUES
  (bf_hash('a'::text)), (bf_hash('a' COLLATE "C")), (bf_hash('a' COLLATE "POSIX")),
  (bf_hash('a' COLLATE "default")), (bf_hash('a' COLLATE exact)),
  (bf_hash('a'::char(3) COLLATE exact)), (bf_hash(lower('A') COLLATE "C"))) v(hash);
SELECT bf_create(10) + 'a'::text COLLATE exact @> 'a'::text COLLATE "C" AS contained;

-- From two different collations, none can be derived.
SELECT outcome, count(*) FROM (
  SELECT outcome(format(statement, '(SELECT bf_create(10) AS f, c || p AS x FROM
    (SELECT ''a''::text COLLATE "C" AS c, ''b''::text COLLATE "POSIX" AS p) t) s'))
  FROM uses WHERE statement NOT LIKE '%array[x]%') o -- array[x] has the default collation again
GROUP BY outcome;
SELECT bf_create(10) @> (c || p)
FROM (SELECT 'a'::text COLLATE "C" AS c, 'b'::text COLLATE "POSIX" AS p OFFSET 0) t;

-- If the value is a literal or a parameter, the planner checks its collation. If the collation is
-- deterministic, the call no longer checks it. The results and the errors stay the same. This is
-- tested in generic plans, where a parameter stays a parameter, in custom plans, and in folded
-- constants.
CREATE TABLE sets AS SELECT n AS id, bf_create(10) + ('v' || n) AS f,
  cbf_create(10) + ('v' || n) AS c, cf_create(10) + ('v' || n) AS k FROM generate_series(1, 3) n;
CREATE FUNCTION found(condition text, parameter text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('PREPARE asked(%s) AS SELECT array_agg(id) FROM sets WHERE %s', parameter,
    condition);
  EXECUTE 'EXECUTE asked(''v2'')' INTO result;
  DEALLOCATE asked;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  DEALLOCATE ALL;
  RETURN SQLSTATE;
END $$;
CREATE TABLE conditions (condition text);
INSERT INTO conditions VALUES
  ('f @> %s'), ('%s <@ f'), ('bf_contains(f, %s)'), ('bf_contained(%s, f)'),
  ('bf_contains(value => %s, filter => f)'), ('f + %s = f'), ('bf_add(f, %s) = f'),
  ('bf_contains_any(f, ARRAY[%s::text])'), ('NOT (bf_put(f, %s)).was_new'),
  ('c @> %s'), ('%s <@ c'), ('cbf_contains(c, %s)'), ('cbf_contained(%s, c)'),
  ('cbf_multiplicity(c, %s) = 1'), ('cbf_multiplicity(c + %s, ''v2'') = 2'),
  ('cbf_remove(c, %s, true) <> c'), ('CASE WHEN id = 2 THEN (c - %s) <> c END'),
  ('k @> %s'), ('%s <@ k'), ('cf_contains(k, %s)'), ('cf_contained(%s, k)'),
  ('cf_multiplicity(k, %s) = 1'), ('cf_multiplicity(k + %s, ''v2'') = 2'),
  ('cf_remove(k, %s, true) <> k'), ('CASE WHEN id = 2 THEN (k - %s) <> k END'),
  ('bf_contains_hash(f, bf_hash(%s::text))'), ('id = bf_shard(%s::text, 1) + 2');
CREATE FUNCTION found_by(value text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  mode text;
BEGIN
  FOREACH mode IN ARRAY ARRAY['force_generic_plan', 'force_custom_plan'] LOOP
    PERFORM set_config('plan_cache_mode', mode, false);
    RETURN QUERY SELECT found(format(condition, value), parameter)
      FROM conditions, (VALUES ('text'), ('varchar'), ('unknown')) p(parameter)
      WHERE value LIKE '%$1%' OR parameter = 'text';
  END LOOP;
END $$;
SELECT found_by AS found, count(*) FROM (VALUES ('$1'), ('($1 COLLATE "C")'),
  ('($1 COLLATE exact)'), ('$1::varchar'), ('$1::name'), ('$1::text::varchar(5)'),
  ('($1::text::varchar COLLATE "POSIX")'), ('''v2'''), ('''v2''::text'), ('''v2''::char(5)'),
  ('(''v2'' COLLATE "C")'), ('(''v2''::text COLLATE exact)')) v(value), found_by(value) GROUP BY 1;
SELECT found_by AS found, count(*) FROM (VALUES ('($1 COLLATE any_case)'),
  ('($1::varchar COLLATE any_case)'), ('(''v2'' COLLATE any_case)'),
  ('(''v2''::name COLLATE any_case)')) v(value), found_by(value) GROUP BY 1;

-- The value is an argument of a function, which may be inlined.
CREATE TABLE columns (plain text COLLATE "C", other text COLLATE "POSIX",
  loose text COLLATE any_case);
INSERT INTO columns VALUES ('v2', 'v2', 'v2');
CREATE FUNCTION inlined(f bloomfilter, x text) RETURNS boolean LANGUAGE sql IMMUTABLE
  AS 'SELECT f @> x';
CREATE FUNCTION called(f bloomfilter, x text) RETURNS boolean LANGUAGE sql VOLATILE
  AS 'SELECT f @> x';
CREATE FUNCTION compiled(f bloomfilter, x text) RETURNS boolean LANGUAGE plpgsql
  AS 'BEGIN RETURN f @> x AND bf_contains(f, x); END';
SET plan_cache_mode = force_generic_plan;
SELECT name, value, outcome(format('SELECT %s(f, %s) FROM sets, columns', name, value))
FROM (VALUES ('inlined'), ('called'), ('compiled')) f(name),
  (VALUES ('plain'), ('loose'), ('''v2'''), ('''v2'' COLLATE any_case')) v(value);
SELECT count(*) FILTER (WHERE inlined(f, 'v2')) AS inlined,
  count(*) FILTER (WHERE called(f, 'v2')) AS called,
  count(*) FILTER (WHERE compiled(f, 'v2')) AS compiled FROM sets;

-- An expression over columns with different collations has no collation of its own. The planner may
-- rewrite the expression, but must not take one column's collation for both.
SELECT statement, outcome(statement) FROM (VALUES
  ('SELECT f @> (plain || other) FROM sets, columns'),
  ('SELECT f @> x FROM sets, (SELECT plain || other FROM columns OFFSET 0) u(x)'),
  ('SELECT f @> ANY (SELECT plain || other FROM columns) FROM sets'),
  ('SELECT f @> (SELECT plain || other FROM columns) FROM sets'),
  ('SELECT (SELECT count(*) FROM sets WHERE f @> (plain || other)) FROM columns'),
  ('SELECT f @> CASE WHEN false THEN plain ELSE other END FROM sets, columns'),
  ('SELECT f @> x FROM sets,
      (SELECT plain FROM columns UNION ALL SELECT other FROM columns) u(x)'),
  ('SELECT count(*) FROM sets,
      (SELECT plain FROM columns UNION ALL SELECT other FROM columns) u(x) WHERE f @> x'),
  ('SELECT count(*) FROM (SELECT f, plain FROM sets, columns
      UNION ALL SELECT f, other FROM sets, columns) u(f, x) WHERE f @> x'),
  ('SELECT count(*) FROM (SELECT f, plain FROM sets LEFT JOIN columns ON true
      UNION ALL SELECT f, loose FROM sets LEFT JOIN columns ON true) u(f, x) WHERE f @> x'),
  ('SELECT f + (plain || other) FROM sets, columns'),
  ('SELECT c - (plain || other) FROM sets, columns'),
  ('SELECT bf_contains_any(f, ARRAY[plain] || ARRAY[other]) FROM sets, columns')) v(statement);

-- A parameter of a function always has a collation, whatever the collation of the argument is.
SELECT count(*) FILTER (WHERE inlined(f, p || q)) AS inlined,
  count(*) FILTER (WHERE called(f, p || q)) AS called,
  count(*) FILTER (WHERE compiled(f, p || q)) AS compiled
FROM sets, (VALUES ('v'::text COLLATE "C", '2'::text COLLATE "POSIX")) v(p, q);

-- A lower node of the plan computes the parameter as a column, too. The parameter keeps its own
-- collation.
PREPARE grouped(text, name) AS
  SELECT $1, $2, bf_union_agg(f) @> $1 AS one, bf_union_agg(f) @> $2 AS two,
    bf_union_agg(f) @> ($1 COLLATE "C") AS three FROM sets GROUP BY $1, $2;
EXECUTE grouped('v2', 'v3');
RESET plan_cache_mode;
