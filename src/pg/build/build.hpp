// Bloom Filter Build: builds filters of a table's column a page at a time.
//
// An aggregate over a sequential scan makes a slot for each row, evaluates an expression and calls
// the aggregate's transition function. This node takes all visible rows of a page, leaves out those
// that conditions and filters reject (pg/table/batch.hpp), and adds the hashes of their column to
// the aggregates' own states (pg/aggregate/state.hpp). So it takes the place of the aggregate and
// of the scan below it, and a filter has the same bytes. In a parallel query each process builds
// such a state, and the server combines them in a Finalize Aggregate.
//
// It is for queries without GROUP BY over one table whose select list needs no aggregates but ours.
//
//   calls.cpp        the calls of aggregates that can be carried out so
//   build_path.cpp   the planner's part: where builds are offered, at what cost, and their plan
//   build_plan.cpp   what the planner tells the executor
//   build_node.cpp   the executor's part
#ifndef BLOOMFILTER_PG_BUILD_BUILD_HPP
#define BLOOMFILTER_PG_BUILD_BUILD_HPP

#include "pg/server.hpp"

#include "pg/table/batch_plan.hpp"

extern "C" {
#include "nodes/extensible.h"
}

namespace bloomfilter {

// What the planner tells the executor: calls of aggregates, each an Aggref, and how the rows are
// read.
struct BuildPlan {
  List *calls;
  BatchPlan batches;
};

// Stores a plan in a node, and finds it there again.
void write_build_plan(const BuildPlan &plan, CustomScan *node);
BuildPlan read_build_plan(const CustomScan *node);

// The executor's part, for a CustomScan with a BuildPlan.
extern const CustomScanMethods kBuildMethods;

// Takes part in planning.
void define_build();

} // namespace bloomfilter

#endif
