-- Set algebra of filters of one geometry: unions, intersections, folding and estimates. links.sql
-- tests unions of filters of different geometries.
CREATE SCHEMA algebra;
SET search_path = algebra, public;
SET extra_float_digits = 0;

CREATE FUNCTION made(first int, last int, expected bigint DEFAULT 1000, fpr float8 DEFAULT 0.01)
RETURNS bloomfilter LANGUAGE sql AS
  'SELECT coalesce(bf_agg(i, expected, fpr), bf_create(expected, fpr))
   FROM generate_series(first, last) i';

-- The union of two filters has the same bytes as the filter of all their values.
SELECT fpr,
  made(1, 600, 1000, fpr) | made(301, 1000, 1000, fpr) = made(1, 1000, 1000, fpr)
    AS "filter of all values",
  bf_union(made(1, 600, 1000, fpr), NULL) = made(1, 600, 1000, fpr) AS "right NULL adds nothing",
  bf_union(NULL, made(1, 600, 1000, fpr)) = made(1, 600, 1000, fpr) AS "left NULL adds nothing",
  NULL::bloomfilter | NULL IS NULL AS "NULL of NULLs"
FROM unnest(ARRAY[0.1, 0.01, 0.0001]) fpr \gx
SELECT parts,
  bf_union_agg(f ORDER BY hashint4(i)) = made(1, 1000) AS "filter of all values",
  bf_union_agg(f) FILTER (WHERE i > 99999) IS NULL AS "NULL of none",
  bf_union_agg(NULL) IS NULL AS "NULL of NULL"
FROM unnest(ARRAY[1, 2, 7, 100]) parts,
  LATERAL (SELECT i, made(i * 1000 / parts + 1, (i + 1) * 1000 / parts) AS f
    FROM generate_series(0, parts - 1) i UNION ALL SELECT 0, NULL) f
GROUP BY parts ORDER BY parts;

-- Unions are commutative, associative and idempotent, byte for byte.
CREATE TABLE filters AS
SELECT row_number() OVER () AS id, f FROM (VALUES
  (bf_create(1000)), (made(1, 10)), (made(5, 500)), (made(1, 1)), (made(400, 5000)),
  (bf_clear(made(1, 10))), (bf_add_all(bf_create(1000), ARRAY[3, 77777]))) v(f);
SET bloomfilter.overfill = ignore;
SELECT count(*),
  count(*) FILTER (WHERE a.f | b.f = b.f | a.f) AS "unions commute",
  count(*) FILTER (WHERE (a.f | b.f) | c.f = a.f | (b.f | c.f)) AS "unions associate",
  count(*) FILTER (WHERE a.f | a.f = a.f) AS "unions are idempotent",
  count(*) FILTER (WHERE (a.f | b.f) | b.f = a.f | b.f) AS "unions absorb",
  count(*) FILTER (WHERE a.f & b.f = b.f & a.f) AS "intersections commute"
FROM filters a, filters b, filters c \gx
RESET bloomfilter.overfill;

-- The functions do not change their arguments.
SELECT a = made(1, 600) AS left_unchanged, b = made(301, 1000) AS right_unchanged
FROM (SELECT made(1, 600) AS a, made(301, 1000) AS b OFFSET 0) f,
  LATERAL (SELECT a | b, a & b, bf_fold(a, 500), bf_union_count(a, b), bf_jaccard(a, b) OFFSET 0) x;

-- An aggregate changes only its own state. It is called as a window function, and twice over the
-- same rows.
SELECT count(*) FILTER (WHERE u = made(1, i)) AS growing, count(*) AS of
FROM (SELECT i, bf_union_agg(made(i, i)) OVER (ORDER BY i) AS u FROM generate_series(1, 50) i) w;
CREATE TABLE stored AS SELECT i, made(i, i + 10, 100000) AS f FROM generate_series(1, 5) i;
SELECT bf_union_agg(f) = made(1, 15, 100000) AS first,
  bf_union_agg(DISTINCT f) = bf_union_agg(f) AS again
FROM stored;
SELECT count(*) AS unchanged FROM stored WHERE f = made(i, i + 10, 100000);

-- An intersection contains the values that both filters contain.
SELECT bool_and(f @> i) FILTER (WHERE i BETWEEN 301 AND 600) AS "has what both have",
  count(*) FILTER (WHERE f @> i AND i NOT BETWEEN 301 AND 600) < 50 AS "has little else",
  bf_count(f) IS NULL AS "has no count",
  estimated_count IS NULL AS "has no estimate",
  bf_check(f) IS NULL AS "is sound"
FROM (SELECT made(1, 600) & made(301, 1000) AS f) x, bf_info(f), generate_series(1, 1000) i
GROUP BY f, estimated_count \gx
SELECT bf_intersect_agg(f) @> 400 AS "has what all have",
  bf_intersect_agg(f) @> 1 AS "has what one has",
  bf_intersect_agg(f) FILTER (WHERE false) IS NULL AS "NULL of none"
FROM (VALUES (made(1, 600)), (made(301, 1000)), (NULL), (made(350, 450))) v(f) \gx
SELECT bits_set, element_type,
  bf_check(f) IS NULL AS "is sound",
  f @> 1 AS "has a member of one",
  f @> 'a'::text AS "has a value of another type"
FROM (SELECT made(1, 600) & bf_create(1000) AS f) x, bf_info(f) \gx
SELECT bf_count(bf_clear(made(1, 600) & made(301, 1000))) AS cleared;
SELECT (made(1, 600) & NULL) IS NULL AS null_operand;
SELECT bf_count((made(1, 600) & made(301, 1000)) | made(1, 5)) IS NULL AS union_of_an_intersection;

-- Folding gives the filter of the same values with fewer units.
SELECT target, bytes,
  (SELECT bool_and(f @> i) FROM generate_series(1, 1000) i) AS "members are found",
  bytes <= target AS "fits the target",
  bf_count(f) BETWEEN 950 AND 1050 AS "count is right"
FROM unnest(ARRAY[1000000, 1320, 1319, 1200, 700, 300, 104]) target,
  LATERAL (SELECT bf_fold(made(1, 1000), target) AS f OFFSET 0) x, bf_info(f);
SELECT bf_fold(bf_add_all(bf_create_by_size(720 * 512, 6), a), 40 + 64 * units)
  = bf_add_all(bf_create_by_size(units * 512, 6), a) AS same, units
FROM unnest(ARRAY[720, 360, 240, 144, 45, 1]) units,
  (SELECT array_agg(i) AS a FROM generate_series(1, 2000) i) a;
SELECT bytes FROM bf_info(bf_fold(made(1, 100, 1000, 0.0001), 600));
SELECT bf_fold(made(1, 1000), 103);
SELECT bf_fold(made(1, 1000), 0);
SELECT bf_fold(made(1, 1000), -9223372036854775808);
SELECT bf_fold(made(1, 100, 1000, 0.0001), 551);

-- Estimates are within 1 % of the size of the union, up to twice the capacity.
CREATE FUNCTION near(estimate float8, truth float8, of float8) RETURNS boolean LANGUAGE sql AS
  'SELECT abs(estimate - truth) <= 0.01 * of';
SELECT fpr, load,
  near(bf_union_count(a, b), 1.5 * n, 1.5 * n) AS "union count",
  near(bf_intersect_count(a, b), 0.5 * n, 1.5 * n) AS "intersection count",
  abs(bf_jaccard(a, b) - 1 / 3.0) < 0.01 AS "Jaccard index"
FROM unnest(ARRAY[0.1, 0.01, 0.0001]) fpr, unnest(ARRAY[0.1, 1, 1.3333]) load,
  LATERAL (SELECT 100000 * load AS n) n,
  LATERAL (SELECT bf_agg(i, 100000, fpr) AS a FROM generate_series(1, n::int) i) a,
  LATERAL (SELECT bf_agg(i, 100000, fpr) AS b
    FROM generate_series((n / 2)::int + 1, (1.5 * n)::int) i) b;
SELECT near(bf_intersect_count(a, b), 0, 200000) AS "nothing in common",
  bf_jaccard(a, b) BETWEEN 0 AND 0.01 AS "Jaccard index of nothing in common",
  bf_jaccard(a, a) AS "Jaccard index of itself",
  near(bf_intersect_count(a, a), bf_count(a), 1) AS "all in common with itself",
  bf_union_count(a, bf_create(100000)) = bf_count(a) AS "union with empty counts itself",
  bf_intersect_count(a, bf_create(100000)) AS "in common with empty"
FROM (SELECT made(1, 100000, 100000) AS a, made(100001, 200000, 100000) AS b) f \gx
SELECT bool_and(bf_intersect_count(made(1, 1000), made(1000 * n + 1, 1000 * n + 1000)) >= 0)
  AS "never below zero"
FROM generate_series(1, 10) n;
-- The count of a full filter and of an intersection is unknown. The Jaccard index of two empty
-- filters is unknown, too.
SELECT bf_count(full_one) AS "full count",
  bf_union_count(full_one, f) AS "full union",
  bf_intersect_count(full_one, f) AS "full intersection",
  bf_jaccard(full_one, f) AS "full Jaccard index",
  bf_union_count(f & f, f) AS "union with an intersection",
  bf_jaccard(empty, empty) AS "Jaccard index of empty",
  bf_union_count(empty, empty) AS "union of empty"
FROM (SELECT bf_add_all(bf_create_by_size(512, 6), array_agg(i)) AS full_one,
    bf_create_by_size(512, 6) + 1 AS f, bf_create_by_size(512, 6) AS empty
  FROM generate_series(1, 5000) i) x \gx

-- Filters that are not compatible cannot be combined.
SELECT bf_compatible(a, b), b.what
FROM (SELECT made(1, 10) AS a) a,
  (VALUES (made(5, 50), 'same'), (bf_create(1000), 'empty'), (made(1, 10, 2000), 'size'),
    (made(1, 10, 1000, 0.001), 'rate'), (bf_create(1000, seed => 1), 'seed'),
    (bf_create(1000) + 'x'::text, 'type'), (NULL, 'null')) b(b, what);
SELECT made(1, 10) & made(1, 10, 1000, 0.0001);
SELECT made(1, 10) | (bf_create(1000, seed => 7) + 1);
SELECT made(1, 10) & bf_create(1000, seed => -1);
SELECT made(1, 10) | (bf_create(1000) + 'x'::text);
SELECT bf_jaccard(made(1, 10), made(1, 10, 2000));
SELECT bf_union_count(made(1, 10), bf_create(1000) + 1.5);
SELECT bf_intersect_agg(f) FROM (VALUES (made(1, 10)), (bf_create(1000) + 'x'::text)) v(f);
