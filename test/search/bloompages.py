"""Random histories of a table with an index on its columns (access method bloompages): the index
must give the answers of a sequential scan.

A world is a table with one to four columns of any types that can be indexed, and a few indexes with
one or several of these columns, or of expressions, some for a part of the table. Many columns have
types with keys, and conditions on what is inside their values (keys.py). Its rows are wide and a
range has few pages, so that small tables fill several groups of ranges. In some worlds, the hash
function of an operator class sleeps now and then, so that others write while a range gets its
filter.

While up to three sessions insert, update and delete rows, roll back and vacuum, this program takes
a step: it changes rows, columns or indexes, vacuums, or kills a session or the server. After each
step, bf_index_check() must find nothing. Then queries run with bitmap scans and with a sequential
scan, in one snapshot. The snapshot is a new one, one that is older than the last steps, or one of a
standby. The standby compares each page that it changes with the primary's (the setting
wal_consistency_checking). Rows and errors must be the same.

The sessions run in parallel, so a seed repeats the choices of a run, but not its timing. The search
starts a primary and a standby of its own, with the programs beside pg_config.
"""

import contextlib
import io
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import psycopg2
import psycopg2.extensions

import keys
from search import run
from values import GENERATORS, OWN_TYPES, expression_of, text_of

STEPS = 40  # in a world
MOST_ROWS = 6000  # more rows are deleted
STANDBY_PORT = 5433
PLANS = {
    "scan": ["enable_bitmapscan = off", "enable_indexscan = off", "enable_indexonlyscan = off"],
    "bitmap": ["enable_seqscan = off", "enable_indexscan = off", "enable_indexonlyscan = off"],
}
NESTED = ["enable_hashjoin = off", "enable_mergejoin = off", "enable_material = off"]
PARALLEL = ["max_parallel_workers_per_gather = 2", "parallel_setup_cost = 0",
            "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0"]

# The SQLSTATEs that statements may raise while others write: deadlocks and what follows in their
# transactions, cancels, timeouts, shutdowns, columns and indexes that are no longer there, rows
# that are too wide, and duplicate ids.
EXPECTED = re.compile("25P02|40|55|57|42703|42P01|42704|0A000|54000|23505|42804")

# Ways to make many distinct values of a type from a number i; the first that works is taken.
NUMBERED = ["i::text::{}", "md5(i::text)::text::{}", "('{{' || i || '}}')::text::{}",
            "('[' || i || ',' || i + 2 || ')')::text::{}",
            "('{{[' || i || ',' || i + 2 || ')}}')::text::{}", "('2000-01-01'::date + i)::text::{}",
            "(i || ' min')::text::{}", "('10.0.0.0'::inet + i)::text::{}",
            "lpad(to_hex(i), 12, '0')::text::{}", "lpad(to_hex(i), 16, '0')::text::{}",
            "('(' || i || ',1)')::text::{}", "('0/0'::pg_lsn + i)::text::{}"]

# A hash function that sleeps once in fifty calls, so that a range is read for milliseconds.
SLOW = """
CREATE FUNCTION slow_hash(v int, seed bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  IF random() < 0.02 THEN PERFORM pg_sleep(0.003); END IF;
  RETURN hashint4extended(v, seed);
END $$;
CREATE OPERATOR CLASS slow_ops FOR TYPE int USING bloompages AS
  OPERATOR 1 = (int, int), FUNCTION 1 slow_hash(int, bigint);
"""


class Servers:
    """A primary and its standby, in a directory of their own. The environment says where the
    primary is."""

    def __init__(self):
        config = os.environ.get("PG_CONFIG", "pg_config")
        bindir = subprocess.check_output([config, "--bindir"], text=True).strip()
        self.programs = pathlib.Path(bindir)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="bloompages"))
        self.primary, self.standby = self.directory / "primary", self.directory / "standby"

    def program(self, name, *options):
        with open(self.directory / "programs.log", "ab") as log:
            return subprocess.call([self.programs / name, *options], stdout=log, stderr=log) == 0

    def __enter__(self):
        self.program("initdb", "-D", self.primary, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                     "--no-locale", "--no-sync")
        with open(self.primary / "postgresql.conf", "a", encoding="ascii") as settings:
            settings.write(f"""
listen_addresses = ''
unix_socket_directories = '{self.directory}'
port = 5432
fsync = off
autovacuum = off
jit = off
max_prepared_transactions = 3
wal_consistency_checking = 'generic'
max_wal_size = '128MB'
wal_retrieve_retry_interval = '100ms'
max_standby_streaming_delay = -1
shared_buffers = '16MB'
log_min_messages = 'log'
""")
        os.environ.update(PGHOST=str(self.directory), PGPORT="5432", PGUSER="postgres",
                          PGDATABASE="postgres")
        if not self.start(self.primary):
            raise RuntimeError(self.log(self.primary))
        self.program("pg_basebackup", "-D", self.standby, "-R", "--checkpoint=fast", "--no-sync",
                     "--create-slot", "--slot=standby")
        with open(self.standby / "postgresql.conf", "a", encoding="ascii") as settings:
            settings.write(f"port = {STANDBY_PORT}\n")
        if not self.start(self.standby):
            raise RuntimeError(self.log(self.standby))
        Servers.current = self
        return self

    def __exit__(self, *_):
        self.stop(self.standby)
        self.stop(self.primary)
        shutil.rmtree(self.directory)

    def start(self, data):
        return self.program("pg_ctl", "-D", data, "-l", f"{data}.log", "-w", "-t", "60", "start")

    def stop(self, data):
        self.program("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")

    def log(self, data):
        """What a server said last, or why it does not run."""
        name = f"{data}.log" if os.path.exists(f"{data}.log") else self.directory / "programs.log"
        with open(name, encoding="utf-8", errors="replace") as log:
            lines = [line for line in log if re.search("FATAL|PANIC|ERROR|WARNING|CONTEXT", line)]
        return "".join(lines[-8:])


class Column:
    """A column and its pool: the values that its rows have, in a table of their own."""

    def __init__(self, name, kind, values):
        self.name, self.kind, self.values = name, kind, values  # the values as expressions
        self.size = 0  # of the pool

    def some(self, number):
        """SQL for a value of the pool, chosen by a number."""
        return f"(SELECT v FROM pool_{self.name} WHERE n = ({number}) % {self.size})"


class World:
    """A table, its indexes and the sessions that write to it."""

    def __init__(self, s, servers, kinds):
        self.s, self.r, self.servers, self.kinds = s, s.random, servers, kinds
        self.transcript, self.lock = [], threading.Lock()
        self.top, self.made = 1, 0  # the largest id; the number of columns and indexes made
        self.columns, self.writers = [], []
        self.is_over, self.may_write = False, threading.Event()
        self.reopen()
        self.reader = None  # a transaction with an old snapshot
        self.pad = self.r.choice([300, 700, 1500, 2300])
        self.run("DROP TABLE IF EXISTS t")
        self.run("DROP SEQUENCE IF EXISTS t_id")
        self.run("CREATE SEQUENCE t_id")
        names = []
        for _ in range(self.r.choice([1, 1, 2, 3, 4])):
            column = self.new_column()
            names.append(f"{column.name} {column.kind}")
            self.columns = self.columns + [column]
        kept = self.r.choice(["", "UNLOGGED"] + [""] * 6)
        self.run(f"CREATE {kept} TABLE t (id int PRIMARY KEY DEFAULT nextval('t_id'), "
                 f"{', '.join(names)}, note int, pad text)"
                 f" WITH (fillfactor = {self.r.choice([40, 70, 100])})")
        self.run("ALTER TABLE t ALTER pad SET STORAGE PLAIN")
        self.is_unlogged = kept != ""
        if self.r.random() < 0.7:
            self.run(self.insertion(self.r, self.r.choice([10, 400, 1500])))
        self.new_index()
        if self.r.random() < 0.5:
            self.new_index()

    # --- statements ------------------------------------------------------------------------------

    def say(self, who, sql):
        with self.lock:
            self.transcript.append(f"/* {who} */ {sql}")

    def reopen(self):
        self.db = self.s.connect()
        self.db.cursor().execute("SET client_min_messages = error; SET lock_timeout = '20s'")

    def run(self, sql):
        """Executes a statement. Returns whether it worked: it may fail for an expected reason."""
        self.say("main", sql)
        try:
            self.db.cursor().execute(sql)
            return True
        except psycopg2.errors.Error as error:
            if error.pgcode is None or not EXPECTED.match(error.pgcode):
                raise
            self.say("main", f"fails: {error}")
            return False

    def rows(self, sql):
        cursor = self.db.cursor()
        cursor.execute(sql)
        return cursor.fetchall()

    def wrong(self, what, sql):
        with self.lock:
            said = ";\n".join(self.transcript[-400:])
        self.s.finding(what, f"{said};\n{sql}")

    # --- columns and indexes ---------------------------------------------------------------------

    def new_column(self, kind=None):
        """A column that is not in the table yet, with its pool."""
        if not kind:  # often integer, because it has the operator class that sleeps
            kind = self.r.choice(["integer"] + self.r.sample(list(self.kinds), 3)
                                 + self.r.sample(list(keys.POOLS), 4))
        column = Column(f"c{self.made}", kind, [])
        self.made += 1
        self.run(f"DROP TABLE IF EXISTS pool_{column.name}")
        self.run(f"CREATE TABLE pool_{column.name} (n int PRIMARY KEY, v {kind})")
        for _ in range(self.r.choice([3, 12, 40])):
            value = expression_of(kind, self.r)
            with contextlib.suppress(psycopg2.DataError, psycopg2.ProgrammingError,
                                     psycopg2.NotSupportedError, psycopg2.IntegrityError):
                self.db.cursor().execute(
                    f"INSERT INTO pool_{column.name} VALUES ({len(column.values)}, {value})")
                column.values.append(value)
        if not column.values:
            self.run(f"INSERT INTO pool_{column.name} VALUES (0, NULL)")
            column.values.append(f"NULL::{kind}")
        column.size = len(column.values)
        forms = self.r.sample(keys.POOLS[kind], 2) if kind in keys.POOLS else []
        for form in (forms + NUMBERED) * (self.r.random() < 0.8):
            with contextlib.suppress(psycopg2.Error):
                more = self.r.choice([50, 400, 2000])
                self.db.cursor().execute(
                    f"INSERT INTO pool_{column.name} SELECT i + {column.size} - 1,"
                    f" {form if form in forms else form.format(kind)}"
                    f" FROM generate_series(1, {more}) i")
                column.size += more
                column.values += [f"(SELECT v FROM pool_{column.name} WHERE n = {n})"
                                  for n in self.r.sample(range(column.size), 10)]
                break
        return column

    def new_index(self, concurrently=""):
        columns = self.r.sample(self.columns, self.r.randint(1, len(self.columns)))
        options = [self.r.choice(["pages_per_range = 1", "pages_per_range = 1",
                                  "pages_per_range = 2", "pages_per_range = 3", "fpr = 0"]),
                   self.r.choice(["fpr = 0.1", "fpr = 0.001", "autosummarize = off",
                                  "autosummarize = on"])]
        if options[0].split()[0] == options[1].split()[0]:
            options.pop()
        names = [keys.entry(column.kind, column.name, self.r)
                 + (" slow_ops" if column.kind == "integer" and self.r.random() < 0.6 else "")
                 for column in columns]
        where = self.r.choice([""] * 5 + ["WHERE id % 4 > 0", "WHERE note < 900",
                                          f"WHERE {columns[0].name} IS NOT NULL"])
        self.made += 1
        self.run(f"CREATE INDEX {concurrently} b{self.made} ON t USING bloompages"
                 f" ({', '.join(names)}) WITH ({', '.join(options)}) {where}")

    def indexes(self):
        """Names of the valid indexes of the access method."""
        return [name for name, in self.rows(
            "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class c ON c.oid = indexrelid"
            " JOIN pg_am a ON a.oid = relam WHERE indrelid = 't'::regclass AND indisvalid"
            " AND amname = 'bloompages'")]

    # --- changes of rows, also for the writers ---------------------------------------------------

    def insertion(self, r, rows):
        step, start = r.choice([1, 7, 131]), r.randint(0, 3000)
        near = r.choice(["i", "i / 20"])
        values = [f"CASE WHEN i % 13 <> 5 THEN {column.some(f'{near} * {step} + {start}')} END"
                  for column in self.columns]
        names = [column.name for column in self.columns]
        pad = self.pad if r.random() < 0.9 else 10
        return (f"INSERT INTO t ({', '.join(names)}, note, pad) SELECT {', '.join(values)}, i,"
                f" repeat('x', {pad}) FROM generate_series(1, {rows}) i")

    def between(self, r, rows):
        low = r.randint(1, max(self.top, 2))
        return f"id BETWEEN {low} AND {low + rows}"

    def change(self, r):
        """An INSERT, UPDATE or DELETE."""
        column = r.choice(self.columns)
        value = column.some(f"id * {r.choice([1, 7])} + {r.randint(0, 999)}")
        kind = r.choice(["insert"] * 4 + ["hot", "hot", "values", "values", "move", "delete",
                                          "conflict"])
        if kind == "insert":
            return self.insertion(r, r.choice([1, 3, 10, 60]))
        if kind == "hot":
            return f"UPDATE t SET note = note + 1 WHERE {self.between(r, r.choice([1, 10, 40]))}"
        if kind == "values":
            return (f"UPDATE t SET {column.name} = {value}"
                    f" WHERE {self.between(r, r.choice([1, 10, 40]))}")
        if kind == "move":
            return (f"UPDATE t SET pad = repeat('y', {r.choice([10, 1000, 3000])})"
                    f" WHERE {self.between(r, 5)}")
        if kind == "delete":
            return f"DELETE FROM t WHERE {self.between(r, r.choice([1, 10, 60]))}"
        return (f"INSERT INTO t (id, {column.name}, pad) VALUES ({r.randint(1, self.top + 3)},"
                f" {column.some(r.randint(0, 99))}, 'c') ON CONFLICT (id)"
                f" DO UPDATE SET {column.name} = excluded.{column.name}")

    def transaction(self, r):
        """The statements of a transaction, with savepoints."""
        parts = [self.change(r)]
        if r.random() < 0.2:  # so that other transactions make multixacts
            parts.append(f"SELECT FROM t WHERE {self.between(r, 20)} FOR SHARE")
        if r.random() < 0.1:  # a server keeps 64 subtransactions of a session in memory
            for _ in range(70):
                parts += ["SAVEPOINT b", self.insertion(r, 1),
                          r.choice(["ROLLBACK TO b", "SELECT"])]
        if r.random() < 0.5:
            end = r.choice(["ROLLBACK TO a", "RELEASE a", "ROLLBACK TO a"])
            parts += ["SAVEPOINT a", self.change(r), self.change(r), end, self.change(r)]
        if r.random() < 0.3:
            parts.append(f"SELECT pg_sleep({r.random() / 10:.3f})")
        return ["BEGIN", *parts, r.choice(["COMMIT", "COMMIT", "ROLLBACK"])]

    def crowd(self, r):
        """What a session that writes does next: a list of statements."""
        chance = r.random()
        if chance < 0.5:
            return [self.change(r)]
        if chance < 0.85:
            return self.transaction(r)
        if chance < 0.92:
            return [r.choice(["VACUUM (TRUNCATE off) t", "VACUUM (FREEZE, TRUNCATE off) t"])]
        return ["SELECT bf_index_tidy(indexrelid) FROM pg_index JOIN pg_class c ON c.oid ="
                " indexrelid JOIN pg_am a ON a.oid = relam WHERE amname = 'bloompages' AND"
                " indisvalid AND indrelid = 't'::regclass"]

    # --- steps -----------------------------------------------------------------------------------

    def insert(self):
        self.run(self.insertion(self.r, self.r.choice([1, 30, 300, 1000])))

    def copy(self):
        """Inserts rows by COPY."""
        names = ", ".join(column.name for column in self.columns)
        buffer, cursor = io.StringIO(), self.db.cursor()
        cursor.copy_expert(f"COPY (SELECT {names}, pad FROM t LIMIT {self.r.choice([20, 200])})"
                           " TO STDOUT", buffer)
        buffer.seek(0)
        self.say("main", f"COPY t ({names}, pad) FROM STDIN, of rows of t")
        with contextlib.suppress(psycopg2.errors.ProgramLimitExceeded):
            cursor.copy_expert(f"COPY t ({names}, pad) FROM STDIN", buffer)

    def changes(self):
        for _ in range(4):
            self.run(self.change(self.r))

    def transactions(self):
        for sql in self.transaction(self.r):
            self.run(sql)

    def prepared(self):
        """A prepared transaction, sometimes with a crash before its end."""
        for sql in self.transaction(self.r)[:-1]:
            self.run(sql)
        if self.run("PREPARE TRANSACTION 'two'"):
            if self.r.random() < 0.3:
                self.crash()
            self.run(self.r.choice(["COMMIT", "ROLLBACK"]) + " PREPARED 'two'")
        else:
            self.run("ROLLBACK")

    def vacuum(self):
        options = [self.r.choice(["FREEZE", "ANALYZE", "INDEX_CLEANUP off", "PARALLEL 0"])]
        if self.reader:  # VACUUM would wait five seconds for it to truncate the table
            options.append("TRUNCATE off")
        self.run(f"VACUUM ({', '.join(options)}) t")

    def tidy(self):
        for index in self.indexes():
            self.run(f"SELECT bf_index_tidy('{index}')")

    def truncated(self):
        """VACUUM truncates the table, which others may fill again."""
        self.may_write.clear()
        self.run(f"DELETE FROM t WHERE id > {self.r.randint(0, self.top)}")
        self.run("VACUUM t")
        self.may_write.set()
        if self.r.random() < 0.5:
            self.insert()

    def truncate(self):
        self.run(self.r.choice(["TRUNCATE t", "DELETE FROM t"]))

    def reindex(self):
        self.run(self.r.choice(["REINDEX TABLE t", "REINDEX TABLE CONCURRENTLY t"])
                 if self.r.random() < 0.3 else
                 f"REINDEX INDEX {self.r.choice(['', 'CONCURRENTLY'])}"
                 f" {self.r.choice(self.indexes())}")

    def index(self):
        self.new_index(self.r.choice(["", "CONCURRENTLY", "CONCURRENTLY"]))
        if len(self.indexes()) > 3:
            self.run(f"DROP INDEX {self.r.choice(self.indexes())}")

    def options(self):
        self.run(f"ALTER INDEX {self.r.choice(self.indexes())} SET (" + self.r.choice(
            ["autosummarize = off", "autosummarize = on", "pages_per_range = 2", "fpr = 0.01"])
            + ")")

    def rewrite(self):
        self.made += 1
        self.run(self.r.choice([
            "VACUUM FULL t", "CLUSTER t USING t_pkey",
            f"ALTER TABLE t ADD z{self.made} int DEFAULT (random() * 9)::int",
            "ALTER TABLE t ALTER note TYPE bigint USING note + 0",
            f"ALTER TABLE t SET (fillfactor = {self.r.choice([40, 100])})"]
            + ["REPACK t", "REPACK (CONCURRENTLY) t"] * (self.db.server_version >= 190000)))

    def add_column(self):
        """Adds a column. Sometimes, a transaction has added one of another type before, and rolled
        back, so that rows of it are in the table."""
        self.may_write.clear()
        kind = None
        if self.r.random() < 0.5:
            kind = self.r.choice(["text", "bytea", "numeric", "jsonb"])
            name = f"c{self.made}"
            self.run("BEGIN")
            self.run(f"ALTER TABLE t ADD {name} {self.r.choice(['int', 'bigint'])}")
            # As the first bytes of a text, this number is a length of 512 MB.
            self.run(f"INSERT INTO t (pad, {name}) SELECT 'p', 2147483644"
                     " FROM generate_series(1, 20)")
            self.run("ROLLBACK")
        column = self.new_column(kind)
        if self.run(f"ALTER TABLE t ADD {column.name} {column.kind}" + self.r.choice(
                ["", "", f" DEFAULT {column.values[0]}"
                 if "SELECT" not in column.values[0] else ""])):
            self.columns = self.columns + [column]
            self.run(f"CREATE INDEX b_{column.name} ON t USING bloompages ({column.name})"
                     " WITH (pages_per_range = 2)")
        self.may_write.set()

    def drop_column(self):
        if len(self.columns) > 1:
            column = self.r.choice(self.columns)
            self.columns = [other for other in self.columns if other is not column]
            self.run(f"ALTER TABLE t DROP {column.name}")
            if not self.indexes():
                self.new_index()

    def retype(self):
        """A change of the type that neither rewrites the table nor builds the index again."""
        for column in self.columns:
            if column.kind in ("text", "character varying"):
                kind = "text" if column.kind != "text" else "character varying"
                if self.run(f"ALTER TABLE t ALTER {column.name} TYPE {kind}"):
                    column.kind = kind

    def kill(self):
        """Ends or cancels a statement, or crashes the server, while the statement runs."""
        victim = self.s.connect()
        pid = victim.get_backend_pid()
        sql = self.r.choice([
            "VACUUM t", f"SELECT bf_index_tidy('{self.r.choice(self.indexes())}')",
            self.insertion(self.r, 500), f"REINDEX INDEX {self.r.choice(self.indexes())}",
            f"REINDEX INDEX CONCURRENTLY {self.r.choice(self.indexes())}",
            f"CREATE INDEX CONCURRENTLY ON t USING bloompages ({self.columns[0].name})"])

        def go():
            with contextlib.suppress(psycopg2.Error):
                victim.cursor().execute(sql)
        thread = threading.Thread(target=go)
        thread.start()
        time.sleep(self.r.random() ** 3 * 0.3)
        how = self.r.choice(["cancel", "terminate", "kill -9", "stop"])
        self.say("main", f"{how} {sql}")
        self.s.counts["kills"] += 1
        if how == "kill -9":
            self.crash(pid)
        elif how == "stop":
            self.crash()
        else:
            self.run(f"SELECT pg_{how}_backend({pid})")
        thread.join()
        victim.close()
        for name, in self.rows("SELECT indexrelid::regclass::text FROM pg_index"
                               " WHERE indrelid = 't'::regclass AND NOT indisvalid"):
            self.run(f"DROP INDEX {name}")

    def crash(self, pid=None):
        """Kills a backend, so that the server restarts all others; or stops and starts it."""
        self.say("main", "the server crashes")
        self.s.counts["crashes"] += 1
        self.forget_reader()
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            self.wait_until_lost()
        else:
            self.servers.stop(self.servers.primary)
            if not self.servers.start(self.servers.primary):
                self.wrong(f"no recovery: {self.servers.log(self.servers.primary)}", "SELECT")
        self.reopen()

    def wait_until_lost(self):
        """Waits until this session notices the crash. If the process had ended before it could be
        killed, there is none."""
        with contextlib.suppress(psycopg2.Error):
            for _ in range(100):
                self.db.cursor().execute("SELECT")
                time.sleep(0.01)
        self.db.close()

    GENTLE = ["insert"] * 3 + ["copy", "changes", "changes", "transactions", "vacuum", "vacuum",
                               "tidy", "tidy", "options"]
    # These need the table for themselves, or wait for older snapshots.
    ALONE = ["truncated", "truncated", "truncate", "reindex", "reindex", "index", "index",
             "rewrite", "add_column", "drop_column", "retype", "kill", "kill", "prepared"]

    def step(self):
        alone = not self.reader and self.r.random() < 0.5
        name = self.r.choice(self.ALONE if alone else self.GENTLE)
        if alone and not self.s.counts["kills"]:
            name = "kill"
        if self.rows("SELECT count(*) FROM t")[0][0] > MOST_ROWS:
            self.run(f"DELETE FROM t WHERE id % {self.r.choice([2, 3, 5])} > 0")
        self.top = self.rows("SELECT coalesce(max(id), 1) FROM t")[0][0]
        if not self.indexes():
            self.new_index()
        self.say("main", f"step: {name}")
        self.s.counts["steps"] += 1
        getattr(self, name)()

    # --- what must hold --------------------------------------------------------------------------

    def check(self):
        for index in self.indexes():
            try:
                self.db.cursor().execute(f"SELECT bf_index_check('{index}')")
                self.s.counts["checks"] += 1
            except psycopg2.Error as error:
                self.wrong(f"{index}: {error}", f"SELECT bf_index_check('{index}')")

    def ask_all(self):
        if self.reader:
            if self.r.random() < 0.4:
                self.ask(self.reader, "an old snapshot")
                self.forget_reader()
        elif self.r.random() < 0.4:
            self.reader = self.snapshot(self.s.connect())
        db = self.snapshot(self.s.connect())
        self.ask(db, "a new snapshot")
        db.close()
        is_first = not self.s.counts["standby"]  # a slow machine may make few steps
        if (is_first or self.r.random() < 0.25) and not self.is_unlogged:
            self.ask_standby()

    def snapshot(self, db):
        """Begins a transaction and takes its snapshot."""
        levels = ["REPEATABLE READ"] + ["SERIALIZABLE"] * (db.info.port == 5432)
        db.cursor().execute(f"BEGIN ISOLATION LEVEL {self.r.choice(levels)}")
        db.cursor().execute("SELECT pg_current_snapshot()")
        return db

    def forget_reader(self):
        if self.reader:
            self.reader.close()
        self.reader = None

    def ask_standby(self):
        position = self.rows("SELECT pg_current_wal_flush_lsn()")[0][0]
        try:
            db = psycopg2.connect(dbname=self.s.database, port=STANDBY_PORT)
            db.autocommit = True
            cursor, end = db.cursor(), time.monotonic() + 60
            cursor.execute(f"SELECT pg_last_wal_replay_lsn() >= '{position}'")
            while not cursor.fetchone()[0]:
                if time.monotonic() > end:
                    raise psycopg2.OperationalError("the standby does not follow")
                time.sleep(0.02)
                cursor.execute(f"SELECT pg_last_wal_replay_lsn() >= '{position}'")
        except psycopg2.OperationalError as error:
            self.wrong(f"standby: {error}{self.servers.log(self.servers.standby)}", "SELECT")
            return
        self.ask(self.snapshot(db), "a standby")
        self.s.counts["standby"] += 1
        db.close()

    def ask(self, db, where):
        end = time.monotonic() + 10  # the writers go on meanwhile, so that the table grows
        for _ in range(25):
            if time.monotonic() > end:
                return
            query, settings, must = self.question()
            prepared = self.r.choice(["generic", "custom"])
            answers = {plan: self.answer(db, PLANS[plan] + settings, query, prepared)
                       for plan in PLANS}
            self.s.counts["questions"] += 1
            (found, used), (wanted, _) = answers["bitmap"], answers["scan"]
            if "40001" in (found, wanted):  # a serialization failure, or a conflict with recovery
                return
            self.s.counts["hits"] += isinstance(wanted, list) and len(wanted) > 0
            self.s.counts["through the index"] += used
            if found != wanted:
                missing = [row for row in wanted if row not in found] \
                    if isinstance(found, list) and isinstance(wanted, list) else found
                self.wrong(f"{where}: the index gives {str(found)[:200]}, the scan"
                           f" {str(wanted)[:200]}; missing: {str(missing)[:200]}", sql_of(query))
                return
            if must and isinstance(found, list) and not used:
                self.wrong(f"{where}: the index is not used", sql_of(query))

    def answer(self, db, settings, query, prepared):
        """The rows or the SQLSTATE, and whether an index was used."""
        cursor, used = db.cursor(), False
        try:
            cursor.execute("SAVEPOINT s")
            for setting in settings + [f"plan_cache_mode = force_{prepared}_plan"]:
                cursor.execute(f"SET LOCAL {setting}")
            prepare, execute = sql_of(query).split("\n")
            cursor.execute(prepare)
            cursor.execute(f"EXPLAIN {execute}")
            used = re.search(r"Bitmap Index Scan on \"?(b\d|b_c|t_c)", str(cursor.fetchall()))
            cursor.execute(execute)
            return sorted(cursor.fetchall(), key=str), bool(used)
        except psycopg2.Error as error:
            if error.pgcode is None or error.pgcode.startswith("XX"):
                self.wrong(f"{error}", sql_of(query))
            return error.pgcode, bool(used)
        finally:
            if not db.closed:
                with contextlib.suppress(psycopg2.Error):
                    cursor.execute("ROLLBACK TO s; DEALLOCATE ALL")

    # --- questions -------------------------------------------------------------------------------

    def value(self, column):
        """An expression of the column's type that raises no error, or nearly never."""
        if self.r.random() < 0.7:
            return self.r.choice(column.values)
        return column.some(self.r.randint(0, 9999))

    def text(self, column, expression):
        """The text of an expression for a value of the column's pool."""
        try:
            rows = self.rows(f"SELECT ({expression})::text FROM pool_{column.name}"
                             f" WHERE v IS NOT NULL ORDER BY"
                             f" n = {self.r.randrange(column.size)} DESC LIMIT 1")
            return rows[0][0] if rows else None
        except psycopg2.errors.DataError:
            return None

    def condition(self, column):
        """A condition on the column, and whether an index on the column must serve it."""
        r, name, value = self.r, column.name, self.value(column)
        if column.kind in keys.POOLS and r.random() < 0.7:
            self.s.counts["keys"] += 1
            return keys.condition(column.kind, name, " ".join(self.definitions()), r,
                                  lambda v: self.text(column, v)), False
        kind = r.random()
        if kind < 0.45:
            # The planner makes `b` of `b = true`, which only btree and hash indexes serve.
            return f"{name} = {value}", "NULL" not in value and column.kind not in (
                "boolean", "tsvector")
        if kind < 0.6:
            values = [self.value(column) for _ in range(r.randint(1, 4))]
            return (f"{name} = ANY (ARRAY[{', '.join(values + ['NULL'])}]::"
                    f"{array_of(column.kind)})", False)
        if kind < 0.7:
            return f"{name} IN ({value}, {self.value(column)})", False
        if kind < 0.85 and self.kinds[column.kind]:
            other = r.choice(self.kinds[column.kind])
            with contextlib.suppress(psycopg2.Error):
                expression = f"'{text_of(other, r)}'::{other}"
                # Raises an error if the collations are in conflict, too.
                self.db.cursor().execute(f"SELECT v = {expression} FROM pool_{name}")
                return f"{name} = {expression}", False
        if kind < 0.9:
            return f"{name} IS NULL", False
        if kind < 0.95:
            return f"NOT {name} = {value}", False
        return f"{value} = {name}", False

    def question(self):
        """A query, its settings, and whether an index must be used."""
        r, column = self.r, self.r.choice(self.columns)
        condition, must = self.condition(column)
        must = must and any(re.search(rf"(\(|, ){column.name}( \w+)?[,)]", index)
                            and " WHERE " not in index for index in self.definitions())
        settings = PARALLEL * (r.random() < 0.2)
        kind = r.random()
        if kind < 0.4:
            return ("", f"SELECT id, ctid FROM t WHERE {condition}", ""), settings, must
        if kind < 0.55:
            other, _ = self.condition(r.choice(self.columns))
            return ("", f"SELECT id, ctid FROM t WHERE {condition} {r.choice(['AND', 'OR'])}"
                    f" {other}", ""), settings, False
        if kind < 0.7:
            return ("", f"SELECT id, ctid FROM t WHERE {condition} {r.choice(['AND', 'OR'])}"
                    f" {self.between(r, r.choice([0, 100, 3000]))}", ""), settings, False
        if kind < 0.85:
            return (f"({column.kind})", f"SELECT id, ctid FROM t WHERE {column.name} = $1",
                    f"({self.scalar(column)})"), settings, False
        return ("", f"SELECT k.n, t.id, t.ctid FROM (SELECT * FROM pool_{column.name}"
                f" WHERE n % {r.choice([7, 50])} = 3 ORDER BY n LIMIT 30) k"
                f" {r.choice(['JOIN', 'LEFT JOIN'])} t ON t.{column.name} = k.v", ""), \
            settings + NESTED, False

    def scalar(self, column):
        """A value without a subquery, which EXECUTE refuses."""
        return self.r.choice([value for value in column.values if "SELECT" not in value]
                             or ["NULL"])

    def definitions(self):
        """The indexes, without the columns that functions have as arguments."""
        call = r"\w+\([^()]*(\([^()]*\)[^()]*)*\)"
        return [re.sub(call, "call", definition.split(" USING ")[1]) for definition, in self.rows(
            "SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class c ON c.oid = indexrelid"
            " JOIN pg_am a ON a.oid = relam WHERE indrelid = 't'::regclass AND indisvalid"
            " AND amname = 'bloompages'")]

    # --- sessions that write ---------------------------------------------------------------------

    def write(self, number):
        """Writes until the world is over."""
        r = random.Random(f"{self.s.seed} {self.s.counts['worlds']} {number}")
        db = None
        while not self.is_over:
            self.may_write.wait()
            try:
                if not db or db.closed:
                    db = psycopg2.connect(dbname=self.s.database)
                    db.autocommit = True
                    db.cursor().execute("SET client_min_messages = error; SET lock_timeout = '9s'")
                for sql in self.crowd(r):
                    self.say(f"writer {number}", sql)
                    db.cursor().execute(sql)
            except psycopg2.Error as error:
                # bf_index_tidy() may have waited for the table while the index was dropped.
                if error.pgcode and not EXPECTED.match(error.pgcode) \
                        and "could not open relation with OID" not in str(error):
                    self.wrong(f"writer {number}: {error.pgcode} {error}", "SELECT")
                time.sleep(0.01)
                if db and not db.closed:
                    with contextlib.suppress(psycopg2.Error):
                        db.cursor().execute("ROLLBACK")
            time.sleep(r.random() * 0.02)
        if db:
            db.close()

    def play(self):
        self.may_write.set()
        self.writers = [threading.Thread(target=self.write, args=(number,))
                        for number in range(self.r.choice([0, 1, 2, 3]))]
        for writer in self.writers:
            writer.start()
        try:
            for _ in range(STEPS):
                if not self.s.goes_on():
                    return
                self.step()
                self.check()
                self.ask_all()
        except psycopg2.Error as error:
            self.wrong(f"{error.pgcode} {error}{self.servers.log(self.servers.primary)}", "SELECT")
        finally:
            self.is_over = True
            self.may_write.set()
            for writer in self.writers:
                writer.join()
            self.forget_reader()
            self.db.close()


def sql_of(query):
    """The statements for a query: the types of its parameters, its text, and its arguments."""
    parameters, text, arguments = query
    return f"PREPARE q{parameters} AS {text};\nEXECUTE q{arguments}"


def array_of(kind):
    return kind if kind.endswith("[]") else f"{kind}[]"


def indexable(db):
    """The types that can be indexed, each with the types of the other operands of its `=`."""
    cursor = db.cursor()
    cursor.execute("SELECT format_type(opcintype, NULL) FROM pg_opclass JOIN pg_am a"
                   " ON a.oid = opcmethod WHERE amname = 'bloompages'")
    candidates = sorted({kind for kind, in cursor.fetchall()} | set(GENERATORS))
    kinds = {}
    for kind in candidates:
        with contextlib.suppress(psycopg2.Error):
            cursor.execute(f"CREATE TEMP TABLE tried (c {kind})")
            with contextlib.suppress(psycopg2.Error):
                cursor.execute("CREATE INDEX ON tried USING bloompages (c)")
                cursor.execute(
                    "SELECT DISTINCT format_type(amoprighttype, NULL) FROM pg_amop JOIN pg_am a"
                    " ON a.oid = amopmethod JOIN pg_operator o ON o.oid = amopopr AND oprname = '='"
                    " WHERE amname = 'bloompages' AND amoplefttype ="
                    " (SELECT opcintype FROM pg_index JOIN pg_opclass o ON o.oid = indclass[0]"
                    " WHERE indrelid = 'tried'::regclass)")
                kinds[kind] = [other for other, in cursor.fetchall() if other in GENERATORS]
            cursor.execute("DROP TABLE tried")
    return kinds


def search(s):
    s.create_database()
    db = s.connect()
    db.cursor().execute(OWN_TYPES)
    db.cursor().execute(SLOW)
    kinds = indexable(db)
    print(f"# {len(kinds)} types: {', '.join(kinds)}", flush=True)
    db.close()
    while s.goes_on():
        World(s, Servers.current, kinds).play()
        s.counts["worlds"] += 1


if __name__ == "__main__":
    run("bloompages", search, "questions", "hits", "through the index", "keys", "kills", "standby",
        within=Servers)
