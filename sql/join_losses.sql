-- Kinds of queries that join filters once made slower, or that raised an error. Each test asserts
-- the plan or the rows.
CREATE SCHEMA join_losses;
SET search_path = join_losses, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
LOAD 'bloomfilter';
SET bloomfilter.join_filter = on;
\i sql/include/plan.sql

CREATE TABLE dim AS SELECT i AS id, i % 200 AS kind, repeat('x', 40) AS padding
FROM generate_series(0, 19999) i;
CREATE TABLE fact AS SELECT (i::bigint * 7919 % 1000000)::int AS dim, i % 1000 AS extra
FROM generate_series(1, 200000) i;
CREATE TABLE extra AS SELECT i AS id, i % 100 AS kind FROM generate_series(0, 49999) i;
VACUUM ANALYZE dim, fact, extra;

-- The number of times that scans with filters are executed.
CREATE FUNCTION executions(query text) RETURNS numeric LANGUAGE sql AS $$
  SELECT max((scan ->> 'Actual Loops')::numeric)
  FROM jsonb_path_query(plan_of(query, 'ANALYZE, TIMING OFF, VERBOSE OFF'),
    'strict $.** ? (@."Custom Plan Provider" == "Bloom Filter Scan")') scan
$$;
-- Lists the tables whose scans probe filters.
CREATE FUNCTION filtered(query text) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(DISTINCT name #>> '{}', ', ')
  FROM jsonb_path_query(plan_of(query), 'strict $.** ? (@."Custom Plan Provider" ==
    "Bloom Filter Scan" && exists (@."Bloom Filter"))."Relation Name"') name
$$;
-- True if the cost of the plan is at least that of each InitPlan.
CREATE FUNCTION covers_initplans(query text) RETURNS boolean LANGUAGE sql AS $$
  SELECT bool_and((plan #>> '{0,Plan,Total Cost}')::numeric >= (cost #>> '{}')::numeric)
  FROM plan_of(query) plan, jsonb_path_query(plan,
    'strict $.** ? (@."Parent Relationship" == "InitPlan")."Total Cost"') cost
$$;

-- If a filtered scan is executed again, its filter is not built again, but its table is read again.
-- The server must not take this for free.
CREATE TABLE indexed AS SELECT (i::bigint * 7919 % 1000000)::int AS dim, i % 1000 AS extra
FROM generate_series(1, 600000) i;
CREATE INDEX ON indexed (dim);
CREATE TABLE wide_extra AS SELECT i AS id, i % 100 AS kind FROM generate_series(0, 99999) i;
VACUUM ANALYZE indexed, wide_extra;
SELECT executions('SELECT count(*) FROM dim d WHERE d.kind < 5 AND EXISTS (SELECT FROM indexed f
  LEFT JOIN wide_extra e ON e.id = f.extra WHERE f.dim = d.id AND (e.kind IS NULL OR e.kind < 3))');
-- The cost of executing it again is that of the scan, also in branches of a UNION ALL.
CREATE TABLE keys AS SELECT i AS id, i % 100 AS kind, md5(i::text) AS padding
FROM generate_series(1, 200000) i;
CREATE TABLE numbers AS SELECT (i::bigint * 7919 % 200000)::int AS key, i AS more, md5(i::text) AS
  padding FROM generate_series(1, 100000) i;
VACUUM ANALYZE keys, numbers;
CREATE VIEW branches AS SELECT * FROM numbers UNION ALL SELECT * FROM numbers;
CREATE TABLE name AS SELECT i AS id, repeat('n', 10) AS name FROM generate_series(1, 200) i;
ANALYZE name;
-- With more joins, a dropped row saves more, and a filter may cost more.
CREATE FUNCTION joined(rows text) RETURNS text LANGUAGE sql AS $$
  SELECT format('SELECT more FROM %s JOIN keys ON id = key JOIN name a ON a.id = more %% 200
    JOIN name b ON b.id = more %% 100 JOIN name c ON c.id = more %% 50 WHERE kind = 3', rows)
$$;
CREATE FUNCTION cost_of_reading_again(query text) RETURNS numeric LANGUAGE sql AS $$
  SELECT (scan ->> 'Total Cost')::numeric - (scan ->> 'Startup Cost')::numeric
  FROM jsonb_path_query_first(plan_of(query),
    'strict $.** ? (@."Custom Plan Provider" == "Bloom Filter Scan")') scan
$$;
SELECT rows, cost_of_reading_again(joined(rows)) > 300 AS costs
FROM unnest(ARRAY['numbers', 'branches']) rows;

-- The cost of a plan includes what its filters cost, also if joins look the keys up by an index.
CREATE UNIQUE INDEX ON keys (id);
ANALYZE keys;
SELECT query, filtered(query), covers_initplans(query)
FROM unnest(ARRAY['SELECT sum(more) FROM (%s) q',
  'SELECT more, count(*) FROM (%s) q GROUP BY 1 ORDER BY 1 LIMIT 10',
  'SELECT DISTINCT more, rank() OVER (ORDER BY more) FROM (%s) q',
  'SELECT more FROM (%s OFFSET 0) q WHERE more > 7']) form, format(form, joined('numbers')) query;
SELECT filtered(query), covers_initplans(query)
FROM joined('branches') query;
SELECT filtered(query), covers_initplans(query)
FROM concat('INSERT INTO name (id) ', joined('numbers')) query;

-- If a join looks up few rows by an index, a filter for a scan of the whole table is no gain.
CREATE INDEX ON dim (id);
VACUUM ANALYZE dim;
SELECT filtered('SELECT count(*) FROM dim a JOIN dim b ON a.id = b.id AND b.kind = 3
  JOIN dim c ON c.id = b.id AND c.kind < 100');
-- The lookups are better than the server thinks if few of them find rows: events of one day in
-- seven are stored, in the order of the days.
CREATE TABLE day AS SELECT i AS id, i % 10 AS kind FROM generate_series(1, 20000) i;
CREATE TABLE event AS SELECT 700 + i / 700 * 7 AS day, i % 5000 AS item
FROM generate_series(1, 200000) i;
CREATE INDEX ON event (day);
VACUUM ANALYZE day, event;
SELECT filtered('SELECT count(item) FROM event JOIN day ON day.id = event.day
  WHERE day.id BETWEEN 1000 AND 1090');
SELECT filtered('SELECT count(item) FROM event JOIN day ON day.id = event.day WHERE kind = 3');
-- A scan with a filter must cost less than lookups that return the same rows.
CREATE TABLE reason AS SELECT i AS id, i AS kind FROM generate_series(1, 35) i;
CREATE TABLE returned AS SELECT i % 18 AS reason, i AS more, repeat('r', 60) AS padding
FROM generate_series(1, 100000) i;
CREATE INDEX ON returned (reason);
VACUUM ANALYZE reason, returned;
SET work_mem = '4MB';
SELECT filtered('SELECT count(padding) FROM returned r JOIN reason s ON s.id = r.reason
  LEFT JOIN name n ON n.id = r.more WHERE s.kind = 3');
RESET work_mem;
-- The same for an index that returns the rows in the order of the key. A merge join reads it.
-- It must cost less than the scan with building the filters.
CREATE TABLE sorted AS SELECT i AS id, i % 10 AS digit, repeat('s', 20) AS padding
FROM generate_series(1, 200000) i;
CREATE UNIQUE INDEX ON sorted (id);
CREATE TABLE halves AS SELECT i * 2 AS id, i % 100 AS kind, repeat('h', 200) AS padding
FROM generate_series(1, 100000) i;
CREATE TABLE digit AS SELECT generate_series(0, 9) AS id;
VACUUM ANALYZE sorted, halves, digit;
CREATE VIEW merged AS SELECT s.padding FROM sorted s JOIN halves h USING (id)
JOIN digit a ON a.id = digit JOIN digit b ON b.id = digit + 1 JOIN digit c ON c.id = digit + 2
WHERE h.kind < 20;
SET random_page_cost = 2;
SELECT filtered('SELECT count(padding) FROM merged');
RESET random_page_cost;
SELECT filtered('SELECT count(padding) FROM merged');

-- In a small table, few pages are read before a filter is built. The planner expects their rows.
CREATE TABLE small AS SELECT (i * 7919 % 20000)::int AS id, i AS more
FROM generate_series(1, 20000) i;
CREATE TABLE small_keys AS SELECT i AS id, i % 100 AS kind FROM generate_series(1, 8000) i;
ANALYZE small, small_keys;
SELECT (scan ->> 'Rows Not Probed')::numeric * (scan ->> 'Actual Loops')::numeric BETWEEN 1 AND 2000
    AS few_unprobed,
  (scan ->> 'Plan Rows')::numeric BETWEEN 1250 AND 2500 AS expected
FROM jsonb_path_query_first(plan_of('SELECT count(*) FROM small JOIN small_keys USING (id)
    WHERE kind = 3', 'ANALYZE, TIMING OFF, VERBOSE OFF'),
  'strict $.** ? (@."Custom Plan Provider" == "Bloom Filter Scan")') scan;

-- To plan a filter takes longer than to join a few rows, whatever the settings say a row costs.
-- Such filters would save next to nothing, and change which of two equal joins is chosen.
CREATE TABLE rows_99 AS SELECT i * 300 AS key FROM generate_series(1, 99) i;
CREATE TABLE rows_101 AS SELECT i * 300 AS key FROM generate_series(1, 101) i;
ANALYZE rows_99, rows_101;
SET cpu_tuple_cost = 10;
SELECT name, filtered(format('SELECT count(*) FROM %s JOIN reason ON id = key WHERE kind = 3',
  name))
FROM unnest(ARRAY['rows_99', 'rows_101']) name;
RESET cpu_tuple_cost;

-- On the inner side of a semijoin, a row is joined with nothing but the source, so a dropped row
-- saves one join. In the same query without a semijoin, it saves several.
CREATE TABLE workday AS SELECT i AS id, i / 7 AS week, i % 200 AS name, repeat('w', 100) AS padding
FROM generate_series(0, 69999) i;
ANALYZE workday;
SELECT filtered('SELECT count(*) FROM name a JOIN name b USING (id) JOIN name c USING (id)
    WHERE id IN (SELECT d.name FROM workday d
      WHERE week IN (SELECT week FROM workday e WHERE e.id IN (17, 400, 1700)))') AS inner_side,
  filtered('SELECT count(*) FROM name a JOIN name b USING (id) JOIN name c USING (id)
    JOIN workday d ON d.name = a.id JOIN workday e ON e.week = d.week AND e.id IN (17, 400, 1700)')
  AS joined;

-- A hash join takes the first row of a scan, and stops if its hash table is empty. Then no filter
-- is built, even if it costs little.
BEGIN;
DELETE FROM dim WHERE kind = 3;
SELECT scan ? 'Bloom Filter Not Built' AS not_built, (scan ->> 'Actual Rows')::numeric::int AS rows
FROM jsonb_path_query_first(plan_of('SELECT count(*) FROM fact f JOIN dim d ON d.id = f.dim
    WHERE d.kind = 3', 'ANALYZE, TIMING OFF, VERBOSE OFF'),
  'strict $.** ? (@."Custom Plan Provider" == "Bloom Filter Scan")') scan;
ROLLBACK;

-- Workers do not build filters of few rows, even if parallel_setup_cost says that starting workers
-- costs nothing. The same for a table with partitions that are joined one by one.
CREATE TABLE hashed (id int, more int) PARTITION BY HASH (id);
CREATE TABLE hashed_keys (id int, kind int) PARTITION BY HASH (id);
SELECT format('CREATE TABLE %s_%s PARTITION OF %1$s FOR VALUES WITH (MODULUS 4, REMAINDER %2$s)',
  name, remainder)
FROM unnest(ARRAY['hashed', 'hashed_keys']) name, generate_series(0, 3) remainder \gexec
INSERT INTO hashed SELECT i % 5000, i FROM generate_series(1, 100000) i;
INSERT INTO hashed_keys SELECT i, i % 100 FROM generate_series(1, 5000) i;
ANALYZE hashed, hashed_keys;
BEGIN;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL enable_partitionwise_join = on;
SELECT filtered(query), jsonb_path_exists(plan_of(query),
    'strict $.** ? (@."Parent Relationship" == "InitPlan").** ? (@."Node Type" == "Gather")')
  AS built_by_workers
FROM (VALUES
  ('SELECT count(*) FROM hashed JOIN hashed_keys USING (id) WHERE kind < 5'),
  ('SELECT count(*) FROM hashed h JOIN small_keys s ON s.id = h.id WHERE kind < 5')) q (query);
COMMIT;

-- If filters change an estimate, more rows are expected. A LIMIT must not take a smaller share of
-- them than before, because the planner would then prefer a plan that returns its first rows soon.
CREATE TABLE calendar AS SELECT i AS id, 1900 + i / 365 AS year FROM generate_series(0, 72999) i;
CREATE TABLE sale AS SELECT i AS id, 36500 + i / 110 AS day FROM generate_series(0, 199999) i;
CREATE INDEX ON sale (id);
CREATE UNIQUE INDEX ON calendar (id);
VACUUM ANALYZE calendar, sale;
-- The server expects 1000 rows of the join, and ours are some 6000.
CREATE VIEW sold AS SELECT s.id FROM sale s JOIN calendar c ON c.id = s.day WHERE year = 2002;
CREATE VIEW sorted_sold AS SELECT * FROM sold ORDER BY id;
SELECT query, rows, plan_of(format('%s LIMIT %s', query, rows))::text ~ 'sale_id_idx' AS by_index
FROM unnest(ARRAY['SELECT * FROM sold ORDER BY id', 'SELECT * FROM sorted_sold']) query,
  unnest(ARRAY['10', '500', '10 OFFSET 500']) rows;
-- Other tables' rows are not changed by it.
CREATE TABLE wide AS SELECT i * 7919 % 100000 AS id, repeat('w', 200) AS padding
FROM generate_series(1, 100000) i;
CREATE INDEX ON wide (id);
VACUUM ANALYZE wide;
SELECT plan_of('SELECT * FROM wide, (SELECT count(*) FROM sold) a, (SELECT count(*) FROM sold) b
  ORDER BY wide.id LIMIT 3000')::text ~ 'wide_id_idx' AS by_index;
-- Rows are locked before LIMIT counts them.
SELECT explained AS locks FROM explained('SELECT d.id FROM dim d, (SELECT * FROM sold OFFSET 0) s
  WHERE d.id = s.id LIMIT 900 FOR UPDATE OF d') WHERE explained ~ 'LockRows';

-- A condition that is evaluated only once guards the source's conditions. If it is false, no filter
-- is built.
SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION outcome(query text, setting text, workers int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  PERFORM set_config('bloomfilter.join_filter', setting, true);
  PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
  PERFORM set_config('min_parallel_table_scan_size', '0', true);
  PERFORM set_config('parallel_setup_cost', '10', true);
  PERFORM set_config('parallel_tuple_cost', '0.1', true);
  EXECUTE 'PREPARE guarded (int) AS ' || query;
  BEGIN
    EXECUTE 'EXECUTE guarded (0)' INTO result;
  EXCEPTION WHEN division_by_zero THEN
    result := SQLERRM;
  END;
  DEALLOCATE guarded;
  RETURN result;
END $$;
CREATE TABLE parts (dim int, extra int) PARTITION BY HASH (dim);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (modulus 2, remainder 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (modulus 2, remainder 1);
INSERT INTO parts SELECT dim, extra FROM fact;
ANALYZE parts;
SELECT what, outcome(query, 'off', 0) AS off, outcome(query, 'on', 0) AS on,
  outcome(query, 'off', 2) AS parallel_off, outcome(query, 'on', 2) AS parallel_on
FROM (VALUES
  ('query', 'SELECT count(*) FROM fact f JOIN dim d ON d.id = f.dim
    WHERE $1 <> 0 AND d.kind = 10 / $1'),
  ('partitions', 'SELECT count(*) FROM parts f JOIN dim d ON d.id = f.dim
    WHERE $1 <> 0 AND d.kind = 10 / $1'),
  ('branches', 'SELECT count(*) FROM (SELECT dim FROM fact UNION ALL SELECT dim FROM parts) f
    JOIN dim d ON d.id = f.dim WHERE $1 <> 0 AND d.kind = 10 / $1'),
  ('branch', 'SELECT sum(c) FROM (SELECT count(*) AS c FROM fact f JOIN dim d ON d.id = f.dim
    WHERE $1 <> 0 AND d.kind = 10 / $1 UNION ALL SELECT 7) b'),
  ('subquery', 'SELECT s.c FROM extra JOIN (SELECT f.extra, count(*) AS c FROM fact f
    JOIN dim d ON d.id = f.dim WHERE $1 <> 0 AND d.kind = 10 / $1 GROUP BY 1) s
    ON s.extra = extra.id'),
  ('around a subquery', 'SELECT count(*) FROM (SELECT f.extra FROM fact f
    JOIN dim d ON d.id = f.dim WHERE d.kind = 10 / $1 OFFSET 0) s WHERE $1 <> 0'),
  ('one side', 'SELECT count(*) FROM extra e LEFT JOIN (fact f
    JOIN (SELECT * FROM dim WHERE $1 <> 0 AND kind = 10 / $1) d ON d.id = f.dim)
    ON e.id = f.extra'),
  ('a join of one side', 'SELECT count(*) FROM extra e LEFT JOIN (fact f
    JOIN (SELECT d.id FROM dim d JOIN day ON day.id = d.id WHERE $1 <> 0 AND d.kind = 10 / $1) d
    ON d.id = f.dim) ON e.id = f.extra'),
  ('neighbour', 'SELECT count(*) FROM fact f JOIN extra e ON e.id = f.extra
    JOIN dim d ON d.id = e.kind WHERE $1 <> 0 AND d.kind = 10 / $1')) q (what, query);
-- Nor is a filter built for rows that an index finds.
CREATE TABLE driving AS SELECT i AS id, i % 50 AS kind FROM generate_series(1, 50000) i;
CREATE TABLE driven AS SELECT 1 + i % 50000 AS driving, i % 20000 AS dim
FROM generate_series(1, 400000) i;
CREATE INDEX ON driven (driving);
VACUUM ANALYZE driving, driven;
SET random_page_cost = 1;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT outcome(query, 'off', 2) AS off, outcome(query, 'on', 2) AS on
FROM (VALUES ('SELECT count(*) FROM driving r JOIN driven b ON b.driving = r.id
  JOIN dim d ON d.id = b.dim JOIN extra e ON e.id = b.driving
  JOIN extra g ON g.id = b.driving WHERE r.kind < 2 AND $1 <> 0 AND d.kind = 10 / $1')) q (query);
-- A filter that is probed for the rows of lookups changes no estimate, so it changes no other plan.
SELECT probe ->> 'Plan Rows' = probe #>> '{Plans,0,Plan Rows}' AS same_rows
FROM jsonb_path_query_first(plan_of('SELECT count(*) FROM driving r JOIN driven b
    ON b.driving = r.id JOIN dim d ON d.id = b.dim JOIN extra e ON e.id = b.driving
    JOIN extra g ON g.id = b.driving WHERE r.kind < 2 AND d.kind = 3'),
  'strict $.** ? (@."Custom Plan Provider" == "Bloom Filter Probe")') probe;
RESET random_page_cost;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;
-- Lookups for pairs of rows of two tables keep no filter away.
CREATE TABLE pairs AS SELECT i % 20000 AS dim, i % 49999 AS extra FROM generate_series(1, 200000) i;
CREATE INDEX ON pairs (extra, dim);
VACUUM ANALYZE pairs;
SELECT filtered('SELECT count(*) FROM pairs p JOIN dim d ON d.id = p.dim
  JOIN extra e ON e.id = p.extra WHERE d.kind = 3 AND e.kind < 10');
-- Such conditions do not keep filters from other plans.
PREPARE guarded (int) AS SELECT count(*) FROM fact f JOIN dim d ON d.id = f.dim
  WHERE $1 <> 0 AND d.kind = 10 / $1;
SELECT filtered('EXECUTE guarded (1)');
DEALLOCATE guarded;
RESET plan_cache_mode;

