// Batches: which rows come into one, and what asking it leaves (batch.hpp).

#include "pg/table/batch.hpp"

#include "pg/planner/sample.hpp"

extern "C" {
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
}

namespace bloomfilter {
namespace {

// Of values that were detoasted or computed, before they are asked for.
constexpr Size kMaxMemory = 1024 * 1024;

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

// The false positive rate of a filter that is being asked, from a sample of its bits; 0 if it is
// not known. (Later it may be gone, with the row that it came from.) One that is asked by slice is
// sampled once for all scans of a statement, as of the partitions of a table.
double rate_of(const Ask &ask, const AskedFilter &filter) {
  static struct {
    TimestampTz statement;
    struct varatt_external pointer;
    double rate;
  } sampled;
  if (filter.payload)
    return sample_payload(filter.payload, filter.header).rate;
  const TimestampTz statement = GetCurrentStatementStartTimestamp();
  const struct varatt_external &pointer = ask.memory.pointer;
  if (sampled.statement != statement || memcmp(&sampled.pointer, &pointer, sizeof pointer) != 0) {
    Header header;
    sampled = {statement, pointer, sample_filter(ask.filter, &header).rate};
  }
  return sampled.rate;
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
    if (unlikely(!ask->sampled) && state_of(scan)->ps.instrument) { // for EXPLAIN ANALYZE alone
      ask->sampled = true;
      scan->shown.rate = Max(scan->shown.rate, rate_of(*ask, *filter));
    }
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

} // namespace

TupleTableSlot *next_of_batches(FilterScan *scan) {
  while (!scan->ended && scan->next == scan->count)
    scan->ended = !next_batch(scan);
  return scan->ended ? nullptr : slot_of(scan, scan->candidates[scan->next++]);
}

void forget_batch(FilterScan *scan) {
  scan->next = scan->count = scan->next_row = scan->row_count = 0;
  scan->behind_last = scan->ended = false;
}

} // namespace bloomfilter
