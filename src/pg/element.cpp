#include "pg/element.hpp"

#include <cctype>
#include <cmath>

#include <sys/socket.h>

#include "core/bytes.hpp"
#include "core/hash.hpp"
#include "pg/layout.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/numeric.h"
#include "utils/rangetypes.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"
}

namespace bloomfilter {

// Canonical bytes: in the value itself, in palloc'ed memory, or in `buffer`.
struct Canonical {
  const void *bytes;
  Size length;
  uint8 buffer[24];

  void set(const void *from, Size count) {
    bytes = from;
    length = count;
  }
  template <typename T> void set_number(T number) {
    store(buffer, number);
    set(buffer, sizeof number);
  }
};

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

// From numeric's wire form, its only public one: counts and digits in network byte order.
void canonical_numeric(Element *, Datum value, Canonical *out) {
  struct varlena *sent =
      reinterpret_cast<struct varlena *>(DatumGetPointer(DirectFunctionCall1(numeric_send, value)));
  const auto *wire = reinterpret_cast<const uint8 *>(VARDATA(sent));
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
  const Size length = sizeof(uint16) * (2 + (last - first));
  auto *bytes = static_cast<uint8 *>(palloc(length));
  store(bytes, sign);
  store(bytes + 2, weight);
  for (int i = first; i < last; i++)
    store(bytes + 2 * (2 + i - first), word(kDigits + i));
  out->set(bytes, length);
}

// Is text kept as the bytes that are hashed?
bool text_is_canonical() {
  const int encoding = GetDatabaseEncoding();
  return encoding == PG_UTF8 || encoding == PG_SQL_ASCII;
}

// Text in the server's encoding as UTF-8.
void canonical_string(const char *string, Size length, Canonical *out) {
  if (text_is_canonical()) {
    out->set(string, length);
    return;
  }
  const char *converted = pg_server_to_any(string, static_cast<int>(length), PG_UTF8);
  out->set(converted, converted == string ? length : strlen(converted));
}

// A value as it is stored, with a short header if it has one. A call for each row is spared where
// there is nothing to unpack.
struct varlena *packed(Datum value) {
  auto *stored = reinterpret_cast<struct varlena *>(DatumGetPointer(value));
  const bool plain = !VARATT_IS_COMPRESSED(stored) && !VARATT_IS_EXTERNAL(stored);
  return likely(plain) ? stored : pg_detoast_datum_packed(stored);
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
  static_assert(sizeof(void *) == 8, "bloomfilter requires a 64-bit server");
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

template <typename T> void append_number(StringInfo out, T number) {
  number = little_endian(number);
  appendBinaryStringInfo(out, reinterpret_cast<const char *>(&number), sizeof number);
}

void append_sized(StringInfo out, const Canonical &canonical) {
  append_number(out, static_cast<uint32>(canonical.length));
  appendBinaryStringInfo(out, static_cast<const char *>(canonical.bytes),
                         static_cast<int>(canonical.length));
}

void append_value(StringInfo out, Element *element, Datum value) {
  Canonical canonical;
  element->canonical(element, value, &canonical);
  append_sized(out, canonical);
}

// A varchar whose equality depends on the type that it is compared with.
bool ends_with_blank(const Element *element, Datum value) {
  if (!element->varying)
    return false;
  const text *string = packed(value);
  const Size length = VARSIZE_ANY_EXHDR(string);
  return length > 0 && VARDATA_ANY(string)[length - 1] == ' ';
}

void append_item(StringInfo out, Element *element, Datum value, bool isnull) {
  append_number<uint8>(out, isnull ? 1 : 0);
  if (!isnull)
    append_value(out, element, value);
}

enum JsonTag : uint8 { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

void append_json_string(StringInfo out, const JsonbValue *value) {
  Canonical canonical;
  canonical_string(value->val.string.val, value->val.string.len, &canonical);
  append_number<uint8>(out, kString);
  append_sized(out, canonical);
}

void append_jsonb(StringInfo out, JsonbContainer *container);

void append_json_value(StringInfo out, const JsonbValue *value) {
  Canonical canonical;
  switch (value->type) {
  case jbvNull:
    append_number<uint8>(out, kNull);
    break;
  case jbvBool:
    append_number<uint8>(out, value->val.boolean ? kTrue : kFalse);
    break;
  case jbvNumeric:
    canonical_numeric(nullptr, NumericGetDatum(value->val.numeric), &canonical);
    append_number<uint8>(out, kNumber);
    append_sized(out, canonical);
    break;
  case jbvString:
    append_json_string(out, value);
    break;
  case jbvBinary:
    append_jsonb(out, value->val.binary.data);
    break;
  default:
    elog(ERROR, "unexpected jsonb value type %d", static_cast<int>(value->type));
  }
}

// A value is its tag, then: a number's or string's length u32 and canonical bytes; an array's count
// u32 and values; an object's count u32 and the sum of its pairs' hashes u64. A sum, because the
// order of keys in a jsonb value depends on the server's encoding.
void append_jsonb(StringInfo out, JsonbContainer *container) {
  check_stack_depth();
  JsonbIterator *iterator = JsonbIteratorInit(container);
  JsonbValue value;
  JsonbIteratorToken token = JsonbIteratorNext(&iterator, &value, true);

  if (token == WJB_BEGIN_ARRAY) {
    if (!value.val.array.rawScalar) {
      append_number<uint8>(out, kArray);
      append_number(out, static_cast<uint32>(value.val.array.nElems));
    }
    while (JsonbIteratorNext(&iterator, &value, true) == WJB_ELEM)
      append_json_value(out, &value);
    return;
  }

  append_number<uint8>(out, kObject);
  append_number(out, static_cast<uint32>(value.val.object.nPairs));
  const int pair = out->len;
  uint64 sum = 0;
  while (JsonbIteratorNext(&iterator, &value, true) == WJB_KEY) {
    append_json_string(out, &value);
    JsonbIteratorNext(&iterator, &value, true);
    append_json_value(out, &value);
    sum += hash_bytes(out->data + pair, out->len - pair, 0);
    out->len = pair;
  }
  append_number(out, sum);
}

void set_from(Canonical *out, const StringInfoData &buffer) {
  out->set(buffer.data, static_cast<Size>(buffer.len));
}

void canonical_jsonb(Element *, Datum value, Canonical *out) {
  StringInfoData buffer;
  initStringInfo(&buffer);
  append_jsonb(&buffer, &DatumGetJsonbP(value)->root);
  set_from(out, buffer);
}

void canonical_array(Element *element, Datum value, Canonical *out) {
  check_stack_depth();
  ArrayType *array = DatumGetArrayTypeP(value);
  StringInfoData buffer;
  initStringInfo(&buffer);
  append_number<int32>(&buffer, ARR_NDIM(array));
  for (int i = 0; i < ARR_NDIM(array); i++) {
    append_number<int32>(&buffer, ARR_DIMS(array)[i]);
    append_number<int32>(&buffer, ARR_LBOUND(array)[i]);
  }

  Datum *items;
  bool *nulls;
  int count;
  deconstruct_array(array, ARR_ELEMTYPE(array), element->typlen, element->typbyval,
                    element->typalign, &items, &nulls, &count);
  for (int i = 0; i < count; i++)
    append_item(&buffer, element->item, items[i], nulls[i]);
  set_from(out, buffer);
}

void canonical_range(Element *element, Datum value, Canonical *out) {
  check_stack_depth();
  RangeBound lower, upper;
  bool empty;
  range_deserialize(element->range, DatumGetRangeTypeP(value), &lower, &upper, &empty);

  enum RangeFlag : uint8 {
    kEmpty = 1,
    kLowerInfinite = 2,
    kUpperInfinite = 4,
    kLowerInclusive = 8,
    kUpperInclusive = 16,
  };
  StringInfoData buffer;
  initStringInfo(&buffer);
  if (empty) {
    append_number<uint8>(&buffer, kEmpty);
  } else {
    append_number(&buffer, static_cast<uint8>((lower.infinite ? kLowerInfinite : 0) |
                                              (upper.infinite ? kUpperInfinite : 0) |
                                              (lower.inclusive ? kLowerInclusive : 0) |
                                              (upper.inclusive ? kUpperInclusive : 0)));
    if (!lower.infinite)
      append_value(&buffer, element->item, lower.val);
    if (!upper.infinite)
      append_value(&buffer, element->item, upper.val);
  }
  set_from(out, buffer);
}

void canonical_multirange(Element *element, Datum value, Canonical *out) {
  RangeType **ranges;
  int32 count;
  multirange_deserialize(element->item->range, DatumGetMultirangeTypeP(value), &count, &ranges);
  StringInfoData buffer;
  initStringInfo(&buffer);
  append_number<uint32>(&buffer, count);
  for (int i = 0; i < count; i++)
    append_value(&buffer, element->item, RangeTypePGetDatum(ranges[i]));
  set_from(out, buffer);
}

// What values are composed of, for the shape. A nested row is only a row: its fields are compared
// through its bytes.
void append_structure(StringInfo out, const Element *element) {
  append_number(out, static_cast<uint8>(element->family));
  if (element->item)
    append_structure(out, element->item);
}

// 24 bits of a hash of the structure; never 0, which says that there is none.
uint32 shape_of(const StringInfoData &structure) {
  const uint32 shape = hash_bytes(structure.data, structure.len, 0) & 0xffffff;
  return shape == 0 ? 1 : shape;
}

// Looks up a row type's fields, unless it is the one that was seen last.
void resolve_fields(Element *element, TupleDesc descriptor) {
  const Oid type = descriptor->tdtypeid;
  const int32 typmod = descriptor->tdtypmod;
  const uint64 identifier = assign_record_type_identifier(type, typmod);
  if (element->fields && element->row_type == type && element->row_typmod == typmod &&
      element->row_identifier == identifier)
    return;

  element->fields = nullptr;
  if (element->row_context)
    MemoryContextReset(element->row_context);
  else
    element->row_context =
        AllocSetContextCreate(element->context, "bloomfilter row type", ALLOCSET_SMALL_SIZES);
  auto **fields = static_cast<Element **>(
      MemoryContextAllocZero(element->row_context, descriptor->natts * sizeof(Element *) + 1));
  StringInfoData structure;
  initStringInfo(&structure);
  append_number(&structure, static_cast<uint8>(Family::row));
  for (int i = 0; i < descriptor->natts; i++) {
    const Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
    if (attribute->attisdropped)
      continue;
    fields[i] = resolve_element(attribute->atttypid, attribute->attcollation, element->row_context);
    append_structure(&structure, fields[i]);
  }
  element->shape = shape_of(structure);
  element->row_type = type;
  element->row_typmod = typmod;
  element->row_identifier = identifier;
  element->fields = fields;
}

// One hash for a row cannot serve both comparisons.
[[noreturn]] void raise_ambiguous_field() {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("bloom filters of rows with a character varying value that ends with a blank are "
                  "not supported"),
           errdetail("It is equal to a character value without the blank and to a text value with "
                     "it."),
           errhint("Cast the field to text, on both sides.")));
}

void canonical_row(Element *element, Datum value, Canonical *out) {
  check_stack_depth();
  HeapTupleHeader row = DatumGetHeapTupleHeader(value);
  TupleDesc descriptor =
      lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));
  resolve_fields(element, descriptor);

  HeapTupleData tuple = {};
  tuple.t_len = HeapTupleHeaderGetDatumLength(row);
  tuple.t_data = row;
  const int count = descriptor->natts;
  auto *values = static_cast<Datum *>(palloc(count * sizeof(Datum) + 1));
  auto *nulls = static_cast<bool *>(palloc(count * sizeof(bool) + 1));
  heap_deform_tuple(&tuple, descriptor, values, nulls);
  ReleaseTupleDesc(descriptor);

  StringInfoData buffer;
  initStringInfo(&buffer);
  uint32 present = 0;
  append_number(&buffer, present);
  for (int i = 0; i < count; i++)
    if (element->fields[i]) {
      if (!nulls[i] && ends_with_blank(element->fields[i], values[i]))
        raise_ambiguous_field();
      append_item(&buffer, element->fields[i], values[i], nulls[i]);
      present++;
    }
  store(buffer.data, present);
  set_from(out, buffer);
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

Element *resolve_item(Oid type, Oid collation, MemoryContext context) {
  check_stack_depth();
  return resolve_element(type, collation, context);
}

// Ranges may be ordered by another comparison than the bounds' own, which may call bounds equal
// that are not.
void check_range_order(const TypeCacheEntry *range, Oid type) {
  const Oid own = lookup_type_cache(range->rngelemtype->type_id, TYPECACHE_CMP_PROC)->cmp_proc;
  if (range->rng_cmp_proc_finfo.fn_oid != own)
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("bloom filters of type %s are not supported", format_type_be(type)),
             errdetail("The range type's operator class is not the default one of its bounds."),
             errhint("Use the bounds, lower(value) and upper(value), as values.")));
}

// Types composed of others, and enums. False if the type is none of them.
bool resolve_composed(Element *element, Oid collation, MemoryContext context) {
  const Oid type = element->base;
  if (type_is_rowtype(type)) {
    element->family = Family::row;
    element->canonical = canonical_row;
    return true;
  }
  if (type_is_enum(type)) {
    element->family = Family::enum_;
    element->canonical = canonical_enum;
    return true;
  }
  const Oid item = get_element_type(type);
  if (OidIsValid(item)) {
    element->family = Family::array;
    element->canonical = canonical_array;
    element->item = resolve_item(item, collation, context);
    get_typlenbyvalalign(item, &element->typlen, &element->typbyval, &element->typalign);
  } else if (type_is_range(type)) {
    element->family = Family::range;
    element->canonical = canonical_range;
    element->range = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
    check_range_order(element->range, element->type);
    element->item =
        resolve_item(element->range->rngelemtype->type_id, element->range->rng_collation, context);
  } else if (type_is_multirange(type)) {
    element->family = Family::multirange;
    element->canonical = canonical_multirange;
    element->item = resolve_item(get_multirange_range(type), InvalidOid, context);
  } else {
    return false;
  }
  StringInfoData structure;
  initStringInfo(&structure);
  append_structure(&structure, element);
  element->shape = shape_of(structure);
  return true;
}

// The hash of canonical bytes whose making the compiler sees, and often their length.
template <void (*kCanonical)(Element *, Datum, Canonical *)>
__attribute__((flatten)) uint64 hash_through(Element *element, Datum value, uint64 seed) {
  Canonical canonical;
  kCanonical(element, value, &canonical);
  return hash_bytes(canonical.bytes, canonical.length, seed);
}

uint64 hash_composed(Element *element, Datum value, uint64 seed) {
  Canonical canonical;
  element->canonical(element, value, &canonical);
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

// Families whose text is read alike under every setting, and the types that may read it: a literal
// asked of a filter is compared, in SQL, as the type of the values that were added. The others need
// a cast: dates depend on DateStyle, an enum's label on its type.
struct LiteralType {
  Family family;
  Oid readings[kMaxReadings];
};
constexpr LiteralType kLiteralTypes[] = {
    {Family::integer, {INT8OID}},
    {Family::floating, {FLOAT8OID, FLOAT4OID}}, // 0.1 differs
    {Family::numeric, {NUMERICOID}},
    {Family::text, {TEXTOID, BPCHAROID, NAMEOID}}, // trailing blanks, more than 63 bytes
    {Family::bytea, {BYTEAOID}},
    {Family::uuid, {UUIDOID}},
    {Family::boolean, {BOOLOID}},
    {Family::char_, {CHAROID}},
    {Family::oid, {OIDOID}},
    {Family::inet, {INETOID}},
    {Family::macaddr, {MACADDROID}},
    {Family::macaddr8, {MACADDR8OID}},
    {Family::jsonb, {JSONBOID}},
    {Family::string, {TEXTOID, BYTEAOID, UUIDOID}}, // as whichever it can be read
};

const Oid *readings_for(Kind kind, Family family) {
  for (const LiteralType &readable : kLiteralTypes)
    if (readable.family == (family == Family::none ? Family::text : family))
      return readable.readings;
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("%s holds %s values, and a bare literal does not say which is meant",
                         noun_of(kind), family_name(family)),
                  errhint("Cast the literal to the type that the filter was built from.")));
}

Datum read_literal(Oid type, const char *string) {
  Oid input, parameter;
  getTypeInputInfo(type, &input, &parameter);
  return OidInputFunctionCall(input, const_cast<char *>(string), parameter, -1);
}

// Would reading it as bytea in hexadecimal, or as uuid, succeed? Text that cannot be is not an
// error where it is one of several readings.
bool is_hexadecimal(const char *string, Oid type) {
  int digits = 0;
  if (type == BYTEAOID) {
    if (string[0] != '\\' || string[1] != 'x')
      return false;
    string += 2;
  }
  for (; *string != '\0'; string++)
    if (isxdigit(static_cast<unsigned char>(*string)))
      digits++;
    else if (type == BYTEAOID || !strchr("{}-", *string))
      return false;
  return type == BYTEAOID ? digits % 2 == 0 : digits == 2 * UUID_LEN;
}

// Would reading the same number as float4 succeed?
bool float4_can_hold(double number) {
  const auto narrow = static_cast<float>(number);
  return std::isinf(narrow) == std::isinf(number) && (narrow == 0) == (number == 0);
}

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
  element->hash = hash_composed;
  if (!resolve_composed(element, collation, context))
    raise_unsupported(type, element->base);
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

Hashes hash_literal(const Header &header, text *literal, Oid collation, bool adding) {
  const Layout layout = header.geometry.layout;
  const Family family =
      header.family == Family::none ? family_in(layout, Family::text) : header.family;
  const Oid *readings = readings_for(kind_of(layout), family);
  const char *string = text_to_cstring(literal);
  Hashes hashes = no_hashes();
  for (int i = 0; i < kMaxReadings && OidIsValid(readings[i]); i++) {
    if (readings[i] == NAMEOID && adding)
      continue;
    if (readings[i] == FLOAT4OID &&
        !float4_can_hold(DatumGetFloat8(read_literal(FLOAT8OID, string))))
      continue;
    if (family == Family::string && readings[i] != TEXTOID && !is_hexadecimal(string, readings[i]))
      continue;
    Element *element = resolve_element(readings[i], collation, CurrentMemoryContext);
    if (family == Family::string && family_in(layout, element->family) == Family::none)
      continue; // RedisBloom knows no uuid
    const Hashes reading = hash_value(element, read_literal(readings[i], string), header, adding);
    check_element(header, element, adding ? "value" : "probe");
    hashes.any |= reading.any;
    hashes.no_value |= reading.no_value;
    for (int j = 0; j < reading.count; j++) {
      const Digest &digest = reading.digest[j];
      bool known = false;
      for (int k = 0; k < hashes.count; k++)
        known |= hashes.digest[k].first == digest.first && hashes.digest[k].second == digest.second;
      if (!known)
        hashes.digest[hashes.count++] = digest;
    }
  }
  hashes.no_value &= hashes.count == 0; // another reading is one
  return hashes;
}

} // namespace bloomfilter
