// See initplan.hpp. The server's planagg.c plans the InitPlans of MIN and MAX in the same way.

#include "pg/join/initplan.hpp"

#include "pg/build/build.hpp"
#include "pg/compat.hpp"
#include "pg/query/expression.hpp"
#include "pg/table/scan.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/planner.h"
#include "optimizer/subselect.h"
#include "parser/parsetree.h"
}

namespace bloomfilter {
namespace {

constexpr double kAdded = 0.4; // the least cost of adding a key, in cpu_tuple_cost

// For each unit of parallel_setup_cost, the number of rows from which a build may be parallel.
// Starting and ending workers takes as long as building a filter of this number of rows without
// workers. (parallel_setup_cost is meant for longer plans.)
constexpr double kRowsPerSetupCost = 5000.0;
// Starting workers also takes time if parallel_setup_cost says that it costs nothing.
constexpr double kFewestParallelRows = 50000.0;

bool may_build_in_parallel(const PlannerInfo *root, const JoinFilter *filter) {
  return root->glob->parallelModeOK &&
         filter->source->tuples >=
             Max(kRowsPerSetupCost * parallel_setup_cost, kFewestParallelRows);
}

Query *query_of(PlannerInfo *root, const JoinFilter *filter) {
  return query_for(root, filter->oids, filter->source, filter->pair.key, filter->pair.collation);
}

// Lets the planner plan the InitPlan.
void plan_as_subquery(PlannerInfo *root, JoinFilter *filter) {
  const bool parallel_before = root->glob->parallelModeOK;
  root->glob->parallelModeOK = may_build_in_parallel(root, filter);
  filter->subroot = subquery_planner(root->glob, query_of(root, filter), filter->name, root,
                                     nullptr, false, 0.0, nullptr);
  root->glob->parallelModeOK = parallel_before;
  filter->path = fetch_upper_rel(filter->subroot, UPPERREL_FINAL, nullptr)->cheapest_total_path;
}

// Makes the plan of a build. Sets the filter's subroot to as much of a planned query as the server
// uses when it finishes the plan.
Plan *make_plan(PlannerInfo *root, JoinFilter *filter) {
  PlannerInfo *subroot = makeNode(PlannerInfo);
  subroot->parse = query_of(root, filter);
  subroot->glob = root->glob;
  subroot->query_level = root->query_level + 1;
  subroot->parent_root = root;
  subroot->planner_cxt = CurrentMemoryContext;
#if PG_VERSION_NUM >= 190000
  subroot->plan_name = filter->name;
#endif
  SS_identify_outer_params(subroot);
  filter->subroot = subroot;
  const Query *query = subroot->parse;
  auto *call = castNode(Aggref, linitial_node(TargetEntry, query->targetList)->expr);
  return make_build_plan(subroot, call,
                         make_ands_implicit(reinterpret_cast<Expr *>(query->jointree->quals)),
                         filter->source->tuples, filter->build_cost);
}

Expr *condition_of(const JoinFilter &filter) {
  return make_probe(filter.oids, reinterpret_cast<Node *>(filter.result),
                    static_cast<Node *>(copyObjectImpl(filter.pair.probed)), filter.pair.collation);
}

} // namespace

Cost least_build_cost(PlannerInfo *root, const KeySource *source) {
  return is_build_best(root, source->table) ? cost_of_build(root, source->table)
                                            : kAdded * cpu_tuple_cost * source->rows;
}

const JoinFilter *find_same_keys(PlannerInfo *root, const List *others, const JoinFilter &filter) {
  for (const JoinFilter *other : each<JoinFilter>(others))
    if (other->source->table == filter.source->table &&
        equal(query_of(root, other), query_of(root, &filter)))
      return other;
  return nullptr;
}

void plan_initplan(PlannerInfo *root, JoinFilter *filter) {
  filter->name = choose_plan_name(root->glob, "bloom_filter", true);
  if (filter->source->neighbours != NIL || may_build_in_parallel(root, filter) ||
      !is_build_best(root, filter->source->table)) {
    plan_as_subquery(root, filter);
    filter->build_cost = filter->path->total_cost;
  }
  filter->result = SS_make_initplan_output_param(root, filter->oids.type, -1, InvalidOid);
  filter->condition = condition_of(*filter);
}

void share_initplan(const JoinFilter &other, JoinFilter *filter) {
  filter->name = other.name;
  filter->result = other.result;
  filter->subroot = other.subroot;
  filter->path = other.path;
  filter->condition = condition_of(*filter);
}

void attach_initplan(PlannerInfo *root, JoinFilter *filter) {
  if (initplan_of_level(root, filter->result->paramid))
    return;
  RelOptInfo *table = filter->source->table;
  // Another library may read the table in its own way, which is known only now.
  if (!filter->subroot && !is_scanned(table, planner_rt_fetch(table->relid, root)))
    plan_as_subquery(root, filter);
  Plan *plan = filter->path ? create_plan(filter->subroot, filter->path) : make_plan(root, filter);
  SS_make_initplan_from_plan(root, filter->subroot, plan, filter->result);
}

} // namespace bloomfilter
