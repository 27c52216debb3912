// Paths that probe join filters for the rows of index scans.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// Adds paths to a table or one of its parts: for each index scan that a join drives, a path that
// probes those of the table's filters that pay.
void add_filtered_lookups(PlannerInfo *root, RelOptInfo *part, RelOptInfo *table, List *filters);

extern const CustomPathMethods kFilteredLookupMethods;

} // namespace bloomfilter
