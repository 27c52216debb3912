// See heap_reader.hpp.

#include "pg/bloompages/heap_reader.hpp"

#include "pg/compat.hpp"
#include "pg/index_page.hpp"
#include "pg/value/toasted.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_index.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "storage/procarray.h"
}

namespace bloomfilter {
namespace {

HeapTupleData heap_tuple_at(const HeapReader *reader, Page page, BlockNumber block,
                            OffsetNumber line) {
  const ItemId item = PageGetItemId(page, line);
  HeapTupleData tuple;
  tuple.t_data = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
  tuple.t_len = ItemIdGetLength(item);
  tuple.t_tableOid = RelationGetRelid(reader->table);
  ItemPointerSet(&tuple.t_self, block, line);
  return tuple;
}

// True if the insertion of a row was rolled back, or ended with a crash.
bool was_rolled_back(HeapTupleHeader row) {
  if (HeapTupleHeaderXminCommitted(row))
    return false;
  const TransactionId xmin = HeapTupleHeaderGetXmin(row);
  return !TransactionIdIsCurrentTransactionId(xmin) && !TransactionIdIsInProgress(xmin) &&
         !TransactionIdDidCommit(xmin);
}

// True if no transaction has deleted or updated a row, as far as the row itself says.
bool is_counted(HeapTupleHeader row) {
  return (row->t_infomask & HEAP_XMAX_INVALID) != 0 || HEAP_XMAX_IS_LOCKED_ONLY(row->t_infomask);
}

// True if a row with expressions is left out, because it is dead to all.
bool is_left_out(HeapReader *reader, HeapTuple row, Buffer buffer) {
  if (!reader->expressions ||
      HeapTupleSatisfiesVacuum(row, reader->expressions->horizon, buffer) != HEAPTUPLE_DEAD)
    return false;
  // If nobody has deleted it, its insertion was rolled back just now, and no snapshot sees it.
  if (!is_counted(row->t_data))
    reader->skipped = newer_of(reader->skipped, HeapTupleHeaderGetUpdateXid(row->t_data));
  return true;
}

// Finds the rows of a page that are read, and counts those that are not deleted. The caller holds a
// share lock on the page.
int find_line_pointers(HeapReader *reader, Buffer buffer, OffsetNumber *rows) {
  int count = 0;
  Page page = BufferGetPage(buffer);
  const OffsetNumber last = PageGetMaxOffsetNumber(page);
  for (OffsetNumber line = FirstOffsetNumber; line <= last; line++) {
    const ItemId item = PageGetItemId(page, line);
    if (!ItemIdIsNormal(item))
      continue;
    HeapTupleData row = heap_tuple_at(reader, page, BufferGetBlockNumber(buffer), line);
    if (was_rolled_back(row.t_data) || is_left_out(reader, &row, buffer))
      continue;
    reader->rows += is_counted(row.t_data) ? 1 : 0;
    rows[count++] = line;
  }
  return count;
}

// Calls use(row) for each row in the pages begin ... end - 1 that is read.
template <typename Use> void read_heap_rows(HeapReader *reader, uint64 begin, uint64 end, Use use) {
  for (uint64 number = begin; number < end; number++) {
    reader->pause();
    const auto block = static_cast<BlockNumber>(number);
    const Buffer buffer =
        ReadBufferExtended(reader->table, MAIN_FORKNUM, block, RBM_NORMAL, reader->ring);
    Page page = BufferGetPage(buffer);
    OffsetNumber rows[MaxHeapTuplesPerPage];
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const int count = find_line_pointers(reader, buffer, rows);
    LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
    for (int i = 0; i < count; i++) {
      HeapTupleData row = heap_tuple_at(reader, page, block, rows[i]);
      use(&row);
    }
    ReleaseBuffer(buffer);
  }
}

// Makes a value of a row whole if it is stored out of line. Returns false if its data is gone.
bool make_whole(Datum *value) {
  auto *stored = reinterpret_cast<struct varlena *>(DatumGetPointer(*value));
  if (!VARATT_IS_EXTERNAL_ONDISK(stored))
    return true;
  struct varlena *whole = whole_value(stored);
  *value = PointerGetDatum(whole);
  return whole != nullptr;
}

// Calls use(column, value) for a row's columns that are not NULL.
template <typename Use> void for_each_column(HeapReader *reader, HeapTuple row, Use use) {
  for (int i = 0; i < reader->columns.count; i++) {
    IndexedColumn *column = &reader->columns.items[i];
    bool is_null;
    Datum value = heap_getattr(row, reader->index->rd_index->indkey.values[i],
                               RelationGetDescr(reader->table), &is_null);
    if (!is_null && (column->length != -1 || make_whole(&value)))
      use(column, value);
  }
}

// Puts a row into the slot of the expressions. Returns false if they need a value that is gone.
bool put_into_slot(HeapReader *reader, HeapTuple row) {
  TupleTableSlot *slot = reader->expressions->slot;
  const TupleDesc columns = RelationGetDescr(reader->table);
  ExecClearTuple(slot);
  heap_deform_tuple(row, columns, slot->tts_values, slot->tts_isnull);
  for (int i = -1; (i = bms_next_member(reader->expressions->used, i)) >= 0;)
    if (!slot->tts_isnull[i] && TupleDescAttr(columns, i)->attlen == -1 &&
        !make_whole(&slot->tts_values[i]))
      return false;
  slot->tts_tid = row->t_self;
  slot->tts_tableOid = row->t_tableOid;
  ExecStoreVirtualTuple(slot);
  return true;
}

// Computes a row's columns and expressions, in memory that forget_row() frees. Returns false if the
// row is not in the index: the WHERE clause is not true for it, or a value that is needed is gone.
bool compute_row(HeapReader *reader, HeapTuple row, Datum *values, bool *nulls) {
  const RowExpressions *expressions = reader->expressions;
  ExprContext *context = GetPerTupleExprContext(expressions->state);
  context->ecxt_scantuple = expressions->slot;
  if (!put_into_slot(reader, row) || !ExecQual(expressions->condition, context))
    return false;
  FormIndexDatum(expressions->info, expressions->slot, expressions->state, values, nulls);
  return true;
}

void forget_row(HeapReader *reader) {
  if (reader->expressions)
    ResetExprContext(GetPerTupleExprContext(reader->expressions->state));
  MemoryContextReset(reader->scratch);
}

// Calls use(column, value) for a row's columns and expressions that are not NULL, if the row is in
// the index.
template <typename Use> void for_each_expression(HeapReader *reader, HeapTuple row, Use use) {
  Datum values[INDEX_MAX_KEYS];
  bool nulls[INDEX_MAX_KEYS];
  if (!compute_row(reader, row, values, nulls))
    return;
  for (int i = 0; i < reader->columns.count; i++)
    if (!nulls[i])
      use(&reader->columns.items[i], values[i]);
}

// Calls use(column, value) for all rows in the pages begin ... end - 1.
template <typename Use> void read_values(HeapReader *reader, uint64 begin, uint64 end, Use use) {
  const MemoryContext before = MemoryContextSwitchTo(reader->scratch);
  read_heap_rows(reader, begin, end, [=](HeapTuple row) {
    if (reader->expressions)
      for_each_expression(reader, row, use);
    else
      for_each_column(reader, row, use);
    forget_row(reader);
  });
  MemoryContextSwitchTo(before);
}

// The columns of a table that an index needs, as numbers from 0 on.
Bitmapset *columns_used(const IndexInfo *info, int column_count) {
  Bitmapset *found = nullptr, *used = nullptr;
  pull_varattnos(reinterpret_cast<Node *>(info->ii_Expressions), 1, &found);
  pull_varattnos(reinterpret_cast<Node *>(info->ii_Predicate), 1, &found);
  for (int i = 0; i < info->ii_NumIndexAttrs; i++)
    found =
        bms_add_member(found, info->ii_IndexAttrNumbers[i] - FirstLowInvalidHeapAttributeNumber);
  const bool whole_row = bms_is_member(-FirstLowInvalidHeapAttributeNumber, found);
  for (int i = 0; i < column_count; i++)
    if (whole_row || bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, found))
      used = bms_add_member(used, i);
  return used;
}

RowExpressions *prepare_expressions(Relation table, Relation index) {
  auto *expressions = make_zeroed<RowExpressions>();
  expressions->info = BuildIndexInfo(index);
  // Not the trees of the relation cache, which an earlier use in this session may have changed.
  expressions->info->ii_Expressions =
      reinterpret_cast<List *>(stored_tree(index, Anum_pg_index_indexprs));
  expressions->info->ii_Predicate =
      make_ands_implicit(reinterpret_cast<Expr *>(stored_tree(index, Anum_pg_index_indpred)));
  expressions->state = CreateExecutorState();
  expressions->slot = MakeSingleTupleTableSlot(RelationGetDescr(table), &TTSOpsVirtual);
  expressions->condition = ExecPrepareQual(expressions->info->ii_Predicate, expressions->state);
  expressions->used = columns_used(expressions->info, RelationGetNumberOfAttributes(table));
  expressions->horizon = GetOldestNonRemovableTransactionId(table);
  return expressions;
}

} // namespace

TransactionId newer_of(TransactionId a, TransactionId b) {
  if (!TransactionIdIsNormal(a) || !TransactionIdIsNormal(b))
    return Max(a, b);
  return TransactionIdFollows(a, b) ? a : b;
}

HeapReader open_heap_reader(Relation table, Relation index, void (*pause)()) {
  HeapReader reader = {};
  reader.table = table;
  reader.index = index;
  reader.ring = GetAccessStrategy(BAS_BULKREAD);
  reader.columns = read_columns(index);
  if (RelationGetIndexExpressions(index) != NIL || RelationGetIndexPredicate(index) != NIL)
    reader.expressions = prepare_expressions(table, index);
  reader.scratch =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter values", ALLOCSET_DEFAULT_SIZES);
  reader.pause = pause;
  return reader;
}

void close_reader(HeapReader *reader) {
  if (reader->expressions) {
    ExecDropSingleTupleTableSlot(reader->expressions->slot);
    FreeExecutorState(reader->expressions->state);
    pfree(reader->expressions);
  }
  FreeAccessStrategy(reader->ring);
  MemoryContextDelete(reader->scratch);
  pfree(reader->columns.items);
}

void read_row_hashes(HeapReader *reader, uint64 begin, uint64 end, HashCopies copies,
                     KeySet *hashes) {
  hashes->clear();
  read_values(reader, begin, end, [=](IndexedColumn *column, Datum value) {
    for_each_hash(column, value, copies, [=](uint64 hash, CopiesOf) { hashes->add(hash); });
  });
}

double share_with_keys(HeapReader *reader, uint64 begin, uint64 end, const Geometry &geometry,
                       const uint8 *filter) {
  const double rows = reader->rows;
  int64 values = 0, found = 0;
  read_values(reader, begin, end, [&](IndexedColumn *column, Datum value) {
    if (!column->has_equal_keys)
      return;
    const GrowingArray<uint64> keys = own_keys(column, value);
    int64 there = 0;
    for (int64 i = 0; i < keys.count; i++)
      there += kernel->contains(geometry, filter, keys.items[i]) ? 1 : 0;
    values += keys.count > 0 ? 1 : 0;
    found += keys.count > 0 && there == keys.count ? 1 : 0;
  });
  reader->rows = rows;
  return static_cast<double>(found + 1) / static_cast<double>(values + 1);
}

void count_rows(HeapReader *reader, uint64 begin, uint64 end) {
  const MemoryContext before = MemoryContextSwitchTo(reader->scratch);
  read_heap_rows(reader, begin, end, [=](HeapTuple row) {
    Datum values[INDEX_MAX_KEYS];
    bool nulls[INDEX_MAX_KEYS];
    if (reader->expressions)
      (void)compute_row(reader, row, values, nulls);
    forget_row(reader);
  });
  MemoryContextSwitchTo(before);
}

bool mostly_have_rows(Relation table, uint64 begin, uint64 end) {
  uint64 empty = 0;
  for (uint64 number = begin; number < end; number++) {
    CHECK_FOR_INTERRUPTS();
    const Buffer buffer = ReadBuffer(table, static_cast<BlockNumber>(number));
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    Page page = BufferGetPage(buffer);
    empty += PageIsNew(page) || PageIsEmpty(page) ? 1 : 0;
    UnlockReleaseBuffer(buffer);
  }
  return empty <= (end - begin) / 8;
}

} // namespace bloomfilter
