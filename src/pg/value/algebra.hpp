// The union and the intersection of two filters, and the checks whether two filters can be
// combined.
//
// Two bloomfilters are united bit by bit if they have one geometry, seed and element type and
// neither is self-sized. The result is the filter that would have been built from all values. All
// other bloomfilters are kept side by side, as links of one value (core/links.hpp). For this they
// need one layout, seed and element type.
//
// The union of counting filters adds up their counters. The union of cuckoo filters moves the
// fingerprints of one into the other. Both need one geometry, and so does an intersection.
//
// An intersection has the bits that two bloomfilters have in common. These include the bits of all
// common values, but also some bits of other values. So the values of an intersection cannot be
// counted.
#pragma once

#include "pg/server.hpp"

#include "pg/value/filter.hpp"

namespace bloomfilter {

// True if each value sets the same bits in both filters.
bool are_compatible(const Header &a, const Header &b);

// ERROR 42804 or 22023 if two filters are not compatible. `verb` is the past participle of the
// operation, for the message.
void check_compatible(const Header &a, const Header &b, const char *verb);

// The first of two filters that are combined.
struct FirstOperand {
  Filter filter;
  bool is_state; // true for an aggregate's own state, which is changed in place instead of copied
};

// Writes the links of the union of two bloomfilters that are to be compared. `links` must have room
// for twice kMaxLinks. The links are in their normal form. Returns their number, which may be above
// kMaxLinks.
//
// ERROR 42804 or 22023 if one value can have different hashes in the two filters. There is also an
// error if links differ in geometry, because their bits then do not tell which values they have in
// common.
int compared_links(const Filter &a, const Filter &b, LinkView *links);

// Unites two filters of one kind. Returns a new filter, one of the two filters, or the changed
// state. ERROR 42804 or 22023 if one value can have different hashes in the two, or if they differ
// in geometry and cannot be linked; 54000 if the union would have too many links or be too large,
// or if a cuckoo filter is full.
Filter unite_filters(const FirstOperand &first, const Filter &second);

// Intersects two bloomfilters. Returns a new filter or the changed state. ERROR as from
// compared_links(); 0A000 for filters that cannot be intersected.
Filter intersect_filters(const FirstOperand &first, const Filter &second);

} // namespace bloomfilter
