// Scalar types: the family of each, and its canonical bytes (pg/element/value_type.hpp lists them;
// jsonb is in jsonb.cpp).
//
// The table kScalarTypes has a row for each type. The functions run for each value that is hashed,
// so they copy as little as possible. An enum's labels are in the catalog and are cached, by their
// OID, until a label may have changed.

#include <sys/socket.h>

#include "pg/compat.hpp"
#include "pg/element/canonical.hpp"
#include "pg/element/numeric.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
}

namespace bloomfilter {

void numeric_bytes(Datum value, Canonical *out) {
  struct varlena *stored = packed(value);
  const StoredNumeric numeric = read_numeric(stored);
  const Size length = numeric.length();
  uint8 *bytes = out->buffer;
  if (unlikely(!numeric.write_short(bytes))) {
    bytes = make_array<uint8>(length);
    numeric.write(bytes);
  }
  out->set(bytes, length);
  if (unlikely(reinterpret_cast<Pointer>(stored) != DatumGetPointer(value)))
    pfree(stored);
}

namespace {

// True if text is hashed as it is, without a conversion to UTF-8.
bool text_is_canonical() {
  const int encoding = GetDatabaseEncoding();
  return encoding == PG_UTF8 || encoding == PG_SQL_ASCII;
}

} // namespace

__int128 interval_span(const Interval *interval) {
  const int64 days = interval->month * static_cast<int64>(DAYS_PER_MONTH) + interval->day;
  return static_cast<__int128>(days) * USECS_PER_DAY + interval->time;
}

void canonical_string(const char *string, Size length, Canonical *out) {
  if (text_is_canonical()) {
    out->set(string, length);
    return;
  }
  const char *converted = pg_server_to_any(string, static_cast<int>(length), PG_UTF8);
  out->set(converted, converted == string ? length : strlen(converted));
}

Size length_without_blanks(const char *string, Size length) {
  constexpr uint64 kBlanks = UINT64CONST(0x2020202020202020);
  while (length >= sizeof kBlanks && load<uint64>(string + length - sizeof kBlanks) == kBlanks)
    length -= sizeof kBlanks;
  while (length > 0 && string[length - 1] == ' ')
    length--;
  return length;
}

namespace {

constexpr int64 kUnixEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;

// Additions near infinity wrap around. This is harmless, because different values keep different
// sums.
uint64 wrapping_add(int64 a, int64 b) {
  return static_cast<uint64>(a) + static_cast<uint64>(b);
}

void canonical_int2(ValueType *, Datum value, Canonical *out) {
  out->set_number<int64>(DatumGetInt16(value));
}

void canonical_double(double number, Canonical *out) {
  if (number == 0)
    number = 0; // -0 = 0
  out->set_number(number != number ? UINT64CONST(0x7ff8000000000000) : double_bits(number));
}

void canonical_float4(ValueType *, Datum value, Canonical *out) {
  canonical_double(DatumGetFloat4(value), out);
}

void canonical_float8(ValueType *, Datum value, Canonical *out) {
  canonical_double(DatumGetFloat8(value), out);
}

void canonical_numeric(ValueType *, Datum value, Canonical *out) {
  numeric_bytes(value, out);
}

void canonical_text(ValueType *, Datum value, Canonical *out) {
  const text *string = packed(value);
  canonical_string(VARDATA_ANY(string), VARSIZE_ANY_EXHDR(string), out);
}

void canonical_bpchar(ValueType *, Datum value, Canonical *out) {
  const BpChar *string = packed(value);
  const char *bytes = VARDATA_ANY(string);
  canonical_string(bytes, length_without_blanks(bytes, VARSIZE_ANY_EXHDR(string)), out);
}

void canonical_cstring(ValueType *, Datum value, Canonical *out) {
  const char *string = DatumGetCString(value);
  canonical_string(string, strlen(string), out);
}

void canonical_bytea(ValueType *, Datum value, Canonical *out) {
  const bytea *bytes = packed(value);
  out->set(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

// uuid, macaddr and macaddr8: values by reference. Their bytes in memory are the canonical bytes.
void canonical_fixed(ValueType *value_type, Datum value, Canonical *out) {
  out->set(DatumGetPointer(value), value_type->typlen);
}

void canonical_name(ValueType *, Datum value, Canonical *out) {
  const char *string = NameStr(*DatumGetName(value));
  canonical_string(string, strlen(string), out);
}

void canonical_bool(ValueType *, Datum value, Canonical *out) {
  out->set_number<uint8>(DatumGetBool(value) ? 1 : 0);
}

void canonical_char(ValueType *, Datum value, Canonical *out) {
  out->set_number(static_cast<uint8>(DatumGetChar(value)));
}

void canonical_oid(ValueType *, Datum value, Canonical *out) {
  out->set_number<uint32>(DatumGetObjectId(value));
}

void canonical_date(ValueType *, Datum value, Canonical *out) {
  out->set_number(static_cast<uint32>(wrapping_add(DatumGetDateADT(value), kUnixEpochDays)));
}

void canonical_timestamp(ValueType *, Datum value, Canonical *out) {
  out->set_number(wrapping_add(DatumGetTimestamp(value), kUnixEpochDays * USECS_PER_DAY));
}

void canonical_time(ValueType *, Datum value, Canonical *out) {
  out->set_number<int64>(DatumGetTimeADT(value));
}

void canonical_timetz(ValueType *, Datum value, Canonical *out) {
  const TimeTzADT *time = DatumGetTimeTzADTP(value);
  store<int64>(out->buffer, time->time);
  store<int32>(out->buffer + 8, time->zone);
  out->set(out->buffer, 12);
}

void canonical_interval(ValueType *, Datum value, Canonical *out) {
  const __int128 span = interval_span(DatumGetIntervalP(value));
  store(out->buffer, static_cast<uint64>(span));
  store(out->buffer + 8, static_cast<uint64>(span >> 64));
  out->set(out->buffer, 16);
}

void canonical_inet(ValueType *, Datum value, Canonical *out) {
  const auto *address = reinterpret_cast<const inet *>(packed(value));
  out->buffer[0] = ip_family(address) == PGSQL_AF_INET ? 4 : 6;
  out->buffer[1] = ip_bits(address);
  memcpy(out->buffer + 2, ip_addr(address), ip_addrsize(address));
  out->set(out->buffer, 2 + ip_addrsize(address));
}

} // namespace

// A cache of an enum's labels: the canonical bytes of the labels that were looked up last, by the
// value's OID.
struct EnumLabel {
  Oid value;
  uint32 length;
  char *bytes;
};
struct EnumLabels {
  uint64 generation;
  EnumLabel recent[256];

  EnumLabel *of(Oid value) { return &recent[value / 2 % lengthof(recent)]; } // mostly even
  void forget(uint64 now) {
    for (EnumLabel &label : recent)
      if (label.bytes)
        pfree(label.bytes);
    *this = {};
    generation = now;
  }
};

namespace {

// Changes whenever the labels of any enum may have changed.
uint64 label_generation = 0;

void note_changed_labels(Datum, SysCacheIdentifier, uint32) {
  label_generation++;
}

EnumLabels *make_labels(MemoryContext context) {
  static bool informed = false; // true once the callback is registered
  if (!informed)
    CacheRegisterSyscacheCallback(ENUMOID, note_changed_labels, 0);
  informed = true;
  return make_zeroed<EnumLabels>(context);
}

// Looks up a label and remembers it. The cache's generation is set before the lookup. So if the
// lookup itself receives news of a changed label, the label is looked up again next time.
pg_noinline void look_up_label(ValueType *value_type, Oid value, Canonical *out) {
  EnumLabels *labels = value_type->labels;
  if (labels->generation != label_generation)
    labels->forget(label_generation);
  HeapTuple tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(value));
  if (!HeapTupleIsValid(tuple))
    ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                    errmsg("invalid internal value for enum %s: %u",
                           format_type_be(value_type->type), value)));
  const char *name = NameStr(reinterpret_cast<Form_pg_enum>(GETSTRUCT(tuple))->enumlabel);
  canonical_string(name, strlen(name), out);
  auto *bytes = make_array<char>(out->length, value_type->context);
  memcpy(bytes, out->bytes, out->length);
  ReleaseSysCache(tuple);

  EnumLabel *label = labels->of(value);
  if (label->bytes)
    pfree(label->bytes);
  *label = {value, static_cast<uint32>(out->length), bytes};
  out->bytes = bytes;
}

void canonical_enum(ValueType *value_type, Datum value, Canonical *out) {
  EnumLabels *labels = value_type->labels;
  const Oid oid = DatumGetObjectId(value);
  const EnumLabel *label = labels->of(oid);
  if (likely(label->value == oid && labels->generation == label_generation))
    out->set(label->bytes, label->length);
  else
    look_up_label(value_type, oid, out);
}

struct ScalarType {
  Oid type;
  Family family;
  void (*canonical)(ValueType *type, Datum value, Canonical *out);
  uint64 (*hash)(ValueType *type, Datum value, uint64 seed);
};

template <void (*kCanonical)(ValueType *, Datum, Canonical *)>
constexpr ScalarType scalar(Oid type, Family family) {
  return {type, family, kCanonical, hash_through<kCanonical>};
}

constexpr ScalarType kScalarTypes[] = {
    scalar<canonical_int8>(INT8OID, Family::integer),
    scalar<canonical_int4>(INT4OID, Family::integer),
    scalar<canonical_int2>(INT2OID, Family::integer),
    scalar<canonical_float8>(FLOAT8OID, Family::floating),
    scalar<canonical_float4>(FLOAT4OID, Family::floating),
    scalar<canonical_numeric>(NUMERICOID, Family::numeric),
    scalar<canonical_text>(TEXTOID, Family::text),
    scalar<canonical_text>(VARCHAROID, Family::text),
    scalar<canonical_bpchar>(BPCHAROID, Family::text),
    scalar<canonical_name>(NAMEOID, Family::text),
    scalar<canonical_cstring>(UNKNOWNOID, Family::text),
    scalar<canonical_bytea>(BYTEAOID, Family::bytea),
    scalar<canonical_fixed>(UUIDOID, Family::uuid),
    scalar<canonical_bool>(BOOLOID, Family::boolean),
    scalar<canonical_char>(CHAROID, Family::char_),
    scalar<canonical_oid>(OIDOID, Family::oid),
    scalar<canonical_date>(DATEOID, Family::date),
    scalar<canonical_timestamp>(TIMESTAMPOID, Family::timestamp),
    scalar<canonical_timestamp>(TIMESTAMPTZOID, Family::timestamptz),
    scalar<canonical_time>(TIMEOID, Family::time),
    scalar<canonical_timetz>(TIMETZOID, Family::timetz),
    scalar<canonical_interval>(INTERVALOID, Family::interval),
    scalar<canonical_inet>(INETOID, Family::inet),
    scalar<canonical_inet>(CIDROID, Family::inet),
    scalar<canonical_fixed>(MACADDROID, Family::macaddr),
    scalar<canonical_fixed>(MACADDR8OID, Family::macaddr8),
    scalar<canonical_jsonb>(JSONBOID, Family::jsonb),
};

void set_scalar(ValueType *value_type, const ScalarType &scalar) {
  value_type->family = scalar.family;
  value_type->canonical = scalar.canonical;
  value_type->hash = scalar.hash;
}

} // namespace

void canonical_stripped(ValueType *value_type, Datum value, Canonical *out) {
  canonical_bpchar(value_type, value, out);
}

bool resolve_scalar(ValueType *value_type, Oid collation) {
  if (type_is_enum(value_type->base)) {
    set_scalar(value_type, scalar<canonical_enum>(value_type->base, Family::enum_));
    value_type->labels = make_labels(value_type->context);
    return true;
  }
  for (const ScalarType &scalar : kScalarTypes)
    if (scalar.type == value_type->base) {
      set_scalar(value_type, scalar);
      if (scalar.canonical == canonical_text && text_is_canonical())
        value_type->hash = hash_through<canonical_bytea>;
      value_type->typlen = get_typlen(scalar.type);
      // A bare literal has a collation only if COLLATE gives it one.
      if (scalar.family == Family::text && (scalar.type != UNKNOWNOID || OidIsValid(collation)))
        check_collation(value_type->type, collation);
      return true;
    }
  return false;
}

ValueType *scalar_value_type(Oid type, Oid collation, MemoryContext context) {
  const Oid base = getBaseType(type);
  // Labels and text are converted to UTF-8, and not every character can be.
  bool known = type_is_enum(base) && text_is_canonical();
  for (const ScalarType &scalar : kScalarTypes)
    if (scalar.type == base)
      known = scalar.family == Family::text
                  ? text_is_canonical() && OidIsValid(collation) &&
                        get_collation_isdeterministic(collation)
                  : scalar.family != Family::jsonb; // a document may be nested too deeply
  return known ? resolve_value_type(type, collation, context) : nullptr;
}

} // namespace bloomfilter
