-- What only DataSketches' filters have. test/t/013_interop.pl tests the bytes with the library
-- itself. layouts.sql tests what the layouts of all other systems have.
CREATE SCHEMA datasketches;
SET search_path = datasketches, public;

CREATE TABLE made AS SELECT bf_agg(i, 1000, 0.01, 'datasketches') AS f
FROM generate_series(1, 1000) i;
SELECT i.layout, element_type, seed, hashes, bits, bytes, expected, target_fpr
FROM made, bf_info(f) i;
SELECT length(bf_to_datasketches(f)) AS bytes, substr(bf_to_datasketches(f), 1, 32) AS head
FROM made;
SELECT bf_from_datasketches(bf_to_datasketches(f), 'long') @> 1000 AS "member is found",
  bf_to_datasketches(bf_from_datasketches(bf_to_datasketches(f), 'LONG')) = bf_to_datasketches(f)
    AS "written again, the same",
  (bf_info(bf_from_datasketches(bf_to_datasketches(f), 'long'))).expected
    AS "expected is not in the file"
FROM made;

-- A filter without set bits is written as a header alone. It takes values when it is read back.
SELECT bf_to_datasketches(e) AS file, length(bf_to_datasketches(e + 5)) AS "with a value",
  bf_from_datasketches(bf_to_datasketches(e), 'long') + 5 @> 5 AS "takes a value",
  bf_to_datasketches(bf_from_datasketches(bf_to_datasketches(e), 'long') + 5)
    = bf_to_datasketches(e + 5) AS "the same filter"
FROM bf_create(10, seed => 7, layout => 'datasketches') e \gx

-- A file may leave its set bits uncounted. Such a file is written as it was read, but a union
-- counts the bits.
CREATE TABLE files AS
SELECT bf_to_datasketches(f) AS counted,
  overlay(bf_to_datasketches(f) PLACING '\xffffffffffffffff' FROM 25) AS uncounted FROM made;
SELECT c = u AS "one filter",
  bf_to_datasketches(u) = uncounted AS "written as it was",
  bf_check(u) IS NULL AS "is sound",
  u::bytea::bloomfilter = u AS "bytea round trip",
  bf_to_datasketches(bf_add_all(bf_clear(u), array(SELECT generate_series(1, 1000)))) = uncounted
    AS "cleared and rebuilt",
  bf_to_datasketches(u + 5) = uncounted AS "nothing new",
  bf_to_datasketches(bf_clear(u)) = substr(uncounted, 1, 32) || decode(repeat('00', 1200), 'hex')
    AS "cleared",
  substr(bf_to_datasketches(u + 70000), 25, 8) AS "with another value",
  bf_to_datasketches(u | u) = counted AS "united with itself",
  bf_to_datasketches(c | u) = counted AND c | u = u | c AS "united with the counted",
  bf_to_datasketches(c & u) = counted AND c & u = u & c AS "intersected with the counted",
  (SELECT bf_to_datasketches(bf_union_agg(f)) FROM unnest(ARRAY[u, c, u]) f) = counted
    AS "union_agg",
  bf_info(u) = bf_info(c) AS "one description"
FROM files, bf_from_datasketches(counted, 'long') c, bf_from_datasketches(uncounted, 'long') u \gx
SELECT set_byte(f::bytea, 32, 16)::bloomfilter = f AS "the flag is in the bytes" FROM made;
SELECT set_byte(f::bytea, 32, 32)::bloomfilter FROM made;
SELECT set_byte((f | bf_create(9, layout => 'datasketches'))::bytea, 32, 17)::bloomfilter FROM made;
SELECT set_byte(bf_create(10, layout => 'spark')::bytea, 32, 16)::bloomfilter;

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
FROM bf_add_all(bf_create(10, layout => 'datasketches'), '{0.5, 7}'::float8[]) f \gx
SELECT bf_to_datasketches(bf_create(10, layout => 'datasketches') + 'naïve'::text)
  = bf_to_datasketches(bf_create(10, layout => 'datasketches') + convert_to('naïve', 'UTF8'))
  AS "one hash";
SELECT f @> 'x'::text FROM made;
SELECT bf_create(10, layout => 'datasketches') + 1.5::numeric;
SELECT bf_create(10, layout => 'datasketches') + date '2024-01-31';

-- All NaNs are one value. If 0 or -0 is added, they are one value, too.
SELECT a = b AS "one zero is added", a @> '-0'::float8 AS "finds -0", a @> 0 AS "finds 0",
  a @> 'NaN'::float8 AS "finds NaN",
  a + 'NaN'::float4 @> 'NaN'::float8 AS "finds an added NaN"
FROM CAST(bf_create(10, 1e-6, 'datasketches') + '0'::float8 AS bloomfilter) a,
  CAST(bf_create(10, 1e-6, 'datasketches') + '-0'::float8 AS bloomfilter) b \gx

-- An empty text or bytea sets no bit, so it is always found. It counts as the first value.
SELECT e + ''::text @> ''::text AS "is found",
  e + 'x'::text @> '' AS "is found, not added",
  e + 'x'::text @> ' '::char AS "also of blanks",
  (bf_info(e + ''::text)).element_type,
  bf_to_datasketches(e + ''::bytea) = bf_to_datasketches(e) AS "sets no bit",
  bf_to_datasketches((SELECT bf_agg(v, 10, 0.01, 'datasketches')
    FROM unnest('{"",x,""}'::text[]) v))
    = bf_to_datasketches(e + 'x'::text) AS "nor in bf_agg",
  bf_contains_each(e + 'x'::text, '{"",x,y,NULL}'::text[]) AS "each",
  (bf_put(e + 'x'::text, ''::text)).was_new,
  (SELECT bf_agg(v, 10, 0.01, 'datasketches') @> ''::text FROM unnest('{""}'::text[]) v) AS alone
FROM bf_create(10, layout => 'datasketches') e \gx
SELECT bf_create(10, layout => 'datasketches') + ''::text + 5;

-- The seed has 64 bits. Files, links and unions keep the seed.
SELECT seed,
  f @> 5 AS "member is found",
  bf_check(f) IS NULL AS "is sound",
  bf_to_datasketches(bf_from_datasketches(bf_to_datasketches(f), 'long')) = bf_to_datasketches(f)
    AS "written again, the same",
  substr(bf_to_datasketches(f), 9, 8) AS "in the file"
FROM unnest('{0, 1, -1, 9223372036854775807, -9223372036854775808}'::bigint[]) s,
  LATERAL (SELECT bf_create(10, seed => s, layout => 'datasketches') + 5 AS f) x, bf_info(f) \gx
SELECT bf_create(10, seed => 1, layout => 'datasketches') | bf_create(10, layout => 'datasketches');
SELECT seed, links, u @> 5 AS "one member is found", u @> 6 AS "the other member is found"
FROM (SELECT (bf_create(10, seed => 42, layout => 'datasketches') + 5)
    | (bf_create(1000, seed => 42, layout => 'datasketches') + 6) AS u) x, bf_info(u) \gx
SELECT bf_to_datasketches(bf_from_datasketches(bf_to_datasketches(a), 'long')
    | bf_from_datasketches(bf_to_datasketches(b), 'long')) = bf_to_datasketches(a | b)
    AS "links of one size are written as one"
FROM (SELECT bf_create(10, seed => 42, layout => 'datasketches') + 5 AS a,
    bf_create(10, seed => 42, layout => 'datasketches') + 6 AS b) x;

-- Folding and estimates.
SELECT bits, bf_check(f) IS NULL AS "is sound", f @> 1 AND f @> 1000 AS "members are found",
  bf_contains_all(f, array(SELECT generate_series(1, 1000))) AS "all members"
FROM (SELECT bf_fold(f, 500) AS f FROM made) x, bf_info(f);
SELECT round(bf_count(f)) AS count, round(bf_fpr(f)::numeric, 4) AS rate FROM made;

-- Files that are not DataSketches', and filters that DataSketches could not read.
SELECT bf_to_datasketches(bf_create(10));
SELECT bf_to_datasketches(bf_create(10, layout => 'spark'));
SELECT bf_to_datasketches((bf_create(10, layout => 'datasketches') + 1)
    | (bf_create(1000, layout => 'datasketches') + 2));
CREATE FUNCTION damaged(at int, bytes bytea) RETURNS bloomfilter LANGUAGE sql AS $$
  SELECT bf_from_datasketches(overlay(counted PLACING bytes FROM at + 1), 'long') FROM files $$;
SELECT bf_from_datasketches('', 'long');
SELECT bf_from_datasketches(substr(counted, 1, 31), 'long') FROM files;
SELECT bf_from_datasketches(substr(counted, 1, 1231), 'long') FROM files;
SELECT bf_from_datasketches(counted || '\x00', 'long') FROM files;
SELECT bf_from_datasketches(bf_to_datasketches(bf_create(10, layout => 'datasketches')) || '\x00',
  'long');
SELECT damaged(0, '\x03');
SELECT damaged(1, '\x02');
SELECT damaged(2, '\x07');
SELECT damaged(3, '\x04');
SELECT damaged(3, '\x08');
SELECT damaged(4, '\x0000');
SELECT damaged(4, '\x0007');
SELECT damaged(4, '\x0001');
SELECT damaged(6, '\x01');
SELECT damaged(16, '\x00000000');
SELECT damaged(16, '\x00000096');
SELECT damaged(16, '\x97');
SELECT damaged(24, '\x00');
SELECT damaged(32, '\x00');
SELECT bf_from_datasketches('\x030115040700000000000000000000000000000000000000', 'long');
SELECT bf_from_datasketches('\x030115040700000000000000000000000100000400000000', 'long');
SELECT bf_from_datasketches(counted, 'integer') FROM files;
SELECT bf_from_datasketches(NULL, 'long') IS NULL AS "null";
