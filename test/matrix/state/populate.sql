-- Fills a database with every kind of filter, in every way in which PostgreSQL stores values.
-- Upgrades, dumps, replicas and other processors must keep these filters. complete.sql lists what
-- the code knows but this database lacks, dump.sql prints what the database holds, and live.sql
-- changes it.
--
-- This file and the database's encoding determine every byte. The texts are made of letters of the
-- encoding.

\set QUIET 1
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
SET client_encoding = 'SQL_ASCII'; -- all of this file is ASCII
SET datestyle = ISO;
SET timezone = 'UTC';
SET bloomfilter.overfill = ignore;
CREATE SCHEMA ext;
CREATE EXTENSION bloomfilter SCHEMA ext;
SET search_path = public, ext;

-- --- values, computed from the integer i ---------------------------------------------------------

-- Letters beyond ASCII; SQL_ASCII knows only their bytes.
SELECT CASE getdatabaseencoding()
    WHEN 'UTF8' THEN $$U&'\03B1\03B2\03B3\00E9\65E5\+01F600'$$
    WHEN 'EUC_JP' THEN $$U&'\03B1\03B2\65E5\672C\8A9E\306E'$$
    WHEN 'SQL_ASCII' THEN $$E'\xe9\xff\x80abc'$$
    ELSE $$U&'\00E9\00FC\00DF\00F1\00C0\00FF'$$ END AS letters \gset
SELECT format('CREATE FUNCTION word(i int) RETURNS text LANGUAGE sql IMMUTABLE AS %L',
  format('SELECT concat(''word '', substr(%s, 1 + i %% 6, 1), i)', :'letters')) \gexec
CREATE TYPE mood AS ENUM ('sad', 'ok', :letters);
CREATE TYPE pair AS (a int, b text);
CREATE TYPE nested AS (p pair, l int[], m mood);
CREATE DOMAIN small AS int CHECK (VALUE < 1000000);

CREATE TEMP TABLE types (number serial, name text, value text);
INSERT INTO types (name, value) VALUES
  ('smallint', '(i % 30000)::smallint'),
  ('integer', 'i'),
  ('bigint', 'i::bigint * 1000000007'),
  ('domain', 'i::small'),
  ('real', '(i / 7.0)::real'),
  ('double precision', 'i / 7.0::float8'),
  ('numeric', 'i / 7.0'),
  ('text', 'word(i)'),
  ('varchar', 'word(i)::varchar'),
  ('varchar with blanks', $$(word(i) || ' ')::varchar$$),
  ('char(n)', 'word(i)::char(20)'),
  ('name', 'word(i)::name'),
  ('bytea', 'int4send(i)'),
  ('uuid', 'md5(i::text)::uuid'),
  ('boolean', 'i % 2 = 0'),
  ('"char"', '(i % 100)::"char"'),
  ('oid', 'i::oid'),
  ('date', $$date '2000-01-01' + i$$),
  ('timestamp', $$timestamp '2000-01-01' + make_interval(secs => i)$$),
  ('timestamptz', 'to_timestamp(i)'),
  ('time', $$time '00:00' + make_interval(secs => i)$$),
  ('timetz', $$(time '00:00' + make_interval(secs => i) || '+02')::timetz$$),
  ('interval', 'make_interval(secs => i)'),
  ('inet', $$inet '10.0.0.0' + i$$),
  ('cidr', $$network(set_masklen(inet '10.0.0.0' + i, 28))::cidr$$),
  ('macaddr', $$lpad(to_hex(i), 12, '0')::macaddr$$),
  ('macaddr8', $$lpad(to_hex(i), 16, '0')::macaddr8$$),
  ('jsonb', $$jsonb_build_object('n', i, word(i), jsonb_build_array(i / 8.0, NULL, true))$$),
  ('enum', '(enum_range(NULL::mood))[1 + i % 3]'),
  ('integer[]', 'ARRAY[i, NULL, i + 1]'),
  ('text[]', 'ARRAY[[word(i), NULL]]'),
  ('int4range', 'int4range(i, i + 5)'),
  ('numrange', $$numrange(i / 4.0, NULL, '()')$$),
  ('int4multirange', 'int4multirange(int4range(i, i + 5), int4range(i + 10, i + 15))'),
  ('composite', 'ROW(i, word(i))::pair'),
  ('nested', 'ROW(ROW(i, word(i))::pair, ARRAY[i], (enum_range(NULL::mood))[1 + i % 3])::nested'),
  ('record', 'ROW(i, i::text, i::numeric)');

-- --- filters -------------------------------------------------------------------------------------

-- members: each filter of a row holds the values of i from 1 to this number.
CREATE TABLE filters (id serial PRIMARY KEY, name text, members int, value text,
  f bloomfilter, c countingbloomfilter, k cuckoofilter);

-- Aggregates that a user could define, whose states begin with a filter.
SELECT format('CREATE AGGREGATE %s("any") (sfunc = %s, stype = %s, initcond = %L)',
  name, step, type, filter)
FROM (VALUES
  ('bf_grown', 'bf_add', 'bloomfilter', bf_create(100, 0.01, seed => 7, grow => true)::text),
  ('cbf_added', 'cbf_add', 'countingbloomfilter', cbf_create(1000, 0.01, -7)::text)) aggregates
  (name, step, type, filter) \gexec

CREATE TEMP TABLE forms (number serial, name text, members int, f text, c text, k text);
INSERT INTO forms (name, members, f, c, k) VALUES
  ('small', 10, 'bf_agg(%1$s, 10)', 'cbf_agg(%1$s, 10)', 'cf_agg(%1$s, 10)'),
  ('own', 3000, 'bf_agg(%1$s)', 'cbf_agg(%1$s)', 'cf_agg(%1$s)'),
  ('pages', 3000, 'bf_agg(%1$s, 3000, 0.0001)', 'cbf_agg(%1$s, 3000, 0.0001)',
    'cf_agg(%1$s, 3000, 0.0001)'),
  ('united', 3000, 'bf_agg(%1$s) FILTER (WHERE i <= 1000) | bf_agg(%1$s) FILTER (WHERE i > 1000)
      | bf_agg(%1$s, 5000, 0.0001) FILTER (WHERE i < 10)',
    'cbf_union(cbf_agg(%1$s, 4000) FILTER (WHERE i <= 1000),
      cbf_agg(%1$s, 4000) FILTER (WHERE i > 1000))',
    'cf_union(cf_agg(%1$s, 4000) FILTER (WHERE i <= 1000),
      cf_agg(%1$s, 4000) FILTER (WHERE i > 1000))'),
  ('grown', 1000, 'bf_grown(%1$s ORDER BY i)', 'cbf_added(%1$s ORDER BY i)', 'NULL');
SELECT format('INSERT INTO filters (name, members, value, f, c, k)
  SELECT %L, %s, %L, %s, %s, %s FROM generate_series(1, %2$s) i',
  t.name || ', ' || m.name, members, value, format(f, value), format(c, value),
  CASE WHEN t.name = 'varchar with blanks' THEN 'NULL' ELSE format(k, value) END) -- cf_agg refuses
FROM types t, forms m ORDER BY t.number, m.number \gexec

-- Other systems' layouts: filters of one size, unions of two sizes, and filters that were exported
-- to the system's form and imported again.
CREATE TEMP TABLE schemes (number serial, name text, type text, value text, system text,
  means text);
INSERT INTO schemes (name, type, value, system, means)
SELECT name || mitz32, type, value, 'guava', means
FROM unnest(ARRAY['', '_mitz32']) mitz32, (VALUES
  ('guava', 'bigint', 'i::bigint', 'long'),
  ('guava', 'text', 'word(i)', 'string_utf8'),
  ('guava', 'bytea', 'int4send(i)', 'bytes'),
  ('guava_integer', 'integer', 'i', 'integer'),
  ('guava_chars', 'text', 'word(i)', 'unencoded_chars')) funnels (name, type, value, means)
UNION ALL
SELECT name, type, value, 'parquet', means FROM (VALUES
  ('parquet', 'bigint', 'i::bigint', 'INT64'),
  ('parquet', 'double precision', 'i / 7.0::float8', 'DOUBLE'),
  ('parquet', 'timestamp', $$timestamp '2000-01-01' + make_interval(secs => i)$$, 'TIMESTAMP'),
  ('parquet', 'timestamptz', 'to_timestamp(i)', 'TIMESTAMPTZ'),
  ('parquet', 'time', $$time '00:00' + make_interval(secs => i)$$, 'TIME'),
  ('parquet', 'text', 'word(i)', 'BYTE_ARRAY'),
  ('parquet', 'bytea', 'int4send(i)', 'FIXED_LEN_BYTE_ARRAY'),
  ('parquet', 'uuid', 'md5(i::text)::uuid', 'UUID'),
  ('parquet_int32', 'integer', 'i', 'INT32'),
  ('parquet_int32', 'date', $$date '2000-01-01' + i$$, 'DATE'),
  ('parquet_float', 'real', '(i / 8.0)::real', 'FLOAT')) columns (name, type, value, means)
UNION ALL
SELECT name, type, value, 'spark', means
FROM unnest(ARRAY['spark', 'spark_v2']) name, (VALUES
  ('bigint', 'i::bigint', 'long'),
  ('text', 'word(i)', 'string'),
  ('bytea', 'int4send(i)', 'binary')) puts (type, value, means)
UNION ALL
SELECT system, type, value, system, means FROM unnest(ARRAY['datasketches', 'hive']) system, (VALUES
  ('bigint', 'i::bigint', 'long'),
  ('double precision', 'i / 7.0::float8', 'double'),
  ('text', 'word(i)', 'string'),
  ('bytea', 'int4send(i)', 'bytes')) updates (type, value, means)
UNION ALL
SELECT 'redis', type, value, 'redis', NULL FROM (VALUES
  ('bigint', 'i::bigint'),
  ('text', 'word(i)'),
  ('bytea', 'int4send(i)')) adds (type, value);

CREATE FUNCTION pg_temp.imported(filter bloomfilter, system text, means text) RETURNS bloomfilter
LANGUAGE sql AS $$
  SELECT CASE system WHEN 'guava' THEN bf_from_guava(bf_to_guava(filter), means)
    WHEN 'parquet' THEN bf_from_parquet(bf_to_parquet(filter), means)
    WHEN 'spark' THEN bf_from_spark(bf_to_spark(filter), means)
    WHEN 'hive' THEN bf_from_hive(bf_to_hive(filter), means)
    WHEN 'datasketches' THEN bf_from_datasketches(bf_to_datasketches(filter), means)
    WHEN 'redis' THEN (SELECT bf_from_redis(header, chunks) FROM bf_to_redis(filter)) END
$$;
SELECT format('INSERT INTO filters (name, f) VALUES (%L, bf_create(10, layout => %L))',
  'layout ' || name || ', empty', name)
FROM schemes GROUP BY name ORDER BY min(number) \gexec
SELECT format('INSERT INTO filters (name, members, value, f)
  SELECT %L || form, 3000, %L, f FROM (
    SELECT bf_agg(%2$s, 3000, 0.01, %3$L) AS whole,
      bf_agg(%2$s, 1000, 0.01, %3$L) FILTER (WHERE i <= 1000) AS low,
      bf_agg(%2$s, 2000, 0.001, %3$L) FILTER (WHERE i > 1000) AS high
    FROM generate_series(1, 3000) i OFFSET 0) s,
  LATERAL (VALUES (1, %4$L, whole), (2, %5$L, low | high),
    (3, %6$L, pg_temp.imported(low, %7$L, %8$L) | pg_temp.imported(high, %7$L, %8$L)))
    forms (number, form, f) ORDER BY number',
  format('layout %s, %s', name, type), value, name, '', ', united', ', imported', system, means)
FROM schemes ORDER BY number \gexec

-- Special filters. Some exist in one type only.
INSERT INTO filters (name, f, c, k) VALUES
  ('empty', bf_create(10), cbf_create(10), cf_create(10)),
  ('cleared', bf_clear(bf_create(10) + 5), cbf_clear(cbf_create(10) + 5),
    cf_clear(cf_create(10) + 5)),
  ('emptied', NULL, cbf_create(10) + 5 - 5, cf_create(10) + 5 - 5),
  ('growing, empty', bf_create(10, grow => true), NULL, NULL),
  ('hash', bf_add_hash(bf_create(10), 42), NULL, NULL);
INSERT INTO filters (name, f, c, k)
SELECT 'no rows', bf_agg(i), cbf_agg(i), cf_agg(i) FROM generate_series(1, 0) i
UNION ALL
SELECT 'no rows, sized', bf_agg(i, 1000), cbf_agg(i, 1000), cf_agg(i, 1000)
FROM generate_series(1, 0) i;
INSERT INTO filters (name, members, value, f)
SELECT name, 1000, 'i', f FROM (
  SELECT bf_agg(i, 100000) AS sized, bf_agg(i, 10000) AS one,
    bf_agg(i, 10000) FILTER (WHERE i <= 1000) AS another, array_agg(i) AS all_of_them
  FROM generate_series(1, 2000) i OFFSET 0) s,
  LATERAL (VALUES (1, 'folded', bf_fold(sized, 20000)),
    (2, 'growable', bf_growable(sized)),
    (3, 'intersection', one & another),
    (4, 'intersection, united', (one & another) | sized),
    (5, 'by size', bf_add_all(bf_create_by_size(100000, 7, 99), all_of_them)),
    (6, 'spark_v2 with a seed',
      bf_add_all(bf_create(2000, 0.01, seed => -42, layout => 'spark_v2'), all_of_them)),
    (7, 'datasketches with a seed, uncounted',
      bf_add_all(bf_from_datasketches('\x040115000700000029d6ffffffffffff0f00000000000000'
        || decode(repeat('ff', 8) || repeat('00', 120), 'hex'), 'long'), all_of_them)))
    forms (number, name, f) ORDER BY number;
INSERT INTO filters (name, members, value, c, k)
SELECT 'removed', 1000, 'i', cbf_agg(i) - 1001, cf_agg(i) - 1001 FROM generate_series(1, 1001) i;
INSERT INTO filters (name, members, value, c)
SELECT 'saturated', 100, 'i', cbf_agg(i) FROM generate_series(1, 100) i, generate_series(1, 20);
INSERT INTO filters (name, members, value, k) -- nearly full
SELECT 'kicked', 1000, 'i', cf_add_all(cf_create(1000), array_agg(i))
FROM generate_series(1, 1000) i;
INSERT INTO filters (name, members, value, f, c, k)
SELECT '12 MB', 1000, 'i', bf_agg(i, 10000000), cbf_agg(i, 3000000), cf_agg(i, 10000000)
FROM generate_series(1, 1000) i;
ALTER TABLE filters ALTER f SET STORAGE EXTENDED, ALTER c SET STORAGE EXTENDED,
  ALTER k SET STORAGE EXTENDED;
INSERT INTO filters (name, members, value, f, c, k)
SELECT 'compressed', 1000, 'i', bf_agg(i, 10000000), cbf_agg(i, 1000000), cf_agg(i, 1000000)
FROM generate_series(1, 1000) i;
ALTER TABLE filters ALTER f SET STORAGE EXTERNAL, ALTER c SET STORAGE MAIN;

-- --- partial states and elements -----------------------------------------------------------------

CREATE TABLE partials (id serial PRIMARY KEY, name text, members int, value text, p bf_partial);
INSERT INTO partials (name, p)
SELECT 'empty', bf_partial_agg(bf_element_of(NULL::int)) FROM generate_series(1, 1);
INSERT INTO partials (name, p)
SELECT 'no rows', bf_partial_agg(bf_element_of(i), 1000) FROM generate_series(1, 0) i;
SELECT format('INSERT INTO partials (name, members, value, p)
  SELECT %L, %s, %L, bf_partial_agg(bf_element_of(%3$s)%4$s) FROM generate_series(1, %2$s) i',
  name || form, members, value, sized)
FROM types, (VALUES (1, ', own', 100, ''), (2, ', hashes', 10, ', 3000'),
  (3, ', bitmap', 3000, ', 3000')) forms (nth, form, members, sized) ORDER BY number, nth \gexec

CREATE TABLE elements (name text, i int, e bf_element, PRIMARY KEY (name, i));
SELECT format('INSERT INTO elements SELECT %L, i, bf_element_of(%s) FROM generate_series(1, 10) i',
  name, value)
FROM types ORDER BY number \gexec
CREATE INDEX elements_e ON elements USING hash (e);

-- --- streams -------------------------------------------------------------------------------------

CREATE TABLE seen (shard int PRIMARY KEY, filter bloomfilter NOT NULL DEFAULT bf_create(1495))
  WITH (fillfactor = 50);
INSERT INTO seen SELECT shard FROM generate_series(0, 99) shard;
CREATE TABLE pages (url text);
CREATE FUNCTION remember_pages() RETURNS trigger LANGUAGE plpgsql
SET search_path = public, ext AS $$
BEGIN
  INSERT INTO seen AS s
  SELECT bf_shard(url, 100), bf_agg(url, 1495) FROM added GROUP BY 1 ORDER BY 1
  ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter
    WHERE s.filter <> s.filter | excluded.filter;
  RETURN NULL;
END $$;
CREATE TRIGGER remember_pages AFTER INSERT ON pages REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION remember_pages();
INSERT INTO pages SELECT 'https://example.com/' || word(i) FROM generate_series(1, 20000) i;

-- A set and its functions.
SELECT bf_create_set('clicked', 'text', 20000, 0.001);
SELECT clicked_add_all(array(SELECT word(i) FROM generate_series(1, 5000) i)),
  clicked_add(word(5001));
-- One that has grown, and one that forgets. Its time does not pass while this is tested.
SELECT bf_create_set('visited', 'text', 100);
SELECT visited_add_all(array(SELECT word(i) FROM generate_series(1, 5000) i));
SELECT bf_create_set('lately', 'text', 20000, keep => '10 years');
SELECT lately_add_all(array(SELECT word(i) FROM generate_series(1, 5000) i));

-- --- other places --------------------------------------------------------------------------------

CREATE DOMAIN sound AS bloomfilter CHECK (bf_check(VALUE) IS NULL) DEFAULT bf_create(100);
CREATE TYPE holder AS (f bloomfilter, c countingbloomfilter, k cuckoofilter);
CREATE TABLE places (id int PRIMARY KEY, gone bloomfilter, d sound, h holder, l bloomfilter[],
  late cuckoofilter[], count float8 GENERATED ALWAYS AS (bf_count(d)) STORED, CHECK (d @> 1));
INSERT INTO places (id, gone, d, h, l) VALUES (1, bf_create(10), bf_create(100) + 1,
  (bf_create(10) + 2, cbf_create(10) + 3, cf_create(10) + 4),
  ARRAY[bf_create(10) + 5, NULL, bf_create(10) + 'x'::text]);
ALTER TABLE places DROP gone;
ALTER TABLE places ADD new countingbloomfilter NOT NULL DEFAULT cbf_create(10) + 7;

CREATE TABLE keyed (id int, f bloomfilter UNIQUE, c countingbloomfilter, k cuckoofilter,
  EXCLUDE (k WITH =));
INSERT INTO keyed SELECT i, bf_create(10) + i, cbf_create(10) + i, cf_create(10, 1e-9) + i
FROM generate_series(1, 1000) i;
CREATE UNIQUE INDEX keyed_both ON keyed (c, f) INCLUDE (id);
CREATE INDEX keyed_7 ON keyed (id) WHERE f @> 7;
CREATE TABLE hashed AS SELECT * FROM keyed;
CREATE INDEX hashed_f ON hashed USING hash (f);
CREATE INDEX hashed_c ON hashed USING hash (c);
CREATE INDEX hashed_k ON hashed USING hash (k);
CREATE UNIQUE INDEX filters_sha ON filters (sha256(f::bytea), id);
CREATE INDEX filters_count ON filters (bf_count(f)) WHERE f IS NOT NULL;

-- Rows of these indexes are in groups, wait in the list for more rows, or can never be in a group.
CREATE TABLE segments (id int PRIMARY KEY, f bloomfilter, c countingbloomfilter);
INSERT INTO segments SELECT id, f, c FROM keyed;
CREATE INDEX segments_f ON segments USING bloomfilter (f) WITH (list_limit = 500);
CREATE INDEX segments_c ON segments USING bloomfilter (c);
INSERT INTO segments SELECT i, bf_create(20) + i, cbf_create(20) + i
FROM generate_series(2001, 2100) i;
INSERT INTO segments VALUES (3001, (bf_create(10) + 7) | (bf_create(100) + 8), NULL),
  (3002, bf_create(10, grow => true) + 7, NULL), (3003, bf_create(10, layout => 'guava') + 7, NULL);

-- Some ranges of heap pages have filters from the build, some from INSERT, and the last has none.
CREATE TABLE requests (id int PRIMARY KEY, trace uuid, host text, m mood, tags text[]);
INSERT INTO requests
SELECT i, md5(i::text)::uuid, word(i), enum_first(NULL::mood), ARRAY[word(i), NULL]
FROM generate_series(1, 10000) i;
CREATE INDEX requests_pages ON requests USING bloompages (host, m, tags);
CREATE INDEX requests_fixed ON requests USING bloompages (trace)
WITH (pages_per_range = 3, fpr = 0.001, autosummarize = off);
INSERT INTO requests SELECT i, md5(i::text)::uuid, word(i), NULL, ARRAY[word(i)]
FROM generate_series(10001, 15000) i;
UPDATE requests SET m = enum_last(NULL::mood) WHERE id = 77;

CREATE TABLE parted (f bloomfilter, id int) PARTITION BY HASH (f);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT bf_create(10) + i, i FROM generate_series(1, 500) i;
CREATE TABLE listed (k cuckoofilter, id int) PARTITION BY LIST (k);
SELECT format('CREATE TABLE listed_1 PARTITION OF listed FOR VALUES IN (%L)', cf_create(10) + 1)
\gexec
CREATE TABLE listed_others PARTITION OF listed DEFAULT;
INSERT INTO listed SELECT cf_create(10) + i, i FROM generate_series(1, 3) i;

CREATE MATERIALIZED VIEW materialised AS
  SELECT members, bf_union_agg(f) AS f, cbf_union_agg(c) AS c, count(*) AS filters FROM filters
  WHERE name IN ('integer, own', 'bigint, own', 'integer, small', 'bigint, small') GROUP BY members;
CREATE UNIQUE INDEX materialised_members ON materialised (members);
CREATE INDEX materialised_f ON materialised USING hash (f);
CREATE VIEW asked AS
  SELECT i, (SELECT f FROM filters WHERE name = 'integer, own') @> i AS found,
    '7' <@ (SELECT f FROM filters WHERE name = 'integer, own') AS literal
  FROM generate_series(1, 4000) i;
CREATE FUNCTION probe(x int) RETURNS boolean LANGUAGE sql STABLE
BEGIN ATOMIC
  SELECT f @> x FROM filters WHERE name = 'integer, pages';
END;
CREATE FUNCTION with_default(x int, filter bloomfilter DEFAULT bf_create(10) + 5) RETURNS boolean
LANGUAGE sql AS 'SELECT $2 OPERATOR(ext.@>) $1';
CREATE AGGREGATE united(bloomfilter) (sfunc = bf_union, stype = bloomfilter, combinefunc = bf_union,
  parallel = safe);
CREATE TABLE watched (id int PRIMARY KEY, f bloomfilter, c countingbloomfilter, k cuckoofilter,
  CHECK (f::bytea IS DISTINCT FROM c::bytea));
INSERT INTO watched SELECT * FROM keyed WHERE id <= 3;
CREATE TABLE changes (id int, what text);
CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO public.changes VALUES (NEW.id, TG_NAME);
  RETURN NULL;
END $$;
CREATE TRIGGER changed_filter AFTER UPDATE ON watched FOR EACH ROW
  WHEN (OLD.f::bytea IS DISTINCT FROM NEW.f::bytea) EXECUTE FUNCTION note_change();
CREATE TRIGGER changed_row AFTER UPDATE ON watched FOR EACH ROW
  WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION note_change();
CREATE VIEW compared AS
  SELECT a.id AS a, b.id AS b, a.f IN (b.f) AS same, a.* IS DISTINCT FROM b.* AS other_row,
    (a.f, a.id) = (b.f, b.id) AS same_fields,
    CASE WHEN a.k = b.k THEN NULL ELSE a.id END AS or_null,
    GREATEST(a.c, b.c)::bytea IS DISTINCT FROM a.c::bytea AS greater
  FROM watched a, watched b;
CREATE TABLE private (word text, readers bloomfilter);
INSERT INTO private SELECT word(i), bf_create(10) + i FROM generate_series(1, 3) i;
ALTER TABLE private ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY readers ON private USING (readers @> 2);
CREATE RULE forget AS ON DELETE TO seen DO INSTEAD
  UPDATE seen SET filter = bf_clear(filter) WHERE shard = OLD.shard;
CREATE TABLE counted (v int, f bloomfilter);
INSERT INTO counted SELECT i % 5, bf_create(10) + i % 5 FROM generate_series(1, 1000) i;
CREATE STATISTICS counted_both (mcv, ndistinct) ON v, f FROM counted;
ANALYZE;
