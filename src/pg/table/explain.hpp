// What EXPLAIN shows of nodes that read a table by batches.
#ifndef BLOOMFILTER_PG_TABLE_EXPLAIN_HPP
#define BLOOMFILTER_PG_TABLE_EXPLAIN_HPP

#include "pg/server.hpp"

#include "pg/compat.hpp"
#include "pg/table/batch.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "port/atomics.h"
}

namespace bloomfilter {

// Shows conditions of a node; nothing if there are none.
void explain_conditions(const char *label, List *conditions, CustomScanState *node, List *ancestors,
                        ExplainState *explained);

// Shows the mean number of rows of all loops; as text, nothing if there was no loop.
void explain_rows(const char *label, double rows, const NodeInstrumentation *instrument,
                  ExplainState *explained);

// Shows a false positive rate as a percentage.
void explain_rate(const char *label, double rate, ExplainState *explained);

// What is shown of the filters that were probed: how many bytes all of them have, the highest of
// their false positive rates, and for how many rows filters rested. Starts at zero.
struct ProbedFilters {
  uint64 bytes, in_memory;
  double rate; // 0: unknown
  uint64 unprobed, unprobed_by_workers;
};

// The same in the memory that processes share. Each number is from one of the workers, apart from
// the last, which is of all of them.
struct SharedFilters {
  pg_atomic_uint64 bytes, in_memory, rate_bits, unprobed;
};

void init_shared_filters(SharedFilters *shared);

// Adds up the filters that this process has probed and, if `shared` is not NULL, passes them on to
// the leader, or takes those of the workers.
void note_filters(ProbedFilters *probed, const Batches &batches, SharedFilters *shared);

void explain_filters(const ProbedFilters &probed, const NodeInstrumentation *instrument,
                     ExplainState *explained);

} // namespace bloomfilter

#endif
