// The digests of a value, which are added to a filter or looked up in it.
#ifndef BLOOMFILTER_PG_ELEMENT_DIGESTS_HPP
#define BLOOMFILTER_PG_ELEMENT_DIGESTS_HPP

#include "core/digest.hpp"
#include "core/format.hpp"
#include "pg/element/element.hpp"

namespace bloomfilter {

// The second hash that some values have, because SQL compares them differently with different types
// of their family. A varchar equals a text only with the same blanks at its end, but a char(n)
// whatever the blanks are. So a varchar that ends with a blank has two hashes.
struct SecondHash {
  bool exists;
  uint64 hash;
};
// Only for an element that is `varying`.
SecondHash second_hash(Element *element, Datum value, uint64 seed);

// The digests of a value. Adding the value adds all of them; the value is found if any of them is
// found. In our own layouts, a digest is a hash and nothing more.
constexpr int kMaxDigests = 6; // a literal may have this many readings
struct Digests {
  Digest digest[kMaxDigests];
  int count;
  bool any;      // it may equal any number of values, or has no digest to find it by: always found
  bool no_value; // the filter cannot hold the value: it is never found, and not to be added
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

// Does every value of an element type have one hash, and the same family and shape? Then checking
// one value checks all.
inline bool has_one_hash(const Element *element) {
  return !element->varying && (!is_composed(element->family) || element->unformed);
}

// A shortcut for adding: the only digest of a value whose type is not varying and is known to fit
// the filter. False if the value needs more than this; then call foreign_digests().
bool try_foreign_digest(Element *element, Datum value, const Header &header, Digest *digest);

// Raises 22003: a value that is to be added is out of range for the filter's layout or family.
[[noreturn]] void raise_no_value(const Header &header);

// One hash, under seed 0, that is the same for all values that SQL calls equal, even for those with
// two hashes: text is hashed without the blanks at its end.
uint64 distribution_hash(Element *element, Datum value);

} // namespace bloomfilter

#endif
