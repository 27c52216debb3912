#!/usr/bin/env python3
"""Breaks single lines of src/, one after the other, and looks for a test that fails.

    run.py reach --reach=FILE       finds the lines that each test reaches, with a coverage build
    run.py work ...                 runs one worker, in a tree of its own
    run.py report ...               prints what all workers found

Workers draw the same mutants in the same order. A worker claims a mutant by making a file in the
directory of claims. It appends the verdict to the results, where the next run finds it. A mutant
does not count if it does not compile or if no object file changes.

Only tests that reach the broken line run. The cheapest kinds of tests come first. Within a kind,
the first test is the one that killed the last mutant of the same file. The first test that fails
kills the mutant. A line without code of its own, such as a constant's, counts as reached by every
test that reaches its file.
"""

import argparse
import filecmp
import glob
import itertools
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time

from changes import Change, drawn
from tests import KINDS, Runner, Test, reach, run

MEMORY = 12 << 30  # limit of a process's address space, because of mutants that allocate endlessly
BATCH = 2  # seconds of unit tests for one process
LEAST = 95.0  # percent that must be killed
BUILD = "build/mutants"

# Instructions that only some processors have, as /proc/cpuinfo names them.
INSTRUCTIONS = {"src/core/kernel_avx2.cpp": "avx2", "src/core/kernel_avx512.cpp": "avx512bw"}


def can_run(file):
    with open("/proc/cpuinfo", encoding="ascii") as info:
        return file not in INSTRUCTIONS or re.search(rf"\b{INSTRUCTIONS[file]}\b", info.read())


class Draw:
    """The mutants of a seed, in the order in which they are drawn."""

    def __init__(self, seed):
        self.more = drawn(random.Random(seed))
        self.known = []

    def __iter__(self):
        for index in itertools.count():
            if index == len(self.known):
                self.known.append(next(self.more))
            yield self.known[index]


class Results:
    """A line of JSON for each mutant tried: [file, line, old, new, verdict, by, seconds]."""

    def __init__(self, file, also=None):
        self.file = file
        self.also = also

    def read(self):
        results = {}
        with open(self.file, encoding="utf-8") as lines:
            for line in lines:
                *change, verdict, by, seconds = json.loads(line)
                results[Change(*change)] = (verdict, by, seconds)
        return results

    def append(self, change, verdict, by, seconds):
        line = json.dumps([*change, verdict, by, round(seconds, 1)]) + "\n"
        with open(self.file, "a", encoding="utf-8") as lines:
            lines.write(line)
        if self.also:
            os.write(self.also, line.encode())


class Reach:
    """Knows which tests run a line."""

    def __init__(self, file):
        with open(file, encoding="utf-8") as map_:
            known = json.load(map_)
        self.tests = [(Test(kind, name), seconds) for kind, name, seconds, _ in known["tests"]]
        self.failing = {Test(kind, name) for kind, name, _, passes in known["tests"] if not passes}
        self.lines = known["lines"]

    def of(self, change):
        """[(test, seconds)...]: the tests that reach the changed statement. If no line of the
        statement has code: those that reach the file. If nothing is known of the file: all."""
        lines = self.lines.get(change.file, {})
        of_statement = [lines[str(number)] for number in statement(change) if str(number) in lines]
        reached = {index for tests in of_statement or lines.values() for index in tests}
        if not of_statement and not lines:
            return self.tests
        return [self.tests[index] for index in sorted(reached)]


def statement(change):
    """The line numbers of the changed statement."""
    with open(change.file, encoding="utf-8") as source:
        lines = source.read().split("\n")

    def ends(line):
        return not line.strip() or re.search(r"[;{}:]\s*(//.*)?$|^\s*(//|#)", line)

    first = last = change.line
    while first > 1 and not ends(lines[first - 2]):
        first -= 1
    while last < len(lines) and not ends(lines[last - 1]):
        last += 1
    return range(first, last + 1)


class Server:
    """The cluster at PGDATA, which a mutant may have damaged, and the libraries that it loads."""

    def __init__(self, runner):
        self.data = os.environ["PGDATA"]
        self.bindir = runner.bindir
        self.libraries = subprocess.check_output([runner.pg_config, "--pkglibdir"],
                                                 text=True).strip()
        self.stop("fast")
        shutil.copytree(self.data, self.data + ".new", symlinks=True)
        self.start()

    def control(self, *arguments):
        return run([os.path.join(self.bindir, "pg_ctl"), "-s", "-w", "-t", "20", "-D", self.data,
                    "-l", self.data + ".log", *arguments], 60)

    def start(self):
        self.control("start")

    def stop(self, mode):  # if immediate, the server kills its processes after five seconds
        self.control("-m", mode, "stop")

    def renew(self):
        self.stop("immediate")
        shutil.rmtree(self.data)
        shutil.copytree(self.data + ".new", self.data, symlinks=True)
        self.start()

    def install(self, directory):
        for name in ("bloomfilter.so", "bloomfilter_handlers.so"):
            library = os.path.join(self.libraries, name)
            shutil.copy(os.path.join(directory, name), library + ".new")
            os.rename(library + ".new", library)  # processes that run keep the old one

    def is_well(self):
        """Ends the sessions that a failed test has left. While one is in the tests' database, every
        other test fails, whatever the mutant. Returns False if the server does not answer, or if a
        session does not end, as when a mutant waits for a lock that it holds itself."""
        query = ("SELECT 1 / (count(*) = 0)::int FROM pg_stat_activity WHERE "
                 "CASE WHEN datname LIKE 'mutants%' THEN NOT pg_terminate_backend(pid, 5000) END")
        return run([os.path.join(self.bindir, "psql"), "-XAtqc", query], 30,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Worker:
    """A tree in which the extension and the core's tests are built, and a server."""

    def __init__(self, reached):
        self.reached = reached
        self.runner = Runner(os.path.join(BUILD, "core_tests"))
        self.server = Server(self.runner)
        self.killers = {}  # (file, kind) -> the test that killed the last mutant
        self.sound = set()  # TAP tests that passed with nothing broken
        self.make = ["make", "-s", "PG_CONFIG=" + self.runner.pg_config, "with_llvm=no",
                     "PG_CPPFLAGS=-g0"]
        if not (self.build_extension("all", "install") and self.build_core()):
            sys.exit("the sources do not build")
        self.built = "built"
        for file in products():
            self.keep(file)
        self.server.install(".")
        self.failing = set(self.failing_unbroken())
        print("left out, because they fail without a mutant:", *(test.name for test in
        self.failing),
              flush=True)

    def failing_unbroken(self):
        """The tests that fail although nothing is broken. Their failures would prove nothing. TAP
        tests are slow and not run here: the TAP tests that failed in the coverage build are taken,
        and passes_unbroken() finds more."""
        kinds = {kind: [test for test, _ in self.reached.tests if test.kind == kind]
                 for kind in KINDS}
        if kinds["unit"] and not self.passes(kinds["unit"], 3600):
            sys.exit("the tests of the core fail")
        failing = [test for kind in ("regress", "isolation") for test in kinds[kind]
                   if not self.passes([test], 600)]
        if len(failing) > len(kinds["regress"]) / 4:
            sys.exit("too many tests of pg_regress fail: " + " ".join(t.name for t in failing))
        return failing + [test for test in kinds["tap"] if test in self.reached.failing]

    def keep(self, file):
        copy = os.path.join(self.built, file)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy2(file, copy)

    def build_extension(self, *targets):
        return run([*self.make, *targets], 900, stdout=self.runner.log, stderr=self.runner.log)

    def build_core(self):
        return run(["cmake", "--build", BUILD, "--target", "core_tests"], 900,
                   stdout=self.runner.log, stderr=self.runner.log)

    def differs(self):
        return any(not filecmp.cmp(file, os.path.join(self.built, file), shallow=False)
                   for file in glob.glob("src/**/*.o", recursive=True))

    def try_out(self, change):
        """Breaks the line and tests. Returns the verdict, and the test or the reason for it."""
        if not can_run(change.file):
            return "not run", "a processor that is not here"
        times = os.stat(change.file)
        with open(change.file, encoding="utf-8") as source:
            lines = source.read().split("\n")
        shutil.copy2(change.file, "original")
        lines[change.line - 1] = change.new
        with open(change.file, "w", encoding="utf-8") as source:
            source.write("\n".join(lines))
        try:
            if not self.build_extension("all"):
                return "invalid", "does not compile"
            if not self.differs():
                return "same", "the same objects"
            self.server.install(".")
            return self.test(change)
        finally:
            shutil.copy2("original", change.file)
            os.utime(change.file, ns=(times.st_atime_ns, times.st_mtime_ns))
            self.restore()

    def restore(self):
        """Puts back the files that were built before the mutant, with their old times, so that make
        does not build them again."""
        for file in products():
            kept = os.path.join(self.built, file)
            if os.stat(file).st_mtime_ns != os.stat(kept).st_mtime_ns:
                shutil.copy2(kept, file)

    def test(self, change):
        """Runs the tests that reach the line until one fails. For a change of a header, pg_regress
        runs before the unit tests, because many of these include the header and must be built."""
        by_kind = {kind: [] for kind in KINDS}
        for test, seconds in self.reached.of(change):
            if test not in self.failing:
                last = test == self.killers.get((change.file, test.kind))
                by_kind[test.kind].append((not last, seconds, test))
        kinds = list(KINDS)
        if change.file.endswith("hpp"):
            kinds = ["regress", "unit", "isolation", "tap"]
        for kind in kinds:
            if kind == "unit" and by_kind[kind] and not self.build_core():
                return "killed", "the tests of the core do not build"
            for seconds, tests in batches(kind, sorted(by_kind[kind])):
                limit = 30 + 5 * seconds
                if not self.passes(tests, limit) and self.passes_unbroken(tests[0], limit):
                    self.killers[change.file, kind] = tests[0]
                    return "killed", f"{kind} {' '.join(test.name for test in tests[:3])}"
        return "survived", f"{sum(map(len, by_kind.values()))} tests"

    def passes_unbroken(self, test, seconds):
        """Returns whether a test that has just failed passes with nothing broken. A TAP test is run
        without the mutant when it fails for the first time."""
        if test.kind == "tap" and test not in self.sound | self.failing:
            self.server.install(self.built)
            (self.sound if self.passes([test], seconds) else self.failing).add(test)
            self.server.install(".")
        return test not in self.failing

    def passes(self, tests, seconds):
        """Returns whether tests pass. Tests other than unit tests have two attempts, because some
        failures are due to chance."""
        for _ in range(1 if tests[0].kind == "unit" else 2):
            if self.runner.passes(tests, seconds):
                return True
            if not self.server.is_well():
                self.server.renew()
            self.clean_up()
        return False

    def clean_up(self):
        """Stops servers that an interrupted TAP test has left running."""
        for pid_file in glob.glob("tmp_check/**/postmaster.pid", recursive=True):
            run([os.path.join(self.runner.bindir, "pg_ctl"), "-s", "-m", "immediate", "-D",
                 os.path.dirname(pid_file), "stop"], 30)
        shutil.rmtree("tmp_check", ignore_errors=True)


def products():
    """The files that make and cmake build from the sources."""
    patterns = ("src/**/*.o", "*.so", BUILD + "/**/*.o", BUILD + "/*.a", BUILD + "/core_tests")
    return [file for pattern in patterns for file in glob.glob(pattern, recursive=True)]


def batches(kind, tests):
    """Yields (seconds, tests) to run together: a few seconds of unit tests, or one other test."""
    together, taken = [], 0
    for _, seconds, test in tests:
        if together and (kind != "unit" or taken + seconds > BATCH):
            yield taken, together
            together, taken = [], 0
        together.append(test)
        taken += seconds
    if together:
        yield taken, together


def counted(draw, number, results):
    """The first `number` mutants of the draw that count or may count, in two lists: mutants with a
    result, and mutants that are not tried yet."""
    found, open_ = [], []
    for index, change in enumerate(draw):
        if change not in results:
            open_.append((index, change))
        elif results[change][0] in ("killed", "survived"):
            found.append((change, results[change]))
        if len(found) + len(open_) >= number:
            break
    return found, open_


def work(options):
    results = Results(options.results, options.also)
    draw = Draw(options.seed)
    _, most = resource.getrlimit(resource.RLIMIT_AS)  # stays, because a test raises its limit to it
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    worker = Worker(Reach(options.reach))
    while True:
        _, open_ = counted(draw, options.number, results.read())
        for index, change in open_:
            try:
                os.close(os.open(os.path.join(options.claims, str(index)), os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            break
        else:
            return
        started = time.monotonic()
        verdict, by = worker.try_out(change)
        results.append(change, verdict, by, time.monotonic() - started)


def listed(file):
    """{(file, old, new): reason} of a file such as survivors, whose head describes its form."""
    reasons, place, old = {}, None, None
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("-"):
                old = line[1:].strip()
            elif line.startswith("+"):
                reasons[place[0], old, line[1:].strip()] = place[1]
            elif line and not line.startswith("#"):
                place = line.split(": ", 1)
    return reasons


def report(options):
    """Prints the survivors, with their reasons. Fails if more than one mutant in twenty
    survives."""
    found, open_ = counted(Draw(options.seed), options.number, Results(options.results).read())
    reasons = listed(options.survivors)
    survivors = [(change, by) for change, (verdict, by, _) in found if verdict == "survived"]
    unknown, met = 0, set()
    for change, by in survivors:
        key = change.file, change.old.strip(), change.new.strip()
        met.add(key)
        reason = reasons.get(key)
        unknown += reason is None
        print(f"{change.file}:{change.line}: {reason or f'SURVIVED {by}'}\n"
              f"-  {change.old.strip()}\n+  {change.new.strip()}")
    for file, old, new in [key for key in reasons if key not in met]:
        print(f"{file}: no survivor of this run\n-  {old}\n+  {new}")
    killed = len(found) - len(survivors)
    share = 100 * killed / max(len(found), 1)
    print(f"{killed} of {len(found)} mutants killed ({share:.1f} %), seed {options.seed}; "
          f"{unknown} survivors without a reason" + (f"; {len(open_)} not tried" if open_ else ""))
    return 0 if found and not open_ and share >= LEAST else 1


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("reach", "work", "report"))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--number", type=int)
    parser.add_argument("--reach")
    parser.add_argument("--results")
    parser.add_argument("--claims")
    parser.add_argument("--also", type=int, help="another descriptor to write results to")
    parser.add_argument("--survivors", default=os.path.join(os.path.dirname(__file__), "survivors"))
    options = parser.parse_args()
    if options.what == "report":
        return report(options)
    if options.what == "work":
        return work(options)
    for known in reach(Runner(os.path.join(BUILD, "core_tests")), (BUILD, "src")):
        pass
    with open(options.reach, "w", encoding="utf-8") as file:
        json.dump(known, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
