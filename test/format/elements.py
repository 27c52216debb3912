"""Values of SQL's types with their canonical bytes, by section Families of doc/format.md.

    value = random_value("numeric", random)    # value.sql, value.family, value.canonical

Like filters.py, this was written from that page alone. The name of a generator says which type its
values have. All values of one generator have the same family and the same shape.
"""

import json
import struct

from filters import MASK64, xxh3

DAY = 86_400_000_000  # microseconds


class Value:
    """A value: its SQL expression, and the bytes that are hashed. A varchar with blanks at its end
    has two strings of bytes, with and without the blanks."""

    def __init__(self, sql, family, *canonical, structure=b""):
        self.sql, self.family, self.canonical = sql, family, canonical
        self.structure = structure or bytes([family])
        self.shape = shape_of(self.structure) if 21 <= family <= 24 else 0

    def hashes(self, seed):
        return [xxh3(data, seed) for data in self.canonical]


def shape_of(structure):
    return xxh3(structure) & 0xFFFFFF or 1


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def counted(data):
    return struct.pack("<I", len(data) & 0xFFFFFFFF) + data


def item(data):
    return b"\x01" if data is None else b"\x00" + counted(data)


# --- numeric, jsonb ------------------------------------------------------------------------------

SPECIAL = {"NaN": 0xC000, "Infinity": 0xD000, "-Infinity": 0xF000}


def numeric_bytes(text):
    if text in SPECIAL:
        return struct.pack("<Hh", SPECIAL[text], 0)
    sign = 0x4000 if text.startswith("-") else 0
    whole, _, fraction = text.lstrip("-").partition(".")
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    weight = len(whole) // 4 - 1
    fraction = fraction.ljust(-(-len(fraction) // 4) * 4, "0")
    together = whole + fraction
    digits = [int(together[i:i + 4]) for i in range(0, len(together), 4)]
    while digits and digits[0] == 0:
        digits.pop(0)
        weight -= 1
    while digits and digits[-1] == 0:
        digits.pop()
    if not digits:
        sign = weight = 0
    return struct.pack(f"<Hh{len(digits)}H", sign, weight, *digits)


class Number(str):
    """A number in a jsonb, as its text."""


def json_bytes(value):
    if value is None:
        return b"\x00"
    if value is False or value is True:
        return b"\x02" if value else b"\x01"
    if isinstance(value, Number):
        return b"\x03" + counted(numeric_bytes(value))
    if isinstance(value, str):
        return b"\x04" + counted(value.encode())
    if isinstance(value, list):
        return b"\x05" + struct.pack("<I", len(value)) + b"".join(map(json_bytes, value))
    total = sum(xxh3(json_bytes(key) + json_bytes(member)) for key, member in value.items())
    return b"\x06" + struct.pack("<IQ", len(value), total & MASK64)


def json_text(value):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, list):
        return "[" + ",".join(map(json_text, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}: {json_text(member)}"
                              for key, member in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def random_json(r, depth=0):
    kind = r.randrange(7 if depth < 3 else 4)
    if kind == 0:
        return r.choice([None, True, False])
    if kind in (1, 2):
        return Number(random_decimal(r))
    if kind == 3:
        return random_text(r)
    if kind == 4:
        return [random_json(r, depth + 1) for _ in range(r.randrange(4))]
    return {random_text(r): random_json(r, depth + 1) for _ in range(r.randrange(4))}


# --- plain types ---------------------------------------------------------------------------------

def random_integer(r, bits):
    return r.choice([r.randrange(-2**(bits - 1), 2**(bits - 1)), r.randrange(-5, 6),
                     -2**(bits - 1), 2**(bits - 1) - 1])


def random_decimal(r):
    whole = str(r.randrange(10**r.choice([1, 2, 4, 5, 9, 30])))
    fraction = str(r.randrange(10**9))[:r.randrange(9)] + "0" * r.choice([0, 0, 3, 8])
    text = whole + ("." + "0" * r.choice([0, 0, 5]) + fraction if fraction else "")
    return r.choice(["", "-"]) + text


def random_text(r):
    letters = "ab cé€𝄞'\"\\ zß中"
    return "".join(r.choice(letters) for _ in range(r.choice([0, 1, 2, 5, 17, 300])))


def float_of(r, code):
    width = struct.calcsize(code)
    while True:
        number = r.choice([0.0, -0.0, 1.5, -2.0, float("inf"), float("-inf"), float("nan"),
                           struct.unpack(code, r.randbytes(width))[0]])
        text = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(str(number), repr(number))
        if number != number:
            return text, struct.pack("<Q", 0x7FF8000000000000)
        return text, struct.pack("<d", number + 0.0 if number else 0.0)


def small(r):
    n = random_integer(r, 16)
    return Value(f"({n})::smallint", 1, struct.pack("<q", n))


def integer(r):
    n = random_integer(r, 32)
    return Value(f"({n})::integer", 1, struct.pack("<q", n))


def big(r):
    n = random_integer(r, 64)
    return Value(f"'{n}'::bigint", 1, struct.pack("<q", n))


def double(r):
    text, data = float_of(r, "<d")
    return Value(f"'{text}'::double precision", 2, data)


def real(r):
    text, data = float_of(r, "<f")
    return Value(f"'{text}'::real", 2, data)


def numeric(r):
    text = r.choice(list(SPECIAL)) if r.random() < 0.05 else random_decimal(r)
    return Value(f"'{text}'::numeric", 3, numeric_bytes(text))


def text(r):
    words = random_text(r)
    return Value(f"{quoted(words)}::text", 4, words.encode())


def varchar(r):
    words = random_text(r)
    both = [words.encode()] + [words.rstrip(" ").encode()] * words.endswith(" ")
    return Value(f"{quoted(words)}::varchar", 4, *both)


def char(r):
    words = random_text(r)[:20]
    return Value(f"{quoted(words)}::char(20)", 4, words.rstrip(" ").encode())


def name(r):
    words = "n" + random_text(r)[:10]
    return Value(f"{quoted(words)}::name", 4, words.encode())


def bytea(r):
    data = r.randbytes(r.choice([0, 1, 3, 16, 100, 1000]))
    return Value(f"'\\x{data.hex()}'::bytea", 5, data)


def uuid(r):
    data = r.randbytes(16)
    return Value(f"'{data.hex()}'::uuid", 6, data)


def boolean(r):
    yes = r.random() < 0.5
    return Value(f"{yes}::boolean", 7, bytes([yes]))


def one_char(r):
    byte = r.randrange(33, 127)
    return Value(f"{quoted(chr(byte))}::\"char\"", 8, bytes([byte]))


def oid(r):
    n = r.choice([0, 2**32 - 1, r.randrange(2**32)])
    return Value(f"'{n}'::oid", 9, struct.pack("<I", n))


def infinite(r):
    return r.choice(["infinity", "-infinity"]) if r.random() < 0.1 else None


def date(r):
    special = infinite(r)
    if special:
        days = (0x7FFFFFFF if special == "infinity" else 0x80000000) + 10957
        return Value(f"'{special}'::date", 10, struct.pack("<I", days & 0xFFFFFFFF))
    days = r.randrange(-700_000, 2_000_000)
    return Value(f"(date '1970-01-01' + ({days}))", 10, struct.pack("<i", days))


def lasting(micros):
    """The text of an interval of `micros` microseconds."""
    sign = "-" if micros < 0 else ""
    hours, rest = divmod(abs(micros), 3_600_000_000)
    return f"{sign}{hours} hours {sign}{rest // 1_000_000}.{rest % 1_000_000:06} seconds"


def moment(r, family, kind):
    special = infinite(r)
    if special:
        extreme = 2**63 - 1 if special == "infinity" else 2**63
        return Value(f"'{special}'::{kind}", family,
                     struct.pack("<Q", extreme + 10957 * DAY & MASK64))
    micros = r.randrange(-10**16, 10**17)
    zone = "+00" if family == 12 else ""
    sql = f"({kind} '1970-01-01 00:00:00{zone}' + interval '{lasting(micros)}')"
    return Value(sql, family, struct.pack("<q", micros))


def timestamp(r):
    return moment(r, 11, "timestamp")


def timestamptz(r):
    return moment(r, 12, "timestamptz")


def clock(r):
    micros = r.choice([0, DAY, r.randrange(DAY)])
    seconds, part = divmod(micros, 1_000_000)
    return micros, f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{part:06}"


def time(r):
    micros, written = clock(r)
    return Value(f"'{written}'::time", 13, struct.pack("<q", micros))


def timetz(r):
    micros, written = clock(r)
    east = r.randrange(-15 * 3600, 15 * 3600)
    size = abs(east)
    zone = f"{'-' if east < 0 else '+'}{size // 3600:02}:{size // 60 % 60:02}:{size % 60:02}"
    return Value(f"'{written}{zone}'::timetz", 14, struct.pack("<qi", micros, -east))


def interval(r):
    months, days = (r.choice([0, random_integer(r, 16)]) for _ in range(2))
    micros = r.choice([0, random_integer(r, 50)])
    total = (months * 30 + days) * DAY + micros
    return Value(f"'{months} mons {days} days {lasting(micros)}'::interval", 15,
                 total.to_bytes(16, "little", signed=True))


def inet(r):
    width = r.choice([4, 16])
    data = r.choice([r.randbytes(width), bytes(width)])
    prefix = r.choice([8 * width, r.randrange(8 * width + 1)])
    if width == 4:
        address = ".".join(map(str, data))
    else:
        address = ":".join(data[i:i + 2].hex() for i in range(0, 16, 2))
    head = bytes([4 if width == 4 else 6, prefix])
    return Value(f"'{address}/{prefix}'::inet", 16, head + data)


def macaddr(r):
    data = r.randbytes(6)
    return Value(f"'{data.hex(':')}'::macaddr", 17, data)


def macaddr8(r):
    data = r.randbytes(8)
    return Value(f"'{data.hex(':')}'::macaddr8", 18, data)


def jsonb(r):
    value = random_json(r)
    return Value(f"{quoted(json_text(value))}::jsonb", 19, json_bytes(value))


def mood(r):
    label = r.choice(MOODS)
    return Value(f"{quoted(label)}::mood", 20, label.encode())


MOODS = ["sad", "ok ", "glücklich"]


# --- arrays, ranges, rows ------------------------------------------------------------------------

def array_of(generator, kind):
    def generate(r):
        one = generator(r)
        structure = b"\x15" + one.structure
        dimensions = r.choice([0, 1, 1, 2])
        lengths = [r.randrange(1, 4) for _ in range(dimensions)]
        lowers = [r.choice([1, 1, -2, 7]) for _ in range(dimensions)]
        count = 1
        for length in lengths:
            count *= length
        members = [None if r.random() < 0.2 else generator(r) for _ in range(count * bool(lengths))]
        written = ["NULL" if member is None else member.sql for member in members]
        if not lengths:
            sql = f"ARRAY[]::{kind}[]"
        else:
            if dimensions == 2:
                rows = [written[i:i + lengths[1]] for i in range(0, count, lengths[1])]
                written = ["ARRAY[" + ",".join(row) + "]" for row in rows]
            sql = f"moved(ARRAY[{','.join(written)}]::{kind}[], ARRAY{lowers})"
        head = struct.pack("<i", dimensions) + b"".join(
            struct.pack("<ii", *pair) for pair in zip(lengths, lowers))
        data = head + b"".join(item(member and member.canonical[0]) for member in members)
        return Value(sql, 21, data, structure=structure)
    return generate


def integer_range_bytes(low, high):
    flags = (2 if low is None else 8) | (4 if high is None else 0)
    bounds = [struct.pack("<q", bound) for bound in (low, high) if bound is not None]
    return bytes([flags]) + b"".join(map(counted, bounds))


def int4range(r):
    structure = b"\x16\x01"
    if r.random() < 0.1:
        return Value("'empty'::int4range", 22, b"\x01", structure=structure)
    low, high = sorted(r.sample(range(-1000, 1000), 2))
    low, high = (None if r.random() < 0.2 else bound for bound in (low, high))
    sql = f"int4range({'NULL' if low is None else low}, {'NULL' if high is None else high})"
    return Value(sql, 22, integer_range_bytes(low, high), structure=structure)


def numrange(r):
    low, high = sorted(r.sample(range(-1000, 1000), 2))
    low_text, high_text = f"{low}.0", f"{high}.50" if high >= 0 else f"{high}"
    flags = r.choice([0, 8]) | r.choice([0, 16])
    bounds = f"{'[' if flags & 8 else '('}{']' if flags & 16 else ')'}"
    data = bytes([flags]) + counted(numeric_bytes(low_text)) + counted(numeric_bytes(high_text))
    return Value(f"numrange({low_text}, {high_text}, '{bounds}')", 22, data, structure=b"\x16\x03")


def int4multirange(r):
    bounds = sorted(r.sample(range(-1000, 1000, 2), 2 * r.randrange(4)))
    pairs = list(zip(bounds[::2], bounds[1::2]))
    data = struct.pack("<I", len(pairs)) + b"".join(
        counted(integer_range_bytes(*pair)) for pair in pairs)
    written = ",".join(f"[{low},{high})" for low, high in pairs)
    return Value("'{" + written + "}'::int4multirange", 23, data, structure=b"\x17\x16\x01")


def row_bytes(fields, inside):
    if inside:
        while fields and fields[-1] is None:
            fields = fields[:-1]
    return struct.pack("<I", len(fields)) + b"".join(item(field) for field in fields)


def row(r):
    members = [integer(r), text(r), row_inside(r), int_array(r)]
    nulls = [r.random() < 0.25 for _ in members]
    kinds = ["integer", "text", "pair", "integer[]"]
    written = [f"NULL::{kind}" if null else member.sql
               for member, null, kind in zip(members, nulls, kinds)]
    fields = [None if null else member.canonical[0] for member, null in zip(members, nulls)]
    structure = b"\x18" + b"\x01" + b"\x04" + b"\x18" + b"\x15\x01"
    return Value(f"ROW({', '.join(written)})", 24, row_bytes(fields, False), structure=structure)


def row_inside(r):
    """A row that is an item of another value. It is never a value by itself."""
    members = [numeric(r), integer(r)]
    nulls = [r.random() < 0.3 for _ in members]
    written = ["NULL" if null else member.sql for member, null in zip(members, nulls)]
    fields = [None if null else member.canonical[0] for member, null in zip(members, nulls)]
    return Value(f"ROW({', '.join(written)})::pair", 24, row_bytes(fields, True), structure=b"\x18")


int_array = array_of(integer, "integer")

GENERATORS = {
    **{generator.__name__: generator for generator in (
        small, integer, big, double, real, numeric, text, varchar, char, name, bytea, uuid, boolean,
        one_char, oid, date, timestamp, timestamptz, time, timetz, interval, inet, macaddr,
        macaddr8, jsonb, mood, int4range, numrange, int4multirange, row)},
    "int_array": int_array, "text_array": array_of(text, "text"),
    "numeric_array": array_of(numeric, "numeric"), "row_array": array_of(row_inside, "pair"),
    "range_array": array_of(int4range, "int4range"),
}

# The objects that the values need in a database. moved() changes an array's lower bounds by means
# of the array's text.
SETUP = """
    CREATE TYPE mood AS ENUM (""" + ", ".join(map(quoted, MOODS)) + """);
    CREATE TYPE pair AS (a numeric, b integer);
    CREATE FUNCTION moved(a anyarray, lowers int[]) RETURNS anyarray LANGUAGE plpgsql AS $$
    DECLARE
      bounds text := (
        SELECT string_agg(format('[%s:%s]', l, l + array_length(a, n::int) - 1), '' ORDER BY n)
        FROM unnest(lowers) WITH ORDINALITY u (l, n));
    BEGIN
      EXECUTE format('SELECT %L::%s', bounds || '=' || a::text, pg_typeof(a)) INTO a;
      RETURN a;
    END $$"""


def random_value(kind, r):
    return GENERATORS[kind](r)
