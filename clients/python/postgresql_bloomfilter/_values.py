"""From a Python value to the bytes that the server hashes: its canonical bytes.

Section Families of doc/format.md specifies these bytes. Each function here returns all canonical
bytes under which a filter of the family may hold a value that a driver reads as this Python value:
most often one string of bytes. There are two for a text that ends with a blank, which may be a
char(n), and for a float, which may be a real. No bytes at all mean that the value can equal no
value of the family.
"""

import datetime
import decimal
import struct
import uuid
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from xxhash import xxh3_64_intdigest

from ._errors import ElementTypeError, FilterError, UnsupportedError

Encoder = Callable[[Any], Sequence[bytes]]

NAMES = ("none", "integer", "float", "numeric", "text", "bytea", "uuid", "boolean", '"char"', "oid",
         "date", "timestamp", "timestamptz", "time", "timetz", "interval", "inet", "macaddr",
         "macaddr8", "jsonb", "enum", "array", "range", "multirange", "row", "hash")
NUMBERS = {name: number for number, name in enumerate(NAMES)}
TEXT, ROW = NUMBERS["text"], NUMBERS["row"]
MOST_ALTERNATIVES = 64  # of a row, whose fields may each have two

NEVER: Tuple[bytes, ...] = ()
MICROSECOND = datetime.timedelta(microseconds=1)
EPOCH = datetime.datetime(1970, 1, 1)
EPOCH_UTC = EPOCH.replace(tzinfo=datetime.timezone.utc)
EPOCH_DAY = EPOCH.toordinal()
DAY = 86_400_000_000
# The server's infinity and -infinity in its own epoch, moved to 1970.
INFINITE_DATES = [struct.pack("<I", (extreme + 10957) % 2**32) for extreme in (2**31 - 1, 2**31)]
INFINITE_TIMES = [struct.pack("<Q", (extreme + 10957 * DAY) % 2**64)
                  for extreme in (2**63 - 1, 2**63)]


def _integer(value: int) -> Sequence[bytes]:
    if -2**63 <= value < 2**63:
        return (value.to_bytes(8, "little", signed=True),)
    return NEVER


def _integer_of_decimal(value: decimal.Decimal) -> Sequence[bytes]:
    if not value:  # adjusted() of 0E+30 is 30
        return _integer(0)
    if value.is_finite() and value.adjusted() < 19 and value == value.to_integral_value():
        return _integer(int(value))
    return NEVER


def _float_bytes(value: float) -> bytes:
    return struct.pack("<d", value + 0.0) if value == value else b"\0\0\0\0\0\0\xf8\x7f"


def _float(value: float) -> Sequence[bytes]:
    """Some drivers read the real nearest to 0.1 as 0.1, but its bytes are those of
    0.10000000149011612."""
    try:
        real = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        real = 0.0
    if real == value or real == 0 or value != value:
        return (_float_bytes(value),)
    return _float_bytes(value), _float_bytes(real)


def _float_of_int(value: int) -> Sequence[bytes]:
    try:
        return (_float_bytes(float(value)),)
    except OverflowError:
        return NEVER


def _float_of_decimal(value: decimal.Decimal) -> Sequence[bytes]:
    number = float("nan") if value.is_nan() else float(value)
    if value.is_finite() and (number in (float("inf"), float("-inf")) or number == 0 and value):
        return NEVER  # SQL's cast raises an error
    return (_float_bytes(number),)


def _numeric(value: decimal.Decimal) -> Sequence[bytes]:
    if not value.is_finite():
        sign = 0xC000 if value.is_nan() else 0xF000 if value.is_signed() else 0xD000
        return (struct.pack("<Hh", sign, 0),)
    negative, digits, least = value.as_tuple()
    text, exponent = "".join(map(str, digits)).lstrip("0"), int(least)
    if exponent < -16383 or (text and len(text) + exponent > 131072):
        raise FilterError(f"a numeric cannot be as large or as long as {value:.20g}")
    if not text:
        return (bytes(4),)
    kept = text.rstrip("0")
    exponent += len(text) - len(kept)
    kept += "0" * (exponent % 4)  # digits to base 10000 are aligned to the decimal point
    exponent -= exponent % 4
    kept = kept.rjust(-(-len(kept) // 4) * 4, "0")
    groups = [int(kept[at:at + 4]) for at in range(0, len(kept), 4)]
    return (struct.pack(f"<Hh{len(groups)}H", 0x4000 if negative else 0,
                        exponent // 4 + len(groups) - 1, *groups),)


def _numeric_of_int(value: int) -> Sequence[bytes]:
    return _numeric(decimal.Decimal(value))


def _text(value: str) -> Sequence[bytes]:
    try:
        data = value.encode()
    except UnicodeEncodeError as error:
        raise FilterError(f"not a text: {error}") from None
    if 0 in data:
        raise FilterError("not a text: it contains a character with the code 0")
    return (data, data.rstrip(b" ")) if data.endswith(b" ") else (data,)


def all_encoded(values: List[Any]) -> Optional[List[bytes]]:
    """The bytes of many texts, encoded together, which is cheaper. None if one of them is no text,
    or may have two strings of bytes."""
    try:
        data = "\0".join(values).encode()
    except (TypeError, UnicodeEncodeError):
        return None
    if not values or data.count(0) != len(values) - 1 or data.endswith(b" ") or b" \0" in data:
        return None
    return data.split(b"\0")


def _bytea(value: Any) -> Sequence[bytes]:
    return (bytes(value),)


def _uuid(value: uuid.UUID) -> Sequence[bytes]:
    return (value.bytes,)


def _boolean(value: bool) -> Sequence[bytes]:
    return (b"\1" if value else b"\0",)


def _aware(value: datetime.datetime) -> bool:
    return value.utcoffset() is not None


def _check(value: datetime.datetime, aware: bool, family: str) -> None:
    if getattr(value, "nanosecond", 0):  # pandas.Timestamp
        raise FilterError(f"{value} is not a whole number of microseconds")
    if _aware(value) != aware:
        raise ElementTypeError(
            f"filter holds {family} values, but the value is a datetime "
            + ("with a time zone" if not aware else "without a time zone"))


def _with_infinity(data: bytes, value: Any, least: Any, infinite: Sequence[bytes]) \
        -> Sequence[bytes]:
    """psycopg2 and asyncpg read infinity as the last value of the Python type, and -infinity as
    the first one."""
    if value == type(least).max:
        return data, infinite[0]
    return (data, infinite[1]) if value == least else (data,)


def _date(value: datetime.date) -> Sequence[bytes]:
    value = datetime.date(value.year, value.month, value.day)
    data = struct.pack("<i", value.toordinal() - EPOCH_DAY)
    return _with_infinity(data, value, datetime.date.min, INFINITE_DATES)


def _date_of_timestamp(value: datetime.datetime) -> Sequence[bytes]:
    _check(value, False, "date")
    if value.replace(tzinfo=None) == datetime.datetime.max:
        return INFINITE_DATES[:1]
    midnight = datetime.datetime(value.year, value.month, value.day)
    return _date(value) if value.replace(tzinfo=None) == midnight else NEVER


def _timestamp(value: datetime.datetime) -> Sequence[bytes]:
    _check(value, False, "timestamp")
    value = value.replace(tzinfo=None)
    return _with_infinity(struct.pack("<q", (value - EPOCH) // MICROSECOND), value,
                          datetime.datetime.min, INFINITE_TIMES)


def _timestamp_of_date(value: datetime.date) -> Sequence[bytes]:
    data = struct.pack("<q", (value.toordinal() - EPOCH_DAY) * DAY)
    return _with_infinity(data, datetime.date(value.year, value.month, value.day),
                          datetime.date.min, INFINITE_TIMES)


def _timestamptz(value: datetime.datetime) -> Sequence[bytes]:
    _check(value, True, "timestamptz")
    return _with_infinity(struct.pack("<q", (value - EPOCH_UTC) // MICROSECOND),
                          value.replace(tzinfo=None), datetime.datetime.min, INFINITE_TIMES)


def _any_timestamp(value: datetime.datetime) -> Sequence[bytes]:
    return _timestamptz(value) if _aware(value) else _timestamp(value)


# For each family, the Python types of values that SQL compares with it, or a part of them: the
# others are an error.
ENCODERS: Dict[str, Dict[type, Encoder]] = {
    "integer": {int: _integer, decimal.Decimal: _integer_of_decimal},
    "float": {float: _float, int: _float_of_int, decimal.Decimal: _float_of_decimal},
    "numeric": {decimal.Decimal: _numeric, int: _numeric_of_int},
    "text": {str: _text},
    "bytea": {bytes: _bytea, bytearray: _bytea, memoryview: _bytea},
    "uuid": {uuid.UUID: _uuid},
    "boolean": {bool: _boolean},
    "date": {datetime.date: _date, datetime.datetime: _date_of_timestamp},
    "timestamp": {datetime.datetime: _timestamp, datetime.date: _timestamp_of_date},
    "timestamptz": {datetime.datetime: _timestamptz},
}

# The encoders of values whose type alone tells the family. A filter without values has none.
FAMILY_OF_TYPE: Dict[type, str] = {
    int: "integer", float: "float", decimal.Decimal: "numeric", str: "text", bytes: "bytea",
    bytearray: "bytea", memoryview: "bytea", uuid.UUID: "uuid", bool: "boolean",
    datetime.date: "date", datetime.datetime: "timestamp"}


def known_type(value: Any) -> type:
    """The type of a value, or the base of its type, that this package knows."""
    for base in type(value).__mro__:
        if base in FAMILY_OF_TYPE or base is tuple:
            return base
    raise ElementTypeError(f"values of the Python type {type(value).__name__} cannot be asked for: "
                           "convert the value")


def _default_encoder(kind: type) -> Encoder:
    return _any_timestamp if kind is datetime.datetime else ENCODERS[FAMILY_OF_TYPE[kind]][kind]


def _family_of(value: Any) -> str:
    kind = known_type(value)
    if kind is tuple:
        raise UnsupportedError("a row within a row cannot be hashed here")
    if kind is datetime.datetime and _aware(value):
        return "timestamptz"
    if kind is int and not -2**63 <= value < 2**63:
        return "numeric"
    return FAMILY_OF_TYPE[kind]


def _shape(families: Sequence[str]) -> int:
    structure = bytes([ROW] + [NUMBERS[family] for family in families])
    return xxh3_64_intdigest(structure) & 0xFFFFFF or 1


class Encoders:
    """Canonical bytes for the filters of one family and shape."""

    def __init__(self, family: int, shape: int, row: Optional[Sequence[str]]):
        self._family, self._shape, self._row = NAMES[family], shape, row
        self.by_type: Dict[type, Encoder] = {}  # of the types that were seen, for speed
        if self._family == "none":
            known = {kind: _default_encoder(kind) for kind in FAMILY_OF_TYPE}
            self._known: Dict[type, Encoder] = {**known, tuple: self._any_row}
        elif self._family == "row":
            self._known = {tuple: self._row_bytes}
        else:
            self._known = ENCODERS.get(self._family, {})
        for name in row or ():
            if name not in ENCODERS:
                raise FilterError(f"{name!r} is no element type of a row's field: "
                                  + ", ".join(ENCODERS))
        if row is not None and family != 0 and (family != ROW or _shape(row) != shape):
            held = "rows of other types" if family == ROW else self._family + " values"
            raise ElementTypeError(f"filter holds {held}, not rows of {', '.join(row)}")

    def __call__(self, value: Any) -> Encoder:
        """The function that gives a value of this type its canonical bytes."""
        if value is None:
            raise FilterError("None is no value: SQL's answer is NULL")
        if not self._known:
            raise UnsupportedError(f"filter holds {self._family} values, which are not hashed here:"
                                   " ask the server, or build the filter from value::text")
        kind = known_type(value)
        if kind not in self._known:
            raise ElementTypeError(f"filter holds {self._family} values, but the value has the "
                                   f"Python type {type(value).__name__}")
        self.by_type[type(value)] = encoder = self._known[kind]
        return encoder

    def _any_row(self, value: Tuple[Any, ...]) -> Sequence[bytes]:
        for field in value:
            if field is not None:
                family = _family_of(field)
                ENCODERS[family][known_type(field)](field)
        return NEVER

    def _row_bytes(self, value: Tuple[Any, ...]) -> Sequence[bytes]:
        row = self._row
        if row is None:
            if None in value:
                raise FilterError("a row with None needs the types of its fields: "
                                  "Filter(data, row=('integer', 'text'))")
            row = [_family_of(field) for field in value]
            if _shape(row) != self._shape:
                raise ElementTypeError(f"filter holds rows of other types, but the value is a row "
                                       f"of {', '.join(row)}")
        elif len(row) != len(value):
            raise ElementTypeError(f"filter holds rows of {len(row)} fields, but the value has "
                                   f"{len(value)}")
        rows: List[bytes] = [struct.pack("<I", len(row))]
        for family, field in zip(row, value):
            if field is None:
                rows = [start + b"\1" for start in rows]
                continue
            encode = ENCODERS[family].get(known_type(field))
            if encode is None:
                raise ElementTypeError(f"a field of the row is {family}, but the value is a "
                                       f"{type(field).__name__}")
            rows = [start + b"\0" + struct.pack("<I", len(data)) + data
                    for start in rows for data in encode(field)]
            if len(rows) > MOST_ALTERNATIVES:
                raise UnsupportedError("too many fields that may be char(n) or real")
        return rows
