// The planner's part of a Bloom Filter Build. It runs when the server plans the aggregates of a
// query. If a build can compute all of them, paths are added to the server's paths. A build can
// read one table or the parts of a partitioned table, alone or in parallel. The server chooses the
// cheapest path. This file also makes the plan of a chosen path.

#include "pg/build/build.hpp"
#include "pg/build/calls.hpp"
#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/query/expression.hpp"
#include "pg/table/scan.hpp"

extern "C" {
#include "access/sysattr.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

// How much less a row costs than in an aggregate over a scan, as a multiple of cpu_tuple_cost. The
// first number is for each row that is read. The second is for each row that is added to a state,
// which needs no calls of the executor and of the transition function.
constexpr double kReadSaving = 0.2;
constexpr double kAddSaving = 0.6;

create_upper_paths_hook_type previous_hook = nullptr;

// The table that a build reads.
struct BuildInput {
  PlannerInfo *root;
  RelOptInfo *table;
  Conditions conditions;
};

// --- conditions ----------------------------------------------------------------------------------

BuildInput build_input_of(PlannerInfo *root, RelOptInfo *table) {
  return {root, table, conditions_of(table->baserestrictinfo, 0)};
}

bool has_alternatives(Node *node, void *context) {
  return node &&
         (IsA(node, AlternativeSubPlan) || expression_tree_walker(node, has_alternatives, context));
}

constexpr int kMostConditions = 256;

// True if a build may evaluate a table's conditions. The conditions are in the list of the
// node's columns (pg/table/batch.cpp). This has three effects, and the function returns false for
// conditions to which one of them would matter:
// - The server compares all conditions with each other, so there must not be too many.
// - The server takes an expression of the select list for a column of the node if the same
//   expression is a condition. Such a condition has no column of the table: it is volatile, or the
//   server evaluates it once before the scan.
// - If an EXISTS can be evaluated in two ways, the server chooses the better way for one row, not
//   for all rows.
bool suits_builds(const RelOptInfo *table) {
  if (list_length(table->baserestrictinfo) > kMostConditions)
    return false;
  for (const RestrictInfo *condition : each<RestrictInfo>(table->baserestrictinfo)) {
    if (bms_is_empty(condition->clause_relids) ||
        has_alternatives(reinterpret_cast<Node *>(condition->clause), nullptr))
      return false;
  }
  return true;
}

// --- paths ---------------------------------------------------------------------------------------

constexpr int kMostCalls = 64; // each aggregate call is compared with all others

// Finds the aggregate calls in some expressions, each once. True if there are any and a
// build can compute all of them.
bool find_calls(List *expressions, List **calls) {
  List *found = pull_var_clause(reinterpret_cast<Node *>(expressions),
                                PVC_INCLUDE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS);
  for (Node *node : each<Node>(found)) {
    BuildCall call;
    if (!IsA(node, Aggref) || !is_build_call(castNode(Aggref, node), &call))
      return false;
    *calls = list_append_unique(*calls, node);
    if (list_length(*calls) > kMostCalls)
      return false;
  }
  return *calls != NIL;
}

Plan *plan_build(PlannerInfo *root, RelOptInfo *table, CustomPath *path, List *targets,
                 List *clauses, List *) {
  List *calls = static_cast<List *>(linitial(path->custom_private));
  List *having = static_cast<List *>(lsecond(path->custom_private));
  for (const Aggref *call : each<Aggref>(calls))
    depend_on_functions(root, call);
  const double rows = table->tuples / divisor_of(path->path.parallel_workers);
  BatchPlan plan = batch_plan_of(clauses, true, rows, NIL);
  plan.calls = calls;
  CustomScan *scan = make_batch_scan(&kBuildMethods, table->relid, targets, having, plan);
  scan->flags = path->flags;
  return &scan->scan.plan;
}

constexpr CustomPathMethods kPathMethods = {"Bloom Filter Build", plan_build, nullptr};

// Makes the path of the scan that a build replaces. Its cost is the basis of the build's cost.
Path *scan_below(const BuildInput &input, int workers) {
  Path *scan = create_seqscan_path(input.root, input.table, nullptr, workers);
  if (input.conditions.probes != NIL)
    set_cost(input.root, input.table, input.conditions, scan);
  return scan;
}

// What a build of `read` rows costs less than an aggregate over a scan.
Cost saved_by_build(const Path *scan, double read) {
  return Min(cpu_tuple_cost * (kReadSaving * read + kAddSaving * scan->rows),
             scan->total_cost - scan->startup_cost);
}

// Makes the path of a build of the calls in `target`, for an upper relation. The parent of the path
// is the table, as for any scan. From the parent the server sorts the conditions, finds the
// partitions that an Append can skip when it begins, and takes the table's name in EXPLAIN.
Path *make_build_path(const BuildInput &input, RelOptInfo *relation, PathTarget *target,
                      List *calls, AggSplit split, List *having, int workers) {
  PlannerInfo *root = input.root;
  Path *scan = scan_below(input, workers);
  AggClauseCosts costs = {};
  get_agg_clause_costs(root, split, &costs);
  const AggPath *aggregate =
      create_agg_path(root, relation, scan, target, AGG_PLAIN, split, NIL, having, &costs, 1);
  const double saved = saved_by_build(scan, input.table->tuples / divisor_of(workers));

  CustomPath *path = makeNode(CustomPath);
  path->path = aggregate->path;
  NodeSetTag(path, T_CustomPath);
  path->path.pathtype = T_CustomScan;
  path->path.parent = input.table;
  path->path.parallel_aware = workers > 0;
  path->path.parallel_workers = workers;
  path->path.startup_cost -= saved;
  path->path.total_cost -= saved;
  path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
  path->custom_private = list_make2(calls, having);
  path->methods = &kPathMethods;
  return &path->path;
}

// --- partial states ------------------------------------------------------------------------------

// Finds the parts of a table that are read: the table itself, or its partitions and children.
// Returns false if one of them cannot be read in batches.
bool find_parts(PlannerInfo *root, RelOptInfo *table, List **parts) {
  const RangeTblEntry *entry = planner_rt_fetch(table->relid, root);
  if (!entry->inh) {
    *parts = lappend(*parts, table);
    return is_scanned(table, entry) && suits_builds(table);
  }
  return for_each_child(root, table, [root, parts](RelOptInfo *part) {
    return IS_DUMMY_REL(part) || find_parts(root, part, parts);
  });
}

// Returns the relation of partial states. If the server makes partial states, too, it has already
// set the target of the relation. Otherwise this function sets the target.
RelOptInfo *partial_relation(PlannerInfo *root, const RelOptInfo *grouped, const List *calls) {
  RelOptInfo *partial = fetch_upper_rel(root, UPPERREL_PARTIAL_GROUP_AGG, grouped->relids);
  if (partial->reltarget->exprs != NIL)
    return partial;
  partial->reltarget = create_empty_pathtarget();
  for (const Aggref *call : each<Aggref>(calls)) {
    Aggref *state = makeNode(Aggref);
    *state = *call;
    mark_partial_aggref(state, AGGSPLIT_INITIAL_SERIAL);
    add_column_to_pathtarget(partial->reltarget, &state->xpr, 0);
  }
  partial->reltarget = set_pathtarget_cost_width(root, partial->reltarget);
  partial->consider_parallel = grouped->consider_parallel;
  return partial;
}

// Makes a path that builds the partial states of all parts: one part after the other, or in
// parallel by several processes. Returns NULL if that is not possible.
Path *partial_builds(PlannerInfo *root, RelOptInfo *table, List *parts, RelOptInfo *partial,
                     bool parallel) {
  List *calls = NIL, *paths = NIL;
  if (!find_calls(partial->reltarget->exprs, &calls))
    return nullptr;
  int most = 0;
  for (RelOptInfo *part : each<RelOptInfo>(parts)) {
    CHECK_FOR_INTERRUPTS();
    const int workers = parallel ? workers_for(part) : 0;
    if (parallel && workers == 0)
      return nullptr;
    most = Max(most, workers);
    PathTarget *target = copy_pathtarget(partial->reltarget);
    target->exprs = for_part(root, target->exprs, part, table);
    Path *path =
        make_build_path(build_input_of(root, part), partial, target,
                        for_part(root, calls, part, table), AGGSPLIT_INITIAL_SERIAL, NIL, workers);
    if (part == table) // the table is its only part
      return path;
    paths = lappend(paths, path);
  }
  const AppendPathInput input = {parallel ? NIL : paths, parallel ? paths : NIL, NIL};
  AppendPath *all = create_append_path(root, table, input, NIL, nullptr, most,
                                       parallel && enable_parallel_append, -1);
  all->path.pathtarget = partial->reltarget;
  return &all->path;
}

// Adds a path that combines the partial states of another path.
void add_combined(PlannerInfo *root, RelOptInfo *grouped, Path *states, List *having) {
  AggClauseCosts costs = {};
  get_agg_clause_costs(root, AGGSPLIT_FINAL_DESERIAL, &costs);
  add_path(grouped, reinterpret_cast<Path *>(
                        create_agg_path(root, grouped, states, grouped->reltarget, AGG_PLAIN,
                                        AGGSPLIT_FINAL_DESERIAL, NIL, having, &costs, 1)));
}

// --- a build without a path ----------------------------------------------------------------------

// True if an index may find the rows that a table's own conditions leave.
bool has_index_for_conditions(const RelOptInfo *table) {
  Bitmapset *columns = nullptr;
  pull_varattnos(reinterpret_cast<Node *>(extract_actual_clauses(table->baserestrictinfo, false)),
                 table->relid, &columns);
  for (const IndexOptInfo *index : each<IndexOptInfo>(table->indexlist)) {
    if (index->indexprs != NIL)
      return true;
    for (int i = 0; i < index->nkeycolumns; i++)
      if (bms_is_member(index->indexkeys[i] - FirstLowInvalidHeapAttributeNumber, columns))
        return true;
  }
  return false;
}

} // namespace

bool is_build_best(PlannerInfo *root, const RelOptInfo *table) {
  return scans_are_offered() && !planner_rt_fetch(table->relid, root)->inh && suits_builds(table) &&
         conditions_of(table->baserestrictinfo, 0).probes == NIL &&
         !has_index_for_conditions(table);
}

Cost cost_of_build(PlannerInfo *root, RelOptInfo *table) {
  const Path *scan = create_seqscan_path(root, table, nullptr, 0);
  return scan->total_cost + cpu_operator_cost * scan->rows - saved_by_build(scan, table->tuples);
}

Plan *make_build_plan(PlannerInfo *root, Aggref *call, List *conditions, double rows, Cost cost) {
  depend_on_functions(root, call);
  call->aggno = call->aggtransno = 0;
  call->aggtranstype = INTERNALOID;
  BatchPlan batches = {};
  batches.calls = list_make1(call);
  batches.expected = static_cast<int>(Min(rows, static_cast<double>(PG_INT32_MAX)));
  for (Expr *condition : each<Expr>(conditions))
    batches.add(condition, Role::before, kNamedByQuery);
  auto *expression = reinterpret_cast<Expr *>(call);
  List *targets = list_make1(makeTargetEntry(expression, 1, pstrdup("filter"), false));
  CustomScan *scan = make_batch_scan(&kBuildMethods, 1, targets, NIL, batches);
  scan->flags = CUSTOMPATH_SUPPORT_PROJECTION;
  scan->custom_relids = bms_make_singleton(1);
  Plan *plan = &scan->scan.plan;
  plan->startup_cost = plan->total_cost = cost;
  plan->plan_rows = 1;
  plan->plan_width = get_typavgwidth(call->aggtype, -1);
  return plan;
}

namespace {

// --- the hook ------------------------------------------------------------------------------------

void add_builds(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *grouped,
                void *extra) {
  if (previous_hook)
    previous_hook(root, stage, input, grouped, extra);
  const Query *query = root->parse;
  if (stage != UPPERREL_GROUP_AGG || !scans_are_offered() || !query->hasAggs ||
      query->groupClause != NIL || query->groupingSets != NIL ||
      input->reloptkind != RELOPT_BASEREL || input->rtekind != RTE_RELATION)
    return;
  auto *having = reinterpret_cast<List *>(query->havingQual);
  List *calls = NIL, *parts = NIL;
  if (!find_calls(list_concat_copy(grouped->reltarget->exprs, having), &calls) ||
      !find_parts(root, input, &parts) || parts == NIL)
    return;
  if (linitial(parts) == input)
    add_path(grouped, make_build_path(build_input_of(root, input), grouped, grouped->reltarget,
                                      calls, AGGSPLIT_SIMPLE, having, 0));
  RelOptInfo *partial = partial_relation(root, grouped, calls);
  if (linitial(parts) != input)
    if (Path *states = partial_builds(root, input, parts, partial, false))
      add_combined(root, grouped, states, having);
  if (!input->consider_parallel || !grouped->consider_parallel)
    return;
  if (Path *states = partial_builds(root, input, parts, partial, true)) {
    double rows = states->rows * states->parallel_workers;
    Path *gathered = reinterpret_cast<Path *>(
        create_gather_path(root, partial, states, partial->reltarget, nullptr, &rows));
    add_combined(root, grouped, gathered, having);
  }
}

} // namespace

void define_build() {
  RegisterCustomScanMethods(&kBuildMethods);
  previous_hook = create_upper_paths_hook;
  create_upper_paths_hook = add_builds;
}

} // namespace bloomfilter

SQL_FUNCTIONS_BEGIN

// The support function of our transition functions. It answers no request. The planner calls it for
// the cost of a transition function, and this loads the library. So the hook is set before the
// first query of a session has been planned.
SQL_FUNCTION(filter_support_agg) {
  (void)fcinfo;
  PG_RETURN_DATUM(0);
}

SQL_FUNCTIONS_END
