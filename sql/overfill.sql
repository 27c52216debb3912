-- Filters with more values than they were made for.
CREATE SCHEMA overfill;
SET search_path = overfill, public;
\i sql/include/outcome.sql
LOAD 'bloomfilter';
SHOW bloomfilter.overfill;

-- bf_agg with a capacity, bf_add_all and bf_union_agg warn once in a statement.
SELECT bf_count(bf_agg(i, 1000)) > 2900 AS done FROM generate_series(1, 3000) i;
SELECT bf_count(bf_add_all(bf_create(1000, 0.0001), array_agg(i))) > 2900 AS done
FROM generate_series(1, 3000) i;
SELECT bf_count(bf_union_agg(f)) > 2900 AS done
FROM (SELECT bf_agg(i, 1000) AS f FROM generate_series(1, 3000) i GROUP BY i / 500) f;
SELECT count(f) AS done
FROM (SELECT bf_agg(i, 100) AS f FROM generate_series(1, 3000) i GROUP BY i % 3 OFFSET 0) f;
SELECT bf_count(bf_agg(i, 1000)) > 2900 AS again FROM generate_series(1, 3000) i;

-- Functions that add one value at a time warn once in a statement for all filters with the same
-- parameters.
CREATE TABLE single (id int, f bloomfilter, g bloomfilter, c countingbloomfilter, k cuckoofilter);
INSERT INTO single SELECT id, bf_create(100), bf_create(50), cbf_create(100), cf_create(400)
FROM generate_series(1, 3) id;
DO $$ BEGIN FOR i IN 1..150 LOOP UPDATE single SET f = f + i WHERE id = 1; END LOOP; END $$;
DO $$ BEGIN FOR i IN 1..150 LOOP UPDATE single SET f = bf_add(f, i::text::int) WHERE id = 2;
END LOOP; END $$;
DO $$ BEGIN FOR i IN 1..150 LOOP UPDATE single SET f = (bf_put(f, i)).filter WHERE id = 3;
END LOOP; END $$;
UPDATE single SET f = f + (1000 + id);
DO $$ BEGIN FOR i IN 1..150 LOOP UPDATE single SET f = bf_add_hash(bf_clear(f), i),
  g = bf_add_hash(g, bf_hash(i)), c = cbf_add(c, i), k = k + i WHERE id = 1;
END LOOP; END $$;
DO $$ BEGIN FOR i IN 1..150 LOOP UPDATE single SET c = (cbf_put(c, i)).filter WHERE id = 2;
END LOOP; END $$;
SELECT count(*) AS "are saturated" FROM single, bf_info(f) i WHERE i.saturated;
CREATE FUNCTION remembered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE single SET g = g + NEW.word WHERE id = 3;
  RETURN NULL;
END $$;
CREATE TABLE incoming (word text);
CREATE TRIGGER remembered AFTER INSERT ON incoming FOR EACH ROW EXECUTE FUNCTION remembered();
INSERT INTO incoming SELECT 'word ' || i FROM generate_series(1, 80) i;
-- The error is raised in every layout and size, and with every way of sizing, when the rate is
-- about twice the rate asked for.
CREATE FUNCTION reached(made_by text, most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  f bloomfilter;
  n int := 0;
BEGIN
  EXECUTE 'SELECT ' || made_by INTO f;
  FOR n IN 1..most LOOP
    f := f + n::bigint;
  END LOOP;
  RETURN 'never';
EXCEPTION WHEN program_limit_exceeded THEN
  RETURN CASE WHEN bf_fpr(f) / (bf_info(f)).target_fpr BETWEEN 1.4 AND 2.8 THEN 'in time'
    ELSE format('at %s times the rate', bf_fpr(f) / (bf_info(f)).target_fpr) END;
END $$;
SET bloomfilter.overfill = error;
SELECT reached(made_by, most), string_agg(made_by, '; ' ORDER BY made_by) AS filters
FROM (VALUES ('bf_create(20)', 200), ('bf_create(1000)', 4000), ('bf_create(20000)', 40000),
  ('bf_create(3000, 1e-5)', 9000), ('bf_create(20000, 0.3)', 60000), ('bf_create(2000, 0.5)', 8000),
  ('bf_create(1000, 0.01, ''guava'')', 4000), ('bf_create(1000, 0.01, ''spark_v2'')', 4000),
  ('bf_create(1000, 0.01, ''datasketches'')', 4000), ('bf_create(1000, 0.01, ''hive'')', 4000),
  ('bf_create(3000, 0.01, ''parquet'')', 9000), ('bf_create(300, 0.05, ''guava'')', 4000),
  ('bf_create(10, grow => true)', 3000), ('bf_create_by_size(1024, 6)', 1000),
  ('bf_agg(x) FROM generate_series(1, 0) x', 3000),
  ('bf_agg(x, 500) FROM generate_series(1, 0) x', 3000),
  ('bf_fold(bf_create(20000), 2000)', 4000)) v(made_by, most) GROUP BY 1 ORDER BY 1;
RESET bloomfilter.overfill;

-- Up to the capacity, or a little above, there is no warning. Nor is there one for a filter without
-- a rate that was asked for.
SELECT bf_agg(i, 1000) IS NOT NULL AS full_up FROM generate_series(1, 1000) i;
SELECT estimated_fpr / target_fpr BETWEEN 1.2 AND 2 AS little, saturated FROM
  (SELECT bf_agg(i, 100000) AS f FROM generate_series(1, 110000) i) x, bf_info(f);
SELECT bf_count(bf_agg(i)) > 2900 AS sized_itself FROM generate_series(1, 3000) i;
SELECT saturated
FROM (SELECT bf_add_all(bf_create_by_size(512, 6), array_agg(i)) AS f
    FROM generate_series(1, 3000) i) x, bf_info(f);
SELECT bf_add_all(f, ARRAY[1, 2]) = f AS nothing_new
FROM (SELECT bf_add_all(bf_create(10), array_agg(i)) AS f FROM generate_series(1, 1000) i) x;

-- A folded filter is full earlier.
SELECT bf_add_all(bf_fold(bf_create(100000), 2000), array_agg(i)) @> 1 AS folded
FROM generate_series(1, 20000) i;

-- A filter in another system's layout neither grows nor sizes itself.
SELECT bf_agg(i, 1000, 0.01, 'guava') @> 1 AS guava FROM generate_series(1, 3000) i;
SELECT bf_add_all(bf_create(1000, layout => 'spark'), array_agg(i)) @> 1 AS spark
FROM generate_series(1, 3000) i;

-- The rates of a union's links add up. The sum is compared with the highest rate of a link.
CREATE FUNCTION self_sized(part int, fpr float8 DEFAULT 0.01, size int DEFAULT 1000)
  RETURNS bloomfilter
LANGUAGE sql AS
  'SELECT bf_agg(i, NULL, fpr) FROM generate_series(part * 10000 + 1, part * 10000 + size) i';
CREATE FUNCTION made(part int, expected int, fpr float8 DEFAULT 0.01, layout text DEFAULT 'lines')
RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_agg(i, expected, fpr, layout)
   FROM generate_series(part * 10000 + 1, part * 10000 + least(expected, 1000)) i';
CREATE FUNCTION growing(part int) RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_add_all(bf_create(100, grow => true), array_agg(i))
   FROM generate_series(part * 10000 + 1, part * 10000 + 3000) i';
CREATE TABLE parts AS SELECT part, self_sized(part) AS f FROM generate_series(1, 16) part;
SELECT bf_union_agg(f) @> 20001 AS sixteen FROM parts;
SELECT (a.f | b.f | c.f) @> 20001 AS three
FROM parts a, parts b, parts c WHERE (a.part, b.part, c.part) = (1, 2, 3);
SELECT bf_union_agg(growing(part)) @> 20001 AS grown FROM generate_series(1, 6) part;
SELECT (made(1, 500, layout => 'guava') | made(2, 600, layout => 'guava')
  | made(3, 700, layout => 'guava')) @> 20001 AS guava;
-- The warning is raised once, at the end, and not in a worker as well.
ALTER TABLE parts SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
EXPLAIN (COSTS off) SELECT (bf_info(bf_union_agg(f))).links FROM parts;
SELECT (bf_info(bf_union_agg(f))).links FROM parts;
RESET parallel_leader_participation;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
-- Unions that are overfilled, and unions that are not. `saturated` agrees with the error.
CREATE TABLE unions (n serial, what text, made_by text);
INSERT INTO unions (what, made_by) VALUES
  ('one that sized itself', 'bf_union_agg(f) FROM parts WHERE part = 1'),
  ('two', 'bf_union_agg(f) FROM parts WHERE part <= 2'),
  ('three', 'bf_union_agg(f) FROM parts WHERE part <= 3'),
  ('sixteen', 'bf_union_agg(f) FROM parts'),
  ('the same three', '(a.f | b.f) | (c.f | b.f) FROM parts a, parts b, parts c
      WHERE (a.part, b.part, c.part) = (1, 2, 3)'),
  ('one and NULL', 'self_sized(1) | NULL'),
  ('one and an empty one', 'self_sized(1) | bf_agg(NULL::int)'),
  ('sixteen at a lower rate', 'bf_union_agg(self_sized(part, 0.001)) FROM parts'),
  ('sixteen at the rate divided by 16', 'bf_union_agg(self_sized(part, 0.01 / 16)) FROM parts'),
  ('sixteen at a higher rate divided by 16', 'bf_union_agg(self_sized(part, 0.1 / 16)) FROM parts'),
  ('eight and one at a higher rate',
    'bf_union_agg(CASE WHEN part < 9 THEN f ELSE self_sized(9, 0.1) END)
      FROM parts WHERE part < 10'),
  ('sixteen for one number', 'bf_union_agg(made(part, 16000)) FROM parts'),
  ('three for too small a number', 'bf_union_agg(made(part, 1000)) FROM parts WHERE part < 4'),
  ('two for two numbers', 'made(1, 1000) | made(2, 2000)'),
  ('four for four numbers', 'bf_union_agg(made(part, 600 + 100 * part)) FROM parts WHERE part < 5'),
  ('eight that are not full', 'bf_union_agg(made(part, 1020 + 60 * part)) FROM parts
      WHERE part < 9'),
  ('four empty ones', 'bf_union_agg(bf_create(1000 * part)) FROM parts WHERE part < 5'),
  ('four intersections', 'bf_union_agg(made(part, 600 + 100 * part) & made(part, 600 + 100 * part))
      FROM parts WHERE part < 5'),
  ('two that grow', 'growing(1) | growing(2)'),
  ('four that grow', 'bf_union_agg(growing(part)) FROM parts WHERE part < 5'),
  ('one that grows and three', 'growing(99) | self_sized(1) | self_sized(2) | self_sized(3)'),
  ('one that grows and one at a higher rate', 'growing(1) | self_sized(2, 0.1)'),
  ('three, and one of unknown capacity', 'bf_union_agg(CASE part WHEN 4
      THEN bf_create_by_size(512, 6) ELSE f END) FROM parts WHERE part < 5'),
  ('two of another system', 'made(1, 1200, 0.01, ''guava'') | made(2, 1300, 0.01, ''guava'')'),
  ('four of another system',
    'bf_union_agg(made(part, 600 + 100 * part, 0.01, ''guava'')) FROM parts WHERE part < 5');
SET bloomfilter.overfill = error;
CREATE TABLE outcomes AS SELECT n, outcome('SELECT ' || made_by) FROM unions;
SET bloomfilter.overfill = ignore;
CREATE FUNCTION made(by text) RETURNS bloomfilter LANGUAGE plpgsql AS $$
DECLARE f bloomfilter;
BEGIN
  EXECUTE 'SELECT ' || by INTO f;
  RETURN f;
END $$;
SELECT what, outcome, saturated, links, expected, round(target_fpr::numeric, 4) AS target_fpr,
  estimated_fpr > 2 * target_fpr AS "above twice"
FROM unions JOIN outcomes USING (n), bf_info(made(made_by)) ORDER BY n;
-- When values are added to a union, it is judged by the sum of its links' capacities.
CREATE TABLE three AS SELECT bf_union_agg(f) AS f FROM parts WHERE part < 4;
SET bloomfilter.overfill = error;
SELECT (bf_info(f)).saturated,
  bf_add_all(f, '{-1, -2, -3}'::int[]) @> -1 AS all_added,
  (f + -1) @> -1 AS one_added,
  (bf_put(f, -1)).was_new AS put
FROM three;
SELECT bf_add_all(f, array_agg(-i)) FROM three, generate_series(1, 3000) i GROUP BY f;
-- Values that links of different sizes have in common are counted in each link.
SET bloomfilter.overfill = ignore;
CREATE TABLE of_two_sizes AS SELECT f | bf_create(2000) AS f FROM three;
SET bloomfilter.overfill = error;
SELECT bf_add_all(f, array_agg(-i)) FROM of_two_sizes, generate_series(1, 5000) i GROUP BY f;
SELECT outcome('SELECT cbf_union(a, b) FROM (SELECT cbf_agg(i, 1000) AS a, cbf_agg(-i, 1000) AS b
  FROM generate_series(1, 1000) i) x') AS cbf_union,
  outcome('SELECT cf_union(a, b) FROM (SELECT cf_agg(i, 2000) AS a, cf_agg(-i, 2000) AS b
  FROM generate_series(1, 1000) i) x') AS cf_union;

-- The number of values in an intersection is unknown.
RESET bloomfilter.overfill;
SELECT ((a & a) | b) @> -5 AS of_intersections
FROM (SELECT bf_agg(i, 1000) AS a, bf_agg(-i, 1000) AS b FROM generate_series(1, 1000) i) x;

-- All bits of a filter that grows are set.
SELECT (bf_info(bf_union(bf_growable(f), bf_create(10)))).saturated
FROM (SELECT bf_add_all(bf_create(10), array(SELECT generate_series(1, 10000)))) full_one (f);

-- The setting decides what happens.
SET bloomfilter.overfill = error;
SELECT bf_agg(i, 1000) FROM generate_series(1, 3000) i;
\echo :LAST_ERROR_SQLSTATE
SELECT bf_add_all(bf_create(1000), array_agg(i)) FROM generate_series(1, 3000) i;
SELECT bf_agg(i, 1000) IS NOT NULL AS enough FROM generate_series(1, 1000) i;
SET bloomfilter.overfill = ignore;
SELECT bf_agg(i, 1000) IS NOT NULL AS ignored FROM generate_series(1, 3000) i;
SET bloomfilter.overfill = maybe;
-- No other setting can have the prefix.
SELECT outcome('SET bloomfilter.underfill = warn') = '42602' AS reserved;
