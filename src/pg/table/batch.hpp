// Batches: the rows of a table that pass conditions and filters.
//
// A batch begins as the rows of one page (page_reader.hpp). Conditions of lower security levels are
// evaluated for each row. Then each filter in turn is probed for all rows that are left. A node of
// the executor reads the batches and uses the rows that are left in the end. A Bloom Filter Scan
// returns them one by one. A Bloom Filter Build (pg/build/) adds their values to filters. For a
// build, this file also evaluates all other conditions, before and after the probes.
//
//   begin_batches()     once, when the node begins
//   open_reader()       before the first batch, with a table scan, which the node ends
//   next_batch()        for each batch; then the rows, by slot_of() or collect_values()
//   restart_batches()   whenever the table scan begins again or the node moves it
//   forget_filters()    when parameters have changed, because the filters may have changed too
#pragma once

#include "pg/server.hpp"

#include "pg/query/probe_expr.hpp"
#include "pg/table/page_reader.hpp"
#include "pg/table/probe_control.hpp"
#include "pg/value/probed_filter.hpp"

extern "C" {
#include "access/tableam.h"
#include "nodes/plannodes.h"
}

namespace bloomfilter {

// What the planner tells the executor about a table that is read in batches.
//
// The lists contain expressions. Each expression is in `conditions`. It is also in at most one of
// the lists `before`, `probes` and `after`.
struct BatchPlan {
  List *conditions; // all conditions of the table, in the server's order
  List *before;     // the conditions of a lower security level than the probes
  List *probes;     // probe a filter for many rows at once
  List *by_planner; // the probes that the planner has placed by itself (probe_control.hpp)
  List *after;      // for the rows that are left; empty if the node itself evaluates them
  bool one_by_one;  // true if a batch is one row, because a probe can raise an error (Conditions)
  // The number of rows for which a process will probe the filters. It decides how the process reads
  // the filters.
  int expected; // 0 if unknown
  // For each of `by_planner`, the rows that must reach the filter so that building it pays.
  List *needed; // of integers
};

// A plan without its conditions: each is written as its position in the list of all conditions. The
// plan is stored in the custom_private of a node, which the server does not change. The conditions
// are stored elsewhere, where the server adjusts them to the finished plan.
List *describe_batch_plan(const BatchPlan &plan);
BatchPlan read_batch_plan(List *conditions, const List *description);

// A condition that probes a filter for a value of each row. The filter is the same for all rows.
struct FilterCondition {
  // Set by begin_batches().
  Node *expression; // the condition
  ExprState *filter_expression;
  int parameter;      // the number of the parameter that is the filter; -1 if it is none
  ExprState *reached; // true for a row if a sequential scan would probe the filter for it
  RowValue value;
  Oid collation; // of the value
  // Set when rows first come to the condition, and again after forget_filters().
  bool known; // true once the filter is evaluated
  bool is_null;
  Datum filter;
  LastFilter last;
  // Set when the first value reaches the condition.
  ValueType *value_type;
  double rate;  // the false positive rate of the first filter; 0 if unknown
  bool sampled; // true once the rate was looked for; only EXPLAIN ANALYZE shows it
  ProbeControl control;
};

// Starts at zero.
struct RowBatches {
  // Set by begin_batches().
  PlanState *node;   // owns the expressions and counts the rows that are rejected
  ExprState *before; // the conditions before the probes; NULL if there are none
  FilterCondition *conditions;
  FilterCondition **order; // in which the conditions are evaluated
  int condition_count;
  ExprState *after; // the conditions after the probes; NULL if there are none
  bool one_by_one;  // this and the next field are as in BatchPlan
  int expected;
  MemoryContext filters; // holds the results of the filters' expressions
  // Set by open_reader(). Like all fields below, also set by next_batch() and restart_batches().
  PageReader reader;
  uint64 pages; // how many pages were read
  int taken;    // how many of the page's rows have come into batches
  uint16 *rows; // the rows of the batch that are left; points into the page's rows
  int count;
  bool ended;    // true if it is certain that no other row will be left
  Values values; // of the current condition
};

void begin_batches(RowBatches *batches, const BatchPlan &plan, PlanState *node);

// Reads on until a batch has rows that are left. False if there are no more such batches.
bool next_batch(RowBatches *batches);

// Forgets the batch and the page. The position of the table scan does not matter.
void restart_batches(RowBatches *batches);

void forget_filters(RowBatches *batches);

// The parts of a condition that probes a filter. Raises an error if it no longer does.
ProbeExpr probe_of_condition(Node *condition);

// The number of the parameter that is the filter; -1 if it is none. is_built() is true if there is
// no such parameter, or if the InitPlan that sets it has run.
int parameter_of(const ProbeExpr &probe);
bool is_built(int parameter, const PlanState *node);

// The node's table scan is the process's own, or the processes of a parallel query share it. In
// shared memory, a shared scan comes after the other data that the node shares.

// Begins a table scan that this process does alone. The node ends the scan.
TableScanDesc begin_private_scan(ScanState *node, Relation table);

// The size of the shared memory for a node that needs `node_bytes` bytes for itself. These bytes
// come first.
Size shared_scan_size(Relation table, const PlanState *node, Size node_bytes);

// Sets up the shared table scan in the leader: first before any worker joins it, then again before
// each rescan.
void init_shared_scan(Relation table, const PlanState *node, void *memory, Size node_bytes);
void reinit_shared_scan(Relation table, void *memory, Size node_bytes);

// Joins the shared table scan. The node ends the scan.
TableScanDesc join_shared_scan(ScanState *node, Relation table, void *memory, Size node_bytes);

} // namespace bloomfilter
