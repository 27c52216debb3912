-- Filter indexes. The file tests when the planner uses an index, and that its rows,
-- errors and NULLs are those of a sequential scan. test/t/036_filter_index.pl tests all types, many
-- sessions, crashes and damage.
CREATE SCHEMA index_of_filters;
SET search_path = index_of_filters, public;
\pset format unaligned
\pset footer off
\i sql/include/outcome.sql
\i sql/include/plan.sql

CREATE TABLE segments (id int PRIMARY KEY, day int, note text, filter bloomfilter);
INSERT INTO segments
SELECT f, f % 10, '', bf_agg(i, 1000) FROM generate_series(1, 600) f, generate_series(f, f + 9) i
GROUP BY f ORDER BY f;
CREATE INDEX segments_filter ON segments USING bloomfilter (filter);
CREATE INDEX segments_day ON segments (day);
VACUUM ANALYZE segments;

-- Every condition that probes a filter. Values of other types are converted, as without an index.
SELECT explained('SELECT id FROM segments WHERE filter @> 300');
SELECT explained('SELECT id FROM segments WHERE 300 <@ filter');
SELECT explained('SELECT id FROM segments WHERE bf_contains(filter, 300)');
SELECT explained('SELECT id FROM segments WHERE filter @> ''300''');
SELECT id FROM segments WHERE filter @> 300;
SELECT id FROM segments WHERE 300 <@ filter ORDER BY id LIMIT 2;
SELECT count(*) FROM segments WHERE bf_contains(filter, 300::smallint);
SELECT count(*) FROM segments WHERE filter @> '300';
SELECT count(*) FROM segments WHERE filter @> 300.0;
SELECT count(*) FROM segments WHERE filter @> 300.5;
SELECT count(*) FROM segments WHERE filter @> NULL::int;
SELECT count(*) FROM segments WHERE filter @> 300 AND filter @> 305;
PREPARE asked(int) AS SELECT count(*) FROM segments WHERE filter @> $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE asked(300);
EXECUTE asked(NULL);
SELECT explained('EXECUTE asked(300)');
PREPARE untyped AS SELECT count(*) FROM segments WHERE filter @> $1;
EXECUTE untyped('300');
RESET plan_cache_mode;
-- An index serves stable expressions, but not volatile ones.
SELECT explained('SELECT id FROM segments WHERE filter @> extract(year FROM now())::int');
SELECT explained('SELECT id FROM segments WHERE filter @> (random() * 10)::int');
SELECT explained('SELECT id FROM segments WHERE filter @> id');
SELECT explained('SELECT id FROM segments WHERE bf_contains(filter, id)');

-- The errors are those of a sequential scan. An error is raised only if a row is probed that raises
-- it.
SELECT outcome('SELECT id FROM segments WHERE filter @> ''300''::text');
SELECT outcome('SELECT id FROM segments WHERE filter @> ''x''');
SELECT outcome('SELECT id FROM segments WHERE filter @> ''300''::text AND id = 0');
INSERT INTO segments
SELECT f, 99, '', bf_agg(i::text, 1000)
FROM generate_series(1001, 1127) f, generate_series(f, f + 9) i
GROUP BY f ORDER BY f;
SELECT bf_index_tidy('segments_filter');
SELECT outcome('SELECT id FROM segments WHERE filter @> 300');
SELECT id FROM segments WHERE filter @> '1010' AND day = 99 ORDER BY id LIMIT 2;
DELETE FROM segments WHERE day = 99;
SELECT count(*) FROM segments WHERE filter @> 300;
SELECT outcome('SELECT count(*) FROM segments WHERE filter @> ''300''::text');
VACUUM segments;

-- An index serves probes for any element of an array and for hashes, but not for all elements of an
-- array.
SELECT explained('SELECT id FROM segments WHERE bf_contains_any(filter, ARRAY[300, 100, NULL])');
SELECT explained('SELECT id FROM segments WHERE bf_contains_hash(filter, bf_hash(300))');
SELECT explained('SELECT id FROM segments WHERE bf_contains_all(filter, ARRAY[300, 301])');
SELECT count(*), min(id) FROM segments WHERE bf_contains_any(filter, ARRAY[300, 100, NULL]);
SELECT count(*) FROM segments WHERE bf_contains_any(filter, ARRAY[300.5, 100]);
SELECT count(*) FROM segments WHERE bf_contains_any(filter, ARRAY[]::int[]);
SELECT count(*) FROM segments WHERE bf_contains_any(filter, NULL::int[]);
SELECT count(*) FROM segments WHERE bf_contains_hash(filter, bf_hash(300));
SELECT outcome('SELECT id FROM segments WHERE bf_contains_any(filter, ARRAY[''300''])');
-- An array whose type the planner does not know.
SELECT step FROM explained($$SELECT id FROM segments WHERE bf_contains_any(filter,
  (SELECT stavalues1 FROM pg_statistic WHERE starelid = 'segments'::regclass AND staattnum = 1))$$)
  step WHERE step ~ 'segments';
SELECT count(*) > 0 AS found FROM segments WHERE bf_contains_any(filter,
  (SELECT stavalues1 FROM pg_statistic WHERE starelid = 'segments'::regclass AND staattnum = 1));

-- Arrays, ranges and rows as values. If probing for values of a type may raise an error, a
-- sequential scan is used.
CREATE TABLE pairs AS SELECT f AS id, bf_agg((i, 'x' || i), 100) AS filter,
  bf_agg(ARRAY[i, i + 1], 100) AS arrays, bf_agg(int4range(i, i + 5), 100) AS ranges
FROM generate_series(1, 300) f, generate_series(f, f + 5) i GROUP BY f ORDER BY f;
CREATE INDEX pairs_filter ON pairs USING bloomfilter (filter);
CREATE INDEX pairs_arrays ON pairs USING bloomfilter (arrays);
CREATE INDEX pairs_ranges ON pairs USING bloomfilter (ranges);
ANALYZE pairs;
SELECT explained('SELECT id FROM pairs WHERE filter @> (100, ''x100''::varchar)');
SET enable_seqscan = off;
SELECT explained('SELECT id FROM pairs WHERE filter @> (100, ''x100'')');
SELECT explained('SELECT id FROM pairs WHERE arrays @> ARRAY[100, 101]');
SELECT explained('SELECT id FROM pairs WHERE ranges @> int4range(100, 105)');
SELECT array_agg(id) FROM pairs WHERE filter @> (100, 'x100');
SELECT array_agg(id) FROM pairs WHERE filter @> (100, 'x100'::varchar);
SELECT array_agg(id) FROM pairs WHERE arrays @> ARRAY[100, 101];
SELECT array_agg(id) FROM pairs WHERE ranges @> int4range(100, 105);
SELECT outcome('SELECT id FROM pairs WHERE filter @> (100, 1)');
SELECT outcome('SELECT id FROM pairs WHERE arrays @> ARRAY[100.0, 101]');
SELECT outcome('SELECT id FROM pairs WHERE filter @> (100, ''x100'', json ''{}'')');
SELECT outcome('SELECT id FROM pairs WHERE filter @> (100, ''x100'', json ''{}'') AND id = 0');
PREPARE paired(int, text) AS SELECT array_agg(id) FROM pairs WHERE filter @> ($1, $2);
SET plan_cache_mode = force_generic_plan;
SELECT explained('EXECUTE paired(100, ''x100'')');
EXECUTE paired(100, 'x100');
RESET plan_cache_mode;
-- A row whose fields the planner does not know.
CREATE FUNCTION a_row() RETURNS record LANGUAGE sql STABLE AS 'SELECT 100, ''x100''::text';
SELECT explained('SELECT id FROM pairs WHERE filter @> a_row()');
SELECT array_agg(id) FROM pairs WHERE filter @> a_row();
RESET enable_seqscan;

-- Joins, bitmaps with other indexes, partial indexes, and indexes on expressions
CREATE TABLE keys AS SELECT i * 50 AS key FROM generate_series(1, 4) i;
ANALYZE keys;
SET enable_material = off;
SELECT explained('SELECT key, id FROM keys JOIN segments ON filter @> key');
RESET enable_material;
SELECT key, count(*), min(id) FROM keys JOIN segments ON filter @> key GROUP BY key ORDER BY key;
SELECT key, (SELECT min(id) FROM segments WHERE filter @> key) FROM keys ORDER BY key;
SET enable_indexscan = off;
SELECT explained('SELECT id FROM segments WHERE filter @> 300 OR filter @> 100');
SELECT count(*) FROM segments WHERE filter @> 300 OR filter @> 100;
SELECT id FROM segments WHERE filter @> 300 AND day = 5;
RESET enable_indexscan;
CREATE INDEX segments_some ON segments USING bloomfilter (filter) WHERE day < 3;
CREATE INDEX segments_expression ON segments USING bloomfilter (bf_fold(filter, 100000));
SELECT explained('SELECT id FROM segments WHERE filter @> 300 AND day = 2');
SELECT id FROM segments WHERE filter @> 300 AND day = 2;
SELECT explained('SELECT id FROM segments WHERE bf_fold(filter, 100000) @> 300');
SELECT count(*) FROM segments WHERE bf_fold(filter, 100000) @> 300;
INSERT INTO segments SELECT id + 2000, day, note, filter FROM segments;
SELECT count(*) FROM segments WHERE bf_fold(filter, 100000) @> 300;
SELECT groups > 0 AS groups, grouped + pending AS filters, loose
FROM bf_index_info('segments_expression');
SELECT amvalidate(oid), opcname FROM pg_opclass
WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'bloomfilter') ORDER BY opcname;
SELECT bf_index_check(indexrelid) FROM pg_index JOIN pg_class c ON c.oid = indexrelid
WHERE indrelid = 'segments'::regclass
  AND relam = (SELECT oid FROM pg_am WHERE amname = 'bloomfilter');
DROP INDEX segments_some, segments_expression;
-- VACUUM does not call the functions of an index expression.
CREATE TABLE enriched AS SELECT f AS id, bf_create(1000) + f AS filter FROM generate_series(1, 9) f;
CREATE FUNCTION enriched(filter bloomfilter) RETURNS bloomfilter LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF current_setting('enriched.fails', true) = 'yes' THEN RAISE 'it fails'; END IF;
  RETURN public.bf_add(filter, 7777);
END $$;
CREATE INDEX enriched_filter ON enriched USING bloomfilter (enriched(filter));
INSERT INTO enriched SELECT f, bf_create(1000) + f FROM generate_series(10, 300) f;
DELETE FROM enriched WHERE id % 3 = 0;
SET enriched.fails = 'yes';
VACUUM enriched;
SELECT pending > 0 AS "not moved" FROM bf_index_info('enriched_filter');
SELECT outcome('SELECT bf_index_tidy(''enriched_filter'')');
RESET enriched.fails;
SELECT bf_index_tidy('enriched_filter');
SELECT pending = 0 AS moved FROM bf_index_info('enriched_filter');
SET enable_seqscan = off;
SELECT count(*) FROM enriched WHERE enriched(filter) @> 7777;
RESET enable_seqscan;
-- INSERT calls the functions of an index expression for its own rows only. An expression may call
-- functions in the schemas of the inserting user, who must not see other rows.
CREATE TABLE secrets (body text);
CREATE FUNCTION words(body text) RETURNS bloomfilter LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN public.bf_add(public.bf_create(100), lower(body));
END $$;
CREATE INDEX secrets_words ON secrets USING bloomfilter (words(body)) WITH (list_limit = 240);
INSERT INTO secrets SELECT 'secret ' || i FROM generate_series(1, 200) i;
CREATE ROLE regress_bloomfilter_inserts;
GRANT USAGE, CREATE ON SCHEMA index_of_filters TO regress_bloomfilter_inserts;
GRANT INSERT ON secrets TO regress_bloomfilter_inserts;
CREATE SCHEMA theirs AUTHORIZATION regress_bloomfilter_inserts;
SET ROLE regress_bloomfilter_inserts;
CREATE FUNCTION theirs.lower(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF body LIKE 'secret%' THEN RAISE 'it sees %', body; END IF;
  RETURN body;
END $$;
SET search_path = theirs, pg_catalog, index_of_filters, public;
INSERT INTO secrets SELECT 'own ' || i FROM generate_series(1, 60) i;
RESET ROLE;
SET search_path = index_of_filters, public;
SELECT groups, pending FROM bf_index_info('secrets_words');
SELECT bf_index_tidy('secrets_words');
SELECT grouped, pending FROM bf_index_info('secrets_words');
DROP SCHEMA theirs CASCADE;
DROP TABLE secrets;
REVOKE ALL ON SCHEMA index_of_filters FROM regress_bloomfilter_inserts;
DROP ROLE regress_bloomfilter_inserts;

-- The contents of an index: filters in groups, filters that wait in the list, and filters that
-- cannot be in a group.
CREATE TABLE mixed (id int, filter bloomfilter) WITH (autovacuum_enabled = off);
CREATE INDEX mixed_filter ON mixed USING bloomfilter (filter) WITH (list_limit = 100000);
SELECT * FROM bf_index_info('mixed_filter');
INSERT INTO mixed VALUES (1, NULL), (2, bf_create(10) | bf_create(100)),
  (3, bf_create(10, grow => true) + 1), (4, bf_create(10, layout => 'guava') + 1);
INSERT INTO mixed SELECT f, bf_create(500) + f FROM generate_series(1, 200) f;
SELECT groups, grouped, pending, loose FROM bf_index_info('mixed_filter');
SELECT bf_index_tidy('mixed_filter');
SELECT groups, grouped, pending, loose FROM bf_index_info('mixed_filter');
SELECT bf_index_check('mixed_filter');
-- Neither function keeps a lock of the index until the transaction ends.
BEGIN;
SELECT bf_index_tidy('mixed_filter'), bf_index_check('mixed_filter');
SELECT count(*) AS locks FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'tuple';
ROLLBACK;
DELETE FROM mixed WHERE id % 2 = 0;
VACUUM mixed;
SELECT groups, grouped, pending, loose, free_bytes > 0 AS free FROM bf_index_info('mixed_filter');
INSERT INTO mixed SELECT f, bf_create(500) + f FROM generate_series(1, 100) f;
VACUUM mixed;
SELECT groups, grouped, pending, loose FROM bf_index_info('mixed_filter');
SELECT bf_index_check('mixed_filter');
-- The session that fills the list moves its filters to groups.
ALTER INDEX mixed_filter SET (list_limit = 50);
INSERT INTO mixed SELECT f, bf_create(9000) + f FROM generate_series(1, 500) f;
SELECT pending < 100 AS "few wait" FROM bf_index_info('mixed_filter');
TRUNCATE mixed;
SELECT * FROM bf_index_info('mixed_filter');
-- A list that was moved takes as many filters as before until it is full again, even if it had
-- several pages.
ALTER INDEX mixed_filter SET (list_limit = 1000);
INSERT INTO mixed SELECT f, bf_create(500) + f FROM generate_series(1, 1000) f;
SELECT grouped, pending FROM bf_index_info('mixed_filter');
INSERT INTO mixed SELECT f, bf_create(500) + f FROM generate_series(1, 900) f;
SELECT grouped, pending FROM bf_index_info('mixed_filter');
-- The space of removed groups is used again, even while new groups are made of the remains of
-- others.
CREATE TABLE reused (id int, filter bloomfilter) WITH (autovacuum_enabled = off);
CREATE INDEX reused_filter ON reused USING bloomfilter (filter) WITH (list_limit = 250);
INSERT INTO reused SELECT f, bf_create(500) + f FROM generate_series(1, 5000) f;
SELECT bytes FROM bf_index_info('reused_filter') \gset
DELETE FROM reused WHERE id % 2 = 0;
VACUUM reused;
SELECT groups < 30 AS "half as many", bytes < 1.1 * :bytes AS "hardly more space"
FROM bf_index_info('reused_filter');
SELECT bytes FROM bf_index_info('reused_filter') \gset
DELETE FROM reused;
VACUUM reused;
INSERT INTO reused SELECT f, bf_create(500) + f FROM generate_series(1, 2500) f;
SELECT groups > 15 AS "half as many", bytes = :bytes AS "the same space"
FROM bf_index_info('reused_filter');
-- Adjacent free spaces are joined, so they have room for larger groups.
DELETE FROM reused;
VACUUM reused;
SELECT bf_index_tidy('reused_filter');
SET work_mem = '4MB'; -- limits what one INSERT merges
INSERT INTO reused SELECT f, bf_create(2500) + f FROM generate_series(1, 250) f;
RESET work_mem;
SELECT groups, bytes <= :bytes AS "no more space" FROM bf_index_info('reused_filter');
DROP TABLE reused;
-- Filters of many sizes. The build cannot hold all of them in memory. Some are compressed.
CREATE TABLE sizes (id int, filter bloomfilter);
ALTER TABLE sizes ALTER filter SET STORAGE EXTENDED;
INSERT INTO sizes SELECT f, bf_create(1000 * (1 + f % 20)) + f FROM generate_series(1, 400) f;
INSERT INTO sizes
SELECT f, bf_add_all(bf_create(50000), array(SELECT f + i FROM generate_series(0, 999) i))
FROM generate_series(1001, 1020) f;
SELECT bool_or(pg_column_size(filter) BETWEEN 3000 AND octet_length(filter::bytea) - 3000)
  AS compressed FROM sizes;
SET maintenance_work_mem = '1MB';
CREATE INDEX sizes_filter ON sizes USING bloomfilter (filter);
SELECT groups > 0 AS groups, grouped + pending AS filters, loose FROM bf_index_info('sizes_filter');
SELECT bf_index_check('sizes_filter');
INSERT INTO sizes SELECT id + 2000, filter FROM sizes;
SELECT bf_index_tidy('sizes_filter');
SELECT bf_index_check('sizes_filter');
RESET maintenance_work_mem;
SET enable_seqscan = off;
SELECT count(*), min(id) FROM sizes WHERE filter @> 77;
SELECT count(*), min(id) FROM sizes WHERE filter @> 2019;
RESET enable_seqscan;
SELECT outcome('ALTER INDEX mixed_filter SET (list_limit = 5)');
SELECT outcome('CREATE INDEX ON mixed USING bloomfilter (filter) WITH (fillfactor = 90)');

-- What the access method does not support.
SELECT outcome('CREATE INDEX ON mixed USING bloomfilter (id)');
SELECT outcome('CREATE UNIQUE INDEX ON mixed USING bloomfilter (filter)');
SELECT outcome('CREATE INDEX ON mixed USING bloomfilter (filter, filter)');
CREATE FUNCTION failing(bloomfilter) RETURNS bloomfilter LANGUAGE plpgsql IMMUTABLE AS
  'BEGIN RAISE ''no such filter''; END';
INSERT INTO mixed VALUES (1, bf_create(10));
CREATE INDEX CONCURRENTLY mixed_failing ON mixed USING bloomfilter (failing(filter));
SELECT outcome('SELECT bf_index_check(''mixed_failing'')');
DROP INDEX mixed_failing;
CREATE TABLE cuckoos (filter cuckoofilter);
SELECT outcome('CREATE INDEX ON cuckoos USING bloomfilter (filter)');

-- Temporary and partitioned tables, counting filters
CREATE TEMP TABLE temporary AS SELECT * FROM segments;
CREATE INDEX temporary_filter ON temporary USING bloomfilter (filter);
INSERT INTO temporary SELECT * FROM segments;
SET enable_seqscan = off;
SELECT count(*) FROM temporary WHERE filter @> 300;
SELECT bf_index_check('temporary_filter');
CREATE TABLE parts (day int, filter bloomfilter) PARTITION BY RANGE (day);
CREATE INDEX ON parts USING bloomfilter (filter);
CREATE TABLE early PARTITION OF parts FOR VALUES FROM (0) TO (5);
CREATE TABLE late PARTITION OF parts FOR VALUES FROM (5) TO (10);
INSERT INTO parts SELECT day, filter FROM segments;
SELECT explained('SELECT * FROM parts WHERE filter @> 300');
SELECT day, count(*) FROM parts WHERE filter @> 300 GROUP BY day ORDER BY day;
-- bf_index_check() and bf_index_tidy() work on the indexes of all partitions.
SELECT sum(grouped) > 0 AS grouped
FROM (VALUES ('early_filter_idx'), ('late_filter_idx')) i (index), bf_index_info(index::regclass);
INSERT INTO parts SELECT id % 10, filter FROM segments ORDER BY id LIMIT 20;
SELECT index, pending > 0 AS pending
FROM (VALUES ('early_filter_idx'), ('late_filter_idx')) i (index), bf_index_info(index::regclass);
SELECT bf_index_tidy('parts_filter_idx');
SELECT index, pending FROM (VALUES ('early_filter_idx'), ('late_filter_idx')) i (index),
  bf_index_info(index::regclass);
SELECT bf_index_check('parts_filter_idx');
CREATE TABLE counted AS SELECT f AS id, cbf_agg(i, 500) AS filter
FROM generate_series(1, 300) f, generate_series(f, f + 4) i GROUP BY f;
CREATE INDEX counted_filter ON counted USING bloomfilter (filter);
SELECT explained('SELECT * FROM counted WHERE filter @> 100');
SELECT count(*) FROM counted WHERE filter @> 100;
UPDATE counted SET filter = filter - 100 WHERE id = 98;
SELECT count(*) FROM counted WHERE filter @> 100;
SELECT bf_index_check('counted_filter');
RESET enable_seqscan;

-- The operator that an index serves. It has the result of @>. Only the probe functions make its
-- right operand.
SELECT filter @>> bloomfilter_probe(5) AS five, filter @>> bloomfilter_probe(15) AS fifteen,
  filter @>> bloomfilter_probe('5') AS literal, bloomfilter_probe('five'::text),
  bloomfilter_probe(5), filter @>> bloomfilter_probe_any(ARRAY[0, 5]) AS any_of,
  filter @>> bloomfilter_probe_hash(bf_hash(15)) AS hash, bloomfilter_probe_any(ARRAY[0, 5])
FROM segments WHERE id = 1;
SELECT outcome('SELECT ''5''::bf_probe');
-- A stored probe cannot be used: the type of its value may have changed or been dropped.
CREATE DOMAIN short AS text;
CREATE TABLE stored AS SELECT bloomfilter_probe('x'::short) AS probe, bf_agg('x'::text) AS filter;
DROP DOMAIN short;
SELECT probe FROM stored;
SELECT filter @>> probe FROM stored;
-- The text of a stored probe can be dumped and restored, but the probe still cannot be used.
SELECT filter @>> probe::text::bf_probe FROM stored;
SELECT filter @>> bloomfilter_probe('x'::text) AS of_this_command FROM stored;
SELECT outcome('SELECT filter @>> bloomfilter_probe(''5''::text) FROM segments');
SELECT outcome('SELECT bloomfilter_probe(point(1, 2))');
-- Users' operator classes. If one lacks a probe function, its indexes do not serve the conditions
-- that need the function.
CREATE OPERATOR CLASS no_functions FOR TYPE bloomfilter USING bloomfilter AS
  OPERATOR 1 @>> (bloomfilter, bf_probe);
CREATE OPERATOR CLASS no_operator FOR TYPE bloomfilter USING bloomfilter AS
  FUNCTION 1 bloomfilter_probe("any"), FUNCTION 2 bloomfilter_probe(bf_literal);
CREATE OPERATOR CLASS single_values FOR TYPE bloomfilter USING bloomfilter AS
  OPERATOR 1 @>> (bloomfilter, bf_probe),
  FUNCTION 1 bloomfilter_probe("any"), FUNCTION 2 bloomfilter_probe(bf_literal);
SELECT opcname, amvalidate(oid) FROM pg_opclass
WHERE opcnamespace = 'index_of_filters'::regnamespace ORDER BY opcname;
CREATE INDEX pairs_single ON pairs USING bloomfilter (filter single_values);
DROP INDEX pairs_filter;
SET enable_seqscan = off;
SELECT explained('SELECT id FROM pairs WHERE bf_contains_any(filter, ARRAY[100, 101])');
SELECT explained('SELECT id FROM pairs WHERE bf_contains_hash(filter, 100)');
SELECT explained('SELECT id FROM pairs WHERE filter @> (100, ''x100'')');
SELECT array_agg(id) FROM pairs WHERE filter @> (100, 'x100');
RESET enable_seqscan;

-- An index scan reads its probes when it begins. Whatever the query writes before the scan returns
-- rows, the probes stay valid.
CREATE TABLE asked AS SELECT i AS id, i % 300 AS k FROM generate_series(1, 3000) i;
CREATE TABLE written (i int, id int);
ANALYZE asked;
SET enable_seqscan = off;
DO $$
DECLARE found record;
BEGIN
  FOR found IN SELECT i, q.id FROM generate_series(1, 3) i CROSS JOIN LATERAL (
      SELECT id FROM asked WHERE k = i UNION ALL SELECT id FROM segments WHERE filter @> 300) q
  LOOP
    INSERT INTO written VALUES (found.i, found.id);
  END LOOP;
END $$;
RESET enable_seqscan;
SELECT count(*) = (SELECT 3 * (10 + count(*)) FROM segments WHERE filter @> 300) AS "all rows"
FROM written;

-- Only the owner of an index may inspect it. A user who may not call bf_contains gets the same
-- error with an index.
CREATE ROLE regress_bloomfilter_index;
GRANT USAGE ON SCHEMA index_of_filters TO regress_bloomfilter_index;
GRANT SELECT ON segments TO regress_bloomfilter_index;
REVOKE EXECUTE ON FUNCTION bf_contains(bloomfilter, "any") FROM PUBLIC;
SET enable_seqscan = off;
-- A kept plan is made again for another role.
SET plan_cache_mode = force_generic_plan;
PREPARE kept(int) AS SELECT count(*) > 0 FROM segments WHERE filter @> $1;
EXECUTE kept(300);
SET ROLE regress_bloomfilter_index;
SELECT outcome('SELECT id FROM index_of_filters.segments WHERE filter @> 300');
EXECUTE kept(300);
RESET plan_cache_mode;
RESET enable_seqscan;
RESET ROLE;
GRANT EXECUTE ON FUNCTION bf_contains(bloomfilter, "any") TO PUBLIC;
SET ROLE regress_bloomfilter_index;
SELECT outcome('SELECT bf_index_info(''index_of_filters.segments_filter'')');
SELECT outcome('SELECT bf_index_check(''index_of_filters.segments_filter'')');
SELECT outcome('SELECT bf_index_tidy(''index_of_filters.segments_filter'')');
SELECT outcome('SELECT bf_index_info(''index_of_filters.parts_filter_idx'')') AS info,
  outcome('SELECT bf_index_check(''index_of_filters.parts_filter_idx'')') AS check,
  outcome('SELECT bf_index_tidy(''index_of_filters.parts_filter_idx'')') AS tidy;
RESET ROLE;
-- CREATE INDEX reports how many rows it has read.
CREATE FUNCTION watched(filter bloomfilter) RETURNS bloomfilter LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM pg_stat_clear_snapshot();
  RAISE NOTICE '% rows', (SELECT tuples_done FROM pg_stat_progress_create_index
    WHERE pid = pg_backend_pid());
  RETURN filter;
END $$;
CREATE TABLE few AS SELECT bf_create(10) + i AS filter FROM generate_series(1, 3) i;
CREATE INDEX ON few USING bloomfilter (watched(filter));
DROP TABLE few;
-- The expressions of an index are evaluated as the owner of the table, whichever user inspects the
-- index.
CREATE FUNCTION checked(filter bloomfilter) RETURNS bloomfilter LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF current_user <> 'regress_bloomfilter_index' THEN RAISE 'called by %', current_user; END IF;
  RETURN filter;
END $$;
CREATE TABLE owned AS SELECT id, filter FROM segments LIMIT 0;
ALTER TABLE owned OWNER TO regress_bloomfilter_index;
GRANT CREATE ON SCHEMA index_of_filters TO regress_bloomfilter_index;
SET ROLE regress_bloomfilter_index;
CREATE INDEX owned_filter ON owned USING bloomfilter (index_of_filters.checked(filter));
INSERT INTO owned SELECT i, bf_create(1000) + i FROM generate_series(1, 100) i;
RESET ROLE;
SELECT outcome('SELECT bf_index_tidy(''owned_filter'')');
SELECT outcome('SELECT bf_index_check(''owned_filter'')');
SELECT groups, current_user <> 'regress_bloomfilter_index' AS "not the owner"
FROM bf_index_info('owned_filter');
DROP TABLE owned;
SELECT outcome('SELECT bf_index_info(''segments_day'')');
SELECT outcome('SELECT bf_index_info(''segments'')');
SELECT outcome('SELECT bf_index_info(''parts_filter_idx'')');
-- A column of an unsupported type is refused before there is an index. This is also true of
-- partitioned tables and of CONCURRENTLY.
CREATE TABLE others (id int, path text, cuckoo cuckoofilter) PARTITION BY RANGE (id);
CREATE TABLE other (LIKE others);
CREATE INDEX ON other USING bloomfilter (path);
SELECT how, bool_and(outcome(format(how, what)) = '42704') AS refused
FROM unnest('{
    CREATE INDEX ON other USING bloomfilter (%s),
    CREATE INDEX ON others USING bloomfilter (%s)}'::text[]) how,
  unnest('{id,path,cuckoo,lower(path)}'::text[]) what
GROUP BY how ORDER BY how;
CREATE INDEX CONCURRENTLY ON other USING bloomfilter (cuckoo);
SELECT count(*) AS none FROM pg_index WHERE indrelid IN ('other'::regclass, 'others'::regclass);
DROP TABLE others, other;
REVOKE SELECT ON segments FROM regress_bloomfilter_index;
REVOKE USAGE, CREATE ON SCHEMA index_of_filters FROM regress_bloomfilter_index;
DROP ROLE regress_bloomfilter_index;
SET client_min_messages = warning;
DROP SCHEMA index_of_filters CASCADE;
