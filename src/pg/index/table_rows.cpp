// See table_rows.hpp.
//
// SnapshotSelf shows a row that nobody has deleted yet. If another session deletes the row now, our
// snapshot prevents the removal of the row's TOAST data. During VACUUM it does not, because other
// sessions ignore the snapshots of VACUUM. So this file fetches the TOAST chunks itself, and treats
// a missing chunk as a row that is gone. The server's detoasting would raise an error.

#include "pg/index/table_rows.hpp"

#include "pg/compat.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "catalog/index.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
}

namespace bloomfilter {

bool can_have(TableEnd *end, const IndexedRow &row) {
  const BlockNumber block = uint32{row.block_high} << 16 | row.block_low;
  if (block >= end->blocks)
    end->blocks = end->table->rd_tableam == GetHeapamTableAmRoutine()
                      ? RelationGetNumberOfBlocks(end->table)
                      : InvalidBlockNumber;
  return is_possible(row) && block < end->blocks;
}

TableRows open_rows(Relation table, Relation index) {
  TableRows rows;
  rows.end = {table, 0};
  rows.info = BuildIndexInfo(index);
  rows.fetch = table_index_fetch_begin(table, SO_NONE);
  rows.slot = table_slot_create(table, nullptr);
  rows.executor = CreateExecutorState();
  GetPerTupleExprContext(rows.executor)->ecxt_scantuple = rows.slot;
  rows.memory =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter row", ALLOCSET_DEFAULT_SIZES);
  return rows;
}

void close_rows(TableRows *rows) {
  table_index_fetch_end(rows->fetch);
  ExecDropSingleTupleTableSlot(rows->slot);
  FreeExecutorState(rows->executor);
  MemoryContextDelete(rows->memory);
}

namespace {

// Copies the TOAST chunks of a value, in order. Returns false if any chunk is missing.
bool copy_chunks(const struct varatt_external &pointer, char *to) {
  const auto bytes = static_cast<int32>(VARATT_EXTERNAL_GET_EXTSIZE(pointer));
  Relation toast = table_open(pointer.va_toastrelid, AccessShareLock), *indexes;
  int count;
  const int valid = toast_open_indexes(toast, AccessShareLock, &indexes, &count);
  ScanKeyData key;
  ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(pointer.va_valueid));
  SysScanDesc scan =
      systable_beginscan_ordered(toast, indexes[valid], get_toast_snapshot(), 1, &key);
  int32 done = 0;
  bool whole = true;
  while (whole && done < bytes) {
    HeapTuple tuple = systable_getnext_ordered(scan, ForwardScanDirection);
    if (!HeapTupleIsValid(tuple))
      break;
    bool is_null;
    const auto number = DatumGetInt32(heap_getattr(tuple, 2, RelationGetDescr(toast), &is_null));
    auto *chunk = reinterpret_cast<struct varlena *>(
        DatumGetPointer(heap_getattr(tuple, 3, RelationGetDescr(toast), &is_null)));
    const auto length = static_cast<int32>(VARSIZE_ANY_EXHDR(chunk));
    whole = number == done / static_cast<int32>(TOAST_MAX_CHUNK_SIZE) && length <= bytes - done &&
            (length == TOAST_MAX_CHUNK_SIZE || length == bytes - done);
    if (whole)
      memcpy(to + done, VARDATA_ANY(chunk), length);
    done += length;
  }
  systable_endscan_ordered(scan);
  toast_close_indexes(indexes, count, AccessShareLock);
  table_close(toast, AccessShareLock);
  return whole && done == bytes;
}

} // namespace

struct varlena *whole_value(struct varlena *value) {
  if (!VARATT_IS_EXTERNAL_ONDISK(value))
    return PG_DETOAST_DATUM(PointerGetDatum(value));
  struct varatt_external pointer;
  VARATT_EXTERNAL_GET_POINTER(pointer, value);
  const Size length = VARATT_EXTERNAL_GET_EXTSIZE(pointer);
  struct varlena *whole = new_value(length);
  if (!copy_chunks(pointer, VARDATA(whole)))
    return nullptr;
  // The server's VARATT_EXTERNAL_IS_COMPRESSED() would cause a compiler warning, because it
  // compares a signed number with an unsigned one.
  if (VARHDRSZ + length >= static_cast<Size>(pointer.va_rawsize))
    return whole;
  SET_VARSIZE_COMPRESSED(whole, VARHDRSZ + length);
  return PG_DETOAST_DATUM(PointerGetDatum(whole));
}

bool read_filter(TableRows *rows, ItemPointerData tid, Filter *filter) {
  ExecClearTuple(rows->slot);
  ResetPerTupleExprContext(rows->executor);
  MemoryContextReset(rows->memory);
  bool again = false, all_dead = false;
  if (!can_have(&rows->end, row_at(tid)))
    return false;
  if (!table_index_fetch_tuple(rows->fetch, &tid, SnapshotSelf, rows->slot, &again, &all_dead))
    return false;
  const MemoryContext before = MemoryContextSwitchTo(rows->memory);
  Datum values[INDEX_MAX_KEYS];
  bool nulls[INDEX_MAX_KEYS];
  FormIndexDatum(rows->info, rows->slot, rows->executor, values, nulls);
  filter->value = nulls[0]
                      ? nullptr
                      : whole_value(reinterpret_cast<struct varlena *>(DatumGetPointer(values[0])));
  MemoryContextSwitchTo(before);
  return filter->value &&
         parse(filter->payload(), VARSIZE(filter->value) - VARHDRSZ, &filter->header).ok();
}

} // namespace bloomfilter
