// The directory: its slots, their extents, and how groups come and go (core/index_pages.hpp). All
// but the reading of a group's lines needs the mover's lock.
#ifndef BLOOMFILTER_PG_INDEX_GROUPS_HPP
#define BLOOMFILTER_PG_INDEX_GROUPS_HPP

#include "pg/server.hpp"

#include "pg/index/pages.hpp"

namespace bloomfilter {

// Where a slot is.
struct SlotPlace {
  BlockNumber block;
  int number;
};

// A filter that goes into a group: its row, and its bitmap of key.bytes() bytes.
struct Column {
  IndexedRow row;
  uint8 *bitmap;
};

// XX002 unless all slots of a page that was just read are sound.
void check_slots(Relation index, BlockNumber block, const uint8 *page);

// Calls use(place, slot) for each slot of each page, of whatever state.
template <typename Use> void for_each_slot(Relation index, Use use) {
  for_each_page(index, read_meta(index).directory, PageKind::directory,
                [&](BlockNumber block, const uint8 *page) {
                  check_slots(index, block, page);
                  for (int number = 0; number < kDirectorySlots; number++)
                    use(SlotPlace{block, number}, content_of<GroupSlot>(page)[number]);
                });
}

// Makes a slot of free space of the extent that a mover before has left, if any.
void reclaim_space(Relation index);

// Makes one extent of free ones that lie side by side.
void unite_space(Relation index);

// Writes a group of these columns, and puts it into the directory.
void make_group(Relation index, const GroupKey &key, const Column *columns, int count);

// Makes free space of a group. If its rows are elsewhere now, scans that are under way read again.
void free_group(Relation index, SlotPlace place);

// Takes the rows for which is_gone(row) is true out of a page of the directory, and frees groups
// that have no row left. Returns how many rows.
template <typename IsGone>
uint64 remove_rows(Relation index, BlockNumber block, const uint8 *copy, IsGone is_gone);

// Copies columns of a group, which are live, into their bitmaps.
void read_columns(Relation index, const GroupSlot &slot, Column *columns, const int *numbers,
                  int count);

// The page of lines with that place, locked for sharing; InvalidBuffer if it is another group's.
// The slot was checked.
Buffer lock_lines(Relation index, const GroupSlot &slot, uint32 place);

void empty_slot(GroupSlot *slot);

template <typename IsGone>
uint64 remove_rows(Relation index, BlockNumber block, const uint8 *copy, IsGone is_gone) {
  uint64 removed = 0;
  uint32 emptied = 0, largest = 0;
  Buffer buffer = InvalidBuffer;
  GenericXLogState *record = nullptr;
  Page page = nullptr;
  for (int number = 0; number < kDirectorySlots; number++) {
    const GroupSlot &slot = content_of<GroupSlot>(copy)[number];
    if (slot.state != SlotState::group)
      continue;
    for (int column = 0; column < slot.columns; column++) {
      if (slot.rows[column].is_none() || !is_gone(slot.rows[column]))
        continue;
      if (!page) {
        buffer = lock_page(index, block, PageKind::directory, BUFFER_LOCK_EXCLUSIVE);
        record = GenericXLogStart(index);
        page = GenericXLogRegisterBuffer(record, buffer, 0);
      }
      GroupSlot *changed = &changed_content<GroupSlot>(page)[number];
      changed->rows[column] = {};
      removed++;
      if (--changed->live == 0) {
        largest = Max(largest, changed->pages);
        empty_slot(changed);
        emptied++;
      }
    }
  }
  if (!page)
    return 0;
  Buffer meta = InvalidBuffer;
  if (emptied > 0) {
    meta = lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_EXCLUSIVE);
    change_meta_in(record, meta, [=](IndexMeta *changed) {
      changed->groups -= emptied;
      changed->largest_space = Max(changed->largest_space, largest);
    });
  }
  GenericXLogFinish(record);
  if (BufferIsValid(meta))
    UnlockReleaseBuffer(meta);
  UnlockReleaseBuffer(buffer);
  return removed;
}

} // namespace bloomfilter

#endif
