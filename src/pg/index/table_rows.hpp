// The filters of a table's rows, by TID, as an index needs them when it moves rows.
#ifndef BLOOMFILTER_PG_INDEX_TABLE_ROWS_HPP
#define BLOOMFILTER_PG_INDEX_TABLE_ROWS_HPP

#include "pg/server.hpp"

#include "pg/index/pages.hpp"
#include "pg/value/filter.hpp"

extern "C" {
#include "access/tableam.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
}

namespace bloomfilter {

// Where a table ends, as far as was needed. TIDs of a table that is no heap may be other numbers
// than a heap's: it ends nowhere.
struct TableEnd {
  Relation table;
  BlockNumber blocks; // it has these at least
};

// Can the table have this row? Rows that come meanwhile may lie behind what was its end.
bool can_have(TableEnd *end, const IndexedRow &row);

// open_rows() sets all fields.
struct TableRows {
  TableEnd end;
  IndexInfo *info;
  IndexFetchTableData *fetch;
  TupleTableSlot *slot;
  EState *executor;     // for an index on an expression
  MemoryContext memory; // of the row read last
};

TableRows open_rows(Relation table, Relation index);
void close_rows(TableRows *rows);

// The filter of the row that is visible now under a TID. False if there is none, if the filter is
// damaged, or if what it has in TOAST has vanished. It is valid until the next call.
bool read_filter(TableRows *rows, ItemPointerData tid, Filter *filter);

// The value detoasted; NULL if a part of it is not in TOAST any more.
struct varlena *whole_value(struct varlena *value);

} // namespace bloomfilter

#endif
