\set ECHO none
-- GIN keeps the n-grams themselves, and an index of Bloom filters keeps their hashes. Both ask the
-- same functions, so a GIN index shows exactly which rows have the n-grams of a condition.
CREATE OPERATOR CLASS gin_ngram_ops FOR TYPE text USING gin AS
  OPERATOR 3 ~~, OPERATOR 4 ~~*, OPERATOR 5 ~, OPERATOR 6 ~*, OPERATOR 101 ^@,
  FUNCTION 1 btint4cmp(int, int),
  FUNCTION 2 bloompages_ngram_values(text, internal),
  FUNCTION 3 bloompages_ngram_query(text, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 6 bloompages_ngram_consistent(internal, smallint, text, int, internal, internal,
    internal),
  STORAGE int;

-- Returns up to `most` of the pieces, one after the other.
CREATE FUNCTION random_text(pieces text[], most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text := '';
BEGIN
  FOR i IN 1 .. random() * most LOOP
    result := result || pieces[1 + floor(random() * cardinality(pieces))];
  END LOOP;
  RETURN result;
END $$;

-- Returns the text with some characters written in the other case.
CREATE FUNCTION in_other_case(t text) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(CASE WHEN random() < 0.6 THEN c
                         WHEN random() < 0.5 THEN upper(c COLLATE "und-x-icu")
                         ELSE lower(c COLLATE "und-x-icu") END, '' ORDER BY i)
  FROM regexp_split_to_table(t, '') WITH ORDINALITY s(c, i)
$$;

-- Turns a text into a pattern that may match it: characters are replaced by one of `instead`,
-- escaped if they mean something, and followed by one of `after`.
CREATE FUNCTION random_pattern(t text, special text, instead text[], after text[])
RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(
    CASE WHEN random() < 0.08 THEN instead[1 + floor(random() * cardinality(instead))]
         WHEN position(c IN special) > 0 AND random() < 0.95 THEN '\' || c
         ELSE c END ||
    CASE WHEN random() < 0.1 THEN after[1 + floor(random() * cardinality(after))] ELSE '' END,
    '' ORDER BY i)
  FROM regexp_split_to_table(t, '') WITH ORDINALITY s(c, i)
$$;

-- Texts on several pages, and conditions on them.
CREATE TABLE texts (i int, v text) WITH (fillfactor = 10);
CREATE TABLE conditions (operator text, pattern text);

-- Fills both tables. Many texts fulfil many conditions.
CREATE FUNCTION make_texts(how_many int) RETURNS void LANGUAGE sql AS $$
  TRUNCATE texts, conditions;
  INSERT INTO texts
  SELECT i, random_text(ARRAY['timeout', 'connection reset', 'Kiki', 'GET /api', 'I', 'i', 'K', 'k',
    's', 'S', 'a', 'B', 'x', '%', '_', '\', '.', '*', '(', '"', '{', ' ', 'é', 'É', 'Ж', 'ж', 'ß',
    '日', 'ı', U&'\212A', U&'\00CC', U&'\00CD', U&'\0128', U&'\0130', U&'\0130', U&'I\0307',
    U&'\0301'], 3 + i % 10)
  FROM generate_series(1, how_many) i;
  INSERT INTO conditions
  SELECT operator, CASE WHEN operator LIKE '%*' THEN in_other_case(pattern) ELSE pattern END
  FROM (
    SELECT operator,
      CASE WHEN operator = '^@' THEN left(v, 6) WHEN operator LIKE '~~%' THEN
        repeat('%', i % 2) || random_pattern(v, '%_\', '{%,_,%%,_%}', '{%,_,""}')
      ELSE
        random_pattern(v, '.*+?()[]{}|^$\', '{.,.*,"(a|I)","[a-z]","\\w","\\x49",|}',
                       '{*,+,?,*?,+?,??,"{1,2}","{0}",.*,^,$,"(?=.)",|k}')
      END AS pattern
    FROM texts, unnest('{~~,~~*,~,~*,^@}'::text[]) operator WHERE v <> '') p;
  -- Some are no regular expressions, or end with an escape character.
  DELETE FROM conditions WHERE outcome(format('SELECT %L %s %L', 'x', operator, pattern)) <> 'ok'
    OR operator LIKE '~~%' AND pattern ~ '(^|[^\\])(\\\\)*\\$';
$$;

-- Asks all conditions with an index of an access method and with a scan. Returns how many
-- conditions some texts fulfil, and those to which the index gave another answer.
CREATE FUNCTION asked(collation_name name, method name, OUT fulfilled bigint, OUT different text[])
LANGUAGE plpgsql AS $$
DECLARE
  query text;
  kind text;
BEGIN
  EXECUTE format('CREATE INDEX asked ON texts USING %s (v COLLATE %I %s) %s',
    method, collation_name, CASE method WHEN 'gin' THEN 'gin_ngram_ops' ELSE 'text_ngram_ops' END,
    CASE method WHEN 'gin' THEN '' ELSE 'WITH (pages_per_range = 1)' END);
  CREATE TEMP TABLE answers (operator text, pattern text, by_index int[], by_scan int[]);
  FOR kind IN SELECT DISTINCT operator FROM conditions LOOP
    query := format('SELECT pattern, (SELECT array_agg(i ORDER BY i) FROM texts '
                    'WHERE v COLLATE %I %s pattern) FROM conditions WHERE operator = %L',
                    collation_name, kind, kind);
    SET LOCAL enable_seqscan = off;
    SET LOCAL enable_bitmapscan = on;
    EXECUTE format('CREATE TEMP TABLE by_index AS %s', query);
    SET LOCAL enable_seqscan = on;
    SET LOCAL enable_bitmapscan = off;
    EXECUTE format('CREATE TEMP TABLE by_scan AS %s', query);
    SET LOCAL enable_bitmapscan = on;
    INSERT INTO answers
    SELECT kind, pattern, i.array_agg, s.array_agg
    FROM (SELECT DISTINCT * FROM by_index) i JOIN (SELECT DISTINCT * FROM by_scan) s
      USING (pattern);
    DROP TABLE by_index, by_scan;
  END LOOP;
  SELECT count(by_scan),
    array_agg(operator || ' ' || pattern) FILTER (WHERE by_index IS DISTINCT FROM by_scan)
  INTO fulfilled, different FROM answers;
  DROP TABLE answers;
  DROP INDEX asked;
END $$;

-- Returns the characters beyond ASCII, except those that are known to have an ASCII letter as their
-- lower case under some collation.
CREATE FUNCTION other_characters() RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(chr(c), '') FROM generate_series(128, 1114111) c
  WHERE c NOT BETWEEN 55296 AND 57343 AND c NOT IN (204, 205, 296, 304, 8490)
$$;

-- Returns the other characters that have an ASCII letter as their lower case under a collation, or
-- that match one regardless of case. There must be none.
CREATE FUNCTION with_ascii_letter(collation_name name, characters text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
  condition text;
  has_some boolean;
BEGIN
  FOREACH condition IN ARRAY ARRAY['lower(%s COLLATE %I) COLLATE "C" ~ ''[A-Za-z]''',
                                   '%s COLLATE %I ~* ''[a-z]'''] LOOP
    EXECUTE 'SELECT ' || format(condition, '$1', collation_name) INTO has_some USING characters;
    IF has_some THEN
      RETURN QUERY EXECUTE format('SELECT c FROM regexp_split_to_table($1, '''') c WHERE '
        || condition, 'c', collation_name) USING characters;
    END IF;
  END LOOP;
END $$;

-- Returns how a collation breaks the other rules that the n-grams of ILIKE and ~* depend on. It
-- must break none.
CREATE FUNCTION broken_rules(collation_name name, characters text) RETURNS SETOF text
LANGUAGE plpgsql AS $body$
DECLARE
  ascii CONSTANT text := (SELECT string_agg(chr(c), '') FROM generate_series(32, 126) c);
  letter text;
  is_true boolean;
  is_turkish boolean;
  rest text;
BEGIN
  -- A letter has its own lower case, alone and before other characters. Only `I` may be U+0131.
  EXECUTE format('SELECT lower(''I'' COLLATE %I) <> ''i''', collation_name) INTO is_turkish;
  EXECUTE format('SELECT lower($1 COLLATE %I)', collation_name) INTO rest USING ascii;
  IF rest <> translate(ascii, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefgh'
      || CASE WHEN is_turkish THEN U&'\0131' ELSE 'i' END || 'jklmnopqrstuvwxyz') THEN
    RETURN NEXT 'lower() of ASCII: ' || rest;
  END IF;
  FOREACH letter IN ARRAY ARRAY['I', 'J', 'a'] LOOP
    EXECUTE format($$SELECT lower(string_agg($1 || c || 'x', ' ') COLLATE %I) COLLATE "C" ~
        format('^(%%s[^ -~]+x ?)+$',
               CASE WHEN $1 = 'I' THEN U&'[i\0131]' ELSE lower($1 COLLATE "C") END)
      FROM regexp_split_to_table($2, '') c WHERE $1 || c <> U&'I\0307'$$, collation_name)
      INTO is_true USING letter, characters;
    IF NOT is_true THEN
      RETURN NEXT format('lower() of %s before another character', letter);
    END IF;
  END LOOP;

  -- A letter matches its two forms. Under Turkish rules, `i` need not match `I`.
  FOR letter IN SELECT c FROM regexp_split_to_table(ascii, '') c WHERE c COLLATE "C" ~ '[A-Za-z]'
  LOOP
    EXECUTE format('SELECT regexp_replace($1 COLLATE %I, $2, '''', ''gi'')', collation_name)
      INTO rest USING ascii, letter;
    IF rest <> translate(ascii, lower(letter COLLATE "C") || upper(letter COLLATE "C"), '')
        AND NOT (is_turkish AND (letter = 'I' OR letter = 'i' AND rest = replace(ascii, 'i', '')))
    THEN
      RETURN NEXT format('~* %s leaves %s', letter, rest);
    END IF;
  END LOOP;

  -- The known characters have the known letters.
  EXECUTE format($$SELECT string_agg(c, ' ')
    FROM unnest(ARRAY[U&'\212A', U&'\00CC', U&'\00CD', U&'\0128', U&'\0130']) c
    WHERE lower(c COLLATE %I) COLLATE "C" !~
      CASE c WHEN U&'\212A' THEN '^(k|[^ -~]+)$' ELSE '^i?[^ -~]*$' END$$, collation_name)
    INTO rest;
  IF rest IS NOT NULL THEN
    RETURN NEXT 'lower() of ' || rest;
  END IF;
END $body$;
\set ECHO all
