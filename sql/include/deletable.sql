-- What countingbloomfilter and cuckoofilter have in common. The including file sets `type` and
-- `prefix` as psql variables, and includes outcome.sql and plan.sql. The functions are called as
-- :create(...), :add(...), and so on.
SET bloomfilter.scan = off; -- sql/build.sql tests Bloom Filter Build
\set create :prefix _create
\set add :prefix _add
\set add_all :prefix _add_all
\set remove :prefix _remove
\set contains :prefix _contains
\set contained :prefix _contained
\set multiplicity :prefix _multiplicity
\set put :prefix _put
\set clear :prefix _clear
\set count :prefix _count
\set fpr :prefix _fpr
\set union :prefix _union
\set union_agg :prefix _union_agg
\set agg :prefix _agg
\set info :prefix _info
\set sizing :prefix _sizing
\set check :prefix _check
-- Runs a statement and returns it with its error. P_ stands for the prefix, T_ for the type.
CREATE FUNCTION said(prefix text, type text, statement text) RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(e'\n', s, coalesce(code || ': ' || message, 'ok'), 'DETAIL: ' || detail,
    'HINT: ' || hint)
  FROM replace(replace(statement, 'P_', prefix || '_'), 'T_', type) s, error_of(s)
$$;
CREATE FUNCTION without(f :type, "values" anyarray) RETURNS :type LANGUAGE plpgsql AS $$
DECLARE
  i int;
BEGIN
  FOR i IN 1 .. array_length("values", 1) LOOP
    f := f - "values"[i];
  END LOOP;
  RETURN f;
END $$;

-- Adding, probing and removing, with functions and operators.
SELECT :add(f, 5) = f + 5 AS "add is +",
  :contains(f + 5, 5) AS "contains the value",
  f + 5 @> 5 AS "@> says so",
  5 <@ f + 5 AS "<@ says so",
  :contained(5, f + 5) AS "contained says so",
  f + 5 @> 6 AS "contains another value",
  f @> 5 AS "empty contains it",
  5 <@ f AS "<@ says so of empty",
  :remove(f + 5, 5) = f AS "remove leaves nothing",
  f + 5 - 5 = f AS "- leaves nothing",
  :remove(f + 5, 5, true) = f AS "remove if it is there",
  f + 5 + 6 - 5 = f + 6 AS "the other one stays",
  f + 5 + 5 - 5 = f + 5 AS "the other copy stays",
  f + 5 + 6 - 5 - 6 = f AS "both go",
  f + 7 + 5 + 6 = f + 5 + 6 + 7 AS "in any order"
FROM (SELECT :create(100) AS f) s \gx
-- The same with literals. A literal is read as the filter's element type: here, text and integers.
SELECT :add(f, '5') = f + '5' AS "add is +",
  :contains(f + '5', '5') AS "contains the value",
  f + '5' @> '5' AS "@> says so",
  '5' <@ f + '5' AS "<@ says so",
  :contained('5', f + '5') AS "contained says so",
  f + '5' @> '6' AS "contains another value",
  f @> '5' AS "empty contains it",
  f + '5' - '5' = f AS "- leaves nothing",
  :remove(f + '5', '5') = f AS "remove leaves nothing",
  :remove(f + '5', '5', true) = f AS "remove if it is there",
  f + '5' = f + '5'::text AS "the literal is text"
FROM (SELECT :create(100) AS f) s \gx
SELECT f + '5' = f + 5 AS "the literal is an integer",
  f + 5 @> '5' AS "@> reads an integer",
  '6' <@ f AS "<@ has another value",
  f + '5' - '5' = f AS "- leaves nothing",
  f + 5 - '5' = f AS "typed comes, literal goes",
  f + '5' - 5 = f AS "literal comes, typed goes",
  :remove(f + 5, '5', false) = f AS "remove leaves nothing",
  :multiplicity(f + '5' + 5, '5') AS copies,
  :multiplicity(f + '5' + 5, '6') AS "copies of another literal"
FROM (SELECT :create(100) + 1 AS f) s \gx
SELECT :multiplicity(f, 1) AS "copies of none",
  :multiplicity(f + 1, 1) AS "copies of one",
  :multiplicity(f + 1 + 1 + 2, 1) AS "copies of two",
  :multiplicity(f + 1 + 1 - 1, 1) AS "copies of two less one",
  :multiplicity(f + 1, 2) AS "copies of another value"
FROM (SELECT :create(100) AS f) s \gx
SELECT :add_all(f, '{1,NULL,3}'::int[]) = f + 1 + 3 AS "NULL is skipped",
  :add_all(f, '{}'::int[]) = f AS "nothing adds nothing",
  :add_all(f, '{NULL,NULL}'::int[]) = f AS "NULLs add nothing",
  :add_all(f, NULL::int[]) = f AS "no array adds nothing",
  :add_all(f, '{{1,2},{3,4}}'::int[]) = f + 1 + 2 + 3 + 4 AS "of any dimension",
  :add_all(f, '{7,7,7}'::int[]) = f + 7 + 7 + 7 AS "copies are added",
  :multiplicity(:add_all(f, '{7,7,8,7}'::int[]), 7) AS copies
FROM (SELECT :create(100) AS f) s \gx
SELECT bool_and(:add_all(f, a) @> i) AS "all are found",
  bool_and(:add_all(f, a) - 1 - 2 @> i) FILTER (WHERE i > 2) AS "all but two removed are found",
  bool_or(:add_all(f, a) - 1 - 2 @> i) FILTER (WHERE i <= 2) AS "one of the removed is found"
FROM (SELECT :create(1000, 0.001) AS f, array_agg(i) AS a FROM generate_series(1, 1000) i) s,
  generate_series(1, 1000, 1) i \gx

-- Named arguments and defaults.
SELECT :create(10) = :create(expected => 10, fpr => 0.01, seed => 0) AS "create has defaults",
  :add(filter => f, value => 1) @> 1 AS add,
  :add_all(filter => f, "values" => '{1}'::int[]) @> 1 AS add_all,
  :contains(filter => f + 1, value => 1) AS contains,
  :contained(value => 1, filter => f + 1) AS contained,
  :remove(filter => f + 1, value => 1) = f AS remove,
  :remove(filter => f, value => 1, missing_ok => true) = f AS "remove with missing_ok",
  :remove(value => '1', missing_ok => true, filter => f) = f AS "remove of a literal",
  :multiplicity(filter => f + 1, value => 1) AS multiplicity,
  (:info(filter => f)).expected AS "expected of info",
  :sizing(expected => 10, fpr => 0.01) = :sizing(10, 0.01) AS sizing,
  :check(filter => f) IS NULL AS check
FROM (SELECT :create(10) AS f) s \gx
SELECT seed, expected, target_fpr FROM :info(:create(10, seed => -5, fpr => 0.001));
SELECT * FROM :info(:create(1000, seed => 3)) \gx
SELECT bool_and(bits_per_value = s.bits::float8 / n) AS "bits per value are of all",
  bool_and((i.bits, i.bytes) = (s.bits, s.bytes)) AS "info has the sizes",
  bool_and(i.expected = n) AS "info has the capacity",
  bool_and(i.target_fpr = rate) AS "info has the rate",
  bool_and(i.bytes = pg_column_size(f)) AS "bytes are stored bytes",
  bool_and(i.bytes = 4 + octet_length(f::bytea)) AS "bytes are exported bytes"
FROM (VALUES (1), (10), (850), (851), (1000), (54321)) n(n),
  (VALUES (0.3), (0.01), (0.005), (0.001), (1e-4), (1e-9)) r(rate),
  LATERAL (SELECT :create(n, rate) AS f) c, :sizing(n, rate) s, :info(f) i \gx
SELECT :clear(f) = :create(100, 0.001, 7) AS "cleared is empty",
  :clear(f) @> 1 AS "cleared has a member",
  :clear(:clear(f)) @> 1 AS "cleared twice has one",
  f @> 1 AS "argument is as before",
  :fpr(f) = estimated_fpr AS "rate is that of info"
FROM (SELECT :add_all(:create(100, 0.001, 7), array(SELECT generate_series(1, 50))) AS f) x,
  :info(f) \gx

-- put returns whether the value seemed to be absent.
SELECT (:put(f, 5)).filter = f + 5 AS "filter plus the value",
  (:put(f, 5)).was_new AS "first is new",
  (:put(f + 5, 5::int8)).was_new AS "second is new",
  (:put(f, '5')).was_new AS "first literal is new",
  (:put(f + '5', '5')).was_new AS "second literal is new",
  (:put(f + 5, '5')).was_new AS "known literal is new",
  (:put(f + 5 - 5, 5)).was_new AS "removed one is new again",
  (:put(filter => f, value => 1)).filter = f + 1 AS "arguments have names"
FROM (SELECT :create(10) AS f) s \gx
SELECT (:put(f, NULL::int)).filter = f AS "NULL adds nothing",
  (:put(f, NULL::int)).was_new AS "NULL is new",
  (:put(f, NULL)).filter = f AS "NULL literal adds nothing",
  (:put(f, NULL)).was_new AS "NULL literal is new"
FROM (VALUES (:create(10)), (:create(10) + 1)) v(f);
PREPARE unique_one AS SELECT (:put(:create(10) + 1, $1)).was_new;
EXECUTE unique_one('1');
EXECUTE unique_one('2');
SELECT outcome(format('SELECT %s_put(%1$s_create(10) + 1, ''a''::text)', :'prefix')) AS text,
  outcome(format('SELECT %s_put(%1$s_create(10), ''{}''::json)', :'prefix')) AS json,
  outcome(format('SELECT %s_put(%1$s_create(10) + date ''today'', ''1'')', :'prefix')) AS literal;

-- A NULL value leaves the filter as it was. With a NULL filter or a NULL probe, the result is NULL.
SELECT :add(f, NULL::int) = f AS add,
  f + NULL::text = f AS "+",
  f + NULL = f AS "+ of a literal",
  :add(f, NULL) = f AS "add of a literal",
  :remove(f, NULL::int) = f AS remove,
  f - NULL::text = f AS "- of a value",
  f - NULL = f AS "- of a literal",
  :remove(f, NULL::int, false) = f AS "remove, not missing_ok",
  :remove(f, NULL, NULL) = f AS "remove, missing_ok NULL"
FROM (VALUES (:create(10)), (:create(10) + 1)) v(f);
SELECT f - 1 AS "- of a value",
  f - '1' AS "- of a literal",
  :remove(f, 1, true) AS remove,
  f @> 1 AS "@>",
  1 <@ f AS "<@",
  f @> '1' AS "@> of a literal",
  '1' <@ f AS "<@ of a literal",
  :multiplicity(f, 1) AS multiplicity,
  :multiplicity(f, '1') AS "multiplicity of a literal",
  :clear(f) AS clear,
  :count(f) AS count,
  :fpr(f) AS fpr,
  :info(f) AS info,
  :check(f) AS check,
  f::bytea AS bytea,
  f = f AS equal,
  f < f AS "<"
FROM (SELECT NULL:::type AS f) s \gx
SELECT f @> NULL::int AS "@>",
  NULL::int <@ f AS "<@",
  f @> NULL AS "@> of a literal",
  NULL <@ f AS "<@ of a literal",
  :multiplicity(f, NULL::int) AS multiplicity,
  :multiplicity(f, NULL) AS "multiplicity of a literal",
  :sizing(NULL, 0.01) AS sizing,
  NULL::bytea:::type AS "cast of NULL"
FROM (SELECT :create(10) + 1 AS f) s \gx

-- Removing an absent value is an error, unless missing_ok is set.
SELECT said(:'prefix', :'type', 'SELECT P_create(10) + 1 - 2');
SELECT expression, outcome('SELECT ' || replace(expression, 'P_', :'prefix' || '_'))
FROM (VALUES ('P_create(10) - 1'), ('P_remove(P_create(10) + 1 - 1, 1, false)'),
  ('P_remove(P_create(10) + 1, 2, NULL)'), ('P_remove(P_create(10) + 1, ''2'')')) v(expression);
SELECT :remove(f, 2, true) = f AS "typed, as it was",
  :remove(f, '2', true) = f AS "literal, as it was",
  :remove(f, 2, missing_ok => true) @> 1 AS "the other one stays"
FROM (VALUES (:create(10)), (:create(10) + 1)) v(f);
-- Even with missing_ok, a value of the wrong type is an error.
SELECT said(:'prefix', :'type', statement) FROM (VALUES
  ($$SELECT P_remove(P_create(10) + 1, 'a'::text, true)$$),
  ($$SELECT P_create(10) + 1 - 1.5$$)) v(statement);

-- A filter whose last value was removed has no element type, and takes values of any type.
SELECT element_type,
  f @> 1 AS "contains what left",
  f @> 'a'::text AS "contains a text",
  f + 'a'::text @> 'a' AS "takes a text",
  :check(f)
FROM (SELECT :create(10) + 1 + 2 - 1 - 2 AS f) s, :info(f) \gx
SELECT f = :create(10) AS of_arrays, :check(f)
FROM (SELECT :remove(:remove(:create(10) + '{1}'::int[] + '{2}'::int[], '{2}'::int[]),
      '{1}'::int[]) AS f) s;
SELECT (:info(:create(10) + 1 + 2 - 1)).element_type;

-- Untyped parameters.
PREPARE deletable AS
  SELECT f @> $1 AS "@> says so",
    $1 <@ f AS "<@ says so",
    (:info(f + $1)).element_type,
    f + $1 - $1 = f AS "comes and goes",
    :multiplicity(f + $1, $1) AS multiplicity,
    :remove(f, $1, true) = f AS "remove leaves it as it is"
  FROM (SELECT :create(10) + 1 + 2 AS f) s;
EXECUTE deletable('2') \gx
EXECUTE deletable('10') \gx
EXECUTE deletable(NULL) \gx
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'deletable';
SELECT outcome($$EXECUTE deletable('two')$$) AS unreadable;
DEALLOCATE deletable;

-- Literals that depend on settings, or that cannot be read.
SELECT value, outcome(format('SELECT %s_create(10) + %s @> ''1''', :'prefix', value)) AS asking,
  outcome(format('SELECT %s_create(10) + %s + ''1''', :'prefix', value)) AS adding,
  outcome(format('SELECT %s_create(10) + %s - ''1''', :'prefix', value)) AS removing,
  outcome(format('SELECT %s_multiplicity(%1$s_create(10) + %s, ''1'')', :'prefix', value))
    AS counting
FROM (VALUES ('date ''2024-02-01'''), ('timestamptz ''2024-02-01'''), ('interval ''1 day'''),
  ('''{1}''::int[]'), ('int4range(1, 2)'), ('row(1)'), ('md5('''')::uuid'), ('true'), ('1.0')
) v(value);
SELECT said(:'prefix', :'type', statement) FROM (VALUES
  ($$SELECT P_create(10) + date '2024-02-01' - '2/1/2024'$$)) v(statement);
-- Dates and times in ISO 8601 form do not depend on settings.
SELECT f @> '2024-01-08T12:00Z' AS "is asked for",
  :multiplicity(f, '2024-01-08 07:00:00-05') AS multiplicity,
  f - '2024-01-08 17:30+05:30' @> '2024-01-08T12:00Z' AS "stays when removed",
  f + '2024-01-09Z' @> timestamptz '2024-01-09 00:00Z' AS "is added"
FROM (SELECT :create(10) + timestamptz '2024-01-08 12:00Z' AS f) s \gx

-- Without an element type, a literal stands for its readings in all types of a family, as in
-- bloomfilter. It is found if any reading is found. It is added and removed under all readings.
SELECT f + 0.1::float8 @> '0.1' AS "float8 is asked for",
  f + 0.1::float4 @> '0.1' AS "float4 is asked for",
  f + '0.1' - '0.1' = f AS "both come and go",
  f + 'b  ' @> 'b'::char(3) AS "char is added",
  f + 'b  ' @> 'b  '::text AS "text is added",
  f + 'b  ' - 'b  ' = f AS "blanks come and go"
FROM (SELECT :create(10) AS f) s \gx

-- A value that was added as one type is found, counted and removed as an equal value of another
-- type.
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN mood_domain AS mood;
CREATE DOMAIN text_domain AS text;
CREATE TYPE named AS (i int, t text);
CREATE TABLE pairs (family text, a text, b text);
COPY pairs FROM stdin (FORMAT csv, DELIMITER '|', QUOTE e'\x01');
integer|5::int2|5::int4
integer|5::int2|5::int8
integer|(-5)::int4|(-5)::int8
integer|5::positive|5::int8
float|0::float8|'-0'::float8
float|0::float4|'-0'::float8
float|'NaN'::float4|'NaN'::float8
float|1.5::float4|1.5::float8
numeric|1.0|1.00
numeric|1e4|10000.0
text|'abc'::text|'abc'::varchar
text|'abc'::name|'abc'::char(10)
text|'abc'::char(3)|'abc'::char(10)
text|''::text|'  '::char(2)
text|'abc'::text_domain|'abc'::varchar(5)
text|'a '::varchar|'a '::varchar(10)
bytea|'\x61'::bytea|'a'::bytea
uuid|md5('')::uuid|'{D41D8CD98F00B204E9800998ECF8427E}'::uuid
boolean|true|'yes'::boolean
"char"|'a'::"char"|'abc'::"char"
oid|5::oid|'5'::oid
date|date '2024-02-29'|date '20240229'
timestamp|timestamp '2024-02-29 24:00'|timestamp '2024-03-01'
timestamptz|timestamptz '2024-02-29 12:00+00'|timestamptz '2024-02-29 13:30+01:30'
time|time '12:00'|time '12:00:00.000000'
timetz|timetz '12:00+01'|timetz '12:00:00+01:00'
interval|interval '1 month'|interval '720 hours'
inet|'10.0.0.0/8'::inet|'10'::cidr
macaddr|'08:00:2b:01:02:03'::macaddr|'08002b010203'::macaddr
macaddr8|'08:00:2b:01:02:03:04:05'::macaddr8|'08002b0102030405'::macaddr8
jsonb|'{"a": 1, "b": [2]}'::jsonb|'{"b": [2.0], "a": 1.00}'::jsonb
enum|'sad'::mood|'sad'::mood_domain
array|'{1,2}'::int2[]|'{1,2}'::int8[]
array|'{a,NULL}'::text[]|'{"a  ",NULL}'::char(3)[]
range|'[1,3]'::int4range|'[1,4)'::int8range
range|'[1.0,2.00]'::numrange|'[1,2]'::numrange
multirange|'{[1,3],[4,6]}'::int4multirange|'{[1,7)}'::int8multirange
row|row(1::int2, 'a'::text)|row(1::int8, 'a'::varchar)
row|row(1, 'a')::named|row(1, 'a'::text)
\.
CREATE FUNCTION missed(prefix text, family text, a text, b text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  failures text;
BEGIN
  EXECUTE format(replace($query$
    SELECT string_agg(way, ', ')
    FROM (SELECT P_create(100) AS f, %1$s AS a, %2$s AS b OFFSET 0) v,
      LATERAL (SELECT pg_typeof(a) = 'record'::regtype AS anonymous,
        nullif(pg_typeof(a), 'record'::regtype) AS of) t,
      LATERAL (VALUES
        ('bytes', f + a = f + b),
        ('element_type', (P_info(f + a)).element_type = %3$L),
        ('P_add, P_contains', P_contains(P_add(f, a), b)),
        ('+, @>', f + a @> b),
        ('<@', b <@ f + a),
        ('folded', P_create(100) + (%1$s) @> (%2$s)),
        ('P_multiplicity', P_multiplicity(f + a, b) = P_multiplicity(f + b, a)),
        ('copies', P_multiplicity(f + a + a, b) = 2 * P_multiplicity(f + a, b)),
        ('-', %5$s = f),
        ('P_remove', P_remove(f + a + a, b) = f + a),
        ('type', anonymous OR P_create(100, type => of)::bytea
          = substr((f + a)::bytea, 1, 36) || substr(f::bytea, 37)),
        ('type, +', anonymous OR P_create(100, type => of) + b = f + a),
        ('missing_ok', P_remove(f + a, b, true) = f),
        ('removed', NOT P_remove(f + a, b) @> a),
        ('missing', outcome(format('SELECT P_remove(%%L, %%s)', f, %4$L)) = '22023')
      ) c(way, holds)
    WHERE holds IS NOT TRUE $query$, 'P_', prefix || '_'), a, b, family, a,
    CASE family WHEN 'array' THEN prefix || '_remove(f + a, b)' ELSE 'f + a - b' END)
  INTO STRICT failures;
  RETURN failures;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;
CREATE FUNCTION missed_together(prefix text, a text, b text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  failures text;
BEGIN
  EXECUTE format(replace($query$
    SELECT string_agg(way, ', ')
    FROM (SELECT P_agg(a) AS self_sized, P_agg(a, 100) AS sized, P_agg(a, 100, 0.001) AS rated,
        P_add_all(P_create(100), array_agg(a)) AS list
      FROM (SELECT %1$s AS a) x) g,
      (SELECT %2$s AS b OFFSET 0) v, LATERAL (VALUES
        ('P_agg', self_sized @> b),
        ('P_agg with capacity', sized @> b),
        ('P_agg with rate', rated @> b),
        ('P_agg -', NOT self_sized - b @> b),
        ('P_agg with capacity -', sized - b = P_create(100)),
        ('P_agg with rate -', rated - b = P_create(100, 0.001)),
        ('P_add_all', list @> b),
        ('P_add_all -', list - b = P_create(100))) c(way, holds)
    WHERE holds IS NOT TRUE $query$, 'P_', prefix || '_'), a, b) INTO STRICT failures;
  RETURN failures;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;
SELECT count(*) AS pairs, count(DISTINCT family) AS families FROM pairs;
SELECT family, a, b, missed FROM (
  SELECT *, missed(:'prefix', family, a, b) FROM pairs
  UNION ALL SELECT *, missed(:'prefix', family, b, a) FROM pairs) m
WHERE missed IS NOT NULL;
-- array_agg() of arrays is an array of their elements, so arrays are left out.
SELECT family, a, b, missed FROM (
  SELECT *, missed_together(:'prefix', a, b) AS missed FROM pairs
  UNION ALL SELECT *, missed_together(:'prefix', b, a) FROM pairs) m
WHERE missed IS NOT NULL AND family <> 'array' AND a !~ ' ''::varchar'; -- varchar: see below

-- A varchar with trailing blanks equals a text with the blanks and a char(n) without them. So it
-- has two hashes, and is added and removed under both. A value with only one of the two hashes is
-- found, but cannot be removed as the varchar.
SELECT f + v - v = f AS "comes and goes",
  f + v + v - v = f + v AS "a copy stays",
  f + v @> t AS "asks for the text",
  f + v @> c AS "asks for the char",
  f + t @> v AS "text has it",
  f + c @> v AS "char has it",
  :add_all(f, array[v, 'b'::varchar]) - v - 'b'::varchar = f AS "a list comes and goes",
  f + v + t - v = f + t AS "the text beside it stays",
  f + v + c - v = f + c AS "the char beside it stays",
  :remove(f + t, v, true) = f + t AS "the text alone does not go",
  :multiplicity(f + t + c, v) AS "copies of both",
  :multiplicity(f + t, v) AS "copies of one"
FROM (SELECT 'a '::varchar AS v, 'a'::char(5) AS c, 'a '::text AS t, :create(10) AS f) s \gx
SELECT said(:'prefix', :'type', statement) FROM (VALUES
  ($$SELECT P_create(10) + 'a '::text - 'a '::varchar$$)) v(statement);

-- The two hashes of a varchar may look the same. Even then, a value that was added once cannot be
-- removed under both hashes.
SELECT f @> v AS "seems to be there",
  outcome(format('SELECT %L::%s - %L::varchar', f, pg_typeof(f), v)) AS removing,
  :remove(f, v, true) = f AS "as it was",
  f + v - v = f AS "comes and goes"
FROM (SELECT :create(1, 0.5) + t AS f, t::varchar AS v
    FROM generate_series(1, 20000) i, LATERAL (SELECT i || ' ' AS t) t
    WHERE :multiplicity(:create(1, 0.5) + t, i::text) > 0 LIMIT 1) s \gx
-- A literal that is too long for a name is cut when it is read as name. It is looked up as name,
-- too, but not added as name.
\set long '''nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn'''
SELECT f + name @> :long AS "asks for the name",
  f + :long @> name::text AS "adds the name",
  :remove(f + name, :long, true) @> name::text AS "the name stays"
FROM (SELECT :create(10) AS f, repeat('n', 63)::name AS name) s \gx

-- Every use raises an error for values of another family, of another row or array type, of an
-- unsupported type, and under a nondeterministic collation. (42883: the operator - takes no array.)
BEGIN; -- rolled back, because another test creates citext, too
CREATE EXTENSION citext SCHEMA :prefix;
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE uses (statement text);
INSERT INTO uses SELECT replace(statement, 'P_', :'prefix' || '_') FROM (VALUES
  ('SELECT %1$s + %2$s'),
  ('SELECT %1$s - %2$s'),
  ('SELECT P_remove(%1$s, %2$s, true)'),
  ('SELECT %1$s @> %2$s'),
  ('SELECT %2$s <@ %1$s'),
  ('SELECT P_multiplicity(%1$s, %2$s)'),
  ('SELECT P_add_all(%1$s, array[%2$s])'),
  ('SELECT f + x FROM (SELECT %1$s AS f, %2$s AS x OFFSET 0) s')) v(statement);
CREATE VIEW samples AS
  SELECT DISTINCT ON (family) family, a AS value FROM pairs ORDER BY family, a COLLATE "C";
CREATE TEMP TABLE outcomes AS
SELECT f.family, s.family AS value,
  outcome(format(statement, format('(%s_create(10) + %s)', :'prefix', f.value), s.value))
FROM samples f JOIN samples s ON f.family <> s.family, uses
WHERE NOT (s.family = 'array' AND statement LIKE '%array[%');
SELECT outcome, count(*) FROM outcomes GROUP BY outcome ORDER BY outcome;
-- Exceptions: a value can be probed for if SQL compares it with the members. It can be added, and
-- removed if it is there, if SQL casts it implicitly.
SELECT family, value, count(*) FILTER (WHERE outcome = 'ok') AS done,
  count(*) FILTER (WHERE outcome = '22023') AS absent
FROM outcomes WHERE outcome IN ('ok', '22023') GROUP BY family, value ORDER BY family, value;
SELECT outcome, count(*) FROM (
  SELECT outcome(format(statement, format('(%s_create(10) + %s)', :'prefix', a), b))
  FROM (VALUES ('''{1}''::int[]', '''{1}''::text[]'), ('int4range(1, 2)', 'numrange(1, 2)'),
    ('row(1)', 'row(1, 2)'), ('''{1}''::int[]', '1'), ('1', '''{1}''::int[]')) v(a, b), uses
  WHERE NOT (b LIKE '%[]' AND statement LIKE '%array[%')) o
GROUP BY outcome;
SELECT outcome, count(*) FROM (
  SELECT outcome(format(statement, f, value))
  FROM (VALUES ('''{}''::json'), ('''(1,2)''::point'), ('''1''::money'), ('''a''::citext'),
      ('''a'' COLLATE any_case'), ('row(1, ''a''::citext)'), (:'prefix' || '_create(10)')) v(value),
    (VALUES (:'prefix' || '_create(10)'),
      (format('(%s_create(10) + ''a''::text)', :'prefix'))) f(f), uses
  UNION ALL
  SELECT outcome(format('SELECT %s_agg(%s%s)', :'prefix', value, parameters))
  FROM (VALUES ('''{}''::json'), ('''a''::citext'), ('''a'' COLLATE any_case')) v(value),
    (VALUES (''), (', 10'), (', 10, 0.1')) p(parameters)) o
GROUP BY outcome;
SELECT said(:'prefix', :'type', statement) FROM (VALUES
  ($$SELECT P_create(10) + 1 @> 'a'::text$$),
  ($$SELECT P_create(10) + 1 + 'a'::text$$),
  ($$SELECT P_create(10, type => 'citext')$$),
  ($$SELECT P_create(10) + 1 @> '{1}'::int[]$$),
  ($$SELECT P_multiplicity(P_create(10) + 'a'::text, 1)$$),
  ($$SELECT P_agg(r) FROM (VALUES (row(1, 2)), (row(1, 'a'::text))) v(r)$$)) v(statement);
ROLLBACK;
SELECT outcome(format('SELECT %s_contains(bf_create(10), 1)', :'prefix')) AS bloomfilter,
  outcome(format('SELECT bf_contains(%s_create(10), 1)', :'prefix')) AS by_bf,
  outcome(format('SELECT %s_create(10) = bf_create(10)', :'prefix')) AS compared;

-- The aggregate: over no rows, over NULL alone, filtered, grouped, distinct, ordered.
SELECT f = nulls AS "as of NULL alone",
  sized + 1 = :create(1000) + 1 AS "for what was asked",
  rated + 1 = :create(1000, 0.1) + 1 AS "at the rate, too",
  f @> 1 AS "contains 1",
  f @> '' AS "contains a literal",
  element_type, expected, target_fpr, bytes, :check(f)
FROM (SELECT :agg(x) AS f, :agg(x, 1000) AS sized, :agg(x, 1000, 0.1) AS rated
    FROM generate_series(1, 0) x) s,
  (SELECT :agg(NULL::int) AS nulls) n, :info(f) \gx
SELECT :agg(x, 1000, 0.001) = :create(1000, 0.001) AS only_null FROM (VALUES (NULL::int)) v(x);
SELECT :agg(x) = :agg(y) AS "NULL is no value", :agg(x, 10) = :agg(y, 10) AS "nor when sized"
FROM (VALUES (1, NULL), (NULL, 2), (2, 1)) v(x, y);
SELECT g, expected,
  f = :agg(x) AS "as in another GROUP BY",
  f = :agg(x, NULL) AS "as with capacity NULL",
  f = :agg(x, NULL, NULL) AS "as with rate NULL, too"
FROM (SELECT x % 3 AS g, x FROM generate_series(1, 10) x) s
  JOIN (SELECT x % 3 AS g, :agg(x) AS f FROM generate_series(1, 10) x GROUP BY 1) t USING (g),
  :info(f)
GROUP BY g, expected, f ORDER BY g;
SELECT (:info(:agg(x) FILTER (WHERE x < 3))).expected,
  :agg(x) FILTER (WHERE x > 9) = :agg(x) FILTER (WHERE NULL) AS "of none as of no rows",
  :agg(x ORDER BY -x) = :agg(x) AS "as of rows in order",
  :agg(DISTINCT x) = :agg(x) AS "as of distinct rows",
  :agg(x, 100 ORDER BY -x) = :agg(x, 100, 0.01) AS "rate is 1 % if not given"
FROM generate_series(1, 9) x \gx
SELECT :agg('a') @> 'a'::text AS unknown_is_text;
SELECT count(DISTINCT f) AS seeds FROM (SELECT :agg(x, 10) AS f FROM generate_series(1, 5) x
  UNION ALL SELECT :add_all(:create(10), '{1,2,3,4,5}'::int[])) s;
-- In a window whose frame only grows, rows are added after the final function was called.
SELECT count(*) AS rows,
  bool_and(self_sized = (SELECT :agg(x) FROM generate_series(1, w.x) x)) AS "as of the rows so far",
  bool_and(sized = (SELECT :agg(x, 200) FROM generate_series(1, w.x) x)) AS "as with a capacity"
FROM (SELECT x, :agg(x) OVER (ORDER BY x) AS self_sized, :agg(x, 200) OVER (ORDER BY x) AS sized
    FROM generate_series(1, 150) x) w \gx

-- The same with more distinct values than are counted exactly, and with little memory.
CREATE TABLE many AS SELECT (x::bigint * 7919) % 200000 AS x FROM generate_series(1, 300000) x;
CREATE TABLE of_many AS SELECT :agg(x) AS f, :agg(x, 1000000) AS sized FROM many;
SET work_mem = '64kB';
SELECT f = (SELECT :agg(x) FROM many) AS "spilled, the same",
  sized = (SELECT :agg(x, 1000000) FROM many) AS "sized, the same",
  f = (SELECT :agg(x ORDER BY x) FROM many) AS "sorted, the same"
FROM of_many \gx
RESET work_mem;

-- Unions.
CREATE FUNCTION made(first int, last int, expected bigint DEFAULT 1000, fpr float8 DEFAULT 0.01)
RETURNS :type LANGUAGE sql
RETURN (SELECT :agg(i, expected, fpr) FROM generate_series(first, last) i);
SELECT fpr,
  :union(f, NULL) = f AS "right NULL adds nothing",
  :union(NULL, f) = f AS "left NULL adds nothing",
  :union(NULL:::type, NULL) IS NULL AS "NULL of NULLs",
  :union(f, :create(1000, fpr)) = f AS "empty adds nothing",
  :union(a => :create(1000, fpr), b => f) = f AS "arguments have names",
  :union(made(1, 5, 1000, fpr), made(6, 9, 1000, fpr)) = f AS "as if all were added"
FROM unnest(ARRAY[0.1, 0.01, 0.005, 0.0001]) fpr, made(1, 9, 1000, fpr) f;
-- A self-sized filter without values adds nothing to a union, not even its size.
SELECT :union(f, none) = f AS "adds nothing on the right",
  :union(none, f) = f AS "adds nothing on the left",
  :union(none, none) = none AS "both are nothing",
  (SELECT :union_agg(v) FROM (VALUES (none), (f), (none), (NULL)) v(v)) = f
    AS "adds nothing to an aggregate",
  :union(self_sized, sized) = :union(sized, self_sized) AS "self-sized and sized commute",
  get_byte(self_sized::bytea, 32) AS "flags of self-sized",
  get_byte(:union(self_sized, sized)::bytea, 32) AS "flags of self-sized and sized",
  get_byte(:union(self_sized, self_sized)::bytea, 32) AS "flags of self-sized and self-sized"
FROM (SELECT made(1, 10, 50) AS f, :agg(x) AS none FROM generate_series(1, 0) x) s,
  (SELECT :agg(x) AS self_sized, :agg(x, 4) AS sized FROM generate_series(1, 4) x) o \gx
SELECT :union_agg(f) = :union(:create(100) + 1 + 2, :create(100) + 1 + 3)
    AS "as united one by one",
  bool_and(f @> '1') AS "member of each is found",
  :union_agg(f) FILTER (WHERE false) IS NULL AS "NULL of none",
  :union_agg(NULL:::type) IS NULL AS "NULL of NULLs"
FROM (VALUES (:create(100) + 1 + 2), (:create(100) + 1 + 3), (NULL)) v(f) \gx
SELECT said(:'prefix', :'type', statement) FROM (VALUES
  ($$SELECT P_union(made(1, 10), made(1, 10, 2000))$$),
  ($$SELECT P_union(made(1, 10), made(1, 10, 1000, 0.0001))$$),
  ($$SELECT P_union(made(1, 10), P_create(1000, seed => 7) + 1)$$),
  ($$SELECT P_union(made(1, 10), P_create(1000) + 'x'::text)$$),
  ($$SELECT P_union(P_create(10) + row(1), P_create(10) + row(1, 2))$$),
  ($$SELECT P_union_agg(f) FROM (VALUES (made(1, 10)), (P_create(1000) + 'x'::text)) v(f)$$),
  ($$SELECT P_union_agg(f) FROM (VALUES (made(1, 10)), (made(1, 10, 2000))) v(f)$$)) v(statement);

-- Parameters out of range. sql/hints.sql and sql/parameters.sql show the messages.
SELECT replace(statement, 'P_', '') AS statement,
  outcome('SELECT ' || replace(statement, 'P_', :'prefix' || '_'))
FROM (VALUES
  ('P_create(1)'), ('P_create(0)'), ('P_create(-1)'), ('P_create(-9223372036854775808)'),
  ('P_create(9223372036854775807)'), ('P_create(1000000000)'), ('P_create(10, 0.5)'),
  ('P_create(10, 1e-9)'), ('P_create(10, 0)'), ('P_create(10, -0.01)'), ('P_create(10, 0.6)'),
  ('P_create(10, 1e-10)'), ('P_create(10, ''NaN'')'), ('P_create(10, ''Infinity'')'),
  ('P_create(10, seed => -9223372036854775808)'), ('P_create(''many'')'), ('P_create()'),
  ('P_sizing(0, 0.01)'), ('P_sizing(-1, 0.01)'), ('P_sizing(10, 0)'), ('P_sizing(10, 0.6)'),
  ('P_sizing(10, ''NaN'')'), ('P_sizing(9223372036854775807, 0.5)'), ('P_sizing(1000000000, 0.01)'),
  ('P_agg(1, 0)'), ('P_agg(1, -1)'), ('P_agg(1, 10, 0)'), ('P_agg(1, 10, 0.6)'),
  ('P_agg(1, 10, 1e-10)'), ('P_agg(1, 10, ''NaN'')'), ('P_agg(1, NULL, 0.6)'),
  ('P_agg(1, NULL, ''NaN'')'), ('P_agg(1, 1000000000)'), ('P_agg(1, NULL, NULL)'),
  ('P_agg(1, 10, NULL)'), ('P_agg(NULL::int, 0)'), ('P_agg(1, 10, 0.01, ''lines'')')
) v(statement);
SELECT said(:'prefix', :'type', statement) FROM (VALUES
  ($$SELECT P_create(1000000000)$$),
  ($$SELECT P_sizing(9223372036854775807, 0.01)$$),
  ($$SELECT P_agg(1, 1000000000000)$$),
  ($$SELECT P_agg(x, 10 * x) FROM generate_series(1, 2) x$$),
  ($$SELECT P_agg(x, 10, 0.01 * x) FROM generate_series(1, 2) x$$),
  ($$SELECT P_agg(x, n) FROM (VALUES (1, 10), (2, NULL)) v(x, n)$$),
  ($$SELECT P_agg(x, n) FROM (VALUES (NULL::int, NULL), (2, 20)) v(x, n)$$)) v(statement);
SELECT g, (:info(:agg(x, 10 * g))).expected
FROM (SELECT x, 1 + x % 3 AS g FROM generate_series(1, 9) x) s GROUP BY g ORDER BY g;
-- States are merged: first those of partitions, then those of parallel workers.
CREATE TABLE parts (part int, x int) PARTITION BY LIST (part);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
CREATE TABLE part_3 PARTITION OF parts FOR VALUES IN (3);
INSERT INTO parts SELECT 1 + x % 2, x FROM generate_series(1, 3000) x;
INSERT INTO parts SELECT 1 + x % 2, x FROM generate_series(1, 100) x;
INSERT INTO parts VALUES (3, NULL);
ANALYZE parts;
CREATE TABLE plain AS
  SELECT :agg(x) AS self_sized, :agg(x, 3000) AS sized, :agg(x, 3000, 0.0001) AS rated FROM parts;
CREATE TABLE all_x AS SELECT part, x FROM parts;
SET enable_partitionwise_aggregate = on;
SELECT self_sized = :agg(x) AS "sized by itself",
  sized = :agg(x, 3000) AS "sized for values",
  rated = :agg(x, 3000, 0.0001) AS "sized at a rate"
FROM plain, parts GROUP BY self_sized, sized, rated \gx
SELECT plan(format('SELECT %s_agg(x) FROM parts', :'prefix'));
SELECT self_sized = (SELECT :agg(x) FROM parts) AS "sized by itself",
  sized = (SELECT :agg(x, 3000) FROM parts) AS "sized for values",
  rated = (SELECT :agg(x, 3000, 0.0001) FROM parts) AS "sized at a rate"
FROM plain \gx
SELECT said(:'prefix', :'type', statement) FROM (VALUES
  ($$SELECT P_agg(x, 10 * part) FROM parts$$),
  ($$SELECT P_agg(CASE part WHEN 1 THEN row(x) ELSE row(x::text) END) FROM parts$$)) v(statement);
RESET enable_partitionwise_aggregate;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan(format('SELECT %s_agg(x) FROM all_x', :'prefix'));
SELECT self_sized = (SELECT :agg(x) FROM all_x) AS "sized by itself",
  sized = (SELECT :agg(x, 3000) FROM all_x) AS "sized for values",
  rated = (SELECT :agg(x, 3000, 0.0001) FROM all_x) AS "sized at a rate"
FROM plain \gx
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- Text, bytes, casts, binary COPY.
SELECT f::text:::type = f AS "text round trip",
  f::bytea:::type = f AS "bytea round trip",
  bytea(f) = f::bytea AS "function bytea is the cast",
  :type(f::bytea) = f AS "function from bytea is the cast",
  decode(f::text, 'base64') = f::bytea AS "text is base64 of the bytes",
  f::text !~ '\s' AS "text is one line",
  encode(f::bytea, 'base64'):::type = f AS "wrapped text is read",
  4 + octet_length(f::bytea) = pg_column_size(f) AS "size is that of the bytes"
FROM (SELECT :create(100, 0.001, 5) + 'x'::text AS f) s \gx
CREATE TABLE sound (name text, filter :type);
INSERT INTO sound VALUES ('empty', :create(10)), ('values', :create(10) + 1 + 2),
  ('fine', :create(1000, 0.0001) + 1 + 2), ('arrays', :create(10) + '{1}'::int[]),
  ('left', :create(10) + 1 - 1);
INSERT INTO sound SELECT 'self-sized', :agg(x) FROM generate_series(1, 10) x;
CREATE TABLE copied (LIKE sound);
\set copied 'results/' :prefix '.copy'
COPY sound TO STDOUT \g :copied
\set input '\\copy copied FROM ' :copied
:input
SELECT count(*) AS same FROM sound JOIN copied USING (name, filter);
TRUNCATE copied;
COPY sound TO STDOUT (FORMAT binary) \g :copied
\set input '\\copy copied FROM ' :copied ' (FORMAT binary)'
:input
SELECT count(*) AS same FROM sound JOIN copied USING (name, filter);

-- The bytes of a filter of another type.
SELECT said(:'prefix', :'type', statement) FROM (VALUES
  ($$SELECT bf_create(10)::text::T_$$),
  ($$SELECT bf_create(10)::bytea::T_$$)) v(statement);
SELECT outcome(format('SELECT %L::bytea::%s', b, t)) AS bytes,
  outcome(format('SELECT %L::%s', translate(encode(b, 'base64'), e'\n', ''), t)) AS text,
  t = :'type' AS same_type, count(*)
FROM sound, LATERAL (SELECT filter::bytea AS b) b,
  (VALUES ('bloomfilter'), ('countingbloomfilter'), ('cuckoofilter')) t(t)
GROUP BY 1, 2, 3 ORDER BY 3;
SELECT outcome(format('SELECT %s_create(10)::bf_literal', :'prefix')) AS as_literal,
  outcome(format('SELECT %s_create(10)::text::int', :'prefix')) AS as_int;
SELECT DISTINCT castsource::regtype, casttarget::regtype, castcontext, castmethod FROM pg_cast
WHERE :'type'::regtype IN (castsource, casttarget) ORDER BY 1, 2;

SELECT typstorage, typalign, typlen FROM pg_type WHERE oid = :'type'::regtype;

-- Malformed bytes: every length, and every byte of the header with every other value. If a changed
-- value is accepted, the filter with it is plausible and can be used.
CREATE FUNCTION from_bytes(prefix text, type text, b bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  usable boolean;
BEGIN
  EXECUTE format(replace('SELECT f::bytea = $1 AND P_check(f) IS NULL
      AND (P_info(f)).bytes = 4 + octet_length($1) AND f::text::%s = f
    FROM (SELECT $1::%1$s AS f) s', 'P_', prefix || '_'), type) INTO usable USING b;
  RETURN CASE WHEN usable THEN 'usable' ELSE 'not usable' END;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
SELECT n = octet_length(b) AS whole,
  from_bytes(:'prefix', :'type', substr(b || '\x00', 1, n)) AS bytes, count(*) > 0 AS some
FROM (SELECT filter::bytea AS b FROM sound WHERE name IN ('empty', 'values')) s,
  generate_series(0, octet_length(b) + 1) n
GROUP BY 1, 2 ORDER BY 1;
CREATE TABLE flipped AS
  SELECT name, i, value, from_bytes(:'prefix', :'type', set_byte(b, i, value)) AS bytes
  FROM (SELECT name, filter::bytea AS b FROM sound
      WHERE name IN ('empty', 'values', 'arrays', 'self-sized')) s,
    generate_series(0, 35) i, generate_series(0, 255) value
  WHERE get_byte(b, i) <> value;
SELECT DISTINCT bytes FROM flipped ORDER BY bytes;
SELECT CASE WHEN i = 0 THEN '0 version' WHEN i = 1 THEN '1 layout'
    WHEN i = 2 THEN '2 element type' WHEN i = 3 THEN '3 hashes' WHEN i < 12 THEN '4 seed'
    WHEN i < 20 THEN '5 expected' WHEN i < 28 THEN '6 rate' WHEN i < 32 THEN '7 units'
    WHEN i = 32 THEN '8 flags' ELSE '9 shape' END AS field,
  count(DISTINCT value) FILTER (WHERE name = 'values') AS accepted,
  count(DISTINCT value) FILTER (WHERE name = 'empty') AS accepted_when_empty
FROM flipped WHERE bytes = 'usable' GROUP BY 1 ORDER BY 1;
SELECT array_agg(DISTINCT value) AS flags FROM flipped WHERE i = 32 AND bytes = 'usable';
SELECT said(:'prefix', :'type', statement) FROM (VALUES
  ($$SELECT 'not a filter'::T_$$),
  ($$SELECT '\x'::bytea::T_$$)) v(statement);
SELECT said(:'prefix', :'type', format($$SELECT %s::T_ FROM sound WHERE name = 'values'$$, bytes))
FROM (VALUES
  ($$set_byte(filter::bytea, 0, 9)$$),
  ($$set_byte(filter::bytea, 12, 0)$$),
  ($$overlay(filter::bytea PLACING decode(repeat('00', 16), 'hex') FROM 13)$$)) v(bytes);

-- Stored bytes that are damaged, or that belong to another type.
CREATE FUNCTION forged(bytea, int DEFAULT 1) RETURNS :type LANGUAGE internal IMMUTABLE STRICT
  AS 'bytea_substr_no_len';
CREATE TABLE damaged (how text, filter :type);
INSERT INTO damaged
  SELECT how, forged(b) FROM sound, LATERAL (VALUES
    ('version', set_byte(filter::bytea, 0, 2)), ('layout', set_byte(filter::bytea, 1, 0)),
    ('element type', set_byte(filter::bytea, 2, 255)), ('hashes', set_byte(filter::bytea, 3, 40)),
    ('units', set_byte(filter::bytea, 28, 200)), ('flags', set_byte(filter::bytea, 32, 255)),
    ('shape', set_byte(filter::bytea, 35, 1)), ('header cut', substr(filter::bytea, 1, 35)),
    ('table cut', substr(filter::bytea, 1, 45)), ('nothing', ''),
    ('one byte more', filter::bytea || '\x00'), ('no element type', set_byte(filter::bytea, 2, 0)),
    ('another type', (bf_create(10) + 1)::bytea)) v(how, b)
  WHERE name = 'values';
SELECT how, :check(filter) FROM damaged ORDER BY how COLLATE "C";
CREATE TABLE used AS
SELECT how, use, outcome(format('SELECT %s FROM damaged WHERE how = %L',
    replace(replace(use, 'T_', :'type'), 'P_', :'prefix' || '_'), how))
FROM damaged, unnest(ARRAY['filter @> 1', '1 <@ filter', 'filter @> ''1''', 'filter + 1',
    'filter + ''1''', 'filter - 1', 'P_remove(filter, 1)', 'P_add_all(filter, ''{1}''::int[])',
    'P_multiplicity(filter, 1)', 'P_info(filter)', 'P_describe(filter)', 'filter::text',
    'filter::bytea::T_']) use
WHERE how <> 'no element type';
SELECT how, array_agg(DISTINCT outcome) AS outcomes FROM used
WHERE how <> 'another type' GROUP BY how ORDER BY how COLLATE "C";
SELECT outcome, array_agg(use ORDER BY use COLLATE "C") AS uses FROM used
WHERE how = 'another type' GROUP BY outcome ORDER BY outcome COLLATE "C";
-- Comparisons are the only use that does not need sound bytes.
ANALYZE damaged;
SELECT count(*), count(DISTINCT filter), array_agg(filter ORDER BY filter) IS NOT NULL AS sorted,
  (SELECT count(*) FROM damaged a JOIN damaged b USING (filter)) AS joined
FROM damaged;
SELECT said(:'prefix', :'type', 'SELECT P_info(forged((bf_create(10) + 1)::bytea))');

-- Filters are compared, grouped, sorted, joined, and kept in indexes and partitions.
-- expected/comparison.out shows the statements.
\set echo :ECHO
\set ECHO none
\i sql/include/comparison.sql
\set ECHO :echo

-- The functions never change a filter, whether it is stored out of line, stored inline, or in a
-- variable.
CREATE TABLE filters (id int, filter :type);
INSERT INTO filters SELECT x % 2, :agg(x, 100000) FROM generate_series(1, 2000) x GROUP BY 1;
INSERT INTO filters SELECT 2 + x % 2, :create(10) + x FROM generate_series(1, 4) x;
CREATE TABLE before AS SELECT id, md5(filter::bytea) FROM filters;
SELECT count(*) AS rows,
  bool_and(filter + -1 @> -1) AS "+ adds",
  bool_and(filter + -1 - -1 = filter) AS "- undoes +",
  bool_and(:add_all(filter, '{-4,-5}'::int[]) @> -4) AS "add_all adds",
  bool_or(filter - id @> id) FILTER (WHERE filter @> id) AS "- leaves the value",
  bool_or(filter @> -1) AS "+ changed a filter"
FROM filters \gx
SELECT count(*) AS same FROM (SELECT id, md5(filter::bytea) FROM filters INTERSECT TABLE before) s;
SELECT outcome(replace(replace($do$
DO $$
DECLARE
  f T_ := P_create(100);
  g T_ := f;
BEGIN
  FOR i IN 1..100 LOOP
    f := f + i;
  END LOOP;
  FOR i IN 1..100 LOOP
    ASSERT f @> i, 'a value is lacking';
    f := f - i;
  END LOOP;
  ASSERT (P_info(f)).element_type IS NULL, 'something was left';
  ASSERT g = P_create(100), 'another variable was changed';
END $$ $do$, 'P_', :'prefix' || '_'), 'T_', :'type')) AS variables;

-- One call site gets filters that are stored out of line and inline in turn.
SELECT x, array_agg(id ORDER BY id) AS ids,
  array_agg(:multiplicity(filter, x) ORDER BY id) AS multiplicities
FROM filters, (VALUES (1), (2), (4), (2000)) v(x) WHERE filter @> x GROUP BY x ORDER BY x;
SELECT count(*) AS missed
FROM filters JOIN generate_series(1, 2000) x ON x % 2 = id WHERE NOT filter @> x;

-- Filters that are stored out of line are probed by slices and as a whole. At capacity, the false
-- positive rate is kept, and there is no false negative. The including file sets `rates`.
CREATE TABLE large AS
  SELECT fpr, :agg(x, 50001, fpr) AS f
  FROM generate_series(1, 50001) x, unnest(:'rates'::float8[]) fpr GROUP BY fpr;
SELECT fpr,
  f @> 7 AS "first is found",
  f @> 50001 AS "last is found",
  :multiplicity(f, 7) >= 1 AS "first is counted",
  f @> -1 AS "other is found"
FROM large ORDER BY fpr DESC;
SELECT count(*) AS missed_alone FROM large, generate_series(1, 50001, 100) x
WHERE NOT (SELECT f FROM large l WHERE l.fpr = large.fpr AND x > 0) @> x;
CREATE FUNCTION hits(f :type, OUT missed bigint, OUT hits bigint) LANGUAGE plpgsql AS $$
BEGIN
  SELECT count(*) FILTER (WHERE x <= 50001 AND NOT f @> x),
    count(*) FILTER (WHERE x > 50001 AND f @> x)
  INTO STRICT missed, hits FROM generate_series(1, 450001) x;
END $$;
CREATE TABLE asked AS SELECT fpr, f, h.* FROM large, hits(f) h WHERE fpr > 1e-9;
SELECT fpr, missed, hits <= 1.05 * fpr * 400000 + 3 * sqrt(fpr * 400000) AS "rate is kept"
FROM asked ORDER BY fpr DESC;
