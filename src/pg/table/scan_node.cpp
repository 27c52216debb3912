// The executor's part of a Bloom Filter Scan. It covers the rows, parallel queries, and EXPLAIN.
//
// Forward, the scan reads rows in batches. Backward, it reads row by row, because only cursors go
// backward, and rarely.

#include "pg/server.hpp"

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/table/batch.hpp"
#include "pg/table/explain.hpp"
#include "pg/table/scan.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "port/atomics.h"
#include "utils/rel.h"
}

namespace bloomfilter {
namespace {

// Starts at zero.
struct FilterScan {
  CustomScanState node; // first, because the server casts the pointer
  // Begun by begin(). next_row() or join_shared() opens the pages.
  RowBatches batches;
  // Set by next_row().
  int returned;     // how many rows of the batch were returned
  bool is_backward; // true if the scan went backward last
  // Set by begin().
  ExprState *conditions; // all conditions, in the server's order
  ExprState *backward; // the conditions that batches evaluate; NULL if the scan never goes backward
  // Set by join_shared(), reset by the leader's shutdown().
  SharedProbeStatistics *shared; // stored before the shared table scan; NULL if not parallel
  // Set by shutdown() and explain(), for EXPLAIN's output.
  ProbeStatistics probed;
};

FilterScan *scan_of(CustomScanState *node) {
  return reinterpret_cast<FilterScan *>(node);
}

// --- rows ----------------------------------------------------------------------------------------

void set_table_scan(FilterScan *scan, TableScanDesc table_scan) {
  ScanState *state = &scan->node.ss;
  open_reader(&scan->batches.reader, table_scan, &state->ps, state->ss_ScanTupleSlot);
}

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
  Assert(scan->backward);
  while (table_scan_getnextslot(scan->batches.reader.scan, BackwardScanDirection, slot)) {
    context->ecxt_scantuple = slot;
    if (ExecQualAndReset(scan->backward, context))
      return slot;
    InstrCountFiltered2(scan, 1);
  }
  return ExecClearTuple(slot);
}

// Returns the next row. It is also in ss_ScanTupleSlot, where WHERE CURRENT OF looks for it.
TupleTableSlot *next_row(ScanState *state) {
  auto *scan = reinterpret_cast<FilterScan *>(state);
  RowBatches *batches = &scan->batches;
  if (!batches->reader.scan) // no other process shares the scan
    set_table_scan(scan, begin_private_scan(state, state->ss_currentRelation));
  if (ScanDirectionIsBackward(state->ps.state->es_direction) != scan->is_backward)
    turn(scan);
  if (scan->is_backward)
    return previous_row(scan);
  if (scan->returned == batches->count) {
    scan->returned = 0;
    if (!next_batch(batches))
      return ExecClearTuple(state->ss_ScanTupleSlot);
  }
  return state->ss_ScanTupleSlot = slot_of(&batches->reader, batches->rows[scan->returned++]);
}

// True if a row's newer version fulfils the conditions. EvalPlanQual calls this.
bool recheck_row(ScanState *state, TupleTableSlot *slot) {
  ExprContext *context = state->ps.ps_ExprContext;
  context->ecxt_scantuple = slot;
  return ExecQualAndReset(reinterpret_cast<FilterScan *>(state)->conditions, context);
}

// --- the node ------------------------------------------------------------------------------------

TupleTableSlot *exec(CustomScanState *node) {
  return ExecScan(&node->ss, next_row, recheck_row);
}

// Gives the node a slot of the table's kind, if the server has given it another kind. Then
// everything that depends on the slot is made again.
void init_slot(ScanState *state, EState *estate) {
  Relation table = state->ss_currentRelation;
  const TupleTableSlotOps *callbacks = table_slot_callbacks(table);
  if (state->ps.scanops == callbacks)
    return;
  ExecInitScanTupleSlot(estate, state, RelationGetDescr(table), callbacks,
                        TTS_FLAG_OBEYS_NOT_NULL_CONSTRAINTS);
  state->ps.subPlan = NIL; // they belong to the expressions that are replaced now
  ExecAssignScanProjectionInfo(state);
  state->ps.qual = ExecInitQual(state->ps.plan->qual, &state->ps);
}

BatchPlan plan_of(const CustomScanState *node) {
  const auto *plan = reinterpret_cast<const CustomScan *>(node->ss.ps.plan);
  return read_batch_plan(plan->custom_exprs, plan->custom_private);
}

void begin(CustomScanState *node, EState *estate, int flags) {
  FilterScan *scan = scan_of(node);
  PlanState *state = &node->ss.ps;
  const BatchPlan plan = plan_of(node);
  init_slot(&node->ss, estate);
  begin_batches(&scan->batches, plan, state);
  List *subplans = list_copy(state->subPlan); // lists each once, or workers would count it twice
  scan->conditions = ExecInitQual(plan.conditions, state);
  if (flags & EXEC_FLAG_BACKWARD)
    scan->backward = ExecInitQual(list_concat_copy(plan.before, plan.probes), state);
  state->subPlan = subplans;
}

void end(CustomScanState *node) {
  TableScanDesc table_scan = scan_of(node)->batches.reader.scan;
  if (table_scan)
    table_endscan(table_scan);
}

void rescan(CustomScanState *node) {
  FilterScan *scan = scan_of(node);
  if (node->ss.ps.chgParam)
    forget_filters(&scan->batches);
  restart(scan);
  scan->is_backward = false;
  TableScanDesc table_scan = scan->batches.reader.scan;
  if (table_scan)
    table_rescan(table_scan, nullptr);
  ExecScanReScan(&node->ss);
}

// --- in parallel ---------------------------------------------------------------------------------

Size estimate_shared(CustomScanState *node, ParallelContext *) {
  return shared_scan_size(node->ss.ss_currentRelation, &node->ss.ps, sizeof(SharedProbeStatistics));
}

void join_shared(CustomScanState *node, shm_toc *, void *memory) {
  FilterScan *scan = scan_of(node);
  scan->shared = static_cast<SharedProbeStatistics *>(memory);
  set_table_scan(scan, join_shared_scan(&node->ss, node->ss.ss_currentRelation, memory,
                                        sizeof(SharedProbeStatistics)));
}

void init_shared(CustomScanState *node, ParallelContext *, void *memory) {
  auto *shared = static_cast<SharedProbeStatistics *>(memory);
  init_shared_statistics(shared);
  init_shared_scan(node->ss.ss_currentRelation, &node->ss.ps, memory,
                   sizeof(SharedProbeStatistics));
  join_shared(node, nullptr, memory);
}

void reinit_shared(CustomScanState *node, ParallelContext *, void *memory) {
  reinit_shared_scan(node->ss.ss_currentRelation, memory, sizeof(SharedProbeStatistics));
}

// Passes on what EXPLAIN shows, before the shared memory is gone.
void shutdown(CustomScanState *node) {
  FilterScan *scan = scan_of(node);
  note_probes(&scan->probed, scan->batches, scan->shared);
  if (!IsParallelWorker())
    scan->shared = nullptr;
}

// --- EXPLAIN -------------------------------------------------------------------------------------

void explain(CustomScanState *node, List *ancestors, ExplainState *explained) {
  FilterScan *scan = scan_of(node);
  const BatchPlan plan = plan_of(node);
  const NodeInstrumentation *instrument = explained->analyze ? node->ss.ps.instrument : nullptr;
  explain_conditions("Filter Before", plan.before, node, ancestors, explained);
  if (instrument && plan.before != NIL && node->ss.ps.plan->qual == NIL) // else the server shows it
    explain_rows("Rows Removed by Filter", instrument->nfiltered1, instrument, explained);
  explain_conditions("Bloom Filter", plan.probes, node, ancestors, explained);
  if (!instrument)
    return;
  if (instrument->nloops > 0)
    explain_decisions(scan->batches, node, ancestors, explained);
  explain_rows("Rows Removed by Bloom Filter", instrument->nfiltered2, instrument, explained);
  note_probes(&scan->probed, scan->batches, nullptr);
  explain_probes(scan->probed, instrument, explained);
}

constexpr CustomExecMethods kExecMethods = {
    "Bloom Filter Scan", begin,       exec,          end,         rescan,   nullptr, nullptr,
    estimate_shared,     init_shared, reinit_shared, join_shared, shutdown, explain};

Node *create_state(CustomScan *) {
  auto *scan = make_zeroed<FilterScan>();
  NodeSetTag(&scan->node, T_CustomScanState);
  scan->node.methods = &kExecMethods;
#if PG_VERSION_NUM >= 160000
  scan->node.slotOps = &TTSOpsBufferHeapTuple;
#endif
  return reinterpret_cast<Node *>(scan);
}

} // namespace

const CustomScanMethods kScanMethods = {"Bloom Filter Scan", create_state};

} // namespace bloomfilter
