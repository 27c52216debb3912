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

pg_noinline void put_composed(Writer *out, Element *element, Datum value) {
  out->add_part([=] { element->write(element, value, out, true); });
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
[[gnu::always_inline]] inline void put_part(Writer *out, Element *element, Datum value) {
  if (element->write) {
    if (kItem)
      out->add_number<uint8>(0);
    put_composed(out, element, value);
    return;
  }
  Canonical canonical;
  element->canonical(element, value, &canonical);
  const uint64 length = static_cast<uint32>(canonical.length);
  put_bytes<kItem + sizeof(uint32)>(out, length << 8 * kItem, canonical);
  empty_scratch(out);
}

[[gnu::always_inline]] inline void put_item(Writer *out, Element *element, Datum value,
                                            bool isnull) {
  if (isnull)
    out->add_number<uint8>(1);
  else
    put_part<true>(out, element, value);
}

void write_array(Element *element, Datum value, Writer *out, bool) {
  check_stack_depth();
  const Unpacked unpacked(value, out->values);
  auto *array = reinterpret_cast<ArrayType *>(unpacked.value);
  const int dimensions = ARR_NDIM(array);
  out->add_number<int32>(dimensions);
  for (int i = 0; i < dimensions; i++) {
    out->add_number<int32>(ARR_DIMS(array)[i]);
    out->add_number<int32>(ARR_LBOUND(array)[i]);
  }

  Element *item = element->item;
  const int count = ArrayGetNItems(dimensions, ARR_DIMS(array));
  const uint8 *present = ARR_NULLBITMAP(array);
  const char *at = ARR_DATA_PTR(array);
  for (int i = 0; i < count; i++) {
    CHECK_FOR_INTERRUPTS();
    const bool isnull = present && !(present[i / 8] >> i % 8 & 1);
    put_item(out, item, isnull ? 0 : fetch_att(at, element->typbyval, element->typlen), isnull);
    if (!isnull) {
      at = att_addlength_pointer(at, element->typlen, at);
      at = reinterpret_cast<const char *>(att_align_nominal(at, element->typalign));
    }
  }
  unpacked.free();
}

void put_bounds(Writer *out, Element *bound, const RangeBound &lower, const RangeBound &upper) {
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

void write_range(Element *element, Datum value, Writer *out, bool) {
  check_stack_depth();
  constexpr uint8 kEmpty = 1;
  const Unpacked unpacked(value, out->values);
  const auto *range = reinterpret_cast<const RangeType *>(unpacked.value);
  RangeBound lower, upper;
  bool empty;
  range_deserialize(element->range, range, &lower, &upper, &empty);
  if (empty)
    out->add_number(kEmpty);
  else
    put_bounds(out, element->item, lower, upper);
  unpacked.free();
}

// Writes each range as an item without a null byte. No range in a multirange is empty.
void write_multirange(Element *element, Datum value, Writer *out, bool) {
  Element *range = element->item;
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
void append_structure(StringInfo out, const Element *element) {
  appendStringInfoChar(out, static_cast<char>(element->family));
  if (element->item)
    append_structure(out, element->item);
}

// The shape: 24 bits of a hash of the structure. A shape is never 0, because 0 stands for "no
// shape".
uint32 shape_of(const StringInfoData &structure) {
  const uint32 shape = hash_bytes(structure.data, structure.len, 0) & 0xffffff;
  return shape == 0 ? 1 : shape;
}

template <typename T> T *allocate_for_fields(const Element *element, int count) {
  return static_cast<T *>(MemoryContextAllocZero(element->row_context, count * sizeof(T) + 1));
}

// True if the element still has the fields of rows of the given type. The server clears the
// identifier in the cache entry of a named type as soon as the definition may have changed.
bool knows_fields(const Element *element, Oid type, int32 typmod) {
  if (!element->fields || element->row_type != type || element->row_typmod != typmod)
    return false;
  return element->row_identifier == (element->row_entry
                                         ? element->row_entry->tupDesc_identifier
                                         : assign_record_type_identifier(type, typmod));
}

// Copies the row type's descriptor, so that the rows that follow need no lookup. The copy includes
// the default values that old rows have in columns that were added later.
TupleDesc remember_row_type(Element *element, Oid type, int32 typmod) {
  TupleDesc descriptor = lookup_rowtype_tupdesc(type, typmod);
  element->row_type = type;
  element->row_typmod = typmod;
  element->row_identifier = assign_record_type_identifier(type, typmod);
  element->row_entry = type == RECORDOID ? nullptr : lookup_type_cache(type, TYPECACHE_TUPDESC);
  const MemoryContext before = MemoryContextSwitchTo(element->row_context);
  element->descriptor = CreateTupleDescCopyConstr(descriptor);
  MemoryContextSwitchTo(before);
  ReleaseTupleDesc(descriptor);
  return element->descriptor;
}

// Sets the fields of rows, and the shape that follows from the fields.
void set_fields(Element *element, Element **fields, int count) {
  StringInfoData structure;
  initStringInfo(&structure);
  appendStringInfoChar(&structure, static_cast<char>(Family::row));
  for (int i = 0; i < count; i++)
    if (fields[i])
      append_structure(&structure, fields[i]);
  element->shape = shape_of(structure);
  pfree(structure.data);
  element->values = allocate_for_fields<Datum>(element, count);
  element->nulls = allocate_for_fields<bool>(element, count);
  element->field_count = count;
  element->fields = fields;
}

// Looks up the fields of a row type and remembers them in place of those of the last row type.
pg_noinline void resolve_fields(Element *element, Oid type, int32 typmod) {
  element->fields = nullptr;
  if (element->row_context)
    MemoryContextReset(element->row_context);
  else
    element->row_context =
        AllocSetContextCreate(element->context, "bloomfilter row type", ALLOCSET_SMALL_SIZES);
  const TupleDesc descriptor = remember_row_type(element, type, typmod);
  auto **fields = allocate_for_fields<Element *>(element, descriptor->natts);
  for (int i = 0; i < descriptor->natts; i++) {
    const Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
    if (!attribute->attisdropped)
      fields[i] =
          resolve_element(attribute->atttypid, attribute->attcollation, element->row_context);
  }
  set_fields(element, fields, descriptor->natts);
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

HeapTupleHeader row_of(const Unpacked &unpacked, MemoryContext context) {
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
void write_fields(Element *element, Writer *out, bool nested) {
  uint32 fields = 0, written = 0;
  for (int i = 0; i < element->field_count; i++)
    if (element->fields[i]) {
      fields++;
      if (!nested || !element->nulls[i])
        written = fields;
    }
  out->add_number(written);
  for (int i = 0; written > 0; i++)
    if (element->fields[i]) {
      if (!element->nulls[i] && ends_with_blank(element->fields[i], element->values[i]))
        raise_ambiguous_field();
      put_item(out, element->fields[i], element->values[i], element->nulls[i]);
      written--;
    }
}

void write_unformed_row(Element *element, Datum value, Writer *out, bool nested) {
  const auto *fields = reinterpret_cast<const NullableDatum *>(DatumGetPointer(value));
  for (int i = 0; i < element->field_count; i++) {
    element->values[i] = fields[i].value;
    element->nulls[i] = fields[i].isnull;
  }
  write_fields(element, out, nested);
}

void write_row(Element *element, Datum value, Writer *out, bool nested) {
  check_stack_depth();
  const Unpacked unpacked(value, out->values);
  HeapTupleHeader row = row_of(unpacked, out->values);
  const Oid type = HeapTupleHeaderGetTypeId(row);
  const int32 typmod = HeapTupleHeaderGetTypMod(row);
  if (unlikely(!knows_fields(element, type, typmod)))
    resolve_fields(element, type, typmod);

  HeapTupleData tuple = {};
  tuple.t_len = HeapTupleHeaderGetDatumLength(row);
  tuple.t_data = row;
  heap_deform_tuple(&tuple, element->descriptor, element->values, element->nulls);
  write_fields(element, out, nested);
  if (static_cast<void *>(row) != unpacked.value)
    pfree(row); // the server copied the row to mark it
  unpacked.free();
}

uint64 hash_composed(Element *element, Datum value, uint64 seed) {
  const MemoryContext before = MemoryContextSwitchTo(element->scratch);
  Writer writer(seed, before, element->scratch);
  element->write(element, value, &writer, false);
  empty_scratch(&writer);
  MemoryContextSwitchTo(before);
  return writer.hash();
}

void set_hash(Element *element) {
  element->hash = hash_composed;
  element->scratch =
      AllocSetContextCreate(element->context, "bloomfilter parts", ALLOCSET_SMALL_SIZES);
}

Element *resolve_item(Oid type, Oid collation, MemoryContext context) {
  check_stack_depth();
  return resolve_element(type, collation, context);
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

void resolve_array(Element *element, Oid item, Oid collation) {
  element->family = Family::array;
  element->write = write_array;
  element->item = resolve_item(item, collation, element->context);
  get_typlenbyvalalign(item, &element->typlen, &element->typbyval, &element->typalign);
}

void resolve_range(Element *element) {
  element->family = Family::range;
  element->write = write_range;
  element->range = lookup_type_cache(element->base, TYPECACHE_RANGE_INFO);
  check_range_order(element->range, element->type);
  element->item = resolve_item(element->range->rngelemtype->type_id, element->range->rng_collation,
                               element->context);
}

} // namespace

bool is_surely_hashed(Oid type, Oid collation) {
  check_stack_depth();
  if (!OidIsValid(type))
    return false;
  if (scalar_element(type, collation, CurrentMemoryContext))
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

bool resolve_composed(Element *element, Oid collation) {
  const Oid type = element->base, item = get_element_type(type);
  if (type_is_rowtype(type)) {
    element->family = Family::row; // the shape is set when a row is hashed
    element->write = write_row;
  } else if (OidIsValid(item)) {
    resolve_array(element, item, collation);
  } else if (type_is_range(type)) {
    resolve_range(element);
  } else if (type_is_multirange(type)) {
    element->family = Family::multirange;
    element->write = write_multirange;
    element->item = resolve_item(get_multirange_range(type), InvalidOid, element->context);
  } else {
    return false;
  }
  set_hash(element);
  if (element->item) {
    StringInfoData structure;
    initStringInfo(&structure);
    append_structure(&structure, element);
    element->shape = shape_of(structure);
  }
  return true;
}

void resolve_named_rows(Element *element) {
  resolve_fields(element, element->base, -1);
}

Element *unformed_rows(const List *fields, MemoryContext context) {
  auto *element = make_zeroed<Element>(context);
  element->context = element->row_context = context;
  element->type = element->base = RECORDOID;
  element->family = Family::row;
  element->write = write_unformed_row;
  element->unformed = true;
  set_hash(element);
  auto **elements = allocate_for_fields<Element *>(element, list_length(fields));
  int number = 0;
  for (const Node *field : each<Node>(fields))
    elements[number++] = resolve_element(exprType(field), exprCollation(field), context);
  set_fields(element, elements, list_length(fields));
  return element;
}

} // namespace bloomfilter
