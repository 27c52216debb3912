"""Random joins with bloomfilter.join_filter on and off: both must have the same rows, and a query
must not take five times as long with filters.

A world is a handful of tables: plain, partitioned, with children, with policies. They have few or
many rows, NULLs, and keys of several types. A query joins some of them, or a UNION ALL of some of
them, in a random tree of joins of all kinds, with random conditions. The query runs once with join
filters and once without, with random settings of the planner. Some queries are prepared, run
through a cursor, run as a user whom policies restrict, or run while another session changes the
tables. The costs of rows are raised, so that filters pay even for small tables.

Time is compared only if both runs had the same settings. A query that was slower runs three more
times each way, and the shortest times decide. Other queries are faster with filters by the same
factor. The last line counts both, and those that are given up only with filters, or only without.
"""

import collections
import re
import time

import psycopg2

from search import run

QUERIES = 80  # in a world
LONGEST = 3  # the timeout of a query in seconds, because some joins have too many rows
# A query is slower with filters if it takes so many times as long, and so many seconds longer.
FACTOR, LEAST = 5, 0.1

SHARED = """DO 'BEGIN CREATE ROLE search_reader;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END';
CREATE FUNCTION leaky(id int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS
  'BEGIN RETURN id IS NOT NULL; END';
"""

# This column is never analyzed, so that the planner expects it to be long. A join that needs the
# column has a large hash table, so that filters of rows pay.
WIDE = "w"
# The columns: the type, and an expression of the row's number i and of the number of keys n.
COLUMNS = {
    "id": ("int", "i"),
    "a": ("int", "CASE WHEN i % 17 <> 0 THEN i * 7919 % {n} END"),
    "b": ("bigint", "CASE WHEN i % 5 <> 0 THEN i * 31 % {n} END"),
    "s": ("smallint", "i % {n}"),
    "c": ("text", "'word ' || i * 13 % {n}"),
    "v": ("varchar", "'word ' || i * 7 % {n} || CASE WHEN i % 3 = 0 THEN ' ' ELSE '' END"),
    "p": ("char(12)", "'word ' || i * 7 % {n}"),
    "e": ("numeric", "(i % {n}) / 2.0"),
    "f": ("float8", "(i % {n}) / 2.0"),
    "g": ("real", "(i % {n}) / 4.0"),
    "d": ("date", "date '2024-01-01' + i % {n}"),
    "t": ("timestamp", "timestamp '2024-01-01' + i % {n} * interval '12 hours'"),
    "z": ("timestamptz", "timestamptz '2024-01-01' + i % {n} * interval '1 day'"),
    "k": ("int", "i % 23"),
    "m": ("bigint", "CASE WHEN i % 11 <> 0 THEN i / 23 % 19 END"),
    WIDE: ("char(1000000)", "NULL"),
}
# The same rows in every plan, though several have the same id.
FIRST_ROWS = f"ORDER BY id, {', '.join(c for c in COLUMNS if c not in ('id', WIDE))} LIMIT 400"
# What a branch of a UNION ALL can have in place of a column.
REPLACED = {
    "a": ["7", "NULL::int", "k", "abs(a)", "a + 1", "1000 / (a + 1)", "coalesce(a, 3)",
          "CASE WHEN a > 9 THEN a END", "tableoid::int"],
    "b": ["m", "b + 1", "id::bigint", "coalesce(b, 5)"],
    "c": ["c COLLATE \"default\"", "v::text", "p::text", "c || ''"],
    "v": ["v::varchar(40)", "c::varchar", "NULL::varchar"],
    "p": ["p::char(20)", "v::char(12)"],
    "d": ["d + 1", "t::date"],
    "f": ["g::float8", "f * 2"],
    "k": ["s::int", "3", "coalesce(k, 4)"],
    "m": ["NULL::bigint", "k::bigint"],
}
# Join conditions; {l} and {r} are the tables. The first ones can have join filters, and are used
# most often.
COMPARED = [
    "{l}.a = {r}.a", "{l}.a = {r}.id", "{l}.b = {r}.a", "{l}.b = {r}.id", "{l}.s = {r}.b",
    "{l}.id = {r}.id", "{l}.c = {r}.c", "{l}.v = {r}.c", "{l}.v = {r}.v", "{l}.p = {r}.p",
    "{l}.e = {r}.e", "{l}.f = {r}.f", "{l}.g = {r}.f", "{l}.d = {r}.d", "{l}.t = {r}.d",
    "{l}.z = {r}.z", "{l}.a = {r}.a AND {l}.c = {r}.c", "{l}.a = {r}.id AND {l}.k = {r}.k",
    "({l}.k, {l}.m) = ({r}.k, {r}.m)", "{l}.k = {r}.s AND {l}.v = {r}.v AND {l}.p = {r}.p",
    "{l}.k = {r}.k AND {l}.m = {r}.m AND {l}.f = {r}.g", "{l}.t = {r}.d AND {l}.k = {r}.k",
    "{l}.d = {r}.z", "{l}.v = {r}.p", "{l}.a = {r}.e", "{l}.a + 1 = {r}.b", "abs({l}.a) = {r}.a",
    "{l}.c COLLATE \"C\" = {r}.c COLLATE \"C\"", "coalesce({l}.a, 3) = {r}.a",
    "{l}.a IS NOT DISTINCT FROM {r}.a AND {l}.k = {r}.k"]
CONDITIONS = [
    "{t}.k = {x}", "{t}.k = {x}", "{t}.k < {x}", "{t}.id < {x} * 9", "{t}.a = {x}", "{t}.b > {x}",
    "{t}.c LIKE 'word {x}%'", "{t}.e IN ({x}, {x} + 1, 4)", "{t}.d > date '2024-01-01' + {x}",
    "leaky({t}.id)", "{t}.a IS NULL", "{t}.b IS NOT NULL", "coalesce({t}.k, {x}) = {x}",
    "{t}.k = {x} OR {t}.a = {x}", "{t}.k = (SELECT min(k) + {x} FROM few)",
    "{t}.k + random() * 0 = {x}", "NOT {t}.k = {x}"]

PARALLEL = ["max_parallel_workers_per_gather = 2", "parallel_setup_cost = 0",
            "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0",
            "min_parallel_index_scan_size = 0"]


class World:
    """A set of tables. `sql` makes them in an empty database with the extension."""

    def __init__(self, r, number):
        self.r, self.number, self.tables, self.views, self.branches = r, number, [], [], 0
        self.sql = ["CREATE SCHEMA w", "SET search_path = w, public", "LOAD 'bloomfilter'",
                    "SET client_min_messages = error", "GRANT USAGE ON SCHEMA w TO search_reader",
                    "CREATE TABLE few AS SELECT 1 AS k"]
        for i in range(r.randrange(4, 7)):
            self._make_table(f"t{i}", r.choice([60, 300, 1000, 4000, 4000]))
        for i in range(2):
            barrier = " WITH (security_barrier)" if r.random() < 0.2 else ""
            self.sql.append(f"CREATE VIEW u{i}{barrier} AS {self.union(r)}")
            self.views.append(f"u{i}")
        self.sql.append("GRANT SELECT, UPDATE, DELETE ON ALL TABLES IN SCHEMA w TO search_reader")

    def _make_table(self, name, rows):
        r = self.r
        self.tables.append(name)
        columns = list(COLUMNS)
        r.shuffle(columns)
        declared = ", ".join(f"{c} {COLUMNS[c][0]}" for c in columns)
        n = r.choice([40, 300, 2000])
        values = ", ".join(COLUMNS[c][1].format(n=n) for c in columns)
        kind = r.choice(["plain"] * 4 + ["partitioned", "partitioned", "inherited", "policy"])
        inserted = f"SELECT {values} FROM generate_series(1, {rows}) i"
        if kind == "partitioned":
            by = r.choice(["id", "k", "a"])
            self.sql.append(f"CREATE TABLE {name} ({declared}) PARTITION BY HASH ({by})")
            for i in range(3):
                other = f"{name}_{i}"
                self.sql += [f"CREATE TABLE {other} (gone int, {declared})",
                             f"ALTER TABLE {other} DROP COLUMN gone",
                             f"ALTER TABLE {name} ATTACH PARTITION {other}"
                             f" FOR VALUES WITH (modulus 3, remainder {i})"]
        else:
            self.sql.append(f"CREATE TABLE {name} ({declared})")
        self.sql.append(f"INSERT INTO {name} {inserted}")
        if kind == "inherited":
            self.sql += [f"CREATE TABLE {name}_child (more int) INHERITS ({name})",
                         f"INSERT INTO {name}_child {inserted} WHERE i % 4 = 0"]
        if kind == "policy":
            self.sql += [f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
                         f"CREATE POLICY p ON {name} USING (k < 15 AND leaky(id))"]
        for column in r.sample(["id", "a", "c", "k"], r.choice([0, 1, 2, 3])):
            self.sql.append(f"CREATE INDEX ON {name} ({column})")
        if r.random() < 0.8:
            self.sql.append(f"ANALYZE {name} ({', '.join(c for c in columns if c != WIDE)})")

    def union(self, r):
        """A UNION ALL with the columns of a table. EXPLAIN shows its branches as y1, y2, …."""
        return " UNION ALL ".join(self._branch(r) for _ in range(r.choice([2, 2, 2, 3])))

    def _branch(self, r):
        self.branches += 1
        alias, how = f"y{self.branches}", r.choice(["plain"] * 8 + ["where", "limit", "sample"])
        share = r.choice([0, 0.1, 0.1])
        columns = ", ".join(f"{r.choice(REPLACED[c])} AS {c}"
                            if c in REPLACED and r.random() < share else c for c in COLUMNS)
        if self.views and r.random() < 0.1:
            table = f"{r.choice(self.views)} {alias}"
            columns = columns.replace("tableoid", "id")
        else:
            table = f"{'ONLY ' * (r.random() < 0.1)}{r.choice(self.tables)} {alias}"
            table += " TABLESAMPLE bernoulli (60) REPEATABLE (3)" * (how == "sample")
        text = f"SELECT {columns} FROM {table}{' WHERE k < 15' * (how == 'where')}"
        return f"({text} {FIRST_ROWS})" if how == "limit" else text


class Query:
    """A query. {x} stands for its parameter."""

    def __init__(self, world, r):
        self.world, self.r, self.aliases = world, r, []
        text = r.choice([self.counted, self.counted, self.counted, self.grouped, self.ordered,
                         self.united, self.nested, self.changed])()
        self.writes = text.startswith(("UPDATE", "DELETE", "WITH"))
        self.text = text

    def condition(self, alias):
        x = "{x}" if self.r.random() < 0.3 else str(self.r.randrange(25))
        return self.r.choice(CONDITIONS).format(t=alias, x=x)

    def compared(self, left, right):
        many = len(COMPARED) if self.r.random() < 0.5 else 22
        if self.r.random() < 0.1:
            return "({l}.k, {l}.m) = ({r}.k, {r}.m)".format(l=left, r=right)
        return COMPARED[self.r.randrange(many)].format(l=left, r=right)

    def table(self):
        alias = f"x{len(self.aliases)}"
        self.aliases.append(alias)
        if self.r.random() < 0.15:
            view = self.r.choice(self.world.views)
            united = view if self.r.random() < 0.3 else f"({self.world.union(self.r)})"
            return f"{united} {alias}", [alias]
        name = self.r.choice(self.world.tables)
        sample = " TABLESAMPLE bernoulli (60) REPEATABLE (3)" if self.r.random() < 0.03 else ""
        return f"{'ONLY ' * (self.r.random() < 0.05)}{name} {alias}{sample}", [alias]

    def tree(self, count):
        """A tree of joins, and the aliases whose columns conditions above the tree can name."""
        r = self.r
        if count == 1:
            if r.random() < 0.12:
                return self.subquery()
            return self.table()
        split = r.choice([1, count - 1, r.randrange(1, count)])
        left, names = self.tree(split)
        right, others = self.tree(count - split)
        how = r.choice(["JOIN"] * 6 + ["LEFT JOIN"] * 3 + ["RIGHT JOIN"] * 2 + ["FULL JOIN"])
        on = self.compared(r.choice(names), r.choice(others))
        if how == "FULL JOIN":
            on = COMPARED[r.randrange(20)].format(l=r.choice(names), r=r.choice(others))
        elif r.random() < 0.3:
            on += " AND " + self.condition(r.choice(names + others))
        elif r.random() < 0.2:  # may be tables that another join compares, too
            on = self.compared(r.choice(names + others), r.choice(names + others))
        return f"({left} {how} {right} ON {on})", names + others

    def subquery(self):
        table, (alias,) = self.table()
        outer = f"x{len(self.aliases)}"
        self.aliases.append(outer)
        how = self.r.choice(["", " OFFSET 0", f" {FIRST_ROWS}"])
        return f"(SELECT * FROM {table} WHERE {self.condition(alias)}{how}) {outer}", [outer]

    def semijoin(self, names):
        outer = self.r.choice(names)
        tree, inner = self.tree(self.r.choice([1, 1, 2]))
        first = self.r.choice(inner)
        where = " AND ".join(self.condition(self.r.choice(inner))
                             for _ in range(self.r.choice([0, 1, 1])))
        column = self.r.choice("abc")
        return self.r.choice([
            f"EXISTS (SELECT FROM {tree} WHERE {self.compared(outer, first)}"
            f"{' AND ' * bool(where)}{where})",
            f"NOT EXISTS (SELECT FROM {tree} WHERE {self.compared(outer, first)}"
            f"{' AND ' * bool(where)}{where})",
            f"{outer}.{column} IN (SELECT {first}.{column} FROM {tree} WHERE {where or 'true'})",
            f"{outer}.{column} NOT IN (SELECT {first}.{column} FROM {tree}"
            f" WHERE {where or 'true'} ORDER BY 1 LIMIT 50)"])

    def body(self):
        tree, names = self.tree(self.r.choice([1, 2, 2, 3, 3, 4, 5]))
        where = [self.condition(self.r.choice(names)) for _ in range(self.r.choice([0, 1, 1, 2]))]
        where += [self.semijoin(names) for _ in range(self.r.choice([0, 0, 0, 1, 2]))]
        if len(self.aliases) == 1:
            where.append(self.semijoin(names))
        return f"FROM {tree} WHERE {' AND '.join(where) or 'true'}", names

    def row(self, names):
        values = [f"coalesce({n}.id, -1)" for n in names]
        values += [f"{n}.{WIDE}" for n in names if self.r.random() < 0.5]
        return f"hashtext(concat_ws(',', {', '.join(values)}))"

    def counted(self):
        body, names = self.body()
        return f"SELECT count(*), sum({self.row(names)}) {body}"

    def grouped(self):
        body, names = self.body()
        return f"SELECT {names[0]}.k, count(*), sum({self.row(names)}) {body} GROUP BY 1"

    def ordered(self):
        body, names = self.body()
        ids = ", ".join(f"{n}.id" for n in names)
        return f"SELECT {ids}, count(*) {body} GROUP BY {ids} ORDER BY {ids} LIMIT 60"

    def united(self):
        return f"{self.counted()} UNION ALL {self.counted()}"

    def nested(self):
        body, names = self.body()
        table, (alias,) = self.table()
        condition = self.compared(alias, names[0])
        return self.r.choice([
            f"SELECT {alias}.k, (SELECT count(*) {body} AND {condition}) FROM {table}"
            f" WHERE {alias}.id < 5",
            f"SELECT {alias}.id, s.* FROM {table}, LATERAL (SELECT count(*),"
            f" sum({self.row(names)}) {body} AND {condition}) s WHERE {alias}.id < 5",
            f"WITH c AS MATERIALIZED (SELECT {names[0]}.* {body} LIMIT 0) SELECT count(*)"
            f" FROM {table} JOIN c ON {alias}.id = c.id",
            f"SELECT count(*), sum(s.h) FROM (SELECT {names[0]}.a, count(*) AS h {body} GROUP BY 1)"
            f" s JOIN {table} ON {alias}.a = s.a WHERE {self.condition(alias)}"])

    def changed(self):
        body, names = self.body()
        target = self.r.choice(self.world.tables)
        return self.r.choice([
            f"UPDATE {target} o SET k = o.k - 1 WHERE o.id IN (SELECT {names[0]}.id {body})"
            " RETURNING o.id, o.k",
            f"DELETE FROM {target} o USING (SELECT DISTINCT {names[0]}.a {body}) s"
            " WHERE s.a = o.id RETURNING o.id",
            f"WITH x AS (UPDATE {target} SET k = k + 1 WHERE k < 9 RETURNING id)"
            f" SELECT count(*), sum({self.row(names)}) {body}"])


class Joins:
    """Executes queries with join filters and without."""

    def __init__(self, s, world):
        self.s, self.r, self.world = s, s.random, world
        self.db, self.other = s.connect(), s.connect()
        self.cursor = self.db.cursor()
        self.cursor.execute("SET search_path = w, public; LOAD 'bloomfilter'")
        with self.other.cursor() as cursor:
            cursor.execute("SET search_path = w, public")
        self.script = []
        self.methods = [name for name, in self.execute(
            "SELECT name FROM pg_settings WHERE name ~ '^enable_(hashjoin|mergejoin|nestloop"
            "|indexscan|bitmapscan|material|memoize|partitionwise_join|sort)$'")]

    def execute(self, sql):
        self.script.append(sql)
        self.cursor.execute(sql)
        return self.cursor.fetchall() if self.cursor.description else []

    def settings(self):
        r = self.r
        chosen = [f"statement_timeout = '{LONGEST}s'", "jit = off",
                  f"cpu_tuple_cost = {r.choice([0.01, 1, 10, 10, 100])}"]
        chosen += [f"{name} = {r.choice(['on', 'off'])}"
                   for name in r.sample(self.methods, r.choice([0, 1, 2, 3]))]
        if r.random() < 0.3:  # joins then drive index scans
            chosen += ["enable_hashjoin = off", "enable_mergejoin = off"]
        chosen += PARALLEL if r.random() < 0.3 else ["max_parallel_workers_per_gather = 0"]
        if r.random() < 0.1:
            chosen += ["join_collapse_limit = 1"] if r.random() < 0.5 else ["geqo_threshold = 2"]
        if r.random() < 0.1:
            chosen.append("work_mem = '64kB'")
        if r.random() < 0.05:
            force = "debug_parallel_query" if self.db.server_version >= 160000 \
                else "force_parallel_mode"
            chosen.append(f"{force} = on")
        return chosen

    def set(self, settings):
        self.execute(";\n".join(f"SET LOCAL {one}" for one in settings))

    def rows(self, query, way, x):
        """The rows that the open transaction sees."""
        text = query.text.replace("{x}", str(x))
        if way == "prepared":
            parameter = query.text.replace("{x}", "$1")
            self.execute("DEALLOCATE ALL")
            self.execute(f"PREPARE q (int) AS {parameter}")
            return collections.Counter(self.execute(f"EXECUTE q ({x})"))
        if way == "cursor":
            self.execute(f"DECLARE c NO SCROLL CURSOR FOR {text}")
            rows = self.execute("FETCH 3 c") + self.execute("FETCH ALL c")
            self.execute("CLOSE c")
            return collections.Counter(rows)
        return collections.Counter(self.execute(text))

    def change(self):
        """Another session changes a table."""
        table, x = self.r.choice(self.world.tables), self.r.randrange(23)
        sql = self.r.choice([
            f"UPDATE {table} SET a = a + 1, c = c || 'x' WHERE k = {x}",
            f"DELETE FROM {table} WHERE k = {x} AND id % 3 = 0",
            f"INSERT INTO {table} (id, a, b, c, k, d) SELECT i, i, i, 'word ' || i, {x},"
            f" '2024-01-01' FROM generate_series(1, 20) i"])
        self.script.append(f"-- another session: {sql}")
        with self.other.cursor() as cursor:
            cursor.execute(sql)

    def timed(self, setting, query, way, x):
        """The rows that the open transaction sees, and the seconds that they take. The rows are
        None if it takes too long."""
        self.set([f"bloomfilter.join_filter = {setting}"])
        self.execute("SAVEPOINT t")
        begin = time.monotonic()
        try:
            rows = self.rows(query, way, x)
            return rows, time.monotonic() - begin
        except psycopg2.errors.QueryCanceled:
            self.execute("ROLLBACK TO t")
            return None, time.monotonic() - begin

    def compare_times(self, query, way, x, seconds):
        """Looks again at a query that was much slower one way. `seconds` has its times."""
        def is_slower(one, other):
            return one > FACTOR * other and one > other + LEAST
        slow, fast = ("on", "off") if seconds["on"] > seconds["off"] else ("off", "on")
        if not is_slower(seconds[slow], seconds[fast]):
            return
        self.execute("SAVEPOINT t")
        for _ in range(3):
            for setting in fast, slow:
                _, again = self.timed(setting, query, way, x)
                seconds[setting] = min(seconds[setting], again)
                self.execute("ROLLBACK TO t")
        if is_slower(seconds[slow], seconds[fast]):
            self.s.counts["slower" if slow == "on" else "faster"] += 1
            if slow == "on":
                self.wrong(f"{seconds['off']:.3f} s without filters, {seconds['on']:.3f} s with")

    def count_filters(self, query, x):
        plan = str(self.execute(f"EXPLAIN {query.text.replace('{x}', str(x))}"))
        self.s.counts["filters"] += "Bloom Filter Scan" in plan
        self.s.counts["filters of rows"] += "@> ROW(" in plan
        self.s.counts["filters of branches"] += bool(
            re.search(r"Bloom Filter Scan\) on \w+ y\d", plan))
        self.s.counts["filters of index scans"] += "Bloom Filter Probe" in plan
        self.s.counts["in parallel"] += "Parallel Custom Scan (Bloom Filter Scan" in plan

    def check(self, query):
        way = self.r.choice(["plain", "plain", "prepared", "cursor", "reader"])
        if way == "cursor" and query.writes:
            way = "plain"
        x, settings = self.r.randrange(25), self.settings()
        if self.r.random() < 0.3:
            settings.append(f"plan_cache_mode = {self.r.choice(['force_generic_plan', 'auto'])}")
        self.script = []
        changes = not query.writes and self.r.random() < 0.2
        same_settings = not changes and not query.writes and self.r.random() < 0.5
        try:
            self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            self.set(settings)
            if way == "reader":
                self.execute("SET LOCAL ROLE search_reader")
            self.execute("SAVEPOINT s")
            off, seconds_off = self.timed("off", query, way, x)
            if changes:
                self.change()
            self.execute("ROLLBACK TO s")
            self.set(["bloomfilter.join_filter = on"])
            if not same_settings:
                self.set(self.settings())
            if not query.writes and way != "prepared":
                self.count_filters(query, x)
            on, seconds_on = self.timed("on", query, way, x)
            if off is None or on is None:
                late = "given up" if off is on or not same_settings else \
                    "given up with filters only" if on is None else "given up without only"
                self.s.counts[late] += 1
            else:
                self.s.counts["rows"] += bool(off) and off != collections.Counter([(0, None)])
                if on != off:
                    self.wrong(f"{list((off - on).items())[:5]} are missing,"
                               f" {list((on - off).items())[:5]} too many")
            if same_settings:
                self.s.counts["times"] += 1
                self.execute("ROLLBACK TO s")
                self.compare_times(query, way, x, {"off": seconds_off, "on": seconds_on})
        except psycopg2.errors.QueryCanceled:  # by the timeout, in a change or in EXPLAIN
            self.s.counts["given up"] += 1
        except psycopg2.Error as error:
            self.wrong(f"{type(error).__name__}: {error}")
        finally:
            self.cursor.execute("ROLLBACK")

    def wrong(self, what):
        self.s.finding(f"world {self.world.number}: {what}",
                       SHARED + ";\n".join(self.world.sql + self.script))


def search(s):
    s.create_database()
    db = s.connect()
    db.cursor().execute(SHARED)
    db.close()
    while s.goes_on():
        world = World(s.random, s.counts["worlds"])
        joins = Joins(s, world)
        for sql in world.sql:
            joins.cursor.execute(sql)
        for _ in range(QUERIES):
            if not s.goes_on():
                break
            s.counts["queries"] += 1
            joins.check(Query(world, s.random))
        joins.cursor.execute("DROP SCHEMA w CASCADE")
        joins.db.close()
        joins.other.close()
        s.counts["worlds"] += 1


if __name__ == "__main__":
    run("joins", search, "queries", "filters", "rows", "times")
