-- Filters as values: they are compared, grouped, sorted, joined, kept in indexes and partitions.
-- The including file sets `type` and `prefix`, and includes outcome.sql and plan.sql.
\set create :prefix _create
\set cmp :type _cmp
\set hash :type _hash
\set hash_extended :type _hash_extended
CREATE TABLE keys (filter :type UNIQUE, name text);
INSERT INTO keys VALUES (:create(10) + 1, 'one'), (:create(10) + 2, 'two'), (:create(10), 'none'),
  (:create(100), 'hundred'), (:create(10, seed => 1), 'seeded');
CREATE TABLE twice AS TABLE keys UNION ALL TABLE keys;
ANALYZE keys;
ANALYZE twice;
SELECT outcome(format('INSERT INTO keys VALUES (%s_create(10) + 1::int8)', :'prefix')) AS duplicate;
SELECT count(*) AS rows, count(DISTINCT filter) AS filters FROM twice;
SELECT a = b AS "same value, =",
  a <> b AS "same value, <>",
  a = c AS "another value, =",
  a <> c AS "another value, <>",
  a = d AS "another capacity, ="
FROM (SELECT :create(10) + 1 AS a, :create(10) + 1::int2 AS b, :create(10) + 2 AS c,
    :create(1000) + 1 AS d) s \gx
-- Of two neighbours in the order, the first one precedes the second.
SELECT operation, bool_and(holds) AS holds
FROM (SELECT filter AS b, lag(filter) OVER (ORDER BY filter) AS a FROM keys) s,
  LATERAL (VALUES (1, 'a < b', a < b), (2, 'a <= b', a <= b), (3, 'not a > b', NOT a > b),
    (4, 'not a >= b', NOT a >= b), (5, 'a <> b', a <> b), (6, 'not a = b', NOT a = b),
    (7, 'b > a', b > a), (8, 'b >= a', b >= a), (9, 'not b < a', NOT b < a),
    (10, 'not b <= a', NOT b <= a), (11, 'a <= a', a <= a), (12, 'a >= a', a >= a),
    (13, 'not a < a', NOT a < a), (14, 'cmp of a and b', :cmp(a, b) = -1),
    (15, 'cmp of b and a', :cmp(b, a) = 1), (16, 'cmp of a and a', :cmp(a, a) = 0)
  ) o(number, operation, holds)
WHERE a IS NOT NULL
GROUP BY number, operation ORDER BY number;
SELECT array_agg(filter::bytea ORDER BY filter)
  = array_agg(filter::bytea ORDER BY filter::bytea) AS bytewise
FROM keys;
SELECT :hash(a) = :hash(b) AS "same value, same hash",
  :hash(a) <> :hash(c) AS "another value, another hash",
  :hash_extended(a, 5) = :hash_extended(b, 5) AS "same value, same extended hash",
  :hash_extended(a, 5) <> :hash_extended(a, 6) AS "another seed, another extended hash"
FROM (SELECT :create(10) + 1 AS a, :create(10) + 1::int8 AS b, :create(10) + 2 AS c) s \gx
SELECT amname, amvalidate(o.oid) AS valid FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod
WHERE opcintype = :'type'::regtype ORDER BY amname;

-- Every plan gives the same rows.
\set joined 'SELECT count(*) FROM twice JOIN keys USING (filter)'
\set grouped 'SELECT filter FROM twice GROUP BY filter'
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET enable_sort = off;
SELECT plan(:'joined'), (:joined);
SELECT plan(:'grouped'), (SELECT count(*) FROM (:grouped) s);
RESET enable_mergejoin;
RESET enable_sort;
SET enable_hashjoin = off;
SET enable_hashagg = off;
SELECT plan(:'joined'), (:joined);
SELECT plan(:'grouped'), (SELECT count(*) FROM (:grouped) s);
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_hashagg;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan(format('SELECT name FROM keys WHERE filter = %s_create(10) + 2', :'prefix'));
SELECT name FROM keys WHERE filter = :create(10) + 2;
RESET enable_seqscan;
RESET enable_bitmapscan;
CREATE TABLE hashed (filter :type) PARTITION BY HASH (filter);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO hashed SELECT :create(10) + x FROM generate_series(1, 20) x;
SELECT count(*) AS pruned_to_one FROM hashed WHERE filter = :create(10) + 7;
