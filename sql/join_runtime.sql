-- What join filters do not leave to estimates: the share of rows that they let through, which of
-- them are built, their order, and when a filter that rested is probed again.
CREATE SCHEMA join_runtime;
SET search_path = join_runtime, public;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB'; -- filters of more are not planned
SET jit = off;
LOAD 'bloomfilter';
\i sql/include/plan.sql

-- Five years of sales, in the order of the days, and a calendar of 200 years. Sales of a store are
-- on some days only.
CREATE TABLE day (id int PRIMARY KEY, year int, month int);
INSERT INTO day SELECT i, 1900 + i / 365, i / 30 % 12 FROM generate_series(0, 72999) i;
CREATE TABLE item (id int PRIMARY KEY, brand int, name text);
INSERT INTO item SELECT i, i % 100, repeat('n', 20) FROM generate_series(1, 20000) i;
CREATE TABLE sale (id int, day int, item int, price int, padding text);
INSERT INTO sale
SELECT i, 36500 + i / 110, 1 + i * 7919 % 20000, i % 10, repeat('x', 30)
FROM generate_series(0, 199999) i;
VACUUM ANALYZE day, item, sale;

-- Returns the rows of a query, and whether they are the same with join filters and without.
CREATE FUNCTION same_rows(query text, OUT rows bigint, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
  counted text := format(
    'SELECT count(*), md5(string_agg(r::text, E''\n'' ORDER BY r::text)) FROM (%s) r', query);
  off text;
  found text;
BEGIN
  SET LOCAL bloomfilter.join_filter = off;
  EXECUTE counted INTO rows, off;
  SET LOCAL bloomfilter.join_filter = on;
  EXECUTE counted INTO rows, found;
  same := found IS NOT DISTINCT FROM off;
END $$;
-- Returns the scan of a table that probes filters.
CREATE FUNCTION scan_of(query text, options text, name text DEFAULT 'sale') RETURNS jsonb
LANGUAGE sql AS $$
  SELECT jsonb_path_query_first(plan_of(query, options),
    'strict $.** ? (@."Custom Plan Provider" == "Bloom Filter Scan" && @."Relation Name" == $name)',
    jsonb_build_object('name', name))
$$;
SET bloomfilter.join_filter = on;

-- A year has a fifth of the sales. The server expects 1 of 200 rows after the join.
SELECT (scan_of('SELECT FROM sale s JOIN day d ON d.id = s.day WHERE year = 2002', 'VERBOSE OFF')
  ->> 'Plan Rows')::int BETWEEN 30000 AND 60000 AS a_fifth;
SELECT * FROM same_rows('SELECT s.id FROM sale s JOIN day d ON d.id = s.day WHERE year = 2002');
-- A filter that costs much is not built if few rows are left for it. It is planned because the
-- server expects that a fifth of the rows is left.
CREATE TABLE customer AS
SELECT i AS id, i % 50 AS status, repeat('c', 50) AS padding FROM generate_series(1, 100000) i;
ALTER TABLE sale ADD customer int;
UPDATE sale SET customer = 1 + id % 100000;
VACUUM (FULL, ANALYZE) sale;
ANALYZE customer;
CREATE TABLE season AS SELECT i AS id, i % 5 AS kind FROM generate_series(36500, 38400) i;
ANALYZE season;
CREATE FUNCTION unbuilt(query text) RETURNS boolean LANGUAGE sql AS $$
  SELECT coalesce(scan_of(query, 'ANALYZE, TIMING OFF, VERBOSE OFF') ->> 'Bloom Filter Not Built'
                  ~ 'customer', false)
$$;
CREATE VIEW bought AS SELECT s.id FROM sale s JOIN season n ON n.id = s.day
  JOIN customer c ON c.id = s.customer WHERE n.kind = 3 AND c.status = 3;
SELECT unbuilt('SELECT FROM bought') AS unbuilt;
SELECT * FROM same_rows('SELECT * FROM bought');
UPDATE season SET kind = CASE id WHEN 36500 THEN 3 ELSE 0 END;
SELECT unbuilt('SELECT FROM bought') AS unbuilt;
SELECT * FROM same_rows('SELECT * FROM bought');

-- A filter is not built either if no row reaches it after the first 64 pages. The server expects
-- that a third of the rows do.
SELECT unbuilt('SELECT FROM sale s JOIN customer c ON c.id = s.customer
  WHERE c.status = 3 AND s.id + 0 < 100') AS unbuilt;
-- It is built after the first 64 pages if these have so many rows for it that the whole table may
-- have enough.
SELECT (scan ->> 'Rows Not Probed')::int BETWEEN 1 AND 9999 AS soon
FROM scan_of('SELECT FROM sale s JOIN customer c ON c.id = s.customer
  WHERE c.status = 3 AND s.id + 0 >= 100', 'ANALYZE, TIMING OFF, VERBOSE OFF') scan;
-- A filter of the query itself is not built, so EXPLAIN does not say that it was not.
SELECT scan ->> 'Bloom Filter' ~ '@> item' AS shown, scan ? 'Bloom Filter Not Built' AS unbuilt
FROM (SELECT bf_agg(7) AS filter) f,
  scan_of(format('SELECT FROM sale WHERE id < 0 AND %L::bloomfilter @> item', filter),
    'ANALYZE, TIMING OFF, VERBOSE OFF') scan;
-- An index that finds the keys is better than a build, which reads the whole table.
SELECT (scan_of(query, 'VERBOSE OFF') ->> 'Bloom Filter') IS NOT NULL AS filtered,
  plan_of(query)::text ~ 'Bloom Filter Build' AS whole_table
FROM (VALUES ('SELECT FROM sale s JOIN day d ON d.id = s.day WHERE d.id BETWEEN 36500 AND 36599'))
  queries (query);

-- The filter that drops most rows is probed first, whatever the statistics say.
CREATE TABLE useless AS SELECT i AS id, i % 10 AS kind FROM generate_series(0, 999) i;
CREATE TABLE useful AS SELECT i AS id, i % 3 AS kind FROM generate_series(1, 20000) i;
ANALYZE useless, useful;
UPDATE useless SET kind = 1;
UPDATE useful SET kind = 0 WHERE id > 200;
SELECT scan_of(query, 'VERBOSE OFF') ->> 'Bloom Filter' ~ 'price.*item' AS planned,
  scan_of(query, 'ANALYZE, TIMING OFF, VERBOSE OFF') ->> 'Bloom Filter Order'
    ~ 'item.*price' AS probed
FROM (VALUES ('SELECT FROM sale s JOIN useless a ON a.id = s.price JOIN useful b ON b.id = s.item
  WHERE a.kind = 1 AND b.kind = 1')) queries (query);
SELECT * FROM same_rows('SELECT s.id FROM sale s JOIN useless a ON a.id = s.price
  JOIN useful b ON b.id = s.item WHERE a.kind = 1 AND b.kind = 1');

-- A filter that rests is probed again when the rows change: the first two fifths of the sales have
-- partners, the others have none.
CREATE TABLE span AS SELECT i AS id, i % 100 AS kind FROM generate_series(36500, 38400) i;
ANALYZE span;
UPDATE span SET kind = CASE WHEN id < 37230 THEN 1 ELSE 0 END;
SELECT (scan ->> 'Rows Not Probed')::int BETWEEN 50000 AND 80000 AS rests,
  (scan ->> 'Rows Removed by Bloom Filter')::int > 115000 AS wakes
FROM scan_of('SELECT FROM sale s JOIN span p ON p.id = s.day WHERE p.kind = 1',
  'ANALYZE, TIMING OFF, VERBOSE OFF') scan;
-- If a parameter changes, the next filter is another one, and does not rest. It is built after the
-- first page. All days but one have kind 0.
CREATE FUNCTION unprobed(kinds int[]) RETURNS numeric LANGUAGE sql AS $$
  SELECT (scan ->> 'Rows Not Probed')::numeric * (scan ->> 'Actual Loops')::numeric
  FROM scan_of(format('SELECT (SELECT count(*) FROM sale s JOIN season n ON n.id = s.day
    WHERE n.kind = (SELECT k)) FROM unnest(%L::int[]) k', kinds),
    'ANALYZE, TIMING OFF, VERBOSE OFF') scan
$$;
SELECT unprobed('{0}') > 100000 AS rests,
  unprobed('{0,3}') - unprobed('{0}') BETWEEN 0 AND 300 AS only_the_first;

-- When a filter is built, the query may have returned rows, and a setting or the role may have
-- changed since. So a condition that depends on them makes no filter. The server's own functions of
-- times do.
CREATE FUNCTION tenant() RETURNS int STABLE LANGUAGE plpgsql AS 'BEGIN RETURN 7; END';
CREATE TABLE member AS
SELECT i AS customer, i % 50 AS tenant, 'owner ' || i % 50 AS owner,
  i % 50 + 0.12345::float8 AS score, int4send(i % 50) AS digest, point(i % 50, 0.12345) AS place,
  now() - i % 50 * interval '1 day' AS since FROM generate_series(1, 100000) i;
ANALYZE member;
SET join_runtime.tenant = 7;
SELECT condition, scan IS NOT NULL AS filter, same FROM unnest(ARRAY['tenant = 7',
    'tenant = current_setting(''join_runtime.tenant'')::int', 'tenant = tenant()',
    'owner = current_user', 'since > now() - interval ''2 days''',
    'since::date > CURRENT_DATE - 2', 'since > statement_timestamp() - interval ''2 days''',
    'to_char(since, ''TMMonth'') = ''x''', 'since::text = ''x''', 'score = 7.12345',
    'score::text = ''7.12345''', 'score::real::text = ''7.12345''',
    'digest = ''\x00000007''', 'digest::text = ''\x00000007''', 'place::text = ''(7,0.12345)''',
    'quote_ident(owner) = ''"owner 7"'''])
  condition, concat('SELECT s.id FROM sale s JOIN member USING (customer) JOIN item i
    ON i.id = s.item JOIN item j ON j.id = s.item WHERE ', condition) query,
  scan_of(query, 'VERBOSE OFF') scan, same_rows(query);

SELECT kind, scan_of(concat('SELECT s.id FROM sale s JOIN member USING (customer) JOIN item i
    ON i.id = s.item JOIN item j ON j.id = s.item WHERE ', condition), 'VERBOSE OFF') IS NOT NULL
    AS filter
FROM (VALUES ('XML', 'xmlforest(digest)::text = ''<digest>AAAABw==</digest>'''),
  ('JSON', CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'score::text = ''7'''
    ELSE 'json_array(score)::text = ''[7.12345]''' END)) made (kind, condition);
-- A cursor that would make the filter after such a change.
BEGIN;
SET LOCAL cursor_tuple_fraction = 1;
DECLARE late NO SCROLL CURSOR FOR SELECT s.id FROM sale s JOIN member USING (customer)
  JOIN item i ON i.id = s.item JOIN item j ON j.id = s.item WHERE score::text = '7.12345';
FETCH 1 FROM late;
SET LOCAL extra_float_digits = -12;
MOVE 1000 FROM late;
FETCH 1 FROM late;
ROLLBACK;

-- The filter's query evaluates its conditions in the order of the server, cheap ones first. These
-- may keep others from failing.
CREATE TABLE typed AS SELECT i AS id, (ARRAY['number', 'word'])[1 + i % 2] AS kind,
  (ARRAY[i::text, 'abc'])[1 + i % 2] AS value FROM generate_series(1, 2000) i;
ANALYZE typed;
CREATE VIEW typed_sale AS SELECT s.id FROM sale s JOIN typed t ON t.id = s.item
WHERE t.value::int > 1000 AND t.kind = 'number';
SELECT scan_of('SELECT * FROM typed_sale', 'VERBOSE OFF') IS NOT NULL AS filter;
SELECT * FROM same_rows('SELECT * FROM typed_sale');

-- If a join drives an index scan of a large table, filters are probed for the rows that it returns,
-- unless only one join is left: it costs little more than a probe.
CREATE INDEX sale_item ON sale (item);
ALTER TABLE season ADD PRIMARY KEY (id);
CREATE TABLE pick AS SELECT i * 20 AS item FROM generate_series(1, 1000) i;
ANALYZE pick;
UPDATE season SET kind = id % 5;
VACUUM ANALYZE season;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CREATE FUNCTION lookup_of(query text, options text) RETURNS TABLE (lookup jsonb) LANGUAGE sql AS $$
  SELECT node FROM plan_of(query, options) plan, jsonb_path_query(plan,
    'strict $.** ? (@."Custom Plan Provider" == "Bloom Filter Probe")') node
$$;
CREATE VIEW picked AS SELECT s.id FROM pick p JOIN sale s ON s.item = p.item
  JOIN season n ON n.id = s.day JOIN item e ON e.id = s.id % 20000 + 1 WHERE n.kind = 3;
SELECT lookup #>> '{Plans,0,Node Type}' AS scan, lookup ? 'Rows Not Probed' AS late,
  (lookup ->> 'Actual Loops')::int AS loops,
  (lookup ->> 'Rows Removed by Bloom Filter')::numeric > 0 AS removes
FROM lookup_of('SELECT * FROM picked', 'ANALYZE, TIMING OFF');
SELECT lookup ->> 'Bloom Filter' ~ '@> day' AS shown
FROM lookup_of('SELECT * FROM picked', 'VERBOSE OFF');
SELECT * FROM same_rows('SELECT * FROM picked');
-- No filter is probed for the value by which the join drives the scan: the driving table can be
-- filtered before. Nor is a filter of the driving table's own keys, nor one for few rows.
SELECT lookup ->> 'Bloom Filter' AS filter FROM lookup_of('SELECT s.id FROM pick p
  JOIN sale s ON s.item = p.item JOIN item i ON i.id = p.item
  JOIN season n ON n.id = s.day WHERE i.brand < 40', 'VERBOSE OFF');
CREATE TABLE offer AS SELECT i AS item, i * 7 % 10 AS price FROM generate_series(1, 20000) i;
ANALYZE offer;
CREATE VIEW offered AS
SELECT s.id FROM offer o JOIN sale s ON s.item = o.item AND s.price = o.price
  JOIN item e ON e.id = s.id % 20000 + 1;
SELECT lookup ->> 'Bloom Filter' AS filter FROM lookup_of('SELECT * FROM offered', 'VERBOSE OFF');
SELECT lookup ->> 'Bloom Filter' AS filter FROM lookup_of('SELECT s.id FROM pick p
  JOIN sale s ON s.item = p.item JOIN season n ON n.id = s.day WHERE n.kind = 3 AND p.item < 30',
  'VERBOSE OFF');
-- The expected rows must pay for the filter twice.
SELECT most, (SELECT count(*) FROM lookup_of(format('SELECT s.id FROM pick p
  JOIN sale s ON s.item = p.item JOIN season n ON n.id = s.day
  JOIN item e ON e.id = s.id %% 20000 + 1 WHERE n.kind = 3 AND p.item < %s', most), 'VERBOSE OFF'))
  AS filters FROM unnest(ARRAY[5500, 9000]) most;
-- Nor is a filter if the only join that is left is the one with its source.
SELECT lookup ->> 'Bloom Filter' AS filter FROM lookup_of('SELECT s.id FROM pick p
  JOIN sale s ON s.item = p.item JOIN season n ON n.id = s.day WHERE n.kind = 3', 'VERBOSE OFF');
-- Joins that a row has met do not count: in a semijoin, the table that drives the scan from outside
-- is not among its joins. The most that joins can save is a limit for those that are left.
SELECT count(*) AS filters FROM lookup_of('SELECT p.item FROM pick p WHERE p.item < 9000
  AND EXISTS (SELECT FROM sale s JOIN season n ON n.id = s.day
    JOIN item e ON e.id = s.id % 20000 + 1 WHERE s.item = p.item AND n.kind = 3)', 'VERBOSE OFF');
SELECT count(*) AS filters FROM lookup_of('SELECT s.id FROM pick p JOIN sale s ON s.item = p.item
  JOIN season n ON n.id = s.day JOIN item e ON e.id = s.id % 20000 + 1
  JOIN item f ON f.id = s.id % 20000 + 2 JOIN item g ON g.id = s.id % 20000 + 3
  WHERE n.kind = 3 AND p.item < 1500', 'VERBOSE OFF');
-- Nor is a filter that drops one row of 10: a probe, and one more node, cost more than that saves.
CREATE TABLE usual AS SELECT id FROM season WHERE id % 10 > 0;
ANALYZE usual;
SELECT lookup ->> 'Bloom Filter' AS filter FROM lookup_of('SELECT s.id FROM pick p
  JOIN sale s ON s.item = p.item JOIN usual u ON u.id = s.day
  JOIN item e ON e.id = s.id % 20000 + 1', 'VERBOSE OFF');
-- The filter is not built for few rows, but when half of the rows have come that would pay for it.
UPDATE pick SET item = -item WHERE item > 800;
SELECT lookup ? 'Bloom Filter Not Built' AS unbuilt
FROM lookup_of('SELECT * FROM picked', 'ANALYZE, TIMING OFF');
UPDATE pick SET item = -item WHERE item > 20;
SELECT lookup ? 'Bloom Filter Not Built' AS unbuilt,
  lookup ->> 'Rows Removed by Bloom Filter' AS removed
FROM lookup_of('SELECT * FROM picked', 'ANALYZE, TIMING OFF');
SELECT * FROM same_rows('SELECT * FROM picked');
-- It rests if it drops no rows.
UPDATE pick SET item = abs(item);
UPDATE season SET kind = 3;
-- Each filter is judged by itself: when it has let 8192 of the 10 000 rows through, it rests. Each
-- execution of the subquery has 1000 loops.
SELECT (lookup ->> 'Actual Loops')::int AS loops,
  (lookup ->> 'Rows Not Probed')::numeric BETWEEN 1 AND 3 AS judged
FROM lookup_of('SELECT (SELECT count(*) FROM pick p JOIN sale s ON s.item = p.item
  JOIN season n ON n.id = s.day JOIN item e ON e.id = s.id % 20000 + 1
  WHERE n.kind = (SELECT k)) FROM unnest(ARRAY[3, 3, 3, 3]) k',
  'ANALYZE, TIMING OFF');
-- A filter that rests is not probed: it drops hardly any of the rows, one a loop, that it could.
INSERT INTO pick SELECT i FROM generate_series(1, 20000) i WHERE i % 20 > 0;
UPDATE season SET kind = CASE WHEN id % 10 > 0 THEN 3 ELSE 0 END;
SELECT lookup ->> 'Rows Removed by Bloom Filter' AS removed,
  (lookup ->> 'Rows Not Probed')::numeric * (lookup ->> 'Actual Loops')::numeric > 100000 AS rests
FROM lookup_of('SELECT * FROM picked', 'ANALYZE, TIMING OFF');
SELECT * FROM same_rows('SELECT * FROM picked');
UPDATE season SET kind = id % 5;
DELETE FROM pick WHERE item % 20 > 0;
VACUUM ANALYZE season, pick;
-- Bitmap scans, partitions, parallel plans, a cursor that goes back, and a rescan with another
-- filter. Like its total cost, a lookup's first cost is less than that of the scan that it reads.
SET enable_indexscan = off;
SELECT lookup #>> '{Plans,0,Node Type}' AS scan,
  (lookup ->> 'Startup Cost')::numeric < (lookup #>> '{Plans,0,Startup Cost}')::numeric AS cheaper
FROM lookup_of('SELECT * FROM picked', 'VERBOSE OFF');
SELECT * FROM same_rows('SELECT * FROM picked');
RESET enable_indexscan;
-- All columns of the table, which the index scan passes on as they are stored.
SELECT * FROM same_rows('SELECT s.* FROM pick p JOIN sale s ON s.item = p.item
  JOIN season n ON n.id = s.day JOIN item e ON e.id = s.id % 20000 + 1 WHERE n.kind = 3');
CREATE TABLE parted (padding text, item int, day int, id int) PARTITION BY RANGE (day);
CREATE TABLE early PARTITION OF parted FOR VALUES FROM (0) TO (37400);
CREATE TABLE late (id int, day int, padding text, item int);
ALTER TABLE parted ATTACH PARTITION late FOR VALUES FROM (37400) TO (99999);
INSERT INTO parted SELECT padding, item, day, id FROM sale;
CREATE INDEX ON parted (item);
VACUUM ANALYZE parted;
SELECT lookup #>> '{Plans,0,Relation Name}' AS part FROM lookup_of('SELECT s.id FROM pick p
  JOIN parted s ON s.item = p.item
  JOIN item g ON g.id = s.id % 20000 + 1 JOIN season n ON n.id = s.day WHERE n.kind = 3',
  'VERBOSE OFF')
ORDER BY 1;
SELECT * FROM same_rows('SELECT s.id FROM pick p JOIN parted s ON s.item = p.item
  JOIN season n ON n.id = s.day JOIN item e ON e.id = s.id % 20000 + 1 WHERE n.kind = 3');
-- Branches of a UNION ALL that select a constant, and a column twice.
CREATE VIEW branches AS SELECT s.* FROM pick p JOIN (SELECT id, item, day, 1 AS a, id AS b FROM sale
  UNION ALL SELECT id, item, day, 2, day FROM sale) s ON s.item = p.item
  JOIN season n ON n.id = s.day JOIN item e ON e.id = s.id % 20000 + 1 WHERE n.kind = 3;
SELECT count(*) AS lookups FROM lookup_of('SELECT * FROM branches', 'VERBOSE OFF');
SELECT * FROM same_rows('SELECT * FROM branches');
BEGIN;
\i sql/include/parallel.sql
-- While parallel queries are tested, a lookup with filters is not planned for workers.
SELECT set_config(name, 'off', true) FROM pg_settings
WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT (lookup ->> 'Rows Removed by Bloom Filter')::numeric > 0 AS removes,
  plan_of('SELECT count(*) FROM picked', 'VERBOSE OFF')::text ~ '"Gather"' AS parallel
FROM lookup_of('SELECT count(*) FROM picked', 'ANALYZE, TIMING OFF, VERBOSE OFF');
SELECT * FROM same_rows('SELECT count(*) FROM picked');
-- A part of the query that is planned by itself has its InitPlans at its own top.
CREATE VIEW apart WITH (security_barrier) AS SELECT * FROM picked;
SELECT * FROM same_rows('SELECT i.id FROM apart a JOIN item i ON i.id = a.id');
DECLARE found SCROLL CURSOR FOR SELECT * FROM picked;
MOVE ALL FROM found;
MOVE BACKWARD ALL FROM found;
MOVE ALL FROM found;
CLOSE found;
-- A part that is planned by itself may also be below a Gather as a whole, if no scan in it is
-- parallel. With this seq_page_cost, the join drives an index scan.
ALTER TABLE pick SET (parallel_workers = 0);
ALTER TABLE sale SET (parallel_workers = 0);
ALTER TABLE season SET (parallel_workers = 0);
SET LOCAL enable_hashjoin = on;
SET LOCAL parallel_setup_cost = 1;
SET LOCAL seq_page_cost = 4;
SELECT * FROM same_rows('SELECT count(*) FROM parted b JOIN (SELECT p.item % 7 AS id, count(*)
  FROM pick p JOIN sale s ON s.item = p.item JOIN season n ON n.id = s.day
  WHERE n.kind = 3 AND p.item < 4000 GROUP BY 1) a ON a.id = b.id');
ROLLBACK;
-- To test parallel queries, the server can put a finished plan below a Gather.
BEGIN;
SET LOCAL max_parallel_workers_per_gather = 2;
SELECT set_config(name, 'on', true) FROM pg_settings
WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT * FROM same_rows('SELECT * FROM picked');
ROLLBACK;
SELECT * FROM same_rows('SELECT k, (SELECT count(*) FROM pick p JOIN sale s ON s.item = p.item
  JOIN season n ON n.id = s.day JOIN item e ON e.id = s.id % 20000 + 1
  WHERE n.kind = (SELECT k)) FROM generate_series(0, 4) k');
RESET enable_hashjoin;
RESET enable_mergejoin;

-- The estimate of the join is between the bounds of the share as well: 366 of 73 000 days and of
-- 1 819 days with sales. The server alone expects 1000 rows, and 40 000 are found.
SELECT (plan #>> '{0,Plan,Plan Rows}')::int BETWEEN 4000 AND 12000 AS between_bounds
FROM plan_of('SELECT s.id FROM sale s JOIN day d ON d.id = s.day WHERE year = 2002', 'VERBOSE OFF')
  plan;
-- If no condition restricts the keys, the number of sales with a partner says nothing about the
-- number of partners. The server's estimate stays.
CREATE TABLE visit AS SELECT 36500 + i % 600 AS day FROM generate_series(1, 1800) i;
ANALYZE visit;
CREATE VIEW visited AS SELECT s.id FROM sale s JOIN visit USING (day);
SELECT scan_of('SELECT FROM visited', 'VERBOSE OFF') IS NOT NULL AS filtered,
  plan_of('SELECT FROM visited', 'VERBOSE OFF') #>> '{0,Plan,Plan Rows}' AS on \gset
SET bloomfilter.join_filter = off;
SELECT :'filtered' AS filtered, :'on' = plan_of('SELECT FROM visited', 'VERBOSE OFF')
  #>> '{0,Plan,Plan Rows}' AS same;
SET bloomfilter.join_filter = on;
-- Two columns may depend on each other, so all sales may be as offered.
SELECT (scan_of('SELECT * FROM offered', 'VERBOSE OFF') ->> 'Plan Rows')::int > 150000 AS all_sales;
SELECT * FROM same_rows('SELECT * FROM offered');
-- The number of distinct keys of a large table is a guess: all sales may have a receipt.
CREATE TABLE receipt AS SELECT i AS sale FROM generate_series(1, 60000) i;
ALTER TABLE receipt ALTER sale SET (n_distinct = 5000);
ANALYZE receipt;
SELECT (scan_of('SELECT s.id FROM sale s JOIN receipt r ON r.sale = s.id', 'VERBOSE OFF')
  ->> 'Plan Rows')::int > 150000 AS all_sales;
