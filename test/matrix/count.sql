-- Checks in SQL that no filter denies an added value. Adds values of every element type to filters
-- of every type and layout, built in every way, and probes for each value. Then measures the false
-- positive rates. The layouts of another system refuse the types that the system does not have. Our
-- layouts refuse no type.
--
-- This run is part :part of :parts parts, which run at the same time. Each type has :rows values.
-- Prints lines of these forms:
--   values, family, number of probes
--   way, how filters were built, number of filters
--   rate, type, rate asked for, rate obtained
--   wrong, what is wrong

\set QUIET 1
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
CREATE EXTENSION bloomfilter;
SET work_mem = '256MB';
SET bloomfilter.overfill = ignore; -- an overfull filter must not deny a value either

CREATE TYPE shade AS ENUM ('red', 'orange', 'yellow', 'green', 'blue', 'indigo', 'violet');
CREATE TYPE pair AS (a bigint, b text);
CREATE TYPE triple AS (a integer, b pair, c numeric[]);

-- The values of every element type, as expressions of a number i.
CREATE TABLE elements (number serial, made text);
INSERT INTO elements (made) VALUES
  ('(i % 65536 - 32768)::smallint'), ('(i * 1003)::int'), ('i::bigint * 1000000000039'),
  ('(i / 7.0)::real'), ('i / 7.0::float8'), ('i / 100.0'), ('i::numeric ^ 3'), ('''word '' || i'),
  ('(''v'' || i)::varchar'), ('(''c'' || i)::char(12)'), ('(''n'' || i)::name'),
  ('repeat(''é'', i % 40) || i'), ('int8send(i)'), ('md5(i::text)::uuid'), ('i % 2 = 0'),
  ('(i % 256 - 128)::"char"'), ('i::oid'), ('date ''2000-01-01'' + i'),
  ('timestamp ''2000-01-01'' + i * interval ''1 s'''),
  ('timestamptz ''2000-01-01'' + i * interval ''1 ms'''),
  ('time ''00:00'' + i * interval ''1 ms'''),
  ('timetz ''00:00+02'' + i * interval ''1 ms'''), ('i * interval ''1 day 7 hours'''),
  ('inet ''10.0.0.0'' + i'), ('network(set_masklen(inet ''10.0.0.0'' + i::bigint * 16, 28))::cidr'),
  ('lpad(to_hex(i), 12, ''0'')::macaddr'), ('lpad(to_hex(i), 16, ''0'')::macaddr8'),
  ('to_jsonb(i)'), ('jsonb_build_object(''n'', i, ''l'', ARRAY[i % 9, NULL])'),
  ('(enum_range(NULL::shade))[1 + i % 7]'), ('ARRAY[i, NULL, i + 1]'), ('ARRAY[''x'' || i, NULL]'),
  ('ARRAY[[i / 10.0, 1], [2, 3]]'), ('int4range(i, i + 5)'), ('numrange(i / 10.0, i)'),
  ('int4multirange(int4range(i, i + 5), int4range(i + 10, i + 15))'),
  ('ROW(i, ''w'' || i)::pair'), ('ROW(i, ROW(-i, NULL), ARRAY[i / 100.0])::triple');

-- The ways to build a filter of the values v of a table `it`, which has {n} rows.
CREATE TABLE ways (number serial, built text, filters int DEFAULT 0, refused int DEFAULT 0);
INSERT INTO ways (built) VALUES
  ('bf_agg(v) FROM it'), ('bf_agg(v, {n}) FROM it'), ('bf_agg(v, {n}, 0.0001) FROM it'),
  ('bf_agg(v, {n}, 1e-6) FROM it'), ('bf_agg(v, {n} / 100 + 1) FROM it'),
  ('bf_union_agg(f) FROM (SELECT bf_agg(v) f FROM it GROUP BY i % 7) parts'),
  ('bf_union_agg(f) FROM (SELECT bf_agg(v, {n}) f FROM it GROUP BY i % 7) parts'),
  ('bf_dist_agg(bf_element_of(v)) FROM it'),
  ('bf_merge_agg(p) FROM (SELECT bf_partial_agg(bf_element_of(v)) p FROM it GROUP BY i % 7) parts'),
  ('bf_fold(bf_agg(v, {n}), {n}) FROM it'),
  ('bf_add_all(bf_create({n} / 50 + 1, 0.01, grow => true), array_agg(v)) FROM it'),
  ('bf_add_all(bf_create_by_size(8000000, 7, 99), array_agg(v)) FROM it'),
  ('bf_agg(v, {n}) & bf_agg(v, {n}) FROM it'),
  ('cbf_agg(v) FROM it'), ('cbf_agg(v, {n}, 0.0001) FROM it'),
  ('cbf_union_agg(f) FROM (SELECT cbf_agg(v, {n}) f FROM it GROUP BY i % 7) parts'),
  ('cf_agg(v) FROM it'), ('cf_agg(v, {n}, 0.0001) FROM it'),
  ('cf_union_agg(f) FROM (SELECT cf_agg(v, 2 * {n}) f FROM it GROUP BY i % 2) parts');
INSERT INTO ways (built)
SELECT format('bf_agg(v, {n}, 0.01, %L) FROM it', layout)
FROM unnest(ARRAY['guava', 'guava_integer', 'guava_chars', 'guava_mitz32', 'guava_integer_mitz32',
  'guava_chars_mitz32', 'parquet', 'parquet_int32', 'parquet_float', 'redis', 'spark',
  'spark_v2', 'datasketches', 'hive']) layout;

CREATE TABLE counted (family text, asked bigint);
CREATE TABLE wrong (what text);

-- Builds one filter in a table. Probes it for every value in a scan, and for a sample row by row.
CREATE FUNCTION count_values(made text, way ways, n bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  prefix text := substring(way.built FROM '^[bcf]+');
  sample bigint := least(n, 50000);
  family text;
  found bigint;
BEGIN
  IF made LIKE 'ARRAY%' AND way.built LIKE '%array_agg%' THEN -- array_agg would flatten them
    RETURN;
  END IF;
  BEGIN
    EXECUTE format('CREATE TABLE kept AS SELECT %s',
      regexp_replace(replace(way.built, '{n}', n::text), ' FROM', ' AS filter FROM'));
  EXCEPTION WHEN datatype_mismatch OR undefined_function OR feature_not_supported
    OR numeric_value_out_of_range THEN
    UPDATE ways SET refused = refused + 1 WHERE number = way.number;
    RETURN;
  END;
  EXECUTE format('SELECT element_type FROM kept, %s_info(filter)', prefix) INTO family;
  EXECUTE 'SELECT count(*) FROM it WHERE (SELECT filter FROM kept) @> v' INTO found;
  INSERT INTO wrong SELECT format('%s of %s: %s denied', way.built, made, n - found)
  WHERE found <> n;
  EXECUTE format('SELECT count(*) FROM kept, it WHERE i <= %s AND filter @> v', sample) INTO found;
  INSERT INTO wrong SELECT format('%s of %s: stored, %s denied', way.built, made, sample - found)
  WHERE found <> sample;
  INSERT INTO counted VALUES (family, n + sample);
  UPDATE ways SET filters = filters + 1 WHERE number = way.number;
  DROP TABLE kept;
END $$;

CREATE FUNCTION count_element(element elements, n bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE UNLOGGED TABLE it AS SELECT i, %s AS v FROM generate_series(1, %s) i',
    element.made, n);
  ANALYZE it;
  PERFORM count_values(element.made, ways, n) FROM ways;
  DROP TABLE it;
END $$;

SELECT count_element(elements, :rows) FROM elements WHERE number % :parts = :part \g /dev/null

-- Each rate, down to 1e-5, is measured with at least ten million strangers and 1000 false
-- positives.
CREATE TABLE rates (type text, asked float8, estimated float8, obtained float8);
CREATE FUNCTION obtain(prefix text, rate float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  strangers bigint := greatest(1e7, 1000 / rate);
BEGIN
  EXECUTE format('CREATE TABLE kept AS SELECT %s_agg(i, 1000000, %s) AS filter
    FROM generate_series(1, 1000000) i', prefix, rate);
  EXECUTE format('INSERT INTO rates SELECT %L, %s, (SELECT %1$s_fpr(filter) FROM kept),
    count(*) FILTER (WHERE (SELECT filter FROM kept) @> i) / %3$s.0
    FROM generate_series(1000001, 1000000 + %3$s) i', prefix, rate, strangers);
  DROP TABLE kept;
END $$;
SELECT obtain(prefix, 10 ^ -digits)
FROM (SELECT prefix, digits, row_number() OVER () FROM unnest(ARRAY['bf', 'cbf', 'cf']) prefix,
  generate_series(1, 5) digits) all_rates (prefix, digits, number)
WHERE number % :parts = :part \g /dev/null
INSERT INTO wrong SELECT format('%s: rate %s asked, %s estimated, %s obtained', type, asked,
  estimated, obtained)
FROM rates
WHERE obtained > 1.05 * asked OR abs(obtained - estimated) > 0.05 * estimated + 3 * sqrt(
  estimated / greatest(1e7, 1000 / asked));

INSERT INTO wrong SELECT format('%s: %s types refused', built, refused)
FROM ways
WHERE refused > 0 AND built NOT LIKE '%, ''%'') FROM it'; -- another system's layout

SELECT 'values', family, sum(asked) FROM counted GROUP BY family ORDER BY family;
SELECT 'way', built, filters FROM ways ORDER BY number;
SELECT 'rate', type, asked, obtained FROM rates ORDER BY type, asked DESC;
SELECT 'wrong', what FROM wrong;
