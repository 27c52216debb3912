// New filters: checks of what a filter is made for and of its size, and functions that make empty
// filters.
#pragma once

#include "pg/server.hpp"

#include "core/sizing.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

// Checks a capacity that SQL gave, and rounds its number of values to a whole number. ERROR 22023
// if it is out of range. More than 2^63 values become 2^63, because no filter can hold that many,
// nor can any set of filters whose bits can be counted. The error that follows from such a number
// names `expected`.
Capacity checked_capacity(double expected, double rate);

// The geometry for a capacity. ERROR 22023 if the filter would be too large. `expected` is the
// number of values that SQL gave; the message names it.
Geometry geometry_for(Layout layout, const Capacity &capacity, double expected);

// Defines the setting bloomfilter.max_size.
void define_max_size();

// True if a filter of `bits` bits is within bloomfilter.max_size.
bool is_allowed_size(double bits);

// ERROR 54000 if a filter of `bits` bits is larger than bloomfilter.max_size allows. Callers are
// all places that make a filter or make it larger. Input functions do not call it, so that every
// dump can be restored.
void check_size(Kind kind, uint64 bits);

// The header of a new filter. The filter has no values, so its family is none. The size is checked.
// The second form takes the number of values and the rate as SQL gave them; ERROR 22023 if they are
// out of range.
Header empty_header(const Geometry &geometry, const Capacity &capacity, uint64 seed);
Header empty_header(Layout layout, double expected, double rate, uint64 seed);

// A plain filter without values, in the current memory context.
NewFilter make_filter(const Header &header);

// Like make_filter(), but in memory that suits many random additions (pg/value/memory.hpp). After
// the additions, the caller moves the value to the start of its chunk.
NewFilter make_filter_to_fill(const Header &header, void **chunk);

// The bloomfilter with the values of a counting filter. Sets `full_counters` to the number of full
// counters, which have their highest value.
NewFilter as_bloom(const Filter &counting, uint64 *full_counters = nullptr);

} // namespace bloomfilter
