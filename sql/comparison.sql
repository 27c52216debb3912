-- Filters as values: they are compared, grouped, sorted, joined, and kept in tables and indexes.
-- None of these operations changes a filter.
CREATE SCHEMA comparison;
SET search_path = comparison, public;
\i sql/include/outcome.sql
\i sql/include/plan.sql
\set type bloomfilter
\set prefix bf
\i sql/include/comparison.sql

-- A filter that is too large for an index entry can be indexed by its hash.
CREATE TABLE large (filter bloomfilter);
INSERT INTO large SELECT bf_agg(x, 10000) FROM generate_series(1, 10000) x;
SELECT outcome('CREATE UNIQUE INDEX ON large (filter)') AS filter,
  outcome('CREATE UNIQUE INDEX ON large (sha256(filter::bytea))') AS hash;

-- Adding a value makes a new filter. The old filter stays as it is, whether it is stored out of
-- line, stored inline, or in a variable.
CREATE TABLE filters (id int, filter bloomfilter);
INSERT INTO filters SELECT x % 2, bf_agg(x, 100000) FROM generate_series(1, 2000) x GROUP BY 1;
INSERT INTO filters SELECT 2 + x % 2, bf_create(10) + x FROM generate_series(1, 4) x;
CREATE VIEW sums AS
  SELECT id, md5(string_agg(filter::bytea, '' ORDER BY filter)) FROM filters GROUP BY id;
CREATE TABLE sums_before AS TABLE sums;
SELECT count(*) AS rows,
  bool_and(filter + -1 @> -1) AS "+ adds",
  bool_and(filter + '-2' @> -2) AS "+ adds a literal",
  bool_and((bf_put(filter, -3)).filter @> -3) AS "bf_put adds",
  bool_and(bf_contains_all(bf_add_all(filter, '{-4,-5}'::int[]), '{-4,-5}'::int[]))
    AS "bf_add_all adds",
  bool_and(bf_contains_hash(bf_add_hash(filter, 6), 6)) AS "bf_add_hash adds",
  bool_or(bf_clear(filter) @> 1) AS "bf_clear leaves a value",
  bool_or(bf_contains_any(filter, '{-1,-2,-3,-4,-5}'::int[])) AS "a filter was changed"
FROM filters \gx
SELECT count(*) AS same FROM sums JOIN sums_before USING (id, md5);
DO $$
DECLARE
  f bloomfilter := bf_create(100);
  g bloomfilter := f;
BEGIN
  FOR i IN 1..100 LOOP
    f := f + i;
  END LOOP;
  ASSERT bf_contains_all(f, array(SELECT generate_series(1, 100))), 'f lacks a value';
  ASSERT bf_count(g) = 0, 'g was changed';
END $$;

-- One call site gets filters that are stored out of line and inline in turn.
SELECT x, array_agg(id ORDER BY id) AS ids
FROM filters, (VALUES (1), (2), (4), (2000)) v(x) WHERE filter @> x GROUP BY x ORDER BY x;
SELECT count(*) AS missed
FROM filters JOIN generate_series(1, 2000) x ON x % 2 = id WHERE NOT filter @> x;
-- Another call site gets arrays of several types.
CREATE TABLE several AS SELECT i, i / 1.0 AS n, i / 1::float8 AS d
FROM generate_series(1, 5) i, generate_series(1, 3);
ANALYZE several;
SELECT attname, bf_contains_any((SELECT bf_agg(i) FROM several), most_common_vals) AS of_integers
FROM pg_stats WHERE tablename = 'several' ORDER BY attname;
