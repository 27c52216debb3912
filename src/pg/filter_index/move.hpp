// Moves rows into groups: while an index is built, when its list is full, and when VACUUM or
// bf_index_tidy() merges small groups and groups that have lost rows.
//
// A row leaves the list with the filter that the table has now (pages.hpp says why). So moving rows
// from the list reads the table row by row, in no good order. That is slow for filters in TOAST.
#pragma once

#include "pg/server.hpp"

#include "pg/filter_index/groups.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

// Filters with the same key that will become a group. start_batch() sets all fields.
struct ColumnBatch {
  GroupKey key;
  int most;                          // the number of columns that memory allows
  int count;                         // the number of columns that the batch has
  GroupColumn columns[kPageColumns]; // the first `count`
};

// Begins a batch whose columns may take up to `kilobytes` of memory. It always has room for one.
void start_batch(ColumnBatch *batch, const GroupKey &key, int kilobytes);
// Adds a column to a batch that is not full. Returns its bitmap, which the caller fills.
uint8 *add_column(ColumnBatch *batch, const IndexedRow &row);
// Writes the bitmap of a filter as a group stores it. For a counting filter, a bit is set if its
// counter is not 0.
void copy_bitmap(const Filter &filter, uint8 *bitmap);
// Makes a group of the batch's first columns, and removes these columns from the batch. Returns
// their number, or 0 if the batch has too few columns for a group. Calls made(rows, count) with the
// rows of the group in order.
template <typename Made> int make_batch(Relation index, ColumnBatch *batch, Made made);
// Frees the memory of the columns that are left in a batch.
void end_batch(ColumnBatch *batch);

// True if any user's INSERT, or VACUUM, may move rows. False for indexes on expressions, because
// moving a row calls the expression's functions:
// - An INSERT would call them for rows that its user may not see, and with its user's settings.
// - VACUUM must not call them. An error would abort it, and other transactions would treat what
//   they write as rolled back.
// The owner of such an index moves its rows with bf_index_tidy().
bool anybody_may_move(Relation index);

// Moves rows from the list into groups until the list is half empty. Starts with the key that most
// rows of the list have. Needs the mover's lock.
void move_full_list(Relation table, Relation index);

// Moves all rows that can be moved, and merges small groups and groups that have lost rows into
// fewer, fuller ones. Needs the mover's lock.
void tidy_index(Relation table, Relation index);

void sort_rows(IndexedRow *rows, int count);

template <typename Made> int make_batch(Relation index, ColumnBatch *batch, Made made) {
  const int count = columns_for(batch->key, batch->count, batch->most);
  if (count == 0)
    return 0;
  make_group(index, batch->key, batch->columns, count);
  IndexedRow rows[kPageColumns];
  for (int i = 0; i < count; i++) {
    rows[i] = batch->columns[i].row;
    pfree(batch->columns[i].bitmap);
  }
  sort_rows(rows, count);
  made(static_cast<const IndexedRow *>(rows), count);
  batch->count -= count;
  memmove(batch->columns, batch->columns + count, batch->count * sizeof(GroupColumn));
  return count;
}

} // namespace bloomfilter
