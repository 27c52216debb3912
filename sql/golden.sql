-- Stored filters stay readable for ever. Every version and every machine must compute these hashes
-- and filters, for every element type. If a line here has to change, the format has changed. The
-- data were computed from the description of the format, not taken from this code.
CREATE SCHEMA golden;
SET search_path = golden, public;
CREATE TYPE mood AS ENUM ('sad', 'happy');

-- value: an expression. hash: its bf_hash().
CREATE TABLE hashes (id serial, family text, value text, hash bigint);
COPY hashes (family, value, hash) FROM stdin (FORMAT csv, DELIMITER '|', QUOTE e'\x01');
integer|5::int2|-8213464378072455284
integer|(-1)::int4|5841669975847748627
integer|9223372036854775807|-6758830778922508474
float|1.5::float4|2693614958850487384
float|0.1::float8|-3902581968059104307
float|'-0'::float8|-4072596861322023719
float|'NaN'::float4|767333564151873895
float|'-Infinity'::float8|-7607982011244918730
numeric|1.50|-6819023310520239738
numeric|-12345.678|-2380812601100561516
numeric|1e20|2258293631648205610
numeric|0.00|5238470482016868669
numeric|'NaN'::numeric|7669354627001414174
numeric|'Infinity'::numeric|-5336762714638431679
numeric|'-Infinity'::numeric|-2700257394099059146
text|'abc'::text|8696274497037089104
text|'bc  '::char(6)|2483557330662156479
text|'name'::name|879695947855722453
text|''::varchar|3244421341483603138
bytea|'\x00ff'::bytea|-6225377411875435533
bytea|'\x'::bytea|3244421341483603138
uuid|'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid|6187780171734267751
boolean|true|-2220562881957146901
boolean|false|-4302098779834749733
"char"|'a'::"char"|-1817709641818812897
oid|5::oid|-4958352860337364370
oid|4294967295::oid|-3644788059813222868
date|date '1970-01-02'|-2665511616818817272
date|date '2024-02-29'|-2259148080691886741
date|date '1969-12-31'|-3644788059813222868
timestamp|timestamp '1970-01-01 00:00:01'|3181700808144611680
timestamp|timestamp '2024-02-29 12:00'|3590945632840769509
timestamptz|timestamptz '2024-02-29 13:00+01'|3590945632840769509
time|time '00:00:01.5'|-3688125567325930858
time|time '24:00'|3303014626796789818
timetz|timetz '12:00+01'|-295704793277765477
interval|interval '1 month'|4033834677654087064
interval|interval '-1 day'|-4822836841731751131
interval|interval '1 year 2 days 3 seconds'|-6881286144609634624
inet|'10.0.0.0/8'::cidr|6119274074081827876
inet|'10.0.0.1'::inet|5205961679724090579
inet|'2001:db8::1'::inet|3391224298274151753
macaddr|'08:00:2b:01:02:03'::macaddr|-2956189975210676488
macaddr8|'08:00:2b:01:02:03:04:05'::macaddr8|3053215939211025299
jsonb|'1.0'::jsonb|-41183642542322100
jsonb|'"a"'::jsonb|-5094252040585713352
jsonb|'null'::jsonb|-4302098779834749733
jsonb|'[true, [false], {}]'::jsonb|3488226590619463636
jsonb|'{"b": [1, null], "a": {"c": "d"}}'::jsonb|-978201776212698962
enum|'happy'::mood|8723733526127990741
array|'{1,2,NULL}'::int[]|8776831315906657319
array|'{}'::int2[]|5238470482016868669
array|'[0:1][1:1]={{1},{2}}'::int8[]|-8944239024354864948
range|'[1,3]'::int4range|-6960357094304204078
range|'empty'::int8range|-2220562881957146901
range|'(,4)'::int4range|-6885933742259146535
range|'(,)'::int4range|-2941004127381733739
multirange|'{[1.0,2],(3,)}'::nummultirange|-6173880855294723439
multirange|'{}'::nummultirange|5238470482016868669
row|row(1, 'a'::text)|-6391781440536712795
row|row(1::int8, NULL::varchar)|6107747284369156305
\.

-- bf_create(10) plus all values of the family.
CREATE TABLE filters (family text, filter bloomfilter);
INSERT INTO filters VALUES
  ('integer',
    'AQEBBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAAAAAAAAAAAACAhCAAAAEAAAAAIAAAgoAAAg'
    'AAAAAAAAAAAAAAAAgAAAAAACgAAAAQAAABAMAAAAAACAAA=='),
  ('float',
    'AQECBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAAEGAgAAAAAAQAAAAAAQAAAAAAAAAIECAAAC'
    'gBAAIAAAFBEQAwAEAAAAAABCAABQAAAgAAAAAAMCAAAAAA=='),
  ('numeric',
    'AQEDBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAgAAAAAgBAAAIABAABAAAAICAADAAEIAEAFFAAEQ'
    'AgCgQEEBEIAQAAAQAAggAAAAACAAQgAQAgSACAAAAAAQAA=='),
  ('text',
    'AQEEBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAQAAAEAAAAABCAEAACAAAAAQAABEAIAAABABEAA'
    'AAAAAAEAAIABAAAAAAAIEAAAkAAAQAAEAAAAAAAAAAAAAQ=='),
  ('bytea',
    'AQEFBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAQAAAEAAAIAAAAAAACAAAABQAAAAAAAAAAAAAAA'
    'AAAAAAAAAIAAAAAAAAAAAAAAkIAAAAAAAAAAAAAAAAAgAA=='),
  ('uuid',
    'AQEGBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAAACAAAAAAQAQAAAAAAAAAAACAAAAAACAAAC'
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=='),
  ('boolean',
    'AQEHBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAQAAAAAAAACAgAAIA'
    'ACAAAAAAAAAAAEAQAAAAAAAAAABAAAAAAAQAAAAABAABAA=='),
  ('"char"',
    'AQEIBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    'AAAAAACIAAAAAAAAAAAAAAAAAACAAAQAAAAAAAAAAAAAQA=='),
  ('oid',
    'AQEJBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAAAAAAAAAAAAQAIBAAAABBAAAAAAIAAAAAIA'
    'AAAAAABAAAAAAAAIAAAAAAAAIQQAAAAAAAAAAAAAAAAAAA=='),
  ('date',
    'AQEKBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAIAAAgAAAAAAAAAAQAAAAAAAAAAAAAAAIAAAAAAE'
    'AEAAAABAAAEAAAAoAAAAAAAQIAQBIAAAAAAAAAAAIAAAAA=='),
  ('timestamp',
    'AQELBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAACAAAgAAAAAAAgAAAAAAgAAAAAAAAAABAAAAAAAA'
    'AAAAAAAAgAAAIEAAAAAABAAAAAAABAAAAAAAAAAAAAEEAA=='),
  ('timestamptz',
    'AQEMBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAgAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAA'
    'AAAAAAAAAAAAAEAAAAAABAAAAAAABAAAAAAAAAAAAAEAAA=='),
  ('time',
    'AQENBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAEAAAAAAAAIAAIAAAACAAAAAAAAAAAEAAAAAAA'
    'AAAAAAAAAAAAAAAABASCAAAACAAAAABAAAAAAAAAAIAAAA=='),
  ('timetz',
    'AQEOBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAQBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAA'
    'AAAAAAAAIAAAAAAAAAAAAAAAAAAAAIAAAAAAAAIAAAAAAA=='),
  ('interval',
    'AQEPBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAAgAEAAAAAQAEAAAAAIAEAAABIAAAAAAAAAA'
    'BABAAAABCAAGAAAAAAAAAAAAAAAAAABAQAAAQAAAAAAAAA=='),
  ('inet',
    'AQEQBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAQAAACAAAgIAAAA'
    'AQAAAACAAAQEACACAAQBAABAAAAAAAEAAAQAAAAIIAAAAA=='),
  ('macaddr',
    'AQERBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQA'
    'AAAAAAAAABAAAAAAAAAAgAAAQAAAAAAAIAAAAAAgAAAAAA=='),
  ('macaddr8',
    'AQESBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAIAAAAAAAAAAAAAAACAAAAAAAAAAAIgAAAAAAAg'
    'AAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=='),
  ('jsonb',
    'AQETBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAgAAAgAAAAAAAAQAABAAAAKAQAAAAAAAACAABAAA'
    'AEAAQAAgAQKAAEAQAABAEAAAAAACAGAAAAQgQAAIACABAA=='),
  ('enum',
    'AQEUBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAAAAAAAAAAAAAEAAAAAAABAAAAAAAAAAAAIAAgAA'
    'AAAAAAAAAAAAAAAEAAIAAAAAAAAAAAAAAAAAAAAAAAAAAA=='),
  ('array',
    'AQEVBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAARPMOCECAAAAAAAAAIQAAAgAAAAAAAAAAAAAAAAIAAAAC'
    'AAAAQAABIAAAAAAAAAgAAAAEAAAAAACRAAQAAAAAAAAAAA=='),
  ('range',
    'AQEWBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAXpQiQAAAAAAAAAAgAAAAAAAACAAAAAAEAQQAAAAgAAII'
    'ASAAgAAAAABAAAAAAAQAQAACCABAAAAAAABAAAICBAAAAg=='),
  ('multirange',
    'AQEXBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAmdT1AAAAAAAAgAAAIAAAAAAAAAAAEAAAAAAAAAAAAAAA'
    'AAAARAABAAAAAABAAAgAAAAAAgAAAAAQAAQAAAAAAAAAgA=='),
  ('row',
    'AQEYBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAADQegAAAAAAAAACAAAAABAAAAAAIACAAAAAEAAAAAQAAA'
    'AAAAAAAAAAAAAAEAAAAAAAAAgAQEAAAAAAAAAQAAAAACAA==');

CREATE FUNCTION hash_of(value text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  result bigint;
BEGIN
  EXECUTE format('SELECT bf_hash(%s)', value) INTO result;
  RETURN result;
END $$;
CREATE FUNCTION filter_of(value_list text) RETURNS bloomfilter LANGUAGE plpgsql AS $$
DECLARE
  result bloomfilter;
BEGIN
  EXECUTE 'SELECT bf_create(10) + ' || value_list INTO result;
  RETURN result;
END $$;
CREATE FUNCTION contains(filter bloomfilter, value text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  result boolean;
BEGIN
  EXECUTE format('SELECT $1 @> (%s)', value) INTO result USING filter;
  RETURN result;
END $$;

SELECT count(*) AS hashes, count(DISTINCT family) AS families FROM hashes;
SELECT family, value, hash, hash_of(value) FROM hashes WHERE hash <> hash_of(value);
SELECT family, filter, filter_of(value_list) AS built
FROM filters FULL JOIN (
  SELECT family, string_agg(value, ' + ' ORDER BY id) AS value_list FROM hashes GROUP BY family) v
  USING (family)
WHERE (filter = filter_of(value_list)) IS NOT TRUE;
SELECT family, value FROM hashes FULL JOIN filters USING (family)
WHERE contains(filter, value) IS NOT TRUE;
SELECT family, element_type FROM filters, bf_info(filter) WHERE element_type <> family;

-- A row within another value ends with its last field that is not NULL. Long values are hashed in
-- parts.
SELECT value, hash, hash_of(value) FROM (VALUES
  ('row(1, row(2, NULL::text))', -325959851577091836), ('row(1, row(2))', -325959851577091836),
  ('row(row(NULL::text, 5, NULL::text))', 6929152670931508318),
  ('array[row(1, NULL::int), row(NULL::int, NULL::int)]', 5931653629566827713),
  ('array(SELECT generate_series(1, 1000))', -6162129968701571466),
  ('row(array(SELECT generate_series(1, 1000)), NULL::text)', 6702980561323726787)) v(value, hash)
WHERE hash <> hash_of(value);

-- Filters with the integers from 1 to 1000: both layouts, a seed, a chosen geometry, and a
-- self-sized filter.
SELECT md5(bf_add_all(f, list)::bytea) = md5 AS "same bytes", layout, hashes, bits, seed
FROM (VALUES
  (bf_create(1000), '1747e7d60b45e42855c541bba9aa878f'),
  (bf_create(1000, 0.0001), '5d0d7dc34dd9e47a64c2c38a1d0bf90d'),
  (bf_create(1000, seed => -42), '9f95a3b9b75b32cf256f0f41709e79c3'),
  (bf_create_by_size(5000, 7), 'aa423eea667b7fe9cb81fd461b033332')) v(f, md5),
  (SELECT array_agg(x) AS list FROM generate_series(1, 1000) x) l, bf_info(f)
ORDER BY bits, seed;
SELECT md5(bf_agg(x)::bytea) = 'e38e34fe3dfd89b58f8831d53d381b73' AS same
FROM generate_series(1, 1000) x;

-- Filters of several links: unions of two sizes, of self-sized filters, and of filters where one
-- covers another. Filters that grew.
SET bloomfilter.overfill = ignore;
CREATE FUNCTION made(empty bloomfilter, first int, last int) RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_add_all(empty, array(SELECT generate_series(first, last)))';
CREATE FUNCTION self_sized(first int, last int) RETURNS bloomfilter LANGUAGE sql AS
  'SELECT bf_agg(x) FROM generate_series(first, last) x';
SELECT number, links, md5(f::bytea) = md5 AS "same bytes"
FROM (VALUES
  (1, made(bf_create(10), 1, 10) | made(bf_create(1000), 11, 500),
   'cafd0ab9966fdd915d13e258cf45d842'),
  (2, made(bf_create(2000, 0.0001, seed => -42), 1, 2000)
    | made(bf_create(100, seed => -42), 1901, 2000),
   '86770bad6fb87ffde07f2d2c5dc68efb'),
  (3, self_sized(101, 140) | self_sized(1, 40) | self_sized(41, 85),
   '158ea6493a5f2cd38862ba6f56e03ed8'),
  (4, self_sized(1, 40) | self_sized(5, 20) | made(bf_create(30), 21, 40)
    | made(bf_create_by_size(512, 6), 41, 45) | self_sized(30, 50),
   '5949eccea5477cafb04ab80e81b2771f'),
  (5, made(bf_create(100, grow => true), 1, 3000),
   '871a68332539d963fafb42b7ecaf2754'),
  (6, made(bf_create(300, 0.0001, grow => true), 1, 5000),
   '31672ebf3c3b8fb218b1c93a155ffc4c'),
  (7, made(bf_growable(made(bf_create(50), 1, 50) | made(bf_create(200, 0.001), 51, 200)),
           201, 2000),
   '28392fef859915128cb3d61e8bb252c0'),
  (8, made(made(bf_create(20, 0.02, grow => true), 1, 200)
           | made(bf_create_by_size(20000, 5), 150, 300), 301, 600),
   '89824e36c04c135d046bbb20a9a71259')) v(number, f, md5), bf_info(f)
ORDER BY number;

-- Counting filters: 2 has saturated counters, 3 has pages, 4 has text and a seed, 6 is cast to a
-- bloomfilter. Cuckoo filters: 7 to 10 have kicks, 11 is a union, 12 to 14 are self-sized. 13 was
-- made at the fifth attempt, and 14 at the second, in the next size class. Each row has the stored
-- form, or its SHA-256 if it is long.
CREATE FUNCTION without(filter countingbloomfilter, first int, last int) RETURNS countingbloomfilter
LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN first .. last LOOP
    filter := filter - i;
  END LOOP;
  RETURN filter;
END $$;
CREATE FUNCTION without(filter cuckoofilter, first int, last int) RETURNS cuckoofilter
LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN first .. last LOOP
    filter := filter - ('v' || i);
  END LOOP;
  RETURN filter;
END $$;
CREATE TABLE counted (number int, stored text);
INSERT INTO counted VALUES
  (1,
    'AREBBgAAAAAAAAAACgAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAACAAAAACAAAAAEAAAAAAAAAAAAQAAAAAAAAAEAA'
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAgAAAAAgAAAABAAAAAAAAAAAAEAAAAAAAAABAAAAA'
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=='),
  (2,
    'AREBBgAAAAAAAAAACAAAAAAAAAB7FK5H4XqEPwEAAAAAAAAAAACAAAAACAAAAAEAAAAABAQAAAAQAAAAEAAAAEAA'
    'AAAAAAAAAAAAAAAAAAAKEAAAAAAAAAAAAAAAAAAAAAACAAAAgAAAAAgAAAABAAAAAAAAAAAAEAAAAAAAAABAAAAA'
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAIAAAAAIAAAAAQAAAAAAAAAAABACAAAAAAAAQAAEQAIA'
    'AAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAIAAACAAAAACAAAAAEAAAAAAAAAAAAQAAAAAAAAAEAAAAAAAAAA'
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAA=='),
  (3, '912fc788de5481326363a8e0dd92c7ce06de5b463b85a661b007a1f88d728e10'),
  (4, 'efb6442869b4bff03fcedca3977b09da1b305b7e8c378da1e2a76d144fd36208'),
  (5, 'e911e59dc607845c5678f9e10cbd65e641a91c0ebd3a53c801a03c51ef976be6'),
  (6, '55d989c5911708df6333c6820a1591c98d69679780cebf66c1d7ebaac7265435'),
  (7, 'ASEBBwAAAAAAAAAABAAAAAAAAACamZmZmZm5PwMAAAAAAAAAAQAAAOHkrLF2kTpsKgEA'),
  (8, 'ASEBCgAAAAAAAAAABQAAAAAAAAB7FK5H4XqEPwMAAAAAAAAAAgAAAEhSBgAA5wAAAACUUUYZZQ=='),
  (9, '77fa8e6ab6eb2fb407f25c0b0e9274a2cf6d911d5f1942dc61ecf1a9dd5e5735'),
  (10, 'f774665ffa8d58e064853250052c723177adb2c0b0b6892b0d19cc8c5bda520a'),
  (11, '87a57008bfbdbb55b35f717876647c29a2939e6e9a3eb8c52fc6a6829200d4ac'),
  (12, '4501157dd3b6ec419a4a81ae2b345eab7a218fb688fa345a8c6d546149437117'),
  (13,
    'ASEBBgAAAAAAAAAACQAAAAAAAAAAAAAAAADgPwgAAAACAAAAAAAAAE3TNAAAAAAAAAAAAAAAAAAAAA0AAE3TNA=='),
  (14, '8479e5184df1a96eb4e17331da91ffcd07bd68452fbd02b66b02231195078e6d');

SELECT number,
  stored IN (replace(encode(bytes, 'base64'), e'\n', ''), encode(sha256(bytes), 'hex')) AS same
FROM (VALUES
  (1, (cbf_add_all(cbf_create(10), '{1,1,1,2}'::int[]) - 2)::bytea),
  (2, (cbf_union(cbf_add_all(cbf_create(7), '{1,1,1,1,1,1,1,1,1,2,2,2}'::int[]),
                 cbf_add_all(cbf_create(8), '{1,1,1,1,1,1,1,1,1,1,2,3}'::int[])) - 1)::bytea),
  (3, (SELECT without(cbf_add_all(cbf_create(1000, 0.0001), array_agg(i)), 1, 400)::bytea
      FROM generate_series(1, 1000) i)),
  (4, (SELECT cbf_add_all(cbf_create(300, 0.001, -42), array_agg('v' || 1 + i % 300))::bytea
      FROM generate_series(0, 319) i)),
  (5, (SELECT cbf_agg(i % 700)::bytea FROM generate_series(1, 2000) i)),
  (6, (SELECT cbf_agg(i % 700)::bloomfilter::bytea FROM generate_series(1, 2000) i)),
  (7, cf_add_all(cf_create(4, 0.1), '{1,2,3,4,5,6,7,8,9,10,11}'::int[])::bytea),
  (8, (cf_add_all(cf_create(5), '{1,1,1,1,1,1,2,2,5}'::int[]) - 2 - 1)::bytea),
  (9, (SELECT cf_add_all(cf_create(1000), array_agg(i))::bytea FROM generate_series(1, 990) i)),
  (10, (SELECT without(cf_add_all(cf_create(950, 0.000001, 7), array_agg('v' || i)), 1, 200)::bytea
       FROM generate_series(1, 980) i)),
  (11, cf_union((SELECT cf_add_all(cf_create(2000, 0.001), array_agg(i))
                 FROM generate_series(1, 1200) i),
                (SELECT cf_agg(i, 1999, 0.001) FROM generate_series(1001, 1800) i))::bytea),
  (12, (SELECT cf_agg(i, NULL, 0.000000001)::bytea FROM generate_series(1, 2000) i)),
  (13, (SELECT cf_agg(i, NULL, 0.5)::bytea
       FROM unnest('{54,118,198,210,242,336,557,611,806}'::int[]) i)),
  (14, (SELECT cf_agg(i, NULL, 0.5)::bytea
       FROM (SELECT generate_series(1, 205)
             UNION SELECT unnest('{257,663,857,1065,1234,1554,1721,1812,2497}'::int[])) made (i)))
) v(number, bytes) FULL JOIN counted USING (number)
ORDER BY number;
SELECT number, cbf_multiplicity(stored::countingbloomfilter, 1) AS ones,
  cbf_multiplicity(stored::countingbloomfilter, 2) AS twos
FROM counted WHERE number IN (1, 2) ORDER BY number;
SELECT number, cf_multiplicity(stored::cuckoofilter, 1) AS ones,
  cf_multiplicity(stored::cuckoofilter, 2) AS twos
FROM counted WHERE number IN (7, 8) ORDER BY number;

-- Partial states and elements: base64 of what doc/format.md says about the hashes of 1, 2 and 3.
-- The last row has four bytes of its own, and then the bytes of a filter.
SELECT bf_partial_agg(bf_element_of(i))::text
    = 'AQAAAAEBAQYAAAAAAAAAAAEAAAAAAAAAexSuR+F6hD8BAAAAAgAAAEPi7pFcxoYgLnnbZDVZvC99LvTBKSCSTQ=='
    AS self_sized,
  bf_partial_agg(bf_element_of(i), 1000)::text
    = 'AQAAAAEBAQYAAAAAAAAAAOgDAAAAAAAAexSuR+F6hD8UAAAAAAAAAEPi7pFcxoYgLnnbZDVZvC99LvTBKSCSTQ=='
    AS sized
FROM generate_series(1, 3) i;
SELECT bloomfilter_partial_send(bf_partial_agg(bf_element_of(i), 3))
  = '\x01010000'::bytea || bf_agg(i, 3)::bytea AS bitmap
FROM generate_series(1, 20) i;
SELECT bf_element_of(1)::text = 'AQAAAAAAAAAuedtkNVm8Ly5522Q1Wbwv' AS integer,
  bf_element_of('b  '::varchar)::text = 'BAAAAAAAAAA6OwpvL0btNj+E2EQcC1pX' AS varchar;
-- These states will always be merged into the same filter.
SELECT bf_merge_agg(p::bf_partial) = (SELECT bf_agg(i) FROM generate_series(1, 3) i) AS merged
FROM (VALUES
  ('AQAAAAEBAQYAAAAAAAAAAAEAAAAAAAAAexSuR+F6hD8BAAAAAgAAAEPi7pFcxoYgLnnbZDVZvC99LvTBKSCSTQ=='))
  v(p);

-- Over no rows: a filter of the requested size. Without a request, a bloomfilter that grows from
-- 100 values on, and filters of the other types for 1000 values. All have the flags of a self-sized
-- filter.
CREATE FUNCTION zeros(count int) RETURNS bytea LANGUAGE sql AS
  $$SELECT decode(repeat('00', count), 'hex')$$;
SELECT bf_agg(i)::bytea = '\x010100000000000000000000'::bytea
    || '\x64000000000000007b14ae47e17a843f' || '\x0100000007000000'
    || '\x64000000000000007b14ae47e17a643f' || '\x0300000008120000' || zeros(192)
    AS grows,
  bf_agg(i, 1000, 0.001)::bytea = '\x010100090000000000000000'::bytea
    || '\xe803000000000000fca9f1d24d62503f' || '\x1f00000002000000' || zeros(31 * 64) AS asked,
  cbf_agg(i)::bytea = '\x011100060000000000000000'::bytea || '\xe8030000000000007b14ae47e17a843f'
    || '\x1400000002000000' || zeros(20 * 256) AS counting,
  cf_agg(i)::bytea = '\x0121000a0000000000000000'::bytea || '\xe8030000000000007b14ae47e17a843f'
    || '\x0801000002000000' || zeros(4 + 264 * 5) AS cuckoo,
  bloomfilter_partial_send(bf_partial_agg(bf_element_of(i), 1000)) = '\x01020000'::bytea
    || '\x010100060000000000000000' || '\xe8030000000000007b14ae47e17a843f' || '\x1400000000000000'
    AS partial
FROM generate_series(1, 0) i;

-- Sizes of self-sized filters: the layout, k and units of a bloomfilter and of a counting filter,
-- and the layout, the bits of a fingerprint and the buckets of a cuckoo filter.
CREATE FUNCTION size_of(filter bytea) RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(' ', get_byte(filter, 1), get_byte(filter, 3),
    get_byte(filter, 28) + (get_byte(filter, 29) << 8) + (get_byte(filter, 30) << 16)) $$;
CREATE TABLE sizes (distinct_values int, rate float8, bloom text, counting text, cuckoo text);
COPY sizes FROM stdin (DELIMITER '|');
500|0.01|1 6 10|17 6 10|33 10 152
500|0.0001|1 12 22|17 12 22|33 17 152
500|1e-09|2 16 8|18 16 8|33 32 304
1700|0.01|1 6 34|17 6 34|33 10 448
1700|0.0001|2 12 9|18 12 9|33 17 448
1700|1e-09|2 16 25|18 16 25|33 32 896
3300|0.01|1 6 64|17 6 64|33 10 896
3300|0.0001|2 12 17|18 12 17|33 17 896
3300|1e-09|2 16 50|18 16 50|33 32 1792
5200|0.01|1 6 104|17 6 104|33 10 1408
5200|0.0001|2 12 26|18 12 26|33 17 1408
5200|1e-09|2 16 80|18 16 80|33 32 2816
10000|0.01|1 6 200|17 6 200|33 10 2688
10000|0.0001|2 12 50|18 12 50|33 17 2688
10000|1e-09|2 16 152|18 16 152|33 32 5376
40000|0.01|1 6 800|17 6 800|33 10 10752
40000|0.0001|2 12 200|18 12 200|33 17 10752
40000|1e-09|2 16 608|18 16 608|33 32 21504
60000|0.01|1 6 1216|17 6 1216|33 10 15872
60000|0.0001|2 12 304|18 12 304|33 17 15872
60000|1e-09|2 16 896|18 16 896|33 32 31744
\.
SELECT bool_and(size_of(f::bytea) = bloom) AS bloom,
  bool_and(size_of(c::bytea) = counting) AS counting,
  bool_and(size_of(cuckoo_filter::bytea) = cuckoo) AS cuckoo,
  bool_and(size_of(merged::bytea) = bloom) AS merged
FROM sizes, LATERAL (SELECT bf_agg(i, NULL, rate) AS f, cbf_agg(i, NULL, rate) AS c,
    cf_agg(i, NULL, rate) AS cuckoo_filter FROM generate_series(1, distinct_values) i) made,
  LATERAL (SELECT bf_merge_agg(p) AS merged
    FROM (SELECT bf_partial_agg(bf_element_of(i), NULL, rate) AS p
          FROM generate_series(1, distinct_values) i GROUP BY i % 3) parts) m;
