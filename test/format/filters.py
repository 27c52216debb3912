"""A second implementation of the stored format, in Python: filters as doc/format.md describes them.

It was written from that page alone, with the standard library and xxhash. It shares no code with
the extension, and reads the sizing table from the page. test/search/format.py compares the two
implementations. Comments name the section of the page that the code follows.

    f = create(100, 0.01, seed=7)       # or by_size(), aggregate(), growing(), of_no_rows()
    add(f, Value(...))                  # elements.py makes values
    f.payload()                         # the bytes that f::bytea gives
    parse(payload)                      # a Filter again; Damaged if the page rejects it
"""

import math
import os
import re
import struct

from xxhash import xxh3_64_intdigest

GOLDEN = 0x9E3779B97F4A7C15
MASK32, MASK64 = 2**32 - 1, 2**64 - 1
LINES, PAGES, COUNTING, CUCKOO = 1, 2, 0x10, 0x21
LINKS, OWN, GROW, INTERSECTION, UNCOUNTED = 1, 2, 4, 8, 16
MOST_BITS = 2**32
HASH = 25  # the family of hashes that bf_add_hash adds
S = []
for _ in range(16):
    S.append((S[-1] if S else 1) * 0x9E3779B9 & MASK32)


class Damaged(Exception):
    """Bytes that the page rejects."""


class Refused(Exception):
    """An operation that the page refuses: too large, too many links, no room."""


def xxh3(data, seed=0):
    return xxh3_64_intdigest(data, seed=seed & MASK64)


# --- Sizing --------------------------------------------------------------------------------------

def _read_table():
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../doc/format.md")
    with open(page, encoding="utf-8") as file:
        section = file.read().partition("\n## The sizing table\n")[2]
    parts = [[]]
    for line in section.split("\n"):
        if line.startswith("    "):
            parts[-1] += map(int, line.partition(":")[2].split())
        elif parts[-1]:
            parts.append([])
    significands, coarse, fine = parts[:3]
    return significands, list(zip(*[iter(coarse)] * 2)), list(zip(*[iter(fine)] * 3))


SIGNIFICANDS, COARSE, FINE = _read_table()
FIRST_FINE = 143


def ceiling(a, b):
    return -(-a // b)


def size_class(units):
    step = 1 << max(units.bit_length() - 1 - 4, 0)
    return ceiling(units, step) * step


def size(expected, rate):
    """Layout, k and units for the expected number of values."""
    fraction, exponent = math.frexp(rate)  # rate = fraction * 2^exponent, 1/2 <= fraction < 1
    m, e = int(fraction * 2**53), exponent
    if m == 2**52:
        m, e = 2**53, e - 1
    j = next(j for j in range(16) if SIGNIFICANDS[j] >= m > SIGNIFICANDS[j + 1])
    i = 16 * (-1 - e) + j
    part, whole = SIGNIFICANDS[j] - m, SIGNIFICANDS[j] - SIGNIFICANDS[j + 1]

    def units(entry, bits):
        a, b = entry
        per_value = a + ceiling((b - a) * part, whole)
        number = ceiling(expected * per_value, 1000 * bits)
        return ceiling(number, 8) * 8 if number >= 64 else number

    def fine(number, column):
        first = FINE[number - FIRST_FINE]
        last = FINE[number + 1 - FIRST_FINE] if part else first
        return first[column], last[column]

    if rate >= 0.001:
        first = COARSE[i][1]
        layout, k = LINES, COARSE[i][0]
        result = units((first, COARSE[i + 1][1] if part else first), 512)
    else:
        k = FINE[i - FIRST_FINE][0]
        lines, pages = units(fine(i, 2), 512), units(fine(i, 1), 4096)
        layout, result = (LINES, lines) if lines < 64 and lines < 8 * pages else (PAGES, pages)
    if result * unit_bits(layout) > MOST_BITS:
        raise Refused("more than 2^32 bits")
    return layout, k, max(result, 1)


def unit_bits(layout):
    return 512 if layout == LINES else 4096


# --- From a value to bits ------------------------------------------------------------------------

def positions(layout, k, units, h):
    """The numbers of a value's bits. Some may be equal."""
    x, y = h & MASK32, (h * GOLDEN & MASK64) >> 32
    unit = (h >> 32) * units >> 32
    if layout == LINES:
        return [512 * unit + ((x * S[i] & MASK32) >> 23) for i in range(k)]
    first = (x * 0xC2B2AE35 & MASK32) >> 30
    second = 4 + ((y * 0xC2B2AE35 & MASK32) >> 30)
    return [4096 * unit + 512 * line + ((word * S[i] & MASK32) >> 23)
            for line, word in ((first, x), (second, y)) for i in range(k // 2)]


def power(base, exponent):
    """base ** exponent, by squaring from the lowest bit on, as section Growth says."""
    result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


def share(layout, k, units):
    """The share of all bits that one value sets on average."""
    q = 511 / 512
    if layout == LINES:
        return (1 - power(q, k)) / units
    return (1 - (3 / 4 + 1 / 4 * power(q, k // 2))) / units


# --- Bytes, Links --------------------------------------------------------------------------------

HEADER = struct.Struct("<BBBBQQdIB3s")
ENTRY = struct.Struct("<QdIBBH")


def header_bytes(layout, family, k, seed, expected, rate, units, flags, shape):
    return HEADER.pack(1, layout, family, k, seed & MASK64, expected, rate, units, flags,
                       shape.to_bytes(3, "little"))


class Link:
    """A bitmap, with the number of values and the rate that it was made for."""

    def __init__(self, expected, rate, geometry, flags=0, bits=0):
        self.expected, self.rate, self.flags, self.bits = expected, rate, flags, bits
        self.layout, self.k, self.units = geometry

    geometry = property(lambda self: (self.layout, self.k, self.units))
    size = property(lambda self: self.units * unit_bits(self.layout))
    order = property(lambda self: (self.size, self.layout, self.k))
    bitmap = property(lambda self: self.bits.to_bytes(self.size // 8, "little"))
    own = property(lambda self: bool(self.flags & OWN))

    def copy(self):
        return Link(self.expected, self.rate, self.geometry, self.flags, self.bits)

    def mask(self, h):
        mask = 0
        for position in positions(*self.geometry, h):
            mask |= 1 << position
        return mask

    def has(self, h):
        mask = self.mask(h)
        return self.bits & mask == mask

    def is_full(self):
        if self.expected == 0:
            return True
        exponent = self.expected
        layout, _, units = size(self.expected, self.rate)
        if self.size < units * unit_bits(layout):  # the filter was folded
            exponent = max(1, exponent * self.size // (units * unit_bits(layout)))
        one = share(*self.geometry)
        capacity = math.ceil(self.size * (1 - power(1 - one, exponent)))
        return bin(self.bits).count("1") >= capacity


class Filter:
    """A bloomfilter: one or more links. A plain filter has one."""

    def __init__(self, links, seed=0, family=0, shape=0):
        self.links, self.seed, self.family, self.shape = links, seed, family, shape
        self.grows, self.no_rows = False, False  # no_rows: flag OWN in the header of a growing one
        self.expected, self.rate = 0, 0.0        # in the header of a growing filter

    plain = property(lambda self: len(self.links) == 1 and not self.grows)
    own = property(lambda self: self.links[0].own if self.plain else self.no_rows)

    def payload(self):
        if self.plain:
            link = self.links[0]
            return header_bytes(link.layout, self.family, link.k, self.seed, link.expected,
                                link.rate, link.units, link.flags, self.shape) + link.bitmap
        flags = LINKS | GROW * self.grows | OWN * self.no_rows
        head = header_bytes(LINES, self.family, 0, self.seed, self.expected, self.rate,
                            len(self.links), flags, self.shape)
        entries = b"".join(ENTRY.pack(link.expected, link.rate, link.units, link.k,
                                      link.flags | link.layout << 4, 0) for link in self.links)
        return head + entries + b"".join(link.bitmap for link in self.links)

    def has_hash(self, h):
        return any(link.has(h) for link in self.links)

    def has(self, value):
        return self.family in (value.family, HASH) and any(
            self.has_hash(h) for h in value.hashes(self.seed))

    def count(self):
        """The estimate of bf_count, or None if the count is unknown."""
        if any(link.flags & INTERSECTION for link in self.links):
            return None

        def estimate(link, bits):
            zeros = 1 - bin(bits).count("1") / link.size
            return math.log(zeros) / math.log(1 - share(*link.geometry)) if zeros else math.inf

        total, links = 0.0, self.links
        for geometry in {link.geometry for link in links}:
            alike = [link for link in links if link.geometry == geometry]
            united = 0
            for link in alike:
                united |= link.bits
            total += min(sum(estimate(link, link.bits) for link in alike),
                         estimate(alike[0], united))
        return total

    def fpr(self):
        """The estimate of bf_fpr."""
        none = 1.0
        for link in self.links:
            set_bits = [bin(int.from_bytes(link.bitmap[i:i + 64], "little")).count("1") / 512
                        for i in range(0, link.size // 8, 64)]
            if link.layout == LINES:
                rate = sum(s**link.k for s in set_bits) / link.units
            else:
                halves = [sum(s**(link.k // 2) for s in set_bits[i:i + 4]) / 4
                          for i in range(0, len(set_bits), 4)]
                rate = sum(a * b for a, b in zip(halves[::2], halves[1::2])) / link.units
            none *= 1 - rate
        return 1 - none


def create(expected, rate=0.01, seed=0):
    return Filter([Link(expected, rate, size(expected, rate))], seed)


def by_size(bits, k, seed=0):
    return Filter([Link(0, 0.0, (LINES, k, ceiling(bits, 512)))], seed)


def growing(expected, rate=0.01, seed=0):
    first = Link(expected, max(rate / 4, 1e-9), size(expected, max(rate / 4, 1e-9)), OWN)
    result = Filter([first], seed)
    result.grows, result.expected, result.rate = True, expected, rate
    return result


def of_no_rows(expected=None, rate=0.01):
    """The result of bf_agg over no rows."""
    if expected is None:
        result = growing(100, rate)
        result.no_rows = True
    else:
        result = create(expected, rate)
        result.links[0].flags = OWN
    return result


def is_empty(a):
    """True for an own filter without values, which adds nothing to a union."""
    return a.own and a.family == 0


def arrange(links):
    """Rules 1 to 4 of section Union."""
    filled = [link for link in links if not link.own or link.bits]
    if not filled:
        links = [min(links, key=lambda l: (l.order, l.expected, l.rate, l.flags))]
    else:
        links = filled
    merged = {}
    for link in links:
        key = (link.geometry, link.bits if link.own else None)
        if key not in merged:
            merged[key] = link.copy()
            continue
        other = merged[key]
        other.bits |= link.bits
        other.expected = max(other.expected, link.expected)
        other.rate = max(other.rate, link.rate)
        other.flags |= link.flags
    links = list(merged.values())
    links = [link for link in links if not (link.own and any(
        other is not link and other.geometry == link.geometry and link.bits & ~other.bits == 0
        for other in links))]
    links.sort(key=lambda l: (l.order, not l.own, l.bitmap if l.own else b""))
    return links


def check_alike(a, b):
    if a.seed != b.seed or (a.family and b.family and (a.family, a.shape) != (b.family, b.shape)):
        raise Refused("another family or seed")


def unite(a, b):
    if is_empty(a) and is_empty(b):
        wanted = [x.expected if x.grows else x.links[0].expected for x in (a, b)]
        if wanted[0] != wanted[1]:
            return a if wanted[0] > wanted[1] else b
        return min(a, b, key=lambda x: x.payload())
    if is_empty(a) or is_empty(b):
        return b if is_empty(a) else a
    check_alike(a, b)
    links = arrange(a.links + b.links)
    if len(links) > 64:
        raise Refused("more than 64 links")
    result = Filter(links, a.seed, a.family or b.family, a.shape or b.shape)
    result.grows = a.grows or b.grows
    if result.grows:
        result.expected, result.rate = max(a.expected, b.expected), max(a.rate, b.rate)
    return result


def intersect(a, b):
    if not (a.plain and b.plain) or a.links[0].geometry != b.links[0].geometry:
        raise Refused("several links, or another geometry")
    check_alike(a, b)
    known, one, other = bool(a.family and b.family), a.links[0], b.links[0]
    link = Link(max(one.expected, other.expected), max(one.rate, other.rate), one.geometry,
                one.flags | other.flags | INTERSECTION, known * (one.bits & other.bits))
    return Filter([link], a.seed, known * a.family, known * a.shape)


def clear(f):
    """bf_clear: the last link remains, without values."""
    if f.no_rows:
        return f
    last = f.links[-1]
    f.links = [Link(last.expected, last.rate, last.geometry, last.flags & OWN)]
    return f


def fold(f, most_bytes):
    """bf_fold: the largest folded filter that fits into the given bytes, with the length word."""
    if not f.plain:
        raise Refused("several links, or growth")
    link = f.links[0]
    bits = unit_bits(link.layout)
    for d in range(1, link.units + 1):
        units = link.units // d
        if link.units % d == 0 and 4 + HEADER.size + units * bits // 8 <= most_bytes:
            break
    else:
        raise Refused("too few bytes")
    folded = 0
    for number in range(link.units):
        folded |= (link.bits >> number * bits & 2**bits - 1) << number // d * bits
    link.units, link.bits = units, folded
    return f


def grow(f):
    last = f.links[-1]
    expected, rate = 2 * last.expected, last.rate * (3 / 4)
    if last.expected == 0:
        expected, rate = f.expected, f.rate / 4
    rate = max(rate, 1e-9)
    while True:
        link = Link(expected, rate, size(expected, rate), OWN)
        if link.size > last.size:
            break
        expected *= 2
    if len(f.links) == 64 or sum(l.size for l in f.links) + link.size > MOST_BITS:
        raise Refused("cannot grow")
    f.links.append(link)


def growable(f):
    """bf_growable: the same links, and a header that lets them grow."""
    if f.grows:
        return f
    if any(link.expected == 0 for link in f.links):
        raise Refused("expected is not known")
    together, chance = 0.0, 1.0
    for link in reversed(f.links):
        together += chance * link.rate
        chance *= 1 - link.rate
    f.expected = min(sum(link.expected for link in f.links), 2**32)
    f.rate = together + 3 * f.links[-1].rate
    if f.rate > 0.5:
        raise Refused("rate above 0.5")
    f.grows = True
    return f


def admit(f, family, shape):
    """Gives a filter without values the family and shape of its first value."""
    if f.family:
        return
    f.family, f.shape, f.no_rows = family, shape, False
    if f.plain:
        f.links[0].flags &= ~OWN


def put(f, h):
    if f.has_hash(h):
        return
    if f.grows and f.links[-1].is_full():
        grow(f)
    last = f.links[-1]
    last.bits |= last.mask(h)
    if len(f.links) > 1:
        f.links = arrange(f.links)


def add(f, value):
    admit(f, value.family, value.shape)
    if f.family != HASH and (f.family, f.shape) != (value.family, value.shape):
        raise Refused("another family")
    for h in value.hashes(f.seed):
        put(f, h)


def add_hash(f, h):
    """bf_add_hash. h is an unsigned number."""
    admit(f, HASH, 0)
    put(f, h)
    return f


# --- What aggregates make ------------------------------------------------------------------------

def distinct(values):
    return sorted({h for value in values for h in value.hashes(0)})


def estimate(hashes):
    """Ertl's estimate for HyperLogLog, with 2^16 registers and ranks up to 49."""
    q, m = 48, 2**16
    registers = bytearray(m)
    for h in hashes:
        rank = q - (h & 2**48 - 1).bit_length() + 1
        registers[h >> 48] = max(registers[h >> 48], rank)
    counts = [0] * (q + 2)
    for register in registers:
        counts[register] += 1

    def sigma(x):
        if x == 1:
            return math.inf
        y, z = 1.0, x
        while True:
            x *= x
            before = z
            z += x * y
            y += y
            if z == before:
                return z

    def tau(x):
        if x in (0, 1):
            return 0.0
        y, z = 1.0, 1 - x
        while True:
            x = math.sqrt(x)
            before = z
            y *= 0.5
            z -= (1 - x)**2 * y
            if z == before:
                return z / 3

    z = m * tau(1 - counts[q + 1] / m)
    for k in range(q, 0, -1):
        z = 0.5 * (z + counts[k])
    z += m * sigma(counts[0] / m)
    return m * m / (2 * math.log(2)) / z if z else math.inf


def own_size(hashes, rate):
    n = len(hashes)
    if n > 65536:
        estimated = estimate(hashes) * (1 + 2.08 / 256)
        if estimated < math.inf and math.ceil(estimated) <= 1.1 * n:
            n = math.ceil(estimated)
    n = max(n, 1)
    layout, k, units = size(n, rate)
    if size_class(units) * unit_bits(layout) <= MOST_BITS:
        units = size_class(units)
    return n, (layout, k, units)


def fill(hashes, link):
    bits = bytearray(link.size // 8)
    for h in hashes:
        for position in positions(*link.geometry, h):
            bits[position >> 3] |= 1 << (position & 7)
    link.bits = int.from_bytes(bits, "little")
    return link


def aggregate(values, expected=None, rate=0.01):
    """bf_agg over rows with the given values. There is at least one value."""
    hashes = distinct(values)
    if expected is None:
        n, geometry = own_size(hashes, rate)
        link = fill(hashes, Link(n, rate, geometry, OWN))
    else:
        link = fill(hashes, Link(expected, rate, size(expected, rate)))
    return Filter([link], 0, values[0].family, values[0].shape)


# --- Partial states ------------------------------------------------------------------------------

def partial(values, expected=None, rate=0.01):
    """bf_partial_agg over rows. If expected is None, the number of all values will decide the
    size."""
    hashes = distinct(values)
    family, shape = (values[0].family, values[0].shape) if values else (0, 0)
    if expected is None:
        head = header_bytes(*_header_of(1, rate, family, shape, OWN))
        content, body = 0, struct.pack(f"<{len(hashes)}Q", *hashes)
    else:
        head = header_bytes(*_header_of(expected, rate, family, shape, 0))
        link = Link(expected, rate, size(expected, rate))
        content, body = 0, struct.pack(f"<{len(hashes)}Q", *hashes)
        if not values:
            content = 2
        elif len(body) >= link.size // 8:
            content, body = 1, fill(hashes, link).bitmap
    return bytes([1, content, 0, 0]) + head + body


def _header_of(expected, rate, family, shape, flags):
    layout, k, units = size(expected, rate)
    return layout, family, k, 0, expected, rate, units, flags, shape


def element(value):
    hashes = value.hashes(0)
    return struct.pack("<BxxxIQQ", value.family, value.shape, hashes[0], hashes[-1])


def shard(value, n):
    data = value.canonical[0].rstrip(b" ") if value.family == 4 else value.canonical[0]
    h = xxh3(data)
    return ((h * 0xD1B54A32D192ED03 & MASK64) >> 32) * n >> 32


# --- Counting filters ----------------------------------------------------------------------------

class Counting:
    """A countingbloomfilter."""

    def __init__(self, expected, rate=0.01, seed=0, geometry=None, flags=0):
        self.expected, self.rate, self.seed, self.flags = expected, rate, seed, flags
        self.geometry = geometry or size(expected, rate)
        self.family = self.shape = 0
        self.counters = {}

    def payload(self):
        layout, k, units = self.geometry
        bits = bytearray(units * unit_bits(layout) // 8 * 4)
        for position, count in self.counters.items():
            line, place = divmod(position, 512)
            for j in range(4):
                if count >> j & 1:
                    bits[256 * line + 64 * j + (place >> 3)] |= 1 << (place & 7)
        return header_bytes(layout | COUNTING, self.family, k, self.seed, self.expected, self.rate,
                            units, self.flags, self.shape) + bytes(bits)

    def positions(self, h):
        return set(positions(*self.geometry, h))

    def add_hash(self, h):
        for position in self.positions(h):
            self.counters[position] = min(self.counters.get(position, 0) + 1, 15)

    def add(self, value):
        if self.family == 0:
            self.family, self.shape, self.flags = value.family, value.shape, 0
        for h in value.hashes(self.seed):
            self.add_hash(h)

    def multiplicity(self, value):
        return sum(min(self.counters.get(p, 0) for p in self.positions(h))
                   for h in value.hashes(self.seed))

    def remove(self, value):
        for h in value.hashes(self.seed):
            if min(self.counters.get(p, 0) for p in self.positions(h)) == 0:
                raise Refused("was not added")
        for h in value.hashes(self.seed):
            for position in self.positions(h):
                count = self.counters[position]
                self.counters[position] = count if count == 15 else count - 1
        self.counters = {p: c for p, c in self.counters.items() if c}
        if not self.counters:
            self.family = self.shape = 0

    def to_bloom(self):
        layout, k, units = self.geometry
        bits = sum(1 << p for p in self.counters)
        return Filter([Link(self.expected, self.rate, (layout, k, units), self.flags, bits)],
                      self.seed, self.family, self.shape)


def counting_aggregate(values, expected=None, rate=0.01):
    if expected is not None:
        result = Counting(expected, rate)
    else:
        n, geometry = own_size(distinct(values), rate)
        result = Counting(n, rate, geometry=geometry, flags=OWN)
    flags = result.flags
    for value in values:
        result.add(value)
    result.flags = flags
    return result


def counting_unite(a, b):
    if is_empty_typed(a) or is_empty_typed(b):
        return choose_empty(a, b)
    if (a.geometry, a.seed) != (b.geometry, b.seed) or (
            a.family and b.family and (a.family, a.shape) != (b.family, b.shape)):
        raise Refused("another geometry, family or seed")
    result = Counting(max(a.expected, b.expected), max(a.rate, b.rate), a.seed, a.geometry,
                      a.flags & b.flags)
    result.family, result.shape = a.family or b.family, a.shape or b.shape
    for position in set(a.counters) | set(b.counters):
        result.counters[position] = min(
            a.counters.get(position, 0) + b.counters.get(position, 0), 15)
    return result


def is_empty_typed(a):
    return bool(a.flags & OWN) and a.family == 0


def choose_empty(a, b):
    if is_empty_typed(a) and is_empty_typed(b):
        if a.expected != b.expected:
            return a if a.expected > b.expected else b
        return min(a, b, key=lambda x: x.payload())
    return b if is_empty_typed(a) else a


# --- Cuckoo filters ------------------------------------------------------------------------------

def mix64(x):
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & MASK64
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & MASK64
    return x ^ x >> 33


def cuckoo_size(expected, rate):
    f = next((f for f in range(6, 32) if rate * 2.0**(f - 3) >= 1), 32)
    m = ceiling(5 * expected, 19)
    if m < 250:
        m = ceiling(5 * expected, 17) + 1
    if rate < 2.0**-29:
        m *= 2
    if 4 * m * f > MOST_BITS:
        raise Refused("more than 2^32 bits")
    return f, m


class Cuckoo:
    """A cuckoofilter."""

    def __init__(self, expected, rate=0.01, seed=0, geometry=None, flags=0):
        self.expected, self.rate, self.seed, self.flags = expected, rate, seed, flags
        self.f, self.m = geometry or cuckoo_size(expected, rate)
        self.family = self.shape = self.kicks = 0
        self.buckets = [[] for _ in range(self.m)]  # in descending order, without empty slots

    def payload(self):
        bits = 0
        for number, bucket in enumerate(self.buckets):
            for slot, fingerprint in enumerate(bucket):
                bits |= fingerprint << (4 * number + slot) * self.f
        return header_bytes(CUCKOO, self.family, self.f, self.seed, self.expected, self.rate,
                            self.m, self.flags, self.shape) + struct.pack("<I", self.kicks) + \
            bits.to_bytes(ceiling(self.m * self.f, 2), "little")

    def other(self, bucket, fingerprint):
        r = (mix64(fingerprint) >> 32) * self.m >> 32
        return (r - bucket) % self.m

    def places(self, h):
        fingerprint = ((h & MASK32) * (2**self.f - 1) >> 32) + 1
        first = (h >> 32) * self.m >> 32
        return fingerprint, first, self.other(first, fingerprint)

    def put(self, bucket, fingerprint):
        self.buckets[bucket].append(fingerprint)
        self.buckets[bucket].sort(reverse=True)

    def add_fingerprint(self, fingerprint, first):
        second = self.other(first, fingerprint)
        for bucket in (first, second):
            if len(self.buckets[bucket]) < 4:
                self.put(bucket, fingerprint)
                return
        if self.buckets[first] == self.buckets[second] == [fingerprint] * 4:
            raise Refused("too many copies")
        before = {}
        r = first << 32 | fingerprint
        bucket = first if mix64(r) % 2 == 0 else second
        for turn in range(1, 4001):
            r = r + 1 & MASK64
            s = mix64(r) % 4
            before.setdefault(bucket, list(self.buckets[bucket]))
            slots = self.buckets[bucket]
            chosen = next((slot % 4 for slot in range(s, s + 4)
                           if slots[slot % 4] != fingerprint), (s + 3) % 4)
            fingerprint, slots[chosen] = slots[chosen], fingerprint
            slots.sort(reverse=True)
            bucket = self.other(bucket, fingerprint)
            if len(self.buckets[bucket]) < 4:
                self.put(bucket, fingerprint)
                self.kicks = min(self.kicks + turn, MASK32)
                return
        for number, slots in before.items():
            self.buckets[number] = slots
        raise Refused("no place")

    def add(self, value):
        # Adds all hashes of a value, or none.
        kept = self.kicks, [list(bucket) for bucket in self.buckets]
        try:
            for h in value.hashes(self.seed):
                fingerprint, first, _ = self.places(h)
                self.add_fingerprint(fingerprint, first)
        except Refused:
            self.kicks, self.buckets = kept
            raise
        if self.family == 0:
            self.family, self.shape, self.flags = value.family, value.shape, 0

    def multiplicity(self, value):
        total = 0
        for h in value.hashes(self.seed):
            fingerprint, first, second = self.places(h)
            total += sum(self.buckets[b].count(fingerprint) for b in {first, second})
        return total

    def remove(self, value):
        for h in value.hashes(self.seed):
            fingerprint, first, second = self.places(h)
            if not any(fingerprint in self.buckets[b] for b in (first, second)):
                raise Refused("was not added")
        for h in value.hashes(self.seed):
            fingerprint, first, second = self.places(h)
            holder = first if fingerprint in self.buckets[first] else second
            self.buckets[holder].remove(fingerprint)
        if not any(self.buckets):
            self.family = self.shape = 0


def cuckoo_aggregate(values, expected=None, rate=0.01):
    hashes = distinct(values)
    n = max(len(hashes), 1, expected or 0)
    f, m = cuckoo_size(n, rate)
    rounded = size_class if expected is None else lambda units: units
    m = first = rounded(m)
    while True:
        result = Cuckoo(n, rate, geometry=(f, m), flags=OWN if expected is None else 0)
        try:
            for h in hashes:
                fingerprint, bucket, _ = result.places(h)
                result.add_fingerprint(fingerprint, bucket)
            break
        except Refused:
            m = rounded(m + m // 32 + 1)
            if m > 2 * first + 2:
                raise
    result.family, result.shape = values[0].family, values[0].shape
    return result


def cuckoo_unite(a, b):
    if is_empty_typed(a) or is_empty_typed(b):
        return choose_empty(a, b)
    if (a.f, a.m, a.seed) != (b.f, b.m, b.seed) or (
            a.family and b.family and (a.family, a.shape) != (b.family, b.shape)):
        raise Refused("another geometry, family or seed")
    result = Cuckoo(max(a.expected, b.expected), max(a.rate, b.rate), a.seed, (a.f, a.m),
                    a.flags & b.flags)
    result.family, result.shape = a.family or b.family, a.shape or b.shape
    result.kicks = a.kicks
    result.buckets = [list(bucket) for bucket in a.buckets]
    for number, bucket in enumerate(b.buckets):
        for fingerprint in bucket:
            result.add_fingerprint(fingerprint, number)
    return result


# --- Layouts of other systems, What is rejected --------------------------------------------------

# For each layout: the bytes of a unit, the possible k, the families of its rows on the page.
OTHERS = {
    3: (8, range(1, 256), {0, 1, 4, 5, 27, 28}),
    4: (64, range(1, 128), {0, 1, 2, 4, 5}),
    6: (8, range(1, 256), {0, 1, 4, 5, 27, 28}),
    9: (32, range(8, 9), {0, 1, 2, 10, 11, 12, 13, 26, 27, 29, 30}),
    12: (8, range(1, 256), {26}),
    13: (8, range(1, 256), {0, 1, 4, 5}),
    14: (8, range(1, 256), {0, 1, 4, 5}),
    15: (8, range(1, 256), {0, 1, 2, 4, 5}),
}
OWN_LAYOUTS = {
    LINES: (64, range(1, 17), set(range(26))),
    PAGES: (512, range(2, 17, 2), set(range(26))),
    LINES | COUNTING: (256, range(1, 17), set(range(26))),
    PAGES | COUNTING: (2048, range(2, 17, 2), set(range(26))),
    CUCKOO: (None, range(6, 33), set(range(26))),
}
LAYOUTS = {**OTHERS, **OWN_LAYOUTS}
KIND_OF_TYPE = {"bloomfilter": 0, "countingbloomfilter": 1, "cuckoofilter": 2}


def require(condition, what):
    if not condition:
        raise Damaged(what)


def check_capacity(expected, rate, known=None):
    zero = expected == 0 and struct.pack("<d", rate) == bytes(8)
    good = 1 <= expected <= 2**32 and 1e-9 <= rate <= 0.5
    require(good or (zero and not known), "capacity")
    require(known is not False or zero, "capacity that should be unknown")


def check_shape(family, shape):
    require((shape != 0) == (21 <= family <= 24), "shape")


def check_common(version, layout, family, seed, shape):
    require(version == 1, "version")
    require(layout in LAYOUTS, "layout")
    require(family in LAYOUTS[layout][2], "family")
    if layout == 14:
        require(seed in range(2**31) or seed in range(2**64 - 2**31, 2**64), "seed")
    elif layout in OTHERS and layout != 15:
        require(seed == 0, "seed")
    check_shape(family, shape)


def unit_bytes(layout, k, units):
    return ceiling(units * k, 2) if layout == CUCKOO else units * LAYOUTS[layout][0]


def parse(payload, of_type="bloomfilter"):
    """Reads a filter, or raises Damaged. The bits of other systems' layouts are not interpreted."""
    require(len(payload) >= HEADER.size, "length")
    version, layout, family, k, seed, expected, rate, units, flags, shape = HEADER.unpack_from(
        payload)
    shape = int.from_bytes(shape, "little")
    check_common(version, layout, family, seed, shape)
    require(layout >> 4 == KIND_OF_TYPE[of_type], "type")
    result = Filter([], seed, family, shape)
    if not flags & LINKS:
        allowed = OWN | (INTERSECTION if layout < 16 else 0) | (UNCOUNTED if layout == 15 else 0)
        require(not flags & ~allowed, "flags")
        entries, at = [(expected, rate, units, k, flags, layout)], HEADER.size
        known = True if layout >= 16 else None
    else:
        require(layout < 16 and layout != PAGES and k == 0, "header of links")
        require(not flags & ~(LINKS | GROW | OWN), "flags")
        result.grows, result.no_rows = bool(flags & GROW), bool(flags & OWN)
        require(not result.grows or layout == LINES, "growth")
        require(not result.no_rows or (result.grows and family == 0 and units == 1), "flags")
        check_capacity(expected, rate, result.grows)
        result.expected, result.rate = expected, rate
        require((1 if result.grows else 2) <= units <= 64, "number of links")
        at, entries, known = HEADER.size + ENTRY.size * units, [], None
        require(len(payload) >= at, "length")
        for number in range(units):
            e, r, u, link_k, mixed, reserved = ENTRY.unpack_from(
                payload, HEADER.size + ENTRY.size * number)
            require(reserved == 0 and not mixed & 15 & ~(OWN | INTERSECTION), "entry")
            require(mixed >> 4 in ((LINES, PAGES) if layout == LINES else (layout,)), "layout")
            entries.append((e, r, u, link_k, mixed & 15, mixed >> 4))
    total = 0
    for e, r, u, link_k, _, link_layout in entries:
        check_capacity(e, r, known)
        require(link_k in LAYOUTS[link_layout][1], "k")
        require(u >= (2 if link_layout == CUCKOO else 1), "units")
        bits = 4 * u * link_k if link_layout == CUCKOO else 8 * u * LAYOUTS[link_layout][0]
        total += bits
    require(total <= MOST_BITS, "bits")
    body = at + (4 if layout == CUCKOO else 0)
    lengths = [unit_bytes(link_layout, link_k, u) for _, _, u, link_k, _, link_layout in entries]
    require(len(payload) == body + sum(lengths), "length")
    require(family not in (0, 30) or not any(payload[body:]), "bits without a family")
    if layout == CUCKOO:
        check_buckets(payload[body:], k, units)
        return result
    for (e, r, u, link_k, link_flags, link_layout), length in zip(entries, lengths):
        link = Link(e, r, (link_layout, link_k, u), link_flags,
                    int.from_bytes(payload[body:body + length], "little"))
        link.bytes = length
        result.links.append(link)
        body += length
    for a, b in zip(result.links, result.links[1:]):
        a_order, b_order = ((l.bytes, l.layout, l.k) for l in (a, b))
        require(a_order <= b_order, "order")
        if a_order == b_order:
            require(a.own, "order")
            require(not b.own or a.bits.to_bytes(a.bytes, "little") <
                    b.bits.to_bytes(b.bytes, "little"), "order")
    return result


def check_buckets(body, f, m):
    bits = int.from_bytes(body, "little")
    for bucket in range(m):
        slots = [bits >> (4 * bucket + slot) * f & 2**f - 1 for slot in range(4)]
        require(slots == sorted(slots, reverse=True), "order of slots")
    require(bits >> 4 * m * f == 0, "bits after the buckets")


def parse_partial(payload):
    """Raises Damaged if the page rejects the bf_partial."""
    require(len(payload) >= 40, "length")
    require(payload[0] == 1 and payload[1] <= 2 and payload[2:4] == bytes(2), "head")
    content = payload[1]
    version, layout, family, k, seed, expected, rate, units, flags, shape = HEADER.unpack_from(
        payload, 4)
    require(layout in (LINES, PAGES) and seed == 0 and not flags & ~OWN, "header")
    check_common(version, layout, family, seed, int.from_bytes(shape, "little"))
    check_capacity(expected, rate, True)
    require(not flags or (expected == 1 and content == 0), "own")
    try:
        require((layout, k, units) == size(expected, rate), "geometry")
    except Refused as error:
        raise Damaged("geometry") from error
    body, bitmap = payload[40:], unit_bytes(layout, k, units)
    require(content != 2 or (not body and family == 0), "no rows")
    require(content != 1 or len(body) == bitmap, "length of a bitmap")
    if content == 0:
        require(len(body) % 8 == 0, "length of hashes")
        require(flags or len(body) < bitmap, "too many hashes")
        hashes = struct.unpack(f"<{len(body) // 8}Q", body)
        require(all(a < b for a, b in zip(hashes, hashes[1:])), "order")
    require(family != 0 or not body, "content without a family")


def parse_element(payload):
    """Raises Damaged if the page rejects the binary form of the bf_element."""
    require(len(payload) == 24, "length")
    family, reserved, shape, first, second = struct.unpack("<B3sIQQ", payload)
    require(reserved == bytes(3) and 1 <= family <= 25 and shape < 2**24, "head")
    check_shape(family, shape)
    require(first == second or family == 4, "second hash")
