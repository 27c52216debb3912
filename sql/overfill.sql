-- Filters that got more values than they were made for.
CREATE SCHEMA overfill;
SET search_path = overfill, public;
\i sql/include/outcome.sql
LOAD 'bloomfilter';
SHOW bloomfilter.overfill;

-- A sized bf_agg, bf_add_all and bf_union_agg say so, once a statement.
SELECT bf_count(bf_agg(i, 1000)) > 2900 AS done FROM generate_series(1, 3000) i;
SELECT bf_count(bf_add_all(bf_create(1000, 0.0001), array_agg(i))) > 2900 AS done
FROM generate_series(1, 3000) i;
SELECT bf_count(bf_union_agg(f)) > 2900 AS done
FROM (SELECT bf_agg(i, 1000) AS f FROM generate_series(1, 3000) i GROUP BY i / 500) f;
SELECT count(f) AS done
FROM (SELECT bf_agg(i, 100) AS f FROM generate_series(1, 3000) i GROUP BY i % 3 OFFSET 0) f;
SELECT bf_count(bf_agg(i, 1000)) > 2900 AS again FROM generate_series(1, 3000) i;

-- But not up to the capacity, nor a little above, nor for filters without an asked rate.
SELECT bf_agg(i, 1000) IS NOT NULL AS full_up FROM generate_series(1, 1000) i;
SELECT estimated_fpr / target_fpr BETWEEN 1.2 AND 2 AS little, saturated FROM
  (SELECT bf_agg(i, 100000) AS f FROM generate_series(1, 110000) i) x, bf_info(f);
SELECT bf_count(bf_agg(i)) > 2900 AS sized_itself FROM generate_series(1, 3000) i;
SELECT saturated
FROM (SELECT bf_add_all(bf_create_by_size(512, 6), array_agg(i)) AS f
    FROM generate_series(1, 3000) i) x, bf_info(f);
SELECT bf_add_all(f, ARRAY[1, 2]) = f AS nothing_new
FROM (SELECT bf_add_all(bf_create(10), array_agg(i)) AS f FROM generate_series(1, 1000) i) x;

-- A folded filter is full earlier.
SELECT bf_add_all(bf_fold(bf_create(100000), 2000), array_agg(i)) @> 1 AS folded
FROM generate_series(1, 20000) i;

-- One of another system's layout neither grows nor sizes itself.
SELECT bf_agg(i, 1000, 0.01, 'guava') @> 1 AS guava FROM generate_series(1, 3000) i;
SELECT bf_add_all(bf_create(1000, layout => 'spark'), array_agg(i)) @> 1 AS spark
FROM generate_series(1, 3000) i;

-- As set.
SET bloomfilter.overfill = error;
SELECT bf_agg(i, 1000) FROM generate_series(1, 3000) i;
\echo :LAST_ERROR_SQLSTATE
SELECT bf_add_all(bf_create(1000), array_agg(i)) FROM generate_series(1, 3000) i;
SELECT bf_agg(i, 1000) IS NOT NULL AS enough FROM generate_series(1, 1000) i;
SET bloomfilter.overfill = ignore;
SELECT bf_agg(i, 1000) IS NOT NULL AS ignored FROM generate_series(1, 3000) i;
SET bloomfilter.overfill = maybe;
-- From PostgreSQL 15 on, no other setting can have the prefix.
SELECT current_setting('server_version_num')::int < 150000
  OR outcome('SET bloomfilter.underfill = warn') = '42602' AS reserved;
