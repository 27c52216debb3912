// What EXPLAIN shows of nodes that read a table by batches.
#ifndef BLOOMFILTER_PG_TABLE_EXPLAIN_HPP
#define BLOOMFILTER_PG_TABLE_EXPLAIN_HPP

#include "pg/server.hpp"

extern "C" {
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "nodes/execnodes.h"
}

namespace bloomfilter {

// Shows conditions of a node; nothing if there are none.
void explain_conditions(const char *label, List *conditions, CustomScanState *node, List *ancestors,
                        ExplainState *explained);

// Shows the mean number of rows of all loops; as text, nothing if there was no loop.
void explain_rows(const char *label, double rows, const Instrumentation *instrument,
                  ExplainState *explained);

// Shows a false positive rate as a percentage.
void explain_rate(const char *label, double rate, ExplainState *explained);

} // namespace bloomfilter

#endif
