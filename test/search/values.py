"""Generates values of every type: edge cases, and other spellings of equal values.

A value is an SQL expression. Types without a generator here get the texts of all other types, so
that every type of PostgreSQL is tried.
"""

# Types that every database here gets.
OWN_TYPES = """
CREATE TYPE mood AS ENUM ('a', 'b', 'ä ');
CREATE TYPE pair AS (a int, b float8);
CREATE TYPE wide_pair AS (x bigint, y real);
CREATE TYPE nested AS (c pair, n numeric, a int[], r int4range, t text);
CREATE TYPE float_range AS RANGE (subtype = float8, multirange_type_name = float_multirange);
CREATE TYPE interval_range AS RANGE (subtype = interval);
CREATE TYPE text_range AS RANGE (subtype = text, collation = "C");
CREATE TYPE char_range AS RANGE (subtype = bpchar);
CREATE DOMAIN int_domain AS int;
CREATE DOMAIN positive AS int_domain CHECK (VALUE > 0);
CREATE DOMAIN numeric_domain AS numeric(40, 10);
CREATE DOMAIN text_domain AS text;
CREATE DOMAIN varchar_domain AS varchar;
CREATE DOMAIN varchar_3 AS varchar(3);
CREATE DOMAIN char_3 AS char(3);
CREATE DOMAIN char_70 AS char(70);
CREATE DOMAIN array_domain AS int[];
CREATE DOMAIN range_domain AS float_range;
CREATE DOMAIN pair_domain AS pair;
CREATE DOMAIN mood_domain AS mood;
CREATE FUNCTION float8_of_bits(bigint) RETURNS float8
  LANGUAGE internal IMMUTABLE STRICT AS 'int8up';
CREATE FUNCTION float4_of_bits(int) RETURNS float4
  LANGUAGE internal IMMUTABLE STRICT AS 'int4up';
DO $$
BEGIN
  CREATE COLLATION ignores_case (provider = icu, deterministic = false, locale = 'und-u-ks-level2');
  CREATE DOMAIN ignores_case AS text COLLATE ignores_case;
  CREATE DOMAIN icu_text AS text COLLATE "und-x-icu";
EXCEPTION WHEN feature_not_supported OR undefined_object OR invalid_parameter_value THEN
  NULL; -- a server without ICU, an encoding that ICU does not know
END $$;
"""


def literal(text):
    """An SQL literal. A backslash in it needs standard_conforming_strings, which is on by
    default."""
    return "'" + text.replace("'", "''") + "'"


def one_of(*texts):
    return lambda r: r.choice(texts)


def integer(low, high):
    edges = [n for bits in (7, 8, 15, 16, 24, 31, 32, 53, 63, 64)
             for n in (2**bits - 1, 2**bits, 2**bits + 1, -2**bits - 1, -2**bits, 1 - 2**bits)]
    edges = [n for n in edges + [low, high] if low <= n <= high]

    def generate(r):
        n = r.choice(edges) if r.random() < 0.4 else r.randint(max(low, -40), min(high, 40))
        return str(n)
    return generate


def numeric(r):
    chance = r.random()
    if chance < 0.15:
        return r.choice(["NaN", "Infinity", "-Infinity", "-0", "-0.00", "1e131000", "-1e131000",
                         "1e-16000", "1e400", "-1e400", "1e-400", "0." + "0" * 50 + "1"])
    if chance < 0.3:
        return str(2 ** r.choice([24, 31, 32, 53, 63]) + r.choice([-1, 0, 1])) + r.choice(
            ["", ".0", ".5"])
    if chance < 0.4:
        return r.choice(["0.1000000000000000055511151231257827021181583404541015625",
                         "0.100000001490116119384765625"])
    whole = r.choice(["0", "1", "10", "9999", "10000", "100000000", "12345678", "00001",
                      "1" + "0" * r.randint(0, 40)])
    fraction = r.choice(["", ".0", ".00", ".1", ".10", ".1000", ".0001", ".00010", ".5", ".25",
                         "." + "0" * r.randint(1, 20) + r.choice(["", "5", "50"])])
    return r.choice(["", "-"]) + whole + fraction + r.choice(["", "", "", "e0", "e4", "e-4", "e1"])


def floating(r):
    if r.random() < 0.6:
        return r.choice(["0", "-0", "NaN", "Infinity", "-Infinity", "1e0", "0.1", "0.5", "1e-40",
                         "1.4e-45", "5e-324", "2.2250738585072011e-308", "1.17549435e-38", "3.4e38",
                         "1.7976931348623157e308", "16777216", "16777217", "9007199254740991",
                         "9007199254740992", "9007199254740994", "9223372036854775808",
                         "-2147483648", "-9223372036854775808", "0.10000000149011612",
                         "4294967296", "9.2233715e18"])
    return repr(r.choice([0.1, 0.25, 1, 3, 10]) * r.choice([1, -1, 2, 7, 10.0]))


def text(r):
    word = r.choice(["", "a", "ab", "A", "b", "ä", "a\u0308", "ß", "𝒳", "x" * 63, "x" * 64,
                     "x" * 62 + "ä",
                     "a\tb", "a\u00a0", "\\377", "\\000", "0", "1", "08", "t", "ab" * 1500])
    return word + " " * r.choice([0, 0, 0, 1, 2, 3])


def date(r):
    if r.random() < 0.6:
        return r.choice(["2000-01-01", "1970-01-01", "1999-12-31", "infinity", "-infinity",
                         "0001-01-01", "4714-11-24 BC", "5874897-12-31", "294276-12-31",
                         "294277-01-01"])
    return f"2024-02-{r.randint(26, 29)}"


def moment(zones):
    def generate(r):
        day, _, era = date(r).partition(" ")
        if "infinity" in day:
            return day
        clock = r.choice(["", " 00:00", " 24:00", " 23:59:60", " 12:00:00.000001",
                          " 23:59:59.999999"])
        return day + clock + r.choice(zones) + (" BC" if era else "")
    return generate


CLOCK = ["00:00", "24:00", "23:59:60", "12:00", "12:00:00.000001", "11:00", "13:00", "01:30"]


def interval(r):
    return r.choice(["1 month", "30 days", "720 hours", "29 days 24 hours", "1 year", "12 mons",
                     "0", "360 days", "1 day", "24:00", "-24:00", "1 mon -30 days",
                     "1 day -24:00", "12:00",
                     "178000000 years", "-178000000 years", "1 us", "01:30", "90 minutes",
                     "31 days", "2147483647 days", "2147483647 days 24 hours", "13:00", "11:00",
                     "23:59:59"])


def json(r, depth=0):
    chance = r.random()
    if depth > 2 or chance < 0.45:
        return r.choice(["1", "1.0", "1.00", "1e0", "10e-1", "0", "-0", "0.0", "null", "true",
                         "false",
                         '"a"', '"1"', '""', '"\\u0061"', '"ä"', "100", "1e2", "1E+2", "1e1000",
                         "123456789012345678901234567890"])
    if chance < 0.7:
        return "[" + ",".join(json(r, depth + 1) for _ in range(r.randint(0, 3))) + "]"
    keys = ["a", "b", "aa", "", "\\u0061", "ä"]
    return "{" + ",".join(f'"{r.choice(keys)}":{json(r, depth + 1)}'
                          for _ in range(r.randint(0, 3))) + "}"


def quoted(item):
    return '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'


def array(items):
    def item(r):
        return "NULL" if r.random() < 0.15 else quoted(items(r))

    def generate(r):
        chance = r.random()
        if chance < 0.1:
            return "{}"
        if chance < 0.3:
            return f"{{{{{item(r)}}},{{{item(r)}}}}}"
        length = r.randint(1, 2)
        bounds = ""
        if chance < 0.5:
            low = r.choice([0, 1, 2, -5])
            bounds = f"[{low}:{low + length - 1}]="
        return bounds + "{" + ",".join(item(r) for _ in range(length)) + "}"
    return generate


def range_of(bounds):
    """Ranges. In half of them, the lower bound is above the upper one, which is an SQL error."""
    def generate(r):
        if r.random() < 0.1:
            return "empty"
        low, high = ("" if r.random() < 0.15 else quoted(bounds(r)) for _ in range(2))
        return r.choice("[(") + low + "," + high + r.choice(")]")
    return generate


def multirange_of(bounds):
    one = range_of(bounds)
    return lambda r: "{" + ",".join(one(r) for _ in range(r.randint(0, 3))) + "}"


def row_of(*fields):
    def generate(r):
        written = ["" if r.random() < 0.1 else quoted(field(r)) for field in fields]
        return "(" + ",".join(written) + ")"
    return generate


SMALL = one_of("1", "2", "3")
SMALL_NUMERIC = one_of("0", "0.0", "1", "1.0", "1.00", "2.5", "2.50", "NaN")
SMALL_FLOAT = one_of("-0", "0", "1", "1.0", "2", "Infinity", "-Infinity", "NaN")
SPAN = one_of("30 days", "1 mon", "720 hours", "1 day")
DAY = one_of("2024-01-01", "2024-01-02", "2024-01-03", "infinity")
WORD = one_of("a", "a ", "b", "c")
MOOD = one_of("a", "b", "ä ")
INTEGER = integer(-2**31, 2**31 - 1)
ADDRESS = one_of("10.0.0.0/8", "10.0.0.1/8", "0.0.0.0/0", "::/0", "::1/128", "::1", "1.2.3.4",
                 "1.2.3.4/32", "1.2.3.4/24", "2001:db8::/32", "::ffff:1.2.3.4", "10/8", "10.1/16")
UUID = one_of("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{a0eebc999c0b4ef8bb6d6bb9bd380a11}",
              "A0EEBC999C0B4EF8BB6D6BB9BD380A11", "00000000-0000-0000-0000-000000000041")
BYTES = one_of("\\x", "\\x00", "\\x6162", "ab", "\\141b", "\\x61 62", "\\x0000", "a",
               "\\x" + "61" * 3000)
PAIR = row_of(SMALL, SMALL_FLOAT)

GENERATORS = {
    "smallint": integer(-2**15, 2**15 - 1), "integer": INTEGER,
    "bigint": integer(-2**63, 2**63 - 1),
    "numeric": numeric, "real": floating, "double precision": floating, "text": text,
    "character varying": text, "bpchar": text, "name": text, "bytea": BYTES, "uuid": UUID,
    "boolean": one_of("t", "true", "yes", "f", "no", "off"), "date": date,
    "timestamp without time zone": moment([""]),
    "timestamp with time zone": moment(["+00", "+01", "-05:30", "Z", "+14"]),
    "time without time zone": one_of(*CLOCK),
    "time with time zone": lambda r: r.choice(CLOCK) + r.choice(["+00", "-00", "+01", "+13:45:10"]),
    "interval": interval, "inet": ADDRESS, "cidr": ADDRESS, "jsonb": json,
    "macaddr": one_of("08:00:2b:01:02:03", "08-00-2b-01-02-03", "0800.2b01.0203",
                      "00:00:00:00:00:00"),
    "macaddr8": one_of("08:00:2b:01:02:03:04:05", "08002b0102030405", "08:00:2b:ff:fe:01:02:03"),
    '"char"': one_of("a", "", "b", "abc", "\\377", "\\200", "0", "1", " "),
    "oid": one_of("0", "-1", "4294967295", "5", "65", "2147483648", "32768"),
    "int2vector": one_of("1 2", "1", "", "3 3"), "oidvector": one_of("1 2", "1", "", "3 3"),
    "bit": one_of("0", "1"), "point": one_of("(0,0)", "(-0,1)"), "tid": one_of("(0,1)", "(1,1)"),
    "xml": one_of("<a/>", "a"), "tsvector": one_of("a b", "a:1"), "pg_lsn": one_of("0/0", "1/AB"),

    "smallint[]": array(SMALL), "integer[]": array(SMALL), "bigint[]": array(SMALL),
    "numeric[]": array(numeric), "real[]": array(floating), "double precision[]": array(floating),
    "text[]": array(WORD), "character varying[]": array(WORD), "bpchar[]": array(WORD),
    "name[]": array(WORD), "interval[]": array(SPAN), "jsonb[]": array(json),
    "inet[]": array(ADDRESS),
    "boolean[]": array(one_of("t", "f")), "uuid[]": array(UUID), "bytea[]": array(BYTES),
    "date[]": array(DAY), "timestamp with time zone[]": array(DAY),
    "int4range[]": array(range_of(SMALL)),
    "numrange[]": array(range_of(SMALL_NUMERIC)), "mood[]": array(MOOD), "pair[]": array(PAIR),
    "pair_domain[]": array(PAIR), "text_domain[]": array(WORD), "positive[]": array(SMALL),

    "int4range": range_of(SMALL), "int8range": range_of(SMALL), "numrange": range_of(SMALL_NUMERIC),
    "daterange": range_of(DAY), "tsrange": range_of(DAY), "tstzrange": range_of(DAY),
    "float_range": range_of(SMALL_FLOAT), "interval_range": range_of(SPAN),
    "text_range": range_of(WORD), "char_range": range_of(WORD),
    "int4multirange": multirange_of(SMALL), "int8multirange": multirange_of(SMALL),
    "nummultirange": multirange_of(SMALL_NUMERIC), "datemultirange": multirange_of(DAY),
    "float_multirange": multirange_of(SMALL_FLOAT),

    "mood": MOOD, "pair": PAIR, "wide_pair": PAIR,
    "nested": row_of(PAIR, SMALL_NUMERIC, array(SMALL), range_of(SMALL), WORD),
    "int_domain": INTEGER, "positive": INTEGER, "numeric_domain": numeric, "text_domain": text,
    "varchar_domain": text, "varchar_3": WORD, "char_3": WORD, "char_70": text,
    "array_domain": array(SMALL),
    "range_domain": range_of(SMALL_FLOAT), "pair_domain": PAIR, "mood_domain": MOOD,
    "ignores_case": text, "icu_text": text,
}

# Values that have no text: NaN with special bits, arrays that keep a null bitmap after their NULL
# element is gone.
EXPRESSIONS = {
    "double precision": ["float8_of_bits(x'7ff8000000c0ffee'::bigint)",
                         "float8_of_bits(x'fff8000000000000'::bigint)"],
    "real": ["float4_of_bits(x'ffc00000'::int)", "float4_of_bits(x'7f800001'::int)"],
    "numeric": ["1::numeric + 0.000", "1.0 - 1.00", "1e10 * 1e-10",
                "'Infinity'::numeric - 'Infinity'"],
    "integer[]": ["array_append('{1,2}'::int[], NULL)[1:2]", "('{1,2}'::int[])[5:6]"],
    "text[]": ["array_append('{a,\"b \"}'::text[], NULL)[1:2]"],
    "numeric[]": ["array_append('{1.0}'::numeric[], NULL)[1:1]"],
    "text": ["repeat('x', 20000)",
             "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 300) i)"],
    "bytea": ["repeat('x', 20000)::bytea"],
}


def expression_of(kind, r):
    """A value of the type. Sometimes the text is one of another type, so that the cast may fail."""
    if kind in EXPRESSIONS and r.random() < 0.1:
        return r.choice(EXPRESSIONS[kind])
    return f"{literal(text_of(kind, r))}::{kind}"


def text_of(kind, r):
    if kind not in GENERATORS or r.random() < 0.2:
        kind = r.choice(list(GENERATORS))
    return GENERATORS[kind](r)
