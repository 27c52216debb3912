-- Filters of several links: unions of filters that cannot share a bitmap, and all functions on
-- them.
CREATE SCHEMA links;
SET search_path = links, public;
SET extra_float_digits = 0;
\i sql/include/outcome.sql

CREATE FUNCTION made(first int, last int, expected bigint DEFAULT 1000, fpr float8 DEFAULT 0.01)
RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_agg(i, expected, fpr) FROM generate_series(first, last) i';
CREATE FUNCTION self_sized(first int, last int) RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_agg(i) FROM generate_series(first, last) i';
CREATE FUNCTION links(f bloomfilter) RETURNS int LANGUAGE sql AS 'SELECT links FROM bf_info(f)';

-- Two sizes in one value. Capacities, bits and bytes add up, and rates nearly do. The rate asked
-- for is the higher one.
SELECT i.layout, i.element_type, i.expected, i.target_fpr, i.hashes, i.saturated, i.links,
  bf_check(f),
  i.bits = a.bits + b.bits AS "bits add up",
  i.bytes = a.bytes + b.bytes - 40 + 2 * 24 AS "bytes add up",
  i.bytes = 4 + octet_length(f::bytea) AS "size is that of the bytes",
  i.bits_set = a.bits_set + b.bits_set AS "bits set add up",
  abs(i.estimated_count - a.estimated_count - b.estimated_count) < 1e-6 AS "counts add up",
  abs(i.estimated_fpr - (1 - (1 - a.estimated_fpr) * (1 - b.estimated_fpr))) < 1e-9
    AS "rates add up, nearly",
  bf_fpr(f) = i.estimated_fpr AS "bf_fpr is that of info",
  bf_count(f) = i.estimated_count AS "bf_count is that of info"
FROM (SELECT made(1, 600, 1000, 0.02) AS x, made(500, 1200, 2000) AS y) p,
  LATERAL (SELECT x | y AS f OFFSET 0) u, bf_info(f) i, bf_info(x) a, bf_info(y) b \gx
-- A property is NULL if it differs between the links, or is unknown for one of them.
SELECT layout, expected, target_fpr, hashes, saturated, links
FROM bf_info(made(1, 10) | made(1, 10, 1000, 0.0001) | bf_create_by_size(10000, 3));
SELECT layout, hashes, links FROM bf_info(made(1, 10) | made(1, 10, 1000, 0.001));
SELECT saturated, links
FROM bf_info(bf_add_all(bf_create(1000) | bf_create(10), '{1, 2, 3}'::int[]));
SET bloomfilter.overfill = ignore;
SELECT saturated, bf_count((f & f) | made(1, 5, 10)) IS NULL AS no_count
FROM (SELECT made(1, 6000) AS f) m, bf_info(f | made(1, 100, 2000));
RESET bloomfilter.overfill;

-- Every value of each filter is found by every kind of probe. Few other values are found.
CREATE TABLE u AS SELECT made(1, 600) | made(500, 2000, 2000) | self_sized(2001, 2300) AS f;
SELECT links(f),
  count(*) FILTER (WHERE f @> i) AS found,
  count(*) FILTER (WHERE i <@ f) AS commuted,
  count(*) FILTER (WHERE bf_contains_hash(f, bf_hash(i))) AS by_hash,
  bf_contains_all(f, array_agg(i)) AS "all at once",
  bf_contains_any(f, array_agg(i)) AS "any at once",
  bf_contains_each(f, array_agg(i)) = array_agg(true) AS "each at once"
FROM u, generate_series(1, 2300) i GROUP BY f \gx
SELECT count(*) FILTER (WHERE f @> i) < 400 AS "few are found",
  bf_contains_each(f, array_agg(i)) = array_agg(f @> i) AS "each as one by one",
  bf_contains_any(f, array_agg(i) FILTER (WHERE NOT f @> i)) AS "any of those not found"
FROM u, generate_series(100001, 110000) i GROUP BY f \gx
SELECT f @> '5' AS "literal is found",
  f @> '123456' AS "another literal is found",
  f @> NULL::int AS "NULL is found",
  outcome(format('SELECT %L::bloomfilter @> ''5''::text', f)) AS text
FROM u \gx

-- The filter is written, read back and compared.
SELECT f::text::bloomfilter = f AS "text round trip",
  f::bytea::bloomfilter = f AS "bytea round trip",
  f <> made(1, 600) AS "differs from one link",
  bloomfilter_hash(f) = bloomfilter_hash(f::text::bloomfilter) AS "equal hashes"
FROM u \gx
SELECT outcome(format('SELECT bloomfilter(%L::bytea)',
      set_byte(f::bytea, byte, get_byte(f::bytea, byte) # 128))), byte
FROM u, unnest(ARRAY[1, 28, 32, 55, 57, 58, 59]) byte;
SELECT set_byte((self_sized(1, 10) | self_sized(11, 30))::bytea, 53, 1)::bloomfilter;

-- Values are added to the largest link, and only if no link has them.
SELECT bf_add_all(f, '{1, 2, 550, 2100}'::int[]) = f AS "known ones add nothing",
  f + 3 = f AS "a known one adds nothing",
  (bf_put(f, 2100)).was_new AS "known is new",
  (bf_put(f, 4711)).was_new AS "another is new",
  f + 4711 = made(1, 600) | (made(500, 2000, 2000) + 4711) | self_sized(2001, 2300)
    AS "into the largest link",
  bf_add_all(f, '{4711, 4712}'::int[]) = f + 4711 + 4712 AS "together as one by one",
  bf_add_hash(f, bf_hash(4711)) = f + '4711' AS "by hash as by value"
FROM u \gx
SET bloomfilter.overfill = ignore;
SELECT count(*) FILTER (WHERE f @> i) AS found, links(f)
FROM (SELECT bf_add_all(f, array(SELECT generate_series(1, 4000))) AS f FROM u) v,
  generate_series(1, 4000) i
GROUP BY f;
-- If the largest link gets all bits of another link, the other link is removed.
SELECT links(f) AS before,
  links(g) AS after,
  g | g = g AS "united with itself, the same",
  g @> 1 AS "a member is found",
  g @> 3 AS "an added one is found"
FROM (SELECT self_sized(1, 2) | self_sized(3, 4) AS f) v,
  LATERAL (SELECT bf_add_all(f, array(SELECT generate_series(5, 2000))) AS g) w \gx
RESET bloomfilter.overfill;

-- Clearing keeps only the link to which values are added.
SELECT bits_set, links,
  bits = 19968 AS "of the largest link",
  element_type, expected, bf_check(bf_clear(f))
FROM u, bf_info(bf_clear(f)) \gx

-- Self-sized filters are not OR-ed, even if they have one size. Empty ones add nothing.
SELECT links(self_sized(1, 300) | self_sized(301, 600)) AS apart,
  self_sized(1, 300) | self_sized(1, 300) = self_sized(1, 300) AS "united with itself, the same",
  links(made(1, 300, 300) | self_sized(301, 600)) AS sized_and_self_sized,
  round(bf_fpr(self_sized(1, 300) | self_sized(301, 600))::numeric, 2) AS fpr \gx
SELECT made(1, 300, 300) | bf_agg(i) = made(1, 300, 300) AS covered FROM generate_series(1, 300) i;
SELECT bf_agg(NULL::int) | made(1, 5) = made(1, 5) AS "empty adds nothing on the left",
  made(1, 5) | bf_agg(NULL::int) = made(1, 5) AS "empty adds nothing on the right",
  bf_agg(NULL::int) | bf_agg(NULL::int) = bf_agg(NULL::int) AS "both are nothing",
  bf_agg(NULL::int) | bf_create(5, seed => 7) = bf_create(5, seed => 7)
    AS "empty adds nothing to another seed" \gx
-- The same is true of a cleared filter, except that it keeps its element type. Two empty filters
-- give the same union in both orders.
SELECT bf_clear(self_sized(1, 300)) | made(1, 5) = made(1, 5) AS "cleared adds nothing",
  bf_clear(self_sized(1, 300)) | self_sized(1, 5) = self_sized(1, 5)
    AS "cleared adds nothing to self-sized",
  bf_clear(self_sized(1, 300)) | bf_clear(self_sized(1, 9))
    = bf_clear(self_sized(1, 9)) | bf_clear(self_sized(1, 300))
    AS "two cleared commute",
  bf_clear(self_sized(1, 300)) | bf_agg(NULL::int)
    = bf_agg(NULL::int) | bf_clear(self_sized(1, 300))
    AS "cleared and new commute",
  (bf_info(bf_clear(self_sized(1, 300)) | bf_agg(NULL::int))).element_type \gx
SELECT outcome('SELECT (bf_clear(self_sized(1, 3)) | bf_agg(NULL::int)) | bf_agg(''x''::text)')
    AS one_order,
  outcome('SELECT bf_clear(self_sized(1, 3)) | (bf_agg(NULL::int) | bf_agg(''x''::text))')
    AS the_other;
-- An empty filter that was made for a capacity keeps it.
SELECT links, expected, element_type FROM bf_info(bf_create(5000) | self_sized(1, 10));

-- The aggregate gives the same filter in any order and from any parts.
SET bloomfilter.overfill = ignore;
CREATE TABLE parts AS
SELECT i, CASE i % 3 WHEN 0 THEN made(i, i + 10) WHEN 1 THEN made(i, i + 20, 3000)
    ELSE self_sized(i, i + i) END AS f
FROM generate_series(1, 60) i;
SELECT links(bf_union_agg(f)),
  bf_union_agg(f ORDER BY i) = bf_union_agg(f ORDER BY -i) AS "in any order",
  bf_contains_all(bf_union_agg(f), array_agg(i)) AS "members are found"
FROM parts \gx
-- A state that already has the links is changed in place. Nothing else is changed.
SELECT bf_union_agg(f) = (SELECT bf_union_agg(f) FROM parts) AS twice,
  count(*) = count(*) FILTER (WHERE f = CASE i % 3 WHEN 0 THEN made(i, i + 10)
    WHEN 1 THEN made(i, i + 20, 3000) ELSE self_sized(i, i + i) END) AS unchanged
FROM (SELECT * FROM parts UNION ALL SELECT * FROM parts) p;
SELECT bf_union_agg(f) = (SELECT bf_union_agg(f) FROM parts) AS of_parts
FROM (SELECT bf_union_agg(f) AS f FROM parts GROUP BY i / 10) p;
SELECT count(*) FILTER (WHERE u = whole) AS window_frames, count(*) AS of
FROM (SELECT i, bf_union_agg(f) OVER (ORDER BY i ROWS 5 PRECEDING) AS u FROM parts) w,
  LATERAL (SELECT bf_union_agg(f) AS whole FROM parts p WHERE p.i BETWEEN w.i - 5 AND w.i) x;
RESET bloomfilter.overfill;

-- Unions are commutative, associative and idempotent, byte for byte, and lose no value. The filters
-- have random sizes, element types, seeds, and growth.
CREATE FUNCTION some_filter(element text, seed bigint, depth int DEFAULT 0) RETURNS bloomfilter
LANGUAGE plpgsql AS $$
DECLARE
  kind int := random() * 9;
  first int := 1 + random() * 20;
  members text := format('ARRAY(SELECT i::%s FROM generate_series(%s, %s) i)', element, first,
                         first + (random() ^ 3 * 400)::int);
  asked text := format('%s, %s, seed => %s', (ARRAY[5, 20, 21, 300])[1 + (random() * 3)::int],
                       (ARRAY[0.1, 0.01, 0.0001])[1 + (random() * 2)::int], seed);
  result bloomfilter;
BEGIN
  IF kind <= 2 AND depth < 3 THEN
    RETURN some_filter(element, seed, depth + 1) | some_filter(element, seed, depth + 1);
  END IF;
  EXECUTE format(CASE kind
    WHEN 3 THEN 'SELECT bf_create(%1$s)'
    WHEN 4 THEN 'SELECT bf_create(%1$s, grow => true)'
    WHEN 5 THEN 'SELECT bf_add_all(bf_create(%1$s, grow => true), %2$s)'
    WHEN 6 THEN 'SELECT bf_add_all(bf_growable(bf_create(%1$s)), %2$s)'
    WHEN 7 THEN 'SELECT bf_add_all(bf_create_by_size(%3$s, 6, %4$s), %2$s)'
    WHEN 8 THEN 'SELECT bf_add_all(bf_create(%1$s), %2$s) & bf_add_all(bf_create(%1$s), %2$s)'
    WHEN 9 THEN CASE seed WHEN 0 THEN 'SELECT bf_agg(x) FROM unnest(%2$s) x'
      ELSE 'SELECT bf_clear(bf_add_all(bf_create(%1$s, grow => true), %2$s))' END
    ELSE 'SELECT bf_add_all(bf_create(%1$s), %2$s)'
  END, asked, members, 1 + first * 200, seed) INTO result;
  RETURN result;
END $$;
SET bloomfilter.overfill = ignore;
DO $$ BEGIN PERFORM setseed(0.5); END $$;
CREATE TABLE randoms AS
SELECT element, seed, n, some_filter(element, seed) AS f
FROM unnest('{int, text, numeric}'::text[]) element, unnest('{0, 7}'::bigint[]) seed,
  generate_series(1, 12) n;
SELECT count(*),
  count(DISTINCT links(f)) >= 5 AS "of many links",
  count(DISTINCT f) > 50 AS "of many values",
  count(*) FILTER (WHERE bf_check(f) IS NOT NULL) AS unsound
FROM randoms \gx
SELECT count(*),
  count(*) FILTER (WHERE a.f | b.f = b.f | a.f) AS "unions commute",
  count(*) FILTER (WHERE (a.f | b.f) | c.f = a.f | (b.f | c.f)) AS "unions associate",
  count(*) FILTER (WHERE a.f | a.f = a.f) AS "unions are idempotent",
  count(*) FILTER (WHERE (a.f | b.f) | b.f = a.f | b.f) AS "unions absorb",
  count(*) FILTER (WHERE bf_check(a.f | b.f | c.f) IS NOT NULL) AS unsound
FROM randoms a JOIN randoms b USING (element, seed) JOIN randoms c USING (element, seed) \gx
CREATE FUNCTION union_count(a bloomfilter, b bloomfilter) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
  RETURN bf_union_count(a, b);
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN -1; -- they cannot be compared
END $$;
SELECT count(*) > 100 AS many,
  count(*) FILTER (WHERE count IS DISTINCT FROM bf_count(a.f | b.f)) AS "not that of the union"
FROM randoms a JOIN randoms b USING (element, seed),
  LATERAL (SELECT union_count(a.f, b.f) AS count OFFSET 0) c
WHERE count IS DISTINCT FROM -1;
SELECT count(*) > 1000 AS many,
  bool_and((a.f | b.f) @> i) AS "members are found",
  bool_and((a.f | b.f) + -i @> -i) AS "one more is found"
FROM randoms a JOIN randoms b USING (element, seed), generate_series(1, 420) i
WHERE element = 'int' AND (a.f @> i OR b.f @> i) AND (a.n + b.n + i) % 5 = 0 \gx
SELECT count(*), count(DISTINCT u) = 6 AS one_for_all_orders
FROM (SELECT bf_union_agg(f ORDER BY (n * m) % 13) AS u
  FROM randoms, generate_series(1, 12) m GROUP BY element, seed, m) s;
RESET bloomfilter.overfill;

-- Values that links of one geometry have in common are counted once. 1000 and 1000 values are 1500
-- together, and 1800 with another 1000.
CREATE FUNCTION near(count float8, truth float8) RETURNS boolean LANGUAGE sql AS
  'SELECT abs(count - truth) <= 0.02 * truth';
SET bloomfilter.overfill = ignore;
CREATE TABLE alike AS SELECT self_sized(1, 1000) AS a, self_sized(501, 1500) AS b,
  self_sized(801, 1800) AS c;
SELECT links(a | b) AS links,
  round(bf_count(a | b)) AS count,
  near(bf_count(a | b), 1500) AS two,
  near(bf_count(a | b | c), 1800) AS three,
  bf_count(c | b | a) = bf_count(a | b | c) AS "in any order",
  bf_count(a | a) = bf_count(a) AS itself,
  bf_count(a | self_sized(1, 990)) = bf_count(a) AS covered,
  (bf_info(a | b)).estimated_count = bf_count(a | b) AS info,
  abs(bf_fpr(a | b) - (1 - (1 - bf_fpr(a)) * (1 - bf_fpr(b)))) < 1e-9 AS "rates add up, nearly"
FROM alike \gx
-- The count is the same however a filter is stored.
CREATE TABLE stored (how text, f bloomfilter);
ALTER TABLE stored ALTER f SET STORAGE plain;
INSERT INTO stored SELECT 'in line', a | b FROM alike;
ALTER TABLE stored ALTER f SET STORAGE external;
INSERT INTO stored SELECT 'out of line', a | b FROM alike;
SELECT how, bf_count(f) = bf_count(a | b) AS same FROM stored, alike;
-- bf_union_count gives the count of the union, also for filters of several links.
SELECT bf_union_count(a, b) = bf_count(a | b) AS two,
  bf_union_count(a | b, c) = bf_count(a | b | c) AS "two and one",
  bf_union_count(a, b | c) = bf_count(a | b | c) AS "one and two",
  bf_union_count(a | b, b | c) = bf_count(a | b | c) AS "two and two",
  bf_union_count(a, a) = bf_count(a) AS itself,
  bf_union_count(a, self_sized(1, 990)) = bf_count(a) AS covered,
  bf_union_count(a, asked) = bf_count(a | asked) AS "one that was asked for",
  bf_union_count(a | asked, b) = bf_count(a | asked | b) AS "two kinds, and one",
  bf_union_count(bf_fold(a, 700), bf_fold(b, 700)) = bf_count(bf_fold(a, 700) | bf_fold(b, 700))
    AS folded,
  bf_union_count(a | b, empty) = bf_count(a | b) AS "of no rows",
  bf_union_count(a, a & b) = bf_count(a | (a & b)) AS "covered intersection",
  bf_intersect_count(a, a & b) IS NULL AS "common with it",
  bf_union_count(empty, empty) = 0 AS "two of no rows",
  bf_union_count(empty, seeded) = bf_count(seeded) AS "of no rows, and another seed",
  bf_union_count(a | b, bf_clear(self_sized(1, 5))) = bf_count(a | b) AS cleared,
  bf_union_count(grown, grown) = bf_count(grown) AS "that grows"
FROM alike,
  LATERAL (SELECT made(1300, 1700) AS asked,
    (SELECT bf_agg(i) FROM generate_series(1, 0) i) AS empty,
    bf_create(10, seed => 7) + 5 AS seeded,
    bf_create(1000, grow => true) + 5 AS grown OFFSET 0) s \gx
SELECT near(bf_intersect_count(a | b, c), 700) AS common,
  near(bf_intersect_count(a | b, b | c), 1000) AS "common of two and two",
  near(bf_jaccard(a | b, c), 700 / 1800.0) AS jaccard,
  bf_jaccard(a | b, a | b) AS "Jaccard index of itself",
  bf_jaccard(self_sized(1, 990) | self_sized(20, 1010) | d, self_sized(1, 1010) | d)
    AS "no more than all",
  bf_jaccard(a | b, empty) AS "Jaccard index of nothing",
  bf_jaccard(empty, empty) AS "Jaccard index of two empty ones"
FROM alike, (SELECT bf_agg(i) AS empty, self_sized(22001, 23000) AS d
  FROM generate_series(1, 0) i) s \gx
-- If links have different geometry, nothing is known of values that they have in common. Such
-- values are counted in each link.
SELECT links(a | b | larger) AS links,
  abs(bf_count(a | b | larger) - bf_count(a | b) - bf_count(larger)) < 1e-6 AS "sizes add up",
  bf_count(a | empty) = bf_count(a) AS "nothing to add",
  bf_count(a | (empty & empty)) IS NULL AS intersection,
  bf_union_count(a | b, empty & empty) IS NULL AS "and an intersection"
FROM alike, LATERAL (SELECT self_sized(1, 3000) AS larger, bf_create(1000) AS empty OFFSET 0) s \gx
-- If a link has all bits set, its count is unknown. If only the OR of the links has all bits set,
-- the count is the sum of their counts, which is the most that it can be. Nothing is then known of
-- values in common.
SELECT links(u) AS links,
  abs(bf_count(u) - sum) < 1e-6 AS "sum of all",
  abs(bf_union_count(u, f) - sum) < 1e-6 AS "of a union with one of them",
  bf_intersect_count(u, f) AS common,
  bf_jaccard(u, f) AS jaccard,
  bf_count(self_sized(1, 1) | full_one) AS full_count,
  bf_union_count(self_sized(1, 1), full_one) AS full_union_count
FROM (SELECT bf_union_agg(f) AS u, sum(bf_count(f)) AS sum, (array_agg(f))[1] AS f
    FROM (SELECT self_sized(100 * n + 1, 100 * n + 50) AS f FROM generate_series(1, 40) n) s) s,
  LATERAL (SELECT bf_add_all(bf_create(1), array(SELECT generate_series(1, 5000))) AS full_one
    OFFSET 0) f \gx
RESET bloomfilter.overfill;

-- What a filter of several links cannot do.
SELECT bf_compatible(f, f) AS links, bf_compatible(f, made(1, 5)) AS link FROM u;
SELECT bf_compatible(a, b), bf_compatible(a | b, c) AS links FROM alike;
SELECT made(1, 10) | (bf_create(2000, seed => 7) + 1);
SELECT made(1, 10) | (bf_create(2000) + 'x'::text);
SELECT f & f FROM u;
SELECT f & made(1, 5) FROM u;
SELECT bf_union_count(f, f) FROM u;
SELECT bf_jaccard(made(1, 5), f) FROM u;
SELECT bf_fold(f, 1000) FROM u;
SELECT links(bf_union_agg(self_sized(i * 100, i * 100 + i))) FROM generate_series(1, 64) i;
SELECT links(bf_union_agg(self_sized(i * 100, i * 100 + i))) FROM generate_series(1, 65) i;
