// Scans of an index of filters of heap pages: find the ranges that may have a row.
//
// The result is a lossy bitmap: heap pages without rows. The executor reads all rows of these pages
// and evaluates the conditions, so visibility, serializable transactions and HOT chains are its
// business. Pages without a filter are in every result.
//
// The scan is called with a snapshot that was taken before. A row that the snapshot sees was in the
// heap, and its bits were set, before the scan reads a slot.

#include "pg/list.hpp"
#include "pg/ranges/access_method.hpp"
#include "pg/ranges/pages.hpp"
#include "pg/ranges/values.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/index.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

// The conditions of a scan: the hash of the value of each.
struct Conditions {
  bool has_null; // no row fulfils them
  int count;
  uint64 hashes[INDEX_MAX_KEYS];
};

// The hash of a condition's value. Its type may be another one of the operator family.
uint64 hash_of(Relation index, const ScanKeyData &key) {
  const int column = key.sk_attno - 1;
  const Oid type = key.sk_subtype;
  if (!OidIsValid(type) || type == index->rd_opcintype[column])
    return column_hash(index, column, key.sk_argument);
  const Oid function = get_opfamily_proc(index->rd_opfamily[column], type, type, kHashFunction);
  if (!OidIsValid(function))
    elog(ERROR, "missing support function %d for type %u in index \"%s\"", kHashFunction, type,
         RelationGetRelationName(index));
  FmgrInfo info;
  fmgr_info(function, &info);
  return column_hash(index, column, &info, key.sk_argument);
}

Conditions conditions_of(IndexScanDesc scan) {
  Conditions conditions = {};
  for (int i = 0; i < scan->numberOfKeys; i++) {
    const ScanKeyData &key = scan->keyData[i];
    conditions.has_null |= (key.sk_flags & SK_ISNULL) != 0;
    if (!conditions.has_null)
      conditions.hashes[conditions.count++] = hash_of(scan->indexRelation, key);
  }
  return conditions;
}

// The ranges before `ready` of a group that may have all values.
ColumnSet find_ranges(Relation index, const RangeSlot &slot, uint32 group,
                      const Conditions &conditions) {
  ColumnSet found = first_columns(slot.ready);
  for (int i = 0; i < conditions.count; i++) {
    ProbedLine lines[kMaxProbedLines];
    const int count = probed_lines(slot.geometry(), conditions.hashes[i], lines);
    for (int j = 0; j < count && !found.is_empty(); j++) {
      const Buffer buffer = lock_line(index, slot, group, lines[j].line, BUFFER_LOCK_SHARE);
      found = found & columns_with(bytes_of(buffer) + kContentAt, kGroupRanges, lines[j]);
      UnlockReleaseBuffer(buffer);
    }
  }
  return found;
}

// Adds heap pages to a bitmap, and counts them.
class Found {
public:
  Found(TIDBitmap *bitmap, BlockNumber table_blocks)
      : bitmap_(bitmap), table_blocks_(table_blocks), pages_(0) {}

  void add(uint64 begin, uint64 end) {
    for (uint64 block = begin; block < Min(end, uint64{table_blocks_}); block++) {
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

void add_group(Relation index, const RangeSlot &slot, uint32 group, const GroupBlocks &blocks,
               const Conditions &conditions, Found *result) {
  const ColumnSet found = find_ranges(index, slot, group, conditions);
  for (int range = 0; range < slot.ready; range++)
    if (found.has(range))
      result->add(blocks.begin(range), blocks.begin(range + 1));
  result->add(blocks.begin(slot.ready), blocks.begin(kGroupRanges));
}

// Calls use(group, slot) for each group, with a copy of its slot.
template <typename Use> void for_each_group(Relation index, const RangeMeta &meta, Use use) {
  RangeSlot slots[kRangeSlots];
  const BlockNumber blocks = RelationGetNumberOfBlocks(index);
  for (uint32 group = 0; group < meta.groups; group++) {
    if (group % kRangeSlots == 0) {
      const Buffer buffer = lock_range_page(index, meta.directory[group / kRangeSlots],
                                            PageKind::range_directory, BUFFER_LOCK_SHARE);
      memcpy(slots, content_of<RangeSlot>(bytes_of(buffer)), sizeof slots);
      UnlockReleaseBuffer(buffer);
    }
    CHECK_FOR_INTERRUPTS();
    if (!is_sound_slot(slots[group % kRangeSlots], blocks))
      raise_index_damaged(index, meta.directory[group / kRangeSlots], "has a wrong slot");
    use(group, slots[group % kRangeSlots]);
  }
}

BlockNumber table_blocks_of(Relation index) {
  Relation table = table_open(index->rd_index->indrelid, AccessShareLock);
  const BlockNumber blocks = RelationGetNumberOfBlocks(table);
  table_close(table, AccessShareLock);
  return blocks;
}

} // namespace

IndexScanDesc begin_range_scan(Relation index, int keys, int orders) {
  return RelationGetIndexScan(index, keys, orders);
}

void rescan_ranges(IndexScanDesc scan, ScanKey keys, int, ScanKey, int) {
  if (keys && scan->numberOfKeys > 0)
    memmove(scan->keyData, keys, static_cast<Size>(scan->numberOfKeys) * sizeof(ScanKeyData));
}

int64 find_pages(IndexScanDesc scan, TIDBitmap *bitmap) {
  Relation index = scan->indexRelation;
  pgstat_count_index_scan(index);
  const Conditions conditions = conditions_of(scan);
  if (conditions.has_null)
    return 0;
  Found result(bitmap, table_blocks_of(index));
  const RangeMeta meta = read_range_meta(index);
  for_each_group(index, meta, [&](uint32 group, const RangeSlot &slot) {
    add_group(index, slot, group, group_blocks(meta.range_pages, group), conditions, &result);
  });
  result.add(group_blocks(meta.range_pages, meta.groups).first, result.table_blocks());
  constexpr int64 kRowsOfPage = 10; // nobody knows how many rows the pages have
  return result.pages() * kRowsOfPage;
}

void end_range_scan(IndexScanDesc) {}

} // namespace bloomfilter
