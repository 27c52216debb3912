// Bloom Filter Build: a node of the executor that builds filters of a table's columns one heap page
// at a time.
//
// An aggregate over a sequential scan makes a slot for each row, evaluates an expression and calls
// the aggregate's transition function. This node takes all visible rows of a page and leaves out
// the rows that conditions and filters reject (pg/table/batch.hpp). It adds the hashes of the other
// rows to states like those of the aggregates (pg/aggregate/state.hpp). So the node replaces the
// aggregate and the scan below it, and a filter has the same bytes. In a parallel query each
// process builds a state, and the server combines the states in a Finalize Aggregate.
//
// The node is limited to queries without GROUP BY over one table. All aggregates of the query must
// be ours. The states of a partitioned table are built part by part and combined afterwards.
//
//   calls.cpp        the aggregate calls that a build can compute
//   build_path.cpp   the planner's part: where builds are offered, their cost, and their plan
//   build_node.cpp   the executor's part
//
// The trade-off: the node computes in a second way what the aggregate computes, and tests have to
// compare the bytes of both. What it gives: a filter of 12 MB is built from ten million bigints in
// 0.53 of the time of count(x), where the aggregate takes 1.29 (script/bench build).
//
// What is not good about it: with GROUP BY, over a join or beside other aggregates, the filter is
// built row by row.
//
// Tests: sql/build.sql, test/t/002_aggregate.pl, test/t/022_parallel.pl.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// The functions below make the plan of a query `SELECT aggregate(…) FROM table WHERE …` without the
// planner, which takes most of its time for what is known already.

// True if a build is the best plan of such a query, as far as is known before all paths of the
// table are made: no index finds the rows of its conditions, and none of these probes a filter.
bool is_build_best(PlannerInfo *root, const RelOptInfo *table);
// The cost of the build.
Cost cost_of_build(PlannerInfo *root, RelOptInfo *table);
// Makes its plan, in a query in which the table has the number 1. The build reads `rows` rows.
Plan *make_build_plan(PlannerInfo *root, Aggref *call, List *conditions, double rows, Cost cost);

// The executor's part of a build, for a CustomScan that has a BatchPlan.
extern const CustomScanMethods kBuildMethods;

// Registers the node and the planner hook that offers it. Called once, when the library is loaded.
void define_build();

} // namespace bloomfilter
