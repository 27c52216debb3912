// See table_rows.hpp.
//
// SnapshotSelf shows a row that nobody has deleted yet. If another session deletes the row now, our
// snapshot prevents the removal of the row's TOAST data. During VACUUM it does not, because other
// sessions ignore the snapshots of VACUUM. So a missing chunk counts as a row that is gone
// (pg/value/toasted.hpp).

#include "pg/filter_index/table_rows.hpp"

#include "pg/compat.hpp"
#include "pg/value/toasted.hpp"

extern "C" {
#include "access/heapam.h"
#include "catalog/index.h"
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
