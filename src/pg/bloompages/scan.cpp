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
#include "pg/bloompages/pages.hpp"
#include "pg/bloompages/values.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "nodes/tidbitmap.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

// What a scan needs for each scan key. There can be more keys than columns: `k = ANY (a) AND
// k = ANY (b)` gives two.
struct KeyHash {
  uint64 hash;       // of the value that is looked for
  FmgrInfo function; // of the value's type, if it is not the column's; found once for all rescans
};

KeyHash *key_hashes_of(IndexScanDesc scan) {
  return static_cast<KeyHash *>(scan->opaque);
}

void find_hash_function(Relation index, const ScanKeyData &key, FmgrInfo *function,
                        MemoryContext memory) {
  const Oid type = key.sk_subtype, family = index->rd_opfamily[key.sk_attno - 1];
  const Oid found = get_opfamily_proc(family, type, type, kHashFunction);
  if (!OidIsValid(found))
    elog(ERROR, "missing support function %d for type %u in index \"%s\"", kHashFunction, type,
         RelationGetRelationName(index));
  fmgr_info_cxt(found, function, memory);
}

uint64 key_hash_of(IndexScanDesc scan, int number) {
  Relation index = scan->indexRelation;
  const ScanKeyData &key = scan->keyData[number];
  const int column = key.sk_attno - 1;
  if (!OidIsValid(key.sk_subtype) || key.sk_subtype == index->rd_opcintype[column])
    return column_hash(index, column, key.sk_argument);
  // The server's hash function for `name` does not know nondeterministic collations. The one for
  // text does, and their hashes are the same otherwise.
  if (key.sk_subtype == NAMEOID) {
    const Datum name = CStringGetTextDatum(NameStr(*DatumGetName(key.sk_argument)));
    const uint64 hash = column_hash(index, column, name);
    pfree(DatumGetPointer(name)); // a nested loop calls this for each of its rows
    return hash;
  }
  FmgrInfo *function = &key_hashes_of(scan)[number].function;
  if (!function->fn_addr)
    find_hash_function(index, key, function, GetMemoryChunkContext(scan->opaque));
  return column_hash(index, column, function, key.sk_argument);
}

// Hashes the values of the scan keys. Returns false if one is NULL, so that no row is found.
bool hash_keys(IndexScanDesc scan) {
  for (int i = 0; i < scan->numberOfKeys; i++) {
    if (scan->keyData[i].sk_flags & SK_ISNULL)
      return false;
    key_hashes_of(scan)[i].hash = key_hash_of(scan, i);
  }
  return true;
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
  FilterSet found = first_filters(slot.ready);
  for (int i = 0; i < scan->numberOfKeys; i++)
    found = probe_ranges(scan->indexRelation, slot, group, key_hashes_of(scan)[i].hash, found);
  for (int range = 0; range < slot.ready; range++)
    if (found.has(range))
      result->add(blocks.begin(range), blocks.begin(range + 1));
  result->add(blocks.begin(slot.ready), blocks.begin(kGroupRanges));
}

// Calls use(group, slot) for each group, with a copy of its slot.
template <typename Use> void for_each_group(IndexScanDesc scan, const RangeMeta &meta, Use use) {
  Relation index = scan->indexRelation;
  RangeSlot slots[kRangeSlots];
  const BlockNumber blocks = RelationGetNumberOfBlocks(index);
  for (uint32 group = 0; group < meta.groups; group++) {
    if (group % kRangeSlots == 0) {
      const Buffer buffer = lock_range_page(index, meta.directory[group / kRangeSlots],
                                            PageKind::range_directory, BUFFER_LOCK_SHARE);
      check_snapshot(scan, bytes_of(buffer)); // filters made later lack the rows that were removed
      memcpy(slots, content_of<RangeSlot>(bytes_of(buffer)), sizeof slots);
      UnlockReleaseBuffer(buffer);
    }
    CHECK_FOR_INTERRUPTS();
    if (!is_sound_slot(slots[group % kRangeSlots], blocks))
      raise_wrong_slot(index, slot_place(meta.directory, group));
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
  IndexScanDesc scan = RelationGetIndexScan(index, keys, orders);
  scan->opaque = make_zeroed_array<KeyHash>(Max(keys, 1));
  return scan;
}

void rescan_ranges(IndexScanDesc scan, ScanKey keys, int, ScanKey, int) {
  if (keys && scan->numberOfKeys > 0)
    memmove(scan->keyData, keys, static_cast<Size>(scan->numberOfKeys) * sizeof(ScanKeyData));
}

int64 find_pages(IndexScanDesc scan, TIDBitmap *bitmap) {
  Relation index = scan->indexRelation;
  count_search(scan);
  if (!hash_keys(scan))
    return 0;
  FoundPages result(bitmap, table_blocks_of(index));
  const RangeMeta meta = read_range_meta(index);
  for_each_group(scan, meta, [&](uint32 group, const RangeSlot &slot) {
    add_group(scan, slot, group, group_blocks(meta.range_pages, group), &result);
  });
  result.add(group_blocks(meta.range_pages, meta.groups).first, result.table_blocks());
  constexpr int64 kRowsOfPage = 10; // nobody knows how many rows the pages have
  return result.pages() * kRowsOfPage;
}

void end_range_scan(IndexScanDesc scan) {
  pfree(scan->opaque);
}

} // namespace bloomfilter
