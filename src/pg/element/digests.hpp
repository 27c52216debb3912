// The digests of a value. A filter is probed for the digests of a value, and adding a value adds
// its digests. In our own layouts, a digest is one hash.
#pragma once

#include "core/format.hpp"
#include "core/geometry.hpp"
#include "pg/element/value_type.hpp"

namespace bloomfilter {

// The second hash of a varchar that ends with a blank. SQL compares such a varchar in two ways. A
// text is equal to it only if the text has the same blanks at its end. A char(n) is equal to it
// whatever the blanks are. So the varchar has one hash with its blanks and one without.
struct SecondHash {
  bool exists;
  uint64 hash;
};
// Only a varying element type has values with a second hash.
SecondHash second_hash(ValueType *value_type, Datum value, uint64 seed);

// The digests of a value. Adding the value adds all of them. A probe finds the value if the filter
// contains any of them. In our own layouts, a digest is a hash and nothing more.
constexpr int kMaxDigests = 6; // a literal may have this many readings
struct Digests {
  Digest digest[kMaxDigests];
  int count;
  bool any;      // always found: it may equal any number of values, or cannot be looked up
  bool no_value; // never found and must not be added: the filter cannot hold the value
};
inline Digests no_digests() {
  Digests digests;
  digests.count = 0;
  digests.any = digests.no_value = false;
  return digests;
}
Digests foreign_digests(ValueType *value_type, Datum value, const Header &header, Purpose purpose);
inline Digests digests_of(ValueType *value_type, Datum value, const Header &header,
                          Purpose purpose) {
  if (unlikely(is_foreign(header.geometry.layout)))
    return foreign_digests(value_type, value, header, purpose);
  Digests digests = no_digests();
  digests.digest[digests.count++] = {first_hash(value_type, value, header.seed), 0};
  if (value_type->varying) {
    const SecondHash second = second_hash(value_type, value, header.seed);
    if (second.exists)
      digests.digest[digests.count++] = {second.hash, 0};
  }
  return digests;
}

// True if every value of an element type has exactly one hash, and all values have the same family
// and shape. Then a check of one value is valid for all values.
inline bool has_one_hash(const ValueType *value_type) {
  return !value_type->varying && (!is_composed(value_type->family) || value_type->unformed);
}

// A shortcut for additions. Sets the only digest of a value. The value's type must not be varying
// and must be known to fit the filter. Returns false if the value needs more work; then call
// foreign_digests().
bool try_foreign_digest(ValueType *value_type, Datum value, const Header &header, Digest *digest);

// Raises 22003: the value to add is out of range for the filter's layout or family.
[[noreturn]] void raise_no_value(const Header &header);

// One hash with seed 0 that is the same for all values that SQL calls equal, even for values that
// have two hashes. Text is hashed without the blanks at its end.
uint64 distribution_hash(ValueType *value_type, Datum value);

} // namespace bloomfilter
