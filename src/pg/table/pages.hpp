// Reads the visible rows of a table, one page at a time, and their values.
//
// The table's access method finds the pages and the rows. So parallel and synchronized scans, read
// streams, visibility and predicate locks work as in a sequential scan. In a heap, all visible rows
// of a page are taken as soon as the table scan has found the first of them. The pages of other
// access methods are not known here. From their tables, kSlots rows are taken at a time, and each
// row is copied into a slot of its own.
//
// A row is identified by a number: its line pointer in the page, or the number of its slot. While
// the rows of a page are in use, no other row is taken from the table scan. The table scan
// therefore keeps the page pinned, and the line pointers stay valid.
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

// More slots gained nothing when slots still kept pages pinned. This has not been measured since.
constexpr int kSlots = 16;
constexpr int kMaxRows = Max(MaxHeapTuplesPerPage, kSlots);

// Starts at zero.
struct Pages {
  // Set by open_pages().
  TableScanDesc scan;     // NULL before open_pages(); whoever began the scan ends it
  ExprContext *context;   // the context in which expressions see a row
  TupleTableSlot *slot;   // holds a row of a page
  TupleTableSlot **slots; // each holds one row; NULL if pages are read
  HeapTupleData tuple;    // the tuple in `slot`
  // Set by read_rows() and forget_rows().
  uint16 rows[kMaxRows];
  int count;
  uint32 not_looked_for; // how many pages are read before the next page is looked for
  bool behind_last;      // true once the table scan has gone past its last row
};

// Reads from a table scan that is before its first row. `slot` must be of the table's kind.
void open_pages(Pages *pages, TableScanDesc scan, PlanState *node, TupleTableSlot *slot);

// Reads the rows of the next page that has any. False after the last such page.
bool read_rows(Pages *pages);

// Forgets the rows of the page. The position of the table scan does not matter.
void forget_rows(Pages *pages);

// Moves the table scan back to one of the page's rows. It must be at the page's end before.
void stand_on(Pages *pages, uint16 row);

inline HeapScanDesc heap_of(const Pages *pages) {
  return reinterpret_cast<HeapScanDesc>(pages->scan);
}

inline HeapTupleHeader tuple_at(Page page, OffsetNumber line) {
  return reinterpret_cast<HeapTupleHeader>(PageGetItem(page, PageGetItemId(page, line)));
}

// Puts a row into the slot. It stays there until the next call. If the slot holds another row of
// the same page, this changes only what ExecStoreBufferHeapTuple() would change. Calling that
// function for each row would cost a large part of what evaluating a condition costs.
inline TupleTableSlot *slot_of(Pages *pages, uint16 row) {
  if (pages->slots)
    return pages->slots[row];
  const HeapScanDesc heap = heap_of(pages);
  const Page page = BufferGetPage(heap->rs_cbuf);
  HeapTuple tuple = &pages->tuple;
  tuple->t_data = tuple_at(page, row);
  tuple->t_len = ItemIdGetLength(PageGetItemId(page, row));
  ItemPointerSet(&tuple->t_self, heap->rs_cblock, row);
  TupleTableSlot *slot = pages->slot;
  auto *stored = reinterpret_cast<BufferHeapTupleTableSlot *>(slot);
  if (unlikely(stored->buffer != heap->rs_cbuf || stored->base.tuple != tuple))
    return ExecStoreBufferHeapTuple(tuple, slot, heap->rs_cbuf);
  stored->base.off = 0;
  slot->tts_nvalid = 0;
  slot->tts_tid = tuple->t_self;
  return slot;
}

// Makes expressions see this row.
inline void show_row(Pages *pages, uint16 row) {
  pages->context->ecxt_scantuple = slot_of(pages, row);
}

// Evaluates conditions for `count` rows. Writes the rows that fulfil them to `left`, which may be
// the same array as `rows`. Returns the number of these rows.
int filter_rows(Pages *pages, ExprState *conditions, const uint16 *rows, int count, uint16 *left);

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
Element *element_of(const RowValue &value, Oid collation, MemoryContext context);

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
int collect_values(Pages *pages, const RowValue &value, const uint16 *rows, int count,
                   Values *values);

} // namespace bloomfilter
