// What bf_index_info(), bf_index_check() and bf_index_tidy() do with a bloompages index.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace bloomfilter {

// True if an index has the access method "bloompages".
bool is_range_index(Relation index);

struct RangeIndexInfo {
  int64 ranges;          // of the table, counted up to its last page
  int64 ready;           // of these, the ranges with a complete filter
  int64 tail_pages;      // heap pages that every scan reads, because they have no filter
  int64 pages_per_range; // in the last group
  double bits_per_value; // of a filter, for each value that it had when it was made
  double fill;           // the share of bits that are set
  int64 overfull;        // of the ready ranges, those with far more bits set than in a new index
  double false_pages;    // heap pages that a lookup reads in vain, because of false positives
  double additions;      // about the number of values that were added to filters later
};
// Reads all pages of the index.
RangeIndexInfo range_index_info(Relation table, Relation index);

// Raises XX002 if a page is damaged, or if the filter of a range lacks a value of a visible row.
void check_range_index(Relation table, Relation index);

// Gives filters to all complete ranges.
void tidy_range_index(Relation table, Relation index);

} // namespace bloomfilter
