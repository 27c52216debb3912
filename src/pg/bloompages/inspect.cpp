// See inspect.hpp.

#include "pg/bloompages/inspect.hpp"

#include <cmath>

#include "core/bitmap.hpp"
#include "pg/list.hpp"
#include "pg/names.hpp"
#include "pg/bloompages/pages.hpp"
#include "pg/bloompages/summarize.hpp"
#include "pg/value/bitmaps.hpp"

extern "C" {
#include "utils/memutils.h"
#include "utils/snapmgr.h"
}

namespace bloomfilter {
namespace {

// Calls use(line, page) for each line of a group, while the line's page is locked.
template <typename Use>
void for_each_line(Relation index, const RangeSlot &slot, uint32 group, Use use) {
  for (uint32 line = 0; line < slot.lines(); line++) {
    CHECK_FOR_INTERRUPTS();
    const Buffer buffer = lock_line(index, slot, group, line, BUFFER_LOCK_SHARE);
    use(line, bytes_of(buffer));
    UnlockReleaseBuffer(buffer);
  }
}

// Sums over the groups of an index.
struct IndexTotals {
  double bits, set, values, added, false_pages;
  int64 overfull;
};

// A larger share of bits is set in a filter that is overfull. In a new index on whole values about
// a third is, and with this share a filter has some ten times as many false positives.
constexpr double kMostFill = 0.45;

// The filters of a group may be unequally full, so their rates are computed one by one.
void add_group(Relation index, const RangeSlot &slot, uint32 group, uint32 range_pages,
               IndexTotals *totals) {
  const double bits = static_cast<double>(slot.lines()) * kLineBits; // of a filter
  double set[kGroupRanges] = {}, rates = 0, held = 0;
  for_each_line(index, slot, group, [&](uint32, const uint8 *page) {
    uint8 lines[kGroupRanges * kLineBytes];
    read_slices(page + kContentAt, kGroupRanges, lines);
    for (int range = 0; range < slot.ready; range++) {
      const auto in_line =
          static_cast<double>(count_set(*kernel, lines + range * kLineBytes, kLineBytes));
      set[range] += in_line;
      rates += std::pow(in_line / kLineBits, slot.k) / slot.lines();
    }
  });
  for (int range = 0; range < slot.ready; range++) {
    held -= bits / slot.k * std::log1p(-Min(set[range] / bits, 0.999999));
    totals->set += set[range];
    totals->overfull += set[range] > kMostFill * bits ? 1 : 0;
  }
  totals->bits += slot.ready * bits;
  totals->values += static_cast<double>(slot.values);
  totals->added += Max(held - static_cast<double>(slot.values), 0.0);
  totals->false_pages += rates * range_pages;
}

// The state of a call of bf_index_check().
struct RangeCheck {
  Relation index;
  RangeMeta meta;
  RangeSlot *slots; // one for each group
  IndexedColumns columns;
  MemoryContext row; // reset after each row
  // The filter of the range that the last row was in. Rows come in the order of the heap, from any
  // page on.
  uint8 *filter; // NULL at first
  RangePlace place;
};

void read_filter_of(RangeCheck *check, const RangePlace &place) {
  if (check->filter && place.group == check->place.group && place.range == check->place.range)
    return;
  const RangeSlot &slot = check->slots[place.group];
  if (check->filter)
    pfree(check->filter);
  check->filter = static_cast<uint8 *>(MemoryContextAllocExtended(
      GetMemoryChunkContext(check->slots), slot.geometry().bytes(), MCXT_ALLOC_HUGE));
  check->place = place;
  read_range_filter(check->index, slot, place.group, place.range, check->filter);
}

void check_heap_row(Relation index, ItemPointer tid, Datum *values, bool *nulls, bool,
                    void *state) {
  auto *check = static_cast<RangeCheck *>(state);
  CHECK_FOR_INTERRUPTS();
  const RangePlace place =
      range_place(check->meta.range_pages, ItemPointerGetBlockNumberNoCheck(tid));
  if (place.group >= check->meta.groups || place.range >= check->slots[place.group].ready)
    return;
  read_filter_of(check, place);
  const RangeSlot &slot = check->slots[place.group];
  const MemoryContext before = MemoryContextSwitchTo(check->row);
  bool has_all = true;
  for (int i = 0; i < check->columns.count; i++)
    if (!nulls[i])
      for_each_hash(&check->columns.items[i], values[i], slot.copies, [&](uint64 hash, CopiesOf) {
        has_all &= kernel->contains(slot.geometry(), check->filter, hash);
      });
  MemoryContextSwitchTo(before);
  MemoryContextReset(check->row);
  if (!has_all)
    ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED),
                    errmsg("index \"%s\" is damaged: it lacks a value of row (%u,%u)",
                           RelationGetRelationName(index), ItemPointerGetBlockNumberNoCheck(tid),
                           ItemPointerGetOffsetNumberNoCheck(tid)),
                    errhint("Rebuild the index from the table with REINDEX.")));
}

// Reads the slots, and checks that the pages of the groups follow each other. Between them there
// can be lines of a group that was made again.
void check_range_pages(RangeCheck *check) {
  Relation index = check->index;
  check->meta = read_range_meta(index);
  check->slots = make_array<RangeSlot>(Max(check->meta.groups, 1U));
  const BlockNumber blocks = RelationGetNumberOfBlocks(index);
  if (check->meta.blocks > blocks)
    raise_index_damaged(index, check->meta.blocks - 1, "does not exist");
  BlockNumber next = kMetaBlock + 2; // after the meta page and the first page of the directory
  for (uint32 group = 0; group < check->meta.groups; group++) {
    RangeSlot *slot = &check->slots[group];
    const SlotPlace place = slot_place(check->meta.directory, group);
    *slot = read_range_slot(index, place);
    if (!is_sound_slot(*slot, blocks) || slot->start < next)
      raise_wrong_slot(index, place);
    for_each_line(index, *slot, group, [](uint32, const uint8 *) {});
    next = slot->start + slot->lines();
    // The first group in a page of the directory comes before this page.
    if (check->meta.directory[group / kRangeSlots] == next)
      next++;
  }
  if (next != check->meta.blocks)
    raise_index_damaged(index, next, "belongs to nothing");
}

} // namespace

bool is_range_index(Relation index) {
  return index->rd_rel->relam == access_method_of("bloompages");
}

RangeIndexInfo range_index_info(Relation table, Relation index) {
  const RangeMeta meta = read_range_meta(index);
  const BlockNumber blocks = RelationGetNumberOfBlocks(table);
  RangeIndexInfo info = {};
  info.ranges = static_cast<int64>(range_count(meta.range_pages, blocks));
  info.tail_pages = blocks;
  info.pages_per_range = group_blocks(meta.range_pages, Max(meta.groups, 1U) - 1).range_pages;
  IndexTotals totals = {};
  for (uint32 group = 0; group < meta.groups; group++) {
    const RangeSlot slot = read_range_slot(index, slot_place(meta.directory, group));
    const GroupBlocks pages = group_blocks(meta.range_pages, group);
    info.ready += slot.ready;
    info.tail_pages = Max(static_cast<int64>(blocks - pages.begin(slot.ready)), int64{0});
    if (slot.ready > 0)
      add_group(index, slot, group, pages.range_pages, &totals);
  }
  info.ready = Min(info.ready, info.ranges); // VACUUM may have shortened the table
  info.bits_per_value = totals.values > 0 ? totals.bits / totals.values : 0;
  info.fill = totals.bits > 0 ? totals.set / totals.bits : 0;
  info.overfull = totals.overfull;
  info.false_pages = totals.false_pages;
  info.additions = std::floor(totals.added);
  return info;
}

void check_range_index(Relation table, Relation index) {
  const MemoryContext memory =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter check", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext before = MemoryContextSwitchTo(memory);
  RangeCheck check = {};
  check.index = index;
  lock_work(index); // so that no group is added while the pages are looked through
  // The snapshot is taken before the slots are read. So the filters of ready ranges have the values
  // of each row that the snapshot sees.
  const Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
  check_range_pages(&check);
  check.columns = read_columns(index);
  check.row = AllocSetContextCreate(memory, "bloomfilter row", ALLOCSET_DEFAULT_SIZES);
  unlock_work(index);
  read_seen_rows(table, index, snapshot, check_heap_row, &check);
  UnregisterSnapshot(snapshot);
  MemoryContextSwitchTo(before);
  MemoryContextDelete(memory);
}

void tidy_range_index(Relation table, Relation index) {
  lock_work(index);
  summarize_all(table, index, check_for_interrupts);
  unlock_work(index);
}

} // namespace bloomfilter
