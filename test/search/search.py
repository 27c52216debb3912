"""What the searches share: options, a seed that repeats a run, a database, a report.

A search is a function that tries random cases until its time is over. It gets a Search, which has
the random numbers and says whether time is left:

    def search(s):
        db = s.connect()
        while s.goes_on():
            s.counts["rounds"] += 1
            if s.random.random() < 0.01:
                s.finding("what is wrong", "SELECT 'SQL that shows it'")

    if __name__ == "__main__":
        run("name", search, "rounds")

run() takes --seed=N and --seconds=N. It connects as libpq's environment says, and makes a database
for this run, with the extension in it. The first line printed is the seed, the last one sums up.
The exit status is 1 if there was a finding. If a count that run() names is still zero at the end,
that is a finding, too, because a search that tries nothing finds nothing. On a busy machine, a few
seconds may be too short for that. So a search goes on until each of these counts has begun, but for
at most PATIENCE seconds.

A search that kills its server needs one of its own: run() takes a context manager, `within`, which
starts the server and says in the environment where it is.
"""

import argparse
import collections
import contextlib
import os
import random
import re
import sys
import time
import traceback

import psycopg2
import psycopg2.extensions

ENOUGH = 10  # findings after which a search ends, because more tell nothing new
PATIENCE = 300  # seconds


class Search:
    """One run: `random`, `counts`, `connect()`, `goes_on()`, `finding()`."""

    def __init__(self, name, seed, seconds, counted):
        self.name = name
        self.seed = seed
        self.random = random.Random(f"{name} {seed}")
        self.counts = collections.Counter()
        self.counted = counted
        self.findings = 0
        self.database = f"search_{name}_{seed}"
        self._end = time.monotonic() + seconds

    def goes_on(self):
        late = time.monotonic() - self._end
        has_all = all(self.counts[what] for what in self.counted)
        return late < (0 if has_all else PATIENCE) and self.findings < ENOUGH

    def finding(self, what, sql):
        """Prints what is wrong, and SQL that shows the error in a database with the extension."""
        self.findings += 1
        print(f"\nfinding {self.findings}: {what}\n{sql.rstrip().rstrip(';')};", flush=True)

    def end(self):
        """Prints the last line and ends the process. May be called by any thread."""
        counted = "".join(f"{count} {what}, " for what, count in self.counts.items())
        print(f"{self.name}: {counted}{self.findings} findings", flush=True)
        os._exit(self.findings > 0)  # does not wait for other threads

    def connect(self, database=None):
        """Connects, in autocommit mode. Waits for a server that is restarting."""
        for attempt in range(61):
            try:
                db = psycopg2.connect(dbname=database or self.database)
                db.autocommit = True
                return db
            except psycopg2.OperationalError as error:
                if attempt == 60 or not re.search("starting up|recovery|closed", str(error)):
                    raise
                time.sleep(1)

    def create_database(self, options=""):
        self._administer(f"DROP DATABASE IF EXISTS {self.database} WITH (FORCE)",
                         f"CREATE DATABASE {self.database} {options}")
        with self.connect() as db, db.cursor() as cursor:
            cursor.execute("CREATE EXTENSION bloomfilter")
        db.close()

    def drop_database(self):
        self._administer(f"DROP DATABASE {self.database} WITH (FORCE)")

    def _administer(self, *commands):
        dsn = psycopg2.extensions.parse_dsn("")
        db = self.connect(dsn.get("dbname", "postgres"))
        with db.cursor() as cursor:
            for command in commands:
                cursor.execute(command)
        db.close()


def run(name, search, *counted, within=contextlib.nullcontext):
    parser = argparse.ArgumentParser(description=sys.modules[search.__module__].__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000),
                        help="repeats an earlier run that printed this seed")
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    print(f"{name}: --seed={options.seed}", flush=True)
    s = Search(name, options.seed, options.seconds, counted)
    with within():
        _run(s, search)
    s.end()


def _run(s, search):
    s.create_database()
    try:
        search(s)
    except psycopg2.Error:  # in the search's own statements
        s.findings += 1
        print(traceback.format_exc(), flush=True)
    for what in s.counted:
        if not s.findings and not s.counts[what]:
            s.finding(f"a search with no {what}", "SELECT")
    if not s.findings:
        s.drop_database()
