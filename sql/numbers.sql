-- The number of values for which a filter is made can be written in every form that people use.
CREATE SCHEMA numbers;
SET search_path = numbers, public;
\i sql/include/outcome.sql

-- All forms of a number make the same filter.
CREATE TABLE forms (expected text);
INSERT INTO forms VALUES ('1000'), ('1e3'), ('1000.0'), ('''1000'''), ('''1e3'''), ('1000::int2'),
  ('1000::int4'), ('1000::int8'), ('1000::numeric'), ('1000::real'), ('1000::float8'), ('999.5'),
  ('1000.49'), ('(SELECT 500 * 2)'), ('count(*) FILTER (WHERE x > 0)');
CREATE FUNCTION same(call text, expected text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  result boolean;
BEGIN
  EXECUTE format('SELECT (%s)::text = (%s)::text FROM generate_series(1, 1000) x',
    replace(call, '#', expected), replace(call, '#', '1000::bigint')) INTO result;
  RETURN result;
END $$;
SELECT call, bool_and(same(call, expected)) AS "same in all forms"
FROM forms, (VALUES ('bf_create(#)'), ('bf_create(#, 0.001, ''lines'', 7, true)'),
  ('bf_create(expected => #, fpr => 0.02, layout => ''guava'')'),
  ('bf_create(seed => 5, expected => #)'), ('bf_sizing(#)'), ('bf_sizing(#, 0.001)'),
  ('bf_sizing(fpr => 0.001, expected => #)'), ('bf_shard_count(#)'),
  ('bf_shard_count(expected => #, fpr => 0.001)'), ('cbf_create(#)'), ('cbf_create(#, 0.001, 7)'),
  ('cbf_sizing(#)'), ('cbf_sizing(expected => #)'), ('cf_create(#)'), ('cf_create(#, 0.001, 7)'),
  ('cf_sizing(#)'), ('cf_sizing(expected => #)')) v(call)
GROUP BY call ORDER BY call;
SELECT call, bool_and(same(call, expected)) AS "same in all forms"
FROM forms, (VALUES ('bf_agg(x, #)'), ('bf_agg(x, #, 0.001)'), ('bf_agg(x, #, NULL)'),
  ('bf_agg(x, #, 0.001, ''parquet'')'), ('cbf_agg(x, #)'), ('cbf_agg(x, #, 0.001)'),
  ('cf_agg(x, #)'), ('cf_agg(x, #, 0.001)')) v(call)
WHERE expected !~ 'count'
GROUP BY call ORDER BY call;

-- A driver's parameter without a type, and one with a type.
PREPARE untyped AS SELECT bf_create($1) AS f;
PREPARE typed (bigint, numeric) AS SELECT bf_create($1) = bf_create($2) AS same;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
EXECUTE untyped ('1e1') \gset untyped_
SELECT :'untyped_f' = bf_create(10) AS "untyped parameter";
EXECUTE typed (10, 1e1);
PREPARE counted AS SELECT bf_agg(x, $1) = bf_agg(x, 1000) AS same FROM generate_series(1, 9) x;
EXECUTE counted (1000);

-- The rate is 1 % if it is not given.
SELECT bf_sizing(1e6) = bf_sizing(1e6, 0.01) AS bf_sizing,
  bf_shard_count(1e6) = bf_shard_count(1e6, 0.01) AS bf_shard_count,
  cbf_sizing(1e6) = cbf_sizing(1e6, 0.01) AS cbf_sizing,
  cf_sizing(1e6) = cf_sizing(1e6, 0.01) AS cf_sizing \gx

-- If the number is NULL, an aggregate sizes the filter itself, at the rate if one is given.
SELECT bf_agg(x, NULL) = bf_agg(x) AS bf_agg,
  bf_agg(x, NULL::int) = bf_agg(x) AS "bf_agg, NULL of a type",
  cbf_agg(x, NULL) = cbf_agg(x) AS cbf_agg,
  cf_agg(x, NULL) = cf_agg(x) AS cf_agg,
  (bf_info(bf_agg(x, NULL, 0.001))).target_fpr AS "rate of a bf_agg that sizes itself",
  (bf_info(bf_agg(x, NULL, 0.001))).expected AS "its capacity"
FROM generate_series(1, 10) x \gx

-- The rounded number must be the same in all rows, also between processes and in windows.
CREATE TABLE parts (part int, x int) PARTITION BY LIST (part);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts SELECT 1 + x % 2, x FROM generate_series(1, 10) x;
SELECT bf_agg(x, 100 + part / 10.0) = bf_agg(x, 100) AS "rows of one aggregate" FROM parts;
SET enable_partitionwise_aggregate = on;
SELECT bf_agg(x, 100 + part / 10.0) = bf_agg(x, 100) AS "states that are combined" FROM parts;
RESET enable_partitionwise_aggregate;
SELECT bool_and(counting = expected) AS "window"
FROM (SELECT cbf_agg(x, 100 + part / 10.0) OVER w AS counting, cbf_agg(x, 100) OVER w AS expected
  FROM parts WINDOW w AS (ORDER BY x ROWS 2 PRECEDING)) s;
SELECT bf_agg(x, 100 + part) FROM parts;
SELECT bf_agg(x, 10 + x / 2.0) FROM generate_series(1, 3) x;
SELECT bf_agg(x, CASE WHEN x = 1 THEN 10 ELSE float8 'NaN' END) FROM generate_series(1, 2) x;

-- Numbers out of range.
SELECT statement, outcome('SELECT ' || statement) FROM (VALUES
  ('bf_create(1)'), ('bf_create(1.4)'), ('bf_create(0.99)'), ('bf_create(0.4)'),
  ('bf_create(-0.0)'), ('bf_create(''NaN'')'), ('bf_create(''Infinity'')'),
  ('bf_create(''-Infinity'')'), ('bf_create(1e300)'), ('bf_create(1e-300)'),
  ('bf_create(9223372036854775808)'), ('bf_create(9223372036854777856)'),
  ('bf_create(-9223372036854775808)'), ('bf_sizing(432000000.0)'), ('bf_sizing(433e6)'),
  ('bf_sizing(434e6)'), ('bf_sizing(''NaN'')'), ('bf_sizing(''Infinity'', 0.5)'),
  ('bf_shard_count(0.5)'), ('bf_shard_count(''NaN'')'), ('bf_shard_count(1e12)'),
  ('bf_shard_count(1e13)'), ('bf_shard_count(1e18)'), ('bf_shard_count(''Infinity'')'),
  ('bf_agg(1, 0.001)'), ('bf_agg(1, ''NaN'')'), ('bf_agg(1, ''Infinity'')'),
  ('bf_agg(1, 1e300, 0.5)'), ('cbf_create(0.5)'), ('cbf_create(''NaN'')'), ('cbf_agg(1, ''NaN'')'),
  ('cbf_agg(1, 0.9)'), ('cbf_sizing(1e9)'), ('cbf_sizing(''Infinity'')'), ('cf_create(0.5)'),
  ('cf_create(''NaN'')'), ('cf_agg(1, ''Infinity'')'), ('cf_agg(1, 0.9)'), ('cf_sizing(1e9)'),
  ('cf_sizing(''-Infinity'')')
) v(statement);
SELECT bf_agg(1, 0.001);
SELECT bf_create('NaN');
SELECT bf_create('Infinity');
SELECT bf_create(1e300);
SELECT bf_create(-1.5);
SELECT bf_create(1e9);
SELECT bf_shard_count(1e13);
SELECT bf_create(9223372036854775807);
SELECT bf_create(1e20, 0.5); -- no higher rate is allowed
