-- Partial states: what servers, days or partitions know of the filter of all rows. Whichever way
-- the rows take, the filter is the one of bf_agg, byte for byte.
CREATE SCHEMA partial;
SET search_path = partial, public;
SET bloomfilter.scan = off; -- sql/build.sql tests Bloom Filter Build
\i sql/include/outcome.sql
CREATE TYPE mood AS ENUM ('sad', 'happy');

-- Samples of every element type.
CREATE TABLE samples (list text);
COPY samples FROM stdin;
1::int2; -1::int2; 1::int2
5; -3; 2147483647
5::bigint; 9223372036854775807
1.5::float4; '-0'::float4
0.1; 'NaN'::numeric; 1e20
0.1::float8; '-0'::float8; 'NaN'::float8
'a'::text; ''; 'b  '; 'b'
'a'::varchar; 'b  '; 'b'
'a'::char(5); 'b  '
'a'::name
'a'; 'b'
'\\x00ff'::bytea
'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid
true; false
'a'::"char"
5::oid
date '2024-02-29'
timestamp '2024-02-29 12:00'
timestamptz '2024-02-29 12:00+01'
time '24:00'
timetz '12:00+01'
interval '1 month'; '30 days'
'10.0.0.1'::inet; '10.0.0.0/8'::cidr
'08:00:2b:01:02:03'::macaddr
'08:00:2b:01:02:03:04:05'::macaddr8
'{"b": [1, null]}'::jsonb
'happy'::mood
'{1,2}'::int[]; '{}'; '{3}'
'{a,"b  "}'::varchar[]
int4range(1, 5); 'empty'
'{[1,2],[5,8)}'::int4multirange
\.
SELECT list FROM samples
WHERE outcome(format('SELECT 1 / (bf_dist_agg(bf_element_of(x)) = bf_agg(x)
  AND bf_dist_agg(bf_element_of(x), 100) = bf_agg(x, 100)
  AND bf_dist_agg(bf_element_of(x), NULL, 0.001) = bf_agg(x, NULL, 0.001)
  AND bf_dist_agg(bf_element_of(x), 100, 0.001) = bf_agg(x, 100, 0.001)
  AND bool_and(bf_element_of(x)::text::bf_element = bf_element_of(x))
  AND bool_and(bloomfilter_element_send(bf_element_of(x))
    = decode(bf_element_of(x)::text, ''base64'')))::int
  FROM (VALUES (%s), (NULL), (%s)) v(x)', replace(list, '; ', '), ('), split_part(list, '; ', 1)))
  <> 'ok';
-- (A row is a single value.)
SELECT bf_dist_agg(bf_element_of(x)) = bf_agg(x) AS same_filter
FROM (VALUES (ROW(1, 'a'::text)), (ROW(NULL::int, 'b'::text)), (ROW(3, NULL::text))) v(x);

-- Every member is found. Few other values are found.
SELECT bool_and(f @> i) AS members, count(*) FILTER (WHERE f @> -i) < 100 AS few_others
FROM (SELECT bf_dist_agg(bf_element_of(i)) AS f FROM generate_series(1, 5000) i) s,
  generate_series(1, 5000) i;

-- No rows, no values, some of the rows, rows in another order, groups, and grouping sets.
SELECT bf_dist_agg(bf_element_of(i)) = bf_agg(i) AS no_rows,
  bf_dist_agg(bf_element_of(i), 1000) = bf_agg(i, 1000) AS sized,
  (SELECT bf_merge_agg(p) FROM (SELECT bf_partial_agg(bf_element_of(i)) AS p
    FROM generate_series(1, 0) i) s) = bf_agg(i) AS merged,
  (SELECT bf_merge_agg(p) FROM (SELECT bf_partial_agg(bf_element_of(i), 1000) AS p
    FROM generate_series(1, 0) i) s) = bf_agg(i, 1000) AS merged_sized,
  bf_merge_agg(NULL::bf_partial) = bf_agg(i) AS nothing_merged,
  (SELECT bf_merge_agg(NULL::bf_partial) FROM generate_series(1, 2)) = bf_agg(i) AS nulls_merged
FROM generate_series(1, 0) i;
SELECT bf_dist_agg(bf_element_of(i)) = bf_agg(i) AS no_values,
  bf_dist_agg(bf_element_of(i), 1000) = bf_agg(i, 1000) AS sized,
  bf_merge_agg(p) = bf_agg(i, 1000) AS merged
FROM (SELECT NULL::int AS i, bf_partial_agg(bf_element_of(NULL::int), 1000) AS p
      FROM generate_series(1, 10)) s;
SELECT bf_dist_agg(bf_element_of(i)) FILTER (WHERE i % 2 = 0)
    = bf_agg(i) FILTER (WHERE i % 2 = 0) AS some_rows,
  bf_dist_agg(bf_element_of(i) ORDER BY -i) = bf_agg(i) AS ordered
FROM generate_series(1, 1000) i;
SELECT count(*), bool_and(dist = own) AS same_filter FROM (
  SELECT a, b, bf_dist_agg(bf_element_of(i), 500) AS dist, bf_agg(i, 500) AS own
  FROM (SELECT i % 3 AS a, i % 5 AS b, i FROM generate_series(1, 1000) i) s
  GROUP BY CUBE (a, b)) s;
SELECT bool_and(dist = own AND p IS NOT NULL) AS frames FROM (
  SELECT bf_dist_agg(bf_element_of(i)) OVER w AS dist, bf_agg(i) OVER w AS own,
    bf_partial_agg(bf_element_of(i)) OVER w AS p
  FROM generate_series(1, 300) i WINDOW w AS (ORDER BY i / 2)) s;
SELECT outcome('SELECT bf_dist_agg(DISTINCT bf_element_of(i)) FROM generate_series(1, 3) i')
  AS no_order_for_distinct;

-- An element may be read at once, or be kept as a value of its own: with others in one query, in
-- groups, sorted, under a user's cast, and beyond the end of the query.
CREATE CAST (int AS bf_element) WITH FUNCTION bf_element_of("any");
SELECT k, array_length(kept, 1) AS kept,
  (SELECT count(DISTINCT e::text) FROM unnest(kept) e) AS own,
  dist = bf AS dist, sorted = bf AS sorted, of_cast = bf AS of_cast
FROM (
  SELECT i % 2 AS k, bf_dist_agg(bf_element_of(i)) AS dist, array_agg(bf_element_of(i)) AS kept,
    bf_dist_agg(bf_element_of(i) ORDER BY -i) AS sorted, bf_dist_agg(i::bf_element) AS of_cast,
    bf_agg(i) AS bf
  FROM generate_series(1, 1000) i GROUP BY 1) s ORDER BY k;
SELECT count(DISTINCT e::text) AS of_array, count(DISTINCT f::text) AS filters FROM (
  SELECT unnest(array_agg(i * j)::bf_element[]) AS e, bf_dist_agg(bf_element_of(i)) AS f
  FROM generate_series(1, 100) i, (VALUES (1), (-1)) v(j) GROUP BY i) s;
SELECT count(*) AS pairs, count(*) FILTER (WHERE f = g) AS alike FROM (
  SELECT a, b, bf_dist_agg(bf_element_of(a)) AS f, bf_dist_agg(bf_element_of(b)) AS g
  FROM generate_series(1, 20) a, generate_series(1, 20) b GROUP BY a, b) s;
DROP CAST (int AS bf_element);
PREPARE twice(int) AS SELECT bf_dist_agg(bf_element_of(i)) = bf_agg(i) AS same
  FROM generate_series(1, $1) i;
EXECUTE twice(10);
EXECUTE twice(1000);
DEALLOCATE twice;
-- Two queries are open at once. The first one ends first.
BEGIN;
DECLARE a CURSOR FOR SELECT bf_dist_agg(bf_element_of(i)) = bf_agg(i) AS same
  FROM generate_series(1, 10) i;
DECLARE b CURSOR FOR SELECT k, bf_dist_agg(bf_element_of(i)) = bf_agg(i) AS same
  FROM generate_series(1, 10) i, (VALUES (1), (2)) v(k) GROUP BY k ORDER BY k;
FETCH a;
FETCH b;
CLOSE a;
FETCH b;
COMMIT;

-- Partial states of parts, for any number of values. Merged, they are the filter of all rows. The
-- filter is sized by the values of all states, where a union would have one link for each part.
CREATE TABLE rows AS SELECT i % 7 AS part, i % 60000 AS i FROM generate_series(1, 120000) i;
CREATE TABLE kept AS
  SELECT part, bf_partial_agg(bf_element_of(i)) AS own,
    bf_partial_agg(bf_element_of(i), NULL, 0.001) AS own_rate,
    bf_partial_agg(bf_element_of(i), 60000) AS sized,
    bf_partial_agg(bf_element_of(i), 3000000, 0.001) AS large
  FROM rows GROUP BY part;
INSERT INTO kept VALUES (7); -- a part without rows
SELECT bf_merge_agg(own) = (SELECT bf_agg(i) FROM rows) AS own,
  bf_merge_agg(own_rate) = (SELECT bf_agg(i, NULL, 0.001) FROM rows) AS own_rate,
  bf_merge_agg(sized) = (SELECT bf_agg(i, 60000) FROM rows) AS sized,
  bf_merge_agg(large) = (SELECT bf_agg(i, 3000000, 0.001) FROM rows) AS large
FROM kept;
SELECT bf_merge_agg(p) = (SELECT bf_agg(i) FROM rows) AS not_stored,
  (bf_info(bf_merge_agg(p))).links, round((bf_info(bf_union_agg(f))).links) AS links_of_union
FROM (SELECT bf_partial_agg(bf_element_of(i)) AS p, bf_agg(i) AS f FROM rows GROUP BY part) s;
SELECT part, bf_merge_agg(own) = bf_agg(i) AS of_one_part
FROM kept JOIN rows USING (part) WHERE part < 2 GROUP BY part ORDER BY part;

-- A state has its distinct hashes, 8 bytes each, or the bitmap, whichever is smaller. Equal sets
-- have equal bytes, whatever the order and the plan.
CREATE FUNCTION size(p bf_partial) RETURNS int LANGUAGE sql AS
  $$ SELECT octet_length(bloomfilter_partial_send(p)) - 40 $$;
SELECT expected, hashes, size(p) AS bytes,
  size(p) = CASE WHEN 8 * hashes < s.bytes - 40 OR expected IS NULL THEN 8 * hashes
    ELSE s.bytes - 40 END AS smaller
FROM (VALUES (NULL, 5), (NULL, 100000), (1, 7), (1, 8), (1000, 159), (1000, 160), (1000, 5000),
        (60000, 9000), (60000, 12000), (3000000, 100000)) v(expected, hashes),
  LATERAL (SELECT bf_partial_agg(bf_element_of(i % hashes), expected) AS p
           FROM generate_series(1, 150000) i) a,
  LATERAL (SELECT bytes FROM bf_sizing(coalesce(expected, 1))) s;
SELECT count(DISTINCT p::text) AS forms FROM (
  SELECT bf_partial_agg(bf_element_of(i)) AS p FROM rows
  UNION ALL SELECT bf_partial_agg(bf_element_of(i) ORDER BY i DESC) FROM rows
  UNION ALL SELECT bf_partial_agg(DISTINCT_i) FROM
    (SELECT bf_element_of(i) AS DISTINCT_i FROM rows GROUP BY 1) s) s;
-- (For these values, the estimate of their number is 50 % too high.)
SELECT count(DISTINCT p::text) AS forms FROM (
  SELECT bf_partial_agg(bf_element_of(24718380 + i % 1087), 6608) AS p
  FROM (VALUES (1), (3)) v(n), generate_series(1, 1087 * n) i GROUP BY n) s;

-- With parallel workers, and with spilled hashes.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT bf_dist_agg(bf_element_of(i)) FROM rows;
SELECT bf_dist_agg(bf_element_of(i)) = bf_agg(i) AS own,
  bf_dist_agg(bf_element_of(i), 60000) = bf_agg(i, 60000) AS sized,
  bf_partial_agg(bf_element_of(i))::text = (SELECT p::text FROM
    (SELECT bf_partial_agg(bf_element_of(i)) AS p FROM rows GROUP BY part % 1) s) AS partial
FROM rows;
SET work_mem = '64kB';
SELECT bf_dist_agg(bf_element_of(i)) = bf_agg(i) AS own,
  bf_merge_agg(p) = bf_agg(i) AS merged
FROM rows LEFT JOIN (SELECT 0 AS part, bf_partial_agg(bf_element_of(i)) AS p FROM rows) s
  USING (part);
SET max_parallel_workers_per_gather = 0;
SELECT bf_dist_agg(bf_element_of(i)) = (SELECT bf_agg(i) FROM generate_series(1, 300000) i) AS own,
  size(bf_partial_agg(bf_element_of(i))) AS bytes
FROM generate_series(1, 300000) i;
SELECT bf_merge_agg(p) = (SELECT bf_agg(i) FROM generate_series(1, 300000) i) AS merged
FROM (SELECT bf_partial_agg(bf_element_of(i)) AS p FROM generate_series(1, 300000) i
      GROUP BY i % 3) s;
RESET ALL;
SET search_path = partial, public;
SET bloomfilter.scan = off;

-- Aggregates by partition. One partition has no rows for the aggregate.
CREATE TABLE parts (LIKE rows) PARTITION BY LIST (part);
CREATE TABLE parts_few PARTITION OF parts FOR VALUES IN (0, 1);
CREATE TABLE parts_more PARTITION OF parts DEFAULT;
INSERT INTO parts TABLE rows;
ANALYZE parts;
SET enable_partitionwise_aggregate = on;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT bf_agg(i) FROM parts;
SELECT bf_dist_agg(bf_element_of(i)) = bf_agg(i) AS dist,
  bf_agg(i) = (SELECT bf_agg(i) FROM rows) AS own,
  bf_agg(i) FILTER (WHERE part < 2) = (SELECT bf_agg(i) FROM rows WHERE part < 2) AS few,
  bf_agg(i) FILTER (WHERE part > 1) = (SELECT bf_agg(i) FROM rows WHERE part > 1) AS more,
  bf_agg(i) FILTER (WHERE part > 9) = (SELECT bf_agg(i) FROM rows WHERE part > 9) AS none
FROM parts;
RESET ALL;
SET search_path = partial, public;

-- A user's aggregate that continues from a state. The state is not changed.
SELECT bf_partial_agg(bf_element_of(i))::text AS own,
  bf_partial_agg(bf_element_of(i), 100)::text AS sized
FROM generate_series(1, 10) i \gset
CREATE AGGREGATE go_on(bf_element) (sfunc = bloomfilter_partial_add, stype = bf_partial,
  finalfunc = bloomfilter_partial_final, initcond = :'own');
CREATE AGGREGATE go_on(bf_element, float8) (sfunc = bloomfilter_partial_add, stype = bf_partial,
  finalfunc = bloomfilter_partial_final, initcond = :'sized');
SELECT k, go_on(bf_element_of(i)) = (SELECT bf_agg(j) FROM generate_series(1, 20) j
    WHERE j <= 10 OR j % 2 = k) AS own,
  go_on(bf_element_of(i), 100) = (SELECT bf_agg(j, 100) FROM generate_series(1, 20) j
    WHERE j <= 10 OR j % 2 = k) AS sized
FROM (SELECT i, i % 2 AS k FROM generate_series(11, 20) i) s GROUP BY k ORDER BY k;

-- A user's moving aggregate. Its inverse function would take over the state and free it, so it is
-- refused. Without a moving frame, the aggregate is right.
CREATE FUNCTION take_over(bf_partial, bf_element) RETURNS bf_partial LANGUAGE plpgsql
  AS 'BEGIN RETURN $1; END';
CREATE AGGREGATE moving(bf_element) (sfunc = bloomfilter_partial_add, stype = bf_partial,
  msfunc = bloomfilter_partial_add, mstype = bf_partial, minvfunc = take_over);
CREATE AGGREGATE merging(bf_partial) (sfunc = bloomfilter_partial_combine, stype = bf_partial,
  msfunc = bloomfilter_partial_combine, mstype = bf_partial,
  minvfunc = bloomfilter_partial_combine);
SELECT moving(bf_element_of(i)) OVER (ORDER BY i ROWS 2 PRECEDING) FROM generate_series(1, 9) i;
SELECT merging(state) OVER (ORDER BY i ROWS 2 PRECEDING) FROM generate_series(1, 9) i,
  (SELECT bf_partial_agg(bf_element_of(1)) AS state) s;
SELECT row_number() OVER w, moving(bf_element_of(i)) OVER w FROM generate_series(1, 9) i
WINDOW w AS (ORDER BY i ROWS 2 PRECEDING);
SELECT moving(bf_element_of(i))::text = bf_partial_agg(bf_element_of(i))::text AS grouped
FROM generate_series(1, 9) i;
-- A user's moving aggregate. Its step function would take over the state and free it.
CREATE FUNCTION give_back(bf_partial, bf_partial) RETURNS bf_partial LANGUAGE plpgsql
  AS 'BEGIN RETURN coalesce($1, $2); END';
CREATE AGGREGATE merging_back(bf_partial) (sfunc = give_back, stype = bf_partial,
  msfunc = give_back, mstype = bf_partial, minvfunc = bloomfilter_partial_combine);
SELECT i, merging_back(state) OVER (ORDER BY i ROWS 1 PRECEDING) FROM generate_series(1, 9) i,
  (SELECT bf_partial_agg(bf_element_of(1)) AS state) s;

-- A user's final function reads a spilled state in a subtransaction that fails, and then reads it
-- again. The files of the state stay open, and it has all hashes.
CREATE FUNCTION read_twice(state bf_partial) RETURNS bf_partial LANGUAGE plpgsql AS $$
DECLARE
  flat bf_partial;
BEGIN
  BEGIN
    flat := state;
    RAISE division_by_zero;
  EXCEPTION WHEN division_by_zero THEN
    NULL;
  END;
  PERFORM count(*) FROM (SELECT i FROM generate_series(1, 20000) i ORDER BY -i) s; -- other files
  RETURN state;
END $$;
CREATE AGGREGATE twice(bf_element) (sfunc = bloomfilter_partial_add, stype = bf_partial,
  finalfunc = read_twice);
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT md5(twice(bf_element_of(i))::text) = md5(bf_partial_agg(bf_element_of(i))::text) AS same
FROM generate_series(1, 200000) i;
RESET work_mem;
RESET hash_mem_multiplier;

-- The rate is kept up to the capacity that was asked for, and no further.
SELECT (bf_info(bf_merge_agg(p))).saturated FROM
  (SELECT bf_partial_agg(bf_element_of(i), 100) AS p FROM generate_series(1, 1000) i
   GROUP BY i % 2) s;

-- States that do not belong together.
CREATE FUNCTION message(statement text) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(code || ' ' || message || -- Some servers give a detail of undefined functions.
    coalesce('; ' || CASE WHEN code <> '42883' THEN detail END, ''), 'no error')
  FROM error_of(statement)
$$;
CREATE TABLE wrong (id serial, statement text);
INSERT INTO wrong (statement) VALUES
  ('SELECT bf_dist_agg(bf_element_of(i), i) FROM generate_series(1, 2) i'),
  ('SELECT bf_dist_agg(bf_element_of(i), CASE WHEN i = 1 THEN 5 END) FROM generate_series(1, 2) i'),
  ('SELECT bf_dist_agg(bf_element_of(i), 5, i / 10.0) FROM generate_series(1, 2) i'),
  ('SELECT bf_dist_agg(bf_element_of(i), 0) FROM generate_series(1, 2) i'),
  ('SELECT bf_dist_agg(bf_element_of(i), ''NaN'') FROM generate_series(1, 2) i'),
  ('SELECT bf_dist_agg(bf_element_of(i), 5, 0.7) FROM generate_series(1, 2) i'),
  ('SELECT bf_partial_agg(bf_element_of(i), NULL, 2) FROM generate_series(1, 2) i'),
  ('SELECT bf_dist_agg(e) FROM (VALUES (bf_element_of(1)), (bf_element_of(''a''::text))) v(e)'),
  ('SELECT bf_dist_agg(e) FROM (VALUES (bf_element_of(''{1}''::int[])),
    (bf_element_of(''{a}''::text[]))) v(e)'),
  ('SELECT bf_merge_agg(p) FROM (SELECT bf_partial_agg(bf_element_of(i)) AS p FROM rows
    UNION ALL SELECT bf_partial_agg(bf_element_of(i::text)) FROM rows) s'),
  ('SELECT bf_merge_agg(p) FROM (SELECT sized AS p FROM kept UNION ALL SELECT own FROM kept) s'),
  ('SELECT bf_merge_agg(p) FROM (SELECT own AS p FROM kept UNION ALL SELECT own_rate FROM kept) s'),
  ('SELECT bf_merge_agg(p) FROM (SELECT sized AS p FROM kept UNION ALL SELECT large FROM kept) s'),
  ('SELECT bf_element_of(''(1,2)''::point)'),
  ('SELECT bf_element_of(bf_create(10))'),
  ('SELECT bloomfilter_partial_add(NULL, bf_element_of(1))'),
  ('SELECT bloomfilter_partial_combine(own, own) FROM kept'),
  ('SELECT bf_dist_agg(i) FROM generate_series(1, 2) i'),
  ('SELECT bf_create(10) + bf_element_of(1)'),
  ('SELECT bf_create(10) @> bf_element_of(1)');
-- Without workers, because workers may finish the second branch of a UNION first.
SET max_parallel_workers_per_gather = 0;
SELECT statement, message(statement) FROM wrong ORDER BY id;
RESET max_parallel_workers_per_gather;
-- The final function can be called like any other function. It gives the filter of one state.
SELECT bloomfilter_partial_final(sized) = (SELECT bf_agg(i, 60000) FROM rows r
                                           WHERE r.part = kept.part) AS sized,
  bloomfilter_partial_final(own) = (SELECT bf_agg(i) FROM rows r WHERE r.part = kept.part) AS own
FROM kept WHERE part = 3;

-- Bytes from outside. Sound bytes come back as they were, and others are refused. None crash the
-- server.
CREATE FUNCTION from_bytes(b bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  p bf_partial := translate(encode(b, 'base64'), e'\n', '');
BEGIN
  PERFORM bf_merge_agg(p);
  RETURN CASE WHEN bloomfilter_partial_send(p) = b THEN 'ok' ELSE 'not the same' END;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
CREATE FUNCTION outcome_of(b bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN from_bytes(b);
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
CREATE TABLE sound AS
  SELECT 'own' AS name, bloomfilter_partial_send(bf_partial_agg(bf_element_of(i))) AS b
  FROM generate_series(1, 3) i
  UNION ALL SELECT 'sized', bloomfilter_partial_send(bf_partial_agg(bf_element_of(i), 100))
  FROM generate_series(1, 3) i
  UNION ALL SELECT 'bitmap', bloomfilter_partial_send(bf_partial_agg(bf_element_of(i), 3))
  FROM generate_series(1, 20) i
  UNION ALL SELECT 'arrays', bloomfilter_partial_send(bf_partial_agg(bf_element_of(ARRAY[i])))
  FROM generate_series(1, 3) i;
SELECT name, octet_length(b) AS bytes, outcome_of(b) FROM sound ORDER BY name;
SELECT name, n = octet_length(b) AS whole, outcome_of(substr(b || '\x00', 1, n)), count(*)
FROM sound, generate_series(0, octet_length(b) + 1) n GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
-- Every byte of the header is set to every other value. Another element type is plausible, and so
-- is another shape of an array. Bits in place of hashes are plausible if they take the same number
-- of bytes.
SELECT outcomes, array_agg(byte ORDER BY byte) AS bytes FROM (
  SELECT byte, string_agg(count || ' ' || outcome, ', ' ORDER BY outcome) AS outcomes FROM (
    SELECT i AS byte, outcome_of(set_byte(b, i, value)) AS outcome, count(*)
    FROM sound, generate_series(0, 39) i, generate_series(0, 255) value
    WHERE get_byte(b, i) <> value GROUP BY 1, 2) o GROUP BY byte) b
GROUP BY outcomes ORDER BY min(byte);
SELECT outcome('SELECT ' || quote_literal(t) || '::bf_partial') AS outcome, t
FROM (VALUES (''), ('AAAA'), ('no base64'), ('AQAAAAEB'), (E'\\x01')) v(t);
SELECT 'AQAAAAEBAQYAAAAAAAAAAAEAAAAAAAAAexSuR+F6hD8BAAAAAg'::bf_partial;
SELECT bf_create(10)::text::bf_partial;
SELECT encode(set_byte(b, 47, 255), 'base64') AS damaged FROM sound WHERE name = 'arrays' \gset
SELECT :'damaged'::bf_partial;
-- The same bytes in a damaged page.
CREATE FUNCTION forged(bytea, int DEFAULT 1) RETURNS bf_partial LANGUAGE internal IMMUTABLE STRICT
  AS 'bytea_substr_no_len';
SELECT bf_merge_agg(forged(set_byte(b, 1, 7))) FROM sound WHERE name = 'arrays';
-- Damaged elements. The length word of 24 or 60 bytes is where the family should be. The length
-- word of 60 bytes is no family. On a big-endian machine, neither length word is one.
CREATE FUNCTION forged_element(bytea, int DEFAULT 1) RETURNS bf_element LANGUAGE internal IMMUTABLE
  STRICT AS 'bytea_substr_no_len';
SELECT bytes, outcome(format(
  'SELECT bf_dist_agg(forged_element(decode(repeat(''00'', %s), ''hex'')))', bytes))
FROM unnest(ARRAY[24, 60]) bytes;
SELECT (SELECT sized FROM kept LIMIT 1)::text::bloomfilter;
SELECT outcomes, array_agg(byte ORDER BY byte) AS bytes FROM (
  SELECT byte, string_agg(count || ' ' || outcome, ', ' ORDER BY outcome) AS outcomes FROM (
    SELECT i AS byte, count(*),
      outcome(format('SELECT %L::bf_element', encode(set_byte(b, i, value), 'base64')))
    FROM (SELECT bloomfilter_element_send(bf_element_of('a'::text)) AS b) s,
      generate_series(0, 23) i, generate_series(0, 255) value
    WHERE get_byte(b, i) <> value GROUP BY 1, 3) o GROUP BY byte) b
GROUP BY outcomes ORDER BY min(byte);
SELECT outcome('SELECT ' || quote_literal(t) || '::bf_element') AS outcome, t
FROM (VALUES (''), ('AAAA'), ('no base64'), ('BAAAAAAAAAARzbKAZGzw6hHNsoBkbPDqAA==')) v(t);
SELECT 'BAAAAAEAAAARzbKAZGzw6hHNsoBkbPDq'::bf_element;
SELECT encode(set_byte(bloomfilter_element_send(bf_element_of('a '::varchar)), 0, 1), 'base64')
  AS damaged \gset
SELECT :'damaged'::bf_element;

-- Hashes that were chosen so that each register has its highest rank, or the rank of far more
-- values. The filter is still sized for the number of values that there are.
SELECT lows, i.expected, i.bytes, bf_check(f)
FROM unnest(ARRAY['000000000000,010000000000', '000000000800,010000000800']) lows,
  LATERAL (
    SELECT bf_dist_agg(encode('\x0100000000000000' || hash || hash, 'base64')::bf_element) AS f
    FROM string_to_table(lows, ',') low, generate_series(0, 65535) high,
      set_byte(set_byte(decode(low || '0000', 'hex'), 6, high & 255), 7, high >> 8) hash) made,
  bf_info(f) i;

-- Elements are compared by their value: equal values of one family are one element.
SELECT bf_element_of(5) = bf_element_of(5::bigint) AS one_family,
  bf_element_of(5) <> bf_element_of(5::numeric) AS another,
  bf_element_of('a '::varchar) <> bf_element_of('a '::text) AS two_hashes_and_one,
  bf_element_of(NULL::text) IS NULL AS null_of_null;
SELECT count(*) FROM (SELECT bf_element_of(i % 10) FROM generate_series(1, 100) i GROUP BY 1) s;
SELECT count(DISTINCT x::text) AS distinct_elements
FROM (SELECT bf_element_of(i % 10) AS x FROM generate_series(1, 100) i) s;
RESET search_path;
