// Estimates from a filter's bits: the number of values in it, and its present false positive rate.
//
// The bits of a value fall into the lines of that value, not anywhere in the bitmap. The usual
// formulas assume one large bitmap, and would be wrong here by 15 to 70 %. The functions are pure.
// Inspection, the check for overfilled filters and tests share them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/format.hpp"
#include "core/kernel.hpp"

namespace bloomfilter {

// The estimated number of distinct values: ln z / ln(1 - s). Here z is the share of zero bits, and
// s is the share of the bitmap's bits that one value sets on average (S. J. Swamidass, P. Baldi,
// "Mathematical correction for fingerprint similarity measures", J. Chem. Inf. Model. 47, 2007,
// applied to lines). Infinity if no bit is zero.
double estimate_count(const Geometry &geometry, std::uint64_t bits_set);

// The number of bits, rounded up, that `count` distinct values set on average. estimate_count() is
// the inverse. It calls no function of the C library that could round differently, because it
// decides when a filter grows, which must not depend on the machine.
std::uint64_t expected_bits(const Geometry &geometry, std::uint64_t count);

// A survey of a bitmap, or of the bitmaps of several links of one geometry: for each, its set bits
// and its present false positive rate. The rate depends on the layout:
//
// - in lines, the mean over lines of (set bits / 512)^k;
// - in pages, the mean over pages of the product of the two halves' means, with k/2 in place of k;
// - in blocks, the mean over blocks of the product over words of (set bits / 32);
// - in a flat bitmap, (set bits / bits)^k.
//
// A survey reads the bitmaps in parts, so that its caller can check for interrupts between them.
class Survey {
public:
  // The largest part of several links. It fits in the first-level cache.
  static constexpr std::size_t kMostBytes = 64 * kLineBytes;

  Survey(const Kernel &kernel, const Geometry &geometry, int links = 1);

  // Reads the next `count` units of a link's bitmap. Several links are read side by side: the same
  // units of each, in the order of their numbers, then the next units of each.
  void read(const std::uint8_t *units, std::size_t count, int link = 0);

  // The number of set bits and the rate, of all units of a link that were read so far.
  std::uint64_t bits_set(int link = 0) const { return sums_[link].bits_set; }
  double rate(int link = 0) const;

  // The number of set bits of the OR of all links.
  std::uint64_t bits_united() const { return links_ > 1 ? bits_united_ : bits_set(); }

private:
  struct Sums {
    std::uint64_t bits_set, units;
    double rates;
  };

  double pass_rate(const std::uint16_t *set, int lines, Sums *sums);
  void unite_part(const std::uint8_t *part, std::size_t bytes, int link);

  const Kernel &kernel_;
  Geometry geometry_;
  int links_;
  Sums sums_[kMaxLinks];
  std::uint64_t bits_united_ = 0;
  std::uint8_t united_[kMostBytes]; // the OR of a part of the links read so far
  // (set / 512)^k for each number of set bits in a line. An entry below 0 is not computed yet.
  double pass_rates_[kLineBits + 1];
};

} // namespace bloomfilter
