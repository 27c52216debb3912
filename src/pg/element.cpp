#include "pg/element.hpp"

#include <sys/socket.h>

#include "core/bytes.hpp"
#include "core/hash.hpp"
#include "pg/canonical.hpp"
#include "pg/jsonb.hpp"
#include "pg/layout.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
}

namespace bloomfilter {

// From numeric's wire form, its only public one: counts and digits in network byte order, which the
// canonical bytes replace.
void *numeric_bytes(Datum value, Canonical *out) {
  struct varlena *sent =
      reinterpret_cast<struct varlena *>(DatumGetPointer(DirectFunctionCall1(numeric_send, value)));
  auto *wire = reinterpret_cast<uint8 *>(VARDATA(sent));
  auto word = [wire](int i) { return static_cast<uint16>(wire[2 * i] << 8 | wire[2 * i + 1]); };
  enum { kDigitCount, kWeight, kSign, kScale, kDigits };

  int first = 0, last = word(kDigitCount);
  auto weight = static_cast<int16>(word(kWeight));
  while (first < last && word(kDigits + first) == 0) {
    first++;
    weight--;
  }
  while (first < last && word(kDigits + last - 1) == 0)
    last--;

  constexpr uint16 kNegative = 0x4000; // other signs than + and - are NaN and the infinities
  uint16 sign = word(kSign);
  if (first == last) {
    weight = 0;
    if (sign == kNegative)
      sign = 0;
  }
  uint8 *end = wire; // never ahead of what is read
  const auto put = [&end](uint16 number) {
    store(end, number);
    end += sizeof number;
  };
  put(sign);
  put(static_cast<uint16>(weight));
  for (int i = first; i < last; i++)
    put(word(kDigits + i));
  out->set(wire, end - wire);
  return sent;
}

namespace {

// Is text kept as the bytes that are hashed?
bool text_is_canonical() {
  const int encoding = GetDatabaseEncoding();
  return encoding == PG_UTF8 || encoding == PG_SQL_ASCII;
}

} // namespace

void canonical_string(const char *string, Size length, Canonical *out) {
  if (text_is_canonical()) {
    out->set(string, length);
    return;
  }
  const char *converted = pg_server_to_any(string, static_cast<int>(length), PG_UTF8);
  out->set(converted, converted == string ? length : strlen(converted));
}

bool ends_with_blank(const Element *element, Datum value) {
  if (!element->varying)
    return false;
  const text *string = packed(value);
  const Size length = VARSIZE_ANY_EXHDR(string);
  return length > 0 && VARDATA_ANY(string)[length - 1] == ' ';
}

namespace {

constexpr int64 kUnixEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;

// Additions around infinity wrap: a bijection is all that hashing needs.
uint64 wrapping_add(int64 a, int64 b) {
  return static_cast<uint64>(a) + static_cast<uint64>(b);
}

void canonical_int2(Element *, Datum value, Canonical *out) {
  out->set_number<int64>(DatumGetInt16(value));
}

void canonical_int4(Element *, Datum value, Canonical *out) {
  out->set_number<int64>(DatumGetInt32(value));
}

void canonical_int8(Element *, Datum value, Canonical *out) {
  out->set_number<int64>(DatumGetInt64(value));
}

void canonical_double(double number, Canonical *out) {
  if (number == 0)
    number = 0; // -0 = 0
  out->set_number(number != number ? UINT64CONST(0x7ff8000000000000) : double_bits(number));
}

void canonical_float4(Element *, Datum value, Canonical *out) {
  canonical_double(DatumGetFloat4(value), out);
}

void canonical_float8(Element *, Datum value, Canonical *out) {
  canonical_double(DatumGetFloat8(value), out);
}

void canonical_numeric(Element *, Datum value, Canonical *out) {
  numeric_bytes(value, out);
}

void canonical_text(Element *, Datum value, Canonical *out) {
  const text *string = packed(value);
  canonical_string(VARDATA_ANY(string), VARSIZE_ANY_EXHDR(string), out);
}

void canonical_bpchar(Element *, Datum value, Canonical *out) {
  const BpChar *string = packed(value);
  canonical_string(VARDATA_ANY(string),
                   bpchartruelen(VARDATA_ANY(string), VARSIZE_ANY_EXHDR(string)), out);
}

void canonical_cstring(Element *, Datum value, Canonical *out) {
  const char *string = DatumGetCString(value);
  canonical_string(string, strlen(string), out);
}

void canonical_bytea(Element *, Datum value, Canonical *out) {
  const bytea *bytes = packed(value);
  out->set(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

// uuid, macaddr, macaddr8, name: values by reference whose memory is their canonical form.
void canonical_fixed(Element *element, Datum value, Canonical *out) {
  out->set(DatumGetPointer(value), element->typlen);
}

void canonical_name(Element *, Datum value, Canonical *out) {
  const char *string = NameStr(*DatumGetName(value));
  canonical_string(string, strlen(string), out);
}

void canonical_bool(Element *, Datum value, Canonical *out) {
  out->set_number<uint8>(DatumGetBool(value) ? 1 : 0);
}

void canonical_char(Element *, Datum value, Canonical *out) {
  out->set_number(static_cast<uint8>(DatumGetChar(value)));
}

void canonical_oid(Element *, Datum value, Canonical *out) {
  out->set_number<uint32>(DatumGetObjectId(value));
}

void canonical_date(Element *, Datum value, Canonical *out) {
  out->set_number(static_cast<uint32>(wrapping_add(DatumGetDateADT(value), kUnixEpochDays)));
}

void canonical_timestamp(Element *, Datum value, Canonical *out) {
  out->set_number(wrapping_add(DatumGetTimestamp(value), kUnixEpochDays * USECS_PER_DAY));
}

void canonical_time(Element *, Datum value, Canonical *out) {
  out->set_number<int64>(DatumGetTimeADT(value));
}

void canonical_timetz(Element *, Datum value, Canonical *out) {
  const TimeTzADT *time = DatumGetTimeTzADTP(value);
  store<int64>(out->buffer, time->time);
  store<int32>(out->buffer + 8, time->zone);
  out->set(out->buffer, 12);
}

void canonical_interval(Element *, Datum value, Canonical *out) {
  const Interval *interval = DatumGetIntervalP(value);
  const int64 days = interval->month * static_cast<int64>(DAYS_PER_MONTH) + interval->day;
  const __int128 span = static_cast<__int128>(days) * USECS_PER_DAY + interval->time;
  store(out->buffer, static_cast<uint64>(span));
  store(out->buffer + 8, static_cast<uint64>(span >> 64));
  out->set(out->buffer, 16);
}

void canonical_inet(Element *, Datum value, Canonical *out) {
  const inet *address = DatumGetInetPP(value);
  out->buffer[0] = ip_family(address) == PGSQL_AF_INET ? 4 : 6;
  out->buffer[1] = ip_bits(address);
  memcpy(out->buffer + 2, ip_addr(address), ip_addrsize(address));
  out->set(out->buffer, 2 + ip_addrsize(address));
}

void canonical_enum(Element *element, Datum value, Canonical *out) {
  HeapTuple tuple = SearchSysCache1(ENUMOID, value);
  if (!HeapTupleIsValid(tuple))
    ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                    errmsg("invalid internal value for enum %s: %u", format_type_be(element->type),
                           DatumGetObjectId(value))));
  const char *label = pstrdup(NameStr(reinterpret_cast<Form_pg_enum>(GETSTRUCT(tuple))->enumlabel));
  ReleaseSysCache(tuple);
  canonical_string(label, strlen(label), out);
}

// Bytewise hashing needs a collation under which equal means bytewise equal.
void check_collation(Oid type, Oid collation) {
  if (!OidIsValid(collation))
    ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_COLLATION),
                    errmsg("could not determine which collation to use for a bloom filter of %s",
                           format_type_be(type)),
                    errhint("Use the COLLATE clause to set the collation explicitly.")));
  if (!get_collation_isdeterministic(collation))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("nondeterministic collations are not supported for bloom filters"),
                    errdetail("Values that are equal under collation \"%s\" can differ in bytes.",
                              get_collation_name(collation)),
                    errhint("Use a canonical form of the value, such as lower(value), and a "
                            "deterministic collation, such as COLLATE \"C\", on both sides.")));
}

[[noreturn]] void raise_unsupported(Oid type, Oid base) {
  char category;
  bool preferred;
  get_type_category_preferred(base, &category, &preferred);
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("bloom filters of type %s are not supported", format_type_be(type)),
           category == TYPCATEGORY_STRING
               ? errhint("The type may call values equal that differ in bytes; use a canonical "
                         "form of the value, such as lower(value::text), on both sides.")
               : errhint("Cast the value to a supported type, on both sides.")));
}

// The hash of canonical bytes whose making the compiler sees, and often their length.
template <void (*kCanonical)(Element *, Datum, Canonical *)>
__attribute__((flatten)) uint64 hash_through(Element *element, Datum value, uint64 seed) {
  Canonical canonical;
  kCanonical(element, value, &canonical);
  return hash_bytes(canonical.bytes, canonical.length, seed);
}

struct ScalarType {
  Oid type;
  Family family;
  void (*canonical)(Element *element, Datum value, Canonical *out);
  uint64 (*hash)(Element *element, Datum value, uint64 seed);
};

template <void (*kCanonical)(Element *, Datum, Canonical *)>
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

// Canonical bytes, but of a float its own: to other systems -0 and +0, and each NaN, are values of
// their own.
void canonical_foreign(Element *element, Datum value, Canonical *out) {
  if (element->family == Family::floating)
    out->set_number(
        double_bits(element->base == FLOAT8OID ? DatumGetFloat8(value) : DatumGetFloat4(value)));
  else
    element->canonical(element, value, out);
}

// Adds the digests of canonical bytes.
void append_encoded(Hashes *hashes, Layout layout, Family family, const Canonical &canonical) {
  uint8 small[scratch_bytes(64)];
  const bool fits = scratch_bytes(canonical.length) <= sizeof small;
  auto *scratch = fits ? small
                       : static_cast<uint8 *>(MemoryContextAllocHuge(
                             CurrentMemoryContext, scratch_bytes(canonical.length)));
  const Encoded encoded = encode(layout, family, static_cast<const uint8 *>(canonical.bytes),
                                 canonical.length, scratch);
  hashes->any |= encoded.kind == Encoded::any;
  hashes->no_value |= encoded.kind == Encoded::none;
  for (int i = 0; i < encoded.count; i++)
    hashes->digest[hashes->count++] = encoded.digests[i];
}

// By family number.
constexpr const char *kFamilyNames[] = {
    nullptr,   "integer",  "float",      "numeric", "text",      "bytea",       "uuid",
    "boolean", "\"char\"", "oid",        "date",    "timestamp", "timestamptz", "time",
    "timetz",  "interval", "inet",       "macaddr", "macaddr8",  "jsonb",       "enum",
    "array",   "range",    "multirange", "row",     "hash",      "byte string",
};
static_assert(lengthof(kFamilyNames) == static_cast<int>(kLastFamily) + 1,
              "every family has a name");

} // namespace

Element *resolve_element(Oid type, Oid collation, MemoryContext context) {
  if (!OidIsValid(type))
    ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
                    errmsg("could not determine the type of a bloom filter's value")));

  auto *element = static_cast<Element *>(MemoryContextAllocZero(context, sizeof(Element)));
  element->context = context;
  element->type = type;
  element->base = getBaseType(type);
  element->varying = element->base == VARCHAROID;
  for (const ScalarType &scalar : kScalarTypes)
    if (scalar.type == element->base) {
      element->family = scalar.family;
      element->canonical = scalar.canonical;
      element->hash = scalar.hash;
      if (scalar.canonical == canonical_text && text_is_canonical())
        element->hash = hash_through<canonical_bytea>;
      element->typlen = get_typlen(scalar.type);
      // A bare literal has a collation only where COLLATE gives it one.
      if (scalar.family == Family::text && (scalar.type != UNKNOWNOID || OidIsValid(collation)))
        check_collation(type, collation);
      return element;
    }
  if (type_is_enum(element->base)) {
    element->family = Family::enum_;
    element->canonical = canonical_enum;
    element->hash = hash_through<canonical_enum>;
  } else if (!resolve_composed(element, context, collation)) {
    raise_unsupported(type, element->base);
  }
  return element;
}

SecondHash second_hash(Element *element, Datum value, uint64 seed) {
  if (!ends_with_blank(element, value))
    return {false, 0};
  Canonical stripped;
  canonical_bpchar(element, value, &stripped);
  return {true, hash_bytes(stripped.bytes, stripped.length, seed)};
}

uint64 distribution_hash(Element *element, Datum value) {
  if (element->family != Family::text)
    return hash_element(element, value, 0);
  Canonical canonical;
  element->canonical(element, value, &canonical);
  const auto *bytes = static_cast<const char *>(canonical.bytes);
  Size length = canonical.length;
  while (length > 0 && bytes[length - 1] == ' ')
    length--;
  return hash_bytes(bytes, length, 0);
}

Hashes hash_foreign(Element *element, Datum value, Layout layout, bool adding) {
  Hashes hashes = no_hashes();
  if (family_in(layout, element->family) == Family::none)
    return hashes; // which check_element() refuses
  Canonical canonical;
  canonical_foreign(element, value, &canonical);
  append_encoded(&hashes, layout, element->family, canonical);
  if (adding && element->family == Family::floating)
    hashes.count = Min(hashes.count, 1); // without the other zero, which is asked for
  if (ends_with_blank(element, value)) {
    canonical_bpchar(element, value, &canonical);
    append_encoded(&hashes, layout, element->family, canonical);
  }
  return hashes;
}

bool hash_quickly(Element *element, Datum value, Layout layout, Digest *digest) {
  Canonical canonical;
  canonical_foreign(element, value, &canonical);
  const auto *bytes = static_cast<const uint8 *>(canonical.bytes);
  if (is_plain(layout, element->family)) {
    *digest = digest_of(layout, bytes, canonical.length);
    return true;
  }
  if (element->family == Family::text) // which is as long as it likes
    return false;
  uint8 scratch[scratch_bytes(sizeof(int64))];
  const Encoded encoded = encode(layout, element->family, bytes, canonical.length, scratch);
  *digest = encoded.digests[0];
  return encoded.kind == Encoded::values;
}

void raise_no_value(const Header &header) {
  ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                  errmsg("value is out of range for a bloom filter of layout \"%s\"",
                         layout_name(header.geometry.layout)),
                  errdetail("The layout keeps numbers of 32 bits.")));
}

void raise_unless_fitting(const Header &header, const Element *element, const char *role) {
  const Layout layout = header.geometry.layout;
  if (is_foreign(layout)) {
    const Family member = family_in(layout, element->family);
    if (member == Family::none)
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                      errmsg("bloom filters of layout \"%s\" do not hold %s values",
                             layout_name(layout), format_type_be(element->type)),
                      errhint("Cast the %s to a type that the layout knows.", role)));
    if (header.family == member)
      return;
  }
  if (header.family == Family::none || header.family == Family::hash)
    return;

  const char *type = format_type_be(element->type);
  const Kind kind = kind_of(header.geometry.layout);
  if (header.family == element->family)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s holds %s values of another composition, but the %s is %s",
                           noun_of(kind), family_name(header.family), role, type),
                    errdetail("The shape fingerprint of the filter is %u, that of the %s is %u.",
                              header.shape, role, element->shape),
                    errhint("Cast the %s to the type that the filter was built from.", role)));
  ereport(ERROR,
          (errcode(ERRCODE_DATATYPE_MISMATCH),
           errmsg("%s holds %s values, but the %s is %s", noun_of(kind), family_name(header.family),
                  role, type),
           element->family != Family::array || (kind != Kind::bloom && strcmp(role, "value") != 0)
               ? errhint("Cast the %s to the type that the filter was built from.", role)
           : kind == Kind::bloom
               ? errhint("To use the array's elements, call bf_contains_all(), bf_contains_any(), "
                         "bf_contains_each() or bf_add_all().")
               : errhint("To add the array's elements, call %s_add_all().", prefix_of(kind))));
}

bool same_family(const Header &header, const Header &other) {
  return header.family == Family::none || other.family == Family::none ||
         (header.family == other.family && header.shape == other.shape);
}

void check_family(const Header &header, const Header &other) {
  if (same_family(header, other))
    return;
  if (header.family != other.family)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%ss hold different values: %s and %s",
                           noun_of(kind_of(header.geometry.layout)), family_name(header.family),
                           family_name(other.family))));
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("%ss hold %s values of different compositions",
                         noun_of(kind_of(header.geometry.layout)), family_name(header.family)),
                  errdetail("The shape fingerprints are %u and %u.", header.shape, other.shape)));
}

Header member_header(const Element *element) {
  Header header = member_header(element->family);
  header.shape = element->shape;
  return header;
}

Header member_header(Family family) {
  Header header = {};
  header.family = family;
  return header;
}

void adopt_family(Header *header, const Header &member) {
  if (header->family == Family::none) {
    header->family = family_in(header->geometry.layout, member.family);
    header->shape = member.shape;
  }
}

const char *family_name(Family family) {
  return kFamilyNames[static_cast<int>(family)];
}

} // namespace bloomfilter
