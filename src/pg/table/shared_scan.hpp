// A table scan that processes of a parallel query share, behind what else their nodes share.
#ifndef BLOOMFILTER_PG_TABLE_SHARED_SCAN_HPP
#define BLOOMFILTER_PG_TABLE_SHARED_SCAN_HPP

#include "pg/server.hpp"

extern "C" {
#include "access/tableam.h"
#include "nodes/execnodes.h"
}

namespace bloomfilter {

// The size of shared memory that begins with so many bytes for the node itself.
Size shared_scan_size(Relation table, const PlanState *node, Size own);

// Begins the table scan in the leader before a worker joins it, and again before a rescan.
void init_shared_scan(Relation table, const PlanState *node, void *memory, Size own);
void reinit_shared_scan(Relation table, void *memory, Size own);

// Joins the table scan, which the node ends.
TableScanDesc join_shared_scan(Relation table, void *memory, Size own);

} // namespace bloomfilter

#endif
