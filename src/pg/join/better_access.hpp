// Finds out whether the server reads a table better by an index than by a scan that probes filters.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// True if an index of a part of a table is better than a scan that probes the table's filters.
// `cost` is the cost of this scan, with building the filters. `plain` is the cheapest path of the
// part that no other table drives.
bool has_better_access(PlannerInfo *root, RelOptInfo *part, RelOptInfo *table, const List *filters,
                       const Path &plain, Cost cost);

} // namespace bloomfilter
