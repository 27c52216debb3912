// Warnings and errors about filters that got more values than they were made for.
//
// The setting bloomfilter.overfill says what happens when values are added to a filter that was
// sized for a number of them, and it ends above twice the false positive rate asked for: nothing, a
// warning, or an error. In each process, a statement warns once of filters that were made alike, so
// that a table of them gives no warning for each row, and of eight sorts of filters at most. A
// union can be overfilled even if none of its links holds too many values, for their rates add up.
// Filters without an asked rate cannot be overfilled.
#ifndef BLOOMFILTER_PG_VALUE_OVERFILL_HPP
#define BLOOMFILTER_PG_VALUE_OVERFILL_HPP

#include "pg/server.hpp"

#include "pg/value/measure.hpp"

namespace bloomfilter {

// A filter is saturated if its rate is more than twice the one that was asked for, if one was.
// Twice one of the highest rates is next to 1 or beyond; for these, more than half-way from the
// asked rate to 1 is enough.
inline double bearable_rate(double asked) {
  return Min(2 * asked, (1 + asked) / 2);
}
inline bool is_saturated(const Fill &fill, const Capacity &asked) {
  return asked.is_known() && fill.rate > bearable_rate(asked.rate);
}

// Defines the setting.
void define_overfill();

// How a filter got its values: it was built from rows, they were added to others, or other filters
// were united.
enum class Origin : uint8 { built, added, united };

// Called with the result of whatever adds many values, a bloomfilter or a counting one. A union is
// judged by the rate that was asked of its links (capacity_of). After an addition to a union, it is
// judged by the rate that its links were made for together (full_rate), because bf_union already
// reported the excess.
void check_overfill(const Filter &any, Origin origin);

// Called with the result of one addition, of which a statement may have many. So it looks now and
// then, and at some units of the link that got the value, which `random` chooses. Only if these are
// too full does it look at the whole filter.
void check_overfill_by_sample(const Filter &any, uint64 random);

} // namespace bloomfilter

#endif
