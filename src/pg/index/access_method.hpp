// The callbacks of the index access method "bloomfilter". handler.cpp gives them to the server.
#ifndef BLOOMFILTER_PG_INDEX_ACCESS_METHOD_HPP
#define BLOOMFILTER_PG_INDEX_ACCESS_METHOD_HPP

#include "pg/server.hpp"

extern "C" {
#include "access/amapi.h"
#include "access/genam.h"
#include "access/relscan.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// build.cpp
IndexBuildResult *build_index(Relation table, Relation index, IndexInfo *info);
void build_empty(Relation index);
bool insert_row(Relation index, Datum *values, bool *nulls, ItemPointer tid, Relation table,
                IndexUniqueCheck check, bool unchanged, IndexInfo *info);

// scan.cpp
IndexScanDesc begin_scan(Relation index, int keys, int orders);
void rescan(IndexScanDesc scan, ScanKey keys, int count, ScanKey orders, int order_count);
bool next_row(IndexScanDesc scan, ScanDirection direction);
int64 all_rows(IndexScanDesc scan, TIDBitmap *bitmap);
void end_scan(IndexScanDesc scan);

// vacuum.cpp
IndexBulkDeleteResult *bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *result,
                                   IndexBulkDeleteCallback is_dead, void *state);
IndexBulkDeleteResult *vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *result);

// index_cost.cpp
void estimate_cost(PlannerInfo *root, IndexPath *path, double loops, Cost *startup, Cost *total,
                   Selectivity *selectivity, double *correlation, double *pages);

// validate.cpp
constexpr int kProbeFunctions = 4;  // functions 1 to 4 of an opclass make probes
constexpr int kOptionsFunction = 5; // function 5 of an opclass refuses its columns
bool validate_class(Oid operator_class);

} // namespace bloomfilter

#endif
