-- What is worked on. :rows is 10 000 000 unless one only tries; filters have the same size always.

CREATE EXTENSION :extension;
SELECT count(*) = 1 AS has_hll FROM pg_available_extensions WHERE name = 'hll' \gset
\if :has_hll
CREATE EXTENSION hll;
\endif

-- The floors of test/bench/nothing.c.
CREATE FUNCTION nothing_trans(internal, "any") RETURNS internal LANGUAGE c IMMUTABLE AS :'nothing';
CREATE FUNCTION nothing_trans(internal, "any", bigint) RETURNS internal LANGUAGE c IMMUTABLE
AS :'nothing';
CREATE FUNCTION nothing_final(internal) RETURNS bigint LANGUAGE c IMMUTABLE AS :'nothing';
CREATE AGGREGATE nothing_agg("any")
  (SFUNC = nothing_trans, STYPE = internal, FINALFUNC = nothing_final);
CREATE AGGREGATE nothing_agg("any", bigint)
  (SFUNC = nothing_trans, STYPE = internal, FINALFUNC = nothing_final);
CREATE FUNCTION nothing_contains(bloomfilter, "any") RETURNS boolean LANGUAGE c STRICT IMMUTABLE
AS :'nothing';

-- 0 ... :rows - 1, in no order that a sort or a cache could like.
CREATE UNLOGGED TABLE numbers AS
SELECT i * 618033989 % :rows AS x FROM generate_series(1, :rows::bigint) i;

-- URLs of some 50 bytes.
CREATE UNLOGGED TABLE urls AS
SELECT 'https://shop' || i % 997 || '.example.org/'
  || left(md5(i::text), 8 + i % 13) || '/' || i AS u
FROM generate_series(1, :rows / 2) i;

-- The million keys of the peers.
CREATE UNLOGGED TABLE keys AS SELECT x AS k FROM numbers WHERE x < 1000000;
CREATE INDEX ON keys (k);
CREATE UNLOGGED TABLE key_array AS SELECT array_agg(k) AS keys FROM keys;

-- A filter of `expected` values at 1 %, full up to 12 MB.
CREATE UNLOGGED TABLE filters AS
SELECT name, expected, pg_column_size(filter) AS bytes, filter
FROM (VALUES ('8 KB', 6600), ('120 KB', 100000), ('1.2 MB', 1000000), ('12 MB', 10000000),
  ('120 MB', 100000000)) sizes (name, expected),
  LATERAL (SELECT bf_agg(x, expected) AS filter FROM numbers WHERE x < expected) built;
ALTER TABLE filters ADD PRIMARY KEY (name);

-- What bf_union_agg is fed with.
CREATE UNLOGGED TABLE thousand AS
SELECT i, filter FROM filters, generate_series(1, 1000) i WHERE name = '120 KB';

CREATE UNLOGGED TABLE parts (x bigint) PARTITION BY HASH (x);
SELECT format('CREATE UNLOGGED TABLE part_%s PARTITION OF parts FOR VALUES WITH (modulus 64, remainder %1$s)', i)
FROM generate_series(0, 63) i \gexec
INSERT INTO parts SELECT x FROM numbers LIMIT :rows / 8;

-- What is updated is logged, as real tables are. A shard stays inline, and so on its page.
CREATE TABLE stored (name text PRIMARY KEY, filter bloomfilter);
INSERT INTO stored SELECT name, bf_create(expected) FROM filters WHERE expected <= 10000000;
CREATE TABLE shards (id int PRIMARY KEY, filter bloomfilter) WITH (fillfactor = 50);
INSERT INTO shards SELECT i, bf_create_by_size(29 * 512, 6) FROM generate_series(0, 999) i;
INSERT INTO filters SELECT 'shard', NULL, pg_column_size(filter), NULL FROM shards LIMIT 1;

-- Of several links: a million values that came by and by, and ones that two filters brought.
INSERT INTO filters
SELECT name, NULL, pg_column_size(filter), filter
FROM (
  SELECT 'grown from ' || start AS name,
    bf_add_all(bf_create(start, grow => true), keys) AS filter
  FROM key_array, unnest(ARRAY[10000, 1000000]) start
  UNION ALL
  SELECT 'union of two', (SELECT bf_agg(k, 500000) FROM keys WHERE k < 500000)
    | (SELECT bf_agg(k, 600000) FROM keys WHERE k >= 500000)) linked;
-- 60 filters that sized themselves.
CREATE UNLOGGED TABLE sixty AS
SELECT k % 60 AS i, bf_agg(k) AS filter FROM keys GROUP BY 1;

-- A million values in each type, and the counting filter of 1.2 MB.
CREATE UNLOGGED TABLE types AS
SELECT rate, bf_agg(k, 1000000, rate) AS bloom, cbf_agg(k, 1000000, rate) AS counting,
  cf_agg(k, 1000000, rate) AS cuckoo,
  cbf_agg(k, 250000, rate) FILTER (WHERE k < 250000) AS counting_quarter
FROM keys, unnest(ARRAY[0.01, 0.001, 0.0001]) rate GROUP BY rate;

-- The recipe of doc/streaming.md, for a million values and for ten million, filled so far that the
-- benchmark's own values leave them below capacity.
CREATE TABLE seen_1m (shard int PRIMARY KEY, filter bloomfilter NOT NULL) WITH (fillfactor = 50);
INSERT INTO seen_1m
SELECT bf_shard(v, 669), bf_agg(v, 1495) FROM generate_series(1, 200000::bigint) v GROUP BY 1;
ALTER TABLE seen_1m SET (fillfactor = 100);
CREATE TABLE seen_10m (LIKE seen_1m INCLUDING ALL) WITH (fillfactor = 50);
INSERT INTO seen_10m
SELECT bf_shard(v, 6685), bf_agg(v, 1496) FROM generate_series(1, 5000000::bigint) v GROUP BY 1;
ALTER TABLE seen_10m SET (fillfactor = 100);

-- Section urls: 10 * :rows URLs of 50 characters, the exact way beside a filter, and 1 % of the URLs
-- to ask for, in no order, as many new ones as known ones.
\if :urls
CREATE FUNCTION page(i bigint) RETURNS text IMMUTABLE LANGUAGE sql
AS $$ SELECT 'https://example.com/' || left(md5(i::text), 20) || '/' || lpad(i::text, 9, '0') $$;
CREATE UNLOGGED TABLE crawled AS SELECT page(i) AS url FROM generate_series(1, 10 * :rows::bigint) i;
CREATE INDEX crawled_url ON crawled (url);
CREATE UNLOGGED TABLE crawled_filter AS SELECT bf_agg(url, 10 * :rows::bigint) AS urls FROM crawled;
CREATE UNLOGGED TABLE links AS
SELECT page(i * 618033989 % (20 * :rows)) AS url FROM generate_series(1, :rows::bigint / 10) i;
\endif

VACUUM ANALYZE;
CHECKPOINT;
