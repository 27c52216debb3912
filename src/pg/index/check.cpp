// bf_index_check(): is an index sound, and does it answer as its table?
//
// The pages: each belongs to one thing, and what they say of themselves is true. From the index to
// the table: under each TID there is something that vacuum has not taken away. From the table to
// the index: each row is there, and wherever it is, with its filter. The mover's lock is held
// meanwhile, so that rows neither move nor vanish; rows come nevertheless.

#include "pg/server.hpp"

#include <algorithm>

#include "pg/index/groups.hpp"
#include "pg/index/list.hpp"
#include "pg/index/move.hpp"
#include "pg/index/opened.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
}

using namespace bloomfilter;

namespace {

// An extent of the index that belongs to something.
struct Extent {
  BlockNumber start, pages;
};

// Where a row is in the index.
struct Indexed {
  IndexedRow row;
  uint8 column;
  bool listed;
  SlotPlace place; // unless it is listed
  uint64 key_hash; // if it is
};

// All memory is that of the call.
struct Check {
  Relation index;
  GrowingArray<Extent> extents;
  GrowingArray<Indexed> rows; // in order, once all are there
  MemoryContext scratch;
};

// XX002: index and table differ.
[[noreturn]] void raise_row_differs(Relation index, const ItemPointerData &tid, const char *what) {
  ereport(ERROR,
          (errcode(ERRCODE_INDEX_CORRUPTED),
           errmsg("index \"%s\" is damaged: %s (%u,%u)", RelationGetRelationName(index), what,
                  ItemPointerGetBlockNumberNoCheck(&tid), ItemPointerGetOffsetNumberNoCheck(&tid)),
           errhint("REINDEX makes the index anew from the table.")));
}

bool comes_before(const Indexed &a, const Indexed &b) {
  return is_before(a.row, b.row);
}

void collect_list(Check *check, const IndexMeta &meta) {
  for_each_page(check->index, meta.list, PageKind::list, [&](BlockNumber block, const uint8 *page) {
    check->extents.add({block, 1});
    for (int i = 0; i < head_of(page)->count; i++) {
      const ListEntry &entry = content_of<ListEntry>(page)[i];
      check->rows.add({entry.row, 0, true, {}, entry.key_hash});
    }
  });
}

void check_lines(Relation index, const GroupSlot &slot) {
  for (uint32 place = 0; place < slot.pages; place++) {
    CHECK_FOR_INTERRUPTS();
    const Buffer buffer = lock_lines(index, slot, place);
    if (!BufferIsValid(buffer))
      raise_index_damaged(index, slot.start + place, "is not a page of its group");
    UnlockReleaseBuffer(buffer);
  }
}

uint32 collect_groups(Check *check, const IndexMeta &meta) {
  uint32 groups = 0;
  for_each_page(check->index, meta.directory, PageKind::directory,
                [&](BlockNumber block, const uint8 *) {
                  check->extents.add({block, 1});
                });
  for_each_slot(check->index, [&](SlotPlace place, const GroupSlot &slot) {
    if (slot.state == SlotState::none)
      return;
    check->extents.add({slot.start, slot.pages});
    if (slot.state == SlotState::space)
      return;
    groups++;
    check_lines(check->index, slot);
    for (int column = 0; column < slot.columns; column++)
      if (!slot.rows[column].is_none())
        check->rows.add({slot.rows[column], static_cast<uint8>(column), false, place, 0});
  });
  return groups;
}

// Each block belongs to one thing.
void check_extents(Check *check, const IndexMeta &meta) {
  Extent *end = check->extents.items + check->extents.count;
  std::sort(check->extents.items, end,
            [](const Extent &a, const Extent &b) { return a.start < b.start; });
  BlockNumber next = 0;
  for (const Extent *extent = check->extents.items; extent < end; extent++) {
    if (extent->start != next)
      raise_index_damaged(check->index, Min(extent->start, next),
                          extent->start < next ? "belongs to two things" : "belongs to nothing");
    next += extent->pages;
  }
  if (next != meta.blocks)
    raise_index_damaged(check->index, Min(next, meta.blocks), "is not where the index ends");
}

void check_pages(Check *check) {
  const IndexMeta meta = read_meta(check->index);
  check->extents.add({kMetaBlock, 1});
  if (meta.making != kNoBlock)
    check->extents.add({meta.making, meta.making_pages});
  collect_list(check, meta);
  if (collect_groups(check, meta) != meta.groups)
    raise_index_damaged(check->index, kMetaBlock, "has another number of groups");
  check_extents(check, meta);
  std::sort(check->rows.items, check->rows.items + check->rows.count, comes_before);
}

// Has the heap something under that TID that an index may point to? It may be dead, until vacuum
// has taken it from all indexes.
bool is_in_heap(Relation heap, BlockNumber blocks, BufferAccessStrategy ring,
                const ItemPointerData &tid) {
  const BlockNumber block = ItemPointerGetBlockNumberNoCheck(&tid);
  const OffsetNumber offset = ItemPointerGetOffsetNumberNoCheck(&tid);
  if (block >= blocks)
    return false;
  const Buffer buffer = ReadBufferExtended(heap, MAIN_FORKNUM, block, RBM_NORMAL, ring);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  Page page = BufferGetPage(buffer);
  bool there = offset >= FirstOffsetNumber && offset <= PageGetMaxOffsetNumber(page);
  if (there) {
    ItemId item = PageGetItemId(page, offset);
    there =
        ItemIdIsUsed(item) &&
        !(ItemIdIsNormal(item) &&
          HeapTupleHeaderIsHeapOnly(reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item))));
  }
  UnlockReleaseBuffer(buffer);
  return there;
}

// No other table access method tells what is under a TID that no snapshot sees.
void check_heap(const Check &check, Relation table) {
  if (table->rd_tableam != GetHeapamTableAmRoutine())
    return;
  const BlockNumber blocks = RelationGetNumberOfBlocks(table);
  BufferAccessStrategy ring = GetAccessStrategy(BAS_BULKREAD);
  for (const Indexed *indexed = check.rows.items; indexed < check.rows.items + check.rows.count;
       indexed++) {
    CHECK_FOR_INTERRUPTS();
    const ItemPointerData tid = tid_of(indexed->row);
    if (!is_in_heap(table, blocks, ring, tid))
      raise_row_differs(check.index, tid, "the table has no row");
  }
  FreeAccessStrategy(ring);
}

// Has the index a filter at that place that answers as this one?
bool is_same(Relation index, const Indexed &indexed, const Filter &filter, bool sound) {
  GroupKey key;
  const bool groupable = sound && key_of(filter.header, &key);
  if (indexed.listed)
    return indexed.key_hash == (groupable ? key_hash(key) : 0);
  const Buffer buffer =
      lock_page(index, indexed.place.block, PageKind::directory, BUFFER_LOCK_SHARE);
  const GroupSlot slot = content_of<GroupSlot>(bytes_of(buffer))[indexed.place.number];
  UnlockReleaseBuffer(buffer);
  if (!groupable || !(slot.key == key))
    return false;
  Column column = {indexed.row, make_array<uint8>(key.bytes())};
  const int number = indexed.column;
  read_columns(index, slot, &column, &number, 1);
  auto *bitmap = make_array<uint8>(key.bytes());
  copy_bitmap(filter, bitmap);
  return memcmp(bitmap, column.bitmap, key.bytes()) == 0;
}

// Is a row of the table in the index, and wherever it is, with its filter?
void check_row(Relation index, ItemPointer tid, Datum *values, bool *nulls, bool, void *state) {
  const auto *check = static_cast<const Check *>(state);
  CHECK_FOR_INTERRUPTS();
  Indexed wanted = {};
  wanted.row = row_at(*tid);
  const auto places = std::equal_range(check->rows.items, check->rows.items + check->rows.count,
                                       wanted, comes_before);
  if (nulls[0] && places.first == places.second)
    return;
  if (nulls[0])
    raise_row_differs(index, *tid, "it has a filter for the NULL of row");
  const MemoryContext before = MemoryContextSwitchTo(check->scratch);
  Filter filter;
  filter.value = PG_DETOAST_DATUM(values[0]);
  const bool sound = parse(filter.payload(), VARSIZE(filter.value) - VARHDRSZ, &filter.header).ok();
  bool same = true;
  for (const Indexed *place = places.first; place < places.second; place++)
    same &= is_same(index, *place, filter, sound);
  if (places.first == places.second || !same)
    raise_row_differs(index, *tid, same ? "it has no row" : "it has another filter for row");
  MemoryContextSwitchTo(before);
  MemoryContextReset(check->scratch);
}

void check_table(Check *check, Relation table, Snapshot snapshot) {
  IndexInfo *info = BuildIndexInfo(check->index);
  info->ii_Concurrent = true; // the snapshot says which rows there are
  TableScanDesc scan = table_beginscan_strat(table, snapshot, 0, nullptr, true, true);
  (void)table_index_build_scan(table, check->index, info, true, false, check_row, check, scan);
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_index_check);
Datum bf_index_check(PG_FUNCTION_ARGS) {
  check_not_in_recovery();
  const OpenIndex open = open_index(PG_GETARG_OID(0), AccessShareLock);
  Check check = {};
  check.index = open.index;
  check.scratch =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter check", ALLOCSET_DEFAULT_SIZES);
  lock_moves(open.index);
  // A row that the snapshot shows was in the index before.
  const Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
  check_pages(&check);
  check_heap(check, open.table);
  check_table(&check, open.table, snapshot);
  UnregisterSnapshot(snapshot);
  unlock_moves(open.index);
  close_index(open, AccessShareLock);
  PG_RETURN_VOID();
}

SQL_FUNCTIONS_END
