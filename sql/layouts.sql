-- Layouts of other systems: everything that a filter can do, in each layout with each element type.
-- test/t/013_interop.pl tests the bytes with the systems themselves.
CREATE SCHEMA layouts;
SET search_path = layouts, public;
SET extra_float_digits = 0;
SET bloomfilter.scan = off; -- sql/build.sql tests Bloom Filter Build
\i sql/include/outcome.sql

CREATE TABLE kinds (layout text, value text);
INSERT INTO kinds
SELECT layout || mitz, value
FROM (VALUES ('guava', 'i'), ('guava', '(-i)::bigint << 33'), ('guava', '''value '' || i'),
    ('guava', 'decode(md5(i::text), ''hex'')'), ('guava_integer', '-i'),
    ('guava_integer', 'i::bigint'), ('guava_chars', '''été '' || i')) g(layout, value),
  unnest('{"", _mitz32}'::text[]) mitz
UNION ALL VALUES
  ('parquet', 'i::bigint << 32'), ('parquet', 'i'), ('parquet', '''value '' || i'),
  ('parquet', 'i::text::varchar'), ('parquet', 'decode(md5(i::text), ''hex'')'),
  ('parquet', 'md5(i::text)::uuid'), ('parquet', 'i / 7.0::float8'),
  ('parquet', 'timestamp ''1999-12-31'' + i * interval ''1 second'''),
  ('parquet', 'timestamptz ''1970-01-01 00:00+00'' + i * interval ''1 second'''),
  ('parquet', 'time ''00:00'' + i * interval ''1 second'''), ('parquet_int32', 'i'),
  ('parquet_int32', 'i::smallint'), ('parquet_int32', 'date ''1969-12-31'' + i'),
  ('parquet_float', 'i::float4 / 4'), ('parquet_float', 'i::float8 * 2 - 1'),
  ('redis', 'i'), ('redis', '(-i)::bigint << 33'), ('redis', '''value '' || i'),
  ('redis', 'i::text::varchar'), ('redis', 'i::text::name'),
  ('redis', 'decode(md5(i::text), ''hex'')'),
  ('spark', 'i'), ('spark', '(-i)::bigint << 33'), ('spark', '''été '' || i'),
  ('spark', 'decode(md5(i::text), ''hex'')'), ('spark_v2', 'i'), ('spark_v2', '(-i)::bigint << 33'),
  ('spark_v2', '''été '' || i'), ('spark_v2', 'decode(md5(i::text), ''hex'')'),
  ('datasketches', 'i'), ('datasketches', '(-i)::bigint << 33'),
  ('datasketches', 'i / 7.0::float8'),
  ('datasketches', 'i::float4 / 4'), ('datasketches', '''été '' || i'),
  ('datasketches', 'decode(md5(i::text), ''hex'')'),
  ('hive', 'i'), ('hive', '(-i)::bigint << 33'), ('hive', 'i / 7.0::float8'),
  ('hive', 'i::float4 / 4'), ('hive', '''été '' || i'), ('hive', 'decode(md5(i::text), ''hex'')');

-- Returns what is wrong, or NULL. The filter contains the values for i from 1 to 1000.
CREATE FUNCTION trouble(layout text, value text, OUT trouble text) LANGUAGE plpgsql AS $$
DECLARE
  test text;
BEGIN
  EXECUTE format($q$
    CREATE TEMP TABLE t AS
    SELECT bf_agg(%1$s, 1000, 0.01, %2$L) AS f,
      bf_agg(%1$s, 1000, 0.01, %2$L) FILTER (WHERE i <= 600) AS a,
      bf_agg(%1$s, 1000, 0.01, %2$L) FILTER (WHERE i > 400) AS b,
      bf_agg(%1$s, 2500, 0.01, %2$L) AS larger,
      bf_create(1000, 0.01, layout => %2$L) AS empty, array_agg(%1$s ORDER BY i) AS list
    FROM generate_series(1, 1000) i$q$, value, layout);
  EXECUTE format('CREATE TEMP TABLE others AS SELECT %s AS v FROM generate_series(10001, 14000) i',
    value);
  FOREACH test IN ARRAY ARRAY[
    'bf_check(f) IS NULL',
    '(bf_info(f)).layout = ' || quote_literal(layout),
    'bf_contains_all(f, list)',
    'false <> ALL (bf_contains_each(f, list))',
    '(SELECT bool_and(f @> v AND v <@ f) FROM unnest(list) v)',
    'bf_add_all(empty, list) = f',
    'empty + list[1] + list[2] = bf_add_all(empty, list[1:2])',
    'f + list[7] = f',
    'NOT bf_contains_any(empty, list)',
    'NOT empty @> list[1]',
    '(bf_put(empty, list[1])).was_new',
    'NOT (bf_put(f, list[1])).was_new',
    'a | b = f',
    'b | a = f',
    'f | f = f',
    'f | empty = f',
    '(SELECT bf_union_agg(x) FROM unnest(ARRAY[a, b, empty, NULL]) x) = f',
    'bf_contains_all(a & b, list[401:600])',
    'bf_check(a & b) IS NULL',
    'bf_compatible(a, b)',
    'bf_contains_all(f | larger, list)',
    '(bf_info(a | larger)).links = 2',
    'bf_check(a | larger) IS NULL',
    'bf_contains_each(a | larger, list) = bf_contains_each(larger | a, list)',
    'a | larger = larger | a',
    'f::text::bloomfilter = f',
    'f::bytea::bloomfilter = f',
    '(f | larger)::bytea::bloomfilter = f | larger',
    'bf_clear(f) + list[1] = empty + list[1]',
    '(bf_info(bf_clear(f))).element_type = (bf_info(f)).element_type',
    'bf_count(f) BETWEEN 950 AND 1050',
    'bf_union_count(a, b) BETWEEN 950 AND 1050',
    'bf_intersect_count(a, b) BETWEEN 150 AND 250',
    'bf_union_count(a, b) = bf_count(a | b)',
    'NOT (bf_info(f)).saturated',
    'bf_fpr(f) < 0.013',
    '(SELECT abs(avg((f @> v)::int) - bf_fpr(f)) < 0.008 FROM others)',
    '(SELECT abs(avg((larger @> v)::int) - bf_fpr(larger)) < 0.008 FROM others)',
    'bf_contains_all(half, list)',
    'bf_check(half) IS NULL',
    '(bf_info(half)).bytes <= bytes / 2',
    '(SELECT bf_union_agg(bf_fold(x, bytes / 2)) FROM unnest(ARRAY[a, b]) x) = half'
  ] LOOP
    EXECUTE format('SELECT CASE WHEN (%s) IS NOT TRUE THEN %L END
      FROM t, LATERAL (SELECT (bf_info(f)).bytes AS bytes) i,
        LATERAL (SELECT bf_fold(f, bytes / 2) AS half) h', test, test) INTO trouble;
    EXIT WHEN trouble IS NOT NULL;
  END LOOP;
  DROP TABLE t, others;
END $$;
SET bloomfilter.overfill = ignore;
SELECT count(*) AS kinds, count(DISTINCT layout) AS layouts,
  array_agg(concat_ws(', ', layout, value, trouble)) FILTER (WHERE trouble IS NOT NULL) AS troubles
FROM kinds, trouble(layout, value);
RESET bloomfilter.overfill;

-- Element types, as the layout knows them. Parquet does not distinguish the types of byte strings.
SELECT v.layout, element_type, seed, expected, target_fpr, hashes, bits, saturated
FROM (VALUES (bf_create(100, 0.001, layout => 'guava') + 5),
    (bf_create(100, layout => 'guava') + 'x'::text),
    (bf_create(100, layout => 'guava_chars_mitz32')),
    (bf_create(100, layout => 'parquet') + 'x'::text),
    (bf_create(100, 0.05, layout => 'parquet') + '\x00'::bytea),
    (bf_create(100, layout => 'parquet_int32') + date '2000-01-01')) f(f),
  bf_info(f) v;
SELECT f @> 'x'::text AS "has the text",
  f @> 'x'::bytea AS "has it as bytes",
  f @> 'x' AS "has the literal",
  f @> 'y' AS "has another text",
  f @> 'x'::char(5) AS "has it as char",
  f + 'y'::bytea @> 'y'::text AS "bytes are added as text"
FROM (SELECT bf_create(100, layout => 'parquet') + 'x'::text AS f) x \gx
-- A varchar equals a char(n) without its trailing blanks.
SELECT f @> 'a '::varchar AS "has the varchar",
  f @> 'a '::text AS "has it as text",
  f @> 'a'::char(5) AS "has it as char"
FROM (SELECT bf_create(100, layout => 'guava') + 'a '::varchar AS f) x \gx
-- A literal is read as the element type.
SELECT bf_create(10, layout => 'guava') + 5 @> '5' AS "an integer of Guava",
  bf_create(10, layout => 'guava') + '5' @> '5'::text AS "a text of Guava",
  bf_create(10, layout => 'parquet') + 0.5::float8 @> '0.5' AS "a float of Parquet",
  bf_create(10, layout => 'guava') + '\x05'::bytea @> '\x05' AS "bytes of Guava" \gx

-- A literal for a byte string is read as every type that it can be. It is found if one of its
-- readings is found.
SELECT u + '\x4142'::bytea @> '\x4142' AS "has the bytes",
  u + 'AB'::text @> 'AB' AS "has the text",
  u + 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid
    @> 'A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11' AS "has the uuid",
  u + 'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
    @> 'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid AS "an empty filter adds a uuid",
  u + 'x'::text + 'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
    @> 'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid AS "a filter of text adds a uuid",
  u + 'x'::text @> '\x4' AS "has an odd digit",
  u + 'x'::text @> '\xyz' AS "has other digits",
  u + '\x4142'::bytea @> '\x4143' AS "has other bytes"
FROM (SELECT bf_create(100, layout => 'parquet') AS u) x \gx
PREPARE asked AS SELECT bf_agg(id, 1000, 0.01, 'parquet') @> $1
  FROM unnest('{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'::uuid[]) id;
EXECUTE asked ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11');
-- All readings under which SQL calls a literal equal to a member: trailing blanks of char(n), names
-- cut to 63 bytes, the two forms and the white space of bytea, and the forms of uuid.
CREATE FUNCTION ask(type text, member text, literal text,
                    OUT equal boolean, OUT parquet boolean, OUT lines boolean)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format($q$
    SELECT m = %3$L, bf_agg(m, 10, 1e-6, 'parquet') @> %3$L, bf_agg(m, 10, 1e-6) @> %3$L
    FROM (SELECT %2$L::%1$s AS m) x GROUP BY m$q$, type, member, literal)
  INTO STRICT equal, parquet, lines;
END $$;
SELECT type, left(literal, 40) AS literal, a.* FROM (VALUES
  ('char(5)', 'a', 'a '),
  ('char(5)', 'a', 'a    '),
  ('name', repeat('n', 63), repeat('n', 70)),
  ('bytea', 'ab', 'ab'),
  ('bytea', 'ab', '\141b'),
  ('bytea', 'a\\', '\x615c'),
  ('bytea', 'a\\', 'a\\'),
  ('bytea', 'ab', '\x61 62'),
  ('bytea', 'ab', e'\\x 61\t62\n'),
  ('bytea', '\x', '\x'),
  ('bytea', '\377\000', '\xFF00'),
  ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{a0eebc999c0b4ef8bb6d6bb9bd380a11}'),
  ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EE-BC99-9C0B-4EF8-BB6D-6BB9-BD38-0A11')
) v(type, member, literal), LATERAL ask(type, member, literal) a;
-- A literal that has none of these forms is text, and no error.
SELECT count(*) AS texts, bool_and(equal) AS equal, bool_and(parquet) AS parquet,
  bool_and(lines) AS lines
FROM unnest(ARRAY['-0123456789abcdef0123456789abcdef', '{0123456789abcdef0123456789abcdef',
    '0123456789abcdef0123456789abcde-f', '0123456789abcdef0123456789abcdef}',
    '0123456789abcdef0123456789abcdef-', '0123456789abcdef0123456789abcdef0', '\xa', '\x6 1',
    '\xag', '\', '\4', '\41', '\400', '\418', 'a\', '', '{}', '{', '5 0', '99999999999999999999',
    '-', '+', ' ']) literal,
  ask('text', literal, literal) \gx
-- Integers of RedisBloom are text, too: '007' is 7 to SQL.
SELECT f @> '7' AS "finds 7",
  f @> '007' AS "finds 007",
  f @> ' +7 ' AS "finds +7 with blanks",
  f @> '7.0' AS "finds 7.0",
  f @> '8' AS "finds 8",
  f @> '9223372036854775808' AS "finds a number too large",
  f + '008' @> 8 AS "adds 008 as 8"
FROM (SELECT bf_from_redis('\xe503000000000000010000000d00000002000000'
      'b0040000000000008025000000000000e5030000000000007b14ae47e17a843f'
      '88168ac58c2b234007000000e80300000000000000', ARRAY[decode(repeat('00', 1200), 'hex')])
    + 7 AS f) x \gx
-- One call site gets filters of many layouts.
SELECT count(*) FILTER (WHERE f @> '77') AS found, count(*)
FROM (SELECT CASE i % 4 WHEN 0 THEN bf_create(100, layout => 'guava')
      WHEN 1 THEN bf_create(100, layout => 'guava_integer') WHEN 2 THEN bf_create(100)
      ELSE bf_create(100, layout => 'parquet') END + 77 AS f
    FROM generate_series(1, 40) i OFFSET 0) x;
-- Each varchar has both its hashes, also in rows after the first.
SELECT bool_and(f @> v) AS varchar, bool_and(f @> v::text) AS text,
  bool_and(f @> v::char(5)) AS char
FROM (SELECT bf_agg(v, 100, 0.01, 'parquet') AS f FROM unnest('{"a ","b ","c"}'::varchar[]) v) x,
  unnest('{"a ","b ","c"}'::varchar[]) v \gx
SELECT bf_create(10, layout => 'parquet_float') + 0.5::float8 + '0.1' @> 0.1::float4
  AS literal_float4;

-- Both zeros, and every NaN, are found. Only the given value is added.
SELECT (bf_info(bf_create(10, layout => 'parquet') + 0::float8)).bits_set AS "bits of 0",
  (bf_info(bf_agg(x, 10, 0.01, 'parquet'))).bits_set AS "bits of -0",
  bf_agg(x, 10, 0.01, 'parquet') @> 0::float8 AS "-0 is found as 0",
  bf_agg(x, 10, 0.01, 'parquet') = bf_create(10, layout => 'parquet') + 0::float8
    AS "-0 is added as 0"
FROM unnest('{-0}'::float8[]) x \gx
SELECT f @> '-0'::float8 AS "-0 is found",
  f @> 0::float4 AS "0 is found as float4",
  f @> 'NaN'::float8 AS "NaN is found",
  f @> 1::float8 AS "1 is found",
  bf_contains_each(f, '{NaN, 0, 2}'::float8[])
FROM (SELECT bf_create(10, layout => layout) + 0::float8 AS f
    FROM unnest('{parquet, parquet_float}'::text[]) layout) x \gx
SELECT bf_create(10, layout => 'parquet') + 'NaN'::float8 <> bf_create(10, layout => 'parquet')
  AS nan_sets_bits;
-- A number outside the type's range cannot be in the set, and cannot be added.
SELECT f @> 5000000000 AS "too large is found",
  f @> -5::bigint AS "too small is found",
  bf_contains_each(f, '{5000000000, -5}'::bigint[])
FROM (SELECT bf_create(10, layout => layout) + -5 AS f
    FROM unnest('{guava_integer, parquet_int32}'::text[]) layout) x;
-- An INT32 of Parquet may be unsigned: it has the same 32 bits.
SELECT v,
  f @> v AS "found as signed",
  f @> (v + 4294967296) AS "found as unsigned",
  f = bf_create(100, layout => 'parquet_int32') + (v + 4294967296) AS "added as unsigned, the same",
  bf_create(100, layout => 'guava_integer') + v @> (v + 4294967296) AS "Guava, unsigned"
FROM unnest('{-1, -294967296, -2147483648}'::bigint[]) v,
  LATERAL (SELECT bf_create(100, layout => 'parquet_int32') + v AS f) x;
SELECT f @> 4294967295 AS "the largest is found",
  f @> 4294967296 AS "one beyond is found",
  f @> -4294967295 AS "one below is found",
  f @> '4294967295' AS "the literal is found",
  bf_contains_each(f, '{4294967295, 4294967296, -2147483649}'::bigint[]),
  bf_create(10, layout => 'parquet_int32') + 4294967295 = f AS "the largest is -1"
FROM (SELECT bf_create(10, layout => 'parquet_int32') + -1 AS f) x \gx
SELECT bf_create(10, layout => 'parquet_int32') + 4294967296;
SELECT bf_create(10, layout => 'guava_integer') + 2147483648;
SELECT bf_create(10, layout => 'parquet_float') + 0.5::float8 @> 0.1::float8 AS double;
SELECT bf_create(10, layout => 'guava_integer') + 5000000000;
SELECT bf_agg(0.1::float8, 10, 0.01, 'parquet_float');
SELECT bf_add_all(bf_create(10, layout => 'parquet_int32'), '{-2147483649}'::bigint[]);

-- Parameters of the aggregate.
SELECT bf_agg(i, 100, 0.01, 'lines') = bf_agg(i, 100) AS "lines is the default",
  bf_agg(i, 100, 0.01, NULL) = bf_agg(i, 100) AS "NULL is the default",
  bf_agg(i, 100, NULL, 'guava') = bf_agg(i, 100, 0.01, 'guava') AS "NULL rate is the default",
  bf_agg(NULL::int, 100, 0.01, 'guava') = bf_create(100, layout => 'guava')
    AS "of NULL alone it is empty",
  (bf_info(bf_agg(i, 100, 0.01, 'guava') FILTER (WHERE false))).layout AS of_nothing
FROM generate_series(1, 100) i \gx
SELECT bf_agg(i, NULL, 0.01, 'guava') FROM generate_series(1, 3) i;
SELECT bf_agg(i, 10, 0.01, CASE i WHEN 1 THEN 'guava' ELSE 'parquet' END)
FROM generate_series(1, 2) i;
SELECT bf_agg(i, 10 * i, 0.01, 'guava') FROM generate_series(1, 2) i;
SELECT bf_agg(i, 10, 0.01, 'no such') FROM generate_series(1, 2) i;

-- A parallel plan gives the same bytes.
CREATE TABLE numbers AS SELECT generate_series(1, 20000) AS i;
ALTER TABLE numbers SET (parallel_workers = 2);
ANALYZE numbers;
SELECT layout, md5(bf_agg(i, 20000, 0.01, layout)::bytea) AS serial INTO serial
FROM numbers,
  unnest('{guava, guava_integer_mitz32, parquet, parquet_int32, redis, spark_v2,
    datasketches, hive}'::text[]) layout
GROUP BY layout;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT bf_agg(i, 20000, 0.01, 'guava') FROM numbers;
SELECT md5(bf_agg(i, 20000, 0.01, 'guava')::bytea)
    = (SELECT serial FROM serial WHERE layout = 'guava') AS guava,
  md5(bf_agg(i, 20000, 0.01, 'guava_integer_mitz32')::bytea)
    = (SELECT serial FROM serial WHERE layout = 'guava_integer_mitz32') AS guava_integer_mitz32,
  md5(bf_agg(i, 20000, 0.01, 'parquet')::bytea)
    = (SELECT serial FROM serial WHERE layout = 'parquet') AS parquet,
  md5(bf_agg(i, 20000, 0.01, 'parquet_int32')::bytea)
    = (SELECT serial FROM serial WHERE layout = 'parquet_int32') AS parquet_int32,
  md5(bf_agg(i, 20000, 0.01, 'redis')::bytea)
    = (SELECT serial FROM serial WHERE layout = 'redis') AS redis,
  md5(bf_agg(i, 20000, 0.01, 'spark_v2')::bytea)
    = (SELECT serial FROM serial WHERE layout = 'spark_v2') AS spark_v2,
  md5(bf_agg(i, 20000, 0.01, 'datasketches')::bytea)
    = (SELECT serial FROM serial WHERE layout = 'datasketches') AS datasketches,
  md5(bf_agg(i, 20000, 0.01, 'hive')::bytea)
    = (SELECT serial FROM serial WHERE layout = 'hive') AS hive
FROM numbers \gx
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- Filters are written and read back.
SELECT bf_from_guava(bf_to_guava(f), 'long') @> 5 AS "member is found",
  bf_to_guava(bf_from_guava(bf_to_guava(f), 'long')) = bf_to_guava(f) AS "written again, the same",
  i.layout, element_type, expected, links,
  bf_from_guava(bf_to_guava(f), 'long') | f @> 5 AS "united, member is found"
FROM (SELECT bf_create(100, layout => 'guava') + 5 AS f) x,
  bf_info(bf_from_guava(bf_to_guava(f), 'long')) i \gx
SELECT type, f @> 'x' AS literal, layout, element_type
FROM (SELECT bf_to_parquet(bf_create(100, layout => 'parquet') + 'x'::text) AS file) x,
  unnest('{BYTE_ARRAY, fixed_len_byte_array}'::text[]) type,
  LATERAL (SELECT bf_from_parquet(file, type) AS f) y, bf_info(f);
SELECT type, layout, element_type
FROM (SELECT bf_to_parquet(bf_create(100, layout => 'parquet')) AS file) x,
  unnest('{INT32, INT64, FLOAT, DOUBLE, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, UUID,
    timestamptz}'::text[]) type,
  bf_info(bf_from_parquet(file, type));
-- Logical types. They are probed with SQL's types, but the bits are those of the underlying number.
CREATE FUNCTION imported(filter bloomfilter, type text) RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_from_parquet(bf_to_parquet(filter), type)';
CREATE FUNCTION microseconds(t timestamptz) RETURNS bigint LANGUAGE sql AS
  'SELECT (extract(epoch FROM t) * 1000000)::bigint';
SELECT imported(int32 + (date '2024-01-31' - date '1970-01-01'), 'DATE') @> date '2024-01-31'
    AS "DATE",
  imported(int64 + microseconds(now()), 'TIMESTAMPTZ') @> now() AS "TIMESTAMPTZ",
  imported(int64 + microseconds(timestamptz '2024-01-31 12:34:56.789+00'), 'TIMESTAMP')
    @> timestamp '2024-01-31 12:34:56.789' AS "TIMESTAMP",
  imported(int64 + 45296789000, 'TIME') @> time '12:34:56.789' AS "TIME",
  imported(int64 + '\xa0eebc999c0b4ef8bb6d6bb9bd380a11'::bytea, 'UUID')
    @> uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' AS "UUID",
  int64 + -616 @> (18446744073709551000 - 18446744073709551616)::bigint AS "UINT_64"
FROM (SELECT bf_create(10, layout => 'parquet_int32') AS int32,
    bf_create(10, layout => 'parquet') AS int64) x \gx
SELECT bf_from_guava(bf_to_guava(bf_create(10, layout => 'guava')), 'double');
SELECT bf_from_parquet(bf_to_parquet(bf_create(10, layout => 'parquet')), 'INT96');
SELECT bf_to_guava(bf_create(10));
SELECT bf_to_parquet(bf_create(10, layout => 'guava'));
SELECT bf_to_guava((bf_create(10, layout => 'guava') + 1)
    | (bf_create(1000, layout => 'guava') + 2));
SELECT bf_to_parquet(bf_from_parquet('\x15' || '\xc001'::bytea
      || '\x1c1c00001c1c00001c1c000000'::bytea || decode(repeat('00', 96), 'hex'), 'INT32'));

-- A union keeps imported filters as separate links. When the union is written, links of one size
-- are OR-ed, as the other systems do.
SELECT links,
  bf_to_guava(u) = bf_to_guava(bf_create(100, layout => 'guava') + 5 + 6)
    AS "written as one filter",
  bf_to_guava(u | a) = bf_to_guava(u) AS "adds nothing again",
  (bf_info(a | a)).links AS itself
FROM (SELECT bf_from_guava(bf_to_guava(bf_create(100, layout => 'guava') + 5), 'long') AS a,
    bf_from_guava(bf_to_guava(bf_create(100, layout => 'guava') + 6), 'long') AS b) f,
  LATERAL (SELECT a | b AS u OFFSET 0) x, bf_info(u) \gx
-- If there are more imported filters than a value can have links, those of one size are OR-ed, as
-- the other systems do. No member is lost.
CREATE TABLE row_groups AS
  SELECT g, imported(bf_agg(i, n, 0.01, 'parquet'), 'INT64') AS f
  FROM generate_series(1, 150) g, generate_series(10 * g, 10 * g + 50) i,
    LATERAL (SELECT CASE WHEN g % 10 = 0 THEN 900 ELSE 100 END AS n) n
  GROUP BY g;
SELECT i.links,
  i.bits = s.bits AS "a link of each size",
  i.expected,
  bf_check(u) IS NULL AS "is sound",
  (SELECT count(*) FROM generate_series(10, 700) i WHERE NOT u @> i) AS denied,
  bf_union(u, u) = u AS "united with itself, the same",
  u | f = u AS "adds nothing again"
FROM (SELECT bf_union_agg(f ORDER BY g) AS u FROM row_groups WHERE g <= 65) u, bf_info(u) i,
  (SELECT sum(bits) AS bits FROM (SELECT DISTINCT bits FROM row_groups, bf_info(f)) b) s,
  row_groups
WHERE g = 1 \gx
SELECT bf_check(u) IS NULL AS "is sound",
  (SELECT count(*) FROM generate_series(10, 1550) i WHERE NOT u @> i) AS denied,
  (SELECT bool_and(u | f @> 10 * g) FROM row_groups) AS "more are found",
  u | u = u AS "united with itself, the same"
FROM (SELECT bf_union_agg(f ORDER BY g) AS u FROM row_groups) u \gx
SELECT (bf_info(bf_union_agg(f))).links FROM row_groups WHERE g < 65;
-- One link is on both sides of the union. It has a size that was asked for, and it holds the
-- members of both sides.
SELECT bf_check(u) IS NULL AS "is sound", links,
  (SELECT count(*) FROM generate_series(-40, 710) i
   WHERE i NOT BETWEEN 1 AND 9 AND NOT u @> i) AS denied
FROM (SELECT ((SELECT bf_agg(i, 900, 0.01, 'parquet') FROM generate_series(-20, 0) i)
      | bf_union_agg(f ORDER BY g) FILTER (WHERE g <= 35))
    | ((SELECT bf_agg(i, 900, 0.01, 'parquet') FROM generate_series(-40, -21) i)
      | bf_union_agg(f ORDER BY g) FILTER (WHERE g > 35)) AS u
  FROM row_groups WHERE g <= 66) s, bf_info(u) \gx
SELECT bf_union_agg(f)
FROM (SELECT bf_agg(i) AS f
    FROM generate_series(1, 70) g, generate_series(100 * g, 100 * g + 50) i GROUP BY g) s;
-- Values that are in several imports of one size are counted once.
CREATE FUNCTION file_of(layout text, first int, last int) RETURNS bloomfilter LANGUAGE sql AS $$
  SELECT CASE layout WHEN 'guava' THEN bf_from_guava(bf_to_guava(f), 'long')
    WHEN 'hive' THEN bf_from_hive(bf_to_hive(f), 'long')
    WHEN 'parquet' THEN imported(f, 'INT64') END
  FROM (SELECT bf_agg(i, 700, 0.01, layout) AS f FROM generate_series(first, last) i) s
$$;
SELECT u.layout, links,
  bf_count(u) BETWEEN 950 AND 1050 AS thousand,
  bf_union_count(a, b) = bf_count(u) AS two,
  bf_union_count(u, c) = bf_count(u | c) AS three,
  bf_intersect_count(u, c) BETWEEN 550 AND 650 AS common
FROM unnest('{guava,hive,parquet}'::text[]) l,
  LATERAL (SELECT file_of(l, 1, 600) AS a, file_of(l, 401, 1000) AS b,
    file_of(l, 201, 800) AS c) f,
  LATERAL (SELECT a | b AS u OFFSET 0) x, bf_info(u) u;
-- A union with a filter of no rows keeps its layout, and can be written as a file.
SELECT layout, bf_to_guava(f) = bf_to_guava(bf_create(10, layout => 'guava')) AS written
FROM (SELECT bf_create(10, layout => 'guava') | bf_agg(i, 10, 0.01, 'guava') AS f
    FROM generate_series(1, 0) i) x, bf_info(f);

-- Bytes that are no filter.
SELECT bf_from_guava('\x01', 'long');
SELECT bf_from_guava('\x020100000001' || decode(repeat('00', 8), 'hex'), 'long');
SELECT bf_from_guava('\x010000000001' || decode(repeat('00', 8), 'hex'), 'long');
SELECT bf_from_guava('\x010100000002' || decode(repeat('00', 8), 'hex'), 'long');
SELECT bf_from_guava('\x0101ffffffff' || decode(repeat('00', 8), 'hex'), 'long');
SELECT bf_from_parquet('\x', 'INT32');
SELECT bf_from_parquet('\x15401c2c00001c1c00001c1c000000' || decode(repeat('00', 32), 'hex'),
    'INT32');
SELECT bf_from_parquet('\x15401c1c00001c1c00001c1c000000' || decode(repeat('00', 31), 'hex'),
    'INT32');
SELECT bf_from_parquet('\x15421c1c00001c1c00001c1c000000' || decode(repeat('00', 33), 'hex'),
    'INT32');
-- A header may have further fields, but it is short.
SELECT bytes, bf_count(bf_from_parquet('\x15401c1c00001c1c00001c1c000019f3' || count
  || decode(repeat('00', bytes), 'hex') || '\x00' || decode(repeat('00', 32), 'hex'), 'INT32'))
FROM (VALUES (3, '\x03'::bytea)) v (bytes, count);
SELECT bf_from_parquet('\x15401c1c00001c1c00001c1c000019f3f0a204'
  || decode(repeat('00', 70000), 'hex') || '\x00' || decode(repeat('00', 32), 'hex'), 'INT32');
-- If there are more or fewer bytes than the filter has, the error says how many it has.
SELECT bf_from_parquet(bf_to_parquet(bf_create(1000, layout => 'parquet'))
    || decode(repeat('00', 936), 'hex'), 'INT32');
SELECT bf_from_parquet(substr(bf_to_parquet(bf_create(1000, layout => 'parquet')), 1, 1000),
    'INT32');
SELECT bf_from_redis('\x00', '{}');
SELECT bf_from_redis(NULL, '{}') IS NULL AS "null",
  bf_from_guava(NULL, 'long') IS NULL AS null_guava;
SELECT bf_from_redis('\x00', ARRAY[NULL]::bytea[]);
-- A dump of two links, of 8 and 24 bytes. It is changed in ways that RedisBloom itself refuses,
-- too.
CREATE TABLE dump AS
SELECT '\x0200000000000000020000000500000002000000'
    '080000000000000040000000000000000100000000000000'
    '000000000000d03f04832b6547150740030000000100000000000000'
    '001800000000000000c0000000000000000100000000000000'
    '000000000000c03f42a2e08bf54f114004000000020000000000000000'::bytea AS header,
  ARRAY['\x0700000000000000', decode(repeat('00', 22) || '0f00', 'hex')]::bytea[] AS chunks;
SELECT layout, links, bits_set, hashes, target_fpr
FROM dump, bf_info(bf_from_redis(header, chunks));
SELECT bf_from_redis(header, ARRAY[chunks[2], chunks[1]]) FROM dump;
SELECT bf_from_redis(header, ARRAY[chunks[1] || chunks[2]]) FROM dump;
SELECT bf_from_redis(header, chunks[1:1]) FROM dump;
SELECT bf_from_redis(header, chunks || '\x00'::bytea) FROM dump;
SELECT bf_from_redis(set_byte(header, 12, 21), chunks) FROM dump;
SELECT bf_from_redis(set_byte(header, 20 + 40, 7), chunks) FROM dump;
SELECT bf_from_redis(set_byte(header, 20 + 31, 191), chunks) FROM dump;
SELECT bf_from_redis(set_byte(header, 20 + 16, 2), chunks) FROM dump;
SELECT bf_from_redis('\x00000000000000000100000004000000' || decode(repeat('00', 49), 'hex'),
    chunks)
FROM dump;

-- Filters are written for RedisBloom. test/t/013_interop.pl compares them with its own bytes.
SELECT bf_to_redis(bf_create(10));
SELECT bf_to_redis(bf_create(10, layout => 'guava'));
SELECT header IS NULL AS "no header of NULL",
  chunks IS NULL AS "no chunks of NULL"
FROM bf_to_redis(NULL) \gx
SELECT header, chunks FROM bf_to_redis(bf_create(1, 0.5, layout => 'redis') + 'x'::text) \gx
SELECT r.header = dump.header AS "header is the one that was read",
  r.chunks = dump.chunks AS "chunks are those that were read"
FROM dump, bf_to_redis(bf_from_redis(dump.header, dump.chunks)) r \gx
-- Reads little-endian numbers of the header: values, options, and for each link its bytes, values
-- and capacity.
CREATE FUNCTION number_at(bytes bytea, at int, size int) RETURNS bigint LANGUAGE sql AS $$
  SELECT sum(get_byte(bytes, at + i)::bigint << 8 * i)::bigint FROM generate_series(0, size - 1) i
$$;
CREATE FUNCTION header_of(filter bloomfilter,
  OUT "values" bigint, OUT options bigint, OUT links text, OUT chunks text) LANGUAGE sql AS $$
  SELECT number_at(header, 0, 8), number_at(header, 12, 4),
    (SELECT string_agg(concat_ws('/', number_at(header, at, 8), number_at(header, at + 16, 8),
        number_at(header, at + 44, 8)), ' ' ORDER BY at)
      FROM generate_series(20, octet_length(header) - 53, 53) at),
    (SELECT string_agg(octet_length(chunk)::text, ' ' ORDER BY number)
      FROM unnest(chunks) WITH ORDINALITY c(chunk, number))
  FROM bf_to_redis(filter) $$;
SET bloomfilter.overfill = ignore;
CREATE TABLE written AS
SELECT bf_agg(i, 1000, 0.01, 'redis') FILTER (WHERE i <= 300) AS f,
  bf_agg(i, 100, 0.1, 'redis') FILTER (WHERE i > 900) AS small,
  bf_agg(i, 10, 0.01, 'redis') AS overfilled,
  bf_create(14003165, 0.01, layout => 'redis') + 7 AS large
FROM generate_series(1, 1000) i;
SELECT what, h.*
FROM written, LATERAL (VALUES ('filter', f), ('overfilled', overfilled), ('fold', bf_fold(f, 800)),
    ('cleared', bf_clear(f)), ('large', large), ('union', f | small), ('common', f & f),
    ('large union', large | f)) v(what, filter),
  header_of(filter) h;
-- After it was read back, the filter has the same values. It counts as self-sized.
SELECT bf_contains_all(read, ARRAY(SELECT generate_series(1, 300))) AS "has all members",
  bf_to_redis(read) = bf_to_redis(f) AS "written again, the same",
  i.layout, element_type, expected, target_fpr, hashes, i.links,
  read @> '0300' AS "has a literal with zeros",
  bf_create(10, layout => 'redis') | read @> 300 AS "united, has a member"
FROM written, bf_to_redis(f) r,
  LATERAL (SELECT bf_from_redis(r.header, r.chunks) AS read) x, bf_info(read) i \gx
SELECT bf_contains_all(read, ARRAY(SELECT generate_series(1, 300))) AS "has those of one",
  bf_contains_all(read, ARRAY(SELECT generate_series(901, 1000))) AS "has those of the other",
  bf_to_redis(read) = bf_to_redis(f | small) AS "written again, the same",
  (bf_info(read)).links
FROM written, bf_to_redis(f | small) r,
  LATERAL (SELECT bf_from_redis(r.header, r.chunks) AS read) x \gx
SELECT bf_to_redis(read) = bf_to_redis(large) AS "a large one written again, the same"
FROM written, bf_to_redis(large) r,
  LATERAL (SELECT bf_from_redis(r.header, r.chunks) AS read) x \gx
SELECT bf_to_redis(bf_create(100, layout => 'redis'))
  = bf_to_redis(bf_from_redis(header, chunks)) AS "an empty one written again, the same"
FROM bf_to_redis(bf_create(100, layout => 'redis')) \gx
-- If the capacity is unknown, one is written with which RedisBloom loads the filter.
SELECT (bf_info(f)).expected, h.*
FROM bf_to_redis(bf_create(1000, layout => 'redis')) r,
  bf_from_redis(set_byte(r.header, 20 + 44 + 7, 1), r.chunks) f, header_of(f) h;
-- The same in a window.
SELECT count(*), bool_and(w @> i) AS "each row is in its window's filter"
FROM (SELECT i, bf_agg(i, 20, 0.01, 'redis') OVER (ORDER BY i) AS w
  FROM generate_series(1, 20) i) x \gx
RESET bloomfilter.overfill;

-- Layouts cannot be mixed. Those of other systems take no hashes, do not grow and have no seeds.
SELECT (bf_create(10, layout => 'guava') + 1) | (bf_create(10) + 1);
SELECT (bf_create(10, layout => 'guava') + 1) & (bf_create(10, layout => 'guava_mitz32') + 1);
SELECT bf_union_agg(f)
FROM (VALUES (bf_create(10, layout => 'parquet') + 1),
    (bf_create(10, layout => 'parquet_int32') + 1)) v(f);
SELECT bf_compatible(bf_create(10, layout => 'guava'),
    bf_create(10, layout => 'guava_mitz32')) AS compatible;
SELECT (bf_create(10, layout => 'guava') + 1) | (bf_create(10, layout => 'guava') + '1'::text);
SELECT bf_create(10, layout => 'guava') + 1.5;
SELECT bf_create(10, layout => 'guava_chars') + 1;
SELECT bf_create(10, layout => 'guava') + 1 @> 'x'::bytea;
SELECT bf_add_hash(bf_create(10, layout => 'guava'), 1);
SELECT bf_contains_hash(bf_create(10, layout => 'parquet'), 1);
SELECT bf_create(10, grow => true, layout => 'guava');
SELECT bf_growable(bf_create(10, layout => 'parquet'));
SELECT bf_create(10, seed => 7, layout => 'guava');
SELECT bf_create(10, grow => true, layout => 'redis');
SELECT bf_create(10, layout => 'redis') + gen_random_uuid();
SELECT bf_agg(1.5, 10, 0.01, 'redis');
SELECT bf_agg(i, NULL, 0.01, 'redis') FROM generate_series(1, 3) i;
SELECT bf_create(10, layout => 'pages');
SELECT bf_create(1000000000, 0.01, layout => 'parquet');
SELECT bf_create(1000000000, 0.01, layout => 'guava');

-- Encodings of one layout. The byte of the family tells them apart, even in a filter without
-- values.
CREATE TABLE schemes AS SELECT layout, bf_create(100, layout => layout) AS empty, value FROM (VALUES
  ('guava', '5'), ('guava_integer', '5'), ('guava_chars', '''x''::text'),
  ('guava_mitz32', '5'), ('guava_integer_mitz32', '5'), ('guava_chars_mitz32', '''x''::text'),
  ('parquet', '5'), ('parquet_int32', '5'), ('parquet_float', '0.5::float4'),
  ('redis', '''x''::text'), ('spark', '5'), ('spark_v2', '5'),
  ('datasketches', '5'), ('hive', '5')) v(layout, value);
CREATE FUNCTION added(filter bloomfilter, value text, OUT result bloomfilter) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT $1 + %s', value) INTO result USING filter;
END $$;
SELECT layout, element_type, substr(empty::bytea, 1, 3) AS empty,
  substr(added(empty, value)::bytea, 1, 3) AS added
FROM schemes, LATERAL (SELECT element_type FROM bf_info(empty)) i
ORDER BY layout;

-- All functions that make filters from filters keep the encoding. Files do not have the encoding:
-- when a file is read, the funnel or the type names it.
CREATE FUNCTION kept(filter bloomfilter, layout text) RETURNS boolean LANGUAGE sql AS $$
  SELECT (bf_info(filter)).layout = layout AND bf_check(filter) IS NULL
    AND bf_compatible(filter, bf_create(100, layout => layout)) $$;
SELECT fact, count(*) AS layouts,
  string_agg(schemes.layout, ', ') FILTER (WHERE holds IS NOT TRUE) AS not_in
FROM schemes, added(empty, value) f, LATERAL (VALUES
  (1, 'cleared empty', kept(bf_clear(empty), layout)),
  (2, 'cleared', kept(bf_clear(f), layout)),
  (3, 'union', kept(empty | empty, layout)),
  (4, 'intersection of empty', kept(empty & empty, layout)),
  (5, 'intersection of empty and another', kept(empty & f, layout)),
  (6, 'intersection of another and empty', kept(f & empty, layout)),
  (7, 'bf_union_agg',
    kept((SELECT bf_union_agg(e) FROM unnest(ARRAY[empty, empty]) e), layout)),
  (8, 'bf_intersect_agg',
    kept((SELECT bf_intersect_agg(e) FROM unnest(ARRAY[empty, f, empty]) e), layout)),
  (9, 'from bytea', kept(empty::bytea::bloomfilter, layout)),
  (10, 'from bytea, the same', empty::bytea::bloomfilter = empty),
  (11, 'from text', kept(empty::text::bloomfilter, layout)),
  (12, 'folded', (bf_info(bf_fold(bf_create(10000, layout => layout), 1000))).layout = layout),
  (13, 'bf_agg of NULL, the same',
    (SELECT bf_agg(n, 100, 0.01, layout) FROM unnest('{NULL}'::int[]) n) = empty),
  (14, 'several links', (bf_info(empty | bf_create(1000, layout => layout) | f)).layout = layout)
) v(number, fact, holds)
GROUP BY number, fact ORDER BY number;
SELECT funnel, layout, element_type, kept(f, layout)
FROM unnest('{long, integer, string_utf8, unencoded_chars, bytes}'::text[]) funnel,
  LATERAL (SELECT bf_from_guava(bf_to_guava(bf_create(100, layout => 'guava_integer')), funnel)
    AS f) x,
  bf_info(f);
SELECT type, layout, element_type, kept(f, layout)
FROM unnest('{INT32, DATE, FLOAT, INT64}'::text[]) type,
  LATERAL (SELECT imported(bf_create(100, layout => 'parquet_float'), type) AS f) x, bf_info(f);
-- Integers or dates: the first value decides. In a union, the value of either filter decides.
SELECT (bf_info(e + 5)).element_type AS integers,
  (bf_info(e + date '2024-01-31')).element_type AS dates,
  (e | (e + date '2024-01-31')) @> date '2024-01-31' AS "dates are united",
  ((e + 5) | e) @> 5 AS "integers are united",
  (bf_info((e + 5) & e)).element_type AS intersection,
  (e & (e + 5)) + date '2024-01-31' @> date '2024-01-31' AS "intersection takes dates"
FROM (SELECT bf_create(100, layout => 'parquet_int32') AS e) x \gx
SELECT (bf_create(100, layout => 'parquet_int32') + 5)
  | (bf_create(100, layout => 'parquet_int32') + date '2024-01-31');

-- Two encodings have no hash in common, so a union of them is refused, even without values.
SELECT a.layout,
  string_agg(DISTINCT b.layout, ', ') FILTER (WHERE bf_compatible(x, y)) AS compatible,
  string_agg(DISTINCT outcome(format('SELECT %s(%L, %L)', function, x, y)), ', ')
    FILTER (WHERE a.layout <> b.layout) AS others
FROM schemes a, schemes b, unnest(ARRAY[a.empty, added(a.empty, a.value)]) x,
  unnest(ARRAY[b.empty, added(b.empty, b.value)]) y,
  unnest('{bf_union, bf_intersect, bf_union_count}'::text[]) function
GROUP BY a.layout ORDER BY a.layout;
SELECT bf_create(100, layout => 'guava') | bf_create(100, layout => 'guava_integer');
SELECT bf_create(100, layout => 'guava_chars_mitz32')
  | (bf_create(1000, layout => 'guava_integer_mitz32') + 5);
SELECT bf_create(100, layout => 'parquet') | bf_create(100, layout => 'parquet_int32');
SELECT bf_create(100, layout => 'parquet_float') & bf_create(100, layout => 'parquet');
SELECT bf_union_agg(f)
FROM unnest(ARRAY[bf_create(100, layout => 'parquet_int32'),
  bf_create(100, layout => 'parquet_float')]) f;
SELECT bf_agg(i, 10, 0.01, CASE i WHEN 1 THEN 'guava_integer' ELSE 'guava' END)
FROM generate_series(1, 2) i;
SELECT bf_from_guava(bf_to_guava(bf_create(100, layout => 'guava')), 'long')
  | bf_from_guava(bf_to_guava(bf_create(100, layout => 'guava')), 'integer');
-- This is also true of a self-sized filter, such as an import, that has lost its element type.
SELECT (bf_from_guava(bf_to_guava(f), 'long') & f) | bf_create(100, layout => 'guava_integer')
FROM bf_create(100, layout => 'guava') f;
SELECT (imported(f, 'DATE') & f) | bf_create(100, layout => 'parquet')
FROM bf_create(100, layout => 'parquet_int32') f;
SELECT e | f = f AS "empty adds nothing on the left",
  f | e = f AS "empty adds nothing on the right",
  e | e = e AS "both are nothing",
  e | g = g AS "empty adds nothing to a larger",
  (bf_info(e)).element_type
FROM (SELECT imported(f, 'DATE') & f AS e, f + date '2024-01-31' AS f,
      bf_create(1000, layout => 'parquet_int32') + 5 AS g
    FROM bf_create(100, layout => 'parquet_int32') f) x \gx
SELECT bf_create(100, layout => 'guava_integer') + 'x'::text;
SELECT bf_create(100, layout => 'guava_chars') @> 5;

-- The entry of each link has the layout. The encoding is there once for all links.
SELECT substr(u::bytea, 1, 3) AS head,
  get_byte(u::bytea, 36 + 21) >> 4 AS first,
  get_byte(u::bytea, 36 + 24 + 21) >> 4 AS second,
  bf_check(u) IS NULL AS "is sound",
  u::bytea::bloomfilter = u AS "bytea round trip",
  u @> 5 AS "one member is found",
  u @> 6 AS "the other member is found",
  u @> 5000000000 AS "too large is found",
  layout, element_type, links,
  (u + 7) @> 7 AS "one more is found",
  bf_clear(u) @> 5 AS "cleared has a member"
FROM (SELECT (bf_create(100, layout => 'guava_integer') + 5)
    | (bf_create(1000, layout => 'guava_integer') + 6) AS u) x, bf_info(u) \gx
SELECT ((bf_create(100, layout => 'guava_integer') + 5)
    | (bf_create(1000, layout => 'guava_integer') + 6)) | bf_create(10, layout => 'guava');

-- Bytes that versions before 1.0 wrote, with layout numbers of their own, are an error. So are
-- families that a layout cannot have, and filters that hold values without an element type.
SELECT number, layout,
  outcome(format('SELECT %L::bytea::bloomfilter',
      set_byte(set_byte(added(empty, value)::bytea, 1, number), 2, old))) AS added,
  outcome(format('SELECT %L::bytea::bloomfilter',
      set_byte(set_byte(empty::bytea, 1, number), 2, 0))) AS empty
FROM (VALUES (4, 'guava_integer', 1), (5, 'guava_chars', 4), (7, 'guava_integer_mitz32', 1),
    (8, 'guava_chars_mitz32', 4), (10, 'parquet_int32', 1), (11, 'parquet_float', 2),
    (15, 'parquet', 1)) v(number, layout, old)
  JOIN schemes USING (layout)
ORDER BY number;
SELECT set_byte(set_byte(f::bytea, 1, 5), 2, 1)::bloomfilter
FROM (SELECT bf_create(100, layout => 'guava_integer') + 5 AS f) x;
SELECT set_byte(bf_create(100, layout => 'guava')::bytea, 2, 29)::bloomfilter;
SELECT set_byte(bf_create(100)::bytea, 2, 27)::bloomfilter;
SELECT set_byte(bf_create(100, layout => 'parquet')::bytea, 2, 31)::bloomfilter;
SELECT set_byte((bf_create(100, layout => 'parquet_int32') + 5)::bytea, 2, 30)::bloomfilter;
