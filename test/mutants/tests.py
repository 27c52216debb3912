"""Runs the project's tests one by one, and finds out which lines each of them reaches.

A test is a unit test, a file of pg_regress, a spec of the isolation tester or a TAP file. A build
with --coverage counts the lines that run. All tests write their counts to the same files. So one
test runs at a time, gcov reads the counts, and the counts are then deleted.
"""

import glob
import json
import os
import re
import signal
import subprocess
import time
from collections import namedtuple

KINDS = ("unit", "regress", "isolation", "tap")  # the cheapest first

Test = namedtuple("Test", "kind name")


def run(command, seconds, **options):
    """Returns whether a command succeeds in time. Then kills all that is left of its process
    group."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def output_of(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


class Runner:
    """Runs tests of the tree in the current directory with the server that PG_CONFIG names."""

    def __init__(self, core_tests):
        self.core_tests = core_tests
        self.pg_config = os.environ["PG_CONFIG"]
        self.bindir = os.path.dirname(self.pg_config)
        pgxs = output_of(self.pg_config, "--pgxs").strip()
        self.programs = os.path.join(os.path.dirname(pgxs), "..", "test")
        self.log = open("tests.log", "wb")

    def tests(self):
        suite = None
        for line in output_of(self.core_tests, "--gtest_list_tests").splitlines():
            name = line.split("#")[0].strip()
            if not line.startswith(" "):
                suite = name
            else:
                yield Test("unit", suite + name)
        for kind, pattern in (("regress", "sql/*.sql"), ("isolation", "specs/*.spec")):
            for file in sorted(glob.glob(pattern)):
                yield Test(kind, os.path.splitext(os.path.basename(file))[0])
        for file in sorted(glob.glob("test/t/*.pl")):
            yield Test("tap", file)

    def passes(self, tests, seconds):
        """Returns whether these tests, all of one kind, pass in time. May stop at a failure."""
        return run(self.command(tests), seconds, stdout=self.log, stderr=self.log,
                   env={**os.environ, "GTEST_FAIL_FAST": "1", "GTEST_BRIEF": "1"})

    def command(self, tests):
        kind, names = tests[0].kind, [test.name for test in tests]
        if kind == "unit":
            return [self.core_tests, "--gtest_filter=" + ":".join(names)]
        if kind == "tap":
            return ["make", "-s", "PG_CONFIG=" + self.pg_config, "installcheck", "REGRESS=",
                    "ISOLATION=", "PROVE_TESTS=" + " ".join(names)]
        program, output = {"regress": ("regress/pg_regress", "."),
                           "isolation": ("isolation/pg_isolation_regress", "output_iso")}[kind]
        return [os.path.join(self.programs, program), "--bindir=" + self.bindir, "--inputdir=.",
                "--outputdir=" + output, "--dbname=mutants_" + kind,
                "--load-extension=bloomfilter"] + names


def executed_lines(directories):
    """{(file, line): True if it ran}, from the counts since the last call, which it deletes."""
    counted = [file for directory in directories
               for file in glob.glob(directory + "/**/*.gcda", recursive=True)]
    lines = {}
    if not counted:
        return lines
    documents = output_of("gcov", "--json-format", "--stdout", *counted)
    for document in documents.splitlines():
        for file in json.loads(document)["files"]:
            name = re.sub(r"^.*?/?(?=src/(core|pg|handlers)/)", "", file["file"])
            if name.startswith("src/"):
                for line in file["lines"]:
                    key = (name, line["line_number"])
                    lines[key] = lines.get(key, False) or line["count"] > 0
    for file in counted:
        os.unlink(file)
    return lines


def reach(runner, directories):
    """Runs every test. After each test, yields what is known so far: the tests, as [kind, name,
    seconds, passes], and {file: {line: [indices of the tests that run it]}}."""
    tests, lines = [], {}
    executed_lines(directories)
    for test in runner.tests():
        started = time.monotonic()
        passes = runner.passes([test], 3600)
        seconds = round(time.monotonic() - started, 2)
        print(f"{test.kind} {test.name}: {seconds} s" + ("" if passes else ", fails"), flush=True)
        for (file, line), ran in executed_lines(directories).items():
            reached = lines.setdefault(file, {}).setdefault(str(line), [])
            if ran:
                reached.append(len(tests))
        tests.append([test.kind, test.name, seconds, passes])
        yield {"tests": tests, "lines": lines}
