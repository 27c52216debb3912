// Telling that a filter got more values than it was made for.
//
// The setting bloomfilter.overfill says what happens when a filter that was sized for a number of
// values, and has just got many at once, ends above twice the false positive rate asked for:
// nothing, a warning (once per statement in each process), or an error. Filters without an asked
// rate cannot be overfilled.
#ifndef BLOOMFILTER_PG_OVERFILL_HPP
#define BLOOMFILTER_PG_OVERFILL_HPP

#include "pg/server.hpp"

#include "pg/filter.hpp"

namespace bloomfilter {

// A filter whose rate is more than this many times the asked one, if one was asked for, is
// saturated.
constexpr double kSaturation = 2.0;
inline bool is_saturated(const Fill &fill, const Capacity &asked) {
  return asked.is_known() && fill.rate > kSaturation * asked.rate;
}

void define_overfill();

// Called with the result of what adds many values: a bloomfilter or a counting one. `could_grow`
// says whether they went to a filter of a kind that can grow.
void check_overfill(const Filter &any, bool could_grow = false);

} // namespace bloomfilter

#endif
