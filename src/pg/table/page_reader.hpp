// Reads the visible rows of a table, one page at a time, and their values. It also reads the rows
// of another node, one at a time.
//
// The table's access method finds the pages and the rows. So parallel and synchronized scans, read
// streams, visibility and predicate locks work as in a sequential scan. In a heap, all visible rows
// of a page are taken as soon as the table scan has found the first of them. The pages of other
// access methods are not known here. From their tables, kSlots rows are taken at a time, and each
// row is copied into a slot of its own.
//
// A row is identified by a number: its line pointer in the page, or the number of its slot. While
// the rows of a page are in use, no other row is taken from the table scan. The table scan
// therefore keeps the page pinned, and the line pointers stay valid. For the same reason, a row of
// another node stays in that node's slot.
#pragma once

#include "pg/server.hpp"

#include "pg/value/items.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/relscan.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "storage/bufmgr.h"
}

namespace bloomfilter {

// 64 and 256 slots are not faster: a scan of 2 million rows took as long with them as with 16. More
// slots would only take more memory.
constexpr int kSlots = 16;
constexpr int kMaxRows = Max(MaxHeapTuplesPerPage, kSlots);

// Starts at zero.
struct PageReader {
  // Set by open_reader() or open_input(). One of the first two is NULL.
  TableScanDesc scan;     // whoever began the scan ends it
  PlanState *input;       // the other node
  ExprContext *context;   // the context in which expressions see a row
  TupleTableSlot *slot;   // holds a row of a page or of the other node
  TupleTableSlot **slots; // each holds one row; NULL if pages are read
  HeapTupleData tuple;    // the tuple in `slot`
  // Set by read_rows() and forget_rows().
  uint16 rows[kMaxRows];
  int count;
  uint32 pages_to_skip; // how many pages are read before the next page is looked for
  bool past_last;       // true once the table scan has gone past its last row
};

// Reads from a table scan that is before its first row. `slot` must be of the table's kind.
void open_reader(PageReader *reader, TableScanDesc scan, PlanState *node, TupleTableSlot *slot);

// Reads the rows of another node. Expressions see a row as soon as it is read.
void open_input(PageReader *reader, PlanState *input, PlanState *node);

// Reads the rows of the next page that has any. False after the last such page.
bool read_rows(PageReader *reader);

// Forgets the rows of the page. The position of the table scan does not matter.
void forget_rows(PageReader *reader);

// Moves the table scan back to one of the page's rows. It must be at the page's end before.
void move_scan_to(PageReader *reader, uint16 row);

inline HeapScanDesc heap_of(const PageReader *reader) {
  return reinterpret_cast<HeapScanDesc>(reader->scan);
}

inline HeapTupleHeader tuple_at(Page page, OffsetNumber line) {
  return reinterpret_cast<HeapTupleHeader>(PageGetItem(page, PageGetItemId(page, line)));
}

// Puts a row into the slot. It stays there until the next call. If the slot holds another row of
// the same page, this changes only what ExecStoreBufferHeapTuple() would change. Calling that
// function for each row would cost a large part of what evaluating a condition costs.
inline TupleTableSlot *slot_of(PageReader *reader, uint16 row) {
  if (reader->slots)
    return reader->slots[row];
  const HeapScanDesc heap = heap_of(reader);
  const Page page = BufferGetPage(heap->rs_cbuf);
  HeapTuple tuple = &reader->tuple;
  tuple->t_data = tuple_at(page, row);
  tuple->t_len = ItemIdGetLength(PageGetItemId(page, row));
  ItemPointerSet(&tuple->t_self, heap->rs_cblock, row);
  TupleTableSlot *slot = reader->slot;
  auto *stored = reinterpret_cast<BufferHeapTupleTableSlot *>(slot);
  if (unlikely(stored->buffer != heap->rs_cbuf || stored->base.tuple != tuple))
    return ExecStoreBufferHeapTuple(tuple, slot, heap->rs_cbuf);
  stored->base.off = 0;
  slot->tts_nvalid = 0;
  slot->tts_tid = tuple->t_self;
  return slot;
}

// Makes expressions see this row.
inline void show_row(PageReader *reader, uint16 row) {
  reader->context->ecxt_scantuple = slot_of(reader, row);
}

// Evaluates conditions for `count` rows. Writes the rows that fulfil them to `left`, which may be
// the same array as `rows`. Returns the number of these rows.
int filter_rows(PageReader *reader, ExprState *conditions, const uint16 *rows, int count,
                uint16 *left);

// The value to compute from a row of the table. It is a column, an expression, or the fields of an
// anonymous row. An anonymous row is not formed: unformed_rows() hashes its fields.
struct RowValue {
  Node *node;
  AttrNumber column;     // invalid if the value is no column
  ExprState *expression; // NULL if the value is no expression
  RowValue *fields;      // NULL if the value is no anonymous row
  int field_count;
};

RowValue init_value(Node *value, PlanState *node);

// The element type of such values.
ValueType *value_type_of(const RowValue &value, Oid collation, MemoryContext context);

// The values of some rows. Values that are NULL are left out.
struct Values {
  Items items;
  Datum values[kMaxRows];
  bool nulls[kMaxRows];  // all false
  uint16 rows[kMaxRows]; // the row of each value
};

void init_values(Values *values, MemoryContext scratch);

// Collects the values of `count` rows, or of the first rows until a memory limit is reached.
// Returns the number of rows. The values of a page's column are valid as long as the page. Other
// values are valid until the context's per-tuple memory is reset.
int collect_values(PageReader *reader, const RowValue &value, const uint16 *rows, int count,
                   Values *values);

} // namespace bloomfilter
