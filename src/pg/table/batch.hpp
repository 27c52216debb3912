// Batches: the rows of a table that pass conditions and filters.
//
// A batch begins as the rows of one page (pages.hpp). Conditions of lower security levels are
// evaluated for each row. Then each filter in turn is probed for all rows that are left. A node of
// the executor reads the batches and uses the rows that are left in the end. A Bloom Filter Scan
// returns them one by one. A Bloom Filter Build (pg/build/) adds their values to filters. For a
// build, this file also evaluates all other conditions, before and after the probes.
//
//   begin_batches()     once, when the node begins
//   open_pages()        before the first batch, with a table scan, which the node ends
//   next_batch()        for each batch; then the rows, by slot_of() or collect_values()
//   restart_batches()   whenever the table scan begins again or the node moves it
//   forget_filters()    when parameters have changed, because the filters may have changed too
#ifndef BLOOMFILTER_PG_TABLE_BATCH_HPP
#define BLOOMFILTER_PG_TABLE_BATCH_HPP

#include "pg/server.hpp"

#include "pg/table/batch_plan.hpp"
#include "pg/table/pages.hpp"
#include "pg/value/probe.hpp"

namespace bloomfilter {

// Tells whether a probe that the planner has placed by itself is worth its time. If a probe lets
// nearly all rows through, it rests for some rows. Then it is tried again.
struct Rest {
  bool allowed;          // set by begin_batches()
  uint64 probed, passed; // the rows since the probe was judged last
  uint64 pause;          // the length of the last rest in rows; 0 if the filter proved useful
  uint64 left;           // the rows that are left of this rest
  uint64 unprobed;       // the rows not probed because of rests, in all scans of this process
};

// A condition that probes a filter for a value of each row. The filter is the same for all rows.
struct Probe {
  // Set by begin_batches().
  ExprState *filter_expression;
  ExprState *reached; // true for a row if a sequential scan would probe the filter for it
  RowValue value;
  Oid collation; // of the value
  // Set when rows first come to the probe, and again after forget_filters().
  bool known; // true once the filter is evaluated
  bool is_null;
  Datum filter;
  FilterMemory memory;
  // Set when the first value reaches the probe.
  Element *element;
  double rate;  // the false positive rate of the first filter; 0 if unknown
  bool sampled; // true once the rate was looked for; only EXPLAIN ANALYZE shows it
  Rest rest;
};

// Starts at zero.
struct Batches {
  // Set by begin_batches().
  PlanState *node;   // owns the expressions and counts the rows that are rejected
  ExprState *before; // the conditions before the probes; NULL if there are none
  Probe *probes;
  int probe_count;
  ExprState *after; // the conditions after the probes; NULL if there are none
  bool one_by_one;  // this and the next field are as in BatchPlan
  int expected;
  MemoryContext filters; // holds the results of the filters' expressions
  // Set by open_pages(). Like all fields below, also set by next_batch() and restart_batches().
  Pages pages;
  int taken;    // how many of the page's rows have come into batches
  uint16 *rows; // the rows of the batch that are left; points into the page's rows
  int count;
  bool ended;    // true if it is certain that no other row will be left
  Values values; // of the current probe
};

void begin_batches(Batches *batches, const BatchPlan &plan, PlanState *node);

// Reads on until a batch has rows that are left. False if there are no more such batches.
bool next_batch(Batches *batches);

// Forgets the batch and the page. The position of the table scan does not matter.
void restart_batches(Batches *batches);

void forget_filters(Batches *batches);

} // namespace bloomfilter

#endif
