// What EXPLAIN shows of nodes that read a table in batches. A process notes the numbers before it
// ends. Parallel workers pass them to the leader in shared memory.
#pragma once

#include "pg/server.hpp"

#include "pg/compat.hpp"
#include "pg/table/batch.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "port/atomics.h"
}

namespace bloomfilter {

// Shows conditions of a node. Shows nothing if there are none.
void explain_conditions(const char *label, List *conditions, CustomScanState *node, List *ancestors,
                        ExplainState *explained);

// Shows what a scan has decided about the filters that the planner has placed: their order in the
// end, if it is not the planner's, and the filters that were not built.
void explain_decisions(const RowBatches &batches, CustomScanState *node, List *ancestors,
                       ExplainState *explained);

// Shows the mean number of rows for each loop. In text format, shows nothing if there was no loop.
void explain_rows(const char *label, double rows, const NodeInstrumentation *instrument,
                  ExplainState *explained);

// Shows a false positive rate as a percentage.
void explain_rate(const char *label, double rate, ExplainState *explained);

// What is shown of the filters that were probed: their bytes in total, the highest of their false
// positive rates, and the number of rows that passed without a probe, because a filter rested or
// was not built yet. Starts at zero.
struct ProbeStatistics {
  uint64 bytes, in_memory;
  double rate; // 0 if unknown
  uint64 unprobed, unprobed_by_workers;
};

// The same numbers in the memory that processes share. Each of the first three numbers comes from
// any one of the workers. `unprobed` is the sum over all workers.
struct SharedProbeStatistics {
  pg_atomic_uint64 bytes, in_memory, rate_bits, unprobed;
};

void init_shared_statistics(SharedProbeStatistics *shared);

// Adds up the filters that this process has probed. If `shared` is not NULL, a worker then passes
// the numbers to the leader, and the leader takes those of the workers.
void note_probes(ProbeStatistics *probed, const RowBatches &batches, SharedProbeStatistics *shared);

void explain_probes(const ProbeStatistics &probed, const NodeInstrumentation *instrument,
                    ExplainState *explained);

} // namespace bloomfilter
