// The table scan of a node: its own, or one that the processes of a parallel query share. A shared
// scan lies in shared memory after what else the node shares there.
#ifndef BLOOMFILTER_PG_TABLE_SHARED_SCAN_HPP
#define BLOOMFILTER_PG_TABLE_SHARED_SCAN_HPP

#include "pg/server.hpp"

extern "C" {
#include "access/tableam.h"
#include "nodes/execnodes.h"
}

namespace bloomfilter {

// Begins a table scan that this process does alone. The node ends it.
TableScanDesc begin_own_scan(ScanState *node, Relation table);

// The size of shared memory that begins with `own` bytes for the node itself.
Size shared_scan_size(Relation table, const PlanState *node, Size own);

// Begins the table scan in the leader before a worker joins it, and again before a rescan.
void init_shared_scan(Relation table, const PlanState *node, void *memory, Size own);
void reinit_shared_scan(Relation table, void *memory, Size own);

// Joins the shared table scan. The node ends it.
TableScanDesc join_shared_scan(ScanState *node, Relation table, void *memory, Size own);

} // namespace bloomfilter

#endif
