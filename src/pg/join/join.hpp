// Join filters: filters that the planner places by itself.
//
// A join drops the rows of one table, R, whose key is not among the keys of another table, S. Often
// only a few rows of S are left after S's own conditions. Nearly all rows of R are then read, and
// perhaps sent to other processes and sorted, only to be dropped. So the planner is offered another
// path for R. The path is a Bloom Filter Scan (pg/table/) that probes a filter of S's keys. An
// InitPlan builds the filter:
//
//   SELECT bf_join_agg(S.key) FROM S WHERE <the conditions on S alone>
//
// A Bloom Filter Build (pg/build/) executes this query. (bf_join_agg is bf_agg with one difference.
// If the filter would be too large, the result contains every value and drops no rows.)
//
// The planner treats the path like any other path. It returns fewer rows than the server's paths
// and has its own cost. But the server's estimate of R's rows stays. The join is still executed.
// Its estimate is corrected where the server's is known to be far too low (keys.hpp). The executor
// knows nothing of join filters: it sees a scan with a condition, and a parameter that an InitPlan
// sets.
//
// Why the result is the same: consider the rows of S that fulfil S's conditions. A filter is placed
// only where rows of R without a partner among them add nothing to the result (keys.cpp). This
// holds whatever rows the tables have, so the rule may be applied repeatedly. The rows of S that go
// into the filter may in turn be limited to those with a partner in a third table (source.cpp). R,
// S and the rest of the query see the same snapshot.
//
//   keys.cpp         by which keys of other tables the rows of a table may be dropped
//   source.cpp       what a filter is built from: a table, its conditions, its neighbours
//   query.cpp        the queries that build filters, and those that the user has written
//   filters.cpp      which filters pay for a table
//   initplan.cpp     their InitPlans
//   better_access.cpp  whether an index reads the table better
//   join_path.cpp    paths and plans of scans that probe the filters
//   lookup_path.cpp  the same for index scans that a join drives
//   plan_cost.cpp    what the paths leave out is added to the cost of the whole plan
//
// The trade-off: planning takes a tenth longer, and the choice depends on estimates. What it gives:
// the 13 queries of the Star Schema Benchmark take 0.45 of their time in the mean (script/bench
// ssb). What it may cost is bounded. A filter is placed only if it saves clearly more than it
// costs, and one that drops too few rows is left out while the scan runs.
//
// What is not good about it: the source is read twice, by the InitPlan and by the join. A filter is
// built from one table and its neighbours, never from the result of a join.
//
// Tests: sql/join.sql, sql/join_runtime.sql, sql/join_losses.sql, test/search/joins.py.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// Defines bloomfilter.join_filter and sets the planner's hook for the paths of a table. The hook
// adds the scans of pg/table/ as well.
void define_join_filters();

// True if bloomfilter.join_filter is on.
bool join_filters_are_enabled();

extern const CustomPathMethods kFilteredScanMethods, kFilteredLookupMethods;

// Adds paths to a table or one of its parts: for each index scan that a join drives, a path that
// probes those of the table's filters that pay.
void add_filtered_lookups(PlannerInfo *root, RelOptInfo *part, RelOptInfo *table, List *filters);

// Sets the planner's hook that adds to the cost of a whole plan what the paths in it leave out.
void define_plan_cost();

// True if an index of a part of a table is better than a scan that probes the table's filters.
// `cost` is the cost of this scan, with building the filters. `plain` is the cheapest path of the
// part that no other table drives.
bool has_better_access(PlannerInfo *root, RelOptInfo *part, RelOptInfo *table, const List *filters,
                       const Path &plain, Cost cost);

// The cheapest of the paths that depend on no other table. NULL if there is none.
Path *cheapest(const List *paths);

} // namespace bloomfilter
