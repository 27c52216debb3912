// Finds a table's conditions that can probe a filter for many rows at once. The planner uses this
// for paths and for plans.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

namespace bloomfilter {

// A table's conditions in the order in which batches evaluate them: lists of RestrictInfo.
struct Conditions {
  List *before;         // of a lower security level: the probes must not see rows that these reject
  List *probes;         // for many rows at once; empty if the table cannot be read in batches
  List *others;         // evaluated for each row that is left
  bool can_fail;        // true if a probe can raise an error; it is then the only condition
  bool before_can_fail; // true if one of `before` can raise an error
};

// The planner has placed the last `by_planner` conditions itself. They are probes.
Conditions conditions_of(List *restrictions, int by_planner);

// True if an expression has columns of a table, but no system column or whole row.
bool is_of_columns(Node *node);

} // namespace bloomfilter
