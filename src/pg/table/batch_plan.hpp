// What the planner tells the executor about a table that is read in batches (batch.hpp).
#ifndef BLOOMFILTER_PG_TABLE_BATCH_PLAN_HPP
#define BLOOMFILTER_PG_TABLE_BATCH_PLAN_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace bloomfilter {

// The lists contain expressions. Each expression is in `conditions`. It is also in at most one of
// the lists `before`, `probes` and `after`.
struct BatchPlan {
  List *conditions; // all conditions of the table, in the server's order
  List *before;     // the conditions of a lower security level than the probes
  List *probes;     // probe a filter for many rows at once
  List *placed;     // the probes that the planner has placed by itself; they may rest
  List *after;      // for the rows that are left; empty if the node itself evaluates them
  bool one_by_one;  // true if a batch is one row, because a probe can raise an error (Conditions)
  // The number of rows for which a process will probe the filters. It decides how the process reads
  // the filters.
  int expected; // 0 if unknown
};

// A plan without its conditions. It is stored in the custom_private of a node, which the server
// does not change. The conditions are stored elsewhere, where the server adjusts them to the
// finished plan.
List *describe_batch_plan(const BatchPlan &plan);
BatchPlan read_batch_plan(List *conditions, const List *description);

} // namespace bloomfilter

#endif
