// Canonical bytes (pg/element/element.hpp), and what the files that make them share: scalar.cpp,
// composed.cpp and jsonb.cpp.
//
// A scalar's bytes are made as a whole. A composed value may have millions of parts, so its bytes
// are never all in memory: they are written part by part to where they are hashed. The length that
// precedes a composed part is known only after the part was written; a part that is too long to be
// kept until then is written twice.
#ifndef BLOOMFILTER_PG_ELEMENT_CANONICAL_HPP
#define BLOOMFILTER_PG_ELEMENT_CANONICAL_HPP

#include "pg/server.hpp"

#include "core/bytes.hpp"
#include "core/hash.hpp"
#include "pg/element/element.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "datatype/timestamp.h"
}

namespace bloomfilter {

// The canonical bytes of a scalar. They are in the value itself, in palloc'ed memory, in `buffer`,
// or in memory of the element, which is valid until the element's next value.
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

inline void canonical_int4(Element *, Datum value, Canonical *out) {
  out->set_number<int64>(DatumGetInt32(value));
}
inline void canonical_int8(Element *, Datum value, Canonical *out) {
  out->set_number<int64>(DatumGetInt64(value));
}

// The hash of a value's canonical bytes. The compiler sees how they are made, and often their
// length.
template <void (*kCanonical)(Element *, Datum, Canonical *)>
__attribute__((flatten)) uint64 hash_through(Element *element, Datum value, uint64 seed) {
  Canonical canonical;
  kCanonical(element, value, &canonical);
  return hash_bytes(canonical.bytes, canonical.length, seed);
}

// The first hash of a value that is not NULL, for the commonest types without a call.
inline uint64 inline_hash(Element *element, Datum value, uint64 seed) {
  switch (element->base) {
  case INT8OID:
    return hash_through<canonical_int8>(element, value, seed);
  case INT4OID:
    return hash_through<canonical_int4>(element, value, seed);
  default:
    return first_hash(element, value, seed);
  }
}

// Hashes the bytes of a composed value as they are written.
struct Writer : Hasher {
  MemoryContext values;  // for detoasted values
  MemoryContext scratch; // the current context, reset after each scalar

  Writer(uint64 seed, MemoryContext for_values, MemoryContext for_scalars)
      : Hasher(seed), values(for_values), scratch(for_scalars) {}
};

// The value detoasted, if it is toasted; a short header stays. Inline, because most values need no
// detoasting and so no call.
inline struct varlena *packed(Datum value) {
  auto *stored = reinterpret_cast<struct varlena *>(DatumGetPointer(value));
  const bool plain = !VARATT_IS_COMPRESSED(stored) && !VARATT_IS_EXTERNAL(stored);
  return likely(plain) ? stored : pg_detoast_datum_packed(stored);
}

// Text in the server's encoding, converted to UTF-8.
void canonical_string(const char *string, Size length, Canonical *out);

// An interval's length in microseconds, a month being 30 days.
__int128 interval_span(const Interval *interval);

// The canonical bytes of a numeric.
void numeric_bytes(Datum value, Canonical *out);

// The length of a string without the blanks at its end.
Size length_without_blanks(const char *string, Size length);

// Is the value a varchar that ends with a blank? Its equality depends on the type that it is
// compared with.
inline bool ends_with_blank(const Element *element, Datum value) {
  if (!element->varying)
    return false;
  struct varlena *string = packed(value);
  const Size length = VARSIZE_ANY_EXHDR(string);
  const bool blank = length > 0 && VARDATA_ANY(string)[length - 1] == ' ';
  if (unlikely(reinterpret_cast<Pointer>(string) != DatumGetPointer(value)))
    pfree(string);
  return blank;
}

// The canonical bytes of a whole jsonb document.
void canonical_jsonb(Element *element, Datum value, Canonical *out);

// The canonical bytes that text or a varchar has as char(n): without the blanks at its end.
void canonical_stripped(Element *element, Datum value, Canonical *out);

// Raises 42P22 or 0A000 unless bytes decide about equality under the collation.
void check_collation(Oid type, Oid collation);

// Set how the values of an element's base type are hashed if that is a scalar type, or a composed
// one, that filters can hold; false if it is not.
bool resolve_scalar(Element *element, Oid collation);
bool resolve_composed(Element *element, Oid collation);

// Sets the shape of rows of a named type, which otherwise their first value does.
void resolve_named_rows(Element *element);

} // namespace bloomfilter

#endif
