// Chooses the join filters of a table: those whose gain is larger than the cost of building them.
// It runs when the planner makes the paths of a table or of one of its parts.
#pragma once

#include "pg/server.hpp"

#include "pg/join/keys.hpp"
#include "pg/join/query.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// What it costs to plan, begin and end an InitPlan, in the same units as parallel_setup_cost. A
// filter must save more than this.
constexpr double kWorthwhile = 30.0;

// The server keeps a path in two cases: if it is cheaper by more than a hundredth, or if it returns
// fewer rows and is also as safe in parallel. A path with filters may cost more by itself and pay
// in the joins above. Such a path is offered at this part of the cost of the plain path.
constexpr double kClearlyCheaper = 0.98;

struct JoinFilter {
  KeyPair pair;
  // The rows of the table, or of the UNION ALL that has it as a branch. Building the filter is paid
  // once for all of them.
  double tuples;
  // The share of the probed rows that the filter lets through lies between two bounds (keys.hpp).
  // Their geometric mean decides whether the filter pays. The upper bound says how many rows to
  // expect, because a plan for too few rows can take very long.
  double share;
  double most;
  Relids joined_tables; // of the joins that a row may go through until it meets the source
  double join_saving;   // what these joins save for each row that is dropped
  double probe_cost, build_cost;
  double needed; // the rows that must reach the filter so that building it pays
  // The filter's InitPlan (initplan.hpp). It becomes part of the plan if a path that probes the
  // filter is chosen.
  const KeySource *source;
  ExtensionOids oids;
  char *name;
  Param *result;        // NULL if the filter is not placed
  PlannerInfo *subroot; // NULL if the planner has not planned it
  Path *path;
  Expr *condition; // probes the filter for a row of the table
};

// The filters, in the order in which a scan probes them at first: those that are built at once come
// before those that are built late. Repeated calls for the same table return the same filters,
// unless another table was planned between them.
List *filters_for(PlannerInfo *root, RelOptInfo *table);

// What a row that is dropped saves if it would go through this number of joins, the last one with
// the filter's source. The number may have a fraction.
Cost saving_of_joins(const KeySource *source, double joins);

// The factor by which estimates of the query's joins were changed (keys.hpp), all joins together.
// If the query only selects from a subquery, it is that of the subquery.
double correction_of_estimates(const PlannerInfo *root);

// What is likely if another table drives index scans of a table.
struct Driven {
  double executions; // the number of index scans
  double share;      // the share of the table's rows that they find
};

// `driver` is the table that drives the index scans. Equalities of single values count. If the
// tables have none, the result is the number of the driver's rows, and 1.
Driven driven_by(PlannerInfo *root, RelOptInfo *table, const RelOptInfo *driver);

// What a path that probes filters keeps in its custom_private.
struct FilteredPath {
  List *filters;
  List *conditions; // probe the filters for a row
  List *needed;     // for each filter, the rows that must reach it so that building it pays
  Cost uncharged;   // what the path costs more than its total_cost says (plan_cost.cpp)
};

inline const FilteredPath *filtered_path(const CustomPath *path) {
  return static_cast<const FilteredPath *>(linitial(path->custom_private));
}

} // namespace bloomfilter
