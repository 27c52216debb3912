-- NULL never destroys a filter and is never a member; no rows make an empty filter, which
-- contains nothing; the empty string is a value like any other.
CREATE SCHEMA nulls;
SET search_path = nulls, public;

-- A NULL value: the filter as it was, byte for byte.
SELECT bf_add(f, NULL::int) = f AS bf_add, f + NULL::text = f AS plus, f + NULL = f AS literal,
  bf_add(f, NULL) = f AS bf_add_literal, bf_add_all(f, NULL::int[]) = f AS bf_add_all,
  bf_add_all(f, '{NULL,NULL}'::int[]) = f AS nulls, (bf_put(f, NULL::int)).filter = f AS bf_put,
  (bf_put(f, NULL::int)).changed, (bf_put(f, NULL)).filter = f AS put_literal,
  (bf_put(f, NULL)).changed AS literal_changed
FROM (VALUES (bf_create(10)), (bf_create(10) + 1)) v(f) \gx

-- A NULL filter: NULL.
SELECT f + 1 AS plus, f + '1' AS literal, bf_add_all(f, '{1}'::int[]), (bf_put(f, 1)).filter,
  (bf_put(f, 1)).changed, (bf_put(f, '1')).changed AS changed_literal, f @> 1 AS contains,
  1 <@ f AS contained, f @> '1' AS contains_literal, bf_contains_any(f, '{1}'::int[]),
  bf_contains_all(f, '{1}'::int[]), bf_contains_each(f, '{1}'::int[]), bf_contains_hash(f, 1),
  bf_add_hash(f, 1), bf_clear(f), bf_count(f), bf_fpr(f), bf_check(f), bf_info(f), f::bytea,
  f = f AS equal, f < f AS less
FROM (SELECT NULL::bloomfilter AS f) s \gx

-- A NULL probe, or any other NULL argument: NULL.
SELECT f @> NULL::int AS contains, NULL::int <@ f AS contained, f @> NULL AS literal,
  NULL <@ f AS contained_literal, bf_contains_any(f, NULL::int[]),
  bf_contains_all(f, NULL::int[]), bf_contains_each(f, NULL::int[]), bf_contains_hash(f, NULL),
  bf_add_hash(f, NULL), bf_hash(NULL::int), bf_hash(1, NULL) AS seed, bf_create(NULL),
  bf_create(1, NULL) AS rate, bf_create_by_size(1, NULL), bf_sizing(NULL, 0.01),
  NULL::bytea::bloomfilter
FROM (SELECT bf_create(10) + 1 AS f) s \gx

-- NULL elements are skipped; all of nothing is true, any of nothing false.
SELECT bf_contains_any(f, '{}'::int[]) AS any, bf_contains_all(f, '{}'::int[]) AS all,
  bf_contains_each(f, '{}'::int[]) AS each, bf_contains_any(f, '{NULL}'::int[]) AS any_null,
  bf_contains_all(f, '{NULL}'::int[]) AS all_null,
  bf_contains_each(f, '{NULL}'::int[]) AS each_null,
  bf_contains_any(f, '{NULL,1}'::int[]) AS any_other,
  bf_contains_all(f, '{NULL,1}'::int[]) AS all_other
FROM (VALUES (bf_create(10)), (bf_create(10) + 1)) v(f);

-- Arrays longer than the batches in which they are asked, of values with one hash and with two:
-- the answers are those of single values.
SELECT bf_contains_each(f, a) = singly AS each, members, nulls, bf_contains_any(f, a) AS any,
  bf_contains_all(f, a) AS all, bf_contains_any(f, strangers) AS any_stranger,
  bf_contains_all(f, array_cat(known, a[1001:1001])) AS all_known,
  bf_contains_any(f, array_cat(strangers, known[1000:1000])) AS any_last,
  bf_contains_all(f, array_cat(known, strangers[1000:1000])) AS all_but_last
FROM (
  SELECT f, array_agg(v ORDER BY i) AS a, array_agg(f @> v ORDER BY i) AS singly,
    array_agg(v ORDER BY i) FILTER (WHERE f @> v) AS known,
    array_agg(v ORDER BY i) FILTER (WHERE NOT f @> v) AS strangers,
    count(*) FILTER (WHERE f @> v) AS members, count(*) FILTER (WHERE v IS NULL) AS nulls
  FROM (SELECT bf_agg((i || repeat(' ', i % 3))::varchar, 2000, 1e-9) AS f
      FROM generate_series(2, 2500, 2) i) filled,
    generate_series(1, 2500) i,
    LATERAL (SELECT CASE WHEN i <> 1001 THEN i || repeat(' ', i % 3) END::varchar AS v) value
  GROUP BY f) s;

-- No rows, or only NULL.
SELECT f = nulls AS same, f @> 1 AS contains, f @> '' AS literal, bf_contains_any(f, '{1}'::int[]),
  bf_contains_all(f, '{1}'::int[]), bf_count(f), element_type, expected, target_fpr, bytes,
  bf_check(f)
FROM (SELECT bf_agg(x) AS f FROM generate_series(1, 0) x) s,
  (SELECT bf_agg(NULL::int) AS nulls) n, bf_info(f) \gx
SELECT bf_agg(x, 1000, 0.001) = bf_create(1000, 0.001) AS only_null FROM (VALUES (NULL::int)) v(x);
SELECT bf_agg(x, 10) = bf_agg(y, 10) AND bf_agg(x) = bf_agg(y) AS ignored
FROM (VALUES (1, NULL), (NULL, 2), (2, 1)) v(x, y);

-- The empty string.
SELECT f @> '' AS literal, f @> ''::text AS text, f @> '   '::char(3) AS blanks, f @> ' '::text AS blank,
  f @> 'a' AS other, round(bf_count(f)) AS count, bf_create(10) @> '' AS in_empty,
  bf_create(10) + 'a'::text @> '' AS in_other
FROM (SELECT bf_agg(''::text) AS f) s;
