-- Filters that the planner places by itself: where it places them, and that the rows of the query
-- stay the same.
CREATE SCHEMA join_filter;
SET search_path = join_filter, public;
SET max_parallel_workers_per_gather = 0;
SET enable_memoize = off;

CREATE TABLE region (id int PRIMARY KEY, name text);
INSERT INTO region SELECT i, 'region ' || i FROM generate_series(1, 10) i;
CREATE TABLE nation (id int PRIMARY KEY, region int, name text);
INSERT INTO nation SELECT i, 1 + i % 10, 'nation ' || i FROM generate_series(1, 100) i;
CREATE TABLE dim (id int PRIMARY KEY, nation int, kind int, name text, price numeric, day date,
  big bigint, real8 float8, code varchar, fixed char(12), extra int, instant timestamptz);
INSERT INTO dim
  SELECT i, 1 + i % 100, i % 100, 'name ' || i, i / 4.0, date '2024-01-01' + i, i, i / 8.0,
    'code ' || i, 'fixed ' || i, nullif(i % 7, 0), date '2024-01-01' + i
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
-- planned by itself, as a part of an outer query that may be parallel
CREATE VIEW apart WITH (security_barrier) AS
  SELECT f.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7;
VACUUM ANALYZE region, nation, dim, fact;

\i sql/include/plan.sql

-- Lists which scans probe for which keys. Servers name InitPlans in different ways, so the list has
-- the names of the tables instead.
CREATE FUNCTION filters(plan jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  node jsonb;
  called text;
  name text;
  conditions text[];
  result text;
BEGIN
  SELECT array_agg(DISTINCT format('%s: %s', n ->> 'Relation Name', n ->> 'Bloom Filter'))
  INTO conditions
  FROM jsonb_path_query(plan, 'strict $.** ? (@."Bloom Filter" starts with "(")') n;
  result := array_to_string(conditions, ', ');
  FOR node IN
    SELECT jsonb_path_query(plan, 'strict $.** ? (@."Subplan Name" starts with "InitPlan")')
  LOOP
    called := node ->> 'Subplan Name';
    name := coalesce(node ->> 'Relation Name',
      jsonb_path_query_first(node, 'strict $.** ? (@."Parent Relationship" == "Outer"
        || @."Parent Relationship" == "Member")."Relation Name"') #>> '{}');
    result := replace(result, '(' || split_part(called, ' (', 1) || ').col1', name);
    result := replace(result, coalesce(substring(called FROM '\$\d+'), '$') || ' @>',
      name || ' @>');
  END LOOP;
  RETURN result;
END $$;

-- Returns the filters of a query, and whether its rows are the same with the filters and without
-- them.
CREATE FUNCTION checked(query text, OUT filters text, OUT same boolean, OUT rows bigint)
LANGUAGE plpgsql AS $$
DECLARE
  off text;
  found text;
  counted text := format(
    'SELECT count(*), md5(string_agg(r::text, E''\n'' ORDER BY r::text)) FROM (%s) r', query);
BEGIN
  SET LOCAL bloomfilter.join_filter = off;
  EXECUTE counted INTO rows, off;
  SET LOCAL bloomfilter.join_filter = on;
  filters := filters(plan_of(query));
  EXECUTE counted INTO rows, found;
  same := found IS NOT DISTINCT FROM off;
END $$;

-- Off by default.
LOAD 'bloomfilter';
SHOW bloomfilter.join_filter;
SELECT * FROM explained('SELECT count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7');
SET bloomfilter.join_filter = on;
SELECT * FROM explained('SELECT count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7');

-- Where a filter is placed, and where none is placed.
SELECT what, checked.* FROM (VALUES
  ('inner join', 'SELECT f.id, d.name FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('comma', 'SELECT f.id FROM fact f, dim d WHERE d.id = f.dim AND d.kind = 7 AND f.k = 3'),
  ('view', 'SELECT f.id FROM fact f JOIN few d ON f.dim = d.id'),
  ('IN', 'SELECT f.id FROM fact f WHERE f.dim IN (SELECT id FROM dim WHERE kind = 7)'),
  ('EXISTS',
    'SELECT f.id FROM fact f WHERE EXISTS (SELECT FROM dim d WHERE f.dim = d.id AND d.kind = 7)'),
  ('right side of EXISTS',
    'SELECT d.id FROM dim d WHERE EXISTS (SELECT FROM fact f WHERE f.dim = d.id AND f.k < 9) AND
      d.kind = 7'),
  ('nullable side',
    'SELECT f.id, d.name FROM dim d LEFT JOIN fact f ON f.dim = d.id WHERE d.kind = 7'),
  ('nullable side, RIGHT',
    'SELECT f.id, d.name FROM fact f RIGHT JOIN dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('nullable side, condition',
    'SELECT f.id, d.name FROM dim d LEFT JOIN fact f ON f.dim = d.id AND f.k = 3 WHERE d.kind =
      7'),
  ('nullable side of a join',
    'SELECT f.id, n.name, d.name FROM dim d LEFT JOIN (fact f JOIN nation n ON n.id = f.k) ON
      f.dim = d.id WHERE d.kind = 7'),
  ('another outer join',
    'SELECT f.id, d.name, n.id FROM dim d LEFT JOIN fact f ON f.dim + 1 = d.id LEFT JOIN nation n
      ON f.other = d.id AND n.id < 3 WHERE d.kind = 7'),
  ('below an outer join',
    'SELECT f.id, n.id FROM nation n LEFT JOIN (fact f JOIN dim d ON f.dim = d.id AND d.kind = 7)
      ON n.id = f.k'),
  ('preserved, joined above',
    'SELECT f.id, n.id FROM (fact f LEFT JOIN nation n ON n.id = f.k) JOIN dim d ON f.dim = d.id
      AND d.kind = 7'),
  ('preserved side',
    'SELECT f.id, d.name FROM fact f LEFT JOIN dim d ON f.dim = d.id AND d.kind = 7'),
  ('preserved side of the join above',
    'SELECT f.id, d.id, n.id FROM (dim d LEFT JOIN fact f ON f.id <= d.kind) LEFT JOIN nation n
      ON n.id = f.k AND f.dim = d.id WHERE d.kind = 7'),
  ('made NULL below',
    'SELECT f.id, d.id, n.id FROM dim d LEFT JOIN (nation n LEFT JOIN fact f ON f.id = n.id + 0)
      ON CASE WHEN f.dim IS NULL THEN 7 ELSE f.dim END = d.id WHERE d.kind = 7'),
  ('keys made NULL below',
    'SELECT f.id, d.id, n.id FROM (nation n LEFT JOIN dim d ON d.id = n.id AND d.kind = 7)
      LEFT JOIN fact f ON CASE WHEN d.id IS NULL THEN 3 ELSE d.id END = f.dim'),
  ('full join',
    'SELECT f.id, d.name FROM fact f FULL JOIN (SELECT * FROM dim WHERE kind = 7) d ON f.dim =
      d.id'),
  ('NOT EXISTS',
    'SELECT f.id FROM fact f WHERE NOT EXISTS (SELECT FROM dim d WHERE f.dim = d.id AND d.kind =
      7)'),
  ('right side of NOT EXISTS',
    'SELECT d.id FROM dim d WHERE NOT EXISTS (SELECT FROM fact f WHERE f.dim = d.id AND f.k = 1)
      AND d.kind = 7'),
  ('NOT IN', 'SELECT f.id FROM fact f WHERE f.dim NOT IN (SELECT id FROM dim WHERE kind = 7)'),
  ('unrestricted', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id'),
  ('most rows', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind < 90'),
  ('constant', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.id = 7'),
  ('two',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id JOIN dim e ON f.other = e.id WHERE d.kind
      < 20 AND e.kind < 10'),
  ('self join', 'SELECT f.id FROM fact f JOIN fact g ON f.big = g.big WHERE g.id < 20'),
  ('a flake that keeps most rows',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id JOIN nation n ON d.extra = n.region
      WHERE d.kind < 50 AND n.id < 60'),
  ('snowflake',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id JOIN nation n ON d.nation = n.id WHERE
      n.name = ''nation 7'''),
  ('two flakes',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id JOIN nation n ON d.nation = n.id JOIN
      region r ON r.id = n.region WHERE r.name = ''region 7'''),
  ('not equal', 'SELECT f.id FROM fact f JOIN dim d ON f.dim < d.id WHERE d.id < 3 AND f.id < 100'),
  ('alternative',
    'SELECT f.id FROM fact f JOIN dim d ON (f.dim = d.id OR f.other = d.id) WHERE d.kind = 7'),
  ('expression', 'SELECT f.id FROM fact f JOIN dim d ON f.dim + 1 = d.id WHERE d.kind = 7'),
  ('nothing', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7000'),
  ('NULL keys', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.extra WHERE d.kind = 7'),
  ('duplicate keys', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.nation WHERE d.id < 30'),
  ('aggregate',
    'SELECT d.name, count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 GROUP BY 1'),
  ('subquery',
    'SELECT * FROM (SELECT d.nation, count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind
      = 7 GROUP BY 1) x JOIN nation n ON n.id = x.nation'),
  ('CTE',
    'WITH c AS MATERIALIZED (SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7)
      SELECT * FROM c'),
  ('keys of a CTE',
    'WITH c AS MATERIALIZED (SELECT id FROM dim WHERE kind = 7) SELECT f.id FROM fact f JOIN c ON
      f.dim = c.id'),
  ('LATERAL',
    'SELECT f.id FROM dim d, LATERAL (SELECT * FROM fact f WHERE f.dim = d.id OFFSET 0) f WHERE
      d.kind = 7 AND d.id < 200'),
  ('row marks',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 FOR SHARE OF d'),
  ('sample of the keys',
    'SELECT f.id FROM fact f JOIN dim d TABLESAMPLE bernoulli (50) REPEATABLE (1) ON f.dim = d.id
      WHERE d.kind = 7'),
  ('sample',
    'SELECT f.id FROM fact f TABLESAMPLE bernoulli (50) REPEATABLE (1) JOIN dim d ON f.dim = d.id
      WHERE d.kind = 7'),
  ('volatile',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 AND random() >= 0'),
  ('volatile, of the keys',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 + (random() * d.id *
      0)::int'),
  ('subplan',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = (SELECT min(n.id) FROM
      nation n WHERE n.region = d.nation)'),
  ('hashed subplan',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind < 10
      AND d.nation NOT IN (SELECT id FROM nation WHERE id < 5)'),
  ('InitPlan',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = (SELECT min(n.id) FROM
      nation n)'),
  ('outer query',
    'SELECT n.id, (SELECT count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = n.id)
      FROM nation n WHERE n.id < 3'),
  ('by hand',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 AND (SELECT bf_agg(id)
      FROM dim WHERE kind = 7) @> f.dim'),
  ('another by hand',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 AND (SELECT bf_agg(id)
      FROM dim WHERE kind < 9) @> f.dim'),
  ('by hand, of a join',
    'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 AND (SELECT bf_agg(d.id)
      FROM dim d JOIN nation n ON n.id = d.nation WHERE d.kind = 7) @> f.dim')
) q (what, query), checked(query);
-- A table has an index, and the plan might make use of the index's order.
BEGIN;
CREATE INDEX ON fact (dim);
SELECT checked.* FROM checked('SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id
  WHERE d.kind = 7');
ROLLBACK;
-- The source of the keys has an index on an expression, which finds them in less time than a build
-- that reads the whole table.
BEGIN;
CREATE TABLE found AS SELECT i AS id, i % 500 AS kind, repeat('f', 200) AS padding
FROM generate_series(1, 20000) i;
CREATE INDEX ON found ((kind + 0));
ANALYZE found;
SELECT plan::text ~ '"Custom Plan Provider": "Bloom Filter Build"' AS build,
  filters(plan)
FROM plan_of('SELECT f.id FROM ONLY fact f JOIN found ON f.dim = found.id
  WHERE found.kind + 0 = 7') plan;
ROLLBACK;
-- A filter must save a quarter more than its build costs.
CREATE TABLE middle AS SELECT i AS id, i % 100 AS kind FROM generate_series(1, 16000) i;
ANALYZE middle;
SELECT restricted, filters(plan_of(format('SELECT count(*) FROM ONLY fact f JOIN middle m
    ON m.id = f.dim WHERE m.kind = 7 AND f.id <= %s', restricted)))
FROM (VALUES (800), (2400)) q (restricted);
-- If the build reads as much as the scan, it must save five times what its build costs.
SELECT joins, filters(plan_of('SELECT count(*) FROM ONLY fact a JOIN ONLY fact b USING (other)'
  || joins || ' WHERE a.id = 77'))
FROM unnest(ARRAY['', ' JOIN region r1 ON r1.id = b.k JOIN region r2 ON r2.id = b.k
  JOIN region r3 ON r3.id = b.k']) joins;
-- An index finds the rows that fulfil the conditions. If they are few, it saves more than a filter,
-- which is probed by a scan of the whole table.
BEGIN;
CREATE TABLE broad AS SELECT i AS id, 1 + i % 2000 AS dim, repeat('b', 400) AS padding
FROM generate_series(1, 20000) i;
CREATE INDEX ON broad (id);
ANALYZE broad;
SELECT restricted,
  filters(plan_of(format('SELECT count(*) FROM broad JOIN ONLY dim d ON broad.dim = d.id
    WHERE broad.id < %s AND d.kind = 7', restricted)))
FROM (VALUES (2000), (12000)) q (restricted);
ROLLBACK;
-- Users' functions with the name of the extension's function.
BEGIN;
CREATE SCHEMA theirs;
CREATE FUNCTION theirs.bf_join_agg(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION theirs.bf_join_agg("any") RETURNS text LANGUAGE internal AS 'now';
SELECT checked.* FROM checked('SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id
  WHERE d.kind = 7');
ROLLBACK;
-- A query of 76 tables. The planner does not search it for everything that might restrict a key.
BEGIN;
SET LOCAL join_collapse_limit = 1;
SET LOCAL cpu_tuple_cost = 100;
SELECT placed BETWEEN 1 AND 64 AS "a few" FROM (SELECT count(*) AS placed
  FROM regexp_matches(filters(plan_of((SELECT 'SELECT f.id FROM fact f' || string_agg(format(
    ' JOIN dim d%1$s ON f.dim = d%1$s.id AND d%1$s.kind < 60
      JOIN nation n%1$s ON n%1$s.id = d%1$s.nation AND n%1$s.id < 50
      JOIN region r%1$s ON r%1$s.id = n%1$s.region AND r%1$s.id < 5', i), '')
    FROM generate_series(1, 25) i))), '@>', 'g')) c;
ROLLBACK;

-- A filter that is already in the query is not placed again, however much it would save.
SET cpu_tuple_cost = 1;
SELECT checked.* FROM unnest(ARRAY['kind < 30', 'id > 0']) condition, checked(format(
  'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id
   WHERE d.kind < 30 AND (SELECT bf_agg(id) FROM dim WHERE %s) @> f.dim', condition));
RESET cpu_tuple_cost;

-- Keys that are rows: several equalities with one table. No single equality drops many rows. The
-- planner expects a note to be long, so it expects a join's hash table to be large.
CREATE TABLE stock (shop int, item bigint, amount int, name varchar, fixed char(12), day date,
  real8 float8, again int, note char(1000000));
INSERT INTO stock
  SELECT nullif(i % 50, 0), nullif(i / 50, 0), i % 9, 'name ' || i % 50 || repeat(' ', i % 2),
    'name ' || i / 50, date '2024-01-01' + i % 50, i / 50 / 8.0,
    i % 9
  FROM generate_series(0, 2499) i WHERE (i % 50 + i / 50) % 10 = 0;
CREATE TABLE sale (id int, shop smallint, item int, name varchar, fixed char(12),
  moment timestamp, real4 real, more int);
INSERT INTO sale
  SELECT i, nullif(i % 50, 0), nullif(i / 50 % 50, 0), 'name ' || i % 50 || repeat(' ', i % 2),
    'name ' || i / 50 % 50, timestamp '2024-01-01' + i % 50 * interval '1 day', i / 50 % 50 / 8.0,
    i % 2500 % 9
  FROM generate_series(1, 40000) i;
-- The columns of its partitions have other numbers.
CREATE TABLE sold (more int, item int, shop smallint, id int) PARTITION BY RANGE (id);
CREATE TABLE sold_low PARTITION OF sold FOR VALUES FROM (0) TO (15000);
CREATE TABLE sold_high (id int, item int, shop smallint, more int);
ALTER TABLE sold ATTACH PARTITION sold_high FOR VALUES FROM (15000) TO (50000);
INSERT INTO sold (id, shop, item, more) SELECT id, shop, item, more FROM sale;
-- Two tables with the same rows. Foreign keys refer to only one of them.
CREATE TABLE listed (shop int, item int, kind int, note char(1000000), PRIMARY KEY (shop, item));
INSERT INTO listed SELECT i, i, i % 100 FROM generate_series(1, 2000) i;
CREATE TABLE listing AS TABLE listed;
CREATE TABLE ordered (id int, shop int, item int, more int);
INSERT INTO ordered SELECT i, 1 + i % 2000, 1 + i % 2000, i % 40 FROM generate_series(1, 40000) i;
ALTER TABLE ordered ADD FOREIGN KEY (shop, item) REFERENCES listed (shop, item);
VACUUM ANALYZE sale, sold, ordered, stock (shop, item, amount, name, fixed, day, real8, again),
  listed (shop, item, kind), listing (shop, item, kind);
SELECT what, checked.* FROM (VALUES
  ('inner join',
    'SELECT s.id, note FROM sale s JOIN stock t ON s.shop = t.shop AND s.item = t.item'),
  ('EXISTS',
    'SELECT s.id FROM sale s WHERE EXISTS (SELECT FROM stock t WHERE s.shop = t.shop AND
      s.item = t.item AND note IS DISTINCT FROM s.fixed)'),
  ('nullable side',
    'SELECT s.id, note FROM stock t LEFT JOIN sale s ON s.shop = t.shop AND s.item = t.item'),
  ('preserved side',
    'SELECT s.id, note FROM sale s LEFT JOIN stock t ON s.shop = t.shop AND s.item = t.item'),
  ('NOT EXISTS',
    'SELECT s.id FROM sale s WHERE NOT EXISTS (SELECT FROM stock t WHERE s.shop = t.shop AND
      s.item = t.item AND note IS DISTINCT FROM s.fixed)'),
  ('another outer join',
    'SELECT s.id, t.note, l.kind FROM stock t LEFT JOIN sale s ON s.shop = t.shop LEFT JOIN listed l
      ON s.item = t.item AND l.shop = s.more WHERE t.amount = 3'),
  ('one is enough',
    'SELECT s.id, note FROM sale s JOIN stock t ON s.id = t.item AND s.shop = t.shop'),
  ('alike', 'SELECT s.id, note FROM sale s JOIN stock t ON s.name = t.name AND s.fixed = t.fixed'),
  ('blanks', 'SELECT s.id, note FROM sale s JOIN stock t ON s.name = t.fixed AND s.item = t.item'),
  ('floats', 'SELECT s.id, note FROM sale s JOIN stock t ON s.shop = t.shop AND s.real4 = t.real8'),
  ('converted',
    'SELECT s.id, note FROM sale s JOIN stock t ON s.moment = t.day AND s.item = t.item
      WHERE t.amount = 3'),
  ('expressions',
    'SELECT s.id, note FROM sale s JOIN stock t ON s.item = t.item AND CASE WHEN s.more > 1 THEN
      s.more END = CASE WHEN t.amount > 1 THEN t.amount END'),
  ('two tables',
    'SELECT s.id, t.note, l.note FROM sale s JOIN stock t ON s.shop = t.shop JOIN listed l ON s.item
      = l.item WHERE t.amount = 3'),
  ('partitions',
    'SELECT s.id, note FROM sold s JOIN stock t ON s.shop = t.shop AND s.item = t.item'),
  ('neighbour',
    'SELECT o.id, note FROM ordered o JOIN sale s ON o.id = s.id JOIN stock t ON s.shop = t.shop AND
      s.item = t.item'),
  ('neighbour of a field',
    'SELECT s.id, note FROM sale s JOIN stock t USING (shop, item) JOIN nation n ON n.id = t.shop
      WHERE n.region < 4'),
  ('reference', 'SELECT o.id, note FROM ordered o JOIN listed l USING (shop, item)'),
  ('no reference', 'SELECT o.id, note FROM ordered o JOIN listing l USING (shop, item)'),
  ('reference and more',
    'SELECT o.id, note FROM ordered o JOIN listed l USING (shop, item) WHERE o.more = l.kind'),
  ('by hand',
    'SELECT s.id, note FROM sale s JOIN stock t USING (shop, item) WHERE
      (SELECT bf_agg(ROW(shop, item)) FROM stock) @> ROW(s.shop, s.item)'))
  q (what, query), checked(query);
BEGIN;
SET LOCAL work_mem = '4MB';
SELECT * FROM explained('SELECT s.id, note FROM sold s JOIN stock t USING (shop, item)');
ROLLBACK;
-- A field has the collation of its equality, not the collation of its column.
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER TABLE stock ADD COLUMN any_name varchar COLLATE any_case;
UPDATE stock SET any_name = CASE WHEN amount > 0 THEN name ELSE upper(name) END;
SELECT checked.* FROM unnest(ARRAY['"C"', 'any_case']) rule,
  checked(format('SELECT s.id, note FROM stock t LEFT JOIN sale s ON s.name COLLATE %s = t.any_name
    AND s.item = t.item WHERE t.amount < 2', rule));
-- A label of an enum can be renamed while the query runs, and then has another hash. A document may
-- be nested too deeply to be hashed.
CREATE TYPE mood AS ENUM ('sad', 'happy', 'angry', 'calm', 'tired');
CREATE TABLE felt AS SELECT i AS id, (enum_range(NULL::mood))[1 + i % 5] AS mood,
  to_jsonb(i % 1000) AS document, i % 1000 AS number FROM generate_series(1, 40000) i;
CREATE TABLE known AS SELECT mood, document, number, id % 5 AS kind FROM felt WHERE id <= 5;
ANALYZE felt, known;
SELECT key, checked.* FROM unnest(ARRAY['mood', 'document', 'number']) key,
  checked(format('SELECT f.id FROM felt f JOIN known USING (%s) WHERE kind < 2', key));
-- A table that also refers to a third table.
BEGIN;
ALTER TABLE ordered ADD region int DEFAULT 7 REFERENCES region;
SELECT checked.* FROM checked('SELECT o.id, note FROM ordered o JOIN listed l USING (shop, item)
  JOIN region r ON r.id = o.region WHERE o.more = l.kind');
ROLLBACK;
-- A column that is compared twice is one field, even if the tables are large.
BEGIN;
UPDATE pg_class SET reltuples = 1e8 WHERE oid = 'sale'::regclass;
UPDATE pg_class SET reltuples = 1e6 WHERE oid = 'stock'::regclass;
SELECT checked.* FROM checked(
  'SELECT s.id, note FROM sale s JOIN stock t ON s.shop = t.shop AND s.item = t.item AND s.more =
     t.amount AND s.more = t.again');
ROLLBACK;

-- A filter that is written beside the join that implies it is not counted twice. `ratio` is the
-- expected number of rows, divided by the number without the filter. `scanned` is the expected
-- number of rows of the scan, divided by 500.
CREATE FUNCTION counted(query text, condition text, setting text, OUT ratio numeric,
  OUT scanned bigint)
LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  PERFORM set_config('bloomfilter.join_filter', setting, true);
  plan := plan_of(format('%s AND %s', query, condition));
  ratio := round((plan #>> '{0,Plan,Plan Rows}')::numeric
    / (plan_of(query) #>> '{0,Plan,Plan Rows}')::numeric, 1);
  scanned := jsonb_path_query_first(plan,
    'strict $.** ? (@."Relation Name" == "fact")."Plan Rows"')::numeric / 500;
END $$;
SELECT what, setting, counted.* FROM (VALUES
  ('same', 'JOIN few d ON f.dim = d.id WHERE true', 'kind = 7'),
  ('same, restricted', 'JOIN few d ON f.dim = d.id WHERE f.k = 3', 'kind = 7'),
  ('same, the second', 'JOIN few d ON f.dim = d.id
    WHERE (SELECT bf_agg(id) FROM dim WHERE kind < 14) @> f.dim', 'kind = 7'),
  ('EXISTS', 'WHERE EXISTS (SELECT FROM few d WHERE f.dim = d.id)', 'kind = 7'),
  ('more keys', 'JOIN few d ON f.dim = d.id WHERE true', 'kind < 14'),
  ('fewer keys', 'JOIN dim d ON f.dim = d.id AND d.kind < 14 WHERE true', 'kind = 7'),
  ('preserved side', 'LEFT JOIN few d ON f.dim = d.id WHERE true', 'kind = 7'),
  ('another column', 'JOIN few d ON f.other = d.id WHERE true', 'kind = 7'),
  ('no join', 'WHERE true', 'kind = 7')) q (what, query, keys),
  unnest(ARRAY['off', 'on']) setting,
  counted('SELECT f.id FROM fact f ' || query,
    format('(SELECT bf_agg(id) FROM dim WHERE %s) @> f.dim', keys), setting)
ORDER BY 1, 2;
-- A Gather does not expect more rows than the scan below it. Here, the scan is in parallel, beside
-- a temporary table that cannot be.
BEGIN;
CREATE TEMP TABLE own AS SELECT * FROM few;
ANALYZE own;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL bloomfilter.join_filter = off;
SELECT jsonb_path_query_array(
  plan_of('SELECT f.id FROM fact f JOIN own ON dim = own.id
    WHERE (SELECT bf_agg(id) FROM own) @> dim'),
  'strict $.** ? (@."Node Type" == "Gather").Plans[*]."Relation Name"') AS gathered;
ROLLBACK;

-- Types: a filter is placed only for an equality that filters know.
SELECT what, checked.* FROM unnest(ARRAY[
  'big = d.id', 'small = d.id', 'small = d.big', 'price = d.price', 'name = d.name', 'day = d.day',
  'moment = d.day', 'moment = d.instant', 'day = d.instant', 'day = d.day::timestamp',
  'day = d.day::timestamptz', 'real4 = d.real8',
  'code = d.code', 'code = d.name', 'fixed = d.fixed', 'price = d.id',
  'name COLLATE "C" = d.name COLLATE "C"',
  'name::name = d.name', 'code = d.fixed']) what,
  checked(format('SELECT f.id FROM fact f JOIN dim d ON f.%s WHERE d.kind = 7', what));

-- Users' operators. Their equality is not the one that filters know.
CREATE FUNCTION alike(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS
  'BEGIN RETURN lower($1) = lower($2); END';
CREATE FUNCTION compare_alike(text, text) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS
  'BEGIN RETURN bttextcmp(lower($1), lower($2)); END';
CREATE FUNCTION hash_alike(text) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS
  'BEGIN RETURN hashtext(lower($1)); END';
CREATE OPERATOR === (FUNCTION = alike, LEFTARG = text, RIGHTARG = text, COMMUTATOR = ===,
  RESTRICT = eqsel, JOIN = eqjoinsel, MERGES, HASHES);
CREATE OPERATOR CLASS alike_ops FOR TYPE text USING btree AS
  OPERATOR 3 ===, FUNCTION 1 compare_alike(text, text);
CREATE OPERATOR CLASS alike_ops FOR TYPE text USING hash AS
  OPERATOR 1 ===, FUNCTION 1 hash_alike(text);
CREATE TABLE loud AS SELECT id, kind, upper(name) AS name FROM dim;
ANALYZE loud;
SELECT checked.* FROM checked(
  'SELECT f.id FROM fact f JOIN loud d ON f.name === d.name WHERE d.kind = 7 AND f.id < 20000');
SELECT checked.* FROM checked(
  'SELECT f.id FROM fact f JOIN loud d ON f.name = d.name WHERE d.kind = 7 AND f.id < 20000');
-- The same for an operator that is the default equality of its type.
CREATE TYPE size AS ENUM ('S', 's', 'M');
CREATE FUNCTION alike(size, size) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS
  'BEGIN RETURN lower($1::text) = lower($2::text); END';
CREATE FUNCTION compare_alike(size, size) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS
  'BEGIN RETURN bttextcmp(lower($1::text), lower($2::text)); END';
CREATE OPERATOR = (FUNCTION = alike, LEFTARG = size, RIGHTARG = size, COMMUTATOR = =,
  RESTRICT = eqsel, JOIN = eqjoinsel, MERGES);
CREATE FUNCTION before(size, size) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS
  'BEGIN RETURN compare_alike($1, $2) < 0; END';
CREATE OPERATOR < (FUNCTION = before, LEFTARG = size, RIGHTARG = size);
CREATE OPERATOR CLASS size_ops DEFAULT FOR TYPE size USING btree AS
  OPERATOR 1 <, OPERATOR 3 =, FUNCTION 1 compare_alike(size, size);
CREATE TABLE sized AS SELECT i AS id, (ARRAY['S', 'M', 'M', 'M', 'M'])[1 + i % 5]::size AS size
FROM generate_series(1, 40000) i;
CREATE TABLE wanted AS SELECT 's'::size AS size, 1 AS one;
ANALYZE sized, wanted;
SELECT checked.* FROM checked(
  'SELECT f.id FROM sized f JOIN wanted w USING (size) WHERE one = 1 AND f.id < 20000');
SELECT checked.* FROM checked(
  'SELECT f.id FROM wanted w LEFT JOIN sized f ON f.size = w.size AND f.id < 20000 WHERE one = 1');
SELECT checked.* FROM checked('SELECT f.id FROM sized f
  JOIN wanted w ON f.size OPERATOR(pg_catalog.=) w.size WHERE one = 1 AND f.id < 20000');
-- The same for an operator that was added to an operator family of the server.
BEGIN;
CREATE FUNCTION alike(varchar, varchar) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS
  'BEGIN RETURN lower($1) = lower($2); END';
CREATE FUNCTION compare_alike(varchar, varchar) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS
  'BEGIN RETURN bttextcmp(lower($1), lower($2)); END';
CREATE OPERATOR ==== (FUNCTION = alike, LEFTARG = varchar, RIGHTARG = varchar, COMMUTATOR = ====,
  RESTRICT = eqsel, JOIN = eqjoinsel, MERGES);
CREATE FUNCTION before(varchar, varchar) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS
  'BEGIN RETURN compare_alike($1, $2) < 0; END';
CREATE OPERATOR <<< (FUNCTION = before, LEFTARG = varchar, RIGHTARG = varchar);
ALTER OPERATOR FAMILY text_ops USING btree ADD
  OPERATOR 1 <<< (varchar, varchar), OPERATOR 3 ==== (varchar, varchar),
  FUNCTION 1 (varchar, varchar) compare_alike(varchar, varchar);
CREATE TABLE louder AS SELECT kind, upper(code)::varchar AS code FROM dim;
ANALYZE louder;
SELECT checked.* FROM unnest(ARRAY['JOIN', 'LEFT JOIN']) how, checked(format(
  'SELECT f.id FROM (SELECT code FROM louder WHERE kind = 7) d
   %s fact f ON f.code ==== d.code AND f.id < 20000', how));
ROLLBACK;

-- A table with a volatile condition gets no filter, because the condition must be computed for
-- every row.
CREATE SEQUENCE turns;
SELECT checked.* FROM checked('SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id
  WHERE d.kind = 7 AND nextval(''turns'') > 0 * f.id');
SELECT last_value FROM turns;
-- A table of a query with a volatile join condition gets none, either. A condition of another table
-- is evaluated as often with a filter.
CREATE TABLE other AS SELECT i AS id FROM generate_series(0, 30000) i;
ANALYZE other;
SELECT line IS NOT NULL AS filter FROM unnest(ARRAY['f.id - o.id < random()',
    '2 - o.id < random()']) condition,
  line_of('SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id JOIN other o ON o.id = f.id
    WHERE d.kind = 7 AND ' || condition, 'Bloom Filter Scan') line;

-- Partitions, inheritance children, and other relations.
CREATE TABLE parted (LIKE fact) PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF parted FOR VALUES FROM (0) TO (15000);
CREATE TABLE high (gone int, LIKE fact);
ALTER TABLE high DROP COLUMN gone;
ALTER TABLE parted ATTACH PARTITION high FOR VALUES FROM (15000) TO (50000);
INSERT INTO parted SELECT * FROM fact;
CREATE TABLE dims (LIKE dim) PARTITION BY LIST (kind);
CREATE TABLE seven PARTITION OF dims FOR VALUES IN (7);
CREATE TABLE others PARTITION OF dims DEFAULT;
INSERT INTO dims SELECT * FROM dim;
CREATE TABLE child () INHERITS (fact);
CREATE TABLE child_dim () INHERITS (dim);
INSERT INTO child SELECT * FROM fact WHERE id < 10000;
INSERT INTO child_dim SELECT * FROM dim WHERE id < 100;
CREATE MATERIALIZED VIEW seen AS SELECT * FROM dim;
VACUUM ANALYZE fact, dim, parted, dims, child, child_dim, seen;
SELECT what, checked.* FROM (VALUES
  ('partitioned', 'SELECT f.id FROM parted f JOIN dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('one partition',
    'SELECT f.id FROM parted f JOIN dim d ON f.dim = d.id WHERE d.kind = 7 AND f.id < 9000'),
  ('partitioned keys', 'SELECT f.id FROM fact f JOIN dims d ON f.dim = d.id WHERE d.kind = 7'),
  ('all partitioned keys',
    'SELECT f.id FROM fact f JOIN dims d ON f.dim = d.id WHERE d.nation = 8'),
  ('both', 'SELECT f.id FROM parted f JOIN dims d ON f.dim = d.id WHERE d.nation = 8'),
  ('children', 'SELECT f.id FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('ONLY', 'SELECT f.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('materialized view', 'SELECT f.id FROM fact f JOIN seen d ON f.dim = d.id WHERE d.kind = 7'),
  ('nullable side',
    'SELECT f.id, d.id FROM dims d LEFT JOIN parted f ON f.dim = d.id WHERE d.nation = 8'),
  ('UNION ALL',
    'SELECT f.id FROM (SELECT * FROM fact UNION ALL SELECT * FROM parted) f JOIN dim d ON f.dim =
      d.id WHERE d.kind = 7'))
  q (what, query), checked(query);
SELECT ratio FROM counted('SELECT f.id FROM parted f JOIN ONLY dim d ON f.dim = d.id WHERE
  d.kind = 7', '(SELECT bf_agg(id) FROM ONLY dim WHERE kind = 7) @> f.dim', 'off');
-- One InitPlan serves all partitions.
SELECT * FROM explained(
  'SELECT f.id FROM parted f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7');

-- Parallel plans. The InitPlan is above all processes.
BEGIN;
\i sql/include/parallel.sql
SELECT * FROM explained(
  'SELECT count(*) FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7');
-- A build of a large table may have workers of its own, if starting them costs little.
CREATE TABLE large_dim AS SELECT i AS id, i % 100 AS kind FROM generate_series(1, 60000) i;
CREATE TABLE large_fact AS SELECT 1 + i % 60000 AS dim FROM generate_series(1, 200000) i;
ANALYZE large_dim, large_fact;
SELECT * FROM explained(
  'SELECT count(*) FROM large_fact f JOIN large_dim d ON f.dim = d.id WHERE d.kind = 7');
SET LOCAL parallel_setup_cost = 100;
SELECT line_of('SELECT count(*) FROM large_fact f JOIN large_dim d ON f.dim = d.id
  WHERE d.kind = 7', 'Bloom Filter Build') AS build;
SET LOCAL parallel_setup_cost = 0;
SELECT checked.* FROM (VALUES
  ('SELECT f.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('SELECT count(*) FROM parted f JOIN dims d ON f.dim = d.id WHERE d.nation = 8'),
  ('SELECT n.id, x.id FROM (SELECT f.id FROM ONLY fact f JOIN few d ON f.dim = d.id OFFSET 0) x
      JOIN nation n ON n.id = x.id'),
  ('SELECT g.id FROM ONLY fact g JOIN apart a ON g.id = a.id'),
  ('SELECT nation, (SELECT count(*) FROM ONLY fact f JOIN few d ON f.dim = d.id) FROM ONLY dim'))
  q (query), checked(query);
ROLLBACK;

-- To test parallel queries, the server can put a finished plan below a Gather. Such a query gets no
-- InitPlan for a filter.
BEGIN;
SET LOCAL max_parallel_workers_per_gather = 2;
SELECT set_config(name, 'on', true) FROM pg_settings
WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT checked.* FROM checked(
  'SELECT f.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7');
ROLLBACK;

-- Statements that change rows: the table that they change, and the tables that they read beside it.
CREATE TABLE changed AS SELECT * FROM ONLY fact;
CREATE TABLE made (id int);
ANALYZE changed;
SELECT filters(plan) FROM unnest(ARRAY[
  'UPDATE changed f SET k = 1 FROM few d WHERE f.dim = d.id',
  'UPDATE nation n SET region = 1 FROM fact f JOIN few d ON f.dim = d.id WHERE n.id = f.k',
  'DELETE FROM changed f USING few d WHERE f.dim = d.id',
  'INSERT INTO made SELECT f.id FROM ONLY fact f JOIN few d ON f.dim = d.id',
  'UPDATE nation n SET region = 1
     WHERE id IN (SELECT max(f.id) FROM ONLY fact f JOIN few d ON f.dim = d.id)',
  'WITH x AS (DELETE FROM nation RETURNING id)
     SELECT f.id FROM ONLY fact f JOIN few d ON f.dim = d.id'])
  query, plan_of(query) plan;

-- Row security. A filter neither drops rows of a table with policies, nor takes its keys from one.
CREATE ROLE join_filter_reader;
GRANT USAGE ON SCHEMA join_filter TO join_filter_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA join_filter TO join_filter_reader;
CREATE FUNCTION leak(int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
  'BEGIN IF $1 > 1000 THEN RAISE ''saw %'', $1; END IF; RETURN true; END';
ALTER TABLE changed ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON changed USING (id < 1000);
CREATE TABLE hidden AS SELECT * FROM ONLY dim;
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON hidden USING (id < 1000);
GRANT SELECT ON changed, hidden TO join_filter_reader;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM ONLY dim WHERE id < 1000;
GRANT SELECT ON barrier TO join_filter_reader;
-- The constant of this policy becomes a condition of `dim`, which is evaluated before the query's.
CREATE TABLE owned AS SELECT 7 AS kind;
ALTER TABLE owned ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON owned USING (kind = 7);
CREATE FUNCTION picky(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS
  'BEGIN IF $1 <> 7 THEN RAISE ''saw %'', $1; END IF; RETURN true; END';
GRANT SELECT ON owned TO join_filter_reader;
ANALYZE hidden, owned;
SET ROLE join_filter_reader;
SELECT what, checked.* FROM (VALUES
  ('rows',
    'SELECT f.id FROM changed f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7 AND leak(f.id)'),
  ('keys',
    'SELECT f.id FROM ONLY fact f JOIN hidden d ON f.dim = d.id WHERE d.kind = 7 AND leak(d.id)'),
  ('a third table',
    'SELECT f.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id JOIN hidden h ON h.id = f.k
      WHERE d.kind = 7 AND leak(h.id)'),
  ('security barrier',
    'SELECT f.id FROM ONLY fact f JOIN barrier d ON f.dim = d.id WHERE d.kind = 7 AND
      leak(d.id)'),
  ('a condition of a policy',
    'SELECT f.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id JOIN owned o ON o.kind = d.kind
      WHERE picky(d.kind)'))
  q (what, query), checked(query);
RESET ROLE;

-- UNION ALL in FROM. Each table of it has filters of its own.
CREATE TABLE today (fixed char(20), dim int, name text COLLATE "C", code varchar(30), id int,
  shop smallint, item int, moment timestamp);
INSERT INTO today SELECT fixed, dim, name, code, -id, id % 50, id / 50 % 50, moment
FROM ONLY fact WHERE id % 2 = 0;
CREATE VIEW all_facts AS SELECT id, dim, fixed, code, moment FROM parted
  UNION ALL SELECT id, dim, fixed, code, moment FROM today;
CREATE VIEW more_facts AS SELECT id, dim FROM all_facts UNION ALL SELECT id, dim FROM fact;
CREATE VIEW secured WITH (security_barrier) AS
  SELECT id, dim FROM ONLY fact UNION ALL SELECT id, dim FROM today;
VACUUM ANALYZE today;
CREATE TABLE guarded (id int, dim int) PARTITION BY RANGE (id);
CREATE TABLE guarded_1 PARTITION OF guarded FOR VALUES FROM (0) TO (50000);
INSERT INTO guarded SELECT id, dim FROM ONLY fact;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON guarded USING (id < 1000);
ANALYZE guarded;
GRANT SELECT ON today, all_facts, secured, guarded TO join_filter_reader;
SELECT what, checked.* FROM (VALUES
  ('view', 'SELECT f.id FROM all_facts f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('view of a view',
    'SELECT f.id FROM more_facts f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7'),
  ('condition',
    'SELECT f.id FROM all_facts f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7 AND f.id <
      9000'),
  ('EXISTS',
    'SELECT f.id FROM all_facts f WHERE EXISTS (SELECT FROM ONLY dim d WHERE f.dim = d.id AND d.kind
      = 7)'),
  ('nullable side',
    'SELECT f.id, d.id FROM ONLY dim d LEFT JOIN all_facts f ON f.dim = d.id WHERE d.kind = 7'),
  ('preserved side',
    'SELECT f.id, d.id FROM all_facts f LEFT JOIN ONLY dim d ON f.dim = d.id AND d.kind = 7'),
  ('full join',
    'SELECT f.id, d.id FROM all_facts f FULL JOIN (SELECT * FROM ONLY dim WHERE kind = 7) d ON f.dim
      = d.id'),
  ('NOT EXISTS',
    'SELECT f.id FROM all_facts f WHERE NOT EXISTS (SELECT FROM ONLY dim d WHERE f.dim = d.id AND
      d.kind = 7)'),
  ('preserved side of the join above',
    'SELECT f.id, d.id, n.id FROM (dim d LEFT JOIN all_facts f ON f.id <= d.kind) LEFT JOIN nation n
      ON n.id = f.id AND f.dim = d.id WHERE d.kind = 7'),
  ('made NULL below',
    'SELECT f.id, d.id, n.id FROM ONLY dim d LEFT JOIN (nation n LEFT JOIN all_facts f ON f.id =
      n.id + 0) ON CASE WHEN f.dim IS NULL THEN 7 ELSE f.dim END = d.id WHERE d.kind = 7'),
  ('snowflake',
    'SELECT f.id FROM all_facts f JOIN ONLY dim d ON f.dim = d.id JOIN nation n ON d.nation = n.id
      WHERE n.name = ''nation 7'''),
  ('rows',
    'SELECT f.id, note FROM (SELECT id, shop, item FROM sale UNION ALL SELECT id, shop, item FROM
      today UNION ALL SELECT id, shop, 7 FROM sold) f JOIN stock t USING (shop, item)
      WHERE t.amount = 3'),
  ('keys of a UNION ALL',
    'SELECT f.id FROM ONLY fact f JOIN (SELECT id, kind FROM ONLY dim UNION ALL SELECT id, kind FROM
      seen) d ON f.dim = d.id WHERE d.kind = 7'),
  ('neighbour',
    'SELECT f.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id JOIN (SELECT id FROM nation WHERE
      id = 8 UNION ALL SELECT id FROM region WHERE id = 9) n ON d.nation = n.id'),
  ('row marks',
    'SELECT f.id FROM all_facts f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7 FOR SHARE OF d'),
  ('volatile',
    'SELECT f.id FROM all_facts f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7 AND
      nextval(''turns'') > 0 * f.id'),
  ('expression',
    'SELECT f.id FROM all_facts f JOIN ONLY dim d ON CASE WHEN f.dim > 9 THEN f.dim END = d.id WHERE
      d.kind = 7'),
  ('by hand',
    'SELECT f.id FROM all_facts f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7 AND (SELECT
      bf_agg(id) FROM ONLY dim WHERE kind = 7) @> f.dim')) q (what, query), checked(query);
-- Other branches beside the table today. Some of them get no filter.
SELECT what, checked.* FROM (VALUES
  ('another column', 'SELECT id, other FROM ONLY fact'),
  ('same table', 'SELECT id, dim FROM today'),
  ('partitions', 'SELECT id, dim FROM parted'),
  ('children', 'SELECT id, dim FROM fact'),
  ('constant', 'SELECT id, 7 FROM ONLY fact'),
  ('NULL', 'SELECT id, NULL FROM ONLY fact'),
  ('cast', 'SELECT id, big::int FROM ONLY fact'),
  ('can fail', 'SELECT id, 4000 / (1 + k) FROM ONLY fact'),
  ('cannot fail', 'SELECT id, CASE WHEN dim > 9 THEN dim END FROM ONLY fact'),
  ('WHERE', 'SELECT id, dim FROM ONLY fact WHERE id < 9000'),
  ('join', 'SELECT f.id, f.dim FROM ONLY fact f JOIN nation n ON n.id = f.k'),
  ('another type', 'SELECT id, big FROM ONLY fact'),
  ('GROUP BY', 'SELECT max(id), dim FROM ONLY fact GROUP BY dim'),
  ('LIMIT', '(SELECT id, dim FROM ONLY fact ORDER BY id LIMIT 9000)'),
  ('volatile', 'SELECT id + (random() * 0)::int, dim FROM ONLY fact'),
  ('sample', 'SELECT id, dim FROM ONLY fact TABLESAMPLE bernoulli (50) REPEATABLE (1)'),
  ('no table', 'VALUES (1, 7), (2, 8)')) q (what, branch), checked(format(
    'SELECT f.id FROM (SELECT id, dim FROM today UNION ALL %s) f JOIN ONLY dim d ON f.dim = d.id
     WHERE d.kind = 7', branch));
-- The value of a branch fails for rows that a condition rejects.
SELECT checked.* FROM checked('SELECT f.id FROM (SELECT id, other, k, 4000 / k AS ratio FROM ONLY
  fact UNION ALL SELECT id, dim, item, dim FROM today) f JOIN ONLY dim d ON f.ratio = d.id
  JOIN ONLY dim e ON f.other = e.id WHERE d.kind < 9 AND e.kind = 7 AND f.k <> 0');
-- The object identifiers of tables are no columns.
CREATE TABLE origin AS SELECT oid, oid::int % 100 + 1 AS kind FROM pg_class;
UPDATE origin SET kind = 0 WHERE oid = 'today'::regclass;
ANALYZE origin;
SELECT checked.* FROM checked('SELECT f.id FROM (SELECT id, tableoid AS origin FROM ONLY fact UNION
  ALL SELECT id, tableoid FROM today) f JOIN origin o ON f.origin = o.oid WHERE o.kind = 0');
-- Columns with other lengths, other collations and other types than the column of the other branch.
SELECT what, checked.* FROM (VALUES
  ('name COLLATE "C"', 'name COLLATE "C"'), ('name COLLATE any_case', 'name COLLATE any_case'),
  ('code', 'code'), ('fixed', 'fixed'), ('moment', 'day')) q (what, key),
  checked(format('SELECT f.id FROM (SELECT id, name, code, fixed, moment FROM ONLY fact UNION ALL
    SELECT id, name, code, fixed, moment FROM today) f JOIN ONLY dim d ON f.%s = d.%s
    WHERE d.kind = 7', what, key));
SELECT checked.* FROM checked('SELECT f.id FROM (SELECT id, code::text AS name FROM ONLY fact UNION
  ALL SELECT id, name COLLATE "default" FROM today UNION ALL SELECT id, name FROM ONLY fact) f
  JOIN ONLY dim d ON f.name = d.name WHERE d.kind = 7');
-- A branch that depends on a row of another table.
SELECT checked.* FROM unnest(ARRAY['f.dim = d.id', 'f.nation = n.id']) condition, checked(format(
  'SELECT f.id FROM ONLY dim d, nation n, LATERAL (SELECT id, dim, d.nation FROM ONLY fact
   UNION ALL SELECT id, dim, item FROM today) f
   WHERE d.kind = 7 AND d.id < 200 AND n.id = 9 AND %s', condition));
-- One InitPlan serves all branches, and all other tables with filters of the same keys.
SELECT * FROM explained(
  'SELECT f.id FROM all_facts f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7');
SELECT * FROM explained('SELECT f.id FROM all_facts f JOIN ONLY dim d ON f.dim = d.id
  JOIN nation n ON d.nation = n.id WHERE n.name = ''nation 7''');
SELECT * FROM explained('SELECT f.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id
  JOIN today t ON t.dim = d.id WHERE d.kind = 7');
-- Other keys of the same table have another InitPlan.
SELECT checked.* FROM checked('SELECT f.id, t.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id
  JOIN today t ON t.code = d.code WHERE d.kind = 7 AND d.id < 500');
-- The InitPlan costs too much for the first branch, where all rows have partners.
BEGIN;
CREATE TABLE wide AS SELECT i AS id, i * 31 % 1000 / 5 AS kind, repeat('w', 200) AS padding
FROM generate_series(1, 20000) i;
CREATE INDEX ON wide (kind);
CREATE TABLE matching AS SELECT f.id, w.id AS dim FROM ONLY fact f JOIN
  (SELECT id, row_number() OVER (ORDER BY id) AS place FROM wide WHERE kind = 7) w
  ON place = 1 + f.id % 100;
ANALYZE wide, matching;
SELECT checked.* FROM checked('SELECT f.id FROM (SELECT id, dim FROM matching UNION ALL
  SELECT id, dim FROM ONLY fact) f JOIN wide w ON f.dim = w.id WHERE w.kind = 7');
ROLLBACK;
-- It counts once: there are more branches than InitPlans in a query.
SELECT count(*) FROM jsonb_path_query(plan_of('SELECT f.id FROM (' || (SELECT
    string_agg('SELECT id, dim FROM ONLY fact', ' UNION ALL ') FROM generate_series(1, 20)) ||
  ') f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7'),
  'strict $.** ? (@."Bloom Filter" starts with "(")');
-- Building is paid once for all branches that are tables. One of them has too few rows for it.
CREATE TABLE little AS SELECT id, dim FROM ONLY fact WHERE id <= 1000;
CREATE TABLE many_keys AS SELECT i AS id, i % 100 AS kind FROM generate_series(1, 8000) i;
ANALYZE little, many_keys;
SELECT what, checked.* FROM (VALUES
  ('one', 'SELECT id, dim FROM little UNION ALL SELECT i, i FROM generate_series(1, 40000) i'),
  ('many', (SELECT string_agg('SELECT id, dim FROM little', ' UNION ALL ')
    FROM generate_series(1, 20)))) q (what, branches), checked(format(
    'SELECT f.id FROM (%s) f JOIN many_keys m ON f.dim = m.id WHERE m.kind = 7', branches));
-- Each branch has its own statistics.
CREATE TABLE half AS SELECT id, 7 + id % 40 * 50 AS dim FROM ONLY fact;
ANALYZE half;
SELECT node ->> 'Relation Name' AS name, round((node ->> 'Plan Rows')::numeric / 40000, 2) AS share
FROM plan_of('SELECT f.id FROM (SELECT id, dim FROM ONLY fact UNION ALL SELECT id, dim FROM half) f
  JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7') plan,
  jsonb_path_query(plan, 'strict $.** ? (@."Bloom Filter" starts with "(")') node;
-- In parallel.
BEGIN;
\i sql/include/parallel.sql
SELECT * FROM explained(
  'SELECT count(*) FROM all_facts f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7');
SELECT checked.* FROM checked(
  'SELECT count(*), sum(f.id) FROM all_facts f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7');
ROLLBACK;
-- Policies and security barriers.
ALTER FUNCTION leak(int) STABLE;
SET ROLE join_filter_reader;
SELECT what, checked.* FROM (VALUES
  ('policy',
    'SELECT f.id FROM (SELECT id, dim FROM changed UNION ALL SELECT id, dim FROM today) f JOIN ONLY
      dim d ON f.dim = d.id WHERE d.kind = 7 AND leak(f.id)'),
  ('policy of a partitioned table',
    'SELECT f.id FROM (SELECT id, dim FROM guarded UNION ALL SELECT id, dim FROM today) f JOIN ONLY
      dim d ON f.dim = d.id WHERE d.kind = 7 AND leak(f.id)'),
  ('keys',
    'SELECT f.id FROM all_facts f JOIN hidden d ON f.dim = d.id WHERE d.kind = 7 AND leak(d.id)'),
  ('security barrier',
    'SELECT f.id FROM secured f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7 AND
      leak(f.id % 1000)'))
  q (what, query), checked(query);
RESET ROLE;

-- A user who may not call the functions gets no filter and no error. This is also true of a plan
-- that was made for another user.
REVOKE EXECUTE ON FUNCTION bf_join_agg("any") FROM public;
PREPARE p AS SELECT count(*) FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7;
SET plan_cache_mode = force_generic_plan;
EXECUTE p;
SET ROLE join_filter_reader;
EXECUTE p;
SELECT * FROM explained('EXECUTE p');
RESET ROLE;
-- The same for a plan that has no filter in the end, because an index was cheaper.
CREATE TABLE delivered AS SELECT i AS id, i % 2000 AS article
FROM generate_series(1, 100000) i;
CREATE TABLE article AS SELECT i AS id, i % 500 AS shelf FROM generate_series(1, 2000) i;
CREATE TABLE shelf AS SELECT i AS id, i % 100 AS room FROM generate_series(1, 500) i;
CREATE INDEX ON delivered (article);
CREATE INDEX ON article (shelf);
ANALYZE delivered, article, shelf;
GRANT SELECT ON delivered, article, shelf TO join_filter_reader;
SET random_page_cost = 1.1;
PREPARE unfiltered AS SELECT count(*) FROM delivered JOIN article ON article.id = delivered.article
  JOIN shelf ON shelf.id = article.shelf WHERE room = 3;
EXECUTE unfiltered;
SET ROLE join_filter_reader;
EXECUTE unfiltered;
RESET ROLE;
RESET random_page_cost;
GRANT EXECUTE ON FUNCTION bf_join_agg("any") TO public;

-- A kept plan raises no error when a filter becomes larger than allowed. The filter then matches
-- every value.
PREPARE every AS SELECT count(*) FROM fact f JOIN dim d ON f.dim = d.id WHERE d.kind < 30;
EXECUTE every;
SET bloomfilter.max_size = '1kB';
SELECT * FROM explained('EXECUTE every');
EXECUTE every;
SELECT count(*) FILTER (WHERE f @> i) AS every_value
FROM (SELECT bf_join_agg(i) AS f FROM generate_series(1, 5000) i) built,
  generate_series(1, 10000) i;
EXPLAIN (COSTS OFF) SELECT bf_join_agg(id) FROM ONLY fact;
SELECT bool_and(f @> i) AS every_value
FROM (SELECT bf_join_agg(id) AS f FROM ONLY fact) built, generate_series(-1000, 0) i;
SELECT bf_agg(id) FROM ONLY fact;
RESET bloomfilter.max_size;
SELECT bf_join_agg(i) = bf_agg(i) AS same FROM generate_series(1, 5000) i;
SELECT bf_join_agg(i) = bf_agg(i) AS same FROM generate_series(1, 0) i;
DEALLOCATE every;

-- A kept plan is made again when the extension is dropped.
DEALLOCATE p;
PREPARE p AS SELECT count(*) FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7;
SELECT * FROM explained('EXECUTE p');
BEGIN;
SET LOCAL client_min_messages = error;
DROP EXTENSION bloomfilter CASCADE;
SELECT * FROM explained('EXECUTE p');
EXECUTE p;
ROLLBACK;
EXECUTE p;
DEALLOCATE p;
RESET plan_cache_mode;

-- The expected rows of a scan with a filter. 1 % of the rows have a partner, less 2 % of them with
-- a NULL key. Of the other rows, 1 % are false positives. The rows on the first sixteenth of the
-- pages are not probed, because the filter is not built yet.
SELECT round(jsonb_path_query_first(plan, 'strict $.** ? (@."Bloom Filter" starts with "(")
    ."Plan Rows"')::numeric / 40000, 2) AS share
FROM plan_of('SELECT f.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7') plan;

-- A filter that would be too large is not built.
SET bloomfilter.max_size = '1kB';
SELECT checked.* FROM checked(
  'SELECT f.id FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = 7');
RESET bloomfilter.max_size;

-- Parameters.
PREPARE q (int) AS
  SELECT count(*) FROM ONLY fact f JOIN ONLY dim d ON f.dim = d.id WHERE d.kind = $1;
SET plan_cache_mode = force_generic_plan;
SELECT * FROM explained('EXECUTE q (7)');
EXECUTE q (7);
EXECUTE q (8);
EXECUTE q (NULL);
RESET plan_cache_mode;

-- If a filter drops no rows, contrary to the statistics, the scan stops probing it for a while.
CREATE TABLE wrong AS SELECT i AS id, i % 1000 AS kind FROM generate_series(1, 5000) i;
CREATE TABLE asking AS SELECT 1 + i % 5000 AS wrong, i AS id FROM generate_series(1, 400000) i;
ANALYZE wrong, asking;
UPDATE wrong SET kind = 1;
CREATE FUNCTION counts(query text, OUT removed numeric, OUT unprobed numeric) LANGUAGE sql AS $$
  SELECT jsonb_path_query_first(plan, 'strict $.**."Rows Removed by Bloom Filter"')::numeric,
    jsonb_path_query_first(plan, 'strict $.**."Rows Not Probed"')::numeric
  FROM plan_of(query, 'ANALYZE, TIMING OFF') plan
$$;
SELECT removed, unprobed > 300000 AS skips FROM counts(
  'SELECT a.id FROM asking a JOIN wrong w ON a.wrong = w.id WHERE w.kind = 1');
BEGIN;
\i sql/include/parallel.sql
SET LOCAL parallel_leader_participation = off;
SELECT removed, unprobed > 100000 AS "also in workers" FROM counts(
  'SELECT a.id FROM asking a JOIN wrong w ON a.wrong = w.id WHERE w.kind = 1');
ROLLBACK;
SELECT removed, unprobed FROM counts(
  'SELECT a.id FROM asking a WHERE (SELECT bf_agg(id) FROM wrong WHERE kind = 1) @> a.wrong');
UPDATE wrong SET kind = 2 WHERE id > 1;
SELECT removed > 390000 AS removed, unprobed < 1000 AS "only the first page" FROM counts(
  'SELECT a.id FROM asking a JOIN wrong w ON a.wrong = w.id WHERE w.kind = 1');

DROP OWNED BY join_filter_reader;
DROP ROLE join_filter_reader;
