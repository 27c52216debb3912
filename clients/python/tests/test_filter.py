"""Tests of the package without a server: python3 -m unittest discover -s tests

clients/cases.json has filters and what the server answers for values of each type. test/golden has
the bytes of stored filters. test/search/clients.py compares the package with a server, on generated
values.
"""

import base64
import datetime as dt
import enum
import json
import pathlib
import random
import struct
import sys
import unittest
import uuid
from decimal import Decimal

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from postgresql_bloomfilter import (  # noqa: E402
    DamagedError, ElementTypeError, Filter, FilterError, UnsupportedError)

CASES = json.loads((HERE / "../../cases.json").read_text(encoding="utf-8"))
GOLDEN = HERE / "../../../test/golden/core"
EXTREMES = {"infinity": "max", "-infinity": "min"}


def time_of(kind, text):
    if text in EXTREMES:
        return getattr(kind, EXTREMES[text])
    date, _, time = text.partition(" ")
    day = dt.date.fromisoformat(date)
    if kind is dt.date:
        return day
    time, zone = (time[:-6], time[-6:]) if time[-6:-5] in ("+", "-") else (time, "")
    if time[-3:-2] in ("+", "-"):
        time, zone = time[:-3], time[-3:] + ":00"
    clock, _, part = time.partition(".")
    moment = dt.datetime.combine(day, dt.time.fromisoformat(clock)).replace(
        microsecond=int(part.ljust(6, "0")))
    return dt.datetime.fromisoformat(moment.isoformat() + zone)


def timestamptz(text):
    value = time_of(dt.datetime, text)
    return value if value.tzinfo else value.replace(tzinfo=dt.timezone.utc)


READ = {
    "integer": int, "float": float, "numeric": Decimal, "text": str, "bytea": bytes.fromhex,
    "uuid": uuid.UUID, "boolean": lambda text: text == "true", "null": lambda text: None,
    "date": lambda text: time_of(dt.date, text),
    "timestamp": lambda text: time_of(dt.datetime, text), "timestamptz": timestamptz,
    "row": lambda fields: tuple(READ[kind](text) for kind, text in fields),
}


def filter_of(case):
    return Filter(case["filter"], row=case.get("row"))


def named(name):
    return filter_of(next(case for case in CASES if case["name"] == name))


def bytes_of(name):
    return base64.b64decode(next(case["filter"] for case in CASES if case["name"] == name))


def golden():
    """The payloads of the golden files, with their values."""
    for path in sorted(GOLDEN.glob("*.txt")):
        rows = [line.split() for line in path.read_text().splitlines()]
        data = "".join(row[-1] for row in rows if row[0] in ("header", "line"))
        values = [int(row[1]) for row in rows if row[0] == "hash"]
        data = bytes.fromhex(data)
        yield path.name, data, values if data[2] == 1 else [f"value {n}" for n in values]


class Answers(unittest.TestCase):
    def test_cases(self):
        for case in CASES:
            f, values = filter_of(case), []
            for (kind, text), answer in case["questions"]:
                values.append(READ[kind](text))
                with self.subTest(case["name"], value=values[-1]):
                    self.assertIs(values[-1] in f, answer)
                    self.assertIs(f.contains(values[-1]), answer)
            self.assertEqual(f.contains_each([None] + values),
                             [None] + [answer for _, answer in case["questions"]])

    def test_golden(self):
        found = 0
        for name, data, values in golden():
            with self.subTest(name):
                self.assertTrue(all(Filter(data).contains_each(values)))
                found += 1
        self.assertEqual(found, 5)

    def test_info(self):
        info = named("integer, links").info
        self.assertEqual((info.type, info.layout, info.element_type, info.links, info.grows),
                         ("bloomfilter", None, "integer", 2, False))
        self.assertEqual((info.expected, info.target_fpr), (None, None))
        info = named("integer, grown").info
        self.assertEqual((info.expected, info.target_fpr, info.grows), (1, 0.4, True))
        info = named("integer, cuckoo of odd length").info
        self.assertEqual((info.type, info.layout, info.seed, info.expected, info.target_fpr),
                         ("cuckoofilter", None, 3, 11, 0.1))
        info = named("integer, a seed").info
        self.assertEqual((info.layout, info.seed, info.expected, info.hashes, info.bits),
                         ("lines", -7, None, 2, 512))
        self.assertIsNone(named("empty").info.element_type)

    def test_kinds_of_bytes(self):
        text = next(case["filter"] for case in CASES if case["name"] == "integer, lines")
        spread = "\n".join(text[at:at + 60] for at in range(0, len(text), 60)) + "\n"
        data = bytes_of("integer, lines")
        for given in (spread, data, bytearray(data), memoryview(data)):
            self.assertIn(4711, Filter(given))


class Values(unittest.TestCase):
    def refused(self, error, name, *values):
        f = named(name)
        for value in values:
            with self.subTest(name, value=value):
                with self.assertRaises(error):
                    value in f
                with self.assertRaises(error):
                    f.contains_each([value])

    def test_other_types(self):
        day, moment = dt.date(2024, 1, 8), dt.datetime(2024, 1, 8)
        aware = moment.replace(tzinfo=dt.timezone.utc)
        self.refused(ElementTypeError, "integer, lines", True, 1.0, "1", b"1", day, (1,))
        self.refused(ElementTypeError, "boolean", 1, 0, "true", 1.0)
        self.refused(ElementTypeError, "numeric", 12.5, "12.5", True)
        self.refused(ElementTypeError, "float", "0.1", True)
        self.refused(ElementTypeError, "text", b"a", 1, uuid.UUID(int=0))
        self.refused(ElementTypeError, "bytea", "a", 1)
        self.refused(ElementTypeError, "uuid", "00000000-0000-0000-0000-000000000000", 0)
        self.refused(ElementTypeError, "date", aware, "2024-01-08", 0)
        self.refused(ElementTypeError, "timestamp", aware, "2024-01-08")
        self.refused(ElementTypeError, "timestamptz", moment, day)
        self.refused(ElementTypeError, "row", (1, 2), ("a", 1), (1, "a", 2), 1)

    def test_values_that_sql_does_not_have(self):
        self.refused(FilterError, "text", "a\0b", "\ud800", "\udfff\ud800")
        self.refused(FilterError, "numeric", Decimal("1e131072"), Decimal("1e-16384"), 10**131072,
                     Decimal("1" + "0" * 3_000_000 + "1"), Decimal("0E-16384"),
                     Decimal("10E-16384"), Decimal("1." + "0" * 16384))
        self.refused(FilterError, "empty", "a\0b", Decimal("1e131072"), ("a\0b",))

    def test_words_of_type_errors(self):
        with self.assertRaisesRegex(ElementTypeError, "but the value has the Python type int$"):
            1 in named("text")
        with self.assertRaisesRegex(FilterError, "not int$"):
            Filter(5)

    def test_types_that_are_not_known(self):
        for name in ("integer, lines", "empty"):
            self.refused(ElementTypeError, name, [1], {1}, 1 + 2j, object(), dt.time(1),
                         dt.timedelta(1), range(1), (dt.time(1),))

    def test_none(self):
        times = bytearray(bytes_of("integer, lines"))
        times[2] = 13
        for f in (named("text"), named("row"), named("empty"), Filter(times)):
            with self.assertRaisesRegex(FilterError, "SQL's answer is NULL"):
                None in f
        self.assertEqual(named("text").contains_each([None, "a"]), [None, True])

    def test_numbers(self):
        f = named("integer, pages")
        for value in (4711, Decimal("4711.00"), Decimal("4.711e3"), 2**63 - 1, Decimal(-2**63),
                      Decimal("0E+30"), Decimal("-0E+999999999")):
            self.assertIn(value, f)
        for value in (2**63, -2**63 - 1, 10**400, Decimal("1.5"), Decimal("NaN"),
                      Decimal("1e999999999"), Decimal("1e-999999999")):
            self.assertNotIn(value, f)
        f = named("float")
        for value in (0, -0.0, Decimal("3.50"), Decimal("0.1"), Decimal("sNaN"),
                      Decimal("Infinity")):
            self.assertIn(value, f)
        for value in (Decimal("1e400"), Decimal("-1e-400"), 10**400):  # of SQL, but of no float8
            self.assertNotIn(value, f)
        f = named("numeric")
        for value in (100000000, Decimal("0E-16383"), Decimal("0E+200000"),
                      Decimal("12.5" + "0" * 16382)):
            self.assertIn(value, f)

    def test_infinity(self):
        utc = dt.timezone.utc
        self.assertIn(dt.datetime.max, named("infinity of date"))
        self.assertIn(dt.date.min, named("infinity of timestamp"))
        self.assertIn(dt.datetime.max.replace(tzinfo=utc), named("infinity of timestamptz"))

    def test_dates(self):
        f = named("date")
        self.assertIn(dt.datetime(2024, 2, 29), f)
        self.assertNotIn(dt.datetime(2024, 2, 29, 0, 0, 0, 1), f)
        self.assertIn(dt.date(2000, 1, 1), named("timestamp"))

        class Nanoseconds(dt.datetime):
            nanosecond = 1
        self.refused(FilterError, "timestamp", Nanoseconds(2000, 1, 1))

        class NoOffset(dt.tzinfo):
            def utcoffset(self, when):
                return None
        self.assertIn(dt.datetime(2000, 1, 1, tzinfo=NoOffset()), named("timestamp"))

    def test_subclasses(self):
        class Name(str, enum.Enum):
            A = "a"

        class Number(enum.IntEnum):
            ONE = 1
        self.assertIn(Name.A, named("text"))
        self.assertIn(Number.ONE, named("integer, lines"))

    def test_rows(self):
        data = bytes_of("row")
        f = Filter(data)
        self.assertIn((1, "a"), f)
        with self.assertRaisesRegex(FilterError, "row="):
            (4, None) in f
        self.assertIn((4, None), named("row"))
        with self.assertRaises(UnsupportedError):
            (1, ("a",)) in f
        for row in (["integer"], ["text", "integer"], ["integer", "json"], "text"):
            with self.assertRaises(FilterError):
                Filter(data, row=row)
        with self.assertRaises(ElementTypeError):
            Filter(CASES[0]["filter"], row=["integer"])
        f = named("row of all types")  # the fields are cast to the declared types
        self.assertEqual(f.info.element_type, "row")

    def test_arguments_that_are_no_lists(self):
        for wrong in (lambda: Filter(bytes_of("row"), row=5),
                      lambda: named("text").contains_each(None),
                      lambda: named("text").contains_each("a")):
            with self.assertRaises(TypeError) as raised:
                wrong()
            self.assertNotIsInstance(raised.exception, FilterError)
        for data in (b"abc", bytearray(b"abc"), memoryview(b"abc")):  # lists of int, else
            with self.assertRaisesRegex(TypeError, "takes a list of values, not"):
                named("integer, lines").contains_each(data)

    def test_unknown_families(self):
        data = bytearray(bytes_of("integer, lines"))
        for family in (8, 9, 13, 14, 15, 16, 17, 18, 19, 20, 25):
            data[2] = family
            f = Filter(data)
            for value in (1, "a", dt.date(2024, 1, 8)):
                with self.assertRaises(UnsupportedError):
                    value in f


class Damage(unittest.TestCase):
    def payloads(self):
        for case in CASES:
            yield base64.b64decode(case["filter"])
        for _, data, _ in golden():
            yield data

    def test_shortened(self):
        for data in self.payloads():
            for length in list(range(min(len(data), 100))) + [len(data) - 1]:
                with self.assertRaises(DamagedError):
                    Filter(data[:length])
            with self.assertRaises(DamagedError):
                Filter(data + b"\0")

    def test_mutations(self):
        r = random.Random(1)
        for data in self.payloads():
            for _ in range(300):
                bad = bytearray(data)
                for _ in range(r.choice([1, 1, 2, 4])):
                    bad[r.randrange(min(len(bad), r.choice([36, 90, len(bad)])))] = r.choice(
                        [0, 1, 2, 0x12, 0x21, 0xFF, r.randrange(256)])
                try:
                    f = Filter(bad)
                except FilterError:
                    continue
                for value in (1, "a", 0.5, (1, "a")):
                    try:
                        self.assertIsInstance(value in f, bool)
                    except FilterError:
                        pass

    def test_headers(self):
        base = bytes_of("integer, lines")
        for at, value in [(0, 0), (0, 2), (1, 0), (1, 5), (1, 16), (1, 255), (2, 21), (2, 26),
                          (2, 31), (3, 0), (3, 17), (12, 0), (27, 0x80), (28, 0), (28, 2),
                          (31, 255), (32, 1), (32, 4), (32, 16), (33, 1)]:
            data = bytearray(base)
            data[at] = value
            with self.subTest(at=at, value=value), self.assertRaises(DamagedError):
                Filter(data)
        data = bytearray(base)
        data[2] = 0  # bits, but no element type
        with self.assertRaises(DamagedError):
            Filter(data)
        for layout in (3, 4, 6, 9, 12, 13, 14, 15):
            data[1] = layout
            with self.assertRaisesRegex(UnsupportedError, "bf_to_"):
                Filter(data)

    def test_order_of_links(self):
        data = bytes_of("integer, self-sized links")
        first, second = data[-128:-64], data[-64:]
        self.assertEqual(Filter(data).info.links, 2)
        for bitmaps in (second + first, first + first):
            with self.assertRaises(DamagedError):
                Filter(data[:-128] + bitmaps)

    def test_buckets(self):
        data = bytearray(bytes_of("integer, cuckoo of 32 bits"))
        Filter(data)
        at = next(at for at in range(40, len(data), 16) if any(data[at + 4:at + 8]))
        data[at:at + 4], data[at + 4:at + 8] = data[at + 4:at + 8], data[at:at + 4]
        with self.assertRaises(DamagedError):
            Filter(data)
        data = bytearray(bytes_of("integer, cuckoo of odd length"))
        f, m = data[3], struct.unpack_from("<I", data, 28)[0]
        self.assertTrue(f % 2 and m % 2)
        data[-1] |= 0x10
        with self.assertRaises(DamagedError):
            Filter(data)

    def test_text(self):
        text = CASES[0]["filter"]
        for bad in ("", "=", text[:-1], text + "=", text[:-2] + "+=", "é" + text, "\\x0101", "*",
                    text[:8] + "." + text[8:]):
            with self.subTest(bad), self.assertRaises(DamagedError):
                Filter(bad)
        for bad in (None, 5, ["a"]):
            with self.assertRaises(FilterError):
                Filter(bad)
        with self.assertRaisesRegex(DamagedError, r"text of a bytea: pass bytes.fromhex"):
            Filter("\\x" + bytes_of("text").hex())


if __name__ == "__main__":
    unittest.main()
