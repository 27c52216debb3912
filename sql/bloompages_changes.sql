-- The bloompages index: text that is equal though its bytes differ, rows that change in other
-- ways than one after the other, tables that are rebuilt, and what plans cost.
-- sql/bloompages.sql has the types and conditions.
CREATE SCHEMA changes_of_pages;
SET search_path = changes_of_pages, public;
SET jit = off; -- it would take longer than all the rest
\pset format unaligned
\pset footer off
\i sql/include/outcome.sql
\i sql/include/plan.sql
\i sql/include/bloompages.sql

-- Text under collations: the index is used for conditions under its own collation.
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION exact (provider = icu, locale = 'und');
CREATE TABLE collated (any_t text COLLATE any_case, any_v varchar COLLATE any_case,
                       any_a text[] COLLATE any_case, exact_t text COLLATE exact, c text,
                       exact_b bpchar COLLATE exact, exact_n name COLLATE exact,
                       any_b bpchar COLLATE any_case, any_n name COLLATE any_case,
                       any_na name[] COLLATE any_case);
CREATE INDEX collated_all ON collated
USING bloompages (any_t, any_v, any_a, exact_t, c, exact_b, exact_n);
INSERT INTO collated SELECT s, s, ARRAY[s], s, s, s, s, s, s, ARRAY[s]
FROM (SELECT CASE i % 2 WHEN 0 THEN 'word ' ELSE 'WORD ' END || i % 2000 AS s
      FROM generate_series(1, 4001) i) s;
VACUUM ANALYZE collated;
INSERT INTO collated SELECT s, s, ARRAY[s], s, s, s, s, s, s, ARRAY[s]
FROM unnest('{Word 7, woRd 8}'::text[]) s;
SELECT condition, c.* FROM unnest(ARRAY['any_t = ''wOrD 7''', 'any_v = ''wOrD 7''',
  'any_a = ''{wOrD 7}''', 'exact_t = ''wOrD 7''', 'exact_t = ''WORD 7''', 'c = ''WORD 7''',
  'any_t = ''wOrD 7'' AND any_v = ''WORD 7''', 'any_t = ANY (''{wOrD 7, word 8}'')',
  'any_t = ''wOrD 7''::name COLLATE any_case', 'any_t = ''WORD 7'' COLLATE "C"',
  'c = ''wOrD 7'' COLLATE any_case', 'c = ''WORD 7''::name',
  'any_v = ''word 7'' AND exact_t = ''WORD 7'' COLLATE "C"',
  'exact_b = ''WORD 7  ''::bpchar(20)', 'exact_n = ''WORD 7''::text COLLATE exact']) condition,
  compared(format('SELECT count(*) FROM collated WHERE %s', condition)) c;
SELECT bf_index_check('collated_all');
-- The server's hash functions for some types do not know nondeterministic collations.
SELECT code, message, hint FROM error_of('CREATE INDEX ON collated USING bloompages (any_b)') \gx
SELECT outcome('CREATE INDEX ON collated USING bloompages (any_n)');
SELECT outcome('CREATE INDEX ON collated USING bloompages (any_na)');
SELECT outcome('CREATE INDEX ON collated USING bloompages (exact_b COLLATE any_case)');
SELECT outcome('CREATE INDEX ON collated USING bloompages (any_n COLLATE "C")');
CREATE TYPE name_range AS RANGE (subtype = name, collation = any_case);
ALTER TABLE collated ADD r name_range;
SELECT outcome('CREATE INDEX ON collated USING bloompages (r)');
ALTER TABLE collated ALTER c TYPE text COLLATE any_case; -- makes the index again
SELECT * FROM compared('SELECT count(*) FROM collated WHERE c = ''wOrD 7''');
SELECT outcome('ALTER TABLE collated ALTER exact_n TYPE name COLLATE any_case');

-- citext has no operator class. Its equality is not that of text, so an index could not be used.
CREATE EXTENSION citext SCHEMA changes_of_pages;
CREATE DOMAIN citext_domain AS citext;
CREATE TABLE insensitive (c citext, a citext[], d citext_domain, n int);
SELECT code, regexp_replace(message, 'changes_of_pages.', '') AS message, detail, hint
FROM error_of('CREATE INDEX ON insensitive USING bloompages (c)') \gx
SELECT outcome('CREATE INDEX ON insensitive USING bloompages (d)');
SELECT outcome('CREATE INDEX ON insensitive USING bloompages (c text_ops)');
CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING bloompages AS
  OPERATOR 1 = (citext, citext), FUNCTION 1 citext_hash_extended(citext, bigint);
INSERT INTO insensitive SELECT s, ARRAY[s], s, i
FROM generate_series(1, 4000) i, LATERAL (SELECT 'Word ' || i AS s) s;
CREATE INDEX insensitive_all ON insensitive USING bloompages (c, a, d);
VACUUM ANALYZE insensitive;
SELECT condition, c.* FROM unnest(ARRAY['c = ''WORD 7''', 'c = ''WORD 7''::text', 'd = ''WORD 7''',
  'a = ''{WORD 7}''', 'c = ANY (''{WORD 7, word 8}'')']) condition,
  compared(format('SELECT count(*) FROM insensitive WHERE %s', condition)) c;
DROP TABLE insensitive;
DROP OPERATOR FAMILY citext_ops USING bloompages;
DROP EXTENSION citext CASCADE;
-- A type that the server cannot hash can have an operator class, too.
CREATE FUNCTION point_hash(p point, seed bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
  RETURN hashfloat8extended(p[0], seed) # hashfloat8extended(p[1], 1);
CREATE OPERATOR CLASS point_ops DEFAULT FOR TYPE point USING bloompages AS
  OPERATOR 1 ~= (point, point), FUNCTION 1 point_hash(point, bigint);
CREATE TABLE places AS SELECT point(i, -i) AS p, ARRAY[point(i, -i)] AS a
FROM generate_series(1, 4000) i;
CREATE INDEX places_p ON places USING bloompages (p);
SELECT * FROM compared('SELECT count(*) FROM places WHERE p ~= ''(3999,-3999)''');
SELECT bf_index_check('places_p');
SELECT outcome('CREATE INDEX ON places USING bloompages (a)');
DROP TABLE places;
DROP OPERATOR FAMILY point_ops USING bloompages;

-- HOT updates: servers from 16 on keep the new row in the chain of the old one, and add its value
-- to the index. Older servers make a row of its own.
CREATE TABLE hot (id int, k int, pad text DEFAULT repeat('x', 100)) WITH (fillfactor = 50);
CREATE INDEX hot_k ON hot USING bloompages (k) WITH (pages_per_range = 2);
INSERT INTO hot SELECT i, i FROM generate_series(1, 2000) i;
VACUUM ANALYZE hot;
SELECT ready > 10 AS many_ready FROM bf_index_info('hot_k');
BEGIN;
UPDATE hot SET k = k + 10000 WHERE id BETWEEN 100 AND 119;
SELECT (pg_stat_get_xact_tuples_hot_updated('hot'::regclass) > 0)
  = (current_setting('server_version_num')::int >= 160000) AS as_the_server_can;
UPDATE hot SET k = k + 10000 WHERE id BETWEEN 100 AND 109;
SELECT * FROM compared('SELECT count(*) FROM hot WHERE k = 20105');
COMMIT;
SELECT * FROM compared('SELECT count(*) FROM hot WHERE k = 20105');
SELECT * FROM compared('SELECT count(*) FROM hot WHERE k = 10105');
SELECT * FROM compared('SELECT count(*) FROM hot WHERE k = 10119');
VACUUM hot;
SELECT * FROM compared('SELECT count(*) FROM hot WHERE k = 20105');
SELECT * FROM compared('SELECT count(*) FROM hot WHERE k = 10119');
SELECT bf_index_check('hot_k');
-- A new index sees the chains, and so does one that REINDEX makes.
UPDATE hot SET k = k + 10000 WHERE id BETWEEN 100 AND 109;
CREATE INDEX hot_k2 ON hot USING bloompages (k);
REINDEX INDEX hot_k;
SELECT * FROM compared('SELECT count(*) FROM hot WHERE k = 30105');
SELECT bf_index_check('hot_k'), bf_index_check('hot_k2');
DROP INDEX hot_k2;

-- Triggers and constraints that read the new row through the index, and write into the table, while
-- the statement still runs.
CREATE FUNCTION has(v int) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  RETURN EXISTS (SELECT FROM hot WHERE k = v);
END $$;
CREATE TABLE seen (what text, k int, found boolean);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO seen VALUES (TG_ARGV[0], NEW.k, has(NEW.k));
  IF NEW.k BETWEEN 100000 AND 199999 THEN
    INSERT INTO hot VALUES (NEW.id, NEW.k + 100000);
    INSERT INTO seen VALUES (TG_ARGV[0] || ', its row', NEW.k + 100000, has(NEW.k + 100000));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER before_row BEFORE INSERT ON hot FOR EACH ROW WHEN (NEW.k = 100003)
  EXECUTE FUNCTION note('before');
CREATE TRIGGER after_row AFTER INSERT OR UPDATE ON hot FOR EACH ROW WHEN (NEW.k <> 100003)
  EXECUTE FUNCTION note('after');
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT OR UPDATE ON hot DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION note('deferred');
DELETE FROM hot WHERE id <= 60; -- so that there is room in ranges that are ready
VACUUM hot;
SELECT plan_of('SELECT FROM hot WHERE k = 1') #>> '{0,Plan,Node Type}' AS plan;
INSERT INTO hot VALUES (1, 100001), (2, 100002), (3, 100003);
UPDATE hot SET k = 300000 WHERE id = 500;
SELECT max(b.range) < (SELECT min(ready) FROM bf_index_info('hot_k')) AS in_ready_ranges
FROM hot, LATERAL (SELECT (ctid::text::point)[0]::int / 2 AS range) b WHERE k >= 100000;
SELECT what, k, found FROM seen ORDER BY what, k;
SELECT bf_index_check('hot_k');
-- ON CONFLICT, and a row that a function of the same statement looks for.
DROP TRIGGER before_row ON hot; DROP TRIGGER after_row ON hot; DROP TRIGGER at_commit ON hot;
DELETE FROM hot WHERE id <= 3;
CREATE UNIQUE INDEX hot_id ON hot (id);
INSERT INTO hot VALUES (4, 400004), (700, 400700), (701, 400701)
ON CONFLICT (id) DO UPDATE SET k = excluded.k + 100000;
INSERT INTO hot VALUES (5, 400005), (702, 400702) ON CONFLICT DO NOTHING;
SELECT k, has(k) FROM unnest('{400004,400005,500700,500701,400700,400702}'::int[]) k;
WITH new AS (INSERT INTO hot VALUES (6, 400006), (7, 400007) RETURNING k, has(k))
SELECT * FROM new;
-- A cursor that was opened before sees what it saw.
BEGIN;
SET LOCAL enable_seqscan = off;
DECLARE old CURSOR FOR SELECT id FROM hot WHERE k = 800;
UPDATE hot SET k = 800 WHERE id = 801;
FETCH ALL FROM old;
COMMIT;
SELECT bf_index_check('hot_k');

-- Values of deleted rows, whose TOAST data VACUUM has removed, are left out of a filter.
CREATE TABLE toasted (id int, k text, v text) WITH (autovacuum_enabled = off);
ALTER TABLE toasted ALTER v SET STORAGE external;
CREATE INDEX toasted_v ON toasted USING bloompages (k, v)
WITH (pages_per_range = 1, autosummarize = off);
INSERT INTO toasted SELECT i, 'k' || i, repeat(md5(i::text), 100) FROM generate_series(1, 1000) i;
DELETE FROM toasted WHERE id % 3 = 0;
SELECT format('VACUUM %s', reltoastrelid::regclass) AS vacuum_toast
FROM pg_class WHERE oid = 'toasted'::regclass \gset
:vacuum_toast;
SELECT bf_index_tidy('toasted_v');
SELECT ready > 3 AS many_ready FROM bf_index_info('toasted_v');
SELECT * FROM compared('SELECT count(*) FROM toasted WHERE v = repeat(md5(''7''), 100)');
REINDEX INDEX toasted_v;
SELECT * FROM compared('SELECT count(*) FROM toasted WHERE v = repeat(md5(''7''), 100)');
SELECT bf_index_check('toasted_v');
VACUUM toasted;
INSERT INTO toasted SELECT i, 'k' || i, repeat(md5(i::text), 100)
FROM generate_series(2001, 3000) i;
VACUUM toasted;
SELECT tail_pages FROM bf_index_info('toasted_v');
SELECT * FROM compared('SELECT count(*) FROM toasted WHERE v = repeat(md5(''2007''), 100)');

-- A group's filters are made for the values of its first ranges. Later ranges have far more, so the
-- group is made again.
CREATE TABLE uneven (id int, k int);
CREATE INDEX uneven_k ON uneven USING bloompages (k) WITH (pages_per_range = 4);
INSERT INTO uneven SELECT i, CASE WHEN i > 2000 THEN i ELSE 0 END FROM generate_series(1, 20000) i;
SELECT fill > 0.9 AS full FROM bf_index_info('uneven_k');
SELECT * FROM compared('SELECT count(*) FROM uneven WHERE k = 17777');
SELECT bf_index_check('uneven_k');
REINDEX INDEX uneven_k;
SELECT fill < 0.5 AS full FROM bf_index_info('uneven_k');
SELECT bf_index_check('uneven_k');

-- The filters of the next group are made for the most values that a range has had, though the first
-- range of the group has one value. A page has 226 rows.
CREATE TABLE unlike (id int, k int);
CREATE INDEX unlike_k ON unlike USING bloompages (k) WITH (pages_per_range = 1);
INSERT INTO unlike
SELECT i, CASE (i - 1) / 226 WHEN 127 THEN 0 ELSE i END FROM generate_series(1, 226 * 256) i;
SELECT ready > 250 AS two_groups, false_pages < 2 AS sized FROM bf_index_info('unlike_k');

-- All rows are dead, and ANALYZE has found none. The filters are then made for 64 rows a page.
CREATE TABLE emptied (k int, pad text DEFAULT repeat('x', 80)) WITH (autovacuum_enabled = off);
BEGIN;
INSERT INTO emptied SELECT generate_series(1, 20000);
ROLLBACK;
ANALYZE emptied;
SELECT reltuples FROM pg_class WHERE oid = 'emptied'::regclass;
CREATE INDEX emptied_k ON emptied USING bloompages (k);
VACUUM emptied;
INSERT INTO emptied SELECT generate_series(1, 20000);
SELECT ready > 30 AS many_ready, false_pages < 8 AS sized FROM bf_index_info('emptied_k');
-- The space of rows that a DELETE has freed before the index was made is filled again. Half of the
-- filters get twice the values that they were made for, and the mean fill does not show it.
CREATE TABLE refilled (k int) WITH (autovacuum_enabled = off);
INSERT INTO refilled SELECT generate_series(1, 60000);
DELETE FROM refilled WHERE k <= 30000 AND k % 8 > 0;
VACUUM refilled;
CREATE INDEX refilled_k ON refilled USING bloompages (k) WITH (pages_per_range = 1);
SELECT overfull FROM bf_index_info('refilled_k');
INSERT INTO refilled SELECT generate_series(60001, 86000);
SELECT fill < 0.45 AS few_bits, overfull BETWEEN ready / 4 AND ready / 2 AS many
FROM bf_index_info('refilled_k');
REINDEX INDEX refilled_k;
SELECT overfull FROM bf_index_info('refilled_k');
SELECT bf_index_info('refilled');
-- The filter of a table that has only one range has a high rate, and so it is small.
CREATE TABLE full_page AS SELECT generate_series(1, 226) AS k;
CREATE INDEX full_page_k ON full_page USING bloompages (k) WITH (pages_per_range = 1);
SELECT ready, bits_per_value < 20 AS small FROM bf_index_info('full_page_k');
-- A column has one value in the first rows, as after ALTER TABLE ... ADD COLUMN ... DEFAULT, and
-- then ids. The group that was made for the first rows is made again.
CREATE TABLE begun (id int, tag text DEFAULT '') WITH (autovacuum_enabled = off);
CREATE INDEX begun_tag ON begun USING bloompages (tag);
INSERT INTO begun SELECT i FROM generate_series(1, 20000) i;
SELECT ready > 8 AS many_ready, pg_relation_size('begun_tag') / 8192 AS pages
FROM bf_index_info('begun_tag');
INSERT INTO begun SELECT i, md5(i::text) FROM generate_series(20001, 50000) i;
SELECT ready > 40 AS many_ready, tail_pages < 80 AS few_left, false_pages < 8 AS sized
FROM bf_index_info('begun_tag');
SELECT bf_index_check('begun_tag');
SET enable_seqscan = off;
SELECT count(*) FROM begun WHERE tag = ANY (ARRAY(
  SELECT md5(i::text) FROM generate_series(19991, 50000, 10) i));
SELECT count(*) FROM begun WHERE tag = '';
RESET enable_seqscan;
VACUUM begun;
SELECT false_pages AS made_again FROM bf_index_info('begun_tag') \gset
REINDEX INDEX begun_tag;
SELECT :made_again <= 2 * false_pages AS like_a_new_one FROM bf_index_info('begun_tag');
-- An index is made when most rows still have this one value. Its filters are made for the others.
TRUNCATE begun;
INSERT INTO begun SELECT i FROM generate_series(1, 50000) i;
INSERT INTO begun SELECT i, md5(i::text) FROM generate_series(50001, 60000) i;
REINDEX INDEX begun_tag;
SELECT ready > 30 AS many_ready, overfull, false_pages < 8 AS sized
FROM bf_index_info('begun_tag');

-- Later ranges have two to three times the values of the first ones. The group is made again, too.
CREATE TABLE risen (k int) WITH (autovacuum_enabled = off);
CREATE INDEX risen_k ON risen USING bloompages (k) WITH (pages_per_range = 4);
INSERT INTO risen SELECT i % 150 FROM generate_series(1, 10000) i;
INSERT INTO risen SELECT 1000 + i % 400 FROM generate_series(1, 10000) i;
VACUUM risen;
SELECT ready > 15 AS many_ready, overfull FROM bf_index_info('risen_k');

-- A table of one page. CREATE INDEX counts its rows, and the server counts the scans of the index.
-- From PostgreSQL 18 on, it does not store the number of the table's rows while autovacuum is off.
CREATE TABLE tiny AS SELECT generate_series(1, 10) AS k;
CREATE INDEX tiny_k ON tiny USING bloompages (k) WITH (pages_per_range = 1);
SELECT ranges, ready, tail_pages FROM bf_index_info('tiny_k');
SELECT relname, reltuples = 10 OR relname = 'tiny' AND reltuples = -1
  AND current_setting('server_version_num')::int >= 180000 AS counted
FROM pg_class WHERE oid IN ('tiny'::regclass, 'tiny_k'::regclass)
ORDER BY 1;
SELECT * FROM compared('SELECT count(*) FROM tiny WHERE k = 7');
SELECT pg_stat_force_next_flush();
SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelid = 'tiny_k'::regclass;

-- One INSERT makes at most eight filters, and none of more than 256 pages. It keeps no lock.
CREATE TABLE wide (id int, pad text DEFAULT repeat('x', 6000));
ALTER TABLE wide ALTER pad SET STORAGE plain;
CREATE INDEX wide_id ON wide USING bloompages (id) WITH (pages_per_range = 1, autosummarize = off);
CREATE INDEX wide_id_257 ON wide USING bloompages (id) WITH (pages_per_range = 257);
CREATE INDEX wide_id_256 ON wide USING bloompages (id) WITH (pages_per_range = 256);
INSERT INTO wide SELECT generate_series(1, 20);
ALTER INDEX wide_id SET (autosummarize = on);
BEGIN;
INSERT INTO wide VALUES (21);
SELECT ready FROM bf_index_info('wide_id');
INSERT INTO wide VALUES (22), (23);
SELECT ready FROM bf_index_info('wide_id');
SELECT count(*) AS locks FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'tuple';
ROLLBACK;
SELECT ready FROM bf_index_info('wide_id');
INSERT INTO wide SELECT generate_series(21, 520);
SELECT ready FROM bf_index_info('wide_id_256');
SELECT ready FROM bf_index_info('wide_id_257');
VACUUM wide;
SELECT ready FROM bf_index_info('wide_id_256');
SELECT ready FROM bf_index_info('wide_id_257');
-- Neither do bf_index_tidy() and bf_index_check() keep a lock.
BEGIN;
SELECT bf_index_tidy('wide_id'), bf_index_check('wide_id');
SELECT count(*) AS locks FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'tuple';
ROLLBACK;

-- bf_index_tidy() frees the memory of a range before it reads the next one. All hashes would take
-- 1.6 MB.
CREATE TABLE many_ranges (k int) WITH (autovacuum_enabled = off);
CREATE INDEX many_ranges_k ON many_ranges USING bloompages (k)
WITH (pages_per_range = 16, autosummarize = off);
INSERT INTO many_ranges SELECT generate_series(1, 200000);
CREATE FUNCTION used() RETURNS bigint LANGUAGE sql AS
  'SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts';
SELECT after - before < 1000000 AS freed
FROM (SELECT used() AS before, bf_index_tidy('many_ranges_k'), used() AS after OFFSET 0) s;
SELECT ready > 50 AS many_ready FROM bf_index_info('many_ranges_k');

-- An INSERT tries three times to make a filter, and then leaves it to VACUUM.
CREATE SEQUENCE tries;
CREATE FUNCTION strange_hash(v int, seed bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  IF v = -2 AND current_setting('test.fails', true) = 'on' THEN
    PERFORM nextval('changes_of_pages.tries');
    RAISE 'cannot hash %', v;
  END IF;
  RETURN hashint4extended(v, seed);
END $$;
CREATE OPERATOR CLASS strange_ops FOR TYPE int USING bloompages AS
  OPERATOR 1 = (int, int), FUNCTION 1 strange_hash(int, bigint);
CREATE TABLE strange (k int, pad text DEFAULT repeat('x', 1500)) WITH (autovacuum_enabled = off);
CREATE INDEX strange_k ON strange USING bloompages (k strange_ops) WITH (pages_per_range = 4);
-- How often ten INSERTs try, if all succeed.
CREATE FUNCTION tries() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  before bigint := nextval('tries');
BEGIN
  FOR i IN 1 .. 10 LOOP
    INSERT INTO strange SELECT 500 FROM generate_series(1, 12);
  END LOOP;
  RETURN nextval('tries') - before - 1;
END $$;
SET test.fails = on;
INSERT INTO strange SELECT CASE i WHEN 8 THEN -2 ELSE i END FROM generate_series(1, 20) i;
SELECT tries() AS first_range;
SELECT ready FROM bf_index_info('strange_k');
SELECT outcome('SELECT bf_index_tidy(''strange_k'')');
SET test.fails = off;
SELECT bf_index_tidy('strange_k');
SELECT tail_pages < 4 AS all_ready FROM bf_index_info('strange_k');
SELECT bf_index_check('strange_k');
SET test.fails = on;
INSERT INTO strange VALUES (-2);
SELECT tries() AS later_range;
SELECT tries() AS later_range;
-- ... however often VACUUM or bf_index_tidy() fails
SELECT count(*) FROM generate_series(1, 253) i
WHERE outcome('SELECT bf_index_tidy(''strange_k'')') = 'P0001';
SELECT tries() AS later_range;
SET test.fails = off;
VACUUM strange;
SELECT tail_pages < 4 AS all_ready FROM bf_index_info('strange_k');
SELECT bf_index_check('strange_k');
-- A hash function that inserts rows into the table while a range is read
CREATE FUNCTION inserting_hash(v int, seed bigint) RETURNS bigint LANGUAGE plpgsql STRICT AS $$
BEGIN
  IF v = -3 THEN
    INSERT INTO changes_of_pages.inserted SELECT 1000 + i FROM generate_series(1, 12) i;
  END IF;
  RETURN hashint4extended(v, seed);
END $$;
CREATE OPERATOR CLASS inserting_ops FOR TYPE int USING bloompages AS
  OPERATOR 1 = (int, int), FUNCTION 1 inserting_hash(int, bigint);
CREATE TABLE inserted (k int, pad text DEFAULT repeat('x', 1500)) WITH (autovacuum_enabled = off);
CREATE INDEX inserted_k ON inserted USING bloompages (k inserting_ops) WITH (pages_per_range = 4);
INSERT INTO inserted SELECT CASE WHEN i % 10 = 0 THEN -3 ELSE i END FROM generate_series(1, 400) i;
SELECT count(*) > 412 AS inserted FROM inserted;
SELECT bf_index_check('inserted_k');
DROP TABLE inserted;
-- ... and so begins to read the next range, which fails, before its own is ready
CREATE FUNCTION nested_hash(v int, seed bigint) RETURNS bigint LANGUAGE plpgsql STRICT AS $$
BEGIN
  IF v = -3 AND current_setting('test.nested', true) = 'on' THEN
    PERFORM set_config('test.nested', 'off', false);
    BEGIN
      INSERT INTO changes_of_pages.nested SELECT 1000 + i FROM generate_series(1, 40) i;
    EXCEPTION WHEN raise_exception THEN
    END;
  ELSIF v = -2 AND current_setting('test.fails', true) = 'on' THEN
    RAISE 'cannot hash %', v;
  END IF;
  RETURN hashint4extended(v, seed);
END $$;
CREATE OPERATOR CLASS nested_ops FOR TYPE int USING bloompages AS
  OPERATOR 1 = (int, int), FUNCTION 1 nested_hash(int, bigint);
CREATE TABLE nested (k int, pad text DEFAULT repeat('x', 1500)) WITH (autovacuum_enabled = off);
CREATE INDEX nested_k ON nested USING bloompages (k nested_ops)
WITH (pages_per_range = 4, autosummarize = off);
INSERT INTO nested SELECT CASE i WHEN 28 THEN -3 WHEN 48 THEN -2 ELSE i END
FROM generate_series(1, 80) i;
ALTER INDEX nested_k SET (autosummarize = on);
SET test.nested = on; SET test.fails = on;
SELECT outcome('SELECT bf_index_tidy(''nested_k'')');
RESET test.nested; RESET test.fails;
SELECT bf_index_check('nested_k');
-- The settings that a hash function changes are as before when the range has been read.
CREATE FUNCTION setting_hash(v int, seed bigint) RETURNS bigint LANGUAGE plpgsql STRICT AS $$
BEGIN
  PERFORM set_config('test.changed', 'on', false);
  RETURN hashint4extended(v, seed);
END $$;
CREATE OPERATOR CLASS setting_ops FOR TYPE int USING bloompages AS
  OPERATOR 1 = (int, int), FUNCTION 1 setting_hash(int, bigint);
CREATE TABLE setting (k int, pad text DEFAULT repeat('x', 1500)) WITH (autovacuum_enabled = off);
CREATE INDEX setting_k ON setting USING bloompages (k setting_ops) WITH (pages_per_range = 4);
SET test.changed = off;
INSERT INTO setting SELECT generate_series(1, 60);
SELECT ready > 0 AS has_filter, current_setting('test.changed') AS setting
FROM bf_index_info('setting_k');
DROP TABLE setting;
-- The hash function sees rows of others. So it runs as the table's owner, and calls nothing of a
-- role that may only insert.
CREATE FUNCTION careless_hash(v text, seed bigint) RETURNS bigint LANGUAGE plpgsql STRICT AS $$
BEGIN
  RETURN hashtextextended(lower(v), seed);
END $$;
CREATE OPERATOR CLASS careless_ops FOR TYPE text USING bloompages AS
  OPERATOR 1 = (text, text), FUNCTION 1 careless_hash(text, bigint);
CREATE TABLE secrets (k text, pad text DEFAULT repeat('x', 1500)) WITH (autovacuum_enabled = off);
CREATE INDEX secrets_k ON secrets USING bloompages (k careless_ops) WITH (pages_per_range = 1);
INSERT INTO secrets SELECT 'secret ' || i FROM generate_series(1, 40) i;
SELECT ready FROM bf_index_info('secrets_k');
CREATE ROLE regress_bloomfilter_inserts;
GRANT USAGE ON SCHEMA changes_of_pages TO regress_bloomfilter_inserts;
GRANT INSERT ON secrets TO regress_bloomfilter_inserts;
CREATE SCHEMA theirs AUTHORIZATION regress_bloomfilter_inserts;
SET ROLE regress_bloomfilter_inserts;
CREATE FUNCTION theirs.lower(v text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RAISE '% sees %', current_user, v;
END $$;
SET search_path = theirs, pg_catalog, changes_of_pages, public;
INSERT INTO secrets SELECT 'own ' || i FROM generate_series(1, 40) i;
SELECT current_user, current_setting('search_path');
RESET ROLE;
SET search_path = changes_of_pages, public;
SELECT ready FROM bf_index_info('secrets_k');
SELECT bf_index_check('secrets_k');
-- A function in SQL is planned at its first call in a transaction, here for a row of the role's
-- own, which takes the space of a deleted row. It is planned again for the rows of others.
CREATE FUNCTION careless_sql_hash(v text, seed bigint) RETURNS bigint LANGUAGE sql STRICT AS
  'SELECT hashtextextended(lower(v), seed)';
CREATE OPERATOR CLASS careless_sql_ops FOR TYPE text USING bloompages AS
  OPERATOR 1 = (text, text), FUNCTION 1 careless_sql_hash(text, bigint);
DROP INDEX secrets_k;
DELETE FROM secrets WHERE k = 'secret 7';
VACUUM secrets;
CREATE INDEX secrets_k ON secrets USING bloompages (k careless_sql_ops) WITH (pages_per_range = 1);
SELECT ready FROM bf_index_info('secrets_k');
CREATE OR REPLACE FUNCTION theirs.lower(v text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF current_user <> 'regress_bloomfilter_inserts' THEN
    RAISE '% sees %', current_user, v;
  END IF;
  RETURN pg_catalog.lower(v);
END $$;
SET ROLE regress_bloomfilter_inserts;
SET search_path = theirs, pg_catalog, changes_of_pages, public;
INSERT INTO secrets SELECT 'own ' || i FROM generate_series(41, 80) i;
RESET ROLE;
SET search_path = changes_of_pages, public;
SELECT ready FROM bf_index_info('secrets_k');
SELECT bf_index_check('secrets_k');
-- A function in SQL may have become a part of the index's expressions under the search_path of
-- whoever used the index first in a session. So a session that only inserts makes filters if all
-- functions are in C, and the rest is for VACUUM.
CREATE FUNCTION careless(v text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower(v)';
DROP INDEX secrets_k;
CREATE INDEX secrets_k ON secrets USING bloompages (careless(k)) WITH (pages_per_range = 1);
CREATE INDEX secrets_of_c ON secrets USING bloompages (upper(k), pad) WITH (pages_per_range = 1);
SELECT ready AS before FROM bf_index_info('secrets_k');
ALTER FUNCTION theirs.lower IMMUTABLE;
\c
SET jit = off;
SET client_min_messages = warning;
SET ROLE regress_bloomfilter_inserts;
SET search_path = theirs, pg_catalog, changes_of_pages, public;
INSERT INTO secrets SELECT 'own ' || i FROM generate_series(81, 120) i;
RESET ROLE;
SET search_path = changes_of_pages, public;
SELECT ready AS by_role FROM bf_index_info('secrets_k');
SELECT ready AS by_role_in_c FROM bf_index_info('secrets_of_c');
VACUUM secrets;
SELECT ready AS by_vacuum FROM bf_index_info('secrets_k');
SELECT bf_index_check('secrets_k'), bf_index_check('secrets_of_c');
RESET client_min_messages;
DROP SCHEMA theirs CASCADE;
DROP TABLE secrets;
REVOKE USAGE ON SCHEMA changes_of_pages FROM regress_bloomfilter_inserts;
DROP ROLE regress_bloomfilter_inserts;
SELECT bf_index_tidy('nested_k'), bf_index_check('nested_k');
SELECT ready >= 4 AS ready FROM bf_index_info('nested_k');
DROP TABLE nested;

-- CREATE INDEX tells the server how many rows the table has. They count though they are locked, or
-- in the last pages, which have no filter.
CREATE TABLE counted AS SELECT generate_series(1, 10000) AS k;
DELETE FROM counted WHERE k > 9990;
SELECT count(*) AS locked FROM (SELECT FROM counted FOR KEY SHARE) s;
CREATE INDEX counted_k ON counted USING bloompages (k) WITH (pages_per_range = 30);
SELECT ready < ranges AS has_tail FROM bf_index_info('counted_k');
SELECT reltuples FROM pg_class WHERE oid = 'counted_k'::regclass;

-- ALTER INDEX changes what REINDEX makes. Until then, bf_index_info() shows what is in force.
CREATE TABLE options (id int);
INSERT INTO options SELECT generate_series(1, 50000);
CREATE INDEX options_id ON options USING bloompages (id) WITH (pages_per_range = 16, fpr = 0.01);
CREATE FUNCTION in_force(OUT pages_per_range bigint, OUT bits_per_value int) LANGUAGE sql
  AS $$SELECT pages_per_range, bits_per_value FROM bf_index_info('options_id')$$;
SELECT * FROM in_force();
ALTER INDEX options_id SET (pages_per_range = 4, fpr = 0.0001);
SELECT * FROM in_force();
INSERT INTO options SELECT generate_series(50001, 60000);
VACUUM options;
SELECT * FROM in_force();
SELECT bf_index_check('options_id');
REINDEX INDEX options_id;
SELECT * FROM in_force();
ALTER INDEX options_id RESET (pages_per_range, fpr);
TRUNCATE options; -- makes the index again, too
SELECT pages_per_range FROM in_force();

-- Tables that are made again, moved, attached and detached.
CREATE TABLE made (id int, k int);
CREATE INDEX made_id ON made (id);
CREATE INDEX made_k ON made USING bloompages (k) WITH (pages_per_range = 2);
INSERT INTO made SELECT -i, i FROM generate_series(1, 5000) i;
\set query 'SELECT count(*) FROM made WHERE k IN (7, 4999)'
\set check 'SELECT c.*, ready > 5 AS ready, bf_index_check(\'made_k\') FROM compared(:\'query\') c,'
\set check :check ' bf_index_info(\'made_k\')'
REINDEX TABLE made;
:check;
CLUSTER made USING made_id;
:check;
VACUUM FULL made;
:check;
ALTER TABLE made SET UNLOGGED;
:check;
ALTER TABLE made SET LOGGED;
:check;
ALTER TABLE made ALTER k TYPE numeric;
:check;
ALTER TABLE made ALTER k TYPE bigint;
:check;
BEGIN;
TRUNCATE made;
INSERT INTO made VALUES (1, 7);
SELECT * FROM compared('SELECT count(*) FROM made WHERE k IN (7, 4999)');
ROLLBACK;
:check;
ALTER TABLE made RENAME COLUMN k TO key;
SELECT * FROM compared('SELECT count(*) FROM made WHERE key = 7');
CREATE TABLE whole (id int, key bigint) PARTITION BY RANGE (key);
CREATE INDEX whole_key ON whole USING bloompages (key);
CREATE TABLE high PARTITION OF whole FOR VALUES FROM (10000) TO (20000);
ALTER TABLE whole ATTACH PARTITION made FOR VALUES FROM (0) TO (10000);
SELECT indexrelid::regclass FROM pg_index JOIN pg_inherits ON inhrelid = indexrelid
WHERE inhparent = 'whole_key'::regclass ORDER BY 1;
INSERT INTO whole SELECT i, i FROM generate_series(9001, 12000) i;
UPDATE whole SET key = key + 5000 WHERE key BETWEEN 9990 AND 9999; -- moves rows
SELECT * FROM compared('SELECT count(*) FROM whole WHERE key = 14995');
SELECT * FROM compared('SELECT count(*) FROM whole WHERE key = 9500');
ALTER TABLE whole DETACH PARTITION made;
SELECT * FROM compared('SELECT count(*) FROM made WHERE key = 9500');
SELECT bf_index_check('made_k'), bf_index_check('high_key_idx');
-- An index on a partitioned table has no pages.
SELECT outcome('SELECT bf_index_info(''whole_key'')');
CREATE TEMP TABLE brief (k int) ON COMMIT DELETE ROWS;
CREATE INDEX brief_k ON brief USING bloompages (k);
BEGIN;
INSERT INTO brief SELECT generate_series(1, 10000);
SELECT * FROM compared('SELECT count(*) FROM brief WHERE k = 5000');
COMMIT;
SELECT * FROM compared('SELECT count(*) FROM brief WHERE k = 5000');
SELECT ready, tail_pages FROM bf_index_info('brief_k');

-- CREATE INDEX CONCURRENTLY that fails leaves an index that is not valid and not used. REINDEX
-- makes it valid.
CREATE TABLE failing (k int);
INSERT INTO failing SELECT i FROM generate_series(-2, 3000) i;
SET test.fails = on;
\set VERBOSITY terse
CREATE INDEX CONCURRENTLY failing_k ON failing USING bloompages (k strange_ops);
\set VERBOSITY default
SET test.fails = off;
SELECT indisready, indisvalid FROM pg_index WHERE indexrelid = 'failing_k'::regclass;
INSERT INTO failing SELECT i FROM generate_series(3001, 6000) i;
VACUUM failing;
SELECT * FROM compared('SELECT count(*) FROM failing WHERE k = 5000');
SELECT code, message, hint FROM error_of('SELECT bf_index_tidy(''failing_k'')') \gx
SELECT outcome('SELECT bf_index_check(''failing_k'')');
REINDEX INDEX failing_k;
SELECT * FROM compared('SELECT count(*) FROM failing WHERE k = 5000');
SELECT bf_index_check('failing_k');

-- Costs: a btree or hash index on the column is cheaper. A BRIN index costs less to read, but then
-- the whole table is read. Frequent values are left to a sequential scan.
SET max_parallel_workers_per_gather = 0;
CREATE TABLE priced AS SELECT i AS id, md5(i::text)::uuid AS u, i % 5 AS few, i % 3 AS fewer,
                              i / 1000 AS clustered, i / 20000 AS few_clustered,
                              repeat('x', 60) AS pad
FROM generate_series(1, 100000) i;
CREATE INDEX priced_pages ON priced USING bloompages (u, few, fewer, clustered, few_clustered);
VACUUM ANALYZE priced;
CREATE FUNCTION chosen(condition text) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(line_of(query, 'Index.* on priced_|Index Scan using'), line_of(query, 'Seq Scan'))
  FROM (SELECT 'SELECT * FROM priced WHERE ' || condition AS query) q
$$;
\set u 'u = md5(\'7\')::uuid'
SELECT chosen(:'u');
SELECT chosen('few = 3');
SELECT chosen('fewer = 1');
SELECT chosen('few_clustered = 3');
SELECT chosen('clustered = 50');
SELECT chosen('u = ANY (ARRAY(SELECT md5(i::text)::uuid FROM generate_series(1, 5) i))');
SELECT chosen('few = 3 AND ' || :'u');
-- However long an array is, each page of the index is fetched about once. A page costs 4.
SET enable_seqscan = off;
SELECT (plan_of(format('SELECT FROM priced WHERE u = ANY (%L)', array_agg(md5(i::text)::uuid)))
        #>> '{0,Plan,Plans,0,Total Cost}')::float / (4 * max(relpages)) BETWEEN 0.9 AND 2 AS once
FROM generate_series(1, 2000) i, pg_class WHERE oid = 'priced_pages'::regclass;
-- The server expects to read about as many pages of the table as it reads.
CREATE FUNCTION heap_cost(condition text, page_cost float) RETURNS float LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  PERFORM set_config(name, page_cost::text, true)
  FROM unnest('{seq_page_cost, random_page_cost}'::text[]) name;
  plan := plan_of('SELECT FROM priced WHERE ' || condition) #> '{0,Plan}';
  RETURN (plan ->> 'Total Cost')::float - (plan #>> '{Plans,0,Total Cost}')::float;
END $$;
BEGIN;
SELECT condition, expected / read BETWEEN 0.5 AND 2 AS right
FROM unnest(ARRAY['few_clustered = 3', 'clustered = 50']) condition,
  LATERAL (SELECT (heap_cost(condition, 101) - heap_cost(condition, 1)) / 100 AS expected) e,
  LATERAL (SELECT (plan_of('SELECT FROM priced WHERE ' || condition, 'ANALYZE, TIMING OFF')
                   #>> '{0,Plan,Lossy Heap Blocks}')::float AS read) r;
ROLLBACK;
-- A lookup reads one page of each of the two groups, or two if the filters have a low rate.
CREATE TABLE two_groups AS SELECT generate_series(1, 200000) AS k;
ANALYZE two_groups;
CREATE FUNCTION lookup_cost() RETURNS float LANGUAGE sql AS $$
  SELECT (plan_of('SELECT FROM two_groups WHERE k = 7') #>> '{0,Plan,Plans,0,Total Cost}')::float
$$;
CREATE INDEX two_groups_k ON two_groups USING bloompages (k)
  WITH (pages_per_range = 4, fpr = 0.0001);
SELECT lookup_cost() AS one_page \gset
DROP INDEX two_groups_k;
CREATE INDEX two_groups_k ON two_groups USING bloompages (k)
  WITH (pages_per_range = 4, fpr = 0.000001);
SELECT lookup_cost() - :one_page BETWEEN 7 AND 9 AS two_pages_more;
RESET enable_seqscan;
CREATE INDEX priced_brin ON priced USING brin (u) WITH (pages_per_range = 512);
SELECT chosen(:'u');
CREATE INDEX priced_hash ON priced USING hash (u);
SELECT regexp_replace(chosen(:'u'), 'using (\w+) .*', 'using \1');
DROP INDEX priced_hash;
CREATE INDEX priced_btree ON priced (u);
SELECT regexp_replace(chosen(:'u'), 'using (\w+) .*', 'using \1');
DROP INDEX priced_btree;
-- A value of many rows: this index costs less to read than the btree, but finds the whole table.
CREATE TABLE rivals AS SELECT i % 40 AS many, repeat('x', 60) AS pad
FROM generate_series(1, 100000) i;
CREATE INDEX rivals_pages ON rivals USING bloompages (pad, many);
CREATE INDEX rivals_btree ON rivals (many);
VACUUM ANALYZE rivals;
SELECT line_of('SELECT * FROM rivals WHERE many = 7', 'Index Scan|Seq Scan');
-- Workers read the pages that the leader has found.
SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0; SET cpu_tuple_cost = 1; SET enable_seqscan = off;
SELECT line_of('SELECT count(*) FROM priced WHERE fewer = 1', 'Heap Scan');
SELECT count(*) FROM priced WHERE fewer = 1;
SET enable_seqscan = on; SET max_parallel_workers_per_gather = 0; RESET cpu_tuple_cost;
-- Servers from 18 on show the number of searches.
SELECT coalesce(plan_of('SELECT FROM priced WHERE ' || :'u', 'ANALYZE, TIMING OFF')
  #>> '{0,Plan,Plans,0,Index Searches}', '1') AS searches;
-- A nested loop over few rows, and none over many.
CREATE TABLE one AS SELECT u FROM priced WHERE id % 20000 = 1;
CREATE TABLE many AS SELECT u FROM priced WHERE id % 2 = 1;
ANALYZE one, many;
SELECT line_of('SELECT * FROM one JOIN priced USING (u)', 'Index Scan');
SELECT line_of('SELECT * FROM many JOIN priced USING (u)', 'Index Scan');
