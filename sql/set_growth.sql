-- Sets that grow beyond the number that they were made for, and sets that forget.
CREATE SCHEMA set_growth;
SET search_path = set_growth, public;
\i sql/include/outcome.sql

-- --- growing -------------------------------------------------------------------------------------

-- Fifty times the number, by single values and by batches, without a warning. Nothing is lost, and
-- the rate is kept.
SELECT bf_create_set('seen', 'int', 1000);
DO $$ BEGIN PERFORM seen_add(i) FROM generate_series(1, 4000) i; END $$;
SELECT sum(seen_add_all(batch)) BETWEEN 45500 AND 46000 AS "nearly all were new"
FROM (SELECT array_agg(i) AS batch FROM generate_series(4001, 50000) i GROUP BY i % 7) b;
SELECT count(*) AS denied FROM generate_series(1, 50000) i WHERE NOT seen_has(i);
SELECT count(*) < 480 AS "at most 1.2 of the rate" FROM generate_series(50001, 90000) i
WHERE seen_has(i);
SELECT round(estimated_count, -4) AS count, estimated_fpr < 0.01 AS "the rate is kept",
  rows > shards AS "more rows", round(rows_per_probe::numeric, 1) AS rows_per_probe, expected
FROM (SELECT estimated_count::numeric, estimated_fpr, rows, shards, rows_per_probe, expected
      FROM seen_info()) i;
SELECT max(pg_column_size(filter)) < 2000 AS "inline" FROM seen;
-- Known values write nothing.
CREATE TABLE versions AS SELECT ctid AS place, xmin AS made FROM seen;
SELECT seen_add(77) AS new, seen_add_all(array(SELECT generate_series(1, 1000))) AS were_new;
SELECT count(*) AS changed FROM (SELECT ctid, xmin FROM seen EXCEPT TABLE versions) c;
-- One batch of a hundred times the number, in one array.
SELECT bf_create_set('once', 'int', 200);
SELECT once_add_all(array(SELECT generate_series(1, 20000))) > 19800 AS "nearly all were new";
SELECT count(*) AS denied FROM generate_series(1, 20000) i WHERE NOT once_has(i);
SELECT count(*) < 240 AS "at most 1.2 of the rate" FROM generate_series(20001, 40000) i
WHERE once_has(i);
-- Missing rows of every level are made again.
DELETE FROM once WHERE ctid IN (SELECT ctid FROM once ORDER BY random() LIMIT 20);
SELECT once_add_all(array(SELECT generate_series(1, 20000))) > 0 AS "some were lost";
SELECT count(*) AS denied FROM generate_series(1, 20000) i WHERE NOT once_has(i);
SELECT bf_drop_set('once');

-- --- forgetting ----------------------------------------------------------------------------------

-- A generation is 100 days. later() lets the time of one generation pass.
SELECT bf_create_set('lately', 'int', 2000, keep => '400 days');
CREATE PROCEDURE later() LANGUAGE sql AS $$
  UPDATE lately SET newest_of_8640000000000 = newest_of_8640000000000 - 1,
    first_generation = first_generation - 1;
$$;
CREATE VIEW remembered AS
  SELECT g, count(*) FILTER (WHERE lately_has(1000 * g + i)) AS values
  FROM generate_series(0, 7) g, generate_series(1, 100) i GROUP BY g ORDER BY g;
SELECT lately_add(1) AS new, lately_add(1) AS again;
SELECT lately_add_all(array(SELECT generate_series(1, 100))) AS were_new;
CALL later();
SELECT lately_add_all(array(SELECT generate_series(1001, 1100))) AS were_new;
SELECT lately_add(1) AS "asking again does not prolong a life";
CALL later();
CALL later();
SELECT lately_add(3000 + i) IS NULL AS never FROM generate_series(1, 100) i GROUP BY 1;
CALL later();
SELECT lately_add_all(array(SELECT generate_series(1, 100))) AS "are still known";
SELECT * FROM remembered;
SELECT cardinality(generation_begin) AS generations, generation_count[1] > 90 AS first,
  (SELECT count(*) FROM unnest(generation_begin) b WHERE b <= now()) AS begun,
  generation_begin[2] - generation_begin[1] AS length, keep, round(estimated_count) AS count
FROM lately_info();
-- They are over, and nobody ran anything.
CALL later();
SELECT * FROM remembered;
SELECT cardinality(generation_begin) AS generations FROM lately_info();
SELECT lately_add(1) AS "1 is new", lately_add_all(ARRAY[1, 2, 3]) AS "2 and 3 are";
CALL later();
CALL later();
CALL later();
SELECT * FROM remembered;
CALL later();
CALL later();
SELECT * FROM remembered;
SELECT estimated_count, generation_begin FROM lately_info();

-- The session's clock is behind that of the row. A value gets into the session's generation.
TRUNCATE lately;
SELECT lately_add(i) FROM generate_series(1, 4) i;
UPDATE lately SET newest_of_8640000000000 = newest_of_8640000000000 + 5,
  first_generation = first_generation + 5;
SELECT lately_add(5) AS new, lately_add(5) AS again, lately_add_all(ARRAY[5, 6]) AS were_new;
SELECT lately_has(5), lately_has(7);
-- Far behind, also.
UPDATE lately SET newest_of_8640000000000 = newest_of_8640000000000 + 50,
  first_generation = first_generation + 50;
SELECT lately_add(8) AS new, lately_add(8) AS again, lately_add_all(ARRAY[8, 9]) AS were_new;
SELECT lately_has(8), lately_has(9), lately_has(7);
-- A generation that is not over by the session's clock was lost: each value is possibly there.
UPDATE lately SET first_generation = newest_of_8640000000000 - 5;
SELECT count(*) FILTER (WHERE lately_has(i)) AS has, count(*) FILTER (WHERE lately_add(i)) AS new
FROM generate_series(1, 1000) i WHERE bf_shard(i, 2) IN (SELECT shard_of_2 FROM lately);
-- An addition is stored all the same, also in a row of the next level.
DELETE FROM lately WHERE shard_of_2 > 0;
UPDATE lately SET is_full = false;
SELECT array_agg(i) AS two FROM (SELECT i FROM generate_series(2001, 3000) i
  WHERE bf_shard(i, 2) = 0 LIMIT 2) i \gset
SELECT lately_add((:'two'::int[])[1]) AS new, lately_add_all(:'two') AS were_new;
UPDATE lately SET first_generation = newest_of_8640000000000;
SELECT array_agg(lately_has(i)) AS known FROM unnest(:'two'::int[]) i;
SELECT array_agg(i) AS two FROM (SELECT i FROM generate_series(3001, 4000) i
  WHERE bf_shard(i, 2) = 0 AND NOT lately_has(i) LIMIT 2) i \gset
UPDATE lately SET first_generation = newest_of_8640000000000 - 5, is_full = true;
SELECT lately_add((:'two'::int[])[1]) AS new, lately_add_all(:'two') AS were_new;
SELECT count(*) - 1 AS "more rows" FROM lately;
UPDATE lately SET first_generation = newest_of_8640000000000;
SELECT array_agg(lately_has(i)) AS known FROM unnest(:'two'::int[]) i;

-- A full generation, and more values than expected.
SELECT bf_create_set('many', 'int', 1000, keep => '400 days');
SELECT many_add_all(array(SELECT generate_series(1, 20000))) > 19800 AS "nearly all were new";
SELECT count(*) AS denied FROM generate_series(1, 20000) i WHERE NOT many_has(i);
SELECT count(*) < 240 AS "at most 1.2 of the rate" FROM generate_series(20001, 40000) i
WHERE many_has(i);
UPDATE many SET newest_of_8640000000000 = newest_of_8640000000000 - 5,
  first_generation = first_generation - 5;
SELECT count(*) AS has FROM generate_series(1, 20000) i WHERE many_has(i);
SELECT many_add(1) AS new, many_add_all(ARRAY[1, 2]) AS were_new;
SELECT many_has(1), many_has(2), many_has(3);

-- Low rates, with the expected number of values, a little more, and far more
CREATE FUNCTION share_of_rate(fpr float8, expected int, steps int[]) RETURNS numeric[]
LANGUAGE plpgsql AS $$
DECLARE
  added int := 0;
  step int;
  share float8;
  shares numeric[];
BEGIN
  PERFORM bf_create_set('low', 'int', expected, fpr);
  FOREACH step IN ARRAY steps LOOP
    PERFORM low_add_all(ARRAY(SELECT generate_series(added + 1, step)));
    added := step;
    SELECT estimated_fpr / fpr INTO share FROM low_info();
    shares := shares || round(share::numeric, 2);
  END LOOP;
  PERFORM bf_drop_set('low');
  RETURN shares;
END $$;
SET bloomfilter.overfill = ignore;
SELECT fpr, 1 > ALL (share_of_rate(fpr, 5000, '{5000,5300,6500,15000,50000}')) AS "below the rate"
FROM unnest('{0.1,0.001,0.0001,0.00001,0.000001,0.00000001}'::float8[]) fpr;
RESET bloomfilter.overfill;

-- The creator's search_path has a type of the same name as a type of the result.
CREATE SCHEMA set_growth_types;
CREATE DOMAIN set_growth_types.timestamptz AS int;
SET search_path = set_growth_types, pg_catalog, set_growth, public;
SELECT bf_create_set('set_growth.elsewhere', 'int', 100, keep => '1 day');
SET search_path = set_growth, public;
SELECT elsewhere_add(1);
SELECT cardinality(generation_begin) AS generations FROM elsewhere_info();
DROP DOMAIN set_growth_types.timestamptz;
DROP SCHEMA set_growth_types;

-- No addition has come to a row for 3 000 000 000 generations.
SELECT bf_create_set('rarely', 'int', 100, keep => '4 milliseconds');
SELECT rarely_add_all(ARRAY[5, 6]);
UPDATE rarely SET newest_of_1000 = newest_of_1000 - 3000000000,
  first_generation = first_generation - 3000000000;
SELECT rarely_add_all(ARRAY[5, 6]);

-- The number of a period, from 1970 on.
SELECT bf_generation(86400000000) = floor(extract(epoch FROM now()) / 86400) AS days;
SELECT statement, outcome('SELECT ' || statement) FROM (VALUES
  ('bf_generation(0)'), ('bf_generation(NULL)'), ('bf_shard_keys(1, 0, 2, 3)'),
  ('bf_shard_keys(1, 1, 2, 9)'), ('bf_shard_keys(1, 2147483647, 2, 2)')) v(statement);
-- The shards of a value are one below the other.
SELECT count(*) AS differing FROM generate_series(1, 1000) i, bf_shard_keys(i, 7, 24, 3) k
WHERE k <> ARRAY[bf_shard(i, 7), 7 + bf_shard(i, 7 * 24), 7 * 25 + bf_shard(i, 7 * 24 * 24)]
  OR bf_shard(i, 7 * 24) / 24 <> bf_shard(i, 7);

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA set_growth CASCADE;
