-- Changes a database of populate.sql: statements and triggers add to filters, filters are replaced
-- by new ones, indexes are rebuilt. After this, dump.sql prints the same on every server.

\set QUIET 1
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
SET search_path = public, ext;
SET bloomfilter.overfill = ignore;

UPDATE filters SET f = f + 1, c = c + 1, k = k + 1 WHERE name IN ('integer, small', 'integer, own');
UPDATE filters SET members = 5000,
  f = bf_add_all(f, ARRAY(SELECT i::bigint FROM generate_series(1001, 5000) i)),
  c = (SELECT cbf_agg(i) FROM generate_series(1, 5000) i)
WHERE name = 'integer, grown';
UPDATE filters SET f = f | (bf_create(10) + 'new'::text) WHERE name = 'text, united';
INSERT INTO pages SELECT 'https://example.com/' || word(i) FROM generate_series(15001, 25000) i;
DELETE FROM seen WHERE shard = 7;
INSERT INTO pages SELECT url FROM pages;
SELECT clicked_add_all(array(SELECT word(i) FROM generate_series(5001, 6000) i)),
  clicked_add(word(6001));
INSERT INTO keyed SELECT i, bf_create(10) + i, cbf_create(10) + i, cf_create(10, 1e-9) + i
FROM generate_series(1001, 1100) i;
INSERT INTO hashed SELECT * FROM keyed WHERE id > 1000;
DELETE FROM keyed WHERE f = bf_create(10) + 500 OR k = cf_create(10, 1e-9) + 501;
INSERT INTO segments SELECT i, bf_create(20) + i % 10, cbf_create(20) + i
FROM generate_series(4001, 4100) i;
DELETE FROM segments WHERE id % 3 = 0;
INSERT INTO requests SELECT i, md5(i::text)::uuid, word(i), 'ok', ARRAY[word(i)]
FROM generate_series(15001, 20000) i;
UPDATE requests SET host = word(7), trace = md5('x' || id)::uuid WHERE id % 100 = 0;
DELETE FROM requests WHERE id % 30 = 0;
SELECT bf_index_check('requests_pages'), bf_index_check('requests_fixed'); -- before REINDEX
INSERT INTO parted SELECT bf_create(10) + i, i FROM generate_series(501, 600) i;
UPDATE watched SET c = cbf_create(10) + 9, f = CASE id WHEN 1 THEN f ELSE f + 9 END WHERE id < 3;
UPDATE watched SET f = NULL WHERE id = 3;
UPDATE watched SET f = NULL WHERE id = 3;
UPDATE partials SET members = 2000,
  p = (SELECT bf_partial_agg(bf_element_of(i), 3000) FROM generate_series(1, 2000) i)
WHERE name = 'integer, hashes';
REFRESH MATERIALIZED VIEW CONCURRENTLY materialised;
REINDEX SCHEMA public;
VACUUM ANALYZE;
