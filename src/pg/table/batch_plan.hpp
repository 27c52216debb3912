// What the planner tells the executor about a table that is read by batches (batch.hpp).
#ifndef BLOOMFILTER_PG_TABLE_BATCH_PLAN_HPP
#define BLOOMFILTER_PG_TABLE_BATCH_PLAN_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace bloomfilter {

// The conditions are lists of expressions, each of which is in `conditions` and in at most one of
// the others, apart from `placed`.
struct BatchPlan {
  List *conditions; // all of the table, in the server's order
  List *before;     // of a lower security level than the probes
  List *probes;     // of filters, for many rows at once
  List *placed;     // those of the probes that the planner has placed by itself, which may rest
  List *after;      // for the rows that are left, unless the node itself does it
  bool one_by_one;  // is a batch one row, because a probe can raise an error (Conditions)?
  // For how many rows a process will probe the filters, which decides how it reads them.
  int expected; // 0: unknown
};

// A plan without its conditions, for the custom_private of a node, which the server leaves as it
// is. The conditions are stored where the server adjusts them to the finished plan.
List *describe_batch_plan(const BatchPlan &plan);
BatchPlan read_batch_plan(List *conditions, const List *description);

} // namespace bloomfilter

#endif
