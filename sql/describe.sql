-- bf_describe writes a line for people, which says how large and how full a filter is.
CREATE SCHEMA describe;
SET search_path = describe, public;
SET bloomfilter.overfill = ignore;

\t\a
SELECT 'empty: ' || bf_describe(bf_create(1000));
SELECT 'with values: ' || bf_describe(bf_agg(x, 1000)) FROM generate_series(1, 990) x;
SELECT 'sized by itself: ' || bf_describe(bf_agg(x::text)) FROM generate_series(1, 1000) x;
SELECT 'low rate: ' || bf_describe(bf_agg(x, 1e5, 1e-9)) FROM generate_series(1, 1000) x;
SELECT 'saturated: ' || bf_describe(bf_agg(x, 1000)) FROM generate_series(1, 2990) x;
SELECT 'all bits set: ' || bf_describe(bf_agg(x, 1)) FROM generate_series(1, 5000) x;
SELECT 'unknown capacity, empty: ' || bf_describe(bf_create_by_size(512, 3));
SELECT 'unknown capacity: ' || bf_describe(bf_add_all(bf_create_by_size(8192, 6), array_agg(x)))
FROM generate_series(1, 900) x;
SELECT 'unknown capacity, all bits set: '
  || bf_describe(bf_add_all(bf_create_by_size(512, 6), array_agg(x)))
FROM generate_series(1, 5000) x;
SELECT 'intersection: ' || bf_describe(bf_agg(x, 1000) & bf_agg(x + 500, 1000))
FROM generate_series(1, 1000) x;
SELECT 'two links: ' || bf_describe(bf_agg(x) FILTER (WHERE x <= 1000) | bf_agg(x))
FROM generate_series(1, 5000) x;
SELECT 'two links of one size: ' || bf_describe(bf_agg(x) | bf_agg(x + 500))
FROM generate_series(1, 1000) x;
SELECT 'one link with values: ' || bf_describe(bf_agg(x) | bf_create(5000))
FROM generate_series(1, 1000) x;
SELECT 'forty links of one size: ' || bf_describe(bf_union_agg(f))
FROM (SELECT bf_agg(100 * n + x) AS f FROM generate_series(1, 40) n, generate_series(1, 50) x
  GROUP BY n) s;
SELECT 'growing, empty: ' || bf_describe(bf_create(100, grow => true));
SELECT 'grown: ' || bf_describe(bf_add_all(bf_create(100, grow => true), array_agg(x)))
FROM generate_series(1, 5000) x;
SELECT 'two grown ones: ' || bf_describe(bf_add_all(bf_create(100, grow => true), array_agg(x))
  | bf_add_all(bf_create(100, grow => true), array_agg(x + 500)))
FROM generate_series(1, 1000) x;
SELECT 'grown, cleared and grown: ' || bf_describe(bf_add_all(bf_clear(bf_add_all(
  bf_create(100, grow => true), array_agg(x))), array_agg(-x)))
FROM generate_series(1, 1000) x;
SELECT 'not made to grow, grown: ' || bf_describe(bf_add_all(bf_growable(bf_create(100, 0.001)),
  array_agg(x)))
FROM generate_series(1, 1000) x;
SELECT 'united, then grown: ' || bf_describe(bf_add_all(bf_growable(
  bf_agg(x) FILTER (WHERE x <= 100) | bf_agg(x) FILTER (WHERE x <= 500)), array_agg(x)))
FROM generate_series(1, 2000) x;
SELECT 'cleared and united: ' || bf_describe(bf_clear(bf_add_all(bf_create(100, grow => true),
  array_agg(x))) + 3 + 4 | bf_create(100, grow => true) + 3 + 4)
FROM generate_series(1, 150) x;
SELECT 'unknown capacity, and one that grows: ' || bf_describe((bf_create_by_size(512, 3) + 5)
  | (bf_create(100, grow => true) + 5));
SELECT 'hashes: ' || bf_describe(bf_add_hash(bf_create(10), 1));
SELECT layout || ', empty: ' || bf_describe(bf_create(1000, layout => layout))
FROM unnest('{guava,parquet,redis,spark,datasketches,hive}'::text[]) layout;
SELECT layout || ': ' || bf_describe(bf_agg(x, 1000, 0.01, layout))
FROM unnest('{guava,parquet,redis,spark,datasketches,hive}'::text[]) layout,
  generate_series(1, 1000) x
GROUP BY layout ORDER BY layout;
SELECT 'counting, empty: ' || cbf_describe(cbf_create(1000));
SELECT 'counting: ' || cbf_describe(cbf_agg(x, 1000)) FROM generate_series(1, 990) x;
SELECT 'counting, saturated: ' || cbf_describe(cbf_agg(x, 1000)) FROM generate_series(1, 2990) x;
SELECT 'counting, all counters set: ' || cbf_describe(cbf_agg(x, 1))
FROM generate_series(1, 5000) x;
SELECT 'cuckoo, empty: ' || cf_describe(cf_create(1000));
SELECT 'cuckoo: ' || cf_describe(cf_agg(x, 1000)) FROM generate_series(1, 990) x;
SELECT 'cuckoo, sized by itself: ' || cf_describe(cf_agg(x)) FROM generate_series(1, 990) x;
\t\a

-- The line agrees with bf_info, cbf_info and cf_info.
CREATE TABLE described AS
  SELECT 'integer' AS held, bf_describe(f) AS line, estimated_count, i.expected, bytes,
    estimated_fpr, target_fpr, fill, saturated
  FROM generate_series(100, 3000, 100) n,
    LATERAL (SELECT bf_agg(x, 1000) AS f FROM generate_series(1, n) x) s, bf_info(f) i
  UNION ALL
  SELECT 'countingbloomfilter of integer', cbf_describe(f), estimated_count, i.expected, bytes,
    estimated_fpr, target_fpr, fill, saturated
  FROM generate_series(100, 3000, 100) n,
    LATERAL (SELECT cbf_agg(x, 1000) AS f FROM generate_series(1, n) x) s, cbf_info(f) i
  UNION ALL
  SELECT 'cuckoofilter of integer', replace(cf_describe(f), 'values, ', 'values, about '), stored,
    i.expected, bytes, estimated_fpr, target_fpr, fill, false
  FROM generate_series(100, 3000, 100) n,
    LATERAL (SELECT cf_agg(x, 1000) AS f FROM generate_series(1, n) x) s, cf_info(f) i;
SELECT count(*),
  bool_and(line ~ format('^%s values, ', held)) AS "type and element type",
  bool_and(line ~ format(' values, about %s of %s, ', round(estimated_count), expected))
    AS "count and capacity",
  bool_and(line ~ format(', %s, rate ', pg_size_pretty(bytes))) AS size,
  bool_and(abs(substring(line FROM 'rate ([^ ]+) %')::float8 / estimated_fpr / 100 - 1) < 0.005)
    AS rate,
  bool_and(line ~ format(' of %s %% asked, ', 100 * target_fpr)) AS "rate asked",
  bool_and(line ~ format(', fill %s %% ', round(100 * fill))) AS fill,
  bool_and(length(substring(line FROM '\[(#*)\.*\]')) = round(20 * fill)) AS bar,
  bool_and(length(substring(line FROM '\[(.*)\]')) = 20) AS "length of the bar",
  bool_and(saturated = (line ~ ', saturated$')) AS saturated,
  count(*) FILTER (WHERE saturated) > 20 AS "some are saturated",
  bf_describe(NULL) IS NULL AS "null of null"
FROM described \gx
