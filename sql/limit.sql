-- bloomfilter.max_size: no larger filter is made, and no filter is enlarged beyond the limit.
-- Existing filters can still be used.
CREATE SCHEMA limits;
SET search_path = limits, public;
\i sql/include/outcome.sql

SELECT bf_check(bf_create(1)) IS NULL AS loaded;
SHOW bloomfilter.max_size;
SELECT unit, context, vartype, min_val, max_val, boot_val FROM pg_settings
WHERE name = 'bloomfilter.max_size';

-- Filters larger than the limit set below.
CREATE TABLE large AS
  SELECT bf_create(100000) + 1 AS f, bf_agg(i, 100000) AS sized, bf_agg(i) AS self_sized,
    bf_add_all(bf_create(10000, grow => true), array_agg(i)) AS growing,
    cbf_create(30000) + 1 AS counting, cbf_create(100000) + 1 AS four_times,
    cf_create(100000) + 1 AS cuckoo,
    bf_create(100000, layout => 'parquet') + 'a'::text AS parquet,
    bf_create(100000, layout => 'guava') + 'a'::text AS guava
  FROM generate_series(1, 100000) i;
CREATE TABLE files AS
  SELECT bf_to_parquet(parquet) AS parquet, bf_to_guava(guava) AS guava FROM large;
CREATE TABLE older AS
  SELECT bf_partial_agg(bf_element_of(i), 60000) AS no_rows FROM generate_series(1, 0) i;

SET bloomfilter.max_size = '64kB';

-- A filter at the limit itself, and one a little larger.
SELECT pg_column_size(bf_create_by_size(8 * 64 * 1024, 3)) AS bytes;
SELECT bf_create_by_size(8 * 64 * 1024 + 1, 3);
SELECT cbf_create(100000);
SELECT cf_create(100000);
SELECT bf_add_all(bf_create(10000, grow => true), array(SELECT generate_series(1, 100000)));

-- Functions that make filters.
SELECT call, outcome('SELECT ' || call)
FROM (VALUES ('bf_create(50000)'), ('bf_create(60000)'), ('bf_create(50000, 0.001)'),
  ('bf_create(30000, grow => true)'),
  ('bf_create(45000, grow => true)'), -- its first link has a quarter of the rate
  ('bf_create(60000, grow => true)'), ('bf_create(50000, layout => ''guava'')'),
  ('bf_create(60000, layout => ''guava'')'), ('bf_create(40000, layout => ''parquet'')'),
  ('bf_create(60000, layout => ''parquet'')'), ('cbf_create(10000)'), ('cbf_create(20000)'),
  ('cf_create(40000)'), ('cf_create(60000)'), ('(SELECT counting::bloomfilter FROM large)'),
  ('(SELECT four_times::bloomfilter FROM large)'), ('(SELECT bf_merge_agg(no_rows) FROM older)'),
  ('(SELECT bloomfilter_partial_final(no_rows) FROM older)')) v(call);
SELECT call, below, above
FROM (VALUES ('bf_agg(i)', 50000, 60000), ('bf_agg(i, NULL, 0.001)', 30000, 40000),
    ('bf_agg(i, 50000)', 10, NULL), ('bf_agg(i, 60000)', NULL, 1),
    ('bf_agg(i, 50000, 0.001)', NULL, 1), ('bf_agg(i, 50000, 0.01, ''guava'')', 10, NULL),
    ('bf_agg(i, 60000, 0.01, ''guava'')', NULL, 1),
    ('bf_agg(i, 60000, 0.01, ''parquet'')', NULL, 1), ('cbf_agg(i)', 10000, 20000),
    ('cbf_agg(i, 10000)', 10, NULL), ('cbf_agg(i, 20000)', NULL, 1), ('cf_agg(i)', 40000, 60000),
    ('cf_agg(i, 40000)', 10, 60000), ('cf_agg(i, 60000)', NULL, 1)) v(call, few, many),
  outcome(format('SELECT %s FROM generate_series(1, %s) i', call, coalesce(few, many))) below,
  outcome(format('SELECT %s FROM generate_series(1, %s) i', call, coalesce(many, few))) above;
SELECT outcome(format('SELECT cbf_agg(i%s)
      OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND 20000 FOLLOWING)
    FROM generate_series(1, %s) i LIMIT 1', capacity, rows)) AS framed
FROM (VALUES (', 10000', 10), (', 20000', 10), ('', 10000), ('', 20000)) v(capacity, rows);
-- An aggregate with a capacity fails at the first row, before it allocates anything.
CREATE SEQUENCE rows;
SELECT outcome(format('SELECT %s(nextval(''rows''), 60000) FROM generate_series(1, 1000)', agg)),
  lastval()
FROM unnest(array['bf_agg', 'cbf_agg', 'cf_agg']) agg;

-- Imports. test/t/013_interop.pl tests those from RedisBloom, with its files.
SELECT outcome('SELECT bf_from_parquet(parquet, ''BYTE_ARRAY'') FROM files') AS parquet,
  outcome('SELECT bf_from_guava(guava, ''string_utf8'') FROM files') AS guava;

-- Filters that become larger: by growth, and as unions of several links.
CREATE TABLE grown AS
  SELECT bf_add_all(bf_create(10000, grow => true), array(SELECT generate_series(1, 25000))) AS f;
SELECT links, bits / 8 AS bytes FROM grown, bf_info(f);
SELECT outcome(format('SELECT bf_add_all(f, array(SELECT generate_series(1, %s))) FROM grown', n))
FROM (VALUES (25010), (40000)) v(n);
CREATE FUNCTION self_sized(first int, last int) RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_agg(i) FROM generate_series(first, last) i';
SELECT outcome('SELECT self_sized(1, 20000) | self_sized(1, 20001)') AS together,
  outcome('SELECT self_sized(1, 30000) | self_sized(1, 30002)') AS covered,
  outcome('SELECT self_sized(1, 30000) | self_sized(3, 30002)') AS too_large,
  outcome('SELECT bf_union_agg(self_sized(n, n + 24999)) FROM generate_series(1, 75001, 25000) n')
    AS agg,
  outcome('SELECT self_sized | bf_create(10) FROM large') AS with_a_large_one \gx

-- Existing filters can be probed, changed, made smaller, united in place, shown, exported and
-- restored.
SELECT f @> 1 AS "a member is found",
  NOT f @> 2 AS "another is not",
  f + 2 @> 2 AS "+ adds",
  bf_contains_all(bf_add_all(f, '{2,3}'::int[]), '{1,2,3}'::int[]) AS "bf_add_all adds",
  growing + 1 = growing AS "a known value is known",
  bf_clear(f) @> 1 AS "cleared has a member",
  bf_growable(f) @> 1 AS "growable has a member",
  bf_fold(f, 70000) @> 1 AS "folded has a member",
  (f | sized) = sized AS "a union in place",
  (f & sized) @> 1 AS "an intersection has a member",
  bf_check(self_sized) IS NULL AS "is sound",
  bf_count(self_sized) > 99000 AS "count is right",
  f::text::bloomfilter = f AS "text round trip",
  f::bytea::bloomfilter = f AS "bytea round trip",
  bf_to_parquet(parquet) IS NOT NULL AS "a file for Parquet",
  bf_to_guava(guava) IS NOT NULL AS "a file for Guava"
FROM large \gx
SELECT counting @> 1 AS "counting, a member is found",
  counting + 2 @> 2 AS "counting, + adds",
  NOT counting - 1 @> 1 AS "counting, - removes",
  (cbf_info(four_times)).bytes,
  cbf_multiplicity(cbf_union(counting, counting), 1) AS united,
  counting::text::countingbloomfilter = counting AS "text round trip",
  cuckoo @> 1 AS "cuckoo, a member is found",
  cuckoo + 2 @> 2 AS "cuckoo, + adds",
  NOT cuckoo - 1 @> 1 AS "cuckoo, - removes",
  (cf_info(cuckoo)).bytes,
  cf_multiplicity(cf_union(cuckoo, cuckoo), 1) AS "cuckoo, united",
  cuckoo::bytea::cuckoofilter = cuckoo AS "bytea round trip"
FROM large \gx
SELECT count(*) AS sound FROM large
WHERE bf_union(sized, sized) = sized AND cbf_info(counting) IS NOT NULL;
SELECT (self_sized | self_sized) = self_sized AS of_self_sized, (growing | growing) = growing
  AS of_links FROM large;
\copy large TO 'results/limit.copy'
TRUNCATE large;
\copy large FROM 'results/limit.copy'
SELECT count(*) AS restored FROM large;

-- Functions that only calculate are not limited.
SELECT a.bytes AS bf_sizing, b.bytes AS cbf_sizing, c.bytes AS cf_sizing,
  bf_shard_count(1000000000, 0.01)
FROM bf_sizing(1000000, 0.01) a, cbf_sizing(1000000, 0.01) b, cf_sizing(1000000, 0.01) c;

-- Who may change the setting, and to which values.
SELECT outcome(format('SET bloomfilter.max_size = %L', value)) AS outcome, value
FROM (VALUES ('0'), ('-1'), ('1kB'), ('512MB'), ('513MB'), ('1GB'), ('large')) v(value);
SET bloomfilter.max_size = '64kB';
CREATE ROLE regress_bloomfilter_guest;
SET ROLE regress_bloomfilter_guest;
\set VERBOSITY sqlstate
SET bloomfilter.max_size = '512MB';
RESET bloomfilter.max_size;
\set VERBOSITY default
SHOW bloomfilter.max_size;
RESET ROLE;
RESET bloomfilter.max_size;
SHOW bloomfilter.max_size;
-- The same is true of a session that has not loaded the library yet. In such a session, anybody may
-- set any name with the prefix.
SELECT current_database() AS database \gset
ALTER DATABASE :"database" SET bloomfilter.max_size = '64kB';
\connect
SET search_path = limits, public;
SET ROLE regress_bloomfilter_guest;
SET bloomfilter.max_size = '512MB';
SELECT bf_create(1000000);
SHOW bloomfilter.max_size;
RESET ROLE;
ALTER DATABASE :"database" RESET bloomfilter.max_size;
DROP ROLE regress_bloomfilter_guest;
