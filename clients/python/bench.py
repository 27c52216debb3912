"""How long an answer takes: python3 bench.py

Makes filters for a million texts, with random bits, and with all bits set: a yes costs most,
because it looks at every bit. Asks for texts of 50 bytes, one at a time and by contains_each.
Prints microseconds for each key, the best of five runs.
"""

import random
import struct
import time

from postgresql_bloomfilter import Filter

KEYS = [f"https://example.com/a/page/of/some/length/{n:08}" for n in range(100_000)]
assert len(KEYS[0]) == 50


def filter_of(layout, k, units, unit_bytes, rate, bits):
    """A filter of texts for a million values, by doc/format.md."""
    head = struct.pack("<BBBBQQdII", 1, layout, 4, k, 0, 1_000_000, rate, units, 0)
    return Filter(head + bits(units * unit_bytes))


def some(length):
    return random.Random(1).getrandbits(8 * length).to_bytes(length, "little")


def all_set(length):
    return b"\xff" * length


def one_by_one(f):
    return sum(key in f for key in KEYS)


def at_once(f):
    return sum(f.contains_each(KEYS))


def best(what, f):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        what(f)
        times.append(time.perf_counter() - start)
    return min(times) / len(KEYS) * 1e6


print(f"{'filter':<18}{'answers':<9}{'one':>6}{'contains_each':>16}   (microseconds for each key)")
for name, arguments in {"lines, 1 %": (1, 6, 19376, 64, 0.01),
                        "pages, 0.01 %": (2, 12, 4896, 512, 0.0001)}.items():
    for answers, bits in {"mostly no": some, "yes": all_set}.items():
        f = filter_of(*arguments, bits)
        print(f"{name:<18}{answers:<10}{best(one_by_one, f):>5.2f}{best(at_once, f):>16.2f}")
