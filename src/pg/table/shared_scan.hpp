// Begins the table scan of a node. The scan is the process's own, or the processes of a parallel
// query share it. In shared memory, a shared scan comes after the other data that the node shares.
#ifndef BLOOMFILTER_PG_TABLE_SHARED_SCAN_HPP
#define BLOOMFILTER_PG_TABLE_SHARED_SCAN_HPP

#include "pg/server.hpp"

extern "C" {
#include "access/tableam.h"
#include "nodes/execnodes.h"
}

namespace bloomfilter {

// Begins a table scan that this process does alone. The node ends the scan.
TableScanDesc begin_own_scan(ScanState *node, Relation table);

// The size of the shared memory for a node that needs `own` bytes for itself. These bytes come
// first.
Size shared_scan_size(Relation table, const PlanState *node, Size own);

// Sets up the shared table scan in the leader: first before any worker joins it, then again before
// each rescan.
void init_shared_scan(Relation table, const PlanState *node, void *memory, Size own);
void reinit_shared_scan(Relation table, void *memory, Size own);

// Joins the shared table scan. The node ends the scan.
TableScanDesc join_shared_scan(ScanState *node, Relation table, void *memory, Size own);

} // namespace bloomfilter

#endif
