// Adds a row to a bloompages index (INSERT, UPDATE, COPY).
//
// Most rows are appended to the table. Their range has no filter yet, so there is nothing to do. If
// the range has one, or is being filled, the bits of the row's hashes are set, each in the page of
// its line. Now and then, a row that begins a page makes the session fill some ranges. A partial
// index does not see all rows, so there it is a statement's first row in a page.
//
// If many rows go to one range, as when CREATE INDEX CONCURRENTLY calls this for every row again,
// the session reads the range's filter once. Most bits of a row are set there already, and those
// cost no page.

#include <algorithm>

#include "pg/list.hpp"
#include "pg/bloompages/access_method.hpp"
#include "pg/bloompages/summarize.hpp"
#include "pg/value/bitmaps.hpp"

namespace bloomfilter {
namespace {

// What a statement keeps from row to row: only what never changes until REINDEX, and bits that are
// set, because they stay set as long as the group has its lines.
struct InsertCache {
  IndexedColumns columns;
  MemoryContext row; // reset after each row
  RangePlace place;  // of the last row that was put into a range with a filter
  BlockNumber start; // of the lines of its group
  int rows;          // that went there without a break
  uint8 *filter;     // of this range, as it was read once; NULL if it was not
  BlockNumber tail;  // where the last row without a filter went
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
    auto *cache = make_zeroed<InsertCache>(info->ii_Context);
    const MemoryContext before = MemoryContextSwitchTo(info->ii_Context);
    cache->columns = read_columns(index);
    cache->row = AllocSetContextCreate(info->ii_Context, "bloomfilter row", ALLOCSET_DEFAULT_SIZES);
    MemoryContextSwitchTo(before);
    (void)knows_directory(index, cache, 0);
    cache->tail = InvalidBlockNumber;
    info->ii_AmCache = cache;
  }
  return static_cast<InsertCache *>(info->ii_AmCache);
}

// Reads the filter of the range that rows go to. Hashes that it has need no bits.
void read_filter(Relation index, InsertCache *cache, const RangeSlot &slot, MemoryContext memory) {
  if (!cache->filter)
    cache->filter = static_cast<uint8 *>(
        MemoryContextAllocExtended(memory, slot.geometry().bytes(), MCXT_ALLOC_HUGE));
  read_range_filter(index, slot, cache->place.group, cache->place.range, cache->filter);
}

// Notes that a row goes to a range. Reads the range's filter if many rows have gone there.
void note_place(Relation index, InsertCache *cache, const RangeSlot &slot, const RangePlace &place,
                MemoryContext memory) {
  constexpr int kManyRows = 32; // reading a filter takes as long as setting the bits of some rows
  if (place.group != cache->place.group || place.range != cache->place.range ||
      slot.start != cache->start) {
    cache->place = place;
    cache->start = slot.start;
    cache->rows = 0;
    if (cache->filter)
      pfree(cache->filter);
    cache->filter = nullptr;
  }
  if (++cache->rows == kManyRows && cache->columns.have_keys)
    read_filter(index, cache, slot, memory);
}

// Sets the bits of hashes in the filter of a range, line by line. Empties the array.
void set_hash_bits(Relation index, const RangeSlot &slot, const RangePlace &place,
                   GrowingArray<uint64> *hashes) {
  GrowingArray<uint64> bits = {}; // the number of the line, and below it that of the bit
  for (const uint64 hash : *hashes) {
    ProbedLine lines[kMaxProbedLines];
    const int count = probed_lines(slot.geometry(), hash, lines);
    for (int i = 0; i < count; i++)
      for (int j = 0; j < lines[i].count; j++)
        bits.add(uint64{lines[i].line} * kLineBits + lines[i].bits[j]);
  }
  std::sort(bits.begin(), bits.end(), [](uint64 a, uint64 b) { return a < b; });
  for (int64 begin = 0, end; begin < bits.count; begin = end) {
    const uint64 line = bits.items[begin] / kLineBits;
    LineBit set[kLineBits];
    int count = 0;
    for (end = begin; end < bits.count && bits.items[end] / kLineBits == line; end++)
      if (end == begin || bits.items[end] != bits.items[end - 1])
        set[count++] = {static_cast<uint16>(bits.items[end] % kLineBits),
                        static_cast<uint8>(place.range)};
    CHECK_FOR_INTERRUPTS();
    set_line_bits(index, slot, place.group, static_cast<uint32>(line), set, count);
  }
  if (bits.items)
    pfree(bits.items);
  hashes->count = 0;
}

void add_row(Relation index, InsertCache *cache, const RangeSlot &slot, const RangePlace &place,
             const Datum *values, const bool *nulls, MemoryContext memory) {
  constexpr int64 kMostAtOnce = 1 << 16; // a document can have millions of keys
  note_place(index, cache, slot, place, memory);
  const MemoryContext before = MemoryContextSwitchTo(cache->row);
  const Geometry geometry = slot.geometry();
  GrowingArray<uint64> hashes = {};
  for (int i = 0; i < cache->columns.count; i++)
    if (!nulls[i])
      for_each_hash(&cache->columns.items[i], values[i], slot.copies, [&](uint64 hash, CopiesOf) {
        if (cache->filter && kernel->contains(geometry, cache->filter, hash))
          return;
        hashes.add(hash);
        if (hashes.count == kMostAtOnce) {
          set_hash_bits(index, slot, place, &hashes);
          read_filter(index, cache, slot, memory);
        }
      });
  set_hash_bits(index, slot, place, &hashes);
  MemoryContextSwitchTo(before);
  MemoryContextReset(cache->row);
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
    add_row(index, cache, slot, place, values, nulls, info->ii_Context);
    return false;
  }
  const bool is_partial = info->ii_Predicate != NIL;
  const bool is_first =
      is_partial ? block != cache->tail : ItemPointerGetOffsetNumber(tid) == FirstOffsetNumber;
  cache->tail = block;
  if (is_first && range_options(index).autosummarize)
    summarize_for_insert(table, index, cache->columns.have_keys, is_partial, block);
  return false;
}

} // namespace bloomfilter
