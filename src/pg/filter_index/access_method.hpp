// The callbacks of the index access method "bloomfilter", and the storage parameters of its
// indexes.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "access/amapi.h"
#include "access/genam.h"
#include "access/relscan.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
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
bool get_tuple(IndexScanDesc scan, ScanDirection direction);
int64 get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
void end_scan(IndexScanDesc scan);

// vacuum.cpp
IndexBulkDeleteResult *bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *result,
                                   IndexBulkDeleteCallback is_dead, void *state);
IndexBulkDeleteResult *vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *result);

// access_method.cpp

constexpr int kOptionsFunction = 5; // function 5 of an opclass refuses its columns

// Registers the storage parameters of an index, as in CREATE INDEX ... WITH (list_limit = 1000).
// There is only list_limit. Called once, when the library is loaded.
void define_index_options();

// The number of rows that may be added to the list before an INSERT moves rows into groups.
int list_limit(Relation index);

} // namespace bloomfilter
