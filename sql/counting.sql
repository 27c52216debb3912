-- Counting filters: first what they share with cuckoo filters, then what only they have.
CREATE SCHEMA cbf;
SET search_path = cbf, public;
SET timezone = 'UTC';
\set type countingbloomfilter
\set prefix cbf
\set rates '{0.01, 0.0001}'
\pset format unaligned
\pset footer off
\i sql/include/outcome.sql
\i sql/include/plan.sql
\i sql/include/deletable.sql

-- The rest of the file is about counting filters alone.

-- All columns of cbf_info.
SELECT element_type, counters_set, counters_saturated,
  fill = counters_set::float8 / counters AS "fill is that of counters",
  estimated_count = bf_count(f::bloomfilter) AS "count is bf_count",
  cbf_count(f) = estimated_count AS "count is that of info",
  round(estimated_count) AS rounded,
  estimated_fpr = bf_fpr(f::bloomfilter) AS "rate is bf_fpr",
  saturated
FROM (SELECT cbf_add_all(cbf_create(1000), array_agg(i % 500)) AS f
    FROM generate_series(1, 1500) i) s, cbf_info(f) \gx
SELECT saturated,
  estimated_fpr > 0.02 AS "twice the rate",
  counters_saturated > 0 AS "some are full"
FROM (SELECT cbf_add_all(cbf_create(10), array_agg(i)) AS f FROM generate_series(1, 100) i) s,
  cbf_info(f) \gx

-- A counting filter has the positions and sizes of a bloomfilter. Each bit becomes a counter of
-- four bits.
SELECT bool_and(s.counters = b.bits) AS "counters are bits",
  bool_and(s.hashes = b.hashes) AS "hashes are hashes",
  bool_and(s.bits = 4 * b.bits) AS "four bits for one",
  bool_and(s.bytes = 40 + b.bits / 2) AS "header and counters",
  bool_and((i.hashes, i.counters) = (s.hashes, s.counters)) AS "info has both",
  bool_and(f::bloomfilter = bf_create(n, rate)) AS "empty casts to empty",
  array_agg(DISTINCT (bf_info(f::bloomfilter)).layout) AS layouts
FROM (VALUES (1), (10), (1000), (54321)) n(n),
  (VALUES (0.3), (0.01), (0.001), (1e-4), (1e-9)) r(rate),
  LATERAL (SELECT cbf_create(n, rate) AS f) c, cbf_sizing(n, rate) s, bf_sizing(n, rate) b,
  cbf_info(f) i \gx
SELECT (cbf_sizing(108000000, 0.01)).bytes < 512 * 1024 * 1024 AS "largest is below 512 MB",
  (cbf_sizing(109000000, 0.01)).filters AS larger,
  (bf_sizing(109000000, 0.01)).bits > 0 AS bloomfilter \gx

-- The cast to bloomfilter gives the filter that bf_agg and bf_add_all make of the same values.
CREATE TABLE keys_of (x int, copy int);
INSERT INTO keys_of
  SELECT x, copy FROM generate_series(1, 1000) x, generate_series(1, 1 + x % 20) copy;
SELECT fpr, (bf_info(cbf_agg(x, 1000, fpr)::bloomfilter)).layout,
  cbf_agg(x, 1000, fpr)::bloomfilter = bf_agg(x, 1000, fpr) AS "cast of sized is bf_agg",
  cbf_agg(x, NULL, fpr)::bloomfilter = bf_agg(x, NULL, fpr) AS "cast of self-sized is bf_agg",
  cbf_agg(x, NULL, fpr) = cbf_agg(x, NULL, fpr ORDER BY copy) AS "order does not matter",
  bool_and(bf_check(f) IS NULL) AS "cast of empty is sound"
FROM keys_of, unnest(ARRAY[0.1, 0.01, 0.0001]) fpr,
  LATERAL (SELECT cbf_create(10, fpr)::bloomfilter AS f) e
GROUP BY fpr ORDER BY fpr DESC;
SELECT cbf_agg(x)::bloomfilter = bf_agg(x) AS self_sized,
  cbf_agg(x, 1000)::bloomfilter = bf_agg(x, 1000) AS sized,
  cbf_agg(x::text || 'x')::bloomfilter = bf_agg(x::text || 'x') AS text,
  cbf_agg(v)::bloomfilter = bf_agg(v) AS varchar,
  cbf_agg(v, 2000)::bloomfilter = bf_agg(v, 2000) AS "varchar, sized",
  cbf_agg(array[x])::bloomfilter = bf_agg(array[x]) AS arrays,
  bloomfilter(cbf_agg(x)) = bf_agg(x) AS "function is the cast"
FROM keys_of, LATERAL (SELECT (x || repeat(' ', x % 3))::varchar AS v) v \gx
SELECT bool_and(cbf_add_all(cbf_create(1000, fpr, seed), a)::bloomfilter
      = bf_add_all(bf_create(1000, fpr, seed => seed), a)) AS "cast is bf_add_all",
  bool_and(cbf_add_all(cbf_create(1000, fpr, seed), a) @> 7) AS "contains a member",
  count(DISTINCT cbf_create(1000, fpr, seed)) AS filters
FROM (SELECT array_agg(x) AS a FROM keys_of) a, unnest(ARRAY[0.1, 0.01, 0.0001]) fpr,
  unnest(ARRAY[0, 1, -7]) seed \gx
SELECT cbf_agg(x, 10)::bloomfilter = bf_agg(x, 10) AS none,
  cbf_agg(NULL::int, 10)::bloomfilter = bf_agg(NULL::int, 10) AS null
FROM generate_series(1, 0) x;
SELECT (SELECT f::bloomfilter FROM of_many) = bf_agg(x) AS cast FROM many;

-- cbf_agg counts up to 15 copies of a value, like cbf_add_all, which adds them one by one.
SELECT bool_and(cbf_multiplicity(self_sized, x) >= least(n, 15)) AS "self-sized counts all",
  bool_and(cbf_multiplicity(sized, x) >= least(n, 15)) AS "sized counts all",
  avg(cbf_multiplicity(sized, x) - least(n, 15)) < 0.1 AS "seldom counts more",
  max(cbf_multiplicity(self_sized, x)) AS highest,
  bool_and(substr(self_sized::bytea, 37) = substr(sized::bytea, 37))
    AS "self-sized and sized count alike",
  bool_and(sized = list) AS "as cbf_add_all"
FROM (SELECT cbf_agg(x) AS self_sized, cbf_agg(x, 1000) AS sized,
    cbf_add_all(cbf_create(1000), array_agg(x)) AS list FROM keys_of) f,
  (SELECT x, count(*) AS n FROM keys_of GROUP BY x) k \gx
SELECT cbf_agg(x % 200) = cbf_agg(x % 200 ORDER BY x % 200) AS ordered,
  substr(cbf_agg(x % 200)::bytea, 37) = substr(cbf_agg(x % 200, 200)::bytea, 37) AS counters
FROM generate_series(1, 5000) x;

-- Removing values restores the exact earlier bytes, in any order, down to the empty filter.
SELECT fpr, seed,
  without(f2, array_cat(b, NULL)) = f1 AS "back to the first filter",
  without(f2, backwards) = f1 AS "in another order, too",
  without(f1, a) = f0 AS "empty without all",
  without(f2, array_cat(a, b)) = f0 AS "empty in one go",
  without(f2, a) = cbf_add_all(f0, b) AS "last ones without the first",
  without(f2, a)::bloomfilter = bf_add_all(bf_create(400, fpr, seed => seed), b)
    AS "cast is bf_add_all",
  cbf_check(without(f2, a)) IS NULL AS "is sound"
FROM unnest(ARRAY[0.1, 0.01, 0.0001]) fpr, unnest(ARRAY[0, 5]) seed,
  (SELECT array_agg(x * 7 % 1000 ORDER BY x) AS a, array_agg((x * 11 + 3) % 150 ORDER BY x) AS b,
    array_agg((x * 11 + 3) % 150 ORDER BY x DESC) AS backwards FROM generate_series(1, 300) x) v,
  LATERAL (SELECT cbf_create(400, fpr, seed) AS f0) f0,
  LATERAL (SELECT cbf_add_all(f0, a) AS f1 OFFSET 0) f1,
  LATERAL (SELECT cbf_add_all(f1, b) AS f2 OFFSET 0) f2
ORDER BY fpr DESC, seed;
SELECT without(f, array['x '::varchar, 'y', 'y  ']) = cbf_create(10) AS varchar
FROM (SELECT cbf_add_all(cbf_create(10), array['y  '::varchar, 'x ', 'y']) AS f) s;
-- Values can also be removed from a filter that cbf_agg made. If all values were removed from a
-- self-sized filter, it adds nothing to a union.
SELECT fpr,
  f = cbf_agg(x, 1000, fpr) FILTER (WHERE x > 500) AS "filter of the rest",
  f::bloomfilter = bf_agg(x, 1000, fpr) FILTER (WHERE x > 500) AS "cast is bf_agg",
  (cbf_info(f)).counters_set > 0 AS "has counters set"
FROM unnest(ARRAY[0.01, 0.0001]) fpr,
  LATERAL (SELECT without(cbf_agg(x, 1000, fpr), array_agg(x) FILTER (WHERE x <= 500)) AS f
    FROM generate_series(1, 1000) x) f, generate_series(1, 1000) x
GROUP BY fpr, f ORDER BY fpr DESC;
SELECT element_type, counters_set, expected,
  f @> 1 AS "contains one that left",
  cbf_union(f, cbf_create(50) + 1) = cbf_create(50) + 1 AS "adds nothing to a union"
FROM (SELECT without(cbf_agg(x), array_agg(x)) AS f FROM generate_series(1, 10) x) s,
  cbf_info(f) \gx

-- A counter that has reached 15 stays at 15 for ever.
SELECT n,
  cbf_multiplicity(f, 7) AS multiplicity,
  (cbf_info(f)).counters_saturated,
  without(f, a) @> 7 AS "still contained",
  cbf_multiplicity(without(f, a), 7) AS "multiplicity then",
  (cbf_info(without(f, a))).element_type,
  without(f, a) = cbf_create(1000) AS "is empty",
  without(f + 8 + 9, array[9, 8]) = f AS "others come and go"
FROM unnest(ARRAY[1, 14, 15, 16, 20, 100]) n,
  LATERAL (SELECT array_fill(7, array[n]) AS a,
    cbf_add_all(cbf_create(1000), array_fill(7, array[n])) AS f) f;
SELECT cbf_add_all(cbf_create(1000), array_fill(7, array[15]))
  = cbf_add_all(cbf_create(1000), array_fill(7, array[16])) AS same,
  without(cbf_add_all(cbf_create(1000, 0.0001), array_fill(7, array[40])),
    array_fill(7, array[60])) @> 7 AS more_than_added;

-- The multiplicity of a value is never less than the number of its additions, even in an overfilled
-- filter.
SET bloomfilter.overfill = ignore;
SELECT fpr,
  sum((cbf_multiplicity(f, x) < x % 6)::int) AS "counted too low",
  sum((cbf_multiplicity(f, x) > x % 6)::int) > 0 AS "some counted higher",
  sum((f @> x <> (cbf_multiplicity(f, x) > 0))::int) AS contradictions
FROM unnest(ARRAY[0.01, 0.0001]) fpr,
  LATERAL (SELECT cbf_agg(x, 100, fpr) AS f
    FROM generate_series(0, 599) x, generate_series(1, x % 6)) f,
  generate_series(0, 999) x
WHERE x < 600 GROUP BY fpr ORDER BY fpr DESC;
RESET bloomfilter.overfill;

-- A union adds the counters, as if all values had been added to one filter.
SELECT fpr,
  cbf_union(made(1, 600, 1000, fpr), made(301, 1000, 1000, fpr))
    = cbf_add_all(made(1, 1000, 1000, fpr), array_agg(i)) AS "as if all were added"
FROM unnest(ARRAY[0.1, 0.01, 0.0001]) fpr, generate_series(301, 600) i
GROUP BY fpr ORDER BY fpr DESC;
SELECT a, b,
  cbf_multiplicity(cbf_union(f, g), 7) AS multiplicity,
  cbf_union(f, g) = cbf_add_all(cbf_create(10), array_fill(7, array[a + b]))
    AS "as if all were added"
FROM (VALUES (1, 1), (3, 5), (7, 7), (7, 8), (8, 8), (14, 1), (15, 1), (15, 15), (12, 12)) v(a, b),
  LATERAL (SELECT cbf_add_all(cbf_create(10), array_fill(7, array[a])) AS f,
    cbf_add_all(cbf_create(10), array_fill(7, array[b])) AS g) f;
SET bloomfilter.overfill = ignore;
CREATE TABLE united AS
SELECT row_number() OVER () AS id, f FROM (VALUES
  (cbf_create(1000)), (made(1, 10)), (made(5, 500)), (made(1, 1)), (made(400, 5000)),
  (cbf_add_all(cbf_create(1000), array_fill(1, array[9]))), (NULL)) v(f);
UPDATE united SET f = (SELECT cbf_agg(NULL::int)) WHERE f IS NULL;
SELECT count(*),
  count(*) FILTER (WHERE cbf_union(a.f, b.f) = cbf_union(b.f, a.f)) AS "unions commute",
  count(*) FILTER (WHERE cbf_union(cbf_union(a.f, b.f), c.f)
    = cbf_union(a.f, cbf_union(b.f, c.f))) AS "unions associate",
  count(*) FILTER (WHERE cbf_check(cbf_union(a.f, b.f)) IS NULL) AS "unions are sound"
FROM united a, united b, united c \gx
RESET bloomfilter.overfill;
SELECT expected, target_fpr FROM cbf_info(cbf_union(cbf_create(1000) + 1, cbf_create(1005) + 2));
SELECT expected, target_fpr
FROM cbf_info(cbf_union(cbf_create(10, 0.0101) + 1, cbf_create(9, 0.01) + 2));
SELECT parts,
  cbf_union_agg(f ORDER BY hashint4(i)) = made(1, 1000) AS "in any order",
  cbf_union_agg(DISTINCT f) = made(1, 1000) AS "distinct, too"
FROM unnest(ARRAY[1, 2, 7, 100]) parts,
  LATERAL (SELECT i, made(i * 1000 / parts + 1, (i + 1) * 1000 / parts) AS f
    FROM generate_series(0, parts - 1) i UNION ALL SELECT 0, NULL) f
GROUP BY parts ORDER BY parts;
-- An aggregate changes only its own state.
SELECT count(*) FILTER (WHERE u = made(1, i)) AS growing, count(*) AS of
FROM (SELECT i, cbf_union_agg(made(i, i)) OVER (ORDER BY i) AS u FROM generate_series(1, 30) i) w;
CREATE TABLE stored AS SELECT i, made(i, i + 10, 100000) AS f FROM generate_series(1, 5) i;
SELECT (SELECT cbf_union_agg(f) FROM stored) = cbf_agg(x, 100000) AS first,
  (SELECT cbf_union_agg(f ORDER BY -i) FROM stored) = cbf_agg(x, 100000) AS again
FROM generate_series(1, 5) i, generate_series(i, i + 10) x;
SELECT count(*) AS unchanged FROM stored WHERE f = made(i, i + 10, 100000);
SET enable_partitionwise_aggregate = on;
CREATE TABLE filter_parts (part int, f countingbloomfilter) PARTITION BY LIST (part);
CREATE TABLE filter_part_1 PARTITION OF filter_parts FOR VALUES IN (1);
CREATE TABLE filter_part_2 PARTITION OF filter_parts FOR VALUES IN (2);
INSERT INTO filter_parts
  SELECT 1 + i % 2, made(i * 10 + 1, i * 10 + 10) FROM generate_series(0, 9) i;
ANALYZE filter_parts;
SELECT plan('SELECT cbf_union_agg(f) FROM filter_parts'), cbf_union_agg(f) = made(1, 100) AS same
FROM filter_parts;
RESET enable_partitionwise_aggregate;
SELECT cbf_union(cbf_agg(x), cbf_agg(x) FILTER (WHERE x > 70)) FROM generate_series(1, 200) x;

-- Filters with more values than they were made for.
SHOW bloomfilter.overfill;
SELECT cbf_agg(i, 100) @> 1 AS done FROM generate_series(1, 3000) i;
SELECT cbf_agg(i, 1000) @> 1 AS done FROM generate_series(1, 3000) i;
SELECT cbf_add_all(cbf_create(1000, 0.0001), array_agg(i)) @> 1 AS done
FROM generate_series(1, 3000) i;
SELECT cbf_union_agg(f) @> 1 AS done
FROM (SELECT cbf_agg(i, 1000) AS f FROM generate_series(1, 3000) i GROUP BY i / 500) f;
SELECT count(f) AS done
FROM (SELECT cbf_agg(i, 10) OVER (ORDER BY i ROWS 200 PRECEDING) AS f
    FROM generate_series(1, 300) i OFFSET 0) f;
SELECT cbf_agg(i, 1000) @> 1 AS full_up, cbf_agg(i % 10, 10) @> 1 AS copies
FROM generate_series(1, 1000) i;
SELECT cbf_agg(i) @> 1 AS sized_itself FROM generate_series(1, 3000) i;
SELECT cbf_union(f, f) @> 1 AS cbf_union, cbf_add(f, 0) @> 1 AS cbf_add
FROM (SELECT cbf_agg(i, 1000) AS f FROM generate_series(1, 1000) i) s;
SET bloomfilter.overfill = error;
SELECT cbf_agg(i, 1000) FROM generate_series(1, 3000) i;
\echo :LAST_ERROR_SQLSTATE
SELECT cbf_add_all(cbf_create(10), array_agg(i)) FROM generate_series(1, 100) i;
SET bloomfilter.overfill = ignore;
SELECT cbf_agg(i, 1000) IS NOT NULL AS ignored FROM generate_series(1, 3000) i;

-- Window frames: for every frame, the result equals cbf_agg over the rows of the frame, byte for
-- byte. `ids` lists these rows.
CREATE TABLE framed (i int, g int, t int, x int, v varchar, r numeric[]);
INSERT INTO framed
  SELECT i, i % 3, i / 4 + 5 * (i / 40),
    CASE WHEN i % 7 = 0 OR i BETWEEN 90 AND 110 THEN NULL WHEN i BETWEEN 120 AND 170 THEN 1
      ELSE i * i % 23 END,
    CASE WHEN i % 11 <> 0 THEN i % 5 || repeat(' ', i % 3) END, array[i % 4, NULL]
  FROM generate_series(1, 240) i;
CREATE FUNCTION frames(frame text, arguments text, OUT rows bigint, OUT same bigint,
                       OUT empty bigint, OUT filters bigint) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format($query$
    SELECT count(*),
      count(*) FILTER (WHERE f = (SELECT cbf_agg(%2$s) FROM framed m WHERE m.i = ANY (ids))),
      count(*) FILTER (WHERE ids IS NULL), count(DISTINCT f)
    FROM (SELECT cbf_agg(%2$s) OVER (%1$s) AS f, array_agg(i) OVER (%1$s) AS ids
      FROM framed) w $query$, frame, arguments) INTO STRICT rows, same, empty, filters;
END $$;
SELECT arguments, count(*) AS frames, sum(rows) AS rows, sum(same) AS same, sum(empty) AS empty,
  sum(filters) AS filters, array_agg(frame) FILTER (WHERE same <> rows) AS wrong
FROM
  (VALUES (1, 'x'), (2, 'x, 30'), (3, 'x, 1000, 0.0001'), (4, 'x, NULL, 0.001'), (5, 'v'),
    (6, 'v, 30, 0.1'), (7, 'r, 10'), (8, 'i'), (9, 'i, 300'),
    (10, 'i, 1000, 0.0001')) a(a, arguments), -- some positions of this many values coincide
  (VALUES (1, 'ORDER BY i ROWS 9 PRECEDING'),
    (2, 'ORDER BY i ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING'),
    (3, 'ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING'),
    (4, 'ORDER BY i ROWS BETWEEN 12 PRECEDING AND 6 PRECEDING'),
    (5, 'ORDER BY i ROWS BETWEEN 3 FOLLOWING AND 40 FOLLOWING'),
    (6, 'ORDER BY i ROWS CURRENT ROW'),
    (7, 'ORDER BY i ROWS 29 PRECEDING'),
    (8, 'ORDER BY t RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING'),
    (9, 'ORDER BY t RANGE 2 PRECEDING'),
    (10, 'ORDER BY t GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING'),
    (11, 'PARTITION BY g ORDER BY i DESC ROWS 4 PRECEDING'),
    (12, 'ORDER BY i ROWS 9 PRECEDING EXCLUDE CURRENT ROW'),
    (13, 'ORDER BY t ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING EXCLUDE TIES'),
    (14, 'ORDER BY i'),
    (15, 'PARTITION BY g')) w(w, frame),
  LATERAL frames(frame, arguments) f
WHERE a <= 2 OR w IN (1, 5, 8, 10, 12) GROUP BY a, arguments ORDER BY a;
-- The aggregate with FILTER, several aggregates in one window, and parameters that differ between
-- frames but not within one.
SELECT count(*) AS rows,
  count(*) FILTER (WHERE f = (SELECT cbf_agg(x) FILTER (WHERE x > 5)
    FROM framed m WHERE m.i = ANY (ids))) AS "FILTER, as its rows",
  count(*) FILTER (WHERE h = (SELECT cbf_agg(x, 30) FILTER (WHERE g = 1)
    FROM framed m WHERE m.i = ANY (ids))) AS "another FILTER, as its rows",
  count(*) FILTER (WHERE k = (SELECT cbf_agg(x, 100 + m.i)
    FROM framed m WHERE m.i = w.i)) AS "another capacity, as its row"
FROM (SELECT i, cbf_agg(x) FILTER (WHERE x > 5) OVER w AS f,
    cbf_agg(x, 30) FILTER (WHERE g = 1) OVER w AS h, array_agg(i) OVER w AS ids,
    cbf_agg(x, 100 + i) OVER (ORDER BY i ROWS CURRENT ROW) AS k
  FROM framed WINDOW w AS (ORDER BY i ROWS 9 PRECEDING)) w \gx
-- The element type of the result is the type of the values in the frame. Two types in one frame are
-- an error.
SELECT array_agg((cbf_info(f)).element_type ORDER BY i) AS types
FROM (SELECT i, cbf_agg(CASE i / 2 WHEN 0 THEN 1 WHEN 2 THEN 2 END)
      OVER (ORDER BY i ROWS 1 PRECEDING) AS f
    FROM generate_series(0, 7) i) s;
SELECT cbf_agg(CASE WHEN i < 5 THEN row(i) ELSE row(i, i) END, 10)
  OVER (ORDER BY i ROWS 1 PRECEDING)
FROM generate_series(1, 6) i;
SELECT array_agg(g::text) AS types
FROM (SELECT (cbf_info(cbf_agg(CASE WHEN i < 5 THEN row(i) WHEN i > 6 THEN row(i, i) END, 10)
      OVER (ORDER BY i ROWS 1 PRECEDING))).element_type AS g
    FROM generate_series(3, 8) i) s;
RESET bloomfilter.overfill;

-- At capacity, the filter is as full as its rate allows, and each probe gives the answer of a
-- bloomfilter.
SELECT fpr,
  hits >= 0.85 * fpr * 400000 - 3 * sqrt(fpr * 400000) AS "size is used",
  (SELECT bool_and(f @> x = (b @> x)) FROM generate_series(1, 450001) x) AS "as a bloomfilter"
FROM asked, LATERAL (SELECT f::bloomfilter AS b OFFSET 0) b ORDER BY fpr DESC;

SELECT (cbf_put(cbf_create(10) + 5, 5)).filter = cbf_create(10) + 5 + 5 AS put_counts;
SELECT cbf_union(cbf_clear(cbf_agg(i)), cbf_create(10, 0.01, 3)) = cbf_create(10, 0.01, 3)
  AS adds_nothing
FROM generate_series(1, 100) i;
