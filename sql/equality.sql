-- There is no false negative: values that are equal in SQL find each other. They may differ in
-- their type within the family, in their bytes and in their storage. To test another pair, add a
-- line to `pairs` below.
CREATE SCHEMA equality;
SET search_path = equality, public;

-- Values that no literal gives.

CREATE FUNCTION float8_of_bits(bigint) RETURNS float8 LANGUAGE internal IMMUTABLE STRICT
  AS 'int8up';
CREATE FUNCTION float4_of_bits(int) RETURNS float4 LANGUAGE internal IMMUTABLE STRICT
  AS 'int4up';

-- Arrays that once held a NULL keep their null bitmap. They are equal to other arrays, but their
-- bytes differ.
CREATE TABLE once_null (
  ints int[] DEFAULT '{1,2,NULL}', matrix int[] DEFAULT '{{1,2},{NULL,4}}',
  texts text[] DEFAULT '{a,NULL}', ranges int4range[] DEFAULT '{NULL}');
INSERT INTO once_null DEFAULT VALUES;
UPDATE once_null SET ints[3] = 3, matrix[2][1] = 3, texts[2] = 'b', ranges[1] = '[1,3]';

-- Values that are compressed, out of line, both, or stored with a short length word. `long`
-- computes the same value.
CREATE TABLE stored (
  short text, compressed text, external text, both_ways text, number numeric, short_number numeric,
  bits bytea, json jsonb, list int[], address inet, blanks char(3000), varying varchar);
ALTER TABLE stored ALTER external SET STORAGE external;
CREATE FUNCTION long(length int) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT string_agg(repeat(md5(i::text), 2), '') FROM generate_series(1, length / 64) i $$;
INSERT INTO stored VALUES (
  'abc', repeat('x', 100000), repeat('x', 100000), long(100000),
  ('1' || repeat('0', 90000))::numeric, 1.50, long(100000)::bytea,
  jsonb_build_object('k', long(100000), 'n', 1.00),
  array(SELECT generate_series(1, 10000)), '10.0.0.0/8', 'a', repeat('x', 100000));

CREATE TABLE dropped (i int, gone text, t text);
INSERT INTO dropped VALUES (1, 'x', 'before');
ALTER TABLE dropped DROP gone;
INSERT INTO dropped VALUES (1, 'after');
ALTER TABLE dropped ADD added numeric DEFAULT 1.50;

CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TYPE named AS (i int, t text);
CREATE TYPE other_named AS (j bigint, s varchar(10));
CREATE TYPE nested AS (r named, f float4, a numeric[]);
CREATE TYPE nothing AS ();
CREATE TYPE char_range AS RANGE (subtype = bpchar);
CREATE TYPE text_range AS RANGE (subtype = text, collation = "C");
CREATE TYPE float_range AS RANGE (subtype = float8);
CREATE TYPE interval_range AS RANGE (subtype = interval);
CREATE TYPE named_range AS RANGE (subtype = named);
CREATE DOMAIN int_domain AS int;
CREATE DOMAIN positive AS int_domain CHECK (VALUE > 0);
CREATE DOMAIN numeric_domain AS numeric(10, 3);
CREATE DOMAIN text_domain AS text;
CREATE DOMAIN char_domain AS char(8);
CREATE DOMAIN mood_domain AS mood;
CREATE DOMAIN array_domain AS int[];
CREATE DOMAIN named_domain AS named;
CREATE DOMAIN range_domain AS int4range;

-- family: element_type of bf_info(). a, b: expressions with equal values.
CREATE TABLE pairs (family text, a text, b text);
COPY pairs FROM stdin (FORMAT csv, DELIMITER '|', QUOTE e'\x01');
integer     | 5::int2 | 5::int4
integer     | 5::int2 | 5::int8
integer     | 5::int4 | 5::int8
integer     | (-5)::int2 | (-5)::int8
integer     | (-32768)::int2 | (-32768)::int4
integer     | (-2147483648)::int4 | (-2147483648)::int8
integer     | 0::int2 | 0::int8
integer     | 5::int_domain | 5::int2
integer     | 5::positive | 5::int8
float       | 0::float8 | '-0'::float8
float       | 0::float4 | '-0'::float4
float       | 0::float4 | '-0'::float8
float       | 1.5::float4 | 1.5::float8
float       | 0.1::float4 | (0.1::float4)::float8
float       | '1e-45'::float4 | ('1e-45'::float4)::float8
float       | 'NaN'::float4 | 'NaN'::float8
float       | 'NaN'::float8 | 'Infinity'::float8 - 'Infinity'::float8
float       | 'NaN'::float8 | float8_of_bits(x'fff8000000000000'::bigint)
float       | 'NaN'::float8 | float8_of_bits(x'7ff0000000000001'::bigint)
float       | 'NaN'::float8 | float8_of_bits(x'7ff8000000c0ffee'::bigint)
float       | 'NaN'::float4 | float4_of_bits(x'ffc00000'::int)
float       | 'NaN'::float8 | float4_of_bits(x'7f800001'::int)
float       | 'Infinity'::float4 | 'Infinity'::float8
float       | '-Infinity'::float4 | '-Infinity'::float8
numeric     | 1.0 | 1.00
numeric     | 1::numeric | 1.0000000000000000000
numeric     | 1e4 | 10000.0
numeric     | 1e100 | 1e100::numeric + 0.00
numeric     | 1e-20 | 0.00000000000000000001000
numeric     | 100000000::numeric | 1e8
numeric     | 0.0 | -0.00
numeric     | 0::numeric | 1.00 - 1.00
numeric     | -12.340 | -12.34
numeric     | 'NaN'::numeric | 'Infinity'::numeric - 'Infinity'::numeric
numeric     | 'Infinity'::numeric | 'Infinity'::numeric + 1.00
numeric     | '-Infinity'::numeric | -'Infinity'::numeric
numeric     | 1.5::numeric_domain | 1.5
numeric     | (SELECT number FROM stored) | 1e90000
numeric     | (SELECT short_number FROM stored) | 1.5
text        | 'abc'::text | 'abc'::varchar
text        | 'abc'::text | 'abc'::name
text        | 'abc'::varchar(10) | 'abc'::name
text        | 'abc'::text | 'abc'::char(10)
text        | 'abc'::char(3) | 'abc'::char(10)
text        | 'abc'::varchar | 'abc   '::char(6)
text        | ''::text | '     '::char(5)
text        | '  a'::char(3) | '  a'::text
text        | 'é'::char(5) | 'é'::text
text        | 'abc'::text_domain | 'abc'::name
text        | 'abc'::char_domain | 'abc'::text
text        | (SELECT short FROM stored) | 'abc'::text
text        | (SELECT compressed FROM stored) | repeat('x', 100000)
text        | (SELECT external FROM stored) | repeat('x', 100000)
text        | (SELECT external FROM stored) | (SELECT compressed FROM stored)
text        | (SELECT both_ways FROM stored) | long(100000)
text        | (SELECT varying FROM stored) | repeat('x', 100000)
text        | (SELECT blanks FROM stored) | 'a'::text
bytea       | '\x616263'::bytea | 'abc'::bytea
bytea       | ''::bytea | '\x'::bytea
bytea       | (SELECT bits FROM stored) | long(100000)::bytea
boolean     | true | 'yes'::bool
"char"      | 'a'::"char" | 'abc'::"char"
oid         | 5::oid | '5'::oid
oid         | 4294967295::oid | '-1'::oid
date        | date '2024-02-29' | date '20240229'
date        | date '2000-01-01' | date 'epoch' + 10957
date        | date 'infinity' | date 'infinity'
timestamp   | timestamp '2024-02-29 24:00' | timestamp '2024-03-01'
timestamp   | timestamp '-infinity' | '-infinity'::timestamp
timestamptz | timestamptz '2024-02-29 12:00+00' | timestamptz '2024-02-29 13:30+01:30'
timestamptz | timestamptz 'infinity' | 'infinity'::timestamptz
time        | time '12:00' | time '12:00:00.000000'
timetz      | timetz '12:00+01' | timetz '12:00:00+01:00'
interval    | interval '1 month' | interval '30 days'
interval    | interval '1 month' | interval '720 hours'
interval    | interval '30 days' | interval '720 hours'
interval    | interval '-1 month' | interval '-30 days'
interval    | interval '-1 month' | interval '-720 hours'
interval    | interval '1 year' | interval '360 days'
interval    | interval '1 month -1 day' | interval '29 days'
interval    | interval '1 day -24 hours' | interval '0'
interval    | interval '-1 month 30 days 1 microsecond' | interval '1 microsecond'
interval    | interval '71582788 months' | interval '2147483640 days'
interval    | interval '-71582788 months' | interval '-2147483640 days'
inet        | '10.0.0.0/8'::inet | '10.0.0.0/8'::cidr
inet        | '10.0.0.0/8'::inet | '10'::cidr
inet        | '10.0.0.1'::inet | '10.0.0.1/32'::inet
inet        | '10.0.0.1'::inet | '10.0.0.1'::cidr
inet        | '::1'::inet | '0:0:0:0:0:0:0:1/128'::cidr
inet        | '2001:DB8::/32'::cidr | '2001:db8::/32'::inet
inet        | (SELECT address FROM stored) | '10.0.0.0/8'::cidr
macaddr     | '08:00:2b:01:02:03'::macaddr | '08002B-010203'::macaddr
macaddr8    | '08:00:2b:ff:fe:01:02:03'::macaddr8 | '08002b010203'::macaddr8
jsonb       | '1'::jsonb | '1.0'::jsonb
jsonb       | '100'::jsonb | '1e2'::jsonb
jsonb       | '0'::jsonb | '-0.00'::jsonb
jsonb       | '{"a": 1, "b": 2}'::jsonb | '{"b": 2.0, "a": 1.00}'::jsonb
jsonb       | '{"a": 1}'::jsonb | '{"a": 2, "a": 1.0}'::jsonb
jsonb       | '[1, [2, {"k": [3]}]]'::jsonb | '[1.0, [2.00, {"k": [3e0]}]]'::jsonb
jsonb       | '"\u0041"'::jsonb | '"A"'::jsonb
jsonb       | to_jsonb('abc'::text) | '"abc"'::jsonb
jsonb       | (SELECT json FROM stored) | jsonb_build_object('k', long(100000), 'n', 1)
enum        | 'sad'::mood | enum_first(NULL::mood)
enum        | 'sad'::mood_domain | 'sad'::mood
array       | '{1,2,3}'::int[] | '[1:3]={1,2,3}'::int[]
array       | '{1,2,3}'::int2[] | '{1,2,3}'::int8[]
array       | '{1,2,3}'::int[] | (SELECT ints FROM once_null)
array       | '{1,2,3}'::int8[] | (SELECT ints FROM once_null)
array       | '{{1,2},{3,4}}'::int[] | (SELECT matrix FROM once_null)
array       | '{a,b}'::text[] | (SELECT texts FROM once_null)
array       | '{"[1,4)"}'::int4range[] | (SELECT ranges FROM once_null)
array       | '{1,NULL}'::int[] | array[1, NULL]
array       | '{}'::int[] | ('{1,2}'::int[])[5:6]
array       | '{}'::int[] | '{}'::int2[]
array       | '[0:1][5:6]={{1,2},{3,4}}'::int[] | '[0:1][5:6]={{1,2},{3,4}}'::int[]
array       | '{1.0,1e4}'::numeric[] | '{1.00,10000}'::numeric[]
array       | '{0,NaN,1.5}'::float8[] | '{-0,NaN,1.5}'::float4[]
array       | '{a,b}'::text[] | '{a,b}'::varchar[]
array       | '{a,b}'::text[] | '{a,b}'::name[]
array       | '{a,b}'::char(1)[] | '{a,"b  "}'::char(3)[]
array       | '{1 month}'::interval[] | '{30 days}'::interval[]
array       | array['{"a":1}'::jsonb] | array['{"a":1.0}'::jsonb]
array       | array[row(1, 'a')::named] | array[row(1, 'a')::named_domain]
array       | array[row(1.0, 2)] | array[row(1.00, 2)]
array       | '{1,2}'::positive[] | '{1,2}'::int[]
array       | '{1,2}'::array_domain | '{1,2}'::int8[]
array       | '{sad,happy}'::mood[] | enum_range(NULL::mood)
array       | '1 2'::int2vector | '[0:1]={1,2}'::int2[]
array       | '1 2'::oidvector | '[0:1]={1,2}'::oid[]
array       | (SELECT list FROM stored) | array(SELECT generate_series(1, 10000))
range       | '[1,3]'::int4range | '[1,4)'::int4range
range       | '(0,3]'::int4range | '[1,4)'::int4range
range       | '[1,3]'::int4range | '[1,4)'::int8range
range       | '(,3]'::int4range | '[,4)'::int4range
range       | '[2024-01-01,2024-01-31]'::daterange | '[2024-01-01,2024-02-01)'::daterange
range       | '[1.0,2.0)'::numrange | '[1.00,2)'::numrange
range       | 'empty'::int4range | '[3,3)'::int4range
range       | 'empty'::numrange | '(1.0,1.00]'::numrange
range       | '[2024-01-01 00:00+00,)'::tstzrange | '[2024-01-01 01:00+01,)'::tstzrange
range       | '["a","b")'::char_range | '["a  ","b ")'::char_range
range       | '[a,b]'::text_range | text_range('a', 'b', '[]')
range       | '[0,1)'::float_range | '[-0,1)'::float_range
range       | '[1 month,2 months)'::interval_range | '[30 days,60 days)'::interval_range
range       | named_range(row(1, 'a')::named, NULL) | '["(1,a)",)'::named_range
range       | '[1,3]'::range_domain | '[1,4)'::int4range
multirange  | '{[1,3],[4,6]}'::int4multirange | '{[1,7)}'::int4multirange
multirange  | '{[1,3]}'::int4multirange | int4range(1, 4)::int4multirange
multirange  | '{}'::int4multirange | '{empty}'::int4multirange
multirange  | '{[1.0,2.0),[3,4]}'::nummultirange | '{[3.0,4.00],[1,2)}'::nummultirange
row         | row(1::int4, 'a'::text) | row(1::int8, 'a'::varchar)
row         | row(1::int2) | row(1::int8)
row         | row('abc') | row('abc'::text)
row         | row('a'::char(5), 1.0) | row('a'::text, 1.00)
row         | row(0::float8) | row('-0'::float4)
row         | row(interval '1 month', '10.0.0.0/8'::inet) | row(interval '30 days', '10/8'::cidr)
row         | row(1, 'a')::named | row(1, 'a'::text)
row         | row(1, 'a')::named | row(1, 'a')::other_named
row         | row(1, 'a')::named | row(1, 'a')::named_domain
row         | row(1, NULL)::named | row(1, NULL)::named_domain
row         | row(NULL, NULL)::named | '(,)'::named
row         | row(row(row(1::int2))) | row(row(row(1::int8)))
row         | row((SELECT ints FROM once_null)) | row('{1,2,3}'::int[])
row         | row((SELECT external FROM stored)) | row(repeat('x', 100000))
row         | row(1::positive) | row(1::int8)
row         | row()::nothing | row()::nothing
row         | (SELECT d FROM dropped d WHERE t = 'before') | row(1, 'before'::text, 1.5)
row         | (SELECT d FROM dropped d WHERE t = 'after') | row(1, 'after'::text, 1.5)
\.
UPDATE pairs SET family = trim(family);
INSERT INTO pairs VALUES
  ('uuid', $$'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid$$,
    $$'{a0eebc999c0b4ef8bb6d6bb9bd380a11}'::uuid$$),
  ('jsonb', $$'{"a": {"b": {"c": 1.10}}, "aa": null}'::jsonb$$,
    $$'{"aa": null, "a": {"b": {"c": 1.1}}}'::jsonb$$),
  ('row', $$row(row(1, 'a')::named, 1.5, '{1.0}')::nested$$,
    $$row(row(1, 'a'::text), 1.5::float8, '{1.00}'::numeric[])$$);

-- Different values have different hashes: nothing that matters is left out.
CREATE TABLE different (family text, a text, b text);
COPY different FROM stdin (FORMAT csv, DELIMITER '|', QUOTE e'\x01');
integer    | 1::int2 | (-1)::int2
integer    | 4294967296 | 1
float      | 0.1::float4 | 0.1::float8
float      | 'Infinity'::float8 | 'NaN'::float8
float      | 'Infinity'::float8 | '-Infinity'::float8
numeric    | 1.0 | -1.0
numeric    | 1.0 | 10.0
numeric    | 1.0 | 10000.0
numeric    | 'NaN'::numeric | 'Infinity'::numeric
numeric    | '-Infinity'::numeric | 'Infinity'::numeric
numeric    | 'NaN'::numeric | 0.0
text       | 'a'::text | 'a '::text
text       | 'a'::char(5) | 'a    '::text
text       | 'a'::text | 'A'::text
text       | ''::text | ' '::text
bytea      | '\x'::bytea | '\x00'::bytea
boolean    | true | false
date       | date '2024-01-01' | date '2024-01-02'
timestamp  | timestamp '2024-01-01 00:00:00.000000' | timestamp '2024-01-01 00:00:00.000001'
timestamp  | timestamp 'infinity' | timestamp '-infinity'
time       | time '24:00' | time '00:00'
timetz     | timetz '12:00+00' | timetz '13:00+01'
interval   | interval '1 month' | interval '31 days'
interval   | interval '1 day' | interval '-1 day'
inet       | '10.0.0.0/8'::inet | '10.0.0.0/9'::inet
inet       | '10.0.0.1'::inet | '10.0.0.1/24'::inet
inet       | '1.2.3.4'::inet | '::ffff:1.2.3.4'::inet
jsonb      | '"1"'::jsonb | '1'::jsonb
jsonb      | '"true"'::jsonb | 'true'::jsonb
jsonb      | 'null'::jsonb | '"null"'::jsonb
jsonb      | 'null'::jsonb | 'false'::jsonb
jsonb      | '{}'::jsonb | '[]'::jsonb
jsonb      | '1'::jsonb | '[1]'::jsonb
jsonb      | '[[1], 2]'::jsonb | '[[1, 2]]'::jsonb
jsonb      | '["ab", "c"]'::jsonb | '["a", "bc"]'::jsonb
jsonb      | '{"a": 1, "b": 2}'::jsonb | '{"a": 2, "b": 1}'::jsonb
jsonb      | '{"a": {"b": 1}}'::jsonb | '{"a": {}, "b": 1}'::jsonb
enum       | 'sad'::mood | 'happy'::mood
array      | '{1,2}'::int[] | '[0:1]={1,2}'::int[]
array      | '{1,2}'::int[] | '{{1,2}}'::int[]
array      | '{1,2}'::int[] | '{1,NULL,2}'::int[]
array      | '{1,2}'::int[] | '{2,1}'::int[]
array      | '{}'::int[] | '{NULL}'::int[]
array      | '{NULL}'::text[] | '{""}'::text[]
array      | '{ab,c}'::text[] | '{a,bc}'::text[]
array      | '{{1,2,3,4}}'::int[] | '{{1,2},{3,4}}'::int[]
range      | '[1,2)'::numrange | '[1,2]'::numrange
range      | '(,1]'::numrange | '[1,)'::numrange
range      | 'empty'::int4range | '(,)'::int4range
multirange | '{[1,2),[5,6)}'::int4multirange | '{[1,6)}'::int4multirange
multirange | '{}'::int4multirange | '{(,)}'::int4multirange
row        | row('ab'::text, 'c'::text) | row('a'::text, 'bc'::text)
row        | row(1, 2) | row(2, 1)
row        | row(1, NULL)::named | row(1, '')::named
row        | row(row(1, 2), row(3)) | row(row(1), row(2, 3))
\.
UPDATE different SET family = trim(family);

-- Returns the ways in which a filter with `a` fails to find an equal `b`, or NULL.
CREATE FUNCTION missed(family text, a text, b text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  failures text;
BEGIN
  EXECUTE format($query$
    SELECT string_agg(way, ', ')
    FROM (SELECT bf_agg(a) AS self_sized, bf_agg(a, 100) AS sized, bf_agg(a, 100, 0.001) AS rated
          FROM (SELECT %1$s AS a) x) g,
      (SELECT %1$s AS a, %2$s AS b, bf_create(100) AS f OFFSET 0) v,
      LATERAL (SELECT pg_typeof(a) = 'record'::regtype AS anonymous,
        nullif(pg_typeof(a), 'record'::regtype) AS of) t,
      LATERAL (VALUES
        ('bf_hash', bf_hash(a) = bf_hash(b)),
        ('bf_hash with seed', bf_hash(a, 7) = bf_hash(b, 7)),
        ('bf_shard', bf_shard(a, 1000000000) = bf_shard(b, 1000000000)),
        ('bytes', f + a = f + b),
        ('element_type', (bf_info(f + a)).element_type = %3$L),
        ('type', anonymous OR bf_create(100, type => of) = bf_clear(f + a)),
        ('type, grow', anonymous OR bf_create(100, grow => true, seed => 7, type => of)
          = bf_clear(bf_create(100, grow => true, seed => 7) + a)),
        ('type, by size', anonymous OR bf_create_by_size(512, 3, type => of)
          = bf_clear(bf_create_by_size(512, 3) + a)),
        ('type, +', anonymous OR bf_create(100, type => of) + b = f + a),
        ('bf_add, bf_contains', bf_contains(bf_add(f, a), b)),
        ('+, @>', f + a @> b),
        ('<@', b <@ f + a),
        ('bf_put', (bf_put(f, a)).filter @> b),
        ('bf_put again', NOT (bf_put(f + a, b)).was_new),
        ('folded', bf_create(100) + (%1$s) @> (%2$s)),
        ('bf_agg', self_sized @> b),
        ('bf_agg with capacity', sized @> b),
        ('bf_agg with rate', rated @> b)) c(way, holds)
    WHERE holds IS NOT TRUE $query$, a, b, family) INTO STRICT failures;
  RETURN failures;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;

-- The same with array[a] and array[b], unless an array of `a` only adds a dimension.
CREATE FUNCTION missed_in_arrays(a text, b text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  failures text;
BEGIN
  EXECUTE format($query$
    SELECT string_agg(way, ', ')
    FROM (SELECT array[%1$s] AS a, array[%2$s] AS b, bf_create(100) + (%1$s) AS f OFFSET 0) v,
      LATERAL (VALUES
        ('bf_add_all', bf_add_all(bf_create(100), a) @> (%2$s)),
        ('bf_contains_any', bf_contains_any(f, b)),
        ('bf_contains_all', bf_contains_all(f, b)),
        ('bf_contains_each', bf_contains_each(f, b) = '{t}')) c(way, holds)
    WHERE holds IS NOT TRUE $query$, a, b) INTO STRICT failures;
  RETURN failures;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;

-- Returns whether a = b, or NULL if SQL has no `=` for the two types.
CREATE FUNCTION equal(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  result boolean;
BEGIN
  EXECUTE format('SELECT (%s) = (%s)', a, b) INTO result;
  RETURN result;
EXCEPTION WHEN undefined_function OR datatype_mismatch OR feature_not_supported THEN
  RETURN NULL;
END $$;

CREATE FUNCTION hashes_differ(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  result boolean;
BEGIN
  EXECUTE format('SELECT bf_hash(%s) <> bf_hash(%s)', a, b) INTO result;
  RETURN result;
END $$;

-- The unusual values are what they are meant to be.
SELECT array_send(ints) <> array_send('{1,2,3}'::int[]) AS "once had a NULL",
  pg_column_size(compressed) < 2000 AS "is compressed",
  pg_column_size(external) = 100000 AS "is out of line",
  pg_column_size(both_ways) BETWEEN 2000 AND 99999 AS "is compressed out of line",
  pg_column_size(short) = 4 AS "is short"
FROM once_null, stored \gx
SELECT float8send(float8_of_bits(x'7ff8000000c0ffee'::bigint)) AS nan_bits;

-- The number of pairs per family, and how many of them SQL can compare.
SELECT family, count(*) AS pairs, count(equal(a, b)) AS comparable
FROM pairs GROUP BY family ORDER BY family COLLATE "C";
SELECT family, count(*) AS different FROM different GROUP BY family ORDER BY family COLLATE "C";

-- The rest of the file shows only failures.
SELECT family, a, b FROM pairs WHERE NOT equal(a, b);
SELECT family, a, b FROM different WHERE equal(a, b);
SELECT * FROM (
  SELECT family, a, b, missed(family, a, b) FROM pairs
  UNION ALL
  SELECT family, b, a, missed(family, b, a) FROM pairs) m
WHERE missed IS NOT NULL;
SELECT * FROM (
  SELECT family, a, b, missed_in_arrays(a, b) AS missed FROM pairs WHERE family <> 'array'
  UNION ALL
  SELECT family, b, a, missed_in_arrays(b, a) FROM pairs WHERE family <> 'array') m
WHERE missed IS NOT NULL;
SELECT family, a, b FROM different WHERE NOT hashes_differ(a, b);

-- A varchar with trailing blanks equals a text with the blanks and a char(n) without them. So it
-- has two hashes.
SELECT v = t AS "varchar = text",
  v = c AS "varchar = char",
  f_v @> t AS "finds the text",
  f_v @> c AS "finds the char",
  bf_create(10) + t @> v AS "text finds it",
  bf_create(10) + c @> v AS "char finds it",
  f_v @> v AS "finds itself",
  bf_contains_each(f_v, array[v, 'ab'::varchar, 'b '::varchar]) AS "asked in an array"
FROM (SELECT v, c, t, bf_create(10) + v AS f_v
  FROM (SELECT 'a '::varchar AS v, 'a'::char(5) AS c, 'a '::text AS t) s) s \gx
SELECT bf_agg(v) @> 'a'::char(5) AS aggregate,
  bf_add_all(bf_create(10), array_agg(v)) @> 'a'::char(5) AS all
FROM (VALUES ('a '::varchar), ('b')) s(v);
SELECT row('a '::varchar) = row('a'::char(5)) AS equal;
SELECT bf_create(10) + row('a '::varchar);
SELECT bf_create(10) @> row(1, 'a '::varchar(5));
SELECT bf_create(10) + row('a'::varchar) @> row('a'::char(5)) AS without_blanks;

-- A row type that gets more fields. SQL calls a row from before equal to a row with NULL in each
-- new field. Within other values, such rows are found, even if a call site saw the type before it
-- grew. If the row itself is the value, it is an error.
CREATE TYPE growing AS (a int);
CREATE TYPE holder AS (g growing, t text);
CREATE DOMAIN growing_domain AS growing;
CREATE TYPE growing_range AS RANGE (subtype = growing);
CREATE TABLE grown (
  c growing, ca growing[], h holder, cr growing_range, cd growing_domain[], empty growing[]);
INSERT INTO grown VALUES (
  row(5), array[row(5)::growing, NULL], row(row(5), 'x'),
  growing_range(row(5)::growing, row(6)::growing), array[row(5)::growing],
  array[row(NULL)::growing]);
CREATE TABLE grown_filters AS
SELECT bf_agg(c) AS c, bf_agg(ca) AS ca, bf_agg(row(1, c)) AS rc, bf_agg(h) AS h, bf_agg(cr) AS cr,
  bf_agg(cd) AS cd, bf_agg(empty) AS empty, cbf_agg(ca) AS counted, cf_agg(ca) AS stored,
  bf_shard(min(ca), 1000) AS shard
FROM grown;
CREATE FUNCTION found(filter bloomfilter, value growing[]) RETURNS boolean LANGUAGE plpgsql AS
  $$ BEGIN RETURN filter @> value; END $$;
SELECT found(f.ca, g.ca) AS before FROM grown g, grown_filters f;
ALTER TYPE growing ADD ATTRIBUTE b int;
ALTER TYPE growing ADD ATTRIBUTE c text;
SELECT g.ca = array[row(5, NULL, NULL)::growing, NULL] AS "SQL calls them equal",
  f.ca @> g.ca AS "array",
  found(f.ca, g.ca) AS "array in a function",
  f.ca @> array[row(5, NULL, NULL)::growing, NULL] AS "array of new rows",
  f.rc @> row(1, g.c) AS "row in a row",
  f.h @> g.h AS "row of a named type",
  f.cr @> g.cr AS range,
  f.cd @> g.cd AS "array of a domain",
  f.empty @> g.empty AS "array of a row of NULL",
  f.counted @> g.ca AS "counting filter",
  f.stored @> g.ca AS "cuckoo filter",
  f.shard = bf_shard(g.ca, 1000) AS shard
FROM grown g, grown_filters f \gx
SELECT f.ca @> array[row(5, 6, NULL)::growing, NULL] AS "finds another b",
  f.ca @> array[row(5, NULL, '')::growing, NULL] AS "finds another c",
  f.ca @> array[row(NULL, 5, NULL)::growing, NULL] AS "finds values moved",
  f.ca + array[row(5, 6, NULL)::growing, NULL] @> array[row(5, 6, NULL)::growing, NULL]
    AS "finds another b once added"
FROM grown_filters f \gx
SELECT f.c @> g.c FROM grown g, grown_filters f;
-- Within nested values, other types are no error: fields are compared by their bytes.
SELECT bf_agg(row(1, row(2))) @> row(1, row(2::int8)) AS "finds a field of the family",
  bf_agg(row(1, row(2))) @> row(1, row(2::numeric)) AS "finds a field of another family",
  bf_agg(array[row(1)]) @> array[row(1, 2)] AS "finds more fields" \gx
