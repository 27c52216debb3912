-- The workloads of the benchmark and their cases: one case a line, the floor first (frame.sql).

-- Each round probes for other values that were not added ("strangers").
INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template) VALUES
('rates', 'rates', 'rate', 'ratio', 'asked',
 'False positive rate obtained with a million values, asked for {rows} others',
 $$SELECT bench.report(avg((f @> (x + others))::int), {})
   FROM (SELECT bf_agg(x, 1000000, {}) AS f, 1000000000 + (random() * 1e15)::bigint AS others
     FROM numbers WHERE x < 1000000) f, numbers$$),
('rates', 'bits', 'bits per value', 'ratio', 'theory',
 'Bits per value; in theory, a Bloom filter needs at least 1.44 log2(1/rate)',
 $$SELECT bench.report(bits_per_value, -log(2, {}::numeric) / ln(2)) FROM bf_sizing(1000000, {})$$);

-- How the rate rises as values are added, compared with a textbook Bloom filter. In that filter,
-- half of the cells are set when it is full, and each value has log2(1/rate) cells. If false
-- positives are rare, the number of probes is {operations} times as large.
INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template, before)
SELECT 'load', 'load_' || rate, 'rate', 'ratio', 'theory',
  format('False positive rate of a filter made for a million values at %s %% that holds more or fewer of them, '
    'asked for {rows} others', trim_scale(100 * rate)),
  replace($$SELECT bench.report(obtained, (1 - 0.5 ^ {}::float8) ^ -log(2, {rate}::numeric)::float8)
    FROM (SELECT bf_agg(i, 1000000, {rate}) AS f, 1000000000 + (random() * 1e15)::bigint AS others
        FROM generate_series(1, ({} * 1e6)::bigint) i) f,
      LATERAL (SELECT avg((f @> (x + others + 1000000000 * pass::bigint))::int) AS obtained
        FROM numbers, generate_series(1, {operations}) pass) asked$$,
    '{rate}', rate::text),
  'SET client_min_messages = error' -- without warnings about overfilled filters
FROM unnest(ARRAY[0.1, 0.01, 0.0001]) rate;
INSERT INTO bench.cases (workload, expression, operations)
SELECT workload, load,
  CASE WHEN workload LIKE '%0.0001' THEN CASE load WHEN '0.5' THEN 10 WHEN '0.75' THEN 3 ELSE 1 END ELSE 1 END
FROM bench.workloads,
  unnest(ARRAY['0.5', '0.75', '1', '1.25', '1.5', '1.75', '2', '2.5', '3', '3.5', '4']) load
WHERE section = 'load' ORDER BY number, load::numeric;

-- The size for each rate, in each type. Workloads without a title have 200 rates, only for the
-- figures.
INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template)
SELECT CASE unit WHEN 'bytes' THEN 'size' ELSE 'rates' END,
  CASE unit WHEN 'bytes' THEN 'size_' || type ELSE 'bits' END || CASE WHEN curve THEN '_curve' ELSE '' END,
  unit || ' per value', 'ratio', 'theory',
  CASE WHEN curve THEN '' ELSE format('Bytes per value, %s; in theory, a Bloom filter needs at least '
    '0.18 log2(1/rate)', type) END,
  format('SELECT bench.report(bits_per_value / %s, -log(2, {}::numeric) / ln(2) / %1$s) FROM %s_sizing(1000000, {})',
    CASE unit WHEN 'bytes' THEN 8 ELSE 1 END, prefix)
FROM (VALUES (1, 'bloomfilter', 'bf'), (2, 'countingbloomfilter', 'cbf'), (3, 'cuckoofilter', 'cf'))
    types (number, type, prefix), unnest(ARRAY['bits', 'bytes']) unit, unnest(ARRAY[false, true]) curve
WHERE unit = 'bytes' OR (curve AND prefix = 'bf') ORDER BY curve, number;
INSERT INTO bench.cases (workload, expression)
SELECT workload, rate
FROM bench.workloads, unnest(ARRAY['0.1', '0.01', '0.001', '0.0001', '0.00001', '0.000001']) rate
WHERE workload LIKE 'size_%filter' ORDER BY number, rate::numeric DESC;
INSERT INTO bench.cases (workload, expression)
SELECT workload, round(10 ^ (-1 - i / 40.0), 12)::text
FROM bench.workloads, generate_series(0, 200) i WHERE workload LIKE '%\_curve' ORDER BY number, i;

INSERT INTO bench.workloads (section, workload, unit, compare, title, template) VALUES
('size', 'size_exact', 'bytes per value', 'ratio', 'What a million bigints take, in a filter at 1 % and exactly',
 'SELECT bench.report(({})::float8 / count(*)) FROM keys'),
('membership', 'membership', 'µs', 'ratio', 'One question, "is this value one of the million?", each in a transaction of its own',
 $$CALL bench.repeat({operations}, '{}', '{filter}', true)$$);
INSERT INTO bench.cases (workload, expression, label) VALUES
('size_exact', 'SELECT pg_column_size(bf_agg(k, (SELECT count(*) FROM keys))) FROM keys', 'bf_agg(k, 1000000)'),
('size_exact', 'SELECT pg_column_size(array_agg(k)) FROM keys', 'array_agg(k)'),
('size_exact', 'pg_relation_size($$keys_k_idx$$)', 'btree index'),
('size_exact', 'pg_relation_size($$keys$$)', 'table');
INSERT INTO bench.cases (workload, expression, settings, filter, operations, label) VALUES
('membership', 'SELECT filter @> $1 FROM filters WHERE name = $2', 'enable_seqscan=off', '1.2 MB', 5000, 'filter @> x'),
('membership', 'SELECT EXISTS (SELECT FROM keys WHERE k = $1)', 'enable_seqscan=off', NULL, 5000, 'EXISTS (SELECT FROM keys WHERE k = x), btree'),
('membership', 'SELECT $1 = ANY (keys) FROM key_array', '', NULL, 100, 'x = ANY (array of the 1 M keys), stored'),
('membership', 'SELECT $1 IN (SELECT k FROM keys)', 'work_mem=64MB', NULL, 20, 'x IN (SELECT k FROM keys)');

INSERT INTO bench.workloads (section, workload, unit, compare, title, template, before) VALUES
('build', 'build', 'ms', 'ratio', 'Building from {rows} bigints, all distinct',
 'SELECT pg_column_size({}) FROM numbers', NULL),
('build', 'build_few', 'ms', 'ratio', 'Building from {rows} bigints, 100 000 of them distinct',
 'SELECT pg_column_size({}) FROM numbers', NULL),
('build', 'build_text', 'ms', 'ratio', 'Building from {rows}/2 URLs of 50 bytes, all distinct',
 'SELECT pg_column_size({}) FROM urls', NULL),
('build', 'build_layouts', 'ms', 'ratio', 'Building from a million bigints, all distinct, in layouts of other systems',
 'SELECT pg_column_size({}) FROM keys', NULL),
('build', 'build_groups', 'ms', 'ratio', 'Building 100 000 small filters: GROUP BY over {rows} bigints',
 'SELECT sum(pg_column_size(a)) FROM (SELECT {} AS a FROM numbers GROUP BY x % 100000) g', NULL),
('build', 'build_where', 'ms', 'ratio', 'Building from the rows of {rows} that a comparison of another column leaves',
 '{}', NULL),
('build', 'build_directory', 'ms', 'ratio', 'Building 10 000 filters: GROUP BY over {rows} bigints', '{}', NULL),

('memory', 'memory', 'MB', 'difference', 'Peak memory of the backend, above count(x): {rows} bigints, all distinct',
 'SELECT pg_column_size({}) FROM numbers', NULL),
('memory', 'memory_few', 'MB', 'difference', 'Peak memory of the backend, above count(x): 100 000 distinct bigints',
 'SELECT pg_column_size({}) FROM numbers', NULL),

('probe', 'probe', 'ms', 'ratio', 'Probing with {rows} bigints row by row, the filter stored',
 'SELECT count(*) FROM numbers WHERE {}', 'SET bloomfilter.scan = off'),

('probe', 'probe_few', 'ms', 'ratio', 'The same beside a comparison that lets as many rows through, 2 %',
 'SELECT count(*) FROM numbers WHERE {}', 'SET bloomfilter.scan = off'),
('probe', 'probe_some', 'ms', 'ratio', 'The same beside a comparison that lets as many rows through, 11 %',
 'SELECT count(*) FROM numbers WHERE {}', 'SET bloomfilter.scan = off'),

('scan', 'scan', 'ms', 'ratio',
 'Asking a stored filter page by page, and row by row, beside a comparison that lets as many rows through: {rows} bigints',
 '{}', NULL),
('scan', 'scan_text', 'ms', 'ratio', 'The same of {rows}/2 URLs of 50 bytes', '{}', NULL),
('scan', 'scan_wide', 'ms', 'ratio', 'The same of the fifth of eight columns, {rows}/5 rows', '{}', NULL),
('scan', 'scan_parallel', 'ms', 'ratio', 'The same with two workers, {rows} bigints', '{}', NULL),
('scan', 'scan_cold', 'ms', 'ratio', 'The same of {rows}/2 rows of 230 bytes that are in no memory', '{}',
 $$SELECT bench.forget('cold')$$),
('scan', 'semijoin', 'ms', 'ratio',
 'Which of {rows} bigints are among a million, exactly, and by a filter that the query builds',
 'SELECT count(*) FROM hashed WHERE {}', NULL),
('scan', 'semijoin_many', 'ms', 'ratio',
 'The same among {rows} others, of which one in a hundred is found',
 'SELECT count(*) FROM hashed WHERE {}', NULL),

('lookup', 'lookup_first', 'µs', 'difference', 'One probe of a stored filter, each in a transaction of its own',
 $$CALL bench.repeat({operations}, 'SELECT {} FROM filters WHERE name = $2', '{filter}', true)$$, NULL),
('lookup', 'lookup_again', 'µs', 'difference', 'One probe of a stored filter, many in a transaction',
 $$CALL bench.repeat({operations}, 'SELECT {} FROM filters WHERE name = $2', '{filter}', false)$$, NULL),
('lookup', 'lookup_buffers', 'buffers', 'difference', 'Buffers that the first probe in a transaction touches',
 $$SELECT bench.report(bench.buffers($q$SELECT {} FROM filters WHERE name = '{filter}'$q$))$$, NULL),

('partitions', 'partitions', 'ms', 'ratio', 'Probing one stored filter of 12 MB from 64 partitions, {rows}/8 bigints',
 'SELECT count(*) FROM parts WHERE {}', NULL),

('planning', 'planning_ten', 'µs', 'difference', 'Planning ten conditions, not executed',
 $$CALL bench.plan({operations}, 'numbers', '{}', '{filter}')$$, NULL),
('planning', 'planning_partitions', 'µs', 'difference', 'Planning a condition on 64 partitions, not executed',
 $$CALL bench.plan({operations}, 'parts', '{}', '{filter}')$$, NULL),

('update', 'update', 'µs', 'ratio', 'Adding one value to a stored filter: time of an UPDATE and its COMMIT',
 $$CALL bench.repeat({operations}, '{}', '{filter}', true)$$, 'VACUUM stored, shards'),
('update', 'update_wal', 'WAL bytes', 'ratio', 'Adding one value to a stored filter: WAL written',
 $$CALL bench.repeat({operations}, '{}', '{filter}', true)$$, 'VACUUM stored, shards'),
('update', 'update_watched', 'µs', 'ratio',
 'Adding one value to a filter in memory, three quarters full, with and without a look at its rate',
 $$SELECT count(f + x) FROM (SELECT x FROM numbers LIMIT {operations}) n,
   (SELECT bf_add_all(bf_create({}), array(SELECT generate_series(1, {} * 3 / 4))) AS f OFFSET 0) f$$, NULL),

('stream', 'stream', 'µs', 'ratio', 'Adding new values to a table of shards, statement and COMMIT: time per value',
 '{}', NULL),
('stream', 'stream_wal', 'WAL bytes', 'ratio', 'Adding new values to a table of shards: WAL per value',
 '{}', NULL),
('stream', 'stream_forms', 'µs', 'ratio',
 'Adding a new value to sets of a million, call and COMMIT: time per value', '{}', NULL),
('stream', 'stream_forms_asked', 'µs', 'ratio',
 'Asking sets of a million for a new value, call and COMMIT: time per value', '{}', NULL),
('stream', 'stream_forms_batch', 'µs', 'ratio',
 'Adding arrays of 1000 to sets of a million, call and COMMIT: time per value', '{}', NULL),
('stream', 'stream_writers', 'µs', 'ratio',
 'Eight sessions add new values to a set of a million, statement and COMMIT: time per value',
 'SELECT bench.write(8, {})', NULL),

('links', 'links_add', 'ms', 'ratio', 'Adding an array of a million bigints, all distinct',
 'SELECT pg_column_size(bf_add_all({}, keys)) FROM key_array', NULL),
('links', 'links_probe', 'ms', 'ratio',
 'Probing with {rows} bigints, the filter stored, with the same million values',
 'SELECT count(*) FROM numbers WHERE {} @> x', NULL),
('links', 'links_union', 'ms', 'ratio',
 'Uniting 60 stored filters of 20 KB that sized themselves to one of 60 links',
 'SELECT {} FROM sixty', NULL),
('links', 'links_sizes', 'sizes', NULL,
 'How many sizes 100 filters have that sized themselves for 50 000 to 149 000 values',
 'SELECT bench.report({}) FROM alike', NULL),
('links', 'links_bytes', 'bytes per value', NULL, 'How many bytes these have for each value',
 'SELECT bench.report({}) FROM alike', NULL),

('inspect', 'inspect', 'GB/s', NULL, 'Inspecting a filter in memory',
 $$DO $do$
   DECLARE f bloomfilter := (SELECT filter FROM filters WHERE name = '{filter}'); result text;
   BEGIN FOR i IN 1 .. {operations} LOOP result := {}; END LOOP; END $do$ $$, NULL),
('inspect', 'inspect_stored', 'ms', 'ratio', 'Inspecting a stored filter of 120 MB',
 $$SELECT {} FROM filters WHERE name = '120 MB'$$, NULL),
('inspect', 'union', 'ms', 'ratio', 'Combining 1000 stored filters of 120 KB',
 'SELECT {} FROM thousand', NULL);

INSERT INTO bench.workloads (section, workload, unit, compare, against, title) VALUES
('sizes', 'sizes', 'ns', 'ratio', 'count(x)',
 'Building filters of a hundred to a million bigints, all distinct, time per value'),
('values', 'values', 'ns', 'difference', 'count(v)',
 'Building from {rows}/20 values of each type, time per value'),
('arrays', 'arrays', 'µs', 'difference', 'no-op call',
 'Asking a stored filter of 1.2 MB for all values of an array, each time in a transaction of its own');

INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template) VALUES
('parallel', 'parallel', 'ms', 'ratio', 'no worker',
 'Building with no worker, one, and two, from {rows} bigints', 'SELECT pg_column_size({}) FROM numbers'),
('large', 'large', 'ns', 'ratio', NULL, 'Building from {rows}*10 bigints, all distinct, time per value',
 'SELECT pg_column_size({}) FROM numbers,
    (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) digits (digit)');

-- The three types with the same million values, each at three rates. Lookups probe stored filters.
INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template)
SELECT 'types', format('types_%s_%s', what, rate), unit, 'ratio', against, format(title, trim_scale(100 * rate)),
  replace(template, '{rate}', rate::text)
FROM unnest(ARRAY[0.01, 0.001, 0.0001]) rate,
  (VALUES
    (1, 'bytes', 'bytes', NULL, 'Bytes per value of a filter of a million values, %s %%',
     'SELECT bench.report(pg_column_size({}) / 1e6) FROM types WHERE rate = {rate}'),
    (2, 'rate', 'rate', 'asked', 'False positive rate obtained, %s %% asked for, with {rows} others',
     $$SELECT bench.report(avg(({} @> (x + others))::int), {rate})
       FROM (SELECT *, 1000000000 + (random() * 1e15)::bigint AS others FROM types WHERE rate = {rate}) t,
         numbers$$),
    (3, 'build', 'ns', NULL, 'Building from a million bigints, time per value, %s %%',
     'SELECT pg_column_size({}) FROM keys'),
    (4, 'probe', 'ms', NULL, 'Probing with {rows} bigints, the filter stored, %s %%',
     'SELECT count(*) FROM numbers WHERE (SELECT {} FROM types WHERE rate = {rate}) @> x'))
  measured (number, what, unit, against, title, template)
ORDER BY number, rate DESC;
INSERT INTO bench.cases (workload, expression, operations, label)
SELECT workload,
  CASE WHEN workload LIKE 'types_build%' THEN format('%s_agg(k, 1000000, %s)', prefix,
    substring(workload FROM '[0-9.]+$')) ELSE column_name END,
  CASE WHEN workload LIKE 'types_build%' THEN 1e6 ELSE 1 END, label
FROM bench.workloads,
  (VALUES (1, 'bloom', 'bf', 'bloomfilter'), (2, 'counting', 'cbf', 'countingbloomfilter'),
    (3, 'cuckoo', 'cf', 'cuckoofilter'),
    (4, 'counting_quarter', NULL, 'countingbloomfilter of 250 000'))
    types (type, column_name, prefix, label)
WHERE section = 'types' AND (prefix IS NOT NULL OR workload LIKE 'types_probe%')
ORDER BY workloads.number, type;

INSERT INTO bench.workloads (section, workload, unit, compare, title, template) VALUES
('types', 'types_build_all', 'ns', 'difference', 'Building from {rows} bigints, all distinct, time per value',
 'SELECT pg_column_size({}) FROM numbers');
INSERT INTO bench.cases (workload, expression, settings, operations)
SELECT 'types_build_all', expression, settings, :rows
FROM (VALUES (1, 'count(x)', ''), (2, 'bf_agg(x, 10000000)', ''), (3, 'cbf_agg(x, 10000000)', ''),
    (4, 'cf_agg(x, 10000000)', 'work_mem=64MB'), (5, 'bf_agg(x)', 'work_mem=64MB'),
    (6, 'cbf_agg(x)', 'work_mem=64MB'), (7, 'cf_agg(x)', 'work_mem=64MB'))
  aggregates (number, expression, settings)
ORDER BY number;

INSERT INTO bench.cases (workload, expression)
SELECT workload, rate FROM unnest(ARRAY['rates', 'bits']) workload,
  unnest(ARRAY['0.1', '0.01', '0.001', '0.0001', '0.00001']) rate;

INSERT INTO bench.cases (workload, expression, settings, filter, requires) VALUES
('build', 'count(x)', '', NULL, NULL),
('build', 'nothing_agg(x, 10000000)', '', NULL, NULL),
('build', 'bf_agg(x, 100000)', '', '120 KB', NULL),
('build', 'bf_agg(x, 1000000)', '', '1.2 MB', NULL),
('build', 'bf_agg(x, 10000000)', '', '12 MB', NULL),
('build', 'bf_agg(x, 100000000)', '', '120 MB', NULL),
('build', 'bf_agg(x)', 'work_mem=64MB', NULL, NULL),
('build', 'bf_agg(x)', 'work_mem=4MB', NULL, NULL),
('build', 'count(DISTINCT x)', 'work_mem=64MB', NULL, NULL),
('build', 'array_agg(DISTINCT x)', 'work_mem=64MB', NULL, NULL),
('build', 'hll_add_agg(hll_hash_bigint(x))', '', NULL, 'hll'),

('build_few', 'count(x % 100000)', '', NULL, NULL),
('build_few', 'nothing_agg(x % 100000, 100000)', '', NULL, NULL),
('build_few', 'bf_agg(x % 100000, 100000)', '', '120 KB', NULL),
('build_few', 'bf_agg(x % 100000)', 'work_mem=64MB', NULL, NULL),
('build_few', 'bf_agg(x % 100000)', 'work_mem=4MB', NULL, NULL),
('build_few', 'count(DISTINCT x % 100000)', 'work_mem=64MB', NULL, NULL),
('build_few', 'array_agg(DISTINCT x % 100000)', 'work_mem=64MB', NULL, NULL),
('build_few', 'hll_add_agg(hll_hash_bigint(x % 100000))', '', NULL, 'hll'),

('build_text', 'count(u)', '', NULL, NULL),
('build_text', 'nothing_agg(u, 5000000)', '', NULL, NULL),
('build_text', 'bit_xor(hashtextextended(u, 0))', '', NULL, NULL),
('build_text', 'bf_agg(u, 5000000)', '', NULL, NULL),
('build_text', 'bf_agg(u)', 'work_mem=64MB', NULL, NULL),
('build_text', 'bf_agg(u)', 'work_mem=4MB', NULL, NULL),
('build_text', 'hll_add_agg(hll_hash_text(u))', '', NULL, 'hll'),

('build_layouts', 'bf_agg(k, 1000000, 0.01)', '', NULL, NULL),
('build_layouts', 'bf_agg(k, 1000000, 0.01, $$lines$$)', '', NULL, NULL),
('build_layouts', 'bf_agg(k, 1000000, 0.01, $$parquet$$)', '', NULL, NULL),
('build_layouts', 'bf_agg(k, 1000000, 0.01, $$parquet_int32$$)', '', NULL, NULL),
('build_layouts', 'bf_agg(k, 1000000, 0.01, $$guava$$)', '', NULL, NULL),
('build_layouts', 'bf_agg(k, 1000000, 0.01, $$guava_mitz32$$)', '', NULL, NULL),
('build_layouts', 'count(k)', '', NULL, NULL),

('build_groups', 'count(x)', 'work_mem=512MB', NULL, NULL),
('build_groups', 'nothing_agg(x)', 'work_mem=512MB', NULL, NULL),
('build_groups', 'bf_agg(x)', 'work_mem=512MB', NULL, NULL),
('build_groups', 'bf_agg(x, 100)', 'work_mem=512MB', NULL, NULL),
('build_groups', 'array_agg(x)', 'work_mem=512MB', NULL, NULL),
('build_groups', 'array_agg(DISTINCT x)', 'work_mem=512MB', NULL, NULL),
('build_groups', 'count(DISTINCT x)', 'work_mem=512MB', NULL, NULL),

('memory', 'count(x)', '', NULL, NULL),
('memory', 'bf_agg(x, 10000000)', '', '12 MB', NULL),
('memory', 'bf_agg(x)', 'work_mem=64MB', NULL, NULL),
('memory', 'bf_agg(x)', 'work_mem=4MB', NULL, NULL),
('memory', 'array_agg(DISTINCT x)', 'work_mem=64MB', NULL, NULL),

('memory_few', 'count(x % 100000)', '', NULL, NULL),
('memory_few', 'bf_agg(x % 100000, 100000)', '', '120 KB', NULL),
('memory_few', 'bf_agg(x % 100000)', 'work_mem=64MB', NULL, NULL),
('memory_few', 'bf_agg(x % 100000)', 'work_mem=4MB', NULL, NULL),

('probe', 'x > -1', '', NULL, NULL),
('probe', $$nothing_contains((SELECT filter FROM filters WHERE name = '120 KB'), x)$$, '', NULL, NULL),
('probe', $$(SELECT filter FROM filters WHERE name = '120 KB') @> x$$, '', '120 KB', NULL),
('probe', $$(SELECT filter FROM filters WHERE name = '1.2 MB') @> x$$, '', '1.2 MB', NULL),
('probe', $$(SELECT filter FROM filters WHERE name = '12 MB') @> x$$, '', '12 MB', NULL),
('probe', 'x IN (SELECT k FROM keys)', 'work_mem=4MB', NULL, NULL),
('probe', 'x IN (SELECT k FROM keys)', 'work_mem=64MB', NULL, NULL),
('probe', 'EXISTS (SELECT FROM keys WHERE k = x)',
 'enable_hashjoin=off enable_mergejoin=off enable_material=off enable_memoize=off', NULL, NULL),

('probe_few', 'x < 199000', '', NULL, NULL),
('probe_few', $$(SELECT filter FROM filters WHERE name = '120 KB') @> x$$, '', '120 KB', NULL),
('probe_few', $$(SELECT filter FROM filters WHERE name = '12 MB, few hits') @> x$$, '', '12 MB, few hits', NULL),
('probe_some', 'x < 1090000', '', NULL, NULL),
('probe_some', $$(SELECT filter FROM filters WHERE name = '1.2 MB') @> x$$, '', '1.2 MB', NULL),

('partitions', 'x > -1', '', NULL, NULL),
('partitions', $$(SELECT filter FROM filters WHERE name = '12 MB') @> x$$, '', '12 MB', NULL),

('inspect_stored', 'octet_length(filter::bytea)', '', NULL, NULL),
('inspect_stored', 'bf_count(filter)', '', '120 MB', NULL),
('inspect_stored', 'bf_fpr(filter)', '', '120 MB', NULL),
('inspect_stored', 'bf_info(filter)', '', '120 MB', NULL);

INSERT INTO bench.cases (workload, expression, label) VALUES
('links_add', 'bf_create(1000000)', NULL),
('links_add', 'bf_create(1000000, grow => true)', NULL),
('links_add', 'bf_create(100000, grow => true)', NULL),
('links_add', 'bf_create(10000, grow => true)', NULL),
('links_union', 'sum(bf_count(filter))', NULL),
('links_union', 'bf_count(bf_union_agg(filter))', NULL),
('links_sizes', 'count(DISTINCT pg_column_size(filter))', NULL),
('links_bytes', 'avg(pg_column_size(filter) / (50000.0 + 1000 * i))', NULL);
INSERT INTO bench.cases (workload, expression, filter, label)
SELECT 'links_probe', format('(SELECT filter FROM filters WHERE name = %L)', name), name, label
FROM (VALUES (1, '1.2 MB', 'made for a million'), (2, 'union of two', 'union of two, 500 000 each'),
  (3, 'grown from 1000000', 'growing, made for a million'), (4, 'grown from 10000', 'grown from 10 000'),
  (5, 'union of 64', 'union of 64 that sized themselves'))
  probed (number, name, label) ORDER BY number;

INSERT INTO bench.cases (workload, expression, filter) VALUES
('union', 'sum(bf_count(filter))', '120 KB'),
('union', 'bf_count(bf_union_agg(filter))', '120 KB'),
('union', 'bf_fpr(bf_intersect_agg(filter))', '120 KB'),
('union', 'sum(bf_union_count(filter, filter))', '120 KB');

INSERT INTO bench.cases (workload, part, statement, expression, settings, label)
SELECT 'build_where', condition, format('SELECT pg_column_size(%s) FROM kinds WHERE %s', expression, condition),
  expression, settings, format('%s: %s', condition, expression)
FROM unnest(ARRAY['kind = 3', 'kind <> 3']) condition,
  (VALUES (1, 'count(x)', ''), (2, 'bf_agg(x, 10000000)', ''), (3, 'bf_agg(x)', 'work_mem=64MB'))
    aggregates (number, expression, settings)
ORDER BY condition DESC, number;

INSERT INTO bench.cases (workload, part, statement, expression, settings, label)
SELECT 'build_directory', label, format('SELECT sum(pg_column_size(a)) FROM (SELECT %s AS a FROM %s GROUP BY file) g',
    expression, orders.table), expression, settings, format('%s: %s', label, expression)
FROM (VALUES (1, 'in order', 'kinds_by_file', 'work_mem=512MB'), (2, 'at random', 'kinds', 'work_mem=512MB'),
    (3, 'in order, little memory', 'kinds_by_file', 'work_mem=4MB')) orders (number, label, "table", settings),
  unnest(ARRAY['count(x)', 'nothing_agg(x)', 'array_agg(x)', 'bf_agg(x)', 'bf_agg(x, 1000)'])
    WITH ORDINALITY aggregates (expression, number)
ORDER BY orders.number, aggregates.number;

-- A filter probed page by page and row by row. The floor is a comparison that lets as many rows
-- through.
INSERT INTO bench.cases (workload, part, statement, settings, expression, label)
SELECT workload, filter, format('SELECT count(*) FROM %s WHERE %s', tables, ways.expression),
  ways.settings, ways.expression, format('%s, %s: %s', filter, hits, ways.label)
FROM (VALUES
    (1, 'scan', 'numbers', 'x', '120 KB', '2 %', 'x < 199000', ''),
    (2, 'scan', 'numbers', 'x', '1.2 MB', '11 %', 'x < 1090000', ''),
    (3, 'scan', 'numbers', 'x', '12 MB, few hits', '2 %', 'x < 199000', ''),
    (4, 'scan', 'numbers', 'x', '12 MB', 'all', 'x > -1', ''),
    (5, 'scan', 'numbers', 'x', '120 MB, few hits', '1 %', 'x < 100000', ''),
    (6, 'scan', 'numbers', 'x', '120 MB', 'all', 'x > -1', ''),
    (7, 'scan_text', 'urls', 'u', '1.2 MB of text', '20 %', $$u < 'https://shop278'$$, ''),
    (8, 'scan_wide', 'wide', 'x', '1.2 MB', '11 %', 'x < 1090000', ''),
    (9, 'scan_wide', 'wide', 'x', '12 MB, few hits', '2 %', 'x < 199000', ''),
    (10, 'scan_parallel', 'numbers', 'x', '1.2 MB', '11 %', 'x < 1090000',
      'max_parallel_workers_per_gather=2'),
    (11, 'scan_cold', 'cold', 'x', '12 MB, few hits', '2 %', 'x < 199000', '')) asked
    (number, workload, tables, value, filter, hits, comparison, settings),
  LATERAL (SELECT format('(SELECT filter FROM filters WHERE name = %L) @> %s', filter, value)) ask (ask),
  LATERAL (VALUES (1, comparison, asked.settings, comparison), (2, ask, asked.settings, 'by page'),
    (3, ask, trim(asked.settings || ' bloomfilter.scan=off'), 'by row')) ways (way, expression, settings, label)
WHERE :scan
ORDER BY number, way;
INSERT INTO bench.cases (workload, expression, settings, label, statement)
SELECT workload, replace(expression, 'KEYS', keys), settings, label, replace(statement, 'KEYS', keys)
FROM (VALUES ('semijoin', 'hashed_keys'), ('semijoin_many', 'hashed_strangers')) joins (workload, keys),
  (VALUES
    (1, 'x IN (SELECT k FROM KEYS)', 'work_mem=64MB', 'hash semi join', NULL),
    (2, 'x IN (SELECT k FROM KEYS)', 'work_mem=4MB', 'hash semi join', NULL),
    (3, 'x IN (SELECT k FROM KEYS)', 'work_mem=64MB enable_hashjoin=off enable_nestloop=off', 'merge semi join',
      NULL),
    (4, 'x = ANY (array of the keys)', '', NULL, $$DO $do$ DECLARE a bigint[] := (SELECT array_agg(k) FROM KEYS);
      BEGIN EXECUTE 'SELECT count(*) FROM hashed WHERE x = ANY ($1)' USING a; END $do$ $$),
    (5, '(SELECT bf_agg(k) FROM KEYS) @> x', 'work_mem=64MB', 'filter, by page', NULL),
    (6, '(SELECT bf_agg(k) FROM KEYS) @> x', 'work_mem=64MB bloomfilter.scan=off', 'filter, by row', NULL),
    (7, '(SELECT bf_agg(k) FROM KEYS) @> x AND x IN (SELECT k FROM KEYS)', 'work_mem=64MB',
      'filter by page, then the join', NULL),
    (8, 'EXISTS (SELECT FROM hashed_indexed WHERE k = x)',
      'enable_hashjoin=off enable_mergejoin=off enable_material=off enable_memoize=off', 'btree index, row by row',
      NULL)) cases (number, expression, settings, label, statement)
WHERE :scan AND (expression NOT LIKE '%indexed%' OR workload = 'semijoin')
ORDER BY workload, number;

-- Joins with join filters and without.
INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template, before) VALUES
('joins', 'joins', 'ms', 'ratio', 'the same without',
 'Joining {rows} rows with a million keys, of which a share of the rows joins one',
 'SELECT count(*) FROM {} JOIN joined ON k = x', $$LOAD 'bloomfilter'$$),
('joins', 'joins_restricted', 'ms', 'ratio', 'the same without',
 'Joining {rows} rows, each of which has its key, with a share of a million keys',
 'SELECT count(*) FROM joining_100 JOIN joined ON k = x WHERE percentile < {}', $$LOAD 'bloomfilter'$$),
('joins', 'joins_calendar', 'ms', 'ratio', 'the same without',
 'Joining {rows} sales of five years, in the order of the days, with a calendar of 200 years and others',
 'SELECT count(*), sum(price) FROM sales {}', $$LOAD 'bloomfilter'$$),

('ssb', 'ssb', 'ms', 'ratio', 'the same without',
 'Star Schema Benchmark, scale ' || trim_scale(:rows / 1e7), '{}', $$LOAD 'bloomfilter'$$),
('ssb', 'ssb_workers', 'ms', 'ratio', 'the same without', 'The same with two workers', '{}', $$LOAD 'bloomfilter'$$),
('ssb', 'ssb_mean', 'ratio', NULL, NULL, 'Geometric mean of the times with join filters against those without',
 $$SELECT bench.report(exp(avg(ln(placed.value / without.value))))
   FROM bench.samples placed JOIN bench.cases p USING (number),
     bench.samples without JOIN bench.cases w USING (number)
   WHERE p.workload = '{}' AND w.workload = '{}' AND p.part = w.part AND placed.round = without.round
     AND p.settings LIKE '%join_filter=on' AND w.settings NOT LIKE '%join_filter=on'
     AND placed.round = (SELECT max(round) FROM bench.samples JOIN bench.cases USING (number)
       WHERE workload = '{}')$$, NULL);
INSERT INTO bench.cases (workload, part, expression, settings, label)
SELECT workload, share, format(expression, share), trim('work_mem=64MB ' || settings), share || ' %: ' || label
FROM (VALUES (1, 'joins', 'joining_%s'), (2, 'joins_restricted', '%s')) joins (number, workload, expression),
  unnest(ARRAY[1, 10, 50, 100]) share,
  (VALUES (1, '', 'without'), (2, 'bloomfilter.join_filter=on', 'with join filters')) ways (way, settings, label)
ORDER BY joins.number, share, way;
INSERT INTO bench.cases (workload, part, expression, settings, label)
SELECT 'joins_calendar', name, query, trim('work_mem=64MB ' || settings), name || ': ' || label
FROM (VALUES
  (1, 'a year', 'JOIN calendar USING (day) WHERE year = 2002'),
  (2, 'a year and a category',
   'JOIN calendar USING (day) JOIN items USING (item) WHERE year = 2002 AND category = 3'),
  (3, 'a month of each year and a brand',
   'JOIN calendar USING (day) JOIN items USING (item) WHERE month = 11 AND brand = 77'),
  (4, 'a year and some customers',
   'JOIN calendar USING (day) JOIN customers USING (customer) WHERE year = 2002 AND status = 1 AND education = 8'),
  (5, 'all years and most items',
   'JOIN calendar USING (day) JOIN items USING (item) WHERE year > 1950 AND category < 9')) queries (number, name, query),
  (VALUES (1, '', 'without'), (2, 'bloomfilter.join_filter=on', 'with join filters')) ways (way, settings, label)
ORDER BY number, way;
\if :ssb
INSERT INTO bench.cases (workload, part, expression, settings, label)
SELECT workload, name, query, trim(workers || ' work_mem=64MB ' || settings), name || ', ' || label
FROM (VALUES ('ssb', ''), ('ssb_workers', 'max_parallel_workers_per_gather=2')) runs (workload, workers),
  ssb_queries,
  (VALUES (1, '', 'without'), (2, 'bloomfilter.join_filter=on', 'with join filters')) ways (way, settings, label)
ORDER BY workload, name, way;
INSERT INTO bench.cases (workload, expression, label) VALUES
('ssb_mean', 'ssb', 'serial'), ('ssb_mean', 'ssb_workers', 'two workers');
\endif

-- Each size is built so often that {rows}/2 values are added in all. The subquery refers to r, so
-- that it runs once for each r.
INSERT INTO bench.cases (workload, part, statement, expression, operations, label)
SELECT 'sizes', n, format('SELECT sum(pg_column_size(a) + 0 * again) FROM generate_series(1, %s) r,
    LATERAL (SELECT %s AS a, r AS again FROM some_%s) built', times, expression, n),
  expression, times * n, format('%s: %s', to_char(n, 'FM999G999G999'), expression)
FROM unnest(ARRAY[100, 1000, 2000, 10000, 60000, 130000, 200000, 1000000]) n,
  greatest(1, :rows / 2 / n) times,
  unnest(ARRAY['count(x)', format('bf_agg(x, %s)', n), 'bf_agg(x)'])
    WITH ORDINALITY aggregates (expression, number)
ORDER BY n, aggregates.number;

\if :values
INSERT INTO bench.cases (workload, part, statement, expression, operations, label)
SELECT 'values', name, format('SELECT pg_column_size(%s) FROM typed_%s', expression, typed.number),
  expression, :rows / 20, format('%s: %s', name, replace(expression, 'the_', ''))
FROM typed, unnest(ARRAY[format('count(%s)', value), format('bit_xor(the_%s(%s, 0))', hash, value),
    format('bf_agg(%s, 1000000)', value)]) WITH ORDINALITY aggregates (expression, number)
ORDER BY typed.number, aggregates.number;
\endif

INSERT INTO bench.cases (workload, part, expression, settings)
SELECT 'parallel', concat(expression, settings), expression,
  concat_ws(' ', settings, 'max_parallel_workers_per_gather=' || nullif(workers, 0))
FROM (VALUES (1, 'count(x)', NULL), (2, 'bf_agg(x % 100000, 100000)', NULL),
    (3, 'bf_agg(x % 100000)', 'work_mem=64MB'), (4, 'bf_agg(x, 10000000)', NULL),
    (5, 'bf_agg(x)', 'work_mem=64MB'), (6, 'bf_agg(x)', 'work_mem=4MB'))
  aggregates (number, expression, settings), generate_series(0, 2) workers
ORDER BY number, workers;

INSERT INTO bench.cases (workload, part, statement, settings, expression, operations, label)
SELECT 'arrays', format('%s %s', items, type),
  format('CALL bench.ask(%s, %L, %L, %s)', times,
    format('SELECT %s FROM filters WHERE name = $3', call), filter, items),
  'enable_seqscan=off', call, times, format('%s %s: %s', items, type, label)
FROM (VALUES (10, 1000), (100, 1000), (1000, 200), (10000, 50)) arrays (items, times),
  (VALUES (1, 'bigint', '1.2 MB', '$1'), (2, 'text', '1.2 MB of text', '$2'))
    types (number, type, filter, parameter),
  LATERAL (VALUES (1, format('nothing_contains(filter, %s)', parameter), 'no-op call'),
    (2, format('bf_contains_each(filter, %s)', parameter), 'bf_contains_each'))
    calls (number, call, label)
ORDER BY types.number, items, calls.number;

INSERT INTO bench.cases (workload, expression, settings, operations, label) VALUES
('large', 'count(10 * x + digit)', '', 10 * :rows::bigint, 'count(x)'),
('large', format('bf_agg(10 * x + digit, %s)', 10 * :rows::bigint), '', 10 * :rows::bigint,
 format('bf_agg(x, %s)', 10 * :rows::bigint)),
('large', 'bf_agg(10 * x + digit)', 'work_mem=64MB', 10 * :rows::bigint, 'bf_agg(x)'),
('large', 'bf_agg(10 * x + digit)', 'work_mem=4MB', 10 * :rows::bigint, 'bf_agg(x)');

-- The planner hashes an array only if the array is a constant, such as the parameter of EXECUTE.
INSERT INTO bench.cases (workload, expression, statement) VALUES
('probe', 'x = ANY (array of the 1 M keys)', $$DO $do$
  DECLARE a bigint[] := (SELECT keys FROM key_array);
  BEGIN EXECUTE 'SELECT count(*) FROM numbers WHERE x = ANY ($1)' USING a; END $do$ $$);

-- The no-op call also gets the filter, but reads only the length in the filter's TOAST pointer.
INSERT INTO bench.cases (workload, expression, settings, filter, operations, label)
SELECT workload, expression, 'enable_seqscan=off', name,
  CASE workload WHEN 'lookup_buffers' THEN 1 ELSE 5000 END, label || ', ' || name
FROM unnest(ARRAY['lookup_first', 'lookup_again', 'lookup_buffers']) workload,
  (VALUES (1, 'pg_column_size(filter)', 'no-op call'), (2, 'filter @> $1', 'filter @> value'))
    calls (number, expression, label),
  filters
WHERE expected IS NOT NULL AND (number = 2 OR name = '12 MB')
ORDER BY workload, calls.number, bytes;
-- Every probe above has another value, whose TOAST chunk and index entry are in no processor cache.
-- These cases probe for the same value each time.
INSERT INTO bench.cases (workload, expression, settings, filter, operations, label)
SELECT workload, 'filter @> ($1 * 0 + 1)', settings, filter, operations,
  'the same value each time, ' || filter
FROM bench.cases WHERE workload = 'lookup_first' AND filter IN ('8 KB', '120 MB') AND expression LIKE '%@>%';
UPDATE bench.cases SET expression = replace(expression, '$1', '1') WHERE workload = 'lookup_buffers';

INSERT INTO bench.cases (workload, expression, filter, operations, label)
SELECT 'planning_ten', string_agg(format(condition, i), ' AND '), name, 20, label
FROM (VALUES (1, 'x + %s > 5', '8 KB', 'comparisons'),
    (2, '$1 @> x + %s', '8 KB', 'filter of 8 KB as a parameter'),
    (3, '$1 @> x + %s', '12 MB', 'filter of 12 MB as a parameter'),
    (4, '(SELECT filter FROM filters LIMIT 1) @> x + %s', '8 KB', 'filter in a scalar subquery'))
    conditions (number, condition, name, label), generate_series(1, 10) i
GROUP BY number, name, label ORDER BY number;
INSERT INTO bench.cases (workload, expression, filter, operations, label) VALUES
('planning_partitions', 'x > 5', '8 KB', 20, 'comparison'),
('planning_partitions', '$1 @> x', '8 KB', 20, 'filter of 8 KB as a parameter'),
('planning_partitions', '$1 @> x', '12 MB', 20, 'filter of 12 MB as a parameter');

INSERT INTO bench.cases (workload, expression, filter, operations, label)
SELECT workload, sql, filter, operations, label || CASE filter WHEN 'shard' THEN '' ELSE filter END
FROM unnest(ARRAY['update', 'update_wal']) workload,
  (VALUES
    (1, 'UPDATE shards SET filter = filter + $1 WHERE id = $1 % 1000', 'shard', 5000,
     '1000 rows of 1.9 KB'),
    (2, 'UPDATE stored SET filter = filter + $1 WHERE name = $2', '8 KB', 500, 'one row of '),
    (3, 'UPDATE stored SET filter = filter + $1 WHERE name = $2', '120 KB', 100, 'one row of '),
    (4, 'UPDATE stored SET filter = filter + $1 WHERE name = $2', '1.2 MB', 20, 'one row of '),
    (5, 'UPDATE stored SET filter = filter + $1 WHERE name = $2', '12 MB', 4, 'one row of ')
  ) updates (number, sql, filter, operations, label)
ORDER BY workload, updates.number;
INSERT INTO bench.cases (workload, expression, settings, operations, label, part)
SELECT 'update_watched', capacity, 'bloomfilter.overfill=' || overfill, operations,
  format('%s values, overfill = %s', capacity, overfill), capacity
FROM (VALUES ('200', 200000), ('1500', 200000), ('100000', 5000)) filters (capacity, operations),
  unnest(ARRAY['ignore', 'warn']) overfill
ORDER BY operations DESC, capacity, overfill;

INSERT INTO bench.cases (workload, expression, filter, operations, label)
SELECT workload, format($$DO $do$ DECLARE v bigint; BEGIN
    FOR n IN 1 .. %s LOOP v := random() * 1e15; %s; COMMIT; END LOOP; END $do$ $$,
    operations / size, format(sql, name, shards, capacity, size, set)),
  'shard', operations, label || ', set of ' || expected
FROM unnest(ARRAY['stream', 'stream_wal']) workload,
  (VALUES ('seen_1m', 'set_1m', '1 M', 669, 1495), ('seen_10m', 'set_10m', '10 M', 6685, 1496))
    sets (name, set, expected, shards, capacity),
  (VALUES
    (1, 'INSERT … ON CONFLICT, one value', 10000, 1,
     $$INSERT INTO %1$s AS s VALUES (bf_shard(v, %2$s), bf_create(%3$s) + v)
       ON CONFLICT (shard) DO UPDATE SET filter = s.filter + v WHERE NOT s.filter @> v$$),
    (2, 'UPDATE, one value', 10000, 1,
     $$UPDATE %1$s SET filter = filter + v WHERE shard = bf_shard(v, %2$s) AND NOT filter @> v$$),
    (3, 'seen_add, one value', 10000, 1, 'PERFORM %5$s_add(v)'),
    (4, 'batch of 100', 10000, 100, NULL),
    (5, 'seen_add_all, batch of 100', 10000, 100, NULL),
    (6, 'batch of 1000', 10000, 1000, NULL),
    (7, 'seen_add_all, batch of 1000', 10000, 1000, NULL),
    (8, 'batch of 10 000', 20000, 10000, NULL),
    (9, 'seen_add_all, batch of 10 000', 20000, 10000, NULL))
    cases (number, label, operations, size, one),
  coalesce(one, CASE WHEN label ~ '^seen_add_all'
     THEN 'PERFORM %5$s_add_all(array(SELECT (random() * 1e15)::bigint FROM generate_series(1, %4$s)))'
     ELSE $$INSERT INTO %1$s AS s SELECT bf_shard(b.v, %2$s), bf_agg(b.v, %3$s)
       FROM (SELECT (random() * 1e15)::bigint AS v FROM generate_series(1, %4$s)) b
       GROUP BY 1 ORDER BY 1
       ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter
         WHERE s.filter <> (s.filter | excluded.filter)$$ END) sql
ORDER BY workload, shards, cases.number;
INSERT INTO bench.cases (workload, expression, filter, operations, label)
SELECT workload, format($$DO $do$ DECLARE v bigint; BEGIN
    FOR n IN 1 .. %s LOOP v := random() * 1e15; PERFORM %s; COMMIT; END LOOP; END $do$ $$,
    operations / size, format(sql, set)),
  'shard', operations, label
FROM (VALUES ('set_1m', 'fixed'), ('set_lately', 'keep'), ('set_grown_10', 'grown tenfold'),
    ('set_grown_100', 'grown a hundredfold')) sets (set, form),
  (VALUES (1, 'stream_forms', '%s_add(v)', 10000, 1, 'seen_add'),
    (2, 'stream_forms_asked', '%s_has(v)', 10000, 1, 'seen_has'),
    (3, 'stream_forms_batch',
     '%s_add_all(array(SELECT (random() * 1e15)::bigint FROM generate_series(1, 1000)))', 10000,
     1000, 'seen_add_all, batch of 1000'))
    calls (number, workload, sql, operations, size, call),
  format('%s, %s', call, form) label
ORDER BY calls.number, sets.form <> 'fixed', sets.form;
INSERT INTO bench.cases (workload, expression, operations, label)
SELECT 'stream_writers', format('%s, %L', transactions, script), 8 * transactions * size, label
FROM (VALUES
  (1, 'INSERT … ON CONFLICT, one value', 2500, 1,
   $$INSERT INTO seen_8 AS s VALUES (bf_shard(:v::bigint, 669), bf_create(1495) + :v::bigint)
     ON CONFLICT (shard) DO UPDATE SET filter = s.filter + :v::bigint WHERE NOT s.filter @> :v::bigint;$$),
  (2, 'seen_add, one value', 2500, 1, 'SELECT set_8_add(:v);'),
  (3, 'batch of 1000', 10, 1000,
   $$INSERT INTO seen_8 AS s SELECT bf_shard(v, 669), bf_agg(v, 1495)
     FROM (SELECT (random() * 1e15)::bigint AS v FROM generate_series(1, 1000)) b GROUP BY 1 ORDER BY 1
     ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter
       WHERE s.filter <> (s.filter | excluded.filter);$$),
  (4, 'seen_add_all, batch of 1000', 10, 1000,
   'SELECT set_8_add_all(array(SELECT (random() * 1e15)::bigint FROM generate_series(1, 1000)));'))
  cases (number, label, transactions, size, script)
ORDER BY number;

INSERT INTO bench.cases (workload, expression, filter, operations, label)
SELECT 'inspect', expression, name, round(2e9 / bytes), expression || ', ' || name
FROM unnest(ARRAY['bf_count(f)', 'bf_fpr(f)', 'bf_info(f)']) expression, filters
WHERE name IN ('12 MB', '120 MB') ORDER BY bytes, expression;

INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template, before) VALUES
('urls', 'urls_bytes', 'bytes', 'ratio', NULL, '{rows}*10 URLs of 50 characters',
 'SELECT bench.report({})', NULL),
('urls', 'urls_rate', 'rate', 'ratio', 'asked',
 'False positive rate of their filter, asked for {rows} new URLs',
 'SELECT bench.report(avg(((SELECT urls FROM crawled_filter) @> url)::int), {})
  FROM (SELECT page(10 * {rows} + x + 1) AS url FROM numbers) new', NULL),
('urls', 'urls_build', 'ms', 'ratio', NULL, 'Building from {rows}*10 URLs of 50 characters', '{}',
 'DROP INDEX IF EXISTS crawled_url'),
('urls', 'urls_ask', 'µs', 'ratio', NULL, 'Asking for one of {rows}*10 URLs, half of them new',
 'SELECT count(*) FROM links WHERE {}', NULL);
INSERT INTO bench.cases (workload, expression, settings, operations, label) VALUES
('urls_bytes', '(SELECT bytes FROM crawled_filter, bf_info(urls))', '', 1, 'filter'),
('urls_bytes', '(SELECT sum(octet_length(url)) FROM crawled)', '', 1, 'text'),
('urls_bytes', $$pg_table_size('crawled')$$, '', 1, 'table'),
('urls_bytes', $$pg_relation_size('crawled_url')$$, '', 1, 'btree index'),
('urls_rate', '0.01', '', 1, NULL),
('urls_build', 'SELECT count(url) FROM crawled', '', 1, 'count(url)'),
('urls_build', format('SELECT pg_column_size(bf_agg(url, %s)) FROM crawled', 10 * :rows::bigint),
 '', 1, format('bf_agg(url, %s)', 10 * :rows::bigint)),
('urls_build', 'CREATE INDEX crawled_url ON crawled (url)',
 'maintenance_work_mem=1GB max_parallel_maintenance_workers=0', 1, 'CREATE INDEX'),
('urls_ask', '(SELECT urls FROM crawled_filter) @> url', '', :rows / 10, 'filter'),
('urls_ask', '(SELECT true FROM crawled c WHERE c.url = links.url)', '', :rows / 10, 'btree index');

UPDATE bench.workloads SET template = replace(template, '{rows}', :'rows'),
  title = replace(title, '{rows}*10', to_char(10 * :rows::bigint, 'FM999G999G999'))
WHERE section IN ('large', 'urls');

UPDATE bench.workloads SET title = replace(replace(replace(replace(title,
  '{rows}/20', to_char(:rows / 20, 'FM999G999G999')), '{rows}/2', to_char(:rows / 2, 'FM999G999G999')),
  '{rows}/8', to_char(:rows / 8, 'FM999G999G999')), '{rows}', to_char(:rows, 'FM999G999G999'));

-- The bytes that several servers send to each other. The cases of the table of times run the
-- queries, and keep the bytes for the other two tables.
INSERT INTO bench.workloads (section, workload, unit, compare, against, title)
SELECT section, section || '_' || measure, unit, compare, 'first of its part', title || measured
FROM (VALUES (1, 'nodes', 'Three nodes of 200,000 paths each, asked through postgres_fdw'),
    (2, 'citus', '600,000 paths in 16 shards on two workers of Citus')) sections (number, section, title),
  (VALUES (1, 'time', 'ms', 'ratio', ': time'), (2, 'from', 'bytes', 'ratio', ': bytes from the nodes'),
    (3, 'to', 'bytes', NULL, ': bytes to the nodes')) measures (number, measure, unit, compare, measured)
ORDER BY sections.number, measures.number;
INSERT INTO bench.cases (workload, part, statement, settings, expression)
SELECT workload, part,
  CASE unit WHEN 'ms' THEN format('SELECT bench.start_counting(); SELECT bench.start(); %s; SELECT bench.stop_counting(%L)',
      query, label)
    ELSE format('SELECT bench.report(%I) FROM bench.counted WHERE label = %L', split_part(workload, '_', 2), label) END,
  settings, label
FROM (VALUES
    (1, 'nodes', 'ask', '', 'ask: IN, all rows travel', 'SELECT count(*) FROM files WHERE path IN (SELECT path FROM wanted)'),
    (2, 'nodes', 'ask', '', 'ask: filter', 'SELECT count(*) FROM files WHERE (SELECT bf_agg(path) FROM wanted) @> path'),
    (3, 'nodes', 'ask', '', 'ask: filter, then IN', 'SELECT count(*) FROM (SELECT path FROM files
       WHERE (SELECT bf_agg(path) FROM wanted) @> path OFFSET 0) few WHERE path IN (SELECT path FROM wanted)'),

    (4, 'nodes', 'build', '', 'build: bf_agg(path, 600000), all rows travel', 'SELECT bf_count(bf_agg(path, 600000)) FROM files'),
    (5, 'nodes', 'build', 'enable_partitionwise_aggregate=on', 'build: union by node of bf_agg(path, 600000)',
     'SELECT bf_count(bf_union_agg(f)) FROM (SELECT node, bf_agg(path, 600000) AS f FROM files GROUP BY node) nodes'),
    (6, 'nodes', 'build', 'enable_partitionwise_aggregate=on bloomfilter.overfill=ignore', 'build: union by node of bf_agg(path), 3 % instead of 1 %',
     'SELECT bf_count(bf_union_agg(f)) FROM (SELECT node, bf_agg(path) AS f FROM files GROUP BY node) nodes'),
    (7, 'nodes', 'build', 'enable_partitionwise_aggregate=on', 'build: merge by node of bf_partial_agg(…, 600000)',
     'SELECT bf_count(bf_merge_agg(p)) FROM (SELECT node, bf_partial_agg(bf_element_of(path), 600000) AS p
       FROM files GROUP BY node) nodes'),
    (8, 'nodes', 'build', 'enable_partitionwise_aggregate=on', 'build: merge by node of bf_partial_agg(…)',
     'SELECT bf_count(bf_merge_agg(p)) FROM (SELECT node, bf_partial_agg(bf_element_of(path)) AS p
       FROM files GROUP BY node) nodes'),

    (9, 'nodes', 'build large', '', 'build 12 MB: bf_agg(path, 10000000), all rows travel',
     'SELECT bf_count(bf_agg(path, 10000000)) FROM files'),
    (10, 'nodes', 'build large', 'enable_partitionwise_aggregate=on', 'build 12 MB: union by node of bf_agg(path, 10000000)',
     'SELECT bf_count(bf_union_agg(f)) FROM (SELECT node, bf_agg(path, 10000000) AS f FROM files GROUP BY node) nodes'),
    (11, 'nodes', 'build large', 'enable_partitionwise_aggregate=on', 'build 12 MB: merge by node of bf_partial_agg(…, 10000000)',
     'SELECT bf_count(bf_merge_agg(p)) FROM (SELECT node, bf_partial_agg(bf_element_of(path), 10000000) AS p
       FROM files GROUP BY node) nodes'),

    (12, 'nodes', 'filters', '', '10 filters of 1.2 MB: bf_count in the select list', 'SELECT name, bf_count(filter) FROM remote_filters'),
    (13, 'nodes', 'filters', '', '10 filters of 1.2 MB: bf_count in a view there', 'SELECT name, count FROM remote_counts'),
    (14, 'nodes', 'filters', '', '10 filters of 1.2 MB: filter @> text',
     $$SELECT name FROM remote_filters WHERE filter @> 'in filter 7'$$),
    (15, 'nodes', 'filters', '', '10 filters of 1.2 MB: bf_union_agg', 'SELECT bf_count(bf_union_agg(filter)) FROM remote_filters'),
    (16, 'nodes', 'update', '', 'one filter of 1.2 MB: filter + a value computed here',
     $$UPDATE remote_filters SET filter = filter + clock_timestamp()::text WHERE name = 'filter 1'$$),
    (17, 'nodes', 'update', '', 'one filter of 1.2 MB: filter + text', $$UPDATE remote_filters SET filter = filter + 'x' WHERE name = 'filter 1'$$),

    (18, 'nodes', 'size', '', 'parameter: 1.9 KB', $$SELECT count(*) FROM files_1 WHERE (SELECT filter FROM guards WHERE name = '1.9 KB') @> path$$),
    (19, 'nodes', 'size', '', 'parameter: 120 KB', $$SELECT count(*) FROM files_1 WHERE (SELECT filter FROM guards WHERE name = '120 KB') @> path$$),
    (20, 'nodes', 'size', '', 'parameter: 1.2 MB', $$SELECT count(*) FROM files_1 WHERE (SELECT filter FROM guards WHERE name = '1.2 MB') @> path$$),
    (21, 'nodes', 'size', '', 'parameter: 12 MB', $$SELECT count(*) FROM files_1 WHERE (SELECT filter FROM guards WHERE name = '12 MB') @> path$$),
    (22, 'nodes', 'constant', '', 'use_remote_estimate: parameter of 1.2 MB',
     $$SELECT count(*) FROM estimated WHERE (SELECT filter FROM guards WHERE name = '1.2 MB') @> path$$),
    (23, 'nodes', 'constant', '', 'use_remote_estimate: constant of 1.2 MB', $$DO $do$ BEGIN
       EXECUTE format('SELECT count(*) FROM estimated WHERE %L::bloomfilter @> path',
         (SELECT filter FROM guards WHERE name = '1.2 MB')); END $do$ $$),

    (24, 'citus', 'ask', '', 'ask: IN, the keys travel', 'SELECT count(*) FROM files WHERE path IN (SELECT path FROM wanted)'),
    (25, 'citus', 'ask', '', 'ask: filter', 'SELECT count(*) FROM files WHERE (SELECT bf_agg(path) FROM wanted) @> path'),
    (26, 'citus', 'ask', '', 'ask: 12 MB in a local table', 'SELECT count(*) FROM files WHERE (SELECT filter FROM guard) @> path'),
    (27, 'citus', 'ask', '', 'ask: 12 MB in a reference table', 'SELECT count(*) FROM files WHERE (SELECT filter FROM guard_everywhere) @> path'),

    (28, 'citus', 'build', '', 'build: bf_agg(path, 600000), all rows travel', 'SELECT bf_count(bf_agg(path, 600000)) FROM files'),
    (29, 'citus', 'build', '', 'build: union of run_command_on_shards, bf_agg(path, 600000)',
     $$SELECT bf_count(bf_union_agg(result::bloomfilter))
       FROM run_command_on_shards('files', 'SELECT bf_agg(path, 600000) FROM %s')$$),
    (30, 'citus', 'build', '', 'build: bf_dist_agg(…, 600000)', 'SELECT bf_count(bf_dist_agg(bf_element_of(path), 600000)) FROM files'),
    (31, 'citus', 'build', '', 'build: bf_dist_agg(…)', 'SELECT bf_count(bf_dist_agg(bf_element_of(path))) FROM files'),
    (32, 'citus', 'build large', '', 'build 12 MB: bf_agg(path, 10000000), all rows travel', 'SELECT bf_count(bf_agg(path, 10000000)) FROM files'),
    (33, 'citus', 'build large', '', 'build 12 MB: union of run_command_on_shards, bf_agg(path, 10000000)',
     $$SELECT bf_count(bf_union_agg(result::bloomfilter))
       FROM run_command_on_shards('files', 'SELECT bf_agg(path, 10000000) FROM %s')$$),
    (34, 'citus', 'build large', '', 'build 12 MB: bf_dist_agg(…, 10000000)', 'SELECT bf_count(bf_dist_agg(bf_element_of(path), 10000000)) FROM files'),
    (35, 'citus', 'groups', '', '64 filters: bf_agg(path, 10000), all rows travel',
     'SELECT bucket, bf_count(bf_agg(path, 10000)) FROM files GROUP BY bucket'),
    (36, 'citus', 'groups', '', '64 filters: bf_dist_agg(…, 10000)',
     'SELECT bucket, bf_count(bf_dist_agg(bf_element_of(path), 10000)) FROM files GROUP BY bucket'),

    (37, 'citus', 'join', 'citus.enable_repartition_joins=on', 'repartition join: alone',
     'SELECT count(*) FROM files f JOIN packages p ON f.path = p.path'),
    (38, 'citus', 'join', 'citus.enable_repartition_joins=on', 'repartition join: behind a filter',
     'SELECT count(*) FROM (SELECT path FROM files WHERE (SELECT bf_dist_agg(bf_element_of(path)) FROM packages) @> path
       OFFSET 0) f JOIN packages p ON f.path = p.path'),
    (39, 'citus', 'stream', '', 'a table of shards: batch of 600 000, bf_agg, all rows travel',
     'INSERT INTO seen AS s SELECT bf_shard(path, 669), bf_agg(path, 1495) FROM files GROUP BY 1 ORDER BY 1
      ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter'),
    (40, 'citus', 'stream', '', 'a table of shards: batch of 600 000, bf_dist_agg',
     'INSERT INTO seen AS s SELECT bf_shard(path, 669), bf_dist_agg(bf_element_of(path), 1495) FROM files GROUP BY 1 ORDER BY 1
      ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter'),
    (41, 'citus', 'stream', '', 'a table of shards: one value',
     $$UPDATE seen SET filter = filter + 'new'::text WHERE shard = bf_shard('new'::text, 669)$$)
  ) travels (number, section, part, settings, label, query)
  JOIN bench.workloads w USING (section)
ORDER BY w.number, travels.number;

-- The bytes that a subscriber receives for one UPDATE.
INSERT INTO bench.workloads (section, workload, unit, title) VALUES
('nodes', 'nodes_replication', 'bytes', 'Logical replication of one UPDATE: bytes from the publisher');
INSERT INTO bench.cases (workload, statement, expression)
SELECT 'nodes_replication', format('SELECT bench.start_counting(); UPDATE %I SET n = n + 1%s; CALL bench.catch_up(%L);
  SELECT bench.stop_counting(%2$L || %3$L); SELECT bench.report("from") FROM bench.counted WHERE label = %2$L || %3$L',
    name || '_there', change, name), label
FROM (VALUES (1, 'shard', ', filter = filter + n', 'a value added to a filter of 1.9 KB'),
  (2, 'filter', '', 'another column of a filter of 1.2 MB'),
  (3, 'filter_full', '', 'another column of a filter of 1.2 MB, REPLICA IDENTITY FULL'),
  (4, 'filter', ', filter = filter + n', 'a value added to a filter of 1.2 MB'),
  (5, 'filter_binary', ', filter = filter + n', 'a value added to a filter of 1.2 MB, binary = true'))
  changes (number, name, change, label)
ORDER BY number;

-- One statement fills a table of shards from three nodes.
INSERT INTO bench.workloads (section, workload, unit, compare, against, title)
SELECT 'billion', 'billion_' || measure, unit, compare, against, format(title, to_char(:large::bigint, 'FM999G999G999G999'))
FROM (VALUES
  ('fill', 'ms', NULL, NULL, 'A table of shards for %s bigints on three nodes, filled by one statement'),
  ('bytes', 'bytes', 'ratio', NULL, 'The same: bytes'),
  ('peak', 'bytes', NULL, NULL, 'The same: the largest peak of memory'),
  ('rate', 'rate', 'ratio', 'asked', 'The same: false positive rate, asked for a million others'),
  ('lost', 'values', NULL, NULL, 'The same: of a million members those that are not found'),
  ('ask', 'µs', NULL, NULL, 'The same: one question, in a transaction of its own')
) measures (measure, unit, compare, against, title);
INSERT INTO bench.cases (workload, settings, operations, label, statement, expression)
SELECT 'billion_' || measure, settings, operations, label, replace(replace(replace(statement,
    'SHARDS', n::text), 'CAPACITY', (:large / n + 1)::text), 'VALUES_ON_ALL', :'large'), label
FROM bf_shard_count(:large, 0.01) n, (VALUES
  (1, 'fill', 'enable_partitionwise_aggregate=on work_mem=1GB', 1, 'INSERT INTO seen SELECT … FROM the nodes',
   $$SELECT bench.start_counting(); SELECT bench.start();
     INSERT INTO seen SELECT shard, bf_union_agg(filter)
     FROM (SELECT node, bf_shard(id, SHARDS) AS shard, bf_agg(id, CAPACITY) AS filter FROM visits GROUP BY 1, 2) nodes
     GROUP BY shard; SELECT bench.stop_counting('fill')$$),
  (2, 'bytes', '', 1, 'table of shards and its index', $$SELECT bench.report(pg_total_relation_size('seen'))$$),
  (3, 'bytes', '', 1, 'the filters in it', 'SELECT bench.report(sum(pg_column_size(filter))) FROM seen'),
  (4, 'bytes', '', 1, 'from the nodes', $$SELECT bench.report("from") FROM bench.counted WHERE label = 'fill'$$),
  (5, 'bytes', '', 1, 'to the nodes', $$SELECT bench.report("to") FROM bench.counted WHERE label = 'fill'$$),
  (6, 'bytes', '', 1, 'the tables of the nodes', 'SELECT bench.report(sum(bytes)) FROM occupied'),
  (7, 'peak', '', 1, 'of a node', 'SELECT bench.report(max(bytes)) FROM peak'),
  (8, 'peak', '', 1, 'of who asks', $$SELECT bench.report(
     substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+)')::float8 * 1024)$$),
  (9, 'rate', '', 1, '0.01', 'SELECT bench.report(avg((filter @> i)::int), 0.01)
     FROM generate_series(VALUES_ON_ALL::bigint + 1, VALUES_ON_ALL::bigint + 1000000) i JOIN seen ON shard = bf_shard(i, SHARDS)'),
  (10, 'lost', '', 1, 'not found', 'SELECT bench.report(count(*)) FROM generate_series(1, VALUES_ON_ALL::bigint,
     greatest(1, VALUES_ON_ALL::bigint / 1000000)) i WHERE NOT EXISTS (SELECT FROM seen WHERE shard = bf_shard(i, SHARDS) AND filter @> i)'),
  (11, 'ask', 'enable_seqscan=off', 10000, 'EXISTS (… WHERE shard = bf_shard($1, n) AND filter @> $1)',
   $$CALL bench.repeat(10000, 'SELECT EXISTS (SELECT FROM seen WHERE shard = bf_shard($1, SHARDS) AND filter @> $1)', '', true)$$)
) measured (number, measure, settings, operations, label, statement)
ORDER BY measured.number;

-- Which of many filters hold a value. One filter in a hundred is a false positive, whose row is
-- read, too. The planner chooses the index by itself. There are many probes of the index, so that
-- the session has read most of the index's pages before, as it has read the table's.
\if :directory
INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template, before) VALUES
('directory', 'directory_asked', 'ms', 'ratio', 'the scan',
 'SELECT id … WHERE filter @> x, of many filters: whole queries, each planned again',
 $$CALL bench.repeat({operations}, 'SELECT count(id) FROM {} WHERE filter @> $1', '', true)$$, NULL),
('directory', 'directory_buffers', 'buffers', 'ratio', 'the scan', 'The same: buffers touched',
 $$SELECT bench.report(bench.buffers('SELECT count(id) FROM {} WHERE filter @> ' || (random() * 1e15)::bigint))$$, NULL),
('cold', 'cold', 'ms', 'ratio', 'the scan',
 'SELECT id … WHERE filter @> x, of many filters: the first question after a restart, with nothing of table and index in memory',
 $$CALL bench.repeat(1, 'SELECT count(id) FROM {} WHERE filter @> $1', '', true)$$,
 E'CHECKPOINT;\n\\! pg_ctl -D "$PGDATA" -l "$PGDATA.log" -w restart >/dev/null\n\\connect\n'
 'SELECT bench.forget(part) FROM pg_class t, unnest(ARRAY[t.oid, t.reltoastrelid]) heap, '
 'unnest(heap || ARRAY(SELECT indexrelid FROM pg_index WHERE indrelid = heap)) part '
 'WHERE relname IN (''many'', ''large'') AND heap <> 0'),
('directory', 'directory_build', 'ms', 'ratio', 'a hash index of integers',
 'CREATE INDEX over 100,000 filters of 1.3 KB, and on integers of a table of as many bytes', '{}',
 'DROP INDEX IF EXISTS made'),
('directory', 'directory_size', 'bytes', 'ratio', 'the filters', 'An index and the filters in it: bytes',
 $$SELECT bench.report(pg_relation_size('{}_filter_idx'), sum(pg_column_size(filter))) FROM {}$$, NULL),
('directory', 'directory_insert', 'µs', 'ratio', NULL,
 'INSERT of one filter of 1.3 KB and its COMMIT: time',
 $$CALL bench.repeat({operations}, 'INSERT INTO {} SELECT id, filter FROM many_1000 WHERE id = 1 + $1 % 1000', '', true)$$,
 'CHECKPOINT; TRUNCATE inserted, inserted_indexed'),
('directory', 'directory_wal', 'WAL bytes', 'ratio', NULL, 'The same: WAL written',
 $$CALL bench.repeat({operations}, 'INSERT INTO {} SELECT id, filter FROM many_1000 WHERE id = 1 + $1 % 1000', '', true)$$,
 'CHECKPOINT; TRUNCATE inserted, inserted_indexed'),
('directory', 'directory_vacuum', 'ms', 'ratio', NULL,
 'VACUUM of 10,000 filters of 1.3 KB, a tenth of which was deleted', 'VACUUM {}',
 'TRUNCATE vacuumed, vacuumed_indexed; INSERT INTO vacuumed TABLE many_10000; '
 'INSERT INTO vacuumed_indexed TABLE many_10000; '
 'DELETE FROM vacuumed WHERE id % 10 = 0; DELETE FROM vacuumed_indexed WHERE id % 10 = 0');
INSERT INTO bench.cases (workload, part, expression, settings, operations, label)
SELECT workload, name, name, settings, CASE WHEN workload <> 'directory_asked' THEN 1 WHEN turn = 1 THEN scans ELSE questions END,
  format('%s: %s', filters, way)
FROM unnest('{directory_asked, directory_buffers}'::text[]) WITH ORDINALITY w (workload, nth), (VALUES
  (1, 'many_1000', 200, 2000, '1,000 of 1.3 KB'), (2, 'many_10000', 50, 1000, '10,000 of 1.3 KB'),
  (3, 'many', 10, 1000, '100,000 of 1.3 KB'), (4, 'large_10000', 10, 1000, '10,000 of 12.8 KB'),
  (5, 'large', 3, 1000, '100,000 of 12.8 KB'), (6, 'sized', 50, 1000, '10,000 that sized themselves'))
  tables (number, name, scans, questions, filters), (VALUES
  (1, 'the scan', 'enable_indexscan=off enable_bitmapscan=off'), (2, 'the index', '')) ways (turn, way, settings)
ORDER BY nth, number, turn;
INSERT INTO bench.cases (workload, part, expression, label, statement)
SELECT workload, name, name, format('%s: %s', filters, way),
  CASE turn WHEN 1 THEN 'SET enable_indexscan = off; SET enable_bitmapscan = off; ' ELSE '' END || replace(template, '{}', name)
FROM bench.workloads, (VALUES (1, 'many', '100,000 of 1.3 KB'), (2, 'large', '100,000 of 12.8 KB')) tables (number, name, filters),
  (VALUES (1, 'the scan'), (2, 'the index')) ways (turn, way)
WHERE workload = 'cold'
ORDER BY tables.number, turn;
INSERT INTO bench.cases (workload, expression, label) VALUES
('directory_build', 'CREATE INDEX made ON as_many_bytes USING hash (i)', 'a hash index of integers'),
('directory_build', 'CREATE INDEX made ON many USING hash (id)', 'a hash index of the 100,000 filters'' integer keys'),
('directory_build', 'CREATE INDEX made ON many USING bloomfilter (filter)', 'an index over the filters');
INSERT INTO bench.cases (workload, expression, label) VALUES
('directory_size', 'many', '100,000 of 1.3 KB'), ('directory_size', 'large', '100,000 of 12.8 KB'),
('directory_size', 'sized', '10,000 that sized themselves');
INSERT INTO bench.cases (workload, expression, operations, label)
SELECT workload, name, 2000, label
FROM unnest('{directory_insert, directory_wal}'::text[]) workload,
  (VALUES ('inserted', 'no index'), ('inserted_indexed', 'an index over the filters')) tables (name, label);
INSERT INTO bench.cases (workload, expression, label) VALUES
('directory_vacuum', 'vacuumed', 'no index'), ('directory_vacuum', 'vacuumed_indexed', 'an index over the filters');
\endif

CREATE FUNCTION counted(number bigint) RETURNS text LANGUAGE sql AS $$
  SELECT to_char(number, 'FM999G999G999');
$$;

-- Indexes of columns: bloompages beside others. Indexes and tables are those of data.sql.
SELECT :columns OR :columns_large AS any_columns \gset
\if :any_columns
CREATE FUNCTION find(of_table text, of_column text, index text, there boolean, times int) RETURNS text LANGUAGE sql AS $$
  SELECT format('CALL find_%s_%s(%L, %L, %s)', of_table, of_column, index, there, times);
$$;
-- The number of values that each kind of index looks for, so that no case takes long.
CREATE FUNCTION times(kind text) RETURNS int LANGUAGE sql AS $$
  SELECT CASE WHEN kind LIKE 'BRIN%' THEN 20 WHEN kind LIKE 'contrib%' THEN 5 ELSE 1000 END;
$$;
\endif
\if :columns
INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template, before) VALUES
('columns', 'columns_size', 'bytes', 'ratio', 'btree',
 counted(:rows) || ' requests of 120 bytes: bytes of an index', 'SELECT bench.report(pg_relation_size({}))', NULL),
('columns', 'columns_build', 'ms', 'ratio', 'btree', 'CREATE INDEX: time',
 'CREATE INDEX made ON requests USING {}', 'DROP INDEX IF EXISTS made; CHECKPOINT'),
('columns', 'columns_find', 'µs', 'ratio', 'btree',
 'SELECT … WHERE column = value, prepared, all pages in the buffers: time of one', '{}', NULL),
('columns', 'columns_find_all', 'µs', NULL, NULL, 'The same by an index on five columns', '{}', NULL),
('columns', 'columns_buffers', 'buffers', 'ratio', 'btree', 'Buffers touched by one that is not there',
 $$SELECT bench.report(bench.buffers(format('SELECT FROM requests WHERE trace = %L', gen_random_uuid())))$$, NULL),
('columns', 'columns_join', 'µs', 'ratio', 'hash join',
 'A join with many traces that are there: time for each of them',
 'SELECT count(*) FROM (SELECT trace FROM requests_sought WHERE there LIMIT {operations}) s JOIN requests USING (trace)', NULL),
('columns', 'columns_cold', 'µs', 'ratio', 'btree',
 '20 traces, not there, after a restart, with nothing of table and index in memory: time of one', '{}',
 E'CHECKPOINT;\n\\! pg_ctl -D "$PGDATA" -l "$PGDATA.log" -w restart >/dev/null\n\\connect\n'
 'SELECT bench.forget(part) FROM unnest(ARRAY[''requests''::regclass] || '
 'ARRAY(SELECT name::regclass FROM request_indexes)) part'),
('columns', 'columns_append', 'ms', 'difference', 'no index',
 format('%s rows appended to %s rows of 120 bytes: time', counted(:rows / 10), counted(:rows)), 'INSERT INTO {} TABLE fresh', NULL),
('columns', 'columns_append_wal', 'WAL bytes', 'difference', 'no index',
 'The same: WAL written, for each row', 'INSERT INTO {} TABLE fresh', NULL),
('columns', 'columns_free_space', 'ms', 'difference', 'no index',
 counted(:rows / 50) || ' rows inserted where as many were deleted and removed by VACUUM: time', 'INSERT INTO {} TABLE fresh', NULL),
('columns', 'columns_free_space_wal', 'WAL bytes', 'difference', 'no index',
 'The same: WAL written, for each row', 'INSERT INTO {} TABLE fresh', NULL),
('columns', 'columns_slowest', 'ms (slowest)', 'difference', 'no index',
 counted(:rows / 30) || ' rows appended in a transaction each: time of the slowest', 'CALL insert_singly({})', NULL);
UPDATE bench.workloads
SET before = format('TRUNCATE fresh; INSERT INTO fresh SELECT gen_random_uuid(), repeat(''x'', 79) '
  'FROM generate_series(1, %s); CHECKPOINT', :rows / CASE WHEN workload LIKE '%append%' THEN 10 ELSE 50 END)
WHERE workload ~ 'columns_(append|free)';

INSERT INTO bench.cases (workload, part, expression, label)
SELECT 'columns_size', on_column, quote_literal(name), format('%s: %s', on_column, kind)
FROM request_indexes ORDER BY number;
INSERT INTO bench.cases (workload, part, settings, expression, label)
SELECT 'columns_build', on_column, 'maintenance_work_mem=1GB max_parallel_maintenance_workers=0', definition,
  format('%s: %s', on_column, kind)
FROM request_indexes
WHERE on_column = 'trace' OR kind IN ('btree', 'bloompages') OR on_column = 'five columns' ORDER BY number;
INSERT INTO bench.cases (workload, part, expression, operations, label)
SELECT 'columns_find', concat(on_column, there), find('requests', on_column, name, there, times(kind)), times(kind),
  format('%s, %s: %s', on_column, CASE WHEN there THEN 'there' ELSE 'not there' END, kind)
FROM request_indexes, (VALUES (true), (false)) t (there)
WHERE on_column <> 'five columns' ORDER BY on_column, there DESC, number;
INSERT INTO bench.cases (workload, part, expression, operations, label)
SELECT 'columns_find_all', concat(sought, there), find('requests', sought, name, there, times(kind)), times(kind),
  format('%s, %s: %s', sought, CASE WHEN there THEN 'there' ELSE 'not there' END, kind)
FROM request_indexes, (VALUES (true), (false)) t (there), (VALUES ('trace'), ('client')) c (sought)
WHERE on_column = 'five columns' ORDER BY sought DESC, there DESC, number;
INSERT INTO bench.cases (workload, expression, label, statement)
SELECT workload, name, kind, format('CALL show_index(%L); ', name) || template
FROM request_indexes JOIN bench.workloads ON workload = 'columns_buffers'
WHERE on_column = 'trace' ORDER BY request_indexes.number;
INSERT INTO bench.cases (workload, expression, operations, settings, label) VALUES
('columns_join', 'none', 10000, 'work_mem=64MB enable_nestloop=off enable_mergejoin=off', 'hash join');
INSERT INTO bench.cases (workload, expression, operations, settings, label, statement)
SELECT workload, name, 10 * times(kind), 'enable_hashjoin=off enable_mergejoin=off enable_seqscan=off',
  kind, format('CALL show_index(%L); SELECT bench.start(); ', name) || replace(template, '{operations}', (10 * times(kind))::text)
FROM request_indexes JOIN bench.workloads ON workload = 'columns_join'
WHERE on_column = 'trace' ORDER BY request_indexes.number;
INSERT INTO bench.cases (workload, expression, operations, label)
SELECT 'columns_cold', format('CALL find_requests_trace(%L, false, 20, true)', name), 20, kind
FROM request_indexes WHERE on_column = 'trace' ORDER BY number;
INSERT INTO bench.cases (workload, expression, operations, label, statement)
SELECT workload, name,
  CASE WHEN unit = 'ms' THEN 1 WHEN workload LIKE '%append%' THEN :rows / 10 ELSE :rows / 50 END, kind,
  replace(CASE WHEN workload LIKE '%free%'
      THEN 'DELETE FROM {} WHERE random() < 0.02; VACUUM {}; CHECKPOINT; SELECT bench.start(); ' ELSE '' END
    || template
    || CASE WHEN kind LIKE 'BRIN%' THEN $$; SELECT brin_summarize_new_values('{}_index')$$ ELSE '' END, '{}', name)
FROM growing_tables JOIN bench.workloads ON workload ~ 'columns_(append|free)'
WHERE kind NOT LIKE 'BRIN%' OR workload LIKE '%append%' -- minutes into free space
ORDER BY growing_tables.number;
INSERT INTO bench.cases (workload, expression, label)
SELECT 'columns_slowest', format('%L, %s', name, :rows / 30), kind
FROM growing_tables WHERE kind IN ('no index', 'btree', 'bloompages') ORDER BY number;
\endif
\if :columns_large
INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template) VALUES
('columns_large', 'columns_large_build', 'ms', 'ratio', 'btree', counted(10 * :rows::bigint) || ' rows of 40 bytes: CREATE INDEX', '{}'),
('columns_large', 'columns_large_size', 'bytes', 'ratio', 'btree', 'The same: bytes of the index',
 'SELECT bench.report(pg_relation_size({}))'),
('columns_large', 'columns_large_find', 'µs', 'ratio', 'btree',
 'The same: SELECT … WHERE trace = value, prepared, all pages in the buffers: time of one', '{}');
CREATE VIEW trace_indexes AS
SELECT number, 'traces_' || number AS name, kind,
  format('CREATE INDEX traces_%s ON traces USING %s', number, definition(index_kinds, 'trace', 'uuid', 185)) AS statement
FROM index_kinds WHERE number NOT IN (3, 4)
UNION ALL VALUES (8, 'traces_grown', 'bloompages, grown with the table', NULL);
INSERT INTO bench.cases (workload, settings, expression, label)
SELECT 'columns_large_build', 'maintenance_work_mem=4GB max_parallel_maintenance_workers=0', statement, kind
FROM trace_indexes WHERE statement IS NOT NULL ORDER BY number;
INSERT INTO bench.cases (workload, expression, label)
SELECT 'columns_large_size', quote_literal(name), kind FROM trace_indexes ORDER BY number;
INSERT INTO bench.cases (workload, part, expression, operations, label)
SELECT 'columns_large_find', there, find('traces', 'trace', name, there, times(kind)), times(kind),
  format('%s: %s', CASE WHEN there THEN 'there' ELSE 'not there' END, kind)
FROM trace_indexes, (VALUES (true), (false)) t (there) ORDER BY there DESC, number;
\endif

-- What is inside a value: bloompages beside GIN.
\if :inside
INSERT INTO bench.workloads (section, workload, unit, compare, against, title, template, before) VALUES
('inside', 'inside_size', 'bytes', 'ratio', 'GIN',
 format('%s lines of a log, %s events: bytes of an index', counted(:rows * 3 / 20), counted(:rows / 5)),
 'SELECT bench.report(pg_relation_size({}))', NULL),
('inside', 'inside_build', 'ms', 'ratio', 'GIN', 'CREATE INDEX: time', '{}', 'DROP INDEX IF EXISTS made; CHECKPOINT'),
('inside', 'inside_lines', 'µs', 'ratio', 'GIN',
 'SELECT … WHERE line LIKE ''%…%'', planned and run, all pages in the buffers: time of one', '{}', NULL),
('inside', 'inside_arrays', 'µs', 'ratio', 'GIN', 'The same of SELECT … WHERE tags @> array', '{}', NULL),
('inside', 'inside_documents', 'µs', 'ratio', 'GIN', 'The same of SELECT … WHERE doc @> document', '{}', NULL),
('inside', 'inside_append', 'ms', 'difference', 'no index',
 format('%s lines appended to %s: time', counted(:rows / 50), counted(:rows * 3 / 20)), 'INSERT INTO {} TABLE fresh_lines', NULL),
('inside', 'inside_append_wal', 'WAL bytes', 'difference', 'no index', 'The same: WAL written, for each line',
 'INSERT INTO {} TABLE fresh_lines', NULL);
UPDATE bench.workloads
SET before = format('TRUNCATE fresh_lines; INSERT INTO fresh_lines SELECT line FROM log_lines(%s); CHECKPOINT', :rows / 50)
WHERE workload LIKE 'inside_append%';

INSERT INTO bench.cases (workload, part, expression, label)
SELECT 'inside_size', split_part(name, '_', 1), quote_literal(name), kind FROM inside_indexes ORDER BY number;
INSERT INTO bench.cases (workload, part, settings, expression, label)
SELECT 'inside_build', split_part(name, '_', 1), format('maintenance_work_mem=1GB max_parallel_maintenance_workers=%s', workers),
  format('CREATE INDEX made ON %I USING %s', on_table, definition), kind || CASE workers WHEN 0 THEN '' ELSE ', two workers' END
FROM inside_indexes, unnest(ARRAY[0, 2]) workers
WHERE workers = 0 OR kind LIKE '%bloompages'
ORDER BY number, workers;
-- Each kind of needle, and how often it is looked for, so that no case takes long.
INSERT INTO bench.cases (workload, part, settings, expression, operations, label)
SELECT 'inside_' || what, sought, settings,
  format('CALL find_inside(%L, %L, %L, %s)', what || '_' || coalesce(method, 'gin'),
    format('SELECT FROM %s WHERE %s %%L', on_table, condition), sought, done), done, format('%s: %s', sought, label)
FROM (VALUES (1, 'lines', 'log', 'line LIKE', '36 characters', 20), (2, 'lines', 'log', 'line LIKE', '12 characters', 20),
    (3, 'lines', 'log', 'line LIKE', '8 characters', 20), (4, 'lines', 'log', 'line LIKE', '6 characters', 1),
    (5, 'lines', 'log', 'line LIKE', '4 characters', 1), (6, 'lines', 'log', 'line LIKE', 'a frequent word', 1),
    (7, 'lines', 'log', 'line LIKE', '12 characters, absent', 20), (8, 'lines', 'log', 'line LIKE', '8 characters, absent', 20),
    (9, 'lines', 'log', 'line LIKE', '6 characters, absent', 20), (10, 'lines', 'log', 'line LIKE', '4 characters, absent', 10),
    (11, 'arrays', 'events', 'tags @>', 'an order', 100), (12, 'arrays', 'events', 'tags @>', 'an order and a frequent kind', 100),
    (13, 'arrays', 'events', 'tags @>', 'no order', 100), (14, 'arrays', 'events', 'tags @>', 'a frequent kind', 1),
    (15, 'documents', 'events', 'doc @>', 'a session', 100), (16, 'documents', 'events', 'doc @>', 'a user', 100),
    (17, 'documents', 'events', 'doc @>', 'no session', 100), (18, 'documents', 'events', 'doc @>', 'a frequent type', 1))
    needles (number, what, on_table, condition, sought, times),
  (VALUES (1, 'gin', 'GIN', ''), (2, 'bloompages', 'bloompages', ''), (3, NULL, 'no index', 'enable_bitmapscan=off'))
    ways (way, method, label, settings),
  LATERAL (SELECT CASE WHEN method IS NULL THEN 1 ELSE times END) t (done)
ORDER BY number, way;
INSERT INTO bench.cases (workload, expression, operations, label, statement)
SELECT workload, name, CASE WHEN unit = 'ms' THEN 1 ELSE :rows / 50 END, kind,
  replace(template || CASE kind WHEN 'GIN' THEN $$; SELECT gin_clean_pending_list('{}_index')$$ ELSE '' END, '{}', name)
FROM growing_logs JOIN bench.workloads ON workload LIKE 'inside_append%'
ORDER BY growing_logs.number;
\endif

-- All cases that build a page at a time also run row by row.
INSERT INTO bench.cases (workload, part, expression, statement, settings, filter, operations, label)
SELECT workload, CASE section WHEN 'parallel' THEN concat(part, ', by row') ELSE part END, expression, statement,
  trim(settings || ' bloomfilter.scan=off'), filter, operations, coalesce(label, expression) || ', by row'
FROM bench.cases JOIN bench.workloads USING (workload)
WHERE (section IN ('build', 'sizes', 'values', 'parallel') OR workload LIKE 'types_build%')
  AND workload NOT IN ('build_groups', 'build_directory') AND expression ~ '^(bf|cbf|cf)_agg'
ORDER BY cases.number;
