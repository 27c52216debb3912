// Batches: the rows of a table that pass conditions and filters.
//
// A batch begins as the rows of one page (page_reader.hpp). Conditions of lower security levels are
// evaluated for each row. Then each filter in turn is probed for all rows that are left. A node of
// the executor reads the batches and uses the rows that are left in the end (batch_node.hpp). For a
// Bloom Filter Build, which does not return the rows of the table, this file also evaluates all
// other conditions, before and after the probes.
//
//   begin_batches()     once, when the node begins
//   open_reader()       before the first batch, with a table scan, which the node ends; or
//   open_input()        before begin_batches(), if rows of another node are read
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
#include "nodes/extensible.h"
#include "nodes/plannodes.h"
}

namespace bloomfilter {

// When a node evaluates a condition.
enum class Role {
  before, // is of a lower security level than the probes, or a build evaluates it before them
  probe,  // probes a filter for many rows at once
  after,  // a build evaluates it for the rows that the probes let through
  of_node // the node's own qual has it
};

constexpr int kNamedByQuery = -1;

// What the planner tells the executor about a node that reads batches. The lists of integers have
// an item for each condition.
struct BatchPlan {
  List *calls;      // the aggregate calls of a build, each an Aggref; NIL in other nodes
  List *conditions; // all conditions of the table, in the server's order
  List *roles;      // of integers: the Role of each condition
  // Of integers: for a probe that the planner has placed by itself (probe_control.hpp), the rows
  // that must reach the filter so that building it pays. kNamedByQuery for other conditions.
  List *needed;
  // True if a batch is one row, because a probe, or a condition before the probes, can raise an
  // error: it must not be evaluated for a row that the query may never ask for.
  bool one_by_one;
  // The number of rows for which a process will probe the filters. It decides how the process reads
  // the filters.
  int expected; // 0 if unknown

  void add(void *condition, Role role, int needed_rows);
  List *conditions_with(Role role) const;
};

// Makes a node with a plan. `qual` is for the rows that the node makes. read_batch_plan() reads the
// plan when the node begins.
CustomScan *make_batch_scan(const CustomScanMethods *methods, Index table, List *targets,
                            List *qual, const BatchPlan &plan);
BatchPlan read_batch_plan(const CustomScan *node);

// A condition that probes a filter for a value of each row. The filter is the same for all rows.
struct FilterCondition {
  // Set by begin_batches().
  Node *expression; // the condition
  ExprState *filter_expression;
  int parameter; // the number of the parameter that is the filter; -1 if it is no parameter
  // One of these is NULL. If a table is read, `reached` says whether a sequential scan would probe
  // the filter for a row. If rows of another node are read, `for_row` is the condition itself,
  // because a batch of one row would be slow.
  ExprState *reached, *for_row;
  RowValue value;
  Oid collation;        // of the value
  MemoryContext memory; // holds the result of the filter's expression
  // Set when rows first come to the condition, and again after forget_filters().
  bool known; // true once the filter is evaluated
  bool is_null;
  Datum filter;
  LastFilter last;
  // Set when the first value reaches the condition.
  ValueType *value_type;
  ProbeControl control;
  bool sampled; // true once read_batch() has noted the false positive rate of the first filter
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
  // Set by open_reader() or open_input(). next_batch() and restart_batches() change this field and
  // all below.
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

// Forgets the filters, because these parameters have changed. If rows of another node are read, a
// filter that is not one of the parameters is kept: that node begins again for every few rows.
void forget_filters(RowBatches *batches, const Bitmapset *parameters);

// The parts of a condition that probes a filter. Raises an error if it no longer does.
ProbeExpr probe_of_condition(Node *condition);

// The number of the parameter that is the filter; -1 if it is no parameter. is_built() is true if
// there is no such parameter, or if the InitPlan that sets it has run.
int parameter_of(const ProbeExpr &probe);
bool is_built(int parameter, const PlanState *node);

} // namespace bloomfilter
