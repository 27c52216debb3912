-- A filter compares a probe with its members as SQL does. Where SQL's = is immutable, this also
-- holds across families of element types. test/t/020_conversions.pl compares filters with SQL
-- itself, over all pairs of types.
CREATE SCHEMA conversion;
SET search_path = conversion, public;

SELECT f @> 3.0 AS "numeric 3.0",
  f @> 3::float8 AS "float8 3",
  f @> 3::float4 AS "float4 3",
  f @> 3::oid AS "oid 3",
  f @> 3.5 AS "not 3.5",
  f @> 1e100 AS "not 1e100",
  f @> 'NaN'::numeric AS "not NaN",
  f @> 'infinity'::float8 AS "not infinity",
  f @> 4.0 AS "not another",
  f @> 9007199254740991::float8 AS "not the last exact double",
  f @> 9007199254740992::float8 AS "possibly a double of several",
  f @> 9223372036854775808::float8 AS "possibly 2^63",
  f @> 9223372036854777856::float8 AS "not beyond"
FROM (SELECT bf_create(9, 1e-9) + 3 AS f) x \gx
SELECT f @> 3.0 AS "numeric 3.0",
  f @> 3 AS "integer 3",
  f @> 0.1 AS "numeric 0.1",
  f @> 3.5 AS "not 3.5",
  f @> 1e400 AS "not what it cannot hold",
  f @> 1e-400 AS "nor what would be 0"
FROM (SELECT bf_create(9, 1e-9) + 3::float8 + 0.1::float8 + 0::float8 AS f) x \gx
SELECT bf_create(9) + 1.50 + 2.0 @> 2 AS "integer 2",
  bf_create(9) + 1.50 + 2.0 @> 1 AS "not 1" \gx
SELECT bf_create(9) + 1.5 @> 1.5::float8;
SELECT f @> timestamp '2024-01-08' AS "its midnight",
  f @> timestamp '2024-01-08 12:00' AS "not its noon",
  f @> timestamp 'infinity' AS "infinity"
FROM (SELECT bf_create(9, 1e-9) + date '2024-01-08' + date 'infinity' AS f) x \gx
SELECT f @> date '2024-01-08' AS "its date",
  f @> date '2024-01-09' AS "not one at another time of day",
  f @> date '-infinity' AS "infinity",
  f @> date '5874897-12-31' AS "not beyond"
FROM (SELECT bf_create(9, 1e-9) + timestamp '2024-01-08' + timestamp '2024-01-09 12:00'
    + timestamp '-infinity' AS f) x \gx
SELECT bf_create(9) + date '2024-01-08' @> timestamptz '2024-01-08';
SELECT bf_create(9) + timestamptz '2024-01-08 00:00+00' @> date '2024-01-08';
SELECT bf_create(9, 1e-9) + time '24:00' @> interval '1 day' AS "a time",
  bf_create(9, 1e-9) + interval '90 minutes' @> time '01:30' AS "an interval",
  bf_create(9, 1e-9) + time '01:30' @> interval '-1 day 1:30' AS "not another day" \gx
SELECT bf_create(9, 1e-9) + 'a'::"char" @> 'a'::text AS "a char",
  bf_create(9, 1e-9) + 'a'::"char" @> 'ab'::text AS "not two",
  bf_create(9, 1e-9) + 'A'::"char" @> '\101'::text AS "no other octal",
  bf_create(9, 1e-9) + 'a'::"char" @> 'a   '::char(4) AS "of char(n)",
  bf_create(9, 1e-9) + 'a'::name @> 'a'::"char" AS "a name" \gx
SELECT bf_create(9, 1e-9) + 4294967295::oid @> -1 AS "an oid of the same bits",
  bf_create(9, 1e-9) + 4294967295::oid @> (-1)::bigint AS "not a bigint" \gx

-- Arrays, operators with swapped sides, literals, and all three types of filters.
SELECT bf_contains_each(f, '{1.0, 1.5, 2}'::numeric[]) AS each,
  bf_contains_any(f, '{7.5, 1}'::float8[]) AS "any",
  bf_contains_any(f, '{7.5, 1e17}'::float8[]) AS "any, possibly",
  bf_contains_all(f, '{1.0, 2.0}'::numeric[]) AS "all",
  (SELECT string_agg(n::text, ' ')
    FROM unnest('{0.5, 1, 1.5, 2.0}'::numeric[]) n WHERE n <@ f) AS rows
FROM (SELECT bf_create(9, 1e-9) + 1 + 2 AS f) x \gx
SELECT cbf @> 1.0 AS "counting, asked",
  cbf_multiplicity(cbf, 1.0) AS "counting, how often",
  cbf_multiplicity(cbf, 1.5) AS "not at all",
  cbf_multiplicity(cbf, 1e17::float8) AS "no one knows",
  cf @> 1::float8 AS "cuckoo, asked",
  cf_multiplicity(cf, 1.0) AS "cuckoo, how often",
  cf_multiplicity(cf, 1e17::float8) AS "cuckoo, no one knows"
FROM (SELECT cbf_create(9, 1e-9) + 1 + 1 AS cbf, cf_create(9, 1e-9) + 1 + 1 AS cf) x \gx

-- A value is added or removed if SQL casts it implicitly to the element type, and refused
-- otherwise.
SELECT bf_create(9) + 1::float8 + 7 = bf_create(9) + 1::float8 + 7::float8 AS "integer to float",
  bf_create(9) + 1::float8 + 0.1 = bf_create(9) + 1::float8 + 0.1::float8 AS "numeric to float",
  bf_create(9) + 1.5 + 7 = bf_create(9) + 1.5 + 7.0 AS "integer to numeric",
  bf_create(9) + timestamp 'infinity' + date '2024-01-08'
    = bf_create(9) + timestamp 'infinity' + timestamp '2024-01-08' AS "date to timestamp",
  bf_add_all(bf_create(9) + 1.5, '{7, 8}'::int[]) @> 8.0 AS "arrays",
  cbf_create(9) + 1.5 + 7 - 7 = cbf_create(9) + 1.5 AS "counting",
  cf_create(9) + 1.5 + 7 - 7 = cf_create(9) + 1.5 AS "cuckoo" \gx
SELECT bf_create(9) + 1 + 1.0;
SELECT bf_create(9) + 1 + 1::float8;
SELECT bf_create(9) + 1.5 + 1::float8;
SELECT bf_create(9) + date '2024-01-08' + timestamp '2024-01-08';
SELECT bf_create(9) + 'a'::"char" + 'a'::text;
SELECT bf_create(9) + 1::float8 + 1e400;
SELECT bf_create(9) + timestamp '2024-01-08' + date '5874897-12-31';
SELECT cbf_create(9) + 1::oid + (-1)::bigint;

-- Other systems' layouts, as far as their encodings allow.
SELECT bf_create(9, 1e-9, layout => 'guava') + 5 @> 5.0 AS "long",
  bf_create(9, 1e-9, layout => 'guava') + 5 @> 1e17::float8 AS "long, possibly",
  bf_create(9, 1e-9, layout => 'guava_integer') + 5 @> 5::float8 AS "integer",
  bf_create(9, 1e-9, layout => 'guava_integer') + 5 @> 1e17::float8 AS "integer, not beyond",
  bf_create(9, 1e-9, layout => 'spark') + 5 @> 5.5 AS "not a fraction",
  bf_create(9, 1e-9, layout => 'datasketches') + 5 @> 5.0 AS "in datasketches",
  bf_create(9, 1e-9, layout => 'datasketches') + 5.5::float8 @> 5.5 AS "a float there",
  bf_create(9, 1e-9, layout => 'hive') + 5 @> 5.0 AS "in hive",
  bf_create(9, 1e-9, layout => 'hive') + 5.5::float8 @> 5.5 AS "a float in hive" \gx
SELECT bf_create(9, 1e-9, layout => 'parquet') + 0.5::float8 @> 0.5 AS "double",
  bf_create(9, 1e-9, layout => 'parquet_float') + 0.5::float4 @> 0.5 AS "float",
  bf_create(9, 1e-9, layout => 'parquet_float') + 0.5::float4 @> 0.1 AS "not what no float is",
  bf_create(9, 1e-9, layout => 'parquet_float') + 0.5::float4 + 2 @> 2 AS "float, added",
  bf_create(9, 1e-9, layout => 'parquet') + timestamp '2024-01-08' @> date '2024-01-08' AS "date",
  bf_create(9, 1e-9, layout => 'parquet_int32') + date '2024-01-08'
    @> timestamp '2024-01-08' AS "timestamp" \gx
SELECT bf_create(9, layout => 'parquet_float') + 0.5::float4 + 0.1;
SELECT bf_create(9, layout => 'redis') + 5 @> 5.0;
SELECT bf_create(9, layout => 'guava') + 5 @> true;

-- The shard of a value depends on the value's own type, so the value must be cast.
SELECT bf_shard(5, 1000) = bf_shard(5.0, 1000) AS "one shard",
  bf_shard(5, 1000) = bf_shard(5.0::int, 1000) AS "one shard, cast" \gx
