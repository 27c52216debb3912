// The batches of a Bloom Filter Scan.
//
// A batch is the visible rows of a heap page, or rows in as many slots. Its candidates are asked
// for one condition after the other, and those that are left are returned one by one, until the
// next batch. While its rows are returned the page stays pinned by the table scan, which is not
// asked for the next row before; so what the candidates are, line pointers of that page, holds.
#ifndef BLOOMFILTER_PG_TABLE_BATCH_HPP
#define BLOOMFILTER_PG_TABLE_BATCH_HPP

#include "pg/server.hpp"

#include "pg/value/items.hpp"
#include "pg/value/probe.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/relscan.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"
}

namespace bloomfilter {

// More pinned pages than these cost more than the batch gains.
constexpr int kSlots = 16;
constexpr int kMaxCandidates = Max(MaxHeapTuplesPerPage, kSlots);

struct Ask {
  ExprState *filter_state, *value_state; // the latter NULL if the value is a column
  ExprState *reached;                    // would a sequential scan ask the filter for a row?
  Element *element;                      // NULL before the first value
  Datum filter;
  FilterMemory memory;
  Oid type, collation; // of the value
  AttrNumber column;
  bool known, is_null; // is the filter evaluated?
  bool sampled;        // is its rate, or that of an earlier one, in what EXPLAIN shows?
};

// What EXPLAIN shows of the filters: bytes of all together, and the highest false positive rate of
// those that were asked first.
struct Shown {
  uint64 bytes, in_memory;
  double rate; // 0: not looked for, or not known
};

// What processes share, in front of the table scan's own.
struct Shared {
  pg_atomic_uint64 bytes, in_memory, rate_bits; // as one of them has seen
};

struct FilterScan {
  CustomScanState node; // first
  Ask *asks;
  ExprState *before;      // conditions of lower security levels
  ExprState *plain;       // all conditions, in the server's order
  ExprState *backward;    // those that batches fulfil; NULL unless the scan may go backward
  MemoryContext filters;  // what their expressions gave
  TupleTableSlot **slots; // NULL while pages are read
  Shared *shared;         // NULL: not in parallel
  Shown shown;
  HeapTupleData tuple; // of the page
  int ask_count;
  int expected;            // rows for which the filters will be asked; 0: not known
  int row_count, next_row; // of the page or the slots, which come into batches
  int count, next;         // of the batch
  bool one_by_one;         // are batches of one row each?
  bool behind_last;        // is the table scan's last row among the slots, or gone?
  bool ended;
  bool is_backward; // has the table scan last gone backward?
  Items items;      // the values of `collected`
  Datum values[kMaxCandidates];
  bool nulls[kMaxCandidates];
  uint16 rows[kMaxCandidates], candidates[kMaxCandidates],
      collected[kMaxCandidates]; // line pointers, or slots
};

inline ScanState *state_of(FilterScan *scan) {
  return &scan->node.ss;
}

inline HeapScanDesc heap_of(FilterScan *scan) {
  return reinterpret_cast<HeapScanDesc>(state_of(scan)->ss_currentScanDesc);
}

// The next row that the conditions before the asks and the filters let through, in the slot that
// the node returns; NULL after the last one.
TupleTableSlot *next_of_batches(FilterScan *scan);

// Begins anew, wherever the table scan stands.
void forget_batch(FilterScan *scan);

} // namespace bloomfilter

#endif
