// See summarize.hpp.
//
// The steps for a range, each in WAL records of its own:
//
// 1. If it is the first of its group: read its values, choose the geometry of the group, write
//    empty pages of lines, and then the group's slot.
// 2. `filling` becomes one more. From now on, whoever inserts a row into the range sets its bits.
// 3. Read the values, and set their bits.
// 4. `ready` becomes one more.
//
// A crash or an error after step 2 leaves a range that is being filled. Filling it again needs no
// cleanup, because bits are only set.

#include "pg/bloompages/summarize.hpp"

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/owner.hpp"
#include "pg/bloompages/access_method.hpp"
#include "pg/value/bitmaps.hpp"

extern "C" {
#include "access/table.h"
#include "access/tableam.h"
#include "commands/vacuum.h"
}

namespace bloomfilter {
namespace {

constexpr uint32 kMostAttempts = 3; // of INSERTs; VACUUM tries again
constexpr uint64 kRangesToWait = 8; // for empty pages of a range

// Writes empty pages of a group's lines after all pages that are in use. They are in no slot yet,
// so after a crash they are written again.
void write_empty_lines(Relation index, const RangeSlot &slot, uint32 group) {
  for (uint32 line = 0; line < slot.lines(); line++) {
    CHECK_FOR_INTERRUPTS();
    const Buffer buffer = lock_new_page(index, slot.start + line);
    GenericXLogState *record = GenericXLogStart(index);
    initialize_line(GenericXLogRegisterBuffer(record, buffer, GENERIC_XLOG_FULL_IMAGE), group,
                    line);
    GenericXLogFinish(record);
    UnlockReleaseBuffer(buffer);
  }
}

// The number of values for which a group is made whose first range has `values`. A later range may
// have more. So it is what the range before had, if that was more.
uint64 values_to_size_for(Relation index, const NextRange &next, uint64 values) {
  if (next.group == 0)
    return values;
  const RangeSlot before = read_range_slot(index, slot_place(next.meta.directory, next.group - 1));
  const uint32 pages_before = group_blocks(next.meta.range_pages, next.group - 1).range_pages;
  return Max(values, uint64{before.most} * next.blocks.range_pages / pages_before);
}

// The number of values that a range will get which has no rows now, after a DELETE for instance.
uint64 expected_values(Relation table, Relation index, uint32 range_pages) {
  constexpr double kRowsOfPage = 64; // if the server does not know either
  BlockNumber pages = 0;
  double rows = 0, all_visible;
  table_relation_estimate_size(table, nullptr, &pages, &rows, &all_visible);
  const double rows_of_page = rows > 0 ? rows / pages : kRowsOfPage;
  return static_cast<uint64>(rows_of_page * range_pages *
                             IndexRelationGetNumberOfKeyAttributes(index));
}

// Sets the bits of all hashes in the lines of a range.
void add_range_hashes(Relation index, const RangeSlot &slot, const NextRange &next,
                      const GrowingArray<uint64> &hashes) {
  const Geometry geometry = slot.geometry();
  auto *bitmap = make_zeroed_array<uint8>(geometry.bytes());
  kernel->add_many(geometry, bitmap, hashes.items, static_cast<Size>(hashes.count));
  for (uint32 line = 0; line < slot.lines(); line++) {
    CHECK_FOR_INTERRUPTS();
    uint16 bits[kLineBits];
    int count = 0;
    for (int bit = 0; bit < kLineBits; bit++)
      if (bitmap[line * kLineBytes + bit / 8] >> bit % 8 & 1)
        bits[count++] = static_cast<uint16>(bit);
    if (count > 0)
      set_line_bits(index, slot, next.group, line, next.range, bits, count);
  }
  pfree(bitmap);
}

// True if the pages of a range are not being filled just now. Servers from 16 on extend a table by
// many pages at once, so the pages before a row may still be empty. But pages that are empty after
// a crash must not stop all later ranges from getting their filters.
bool is_at_rest(Relation table, const NextRange &next, BlockNumber block) {
  return next.end() + kRangesToWait * next.blocks.range_pages <= block ||
         are_mostly_full(table, next.blocks.begin(next.range), next.end());
}

} // namespace

RangeSlot new_slot(Relation table, Relation index, const RangeMeta &meta, uint32 group,
                   uint64 values) {
  if (values == 0)
    values = expected_values(table, index, group_blocks(meta.range_pages, group).range_pages);
  const Geometry geometry =
      range_geometry(values, range_rate(meta, group, RelationGetNumberOfBlocks(table)));
  RangeSlot slot = {};
  slot.start = meta.blocks;
  slot.units = geometry.units;
  slot.layout = geometry.layout;
  slot.k = geometry.k;
  return slot;
}

void write_slot(Relation index, const RangeMeta &meta, const RangeSlot &slot, uint32 group) {
  const bool extends = group / kRangeSlots == meta.directories;
  const BlockNumber after = slot.start + slot.lines();
  const BlockNumber block = extends ? after : meta.directory[group / kRangeSlots];
  const Buffer directory =
      extends ? lock_new_page(index, block)
              : lock_range_page(index, block, PageKind::range_directory, BUFFER_LOCK_EXCLUSIVE);
  const Buffer meta_buffer =
      lock_range_page(index, kMetaBlock, PageKind::range_meta, BUFFER_LOCK_EXCLUSIVE);
  GenericXLogState *record = GenericXLogStart(index);
  Page page = GenericXLogRegisterBuffer(record, directory, extends ? GENERIC_XLOG_FULL_IMAGE : 0);
  if (extends)
    initialize_page(page, PageKind::range_directory);
  RangeSlot *written = &changed_content<RangeSlot>(page)[group % kRangeSlots];
  *written = slot;
  written->check = check_of(slot);
  change_content_in<RangeMeta>(record, meta_buffer, 0, [=](RangeMeta *changed) {
    changed->groups = group + 1;
    changed->attempts = 0;
    changed->blocks = after + (extends ? 1 : 0);
    if (extends)
      changed->directory[changed->directories++] = block;
  });
  GenericXLogFinish(record);
  UnlockReleaseBuffer(meta_buffer);
  UnlockReleaseBuffer(directory);
}

NextRange next_range(Relation index) {
  NextRange next = {};
  next.meta = read_range_meta(index);
  next.attempts = next.meta.attempts;
  if (next.meta.groups > 0) {
    next.group = next.meta.groups - 1;
    const RangeSlot slot = read_range_slot(index, slot_place(next.meta.directory, next.group));
    next.has_slot = slot.ready < kGroupRanges;
    next.group += next.has_slot ? 0 : 1;
    next.range = next.has_slot ? slot.ready : 0;
    next.attempts = next.has_slot ? slot.attempts : next.meta.attempts;
  }
  next.blocks = group_blocks(next.meta.range_pages, next.group);
  return next;
}

double range_rate(const RangeMeta &meta, uint32 group, BlockNumber table_blocks) {
  return meta.rate != 0 ? meta.rate
                        : default_range_rate(group, range_count(meta.range_pages, table_blocks));
}

void summarize(HeapReader *reader, const NextRange &next) {
  Relation index = reader->index;
  const uint64 begin = next.blocks.begin(next.range);
  GrowingArray<uint64> hashes = {};
  RangeMeta meta = next.meta;
  if (!next.has_slot) {
    change_range_meta(index, [](RangeMeta *changed) { changed->attempts++; });
    read_row_hashes(reader, begin, next.end(), &hashes);
    const uint64 values = values_to_size_for(index, next, static_cast<uint64>(hashes.count));
    const RangeSlot slot = new_slot(reader->table, index, meta, next.group, values);
    write_empty_lines(index, slot, next.group);
    write_slot(index, meta, slot, next.group);
    meta = read_range_meta(index);
  }
  const SlotPlace place = slot_place(meta.directory, next.group);
  change_slot(index, place, [&](RangeSlot *slot) {
    slot->filling = static_cast<uint8>(next.range + 1);
    slot->attempts = static_cast<uint8>(Min(slot->attempts + 1U, kMostAttempts));
  });
  read_row_hashes(reader, begin, next.end(), &hashes);
  add_range_hashes(index, read_range_slot(index, place), next, hashes);
  change_slot(index, place, [&](RangeSlot *slot) {
    slot->ready = slot->filling;
    slot->attempts = 0;
    slot->most = Max(slot->most, static_cast<uint32>(hashes.count));
    slot->values += static_cast<uint64>(hashes.count);
  });
  if (hashes.items)
    pfree(hashes.items);
}

void summarize_all(Relation table, Relation index, void (*pause)()) {
  HeapReader reader = open_heap_reader(table, index, pause);
  for (;;) {
    const NextRange next = next_range(index);
    if (next.group >= kMaxGroups || next.end() > RelationGetNumberOfBlocks(table))
      break;
    summarize(&reader, next);
  }
  close_reader(&reader);
}

void summarize_for_insert(Relation table, Relation index, BlockNumber block) {
  const auto is_due = [=](const NextRange &next) {
    return next.group < kMaxGroups && next.blocks.range_pages <= kMostChosenPages &&
           next.attempts < kMostAttempts && next.end() + next.blocks.range_pages <= block;
  };
  if (!is_due(next_range(index)) || !try_lock_work(index))
    return;
  const NextRange next = next_range(index); // somebody else may have been faster
  if (is_due(next) && is_at_rest(table, next, block)) {
    const MemoryContext memory =
        AllocSetContextCreate(CurrentMemoryContext, "bloomfilter range", ALLOCSET_DEFAULT_SIZES);
    const MemoryContext before = MemoryContextSwitchTo(memory);
    const CallerRights caller = act_as_owner(table);
    HeapReader reader = open_heap_reader(table, index);
    summarize(&reader, next);
    close_reader(&reader);
    act_as_caller(caller);
    MemoryContextSwitchTo(before);
    MemoryContextDelete(memory);
  }
  unlock_work(index);
}

// Dead tuples stay in the filters, because a bit may belong to several values. They cost only false
// positives. So bulk deletion has nothing to do.
IndexBulkDeleteResult *delete_nothing(IndexVacuumInfo *, IndexBulkDeleteResult *result,
                                      IndexBulkDeleteCallback, void *) {
  return started(result);
}

IndexBulkDeleteResult *vacuum_ranges(IndexVacuumInfo *info, IndexBulkDeleteResult *result) {
  if (info->analyze_only)
    return result;
  Relation index = info->index;
  Relation table = table_open(index->rd_index->indrelid, AccessShareLock);
  lock_work(index);
  summarize_all(table, index, [] { vacuum_delay_point(false); });
  unlock_work(index);
  table_close(table, AccessShareLock);
  result = started(result);
  result->num_pages = RelationGetNumberOfBlocks(index);
  result->num_index_tuples = info->num_heap_tuples;
  result->estimated_count = info->estimated_count;
  return result;
}

} // namespace bloomfilter
