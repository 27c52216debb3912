// Measurements of a bloomfilter: what it was made for, and what its bits tell about the values that
// it holds.
#ifndef BLOOMFILTER_PG_VALUE_MEASURE_HPP
#define BLOOMFILTER_PG_VALUE_MEASURE_HPP

#include "pg/server.hpp"

#include "core/links.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

// What the bits of all links tell together.
struct Fill {
  uint64 bits, bits_set;
  ValueCount count; // the number of distinct values
  double rate;      // the false positive rate now
};

// Reads all bits of a bloomfilter.
Fill measure(const Filter &filter);

// The current false positive rate of a bloomfilter, and nothing else. Reads all bits.
double rate_now(const Filter &filter);

// The number of distinct values, and nothing else. The second form takes links in their normal
// form, up to twice as many as a value can have. Each link is read once.
ValueCount count_values(const Filter &filter);
ValueCount count_values(const Header &header, const LinkView *views, int count);

// "about 990", or "at most 990"; palloc'ed.
char *count_text(const ValueCount &count);

// True if the bits tell how many values there are. They do not in an intersection, nor in a union
// with an intersection.
bool is_countable(const Filter &filter);

// The capacity that was asked for. Unknown if the capacity of any link is unknown.
//
// The number of values of several links is the sum of their numbers. For a filter that grows, it is
// the number that the filter began with.
//
// The rate is the highest rate that was asked for, of a link or of the filter that grows. The
// reason is that a union is judged by what was asked of its parts. There is one exception. If the
// rates of the links add up to at most the default rate, each link was given a share of a common
// rate. Then the rate is their sum.
Capacity capacity_of(const Filter &filter);

// The rate of a filter when each link holds the values that it was made for. The capacity must be
// known. For several links, it is the rate of all of them together. For a filter that grows, it
// includes all links that growth will add.
double full_rate(const Filter &filter);

} // namespace bloomfilter

#endif
