-- Numerics are read in their stored form. Whatever the form, the hash is computed from the
-- canonical bytes. Here, the canonical bytes are made from the output of numeric_send().
CREATE SCHEMA stored_numeric;
SET search_path = stored_numeric, public;

CREATE FUNCTION canonical(sent bytea) RETURNS bytea LANGUAGE sql IMMUTABLE RETURN (
  SELECT string_agg(substr(sent, at + 1, 1) || substr(sent, at, 1), '' ORDER BY place)
  FROM unnest(ARRAY[5, 3] || ARRAY(SELECT generate_series(9, length(sent) - 1, 2)))
    WITH ORDINALITY words(at, place));
CREATE FUNCTION u32(number int) RETURNS bytea LANGUAGE sql IMMUTABLE RETURN (
  SELECT string_agg(substr(int4send(number), at, 1), '') FROM generate_series(4, 1, -1) at);

SELECT canonical(numeric_send(123456.7800)), canonical(numeric_send(-0.00012)), u32(258);

-- Numbers of many lengths, with both signs. Their exponents are around the values where the form
-- changes (weights beyond -64 and 63, scales beyond 63) and at the ends.
CREATE TABLE numbers (number numeric);
ALTER TABLE numbers ALTER number SET STORAGE EXTERNAL;
SELECT setseed(0.17);
INSERT INTO numbers
SELECT (CASE WHEN random() < 0.5 THEN '-' ELSE '' END ||
  (SELECT string_agg((greatest(random() * 14 - 4, 0))::int % 10
     || repeat('0', (random() ^ 9 * 9)::int), '')
   FROM generate_series(1, 2 * i)) || 'e' || exponent)::numeric
FROM generate_series(1, 30) i, unnest(ARRAY[
  -16300, -1000, -260, -257, -256, -255, -252, -100, -70, -64, -63, -62, -61, -60, -59, -40, -20,
  -9, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 100, 195, 200, 240, 250,
  251, 252, 253, 254, 255, 256, 257, 260, 300, 1000]) exponent;
INSERT INTO numbers
SELECT round(number, scale) FROM (SELECT number FROM numbers WHERE abs(number) < 1e30 LIMIT 600) s,
  unnest(ARRAY[0, 1, 4, 5, 62, 63, 64, 65, 100]) scale;
INSERT INTO numbers VALUES ('NaN'), ('Infinity'), ('-Infinity'), (0), (0.0), (-0.000),
  (round(0, 100)), (round(0, 16383)), (1e131071), (-1e131071), (1e-16383), (-1e-16383),
  (1e131071 + 1), (1e131071 + 1e-16383), (9999), (10000), (10001), (0.0001), (0.00001),
  (100010000), (0.00010001);
INSERT INTO numbers
SELECT repeat('1234567890', digits)::numeric FROM generate_series(2, 1000, 53) digits;

SELECT count(*) > 6000 AS many, count(*) FILTER (WHERE pg_column_size(number) > 2000) > 10 AS large,
  count(*) FILTER (WHERE bf_hash(number) IS DISTINCT FROM expected) AS stored,
  count(*) FILTER (WHERE bf_hash(number + 0) IS DISTINCT FROM expected) AS made
FROM (SELECT number, bf_hash(canonical(numeric_send(number))) AS expected FROM numbers) s;

-- A compressed number, numbers within other values, and numbers in jsonb, at every address.
CREATE TABLE compressed (number numeric);
INSERT INTO compressed SELECT repeat('1234', 9000 + i)::numeric FROM generate_series(1, 20) i;
SELECT max(pg_column_size(number)) < 10000 AS compressed,
  bool_and(bf_hash(number) = bf_hash(canonical(numeric_send(number)))) AS "like any other"
FROM compressed;
SELECT count(*) FILTER (WHERE NOT bf_create(1) + number @> number) AS element,
  count(*) FILTER (WHERE bf_hash(ARRAY[number, 1]) <> bf_hash(ARRAY[number + 0, 1.0])) AS item
FROM numbers;
CREATE TABLE documents AS
SELECT number, to_jsonb(number) AS document,
  jsonb_build_array(repeat('x', (number % 7)::int), number) AS list
FROM numbers WHERE number NOT IN ('NaN', 'Infinity', '-Infinity') AND abs(number) < 1e300;
SELECT count(*) > 6000 AS many, count(*) FILTER (WHERE bf_hash(document) IS DISTINCT FROM
    bf_hash('\x03'::bytea || u32(length(canonical)) || canonical)) AS document,
  count(*) FILTER (WHERE bf_hash(list) IS DISTINCT FROM bf_hash('\x0502000000'::bytea
    || '\x04' || u32(length(list ->> 0)) || convert_to(list ->> 0, 'UTF8')
    || '\x03' || u32(length(canonical)) || canonical)) AS list
FROM (SELECT *, canonical(numeric_send(number)) FROM documents) s;

\set VERBOSITY terse
DROP SCHEMA stored_numeric CASCADE;
