"""Compares the client libraries with the server: clients/python and clients/javascript.

Each round makes a filter of random values of one family: of any type and layout, with links, grown,
folded, overfilled. Its false positive rate is often 10 to 50 %, so that other values hit, too.
The libraries read its bytes and are asked for values as drivers read them from the server. They
must answer as the server does, find each value that was added, and give the same facts as bf_info.
A value of another family must be an error if it is one in SQL; otherwise the libraries may refuse
it or answer as the server. Then the bytes are damaged. If the server refuses them, the libraries
must refuse them, too. If not, they must answer as the server does.
"""

import base64
import datetime as dt
import itertools
import json
import math
import os
import re
import struct
import subprocess
import sys
import uuid
from decimal import Decimal

import psycopg2

from search import run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "clients/python"))
from postgresql_bloomfilter import Filter, FilterError  # noqa: E402

ABSENT = object()  # a value that the language does not have
HEADER, ENTRY, HAS_LINKS, CUCKOO = 36, 24, 1, 0x21
OTHERS = (3, 4, 6, 9, 12, 13, 14, 15)  # layouts of other systems
UNAMBIGUOUS = ("boolean", "bytes")
TYPES = ("bloomfilter", "countingbloomfilter", "cuckoofilter")
ZONES = ("UTC", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


# --- SQL expressions of random values ------------------------------------------------------------

def integer(r):
    bits, kind = r.choice([(16, "smallint"), (32, "integer"), (64, "bigint")])
    n = r.choice([r.randrange(-2**(bits - 1), 2**(bits - 1)), r.randrange(-9, 10),
                  -2**(bits - 1), 2**(bits - 1) - 1])
    return f"'{n}'::{kind}"


def floating(r):
    number = r.choice([r.uniform(-9, 9), r.randrange(-99, 99) / 10,
                       float(r.randrange(-2**60, 2**60)), struct.unpack("<d", r.randbytes(8))[0],
                       0.0, -0.0, 0.1, 1e300, 5e-324, 1e-50, float("inf"), float("-inf"),
                       float("nan")])
    text = repr(number)
    kind = "double precision"
    if r.random() < 0.4 and (not 0 < abs(number) < 1e-40 and not 1e38 < abs(number) < float("inf")):
        kind = "real"
    return f"'{text}'::{kind}"


def numeric(r):
    whole = str(r.randrange(10**r.choice([1, 2, 4, 5, 9, 30, 300])))
    text = r.choice(["", "-"]) + whole + r.choice(["", ".0", ".00", "." + str(r.randrange(10**9)),
                                                    ".000" + str(r.randrange(10**5)) + "00"])
    return f"'{r.choice(['NaN', 'Infinity', '-Infinity'] + [text] * 30)}'::numeric"


def text(r):
    length = r.choice([0, 1, 2, 5, 17, 60, 300, 3000])
    words = "".join(r.choice("ab cé€𝄞'\\ zßé中") for _ in range(length))
    words += " " * r.choice([0, 0, 0, 1, 2])
    return f"{quoted(words)}::{r.choice(['text', 'text', f'char({len(words) + 3})'])}"


def any_text(r):
    words = text(r)
    return r.choice([words, re.sub(r"::[a-z()0-9]+$", "::varchar", words),
                     f"left({words}::text, 12)::name"])


# XXH3 has other rules for each of these lengths, and for more bytes than a block of 1024.
LENGTHS = [0, 1, 3, 4, 8, 9, 16, 17, 100, 128, 129, 240, 241, 1000]


def bytea(r):
    return f"'\\x{r.randbytes(r.choice(LENGTHS + [r.randrange(40000)])).hex()}'::bytea"


def one_uuid(r):
    return f"'{r.randbytes(16).hex()}'::uuid"


def boolean(r):
    return f"{r.random() < 0.5}::boolean"


def date(r):
    return r.choice([f"(date '1970-01-01' + ({r.randrange(-30000, 60000)}))"] * 5 + [
        f"(date '1970-01-01' + ({r.randrange(-2440588, 2147483000 - 2440588)}))",
        "'infinity'::date", "'-infinity'::date", "'9999-12-31'::date", "'0001-01-01'::date"])


def moment(r, kind):
    micros = r.choice([r.randrange(10**15), r.randrange(10**12) * 1000,
                       r.randrange(-10**17, 10**18)])
    zone = "+00" if kind == "timestamptz" else ""
    days, micros = divmod(micros, 86_400_000_000)
    return r.choice([f"({kind} '1970-01-01 00:00:00{zone}' + make_interval(days => {days})"
                     f" + make_interval(secs => {micros / 1e6!r}))"] * 6 + [
        f"'infinity'::{kind}", f"'-infinity'::{kind}",
        f"'9999-12-31 23:59:59.999999{zone}'::{kind}", f"'0001-01-01 00:00:00{zone}'::{kind}"])


def timestamp(r):
    return moment(r, "timestamp")


def timestamptz(r):
    return moment(r, "timestamptz")


SCALARS = {"integer": integer, "float": floating, "numeric": numeric, "text": any_text,
           "bytea": bytea, "uuid": one_uuid, "boolean": boolean, "date": date,
           "timestamp": timestamp, "timestamptz": timestamptz}
TYPE_OF = {"integer": "bigint", "float": "float8"}  # of families with another name than a type
IN_ROWS = dict(SCALARS, text=text)  # a varchar with blanks at its end is refused in a row


# --- the same values in the languages ------------------------------------------------------------

class Value:
    """A value as drivers read it: in Python, and in JavaScript as test/search/clients.js takes it.
    Each may be ABSENT, and may stand for several values of SQL, at least for the one that was
    read."""

    def __init__(self, sql, python, javascript, sql_of_javascript=None):
        self.python, self.javascript = python, javascript
        self.sql, self.sql_of_javascript = sql, sql_of_javascript or sql


def value_of(r, family, written):
    """The value that the server writes in this way."""
    if family == "integer":
        n = int(written)
        ways = [["bigint", written], ["string", written]]
        if abs(n) < 2**53:
            ways.append(["number", written])
        return Value([f"'{n}'::bigint"], n, r.choice(ways))
    if family == "float":
        number = float(written)
        sql = [f"'{number!r}'::float8"]
        try:
            real = struct.unpack("<f", struct.pack("<f", number))[0]
        except OverflowError:
            real = 0.0
        if real != 0 and abs(real) < float("inf"):
            sql.append(f"'{real!r}'::real")
        return Value(sql, number, ["number", written])
    if family == "numeric":
        ways = [["string", written]]
        if re.fullmatch(r"-?\d+", written):
            ways.append(["bigint", written])
        return Value([f"'{written}'::numeric"], Decimal(written), r.choice(ways))
    if family == "text":
        sql = [f"{quoted(written)}::text"]
        if written.endswith(" "):
            sql.append(f"{quoted(written)}::char({len(written)})")
        return Value(sql, written, ["string", written])
    if family == "bytea":
        data = bytes.fromhex(written[2:])
        return Value([f"'{written}'::bytea"], r.choice([bytes, bytearray, memoryview])(data),
                     ["bytes", written[2:]])
    if family == "uuid":
        way = r.choice([written, written.upper(), "{" + written + "}", written.replace("-", "")])
        return Value([f"'{written}'::uuid"], uuid.UUID(written), ["string", way])
    if family == "boolean":
        yes = written in ("t", "true")
        return Value([f"'{written}'::boolean"], yes, ["boolean", str(yes).lower()])
    return time_of(r, family, written)


def time_of(r, family, written):
    kind = dt.date if family == "date" else dt.datetime
    sql, utc = f"'{written}'::{family}", dt.timezone.utc
    if "infinity" in written:  # psycopg2 and asyncpg read it as the extreme value of Python's type
        extreme = kind.min if written.startswith("-") else kind.max
        python = extreme.replace(tzinfo=utc) if family == "timestamptz" else extreme
        return Value([sql, f"'{python.isoformat()}'::{family}"], python,
                     r.choice([["number", written.replace("inf", "Inf")], ["string", written]]),
                     [sql])
    if "BC" in written:
        return Value([sql], ABSENT, ABSENT)
    javascript = ["string", written.replace(" ", r.choice(" T"), 1)]
    if re.match(r"\d{5}", written):
        return Value([sql], ABSENT, javascript)
    python = dt.datetime.fromisoformat(written)
    if family == "date":
        python = python.date()
    plain = python.replace(tzinfo=None) if kind is dt.datetime else python
    infinity = {kind.max: "infinity", kind.min: "-infinity"}.get(plain)
    return Value([sql] + ([f"'{infinity}'::{family}"] if infinity else []), python, javascript,
                 [sql])


class Values:
    """Expressions of one family, and values of rows."""

    def __init__(self, c):
        self.c, self.r = c, c.r
        self.family = c.r.choice(list(SCALARS) + ["row", "row"])
        self.fields = [c.r.choice(list(IN_ROWS)) for _ in range(c.r.randrange(1, 5))]
        self.nulls = c.r.random() < 0.3

    @property
    def row(self):
        return self.fields if self.family == "row" else None

    def expressions(self, count):
        if self.family != "row":
            return [SCALARS[self.family](self.r) for _ in range(count)]
        return [self.row_of([self.field(family) for family in self.fields]) for _ in range(count)]

    def field(self, family):
        if self.nulls and self.r.random() < 0.3:
            return f"NULL::{TYPE_OF.get(family, family)}"
        return IN_ROWS[family](self.r)

    @staticmethod
    def row_of(fields):
        return "ROW(" + ", ".join(fields) + ")"

    def values(self, expressions):
        """The values of expressions as drivers read them."""
        if self.family != "row":
            return [value_of(self.r, self.family, written)
                    for written in self.c.written(expressions)]
        return [self.row_value(expression) for expression in expressions]

    def row_value(self, expression):
        parts = zip(self.fields, self.c.written(split_row(expression)))
        fields = [Value([f"NULL::{TYPE_OF.get(family, family)}"], None, ["null", ""])
                  if part is None else value_of(self.r, family, part) for family, part in parts]
        rows = [[self.row_of(row) for row in itertools.product(*alternatives)] for alternatives in (
            [f.sql for f in fields], [f.sql_of_javascript for f in fields])]
        python, javascript = ([getattr(f, language) for f in fields]
                              for language in ("python", "javascript"))
        return Value(rows[0], ABSENT if ABSENT in python else tuple(python),
                     ABSENT if ABSENT in javascript else ["row", javascript], rows[1])


def split_row(expression):
    """The fields of ROW(…, …). They may contain commas in quotes and in parentheses."""
    fields, depth, inside, start = [], 0, False, 4
    for at, character in enumerate(expression):
        if character == "'":
            inside = not inside
        elif not inside and character == "(":
            depth += 1
        elif not inside and character == ")":
            depth -= 1
        if not inside and (character == "," and depth == 1 or depth == 0 and at > 3):
            fields.append(expression[start:at].strip())
            start = at + 1
    return fields


# --- filters -------------------------------------------------------------------------------------

def added(filter, expressions):
    return f"({filter}" + "".join(f" + {expression}" for expression in expressions) + ")"


def aggregated(function, expressions, rate):
    rows = ", ".join(f"({expression})" for expression in expressions)
    return f"(SELECT {function}(v, NULL, {rate!r}) FROM (VALUES {rows}) rows (v))"


def of_one_type(expressions):
    kinds = {re.sub(r"\(\d+\)$", "", expression.rpartition("::")[2]) for expression in expressions}
    return len(kinds) == 1


def plain(c, expressions, seed):
    r = c.r
    rate = r.choice([0.5, 0.3, 0.2, 0.1, 0.1, 0.01, 0.0001, 1e-7])
    count = r.choice([len(expressions), max(1, len(expressions) // 3), 10 * len(expressions), 700])
    way = r.randrange(5)
    if way == 0 and seed == 0 and of_one_type(expressions):
        return aggregated("bf_agg", expressions, rate)
    if way == 1:
        return added(f"bf_create_by_size({r.randrange(1, 9000)}, {r.randrange(1, 17)}, {seed})",
                     expressions)
    if way == 2:
        return added(f"bf_create({min(count, 5)}, {rate!r}, seed => {seed}, grow => true)",
                     expressions)
    if way == 3:
        size = 104 + 64 * r.randrange(8)
        return f"bf_fold({added(f'bf_create(800, 0.01, seed => {seed})', expressions)}, {size})"
    return added(f"bf_create({count}, {rate!r}, seed => {seed})", expressions)


def bloom(c, expressions, seed):
    cut = c.r.randrange(len(expressions) + 1)
    if seed == 0 and 0 < cut < len(expressions) and of_one_type(expressions) and c.r.random() < 0.3:
        rate = c.r.choice([0.5, 0.1, 0.01])  # links of one size, in the order of their bits
        parts = [aggregated("bf_agg", some, rate)
                 for some in (expressions[:cut], expressions[cut:], expressions[::2])]
        return f"({' | '.join(parts)})", expressions
    parts = [plain(c, some, seed) for some in (expressions[:cut], expressions[cut:]) if some]
    united = " | ".join(parts)
    if c.r.random() < 0.1:
        first = parts[0]
        return f"(({first}) & ({added(first, expressions[cut:])}))", expressions[:cut]
    return f"({united})", expressions


def counting(c, expressions, seed):
    rate, gone = c.r.choice([0.5, 0.2, 0.1, 0.01, 0.0001]), []
    if c.r.random() < 0.3 and seed == 0 and of_one_type(expressions):
        return aggregated("cbf_agg", expressions, rate), expressions
    sql = added(f"cbf_create({len(expressions)}, {rate!r}, seed => {seed})", expressions)
    if c.r.random() < 0.5:
        gone = expressions[:1]
        sql = f"cbf_remove({sql}, {gone[0]})"
    return sql, expressions[len(gone):]


def cuckoo(c, expressions, seed):
    rate = c.r.choice([0.5, 0.2, 0.1, 0.01, 0.0001, 1e-9])
    sql = f"cf_create({2 * len(expressions)}, {rate!r}, seed => {seed})"
    return added(sql, expressions), expressions


# --- the comparison ------------------------------------------------------------------------------

class Node:
    """clients/javascript in a process of its own, or nothing if it does not run here."""

    def __init__(self):
        self.process = None
        library = os.path.join(ROOT, "clients/javascript")
        try:
            works = subprocess.run(["node", "-e", f"require({json.dumps(library)})"],
                                   capture_output=True).returncode == 0
        except OSError:
            works = False
        if not works:
            print("# clients/javascript is skipped: node or hash-wasm is not installed", flush=True)
            return
        program = os.path.join(ROOT, "test/search/clients.js")
        self.process = subprocess.Popen(["node", program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def answers(self, data, values, row=None):
        """What clients.js prints: {info, answers, each} or {error}. An ABSENT value has None."""
        if not self.process:
            return None
        line = {"data": base64.b64encode(data).decode(), "row": row,
                "values": [["null", ""] if value is ABSENT else value for value in values]}
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("test/search/clients.js ended")
        return json.loads(line)


class Comparison:
    def __init__(self, s):
        self.s, self.r, self.node = s, s.random, Node()
        self.db = s.connect()
        self.run("SET bloomfilter.overfill = ignore")
        self.run("SET client_min_messages = error")

    def run(self, sql, parameters=None):
        with self.db.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchone() if cursor.description else None

    def written(self, expressions):
        """What the server sends for values of these expressions. None for NULL."""
        parts = ", ".join(f"CASE WHEN v{i} IS NOT NULL THEN format('%s', v{i}) END"
                          for i in range(len(expressions)))
        names = ", ".join(f"v{i}" for i in range(len(expressions)))
        return self.run(f"SELECT {parts} FROM (SELECT {', '.join(expressions)}) s ({names})")

    def asked(self, data, kind, sql):
        """The server's answer for values of SQL, any of them, or the SQLSTATE of its error."""
        try:
            return self.run(question("%s", kind, sql), (data,))[0]
        except psycopg2.Error as error:
            if error.pgcode is None or error.pgcode.startswith(("57", "XX000")):
                raise
            return error.pgcode

    def finding(self, what, data, kind, sql):
        self.s.finding(what, question(f"'\\x{data.hex()}'", kind, sql))


def question(data, kind, sql):
    probes = " OR ".join(f"f @> {one}" for one in sql)
    return f"SELECT {probes} FROM (SELECT {data}::bytea::{kind}) s (f)"


def attempt(what):
    try:
        return what()
    except FilterError as error:
        return type(error).__name__


def check_info(c, kind, data, f, of_node):
    columns = {"bloomfilter": "layout, hashes, links", "countingbloomfilter": "NULL, hashes, 1",
               "cuckoofilter": "NULL, NULL, 1"}[kind]
    function = {"bloomfilter": "bf_info", "countingbloomfilter": "cbf_info",
                "cuckoofilter": "cf_info"}[kind]
    layout, hashes, links, *others = c.run(
        f"SELECT {columns}, element_type, seed, expected, target_fpr, bits, bytes"
        f" FROM {function}(%s::bytea::{kind})", (data,))
    info = f.info
    expected = (kind, hashes, links, *others)
    known = links == 1 and not info.grows  # bf_info computes those of several links
    got = (info.type, info.hashes, info.links, info.element_type, info.seed,
           info.expected if known else others[2], info.target_fpr if known else others[3],
           info.bits, info.bytes)
    if got != expected or (kind == "bloomfilter" and info.layout != layout):
        c.s.finding(f"info {info}, not {expected}", f"SELECT * FROM {function}('\\x{data.hex()}')")
    if of_node and of_node["info"] != {
            "type": info.type, "layout": info.layout, "elementType": info.element_type,
            "seed": str(info.seed), "expected": info.expected, "targetFpr": info.target_fpr,
            "hashes": info.hashes, "bits": info.bits, "bytes": info.bytes, "links": info.links,
            "grows": info.grows}:
        c.s.finding(f"JavaScript's info {of_node['info']}, not {info}",
                    f"SELECT * FROM {function}('\\x{data.hex()}')")


def compare(c, v, kind, data, values, members):
    """Asks for values of the filter's own family. The first `members` of them were added."""
    row = v.row if v.nulls or c.r.random() < 0.5 else None
    f = Filter(c.r.choice([data, bytearray(data), base64.b64encode(data).decode()]), row=row)
    # Without the types of a row's fields, JavaScript takes each string for a text.
    of_node = c.node.answers(data, [value.javascript for value in values], v.row)
    check_info(c, kind, data, f, of_node)
    of_python = [(None, None)]
    for number, value in enumerate(values):
        server = c.asked(data, kind, value.sql)
        of_javascript = server if value.sql == value.sql_of_javascript else \
            c.asked(data, kind, value.sql_of_javascript)
        if number < members and server is not True:
            c.finding(f"the server denies a member: {server}", data, kind, value.sql)
        c.s.counts["hits" if server is True else "misses"] += 1
        if value.python is not ABSENT:
            answer = attempt(lambda: value.python in f)
            of_python.append((value.python, server))
            if answer is not server:
                c.finding(f"Python: {answer} for {value.python!r}, not {server}", data, kind,
                          value.sql)
        if of_node and value.javascript is not ABSENT:
            answer = of_node["answers"][number]
            if answer is not of_javascript:
                c.finding(f"JavaScript: {answer} for {value.javascript}, not {of_javascript}", data,
                          kind, value.sql_of_javascript)
    if f.contains_each([value for value, _ in of_python]) != [server for _, server in of_python]:
        c.finding("Python: contains_each has other answers", data, kind, values[0].sql)
    if of_node and of_node["each"] != of_node["answers"]:
        c.finding("JavaScript: containsEach has other answers", data, kind, values[0].sql)


def compare_others(c, v, kind, data):
    """Asks for values of other families."""
    f = Filter(data)
    for _ in range(4):
        other = Values(c)
        [value] = other.values(other.expressions(1))
        if value.python is ABSENT or (other.family == v.family and v.family != "row"):
            continue
        server = c.asked(data, kind, value.sql)
        answer = attempt(lambda: value.python in f)
        c.s.counts["other types"] += 1
        if not may_answer(answer, server) or (server == "42804" and answer == "UnsupportedError"):
            c.finding(f"Python: {answer} for {value.python!r}, not {server}", data, kind, value.sql)
        check_node(c, data, kind, value)


def may_answer(answer, server):
    """Answers as the server, or refuses the value."""
    return not isinstance(answer, bool) or answer is server


def check_node(c, data, kind, value, same_type=False):
    """JavaScript reads strings and numbers as the filter's type, so they are left out unless this
    is the value's type, too."""
    if value.javascript is ABSENT or not (same_type or value.javascript[0] in UNAMBIGUOUS):
        return
    of_node = c.node.answers(data, [value.javascript])
    server = c.asked(data, kind, value.sql_of_javascript)
    if of_node and not may_answer(of_node["answers"][0], server):
        c.finding(f"JavaScript: {of_node['answers']} for {value.javascript}, not {server}", data,
                  kind, value.sql_of_javascript)


def filled(r, data):
    """The filter with random bits set in addition, so that many other values hit. This is possible
    where any bits are a filter: not in buckets, and not in links, which have an order."""
    if data[1] == CUCKOO or data[32] & HAS_LINKS or data[2] == 0 or r.random() < 0.3:
        return data
    share = r.choice([0.1, 0.3, 0.6])
    bits = sum(1 << bit for bit in range(8 * (len(data) - HEADER)) if r.random() < share)
    bitmap = int.from_bytes(data[HEADER:], "little") | bits
    return data[:HEADER] + bitmap.to_bytes(len(data) - HEADER, "little")


def damaged(r, data):
    data = bytearray(data)
    way = r.randrange(12)
    at = r.randrange(min(len(data), r.choice([4, 36, 90, len(data)])))
    if way < 4:
        data[at] = r.choice([0, 1, 2, 3, 4, 5, 0x11, 0x12, 0x21, 0x80, 0xFF, r.randrange(256)])
    elif way < 6:
        data[at] ^= 1 << r.randrange(8)
    elif way == 6:
        del data[r.randrange(len(data)):]
    elif way == 7:  # exchanges two lines, or makes them equal
        a, b = (slice(-at - 64, -at or None) for at in r.sample(range(0, len(data) + 64, 64), 2))
        data[a], data[b] = data[b], data[r.choice([a, b])]
    elif way == 8:  # random bytes after a beginning that is right
        at = r.choice([4, 12, 28, HEADER, HEADER + ENTRY, at])
        data[at:] = r.randbytes(max(0, len(data) - at))
    elif way < 11:
        change_number(r, data)
    else:
        data += bytes(r.choice([1, 4, 64]))
    return bytes(data) or b"\x01"


def change_number(r, data):
    """Gives a number of the header, or of the entry of a link, an extreme value."""
    start = r.choice([12, 12, HEADER, HEADER + ENTRY])  # of an expected, a rate and units
    at, form = r.choice([(start, "<Q"), (start + 8, "<d"), (start + 16, "<I")])
    if form == "<d":
        number = r.choice([0.0, -0.0, 1e-9, 0.9e-9, 0.5, 0.51, -0.1, 5e-324, math.inf, math.nan])
    else:
        bits = 8 * struct.calcsize(form)
        number = r.choice([0, 1, 2, 63, 64, 65, 2**23, 2**bits - 1, 2**(bits - 1), 2**(bits // 2),
                           r.getrandbits(bits), r.getrandbits(r.randrange(1, bits))])
    if at + struct.calcsize(form) <= len(data):
        struct.pack_into(form, data, at, number)


def compare_damaged(c, kind, data, values):
    family = data[2]
    for _ in range(c.r.choice([1, 1, 1, 2, 3])):
        data = damaged(c.r, data)
    layout = data[1] if len(data) > 1 else 1
    kind = TYPES[layout >> 4] if layout >> 4 < len(TYPES) else kind
    sql = f"SELECT %s::bytea::{kind} IS NULL"
    try:
        accepted = c.run(sql, (data,)) is not None
    except psycopg2.Error as error:
        if error.pgcode != "22P03":
            raise
        accepted = False
    c.s.counts["accepted" if accepted else "refused"] += 1
    if layout in OTHERS:
        wanted = ("UnsupportedError", "DamagedError")
    else:
        wanted = (None,) if accepted else ("DamagedError",)
    f = attempt(lambda: Filter(data))
    of_node = c.node.answers(data, [])
    for language, got in [("Python", None if isinstance(f, Filter) else f),
                          ("JavaScript", of_node.get("error") if of_node else wanted[0])]:
        if got not in wanted:
            c.s.finding(f"{language}: {got}, not {wanted}", sql.replace("%s", f"'\\x{data.hex()}'"))
    for value in values[:6] if isinstance(f, Filter) and accepted else []:
        server = c.asked(data, kind, value.sql)
        answer = value.python is ABSENT or attempt(lambda: value.python in f)
        if value.python is not ABSENT and not may_answer(answer, server):
            c.finding(f"Python: {answer} for {value.python!r}, not {server}", data, kind, value.sql)
        check_node(c, data, kind, value, data[2] == family)


def search(s):
    c = Comparison(s)
    while s.goes_on():
        c.run(f"SET TimeZone = '{c.r.choice(ZONES)}'")
        v = Values(c)
        expressions = v.expressions(c.r.choice([1, 3, 10, 30]))
        kind = c.r.choice(["bloomfilter", "bloomfilter", "countingbloomfilter", "cuckoofilter"])
        make = {"bloomfilter": bloom, "countingbloomfilter": counting, "cuckoofilter": cuckoo}[kind]
        seed = c.r.choice([0, 0, 7, -1, c.r.randrange(-2**63, 2**63)])
        sql, kept = make(c, expressions, seed)
        try:
            data = filled(c.r, bytes(c.run(f"SELECT ({sql})::bytea")[0]))
        except psycopg2.Error as error:
            # No place in a cuckoo filter, too many links or another geometry; a removed value
            if error.pgcode not in ("54000", "22023", "53400", "55000", "22000"):
                raise
            s.counts["not made"] += 1
            continue
        s.counts["filters"] += 1
        questions = kept + v.expressions(20)
        values = v.values(questions)
        compare(c, v, kind, data, values, len(kept))
        if v.row is None or not v.nulls:
            compare_others(c, v, kind, data)
        for _ in range(3):
            compare_damaged(c, kind, data, values)


if __name__ == "__main__":
    run("clients", search, "hits", "misses", "other types", "accepted", "refused")
