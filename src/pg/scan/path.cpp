#include "pg/scan/scan.hpp"

#include <cmath>

extern "C" {
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"
}

#include "pg/planner/knowledge.hpp"

namespace bloomfilter {
namespace {

bool enabled = true;
set_rel_pathlist_hook_type previous_hook = nullptr;

// Costs of a row whose value is hashed and asked for with others, and of one that is left, in
// cpu_tuple_cost; script/bench scan has both. A probe of a filter beyond the processor's cache
// costs more, though its lines are prefetched.
constexpr double kAsked = 0.4;
constexpr double kPerDoubling = 0.06;
constexpr double kCached = 512.0 * 1024.0;
constexpr double kLeft = 0.8;
constexpr double kRowsOfPage = 200.0; // which are asked before the first one is seen

// Parts that processes divide a scan into, as the server's cost_seqscan() has them.
double divisor_of(int workers) {
  const double leader = parallel_leader_participation ? Max(1.0 - 0.3 * workers, 0.0) : 0.0;
  return workers > 0 ? workers + leader : 1.0;
}

double cost_of_ask(PlannerInfo *root, const RestrictInfo *condition) {
  AskCall call;
  is_ask(reinterpret_cast<Node *>(condition->clause), &call);
  const double bytes = known_of(root, call.filter).bytes;
  QualCost value;
  cost_qual_eval_node(&value, call.value, root);
  return value.per_tuple +
         cpu_tuple_cost * (kAsked + kPerDoubling * std::log2(Max(bytes / kCached, 1.0)));
}

double cost_of(PlannerInfo *root, List *conditions) {
  QualCost cost;
  cost_qual_eval(&cost, conditions, root);
  return cost.per_tuple;
}

double cost_of_asks(PlannerInfo *root, List *asks) {
  double cost = 0.0;
  ListCell *cell;
  foreach (cell, asks)
    cost += cost_of_ask(root, lfirst_node(RestrictInfo, cell));
  return cost;
}

// A sequential scan's cost, but for what rows and conditions take.
void set_cost(PlannerInfo *root, RelOptInfo *table, const Conditions &conditions, Path *path) {
  const Path *plain = create_seqscan_path(root, table, nullptr, path->parallel_workers);
  const double divisor = divisor_of(path->parallel_workers);
  const double share = clauselist_selectivity(root, conditions.asks, 0, JOIN_INNER, nullptr);
  const double before =
      conditions.before == NIL ? 0.0 : kLeft * cpu_tuple_cost + cost_of(root, conditions.before);
  const double row = before + cost_of_asks(root, conditions.asks) +
                     share * (kLeft * cpu_tuple_cost + cost_of(root, conditions.others));
  const double plain_row = cpu_tuple_cost + table->baserestrictcost.per_tuple;
  const double saved = (plain_row - row) * table->tuples / divisor;
  path->rows = plain->rows;
#if PG_VERSION_NUM >= 180000
  path->disabled_nodes = plain->disabled_nodes;
#endif
  path->startup_cost = plain->startup_cost + row * Min(kRowsOfPage, table->tuples);
  path->total_cost = Max(plain->total_cost - saved, path->startup_cost);
}

Plan *plan_scan(PlannerInfo *, RelOptInfo *table, CustomPath *path, List *targets, List *clauses,
                List *) {
  const Conditions conditions = conditions_of(clauses);
  List *asks = extract_actual_clauses(conditions.asks, false);
  List *before = extract_actual_clauses(conditions.before, false);
  CustomScan *scan = makeNode(CustomScan);
  scan->scan.plan.targetlist = targets;
  scan->scan.plan.qual = extract_actual_clauses(conditions.others, false);
  scan->scan.scanrelid = table->relid;
  scan->flags = path->flags;
  scan->custom_exprs =
      list_concat(list_concat_copy(asks, before), extract_actual_clauses(clauses, false));
  scan->custom_private =
      list_make3(makeInteger(list_length(asks)), makeInteger(list_length(before)),
                 makeInteger(conditions.can_fail ? 1 : 0));
  scan->methods = &kScanMethods;
  return &scan->scan.plan;
}

constexpr CustomPathMethods kPathMethods = {"Bloom Filter Scan", plan_scan, nullptr};

Path *make_path(PlannerInfo *root, RelOptInfo *table, const Conditions &conditions, int workers) {
  CustomPath *path = makeNode(CustomPath);
  path->path.pathtype = T_CustomScan;
  path->path.parent = table;
  path->path.pathtarget = table->reltarget;
  path->path.parallel_aware = workers > 0;
  path->path.parallel_safe = table->consider_parallel;
  path->path.parallel_workers = workers;
#if PG_VERSION_NUM >= 150000 // which 14 takes for granted
  path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
#endif
  path->methods = &kPathMethods;
  set_cost(root, table, conditions, &path->path);
  return &path->path;
}

// Tables that a sequential scan would read as they are: no parents, no samples.
bool is_scanned(RelOptInfo *table, const RangeTblEntry *entry) {
  return entry->rtekind == RTE_RELATION && !entry->inh && !entry->tablesample &&
         (entry->relkind == RELKIND_RELATION || entry->relkind == RELKIND_MATVIEW) &&
         bms_is_empty(table->lateral_relids) && !IS_DUMMY_REL(table);
}

void add_scans(PlannerInfo *root, RelOptInfo *table, Index number, RangeTblEntry *entry) {
  if (previous_hook)
    previous_hook(root, table, number, entry);
  if (!enabled || table->baserestrictinfo == NIL || !is_scanned(table, entry))
    return;
  const Conditions conditions = conditions_of(table->baserestrictinfo);
  if (conditions.asks == NIL)
    return;
  add_path(table, make_path(root, table, conditions, 0));
  const int workers =
      table->consider_parallel
          ? compute_parallel_worker(table, table->pages, -1, max_parallel_workers_per_gather)
          : 0;
  if (workers > 0)
    add_partial_path(table, make_path(root, table, conditions, workers));
}

} // namespace

void define_scan() {
  DefineCustomBoolVariable(
      "bloomfilter.scan", "Lets the planner choose scans that ask a filter for many rows at once.",
      nullptr, &enabled, true, PGC_USERSET, GUC_EXPLAIN, nullptr, nullptr, nullptr);
  RegisterCustomScanMethods(&kScanMethods);
  previous_hook = set_rel_pathlist_hook;
  set_rel_pathlist_hook = add_scans;
}

} // namespace bloomfilter
