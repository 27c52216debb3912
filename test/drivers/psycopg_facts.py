"""The extension through psycopg 3: prints `ok FACT`, or `not ok FACT: what came instead`.

Connects as libpq's environment says; test/t/019_drivers.pl makes the tables `filters` and `copies`.
"""

import datetime as dt
import uuid
from decimal import Decimal

import psycopg

UTC2 = dt.timezone(dt.timedelta(hours=2))

# Filter, SQL type, a member and a stranger. `filters` has the member.
VALUES = [
    ("text", "text", "Zürich", "Zurich"),
    ("integer", "bigint", 4711, 4712),
    ("float", "float8", 3.5, 3.25),
    ("float", "numeric", Decimal("3.5"), Decimal("3.25")),
    ("float", "int", 7, 8),
    ("numeric", "numeric", Decimal("12.50"), Decimal("12.51")),
    ("numeric", "int", 7, 8),
    ("date", "date", dt.date(2024, 1, 8), dt.date(2024, 1, 9)),
    ("timestamp", "timestamp", dt.datetime(2024, 1, 8, 12, 30, 15, 250000),
     dt.datetime(2024, 1, 8, 12, 30, 15)),
    ("timestamptz", "timestamptz", dt.datetime(2024, 1, 8, 12, 30, 15, 250000, UTC2),
     dt.datetime(2024, 1, 8, 12, 30, 15, 250000, dt.timezone.utc)),
    ("time", "time", dt.time(12, 30, 15, 250000), dt.time(12, 30, 15)),
    ("uuid", "uuid", uuid.UUID("6f1d1a52-0a3e-4c0e-9a57-1f7ad3b5a001"), uuid.UUID(int=1)),
    ("boolean", "boolean", True, False),
    ("bytea", "bytea", b"\xde\xad\x00\xff", b"\xde\xad\x00\xfe"),
]


def fact(name, expected, what):
    try:
        got = what()
    except Exception as error:  # an error is a result that was not expected
        got = " ".join(str(error).split())
    print(f"ok {name}" if got == expected else f"not ok {name}: {got!r}", flush=True)


db = psycopg.connect(autocommit=True)


def row(sql, *values, **options):
    """Runs a query and returns its first row."""
    return db.cursor(binary=options.pop("binary", False)).execute(sql, values, **options).fetchone()


def sqlstate_of(sql, *values):
    try:
        return row(sql, *values)
    except psycopg.Error as error:
        return error.sqlstate


def asked(family, marker, *values):
    """Probes the filter of a family for each value and returns the answers."""
    sql = f"SELECT f @> {marker} AND {marker} <@ f FROM filters WHERE family = '{family}'"
    return [row(sql, value, value)[0] for value in values]


def text_of(value):
    return "\\x" + value.hex() if isinstance(value, bytes) else str(value)


for family, sql_type, member, stranger in VALUES:
    name = f"{family} filter, {sql_type}"
    texts = [text_of(member), text_of(stranger)]
    fact(f"{name}: an untyped string", [True, False], lambda: asked(family, "%s", *texts))
    fact(f"{name}: a string and a cast", [True, False],
         lambda: asked(family, f"%s::{sql_type}", *texts))
    for kind, marker in [("as text", "%t"), ("binary", "%b")]:
        fact(f"{name}: the host's type, {kind}", [True, False],
             lambda: asked(family, marker, member, stranger))
        fact(f"{name}: an array, {kind}", (True, False, [True, False]),
             lambda: row(f"SELECT bf_contains_any(f, {marker}::{sql_type}[]),"
                         f" bf_contains_all(f, {marker}::{sql_type}[]),"
                         f" bf_contains_each(f, {marker}::{sql_type}[])"
                         f" FROM filters WHERE family = '{family}'", *[[member, stranger]] * 3))
        fact(f"{name}: adding, {kind}", (True, True, True),
             lambda: row(f"SELECT f + {marker} @> {marker}, bf_add(f, {marker}) @> {marker},"
                         f" bf_add_all(f, {marker}::{sql_type}[]) @> {marker}"
                         f" FROM filters WHERE family = '{family}'",
                         *[stranger] * 4, [stranger], stranger))
    fact(f"{name}: a prepared statement", [True, False] * 4,
         lambda: [row(f"SELECT f @> %s FROM filters WHERE family = '{family}'", value,
                      prepare=True)[0] for value in [member, stranger] * 4])
fact("ISO 8601 with T and Z", [True, False],
     lambda: asked("timestamptz", "%s", "2024-01-08T10:30:15.25Z", "2024-01-08T10:30:15Z"))

# psycopg gives no type to a list that is empty or has only None, so the statement needs a cast.
for function, of_empty, of_none in [("bf_contains_any(f, {})", False, False),
                                    ("bf_contains_all(f, {})", True, True),
                                    ("bf_contains_each(f, {})", [], [None]),
                                    ("bf_add_all(f, {}) = f", True, True)]:
    for values, answer in [([], of_empty), ([None], of_none)]:
        for marker, expected in [("%s", "42804"), ("%s::bigint[]", (answer,))]:
            sql = f"SELECT {function.format(marker)} FROM filters WHERE family = 'integer'"
            fact(f"{values}: {sql}", expected, lambda: sqlstate_of(sql, values))

# If no filter gives the type of a parameter, PostgreSQL raises an error; a cast prevents it.
for function, error in [("bf_shard(%s, 669)", "42P18"), ("bf_hash(%s)", "42P18"),
                        ("bf_agg(%s)", "42P18"), ("bf_contains_any(bf_create(1), %s)", "42804")]:
    fact(f"{function} without a type is an error", error,
         lambda: sqlstate_of(f"SELECT {function}", "{1}"))
fact("bf_shard, bf_hash and bf_agg with a cast", (True, True, True),
     lambda: row("SELECT bf_shard(%s::text, 669) = bf_shard('x'::text, 669),"
                 " bf_hash(%s::text) = bf_hash('x'::text), bf_agg(%s::text) @> 'x'", *"xxx"))


# Reads the bytes and the text of a filter, and writes them back.
db.execute("TRUNCATE copies")
text, data = row("SELECT f, f::bytea FROM filters WHERE family = 'integer'")
fact("a filter is read as base64", (str, True),
     lambda: (type(text), row("SELECT %s::bloomfilter::bytea", text)[0] == data))
fact("f::bytea is bytes", bytes, lambda: type(data))
fact("read in binary, f and f::bytea are the same bytes", (data, data),
     lambda: row("SELECT f, f::bytea FROM filters WHERE family = 'integer'", binary=True))


def copied(sql, *values):
    """Runs a statement that fills `copies`. True if all rows are the filter of integers."""
    db.execute("TRUNCATE copies")
    db.execute(sql, values)
    return same_copies()


def same_copies():
    return row("SELECT count(*) > 0 AND bool_and(c.f = o.f) FROM copies c, filters o"
               " WHERE o.family = 'integer'")[0]


for marker in ["%s", "%t", "%b", "%s::bytea::bloomfilter", "%b::bytea::bloomfilter"]:
    fact(f"bytes are inserted by {marker}", True,
         lambda: copied(f"INSERT INTO copies VALUES ({marker})", data))
fact("base64 is inserted", True, lambda: copied("INSERT INTO copies VALUES (%s)", text))
fact("casting text or bytes that are no filter is an error", ["22P02", "22P03"],
     lambda: [sqlstate_of("INSERT INTO copies VALUES (%s::bloomfilter)", "Zürich"),
              sqlstate_of("INSERT INTO copies VALUES (%s::bytea::bloomfilter)", b"\x01")])


def executemany():
    db.execute("TRUNCATE copies")
    db.execute("INSERT INTO copies VALUES (bf_create(100, 1e-9) + %s)", [4711])
    db.cursor().executemany("UPDATE copies SET f = f + %s WHERE NOT f @> %s",
                            [(n, n) for n in range(10, 60)])
    return row("SELECT bf_contains_all(f, %s::int[]), bf_contains_any(f, %s::int[]) FROM copies",
               list(range(10, 60)), list(range(60, 110)))


fact("executemany adds all its values", (True, False), executemany)

# COPY
for form, wanted, given in [("TEXT", text.encode(), text), ("BINARY", data, data)]:
    def copy_out():
        with db.cursor().copy(f"COPY (SELECT f FROM filters WHERE family = 'integer')"
                              f" TO STDOUT (FORMAT {form})") as copy:
            return [bytes(field, "ascii") if isinstance(field, str) else field
                    for (field,) in copy.rows()]

    def copy_in():
        db.execute("TRUNCATE copies")
        with db.cursor().copy(f"COPY copies FROM STDIN (FORMAT {form})") as copy:
            copy.write_row([given])
            copy.write_row([given])
        return same_copies()

    fact(f"COPY TO sends the filter, {form}", [wanted], copy_out)
    fact(f"COPY FROM reads the same filter back, {form}", True, copy_in)
