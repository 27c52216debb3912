// The hash of an element: XXH3, 64 bits, over the element's canonical bytes.
//
// XXH3's output is promised for ever from version 0.8.0 on (doc/xxhash_spec.md of xxHash), does
// not depend on the processor, and costs 1.6 ns for an integer. PostgreSQL's own hash functions
// promise nothing across versions and byte orders, so a stored filter cannot rest on them.
#ifndef BLOOMFILTER_CORE_HASH_HPP
#define BLOOMFILTER_CORE_HASH_HPP

#include <cstddef>
#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "bloomfilter requires xxHash 0.8.0 or newer, the first with a stable XXH3"
#endif

namespace bloomfilter {

inline std::uint64_t hash_bytes(const void *bytes, std::size_t length, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}

} // namespace bloomfilter

#endif
