// Two filters as one: their union, their intersection, and what they need to have in common.
//
// Filters of one geometry, seed and element type that were made for an asked capacity are united
// bit by bit, and the result is the filter that would have been built from all values. Any other
// bloomfilters are kept side by side in one value (core/links.hpp); they need one layout, seed and
// element type.
//
// Counting filters add their counters up, and cuckoo filters take in each other's fingerprints.
// Both need one geometry, and so does an intersection. The bits that two filters have in common
// hold all common values, but also some of others, so the values of an intersection cannot be
// counted.
#ifndef BLOOMFILTER_PG_VALUE_ALGEBRA_HPP
#define BLOOMFILTER_PG_VALUE_ALGEBRA_HPP

#include "pg/server.hpp"

#include "pg/value/filter.hpp"

namespace bloomfilter {

// Do two filters set the same bits for each value?
bool are_compatible(const Header &a, const Header &b);

// ERROR 42804 or 22023 if they do not. `verb` is what is to be done with them, as a participle.
void check_compatible(const Header &a, const Header &b, const char *verb);

// The first of two filters that are made one.
struct FirstOperand {
  Filter filter;
  bool is_state; // of an aggregate, which alone has it: it is changed in place, not copied
};

// Writes the links of the union of two bloomfilters that are compared, in their normal form, to an
// array of 2 * kMaxLinks; returns their number, which may be above kMaxLinks. ERROR 42804 or 22023
// if the filters give one value different hashes, or if links differ in geometry: their bits then
// say nothing about values that they have in common.
int compared_links(const Filter &a, const Filter &b, LinkView *links);

// Unites two filters of one kind. The result is a new filter, one of the two, or the changed state.
Filter unite_filters(const FirstOperand &first, const Filter &second);

// Intersects two bloomfilters. The result is a new filter or the changed state.
Filter intersect_filters(const FirstOperand &first, const Filter &second);

} // namespace bloomfilter

#endif
