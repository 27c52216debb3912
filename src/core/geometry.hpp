// Geometry: where a hash falls in a filter. Every stored filter depends on it.
//
// A filter is an array of units. A unit is one 64-byte line, or a page of eight lines. A value sets
// k bits of one line, or k/2 bits in each of two lines of one page. This takes one or two memory
// accesses, and one or two TOAST chunks of a stored filter. (Blocked Bloom filters: F. Putze, P.
// Sanders, J. Singler, "Cache-, hash- and space-efficient Bloom filters", JEA 14, 2009.)
//
// A 64-bit hash h gives three 32-bit words: H, x and y.
//
// - H = h >> 32 chooses the unit by multiply and shift (D. Lemire, "Fast random integer generation
//   in an interval", TOMACS 29, 2019). So OR-ing d adjacent units gives the filter with units/d
//   units.
// - x is the low word of h, and y comes from a multiplication of all of h. They choose lines and
//   bits by multiplicative hashing with powers of the golden ratio. A page needs both words. If one
//   word chose both lines, no filter would reach a rate below 0.01 %.
//
// Every constant here is part of the format.
//
// What is not good about it: blocked filters need more bits than the textbook says for a rate
// (sizing_table/generate.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/layout.hpp"

namespace bloomfilter {

// A digest decides a value's bits. In our own layouts it is one hash; in those of some other
// systems it is two numbers of 64 bits (LayoutRow::digest_size).
struct Digest {
  std::uint64_t first, second;
};

constexpr int kLineBytes = 64;
constexpr int kLineBits = 8 * kLineBytes;
constexpr int kPageLines = 8;
constexpr int kHalfPageLines = kPageLines / 2; // a value's first line is in the first half
constexpr int kMaxK = 16;
constexpr std::uint64_t kMaxBits = 1ULL << 32; // 512 MiB

constexpr int kBlockWords = 8; // words of 32 bits in a Parquet block
constexpr int kBlockBytes = 4 * kBlockWords;
constexpr int kWordBytes = 8; // a unit of a flat bitmap
constexpr int kMaxForeignK = 255;

constexpr int kCounterBits = 4;
constexpr int kCounterLineBytes = kCounterBits * kLineBytes; // for the counters of a line

constexpr int kBucketSlots = 4;
constexpr std::uint32_t kMinBuckets = 2;
constexpr std::size_t kKicksBytes = 4; // the number of kicks, before a cuckoo filter's buckets

static_assert(row_of(Layout::lines).unit_bits == kLineBits &&
                  row_of(Layout::pages).unit_bits == kPageLines * kLineBits &&
                  row_of(Layout::counting_lines).unit_bits == 8 * kCounterLineBytes &&
                  row_of(Layout::counting_pages).unit_bits == 8 * kPageLines * kCounterLineBytes &&
                  row_of(Layout::parquet).unit_bits == 8 * kBlockBytes &&
                  row_of(Layout::guava).unit_bits == 8 * kWordBytes,
              "rows of kLayoutRows");

struct Geometry {
  Layout layout;
  std::uint8_t k;      // bits that a value sets; even in pages, 8 in Parquet's layout
  std::uint32_t units; // in a cuckoo filter: buckets, which may end within a byte

  // The length of a fingerprint, which a cuckoo filter has in place of k.
  std::uint8_t fingerprint_bits() const { return k; }
  std::uint32_t unit_bits() const {
    const std::uint32_t bits = row_of(layout).unit_bits;
    return bits != 0 ? bits : kBucketSlots * std::uint32_t{fingerprint_bits()};
  }
  std::size_t unit_bytes() const { return unit_bits() / 8; }
  std::uint64_t bits() const { return std::uint64_t{units} * unit_bits(); }
  // The number of bytes that follow the header.
  std::size_t bytes() const {
    return static_cast<std::size_t>((bits() + 7) / 8) +
           (layout == Layout::cuckoo ? kKicksBytes : 0);
  }
};

inline bool operator==(const Geometry &a, const Geometry &b) {
  return a.layout == b.layout && a.k == b.k && a.units == b.units;
}

// Orders geometries by size, then by layout and k. Returns a negative number, 0, or a positive one.
inline int compare_geometry(const Geometry &a, const Geometry &b) {
  if (a.bits() != b.bits())
    return a.bits() < b.bits() ? -1 : 1;
  if (a.layout != b.layout)
    return a.layout < b.layout ? -1 : 1;
  return a.k - b.k;
}

// The largest exact fold of a filter that has at most `bytes` bytes. Its layout must have
// Ability::folds. A fold by a divisor d of `units` ORs d adjacent units, or in layouts of
// Choice::remainder, d equal parts. The result is the filter of the same values with units/d units.
// If no fold fits, returns false and sets `folded` to the smallest fold.
inline bool fold_geometry(const Geometry &geometry, std::size_t bytes, Geometry *folded) {
  const std::uint32_t units = geometry.units;
  *folded = geometry;
  folded->units = 1;
  if (!has<Ability::folds>(geometry.layout) || geometry.unit_bytes() > bytes)
    return false;
  const auto consider = [&](std::uint32_t count) {
    if (count > folded->units && count * geometry.unit_bytes() <= bytes)
      folded->units = count;
  };
  for (std::uint32_t d = 1; std::uint64_t{d} * d <= units; d++)
    if (units % d == 0) {
      consider(d);
      consider(units / d);
    }
  return true;
}

constexpr std::uint32_t kGoldenRatio = 0x9E3779B9;

// kMultipliers.power[i] = kGoldenRatio^(i + 1) mod 2^32
struct Multipliers {
  std::uint32_t power[kMaxK];

  constexpr Multipliers() : power() {
    std::uint32_t product = 1;
    for (std::uint32_t &entry : power)
      entry = product *= kGoldenRatio;
  }
};
constexpr Multipliers kMultipliers;

// Offset of the hash's unit in the bitmap, in bytes.
inline std::size_t unit_offset(const Geometry &geometry, std::uint64_t hash) {
  return (((hash >> 32) * geometry.units) >> 32) * geometry.unit_bytes();
}

inline std::uint32_t first_word(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash);
}

inline std::uint32_t second_word(std::uint64_t hash) {
  return static_cast<std::uint32_t>((hash * 0x9E3779B97F4A7C15ULL) >> 32);
}

// Offsets of a page's two lines within the page, in bytes.
inline std::size_t first_line_offset(std::uint32_t word) {
  return ((word * 0xC2B2AE35U) >> 30) * kLineBytes;
}

inline std::size_t second_line_offset(std::uint32_t word) {
  return (kHalfPageLines + ((word * 0xC2B2AE35U) >> 30)) * kLineBytes;
}

// Fetches the lines of a hash into the processor's cache. It must be inline: gcc sees no effect in
// a function that only prefetches, and drops calls of it. script/test counts the prefetches in the
// compiled kernels.
[[gnu::always_inline]] inline void prefetch(const Geometry &geometry, const std::uint8_t *bitmap,
                                            std::uint64_t hash) {
  const std::uint8_t *unit = bitmap + unit_offset(geometry, hash);
  if (geometry.layout == Layout::lines) {
    __builtin_prefetch(unit);
  } else {
    __builtin_prefetch(unit + first_line_offset(first_word(hash)));
    __builtin_prefetch(unit + second_line_offset(second_word(hash)));
  }
}

// The position in its line, 0 ... 511, of the i-th bit that a word chooses. Bit p of a line is bit
// p & 7 of byte p >> 3.
inline std::uint32_t bit_position(std::uint32_t word, int i) {
  return (word * kMultipliers.power[i]) >> 23;
}

} // namespace bloomfilter
