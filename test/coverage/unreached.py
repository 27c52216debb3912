#!/usr/bin/env python3
"""Compares the lines that no test reaches with those that are listed, with a reason each.

    unreached.py COVERAGE.json LIST       COVERAGE.json is what gcovr --json has written

An entry of the list is a file, a colon and the reason; then, indented, successive lines of that
file as they stand there, but for their indentation. Those that are not reached follow a `-`:

    src/core/some.cpp: a server cannot ask for that
        if (!room)
      -   return false;

An entry is about every place where the file has these lines, wherever they move; without lines, it
is about the whole file. An unreached line that no entry has is an error, and so is an entry whose
lines are no longer there. An entry whose lines are reached now is reported.
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
    """The numbers of the listed lines, wherever the entry's lines are found."""
    if not entry.lines:
        yield range(1, len(text) + 1)
        return
    wanted = [line for _, line in entry.lines]
    for at in range(len(text) - len(wanted) + 1):
        if text[at:at + len(wanted)] == wanted:
            yield [at + 1 + i for i, (listed, _) in enumerate(entry.lines) if listed]


def counts_of(file):
    """{file: {line: times}}, how many branches were taken, and how many there are."""
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
            errors.append(f"{entry.file}: no longer has what is listed: {entry.reason}")
        elif all(counts[entry.file].get(number) != 0 for number in found):
            print(f"{entry.file}:{found[0]}: is reached now: {entry.reason}")
        listed.update((entry.file, number) for number in found)
    for file in sorted(counts):
        for number, times in sorted(counts[file].items()):
            if times == 0 and (file, number) not in listed:
                errors.append(f"{file}:{number}: not reached: {texts[file][number - 1]}")
    for zone in ("src/core", "src/pg"):
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
