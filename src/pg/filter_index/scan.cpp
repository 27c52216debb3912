// Index scans: find the rows whose filters may hold the values of the scan keys.
//
// The column of a row in a group decides whether the row is a hit. Other rows are candidates: the
// rows of the list, and the rows of groups whose probe could raise an error. The executor rechecks
// candidates: it probes their filters in the table, and raises the errors there.
//
// A plain scan first collects all rows. Then it returns them in the order of the heap, so that each
// heap page is read once. All found rows are in memory, and LIMIT does not shorten the search.

#include <algorithm>

#include "pg/filter_index/access_method.hpp"
#include "pg/filter_index/groups.hpp"
#include "pg/filter_index/row_list.hpp"
#include "pg/filter_index/scan_key.hpp"
#include "pg/filter_index/table_rows.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/table.h"
#include "nodes/tidbitmap.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// The hashes of a scan key's values for the groups with one key. A group is probed for each hash.
struct KeyHashes {
  GroupKey key;
  bool known;     // the fields below are set for `key`
  bool undecided; // probing could raise an error, so all rows are candidates
  bool any;       // every filter counts as having one of the values
  GrowingArray<uint64> hashes;
};

// A scan key of the scan.
//
// A bf_probe is valid only in the command that made it. A key with a bf_probe of another command
// has expired, because the query may have written something in between. All rows are then
// candidates for this key.
//
// `cached` has hashes by key. A key replaces another key with the same index in the array.
struct ScanKeyState {
  bool expired;
  ScanKeyValue value;
  KeyHashes cached[16];
};

struct FoundRow {
  IndexedRow row;
  bool candidate;
};

struct FilterIndexScan {
  MemoryContext memory; // reset by each rescan
  ScanKeyState *keys;
  bool has_null;                // a scan key is NULL, so no row matches
  bool collected;               // get_tuple() has collected all rows in `found`
  GrowingArray<FoundRow> found; // sorted by TID
  int64 next;                   // the index in `found` of the row to return next
};

FilterIndexScan *scan_state_of(IndexScanDesc scan) {
  return static_cast<FilterIndexScan *>(scan->opaque);
}

void read_scan_keys(IndexScanDesc scan, FilterIndexScan *state) {
  const MemoryContext before = MemoryContextSwitchTo(state->memory);
  state->keys = make_zeroed_array<ScanKeyState>(scan->numberOfKeys);
  for (int i = 0; i < scan->numberOfKeys; i++) {
    const ScanKeyData &given = scan->keyData[i];
    state->has_null |= (given.sk_flags & SK_ISNULL) != 0;
    ScanKeyState *key = &state->keys[i];
    if (!state->has_null)
      key->expired = !read_scan_key(given.sk_argument, state->memory, &key->value);
  }
  MemoryContextSwitchTo(before);
}

void hash_values(FilterIndexScan *state, const ScanKeyValue &value, KeyHashes *cached) {
  const Header header = cached->key.header();
  const MemoryContext scratch =
      AllocSetContextCreate(state->memory, "bloomfilter probe", ALLOCSET_SMALL_SIZES);
  const MemoryContext before = MemoryContextSwitchTo(scratch);
  cached->undecided = !can_probe_for(header, value);
  cached->any = false;
  cached->hashes.count = 0;
  for (int i = 0; i < value.count && !cached->undecided; i++) {
    CHECK_FOR_INTERRUPTS();
    const Digests digests = digests_of_scan_key(header, value, i);
    cached->any |= digests.any;
    for (int j = 0; j < digests.count; j++)
      cached->hashes.add(digests.digest[j].first, state->memory);
    MemoryContextReset(scratch);
  }
  MemoryContextSwitchTo(before);
  MemoryContextDelete(scratch);
}

const KeyHashes &hashes_for_key(FilterIndexScan *state, ScanKeyState *scan_key,
                                const GroupKey &key) {
  KeyHashes *cached = &scan_key->cached[key_hash(key) % lengthof(scan_key->cached)];
  if (cached->known && cached->key == key)
    return *cached;
  cached->known = false; // in case of an error
  cached->key = key;
  hash_values(state, scan_key->value, cached);
  cached->known = true;
  return *cached;
}

// Called when a page of lines does not belong to the group of a copied slot. If the slot still has
// this group, the page is damaged: raises XX002. Else the group was freed meanwhile.
void check_freed(Relation index, SlotPlace place, const GroupSlot &slot, uint32 page) {
  const GroupSlot now = read_group_slot(index, place);
  if (now.state == SlotState::group && now.number == slot.number)
    raise_index_damaged(index, slot.start + page, "is not a page of its group");
}

// Finds the columns that have all bits of a hash. Returns false if a page does not belong to the
// group; `place` is then the number of that page.
bool probe_for_hash(Relation index, const GroupSlot &slot, uint64 hash, FilterSet *found,
                    uint32 *place) {
  ProbedLine lines[kMaxProbedLines];
  const int count = probed_lines(slot.key.geometry(), hash, lines);
  *found = live_filters(slot);
  for (int i = 0; i < count && !found->is_empty(); i++) {
    const LinePlace at = line_place(slot.columns, lines[i].line);
    *place = at.page;
    const Buffer buffer = lock_lines(index, slot, at.page);
    if (!BufferIsValid(buffer))
      return false;
    *found = *found & filters_with(bytes_of(buffer) + at.offset, slot.columns, lines[i]);
    UnlockReleaseBuffer(buffer);
  }
  return true;
}

// Finds the columns that may hold a value with one of the hashes. Returns false as probe_for_hash()
// does.
bool probe_for_hashes(Relation index, const GroupSlot &slot, const KeyHashes &cached,
                      FilterSet *found, uint32 *place) {
  *found = cached.any ? live_filters(slot) : FilterSet{};
  for (int64 i = 0; i < cached.hashes.count && !cached.any; i++) {
    CHECK_FOR_INTERRUPTS();
    FilterSet of_hash;
    if (!probe_for_hash(index, slot, cached.hashes.items[i], &of_hash, place))
      return false;
    *found = *found | of_hash;
  }
  return true;
}

// The result of probing a group: the columns that match.
struct Answer {
  FilterSet columns;
  bool candidates; // true if their rows need a recheck, false if they are hits
};

Answer probe_group(IndexScanDesc scan, SlotPlace place, const GroupSlot &slot) {
  FilterIndexScan *state = scan_state_of(scan);
  Answer answer = {live_filters(slot), false};
  for (int i = 0; i < scan->numberOfKeys && !answer.columns.is_empty(); i++) {
    ScanKeyState *key = &state->keys[i];
    const KeyHashes *cached = key->expired ? nullptr : &hashes_for_key(state, key, slot.key);
    if (!cached || cached->undecided) {
      answer.candidates = true;
      continue;
    }
    FilterSet found;
    uint32 page = 0;
    if (!probe_for_hashes(scan->indexRelation, slot, *cached, &found, &page)) {
      check_freed(scan->indexRelation, place, slot, page);
      return {FilterSet{}, false}; // rows moved, so the scan starts again, or VACUUM removed them
    }
    answer.columns = answer.columns & found;
  }
  return answer;
}

// The check of check_snapshot() while rows are returned. With old_snapshot_threshold, a row that
// was found may be gone when it is fetched, and the table raises no error. The meta page suffices
// for the check, because VACUUM changes it each time it has removed rows.
void check_snapshot_again(IndexScanDesc scan) {
#if PG_VERSION_NUM < 170000
  if (old_snapshot_threshold < 0)
    return;
  const Buffer buffer =
      lock_page(scan->indexRelation, kMetaBlock, PageKind::meta, BUFFER_LOCK_SHARE);
  check_snapshot(scan, bytes_of(buffer));
  UnlockReleaseBuffer(buffer);
#else
  (void)scan;
#endif
}

// The number of the first group that may come into the directory after the meta page was read.
// Groups get their numbers in ascending order, one at a time, before they come into the directory.
uint32 first_later_group(const IndexMeta &meta) {
  return meta.making == kNoBlock ? meta.next_group : meta.next_group - 1;
}

// Numbers begin at 0 again after the largest one.
bool is_earlier_group(uint32 number, uint32 other) {
  return static_cast<int32>(number - other) < 0;
}

// Calls use(row, is_candidate) for each row that may meet the conditions. A row can be found
// several times: if it is in two places, or if the index is read again.
//
// When the index is read again, groups that were in the directory before the last reading began
// are not probed again. If they still exist, that reading has probed them. So a scan ends soon even
// if VACUUM merges groups all the time.
template <typename Use> void find_row_ids(IndexScanDesc scan, Use use) {
  FilterIndexScan *state = scan_state_of(scan);
  Relation index = scan->indexRelation;
  count_search(scan);
  if (state->has_null)
    return;
  Relation table = table_open(index->rd_index->indrelid, NoLock); // the query has locked it
  TableEnd end = {table, 0};
  const auto find = [&](BlockNumber block, const IndexedRow &row, bool candidate) {
    if (!can_have(&end, row))
      raise_index_damaged(index, block, "has a TID that no row can have");
    use(row, candidate);
  };
  bool again = false;
  uint32 first = 0; // when the index is read again: the first group to probe
  const auto probe = [&](SlotPlace place, const GroupSlot &slot) {
    if (slot.state != SlotState::group || (again && is_earlier_group(slot.number, first)))
      return;
    const Answer answer = probe_group(scan, place, slot);
    for (int column = 0; column < slot.columns && !answer.columns.is_empty(); column++)
      if (answer.columns.has(column))
        find(place.block, slot.rows[column], answer.candidates);
  };
  for (IndexMeta meta = read_meta(index);;) {
    for_each_page(index, meta.list, PageKind::list, [&](BlockNumber block, const uint8 *page) {
      check_snapshot(scan, page);
      for (int i = 0; i < head_of(page)->count; i++)
        find(block, content_of<ListEntry>(page)[i].row, true);
    });
    for_each_page(index, meta.directory, PageKind::directory,
                  [&](BlockNumber block, const uint8 *page) {
                    check_snapshot(scan, page);
                    check_slots(index, block, page);
                    for (uint32 number = 0; number < kDirectorySlots; number++)
                      probe({block, number}, content_of<GroupSlot>(page)[number]);
                  });
    const IndexMeta now = read_meta(index);
    if (now.generation == meta.generation)
      break;
    again = true;
    first = first_later_group(meta);
    meta = now;
  }
  table_close(table, NoLock);
}

// Sorts the found rows by TID and removes duplicates. A row that was found both as a hit and as a
// candidate stays a hit.
void arrange(FilterIndexScan *state) {
  GrowingArray<FoundRow> *found = &state->found;
  std::sort(found->begin(), found->end(), [](const FoundRow &a, const FoundRow &b) {
    return is_before(a.row, b.row) || (!is_before(b.row, a.row) && a.candidate < b.candidate);
  });
  const FoundRow *end =
      std::unique(found->begin(), found->end(), [](const FoundRow &a, const FoundRow &b) {
        return !is_before(a.row, b.row) && !is_before(b.row, a.row);
      });
  found->count = end - found->items;
}

} // namespace

IndexScanDesc begin_scan(Relation index, int keys, int orders) {
  IndexScanDesc scan = RelationGetIndexScan(index, keys, orders);
  auto *state = make_zeroed<FilterIndexScan>();
  state->memory =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter index scan", ALLOCSET_DEFAULT_SIZES);
  scan->opaque = state;
  return scan;
}

void rescan(IndexScanDesc scan, ScanKey keys, int count, ScanKey orders, int order_count) {
  (void)orders;
  (void)order_count;
  if (keys && scan->numberOfKeys > 0)
    memmove(scan->keyData, keys, count * sizeof(ScanKeyData));
  FilterIndexScan *state = scan_state_of(scan);
  MemoryContextReset(state->memory);
  const MemoryContext memory = state->memory;
  *state = {};
  state->memory = memory;
  read_scan_keys(scan, state); // now, because later the keys may have expired
}

bool get_tuple(IndexScanDesc scan, ScanDirection direction) {
  Assert(ScanDirectionIsForward(direction));
  (void)direction;
  FilterIndexScan *state = scan_state_of(scan);
  if (!state->collected) {
    find_row_ids(scan, [state](const IndexedRow &row, bool candidate) {
      state->found.add({row, candidate}, state->memory);
    });
    arrange(state);
    state->collected = true;
  } else {
    check_snapshot_again(scan);
  }
  if (state->next == state->found.count)
    return false;
  const FoundRow &found = state->found.items[state->next++];
  scan->xs_heaptid = tid_of(found.row);
  scan->xs_recheck = found.candidate;
  return true;
}

int64 get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap) {
  int64 count = 0;
  find_row_ids(scan, [&](const IndexedRow &row, bool candidate) {
    ItemPointerData tid = tid_of(row);
    tbm_add_tuples(bitmap, &tid, 1, candidate);
    count++;
  });
  return count;
}

void end_scan(IndexScanDesc scan) {
  MemoryContextDelete(scan_state_of(scan)->memory);
  pfree(scan->opaque);
}

} // namespace bloomfilter
