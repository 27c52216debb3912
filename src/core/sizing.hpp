// How large a filter must be: the geometry for a capacity and a false positive rate.
//
// The rate is the one that the filter really has, not the textbook's. Bits per value and k come
// from a committed table (sizing_table/), which was computed under the Poisson model of line loads.
// All arithmetic is on integers, so the same request gives the same geometry on every machine and
// in every release. This matters because the bits of two filters can be OR-ed only if both have the
// same geometry. From 64 on, the number of units is a multiple of 8, so that filters can be folded.
//
// A self-sized filter takes the next larger of a few sizes, sixteen to each doubling. So filters of
// similar numbers of values have the same geometry.
//
// The trade-off: the table is large, and it cannot be changed any more. The textbook's formula
// would be short, and wrong: filters of lines need more bits than it says. Filters of this table
// have 0.995 to 1.01 times the rate that was asked for, for rates from 10 % to 0.01 % (script/bench
// rates).
//
// What is not good about it: the sizes hold for hashes that are independent of each other. Whoever
// chooses values that collide gets a higher rate.
#pragma once

#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

constexpr double kMinRate = 1e-9;
constexpr double kMaxRate = 0.5;
// The rate of a filter if none is given. SQL's functions have the same default.
constexpr double kDefaultRate = 0.01;

// What a filter is made for: a number of distinct values and a false positive rate. Both are 0 if
// unknown.
struct Capacity {
  std::uint64_t values;
  double rate;

  bool is_known() const { return values != 0; }
};
inline bool operator==(const Capacity &a, const Capacity &b) {
  return a.values == b.values && a.rate == b.rate;
}
// The larger number of values of two capacities, and the larger of their rates.
inline Capacity larger(const Capacity &a, const Capacity &b) {
  return {a.values > b.values ? a.values : b.values, a.rate > b.rate ? a.rate : b.rate};
}

// False for NaN, because its comparisons are false.
inline bool rate_in_range(double rate) {
  return rate >= kMinRate && rate <= kMaxRate;
}

// The geometry of a filter for `expected` distinct values (at least 1) at a false positive rate
// within kMinRate ... kMaxRate. If the filter would exceed kMaxBits, returns false and leaves
// `geometry` unchanged.
bool size_for_capacity(std::uint64_t expected, double rate, Geometry *geometry);
// The same in the layout `lines`, though at a low rate another layout would need fewer bits.
bool size_in_lines(std::uint64_t expected, double rate, Geometry *geometry);

// The size class of a self-sized filter that would have the given geometry. The number of units is
// rounded up to five significant bits, that is, to a multiple of 2^(floor(log2 units) - 4). If the
// result would exceed kMaxBits, the geometry stays as it is.
Geometry size_class(const Geometry &geometry);

// The geometry of a filter of at least `bits` bits (1 ... kMaxBits), rounded up to whole lines.
Geometry size_for_bits(std::uint64_t bits, int k);

} // namespace bloomfilter
