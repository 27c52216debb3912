-- Draws doc/figures/line.svg: a filter of 50 names that has a single line, and the cells of three
-- names. All cells are read from the filter. With the extension installed:
--
--   psql -XAtq -f test/bench/line.sql >doc/figures/line.svg

CREATE TEMP VIEW names AS
SELECT name FROM string_to_table('ada alan alice amir anna ben carl chen clara dan dora emil emma eric '
  'fatima finn frida gina hana hugo ida igor ines ivan jana jonas julia karim kim lars lea lena leo lina '
  'luca maria maya mia mila nina noah olga omar otto paul rosa sara sofia tina yuki', ' ') AS name;

CREATE TEMP TABLE filter AS
SELECT bf_agg(name) AS filter, count(*) AS added FROM names;

-- Bit i of the bitmap is bit 288 + i of the payload (doc/format.md).
CREATE TEMP TABLE cells AS
SELECT i AS cell, get_bit(filter::bytea, 288 + i) = 1 AS set
FROM filter, generate_series(0, (bf_info(filter)).bits::int - 1) i;

-- The cells of a name are the cells that the name sets in an empty filter of the same size.
CREATE TEMP TABLE asked AS
SELECT n, name, colour, filter @> name AS answer, name IN (TABLE names) AS added, cell, set
FROM (VALUES (1, 'ada', '#1f5fa8'), (2, 'eve', '#c2410c'), (3, 'simone', '#7e3794')) v (n, name, colour),
  filter, cells
WHERE get_bit((bf_create(50) + name)::bytea, 288 + cell) = 1;

CREATE TEMP VIEW sentences AS
SELECT n, name, colour,
  CASE WHEN added THEN format('%s: all %s of its cells are set: possibly in the set', name, count(*))
    WHEN answer THEN format('%s: all %s are set, but by others: a false positive', name, count(*))
    ELSE format('%s: %s of its %s are not set: certainly not in it', name,
      count(*) FILTER (WHERE NOT set), count(*)) END AS sentence
FROM asked GROUP BY n, name, colour, added, answer;

-- 16 rows of 32 cells, 21 pixels each, from (24, 88) on. Two paths draw the cells that none of the
-- three names has.
CREATE TEMP VIEW drawn AS
SELECT cell, set, name, colour, 24 + cell % 32 * 21 AS x, 88 + cell / 32 * 21 AS y
FROM cells LEFT JOIN asked USING (cell, set);

SELECT format($$<svg xmlns="http://www.w3.org/2000/svg" width="720" height="564" viewBox="0 0 720 564" role="img" aria-labelledby="title desc" font-family="sans-serif">
<title id="title">One line of a filter</title>
<desc id="desc">%s cells in 16 rows of 32, of which %s are set by %s names. %s.</desc>
<rect width="720" height="564" rx="12" fill="white"/>
<g fill="#1a1a1a">
<text x="24" y="38" font-size="22" font-weight="bold">One line of a filter: %s bytes, %1$s cells</text>
<text x="24" y="70" font-size="19">%3$s names were added, each set its 6 cells (grey: set)</text>
</g>$$, count(*), count(*) FILTER (WHERE set), (SELECT added FROM filter),
  (SELECT string_agg(sentence, '. ' ORDER BY n) FROM sentences), count(*) / 8)
FROM cells;

SELECT format('<path fill="%s" stroke="%s" d="%s"/>', CASE WHEN set THEN '#b4bfcb' ELSE 'white' END,
  CASE WHEN set THEN '#b4bfcb' ELSE '#dde2e7' END, string_agg(format('M%s %sh18v18h-18z', x, y), '' ORDER BY cell))
FROM drawn WHERE name IS NULL GROUP BY set ORDER BY set;

SELECT '<g font-size="15" font-weight="bold" text-anchor="middle" stroke-width="2">';
SELECT format('<rect x="%s" y="%s" width="18" height="18" rx="2" fill="%s" stroke="%s"/>'
    '<text x="%s" y="%s" fill="%s" stroke="none">%s</text>',
  x, y, CASE WHEN set THEN colour ELSE 'white' END, colour,
  x + 9, y + 14.5, CASE WHEN set THEN 'white' ELSE colour END, upper(left(name, 1)))
FROM drawn WHERE name IS NOT NULL ORDER BY cell, name;
SELECT '</g>';

SELECT format('<rect x="24" y="%s" width="22" height="22" rx="2" fill="%s"/><text x="35" y="%s" font-size="17" '
    'font-weight="bold" text-anchor="middle" fill="white">%s</text><text x="58" y="%s" font-size="20" fill="#1a1a1a">%s</text>',
  411 + 37 * n, colour, 428 + 37 * n, upper(left(name, 1)), 429 + 37 * n, sentence)
FROM sentences ORDER BY n;
SELECT '</svg>';
