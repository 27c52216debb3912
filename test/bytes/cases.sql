-- Prints what script/same-bytes compares, in lines of kind, name, and md5 or hash, or error and
-- message. :seed chooses among combinations.

CREATE TABLE cases (kind text, name text, settings text, query text, number serial PRIMARY KEY);

-- The md5 of a query's rows, whatever their order.
CREATE FUNCTION outcome(settings text, query text, OUT md5 text, OUT message text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true)
  FROM regexp_split_to_table(nullif(settings, ''), ' ') setting;
  EXECUTE format('SELECT md5(string_agg(r::text, '','' ORDER BY r::text)) FROM (%s) q (r)', query)
    INTO md5;
  md5 := coalesce(md5, 'nothing');
EXCEPTION WHEN OTHERS THEN
  md5 := 'error ' || SQLSTATE;
  message := SQLERRM;
END $$;

CREATE FUNCTION hash_of(v anyelement, seed bigint, OUT hash text, OUT message text)
LANGUAGE plpgsql AS $$
BEGIN
  hash := coalesce(bf_hash(v, seed)::text, 'NULL');
EXCEPTION WHEN OTHERS THEN
  hash := 'error ' || SQLSTATE;
  message := SQLERRM;
END $$;

CREATE FUNCTION parallel(workers int) RETURNS text LANGUAGE sql AS $$
  SELECT concat('max_parallel_workers_per_gather=', workers,
    ' parallel_setup_cost=0 parallel_tuple_cost=0 '
    'min_parallel_table_scan_size=0 min_parallel_index_scan_size=0 bloomfilter.overfill=ignore');
$$;

-- Aggregates that add values one by one to a filter that is there already.
SELECT format('CREATE AGGREGATE %s_added("any") (sfunc = %1$s_add, stype = %s, initcond = %L)',
  prefix, type, filter)
FROM (VALUES ('bf', 'bloomfilter', bf_create(400)::text),
  ('cbf', 'countingbloomfilter', cbf_create(400)::text),
  ('cf', 'cuckoofilter', cf_create(700, 0.001)::text)) types (prefix, type, filter) \gexec
SELECT format('CREATE AGGREGATE bf_grown("any") (sfunc = bf_add, stype = bloomfilter,
  initcond = %L)', bf_create(10, 0.001, grow => true)) \gexec

-- --- every element type --------------------------------------------------------------------------

INSERT INTO cases (kind, name, settings, query)
SELECT 'filters', format('%s: %s', type, expression), parallel(0),
  format('SELECT md5((%s)::bytea) FROM element_%s', expression, elements.number)
FROM elements, unnest(ARRAY['bf_agg(v)', 'bf_agg(v, 500)', 'bf_agg(v, 300, 0.001)',
  'bf_agg(v, NULL, 0.1)', 'cbf_agg(v)',
  'cbf_agg(v, 500)', 'cbf_agg(v, 300, 0.001)', 'cf_agg(v)', 'cf_agg(v, 500)',
    'cf_agg(v, 300, 0.001)',
    'bf_agg(DISTINCT v)', 'bf_agg(v ORDER BY id DESC)', 'bf_agg(v) FILTER (WHERE id % 3 = 0)',
    'bf_added(v ORDER BY id)', 'bf_grown(v ORDER BY id)', 'cbf_added(v ORDER BY id)',
    'cf_added(v ORDER BY id)',
    'bf_add_all(bf_create(500, 0.01, seed => 5), array_agg(v ORDER BY id))',
    'cbf_add_all(cbf_create(500, 0.01, -5), array_agg(v ORDER BY id))',
    'cf_add_all(cf_create(900, 0.01, 77), array_agg(v ORDER BY id))',
    'bf_agg(v, 500) | bf_added(v ORDER BY id)', 'bf_agg(v::text)']) expression
WHERE type NOT LIKE '%[]' OR expression NOT LIKE '%array_agg%' -- which needs arrays of one size
UNION ALL
SELECT 'filters', format('%s: %s', type, replace(expression, '{}', layout)), parallel(0),
  format('SELECT md5((%s)::bytea) FROM element_%s', replace(expression, '{}', layout),
    elements.number)
FROM elements, unnest(ARRAY['lines', 'parquet', 'parquet_int32', 'parquet_float', 'guava',
  'guava_integer', 'guava_chars',
  'guava_mitz32', 'guava_integer_mitz32', 'guava_chars_mitz32', 'redis', 'spark',
    'spark_v2', 'datasketches', 'hive']) layout,
  unnest(ARRAY['bf_agg(v, 500, 0.01, ''{}'')',
    'bf_add_all(bf_create(500, 0.001, layout => ''{}''), array_agg(v ORDER BY id))']) expression
WHERE type NOT LIKE '%[]'
UNION ALL
SELECT 'filters', format('%s: %s, two workers', type, expression), parallel(2),
  format('SELECT md5((%s)::bytea) FROM element_%s', expression, elements.number)
FROM elements, unnest(ARRAY['bf_agg(v)', 'bf_agg(v, 500)', 'cbf_agg(v)', 'cf_agg(v)']) expression
UNION ALL
SELECT 'filters', format('%s: %s%s', type, expression, clause), parallel(0),
  format('SELECT md5((%s)::bytea) FROM element_%s%s', expression, elements.number, clause)
FROM elements, (VALUES ('bf_agg(v)', ' GROUP BY id % 7'), ('cbf_agg(v, 40)', ' GROUP BY id % 7'),
  ('cf_agg(v)', ' GROUP BY id % 7'),
    ('bf_agg(v) OVER w', ' WINDOW w AS (ORDER BY id ROWS 9 PRECEDING)'),
  ('cbf_agg(v) OVER w', ' WINDOW w AS (ORDER BY id ROWS 9 PRECEDING)'),
  ('cbf_agg(v, 20) OVER w', ' WINDOW w AS (ORDER BY id ROWS BETWEEN 9 PRECEDING AND 3 PRECEDING)'),
  ('cf_agg(v) OVER w', ' WINDOW w AS (ORDER BY id)')) grouped (expression, clause)
UNION ALL
SELECT 'answers', format('%s: %s', type, expression), parallel(0),
  format('SELECT id || '' '' || coalesce((%s)::text, ''NULL'') FROM element_%s,
    (SELECT bf_agg(v, 50) AS f, cbf_agg(v, 50) AS c, cf_agg(v) AS k
     FROM element_%2$s WHERE id %% 5 = 0) built', expression, elements.number)
FROM elements, unnest(ARRAY['f @> v', 'c @> v', 'k @> v', 'v <@ f', 'cbf_multiplicity(c, v)',
  'cf_multiplicity(k, v)',
  'bf_shard(v, 64)', 'md5((cbf_remove(c, v, true))::bytea)',
  'md5((cf_remove(k, v, true))::bytea)', 'md5((f + v)::bytea)']) expression
UNION ALL
SELECT 'answers', format('%s: %s', type, expression), parallel(0),
  format('SELECT %s FROM (SELECT bf_agg(v, 50) AS f FROM element_%s WHERE id %% 5 = 0) built,
    (SELECT array_agg(v ORDER BY id) AS a FROM element_%2$s) asked', expression, elements.number)
FROM elements, unnest(ARRAY['bf_contains_each(f, a)', 'bf_contains_any(f, a)',
  'bf_contains_all(f, a)']) expression
WHERE type NOT LIKE '%[]';

-- --- sizes ---------------------------------------------------------------------------------------

INSERT INTO cases (kind, name, settings, query)
SELECT 'filters', format('%s values, %s: %s, work_mem %s, workers: %s', n, pattern,
  replace(expression, '{}', n::text),
    work_mem, workers),
  format('%s work_mem=%s', parallel(workers), work_mem),
  format('SELECT md5((%s)::bytea) FROM numbers WHERE i < %s',
    replace(replace(expression, 'x', x), '{}', n::text), n * times)
FROM unnest(ARRAY[0, 1, 7, 8, 9, 64, 128, 1000, 1024, 65535, 65536, 65537, 131072, 131073, 300000,
  1000000]) n,
  (VALUES ('distinct', 1, 'h(i)'), ('each three times', 3, format('h(i %% greatest(%s, 1))', '{}')),
    ('in runs', 3, 'h(i / 3)'),
    ('few, many and NULL', 2,
      'CASE WHEN i % 11 > 0 THEN h(CASE i % 2 WHEN 0 THEN i % 7 ELSE i END) END'),
    ('text', 1, 'm(i)')) patterns (pattern, times, x),
  unnest(ARRAY['bf_agg(x)', 'bf_agg(x, {})', 'bf_agg(x, {} / 10 + 1)', 'bf_agg(x, 2 * {}, 0.0001)',
    'bf_agg(x, NULL, 0.1)',
    'cbf_agg(x)', 'cbf_agg(x, {})', 'cbf_agg(x, {} / 10 + 1)', 'cbf_agg(x, NULL, 0.001)',
    'cf_agg(x)', 'cf_agg(x, {})', 'cf_agg(x, 2 * {}, 0.0001)']) expression,
  unnest(ARRAY['64kB', '1MB', '64MB']) work_mem, unnest(ARRAY[0, 2]) workers
WHERE h(hashtext(format('%s %s %s %s %s', n, pattern, expression, work_mem,
  workers))) % (2 + n / 30000) = 0;

-- --- groups and windows --------------------------------------------------------------------------

INSERT INTO cases (kind, name, settings, query)
SELECT 'filters', format('GROUP BY %s: %s, work_mem %s, workers: %s, hashed: %s', key, expression,
  work_mem, workers, hashed),
  format('%s work_mem=%s enable_hashagg=%s', parallel(workers), work_mem, hashed),
  format('SELECT md5((%s)::bytea) FROM numbers WHERE i < 300000 GROUP BY %s', expression, key)
FROM unnest(ARRAY['g', 'i / 100', 'i / 70000', 'i / least(i + 1, 2000)']) key,
  unnest(ARRAY['bf_agg(h(i))', 'bf_agg(h(i), 100)', 'bf_agg(m(i / 2), 100)', 'cbf_agg(h(i / 3))',
    'cf_agg(h(i / 3))']) expression,
  unnest(ARRAY['64kB', '64MB']) work_mem, unnest(ARRAY[0, 2]) workers,
    unnest(ARRAY['on', 'off']) hashed
WHERE h(hashtext(format('%s %s %s %s %s', key, expression, work_mem, workers, hashed))) % 2 = 0
UNION ALL
SELECT 'filters', format('%s OVER (%s)', expression, clause), parallel(0) || ' work_mem=64kB',
  format('SELECT md5((%s OVER (%s))::bytea) FROM numbers WHERE i < 3000', expression, clause)
FROM unnest(ARRAY['bf_agg(h(i / 2))', 'bf_agg(h(i), 100)', 'cbf_agg(h(i / 2))',
  'cbf_agg(h(i), 100)', 'cf_agg(h(i))']) expression,
  unnest(ARRAY['ORDER BY i ROWS 100 PRECEDING', 'PARTITION BY g % 10',
    'PARTITION BY g % 10 ORDER BY i',
    'ORDER BY i ROWS BETWEEN 50 PRECEDING AND 50 FOLLOWING']) clause;

-- --- arrays, growth, seeds, algebra --------------------------------------------------------------

INSERT INTO cases (kind, name, settings, query)
SELECT 'filters', format('%s of an array of %s %s', replace(expression, ', {}', ''), n, x),
  parallel(0),
  format('SELECT md5((%s)::bytea) FROM (SELECT array_agg(%s ORDER BY i) AS a FROM numbers
      WHERE i < %s) n',
    replace(expression, '{}', 'a'), x, n)
FROM unnest(ARRAY[0, 1, 7, 8, 9, 255, 256, 257, 1000, 1024, 1025, 20000, 100000]) n,
  unnest(ARRAY['h(i)', 'h(i / 3)', 'm(i)', 'nullif(h(i) % 1000, 5)']) x,
  unnest(ARRAY['bf_add_all(bf_create(1000), {})',
    'bf_add_all(bf_create(200000, 0.001, seed => 9), {})',
    'bf_add_all(bf_create(100, grow => true), {})',
    'bf_add_all(bf_create(20000, 0.0001, seed => -1, grow => true), {})',
    'bf_add_all(bf_create_by_size(29 * 512, 6), {})',
    'bf_add_all(bf_create_by_size(1000000, 3, 4), {})',
    'cbf_add_all(cbf_create(20000, 0.001, 3), {})',
    'cf_add_all(cf_create(300000, 0.001, 3), {})']) expression
UNION ALL
SELECT 'answers', format('%s of %s: %s %s', expression, stored.n, items, x), parallel(0),
  format('SELECT %s FROM stored, (SELECT array_agg(%s ORDER BY i) AS a FROM numbers
      WHERE i %% %s = 0 AND i < 1000000) asked WHERE n = %s',
    expression, x, 1000000 / items, stored.n)
FROM stored, unnest(ARRAY[1, 10, 100, 150, 200, 1000, 10000]) items,
  (VALUES ('integers', 'h(i * 2)'), ('integers', 'nullif(h(i), h(0))'),
    ('texts', 'm(i * 2)')) asked (filter, x),
  LATERAL unnest(ARRAY[format('bf_contains_each(%s, a)', filter),
    format('bf_contains_any(%s, a)', filter),
    format('bf_contains_all(%s, a)', filter)]) expression
UNION ALL
SELECT 'answers', format('%s of %s', expression, stored.n),
  parallel(workers) || ' work_mem=' || work_mem,
  format('SELECT count(*) FROM numbers WHERE i < 200000
      AND (SELECT %s FROM stored WHERE n = %s) @> %s',
    expression, stored.n, x)
FROM stored, (VALUES ('integers', 'h(i)', 0, '4MB'), ('texts', 'm(i)', 0, '4MB'),
  ('counting', 'h(i * 2)', 2, '64kB'),
  ('cuckoo', 'h(i * 2)', 2, '4MB')) asked (expression, x, workers, work_mem)
UNION ALL
SELECT 'filters', expression || ' of pieces', parallel(0),
  format('SELECT md5((%s)::bytea) FROM (SELECT g %% 20 AS p, bf_agg(h(i)) AS f,
      bf_agg(h(i), 20000) AS s, cbf_agg(h(i), 20000) AS c, cf_agg(h(i / 2), 20000) AS k,
      bf_grown(h(i) ORDER BY i) AS o
    FROM numbers WHERE i < 20000 GROUP BY 1) pieces', expression)
FROM unnest(ARRAY['bf_union_agg(f ORDER BY p)', 'bf_union_agg(s)', 'bf_intersect_agg(s)',
  'bf_union_agg(o ORDER BY p)',
  'cbf_union_agg(c)', 'cf_union_agg(k ORDER BY p)', 'bf_union_agg(c::bloomfilter)',
  'bf_fold(bf_union_agg(s), 4096)',
  'bf_clear(bf_union_agg(s))', 'bf_union_agg(bf_growable(s) ORDER BY p)']) expression
UNION ALL
SELECT 'filters', expression, parallel(0), format('SELECT md5((%s)::bytea)', expression)
FROM unnest(ARRAY[1, 7, 100, 6600, 65536, 1000000]) n,
  unnest(ARRAY[0.2, 0.01, 0.0003, 0.000001]) rate,
  unnest(ARRAY[0, 1, -7]) seed,
  unnest(ARRAY[format('bf_create(%s, %s, seed => %s)', n, rate, seed),
    format('cbf_create(%s, %s, %s)', n, rate, seed),
    format('cf_create(%s, %s, %s)', n, rate, seed)]) expression;

-- --- all of it -----------------------------------------------------------------------------------

SELECT format($$SELECT 'hashes',
  format('%%s %%s, seed %%s: %%s', %L::text, id, seed, left(v::text, 60)), (hash_of(v, seed)).*
  FROM element_%s, unnest('{0,-7}'::bigint[]) seed$$, type, number)
FROM elements ORDER BY number \gexec

SELECT format('SELECT %L, %L, (outcome(%L, %L)).*', kind, name, settings, query)
  FROM cases ORDER BY number \gexec
