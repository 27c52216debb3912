"""Checks that filters find what SQL calls equal: probes filters of every type for values of every
type.

A filter can be probed for every value that SQL can compare with its members by immutable functions
(doc/types.md). For every ordered pair of types that have such an `=`, random values are compared by
`=` and by probes, each with each. The members are in filters of the three types, of each layout
that takes them, in rows and arrays, and in the results of aggregates. Probes are also made with
bare literals.

Equal values must be found, and have the same bf_hash within a family. Other values must not be
found, because the false positive rates are 1e-9. Exceptions are the cases that doc/types.md names
(POSSIBLY) and the layouts of other systems, whose hashes are weaker. A probe for a value of any
other type must be an error, 42804.
"""

import re

import psycopg2

from search import run
from values import GENERATORS, OWN_TYPES, expression_of, literal, text_of

FILTERS = {"bf": "bloomfilter", "cbf": "countingbloomfilter", "cf": "cuckoofilter"}
# True if a "char" is above 127. The server's version decides which of two texts it has.
CAST = r"octet_length({0}::text) = 1 AND ascii({0}::text) > 127 OR {0}::text ~ '^\\[23]..$'"
# The conditions under which a probe for b may find a member a that is not equal to b, by the
# families of a and b: a float may stand for several integers, an oid may equal an integer but not a
# bigint, and the casts of "char" differ between servers.
POSSIBLY = {
    ("integer", "float"): "abs(b::float8) BETWEEN 2 ^ 53 AND 2 ^ 63",
    ("integer", "oid"): "a::int8 < 0",
    ('"char"', "text"): CAST.format("b"),
    ("text", '"char"'): CAST.format("a"),
}
# A filter adds a varchar with blanks at its end twice, with and without these blanks.
BLANK = "a::text LIKE '% %' OR b::text LIKE '% %'"
# The errors that `=` raises for some values of comparable types: out of range, composite values of
# different types, two collations.
RAISED = ("22003", "42804", "42P22")
ISO_8601 = ("date", "timestamp", "timestamptz", "time")  # families whose literals must be ISO 8601

FUNCTIONS = """
CREATE FUNCTION fill(into_table text, type text, expressions text[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  expression text;
  filled bigint;
BEGIN
  EXECUTE format('DROP TABLE IF EXISTS %I', into_table);
  EXECUTE format('CREATE UNLOGGED TABLE %I (expression text, v %s)', into_table, type);
  FOREACH expression IN ARRAY expressions LOOP
    BEGIN
      EXECUTE format('INSERT INTO %I SELECT %L, (SELECT %s)', into_table, expression, expression);
    EXCEPTION WHEN OTHERS THEN
      NULL; -- not a value of the type
    END;
  END LOOP;
  EXECUTE format('SELECT count(v) FROM %I', into_table) INTO filled;
  RETURN filled;
END $$;

-- Returns whether two columns of `everything` have an immutable `=`.
CREATE FUNCTION is_immutable(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE INDEX ON everything ((%I = %I))', a, b);
  RAISE SQLSTATE '02000';
EXCEPTION WHEN SQLSTATE '02000' THEN
  RETURN true;
WHEN OTHERS THEN
  RETURN false;
END $$;

CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE query;
  RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;

-- Writes into `reading` what each type reads from each text. NULL if the text is no value of the
-- type.
CREATE FUNCTION read_as(texts text[], types text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  text text;
  type text;
BEGIN
  FOREACH text IN ARRAY texts LOOP
    INSERT INTO reading (text) VALUES (text);
    FOREACH type IN ARRAY types LOOP
      BEGIN
        EXECUTE format('UPDATE reading SET %I = %L WHERE text = %2$L', type, text);
      EXCEPTION WHEN data_exception OR invalid_name THEN
        NULL;
      END;
    END LOOP;
  END LOOP;
END $$;

CREATE FUNCTION hashed(value anyelement) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN bf_hash(value);
EXCEPTION WHEN feature_not_supported THEN
  RETURN NULL;
END $$;
"""
FILTER_FUNCTIONS = """
CREATE FUNCTION added(f {0}, value anyelement) RETURNS {0} LANGUAGE plpgsql AS $$
BEGIN
  RETURN f + value;
EXCEPTION WHEN feature_not_supported OR data_exception OR datatype_mismatch
    OR indeterminate_collation THEN
  RETURN NULL; -- refused
END $$;

-- NULL if the literal is no value of the filter's element type.
CREATE FUNCTION asked_literal(f {0}, value text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN f @> value::bf_literal;
EXCEPTION WHEN data_exception OR datatype_mismatch THEN
  RETURN NULL;
END $$;
"""
CAREFUL = """
CREATE OR REPLACE FUNCTION equals(a {a}, b {b}) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN a = b;
EXCEPTION WHEN data_exception THEN
  RETURN false;
WHEN datatype_mismatch OR indeterminate_collation THEN
  RETURN NULL; -- a filter may be able to compare them
END $$;
"""
CAREFUL_ASKED = """
CREATE OR REPLACE FUNCTION asked(f {0}, b {b}) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN f @> b;
EXCEPTION WHEN datatype_mismatch THEN
  RETURN NULL;
END $$;
"""


class Kind:
    """A way to put one member into a filter. The pattern `asked` probes the filter for b."""

    def __init__(self, name, empty, member="{}", asked="{f} @> {b}"):
        self.name, self.empty, self.member, self.asked = name, empty, member, asked
        self.own = name in FILTERS
        self.layout = not self.own and member == "{}"

    def made_of(self, value):
        return f"added({self.empty}, {self.member.format(value)})"


HASH = Kind("bf_hash", "{}", "bf_hash({})", "{f} = bf_hash({b})")


class Type:
    def __init__(self, number, name, is_array, is_domain):
        self.name, self.table = name, f"t{number}"
        self.is_array, self.is_domain = is_array, is_domain
        self.family = None  # as bf_info() names it; None if filters refuse the type
        self.kinds = None  # the kinds of filters that take the type

    def is_varchar(self):
        return "varchar" in self.name or "character varying" in self.name


class Equality:
    def __init__(self, s):
        self.s, self.r = s, s.random
        encoding = self.r.choice(["UTF8", "UTF8", "UTF8", "LATIN1", "SQL_ASCII"])
        self.codec = "latin-1" if encoding == "LATIN1" else "utf-8"
        s.create_database(f"ENCODING {encoding} LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        self.cursor = s.connect().cursor()
        self.cursor.connection.set_client_encoding("UTF8")
        self.execute(OWN_TYPES + FUNCTIONS
                     + "".join(FILTER_FUNCTIONS.format(name) for name in FILTERS.values()))
        self.kinds = self.all_kinds()
        self.types = self.all_types()
        self.comparable = self.comparable_pairs()
        self.states = {}
        s.counts["types"] = len(self.types)

    def execute(self, sql):
        self.cursor.execute(sql)

    def rows(self, sql):
        self.execute(sql)
        return self.cursor.fetchall()

    def all_kinds(self):
        kinds = [Kind(name, f"{name}_create(10, 1e-9)") for name in FILTERS]
        own = kinds[0].empty
        kinds += [Kind("in_row", own, "ROW({})", "{f} @> ROW({b})"),
                  Kind("in_array", own, "ARRAY[{}]", "{f} @> ARRAY[{b}]")]
        try:
            self.execute("SELECT bf_create(10, layout => 'none')")
        except psycopg2.Error as error:
            layouts = re.match(r"Layouts are ([^.]*)\.", error.diag.message_hint)[1].split(", ")
        return kinds + [Kind(layout, f"bf_create(10, 1e-9, layout => '{layout}')")
                        for layout in layouts if layout != "lines"]

    def all_types(self):
        """The types in the catalog that a column can have. Array types need a generator."""
        generated = ", ".join(map(literal, GENERATORS))
        return [Type(number, *found) for number, found in enumerate(self.rows(f"""
            SELECT regexp_replace(format_type(oid, NULL), '^character(?! )', 'bpchar'),
              typcategory = 'A', typtype = 'd' FROM pg_type
            WHERE typtype IN ('b', 'e', 'r', 'm', 'd') AND typarray <> 0 AND typname <> 'bf_literal'
              AND typnamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace)
              OR oid IN (SELECT to_regtype(n) FROM unnest(ARRAY[{generated}]) n)
            ORDER BY 1"""))]

    def comparable_pairs(self):
        """The pairs of types that have an `=`, perhaps after implicit casts, with only immutable
        functions."""
        self.execute("CREATE TABLE everything (%s)" % ", ".join(
            f"{t.table} {t.name}" for t in self.types))
        by_table = {t.table: t for t in self.types}
        pairs = self.rows("""
            WITH RECURSIVE based AS (
              SELECT attname, atttypid AS type FROM pg_attribute
              WHERE attrelid = 'everything'::regclass AND attnum > 0
              UNION
              SELECT attname, typbasetype
              FROM based JOIN pg_type t ON t.oid = type AND typbasetype <> 0),
            coerced AS (
              SELECT * FROM based
              UNION
              SELECT attname, casttarget
              FROM based JOIN pg_cast ON castsource = type AND castcontext = 'i'
              UNION
              SELECT attname, any_type FROM based JOIN pg_type t ON t.oid = type,
                LATERAL (SELECT CASE WHEN typcategory = 'A' THEN 'anyarray'
                  WHEN typtype = 'c' THEN 'record' WHEN typtype = 'e' THEN 'anyenum'
                  WHEN typtype = 'r' THEN 'anyrange' WHEN typtype = 'm' THEN 'anymultirange'
                  END::regtype::oid AS any_type) x
              WHERE any_type IS NOT NULL)
            SELECT a, b, is_immutable(a, b) FROM (
              SELECT DISTINCT l.attname::text AS a, r.attname::text AS b
              FROM coerced l JOIN pg_operator ON oprname = '=' AND oprleft = l.type
                JOIN coerced r ON oprright = r.type) x""")
        self.execute("DROP TABLE everything")
        return {(by_table[a], by_table[b]) for a, b, immutable in pairs if immutable}

    # --- values -----------------------------------------------------------------------------------

    def storable(self, text):
        try:
            return text.encode(self.codec) is not None
        except UnicodeEncodeError:
            return False

    def new_values(self, count):
        """Makes tables of values. Each row has a value and filters of this value alone."""
        texts = {t: [text_of(t.name, self.r) for _ in range(count // 2)] for t in self.types}
        for t in self.types:
            if t.name not in GENERATORS and t.kinds and not t.family:
                continue  # refused, whatever the values
            expressions = [expression_of(t.name, self.r) for _ in range(count // 2)]
            expressions += [f"{literal(text)}::{t.name}" for related in self.related(t)
                            for text in self.r.sample(texts[related], 2)]
            drawn = list(dict.fromkeys(e for e in expressions if self.storable(e)))[:count]
            filled = self.rows("SELECT fill('new', %s, ARRAY[%s])" % (
                literal(t.name), ", ".join(map(literal, drawn))))[0][0]
            self.execute(f"DROP TABLE IF EXISTS {t.table}")
            kinds = self.kinds_of(t)
            self.execute(f"CREATE UNLOGGED TABLE {t.table} AS SELECT *, hashed(v) AS hash, "
                         + ", ".join(f"{k.made_of('v')} AS {k.name}" for k in kinds)
                         + " FROM new WHERE v IS NOT NULL")
            t.family = self.rows(f"SELECT max((bf_info(bf)).element_type) FROM {t.table}")[0][0]
            self.s.counts["values"] += filled
            if t.family:
                self.aggregate(t)

    def related(self, t):
        """The types that t can be compared with: t first, the others in random order."""
        related = [other for other in self.types if other != t and (t, other) in self.comparable]
        self.r.shuffle(related)
        return [t] * 3 + related

    def kinds_of(self, t):
        """The kinds that take some of the new values. The three types are always among them."""
        if t.kinds is None:
            kinds = [k for k in self.kinds if k.name != "in_array" or not t.is_array]
            taken = self.rows("SELECT " + ", ".join(f"count({k.made_of('v')})" for k in kinds)
                              + " FROM (SELECT v FROM new LIMIT 4) x")[0]
            t.kinds = [k for k, count in zip(kinds, taken) if count or k.own]
        return t.kinds

    def aggregate(self, t):
        """Makes filters of all members, in every way."""
        ways = ["bf_agg(v)", "bf_agg(v, 100)", "cbf_agg(v)", "cbf_agg(v, 100)", "cf_agg(v)",
                "cf_agg(v, 100)", "bf_union_agg(bf)", "cbf_union_agg(cbf)",
                "bf_dist_agg(bf_element_of(v), 100)"]
        if not t.is_array:
            ways += ["bf_add_all(bf_create(9), array_agg(v))",
                     "cbf_add_all(cbf_create(9), array_agg(v))",
                     "cf_add_all(cf_create(99), array_agg(DISTINCT v))"]
        t.ways = {f"w{number}": way for number, way in enumerate(ways)}
        self.execute(f"DROP TABLE IF EXISTS {t.table}_all")
        self.execute(f"CREATE UNLOGGED TABLE {t.table}_all AS SELECT "
                     + ", ".join(f"{way} AS {name}" for name, way in t.ways.items())
                     + f" FROM {t.table} m WHERE {self.aggregated(t)}")

    def aggregated(self, t):
        """A condition for values that all aggregates take. cf_agg refuses a varchar that ends with
        a blank (BLANK)."""
        return "m.cf IS NOT NULL" + (" AND m.v::text NOT LIKE '% %'" if t.is_varchar() else "")

    # --- pairs of types ---------------------------------------------------------------------------

    def state(self, a, b, kind):
        """The outcome of one probe. All probes of this kind have this outcome, unless a value is
        wrong."""
        key = a, b, kind.name
        if key not in self.states:
            self.states[key] = self.rows("SELECT outcome(%s)" % literal(
                f"SELECT {kind.asked.format(f='f', b='p.v')} FROM (SELECT {kind.name} AS f"
                f" FROM {a.table} WHERE {kind.name} IS NOT NULL LIMIT 1) m,"
                f" (SELECT v FROM {b.table} LIMIT 1) p"))[0][0]
        return self.states[key]

    def possibly(self, a, b):
        conditions = [POSSIBLY.get((a.family, b.family)),
                      BLANK if a.is_varchar() or b.is_varchar() else None]
        return " OR ".join(f"({c})" for c in conditions if c) or "false"

    def expect_no_error(self, ask, *types):
        try:
            ask(*types)
        except psycopg2.Error as error:
            self.s.finding(f"{', '.join(t.name for t in types)}: {error}",
                           self.cursor.query.decode())
            if self.cursor.connection.closed:
                raise

    def pair(self, a, b):
        if not a.family or not self.rows(f"SELECT FROM {b.table} LIMIT 1"):
            return
        if (a, b) not in self.comparable:
            self.incomparable(a, b)
        elif b.family is None or (a.family, b.family) == ("numeric", "float"):
            self.refused(a, b)
        else:
            self.compare(a, b)

    def incomparable(self, a, b):
        self.s.counts["pairs without ="] += 1
        state = self.state(a, b, self.kinds[0])
        if state != "42804" and not (a.family == b.family and state == "ok") and (
                b.family or state != "0A000"):
            self.report(a, b, f"not comparable, {state} instead of 42804", self.kinds[0],
                        self.any_of(a), self.any_of(b))

    def refused(self, a, b):
        self.s.counts["pairs refused"] += 1
        for kind in a.kinds[:3]:
            if self.state(a, b, kind) not in ("42804", "0A000"):
                self.report(a, b, f"{kind.name}: {self.state(a, b, kind)}, not refused", kind,
                            self.any_of(a), self.any_of(b))

    def any_of(self, t):
        return self.rows(f"SELECT expression FROM {t.table} LIMIT 1")[0][0]

    def kinds_for(self, a, b):
        for kind in a.kinds:
            state = self.state(a, b, kind)
            if not kind.own and not kind.layout and not (
                    kind in b.kinds and self.hash_alike(a, b)):
                continue
            if state == "ok" or kind.own:
                yield kind

    def compare(self, a, b):
        self.s.counts["pairs of types"] += 1
        kinds = list(self.kinds_for(a, b))
        try:
            self.ask(a, b, kinds, "m.v = p.v", lambda k: k.asked.format(f="m." + k.name, b="p.v"))
            self.ask_all(a, b)
            self.ask_constants(a, b)
            self.add(a, b)
        except psycopg2.Error as error:
            if error.pgcode not in RAISED:
                raise
            kinds = [k for k in kinds if k.asked == self.kinds[0].asked]
            self.execute("DROP FUNCTION IF EXISTS equals;" + CAREFUL.format(a=a.name, b=b.name))
            for name in FILTERS.values():
                self.execute(f"DROP FUNCTION IF EXISTS asked({name}, {b.name});"
                             + CAREFUL_ASKED.format(name, b=b.name))
            self.ask(a, b, kinds, "equals(m.v, p.v)", lambda k: f"asked(m.{k.name}, p.v)")
            self.s.counts["pairs of types that can raise"] += 1

    def ask(self, a, b, kinds, equal, found):
        asked = ("SELECT m.v AS a, p.v AS b, m.expression AS ea, p.expression AS eb,"
                 f" m.hash AS ha, p.hash AS hb, {equal} AS equal")
        for k in kinds:
            when = equal if k.layout else "true"
            asked += (f", CASE WHEN {when} THEN {found(k)} END AS {k.name},"
                      f" m.{k.name} IS NOT NULL AS has_{k.name}")
        asked += f" FROM {a.table} m, {b.table} p WHERE m.bf IS NOT NULL"
        wrong = {}
        for k in kinds:
            wrong[k, "is not found"] = f"equal AND has_{k.name} AND {k.name} IS NOT TRUE"
            if not k.layout:
                wrong[k, "is found"] = f"{k.name} AND NOT equal AND NOT ({self.possibly(a, b)})"
        if self.hash_alike(a, b):
            wrong[HASH, "is another"] = "equal AND ha <> hb"
            wrong[HASH, "is the same"] = "NOT equal AND ha = hb"
        counts = self.rows(
            f"WITH asked AS MATERIALIZED ({asked}) SELECT count(*), count(*) FILTER (WHERE equal), "
            + ", ".join(f"count(*) FILTER (WHERE {c})" for c in wrong.values()) + " FROM asked")[0]
        self.s.counts["compared"] += counts[0]
        self.s.counts["asked"] += counts[0] * len(kinds)
        self.s.counts["equal"] += counts[1]
        for (kind, what), condition, count in zip(wrong, wrong.values(), counts[2:]):
            if not count:
                continue
            ea, eb = self.rows(f"WITH asked AS MATERIALIZED ({asked})"
                               f" SELECT ea, eb FROM asked WHERE {condition} LIMIT 1")[0]
            if what == "is found" and self.coincide(kind, ea, eb):
                self.s.counts["coincidences"] += 1
                continue
            self.report(a, b, f"{kind.name}: {count} of {counts[0]}, {what}", kind, ea, eb)
            break  # other kinds would report the same pair

    @staticmethod
    def hash_alike(a, b):
        return a.family == b.family and not (a.is_varchar() or b.is_varchar())

    def ask_all(self, a, b):
        """Probes filters of all members for each value that equals a member."""
        missed = self.rows(
            f"SELECT p.expression, m.expression, {', '.join(f'f.{w} @> p.v' for w in a.ways)}"
            f" FROM {a.table}_all f, {a.table} m, {b.table} p"
            f" WHERE {self.aggregated(a)} AND m.v = p.v"
            f" AND ({' AND '.join(f'f.{w} @> p.v' for w in a.ways)}) IS NOT TRUE LIMIT 1")
        for eb, ea, *found in missed:
            way = [way for way, yes in zip(a.ways.values(), found) if not yes][0]
            members = self.rows(f"SELECT string_agg(format('((%s))', expression), ', ')"
                                f" FROM {a.table} m WHERE {self.aggregated(a)}")[0][0]
            self.s.finding(
                f"probe for {b.name} in {way} of {a.name}: not found",
                f"{self.own_types(a, b)}SELECT ({ea}) = ({eb}) AS equal, (SELECT {way} FROM"
                " (SELECT v, bf_create(10, 1e-9) + v AS bf, cbf_create(10, 1e-9) + v AS cbf"
                f" FROM (VALUES {members}) x (v)) x) @> ({eb}) AS found")

    def ask_constants(self, a, b):
        """Probes for one equal pair with every function and operator. The planner folds these
        expressions once, and they are executed once."""
        for ea, eb in self.rows(f"SELECT m.expression, p.expression FROM {a.table} m, {b.table} p"
                                f" WHERE {self.aggregated(a)} AND m.v = p.v LIMIT 1"):
            f = "bf_create(10) + x.a"
            for source in ("(SELECT {} AS a, {} AS b) x", "(SELECT {} AS a, {} AS b OFFSET 0) x"):
                spelled = " AND ".join([
                    f"{f} @> x.b", f"x.b <@ ({f})", f"bf_contains({f}, x.b)",
                    f"bf_contained(x.b, {f})", f"bf_contains({f} + x.a, x.b)",
                    "cbf_contains(cbf_create(10) + x.a, x.b)",
                    "cf_contains(cf_create(10) + x.a, x.b)", f"NOT (bf_put({f}, x.a)).was_new",
                    "bf_shard(x.a, 7) = bf_shard(x.b, 7)" if self.hash_alike(a, b) else "true"])
                sql = "SELECT " + spelled + " FROM " + source.format(f"({ea})", f"({eb})")
                if not self.rows(sql)[0][0]:
                    self.s.finding(f"probes for {b.name} in filters of {a.name}: not all found",
                                   self.own_types(a, b) + sql)

    def add(self, a, b):
        """Adds a value of the other type, which is cast, and finds it. Removes the value, and finds
        the member that was there before."""
        for name in FILTERS:
            f = f"m.{name} + p.v"
            holds = f"{f} @> p.v AND {f} @> m.v"
            if name != "bf":
                holds += f" AND {f} - p.v @> m.v"
            sql = (f"SELECT m.expression, p.expression FROM (SELECT * FROM {a.table} m"
                   f" WHERE {self.aggregated(a)} LIMIT 10) m, {b.table} p"
                   f" WHERE {self.aggregated(b)} AND ({holds}) IS NOT TRUE LIMIT 1")
            state = self.rows(f"SELECT outcome({literal(sql)})")[0][0]
            self.s.counts["pairs added" if state == "ok" else "pairs not added"] += 1
            for ea, eb in self.rows(sql) if state == "ok" else ():
                f = f"{name}_create(10, 1e-9) + ({ea}) + ({eb})"
                self.s.finding(f"{b.name} added to {name} of {a.name}", self.own_types(a, b)
                               + f"SELECT {f} @> ({eb}) AS added, {f} @> ({ea}) AS before")

    # --- bare literals ----------------------------------------------------------------------------

    def literals(self, a):
        """Probes for literals, and adds them. A literal stands for every value that a type of the
        family reads from its text."""
        states = self.rows(f"SELECT outcome(format('SELECT bf @> %L FROM {a.table}', text))"
                           " FROM unnest(ARRAY['2000-01-01T00:00Z', '12:00']) text")
        if a.is_domain or all(state == "42804" for state, in states):
            return
        family = [t for t in self.types if t.family == a.family and not t.is_domain
                  and t.name != "cidr"]  # literals for cidr are read as inet
        texts = {text_of(t.name, self.r) for t in family for _ in range(15)}
        texts = [text for text in sorted(texts) if self.storable(text)]
        self.execute("DROP TABLE IF EXISTS reading; CREATE UNLOGGED TABLE reading (text text, %s)"
                     % ", ".join(f"{t.table} {t.name}" for t in family))
        self.execute(f"SELECT read_as(ARRAY[{', '.join(map(literal, texts))}],"
                     f" ARRAY[{', '.join(literal(t.table) for t in family)}])")
        self.s.counts["literals"] += len(texts)
        equal = " OR ".join(f"coalesce(m.v = r.{t.table}, false)" for t in family)
        for name in FILTERS:
            found = f"asked_literal(m.{name}, r.text)"
            wrong = f"({equal}) AND {found} IS {'' if a.family in ISO_8601 else 'NOT '}"
            wrong += "FALSE" if a.family in ISO_8601 else "TRUE"
            if not a.is_varchar():
                wrong += f" OR NOT ({equal}) AND {found}"
            for expression, text in self.rows(
                    f"SELECT m.expression, r.text FROM {a.table} m, reading r"
                    f" WHERE {self.aggregated(a)} AND ({wrong}) LIMIT 1"):
                self.s.finding(f"probe for a literal in {name} of {a.name}",
                               f"SELECT ({expression}) = {literal(text)} AS equal,"
                               f" {name}_create(10, 1e-9) + ({expression}) @> {literal(text)}"
                               " AS found")
            self.add_literals(a, name, family)

    def add_literals(self, a, name, family):
        f = f"m.{name} + r.text::bf_literal"
        holds = " AND ".join(f"({f} @> r.{t.table}) IS NOT FALSE" for t in family
                             if t.name != "name")  # no text is cut to 63 bytes to add it
        sql = (f"SELECT m.expression, r.text FROM (SELECT * FROM {a.table} m"
               f" WHERE {self.aggregated(a)} LIMIT 3) m, reading r"
               f" WHERE CASE WHEN asked_literal(m.{name}, r.text) IS NOT NULL"
               f" THEN NOT ({holds}) END LIMIT 1")
        for expression, text in self.rows(sql):
            self.s.finding(f"literal added to {name} of {a.name}",
                           f"SELECT {name}_create(10) + ({expression}) + {literal(text)}")

    def own_types(self, *types):
        return OWN_TYPES if any(name in t.name for t in types
                                for name in ("_", "mood", "pair", "nested", "positive")) else ""

    def coincide(self, kind, ea, eb):
        """Returns whether a value is found by coincidence: with another seed, it is not found.
        There are so many probes that even a rate of 1e-9 gives false positives."""
        f = f"({kind.empty.replace('1e-9', '1e-9, seed => 1')} + {kind.member.format(f'({ea})')})"
        return not self.rows(f"SELECT {kind.asked.format(f=f, b=f'({eb})')}")[0][0]

    def report(self, a, b, what, kind, ea, eb):
        member = kind.member.format(f"({ea})")
        f = member if kind is HASH else f"({kind.empty} + {member})"
        self.s.finding(f"{a.name} filter, {b.name}: {what}",
                       f"{self.own_types(a, b)}SELECT ({ea}) = ({eb}) AS equal,"
                       f" {kind.asked.format(f=f, b=f'({eb})')} AS found")


def search(s):
    equality = Equality(s)
    pairs = [(a, b) for a in equality.types for b in equality.types]
    comparable = [pair for pair in pairs if pair in equality.comparable]
    count = 12
    while s.goes_on():
        equality.new_values(count)
        questions = [(equality.pair, *pair) for pair in comparable + s.random.sample(pairs, 500)]
        questions += [(equality.literals, t) for t in equality.types if t.family]
        s.random.shuffle(questions)
        for question, *types in questions:
            if s.goes_on():
                equality.expect_no_error(question, *types)
        s.counts["rounds"] += 1
        count += 12


if __name__ == "__main__":
    run("equality", search, "asked", "equal", "pairs added", "literals")
