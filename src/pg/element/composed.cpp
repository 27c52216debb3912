// Composed values: arrays, ranges, multiranges and rows, part by part (doc/format.md has the
// bytes).
//
// A value may have millions of parts. The memory of one part is freed before the next part comes,
// so that memory stays a small multiple of the value itself, and interrupts are checked for between
// parts.

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

// Up to 15.19, 16.15, 17.11 and 18.6 this is a macro. Since then it is a function of the
// server, which marks rows that an older server stored, so that heap_deform_tuple checks their
// shape. It is weak here, so that a build against one minor release loads in every other.
#undef DatumGetHeapTupleHeader
extern HeapTupleHeader DatumGetHeapTupleHeader(Datum value) __attribute__((weak));
}

namespace bloomfilter {

namespace {

// A value with a long header at an aligned address, as it takes to walk through it. Most stored
// values have a short header; they are copied to the stack, which costs less than memory of a
// context.
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

// Where the number of bytes is a constant, as for numbers and uuids, the compiler copies them
// without a call.
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

// Writes the ranges as items without a null byte. A multirange has no empty range.
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

// Appends what values are composed of, from which the shape follows. A nested row is only "row"
// there; its fields are told apart by its bytes.
void append_structure(StringInfo out, const Element *element) {
  appendStringInfoChar(out, static_cast<char>(element->family));
  if (element->item)
    append_structure(out, element->item);
}

// The shape: 24 bits of a hash of the structure. It is never 0, which means that there is no shape.
uint32 shape_of(const StringInfoData &structure) {
  const uint32 shape = hash_bytes(structure.data, structure.len, 0) & 0xffffff;
  return shape == 0 ? 1 : shape;
}

template <typename T> T *allocate_for_fields(const Element *element, int count) {
  return static_cast<T *>(MemoryContextAllocZero(element->row_context, count * sizeof(T) + 1));
}

// Does the element know the fields of rows of this type? The cache entry of a named type forgets
// its identifier as soon as the definition may have changed.
bool knows_fields(const Element *element, Oid type, int32 typmod) {
  if (!element->fields || element->row_type != type || element->row_typmod != typmod)
    return false;
  return element->row_identifier == (element->row_entry
                                         ? element->row_entry->tupDesc_identifier
                                         : assign_record_type_identifier(type, typmod));
}

// Copies the row type's descriptor, with the values that columns added later have in old rows, so
// that rows need no lookup of it.
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

// Sets the fields of rows, and the shape that rows have with them.
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

// Looks up the fields of a row type.
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

// Such a row would need two hashes, one for each comparison.
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

// Writes the fields of the current row. A row inside another value ends with its last field that is
// not NULL: after ALTER TYPE … ADD ATTRIBUTE, the rows from before are equal to rows with one more
// NULL. (A row that is itself the value has another shape then, which is an error.)
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
    pfree(row); // a copy that the server made to mark it
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

// A range type may order its bounds by another comparison than their type's own. That comparison
// may call different bounds equal.
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

bool resolve_composed(Element *element, Oid collation) {
  const Oid type = element->base, item = get_element_type(type);
  if (type_is_rowtype(type)) {
    element->family = Family::row; // each row has its own shape
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
