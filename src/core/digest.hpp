// Digests. A digest is all that a value's bits depend on: in our own layouts a hash, in those of
// some other systems two numbers of 64 bits (LayoutRow::digest_size).
#ifndef BLOOMFILTER_CORE_DIGEST_HPP
#define BLOOMFILTER_CORE_DIGEST_HPP

#include <cstdint>

namespace bloomfilter {

struct Digest {
  std::uint64_t first, second;
};

} // namespace bloomfilter

#endif
