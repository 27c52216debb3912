// Reads heap pages, and finds the hashes of the rows in them: for a build, for a range that gets
// its filter, and for VACUUM.
//
// All rows are taken whose insertion was not rolled back: those of transactions in progress, and
// dead ones, too. Snapshots on a standby may still see rows that are dead to everybody here. Rows
// whose insertion was rolled back are left out: nobody asks for them, and their bytes may have
// another type than their column has now, if the same transaction added the column. A value whose
// TOAST data is gone belongs to a row that nobody can see, so it is left out, too.
//
// An index with expressions or a WHERE clause calls functions for a row, which may fail. A row that
// is dead to all must not stop VACUUM, so it is left out there. The index remembers the newest
// transaction that deleted such a row (RangeMeta::skipped), and an older snapshot of a standby
// reads the whole table.
//
// The lock on a page is held only to find its rows. The values are hashed while the page is pinned.
#pragma once

#include "pg/server.hpp"

#include "pg/bloompages/columns.hpp"
#include "pg/bloompages/key_set.hpp"
#include "pg/value/bitmaps.hpp"

extern "C" {
#include "access/htup.h"
#include "nodes/execnodes.h"
#include "storage/bufmgr.h"
}

namespace bloomfilter {

// Computes the expressions and the WHERE clause of an index.
struct RowExpressions {
  IndexInfo *info;
  EState *state;
  TupleTableSlot *slot; // the row
  ExprState *condition;
  Bitmapset *used;       // the table's columns that are needed, as numbers from 0 on
  TransactionId horizon; // rows that were deleted by a transaction before it are dead to all
};

// The newer of two transactions, of which each may be 0: none.
TransactionId newer_of(TransactionId a, TransactionId b);

// Starts with open_heap_reader().
struct HeapReader {
  Relation table, index;
  BufferAccessStrategy ring;
  IndexedColumns columns;
  RowExpressions *expressions; // NULL if the index has columns only
  MemoryContext scratch;       // reset after each row
  double rows;                 // rows that were read and not deleted
  TransactionId skipped;       // the newest that deleted a row that was left out; 0: none
  void (*pause)();             // called before each page
};

HeapReader open_heap_reader(Relation table, Relation index, void (*pause)() = check_for_interrupts);
void close_reader(HeapReader *reader);

// Sets `hashes` to those of all rows in the pages begin ... end - 1.
void read_row_hashes(HeapReader *reader, uint64 begin, uint64 end, HashCopies copies,
                     KeySet *hashes);

// The share of the values in these pages all of whose own_keys() are in a filter. Values that are
// not found by their keys do not count. Does not count the rows.
double share_with_keys(HeapReader *reader, uint64 begin, uint64 end, const Geometry &geometry,
                       const uint8 *filter);

// Counts the rows in these pages, as read_row_hashes() does, but does not hash them. Computes the
// expressions and the WHERE clause for each, so that CREATE INDEX fails if one of them fails for a
// row, though the row's pages get their filter later.
void count_rows(HeapReader *reader, uint64 begin, uint64 end);

// True if at most an eighth of these pages has no rows.
bool mostly_have_rows(Relation table, uint64 begin, uint64 end);

} // namespace bloomfilter
