#!/usr/bin/env python3
"""Compares the lines that no test reaches with a list of such lines, which gives the reasons.

    unreached.py COVERAGE.json LIST       gcovr --json has written COVERAGE.json

An entry of the list begins with a file, a colon and the reason. After that line come successive
lines of the file, indented. Their own indentation does not count. A `-` marks the lines that are
not reached:

    src/core/some.cpp: a server cannot ask for that
        if (!room)
      -   return false;

An entry applies to every place where the file has these lines. An entry without lines applies to
the whole file. Two things are errors: an unreached line without an entry, and an entry with lines
that are no longer in the file. If the lines of an entry are reached now, the program prints the
entry.
"""

import json
import sys
from collections import namedtuple

LEAST = 97.0  # percent

Entry = namedtuple("Entry", "file reason lines")  # lines: [(listed, text)...]


def entries_of(file):
    entries = []
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("  "):
                entries[-1].lines.append((line[2] == "-", line[3:].strip()))
            elif line and not line.startswith("#"):
                place, reason = line.split(": ", 1)
                entries.append(Entry(place, reason, []))
    return entries


def text_of(file):
    with open(file, encoding="utf-8") as lines:
        return [line.strip() for line in lines]


def places(entry, text):
    """For each place that has the entry's lines: the numbers of the lines marked as unreached."""
    if not entry.lines:
        yield range(1, len(text) + 1)
        return
    wanted = [line for _, line in entry.lines]
    for at in range(len(text) - len(wanted) + 1):
        if text[at:at + len(wanted)] == wanted:
            yield [at + 1 + i for i, (listed, _) in enumerate(entry.lines) if listed]


def counts_of(file):
    """{file: {line: times}}, the number of branches that were taken, and the number of branches."""
    with open(file, encoding="utf-8") as report:
        report = json.load(report)
    counts, taken, branches = {}, 0, 0
    for source in report["files"]:
        for line in source["lines"]:
            if line.get("gcovr/noncode"):
                continue
            counts.setdefault(source["file"], {})[line["line_number"]] = line["count"]
            branches += len(line["branches"])
            taken += sum(branch["count"] > 0 for branch in line["branches"])
    return counts, taken, branches


def main():
    counts, taken, branches = counts_of(sys.argv[1])
    texts = {file: text_of(file) for file in counts}
    errors, listed = [], set()
    for entry in entries_of(sys.argv[2]):
        text = texts.get(entry.file, [])
        found = [number for numbers in places(entry, text) for number in numbers]
        if not found:
            errors.append(f"{entry.file}: no longer has these lines: {entry.reason}")
        elif all(counts[entry.file].get(number) != 0 for number in found):
            print(f"{entry.file}:{found[0]}: is reached now: {entry.reason}")
        listed.update((entry.file, number) for number in found)
    for file in sorted(counts):
        for number, times in sorted(counts[file].items()):
            if times == 0 and (file, number) not in listed:
                errors.append(f"{file}:{number}: not reached: {texts[file][number - 1]}")
    for zone in ("src/core", "src/pg", "src/handlers"):
        lines = [times for file in counts if file.startswith(zone)
                 for times in counts[file].values()]
        reached = sum(times > 0 for times in lines)
        share = 100 * reached / max(len(lines), 1)
        print(f"{zone}: {reached} of {len(lines)} lines ({share:.2f} %)")
        if share < LEAST:
            errors.append(f"{zone}: fewer than {LEAST} % of the lines")
    print(f"src: {taken} of {branches} branches ({100 * taken / max(branches, 1):.2f} %)")
    print("\n".join(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
