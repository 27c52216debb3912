-- The observed false positive rate is the rate asked for, and the estimates are right. Keys and
-- seeds are fixed, so the bits and the result are the same on every machine. Margins of three
-- standard deviations allow for the finite number of probes.
CREATE SCHEMA rate;
SET search_path = rate, public;

-- Fills a filter with `n` keys, and then probes it for keys that are not in it.
CREATE TABLE keys (kind text, expression text);
INSERT INTO keys VALUES
  ('integers', 'x'),
  ('timestamps', 'timestamp ''2024-01-01'' + x * interval ''1 second'''),
  ('URLs', '''https://www.example.org/articles/'' || x || ''.html''');
CREATE TABLE runs (kind text, asked float8, seed int, n int, probes int, missed int, hits int,
                   fpr float8, count float8, saturated boolean);
CREATE FUNCTION run(kind text, expression text, asked float8, seed int, n int, capacity int,
                    probes int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format($query$
    WITH filled AS MATERIALIZED (
      SELECT bf_add_all(bf_create(%6$s, %3$s, seed => %4$s),
                        array(SELECT %2$s FROM generate_series(1, %5$s) x)) AS f)
    INSERT INTO runs
      SELECT %1$L, %3$s, %4$s, %5$s, %7$s,
        (SELECT count(*) FROM generate_series(1, %5$s) x WHERE NOT f @> (%2$s)),
        (SELECT count(*) FROM generate_series(%5$s + 1, %5$s + %7$s) x WHERE f @> (%2$s)),
        bf_fpr(f), bf_count(f), (bf_info(f)).saturated
      FROM filled $query$, kind, expression, asked, seed, n, capacity, probes);
END $$;

SELECT count(run(kind, expression, asked, seed, 100000, 100000, probes)) AS at_capacity
FROM keys, generate_series(1, 3) seed,
  (VALUES (0.1, 100000), (0.01, 100000), (0.001, 300000), (0.0001, 500000)) r(asked, probes);
SELECT bool_and(missed = 0) AS "never denied",
  bool_or(saturated) AS saturated,
  bool_and(abs(count - n) <= 0.01 * n) AS "count is right"
FROM runs \gx
SELECT asked,
  sum(hits) <= 1.05 * asked * sum(probes) + 3 * sqrt(asked * sum(probes)) AS "rate is kept",
  sum(hits) >= 0.85 * asked * sum(probes) AS "size is used", -- whole units: 10 % less at 0.01 %
  abs(sum(hits) - sum(fpr * probes)) <= 0.03 * sum(fpr * probes) + 3 * sqrt(sum(fpr * probes))
    AS "estimate is right"
FROM runs GROUP BY asked ORDER BY asked DESC;
SELECT kind, sum(hits) <= 1.05 * sum(asked * probes) + 3 * sqrt(sum(asked * probes)) AS obtained
FROM runs GROUP BY kind ORDER BY kind COLLATE "C";
TRUNCATE runs;

-- The same at half the capacity and at up to twice the capacity.
SELECT count(run(kind, expression, asked, 4, n, 100000, 100000)) AS around_capacity
FROM keys, (VALUES (0.01), (0.0001)) r(asked), (VALUES (50000), (150000), (200000)) v(n)
WHERE kind = 'integers';
SELECT n,
  bool_and(abs(count - n) <= 0.01 * n) AS "count is right",
  bool_and(abs(hits - fpr * probes) <= 0.03 * fpr * probes + 3 * sqrt(fpr * probes))
    AS "estimate is right",
  bool_and(missed = 0) AS "never denied",
  bool_and(saturated) AS saturated
FROM runs GROUP BY n ORDER BY n;
TRUNCATE runs;

-- At a million values, rates are within 5 % either way, and bits per value are as documented.
SELECT count(run(kind, expression, asked, 5, 1000000, 1000000, 1000000)) AS million
FROM keys, (VALUES (0.1), (0.01), (0.001)) r(asked) WHERE kind = 'integers';
SELECT asked,
  abs(hits - asked * probes) <= 0.05 * asked * probes + 3 * sqrt(asked * probes) AS "rate is kept",
  abs(hits - fpr * probes) <= 0.03 * fpr * probes + 3 * sqrt(fpr * probes) AS "estimate is right",
  abs(count - n) <= 0.01 * n AS "count is right",
  missed = 0 AS "never denied"
FROM runs ORDER BY asked DESC;
SELECT rate,
  abs(bits_per_value - documented) <= 0.02 * documented AS "bits are as documented",
  hashes
FROM (VALUES (0.1, 4.84), (0.01, 9.92), (0.001, 15.55), (0.0001, 20.04), (1e-6, 31.98))
  v(rate, documented), bf_sizing(1000000, rate)
ORDER BY rate DESC;
