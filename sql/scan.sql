-- Scans that ask a filter for many rows at once: where they are offered, and that their rows are
-- those of a sequential scan.
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
    bf_agg(url) AS urls, bf_agg(code) AS codes, bf_agg(price) AS prices, bf_agg(at) AS times,
    bf_agg(tags) AS tags, bf_agg(span) AS spans, bf_agg(flags) AS flags, bf_agg(pair) AS pairs,
    bf_agg(later) AS later, bf_agg(added) AS added, bf_agg(events) AS everything,
    NULL::bloomfilter AS nothing
  FROM events WHERE id % 40 = 1;
ALTER TABLE filters ADD COLUMN grown bloomfilter;
UPDATE filters SET grown = bf_add_all(bf_create(4, grow => true),
  (SELECT array_agg(item) FROM events WHERE id % 40 = 1));
CREATE TABLE empty (LIKE events);

CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $body$
DECLARE
  rows text;
BEGIN
  EXECUTE format($$SELECT count(*) || ' ' ||
    md5(coalesce(string_agg(r::text, ',' ORDER BY r::text), '')) FROM (%s) r$$, query) INTO rows;
  RETURN rows;
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ': ' || SQLERRM;
END $body$;
CREATE FUNCTION scanned(query text, OUT scan boolean, OUT same boolean, OUT rows text)
LANGUAGE plpgsql AS $$
DECLARE
  plan text;
BEGIN
  FOR plan IN EXECUTE 'EXPLAIN ' || query LOOP
    scan := coalesce(scan, false) OR plan LIKE '%Bloom Filter Scan%';
  END LOOP;
  rows := rows_of(query);
  SET LOCAL bloomfilter.scan = off;
  same := rows = rows_of(query);
  SET LOCAL bloomfilter.scan = on;
  rows := regexp_replace(rows, ' [0-9a-f]{32}$', '');
END $$;
CREATE FUNCTION explained(query text, OUT plan jsonb) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
END $$;

-- Every family and layout.
SELECT filter, scanned.* FROM unnest(ARRAY['items', 'counted', 'cuckoo', 'guava', 'pages', 'grown'])
  filter, scanned(format('SELECT * FROM events WHERE (SELECT %s FROM filters) @> item', filter));
SELECT filter, scanned.* FROM (VALUES
    ('urls', 'url'), ('codes', 'code'), ('prices', 'price'), ('times', 'at'), ('tags', 'tags'),
    ('spans', 'span'), ('flags', 'flags'), ('pairs', 'pair'), ('later', 'later'), ('added', 'added'),
    ('everything', 'events'), ('nothing', 'item')) f (filter, value),
  scanned(format('SELECT * FROM events WHERE (SELECT %s FROM filters) @> %s', filter, value));

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

-- Other queries: a filter that depends on a row of another table, an outer query's, system columns.
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
  'SELECT id FROM events WHERE (SELECT items FROM filters) @> item ORDER BY id LIMIT 7',
  'SELECT id FROM events WHERE (SELECT items FROM filters) @> item FOR UPDATE']) query,
  scanned(query);

-- A filter that is large is not read for the few rows that a cheap condition leaves.
CREATE TABLE large AS SELECT bf_create(2000000) AS filter;
ANALYZE large;
SELECT scanned.* FROM unnest(ARRAY['id = 7', 'id > 7']) condition,
  scanned('SELECT id FROM events WHERE (SELECT filter FROM large) @> item AND ' || condition);

-- Nor are long values unpacked for rows that it refuses.
CREATE TABLE long AS
  SELECT i AS id, repeat('long ' || i, 10000) AS item FROM generate_series(1, 300) i;
ANALYZE long;
SELECT scanned.* FROM unnest(ARRAY['id = 7', 'id > 7']) condition,
  scanned('SELECT id FROM long WHERE (SELECT urls FROM filters) @> item AND ' || condition);

-- Rows that a policy hides are counted, too, and what a worker's subplan does once.
CREATE ROLE regress_bloomfilter_reader;
GRANT USAGE ON SCHEMA scan TO regress_bloomfilter_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA scan TO regress_bloomfilter_reader;
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON events USING (id % 2 = 1);
SET ROLE regress_bloomfilter_reader;
SELECT shown.*
  FROM explained('SELECT * FROM events WHERE (SELECT items FROM filters) @> item') plan,
    jsonb_to_record(plan->0->'Plan') shown("Filter Before" text, "Rows Removed by Filter" int,
      "Rows Removed by Bloom Filter" int, "Actual Rows" numeric(9));
RESET ROLE;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE empty SET (parallel_workers = 0);
SELECT jsonb_path_query_first(plan, '$.** ? (exists (@."Bloom Filter"))."Parallel Aware"') AS scan,
    jsonb_path_query_first(plan, '$.** ? (@."Subplan Name" == "SubPlan 2")."Actual Loops"')::int < 3
      AS once
  FROM explained('SELECT * FROM events WHERE (SELECT items FROM filters) @> item
    AND id NOT IN (SELECT id FROM empty)') plan;
DROP OWNED BY regress_bloomfilter_reader;
DROP ROLE regress_bloomfilter_reader;
