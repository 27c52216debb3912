-- Where people go wrong, the error says what to do.
CREATE SCHEMA hints;
SET search_path = hints, public;
\i sql/include/outcome.sql
CREATE TABLE filters AS
  SELECT bf_create(10) + 1 AS bloom, cbf_create(10) + 1 AS counting, cf_create(10) + 1 AS cuckoo;
CREATE FUNCTION said(expression text, OUT code text, OUT message text, OUT hint text)
LANGUAGE sql AS
  $$SELECT code, message, hint FROM error_of(format('SELECT %s FROM filters', expression))$$;

-- A filter is not a value of a filter; the hints name what two filters are good for.
CREATE DOMAIN mine AS cuckoofilter;
SELECT expression, said.* FROM (VALUES ('bloom @> bloom'), ('bloom <@ bloom'), ('bloom + bloom'),
  ('bf_agg(bloom)'), ('bf_contains_any(bloom, ARRAY[bloom])'), ('counting @> bloom'),
  ('counting @> counting'), ('counting - counting'), ('cuckoo @> cuckoo'),
  ('cuckoo @> cuckoo::mine'), ('bloom @> money ''1''')) e(expression), said(expression) \gx
SELECT expression, said.* FROM (VALUES ('bloom && bloom'), ('counting && counting'),
  ('cuckoo && cuckoo')) e(expression), said(expression) \gx
-- The other operators that one could think of do not exist. The server says so, and none of them
-- takes a filter for something else.
SELECT expression, said.code, said.message
FROM (VALUES ('counting | counting'), ('cuckoo & cuckoo'), ('bloom | counting'),
  ('counting & bloom'), ('bloom & cuckoo'), ('cuckoo | counting'), ('cuckoo | cuckoo::mine'),
  ('5 @> bloom'), ('bloom <@ 5.5'), ('5::bigint @> counting'), ('cuckoo <@ 5'),
  ('NULL::int @> bloom')) e(expression), said(expression);
SELECT bloom && NULL AS "&& of a NULL filter", counting && NULL AS "of a NULL counting filter"
FROM filters;

-- The functions that show a filter do so for all types under the name of the first type, and an
-- untyped argument is a filter of the first type.
SELECT bf_describe(counting) = cbf_describe(counting) AS describe,
  bf_info(counting) = cbf_info(counting) AS info, bf_count(counting) = cbf_count(counting) AS count,
  bf_fpr(counting) = cbf_fpr(counting) AS fpr, bf_check(counting) IS NULL AS check,
  bf_contains(counting, 1) AS contains, bf_contains(counting, '1') AS "contains a literal"
FROM filters \gx
SELECT bf_describe(cuckoo) = cf_describe(cuckoo) AS describe,
  bf_info(cuckoo) = cf_info(cuckoo) AS info, bf_count(cuckoo) = cf_count(cuckoo) AS count,
  bf_fpr(cuckoo) = cf_fpr(cuckoo) AS fpr, bf_check(cuckoo) IS NULL AS check,
  bf_contains(cuckoo, 1) AS contains, bf_contains(cuckoo, '1') AS "contains a literal"
FROM filters \gx
PREPARE untyped AS SELECT bf_describe($1), bf_count($1), bf_fpr($1) > 0, bf_check($1),
  (bf_info($1)).layout, bf_contains($1, 1);
SELECT format('EXECUTE untyped(%L)', bloom) FROM filters \gexec
DEALLOCATE untyped;

-- A value where a filter belongs: the hint says how to make a filter of it and how to probe for it.
-- A word of four letters is base64, too. A damaged filter, or one of another type, is no such
-- value.
SELECT expression, said.* FROM (VALUES ('bf_contains(''u5'', bloom)'),
  ('cbf_contains(''u5'', counting)'), ('cf_contains(''u5'', cuckoo)'),
  ('bf_contained(bloom, ''u5'')'),
  ('''https://example.com/''::bloomfilter'), ('''user''::countingbloomfilter'),
  ('(repeat(''0f'', 32))::text::cuckoofilter'), ('''''::cuckoofilter::mine'),
  ('''a'' + bloom'), ('bf_union(bloom, ''12'')'),
  ('overlay(bloom::text PLACING ''R'' FROM 2)::bloomfilter'), ('bloom::text::cuckoofilter'),
  ('left(bloom::text, 96)::bloomfilter'), ('''u5''::bf_partial'), ('''u5''::bf_element'),
  ('''\x75''::bytea::bloomfilter'))
  e(expression), said(expression) \gx
INSERT INTO filters (bloom) VALUES ('https://example.com/');
COPY filters (counting) FROM stdin;
https://example.com/
\.
PREPARE ask AS SELECT bf_contains($1, 5);
EXECUTE ask ('5');
DEALLOCATE ask;
DO $$
DECLARE
  told boolean;
BEGIN
  IF current_setting('server_version_num')::int >= 160000 THEN
    EXECUTE $query$ SELECT hint LIKE '%bf_create(expected) + value%'
      FROM pg_input_error_info('u5', 'bloomfilter') $query$ INTO told;
    ASSERT told;
  END IF;
END $$;

-- A bloomfilter cannot remove a value.
SELECT expression, said.* FROM (VALUES ('bloom - 1'), ('bloom - 1::numeric'), ('bloom - ''1'''),
  ('bloom - ''a''::text'), ('bloom - NULL'), ('NULL::bloomfilter - 1'), ('bloom - (1, 2)'))
  e(expression), said(expression) \gx
PREPARE remove AS SELECT bloom - $1 FROM filters;
EXECUTE remove ('1');

-- || has no hint: a filter has a text form, and || of a filter and anything that may be text makes
-- text.
SELECT pg_typeof(bloom || 'x') AS "filter || literal",
  pg_typeof('x' || bloom) AS "literal || filter",
  pg_typeof(bloom || 'x'::text) AS "filter || text",
  pg_typeof('x'::text || bloom) AS "text || filter",
  outcome('SELECT bloom || 5 FROM hints.filters') AS "filter || number",
  outcome('SELECT bloom || bloom FROM hints.filters') AS "filter || filter"
FROM filters \gx

-- The hint names a type to cast the value to.
SELECT expression, said.* FROM (VALUES ('bf_agg(''{}''::json)'), ('bloom @> ''{}''::json'),
  ('bf_agg(money ''1'')'), ('bf_agg(point ''(1,2)'')'), ('bf_agg(circle ''((0,0),1)'')'),
  ('bf_agg(ARRAY[''{}''::json])')) e(expression), said(expression) \gx
SELECT expression, said.* FROM (VALUES ('bloom | (bf_create(10) + ''a''::text)'),
  ('bloom & (bf_create(10) + ''a''::text)'),
  ('(bf_create(9) + ARRAY[1]) | (bf_create(9) + ARRAY[''a''])')) e(expression), said(expression) \gx

-- What is added to a filter of another type may have been meant to be the first value. What a
-- filter is asked for need not be.
CREATE DOMAIN "it's mine" AS int;
SELECT expression, said.* FROM (VALUES ('bf_create(10) + ''5'' + 5'),
  ('bf_add_all(bf_create(10) + ''5'', ''{5}''::int8[])'),
  ('(bf_put(bf_create(10) + 5, ''a''::varchar)).was_new'),
  ('cbf_create(10) + 5 + 5.5'), ('cf_create(10) + ''5'' + 5::"it''s mine"'),
  ('bf_create(10) + ''5'' + (5, 5)'), ('bf_create(10) + ''5'' + ARRAY[5]'),
  ('bf_create(10) + ''5'' @> 5'), ('bf_create(10) + 5 @> ''5''::text'))
  e(expression), said(expression) \gx

-- A rate is not a percentage.
SELECT expression, said.* FROM (VALUES ('bf_create(10, 1)'), ('bf_agg(1, 10, 5)'),
  ('bf_agg(1, NULL, 0.51)'), ('bf_sizing(10, ''Infinity'')'), ('cbf_create(10, 10)'),
  ('cf_agg(1, 10, 1)'), ('bf_create(10, 0)'), ('bf_create(10, ''NaN'')'), ('cbf_agg(1, 10, -0.01)'),
  ('cf_sizing(10, 1e-10)'), ('bf_create(10, 100)'))
  e(expression), said(expression) \gx

-- For a filter overfilled by additions, the hint says that it could have grown, if it can.
SET bloomfilter.overfill = error;
SELECT expression, said.* FROM (VALUES
  ('bf_add_all(bf_create(10), array(SELECT generate_series(1, 100)))'),
  ('bf_add_all(bf_create(10, layout => ''guava''), array(SELECT generate_series(1, 100)))'),
  ('cbf_add_all(cbf_create(10), array(SELECT generate_series(1, 100)))'),
  ('(SELECT bf_agg(x, 10) FROM generate_series(1, 100) x)')) e(expression), said(expression) \gx
