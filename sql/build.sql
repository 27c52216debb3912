-- Bloom Filter Build, which builds filters a page at a time. The file tests where the planner
-- offers it, and that its filters equal those of an aggregate over a sequential scan.
CREATE SCHEMA build;
SET search_path = build, public;
SET max_parallel_workers_per_gather = 0;
SET compute_query_id = off;

CREATE TABLE events (id int, item bigint, url text, code varchar, price numeric, at timestamptz,
  tags int[], span int4range, flags jsonb, pair int4, gone int);
INSERT INTO events
  SELECT i, i * 7919 % 10007, 'https://example.com/' || i % 5000,
    'c' || i % 700 || repeat(' ', i % 2), (i % 2000)::numeric / 4,
    '2024-01-01'::timestamptz + (i % 800) * interval '1 hour', ARRAY[i % 30, i % 20],
    int4range(i % 50, i % 50 + 3), to_jsonb(i % 90), nullif(i % 5, 0), i
  FROM generate_series(1, 20000) i;
ALTER TABLE events DROP COLUMN gone;
ALTER TABLE events ADD COLUMN added int DEFAULT 77;
UPDATE events SET added = id % 10 WHERE id % 3 = 0;
DELETE FROM events WHERE id % 17 = 0;
VACUUM ANALYZE events;
CREATE TABLE empty (LIKE events);
CREATE TABLE filters AS SELECT bf_agg(item) AS items FROM events WHERE id % 40 = 1;

\i sql/include/both_ways.sql
CREATE FUNCTION built(query text, OUT build boolean, OUT same boolean, OUT rows text)
LANGUAGE sql AS
  $$SELECT * FROM both_ways(query, 'Bloom Filter Build')$$;
\set analyzed 'ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF'

-- A build costs less than a scan of the same table, because it reads rows a page at a time.
SELECT (build #>> '{0,Plan,Total Cost}')::float < (scan #>> '{0,Plan,Total Cost}')::float AS less
FROM plan_of('SELECT bf_agg(item) FROM events') build, plan_of('SELECT FROM events') scan;
-- Every family of element types, and every aggregate.
SELECT value, built.* FROM unnest(ARRAY['item', 'url', 'code', 'price', 'at', 'tags', 'span',
  'flags', 'pair', 'added', 'item + 1', 'code::text', 'item / pair', 'events', 'tableoid', '7',
  'ROW(id, pair)', 'ROW(item, url, price, at, tags, span, flags, pair + 1)', 'ROW(code, id)',
  'ROW(code::text)', 'ROW(events, ROW(pair))', 'ROW(7)'])
  value,
  built(format('SELECT bf_agg(%s) FROM events', value));
SELECT call, built.* FROM unnest(ARRAY['bf_agg(item)', 'bf_agg(item, 100000)',
  'bf_agg(item, 100000, 0.001)', 'bf_agg(item, NULL, 0.1)', 'bf_agg(item, NULL, NULL)',
  'bf_agg(item, 20000, 0.01, ''guava'')', 'bf_agg(url, 20000, 0.01, ''parquet'')',
  'bf_agg(item, 20000, 0.05, ''hive'')', 'bf_agg(url, 20000, 0.01, ''datasketches'')',
  'cbf_agg(pair)', 'cbf_agg(item, 30000)', 'cf_agg(item)', 'cf_agg(item, 100, 0.001)',
  'cf_agg(code)', 'bf_dist_agg(bf_element_of(url))', 'bf_dist_agg(bf_element_of(code), 1000)',
  'bf_partial_agg(bf_element_of(item))', 'bf_partial_agg(bf_element_of(item), 1000, 0.001)',
  'bf_agg(item, (SELECT 20000))', 'bf_agg(item, 0)', 'bf_agg(item, 20000, 2)',
  'bf_agg(item, id)', 'bf_agg(DISTINCT item)', 'bf_agg(item ORDER BY id)',
  'bf_agg(item) FILTER (WHERE pair = 3)', 'bf_agg(item) FILTER (WHERE random() < 0)',
  'bf_agg(item / pair) FILTER (WHERE pair > 0)', 'bf_merge_agg(NULL)',
  'bf_union_agg((SELECT items FROM filters))', 'bf_agg(bf_element_of(item))']) call,
  built(format('SELECT %s FROM events', call));

-- The elements are not computed by bf_element_of in the call: a column or another function has
-- them.
CREATE TABLE elements AS SELECT bf_element_of(item) AS element FROM events;
CREATE FUNCTION element(item bigint) RETURNS bf_element LANGUAGE plpgsql IMMUTABLE AS
  'BEGIN RETURN bf_element_of(item); END';
SELECT built.* FROM unnest(ARRAY['SELECT bf_dist_agg(element) FROM elements',
  'SELECT bf_dist_agg(element(item)) FROM events WHERE id < 99']) query, built(query);

-- Several aggregates, expressions around them, and HAVING.
SELECT built.* FROM unnest(ARRAY[
  'SELECT bf_agg(item), cf_agg(url), bf_agg(item, 9000) FROM events',
  'SELECT bf_count(bf_agg(item)) + bf_count(bf_agg(url)), 1 FROM events',
  'SELECT bf_agg(item), count(*) FROM events',
  'SELECT bf_agg(item), id % 2 FROM events GROUP BY id % 2',
  'SELECT bf_agg(item) FROM events HAVING bf_agg(url) @> ''https://example.com/1''::text',
  'SELECT bf_agg(item) FROM events HAVING NOT bf_agg(url) @> ''https://example.com/1''::text',
  'SELECT bf_agg(item) FROM events HAVING count(*) > 3',
  'SELECT bf_agg(item) FROM events GROUP BY ()',
  'SELECT bf_agg(item) FROM empty',
  'SELECT bf_agg(item, 300) FROM empty',
  'SELECT bf_agg(item, (SELECT count(*) FROM empty)) FROM empty',
  'SELECT cbf_agg(item), cf_agg(item), bf_partial_agg(bf_element_of(item)) FROM empty',
  'SELECT bf_agg(item, 9, 0.01, ''guava'') FROM empty',
  'SELECT bf_agg(item, 9, 2) FROM empty',
  'SELECT bf_agg(e.item) FROM events e, filters',
  'SELECT bf_agg(item) FROM events TABLESAMPLE system (100)']) query, built(query);

-- Conditions that are evaluated row by row, conditions that probe filters, and both. They are
-- evaluated in the order of a sequential scan.
SELECT condition, built.* FROM unnest(ARRAY['pair = 3', 'id > 100 AND url LIKE ''%7''', 'false',
  'pair IS NULL', 'id IN (SELECT i FROM generate_series(1, 9) i)',
  'pair NOT IN (SELECT i FROM generate_series(1, 2) i)', '(SELECT true)', 'random() < 2',
  '(SELECT items FROM filters) @> item', '(SELECT items FROM filters) @> item AND pair = 2',
  '(SELECT items FROM filters) @> item AND 10 / pair > 2',
  'pair > 0 AND (SELECT items FROM filters) @> item AND 10 / pair > 2',
  '(SELECT items FROM filters) @> (item / pair)',
  'NULL::bloomfilter @> item',
  'id + 0 < 0 AND (SELECT items FROM filters, generate_series(1, 2)) @> item',
  'ctid = ''(0,1)''', 'events IS NOT NULL']) condition,
  built(format('SELECT bf_agg(item), bf_agg(url) FROM events WHERE %s', condition));

-- Places in a query: subqueries with an outer row's values, CTEs, commands, functions.
SELECT built.* FROM unnest(ARRAY[
  'SELECT g, (SELECT bf_agg(item) FROM events WHERE pair = g) FROM generate_series(0, 5) g',
  'SELECT g, f FROM generate_series(1, 3) g,
     LATERAL (SELECT bf_agg(item, g * 100) AS f FROM events) s',
  'SELECT id FROM events WHERE (SELECT bf_agg(item) FROM events WHERE id < 90) @> item',
  'WITH c AS MATERIALIZED (SELECT bf_agg(item) AS f FROM events) SELECT a.f, b.f FROM c a, c b',
  'SELECT bf_agg(item) FROM (SELECT item FROM events WHERE pair = 1 OFFSET 0) s',
  'SELECT bf_agg(item) FROM (SELECT item FROM events WHERE pair = 1) s',
  'SELECT bf_agg(item) FROM events UNION ALL SELECT bf_agg(item) FROM events WHERE id < 9']) query,
  built(query);
CREATE TABLE made AS SELECT bf_agg(item) AS f FROM events;
INSERT INTO made SELECT bf_agg(item) FROM events;
CREATE MATERIALIZED VIEW seen AS SELECT bf_agg(item) AS f FROM events;
INSERT INTO events (id, item) VALUES (-1, -1);
REFRESH MATERIALIZED VIEW seen;
SELECT count(DISTINCT made.f) AS one, bool_and(seen.f @> -1::bigint) AS added FROM made, seen;
PREPARE build(bigint, float8) AS SELECT bf_count(bf_agg(item, $2)) > 0 FROM events WHERE item > $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE build(100, 7000);
EXECUTE build(100, 7000);
EXECUTE build(100000, 7000);
RESET plan_cache_mode;

-- A cursor, held and scrolled.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT bf_count(bf_agg(item)) > 0 FROM events;
FETCH 1 FROM c;
FETCH 1 FROM c;
FETCH BACKWARD 1 FROM c;
ROLLBACK;

-- A cursor over builds that start again for each row of an outer query.
\set outer 'SELECT g, md5(f::bytea) FROM generate_series(1, 4) g, '
\set inner 'LATERAL (SELECT bf_agg(item, 5000) AS f FROM events WHERE pair = g OR id < 9) s'
\set fetched 'FETCH 3 FROM c; FETCH BACKWARD 2 FROM c; MOVE BACKWARD ALL FROM c; FETCH ALL FROM c;'
\pset format unaligned
\pset tuples_only on
EXPLAIN (COSTS OFF) :outer :inner;
BEGIN;
SET LOCAL bloomfilter.scan = off;
DECLARE c SCROLL CURSOR FOR :outer :inner;
:fetched
ROLLBACK;
BEGIN;
DECLARE c SCROLL CURSOR FOR :outer :inner;
:fetched
ROLLBACK;
\pset format aligned
\pset tuples_only off

-- The table's statistics count the same scans and rows with and without the node.
CREATE FUNCTION counted(query text, scan text, OUT scans bigint, OUT rows bigint)
LANGUAGE plpgsql AS $$
BEGIN
  scans := pg_stat_get_xact_numscans('events'::regclass);
  rows := pg_stat_get_xact_tuples_returned('events'::regclass);
  PERFORM set_config('bloomfilter.scan', scan, true);
  PERFORM rows_of(query);
  scans := pg_stat_get_xact_numscans('events'::regclass) - scans;
  rows := pg_stat_get_xact_tuples_returned('events'::regclass) - rows;
END $$;
SELECT scan, counted.* FROM unnest(ARRAY['off', 'on']) scan,
  counted('SELECT bf_agg(item) FROM events WHERE pair = 3', scan);

-- The warning of a filter with too many values is raised once in a statement.
SELECT bf_count(bf_agg(item, 100)) > 0 AS built FROM events;
SELECT (SELECT bf_count(bf_agg(item, 100)) > 0 FROM events WHERE id < 2000) AS built,
  (SELECT bf_count(bf_agg(item, 100)) > 0 FROM events WHERE id > 2000) AS again;
SET bloomfilter.overfill = error;
SELECT built.* FROM unnest(ARRAY['SELECT bf_agg(item, 100) FROM events',
  'SELECT cbf_agg(item, 100) FROM events WHERE pair = 1']) query, built(query);
RESET bloomfilter.overfill;

-- Temporary and unlogged tables. Parallel workers cannot read temporary tables.
CREATE TEMPORARY TABLE passing AS SELECT id, item, pair FROM events;
CREATE UNLOGGED TABLE unlogged AS SELECT id, item, pair FROM events;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT name, built.*, parallel FROM unnest(ARRAY['passing', 'unlogged']) name,
  built(format('SELECT bf_agg(item), cf_agg(pair) FROM %s WHERE pair > 1', name)),
  LATERAL (SELECT bool_or(line ~ 'Gather') AS parallel
    FROM explained('SELECT bf_agg(item), cf_agg(pair) FROM ' || name) line) e;
SELECT bf_count(bf_agg(item, 100)) > 0 AS built FROM unlogged;
-- Parallel workers start again for each row of the outer table.
SET enable_material = off;
SELECT built.*, again FROM (VALUES ('SELECT g, f, k FROM generate_series(1, 3) g LEFT JOIN
    (SELECT bf_agg(item) AS f, cf_agg(pair) AS k FROM unlogged) s ON true')) v(query), built(query),
  LATERAL (SELECT string_agg(line, '') ~ 'Nested Loop.*Finalize.*Gather.*Build' AS again
    FROM explained(query) line) e;
RESET enable_material;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

-- The output of EXPLAIN.
SELECT explained('SELECT bf_agg(item), bf_count(cbf_agg(url)::bloomfilter) FROM events e
  WHERE pair > 1 AND (SELECT items FROM filters) @> item HAVING bf_agg(item, 5) @> 3::bigint',
  'VERBOSE');
SELECT explained('SELECT bf_agg(item) FROM events WHERE pair > 1', :'analyzed');
-- Rows whose value is NULL are not added. What HAVING rejects is counted by itself.
SELECT explained('SELECT bf_agg(nullif(pair, 2)) FROM events WHERE pair > 1
  HAVING bf_count(bf_agg(nullif(pair, 2))) > 1000', :'analyzed');
SELECT count(*) FILTER (WHERE (pair > 1) IS NOT TRUE) AS removed,
  count(nullif(pair, 2)) FILTER (WHERE pair > 1) AS added FROM events;
SELECT explained('SELECT cf_agg(item), bf_agg(url) FROM events
  WHERE (SELECT items FROM filters) @> item', :'analyzed');

-- Partitions and inheritance children.
CREATE TABLE parts (id int, item bigint, pair int) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (5000);
CREATE TABLE parts_2 (pair int, item bigint, id int);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (5000) TO (9000);
CREATE TABLE parts_3 PARTITION OF parts DEFAULT PARTITION BY LIST (pair);
CREATE TABLE parts_31 PARTITION OF parts_3 FOR VALUES IN (1, 2);
CREATE TABLE parts_32 PARTITION OF parts_3 DEFAULT;
INSERT INTO parts SELECT id, item, pair FROM events WHERE id >= 0;
CREATE TABLE child () INHERITS (events);
INSERT INTO child (id, item, pair) VALUES (-2, -2, 1);
ANALYZE parts, child;
SELECT built.* FROM unnest(ARRAY[
  'SELECT bf_agg(item), cf_agg(item, 100), bf_dist_agg(bf_element_of(item)) FROM parts',
  'SELECT bf_agg(item) FROM parts WHERE id < 100', 'SELECT bf_agg(item) FROM parts WHERE pair = 1',
  'SELECT bf_agg(item) FROM parts WHERE (SELECT items FROM filters) @> item',
  'SELECT bf_agg(item) FROM parts WHERE false', 'SELECT bf_agg(item) FROM events',
  'SELECT g, (SELECT bf_agg(item) FROM parts WHERE pair = g) FROM generate_series(1, 3) g',
  'SELECT bf_agg(item) FROM ONLY events']) query, built(query);
EXPLAIN (COSTS OFF) SELECT bf_agg(item) FROM parts WHERE id < 7000;
SELECT explained('SELECT bf_agg(item) FROM parts WHERE id < 1000', :'analyzed');
-- Partitions are pruned when a query starts, and again for each row of an outer query.
SET plan_cache_mode = force_generic_plan;
PREPARE of_part(int, bigint) AS SELECT bf_agg(item, 9) @> $2 AS found FROM parts WHERE id = $1;
EXPLAIN (COSTS OFF) EXECUTE of_part(1, 7919);
EXECUTE of_part(1, 7919);
EXECUTE of_part(5001, 5220);
RESET plan_cache_mode;
SELECT built.*, looked_at FROM built('SELECT g, (SELECT bf_agg(item, 100) FROM parts
    WHERE id = g * 4000) FROM generate_series(1, 2) g'),
  LATERAL (SELECT count(*) AS looked_at FROM explained('SELECT g, (SELECT bf_agg(item, 100)
    FROM parts WHERE id = g * 4000) FROM generate_series(1, 2) g', :'analyzed') line
    WHERE line ~ 'Build.*loops=1') s;

-- Row security hides rows from conditions, and a user needs the privilege to call the aggregate.
CREATE FUNCTION unless_hidden(id int, value bigint) RETURNS bigint LANGUAGE plpgsql
IMMUTABLE COST 0.0001 AS $$
BEGIN
  IF id % 2 = 1 THEN
    RAISE 'row % is hidden', id;
  END IF;
  RETURN value;
END $$;
CREATE ROLE regress_bloomfilter_build;
GRANT USAGE ON SCHEMA build TO regress_bloomfilter_build;
GRANT SELECT ON events, filters TO regress_bloomfilter_build;
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON events USING (id % 2 = 0);
SET ROLE regress_bloomfilter_build;
SELECT built.* FROM unnest(ARRAY['SELECT bf_agg(item) FROM events',
  'SELECT bf_agg(item) FROM events WHERE 1 / (id % 2 - 1) = -1',
  'SELECT bf_agg(item) FROM events WHERE (SELECT items FROM filters) @> item',
  'SELECT bf_agg(unless_hidden(id, item)) FROM events',
  'SELECT bf_agg(item) FROM events WHERE unless_hidden(id, 1) = 1',
  'SELECT bf_agg(item) FROM events WHERE (SELECT items FROM filters) @> unless_hidden(id, item)',
  'SELECT bf_agg(item) FILTER (WHERE unless_hidden(id, 1) = 1) FROM events']) query, built(query);
SELECT explained('SELECT bf_agg(item) FROM events WHERE (SELECT items FROM filters) @> item
  AND item > 5');
RESET ROLE;
ALTER TABLE events DISABLE ROW LEVEL SECURITY;
CREATE FUNCTION with_scan(scan text, query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('bloomfilter.scan', scan, true);
  RETURN regexp_replace(rows_of(query), ' [0-9a-f]{32}$', '');
END $$;
BEGIN;
REVOKE EXECUTE ON FUNCTION bf_agg("any"), bf_element_of("any") FROM public;
REVOKE SELECT ON events FROM regress_bloomfilter_build;
GRANT SELECT (id, item) ON events TO regress_bloomfilter_build;
ALTER AGGREGATE cf_agg("any") OWNER TO regress_bloomfilter_build;
ALTER AGGREGATE cbf_agg("any", float8) OWNER TO regress_bloomfilter_build;
REVOKE EXECUTE ON FUNCTION cuckoofilter_agg_trans(internal, "any"),
  countingbloomfilter_agg_final(internal) FROM public;
SET LOCAL ROLE regress_bloomfilter_build;
SELECT query, with_scan('on', query) AS "on", with_scan('off', query) AS "off" FROM unnest(ARRAY[
  'SELECT bf_agg(item) FROM events', 'SELECT bf_agg(item, 20000) FROM events WHERE id > 9',
  'SELECT bf_agg(url, 20000) FROM events', 'SELECT bf_agg(item, 20000) FROM events WHERE pair = 1',
  'SELECT bf_agg(item, 20000) FILTER (WHERE pair = 1) FROM events',
  'SELECT bf_dist_agg(bf_element_of(item)) FROM events',
  'SELECT cf_agg(item) FROM events', 'SELECT cbf_agg(item, 20000) FROM events']) query;
ROLLBACK;
-- The right to call the function that probes a filter is needed, although the build does not call
-- it.
BEGIN;
REVOKE EXECUTE ON FUNCTION bf_contains(bloomfilter, "any") FROM public;
SET LOCAL ROLE regress_bloomfilter_build;
SELECT with_scan('on', query) AS "on", with_scan('off', query) AS "off" FROM
  concat('SELECT bf_agg(item, 20000) FROM events WHERE (SELECT bf_create(9)) @> item') query;
ROLLBACK;
DROP OWNED BY regress_bloomfilter_build;
DROP ROLE regress_bloomfilter_build;

-- A plan is made again when a function of the aggregate is altered.
SET plan_cache_mode = force_generic_plan;
PREPARE again AS SELECT bf_count(bf_agg(item)) > 0 AS built FROM events;
EXECUTE again;
BEGIN;
ALTER FUNCTION bloomfilter_agg_final(internal) SET search_path = public;
EXPLAIN (COSTS OFF) EXECUTE again;
EXECUTE again;
ROLLBACK;
EXECUTE again;
RESET plan_cache_mode;

-- Tables in joins that the planner removes, and queries with more calls than a build takes.
CREATE TABLE keyed (id int PRIMARY KEY);
CREATE TABLE split (id int, item int) PARTITION BY LIST (id);
CREATE TABLE split_1 PARTITION OF split FOR VALUES IN (1);
CREATE TABLE split_2 PARTITION OF split FOR VALUES IN (2);
INSERT INTO split SELECT 1 + i % 2, i FROM generate_series(1, 5000) i;
ANALYZE split;
SELECT name, built.* FROM unnest(ARRAY['ONLY events', 'split']) name, built(format(
  'SELECT bf_agg(e.item) FROM (SELECT e.item FROM %s e LEFT JOIN keyed USING (id)) e', name));
SELECT calls, build FROM unnest(ARRAY[64, 65]) calls, built(format('SELECT %s FROM ONLY events',
  (SELECT string_agg(format('bf_count(bf_agg(item, %s))', 10000 + n), ', ')
   FROM generate_series(1, calls) n)));

-- A volatile FILTER, which is evaluated row by row.
CREATE SEQUENCE turns;
CREATE FUNCTION built_again(query text) RETURNS text LANGUAGE sql AS $$
  SELECT setval('turns', 1);
  SELECT rows_of(query);
$$;
SELECT line_of(query, 'Bloom Filter Build') IS NOT NULL AS build, same FROM
  concat('SELECT bf_agg(item, 20000) FILTER (WHERE nextval(''turns'') % 2 = 0),
    bf_agg(id, 20000) FILTER (WHERE nextval(''turns'') % 2 = 0) FROM ONLY events') query,
  LATERAL (SELECT built_again(query) AS on) a,
  LATERAL (SELECT set_config('bloomfilter.scan', 'off', true), built_again(query) AS off) b,
  LATERAL (SELECT a.on = b.off AS same) c;
-- A volatile condition without a column, which is also in the select list or in HAVING.
SELECT built.* FROM unnest(ARRAY[
  'SELECT bf_count(bf_agg(item)) > 0, random() < 2 FROM ONLY events WHERE random() < 2',
  'SELECT bf_count(bf_agg(item)) > 0 FROM ONLY events WHERE nextval(''turns'') > 0
   HAVING nextval(''turns'') > 0']) query, built(query);

-- More conditions than the planner examines, and an EXISTS whose subquery is hashed.
SELECT conditions, built.build, built.same FROM unnest(ARRAY[256, 257]) conditions,
  built(format('SELECT bf_agg(item) FROM ONLY events WHERE %s',
    (SELECT string_agg('item <> ' || -i, ' AND ') FROM generate_series(1, conditions) i)));
SELECT built.* FROM built('SELECT bf_agg(item) FROM ONLY events e
  WHERE id < 5 OR EXISTS (SELECT FROM keyed k WHERE k.id = e.id)');

-- A cursor over a build is not positioned on a row of the table.
BEGIN;
DECLARE built CURSOR FOR SELECT bf_agg(item) FROM ONLY events;
MOVE built;
UPDATE events SET item = item WHERE CURRENT OF built;
ROLLBACK;

-- Aggregates that users made of the extension's functions.
CREATE AGGREGATE mine("any") (SFUNC = bloomfilter_agg_trans, STYPE = internal,
  FINALFUNC = bloomfilter_agg_final, FINALFUNC_EXTRA = false);
SELECT built.* FROM built('SELECT mine(item) FROM events');
SELECT format('CREATE AGGREGATE begun(bf_element) (SFUNC = bloomfilter_partial_add,
  STYPE = bf_partial, FINALFUNC = bloomfilter_partial_final,
  COMBINEFUNC = bloomfilter_partial_combine, INITCOND = %L)',
  (SELECT bf_partial_agg(bf_element_of(-i)) FROM generate_series(1, 3) i)) \gexec
SELECT built.* FROM built('SELECT begun(bf_element_of(item)) @> -50 FROM events');

SET client_min_messages = warning;
DROP SCHEMA build CASCADE;
