// How rows get into groups: when an index is built, when its list is full, and when small or
// emptied groups are made into larger ones.
#ifndef BLOOMFILTER_PG_INDEX_MOVE_HPP
#define BLOOMFILTER_PG_INDEX_MOVE_HPP

#include "pg/server.hpp"

#include "pg/index/groups.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

// Filters with one key that are about to be a group. start_batch() sets all fields.
struct Batch {
  GroupKey key;
  int most; // columns: as many as memory allows
  int count;
  Column columns[kPageColumns]; // the first `count`
};

// A batch whose columns take at most so many kilobytes, or that of one column.
void start_batch(Batch *batch, const GroupKey &key, int kilobytes);
// Adds a column, whose bitmap the caller fills. The batch is not full.
uint8 *add_column(Batch *batch, const IndexedRow &row);
// Writes the bitmap of a filter with the batch's key.
void copy_bitmap(const Filter &filter, uint8 *bitmap);
// Makes a group of the first columns, and leaves the others in the batch. Returns of how many; 0 if
// there are not enough for a group. `made(rows, count)` is called with their rows in order.
template <typename Made> int make_batch(Relation index, Batch *batch, Made made);
void end_batch(Batch *batch);

// May rows be moved by whoever happens to add or remove some? Not if the index is on an expression:
// its functions would be called for rows that this user may not see, and with this user's settings.
// During VACUUM they would be called where they may not fail, and where other transactions take
// what they write as if it had been rolled back. Their owner moves rows by bf_index_tidy().
bool anybody_may_move(Relation index);

// Moves rows from the list into groups: those that have the most fellows first, until the list is
// half empty. Needs the mover's lock.
void move_full_list(Relation table, Relation index);

// Moves all rows that can be moved, and makes fewer and fuller groups of small and emptied ones.
// Needs the mover's lock.
void tidy_index(Relation table, Relation index);

void sort_rows(IndexedRow *rows, int count);

template <typename Made> int make_batch(Relation index, Batch *batch, Made made) {
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
  memmove(batch->columns, batch->columns + count, batch->count * sizeof(Column));
  return count;
}

} // namespace bloomfilter

#endif
