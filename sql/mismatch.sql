-- Values of another family, of another row or array type, or of a type that filters cannot hold.
-- For such a value, every function, operator and aggregate raises an error and never answers.
CREATE SCHEMA mismatch;
SET search_path = mismatch, public;
\i sql/include/outcome.sql

CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TYPE named AS (i int, t text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);

-- Every way to use a value and an array with a filter.
CREATE TABLE uses (way text, statement text);
INSERT INTO uses VALUES
  ('bf_add', 'SELECT bf_add(%1$s, %2$s)'),
  ('+', 'SELECT %1$s + %2$s'),
  ('bf_put', 'SELECT bf_put(%1$s, %2$s)'),
  ('bf_contains', 'SELECT bf_contains(%1$s, %2$s)'),
  ('@>', 'SELECT %1$s @> %2$s'),
  ('<@', 'SELECT %2$s <@ %1$s'),
  ('row by row', 'SELECT f @> x FROM (SELECT %1$s AS f, %2$s AS x OFFSET 0) s'),
  ('bf_add_all', 'SELECT bf_add_all(%1$s, %3$s)'),
  ('bf_contains_any', 'SELECT bf_contains_any(%1$s, %3$s)'),
  ('bf_contains_all', 'SELECT bf_contains_all(%1$s, %3$s)'),
  ('bf_contains_each', 'SELECT bf_contains_each(%1$s, %3$s)');
CREATE TABLE aggregates (way text, statement text);
INSERT INTO aggregates VALUES
  ('bf_hash', 'SELECT bf_hash(%1$s)'),
  ('bf_agg', 'SELECT bf_agg(%1$s)'),
  ('bf_agg with capacity', 'SELECT bf_agg(%1$s, 100)'),
  ('bf_agg with rate', 'SELECT bf_agg(%1$s, 100, 0.001)');

-- One value per family. A filter that holds one of them takes no other.
CREATE TABLE samples (family text, value text);
INSERT INTO samples VALUES
  ('integer', '1'), ('float', '1::float8'), ('numeric', '1.0'), ('text', '''1''::text'),
  ('bytea', '''1''::bytea'), ('uuid', 'md5(''1'')::uuid'), ('boolean', 'true'),
  ('"char"', '''1''::"char"'), ('oid', '1::oid'), ('date', 'date ''2024-01-01'''),
  ('timestamp', 'timestamp ''2024-01-01'''), ('timestamptz', 'timestamptz ''2024-01-01'''),
  ('time', 'time ''00:00'''), ('timetz', 'timetz ''00:00+00'''), ('interval', 'interval ''1 day'''),
  ('inet', '''10.0.0.1''::inet'), ('macaddr', '''08:00:2b:01:02:03''::macaddr'),
  ('macaddr8', '''08:00:2b:01:02:03''::macaddr8'), ('jsonb', '''1''::jsonb'),
  ('enum', '''sad''::mood'), ('array', '''{1}''::int[]'), ('range', 'int4range(1, 2)'),
  ('multirange', 'int4multirange(int4range(1, 2))'), ('row', 'row(1)');
CREATE VIEW filters AS SELECT family, format('(bf_create(10) + %s)', value) AS filter FROM samples;

SELECT count(*) AS families, bool_and(outcome('SELECT ' || filter) = 'ok') AS made FROM filters;
CREATE TABLE outcomes AS
SELECT f.family, s.family AS value, way,
  outcome(format(statement, filter, value, 'array[' || value || ']'))
FROM filters f JOIN samples s ON f.family <> s.family, uses
-- array['{1}'::int[]] is an array of integers
WHERE NOT (s.family = 'array' AND statement LIKE '%3$s%');
SELECT outcome, count(*) FROM outcomes GROUP BY outcome ORDER BY outcome;
-- Exceptions: values that SQL compares with the members can be probed for. Values that SQL casts
-- implicitly can be added. See test/t/020_conversions.pl.
SELECT family, value, count(*) FILTER (WHERE way !~ 'add|put|[+]') AS asking,
  count(*) FILTER (WHERE way ~ 'add|put|[+]') AS adding
FROM outcomes WHERE outcome = 'ok' GROUP BY family, value ORDER BY family, value;

-- The messages of the errors.
SELECT bf_create(10) + 1 @> 'one'::text;
SELECT 'one'::text <@ bf_create(10) + 1;
SELECT bf_contains(bf_create(10) + 'one'::text, 1);
SELECT bf_create(10) + 1 + 1.5;
SELECT bf_put(bf_create(10) + date '2024-01-01', timestamp '2024-01-01');
SELECT bf_add_all(bf_create(10) + 1, '{1.5}'::numeric[]);
SELECT bf_contains_each(bf_create(10) + 1, '{1.5}'::numeric[]);
SELECT bf_create(10) + 1 @> '{1}'::int[];
SELECT bf_create(10) + 1 + '{1}'::int[];
SELECT bf_create(10) + '{1}'::int[] @> 1;
SELECT bf_create(10) + 'one'::text @> 1::positive;

-- Arrays, ranges and rows that are made of other types. A filter of rows learns its row type from
-- its values only. So an aggregate, or a merge of states, may meet a different row type.
CREATE TABLE compositions (family text, a text, b text);
INSERT INTO compositions VALUES
  ('array', '''{1}''::int[]', '''{1}''::text[]'),
  ('array', '''{}''::int[]', '''{}''::text[]'),
  ('array', '''{1}''::numeric[]', '''{1}''::float8[]'),
  ('array', 'array[row(1)]', 'array[int4range(1, 2)]'),
  ('range', 'int4range(1, 2)', 'numrange(1, 2)'),
  ('range', 'daterange(''2024-01-01'', NULL)', 'tsrange(''2024-01-01'', NULL)'),
  ('multirange', '''{[1,2)}''::int4multirange', '''{[1,2)}''::nummultirange'),
  ('row', 'row(1)', 'row(''1''::text)'),
  ('row', 'row(1)', 'row(1, 2)'),
  ('row', 'row(1, ''a'')::named', 'row(''a''::text, 1)'),
  ('row', 'row(''{1}''::int[])', 'row(''{1}''::text[])');
SELECT family, count(*) FROM compositions GROUP BY family ORDER BY family COLLATE "C";
SELECT outcome, count(*) FROM (
  SELECT outcome(format(statement, '(bf_create(10) + ' || a || ')', b, 'array[' || b || ']'))
  FROM compositions, uses WHERE family <> 'array' OR statement NOT LIKE '%3$s%') o
GROUP BY outcome;
SELECT bf_agg(r) FROM (VALUES (row(1, 2)), (row(1, 'a'::text))) v(r);
SELECT bf_agg(r, 10) FROM (VALUES (row(1, 2)), (row(1))) v(r);
SELECT bf_add_all(bf_create(10), array[row(1), row('a'::text)]);
CREATE TABLE parts (part int) PARTITION BY LIST (part);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts VALUES (1), (2);
SET enable_partitionwise_aggregate = on;
SELECT bf_agg(CASE part WHEN 1 THEN row(1) ELSE row('a'::text) END) FROM parts;
\set VERBOSITY terse
SELECT bf_create(10) + int4range(1, 2) @> numrange(1, 2);
SELECT bf_create(10) + '{1}'::int[] @> '{1}'::text[];
\set VERBOSITY default

-- Unsupported types: bare, in arrays, rows and ranges, and under a domain.
CREATE EXTENSION citext SCHEMA mismatch;
CREATE EXTENSION hstore SCHEMA mismatch;
CREATE DOMAIN json_domain AS json;
CREATE DOMAIN citext_domain AS citext;
CREATE TYPE with_json AS (i int, j json);
CREATE TYPE citext_range AS RANGE (subtype = citext);
CREATE TYPE money_range AS RANGE (subtype = money);
CREATE TABLE unsupported (value text);
INSERT INTO unsupported VALUES
  ('''{}''::json'), ('''<a/>''::xml'), ('''(1,2)''::point'), ('''(1,2),(3,4)''::box'),
  ('b''101'''), ('b''101''::varbit'), ('''1''::money'), ('''a b''::tsvector'), ('''a''::tsquery'),
  ('''0/1''::pg_lsn'), ('''1''::xid'), ('''(0,1)''::tid'), ('''pg_class''::regclass'),
  ('''a''::citext'), ('''a=>1''::hstore'), ('bf_create(1)'), ('textout(''a'')'),
  ('''{}''::json_domain'), ('''a''::citext_domain'), ('row(1, ''{}''::json)'),
  ('row(1, ''{}'')::with_json'), ('row(row(''a''::citext))'), ('array[''{}''::json]'),
  ('array[''a''::citext]'), ('array[row(''a''::citext)]'), ('citext_range(''a'', ''b'')'),
  ('money_range(''1'', ''2'')'), ('citext_multirange(citext_range(''a'', ''b''))');
SELECT outcome, count(*) FROM (
  SELECT outcome(format(statement, filter, value, 'array[' || value || ']'))
  FROM unsupported, uses, (VALUES ('bf_create(10)'), ('(bf_create(10) + 1)'), ('bf_agg(1)'),
    ('(bf_create(10) + ''a''::text)'), ('bf_add_hash(bf_create(10), 1)')) f(filter)
  UNION ALL
  SELECT outcome(format(statement, value)) FROM unsupported, aggregates) o
GROUP BY outcome;

-- The messages of the errors.
SELECT bf_create(10) + '{}'::json;
SELECT bf_create(10) @> 'a'::citext;
SELECT bf_agg('a'::citext);
SELECT bf_agg(j) FROM (VALUES ('{}'::json_domain)) v(j);
SELECT bf_create(10) + 'a'::text @> 'a'::citext;
SELECT bf_contains_any(bf_create(10), array['a'::citext]);
SELECT bf_hash(row(1, '(1,2)'::point));

-- A range type that is ordered by a user's comparison function. Its equality is not known.
CREATE FUNCTION ignoring_case(text, text) RETURNS int LANGUAGE sql IMMUTABLE AS
  $$ SELECT bttextcmp(lower($1), lower($2)) $$;
CREATE FUNCTION lt(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
  $$ SELECT lower($1) < lower($2) $$;
CREATE FUNCTION le(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
  $$ SELECT lower($1) <= lower($2) $$;
CREATE FUNCTION eq(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
  $$ SELECT lower($1) = lower($2) $$;
CREATE FUNCTION ge(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
  $$ SELECT lower($1) >= lower($2) $$;
CREATE FUNCTION gt(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
  $$ SELECT lower($1) > lower($2) $$;
CREATE OPERATOR <# (FUNCTION = lt, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR <=# (FUNCTION = le, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR =# (FUNCTION = eq, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR >=# (FUNCTION = ge, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR ># (FUNCTION = gt, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR CLASS any_case FOR TYPE text USING btree AS
  OPERATOR 1 <#, OPERATOR 2 <=#, OPERATOR 3 =#, OPERATOR 4 >=#, OPERATOR 5 >#,
  FUNCTION 1 ignoring_case(text, text);
CREATE TYPE any_case_range AS RANGE (subtype = text, subtype_opclass = any_case, collation = "C");
SELECT any_case_range('a', 'b') = any_case_range('A', 'B') AS equal;
SELECT bf_create(10) + any_case_range('a', 'b');
SELECT bf_agg(any_case_range('a', 'b'));
SELECT bf_create(10) @> any_case_multirange(any_case_range('a', 'b'));
-- The same is true of a range type that is ordered by another type's comparison function.
CREATE TYPE blank_range AS RANGE (subtype = text, subtype_opclass = bpchar_ops, collation = "C");
SELECT blank_range('a', 'c') = blank_range('a  ', 'c') AS equal;
SELECT bf_create(10) + blank_range('a', 'c');

-- A filter that has only hashes does not know what was hashed. It can be probed with any supported
-- value, but not with a bare literal.
SELECT bf_add_hash(bf_create(10), bf_hash(1)) @> 1 AS integer,
  bf_add_hash(bf_create(10), bf_hash('a'::text)) @> 'a'::text AS text;
SELECT bf_add_hash(bf_create(10), 1) @> 'a';
