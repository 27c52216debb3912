// What a value becomes: its digests, which are added to a filter, or which a filter is asked for.
#ifndef BLOOMFILTER_PG_ELEMENT_DIGESTS_HPP
#define BLOOMFILTER_PG_ELEMENT_DIGESTS_HPP

#include "core/digest.hpp"
#include "core/format.hpp"
#include "pg/element/element.hpp"

namespace bloomfilter {

// A value has several hashes where SQL compares it differently with different types of its family:
// a varchar equals a text with the same blanks at its end, but a char(n) without regard to them, so
// one that ends with a blank has two.
struct SecondHash {
  bool exists;
  uint64 hash;
};
// Only of an element that is `varying`.
SecondHash second_hash(Element *element, Datum value, uint64 seed);

// The digests of a value. All of them are added; if any is found, so is the value. Of our own
// layouts, a digest is a hash and nothing more.
constexpr int kMaxDigests = 6; // of a literal, which may have as many readings
struct Digests {
  Digest digest[kMaxDigests];
  int count;
  bool any;      // it may be equal to any number of values, so it is always found
  bool no_value; // it is none of the filter's values: never found, and not to be added
};
inline Digests no_digests() {
  Digests digests;
  digests.count = 0;
  digests.any = digests.no_value = false;
  return digests;
}
Digests foreign_digests(Element *element, Datum value, const Header &header, Use use);
inline Digests digests_of(Element *element, Datum value, const Header &header, Use use) {
  if (unlikely(is_foreign(header.geometry.layout)))
    return foreign_digests(element, value, header, use);
  Digests digests = no_digests();
  digests.digest[digests.count++] = {first_hash(element, value, header.seed), 0};
  if (element->varying) {
    const SecondHash second = second_hash(element, value, header.seed);
    if (second.exists)
      digests.digest[digests.count++] = {second.hash, 0};
  }
  return digests;
}

// Can one value of an element type tell for all, as each of them has one hash, and the family and
// shape of the type?
inline bool has_one_hash(const Element *element) {
  return !element->varying && !is_composed(element->family);
}

// A shortcut for what is to be added: the only digest of a value whose type is not varying and is
// known to fit the filter. False if it takes more than that; then call foreign_digests().
bool try_foreign_digest(Element *element, Datum value, const Header &header, Digest *digest);

// Raises 22003: what is to be added is not a value of the filter's layout or family.
[[noreturn]] void raise_no_value(const Header &header);

// One hash, under seed 0, for all values that SQL calls equal, those with two hashes included: text
// is hashed without the blanks at its end.
uint64 distribution_hash(Element *element, Datum value);

} // namespace bloomfilter

#endif
