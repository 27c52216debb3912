// What bf_index_info(), bf_index_check() and bf_index_tidy() do with a filter index.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace bloomfilter {

// True if an index has the access method "bloomfilter".
bool is_filter_index(Relation index);

struct FilterIndexInfo {
  int64 groups;
  int64 grouped; // rows in groups
  int64 pending; // rows of the list that wait for a group
  int64 loose;   // rows of the list that can be in no group
  int64 free_pages;
};
// Reads the whole list and directory. Does not take the mover's lock, so the counts are approximate
// while another session moves rows.
FilterIndexInfo filter_index_info(Relation index);

// Raises XX002 if the index is damaged or differs from its table.
void check_filter_index(Relation table, Relation index);

// Moves the rows of the list into groups, and merges small groups.
void tidy_filter_index(Relation table, Relation index);

} // namespace bloomfilter
