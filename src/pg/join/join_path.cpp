// Paths and plans of scans that probe join filters. This file also corrects the estimate of a
// table's rows if a condition that the query names repeats a join.
//
// The filters of a table are also used for its parts: its partitions and children. The branches of
// a UNION ALL in FROM are no such parts, although the server treats them alike. Each branch has its
// own columns, statistics, policy and sample. So filters are found, and every rule is checked, for
// each branch separately. Filters of the same keys share an InitPlan.

#include "pg/join/filters.hpp"
#include "pg/join/initplan.hpp"
#include "pg/join/join.hpp"
#include "pg/join/query.hpp"
#include "pg/list.hpp"
#include "pg/table/probe_control.hpp"
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

bool enabled = false;
set_rel_pathlist_hook_type previous_hook = nullptr;

// --- plans ---------------------------------------------------------------------------------------

Plan *plan_scan(PlannerInfo *root, RelOptInfo *table, CustomPath *path, List *targets,
                List *clauses, List *) {
  const FilteredPath *filtered = filtered_path(path);
  for (JoinFilter *filter : each<JoinFilter>(filtered->filters))
    attach_initplan(root, filter);
  return make_scan_plan(root, table, path, targets, list_concat_copy(clauses, filtered->conditions),
                        filtered->needed);
}

// --- paths ---------------------------------------------------------------------------------------

// If building the filters costs more than this part of reading the table without them, they must
// save several times what building them costs, in addition. Estimates are often wrong, and what may
// be lost is then no small part of the whole.
constexpr double kDear = 0.5, kDearMargin = 4.0;

// What the filters of a table do for a scan of the table or of one of its parts.
struct FilterEffect {
  List *filters;
  List *conditions;   // probe the filters for a row of the part
  List *needed;       // for each filter, the rows that must reach it so that building it pays
  double share;       // the share of rows that all filters let through, at most
  double join_saving; // what dropped rows save in the joins, divided by all rows that would come
  double build_cost;  // the scan's part of the cost of building the filters
};

FilterEffect effect_of(PlannerInfo *root, List *filters, RelOptInfo *part, RelOptInfo *table,
                       int workers) {
  FilterEffect effect = {filters, NIL, NIL, 1.0, 0.0, 0.0};
  // No filter that is built late is probed for the rows of the first pages. Workers need all
  // filters before they start.
  const double pages = Max(part->pages, 1.0),
               first = workers > 0 ? 0.0 : first_pages(pages) / pages;
  double late = 1.0; // the share of rows that the filters let through that are built late
  for (const JoinFilter *filter : each<JoinFilter>(filters)) {
    const double unprobed = filter->needed > 0.0 ? first : 0.0;
    auto *copy = static_cast<Expr *>(copyObjectImpl(filter->condition));
    RestrictInfo *condition = make_simple_restrictinfo(root, for_part(root, copy, part, table));
    condition->norm_selec = unprobed + (1.0 - unprobed) * filter->most;
    condition->security_level =
        root->qual_security_level; // the level of the query's own conditions
    effect.conditions = lappend(effect.conditions, condition);
    effect.join_saving +=
        effect.share * late * (1.0 - unprobed) * (1.0 - filter->share) * filter->join_saving;
    (unprobed > 0.0 ? late : effect.share) *= filter->most;
    const double size = Min(part->tuples / filter->tuples, 1.0);
    effect.build_cost += size * filter->build_cost;
    effect.needed = lappend_int(effect.needed, static_cast<int>(Min(size * filter->needed, 2e9)));
  }
  effect.share *= first + (1.0 - first) * late;
  return effect;
}

// Makes a path of a part of a table that probes the filters. NULL if it does not pay compared with
// the paths that the part has.
//
// The server compares the paths of a table before it knows the joins above. But a path that returns
// fewer rows saves most in these joins. So if a path pays as a whole, it is given a cost a little
// below that of the other paths. The rest of its cost is added when the joins are known
// (plan_cost.cpp). Only the first execution pays for the filters, so what remains after the startup
// cost is the cost of the scan, or all of the path's cost if the scan costs more than that.
Path *make_filtered_path(PlannerInfo *root, RelOptInfo *part, RelOptInfo *table,
                         const FilterEffect &effect, int workers, const List *others) {
  const Path *other = cheapest(others);
  const Conditions conditions = conditions_of(
      list_concat_copy(part->baserestrictinfo, effect.conditions), list_length(effect.conditions));
  if (!other || conditions.probes == NIL)
    return nullptr;
  CustomPath *custom = make_scan_path(root, part, conditions, workers, &kFilteredScanMethods);
  custom->flags &= ~CUSTOMPATH_SUPPORT_BACKWARD_SCAN; // what a filter lets through can change
  auto *filtered = make_zeroed<FilteredPath>();
  *filtered = {effect.filters, effect.conditions, effect.needed, 0.0};
  custom->custom_private = list_make1(filtered);
  Path *path = &custom->path;
  // InitPlans are made at the top of the query's plan. The top must then not be below a Gather.
  path->parallel_safe = workers > 0;
  const Cost run = path->total_cost - path->startup_cost,
             cost = path->total_cost + effect.build_cost;
  const Cost saved = other->total_cost + effect.join_saving * path->rows - cost;
  path->rows = clamp_row_est(path->rows * effect.share);
  path->startup_cost += effect.build_cost;
  path->total_cost = cost;
#if PG_VERSION_NUM >= 180000
  if (path->disabled_nodes != other->disabled_nodes)
    return path;
#endif
  const double margin = effect.build_cost > kDear * other->total_cost ? kDearMargin : 0.0;
  if (saved <= margin * effect.build_cost ||
      (workers == 0 && has_better_access(root, part, table, effect.filters, *other, cost)))
    return nullptr;
  path->total_cost = Min(cost, kClearlyCheaper * other->total_cost);
  path->startup_cost = Max(path->total_cost - run, 0.0);
  filtered->uncharged = cost - path->total_cost;
  return path;
}

// --- filters that the query itself names ---------------------------------------------------------

// The conditions in `subquery_probes` that a join implies. They drop no row that the join would
// keep.
List *find_implied(PlannerInfo *root, RelOptInfo *table, const List *subquery_probes) {
  List *implied = NIL;
  for (const KeyPair *pair : each<KeyPair>(find_keys(root, table)))
    if (RestrictInfo *same = find_same_probe(root, subquery_probes, *pair))
      implied = list_append_unique_ptr(implied, same);
  return implied;
}

// Changes the estimate of a table's rows: it becomes what it would be without the conditions that a
// join implies. Otherwise these conditions would be counted twice, once here and once in the join.
// The paths are made already and return fewer rows, like the paths with our own filters.
//
// Without this, three queries that join a table of two million rows with such a source and with
// other tables took 1.66, 1.30 and 0.55 of the CPU time: the server expected 5800 rows from the
// first join, where 99 800 came, and chose nested loops for the others.
void count_once(PlannerInfo *root, RelOptInfo *table) {
  if (table->reloptkind != RELOPT_BASEREL || !is_plain_table(root, table))
    return;
  const List *subquery_probes = find_subquery_probes(root, table);
  if (subquery_probes == NIL)
    return;
  List *implied = find_implied(root, table, subquery_probes);
  if (implied == NIL)
    return;
  List *all = table->baserestrictinfo, *others = list_difference_ptr(all, implied);
  const double with = clauselist_selectivity(root, all, 0, JOIN_INNER, nullptr),
               without = clauselist_selectivity(root, others, 0, JOIN_INNER, nullptr);
  if (with <= 0.0)
    return;
  // After the hook, the server assumes that a Gather returns the table's rows. So the paths that
  // are made already are gathered now.
  generate_useful_gather_paths(root, table, false);
  table->rows = clamp_row_est(Min(table->rows / with * without, tuples_of(root, table)));
}

// --- the hook ------------------------------------------------------------------------------------

// True if it is certain that EvalPlanQual rechecks no row of the query in a newer version. The
// server marks the rows that are locked. In an UPDATE, DELETE or MERGE, it also marks the rows of
// all tables but the one that is changed.
bool reads_one_snapshot(const PlannerInfo *root) {
  return root->rowMarks == NIL;
}

// True if a parallel scan may probe filters.
//
// The parallel part of the query's plan must end below the plan's top, where its InitPlans are.
// This holds for the outermost query. It also holds for queries that group rows, remove duplicates
// or have window functions.
//
// A Gather evaluates the InitPlans before it starts. It does so even if a condition below it that
// is evaluated only once, such as `$1 <> 0`, turns out to be false. Plain SQL would not read the
// source then. So there must be no such condition.
bool may_scan_in_parallel(const PlannerInfo *root) {
  const Query *query = root->parse;
  return !root->hasPseudoConstantQuals &&
         (!root->parent_root || query->hasAggs || query->groupClause != NIL ||
          query->groupingSets != NIL || query->distinctClause != NIL || query->hasWindowFuncs);
}

// The table that the query names, if `part` is this table or a part of it. The query can name the
// table in FROM or in a UNION ALL. NULL if there is none.
RelOptInfo *named_table(PlannerInfo *root, RelOptInfo *part) {
  if (part->reloptkind == RELOPT_BASEREL)
    return part;
  if (part->reloptkind != RELOPT_OTHER_MEMBER_REL)
    return nullptr;
  Index number = part->relid;
  while (const AppendRelInfo *member = root->append_rel_array[number]) {
    if (planner_rt_fetch(member->parent_relid, root)->rtekind != RTE_RELATION)
      break;
    number = member->parent_relid;
  }
  return root->simple_rel_array[number];
}

void add_filtered_scans(PlannerInfo *root, RelOptInfo *part, const RangeTblEntry *entry) {
  if (!enabled || !scans_are_offered() || !reads_one_snapshot(root) || !is_scanned(part, entry))
    return;
  RelOptInfo *table = named_table(root, part);
  if (!table || !is_plain_table(root, table))
    return;
  List *filters = filters_for(root, table);
  if (filters == NIL)
    return;
  // Both are compared with the paths of the server. A lookup that probes filters replaces one.
  Path *scan = make_filtered_path(root, part, table, effect_of(root, filters, part, table, 0), 0,
                                  part->pathlist);
  const int workers = scan && may_scan_in_parallel(root) ? workers_for(part) : 0;
  Path *partial = workers == 0 ? nullptr
                               : make_filtered_path(root, part, table,
                                                    effect_of(root, filters, part, table, workers),
                                                    workers, part->partial_pathlist);
  if (scan)
    add_path(part, scan);
  if (partial)
    add_partial_path(part, partial);
  add_filtered_lookups(root, part, table, filters);
}

void plan_table(PlannerInfo *root, RelOptInfo *part, Index number, RangeTblEntry *entry) {
  if (previous_hook)
    previous_hook(root, part, number, entry);
  add_scans(root, part, entry);
  add_filtered_scans(root, part, entry);
  count_once(root, part);
}

} // namespace

Path *cheapest(const List *paths) {
  Path *best = nullptr;
  for (Path *path : each<Path>(paths)) {
    if (!path->param_info && (!best || compare_path_costs(path, best, TOTAL_COST) < 0))
      best = path;
  }
  return best;
}

bool join_filters_are_enabled() {
  return enabled;
}

const CustomPathMethods kFilteredScanMethods = {kScanName, plan_scan, nullptr};

void define_join_filters() {
  DefineCustomBoolVariable(
      "bloomfilter.join_filter",
      "Enables the planner to place filters of a joined table's keys by itself.",
      "A scan then drops most of the rows that a join would drop later.", &enabled, false,
      PGC_USERSET, GUC_EXPLAIN, nullptr, nullptr, nullptr);
  previous_hook = set_rel_pathlist_hook;
  set_rel_pathlist_hook = plan_table;
  define_plan_cost();
}

} // namespace bloomfilter
