// What a value becomes: one hash, or several, or another system's digests.
#ifndef BLOOMFILTER_PG_ELEMENT_HASHES_HPP
#define BLOOMFILTER_PG_ELEMENT_HASHES_HPP

#include "core/digest.hpp"
#include "core/format.hpp"
#include "pg/element/element.hpp"

namespace bloomfilter {

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
Hashes hash_foreign(Element *element, Datum value, const Header &header, Use use);
inline Hashes hash_value(Element *element, Datum value, const Header &header, Use use) {
  if (unlikely(is_foreign(header.geometry.layout)))
    return hash_foreign(element, value, header, use);
  Hashes hashes = no_hashes();
  hashes.digest[hashes.count++] = {hash_element(element, value, header.seed), 0};
  if (element->varying) {
    const SecondHash second = second_hash(element, value, header.seed);
    if (second.exists)
      hashes.digest[hashes.count++] = {second.hash, 0};
  }
  return hashes;
}

// The same of what is to be added, of an element that fits the filter and is not varying, where it
// is one digest and quickly found; false for all others.
bool hash_quickly(Element *element, Datum value, const Header &header, Digest *digest);

// Raises 22003: what is to be added is not a value of the filter's layout.
[[noreturn]] void raise_no_value(const Header &header);

// The hash under seed 0, of text without the blanks at its end: one for all values that SQL calls
// equal, those with two hashes included.
uint64 distribution_hash(Element *element, Datum value);

} // namespace bloomfilter

#endif
