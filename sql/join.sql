-- Filters that the planner places by itself: where it does, and that the rows stay the same.
CREATE SCHEMA join_filter;
SET search_path = join_filter, public;
SET max_parallel_workers_per_gather = 0;
SET enable_memoize = off;

CREATE TABLE region (id int PRIMARY KEY, name text);
INSERT INTO region SELECT i, 'region ' || i FROM generate_series(1, 10) i;
CREATE TABLE nation (id int PRIMARY KEY, region int, name text);
INSERT INTO nation SELECT i, 1 + i % 10, 'nation ' || i FROM generate_series(1, 100) i;
CREATE TABLE dim (id int PRIMARY KEY, nation int, kind int, name text, price numeric, day date,
  big bigint, real8 float8, code varchar, fixed char(12), extra int);
INSERT INTO dim
  SELECT i, 1 + i % 100, i % 100, 'name ' || i, i / 4.0, date '2024-01-01' + i, i, i / 8.0,
    'code ' || i, 'fixed ' || i, nullif(i % 7, 0)
  FROM generate_series(1, 2000) i;
CREATE TABLE fact (id int, dim int, other int, name text, price numeric, day date, moment timestamp,
  big bigint, small smallint, real4 real, code varchar, fixed char(12), k int);
INSERT INTO fact
  SELECT i, CASE WHEN i % 50 <> 0 THEN 1 + i * 7919 % 2000 END, 1 + i * 31 % 2000,
    'name ' || 1 + i % 2000, (1 + i % 2000) / 4.0, date '2024-01-01' + 1 + i % 2000,
    timestamp '2024-01-01' + (1 + i % 2000) * interval '1 day', 1 + i % 2000, 1 + i % 2000,
    (1 + i % 2000) / 8.0, 'code ' || 1 + i % 2000, 'fixed ' || 1 + i % 2000, i / 7 % 10
  FROM generate_series(1, 40000) i;
CREATE VIEW few AS SELECT * FROM dim WHERE kind = 7;
VACUUM ANALYZE region, nation, dim, fact;

-- Which scans ask for which keys, whatever the InitPlans are called.
CREATE FUNCTION filters(plan jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  node jsonb;
  name text;
  conditions text[];
  result text;
BEGIN
  SELECT array_agg(DISTINCT format('%s: %s', n ->> 'Relation Name', n ->> 'Bloom Filter')) INTO conditions
  FROM jsonb_path_query(plan, 'strict $.** ? (@."Bloom Filter" starts with "(")') n;
  result := array_to_string(conditions, ', ');
  FOR node IN SELECT jsonb_path_query(plan, 'strict $.** ? (@."Subplan Name" starts with "InitPlan")')
  LOOP
    name := coalesce(node ->> 'Relation Name',
      jsonb_path_query_first(node, 'strict $.** ? (@."Parent Relationship" == "Outer"
        || @."Parent Relationship" == "Member")."Relation Name"') #>> '{}');
    result := replace(result, '(' || split_part(node ->> 'Subplan Name', ' (', 1) || ').col1', name);
    result := regexp_replace(result, '\$' || coalesce(substring(node ->> 'Subplan Name' FROM '\$(\d+)'), 'none') || '\y',
      name, 'g');
  END LOOP;
  RETURN result;
END $$;

-- The filters of a query, and whether it has the same rows with them and without.
CREATE FUNCTION checked(query text, OUT filters text, OUT same boolean, OUT rows bigint)
LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
  off text;
  found text;
  counted text := format(
    'SELECT count(*), md5(string_agg(r::text, E''\n'' ORDER BY r::text)) FROM (%s) r', query);
BEGIN
  SET LOCAL bloomfilter.join_filter = off;
  EXECUTE counted INTO rows, off;
  SET LOCAL bloomfilter.join_filter = on;
  EXECUTE 'EXPLAIN (COSTS OFF, FORMAT json) ' || query INTO plan;
  filters := filters(plan);
  EXECUTE counted INTO rows, found;
  same := found IS NOT DISTINCT FROM off;
END $$;

-- Off by default.
LOAD 'bloomfilter';
SHOW bloomfilter.join_filter;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7;
SET bloomfilter.join_filter = on;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7;

-- Where it is placed, and where not.
SELECT what, checked.* FROM (VALUES
  ('inner join', 'SELECT f.id, d.name FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('comma', 'SELECT f.id FROM fact f, dim d WHERE d.id = f.dim AND d.kind = 7 AND f.k = 3'),
  ('view', 'SELECT f.id FROM fact f JOIN few d ON f.dim = d.id'),
  ('IN', 'SELECT f.id FROM fact f WHERE f.dim IN (SELECT id FROM dim WHERE kind = 7)'),
  ('EXISTS', 'SELECT f.id FROM fact f WHERE EXISTS (SELECT FROM dim d WHERE f.dim = d.id AND d.kind = 7)'),
  ('right side of EXISTS', 'SELECT d.id FROM dim d WHERE EXISTS (SELECT FROM fact f WHERE f.dim = d.id AND f.k < 9) AND d.kind = 7'),
  ('nullable side', 'SELECT f.id, d.name FROM dim d LEFT JOIN fact f ON f.dim = d.id WHERE d.kind = 7'),
  ('nullable side, RIGHT', 'SELECT f.id, d.name FROM fact f RIGHT JOIN dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('nullable side, condition', 'SELECT f.id, d.name FROM dim d LEFT JOIN fact f ON f.dim = d.id AND f.k = 3 WHERE d.kind = 7'),
  ('nullable side of a join', 'SELECT f.id, n.name, d.name FROM dim d LEFT JOIN (fact f JOIN nation n ON n.id = f.k) ON f.dim = d.id WHERE d.kind = 7'),
  ('below an outer join', 'SELECT f.id, n.id FROM nation n LEFT JOIN (fact f JOIN dim d ON f.dim = d.id AND d.kind = 7) ON n.id = f.k'),
  ('preserved, joined above', 'SELECT f.id, n.id FROM (fact f LEFT JOIN nation n ON n.id = f.k) JOIN dim d ON f.dim = d.id AND d.kind = 7'),
  ('preserved side', 'SELECT f.id, d.name FROM fact f LEFT JOIN dim d ON f.dim = d.id AND d.kind = 7'),
  ('full join', 'SELECT f.id, d.name FROM fact f FULL JOIN (SELECT * FROM dim WHERE kind = 7) d ON f.dim = d.id'),
  ('NOT EXISTS', 'SELECT f.id FROM fact f WHERE NOT EXISTS (SELECT FROM dim d WHERE f.dim = d.id AND d.kind = 7)'),
  ('right side of NOT EXISTS', 'SELECT d.id FROM dim d WHERE NOT EXISTS (SELECT FROM fact f WHERE f.dim = d.id AND f.k = 1) AND d.kind = 7'),
  ('NOT IN', 'SELECT f.id FROM fact f WHERE f.dim NOT IN (SELECT id FROM dim WHERE kind = 7)'),
  ('unrestricted', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id'),
  ('most rows', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind < 90'),
  ('constant', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.id = 7'),
  ('two', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id JOIN dim e ON f.other = e.id WHERE d.kind < 20 AND e.kind < 10'),
  ('self join', 'SELECT f.id FROM fact f JOIN fact g ON f.big = g.big WHERE g.id < 20'),
  ('snowflake', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id JOIN nation n ON d.nation = n.id WHERE n.name = ''nation 7'''),
  ('two flakes', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id JOIN nation n ON d.nation = n.id JOIN region r ON r.id = n.region WHERE r.name = ''region 7'''),
  ('not equal', 'SELECT f.id FROM fact f JOIN dim d ON f.dim < d.id WHERE d.id < 3 AND f.id < 100'),
  ('alternative', 'SELECT f.id FROM fact f JOIN dim d ON (f.dim = d.id OR f.other = d.id) WHERE d.kind = 7'),
  ('expression', 'SELECT f.id FROM fact f JOIN dim d ON f.dim + 1 = d.id WHERE d.kind = 7'),
  ('nothing', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7000'),
  ('NULL keys', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.extra WHERE d.kind = 7'),
  ('duplicate keys', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.nation WHERE d.id < 30'),
  ('aggregate', 'SELECT d.name, count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 GROUP BY 1'),
  ('subquery', 'SELECT * FROM (SELECT d.nation, count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 GROUP BY 1) x JOIN nation n ON n.id = x.nation'),
  ('CTE', 'WITH c AS MATERIALIZED (SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7) SELECT * FROM c'),
  ('keys of a CTE', 'WITH c AS MATERIALIZED (SELECT id FROM dim WHERE kind = 7) SELECT f.id FROM fact f JOIN c ON f.dim = c.id'),
  ('LATERAL', 'SELECT f.id FROM dim d, LATERAL (SELECT * FROM fact f WHERE f.dim = d.id OFFSET 0) f WHERE d.kind = 7 AND d.id < 200'),
  ('row marks', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 FOR SHARE OF d'),
  ('sample of the keys', 'SELECT f.id FROM fact f JOIN dim d TABLESAMPLE bernoulli (50) REPEATABLE (1) ON f.dim = d.id WHERE d.kind = 7'),
  ('sample', 'SELECT f.id FROM fact f TABLESAMPLE bernoulli (50) REPEATABLE (1) JOIN dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('volatile', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 AND random() >= 0'),
  ('volatile, of the keys', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 + (random() * d.id * 0)::int'),
  ('subplan', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = (SELECT min(n.id) FROM nation n WHERE n.region = d.nation)'),
  ('InitPlan', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = (SELECT min(n.id) FROM nation n)'),
  ('outer query', 'SELECT n.id, (SELECT count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = n.id) FROM nation n WHERE n.id < 3'),
  ('by hand', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 AND (SELECT bf_agg(id) FROM dim WHERE kind = 7) @> f.dim'),
  ('another by hand', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 AND (SELECT bf_agg(id) FROM dim WHERE kind < 9) @> f.dim')
) q (what, query), checked(query);

-- Types: those whose equality filters know, and no others.
SELECT what, checked.* FROM unnest(ARRAY[
  'big = d.id', 'small = d.id', 'small = d.big', 'price = d.price', 'name = d.name', 'day = d.day', 'moment = d.day',
  'day = d.day::timestamp', 'day = d.day::timestamptz', 'real4 = d.real8', 'code = d.code',
  'code = d.name', 'fixed = d.fixed', 'price = d.id', 'name COLLATE "C" = d.name COLLATE "C"',
  'name::name = d.name', 'code = d.fixed']) what,
  checked(format('SELECT f.id FROM fact f JOIN dim d ON f.%s WHERE d.kind = 7', what));
