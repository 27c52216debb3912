// Element types: every SQL type that a filter can hold, and the bytes that its values are hashed
// through.
//
// A value is hashed through its canonical bytes, which are the same for all values that are equal
// in SQL, whatever their type within the family, their in-memory representation, the server's
// encoding, byte order or OIDs. doc/format.md lists them; they never change.
//
//   integer      int64, for int2, int4 and int8
//   float        float8 of float4 and float8; one zero, one NaN
//   numeric      sign u16, weight i16, base-10000 digits u16, without scale or outer zeros
//   text         UTF-8 (the bytes as they are in an SQL_ASCII database); bpchar without its
//                trailing blanks, varchar both ways (see second_hash)
//   bytea, uuid, boolean, "char", macaddr, macaddr8   their bytes
//   oid          u32
//   date         i32 days; timestamp, timestamptz i64 microseconds; all since 1970-01-01
//   time         i64 microseconds; timetz the same, then the zone, i32 seconds west
//   interval     i128 microseconds, a month being 30 days as in the type's own equality
//   inet, cidr   4 or 6, prefix length, address
//   jsonb        see jsonb.cpp
//   enum         the label, as text
//   array        dimensions i32, then length i32 and lower bound i32 of each, then items
//   range        flags u8, then the finite bounds as items without null byte
//   multirange   count u32, then ranges as items without null byte
//   row          count u32, then items; inside another value, up to the last that is not NULL
//
// Numbers are little-endian. An item is a null byte (1 for NULL, and nothing follows), a length
// u32, and canonical bytes.
//
// Where bytewise hashing could miss a value that SQL calls equal (a nondeterministic collation,
// citext, a type without an entry here), there is an error and never a hash.
#ifndef BLOOMFILTER_PG_ELEMENT_ELEMENT_HPP
#define BLOOMFILTER_PG_ELEMENT_ELEMENT_HPP

#include "pg/server.hpp"

#include "core/family.hpp"

struct StringInfoData;
struct TupleDescData;
struct TypeCacheEntry;
struct List;

namespace bloomfilter {

struct Canonical;
struct EnumLabels;
struct Writer;

// What a value is hashed for: `ask` to look it up in a filter, `add` to add it or to remove it.
enum class Use : uint8 { ask, add };

// An element type, looked up once and kept in a memory context that the caller chooses (a call
// site's fn_mcxt).
struct Element : ElementType { // a row's shape is known only after it was hashed
  uint64 (*hash)(Element *element, Datum value, uint64 seed);
  void (*canonical)(Element *element, Datum value, Canonical *out);       // of a scalar
  void (*write)(Element *element, Datum value, Writer *out, bool nested); // of a composed value

  Oid type;     // the value's type as the caller sees it, for messages
  Oid base;     // the same type without domains
  bool varying; // is the base varchar?
  MemoryContext context;

  Element *counterpart; // a list of the types to which values were converted (conversion.cpp)

  MemoryContext scratch;  // of a composed value
  EnumLabels *labels;     // of an enum
  StringInfoData *buffer; // of jsonb

  // For an array's elements, a range's bounds, a multirange's ranges:
  Element *item;
  int16 typlen;
  bool typbyval;
  char typalign;
  TypeCacheEntry *range;

  // For the rows seen last. `row_identifier` changes with the row type's definition.
  Oid row_type;
  int32 row_typmod;
  uint64 row_identifier;
  TypeCacheEntry *row_entry; // NULL for an anonymous row
  TupleDescData *descriptor;
  Element **fields; // NULL for a dropped column
  int field_count;
  Datum *values; // of the current row
  bool *nulls;
  MemoryContext row_context;
  bool unformed; // is it of unformed_rows()?
};

// Looks up an element type. `type` is any type, including domains and `unknown`; `collation` is the
// one that the value comes with. Raises 0A000 for types that cannot be hashed and 42P22 for text
// without a collation.
Element *resolve_element(Oid type, Oid collation, MemoryContext context);

// The element type of a type that SQL names, before there is a value. Its collation is that of a
// column of the type. The shape of rows is known, too. Raises 42704 if there is no such type, and
// 42809 for a pseudo-type; other errors are as above.
Element *named_element(Oid type, MemoryContext context);

// The same as resolve_element() in a memory context of its own below `parent`, where it replaces
// the element type before it. The context is made if it is NULL.
Element *replace_element(Oid type, Oid collation, MemoryContext parent, MemoryContext *memory);

// Like resolve_element() for anonymous rows that no tuple is formed of. Such a row is an array of
// NullableDatum, one for each field, and has the hash of the tuple. Its fields have the types of
// some expressions.
Element *unformed_rows(const List *fields, MemoryContext context);

// Like resolve_element() for a scalar type whose values are hashed without an error, as far as the
// type tells; NULL for other types.
Element *scalar_element(Oid type, Oid collation, MemoryContext context);

// Is a type a scalar one as above, or an array or range of such? Rows are known one by one.
bool is_surely_hashed(Oid type, Oid collation);

// The first hash of a value that is not NULL. Allocates in the current memory context.
inline uint64 first_hash(Element *element, Datum value, uint64 seed) {
  return element->hash(element, value, seed);
}

} // namespace bloomfilter

#endif
