-- Text under a nondeterministic collation: SQL calls values equal that differ in bytes, so that a
-- filter could miss members. An error, wherever the collation comes from.
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

-- Without OFFSET 0, constants would be folded: both ways are tried.
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

-- value: an expression. Every use of the first kind ends with 0A000, of the second with success.
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

-- Stored columns, whose collation nobody wrote into the query.
INSERT INTO any_case_table VALUES ('a', '{a}');
SELECT bf_agg(t) FROM any_case_table;
SELECT bf_agg(a) FROM any_case_table;
SELECT t FROM any_case_table WHERE bf_create(10) + 'a'::text @> t;
SELECT t FROM any_case_table r WHERE bf_create(10) + row('a'::text) @> r;
SELECT bf_agg(t COLLATE "C") @> 'a' AS contained FROM any_case_table;

-- What the error says.
SELECT bf_create(10) + 'a'::text COLLATE any_case;
SELECT bf_create(10) @> 'a'::text COLLATE any_case;
SELECT bf_create(10) @> 'a' COLLATE any_case;
SELECT bf_create(10) + 'a' COLLATE any_case;
SELECT bf_hash('a' COLLATE any_case);
SELECT bf_agg('a' COLLATE any_case);
SELECT bf_hash(row('a' COLLATE any_case));
SELECT bf_create(10) @> any_case_range('a', 'b');
SELECT bf_agg(r) FROM (VALUES (row(1, 'a')::any_case_row)) v(r);

-- Under deterministic collations, text is its bytes.
SELECT count(DISTINCT hash) AS hashes FROM (VALUES
  (bf_hash('a'::text)), (bf_hash('a' COLLATE "C")), (bf_hash('a' COLLATE "POSIX")),
  (bf_hash('a' COLLATE "default")), (bf_hash('a' COLLATE exact)),
  (bf_hash('a'::char(3) COLLATE exact)), (bf_hash(lower('A') COLLATE "C"))) v(hash);
SELECT bf_create(10) + 'a'::text COLLATE exact @> 'a'::text COLLATE "C" AS contained;

-- Two collations at odds: none can be derived.
SELECT outcome, count(*) FROM (
  SELECT outcome(format(statement, '(SELECT bf_create(10) AS f, c || p AS x FROM
    (SELECT ''a''::text COLLATE "C" AS c, ''b''::text COLLATE "POSIX" AS p) t) s'))
  FROM uses WHERE statement NOT LIKE '%array[x]%') o -- array[x] has the default collation again
GROUP BY outcome;
SELECT bf_create(10) @> (c || p)
FROM (SELECT 'a'::text COLLATE "C" AS c, 'b'::text COLLATE "POSIX" AS p OFFSET 0) t;
