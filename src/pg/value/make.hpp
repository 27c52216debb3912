// New filters: what they may be made for, how large they may be, and empty ones.
#ifndef BLOOMFILTER_PG_VALUE_MAKE_HPP
#define BLOOMFILTER_PG_VALUE_MAKE_HPP

#include "pg/server.hpp"

#include "core/sizing.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

// A capacity as SQL gave it, with the number of values rounded to a whole one; ERROR 22023 if it is
// out of range. More than 2^63 values become 2^63: no filter, nor any number of filters whose bits
// can be counted, holds as many. The error that follows names `expected`.
Capacity checked_capacity(double expected, double rate);

// ERROR 22023 if a filter for the capacity would be too large. `expected` is its number of values
// as SQL gave it, for the message.
Geometry geometry_for(Layout layout, const Capacity &capacity, double expected);

// Defines the setting bloomfilter.max_size.
void define_max_size();

// Is a filter of so many bits within bloomfilter.max_size?
bool is_allowed_size(double bits);

// ERROR 54000 if a filter of so many bits is larger than bloomfilter.max_size allows. It is called
// where a filter is made, or made larger. Input does not call it, so that every dump restores.
void check_size(Kind kind, uint64 bits);

// The header of a new filter: it has no values, so its family is none. Checks the size. The second
// form takes the number and the rate as SQL gave them; ERROR 22023 if they are out of range.
Header empty_header(const Geometry &geometry, const Capacity &capacity, uint64 seed);
Header empty_header(Layout layout, double expected, double rate, uint64 seed);

// A plain filter without values, in the current memory context.
NewFilter make_filter(const Header &header);

// The same in memory that suits many additions (pg/value/memory.hpp). After these, the caller moves
// the value to the start of its chunk.
NewFilter make_filter_to_fill(const Header &header, void **chunk);

// The bloomfilter of a counting filter's values. `saturated` is set to the number of counters that
// are at their highest.
NewFilter as_bloom(const Filter &counting, uint64 *saturated = nullptr);

} // namespace bloomfilter

#endif
