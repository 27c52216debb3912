-- N-grams, the keys of the operator class text_ngram_ops: a text that fulfils a condition has all
-- n-grams of the condition. Most tests ask a GIN index, which reads exactly the rows that have
-- them. test/search/ngrams.py generates more texts, in other encodings.
CREATE SCHEMA ngrams;
SET search_path = ngrams, public;
SET jit = off; -- it would take longer than all the rest
\pset format unaligned
\pset footer off
\i sql/include/outcome.sql
\i sql/include/plan.sql
\i sql/include/ngrams.sql

-- How many rows an index reads, and how many of them are right. Conditions without four certain
-- bytes in a row read all 20 rows.
CREATE TABLE lines (v text);
INSERT INTO lines VALUES
  (''), ('a'), ('abc'), ('abcd'), ('ABCD'), ('abcde'), ('abcd\'), ('50% off'), ('50x off'),
  ('snake_case'), ('back\slash'), ('foo(bar)'), ('foobar, then barfoo'), ('GET /api/users'),
  ('timeout'), ('İSTANBUL'), ('Istanbul'), (U&'I\0307stanbul'), (U&'4 \212Aelvin'), ('привет, мир');
CREATE INDEX lines_v ON lines USING gin (v gin_ngram_ops);
CREATE FUNCTION counted(condition text, OUT read int, OUT matching int) LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  SET LOCAL enable_seqscan = off;
  plan := plan_of('SELECT FROM lines WHERE ' || condition, 'ANALYZE, TIMING OFF');
  SET LOCAL enable_seqscan = on;
  read := jsonb_path_query_first(plan,
    '$.**? (@."Node Type" == "Bitmap Index Scan")."Actual Rows"')::numeric;
  matching := (plan #>> '{0,Plan,Actual Rows}')::numeric;
END $$;
CREATE FUNCTION each_counted(VARIADIC given text[], OUT condition text, OUT read int,
                             OUT matching int)
RETURNS SETOF record LANGUAGE sql AS $$
  SELECT c, n.* FROM unnest(given) WITH ORDINALITY u(c, i), counted(c) n ORDER BY i
$$;
SET enable_seqscan = off;
SELECT explained('SELECT FROM lines WHERE v LIKE ''%abcd%''');
RESET enable_seqscan;
-- Without an index, the server would raise an error for the last one, at the row `abcde`.
SELECT * FROM each_counted(
  $$v LIKE 'abcd'$$, $$v LIKE '%abcd%'$$, $$v LIKE '%bcde'$$, $$v LIKE 'abc%'$$, $$v LIKE '%'$$,
  $$v LIKE ''$$, $$v LIKE 'ab_cd'$$, $$v LIKE '____abcd'$$, $$v LIKE 'snake\_case'$$,
  $$v LIKE '50\% off'$$, $$v LIKE '50% off'$$, $$v LIKE '50_ off'$$, $$v LIKE 'back\\slash'$$,
  $$v LIKE 'back\slash'$$, $$v LIKE 'back\slash' ESCAPE ''$$, $$v LIKE '50!% off' ESCAPE '!'$$,
  $$v LIKE '%\%_off'$$, $$v LIKE '%foo%bar%'$$, $$v LIKE '%foobar%barfoo%'$$,
  $$v LIKE '%barfoo%foobar%'$$, $$v LIKE '%при%'$$, $$v LIKE '%п%'$$, $$v LIKE '%при_ет%'$$,
  $$v LIKE NULL$$, $$v LIKE 'wxyz\'$$);
SELECT outcome('SELECT FROM lines WHERE v LIKE ''abcd\''');
SELECT * FROM each_counted(
  $$v ^@ 'abcd'$$, $$v ^@ 'abc'$$, $$v ^@ ''$$, $$v ^@ '50% off'$$, $$v ^@ 'bcde'$$);
SELECT * FROM each_counted(
  $$v ~ 'abcd'$$, $$v ~ '^abcd$'$$, $$v ~ 'foobar.*barfoo'$$, $$v ~ '^GET /api'$$,
  $$v ~ 'timeout$'$$, $$v ~ 'foo\(bar\)'$$, $$v ~ 'foobar|timeout'$$, $$v ~ 'time(out)'$$,
  $$v ~ 'time[o]ut'$$, $$v ~ 'timeo{1}ut'$$, $$v ~ 'ti?meout'$$, $$v ~ 'timeouts?'$$,
  $$v ~ 'timeoutt+'$$, $$v ~ 'timeou+t'$$, $$v ~ 'приветы?'$$, $$v ~ 'timeo\w+'$$,
  $$v ~ '\x74imeout'$$,
  $$v ~ '***=timeout'$$, $$v ~ '(?i)timeout'$$, $$v ~ '(?x)time out'$$, $$v ~ '\mtimeout'$$,
  $$v ~ 'back\\slash'$$, $$v ~ ''$$, $$v ~ 'TIMEOUT'$$);
-- An invalid expression is the server's business, once there is a row to compare.
SELECT outcome(format('SELECT FROM lines WHERE v ~ %L', e)) FROM
  unnest('{"*abcd","abcd**","abcd\\","(abcd","abcd[","***abcd",wxyz**}'::text[]) e;

-- Conditions that ignore case follow a collation. Letters beyond ASCII are not looked for.
CREATE INDEX lines_c ON lines USING gin (v COLLATE "C" gin_ngram_ops);
CREATE INDEX lines_und ON lines USING gin (v COLLATE "und-x-icu" gin_ngram_ops);
CREATE INDEX lines_tr ON lines USING gin (v COLLATE "tr-x-icu" gin_ngram_ops);
SELECT collation_name, c.* FROM unnest('{C,und-x-icu,tr-x-icu}'::text[]) collation_name,
  each_counted(
    format($$v COLLATE %I ILIKE 'ABCD'$$, collation_name),
    format($$v COLLATE %I ILIKE '%%TIMEOUT\'$$, collation_name),
    format($$v COLLATE %I ILIKE '%%istanbul%%'$$, collation_name),
    format($$v COLLATE %I ILIKE '%%ISTANBUL%%'$$, collation_name),
    format($$v COLLATE %I ILIKE '%%İSTANBUL%%'$$, collation_name),
    format($$v COLLATE %I ILIKE '%%kelvin%%'$$, collation_name),
    format($$v COLLATE %I ILIKE '%%ПРИВЕТ%%'$$, collation_name),
    format($$v COLLATE %I ~* 'TimeOut'$$, collation_name),
    format($$v COLLATE %I ~* 'istanbul'$$, collation_name),
    format($$v COLLATE %I ~* 'ISTANBUL'$$, collation_name),
    format($$v COLLATE %I ~* 'ISTA'$$, collation_name),
    format($$v COLLATE %I ~* 'kelvin'$$, collation_name),
    format($$v COLLATE %I ~* 'привет'$$, collation_name)) c;

-- A pattern from a table, several patterns, and a long one.
CREATE TABLE patterns (p text);
INSERT INTO patterns VALUES ('%abcd%'), ('ab%'), ('%x off'), (NULL), ('abcde');
SET enable_seqscan = off;
SELECT p, count(v) FROM patterns LEFT JOIN lines ON v LIKE p GROUP BY p ORDER BY p COLLATE "C";
RESET enable_seqscan;
SELECT * FROM each_counted(
  $$v LIKE ANY ('{%timeout%,%50\\%%,snake%,NULL}')$$,
  $$v ILIKE ANY ('{%TIMEOUT%,%KELVIN%,%Foo(%}')$$,
  $$v LIKE ANY (ARRAY(SELECT '%' || i || 'wxyz%' FROM generate_series(1, 1000) i))$$,
  $$v LIKE ANY (ARRAY(SELECT '%time' || repeat('o', i) || 'ut%' FROM generate_series(1, 1000) i))$$,
  $$v LIKE '%' || repeat('timeout', 10000) || '%'$$,
  $$v LIKE '%' || repeat('timeout', 200000) || '%'$$);
CREATE TABLE long_lines (v text);
INSERT INTO long_lines
SELECT string_agg(md5(i::text), ' ' ORDER BY i) FROM generate_series(1, 10000) i;
CREATE INDEX ON long_lines USING gin (v gin_ngram_ops);
SET enable_seqscan = off;
SELECT count(*) FROM long_lines WHERE v LIKE '%' || md5('1') || '%' || md5('10000');
SELECT count(*) FROM long_lines WHERE v LIKE
  (SELECT string_agg(md5(i::text), '_' ORDER BY i) FROM generate_series(1, 10000) i);
RESET enable_seqscan;

-- One text of 96 000 characters
CREATE TABLE longest AS SELECT string_agg(md5(i::text), '' ORDER BY i) AS v
FROM generate_series(1, 3000) i;
CREATE INDEX longest_v ON longest USING bloompages (v text_ngram_ops) WITH (pages_per_range = 1);
SET enable_seqscan = off;
SELECT count(*) AS found FROM longest, unnest('{1,1500,3000}'::int[]) i
WHERE v LIKE '%' || md5(i::text) || '%';
SELECT count(*) AS not_there FROM longest WHERE v LIKE '%no such text%';
RESET enable_seqscan;

-- Under a collation that is not deterministic, the server compares all rows, or raises its error.
-- An index changes nothing about that.
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE loose (v text COLLATE any_case);
CREATE FUNCTION loose_outcomes() RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(outcome(format('SELECT 1 / count(*) FROM loose WHERE v %s ''abcd''', operator)),
    ' ' ORDER BY operator) FROM unnest('{LIKE,ILIKE,~,~*,^@}'::text[]) operator
$$;
SELECT outcome('CREATE INDEX ON loose USING bloompages (v text_ngram_ops)');
CREATE TABLE loose_scan AS SELECT loose_outcomes() AS of_none;
INSERT INTO loose VALUES (U&'\FF21\FF22\FF23\FF24'); -- equals 'abcd', with other bytes
CREATE TABLE loose_scan_of_one AS SELECT loose_outcomes() AS of_one;
CREATE INDEX ON loose USING gin (v gin_ngram_ops);
SET enable_seqscan = off;
SELECT loose_outcomes() = of_one AS same FROM loose_scan_of_one;
DELETE FROM loose;
SELECT loose_outcomes() = of_none AS same FROM loose_scan;
RESET enable_seqscan;

-- Generated texts and conditions, under collations of all kinds: index and scan find the same rows.
SELECT setseed(0.5);
SELECT make_texts(200);
SELECT operator, count(*) > 150 AS many FROM conditions GROUP BY operator ORDER BY operator;
SELECT method, min(fulfilled) > 500 AS many, array_agg(different) FILTER (WHERE different <> '{}')
FROM unnest('{C,und-x-icu,tr-x-icu,lt-x-icu}'::name[]) collation_name,
  unnest('{gin,bloompages}'::name[]) method, asked(collation_name, method) GROUP BY method;

-- The rules that ILIKE and ~* depend on, for each character. If a new library breaks one, this
-- lists the characters. Then src/core/ngrams.hpp needs them.
CREATE VIEW collations AS
SELECT DISTINCT ON (collprovider, collctype, substring(collname FROM '^[^-]*')) collname
FROM pg_collation
WHERE collisdeterministic AND pg_collation_is_visible(oid) -- and for this encoding
  AND collnamespace = 'pg_catalog'::regnamespace
ORDER BY collprovider, collctype, substring(collname FROM '^[^-]*'), length(collname);
CREATE TABLE characters AS
SELECT other_characters() AS others, string_agg(chr(c), '') AS with_case
FROM generate_series(128, 131071) c -- all letters that have two cases, and then some marks
WHERE c NOT BETWEEN 55296 AND 57343 AND c NOT IN (204, 205, 296, 304, 8490) AND
  (lower(chr(c) COLLATE "und-x-icu") <> chr(c) OR upper(chr(c) COLLATE "und-x-icu") <> chr(c)
   OR c BETWEEN 768 AND 879);
SELECT length(others), length(with_case) > 2800 AS many FROM characters;
SELECT collname, broken FROM characters, collations, with_ascii_letter(collname, others) broken
WHERE collname ~ '^(default|C|pg_|(en_US|tr|az|ku|crh|tt|lt)_|(und|en|tr|az|lt|el)-x-icu)';
SELECT collname, broken FROM characters, collations, broken_rules(collname, with_case) broken;
-- It does list them.
SELECT with_ascii_letter('und-x-icu', U&'\00E9\212A\0130');
SELECT broken_rules('tr-x-icu', U&'\0307\0130');

SET client_min_messages = warning;
DROP SCHEMA ngrams CASCADE;
