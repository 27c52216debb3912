// Helpers that the tests of the core share: keys, random numbers, and a second implementation of
// positions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/bytes.hpp"
#include "core/geometry.hpp"
#include "core/hash.hpp"
#include "core/kernel.hpp"

namespace bloomfilter {

// SplitMix64 (S. Vigna, public domain). It gives the same numbers in every run.
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
    return z ^ z >> 31;
  }

private:
  std::uint64_t state_;
};

// The hash of an SQL integer.
inline std::uint64_t hash_integer(std::int64_t value, std::uint64_t seed) {
  std::uint8_t bytes[8];
  store(bytes, static_cast<std::uint64_t>(value));
  return hash_bytes(bytes, sizeof bytes, seed);
}

// Every kernel of this machine. The scalar kernel comes first.
inline std::vector<const Kernel *> all_kernels() {
  std::vector<const Kernel *> kernels = {&kScalarKernel};
  for (const Kernel *kernel : {neon_kernel(), avx2_kernel(), avx512_kernel()})
    if (kernel)
      kernels.push_back(kernel);
  return kernels;
}

inline void add(const Kernel &kernel, const Geometry &geometry, std::uint8_t *bitmap,
                std::uint64_t hash) {
  kernel.add_many(geometry, bitmap, &hash, 1);
}

// The positions of a hash's bits in the bitmap. This follows the specification of the format
// (doc/format.md) word for word, without any code of the core. The core must agree with it.
inline std::vector<std::uint64_t> specified_bits(const Geometry &geometry, std::uint64_t h) {
  const std::uint64_t word = 1ULL << 32; // products are modulo 2^32
  const std::uint64_t x = h % word;
  const std::uint64_t y = h * 0x9E3779B97F4A7C15ULL / word;
  const std::uint64_t unit = (h / word) * geometry.units / word;
  const bool paged = geometry.layout == Layout::pages;
  const std::uint64_t line_a = unit * 8 + x * 0xC2B2AE35 % word / (1U << 30);
  const std::uint64_t line_b = unit * 8 + 4 + y * 0xC2B2AE35 % word / (1U << 30);

  std::vector<std::uint64_t> bits;
  std::uint64_t s = 1;
  for (int i = 0; i < (paged ? geometry.k / 2 : geometry.k); i++) {
    s = s * 0x9E3779B9 % word;
    bits.push_back((paged ? line_a : unit) * 512 + x * s % word / (1U << 23));
    if (paged)
      bits.push_back(line_b * 512 + y * s % word / (1U << 23));
  }
  return bits;
}

inline bool bit_at(const std::uint8_t *bitmap, std::uint64_t bit) {
  return bitmap[bit / 8] >> bit % 8 & 1;
}

inline void set_bit(std::uint8_t *bitmap, std::uint64_t bit) {
  bitmap[bit / 8] = static_cast<std::uint8_t>(bitmap[bit / 8] | 1U << bit % 8);
}

inline void clear_bit(std::uint8_t *bitmap, std::uint64_t bit) {
  bitmap[bit / 8] = static_cast<std::uint8_t>(bitmap[bit / 8] & ~(1U << bit % 8));
}

} // namespace bloomfilter
