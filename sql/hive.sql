-- What only Hive's filters have. test/t/013_interop.pl tests the bytes with Hive's class itself.
-- layouts.sql tests what the layouts of all other systems have.
CREATE SCHEMA hive;
SET search_path = hive, public;

-- Hive's filters have a rate of 5 %.
CREATE TABLE made AS SELECT bf_agg(i, 1000, 0.05, 'hive') AS f FROM generate_series(1, 1000) i;
SELECT i.layout, element_type, seed, hashes, bits, bytes, expected, target_fpr
FROM made, bf_info(f) i;
SELECT length(bf_to_hive(f)) AS bytes, substr(bf_to_hive(f), 1, 13) AS head FROM made;
SELECT bf_from_hive(bf_to_hive(f), 'long') @> 1000 AS "member is found",
  bf_to_hive(bf_from_hive(bf_to_hive(f), 'LONG')) = bf_to_hive(f) AS "written again, the same",
  (bf_info(bf_from_hive(bf_to_hive(f), 'long'))).expected AS "expected is not in the file"
FROM made;
-- Hive adds a block even if the words fill whole blocks.
SELECT n, bits / 512 AS blocks, hashes
FROM unnest('{1, 72, 73, 1632, 1633, 1000000}'::int[]) n, bf_info(bf_create(n, 0.05, 'hive'));

-- Integers, floats, texts and bytes.
SELECT f @> 7::smallint AS "finds a smallint",
  f @> 7 AS "finds an integer",
  f @> 7::bigint AS "finds a bigint",
  f @> 7.0 AS "finds a numeric",
  f @> '7' AS "finds a literal",
  f @> 70000 AS "finds another value"
FROM made \gx
SELECT f @> 0.5::real AS "finds a real", f @> 0.5::float8 AS "finds a float",
  f @> 7 AS "an integer",
  f @> '0.5' AS "finds a literal", f @> 0.25::float8 AS "finds another value"
FROM bf_add_all(bf_create(10, layout => 'hive'), '{0.5, 7}'::float8[]) f \gx
SELECT bf_to_hive(bf_create(10, layout => 'hive') + 'naïve'::text)
    = bf_to_hive(bf_create(10, layout => 'hive') + convert_to('naïve', 'UTF8')) AS "text is UTF-8",
  bf_to_hive(bf_create(10, layout => 'hive') + 5)
    = bf_to_hive(bf_create(10, layout => 'hive') + int8send(5)) AS "integers are big-endian",
  bf_to_hive(bf_create(10, layout => 'hive') + 1.5::float8)
    = bf_to_hive(bf_create(10, layout => 'hive') + float8send(1.5)) AS "floats are big-endian";
SELECT f @> 'x'::text FROM made;
SELECT bf_create(10, layout => 'hive') + 1.5::numeric;
SELECT bf_create(10, layout => 'hive') + date '2024-01-31';
SELECT bf_create(10, seed => 1, layout => 'hive');

-- All NaNs are one value. 0 and -0 are two values, but a probe for one of them looks up both. An
-- empty text is a value like any other.
SELECT a <> b AS "two zeros are added", a @> '-0'::float8 AND b @> '-0'::float8 AS "find -0",
  a @> 0 AND b @> 0 AS "find 0", a @> 'NaN'::float8 AS "finds NaN",
  a + 'NaN'::float4 @> 'NaN'::float8 AS "finds an added NaN"
FROM CAST(bf_create(10, 1e-6, 'hive') + '0'::float8 AS bloomfilter) a,
  CAST(bf_create(10, 1e-6, 'hive') + '-0'::float8 AS bloomfilter) b \gx
SELECT e + ''::text @> ''::text AS "finds the empty text", e + 'x'::text @> '' AS "only if added"
FROM bf_create(10, 1e-6, 'hive') e;

-- Druid reads and writes base64.
SELECT f = bf_from_hive(decode(druid, 'base64'), 'string') AS "read again", length(druid),
  left(druid, 24) AS base64
FROM CAST(bf_create(50, 0.05, 'hive') + 'bar'::text AS bloomfilter) made,
  bf_from_hive(bf_to_hive(made), 'string') f,
  translate(encode(bf_to_hive(f), 'base64'), E'\n', '') druid;

-- Unions, folds and estimates. A fold ORs the parts of the filter, because a remainder chooses the
-- block.
SELECT (bf_info(u)).links, u @> 1 AND u @> 1000 AS "finds all",
  bf_to_hive(bf_from_hive(bf_to_hive(a), 'long') | bf_from_hive(bf_to_hive(b), 'long'))
    = bf_to_hive(a | b) AS "links of one size are written as one"
FROM (SELECT bf_agg(i, 1000, 0.05, 'hive') FILTER (WHERE i <= 600) AS a,
    bf_agg(i, 1000, 0.05, 'hive') FILTER (WHERE i > 400) AS b,
    bf_agg(i, 1000, 0.05, 'hive') FILTER (WHERE i <= 600)
      | bf_agg(i, 5000, 0.05, 'hive') FILTER (WHERE i > 400) AS u
  FROM generate_series(1, 1000) i) x;
SELECT bits / 512 AS blocks, bf_check(g) IS NULL AS "is sound",
  bf_contains_all(g, array(SELECT generate_series(1, 1000))) AS "all members",
  bits_set = (bf_info(bf_add_all(bf_clear(g), array(SELECT generate_series(1, 1000))))).bits_set
    AS "as if built so"
FROM (SELECT bf_fold(bf_agg(i, 4900, 0.05, 'hive'), 2000) AS g FROM generate_series(1, 1000) i) x,
  bf_info(g);
SELECT round(bf_count(f)) AS count, round(bf_fpr(f)::numeric, 3) AS rate,
  (SELECT round(count(*) / 100000.0, 3) FROM generate_series(1001, 101000) i WHERE f @> i)
    AS measured
FROM made;

-- Files that are not Hive's, and filters that Hive could not read.
SELECT bf_to_hive(bf_create(10));
SELECT bf_to_hive(bf_create(10, layout => 'datasketches'));
SELECT bf_to_hive((bf_create(10, layout => 'hive') + 1) | (bf_create(1000, layout => 'hive') + 2));
CREATE FUNCTION damaged(at int, bytes bytea) RETURNS bloomfilter LANGUAGE sql AS $$
  SELECT bf_from_hive(overlay(bf_to_hive(f) PLACING bytes FROM at + 1), 'long') FROM made $$;
SELECT bf_from_hive('', 'long');
SELECT bf_from_hive('\x04000000', 'long');
SELECT bf_from_hive('\x0400000000', 'long');
SELECT bf_from_hive(substr(bf_to_hive(f), 1, 836), 'long') FROM made;
SELECT bf_from_hive(bf_to_hive(f) || '\x00', 'long') FROM made;
SELECT damaged(0, '\x00');
SELECT damaged(0, '\x80');
SELECT damaged(1, '\x00000069');
SELECT damaged(1, '\x00000070');
SELECT damaged(1, '\x68000000');
SELECT bf_from_hive(
  convert_to(translate(encode(bf_to_hive(f), 'base64'), E'\n', ''), 'UTF8'), 'long')
FROM made;
SELECT bf_from_hive(bf_to_hive(f), 'int') FROM made;
SELECT bf_from_hive(NULL, 'long') IS NULL AS "null";
