// The callbacks of the index access method "bloompages", and the storage parameters of its indexes.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "access/amapi.h"
#include "access/genam.h"
#include "access/relscan.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"
}

namespace bloomfilter {

// build.cpp
IndexBuildResult *build_range_index(Relation table, Relation index, IndexInfo *info);
void build_empty_range_index(Relation index);

// insert.cpp
bool insert_into_ranges(Relation index, Datum *values, bool *nulls, ItemPointer tid, Relation table,
                        IndexUniqueCheck check, bool unchanged, IndexInfo *info);

// scan.cpp
IndexScanDesc begin_range_scan(Relation index, int keys, int orders);
void rescan_ranges(IndexScanDesc scan, ScanKey keys, int count, ScanKey orders, int order_count);
int64 find_pages(IndexScanDesc scan, TIDBitmap *bitmap);
void end_range_scan(IndexScanDesc scan);

// VACUUM (summarize.cpp)
IndexBulkDeleteResult *delete_nothing(IndexVacuumInfo *info, IndexBulkDeleteResult *result,
                                      IndexBulkDeleteCallback is_dead, void *state);
IndexBulkDeleteResult *vacuum_ranges(IndexVacuumInfo *info, IndexBulkDeleteResult *result);

// cost.cpp
void estimate_range_cost(PlannerInfo *root, IndexPath *path, double loops, Cost *startup,
                         Cost *total, Selectivity *selectivity, double *correlation,
                         double *index_pages);

// access_method.cpp

// Registers the storage parameters, and the hook that adds bitmap scans of these indexes which the
// server does not consider itself. Called once, when the library is loaded.
void define_bloompages();

struct RangeOptions {
  int32 vl_len_;       // do not touch directly
  int pages_per_range; // 0: the index chooses it
  bool autosummarize;  // INSERT may give a range its filter
  double fpr;          // false positive rate; 0: the index chooses it
};
RangeOptions range_options(Relation index);

} // namespace bloomfilter
