// Canonical bytes (pg/element/value_type.hpp): what the files that write them have in common. These
// files are scalar.cpp, composed.cpp and jsonb.cpp.
//
// The bytes of a scalar are made as a whole. A composed value may have millions of parts, so its
// bytes are never all in memory. Each part is hashed as it is written. The length of a part
// precedes its bytes, but it is known only after the part was written. A short part is kept in a
// buffer until then; a part that does not fit into the buffer is written twice.
#pragma once

#include "pg/server.hpp"

#include "core/bytes.hpp"
#include "core/hash.hpp"
#include "pg/element/value_type.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "datatype/timestamp.h"
}

namespace bloomfilter {

// The canonical bytes of a scalar. The bytes are in the value itself, in palloc'ed memory, in
// `buffer`, or in memory of the element type. Memory of the element type is valid until the next
// value of the type is hashed.
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

inline void canonical_int4(ValueType *, Datum value, Canonical *out) {
  out->set_number<int64>(DatumGetInt32(value));
}
inline void canonical_int8(ValueType *, Datum value, Canonical *out) {
  out->set_number<int64>(DatumGetInt64(value));
}

// The hash of a value's canonical bytes. The function that makes the bytes is a template argument,
// so that the compiler can inline it and often knows the number of bytes.
template <void (*kCanonical)(ValueType *, Datum, Canonical *)>
__attribute__((flatten)) uint64 hash_through(ValueType *value_type, Datum value, uint64 seed) {
  Canonical canonical;
  kCanonical(value_type, value, &canonical);
  return hash_bytes(canonical.bytes, canonical.length, seed);
}

// The first hash of a value that is not NULL. For the most common types, the hash is computed
// inline, without a call.
inline uint64 inline_hash(ValueType *value_type, Datum value, uint64 seed) {
  switch (value_type->base) {
  case INT8OID:
    return hash_through<canonical_int8>(value_type, value, seed);
  case INT4OID:
    return hash_through<canonical_int4>(value_type, value, seed);
  default:
    return first_hash(value_type, value, seed);
  }
}

// Hashes the bytes of a composed value while they are written.
struct Writer : Hasher {
  MemoryContext values;  // for detoasted values
  MemoryContext scratch; // the current context, reset after each scalar

  Writer(uint64 seed, MemoryContext for_values, MemoryContext for_scalars)
      : Hasher(seed), values(for_values), scratch(for_scalars) {}
};

// Returns the value, detoasted if it is toasted. A short header stays short. The function is inline
// because most values are not toasted and so need no call.
inline struct varlena *packed(Datum value) {
  auto *stored = reinterpret_cast<struct varlena *>(DatumGetPointer(value));
  const bool plain = !VARATT_IS_COMPRESSED(stored) && !VARATT_IS_EXTERNAL(stored);
  return likely(plain) ? stored : pg_detoast_datum_packed(stored);
}

// Sets `out` to the given text, which is in the server's encoding, as UTF-8.
void canonical_string(const char *string, Size length, Canonical *out);

// An interval's length in microseconds. A month counts as 30 days.
__int128 interval_span(const Interval *interval);

// The canonical bytes of a numeric.
void numeric_bytes(Datum value, Canonical *out);

// The length of a string without the blanks at its end.
Size length_without_blanks(const char *string, Size length);

// True if the value is a varchar that ends with a blank. Whether such a varchar equals another
// value depends on the type of the other value.
inline bool ends_with_blank(const ValueType *value_type, Datum value) {
  if (!value_type->varying)
    return false;
  struct varlena *string = packed(value);
  const Size length = VARSIZE_ANY_EXHDR(string);
  const bool blank = length > 0 && VARDATA_ANY(string)[length - 1] == ' ';
  if (unlikely(reinterpret_cast<Pointer>(string) != DatumGetPointer(value)))
    pfree(string);
  return blank;
}

// The canonical bytes of a whole jsonb document.
void canonical_jsonb(ValueType *value_type, Datum value, Canonical *out);

// The canonical bytes that a text or varchar has after a cast to char(n): without the blanks at its
// end.
void canonical_stripped(ValueType *value_type, Datum value, Canonical *out);

// Raises 42P22 if there is no collation, and 0A000 if values that differ in bytes can be equal
// under the collation.
void check_collation(Oid type, Oid collation);

// Look up how values of the base type of `value_type` are hashed, and set its fields. The first
// function does so for scalar types, the second one for composed types. They return false if
// filters cannot hold the type, or if it is a type for the other function.
bool resolve_scalar(ValueType *value_type, Oid collation);
bool resolve_composed(ValueType *value_type, Oid collation);

// Sets the shape of the rows of a named composite type. Without this call, the first row that is
// hashed sets the shape.
void resolve_named_rows(ValueType *value_type);

} // namespace bloomfilter
