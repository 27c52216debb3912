// Measurements of a bloomfilter: the capacity that it was made for, and estimates from its bits.
// The bits tell about how many values it holds, and how high its false positive rate is.
//
// A filter can consist of several links (core/links.hpp). A plain filter counts as one link.
#pragma once

#include "pg/server.hpp"

#include "core/links.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

// What the bits of a filter tell, with all links taken together.
struct Fill {
  uint64 bits, bits_set;
  ValueCount count; // the number of distinct values
  double rate;      // the false positive rate now
};

// Reads all bits of a bloomfilter, each once.
Fill measure(const Filter &filter);

// The number of distinct values, and nothing else, which takes less time. The second form counts
// the values of a union that was not made: its links are those of two values together, in their
// normal form (core/links.hpp). So it takes up to 2 * kMaxLinks links.
ValueCount count_values(const Filter &filter);
ValueCount count_values(const Header &header, const LinkView *views, int count);

// "about 990", or "at most 990"; palloc'ed.
char *count_text(const ValueCount &count);

// True if the number of values can be estimated from the bits. False if a link is the result of an
// intersection: a bit that two filters share may come from a different value in each.
bool is_countable(const Filter &filter);

// The number of values and the rate that were requested. Both are unknown if the capacity of any
// link is unknown.
//
// The number of values is the sum of the links' numbers. If the filter grows, it is the number that
// the filter was created with.
//
// The rate is the highest rate that was requested: for one of the links, or for a filter that
// grows. So a union is judged by what was requested for its parts. There is one exception. If the
// rate of all links together (full_rate()) is at most the default rate, that rate is taken. In this
// case, the user probably divided a rate among the filters.
Capacity capacity_of(const Filter &filter);

// The false positive rate that a filter has when each link holds as many values as it was made for.
// The capacity must be known. For several links, it is the rate of all links together. For a filter
// that grows, it includes all links that growth can add.
double full_rate(const Filter &filter);

} // namespace bloomfilter
