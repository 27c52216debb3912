"""Compares the extension with a second implementation of the format.

The second implementation is in test/format and was written from doc/format.md alone. Each round
makes a filter, a partial state or an element of random values in both implementations. Operations,
sizes, rates and seeds are random: create, add, remove, union, intersection, clear, fold, growth and
aggregates. Both must make the same bytes, give the same answers for members and for other values,
and agree on counts, rates and on what they refuse. Then the bytes are damaged. The extension must
reject what the page rejects, and nothing else.
"""

import math
import os
import sys

import psycopg2

from search import run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../format"))
import elements  # noqa: E402
import filters  # noqa: E402
from filters import Damaged, Refused  # noqa: E402


class Comparison:
    """A connection, and comparisons of what both implementations make."""

    def __init__(self, s):
        self.s, self.r = s, s.random
        self.db = s.connect()
        self.run(elements.SETUP)
        self.run("SET bloomfilter.overfill = ignore; SET client_min_messages = error")

    def run(self, sql, parameters=None):
        with self.db.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchone() if cursor.description else None

    def answer(self, sql, parameters=None):
        """The row that a query returns, or None if the extension refuses the query."""
        try:
            return self.run(sql, parameters)
        except psycopg2.Error as error:
            if error.pgcode in (None, "XX000", "42601", "42883") or error.pgcode.startswith("57"):
                raise
            return None

    def same(self, what, sql, ours):
        """Checks that an expression has the bytes that ours() makes, or that both refuse it.
        Returns the bytes of ours()."""
        theirs = self.answer(sql)
        try:
            expected = ours()
        except Refused:
            expected = None
        self.s.counts["values"] += 1
        if (theirs and bytes(theirs[0])) != expected:
            at = "refused" if expected is None or not theirs else next(
                (f"differ at {i}" for i, (a, b) in enumerate(zip(bytes(theirs[0]), expected))
                 if a != b), f"{len(bytes(theirs[0]))} and {len(expected)} bytes")
            self.s.finding(f"{what}: {at}", sql)
        return expected

    def values(self, kind, count):
        return [elements.random_value(kind, self.r) for _ in range(count)]

    def rows(self, values):
        return "(VALUES " + ", ".join(f"({v.sql})" for v in values) + ") rows (v)"

    def rate(self):
        r = self.r
        return r.choice([0.01, 0.001, 0.5, 1e-9, 0.25, 2.0**-r.randrange(1, 29),
                         math.exp(r.uniform(math.log(1e-9), math.log(0.5)))])

    def number(self):
        return int(math.exp(self.r.uniform(0, math.log(self.r.choice([100, 20000])))))

    def seed(self):
        return self.r.choice([0, 0, 7, -1, self.r.randrange(-2**63, 2**63)])


# --- filters of each type ------------------------------------------------------------------------

def declared(c, value):
    """An argument that names the element type, and a function that sets the type of a filter."""
    if value.family == 24 or c.r.random() < 0.7:  # rows may have an anonymous type
        return "", lambda f: f

    def give(f):
        f.family, f.shape = value.family, value.shape
        return f
    return f", type => pg_typeof({value.sql})", give


def created(c, values, seed):
    """A bloomfilter: SQL that makes it, and a function that makes the same filter in Python."""
    r, n, rate = c.r, c.number(), c.rate()
    few = values[:r.randrange(len(values) + 1)]
    way = r.randrange(6) if seed == 0 else r.randrange(3)
    added = "".join(f" + {v.sql}" for v in few)
    of, give = declared(c, values[0])
    if way == 0:
        return (f"(bf_create({n}, {rate!r}, seed => {seed}{of}){added})",
                lambda: put_all(give(filters.create(n, rate, seed)), few))
    if way == 1:
        bits, k = r.randrange(1, 50000), r.randrange(1, 17)
        return (f"(bf_create_by_size({bits}, {k}, seed => {seed}{of}){added})",
                lambda: put_all(give(filters.by_size(bits, k, seed)), few))
    if way == 2:
        n = min(n, 20)
        return (f"(bf_create({n}, {rate!r}, seed => {seed}, grow => true{of}){added})",
                lambda: put_all(give(filters.growing(n, rate, seed)), few))
    if way == 3:
        return (f"(SELECT bf_agg(v, {n}, {rate!r}) FROM {c.rows(values)})",
                lambda: filters.aggregate(values, n, rate))
    if way == 4:
        return sized_itself(c, values, rate)
    known = r.random() < 0.5
    return (f"((SELECT bf_agg(v, {n if known else 'NULL'}, {rate!r}) FROM {c.rows(values)}"
            f" WHERE pg_backend_pid() = 0){added})",
            lambda: put_all(filters.of_no_rows(n if known else None, rate), few))


def sized_itself(c, values, rate):
    return (f"(SELECT bf_agg(v, NULL, {rate!r}) FROM {c.rows(values)})",
            lambda: filters.aggregate(values, None, rate))


def changed(c, kind, sql, make):
    """The same filter, or the result of a function that changes it."""
    way, values = c.r.randrange(10), c.values(kind, c.r.randrange(4))
    if way == 0:
        return f"bf_clear({sql})", lambda: filters.clear(make())
    if way == 1:
        size = 40 + 64 * c.r.choice([1, 1, 2, 8, c.r.randrange(300)])
        return f"bf_fold({sql}, {size})", lambda: filters.fold(make(), size)
    if way == 2:
        more = f"({sql})" + "".join(f" + {v.sql}" for v in values)
        if c.r.random() < 0.5:
            return (f"(({more}) & ({sql}))",
                    lambda: filters.intersect(put_all(make(), values), make()))
        return f"(({sql}) & ({more}))", lambda: filters.intersect(make(), put_all(make(), values))
    if way == 3:
        h = c.r.randrange(-2**63, 2**63)
        return f"bf_add_hash({sql}, {h})", lambda: filters.add_hash(make(), h & filters.MASK64)
    return sql, make


def put_all(f, values):
    for value in values:
        if isinstance(f, filters.Filter):
            filters.add(f, value)
        else:
            f.add(value)
    return f


def bloom(c, kind):
    seed = c.seed()
    parts = []
    if c.r.random() < 0.2:  # links of one geometry, which the union does not OR
        rate, count = c.rate(), c.r.choice([3, 12, 40])
        parts = [sized_itself(c, c.values(kind, count), rate) for _ in range(c.r.choice([2, 3, 5]))]
    for _ in range(0 if parts else c.r.choice([1, 1, 2, 3])):
        if parts and c.r.random() < 0.3:
            parts.append(parts[-1])
        else:
            parts.append(created(c, c.values(kind, c.r.choice([1, 3, 12])), seed))
    parts = [changed(c, kind, *part) for part in parts]
    made = []

    def united():
        f = None
        for _, make in parts:
            f = make() if f is None else filters.unite(f, make())
        return f

    sql, make = changed(c, kind, " | ".join(part[0] for part in parts), united)
    if c.r.random() < 0.2:
        grown, more = make, c.values(kind, c.r.choice([0, 3, 9, 30]))
        sql = f"bf_growable({sql})" + "".join(f" + {v.sql}" for v in more)

        def make():
            return put_all(filters.growable(grown()), more)

    def ours():
        made.append(make())
        return made[-1].payload()

    data = c.same(f"bloomfilter of {kind}", f"SELECT ({sql})::bytea", ours)
    if data:
        check_answers(c, kind, made[0], data)
    return "bloomfilter", data


def check_answers(c, kind, f, data):
    """Checks that both implementations read the bytes and give the same answers."""
    read = filters.parse(data)
    if read.payload() != data:
        c.s.finding("read and written: other bytes", f"SELECT '\\x{data.hex()}'::bytea")
    questions = c.values(kind, 5)
    for value in questions if read.family else []:
        sql = f"SELECT '\\x{data.hex()}'::bytea::bloomfilter @> {value.sql}"
        c.s.counts["probes"] += 1
        if c.run(sql)[0] != read.has(value):
            c.s.finding(f"another answer, of {kind}", sql)
    count, fpr = c.run("SELECT bf_count(f), bf_fpr(f) FROM (SELECT %s::bytea::bloomfilter) s (f)",
                       (data,))
    if any(not a == b and (None in (a, b) or not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12))
           for a, b in ((count, f.count()), (fpr, f.fpr()))):
        c.s.finding(f"estimates {count}, {fpr}, not {f.count()}, {f.fpr()}",
                    f"SELECT bf_count('\\x{data.hex()}'::bytea::bloomfilter)")


def many(c, _):
    """Filters of many integers: so many that aggregates estimate their number, and filters grow."""
    r = c.r
    low, count = r.randrange(-10**9, 10**9), int(math.exp(r.uniform(0, math.log(120000))))
    if r.random() < 0.7:
        count = min(count, 3000)
    values = [integer_value(i) for i in range(low, low + count)]
    rate, series = c.rate(), f"generate_series({low}, {low + count - 1}) v"
    way = r.randrange(5)
    if way == 0 and count < 3000:
        n, size = r.randrange(1, 200), 40 + 64 * r.randrange(1, 9)
        first, make = f"bf_create({n}, {rate!r}, grow => true)", lambda: filters.growing(n, rate)
        if r.random() < 0.5:  # a folded link is full earlier
            first = f"bf_growable(bf_fold(bf_create({n}, {rate!r}), {size}))"

            def make():
                return filters.growable(filters.fold(filters.create(n, rate), size))
        return "bloomfilter", c.same(
            "growth", f"SELECT bf_add_all({first}, ARRAY(SELECT v FROM {series}))::bytea",
            lambda: put_all(make(), values).payload())
    if way == 1:
        n = r.randrange(1, 2 * count + 1)
        return "bloomfilter", c.same(
            "bf_agg", f"SELECT bf_agg(v, {n}, {rate!r})::bytea FROM {series}",
            lambda: filters.aggregate(values, n, rate).payload())
    if way == 2 and count < 20000:
        return "countingbloomfilter", c.same(
            "cbf_agg", f"SELECT cbf_agg(v, NULL, {rate!r})::bytea FROM {series}",
            lambda: filters.counting_aggregate(values, None, rate).payload())
    if way == 3 and count < 20000:
        return "cuckoofilter", c.same(
            "cf_agg", f"SELECT cf_agg(v, NULL, {rate!r})::bytea FROM {series}",
            lambda: filters.cuckoo_aggregate(values, None, rate).payload())
    return "bloomfilter", c.same(
        "bf_agg, own", f"SELECT bf_agg(v, NULL, {rate!r})::bytea FROM {series}",
        lambda: filters.aggregate(values, None, rate).payload())


def integer_value(i):
    return elements.Value(str(i), 1, (i & filters.MASK64).to_bytes(8, "little"))


def counted(c, kind, maker, sizer, unite, functions):
    """A countingbloomfilter or cuckoofilter from which values are removed, or a union of two."""
    r, seed = c.r, c.seed()
    create, aggregate, united = functions

    def one():
        n, rate, values = c.number(), c.rate(), c.values(kind, r.choice([1, 4, 9]))
        values += [r.choice(values) for _ in range(r.randrange(6))]
        gone = [v for v in values if r.random() < 0.3]
        if r.random() < 0.5:
            own = r.random() < 0.5
            sql = f"(SELECT {aggregate}(v, {'NULL' if own else n}, {rate!r}) FROM {c.rows(values)}"
            if seed == 0:
                return sql + ")", lambda: sizer(values, None if own else n, rate)
        of, give = declared(c, values[0])
        sql = f"({create}({n}, {rate!r}, seed => {seed}{of})"
        sql += "".join(f" + {v.sql}" for v in values) + ")"
        for value in gone:
            sql = f"{create[:-7]}_remove({sql}, {value.sql})"

        def make():
            f = put_all(give(maker(n, rate, seed)), values)
            for value in gone:
                f.remove(value)
            return f
        return sql, make

    parts = [one()]
    if r.random() < 0.3:
        parts = [parts[0], parts[0]] if r.random() < 0.7 else [parts[0], one()]
    sql = parts[0][0] if len(parts) == 1 else f"{united}({parts[0][0]}, {parts[1][0]})"
    made = []

    def ours():
        f = parts[0][1]()
        made.append(f if len(parts) == 1 else unite(f, parts[1][1]()))
        return made[-1].payload()
    data = c.same(f"{create[:-7]} of {kind}", f"SELECT ({sql})::bytea", ours)
    of_type = {"cbf": "countingbloomfilter", "cf": "cuckoofilter"}[create[:-7]]
    if data:
        filters.parse(data, of_type)
        for value in c.values(kind, 3) if made[-1].family else []:
            question = (f"SELECT {create[:-7]}_multiplicity('\\x{data.hex()}'::bytea::{of_type},"
                        f" {value.sql})")
            c.s.counts["probes"] += 1
            if c.run(question)[0] != made[-1].multiplicity(value):
                c.s.finding(f"another multiplicity, of {kind}", question)
    if data and of_type == "countingbloomfilter":
        c.same("cast", f"SELECT '\\x{data.hex()}'::bytea::countingbloomfilter::bloomfilter::bytea",
               lambda: made[-1].to_bloom().payload())
    return of_type, data


def counting(c, kind):
    return counted(c, kind, filters.Counting, filters.counting_aggregate, filters.counting_unite,
                   ("cbf_create", "cbf_agg", "cbf_union"))


def cuckoo(c, kind):
    if kind == "varchar":  # cf_agg refuses one that ends with a blank
        kind = "text"
    return counted(c, kind, filters.Cuckoo, filters.cuckoo_aggregate, filters.cuckoo_unite,
                   ("cf_create", "cf_agg", "cf_union"))


def partial(c, kind):
    r, values, rate = c.r, c.values(kind, c.r.choice([1, 5, 40])), c.rate()
    n = c.number() if r.random() < 0.5 else None
    rows, none = c.rows(values), r.random() < 0.1
    where = " WHERE pg_backend_pid() = 0" if none else ""
    data = c.same(
        f"bf_partial of {kind}", "SELECT bloomfilter_partial_send(bf_partial_agg(bf_element_of(v),"
        f" {n or 'NULL'}, {rate!r})) FROM {rows}{where}",
        lambda: filters.partial([] if none else values, n, rate))
    value = values[0]
    c.same(f"bf_element of {kind}", f"SELECT bloomfilter_element_send(bf_element_of({value.sql}))",
           lambda: filters.element(value))
    buckets = r.randrange(1, 10000)
    if c.run(f"SELECT bf_shard({value.sql}, {buckets})")[0] != filters.shard(value, buckets):
        c.s.finding("another shard", f"SELECT bf_shard({value.sql}, {buckets})")
    if not none:
        others = c.values(kind, 3)
        c.same(f"bf_merge_agg of {kind}",
               "SELECT bf_merge_agg(p)::bytea FROM (" + " UNION ALL ".join(
                   f"SELECT bf_partial_agg(bf_element_of(v), {n or 'NULL'}, {rate!r}) FROM"
                   f" {c.rows(some)}" for some in (values, others)) + ") s (p)",
               lambda: filters.aggregate(values + others, n, rate).payload())
    return "bf_partial", data


# --- damage --------------------------------------------------------------------------------------

def damaged(c, data):
    """Changes the bytes in one place, most often in the header or in an entry."""
    r, data = c.r, bytearray(data)
    way = r.randrange(8)
    at = r.randrange(min(len(data), r.choice([4, 36, 90, len(data)]))) if data else 0
    if way < 4 and data:
        data[at] = r.choice([0, 1, 2, 3, 4, 5, 0x12, 0x80, 0xFF, r.randrange(256)])
    elif way < 6 and data:
        data[at] ^= 1 << r.randrange(8)
    elif way == 6:
        del data[r.randrange(len(data) + 1):]
    else:
        data += bytes(r.choice([1, 4, 64]))
    return bytes(data)


def reject(c, of_type, data):
    """Damages the bytes in one or two places. Checks that both implementations reject them, or
    none."""
    for _ in range(c.r.choice([1, 1, 2])):
        data = damaged(c, data)
    if of_type == "bf_partial":
        sql, parse = "SELECT %s::text::bf_partial IS NULL", filters.parse_partial
        sql = "SELECT translate(encode(%s::bytea, 'base64'), E'\\n', '')::bf_partial IS NULL"
    else:
        sql = f"SELECT %s::bytea::{of_type} IS NULL"
        def parse(payload):
            return filters.parse(payload, of_type)
    theirs = c.answer(sql, (data,)) is not None
    try:
        parse(data)
        ours = True
    except Damaged:
        ours = False
    c.s.counts["accepted" if ours else "rejected"] += 1
    if ours != theirs:
        c.s.finding(f"damaged {of_type}, which the extension {'accepts' if theirs else 'rejects'}",
                    sql.replace("%s", f"'\\x{data.hex()}'"))


def search(s):
    c = Comparison(s)
    kinds = list(elements.GENERATORS)
    while s.goes_on():
        make = s.random.choice([bloom, bloom, counting, cuckoo, partial, many])
        of_type, data = make(c, s.random.choice(kinds))
        for _ in range(5 if data and len(data) < 20000 else 0):
            reject(c, of_type, data)


if __name__ == "__main__":
    run("format", search, "values", "probes", "rejected", "accepted")
