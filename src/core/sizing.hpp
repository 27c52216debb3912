// How large a filter must be: the geometry for a capacity and a false positive rate.
//
// The rate is the one that the filter really has, not the textbook's: bits per value and k come
// from a committed table (sizing_table/) computed under the Poisson model of line loads. Everything
// is integer arithmetic, so the same request gives the same geometry on every machine and in every
// release. That matters because two filters can be united bit for bit only if they have the same
// geometry. From 64 on, the number of units is a multiple of 8, so that filters can be folded.
//
// A filter that sizes itself takes the next larger of a few sizes, sixteen to each doubling, so
// that filters of similar numbers of values have the same geometry.
#ifndef BLOOMFILTER_CORE_SIZING_HPP
#define BLOOMFILTER_CORE_SIZING_HPP

#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

constexpr double kMinRate = 1e-9;
constexpr double kMaxRate = 0.5;
// The rate of a filter for which none is given. SQL's functions have the same default.
constexpr double kDefaultRate = 0.01;

// What a filter is made for: a number of distinct values, and a false positive rate. Both are 0 if
// they are unknown.
struct Capacity {
  std::uint64_t values;
  double rate;

  bool is_known() const { return values != 0; }
};
inline bool operator==(const Capacity &a, const Capacity &b) {
  return a.values == b.values && a.rate == b.rate;
}
// The larger number of values and the larger rate of two capacities.
inline Capacity larger(const Capacity &a, const Capacity &b) {
  return {a.values > b.values ? a.values : b.values, a.rate > b.rate ? a.rate : b.rate};
}

// False for NaN, which is in no range.
inline bool rate_in_range(double rate) {
  return rate >= kMinRate && rate <= kMaxRate;
}

// The geometry of a filter for `expected` distinct values (at least 1) at a false positive rate
// within kMinRate ... kMaxRate. False, and `geometry` unchanged, if it would exceed kMaxBits.
bool size_for_capacity(std::uint64_t expected, double rate, Geometry *geometry);

// The size class of a filter that sizes itself and would have the given geometry. Its number of
// units is rounded up to one with five significant bits, a multiple of 2^(floor(log2 units) - 4).
// If that would exceed kMaxBits, the geometry stays as it is.
Geometry size_class(const Geometry &geometry);

// The geometry of a filter of at least `bits` bits (1 ... kMaxBits), rounded up to whole lines.
Geometry size_for_bits(std::uint64_t bits, int k);

} // namespace bloomfilter

#endif
