-- An empty filter can be told its element type before it has a value. equality.sql, counting.sql
-- and cuckoo.sql test every type: the bytes are those that the first value would give.
CREATE SCHEMA element_type;
SET search_path = element_type, public;
\i sql/include/outcome.sql

-- A literal is read as the element type. From the first value on, values of other types are
-- refused.
CREATE TABLE makers (prefix text, made text);
INSERT INTO makers VALUES ('bf', 'bf_create(200, %s)'), ('bf', 'bf_create(200, grow => true, %s)'),
  ('bf', 'bf_create(200, 0.0001, seed => 7, %s)'), ('bf', 'bf_create_by_size(512, 3, %s)'),
  ('bf', 'bf_create(200, layout => ''guava'', %s)'), ('cbf', 'cbf_create(200, %s)'),
  ('cf', 'cf_create(200, seed => 7, %s)');
CREATE FUNCTION answer(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE 'SELECT ' || expression INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
CREATE VIEW made AS SELECT prefix, replace(made, ', %s', '') AS untyped,
  format(made, 'type => ''integer''') AS typed FROM makers;
SELECT typed,
  answer(format('(%s_info(%s)).element_type', prefix, typed)) AS holds,
  answer(format('%s_check(%s) IS NULL', prefix, typed)) AS sound,
  answer(format('%s_count(%s)', prefix, typed)) AS count,
  answer(format('%s @> 11', typed)) AS "yes",
  answer(format('%s + ''11'' = %s + 11', typed, untyped)) AS "11",
  answer(format('%s_add_all(%s, ''{11}''::int[]) = %s + 11', prefix, typed, untyped)) AS "{11}",
  answer(format('%s + ''eleven''', typed)) AS eleven,
  answer(format('%s + ''11''::text', typed)) AS text,
  answer(format('%s @> ''11''::text', typed)) AS "text?",
  answer(format('%s + 1.5', typed)) AS "1.5"
FROM made \gx
-- Without an element type, the first value decides, and a literal is text.
SELECT untyped, answer(format('(%s_info(%s + ''11'')).element_type', prefix, untyped)) AS holds,
  answer(format('%s + ''11'' + 11', untyped)) AS "11"
FROM made;
SELECT bf_create(200) = bf_create(200, type => NULL) AS bloom,
  bf_create_by_size(512, 3) = bf_create_by_size(512, 3, type => NULL) AS "by size",
  cbf_create(200) = cbf_create(200, type => NULL) AS counting,
  cf_create(200) = cf_create(200, type => NULL) AS cuckoo;

-- The type is part of a column's default, so a dump has it.
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE reader (id int, done bloomfilter DEFAULT bf_create(200, type => 'integer'),
  moods cuckoofilter DEFAULT cf_create(type => 'mood', expected => 10));
INSERT INTO reader VALUES (1);
UPDATE reader SET done = done + '11', moods = moods + 'sad'::mood;
UPDATE reader SET done = bf_add_all(done, '{12}'::int[]);
SELECT array_agg(i) AS done, bool_or(moods @> 'sad'::mood) AS sad,
  bool_or(moods @> 'ok'::mood) AS ok
FROM reader, generate_series(10, 14) i WHERE done @> i;
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef
WHERE adrelid = 'reader'::regclass ORDER BY adnum;
SELECT outcome('DROP TYPE mood') AS "type of a default";

-- Unions and intersections treat such a filter like one that was cleared: both have only a type.
CREATE TABLE united AS
  SELECT bf_create(200, type => 'integer') AS typed, bf_clear(bf_create(200) + 1) AS cleared,
    bf_create(200) + 5 AS f, bf_create(200) AS untyped, bf_agg(5) AS self_sized
      FROM generate_series(1, 1);
SELECT typed = cleared AS same, typed | f = f AS "| values", typed | untyped = typed AS "| nothing",
  typed | self_sized = cleared | self_sized AS "| self-sized", typed & f = cleared & f AS "&",
  bf_union_agg(typed) = typed AS union_agg, (typed | f) @> '5' AS "5",
  answer('typed | (bf_create(200) + ''a''::text) FROM united') AS text,
  bf_growable(typed) = bf_growable(cleared) AS growable, bf_fold(typed, 1000) = typed AS folded,
  typed::text::bloomfilter::bytea::bloomfilter = typed AS "in and out"
FROM united GROUP BY typed, cleared, f, untyped, self_sized \gx
SELECT cbf_union(cbf_create(200, type => 'integer'), cbf_create(200) + 5) = cbf_create(200) + 5
    AS counting,
  answer('cbf_union(cbf_create(200, type => ''integer''), cbf_create(200) + ''a''::text)') AS text,
  cbf_create(200, type => 'integer')::bloomfilter = bf_create(200, type => 'integer') AS "cast",
  cf_union(cf_create(200, type => 'integer'), cf_create(200) + 5) = cf_create(200) + 5 AS cuckoo,
  answer('cf_union(cf_create(200, type => ''integer''), cf_create(200) + ''a''::text)') AS text;
-- A counting or cuckoo filter has no element type after its last value was removed, or after it was
-- cleared.
SELECT cbf_create(200, type => 'integer') + 5 - 5 = cbf_create(200) AS counting,
  cbf_clear(cbf_create(200, type => 'integer')) = cbf_create(200) AS "cleared",
  cf_create(200, type => 'integer') + 5 - 5 = cf_create(200) AS cuckoo,
  cf_clear(cf_create(200, type => 'integer')) = cf_create(200) AS "cleared";

-- Another system's layout accepts or refuses the type as it would accept or refuse a value of that
-- type.
CREATE TABLE layouts AS
  SELECT layout, type, format('bf_create(99, layout => %L', layout) AS made,
    value
  FROM unnest('{lines,guava,guava_integer,guava_chars,guava_mitz32,guava_integer_mitz32,
      guava_chars_mitz32,parquet,parquet_int32,parquet_float,redis,spark,spark_v2,datasketches,
      hive}'::text[]) layout,
    (VALUES ('integer', '1'), ('real', '1::real'), ('numeric', '1.0'), ('text', '''a''::text'),
      ('bytea', '''\x01''::bytea'), ('uuid', 'md5(''a'')::uuid'), ('date', 'date ''2024-01-01'''),
      ('timestamp', 'timestamp ''2024-01-01'''), ('time', 'time ''12:00'''), ('boolean', 'true'),
      ('integer[]', '''{1}''::int[]'), ('mood', '''sad''::mood')) v(type, value);
CREATE TABLE kept AS
  SELECT layout, type, answer(format('%s, type => %L)', made, type)) AS declared,
    answer(format('bf_clear(%s) + %s)', made, value)) AS cleared FROM layouts;
SELECT count(*), count(*) FILTER (WHERE declared = '42804') AS refused,
  count(*) FILTER (WHERE declared IS DISTINCT FROM cleared) AS differ FROM kept;
SELECT layout, string_agg(type, ', ' ORDER BY type) AS kept FROM kept
WHERE declared <> '42804' AND layout <> 'lines' GROUP BY layout ORDER BY layout;
SELECT bf_create(10, layout => 'guava', type => 'numeric');

-- A domain stands for its base type. The name may also be the name of a table, and then stands for
-- the table's rows.
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN several AS positive[];
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN pairs AS pair;
CREATE TABLE holed (a int, gone text, b text);
ALTER TABLE holed DROP gone;
SELECT bf_create(9, type => 'positive') = bf_create(9, type => 'bigint') AS "domain",
  bf_create(9, type => 'several') = bf_create(9, type => 'integer[]') AS "domain of an array",
  bf_create(9, type => 'pairs') = bf_create(9, type => 'pair') AS "domain of rows",
  bf_create(9, type => 'holed') = bf_create(9, type => 'pair') AS "a table",
  bf_create(9, type => 'varchar(3)') = bf_create(9, type => 'text') AS "a length",
  bf_create(9, type => 'record[]') = bf_clear(bf_create(9) + ARRAY[row(1, 2)]) AS "record[]",
  bf_create(9, type => pg_typeof(1.5)) = bf_create(9, type => 'numeric') AS "pg_typeof",
  bf_create(9, type => 'pair') + (7, 'a'::text) @> row(7, 'a'::varchar)::holed AS "a row",
  answer('bf_create(9, type => ''pair'') + (7, 8)') AS "another row";

-- Names that are not types of values, and types that filters cannot hold. collation.sql has more
-- such types.
SELECT type, answer(format('bf_create(9, type => %L)', type)) AS bloom,
  answer(format('bf_create_by_size(512, 3, type => %L)', type)) AS "by size",
  answer(format('cbf_create(9, type => %L)', type)) AS counting,
  answer(format('cf_create(9, type => %L)', type)) AS cuckoo
FROM unnest('{record,anyelement,anyarray,cstring,unknown,void,internal,cstring[],json,money,json[],
  pg_class,bloomfilter,bf_literal,-,0,1,nobody}'::text[]) type;
SELECT bf_create(9, type => 'record');
SELECT bf_create(9, type => '"any"');
SELECT bf_create(9, type => 'json');
SELECT bf_create(9, type => '1');
