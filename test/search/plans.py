"""Random queries that probe filters, under random plans: every plan must return the right rows.

The right rows are computed without filters. Only a few values can be probed for, so each filter is
probed once for each of them, in a simple query, and the answers are kept in a table. The answers
for members must be true. Then each query is written twice: with filters, and with look-ups of the
answers in that table. The query with look-ups runs under plain settings, and gives the right rows.

Aggregates are written in the same way in both queries, because their bytes do not depend on the
plan. (The bytes of cf_union_agg do, see doc/choosing.md; instead, its copies are counted.) If a
query may raise an error, it must raise the same one under each plan.

Some plans read tables under one snapshot, while another session changes these tables.

A world is a handful of tables and filters. Queries use it for a while, and then another world is
made.
"""

import collections
import concurrent.futures
import re

import psycopg2

from search import run

QUERIES = 60  # in a world
PLANS = 4  # for each query
# The timeout of a statement. A statement may take minutes if its expressions are compiled for each
# row.
LONGEST = "20s"

TYPES = {"b": "bloomfilter", "c": "countingbloomfilter", "k": "cuckoofilter"}
PREFIX = {"b": "bf", "c": "cbf", "k": "cf"}

# The values of a family: the number of values, the value of a number i, the key of a value in the
# table of answers, and expressions of a table's row t that have such values.
Family = collections.namedtuple("Family", "size value key asked")
SHARED = """DO 'BEGIN CREATE ROLE search_reader;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END';
CREATE FUNCTION leaky(id int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS
  'BEGIN RETURN id IS NOT NULL; END';
CREATE FUNCTION leaky_but_dear(id int) RETURNS bool LANGUAGE plpgsql COST 1000 AS
  'BEGIN RETURN id IS NOT NULL; END';
CREATE FUNCTION rows_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS
  'DECLARE r record; BEGIN FOR r IN EXECUTE query LOOP RETURN NEXT r::text; END LOOP; END';
CREATE TABLE many AS SELECT i AS id, i::bigint * 7919 % 1000003 AS item, i % 7 AS n
  FROM generate_series(1, 300000) i;
GRANT SELECT ON many TO search_reader;
ANALYZE many;
"""
FOREIGN = """CREATE EXTENSION postgres_fdw;
CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host '{host}', port '{port}', dbname '{dbname}', extensions 'bloomfilter');
CREATE USER MAPPING FOR CURRENT_USER SERVER here;
"""
LOOPED = "SELECT rows_of($query${}$query$)"
STORED = "SELECT rows::text AS made FROM ({}) rows"
NODES = {"Bloom Filter Scan": "a Bloom Filter Scan", "Bloom Filter Build": "a Bloom Filter Build",
         "Parallel Custom Scan (Bloom Filter Build)": "a parallel build", "Gather": "parallel"}

FAMILIES = {
    "integer": Family(440, "(i - 20)::bigint", "({})::text", [
        "{t}.item", "{t}.item", "{t}.n", "{t}.n * 2", "{t}.item + {t}.n", "{t}.item - {t}.n",
        "coalesce({t}.item, 3)", "abs({t}.item)", "{t}.item::int", "{t}.n::smallint", "7",
        "{t}.tags[1]"]),
    "text": Family(240, "CASE i % 2 WHEN 0 THEN 'word ' ELSE 'WORD ' END || i / 2", "({})::text", [
        "{t}.word", "{t}.word", "upper({t}.word)", "left({t}.word, 6)", "{t}.code", "'word 7'"]),
    "numeric": Family(200, "(i / 4.0)::numeric(10, 2)", "({})::numeric(10, 2)::text", [
        "{t}.price", "{t}.price / 1.00"]),
    "timestamptz": Family(
        60, "timestamptz '2024-01-01 00:00+00' + i * interval '1 hour'", "({})::text", [
            "{t}.at", "{t}.at + interval '0'"]),
    "array": Family(200, "ARRAY[i % 10, i / 10]", "({})::text", ["{t}.tags"]),
    "uuid": Family(80, "md5(i::text)::uuid", "({})::text", ["{t}.key"]),
    "wide": Family(40, "repeat(md5(i::text), 200) || i", "md5({})", ["{t}.wide"]),
}

# The columns of row number i. In the family text, the last expression is a literal. The arrays in
# `tags` have two items.
COLUMNS = {
    "item": ("bigint", "CASE WHEN i % 13 = 0 THEN NULL ELSE i * 7919 % 200 END"),
    "n": ("int", "nullif(i % 9, 0)"),
    "word": ("text", "CASE WHEN i % 11 = 0 THEN NULL ELSE 'word ' || i % 120 END"),
    "code": ("varchar", "'word ' || i % 100"),
    "price": ("numeric(10, 2)", "(i % 200) / 4.0"),
    "at": ("timestamptz", "timestamptz '2024-01-01 00:00+00' + i % 60 * interval '1 hour'"),
    "tags": ("int[]", "CASE WHEN i % 17 = 0 THEN NULL ELSE ARRAY[i % 10, i % 20] END"),
    "key": ("uuid", "md5((i % 80)::text)::uuid"),
    "wide": ("text", "CASE WHEN i % 3 = 0 THEN repeat(md5((i % 40)::text), 200) || i % 40 END"),
}
KINDS = ["heap", "heap", "range", "list", "hash", "inherited", "temporary", "unlogged", "foreign"]
VIEWS = ["barrier", "foreign"]  # queries read tables of these kinds through views

MADE = {  # ways to make a filter of values v; each filter uses one of them
    "b": ["bf_agg(v)", "bf_agg(v, 500)", "bf_agg(v, 20000)", "bf_agg(v, 300, 1e-6)",
          "bf_add_all(bf_create(4, grow => true), array_agg(v))", "bf_agg(v, 90000)",
          "bf_agg(v, 50) | bf_agg(v, 5000)"],
    "c": ["cbf_agg(v)", "cbf_agg(v, 300)", "cbf_agg(v, 5000)"],
    "k": ["cf_agg(v)", "cf_agg(v, 500)", "cf_agg(v, 20000)"],
}

# Aggregates of the rows of t. Their results are the same in all plans.
AGGREGATES = [
    "bf_agg({t}.item)::bytea", "bf_agg({t}.item, 300)::bytea",
    "bf_agg({t}.word, 100, 0.001)::bytea", "bf_agg({t}.tags)::bytea",
    "bf_agg({t}.item, 50, 0.01, 'guava')::bytea", "cbf_agg({t}.item)::bytea",
    "cbf_agg({t}.n, 50)::bytea", "cf_agg({t}.item)::bytea", "cf_agg({t}.word, 10)::bytea",
    "bf_dist_agg(bf_element_of({t}.item))::bytea",
    "bf_dist_agg(bf_element_of({t}.item), 300)::bytea",
    "bf_partial_agg(bf_element_of({t}.word))::text",
    "bf_partial_agg(bf_element_of({t}.word), 40)::text",
    "bf_merge_agg((SELECT bf_partial_agg(bf_element_of({t}.item + x))"
    " FROM generate_series(1, 3) x))::bytea",
    "bf_union_agg({t}.own)::bytea", "bf_intersect_agg(bf_create(50) + {t}.n)::bytea",
    "cbf_union_agg(cbf_create(90) + {t}.item)::bytea",
    "cf_count(cf_union_agg(cf_create(6000) + {t}.id))::text",
]

# Aggregates that Bloom Filter Build can compute, of a value v and an expected number n.
BUILDS = [
    "bf_agg({v})", "bf_agg({v}, {n})", "bf_agg({v}, {n}, 0.001)", "cbf_agg({v})",
    "cbf_agg({v}, {n})", "cf_agg({v})", "cf_agg({v}, {n})", "bf_dist_agg(bf_element_of({v}))",
    "bf_dist_agg(bf_element_of({v}), {n})", "bf_partial_agg(bf_element_of({v}))",
    "bf_partial_agg(bf_element_of({v}), {n})",
]
# Calls that raise an error for some rows of t, unless FILTER leaves these rows out. Some raise an
# error for every row, and some even without rows.
FAILING = ["bf_agg(t.item / (t.n - 3))", "bf_agg(t.item / (t.n - 3)) FILTER (WHERE t.n <> 3)",
           "bf_dist_agg(bf_element_of(t.id / (t.item % 40))) FILTER (WHERE t.item % 40 > 0)",
           "bf_dist_agg(bf_element_of(1 / (t.item % 40)))", "bf_agg(t.item, t.n)",
           "cbf_agg(t.item, 50, (SELECT 2.0))", "cf_agg((t.word || ' ')::varchar)",
           "bf_agg(t.item, 0)"]

PLAIN = ["max_parallel_workers_per_gather = 0", "bloomfilter.scan = off", "jit = off"]
PARALLEL = ["parallel_setup_cost = 0", "parallel_tuple_cost = 0",
            "min_parallel_table_scan_size = 0", "min_parallel_index_scan_size = 0"]
SCROLLED = ["enable_indexscan = off", "enable_indexonlyscan = off", "enable_seqscan = on",
            "cursor_tuple_fraction = 1", "cpu_operator_cost = 0.1"]
NOW_AND_THEN = [  # the share of plans, in percent, that have the settings
    (70, ["cpu_operator_cost = 0.1"]), (10, ["random_page_cost = 0.1"]),
    (10, ["work_mem = '64kB'"]), (5, ["join_collapse_limit = 1", "from_collapse_limit = 1"]),
    (5, ["geqo_threshold = 2"]), (15, ["enable_hashagg = off"]), (10, ["enable_sort = off"]),
    (15, ["enable_partitionwise_aggregate = on", "enable_partitionwise_join = on"]),
    (1, ["jit = on", "jit_above_cost = 0", "jit_inline_above_cost = 0",
         "jit_optimize_above_cost = 0"]),
    (40, ["enable_indexscan = off", "enable_bitmapscan = off", "enable_indexonlyscan = off"]),
    (30, ["cursor_tuple_fraction = 1"]), (5, ["enable_seqscan = off"]),
    (15, ["bloomfilter.scan = off"]),
]


class World:
    """Tables, filters and answers. `sql` makes them in an empty database with the extension."""

    def __init__(self, r, number, shared):
        self.r, self.number, self.shared = r, number, shared
        self.sql = ["CREATE SCHEMA w", "CREATE SCHEMA w_foreign", "SET search_path = w, public",
                    "SET client_min_messages = error", "LOAD 'bloomfilter'",
                    "SET bloomfilter.overfill = ignore", "GRANT USAGE ON SCHEMA w TO search_reader"]
        self.filters = {}  # number -> family
        self.made = {}  # 'b1' -> the expression that makes the filter
        self.tables = {}  # name -> kind
        self.literals = {}  # 'b1' -> the filter as text, if it is short
        self.changed = []  # names of tables that another session can change
        self._make_filters()
        self._make_tables()

    def _make_filters(self):
        self.sql.append("CREATE TABLE filters (g int PRIMARY KEY, b bloomfilter,"
                        " c countingbloomfilter, k cuckoofilter)")
        if self.r.random() < 0.5:
            self.sql += [f"ALTER TABLE filters ALTER {column} SET STORAGE external"
                         for column in TYPES]
        self.sql += [f"CREATE FUNCTION {column}_of(number int) RETURNS {type_} STABLE LANGUAGE sql"
                     f" AS 'SELECT {column} FROM filters WHERE g = number'"
                     for column, type_ in TYPES.items()]
        self.sql.append("CREATE TABLE answers (f text, v text, yes bool, PRIMARY KEY (f, v))")
        for family in FAMILIES:
            self._make_filters_of(family, 5 if family == "integer" else 1)
        self.sql += ["CREATE TABLE integers AS SELECT * FROM filters WHERE g < 5",
                     "GRANT ALL ON filters, integers, answers TO search_reader", "ANALYZE answers"]
        if self.r.random() < 0.7:
            self.sql.append("ANALYZE filters, integers")

    def _make_filters_of(self, family, count):
        value, key = FAMILIES[family].value, FAMILIES[family].key
        size = FAMILIES[family].size
        self.sql.append(f"CREATE TABLE {family}_members AS SELECT 0 AS g, {value} AS v FROM"
                        " generate_series(1, 0) i")
        for _ in range(count):
            g = len(self.filters)
            self.filters[g] = family
            members = self.r.sample(range(size), self.r.choice([size // 20, size // 3]))
            self.sql.append(f"INSERT INTO {family}_members SELECT {g}, {value}"
                            f" FROM unnest(ARRAY{members}) i")
            made = [self._how(family, column) for column in TYPES]
            self.made.update((f"{column}{g}", how) for column, how in zip(TYPES, made))
            # If all expressions are NULL, there is no aggregate. HAVING then makes this one row.
            self.sql.append(f"INSERT INTO filters SELECT {g}, {', '.join(made)}"
                            f" FROM {family}_members WHERE g = {g} HAVING true")
        for column in TYPES:
            self.sql.append(
                f"INSERT INTO answers SELECT '{column}' || g, {key.format('v')}, {column} @> v"
                f" FROM filters, (SELECT DISTINCT {value} AS v"
                f" FROM generate_series(0, {size - 1}) i) d"
                f" WHERE g IN (SELECT g FROM {family}_members)")
        self.sql.append(f"GRANT ALL ON {family}_members TO search_reader")

    def _how(self, family, column):
        ways = MADE[column]
        if family == "array":  # array_agg() would make one array of all items
            ways = [how for how in ways if "array" not in how]
        return self.r.choice(ways) if self.r.random() < 0.97 else "NULL"

    def _make_tables(self):
        kinds = [kind for kind in KINDS if kind != "foreign" or "SERVER" in self.shared]
        for kind in self.r.sample(kinds, 4):
            self._make_table(f"t{len(self.tables)}", kind)
        name = self.r.choice([name for name, kind in self.tables.items() if kind != "temporary"])
        self.sql.append(f"CREATE VIEW {name}_barrier WITH (security_barrier) AS"
                        f" SELECT * FROM {name} WHERE id % 5 <> 1")
        self.sql.append(f"GRANT ALL ON {name}_barrier TO search_reader")
        self.tables[f"{name}_barrier"] = "barrier"

    def _make_table(self, name, kind):
        r = self.r
        rows = r.choice([r.randrange(1, 40), r.randrange(40, 400), r.randrange(400, 1500)])
        defined = ", ".join(f"{column} {type_}" for column, (type_, _) in COLUMNS.items())
        values = ", ".join(value for _, value in COLUMNS.values())
        integers = [g for g, family in self.filters.items() if family == "integer"]
        columns = f"id int, gone text, {defined}, fid int, own bloomfilter"
        local = f"{name}_there" if kind == "foreign" else name
        self.sql += self._create(local, kind, columns)
        for column in ("own", "wide"):
            if r.random() < 0.5:
                self.sql.append(f"ALTER TABLE {local} ALTER {column} SET STORAGE "
                                + r.choice(["external", "extended", "main"]))
        most = 200_000 if rows < 40 else 30_000 if rows < 400 else 3000  # bytes in column own
        insert = (f"SELECT i, 'gone', {values}, g, b FROM generate_series({{}}, {{}}) i"
                  f" LEFT JOIN filters ON g = i % {len(integers)} AND length(b::bytea) < {most}")
        self.sql.append(f"INSERT INTO {local} {insert.format(1, rows)}")
        if kind == "inherited":
            self.sql += [f"CREATE TABLE {name}_child (mine text) INHERITS ({name})",
                         f"INSERT INTO {name}_child {insert.format(rows // 2, rows + 20)}"]
        self.sql += self._change(local)
        if kind == "foreign":
            self.sql += [f"IMPORT FOREIGN SCHEMA w LIMIT TO ({local}) FROM SERVER here"
                         " INTO w_foreign",
                         f"CREATE VIEW {name} AS SELECT * FROM w_foreign.{local}"]
        if kind != "temporary":
            self.sql.append(f"GRANT ALL ON {name} TO search_reader")
            self.changed.append(local)
        if kind not in ("temporary", "foreign") and r.random() < 0.5:
            self.sql += [f"CREATE POLICY visible ON {name} USING (id % 3 <> 0)",
                         f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY"]
        self.tables[name] = kind

    def _create(self, name, kind, columns):
        how = {"temporary": "TEMPORARY ", "unlogged": "UNLOGGED "}.get(kind, "")
        by = {"range": "RANGE (id)", "list": "LIST (n)", "hash": "HASH (id)"}.get(kind)
        if not by:
            fillfactor = self.r.choice(["", " WITH (fillfactor = 50)"])
            return [f"CREATE {how}TABLE {name} ({columns}){fillfactor}"]
        parts = {"range": ["FROM (0) TO (90)", "FROM (90) TO (200)"],
                 "list": ["IN (1, 2)", "IN (3)"],
                 "hash": [f"WITH (MODULUS 3, REMAINDER {i})" for i in range(3)]}[kind]
        sql = [f"CREATE TABLE {name} ({columns}) PARTITION BY {by}"]
        sql += [f"CREATE TABLE {name}_{i} PARTITION OF {name} FOR VALUES {part}"
                for i, part in enumerate(parts)]
        if kind != "hash":
            sql.append(f"CREATE TABLE {name}_rest PARTITION OF {name} DEFAULT")
        return sql

    def _change(self, name):
        r = self.r
        return [sql.format(name) for chance, sql in [
            (0.7, "ALTER TABLE {} DROP COLUMN gone"),
            (0.5, "ALTER TABLE {} ADD later int DEFAULT 7"),
            (0.5, "UPDATE {} SET item = item WHERE id % 3 = 0"),
            (0.4, "DELETE FROM {} WHERE id % 4 = 1"),
            (0.3, "DELETE FROM {} WHERE id BETWEEN 50 AND 120"), (0.5, "VACUUM {}"),
            (0.4, "CREATE INDEX ON {} (id)"), (0.3, "CREATE INDEX ON {} (item)"),
            (0.2, "CREATE INDEX ON {} (n, id)"), (0.7, "ANALYZE {}")] if r.random() < chance]

    def change_meanwhile(self):
        """Statements by which another session changes a table, in a transaction or without one.

        All values stay among those in the table of answers.
        """
        r, name = self.r, self.r.choice(self.changed)
        first = r.randrange(1, 8)
        some = f"id % 7 = {first % 7} AND id < 300"
        values = ", ".join(value for _, value in COLUMNS.values())
        insert = (f"INSERT INTO {name} (id, {', '.join(COLUMNS)})"
                  f" SELECT i, {values} FROM generate_series({first}, 299, 7) i")
        maintain = r.choice(["VACUUM (TRUNCATE off)", "VACUUM (TRUNCATE off, FREEZE)", "ANALYZE"])
        change = r.choice([
            [f"UPDATE {name} SET item = (item + 3) % 200 WHERE {some}"],
            [f"UPDATE {name} SET n = nullif((n + 1) % 9, 0) WHERE {some}"],
            [f"UPDATE {name} SET item = 7 WHERE {some}", "SAVEPOINT a",
             f"DELETE FROM {name} WHERE {some}", "ROLLBACK TO a"],
            [f"DELETE FROM {name} WHERE {some}", insert], [f"DELETE FROM {name} WHERE {some}"],
            [f"SELECT FROM {name} WHERE {some} FOR UPDATE"]])
        return r.choice([["BEGIN", *change, r.choice(["COMMIT", "COMMIT", "ROLLBACK"])],
                         [f"{maintain} {name}"]])

    def check_answers(self, s, cursor):
        """Checks that all filters find their members."""
        for family in FAMILIES:
            for column in TYPES:
                cursor.execute(
                    f"SELECT count(yes), count(*), array_agg(m.g) FILTER (WHERE NOT yes)"
                    f" FROM {family}_members m JOIN answers"
                    f" ON f = '{column}' || g AND answers.v = {FAMILIES[family].key.format('m.v')}")
                known, asked, missing = cursor.fetchone()
                s.counts["members"] += asked
                if missing:
                    s.finding(f"members of {column} of filters {missing} are not found",
                              self.script())

    def read_literals(self, cursor):
        for column in TYPES:
            cursor.execute(f"SELECT '{column}' || g, {column}::text FROM filters"
                           f" WHERE length({column}::bytea) < 1500 ORDER BY g")
            self.literals.update(cursor.fetchall())

    def made_again(self, key):
        """Expressions that aggregate the filter of a key in the query, if that gives the same
        one."""
        column, g = key[0], int(key[1:])
        made = self.made[key]
        return [] if "|" in made or made == "NULL" else \
            [f"(SELECT {made} FROM {self.filters[g]}_members WHERE g = {g})"]

    def alike(self, key):
        """The keys of the filters that have the same type and family."""
        family = self.filters[int(key[1:])]
        return [f"{key[0]}{g}" for g, of in self.filters.items() if of == family]

    def script(self):
        return ";\n".join([self.shared.rstrip(";\n"), *self.sql])


class Query:
    """A query's text. It has numbers in place of probes. Each stands for two expressions: one with
    a filter, and one that looks up the answer.

    `joined` are items of FROM that the filters of its conditions need. `parameters` are the
    filters, such as `b3`, with which the query is executed first. `role` is the user who executes
    the query. If `may_fail`, its result may be an error.
    """

    def __init__(self, r, world, number):
        self.r, self.world, self.number = r, world, number
        self.asks = []
        self.parameters = []
        self.joined = []
        self.known = {}  # the right result, by form and parameters
        self.limit = None  # if set, any `limit` of the right rows are right
        self.may_fail = False
        self.role = "search_reader" if r.random() < 0.15 else None
        tables = [name for name, kind in world.tables.items()
                  if not self.role or kind != "temporary"]
        self.table, self.other = r.choice(tables), r.choice(tables)
        self.text = r.choice(SHAPES)(self)
        self.writes = bool(re.match("UPDATE|DELETE|MERGE", self.text))
        self.locks = "FOR UPDATE" in self.text

    def with_filters(self, parameter):
        """The query with filters. `parameter` is a function from a parameter's number to its
        text."""
        text = re.sub("\x01(\\d+)\x01", lambda m: self.asks[int(m[1])][0], self.text)
        text += f" LIMIT {self.limit}" if self.limit else ""
        return re.sub("\x02(\\d+)\x02", lambda m: parameter(int(m[1])), text)

    def with_answers(self, parameters):
        text = re.sub("\x01(\\d+)\x01", lambda m: self.asks[int(m[1])][1], self.text)
        return re.sub("\x02(\\d+)\x02", lambda m: f"'{parameters[int(m[1])]}'", text)

    # --- filters ---------------------------------------------------------------------------------

    def filter(self, family, t="t", may_join=True):
        """An expression that is a filter, an expression that is the key of its answers, and the
        letter of the filter's type."""
        r = self.r
        g = r.choice([g for g, of in self.world.filters.items() if of == family])
        column = r.choice("bbck")
        key = f"{column}{g}"
        stored = f"SELECT {column} FROM filters WHERE g = {g}"
        if family == "integer" and r.random() < 0.1:
            return f"{t}.own", f"'b' || {t}.fid", "b"
        sources = [lambda: (f"({stored})", f"'{key}'"), lambda: self._parameter(key)]
        if key in self.world.literals:
            sources.append(lambda: (f"'{self.world.literals[key]}'::{TYPES[column]}", f"'{key}'"))
        if r.random() < 0.3:  # filters that differ, or may differ, between rows
            sources = [lambda: (f"({stored} OFFSET 0)", f"'{key}'"),
                       lambda: self._chosen(column, family, t)]
            if may_join:
                sources.append(lambda: self._joined(column, g))
                if family == "integer":
                    sources += [lambda: self._joined_by_row(column), lambda: self._lateral(column)]
        filter_, key = r.choice(sources)()
        return filter_, key, column

    def _parameter(self, key):
        self.parameters.append(key)
        number = f"\x02{len(self.parameters) - 1}\x02"
        return number, number

    def _joined(self, column, g):
        alias = f"f{len(self.joined)}"
        self.joined.append(f"JOIN filters {alias} ON {alias}.g = {g}")
        return f"{alias}.{column}", f"'{column}' || {alias}.g"

    def _joined_by_row(self, column):
        alias = f"f{len(self.joined)}"
        self.joined.append(f"{self.r.choice(['JOIN', 'LEFT JOIN'])} integers {alias}"
                           f" ON {alias}.g = t.n % 5")
        return f"{alias}.{column}", f"'{column}' || {alias}.g"

    def _lateral(self, column):
        alias = f"f{len(self.joined)}"
        self.joined.append(
            f"CROSS JOIN LATERAL (SELECT g, {column} AS f FROM integers"
            f" WHERE g = t.id % 5 {self.r.choice(['', 'OFFSET 0'])}) {alias}")
        return f"{alias}.f", f"'{column}' || {alias}.g"

    def _chosen(self, column, family, t):
        one, other = (self.r.choice([g for g, of in self.world.filters.items() if of == family])
                      for _ in range(2))
        when = f"CASE WHEN {t}.id % 2 = 0 THEN {{}} ELSE {{}} END"
        stored = f"(SELECT {column} FROM filters WHERE g = {{}})"
        return (when.format(stored.format(one), stored.format(other)),
                when.format(f"'{column}{one}'", f"'{column}{other}'"))

    # --- conditions ------------------------------------------------------------------------------

    def ask(self, t="t", may_join=True):
        """A condition that probes a filter for a row's value: true, false or NULL."""
        family = self.r.choice(list(FAMILIES) + 4 * ["integer"])
        value = self.r.choice(FAMILIES[family].asked).format(t=t)
        filter_, key, column = self.filter(family, t, may_join)
        if family == "integer" and column == "b" and self.r.random() < 0.25:
            return self._add(*self._ask_array(filter_, key, t))
        looked_up = FAMILIES[family].key.format(value)
        answer = f"(SELECT yes FROM answers WHERE f = {key} AND v = {looked_up})"
        ways = ["{0} @> {1}"] * 4
        ways += ["{1} <@ {0}", "{2}_contains({0}, {1})", "{2}_contained({1}, {0})"]
        if column != "b":
            ways.append("{2}_multiplicity({0}, {1}) > 0")
        elif family == "integer":
            ways.append("bf_contains_hash({0}, bf_hash({1}))")
        return self._add(self.r.choice(ways).format(filter_, f"({value})", PREFIX[column]), answer)

    def _ask_array(self, filter_, key, t):
        values = self.r.choice([f"ARRAY[{t}.item, {t}.n]", f"{t}.tags", f"ARRAY[{t}.n, NULL, 4]",
                                f"ARRAY[{t}.item + 1]", "ARRAY[1, 2, 3]"])
        is_null = f"{values} IS NULL OR {key} IS NULL" \
            f" OR EXISTS (SELECT FROM answers WHERE f = {key} AND yes IS NULL)"
        answer = f"(SELECT {{}}(yes) FROM answers WHERE f = {key} AND v = ANY ({values}::text[]))"
        one = f"(SELECT yes FROM answers WHERE f = {key} AND v = ({values})[1]::text)"
        return self.r.choice([
            (f"bf_contains_any({filter_}, {values})",
             f"CASE WHEN {is_null} THEN NULL ELSE coalesce({answer.format('bool_or')}, false) END"),
            (f"bf_contains_all({filter_}, {values})",
             f"CASE WHEN {is_null} THEN NULL ELSE coalesce({answer.format('bool_and')}, true) END"),
            (f"(bf_contains_each({filter_}, {values}))[1]", one)])

    def _add(self, with_filter, with_answer):
        self.asks.append((f"({with_filter})", with_answer))
        return f"\x01{len(self.asks) - 1}\x01"

    def beside(self, t="t"):
        return self.r.choice([
            "{t}.id % 2 = 0", "{t}.n IS NOT NULL", "{t}.n < 5", "{t}.id > 70", "{t}.id < 150",
            "{t}.item IS NOT NULL", "{t}.item > 50", "({t}.n = 1 OR {t}.item < 90)", "true",
            "leaky({t}.id)", "leaky_but_dear({t}.id)", "{t}.id IN (SELECT generate_series(1, 90))",
            "{t}.word LIKE 'word 1%'", "length({t}.wide) > 6400", "(SELECT true)", "random() < 2",
            "{t}.id % (SELECT 3) = 1", "{t}.n = 3", "{t}.n <> 3", "{t}.wide IS NULL",
            "EXISTS (SELECT FROM filters WHERE g = {t}.fid)"]).format(t=t)

    def where(self, t="t", may_join=True):
        """A tree of conditions."""
        kind = self.r.random()
        if kind < 0.4:
            return self.ask(t, may_join)
        if kind < 0.7:
            both = [self.ask(t, may_join), self.beside(t)]
            self.r.shuffle(both)
            return " AND ".join(both)
        if kind < 0.78:
            return f"NOT {self.ask(t, may_join)}"
        if kind < 0.84:
            return (f"CASE WHEN {self.beside(t)} THEN {self.ask(t, may_join)}"
                    f" ELSE {self.ask(t, may_join)} END")
        if kind < 0.9:
            return f"{self.ask(t, may_join)} IS {self.r.choice(['NOT TRUE', 'NULL', 'NOT FALSE'])}"
        operator = self.r.choice([" AND ", " OR "])
        return operator.join(f"({self.where(t, may_join)})" for _ in range(2))

    def build(self, t="t", number="3000"):
        """A filter of a table's rows, as text."""
        family = self.r.choice(list(FAMILIES) + 2 * ["integer"])
        value = self.r.choice([one for one in FAMILIES[family].asked if "{t}" in one]).format(t=t)
        number = self.r.choice(["50", number, "(SELECT 700)", "NULL"])
        call = self.r.choice(BUILDS).format(v=value, n=number)
        if family == "integer" and self.r.random() < 0.1:
            call = f"bf_agg({t}.item, 300, 0.01, '{self.r.choice(['guava', 'parquet'])}')"
        return self.text_of_filter(call + self.filtered(t))

    def filtered(self, t):
        """FILTER of an aggregate, or nothing."""
        if self.r.random() < 0.7:
            return ""
        conditions = [self.beside(t), self.ask(t, may_join=False)]
        return f" FILTER (WHERE {' AND '.join(self.r.sample(conditions, self.r.choice([1, 2])))})"

    def text_of_filter(self, call):
        around = self.r.choice(["md5(({})::text)"] * 4 + [
            "CASE WHEN {0} IS NOT NULL THEN md5(({0})::text) END", "({})::text IS NULL",
            "md5(({})::text) || (SELECT 5)"])
        return around.format(call)

    def where_of_one(self):
        """WHERE of a query that reads only the table t, or nothing."""
        if self.r.random() < 0.3:
            return ""
        return f" WHERE ({self.r.choice([self.where, self.ask])(may_join=False)})" \
            if self.r.random() < 0.5 else f" WHERE {self.beside()} AND {self.beside()}"

    def source(self):
        """FROM and WHERE of a query that reads a table as t."""
        where = self.where()
        return f"FROM {self.table} t {' '.join(self.joined)} WHERE ({where})"


# --- shapes of queries ---------------------------------------------------------------------------

def rows(q):
    more = ["", ", t.word", f", {q.ask(may_join=False)}", ", md5(t::text)"]
    if q.world.tables[q.table] not in VIEWS:
        more.append(", t.tableoid::regclass::text")
    return f"SELECT t.id, t.n{q.r.choice(more)} {q.source()}"


def locked(q):
    return f"SELECT t.id, t.n {q.source()} FOR UPDATE OF t{q.r.choice(['', ' SKIP LOCKED'])}"


def some(q):
    q.limit = q.r.randrange(1, 20)
    return f"SELECT t.id, t.n {q.source()}"


def limited(q):
    return f"SELECT t.id, t.n {q.source()} ORDER BY t.id, t.n LIMIT {q.r.randrange(40)}" \
        f"{q.r.choice(['', ' OFFSET 3'])}"


def sampled(q):
    if q.world.tables[q.table] in VIEWS:
        return rows(q)
    return f"SELECT t.id FROM {q.table} t TABLESAMPLE {q.r.choice(['bernoulli', 'system'])} (50)" \
        f" REPEATABLE (3) WHERE {q.where(may_join=False)}"


def counted(q):
    return f"SELECT count(*), count(t.item), sum(t.item), min(t.word), max(t.n) {q.source()}"


def grouped(q):
    by = q.r.choice(["t.n", "t.n, t.id % 3", "ROLLUP (t.n, t.id % 3)", "CUBE (t.n, t.id % 2)",
                     "GROUPING SETS ((t.n), (t.item % 5), ())"])
    return f"SELECT count(*), sum(t.item), min(t.id), max(t.word) {q.source()} GROUP BY {by}" \
        f"{q.r.choice(['', ' HAVING count(*) > 2'])}"


def filtered(q):
    one, other = q.ask(may_join=False), q.ask(may_join=False)
    return f"SELECT t.n, count(*) FILTER (WHERE {one}), bool_or({other}) {q.source()} GROUP BY t.n"


def grouped_by_answer(q):
    return "SELECT yes, count(*), sum(id)" \
        f" FROM (SELECT t.id, {q.ask(may_join=False)} AS yes {q.source()}) s GROUP BY yes"


def aggregated(q):
    made = ", ".join(f"md5({q.r.choice(AGGREGATES).format(t='t')})" for _ in range(2))
    by = q.r.choice(["", " GROUP BY t.n", " GROUP BY ROLLUP (t.n)", " GROUP BY t.id % 40, t.n"])
    return f"SELECT {made}, count(*) {q.source()}{by}"


def built(q):
    made = [q.build() for _ in range(q.r.choice([1, 1, 2, 3]))]
    if q.r.random() < 0.25:
        q.may_fail = True
        made.append(q.text_of_filter(q.r.choice(FAILING)))
    having = q.r.choice([
        "", "", "", " HAVING bf_count(bf_agg(t.item)) > 20", " HAVING bf_agg(t.n, 50) @> 3",
        f" HAVING md5('a') < ({q.build()})::text", " HAVING (SELECT true)", " HAVING count(*) > 3"])
    more = q.r.choice(["", "", ", 1", ", row_number() OVER ()", ", generate_series(1, 2)",
                       ", bf_agg(DISTINCT t.n) IS NULL"])
    return f"SELECT {', '.join(made)}{more} FROM {q.table} t{q.where_of_one()}{having}"


def built_of_many(q):
    """A query with builds whose states spill."""
    calls = ["bf_agg(item)", "cf_agg(item)", "cbf_agg(item)", "bf_agg(item, 300000)",
             "bf_dist_agg(bf_element_of(item))", "bf_partial_agg(bf_element_of(item))"]
    made = ", ".join(f"md5(({call})::text)" for call in q.r.sample(calls, q.r.choice([1, 2])))
    return f"SELECT {made} FROM many {q.r.choice(['', 'WHERE n < 5', 'WHERE id > 100'])}"


def built_inside(q):
    few = f"(SELECT id, n FROM {q.other} ORDER BY id, n, item LIMIT 6) o"
    one = f"SELECT ({q.build()})::text AS f FROM {q.table} t{q.where_of_one()}"
    other = f"SELECT ({q.build('o')})::text FROM {q.other} o"
    # A part of by_row depends on a row of `few`: a condition, which may choose partitions, the
    # expected number, or the value.
    made = q.r.choice([q.build(number="abs(o.id) + 10"), "md5(bf_agg(t.item + o.n)::bytea)",
                       q.build()])
    by_row = f"SELECT {made} FROM {q.table} t WHERE t.id >= o.id" \
        f"{q.r.choice(['', f' AND {q.ask(may_join=False)}', f' AND {q.beside()}'])}"
    return q.r.choice([
        f"SELECT g, s.* FROM generate_series(1, 2) g, ({one}) s",
        f"WITH c AS MATERIALIZED ({one}) SELECT a.f, b.f FROM c a, c b",
        f"SELECT o.id, ({one}) FROM {few}", f"({one}) UNION ALL ({other})",
        f"SELECT o.id, ({by_row}) FROM {few}", f"SELECT o.id, s.* FROM {few}, LATERAL ({by_row}) s",
        f"SELECT o.id, s.* FROM {few}, LATERAL ({by_row} HAVING o.n > 2) s",
        f"SELECT o.id FROM {few} WHERE EXISTS (SELECT FROM ({by_row}) s(f) WHERE f IS NOT NULL)"])


def aggregated_in_frames(q):
    frame = q.r.choice(["3 PRECEDING", "UNBOUNDED PRECEDING",
                        "BETWEEN 2 PRECEDING AND 2 FOLLOWING"])
    made = q.r.choice(["cbf_agg(t.item, 50)", "cbf_agg(t.n)", "bf_agg(t.item, 50)", "cf_agg(t.n)"])
    return f"SELECT t.id, md5({made} OVER (PARTITION BY t.n ORDER BY t.id ROWS {frame})::bytea)" \
        f" FROM {q.table} t WHERE {q.where(may_join=False)} AND t.id < 200"


def windows(q):
    return "SELECT id, n, count(*) OVER (PARTITION BY n ORDER BY id)," \
        " sum(item) FILTER (WHERE yes) OVER ()" \
        f" FROM (SELECT t.id, t.n, t.item, {q.ask(may_join=False)} AS yes {q.source()}) s"


def distinct(q):
    on = q.r.choice(["", "ON (t.n, t.id % 2) "])
    return f"SELECT DISTINCT {on}t.n, t.id % 2 AS odd {q.source()}"


def joined(q):
    where = q.source()
    on = f"o.item = t.item{q.r.choice(['', f' AND {q.ask(chr(111), may_join=False)}'])}"
    how = q.r.choice(["JOIN", "LEFT JOIN"])
    text = where.replace(f"FROM {q.table} t ", f"FROM {q.table} t {how} {q.other} o ON {on} ", 1)
    return f"SELECT t.id, o.id {text} AND t.id < 300"


def joined_whole(q):
    return f"SELECT t.id, o.n FROM (SELECT t.* {q.source()}) t FULL JOIN" \
        f" (SELECT * FROM {q.other} o WHERE {q.where('o', may_join=False)}) o ON o.id = t.id"


def semijoined(q):
    inner = f"(SELECT t.id {q.source()})"
    return q.r.choice([
        f"SELECT o.id FROM {q.other} o WHERE o.id IN {inner}",
        f"SELECT o.id FROM {q.other} o WHERE o.id NOT IN {inner} AND o.id < 100",
        f"SELECT o.id FROM {q.other} o WHERE EXISTS (SELECT FROM {inner} s WHERE s.id = o.id)",
        f"SELECT o.id FROM {q.other} o"
        f" WHERE NOT EXISTS (SELECT FROM {inner} s WHERE s.id = o.item)"])


def lateral(q):
    few = f"(SELECT id, n, item, tags FROM {q.other} ORDER BY id, n, item LIMIT 6) o"
    inner = f"{q.source()} AND t.id >= o.id"
    return q.r.choice([
        f"SELECT o.id, s.* FROM {few}, LATERAL (SELECT count(*), sum(t.id) {inner}) s",
        f"SELECT o.id, (SELECT max(t.id) {inner}), o.n FROM {few}",
        f"SELECT o.id, s.id FROM {few}, LATERAL (SELECT t.id {inner} ORDER BY t.id LIMIT 3) s"])


def combined(q):
    one = f"SELECT t.id, t.n {q.source()}"
    other = f"SELECT o.id, o.n FROM {q.other} o WHERE {q.where('o', may_join=False)}"
    return f"{one} {q.r.choice(['UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT'])} {other}"


def common(q):
    how = q.r.choice(["", "MATERIALIZED", "NOT MATERIALIZED"])
    return f"WITH c AS {how} (SELECT t.id, t.n {q.source()})" \
        " SELECT a.id, b.n FROM c a JOIN c b ON a.id = b.id"


def of_filters(q):
    """A query that probes the filters of a table's rows, all for the same value."""
    column = q.r.choice("bck")
    value = q.r.randrange(-20, 300)
    ask = q._add(f"o.{column} @> {value}",
                 f"(SELECT yes FROM answers WHERE f = '{column}' || o.g AND v = '{value}')")
    return f"SELECT o.g FROM integers o WHERE {ask}"


def of_outer(q):
    """A query that probes another filter for each row of an outer query."""
    column, item = q.r.choice("bbck"), q.r.choice(FAMILIES["integer"].asked[:-2]).format(t="t")
    filter_ = q.r.choice([f"o.{column}", f"(SELECT {column} FROM filters WHERE g = o.g)"])
    ask = q._add(f"{filter_} @> ({item})",
                 f"(SELECT yes FROM answers WHERE f = '{column}' || o.g AND v = ({item})::text)")
    inner = f"FROM {q.table} t WHERE {ask}{q.r.choice(['', f' AND {q.beside()}'])}"
    return q.r.choice([
        f"SELECT o.g, s.* FROM integers o, LATERAL (SELECT count(*), sum(t.id) {inner}) s",
        f"SELECT o.g, s.* FROM integers o, LATERAL (SELECT {q.build()} {inner}) s",
        f"SELECT o.g, x, (SELECT max(t.id) {inner}) FROM integers o, generate_series(1, 2) x",
        f"SELECT o.g FROM integers o WHERE EXISTS (SELECT {inner} OFFSET 2)",
        f"SELECT o.g, s.id FROM integers o, LATERAL (SELECT t.id {inner} ORDER BY id LIMIT 5) s"])


def changed(q):
    change = q.r.choice(["n = t.n + 1", "item = t.item + 1", "word = 'other'",
                         "own = coalesce(t.own, bf_create(9)) + 5::bigint",
                         f"own = (SELECT bf_agg(o.item) FROM {q.other} o)"])
    where = q.where(may_join=False)
    return q.r.choice([
        f"UPDATE {q.table} t SET {change} WHERE {where} RETURNING t.id, t.n, t.item",
        f"UPDATE {q.table} t SET {change} FROM (SELECT DISTINCT id FROM {q.other}) o"
        f" WHERE o.id = t.id AND ({where}) RETURNING t.id, t.n",
        f"DELETE FROM {q.table} t WHERE {where} RETURNING t.id, t.n",
        f"DELETE FROM {q.table} t USING (SELECT DISTINCT id FROM {q.other}) o"
        f" WHERE o.id = t.id AND ({where}) RETURNING t.id"])


def merged(q):
    if q.world.tables[q.table] in VIEWS + ["inherited"]:
        return changed(q)  # not every server version can merge into these kinds
    return f"MERGE INTO {q.table} t USING (SELECT DISTINCT id FROM {q.other}) o ON o.id = t.id" \
        f" WHEN MATCHED AND {q.ask(may_join=False)} THEN UPDATE SET item = 1000" \
        f" WHEN MATCHED AND ({q.where(may_join=False)}) THEN DELETE" \
        f" WHEN NOT MATCHED AND o.id < 9 THEN INSERT (id, n) VALUES (-1, 1)"


SHAPES = [rows, rows, rows, rows, rows, locked, some, limited, sampled, counted, counted, grouped,
          grouped, filtered, grouped_by_answer, aggregated, aggregated, built, built, built, built,
          built_of_many, built_inside, built_inside, built_inside, aggregated_in_frames,
          windows, distinct, joined, joined, joined_whole, semijoined, semijoined, lateral, lateral,
          combined, common, of_filters, of_outer, of_outer, of_outer, changed, changed, merged]


# --- plans ---------------------------------------------------------------------------------------

class Plans:
    """Executes the queries of one world."""

    def __init__(self, s, world):
        self.s, self.r, self.world = s, s.random, world
        self.db = s.connect()
        self.cursor = self.db.cursor()
        self.version = self.db.server_version
        self.script = []  # the statements of the plan that is executed
        self.other = s.connect().cursor()  # another session, which changes tables
        self.other.execute(f"SET search_path = w, public; SET statement_timeout = '{LONGEST}'")
        self.methods = [name for name, in self.execute(
            "SELECT name FROM pg_settings WHERE name LIKE 'enable\\_%' AND vartype = 'bool'"
            " ORDER BY 1")]

    def execute(self, sql):
        self.script.append(sql)
        self.cursor.execute(sql)
        return self.cursor.fetchall() if self.cursor.description else []

    def settings(self):
        r = self.r
        chosen = ["jit = off"]
        for chance, settings in NOW_AND_THEN:
            chosen += settings if r.random() * 100 < chance else []
        chosen += [f"{name} = off" for name in r.sample(self.methods, r.choice([0, 0, 1, 3]))]
        if r.random() < 0.25:
            chosen += PARALLEL + [f"max_parallel_workers_per_gather = {r.randrange(1, 4)}",
                                  f"parallel_leader_participation = {r.choice(['on', 'off'])}"]
        if r.random() < 0.04:
            force = "debug_parallel_query" if self.version >= 160000 else "force_parallel_mode"
            chosen.append(f"{force} = {r.choice(['on', 'regress'])}")
        cache = r.choice(["auto", "force_custom_plan", "force_generic_plan"])
        return chosen + [f"plan_cache_mode = {cache}"]

    def begin(self, query, settings, level=""):
        role = [f"ROLE {query.role}"] if query.role else []
        self.execute("ROLLBACK; DEALLOCATE ALL")
        timeout = [f"statement_timeout = '{LONGEST}'"]
        begun = [f"BEGIN {level}"] + [f"SET LOCAL {one}" for one in timeout + settings + role]
        self.script = []
        self.execute(";\n".join(begun))

    def check(self, query):
        """Executes a query under some plans."""
        for _ in range(PLANS):
            settings = self.settings()
            self.s.counts["plans"] += 1
            try:
                self.r.choice(self.ways(query))(query, settings)
                if self.r.random() < 0.1 and not query.may_fail:
                    self.note_nodes(query)
            except psycopg2.errors.QueryCanceled:
                self.s.counts["given up"] += 1
            except psycopg2.Error as error:
                self.wrong(query, query.parameters, f"{type(error).__name__}: {error}")

    def ways(self, query):
        ways = [self.plainly] + 2 * [self.prepared] * bool(query.parameters)
        if not query.writes:
            ways += [self.looped, self.stored]
            if not query.may_fail:
                ways += [self.forward, self.left]
                ways += [self.scrolled, self.meanwhile] * (not query.locks)
        return ways

    # --- the right rows --------------------------------------------------------------------------

    def right(self, query, parameters, form="{}"):
        """Computes the right rows, and the table's content after the statement, unless known."""
        if (form, *parameters) not in query.known:
            sql = form.format(query.with_answers(parameters))
            try:
                self.begin(query, PLAIN)
                query.known[(form, *parameters)] = self.result(query, sql), self.content(query)
            except psycopg2.errors.QueryCanceled:
                raise
            except psycopg2.Error as error:
                raise ValueError(f"this search wrote an invalid query: {sql}") from error

    def result(self, query, sql):
        """The rows of a statement, or its error if the query may fail."""
        try:
            return texts(self.execute(sql))
        except psycopg2.errors.QueryCanceled:
            raise
        except psycopg2.Error as error:
            if not query.may_fail:
                raise
            self.s.counts["errors"] += 1
            return collections.Counter([error.pgcode])

    def content(self, query):
        if not query.writes:
            return None
        return self.execute(f"RESET ROLE; SELECT count(*), sum(id), sum(n), sum(item), count(own),"
                            f" count(*) FILTER (WHERE word = 'other') FROM {query.table}")

    def compare(self, query, parameters, rows, form="{}"):
        right_rows, right_content = query.known[(form, *parameters)]
        content = self.content(query)
        missing, more = right_rows - rows, rows - right_rows
        if query.limit and sum(rows.values()) == min(query.limit, sum(right_rows.values())):
            missing.clear()
        if missing or more or content != right_content:
            self.wrong(query, parameters, f"of {sum(right_rows.values())} rows"
                       f" {list(missing.items())[:5]} are missing,"
                       f" {list(more.items())[:5]} too many;"
                       f" of the table {content}, not {right_content}")

    def wrong(self, query, parameters, what):
        self.s.finding(f"world {self.world.number}, query {query.number}: {what}", ";\n".join(
            [self.world.script(), *self.script,
             f"ROLLBACK;\n-- what is right:\n{query.with_answers(parameters)}"]))

    # --- ways to execute a query -----------------------------------------------------------------

    def given(self, key, in_query):
        """An expression that is a parameter's filter."""
        ways = [f"{key[0]}_of({key[1:]})"]
        if key in self.world.literals:
            ways.append(f"'{self.world.literals[key]}'::{TYPES[key[0]]}")
        if in_query:
            ways += [f"(SELECT {key[0]} FROM filters WHERE g = {key[1:]})",
                     *self.world.made_again(key)]
        return self.r.choice(ways)

    def text_of(self, query):
        return query.with_filters(lambda i: self.given(query.parameters[i], True))

    def plainly(self, query, settings):
        self.right(query, query.parameters)
        self.begin(query, settings)
        self.compare(query, query.parameters, self.result(query, self.text_of(query)))

    def prepared(self, query, settings):
        """Executes a prepared query with different filters, perhaps until it gets a generic
        plan."""
        others = [self.r.choice(self.world.alike(key)) for key in query.parameters]
        for parameters in (query.parameters, others):
            self.right(query, parameters)
        self.begin(query, settings)
        types = ", ".join(TYPES[key[0]] for key in query.parameters)
        self.execute(f"PREPARE p ({types}) AS {query.with_filters(lambda i: f'${i + 1}')}")
        for _ in range(1 if query.writes or query.may_fail else self.r.choice([1, 2, 7])):
            parameters = self.r.choice([query.parameters, others])
            given = ", ".join(self.given(key, False) for key in parameters)
            self.compare(query, parameters, self.result(query, f"EXECUTE p ({given})"))

    def looped(self, query, settings):
        """Executes the query in a PL/pgSQL loop, and returns its rows as text."""
        self.right(query, query.parameters, LOOPED)
        self.begin(query, settings)
        rows = self.result(query, LOOPED.format(self.text_of(query)))
        self.compare(query, query.parameters, rows, LOOPED)

    def stored(self, query, settings):
        """Stores the rows in a table, by CREATE TABLE AS or by INSERT."""
        self.right(query, query.parameters, STORED)
        self.begin(query, settings)
        text = STORED.format(self.text_of(query))
        store = self.r.choice([
            "CREATE TEMPORARY TABLE stored ON COMMIT DROP AS {}",
            "CREATE TEMPORARY TABLE stored (made text) ON COMMIT DROP; INSERT INTO stored {}"])
        rows = self.result(query, store.format(text)) or self.result(query, "TABLE stored")
        self.compare(query, query.parameters, rows, STORED)

    def left(self, query, settings):
        """Uses a cursor that is closed, or whose transaction ends, before all rows are read."""
        self.right(query, query.parameters)
        self.begin(query, settings)
        self.execute(f"DECLARE c CURSOR FOR {self.text_of(query)}")
        rows = texts(self.execute(f"FETCH {self.r.choice([0, 1, 5])} c"))
        self.execute(f"MOVE {self.r.choice([1, 20])} c")
        self.execute(self.r.choice(["CLOSE c", "COMMIT", "ROLLBACK"]))
        right_rows, _ = query.known[("{}", *query.parameters)]
        if rows - right_rows:
            self.wrong(query, query.parameters, f"{list((rows - right_rows).items())} are wrong")

    def forward(self, query, settings):
        """Uses a cursor that fetches rows in several steps, and may outlive its transaction."""
        self.right(query, query.parameters)
        self.begin(query, settings)
        hold = not query.locks and self.r.random() < 0.3
        self.execute(f"DECLARE c NO SCROLL CURSOR {'WITH HOLD ' * hold}FOR {self.text_of(query)}")
        rows = texts(self.execute("FETCH 3 c"))
        if hold:
            self.execute("COMMIT")
        for fetch in self.r.sample(["FETCH 1 c", "FETCH 7 c", "FETCH 40 c"], 2) + ["FETCH ALL c"]:
            rows += texts(self.execute(fetch))
        self.compare(query, query.parameters, rows)
        if hold:
            self.execute("CLOSE c")

    def scrolled(self, query, settings):
        """Uses a cursor that goes back and forth over the rows that it has returned before.

        Index scans are off, because an index scan returns the rows of one key in the same order
        backward as forward.
        """
        self.right(query, query.parameters)
        self.begin(query, settings + SCROLLED)
        self.execute(f"DECLARE c SCROLL CURSOR FOR {self.text_of(query)}")
        rows = list(map(str, self.execute("FETCH ALL c")))
        self.compare(query, query.parameters, collections.Counter(rows))
        at = len(rows) + 1  # the cursor's position; the first row is 1
        for _ in range(6):
            to = self.r.choice([at - 1, at - 9, at + 1, at + 12, 0, len(rows) + 1])
            to = max(0, min(len(rows) + 1, to))
            if to == at:
                continue
            passed = rows[max(to - 1, 0):at - 1][::-1] if to < at else rows[at:to]
            where = f"{'BACKWARD' if to < at else 'FORWARD'} {abs(to - at)} c"
            if self.r.random() < 0.3:
                self.execute(f"MOVE {where}")
            elif list(map(str, self.execute(f"FETCH {where}"))) != passed:
                self.wrong(query, query.parameters, f"from row {at} to {to} are {passed}")
                return
            at = to

    def meanwhile(self, query, _):
        """Executes plans under one snapshot while another session changes the tables."""
        changes = [self.world.change_meanwhile() for _ in range(self.r.choice([1, 4, 12]))]
        every = [sql for change in changes for sql in change]
        self.begin(query, [], "ISOLATION LEVEL REPEATABLE READ")
        right = self.under_snapshot(PLAIN, query.with_answers(query.parameters))
        query.known = {("{}", *query.parameters): (right, None)}
        self.script.append("-- meanwhile, in another session: " + "; ".join(every))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            changed = pool.submit(self.change, changes)
            try:
                for _ in range(3):
                    self.compare_under_snapshot(query)
                changed.result()
                self.compare_under_snapshot(query)
            finally:  # later plans read the changed tables
                query.known = {}
                self.world.sql += every

    def compare_under_snapshot(self, query):
        rows = self.under_snapshot(self.settings(), self.text_of(query))
        self.compare(query, query.parameters, rows)

    def under_snapshot(self, settings, sql):
        self.execute(";\n".join(["SAVEPOINT plan"] + [f"SET LOCAL {one}" for one in settings]))
        rows = texts(self.execute(sql))
        self.execute("ROLLBACK TO plan")
        return rows

    def change(self, changes):
        self.other.execute("ROLLBACK")  # in case a change ran into its timeout
        for change in changes:
            for sql in change:
                self.other.execute(sql)

    def note_nodes(self, query):
        plan = str(self.execute(f"EXPLAIN (COSTS OFF) {self.text_of(query)}"))
        self.s.counts["explained"] += 1
        for node, what in NODES.items():
            self.s.counts[what] += node in plan


def texts(rows):
    return collections.Counter(map(str, rows))


def prepare(cursor):
    """Makes the objects that all worlds share, also postgres_fdw if the server has it. Returns the
    SQL that makes them."""
    shared = SHARED
    cursor.execute("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'")
    if cursor.fetchone()[0]:
        here = cursor.connection.get_dsn_parameters()
        shared += FOREIGN.format(host=here["host"], port=here["port"], dbname=here["dbname"])
    else:
        print("# postgres_fdw is skipped: the server lacks it", flush=True)
    cursor.execute(shared)
    return shared


def search_world(s, world):
    plans = Plans(s, world)
    for sql in world.sql:
        plans.execute(sql)
    world.check_answers(s, plans.cursor)
    world.read_literals(plans.cursor)
    for number in range(QUERIES):
        if not s.goes_on():
            break
        query = Query(s.random, world, number)
        s.counts["queries"] += 1
        plans.check(query)
    plans.execute("ROLLBACK; DROP SCHEMA w, w_foreign CASCADE")
    plans.other.connection.close()
    plans.db.close()


def search(s):
    s.create_database()
    db = s.connect()
    shared = prepare(db.cursor())
    db.close()
    while s.goes_on():
        search_world(s, World(s.random, s.counts["worlds"], shared))
        s.counts["worlds"] += 1
    if s.counts["explained"] > 200:
        for what in NODES.values():
            if not s.counts[what]:
                s.finding(f"no plan was {what}: the search tests nothing", "SELECT version()")


if __name__ == "__main__":
    run("plans", search, "plans", "members")
