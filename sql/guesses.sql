-- Functions and arguments that people guess. The server raises its own errors for them.
-- doc/troubleshooting.md explains these errors and offers the calls that this file tests.
CREATE SCHEMA guesses;
SET search_path = guesses, public;
\i sql/include/outcome.sql
CREATE TABLE filters AS
  SELECT bf_create(10) + 1 AS bloom, cbf_create(10) + 1 AS counting, cf_create(10) + 1 AS cuckoo;
SELECT expression, outcome(format('SELECT %s FROM guesses.filters', expression)) FROM (VALUES
  ('bf_exists(bloom, 1)'), ('bf_test(bloom, 1)'), ('bf_insert(bloom, 1)'), ('bf_reserve(10)'),
  ('bf_new(10)'), ('bloomfilter(10)'), ('bf_remove(bloom, 1)'), ('bf_delete(bloom, 1)'),
  ('bf_add(counting, 1)'), ('bf_remove(counting, 1)'), ('bf_union_agg(counting)'),
  ('bf_add(cuckoo, 1)'), ('bf_remove(cuckoo, 1)'),
  ('bf_add_all(bloom, 1)'), ('bf_contains_any(bloom, 1)'), ('bf_contains_all(bloom, 1)'),
  ('bf_contains_each(bloom, 1)'), ('cbf_add_all(counting, 1)'), ('cf_add_all(cuckoo, 1)'),
  ('bf_contains_any(counting, ARRAY[1])'), ('cbf_contains_any(counting, ARRAY[1])'),
  ('cf_contains_any(cuckoo, ARRAY[1])')) e(expression);

-- The functions with the prefix bf_ that take filters of all types.
SELECT proname FROM pg_proc p JOIN pg_depend d ON (classid, objid) = ('pg_proc'::regclass, p.oid)
  JOIN pg_extension e ON (refclassid, refobjid) = ('pg_extension'::regclass, e.oid)
WHERE extname = 'bloomfilter' AND proname LIKE 'bf\_%'
  AND 'countingbloomfilter'::regtype = ANY (proargtypes)
INTERSECT
SELECT proname FROM pg_proc WHERE 'cuckoofilter'::regtype = ANY (proargtypes)
ORDER BY proname;
SELECT (SELECT bool_or(counting @> v) FROM unnest(ARRAY[1, 7]) v) AS "any, counting",
  (SELECT bool_or(cuckoo @> v) FROM unnest(ARRAY[1, 7]) v) AS "any, cuckoo",
  bf_contains_any(counting::bloomfilter, ARRAY[1, 7]) AS "any, cast"
FROM filters;

-- A subquery that finds several filters
INSERT INTO filters SELECT bf_create(10) + 2;
SELECT outcome('SELECT count(*) FROM generate_series(1, 3) i
  WHERE (SELECT bloom FROM guesses.filters) @> i') AS several;
SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM filters WHERE bloom @> i)) AS "asked one by one",
  count(*) FILTER (WHERE (SELECT bf_union_agg(bloom) FROM filters) @> i) AS united
FROM generate_series(1, 3) i;

-- Indexes of other access methods
SELECT method, outcome(format('CREATE INDEX ON guesses.filters USING %s (bloom)', method))
FROM unnest('{gin, gist, brin, bloom}'::text[]) method;
SELECT outcome('CREATE INDEX ON guesses.filters USING bloomfilter (bloom)') AS bloom,
  outcome('CREATE INDEX ON guesses.filters USING bloomfilter (counting)') AS counting,
  outcome('CREATE INDEX ON guesses.filters USING bloomfilter (cuckoo)') AS cuckoo \gx
