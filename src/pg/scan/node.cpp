// The executor's part of a Bloom Filter Scan.
//
// A batch is the visible rows of a heap page, or rows in as many slots. Its candidates are asked
// for one condition after the other, and those that are left are returned one by one, until the
// next batch. While its rows are returned the page stays pinned by the table scan, which is not
// asked for the next row before; so what the candidates are, line pointers of that page, holds.

#include "pg/scan/scan.hpp"

#include "pg/items.hpp"
#include "pg/stored.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/parallel.h"
#include "access/relscan.h"
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
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
}

namespace bloomfilter {
namespace {

// More pinned pages than these cost more than the batch gains.
constexpr int kSlots = 16;
constexpr int kMaxCandidates = Max(MaxHeapTuplesPerPage, kSlots);
// Of values that were detoasted or computed, before they are asked for.
constexpr Size kMaxMemory = 1024 * 1024;

struct Ask {
  ExprState *filter_state, *value_state; // the latter NULL if the value is a column
  ExprState *reached;                    // would a sequential scan ask the filter for a row?
  Element *element;                      // NULL before the first value
  Datum filter;
  FilterMemory memory;
  Oid type, collation; // of the value
  AttrNumber column;
  bool known, is_null; // is the filter evaluated?
};

// What EXPLAIN shows of the filters.
struct Sizes {
  uint64 bytes, in_memory;
};

// What processes share, in front of the table scan's own.
struct Shared {
  pg_atomic_uint64 bytes, in_memory; // as one of them has seen
};

struct FilterScan {
  CustomScanState node; // first
  Ask *asks;
  ExprState *before;      // conditions of lower security levels
  ExprState *plain;       // all conditions, in the server's order
  ExprState *backward;    // those that batches fulfil; NULL unless the scan may go backward
  MemoryContext filters;  // what their expressions gave
  TupleTableSlot **slots; // NULL while pages are read
  Shared *shared;         // NULL: not in parallel
  Sizes sizes;
  HeapTupleData tuple; // of the page
  int ask_count;
  int expected;            // rows for which the filters will be asked; 0: not known
  int row_count, next_row; // of the page or the slots, which come into batches
  int count, next;         // of the batch
  bool one_by_one;         // are batches of one row each?
  bool behind_last;        // is the table scan's last row among the slots, or gone?
  bool ended;
  bool is_backward; // has the table scan last gone backward?
  Items items;      // the values of `collected`
  Datum values[kMaxCandidates];
  bool nulls[kMaxCandidates];
  uint16 rows[kMaxCandidates], candidates[kMaxCandidates],
      collected[kMaxCandidates]; // line pointers, or slots
};

FilterScan *scan_of(CustomScanState *node) {
  return reinterpret_cast<FilterScan *>(node);
}

ScanState *state_of(FilterScan *scan) {
  return &scan->node.ss;
}

HeapScanDesc heap_of(FilterScan *scan) {
  return reinterpret_cast<HeapScanDesc>(state_of(scan)->ss_currentScanDesc);
}

// --- candidates ----------------------------------------------------------------------------------

HeapTupleHeader tuple_at(Page page, OffsetNumber line) {
  return reinterpret_cast<HeapTupleHeader>(PageGetItem(page, PageGetItemId(page, line)));
}

void set_tuple(FilterScan *scan, OffsetNumber line) {
  HeapScanDesc heap = heap_of(scan);
  const Page page = BufferGetPage(heap->rs_cbuf);
  scan->tuple.t_data = tuple_at(page, line);
  scan->tuple.t_len = ItemIdGetLength(PageGetItemId(page, line));
  ItemPointerSet(&scan->tuple.t_self, heap->rs_cblock, line);
}

// A candidate in the slot that the node returns.
TupleTableSlot *slot_of(FilterScan *scan, uint16 candidate) {
  ScanState *state = state_of(scan);
  if (scan->slots)
    return state->ss_ScanTupleSlot = scan->slots[candidate];
  set_tuple(scan, candidate);
  return ExecStoreBufferHeapTuple(&scan->tuple, state->ss_ScanTupleSlot, heap_of(scan)->rs_cbuf);
}

Datum value_of(FilterScan *scan, const Ask &ask, uint16 candidate, bool *is_null) {
  ExprContext *context = state_of(scan)->ps.ps_ExprContext;
  if (!ask.value_state)
    return slot_getattr(scan->slots[candidate], ask.column, is_null);
  context->ecxt_scantuple = slot_of(scan, candidate);
  return ExecEvalExpr(ask.value_state, context, is_null);
}

// Leaves the candidates that fulfil conditions, asked one by one.
void keep(FilterScan *scan, ExprState *conditions) {
  ExprContext *context = state_of(scan)->ps.ps_ExprContext;
  int left = 0;
  for (int i = 0; i < scan->count; i++) {
    const uint16 candidate = scan->candidates[i];
    context->ecxt_scantuple = slot_of(scan, candidate);
    scan->candidates[left] = candidate;
    left += ExecQualAndReset(conditions, context) ? 1 : 0;
  }
  InstrCountFiltered1(scan, scan->count - left);
  scan->count = left;
}

// --- asking --------------------------------------------------------------------------------------

// Does any candidate come to the question, row by row? Only then is the filter evaluated, or are
// errors raised that it gives.
bool is_reached(FilterScan *scan, const Ask &ask) {
  ExprContext *context = state_of(scan)->ps.ps_ExprContext;
  for (int i = 0; i < scan->count; i++) {
    context->ecxt_scantuple = slot_of(scan, scan->candidates[i]);
    if (ExecQualAndReset(ask.reached, context))
      return true;
  }
  return false;
}

void evaluate(FilterScan *scan, Ask *ask) {
  const MemoryContext before = MemoryContextSwitchTo(scan->filters);
  ask->filter = ExecEvalExpr(ask->filter_state, state_of(scan)->ps.ps_ExprContext, &ask->is_null);
  auto *value = reinterpret_cast<struct varlena *>(DatumGetPointer(ask->filter));
  if (!ask->is_null && !VARATT_IS_EXTERNAL_ONDISK(value))
    ask->filter = PointerGetDatum(PG_DETOAST_DATUM(ask->filter));
  ask->memory = {};
  ask->known = true;
  MemoryContextSwitchTo(before);
}

// The filter, to be asked now.
AskedFilter *asked_filter(FilterScan *scan, Ask *ask) {
  if (!ask->element)
    ask->element =
        resolve_element(ask->type, ask->collation, state_of(scan)->ps.state->es_query_cxt);
  return find_filter(ask->filter, &ask->memory);
}

// Adds a candidate and its value, unless that is NULL.
void collect(FilterScan *scan, uint16 candidate, Datum value, bool is_null) {
  Items *items = &scan->items;
  items->values[items->count] = value;
  scan->collected[items->count] = candidate;
  items->count += is_null ? 0 : 1;
}

// The values of a page's column, which stay where they are.
int collect_column(FilterScan *scan, AttrNumber column, int first) {
  const TupleDesc descriptor = RelationGetDescr(state_of(scan)->ss_currentRelation);
  const Page page = BufferGetPage(heap_of(scan)->rs_cbuf);
  HeapTupleData tuple = scan->tuple;
  for (int i = first; i < scan->count; i++) {
    bool is_null;
    tuple.t_data = tuple_at(page, scan->candidates[i]);
    const Datum value = heap_getattr(&tuple, column, descriptor, &is_null);
    collect(scan, scan->candidates[i], value, is_null);
  }
  return scan->count;
}

// The values of candidates from `first` on, those that are NULL left out: as many as fit into some
// memory. Returns the candidate behind the last.
int collect_values(FilterScan *scan, const Ask &ask, int first) {
  scan->items.count = 0;
  if (!ask.value_state && !scan->slots)
    return collect_column(scan, ask.column, first);
  const MemoryContext memory = state_of(scan)->ps.ps_ExprContext->ecxt_per_tuple_memory;
  const MemoryContext before = MemoryContextSwitchTo(memory);
  MemoryContextReset(memory);
  int next = first;
  for (; next < scan->count && MemoryContextMemAllocated(memory, false) < kMaxMemory; next++) {
    bool is_null;
    const Datum value = value_of(scan, ask, scan->candidates[next], &is_null);
    collect(scan, scan->candidates[next], value, is_null);
  }
  MemoryContextSwitchTo(before);
  return next;
}

// Leaves the candidates that the filter does not refuse.
void ask_candidates(FilterScan *scan, Ask *ask) {
  Items *items = &scan->items;
  bool answers[kMaxCandidates];
  int left = 0;
  for (int next = 0; next < scan->count;) {
    next = collect_values(scan, *ask, next);
    if (items->count == 0)
      continue;
    AskedFilter *filter = asked_filter(scan, ask);
    filter->expect(Max(items->count, scan->expected));
    items->element = ask->element;
    for (int item = 0; item < items->count;)
      item = ask_items(filter, *items, item, answers);
    for (int i = 0; i < items->count; i++) {
      scan->candidates[left] = scan->collected[i];
      left += answers[i] ? 1 : 0;
    }
  }
  InstrCountFiltered2(scan, scan->count - left);
  scan->count = left;
}

// --- batches -------------------------------------------------------------------------------------

// Rows are read one after the other, and lie in the page from its end on.
void prefetch_rows(Page page) {
  constexpr int kCacheLine = 64;
  const int first = reinterpret_cast<PageHeader>(page)->pd_upper;
  for (int line = BLCKSZ - kCacheLine; line > first - kCacheLine; line -= kCacheLine)
    __builtin_prefetch(page + line);
}

// All rows of the next page that has any. The table scan then stands on its last one.
bool next_page(FilterScan *scan) {
  ScanState *state = state_of(scan);
  if (!table_scan_getnextslot(state->ss_currentScanDesc, ForwardScanDirection,
                              state->ss_ScanTupleSlot))
    return false;
  HeapScanDesc heap = heap_of(scan);
  prefetch_rows(BufferGetPage(heap->rs_cbuf));
  for (auto i = heap->rs_cindex; i < heap->rs_ntuples; i++)
    scan->rows[scan->row_count++] = heap->rs_vistuples[i];
  // It has counted the first one; what indexes give is counted where what scans give is.
  pgstat_count_index_tuples(state->ss_currentRelation, scan->row_count - 1);
  heap->rs_cindex = heap->rs_ntuples - 1;
  return true;
}

// Copies, for what an access method puts into a slot may belong to its scan, as heap's tuple header
// does. Asked again after its last row, it may begin with the first one.
bool next_slots(FilterScan *scan) {
  uint16 slot = 0;
  for (; slot < kSlots && !scan->behind_last; slot++) {
    if (table_scan_getnextslot(state_of(scan)->ss_currentScanDesc, ForwardScanDirection,
                               scan->slots[slot])) {
      ExecMaterializeSlot(scan->slots[slot]);
      scan->rows[scan->row_count++] = slot;
    } else {
      scan->behind_last = true;
    }
  }
  return scan->row_count > 0;
}

// Makes rows candidates: all of them, or where a value can fail, one, so that the rows before it
// are returned first.
bool next_candidates(FilterScan *scan) {
  scan->next = scan->count = 0;
  if (scan->next_row == scan->row_count) {
    scan->next_row = scan->row_count = 0;
    if (!(scan->slots ? next_slots : next_page)(scan))
      return false;
  }
  const int end = scan->one_by_one ? scan->next_row + 1 : scan->row_count;
  while (scan->next_row < end)
    scan->candidates[scan->count++] = scan->rows[scan->next_row++];
  return true;
}

// False after the last one, and if a filter is NULL, which lets nothing through.
bool next_batch(FilterScan *scan) {
  if (!next_candidates(scan))
    return false;
  if (scan->before)
    keep(scan, scan->before);
  for (int i = 0; i < scan->ask_count && scan->count > 0; i++) {
    Ask *ask = &scan->asks[i];
    if (!ask->known) {
      if (!is_reached(scan, *ask)) { // so other conditions refuse them
        InstrCountFiltered1(scan, scan->count);
        scan->count = 0;
        break;
      }
      evaluate(scan, ask);
    }
    if (ask->is_null)
      return false;
    ask_candidates(scan, ask);
  }
  return true;
}

void forget_batch(FilterScan *scan) {
  scan->next = scan->count = scan->next_row = scan->row_count = 0;
  scan->behind_last = scan->ended = false;
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
  while (!scan->ended && scan->next == scan->count)
    scan->ended = !next_batch(scan);
  return scan->ended ? ExecClearTuple(state->ss_ScanTupleSlot)
                     : slot_of(scan, scan->candidates[scan->next++]);
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

void init_ask(FilterScan *scan, Node *condition, List *conditions_before, Ask *ask) {
  PlanState *state = &scan->node.ss.ps;
  AskCall call;
  if (!is_ask(condition, &call)) // its function was altered since, as EvalPlanQual comes late
    elog(ERROR, "Bloom Filter Scan has a condition that asks no filter any more");
  ask->filter_state = ExecInitExpr(reinterpret_cast<Expr *>(call.filter), state);
  ask->column = column_of(call.value);
  if (ask->column == InvalidAttrNumber)
    ask->value_state = ExecInitExpr(reinterpret_cast<Expr *>(call.value), state);
  ask->reached = init_reached(state, call.value, conditions_before);
  ask->type = exprType(call.value);
  ask->collation = call.collation;
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

const List *ask_positions(const CustomScan *plan) {
  return static_cast<List *>(linitial(plan->custom_private));
}

List *conditions_at(const CustomScan *plan, const List *positions) {
  List *conditions = NIL;
  const ListCell *cell;
  foreach (cell, positions)
    conditions = lappend(conditions, list_nth(plan->custom_exprs, lfirst_int(cell)));
  return conditions;
}

List *asks_of(const CustomScan *plan) {
  return conditions_at(plan, ask_positions(plan));
}

List *before_of(const CustomScan *plan) {
  return conditions_at(plan, static_cast<List *>(lsecond(plan->custom_private)));
}

void begin(CustomScanState *node, EState *estate, int flags) {
  FilterScan *scan = scan_of(node);
  PlanState *state = &node->ss.ps;
  const auto *plan = reinterpret_cast<CustomScan *>(state->plan);
  init_slot(&node->ss, estate);
  const List *positions = ask_positions(plan);
  scan->ask_count = list_length(positions);
  scan->one_by_one = intVal(lthird(plan->custom_private)) != 0;
  scan->expected = intVal(lfourth(plan->custom_private));
  scan->before = ExecInitQual(before_of(plan), state);
  List *subplans = list_copy(state->subPlan); // none of them twice, or workers count them twice
  scan->asks = static_cast<Ask *>(palloc0(scan->ask_count * sizeof(Ask)));
  for (int i = 0; i < scan->ask_count; i++) {
    const int at = list_nth_int(positions, i);
    init_ask(scan, static_cast<Node *>(list_nth(plan->custom_exprs, at)),
             list_truncate(list_copy(plan->custom_exprs), at), &scan->asks[i]);
  }
  scan->plain = ExecInitQual(plan->custom_exprs, state);
  if (flags & EXEC_FLAG_BACKWARD)
    scan->backward = ExecInitQual(list_concat(before_of(plan), asks_of(plan)), state);
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
  table_parallelscan_initialize(node->ss.ss_currentRelation, table_scan_behind(shared),
                                node->ss.ps.state->es_snapshot);
  join_shared(node, nullptr, memory);
}

void reinit_shared(CustomScanState *node, ParallelContext *, void *memory) {
  table_parallelscan_reinitialize(node->ss.ss_currentRelation,
                                  table_scan_behind(static_cast<Shared *>(memory)));
}

// Adds up the filters of a process that has asked them.
void note_sizes(FilterScan *scan) {
  Sizes sizes = {};
  for (int i = 0; i < scan->ask_count; i++) {
    const AskedFilter &filter = scan->asks[i].memory.filter;
    if (!scan->asks[i].known || scan->asks[i].is_null || !scan->asks[i].element)
      continue;
    sizes.bytes += VARHDRSZ + filter.header.payload_bytes();
    sizes.in_memory += filter.payload ? VARHDRSZ + filter.header.payload_bytes() : 0;
  }
  scan->sizes = {Max(scan->sizes.bytes, sizes.bytes), Max(scan->sizes.in_memory, sizes.in_memory)};
}

// Before what is shared goes.
void shutdown(CustomScanState *node) {
  FilterScan *scan = scan_of(node);
  note_sizes(scan);
  Shared *shared = scan->shared;
  if (!shared)
    return;
  if (IsParallelWorker()) {
    if (scan->sizes.bytes > 0)
      pg_atomic_write_u64(&shared->bytes, scan->sizes.bytes);
    if (scan->sizes.in_memory > 0)
      pg_atomic_write_u64(&shared->in_memory, scan->sizes.in_memory);
    return;
  }
  scan->sizes = {Max(scan->sizes.bytes, pg_atomic_read_u64(&shared->bytes)),
                 Max(scan->sizes.in_memory, pg_atomic_read_u64(&shared->in_memory))};
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

void explain(CustomScanState *node, List *ancestors, ExplainState *explained) {
  FilterScan *scan = scan_of(node);
  const auto *plan = reinterpret_cast<CustomScan *>(node->ss.ps.plan);
  const Instrumentation *instrument = explained->analyze ? node->ss.ps.instrument : nullptr;
  List *before = before_of(plan);
  explain_conditions("Filter Before", before, node, ancestors, explained);
  if (instrument && before != NIL && plan->scan.plan.qual == NIL) // else the server does
    explain_removed("Rows Removed by Filter", instrument->nfiltered1, instrument, explained);
  explain_conditions("Bloom Filter", asks_of(plan), node, ancestors, explained);
  if (!instrument)
    return;
  explain_removed("Rows Removed by Bloom Filter", instrument->nfiltered2, instrument, explained);
  note_sizes(scan);
  if (scan->sizes.bytes == 0)
    return;
  ExplainPropertyInteger("Bloom Filter Size", "kB", (scan->sizes.bytes + 1023) / 1024, explained);
  ExplainPropertyText("Bloom Filter Access",
                      scan->sizes.in_memory == scan->sizes.bytes ? "in memory" : "by slice",
                      explained);
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
