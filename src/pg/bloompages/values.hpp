// The hashes of the values in the indexed columns: of a row that is inserted, of a condition's
// value, and of all rows in a range of heap pages.
//
// Equality is that of the operator class, so the hash is its support function: the extended hash
// function of the type. A column's number is mixed into its hashes, because one filter has the
// values of all columns. NULL is in no filter: no condition of these operator classes finds it.
#pragma once

#include "pg/server.hpp"

#include "pg/list.hpp"
#include "pg/value/bitmaps.hpp"

extern "C" {
#include "access/genam.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
}

namespace bloomfilter {

// The number of the support function that hashes: (type, bigint) → bigint.
constexpr uint16 kHashFunction = 1;

// The hash of a value for the column with this number, from 0 on. `function` is the hash function
// of the value's type.
uint64 column_hash(Relation index, int column, FmgrInfo *function, Datum value);

// The hash of a value of the column's own type.
inline uint64 column_hash(Relation index, int column, Datum value) {
  auto number = static_cast<AttrNumber>(column + 1);
  return column_hash(index, column, index_getprocinfo(index, number, kHashFunction), value);
}

// Reads the values of heap pages. Starts with open_heap_reader().
struct HeapReader {
  Relation table, index;
  BufferAccessStrategy ring;
  // The columns' hash functions. The index keeps such functions, too. But a function in SQL, once
  // called, keeps what its names meant to that caller, who may have had another search_path.
  FmgrInfo *functions;
  MemoryContext scratch; // reset after each row
  double rows;           // rows that were read and not deleted
  void (*pause)();       // called before each page
};

HeapReader open_heap_reader(Relation table, Relation index, void (*pause)() = check_for_interrupts);
void close_reader(HeapReader *reader);

// Sets an array to the distinct hashes, sorted, of all values in the pages begin ... end - 1. Rows
// whose insertion was rolled back are left out: nobody asks for them, and their bytes may have
// another type than their column has now, if the same transaction added the column. All others are
// taken: those of transactions in progress, and dead ones, too. Snapshots on a standby may still
// see rows that are dead to everybody here. A value whose TOAST data is gone belongs to a row that
// nobody can see, so it is left out.
//
// The lock on a page is held only to find its rows. The values are hashed while the page is pinned.
void read_row_hashes(HeapReader *reader, uint64 begin, uint64 end, GrowingArray<uint64> *hashes);

// Counts the rows in these pages, as read_row_hashes() does, but does not hash them.
void count_rows(HeapReader *reader, uint64 begin, uint64 end);

// True if at most an eighth of these pages has no rows.
bool are_mostly_full(Relation table, uint64 begin, uint64 end);

} // namespace bloomfilter
