-- The values of which script/same-bytes makes filters: special ones of every element type, and
-- random ones, which depend on :seed alone. Some are NULL, some equal.

\set QUIET 1
SET client_min_messages = error;
CREATE EXTENSION :extension;

-- Random numbers and texts.
SELECT format('CREATE FUNCTION h(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS %L', format('SELECT hashint8extended($1, %s)', :seed)) \gexec
CREATE FUNCTION m(bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT md5(h($1)::text)';

CREATE TYPE shade AS ENUM ('red', 'orange', 'yellow', 'green', 'blue', 'indigo', 'violet');
CREATE TYPE pair AS (a bigint, b integer);
CREATE TYPE inner_row AS (t text, n numeric, s shade);
CREATE TYPE outer_row AS (i integer, r inner_row, l integer[], j jsonb);
CREATE TYPE of_varchar AS (v varchar, c char(5)); -- v never ends with a blank: an error
CREATE TYPE floatrange AS RANGE (subtype = float8);
CREATE DOMAIN small AS integer CHECK (VALUE < 1000);
CREATE DOMAIN price AS numeric(12,2);

-- made: an expression of a number i that makes a value; special: more values.
CREATE TABLE elements (type text, made text, special text[], number serial PRIMARY KEY);
INSERT INTO elements (type, made, special) VALUES
('smallint', 'h(i) % 32768', '{0,1,-1,32767,-32768}'),
('integer', 'h(i) % 2147483648', '{0,1,-1,2147483647,-2147483648}'),
('bigint', 'h(i)', '{0,1,-1,9223372036854775807,-9223372036854775808}'),
('small', 'h(i) % 1000', '{0,-2147483648}'),
('real', 'h(i) / 1e10', '{0,-0,NaN,Infinity,-Infinity,1e-45,3.4e38}'),
('double precision', 'h(i) / (1e5 + i)', '{0,-0,NaN,Infinity,-Infinity,4.9e-324,1.7e308}'),
('numeric', $$CASE i % 8 WHEN 0 THEN h(i) WHEN 1 THEN h(i) / 100.0 WHEN 2 THEN h(i)::numeric ^ 5
  WHEN 3 THEN h(i) % 10000 WHEN 4 THEN round(h(i) / 10.0 ^ (i % 19)::int, (i % 12)::int)
  WHEN 5 THEN h(i) * 10.0 ^ (i % 99)::int WHEN 6 THEN h(i) % 10000 / 10.0 ^ (i % 99)::int
  ELSE (h(i) % 1000) * 10000.0 + h(i + 1) % 10 END$$,
 ARRAY['0', '0.00', '-0.0', 'NaN', 'Infinity', '-Infinity', '1e1000', '1e-1000', '-1e131', '1.5',
   '1.50',
  '1.5000', '9999', '10000', '10000.0001', '0.0001', '99990000', '100000000', repeat('9', 5000),
  '0.' || repeat('123456789', 600)]),
('price', 'h(i) % 1000000000 / 100.0', '{0,0.01}'),
('text', $$left(repeat(m(i), 9), (h(i) & 255)::int)$$,
 ARRAY['', ' ', 'a', 'a ', 'a  ', 'ä', 'é', e'e\u0301', '日本', '😀', repeat('x', 126),
   repeat('x', 127),
  repeat('x', 3000), repeat('0123456789', 1000)]
  || (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) i)),
('varchar', $$left(m(i), (h(i) & 31)::int) || repeat(' ', (i % 3)::int)$$,
 ARRAY['', ' ', 'a', 'a ', 'a  ', 'é ', repeat('x', 300) || '  ']),
('varchar(8)', 'left(m(i), 8)', '{""}'),
('char(20)', 'left(m(i), (h(i) & 15)::int)', '{""," ",a,é}'),
('char', 'left(m(i), 1)', '{""," ",é}'),
('name', $$left(m(i), (h(i) & 31)::int)$$, ARRAY['', 'a', repeat('n', 63)]),
('"char"', 'chr((32 + (h(i) & 63))::int)', '{""}'),
('bytea', $$decode(left(repeat(m(i), 9), 2 * (h(i) & 127)::int), 'hex')$$,
 ARRAY['', '\x00', '\x0000', '\xff', '\x' || repeat('ab', 5000)]),
('boolean', 'h(i) % 2 = 0', '{}'),
('uuid', 'm(i)', '{00000000-0000-0000-0000-000000000000}'),
('oid', 'h(i) & 4294967295', '{0,4294967295}'),
('date', $$date '2000-01-01' + (h(i) % 500000)::int$$,
  '{infinity,-infinity,"4713-01-01 BC",5874897-12-31}'),
('time', $$time '00:00' + (h(i) % 86400000000) * interval '1 us'$$,
  '{00:00,24:00,23:59:59.999999}'),
('timetz', $$timetz '00:00+01' + (h(i) % 86400000000) * interval '1 us'$$,
  '{00:00+00,24:00-15:59,12:00+15:59}'),
('timestamp', $$timestamp '2000-01-01' + (h(i) % 1e17::bigint) * interval '1 us'$$,
  '{infinity,-infinity,"4713-01-01 BC"}'),
('timestamptz', $$timestamptz '2000-01-01' + (h(i) % 1e17::bigint) * interval '1 us'$$,
  '{infinity,-infinity}'),
('interval', $$make_interval(months => (h(i) % 99)::int, days => (h(i + 1) % 99)::int,
  secs => h(i + 2) % 1000000 / 1e3)$$,
 '{0,1 month,30 days,720:00,-1 month,1 month -30 days,178000000 years,-178000000 years}'),
('inet', $$CASE i % 3 WHEN 0 THEN set_masklen(inet '0.0.0.0' + (h(i) & 4294967295),
  (h(i) & 31)::int)
  WHEN 1 THEN inet '::' + (h(i) & 9e18::bigint)
    ELSE set_masklen(inet '2001:db8::' + (h(i) & 65535), (h(i) & 127)::int) END$$,
 '{0.0.0.0/0,::/0,10.0.0.1,10.0.0.1/8,::ffff:10.0.0.1}'),
('cidr', $$network(set_masklen(inet '0.0.0.0' + (h(i) & 4294967295), (h(i) & 31)::int))$$,
  '{0.0.0.0/0,::/0}'),
('macaddr', 'left(m(i), 12)', '{00:00:00:00:00:00}'),
('macaddr8', 'left(m(i), 16)', '{00:00:00:00:00:00:00:00}'),
('shade', $$('{red,orange,yellow,green,blue,indigo,violet}'::text[])[1 + (h(i) & 3) + i % 4]$$,
  '{}'),
('jsonb', $$CASE i % 6 WHEN 0 THEN to_jsonb(h(i)) WHEN 1 THEN to_jsonb(h(i) / 1000.0)
  WHEN 2 THEN to_jsonb(m(i))
  WHEN 3 THEN jsonb_build_object('id', h(i), 'name', m(i), left(m(i), 3), NULL)
  WHEN 4 THEN jsonb_build_array(i, m(i),
    jsonb_build_object('a', jsonb_build_array(h(i) % 10, true)))
  ELSE jsonb_build_object(left(m(i), 2), jsonb_build_object('x', 1.0 * (i % 5)), 'l',
    to_jsonb(ARRAY[i, i + 1])) END$$,
 ARRAY['null', 'true', 'false', '0', '-0', '1', '1.0', '1.00', '1e500', '""', '"a"', '[]', '{}',
   '[[]]', '[{}]', '[1]', '1',
  '{"a": 1, "b": 2}', '{"b": 2.0, "a": 1.0}', '{"a": {"a": {"a": []}}}',
    to_jsonb(repeat('x', 5000))::text,
  '[' || repeat('1,', 5000) || '1]']),
('integer[]', $$CASE i % 5 WHEN 0 THEN ARRAY[h(i) % 100] WHEN 1 THEN ARRAY[i, i + 1, h(i) % 1000]
  WHEN 2 THEN ARRAY[NULL, i]
  WHEN 3 THEN ARRAY[[i, 2], [NULL, h(i) % 10]] ELSE array_fill(i, ARRAY[(h(i) & 63)::int]) END$$,
 '{"{}","{NULL}","{1}","[0:0]={1}","[2:3]={1,2}","{{1}}","{{{1,2},{3,4}}}"}'),
('smallint[]', 'ARRAY[h(i) % 100, i % 7]', '{"{}"}'),
('bigint[]', 'ARRAY[h(i), h(i + 1)]', '{"{}","[0:1]={1,2}"}'),
('text[]', $$ARRAY[m(i), NULL, left(m(i), (h(i) & 31)::int)]$$,
  ARRAY['{}', '{""}', '{NULL}', '{"NULL"}', '{' || repeat('x', 3000) || ',y}']),
('varchar[]', $$ARRAY[left(m(i), 5), 'a']$$, '{"{}","{a}"}'),
('numeric[]', 'ARRAY[h(i), h(i) / 100.0]', '{"{1.5,1.50}","{NaN}"}'),
('boolean[]', 'ARRAY[h(i) % 2 = 0, h(i + 1) % 2 = 0, NULL]', '{"{t}"}'),
('double precision[]', 'ARRAY[h(i) / 1e3, 1]', '{"{-0}","{0}","{NaN,Infinity}"}'),
('uuid[]', 'ARRAY[m(i), m(i + 1)]::uuid[]', '{}'),
('shade[]', $$ARRAY['red', ('{red,blue}'::text[])[1 + i % 2]]::shade[]$$, '{}'),
('jsonb[]', 'ARRAY[to_jsonb(i), to_jsonb(m(i))]', '{}'),
('timestamptz[]', $$ARRAY[timestamptz '2024-01-01' + i * interval '1 s']$$, '{"{infinity}"}'),
('pair[]', 'ARRAY[(h(i), 1), (NULL, i)]::pair[]', '{}'),
('int4range[]', 'ARRAY[int4range(0, i::int), NULL]', '{"{empty}"}'),
('int4range', $$int4range((h(i) % 1000)::int, (1000 + i)::int,
  (ARRAY['[]', '()', '[)', '(]'])[1 + i % 4])$$,
 '{empty,"(,)","[1,)","(,1]","[1,1]","(1,2)"}'),
('int8range', 'int8range(h(i) / 2, 9e18::bigint)', '{empty}'),
('numrange', $$numrange(i / 10.0, i + 0.50, (ARRAY['[]', '()'])[1 + i % 2])$$,
  '{empty,"[1.5,1.50]","(,)"}'),
('daterange', $$daterange(date '2000-01-01' + i::int, 'infinity')$$, '{"[-infinity,infinity)"}'),
('tsrange', $$tsrange(timestamp '2000-01-01', timestamp '2000-01-01' + i * interval '1 s')$$,
  '{empty}'),
('tstzrange', $$tstzrange(timestamptz '2000-01-01',
  timestamptz '2000-01-01' + i * interval '1 s')$$, '{empty}'),
('floatrange', 'floatrange(i / 3.0, i)', '{"[-0,0]","(,NaN)"}'),
('int4multirange',
 'int4multirange(int4range(i::int, i::int + 5), int4range(i::int + 10, (i + 11 + i % 7)::int))',
 '{"{}","{(,)}","{[1,2),[5,)}"}'),
('nummultirange', 'nummultirange(numrange(i / 4.0, i))', '{"{}","{[1.0,1.00]}"}'),
('tstzmultirange', $$tstzmultirange(tstzrange('2000-01-01',
  timestamptz '2000-01-01' + i * interval '1 s'))$$, '{"{}"}'),
('pair', 'ROW(h(i), nullif(i % 1000, 0))', '{"(,)","(1,)"}'),
('inner_row', $$ROW(m(i), h(i) / 100.0, 'red')$$, '{"(,,)","(a,1.50,red)","(a,1.5,red)"}'),
('outer_row', $$ROW(i, ROW(m(i), h(i) / 10.0, 'blue')::inner_row, ARRAY[i, NULL, 3],
  to_jsonb(m(i)))$$, '{"(,,,)"}'),
('of_varchar', $$ROW(left(m(i), 5), left(m(i), (i % 5)::int))$$, '{"(a,a)","(,)"}');

-- Makes 512 values of each type, 60 of them twice, after the special ones. Every eleventh is
-- followed by NULL.
CREATE FUNCTION make_elements() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  e elements;
BEGIN
  FOR e IN SELECT * FROM elements LOOP
    EXECUTE format('CREATE TABLE element_%s (id serial, v %s)', e.number, e.type);
    EXECUTE format('INSERT INTO element_%s (v) SELECT v::text::%s FROM unnest(%L::text[]) v',
      e.number, e.type, e.special);
    EXECUTE format('INSERT INTO element_%s (v)
      SELECT CASE WHEN repeated <> 2 THEN (%s)::%s END FROM generate_series(1, 512::bigint) i,
        generate_series(1, CASE WHEN i %% 11 = 0 THEN 2 WHEN i %% 9 = 0 THEN 3 ELSE 1 END) repeated
      ORDER BY i, repeated',
      e.number, e.made, e.type);
  END LOOP;
END $$;
SELECT make_elements() \g /dev/null

-- For sizes: enough rows for all of them three times.
CREATE TABLE numbers AS SELECT i, i % 1009 AS g FROM generate_series(0, 2999999::bigint) i;
CREATE INDEX ON numbers (i);

-- The filters that are asked: stored ones, small and large, of integers and of text.
CREATE TABLE stored AS
SELECT n, bf_agg(h(i), n) AS integers, bf_agg(m(i), n, 0.001) AS texts,
  cbf_agg(h(i), n) AS counting, cf_agg(h(i), n) AS cuckoo
FROM (VALUES (1::bigint), (1000), (20000), (1000000)) sizes (n),
  LATERAL (SELECT i FROM numbers WHERE i < n) n
GROUP BY n;
VACUUM ANALYZE;
