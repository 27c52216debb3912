// See move.hpp.
//
// Rows of the list are sorted by the hashes of their keys. Rows with one hash are a run. Filters
// are read from the table one by one, and collected in a batch until a group is worth its pages.

#include "pg/filter_index/move.hpp"

#include <algorithm>

#include "core/counting.hpp"
#include "pg/compat.hpp"
#include "pg/filter_index/access_method.hpp"
#include "pg/filter_index/row_list.hpp"
#include "pg/filter_index/table_rows.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "commands/vacuum.h"
}

namespace bloomfilter {

namespace {

// The number of columns of a group for which `kilobytes` of memory suffice: at least one.
int most_columns(const GroupKey &key, int kilobytes) {
  const Size fitting = static_cast<Size>(kilobytes) * 1024 / key.bytes();
  return static_cast<int>(Max(Min(fitting, Size{kPageColumns}), 1));
}

} // namespace

void start_batch(ColumnBatch *batch, const GroupKey &key, int kilobytes) {
  batch->key = key;
  batch->count = 0;
  batch->most = most_columns(key, kilobytes);
}

uint8 *add_column(ColumnBatch *batch, const IndexedRow &row) {
  Assert(batch->count < batch->most);
  GroupColumn *column = &batch->columns[batch->count++];
  column->row = row;
  return column->bitmap = make_array<uint8>(batch->key.bytes());
}

void copy_bitmap(const Filter &filter, uint8 *bitmap) {
  const Size bytes = filter.header.geometry.bytes();
  if (structure_of(filter.header.geometry.layout) == Structure::counters)
    (void)counting_bits(filter.bitmap(), bytes, bitmap);
  else
    memcpy(bitmap, filter.bitmap(), bytes);
}

void end_batch(ColumnBatch *batch) {
  while (batch->count > 0)
    pfree(batch->columns[--batch->count].bitmap);
}

void sort_rows(IndexedRow *rows, int count) {
  std::sort(rows, rows + count, is_before);
}

namespace {

// The entries of the list whose keys have the same hash.
struct KeyRun {
  const ListEntry *first;
  int64 count;
};

// Moves the rows of a run into groups. A row stays in the list if no visible tuple has its filter,
// if its filter has another key now, or if too few rows are left for a group.
void move_run(TableRows *rows, Relation index, const KeyRun &run, int kilobytes) {
  const auto remove = [index](const IndexedRow *moved, int count) {
    remove_moved(index, moved, count);
  };
  ColumnBatch batch = {};
  for (int64 i = 0; i < run.count; i++) {
    vacuum_delay_point(false);
    Filter filter;
    GroupKey key;
    if (!read_filter(rows, tid_of(run.first[i].row), &filter) || !key_of(filter.header, &key) ||
        key_hash(key) != run.first[i].key_hash)
      continue;
    if (batch.most == 0)
      start_batch(&batch, key, kilobytes);
    if (!(key == batch.key))
      continue;
    copy_bitmap(filter, add_column(&batch, run.first[i].row));
    if (batch.count == batch.most && make_batch(index, &batch, remove) == 0)
      break; // memory allows no group that is worth it
  }
  while (make_batch(index, &batch, remove) > 0)
    ;
  end_batch(&batch);
}

// Moves rows from the list into groups, largest runs first. Stops as soon as at most `leave` rows
// are left that have not been tried and can be in a group.
void move_rows(Relation table, Relation index, int64 leave, int kilobytes) {
  GrowingArray<ListEntry> listed = groupable_entries(index);
  std::sort(listed.begin(), listed.end(), [](const ListEntry &a, const ListEntry &b) {
    return a.key_hash != b.key_hash ? a.key_hash < b.key_hash : is_before(a.row, b.row);
  });
  GrowingArray<KeyRun> runs = {};
  for (const ListEntry &entry : listed) {
    if (runs.count == 0 || entry.key_hash != runs.items[runs.count - 1].first->key_hash)
      runs.add({&entry, 0});
    runs.items[runs.count - 1].count++;
  }
  if (runs.count == 0)
    return;
  std::sort(runs.begin(), runs.end(),
            [](const KeyRun &a, const KeyRun &b) { return a.count > b.count; });
  TableRows rows = open_rows(table, index);
  int64 left = listed.count;
  for (const KeyRun &run : runs) {
    if (left <= leave)
      break;
    if (run.count < run.first->least)
      continue;
    move_run(&rows, index, run, kilobytes);
    left -= run.count;
  }
  close_rows(&rows);
  pfree(runs.items);
  pfree(listed.items);
}

// --- merging groups ----------------------------------------------------------------------------

// A group to merge: it is small, or has lost many of its rows.
struct SmallGroup {
  SlotPlace place;
  GroupKey key;
  uint32 pages;
  int live;
};

constexpr int kFullEnough = 100; // live columns

GrowingArray<SmallGroup> small_groups_of(Relation index) {
  GrowingArray<SmallGroup> groups = {};
  for_each_slot(index, [&](SlotPlace place, const GroupSlot &slot) {
    if (slot.state == SlotState::group && slot.live < kFullEnough)
      groups.add({place, slot.key, slot.pages, slot.live});
  });
  std::sort(groups.begin(), groups.end(), [](const SmallGroup &a, const SmallGroup &b) {
    return memcmp(&a.key, &b.key, sizeof(GroupKey)) < 0;
  });
  return groups;
}

// True if merging these groups is worth the writes: it makes fewer groups, or groups that take at
// most half of the pages.
bool are_worth_merging(const GroupKey &key, int most, const SmallGroup *groups, int64 count) {
  if (columns_for(key, kPageColumns, most) == 0)
    return false; // memory allows no group that is worth it
  int64 live = 0, groups_then = 0;
  uint64 pages = 0, pages_then = 0;
  for (int64 i = 0; i < count; i++) {
    live += groups[i].live;
    pages += groups[i].pages;
  }
  while (live > 0) {
    const int columns = columns_for(key, static_cast<int>(Min(live, kPageColumns)), most);
    if (columns == 0)
      break;
    live -= columns;
    groups_then++;
    pages_then += group_pages(key, columns);
  }
  return groups_then < count || 2 * pages_then <= pages;
}

// Writes new groups with the live columns of the given ones, which have one key. Frees an old group
// as soon as all its live columns are in new groups. Columns that are left at the end and are too
// few for a group go back to the list.
void merge(Relation index, const SmallGroup *groups, int64 count, int kilobytes) {
  const GroupKey &key = groups[0].key;
  ColumnBatch batch;
  start_batch(&batch, key, kilobytes);
  int64 freed = 0, read = 0, written = 0, ends = 0; // `freed` counts groups, the others columns
  const auto free_written = [&] {
    for (; freed < count && ends + groups[freed].live <= written; freed++) {
      ends += groups[freed].live;
      free_group(index, groups[freed].place);
    }
  };
  const auto nothing = [](const IndexedRow *, int) {};
  for (int64 i = 0; i < count; i++) {
    const GroupSlot slot = read_group_slot(index, groups[i].place);
    for (int column = 0; column < slot.columns;) {
      int numbers[kPageColumns], chosen = 0;
      const int first = batch.count;
      for (; column < slot.columns && batch.count < batch.most; column++)
        if (!slot.rows[column].is_none()) {
          (void)add_column(&batch, slot.rows[column]);
          numbers[chosen++] = column;
        }
      read_columns(index, slot, batch.columns + first, numbers, chosen);
      read += chosen;
      if (batch.count == batch.most) {
        written += make_batch(index, &batch, nothing);
        free_written();
      }
    }
  }
  for (int made; (made = make_batch(index, &batch, nothing)) > 0;)
    written += made;
  for (int i = 0; i < batch.count; i++)
    (void)append_entry(
        index, {batch.columns[i].row, static_cast<uint16>(least_columns(key)), key_hash(key)});
  written = read;
  end_batch(&batch);
  free_written();
}

void merge_groups(Relation index, int kilobytes) {
  const GrowingArray<SmallGroup> all = small_groups_of(index);
  const SmallGroup *groups = all.items;
  for (int64 first = 0, end; first < all.count; first = end) {
    for (end = first; end < all.count && groups[end].key == groups[first].key;)
      end++;
    if (are_worth_merging(groups[first].key, most_columns(groups[first].key, kilobytes),
                          groups + first, end - first))
      merge(index, groups + first, end - first, kilobytes);
  }
  if (all.items)
    pfree(all.items);
}

// Calls move() in a memory context of its own. Takes back the space of broken moves first, and
// records the list's new length in the end.
template <typename Move> void in_own_memory(Relation index, Move move) {
  const MemoryContext memory =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter groups", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext before = MemoryContextSwitchTo(memory);
  reclaim_space(index);
  move();
  recount_list(index);
  MemoryContextSwitchTo(before);
  MemoryContextDelete(memory);
}

} // namespace

bool anybody_may_move(Relation index) {
  return heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, nullptr);
}

void move_full_list(Relation table, Relation index) {
  in_own_memory(index, [=] { move_rows(table, index, list_limit(index) / 2, work_mem); });
}

void tidy_index(Relation table, Relation index) {
  in_own_memory(index, [=] {
    move_rows(table, index, 0, maintenance_work_mem);
    merge_groups(index, maintenance_work_mem);
    merge_free_space(index);
  });
}

} // namespace bloomfilter
