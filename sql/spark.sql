-- What only Spark's filters have. test/t/013_interop.pl tests the bytes with Spark itself.
-- layouts.sql tests what the layouts of all other systems have.
CREATE SCHEMA spark;
SET search_path = spark, public;

-- Both versions have the same hash, but set other bits.
CREATE TABLE made AS
SELECT layout, bf_agg(i, 1000, 0.01, layout) AS f
FROM unnest('{spark, spark_v2}'::text[]) layout, generate_series(1, 1000) i
GROUP BY layout;
SELECT i.layout, element_type, seed, hashes, bits, bytes, expected, target_fpr
FROM made, bf_info(f) i ORDER BY i.layout;
SELECT layout, length(bf_to_spark(f)) AS bytes, substr(bf_to_spark(f), 1, 16) AS head
FROM made ORDER BY layout;
SELECT bf_from_spark(bf_to_spark(f), 'long') @> 1000 AS "member is found",
  bf_to_spark(bf_from_spark(bf_to_spark(f), 'LONG')) = bf_to_spark(f) AS "written again, the same",
  (bf_info(bf_from_spark(bf_to_spark(f), 'long'))).expected AS "expected is not in the file"
FROM made ORDER BY layout;
SELECT (SELECT f FROM made WHERE layout = 'spark') | (SELECT f FROM made WHERE layout = 'spark_v2');

-- All integers are longs. Texts and bytes have the same hash, but are two families.
SELECT f @> 7::smallint AS "finds a smallint",
  f @> 7 AS "finds an integer",
  f @> 7::bigint AS "finds a bigint",
  f @> '7' AS "finds a literal",
  f @> 70000 AS "finds another value"
FROM made WHERE layout = 'spark' \gx
SELECT bf_to_spark(bf_create(10, layout => 'spark') + 'naïve'::text)
  = bf_to_spark(bf_create(10, layout => 'spark') + convert_to('naïve', 'UTF8')) AS "one hash";
SELECT f @> 'é'::varchar AS "finds a varchar",
  f @> 'é' AS "finds a literal",
  f @> 'e'::text AS "finds another value"
FROM bf_from_spark(bf_to_spark(bf_create(10, layout => 'spark_v2') + 'é'::text), 'string') f \gx
SELECT f @> '\xff'::bytea AS "finds the bytes", f @> '\xfe'::bytea AS "finds other bytes"
FROM bf_from_spark(bf_to_spark(bf_create(10, layout => 'spark_v2') + '\xff'::bytea), 'binary') f \gx
SELECT f @> 'x'::text FROM made;
SELECT bf_create(10, layout => 'spark') + 1.5::float8;
SELECT bf_create(10, layout => 'spark_v2') + date '2024-01-31';

-- The second version has a seed of 32 bits. Files, links and unions keep the seed.
SELECT layout, seed,
  f @> 5 AS "member is found",
  bf_check(f) IS NULL AS "is sound",
  f::bytea::bloomfilter = f AS "bytea round trip",
  bf_to_spark(bf_from_spark(bf_to_spark(f), 'long')) = bf_to_spark(f) AS "written again, the same",
  substr(bf_to_spark(f), 9, 4) AS "in the file"
FROM unnest('{0, 1, -1, 42, 2147483647, -2147483648}'::bigint[]) s,
  LATERAL (SELECT bf_create(10, seed => s, layout => 'spark_v2') + 5 AS f) x, bf_info(f) \gx
SELECT bf_create(10, seed => 2147483648, layout => 'spark_v2');
SELECT bf_create(10, seed => -2147483649, layout => 'spark_v2');
SELECT bf_create(10, seed => 1, layout => 'spark');
SELECT bf_create(10, seed => 1, layout => 'spark_v2') | bf_create(10, layout => 'spark_v2');
SELECT seed, links,
  u @> 5 AS "one member is found",
  u @> 6 AS "the other member is found",
  u @> 7 AS "another is found",
  bf_clear(u) + 5 @> 5 AS "cleared takes a value"
FROM (SELECT (bf_create(10, seed => 42, layout => 'spark_v2') + 5)
    | (bf_create(1000, seed => 42, layout => 'spark_v2') + 6) AS u) x, bf_info(u) \gx
SELECT bf_from_spark(bf_to_spark(a), 'long') | bf_from_spark(bf_to_spark(b), 'long') @> 6
    AS "member is found",
  bf_to_spark(bf_from_spark(bf_to_spark(a), 'long') | bf_from_spark(bf_to_spark(b), 'long'))
    = bf_to_spark(a | b) AS "links of one size are written as one"
FROM (SELECT bf_create(10, seed => 42, layout => 'spark_v2') + 5 AS a,
    bf_create(10, seed => 42, layout => 'spark_v2') + 6 AS b) x \gx
SELECT set_byte(f::bytea, 4, 1)::bloomfilter FROM made WHERE layout = 'spark';
SELECT set_byte(f::bytea, 8, 1)::bloomfilter FROM made WHERE layout = 'spark_v2';

-- Files that are not Spark's, and filters that Spark could not read.
SELECT bf_to_spark(bf_create(10));
SELECT bf_to_spark(bf_create(10, layout => 'guava_mitz32'));
SELECT bf_to_spark((bf_create(10, layout => 'spark') + 1)
    | (bf_create(1000, layout => 'spark') + 2));
SELECT bf_from_spark('', 'long');
SELECT bf_from_spark('\x00000003', 'long');
SELECT bf_from_spark('\x000000010000000100000001', 'long');
SELECT bf_from_spark('\x0000000100000100000000010000000000000000', 'long');
SELECT bf_from_spark('\x0000000100000001000000000000000000000000', 'long');
SELECT bf_from_spark('\x000000010000000100000001000000000000000000', 'long');
SELECT bf_from_spark(bf_to_spark(f), 'double') FROM made;
SELECT bf_from_spark(NULL, 'long') IS NULL AS "null";
