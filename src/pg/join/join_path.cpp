// Paths and plans of scans that ask filters, and what a table's rows are for the joins above.
//
// The parts of a table are its partitions and children. Those of a UNION ALL in FROM are not: the
// server has no statistics of such a union's columns, each of its tables may have a policy or a
// sample of its own, and the columns of one may be expressions that can fail, or have another
// collation. So filters would have to be found, and each rule be checked, for every table anew.

#include "pg/join/filters.hpp"
#include "pg/join/join.hpp"
#include "pg/list.hpp"
#include "pg/table/scan.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
}

namespace bloomfilter {
namespace {

// The server keeps a path only if it is cheaper, by more than a hundredth, or returns fewer rows
// and is also as safe in parallel.
constexpr double kClearlyCheaper = 0.98;

bool enabled = false;
set_rel_pathlist_hook_type previous_hook = nullptr;

// --- plans ---------------------------------------------------------------------------------------

// A path's custom_private has the filters, and the conditions that ask them for a row.
Plan *plan_scan(PlannerInfo *root, RelOptInfo *table, CustomPath *path, List *targets,
                List *clauses, List *) {
  for (const JoinFilter *filter :
       each<JoinFilter>(static_cast<List *>(linitial(path->custom_private))))
    attach_initplan(root, filter);
  auto *conditions = static_cast<List *>(lsecond(path->custom_private));
  return make_scan_plan(root, table, path, targets, list_concat_copy(clauses, conditions),
                        conditions);
}

constexpr CustomPathMethods kPathMethods = {"Bloom Filter Scan", plan_scan, nullptr};

// --- paths ---------------------------------------------------------------------------------------

// What the filters of a table do for a scan of it, or of one of its parts.
struct Filtered {
  List *filters;
  List *conditions; // that ask them, of the part
  double share;     // of the rows that all filters let through
  double spared;    // in the joins, by the rows that are dropped, for each row that would come
  double build;     // its part of what building them costs
};

Filtered filtered_by(PlannerInfo *root, List *filters, RelOptInfo *part, RelOptInfo *table) {
  Filtered filtered = {filters, NIL, 1.0, 0.0, 0.0};
  for (const JoinFilter *filter : each<JoinFilter>(filters)) {
    auto *copy = static_cast<Expr *>(copyObjectImpl(filter->condition));
    RestrictInfo *condition = make_simple_restrictinfo(root, for_part(root, copy, part, table));
    condition->norm_selec = filter->share;
    condition->security_level = root->qual_security_level; // that of the query's own conditions
    filtered.conditions = lappend(filtered.conditions, condition);
    filtered.spared += filtered.share * (1.0 - filter->share) * filter->spared;
    filtered.share *= filter->share;
    filtered.build += Min(part->tuples / filter->tuples, 1.0) * filter->build;
  }
  return filtered;
}

// The cheapest of some paths that depend on no other table; NULL if there is none.
const Path *cheapest(const List *paths) {
  const Path *best = nullptr;
  for (const Path *path : each<Path>(paths)) {
    if (!path->param_info &&
        (!best ||
         compare_path_costs(const_cast<Path *>(path), const_cast<Path *>(best), TOTAL_COST) < 0))
      best = path;
  }
  return best;
}

// A scan that asks the filters, compared with the paths that the table has; NULL if it does not
// pay. The server compares the paths of a table before it knows the joins above, where a path that
// returns fewer rows saves most. So a path that pays as a whole is made to look a little cheaper
// than the others.
Path *make_path(PlannerInfo *root, RelOptInfo *table, const Filtered &filtered, int workers,
                const List *others) {
  const Path *other = cheapest(others);
  const Conditions conditions =
      conditions_of(list_concat_copy(table->baserestrictinfo, filtered.conditions));
  if (!other || conditions.probes == NIL)
    return nullptr;
  CustomPath *custom = make_scan_path(root, table, conditions, workers, &kPathMethods);
  custom->flags &= ~CUSTOMPATH_SUPPORT_BACKWARD_SCAN; // what a filter lets through can change
  custom->custom_private = list_make2(filtered.filters, filtered.conditions);
  Path *path = &custom->path;
  // InitPlans are made at the top of the query's plan, which must then not be below a Gather.
  path->parallel_safe = workers > 0;
  path->startup_cost += filtered.build;
  path->total_cost += filtered.build;
  const double saved = other->total_cost + filtered.spared * path->rows - path->total_cost;
  path->rows = clamp_row_est(path->rows * filtered.share);
#if PG_VERSION_NUM >= 180000
  if (path->disabled_nodes != other->disabled_nodes)
    return path;
#endif
  if (saved <= 0.0)
    return nullptr;
  path->total_cost = Min(path->total_cost, kClearlyCheaper * other->total_cost);
  path->startup_cost = Min(path->startup_cost, path->total_cost);
  return path;
}

// --- filters that the query asks itself ----------------------------------------------------------

// Those of some conditions of a table that a join implies: they drop no row that the join would
// keep.
List *find_implied(PlannerInfo *root, RelOptInfo *table, const List *asked) {
  List *implied = NIL;
  for (const KeyPair *pair : each<KeyPair>(find_keys(root, table)))
    if (RestrictInfo *written = find_written(root, asked, *pair))
      implied = list_append_unique_ptr(implied, written);
  return implied;
}

// Makes a table's rows what they were without the conditions that a join implies, so that these
// are not counted again with the join. The paths, which are made already, return fewer rows, as
// those with filters of ours do.
void count_once(PlannerInfo *root, RelOptInfo *table) {
  if (!takes_part(root, table))
    return;
  const List *asked = find_asked(root, table);
  if (asked == NIL)
    return;
  List *implied = find_implied(root, table, asked);
  if (implied == NIL)
    return;
  List *all = table->baserestrictinfo, *others = list_difference_ptr(all, implied);
  const double with = clauselist_selectivity(root, all, 0, JOIN_INNER, nullptr),
               without = clauselist_selectivity(root, others, 0, JOIN_INNER, nullptr);
  if (with <= 0.0)
    return;
  // After the hook, the server takes a Gather to return the table's rows. So those of the paths
  // that are made already are gathered now.
  generate_useful_gather_paths(root, table, false);
  table->rows = clamp_row_est(Min(table->rows / with * without, tuples_of(root, table)));
}

// --- the hook ------------------------------------------------------------------------------------

// Is it certain that no row of the query is looked at again, in a newer version, by EvalPlanQual?
// The server marks the rows that are locked, and those of all tables beside the one that an UPDATE,
// DELETE or MERGE changes.
bool reads_one_snapshot(const PlannerInfo *root) {
  return root->rowMarks == NIL;
}

// Does the part of a query's plan that is in parallel end below its top, where its InitPlans are?
// In the outermost query it does, and where rows are grouped.
bool gathers_below_top(const PlannerInfo *root) {
  const Query *query = root->parse;
  return !root->parent_root || query->hasAggs || query->groupClause != NIL ||
         query->groupingSets != NIL || query->distinctClause != NIL || query->hasWindowFuncs;
}

// The table that the query names, of which a relation is all or a part; NULL if there is none.
RelOptInfo *named_table(PlannerInfo *root, RelOptInfo *part) {
  if (part->reloptkind == RELOPT_BASEREL)
    return part;
  int number;
  if (part->reloptkind != RELOPT_OTHER_MEMBER_REL ||
      !bms_get_singleton_member(part->top_parent_relids, &number))
    return nullptr;
  return root->simple_rel_array[number];
}

void add_filtered_scans(PlannerInfo *root, RelOptInfo *part, const RangeTblEntry *entry) {
  if (!enabled || !scans_are_offered() || !reads_one_snapshot(root) || !is_scanned(part, entry))
    return;
  RelOptInfo *table = named_table(root, part);
  if (!table || !takes_part(root, table))
    return;
  List *filters = filters_for(root, table);
  if (filters == NIL)
    return;
  const Filtered filtered = filtered_by(root, filters, part, table);
  if (Path *path = make_path(root, part, filtered, 0, part->pathlist))
    add_path(part, path);
  const int workers = gathers_below_top(root) ? workers_for(part) : 0;
  if (workers > 0)
    if (Path *path = make_path(root, part, filtered, workers, part->partial_pathlist))
      add_partial_path(part, path);
}

void plan_table(PlannerInfo *root, RelOptInfo *part, Index number, RangeTblEntry *entry) {
  if (previous_hook)
    previous_hook(root, part, number, entry);
  add_filtered_scans(root, part, entry);
  count_once(root, part);
}

} // namespace

void define_join_filters() {
  DefineCustomBoolVariable("bloomfilter.join_filter",
                           "Lets the planner place filters of a joined table's keys by itself.",
                           "A scan then drops most of the rows that a join would drop later.",
                           &enabled, false, PGC_USERSET, GUC_EXPLAIN, nullptr, nullptr, nullptr);
  previous_hook = set_rel_pathlist_hook;
  set_rel_pathlist_hook = plan_table;
}

} // namespace bloomfilter
