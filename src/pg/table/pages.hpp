// The visible rows of a table, those of one page at a time, and their values.
//
// The table's access method itself finds the pages and the rows, so that parallel and synchronized
// scans, read streams, visibility and predicate locks are those of a sequential scan. In a heap,
// all visible rows of a page are taken as soon as the table scan has found the first of them. The
// pages of other access methods are not known here: kSlots rows of their tables are taken at a
// time, each copied into a slot of its own.
//
// A row is identified by a number: its line pointer in the page, or the slot that it is in. While
// the rows of a page are in use, the table scan keeps the page pinned, as it is not asked for
// another row; so the line pointers stay valid.
#ifndef BLOOMFILTER_PG_TABLE_PAGES_HPP
#define BLOOMFILTER_PG_TABLE_PAGES_HPP

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

// More gained nothing when slots still kept pages pinned. It was not measured since.
constexpr int kSlots = 16;
constexpr int kMaxRows = Max(MaxHeapTuplesPerPage, kSlots);

// Starts at zero.
struct Pages {
  // Set by open_pages().
  TableScanDesc scan;     // NULL before; whoever began it ends it
  ExprContext *context;   // in which expressions see a row
  TupleTableSlot *slot;   // for a row of a page
  TupleTableSlot **slots; // a row in each; NULL while pages are read
  HeapTupleData tuple;    // the one in `slot`
  // Set by read_rows() and forget_rows().
  uint16 rows[kMaxRows];
  int count;
  uint32 not_looked_for; // how many pages are read before the one behind is looked for
  bool behind_last;      // is the last row of the table scan among the slots, or returned already?
};

// Reads from a table scan that stands before its first row. `slot` is of the table's kind.
void open_pages(Pages *pages, TableScanDesc scan, PlanState *node, TupleTableSlot *slot);

// The rows of the next page that has any; false after the last one.
bool read_rows(Pages *pages);

// Forgets the rows of the page, wherever the table scan stands.
void forget_rows(Pages *pages);

// Moves the table scan, which stands at the end of the page, back to one of its rows.
void stand_on(Pages *pages, uint16 row);

inline HeapScanDesc heap_of(const Pages *pages) {
  return reinterpret_cast<HeapScanDesc>(pages->scan);
}

inline HeapTupleHeader tuple_at(Page page, OffsetNumber line) {
  return reinterpret_cast<HeapTupleHeader>(PageGetItem(page, PageGetItemId(page, line)));
}

// The slot with a row in it, until the next call. If the slot has another row of the page, only
// what ExecStoreBufferHeapTuple() would change then is changed: for every row, its call costs much
// of what evaluating a condition does.
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

// Makes a row the one that expressions see.
inline void show_row(Pages *pages, uint16 row) {
  pages->context->ecxt_scantuple = slot_of(pages, row);
}

// Writes those of some rows that fulfil conditions to `left`, which may be `rows` itself, and
// returns their number.
int filter_rows(Pages *pages, ExprState *conditions, const uint16 *rows, int count, uint16 *left);

// What is to be computed of a row of the table: the value of a column, that of an expression, or
// those of the fields of an anonymous row, which is not formed: unformed_rows() hashes it.
struct RowValue {
  Node *node;
  AttrNumber column;     // invalid if it is none
  ExprState *expression; // NULL if it is none
  RowValue *fields;      // NULL if it is no row
  int field_count;
};

RowValue init_value(Node *value, PlanState *node);

// The element of such values.
Element *element_of(const RowValue &value, Oid collation, MemoryContext context);

// The values of some rows that are not NULL.
struct Values {
  Items items;
  Datum values[kMaxRows];
  bool nulls[kMaxRows];  // all false
  uint16 rows[kMaxRows]; // whose values they are
};

void init_values(Values *values, MemoryContext scratch);

// Collects the values of `count` rows, or of as many as fit into a limited amount of memory, and
// returns of how many. They last until the context's memory per tuple is reset, and those of a
// page's column as long as the page.
int collect_values(Pages *pages, const RowValue &value, const uint16 *rows, int count,
                   Values *values);

} // namespace bloomfilter

#endif
