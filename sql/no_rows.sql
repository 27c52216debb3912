-- An aggregate over no rows returns a filter that can be filled afterwards. If a size was
-- requested, the filter has it. Otherwise, the filter grows. It is the same in every plan, and a
-- union with it is the same as without it.
CREATE SCHEMA no_rows;
SET search_path = no_rows, public;
\i sql/include/outcome.sql
\i sql/include/plan.sql
CREATE TABLE none (x int, expected int);
CREATE TABLE rows AS SELECT x, x % 3 AS part FROM generate_series(1, 1000) x;
CREATE TABLE parts (x int, part int) PARTITION BY LIST (part);
CREATE TABLE part0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE part1 PARTITION OF parts FOR VALUES IN (1);
INSERT INTO parts SELECT x, part FROM rows WHERE part < 2;
ANALYZE none, rows, parts;

-- If a size is requested, the filter has it. Otherwise, a bloomfilter grows, and the other types
-- have room for a thousand values.
SELECT what, bf_describe(f) FROM (
  SELECT 1, 'nothing asked', bf_agg(x) FROM none
  UNION ALL SELECT 2, 'NULL asked', bf_agg(x, NULL) FROM none
  UNION ALL SELECT 3, 'a rate', bf_agg(x, NULL, 0.001) FROM none
  UNION ALL SELECT 4, 'a number', bf_agg(x, 1000000) FROM none
  UNION ALL SELECT 5, 'both', bf_agg(x, 1e4, 0.001) FROM none
  UNION ALL SELECT 6, 'a layout', bf_agg(x, 1000, 0.01, 'guava_integer') FROM none
  UNION ALL SELECT 7, 'a number from elsewhere', bf_agg(x, (SELECT max(x) FROM rows)) FROM none
  UNION ALL SELECT 8, 'a number of none', bf_agg(x, (SELECT count(*) FROM none)) FROM none
  UNION ALL SELECT 9, 'a number from each row', bf_agg(x, expected) FROM none
  UNION ALL SELECT 10, 'rows, but filtered', bf_agg(x, 5000) FILTER (WHERE false) FROM rows
  UNION ALL SELECT 11, 'distinct and ordered', bf_agg(DISTINCT x, 5000 ORDER BY x) FROM none
  UNION ALL SELECT 11, 'ordered by a number', bf_agg(x ORDER BY 5000 + random()) FROM none
  UNION ALL SELECT 12, 'dist', bf_dist_agg(bf_element_of(x)) FROM none
  UNION ALL SELECT 13, 'dist, both', bf_dist_agg(bf_element_of(x), 5000, 0.001) FROM none
  UNION ALL SELECT 14, 'merged', bf_merge_agg(p) FROM (
    SELECT bf_partial_agg(bf_element_of(x), 5000, 0.001) AS p FROM none) p
  UNION ALL SELECT 15, 'merged, nothing asked', bf_merge_agg(p) FROM (
    SELECT bf_partial_agg(bf_element_of(x)) AS p FROM none) p
  UNION ALL SELECT 16, 'nothing merged', bf_merge_agg(p) FROM (
    SELECT bf_partial_agg(bf_element_of(x)) AS p FROM none GROUP BY x) p
  UNION ALL SELECT 17, 'whole rows', bf_agg(s, 5000) FROM (SELECT x, 1 FROM none OFFSET 0) s
  UNION ALL SELECT 18, 'for a join', bf_join_agg(NULL::int)
  UNION ALL SELECT 19, 'without an aggregate', bloomfilter_partial_final(NULL)
) s (n, what, f) ORDER BY n;
SELECT cbf_describe(cbf_agg(x)), cbf_describe(cbf_agg(x, 5000, 0.001)), cf_describe(cf_agg(x)),
  cf_describe(cf_agg(x, 5000, 0.001)) FROM none \gx
-- NULL alone is a row, so the aggregate sees the requested capacity.
SELECT bf_agg(NULL::int, 1000) = bf_create(1000) AS sized,
  bf_agg(NULL::int) = (SELECT bf_agg(x) FROM none) AS "sizes itself",
  cbf_agg(NULL::int, 1000) = cbf_create(1000) AS counting, cf_agg(NULL::int) = cf_agg(x) AS cuckoo
FROM (SELECT x FROM none UNION ALL SELECT NULL) s;
SELECT statement, outcome(statement) FROM (VALUES ('SELECT bf_agg(x, 1e300) FROM no_rows.none'),
  ('SELECT bf_agg(x, 5, 2) FROM no_rows.none'),
  ('SELECT bf_agg(x, 5, 0.1, ''no such'') FROM no_rows.none'),
  ('SELECT bf_agg(x, NULL, 0.1, ''guava'') FROM no_rows.none'),
  ('SELECT bf_agg(x, 0) FROM no_rows.none')) v(statement);

-- The filter is the same in every plan. The settings make each statement parallel, partial, hashed
-- or sorted.
CREATE TABLE statements (statement text);
INSERT INTO statements
  SELECT format('SELECT %s %s', call, source)
  FROM (VALUES ('bf_agg(x)'), ('bf_agg(x, 1000)'),
    ('bf_agg(x, 1000 + length(current_user) * 0, 0.001)'),
    ('bf_agg(x, NULL, 0.001)'), ('bf_agg(x, 1000, 0.01, ''guava'')'), ('cbf_agg(x)'),
    ('cbf_agg(x, 1000)'), ('cf_agg(x)'), ('cf_agg(x, 1000, 0.001)'),
    ('bf_dist_agg(bf_element_of(x))'),
    ('bf_dist_agg(bf_element_of(x), 1000)'), ('bf_partial_agg(bf_element_of(x))'),
    ('bf_partial_agg(bf_element_of(x), 1000)')) c(call),
    (VALUES ('AS f FROM no_rows.none'), ('FILTER (WHERE x < 0) AS f FROM no_rows.rows'),
      ('FILTER (WHERE x < 0) AS f FROM no_rows.parts'),
      ('FILTER (WHERE x < 0) AS f FROM no_rows.rows GROUP BY part'),
      ('FILTER (WHERE x < 0) AS f FROM no_rows.parts GROUP BY part HAVING count(*) > 5')) s(source)
  UNION ALL VALUES ('SELECT bf_agg(x, part + 1) FILTER (WHERE x < 0) AS f FROM no_rows.parts');
CREATE TABLE plans (statement text, plan text, result text);
CREATE FUNCTION made(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT string_agg(DISTINCT md5(f::text), '','') FROM (%s) s', statement)
    INTO result;
  RETURN result;
END $$;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE PROCEDURE try(workers text, hashed text, partitionwise text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('max_parallel_workers_per_gather', workers, false),
    set_config('enable_hashagg', hashed, false),
    set_config('enable_partitionwise_aggregate', partitionwise, false);
  INSERT INTO plans SELECT statement, plan(statement), made(statement) FROM statements;
END $$;
CALL try('0', 'on', 'off');
CALL try('2', 'on', 'off');
SET bloomfilter.scan = off;
CALL try('0', 'on', 'off');
CALL try('0', 'off', 'on');
CALL try('2', 'on', 'off');
CALL try('2', 'off', 'on');
RESET bloomfilter.scan;
SELECT statement, array_agg(DISTINCT plan) AS plans FROM plans
GROUP BY statement HAVING count(DISTINCT result) > 1 ORDER BY statement;
SELECT count(*) AS plans, count(DISTINCT statement) AS statements,
  count(DISTINCT statement) FILTER (WHERE plan ~ 'Finalize.*Partial.*Gather') > 20 AS parallel,
  count(DISTINCT statement) FILTER (WHERE plan ~ 'Finalize.*Partial Aggregate$') > 10 AS partial,
  count(DISTINCT statement) FILTER (WHERE plan ~ 'Build') > 10 AS built
FROM plans;
RESET max_parallel_workers_per_gather;
RESET enable_hashagg;
RESET enable_partitionwise_aggregate;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- The aggregate in a prepared statement, in a function, and in a window whose frames have no rows.
PREPARE asked(float8, float8) AS SELECT bf_describe(bf_agg(x, $1, $2)) FROM none;
SET plan_cache_mode = force_generic_plan;
EXECUTE asked(500, 0.001);
EXECUTE asked(NULL, 0.001);
RESET plan_cache_mode;
-- The capacity is a grouping key. It is computed by a lower node, or in the same way by several
-- nodes.
PREPARE grouped(float8) AS SELECT DISTINCT bf_describe(bf_agg(x, $1 * 2) FILTER (WHERE x < 0))
  FROM rows GROUP BY part, $1;
EXECUTE grouped(350);
SET plan_cache_mode = force_generic_plan;
EXECUTE grouped(350);
RESET plan_cache_mode;
SELECT bf_describe(bf_agg(x, n) FILTER (WHERE x < 0)) AS differ
FROM (SELECT x, 100::float8 AS n FROM rows UNION ALL SELECT x, 200 FROM rows) s;
-- If the capacity depends on a row or on a volatile function, or is too small, a filter in another
-- system's layout still gets a size.
SELECT part, bf_describe(bf_agg(x, part + 70, 0.01, 'guava') FILTER (WHERE x < 2))
FROM rows GROUP BY part ORDER BY part;
SELECT bf_describe(bf_agg(x, (SELECT count(*) FROM none), 0.01, 'spark')) FROM none;
-- A capacity is not known either if a window function or a set-returning function computes it.
SELECT bf_describe(bf_agg(x, n)) AS of_window
FROM (SELECT x, cume_dist() OVER () AS n FROM none) s;
SELECT bf_describe(bf_agg(x, n)) AS of_set
FROM (SELECT x, unnest(ARRAY[5.0::float8, 6]) AS n FROM none) s;
-- The capacity comes from nested subqueries. Each uses the capacity of the next one twice.
CREATE FUNCTION doubled(first text, levels int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  source text := format('(SELECT x, %s AS n FROM none OFFSET 0) s', first);
  described text;
BEGIN
  FOR level IN 1..levels LOOP
    source := format('(SELECT x, n + n AS n FROM %s OFFSET 0) s', source);
  END LOOP;
  EXECUTE 'SELECT bf_describe(bf_agg(x, n)) FROM ' || source INTO described;
  RETURN described;
END $$;
SELECT first, levels, doubled(first, levels) FROM (VALUES ('7::float8', 10), ('7::float8', 50),
  ('x::float8', 50)) v(first, levels);
CREATE SEQUENCE numbers;
SELECT bf_describe(bf_agg(x, nextval('numbers'))) FROM none;
SELECT is_called FROM numbers;
CREATE FUNCTION asked(number float8) RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_agg(x, number) FROM no_rows.none';
SELECT bf_describe(asked(5000));
SELECT DISTINCT bf_describe(bf_agg(x, 20) OVER w) AS bloom,
  cbf_describe(cbf_agg(x, 30) OVER w) AS counting,
  cf_describe(cf_agg(x, 40) OVER w) AS cuckoo
FROM rows WINDOW w AS (ORDER BY x ROWS BETWEEN 2000 FOLLOWING AND 3000 FOLLOWING) \gx
SELECT bool_and(f = (SELECT cbf_agg(x, 30) FROM none)) AS "frames that became empty" FROM (
  SELECT x, cbf_agg(x, 30) OVER (ORDER BY x ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING) AS f
  FROM generate_series(1, 10) x) s WHERE x > 8;
-- Two calls that differ. In a window, the final function does not know which call it ends.
SELECT DISTINCT bf_describe(bf_agg(x, 20, 0.001) OVER w), bf_describe(bf_agg(x, 30, 0.001) OVER w)
FROM rows WINDOW w AS (ORDER BY x ROWS BETWEEN 2000 FOLLOWING AND 3000 FOLLOWING);
-- The aggregate beside a window function that is no aggregate.
SELECT DISTINCT bf_describe(bf_agg(x, 20) OVER w), row_number() OVER w > 0 AS numbered
FROM rows WINDOW w AS (ORDER BY x ROWS BETWEEN 2000 FOLLOWING AND 3000 FOLLOWING);
-- Partitions in the order of an index.
CREATE INDEX ON parts (x);
VACUUM ANALYZE parts;
SET enable_seqscan = off;
SET enable_hashagg = off;
SET enable_sort = off;
SELECT plan(statement),
  made(statement) = made('SELECT bf_agg(x, 700) AS f FROM no_rows.none') AS same
FROM (VALUES ('SELECT bf_agg(part, 700) FILTER (WHERE x < 0) AS f FROM no_rows.parts GROUP BY x'))
  v(statement);
RESET enable_seqscan;
RESET enable_hashagg;
RESET enable_sort;
-- Another aggregate has the same final function. Its arguments are not searched for a capacity.
CREATE FUNCTION theirs_step(bf_partial, bf_element, text) RETURNS bf_partial
  LANGUAGE sql AS 'SELECT $1';
CREATE AGGREGATE theirs(bf_element, text) (
  SFUNC = theirs_step, STYPE = bf_partial, FINALFUNC = bloomfilter_partial_final);
SELECT bf_describe(theirs(bf_element_of(x), 'text')) FROM none;

-- When such filters are filled afterwards, they keep the rate. They become what an empty filter
-- would have become.
CREATE FUNCTION fill(INOUT f bloomfilter, n int) LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1..n LOOP
    f := f + ('https://example.com/' || i);
  END LOOP;
END $$;
SET bloomfilter.overfill = error;
SELECT what, n, bf_check(f), bf_fpr(f) <= 1.05 * asked AS "rate is kept",
  (SELECT count(*) FROM generate_series(1, n) i
   WHERE NOT f @> ('https://example.com/' || i)) AS denied
FROM (SELECT 'nothing asked' AS what, 5000 AS n, 0.01 AS asked, fill(bf_agg(x::text), 5000) AS f
    FROM none
  UNION ALL SELECT 'a rate', 5000, 0.001, fill(bf_agg(x::text, NULL, 0.001), 5000) FROM none
  UNION ALL SELECT 'a number', 2000, 0.01, fill(bf_agg(x::text, 2000), 2000) FROM none) s;
RESET bloomfilter.overfill;
SELECT bf_agg(x, 1000) + 7 = bf_create(1000) + 7 AS sized,
  bf_agg(x) + 7 = bf_create(100, grow => true) + 7 AS grows,
  bf_add_all(bf_agg(x, 1000), '{}'::int[]) = bf_agg(x, 1000) AS "nothing added",
  bf_add_all(bf_agg(x, 1000), '{1,2}'::int[]) = bf_create(1000) + 1 + 2 AS all,
  (bf_put(bf_agg(x, 1000), 1)).filter = bf_create(1000) + 1 AS put,
  bf_add_hash(bf_agg(x, 1000), 1) = bf_add_hash(bf_create(1000), 1) AS hash,
  bf_agg(x, 1000, 0.01, 'parquet_int32') + 1 = bf_create(1000, 0.01, 'parquet_int32') + 1
    AS parquet,
  bf_agg(x, 1000, 0.01, 'redis') + 1 = bf_create(1000, 0.01, 'redis') + 1 AS redis,
  bf_agg(x::text, 1000, 0.01, 'guava_chars') + 'a'::text
    = bf_create(1000, 0.01, 'guava_chars') + 'a'::text AS guava,
  cbf_agg(x) + 1 = cbf_create(1000) + 1 AS counting, cf_agg(x) + 1 = cf_create(1000) + 1 AS cuckoo,
  bf_clear(bf_agg(x)) = bf_agg(x) AND bf_clear(bf_agg(x, 9)) = bf_agg(x, 9) AS cleared,
  bf_growable(bf_agg(x)) = bf_agg(x) AS growable, bf_agg(x)::text::bloomfilter = bf_agg(x) AS text,
  bf_agg(x) @> 1 OR cf_agg(x) @> 1 OR cbf_agg(x) @> 1 AS "contains anything"
FROM none \gx

-- A union with such a filter is the same as without it, byte for byte.
CREATE TABLE empties AS
  SELECT bf_agg(x) AS f, cbf_agg(x) AS c, cf_agg(x) AS k FROM none
  UNION ALL SELECT bf_agg(x, 1000), cbf_agg(x, 70), cf_agg(x, 70) FROM none
  UNION ALL SELECT bf_agg(x, NULL, 0.001), cbf_agg(x, 70, 0.1), cf_agg(x, 9, 0.1) FROM none
  UNION ALL SELECT bf_agg(x, 70, 1e-6), cbf_agg(x, 70, 1e-4), cf_agg(x, 7, 1e-6) FROM none;
CREATE TABLE filters AS SELECT bf_agg(x) AS f FROM rows
  UNION ALL SELECT bf_agg(x, 1000) FROM rows
  UNION ALL SELECT bf_agg(x::text, 1000, 0.0001) FROM rows
  UNION ALL SELECT bf_agg(x) | bf_agg(-x, 2000) FROM rows
  UNION ALL SELECT bf_create(10, 0.01, 'lines', 7) + 5
  UNION ALL SELECT bf_create(10, grow => true) + 5
  UNION ALL SELECT bf_create(10)
  UNION ALL SELECT bf_create(100, grow => true)
  UNION ALL SELECT bf_create_by_size(512, 3) + 1;
SELECT count(*), bool_and((e.f | s.f) = s.f) AS before, bool_and((s.f | e.f) = s.f) AS after
FROM filters s, empties e;
SELECT bool_and(bf_union_agg = f) AS aggregated FROM filters s, LATERAL (
  SELECT bf_union_agg(u)
  FROM (SELECT f FROM empties UNION ALL SELECT s.f UNION ALL SELECT f FROM empties) a(u)) b;
SELECT bool_and(cbf_union(e.c, s.c) = s.c AND cbf_union(s.c, e.c) = s.c) AS counting,
  bool_and(cf_union(e.k, s.k) = s.k AND cf_union(s.k, e.k) = s.k) AS cuckoo
FROM empties e, (SELECT cbf_agg(x) AS c, cf_agg(x) AS k FROM rows
  UNION ALL SELECT cbf_agg(x, 5000), cf_agg(x, 5000) FROM rows) s;
SELECT layout, (s.f | e.f) = s.f AND (e.f | s.f) = s.f AS "of one layout"
FROM unnest('{guava,guava_integer,redis,spark,parquet,datasketches,hive}'::text[]) layout,
  LATERAL (SELECT bf_agg(x::bigint, 1000, 0.01, layout) AS f FROM rows) s,
  LATERAL (SELECT bf_agg(x::bigint, 300, 0.01, layout) AS f FROM none) e;
-- In a union of several such filters, the one for the most values remains, in any order.
SELECT bf_describe(bf_union_agg(f ORDER BY f)), bf_describe(bf_union_agg(f ORDER BY f DESC))
FROM empties;
SELECT bool_and((a.f | b.f) = (b.f | a.f)) AS commutes,
  bool_and(((a.f | b.f) | c.f) = (a.f | (b.f | c.f))) AS associates
FROM empties a, empties b, empties c;

-- A filter with values, or with more than one link, is never marked as made from no rows.
SELECT what, outcome(format('SELECT %L::bytea::bloomfilter', set_byte(b, 32, 7))) FROM (VALUES
  ('no values', bf_create(100, grow => true)::bytea),
  ('values', (bf_create(100, grow => true) + 1)::bytea),
  ('links', (bf_create(9) | bf_create(900) | bf_create(100, grow => true))::bytea)) v(what, b);
SET client_min_messages = warning;
DROP SCHEMA no_rows CASCADE;
