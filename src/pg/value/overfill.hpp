// Warnings and errors about filters that hold more values than they were made for.
//
// A filter is overfilled if its false positive rate is above twice the rate that was requested. The
// setting bloomfilter.overfill says what happens when an operation overfills a filter: nothing, a
// warning, or an error. A filter that was not made for a number of values and a rate cannot be
// overfilled.
//
// In each process, a statement warns only once about filters that were made alike. Otherwise a
// table of filters would give a warning for each row. A statement warns about eight sorts of
// filters at most.
//
// A union can be overfilled even if none of its links holds too many values, because the rates of
// the links add up.
#pragma once

#include "pg/server.hpp"

#include "pg/value/measure.hpp"

namespace bloomfilter {

// A filter is overfilled if a rate was requested and its rate is more than twice that rate. For the
// highest rates, twice the rate is close to 1 or above 1. For these, the limit is half-way from the
// requested rate to 1.
inline double bearable_rate(double requested) {
  return Min(2 * requested, (1 + requested) / 2);
}
inline bool is_overfilled(const Fill &fill, const Capacity &requested) {
  return requested.is_known() && fill.rate > bearable_rate(requested.rate);
}

// Defines the setting.
void define_overfill();

// How a filter got its values: it was built from rows, values were added to it, or other filters
// were united.
enum class Origin : uint8 { built, added, united };

// Checks the result of an operation that adds many values. Warns or raises an error if its rate is
// too high. Two sorts are not checked: cuckoo filters, which have no such rate, and filters that
// were built self-sized. The result of a union is compared with the rate that was requested for its
// links (capacity_of). The result of an addition is compared with the rate that its links have
// together if each is full (full_rate): if that is more than was requested, the union before has
// warned of it.
void check_overfill(const Filter &any, Origin origin);

// Checks the result of one addition. The first additions of a statement are checked, to a megabyte
// of filters. After that, one in N is checked: N is the filter's size in kilobytes, but at
// least 16. `random`, a hash of the value, decides which: a statement may add one value to each of
// many rows. So a warning or an error can come later than the addition that overfilled the filter.
// Nearly every filter that gets too full gets further values, and a large one needs more of them to
// get too full.
void check_overfill_after_one(const Filter &any, uint64 random);

} // namespace bloomfilter
