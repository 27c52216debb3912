// Reads the filters of a table's rows by TID, for moving rows into groups. If the index is on an
// expression, this evaluates the expression.
#pragma once

#include "pg/server.hpp"

#include "pg/filter_index/pages.hpp"
#include "pg/value/filter.hpp"

extern "C" {
#include "access/tableam.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
}

namespace bloomfilter {

// The number of blocks of a table, as far as it was needed. A table that is not a heap may use TIDs
// in another way, so it counts as having every block.
struct TableEnd {
  Relation table;
  BlockNumber blocks; // a lower bound; can_have() raises it
};

// True if the table can have a row with this TID. If the TID is after the known end of the table,
// this reads the table's size again, because rows may have been added.
bool can_have(TableEnd *end, const IndexedRow &row);

// open_rows() sets all fields.
struct TableRows {
  TableEnd end;
  IndexInfo *info;
  IndexFetchTableData *fetch;
  TupleTableSlot *slot;
  EState *executor;     // evaluates the index's expression
  MemoryContext memory; // for the row that was read last
};

TableRows open_rows(Relation table, Relation index);
void close_rows(TableRows *rows);

// Reads the filter of the row that is visible now under a TID. Returns false if no row is visible,
// if its filter is NULL or damaged, or if its TOAST data is gone. `filter` is valid until the next
// call.
bool read_filter(TableRows *rows, ItemPointerData tid, Filter *filter);

} // namespace bloomfilter
