// What a filter was made for, and what its bits say that it holds.
#ifndef BLOOMFILTER_PG_VALUE_MEASURE_HPP
#define BLOOMFILTER_PG_VALUE_MEASURE_HPP

#include "pg/server.hpp"

#include "core/links.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

// What the bits of all links say together.
struct Fill {
  uint64 bits, bits_set;
  ValueCount count; // the number of distinct values
  double rate;      // the false positive rate now
};

// Reads all bits of a bloomfilter.
Fill measure(const Filter &filter);

// The false positive rate of a bloomfilter alone.
double rate_now(const Filter &filter);

// The number of distinct values alone, of a bloomfilter or of links in their normal form, of which
// there may be twice as many as a value has. Reads each link once.
ValueCount count_values(const Filter &filter);
ValueCount count_values(const Header &header, const LinkView *views, int count);

// "about 990", or "at most 990"; palloc'ed.
char *count_text(const ValueCount &count);

// Do the bits tell how many values there are? An intersection's bits do not, nor those of a union
// with one.
bool is_countable(const Filter &filter);

// What a filter was asked to hold; unknown if that is unknown of any of its links.
//
// Several links were asked to hold the sum of their values; a filter that grows, the values that it
// began with. The rate is the highest that was asked of a link or of the filter that grows, for a
// union is judged by what was asked of its parts. But if the links' rates add up to at most the
// default rate, each of them was asked for a part of it: then the rate is that sum.
Capacity capacity_of(const Filter &filter);

// The rate of a filter of known capacity when each link holds what it was made for: of several
// links, that of all together; of a filter that grows, that with all links to come.
double full_rate(const Filter &filter);

} // namespace bloomfilter

#endif
