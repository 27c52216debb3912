// Adds a row to a bloompages index (INSERT, UPDATE, COPY).
//
// Most rows are appended to the table. Their range has no filter yet, so there is nothing to do. If
// the range has one, or is being filled, the bits of the row's values are set, each in the page of
// its line. Now and then, a row that begins a page makes the session fill a range.

#include "pg/list.hpp"
#include "pg/bloompages/access_method.hpp"
#include "pg/bloompages/summarize.hpp"

namespace bloomfilter {
namespace {

// What a statement keeps from row to row: only what never changes until REINDEX.
struct InsertCache {
  uint32 range_pages;
  uint32 directories; // the number of pages of the directory that are known
  BlockNumber directory[kMaxDirectories];
};

// Reads the meta page again if a group's page of the directory is not known yet. Returns false if
// there is no such page.
bool knows_directory(Relation index, InsertCache *cache, uint32 group) {
  const uint32 page = group / kRangeSlots;
  if (page < cache->directories)
    return true;
  const RangeMeta meta = read_range_meta(index);
  cache->range_pages = meta.range_pages;
  cache->directories = meta.directories;
  memcpy(cache->directory, meta.directory, meta.directories * sizeof(BlockNumber));
  return page < meta.directories;
}

InsertCache *cache_of(Relation index, IndexInfo *info) {
  if (!info->ii_AmCache) {
    info->ii_AmCache = make_zeroed<InsertCache>(info->ii_Context);
    (void)knows_directory(index, static_cast<InsertCache *>(info->ii_AmCache), 0);
  }
  return static_cast<InsertCache *>(info->ii_AmCache);
}

void set_value_bits(Relation index, const RangeSlot &slot, const RangePlace &place, uint64 hash) {
  ProbedLine lines[kMaxProbedLines];
  const int count = probed_lines(slot.geometry(), hash, lines);
  for (int i = 0; i < count; i++)
    set_line_bits(index, slot, place.group, lines[i].line, place.range, lines[i].bits,
                  lines[i].count);
}

} // namespace

bool insert_into_ranges(Relation index, Datum *values, bool *nulls, ItemPointer tid, Relation table,
                        IndexUniqueCheck, bool, IndexInfo *info) {
  InsertCache *cache = cache_of(index, info);
  const BlockNumber block = ItemPointerGetBlockNumber(tid);
  const RangePlace place = range_place(cache->range_pages, block);
  RangeSlot slot = {};
  if (knows_directory(index, cache, place.group))
    slot = read_range_slot(index, slot_place(cache->directory, place.group));
  if (place.range < slot.filling) {
    for (int column = 0; column < IndexRelationGetNumberOfKeyAttributes(index); column++)
      if (!nulls[column])
        set_value_bits(index, slot, place, column_hash(index, column, values[column]));
  } else if (ItemPointerGetOffsetNumber(tid) == FirstOffsetNumber &&
             range_options(index).autosummarize) {
    summarize_for_insert(table, index, block);
  }
  return false;
}

} // namespace bloomfilter
