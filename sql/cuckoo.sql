-- Cuckoo filters: first what they share with counting filters, then what only they have.
CREATE SCHEMA cf;
SET search_path = cf, public;
SET timezone = 'UTC';
\set type cuckoofilter
\set prefix cf
-- Fingerprints within one byte, fingerprints across bytes, and long ones.
\set rates '{0.3, 0.01, 0.005, 0.0001, 1e-6, 1e-9}'
\pset format unaligned
\pset footer off
\i sql/include/outcome.sql
\i sql/include/plan.sql
-- expected/counting.out shows the statements of the part that both files share.
\set ECHO none
\i sql/include/deletable.sql
\set ECHO all

-- The rest of the file is about cuckoo filters alone.

-- All columns of cf_info.
SELECT version, element_type, fingerprint_bits, buckets, stored,
  fill = stored / (4.0::float8 * buckets) AS "fill is of four a bucket",
  round(fill::numeric, 3) AS rounded,
  kicks, capacity_left,
  cf_count(f) = stored AS "count is that of info",
  abs(estimated_fpr - (1 - power(1 - 1 / (power(2, fingerprint_bits) - 1), 8 * fill))) < 1e-9
    AS "rate is that of the fill"
FROM (SELECT cf_add_all(cf_create(1000), array_agg(i)) AS f FROM generate_series(1, 1000) i) s,
  cf_info(f) \gx
SELECT n, stored, kicks, capacity_left, estimated_fpr > 0 AS some
FROM generate_series(0, 3) n,
  LATERAL (SELECT cf_add_all(cf_create(2), array(SELECT generate_series(1, n))) AS f) f, cf_info(f)
ORDER BY n;

-- Sizes: a fingerprint has ceil(log2(1/rate) + 3) bits. The load is 95 %, or 85 % below 250
-- buckets.
SELECT rate, n, buckets, fingerprint_bits, bits, bytes
FROM (VALUES (1), (10), (1000), (100000)) n(n), (VALUES (0.5), (0.01), (1e-4), (1e-9)) r(rate),
  cf_sizing(n, rate)
ORDER BY rate DESC, n;
SELECT rate, fingerprint_bits
FROM unnest(ARRAY[0.5, 0.125, 0.1249, 0.0625, 0.03125, 0.001953125, 0.001953124, 2e-9,
    1.862645149230957e-9, 1.86e-9, 1e-9]::float8[]) rate,
  cf_sizing(10, rate);
SELECT bool_and(s.bits = 4 * s.buckets * s.fingerprint_bits) AS "four fingerprints a bucket",
  bool_and(s.bytes = 44 + (s.bits + 7) / 8) AS "header, kicks and table",
  bool_and((i.buckets, i.fingerprint_bits) = (s.buckets, s.fingerprint_bits)) AS "info has both"
FROM (VALUES (1), (10), (850), (851), (1000), (54321)) n(n),
  (VALUES (0.3), (0.01), (0.005), (0.001), (1e-4), (1e-9)) r(rate),
  LATERAL (SELECT cf_create(n, rate) AS f) c, cf_sizing(n, rate) s, cf_info(f) i \gx
SELECT n, buckets
FROM unnest(ARRAY[3, 4, 17, 18, 843, 844, 846, 847, 849, 950, 951]) n, cf_sizing(n, 0.01);
SELECT (cf_sizing(406000000, 0.01)).bytes < 512 * 1024 * 1024 AS largest,
  (cf_sizing(406000000, 0.01)).filters, (cf_sizing(409000000, 0.01)).filters AS larger;

-- Copies: a filter holds at most eight copies of a value, or four if its two buckets are the same.
SELECT n, cf_multiplicity(f, 5) AS multiplicity, (cf_info(f)).stored, cf_check(f)
FROM unnest(ARRAY[1, 4, 5, 8]) n,
  LATERAL (SELECT cf_add_all(cf_create(100), array_fill(5, array[n])) AS f) f;
SELECT without(f, array_fill(5, array[8])) = cf_create(100) AS "empty without all",
  without(f, array_fill(5, array[7])) @> 5 AS "one is left"
FROM (SELECT cf_add_all(cf_create(100), array_fill(5, array[8])) AS f) s;
SELECT cf_add_all(cf_create(100), array_fill(5, array[8])) + 5;
SELECT cf_add_all(cf_create(100), array_fill(5, array[9]));
CREATE FUNCTION copies_of(f cuckoofilter, value int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  copies int := cf_multiplicity(f, value); -- includes values with the same fingerprint and buckets
BEGIN
  LOOP
    f := f + value;
    copies := copies + 1;
    ASSERT cf_multiplicity(f, value) = copies AND cf_check(f) IS NULL;
  END LOOP;
EXCEPTION WHEN program_limit_exceeded THEN
  RETURN CASE WHEN SQLERRM LIKE '%no room for another copy of a value: it has ' || copies
    THEN copies ELSE -copies END;
END $$;
SELECT copies_of(cf_create(1), i) AS copies, count(*) BETWEEN 30 AND 70 AS about_half
FROM generate_series(1, 100) i GROUP BY 1 ORDER BY 1;
-- Copies are added among other values, which are moved to make room.
SELECT copies_of(f, i) AS copies, count(*) > 90 AS nearly_all
FROM (SELECT cf_add_all(cf_create(1000), array_agg(i)) AS f FROM generate_series(1001, 1900) i) s,
  generate_series(1, 100) i
GROUP BY 1 ORDER BY 1;

-- cf_put adds a value only if it seems to be absent.
SELECT (cf_put(f + 5, 5::int8)).filter = f + 5 AS "again, the same",
  (cf_put(f + 5 + 5, 5)).filter = f + 5 + 5 AS "copies stay as they are"
FROM (SELECT cf_create(10) AS f) s;
SELECT (cf_put(f + v, v)).was_new AS "varchar again",
  (cf_put(f + t, v)).was_new AS "varchar beside text",
  (cf_put(f + v, t)).was_new AS "text beside varchar",
  (cf_info((cf_put(f + t, v)).filter)).stored
FROM (SELECT cf_create(10) AS f, 'a '::varchar AS v, 'a '::text AS t) s \gx
SELECT (cf_info(f)).stored = count(DISTINCT x) AS each_once
FROM (SELECT x % 50 AS x FROM generate_series(1, 500) x) x,
  LATERAL (SELECT cf_agg(x % 50, 200) AS f FROM generate_series(1, 500) x) a
GROUP BY f;

-- A full filter raises an error and stays as it was. Once a slot is free, it can be filled again.
CREATE TABLE full_one (f cuckoofilter);
INSERT INTO full_one VALUES (cf_create(100));
DO $$
DECLARE
  before cuckoofilter;
  i int := 0;
BEGIN
  LOOP
    i := i + 1;
    SELECT f INTO before FROM full_one;
    BEGIN
      UPDATE full_one SET f = f + i;
    EXCEPTION WHEN program_limit_exceeded THEN
      ASSERT (SELECT f::bytea FROM full_one) = before::bytea, 'the filter was changed';
      EXIT;
    END;
  END LOOP;
  ASSERT (SELECT bool_and(before @> j) FROM generate_series(1, i - 1) j), 'a value is lacking';
END $$;
SELECT stored AS values, stored + 1 AS too_many, capacity_left, fill > 0.95 AS full,
  cf_check(f) IS NULL AS sound
FROM full_one, cf_info(f) \gset
SELECT :values >= 100 AS "at least its capacity", :capacity_left AS capacity_left, :'full' AS full,
  :'sound' AS sound \gx
SELECT f + :too_many FROM full_one;
SELECT (cf_put(f, :too_many)).was_new FROM full_one;
SELECT cf_add_all(f, array[:too_many]) FROM full_one;
SELECT (cf_put(f, 5)).was_new AS "known is new",
  (cf_info(f - 5)).stored = :values - 1 AS "one goes",
  (cf_info(f - 5 + 5)).stored = :values AS "and comes again",
  f - 5 @> 6 AS "others stay"
FROM full_one \gx
SELECT outcome('SELECT cf_add_all(cf_create(10), array_agg(i)) FROM generate_series(1, 1000) i')
  AS far_too_many;

-- cf_agg stores each distinct value once, in any order of rows, and makes its table large enough.
SELECT stored, i.expected,
  s.buckets AS "buckets for its values",
  i.buckets AS "those of their size class",
  kicks, capacity_left,
  bool_and(f @> x) AS "members are found",
  f = cf_agg(x) AS "as of the same once",
  f = cf_agg(x % 1000 ORDER BY hashint4(x)) AS "in any order",
  f = cf_agg(DISTINCT x % 1000) AS "as of distinct rows",
  f = cf_agg(x % 1000) FILTER (WHERE copy = 1) AS "as of one copy"
FROM (SELECT cf_agg(x) AS f FROM generate_series(0, 999) x) f, cf_info(f) i,
  cf_sizing(1000, 0.01) s, generate_series(0, 999) x, generate_series(1, 3) copy
GROUP BY f, i, s, stored, i.expected, i.buckets, s.buckets, kicks, capacity_left \gx
SELECT expected, stored,
  (cf_info(f)).buckets = (cf_sizing(1000, 0.01)).buckets AS "table is enlarged",
  f = larger AS "as if asked for",
  f = any_order AS "in any order",
  get_byte(f::bytea, 32) AS flags,
  get_byte(self_sized::bytea, 32) AS "self-sized flags",
  (cf_info(self_sized)).buckets AS "self-sized buckets"
FROM (SELECT cf_agg(x, 10) AS f, cf_agg(x, 1000) AS larger, cf_agg(x, 10 ORDER BY -x) AS any_order,
      cf_agg(x) AS self_sized
    FROM generate_series(1, 1000) x) s, cf_info(f) \gx
SELECT (cf_info(cf_agg(x, 5000))).expected, (cf_info(cf_agg(x, 5000))).capacity_left,
  cf_agg(x, 5000) @> 7 AS "contains a member",
  cf_agg(x, 5000, 0.0001) @> 7 AS "contains it at a rate, too"
FROM generate_series(1, 1000) x \gx
-- Ten values belong to only two of the four buckets of a table for ten values. cf_agg enlarges the
-- table by itself.
CREATE FUNCTION last_buckets(x int, copies int) RETURNS bytea LANGUAGE sql IMMUTABLE AS
  'SELECT substr(cf_add_all(cf_create(10), array_fill(x, array[copies]))::bytea, 41 + 10, 10)';
CREATE FUNCTION takes(x int, copies int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT outcome(format('SELECT last_buckets(%s, %s)', x, copies)) = 'ok' $$;
CREATE FUNCTION in_first_buckets(x int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT last_buckets(x, 4) = decode(repeat('00', 10), 'hex') AND takes(x, 5)
    AND last_buckets(x, 8) = decode(repeat('00', 10), 'hex') $$;
CREATE TABLE crowd AS SELECT x FROM generate_series(1, 1000) x
  WHERE CASE WHEN takes(x, 8) THEN in_first_buckets(x) END LIMIT 10;
SELECT count(*) AS crowd FROM crowd;
SELECT cf_add_all(cf_create(10), array_agg(x ORDER BY x)) FROM crowd;
SELECT i.expected, stored,
  (SELECT bool_and(f @> x) FROM crowd) AS "members are found",
  i.buckets - s.buckets AS more_buckets,
  cf_check(f),
  f = sized AS "for one, too",
  f = backwards AS "in any order, for three",
  f = copies AS "without a rate, too"
FROM (SELECT cf_agg(x, 10) AS f, cf_agg(x, 1) AS sized, cf_agg(x, 3 ORDER BY -x) AS backwards,
      cf_agg(x, 10, NULL) AS copies
    FROM crowd) c, cf_info(f) i, cf_sizing(10, 0.01) s \gx
-- If the number of values is given, a table grows by a 32nd. It is not rounded up to the next size
-- class, which has 36 buckets. Ten of these values have the same two buckets out of 33.
CREATE FUNCTION eight_times(x int) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS
  'SELECT cf_add_all(cf_create(108), array_fill(x, array[8]))';
CREATE TABLE placed AS
  SELECT (SELECT string_agg(bucket::text, ', ') FROM generate_series(0, 32) bucket
    WHERE substr(eight_times(x)::bytea, 41 + 5 * bucket, 5) <> '\x0000000000') AS buckets, x
  FROM generate_series(1, 2000) x WHERE outcome(format('SELECT eight_times(%s)', x)) = 'ok';
SELECT (cf_sizing(108, 0.01)).buckets, i.buckets AS grown, i.stored
FROM (SELECT (array_agg(x ORDER BY x))[:10] AS crowd FROM placed
    GROUP BY buckets HAVING count(*) >= 10 ORDER BY buckets LIMIT 1) p,
  LATERAL (SELECT cf_agg(x, 108) AS f FROM unnest(crowd) x) c, cf_info(f) i;
SELECT bool_and(cf_check(f) IS NULL) AS sound, bool_and((cf_info(f)).stored = n) AS stored
FROM generate_series(1, 300) n,
  LATERAL (SELECT cf_agg(x * n, NULL, 0.3) AS f FROM generate_series(1, n) x) f;
SELECT i.stored, i.expected FROM of_many, cf_info(f) i;
-- cf_agg refuses values that have two hashes.
SELECT cf_agg(v) FROM (VALUES ('a '::varchar)) v(v);
SELECT outcome($$SELECT cf_agg(v, 10) FROM (VALUES ('a'::varchar), ('b ')) v(v)$$) AS sized,
  outcome($$SELECT cf_agg(v, 10, 0.1) FROM (VALUES ('a '::varchar(2))) v(v)$$) AS rated,
  outcome($$SELECT cf_agg(v::text) FROM (VALUES ('a '::varchar)) v(v)$$) AS text,
  outcome($$SELECT cf_agg(v) FROM (VALUES ('a'::varchar), (NULL)) v(v)$$) AS no_blank,
  outcome($$SELECT cf_agg(v) FROM (VALUES ('a '::char(5))) v(v)$$) AS char \gx

-- A union keeps all copies from both filters.
SELECT fpr,
  bool_and(f @> i) AS "members are found",
  (cf_info(f)).stored, cf_check(f)
FROM unnest(ARRAY[0.1, 0.01, 0.005, 0.0001]) fpr,
  LATERAL (SELECT cf_union(made(1, 500, 1000, fpr), made(501, 1000, 1000, fpr)) AS f OFFSET 0) f,
  generate_series(1, 1000) i
GROUP BY fpr, f ORDER BY fpr DESC;
SELECT cf_multiplicity(cf_union(f, g), 7) AS "sevens of both",
  cf_multiplicity(cf_union(f, f), 7) AS "sevens of twice the same",
  (cf_info(cf_union(f, g))).stored,
  without(cf_union(f, g), array[7, 7, 7, 8]) = cf_create(10) AS "empty without all",
  f = cf_create(10) + 7 + 7 AS "argument is as before"
FROM (SELECT cf_create(10) + 7 + 7 AS f, cf_create(10) + 7 + 8 AS g) s \gx
SELECT (cf_info(cf_union(made(1, 10, 50), cf_create(51)))).expected;
SELECT cf_union(made(1, 1000), made(1001, 2000));

-- The count of kicks stays when values are removed.
SELECT stored,
  kicks > 0 AS "kicks stay counted",
  element_type, capacity_left,
  f = cf_create(1000) AS "has the bytes of a new one",
  f @> 1 AS "contains one that left",
  f + 'x'::text @> 'x' AS "takes another type"
FROM (SELECT without(cf_agg(x), array_agg(x ORDER BY -x)) AS f FROM generate_series(1, 1000) x) s,
  cf_info(f) \gx

-- No sequence of additions and removals leads to a false negative.
CREATE FUNCTION fuzz(expected int, fpr float8, seed int, operations int,
                     OUT wrong int, OUT full_errors int, OUT added int, OUT removed int)
LANGUAGE plpgsql AS $$
DECLARE
  f cuckoofilter := cf_create(expected, fpr, seed);
  copies int[] := array_fill(0, array[expected]);
  random bigint := seed + 1;
  x int;
  more boolean;
BEGIN
  wrong := 0; full_errors := 0; added := 0; removed := 0;
  FOR i IN 1 .. operations LOOP
    random := (random * 1103515245 + 12345) % 2147483648;
    x := 1 + (random / 65536) % expected;
    random := (random * 1103515245 + 12345) % 2147483648;
    more := (random / 65536) % 100 < CASE WHEN (i / 500) % 2 = 0 THEN 70 ELSE 40 END;
    IF more AND copies[x] < 4 THEN
      BEGIN
        f := f + x;
        copies[x] := copies[x] + 1;
        added := added + 1;
      EXCEPTION WHEN program_limit_exceeded THEN
        full_errors := full_errors + 1;
      END;
    ELSIF copies[x] > 0 THEN
      f := f - x;
      copies[x] := copies[x] - 1;
      removed := removed + 1;
    END IF;
    IF i % 500 = 0 THEN
      wrong := wrong + (SELECT count(*) FROM unnest(copies) WITH ORDINALITY u(n, y)
          WHERE cf_multiplicity(f, y) < n OR (n > 0 AND NOT f @> y))
        + ((cf_info(f)).stored <> (SELECT sum(n) FROM unnest(copies) n))::int
        + (cf_check(f) IS NOT NULL)::int;
    END IF;
  END LOOP;
  FOR y IN 1 .. expected LOOP
    FOR i IN 1 .. copies[y] LOOP
      f := f - y;
    END LOOP;
  END LOOP;
  wrong := wrong + ((cf_info(f)).stored <> 0 OR (cf_info(f)).element_type IS NOT NULL)::int;
END $$;
SELECT expected, fpr, wrong, full_errors > 0 AS was_full, added > 1000 AS added,
  removed > 800 AS removed
FROM (VALUES (40, 0.5), (100, 0.01), (200, 0.005), (300, 0.0001), (60, 1e-9)) v(expected, fpr),
  fuzz(expected, fpr, 7, 4000)
ORDER BY expected;

-- Malformed tables.
SELECT set_byte(set_byte(b, 41 + at, get_byte(b, 40 + at)), 40 + at, 0)::cuckoofilter
FROM (SELECT (cf_create(1, 0.03125) + 1)::bytea AS b) s,
  LATERAL (SELECT CASE WHEN get_byte(b, 40) > 0 THEN 0 ELSE 4 END AS at) a;
SELECT outcome(format('SELECT %L::bytea::cuckoofilter', set_byte(b, 41 + at, get_byte(b, 40 + at))))
    AS twice,
  (set_byte(b, 41 + at, get_byte(b, 40 + at))::cuckoofilter) @> 1 AS "contains the value",
  cf_multiplicity(set_byte(b, 41 + at, get_byte(b, 40 + at))::cuckoofilter, 1) AS copies,
  outcome(format('SELECT %L::bytea::cuckoofilter', set_byte(b, 41 + at, 255))) AS disorder,
  outcome(format('SELECT %L::bytea::cuckoofilter', set_byte(b, 36, 9))) AS kicks,
  outcome(format('SELECT %L::bytea::cuckoofilter', set_byte(b, 2, 0))) AS no_element_type
FROM (SELECT (cf_create(1, 0.03125) + 1)::bytea AS b) s,
  LATERAL (SELECT CASE WHEN get_byte(b, 40) > 0 THEN 0 ELSE 4 END AS at) a \gx
SELECT buckets, fingerprint_bits, (set_byte(f::bytea, octet_length(f::bytea) - 1, 16))::cuckoofilter
FROM (SELECT cf_create(4, 0.005) AS f) s, cf_info(f);
SELECT cf_check(forged(set_byte(set_byte(b, 41 + at, get_byte(b, 40 + at)), 40 + at, 0)))
FROM (SELECT (cf_create(1, 0.03125) + 1)::bytea AS b) s,
  LATERAL (SELECT CASE WHEN get_byte(b, 40) > 0 THEN 0 ELSE 4 END AS at) a;
SELECT outcome(format('SELECT %L::bytea::cuckoofilter', set_byte(cf_create(10)::bytea, 3, bits)))
    AS bits, array_agg(bits)
FROM unnest(ARRAY[0, 5, 6, 33, 255]) bits GROUP BY 1;

-- At capacity, the estimated rate is right.
SELECT fpr, fingerprint_bits,
  abs(hits - estimated_fpr * 400000) <= 0.03 * estimated_fpr * 400000
    + 3 * sqrt(estimated_fpr * 400000) AS "estimate is right",
  estimated_fpr <= fpr AS "estimate keeps the rate"
FROM asked, cf_info(f) ORDER BY fpr DESC;

-- The estimate reads a sample of the buckets, whose last part would have one bucket.
SELECT count(*) FROM generate_series(1, 3) x WHERE cf_create(1827, 0.0001) @> x;
