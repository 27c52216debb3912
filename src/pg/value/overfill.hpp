// Telling that a filter got more values than it was made for.
//
// The setting bloomfilter.overfill says what happens when a filter that was sized for a number of
// values, and has just got some, ends above twice the false positive rate asked for: nothing, a
// warning, or an error. A statement warns once in each process of filters that were made alike, so
// that a table of them does not warn for each row, and of eight kinds at most. The links of a union
// need not hold too many for that: their rates add up. Filters without an asked rate cannot be
// overfilled.
#ifndef BLOOMFILTER_PG_VALUE_OVERFILL_HPP
#define BLOOMFILTER_PG_VALUE_OVERFILL_HPP

#include "pg/server.hpp"

#include "pg/value/measure.hpp"

namespace bloomfilter {

// A filter whose rate is more than twice the asked one, if one was asked for, is saturated; or, for
// at the highest rates that is next to 1 or beyond, more than half-way from the asked one to 1.
inline double bearable_rate(double asked) {
  return Min(2 * asked, (1 + asked) / 2);
}
inline bool is_saturated(const Fill &fill, const Capacity &asked) {
  return asked.is_known() && fill.rate > bearable_rate(asked.rate);
}

void define_overfill();

// How a filter got its values: from rows, beside those that it had, or from other filters.
enum class Origin : uint8 { built, added, united };

// Called with the result of what adds many values: a bloomfilter or a counting one. A union is
// judged by the rate asked of its links (capacity_of); what is added to one, by the rate that they
// were made for together (full_rate), for which the union was blamed already.
void check_overfill(const Filter &any, Origin origin);

// Called with the result of one addition, of which there may be many: looks now and then at some
// units of the link that got the value, and at all of the filter only if these are too full.
// `random` chooses them.
void check_overfill_by_sample(const Filter &any, uint64 random);

} // namespace bloomfilter

#endif
