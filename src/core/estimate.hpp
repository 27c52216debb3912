// What a filter's bits say about its content.
//
// Bits fall into lines like values do, so the usual formulas for one large bitmap are wrong here
// by 15 to 70 %. Pure functions, used by inspection, saturation and tests alike.
#ifndef BLOOMFILTER_CORE_ESTIMATE_HPP
#define BLOOMFILTER_CORE_ESTIMATE_HPP

#include <cstddef>
#include <cstdint>

#include "core/kernel.hpp"

namespace bloomfilter {

// The estimated number of distinct values, from the share z of zero bits (S. J. Swamidass,
// P. Baldi, "Mathematical correction for fingerprint similarity measures", J. Chem. Inf. Model.
// 47, 2007, applied to lines): ln z / ln(1 - s), with s the share of the bitmap's bits that one
// value sets on average. Infinity when no bit is zero.
double estimate_count(const Geometry &geometry, std::uint64_t bits_set);

// The number of bits, rounded up, that so many distinct values set on average: what
// estimate_count() inverts. Computed without the C library's functions, for it decides when a
// filter grows, and that must not depend on the machine.
std::uint64_t expected_bits(const Geometry &geometry, std::uint64_t count);

// The false positive rate now: the mean over lines of (set bits / 512)^k; in pages the mean of the
// product of the two halves' means, with k/2 each; in blocks the mean of the product over words of
// (set bits / 32); in a flat bitmap (set bits / bits)^k. A survey reads the bitmap in parts, so
// that its caller can check for interrupts between them.
class Survey {
public:
  Survey(const Kernel &kernel, const Geometry &geometry);

  // Takes in the bitmap's next units.
  void read(const std::uint8_t *units, std::size_t count);

  // Of all units read so far.
  std::uint64_t bits_set() const { return bits_set_; }
  double rate() const;

private:
  double pass_rate(const std::uint16_t *set, int lines);

  const Kernel &kernel_;
  Geometry geometry_;
  double pass_rates_[kLineBits + 1]; // (set / 512)^k of a line with so many set bits; below 0: not
                                     // computed yet
  std::uint64_t bits_set_ = 0, units_ = 0;
  double sum_ = 0.0;
};

} // namespace bloomfilter

#endif
