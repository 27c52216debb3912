-- Makes the data of the benchmark. :rows is 10 000 000, or less for a quick try. Filters have the
-- same sizes in any case.

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

-- The numbers 0 ... n - 1 for small n. No n has a factor in common with 618033989, the multiplier
-- that shuffles the numbers.
SELECT format('CREATE UNLOGGED TABLE some_%s AS SELECT i * 618033989 %% %1$s AS x FROM generate_series(1, %1$s::bigint) i', n)
FROM unnest(ARRAY[100, 1000, 2000, 10000, 60000, 130000, 200000, 1000000]) n \gexec

-- The numbers 0 ... :rows - 1, in an order that helps neither a sort nor a cache.
CREATE UNLOGGED TABLE numbers AS
SELECT i * 618033989 % :rows AS x FROM generate_series(1, :rows::bigint) i;

-- The same numbers, with a column of 7 different values and a column of 10 000.
CREATE UNLOGGED TABLE kinds AS SELECT x, (x % 7)::int AS kind, (x / (:rows / 10000))::int AS file FROM numbers;
CREATE UNLOGGED TABLE kinds_by_file AS SELECT * FROM kinds ORDER BY file;

-- URLs of some 50 bytes.
CREATE UNLOGGED TABLE urls AS
SELECT 'https://shop' || i % 997 || '.example.org/'
  || left(md5(i::text), 8 + i % 13) || '/' || i AS u
FROM generate_series(1, :rows / 2) i;

-- A million keys, for the peers.
CREATE UNLOGGED TABLE keys AS SELECT x AS k FROM numbers WHERE x < 1000000;
CREATE INDEX ON keys (k);
CREATE UNLOGGED TABLE key_array AS SELECT array_agg(k) AS keys FROM keys;

-- Arrays of values to probe for. Half of the values are in the filter.
CREATE UNLOGGED TABLE asked AS
SELECT items, array_agg(i * 618033989 % 2000000) AS bigints, array_agg(u || left('?', (i % 2)::int)) AS texts
FROM (SELECT u, row_number() OVER () AS i FROM urls LIMIT 10000) known
  JOIN unnest(ARRAY[10, 100, 1000, 10000]) items ON i <= items
GROUP BY items;

-- Filters for `expected` values at 1 %. The filters of up to 12 MB are full.
CREATE UNLOGGED TABLE filters AS
SELECT name, expected, pg_column_size(filter) AS bytes, filter
FROM (VALUES ('8 KB', 6600), ('120 KB', 100000), ('1.2 MB', 1000000), ('12 MB', 10000000),
  ('120 MB', 100000000)) sizes (name, expected),
  LATERAL (SELECT bf_agg(x, expected) AS filter FROM numbers WHERE x < expected) built;
ALTER TABLE filters ADD PRIMARY KEY (name);
-- Two more filters: one that is hit as rarely by `numbers` as the filter of 120 KB, and one of
-- text.
INSERT INTO filters
SELECT '12 MB, few hits', NULL::int, pg_column_size(filter), filter
FROM (SELECT bf_agg(x + (:rows * 0.99)::bigint, 10000000) AS filter FROM numbers) few
UNION ALL
SELECT '1.2 MB of text', NULL, pg_column_size(filter), filter
FROM (SELECT bf_agg(u, 1000000) AS filter FROM (SELECT u FROM urls LIMIT 1000000) known) texts;

-- The input of bf_union_agg.
CREATE UNLOGGED TABLE thousand AS
SELECT i, filter FROM filters, generate_series(1, 1000) i WHERE name = '120 KB';

CREATE UNLOGGED TABLE parts (x bigint) PARTITION BY HASH (x);
SELECT format('CREATE UNLOGGED TABLE part_%s PARTITION OF parts FOR VALUES WITH (modulus 64, remainder %1$s)', i)
FROM generate_series(0, 63) i \gexec
INSERT INTO parts SELECT x FROM numbers LIMIT :rows / 8;

-- Tables that are updated are logged, as real tables are. A shard is stored inline, not as TOAST.
CREATE TABLE stored (name text PRIMARY KEY, filter bloomfilter);
INSERT INTO stored SELECT name, bf_create(expected) FROM filters WHERE expected <= 10000000;
CREATE TABLE shards (id int PRIMARY KEY, filter bloomfilter) WITH (fillfactor = 50);
INSERT INTO shards SELECT i, bf_create_by_size(29 * 512, 6) FROM generate_series(0, 999) i;
INSERT INTO filters SELECT 'shard', NULL, pg_column_size(filter), NULL FROM shards LIMIT 1;

-- Filters of several links: filters that grew to a million values, and unions of filters.
INSERT INTO filters
SELECT name, NULL, pg_column_size(filter), filter
FROM (
  SELECT 'grown from ' || start AS name,
    bf_add_all(bf_create(start, grow => true), keys) AS filter
  FROM key_array, unnest(ARRAY[10000, 1000000]) start
  UNION ALL
  SELECT 'union of two', (SELECT bf_agg(k, 500000) FROM keys WHERE k < 500000)
    | (SELECT bf_agg(k, 600000) FROM keys WHERE k >= 500000)
  UNION ALL
  SELECT 'union of 64', bf_union_agg(filter)
  FROM (SELECT bf_agg(k) AS filter FROM keys GROUP BY k % 64) sized) linked;
-- Self-sized filters: 60 with the same number of values, 100 with similar numbers of values.
CREATE UNLOGGED TABLE sixty AS
SELECT k % 60 AS i, bf_agg(k) AS filter FROM keys GROUP BY 1;
CREATE UNLOGGED TABLE alike AS
SELECT i, bf_agg(k) AS filter FROM keys, generate_series(0, 99) i WHERE k < 50000 + 1000 * i GROUP BY i;

-- A filter of a million values in each type, and a counting filter of a quarter of the values,
-- which has 1.2 MB at 1 %.
CREATE UNLOGGED TABLE types AS
SELECT rate, bf_agg(k, 1000000, rate) AS bloom, cbf_agg(k, 1000000, rate) AS counting,
  cf_agg(k, 1000000, rate) AS cuckoo,
  cbf_agg(k, 250000, rate) FILTER (WHERE k < 250000) AS counting_quarter
FROM keys, unnest(ARRAY[0.01, 0.001, 0.0001]) rate GROUP BY rate;

-- The table of shards of doc/streaming.md, for a million values and for ten million. The shards
-- have room for the values that the benchmark adds. Eight sessions have a table of their own,
-- because they leave dead tuples.
CREATE TABLE seen_1m (shard int PRIMARY KEY, filter bloomfilter NOT NULL) WITH (fillfactor = 50);
INSERT INTO seen_1m
SELECT bf_shard(v, 669), bf_agg(v, 1495) FROM generate_series(1, 200000::bigint) v GROUP BY 1;
ALTER TABLE seen_1m SET (fillfactor = 100);
CREATE TABLE seen_10m (LIKE seen_1m INCLUDING ALL) WITH (fillfactor = 50);
INSERT INTO seen_10m
SELECT bf_shard(v, 6685), bf_agg(v, 1496) FROM generate_series(1, 5000000::bigint) v GROUP BY 1;
ALTER TABLE seen_10m SET (fillfactor = 100);
CREATE TABLE seen_8 (LIKE seen_1m INCLUDING ALL) WITH (fillfactor = 50);
INSERT INTO seen_8 TABLE seen_1m;
ALTER TABLE seen_8 SET (fillfactor = 100);
-- The same, made by bf_create_set(), which older builds do not have.
SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'bf_create_set') AS has_sets \gset
\if :has_sets
SELECT bf_create_set('set_1m', 'bigint', 1e6);
SELECT set_1m_add_all(array(SELECT generate_series(1, 200000::bigint)));
SELECT bf_create_set('set_8', 'bigint', 1e6);
SELECT set_8_add_all(array(SELECT generate_series(1, 200000::bigint)));
SELECT bf_create_set('set_10m', 'bigint', 1e7);
SELECT set_10m_add_all(array(SELECT generate_series(1, 5000000::bigint)));
-- Sets that have grown tenfold and a hundredfold to a million values, and one that forgets.
SELECT count(*) = 1 AS has_growing FROM pg_proc WHERE proname = 'bf_generation' \gset
\if :has_growing
SELECT bf_create_set('set_grown_10', 'bigint', 1e5), bf_create_set('set_grown_100', 'bigint', 1e4),
  bf_create_set('set_lately', 'bigint', 1e6, keep => '7 days');
SELECT set_grown_10_add_all(v), set_grown_100_add_all(v)
FROM (SELECT array_agg(i) AS v FROM generate_series(1, 1000000::bigint) i GROUP BY i / 100000) a;
SELECT set_lately_add_all(array(SELECT generate_series(1, 50000::bigint)));
\endif
\endif

-- Section scan: a table of wide rows, a table that is read from disk, and hashes as keys. One table
-- has a million of these keys, another has them with an index. A third one has :rows keys, and one
-- in a hundred of them is in `hashed`.
\if :scan
CREATE UNLOGGED TABLE wide AS
SELECT i, 'some text ' || i AS a, i::numeric / 7 AS b, now() AS c, x, md5(i::text) AS d, i AS e, i AS f
FROM (SELECT x, row_number() OVER () AS i FROM numbers LIMIT :rows / 5) n;
CREATE UNLOGGED TABLE cold AS SELECT x, repeat('x', 200) AS rest FROM numbers LIMIT :rows / 2;
CREATE UNLOGGED TABLE hashed AS SELECT hashint8extended(x, 1) AS x FROM numbers;
CREATE UNLOGGED TABLE hashed_keys AS SELECT hashint8extended(k, 1) AS k FROM keys;
CREATE UNLOGGED TABLE hashed_indexed AS TABLE hashed_keys;
CREATE INDEX ON hashed_indexed (k);
CREATE UNLOGGED TABLE hashed_strangers AS
SELECT hashint8extended(x + (:rows * 0.99)::bigint, 1) AS k FROM numbers;
INSERT INTO filters
SELECT '120 MB, few hits', NULL, pg_column_size(filter), filter
FROM (SELECT bf_agg(x + (:rows * 0.99)::bigint, 100000000) AS filter FROM numbers) few;
\endif

-- Section joins: a million keys, with a column for conditions that keep some of them. In the table
-- joining_N, N percent of the rows join a key.
\if :joins
CREATE UNLOGGED TABLE joined AS SELECT k, (k % 100)::int AS percentile FROM keys;
SELECT format('CREATE UNLOGGED TABLE joining_%s AS SELECT CASE WHEN %2$s > %3$s THEN x * (%2$s / %3$s) '
  'ELSE x %% %2$s END AS x FROM numbers', percent, 100000000 / percent, :rows)
FROM unnest(ARRAY[1, 10, 50, 100]) percent \gexec

-- Sales of five years, in the order of the days, and a calendar of 200 years. Some items and
-- customers are sold or buy much more often than others.
CREATE UNLOGGED TABLE calendar AS
SELECT i AS day, 1900 + i / 365 AS year, i / 30 % 12 + 1 AS month FROM generate_series(0, 72999) i;
CREATE UNLOGGED TABLE items AS
SELECT i AS item, i % 10 AS category, i % 1000 AS brand FROM generate_series(1, 18000) i;
CREATE UNLOGGED TABLE customers AS
SELECT i AS customer, i % 7 AS status, i % 70 AS education FROM generate_series(1, :rows / 20) i;
CREATE UNLOGGED TABLE sales AS
SELECT 36500 + i * 1825 / :rows AS day, (1 + 18000 * random() ^ 3)::int AS item,
  (1 + :rows / 20 * random() ^ 2)::int AS customer, (random() * 1000)::int AS price, repeat('x', 60) AS padding
FROM generate_series(1, :rows::bigint) i;
ALTER TABLE calendar ADD PRIMARY KEY (day);
ALTER TABLE items ADD PRIMARY KEY (item);
ALTER TABLE customers ADD PRIMARY KEY (customer);
VACUUM ANALYZE calendar, items, customers, sales;
\endif

-- Section directory: many filters of 1000 and of 10 000 values, most of them distinct, and 10 000
-- self-sized filters of 500 to 5000 values. Also a table with as many bytes, for a hash index.
\if :directory
CREATE TABLE many AS
SELECT id, (SELECT bf_agg(id * 1000 + i, 1000) FROM generate_series(1, 1000::bigint) i) AS filter
FROM generate_series(1, 100000) id;
CREATE TABLE many_1000 AS SELECT * FROM many WHERE id <= 1000;
CREATE INDEX ON many_1000 (id);
CREATE TABLE many_10000 AS SELECT * FROM many WHERE id <= 10000;
CREATE TABLE large_10000 AS
SELECT id, (SELECT bf_agg(id * 10000 + i, 10000) FROM generate_series(1, 10000::bigint) i) AS filter
FROM generate_series(1, 10000) id;
CREATE TABLE large AS
SELECT id + 10000 * copy AS id, filter | bf_clear(filter) AS filter
FROM large_10000, generate_series(0, 9) copy;
CREATE TABLE sized AS
SELECT id, (SELECT bf_agg(id * 10000 + i) FROM generate_series(1, 500 + id * 6131::bigint % 4500) i) AS filter
FROM generate_series(1, 10000) id;
CREATE TABLE as_many_bytes AS
SELECT i FROM generate_series(1, (SELECT sum(pg_column_size(filter)) / 36 FROM many)) i;
SELECT format('CREATE INDEX ON %I USING bloomfilter (filter)', name)
FROM unnest('{many, many_1000, many_10000, large, large_10000, sized}'::text[]) name \gexec
CREATE TABLE inserted (id bigint, filter bloomfilter);
CREATE TABLE inserted_indexed (LIKE inserted);
CREATE INDEX ON inserted_indexed USING bloomfilter (filter);
CREATE TABLE vacuumed (LIKE inserted);
CREATE TABLE vacuumed_indexed (LIKE inserted);
CREATE INDEX ON vacuumed_indexed USING bloomfilter (filter);
\endif

-- Sections columns, columns_large and inside. The planner sees only one index of a table at a time.
-- The others stay as they are.
CREATE PROCEDURE show_index(shown text) LANGUAGE sql AS $$
  UPDATE pg_index SET indisvalid = (indexrelid = to_regclass(shown))
  WHERE indrelid = (SELECT indrelid FROM pg_index WHERE indexrelid = to_regclass(shown));
  DISCARD PLANS; -- because changing this row makes no plan invalid
$$;

SELECT :columns OR :columns_large AS any_columns \gset
\if :any_columns
CREATE EXTENSION bloom;
-- contrib/bloom has no opclasses for these types of its own.
CREATE OPERATOR CLASS uuid_ops DEFAULT FOR TYPE uuid USING bloom AS
  OPERATOR 1 =, FUNCTION 1 uuid_hash(uuid);
CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE bigint USING bloom AS
  OPERATOR 1 =, FUNCTION 1 hashint8(bigint);

CREATE TABLE index_kinds (number int, kind text, definition text, pages int);
INSERT INTO index_kinds
SELECT number, format('BRIN bloom, %s pages, %s %%', pages, trim_scale(100 * rate)),
  format('brin ({} {type}_bloom_ops(false_positive_rate=%s, n_distinct_per_range={distinct})) WITH (pages_per_range=%s)',
    rate, pages), pages
FROM (VALUES (3, 96, 0.01), (4, 32, 0.001), (5, 16, 0.0001)) settings (number, pages, rate)
UNION ALL VALUES (1, 'btree', 'btree ({})', 0), (2, 'hash', 'hash ({})', 0), (6, 'contrib/bloom', 'bloom ({})', 0),
  (7, 'bloompages', 'bloompages ({})', 0);
-- Returns what follows USING for an index on columns of a type. BRIN has to be told the number of
-- distinct values in a range.
CREATE FUNCTION definition(of_kind index_kinds, columns text, type text, rows_of_page int) RETURNS text LANGUAGE sql AS $$
  SELECT replace(replace(replace((of_kind).definition, '{}', columns), '{type}', type),
    '{distinct}', ((of_kind).pages * rows_of_page)::text);
$$;

-- Returns the statement that makes a procedure which looks for `times` values of a column, each in
-- a statement of its own that was planned before. It looks for all of them twice and measures the
-- second time, when their pages are in the server's buffers. If `is_cold`, it does so only once.
CREATE FUNCTION finder(of_table text, of_column text, type text) RETURNS text LANGUAGE sql AS $f$
  SELECT format($q$CREATE PROCEDURE find_%1$s_%2$s(index text, is_there boolean, times int, is_cold boolean DEFAULT false) LANGUAGE plpgsql AS $p$
    DECLARE
      sought %3$s[] := ARRAY(SELECT %2$s FROM %1$s_sought WHERE there = is_there LIMIT times);
      one %3$s;
    BEGIN
      CALL show_index(index);
      COMMIT;
      SET plan_cache_mode = force_generic_plan;
      FOR turn IN is_cold::int .. 1 LOOP
        PERFORM bench.start();
        FOREACH one IN ARRAY sought LOOP
          PERFORM FROM %1$s WHERE %2$s = one;
        END LOOP;
      END LOOP;
    END $p$$q$, of_table, of_column, type);
$f$;
\endif

-- Section columns: requests of 120 bytes with five columns, and indexes on them. Also tables with
-- one index each, which grow.
\if :columns
CREATE TABLE requests AS
SELECT gen_random_uuid() AS trace, gen_random_uuid() AS span, (random() * 1e18)::bigint AS account,
  (random() * 1e6)::int AS client, 'https://shop.example/' || left(md5(random()::text), 29) AS url
FROM generate_series(1, :rows);
-- Ten thousand requests of the table, and ten thousand that are not there.
CREATE TABLE requests_sought AS
(SELECT true AS there, * FROM requests TABLESAMPLE bernoulli (least(100, 2000000.0 / :rows)) LIMIT 10000)
UNION ALL
SELECT false, gen_random_uuid(), gen_random_uuid(), (random() * 1e18)::bigint, -i,
  'https://shop.example/none/' || md5(i::text) FROM generate_series(1, 10000) i;
VACUUM ANALYZE requests, requests_sought;

SET maintenance_work_mem = '1GB';
CREATE TABLE request_indexes (name text, on_column text, kind text, definition text, number serial);
INSERT INTO request_indexes (name, on_column, kind, definition)
SELECT format('requests_%s_%s', name, number), name, kind,
  definition(index_kinds, name, type, 64)
FROM (VALUES (1, 'trace', 'uuid'), (2, 'account', 'int8'), (3, 'url', 'text')) columns (nth, name, type),
  index_kinds
ORDER BY nth, number;
INSERT INTO request_indexes (name, on_column, kind, definition)
SELECT 'requests_all_' || number, 'five columns', kind,
  definition(index_kinds, 'trace, span, account, client, url', '', 64)
FROM index_kinds WHERE number > 5 ORDER BY number;
SELECT format('CREATE INDEX %I ON requests USING %s', name, definition) FROM request_indexes ORDER BY number \gexec
SELECT finder('requests', name, type)
FROM (VALUES ('trace', 'uuid'), ('account', 'bigint'), ('url', 'text'), ('client', 'int')) columns (name, type) \gexec

CREATE TABLE fresh (trace uuid, padding text);
CREATE TABLE growing_tables (number int, name text, kind text);
INSERT INTO growing_tables
SELECT number, 'growing_' || number, kind FROM index_kinds WHERE number IN (1, 2, 4, 6, 7)
UNION ALL VALUES (0, 'growing_0', 'no index');
SELECT format('CREATE TABLE %I AS SELECT trace, repeat(''x'', 79) AS padding FROM requests', name),
  format('CREATE INDEX %I ON %I USING ', name || '_index', name) || definition(index_kinds, 'trace', 'uuid', 64),
  format('VACUUM ANALYZE %I', name)
FROM growing_tables LEFT JOIN index_kinds USING (number) ORDER BY number \gexec
RESET maintenance_work_mem;

-- Inserts `times` rows, each in a transaction of its own, and reports the time of the slowest.
CREATE PROCEDURE insert_singly(name text, times int) LANGUAGE plpgsql AS $$
DECLARE
  started timestamptz;
  slowest interval := '0';
BEGIN
  FOR i IN 1 .. times LOOP
    started := clock_timestamp();
    EXECUTE format('INSERT INTO %I VALUES (gen_random_uuid(), repeat(''x'', 79))', name);
    COMMIT;
    slowest := greatest(slowest, clock_timestamp() - started);
  END LOOP;
  PERFORM bench.report(1000 * extract(epoch FROM slowest));
END $$;
\endif

-- Section columns_large: 10 * :rows traces in rows of 40 bytes, with an index since the table was
-- empty.
\if :columns_large
CREATE TABLE traces (trace uuid);
CREATE INDEX traces_grown ON traces USING bloompages (trace);
INSERT INTO traces SELECT gen_random_uuid() FROM generate_series(1, 10 * :rows::bigint);
CREATE TABLE traces_sought AS
(SELECT true AS there, trace FROM traces TABLESAMPLE bernoulli (least(100, 20000.0 / :rows)) LIMIT 1000)
UNION ALL
SELECT false, gen_random_uuid() FROM generate_series(1, 1000);
VACUUM ANALYZE traces, traces_sought;
SELECT finder('traces', 'trace', 'uuid') \gexec
\endif

-- Section inside: lines of a log, and events with an array and a document. Also tables of lines with
-- one index each, which grow.
\if :inside
CREATE EXTENSION pg_trgm;

-- The lines of a web server, of applications and of a system, about 170 bytes each. In all of them,
-- %1$s is the time, %2$s an address, %3$s and %4$s a small and a large number, %5$s and %6$s 8 and 16
-- hexadecimal digits, %7$s and %8$s a uuid, %9$s a name. The first ones are the most frequent.
CREATE TABLE log_templates (number serial, template text);
INSERT INTO log_templates (template) VALUES
('%2$s - %9$s [%1$s] "GET /article/%3$s?session=%5$s HTTP/1.1" 200 %4$s "curl/7.88" request=%7$s'),
('%1$s INFO  [http-worker-%3$s] c.s.order.OrderController : order %4$s of %9$s was placed, trace=%7$s, span=%6$s'),
('%2$s - - [%1$s] "GET /static/js/app.%5$s.js HTTP/2.0" 304 0 "-" "Mozilla/5.0 (iPhone)" request=%7$s'),
('%1$s DEBUG [pool-%3$s] c.s.store.CacheLoader : miss for key article:%4$s, loaded %3$s bytes from shard %5$s, trace=%7$s'),
('%1$s INFO  [scheduler-%3$s] c.s.mail.Outbox : message %8$s to %9$s@mail.example was handed over, queue id %6$s'),
('%2$s - %9$s [%1$s] "POST /cart/%4$s/items HTTP/1.1" 201 %3$s "Mozilla/5.0 (Windows NT 10.0)" request=%7$s'),
('%1$s host-%3$s sshd[%4$s]: Accepted publickey for %9$s from %2$s port %3$s ssh2: RSA SHA256:%6$s%5$s, session %4$s opened'),
('%1$s WARN  [http-worker-%3$s] c.s.pay.Gateway : connection to %2$s:8443 was slow, %3$s ms, request goes on, trace=%7$s'),
('%1$s INFO  [sync-%3$s] c.s.stock.Replicator : applied batch %6$s with %3$s changes up to position %4$s, warehouse %5$s'),
('%1$s host-%3$s kernel: [%4$s.%3$s] eth0: dropped frame of %3$s bytes from %2$s, queue 3, flags 0x%5$s, driver state 0x%6$s'),
('%1$s INFO  [http-worker-%3$s] c.s.auth.TokenFilter : token %6$s of user %9$s is valid for %3$s s more, client %2$s, trace=%7$s'),
('%1$s host-%3$s postgres[%4$s]: [%3$s-1] user=%9$s,db=shop,client=%2$s LOG:  duration: %3$s.%3$s ms  execute S_%3$s: select * from article'),
('%1$s ERROR [http-worker-%3$s] c.s.pay.Gateway : payment %8$s was refused with code %3$s after %3$s ms, trace=%7$s'),
('%1$s host-%3$s systemd[1]: session-%4$s.scope: Deactivated after %3$s s, control group 0x%6$s, invocation %8$s'),
('%1$s WARN  [gc-%3$s] c.s.jvm.PauseMonitor : pause of %3$s ms, heap %4$s kB of %4$s kB, region 0x%6$s, cycle %5$s, since %3$s collections'),
('%1$s ERROR [sync-%3$s] c.s.stock.Replicator : java.net.SocketException: Broken pipe while batch %6$s was sent to %2$s:%3$s'),
('%1$s host-%3$s CRON[%4$s]: (%9$s) CMD (/usr/local/bin/rotate --keep %3$s --target /var/archive/%5$s/%8$s --quiet)'),
('%1$s INFO  [import-%3$s] c.s.feed.FeedReader : file /srv/feeds/%9$s/%7$s.xml has %3$s articles, %3$s of them new, digest %6$s'),
('%1$s FATAL [main] c.s.Application : configuration %5$s of tenant %9$s cannot be read, version %4$s, node %8$s, exit code %3$s'),
('%1$s host-%3$s kernel: [%4$s.%3$s] Out of memory: Killed process %4$s (java) total-vm:%4$skB, anon-rss:%4$skB, oom_score_adj:%3$s, cgroup %6$s');
-- Two kinds of lines of which there are ten each.
CREATE TABLE rare_templates (number int, template text);
INSERT INTO rare_templates VALUES
(1, '%1$s ERROR [http-worker-%3$s] c.s.auth.Directory : LDAP server %2$s:636 sent result %3$s for %9$s, message id %4$s, trace=%7$s'),
(2, '%1$s ERROR [import-%3$s] c.s.feed.FeedReader : cannot write /srv/feeds/%9$s/%7$s.tmp: ENOSPC after %4$s bytes, digest %6$s');

CREATE FUNCTION log_lines(lines int) RETURNS TABLE (line text) LANGUAGE sql AS $$
  WITH templates AS MATERIALIZED (SELECT array_agg(template ORDER BY number) AS list, count(*) AS n FROM log_templates)
  SELECT format(coalesce(rare.template, list[1 + floor(n * random() ^ 1.5)]),
    to_char(timestamptz '2026-03-01' + i * 0.007 * interval '1 s', 'YYYY-MM-DD"T"HH24:MI:SS.MS'),
    format('10.%s.%s.%s', (random() * 15)::int, (random() * 255)::int, (random() * 255)::int),
    (random() ^ 3 * 9999)::int, (random() * 1e9)::int, left(md5(random()::text), 8), left(md5(random()::text), 16),
    md5(random()::text)::uuid, md5(random()::text)::uuid, 'user' || (random() ^ 2 * 1e5)::int)
  FROM generate_series(1, lines) i CROSS JOIN templates
    LEFT JOIN rare_templates rare ON i % (lines / 10) = rare.number;
$$;

CREATE TABLE log AS SELECT line FROM log_lines(:rows * 3 / 20);
-- Seven events of a session are near each other. Those of a user and of an order are anywhere.
CREATE TABLE events AS
SELECT i AS id,
  ARRAY['kind-' || (random() ^ 2 * 40)::int, 'shop-' || (random() ^ 2 * 20000)::int,
    'order-' || (random() * :rows / 15)::int] AS tags,
  jsonb_build_object('session', md5('session ' || (i + random() * 1000)::int / 7), 'user', (random() * :rows / 55)::int,
    'type', (ARRAY['view', 'click', 'search', 'order'])[1 + floor(random() * 4)], 'ms', (random() ^ 3 * 5000)::int,
    'page', jsonb_build_object('path', '/article/' || (random() ^ 2 * 50000)::int, 'list', (random() ^ 3 * 500)::int),
    'device', (ARRAY['linux', 'mac', 'windows', 'android'])[1 + floor(random() * 4)]) AS doc
FROM generate_series(1, :rows / 5) i;
VACUUM ANALYZE log, events;

-- What is looked for: some that are there, and some that are not.
CREATE TABLE inside_sought (kind text, needle text);
CREATE VIEW sampled_lines AS SELECT line FROM log TABLESAMPLE system (least(100, 200000.0 / :rows));
INSERT INTO inside_sought
SELECT kind, '%' || needle || '%'
FROM (VALUES ('36 characters', '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'),
    ('12 characters', '-([0-9a-f]{12})\M'), ('8 characters', '\m([0-9a-f]{8})-')) kinds (kind, expression),
  LATERAL (SELECT DISTINCT substring(line FROM expression) AS needle FROM sampled_lines LIMIT 101) needles
WHERE needle IS NOT NULL
UNION ALL VALUES ('6 characters', '%ENOSPC%'), ('4 characters', '%LDAP%'), ('a frequent word', '%connection%')
UNION ALL
SELECT length || ' characters, absent', '%' || left(md5(random()::text), length) || '%'
FROM unnest(ARRAY[12, 8]) length, generate_series(1, 100)
UNION ALL
SELECT length || ' characters, absent', '%' || translate(left(md5(random()::text), length), '0123456789abcdef', 'jkqvwxzyjkqvwxzy') || '%'
FROM unnest(ARRAY[6, 4]) length, generate_series(1, 100);
CREATE TABLE sampled_events AS SELECT * FROM events TABLESAMPLE system (least(100, 200000.0 / :rows)) LIMIT 100;
INSERT INTO inside_sought
SELECT 'an order', format('{%s}', tags[3]) FROM sampled_events
UNION ALL SELECT 'an order and a frequent kind', format('{%s,%s}', tags[3], tags[1]) FROM sampled_events
UNION ALL SELECT 'no order', format('{order-x%s}', i) FROM generate_series(1, 100) i
UNION ALL SELECT 'a frequent kind', '{kind-0}'
UNION ALL SELECT 'a session', jsonb_build_object('session', doc -> 'session')::text FROM sampled_events
UNION ALL SELECT 'a user', jsonb_build_object('user', doc -> 'user')::text FROM sampled_events
UNION ALL SELECT 'no session', jsonb_build_object('session', md5(i::text))::text FROM generate_series(1, 100) i
UNION ALL SELECT 'a frequent type', '{"type": "click"}';

SET maintenance_work_mem = '1GB';
CREATE TABLE inside_indexes (name text, on_table text, kind text, definition text, number serial);
INSERT INTO inside_indexes (name, on_table, kind, definition)
SELECT format('%s_%s', what, method), on_table, format('%s: %s', what, label), format('%s (%s %s)', method, of_column, class)
FROM (VALUES (1, 'lines', 'log', 'line', 'gin_trgm_ops', 'text_ngram_ops'), (2, 'arrays', 'events', 'tags', 'array_ops', 'array_ops'),
    (3, 'documents', 'events', 'doc', 'jsonb_path_ops', 'jsonb_ops')) whats (number, what, on_table, of_column, gin_class, pages_class),
  LATERAL (VALUES ('gin', 'GIN', gin_class), ('bloompages', 'bloompages', pages_class)) methods (method, label, class)
ORDER BY number, method DESC;
SELECT format('CREATE INDEX %I ON %I USING %s', name, on_table, definition) FROM inside_indexes ORDER BY number \gexec

CREATE TABLE fresh_lines (line text);
CREATE TABLE growing_logs (number int, name text, kind text, class text);
INSERT INTO growing_logs VALUES (0, 'log_0', 'no index', NULL), (1, 'log_1', 'GIN', 'gin (line gin_trgm_ops)'),
  (2, 'log_2', 'bloompages', 'bloompages (line text_ngram_ops)');
SELECT format('CREATE TABLE %I AS TABLE log', name),
  format('CREATE INDEX %I ON %I USING ', name || '_index', name) || class,
  format('VACUUM ANALYZE %I', name)
FROM growing_logs ORDER BY number \gexec
RESET maintenance_work_mem;

-- Runs a query for `times` things of a kind, with each of them as a constant. The planner sees this
-- index, and whether it uses it is its own choice. Looks for all of them twice and measures the
-- second time, when their pages are in the server's buffers.
CREATE PROCEDURE find_inside(index text, query text, of_kind text, times int) LANGUAGE plpgsql AS $$
DECLARE
  sought text[] := ARRAY(SELECT needle FROM inside_sought WHERE kind = of_kind LIMIT times);
  one text;
BEGIN
  CALL show_index(index);
  COMMIT;
  FOR turn IN 0 .. 1 LOOP
    PERFORM bench.start();
    FOREACH one IN ARRAY sought LOOP
      EXECUTE format(query, one);
    END LOOP;
  END LOOP;
END $$;
\endif

-- Section values: :rows / 20 values of every type, and the server's own hash function for each
-- type.
\if :values
CREATE TABLE typed (name text, type text, value text, made text, hash text, number serial);
INSERT INTO typed (name, type, made, hash) VALUES
('smallint', 'smallint', 'i % 65536 - 32768', 'hashint2extended'),
('integer', 'integer', 'i', 'hashint4extended'),
('bigint', 'bigint', 'i', 'hashint8extended'),
('numeric, integers', 'numeric', 'i', 'hash_numeric_extended'),
('numeric(12,2)', 'numeric(12,2)', 'i * 618.03', 'hash_numeric_extended'),
('numeric, 30 digits', 'numeric', 'i * 618033988749894848204586.83', 'hash_numeric_extended'),
('real', 'real', 'i * 0.25', 'hashfloat4extended'),
('double precision', 'double precision', 'i * 0.1', 'hashfloat8extended'),
('text, 50 bytes', 'text', $$'https://shop.example/' || left(md5(i::text), 21) || lpad(i::text, 8, '0')$$, 'hashtextextended'),
('varchar', 'varchar', $$'user-' || i$$, 'hashtextextended'),
('char(20)', 'char(20)', $$'user-' || i$$, 'hashbpcharextended'),
('name', 'name', $$'user-' || i$$, 'hashnameextended'),
('"char"', '"char"', 'chr((1 + i % 127)::int)', 'hashcharextended'),
('bytea', 'bytea', $$decode(md5(i::text), 'hex')$$, 'hashvarlenaextended'),
('uuid', 'uuid', 'md5(i::text)', 'uuid_hash_extended'),
('enum', 'shade', $$('{red,orange,yellow,green,blue,indigo,violet}'::text[])[1 + i % 7]$$, 'hashenumextended'),
('boolean', 'boolean', 'i % 2 = 0', 'hashcharextended'),
('oid', 'oid', 'i', 'hashoidextended'),
('date', 'date', $$date '1970-01-01' + i::int$$, 'hashint4extended'),
('time', 'time', $$time '00:00' + i * interval '0.08 s'$$, 'time_hash_extended'),
('timetz', 'timetz', $$timetz '00:00+01' + i * interval '0.08 s'$$, 'timetz_hash_extended'),
('timestamp', 'timestamp', $$timestamp '2024-01-01' + i * interval '1 s'$$, 'timestamp_hash_extended'),
('timestamptz', 'timestamptz', $$timestamptz '2024-01-01' + i * interval '1 s'$$, 'timestamp_hash_extended'),
('interval', 'interval', $$i * interval '1 min'$$, 'interval_hash_extended'),
('inet', 'inet', $$inet '10.0.0.0' + i$$, 'hashinetextended'),
('macaddr', 'macaddr', $$left(md5(i::text), 12)$$, 'hashmacaddrextended'),
('macaddr8', 'macaddr8', $$left(md5(i::text), 16)$$, 'hashmacaddr8extended'),
('integer[] of 3', 'integer[]', 'ARRAY[i, i + 1, i + 2]', 'hash_array_extended'),
('text[] of 2', 'text[]', $$ARRAY['user-' || i, 'group-' || i % 1000]$$, 'hash_array_extended'),
('int4range', 'int4range', 'int4range(i::int, i::int + 10)', 'hash_range_extended'),
('int4multirange', 'int4multirange',
 'int4multirange(int4range(i::int, i::int + 10), int4range(i::int + 20, i::int + 30))', 'hash_multirange_extended'),
('jsonb, number', 'jsonb', 'to_jsonb(i)', 'jsonb_hash_extended'),
('jsonb, object of 2', 'jsonb', $$jsonb_build_object('id', i, 'name', 'user-' || i)$$, 'jsonb_hash_extended'),
('(bigint, integer)', 'pair', 'ROW(i, i % 1000)', 'hash_record_extended'),
('(bigint, integer, text)', 'triple', $$ROW(i, i % 1000, 'user-' || i)$$, 'hash_record_extended');
-- The queries form rows from columns, as queries do for keys of several columns.
UPDATE typed SET value = CASE type WHEN 'pair' THEN '(a, b)' WHEN 'triple' THEN '(a, b, c)' ELSE 'v' END;
CREATE TYPE shade AS ENUM ('red', 'orange', 'yellow', 'green', 'blue', 'indigo', 'violet');
CREATE TYPE pair AS (a bigint, b integer);
CREATE TYPE triple AS (a bigint, b integer, c text);

SELECT format('CREATE UNLOGGED TABLE typed_%s AS SELECT %s FROM (SELECT x AS i FROM numbers LIMIT %s) n',
  number, CASE value WHEN 'v' THEN format('(%s)::%s AS v', made, type) ELSE format('(%s::%s).*', made, type) END, :rows / 20)
FROM typed ORDER BY number \gexec
-- Not every hash function can be called in SQL as the catalog declares it: hashvarlenaextended, for
-- example, takes internal. So each gets another declaration.
SELECT DISTINCT format('CREATE FUNCTION %s(%s, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS %L',
  'the_' || hash, CASE type WHEN 'pair' THEN 'record' WHEN 'triple' THEN 'record' ELSE format_type(type::regtype, NULL) END, hash)
FROM typed \gexec
\endif

-- Section urls: 10 * :rows URLs of 50 characters, in a table with an index, which is exact, and in
-- a filter. The URLs to probe for are 1 % of that number, in random order. Half of them are new.
\if :urls
CREATE FUNCTION page(i bigint) RETURNS text IMMUTABLE LANGUAGE sql
AS $$ SELECT 'https://example.com/' || left(md5(i::text), 20) || '/' || lpad(i::text, 9, '0') $$;
CREATE UNLOGGED TABLE crawled AS SELECT page(i) AS url FROM generate_series(1, 10 * :rows::bigint) i;
CREATE INDEX crawled_url ON crawled (url);
CREATE UNLOGGED TABLE crawled_filter AS SELECT bf_agg(url, 10 * :rows::bigint) AS urls FROM crawled;
CREATE UNLOGGED TABLE links AS
SELECT page(i * 618033989 % (20 * :rows)) AS url FROM generate_series(1, :rows::bigint / 10) i;
\endif

\if :ssb
\ir ssb.sql
\endif

VACUUM ANALYZE;
CHECKPOINT;
