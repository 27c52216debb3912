// The planner's part of a Bloom Filter Scan. The server calls the hook for each table after making
// its own paths. The hook adds paths for tables with a condition that can be batched.
// make_scan_plan() makes the plan of a path that the planner chooses. pg/join/ makes its paths and
// plans with the same functions.

#include "pg/list.hpp"
#include "pg/table/batch.hpp"
#include "pg/table/scan.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"
}

namespace bloomfilter {
namespace {

bool enabled = true;

Plan *plan_scan(PlannerInfo *root, RelOptInfo *table, CustomPath *path, List *targets,
                List *clauses, List *) {
  return make_scan_plan(root, table, path, targets, clauses, NIL);
}

constexpr CustomPathMethods kPathMethods = {kScanName, plan_scan, nullptr};

} // namespace

void add_scans(PlannerInfo *root, RelOptInfo *table, const RangeTblEntry *entry) {
  if (!enabled || table->baserestrictinfo == NIL || !is_scanned(table, entry))
    return;
  const Conditions conditions = conditions_of(table->baserestrictinfo, 0);
  if (conditions.probes == NIL)
    return;
  add_path(table, &make_scan_path(root, table, conditions, 0, &kPathMethods)->path);
  const int workers = workers_for(table);
  if (workers > 0)
    add_partial_path(table, &make_scan_path(root, table, conditions, workers, &kPathMethods)->path);
}

int workers_for(const RelOptInfo *table) {
  return table->consider_parallel
             ? compute_parallel_worker(const_cast<RelOptInfo *>(table), table->pages, -1,
                                       max_parallel_workers_per_gather)
             : 0;
}

BatchPlan batch_plan_of(List *clauses, bool is_build, double rows, List *needed) {
  const Conditions conditions = conditions_of(clauses, list_length(needed));
  BatchPlan plan = {};
  const bool may_end_early = rows == 0.0;
  plan.one_by_one =
      !is_build && (conditions.can_fail || (conditions.before_can_fail && may_end_early));
  plan.expected = static_cast<int>(Min(rows, static_cast<double>(PG_INT32_MAX)));
  Role other = is_build ? Role::before : Role::of_node;
  int by_planner = list_length(needed) - list_length(clauses);
  for (RestrictInfo *clause : each<RestrictInfo>(clauses)) {
    const int rows_needed = by_planner < 0 ? kNamedByQuery : list_nth_int(needed, by_planner);
    by_planner++;
    if (clause->pseudoconstant)
      continue; // another node evaluates it, once
    const bool is_probe = list_member_ptr(conditions.probes, clause);
    const bool is_before = list_member_ptr(conditions.before, clause);
    if (is_probe && is_build)
      other = Role::after;
    const Role role = is_probe ? Role::probe : other;
    plan.add(clause->clause, is_before ? Role::before : role, rows_needed);
  }
  return plan;
}

Plan *make_scan_plan(PlannerInfo *root, RelOptInfo *table, const CustomPath *path, List *targets,
                     List *clauses, List *needed) {
  // If the query may stop early (LIMIT, cursor), the number is unknown.
  const double rows =
      root->tuple_fraction > 0.0 ? 0.0 : table->tuples / divisor_of(path->path.parallel_workers);
  const BatchPlan plan = batch_plan_of(clauses, false, rows, needed);
  CustomScan *scan = make_batch_scan(&kScanMethods, table->relid, targets,
                                     plan.conditions_with(Role::of_node), plan);
  scan->flags = path->flags;
  return &scan->scan.plan;
}

CustomPath *make_scan_path(PlannerInfo *root, RelOptInfo *table, const Conditions &conditions,
                           int workers, const CustomPathMethods *methods) {
  CustomPath *path = makeNode(CustomPath);
  path->path.pathtype = T_CustomScan;
  path->path.parent = table;
  path->path.pathtarget = table->reltarget;
  path->path.parallel_aware = workers > 0;
  path->path.parallel_safe = table->consider_parallel;
  path->path.parallel_workers = workers;
  path->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN | CUSTOMPATH_SUPPORT_PROJECTION;
  path->methods = methods;
  set_cost(root, table, conditions, &path->path);
  return path;
}

bool scans_are_offered() {
  return enabled;
}

void define_scan() {
  DefineCustomBoolVariable(
      "bloomfilter.scan", "Enables scans that probe or build a filter for many rows at once.",
      nullptr, &enabled, true, PGC_USERSET, GUC_EXPLAIN, nullptr, nullptr, nullptr);
  RegisterCustomScanMethods(&kScanMethods);
  RegisterCustomScanMethods(&kProbeMethods);
}

} // namespace bloomfilter
