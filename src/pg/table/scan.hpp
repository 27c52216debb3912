// Bloom Filter Scan: rows that a filter refuses never become rows.
//
// A sequential scan makes a slot of each row, calls the executor, and a probe of a large filter
// waits for memory alone. This scan takes all visible rows of a page, hashes the column of all of
// them, asks for all hashes with the filter's lines prefetched, and makes slots of what is left.
// (Of a table access method other than heap, whose pages it does not know, it takes 16 slots at a
// time.) The access method itself finds the pages and rows, so that parallel and synchronized
// scans, read streams, visibility and predicate locks are those of a sequential scan.
//
//   conditions.cpp  which of a table's conditions a scan can ask for many rows at once
//   scan_cost.cpp   what it costs
//   scan_path.cpp   the planner's part: where it is offered, the plan
//   batch.cpp       which rows are asked together, and what is left of them
//   scan_node.cpp   the executor's part
//
// What it is not: a join filter, which would depend on another table's rows.
#ifndef BLOOMFILTER_PG_TABLE_SCAN_HPP
#define BLOOMFILTER_PG_TABLE_SCAN_HPP

#include "pg/server.hpp"

#include "pg/table/conditions.hpp"

extern "C" {
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// Sets a path's rows and costs: a sequential scan's, but for what rows and conditions take.
void set_cost(PlannerInfo *root, RelOptInfo *table, const Conditions &conditions, Path *path);

// Parts that processes divide a scan into, as the server's cost_seqscan() has them.
double divisor_of(int workers);

// The executor's part, for a CustomScan with a BatchPlan (batch_plan.hpp).
extern const CustomScanMethods kScanMethods;

// Defines bloomfilter.scan, and takes part in planning.
void define_scan();

} // namespace bloomfilter

#endif
