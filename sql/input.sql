-- Bytes from outside. Whatever is wrong with them, there is a clear error and never a crash.
-- Damaged stored bytes are an error, too.
CREATE SCHEMA input;
SET search_path = input, public;
\i sql/include/outcome.sql

-- For each layout, an empty filter and one with values. Also a self-sized filter and one of arrays.
CREATE TABLE sound (name text, filter bloomfilter);
INSERT INTO sound VALUES
  ('lines', bf_create(10)), ('lines with values', bf_create(10) + 1 + 2),
  ('pages', bf_create(1000, 0.0001)), ('pages with values', bf_create(1000, 0.0001) + 1 + 2),
  ('by size', bf_create_by_size(512, 3, 7) + 'a'::text), ('arrays', bf_create(10) + '{1}'::int[]);
INSERT INTO sound SELECT 'self-sized', bf_agg(x) FROM generate_series(1, 10) x;
SELECT count(*), bool_and(bf_check(filter) IS NULL) AS sound FROM sound;

-- Bytes are accepted only if they are a filter. An accepted filter is sound, can be probed, added
-- to and shown, and goes out with the bytes that came in.
CREATE FUNCTION usable(f bloomfilter) RETURNS boolean LANGUAGE sql AS $$
  SELECT bf_check(f) IS NULL AND bf_contains_hash(f, 1) IS NOT NULL AND bf_fpr(f) BETWEEN 0 AND 1
    AND (bf_count(f) >= 0 OR get_byte(f::bytea, 32) & 8 = 8)
    AND (bf_info(f)).bytes = 4 + octet_length(f::bytea)
    AND bf_contains_hash(bf_add_hash(f, 1), 1) AND f::text::bloomfilter = f AND bf_clear(f) <= f
$$;
CREATE FUNCTION from_bytes(b bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  f bloomfilter;
BEGIN
  f := b::bloomfilter;
  RETURN CASE WHEN f::bytea = b AND usable(f) THEN 'usable' ELSE 'not usable' END;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
CREATE FUNCTION from_text(t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  f bloomfilter;
BEGIN
  f := t::bloomfilter;
  RETURN CASE WHEN f::text = t AND usable(f) THEN 'usable' ELSE 'not usable' END;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
CREATE FUNCTION base64(b bytea) RETURNS text LANGUAGE sql AS
  $$ SELECT translate(encode(b, 'base64'), e'\n', '') $$;
SELECT from_bytes(filter::bytea), from_text(filter::text), count(*) FROM sound GROUP BY 1, 2;

-- Every length from no byte to one byte too many.
SELECT n = octet_length(b) AS whole, from_bytes(part) AS bytes, from_text(base64(part)) AS text,
  count(*)
FROM (SELECT filter::bytea AS b FROM sound WHERE name NOT LIKE 'pages%') s,
  generate_series(0, octet_length(b) + 1) n, substr(b || '\x00', 1, n) part
GROUP BY 1, 2, 3 ORDER BY 1;

-- Every byte of the header is set to every other value. A value is accepted if it is plausible: any
-- seed, many capacities and rates, another number of hashes or element type, the flag of self-sized
-- filters. Hive's layout is plausible, too, because its units are as large as lines. Such a filter
-- takes no hashes: 0A000. Overfilling is ignored, because it depends on the order of rows.
SET bloomfilter.overfill = ignore;
CREATE TABLE flipped AS
  SELECT name, i, value, from_bytes(set_byte(b, i, value)) AS bytes,
    from_text(base64(set_byte(b, i, value))) AS text
  FROM (SELECT name, filter::bytea AS b FROM sound) s, generate_series(0, 35) i,
    generate_series(0, 255) value
  WHERE get_byte(b, i) <> value;
RESET bloomfilter.overfill;
SELECT DISTINCT bytes, text FROM flipped ORDER BY bytes;
SELECT CASE WHEN i = 0 THEN '0 version' WHEN i = 1 THEN '1 layout'
    WHEN i = 2 THEN '2 element type' WHEN i = 3 THEN '3 hashes' WHEN i < 12 THEN '4 seed'
    WHEN i < 20 THEN '5 expected' WHEN i < 28 THEN '6 rate' WHEN i < 32 THEN '7 units'
    WHEN i = 32 THEN '8 flags' ELSE '9 shape' END AS field,
  count(DISTINCT value) FILTER (WHERE name = 'lines with values') AS accepted,
  count(DISTINCT value) FILTER (WHERE name = 'lines') AS accepted_when_empty
FROM flipped WHERE bytes = 'usable' GROUP BY 1 ORDER BY 1;

-- Any bits of the bitmap are accepted, except when the header says that the filter is empty.
SELECT name, from_bytes(set_bit(b, 8 * 36 + i, 1 - get_bit(b, 8 * 36 + i))) AS outcome, count(*)
FROM (SELECT name, filter::bytea AS b FROM sound WHERE name LIKE 'lines%') s,
  generate_series(0, 511) i
GROUP BY 1, 2 ORDER BY 1;

-- In the text, every single character is replaced, removed and doubled.
SELECT from_text(overlay(t PLACING c FROM i FOR 1)) AS outcome, count(*)
FROM (SELECT filter::text AS t FROM sound WHERE name = 'lines with values') s,
  generate_series(1, length(t)) i, (VALUES ('!'), ('='), (''), ('AA')) v(c)
GROUP BY 1 ORDER BY 1;
SELECT left(t, 12) AS text, length(t), outcome(format('SELECT %L::bloomfilter', t))
FROM (VALUES (''), (' '), ('='), ('===='), ('A'), ('AA=='), ('not a filter'), ('\x0101'), ('{}'),
  (repeat('A', 139)), (repeat('A', 1000))) v(t);
SELECT bool_and((e' \n\t' || filter::text || e'\r\n ')::bloomfilter = filter) AS space_is_skipped
FROM sound;

-- The messages of the errors.
SELECT 'not a filter'::bloomfilter;
SELECT ''::bloomfilter;
SELECT '\x'::bytea::bloomfilter;
SELECT substr(filter::bytea, 1, 99)::bloomfilter FROM sound WHERE name = 'lines';
SELECT set_byte(filter::bytea, 0, 9)::bloomfilter FROM sound WHERE name = 'lines';
SELECT set_byte(filter::bytea, 1, 9)::bloomfilter FROM sound WHERE name = 'lines';
SELECT set_byte(filter::bytea, 2, 99)::bloomfilter FROM sound WHERE name = 'lines';
SELECT set_byte(filter::bytea, 2, 0)::bloomfilter FROM sound WHERE name = 'lines with values';
SELECT set_byte(filter::bytea, 3, 0)::bloomfilter FROM sound WHERE name = 'lines';
SELECT set_byte(filter::bytea, 12, 0)::bloomfilter FROM sound WHERE name = 'lines';
SELECT set_byte(filter::bytea, 28, 0)::bloomfilter FROM sound WHERE name = 'lines';
SELECT set_byte(filter::bytea, 29, 1)::bloomfilter FROM sound WHERE name = 'lines';
SELECT set_byte(filter::bytea, 32, 128)::bloomfilter FROM sound WHERE name = 'lines';
SELECT set_byte(filter::bytea, 33, 1)::bloomfilter FROM sound WHERE name = 'lines';

-- A file of COPY's binary format does not name types, so bytea values can stand in for damaged
-- filters.
CREATE TABLE copied (LIKE sound);
\copy sound TO 'results/input.copy' (FORMAT binary)
\copy copied FROM 'results/input.copy' (FORMAT binary)
SELECT count(*) AS same FROM sound JOIN copied USING (name, filter);
CREATE TABLE sent (bytes bytea);
CREATE TABLE received (filter bloomfilter);
INSERT INTO sent SELECT bytea(filter) || '\x00' FROM sound WHERE name = 'lines';
\copy sent TO 'results/input.copy' (FORMAT binary)
\set VERBOSITY sqlstate
\copy received FROM 'results/input.copy' (FORMAT binary)
UPDATE sent SET bytes = '';
\copy sent TO 'results/input.copy' (FORMAT binary)
\copy received FROM 'results/input.copy' (FORMAT binary)
\set VERBOSITY default
SELECT count(*) AS received FROM received;

-- A bytea can be assigned to a filter, and is checked. So a driver can insert the bytes that it
-- has.
CREATE TABLE assigned (bloom bloomfilter, counting countingbloomfilter, cuckoo cuckoofilter);
CREATE TABLE held AS
  SELECT (bf_create(10) + 1)::bytea AS bloom, (cbf_create(10) + 1)::bytea AS counting,
    (cf_create(10) + 1)::bytea AS cuckoo;
DO $$
BEGIN
  EXECUTE 'INSERT INTO assigned VALUES ($1, $2, $3)' USING
    (SELECT bloom FROM held), (SELECT counting FROM held), (SELECT cuckoo FROM held);
END $$;
INSERT INTO assigned SELECT * FROM held;
UPDATE assigned SET (bloom, counting, cuckoo) = (SELECT bloom, counting, cuckoo FROM held);
CREATE FUNCTION assign(bytes bytea) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  f bloomfilter := bytes;
BEGIN
  RETURN f @> 1;
END $$;
SELECT bool_and(assigned.bloom @> 1) AS bloom,
  bool_and(assigned.counting @> 1) AS counting,
  bool_and(assigned.cuckoo @> 1) AS cuckoo,
  bool_and(assign(held.bloom)) AS "in PL/pgSQL"
FROM assigned, held \gx
SELECT column_name,
  outcome(format('INSERT INTO assigned (%I) SELECT bytea ''''', column_name)) AS nothing,
  outcome(format('INSERT INTO assigned (%I) SELECT set_byte(%1$I, 0, 9) FROM held', column_name))
    AS "another version",
  outcome(format('INSERT INTO assigned (%I) SELECT %I FROM held', column_name,
    lead(column_name, 1, 'bloom') OVER (ORDER BY column_name))) AS "another type's bytes",
  outcome(format('SELECT %I || ''x''::bytea FROM assigned', column_name)) AS "as an operand",
  outcome(format('INSERT INTO held (%I) SELECT %1$I FROM assigned', column_name)) AS "to a bytea"
FROM information_schema.columns
WHERE table_schema = 'input' AND table_name = 'assigned' ORDER BY column_name;

-- Soft errors, from PostgreSQL 16 on.
DO $$
DECLARE
  soft boolean;
BEGIN
  IF current_setting('server_version_num')::int >= 160000 THEN
    EXECUTE $query$
      SELECT NOT pg_input_is_valid('not a filter', 'bloomfilter')
        AND NOT pg_input_is_valid('AQEB', 'bloomfilter')
        AND (SELECT sql_error_code = '22P02' FROM pg_input_error_info('AQEB', 'bloomfilter'))
        AND pg_input_is_valid(bf_create(10)::text, 'bloomfilter') $query$ INTO soft;
    ASSERT soft;
  END IF;
END $$;

-- Damaged stored bytes: every function that reads them raises an error, and bf_check() says what is
-- wrong.
CREATE FUNCTION forged(bytea, int DEFAULT 1) RETURNS bloomfilter LANGUAGE internal IMMUTABLE STRICT
  AS 'bytea_substr_no_len';
CREATE TABLE damaged (how text, filter bloomfilter);
INSERT INTO damaged
  SELECT how, forged(b) FROM sound, LATERAL (VALUES
    ('version', set_byte(filter::bytea, 0, 2)), ('layout', set_byte(filter::bytea, 1, 0)),
    ('element type', set_byte(filter::bytea, 2, 255)), ('hashes', set_byte(filter::bytea, 3, 17)),
    ('expected', set_byte(filter::bytea, 19, 1)), ('rate', set_byte(filter::bytea, 27, 255)),
    ('units', set_byte(filter::bytea, 28, 2)), ('too many units', set_byte(filter::bytea, 31, 255)),
    ('flags', set_byte(filter::bytea, 32, 255)), ('shape', set_byte(filter::bytea, 35, 1)),
    ('header cut', substr(filter::bytea, 1, 35)), ('bitmap cut', substr(filter::bytea, 1, 99)),
    ('nothing', ''), ('one byte more', filter::bytea || '\x00')) v(how, b)
  WHERE name = 'lines with values';
SELECT how, bf_check(filter) FROM damaged;
SELECT bf_check(forged(set_byte(filter::bytea, 2, 0))) FROM sound WHERE name = 'lines with values';
-- Bytes of another type of the extension, sound in themselves.
SELECT bf_check(forged(b)) AS bf_check, outcome(format('SELECT forged(%L) + 1', b)) AS add,
  outcome(format('SELECT bf_contains_any(forged(%L), ARRAY[1])', b)) AS contains_any,
  outcome(format('SELECT bf_contains_each(forged(%L), ARRAY[1])', b)) AS contains_each
FROM (VALUES ((cbf_create(10) + 1)::bytea), ((cf_create(10) + 1)::bytea)) v(b) \gx
SELECT how, array_agg(DISTINCT outcome) AS outcomes
FROM damaged, (VALUES ('filter @> 1'), ('1 <@ filter'), ('filter @> ''1'''), ('filter + 1'),
    ('filter + ''1'''), ('bf_add_all(filter, ''{1}''::int[])'), ('bf_put(filter, 1)'),
    ('bf_contains_any(filter, ''{1}''::int[])'), ('bf_contains_each(filter, ''{1}''::int[])'),
    ('bf_clear(filter)'), ('bf_count(filter)'), ('bf_fpr(filter)'), ('bf_info(filter)'),
    ('bf_describe(filter)'), ('bf_add_hash(filter, 1)'), ('bf_contains_hash(filter, 1)'),
    ('filter::text'), ('filter::bytea::bloomfilter'), ('bloomfilter_send(filter)')) u(use),
  outcome(format('SELECT %s FROM damaged WHERE how = %L', use, how))
GROUP BY how ORDER BY how COLLATE "C";
SELECT filter @> 1 FROM damaged WHERE how = 'version';
SELECT bf_count(filter) FROM damaged WHERE how = 'bitmap cut';

-- Comparisons are the only use that does not need sound bytes. A table with a damaged value can
-- still be analyzed, sorted, grouped, joined and indexed.
CREATE TABLE mixed AS SELECT filter FROM sound UNION ALL SELECT filter FROM damaged;
INSERT INTO mixed SELECT filter FROM damaged;
ANALYZE mixed;
CREATE INDEX ON mixed (filter);
CREATE INDEX ON mixed USING hash (filter);
SELECT count(*), count(DISTINCT filter) AS filters FROM mixed;
-- Of two neighbours in the order, the first one precedes the second.
SELECT operation, bool_and(holds) AS holds
FROM (SELECT filter AS b, lag(filter) OVER (ORDER BY filter) AS a
    FROM (SELECT DISTINCT filter FROM mixed) s) s,
  LATERAL (VALUES (1, 'a < b', a < b), (2, 'a <= b', a <= b), (3, 'b > a', b > a),
    (4, 'b >= a', b >= a), (5, 'a <> b', a <> b), (6, 'not a = b', NOT a = b),
    (7, 'cmp of a and b', bloomfilter_cmp(a, b) < 0),
    (8, 'another hash', bloomfilter_hash(a) <> bloomfilter_hash(b))) o(number, operation, holds)
WHERE a IS NOT NULL
GROUP BY number, operation ORDER BY number;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET enable_sort = off;
SELECT count(*) AS hashed FROM mixed JOIN damaged USING (filter);
SELECT count(*) AS hashed FROM (SELECT filter FROM mixed GROUP BY filter) s;
RESET enable_mergejoin;
RESET enable_sort;
SET enable_hashjoin = off;
SET enable_hashagg = off;
SELECT count(*) AS sorted FROM mixed JOIN damaged USING (filter);
SELECT count(*) AS sorted FROM (SELECT filter FROM mixed GROUP BY filter) s;
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_hashagg;
