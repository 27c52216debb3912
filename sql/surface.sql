-- Every function and operator once, with its documented result. equality.sql tests equal values of
-- different types. mismatch.sql and parameters.sql test errors.
CREATE SCHEMA surface;
SET search_path = surface, public;
\i sql/include/outcome.sql
\i sql/include/plan.sql

-- Making filters.
SELECT version, layout, element_type, seed, expected, target_fpr, hashes, bits, bytes, bits_set,
  fill, estimated_count, estimated_fpr, saturated, links
FROM bf_info(bf_create(1000)) \gx
SELECT layout, seed, expected, target_fpr, hashes, bits
FROM bf_info(bf_create(1000, 0.0001, seed => -5));
SELECT bf_create(10) = bf_create(expected => 10, fpr => 0.01, layout => 'lines', seed => 0,
                                 grow => false) AS defaults,
  bf_create(10, 0.001, 'guava') = bf_create(10, 0.001, layout => 'guava') AS "layout is third";
SELECT n, bits, hashes
FROM (VALUES (1), (512), (513), (100000)) v(n), bf_info(bf_create_by_size(n, 3)) ORDER BY n;
SELECT layout, seed, expected, target_fpr, saturated
FROM bf_info(bf_create_by_size(bits => 1, hashes => 16, seed => 9));
SELECT bits, bytes, hashes, bits_per_value FROM bf_sizing(expected => 1000, fpr => 0.01);
SELECT bool_and((s.bits, s.bytes, s.hashes) = (i.bits, i.bytes, i.hashes)) AS "info has the sizes",
  bool_and(i.bytes = pg_column_size(f)) AS "bytes are stored bytes",
  bool_and(i.bytes = 4 + octet_length(f::bytea)) AS "bytes are exported bytes",
  bool_and(bits_per_value = s.bits::float8 / n) AS "bits per value are of all"
FROM (VALUES (1), (10), (1000), (54321)) n(n),
  (VALUES (0.3), (0.01), (0.001), (1e-4), (1e-9)) r(rate),
  LATERAL (SELECT bf_create(n, rate) AS f) c, bf_sizing(n, rate) s, bf_info(f) i \gx
SELECT max(pg_column_size(f)) AS bytes_for_ten_values FROM (
  SELECT bf_create(10) AS f
  UNION ALL SELECT bf_create(10, 0.0001)
  UNION ALL SELECT bf_agg(x) FROM generate_series(1, 10) x
  UNION ALL SELECT bf_agg(x, 10, 0.0001) FROM generate_series(1, 10) x) s;
SELECT expected, seed, element_type, bits_set,
  cleared @> 1 AS "contains the value",
  outcome(format('SELECT %L::bloomfilter + ''a''::text', cleared)) AS "adding another type"
FROM (SELECT bf_clear(bf_create(100, seed => 7) + 1) AS cleared) s, bf_info(cleared) \gx

-- Adding and probing.
SELECT bf_add(f, 5) = f + 5 AS "bf_add is +",
  bf_contains(f + 5, 5) AS "bf_contains says so",
  f + 5 @> 5 AS "@> says so",
  5 <@ f + 5 AS "<@ says so",
  bf_contained(5, f + 5) AS "bf_contained says so",
  f + 5 @> 6 AS "contains another value",
  f @> 5 AS "empty contains it"
FROM (SELECT bf_create(100) AS f) s \gx
SELECT bf_add_all(f, '{1,NULL,3}'::int[]) = f + 1 + 3 AS "NULL is skipped",
  bf_add_all(f, '{}'::int[]) = f AS "nothing adds nothing",
  bf_add_all(f, '{{1,2},{3,4}}'::int[]) = f + 1 + 2 + 3 + 4 AS "of any dimension",
  bf_add_all(f, array(SELECT generate_series(1, 1000)))
    = (SELECT bf_agg(x, 100) FROM generate_series(1, 1000) x) AS "a thousand, as bf_agg"
FROM (SELECT bf_create(100) AS f) s \gx
SELECT (bf_put(f, 5)).was_new AS "new value is new",
  (bf_put(f + 5, 5)).was_new AS "known value is new",
  (bf_put(f, '5')).was_new AS "new literal is new",
  (bf_put(f + '5', '5')).was_new AS "known literal is new",
  (bf_put(f, 5)).filter = f + 5 AS "filter plus the value"
FROM (SELECT bf_create(100) AS f) s \gx
SELECT bf_contains_any(f, '{7,3}'::int[]) AS "any, one is there",
  bf_contains_any(f, '{7,8}'::int[]) AS "any, none is there",
  bf_contains_all(f, '{1,3}'::int[]) AS "all, all are there",
  bf_contains_all(f, '{1,8}'::int[]) AS "all, one is not there",
  bf_contains_each(f, '{1,8,NULL,3}'::int[]) AS "each of 1, 8, NULL, 3"
FROM (SELECT bf_create(100) + 1 + 3 AS f) s \gx

-- Hashes.
SELECT bf_hash(5) = bf_hash(5, 0) AS "seed is 0 if not given",
  bf_hash(5) <> bf_hash(5, seed => 1) AS "another seed, another hash",
  bf_contains_hash(f + 5, bf_hash(5)) AS "contained by hash",
  bf_contains_hash(f + 5, bf_hash(6)) AS "another is contained by hash",
  bf_contains_hash(bf_create(100, seed => 3) + 5, bf_hash(5, 3)) AS "contained by hash with a seed",
  bf_add_hash(f + 4, bf_hash(5)) = f + 4 + 5 AS "added by hash",
  (bf_info(bf_add_hash(f, 1))).element_type AS "element type of a hash alone",
  (bf_info(bf_add_hash(f + 'a'::text, 1))).element_type AS "element type stays"
FROM (SELECT bf_create(100) AS f) s \gx

-- Estimates and checks. (rate.sql tests how good they are.)
SELECT bf_count(f) BETWEEN 950 AND 1050 AS "count is right",
  bf_fpr(f) BETWEEN 0.008 AND 0.012 AS "rate is right",
  bf_count(f) = estimated_count AS "bf_count is that of info",
  bf_fpr(f) = estimated_fpr AS "bf_fpr is that of info",
  fill = bits_set::float8 / bits AS "fill is that of bits",
  saturated, bf_check(f)
FROM (SELECT bf_agg(x, 1000) AS f FROM generate_series(1, 1000) x) s, bf_info(f) \gx
SELECT bf_count(f), bf_fpr(f), bf_check(f) FROM (SELECT bf_create(10) AS f) s;
SELECT saturated, bf_fpr(f) > 0.02 AS twice_the_rate
FROM (SELECT bf_agg(x, 1000) AS f FROM generate_series(1, 2000) x) s, bf_info(f);
SELECT bf_count(f), bf_fpr(f), fill
FROM (SELECT bf_agg(x, 1) AS f FROM generate_series(1, 5000) x) s, bf_info(f);

-- The aggregate with a capacity.
SELECT expected, target_fpr,
  f = with_rate AS "rate is 1 % if not given",
  f = bf_add_all(bf_create(500), list) AS "as added one by one",
  (bf_info(rarely)).target_fpr AS rate
FROM (SELECT array_agg(x) AS list, bf_agg(x, 500) AS f, bf_agg(x, 500, 0.01) AS with_rate,
        bf_agg(x, 500, 0.001) AS rarely FROM generate_series(1, 500) x) s, bf_info(f) \gx

-- The aggregate that sizes the filter itself.
SELECT i.expected, target_fpr,
  i.bits = s.bits AS "bits are those of its values",
  f = null_capacity AS "NULL capacity is none",
  f = backwards AS "in any order",
  f = distinct_values AS "as of distinct rows"
FROM (SELECT bf_agg(x) AS f, bf_agg(x, NULL) AS null_capacity, bf_agg(x ORDER BY -x) AS backwards,
        bf_agg(DISTINCT x) AS distinct_values
      FROM (SELECT x % 700 AS x FROM generate_series(1, 5000) x) v) a,
  bf_info(f) i, bf_sizing(700, 0.01) s \gx
SELECT expected, target_fpr
FROM (SELECT bf_agg(x, NULL, 0.0001) AS f FROM generate_series(1, 10) x) s, bf_info(f);
SELECT expected, target_fpr
FROM (SELECT bf_agg(x, NULL, NULL) AS f FROM generate_series(1, 10) x) s, bf_info(f);

-- The aggregate grouped, filtered, and over a window.
SELECT g, (bf_info(bf_agg(x))).expected
FROM (SELECT x, x % 3 AS g FROM generate_series(1, 10) x) s GROUP BY g ORDER BY g;
SELECT (bf_info(bf_agg(x) FILTER (WHERE x < 3))).expected FROM generate_series(1, 9) x;
SELECT x,
  (bf_info(bf_agg(x) OVER (ORDER BY x))).expected AS so_far,
  bf_agg(x) OVER (ORDER BY x ROWS 1 PRECEDING) @> x - 1 AS "has the row before",
  bf_agg(x) OVER (ORDER BY x ROWS 1 PRECEDING) @> x - 2 AS "has the row before that"
FROM generate_series(1, 4) x;

-- Text, bytes and casts.
SELECT f::text::bloomfilter = f AS "text round trip",
  f::bytea::bloomfilter = f AS "bytea round trip",
  bytea(f) = f::bytea AS "function bytea is the cast",
  bloomfilter(f::bytea) = f AS "function bloomfilter is the cast",
  decode(f::text, 'base64') = f::bytea AS "text is base64 of the bytes",
  f::text !~ '\s' AS "text is one line",
  encode(f::bytea, 'base64')::bloomfilter = f AS "wrapped text is read",
  bloomfilter_send(f) = f::bytea AS "bloomfilter_send gives the bytes"
FROM (SELECT bf_create(100, 0.001, seed => 5) + 'x'::text AS f) s \gx
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod FROM pg_cast
WHERE castsource IN ('bloomfilter'::regtype, 'bf_literal'::regtype)
  OR casttarget IN ('bloomfilter'::regtype, 'bf_literal'::regtype)
ORDER BY castsource = 'bytea'::regtype;

-- In generated columns, indexes, views, constraints, and functions in SQL and PL/pgSQL.
CREATE TABLE items (id int, name text, hash bigint GENERATED ALWAYS AS (bf_hash(name)) STORED);
INSERT INTO items (id, name) SELECT x, 'item ' || x FROM generate_series(1, 100) x;
CREATE INDEX ON items (bf_hash(name));
SET enable_seqscan = off;
SELECT id FROM items WHERE bf_hash(name) = bf_hash('item 7'::text) AND hash = bf_hash(name);
RESET enable_seqscan;
CREATE VIEW names AS SELECT bf_agg(name) AS filter, bf_agg(name) @> 'item 5' AS fifth FROM items;
SELECT fifth,
  bf_contains_hash(filter, hash) AS "found by hash",
  filter @> name AS "found by name",
  count(*)
FROM names, items GROUP BY 1, 2, 3 \gx
SELECT rtrim(pg_get_viewdef('names'), ';') AS definition \gset
SELECT fifth FROM (:definition) s; -- as a restored dump has it
CREATE FUNCTION seen(f bloomfilter, x anyelement) RETURNS boolean LANGUAGE sql IMMUTABLE AS
  $$ SELECT f @> x $$;
CREATE FUNCTION seen_too(f bloomfilter, x anyelement) RETURNS boolean LANGUAGE plpgsql AS
  $$ BEGIN RETURN f @> x; END $$;
SELECT seen(f, 1) AS "SQL function finds it",
  seen(f, 1::int2) AS "SQL function finds an int2",
  seen(f, 3) AS "SQL function finds another",
  seen_too(f, 1) AS "PL/pgSQL function finds it",
  seen_too(f, 1::int8) AS "PL/pgSQL function finds an int8",
  seen_too(f, 3) AS "PL/pgSQL function finds another",
  outcome(format('SELECT seen_too(%L, ''1''::text)', f)) AS "PL/pgSQL function, asked for a text"
FROM (SELECT bf_create(10) + 1 + 2 AS f) s \gx
CREATE TABLE checked (x int CHECK (bf_create(10) + 1 + 2 @> x));
SELECT outcome('INSERT INTO checked VALUES (1)') AS inside,
  outcome('INSERT INTO checked VALUES (3)') AS outside;

-- The properties in the catalogs.
SELECT typstorage, typalign, typlen FROM pg_type WHERE oid = 'bloomfilter'::regtype;
CREATE VIEW functions AS
  SELECT p.* FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
  JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
  WHERE extname = 'bloomfilter' AND proname !~ '^bloomfilter_literal_';
SELECT provolatile, proparallel, proleakproof,
  string_agg(proname, ', ' ORDER BY proname) FILTER (WHERE provolatile <> 'i') AS only
FROM functions GROUP BY 1, 2, 3 ORDER BY 1;
-- All operators and functions that probe a filter have planner support, except those that only
-- raise an error. The types have a function for ANALYZE.
SELECT oprname, oprleft::regtype, oprright::regtype, oprrest, oprjoin FROM pg_operator
WHERE oprname IN ('@>', '<@') AND oprcode IN (SELECT oid FROM functions) ORDER BY 1, 2, 3;
SELECT prosupport, string_agg(DISTINCT proname::text, ', ' ORDER BY proname::text) AS functions
FROM functions WHERE proname ~ 'contain|multiplicity' AND prosrc <> 'filter_untyped_list'
GROUP BY 1 ORDER BY 1;
SELECT typname, typanalyze FROM pg_type
WHERE typname IN ('bloomfilter', 'countingbloomfilter', 'cuckoofilter') ORDER BY 1;
SELECT procost, array_agg(DISTINCT proname::text ORDER BY proname::text) AS asking FROM functions
WHERE proname ~ 'contain|multiplicity' AND prosrc <> 'filter_untyped_list'
GROUP BY procost ORDER BY procost;
SELECT prefix, string_agg(DISTINCT substring(proname FROM '_(.*)'), ', ') AS not_strict
FROM functions, substring(proname FROM '^[^_]+') prefix
WHERE NOT proisstrict AND prokind = 'f' GROUP BY prefix ORDER BY prefix;
SELECT count(*) AS bf_create FROM functions WHERE proname = 'bf_create';
SELECT amname, amvalidate(o.oid) AS valid FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod
WHERE opcname = 'bloomfilter_ops' ORDER BY amname;

-- Cheap conditions are evaluated before a filter is probed.
CREATE TABLE asked (shard int, filter bloomfilter, counting countingbloomfilter,
                    cuckoo cuckoofilter);
CREATE FUNCTION evaluated(condition text) RETURNS text LANGUAGE sql AS
  $$SELECT line_of('SELECT FROM asked WHERE ' || condition, 'Filter')$$;
SELECT evaluated(ask || ' AND shard = 3') AS evaluated,
  evaluated(ask || ' AND shard = 3') = evaluated('shard = 3 AND ' || ask) AS always
FROM (VALUES ('filter @> 5'), ('5 <@ filter'), ('filter @> ''5'''), ('''5'' <@ filter'),
  ('bf_contains_any(filter, ''{5}''::int[])'), ('bf_contains_all(filter, ''{5}''::int[])'),
  ('(bf_contains_each(filter, ''{5}''::int[]))[1]'), ('bf_contains_hash(filter, 5)'),
  ('counting @> 5'), ('5 <@ counting'), ('counting @> ''5'''), ('''5'' <@ counting'),
  ('cbf_multiplicity(counting, 5) > 1'), ('cbf_multiplicity(counting, ''5'') > 1'),
  ('cuckoo @> 5'), ('5 <@ cuckoo'), ('cuckoo @> ''5'''), ('''5'' <@ cuckoo'),
  ('cf_multiplicity(cuckoo, 5) > 1'), ('cf_multiplicity(cuckoo, ''5'') > 1')) v(ask);

-- The three types offer the same verbs. The exceptions, and the reason for each:
CREATE TABLE exceptions (verb text, types text, why text);
INSERT INTO exceptions VALUES
  ('multiplicity', 'cbf,cf', 'a bitmap does not count copies'),
  ('remove', 'cbf,cf', 'bits are shared by many values'),
  ('element_of', 'bf', 'partial states are for sets that only grow'),
  ('merge_agg', 'bf', 'the same'),
  ('dist_agg', 'bf', 'the same'),
  ('partial_agg', 'bf', 'the same'),
  ('intersect', 'bf', 'counters or fingerprints in common may belong to different values'),
  ('intersect_agg', 'bf', 'the same'),
  ('intersect_count', 'bf', 'the same; cast a counting filter to a bloom filter'),
  ('union_count', 'bf', 'the same'),
  ('jaccard', 'bf', 'the same'),
  ('compatible', 'bf', 'it tells whether filters can be intersected and compared'),
  ('fold', 'bf', 'folded counters and fingerprints would be wrong'),
  ('growable', 'bf', 'a value that can be removed must be in one known link'),
  ('create_by_size', 'bf', 'the capacity and rate of the other types are always known'),
  ('contains_any', 'bf', 'only bitmaps are probed for many values at a time'),
  ('contains_all', 'bf', 'the same'),
  ('contains_each', 'bf', 'the same'),
  ('join_agg', 'bf', 'the planner places no other filters'),
  ('hash', 'bf', 'all three types have the same hashes'),
  ('add_hash', 'bf', 'a value that was hashed elsewhere is unknown, so it cannot be removed'),
  ('contains_hash', 'bf', 'the same'),
  ('index_info', 'bf', 'one function serves indexes over bloom filters and counting filters'),
  ('index_check', 'bf', 'the same'),
  ('index_tidy', 'bf', 'the same'),
  ('shard', 'bf', 'a shard has the same number for all types'),
  ('shard_count', 'bf', 'shards are sized as bloom filters'),
  ('create_set', 'bf', 'the same'),
  ('drop_set', 'bf', 'the same'),
  ('generation', 'bf', 'the same'),
  ('shard_keys', 'bf', 'the same'),
  ('from_guava', 'bf', 'other systems write bitmaps'),
  ('to_guava', 'bf', 'the same'),
  ('from_spark', 'bf', 'the same'),
  ('to_spark', 'bf', 'the same'),
  ('from_datasketches', 'bf', 'the same'),
  ('to_datasketches', 'bf', 'the same'),
  ('from_hive', 'bf', 'the same'),
  ('to_hive', 'bf', 'the same'),
  ('from_parquet', 'bf', 'the same'),
  ('to_parquet', 'bf', 'the same'),
  ('from_redis', 'bf', 'the same'),
  ('to_redis', 'bf', 'the same');
SELECT verb, f.types, e.types AS listed
FROM (SELECT verb, string_agg(type, ',' ORDER BY type) AS types
  FROM (SELECT DISTINCT substring(proname from '^(bf|cbf|cf)_') AS type,
      substring(proname from '^(?:bf|cbf|cf)_(.*)') AS verb
    FROM functions WHERE proname ~ '^(bf|cbf|cf)_') v
  GROUP BY verb HAVING count(*) < 3) f
FULL JOIN exceptions e USING (verb) WHERE f.types IS DISTINCT FROM e.types;

-- Columns with the same meaning have the same name, type and order. The same is true of the
-- argument that says how another system wrote values.
CREATE TABLE columns AS
  SELECT oid, proname, verb, name, type, position
  FROM functions, substring(proname from '^(?:bf|cbf|cf)_(info|sizing|put)$') verb,
    unnest(proargnames, proallargtypes, proargmodes) WITH ORDINALITY c(name, type, mode, position)
  WHERE verb IS NOT NULL AND mode = 'o' AND name <> 'filter';
SELECT a.verb, a.name, a.type::regtype, b.type::regtype AS other
FROM columns a JOIN columns b USING (verb, name) WHERE a.type < b.type;
SELECT a.proname, a.name, later.name AS later, b.proname AS but
FROM columns a JOIN columns later ON later.oid = a.oid AND later.position > a.position
  JOIN columns b ON b.verb = a.verb AND b.name = a.name
  JOIN columns before ON before.oid = b.oid AND before.name = later.name
WHERE before.position < b.position;
SELECT verb, string_agg(DISTINCT name, ', ') AS alike
FROM (SELECT verb, name FROM columns GROUP BY 1, 2 HAVING count(DISTINCT proname) = 3) c
GROUP BY verb ORDER BY verb;
SELECT proname, proargnames[2] FROM functions WHERE proname ~ '^bf_from_' ORDER BY 1;
