-- Filters that grow keep the rate asked for, however many values are added.
CREATE SCHEMA growth;
SET search_path = growth, public;
SET extra_float_digits = 0;
\i sql/include/outcome.sql

-- bf_info shows the parameters asked for. The first link has a quarter of the rate.
SELECT version, layout, element_type, seed, expected, target_fpr, i.hashes, i.bits, i.bytes,
  bits_set, estimated_count, estimated_fpr, saturated, links,
  i.bits = s.bits AS "as large as a quarter of the rate"
FROM bf_info(bf_create(1000, 0.01, seed => 5, grow => true)) i, bf_sizing(1000, 0.0025) s \gx

-- A hundred times the initial capacity, at several rates.
CREATE TABLE fed AS
SELECT n, fpr, bf_add_all(bf_create(n, fpr, grow => true), array_agg(i)) AS f
FROM (VALUES (1, 0.01), (100, 0.01), (1000, 0.1), (1000, 0.01), (1000, 0.001),
    (1000, 0.00001)) v(n, fpr),
  LATERAL generate_series(1, 100 * n) i
GROUP BY n, fpr;
SELECT n, fpr, links, target_fpr,
  (SELECT bool_and(f @> i) FROM generate_series(1, 100 * n) i) AS "members are found",
  estimated_fpr <= fpr AS "rate is kept",
  saturated,
  (SELECT count(*) FILTER (WHERE f @> -i) FROM generate_series(1, 100000) i) <= 100000 * fpr
    AS "rate is kept when measured",
  estimated_count / (100 * n) BETWEEN 0.95 - fpr AND 1.05 AS "count is right",
  bf_check(f)
FROM fed, bf_info(f) ORDER BY n, fpr \gx

-- The filter is the same if values are added one by one, together, in parts or repeatedly.
DO $$
DECLARE f bloomfilter := bf_create(10, grow => true);
BEGIN
  FOR i IN 1 .. 1000 LOOP f := f + i; END LOOP;
  ASSERT f = bf_add_all(bf_create(10, grow => true), array(SELECT generate_series(1, 1000)));
  ASSERT f = bf_add_all(bf_add_all(bf_create(10, grow => true),
                                   array(SELECT generate_series(1, 333))),
                        array(SELECT generate_series(300, 1000)));
  ASSERT f = bf_add_all(bf_create(10, grow => true),
                        array(SELECT i FROM generate_series(1, 1000) i, generate_series(1, 3)));
  ASSERT f = bf_add_all(f, array(SELECT generate_series(1, 1000)));
  ASSERT (SELECT links FROM bf_info(f)) > 4;
  -- Repetitions come at the moment when a link becomes full.
  FOR n IN 1 .. 12 LOOP
    FOR upto IN 1 .. 60 LOOP
      SELECT bf_create(n, 0.5, grow => true) INTO f;
      FOR i IN 1 .. upto LOOP f := f + i + i; END LOOP;
      ASSERT f = bf_add_all(bf_create(n, 0.5, grow => true),
                            array(SELECT i FROM generate_series(1, upto) i, generate_series(1, 2))),
        format('%s values, capacity %s', upto, n);
    END LOOP;
  END LOOP;
END $$;
SELECT (bf_put(f, 5)).was_new AS "known is new",
  (bf_put(f, -5)).was_new AS "another is new",
  (bf_put(f, '-5')).was_new AS "another literal is new",
  (bf_put(f, -5)).filter = f + -5 AS "filter plus the value"
FROM fed WHERE n = 100 \gx

-- A link is full when enough of its bits are set. The next value then begins the next link.
SELECT bool_and(links = 1) FILTER (WHERE i < 95) AS "one link below capacity",
  min(i) FILTER (WHERE links = 2) BETWEEN 95 AND 105 AS "two at capacity",
  bool_and(links >= 3) FILTER (WHERE i > 320) AS "three above",
  max(links) AS most
FROM generate_series(90, 330, 5) i,
  bf_info(bf_add_all(bf_create(100, grow => true), array(SELECT generate_series(1, i)))) \gx

-- A filter that grows in a table: written, read and cleared.
CREATE TABLE seen (f bloomfilter);
INSERT INTO seen SELECT bf_create(100, grow => true) + 'x'::text;
DO $$ BEGIN FOR i IN 1 .. 500 LOOP UPDATE seen SET f = f + i::text; END LOOP; END $$;
SELECT links,
  f @> 'x' AS "first value is found",
  (SELECT bool_and(f @> i::text) FROM generate_series(1, 500) i) AS "members are found",
  f::text::bloomfilter = f AS "text round trip",
  f::bytea::bloomfilter = f AS "bytea round trip",
  bf_check(f)
FROM seen, bf_info(f) \gx
SELECT links, element_type, expected, target_fpr, bits_set,
  (SELECT links FROM bf_info(bf_add_all(c, array(SELECT i::text FROM generate_series(1, 2000) i))))
    AS grows_on
FROM seen, LATERAL (SELECT bf_clear(f) AS c OFFSET 0) x, bf_info(c);

-- Any filter with a rate can begin to grow. Its own rate is then a quarter of the rate that it
-- keeps.
SELECT links, expected, target_fpr,
  estimated_fpr <= target_fpr AS "rate is kept",
  (SELECT bool_and(g @> i) FROM generate_series(1, 100000) i) AS "members are found"
FROM (SELECT bf_agg(i) AS f FROM generate_series(1, 1000) i) x,
  LATERAL (SELECT bf_add_all(bf_growable(f), array(SELECT generate_series(1, 100000))) AS g
    OFFSET 0) y,
  bf_info(g) \gx
SELECT bf_growable(f) @> 1 AS "member is found",
  links,
  bf_growable(bf_growable(f)) = bf_growable(f) AS "twice is once"
FROM (SELECT bf_create(10, 0.1) + 1 AS f) x, bf_info(bf_growable(f)) \gx
SELECT links, expected, round(target_fpr::numeric, 4) AS target_fpr,
  estimated_fpr <= target_fpr AS "rate is kept"
FROM (SELECT bf_add_all(bf_growable(bf_create(100) | bf_create(500)),
      array(SELECT generate_series(1, 50000))) AS g) x, bf_info(g);
SELECT bf_growable(NULL) IS NULL AS "null";
-- A folded filter is full earlier.
SELECT links > 1 AS "has grown",
  target_fpr,
  estimated_fpr <= target_fpr AS "rate is kept"
FROM (SELECT bf_add_all(bf_growable(bf_fold(bf_create(100000), 10000)),
      array(SELECT generate_series(1, 200000))) AS g) x, bf_info(g) \gx

-- A union has the links of both filters. It grows if one of them does.
SELECT links, expected, target_fpr,
  u = b | a AS "union commutes",
  u | a = u AS "union is idempotent",
  bf_contains_all(u, array(SELECT generate_series(1, 2000))) AS "members are found",
  bf_contains_all(u + -7, array(SELECT generate_series(1, 2000)) || -7) AS "takes more",
  abs(bf_fpr(u) - (1 - (1 - bf_fpr(a)) * (1 - bf_fpr(b)))) < 1e-9 AS "rate is that of both"
FROM (SELECT bf_add_all(bf_create(100, grow => true), array(SELECT generate_series(1, 1000))) AS a,
    bf_add_all(bf_create(200, 0.001, grow => true),
      array(SELECT generate_series(1001, 2000))) AS b) x,
  LATERAL (SELECT a | b AS u OFFSET 0) y, bf_info(u) \gx
-- The target rate of a union is the highest rate of its links and of its growing filters.
SELECT target_fpr, saturated,
  estimated_fpr < target_fpr AS "rate is kept"
FROM (SELECT bf_create(1000, 0.001, grow => true) | bf_agg(i, 1000, 0.1) AS u
    FROM generate_series(1, 1000) i) x, bf_info(u) \gx
-- Each filter keeps the rate asked for. As links of one union, their rates add up.
SELECT target_fpr, saturated, estimated_fpr <= 4 * target_fpr AS kept
FROM (SELECT bf_union_agg(bf_add_all(bf_create(1000, grow => true),
      array(SELECT n * 100000 + generate_series(1, 100000)))) AS u
    FROM generate_series(1, 4) n) x, bf_info(u);
-- The same is true beside a filter of unknown capacity. Such a filter counts as full.
SELECT a.links, b.links, b.saturated,
  f @> 5 AS "first is found",
  f @> -5 AS "one of the last is found"
FROM (SELECT bf_create_by_size(50000, 3) + 5 | bf_create(100, grow => true) AS u) x,
  LATERAL (SELECT bf_add_all(u, array(SELECT -i FROM generate_series(1, 20000) i)) AS f OFFSET 0) y,
  bf_info(u) a, bf_info(f) b \gx

-- The rates of further links stop falling at 1e-9, and bf_fpr shows the higher rate of the filter.
SELECT links,
  bf_fpr(f) > 1e-9 AS "above the least rate",
  bf_fpr(f) < 1e-8 AS "little above"
FROM (SELECT bf_add_all(bf_create(100, 1e-9, grow => true),
      array(SELECT generate_series(1, 3000))) AS f) x, bf_info(f) \gx

-- A filter that grows raises no warning about overfilling.
SELECT bf_add_all(bf_create(10, grow => true),
    array(SELECT generate_series(1, 1000))) IS NULL AS "null";
SELECT bf_union_agg(f) IS NULL AS "null" FROM fed WHERE fpr = 0.01;

-- Filters that cannot grow.
SELECT bf_growable(bf_create_by_size(1000, 3));
SELECT bf_growable(bf_create(10, 0.2));
SELECT bf_create(10, 0.6, grow => true);
SELECT bf_create(0, grow => true);
SELECT bf_create(10000000000, grow => true);
SELECT bf_create(400000000, grow => true); -- only its first link is too large
SELECT bf_fold(bf_create(1000, grow => true), 1000);
SELECT bf_create(1000, grow => true) & bf_create(1000, grow => true);
