-- The bloompages index: that its answers are those of a scan, for every type and condition, and
-- what it refuses. test/t/042_bloompages.pl has many sessions, crashes, standbys and damage.
CREATE SCHEMA index_of_pages;
SET search_path = index_of_pages, public;
SET jit = off; -- it would take longer than all the rest
\pset format unaligned
\pset footer off
\i sql/include/outcome.sql
\i sql/include/plan.sql
\i sql/include/bloompages.sql

CREATE TABLE events (id int, trace uuid, host text, code smallint, size bigint, at timestamptz);
INSERT INTO events
SELECT i, md5(i::text)::uuid, 'host' || i % 900, i % 7, 10000000000 + i % 20000,
       '2026-01-01'::timestamptz + i * interval '1 min'
FROM generate_series(1, 40000) i;
CREATE INDEX events_trace ON events USING bloompages (trace);
VACUUM ANALYZE events;
SELECT explained(format('SELECT id FROM events WHERE trace = %L', md5('77')::uuid));
SELECT id FROM events WHERE trace = md5('77')::uuid;
SELECT id FROM events WHERE trace = md5('0')::uuid;
SELECT id FROM events WHERE trace = NULL;
-- Every row is found, and few pages are read for a value that is not there.
SELECT count(*) FROM events e WHERE NOT EXISTS (SELECT FROM events f WHERE f.trace = e.trace);
SELECT sum((plan_of(format('SELECT FROM events WHERE trace = %L', md5('no' || i)::uuid),
                    'ANALYZE, TIMING OFF') #>> '{0,Plan,Lossy Heap Blocks}')::int) < 2000 AS few
FROM generate_series(1, 100) i;

-- What can be asked: a constant, a parameter, a stable expression, one of several, another column.
PREPARE by_trace(uuid) AS SELECT id FROM events WHERE trace = $1;
SET plan_cache_mode = force_generic_plan;
SELECT explained('EXECUTE by_trace(NULL)');
EXECUTE by_trace(md5('78')::uuid);
EXECUTE by_trace(NULL);
RESET plan_cache_mode;
SELECT explained('SELECT id FROM events WHERE trace = ANY (ARRAY[md5(''1''), md5(''2'')]::uuid[])');
SELECT id FROM events WHERE trace = ANY (ARRAY[md5('1'), md5('x'), NULL, md5('2')]::uuid[])
ORDER BY id;
SELECT id FROM events WHERE trace IN (md5('3')::uuid, md5('4')::uuid) OR trace = md5('5')::uuid
ORDER BY id;
CREATE TABLE wanted (k uuid);
INSERT INTO wanted SELECT md5(i::text)::uuid FROM generate_series(39990, 40009) i;
ANALYZE wanted;
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT explained('SELECT count(*) FROM wanted JOIN events ON trace = k');
SELECT count(*) FROM wanted JOIN events ON trace = k;
RESET enable_hashjoin; RESET enable_mergejoin;
-- A volatile expression cannot.
SELECT explained('SELECT id FROM events WHERE trace = gen_random_uuid()');

-- Several columns: a condition on any of them, and on several together; other indexes beside it.
DROP INDEX events_trace;
CREATE INDEX events_all ON events USING bloompages (trace, host, code, size, at);
SELECT * FROM compared('SELECT count(*) FROM events WHERE host = ''host7''');
SELECT * FROM compared('SELECT count(*) FROM events WHERE size = 10000000123');
SELECT * FROM compared(
  'SELECT count(*) FROM events WHERE size = 10000000123 AND host = ''host123''');
SELECT * FROM compared(
  'SELECT count(*) FROM events WHERE size = 10000000123 AND host = ''host124''');
SELECT * FROM compared('SELECT count(*) FROM events WHERE code = 5::bigint');
SELECT * FROM compared(
  'SELECT count(*) FROM events WHERE code = ANY (''{5,6,7}''::bigint[])');
SELECT * FROM compared('SELECT count(*) FROM events WHERE at = ''2026-01-02 UTC''');
SELECT * FROM compared('SELECT count(*) FROM events WHERE host = ''host7'' AND id < 100');
CREATE INDEX events_id ON events (id);
SELECT * FROM compared('SELECT count(*) FROM events WHERE host = ''host7'' AND id < 2000');
SELECT * FROM compared('SELECT count(*) FROM events WHERE host = ''host7'' OR id < 2000');
-- A frequent value, and a btree on the same column, are left to others.
SELECT explained('SELECT count(*) FROM events WHERE code = 5');
CREATE INDEX events_btree ON events (trace);
SELECT explained(format('SELECT id FROM events WHERE trace = %L', md5('77')::uuid));
DROP INDEX events_btree;

-- Equality is that of the type's hash operator class.
CREATE TABLE kinds (n int, i2 smallint, i4 int, i8 bigint, f4 float4, f8 float8, nu numeric,
                    t text, v varchar, b bpchar, na name, c "char", by bytea, u uuid, d date,
                    ts timestamp, tz timestamptz, ti time, tt timetz, iv interval, bo boolean,
                    ip inet, ci cidr, ma macaddr, m8 macaddr8, j jsonb, o oid, rc regclass,
                    x xid, x8 xid8, l pg_lsn, td tid, ia int[], ta text[], ir int4range,
                    im int4multirange, nr numrange);
INSERT INTO kinds
SELECT n, n % 3000, n, n::bigint * 1000000007, n / 8.0, n / 64.0, n / 100.0, 'text ' || n,
       'varchar ' || n, 'bpchar ' || n, 'name ' || n, chr(33 + n % 90)::"char", int4send(n),
       md5(n::text)::uuid, '2000-01-01'::date + n, '2000-01-01'::timestamp + n * interval '1 s',
       '2000-01-01'::timestamptz + n * interval '1 s', '00:00'::time + n * interval '1 s',
       '00:00+01'::timetz + n * interval '1 s', n * interval '1 h', n % 2 = 0,
       '10.0.0.0'::inet + n, set_masklen('10.0.0.0'::cidr + n, 32),
       lpad(to_hex(n), 12, '0')::macaddr,
       lpad(to_hex(n), 16, '0')::macaddr8,
       jsonb_build_object('n', n), n, n, n::text::xid, n::text::xid8, '0/0'::pg_lsn + n,
       format('(%s,1)', n)::tid, ARRAY[n, NULL, n + 1], ARRAY['a', n::text], int4range(n, n + 2),
       int4multirange(int4range(n, n + 2), int4range(n + 4, n + 5)), numrange(n / 10.0, NULL)
FROM generate_series(1, 4000) n;
VACUUM ANALYZE kinds;
-- Each type: the columns for which the index is not used, or has another answer than the scan.
CREATE FUNCTION wrong_types() RETURNS TABLE (column_name name, n int, result record)
LANGUAGE plpgsql AS $$
BEGIN
  FOR column_name IN SELECT attname FROM pg_attribute
                     WHERE attrelid = 'kinds'::regclass AND attnum > 1 LOOP
    EXECUTE format('CREATE INDEX one ON kinds USING bloompages (%I)', column_name);
    FOREACH n IN ARRAY ARRAY[1, 77, 2500, 4000] LOOP
      result := compared(format('SELECT count(*) FROM kinds WHERE %1$I = '
                            '(SELECT %1$I FROM kinds WHERE n = %2$s)', column_name, n));
      IF result.used IS NULL OR result.with_index <> result.with_scan OR result.with_scan = 0 THEN
        RETURN NEXT;
      END IF;
    END LOOP;
    DROP INDEX one;
  END LOOP;
END $$;
SELECT * FROM wrong_types();

-- Equality across types, and values that are equal but have other bytes.
CREATE INDEX kinds_numbers ON kinds USING bloompages (i2, i4, i8, f4, f8, nu);
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE i8 = 1000000007::int');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE i2 = 2999::bigint');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE i4 = 5::smallint');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE f4 = 0.5::float8');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE f8 = 0.5::float4');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE nu = 1.5000');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE i4 = 5.0::numeric');
CREATE INDEX kinds_strings ON kinds USING bloompages (t, v, b, na);
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE b = ''bpchar 9   ''');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE b = ''bpchar 9   ''::bpchar');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE v = ''varchar 9''::text');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE na = ''name 9''::text');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE t = ''text 9''::name');
INSERT INTO kinds (n, f8, f4, nu) VALUES (0, '-0', 'NaN', 'NaN');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE f8 = 0');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE f4 = ''NaN''');
SELECT * FROM compared('SELECT count(*) FROM kinds WHERE nu = ''NaN''');

-- More scan keys than an index can have columns. (Equality of xid is no equivalence class of the
-- planner, so each condition becomes a scan key.)
CREATE TABLE narrow AS SELECT i AS n, (i % 900)::text::xid AS x FROM generate_series(1, 20000) i;
CREATE INDEX narrow_x ON narrow USING bloompages (x);
VACUUM ANALYZE narrow;
SELECT compared('SELECT count(*) FROM narrow WHERE '
  || string_agg(format('x = ''%s''::xid', i), ' AND ')) FROM generate_series(7, 306) i;

-- Domains, and enums, whose labels can be renamed.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN code AS text CHECK (value <> '');
CREATE TABLE others (m mood, c code, ms mood[]);
INSERT INTO others SELECT (ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood, 'c' || i,
                          ARRAY[(ARRAY['sad', 'ok', 'happy'])[1 + i % 3]]::mood[]
FROM generate_series(1, 3000) i;
CREATE INDEX others_all ON others USING bloompages (m, c, ms);
ALTER TYPE mood RENAME VALUE 'happy' TO 'glad';
SELECT * FROM compared('SELECT count(*) FROM others WHERE m = ''glad''');
SELECT * FROM compared('SELECT count(*) FROM others WHERE ms = ''{glad}''');
SELECT * FROM compared('SELECT count(*) FROM others WHERE c = ''c17''');

-- NULL is no value. All rows have the same filter as their range, so a scan without a condition on
-- a column of the index does not use it.
INSERT INTO others SELECT FROM generate_series(1, 1000);
SELECT * FROM compared('SELECT count(*) FROM others WHERE c IS NULL');
SELECT * FROM compared('SELECT count(*) FROM others WHERE c = NULL');

-- Rows that come, go and change, in ranges with a filter and without one.
CREATE TABLE moving (id int, k int, pad text DEFAULT repeat('x', 100)) WITH (fillfactor = 70);
CREATE INDEX moving_k ON moving USING bloompages (k) WITH (pages_per_range = 2);
INSERT INTO moving SELECT i, i FROM generate_series(1, 3000) i;
SELECT ready > 10 AS summarized, tail_pages <= 6 AS short_tail, pages_per_range
FROM bf_index_info('moving_k');
UPDATE moving SET k = k + 100000 WHERE id % 7 = 0;
DELETE FROM moving WHERE id % 11 = 0;
VACUUM moving;
INSERT INTO moving SELECT i, i FROM generate_series(5001, 5300) i;
SELECT * FROM compared(
  'SELECT count(*) FROM moving WHERE k = ANY (SELECT generate_series(1, 6000))');
SELECT count(*) AS lost FROM moving m
WHERE NOT EXISTS (SELECT FROM moving o WHERE o.k = m.k);
SELECT * FROM compared('SELECT count(*) FROM moving WHERE k = 100007');
SELECT bf_index_check('moving_k');
BEGIN;
SAVEPOINT a;
INSERT INTO moving VALUES (1, 777777);
ROLLBACK TO a;
INSERT INTO moving VALUES (2, 888888);
SELECT * FROM compared('SELECT count(*) FROM moving WHERE k = 888888');
COMMIT;
SELECT * FROM compared('SELECT count(*) FROM moving WHERE k = 777777');

-- Without autosummarize, VACUUM and bf_index_tidy() make the filters.
CREATE TABLE later (k int, pad text DEFAULT repeat('x', 500));
CREATE INDEX later_k ON later USING bloompages (k) WITH (autosummarize = off, pages_per_range = 4);
INSERT INTO later SELECT i FROM generate_series(1, 2000) i;
SELECT ranges, ready, tail_pages FROM bf_index_info('later_k');
SELECT * FROM compared('SELECT count(*) FROM later WHERE k = 1999');
SELECT bf_index_tidy('later_k');
SELECT ranges, ready, tail_pages FROM bf_index_info('later_k');
SELECT * FROM compared('SELECT count(*) FROM later WHERE k = 1999');
TRUNCATE later;
SELECT ranges, ready, tail_pages, bytes FROM bf_index_info('later_k');
INSERT INTO later SELECT i FROM generate_series(1, 2000) i;
ANALYZE later;
SELECT ready AS ready_after_analyze FROM bf_index_info('later_k');
VACUUM later;
SELECT ranges, ready, tail_pages FROM bf_index_info('later_k');
SELECT reltuples, relpages > 2 AS has_pages FROM pg_class WHERE oid = 'later_k'::regclass;

-- What bf_index_info() says of the filters: as they were made, and after 2000 values were added.
CREATE TABLE described (k int, pad text DEFAULT repeat('x', 100)) WITH (fillfactor = 50);
CREATE INDEX described_k ON described USING bloompages (k) WITH (pages_per_range = 4);
INSERT INTO described SELECT generate_series(1, 20000);
VACUUM described;
SELECT bits_per_value BETWEEN 10 AND 25 AS bits, fill BETWEEN 0.3 AND 0.5 AS fill,
       false_pages BETWEEN 0.01 AND 1 AS false_pages, additions < 100 AS additions
FROM bf_index_info('described_k');
UPDATE described SET k = k + 100000 WHERE k % 10 = 0;
SELECT fill BETWEEN 0.3 AND 0.5 AS fill, false_pages BETWEEN 0.01 AND 1 AS false_pages,
       additions BETWEEN 1700 AND 2300 AS additions
FROM bf_index_info('described_k');

-- If a range cannot be read, three INSERTs try, and none fails. The next ones leave it to VACUUM.
-- The range is the first of a group or a later one. Each row has a page of its own.
CREATE SEQUENCE tries;
CREATE FUNCTION failing_hash(v int, seed bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  IF v < 0 AND current_setting('test.fails', true) = 'on' THEN
    PERFORM nextval('index_of_pages.tries');
    RAISE 'cannot hash %', v;
  END IF;
  RETURN hashint4extended(v, seed);
END $$;
CREATE OPERATOR CLASS failing_ops FOR TYPE int USING bloompages AS
  OPERATOR 1 = (int, int), FUNCTION 1 failing_hash(int, bigint);
CREATE FUNCTION failures(first_bad int) RETURNS TABLE (tried bigint, ready bigint)
LANGUAGE plpgsql SET client_min_messages = warning AS $$
BEGIN
  DROP TABLE IF EXISTS failing;
  CREATE TABLE failing (k int, pad text DEFAULT repeat('x', 1500)) WITH (fillfactor = 10);
  CREATE INDEX failing_k ON failing USING bloompages (k failing_ops) WITH (pages_per_range = 1);
  INSERT INTO failing SELECT CASE WHEN i = first_bad THEN -1 ELSE i END
  FROM generate_series(1, 2) i;
  SET LOCAL test.fails = on;
  ALTER SEQUENCE tries RESTART;
  FOR i IN 3 .. 12 LOOP
    INSERT INTO failing VALUES (i);
  END LOOP;
  tried := nextval('tries') - 1;
  SET LOCAL test.fails = off;
  ready := (SELECT i.ready FROM bf_index_info('failing_k') i);
  RETURN NEXT;
END $$;
SELECT * FROM failures(1);
SELECT * FROM failures(2);
VACUUM failing;
SELECT ready = ranges AS all_ready FROM bf_index_info('failing_k');
SELECT bf_index_check('failing_k');

-- Options. ALTER INDEX changes what the next REINDEX does.
CREATE INDEX later_fixed ON later USING bloompages (k) WITH (pages_per_range = 16, fpr = 0.01);
SELECT ranges, ready, pages_per_range, bits_per_value < 14 AS small
FROM bf_index_info('later_fixed');
ALTER INDEX later_fixed SET (pages_per_range = 4);
SELECT pages_per_range FROM bf_index_info('later_fixed');
REINDEX INDEX later_fixed;
SELECT pages_per_range FROM bf_index_info('later_fixed');
-- If only some options are given, the others have their defaults.
CREATE INDEX later_fpr ON later USING bloompages (k) WITH (fpr = 0.01);
SELECT pages_per_range FROM bf_index_info('later_fpr');
DROP INDEX later_fpr;
SELECT outcome('CREATE INDEX ON later USING bloompages (k) WITH (pages_per_range = -1)');
SELECT outcome('CREATE INDEX ON later USING bloompages (k) WITH (fpr = 0.7)');
SELECT outcome('CREATE INDEX ON later USING bloompages (k) WITH (list_limit = 100)');

-- Ranges with unequal numbers of values. In `gaps`, most ranges of the group have no rows, and the
-- others have filters of the right size. In `steps`, a few ranges have too many values for the
-- filters of their group, and bf_index_info() says that lookups read them.
CREATE TABLE gaps AS SELECT i AS k FROM generate_series(1, 20000) i;
DELETE FROM gaps WHERE k BETWEEN 4000 AND 19999;
VACUUM gaps;
CREATE INDEX gaps_k ON gaps USING bloompages (k) WITH (pages_per_range = 2);
CREATE TABLE steps AS
SELECT CASE WHEN i <= 8000 THEN i ELSE i % 70 END AS k FROM generate_series(1, 40000) i;
CREATE INDEX steps_k ON steps USING bloompages (k) WITH (pages_per_range = 4);
VACUUM ANALYZE gaps, steps;
SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 0; -- EXPLAIN does not show all pages that workers read
CREATE FUNCTION false_pages(name text) RETURNS numeric LANGUAGE sql AS $$
  SELECT avg((plan_of(format('SELECT FROM %I WHERE k = -%s', name, i), 'ANALYZE, TIMING OFF')
              #>> '{0,Plan,Lossy Heap Blocks}')::int
             - (SELECT tail_pages FROM bf_index_info(format('%s_k', name)::regclass)))
  FROM generate_series(1, 100) i
$$;
SELECT false_pages('gaps') < 1 AS few, abs(false_pages('gaps') - false_pages) < 1 AS known
FROM bf_index_info('gaps_k');
SELECT false_pages('steps') > 10 AS many, abs(false_pages('steps') - false_pages) < 4 AS known
FROM bf_index_info('steps_k');
RESET enable_seqscan;
RESET max_parallel_workers_per_gather;

-- Two of many ranges have far more values than the others. They do not make all filters large.
CREATE TABLE lone AS
SELECT CASE WHEN i <= 1000 THEN i ELSE i % 5 END AS k FROM generate_series(1, 40000) i;
CREATE INDEX lone_k ON lone USING bloompages (k) WITH (pages_per_range = 2);
SELECT pg_relation_size('lone_k') / 8192 < 6 AS small FROM bf_index_info('lone_k');
-- Nor does one such range make the filters of the next group large.
CREATE TABLE odd (k int);
CREATE INDEX odd_k ON odd USING bloompages (k) WITH (pages_per_range = 1);
INSERT INTO odd
SELECT CASE WHEN i / 226 = 5 THEN i ELSE -(i / 226) END FROM generate_series(0, 130 * 226) i;
SELECT pg_relation_size('odd_k') / 8192 < 14 AS small, ready > 64 AS two_groups
FROM bf_index_info('odd_k');
-- A build that may not keep the hashes of a whole group sizes its filters by those that it has.
CREATE TABLE thrifty AS SELECT i AS k FROM generate_series(1, 300000) i;
SET maintenance_work_mem = '1MB'; -- 131 072 hashes
CREATE INDEX thrifty_k ON thrifty USING bloompages (k) WITH (pages_per_range = 16);
RESET maintenance_work_mem;
SELECT bf_index_check('thrifty_k'), ranges > 80 AS many, false_pages < 5 AS few
FROM bf_index_info('thrifty_k');
-- So it does not know that most ranges will have fewer.
CREATE TABLE fewer AS
SELECT CASE WHEN i <= 145000 THEN i ELSE i % 100 END AS k FROM generate_series(1, 500000) i;
SET maintenance_work_mem = '1MB';
CREATE INDEX fewer_k ON fewer USING bloompages (k) WITH (pages_per_range = 64);
SELECT pg_relation_size('fewer_k') AS size \gset
RESET maintenance_work_mem;
REINDEX INDEX fewer_k;
SELECT :size > 3 * pg_relation_size('fewer_k') AS larger;

-- What is refused.
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN pairs AS pair[];
CREATE TYPE bit_range AS RANGE (subtype = varbit);
CREATE TABLE refused (p pair, ps pair[], pd pairs, g point, j json, b box[], k int, x xml,
  r bit_range);
SELECT outcome('CREATE INDEX ON refused USING bloompages (p)');
SELECT outcome('CREATE INDEX ON refused USING bloompages (ps)');
SELECT outcome('CREATE INDEX ON refused USING bloompages (pd)');
SELECT outcome('CREATE INDEX ON refused USING bloompages (g)');
SELECT outcome('CREATE INDEX ON refused USING bloompages (j)');
SELECT outcome('CREATE INDEX ON refused USING bloompages (b)');
SELECT outcome('CREATE INDEX ON refused USING bloompages (r)');
SELECT outcome('CREATE UNIQUE INDEX ON refused USING bloompages (k)');
SELECT outcome('CREATE INDEX ON refused USING bloompages (k) INCLUDE (x)');
SELECT outcome('CREATE INDEX ON refused USING bloompages (k DESC)');
SELECT outcome('ALTER TABLE refused ADD EXCLUDE USING bloompages (k WITH =)');
SELECT outcome('SELECT bf_index_info(''later'')');
SELECT outcome('SELECT bf_index_tidy(''events_id'')');
-- A stored generated column does what an index on an expression would.
ALTER TABLE refused ADD k1 int GENERATED ALWAYS AS (k + 1) STORED;
CREATE INDEX refused_k1 ON refused USING bloompages (k1);
INSERT INTO refused (k) SELECT generate_series(1, 5000);
VACUUM refused;
SELECT * FROM compared('SELECT count(*) FROM refused WHERE k1 = 4001');

-- The bytes of a row whose column was rolled back have another type than the column has now.
CREATE TABLE again (a int);
INSERT INTO again SELECT generate_series(1, 100);
BEGIN;
ALTER TABLE again ADD c int;
INSERT INTO again (c) SELECT 2147483644 FROM generate_series(1, 3000);
ROLLBACK;
ALTER TABLE again ADD c text;
CREATE INDEX again_c ON again USING bloompages (c);
INSERT INTO again (c) SELECT 'c' || i FROM generate_series(1, 3000) i;
SELECT * FROM compared('SELECT count(*) FROM again WHERE c = ''c2999''');
SELECT bf_index_tidy('again_c'), bf_index_check('again_c');
-- Columns that are dropped, and columns that have a value in rows from before.
ALTER TABLE again DROP a;
ALTER TABLE again ADD e int DEFAULT 12;
CREATE INDEX again_e ON again USING bloompages (e);
SELECT * FROM compared('SELECT count(*) FROM again WHERE e = 12');

-- Values stored out of line, compressed or not.
CREATE TABLE long (id int, v text);
ALTER TABLE long ALTER v SET STORAGE external;
INSERT INTO long SELECT i, repeat(md5(i::text), 300) FROM generate_series(1, 500) i;
INSERT INTO long SELECT i, repeat('abc' || i, 5000) FROM generate_series(501, 600) i;
ALTER TABLE long ALTER v SET STORAGE extended;
INSERT INTO long SELECT i, repeat('abc' || i, 5000) FROM generate_series(601, 1500) i;
CREATE INDEX long_v ON long USING bloompages (v) WITH (pages_per_range = 1);
SELECT * FROM compared('SELECT count(*) FROM long WHERE v = repeat(md5(''77''), 300)');
SELECT * FROM compared('SELECT count(*) FROM long WHERE v = repeat(''abc555'', 5000)');
SELECT * FROM compared('SELECT count(*) FROM long WHERE v = repeat(''abc1444'', 5000)');
DELETE FROM long WHERE id % 2 = 0;
SELECT bf_index_check('long_v');
-- A dead row is still in its page, but its TOAST data is gone. Nobody can see the row.
CREATE TABLE gone (id int, v text);
ALTER TABLE gone ALTER v SET STORAGE external;
CREATE INDEX gone_v ON gone USING bloompages (v)
  WITH (pages_per_range = 1, autosummarize = off);
INSERT INTO gone SELECT i, repeat(md5(i::text), 300) FROM generate_series(1, 500) i;
DELETE FROM gone WHERE id % 2 = 0;
SELECT reltoastrelid::regclass AS toast FROM pg_class WHERE oid = 'gone'::regclass \gset
VACUUM :toast;
SELECT bf_index_tidy('gone_v');
SELECT ready > 0 AS has_filters FROM bf_index_info('gone_v');
SELECT * FROM compared('SELECT count(*) FROM gone WHERE v = repeat(md5(''77''), 300)');
SELECT bf_index_check('gone_v');

-- All rows are dead, so nobody knows how many values the filters will get.
CREATE TABLE rolled_back (k int);
BEGIN;
INSERT INTO rolled_back SELECT generate_series(1, 50000);
ROLLBACK;
CREATE INDEX rolled_back_k ON rolled_back USING bloompages (k);
VACUUM rolled_back;
INSERT INTO rolled_back SELECT generate_series(1, 50000);
SELECT false_pages < 16 AS sized FROM bf_index_info('rolled_back_k');
SELECT bf_index_check('rolled_back_k');

-- Partitioned, temporary and unlogged tables; ALTER TYPE; CLUSTER and VACUUM FULL.
CREATE TABLE parts (id int, k int) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (5000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (5000) TO (10000);
CREATE INDEX parts_k ON parts USING bloompages (k);
INSERT INTO parts SELECT i, i * 3 FROM generate_series(0, 9999) i;
VACUUM ANALYZE parts;
SELECT * FROM compared('SELECT count(*) FROM parts WHERE k = 29997');
-- bf_index_check() and bf_index_tidy() work on the indexes of all partitions, bf_index_info() on
-- one.
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (10000) TO (40000) PARTITION BY RANGE (id);
CREATE TABLE parts_4 PARTITION OF parts_3 FOR VALUES FROM (10000) TO (30000);
ALTER INDEX parts_1_k_idx SET (autosummarize = off);
ALTER INDEX parts_4_k_idx SET (autosummarize = off);
INSERT INTO parts SELECT i % 30000, i FROM generate_series(10000, 34999) i;
CREATE VIEW parts_info AS SELECT relid, ready, ranges
FROM pg_partition_tree('parts_k') JOIN LATERAL bf_index_info(relid) info ON isleaf;
SELECT relid, ranges - ready AS unready FROM parts_info ORDER BY 1;
SELECT bf_index_tidy('parts_k');
SELECT relid, ranges - ready AS unready FROM parts_info ORDER BY 1;
SELECT bf_index_check('parts_k');
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'parts_4_k_idx'::regclass;
SELECT bf_index_check('parts_k');
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'parts_4_k_idx'::regclass;
SELECT bf_index_info('parts_k');
CREATE INDEX parts_btree ON parts (k);
SELECT bf_index_check('parts_btree');
SELECT bf_index_info('parts_btree');
SELECT outcome('SELECT bf_index_tidy(''parts_btree'')') AS tidy,
  outcome('SELECT bf_index_tidy(''parts'')') AS "of a table";
CREATE TEMP TABLE temporary (k int);
CREATE INDEX temporary_k ON temporary USING bloompages (k);
INSERT INTO temporary SELECT generate_series(1, 5000);
VACUUM temporary;
SELECT * FROM compared('SELECT count(*) FROM temporary WHERE k = 4321');
CREATE UNLOGGED TABLE unlogged (k int);
CREATE INDEX unlogged_k ON unlogged USING bloompages (k);
INSERT INTO unlogged SELECT generate_series(1, 5000);
VACUUM unlogged;
SELECT * FROM compared('SELECT count(*) FROM unlogged WHERE k = 4321');
ALTER TABLE unlogged ALTER k TYPE bigint;
SELECT * FROM compared('SELECT count(*) FROM unlogged WHERE k = 4321');
ALTER TABLE unlogged SET LOGGED;
VACUUM FULL unlogged;
SELECT * FROM compared('SELECT count(*) FROM unlogged WHERE k = 4321');
SELECT bf_index_check('unlogged_k');
-- text and varchar have one hash, so the index stays as it is.
CREATE TABLE retyped (s text);
CREATE INDEX retyped_s ON retyped USING bloompages (s);
INSERT INTO retyped SELECT 's' || i FROM generate_series(1, 5000) i;
VACUUM retyped;
ALTER TABLE retyped ALTER s TYPE varchar;
SELECT * FROM compared('SELECT count(*) FROM retyped WHERE s = ''s4000''');
SELECT * FROM compared('SELECT count(*) FROM retyped WHERE s = ''s4000''::char(9)');
CREATE INDEX CONCURRENTLY retyped_2 ON retyped USING bloompages (s);
REINDEX INDEX CONCURRENTLY retyped_s;
SELECT bf_index_check('retyped_s'), bf_index_check('retyped_2');

-- In a serializable transaction, pages after the end of a truncated table are not read.
CREATE TABLE shrinking (k int);
CREATE INDEX shrinking_k ON shrinking USING bloompages (k);
INSERT INTO shrinking SELECT generate_series(1, 20000);
VACUUM shrinking;
DELETE FROM shrinking WHERE k > 100;
VACUUM shrinking;
SELECT ranges, ready, tail_pages FROM bf_index_info('shrinking_k');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM compared('SELECT count(*) FROM shrinking WHERE k = 19999');
COMMIT;
INSERT INTO shrinking SELECT generate_series(30001, 50000);
SELECT * FROM compared('SELECT count(*) FROM shrinking WHERE k = 49999');
SELECT bf_index_check('shrinking_k');

-- A user's operator class, and what amvalidate() says of one without a hash function.
CREATE OPERATOR CLASS int4_again FOR TYPE int USING bloompages AS
  OPERATOR 1 = (int, int), FUNCTION 1 hashint4extended(int, bigint);
CREATE INDEX others_again ON moving USING bloompages (k int4_again);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'int4_again';
CREATE OPERATOR CLASS no_hash FOR TYPE int USING bloompages AS OPERATOR 1 = (int, int);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'no_hash';
SELECT outcome('CREATE INDEX ON moving USING bloompages (k no_hash)');
CREATE OPERATOR CLASS no_operator FOR TYPE int USING bloompages AS
  FUNCTION 1 hashint4extended(int, bigint);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'no_operator';
-- One that lacks the hash function of an operand. It is an error when the operand is hashed.
CREATE OPERATOR CLASS no_second_hash FOR TYPE int USING bloompages AS OPERATOR 1 = (int, int),
  OPERATOR 1 = (int, bigint), FUNCTION 1 hashint4extended(int, bigint);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'no_second_hash';
CREATE TABLE halved AS SELECT generate_series(1, 100) AS k;
CREATE INDEX halved_k ON halved USING bloompages (k no_second_hash);
SET enable_seqscan = off;
SELECT count(*) FROM halved WHERE k = 5;
SELECT outcome('SELECT count(*) FROM halved WHERE k = 5::bigint');
RESET enable_seqscan;
SELECT count(*) AS invalid FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE opcname NOT LIKE 'no\_%' AND CASE amname WHEN 'bloompages' THEN NOT amvalidate(c.oid) END;

-- No index reads a sample of a table, even if the table also has an index of another kind.
CREATE TABLE sampled AS SELECT i % 1000 AS k, repeat('s', 200) AS padding
FROM generate_series(1, 100000) i;
CREATE INDEX ON sampled USING bloompages (k);
CREATE INDEX ON sampled (k);
ANALYZE sampled;
SELECT plan_of('SELECT count(*) FROM sampled TABLESAMPLE bernoulli (10) WHERE k = 5')::text ~
  'Sample Scan' AS sampled;
