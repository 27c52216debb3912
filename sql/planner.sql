-- What the planner expects of conditions that probe a filter, and what they cost in a sequential
-- scan.
SET bloomfilter.scan = off;
SET max_parallel_workers_per_gather = 0;
SET bloomfilter.overfill = 'ignore';

CREATE TABLE events AS
  SELECT i AS id, (i * 7919 % 10000) AS item,
    CASE WHEN i % 10 < 3 THEN 7 WHEN i % 10 < 5 THEN 8 ELSE i * 7919 % 9000 END AS skewed,
    'https://example.com/' || i % 5000 AS url, 'User ' || i % 300 AS name,
    date '2020-01-01' + i % 1000 AS day,
    timestamp '2020-01-01' + (i % 800) * interval '1 hour' AS at,
    (i % 2000)::numeric / 4 AS price, i % 50 AS few, hashint4(i) & 255 AS pick,
    nullif(i % 4, 0) AS gaps,
    ARRAY[i % 100, i % 90 + 100] AS tags, (i % 3000)::float8 AS weight
  FROM generate_series(1, 30000) i;
CREATE TABLE items AS SELECT i AS id, i % 100 AS kind FROM generate_series(1, 10000) i;
CREATE TABLE items_by_kind (LIKE items) PARTITION BY HASH (kind);
CREATE TABLE items_of_kinds0 PARTITION OF items_by_kind
  FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE items_of_kinds1 PARTITION OF items_by_kind
  FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO items_by_kind TABLE items;
CREATE TABLE seen AS
  SELECT n, bf_agg('https://example.com/' || n * 500 + i) AS urls, cbf_agg(n * 500 + i) AS counted,
    cf_agg(n * 500 + i) AS cuckoo, bf_agg(n * 500 + i) AS items
  FROM generate_series(1, 8) n, generate_series(1, 500) i GROUP BY n;
CREATE TABLE requests AS
  SELECT i AS id, i % 30 AS tenant, hashint4(i) & 8191 AS ip FROM generate_series(1, 30000) i;
CREATE TABLE blocked AS
  SELECT n AS tenant, bf_agg(hashint4(n * 10000 + i + 7777777) & 8191) AS ips
  FROM generate_series(0, 29) n, generate_series(1, 900) i GROUP BY n;
CREATE TABLE hours AS
  SELECT n, bf_agg(n * 100 + i, 100) AS items
  FROM generate_series(0, 23) n, generate_series(1, 100) i GROUP BY n;
CREATE TABLE never (item int);
INSERT INTO never SELECT item FROM events;
ALTER TABLE never SET (autovacuum_enabled = off);
ANALYZE events, items, items_by_kind, seen, requests, blocked, hours;

\i sql/include/plan.sql

-- `judged` returns whether the expected rows of a node are within a factor of two of the actual
-- rows. The node is the topmost one, or the scan of a table.
CREATE FUNCTION node_of(plan jsonb, wanted text) RETURNS jsonb LANGUAGE sql AS $$
  WITH RECURSIVE nodes AS (
    SELECT plan AS node UNION ALL
    SELECT child FROM nodes, jsonb_array_elements(node -> 'Plans') child)
  SELECT node FROM nodes WHERE node ->> 'Relation Name' = wanted OR wanted IS NULL LIMIT 1
$$;
CREATE FUNCTION rows_of(query text, wanted text, OUT expected float8, OUT actual float8)
LANGUAGE sql AS $$
  SELECT (node ->> 'Plan Rows')::float8,
    (node ->> 'Actual Rows')::float8 * (node ->> 'Actual Loops')::float8
  FROM node_of(plan_of(query, 'ANALYZE, TIMING OFF') -> 0 -> 'Plan', wanted) node
$$;
CREATE FUNCTION judged(query text, wanted text DEFAULT 'events') RETURNS text LANGUAGE sql AS $$
  SELECT CASE WHEN expected BETWEEN actual / 2 AND greatest(actual, 1) * 2
    THEN 'within a factor of two'
    ELSE format('%s rows expected, but %s came', expected, actual) END
  FROM rows_of(query, wanted)
$$;

CREATE FUNCTION threes(n int) RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_agg(i * 3) FROM generate_series(1, n) i';

-- The filter is known when the query is planned. The planner compares the filter's bits with the
-- column's distinct values, and probes for the most common values.
CREATE TABLE cases (about text, condition text, filter text);
INSERT INTO cases VALUES
  ('300 of 10000 integers', '%L::bloomfilter @> item', threes(300)),
  ('half of them', '%L::bloomfilter @> item', (SELECT bf_agg(i) FROM generate_series(1, 5000) i)),
  ('all of them', '%L::bloomfilter @> item', (SELECT bf_agg(i) FROM generate_series(0, 10000) i)),
  ('as bigint', '%L::bloomfilter @> item::bigint', threes(300)),
  ('counting', '%L::countingbloomfilter @> item',
    (SELECT cbf_agg(i * 3) FROM generate_series(1, 300) i)),
  ('cuckoo', '%L::cuckoofilter @> item', (SELECT cf_agg(i * 3) FROM generate_series(1, 300) i)),
  ('grown', '%L::bloomfilter @> item',
    (SELECT bf_add_all(bf_create(50, grow => true), array_agg(i * 3))
      FROM generate_series(1, 500) i)),
  ('united', '%L::bloomfilter @> item',
    threes(300) | (SELECT bf_agg(i * 2) FROM generate_series(1, 2000) i)),
  ('of pages', '%L::bloomfilter @> item',
    (SELECT bf_agg(i * 3, NULL, 0.0001) FROM generate_series(1, 300) i)),
  ('of another system', '%L::bloomfilter @> item',
    (SELECT bf_add_all(bf_create(1000, layout => 'guava'), array_agg(i * 3))
      FROM generate_series(1, 300) i)),
  ('of a third system', '%L::bloomfilter @> item',
    (SELECT bf_add_all(bf_create(1000, 0.05, 'hive'), array_agg(i * 3))
      FROM generate_series(1, 300) i)),
  ('much room, few values', '%L::bloomfilter @> item',
    (SELECT bf_agg(i * 3, 1000000) FROM generate_series(1, 300) i)),
  ('commutator', 'item <@ %L::bloomfilter', threes(300)),
  ('function', 'bf_contains(%L::bloomfilter, item)', threes(300)),
  ('function, other way round', 'bf_contained(item, %L::bloomfilter)', threes(300)),
  ('NOT', 'NOT %L::bloomfilter @> item', (SELECT bf_agg(i) FROM generate_series(1, 5000) i)),
  ('most common value', '%L::bloomfilter @> skewed', (SELECT bf_agg(7))),
  ('not the most common values', '%L::bloomfilter @> skewed',
    (SELECT bf_agg(i) FROM generate_series(1000, 1900) i)),
  ('few distinct values', '%L::bloomfilter @> few',
    (SELECT bf_agg(i) FROM generate_series(1, 5) i)),
  ('NULLs', '%L::bloomfilter @> gaps', (SELECT bf_agg(i) FROM generate_series(1, 2) i)),
  ('text', '%L::bloomfilter @> url',
    (SELECT bf_agg('https://example.com/' || i) FROM generate_series(1, 100) i)),
  ('expression', '%L::bloomfilter @> lower(name)',
    (SELECT bf_agg('user ' || i) FROM generate_series(1, 100) i)),
  ('dates', '%L::bloomfilter @> day',
    (SELECT bf_agg(date '2020-01-01' + i) FROM generate_series(1, 100) i)),
  ('timestamps', '%L::bloomfilter @> at',
    (SELECT bf_agg(timestamp '2020-01-01' + i * interval '1 hour') FROM generate_series(1, 100) i)),
  ('numerics', '%L::bloomfilter @> price',
    (SELECT bf_agg(i::numeric / 4) FROM generate_series(1, 500) i)),
  ('floats', '%L::bloomfilter @> weight',
    (SELECT bf_agg(i::float8) FROM generate_series(1, 300) i)),
  ('two columns', '%L::bloomfilter @> (few, pick)',
    (SELECT bf_agg((i, j)) FROM generate_series(0, 49) i, generate_series(1, 20) j)),
  ('any of two columns', 'bf_contains_any(%L::bloomfilter, ARRAY[item, few])',
    (SELECT bf_agg(i) FROM generate_series(1, 10) i)),
  ('all of two columns', 'bf_contains_all(%L::bloomfilter, ARRAY[item, skewed])',
    (SELECT bf_agg(i) FROM generate_series(1, 5000) i)),
  ('any of a column of arrays', 'bf_contains_any(%L::bloomfilter, tags)',
    (SELECT bf_agg(i) FROM generate_series(1, 20) i)),
  ('all of a column of arrays', 'bf_contains_all(%L::bloomfilter, tags)',
    (SELECT bf_agg(i) FROM generate_series(1, 150) i)),
  ('a hash', 'bf_contains_hash(%L::bloomfilter, bf_hash(item))', threes(300)),
  ('no value at all', '%L::bloomfilter @> item', bf_create(100));
SELECT count(*) AS cases, array_agg(about || ': ' || judged)
  FILTER (WHERE judged <> 'within a factor of two') AS wrong
FROM cases, judged('SELECT FROM events WHERE ' || format(condition, filter));

-- Most elements of these arrays are too rare for ANALYZE to keep them.
CREATE TABLE labelled AS SELECT ARRAY[i % 50, 1000 + i] AS tags FROM generate_series(1, 30000) i;
ANALYZE labelled;
SELECT judged(format('SELECT FROM labelled WHERE bf_contains_any(%L::bloomfilter, tags)',
  bf_agg(1000 + i)), 'labelled') AS rare FROM generate_series(1, 20000) i;

-- A parameter of a custom plan is as good as a constant. A parameter of a generic plan is unknown.
SELECT filter AS f FROM cases WHERE about = '300 of 10000 integers' \gset
PREPARE asked(bloomfilter) AS SELECT FROM events WHERE $1 @> item;
SET plan_cache_mode = force_custom_plan;
SELECT judged(format('EXECUTE asked(%L)', :'f')) AS custom;
SET plan_cache_mode = force_generic_plan;
SELECT expected AS generic FROM rows_of(format('EXECUTE asked(%L)', :'f'), 'events');
RESET plan_cache_mode;

-- Filters from subqueries, CTEs and columns. The planner uses the expected rows below an aggregate,
-- or what ANALYZE keeps. A user's aggregate that makes unions is recognised whatever its name.
CREATE AGGREGATE together(bloomfilter) (SFUNC = bloomfilter_union_step, STYPE = bloomfilter);
CREATE FUNCTION first_of(bloomfilter, bloomfilter) RETURNS bloomfilter LANGUAGE sql IMMUTABLE STRICT
  AS 'SELECT $1';
CREATE AGGREGATE no_union_agg(bloomfilter) (SFUNC = first_of, STYPE = bloomfilter);
CREATE FUNCTION text_of(text, bloomfilter) RETURNS text LANGUAGE sql IMMUTABLE
  AS 'SELECT coalesce($1, $2::text)';
CREATE FUNCTION filter_of(text) RETURNS bloomfilter LANGUAGE sql IMMUTABLE
  AS 'SELECT $1::bloomfilter';
CREATE AGGREGATE one_of(bloomfilter) (SFUNC = text_of, STYPE = text, FINALFUNC = filter_of);
SET enable_partitionwise_aggregate = on;
SELECT count(*) AS cases, array_agg(about || ': ' || judged)
  FILTER (WHERE judged <> 'within a factor of two') AS wrong
FROM (VALUES
  ('aggregate in a scalar subquery', 'events',
    'SELECT FROM events WHERE (SELECT bf_agg(id) FROM items WHERE kind = 5) @> item'),
  ('its FILTER clause', 'events',
    'SELECT FROM events WHERE (SELECT bf_agg(id) FILTER (WHERE kind = 5) FROM items) @> item'),
  ('counting', 'events',
    'SELECT FROM events WHERE (SELECT cbf_agg(id) FROM items WHERE kind < 5) @> item'),
  ('stored, in a scalar subquery', 'events',
    'SELECT FROM events WHERE (SELECT urls FROM seen WHERE n = 1) @> url'),
  ('stored, counting', 'events',
    'SELECT FROM events WHERE (SELECT counted FROM seen WHERE n = 1) @> item'),
  ('stored, cuckoo', 'events',
    'SELECT FROM events WHERE (SELECT cuckoo FROM seen WHERE n = 1) @> item'),
  ('union of stored ones', 'events',
    'SELECT FROM events WHERE (SELECT bf_union_agg(urls) FROM seen WHERE n <= 4) @> url'),
  ('union by a user''s aggregate', 'events',
    'SELECT FROM events WHERE (SELECT together(items) FROM hours WHERE n < 6) @> item'),
  ('a user''s aggregate that gives one of them', 'events',
    'SELECT FROM events WHERE (SELECT no_union_agg(items) FROM hours WHERE n < 6) @> item'),
  ('... and whose state is no filter', 'events',
    'SELECT FROM events WHERE (SELECT one_of(items) FROM hours WHERE n < 6) @> item'),
  ('union of full ones', 'events',
    'SELECT FROM events WHERE (SELECT bf_union_agg(items) FROM hours WHERE n < 6) @> item'),
  ('bf_agg in an order', 'events',
    'SELECT FROM events
     WHERE (SELECT bf_agg(id ORDER BY id, kind, 0.5::float8) FROM items WHERE id < 300) @> item'),
  ('CTE', 'events',
    'WITH f AS MATERIALIZED (SELECT bf_agg(id) AS f FROM items WHERE kind = 5)
     SELECT FROM events WHERE (SELECT f FROM f) @> item'),
  ('CTE, joined', NULL,
    'WITH f AS MATERIALIZED (SELECT bf_agg(id) AS f FROM items WHERE kind = 5)
     SELECT FROM events, f WHERE f @> item'),
  ('the second CTE', NULL,
    'WITH n AS MATERIALIZED (SELECT random()),
       f AS MATERIALIZED (SELECT bf_agg(id) AS f FROM items WHERE kind = 5)
     SELECT FROM events, n, f WHERE f @> item'),
  ('CTE of a query around it', 'events',
    'WITH f AS MATERIALIZED (SELECT bf_agg(id) AS f FROM items WHERE kind = 5)
     SELECT (SELECT count(*) FROM (SELECT FROM events, f WHERE f @> item OFFSET 0) s)'),
  ('subquery in FROM', NULL,
    'SELECT FROM events, (SELECT bf_agg(id) AS f FROM items WHERE kind = 5) s WHERE f @> item'),
  ('a filter for each group', NULL,
    'SELECT FROM events, (SELECT kind, bf_agg(id) AS f FROM items GROUP BY kind) s
     WHERE few = 7 AND f @> item'),
  ('groups of partitions', NULL,
    'SELECT FROM events, (SELECT kind, bf_agg(id) AS f FROM items_by_kind GROUP BY kind) s
     WHERE few = 7 AND f @> item'),
  ('aggregate of partitions', 'events',
    'SELECT FROM events WHERE (SELECT bf_agg(id) FROM items_by_kind WHERE kind < 5) @> item'),
  ('column of filters joined with values', NULL,
    'SELECT FROM seen, events WHERE urls @> url'),
  ('semijoin', NULL,
    'SELECT FROM events WHERE EXISTS (SELECT FROM seen WHERE urls @> url)'),
  ('antijoin', NULL,
    'SELECT FROM events WHERE NOT EXISTS (SELECT FROM seen WHERE urls @> url AND n < 4)'),
  ('semijoin by a key, too', NULL,
    'SELECT FROM requests r
     WHERE EXISTS (SELECT FROM blocked b WHERE b.tenant = r.tenant AND b.ips @> r.ip)'),
  ('antijoin by a key, too', NULL,
    'SELECT FROM requests r
     WHERE NOT EXISTS (SELECT FROM blocked b WHERE b.tenant = r.tenant AND b.ips @> r.ip)'),
  ('correlated subquery', 'events',
    'SELECT FROM events WHERE (SELECT items FROM seen WHERE n = id % 8 + 1) @> item')
  ) v(about, wanted, query), judged(query, wanted);
RESET enable_partitionwise_aggregate;

-- A constant below an outer join, which may make it NULL.
SELECT judged(format('SELECT FROM events LEFT JOIN (SELECT id, %L::bloomfilter AS f FROM items) s
    ON s.id = 1 WHERE s.f @> item OR s.id IS NULL', :'f'), NULL) AS below_outer_join;

-- A user's aggregate. Nothing is known about its filter.
CREATE AGGREGATE nothing_of(*) (sfunc = bf_clear, stype = bloomfilter, initcond = :'f');
SELECT count(*) FROM events WHERE (SELECT nothing_of(*) FROM items) @> item;

-- Conditions that are estimated before the planner has set up the query's tables, in a subquery of
-- an expression, or in other places. The query has a result and no error.
SELECT count(*) FROM seen WHERE urls @> ANY (SELECT url FROM events WHERE id < 3) OR n = 1;
SELECT count(*) FROM seen
WHERE bf_contains(urls, 'x'::text) IN (SELECT id > 3 FROM events WHERE id < 3) OR n = 1;
SELECT count(*) FROM events
WHERE id < 3 AND (bf_contains_any(threes(9), tags) IN (SELECT n > 3 FROM seen) OR few = 1);
SELECT count(*) FROM events
WHERE (SELECT bf_agg(id, 100, 0.01 - id) FROM items WHERE id < 0) @> item;
WITH RECURSIVE r(n, f) AS (
  SELECT 1, bf_create(10) + 1 UNION ALL SELECT n + 1, f + n FROM r WHERE n < 5 AND f @> n - 1 + 0)
SELECT count(*) FROM r WHERE f @> 1;
WITH d AS (DELETE FROM never WHERE item = 3 RETURNING item, bf_create(10) + item AS f)
SELECT count(*) FROM d, items WHERE f @> id AND id < 10;
SELECT count(*) FROM events e, LATERAL (SELECT bf_agg(i.id) AS f FROM items i WHERE i.id = e.id) s
WHERE f @> e.id AND e.id < 5;
SELECT n FROM seen GROUP BY n HAVING bf_agg(n) @> count(*) ORDER BY n LIMIT 1;
SELECT id FROM events LEFT JOIN seen ON urls @> url WHERE id < 3 AND urls IS NULL
  FOR UPDATE OF events;
UPDATE never SET item = 1 WHERE threes(10) @> item AND item < 0;

-- An unknown selectivity is a tenth. This applies to a column that was never analyzed, and to a
-- filter from another expression.
SELECT about, expected / 30000 AS share
FROM (VALUES
  ('never analyzed', 'SELECT FROM never WHERE :f::bloomfilter @> item', 'never'),
  ('an expression', 'SELECT FROM events WHERE CASE WHEN id > 0 THEN :f::bloomfilter END @> item',
    'events')) v(about, query, wanted), rows_of(replace(query, ':f', quote_literal(:'f')), wanted);

-- A better plan: few rows remain, so an index finds their partners.
CREATE UNIQUE INDEX ON items (id);
ANALYZE items;
SELECT bf_agg(i) AS f FROM generate_series(1, 5) i \gset
SELECT line_of(format('SELECT FROM events JOIN items ON items.id = events.id
    WHERE %L::bloomfilter @> item', :'f'), 'Join|Nested Loop') AS few_rows,
  line_of('SELECT FROM events JOIN items ON items.id = events.id', 'Join|Nested Loop') AS all_rows;

-- What ANALYZE keeps of a column of filters, beside the usual statistics. A slot of its own kind
-- has the mean count, rate and size. It also has the most common element family, and the share of
-- that family.
CREATE FUNCTION kept(wanted regclass, column_name text, is_inherited boolean DEFAULT false)
RETURNS float4[] LANGUAGE sql AS $$
  SELECT CASE 20742 WHEN stakind1 THEN stanumbers1 WHEN stakind2 THEN stanumbers2
    WHEN stakind3 THEN stanumbers3 WHEN stakind4 THEN stanumbers4 WHEN stakind5 THEN stanumbers5 END
  FROM pg_statistic JOIN pg_attribute ON attrelid = starelid AND attnum = staattnum
  WHERE starelid = wanted AND attname = column_name AND stainherit = is_inherited
$$;
CREATE FUNCTION forged(bytea, int DEFAULT 1) RETURNS bloomfilter LANGUAGE internal IMMUTABLE STRICT
  AS 'bytea_substr_no_len';
CREATE DOMAIN named_filter AS bloomfilter;
CREATE TABLE kinds AS
  SELECT n, CASE WHEN n > 10 THEN f END AS f, cbf, cf, f::named_filter AS in_domain,
    NULL::bloomfilter AS nothing, bf_create(3) + 1 + 2 AS short,
    CASE WHEN n % 4 = 0 THEN forged(set_byte(f::bytea, 0, 2)) ELSE f END AS damaged
  FROM (SELECT n, bf_agg(i) AS f, cbf_agg(i) AS cbf, cf_agg(i) AS cf
    FROM generate_series(1, 100) n, generate_series(1, 1000) i GROUP BY n) s;
CREATE INDEX kinds_expr_idx ON kinds ((f | cbf::bloomfilter));
CREATE TABLE more_kinds () INHERITS (kinds);
INSERT INTO more_kinds (n, f)
  SELECT n, bf_agg(i) FROM generate_series(1, 100) n, generate_series(1, 3000) i GROUP BY n;
CREATE TABLE empty (f bloomfilter);
ANALYZE kinds, more_kinds, empty;
SELECT name, s[1] BETWEEN 0.95 * count AND 1.05 * count AS count,
  s[2] BETWEEN 0.005 AND 0.02 AS rate, s[3] BETWEEN 0.9 * bytes AND 1.1 * bytes AS bytes,
  s[4] AS of_one_family, s[5] AS family
FROM (SELECT avg(pg_column_size(f)) AS bf, avg(pg_column_size(cbf)) AS cbf,
    avg(pg_column_size(cf)) AS cf FROM ONLY kinds) size,
  LATERAL (VALUES ('f', 1000, bf), ('cbf', 1000, cbf), ('cf', 1000, cf), ('in_domain', 1000, bf),
    ('damaged', 1000, bf)) v(name, count, bytes), kept('kinds', name) s;
SELECT kept('kinds', 'nothing') AS nothing, kept('empty', 'f') AS empty,
  round((kept('kinds', 'short'))[1]::numeric) AS short,
  round(((kept('kinds', 'f', true))[1] / 100)::numeric) AS hundreds_with_children,
  round(((kept('kinds_expr_idx', attname))[1] / 100)::numeric) AS hundreds_of_an_expression
FROM pg_attribute WHERE attrelid = 'kinds_expr_idx'::regclass;
-- Links of one geometry are OR-ed before they are counted, as in bf_count. This is done for filters
-- in memory, and for a sample of a filter that is stored out of line.
CREATE TABLE united (one_size bloomfilter, two_sizes bloomfilter, large bloomfilter);
ALTER TABLE united ALTER large SET STORAGE external;
INSERT INTO united
SELECT a.f | b.f, a.f | b.f | bf_agg(i), (SELECT bf_union_agg(f)
    FROM (SELECT bf_agg(n * 100000 + i) AS f
      FROM generate_series(1, 3) n, generate_series(1, 295000) i GROUP BY n) s)
FROM (SELECT bf_agg(i) AS f FROM generate_series(1, 1000) i) a,
  (SELECT bf_agg(i) AS f FROM generate_series(501, 1500) i) b, generate_series(1, 3000) i
GROUP BY a.f, b.f;
ANALYZE united;
SELECT name, (bf_info(f)).links, s[1] / bf_count(f) BETWEEN 0.97 AND 1.03 AS as_counted,
  s[2] / bf_fpr(f) BETWEEN 0.97 AND 1.03 AS rate
FROM united, LATERAL (VALUES ('one_size', one_size), ('two_sizes', two_sizes), ('large', large))
  v(name, f), kept('united', name) s;
SELECT attname, round(null_frac::numeric, 2) AS null_frac, n_distinct, avg_width > 0 AS has_width
FROM pg_stats WHERE schemaname = 'public' AND tablename = 'kinds' AND NOT inherited
ORDER BY attname;
-- If the statistics of a column are switched off, it has no such slot.
ALTER TABLE kinds ALTER f SET STATISTICS 0;
DELETE FROM pg_statistic WHERE starelid = 'kinds'::regclass;
ANALYZE kinds;
SELECT kept('kinds', 'f') AS f, kept('kinds', 'cf') IS NOT NULL AS cf;

-- The cost of a condition. Cheap conditions are evaluated first. A large filter costs more than a
-- small one. Another filter in each row costs more than one filter for all rows. It costs even more
-- if it is stored out of line.
CREATE FUNCTION cost_of(query text) RETURNS float8 LANGUAGE sql AS
  $$SELECT (plan_of(query) #> '{0,Plan,Total Cost}')::float8$$;
CREATE FUNCTION first_asked(condition text) RETURNS text LANGUAGE sql AS $$
  SELECT substring(line_of('SELECT FROM events WHERE ' || condition, 'Filter') FROM '\(\((\w+) ')
$$;
SELECT first_asked(format('%L::bloomfilter @> url AND few > 3', :'f')) AS first,
  first_asked(format('few > 3 AND %L::bloomfilter @> url', :'f')) AS as_well;
CREATE TABLE stored AS
  SELECT i, bf_create(100) AS short, bf_create(10000) AS long
  FROM generate_series(1, 2000) i;
ANALYZE stored;
CREATE TABLE sizes AS
  SELECT cost_of('SELECT FROM events WHERE item > 5') AS comparison,
    cost_of(format('SELECT FROM events WHERE %L::bloomfilter @> item', bf_create(80000))) AS small,
    cost_of(format('SELECT FROM events WHERE %L::bloomfilter @> item', bf_create(10000000)))
      AS large,
    cost_of('SELECT FROM stored WHERE i > 5') AS scan,
    cost_of('SELECT FROM stored WHERE short @> 5') AS short,
    cost_of('SELECT FROM stored WHERE long @> 5') AS long;
SELECT comparison < small AS "a probe costs more than a comparison",
  small < large AS "of 12 MB more than of 100 kB",
  scan < short AS "another filter in each row costs",
  5 * short < long AS "much more if it is out of line"
FROM sizes \gx

-- If it has a literal, a function call becomes the operator, in queries and in the definitions of
-- tables. So an index with either form serves both forms. This is also true of ON CONFLICT,
-- partitions and constraints.
CREATE TABLE marked AS
  SELECT i AS id, bf_create(10) + ('v' || i % 100) AS f FROM generate_series(1, 3000) i;
CREATE INDEX by_operator ON marked (id) WHERE f @> 'v1';
CREATE INDEX by_function ON marked (id) WHERE bf_contains(f, 'v2'::text);
CREATE INDEX by_value ON marked (bf_contained('v3', f));
CREATE UNIQUE INDEX by_conflict ON marked (id) WHERE 'v4000' <@ f;
ALTER TABLE marked ADD CHECK (NOT bf_contains(f, 'never'::text));
CREATE TABLE by_answer (f bloomfilter) PARTITION BY LIST ((f @> 'v1'));
CREATE TABLE answer_is_yes PARTITION OF by_answer FOR VALUES IN (true);
CREATE TABLE answer_is_no PARTITION OF by_answer FOR VALUES IN (false);
INSERT INTO by_answer SELECT f FROM marked;
ANALYZE marked;
CREATE FUNCTION used_for(query text) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(coalesce(node ->> 'Index Name', node ->> 'Relation Name'), ', ')
  FROM jsonb_path_query(plan_of(query), 'strict $.** ? (@.type() == "object")') node
$$;
SET enable_seqscan = off;
SET constraint_exclusion = on;
SELECT condition, used_for('SELECT id FROM marked WHERE ' || condition) FROM (VALUES
  ($$f @> 'v1'$$), ($$bf_contains(f, 'v1')$$), ($$f @> 'v2'::text$$),
  ($$bf_contains(f, 'v2'::text)$$), ($$bf_contains(value => 'v2'::text, filter => f)$$),
  ($$'v3' <@ f$$), ($$bf_contained('v3', f)$$), ($$f @> 'never'::text$$)) v(condition);
SELECT used_for($$SELECT FROM by_answer WHERE f @> 'v1'$$) AS has,
  used_for($$SELECT FROM by_answer WHERE NOT bf_contains(f, 'v1')$$) AS lacks;
RESET enable_seqscan;
RESET constraint_exclusion;
INSERT INTO marked SELECT 0, bf_create(10) + 'v4000' FROM generate_series(1, 3)
  ON CONFLICT (id) WHERE bf_contained('v4000', f) DO NOTHING RETURNING id;

-- If an operator that probes no filter has the extension's estimators, its selectivity is unknown.
CREATE FUNCTION divides(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
  AS 'BEGIN RETURN $2 % $1 = 0; END';
CREATE FUNCTION is_even(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
  AS 'BEGIN RETURN $1 % 2 = 0; END';
CREATE OPERATOR ?| (FUNCTION = divides, LEFTARG = int, RIGHTARG = int,
  RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
CREATE OPERATOR ?/ (FUNCTION = is_even, RIGHTARG = int, RESTRICT = bloomfilter_restrict);
CREATE TABLE numbers AS SELECT i FROM generate_series(1, 1000) i;
ANALYZE numbers;
SELECT statement, expected FROM (VALUES ('WHERE 7 OPERATOR(?|) i'), ('WHERE ?/ i'),
  ('JOIN numbers b ON numbers.i ?| b.i')) v(statement),
  rows_of('SELECT FROM numbers ' || statement, NULL);

-- The planner follows a filter through subqueries, but neither too deep nor too often. The second
-- limit is for subqueries that each use the one before twice.
CREATE FUNCTION chain(depth int, form text) RETURNS text LANGUAGE sql AS $$
  SELECT format('WITH c0 AS MATERIALIZED (SELECT bf_agg(i) AS f FROM numbers WHERE i <= 10), %s
      SELECT FROM numbers WHERE (SELECT f FROM c%s) @> i',
    string_agg(format('c%s AS MATERIALIZED (%s)', i, replace(form, 'before', 'c' || i - 1)), ', '
      ORDER BY i), depth)
  FROM generate_series(1, depth) i
$$;
SELECT depth, expected < 30 AS known
FROM unnest(ARRAY[1, 25, 100]) depth, rows_of(chain(depth, 'SELECT f FROM before'), 'numbers');
SELECT depth, actual FROM unnest(ARRAY[1, 40]) depth,
  rows_of(chain(depth, 'SELECT bf_agg(i) FILTER (WHERE (SELECT f FROM before) @> i
    AND (SELECT f FROM before) @> i) AS f FROM numbers'), NULL);
-- Of a long array, the planner examines the first hundred elements. It expects the other elements
-- to be like them.
SELECT first, expected < 15000 AS "a few", expected = 30000 AS "all"
FROM (VALUES ('id', 'few'), ('few', 'id')) v(first, other),
  rows_of(format('SELECT FROM events WHERE bf_contains_any(%L::bloomfilter, ARRAY[%s])',
    (SELECT bf_agg(i, 100000) FROM generate_series(0, 49) i),
    (SELECT string_agg(CASE WHEN n <= 100 THEN first ELSE other END, ', ')
     FROM generate_series(1, 200) n)), NULL);
-- Shares of common values that add up to more than 1
CREATE TABLE thirds AS SELECT i % 3 AS third FROM generate_series(1, 3000) i;
ANALYZE thirds;
SELECT expected, actual FROM rows_of(format(
  'SELECT FROM thirds WHERE bf_contains_any(%L::bloomfilter, ARRAY[third, %s])',
  (SELECT bf_agg(third) FROM thirds), (SELECT string_agg((1000 + n)::text, ', ')
   FROM generate_series(1, 149) n)), NULL);

-- Users' types with the names of the extension's types are not mistaken for them.
CREATE SCHEMA fakes;
CREATE TYPE fakes.bloomfilter AS ENUM ('a', 'b');
CREATE TYPE fakes.countingbloomfilter AS RANGE (subtype = int4);
CREATE TYPE fakes.cuckoofilter AS (i int);
CREATE DOMAIN fakes.bf_partial AS text;
SELECT format('CREATE FUNCTION fakes.step(f public.%1$I, value fakes.%1$I) RETURNS public.%1$I
    LANGUAGE sql IMMUTABLE AS $$SELECT coalesce(f, %2$s_create(10))$$;
  CREATE AGGREGATE fakes.built(fakes.%1$I) (SFUNC = fakes.step, STYPE = public.%1$I)',
  type, prefix)
FROM (VALUES ('bloomfilter', 'bf'), ('countingbloomfilter', 'cbf'), ('cuckoofilter', 'cf'))
  v(type, prefix) \gexec
SELECT value, expected FROM unnest(ARRAY[$$'b'::fakes.bloomfilter$$,
    $$'[1,5)'::fakes.countingbloomfilter$$, $$'(1)'::fakes.cuckoofilter$$]) value,
  rows_of(format('SELECT FROM numbers WHERE (SELECT fakes.built(%s) FROM numbers) @> i', value),
    NULL);
-- Nor are direct arguments of a user's aggregate mistaken for the rate of its filter.
CREATE FUNCTION fakes.add_to(f bloomfilter, i int) RETURNS bloomfilter LANGUAGE sql IMMUTABLE
  AS 'SELECT coalesce(f, bf_create(1000)) + i';
CREATE FUNCTION fakes.given(f bloomfilter, a float8, b float8) RETURNS bloomfilter LANGUAGE sql
  IMMUTABLE AS 'SELECT f';
CREATE AGGREGATE fakes.ordered(float8, float8 ORDER BY int) (SFUNC = fakes.add_to,
  STYPE = bloomfilter, FINALFUNC = fakes.given);
SELECT count(*) FROM numbers
WHERE (SELECT fakes.ordered(0.1, 0.2) WITHIN GROUP (ORDER BY i) FROM numbers WHERE i < 9) @> i;
-- A user's operator that calls a function of the extension.
CREATE OPERATOR fakes.@>* (FUNCTION = bf_contains_all, LEFTARG = bloomfilter,
  RIGHTARG = anyarray);
SELECT count(*) FROM numbers
WHERE (SELECT bf_agg(i) FROM numbers WHERE i < 9) OPERATOR(fakes.@>*) ARRAY[i, 1];

SET client_min_messages = warning;
DROP SCHEMA fakes CASCADE;
