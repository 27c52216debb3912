// Bloom Filter Scan: rejects rows before slots are made for them.
//
// For each row, a sequential scan makes a slot and calls the executor. Its probes of a large filter
// wait for memory one after the other. This scan takes all visible rows of a page and hashes their
// column. It prefetches the filter's cache lines for all of these hashes and then probes them. It
// makes slots only for the rows that are left.
//
//   scan_path.cpp    the planner's part: where the scan is offered, and its plan
//   scan_cost.cpp    the scan's cost
//   scan_node.cpp    the executor's part, and a node that probes filters for another node's rows
//
// The scan is built on parts that any node can use which reads a table in batches:
//
//   conditions.cpp   which conditions can probe a filter for many rows at once
//   page_reader.cpp  the rows of a page, and their values
//   batch.cpp        the rows that pass conditions and filters; what the planner says about them
//   batch_node.cpp   the life of such a node, its part in parallel queries, and EXPLAIN
//   probe_control.cpp  when filters that the planner has placed are built, probed and left out
//
// The filters are those that the query names. The planner can also place filters by itself.
// pg/join/ makes these, and they are probed by scans of this kind.
//
// The trade-off: the scan reads heap pages by itself, past the table access method, so it must
// follow each release of the server. What it gives: probing a filter of 1.2 MB for ten million rows
// takes 0.54 of the time of a comparison, and 1.46 row by row. For a filter of 120 MB, where each
// probe waits for memory, it takes 0.91 and 7.01 (script/bench scan).
//
// What is not good about it: it stands for a sequential scan only. Rows that an index finds are
// probed one by one, and a condition under OR is not batched.
//
// Tests: sql/scan.sql, test/t/023_scan.pl, test/search/plans.py.
#pragma once

#include "pg/server.hpp"

#include "pg/compat.hpp"
#include "pg/planner/scanned_table.hpp"
#include "pg/table/batch.hpp"
#include "pg/table/conditions.hpp"

extern "C" {
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "optimizer/appendinfo.h"
}

namespace bloomfilter {

// Decides how batches evaluate a table's conditions. These are in the order in which a sequential
// scan evaluates them. `rows` is the number of rows that a process reads; 0 if it is unknown,
// because the query may end early. `needed` is for the last conditions, which the planner has
// placed by itself (BatchPlan): they drop rows that a join would drop later. A build evaluates all
// conditions. Those that a scan evaluates before the first probe are evaluated before the probes
// there, too.
BatchPlan batch_plan_of(List *clauses, bool is_build, double rows, List *needed);

// A path of the scan, with its rows and costs set, and the path's plan.
CustomPath *make_scan_path(PlannerInfo *root, RelOptInfo *table, const Conditions &conditions,
                           int workers, const CustomPathMethods *methods);
Plan *make_scan_plan(PlannerInfo *root, RelOptInfo *table, const CustomPath *path, List *targets,
                     List *clauses, List *needed);

// Adapts an expression of a table, or a list of them, to one of the table's parts. A part may
// number its columns differently. For the table itself, returns the expression unchanged.
template <typename Expression>
Expression *for_part(PlannerInfo *root, Expression *expression, RelOptInfo *part,
                     RelOptInfo *table) {
  if (part == table)
    return expression;
  auto *node = reinterpret_cast<Node *>(expression);
  node = adjust_appendrel_attrs_multilevel(root, node, part, table);
  return reinterpret_cast<Expression *>(node);
}

// The number of workers that the server would plan for a scan of a table. 0 if the scan cannot be
// parallel.
int workers_for(const RelOptInfo *table);

// Sets a path's rows and costs.
void set_cost(PlannerInfo *root, RelOptInfo *table, const Conditions &conditions, Path *path);

// cost_of_row_left() is the cost of passing a row of a batch to the node above. cost_of_value() is
// the extra cost of reading and hashing a value, compared with a number that is stored in the row.
double cost_of_row_left();
double cost_of_value(PlannerInfo *root, const RelOptInfo *table, Node *value);

// The number by which the server divides the rows of a scan among processes. cost_seqscan()
// computes it in the same way.
double divisor_of(int workers);

// The executor's part. It executes a CustomScan with a BatchPlan (batch.hpp).
//
// A Bloom Filter Scan reads a whole table. If a join drives an index scan instead, the table's rows
// come a few at a time, from wherever the index finds them. Then a Bloom Filter Probe probes the
// filters that the planner has placed for each row that the index scan returns. It decides in the
// same way whether a filter is built. Nobody knows before how many rows such scans return in total.
// So a filter is built when the rows that have come would have paid for it: a filter that is built
// too late or in vain costs at most as much again.
extern const CustomScanMethods kScanMethods, kProbeMethods;

// True if bloomfilter.scan is on.
bool scans_are_offered();

// Adds the scans to the paths of a table.
void add_scans(PlannerInfo *root, RelOptInfo *table, const RangeTblEntry *entry);

// Defines bloomfilter.scan.
void define_scan();

} // namespace bloomfilter
