// Element types: the SQL types that a filter can hold, and the bytes through which their values are
// hashed.
//
// Each value is hashed through its canonical bytes. Values that are equal in SQL have the same
// canonical bytes. Those bytes depend neither on the value's type within its family nor on its
// representation in memory, nor on the server's encoding, byte order or OIDs. doc/format.md lists
// them; they never change.
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
//   interval     i128 microseconds; a month counts as 30 days, as in the type's own equality
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
// If values that SQL calls equal could have different bytes, there is an error and never a hash.
// Such values have a nondeterministic collation, the type citext, or a type that is not listed
// here.
//
// The trade-off: bytes of our own take more code than the type's hash function. But the server may
// change its hash functions in any release, they differ between machines, and other programs do not
// have them. A filter is stored for years and read by other programs. A filter of numbers or short
// texts is still built faster than count(x) counts them (script/bench values).
//
// What is not good about it: a type that is not listed cannot be in a filter.
//
// Tests: sql/equality.sql, sql/conversion.sql, sql/labels.sql, test/t/020_conversions.pl,
// test/search/equality.py.
#pragma once

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

// The purpose of hashing a value: `probe` to probe a filter for the value, `change` to add or
// remove it.
enum class Purpose : uint8 { probe, change };

// An element type with all that is needed to hash its values. It is looked up once and kept in a
// memory context that the caller chooses, such as a call site's fn_mcxt.
struct ValueType : ElementType { // a row's shape is set when it is hashed
  uint64 (*hash)(ValueType *type, Datum value, uint64 seed);
  void (*canonical)(ValueType *type, Datum value, Canonical *out);       // of a scalar
  void (*write)(ValueType *type, Datum value, Writer *out, bool nested); // of a composed value

  Oid type;     // the value's type as the caller sees it, for messages
  Oid base;     // the same type without domains
  bool varying; // true if the base is varchar
  MemoryContext context;

  ValueType *counterpart; // list of the types that values were converted to (conversion.cpp)

  MemoryContext scratch;  // of a composed value
  EnumLabels *labels;     // of an enum
  StringInfoData *buffer; // of jsonb

  // Set for arrays, ranges and multiranges: `item` is the type of the elements, bounds or ranges.
  ValueType *item;
  int16 typlen;
  bool typbyval;
  char typalign;
  TypeCacheEntry *range;

  // Set for rows, from the row that was hashed last. `row_identifier` changes with the definition
  // of the row type.
  Oid row_type;
  int32 row_typmod;
  uint64 row_identifier;
  TypeCacheEntry *row_entry; // NULL for an anonymous row
  TupleDescData *descriptor;
  ValueType **fields; // the entry of a dropped column is NULL
  int field_count;
  Datum *values; // of the current row
  bool *nulls;
  MemoryContext row_context;
  bool unformed; // true if unformed_rows() made it
};

// Looks up an element type. `type` is any type, including domains and `unknown`. `collation` is the
// collation of the value. Raises 0A000 for types that cannot be hashed, and 42P22 for text without
// a collation.
ValueType *resolve_value_type(Oid type, Oid collation, MemoryContext context);

// The element type of a type that SQL names before there is a value. The collation is the one that
// a column of the type has. The shape of rows is known, too. Raises 42704 if there is no such type,
// and 42809 for a pseudo-type. All other errors are those of resolve_value_type().
ValueType *named_value_type(Oid type, MemoryContext context);

// Like resolve_value_type(), in a memory context below `parent` that holds this element type alone.
// The new element type replaces the one before it. If the context is NULL, it is created.
ValueType *replace_value_type(Oid type, Oid collation, MemoryContext parent, MemoryContext *memory);

// Like resolve_value_type(), for anonymous rows of which no tuple is formed. The value of such a
// row is an array of NullableDatum, one for each field. It has the same hash as the tuple. `fields`
// are the expressions whose types the fields have.
ValueType *unformed_rows(const List *fields, MemoryContext context);

// Like resolve_value_type(), for a scalar type whose values can be hashed without an error, as far
// as the type and collation tell. Returns NULL for all other types.
ValueType *scalar_value_type(Oid type, Oid collation, MemoryContext context);

// True if the type is a scalar type as above, or an array, range or multirange of such a type.
// False for row types, because whether a row can be hashed depends on the row.
bool is_surely_hashed(Oid type, Oid collation);

// The same for a field of a row. A field of type character varying is an error if its value ends
// with a blank (digests.hpp).
bool is_surely_hashed_field(Oid type, Oid collation);

// The types that a composed value consists of, for messages: "row (integer, text)" or "array of
// integer". An element type has only a hash of these types, so of more than three it tells no more
// than their number. Of a row, call value_type_in_words() after the row was hashed.
char *element_type_in_words(const ElementType &element_type);
char *value_type_in_words(const ValueType *value_type);

// The first hash of a value that is not NULL. Allocates in the current memory context.
inline uint64 first_hash(ValueType *value_type, Datum value, uint64 seed) {
  return value_type->hash(value_type, value, seed);
}

} // namespace bloomfilter
