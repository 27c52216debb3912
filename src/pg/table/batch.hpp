// Batches: the rows of a table that conditions and filters let through.
//
// A batch is the rows of a page (pages.hpp). Conditions of lower security levels are evaluated for
// each of its rows; then one filter after the other is probed for all rows that are left. What
// becomes of the rows that are left in the end is up to the node of the executor that reads the
// batches: a Bloom Filter Scan returns them one by one, a Bloom Filter Build (pg/build/) adds their
// values to filters. A build has all other conditions evaluated here, too, before and after the
// probes.
//
//   begin_batches()     once, when the node begins
//   open_pages()        before the first batch, with a table scan, which the node ends
//   next_batch()        for each batch; then the rows, by slot_of() or collect_values()
//   restart_batches()   whenever the table scan begins anew or is moved by the node
//   forget_filters()    when parameters have changed, and with them perhaps the filters
#ifndef BLOOMFILTER_PG_TABLE_BATCH_HPP
#define BLOOMFILTER_PG_TABLE_BATCH_HPP

#include "pg/server.hpp"

#include "pg/table/batch_plan.hpp"
#include "pg/table/pages.hpp"
#include "pg/value/probe.hpp"

namespace bloomfilter {

// Whether a probe that the planner has placed by itself is worth its time: if it lets nearly all
// rows through, it rests for some, and then it is tried again.
struct Rest {
  bool allowed;          // set by begin_batches()
  uint64 probed, passed; // rows since it was judged last
  uint64 pause;          // for how many rows it rested last; 0: the filter proved useful
  uint64 left;           // of these, how many are still to come
  uint64 unprobed;       // rows for which it rested, of all scans of this process
};

// A condition that probes a filter, which is the same for all rows, for a value of each row.
struct Probe {
  // Set by begin_batches().
  ExprState *filter_expression;
  ExprState *reached; // would a sequential scan probe the filter for a row?
  RowValue value;
  Oid collation; // of the value
  // Set when rows first come to the probe, and again after forget_filters().
  bool known; // is the filter evaluated?
  bool is_null;
  Datum filter;
  FilterMemory memory;
  // Set when the first value comes to it.
  Element *element;
  double rate;  // the false positive rate of the first filter; 0: unknown
  bool sampled; // was the rate looked for, which EXPLAIN ANALYZE alone shows?
  Rest rest;
};

// Starts at zero.
struct Batches {
  // Set by begin_batches().
  PlanState *node;   // whose expressions these are, and which counts the rows that are rejected
  ExprState *before; // the conditions before the probes; NULL if there are none
  Probe *probes;
  int probe_count;
  ExprState *after; // those after the probes; NULL if there are none
  bool one_by_one;  // this and the next as in BatchPlan
  int expected;
  MemoryContext filters; // holds what the expressions of filters returned
  // Set by open_pages() and, like what follows, by next_batch() and restart_batches().
  Pages pages;
  int taken;    // how many rows of the page have come into batches
  uint16 *rows; // those that are left of the batch, within the page's
  int count;
  bool ended;    // is it certain that no other row will be left?
  Values values; // for the probe at work
};

void begin_batches(Batches *batches, const BatchPlan &plan, PlanState *node);

// Reads on until rows of a batch are left; false if there are none any more.
bool next_batch(Batches *batches);

// Forgets the batch and the page, wherever the table scan stands.
void restart_batches(Batches *batches);

void forget_filters(Batches *batches);

} // namespace bloomfilter

#endif
