-- bf_create_set() makes a table of shards, and functions that add to it, probe it and describe it.
-- bf_drop_set() drops them.
CREATE SCHEMA sets;
CREATE SCHEMA others;
SET search_path = sets, public;
\i sql/include/outcome.sql
CREATE VIEW made AS
  SELECT relname AS name FROM pg_class WHERE relnamespace = 'sets'::regnamespace AND relkind = 'r'
  UNION ALL
  SELECT proname FROM pg_proc WHERE pronamespace = 'sets'::regnamespace AND proname ~ '_';

-- Arguments that are NULL, out of range, or no name or type. Nothing is made.
CREATE TYPE fields AS (a int, b point);
CREATE DOMAIN numbers AS int[];
CREATE TABLE taken (i int);
CREATE FUNCTION odd_has(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT statement, e.* FROM (VALUES
  ('bf_create_set(NULL, ''text'', 10)'), ('bf_create_set(''seen'', NULL, 10)'),
  ('bf_create_set(''seen'', ''text'', NULL)'), ('bf_create_set(''seen'', ''text'', 10, NULL)'),
  ('bf_create_set(''seen'', ''text'', keep => ''0'')'),
  ('bf_create_set(''seen'', ''text'', keep => ''-1 day'')'),
  ('bf_create_set(''seen'', ''text'', keep => ''1000 years'')'),
  ('bf_create_set(''1seen'', ''text'')'), ('bf_create_set(''order'', ''text'')'),
  ('bf_create_set(''left'', ''text'')'), ('bf_create_set(''a-b'', ''text'')'),
  ('bf_create_set(''order.seen'', ''text'')'),
  ('bf_create_set(''seen'', ''text'', 0)'), ('bf_create_set(''seen'', ''text'', -1)'),
  ('bf_create_set(''seen'', ''text'', 0.01)'), ('bf_create_set(''seen'', ''text'', ''NaN'')'),
  ('bf_create_set(''seen'', ''text'', 1e13)'), ('bf_create_set(''seen'', ''text'', 10, 0)'),
  ('bf_create_set(''seen'', ''text'', 10, 1)'), ('bf_create_set(''seen'', ''text'', 10, ''NaN'')'),
  ('bf_create_set('''', ''text'', 10)'), ('bf_create_set(''a b'', ''text'', 10)'),
  ('bf_create_set(''"a'', ''text'', 10)'), ('bf_create_set(''sets.'', ''text'', 10)'),
  ('bf_create_set(''seen; --'', ''text'', 10)'),
  ('bf_create_set(''"' || repeat('ä', 28) || '"'', ''text'', 10)'),
  ('bf_create_set(''taken'', ''text'', 10)'), ('bf_create_set(''odd'', ''text'', 10)'),
  ('bf_create_set(''seen'', ''json'', 10)'), ('bf_create_set(''seen'', ''bloomfilter'', 10)'),
  ('bf_create_set(''seen'', ''fields'', 10)'), ('bf_create_set(''seen'', ''int[]'', 10)'),
  ('bf_create_set(''seen'', ''numbers'', 10)'), ('bf_create_set(''seen'', ''record'', 10)'),
  ('bf_create_set(''seen'', ''anyelement'', 10)'), ('bf_create_set(''seen'', 4711, 10)')
) v(statement), error_of('SELECT ' || statement) e \gx
-- The server words these errors, in each version as it likes.
SELECT statement, outcome('SELECT ' || statement) FROM (VALUES
  ('bf_create_set(''seen'', ''nosuch'', 10)'), ('bf_create_set(''nosuch.seen'', ''text'', 10)'),
  ('bf_create_set(''elsewhere.sets.seen'', ''text'', 10)'),
  ('bf_create_set(''a.b.c.d'', ''text'', 10)'),
  ('bf_create_set(''pg_catalog.seen'', ''text'', 10)')
) v(statement);
SELECT * FROM made ORDER BY name;

-- A set: the objects, and what their functions say.
SELECT bf_create_set('seen', 'text', 10000);
\d seen
\sf seen_add
\sf seen_has
\sf seen_add_all
\sf seen_info
SELECT reloptions AS options, obj_description(oid) AS comment FROM pg_class
WHERE oid = 'seen'::regclass;
SELECT proname, provolatile, proparallel, proisstrict, prosecdef AS definer, proconfig AS settings,
  obj_description(oid) AS comment
FROM pg_proc WHERE pronamespace = 'sets'::regnamespace AND proname ~ '^seen_' ORDER BY 1;
SELECT count(*) AS shards, bool_and(element_type = 'text') AS "have the type",
  max(pg_column_size(seen.*)) < 2032 AS "fit into a row",
  max((seen.ctid::text::point)[1]) AS on_page
FROM seen, bf_info(filter) i, seen_info() s GROUP BY shards;
SELECT seen_has('https://example.com/1') AS before,
  seen_add('https://example.com/1') AS "new is new",
  seen_add('https://example.com/1') AS "known is new";
SELECT seen_has('https://example.com/1') AS after,
  seen_has('https://example.com/2') AS another;
SELECT count(*) FROM unnest(ARRAY['a', 'b']) u WHERE NOT seen_has(u);
SELECT seen_add_all(ARRAY['a', 'b', 'c', 'b', 'https://example.com/1', NULL]) AS were_new;
SELECT seen_add_all(ARRAY['c', 'b', 'a']) AS were_new, seen_add_all('{}') AS of_nothing,
  seen_add_all(ARRAY[NULL, NULL]) AS of_nulls, seen_add_all('{{d,e},{f,d}}') AS of_two_dimensions;
SELECT string_agg(u, ' ') AS has
FROM regexp_split_to_table('a b c d e f g https://example.com/1', ' ') u WHERE seen_has(u);
SELECT seen_add(NULL), seen_has(NULL), seen_add_all(NULL);
SELECT expected, target_fpr, shards, round(estimated_count) AS count,
  fill BETWEEN 1e-4 AND 1e-2 AS fill,
  estimated_fpr BETWEEN 1e-20 AND 1e-9 AS fpr, bytes = pg_total_relation_size('seen') AS bytes
FROM seen_info();

-- A filled set has a part of the rate that was asked for, because it can grow. Batches and single
-- values give the same filters.
SELECT sum(seen_add_all(batch)) BETWEEN 9900 AND 9992 AS "nearly all were new"
FROM (SELECT array_agg('url ' || i) AS batch FROM generate_series(1, 9993) i GROUP BY i % 3) b;
SELECT count(*) AS denied FROM generate_series(1, 9993) i WHERE NOT seen_has('url ' || i);
SELECT count(*) BETWEEN 20 AND 100 AS "about one in 200" FROM generate_series(10001, 20000) i
WHERE seen_has('url ' || i);
SELECT round(estimated_count::numeric, -3) AS count, round(estimated_fpr::numeric, 3) AS fpr,
  round(fill::numeric, 1) AS fill FROM seen_info();
SELECT bf_create_set('singly', 'text', 10000);
SELECT count(*) AS values FROM (
  SELECT singly_add(value) FROM (SELECT 'url ' || generate_series(1, 9993)
    UNION ALL SELECT unnest('{a,b,c,d,e,f,https://example.com/1}'::text[])) v(value) OFFSET 0) a;
SELECT count(*) AS equal FROM seen JOIN singly USING (shard_of_8, filter);
-- Known values write and lock nothing.
CREATE TEMP TABLE versions AS SELECT ctid AS place, xmin AS made, xmax AS locked FROM seen;
SELECT seen_add('a') AS "a is new", seen_add_all(ARRAY['a', 'b', 'url 5']) AS were_new;
SELECT count(*) AS changed FROM (SELECT ctid, xmin, xmax FROM seen EXCEPT TABLE versions) c;
BEGIN READ ONLY;
SELECT seen_has('a'), round(estimated_count::numeric, -3) FROM seen_info();
SELECT seen_add('new value');
ROLLBACK;

-- Missing shards are empty, and additions make them.
TRUNCATE seen;
SELECT seen_has('a'), estimated_count, fill, estimated_fpr FROM seen_info();
SELECT seen_add('a') AS "a is new", seen_add('a') AS "a is new again";
SELECT seen_add_all(array_agg('url ' || i)) AS were_new FROM generate_series(1, 100) i;
SELECT count(*) AS shards FROM seen;
DELETE FROM seen WHERE shard_of_8 > 3;
SELECT count(*) FILTER (WHERE seen_add('url ' || i) OR seen_has('url ' || i)) AS added
FROM generate_series(101, 200) i;
SELECT count(*) FILTER (WHERE seen_has('url ' || i)) AS has FROM generate_series(101, 200) i;

-- The functions work with any search_path: this one has another operator =, other functions and
-- another type float8.
CREATE FUNCTION others.wrong(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR others.= (FUNCTION = others.wrong, LEFTARG = int, RIGHTARG = int);
CREATE FUNCTION others.count() RETURNS bigint LANGUAGE sql AS 'SELECT -1::bigint';
CREATE FUNCTION others.bf_shard(text, int) RETURNS int LANGUAGE sql AS 'SELECT 0';
CREATE FUNCTION others.bf_create(int, numeric, type text) RETURNS int LANGUAGE sql AS 'SELECT 0';
CREATE FUNCTION others.generate_series(int, int) RETURNS int LANGUAGE sql AS 'SELECT 0';
CREATE DOMAIN others.float8 AS int;
CREATE TABLE others.seen (shard_of_8 int, most real, is_full boolean, filter bloomfilter);
SET search_path = others, pg_catalog;
SELECT sets.seen_add('https://example.com/9') AS "new is new",
  sets.seen_add_all(ARRAY['https://example.com/9', 'https://example.com/8']) AS were_new;
SELECT sets.seen_has('https://example.com/9'), sets.seen_has('https://example.com/8');
SELECT public.bf_create_set('seen_too', 'int', 5000), 5 = 5 AS equal;
SELECT others.seen_too_add_all(ARRAY[1, 2, 3]), shards, target_fpr FROM others.seen_too_info();
SET search_path = '';
SELECT sets.seen_has('https://example.com/9'), sets.seen_has('https://example.com/8');
SELECT sets.seen_add('https://example.com/7'), sets.seen_add_all(ARRAY['https://example.com/6']);
SELECT estimated_count > 0 AS info FROM sets.seen_info();
SELECT public.bf_create_set('seen', 'int', 5000);
SELECT public.bf_drop_set('others.seen_too');
SET search_path = sets, public;

-- Hostile names are names.
CREATE SCHEMA "Sch$$ema "". {type} ' \";
SELECT bf_create_set('"Sch$$ema "". {type} '' \"."{set literal} $$; "', 'bigint', 100);
SELECT nspname, relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
WHERE relname ~ '^\{' AND relkind = 'r';
SET search_path = "Sch$$ema "". {type} ' \", public;
SELECT "{set literal} $$; _add"(5) AS "5 is new",
  "{set literal} $$; _add_all"(ARRAY[5, 6]) AS were_new;
SELECT "{set literal} $$; _has"(6), "{set literal} $$; _has"(7), shards
FROM "{set literal} $$; _info"();
SELECT bf_drop_set('"{set literal} $$; "');
CREATE DOMAIN "{set} ' d{" AS int;
SELECT bf_create_set('of_domain', '"{set} '' d{"', 100000000);
SELECT of_domain_add(5) AS "5 is new";
SELECT of_domain_has(5), of_domain_has(6);
SELECT bf_drop_set('of_domain');
SELECT count(*) AS left FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
WHERE nspname ~ '^Sch';
SET search_path = sets, public;
SELECT bf_create_set('"' || repeat('ä', 27) || '"', 'bigint', 100);
SELECT name, length(name), octet_length(name) FROM made WHERE name ~ 'ä' ORDER BY name;
SELECT bf_drop_set(('"' || repeat('ä', 27) || '"')::regclass);

-- Each type that a filter holds can be the type of a set. Arrays need a type around them.
CREATE TYPE mood AS ENUM ('sad', 'happy', 'angry');
CREATE TYPE point_of AS (x int, y text, list int[]);
CREATE DOMAIN email AS text CHECK (value ~ '@');
CREATE DOMAIN point_domain AS point_of;
CREATE FUNCTION tried(type regtype, members text[], OUT were_new bigint, OUT new_again bigint,
  OUT first boolean, OUT first_again boolean, OUT has_all boolean, OUT has_another boolean)
LANGUAGE plpgsql AS $$
DECLARE
  another text := members[array_upper(members, 1)];
BEGIN
  members := trim_array(members, 1);
  PERFORM bf_create_set('tried', type, 3000, 0.0001);
  EXECUTE format('SELECT tried_add($1[1]::%s)', type) INTO first USING members;
  EXECUTE format('SELECT tried_add($1[1]::%s)', type) INTO first_again USING members;
  EXECUTE format('SELECT tried_add_all($1::%s[])', type) INTO were_new USING members;
  EXECUTE format('SELECT tried_add_all($1::%s[])', type) INTO new_again USING members;
  EXECUTE format('SELECT bool_and(tried_has(m::%s)), tried_has($2::%1$s)
                  FROM unnest($1) m WHERE m IS NOT NULL', type)
    INTO has_all, has_another USING members, another;
  PERFORM bf_drop_set('tried');
END $$;
SELECT type, t.* FROM (VALUES
  ('smallint', '{1,2,NULL,2,3}'::text[]), ('int', '{1,2,NULL,2,3}'), ('bigint', '{1,2,NULL,2,3}'),
  ('numeric(10,2)', '{1.0,1.00,NULL,2.5,3}'), ('float8', '{0,-0,2,NaN,3}'), ('oid', '{1,2,3,3,4}'),
  ('text', '{a,"a ",b,b,c}'), ('varchar(3)', '{a,"a ",b,b,c}'), ('char(3)', '{a,"a ",b,b,c}'),
  ('name', '{a,b,b,NULL,c}'), ('"char"', '{a,b,b,NULL,c}'), ('email', '{a@b,b@c,NULL,c@d,d@e}'),
  ('bytea', '{\\x00,\\x01,\\x01,NULL,\\x02}'), ('boolean', '{t,t,t,NULL,f}'),
  ('uuid', format('{%s,%s,NULL,%s}', repeat('1', 32), repeat('2', 32), repeat('3', 32))::text[]),
  ('date', '{2026-01-01,2026-01-02,NULL,2026-01-02,2026-01-03}'),
  ('timestamptz', '{2026-01-01,2026-01-02,NULL,2026-01-02,2026-01-03}'),
  ('interval', '{1 month,30 days,NULL,1 day,2 days}'), ('inet', '{10.0.0.1,10.0.0.2,NULL,::1,::2}'),
  ('jsonb', '{1,1.0,"null",NULL,2,3}'), ('mood', '{sad,happy,NULL,angry}'),
  ('int4range', '{"[1,3)","[1,2]",NULL,empty,"[5,6)"}'),
  ('macaddr', '{08:00:2b:01:02:03,08:00:2b:01:02:04,NULL,08:00:2b:01:02:05}'),
  ('int4multirange', '{"{[1,3)}","{[1,2]}",NULL,"{}","{[5,6)}"}'),
  ('point_of', '{"(1,a,{1})","(2,,)","(,,)",NULL,"(1,a,{1})","(1,b,)"}'),
  ('point_domain', '{"(1,a,{1})","(2,,)","(,,)",NULL,"(1,a,{1})","(1,b,)"}')) v(type, members),
  tried(type::regtype, members) t;
SELECT bf_create_set('chars', 'char(3)', 100);
SELECT chars_add('abc'), chars_add_all(ARRAY['abc', 'abd', 'abe']::char(3)[]);
SELECT chars_has('abe');
SELECT bf_drop_set('chars');

-- Other roles make sets of their own, and use a set if it is granted to them.
CREATE ROLE regress_bloomfilter_owner;
CREATE ROLE regress_bloomfilter_other;
GRANT USAGE ON SCHEMA sets, others TO regress_bloomfilter_owner, regress_bloomfilter_other;
GRANT SELECT ON made TO regress_bloomfilter_owner;
SET ROLE regress_bloomfilter_owner;
SELECT bf_create_set('sets.owned', 'int', 5000);
RESET ROLE;
SELECT * FROM made WHERE name ~ 'owned';
GRANT CREATE ON SCHEMA sets TO regress_bloomfilter_owner;
SET ROLE regress_bloomfilter_owner;
SELECT bf_create_set('sets.owned', 'int', 5000);
SELECT owned_add(1) AS "1 is new";
RESET ROLE;
SELECT pg_get_userbyid(relowner) AS owner, count(DISTINCT proowner = relowner) AS of_all,
  count(*) AS functions
FROM pg_class JOIN pg_proc ON proname ~ '^owned_' AND proowner = relowner
WHERE relname = 'owned' GROUP BY 1;
SELECT what, outcome(format('SET ROLE regress_bloomfilter_other; %s; RESET ROLE', what)) AS other
FROM (VALUES ('SELECT sets.owned_has(1)'), ('SELECT sets.owned_add(2)'),
  ('SELECT sets.owned_add_all(ARRAY[2])'), ('SELECT * FROM sets.owned_info()'),
  ('SELECT bf_drop_set(''sets.owned'')')) v(what);
GRANT SELECT ON owned TO regress_bloomfilter_other;
SELECT what, outcome(format('SET ROLE regress_bloomfilter_other; %s; RESET ROLE', what)) AS reader
FROM (VALUES ('SELECT sets.owned_has(1)'), ('SELECT sets.owned_add(2)'),
  ('SELECT sets.owned_add_all(ARRAY[2])'), ('SELECT * FROM sets.owned_info()'),
  ('SELECT bf_drop_set(''sets.owned'')')) v(what);
GRANT INSERT, UPDATE ON owned TO regress_bloomfilter_other;
SELECT what, outcome(format('SET ROLE regress_bloomfilter_other; %s; RESET ROLE', what)) AS writer
FROM (VALUES ('SELECT sets.owned_has(1)'), ('SELECT sets.owned_add(2)'),
  ('SELECT sets.owned_add_all(ARRAY[2])'), ('SELECT * FROM sets.owned_info()'),
  ('SELECT bf_drop_set(''sets.owned'')')) v(what);

-- Row-level security can hide shards from a role. A value of a hidden shard is an error if the role
-- adds it.
ALTER TABLE owned ENABLE ROW LEVEL SECURITY;
CREATE POLICY reads ON owned FOR SELECT USING (true);
CREATE POLICY inserts ON owned FOR INSERT WITH CHECK (true);
SELECT what, outcome(format('SET ROLE regress_bloomfilter_other; %s; RESET ROLE', what)) AS reader
FROM (VALUES ('SELECT sets.owned_has(1)'), ('SELECT sets.owned_add(1)'),
  ('SELECT sets.owned_add(5)'), ('SELECT sets.owned_add_all(ARRAY[5])')) v(what);
DROP POLICY inserts ON owned;
DROP POLICY reads ON owned;
ALTER TABLE owned DISABLE ROW LEVEL SECURITY;
-- Also if a generation would have to begin in the hidden shard.
SELECT bf_create_set('hidden', 'int', 100, keep => '4 days');
UPDATE hidden SET newest_of_86400000000 = newest_of_86400000000 - 1;
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY reads ON hidden FOR SELECT USING (true);
GRANT SELECT, INSERT, UPDATE ON hidden TO regress_bloomfilter_other;
SELECT what, outcome(format('SET ROLE regress_bloomfilter_other; %s; RESET ROLE', what)) AS reader
FROM (VALUES ('SELECT sets.hidden_has(1)'), ('SELECT sets.hidden_add(1)'),
  ('SELECT sets.hidden_add_all(ARRAY[1])')) v(what);
SELECT bf_drop_set('hidden');

-- With SECURITY DEFINER, a function needs no rights on the table. The caller's search_path, which
-- has another operator =, changes nothing.
REVOKE ALL ON owned FROM regress_bloomfilter_other;
ALTER FUNCTION owned_add SECURITY DEFINER;
SET ROLE regress_bloomfilter_other;
SET search_path = others, pg_catalog;
SELECT sets.owned_add(7) AS "7 is new";
SELECT sets.owned_add(7) AS "7 is new again";
RESET ROLE;
SET search_path = sets, public;
SELECT owned_has(7), owned_has(8);

-- Columns that a user adds have names of their own.
SELECT bf_create_set('wide', 'int', 5000),
  bf_create_set('wide_lately', 'int', 5000, keep => '9 days');
DO $$
DECLARE
  set text;
  name text;
BEGIN
  FOREACH set IN ARRAY ARRAY['wide', 'wide_lately'] LOOP
    FOREACH name IN ARRAY ARRAY['value', 'values', 'shard', 'shards', 'known', 'rows', 'level',
      'keys', 'generation', 'oldest', 'place', 'empty', 'members', 'room', 'pending', 'first',
      'fill', 'bytes', 'expected', 'keep', 's', 'f', 'b', 'e', 'm', 'i', 'number', 'found'] LOOP
      EXECUTE format('ALTER TABLE %I ADD COLUMN %I int', set, name);
    END LOOP;
  END LOOP;
END $$;
SELECT wide_add(1), wide_add_all(ARRAY[1, 2]), wide_lately_add(1), wide_lately_add_all(ARRAY[1, 2]);
SELECT wide_has(2), wide_has(3), wide_lately_has(2), wide_lately_has(3);
SELECT wide_add(2), wide_lately_add(2), round(w.estimated_count), round(l.estimated_count)
FROM wide_info() w, wide_lately_info() l;
SELECT bf_drop_set('wide'), bf_drop_set('wide_lately');

-- A set may have the name of its functions' argument.
SELECT bf_create_set('value', 'int', 5000);
SELECT value_add(1), value_add_all(ARRAY[1, 2]);
SELECT value_has(2), value_has(3);
SELECT bf_drop_set('value');

-- Transactions that are rolled back, and errors half-way, leave nothing.
BEGIN;
SELECT bf_create_set('undone', 'int', 5000);
SELECT undone_add(1);
ROLLBACK;
CREATE FUNCTION fails() RETURNS event_trigger LANGUAGE plpgsql AS
  $$BEGIN RAISE 'no more functions'; END$$;
CREATE EVENT TRIGGER fails ON ddl_command_end WHEN TAG IN ('COMMENT') EXECUTE FUNCTION fails();
SELECT bf_create_set('undone', 'int', 5000);
DROP EVENT TRIGGER fails;
DO $$
BEGIN
  PERFORM bf_create_set('undone', 'int', 5000);
  RAISE 'undone';
END $$;
BEGIN READ ONLY;
SELECT bf_create_set('undone', 'int', 5000);
ROLLBACK;
SELECT * FROM made WHERE name ~ 'undone';
BEGIN;
SELECT bf_create_set('seen_too', 'int', 5000), bf_create_set('seen_too', 'int', 5000);
ROLLBACK;
DO $$
BEGIN
  PERFORM bf_create_set('done', 'int', 5000);
  PERFORM done_add(i) FROM generate_series(1, 5) i;
END $$;
SELECT done_has(5);

-- A temporary set. Workers cannot read it.
SELECT bf_create_set('pg_temp.brief', 'int', 5000);
SELECT pg_temp.brief_add(1), pg_temp.brief_add_all(ARRAY[1, 2]);
SELECT pg_temp.brief_has(2), pg_temp.brief_has(3);
SELECT relpersistence, proparallel FROM pg_class, pg_proc
WHERE relname = 'brief' AND proname = 'brief_has';
SELECT bf_drop_set('pg_temp.brief');

-- bf_drop_set() drops the table and its functions, and nothing that is no set.
SELECT bf_drop_set(NULL);
CREATE TABLE empty (); -- it has no first column
CREATE TABLE sale (shard_of_sale int, filter int);
CREATE TABLE hand (shard_of_7 int, filter bloomfilter); -- it has no functions
SELECT statement, e.* FROM (VALUES ('bf_drop_set(''taken'')'), ('bf_drop_set(4711)'),
  ('bf_drop_set(''done_pkey'')'), ('bf_drop_set(''made'')'),
  ('bf_drop_set(''empty'')'), ('bf_drop_set(''sale'')'),
  ('bf_drop_set(''hand'')')) v(statement), error_of('SELECT ' || statement) e \gx
DROP TABLE empty, sale, hand;
SELECT outcome('SELECT bf_drop_set(''nosuch'')');
CREATE VIEW uses AS SELECT done_has(5);
SELECT outcome('SELECT bf_drop_set(''done'')') AS "a view of a function";
DROP VIEW uses;
SELECT name FROM made WHERE name ~ '^done' ORDER BY name;
-- Functions of the user's own that have such names are kept, also if the table is renamed to fit.
CREATE FUNCTION done_has(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT bf_drop_set('done'), bf_drop_set('singly'), bf_drop_set('owned');
SELECT done_has(1, 2);
DROP FUNCTION done_has(int, int);
SELECT bf_create_set('done', 'int', 1000);
ALTER TABLE done RENAME TO cart;
CREATE FUNCTION cart_add(value int) RETURNS int LANGUAGE sql AS 'SELECT bf_shard(value, 77)';
CREATE FUNCTION cart_info() RETURNS text LANGUAGE sql AS $$SELECT 'shards := 77;'$$;
SELECT bf_drop_set('cart');
SELECT cart_info(), cart_add(5) >= 0 AS added;
SELECT name FROM made WHERE name ~ '^(done|cart)' ORDER BY name;
DROP FUNCTION cart_add, cart_info;
-- A schema that was renamed has the set with all its functions.
CREATE SCHEMA old;
SELECT bf_create_set('old.done', 'int', 1000);
ALTER SCHEMA old RENAME TO new;
SELECT bf_drop_set('new.done');
SELECT count(*) AS left FROM pg_proc WHERE pronamespace = 'new'::regnamespace;
DROP SCHEMA new;
-- What is left if only the table is dropped, or only a function.
DROP FUNCTION seen_info;
SELECT bf_drop_set('seen');
SELECT bf_create_set('seen', 'int', 5000);
DROP TABLE seen;
SELECT outcome('SELECT seen_has(1)');
SELECT bf_create_set('seen', 'int', 5000);
SELECT bf_drop_set('seen');
SELECT outcome(format('SELECT bf_drop_set(%L)', current_schema() || '.seen')) AS "dropped again";
SELECT bf_create_set('seen', 'int', 5000);
SELECT bf_drop_set('seen');
SELECT * FROM made ORDER BY name;

-- A function never writes to a set that was made again with another number of shards.
SELECT bf_create_set('seen', 'int', 5000);
CREATE TABLE functions AS SELECT pg_get_functiondef(oid) AS definition FROM pg_proc
WHERE proname ~ '^seen_' ORDER BY proname;
SELECT bf_drop_set('seen');
SELECT bf_create_set('seen', 'int', 50000);
DO $$
DECLARE
  definition text;
BEGIN
  FOR definition IN SELECT * FROM functions LOOP
    EXECUTE definition;
  END LOOP;
END $$;
SELECT statement, outcome('SELECT ' || statement) FROM (VALUES ('seen_add(1)'), ('seen_has(1)'),
  ('seen_add_all(ARRAY[1])')) v(statement);

DROP OWNED BY regress_bloomfilter_owner, regress_bloomfilter_other;
DROP ROLE regress_bloomfilter_owner, regress_bloomfilter_other;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA sets CASCADE;
DROP SCHEMA others CASCADE;
DROP SCHEMA "Sch$$ema "". {type} ' \" CASCADE;
