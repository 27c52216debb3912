// A node of the executor that reads batches. EXPLAIN has three names for it:
//
//   Bloom Filter Scan    returns the rows of a table (scan_node.cpp)
//   Bloom Filter Probe   returns the rows of another node, which come one at a time (scan_node.cpp)
//   Bloom Filter Build   adds the rows of a table to states of aggregates (pg/build/)
//
// This file has what all three do in the same way: how the node begins, begins again and ends, what
// the processes of a parallel query share, and the parts of EXPLAIN's output. A process notes the
// numbers for EXPLAIN ANALYZE before it ends. Parallel workers pass them to the leader in shared
// memory.
#pragma once

#include "pg/server.hpp"

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/table/batch.hpp"

extern "C" {
#include "nodes/execnodes.h"
}

namespace bloomfilter {

// What EXPLAIN ANALYZE shows, of one process or of several. Starts at zero.
struct BatchStatistics {
  // Of the filters that were probed: their bytes in total, and the highest of their false positive
  // rates. Of several processes, the highest numbers of one.
  uint64 bytes, in_memory;
  double rate;     // 0 if unknown
  uint64 unprobed; // rows that passed without a probe: a filter rested or was not built yet
  // Of a build, for all calls together.
  double removed; // rows that the row filter removed
  uint64 rows;    // values added to states; a value added to several states counts several times
  uint64 memory;  // the most bytes that the states of one process took
  uint64 spilled; // bytes spilled to temporary files
};

struct SharedBatches;

// Starts at zero.
struct BatchNode {
  CustomScanState node; // first, because the server casts the pointer
  // Set by begin_node().
  Relation table; // NULL if rows of another node are read
  BatchPlan plan;
  RowBatches batches; // open_table() or join_shared() opens the table
  BatchStatistics own, workers;
  SharedBatches *shared; // reset by shutdown_node(); NULL if not parallel
};

// Begins the node. Expressions that are initialized after it see rows of the table.
void begin_node(BatchNode *node, EState *estate, int flags);

// Begins a scan of the table that this process does alone.
void open_table(BatchNode *node);

// Like next_batch(), for rows of a table. Also notes the filters' rates for EXPLAIN ANALYZE.
bool read_batch(BatchNode *node);

void rescan_node(CustomScanState *state);

// Shows conditions of a node. Shows nothing if there are none.
void explain_conditions(const char *label, List *conditions, BatchNode *node, List *ancestors,
                        ExplainState *explained);

// Shows the mean number of rows for each loop. In text format, shows nothing if there was no loop.
void explain_rows(const char *label, double rows, const NodeInstrumentation *instrument,
                  ExplainState *explained);

// Shows a number of bytes in kilobytes, unless it is 0, and a false positive rate as a percentage.
void explain_bytes(const char *label, uint64 bytes, ExplainState *explained);
void explain_rate(const char *label, double rate, ExplainState *explained);

// Shows the filters that were probed. Returns the statistics of all processes.
BatchStatistics explain_probes(BatchNode *node, ExplainState *explained);

// The server's callbacks, the same for all nodes.
void end_node(CustomScanState *state);
Size estimate_shared(CustomScanState *state, ParallelContext *context);
void init_shared(CustomScanState *state, ParallelContext *context, void *memory);
void reinit_shared(CustomScanState *state, ParallelContext *context, void *memory);
void join_shared(CustomScanState *state, shm_toc *contents, void *memory);
void shutdown_node(CustomScanState *state);

// All callbacks of a node.
constexpr CustomExecMethods
node_methods(void (*begin)(CustomScanState *, EState *, int),
             TupleTableSlot *(*exec)(CustomScanState *), void (*rescan)(CustomScanState *),
             void (*explain)(CustomScanState *, List *, ExplainState *)) {
  return {"Bloom Filter",  begin,       exec,          end_node,    rescan,        nullptr, nullptr,
          estimate_shared, init_shared, reinit_shared, join_shared, shutdown_node, explain};
}

// Makes the state of a node. `State` begins with a BatchNode.
template <typename State> State *make_node_state(const CustomExecMethods *methods) {
  auto *state = make_zeroed<State>();
  NodeSetTag(&state->node, T_CustomScanState);
  state->node.methods = methods;
  return state;
}

} // namespace bloomfilter
