// See conversion.hpp. Each conversion is a function that returns the values that equal the
// given one in the filter's family. The converted values are then hashed like any other values of
// that family.

#include "pg/element/conversion.hpp"

#include <cmath>

#include "pg/element/canonical.hpp"
#include "pg/list.hpp"

extern "C" {
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/date.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
}

namespace bloomfilter {

namespace {

// The result of a conversion: up to two values of one type. If `any` is true, the value may equal
// any value of the filter.
struct Converted {
  int count;
  Datum values[2];
  bool any;
};
constexpr Converted kNone = {0, {}, false}, kAny = {0, {}, true};
Converted one(Datum value) {
  return {1, {value}, false};
}

using Convert = Converted(const ValueType *value_type, Datum value);

int64 integer_of(const ValueType *value_type, Datum value) {
  return value_type->base == INT8OID   ? DatumGetInt64(value)
         : value_type->base == INT4OID ? DatumGetInt32(value)
                                       : DatumGetInt16(value);
}

double double_of(const ValueType *value_type, Datum value) {
  return value_type->base == FLOAT8OID ? DatumGetFloat8(value) : DatumGetFloat4(value);
}

// A double that is a whole number below this limit equals exactly one integer.
constexpr double kExactIntegers = 9007199254740992.0; // 2^53

Converted integer_of_float(const ValueType *value_type, Datum value) {
  const double number = double_of(value_type, value);
  if (std::fabs(number) < kExactIntegers && std::trunc(number) == number)
    return one(Int64GetDatum(static_cast<int64>(number)));
  return std::fabs(number) >= kExactIntegers && std::fabs(number) <= -static_cast<double>(INT64_MIN)
             ? kAny
             : kNone;
}

// Reads the number from its canonical bytes, because they have no zeros at either end.
Converted integer_of_numeric(const ValueType *, Datum value) {
  Canonical canonical;
  numeric_bytes(value, &canonical);
  const auto *words = static_cast<const uint8 *>(canonical.bytes);
  const auto word = [words](int i) { return load<uint16>(words + 2 * i); };
  constexpr int kBase = 10000, kMaxDigits = 5; // of a number of 64 bits
  constexpr uint16 kPositive = 0, kNegative = 0x4000;
  const uint16 sign = word(0);
  const int weight = static_cast<int16>(word(1));
  const int digits = static_cast<int>(canonical.length / 2) - 2;
  if ((sign != kPositive && sign != kNegative) || weight >= kMaxDigits || digits > weight + 1)
    return kNone;
  __int128 number = 0;
  for (int i = 0; i <= weight; i++)
    number = number * kBase + (i < digits ? word(2 + i) : 0);
  if (sign == kNegative)
    number = -number;
  const auto narrow = static_cast<int64>(number);
  return narrow == number ? one(Int64GetDatum(narrow)) : kNone;
}

// SQL compares an oid with a bigint by its number, and with an integer by its bits. An oid above
// 2^31 - 1 is therefore converted to two integers.
Converted integer_of_oid(const ValueType *, Datum value) {
  const Oid oid = DatumGetObjectId(value);
  Converted converted = one(Int64GetDatum(oid));
  if (oid > PG_INT32_MAX)
    converted.values[converted.count++] = Int64GetDatum(static_cast<int32>(oid));
  return converted;
}

Converted oid_of_integer(const ValueType *value_type, Datum value) {
  const int64 number = integer_of(value_type, value);
  if (value_type->base == INT8OID && (number < 0 || number > PG_UINT32_MAX))
    return kNone;
  return one(ObjectIdGetDatum(static_cast<Oid>(number)));
}

Converted numeric_of_integer(const ValueType *value_type, Datum value) {
  return one(NumericGetDatum(int64_to_numeric(integer_of(value_type, value))));
}

Converted float_of_integer(const ValueType *value_type, Datum value) {
  return one(Float8GetDatum(static_cast<double>(integer_of(value_type, value))));
}

// SQL's cast raises an error if the number is too large for a float, or so small that it would
// become 0. Such a number converts to no value.
Converted float_of_numeric(const ValueType *, Datum value) {
  const double number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
  const bool lost = std::isinf(number) ? !numeric_is_inf(DatumGetNumeric(value))
                    : number == 0      ? integer_of_numeric(nullptr, value).count == 0
                                       : false;
  return lost ? kNone : one(Float8GetDatum(number));
}

Converted text_of_char(const ValueType *, Datum value) {
  return one(DirectFunctionCall1(char_text, value));
}

// Reads both forms that text can have for a "char": one byte, or \ooo with three octal digits. The
// cast to text writes \ooo only for bytes from 128 on, so other octal digits convert to no value.
Converted char_of_text(const ValueType *value_type, Datum value) {
  const text *string =
      value_type->base == NAMEOID ? cstring_to_text(NameStr(*DatumGetName(value))) : packed(value);
  const char *bytes = VARDATA_ANY(string);
  int length = static_cast<int>(VARSIZE_ANY_EXHDR(string));
  if (value_type->base == BPCHAROID)
    length = bpchartruelen(const_cast<char *>(bytes), length);
  if (length <= 1)
    return one(CharGetDatum(length == 0 ? '\0' : bytes[0]));
  const auto is_digit = [bytes](int i, char lowest, char highest) {
    return bytes[i] >= lowest && bytes[i] <= highest;
  };
  if (length != 4 || bytes[0] != '\\' || !is_digit(1, '2', '3') || !is_digit(2, '0', '7') ||
      !is_digit(3, '0', '7'))
    return kNone;
  return one(CharGetDatum(
      static_cast<char>((bytes[1] - '0') << 6 | (bytes[2] - '0') << 3 | (bytes[3] - '0'))));
}

Converted date_of_timestamp(const ValueType *, Datum value) {
  const Timestamp timestamp = DatumGetTimestamp(value);
  if (TIMESTAMP_IS_NOBEGIN(timestamp))
    return one(DateADTGetDatum(DATEVAL_NOBEGIN));
  if (TIMESTAMP_IS_NOEND(timestamp))
    return one(DateADTGetDatum(DATEVAL_NOEND));
  return timestamp % USECS_PER_DAY == 0
             ? one(DateADTGetDatum(static_cast<DateADT>(timestamp / USECS_PER_DAY)))
             : kNone;
}

Converted timestamp_of_date(const ValueType *, Datum value) {
  const DateADT date = DatumGetDateADT(value);
  if (DATE_IS_NOBEGIN(date))
    return one(TimestampGetDatum(DT_NOBEGIN));
  if (DATE_IS_NOEND(date))
    return one(TimestampGetDatum(DT_NOEND));
  return date < TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE
             ? one(TimestampGetDatum(date * USECS_PER_DAY))
             : kNone;
}

Converted time_of_interval(const ValueType *, Datum value) {
  const __int128 span = interval_span(DatumGetIntervalP(value));
  return span >= 0 && span <= USECS_PER_DAY ? one(TimeADTGetDatum(static_cast<TimeADT>(span)))
                                            : kNone;
}

Converted interval_of_time(const ValueType *, Datum value) {
  auto *interval = make_zeroed<Interval>();
  interval->time = DatumGetTimeADT(value);
  return one(IntervalPGetDatum(interval));
}

struct Conversion {
  Family to, from;
  bool implicit; // SQL casts implicitly, so values may also be added and removed
  Oid type;      // the type of the values that `convert` returns
  Convert *convert;
};
constexpr Conversion kConversions[] = {
    {Family::integer, Family::numeric, false, INT8OID, integer_of_numeric},
    {Family::integer, Family::floating, false, INT8OID, integer_of_float},
    {Family::integer, Family::oid, false, INT8OID, integer_of_oid},
    {Family::numeric, Family::integer, true, NUMERICOID, numeric_of_integer},
    {Family::floating, Family::integer, true, FLOAT8OID, float_of_integer},
    {Family::floating, Family::numeric, true, FLOAT8OID, float_of_numeric},
    {Family::oid, Family::integer, true, OIDOID, oid_of_integer},
    {Family::char_, Family::text, false, CHAROID, char_of_text},
    {Family::text, Family::char_, true, TEXTOID, text_of_char},
    {Family::date, Family::timestamp, false, DATEOID, date_of_timestamp},
    {Family::timestamp, Family::date, true, TIMESTAMPOID, timestamp_of_date},
    {Family::time, Family::interval, false, TIMEOID, time_of_interval},
    {Family::interval, Family::time, true, INTERVALOID, interval_of_time},
};

// Returns NULL if values of `from` are not converted to `to`.
const Conversion *find_conversion(Family to, Family from) {
  for (const Conversion &conversion : kConversions)
    if (conversion.to == to && conversion.from == from)
      return &conversion;
  return nullptr;
}

const Conversion &conversion_for(const Header &header, const ValueType *value_type,
                                 Purpose purpose) {
  const Conversion *conversion =
      find_conversion(value_family(header.element_type.family), value_type->family);
  if (!conversion || (purpose == Purpose::change && !conversion->implicit))
    raise_mismatch(header, value_type, purpose);
  return *conversion;
}

// The element type that values are converted to. The element type of the original values keeps it
// in a list.
ValueType *counterpart(ValueType *value_type, Oid type) {
  for (ValueType *other = value_type->counterpart; other; other = other->counterpart)
    if (other->type == type)
      return other;
  ValueType *other = resolve_value_type(type, C_COLLATION_OID, value_type->context);
  other->counterpart = value_type->counterpart;
  return value_type->counterpart = other;
}

} // namespace

bool is_converted(Family held, Family probed) {
  return find_conversion(held, probed) != nullptr;
}

bool is_comparable(const Header &header, const ValueType *value_type) {
  return fits(header, value_type) || holds(header, value_type) ||
         is_converted(value_family(header.element_type.family), value_type->family);
}

void declare_values(Header *header, Oid type) {
  const ValueType *value_type = named_value_type(type, CurrentMemoryContext);
  if (holds(*header, value_type))
    adopt_family(header, *value_type);
  else
    (void)conversion_for(*header, value_type,
                         Purpose::change); // values are cast before they are stored
}

Digests converted_digests(ValueType *value_type, Datum value, const Header &header,
                          Purpose purpose) {
  const Conversion &conversion = conversion_for(header, value_type, purpose);
  const Converted converted = conversion.convert(value_type, value);
  ValueType *other = counterpart(value_type, conversion.type);
  // The first converted value is the result of SQL's cast. Additions and removals use that value
  // alone.
  const int count = purpose == Purpose::change ? Min(converted.count, 1) : converted.count;
  Digests digests = no_digests();
  for (int i = 0; i < count; i++) {
    const Digests of_value = digests_of(other, converted.values[i], header, purpose);
    for (int j = 0; j < of_value.count; j++)
      digests.digest[digests.count++] = of_value.digest[j];
    digests.any |= of_value.any;
  }
  // Several integers equal one float only from 2^53 on. An encoding of 32 bits holds no integers
  // that large.
  digests.any |= converted.any && header.element_type.family != Family::int32;
  digests.no_value = digests.count == 0 && !digests.any;
  return digests;
}

} // namespace bloomfilter
