// See values.hpp.

#include "pg/bloompages/values.hpp"

#include "core/distinct.hpp"
#include "core/murmur3.hpp"
#include "pg/value/bitmaps.hpp"
#include "pg/value/toasted.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
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

// Finds the rows of a page whose insertion was not rolled back, and counts those that are not
// deleted. The caller holds a share lock on the page.
int find_line_pointers(HeapReader *reader, Page page, OffsetNumber *rows) {
  int count = 0;
  const OffsetNumber last = PageGetMaxOffsetNumber(page);
  for (OffsetNumber line = FirstOffsetNumber; line <= last; line++) {
    const ItemId item = PageGetItemId(page, line);
    if (!ItemIdIsNormal(item))
      continue;
    const auto row = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
    if (was_rolled_back(row))
      continue;
    reader->rows += is_counted(row) ? 1 : 0;
    rows[count++] = line;
  }
  return count;
}

// Calls use(row) for each row in the pages begin ... end - 1 whose insertion was not rolled back.
template <typename Use> void read_heap_rows(HeapReader *reader, uint64 begin, uint64 end, Use use) {
  for (uint64 number = begin; number < end; number++) {
    reader->pause();
    const auto block = static_cast<BlockNumber>(number);
    const Buffer buffer =
        ReadBufferExtended(reader->table, MAIN_FORKNUM, block, RBM_NORMAL, reader->ring);
    Page page = BufferGetPage(buffer);
    OffsetNumber rows[MaxHeapTuplesPerPage];
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const int count = find_line_pointers(reader, page, rows);
    LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
    for (int i = 0; i < count; i++) {
      HeapTupleData row = heap_tuple_at(reader, page, block, rows[i]);
      use(&row);
    }
    ReleaseBuffer(buffer);
  }
}

// Appends the hashes of a row's values.
void add_row_hashes(HeapReader *reader, HeapTuple tuple, GrowingArray<uint64> *hashes,
                    MemoryContext memory) {
  const Form_pg_index columns = reader->index->rd_index;
  for (int column = 0; column < columns->indnkeyatts; column++) {
    bool is_null;
    Datum value = heap_getattr(tuple, columns->indkey.values[column],
                               RelationGetDescr(reader->table), &is_null);
    if (is_null)
      continue;
    if (TupleDescAttr(RelationGetDescr(reader->index), column)->attlen == -1) {
      auto *whole = reinterpret_cast<struct varlena *>(DatumGetPointer(value));
      if (VARATT_IS_EXTERNAL_ONDISK(whole)) {
        whole = whole_value(whole);
        if (!whole)
          continue;
        value = PointerGetDatum(whole);
      }
    }
    hashes->add(column_hash(reader->index, column, &reader->functions[column], value), memory);
  }
}

} // namespace

uint64 column_hash(Relation index, int column, FmgrInfo *function, Datum value) {
  const Oid collation = index->rd_indcollation[column];
  const auto hash = static_cast<uint64>(
      DatumGetInt64(FunctionCall2Coll(function, collation, value, Int64GetDatum(0))));
  return mix64(hash + static_cast<uint64>(column + 1) * 0x9E3779B97F4A7C15);
}

HeapReader open_heap_reader(Relation table, Relation index, void (*pause)()) {
  const int columns = IndexRelationGetNumberOfKeyAttributes(index);
  auto *functions = make_zeroed_array<FmgrInfo>(columns);
  for (int i = 0; i < columns; i++) {
    const auto number = static_cast<AttrNumber>(i + 1);
    fmgr_info_copy(&functions[i], index_getprocinfo(index, number, kHashFunction),
                   CurrentMemoryContext);
  }
  return {table,
          index,
          GetAccessStrategy(BAS_BULKREAD),
          functions,
          AllocSetContextCreate(CurrentMemoryContext, "bloomfilter values", ALLOCSET_DEFAULT_SIZES),
          0,
          pause};
}

void close_reader(HeapReader *reader) {
  FreeAccessStrategy(reader->ring);
  MemoryContextDelete(reader->scratch);
  pfree(reader->functions);
}

void read_row_hashes(HeapReader *reader, uint64 begin, uint64 end, GrowingArray<uint64> *hashes) {
  const MemoryContext memory = CurrentMemoryContext;
  hashes->count = 0;
  MemoryContextSwitchTo(reader->scratch);
  read_heap_rows(reader, begin, end, [=](HeapTuple row) {
    add_row_hashes(reader, row, hashes, memory);
    MemoryContextReset(reader->scratch);
  });
  MemoryContextSwitchTo(memory);
  const auto count = static_cast<Size>(hashes->count);
  sort_hashes(hashes->items, count, check_for_interrupts);
  hashes->count = static_cast<int64>(keep_copies(hashes->items, count, 1));
}

void count_rows(HeapReader *reader, uint64 begin, uint64 end) {
  read_heap_rows(reader, begin, end, [](HeapTuple) {});
}

bool are_mostly_full(Relation table, uint64 begin, uint64 end) {
  uint64 empty = 0;
  for (uint64 number = begin; number < end; number++) {
    const Buffer buffer = ReadBuffer(table, static_cast<BlockNumber>(number));
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    Page page = BufferGetPage(buffer);
    empty += PageIsNew(page) || PageIsEmpty(page) ? 1 : 0;
    UnlockReleaseBuffer(buffer);
  }
  return empty <= (end - begin) / 8;
}

} // namespace bloomfilter
