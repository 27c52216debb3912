-- Filters as values: compared, grouped, sorted, joined, kept in tables and indexes; and never
-- changed by what is done with them.
CREATE SCHEMA comparison;
SET search_path = comparison, public;
\i sql/include/outcome.sql

CREATE TABLE keys (filter bloomfilter UNIQUE, name text);
INSERT INTO keys VALUES (bf_create(10) + 1, 'one'), (bf_create(10) + 2, 'two'),
  (bf_create(10), 'none'), (bf_create(100), 'hundred'), (bf_create(10, seed => 1), 'seeded');
CREATE TABLE twice AS TABLE keys UNION ALL TABLE keys;

SELECT outcome('INSERT INTO keys VALUES (bf_create(10) + 1::int8)') AS duplicate;
SELECT count(*) AS rows, count(DISTINCT filter) AS filters FROM twice;
SELECT a = b AS equal, a <> b AS not_equal, a = c AS other, a <> c AS not_other, a = d AS larger
FROM (SELECT bf_create(10) + 1 AS a, bf_create(10) + 1::int2 AS b, bf_create(10) + 2 AS c,
        bf_create(1000) + 1 AS d) s;
SELECT bool_and(a < b AND a <= b AND NOT a > b AND NOT a >= b AND a <> b AND NOT a = b AND b > a
                AND b >= a AND NOT b < a AND NOT b <= a AND a <= a AND a >= a AND NOT a < a
                AND bloomfilter_cmp(a, b) < 0 AND bloomfilter_cmp(b, a) > 0
                AND bloomfilter_cmp(a, a) = 0) AS ordered
FROM (SELECT filter AS b, lag(filter) OVER (ORDER BY filter) AS a FROM keys) s WHERE a IS NOT NULL;
SELECT array_agg(filter::bytea ORDER BY filter) =
  array_agg(filter::bytea ORDER BY filter::bytea) AS bytewise
FROM keys;
SELECT bloomfilter_hash(a) = bloomfilter_hash(b) AS hash,
  bloomfilter_hash(a) <> bloomfilter_hash(c) AS other,
  bloomfilter_hash_extended(a, 5) = bloomfilter_hash_extended(b, 5) AS extended,
  bloomfilter_hash_extended(a, 5) <> bloomfilter_hash_extended(a, 6) AS seeded
FROM (SELECT bf_create(10) + 1 AS a, bf_create(10) + 1::int8 AS b, bf_create(10) + 2 AS c) s;

-- Every plan gives the same answer.
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  lines text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    lines := lines || line;
  END LOOP;
  RETURN substring(lines FROM 'Hash Join|Merge Join|Nested Loop|HashAggregate|Group|Index');
END $$;
\set joined 'SELECT count(*) FROM twice JOIN keys USING (filter)'
\set grouped 'SELECT filter FROM twice GROUP BY filter'
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET enable_sort = off;
SELECT plan(:'joined'), (:joined);
SELECT plan(:'grouped'), (SELECT count(*) FROM (:grouped) s);
RESET enable_mergejoin;
RESET enable_sort;
SET enable_hashjoin = off;
SET enable_hashagg = off;
SELECT plan(:'joined'), (:joined);
SELECT plan(:'grouped'), (SELECT count(*) FROM (:grouped) s);
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_hashagg;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan('SELECT name FROM keys WHERE filter = bf_create(10) + 2');
SELECT name FROM keys WHERE filter = bf_create(10) + 2;
RESET enable_seqscan;
RESET enable_bitmapscan;

CREATE TABLE parts (filter bloomfilter) PARTITION BY HASH (filter);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT bf_create(10) + x FROM generate_series(1, 20) x;
SELECT count(*) AS pruned_to_one FROM parts WHERE filter = bf_create(10) + 7;

-- A filter too large for an index entry is one for a hash of it.
CREATE TABLE large (filter bloomfilter);
INSERT INTO large SELECT bf_agg(x, 10000) FROM generate_series(1, 10000) x;
SELECT outcome('CREATE UNIQUE INDEX ON large (filter)') AS filter,
  outcome('CREATE UNIQUE INDEX ON large (sha256(filter::bytea))') AS hash;

-- Adding to a filter makes another one: stored (out of line and inline) and in variables.
CREATE TABLE filters (id int, filter bloomfilter);
INSERT INTO filters SELECT x % 2, bf_agg(x, 100000) FROM generate_series(1, 2000) x GROUP BY 1;
INSERT INTO filters SELECT 2 + x % 2, bf_create(10) + x FROM generate_series(1, 4) x;
CREATE VIEW sums AS
  SELECT id, md5(string_agg(filter::bytea, '' ORDER BY filter)) FROM filters GROUP BY id;
CREATE TABLE sums_before AS TABLE sums;
SELECT count(*) AS rows, bool_and(filter + -1 @> -1) AS plus,
  bool_and(filter + '-2' @> -2) AS literal,
  bool_and((bf_put(filter, -3)).filter @> -3) AS bf_put,
  bool_and(bf_contains_all(bf_add_all(filter, '{-4,-5}'::int[]), '{-4,-5}'::int[])) AS bf_add_all,
  bool_and(bf_contains_hash(bf_add_hash(filter, 6), 6)) AS bf_add_hash,
  bool_or(bf_clear(filter) @> 1) AS bf_clear,
  bool_or(bf_contains_any(filter, '{-1,-2,-3,-4,-5}'::int[])) AS changed
FROM filters;
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

-- One call site that meets filters stored out of line and inline by turns.
SELECT x, array_agg(id ORDER BY id) AS ids
FROM filters, (VALUES (1), (2), (4), (2000)) v(x) WHERE filter @> x GROUP BY x ORDER BY x;
SELECT count(*) AS missed
FROM filters JOIN generate_series(1, 2000) x ON x % 2 = id WHERE NOT filter @> x;
