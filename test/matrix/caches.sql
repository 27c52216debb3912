-- Uses every part of the extension that keeps contents of the server's caches, or pointers into
-- them, between calls: composite element types, aggregates and their workers, calls in cached
-- plans, statistics, Bloom Filter Scan, indexes, join filters. test/matrix/servers runs this file
-- twice, with a server that discards its caches at every chance and with one that does not, and
-- compares the output.

CREATE EXTENSION bloomfilter;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE TYPE nest AS (m mood, p pair, l numeric[]);
CREATE DOMAIN word AS varchar(20) CHECK (VALUE <> '');
CREATE TABLE things (id int, m mood, p pair, n nest, l text[], w word, r int4range, j jsonb);
INSERT INTO things SELECT i, (ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood,
    ROW(i, 'b' || i % 7)::pair, ROW('ok', ROW(i, NULL)::pair, ARRAY[i / 10.0, NULL])::nest,
    ARRAY['x' || i, NULL], 'w' || i, int4range(i, i + 3), jsonb_build_object('i', i)
  FROM generate_series(1, 60) i;
CREATE TABLE numbers AS SELECT i, i % 7 AS few, i / 10.0 AS tenth FROM generate_series(1, 5000) i;
ANALYZE things, numbers;

-- Each element type, in each way of building.
CREATE TABLE filters (name text, f bloomfilter, c countingbloomfilter, k cuckoofilter);
INSERT INTO filters
SELECT 'm', bf_agg(m), cbf_agg(m), cf_agg(m) FROM things WHERE id <= 20 UNION ALL
SELECT 'p', bf_agg(p), cbf_agg(p), cf_agg(p) FROM things WHERE id <= 20 UNION ALL
SELECT 'n', bf_agg(n), cbf_agg(n), cf_agg(n) FROM things WHERE id <= 20 UNION ALL
SELECT 'l', bf_agg(l), cbf_agg(l), cf_agg(l) FROM things WHERE id <= 20 UNION ALL
SELECT 'w', bf_agg(w), cbf_agg(w), cf_agg(w) FROM things WHERE id <= 20 UNION ALL
SELECT 'r', bf_agg(r), cbf_agg(r), cf_agg(r) FROM things WHERE id <= 20 UNION ALL
SELECT 'j', bf_agg(j), cbf_agg(j), cf_agg(j) FROM things WHERE id <= 20;
SELECT name, md5(f::bytea), md5(c::bytea), md5(k::bytea) FROM filters ORDER BY name;
SELECT id % 3 AS part, md5(bf_agg(p, 100)::bytea), md5(cf_agg(n)::bytea)
FROM things GROUP BY 1 ORDER BY 1;
SELECT md5(bf_merge_agg(part)::bytea)
FROM (SELECT bf_partial_agg(bf_element_of(n)) AS part FROM things GROUP BY id % 4) parts;
SELECT md5(bf_union_agg(f)::bytea) FROM (SELECT bf_agg(m) AS f FROM things GROUP BY id % 4) parts;
SELECT id, bf_count(bf_agg(p) OVER (ORDER BY id ROWS 3 PRECEDING)) FROM things ORDER BY id LIMIT 5;

-- Filters probed row by row, by Bloom Filter Scan, and as constants.
SELECT count(*) FILTER (WHERE f @> m), count(*) FILTER (WHERE c @> m),
  count(*) FILTER (WHERE k @> m) FROM things, filters WHERE name = 'm';
SELECT count(*) FILTER (WHERE f @> n), count(*) FILTER (WHERE c @> n),
  count(*) FILTER (WHERE k @> n) FROM things, filters WHERE name = 'n';
CREATE FUNCTION filter_of(text) RETURNS bloomfilter STABLE LANGUAGE sql AS
  'SELECT f FROM filters WHERE name = $1';
INSERT INTO filters SELECT 'tenth', bf_agg(tenth), cbf_agg(tenth), cf_agg(tenth)
  FROM numbers WHERE i <= 50;
EXPLAIN (COSTS off)
SELECT count(*) FROM numbers WHERE (SELECT f FROM filters WHERE name = 'tenth') @> tenth;
SELECT count(*), sum(i)
FROM numbers WHERE (SELECT f FROM filters WHERE name = 'tenth') @> tenth AND few > 2;
SELECT count(*), sum(i)
FROM numbers WHERE (SELECT k FROM filters WHERE name = 'tenth') @> tenth AND few > 2;
UPDATE numbers SET few = -1 WHERE (SELECT c FROM filters WHERE name = 'tenth') @> tenth;
SELECT count(*) FROM numbers WHERE few = -1;
SELECT count(*) FROM things WHERE (SELECT f FROM filters WHERE name = 'p') @> p;
SELECT count(*) FROM things WHERE (SELECT f FROM filters WHERE name = 'n') @> n AND id > 5;
SELECT count(*) FROM things WHERE filter_of('l') @> l;
SELECT filter_of('w') @> 'w7', filter_of('w') @> 'w70', filter_of('m') @> 'sad'::mood;
SELECT filter_of('p') + ROW(99, 'new')::pair @> ROW(99, 'new')::pair;

-- Cached plans, while types and tables change.
PREPARE asked(pair) AS SELECT filter_of('p') @> $1;
PREPARE scanned AS
SELECT count(*) FROM numbers WHERE (SELECT f FROM filters WHERE name = 'tenth') @> tenth;
EXECUTE asked('(3,b3)');
EXECUTE scanned;
ALTER TYPE mood ADD VALUE 'glad' AFTER 'ok';
ALTER TABLE numbers ADD COLUMN more int DEFAULT 7;
INSERT INTO things (id, m, p) VALUES (61, 'glad', ROW(61, 'b')::pair);
EXECUTE asked('(3,b3)');
EXECUTE asked('(61,b)');
EXECUTE scanned;
ALTER TYPE mood RENAME VALUE 'sad' TO 'blue';
SELECT count(*) FROM things WHERE (SELECT bf_agg(m) FROM things WHERE id = 61) @> m;
DO $$
DECLARE
  c refcursor;
  number numbers;
  found int := 0;
BEGIN
  FOR i IN 1..10 LOOP
    found := found + (filter_of('p') @> ROW(i, 'b' || i % 7)::pair)::int;
  END LOOP;
  OPEN c FOR SELECT * FROM numbers WHERE (SELECT f FROM filters WHERE name = 'tenth') @> tenth;
  FOR i IN 1..8 LOOP
    FETCH c INTO number;
    found := found + number.i;
  END LOOP;
  RAISE NOTICE 'found %', found;
END $$;

-- Statistics, and plans that depend on them.
CREATE TABLE many AS SELECT bf_create(20) + i AS f FROM generate_series(1, 30) i;
ANALYZE many, numbers, filters;
EXPLAIN SELECT * FROM many WHERE f @> 7;
EXPLAIN SELECT * FROM numbers WHERE (SELECT f FROM filters WHERE name = 'tenth') @> tenth;
SELECT count(*) FROM many WHERE f @> 7;

-- Filter indexes: built, filled, tidied, checked, and probed, also by joins. One index is on
-- an expression.
CREATE TABLE segments AS SELECT f AS id, bf_agg(i, 100) AS filter
FROM generate_series(1, 150) f, generate_series(f, f + 3) i GROUP BY f ORDER BY f;
CREATE INDEX segments_filter ON segments USING bloomfilter (filter) WITH (list_limit = 16);
CREATE INDEX segments_folded ON segments USING bloomfilter (bf_fold(filter, 100000));
ANALYZE segments;
SET enable_seqscan = off;
EXPLAIN (COSTS off) SELECT id FROM segments WHERE filter @> 77;
INSERT INTO segments SELECT id + 1000, filter FROM segments WHERE id % 2 = 0;
DELETE FROM segments WHERE id % 5 = 0;
VACUUM segments;
SELECT bf_index_tidy('segments_filter'), bf_index_tidy('segments_folded');
SELECT bf_index_check('segments_filter'), bf_index_check('segments_folded');
SELECT count(*), min(id) FROM segments WHERE filter @> 77;
SELECT count(*), min(id) FROM segments WHERE bf_fold(filter, 100000) @> 77;
SELECT count(*) FROM segments WHERE bf_contains_any(filter, ARRAY[77, 300, NULL]);
SELECT count(*), sum(id) FROM (VALUES (7), (77), (NULL)) k (v) JOIN segments ON filter @> v;
RESET enable_seqscan;

-- A bloompages index: built, filled, tidied, checked, and probed, also by joins.
CREATE TABLE traces AS SELECT i AS id, md5(i::text)::uuid AS trace, 'host' || i % 50 AS host,
  ARRAY[i, i + 1] AS pair FROM generate_series(1, 300) i;
CREATE INDEX traces_pages ON traces USING bloompages (trace, host, pair) WITH (pages_per_range = 1);
ANALYZE traces;
SET enable_seqscan = off;
EXPLAIN (COSTS off) SELECT id FROM traces WHERE trace = md5('77')::uuid;
INSERT INTO traces SELECT id + 1000, md5(id || 'x')::uuid, host, pair FROM traces;
UPDATE traces SET host = 'none' WHERE id % 100 = 7;
DELETE FROM traces WHERE id % 5 = 0;
VACUUM traces;
SELECT bf_index_tidy('traces_pages'), bf_index_check('traces_pages');
SELECT ranges, ready, tail_pages FROM bf_index_info('traces_pages');
SELECT id FROM traces WHERE trace = md5('77')::uuid;
SELECT count(*), min(id) FROM traces WHERE host = 'host7'::name AND pair = ARRAY[57, 58];
SELECT count(*), sum(id) FROM (VALUES ('host7'), ('none'), (NULL)) k (v) JOIN traces ON host = v;
RESET enable_seqscan;

-- Join filters, which the planner adds, also in cached plans.
SET bloomfilter.join_filter = on;
SET cpu_tuple_cost = 1;
CREATE TABLE keys AS SELECT i * 40 AS key, i * 40 % 7 AS few FROM generate_series(1, 100) i;
ANALYZE keys;
EXPLAIN (COSTS off) SELECT count(*) FROM numbers n JOIN keys k ON n.i = k.key WHERE k.few < 3;
SELECT count(*), sum(n.i) FROM numbers n JOIN keys k ON n.i = k.key WHERE k.few < 3;
PREPARE joined(int) AS
SELECT count(*) FROM numbers n JOIN keys k ON n.i = k.key AND n.i % 7 = k.few WHERE k.key < $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE joined(900);
ALTER TABLE keys ADD COLUMN more int DEFAULT 7;
EXECUTE joined(900);
