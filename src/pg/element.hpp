// Values become hashes: every SQL type that a filter can hold, in one place.
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
//   jsonb        see pg/jsonb.cpp
//   enum         the label, as text
//   array        dimensions i32, then length i32 and lower bound i32 of each, then items
//   range        flags u8, then the finite bounds as items without null byte
//   multirange   count u32, then ranges as items without null byte
//   row          count u32, then items; inside anything, up to the last one that is not NULL
//
// Numbers are little-endian. An item is a null byte (1 for NULL, and nothing follows), a length
// u32, and canonical bytes.
//
// Where bytewise hashing could miss a value that SQL calls equal (a nondeterministic collation,
// citext, a type without an entry here), there is an error and never a hash.
#ifndef BLOOMFILTER_PG_ELEMENT_HPP
#define BLOOMFILTER_PG_ELEMENT_HPP

#include "pg/server.hpp"

#include "core/digest.hpp"
#include "core/format.hpp"

struct TypeCacheEntry;

namespace bloomfilter {

struct Canonical;
struct Writer;

// What a value is for: it is asked of a filter, or added to it or removed from it.
enum class Use : uint8 { ask, add };

// An element type, looked up once and kept in memory of its own choosing (a call site's fn_mcxt).
struct Element {
  Family family;
  uint32 shape; // of a row only after one was hashed
  uint64 (*hash)(Element *element, Datum value, uint64 seed);
  void (*canonical)(Element *element, Datum value, Canonical *out);       // of a scalar
  void (*write)(Element *element, Datum value, Writer *out, bool nested); // of a composed value

  Oid type;     // of the value as the caller sees it, for messages
  Oid base;     // the same without domains
  bool varying; // is the base varchar?
  MemoryContext context;

  MemoryContext scratch; // of a composed value

  // Of an array's elements, a range's bounds, a multirange's ranges.
  Element *item;
  int16 typlen;
  bool typbyval;
  char typalign;
  TypeCacheEntry *range;

  // Of the rows seen last; `row_identifier` changes with the row type's definition.
  Oid row_type;
  int32 row_typmod;
  uint64 row_identifier;
  Element **fields; // NULL for a dropped column
  Datum *values;    // of the row at hand
  bool *nulls;
  MemoryContext row_context;
};

// `type` is any type, a domain or `unknown` included; `collation` is the one that the value comes
// with. Raises 0A000 for what cannot be hashed and 42P22 for text without a collation.
Element *resolve_element(Oid type, Oid collation, MemoryContext context);

// The first hash of a value that is not NULL. Allocates in the current memory context.
inline uint64 hash_element(Element *element, Datum value, uint64 seed) {
  return element->hash(element, value, seed);
}

// A value has several hashes where SQL compares it differently with different types of its family:
// a varchar equals a text with the same blanks at its end, but a char(n) without regard to them, so
// one that ends with a blank has two. All of them are added; any of them is a yes.
struct SecondHash {
  bool exists;
  uint64 hash;
};
// Only of an element that is `varying`.
SecondHash second_hash(Element *element, Datum value, uint64 seed);

// The digests of a value: to be asked, when any of them is a yes, or to be added. Of our own
// layouts, a digest is a hash and nothing more.
constexpr int kMaxDigests = 6; // of a literal, which may have as many readings
struct Hashes {
  Digest digest[kMaxDigests];
  int count;
  bool any;      // may be equal to every value: a yes in any case
  bool no_value; // not a value of the filter's layout: a no, and not to be added
};
inline Hashes no_hashes() {
  Hashes hashes;
  hashes.count = 0;
  hashes.any = hashes.no_value = false;
  return hashes;
}
Hashes hash_foreign(Element *element, Datum value, Layout layout, Use use);
inline Hashes hash_value(Element *element, Datum value, const Header &header, Use use) {
  if (unlikely(is_foreign(header.geometry.layout)))
    return hash_foreign(element, value, header.geometry.layout, use);
  Hashes hashes = no_hashes();
  hashes.digest[hashes.count++] = {hash_element(element, value, header.seed), 0};
  if (element->varying) {
    const SecondHash second = second_hash(element, value, header.seed);
    if (second.exists)
      hashes.digest[hashes.count++] = {second.hash, 0};
  }
  return hashes;
}

// The same of what is to be added, of a fitting element that is not varying, where it is one digest
// and quickly found; false for all others.
bool hash_quickly(Element *element, Datum value, Layout layout, Digest *digest);

// Raises 0A000 of other systems' filters, to which what bf_hash() gives means nothing.
void check_hashed_alike(const Header &header);

// Raises 22003: what is to be added is not a value of the filter's layout.
[[noreturn]] void raise_no_value(const Header &header);

// The hash under seed 0, of text without the blanks at its end: one for all values that SQL calls
// equal, those with two hashes included.
uint64 distribution_hash(Element *element, Datum value);

// Raises 42804 if a filter holds other values than these. Call it after hash_element(): a row's
// composition is known only from the row.
void raise_unless_fitting(const Header &header, const Element *element, Use use);
inline bool fits(const Header &header, const Element *element) {
  return header.family == element->family && header.shape == element->shape;
}
inline void check_element(const Header &header, const Element *element, Use use) {
  if (!fits(header, element))
    raise_unless_fitting(header, element, use);
}

// Can two filters or aggregate states hold the same values? One without values can hold any.
bool same_family(const Header &header, const Header &other);

// Raises 42804 if they cannot.
void check_family(const Header &header, const Header &other);

// The family and shape of a member, all else zero.
Header member_header(const Element *element);
Header member_header(Family family);

// Gives a filter without a family that of its new member, or of the filter it takes in, as its
// layout knows it.
void adopt_family(Header *header, const Header &member);

// The name of a family as bf_info() shows it; NULL for none.
const char *family_name(Family family);

// A bare literal's hashes under the filter's own element type. Raises 42804 where the reading would
// depend on settings or on a type that the filter does not know. A text of more than 63 bytes may
// be asked of names, which are shorter, but is added as it is.
Hashes hash_literal(const Header &header, text *literal, Oid collation, Use use);

} // namespace bloomfilter

#endif
