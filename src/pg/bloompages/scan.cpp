// Scans of a bloompages index: find the ranges that may have a row.
//
// The result is a lossy bitmap: heap pages without rows. The executor reads all rows of these pages
// and evaluates the conditions, so visibility, serializable transactions and HOT chains are its
// business. Pages without a filter are in every result.
//
// The scan is called with a snapshot that was taken before. A row that the snapshot sees was in the
// heap, and its bits were set, before the scan reads a slot.

#include "pg/list.hpp"
#include "pg/bloompages/access_method.hpp"
#include "pg/bloompages/search.hpp"

extern "C" {
#include "access/table.h"
#include "nodes/tidbitmap.h"
}

namespace bloomfilter {
namespace {

Search *search_of(IndexScanDesc scan) {
  return static_cast<Search *>(scan->opaque);
}

// Tells the search what the scan keys look for. There can be more scan keys than columns: `k =
// ANY (a) AND k = ANY (b)` gives two.
void set_conditions(IndexScanDesc scan) {
  Search *search = search_of(scan);
  clear_conditions(search);
  for (int i = 0; i < scan->numberOfKeys; i++) {
    const ScanKeyData &key = scan->keyData[i];
    if (key.sk_flags & SK_ISNULL)
      search->finds_nothing = true;
    else
      add_condition(search, key.sk_attno - 1, key.sk_strategy, key.sk_subtype, key.sk_argument);
  }
}

// Adds heap pages to a bitmap, and counts them.
class FoundPages {
public:
  FoundPages(TIDBitmap *bitmap, BlockNumber table_blocks)
      : bitmap_(bitmap), table_blocks_(table_blocks), pages_(0) {}

  void add(uint64 begin, uint64 end) {
    for (uint64 block = begin; block < Min(end, uint64{table_blocks_}); block++) {
      CHECK_FOR_INTERRUPTS();
      tbm_add_page(bitmap_, static_cast<BlockNumber>(block));
      pages_++;
    }
  }
  int64 pages() const { return pages_; }
  uint64 table_blocks() const { return table_blocks_; }

private:
  TIDBitmap *bitmap_;
  BlockNumber table_blocks_; // the table may have been truncated; pages after it do not exist
  int64 pages_;
};

void add_group(IndexScanDesc scan, const RangeSlot &slot, uint32 group, const GroupBlocks &blocks,
               FoundPages *result) {
  const FilterSet found = search_group(search_of(scan), slot, group, first_filters(slot.ready));
  for (int range = 0; range < slot.ready; range++)
    if (found.has(range))
      result->add(blocks.begin(range), blocks.begin(range + 1));
  result->add(blocks.begin(slot.ready), blocks.begin(kGroupRanges));
}

// Calls use(group, slot) for each group, with a copy of its slot.
template <typename Use> void for_each_group(IndexScanDesc scan, const RangeMeta &meta, Use use) {
  Relation index = scan->indexRelation;
  RangeSlot slots[kRangeSlots];
  BlockNumber blocks = 0;
  for (uint32 group = 0; group < meta.groups; group++) {
    if (group % kRangeSlots == 0) {
      const Buffer buffer = lock_range_page(index, meta.directory[group / kRangeSlots],
                                            PageKind::range_directory, BUFFER_LOCK_SHARE);
      check_snapshot(scan, bytes_of(buffer)); // filters made later lack the rows that were removed
      memcpy(slots, content_of<RangeSlot>(bytes_of(buffer)), sizeof slots);
      UnlockReleaseBuffer(buffer);
      // A slot's lines are in the file before the slot says where.
      blocks = RelationGetNumberOfBlocks(index);
    }
    CHECK_FOR_INTERRUPTS();
    if (!is_sound_slot(slots[group % kRangeSlots], blocks))
      raise_wrong_slot(index, slot_place(meta.directory, group));
    use(group, slots[group % kRangeSlots]);
  }
}

// True if the filters may lack rows that a snapshot sees (RangeMeta::skipped).
bool lacks_rows_of(const RangeMeta &meta, Snapshot snapshot) {
  return meta.skipped != 0 && TransactionIdIsNormal(snapshot->xmin) &&
         full_transaction_id(snapshot->xmin) <= meta.skipped;
}

BlockNumber table_blocks_of(Relation index) {
  Relation table = table_open(index->rd_index->indrelid, AccessShareLock);
  const BlockNumber blocks = RelationGetNumberOfBlocks(table);
  table_close(table, AccessShareLock);
  return blocks;
}

} // namespace

IndexScanDesc begin_range_scan(Relation index, int keys, int orders) {
  IndexScanDesc scan = RelationGetIndexScan(index, keys, orders);
  scan->opaque = begin_search(index);
  return scan;
}

void rescan_ranges(IndexScanDesc scan, ScanKey keys, int, ScanKey, int) {
  if (keys && scan->numberOfKeys > 0)
    memmove(scan->keyData, keys, static_cast<Size>(scan->numberOfKeys) * sizeof(ScanKeyData));
}

int64 find_pages(IndexScanDesc scan, TIDBitmap *bitmap) {
  Relation index = scan->indexRelation;
  count_search(scan);
  set_conditions(scan);
  if (search_of(scan)->finds_nothing)
    return 0;
  FoundPages result(bitmap, table_blocks_of(index));
  RangeMeta meta = read_range_meta(index);
  if (search_of(scan)->finds_all())
    meta.groups = 0; // so every page is found
  for_each_group(scan, meta, [&](uint32 group, const RangeSlot &slot) {
    add_group(scan, slot, group, group_blocks(meta.range_pages, group), &result);
  });
  result.add(group_blocks(meta.range_pages, meta.groups).first, result.table_blocks());
  // Whoever makes filters notes what they lack before a scan can see them.
  if (lacks_rows_of(read_range_meta(index), scan->xs_snapshot))
    result.add(0, result.table_blocks());
  constexpr int64 kRowsOfPage = 10; // nobody knows how many rows the pages have
  return result.pages() * kRowsOfPage;
}

void end_range_scan(IndexScanDesc scan) {
  end_search(search_of(scan));
}

} // namespace bloomfilter
