// Composed values: the canonical bytes of arrays, ranges, multiranges and rows (doc/format.md lists
// the bytes).
//
// A value is written part by part while it is hashed, because it may have millions of parts. The
// memory of each part is freed before the next part is written. So the memory in use stays a small
// multiple of the value's own size. Interrupts are checked for between parts.
//
// The types of a row's fields are kept until a row of another type comes or the row type is
// changed. If rows of two types alternate, the types of the fields are looked up for each row.

#include "pg/element/canonical.hpp"
#include "pg/element/family.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

// Up to PostgreSQL 15.19, 16.15, 17.11 and 18.6, DatumGetHeapTupleHeader is a macro. In later
// releases it is a function of the server. The function marks rows that an older server stored, so
// that heap_deform_tuple checks their shape. The symbol is weak here, so that a library built with
// one minor release loads in every other one.
#undef DatumGetHeapTupleHeader
extern HeapTupleHeader DatumGetHeapTupleHeader(Datum value) __attribute__((weak));
}

namespace bloomfilter {

namespace {

// A value with a long header at an aligned address, which the code that walks through a value
// needs. Most stored values have a short header. They are copied to the stack, which costs less
// than memory of a context.
struct Unpacked {
  alignas(MAXIMUM_ALIGNOF) char room[VARHDRSZ + VARATT_SHORT_MAX];
  const void *stored;
  struct varlena *value;

  Unpacked(Datum datum, MemoryContext context) : stored(DatumGetPointer(datum)) {
    if (VARATT_IS_EXTERNAL(stored) || VARATT_IS_COMPRESSED(stored)) {
      const MemoryContext before = MemoryContextSwitchTo(context);
      value = PG_DETOAST_DATUM(datum);
      MemoryContextSwitchTo(before);
    } else if (VARATT_IS_SHORT(stored)) {
      const Size length = VARSIZE_SHORT(stored) - VARHDRSZ_SHORT;
      SET_VARSIZE(room, VARHDRSZ + length);
      memcpy(VARDATA(room), VARDATA_SHORT(stored), length);
      value = reinterpret_cast<struct varlena *>(room);
    } else {
      value = reinterpret_cast<struct varlena *>(DatumGetPointer(datum));
    }
  }
  void free() const {
    if (value != stored && static_cast<void *>(value) != room)
      pfree(value);
  }
};

void empty_scratch(Writer *out) {
  if (!out->scratch->isReset)
    MemoryContextReset(out->scratch);
}

pg_noinline void put_composed(Writer *out, ValueType *value_type, Datum value) {
  out->add_part([=] { value_type->write(value_type, value, out, true); });
}

// Adds a head of kHead bytes and then canonical bytes. The cases are the lengths of numbers and
// uuids. In each, the length is a constant, so the compiler copies the bytes without a call.
template <Size kHead>
[[gnu::always_inline]] inline void put_bytes(Writer *out, uint64 head, const Canonical &canonical) {
  head = little_endian(head);
  switch (canonical.length) {
  case 4:
    return out->add(&head, kHead, canonical.bytes, 4);
  case 8:
    return out->add(&head, kHead, canonical.bytes, 8);
  case 16:
    return out->add(&head, kHead, canonical.bytes, 16);
  default:
    out->add(&head, kHead, canonical.bytes, canonical.length);
  }
}

// Writes a part's length and bytes, after a null byte if the part is an item.
template <bool kItem>
[[gnu::always_inline]] inline void put_part(Writer *out, ValueType *value_type, Datum value) {
  if (value_type->write) {
    if (kItem)
      out->add_number<uint8>(0);
    put_composed(out, value_type, value);
    return;
  }
  Canonical canonical;
  value_type->canonical(value_type, value, &canonical);
  const uint64 length = static_cast<uint32>(canonical.length);
  put_bytes<kItem + sizeof(uint32)>(out, length << 8 * kItem, canonical);
  empty_scratch(out);
}

[[gnu::always_inline]] inline void put_item(Writer *out, ValueType *value_type, Datum value,
                                            bool isnull) {
  if (isnull)
    out->add_number<uint8>(1);
  else
    put_part<true>(out, value_type, value);
}

void write_array(ValueType *value_type, Datum value, Writer *out, bool) {
  check_stack_depth();
  const Unpacked unpacked(value, out->values);
  auto *array = reinterpret_cast<ArrayType *>(unpacked.value);
  const int dimensions = ARR_NDIM(array);
  out->add_number<int32>(dimensions);
  for (int i = 0; i < dimensions; i++) {
    out->add_number<int32>(ARR_DIMS(array)[i]);
    out->add_number<int32>(ARR_LBOUND(array)[i]);
  }

  ValueType *item = value_type->item;
  const int count = ArrayGetNItems(dimensions, ARR_DIMS(array));
  const uint8 *present = ARR_NULLBITMAP(array);
  const char *at = ARR_DATA_PTR(array);
  for (int i = 0; i < count; i++) {
    CHECK_FOR_INTERRUPTS();
    const bool isnull = present && !(present[i / 8] >> i % 8 & 1);
    put_item(out, item, isnull ? 0 : fetch_att(at, value_type->typbyval, value_type->typlen),
             isnull);
    if (!isnull) {
      at = att_addlength_pointer(at, value_type->typlen, at);
      at = reinterpret_cast<const char *>(att_align_nominal(at, value_type->typalign));
    }
  }
  unpacked.free();
}

void put_bounds(Writer *out, ValueType *bound, const RangeBound &lower, const RangeBound &upper) {
  enum RangeFlag : uint8 {
    kLowerInfinite = 2,
    kUpperInfinite = 4,
    kLowerInclusive = 8,
    kUpperInclusive = 16,
  };
  out->add_number(static_cast<uint8>(
      (lower.infinite ? kLowerInfinite : 0) | (upper.infinite ? kUpperInfinite : 0) |
      (lower.inclusive ? kLowerInclusive : 0) | (upper.inclusive ? kUpperInclusive : 0)));
  if (!lower.infinite)
    put_part<false>(out, bound, lower.val);
  if (!upper.infinite)
    put_part<false>(out, bound, upper.val);
}

void write_range(ValueType *value_type, Datum value, Writer *out, bool) {
  check_stack_depth();
  constexpr uint8 kEmpty = 1;
  const Unpacked unpacked(value, out->values);
  const auto *range = reinterpret_cast<const RangeType *>(unpacked.value);
  RangeBound lower, upper;
  bool empty;
  range_deserialize(value_type->range, range, &lower, &upper, &empty);
  if (empty)
    out->add_number(kEmpty);
  else
    put_bounds(out, value_type->item, lower, upper);
  unpacked.free();
}

// Writes each range as an item without a null byte. No range in a multirange is empty.
void write_multirange(ValueType *value_type, Datum value, Writer *out, bool) {
  ValueType *range = value_type->item;
  const Unpacked unpacked(value, out->values);
  const auto *ranges = reinterpret_cast<const MultirangeType *>(unpacked.value);
  out->add_number<uint32>(ranges->rangeCount);
  for (uint32 i = 0; i < ranges->rangeCount; i++) {
    CHECK_FOR_INTERRUPTS();
    RangeBound lower, upper;
    multirange_get_bounds(range->range, ranges, i, &lower, &upper);
    out->add_part([&] { put_bounds(out, range->item, lower, upper); });
  }
  unpacked.free();
}

// Appends the families of the parts that values are composed of. The shape is a hash of these
// families. A row inside another value counts as "row" only; the fields of such rows differ in the
// bytes that are hashed.
void append_structure(StringInfo out, const ValueType *value_type) {
  appendStringInfoChar(out, static_cast<char>(value_type->family));
  if (value_type->item)
    append_structure(out, value_type->item);
}

// The shape: 24 bits of a hash of the structure. A shape is never 0, because 0 stands for "no
// shape".
uint32 shape_of(const StringInfoData &structure) {
  const uint32 shape = hash_bytes(structure.data, structure.len, 0) & 0xffffff;
  return shape == 0 ? 1 : shape;
}

// Appends the first type of a structure in words. Returns where the next type begins, or NULL if
// the structure ends within the type.
const char *put_type_in_words(StringInfo out, const char *at, const char *end) {
  if (at == end)
    return nullptr;
  const auto family = static_cast<Family>(*at);
  appendStringInfoString(out, family_name(family));
  if (family == Family::row || !is_composed(family))
    return at + 1;
  appendStringInfoString(out, " of ");
  return put_type_in_words(out, at + 1, end);
}

// Returns a structure in words, such as "array of integer" or "row (integer, text)". NULL if no
// value has the structure.
char *in_words(const StringInfoData &structure) {
  const char *at = structure.data, *const end = at + structure.len;
  StringInfoData words;
  initStringInfo(&words);
  if (static_cast<Family>(*at) != Family::row)
    return put_type_in_words(&words, at, end) == end ? words.data : nullptr;
  appendStringInfoString(&words, "row (");
  for (at++; at && at < end; at = put_type_in_words(&words, at, end))
    if (at > structure.data + 1)
      appendStringInfoString(&words, ", ");
  appendStringInfoChar(&words, ')');
  return at ? words.data : nullptr;
}

// Changes the types after the first one to the next combination of as many types. Returns false
// after the last combination.
bool next_structure(StringInfo structure) {
  for (int i = structure->len - 1; i > 0; i--) {
    if (structure->data[i] < static_cast<char>(Family::row)) {
      structure->data[i]++;
      return true;
    }
    structure->data[i] = 1;
  }
  return false;
}

// True if the element still has the fields of rows of the given type. The server clears the
// identifier in the cache entry of a named type as soon as the definition may have changed.
bool knows_fields(const ValueType *value_type, Oid type, int32 typmod) {
  if (!value_type->fields || value_type->row_type != type || value_type->row_typmod != typmod)
    return false;
  return value_type->row_identifier == (value_type->row_entry
                                            ? value_type->row_entry->tupDesc_identifier
                                            : assign_record_type_identifier(type, typmod));
}

// Copies the row type's descriptor, so that the rows that follow need no lookup. The copy includes
// the default values that old rows have in columns that were added later.
TupleDesc remember_row_type(ValueType *value_type, Oid type, int32 typmod) {
  TupleDesc descriptor = lookup_rowtype_tupdesc(type, typmod);
  value_type->row_type = type;
  value_type->row_typmod = typmod;
  value_type->row_identifier = assign_record_type_identifier(type, typmod);
  value_type->row_entry = type == RECORDOID ? nullptr : lookup_type_cache(type, TYPECACHE_TUPDESC);
  const MemoryContext before = MemoryContextSwitchTo(value_type->row_context);
  value_type->descriptor = CreateTupleDescCopyConstr(descriptor);
  MemoryContextSwitchTo(before);
  ReleaseTupleDesc(descriptor);
  return value_type->descriptor;
}

// Sets the fields of rows, and the shape that follows from the fields.
void set_fields(ValueType *value_type, ValueType **fields, int count) {
  StringInfoData structure;
  initStringInfo(&structure);
  appendStringInfoChar(&structure, static_cast<char>(Family::row));
  for (int i = 0; i < count; i++)
    if (fields[i])
      append_structure(&structure, fields[i]);
  value_type->shape = shape_of(structure);
  pfree(structure.data);
  value_type->values = make_zeroed_array<Datum>(count, value_type->row_context);
  value_type->nulls = make_zeroed_array<bool>(count, value_type->row_context);
  value_type->field_count = count;
  value_type->fields = fields;
}

// Looks up the fields of a row type and remembers them in place of those of the last row type.
pg_noinline void resolve_fields(ValueType *value_type, Oid type, int32 typmod) {
  value_type->fields = nullptr;
  if (value_type->row_context)
    MemoryContextReset(value_type->row_context);
  else
    value_type->row_context =
        AllocSetContextCreate(value_type->context, "bloomfilter row type", ALLOCSET_SMALL_SIZES);
  const TupleDesc descriptor = remember_row_type(value_type, type, typmod);
  auto **fields = make_zeroed_array<ValueType *>(descriptor->natts, value_type->row_context);
  for (int i = 0; i < descriptor->natts; i++) {
    const Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
    if (!attribute->attisdropped)
      fields[i] =
          resolve_value_type(attribute->atttypid, attribute->attcollation, value_type->row_context);
  }
  set_fields(value_type, fields, descriptor->natts);
}

// A row with such a field would need two hashes. One would match rows with a char(n) field, the
// other one rows with a text field.
[[noreturn]] void raise_ambiguous_field() {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("bloom filters of rows with a character varying value that ends with a blank are "
                  "not supported"),
           errdetail("It is equal to a character value without the blank and to a text value with "
                     "it."),
           errhint("Cast the field to text, on both sides.")));
}

HeapTupleHeader tuple_of(const Unpacked &unpacked, MemoryContext context) {
  if (!DatumGetHeapTupleHeader)
    return reinterpret_cast<HeapTupleHeader>(unpacked.value);
  const MemoryContext before = MemoryContextSwitchTo(context);
  HeapTupleHeader row = DatumGetHeapTupleHeader(PointerGetDatum(unpacked.value));
  MemoryContextSwitchTo(before);
  return row;
}

// Writes the fields of the current row. A row inside another value is written up to its last field
// that is not NULL. The reason is ALTER TYPE ... ADD ATTRIBUTE. After it, an older row equals a row
// with NULL in the new field, so both must have the same bytes. (If the row is the value itself,
// the new field gives it another shape, which is an error.)
void write_fields(ValueType *value_type, Writer *out, bool nested) {
  uint32 fields = 0, written = 0;
  for (int i = 0; i < value_type->field_count; i++)
    if (value_type->fields[i]) {
      fields++;
      if (!nested || !value_type->nulls[i])
        written = fields;
    }
  out->add_number(written);
  for (int i = 0; written > 0; i++)
    if (value_type->fields[i]) {
      if (!value_type->nulls[i] && ends_with_blank(value_type->fields[i], value_type->values[i]))
        raise_ambiguous_field();
      put_item(out, value_type->fields[i], value_type->values[i], value_type->nulls[i]);
      written--;
    }
}

void write_unformed_row(ValueType *value_type, Datum value, Writer *out, bool nested) {
  const auto *fields = reinterpret_cast<const NullableDatum *>(DatumGetPointer(value));
  for (int i = 0; i < value_type->field_count; i++) {
    value_type->values[i] = fields[i].value;
    value_type->nulls[i] = fields[i].isnull;
  }
  write_fields(value_type, out, nested);
}

void write_row(ValueType *value_type, Datum value, Writer *out, bool nested) {
  check_stack_depth();
  const Unpacked unpacked(value, out->values);
  HeapTupleHeader row = tuple_of(unpacked, out->values);
  const Oid type = HeapTupleHeaderGetTypeId(row);
  const int32 typmod = HeapTupleHeaderGetTypMod(row);
  if (unlikely(!knows_fields(value_type, type, typmod)))
    resolve_fields(value_type, type, typmod);

  HeapTupleData tuple = {};
  tuple.t_len = HeapTupleHeaderGetDatumLength(row);
  tuple.t_data = row;
  heap_deform_tuple(&tuple, value_type->descriptor, value_type->values, value_type->nulls);
  write_fields(value_type, out, nested);
  if (static_cast<void *>(row) != unpacked.value)
    pfree(row); // the server copied the row to mark it
  unpacked.free();
}

uint64 hash_composed(ValueType *value_type, Datum value, uint64 seed) {
  const MemoryContext before = MemoryContextSwitchTo(value_type->scratch);
  Writer writer(seed, before, value_type->scratch);
  value_type->write(value_type, value, &writer, false);
  empty_scratch(&writer);
  MemoryContextSwitchTo(before);
  return writer.hash();
}

void set_hash(ValueType *value_type) {
  value_type->hash = hash_composed;
  value_type->scratch =
      AllocSetContextCreate(value_type->context, "bloomfilter parts", ALLOCSET_SMALL_SIZES);
}

ValueType *resolve_item(Oid type, Oid collation, MemoryContext context) {
  check_stack_depth();
  return resolve_value_type(type, collation, context);
}

// True if a range type compares its bounds with the default comparison of their type. Another
// comparison may call different bounds equal.
bool has_default_order(const TypeCacheEntry *range) {
  const Oid default_order =
      lookup_type_cache(range->rngelemtype->type_id, TYPECACHE_CMP_PROC)->cmp_proc;
  return range->rng_cmp_proc_finfo.fn_oid == default_order;
}

void check_range_order(const TypeCacheEntry *range, Oid type) {
  if (!has_default_order(range))
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("bloom filters of type %s are not supported", format_type_be(type)),
             errdetail("The range type's operator class is not the default one of its bounds."),
             errhint("Use the bounds, lower(value) and upper(value), as values.")));
}

void resolve_array(ValueType *value_type, Oid item, Oid collation) {
  value_type->family = Family::array;
  value_type->write = write_array;
  value_type->item = resolve_item(item, collation, value_type->context);
  get_typlenbyvalalign(item, &value_type->typlen, &value_type->typbyval, &value_type->typalign);
}

void resolve_range(ValueType *value_type) {
  value_type->family = Family::range;
  value_type->write = write_range;
  value_type->range = lookup_type_cache(value_type->base, TYPECACHE_RANGE_INFO);
  check_range_order(value_type->range, value_type->type);
  value_type->item = resolve_item(value_type->range->rngelemtype->type_id,
                                  value_type->range->rng_collation, value_type->context);
}

} // namespace

bool is_surely_hashed(Oid type, Oid collation) {
  check_stack_depth();
  if (!OidIsValid(type))
    return false;
  if (scalar_value_type(type, collation, CurrentMemoryContext))
    return true;
  const Oid base = getBaseType(type), item = get_element_type(base);
  if (OidIsValid(item))
    return is_surely_hashed(item, collation);
  if (type_is_multirange(base))
    return is_surely_hashed(get_multirange_range(base), InvalidOid);
  if (!type_is_range(base))
    return false;
  const TypeCacheEntry *range = lookup_type_cache(base, TYPECACHE_RANGE_INFO);
  return has_default_order(range) &&
         is_surely_hashed(range->rngelemtype->type_id, range->rng_collation);
}

bool is_surely_hashed_field(Oid type, Oid collation) {
  return getBaseType(type) != VARCHAROID && is_surely_hashed(type, collation);
}

bool resolve_composed(ValueType *value_type, Oid collation) {
  const Oid type = value_type->base, item = get_element_type(type);
  if (type_is_rowtype(type)) {
    value_type->family = Family::row; // the shape is set when a row is hashed
    value_type->write = write_row;
  } else if (OidIsValid(item)) {
    resolve_array(value_type, item, collation);
  } else if (type_is_range(type)) {
    resolve_range(value_type);
  } else if (type_is_multirange(type)) {
    value_type->family = Family::multirange;
    value_type->write = write_multirange;
    value_type->item = resolve_item(get_multirange_range(type), InvalidOid, value_type->context);
  } else {
    return false;
  }
  set_hash(value_type);
  if (value_type->item) {
    StringInfoData structure;
    initStringInfo(&structure);
    append_structure(&structure, value_type);
    value_type->shape = shape_of(structure);
  }
  return true;
}

// A shape is a hash, so its structure must be searched for. Of so few types, there are 14 425
// structures at most. So the chance that the shape of a larger structure is mistaken for one of
// these is one in a thousand.
char *element_type_in_words(const ElementType &element_type) {
  constexpr int kMostTypes = 3;
  StringInfoData structure;
  initStringInfo(&structure);
  appendStringInfoChar(&structure, static_cast<char>(element_type.family));
  for (int types = 0; types <= kMostTypes; types++) {
    do {
      char *words = shape_of(structure) == element_type.shape ? in_words(structure) : nullptr;
      if (words)
        return words;
    } while (next_structure(&structure));
    appendStringInfoChar(&structure, 1);
  }
  return psprintf("%s of more than %d types", family_name(element_type.family), kMostTypes);
}

char *value_type_in_words(const ValueType *value_type) {
  StringInfoData structure;
  initStringInfo(&structure);
  append_structure(&structure, value_type);
  for (int i = 0; i < value_type->field_count; i++)
    if (value_type->fields[i])
      append_structure(&structure, value_type->fields[i]);
  return in_words(structure);
}

void resolve_named_rows(ValueType *value_type) {
  resolve_fields(value_type, value_type->base, -1);
}

ValueType *unformed_rows(const List *fields, MemoryContext context) {
  auto *value_type = make_zeroed<ValueType>(context);
  value_type->context = value_type->row_context = context;
  value_type->type = value_type->base = RECORDOID;
  value_type->family = Family::row;
  value_type->write = write_unformed_row;
  value_type->unformed = true;
  set_hash(value_type);
  auto **types = make_zeroed_array<ValueType *>(list_length(fields), context);
  int number = 0;
  for (const Node *field : each<Node>(fields))
    types[number++] = resolve_value_type(exprType(field), exprCollation(field), context);
  set_fields(value_type, types, list_length(fields));
  return value_type;
}

} // namespace bloomfilter
