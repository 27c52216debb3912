// All that a value's bits depend on: a hash of our own layouts, two words of 64 bits of some other
// systems' (LayoutRow::digest_words).
#ifndef BLOOMFILTER_CORE_DIGEST_HPP
#define BLOOMFILTER_CORE_DIGEST_HPP

#include <cstdint>

namespace bloomfilter {

struct Digest {
  std::uint64_t first, second;
};

} // namespace bloomfilter

#endif
