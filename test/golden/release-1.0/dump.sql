-- Prints what a database of populate.sql stores (sha256 of the bytes) and the answers of its
-- filters. The lines can be compared between servers: nothing in them depends on the server or on
-- its OIDs. A filter that denies one of its members is an error.

\set QUIET 1
\set ON_ERROR_STOP 1
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SET datestyle = ISO;
SET timezone = 'UTC';
SET bloomfilter.overfill = ignore;
SET search_path = public, ext;

ANALYZE; -- not every upgrade, dump or replica transfers statistics

CREATE FUNCTION pg_temp.sha(bytes bytea) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT left(encode(sha256(bytes), 'hex'), 32) $$;

-- --- filters -------------------------------------------------------------------------------------

-- Returns how many of 500 values that are not members a filter finds. Also probes for some 500
-- members.
CREATE FUNCTION pg_temp.strangers(filter anyelement, name text, members int, value text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  missing int;
  strangers int;
BEGIN
  IF filter IS NULL OR value IS NULL THEN
    RETURN NULL;
  END IF;
  EXECUTE format('SELECT count(*) FROM generate_series(1, %s, %s) i WHERE NOT $1 @> (%s)', members,
    1 + members / 500, value) INTO missing USING filter;
  IF missing > 0 THEN
    RAISE '% of % lacks % of its members', name, pg_typeof(filter), missing;
  END IF;
  EXECUTE format('SELECT count(*) FROM generate_series(10001, 10500) i WHERE $1 @> (%s)', value)
    INTO strangers USING filter;
  RETURN strangers;
END $$;
SELECT name, members, pg_temp.sha(f::bytea), pg_temp.sha(c::bytea), pg_temp.sha(k::bytea),
  pg_temp.strangers(f, name, members, value), pg_temp.strangers(c, name, members, value),
  pg_temp.strangers(k, name, members, value)
FROM filters ORDER BY id;
SELECT name, bf_describe(f), cbf_describe(c), cf_describe(k), bf_check(f), cbf_check(c), cf_check(k)
FROM filters ORDER BY id;
SELECT 'hash', bf_contains_hash(f, 42), bf_contains_hash(f, 43) FROM filters WHERE name = 'hash';

-- --- partial states and elements -----------------------------------------------------------------

SELECT 'partial', name, members, pg_temp.sha(bloomfilter_partial_send(p)), pg_temp.sha(f::bytea),
  pg_temp.strangers(f, name, members, value)
FROM (SELECT id, name, members, value, bf_merge_agg(p) AS f FROM partials GROUP BY id) s
  JOIN partials USING (id, name, members, value) ORDER BY id;
SELECT 'element', name, pg_temp.sha(string_agg(bloomfilter_element_send(e), '' ORDER BY i))
FROM elements GROUP BY name ORDER BY name COLLATE "C";
SELECT 'elements', count(*), count(DISTINCT e::text) FROM elements;

-- --- streams -------------------------------------------------------------------------------------

SELECT 'seen', shard, pg_temp.sha(filter::bytea) FROM seen ORDER BY shard;
SELECT 'seen built again', bool_and(f = filter)
FROM (SELECT bf_shard(url, 100) AS shard, bf_agg(url, 1495) AS f FROM pages GROUP BY 1) s
  JOIN seen USING (shard);

SELECT 'clicked', pg_temp.sha(string_agg(c::text, ' ' ORDER BY c::text)::bytea) FROM clicked c;
SELECT 'clicked', count(*) FILTER (WHERE clicked_has(word(i))) FROM generate_series(1, 10000) i;
SELECT 'clicked', expected, target_fpr, shards, round(estimated_count) FROM clicked_info();

SELECT 'visited', pg_temp.sha(string_agg(v::text, ' ' ORDER BY v::text)::bytea) FROM visited v;
SELECT 'visited', count(*) FILTER (WHERE visited_has(word(i))) FROM generate_series(1, 10000) i;
SELECT 'lately', pg_temp.sha(string_agg(l::text, ' ' ORDER BY l::text)::bytea) FROM lately l;
SELECT 'lately', count(*) FILTER (WHERE lately_has(word(i))) FROM generate_series(1, 10000) i;
SELECT 'lately', expected, keep, round(estimated_count) FROM lately_info();

-- --- other places --------------------------------------------------------------------------------

SELECT 'places', id, pg_temp.sha(d::bytea), count, pg_temp.sha((h).f::bytea),
  pg_temp.sha((h).c::bytea), pg_temp.sha((h).k::bytea), pg_temp.sha(l::text::bytea), late::text,
  pg_temp.sha(new::bytea)
FROM places ORDER BY id;
SELECT 'keyed',
  pg_temp.sha(string_agg(f::bytea || c::bytea || k::bytea, '' ORDER BY f, c, k)) FROM keyed;
SELECT 'parted', tableoid::regclass, count(*), pg_temp.sha(string_agg(f::bytea, '' ORDER BY id))
FROM (SELECT tableoid, * FROM parted) s GROUP BY tableoid ORDER BY tableoid::regclass::text;
SELECT 'listed', tableoid::regclass, id, pg_temp.sha(k::bytea) FROM listed ORDER BY id;
SELECT 'materialised', members, pg_temp.sha(f::bytea), pg_temp.sha(c::bytea), filters
FROM materialised ORDER BY members;
SELECT 'asked', count(*) FILTER (WHERE found), bool_or(literal) FROM asked;
SELECT 'compared', * FROM compared ORDER BY a, b;
SELECT 'changes', * FROM changes ORDER BY id, what;
SELECT 'probe', count(*) FILTER (WHERE probe(i)) FROM generate_series(1, 10000) i;
SELECT 'with default', with_default(5), with_default(6);
SELECT 'aggregates', pg_temp.sha(united(f)::bytea), pg_temp.sha(bf_union_agg(f)::bytea),
  (SELECT pg_temp.sha(bf_grown(i ORDER BY i)::bytea) FROM generate_series(1, 1000) i)
FROM keyed;

-- The answers of queries through each index. A plan that does not use the index is an error.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
CREATE FUNCTION pg_temp.by_index(name text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  plan text := '';
  answer text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    plan := plan || line;
  END LOOP;
  IF plan !~ ('\m' || name || '\M') THEN
    RAISE 'not by the index %: %', name, plan;
  END IF;
  EXECUTE query INTO answer;
  RETURN answer;
END $$;
SELECT 'index', name, pg_temp.by_index(name, query) FROM (VALUES
  (1, 'keyed_f_key', 'SELECT count(*) FROM (SELECT f FROM keyed ORDER BY f OFFSET 0) s'),
  (2, 'keyed_both', 'SELECT count(*) FROM (SELECT c, f FROM keyed ORDER BY c, f OFFSET 0) s'),
  (3, 'keyed_k_excl', 'SELECT count(*) FROM (SELECT k FROM keyed ORDER BY k OFFSET 0) s'),
  (4, 'hashed_f', 'SELECT id FROM hashed WHERE f = bf_create(10) + 5'),
  (5, 'hashed_c', 'SELECT id FROM hashed WHERE c = cbf_create(10) + 6'),
  (6, 'hashed_k', 'SELECT id FROM hashed WHERE k = cf_create(10, 1e-9) + 7'),
  (7, 'keyed_7', 'SELECT min(id) FROM keyed WHERE f @> 7'),
  (8, 'filters_sha', $$SELECT name FROM filters WHERE sha256(f::bytea) = (
    SELECT sha256(f::bytea) FROM filters WHERE name = 'text, own')$$),
  (9, 'filters_count', 'SELECT count(*) FROM filters WHERE bf_count(f) > 2900'),
  (10, 'materialised_f', $$SELECT members FROM materialised WHERE f = (
    SELECT f FROM materialised WHERE members = 10)$$),
  (11, 'elements_e', 'SELECT i FROM elements WHERE e = bf_element_of(word(3))'),
  (12, 'segments_f', $$SELECT count(*) || ' ' || sum(id) FROM segments WHERE f @> 7$$),
  (13, 'segments_c', $$SELECT count(*) || ' ' || sum(id) FROM segments WHERE c @> 2007$$)
) indexes (number, name, query) ORDER BY number;
SET enable_bitmapscan = on;
SELECT 'index', name, pg_temp.by_index(name, query) FROM (VALUES
  (1, 'requests_pages', $$SELECT count(*) || ' ' || sum(id) FROM requests WHERE host = word(7)$$),
  (2, 'requests_pages', $$SELECT id FROM requests WHERE m = enum_last(NULL::mood)$$),
  (3, 'requests_pages', $$SELECT id FROM requests WHERE tags = ARRAY[word(14999)]$$),
  (4, 'requests_fixed', $$SELECT id FROM requests WHERE trace = md5('4711')::uuid$$)
) indexes (number, name, query) ORDER BY number;
SELECT bf_index_check(name::regclass)
FROM unnest('{segments_f, segments_c, requests_pages, requests_fixed}'::text[]) name;
SELECT 'pages of a range', pages_per_range FROM bf_index_info('requests_fixed');

-- Filters in a column's default, in a policy, in a domain's check and in a table's.
BEGIN;
INSERT INTO seen VALUES (100) RETURNING 'default', pg_temp.sha(filter::bytea);
CREATE ROLE bloomfilter_reader;
GRANT SELECT ON private TO bloomfilter_reader;
GRANT USAGE ON SCHEMA ext TO bloomfilter_reader;
SET LOCAL ROLE bloomfilter_reader;
SELECT 'policy', count(*) FROM private;
ROLLBACK;
DO $$
BEGIN
  INSERT INTO places (id, d) VALUES (2, bf_create(10));
  RAISE 'the check of table places is gone';
EXCEPTION WHEN check_violation THEN NULL;
END $$;
DO $$
BEGIN
  INSERT INTO watched (id) VALUES (4);
  RAISE 'the check of table watched is gone';
EXCEPTION WHEN check_violation THEN NULL;
END $$;
