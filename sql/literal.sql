-- A bare literal, or an untyped parameter, is read as the filter's element type. If the reading
-- would depend on settings, or on a type that the filter does not know, it is an error.
CREATE SCHEMA literal;
SET search_path = literal, public;
\i sql/include/outcome.sql
CREATE TYPE mood AS ENUM ('sad', 'happy');

-- value: an expression. literal: a text that means the same.
CREATE TABLE literals (value text, literal text);
COPY literals FROM stdin (FORMAT csv, DELIMITER '|', QUOTE e'\x01', FORCE_NOT_NULL (literal));
5::int2|5
5::int4| 5 
5::int8|+5
-9223372036854775808|-9223372036854775808
0.1::float4|0.1
0.1::float8|0.1
0.1::float4::float8|0.10000000149011612
-1.5::float4|-15e-1
'NaN'::float4|nan
'-0'::float4|0
'Infinity'::float8|inf
'1e300'::float8|1e300
'1e-300'::float8|1e-300
1.50|1.5
1e-30|0.000000000000000000000000000001
'NaN'::numeric|nan
'abc'::text|abc
''::text|
' a b '::text| a b 
'abc'::varchar(5)|abc
'abc'::char(5)|abc
'abc'::name|abc
'\x61'::bytea|\x61
'\x61'::bytea|a
md5('')::uuid|{D41D8CD98F00B204E9800998ECF8427E}
true|yes
false|f
'a'::"char"|a
5::oid|5
date '2024-01-08'|2024-01-08
date '2024-01-08'|2024-01-08 +02
date '2024-01-08'|2024-01-08T00:00:00.000+02:00
date '2024-01-08'|2024-01-08T23:59:59.999-11
date '0099-02-01'|0099-02-01
date '12024-02-01'|12024-02-01
timestamp '2024-01-08 00:00'|2024-01-08
timestamp '2024-01-08 12:00'|2024-01-08T12:00
timestamp '2024-01-08 12:00:01'|2024-01-08 12:00:01+02
timestamp '2024-01-08 12:00:00.123456'|2024-01-08T12:00:00.123456Z
timestamp '2024-01-09 00:00'|2024-01-08 24:00:00
timestamptz '2024-01-07 22:00+00'|2024-01-08 +02
timestamptz '2024-01-07 22:00+00'|2024-01-08T00:00:00.000+02:00
timestamptz '2024-01-08 12:00:00.123456+00'|2024-01-08 12:00:00.123456+00:00
timestamptz '2024-01-08 12:00+00'|2024-01-08T12:00Z
timestamptz '2024-01-08 12:00+00'|2024-01-08 17:30:00 +0530
timestamptz '2024-01-08 12:00+00'|2024-01-08 11:09:21-00:50:39
time '12:00'|12:00
time '12:00:00.5'|12:00:00.5Z
time '12:00'|12:00:00 -05:30
'10.0.0.0/8'::cidr|10.0.0.0/8
'::1'::inet|0:0::1/128
'08:00:2b:01:02:03'::macaddr|08002b010203
'08:00:2b:01:02:03:04:05'::macaddr8|08002b0102030405
'{"a": 1, "b": [2]}'::jsonb|{"b":[2.0], "a":1.0}
\.

CREATE FUNCTION missed(value text, literal text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  failures text;
BEGIN
  EXECUTE format($query$
    SELECT string_agg(way, ', ')
    FROM (SELECT bf_create(10) + (%1$s) AS f, (%1$s) AS x OFFSET 0) v, LATERAL (VALUES
      ('@>', f @> %2$L), ('<@', %2$L <@ f), ('bf_contains', bf_contains(f, %2$L)),
      ('bf_contained', bf_contained(%2$L, f)), ('column', f @> %2$L::bf_literal),
      ('folded', bf_create(10) + (%1$s) @> %2$L),
      ('bf_add', bf_add(bf_clear(f), %2$L) @> %2$L), ('+', bf_clear(f) + %2$L @> %2$L),
      ('bf_put', (bf_put(bf_clear(f), %2$L)).filter @> %2$L),
      ('bf_put again', NOT (bf_put(bf_clear(f) + %2$L, %2$L)).was_new),
      ('value', bf_clear(f) + %2$L @> x OR pg_typeof(x) = 'float4'::regtype)) w(way, holds)
    WHERE holds IS NOT TRUE $query$, value, literal) INTO STRICT failures;
  RETURN failures;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;
CREATE FUNCTION element_type(value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT (bf_info(bf_create(10) + (%s))).element_type', value) INTO result;
  RETURN result;
END $$;
SELECT count(*) AS literals, count(DISTINCT element_type(value)) AS families FROM literals;
SELECT value, literal, missed(value, literal) FROM literals
WHERE missed(value, literal) IS NOT NULL;

-- Dates and times in ISO 8601 form mean the same under every setting.
SET DateStyle = 'SQL, DMY';
SET TimeZone = 'America/St_Johns';
SET timezone_abbreviations = 'Australia';
SELECT value, literal, missed(value, literal) FROM literals
WHERE missed(value, literal) IS NOT NULL;
SET DateStyle = 'German, YMD';
SET TimeZone = 'Asia/Kolkata';
SET timezone_abbreviations = 'India';
SELECT value, literal, missed(value, literal) FROM literals
WHERE missed(value, literal) IS NOT NULL;
RESET DateStyle;
RESET TimeZone;
RESET timezone_abbreviations;
-- Other forms need a cast.
CREATE FUNCTION asking(value text, literal text) RETURNS text LANGUAGE sql AS $$
  SELECT outcome(format('SELECT bf_create(10) + %s @> %L', value, literal))
$$;
CREATE TABLE cast_only (literal text);
COPY cast_only FROM stdin (FORMAT csv, DELIMITER '|', QUOTE e'\x01', FORCE_NOT_NULL (literal));
2/1/2024
1.2.2024
24-02-01
999-02-01
2024-2-1
2024-02
2024
20240201
2024-W05-4
2024-032
2024/02/01
+2024-02-01
-2024-02-01
2024-02-01 BC
Feb 1 2024
2024-Feb-01
2024-02-01 Thu
infinity
-infinity
epoch
now
today
allballs
J2460342
 
 2024-02-01
2024-02-01Z 
2024-02-01  12:00Z
2024-02-01T 12:00Z
2024-02-01 T12:00Z
2024-02-01t12:00Z
2024-02-01T12:00z
2024-02-01T
2024-02-01TZ
2024-02-01T12
2024-02-01T12Z
2024-02-01T1200Z
2024-02-01T12:0Z
2024-02-01T12:00:0Z
2024-02-01T12:00:00.Z
2024-02-01T12:00:00,5Z
2024-02-01T12:00.5Z
2024-02-01T12:00:00:00Z
2024-02-01T12:00PM
2024-02-01T12:00UTC
2024-02-01T12:00+
2024-02-01T12:00+2
2024-02-01T12:00+02:
2024-02-01T12:00+020
2024-02-01T12:00+020000
2024-02-01T12:00+02:00:00:00
2024-02-01T12:00  +02
2024-02-01T12:00+ 02
2024-02-01T12:00Z+00
2024-02-01T12:00 Europe/Paris
12
1:00
12:0
1200
T12:00
12:00 PM
12:00UTC
+12:00
 12:00
\.
SELECT literal, value, asking(value, literal)
FROM cast_only, (VALUES ('date ''2024-02-01'''), ('timestamp ''2024-02-01'''),
  ('timestamptz ''2024-02-01'''), ('time ''12:00''')) v(value)
WHERE asking(value, literal) <> '42804';
SELECT asking('date ''2024-02-01''', '12:00') AS "a time is no date",
  asking('timestamp ''2024-02-01''', '12:00') AS "nor a timestamp",
  asking('timestamptz ''2024-02-01''', '12:00+02') AS "nor a timestamptz",
  asking('time ''12:00''', '2024-02-01 12:00') AS "and they are no time",
  asking('timestamptz ''2024-02-01''', '2024-02-01') AS "timestamptz needs an offset",
  asking('timestamptz ''2024-02-01''', '2024-02-01 12:00') AS "also after a time",
  asking('timetz ''12:00+00''', '12:00+00') AS "timetz needs a cast" \gx
-- If a date or time in this form does not exist, its type raises its own error.
SELECT asking('date ''2024-02-01''', '2023-02-29') AS "no leap day",
  asking('date ''2024-02-01''', '0000-02-01') AS "no year zero",
  asking('date ''2024-02-01''', '5874898-01-01') AS "beyond dates",
  asking('timestamp ''2024-02-01''', '294277-01-01') AS "beyond timestamps",
  asking('date ''2024-02-01''', '2024-02-01 25:00') AS "no hour, though ignored",
  asking('timestamp ''2024-02-01''', '2024-02-01 12:00+16') AS "no offset, though ignored",
  asking('timestamptz ''2024-02-01''', '2024-02-01 12:00+02:60') AS "no offset",
  asking('date ''2024-02-01''', '2024-02-01-02') AS "no offset to the type's input",
  asking('time ''12:00''', '12:60') AS "no minute",
  asking('time ''12:00''', '24:00:01') AS "no time" \gx
-- The setting timezone_abbreviations could define T and Z, so the input function does not get these
-- letters.
SELECT bf_create(10) + timestamptz '2024-02-01 12:00Z' @> '294277-01-01T12:00Z';
SELECT bf_create(10) + time '12:00' + '24:01Z';
-- Layouts of other systems have families of dates and times, too.
SELECT dates @> '2024-02-01' AS "a date",
  dates @> '2024-02-02' AS "another date",
  dates + '2024-02-02T12:00Z' @> date '2024-02-02' AS "adds a date",
  times @> '2024-02-01' AS "a timestamp",
  instants @> '2024-02-01T02:00+02:00' AS "a timestamptz",
  hours @> '12:00Z' AS "a time",
  outcome('SELECT bf_create(9, layout => ''parquet_int32'') @> ''2024-02-01''') AS "not known yet"
FROM (SELECT bf_create(9, layout => 'parquet_int32') + date '2024-02-01' AS dates,
  bf_create(9, layout => 'parquet') + timestamp '2024-02-01' AS times,
  bf_create(9, layout => 'parquet') + timestamptz '2024-02-01Z' AS instants,
  bf_create(9, layout => 'parquet') + time '12:00' AS hours) s \gx

-- In SQL, a literal is read as the type of the other operand. The filter knows only the family of
-- its element type. So it reads the literal as every type of the family, both to probe and to add.
SELECT bf_create(10) + 0.1::float4 @> '0.1' AS "asks for the float4",
  f @> '0.1' AS "asks for the float8",
  f @> 0.1::float8 AS "adds the float8",
  f @> 0.1::float4 AS "adds the float4",
  f @> 0.2::float8 AS "another is found"
FROM (SELECT bf_create(10) + 1::float4 + '0.1' AS f) s \gx
SELECT bf_create(10) + 1::float4 + '1e300' @> '1e300' AS float8_only;
SELECT f @> 'a  ' AS "asks for the char",
  f @> 'a' AS "asks for the text",
  bf_create(10) + 'a'::text @> 'a  ' AS "text counts blanks",
  f + 'b  ' @> 'b'::char(3) AS "adds the char",
  f + 'b  ' @> 'b  '::text AS "adds the text"
FROM (SELECT bf_create(10) + 'a'::char(3) AS f) s \gx
SELECT bf_create(10) + repeat('n', 63)::name
  @> 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn' AS asks_name;
SELECT was_new AS new, (bf_put(filter, '0.1')).was_new AS again
FROM bf_put(bf_create(10) + 1::float4, '0.1');

SELECT bf_create(10) + 'abc' @> 'abc'::text AS "empty takes text",
  bf_create(10) @> 'abc' AS "empty has it",
  (bf_info(bf_create(10) + '5')).element_type AS first,
  (bf_info(bf_create(10) + 4 + '5')).element_type AS next,
  bf_create(10) + 4 + '5' @> 5 AS "is read as an integer",
  bf_create(10) + 4 @> 4 AS "a number is found",
  bf_create(10) + 4 @> '6' AS "another is found" \gx
SELECT bf_hash('abc') = bf_hash('abc'::text) AS "bf_hash takes text",
  bf_agg('abc') @> 'abc'::text AS "bf_agg takes text",
  bf_create(10) + row('a', 1) @> row('a'::text, 1) AS "a row takes text" \gx

-- Untyped parameters, from PREPARE and from EXECUTE ... USING.
PREPARE probe AS
  SELECT filter @> $1 AS "@> says so", $1 <@ filter AS "<@ says so",
    (bf_info(filter + $1)).element_type
  FROM (SELECT bf_agg(x) AS filter FROM generate_series(1, 9) x) s;
EXECUTE probe('5') \gx
EXECUTE probe('10') \gx
EXECUTE probe(NULL) \gx
SELECT name, parameter_types FROM pg_prepared_statements WHERE name = 'probe';
\set VERBOSITY sqlstate
EXECUTE probe('five');
\set VERBOSITY default
DEALLOCATE probe;

-- Literals that cannot be read.
SELECT literal, outcome(format('SELECT bf_create(10) + 5 @> %L', literal)) AS asking,
  outcome(format('SELECT bf_create(10) + 5 + %L', literal)) AS adding
FROM (VALUES ('abc'), (''), ('1.5'), ('99999999999999999999')) v(literal);
SELECT bf_create(10) + 5 @> 'five';
SELECT bf_create(10) + '\x61'::bytea + '\xg';
SELECT bf_create(10) + date '2024-02-01' @> '2/1/2024';
SELECT bf_create(10) + 'sad'::mood + 'sad';
SELECT element_type(value),
  outcome(format('SELECT bf_create(10) + (%s) @> ''1''', value)) AS asking,
  outcome(format('SELECT bf_create(10) + (%s) + ''1''', value)) AS adding,
  outcome(format('SELECT bf_put(bf_create(10) + (%s), ''1'')', value)) AS putting
FROM (VALUES ('date ''2024-02-01'''), ('timestamp ''2024-02-01'''), ('timestamptz ''2024-02-01'''),
  ('time ''00:00'''), ('timetz ''00:00+00'''), ('interval ''1 day'''), ('''sad''::mood'),
  ('''{1}''::int[]'), ('int4range(1, 2)'), ('''{[1,2)}''::int4multirange'), ('row(1)')) v(value);
SELECT outcome('SELECT bf_add_all(bf_create(10), ''{1}'')') AS bf_add_all,
  outcome('SELECT bf_contains_any(bf_create(10), ''{1}'')') AS bf_contains_any;
