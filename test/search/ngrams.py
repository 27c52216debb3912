"""Random texts and conditions: an index on n-grams must give the answers of a scan.

A world is a table of texts in some encoding and locale, and conditions with LIKE, ILIKE, `^@`, `~`
and `~*`. Most patterns are made of a text of the table: characters are replaced, escaped, repeated,
or written in the other case. Others consist of pieces of the whole grammar. Each condition is asked
with indexes on the texts' n-grams and with a sequential scan, under a random collation. All must
find the same texts, or raise the same error. One index is a bloompages index. The other one is a
GIN index (sql/include/ngrams.sql), which reads exactly the texts that have the n-grams.

In worlds in UTF-8, a collation must also keep the rules that ILIKE and `~*` depend on
(broken_rules() in sql/include/ngrams.sql), for all code points.
"""

import itertools
import pathlib
import re

import psycopg2

from search import run

INDEXES = {"gin": "USING gin (v COLLATE {} gin_ngram_ops)",
           "bloompages": "USING bloompages (v COLLATE {} text_ngram_ops)"
                         " WITH (pages_per_range = 1)"}
TEXTS = 150  # in a world, and as many conditions with each operator
OPERATORS = ["~~", "~~*", "~", "~*", "^@"]
# PostgreSQL's encodings, and Python's names of them.
ENCODINGS = {"UTF8": "utf-8", "LATIN1": "latin-1", "LATIN5": "iso8859-9", "LATIN9": "iso8859-15",
             "WIN1252": "cp1252", "WIN1254": "cp1254", "KOI8R": "koi8-r", "EUC_JP": "euc_jp",
             "EUC_KR": "euc_kr", "EUC_CN": "gb2312", "SQL_ASCII": "ascii"}
PIECES = ["timeout", "connection reset", "Kiki", "GET /api", "I", "i", "İ", "ı", "K", "k", "\u212a",
          "I\u0307", "\u0307", "Ì", "Í", "Ĩ", "\u0301", "s", "S", "ſ", "ß", "é", "É", "Ж", "ж", "日",
          "本", "かな", "가", "ÿ", "a", "B", "x", " ", "\n", "%", "_", "\\", ".", "*", "(", '"', "{"]
REGEX = ["(", ")", "(?:", "(?=", "(?!", "|", "[", "]", "[^", "[a-z]", "[[:alpha:]]", "{2}",
         "{0,1}", "{", "}", "*", "+", "?", "*?", "??", ".", "^", "$", "\\", "\\d", "\\w", "\\m",
         "\\M", "\\y", "\\A", "\\1", "\\x49", "\\u212a", "\\n", "\\.", "\\\\", "***=", "***:",
         "(?i)", "(?x)", "#", "timeo", "aaaa", "I", "é", "日", "k"]
SETUP = """
CREATE FUNCTION is_valid(operator text, pattern text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT %L %s %L COLLATE "C"', 'x', operator, pattern);
  RETURN true;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN false;
END $$;
"""


def sql_of_include():
    """The operator class and the functions of the SQL tests, without psql's commands."""
    path = pathlib.Path(__file__).parents[2] / "sql/include/ngrams.sql"
    return re.sub(r"(?m)^\\.*$", "", path.read_text(encoding="utf-8"))


def locales(db, encoding):
    """The names of libc's locales that fit an encoding."""
    cursor = db.cursor()
    cursor.execute("SELECT collctype FROM pg_collation WHERE collprovider = 'c'"
                   " AND collencoding = pg_char_to_encoding(%s)", (encoding,))
    return [name for (name,) in cursor.fetchall()]


class World:
    def __init__(self, s, encoding, locale):
        self.s, self.r, self.encoding = s, s.random, encoding
        s.create_database(f"ENCODING '{encoding}' LC_COLLATE '{locale}' LC_CTYPE '{locale}'"
                          " TEMPLATE template0")
        self.db = s.connect()
        self.cursor = self.db.cursor()
        if encoding == "SQL_ASCII":
            self.db.set_client_encoding("SQL_ASCII")
        self.cursor.execute(SETUP)
        include = sql_of_include()
        if encoding != "UTF8":
            include = include[:include.index(";") + 1]  # the operator class
        self.cursor.execute(f"SET check_function_bodies = off; {include}")
        self.cursor.execute(
            "SELECT collname FROM pg_collation WHERE collisdeterministic AND"
            " pg_collation_is_visible(oid)")  # false if it is not for this encoding
        self.collations = [name for (name,) in self.cursor.fetchall()]
        self.pieces = [piece for piece in PIECES if self.can_hold(piece)]
        self.regex = [piece for piece in REGEX if self.can_hold(piece)]

    def can_hold(self, text):
        try:
            text.encode(ENCODINGS[self.encoding])
            return True
        except UnicodeEncodeError:
            return False

    def text(self):
        return "".join(self.r.choices(self.pieces, k=self.r.randint(0, 12)))

    def in_other_case(self, text):
        changed = "".join(self.r.choice([c, c, c.upper(), c.lower()]) for c in text)
        return changed if self.can_hold(changed) else text

    def pattern(self, operator, text):
        """A pattern that may match the text."""
        if operator == "^@":
            return text[:self.r.randint(0, 12)]
        if operator in ("~", "~*") and self.r.random() < 0.2:
            return "".join(self.r.choices(self.regex, k=self.r.randint(1, 8)))
        is_like = operator.startswith("~~")
        special = "%_\\" if is_like else ".*+?()[]{}|^$\\"
        start = self.r.randint(0, len(text))
        text = text[start:start + self.r.randint(4, 30)]
        pattern = self.r.choice(["%", "_", ""]) if is_like else self.r.choice(["", "", "^"])
        for c in text:
            chance = self.r.random()
            if chance < 0.05:
                c = self.r.choice(["%", "_", "%_"] if is_like else
                                  [".", ".*", "(a|I)", "[a-z]", "\\w", "\\x49", "|"])
            elif c in special and chance < 0.95 or is_like and chance > 0.98:
                c = "\\" + c
            pattern += c
            if self.r.random() < 0.06:
                pattern += self.r.choice(["%", "_", "\\\\"] if is_like else
                                         ["*", "+", "?", "*?", "+?", "??", "{1,2}", "{0}", ".*",
                                          "^", "$", "(?=.)", "|k"])
        return pattern + (self.r.choice(["%", ""]) if is_like else "")

    def fill(self):
        texts = [self.text() for _ in range(TEXTS)]
        self.cursor.execute("DROP TABLE IF EXISTS texts, conditions")
        self.cursor.execute("CREATE TABLE texts (i int, v text) WITH (fillfactor = 10);"
                            "CREATE TABLE conditions (operator text, pattern text)")
        self.insert("texts", list(enumerate(texts)))
        conditions = []
        for operator in OPERATORS:
            for text in texts:
                pattern = self.pattern(operator, text)
                if operator.endswith("*"):
                    pattern = self.in_other_case(pattern)
                conditions.append((operator, pattern))
        self.insert("conditions", conditions)
        self.cursor.execute("DELETE FROM conditions WHERE NOT is_valid(operator, pattern)"
                            r" OR operator LIKE '~~%%' AND pattern ~ '(^|[^\\])(\\\\)*\\$'")

    def insert(self, table, rows):
        for row in rows:
            self.cursor.execute(f"INSERT INTO {table} VALUES (%s, %s)", row)

    def ask(self, collation):
        for operator in OPERATORS:
            query = (f'SELECT pattern, ARRAY(SELECT i FROM texts WHERE v COLLATE "{collation}"'
                     f" {operator} pattern ORDER BY i) FROM conditions"
                     f" WHERE operator = '{operator}' ORDER BY pattern COLLATE \"C\", ctid")
            self.cursor.execute("SET enable_bitmapscan = off")
            by_scan = self.answer(query)
            self.cursor.execute("RESET enable_bitmapscan; SET enable_seqscan = off")
            for index in INDEXES.values():
                index = index.format(f'"{collation}"')
                self.cursor.execute(f"CREATE INDEX asked ON texts {index}")
                self.compare(index, collation, operator, self.answer(query), by_scan)
                self.cursor.execute("DROP INDEX asked")
            self.cursor.execute("RESET enable_seqscan")

    def answer(self, query):
        try:
            self.cursor.execute(query)
            return self.cursor.fetchall()
        except psycopg2.Error as error:
            if not error.pgcode or error.pgcode.startswith(("XX", "57", "53")):
                raise
            return error.pgcode

    def compare(self, index, collation, operator, by_index, by_scan):
        if isinstance(by_index, str) or isinstance(by_scan, str):
            self.s.counts["errors"] += 1
            if by_index != by_scan:
                self.s.finding(f"{self.encoding}: {by_index} with an index {index}", "SELECT")
            return
        for (pattern, found), (_, expected) in zip(by_index, by_scan):
            self.s.counts["conditions"] += 1
            self.s.counts["fulfilled"] += 1 if expected else 0
            if found != expected:
                self.cursor.execute("SELECT v FROM texts WHERE i = ANY (%s)",
                                    (list(set(expected) ^ set(found)),))
                sql = self.cursor.mogrify(
                    f"CREATE TABLE texts (v text); INSERT INTO texts VALUES (%s);\n"
                    f"CREATE INDEX ON texts {index};\n"
                    f'SELECT * FROM texts WHERE v COLLATE "{collation}" {operator} %s',
                    (self.cursor.fetchone()[0], pattern)).decode(ENCODINGS[self.encoding])
                self.s.finding(f"{self.encoding}: an index answers otherwise", sql)

    def check_rules(self, collation):
        self.cursor.execute("CREATE TABLE IF NOT EXISTS characters AS SELECT other_characters() c")
        self.s.counts["collations"] += 1
        for function in ("with_ascii_letter", "broken_rules"):
            self.cursor.execute(f"SELECT {function}(%s, c) FROM characters", (collation,))
            for (broken,) in self.cursor.fetchall():
                self.s.finding(f"{collation} breaks a rule",
                               f"SELECT {function}('{collation}', other_characters()) -- {broken}")


def search(s):
    db = s.connect()
    homes = {encoding: ["C", *locales(db, encoding)] for encoding in ENCODINGS}
    db.close()
    others = [encoding for encoding in ENCODINGS if encoding != "UTF8"]
    for number in itertools.count():
        if not s.goes_on():
            break
        encoding = s.random.choice(others) if number % 2 else "UTF8"
        locale = s.random.choice(homes[encoding])
        world = World(s, encoding, locale)
        s.counts["worlds in UTF-8" if encoding == "UTF8" else "others"] += 1
        for _ in range(10):
            world.fill()
            for collation in ["default", s.random.choice(world.collations)]:
                world.ask(collation)
        if encoding == "UTF8":
            world.check_rules(s.random.choice(world.collations))
        world.db.close()


if __name__ == "__main__":
    run("ngrams", search, "worlds in UTF-8", "others", "conditions", "fulfilled", "collations")
