-- NULL never destroys a filter and is never a member. No rows make an empty filter, which contains
-- nothing. The empty string is a value like any other.
CREATE SCHEMA nulls;
SET search_path = nulls, public;
\i sql/include/outcome.sql

-- With a NULL value, the filter stays as it was, byte for byte.
SELECT bf_add(f, NULL::int) = f AS bf_add,
  f + NULL::text = f AS "+",
  f + NULL = f AS "+ of a literal",
  bf_add(f, NULL) = f AS "bf_add of a literal",
  bf_add_hash(f, NULL) = f AS bf_add_hash,
  bf_add_all(f, NULL::int[]) = f AS "bf_add_all of no array",
  bf_add_all(f, '{NULL,NULL}'::int[]) = f AS "bf_add_all of NULLs",
  (bf_put(f, NULL::int)).filter = f AS bf_put,
  (bf_put(f, NULL::int)).was_new AS "bf_put says new",
  (bf_put(f, NULL)).filter = f AS "bf_put of a literal",
  (bf_put(f, NULL)).was_new AS "bf_put of a literal says new"
FROM (VALUES (bf_create(10)), (bf_create(10) + 1)) v(f) \gx

-- With a NULL filter, adding any value is an error. All other functions return NULL.
CREATE FUNCTION said(expression text) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(code || ' ' || message || '; ' || coalesce(hint, ''), 'no error')
  FROM error_of('SELECT ' || expression)
$$;
CREATE TABLE adding (prefix text, statement text);
INSERT INTO adding
  SELECT prefix, format(statement, type, prefix)
  FROM (VALUES ('bloomfilter', 'bf'), ('countingbloomfilter', 'cbf'), ('cuckoofilter', 'cf'))
      t(type, prefix),
    (VALUES ('NULL::%1$s + 1'), ('NULL::%1$s + ''1'''), ('NULL::%1$s + NULL::int'),
      ('%2$s_add(NULL::%1$s, 1)'), ('%2$s_add(NULL::%1$s, ''1'')'),
      ('%2$s_add_all(NULL::%1$s, ''{1}''::int[])'), ('%2$s_put(NULL::%1$s, 1)'),
      ('%2$s_put(NULL::%1$s, ''1'')'), ('%2$s_add_hash(NULL::%1$s, 1)')) s(statement)
  WHERE prefix = 'bf' OR statement NOT LIKE '%hash%';
SELECT said(statement), count(*) FROM adding GROUP BY 1 ORDER BY 1;
CREATE TABLE unfilled (f bloomfilter);
INSERT INTO unfilled DEFAULT VALUES;
UPDATE unfilled SET f = f + 5;
UPDATE unfilled SET f = coalesce(f, bf_create(10)) + 5;
SELECT f @> 5 AS "as the hint has it" FROM unfilled;
SELECT f @> 1 AS "@>",
  1 <@ f AS "<@",
  f @> '1' AS "@> of a literal",
  bf_contains_any(f, '{1}'::int[]), bf_contains_all(f, '{1}'::int[]),
  bf_contains_each(f, '{1}'::int[]), bf_contains_hash(f, 1), bf_clear(f),
  bf_count(f), bf_fpr(f), bf_check(f), bf_info(f), f::bytea,
  f = f AS "= of filters",
  f < f AS "< of filters"
FROM (SELECT NULL::bloomfilter AS f) s \gx

-- With a NULL probe, or any other NULL argument, the result is NULL.
SELECT f @> NULL::int AS "@>",
  NULL::int <@ f AS "<@",
  f @> NULL AS "@> of a literal",
  NULL <@ f AS "<@ of a literal",
  bf_contains_any(f, NULL::int[]), bf_contains_all(f, NULL::int[]),
  bf_contains_each(f, NULL::int[]), bf_contains_hash(f, NULL),
  bf_hash(NULL::int),
  bf_hash(1, NULL) AS "bf_hash with seed NULL",
  bf_sizing(NULL, 0.01), NULL::bytea::bloomfilter
FROM (SELECT bf_create(10) + 1 AS f) s \gx

-- Exception: a NULL argument makes no empty filter but an error. Otherwise, a column would be left
-- without a filter.
SELECT statement, said(statement) FROM (VALUES
  ('bf_create(NULL)'), ('bf_create(10, NULL)'), ('bf_create(10, layout => NULL)'),
  ('bf_create(10, seed => NULL)'), ('bf_create(10, grow => NULL)'), ('bf_create(NULL, NULL)'),
  ('bf_create(n) FROM (VALUES (10), (NULL)) v(n)'),
  ('bf_create_by_size(NULL, 3)'), ('bf_create_by_size(512, NULL)'),
  ('bf_create_by_size(512, 3, NULL)'),
  ('cbf_create(NULL)'), ('cbf_create(10, NULL)'), ('cbf_create(10, seed => NULL)'),
  ('cf_create(NULL)'), ('cf_create(10, NULL)'), ('cf_create(10, seed => NULL)')) s(statement);

-- NULL elements are skipped. For an empty array, all is true and any is false.
SELECT bf_contains_any(f, '{}'::int[]) AS "any of nothing",
  bf_contains_all(f, '{}'::int[]) AS "all of nothing",
  bf_contains_each(f, '{}'::int[]) AS "each of nothing",
  bf_contains_any(f, '{NULL}'::int[]) AS "any of NULL",
  bf_contains_all(f, '{NULL}'::int[]) AS "all of NULL",
  bf_contains_each(f, '{NULL}'::int[]) AS "each of NULL",
  bf_contains_any(f, '{NULL,1}'::int[]) AS "any of NULL and 1",
  bf_contains_all(f, '{NULL,1}'::int[]) AS "all of NULL and 1"
FROM (VALUES (bf_create(10)), (bf_create(10) + 1)) v(f) \gx

-- NULL is in no filter, not even in one with all bits set.
SELECT (bf_info(f)).fill, bf_contains_any(f, '{NULL}'::int[]) AS "any of NULL",
  bf_contains_each(f, '{1,NULL,2}'::int[]) AS "each of 1, NULL, 2"
FROM (SELECT bf_add_all(bf_create_by_size(512, 1), array_agg(i)) AS f
    FROM generate_series(1, 10000) i) s;

-- Arrays that are longer than the batches in which they are probed. Their values have one hash or
-- two. The results are those for single values.
SELECT bf_contains_each(f, a) = singly AS "each as one by one",
  members, nulls,
  bf_contains_any(f, a) AS "any of all",
  bf_contains_all(f, a) AS "all of all",
  bf_contains_any(f, strangers) AS "any of strangers",
  bf_contains_all(f, array_cat(known, a[1001:1001])) AS "all of the known",
  bf_contains_any(f, array_cat(strangers, known[1000:1000]))
    AS "any of strangers and a last member",
  bf_contains_all(f, array_cat(known, strangers[1000:1000]))
    AS "all of the known but a last stranger"
FROM (
  SELECT f, array_agg(v ORDER BY i) AS a, array_agg(f @> v ORDER BY i) AS singly,
    array_agg(v ORDER BY i) FILTER (WHERE f @> v) AS known,
    array_agg(v ORDER BY i) FILTER (WHERE NOT f @> v) AS strangers,
    count(*) FILTER (WHERE f @> v) AS members, count(*) FILTER (WHERE v IS NULL) AS nulls
  FROM (SELECT bf_agg((i || repeat(' ', i % 3))::varchar, 2000, 1e-9) AS f
      FROM generate_series(2, 2500, 2) i) filled,
    generate_series(1, 2500) i,
    LATERAL (SELECT CASE WHEN i <> 1001 THEN i || repeat(' ', i % 3) END::varchar AS v) value
  GROUP BY f) s \gx

-- No rows, or only NULL values.
SELECT f = nulls AS "as of NULL alone",
  f @> 1 AS "contains 1",
  f @> '' AS "contains a literal",
  bf_contains_any(f, '{1}'::int[]), bf_contains_all(f, '{1}'::int[]), bf_count(f), element_type,
  expected, target_fpr, bytes, bf_check(f)
FROM (SELECT bf_agg(x) AS f FROM generate_series(1, 0) x) s,
  (SELECT bf_agg(NULL::int) AS nulls) n, bf_info(f) \gx
SELECT bf_agg(x, 1000, 0.001) = bf_create(1000, 0.001) AS only_null FROM (VALUES (NULL::int)) v(x);
SELECT bf_agg(x) = bf_agg(y) AS "NULL is no value",
  bf_agg(x, 10) = bf_agg(y, 10) AS "nor when sized"
FROM (VALUES (1, NULL), (NULL, 2), (2, 1)) v(x, y);

-- The empty string.
SELECT f @> '' AS "literal is found",
  f @> ''::text AS "text is found",
  f @> '   '::char(3) AS "blanks of char are found",
  f @> ' '::text AS "a blank of text is found",
  f @> 'a' AS "another is found",
  round(bf_count(f)) AS count,
  bf_create(10) @> '' AS "found in an empty filter",
  bf_create(10) + 'a'::text @> '' AS "found in another filter"
FROM (SELECT bf_agg(''::text) AS f) s \gx
