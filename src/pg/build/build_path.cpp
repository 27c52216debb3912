#include "pg/build/build.hpp"
#include "pg/build/calls.hpp"
#include "pg/compat.hpp"
#include "pg/expression.hpp"
#include "pg/list.hpp"
#include "pg/table/scan.hpp"

extern "C" {
#include "miscadmin.h"
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
}

namespace bloomfilter {
namespace {

// What rows cost less than in an aggregate over a scan, in cpu_tuple_cost: one that is read, and
// one that is added to a state, which spares the calls of the executor and of the transition
// function.
constexpr double kReadSpared = 0.2;
constexpr double kAddedSpared = 0.6;

create_upper_paths_hook_type previous_hook = nullptr;

// What a build is planned from.
struct Source {
  PlannerInfo *root;
  RelOptInfo *table;
  Conditions conditions;
};

// --- conditions ----------------------------------------------------------------------------------

// How batches evaluate the conditions, which are in the order in which a scan evaluates them. Those
// before the first probe come before it here, too; the others are for the rows that are left.
BatchPlan batch_plan_of(List *restrictions, double rows) {
  const Conditions conditions = conditions_of(restrictions);
  BatchPlan plan = {extract_actual_clauses(restrictions, false),
                    NIL,
                    NIL,
                    NIL,
                    NIL,
                    false,
                    static_cast<int>(Min(rows, static_cast<double>(PG_INT32_MAX)))};
  bool probed = false;
  for (RestrictInfo *restriction : each<RestrictInfo>(restrictions)) {
    const bool is_probe = list_member_ptr(conditions.probes, restriction);
    const bool is_before = list_member_ptr(conditions.before, restriction) || !probed;
    List **place = is_probe ? &plan.probes : is_before ? &plan.before : &plan.after;
    *place = lappend(*place, restriction->clause);
    probed |= is_probe;
  }
  return plan;
}

Source source_of(PlannerInfo *root, RelOptInfo *table) {
  return {root, table, conditions_of(table->baserestrictinfo)};
}

bool has_alternatives(Node *node, void *context) {
  return node &&
         (IsA(node, AlternativeSubPlan) || expression_tree_walker(node, has_alternatives, context));
}

constexpr int kMostConditions = 256;

// May a build evaluate a table's conditions? They are in the list of the node's columns
// (build_plan.cpp), and so the server
// - compares all of them with each other;
// - takes an expression of the select list for a column if it is also a condition, which is only
//   possible without a column of the table: then it is volatile, or looked at once before the scan;
// - chooses the way of an EXISTS that is better for one row than for all.
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

constexpr int kMostCalls = 64; // of aggregates: each is compared with all others

// The calls of aggregates in some expressions, each once. False unless a build can compute all of
// them.
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
  CustomScan *scan = makeNode(CustomScan);
  List *calls = static_cast<List *>(linitial(path->custom_private));
  List *having = static_cast<List *>(lsecond(path->custom_private));
  scan->scan.plan.targetlist = targets;
  scan->scan.plan.qual = having;
  scan->scan.scanrelid = table->relid;
  scan->flags = path->flags;
  scan->methods = &kBuildMethods;
  for (const Aggref *call : each<Aggref>(calls))
    depend_on_functions(root, call);
  const double rows = table->tuples / divisor_of(path->path.parallel_workers);
  write_build_plan({calls, batch_plan_of(clauses, rows)}, scan);
  return &scan->scan.plan;
}

constexpr CustomPathMethods kPathMethods = {"Bloom Filter Build", plan_build, nullptr};

// The scan that a build takes the place of.
Path *scan_below(const Source &source, int workers) {
  Path *scan = create_seqscan_path(source.root, source.table, nullptr, workers);
  if (source.conditions.probes != NIL)
    set_cost(source.root, source.table, source.conditions, scan);
  return scan;
}

// A build of the calls in `target`, for an upper relation. Its parent is the table, as that of any
// scan. By this the server sorts the conditions, tells which partitions an Append can leave out
// when it begins, and names the table in EXPLAIN.
Path *make_path(const Source &source, RelOptInfo *relation, PathTarget *target, List *calls,
                AggSplit split, List *having, int workers) {
  PlannerInfo *root = source.root;
  Path *scan = scan_below(source, workers);
  AggClauseCosts costs = {};
  get_agg_clause_costs(root, split, &costs);
  const AggPath *aggregate =
      create_agg_path(root, relation, scan, target, AGG_PLAIN, split, NIL, having, &costs, 1);
  const double read = source.table->tuples / divisor_of(workers);
  const double spared = Min(cpu_tuple_cost * (kReadSpared * read + kAddedSpared * scan->rows),
                            scan->total_cost - scan->startup_cost);

  CustomPath *path = makeNode(CustomPath);
  path->path = aggregate->path;
  NodeSetTag(path, T_CustomPath);
  path->path.pathtype = T_CustomScan;
  path->path.parent = source.table;
  path->path.parallel_aware = workers > 0;
  path->path.parallel_workers = workers;
  path->path.startup_cost -= spared;
  path->path.total_cost -= spared;
  path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
  path->custom_private = list_make2(calls, having);
  path->methods = &kPathMethods;
  return &path->path;
}

// --- partial states ------------------------------------------------------------------------------

// What a table consists of: itself, or its partitions and children that are read. False if one of
// these cannot be read by batches.
bool find_parts(PlannerInfo *root, RelOptInfo *table, List **parts) {
  const RangeTblEntry *entry = planner_rt_fetch(table->relid, root);
  if (!entry->inh) {
    *parts = lappend(*parts, table);
    return is_scanned(table, entry) && suits_builds(table);
  }
  return for_each_part(root, table, [root, parts](RelOptInfo *part) {
    return IS_DUMMY_REL(part) || find_parts(root, part, parts);
  });
}

// The relation of partial states, whose target the server has set if it makes some, too.
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

// Builds of partial states of all parts, one after the other, or by several processes.
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
        make_path(source_of(root, part), partial, target, for_part(root, calls, part, table),
                  AGGSPLIT_INITIAL_SERIAL, NIL, workers);
    if (part == table) // which has no other parts
      return path;
    paths = lappend(paths, path);
  }
  const AppendPathInput input = {parallel ? NIL : paths, parallel ? paths : NIL, NIL};
  AppendPath *all = create_append_path(root, table, input, NIL, nullptr, most,
                                       parallel && enable_parallel_append, -1);
  all->path.pathtarget = partial->reltarget;
  return &all->path;
}

// Adds what combines the partial states that a path gives.
void add_combined(PlannerInfo *root, RelOptInfo *grouped, Path *states, List *having) {
  AggClauseCosts costs = {};
  get_agg_clause_costs(root, AGGSPLIT_FINAL_DESERIAL, &costs);
  add_path(grouped, reinterpret_cast<Path *>(
                        create_agg_path(root, grouped, states, grouped->reltarget, AGG_PLAIN,
                                        AGGSPLIT_FINAL_DESERIAL, NIL, having, &costs, 1)));
}

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
    add_path(grouped, make_path(source_of(root, input), grouped, grouped->reltarget, calls,
                                AGGSPLIT_SIMPLE, having, 0));
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

// The support function of our transition functions. It knows nothing; but the planner asks it what
// they cost, and so loads this library before the first query of a session is planned to the end.
PG_FUNCTION_INFO_V1(filter_support_agg);
Datum filter_support_agg(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  PG_RETURN_DATUM(0);
}

SQL_FUNCTIONS_END
