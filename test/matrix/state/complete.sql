-- Lists what the code knows but a database of populate.sql lacks: families of each type, layouts,
-- flags, contents of partial states, and SQL's names of layouts. Prints a line for each. Also
-- prints a line for each of these sorts if the patterns here find nothing of it in the code. Prints
-- nothing if the database is complete. Run this file in the directory that has src.

\set QUIET 1
\set ON_ERROR_STOP 1
\pset format unaligned
\pset tuples_only on
SET search_path = public, ext;
\set family `cat src/core/family.hpp`
\set layout `cat src/core/layout.hpp`
\set format `cat src/core/format.hpp`
\set partial `cat src/core/partial.hpp`

-- --- what the code knows -------------------------------------------------------------------------

CREATE FUNCTION pg_temp.members_of(enum text, code text, OUT name text, OUT number int)
RETURNS SETOF record LANGUAGE sql AS $$
  SELECT m[1],
    CASE WHEN m[2] LIKE '0x%' THEN ('x' || substr(m[2], 3))::bit(8)::int ELSE m[2]::int END
  FROM regexp_matches(substring(code FROM 'enum class ' || enum || ' [^{]*\{([^}]*)\}'),
    '(\w+) = (\w+)', 'g') m
$$;
CREATE TEMP TABLE needed (what text, name text, number int);
-- Only a bloomfilter has other systems' families, and the family of hashes.
INSERT INTO needed
SELECT what, name, number
FROM pg_temp.members_of('Family', :'family'), unnest(ARRAY['bloomfilter', 'countingbloomfilter',
  'cuckoofilter', 'bf_partial', 'bf_element', 'links', 'growing']) what
WHERE what = 'bloomfilter'
  OR name <> 'hash' AND strpos(substring(:'layout' FROM 'kFamiliesOfOthers =([^;]*);'),
    'Family::' || name) = 0 AND (name <> 'none' OR what NOT IN ('bf_element', 'links'));
INSERT INTO needed SELECT 'layout', * FROM pg_temp.members_of('Layout', :'layout');
INSERT INTO needed -- a link's entry has 4 bits for its layout
SELECT 'layout of links', * FROM pg_temp.members_of('Layout', :'layout') WHERE number < 16;
INSERT INTO needed
SELECT 'flag', m[1], ('x' || m[2])::bit(8)::int
FROM regexp_matches(:'format' || :'layout', 'constexpr std::uint8_t kFlag(\w+) = 0x(\w\w);', 'g') m;
INSERT INTO needed SELECT 'content', * FROM pg_temp.members_of('Content', :'partial');
INSERT INTO needed
SELECT what, m[1]
FROM regexp_matches(:'layout', '(?:plain_scheme\(|coded_scheme\(|\{)"(\w+)",', 'g') m,
  unnest('{empty, filled}'::text[]) what;

-- --- what is stored ------------------------------------------------------------------------------

-- The offsets are in doc/format.md, sections Bytes and Links.
CREATE TEMP VIEW payloads AS
  SELECT name, 'bloomfilter' AS type, f::bytea AS payload FROM filters WHERE f IS NOT NULL
  UNION ALL SELECT name, 'countingbloomfilter', c::bytea FROM filters WHERE c IS NOT NULL
  UNION ALL SELECT name, 'cuckoofilter', k::bytea FROM filters WHERE k IS NOT NULL
  UNION ALL SELECT name, 'bf_partial', substr(bloomfilter_partial_send(p), 5) FROM partials;
CREATE TEMP VIEW headers AS
  SELECT name, type, get_byte(payload, 1) AS layout, get_byte(payload, 2) AS family,
    get_byte(payload, 28) AS units, get_byte(payload, 32) AS flags, payload
  FROM payloads;
CREATE TEMP VIEW entries AS
  SELECT get_byte(payload, 36 + 24 * i + 21) AS flags_and_layout
  FROM headers, generate_series(0, units - 1) i WHERE type = 'bloomfilter' AND flags & 1 = 1;
CREATE TEMP VIEW stored (what, number) AS
  SELECT type, family FROM headers
  UNION SELECT 'bf_element', get_byte(bloomfilter_element_send(e), 0) FROM elements
  UNION SELECT CASE bit WHEN 1 THEN 'links' ELSE 'growing' END, family
  FROM headers, unnest(ARRAY[1, 4]) bit WHERE flags & bit > 0
  UNION SELECT 'layout', layout FROM headers WHERE type <> 'bf_partial'
  UNION SELECT 'layout of links', flags_and_layout >> 4 FROM entries
  UNION SELECT 'flag', flags & bit FROM headers, unnest(ARRAY[1, 2, 4, 8, 16, 32, 64, 128]) bit
  UNION SELECT 'content', get_byte(bloomfilter_partial_send(p), 1) FROM partials;

SELECT what || ' of nothing'
FROM unnest('{bloomfilter, countingbloomfilter, cuckoofilter, bf_partial, bf_element, links,
  growing, layout, layout of links, flag, content, empty, filled}'::text[]) what
WHERE NOT EXISTS (SELECT FROM needed WHERE needed.what = what.what);

SELECT concat_ws(' ', what, 'of', name, number) FROM needed
WHERE CASE WHEN number IS NULL
  THEN NOT EXISTS (SELECT FROM filters f WHERE starts_with(f.name, 'layout ' || needed.name || ',')
    AND (f.members IS NULL) = (what = 'empty'))
  ELSE NOT EXISTS (SELECT FROM stored s WHERE (s.what, s.number) = (needed.what, needed.number)) END
ORDER BY what, number, name;
