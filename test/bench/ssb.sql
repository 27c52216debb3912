-- The Star Schema Benchmark: its tables, and its 13 queries as in the paper (P. O'Neil, E. O'Neil,
-- X. Chen, S. Revilak: The Star Schema Benchmark and Augmented Fact Table Indexing, TPCTC 2009). If
-- :rows is 10 000 000, the scale is 1: about 6 million rows of lineorder. The values are uniform,
-- as in the paper. They come from hashes, so that every run has the same data. Most columns that no
-- query reads are left out, such as addresses, phones and comments.

SELECT :rows / 1e7 AS ssb \gset

-- A number from 0 to n - 1. It depends on the row's number i, and on the column's number `what`.
CREATE FUNCTION draw(i bigint, what int, n int) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN abs(hashint8extended(i, what) % n);

CREATE UNLOGGED TABLE nations AS
SELECT (number - 1)::int AS number, nation, region
FROM unnest(
  '{AFRICA,AFRICA,AFRICA,AFRICA,AFRICA,AMERICA,AMERICA,AMERICA,AMERICA,AMERICA,ASIA,ASIA,ASIA,ASIA,ASIA,
    EUROPE,EUROPE,EUROPE,EUROPE,EUROPE,MIDDLE EAST,MIDDLE EAST,MIDDLE EAST,MIDDLE EAST,MIDDLE EAST}'::text[],
  '{ALGERIA,ETHIOPIA,KENYA,MOROCCO,MOZAMBIQUE,ARGENTINA,BRAZIL,CANADA,PERU,UNITED STATES,CHINA,INDIA,
    INDONESIA,JAPAN,VIETNAM,FRANCE,GERMANY,ROMANIA,RUSSIA,UNITED KINGDOM,EGYPT,IRAN,IRAQ,JORDAN,
    SAUDI ARABIA}'::text[]) WITH ORDINALITY names (region, nation, number);

CREATE UNLOGGED TABLE dates AS
SELECT to_char(d, 'YYYYMMDD')::int AS d_datekey, to_char(d, 'FMMonth DD, YYYY') AS d_date,
  to_char(d, 'FMDay') AS d_dayofweek, to_char(d, 'FMMonth') AS d_month, extract(year FROM d)::int AS d_year,
  to_char(d, 'YYYYMM')::int AS d_yearmonthnum, to_char(d, 'MonYYYY') AS d_yearmonth,
  ((extract(doy FROM d)::int - 1) / 7 + 1) AS d_weeknuminyear, (d - date '1992-01-01') AS number
FROM (SELECT date '1992-01-01' + i AS d FROM generate_series(0, date '1998-12-31' - date '1992-01-01') i) days;

CREATE UNLOGGED TABLE customer AS
SELECT i AS c_custkey, format('Customer#%s', lpad(i::text, 9, '0')) AS c_name,
  rpad(left(nation, 9), 9) || draw(i, 2, 10) AS c_city, nation AS c_nation, region AS c_region,
  ('{AUTOMOBILE,BUILDING,FURNITURE,HOUSEHOLD,MACHINERY}'::text[])[1 + draw(i, 3, 5)] AS c_mktsegment
FROM generate_series(1, (30000 * :ssb)::int) i JOIN nations ON number = draw(i, 1, 25);

CREATE UNLOGGED TABLE supplier AS
SELECT i AS s_suppkey, format('Supplier#%s', lpad(i::text, 9, '0')) AS s_name,
  rpad(left(nation, 9), 9) || draw(i, 12, 10) AS s_city, nation AS s_nation, region AS s_region
FROM generate_series(1, (2000 * :ssb)::int) i JOIN nations ON number = draw(i, 11, 25);

CREATE UNLOGGED TABLE part AS
SELECT i AS p_partkey, format('MFGR#%s', mfgr) AS p_mfgr, format('MFGR#%s%s', mfgr, category) AS p_category,
  format('MFGR#%s%s%s', mfgr, category, brand) AS p_brand1, 1 + draw(i, 24, 50) AS p_size
FROM generate_series(1, (200000 * least(:ssb, 1) * (1 + floor(log(2, greatest(:ssb, 1)))))::int) i,
  LATERAL (SELECT 1 + draw(i, 21, 5) AS mfgr, 1 + draw(i, 22, 5) AS category, 1 + draw(i, 23, 40) AS brand) drawn;

CREATE UNLOGGED TABLE lineorder AS
SELECT o AS lo_orderkey, line AS lo_linenumber, 1 + draw(o, 31, (30000 * :ssb)::int) AS lo_custkey,
  1 + draw(o * 8 + line, 32, (SELECT count(*)::int FROM part)) AS lo_partkey,
  1 + draw(o * 8 + line, 33, (2000 * :ssb)::int) AS lo_suppkey, d_datekey AS lo_orderdate,
  1 + draw(o, 34, 5) || '-PRIORITY' AS lo_orderpriority, quantity AS lo_quantity,
  quantity * price AS lo_extendedprice, discount AS lo_discount,
  quantity * price * (100 - discount) / 100 AS lo_revenue, price * 6 / 10 AS lo_supplycost,
  draw(o * 8 + line, 38, 9) AS lo_tax,
  ('{AIR,FOB,MAIL,RAIL,REG AIR,SHIP,TRUCK}'::text[])[1 + draw(o * 8 + line, 39, 7)] AS lo_shipmode
FROM generate_series(1::bigint, (1500000 * :ssb)::bigint) o JOIN dates ON dates.number = draw(o, 35, 2406),
  LATERAL generate_series(1, 1 + draw(o, 30, 7)) line,
  LATERAL (SELECT 1 + draw(o * 8 + line, 36, 50) AS quantity, 900 + draw(o * 8 + line, 37, 1100) AS price,
    draw(o * 8 + line, 40, 11) AS discount) drawn;

ALTER TABLE dates ADD PRIMARY KEY (d_datekey);
ALTER TABLE customer ADD PRIMARY KEY (c_custkey);
ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey);
ALTER TABLE part ADD PRIMARY KEY (p_partkey);
ALTER TABLE lineorder ADD PRIMARY KEY (lo_orderkey, lo_linenumber);

CREATE TABLE ssb_queries (name text PRIMARY KEY, query text NOT NULL);
INSERT INTO ssb_queries VALUES
('1.1', $$SELECT sum(lo_extendedprice * lo_discount) AS revenue FROM lineorder, dates
  WHERE lo_orderdate = d_datekey AND d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25$$),
('1.2', $$SELECT sum(lo_extendedprice * lo_discount) AS revenue FROM lineorder, dates
  WHERE lo_orderdate = d_datekey AND d_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6
    AND lo_quantity BETWEEN 26 AND 35$$),
('1.3', $$SELECT sum(lo_extendedprice * lo_discount) AS revenue FROM lineorder, dates
  WHERE lo_orderdate = d_datekey AND d_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7
    AND lo_quantity BETWEEN 26 AND 35$$),
('2.1', $$SELECT sum(lo_revenue), d_year, p_brand1 FROM lineorder, dates, part, supplier
  WHERE lo_orderdate = d_datekey AND lo_partkey = p_partkey AND lo_suppkey = s_suppkey
    AND p_category = 'MFGR#12' AND s_region = 'AMERICA'
  GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1$$),
('2.2', $$SELECT sum(lo_revenue), d_year, p_brand1 FROM lineorder, dates, part, supplier
  WHERE lo_orderdate = d_datekey AND lo_partkey = p_partkey AND lo_suppkey = s_suppkey
    AND p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'
  GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1$$),
('2.3', $$SELECT sum(lo_revenue), d_year, p_brand1 FROM lineorder, dates, part, supplier
  WHERE lo_orderdate = d_datekey AND lo_partkey = p_partkey AND lo_suppkey = s_suppkey
    AND p_brand1 = 'MFGR#2221' AND s_region = 'EUROPE'
  GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1$$),
('3.1', $$SELECT c_nation, s_nation, d_year, sum(lo_revenue) AS revenue FROM customer, lineorder, supplier, dates
  WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_orderdate = d_datekey
    AND c_region = 'ASIA' AND s_region = 'ASIA' AND d_year >= 1992 AND d_year <= 1997
  GROUP BY c_nation, s_nation, d_year ORDER BY d_year, revenue DESC$$),
('3.2', $$SELECT c_city, s_city, d_year, sum(lo_revenue) AS revenue FROM customer, lineorder, supplier, dates
  WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_orderdate = d_datekey
    AND c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND d_year >= 1992 AND d_year <= 1997
  GROUP BY c_city, s_city, d_year ORDER BY d_year, revenue DESC$$),
('3.3', $$SELECT c_city, s_city, d_year, sum(lo_revenue) AS revenue FROM customer, lineorder, supplier, dates
  WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_orderdate = d_datekey
    AND (c_city = 'UNITED KI1' OR c_city = 'UNITED KI5') AND (s_city = 'UNITED KI1' OR s_city = 'UNITED KI5')
    AND d_year >= 1992 AND d_year <= 1997
  GROUP BY c_city, s_city, d_year ORDER BY d_year, revenue DESC$$),
('3.4', $$SELECT c_city, s_city, d_year, sum(lo_revenue) AS revenue FROM customer, lineorder, supplier, dates
  WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_orderdate = d_datekey
    AND (c_city = 'UNITED KI1' OR c_city = 'UNITED KI5') AND (s_city = 'UNITED KI1' OR s_city = 'UNITED KI5')
    AND d_yearmonth = 'Dec1997'
  GROUP BY c_city, s_city, d_year ORDER BY d_year, revenue DESC$$),
('4.1', $$SELECT d_year, c_nation, sum(lo_revenue - lo_supplycost) AS profit
  FROM dates, customer, supplier, part, lineorder
  WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_partkey = p_partkey AND lo_orderdate = d_datekey
    AND c_region = 'AMERICA' AND s_region = 'AMERICA' AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')
  GROUP BY d_year, c_nation ORDER BY d_year, c_nation$$),
('4.2', $$SELECT d_year, s_nation, p_category, sum(lo_revenue - lo_supplycost) AS profit
  FROM dates, customer, supplier, part, lineorder
  WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_partkey = p_partkey AND lo_orderdate = d_datekey
    AND c_region = 'AMERICA' AND s_region = 'AMERICA' AND (d_year = 1997 OR d_year = 1998)
    AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')
  GROUP BY d_year, s_nation, p_category ORDER BY d_year, s_nation, p_category$$),
('4.3', $$SELECT d_year, s_city, p_brand1, sum(lo_revenue - lo_supplycost) AS profit
  FROM dates, customer, supplier, part, lineorder
  WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_partkey = p_partkey AND lo_orderdate = d_datekey
    AND c_region = 'AMERICA' AND s_nation = 'UNITED STATES' AND (d_year = 1997 OR d_year = 1998)
    AND p_category = 'MFGR#14'
  GROUP BY d_year, s_city, p_brand1 ORDER BY d_year, s_city, p_brand1$$);

-- Checks that join filters do not change the results.
VACUUM ANALYZE dates, customer, supplier, part, lineorder;
DO $$
DECLARE
  q ssb_queries;
  result text;
  without text;
BEGIN
  FOR q IN SELECT * FROM ssb_queries LOOP
    FOREACH result IN ARRAY '{off,on}'::text[] LOOP
      PERFORM set_config('bloomfilter.join_filter', result, false);
      EXECUTE format('SELECT md5(string_agg(r::text, E''\n'' ORDER BY r::text)) FROM (%s) r', q.query)
        INTO result;
      IF result <> without THEN
        RAISE EXCEPTION 'query % has another result with join filters', q.name;
      END IF;
      without := result;
    END LOOP;
    without := NULL;
  END LOOP;
END $$;
