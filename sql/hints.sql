-- Where people often make a mistake, a hint says what to do.
CREATE SCHEMA hints;
SET search_path = hints, public;
\i sql/include/outcome.sql
CREATE TABLE filters AS
  SELECT bf_create(10) + 1 AS bloom, cbf_create(10) + 1 AS counting, cf_create(10) + 1 AS cuckoo;
CREATE FUNCTION said(expression text, OUT code text, OUT message text, OUT hint text)
LANGUAGE sql AS
  $$SELECT code, message, hint FROM error_of(format('SELECT %s FROM filters', expression))$$;

-- A filter is not a value of a filter. The hints name what can be done with two filters.
CREATE DOMAIN mine AS cuckoofilter;
SELECT expression, said.* FROM (VALUES ('bloom @> bloom'), ('bloom <@ bloom'), ('bloom + bloom'),
  ('bf_agg(bloom)'), ('bf_contains_any(bloom, ARRAY[bloom])'), ('counting @> bloom'),
  ('counting @> counting'), ('counting - counting'), ('cuckoo @> cuckoo'),
  ('cuckoo @> cuckoo::mine'), ('bloom @> money ''1''')) e(expression), said(expression) \gx
SELECT expression, said.* FROM (VALUES ('bloom && bloom'), ('counting && counting'),
  ('cuckoo && cuckoo')) e(expression), said(expression) \gx
-- Other operators that one could think of do not exist. The server says so, and no operator takes a
-- filter for something else.
SELECT expression, said.code, said.message
FROM (VALUES ('counting | counting'), ('cuckoo & cuckoo'), ('bloom | counting'),
  ('counting & bloom'), ('bloom & cuckoo'), ('cuckoo | counting'), ('cuckoo | cuckoo::mine'),
  ('5 @> bloom'), ('bloom <@ 5.5'), ('5::bigint @> counting'), ('cuckoo <@ 5'),
  ('NULL::int @> bloom')) e(expression), said(expression);
SELECT bloom && NULL AS "&& of a NULL filter", counting && NULL AS "of a NULL counting filter"
FROM filters;

-- The functions that show a filter take all types under the prefix bf_. An untyped argument is read
-- as a bloomfilter.
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

-- A value is given in place of a filter. The hint says how to make a filter of the value, and how
-- to probe for it. A word of four letters is valid base64, and gets the hint, too. A damaged
-- filter, or one of another type, does not get the hint.
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
-- The text of a bytea is given in place of a filter.
SELECT expression, said.* FROM (VALUES ('''\x0101''::bloomfilter'), ('bf_union(bloom, ''\x'')'),
  ('''\x00''::countingbloomfilter'), ('bloom::bytea::text::cuckoofilter'), ('''x01''::bloomfilter'))
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

-- || has no hint. A filter has a text form, so || of a filter and anything that may be text makes
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
  ('bf_agg(money ''1'')'), ('bf_agg(point ''(1,2)'')'), ('bf_agg(regclass ''pg_class'')'),
  ('bf_agg(ARRAY[''{}''::json])')) e(expression), said(expression) \gx
SELECT expression, said.* FROM (VALUES ('bloom | (bf_create(10) + ''a''::text)'),
  ('bloom & (bf_create(10) + ''a''::text)'),
  ('(bf_create(9) + ARRAY[1]) | (bf_create(9) + ARRAY[''a''])')) e(expression), said(expression) \gx

-- A value of another type is added. It may have been meant to be the first value, so the hint says
-- how to name the type beforehand. A probe of another type gets no such hint.
CREATE DOMAIN "it's mine" AS int;
SELECT expression, said.* FROM (VALUES ('bf_create(10) + ''5'' + 5'),
  ('bf_add_all(bf_create(10) + ''5'', ''{5}''::int8[])'),
  ('(bf_put(bf_create(10) + 5, ''a''::varchar)).was_new'),
  ('cbf_create(10) + 5 + 5.5'), ('cf_create(10) + ''5'' + 5::"it''s mine"'),
  ('bf_create(10) + ''5'' + (5, 5)'), ('bf_create(10) + ''5'' + ARRAY[5]'),
  ('bf_create(10) + ''5'' @> 5'), ('bf_create(10) + 5 @> ''5''::text'))
  e(expression), said(expression) \gx

-- A filter of arrays is asked for an element, or gets one.
SELECT expression, said.* FROM (VALUES ('bf_agg(ARRAY[''t1'', ''t2'']) @> ''t1'''),
  ('bf_agg(ARRAY[''t1'', ''t2'']) @> ''t1''::text'), ('bf_agg(ARRAY[1]) @> 1'),
  ('cbf_agg(ARRAY[1]) @> 1'), ('cf_create(10) + ARRAY[1] + 1'), ('bf_agg(ARRAY[1]) @> (1, 2)'))
  e(expression), said(expression) \gx

-- A list has no type: a bare literal, or what a driver sends.
SELECT expression, said.* FROM (VALUES ('bf_contains_any(bloom, ''{1,2}'')'),
  ('bf_contains_all(bloom, ''{1,2}'')'), ('bf_contains_each(bloom, ''{}'')'),
  ('bf_contains_any(bloom, NULL)'), ('bf_add_all(bloom, ''{1,2}'')'),
  ('cbf_add_all(counting, ''{1,2}'')'), ('cf_add_all(cuckoo, ''{1,2}'')'))
  e(expression), said(expression) \gx
-- What is no list gets the server's own hint.
SELECT expression, said.code, said.message
FROM (VALUES ('bf_contains_any(bloom, 1)')) e(expression), said(expression);
PREPARE lists AS SELECT bf_contains_each(bloom, $1) FROM filters;
EXECUTE lists ('{1,2}');
DEALLOCATE lists;

-- The types of composed values are named, up to three. The server knows no more of a filter.
CREATE FUNCTION detail_of(expression text) RETURNS text LANGUAGE sql AS
  $$SELECT detail FROM error_of('SELECT ' || expression)$$;
SELECT expression, detail_of(expression) FROM (VALUES
  ('bf_agg((1, ''a''::text)) @> (1, 2)'), ('bf_agg((1, ''a''::text)) @> ROW(1)'),
  ('bf_agg(ROW(1)) @> (1, ARRAY[(1, 2)], ''{}''::jsonb, now())'),
  ('bf_agg((1, ARRAY[1])) @> (ARRAY[1], 1)'), ('bf_agg(ROW(ROW(1, 2), 3)) @> ROW(ROW(1))'),
  ('bf_agg((1, 2, 3, 4)) @> (1, 2)'), ('bf_agg(ARRAY[1]) @> ARRAY[''a'']'),
  ('bf_agg(int4range(1, 2)) @> numrange(1, 2)'),
  ('bf_agg(ARRAY[''{}''::int4multirange]) @> ARRAY[''{}''::nummultirange]'),
  ('bf_agg(ROW(1)) | bf_agg((1, 2))'), ('cbf_union(cbf_agg(ROW(1)), cbf_agg((1, 2, 3, 4)))'))
  e(expression);

-- A type is given in place of a layout. An aggregate has its type from its values.
SELECT expression, said.* FROM (VALUES ('bf_create(1000, 0.01, ''text'')'),
  ('bf_create(1000, 0.01, ''it''''s'')'), ('bf_agg(1, 1000, 0.01, ''text'')'))
  e(expression), said(expression) \gx

-- A rate is not a percentage.
SELECT expression, said.* FROM (VALUES ('bf_create(10, 1)'), ('bf_agg(1, 10, 5)'),
  ('bf_agg(1, NULL, 0.51)'), ('bf_sizing(10, ''Infinity'')'), ('cbf_create(10, 10)'),
  ('cf_agg(1, 10, 1)'), ('bf_create(10, 0)'), ('bf_create(10, ''NaN'')'), ('cbf_agg(1, 10, -0.01)'),
  ('cf_sizing(10, 1e-10)'), ('bf_create(10, 100)'))
  e(expression), said(expression) \gx

-- If additions overfill a filter that could have grown, the hint says so.
SET bloomfilter.overfill = error;
SELECT expression, said.* FROM (VALUES
  ('bf_add_all(bf_create(10), array(SELECT generate_series(1, 100)))'),
  ('bf_add_all(bf_create(10, layout => ''guava''), array(SELECT generate_series(1, 100)))'),
  ('cbf_add_all(cbf_create(10), array(SELECT generate_series(1, 100)))'),
  ('(SELECT bf_agg(x, 10) FROM generate_series(1, 100) x)')) e(expression), said(expression) \gx
