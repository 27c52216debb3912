// Canonical bytes: how the files that know what a type is (pg/element/element.hpp) hand them to
// each other.
//
// A scalar's bytes are made as a whole. Those of a composed value are never all in memory: one
// value may have millions of parts, so they are written part by part to where they are hashed. The
// length that comes before a composed part is known when it was written; one that is too long to be
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

// A scalar's: in the value itself, in palloc'ed memory, in `buffer`, or in memory of the element's,
// until its next value.
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

// The hash of canonical bytes whose making the compiler sees, and often their length.
template <void (*kCanonical)(Element *, Datum, Canonical *)>
__attribute__((flatten)) uint64 hash_through(Element *element, Datum value, uint64 seed) {
  Canonical canonical;
  kCanonical(element, value, &canonical);
  return hash_bytes(canonical.bytes, canonical.length, seed);
}

// The first hash, of the commonest types without a call.
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

// Where a composed value's bytes go.
struct Writer : Hasher {
  MemoryContext values;  // for what is detoasted
  MemoryContext scratch; // the current one, emptied after each scalar

  Writer(uint64 seed, MemoryContext for_values, MemoryContext for_scalars)
      : Hasher(seed), values(for_values), scratch(for_scalars) {}
};

// A value as it is stored, with a short header if it has one. Inline: where there is nothing to
// unpack, rows are spared a call.
inline struct varlena *packed(Datum value) {
  auto *stored = reinterpret_cast<struct varlena *>(DatumGetPointer(value));
  const bool plain = !VARATT_IS_COMPRESSED(stored) && !VARATT_IS_EXTERNAL(stored);
  return likely(plain) ? stored : pg_detoast_datum_packed(stored);
}

// Text in the server's encoding as UTF-8.
void canonical_string(const char *string, Size length, Canonical *out);

// An interval's length in microseconds, a month being 30 days.
__int128 interval_span(const Interval *interval);

// A numeric's bytes.
void numeric_bytes(Datum value, Canonical *out);

// How long a string is without the blanks at its end.
Size length_without_blanks(const char *string, Size length);

// Is it a varchar whose equality depends on the type that it is compared with?
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

// The bytes of a whole document.
void canonical_jsonb(Element *element, Datum value, Canonical *out);

// Of text or a varchar, as char(n) has it: without the blanks at its end.
void canonical_stripped(Element *element, Datum value, Canonical *out);

// Raises 42P22 or 0A000 unless bytes decide about equality under the collation.
void check_collation(Oid type, Oid collation);

// Tell how the values of an element's base type are hashed; false if the type is none such.
bool resolve_scalar(Element *element, Oid collation);
bool resolve_composed(Element *element, Oid collation);

} // namespace bloomfilter

#endif
