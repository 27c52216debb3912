-- What is inside values, once more: classes of extensions and of users, memory, large documents,
-- rows whose functions raise errors, and tables and builds of all kinds. sql/inside.sql has the
-- conditions.
CREATE SCHEMA inside_changes;
SET search_path = inside_changes, public;
SET jit = off; -- it would take longer than all the rest
\pset format unaligned
\pset footer off
\i sql/include/outcome.sql
\i sql/include/plan.sql
\i sql/include/bloompages.sql
\i sql/include/inside.sql

-- --- Classes of GIN, as extensions make them -----------------------------------------------------

CREATE TABLE lists AS
SELECT id, ARRAY[id, id + 1, id % 7] AS i, jsonb_build_object('id', id, 'k' || id, id % 5) AS d,
  to_tsvector('simple', format('w%s and w%s', id, id + 1)) AS v, 'text number ' || id
    || ' of 2000' AS t,
  repeat('x', 400) AS pad
FROM generate_series(1, 2000) id;
-- Classes that have only `consistent`, which says yes or no: number 4 in GIN.
CREATE OPERATOR CLASS yes_array_ops FOR TYPE anyarray USING bloompages AS
  OPERATOR 1 &&, OPERATOR 2 @>, OPERATOR 3 <@, OPERATOR 4 =, FUNCTION 2 ginarrayextract(anyarray,
    internal, internal),
  FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 4 ginarrayconsistent(internal, smallint, anyarray, int, internal, internal, internal,
    internal), STORAGE anyelement;
CREATE OPERATOR CLASS yes_jsonb_ops FOR TYPE jsonb USING bloompages AS
  OPERATOR 7 @>, OPERATOR 9 ?(jsonb, text), OPERATOR 10 ?|(jsonb, text[]), OPERATOR 11 ?&(jsonb,
    text[]),
  OPERATOR 15 @?(jsonb, jsonpath), OPERATOR 16 @@(jsonb, jsonpath),
    FUNCTION 2 gin_extract_jsonb(jsonb, internal, internal),
  FUNCTION 3 gin_extract_jsonb_query(jsonb, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 4 gin_consistent_jsonb(internal, smallint, jsonb, int, internal, internal, internal,
    internal), STORAGE text;
CREATE OPERATOR CLASS yes_path_ops FOR TYPE jsonb USING bloompages AS
  OPERATOR 7 @>, OPERATOR 15 @?(jsonb, jsonpath), OPERATOR 16 @@(jsonb, jsonpath),
    FUNCTION 2 gin_extract_jsonb_path(jsonb, internal, internal),
  FUNCTION 3 gin_extract_jsonb_query_path(jsonb, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 4 gin_consistent_jsonb_path(internal, smallint, jsonb, int, internal, internal,
    internal, internal), STORAGE int;
CREATE OPERATOR CLASS yes_words_ops FOR TYPE tsvector USING bloompages AS
  OPERATOR 1 @@(tsvector, tsquery), OPERATOR 2 @@@(tsvector, tsquery),
    FUNCTION 2 gin_extract_tsvector(tsvector, internal, internal),
  FUNCTION 3 gin_extract_tsquery(tsvector, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 4 gin_tsquery_consistent(internal, smallint, tsvector, int, internal, internal,
    internal, internal), STORAGE text;
SELECT opcname FROM pg_opclass WHERE opcmethod = (SELECT oid FROM pg_am
  WHERE amname = 'bloompages')
  AND CASE WHEN opcnamespace = current_schema()::regnamespace THEN NOT amvalidate(oid) END;
CREATE INDEX lists_yes ON lists USING bloompages (i yes_array_ops, v yes_words_ops)
  WITH (pages_per_range = 1);
CREATE INDEX lists_yes_d ON lists USING bloompages (d yes_jsonb_ops) WITH (pages_per_range = 1);
CREATE TABLE conditions AS SELECT unnest(ARRAY['i @> ''{700}''', 'i && ''{700,1234}''',
  'i <@ ''{0,700,701}''', 'i = ''{700,701,0}''', 'i = ''{}''',
  'i <@ ''{}''', 'i @> ''{}''', 'i && ''{}''', 'i @> ''{700,NULL}''', 'i && ''{NULL,700}''',
    'i @> ''{700,701,0,700,0,701,700}''',
  'i && ''{1,2,3,4,5,6,7,8,9,10}''', 'i && ''{1,2,3,4,5,6,7,8,9,10,11}''',
    'i @> ''{1,2,3,4,5,6,7,8,9,10,11,12}''', 'i <@ ''{1,2,3,4,5,6,7,8,9,10,11,12,0}''',
  'v @@ ''w700''', 'v @@ ''!w700''', 'v @@ ''w700 & !w701''', 'v @@ ''w700 & !w702''',
    'v @@ ''w700 <-> and''', 'v @@ ''w70:* & w701''', 'v @@@ ''w700 | w800''',
  'v @@ ''w1|w2|w3|w4|w5|w6|w7|w8|w9|w10|w11''', 'v @@ ''w1 & (w2|w3|w4|w5|w6|w7|w8|w9|w10|w11)''',
    'v @@ ''(w1 | !w2) & (w700 | !w701) & w2''',
  'd @> ''{"id": 700}''', 'd @> ''{"id": 700, "k700": 0}''', 'd @> ''{"id": 700, "k701": 0}''',
    'd @> ''{}''', 'd @@ ''$.id == 700 || $.k5 == 0''', 'd @? ''$.k700''']) AS c;
SELECT * FROM differences('lists', ARRAY(SELECT c FROM conditions));
SELECT * FROM differences('lists', ARRAY['d ? ''k700''', 'd ?| ''{k700,k8}''',
  'd ?& ''{k700,id}''', 'd ?& ''{}''', 'd ?| ''{}''']);
-- Up to ten keys, the class is asked for each set of them.
SELECT c, pages_read('lists', c) FROM unnest(ARRAY['i @> ''{700}''', 'i @> ''{700,701,0}''',
  'i @> ''{700,5001,5002,5003,5004,5005}''',
  'i && ''{700,5001,5002,5003,5004,5005,5006,5007,5008,5009}''',
  'i @> ''{5000,5001,5002,5003,5004,5005,5006,5007,5008,5009,5010}''', 'i <@ ''{}''',
    'v @@ ''w700 & w702 & (w5000|w5001|w5002|w5003)''', 'v @@ ''w700 & !w9''',
  'd @> ''{"id": 700, "k700": 0}''', 'd @> ''{"id": 701, "k9000": 0, "k9001": 1}''']) c;
DROP INDEX lists_yes_d;
CREATE INDEX lists_yes_d ON lists USING bloompages (d yes_path_ops) WITH (pages_per_range = 1);
SELECT * FROM differences('lists', ARRAY(SELECT c FROM conditions WHERE c ~ '^d'));
SELECT bf_index_check('lists_yes'), bf_index_check('lists_yes_d');
DROP INDEX lists_yes, lists_yes_d;

-- Hash functions in SQL and PL/pgSQL. The one for keys may give more keys the same hash.
CREATE FUNCTION loose_hash(k text, seed bigint) RETURNS bigint
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN pg_catalog.hashtextextended(pg_catalog.lower(k), seed);
END $$;
CREATE FUNCTION length_hash(a text[], seed bigint) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT RETURN cardinality(a);
CREATE OPERATOR CLASS loose_ops FOR TYPE text[] USING bloompages AS
  OPERATOR 1 &&(anyarray, anyarray), OPERATOR 2 @>(anyarray, anyarray), OPERATOR 100 =(anyarray,
    anyarray), FUNCTION 1 length_hash(text[], bigint), FUNCTION 2 ginarrayextract(anyarray,
    internal, internal),
  FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal,
    internal), FUNCTION 5 loose_hash(text, bigint),
  FUNCTION 6 ginarraytriconsistent(internal, smallint, anyarray, int, internal, internal, internal);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'loose_ops';
CREATE INDEX lists_loose ON lists USING bloompages ((i::text[]) loose_ops)
  WITH (pages_per_range = 1);
SELECT * FROM differences('lists', ARRAY['i::text[] @> ''{700}''', 'i::text[] && ''{700,9}''',
  'i::text[] = ''{700,701,0}''']);
SELECT bf_index_check('lists_loose');
DROP INDEX lists_loose;

-- Values that are equal for the class, but whose keys are not: `=` must not look for the keys.
CREATE FUNCTION same_words(text[], text[]) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT
  RETURN lower($1::text) = lower($2::text);
CREATE FUNCTION same_words_hash(a text[], seed bigint) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN hashtextextended(lower(a::text), seed);
CREATE OPERATOR === (LEFTARG = text[], RIGHTARG = text[], FUNCTION = same_words);
CREATE OPERATOR CLASS same_words_ops FOR TYPE text[] USING bloompages AS
  OPERATOR 2 @>(anyarray, anyarray), OPERATOR 100 ===,
  FUNCTION 1 same_words_hash(text[], bigint),
  FUNCTION 2 ginarrayextract(anyarray, internal, internal),
  FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 6 ginarraytriconsistent(internal, smallint, anyarray, int, internal, internal, internal);
CREATE TABLE titles AS SELECT ARRAY['Word', 'ROW' || i] AS t, repeat('x', 400) AS pad
FROM generate_series(1, 500) i;
CREATE INDEX titles_t ON titles USING bloompages (t same_words_ops) WITH (pages_per_range = 1);
SELECT * FROM differences('titles', ARRAY['t === ''{word,row77}''', 't === ''{WORD,Row78}''',
  't @> ''{ROW79}''', 't @> ''{row79}''']);
DROP TABLE titles;
-- The same, with a function 5 that tells equal numbers apart
CREATE FUNCTION digits_hash(n numeric, seed bigint) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN hashtextextended(n::text, seed);
CREATE OPERATOR CLASS digits_ops FOR TYPE numeric[] USING bloompages AS
  OPERATOR 100 =(anyarray, anyarray), FUNCTION 1 hash_array_extended(anyarray, bigint),
  FUNCTION 2 ginarrayextract(anyarray, internal, internal),
  FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal,
    internal), FUNCTION 5 digits_hash(numeric, bigint),
  FUNCTION 6 ginarraytriconsistent(internal, smallint, anyarray, int, internal, internal, internal);
CREATE TABLE prices AS SELECT ARRAY[i, i + 1.5] AS p, repeat('x', 400) AS pad
FROM generate_series(1, 500) i;
CREATE INDEX prices_p ON prices USING bloompages (p digits_ops) WITH (pages_per_range = 1);
SELECT * FROM differences('prices', ARRAY['p = ''{77.0,78.5}''', 'p = ''{77,78.500}''']);
DROP TABLE prices;

-- The classes of contrib, in four lines each
SELECT count(*) = 4 AS has_contrib FROM pg_available_extensions WHERE name IN ('hstore',
  'intarray', 'pg_trgm', 'btree_gin') \gset
CREATE TABLE wrong (condition text, used text, with_index bigint, with_scan bigint);
CREATE TABLE few (condition text, pages text);
SET client_min_messages = warning; -- so that servers without them print the same
\if :has_contrib
CREATE EXTENSION hstore SCHEMA inside_changes;
CREATE EXTENSION pg_trgm SCHEMA inside_changes;
CREATE EXTENSION btree_gin SCHEMA inside_changes;
CREATE OPERATOR CLASS hstore_key_ops DEFAULT FOR TYPE hstore USING bloompages AS
  OPERATOR 7 @>, OPERATOR 9 ?(hstore, text), OPERATOR 10 ?|(hstore, text[]), OPERATOR 11 ?&(hstore,
    text[]), FUNCTION 2 gin_extract_hstore(hstore, internal),
  FUNCTION 3 gin_extract_hstore_query(hstore, internal, smallint, internal, internal),
    FUNCTION 4 gin_consistent_hstore(internal, smallint, hstore, int, internal, internal),
    STORAGE text;
CREATE OPERATOR CLASS trigram_ops FOR TYPE text USING bloompages AS
  OPERATOR 1 %(text, text), OPERATOR 3 ~~, OPERATOR 4 ~~*, OPERATOR 5 ~, OPERATOR 6 ~*,
    OPERATOR 7 %>(text, text), OPERATOR 9 %>>(text, text), FUNCTION 2 gin_extract_value_trgm(text,
    internal),
  FUNCTION 3 gin_extract_query_trgm(text, internal, smallint, internal, internal, internal,
    internal), FUNCTION 4 gin_trgm_consistent(internal, smallint, text, int, internal, internal,
    internal, internal),
  FUNCTION 6 gin_trgm_triconsistent(internal, smallint, text, int, internal, internal, internal),
    STORAGE int;
CREATE OPERATOR CLASS btree_ops FOR TYPE int USING bloompages AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 2 gin_extract_value_int4(int, internal), FUNCTION 3 gin_extract_query_int4(int,
    internal, smallint, internal, internal),
  FUNCTION 4 gin_btree_consistent(internal, smallint, anyelement, int, internal, internal),
    STORAGE int;
CREATE TABLE others AS SELECT id, CASE WHEN id % 20 > 0 THEN hstore(ARRAY['id', 'k' || id, 'n'],
  ARRAY[id::text, 'v', NULL]) END AS h, t, pad FROM lists;
ALTER TABLE others ALTER h SET STORAGE EXTERNAL;
UPDATE others SET h = h || hstore('long', repeat('y', 3000)) WHERE id % 100 = 1;
INSERT INTO others VALUES (3000, '', ''), (3001, NULL, NULL);
CREATE INDEX others_all ON others USING bloompages (h, t trigram_ops, id btree_ops)
  WITH (pages_per_range = 1);
INSERT INTO wrong SELECT * FROM differences('others', ARRAY['h @> ''id=>701''',
  'h @> ''id=>701, k701=>v, n=>NULL''', 'h @> ''id=>701, k702=>v''', 'h @> ''''', 'h ? ''k701''',
  'h ?| ''{k701,k9,zz}''',
  'h ?& ''{k701,id,n}''', 'h ?& ''{}''', 'h ?| ''{}''', 'h @> ''long=>NULL''',
    'h ? ''long'' AND h @> ''id=>701''', 't LIKE ''%number 701 %''', 't ILIKE ''%NUMBER 701 %''',
    't ~ ''number (701|702) ''', 't ~* ''NUMBER 7[0-3]1''',
  't % ''text number 701 of 2000''', '''number 701'' <% t', 't LIKE ''%''', 't LIKE ''%1''',
    'id = 701', 'id < 10', 'id >= 1990', 'id > 701 AND id <= 703', 'id = ANY (''{701,9,-1}'')']);
INSERT INTO few SELECT c, pages_read('others', c) FROM unnest(ARRAY['h @> ''id=>701''',
  'h @> ''id=>701, k701=>v, n=>NULL''', 'h ? ''k701''', 't LIKE ''%number 701 of%''',
  'id = 701']) c;
INSERT INTO few SELECT 'damaged', code FROM error_of('SELECT bf_index_check(''others_all'')');
-- Dead rows whose values are no longer there, though the index stores text
DELETE FROM others WHERE id % 100 = 1 AND id > 1000;
SELECT format('VACUUM %s', reltoastrelid::regclass) AS vacuum_toast FROM pg_class
  WHERE oid = 'others'::regclass \gset
:vacuum_toast;
REINDEX INDEX others_all;
INSERT INTO wrong SELECT * FROM differences('others', ARRAY['h ? ''long''', 'h @> ''id=>701''']);
DROP TABLE others;
DROP EXTENSION hstore, pg_trgm, btree_gin CASCADE;
CREATE EXTENSION intarray SCHEMA inside_changes;
CREATE OPERATOR CLASS integers_ops FOR TYPE int[] USING bloompages AS
  OPERATOR 3 &&, OPERATOR 6 =(anyarray, anyarray), OPERATOR 7 @>, OPERATOR 8 <@,
    OPERATOR 20 @@(int[], query_int), FUNCTION 2 ginarrayextract(anyarray, internal, internal),
  FUNCTION 3 ginint4_queryextract(int[], internal, smallint, internal, internal, internal,
    internal), FUNCTION 4 ginint4_consistent(internal, smallint, int[], int, internal, internal,
    internal, internal), STORAGE int;
CREATE INDEX lists_i ON lists USING bloompages (i integers_ops) WITH (pages_per_range = 1);
INSERT INTO wrong SELECT * FROM differences('lists', ARRAY['i @> ''{700}''', 'i && ''{700,3}''',
  'i <@ ''{0,700,701,9}''', 'i @@ ''700''', 'i @@ ''700 & !702''', 'i @@ ''!700''',
  'i @@ ''700 & !701''',
  'i @@ ''(700|800) & !(1|2|3|4|5|6|7|8|9|10)''', 'i @@ ''1&2|3&4|5&6|7&8|700&701''',
    'i @@ ''700 & 701 & 0''', 'i @> ''{}''', 'i <@ ''{}''']);
INSERT INTO few SELECT c, pages_read('lists', c) FROM unnest(ARRAY['i @> ''{700}''',
  'i @@ ''700 & !702''', 'i @@ ''700 & 701 & 0''']) c;
DROP EXTENSION intarray CASCADE;
\endif
RESET client_min_messages;
SELECT * FROM wrong;
SELECT * FROM few WHERE pages IS DISTINCT FROM 'few'
  AND condition <> 'damaged' OR condition = 'damaged' AND pages IS NOT NULL;

-- amvalidate(), and indexes with classes that lack functions, which are named as they are in the
-- documentation of GIN.
CREATE FUNCTION validity(parts text[], OUT valid boolean, OUT used text) LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL client_min_messages = warning;
  EXECUTE 'CREATE OPERATOR CLASS tried_ops FOR TYPE int[] USING bloompages AS '
    || (SELECT string_agg(CASE part
        WHEN '@>' THEN 'OPERATOR 2 @>(anyarray, anyarray)'
        WHEN '=' THEN 'OPERATOR 100 =(anyarray, anyarray)'
        WHEN 'hash' THEN 'FUNCTION 1 hash_array_extended(anyarray, bigint)'
        WHEN 'extractValue' THEN 'FUNCTION 2 ginarrayextract(anyarray, internal, internal)'
        WHEN 'extractQuery' THEN 'FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint,'
          ' internal, internal, internal, internal)'
        WHEN 'consistent' THEN 'FUNCTION 4 ginarrayconsistent(internal, smallint, anyarray, int,'
          ' internal, internal, internal, internal)'
        WHEN 'triConsistent' THEN 'FUNCTION 6 ginarraytriconsistent(internal, smallint, anyarray,'
          ' int, internal, internal, internal)'
        WHEN 'triConsistent as 4' THEN 'FUNCTION 4 ginarraytriconsistent(internal, smallint,'
          ' anyarray, int, internal, internal, internal)'
        WHEN 'consistent as 6' THEN 'FUNCTION 6 ginarrayconsistent(internal, smallint, anyarray,'
          ' int, internal, internal, internal, internal)'
        WHEN 'hash of keys' THEN 'FUNCTION 5 hashint4extended(int, bigint)'
        WHEN 'wrong hash of keys' THEN 'FUNCTION 5 hashint4(int)'
        WHEN 'wrong hash' THEN 'FUNCTION 1 hash_array(anyarray)'
        WHEN 'storage' THEN 'STORAGE int' END, ', ') FROM unnest(parts) part);
  valid := amvalidate((SELECT oid FROM pg_opclass WHERE opcname = 'tried_ops'));
  used := CASE WHEN parts::text ~ 'wrong|as 6' THEN 'not tried'
    ELSE outcome('CREATE INDEX ON lists USING bloompages (i tried_ops)') END;
  DROP OPERATOR FAMILY tried_ops USING bloompages CASCADE;
END $$;
SELECT parts, v.* FROM unnest(ARRAY['@>, storage', '@>, extractValue', '@>, extractQuery',
  '@>, extractValue, extractQuery', '@>, extractValue, consistent', '@>, triConsistent',
  '=, hash', 'hash', '=', '=, wrong hash', '=, extractValue, extractQuery, triConsistent',
  '@>, extractValue, extractQuery, triConsistent', '@>, extractValue, extractQuery, consistent',
  '@>, extractValue, extractQuery, triConsistent as 4',
  '@>, extractValue, extractQuery, consistent as 6',
  '@>, =, hash, extractValue, extractQuery, consistent, triConsistent, hash of keys',
  '@>, extractValue, extractQuery, consistent, wrong hash of keys',
  'hash, extractValue, extractQuery, consistent']) parts, validity(string_to_array(parts, ', ')) v;

-- A class that is not valid: a condition on whole values that it has no hash for is an error.
CREATE OPERATOR CLASS hashless_ops FOR TYPE int[] USING bloompages AS
  OPERATOR 100 =(anyarray, anyarray), FUNCTION 2 ginarrayextract(anyarray, internal, internal),
  FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 6 ginarraytriconsistent(internal, smallint, anyarray, int, internal, internal, internal);
CREATE INDEX lists_hashless ON lists USING bloompages (i hashless_ops);
SELECT outcome($$SELECT FROM compared('SELECT count(*) FROM lists WHERE i = ''{1}''')$$);
DROP OPERATOR CLASS hashless_ops USING bloompages CASCADE;
-- STORAGE int[] is not stored with a class for int[]. So its keys may be arrays or elements.
CREATE FUNCTION keys_of(int[], internal, internal) RETURNS internal LANGUAGE internal IMMUTABLE
  AS 'ginarrayextract';
CREATE OPERATOR CLASS vague_ops FOR TYPE int[] USING bloompages AS
  OPERATOR 2 @>(anyarray, anyarray), FUNCTION 2 keys_of(int[], internal, internal),
  FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 6 ginarraytriconsistent(internal, smallint, anyarray, int, internal, internal, internal),
  STORAGE int[];
CREATE INDEX lists_vague ON lists USING bloompages (i vague_ops);
DROP OPERATOR CLASS vague_ops USING bloompages CASCADE;
-- The function of text_ngram_ops is known though it has settings of its own.
CREATE INDEX lists_ngrams ON lists USING bloompages (t text_ngram_ops) WITH (pages_per_range = 1);
ALTER FUNCTION bloompages_ngram_values(text, internal) SET work_mem = '64MB';
SELECT * FROM differences('lists', ARRAY['t LIKE ''%number 701 %''']);
REINDEX INDEX lists_ngrams;
SELECT * FROM differences('lists', ARRAY['t LIKE ''%number 701 %''']);
ALTER FUNCTION bloompages_ngram_values(text, internal) RESET ALL;
DROP INDEX lists_ngrams;
-- A function of an index tidies the index, which makes filters of the rows for which it is called.
CREATE TABLE nested (k int) WITH (autovacuum_enabled = off);
CREATE FUNCTION nested_key(k int) RETURNS int LANGUAGE plpgsql IMMUTABLE
  AS 'BEGIN RETURN k; END';
CREATE INDEX nested_k ON nested USING bloompages (nested_key(k)) WITH (autosummarize = off);
INSERT INTO nested SELECT generate_series(1, 10000);
CREATE OR REPLACE FUNCTION nested_key(k int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM public.bf_index_tidy('inside_changes.nested_k');
  RETURN k;
END $$;
SELECT outcome('SELECT bf_index_tidy(''nested_k'')');
DROP TABLE nested;

-- --- Memory --------------------------------------------------------------------------------------

CREATE FUNCTION used() RETURNS bigint
  LANGUAGE sql AS 'SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts';
-- Rescans. Row 500 and the last row of the outer table note how many bytes there are.
CREATE INDEX lists_all ON lists USING bloompages (i, d, v, (t || '!')) WITH (pages_per_range = 1);
CREATE INDEX lists_t ON lists USING bloompages (t text_ngram_ops) WITH (pages_per_range = 1);
VACUUM ANALYZE lists;
CREATE FUNCTION grown(outer_rows int, condition text, OUT plan text, OUT matches bigint,
  OUT bytes text) LANGUAGE plpgsql AS $$
DECLARE
  query text := format('SELECT sum((SELECT count(*) FROM lists WHERE %s)),'
    ' max(CASE k WHEN %s THEN used() END)'
    ' - max(CASE k WHEN 500 THEN used() END) FROM generate_series(1, %2$s) k', condition,
      outer_rows);
  difference bigint;
BEGIN
  SET LOCAL enable_seqscan = off;
  plan := substring(string_agg(line, ' ') FROM 'Bitmap Index Scan on \w+')
    FROM explained(query) line;
  EXECUTE query INTO matches, difference;
  bytes := CASE WHEN difference < 100000 THEN 'few' ELSE difference::text END;
END $$;
SELECT c, g.* FROM unnest(ARRAY['i @> ARRAY[k + 5000]', 'i && ARRAY[k + 5000, k + 5001]',
  'd @> jsonb_build_object(''id'', k + 5000)',
  'd @@ format(''$.id == %s || $.k9000 == 1'', k + 5000)::jsonpath',
  'v @@ format(''w%s & !w9'', k + 5000)::tsquery',
    't LIKE format(''%%number %s-%s of%%'', k + 5000, k)', 'i = ARRAY[k + 5000]',
    'i @> ARRAY[NULL, k]', 't || ''!'' = k::text']) c,
  grown(CASE WHEN c ~ '^i @> ARRAY.k' THEN 40000 ELSE 2000 END, c) g;
-- One scan for each element of an array
SELECT g.* FROM grown(501,
  'i && ARRAY[-k] OR t LIKE ANY (ARRAY(SELECT format(''%%number 9%s-%s'', k, j)'
  ' FROM generate_series(1, 100) j))') g;

-- Rows that are put into ranges with filters, that are read for a build, and that are checked. The
-- index's function notes how many bytes there are, in a sequence, because VACUUM and others take
-- the settings back.
CREATE SEQUENCE at_first; CREATE SEQUENCE at_last;
CREATE FUNCTION noted(id int, l int[]) RETURNS int[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF id = 1000 THEN PERFORM setval('inside_changes.at_first', inside_changes.used()); END IF;
  IF id = 19000 THEN PERFORM setval('inside_changes.at_last', inside_changes.used()); END IF;
  RETURN l;
END $$;
CREATE FUNCTION bytes_noted() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  bytes bigint := nextval('at_last') - nextval('at_first');
BEGIN
  PERFORM setval('at_first', 1), setval('at_last', 1000000000);
  RETURN CASE WHEN bytes < 500000 THEN 'few' ELSE bytes::text END;
END $$;
SELECT bytes_noted() <> 'few' AS reset;
CREATE TABLE rows (id int, l int[], v tsvector, d jsonb) WITH (autovacuum_enabled = off);
INSERT INTO rows SELECT id, ARRAY[id % 100, id % 10, 3, 4, 5, 6], to_tsvector('simple',
  'a b c d e f g ' || id % 100), jsonb_build_object('a', id % 100, 'b', 2, 'c', 3)
  FROM generate_series(1, 20000) id;
CREATE INDEX rows_all ON rows USING bloompages (noted(id, l), v, d, (d -> 'a'))
  WITH (pages_per_range = 4);
SELECT bytes_noted() AS build;
SELECT bf_index_check('rows_all');
SELECT bytes_noted() AS checked;
DELETE FROM rows;
VACUUM (TRUNCATE off) rows;
INSERT INTO rows SELECT id, ARRAY[id % 100, id % 10, 3, 4, 5, 7], to_tsvector('simple',
  'a b c d e f h ' || id % 100), jsonb_build_object('a', id % 100, 'b', 3, 'c', 3)
  FROM generate_series(1, 20000) id;
SELECT bytes_noted() AS inserted;
SELECT bf_index_check('rows_all');
DROP INDEX rows_all;
CREATE INDEX rows_all ON rows USING bloompages (noted(id, l), v, d) WITH (pages_per_range = 4,
  autosummarize = off);
TRUNCATE rows;
INSERT INTO rows SELECT id, ARRAY[id % 100, id % 10, 3, 4, 5, 6], to_tsvector('simple',
  'a b c d e f g ' || id % 100), jsonb_build_object('a', id % 100) FROM generate_series(1,
  20000) id;
SELECT bytes_noted() IS NOT NULL AS reset;
SELECT bf_index_tidy('rows_all');
SELECT bytes_noted() AS tidied;

-- --- Large documents -----------------------------------------------------------------------------

-- A document with more keys than a filter is made for gets a filter of ones. The other filters, and
-- those of the next group, are as small as without it.
CREATE TABLE document AS SELECT array_agg(i) AS l FROM generate_series(1, 4300000) i;
CREATE TABLE large (id int, l int[], pad text DEFAULT repeat('x', 1500))
WITH (autovacuum_enabled = off);
ALTER TABLE large ALTER l SET STORAGE EXTERNAL;
-- The rows with id 0 and -1 have the document. It is not looked at, because that takes long.
CREATE FUNCTION sizes(OUT size text, OUT full_ranges int, OUT with_index int, OUT with_scan int)
LANGUAGE plpgsql SET max_parallel_workers_per_gather = 0 AS $$
BEGIN
  size := CASE WHEN pg_relation_size('large_l') < 500000 THEN 'small'
    ELSE pg_size_pretty(pg_relation_size('large_l')) END;
  SET LOCAL enable_seqscan = off;
  full_ranges := jsonb_path_query_first(plan_of(
    'SELECT FROM large WHERE id > 0 AND l @> ''{-1}''', 'ANALYZE, TIMING OFF'),
    '$.**."Lossy Heap Blocks"');
  SELECT c.with_index, c.with_scan INTO with_index, with_scan
  FROM compared('SELECT count(*) FROM large WHERE id > 0 AND l @> ''{4}''') c;
END $$;
-- The first range of all, and the only one
CREATE INDEX large_l ON large USING bloompages (l) WITH (pages_per_range = 1);
INSERT INTO large SELECT 0, l FROM document
UNION ALL SELECT i, ARRAY[i, i + 1] FROM generate_series(1, 4) i;
VACUUM large;
SELECT 'first range' AS what, * FROM sizes();
-- Rows that come later, in this group and the next
INSERT INTO large SELECT i, ARRAY[i, i + 1] FROM generate_series(5, 1000) i;
VACUUM large;
SELECT 'next group' AS what, * FROM sizes();
REINDEX INDEX large_l;
SELECT 'build' AS what, * FROM sizes();
-- Another one, in a range that has a filter
DELETE FROM large WHERE id BETWEEN 700 AND 720;
VACUUM large;
INSERT INTO large SELECT -1, l FROM document;
SELECT 'later document' AS what, * FROM sizes();
SELECT bf_index_check('large_l');
DROP TABLE large, document;

-- --- Rows whose functions raise errors -----------------------------------------------------------

-- The index on an expression fails for rows with k < 0 while a setting is on.
CREATE FUNCTION picky(k int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF k < 0 AND current_setting('test.fails', true) = 'on' THEN
    RAISE 'cannot index %', k;
  END IF;
  RETURN k;
END $$;
CREATE TABLE strict (k int, l int[], pad text DEFAULT repeat('x', 1500))
  WITH (autovacuum_enabled = off);
CREATE INDEX strict_k ON strict USING bloompages (picky(k), l) WITH (pages_per_range = 1);
-- Waits until all rows are dead to all that this session has deleted. Another session of this
-- database, such as autovacuum, may have a snapshot that is older.
CREATE PROCEDURE wait_for_others() LANGUAGE plpgsql AS $$
DECLARE
  deleter xid := txid_current()::text::xid;
BEGIN
  COMMIT;
  LOOP
    PERFORM pg_stat_clear_snapshot();
    EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND pid <> pg_backend_pid() AND age(backend_xmin) > age(deleter));
    COMMIT;
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
-- An INSERT does not fail for a row of somebody else. It leaves the ranges to VACUUM, which fails.
INSERT INTO strict SELECT CASE i WHEN 3 THEN -1 ELSE i END, ARRAY[i] FROM generate_series(1, 20) i;
-- Only the server's log has the message, which quotes the row.
SET test.fails = on;
SET client_min_messages = log;
INSERT INTO strict SELECT i, ARRAY[i] FROM generate_series(21, 200) i;
RESET client_min_messages;
SELECT outcome('INSERT INTO strict VALUES (-2)') AS own_row;
SELECT ready FROM bf_index_info('strict_k');
SELECT outcome('SELECT bf_index_tidy(''strict_k'')') AS tidy;
SELECT outcome('REINDEX INDEX strict_k') AS built;
SELECT message FROM error_of('REINDEX INDEX strict_k');
\set VERBOSITY terse
VACUUM strict;
\set VERBOSITY default
SELECT * FROM differences('strict', ARRAY['l @> ''{77}''', 'l @> ''{3}''', 'l && ''{199,2}''']);
-- An INSERT tries once, also in a partial index, for which it may fill several ranges. After three
-- attempts, only VACUUM would try again.
SET test.fails = off;
CREATE TABLE partial (k int, pad text DEFAULT repeat('x', 1500)) WITH (autovacuum_enabled = off);
CREATE INDEX partial_k ON partial USING bloompages (picky(k)) WITH (pages_per_range = 1)
  WHERE k <> 0;
INSERT INTO partial SELECT CASE i WHEN 1 THEN -1 ELSE 0 END FROM generate_series(1, 100) i;
SET test.fails = on;
INSERT INTO partial VALUES (5);
SET test.fails = off;
INSERT INTO partial VALUES (6);
SELECT ready > 0 AS ready FROM bf_index_info('partial_k');
DROP TABLE partial;
SET test.fails = on;
-- If the row is dead to all, nothing fails.
DELETE FROM strict WHERE k = -1;
CALL wait_for_others();
SELECT outcome('SELECT bf_index_tidy(''strict_k'')') AS tidy;
SELECT tail_pages FROM bf_index_info('strict_k');
SELECT outcome('REINDEX INDEX strict_k') AS built;
SELECT bf_index_check('strict_k');
SELECT * FROM differences('strict', ARRAY['picky(k) = 77', 'l @> ''{77}''', 'l @> ''{3}''',
  'picky(k) = 199']);
-- The same for rows at the end of the table, which get no filter: CREATE INDEX fails at once.
INSERT INTO strict VALUES (200, '{}');
SET test.fails = off;
INSERT INTO strict VALUES (-3, '{}');
SET test.fails = on;
SELECT outcome('CREATE INDEX ON strict USING bloompages (picky(k)) WITH (pages_per_range = 100)')
  AS built;
DELETE FROM strict WHERE k = -3;
CALL wait_for_others();
SELECT outcome('CREATE INDEX ON strict USING bloompages (picky(k)) WITH (pages_per_range = 100)')
  AS built;
SELECT outcome('CREATE INDEX ON strict USING bloompages (k) WHERE picky(k) > 0') AS built;
VACUUM strict;
SELECT tail_pages FROM bf_index_info('strict_k');
-- A WHERE clause that is not true for a row: its expressions are not computed.
SET test.fails = off;
INSERT INTO strict VALUES (-4, '{}');
SET test.fails = on;
SELECT outcome('CREATE INDEX strict_positive ON strict USING bloompages (picky(k))'
  ' WITH (pages_per_range = 1) WHERE k > 0') AS built;
INSERT INTO strict SELECT CASE i % 2 WHEN 0 THEN i ELSE -i END, ARRAY[i] FROM generate_series(201,
  240) i WHERE i % 2 = 0;
SELECT * FROM differences('strict', ARRAY['k > 0 AND picky(k) = 77', 'k > 0 AND picky(k) = 238']);
SELECT bf_index_check('strict_positive');
RESET test.fails;
DROP TABLE strict;

-- A function that finds another one by the search_path. INSERT calls the index's functions for rows
-- of others with the owner's rights and another search_path. So CREATE INDEX fails.
CREATE FUNCTION unqualified(t text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN helper(t); END';
CREATE FUNCTION helper(t text) RETURNS text LANGUAGE sql IMMUTABLE RETURN lower(t);
CREATE TABLE paths AS SELECT 'Row ' || i AS t FROM generate_series(1, 2000) i;
SELECT outcome('CREATE INDEX ON paths USING bloompages (unqualified(t))');
SELECT outcome('CREATE INDEX ON paths USING bloompages (t) WHERE unqualified(t) > ''''');
SELECT outcome('CREATE INDEX ON paths USING bloompages (unqualified(t))'
  ' WITH (pages_per_range = 100)');
ALTER FUNCTION unqualified SET search_path = inside_changes, pg_temp;
CREATE INDEX paths_t ON paths USING bloompages (unqualified(t)) WITH (pages_per_range = 1);
SELECT * FROM differences('paths', ARRAY['unqualified(t) = ''row 77''']);
SELECT bf_index_check('paths_t');

-- --- Values whose TOAST data is gone -------------------------------------------------------------

CREATE TABLE gone (id int, a text, v text, l text[]) WITH (autovacuum_enabled = off);
ALTER TABLE gone ALTER v SET STORAGE external, ALTER l SET STORAGE external,
  ALTER a SET STORAGE external;
INSERT INTO gone SELECT i, repeat('a', 3000), repeat(md5(i::text), 100), ARRAY(SELECT md5(i || '-'
  || j) FROM generate_series(1, 100) j) FROM generate_series(1, 300) i;
CREATE INDEX gone_l ON gone USING bloompages (l, v) WITH (pages_per_range = 1);
CREATE INDEX gone_v ON gone USING bloompages (upper(v), (l || v)) WITH (pages_per_range = 1)
  WHERE a <> 'b';
CREATE FUNCTION of_row(gone) RETURNS text LANGUAGE sql IMMUTABLE RETURN md5($1.v || $1.l::text);
CREATE INDEX gone_row ON gone USING bloompages (of_row(gone)) WITH (pages_per_range = 1);
DELETE FROM gone WHERE id % 3 = 0;
UPDATE gone SET v = v || 'x' WHERE id % 5 = 0;
SELECT format('VACUUM %s', reltoastrelid::regclass) AS vacuum_toast FROM pg_class
  WHERE oid = 'gone'::regclass \gset
:vacuum_toast;
REINDEX TABLE gone;
SELECT bf_index_check(i) FROM unnest('{gone_l,gone_v,gone_row}'::regclass[]) i;
SELECT * FROM differences('gone', ARRAY['l @> ARRAY[md5(''7-5'')]', 'l @> ARRAY[md5(''9-5'')]',
  'v = repeat(md5(''7''), 100)',
  'upper(v) = upper(repeat(md5(''5''), 100) || ''x'') AND a <> ''b''',
  'a <> ''b'' AND l || v @> ARRAY[md5(''7-5'')]',
    'of_row(gone) = (SELECT of_row(gone) FROM gone WHERE id = 7)']);


-- --- Tables and builds of all kinds --------------------------------------------------------------

-- The builds of several processes make the same pages as one process: all bytes but where the page
-- was logged.
CREATE FUNCTION made_by(k int) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT backend_type FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid())
  WHERE k >= 0
$$;
CREATE TABLE built (id int, t text, l int[], d jsonb) WITH (parallel_workers = 2,
  autovacuum_enabled = off);
INSERT INTO built SELECT i, md5(i::text), ARRAY[i, i % 9], jsonb_build_object('a', i)
  FROM generate_series(1, 20000) i;
DELETE FROM built WHERE id BETWEEN 8000 AND 10000;
SET maintenance_work_mem = '128MB';
CREATE FUNCTION pages_of(index regclass) RETURNS text LANGUAGE sql AS $$
  SELECT count(*) || md5(string_agg(substr(pg_read_binary_file(pg_relation_filepath(index),
    8192 * i, 8192), 13), '' ORDER BY i))
  FROM generate_series(0, pg_relation_size(index) / 8192 - 1) i
$$;
SET max_parallel_maintenance_workers = 0;
CREATE INDEX built_alone ON built USING bloompages (t text_ngram_ops, l, d, (l[1]), id)
  WITH (pages_per_range = 1) WHERE id % 100 > 0;
CREATE INDEX made_alone ON built USING bloompages (made_by(id)) WITH (pages_per_range = 1);
SET max_parallel_maintenance_workers = 2;
CREATE INDEX built_together ON built USING bloompages (t text_ngram_ops, l, d, (l[1]), id)
  WITH (pages_per_range = 1) WHERE id % 100 > 0;
CREATE INDEX made_together ON built USING bloompages (made_by(id)) WITH (pages_per_range = 1);
CREATE INDEX CONCURRENTLY built_later ON built USING bloompages (t text_ngram_ops, l, d, (l[1]),
  id) WITH (pages_per_range = 1) WHERE id % 100 > 0;
CHECKPOINT;
SELECT pages_of('built_alone') = pages_of('built_together') AS alike,
  pages_of('built_alone') = pages_of('made_alone') AS other;
-- The function knows in which process it was.
DROP INDEX made_alone;
SELECT pages_read('built', 'made_by(id) = ''parallel worker''') AS workers, pages_read('built',
  'made_by(id) = ''client backend''') AS leader;
SELECT bf_index_check(i) FROM unnest('{built_alone,built_together,built_later}'::regclass[]) i;
-- An index that is not built with workers, because a function of its class may not run there.
CREATE FUNCTION unsafe_hash(k int, seed bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
  RETURN CASE (SELECT backend_type FROM pg_stat_get_activity(pg_backend_pid()))
    WHEN 'parallel worker' THEN 1 ELSE k END;
CREATE OPERATOR CLASS unsafe_ops FOR TYPE int USING bloompages AS OPERATOR 1 =,
  FUNCTION 1 unsafe_hash(int, bigint);
CREATE INDEX built_unsafe ON built USING bloompages (id unsafe_ops) WITH (pages_per_range = 1);
SELECT bf_index_check('built_unsafe');
-- An error in a worker ends the build.
CREATE FUNCTION fails_there(k int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF (SELECT backend_type FROM pg_stat_get_activity(pg_backend_pid())) = 'parallel worker' THEN
    RAISE 'row % is in a worker', k;
  END IF;
  RETURN k;
END $$;
SELECT message ~ '^row [0-9]+ is in a worker' AS of_worker
FROM error_of('CREATE INDEX ON built USING bloompages (fails_there(id))'
  ' WITH (pages_per_range = 1)');
RESET maintenance_work_mem;
RESET max_parallel_maintenance_workers;
DROP INDEX built_alone, built_together, made_together, built_unsafe;
SELECT * FROM differences('built', ARRAY['id % 100 > 0 AND l @> ''{7777}''',
  'id % 100 > 0 AND l @> ''{8888}''', 'id % 100 > 0 AND d @> ''{"a": 12345}''',
  'id % 100 > 0 AND l[1] = 777',
  'id % 100 > 0 AND t LIKE ''%' || substr(md5('7'), 5, 12) || '%''']);
REINDEX INDEX CONCURRENTLY built_later;
INSERT INTO built SELECT * FROM built WHERE id <= 100;
SELECT bf_index_check('built_later');
DROP TABLE built;

-- Partitions, temporary and unlogged tables
CREATE TABLE parts (id int, l text[], d jsonb) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (5000);
CREATE TABLE parts_2 (d jsonb, gone int, l text[], id int);
ALTER TABLE parts_2 DROP gone;
INSERT INTO parts_2 SELECT jsonb_build_object('a', i), ARRAY['t' || i], i
  FROM generate_series(5000, 6999) i;
CREATE INDEX parts_all ON parts USING bloompages (l, (d -> 'a'), d) WITH (pages_per_range = 1);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (5000) TO (10000);
INSERT INTO parts SELECT i, ARRAY['t' || i], jsonb_build_object('a', i) FROM generate_series(1,
  9999) i WHERE i NOT BETWEEN 5000 AND 6999;
SELECT * FROM differences('parts', ARRAY['l @> ''{t77}''', 'l @> ''{t6077}''',
  'd -> ''a'' = ''77''', 'd @> ''{"a": 6077}''', 'd @> ''{"a": 9077}'' AND l && ''{t9077,t1}''']);
SELECT count(bf_index_check(inhrelid)) FROM pg_inherits WHERE inhparent = 'parts_all'::regclass;
CREATE TEMP TABLE passing AS SELECT * FROM parts;
CREATE INDEX passing_all ON passing USING bloompages (l, (d -> 'a')) WITH (pages_per_range = 1)
  WHERE id > 0;
CREATE UNLOGGED TABLE unlogged (LIKE parts);
CREATE INDEX unlogged_all ON unlogged USING bloompages (l, (d -> 'a')) WITH (pages_per_range = 1)
  WHERE id > 0;
INSERT INTO unlogged SELECT * FROM parts;
DELETE FROM passing WHERE id = 78;
INSERT INTO passing SELECT 77, '{t77}', '{"a": 77}' FROM generate_series(1, 2000);
SELECT d.* FROM unnest('{passing,unlogged}'::regclass[]) t, differences(t,
  ARRAY['l @> ''{t77}'' AND id > 0', 'd -> ''a'' = ''9077'' AND id > 0',
  'd -> ''a'' = ''78'' AND id > 0']) d;
SELECT bf_index_check('passing_all'), bf_index_check('unlogged_all');

-- --- What VACUUM and INSERT do with functions ----------------------------------------------------

-- VACUUM with workers cannot call a function that begins a subtransaction. It leaves the ranges as
-- they are.
CREATE FUNCTION number_of(t text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN t::int;
EXCEPTION WHEN invalid_text_representation THEN
  RETURN NULL;
END $$;
CREATE TABLE numbered (id int, number text) WITH (autovacuum_enabled = off);
CREATE INDEX ON numbered (id);
CREATE INDEX ON numbered (number);
CREATE INDEX numbered_by ON numbered USING bloompages (number_of(number))
  WITH (autosummarize = off);
INSERT INTO numbered SELECT i, CASE WHEN i % 3 = 0 THEN 'none' ELSE i::text END
FROM generate_series(1, 10000) i;
SET min_parallel_index_scan_size = 0;
VACUUM (PARALLEL 2) numbered;
SELECT ready FROM bf_index_info('numbered_by');
VACUUM (PARALLEL 0) numbered;
SELECT ready FROM bf_index_info('numbered_by');
RESET min_parallel_index_scan_size;
SELECT * FROM differences('numbered', ARRAY['number_of(number) = 7777']);
DROP TABLE numbered;

-- What a function says of the rows of others is not for whoever inserts a row.
CREATE FUNCTION talking(id int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RAISE NOTICE 'row %', id;
  RETURN id;
END $$;
CREATE TABLE overheard (id int, pad text) WITH (autovacuum_enabled = off);
CREATE INDEX overheard_id ON overheard USING bloompages ((CASE WHEN id < 100 THEN talking(id)
  ELSE id END)) WITH (pages_per_range = 1);
SET client_min_messages = warning;
INSERT INTO overheard SELECT i, repeat('x', 1000) FROM generate_series(1, 99) i;
RESET client_min_messages;
INSERT INTO overheard SELECT i, repeat('x', 1000) FROM generate_series(101, 120) i;
SELECT ready > 10 AS ready FROM bf_index_info('overheard_id');
DROP TABLE overheard;

-- A partial index does not see the rows that begin pages. Its next row may be far away.
CREATE TABLE calls (id int, level text) WITH (autovacuum_enabled = off);
CREATE INDEX calls_failed ON calls USING bloompages (id) WHERE level = 'error';
INSERT INTO calls SELECT i, CASE WHEN i % 20000 = 7 THEN 'error' ELSE 'info' END
FROM generate_series(1, 200000) i;
SELECT tail_pages < 200 AS few_left FROM bf_index_info('calls_failed');
DROP TABLE calls;

-- Long values count among the pages that an INSERT may read. So it fills one range, and not eight.
CREATE TABLE stories (story text) WITH (autovacuum_enabled = off);
ALTER TABLE stories ALTER story SET STORAGE external;
CREATE INDEX stories_story ON stories USING bloompages (story text_ngram_ops)
  WITH (pages_per_range = 1);
INSERT INTO stories SELECT repeat(md5(i::text), 500) FROM generate_series(1, 1750) i;
SELECT ready BETWEEN 1 AND 5 AS few FROM bf_index_info('stories_story');
DROP TABLE stories;
