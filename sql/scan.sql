-- Bloom Filter Scan, which probes a filter for many rows at once. The file tests where the planner
-- offers it, and that its rows are those of a sequential scan.
CREATE SCHEMA scan;
SET search_path = scan, public;
SET max_parallel_workers_per_gather = 0;
SET bloomfilter.overfill = 'ignore';

CREATE TABLE events (id int, item bigint, url text, code varchar, price numeric, at timestamptz,
  tags int[], span int4range, flags jsonb, pair int4, later text, gone int);
INSERT INTO events
  SELECT i, i * 7919 % 10007, 'https://example.com/' || i % 5000, 'c' || i % 700,
    (i % 2000)::numeric / 4, '2024-01-01'::timestamptz + (i % 800) * interval '1 hour',
    ARRAY[i % 30, i % 20], int4range(i % 50, i % 50 + 3), to_jsonb(i % 90), nullif(i % 5, 0),
    repeat('later ' || i % 40, 1 + i % 3), i
  FROM generate_series(1, 20000) i;
ALTER TABLE events DROP COLUMN gone;
ALTER TABLE events ADD COLUMN added int DEFAULT 77;
UPDATE events SET added = id % 10 WHERE id % 3 = 0;
DELETE FROM events WHERE id % 17 = 0;
VACUUM ANALYZE events;

CREATE TABLE filters AS
  SELECT bf_agg(item) AS items, cbf_agg(item) AS counted, cf_agg(item) AS cuckoo,
    bf_agg(item, 500, 0.01, 'guava') AS guava, bf_agg(item, 500, 0.0001) AS pages,
    bf_agg(item, 500, 0.05, 'hive') AS hive, bf_agg(url, 500, 0.01, 'datasketches') AS sketch,
    bf_agg(url) AS urls, bf_agg(code) AS codes, bf_agg(price) AS prices, bf_agg(at) AS times,
    bf_agg(tags) AS tags, bf_agg(span) AS spans, bf_agg(flags) AS flags, bf_agg(pair) AS pairs,
    bf_agg(later) AS later, bf_agg(added) AS added, bf_agg(events) AS everything,
    NULL::bloomfilter AS nothing
  FROM events WHERE id % 40 = 1;
ALTER TABLE filters ADD COLUMN grown bloomfilter;
UPDATE filters SET grown = bf_add_all(bf_create(4, grow => true),
  (SELECT array_agg(item) FROM events WHERE id % 40 = 1));
CREATE TABLE empty (LIKE events);

\i sql/include/both_ways.sql
CREATE FUNCTION scanned(query text, OUT scan boolean, OUT same boolean, OUT rows text)
LANGUAGE sql AS
  $$SELECT * FROM both_ways(query, 'Bloom Filter Scan')$$;
-- Filters of every family and layout.
SELECT filter, scanned.* FROM unnest(ARRAY['items', 'counted', 'cuckoo', 'guava', 'pages', 'grown',
    'hive'])
  filter, scanned(format('SELECT * FROM events WHERE (SELECT %s FROM filters) @> item', filter));
SELECT filter, scanned.* FROM (VALUES
    ('urls', 'url'), ('codes', 'code'), ('prices', 'price'), ('times', 'at'), ('tags', 'tags'),
    ('spans', 'span'), ('flags', 'flags'), ('pairs', 'pair'), ('later', 'later'),
    ('added', 'added'), ('sketch', 'url'), ('everything', 'events'),
    ('nothing', 'item')) f (filter, value),
  scanned(format('SELECT * FROM events WHERE (SELECT %s FROM filters) @> %s', filter, value));

-- Multiranges, and text of a table that has no value out of line.
CREATE TABLE ranges AS
  SELECT i, int4multirange(int4range(i, i + 2)) AS value FROM generate_series(1, 3000) i;
CREATE TABLE short AS SELECT i, i::varchar(4) AS value FROM generate_series(1, 3000) i;
ANALYZE ranges, short;
SELECT name, scanned.* FROM unnest(ARRAY['ranges', 'short']) name,
  scanned(format('SELECT * FROM %s WHERE (SELECT bf_agg(value) FROM %1$s WHERE i < 10) @> value',
    name));

-- Every form of a condition.
SELECT condition, scanned.* FROM unnest(ARRAY[
  'item <@ (SELECT items FROM filters)',
  'bf_contains((SELECT items FROM filters), item)',
  '(SELECT items FROM filters) @> (item + 1)',
  '(SELECT items FROM filters) @> (item / pair)',
  'pair <> 0 AND (SELECT items FROM filters) @> (item / pair)',
  '(SELECT urls FROM filters) @> (''https://example.com/'' || pair)',
  '(SELECT items FROM filters) @> item AND (SELECT urls FROM filters) @> url AND pair = 1',
  '(SELECT items FROM filters) @> item OR id = 1',
  'NOT (SELECT items FROM filters) @> item',
  '(SELECT items FROM filters) @> 7919',
  '(SELECT items FROM filters) @> ''7919''',
  '(SELECT items FROM filters) @> price',
  '(SELECT items FROM filters) @> url',
  '(SELECT items FROM filters) @> (item + (random() * 0)::int)',
  'id < 50 AND (SELECT items FROM filters) @> (SELECT item FROM events e WHERE e.id = events.id)',
  '(SELECT bf_agg(i) FROM generate_series(1, 100) i) @> item',
  'ctid = ''(0,1)'' AND (SELECT items FROM filters) @> item']) condition,
  scanned(format('SELECT id FROM events WHERE %s', condition));

-- Rows, which are hashed without being formed. They have NULLs, expressions, and fields that have
-- no hash or may have none. Each condition is tried alone, and beside another condition.
SELECT value, beside, scanned.* FROM unnest(ARRAY['id, pair', 'pair', 'item, url, price, at',
    'tags, span, flags', 'later, added', 'item + 1, 7', 'code::text, id', 'code, id',
    'url COLLATE "C", events', 'ROW(pair), id', 'item / pair, id']) value,
  unnest(ARRAY['true', 'pair <> 0']) beside,
  scanned(format('SELECT id FROM events WHERE %s AND
    (SELECT bf_agg(ROW(%s)) FROM events WHERE id %% 40 = 1 AND pair > 0) @> ROW(%2$s)',
    beside, value));
SELECT scanned.* FROM scanned('SELECT id FROM events WHERE pair <> 0 AND
  (SELECT bf_agg(ROW(id::int2, item::numeric)) FROM events WHERE id < 99) @> ROW(id, item)');
SELECT scanned.* FROM scanned('SELECT id FROM events WHERE pair <> 0 AND
  (SELECT bf_agg(ROW(id::int2, item::int8)) FROM events WHERE id < 99) @> ROW(id, item)');

-- Other queries: a filter that depends on a row of another table, a filter from an outer query,
-- system columns.
SELECT scanned.* FROM unnest(ARRAY[
  'SELECT ctid, tableoid::regclass, xmin IS NULL, e FROM events e
     WHERE (SELECT items FROM filters) @> item',
  'SELECT e.id FROM events e, filters f WHERE f.items @> e.item',
  'SELECT g, (SELECT count(*) FROM events
       WHERE (SELECT bf_agg(i) FROM generate_series(1, g * 50) i) @> item)
     FROM generate_series(1, 4) g',
  'SELECT e.id, n.id FROM events e JOIN LATERAL (SELECT * FROM events n
       WHERE (SELECT items FROM filters) @> n.item AND n.id = e.id + 1) n ON true
     WHERE e.id < 300',
  'SELECT id FROM events TABLESAMPLE system (100) WHERE (SELECT items FROM filters) @> item',
  'SELECT id FROM empty WHERE (SELECT 1 / (count(*) - count(*)) FROM filters) = 1
     AND (SELECT items FROM filters) @> item',
  'SELECT id FROM empty
     WHERE (SELECT bf_agg(1 / (i - i)) FROM generate_series(1, 2) i) @> item',
  'SELECT id FROM events WHERE id + 0 < 0
     AND (SELECT items FROM filters, generate_series(1, 2)) @> item',
  'SELECT id FROM events WHERE id + 0 < 9
     AND (SELECT items FROM filters, generate_series(1, 2)) @> item',
  'SELECT id FROM events WHERE (SELECT items FROM filters) @> item ORDER BY id LIMIT 7',
  'SELECT id FROM events WHERE (SELECT items FROM filters) @> item FOR UPDATE']) query,
  scanned(query);

-- The scan is chosen by cost.
CREATE INDEX ON events (id);
CREATE TABLE documents (id int, few int, body text);
ALTER TABLE documents ALTER body SET STORAGE external;
INSERT INTO documents
  SELECT i, i % 100, repeat('body ' || i % 10, CASE WHEN i % 10 = 1 THEN 500 ELSE 1 END)
  FROM generate_series(1, 5000) i;
VACUUM ANALYZE events, documents;
ALTER TABLE filters ADD COLUMN bodies bloomfilter;
UPDATE filters SET bodies = (SELECT bf_agg(body) FROM documents WHERE id <= 2);
SELECT query, scanned.* FROM unnest(ARRAY[
  'SELECT 1 FROM events WHERE (SELECT items FROM filters) @> item LIMIT 1',
  'SELECT 1 FROM events WHERE (SELECT items FROM filters) @> item LIMIT 1000',
  'SELECT id FROM events WHERE (SELECT items FROM filters) @> item AND id < 50',
  'SELECT id FROM events WHERE (SELECT items FROM filters) @> item AND id < 15000',
  'SELECT id FROM events WHERE (SELECT items FROM filters) @> item AND pair = 1',
  'SELECT id FROM events WHERE (SELECT flags FROM filters) @> flags AND pair = 1',
  'SELECT id FROM events WHERE (SELECT flags FROM filters) @> flags',
  -- jsonb that another condition may keep from an error
  'SELECT id FROM events WHERE (SELECT flags FROM filters) @> flags AND id <> 77',
  'SELECT id FROM documents WHERE (SELECT bodies FROM filters) @> body AND few = 1',
  'SELECT id FROM documents WHERE (SELECT bodies FROM filters) @> body']) query,
  scanned(query);
SET enable_seqscan = off;
SELECT scanned.* FROM
  scanned('SELECT id FROM events WHERE (SELECT items FROM filters) @> item AND id < 15000');
RESET enable_seqscan;

-- The numbers in EXPLAIN, and the rows that the table's statistics count.
CREATE FUNCTION scans(query text) RETURNS SETOF jsonb LANGUAGE sql AS $$
  SELECT jsonb_path_query(plan_of(query, 'ANALYZE, TIMING OFF'),
    'strict $.** ? (@."Custom Plan Provider" == "Bloom Filter Scan")');
$$;
-- Returns the least of three measurements. Other processes, such as autovacuum, can make a session
-- forget a filter and read it again.
CREATE FUNCTION buffers(query text) RETURNS bigint LANGUAGE sql AS $$
  SELECT min((plan->'Shared Hit Blocks')::bigint + (plan->'Shared Read Blocks')::bigint)
  FROM generate_series(1, 3) time,
    jsonb_path_query(plan_of(query || repeat(' ', time), 'ANALYZE, BUFFERS, TIMING OFF'),
      '$[0].Plan') plan;
$$;
CREATE FUNCTION rows_read(query text, scan text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  before bigint := pg_stat_get_xact_tuples_returned('events'::regclass);
BEGIN
  PERFORM set_config('bloomfilter.scan', scan, true);
  PERFORM rows_of(query);
  RETURN pg_stat_get_xact_tuples_returned('events'::regclass) - before;
END $$;
SELECT query, scan->'Actual Loops' AS loops, (scan->'Actual Rows')::numeric::int AS rows,
  (scan->'Rows Removed by Filter')::numeric::int AS by_filter,
  (scan->'Rows Removed by Bloom Filter')::numeric::int AS by_bloom,
  scan->'Bloom Filter Size' AS "kB",
  scan->'Bloom Filter Access' AS access, scan->'Bloom Filter Rate' AS "rate, %"
FROM unnest(ARRAY[
  'SELECT id FROM events WHERE (SELECT items FROM filters) @> item',
  'SELECT id FROM events WHERE (SELECT items FROM filters) @> item AND pair = 1',
  'SELECT id FROM events WHERE (SELECT nothing FROM filters) @> item',
  'SELECT (SELECT count(*) FROM events WHERE (SELECT bf_agg(i) FROM generate_series(1, g * 50) i
     WHERE g <> 2) @> item) FROM generate_series(1, 4) g']) query, scans(query) scan;
SELECT scan, rows_read('SELECT id FROM events WHERE (SELECT items FROM filters) @> item', scan)
FROM unnest(ARRAY['off', 'on']) scan;

-- Rows as they are stored, without projection. An error that another condition prevents. Values
-- that cannot always be hashed, with and without another condition. A parent table, which cannot be
-- scanned alone. Filters that are not the same for all rows.
CREATE TYPE place AS (number int, name varchar);
CREATE TABLE places AS SELECT i AS id, ROW(i, 'place')::place AS place
  FROM generate_series(1, 2000) i;
CREATE TABLE parents (id int);
CREATE TABLE children () INHERITS (parents);
INSERT INTO parents SELECT generate_series(1, 2000);
INSERT INTO children SELECT generate_series(1, 2000);
CREATE TABLE own AS SELECT i AS n, bf_create(9) + i % 2 AS filter FROM generate_series(1, 2000) i;
ANALYZE places, parents, own;
SELECT scanned.* FROM unnest(ARRAY[
  'SELECT * FROM events WHERE (SELECT items FROM filters) @> item ORDER BY url, id',
  'SELECT id FROM events WHERE id + 0 < 0 AND (SELECT items FROM filters) @> url',
  'SELECT id FROM places WHERE (SELECT bf_agg(place) FROM places WHERE id < 9) @> place',
  'SELECT id FROM places WHERE (SELECT bf_agg(place) FROM places WHERE id < 9) @> place AND id > 0',
  'SELECT id FROM parents WHERE (SELECT bf_agg(i) FROM generate_series(1, 9) i) @> id',
  'SELECT n FROM own WHERE filter @> n',
  'SELECT n FROM own WHERE (bf_create(9) + (random() * 0)::int) @> n']) query,
  scanned(query);

-- A policy's conditions are checked before the filter.
CREATE ROLE regress_bloomfilter_scan;
GRANT USAGE ON SCHEMA scan TO regress_bloomfilter_scan;
GRANT SELECT ON events, filters TO regress_bloomfilter_scan;
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON events USING (id % 7 <> 0);
SET ROLE regress_bloomfilter_scan;
SET cpu_operator_cost = 0.1;
SELECT scanned.* FROM scanned('SELECT * FROM events WHERE (SELECT items FROM filters) @> item');
SELECT scan->>'Filter Before' AS before,
  (scan->'Rows Removed by Filter')::numeric::int AS by_filter,
  (scan->'Rows Removed by Bloom Filter')::numeric::int AS by_bloom
FROM unnest(ARRAY['', ' AND pair = 1']) condition,
  scans('SELECT id FROM events WHERE (SELECT items FROM filters) @> item' || condition) scan;
RESET cpu_operator_cost;
RESET ROLE;
DROP POLICY p ON events;
ALTER TABLE events DISABLE ROW LEVEL SECURITY;
DROP OWNED BY regress_bloomfilter_scan;
DROP ROLE regress_bloomfilter_scan;

-- A large filter is read whole at once if many rows will be probed, and by slices for a few rows.
CREATE TABLE numbers (n bigint) WITH (fillfactor = 10);
INSERT INTO numbers SELECT generate_series(1, 2000);
CREATE TABLE large AS SELECT bf_add_all(bf_create(10000000), array_agg(n)) AS filter FROM numbers;
VACUUM ANALYZE numbers;
SELECT buffers('SELECT bf_count(filter) FROM large') AS whole \gset
SELECT buffers('SELECT n FROM numbers WHERE (SELECT filter FROM large) @> n') < 2 * :whole;
SELECT buffers('SELECT n FROM numbers WHERE (SELECT filter FROM large) @> n LIMIT 20') < :whole / 2;
SELECT (scan->'Actual Rows')::numeric::int AS rows, scan->'Bloom Filter Access' AS access
FROM scans('SELECT n FROM numbers WHERE (SELECT filter FROM large) @> n LIMIT 20') scan;
-- EXPLAIN shows the rate of a sample. With several filters, it shows the highest rate.
CREATE FUNCTION of_thousand(n int) RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_agg(i, 1000) FROM generate_series(1, n) i';
SET bloomfilter.overfill = ignore;
SELECT what, scan->'Bloom Filter Rate' AS "rate, %", round(100 * bf_fpr(f)::numeric, 2) AS bf_fpr
FROM (VALUES ('overfilled', of_thousand(3000)), ('as asked', of_thousand(1000)),
    ('half full', of_thousand(500))) v(what, f),
  scans(format('SELECT FROM events WHERE %L::bloomfilter @> item AND %L::bloomfilter @> item', f,
    bf_create(1000) + 1::bigint)) scan;
RESET bloomfilter.overfill;
CREATE TABLE few AS SELECT n FROM numbers WHERE n <= 9;
ANALYZE few;
SELECT scan->'Bloom Filter Access' AS access, scan->'Bloom Filter Rate' AS "rate, %",
  buffers('SELECT n FROM few WHERE (SELECT filter FROM large) @> n') < :whole / 2 AS "by a sample"
FROM scans('SELECT n FROM few WHERE (SELECT filter FROM large) @> n') scan;

-- A filter that came from a row is freed, with its memory, before EXPLAIN shows the plan.
SELECT count(scan->'Bloom Filter Rate') AS scans FROM scans('SELECT n FROM
  (SELECT 1 AS id, filter + -1::bigint AS f FROM large OFFSET 0) s,
  LATERAL (SELECT count(*) AS n FROM numbers WHERE s.f @> numbers.n) c') scan;

-- Scans that stop within a page and start again, with a filter that changes and with one that does
-- not. A filter is evaluated only when there is a row, and is then kept.
SET cpu_operator_cost = 0.1;
SELECT scanned.* FROM unnest(ARRAY[
  'SELECT g, (SELECT id FROM events
     WHERE (SELECT bf_agg(i) FROM generate_series(1, g * 50) i) @> item LIMIT 1)
   FROM generate_series(1, 4) g',
  'SELECT g, (SELECT count(*) FROM events WHERE (SELECT items FROM filters) @> item AND id % 5 > g)
   FROM generate_series(1, 4) g',
  'SELECT id FROM events WHERE bf_create(5) @> item
     AND (SELECT bf_agg(1 / (i - i)) FROM generate_series(1, 2) i) @> item',
  'SELECT g, (SELECT count(*) FROM numbers WHERE (bf_create(99) + g::text) @> n::text)
   FROM generate_series(1, 4) g',
  'SELECT g, (SELECT count(*) FROM numbers WHERE (bf_create(99) + g) @> n AND n < 5)
   FROM generate_series(1, 4) g']) query,
  scanned(query);
SET bloomfilter.scan = off;
SELECT count(*) AS scans
FROM scans('SELECT id FROM events WHERE (SELECT items FROM filters) @> item');
RESET bloomfilter.scan;
RESET cpu_operator_cost;

-- Cursors move backward, and are rewound as postgres_fdw does: within a page, beyond it, from the
-- end and from the beginning.
\set asked 'SELECT id FROM events WHERE (SELECT items FROM filters) @> item AND id % 3 > 0'
\set within 'FETCH 3 FROM c; FETCH BACKWARD 1 FROM c; FETCH 4 FROM c;'
\set beyond 'MOVE 60 FROM c; FETCH 2 FROM c; MOVE BACKWARD 58 FROM c; FETCH BACKWARD 2 FROM c;'
\set first 'FETCH 1 FROM c; FETCH FIRST FROM c; FETCH PRIOR FROM c; FETCH 1 FROM c;'
\set last 'FETCH LAST FROM c; FETCH 1 FROM c; FETCH PRIOR FROM c; FETCH 1 FROM c;'
\set again 'FETCH PRIOR FROM c; MOVE BACKWARD ALL FROM c; FETCH 1 FROM c; MOVE ALL FROM c;'
\set end 'FETCH BACKWARD 2 FROM c;'
\pset format unaligned
\pset tuples_only on
SELECT scanned.* FROM scanned(:'asked');
BEGIN;
SET LOCAL bloomfilter.scan = off;
DECLARE c CURSOR FOR :asked;
:within :beyond :first :last :again :end
CLOSE c;
SET LOCAL bloomfilter.scan = on;
DECLARE c CURSOR FOR :asked;
SELECT is_scrollable FROM pg_cursors;
:within :beyond :first :last :again :end
CLOSE c;
DECLARE c SCROLL CURSOR FOR SELECT id FROM events WHERE (SELECT nothing FROM filters) @> item;
FETCH 1 FROM c;
FETCH PRIOR FROM c;
FETCH LAST FROM c;
ROLLBACK;
\pset format aligned
\pset tuples_only off

-- The rows before a row whose value raises an error are returned.
BEGIN;
SET LOCAL cursor_tuple_fraction = 1;
DECLARE c CURSOR FOR SELECT n FROM numbers
  WHERE (SELECT bf_agg(i) FROM generate_series(1, 10) i) @> (6 / (3 - n));
FETCH 2 FROM c;
FETCH 1 FROM c;
ROLLBACK;
-- So are the rows before a row for which a policy's condition raises an error.
BEGIN;
CREATE ROLE regress_bloomfilter_scan;
GRANT USAGE ON SCHEMA scan TO regress_bloomfilter_scan;
GRANT SELECT ON numbers TO regress_bloomfilter_scan;
ALTER TABLE numbers ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON numbers USING (6 / (3 - n) < 10);
SET LOCAL ROLE regress_bloomfilter_scan;
SET LOCAL cursor_tuple_fraction = 0.99;
SELECT line_of('SELECT n FROM numbers
  WHERE (SELECT bf_agg(i) FROM generate_series(1, 10) i) @> n', 'Filter Before');
DECLARE c CURSOR FOR SELECT n FROM numbers
  WHERE (SELECT bf_agg(i) FROM generate_series(1, 10) i) @> n;
FETCH 2 FROM c;
FETCH 1 FROM c;
ROLLBACK;
-- A condition that is volatile or has a subplan is evaluated once for each row. It may keep a
-- filter's subquery from running, and conditions after it from failing.
SELECT condition, scanned.* FROM unnest(ARRAY['random() < -1', 'n NOT IN (SELECT n FROM numbers)',
    'n > 0 AND n NOT IN (SELECT n FROM numbers) AND n IS NOT NULL',
    'bf_add(bf_create(9), 1) @> n AND n NOT IN (SELECT n FROM numbers)', 'random() < 2'])
  condition,
  scanned('SELECT n FROM numbers WHERE ' || condition ||
    ' AND (SELECT bf_agg(6 / (i - i)) FROM generate_series(1, 9) i) @> n');
CREATE FUNCTION divided(n bigint) RETURNS boolean IMMUTABLE COST 2 LANGUAGE plpgsql AS
  'BEGIN RETURN 6 / (1 - n) < 10; END';
SET cpu_operator_cost = 0.1;
SELECT scanned.* FROM scanned(format('SELECT n FROM numbers WHERE n NOT IN (SELECT 1)
  AND divided(n) AND %L::bloomfilter @> n',
  (SELECT bf_agg(i) FROM generate_series(500, 2000) i)));
RESET cpu_operator_cost;
-- A volatile condition sees what the statement has done to the rows before.
CREATE TABLE jobs AS SELECT n, false AS done FROM numbers;
ANALYZE jobs;
CREATE FUNCTION done() RETURNS bigint VOLATILE COST 0.0001 LANGUAGE sql AS
  'SELECT count(*) FROM jobs WHERE done';
WITH changed AS (UPDATE jobs SET done = true
  WHERE done() < 5 AND (SELECT bf_agg(i) FROM generate_series(1, 2000) i) @> n RETURNING n)
SELECT count(*) FROM changed;

-- Memory is bounded: for the values of a batch, for hashing, and for filters that change.
CREATE FUNCTION widened(n bigint) RETURNS text LANGUAGE plpgsql IMMUTABLE LEAKPROOF AS $$
BEGIN
  IF n % 10 = 0 THEN
    PERFORM set_config('scan.peak', greatest(current_setting('scan.peak')::bigint,
      (SELECT sum(total_bytes) FROM pg_backend_memory_contexts))::text, false);
  END IF;
  RETURN repeat('wide', 5000) || n;
END $$;
CREATE TABLE narrow AS SELECT n FROM numbers;
ANALYZE narrow;
SELECT sum(total_bytes) AS before, set_config('scan.peak', '0', false)
FROM pg_backend_memory_contexts \gset
SELECT (scan->'Rows Removed by Bloom Filter')::int AS by_bloom FROM scans(
  'SELECT n FROM narrow WHERE (SELECT urls FROM filters) @> widened(n) AND n > 0') scan;
SELECT current_setting('scan.peak')::bigint - :before < 3000000 AS bounded;
BEGIN;
SET LOCAL cursor_tuple_fraction = 1;
DECLARE c CURSOR FOR SELECT id FROM events WHERE (SELECT flags FROM filters) @> flags;
DECLARE d CURSOR FOR SELECT (SELECT count(*) FROM numbers WHERE (bf_create(999) + g) @> n)
  FROM generate_series(1, 100) g;
MOVE ALL FROM c;
MOVE 99 FROM d;
SELECT name, total_bytes < 20000 AS bounded FROM pg_backend_memory_contexts
WHERE name LIKE 'Bloom Filter Scan%' ORDER BY 1;
ROLLBACK;

-- A large filter is not read for the few rows that a cheap condition leaves.
CREATE TABLE larger AS SELECT bf_create(2000000) AS filter;
ANALYZE larger;
SELECT scanned.* FROM unnest(ARRAY['id = 7', 'id > 7']) condition,
  scanned('SELECT id FROM events WHERE (SELECT filter FROM larger) @> item AND ' || condition);

-- At most 32 conditions probe for many rows at once. The others probe row by row.
SELECT string_agg('(SELECT items FROM filters) @> item', ' AND ') AS seventy
FROM generate_series(1, 70) \gset
SELECT array_length(string_to_array(scan ->> 'Bloom Filter', '@>'), 1) - 1 AS at_once,
  array_length(string_to_array(scan ->> 'Filter', '@>'), 1) - 1 AS row_by_row
FROM scans('SELECT id FROM events WHERE ' || :'seventy') scan;
SELECT scanned.* FROM scanned('SELECT id FROM events WHERE ' || :'seventy');

-- If a cheap condition rejects a row, its long value is not detoasted.
CREATE TABLE long AS
  SELECT i AS id, repeat('long ' || i, 10000) AS item FROM generate_series(1, 300) i;
ANALYZE long;
SELECT scanned.* FROM unnest(ARRAY['id = 7', 'id > 7']) condition,
  scanned('SELECT id FROM long WHERE (SELECT urls FROM filters) @> item AND ' || condition);

-- Parallel scans.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_material = off;
SELECT scanned.* FROM unnest(ARRAY[
  'SELECT id FROM events WHERE (SELECT items FROM filters) @> item',
  'SELECT g, n FROM generate_series(1, 3) g LEFT JOIN (SELECT count(*) AS n FROM events
     WHERE (SELECT items FROM filters) @> item) s ON n > g']) query, scanned(query);
SET parallel_leader_participation = off;
SELECT scan->'Parallel Aware' AS parallel, scan->'Bloom Filter Size' AS "kB",
  scan->'Bloom Filter Access' AS access, scan->'Bloom Filter Rate' AS "rate, %"
FROM scans('SELECT id FROM events WHERE (SELECT items FROM filters) @> item') scan;
-- What a worker's subplan does is counted once.
ALTER TABLE empty SET (parallel_workers = 0);
SELECT jsonb_path_query_first(plan, '$.** ? (exists (@."Bloom Filter"))."Parallel Aware"') AS scan,
    jsonb_path_query_first(plan,
      '$.** ? (@."Subplan Name" starts with "SubPlan")."Actual Loops"')::int < 3 AS once
  FROM filters, plan_of(format('SELECT * FROM events WHERE %L::bloomfilter @> item
    AND id NOT IN (SELECT id FROM empty)', items), 'ANALYZE, TIMING OFF') plan;
