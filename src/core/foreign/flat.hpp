// Flat bitmaps, which most systems have: one large bitmap, in which a value's bits can be anywhere.
// Position i of a value is a number modulo the number of bits (A. Kirsch, M. Mitzenmacher, "Less
// Hashing, Same Performance", ESA 2006). The number of bits is a multiple of 64. If d divides the
// number of words, OR-ing d equal parts of the bitmap gives the filter of bits/d bits. The code
// here also serves a bitmap of blocks, if its positions are computed one by one.
//
// `Indices` has for_each(geometry, digest, use), which calls use(position) for each bit, in order.
//
// What is not good about it: each bit of a value may cost a memory access of its own.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/foreign/system.hpp"

namespace bloomfilter {

template <typename Indices> struct Flat {
  static void positions(const Geometry &geometry, const Digest &digest, std::uint64_t *positions) {
    Indices::for_each(geometry, digest, [&](std::uint64_t position) { *positions++ = position; });
  }

  static bool contains(const Geometry &geometry, const std::uint8_t *bitmap, const Digest &digest) {
    unsigned all = 1;
    Indices::for_each(geometry, digest, [&](std::uint64_t position) {
      all &= bitmap[position >> 3] >> (position & 7);
    });
    return all & 1;
  }

  static void add_many(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *digests,
                       std::size_t count) {
    // The number of bits that are prefetched together, so that they arrive from memory at the same
    // time.
    constexpr std::size_t kPrefetched = 512;
    static_assert(kPrefetched >= kMaxForeignK, "all bits of a value");
    std::uint64_t positions[kPrefetched];
    const std::size_t together = kPrefetched / geometry.k;
    const auto size = static_cast<std::size_t>(digest_size(geometry.layout));
    for (std::size_t i = 0; i < count; i += together) {
      std::uint64_t *end = positions;
      for (std::size_t j = i; j < std::min(i + together, count); j++)
        Indices::for_each(geometry, {digests[size * j], digests[size * j + size - 1]},
                          [&](std::uint64_t position) {
                            __builtin_prefetch(bitmap + (position >> 3), 1);
                            *end++ = position;
                          });
      for (const std::uint64_t *position = positions; position < end; position++)
        bitmap[*position >> 3] =
            static_cast<std::uint8_t>(bitmap[*position >> 3] | 1U << (*position & 7));
    }
  }
};

// The functions of a system with flat bitmaps.
template <typename Indices>
constexpr ForeignSystem
flat_system(Families plain, std::size_t least_plain, decltype(ForeignSystem::digest) digest,
            decltype(ForeignSystem::encode) encode, decltype(ForeignSystem::size) size) {
  using Bitmap = Flat<Indices>;
  return {plain, least_plain, digest, encode, Bitmap::positions, Bitmap::contains, Bitmap::add_many,
          size};
}

// The textbook's size: floor(-n ln(rate) / ln(2)^2) bits and round(bits / n ln(2)) hash functions.
inline bool size_flat(Layout layout, std::uint64_t expected, double rate, Geometry *geometry) {
  const auto n = static_cast<double>(expected);
  const double log2 = std::log(2.0);
  const double bits = std::floor(-n * std::log(rate) / (log2 * log2));
  if (bits > static_cast<double>(kMaxBits))
    return false;
  const double k = std::max(1.0, std::floor(bits / n * log2 + 0.5));
  const auto words = static_cast<std::uint32_t>(std::ceil(bits / 64));
  *geometry = {layout, static_cast<std::uint8_t>(k), std::max(words, 1U)};
  return true;
}

} // namespace bloomfilter
