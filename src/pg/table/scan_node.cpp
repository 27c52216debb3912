// The executor's part of a Bloom Filter Scan and of a Bloom Filter Probe. It covers the rows that
// the nodes return, and EXPLAIN. batch_node.hpp has the rest.
//
// Forward, the scan reads rows in batches. Backward, it reads row by row, because only cursors go
// backward, and rarely.

#include "pg/server.hpp"

#include "pg/compat.hpp"
#include "pg/table/batch_node.hpp"
#include "pg/table/scan.hpp"

extern "C" {
#include "access/tableam.h"
#include "executor/executor.h"
}

namespace bloomfilter {
namespace {

// Starts at zero.
struct FilterScan : BatchNode {
  // Set by next_row().
  int returned;     // how many rows of the batch were returned
  bool is_backward; // true if the scan went backward last
  // Set by begin_for_table().
  ExprState *row_by_row; // the conditions that batches evaluate, for one row
};

FilterScan *scan_of(void *state) {
  return static_cast<FilterScan *>(state);
}

// --- rows ----------------------------------------------------------------------------------------

void restart(FilterScan *scan) {
  restart_batches(&scan->batches);
  scan->returned = 0;
}

// Changes direction. The table scan then stands on the row that was returned last.
void turn(FilterScan *scan) {
  if (scan->returned > 0)
    move_scan_to(&scan->batches.reader, scan->batches.rows[scan->returned - 1]);
  restart(scan);
  scan->is_backward = !scan->is_backward;
}

TupleTableSlot *previous_row(FilterScan *scan) {
  ScanState *state = &scan->node.ss;
  ExprContext *context = state->ps.ps_ExprContext;
  TupleTableSlot *slot = state->ss_ScanTupleSlot;
  while (table_scan_getnextslot(scan->batches.reader.scan, BackwardScanDirection, slot)) {
    context->ecxt_scantuple = slot;
    if (ExecQualAndReset(scan->row_by_row, context))
      return slot;
    InstrCountFiltered2(scan, 1);
  }
  return ExecClearTuple(slot);
}

// Returns the next row. It is also in ss_ScanTupleSlot, where WHERE CURRENT OF looks for it.
TupleTableSlot *next_row(ScanState *state) {
  FilterScan *scan = scan_of(state);
  RowBatches *batches = &scan->batches;
  if (!batches->reader.scan) // no other process shares the scan
    open_table(scan);
  if (ScanDirectionIsBackward(state->ps.state->es_direction) != scan->is_backward)
    turn(scan);
  if (scan->is_backward)
    return previous_row(scan);
  if (scan->returned == batches->count) {
    scan->returned = 0;
    if (!read_batch(scan))
      return ExecClearTuple(state->ss_ScanTupleSlot);
  }
  return state->ss_ScanTupleSlot = slot_of(&batches->reader, batches->rows[scan->returned++]);
}

// True if a row's newer version fulfils the conditions that batches evaluate. EvalPlanQual calls
// this. ExecScan() evaluates the node's own conditions afterwards.
bool recheck_row(ScanState *state, TupleTableSlot *slot) {
  ExprContext *context = state->ps.ps_ExprContext;
  context->ecxt_scantuple = slot;
  return ExecQualAndReset(scan_of(state)->row_by_row, context);
}

// --- the nodes -----------------------------------------------------------------------------------

TupleTableSlot *exec_scan(CustomScanState *node) {
  return ExecScan(&node->ss, next_row, recheck_row);
}

// Returns the next row of the other node, which is a batch. ExecScan() is for tables: in
// EvalPlanQual, it would return a row of its own.
TupleTableSlot *exec_probe(CustomScanState *node) {
  RowBatches *batches = &scan_of(node)->batches;
  ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;
  if (!next_batch(batches))
    return nullptr;
  return projection ? ExecProject(projection) : batches->reader.slot;
}

void begin_for_table(CustomScanState *node, EState *estate, int flags) {
  FilterScan *scan = scan_of(node);
  PlanState *state = &node->ss.ps;
  begin_node(scan, estate, flags);
  List *subplans = list_copy(state->subPlan); // lists each once, or workers would count it twice
  scan->row_by_row = ExecInitQual(list_concat(scan->plan.conditions_with(Role::before),
                                              scan->plan.conditions_with(Role::probe)),
                                  state);
  state->subPlan = subplans;
}

void begin_for_input(CustomScanState *node, EState *estate, int flags) {
  begin_node(scan_of(node), estate, flags);
}

void rescan(CustomScanState *node) {
  scan_of(node)->returned = 0;
  scan_of(node)->is_backward = false;
  rescan_node(node);
}

// --- EXPLAIN -------------------------------------------------------------------------------------

// Shows what a scan has decided about the filters that the planner has placed: their order in the
// end, if it is not the planner's, and the filters that were not built.
void explain_decisions(FilterScan *scan, List *ancestors, ExplainState *explained) {
  const RowBatches &batches = scan->batches;
  List *order = NIL, *unbuilt = NIL;
  bool is_as_planned = true;
  for (int i = 0; i < batches.condition_count; i++) {
    const FilterCondition *condition = batches.order[i];
    is_as_planned &= condition == &batches.conditions[i];
    if (condition->known || is_built(condition->parameter, batches.node))
      order = lappend(order, condition->expression);
    else
      unbuilt = lappend(unbuilt, condition->expression);
  }
  if (!is_as_planned)
    explain_conditions("Bloom Filter Order", order, scan, ancestors, explained);
  explain_conditions("Bloom Filter Not Built", unbuilt, scan, ancestors, explained);
}

void explain(CustomScanState *node, List *ancestors, ExplainState *explained) {
  FilterScan *scan = scan_of(node);
  List *before = scan->plan.conditions_with(Role::before);
  const NodeInstrumentation *instrument = explained->analyze ? node->ss.ps.instrument : nullptr;
  explain_conditions("Filter Before", before, scan, ancestors, explained);
  if (instrument && before != NIL && node->ss.ps.plan->qual == NIL) // else the server shows it
    explain_rows("Rows Removed by Filter", instrument->nfiltered1, instrument, explained);
  explain_conditions("Bloom Filter", scan->plan.conditions_with(Role::probe), scan, ancestors,
                     explained);
  if (!instrument)
    return;
  if (instrument->nloops > 0)
    explain_decisions(scan, ancestors, explained);
  explain_rows("Rows Removed by Bloom Filter", instrument->nfiltered2, instrument, explained);
  explain_probes(scan, explained);
}

constexpr CustomExecMethods kScan = node_methods(begin_for_table, exec_scan, rescan, explain),
                            kProbe = node_methods(begin_for_input, exec_probe, rescan, explain);

Node *create_scan_state(CustomScan *) {
  auto *scan = make_node_state<FilterScan>(&kScan);
#if PG_VERSION_NUM >= 160000
  scan->node.slotOps = &TTSOpsBufferHeapTuple;
#endif
  return reinterpret_cast<Node *>(scan);
}

Node *create_probe_state(CustomScan *) {
  return reinterpret_cast<Node *>(make_node_state<FilterScan>(&kProbe));
}

} // namespace

const CustomScanMethods kScanMethods = {kScanName, create_scan_state},
                        kProbeMethods = {"Bloom Filter Probe", create_probe_state};

} // namespace bloomfilter
