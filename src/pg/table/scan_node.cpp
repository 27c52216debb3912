// The executor's part of a Bloom Filter Scan: forward by batches (batch.hpp), backward, as cursors
// now and then go, row by row; what processes share; what EXPLAIN shows.

#include "pg/server.hpp"

#include <cmath>

#include "core/bytes.hpp"
#include "pg/expression.hpp"
#include "pg/planner/question.hpp"
#include "pg/table/batch.hpp"
#include "pg/table/batch_plan.hpp"
#include "pg/table/scan.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/tableam.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#endif
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
}

namespace bloomfilter {
namespace {

FilterScan *scan_of(CustomScanState *node) {
  return reinterpret_cast<FilterScan *>(node);
}

// --- backward ------------------------------------------------------------------------------------

// Puts the table scan, which stands where the batch ends, onto a row of it.
void stand_on(FilterScan *scan, uint16 candidate) {
  if (!scan->slots) {
    HeapScanDesc heap = heap_of(scan);
    while (heap->rs_vistuples[heap->rs_cindex] != candidate)
      heap->rs_cindex--;
    return;
  }
  const int last = scan->behind_last ? scan->row_count : scan->row_count - 1;
  for (int row = last; row > candidate; row--)
    table_scan_getnextslot(state_of(scan)->ss_currentScanDesc, BackwardScanDirection,
                           scan->slots[candidate]);
}

// Leaves the table scan on the row that was returned last.
void turn(FilterScan *scan) {
  if (scan->next > 0)
    stand_on(scan, scan->candidates[scan->next - 1]);
  forget_batch(scan);
  scan->is_backward = !scan->is_backward;
}

// Cursors go backward now and then, and then row by row.
TupleTableSlot *previous_row(FilterScan *scan) {
  ScanState *state = state_of(scan);
  ExprContext *context = state->ps.ps_ExprContext;
  TupleTableSlot *slot = state->ss_ScanTupleSlot;
  Assert(scan->backward);
  while (table_scan_getnextslot(state->ss_currentScanDesc, BackwardScanDirection, slot)) {
    context->ecxt_scantuple = slot;
    if (ExecQualAndReset(scan->backward, context))
      return slot;
    InstrCountFiltered2(scan, 1);
  }
  return ExecClearTuple(slot);
}

// --- the node ------------------------------------------------------------------------------------

bool reads_pages(TableScanDesc scan) {
  return scan->rs_rd->rd_tableam == GetHeapamTableAmRoutine() &&
         (scan->rs_flags & SO_ALLOW_PAGEMODE) != 0;
}

void set_scan(FilterScan *scan, TableScanDesc table_scan) {
  ScanState *state = state_of(scan);
  Relation table = state->ss_currentRelation;
  state->ss_currentScanDesc = table_scan;
  scan->tuple.t_tableOid = RelationGetRelid(table);
  if (reads_pages(table_scan))
    return;
  EState *estate = state->ps.state;
  const MemoryContext before = MemoryContextSwitchTo(estate->es_query_cxt);
  scan->slots = static_cast<TupleTableSlot **>(palloc(kSlots * sizeof(TupleTableSlot *)));
  for (int i = 0; i < kSlots; i++)
    scan->slots[i] = ExecAllocTableSlot(&estate->es_tupleTable, RelationGetDescr(table),
                                        table_slot_callbacks(table));
  MemoryContextSwitchTo(before);
}

TupleTableSlot *next_row(ScanState *state) {
  auto *scan = reinterpret_cast<FilterScan *>(state);
  if (!state->ss_currentScanDesc) // not in parallel, or not with others
    set_scan(scan,
             table_beginscan(state->ss_currentRelation, state->ps.state->es_snapshot, 0, nullptr));
  if (ScanDirectionIsBackward(state->ps.state->es_direction) != scan->is_backward)
    turn(scan);
  if (scan->is_backward)
    return previous_row(scan);
  TupleTableSlot *slot = next_of_batches(scan);
  return slot ? slot : ExecClearTuple(state->ss_ScanTupleSlot);
}

// Of a row's newer version, in EvalPlanQual.
bool recheck_row(ScanState *state, TupleTableSlot *slot) {
  ExprContext *context = state->ps.ps_ExprContext;
  context->ecxt_scantuple = slot;
  return ExecQualAndReset(reinterpret_cast<FilterScan *>(state)->plain, context);
}

TupleTableSlot *exec(CustomScanState *node) {
  return ExecScan(&node->ss, next_row, recheck_row);
}

// A value that is not NULL, behind conditions that may be asked twice: not volatile, nor a
// subplan's.
ExprState *init_reached(PlanState *state, Node *value, List *conditions) {
  List *stable = NIL;
  ListCell *cell;
  foreach (cell, conditions) {
    auto *condition = static_cast<Node *>(lfirst(cell));
    if (!contain_volatile_functions(condition) && !contain_subplans(condition))
      stable = lappend(stable, condition);
  }
  NullTest *test = makeNode(NullTest);
  test->arg = reinterpret_cast<Expr *>(value);
  test->nulltesttype = IS_NOT_NULL;
  test->location = -1;
  return ExecInitQual(lappend(stable, test), state);
}

// A value that is a column, perhaps relabeled; 0 if it is another expression.
AttrNumber column_of(Node *value) {
  value = without_relabeling(value);
  return IsA(value, Var) ? castNode(Var, value)->varattno : InvalidAttrNumber;
}

void init_ask(FilterScan *scan, Node *condition, List *conditions_before, Ask *ask) {
  PlanState *state = &scan->node.ss.ps;
  Question question;
  if (!asks_for_value(condition,
                      &question)) // its function was altered since, as EvalPlanQual comes late
    elog(ERROR, "Bloom Filter Scan has a condition that asks no filter any more");
  ask->filter_state = ExecInitExpr(reinterpret_cast<Expr *>(question.filter), state);
  ask->column = column_of(question.value);
  if (ask->column == InvalidAttrNumber)
    ask->value_state = ExecInitExpr(reinterpret_cast<Expr *>(question.value), state);
  ask->reached = init_reached(state, question.value, conditions_before);
  ask->type = exprType(question.value);
  ask->collation = question.collation;
}

// The table's kind of slot, if the server has not made it, and what depends on it.
void init_slot(ScanState *state, EState *estate) {
  Relation table = state->ss_currentRelation;
  const TupleTableSlotOps *callbacks = table_slot_callbacks(table);
  if (state->ps.scanops == callbacks)
    return;
  ExecInitScanTupleSlot(estate, state, RelationGetDescr(table), callbacks);
  state->ps.subPlan = NIL; // of the expressions that these replace
  ExecAssignScanProjectionInfo(state);
  state->ps.qual = ExecInitQual(state->ps.plan->qual, &state->ps);
}

BatchPlan plan_of(const CustomScanState *node) {
  return read_batch_plan(reinterpret_cast<const CustomScan *>(node->ss.ps.plan));
}

void begin(CustomScanState *node, EState *estate, int flags) {
  FilterScan *scan = scan_of(node);
  PlanState *state = &node->ss.ps;
  const BatchPlan plan = plan_of(node);
  init_slot(&node->ss, estate);
  scan->one_by_one = plan.one_by_one;
  scan->expected = plan.expected;
  scan->before = ExecInitQual(plan.before, state);
  List *subplans = list_copy(state->subPlan); // none of them twice, or workers count them twice
  scan->asks = static_cast<Ask *>(palloc0(list_length(plan.probes) * sizeof(Ask)));
  ListCell *cell;
  foreach (cell, plan.conditions)
    if (list_member_ptr(plan.probes, lfirst(cell)))
      init_ask(scan, static_cast<Node *>(lfirst(cell)),
               list_truncate(list_copy(plan.conditions), foreach_current_index(cell)),
               &scan->asks[scan->ask_count++]);
  scan->plain = ExecInitQual(plan.conditions, state);
  if (flags & EXEC_FLAG_BACKWARD)
    scan->backward = ExecInitQual(list_concat_copy(plan.before, plan.probes), state);
  state->subPlan = subplans;
  scan->filters =
      AllocSetContextCreate(estate->es_query_cxt, "Bloom Filter Scan", ALLOCSET_DEFAULT_SIZES);
  scan->items = {nullptr, scan->values, scan->nulls, 0,
                 AllocSetContextCreate(estate->es_query_cxt, "Bloom Filter Scan values",
                                       ALLOCSET_DEFAULT_SIZES)};
}

void end(CustomScanState *node) {
  if (node->ss.ss_currentScanDesc)
    table_endscan(node->ss.ss_currentScanDesc);
}

void forget_filters(FilterScan *scan) {
  for (int i = 0; i < scan->ask_count; i++)
    scan->asks[i].known = false;
  MemoryContextReset(scan->filters);
}

void rescan(CustomScanState *node) {
  FilterScan *scan = scan_of(node);
  if (node->ss.ps.chgParam)
    forget_filters(scan);
  forget_batch(scan);
  scan->is_backward = false;
  if (node->ss.ss_currentScanDesc)
    table_rescan(node->ss.ss_currentScanDesc, nullptr);
  ExecScanReScan(&node->ss);
}

// --- in parallel ---------------------------------------------------------------------------------

ParallelTableScanDesc table_scan_behind(Shared *shared) {
  return reinterpret_cast<ParallelTableScanDesc>(reinterpret_cast<char *>(shared) +
                                                 MAXALIGN(sizeof(Shared)));
}

Size estimate_shared(CustomScanState *node, ParallelContext *) {
  return add_size(
      MAXALIGN(sizeof(Shared)),
      table_parallelscan_estimate(node->ss.ss_currentRelation, node->ss.ps.state->es_snapshot));
}

void join_shared(CustomScanState *node, shm_toc *, void *memory) {
  FilterScan *scan = scan_of(node);
  scan->shared = static_cast<Shared *>(memory);
  set_scan(scan,
           table_beginscan_parallel(node->ss.ss_currentRelation, table_scan_behind(scan->shared)));
}

void init_shared(CustomScanState *node, ParallelContext *, void *memory) {
  auto *shared = static_cast<Shared *>(memory);
  pg_atomic_init_u64(&shared->bytes, 0);
  pg_atomic_init_u64(&shared->in_memory, 0);
  pg_atomic_init_u64(&shared->rate_bits, 0);
  table_parallelscan_initialize(node->ss.ss_currentRelation, table_scan_behind(shared),
                                node->ss.ps.state->es_snapshot);
  join_shared(node, nullptr, memory);
}

void reinit_shared(CustomScanState *node, ParallelContext *, void *memory) {
  table_parallelscan_reinitialize(node->ss.ss_currentRelation,
                                  table_scan_behind(static_cast<Shared *>(memory)));
}

Shown highest(const Shown &a, const Shown &b) {
  return {Max(a.bytes, b.bytes), Max(a.in_memory, b.in_memory), Max(a.rate, b.rate)};
}

// Adds up the filters of a process that has asked them.
void note_filters(FilterScan *scan) {
  Shown shown = {};
  for (int i = 0; i < scan->ask_count; i++) {
    const AskedFilter &filter = scan->asks[i].memory.filter;
    if (!scan->asks[i].known || scan->asks[i].is_null || !scan->asks[i].element)
      continue;
    shown.bytes += VARHDRSZ + filter.header.payload_bytes();
    shown.in_memory += filter.payload ? VARHDRSZ + filter.header.payload_bytes() : 0;
  }
  scan->shown = highest(scan->shown, shown);
}

// Before what is shared goes.
void shutdown(CustomScanState *node) {
  FilterScan *scan = scan_of(node);
  note_filters(scan);
  Shared *shared = scan->shared;
  if (!shared)
    return;
  if (IsParallelWorker()) {
    if (scan->shown.bytes > 0)
      pg_atomic_write_u64(&shared->bytes, scan->shown.bytes);
    if (scan->shown.in_memory > 0)
      pg_atomic_write_u64(&shared->in_memory, scan->shown.in_memory);
    if (scan->shown.rate > 0)
      pg_atomic_write_u64(&shared->rate_bits, double_bits(scan->shown.rate));
    return;
  }
  scan->shown = highest(scan->shown,
                        {pg_atomic_read_u64(&shared->bytes), pg_atomic_read_u64(&shared->in_memory),
                         bits_double(pg_atomic_read_u64(&shared->rate_bits))});
  scan->shared = nullptr;
}

// --- EXPLAIN -------------------------------------------------------------------------------------

void explain_conditions(const char *label, List *conditions, CustomScanState *node, List *ancestors,
                        ExplainState *explained) {
  if (conditions == NIL)
    return;
  List *context = set_deparse_context_plan(explained->deparse_cxt, node->ss.ps.plan, ancestors);
  Node *condition = reinterpret_cast<Node *>(make_ands_explicit(conditions));
  ExplainPropertyText(label, deparse_expression(condition, context, explained->verbose, false),
                      explained);
}

// The mean of all loops, which text leaves out if there was none.
void explain_removed(const char *label, double rows, const Instrumentation *instrument,
                     ExplainState *explained) {
  if (instrument->nloops > 0 || explained->format != EXPLAIN_FORMAT_TEXT)
    ExplainPropertyFloat(label, nullptr, rows / Max(instrument->nloops, 1.0), 0, explained);
}

// Digits behind the point of so many per cent, of which two are not zero; of next to nothing two.
int digits_of(double percent) {
  return percent < 1e-8 ? 2 : Max(2, 1 - static_cast<int>(std::floor(std::log10(percent))));
}

void explain(CustomScanState *node, List *ancestors, ExplainState *explained) {
  FilterScan *scan = scan_of(node);
  const BatchPlan plan = plan_of(node);
  const Instrumentation *instrument = explained->analyze ? node->ss.ps.instrument : nullptr;
  explain_conditions("Filter Before", plan.before, node, ancestors, explained);
  if (instrument && plan.before != NIL && node->ss.ps.plan->qual == NIL) // else the server does
    explain_removed("Rows Removed by Filter", instrument->nfiltered1, instrument, explained);
  explain_conditions("Bloom Filter", plan.probes, node, ancestors, explained);
  if (!instrument)
    return;
  explain_removed("Rows Removed by Bloom Filter", instrument->nfiltered2, instrument, explained);
  note_filters(scan);
  const auto [bytes, in_memory, rate] = scan->shown;
  if (bytes == 0)
    return;
  ExplainPropertyInteger("Bloom Filter Size", "kB", (bytes + 1023) / 1024, explained);
  ExplainPropertyText("Bloom Filter Access", in_memory == bytes ? "in memory" : "by slice",
                      explained);
  if (rate > 0)
    ExplainPropertyFloat("Bloom Filter Rate", "%", 100 * rate, digits_of(100 * rate), explained);
}

constexpr CustomExecMethods kExecMethods = {
    "Bloom Filter Scan", begin,       exec,          end,         rescan,   nullptr, nullptr,
    estimate_shared,     init_shared, reinit_shared, join_shared, shutdown, explain};

Node *create_state(CustomScan *) {
  auto *scan = static_cast<FilterScan *>(palloc0(sizeof(FilterScan)));
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
