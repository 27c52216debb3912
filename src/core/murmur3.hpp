// MurmurHash3 of 128 bits for 64-bit machines (x64_128; A. Appleby, public domain). Guava hashes
// with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bloomfilter {

struct Murmur3 {
  std::uint64_t first, second;
};
Murmur3 murmur3(const std::uint8_t *bytes, std::size_t length, std::uint32_t seed);

// The finalizer of MurmurHash3. It is a permutation, and every bit of the result depends on every
// bit of x.
inline std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xFF51AFD7ED558CCDULL;
  x ^= x >> 33;
  x *= 0xC4CEB9FE1A85EC53ULL;
  return x ^ x >> 33;
}

} // namespace bloomfilter
