-- The shard of a value, the number of shards that a set needs, and the recipe of doc/streaming.md.
CREATE SCHEMA shards;
SET search_path = shards, public;
-- Some shards get more values than the mean. Only the rate of all shards together counts.
SET bloomfilter.overfill = ignore;
\i sql/include/outcome.sql

-- The shard of a value never changes.
SELECT bf_shard(1, 1000000) AS int, bf_shard(1.5, 1000000) AS numeric,
  bf_shard('a'::text, 1000000) AS text, bf_shard(''::text, 1000000) AS empty,
  bf_shard('\x00'::bytea, 1000000) AS bytea, bf_shard(date '2000-01-01', 1000000) AS date,
  bf_shard(array[1, NULL], 1000000) AS array, bf_shard((1, 'a'), 1000000) AS row,
  bf_shard(1, 2147483647) AS most, bf_shard(1, 1) AS one;
-- The shard is computed as documented: the high half of a product of 64 bits, scaled.
SELECT count(*) AS differing FROM generate_series(1, 1000) i,
  LATERAL (SELECT bf_hash(i)::numeric AS signed) s,
  LATERAL (SELECT CASE WHEN signed < 0 THEN signed + 2::numeric ^ 64 ELSE signed END AS h) h,
  LATERAL (SELECT h * 15111065706836454659 % 2::numeric ^ 64 AS product) p
WHERE bf_shard(i, 669) <> div(div(product, 2::numeric ^ 32) * 669, 2::numeric ^ 32);

-- Values that SQL calls equal have the same shard. equality.sql tests pairs with one hash. A
-- varchar with trailing blanks has two hashes, so a shard ignores the trailing blanks of a text.
SELECT v = t AS "varchar = text",
  v = c AS "varchar = char",
  bf_shard(v, 1000000) = bf_shard(t, 1000000) AS "has the shard of the text",
  bf_shard(v, 1000000) = bf_shard(c, 1000000) AS "has the shard of the char",
  bf_shard(v, 1000000) = bf_shard(n, 1000000) AS "has the shard of the name",
  bf_shard(v, 1000000) = bf_shard('a'::text, 1000000) AS "has the shard without the blank",
  bf_shard(v, 1000000) = bf_shard(' a'::text, 1000000) AS "has the shard with it in front",
  bf_shard('  '::varchar, 1000000) = bf_shard(''::text, 1000000)
    AS "blanks have the shard of nothing"
FROM (SELECT 'a '::varchar AS v, 'a'::char(5) AS c, 'a '::text AS t, 'a '::name AS n) s \gx

-- NULL arguments, and values without a shard.
SELECT bf_shard(NULL::int, 10) AS null_value, bf_shard(1, NULL) AS null_shards,
  bf_shard_count(NULL, 0.01) AS null_expected, bf_shard_count(10, NULL) AS null_rate;
SELECT bf_shard('5', 10);
PREPARE untyped AS SELECT bf_shard($1, 10);
SELECT bf_shard(5, 0);
SELECT bf_shard(5, -1);
SELECT bf_shard('(1,2)'::point, 10);
SELECT bf_shard_count(0, 0.01);
SELECT bf_shard_count(1000, 1);
SELECT bf_shard_count(10000000000000, 0.01);
SELECT statement, outcome('SELECT ' || statement) FROM (VALUES
  ('bf_shard(5, -2147483648)'), ('bf_shard(5, 2147483647)'), ('bf_shard(5, 2147483648)'),
  ('bf_shard_count(-9223372036854775808, 0.01)'), ('bf_shard_count(9223372036854775807, 0.5)'),
  ('bf_shard_count(1, 0.5)'), ('bf_shard_count(1, 1e-9)'), ('bf_shard_count(1, 0.51)'),
  ('bf_shard_count(1, 9e-10)'), ('bf_shard_count(1, ''NaN'')'), ('bf_shard_count(1, -0.01)'),
  ('bf_shard_count(3200000000000, 0.01)'), ('bf_shard_count(3300000000000, 0.01)')
) v(statement);

-- Values spread evenly: each of 100 shards has 1000, within five standard deviations.
SELECT count(*) AS shards, min(shard), max(shard),
  bool_and(values BETWEEN 842 AND 1158) AS "spread evenly"
FROM (SELECT bf_shard(i, 100) AS shard, count(*) AS values FROM generate_series(1, 100000) i
      GROUP BY 1) s;

-- A shard has at most 1.9 KB, so its row stays inline. With fewer shards, a shard would be larger.
SELECT expected, rate, shards, expected / shards + 1 AS capacity, bytes
FROM (VALUES (1, 0.01), (1495, 0.01), (1496, 0.01), (1000000, 0.5), (1000000, 0.01),
  (1000000, 0.001), (1000000, 0.0001), (1000000, 1e-9), (3000000000000, 0.01)) v(expected, rate),
  bf_shard_count(expected, rate) shards, bf_sizing(expected / shards + 1, rate);
SELECT count(*) AS sizes,
  max(sized.bytes) <= 1900 AS "none is above 1900 bytes",
  bool_and(fewer.bytes > 1900) AS "with one fewer, all are"
FROM (SELECT (10 ^ (i / 10.0))::bigint AS expected FROM generate_series(35, 110) i) e,
  (SELECT greatest(0.5 ^ (i / 3.0), 1e-9) AS rate FROM generate_series(3, 90) i) r,
  bf_shard_count(expected, rate) shards, bf_sizing(expected / shards + 1, rate) sized,
  bf_sizing(expected / greatest(shards - 1, 1) + 1, rate) fewer
WHERE shards > 1 \gx

-- All shards together, filled to capacity, keep the rate, although some hold more values than
-- others.
CREATE TABLE loaded AS
SELECT rate, bf_shard(i, shards) AS shard, bf_agg(i, 60000 / shards + 1, rate) AS filter
FROM (SELECT rate::float8, bf_shard_count(60000, rate) AS shards
      FROM (VALUES (0.1), (0.01), (0.001), (0.0001), (1e-6)) v(rate)) r,
  generate_series(1, 60000) i
GROUP BY 1, 2, shards;
SELECT rate, count(*) AS shards,
  round(avg(bf_fpr(filter) / rate)::numeric, 1) AS obtained,
  max(bf_count(filter) / (bf_info(filter)).expected) > 1.02 AS "some are fuller"
FROM loaded GROUP BY rate ORDER BY rate;

-- The recipe for one value.
CREATE TABLE seen (shard int PRIMARY KEY, filter bloomfilter NOT NULL) WITH (fillfactor = 50);
PREPARE add_one(text) AS
  INSERT INTO seen AS s VALUES (bf_shard($1, 7), bf_create(1429) + $1)
  ON CONFLICT (shard) DO UPDATE SET filter = s.filter + $1 WHERE NOT s.filter @> $1
  RETURNING true AS new;
PREPARE ask(text) AS
  SELECT EXISTS (SELECT FROM seen WHERE shard = bf_shard($1, 7) AND filter @> $1) AS seen;
EXECUTE ask('https://example.com/1');
EXECUTE add_one('https://example.com/1');
EXECUTE add_one('https://example.com/1');
EXECUTE ask('https://example.com/1');
EXECUTE ask('https://example.com/2');

-- The recipe for a batch: only shards with something new are written.
CREATE VIEW written AS SELECT shard, xmin AS version, ctid AS place FROM seen;
PREPARE add_many(int, int) AS
  INSERT INTO seen AS s
  SELECT bf_shard(url, 7), bf_agg(url, 1429)
  FROM (SELECT 'https://example.com/' || i AS url FROM generate_series($1, $2) i) batch
  GROUP BY 1 ORDER BY 1
  ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter
    WHERE s.filter <> (s.filter | excluded.filter);
EXECUTE add_many(1, 3000);
CREATE TEMP TABLE before AS TABLE written;
EXECUTE add_many(1, 2000);
SELECT count(*) AS rewritten FROM (TABLE written EXCEPT TABLE before) s;
EXECUTE add_many(2001, 6000);
SELECT count(*) AS rewritten FROM (TABLE written EXCEPT TABLE before) s;
SELECT count(*) AS missed FROM generate_series(1, 6000) i,
  LATERAL (SELECT 'https://example.com/' || i AS url) u
WHERE NOT EXISTS (SELECT FROM seen WHERE shard = bf_shard(url, 7) AND filter @> url);
SELECT round(sum(bf_count(filter))::numeric, -2) AS values, avg(bf_fpr(filter)) < 0.01 AS rate_kept
FROM seen;
-- A batch gives the same bits as single values.
CREATE TABLE singly (LIKE seen INCLUDING ALL);
INSERT INTO singly SELECT i, bf_create(1429) FROM generate_series(0, 6) i;
DO $$
DECLARE
  url text;
BEGIN
  FOR i IN 1 .. 6000 LOOP
    url := 'https://example.com/' || i;
    UPDATE singly SET filter = filter + url WHERE shard = bf_shard(url, 7) AND NOT filter @> url;
  END LOOP;
END $$;
SELECT count(*) AS equal FROM seen JOIN singly USING (shard, filter);

-- A trigger adds the values of a table to the shards.
CREATE TABLE pages (id int GENERATED ALWAYS AS IDENTITY, url text);
TRUNCATE seen;
CREATE FUNCTION pages_seen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO seen AS s
  SELECT bf_shard(url, 7), bf_agg(url, 1429) FROM added WHERE url IS NOT NULL
  GROUP BY 1 ORDER BY 1
  ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter
    WHERE s.filter <> (s.filter | excluded.filter);
  RETURN NULL;
END $$;
CREATE TRIGGER pages_seen AFTER INSERT ON pages REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION pages_seen();
CREATE TRIGGER pages_seen_again AFTER UPDATE ON pages REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION pages_seen();
INSERT INTO pages (url) SELECT 'https://example.com/' || i FROM generate_series(1, 3000) i;
INSERT INTO pages (url) VALUES ('https://example.org'), (NULL);
INSERT INTO pages (url) SELECT url FROM pages WHERE false;
COPY pages (url) FROM stdin;
https://example.net/1
https://example.net/2
\.
UPDATE pages SET url = 'https://example.net/3' WHERE url = 'https://example.net/2';
SELECT count(url) AS asked, count(*) FILTER (WHERE s.filter @> url) AS found
FROM pages LEFT JOIN seen s ON s.shard = bf_shard(url, 7);

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA shards CASCADE;
