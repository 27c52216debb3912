-- A value of an enum is hashed by its label, also if the label changes while it is cached. The same
-- label as text has the same hash.
CREATE SCHEMA labels;
SET search_path = labels, public;
CREATE TYPE color AS ENUM ('red', 'green', 'blue');
CREATE TABLE paints (i int, color color);
INSERT INTO paints SELECT i, 'red' FROM generate_series(1, 4) i;
CREATE FUNCTION rename(before text, after text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TYPE color RENAME VALUE %L TO %L', before, after);
  RETURN after;
END $$;

-- The label changes within a query.
SELECT i,
  CASE i WHEN 2 THEN rename('red', 'rouge') WHEN 4 THEN rename('rouge', 'rosso') END AS renamed,
  bf_hash(color) = bf_hash(color::text) AS "as its label",
  bf_hash(color) = bf_hash('rouge'::text) AS rouge,
  bf_hash(ARRAY[color]) = bf_hash(ARRAY[color::text]) AS item
FROM paints;

-- A filter contains the labels that were current when the rows arrived.
SELECT bf_contains_hash(f, bf_hash('rosso'::text)) AS before,
  bf_contains_hash(f, bf_hash('red'::text)) AS after,
  bf_contains_hash(f, bf_hash('rouge'::text)) AS another
FROM (
  SELECT bf_agg(CASE WHEN i = 3 AND rename('rosso', 'red') IS NULL THEN NULL ELSE color END) AS f
  FROM paints) s;

-- The label changes within a transaction, and so during the life of a function's expression. After
-- a rollback, the old label is back.
CREATE FUNCTION label_of(color color) RETURNS text LANGUAGE plpgsql AS $$
DECLARE label text;
BEGIN
  FOREACH label IN ARRAY ARRAY['red', 'rouge', 'green', 'blue'] LOOP
    IF bf_hash(color) = bf_hash(label) THEN RETURN label; END IF;
  END LOOP;
END $$;
BEGIN;
SELECT label_of('red');
ALTER TYPE color RENAME VALUE 'red' TO 'rouge';
SELECT label_of('rouge');
SAVEPOINT before;
ALTER TYPE color RENAME VALUE 'rouge' TO 'red';
SELECT label_of('red');
ROLLBACK TO before;
SELECT label_of('rouge');
ROLLBACK;
SELECT label_of('red');

-- A call site meets more values than it caches, and meets them twice.
DO $$ BEGIN
  EXECUTE (SELECT format('CREATE TYPE many AS ENUM (%s)',
             string_agg(quote_literal('label ' || i), ', '))
           FROM generate_series(1, 1000) i);
END $$;
SELECT count(*), count(*) FILTER (WHERE bf_hash(value) <> bf_hash(value::text)) AS different
FROM unnest(enum_range(NULL::many) || enum_range(NULL::many)) value;

-- Values are added to the enum, one of them between others.
CREATE TYPE added AS ENUM ('first', 'last');
ALTER TYPE added ADD VALUE 'middle' BEFORE 'last';
ALTER TYPE added ADD VALUE 'end';
SELECT value, bf_hash(value) = bf_hash(value::text) AS "as its label"
FROM unnest(enum_range(NULL::added)) value;

-- The label of a value is missing. This happens only in a damaged catalog.
CREATE TYPE shade AS ENUM ('light', 'dark');
CREATE TABLE walls AS SELECT 'dark'::shade AS shade;
DELETE FROM pg_enum WHERE enumtypid = 'shade'::regtype AND enumlabel = 'dark';
DO $$
BEGIN
  PERFORM bf_agg(shade) FROM walls;
  ASSERT false, 'a value without a label has a hash';
EXCEPTION WHEN invalid_binary_representation THEN
END $$;

\set VERBOSITY terse
DROP SCHEMA labels CASCADE;
