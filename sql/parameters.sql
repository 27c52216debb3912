-- If a parameter is out of range, the error names it and has the right SQLSTATE.
CREATE SCHEMA parameters;
SET search_path = parameters, public;
\i sql/include/outcome.sql

SELECT statement, outcome('SELECT ' || statement) FROM (VALUES
  ('bf_create(1)'), ('bf_create(0)'), ('bf_create(-1)'), ('bf_create(-9223372036854775808)'),
  ('bf_create(9223372036854775807)'), ('bf_create(1000000000)'), ('bf_create(100000000, 1e-9)'),
  ('bf_create(10, 0.5)'), ('bf_create(10, 1e-9)'), ('bf_create(10, 0)'), ('bf_create(10, -0.01)'),
  ('bf_create(10, 0.51)'), ('bf_create(10, 1)'), ('bf_create(10, 1.5)'),
  ('bf_create(10, 9.9e-10)'), ('bf_create(10, ''NaN'')'), ('bf_create(10, ''Infinity'')'),
  ('bf_create(10, ''-Infinity'')'), ('bf_create(10, seed => -9223372036854775808)'),
  ('bf_create(10, grow => true)'), ('bf_create(10, layout => ''lines'')'),
  ('bf_create(10, layout => ''pages'')'), ('bf_create(10, layout => ''parquet'')'),
  ('bf_create(10, layout => '''')'), ('bf_create(''many'')'), ('bf_create(10, ''few'')'),
  ('bf_create_by_size(1, 1)'), ('bf_create_by_size(512, 16)'), ('bf_create_by_size(0, 5)'),
  ('bf_create_by_size(-1, 5)'), ('bf_create_by_size(4294967297, 5)'),
  ('bf_create_by_size(9223372036854775807, 5)'), ('bf_create_by_size(1000, 0)'),
  ('bf_create_by_size(1000, -1)'), ('bf_create_by_size(1000, 17)'),
  ('bf_create_by_size(1000, 2147483647)'),
  ('bf_sizing(0, 0.01)'), ('bf_sizing(-1, 0.01)'), ('bf_sizing(10, 0)'), ('bf_sizing(10, 1)'),
  ('bf_sizing(10, ''NaN'')'), ('bf_sizing(9223372036854775807, 0.5)'),
  ('bf_agg(1, 0)'), ('bf_agg(1, -1)'), ('bf_agg(1, 10, 0)'), ('bf_agg(1, 10, 1)'),
  ('bf_agg(1, 10, ''NaN'')'), ('bf_agg(1, NULL, 0)'), ('bf_agg(1, NULL, 1.5)'),
  ('bf_agg(1, 1000000000)'), ('bf_agg(1, NULL, NULL)'), ('bf_agg(1, 10, NULL)'),
  ('bf_agg(NULL::int, 0)'), ('bf_create()'), ('bf_create(10, 0.01, ''lines'', 0, false, 1)'),
  ('bf_create(10, 0.01, ''lines'', 0, false, NULL, 1)'),
  ('bf_create(10, 0.01, 7)'), ('bf_create(10, 0.01, ''guava'')')
) v(statement);

-- If a number is too large for one filter, the error tells the largest number that is not. Here,
-- bloomfilter.max_size is small. For the largest number, its error comes before the filter is made:
-- 54000.
CREATE FUNCTION largest(statement text, OUT code text, OUT number text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'SELECT ' || statement;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, number = PG_EXCEPTION_DETAIL;
  number = substring(number FROM 'at most (\d+) values at this rate');
END $$;
SET bloomfilter.max_size = 1;
SELECT format(made, '1e20'), number, (largest(format(made, number))).code AS "for it",
  (largest(format(made, number::int8 + 1))).code AS "for more"
FROM (VALUES ('bf_create(%s)'), ('bf_create(%s, 0.5)'), ('bf_create(%s, 1e-9)'),
    ('bf_create(%s, layout => ''guava'')'), ('bf_create(%s, layout => ''parquet'')'),
    ('bf_create(%s, layout => ''redis'')'), ('bf_agg(1, %s)'), ('bf_agg(1, %s, 0.1, ''hive'')'),
    ('bf_agg(1, %s, 0.0001)'), ('bf_dist_agg(bf_element_of(1), %s)'),
    ('cbf_create(%s)'), ('cbf_agg(1, %s, 0.0001)'), ('cf_create(%s)'), ('cf_agg(1, %s, 1e-9)'))
    v(made),
  largest(format(made, '1e20'));
RESET bloomfilter.max_size;
SELECT number, (bf_sizing(number::int8)).filters, (bf_sizing(number::int8 + 1)).filters AS more
FROM largest('bf_sizing(1e20)');
SELECT bf_create(1e20);
SELECT cf_create(1e20, 0.001);
SELECT bf_sizing(1e20);
SELECT bf_shard_count(1e20);

-- The largest filters are computed but not made.
SELECT n, rate, bits <= 4294967296 AS fits
FROM (VALUES (432000000, 0.01), (2000000000, 0.5), (70000000, 1e-9)) v(n, rate), bf_sizing(n, rate);
-- Numbers and rates for which one filter is not enough.
SELECT n, rate, filters, bytes, round(bits_per_value::numeric, 2) AS bits_per_value, hashes,
  (bf_create(n / filters + 1, rate) IS NOT NULL) AS "one of them can be made"
FROM (VALUES (434000000, 0.01)) v(n, rate), bf_sizing(n, rate);
SELECT n, filters, pg_size_pretty(bytes), bytes = filters * (bits / filters / 8 + 40) AS "whole",
  (bf_sizing(n / filters + 1)).filters AS one, (bf_sizing(n / (filters - 1) + 1)).filters AS fewer
FROM unnest(ARRAY[434e6, 1e9, 1e10, 1e15]) n, bf_sizing(n);
SELECT bf_sizing(9.2e18, 0.5);
SELECT bf_shard_count(1e10), bf_shard_count(1e12);
SELECT bf_shard_count(1e13);

-- The messages of the errors.
SELECT bf_create(0);
SELECT bf_create(10, 1.5);
SELECT bf_create(10, 'NaN');
SELECT bf_create(1000000000);
SELECT bf_create(10, layout => 'x');
SELECT bf_create_by_size(0, 5);
SELECT bf_create_by_size(4294967297, 5);
SELECT bf_create_by_size(1000, 17);
SELECT bf_agg(1, 0);
SELECT bf_agg(1, NULL, 2);

-- The aggregate takes its parameters from the first row, even if the value of the row is NULL.
SELECT bf_agg(x, 10 * x) FROM generate_series(1, 2) x;
SELECT bf_agg(x, 10, 0.01 * x) FROM generate_series(1, 2) x;
SELECT bf_agg(x, n) FROM (VALUES (1, 10), (2, NULL)) v(x, n);
SELECT bf_agg(x, n) FROM (VALUES (1, NULL), (2, 10)) v(x, n);
SELECT bf_agg(x, n) FROM (VALUES (NULL::int, 10), (2, 20)) v(x, n);
SELECT bf_agg(x, n) FROM (VALUES (1, 10), (NULL::int, 20)) v(x, n);
SELECT g, (bf_info(bf_agg(x, 10 * g))).expected
FROM (SELECT x, 1 + x % 3 AS g FROM generate_series(1, 9) x) s GROUP BY g ORDER BY g;

-- States that are merged must have the same parameters, too. Here, there is one state for each
-- partition.
CREATE TABLE parts (part int, x int) PARTITION BY LIST (part);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts SELECT 1 + x % 2, x FROM generate_series(1, 10) x;
ANALYZE parts;
SET enable_partitionwise_aggregate = on;
EXPLAIN (COSTS OFF) SELECT bf_agg(x, 10 * part) FROM parts;
SELECT bf_agg(x, 10 * part) FROM parts;
SELECT bf_agg(x, 10, 0.01 * part) FROM parts;
SELECT bf_agg(x, CASE part WHEN 1 THEN 10 END) FROM parts;
SELECT bf_agg(x, 10, 0.01, CASE part WHEN 1 THEN 'guava' ELSE 'parquet' END) FROM parts;
SELECT bf_agg(x, 10) = bf_add_all(bf_create(10), array_agg(x)) AS same FROM parts;
SELECT bf_agg(i, CASE WHEN i = 1 THEN 5 ELSE -7 END) FROM generate_series(1, 2) i;
