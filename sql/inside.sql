-- What is inside values: arrays, jsonb, tsvector, expressions, WHERE clauses, and the classes that
-- extensions make for GIN. The answers must be those of a sequential scan. sql/ngrams.sql has LIKE
-- and regular expressions; sql/inside_changes.sql has rows that change, builds and memory.
CREATE SCHEMA inside;
SET search_path = inside, public;
SET jit = off; -- it would take longer than all the rest
\pset format unaligned
\pset footer off
\i sql/include/outcome.sql
\i sql/include/plan.sql
\i sql/include/bloompages.sql
\i sql/include/inside.sql

-- --- Arrays --------------------------------------------------------------------------------------

-- Arrays of each type that has a text form which one of these literals fits. There is an index if
-- the elements have an extended hash function, and else an error at CREATE INDEX.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b int);
CREATE DOMAIN word AS text CHECK (value <> 'forbidden');
CREATE TYPE tone AS RANGE (subtype = float8);
CREATE FUNCTION outcome_of_array(type text, OUT literal text, OUT hashes text, OUT indexed text,
                                 OUT wrong text) LANGUAGE plpgsql AS $$
BEGIN
  FOREACH literal IN ARRAY ARRAY['1', 'a', 'true', 'happy', '2001-02-03', '10:00', '10.0.0.1',
    '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', '(1,2)', '(1,2),(3,4)', '<(1,2),3>', '{1,2,3}',
    '[1,2)', '{[1,2)}', '[2001-01-01,2001-02-01)', '{[2001-01-01,2001-02-01)}', '0/1', '1:2:',
      '1=a',
    'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'pg_class', 'int4', '$.a', '<a/>', 'abs(int4)',
      '+(int4,int4)',
    'postgres=r/postgres', 'C', 'simple', 'english_stem', '((1,2),(3,4))', '1 day'] LOOP
    EXIT WHEN outcome(format('SELECT %L::%s', literal, type)) = 'ok';
    literal := NULL;
  END LOOP;
  IF literal IS NULL OR outcome(format('CREATE TABLE one (n int, a %s[], pad text)',
    type)) <> 'ok' THEN
    RETURN;
  END IF;
  EXECUTE format('INSERT INTO one SELECT i, CASE i %% 5 WHEN 0 THEN ''{}'' WHEN 1 THEN ''{NULL}'''
    ' WHEN 2 THEN NULL WHEN 3 THEN CASE i WHEN 23 THEN ARRAY[%1$L, NULL]::%2$s[] END'
    ' ELSE CASE i WHEN 34 THEN ARRAY[%1$L]::%2$s[]'
    ' WHEN 39 THEN ARRAY[[%1$L, %1$L]]::%2$s[] END END,'
    ' repeat(''x'', 1200) FROM generate_series(1, 60) i', literal, type);
  hashes := outcome('SELECT hash_array_extended(a, 0) FROM one');
  indexed := outcome('CREATE INDEX one_a ON one USING bloompages (a) WITH (pages_per_range = 1)');
  IF indexed = 'ok' THEN
    SELECT string_agg(d::text, ', ') INTO wrong FROM differences('one', ARRAY(
      SELECT format(c, literal, type) FROM unnest(ARRAY['a @> ARRAY[%1$L]::%2$s[]',
        'a && ARRAY[NULL, %1$L]::%2$s[]', 'a <@ ARRAY[%1$L]::%2$s[]',
        'a = ARRAY[%1$L, NULL]::%2$s[]', 'a @> ''{}''::%2$s[]']) c)) d;
  END IF;
  DROP TABLE one;
END $$;
CREATE TABLE arrays AS
SELECT t.type, o.* FROM (
  SELECT oid::regtype::text AS type FROM pg_type
  WHERE typarray <> 0 AND typtype <> 'p'
    AND (typnamespace = 'pg_catalog'::regnamespace
      AND typtype <> 'c' OR typnamespace = 'inside'::regnamespace
         AND typname IN ('mood', 'pair', 'word', 'tone'))) t,
  outcome_of_array(t.type) o;
SELECT count(*) FILTER (WHERE indexed = 'ok') > 50 AS many FROM arrays;
SELECT type, indexed FROM arrays WHERE type IN ('money', 'bit', 'bit varying', 'tsvector',
  'tsquery', 'json', 'point', 'pair', 'mood', 'word', 'tone') ORDER BY type;
SELECT * FROM arrays
WHERE wrong IS NOT NULL OR (indexed = 'ok') <> (hashes = 'ok') AND type <> 'pair'
  OR indexed NOT IN ('ok', '42883') AND type <> 'pair';
SELECT code, message, hint FROM error_of('CREATE TABLE m (a money[]);
  CREATE INDEX ON m USING bloompages (a)') \gx
SELECT code, message, hint FROM error_of('CREATE TABLE m (a pair[]);
  CREATE INDEX ON m USING bloompages (a)') \gx

-- Conditions on arrays: NULL elements, empty ones, more dimensions, other lower bounds, copies.
CREATE TABLE lists (id int, i int[], t text[], n numeric[], f float8[], w word[],
                    pad text DEFAULT repeat('x', 400)) WITH (autovacuum_enabled = off);
INSERT INTO lists SELECT id, l, l::text[], l::numeric(9,2)[], l, l::text[]::word[]
FROM generate_series(1, 2000) id, LATERAL (SELECT CASE
  WHEN id % 20 = 19 THEN NULL WHEN id = 101 THEN '{}' WHEN id = 202 THEN '{NULL}'
  WHEN id = 303 THEN '{NULL,303}' WHEN id = 404 THEN '{{404,1},{2,3}}'
  WHEN id = 505 THEN '[0:1]={505,505}' ELSE ARRAY[id, id + 1, id % 7] END::int[] AS l) s;
CREATE INDEX lists_all ON lists USING bloompages (i, t, n, f, w) WITH (pages_per_range = 1);
SELECT bf_index_check('lists_all');
CREATE TABLE literals AS SELECT unnest('{"{}","{NULL}","{303}","{NULL,303}","{303,NULL}","{404}",
  "{{404,1},{2,3}}","{{404}}","{404,1,2,3}","{505,505}","[0:1]={505,505}","{505}","{700,701,0}",
  "{700,3}",
  "{701,700,701}","{0,1,2,3,4,5,6}","{-1}","{999999}","{1500,999999}"}'::text[]) AS l;
SELECT d.* FROM unnest('{i,t,n,f,w}'::text[]) c, differences('lists', ARRAY(
  SELECT format('%s %s %L', c, op, l) FROM literals, unnest('{@>,&&,<@,=}'::text[]) op)) d;
SELECT * FROM differences('lists', ARRAY['i @> (SELECT NULL::int[])', 'i = (SELECT NULL::int[])',
  'i @> ''{700}'' AND t @> ''{701}''',
  'i @> ''{700}'' OR t && ''{1234,77}''', 'NOT i @> ''{0}'' AND n @> ''{3.00}''', 'f @> ''{-0}''',
  '''{700}'' <@ i', '''{0,1}'' && i', 'i <@ ''{}'' AND t = ''{}''']);
SELECT c, pages_read('lists', c) FROM unnest(ARRAY['i @> ''{700}''', 'i && ''{700,1234}''',
  'i @> ''{700,6}''', 'i = ''{}''', 'i = ''{NULL}''', 'i <@ ''{}''', 'i <@ ''{303}''',
    'i @> ''{}''',
  'i @> ''{999999}''', 'i @> ''{NULL}''', 'i && ''{}''', 'i && ''{NULL}''', 'i @> ''{0}''',
    'n @> ''{700.0}''']) c;
-- Numbers and strings that are equal but have other bytes.
INSERT INTO lists (id, n, f, t) VALUES (5000, '{5000.000}', '{-0,NaN}', '{}'), (5001, '{NaN,5e3}',
  '{0}', '{ä}');
SELECT * FROM differences('lists', ARRAY['n @> ''{5000}''', 'n @> ''{5000.0}''', 'f @> ''{0}''',
  'f @> ''{-0}''', 'f @> ''{NaN}''', 'n @> ''{NaN}''', 'n && ''{5e3}''', 't @> ''{ä}''',
  'n = ''{5e3}''', 'n = ''{NaN,5000}''', 'f = ''{0,NaN}''', 'f = ''{-0}''']);
-- Elements under a collation that makes other strings equal
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE loose AS SELECT ARRAY['Word ' || i] COLLATE any_case AS a, repeat('x', 400) AS pad
FROM generate_series(1, 500) i;
CREATE INDEX loose_a ON loose USING bloompages (a) WITH (pages_per_range = 1);
SELECT * FROM differences('loose', ARRAY['a @> ''{WORD 7}''', 'a && ''{word 8,wORD 9}''',
  'a = ''{WORD 7}''', 'a <@ ''{word 7,word 8}''']);
SELECT * FROM compared('SELECT count(*) FROM loose WHERE a @> ''{WORD 7}''');
-- For `value = ANY (column)` there is `@>`.
SELECT used FROM compared('SELECT count(*) FROM lists WHERE 700 = ANY (i)');

-- --- jsonb ---------------------------------------------------------------------------------------

CREATE TABLE docs (id int, d jsonb, pad text DEFAULT repeat('x', 400))
  WITH (autovacuum_enabled = off);
INSERT INTO docs SELECT id, CASE
  WHEN id % 20 = 19 THEN NULL WHEN id = 101 THEN '{}' WHEN id = 102 THEN '[]' WHEN id = 103
    THEN 'null'
  WHEN id = 204 THEN '{"a": {}}' WHEN id = 205 THEN '{"a": []}' WHEN id = 206 THEN '{"a": null}'
  WHEN id = 307 THEN '{"n": 307}' WHEN id = 308 THEN '{"n": 308.0}' WHEN id = 309
    THEN '{"n": 3.09e2}'
  WHEN id = 410 THEN '"scalar"' WHEN id = 411 THEN '["scalar", 411]' WHEN id = 412 THEN '412'
  WHEN id = 413 THEN '[[413, [{"deep": {"er": [true, false]}}]]]' WHEN id = 414
    THEN '{"": {"": ""}}'
  WHEN id = 515 THEN format('{"%s": "%s"}', repeat('k', 300), repeat('v', 3000))::jsonb
  WHEN id = 616 THEN '{"n": 123456789012345678901234567890.10}'
  ELSE jsonb_build_object('id', id, 'tags', jsonb_build_array('t' || id, 't' || id % 7),
                          'in', jsonb_build_object('x', id % 5, 'k' || id, true)) END
FROM generate_series(1, 2000) id;
CREATE INDEX docs_paths ON docs USING bloompages (d) WITH (pages_per_range = 1);
CREATE TABLE conditions AS
SELECT format('d @> %L', l) AS c, false AS of_keys FROM unnest(ARRAY['{}', '[]', 'null', '[null]',
  '{"a": {}}',
  '{"a": []}', '{"a": null}', '{"n": 307}', '{"n": 307.00}', '{"n": 308}', '{"n": 309}',
    '{"n": 30.9e1}',
  '"scalar"', '["scalar"]', '[411, "scalar"]', '412', '[412]', '[[413]]', '[[[{"deep": {}}]]]',
  '[[[{"deep": {"er": [true]}}]]]', '{"": {}}', '{"": {"": ""}}', '{"id": 701}',
    '{"id": 701, "in": {"x": 1}}',
  '{"id": 701, "in": {"x": 1}}', '{"tags": ["t701"]}', '{"tags": ["t701", "t0", "t0"]}',
    '{"tags": ["none"]}',
  '{"in": {"k701": true}}', '{"in": {"k701": false}}', '{"id": "701"}', '{"x": 0}', 'false',
  '{"n": 123456789012345678901234567890.1}']) l
UNION ALL SELECT format('d = %L', l), false FROM unnest(ARRAY['{}', '[]', 'null', '{"a": {}}',
  '{"a": []}',
  '{"n": 307.0}', '{"n": 3.08e2}', '412.0', '"scalar"', '{"id": 1}', '{"n": 309}']) l
UNION ALL SELECT format('d @? %L', l), false FROM unnest(ARRAY['$', '$.a', '$.id ? (@ == 701)',
  '$.id ? (@ > 1990)',
  '$.tags[*] ? (@ == "t701")', '$.tags[0] ? (@ == "t701" || @ == "t702")', '$.in.k701',
    '$.in.* ? (@ == true)',
  '$.** ? (@ == "scalar")', 'strict $.n ? (@ == 307)', '$.n ? (@ == 307 && @ < 400)',
    '$[*] ? (@ == "scalar")',
  '$ ? (@.id == 701)', '$ ? (exists (@.in.k701))', '$ ? (!(@.id == 701))',
    '$.tags ? (@ starts with "t70")',
  '$.none ? (@ == 1)', '$."" ? (@."" == "")', '$.id + 1', '$.n ? (@ == 308.00)', '$.tags[last]',
    '$.a ? (@ == null)',
  '$.id ? (@ == 701).type()']) l
UNION ALL SELECT format('d @@ %L', l), false FROM unnest(ARRAY['$.id == 701',
  '$.id == 701 && $.in.x == 0',
  '$.id == 701 || $.id == 702', '!($.id == 701)', '$.tags[*] == "t701"', 'exists($.in.k701)',
    '$.id > 1990',
  '$.id == "701"', '$.n == 3.09e2', '$.in.x == 3 && !exists($.in.k701)', 'exists($)', '$',
    '$.a == null',
  '$.tags[*] starts with "t70"', '($.id == 701) is unknown', 'strict $.nope == 1']) l
UNION ALL SELECT format('d ? %L', l), true FROM unnest(ARRAY['id', 'a', 'n', 'scalar', '', 'none',
  'x', '411',
  repeat('k', 300), 'tags']) l
UNION ALL SELECT format('d %s %L', op, l), true FROM unnest('{?|,?&}'::text[]) op,
  unnest(ARRAY['{}', '{NULL}', '{a}', '{a,n}', '{a,NULL}', '{id,tags}', '{none,n}', '{none}',
    '{scalar,411}']) l
UNION ALL SELECT 'd ?| (SELECT NULL::text[])', true UNION ALL SELECT 'd @> (SELECT NULL::jsonb)',
  false;
SELECT d.* FROM differences('docs', ARRAY(SELECT c FROM conditions WHERE NOT of_keys)) d;
SELECT c, pages_read('docs', c) FROM unnest(ARRAY['d @> ''{"id": 701}''',
  'd @> ''{"in": {"k701": true}}''',
  'd @> ''{"n": 308}''', 'd = ''{}''', 'd = ''{"a": {}}''', 'd @> ''{}''', 'd @> ''{"a": {}}''',
    'd @@ ''$.id == 701''',
  'd @? ''$.tags[*] ? (@ == "t701")''', 'd @@ ''$.id == 701 || $.id == 702''',
    'd @@ ''!($.id == 701)''',
  'd @> ''{"id": 701, "in": {"x": 1}}''', 'd @> ''{"in": {"x": 1}}''', 'd @> ''{"none": 1}''']) c;
DROP INDEX docs_paths;
CREATE INDEX docs_keys ON docs USING bloompages (d jsonb_key_ops) WITH (pages_per_range = 1);
SELECT d.* FROM differences('docs', ARRAY(SELECT c FROM conditions)) d;
SELECT c, pages_read('docs', c) FROM unnest(ARRAY['d @> ''{"id": 701}''', 'd ? ''n''',
  'd ?| ''{n,a}''', 'd ?& ''{a,n}''',
  'd ?& ''{scalar,411}''', 'd ? ''id''', 'd ?| ''{}''', 'd ?& ''{}''', 'd @> ''{"n": 308}''',
    'd = ''{}''']) c;
SELECT bf_index_check('docs_keys');

-- --- tsvector ------------------------------------------------------------------------------------

CREATE TABLE texts (id int, v tsvector, pad text DEFAULT repeat('x', 400))
  WITH (autovacuum_enabled = off);
INSERT INTO texts SELECT id, CASE WHEN id % 20 = 19 THEN NULL WHEN id = 101 THEN '' WHEN id = 202
  THEN 'rare:1A,9 other:2B'
  WHEN id = 303 THEN 'rare other' WHEN id = 404 THEN '''it''''s'':3 ''two words'':4'
  ELSE setweight(to_tsvector('simple', format('common w%s and w%s then p%s', id, id + 1, id % 9)),
    'C') END
FROM generate_series(1, 2000) id;
CREATE INDEX texts_v ON texts USING bloompages (v) WITH (pages_per_range = 1);
SELECT * FROM differences('texts', ARRAY(SELECT format('v @@ %L::tsquery', q)
  FROM unnest(ARRAY['rare', 'rare:A',
  'rare:B', 'rare:AB', 'rare & other', 'rare <-> other', 'other <-> rare', 'rare <8> rare',
    'w701 <-> and', 'w701 <2> w702',
  'w701 <2> w999', 'w701 | w800', 'w701 & w800', '!w701', '!w701 & w702', 'w701 & !w702', '!!w701',
    '!(w701 | common)',
  'w701:*', 'w70:* & p3', 'none:*', 'none:* | rare', 'rare:*A', ':*', '''two words''',
    '''it''''s''', 'common:C', 'common:A',
  '(w701 | none) & !rare & (common <-> w701 | none)', 'w701 <-> (and | then)', '!rare <-> other',
    'and <-> !w702',
  'none', 'none & common', 'none | !none']) q WHERE outcome(format('SELECT %L::tsquery', q)) = 'ok')
  || ARRAY['v @@ (SELECT NULL::tsquery)']);
SELECT q, pages_read('texts', format('v @@ %L', q)) FROM unnest(ARRAY['rare', 'w701',
  'w701 & common', 'w701 <-> and',
  'w701 | w800', 'none', 'none & common', 'rare:A', 'w701 & !w702', 'w701 & w99:*', 'common',
    '!w701', 'w701:*']) q;
SELECT bf_index_check('texts_v');

-- --- Expressions and WHERE -----------------------------------------------------------------------

CREATE TABLE posts (id int, email text, body text, doc jsonb, deleted_at date,
  pad text DEFAULT repeat('x', 300))
WITH (autovacuum_enabled = off);
INSERT INTO posts SELECT i, CASE WHEN i % 20 < 19 THEN 'User' || i || '@Example.com' END,
  'The quick foxes number' || i || ' jumped over lazy dogs' || i % 5,
  jsonb_build_object('tags', jsonb_build_array('t' || i, i % 9), 'id', i),
  CASE WHEN i % 3 = 0 THEN '2026-01-01'::date + i % 5 END
FROM generate_series(1, 2000) i;
CREATE INDEX posts_lower ON posts USING bloompages (lower(email)) WITH (pages_per_range = 1);
CREATE INDEX posts_words ON posts USING bloompages (to_tsvector('english', body))
  WITH (pages_per_range = 1);
CREATE INDEX posts_tags ON posts USING bloompages ((doc -> 'tags'), (doc ->> 'id'), id)
  WITH (pages_per_range = 1);
CREATE INDEX posts_alive ON posts USING bloompages (id, lower(email)) WITH (pages_per_range = 1)
  WHERE deleted_at IS NULL;
CREATE INDEX posts_list ON posts USING bloompages (string_to_array(body, ' '),
  (string_to_array(lower(email), '@')))
WITH (pages_per_range = 1);
SELECT * FROM differences('posts', ARRAY['lower(email) = ''user701@example.com''',
  'lower(email) = ''User702@example.com''',
  'lower(email) = ANY (''{user7@example.com,user8@example.com,NULL}'')',
  'to_tsvector(''english'', body) @@ ''number701''',
    'to_tsvector(''english'', body) @@ to_tsquery(''english'', ''foxes & jumping & number7'')',
  'to_tsvector(''english'', body) @@ ''fox & !dogs1 & number16''',
    'doc -> ''tags'' @> ''["t701"]''', 'doc -> ''tags'' @> ''"t701"''',
  '(doc -> ''tags'') = ''["t701", 7]''', 'doc ->> ''id'' = ''700''',
    'doc ->> ''id'' = ''700'' AND doc -> ''tags'' @> ''["t701"]''',
  'doc -> ''tags'' @> ''["t701", 8]''', 'deleted_at IS NULL AND id = 701',
    'deleted_at IS NULL AND id = 699',
  'deleted_at IS NULL AND lower(email) = ''user701@example.com''', 'id = 700',
    'string_to_array(body, '' '') @> ''{number701}''',
  'string_to_array(body, '' '') && ''{number701,number9,none}''',
    'string_to_array(lower(email), ''@'') @> ''{user701}''']);
SELECT c, pages_read('posts', c) FROM unnest(ARRAY['lower(email) = ''user701@example.com''',
  'to_tsvector(''english'', body) @@ ''number701''',
  'doc -> ''tags'' @> ''["t701"]''', 'deleted_at IS NULL AND id = 701',
    'to_tsvector(''english'', body) @@ ''fox''']) c;
-- A partial index can be used without another condition. Then it finds all pages, and costs that.
DROP INDEX posts_tags;
SELECT * FROM compared('SELECT count(*) FROM posts WHERE deleted_at IS NULL');
SELECT explained('SELECT count(*) FROM posts WHERE deleted_at IS NULL');
-- Two indexes on different expressions are no rivals.
CREATE INDEX posts_btree ON posts (upper(email));
SELECT * FROM differences('posts', ARRAY['lower(email) = ''user701@example.com''']);
-- Rows that come later
UPDATE posts SET deleted_at = NULL WHERE id BETWEEN 690 AND 705;
UPDATE posts SET email = 'NEW' || id || '@example.com' WHERE id BETWEEN 900 AND 905;
INSERT INTO posts SELECT i, 'Later' || i || '@x.y', 'later words ' || i FROM generate_series(3001,
  3400) i;
VACUUM ANALYZE posts;
UPDATE posts SET body = 'changed ' || body, deleted_at = '2026-01-01' WHERE id % 100 = 1;
SELECT * FROM differences('posts', ARRAY['deleted_at IS NULL AND id = 699',
  'deleted_at IS NULL AND id = 701',
  'lower(email) = ''new903@example.com''', 'lower(email) = ''later3007@x.y''',
    'to_tsvector(''english'', body) @@ ''changed & 3201''',
  'deleted_at IS NULL AND id = 3301', 'deleted_at IS NULL AND id = 3302',
    'string_to_array(body, '' '') @> ''{changed,3201}''']);
SELECT bf_index_check(i)
  FROM unnest('{posts_lower,posts_words,posts_alive,posts_list}'::regclass[]) i;

-- --- Several columns of different kinds ----------------------------------------------------------

CREATE TABLE logs (id int, line text, trace uuid, tags text[], doc jsonb);
INSERT INTO logs SELECT i, format('request %s of %s took %s ms at /api/v%s', md5('l' || i), i % 50,
  i * 7 % 1000, i % 4),
  md5(i::text)::uuid, ARRAY['t' || i, 'all'], jsonb_build_object('s', i) FROM generate_series(1,
    30000) i;
CREATE INDEX logs_all ON logs USING bloompages (line text_ngram_ops, trace, tags, doc, lower(line))
  WITH (pages_per_range = 4);
VACUUM ANALYZE logs;
SELECT * FROM differences('logs', ARRAY[format('trace = %L', md5('700')::uuid),
  format('line LIKE %L', '%' || md5('l700') || '%'),
  'tags @> ''{t701}''', 'tags @> ''{t701,all}''', 'doc @> ''{"s": 700}''', 'tags = ''{t701,all}''',
    'doc = ''{"s": 7e2}''',
  format('trace = %L AND tags @> ''{t701}'' AND line ILIKE ''%%REQUEST%%''', md5('700')::uuid),
  format('trace = %L OR tags @> ''{t701}''', md5('700')::uuid), format('line = %L', 'request x'),
  format('lower(line) = (SELECT lower(line) FROM logs WHERE id = 77)')]);
-- A whole value is several keys, so `=` is sharp where an n-gram is not.
SELECT sum(lossy) < 130 AS few
  FROM (SELECT coalesce((plan_of(format('SELECT FROM logs WHERE trace = %L', md5('no' || i)::uuid),
  'ANALYZE, TIMING OFF') #>> '{0,Plan,Lossy Heap Blocks}')::int, 0) AS lossy
    FROM generate_series(1, 30) i) l;

-- Equality of values with keys is that sharp, too. If each value has a rare key, a whole value has
-- one hash beside those of its keys, and the index is small. It has several if all values consist
-- of a few keys, and so has a value without keys.
CREATE TABLE rare AS SELECT ARRAY['r' || i] AS a, repeat('x', 150) AS pad
FROM generate_series(1, 57000) i;
CREATE TABLE combined AS
SELECT ARRAY(SELECT chr(97 + get_byte(decode(md5(i::text), 'hex'), j) % 4)
             FROM generate_series(0, 7) j) AS a, repeat('x', 40) AS pad
FROM generate_series(1, 60000) i;
CREATE INDEX rare_a ON rare USING bloompages (a) WITH (pages_per_range = 1);
CREATE INDEX combined_a ON combined USING bloompages (a) WITH (pages_per_range = 1);
ANALYZE rare, combined;
SELECT pg_relation_size('rare_a') / 8192 < 50 AS small;
CREATE FUNCTION few_for(of_table text, query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  value text;
  lossy int := 0;
BEGIN
  SET LOCAL enable_seqscan = off;
  FOR value IN EXECUTE query LOOP
    lossy := lossy + coalesce((plan_of(format('SELECT FROM %s WHERE a = %L', of_table, value),
      'ANALYZE, TIMING OFF') #>> '{0,Plan,Lossy Heap Blocks}')::int, 0);
  END LOOP;
  RETURN lossy < 10;
END $$;
SELECT few_for('rare', $$SELECT ARRAY['no' || i] FROM generate_series(1, 40) i$$) AS rare,
  few_for('rare', $$SELECT array_fill(NULL::text, ARRAY[i]) FROM generate_series(1, 40) i$$)
    AS "null",
  few_for('combined', $$SELECT ARRAY(SELECT chr(97 + get_byte(decode(md5('no' || i), 'hex'), j) % 4)
    FROM generate_series(0, 8) j) FROM generate_series(1, 100) i$$) AS combined;
-- The planner looks for many keys in few groups of the index: it has 13.
SELECT (plan_of(format('SELECT FROM rare WHERE a && %L', (SELECT array_agg('r' || i * 60)
  FROM generate_series(1, 900) i)), 'BUFFERS') #>> '{0,Planning,Shared Hit Blocks}')::int < 3000
  AS few_reads;
DROP TABLE rare, combined;

-- --- Many keys, patterns and rows ----------------------------------------------------------------

-- 20 000 keys in one condition, and an OR of more than can be probed
CREATE TABLE fewer AS SELECT i, repeat('x', 2000) AS pad FROM lists WHERE id BETWEEN 600 AND 740;
CREATE INDEX fewer_i ON fewer USING bloompages (i) WITH (pages_per_range = 1);
SELECT * FROM differences('fewer', ARRAY(SELECT format('i %s %L', op, l)
  FROM unnest('{@>,&&,<@,=}'::text[]) op,
  (SELECT array_agg(k) AS l FROM generate_series(1, 20000) k UNION ALL SELECT array_agg(k)
    FROM generate_series(3000, 23000) k
   UNION ALL SELECT array_agg(k) FROM generate_series(600, 1599) k UNION ALL SELECT array_agg(k)
     FROM generate_series(600, 1600) k
   UNION ALL SELECT array_agg(k % 7) FROM generate_series(1, 20000) k
   UNION ALL SELECT array_agg(CASE k % 3 WHEN 0 THEN 700 WHEN 1 THEN 701 ELSE 0 END)
     FROM generate_series(1, 20000) k) s)) d;
CREATE TABLE fewer_docs AS SELECT d, repeat('x', 2000) AS pad FROM docs WHERE id BETWEEN 600
  AND 740;
CREATE INDEX fewer_docs_d ON fewer_docs USING bloompages (d jsonb_key_ops)
  WITH (pages_per_range = 1);
SELECT * FROM differences('fewer_docs', ARRAY(SELECT format('d ?%s %L', op, l)
  FROM unnest('{|,&}'::text[]) op,
  (SELECT array_agg('k' || k) || '{id}' AS l FROM generate_series(1, 20000) k) s));
SELECT * FROM differences('texts', ARRAY(SELECT format('v @@ %L', q) FROM (SELECT string_agg('w'
  || i, ' | ') AS q FROM generate_series(1, 3000) i
  UNION ALL SELECT string_agg('!w' || i, ' & ') FROM generate_series(1, 500) i) s));
-- A thousand patterns, each by a scan of its own
SELECT c.with_index, c.with_scan FROM (SELECT array_agg('%' || md5('l' || i) || '%')
  || '{NULL,%none%}' AS p FROM generate_series(29001, 30000) i) s,
  compared(format('SELECT count(*) FROM logs WHERE id > 29900 AND line LIKE ANY (%L)', p)) c;

-- What is not constant: other tables, parameters, generic plans, subqueries, volatile functions
CREATE TABLE wanted (k int, l int[], d jsonb, q tsquery, p text);
INSERT INTO wanted SELECT i, ARRAY[i, NULLIF(i, 700)], jsonb_build_object('id', i),
  format('w%s & !w%s', i, i + 2)::tsquery, '%' || md5('l' || i) || '%'
FROM generate_series(695, 705) i UNION ALL SELECT 0, '{}', '{}', '!w701', NULL;
ANALYZE wanted;
CREATE FUNCTION joined(query text, OUT plan text, OUT same boolean, OUT n int)
  LANGUAGE plpgsql AS $$
DECLARE
  a text[]; b text[];
BEGIN
  SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
  SET LOCAL enable_seqscan = off; SET LOCAL enable_material = off;
  plan := substring(string_agg(line, ' ') FROM 'Bitmap Index Scan on \w+')
    FROM explained(query) line;
  EXECUTE format('SELECT array_agg(r::text ORDER BY r::text) FROM (%s) r', query) INTO a;
  SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = off;
  EXECUTE format('SELECT array_agg(r::text ORDER BY r::text) FROM (%s) r', query) INTO b;
  SET LOCAL enable_bitmapscan = on;
  same := a IS NOT DISTINCT FROM b;
  n := cardinality(a);
END $$;
SELECT j.* FROM unnest(ARRAY['SELECT k, id FROM wanted JOIN lists ON i @> l',
  'SELECT k, id FROM wanted LEFT JOIN lists ON i && l',
  'SELECT k, id FROM wanted JOIN lists ON i <@ l', 'SELECT k, id FROM wanted JOIN lists ON i = l',
    'SELECT k, id FROM wanted LEFT JOIN docs t ON t.d @> wanted.d AND k > 0',
  'SELECT k, id FROM wanted JOIN texts ON v @@ q',
    'SELECT k, id FROM wanted JOIN logs ON line LIKE p',
  'SELECT k, (SELECT count(*) FROM lists WHERE i @> l AND i @> ARRAY[k]) FROM wanted']) q,
    joined(q) j;
PREPARE by_list(int[]) AS SELECT count(*) FROM lists WHERE i @> $1;
PREPARE by_query(tsquery) AS SELECT count(*) FROM texts WHERE v @@ $1;
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
SELECT explained('EXECUTE by_list(NULL)');
EXECUTE by_list('{700}'); EXECUTE by_list('{}'); EXECUTE by_list(NULL);
EXECUTE by_list('{NULL}'); EXECUTE by_list('{700,701}');
EXECUTE by_query('w701'); EXECUTE by_query('!w701'); EXECUTE by_query(NULL);
RESET plan_cache_mode;
SELECT count(*) FROM lists WHERE i @> (SELECT array_agg(k) FROM wanted WHERE k = 700);
SELECT count(*) FROM lists WHERE i @> ARRAY[700 + floor(random())::int];
RESET enable_seqscan;

-- --- Plans ---------------------------------------------------------------------------------------

-- A rare needle uses the index, and a frequent one does not, whatever the server estimates.
CREATE FUNCTION node_of(query text) RETURNS text LANGUAGE sql AS
  $$SELECT jsonb_path_query_first(plan_of(query),
    '$.**."Node Type" ? (@ like_regex "Scan")') #>> '{}'$$;
SELECT c, node_of('SELECT FROM logs WHERE ' || c) FROM unnest(ARRAY['tags @> ''{t701}''',
  'tags @> ''{none}''', 'tags @> ''{all}''',
  'line LIKE ''%none-such%''', 'line LIKE ''%request%''', 'line LIKE ''%uest%''',
    'line LIKE ''%a%''', 'doc @> ''{"s": 700}''', 'doc @> ''{}''',
  'line LIKE ANY (''{%none-such%,%never-was%}'')', 'line LIKE ANY (''{%none-such%,%request%}'')',
    'tags && ''{none,t7}''', 'tags <@ ''{}''']) c;
-- In a table of a hundred million rows, one row in ten thousand is a row in each range. (The number
-- of pages is the file's.)
UPDATE pg_class SET reltuples = 1e8 WHERE oid = 'logs'::regclass;
SELECT c, node_of('SELECT FROM logs WHERE ' || c) FROM unnest(ARRAY['line LIKE ''%none-such%''',
  'tags @> ''{none}''', 'doc @> ''{"s": 700}''',
  'line LIKE ''%request%''', 'tags @> ''{all}''', 'line LIKE ANY (''{%none-such%,%never-was%}'')',
    'tags && ''{none,t7}''']) c;

-- Nothing is known of the keys in a join, and the server assumes that they are in so many rows that
-- each range has one. The index is used all the same, by one process.
SET max_parallel_workers_per_gather = 0; SET work_mem = '4MB';
CREATE TABLE noted AS SELECT ARRAY['t' || i] AS tags, repeat('x', 300) AS pad
FROM generate_series(1, 200000) i;
CREATE INDEX noted_tags ON noted USING bloompages (tags);
CREATE TABLE asked AS SELECT 't' || i AS tag FROM generate_series(1, 10) i;
ANALYZE noted, asked;
SELECT CAST(plan_of('SELECT FROM asked JOIN noted ON tags @> ARRAY[tag]') AS text) ~ 'noted_tags'
  AS by_index;
RESET max_parallel_workers_per_gather; RESET work_mem;
DROP TABLE noted, asked;
