"""Runs statements that nobody would write: every function, aggregate, operator and cast, with null,
odd, huge and damaged arguments.

The catalog says which functions there are, so that new functions are tried, too. Aggregates and
functions of the extension make filters, which are then damaged: bits, lengths and ends are changed,
and heads replaced by the heads of other filters. Filters are read from text or cast from bytea,
which checks them. In every other epoch, this cast is binary coercible and checks nothing, as if a
page were damaged. Some filters are stored, toasted, indexed or copied.

Many statements should raise errors. There are four findings: a lost connection; an internal error
(XX000); a statement whose CPU time goes far beyond its statement_timeout; and two answers, one when
the planner folds an expression, and another when the expression is executed.
"""

import base64
import io
import re
import struct
import threading
import time

import psycopg2

from search import run
from values import GENERATORS, OWN_TYPES, expression_of, literal

EPOCH = 300  # statements, after which tables and settings change
TIMEOUT = 2  # seconds, the statement_timeout
LATE = 10  # seconds of CPU time beyond TIMEOUT that a statement may take

BINARY_HEAD = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)

NUMBERS = {
    "smallint": ["0", "1", "-1", "7", "32767", "-32768"],
    "integer": ["0", "1", "-1", "2", "7", "16", "17", "255", "1000", "2147483647", "-2147483648"],
    "bigint": ["0", "1", "-1", "5", "64", "100", "511", "512", "513", "4096", "65535", "65536",
               "1000000", "2147483648", "4294967295", "4294967297", "9223372036854775807",
               "-9223372036854775808"],
    "double precision": ["0.01", "0.5", "0.50001", "1e-9", "9e-10", "0", "-1", "0.001", "1", "5",
                         "100", "5000", "NaN", "Infinity", "0.125", "1e-300", "0.3333", "1e6",
                         "1e19", "4e9"],
}
# Expressions of rows i = 1, 2, …
COLUMNS = ["i", "i % 5", "i::bigint", "i::text", "i || ' '", "(i || ' ')::varchar", "i::numeric",
           "i / 2.0", "i::float8", "i::real", "ROW(i)", "ROW(i, i::text)", "ARRAY[i]",
           "ARRAY[ROW(i)]", "NULL::int", "nullif(i % 3, 0)", "int4range(i, i + 2)", "to_jsonb(i)",
           "i::text::bytea", "md5(i::text)::uuid", "date '2024-01-01' + i", "(i % 2 = 0)", "i::oid"]


class Function:
    def __init__(self, name, kind, arguments, defaults, immutable, result, comment):
        self.name, self.kind, self.arguments = name, kind, arguments
        self.defaults, self.immutable, self.result = defaults, immutable, result
        self.comment = comment


class Statements:
    def __init__(self, s):
        self.s, self.r = s, s.random
        self.connect()
        self.execute(OWN_TYPES)
        self.read_catalog()
        self.unchecked = False
        self.stored = []
        self.running = None
        threading.Thread(target=self.watch, daemon=True).start()
        self.pool = {t: [] for t in self.types}
        self.fill_pool()

    def connect(self):
        """Connects. Tries again if the server has crashed and needs a moment to notice."""
        for _ in range(10):
            self.db = self.s.connect()
            self.cursor = self.db.cursor()
            try:
                self.prepare("SET client_min_messages = error")
                self.pid = self.rows("SELECT pg_backend_pid()")[0][0]
                return
            except psycopg2.OperationalError:
                time.sleep(1)

    def execute(self, sql):
        self.cursor.execute(sql)

    def prepare(self, *statements):
        """Executes statements that are not tested. They may take longer than TIMEOUT, for example
        under valgrind."""
        self.execute("SET statement_timeout = 0")
        for sql in statements:
            self.execute(sql)
        self.execute(f"SET statement_timeout = {TIMEOUT * 1000}")

    def rows(self, sql):
        self.execute(sql)
        return self.cursor.fetchall()

    # --- the catalog ------------------------------------------------------------------------------

    def read_catalog(self):
        """Reads the extension's types, with their send functions, and its functions, operators and
        casts."""
        def held(catalog, columns, condition="true"):
            return self.rows(
                f"SELECT {columns} FROM pg_depend d JOIN {catalog} c ON d.objid = c.oid"
                f" AND d.classid = '{catalog}'::regclass WHERE d.deptype = 'e' AND d.refobjid ="
                " (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter')"
                f" AND {condition} ORDER BY 1, 2, 3")
        self.types = {name: send for name, send, _ in held(
            "pg_type", "typname::text, typsend::regproc::text, oid", "typelem = 0")}
        casts = held("pg_cast", "castsource::regtype::text, casttarget::regtype::text, castmethod")
        self.casts = [(source, target) for source, target, _ in casts]
        self.filters = [target for source, target in self.casts if source == "bytea"]
        functions = [Function(*f) for f in held(
            "pg_proc", "proname, prokind, string_to_array(oidvectortypes(proargtypes), ', '),"
            " pronargdefaults, provolatile = 'i', prorettype::regtype::text,"
            " obj_description(c.oid)",
            "'internal'::regtype <> ALL (proargtypes || prorettype) AND NOT proretset")]
        self.aggregates = [f for f in functions if f.kind == "a"]
        self.functions = [f for f in functions if f.kind == "f"]
        self.operators = held(
            "pg_operator", "oprname, oprleft::regtype::text, oprright::regtype::text",
            "oprleft <> 0")
        self.settings = self.rows(
            "SELECT name, coalesce(enumvals, ARRAY[min_val, boot_val, max_val, 'on', 'off'])"
            " FROM pg_settings WHERE name LIKE 'bloomfilter.%' ORDER BY 1")
        # The names of layouts, funnels and types are among the words of the comments.
        self.words = sorted({word for f in functions
                             for word in re.findall(r"\w+", f.comment or "")})
        try:
            self.execute("SELECT bf_create(1, layout => '')")
        except psycopg2.Error as error:
            self.layouts = re.findall(r"\w+", error.diag.message_hint)[2:]
        self.s.counts["functions"] = len(self.functions)
        self.s.counts["aggregates"] = len(self.aggregates)
        self.s.counts["operators and casts"] = len(self.operators) + len(self.casts)

    def fill_pool(self):
        """Makes undamaged values of every type, by functions and aggregates that return the
        type."""
        for _ in range(400):
            self.keep_result()
        for values in self.pool.values():
            self.s.counts["values made"] += len(values)

    def keep_result(self):
        f = self.r.choice([f for f in self.functions + self.aggregates if f.result in self.types])
        sql = self.aggregate(f) if f.kind == "a" else f"SELECT {self.call(f)} AS x"
        made = self.answer(
            f"SELECT {self.types[f.result]}(x) FROM ({sql}) y WHERE x IS NOT NULL LIMIT 1")
        if isinstance(made, list) and made and len(made[0][0]) < 200_000:
            pool = self.pool[f.result]
            pool.insert(self.r.randrange(len(pool) + 1), bytes(made[0][0]))
            del pool[300:]

    # --- arguments --------------------------------------------------------------------------------

    def damaged(self, data):
        data, r = bytearray(data), self.r
        for _ in range(r.choice([1, 1, 1, 2, 3, 6])):
            chance = r.random()
            if chance < 0.5 and data:
                at = r.randrange(min(len(data), r.choice([4, 36, 60, 84, 200])))
                data[at] = r.choice([0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 254,
                                     255, r.randrange(256)])
            elif chance < 0.65 and data:
                data[r.randrange(len(data))] ^= 1 << r.randrange(8)
            elif chance < 0.73:
                del data[r.randrange(len(data) + 1):]
            elif chance < 0.8:
                data += bytes(r.randrange(256) for _ in range(r.choice([1, 4, 8, 64, 512])))
            elif chance < 0.92 and len(data) > 8:
                at = r.randrange(0, min(len(data) - 8, 80) + 1, 4)
                data[at:at + 8] = struct.pack("<Q", r.choice(
                    [0, 1, 2, 8, 64, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1]))
            else:
                other = r.choice(self.pool[r.choice(list(self.pool))] or [b""])
                head = r.randrange(min(len(other), 100) + 1)
                data[:head] = other[:head]
        return bytes(data)

    def own(self, name, whole=False):
        """A value of one of the extension's types."""
        r = self.r
        if name != "bf_literal" and self.pool[name]:
            chance = r.random()
            if chance < 0.03:
                return f"NULL::{name}"
            if chance < 0.15 and not whole and name in self.filters:
                return f"(SELECT {name}_column FROM store WHERE id = {r.randrange(12)})"
            data = r.choice(self.pool[name])
            if chance < 0.6 and not whole:
                data = self.damaged(data)
            if name in self.filters and chance < 0.9:
                return f"'\\x{data.hex()}'::bytea::{name}"
            return f"'{base64.b64encode(data).decode()}'::{name}"
        text = r.choice(["", "5", "a", "a  ", "-0", "nan", "{}", "{1}", "1e400", "\\x6", "\\x61",
                         "9" * 70, "10/8", "2024-01-08", "2024-01-08T12:00Z", "AQE=",
                         "a0eebc999c0b4ef8bb6d6bb9bd380a11"])
        return f"{literal(text)}::{name}"

    def any_value(self):
        r = self.r
        chance = r.random()
        if chance < 0.35:
            return r.choice(["1", "5", "7::bigint", "'5'::text", "5.0", "'5'", "'a'", "NULL",
                             "5::float8", "ROW(5)"])
        if chance < 0.4:
            return r.choice(["repeat('x', 100000)", "array_fill(1, ARRAY[3000])", "ROW()",
                             "repeat(' ', 5000)::varchar", "(SELECT s FROM store s LIMIT 1)",
                             "(SELECT jsonb_agg(i) FROM generate_series(1, 2000) i)",
                             "ROW(1, ROW(2, ARRAY[3]))", "1e1000::numeric"])
        if chance < 0.45:
            return self.own(r.choice(list(self.types)))
        if chance < 0.5:
            return f"NULL::{r.choice(list(GENERATORS))}"
        value = expression_of(r.choice(list(GENERATORS)), r)
        if chance < 0.6:
            return f"ARRAY[{value}]"
        return f"ROW({value}, {value})" if chance < 0.7 else value

    def array(self):
        r = self.r
        column = r.choice(COLUMNS)
        return r.choice([
            f"ARRAY[{self.any_value()}]", f"ARRAY[{self.any_value()}, {self.any_value()}]",
            f"(SELECT array_agg({column}) FROM generate_series(1, {r.choice([1, 3, 1500])}) i)",
            "'{}'::int[]",
            "NULL::int[]", "'[0:1]={5,6}'::bigint[]", "'{{1,2},{3,NULL}}'::int[]",
            "(SELECT most_common_vals FROM pg_stats LIMIT 1)"])

    def text(self):
        r = self.r
        if r.random() < 0.6:
            return literal(r.choice(self.layouts))
        return r.choice([literal(r.choice(self.words)), literal(r.choice(self.words).upper()), "''",
                         "repeat('x', 3000)", "NULL"])

    def bytea(self):
        """Bytes of damaged filters, and results of functions that return bytea."""
        data = self.r.choice(self.pool[self.r.choice(self.filters)] or [b""])
        makers = [f for f in self.functions if f.result == "bytea"]
        if self.r.random() < 0.5:
            return self.call(self.r.choice(makers), depth=1)
        return f"'\\x{self.damaged(data).hex()}'::bytea"

    def argument(self, name, whole=False, depth=0):
        r = self.r
        if name in self.types:
            return self.own(name, whole)
        if name in ('"any"', "anyelement", "anynonarray"):
            return r.choice(["5", "'a'::text", "7.5"]) if whole else self.any_value()
        if name == "anyarray":
            return self.array()
        if name in NUMBERS:
            numbers = NUMBERS[name]
            number = r.choice(numbers[:12] if r.random() < 0.8 else numbers)
            return f"NULL::{name}" if r.random() < 0.03 and not whole else f"'{number}'::{name}"
        if name == "text":
            return f"{self.text()}::text"
        if name == "bytea":
            return self.bytea() if depth == 0 else "'\\x00'::bytea"
        if name == "bytea[]":
            items = [self.argument("bytea", depth=depth) for _ in range(r.randint(0, 3))]
            return f"ARRAY[{', '.join(items)}]::bytea[]"
        if name == "cstring":
            return literal(r.choice(["", "AAAA", "=", "AQEBBg==", "####"])) + "::cstring"
        if name == "boolean":
            return r.choice(["true", "false", "NULL::boolean"])
        return f"NULL::{name}"

    # --- statements -------------------------------------------------------------------------------

    def arguments_of(self, f, whole=False, depth=0):
        count = len(f.arguments) - self.r.randint(0, f.defaults)
        return [self.argument(name, whole, depth) for name in f.arguments[:count]]

    def call(self, f, depth=0):
        return f"{f.name}({', '.join(self.arguments_of(f, self.r.random() < 0.3, depth))})"

    def aggregate(self, f):
        """A query with an aggregate as column x: plain, grouped, filtered, distinct, ordered, in
        windows, over a table or a series."""
        r = self.r
        arguments = self.arguments_of(f, r.random() < 0.5)
        if f.arguments[0] == '"any"' and r.random() < 0.9:
            arguments[0] = r.choice(COLUMNS)
        elif f.arguments[0] in self.pool and r.random() < 0.5:
            maker = [m for m in self.functions + self.aggregates if m.result == f.arguments[0]
                     and m.arguments[:1] == ['"any"']]
            if maker and maker[0].kind == "a":
                arguments[0] = f"(SELECT {maker[0].name}(i + j) FROM generate_series(1, 9) j)"
            elif maker:
                arguments[0] = f"{maker[0].name}({r.choice(COLUMNS)})"
            else:
                arguments[0] = (f"CASE i % 3 WHEN 0 THEN {self.own(f.arguments[0])}"
                                f" ELSE {arguments[0]} END")
        called = ", ".join(arguments)
        if r.random() < 0.15:
            called = "DISTINCT " + called
        elif r.random() < 0.1:
            called += " ORDER BY i"
        x = f"{f.name}({called})"
        if r.random() < 0.2:
            x += f" FILTER (WHERE {r.choice(['i % 2 = 0', 'i > 5', 'false', 'NULL'])})"
        if r.random() < 0.3 and "DISTINCT" not in called and "ORDER" not in called:
            frame = r.choice(["", "ROWS 3 PRECEDING", "ROWS BETWEEN 2 FOLLOWING AND 5 FOLLOWING",
                              "ROWS BETWEEN 20 PRECEDING AND 10 PRECEDING", "GROUPS 1 PRECEDING",
                              "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
                              "ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING EXCLUDE CURRENT ROW"])
            over = r.choice(["ORDER BY i", "PARTITION BY i % 3 ORDER BY i"])
            return f"SELECT {x} OVER ({over} {frame}) AS x FROM generate_series(1, 60) i"
        source = r.choice([f"generate_series(1, {r.choice([0, 1, 10, 300, 3000])}) i", "numbers",
                           f"(SELECT i FROM numbers WHERE i < {r.choice([0, 2, 1000])}) n"])
        group = r.choice(["", "", "GROUP BY i % 3", "GROUP BY GROUPING SETS ((i % 2), ())"])
        return f"SELECT {x} AS x FROM {source} {group}"

    def function_statement(self):
        f = self.r.choice(self.functions)
        return self.twice(f"{f.name}({{}})", self.arguments_of(f), f.immutable)

    def operator_statement(self):
        name, left, right = self.r.choice(self.operators)
        return self.twice(f"{{}} {name} {{}}", [self.argument(left), self.argument(right)], True)

    def cast_statement(self):
        source, target = self.r.choice(self.casts)
        return self.twice(f"CAST({{}} AS {target})", [self.argument(source)], True)

    def twice(self, pattern, arguments, immutable):
        """A statement, and sometimes another one that must give the same answer; else None."""
        separate = "(" not in pattern
        places = [f"({a})" if separate else a for a in arguments]
        folded = f"SELECT ({self.filled(pattern, places)})::text"
        typed = all("::" in a or a[:1].isdigit() for a in arguments)
        if not (immutable and typed and arguments and self.r.random() < 0.3):
            return folded, None
        columns = ", ".join(f"{a} AS a{n}" for n, a in enumerate(arguments))
        places = [f"x.a{n}" for n in range(len(arguments))]
        return folded, (f"SELECT ({self.filled(pattern, places)})::text"
                        f" FROM (SELECT {columns} OFFSET 0) x")

    @staticmethod
    def filled(pattern, places):
        one = pattern.count("{}") == 1
        return pattern.format(", ".join(places)) if one else pattern.format(*places)

    def aggregate_statement(self):
        made = self.aggregate(self.r.choice(self.aggregates))
        return f"SELECT count(x), max(length(x::text)) FROM ({made}) y", None

    def store_statement(self):
        r = self.r
        name = r.choice(self.filters)
        column, number = f"{name}_column", r.randrange(12)
        operators = [o for o in self.operators if o[1] == name and o[2] == '"any"']
        changing = [o for o in operators if o[0] in "+-"]
        sql = r.choice([
            lambda: f"INSERT INTO store (id, {column}) VALUES ({number}, {self.own(name, True)})"
                    f" ON CONFLICT (id) DO UPDATE SET {column} = excluded.{column}",
            lambda: f"INSERT INTO store (id, {column}) VALUES ({number}, {self.own(name)})"
                    f" ON CONFLICT (id) DO UPDATE SET {column} = excluded.{column}",
            lambda: f"UPDATE store SET {column} = {column} {r.choice(changing)[0]}"
                    f" {self.any_value()} WHERE id = {number}",
            lambda: f"SELECT count(*) FROM store s, generate_series(1, {r.choice([1, 500, 4000])})"
                    f" i WHERE s.{column} @> {r.choice(COLUMNS)}",
            lambda: f"SELECT count(*) FROM numbers WHERE (SELECT {column} FROM store"
                    f" WHERE id = {number}) @> {r.choice(COLUMNS)}",
            lambda: f"SELECT count(*), count(DISTINCT {column})"
                    f" FROM store s JOIN store t USING ({column})",
            lambda: f"SELECT {column} FROM store ORDER BY {column} LIMIT 3",
            lambda: f"ALTER TABLE store ALTER {column} SET STORAGE"
                    f" {r.choice(['PLAIN', 'EXTERNAL', 'EXTENDED', 'MAIN'])}",
            lambda: f"SELECT length(string_agg(({self.call(r.choice(self.functions))})::text, ''))"
                    f" FROM store s WHERE s.{column} IS NOT NULL",
            lambda: f"DROP INDEX IF EXISTS store_index; CREATE INDEX store_index ON store"
                    f" {r.choice(['USING hash', ''])} ({column})",
            lambda: "ANALYZE store",
            lambda: f"DELETE FROM store WHERE id = {number}",
        ])()
        return sql, None

    # --- running them -----------------------------------------------------------------------------

    def new_epoch(self):
        """Chooses new settings, empties the table, and makes the cast from bytea check or not."""
        r = self.r
        self.unchecked = not self.unchecked
        names = ", ".join(f"'{name}'::regtype" for name in self.filters)
        method = "castmethod = 'b', castfunc = 0" if self.unchecked else (
            "castmethod = 'f', castfunc = (casttarget::regtype::text || '(bytea)')::regprocedure")
        columns = ", ".join(f"{name}_column {name}" for name in self.filters)
        chosen = [("work_mem", r.choice(["'64kB'", "'4MB'"])), ("jit", "off"),
                  ("max_parallel_workers_per_gather", r.choice(["0", "2"]))]
        chosen += [(name, r.choice(["0", "1000"])) for name in
                   ("parallel_setup_cost", "parallel_tuple_cost")]
        chosen += [("min_parallel_table_scan_size", "0")]
        chosen += [(name, r.choice(["on", "off"])) for name in
                   ("enable_hashagg", "enable_sort", "enable_hashjoin", "enable_memoize")]
        self.stored = [
            f"UPDATE pg_cast SET {method} WHERE castsource = 'bytea'::regtype"
            f" AND casttarget IN ({names})",
            "DROP TABLE IF EXISTS store, numbers",
            f"CREATE TABLE store (id int PRIMARY KEY, {columns})",
            "CREATE TABLE numbers AS SELECT i FROM generate_series(1, 5000) i"]
        self.stored += [f"SET {name} = {value}" for name, value in chosen]
        self.prepare(*self.stored)
        for name, values in self.settings:
            value = r.choice([v for v in values if v is not None])
            try:
                self.execute(f"SET {name} = {literal(value)}")
                self.stored.append(f"SET {name} = {literal(value)}")
            except psycopg2.Error:
                pass  # a number for a boolean, or a boolean for a number

    def one(self):
        made = self.r.choices(
            [self.function_statement, self.aggregate_statement, self.operator_statement,
             self.cast_statement, self.store_statement, self.copy], [40, 22, 12, 3, 22, 2])[0]()
        if made:
            sql, again = made
            answer = self.answer(sql)
            if again and "57014" not in (answer, second := self.answer(again)) and second != answer:
                # The planner folds a strict call with a NULL argument without evaluating the other
                # arguments, one of which may raise an error.
                arguments = self.answer("SELECT * FROM (" + again.split(" FROM (", 1)[1])
                if arguments != second:
                    self.finding(f"two answers: {str(answer)[:100]} and {str(second)[:100]}",
                                 f"{sql};\n{again}")

    def answer(self, sql):
        """The rows or the SQLSTATE."""
        self.s.counts["statements"] += 1
        self.running = sql, self.cpu()
        try:
            self.execute(sql)
            answer = self.cursor.fetchall() if self.cursor.description else None
            self.s.counts["succeeded"] += 1
            if not sql.startswith("SELECT"):
                self.stored.append(sql)
        except psycopg2.Error as error:
            answer = error.pgcode
            self.errors(error, sql)
        self.running = None
        return answer

    def watch(self):
        """Ends the search if a statement does not end, because the search would wait for ever."""
        while True:
            time.sleep(1)
            running = self.running
            if running and self.cpu() - running[1] > TIMEOUT + LATE:
                self.finding(f"takes {self.cpu() - running[1]:.1f} s of CPU time so far, with a"
                             f" timeout of {TIMEOUT} s", running[0])
                self.s.end()

    def errors(self, error, sql):
        if self.db.closed:
            self.finding(f"the connection is lost: {error}", sql)
            self.connect()
        elif error.pgcode in ("XX000", None) and "non-aggregate" not in str(error):
            self.finding(f"{error.pgcode}: {error}", sql)
        else:
            self.s.counts["timeouts" if error.pgcode == "57014" else "errors"] += 1

    def finding(self, what, sql):
        history = self.stored if "store" in sql or "numbers" in sql or self.unchecked else []
        own_types = re.findall(r"CREATE \w+ (\w+)", OWN_TYPES)
        own = OWN_TYPES if any(name in sql for name in own_types) else ""
        self.s.finding(what, own + ";\n".join(history + [sql]))

    def cpu(self):
        """CPU seconds of the backend, from /proc; 0 without /proc, or for a remote server."""
        try:
            with open(f"/proc/{self.pid}/schedstat", encoding="ascii") as file:
                return int(file.read().split()[0]) / 1e9
        except OSError:
            return 0

    def copy(self):
        """Passes damaged bytes to a type's receive function, by COPY in binary format."""
        name = self.r.choice([name for name, values in self.pool.items() if values])
        data = self.damaged(self.r.choice(self.pool[name]))
        field = struct.pack("!hi", 1, len(data)) + data
        stream = io.BytesIO(BINARY_HEAD + field + struct.pack("!h", -1))
        self.s.counts["statements"] += 1
        try:
            self.execute(f"CREATE TEMP TABLE received (v {name})")
            self.cursor.copy_expert("COPY received FROM STDIN (FORMAT binary)", stream)
            self.s.counts["succeeded"] += 1
        except psycopg2.Error as error:
            self.errors(error, f"-- COPY … (FORMAT binary) of one {name}, \\x{data.hex()}")
        self.prepare("DROP TABLE IF EXISTS received")


def search(s):
    statements = Statements(s)
    while s.goes_on():
        statements.new_epoch()
        for _ in range(EPOCH):
            if s.goes_on():
                statements.one()
        statements.keep_result()


if __name__ == "__main__":
    run("statements", search, "succeeded", "errors")
