// Bloom Filter Scan: rejects rows before slots are made for them.
//
// For each row, a sequential scan makes a slot and calls the executor, and its probes of a large
// filter wait for memory one after the other. This scan takes all visible rows of a page, hashes
// their column, probes the filter for all of these hashes with its lines prefetched, and makes
// slots only for the rows that are left.
//
//   scan_path.cpp    the planner's part: where the scan is offered, and its plan
//   scan_cost.cpp    its cost
//   scan_node.cpp    the executor's part
//
// It is built on what any node that reads a table by batches can use:
//
//   conditions.cpp   which conditions can probe a filter for many rows at once
//   batch_plan.cpp   what the planner tells the executor
//   pages.cpp        the rows of a page, and their values
//   batch.cpp        the rows that conditions and filters let through
//
// The filters are those that the query names. Those that the planner places by itself are made in
// pg/join/, with scans of this kind.
#ifndef BLOOMFILTER_PG_TABLE_SCAN_HPP
#define BLOOMFILTER_PG_TABLE_SCAN_HPP

#include "pg/server.hpp"

#include "pg/compat.hpp"
#include "pg/table/conditions.hpp"

extern "C" {
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "optimizer/appendinfo.h"
}

namespace bloomfilter {

// A path of the scan, whose rows and costs are set, and its plan. `placed` are those conditions
// that the planner has placed by itself, which drop rows that a join would drop later.
CustomPath *make_scan_path(PlannerInfo *root, RelOptInfo *table, const Conditions &conditions,
                           int workers, const CustomPathMethods *methods);
Plan *make_scan_plan(PlannerInfo *root, RelOptInfo *table, const CustomPath *path, List *targets,
                     List *clauses, List *placed);

// An expression of a table, or a list of them, for one of the table's parts, which numbers its
// columns in its own way. For the table itself, the same expression.
template <typename Expression>
Expression *for_part(PlannerInfo *root, Expression *expression, RelOptInfo *part,
                     RelOptInfo *table) {
  if (part == table)
    return expression;
  auto *node = reinterpret_cast<Node *>(expression);
  node = adjust_appendrel_attrs_multilevel(root, node, part, table);
  return reinterpret_cast<Expression *>(node);
}

// How many workers the server would plan a scan of a table with; 0 if it cannot be in parallel.
int workers_for(const RelOptInfo *table);

// Sets a path's rows and costs.
void set_cost(PlannerInfo *root, RelOptInfo *table, const Conditions &conditions, Path *path);

// What it costs to leave a row of a batch for the node above, and what reading and hashing a value
// costs more than if it were a number in the row.
double cost_of_row_left();
double cost_of_value(PlannerInfo *root, const RelOptInfo *table, Node *value);

// Into how many parts processes divide a scan, as the server's cost_seqscan() computes it.
double divisor_of(int workers);

// The executor's part, for a CustomScan with a BatchPlan (batch_plan.hpp).
extern const CustomScanMethods kScanMethods;

// Does a sequential scan read a table as it is? It does not read a parent, whose children are
// scanned one by one, nor a sample, nor what another library reads in its own way. Valid as soon as
// the server and the libraries before this one have made their paths of the table.
bool is_scanned(RelOptInfo *table, const RangeTblEntry *entry);

// Is bloomfilter.scan on?
bool scans_are_offered();

// Defines bloomfilter.scan, and takes part in planning.
void define_scan();

} // namespace bloomfilter

#endif
