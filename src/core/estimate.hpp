// What a filter's bits say about its content.
//
// Bits fall into lines like values do, so the usual formulas for one large bitmap are wrong here
// by 15 to 70 %. Pure functions, used by inspection, saturation and tests alike.
#ifndef BLOOMFILTER_CORE_ESTIMATE_HPP
#define BLOOMFILTER_CORE_ESTIMATE_HPP

#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

// The estimated number of distinct values, from the share z of zero bits (S. J. Swamidass,
// P. Baldi, "Mathematical correction for fingerprint similarity measures", J. Chem. Inf. Model.
// 47, 2007, applied to lines): ln z / ln(1 - s), with s the share of the bitmap's bits that one
// value sets on average. Infinity when no bit is zero.
double estimate_count(const Geometry &geometry, std::uint64_t bits_set);

// The false positive rate now: the mean over lines of (set bits / 512)^k; in pages the mean of
// the product of the two halves' means, with k/2 each.
double estimate_rate(const Geometry &geometry, const std::uint8_t *bitmap);

} // namespace bloomfilter

#endif
