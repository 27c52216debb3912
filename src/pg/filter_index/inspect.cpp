// See inspect.hpp. Most of this file is what bf_index_check() does with a filter index: it raises
// an error if the index is damaged or does not match its table.
//
// Users call the function, as they call amcheck for other indexes. It checks three things (for the
// parts of an index, see core/filter_index_pages.hpp):
// - The pages. Each block belongs to exactly one owner: the meta page, the list, the directory, a
//   group or free space. Each page of the list, the directory and the groups is sound.
// - From the index to the table. For each TID in the index, the heap still has a tuple. The tuple
//   may be dead.
// - From the table to the index. Each row whose filter is not NULL is in the index, and the index
//   has the same filter as the table. A mover that failed can leave a row in the list and in a
//   group; then both places are compared.
//
// The function holds the mover's lock (pages.hpp), so no row is moved or removed meanwhile. Other
// sessions can still insert rows. The function needs memory for each row of the index, and it reads
// the whole table.

#include "pg/filter_index/inspect.hpp"

#include <algorithm>

#include "pg/filter_index/groups.hpp"
#include "pg/filter_index/move.hpp"
#include "pg/filter_index/row_list.hpp"
#include "pg/list.hpp"
#include "pg/names.hpp"

extern "C" {
#include "access/amapi.h"
#include "access/heapam.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
}

namespace bloomfilter {
namespace {

// Consecutive blocks that have one owner.
struct Extent {
  BlockNumber start, pages;
};

// One place in the index that holds a row: an entry of the list, or a column of a group.
struct Indexed {
  IndexedRow row;
  uint8 column;    // in a group: the row's column
  bool listed;     // true: the place is in the list
  SlotPlace place; // in a group: the group's slot
  uint64 key_hash; // in the list: the entry's hash of the filter's key
};

// The state of one call. All memory is freed when the call ends.
struct Check {
  Relation index;
  GrowingArray<Extent> extents;
  GrowingArray<Indexed> rows; // sorted by check_pages()
  MemoryContext scratch;      // reset after each row
};

// Raises XX002, because the index and the table differ at this TID. `what` is the message's text
// before the TID.
[[noreturn]] void raise_row_differs(Relation index, const ItemPointerData &tid, const char *what) {
  ereport(ERROR,
          (errcode(ERRCODE_INDEX_CORRUPTED),
           errmsg("index \"%s\" is damaged: %s (%u,%u)", RelationGetRelationName(index), what,
                  ItemPointerGetBlockNumberNoCheck(&tid), ItemPointerGetOffsetNumberNoCheck(&tid)),
           errhint("Rebuild the index from the table with REINDEX.")));
}

bool is_before(const Indexed &a, const Indexed &b) {
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

// Raises XX002 unless each block belongs to exactly one owner. The list can get longer by pages at
// the end of the index while it is read. `blocks` is the size of the index before that.
void check_extents(Check *check, BlockNumber blocks) {
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
  const BlockNumber blocks_now = read_meta(check->index).blocks;
  if (next < blocks || next > blocks_now)
    raise_index_damaged(check->index, Min(next, blocks_now), "is not where the index ends");
}

void check_pages(Check *check) {
  const IndexMeta meta = read_meta(check->index);
  check->extents.add({kMetaBlock, 1});
  if (meta.making != kNoBlock)
    check->extents.add({meta.making, meta.making_pages});
  collect_list(check, meta);
  if (collect_groups(check, meta) != meta.groups)
    raise_index_damaged(check->index, kMetaBlock, "has another number of groups");
  check_extents(check, meta.blocks);
  std::sort(check->rows.items, check->rows.items + check->rows.count, is_before);
}

// True if an index may point to this TID of the heap. That is also the case for a dead tuple:
// VACUUM removes the tuple's TID from all indexes before it removes the tuple from the heap. It is
// not the case for a heap-only tuple, because indexes point to the root of its HOT chain.
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

// Raises XX002 if the index has a TID that the heap does not have. Tables of other access methods
// are not checked, because the table access method interface cannot look up a dead tuple by TID.
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

// True if the index has this filter at the given place. In a group, the bitmaps are compared. The
// list stores no bitmap, so only the hashes of the keys are compared. `sound` is true if the
// filter's header could be read. Damaged filters, and filters that no group can hold, must be in
// the list with the key hash 0.
bool is_same(Relation index, const Indexed &indexed, const Filter &filter, bool sound) {
  GroupKey key;
  const bool groupable = sound && key_of(filter.header, &key);
  if (indexed.listed)
    return indexed.key_hash == (groupable ? key_hash(key) : 0);
  const GroupSlot slot = read_group_slot(index, indexed.place);
  if (!groupable || !(slot.key == key))
    return false;
  GroupColumn column = {indexed.row, make_array<uint8>(key.bytes())};
  const int number = indexed.column;
  read_columns(index, slot, &column, &number, 1);
  auto *bitmap = make_array<uint8>(key.bytes());
  copy_bitmap(filter, bitmap);
  return memcmp(bitmap, column.bitmap, key.bytes()) == 0;
}

// Called for each row of the table. Raises XX002 if a row with a filter is not in the index, if a
// place of the row has another filter, or if the filter is NULL and the row is in the index.
void check_row(Relation index, ItemPointer tid, Datum *values, bool *nulls, bool, void *state) {
  const auto *check = static_cast<const Check *>(state);
  CHECK_FOR_INTERRUPTS();
  Indexed wanted = {};
  wanted.row = row_at(*tid);
  const auto places =
      std::equal_range(check->rows.items, check->rows.items + check->rows.count, wanted, is_before);
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

} // namespace

bool is_filter_index(Relation index) {
  return index->rd_rel->relam == access_method_of("bloomfilter");
}

FilterIndexInfo filter_index_info(Relation index) {
  FilterIndexInfo info = {};
  for_each_page(index, read_meta(index).list, PageKind::list, [&](BlockNumber, const uint8 *page) {
    for (int i = 0; i < head_of(page)->count; i++)
      ++(content_of<ListEntry>(page)[i].key_hash != 0 ? info.pending : info.loose);
  });
  for_each_slot(index, [&](SlotPlace, const GroupSlot &slot) {
    if (slot.state == SlotState::space)
      info.free_pages += slot.pages;
    if (slot.state == SlotState::group) {
      info.groups++;
      info.grouped += slot.live;
    }
  });
  return info;
}

void tidy_filter_index(Relation table, Relation index) {
  lock_work(index);
  tidy_index(table, index);
  unlock_work(index);
}

void check_filter_index(Relation table, Relation index) {
  Check check = {};
  check.index = index;
  check.scratch =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter check", ALLOCSET_DEFAULT_SIZES);
  lock_work(index);
  // The snapshot is taken before the index is read. So each row that the snapshot sees must be in
  // the index.
  const Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
  check_pages(&check);
  check_heap(check, table);
  read_seen_rows(table, index, snapshot, check_row, &check);
  UnregisterSnapshot(snapshot);
  unlock_work(index);
}

} // namespace bloomfilter
