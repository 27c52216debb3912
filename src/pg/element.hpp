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
//                trailing blanks
//   bytea, uuid, boolean, "char", macaddr, macaddr8   their bytes
//   oid          u32
//   date         i32 days; timestamp, timestamptz i64 microseconds; all since 1970-01-01
//   time         i64 microseconds; timetz the same, then the zone, i32 seconds west
//   interval     i128 microseconds, a month being 30 days as in the type's own equality
//   inet, cidr   4 or 6, prefix length, address
//   jsonb        see append_jsonb()
//   enum         the label, as text
//   array        dimensions i32, then length i32 and lower bound i32 of each, then items
//   range        flags u8, then the finite bounds as items without null byte
//   multirange   count u32, then ranges as items without null byte
//   row          count u32, then items
//
// Numbers are little-endian. An item is a null byte (1 for NULL, and nothing follows), a length
// u32, and canonical bytes.
//
// Where bytewise hashing could miss a value that SQL calls equal (a nondeterministic collation,
// citext, a type without an entry here), there is an error and never a hash.
#ifndef BLOOMFILTER_PG_ELEMENT_HPP
#define BLOOMFILTER_PG_ELEMENT_HPP

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

struct Element;

// An element type, looked up once and kept in `context` (a call site's fn_mcxt). `type` is any
// type, a domain or `unknown` included; `collation` is the one that the value comes with. Raises
// 0A000 for what cannot be hashed and 42P22 for text without a collation.
Element *resolve_element(Oid type, Oid collation, MemoryContext context);

Oid element_type(const Element *element);

// The hash of a value that is not NULL. Allocates in the current memory context.
uint64 hash_element(Element *element, Datum value, uint64 seed);

// Raises 42804 if a filter holds other values than these. Call it after hash_element(): a row's
// composition is known only from the row. `role` is how the message calls the value: "probe".
void check_element(const Header &header, const Element *element, const char *role);

// Raises 42804 if two filters or aggregate states hold different values.
void check_family(const Header &header, const Header &other);

// The family and shape of a member, all else zero.
Header member_header(const Element *element);
Header member_header(Family family);

// Gives a filter without a family that of its new member, or of the filter it takes in.
void adopt_family(Header *header, const Header &member);

// The name of a family as bf_info() shows it; NULL for none.
const char *family_name(Family family);

// A bare literal's hashes under the filter's own element type: several where types of the family
// read it differently. All of them are added; any of them is a yes. Raises 42804 where the reading
// would depend on settings or on a type that the filter does not know.
constexpr int kMaxReadings = 3;
struct LiteralHashes {
  uint64 hash[kMaxReadings];
  int count;
};
LiteralHashes hash_literal(const Header &header, text *literal, Oid collation);

} // namespace bloomfilter

#endif
