// See groups.hpp.
//
// A new group takes the smallest free extent that is large enough, or new blocks at the end of the
// index. The search for an extent reads the whole directory. It is skipped if the group needs more
// pages than the meta page's largest_space.

#include "pg/filter_index/groups.hpp"

#include <algorithm>

#include "pg/compat.hpp"
#include "pg/list.hpp"

extern "C" {
#include "commands/vacuum.h"
}

namespace bloomfilter {

void check_slots(Relation index, BlockNumber block, const uint8 *page) {
  const BlockNumber blocks = RelationGetNumberOfBlocks(index);
  for (int number = 0; number < kDirectorySlots; number++)
    if (!is_sound_slot(content_of<GroupSlot>(page)[number], blocks))
      raise_index_damaged(index, block, "has a slot that does not fit together");
}

GroupSlot read_group_slot(Relation index, SlotPlace place) {
  return copied_content<GroupSlot>(
      lock_page(index, place.block, PageKind::directory, BUFFER_LOCK_SHARE), place.number);
}

void empty_slot(GroupSlot *slot) {
  GroupSlot space = {};
  space.state = SlotState::space;
  space.start = slot->start;
  space.pages = slot->pages;
  *slot = space;
}

namespace {

// The result of a search for free space for a group.
struct FoundSpace {
  SlotPlace place; // the smallest free extent that is large enough
  uint32 pages;    // its size, or kNoBlock if no extent is large enough
  uint32 largest;  // the size of the largest free extent
};

FoundSpace find_space(Relation index, uint32 pages) {
  FoundSpace found = {{}, kNoBlock, 0};
  for_each_slot(index, [&](SlotPlace place, const GroupSlot &slot) {
    if (slot.state != SlotState::space)
      return;
    found.largest = Max(found.largest, slot.pages);
    if (slot.pages >= pages && slot.pages < found.pages) {
      found.pages = slot.pages;
      found.place = place;
    }
  });
  return found;
}

// Gives a group its extent and its number. Records the extent in the meta page as being written, so
// that reclaim_space() finds it if the server stops.
void start_making(IndexMeta *meta, GroupSlot *group, BlockNumber start) {
  meta->making = group->start = start;
  meta->making_pages = group->pages;
  group->number = meta->next_group++;
}

// Finds an extent for a group: free space if an extent is large enough, else new blocks at the end.
void take_space(Relation index, GroupSlot *group) {
  FoundSpace found = {{}, kNoBlock, read_meta(index).largest_space};
  if (found.largest >= group->pages)
    found = find_space(index, group->pages);
  if (found.pages == kNoBlock) {
    change_meta(index, [&](IndexMeta *meta) {
      if (meta->blocks > MaxBlockNumber - group->pages)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("index \"%s\" cannot be larger", RelationGetRelationName(index))));
      meta->largest_space = found.largest;
      start_making(meta, group, meta->blocks);
      meta->blocks += group->pages;
    });
    return;
  }
  const SlotPlace place = found.place;
  const Buffer buffer = lock_page(index, place.block, PageKind::directory, BUFFER_LOCK_EXCLUSIVE);
  const Buffer meta_buffer = lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_EXCLUSIVE);
  GenericXLogState *record = GenericXLogStart(index);
  GroupSlot *slot =
      &changed_content<GroupSlot>(GenericXLogRegisterBuffer(record, buffer, 0))[place.number];
  const BlockNumber blocks = content_of<IndexMeta>(bytes_of(meta_buffer))->blocks;
  if (slot->start > blocks || slot->pages > blocks - slot->start)
    raise_index_damaged(index, place.block, "has free space beyond the end of the index");
  change_content_in<IndexMeta>(record, meta_buffer, 0,
                               [=](IndexMeta *meta) { start_making(meta, group, slot->start); });
  slot->start += group->pages;
  slot->pages -= group->pages;
  if (slot->pages == 0)
    *slot = {};
  GenericXLogFinish(record);
  UnlockReleaseBuffer(meta_buffer);
  UnlockReleaseBuffer(buffer);
}

// The number of the first unused slot of a page, or kDirectorySlots if all are in use.
int unused_slot(Buffer buffer) {
  const auto *slots = content_of<GroupSlot>(bytes_of(buffer));
  int number = 0;
  while (number < kDirectorySlots && slots[number].state != SlotState::none)
    number++;
  return number;
}

// Writes a slot into the directory: a new group, or free space. Its extent is the one that the meta
// page records as being written; the same WAL record ends that.
void fill_slot(Relation index, const GroupSlot &slot) {
  Buffer buffer =
      lock_page(index, read_meta(index).fill, PageKind::directory, BUFFER_LOCK_EXCLUSIVE);
  int number;
  while ((number = unused_slot(buffer)) == kDirectorySlots) {
    const IndexPageHead head = *head_of(bytes_of(buffer));
    if (head.next == kNoBlock) {
      buffer = append_page(index, buffer, PageKind::directory);
    } else {
      UnlockReleaseBuffer(buffer);
      CHECK_FOR_INTERRUPTS();
      buffer = lock_chained_page(index, head.next, PageKind::directory, head.place + 1,
                                 BUFFER_LOCK_EXCLUSIVE);
    }
  }
  const Buffer meta_buffer = lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_EXCLUSIVE);
  GenericXLogState *record = GenericXLogStart(index);
  changed_content<GroupSlot>(GenericXLogRegisterBuffer(record, buffer, 0))[number] = slot;
  change_content_in<IndexMeta>(record, meta_buffer, 0, [&](IndexMeta *meta) {
    meta->fill = BufferGetBlockNumber(buffer);
    meta->making = kNoBlock;
    meta->making_pages = 0;
    if (slot.state == SlotState::group)
      meta->groups++;
    else
      meta->largest_space = Max(meta->largest_space, slot.pages);
  });
  GenericXLogFinish(record);
  UnlockReleaseBuffer(meta_buffer);
  UnlockReleaseBuffer(buffer);
}

void write_lines(Relation index, const GroupSlot &slot, const GroupColumn *columns) {
  const auto per_page = static_cast<uint32>(lines_per_page(slot.columns));
  const uint32 lines = slot.key.lines();
  for (uint32 place = 0; place < slot.pages; place++) {
    vacuum_delay_point(false);
    const Buffer buffer = lock_new_page(index, slot.start + place);
    GenericXLogState *record = GenericXLogStart(index);
    Page page = GenericXLogRegisterBuffer(record, buffer, GENERIC_XLOG_FULL_IMAGE);
    initialize_page(page, PageKind::lines);
    changed_head(page)->group = slot.number;
    changed_head(page)->place = place;
    auto *to = changed_content<uint8>(page);
    const uint32 end = Min((place + 1) * per_page, lines);
    for (uint32 line = place * per_page; line < end; line++, to += slot.columns * kLineBytes) {
      const uint8 *same_line[kPageColumns];
      for (int column = 0; column < slot.columns; column++)
        same_line[column] = columns[column].bitmap + Size{line} * kLineBytes;
      write_slices(same_line, slot.columns, to);
    }
    GenericXLogFinish(record);
    UnlockReleaseBuffer(buffer);
  }
}

} // namespace

void reclaim_space(Relation index) {
  const IndexMeta meta = read_meta(index);
  if (meta.making == kNoBlock)
    return;
  GroupSlot space = {};
  space.state = SlotState::space;
  space.start = meta.making;
  space.pages = meta.making_pages;
  fill_slot(index, space);
}

namespace {

// A free extent, and the position of its slot.
struct FreeExtent {
  SlotPlace place;
  BlockNumber start;
  uint32 pages;
};

// Merges two adjacent free extents into the first slot, in one WAL record. The second slot becomes
// unused.
void merge_extents(Relation index, const FreeExtent &first, const FreeExtent &second) {
  const bool one_page = first.place.block == second.place.block;
  const Buffer buffer =
      lock_page(index, first.place.block, PageKind::directory, BUFFER_LOCK_EXCLUSIVE);
  const Buffer other =
      one_page ? InvalidBuffer
               : lock_page(index, second.place.block, PageKind::directory, BUFFER_LOCK_EXCLUSIVE);
  GenericXLogState *record = GenericXLogStart(index);
  Page page = GenericXLogRegisterBuffer(record, buffer, 0);
  Page other_page = one_page ? page : GenericXLogRegisterBuffer(record, other, 0);
  changed_content<GroupSlot>(page)[first.place.number].pages = first.pages + second.pages;
  changed_content<GroupSlot>(other_page)[second.place.number] = {};
  GenericXLogFinish(record);
  if (!one_page)
    UnlockReleaseBuffer(other);
  UnlockReleaseBuffer(buffer);
}

} // namespace

// Merging may lock two pages of the directory in any order. This cannot deadlock, because only the
// holder of the mover's lock locks two of them. Merging makes slots unused, so the next search for
// an unused slot starts at the first page.
void merge_free_space(Relation index) {
  GrowingArray<FreeExtent> spaces = {};
  for_each_slot(index, [&](SlotPlace place, const GroupSlot &slot) {
    if (slot.state == SlotState::space)
      spaces.add({place, slot.start, slot.pages});
  });
  std::sort(spaces.begin(), spaces.end(),
            [](const FreeExtent &a, const FreeExtent &b) { return a.start < b.start; });
  FreeExtent *last = nullptr;
  uint32 largest = 0;
  for (FreeExtent &space : spaces) {
    CHECK_FOR_INTERRUPTS();
    if (last && last->start + last->pages == space.start) {
      merge_extents(index, *last, space);
      last->pages += space.pages;
    } else {
      last = &space;
    }
    largest = Max(largest, last->pages);
  }
  change_meta(index, [=](IndexMeta *meta) {
    meta->largest_space = largest;
    meta->fill = meta->directory;
  });
  if (spaces.items)
    pfree(spaces.items);
}

void make_group(Relation index, const GroupKey &key, const GroupColumn *columns, int count) {
  GroupSlot slot = {};
  slot.key = key;
  slot.state = SlotState::group;
  slot.columns = slot.live = static_cast<uint8>(count);
  slot.pages = group_pages(key, count);
  take_space(index, &slot);
  for (int column = 0; column < count; column++)
    slot.rows[column] = columns[column].row;
  write_lines(index, slot, columns);
  fill_slot(index, slot);
}

void free_group(Relation index, SlotPlace place) {
  const Buffer buffer = lock_page(index, place.block, PageKind::directory, BUFFER_LOCK_EXCLUSIVE);
  const Buffer meta_buffer = lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_EXCLUSIVE);
  GenericXLogState *record = GenericXLogStart(index);
  Page page = GenericXLogRegisterBuffer(record, buffer, 0);
  GroupSlot *slot = &changed_content<GroupSlot>(page)[place.number];
  change_content_in<IndexMeta>(record, meta_buffer, 0, [=](IndexMeta *meta) {
    meta->largest_space = Max(meta->largest_space, slot->pages);
    meta->groups--;
    meta->generation++;
  });
  empty_slot(slot);
  GenericXLogFinish(record);
  UnlockReleaseBuffer(meta_buffer);
  UnlockReleaseBuffer(buffer);
}

Buffer lock_lines(Relation index, const GroupSlot &slot, uint32 place) {
  const Buffer buffer = ReadBuffer(index, slot.start + place);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  if (is_page_of(bytes_of(buffer), slot, place))
    return buffer;
  UnlockReleaseBuffer(buffer);
  return InvalidBuffer;
}

void read_columns(Relation index, const GroupSlot &slot, GroupColumn *columns, const int *numbers,
                  int count) {
  const uint32 lines = slot.key.lines();
  for (uint32 line = 0; line < lines;) {
    vacuum_delay_point(false);
    const uint32 place = line_place(slot.columns, line).page;
    const Buffer buffer = lock_lines(index, slot, place);
    if (!BufferIsValid(buffer))
      raise_index_damaged(index, slot.start + place, "is not a page of its group");
    for (; line < lines && line_place(slot.columns, line).page == place; line++) {
      uint8 of_columns[kPageColumns * kLineBytes];
      read_slices(bytes_of(buffer) + line_place(slot.columns, line).offset, slot.columns,
                  of_columns);
      for (int i = 0; i < count; i++)
        memcpy(columns[i].bitmap + Size{line} * kLineBytes, of_columns + numbers[i] * kLineBytes,
               kLineBytes);
    }
    UnlockReleaseBuffer(buffer);
  }
}

} // namespace bloomfilter
