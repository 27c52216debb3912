"""Random queries of filter indexes: an index must give the answers of a scan.

A world is a table of filters with an index. The filters hold values of a few types. They have
several geometries, seeds and layouts, one link or several, and there are few or hundreds of each
sort. Rows are inserted, changed, deleted, left uncommitted and rolled back, also by another
session. Meanwhile, the index is vacuumed, tidied and rebuilt.

Between these changes, each query runs with an index scan, a bitmap scan, a sequential scan and
Bloom Filter Scan, all under one snapshot, which may be an old one. Queries probe for values of the
filters' element types and of other types, for literals, arrays and hashes. The values are
constants, parameters of generic plans, or come from another table. Rows and errors must be the same
in each plan. bf_index_check() must find the index sound.
"""

import psycopg2

from search import run
from values import GENERATORS, OWN_TYPES, expression_of, literal, text_of

STEPS = 60  # changes in a world
PLANS = {
    "scan": ["enable_indexscan = off", "enable_bitmapscan = off", "bloomfilter.scan = off"],
    "scan by pages": ["enable_indexscan = off", "enable_bitmapscan = off"],
    "index": ["enable_seqscan = off", "enable_bitmapscan = off", "bloomfilter.scan = off"],
    "bitmap": ["enable_seqscan = off", "enable_indexscan = off", "bloomfilter.scan = off"],
}
COMMON = ["integer", "bigint", "text", "uuid", "numeric", "double precision", "date",
          "character varying"]  # the element types in half of the worlds


class World:
    """A table and its index. `script` makes both, in a database with the extension."""

    def __init__(self, s, number):
        self.s, self.r, self.number = s, s.random, number
        self.db, self.other = s.connect(), s.connect()
        self.script = ["SET bloomfilter.overfill = ignore", "SET client_min_messages = error"]
        self.type = "countingbloomfilter" if self.r.random() < 0.2 else "bloomfilter"
        kinds = COMMON if self.r.random() < 0.5 else list(GENERATORS)
        self.kinds = self.r.sample(kinds, self.r.choice([1, 1, 2, 3]))
        self.values = {kind: [expression_of(kind, self.r) for _ in range(6)]
                       for kind in self.kinds}
        limit = self.r.choice([16, 40, 256, 1000])
        for db in (self.db, self.other):
            for sql in self.script[:2]:
                db.cursor().execute(sql)
        self.run("DROP TABLE IF EXISTS filters")
        self.run(f"CREATE TABLE filters (id serial, filter {self.type})")
        self.insert()
        self.run("CREATE INDEX filters_index ON filters USING bloomfilter (filter)"
                 f" WITH (list_limit = {limit})")

    def run(self, sql, other=False):
        """Executes a statement. It may fail, and then changes nothing."""
        self.script.append(f"{'/* another session */ ' * other}{sql}")
        try:
            (self.other if other else self.db).cursor().execute(sql)
        except psycopg2.errors.Error as error:
            if error.pgcode is None or error.pgcode.startswith(("XX", "57", "53")):
                raise
            self.script.pop()
            if other:  # its transaction is open
                self.end()

    def made(self):
        """An SQL expression that makes filter number f."""
        r = self.r
        if r.random() < 0.04:
            return "NULL"
        kind = r.choice(self.kinds)
        values = r.sample(self.values[kind], 3)
        maker = "cbf_create" if self.type == "countingbloomfilter" else "bf_create"
        size, rate = r.choice([20, 20, 300, 5000]), r.choice([0.1, 0.01, 1e-6])
        options = f"{size}, {rate}" + r.choice(["", "", ", seed => 7", ", seed => f % 3"])
        if maker == "bf_create" and r.random() < 0.25:
            options += ", layout => " + r.choice(["'pages'", "'guava'", "'parquet'", "'spark'"])
        elif maker == "bf_create" and r.random() < 0.1:
            options = f"{size}, {rate}, grow => true"
        cases = " ".join(f"WHEN {i} THEN {value}" for i, value in enumerate(values))
        filter_ = f"{maker}({options}) + CASE f % 3 {cases} END"
        if r.random() < 0.1:
            filter_ = f"({filter_}) | ({maker}({size * 3}, {rate}) + {values[0]})"
        return filter_

    def insert(self, other=False):
        for _ in range(self.r.choice([1, 2, 4])):
            rows = self.r.choice([1, 5, 40, 130, 300])
            self.run(f"INSERT INTO filters (filter) SELECT {self.made()}"
                     f" FROM generate_series(1, {rows}) f", other)

    def some(self):
        return f"id % {self.r.choice([2, 3, 7])} = {self.r.choice([0, 1])}"

    def end(self):
        self.run(self.r.choice(["COMMIT", "ROLLBACK"]), True)

    def change(self):
        """A statement that changes the table or its index."""
        step = self.r.choice(["insert"] * 3 + ["update", "delete", "delete", "vacuum", "vacuum",
                                               "tidy", "rebuild", "other", "other", "some"])
        if step == "insert":
            self.insert()
        elif step == "update":
            self.run(f"UPDATE filters f0 SET filter = {self.made().replace('f %', 'id %')}"
                     f" WHERE {self.some()}" if self.r.random() < 0.5 else
                     "UPDATE filters SET id = id WHERE " + self.some())
        elif step == "delete":
            self.run(f"DELETE FROM filters WHERE {self.some()}"
                     if self.r.random() < 0.8 else "DELETE FROM filters")
        elif step == "vacuum":
            self.run("VACUUM filters")
        elif step == "tidy":
            self.run("SELECT bf_index_tidy('filters_index')")
        elif step == "rebuild" and not self.is_open():
            self.run(f"REINDEX INDEX {'CONCURRENTLY ' * (self.r.random() < 0.5)}filters_index")
        elif step == "some":
            limit = self.r.choice([16, 100, 1000])
            if not self.is_open():
                self.run(f"ALTER INDEX filters_index SET (list_limit = {limit})")
        elif step == "other":
            if self.is_open():
                self.end()
            else:
                self.run("BEGIN", True)
                self.insert(True)

    def is_open(self):
        return self.other.info.transaction_status != 0

    def value(self):
        kind = self.r.choice(self.kinds)
        if self.r.random() < 0.3:
            return expression_of(self.r.choice(list(GENERATORS)), self.r)
        return self.r.choice(self.values[kind] + [expression_of(kind, self.r)])

    def fails(self, value):
        """Returns whether the value raises an error. An index scan computes the value even if the
        table has no row, so that the plans differ for such a value."""
        try:
            self.db.cursor().execute(f"SELECT {value}")
        except psycopg2.Error:
            return True
        return False

    def question(self):
        """A condition, and whether every plan must raise the same errors: the condition is only a
        probe, and its value raises none."""
        r, value = self.r, self.value()
        kind = r.choice(self.kinds)
        forms = [f"filter @> ({value})"] * 3 + [
            f"({value}) <@ filter", f"filter @> {literal(text_of(kind, r))}",
            f"filter @> ({value})::text::bf_literal"]
        if self.type == "bloomfilter":
            forms += [f"bf_contains(filter, {value})",
                      f"bf_contains_hash(filter, bf_hash({value}))",
                      f"bf_contains_any(filter, ARRAY[{value}, NULL, {value}])",
                      f"filter @> (1, {value})"]
        one = r.choice(forms)
        if r.random() < 0.75:
            return one, not self.fails(value)
        return r.choice([f"{one} AND {self.some()}", f"{one} AND {r.choice(forms)}",
                         f"{one} OR {r.choice(forms)}", f"NOT ({one}) AND id < 50"]), False

    def query(self, condition):
        kind = self.r.random()
        if kind < 0.7:
            return f"SELECT id FROM filters WHERE {condition}"
        if kind < 0.85:
            return ("SELECT a.id FROM (VALUES (0), (1)) v (x), LATERAL (SELECT id FROM filters"
                    f" WHERE {condition} OFFSET 0) a WHERE a.id > x")
        return f"SELECT count(*) FROM filters WHERE {condition}"

    def joined(self):
        """A query that probes for the values of another table."""
        kind = self.r.choice(self.kinds)
        values = ", ".join(f"({value})" for value in self.values[kind][:3])
        return (f"WITH k AS MATERIALIZED (SELECT v FROM (VALUES {values}, (NULL)) k (v))"
                " SELECT count(*), sum(id) FROM k JOIN filters ON filter @> v")


class Asker:
    """Runs queries under one snapshot, with every plan."""

    def __init__(self, world):
        self.world, self.s = world, world.s
        self.db = world.s.connect()
        self.db.cursor().execute("SET bloomfilter.overfill = ignore")

    def answer(self, cursor, plan, query, prepared):
        cursor.execute("SAVEPOINT s")
        try:
            for setting in PLANS[plan] + [f"plan_cache_mode = force_{prepared}_plan"]:
                cursor.execute(f"SET LOCAL {setting}")
            cursor.execute(f"PREPARE q AS {query}")
            cursor.execute("EXPLAIN EXECUTE q")
            if "filters_index" in str(cursor.fetchall()):
                self.s.counts["through the index"] += 1
            cursor.execute("EXECUTE q")
            return sorted(cursor.fetchall())
        except psycopg2.Error as error:
            if error.pgcode is None or error.pgcode.startswith("XX"):
                raise
            return error.pgcode
        finally:
            cursor.execute("ROLLBACK TO s")
            cursor.execute("DEALLOCATE ALL")

    def ask(self, cursor, query, alone):
        prepared = self.world.r.choice(["generic", "custom"])
        answers = {plan: self.answer(cursor, plan, query, prepared) for plan in PLANS}
        self.s.counts["probes"] += 1
        if isinstance(answers["scan"], list):
            self.s.counts["hits"] += len(answers["scan"]) > 0
        else:
            self.s.counts["errors"] += 1
        for plan, answer in answers.items():
            # If there are other conditions, their order decides whether there is an error.
            failed = isinstance(answer, str) or isinstance(answers["scan"], str)
            same = isinstance(answer, str) == isinstance(answers["scan"], str) or not alone
            if not same if failed else answer != answers["scan"]:
                script = ";\n".join(self.world.script)
                settings = "; ".join(f"SET {one}" for one in PLANS[plan])
                self.s.finding(f"world {self.world.number}: {plan}: {str(answer)[:300]};"
                               f" scan: {str(answers['scan'])[:300]}",
                               f"{OWN_TYPES}{script};\n{settings};\n{query}")


def play(world):
    asker = Asker(world)
    cursor = asker.db.cursor()
    for _ in range(STEPS):
        if not world.s.goes_on():
            break
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT count(*) FROM filters")  # takes the snapshot
        for _ in range(world.r.choice([0, 0, 1, 2])):
            if world.r.random() < 0.5:
                world.insert()
            else:
                world.run(world.r.choice(["SELECT bf_index_tidy('filters_index')",
                                          f"DELETE FROM filters WHERE {world.some()}",
                                          "VACUUM filters"]))
        for _ in range(4):
            condition, alone = world.question()
            asker.ask(cursor, world.query(condition), alone)
        asker.ask(cursor, world.joined(), True)
        cursor.execute("COMMIT")
        world.change()
        if world.r.random() < 0.2:
            world.s.counts["checks"] += 1
            world.run("SELECT bf_index_check('filters_index')")
    asker.db.close()


def search(s):
    s.create_database()
    db = s.connect()
    db.cursor().execute(OWN_TYPES)
    db.close()
    while s.goes_on():
        world = World(s, s.counts["worlds"])
        play(world)
        if world.is_open():
            world.end()
        world.run("SELECT bf_index_check('filters_index')")
        world.db.close()
        world.other.close()
        s.counts["worlds"] += 1


if __name__ == "__main__":
    run("filter_index", search, "probes", "hits", "errors", "through the index")
