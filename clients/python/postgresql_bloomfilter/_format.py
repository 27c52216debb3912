"""Reads and checks the bytes of a stored filter, and looks for a hash in them.

doc/format.md of the extension specifies these bytes. read() checks all that the server checks in
its input: every length before anything of that length is read, every flag, and the order of links
and fingerprints. So damaged bytes raise DamagedError and nothing else. Time and memory are
proportional to the length of the bytes.
"""

import struct
from typing import Callable, List, NamedTuple, Tuple

from ._errors import DamagedError, UnsupportedError

Probe = Callable[[int], bool]  # is a hash possibly in the filter?

LINES, PAGES, COUNTING, CUCKOO = 1, 2, 0x10, 0x21
COUNTING_LINES, COUNTING_PAGES = COUNTING | LINES, COUNTING | PAGES
HAS_LINKS, SELF_SIZED, GROWS, INTERSECTION = 1, 2, 4, 8
OTHERS = {  # layouts of other systems: name, and what reads such a filter
    3: ("guava", "bf_to_guava(filter) is a BloomFilter for Guava"),
    4: ("hive", "bf_to_hive(filter) is a BloomKFilter for Hive"),
    6: ("guava_mitz32", "bf_to_guava(filter) is a BloomFilter for Guava"),
    9: ("parquet", "bf_to_parquet(filter) is a filter for readers of Parquet"),
    12: ("redis", "bf_to_redis(filter) is a filter for RedisBloom"),
    13: ("spark", "bf_to_spark(filter) is a BloomFilter for Spark"),
    14: ("spark_v2", "bf_to_spark(filter) is a BloomFilter for Spark"),
    15: ("datasketches", "bf_to_datasketches(filter) is a BloomFilter for DataSketches"),
}
UNIT_BYTES = {LINES: 64, PAGES: 512, COUNTING_LINES: 256, COUNTING_PAGES: 2048}
MOST_BITS, MOST_LINKS = 2**32, 64
LAST_FAMILY, LAST_FAMILY_OF_OURS, COMPOSED = 30, 25, range(21, 25)

MASK32, MASK64 = 2**32 - 1, 2**64 - 1
S = [0x9E3779B9 ** (i + 1) & MASK32 for i in range(16)]

HEADER = struct.Struct("<BBBBQQQIB3s")
ENTRY = struct.Struct("<QQIBBH")


class Link(NamedTuple):
    """A bitmap, counters or buckets, and where they are in the bytes."""

    layout: int
    k: int  # the number of bits of a fingerprint in a cuckoo filter
    units: int
    flags: int
    at: int

    @property
    def bits(self) -> int:
        if self.layout == CUCKOO:
            return 4 * self.k * self.units
        return 8 * UNIT_BYTES[self.layout] * self.units

    @property
    def end(self) -> int:
        return self.at + (self.bits + 7) // 8

    @property
    def order(self) -> Tuple[int, int, int]:
        return self.bits, self.layout, self.k


class Head(NamedTuple):
    layout: int
    family: int
    shape: int
    seed: int
    expected: int
    rate: float
    grows: bool
    links: List[Link]


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise DamagedError(what)


def _capacity(expected: int, rate_bits: int) -> Tuple[bool, float]:
    """Checks an expected number of values and a rate. Returns whether they are known, and the
    rate."""
    rate = struct.unpack("<d", struct.pack("<Q", rate_bits))[0]
    known = expected != 0
    _require(expected <= MOST_BITS and known == (rate_bits != 0)
             and (not known or 1e-9 <= rate <= 0.5),
             f"capacity {expected} and false positive rate {rate} are not possible together")
    return known, rate


def _check_link(layout: int, k: int, units: int, flags: int, known: bool) -> None:
    _require(6 <= k <= 32 if layout == CUCKOO else
             1 <= k <= 16 and (k % 2 == 0 or layout in (LINES, COUNTING_LINES)),
             f"number of hash functions {k} is not possible in this layout")
    _require(known or layout < COUNTING, "capacity and false positive rate are unknown")
    _require(not flags & ~(SELF_SIZED | (INTERSECTION if layout < COUNTING else 0)),
             f"flags 0x{flags:x} are unknown")
    _require(units >= (2 if layout == CUCKOO else 1)
             and Link(layout, k, units, flags, 0).bits <= MOST_BITS,
             f"number of bitmap units {units} is out of range")


def read(data: bytes) -> Head:
    """Reads the head of a filter. Checks all of its bytes."""
    _require(len(data) >= HEADER.size,
             f"value of {len(data)} bytes is shorter than a header of {HEADER.size} bytes")
    version, layout, family, k, seed, expected, rate_bits, units, flags, shape_bytes = \
        HEADER.unpack_from(data)
    _require(version == 1, f"format version is {version}, but only version 1 is known")
    if layout in OTHERS:
        name, reader = OTHERS[layout]
        raise UnsupportedError(f"a filter of layout {name} is not read here: {reader}")
    _require(layout in UNIT_BYTES or layout == CUCKOO, f"layout {layout} is unknown")
    _require(family <= LAST_FAMILY, f"element type {family} is unknown")
    _require(family <= LAST_FAMILY_OF_OURS,
             f"element type {family} is not possible in this layout")
    shape = int.from_bytes(shape_bytes, "little")
    _require((family in COMPOSED) == (shape != 0),
             f"shape fingerprint 0x{shape:x} does not fit the element type")
    known, rate = _capacity(expected, rate_bits)
    if flags & HAS_LINKS:
        links = _read_links(data, layout, family, k, known, units, flags)
    else:
        _check_link(layout, k, units, flags, known)
        kicks_bytes = 4 if layout == CUCKOO else 0
        links = [Link(layout, k, units, flags, HEADER.size + kicks_bytes)]
    _require(len(data) == links[-1].end,
             f"value has {len(data)} bytes, but its header describes {links[-1].end}")
    if layout == CUCKOO:
        _check_buckets(data, links[0])
    bitmaps = links[0].at
    _require(family != 0 or data.count(0, bitmaps) == len(data) - bitmaps,
             "bits are set, but the filter has no element type")
    for link, after in zip(links, links[1:]):
        _require(link.order != after.order or not after.flags & SELF_SIZED
                 or data[link.at:link.end] < data[after.at:after.end],
                 f"{len(links)} links are not in order")
    return Head(layout, family, shape, seed, expected, rate, bool(flags & GROWS), links)


def _read_links(data: bytes, layout: int, family: int, k: int, known: bool, count: int,
                flags: int) -> List[Link]:
    grows = bool(flags & GROWS)
    allowed = HAS_LINKS | GROWS | (SELF_SIZED if grows and family == 0 and count == 1 else 0)
    _require(layout < COUNTING and not flags & ~allowed, f"flags 0x{flags:x} are unknown")
    _require(layout == LINES, f"layout {layout} is unknown")
    _require(k == 0, f"number of hash functions {k} is not possible in this layout")
    _require(grows == known, "capacity and false positive rate are not possible together")
    _require((1 if grows else 2) <= count <= MOST_LINKS,
             f"number of links {count} is out of range")
    at = HEADER.size + count * ENTRY.size
    _require(len(data) >= at,
             f"value of {len(data)} bytes is shorter than a header of {at} bytes")
    links: List[Link] = []
    for number in range(count):
        expected, rate_bits, units, link_k, mixed, reserved = ENTRY.unpack_from(
            data, HEADER.size + number * ENTRY.size)
        _require(mixed >> 4 in (LINES, PAGES), f"layout {mixed >> 4} is unknown")
        _require(reserved == 0, f"reserved bytes are 0x{reserved:x}, not zero")
        _check_link(mixed >> 4, link_k, units, mixed & 15, _capacity(expected, rate_bits)[0])
        link = Link(mixed >> 4, link_k, units, mixed & 15, at)
        before = links[-1] if links else None
        _require(before is None or before.order < link.order
                 or (before.order == link.order and bool(before.flags & SELF_SIZED)),
                 f"{count} links are not in order")
        links.append(link)
        at = link.end
    bits = sum(link.bits for link in links)
    _require(bits <= MOST_BITS, f"number of bitmap units {bits // 512} is out of range")
    return links


def _check_buckets(data: bytes, link: Link) -> None:
    """Checks that the slots of each bucket are in descending order. Numbers of many slots are
    compared at once: a slot is not less than the next one if the bit above their difference
    stays."""
    f, wrong = link.k, f"fingerprints in {link.units} buckets are not in order, or bits after " \
                       "them are set"
    slot, step = (1 << f) - 1, f * 4096  # bytes of 8192 buckets

    def repeated(bits: int) -> int:  # the same bits in each bucket
        return int.from_bytes((bits | bits << 4 * f).to_bytes(f, "little") * (step // f), "little")

    first, above = repeated(slot), repeated(1 << f)
    pairs, pairs_above = repeated(slot | slot << 2 * f), repeated(1 << f | 1 << 3 * f)
    for at in range(link.at, link.end, step):
        slots = int.from_bytes(data[at:min(at + step, link.end)], "little")
        pair = (slots & pairs | pairs_above) - (slots >> f & pairs)
        middle = (slots >> f & first | above) - (slots >> 2 * f & first)
        _require(pair & pairs_above == pairs_above and middle & above == above, wrong)
    _require(4 * f * link.units % 8 == 0 or data[link.end - 1] < 16, wrong)


def probe(data: bytes, links: List[Link]) -> Probe:
    """The function that looks for a hash in all links, from the largest on."""
    probes = [_probe(data, link) for link in reversed(links)]
    if len(probes) == 1:
        return probes[0]

    def has(h: int) -> bool:
        for has_link in probes:
            if has_link(h):
                return True
        return False
    return has


def _probe(data: bytes, link: Link) -> Probe:
    if link.layout == CUCKOO:
        return _buckets(data, link)
    at = link.at
    if link.layout >= COUNTING:
        data, at = _counted(data[at:]), 0
    if link.layout & ~COUNTING == LINES:
        return _lines(data, at, link.k, link.units)
    return _pages(data, at, link.k, link.units)


def _counted(counters: bytes) -> bytes:
    """The bits of the counters above 0. Bit j of a line's counters is in line j of four."""
    lines = []
    for at in range(0, len(counters), 256):
        line = 0
        for plane in range(at, at + 256, 64):
            line |= int.from_bytes(counters[plane:plane + 64], "little")
        lines.append(line.to_bytes(64, "little"))
    return b"".join(lines)


def _lines(data: bytes, at: int, k: int, units: int) -> Probe:
    steps = tuple(S[:k])

    def has(h: int) -> bool:
        line = at + 64 * ((h >> 32) * units >> 32)
        x = h & 0xFFFFFFFF
        for s in steps:
            p = x * s >> 23
            if not data[line + (p >> 3 & 63)] >> (p & 7) & 1:
                return False
        return True
    return has


def _pages(data: bytes, at: int, k: int, units: int) -> Probe:
    steps = tuple(S[:k // 2])

    def has(h: int) -> bool:
        page = at + 512 * ((h >> 32) * units >> 32)
        x = h & 0xFFFFFFFF
        line = page + 64 * ((x * 0xC2B2AE35 & MASK32) >> 30)
        for s in steps:
            p = x * s >> 23
            if not data[line + (p >> 3 & 63)] >> (p & 7) & 1:
                return False
        y = (h * 0x9E3779B97F4A7C15 & MASK64) >> 32
        line = page + 256 + 64 * ((y * 0xC2B2AE35 & MASK32) >> 30)
        for s in steps:
            p = y * s >> 23
            if not data[line + (p >> 3 & 63)] >> (p & 7) & 1:
                return False
        return True
    return has


def _mix64(x: int) -> int:
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & MASK64
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & MASK64
    return x ^ x >> 33


def _buckets(data: bytes, link: Link) -> Probe:
    f, m, start = link.k, link.units, link.at
    slot = (1 << f) - 1

    def in_bucket(bucket: int, fingerprint: int) -> bool:
        at, odd = divmod(4 * f * bucket, 8)
        slots = int.from_bytes(data[start + at:start + at + (4 * f + 11) // 8], "little") >> odd
        return (slots & slot == fingerprint or slots >> f & slot == fingerprint
                or slots >> 2 * f & slot == fingerprint or slots >> 3 * f & slot == fingerprint)

    def has(h: int) -> bool:
        fingerprint = ((h & MASK32) * slot >> 32) + 1
        first = (h >> 32) * m >> 32
        if in_bucket(first, fingerprint):
            return True
        r = (_mix64(fingerprint) >> 32) * m >> 32
        return in_bucket((r - first) % m, fingerprint)
    return has
