"""Random histories of concurrent transactions that change stored filters and probe them.

One process schedules the statements of a few sessions. The next statement begins when the last one
is done or waits for a lock. So a seed repeats a history, unless two sessions wait for the same row:
the server serves them in any order. The server says which session waits for which. If sessions wait
for each other, one of them is cancelled.

A model knows which values each filter has in each snapshot. A session must find all of these
values. It may find another value only if a new filter of the same values finds it, too. The stored
bytes must be those of the new filter, unless a counter is saturated. (The bytes of a cuckoofilter
depend on the order of changes; instead, its copies are counted.) If a statement waited and the
model cannot know the statement's snapshot, its answer is ignored, and its changes are rolled back.

A function of test/t/next_oid.c sets the server's counter of OIDs back, so that ids of TOAST values
are used again all the time.
"""

import collections
import os
import pathlib
import random
import select
import subprocess
import tempfile
import time

import psycopg2
import psycopg2.errors
import psycopg2.extensions

from search import run

VALUES = 60  # filters hold some of the values 0 to 59
STEPS = 150  # of a history
SESSIONS = [1, 1, 2, 3, 4]
SHARDS = 3
FIRST_ID = 1_000_000  # the counter of OIDs is set back to this if no id was freed
CANCELLED = "57014"
DEADLOCK = "40P01"  # a deadlock of two sessions that the server notices at once
UNSERIALIZABLE = "40001"

COLUMNS = {"sets": ["b", "c", "f"], "seen": ["b"]}
EMPTY = {"sets": ((), (), ()), "seen": ((),)}
PREFIX = {"b": "bf", "c": "cbf", "f": "cf"}

# {size} stands for the arguments that size a filter.
SCHEMA = """
CREATE SCHEMA h;
SET search_path = h, public;
CREATE TABLE sets (k int PRIMARY KEY, b bloomfilter, c countingbloomfilter, f cuckoofilter, pad int)
  WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off, fillfactor = {fillfactor});
CREATE TABLE seen (k int PRIMARY KEY, b bloomfilter NOT NULL)
  WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off, fillfactor = {fillfactor});
ALTER TABLE sets ALTER b SET STORAGE {storage}, ALTER c SET STORAGE {storage},
  ALTER f SET STORAGE {storage};
ALTER TABLE seen ALTER b SET STORAGE {storage};
CREATE TABLE numbers AS SELECT generate_series(0, {last}) AS m;
CREATE TABLE pages (url int);
CREATE FUNCTION pages_seen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO seen AS s
  SELECT bf_shard(url, {shards}), bf_agg(url, {size}) FROM added GROUP BY 1 ORDER BY 1
  ON CONFLICT (k) DO UPDATE SET b = s.b | excluded.b WHERE s.b <> (s.b | excluded.b);
  RETURN NULL;
END $$;
CREATE TRIGGER pages_seen AFTER INSERT ON pages REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION pages_seen();
CREATE FUNCTION found(row_ int) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE filter bloomfilter; found int[] := '{{}}';
BEGIN
  SELECT b INTO filter FROM sets WHERE k = row_;
  FOR m IN 0 .. {last} LOOP IF filter @> m THEN found := found || m; END IF; END LOOP;
  RETURN found;
END $$;
CREATE FUNCTION found_around(row_ int, added int) RETURNS SETOF int[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN NEXT found(row_);
  UPDATE sets SET b = b + added WHERE k = row_;
  RETURN NEXT found(row_);
  BEGIN
    UPDATE sets SET b = bf_clear(b) + added WHERE k = row_;
    PERFORM found(row_);
    RAISE division_by_zero;
  EXCEPTION WHEN division_by_zero THEN NULL;
  END;
  RETURN NEXT found(row_);
END $$;
"""

# Each change of a filter adds an entry to these indexes, so that entries are soon moved into
# groups.
INDEXES = """
CREATE INDEX sets_b ON sets USING bloomfilter (b) WITH (list_limit = 16);
CREATE INDEX sets_c ON sets USING bloomfilter (c) WITH (list_limit = 16);
"""

PREPARED = """
SET search_path = h, public;
SET enable_seqscan = {seqscan};
SET deadlock_timeout = '1h';
SET client_min_messages = error;
SET plan_cache_mode = {plans};
PREPARE add_b (int, int) AS UPDATE sets SET b = b + $2 WHERE k = $1;
PREPARE add_c (int, int) AS UPDATE sets SET c = c + $2 WHERE k = $1;
PREPARE add_f (int, int) AS UPDATE sets SET f = f + $2 WHERE k = $1;
PREPARE ask_b (int, int) AS SELECT b @> $2 FROM sets WHERE k = $1;
PREPARE ask_c (int, int) AS SELECT c @> $2 FROM sets WHERE k = $1;
PREPARE ask_f (int, int) AS SELECT f @> $2 FROM sets WHERE k = $1;
PREPARE add_url (int) AS
  INSERT INTO seen AS s VALUES (bf_shard($1, {shards}), bf_create({size}) + $1)
  ON CONFLICT (k) DO UPDATE SET b = s.b + $1 WHERE NOT s.b @> $1;
PREPARE add_to_shard (int) AS
  UPDATE seen SET b = b + $1 WHERE k = bf_shard($1, {shards}) AND NOT b @> $1;
"""

EACH_FOUND = f"ARRAY(SELECT m FROM generate_series(0, {VALUES - 1}) m WHERE {{0}} @> m)"
ALL_FOUND = "array_agg(m ORDER BY m) FILTER (WHERE {0} @> m)"
READS = {
    "sets": [
        f"SELECT k, {', '.join(map(EACH_FOUND.format, 'bcf'))}, md5(b::bytea), md5(c::bytea),"
        " cf_count(f), (SELECT counters_saturated FROM cbf_info(c)) FROM sets",
        f"SELECT k, {', '.join(map(ALL_FOUND.format, 'bcf'))} FROM sets, numbers GROUP BY k"],
    "seen": [f"SELECT k, {EACH_FOUND.format('b')}, md5(b::bytea) FROM seen",
             f"SELECT k, {ALL_FOUND.format('b')} FROM seen, numbers GROUP BY k"],
}


class Statement:
    """An SQL statement, and the function that changes the model when the statement is done."""

    def __init__(self, sql, done=None, certain=True):
        self.sql = sql
        self.done = done or (lambda outcome: None)
        self.certain = certain  # True if its effect is known even if it waited


Outcome = collections.namedtuple("Outcome", "rows count waited")


class Cursor:
    """The rows still to be fetched, and the number of savepoints when the cursor was declared."""

    def __init__(self, rows, savepoints):
        self.rows, self.savepoints = rows, savepoints


class Transaction:
    """What a transaction sees, and what it has changed."""

    def __init__(self, level, only_asks):
        self.level, self.only_asks = level, only_asks
        self.snapshot = None  # set when taken; stays None in READ COMMITTED
        self.changed = {table: {} for table in COLUMNS}  # key -> value, or None if deleted
        self.emptied = set()  # tables that it truncated
        self.rewritten = set()  # tables that it rewrote: older snapshots see them empty
        self.savepoints = []
        self.is_aborted = self.is_doomed = False
        self.cursor = None

    def keep(self):
        return ({table: dict(rows) for table, rows in self.changed.items()}, set(self.emptied),
                set(self.rewritten))

    def restore(self, kept):
        self.changed, self.emptied, self.rewritten = kept

    def over(self, state):
        """A state of the tables, with the transaction's own changes."""
        seen = {}
        for table, rows in state.items():
            seen[table] = {} if table in self.emptied else dict(rows)
            for key, value in self.changed[table].items():
                seen[table].pop(key, None)
                if value is not None:
                    seen[table][key] = value
        return seen


class Session:
    """A connection, which executes one statement at a time."""

    def __init__(self, name, database):
        self.name = name
        self.db = psycopg2.connect(dbname=database, async_=1)
        self.wait()
        self.cursor = self.db.cursor()
        self.pid = self.db.get_backend_pid()
        self.transaction = None
        self.statement = None  # the statement that is being executed
        self.result = None  # the statement's outcome or error, once it is done
        self.waited = False  # True if the statement has waited for a lock

    def wait(self):
        while not self.poll():
            self.ready(1)

    def ready(self, seconds):
        select.select([self.db], [], [], seconds)

    def poll(self):
        while (state := self.db.poll()) == psycopg2.extensions.POLL_WRITE:
            select.select([], [self.db], [])
        return state == psycopg2.extensions.POLL_OK

    def is_done(self):
        """Returns whether the statement is done. Then sets the result."""
        try:
            if self.poll():
                rows = self.cursor.fetchall() if self.cursor.description else []
                self.result = Outcome(rows, self.cursor.rowcount, self.waited)
        except psycopg2.Error as error:
            self.result = error
        return self.result is not None

    def do(self, sql):
        self.cursor.execute(sql)
        self.wait()
        return self.cursor.fetchall() if self.cursor.description else []


class History:
    """The sessions, the model of what is committed, and a transcript of all statements."""

    def __init__(self, s, number, control, comes_round):
        self.s, self.r, self.number = s, random.Random(f"{s.seed} {number}"), number
        self.control, self.comes_round = control, comes_round
        expected = self.r.choice([120, 2000, 2000, 6000])
        self.size = f"{expected}, {self.r.choice(['1e-6', '1e-5'])}"
        self.schema = SCHEMA.format(
            size=self.size, shards=SHARDS, last=VALUES - 1, fillfactor=self.r.choice([30, 100]),
            storage=self.r.choice(["external", "external", "extended", "main"]))
        self.schema += self.r.choice(["", INDEXES])
        self.prepared = PREPARED.format(
            size=self.size, shards=SHARDS, seqscan=self.r.choice(["on", "off"]),
            plans=self.r.choice(["auto", "force_generic_plan", "force_custom_plan"]))
        self.committed = {table: {} for table in COLUMNS}
        self.transcript = []
        self.findings = 0
        self.digests = {}
        self.execute(f"RESET lock_timeout; DROP SCHEMA IF EXISTS h CASCADE; {self.schema}"
                     f" {comes_round}; SET lock_timeout = '1ms'")
        self.shard_of = dict(self.execute(
            f"SELECT i, bf_shard(i, {SHARDS}) FROM generate_series(0, {VALUES - 1}) i"))
        self.sessions = [Session(name, s.database)
                         for name in "ABCD"[:self.r.choice(SESSIONS)]]
        for session in self.sessions:
            session.do(self.prepared)

    def execute(self, sql):
        self.control.execute(sql)
        return self.control.fetchall() if self.control.description else []

    def close(self):
        for session in self.sessions:
            self.execute(f"SELECT pg_terminate_backend({session.pid})")
            session.db.close()
        time.sleep(0.005)  # most end in this time; the call below looks again only every 0.1 s
        for session in self.sessions:
            self.execute(f"SELECT pg_terminate_backend({session.pid}, 60000)")

    def wrong(self, what):
        self.findings += 1
        self.s.finding(f"history {self.number}: {what}", "\n".join(
            [self.schema, f"-- each session: {self.prepared}", *self.transcript]))

    # --- the schedule ----------------------------------------------------------------------------

    def go(self):
        for _ in range(STEPS):
            if self.findings or not self.s.goes_on():
                return
            if self.comes_round and self.r.random() < 0.25:
                self.come_round()
            session = self.r.choice([one for one in self.sessions if not one.statement])
            self.start(session, self.choose(session))
            self.settle(session)

    def come_round(self):
        """Changes a filter twice, so that its TOAST value gets the id that an older value had.

        This fails if a lock is in the way, or if a session still sees the old value.
        """
        key = self.key()
        toast = self.execute("SELECT reltoastrelid::regclass FROM pg_class"
                             " WHERE oid = 'sets'::regclass")[0][0]
        known = self.ids(toast)
        self.add_committed(key)
        self.unless_locked(self.r.choice(["VACUUM (SKIP_LOCKED, TRUNCATE off) sets"]
                                         + [f"SELECT count(*) FROM {toast}"] * 3))  # prunes pages
        freed = known - self.ids(toast)
        self.unless_locked(f"SELECT set_next_oid({min(freed or {FIRST_ID})})")
        self.add_committed(key)

    def ids(self, toast):
        try:
            return {number for number, in self.execute(f"SELECT DISTINCT chunk_id FROM {toast}")}
        except psycopg2.errors.LockNotAvailable:
            return set()

    def add_committed(self, key):
        value = self.value()
        if self.unless_locked(f"UPDATE sets SET b = b + {value} WHERE k = {key}") == 1:
            sets = dict(self.committed["sets"])
            sets[key] = (with_value("b", sets[key][0], value), *sets[key][1:])
            self.committed = {**self.committed, "sets": sets}

    def unless_locked(self, sql):
        """Executes SQL, and returns the number of rows. Returns 0 if the SQL would have to wait."""
        self.transcript.append(f"-- {sql};")
        try:
            self.control.execute(sql)
            return self.control.rowcount
        except psycopg2.errors.LockNotAvailable:
            return 0

    def start(self, session, statement):
        self.s.counts["statements"] += 1
        self.transcript.append(f"{session.name}: {statement.sql};")
        session.statement, session.waited = statement, False
        session.cursor.execute(statement.sql)

    def settle(self, latest):
        """Waits until each statement is done, or waits for a session that executes no statement.

        The latest statement is finished first, because its end may have let others continue. The
        others are then finished in a fixed order. Statements that continue at the same time change
        different rows, so their order does not matter.
        """
        while True:
            doing = [one for one in self.sessions if one.statement and not one.result]
            first = [latest] if latest in doing and not latest.waited else doing
            if any([session.is_done() for session in first]):
                continue
            if doing:
                known = all(session.waited for session in first)
                select.select([session.db for session in first], [], [], 0.001 if known else 0.005)
                if any([session.is_done() for session in first]) or not self.all_wait(doing):
                    continue
            for session in [latest] + self.sessions:
                if session.result:
                    self.finish(session)
            return

    def finish(self, session):
        statement, result = session.statement, session.result
        session.statement = session.result = None
        if isinstance(result, psycopg2.Error):
            self.failed(session, statement, result)
            return
        if session.waited:
            self.transcript.append(f"-- {session.name} goes on")
            if not statement.certain and session.transaction:
                session.transaction.is_doomed = True
                return
        statement.done(result)

    def all_wait(self, doing):
        """Returns whether each session waits for a lock. If there is a deadlock, cancels a
        statement of it."""
        names = {session.pid: session for session in self.sessions}
        pids = ", ".join(str(session.pid) for session in doing)
        blockers = {pid: blocking for pid, blocking in self.execute(
            f"SELECT pid, pg_blocking_pids(pid) FROM unnest(ARRAY[{pids}]) pid")}
        for session in doing:
            if blockers[session.pid] and not session.waited:
                session.waited = True
                self.s.counts["waits"] += 1
                self.transcript.append(f"-- {session.name} waits")
        for session in doing:
            if not blockers[session.pid]:
                return False
            if self.reaches(session.pid, session.pid, blockers, set()):
                self.s.counts["deadlocks"] += 1
                self.transcript.append(f"-- {names[session.pid].name} is cancelled")
                self.execute(f"SELECT pg_cancel_backend({session.pid})")
                while not session.is_done():
                    session.ready(1)
                return False
        return True

    def reaches(self, pid, target, blockers, visited):
        for blocker in set(blockers.get(pid, [])) - visited:
            visited.add(blocker)
            if blocker == target or self.reaches(blocker, target, blockers, visited):
                return True
        return False

    def failed(self, session, statement, error):
        transaction = session.transaction
        self.transcript.append(f"-- {session.name}: {str(error).splitlines()[0]}")
        self.s.counts["errors"] += 1
        level = transaction.level if transaction else "READ COMMITTED"
        is_expected = error.pgcode == DEADLOCK or error.pgcode == CANCELLED and session.waited \
            or error.pgcode == UNSERIALIZABLE and level != "READ COMMITTED"
        if not is_expected:
            self.wrong(f"{statement.sql}: {error}")
        if transaction:
            transaction.is_aborted = True
        if statement.sql == "COMMIT":
            session.transaction = None

    # --- what to do ------------------------------------------------------------------------------

    def choose(self, session):
        transaction = session.transaction
        if not transaction:
            return self.r.choice([self.begin] * 8 + [self.read] + [self.maintain] * 2)(session)
        if transaction.is_doomed:
            return self.end(session, "ROLLBACK")
        if transaction.is_aborted:
            ways = [self.roll_back_to] * 2 * bool(transaction.savepoints) + [self.commit]
            return self.r.choice(ways)(session)
        chance = self.r.random()
        if chance < 0.12:
            return self.end(session, "ROLLBACK") if chance < 0.03 else self.commit(session)
        if chance < 0.24 and transaction.savepoints:
            return self.roll_back_to(session)
        if chance < 0.3:
            return self.savepoint(session)
        if chance < 0.34 and not transaction.cursor and not transaction.only_asks:
            choices = [self.truncate, self.cluster, self.alter]
            if transaction.level == "READ COMMITTED":
                choices.append(self.rewrite)  # else the model lacks what this session then sees
        else:
            choices = [self.read] * 5 + [self.ask] * 3 + [self.ask_numbers, self.ask_variable]
            choices += [self.ask_all] * 2
            choices += [self.fetch] * 4 if transaction.cursor else [self.declare]
            if not transaction.only_asks:
                choices += [self.add] * 5 + [self.upsert] * 4 + [self.remove] * 3
                choices += [self.add_url, self.add_to_shard, self.insert_pages, self.insert_pages]
                choices += [self.replace, self.copy, self.unite, self.change_and_ask, self.delete]
        has_snapshot = transaction.level == "READ COMMITTED" or transaction.snapshot
        statement = self.r.choice(choices)(session)
        self.view(session)
        statement.certain &= bool(has_snapshot)  # else its snapshot may be older than its lock
        return statement

    def key(self):
        return self.r.randrange(3)

    def value(self):
        return self.r.randrange(VALUES)

    # Transactions

    def begin(self, session):
        level = self.r.choice(["READ COMMITTED"] * 2 + ["REPEATABLE READ", "SERIALIZABLE"])

        only_asks = self.r.random() < 0.5

        def done(_):
            session.transaction = Transaction(level, only_asks)
        return Statement(f"BEGIN ISOLATION LEVEL {level}", done)

    def commit(self, session):
        return self.end(session, "COMMIT")

    def end(self, session, how):
        transaction = session.transaction

        def done(outcome):
            session.transaction = None
            if how == "COMMIT" and not transaction.is_aborted:
                self.make_visible(transaction)
        return Statement(how, done)

    def make_visible(self, transaction):
        self.committed = transaction.over(self.committed)
        for table in transaction.emptied | transaction.rewritten:
            for other in self.sessions:
                if other.transaction and other.transaction.snapshot:
                    other.transaction.snapshot[table] = {}

    def savepoint(self, session):
        def done(_):
            session.transaction.savepoints.append(session.transaction.keep())
        return Statement(f"SAVEPOINT s{len(session.transaction.savepoints)}", done)

    def roll_back_to(self, session):
        transaction = session.transaction
        to = self.r.randrange(len(transaction.savepoints))

        def done(_):
            del transaction.savepoints[to + 1:]
            transaction.restore(transaction.savepoints.pop())
            transaction.savepoints.append(transaction.keep())
            transaction.is_aborted = False
            if transaction.cursor and transaction.cursor.savepoints > to:
                transaction.cursor = None
        return Statement(f"ROLLBACK TO s{to}", done)

    # What a session sees

    def view(self, session):
        """The state of the tables that the session's next statement sees."""
        transaction = session.transaction
        if not transaction:
            return self.committed
        if transaction.level == "READ COMMITTED":
            return transaction.over(self.committed)
        if transaction.snapshot is None:
            transaction.snapshot = {table: dict(rows) for table, rows in self.committed.items()}
        return transaction.over(transaction.snapshot)

    def put(self, session, table, key, value):
        session.transaction.changed[table][key] = value

    def written(self, session, table, key, outcome, change):
        """Changes the model's row if a statement has changed the row. Checks that it has, if the
        row is there."""
        value = self.view(session)[table].get(key)
        if outcome.count == 1 and value is not None:
            self.put(session, table, key, change(value))
        elif outcome.count == 1 or value is not None and not outcome.waited:
            self.wrong(f"{session.name} has changed {outcome.count} rows, of {value}")

    # --- probes ----------------------------------------------------------------------------------

    def read(self, session):
        table = self.r.choice(["sets", "sets", "seen"])

        def done(outcome):
            if self.is_known(session, outcome):
                self.check_table(session, table, outcome.rows)
        return Statement(self.r.choice(READS[table]), done)

    def is_known(self, session, outcome):
        """Returns whether the model knows what the statement saw."""
        return not outcome.waited or session.transaction and session.transaction.snapshot

    def check_table(self, session, table, rows):
        view = self.view(session)[table]
        if sorted(row[0] for row in rows) != sorted(view):
            self.wrong(f"{session.name} sees rows {[row[0] for row in rows]} of {table},"
                       f" not {sorted(view)}")
        for row in rows:
            if row[0] in view:
                self.check_row(session, table, view[row[0]], row)

    def check_row(self, session, table, value, row):
        """Checks the values found in each column of a row. Checks digests and counts if the row has
        them."""
        columns = COLUMNS[table]
        found, bytes_ = row[1:len(columns) + 1], row[len(columns) + 1:]
        saturated = table == "sets" and (bytes_[3] if bytes_ else True)
        for column, members, some in zip(columns, value, found):
            self.check_found(session, column, members, some or [], saturated)
        for column, members, digest in zip(columns, value, bytes_):
            right = len(members) if column == "f" else self.made(column, members, "md5({}::bytea)")
            if digest != right and not (column == "c" and saturated):
                self.wrong(f"{session.name} sees {column} of key {row[0]} with bytes {digest},"
                           f" not {right}, those of {members}")

    def check_found(self, session, column, members, found, saturated=True):
        self.s.counts["asked"] += VALUES
        missing = set(members) - set(found)
        more = [] if column == "c" and saturated else sorted(set(found) - set(members))
        more = [value for value in more if not self.made(column, members, f"{{}} @> {value}")]
        if missing or more:
            self.wrong(f"{session.name} asks {column}: {sorted(missing)} of {members} are missing,"
                       f" {more} too many")

    def made(self, column, members, what):
        """The value of an expression, with a new filter of the members."""
        prefix = PREFIX[column]
        filter_ = f"{prefix}_add_all({prefix}_create({self.size}), ARRAY{list(members)}::int[])"
        if (filter_, what) not in self.digests:
            self.digests[filter_, what] = self.execute(f"SELECT {what.format(filter_)}")[0][0]
        return self.digests[filter_, what]

    def ask(self, session):
        key, column, value = self.key(), self.r.choice("bcf"), self.value()

        def done(outcome):
            row = self.view(session)["sets"].get(key)
            if not self.is_known(session, outcome) or row is None and not outcome.rows:
                return
            if row is None or not outcome.rows:
                self.wrong(f"{session.name} asks key {key} for {value}: {outcome.rows}")
                return
            members = row["bcf".index(column)]
            answer = outcome.rows[0][0]
            if value in members and not answer:
                self.wrong(f"{session.name} asks {column} of key {key} for {value} of {members}")
            elif value not in members and answer:
                self.check_found(session, column, members, (*members, value))
        return Statement(f"EXECUTE ask_{column} ({key}, {value})", done)

    def ask_all(self, session):
        """Probes all filters of a column for a value, through the column's index if it has one."""
        column, value = self.r.choice("bc"), self.value()

        def done(outcome):
            if not self.is_known(session, outcome):
                return
            rows, found = self.view(session)["sets"], {key for key, in outcome.rows}
            for key, row in rows.items():
                members = row["bcf".index(column)]
                if value in members and key not in found:
                    self.wrong(f"{session.name} asks all {column} for {value}: no key {key}")
                elif value not in members and key in found:
                    self.check_found(session, column, members, (*members, value))
            if found - set(rows):
                self.wrong(f"{session.name} asks all {column} for {value}: {found - set(rows)}")
        return Statement(f"SELECT k FROM sets WHERE {column} @> {value}", done)

    def ask_numbers(self, session):
        """Probes one filter for many values."""
        column = self.r.choice("bcf")
        return self.ask_one(session, column, "SELECT array_agg(m) FROM numbers"
                            f" WHERE (SELECT {column} FROM sets WHERE k = {{}}) @> m")

    def ask_variable(self, session):
        return self.ask_one(session, "b", "SELECT found({})")

    def ask_one(self, session, column, sql):
        key = self.key()

        def done(outcome):
            if self.is_known(session, outcome):
                row = self.view(session)["sets"].get(key)
                members = row["bcf".index(column)] if row else ()
                self.check_found(session, column, members, outcome.rows[0][0] or [])
        return Statement(sql.format(key), done)

    def declare(self, session):
        def done(_):
            rows = dict(self.view(session)["sets"])
            session.transaction.cursor = Cursor(rows, len(session.transaction.savepoints))
        return Statement(f"DECLARE c CURSOR FOR {READS['sets'][0]}", done, certain=False)

    def fetch(self, session):
        cursor = session.transaction.cursor

        def done(outcome):
            for row in outcome.rows:
                if row[0] not in cursor.rows:
                    self.wrong(f"{session.name} fetches a row of key {row[0]}")
                    continue
                self.check_row(session, "sets", cursor.rows.pop(row[0]), row)
            if not outcome.rows and cursor.rows:
                self.wrong(f"{session.name} has not fetched {cursor.rows}")
        return Statement("FETCH 1 c", done)

    # --- changes ---------------------------------------------------------------------------------

    def add(self, session):
        key, column, value = self.key(), self.r.choice("bcf"), self.addable(session)
        prefix, i = PREFIX[column], "bcf".index(column)
        sql = self.r.choice([
            f"EXECUTE add_{column} ({key}, {value})",
            f"UPDATE sets SET {column} = {prefix}_add({column}, {value}) WHERE k = {key}",
            f"UPDATE sets SET {column} = {prefix}_add_all({column}, ARRAY[{value}])"
            f" WHERE k = {key}"])

        def change(row):
            return (*row[:i], with_value(column, row[i], value), *row[i + 1:])
        return Statement(sql, lambda outcome: self.written(session, "sets", key, outcome, change))

    def addable(self, session):
        """A value that no filter has three times, because a filter takes only a few copies of
        it."""
        seen = collections.Counter()
        for _, counted, copied in self.view(session)["sets"].values():
            seen |= collections.Counter(counted) | collections.Counter(copied)
        return self.r.choice([value for value in range(VALUES) if seen[value] < 3] or [0])

    def upsert(self, session):
        key, value = self.key(), self.addable(session)
        made = ", ".join(f"{prefix}_create({self.size}) + {value}" for prefix in PREFIX.values())
        update = self.r.choice([
            f"b = s.b + {value}, c = s.c + {value}, f = s.f + {value}",
            "b = s.b | excluded.b, c = cbf_union(s.c, excluded.c), f = cf_union(s.f, excluded.f)"])

        def done(_):
            row = self.view(session)["sets"].get(key, EMPTY["sets"])
            self.put(session, "sets", key, tuple(
                with_value(column, members, value) for column, members in zip("bcf", row)))
        return Statement(f"INSERT INTO sets AS s VALUES ({key}, {made})"
                         f" ON CONFLICT (k) DO UPDATE SET {update}", done)

    def remove(self, session):
        key, column = self.key(), self.r.choice("cf")
        i = "bcf".index(column)
        members = self.view(session)["sets"].get(key, EMPTY["sets"])[i]
        value = self.r.choice(members or [0])
        prefix = PREFIX[column]

        def change(row):
            left = list(row[i])
            if value in left:
                left.remove(value)
            return (*row[:i], tuple(left), *row[i + 1:])
        return Statement(
            f"UPDATE sets SET {column} = {prefix}_remove({column}, {value}, true) WHERE k = {key}",
            lambda outcome: self.written(session, "sets", key, outcome, change))

    def replace(self, session):
        key, values = self.key(), tuple(sorted(self.r.sample(range(VALUES), 5)))
        made = ", ".join(f"{prefix}_agg(m, {self.size})" for prefix in PREFIX.values())
        return Statement(
            f"UPDATE sets SET (b, c, f) = (SELECT {made} FROM unnest(ARRAY{list(values)}) m)"
            f" WHERE k = {key}",
            lambda outcome: self.written(session, "sets", key, outcome, lambda _: (values,) * 3))

    def copy(self, session):
        key, other = self.key(), self.key()
        return self.with_other(
            session, key, other, f"UPDATE sets a SET b = o.b, c = o.c, f = o.f FROM sets o"
            f" WHERE a.k = {key} AND o.k = {other}", lambda _, from_: from_)

    def unite(self, session):
        key, other = self.key(), self.key()

        def change(row, with_):
            return (tuple(sorted({*row[0], *with_[0]})), *row[1:])
        return self.with_other(session, key, other, "UPDATE sets a SET b = a.b | o.b FROM sets o"
                               f" WHERE a.k = {key} AND o.k = {other}", change)

    def with_other(self, session, key, other, sql, change):
        def done(outcome):
            rows = self.view(session)["sets"]
            if other in rows:
                self.written(session, "sets", key, outcome, lambda row: change(row, rows[other]))
            elif outcome.count:
                self.wrong(f"{session.name} has changed {outcome.count} rows by an unseen one")
        return Statement(sql, done, certain=False)

    def change_and_ask(self, session):
        """Changes and probes in one statement: each inner statement sees the changes of earlier
        ones."""
        key, value = self.key(), self.value()

        def done(outcome):
            row = self.view(session)["sets"].get(key)
            if row:
                self.put(session, "sets", key, (with_value("b", row[0], value), *row[1:]))
            after = with_value("b", row[0], value) if row else ()
            for members, found in zip((row[0] if row else (), after, after), outcome.rows):
                self.check_found(session, "b", members, found[0])
        return Statement(f"SELECT found_around({key}, {value})", done, certain=False)

    def delete(self, session):
        key = self.key()
        return Statement(
            f"DELETE FROM sets WHERE k = {key}",
            lambda outcome: self.written(session, "sets", key, outcome, lambda _: None))

    # Shards, as in doc/streaming.md

    def add_url(self, session):
        value = self.value()

        def done(outcome):
            self.streamed(session, value, outcome, True)
        return Statement(f"EXECUTE add_url ({value})", done)

    def add_to_shard(self, session):
        value = self.value()

        def done(outcome):
            self.streamed(session, value, outcome, False)
        return Statement(f"EXECUTE add_to_shard ({value})", done)

    def streamed(self, session, value, outcome, creates):
        """Checks that a value was rightly reported as new, and adds the value to the model."""
        key = self.shard_of[value]
        row = self.view(session)["seen"].get(key)
        members = row[0] if row else ()
        if outcome.count == 1:
            if value in members:
                self.wrong(f"{session.name} was told that {value} of {members} was new")
            self.put(session, "seen", key, (with_value("b", members, value),))
        elif row and not outcome.waited:
            self.check_found(session, "b", members, (*members, value))
        elif creates and not row:
            self.wrong(f"{session.name} has not added {value} to a shard that is not there")

    def insert_pages(self, session):
        values = self.r.sample(range(VALUES), self.r.randrange(1, 5))

        def done(_):
            for value in values:
                members = self.view(session)["seen"].get(self.shard_of[value], EMPTY["seen"])[0]
                self.put(session, "seen", self.shard_of[value], (with_value("b", members, value),))
        return Statement(f"INSERT INTO pages SELECT unnest(ARRAY{values})", done)

    # Tables

    def truncate(self, session):
        table = self.r.choice(["sets", "seen"])

        def done(_):
            session.transaction.changed[table] = {}
            session.transaction.emptied.add(table)
        return Statement(f"TRUNCATE {table}", done)

    def cluster(self, session):
        table = self.r.choice(["sets", "seen"])
        return Statement(f"CLUSTER {table} USING {table}_pkey")

    def alter(self, session):
        return Statement(f"ALTER TABLE sets ALTER {self.r.choice('bcf')} SET STORAGE "
                         + self.r.choice(["external", "extended", "main"]))

    def rewrite(self, session):
        return Statement("ALTER TABLE sets ALTER pad TYPE int USING pad + 0",
                         lambda _: session.transaction.rewritten.add("sets"))

    def maintain(self, session):
        """Maintains a table, outside of transactions."""
        table = self.r.choice(["sets", "seen"])
        # To truncate the table, VACUUM would wait five seconds for sessions that use it.
        is_alone = not any(one.transaction or one.statement for one in self.sessions)
        return Statement(self.r.choice([
            f"VACUUM {'' if is_alone else '(TRUNCATE off) '}{table}", f"VACUUM FULL {table}",
            f"CLUSTER {table} USING {table}_pkey", f"ANALYZE {table}"]))


def with_value(column, members, value):
    if column == "b" and value in members:
        return members
    return tuple(sorted((*members, value)))


def comes_round(directory):
    """SQL for a function that sets the counter of OIDs; empty if it cannot be compiled."""
    source = pathlib.Path(__file__).parent.parent / "t" / "next_oid.c"
    library = pathlib.Path(directory) / "next_oid"
    pg_config = os.environ.get("PG_CONFIG", "pg_config")
    try:
        cc, include = (
            subprocess.run([pg_config, option], capture_output=True, text=True, check=True).stdout
            for option in ("--cc", "--includedir-server"))
        subprocess.run([*cc.split(), "-shared", "-fPIC", f"-I{include.strip()}", "-o",
                        f"{library}.so", source], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"# the reuse of TOAST ids is skipped: {error}", flush=True)
        return ""
    return f"CREATE FUNCTION set_next_oid(oid) RETURNS void LANGUAGE C AS '{library}';"


def search(s):
    s.create_database()
    db = s.connect()
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)  # so that the server can read it
        function = comes_round(directory)
        while s.goes_on():
            history = History(s, s.counts["histories"], db.cursor(), function)
            history.go()
            history.close()
            s.counts["histories"] += 1
    db.close()


if __name__ == "__main__":
    run("histories", search, "histories", "asked")
