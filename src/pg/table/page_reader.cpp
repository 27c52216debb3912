// See page_reader.hpp. For a heap, this file relies on the fields of HeapScanDesc.

#include "pg/table/page_reader.hpp"

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/query/expression.hpp"

extern "C" {
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "nodes/nodeFuncs.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"
}

namespace bloomfilter {
namespace {

// The limit, in bytes, for collected values that were detoasted or computed.
constexpr Size kMaxMemory = 1024 * 1024;

bool reads_pages(TableScanDesc scan) {
  return scan->rs_rd->rd_tableam == GetHeapamTableAmRoutine() &&
         (scan->rs_flags & SO_ALLOW_PAGEMODE) != 0;
}

TupleTableSlot **make_slots(Relation table, EState *estate) {
  const MemoryContext before = MemoryContextSwitchTo(estate->es_query_cxt);
  auto *slots = make_array<TupleTableSlot *>(kSlots);
  for (int i = 0; i < kSlots; i++)
    slots[i] = ExecAllocTableSlot(&estate->es_tupleTable, RelationGetDescr(table),
                                  table_slot_callbacks(table), TTS_FLAG_OBEYS_NOT_NULL_CONSTRAINTS);
  MemoryContextSwitchTo(before);
  return slots;
}

// If a page is not in the server's buffers, the next pages are probably not there either. So this
// number of pages is read before a page is looked for again.
constexpr uint32 kPagesToSkip = 64;

// Prefetches the next page into the processor's cache, if the page is in the server's buffers. The
// rows of the current page are used in the meantime. Otherwise the processor would wait for the
// first bytes of each row.
//
// Nothing is read from the next page: the page is not pinned, and its buffer may be given to
// another page. If the page is not in the buffers, PrefetchBuffer() asks the operating system to
// read it. The operating system has likely done so already.
void prefetch_next_page(PageReader *reader) {
  constexpr int kCacheLine = 64;
  const HeapScanDesc heap = heap_of(reader);
  const BlockNumber next = heap->rs_cblock + 1;
  if (reader->pages_to_skip > 0) {
    reader->pages_to_skip--;
    return;
  }
  if (next >= heap->rs_nblocks)
    return;
  const Buffer buffer = PrefetchBuffer(heap->rs_base.rs_rd, MAIN_FORKNUM, next).recent_buffer;
  if (!BufferIsValid(buffer)) {
    reader->pages_to_skip = kPagesToSkip;
    return;
  }
  // Tuples fill a page from its end.
  const Page page = BufferGetPage(buffer);
  for (int line = BLCKSZ - kCacheLine; line >= 0; line -= kCacheLine)
    __builtin_prefetch(page + line);
}

// Takes all visible rows of the next page. The table scan finds the first row. Then it is moved to
// the last row.
bool read_page(PageReader *reader) {
  if (!table_scan_getnextslot(reader->scan, ForwardScanDirection, reader->slot))
    return false;
  HeapScanDesc heap = heap_of(reader);
  prefetch_next_page(reader);
  for (auto i = heap->rs_cindex; i < heap->rs_ntuples; i++)
    reader->rows[reader->count++] = heap->rs_vistuples[i];
  // The table scan has counted the first row in the statistics. The others are counted as if an
  // index had returned them, which adds to the same number.
  pgstat_count_index_tuples(reader->scan->rs_rd, reader->count - 1);
  heap->rs_cindex = heap->rs_ntuples - 1;
  return true;
}

// Copies rows into slots of our own. A copy is needed because an access method may put memory of
// its scan into a slot, as a heap does with a tuple's header. After the last row, the table scan is
// not called again, because it may begin with the first row again.
bool read_copies(PageReader *reader) {
  uint16 slot = 0;
  for (; slot < kSlots && !reader->past_last; slot++) {
    if (table_scan_getnextslot(reader->scan, ForwardScanDirection, reader->slots[slot])) {
      ExecMaterializeSlot(reader->slots[slot]);
      reader->rows[reader->count++] = slot;
    } else {
      reader->past_last = true;
    }
  }
  return reader->count > 0;
}

bool read_input(PageReader *reader) {
  reader->slot = ExecProcNode(reader->input);
  if (TupIsNull(reader->slot))
    return false;
  ResetExprContext(reader->context);
  reader->context->ecxt_scantuple = reader->slot;
  reader->count = 1;
  return true;
}

// Computes a value from the row that the expressions see.
Datum row_value_of(ExprContext *context, const RowValue &value, bool *is_null) {
  if (value.expression)
    return ExecEvalExpr(value.expression, context, is_null);
  if (!value.fields)
    return slot_getattr(context->ecxt_scantuple, value.column, is_null);
  *is_null = false;
  auto *fields = make_array<NullableDatum>(value.field_count);
  for (int i = 0; i < value.field_count; i++)
    fields[i].value = row_value_of(context, value.fields[i], &fields[i].isnull);
  return PointerGetDatum(fields);
}

// Adds a row's value, unless the value is NULL.
void collect(Values *values, uint16 row, Datum value, bool is_null) {
  Items *items = &values->items;
  items->values[items->count] = value;
  values->rows[items->count] = row;
  items->count += is_null ? 0 : 1;
}

// Collects the values of a column from a page. The values are not copied.
void collect_column(PageReader *reader, AttrNumber column, const uint16 *rows, int count,
                    Values *values) {
  const TupleDesc descriptor = RelationGetDescr(reader->scan->rs_rd);
  const Page page = BufferGetPage(heap_of(reader)->rs_cbuf);
  HeapTupleData tuple = reader->tuple;
  for (int i = 0; i < count; i++) {
    bool is_null;
    tuple.t_data = tuple_at(page, rows[i]);
    const Datum value = heap_getattr(&tuple, column, descriptor, &is_null);
    collect(values, rows[i], value, is_null);
  }
}

RowValue init_formed(Node *value, PlanState *node) {
  Node *plain = without_relabeling(value);
  const AttrNumber column = IsA(plain, Var) ? castNode(Var, plain)->varattno : InvalidAttrNumber;
  const bool is_column = column != InvalidAttrNumber; // no whole row
  return {value, column, is_column ? nullptr : ExecInitExpr(reinterpret_cast<Expr *>(value), node),
          nullptr, 0};
}

} // namespace

void open_reader(PageReader *reader, TableScanDesc scan, PlanState *node, TupleTableSlot *slot) {
  reader->scan = scan;
  reader->context = node->ps_ExprContext;
  reader->slot = slot;
  reader->slots = reads_pages(scan) ? nullptr : make_slots(scan->rs_rd, node->state);
  reader->tuple.t_tableOid = RelationGetRelid(scan->rs_rd);
}

void open_input(PageReader *reader, PlanState *input, PlanState *node) {
  reader->input = input;
  reader->context = node->ps_ExprContext;
  reader->slots = &reader->slot; // its row has the number 0
}

bool read_rows(PageReader *reader) {
  reader->count = 0;
  if (reader->input)
    return read_input(reader);
  return reader->slots ? read_copies(reader) : read_page(reader);
}

void forget_rows(PageReader *reader) {
  reader->count = 0;
  reader->past_last = false;
}

void move_scan_to(PageReader *reader, uint16 row) {
  if (!reader->slots) {
    HeapScanDesc heap = heap_of(reader);
    while (heap->rs_vistuples[heap->rs_cindex] != row)
      heap->rs_cindex--;
    return;
  }
  const int last = reader->past_last ? reader->count : reader->count - 1;
  for (int i = last; i > row; i--)
    table_scan_getnextslot(reader->scan, BackwardScanDirection, reader->slots[row]);
}

int filter_rows(PageReader *reader, ExprState *conditions, const uint16 *rows, int count,
                uint16 *left) {
  ExprContext *context = reader->context;
  const MemoryContext memory = context->ecxt_per_tuple_memory;
  int kept = 0;
  for (int i = 0; i < count; i++) {
    const uint16 row = rows[i];
    show_row(reader, row);
    left[kept] = row;
    kept += ExecQual(conditions, context) ? 1 : 0;
    if (!memory->isReset || memory->firstchild) {
      MemoryContextReset(memory);
      CHECK_FOR_INTERRUPTS();
    }
  }
  return kept;
}

RowValue init_value(Node *value, PlanState *node) {
  const RowExpr *row = anonymous_row(value);
  if (!row)
    return init_formed(value, node);
  RowValue made = {value, InvalidAttrNumber, nullptr, nullptr, list_length(row->args)};
  made.fields = make_array<RowValue>(made.field_count);
  for (int i = 0; i < made.field_count; i++)
    made.fields[i] = init_formed(static_cast<Node *>(list_nth(row->args, i)), node);
  return made;
}

ValueType *value_type_of(const RowValue &value, Oid collation, MemoryContext context) {
  return value.fields ? unformed_rows(anonymous_row(value.node)->args, context)
                      : resolve_value_type(exprType(value.node), collation, context);
}

void init_values(Values *values, MemoryContext scratch) {
  values->items = {nullptr, values->values, values->nulls, 0, scratch};
}

int collect_values(PageReader *reader, const RowValue &value, const uint16 *rows, int count,
                   Values *values) {
  values->items.count = 0;
  if (value.column != InvalidAttrNumber && !reader->slots) {
    collect_column(reader, value.column, rows, count, values);
    return count;
  }
  const MemoryContext memory = reader->context->ecxt_per_tuple_memory;
  const MemoryContext before = MemoryContextSwitchTo(memory);
  MemoryContextReset(memory);
  int next = 0;
  for (; next < count && MemoryContextMemAllocated(memory, false) < kMaxMemory; next++) {
    bool is_null;
    CHECK_FOR_INTERRUPTS();
    show_row(reader, rows[next]);
    const Datum item = row_value_of(reader->context, value, &is_null);
    collect(values, rows[next], item, is_null);
  }
  MemoryContextSwitchTo(before);
  return next;
}

} // namespace bloomfilter
