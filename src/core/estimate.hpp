// Estimates from a filter's bits: the number of values in it, and its present false positive rate.
//
// The bits of a value fall into the lines of that value, not anywhere in the bitmap. The usual
// formulas assume one large bitmap, and would be wrong here by 15 to 70 %. The functions are pure.
// Inspection, saturation and tests share them.
#ifndef BLOOMFILTER_CORE_ESTIMATE_HPP
#define BLOOMFILTER_CORE_ESTIMATE_HPP

#include <cstddef>
#include <cstdint>

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

// A survey of a bitmap: its set bits and its present false positive rate. The rate depends on the
// layout:
//
// - in lines, the mean over lines of (set bits / 512)^k;
// - in pages, the mean over pages of the product of the two halves' means, with k/2 in place of k;
// - in blocks, the mean over blocks of the product over words of (set bits / 32);
// - in a flat bitmap, (set bits / bits)^k.
//
// A survey reads the bitmap in parts, so that its caller can check for interrupts between them.
class Survey {
public:
  Survey(const Kernel &kernel, const Geometry &geometry);

  // Reads the bitmap's next `count` units.
  void read(const std::uint8_t *units, std::size_t count);

  // The number of set bits and the rate, of all units read so far.
  std::uint64_t bits_set() const { return bits_set_; }
  double rate() const;

private:
  double pass_rate(const std::uint16_t *set, int lines);

  const Kernel &kernel_;
  Geometry geometry_;
  // (set / 512)^k for each number of set bits in a line. An entry below 0 is not computed yet.
  double pass_rates_[kLineBits + 1];
  std::uint64_t bits_set_ = 0, units_ = 0;
  double sum_ = 0.0;
};

} // namespace bloomfilter

#endif
