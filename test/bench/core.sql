-- Reads the results of the micro-benchmarks into table bench.:samples. They are core_bench's CSV,
-- with a line for each benchmark in each round. A sample's base is the scalar kernel's value in the
-- same round. In comparisons of the types, the base is the bloomfilter's value.

CREATE TEMP TABLE csv (name text, iterations float8, real_time float8, cpu_time float8, time_unit text,
  bytes_per_second float8, items_per_second float8, label text, error_occurred text, error_message text);
\copy csv FROM pstdin WITH (FORMAT csv, HEADER)

CREATE TEMP TABLE measured AS
SELECT 'core_' || split_part(name, '/', 1) AS workload, split_part(name, '/', 2) AS kernel,
  split_part(name, '/', 3)::bigint AS of, split_part(name, '/', 4)::bigint AS one_in,
  row_number() OVER (PARTITION BY name) AS round,
  coalesce(bytes_per_second / 1e9, 1e9 / items_per_second) AS value
FROM csv;

INSERT INTO bench.workloads (section, workload, unit, compare, against, title)
SELECT section, 'core_' || operation, unit, compare, against, title
FROM (VALUES
  ('core', 'insert', 'ns', 'ratio', 'scalar', 'The core: insert, 256 at a time'),
  ('core', 'hit', 'ns', 'ratio', 'scalar', 'The core: lookup of a value that is in the filter'),
  ('core', 'miss', 'ns', 'ratio', 'scalar', 'The core: lookup of a value that is not'),
  ('core', 'hit_many', 'ns', 'ratio', 'scalar', 'The core: lookup of values that are in the filter, 256 at a time'),
  ('core', 'miss_many', 'ns', 'ratio', 'scalar', 'The core: lookup of values that are not, 256 at a time'),
  ('core', 'union', 'GB/s', 'ratio', 'scalar', 'The core: union'),
  ('core', 'popcount', 'GB/s', 'ratio', 'scalar', 'The core: count of set bits'),
  ('types', 'type_add', 'ns', 'ratio', 'bloomfilter', 'The core: adding a value to an empty filter of a million'),
  ('types', 'type_hit', 'ns', 'ratio', 'bloomfilter', 'The core: lookup of a value that is in the filter'),
  ('types', 'type_miss', 'ns', 'ratio', 'bloomfilter', 'The core: lookup of a value that is not'),
  ('types', 'type_remove', 'ns', NULL, NULL, 'The core: removing all values of a filter of a million'),
  ('probe', 'chained', 'ns', NULL, NULL, 'The core: lookups of which each waits for the one before')
) workloads (section, operation, unit, compare, against, title)
WHERE 'core_' || operation IN (SELECT workload FROM measured)
ON CONFLICT DO NOTHING;

ALTER TABLE measured ADD expression text;
UPDATE measured SET expression =
  format('%s values at %s %%, %s', to_char(of, 'FM999G999G999'), trim_scale(100.0 / one_in), kernel);

INSERT INTO bench.cases (workload, expression)
SELECT DISTINCT ON (workload, of, one_in, expression) workload, expression
FROM measured WHERE (workload, expression) NOT IN (SELECT workload, expression FROM bench.cases)
ORDER BY workload, of, one_in, expression DESC;

INSERT INTO bench.:samples
SELECT number, round, value, base
FROM measured m JOIN bench.cases USING (workload, expression)
  LEFT JOIN (SELECT workload, of, one_in, round, value FROM measured WHERE kernel IN ('scalar', 'bloomfilter'))
    AS scalar (workload, of, one_in, round, base) USING (workload, of, one_in, round);
