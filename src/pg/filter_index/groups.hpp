// The directory of an index (core/filter_index_pages.hpp): its slots, their extents, and the
// functions that make, read and free groups. Every change needs the mover's lock (pages.hpp).
// Reading pages of lines does not.
#pragma once

#include "pg/server.hpp"

#include "pg/filter_index/pages.hpp"

namespace bloomfilter {

// A filter of a group: its row, and its bitmap of key.bytes() bytes.
struct GroupColumn {
  IndexedRow row;
  uint8 *bitmap;
};

// Raises XX002 unless all slots of a page are sound. `page` is a fresh copy of the page.
void check_slots(Relation index, BlockNumber block, const uint8 *page);

// A copy of a slot. The slot must have been checked by check_slots().
GroupSlot read_group_slot(Relation index, SlotPlace place);

// Calls use(place, slot) for each slot of each page of the directory, including unused slots.
template <typename Use> void for_each_slot(Relation index, Use use) {
  for_each_page(index, read_meta(index).directory, PageKind::directory,
                [&](BlockNumber block, const uint8 *page) {
                  check_slots(index, block, page);
                  for (uint32 number = 0; number < kDirectorySlots; number++)
                    use(SlotPlace{block, number}, content_of<GroupSlot>(page)[number]);
                });
}

// If the mover before failed while it wrote a group, turns that group's extent into free space.
void reclaim_space(Relation index);

// Merges adjacent free extents.
void merge_free_space(Relation index);

// Writes a group of these columns, and puts it into the directory.
void make_group(Relation index, const GroupKey &key, const GroupColumn *columns, int count);

// Turns a group into free space after its rows were written to other places. Scans in progress
// notice this by the meta page's generation, and read the index again.
void free_group(Relation index, SlotPlace place);

// Removes the rows for which is_gone(row) is true from a page of the directory. Frees groups that
// have no row left. `copy` is a copy of the page. Returns the number of rows removed.
template <typename IsGone>
uint64 remove_rows(Relation index, BlockNumber block, const uint8 *copy, IsGone is_gone);

// Reads the live columns with the given numbers into the bitmaps of `columns`.
void read_columns(Relation index, const GroupSlot &slot, GroupColumn *columns, const int *numbers,
                  int count);

// Locks a page of a group's lines for reading; `place` counts the group's pages from 0. Returns
// InvalidBuffer if the page belongs to another group. check_slots() must have checked the slot.
Buffer lock_lines(Relation index, const GroupSlot &slot, uint32 place);

// Turns the slot of a group into a slot of free space with the same extent.
void empty_slot(GroupSlot *slot);

template <typename IsGone>
uint64 remove_rows(Relation index, BlockNumber block, const uint8 *copy, IsGone is_gone) {
  uint64 removed = 0;
  uint32 emptied = 0, largest = 0;
  Buffer buffer = InvalidBuffer;
  GenericXLogState *record = nullptr;
  Page page = nullptr;
  for (uint32 number = 0; number < kDirectorySlots; number++) {
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
    change_content_in<IndexMeta>(record, meta, 0, [=](IndexMeta *changed) {
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
