// See filter_estimate.hpp.
//
// Nested subqueries are looked into at most 32 levels deep. Results are kept for one run of the
// planner, because several expressions may use the same column or constant.

#include "pg/planner/filter_estimate.hpp"

#include <cmath>

#include "core/sizing.hpp"
#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/names.hpp"
#include "pg/planner/per_planning.hpp"
#include "pg/planner/statistics.hpp"
#include "pg/query/expression.hpp"
#include "pg/query/known_function.hpp"

extern "C" {
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace bloomfilter {
namespace {

constexpr double kBitsPerProbe = 6.0; // bits that a value sets at the default rate

// The greatest depth of nested subqueries. Nothing is known of a filter from deeper subqueries.
constexpr int kMostLevels = 32;

// What is known of a column that a subquery selects. The estimate is kept, because several outer
// queries may use the column, and each of them may be used several times in turn.
struct Selected {
  const PlannerInfo *subquery;
  int number;
  FilterEstimate estimate;
};

// What is known in one run of the planner. The estimates of constants are kept because each
// partition needs them again. The planner has these constants at the same addresses.
struct PlanningNotes {
  int level;      // the depth of the current subquery
  List *selected; // of Selected
  unsigned count;
  struct {
    Datum value;
    FilterEstimate estimate;
  } constants[8];
};

PlanningNotes *planning_notes(const PlannerInfo *root) {
  return PerPlanning<PlanningNotes>::notes_of(root->glob, root->planner_cxt);
}

FilterEstimate estimate_of_constant(const PlannerInfo *root, const Const *constant) {
  if (constant->constisnull || constant->constlen != -1) // filters have variable length
    return {};
  PlanningNotes *notes = planning_notes(root);
  for (unsigned i = 0; i < Min(notes->count, lengthof(notes->constants)); i++)
    if (notes->constants[i].value == constant->constvalue)
      return notes->constants[i].estimate;
  Header header;
  const FilterEstimate estimate = sample_filter(constant->constvalue, &header);
  notes->constants[notes->count++ % lengthof(notes->constants)] = {constant->constvalue, estimate};
  return estimate;
}

// The path whose rows a query groups, or the path of all its rows if it groups none. Sets `*groups`
// if it finds the node that groups.
Path *ungrouped(Path *path, double *groups) {
  while (path) {
    if (IsA(path, AggPath)) {
      *groups = path->rows;
      path = reinterpret_cast<AggPath *>(path)->subpath;
    } else if (IsA(path, GatherPath)) {
      path = reinterpret_cast<GatherPath *>(path)->subpath;
    } else if (IsA(path, GatherMergePath)) {
      path = reinterpret_cast<GatherMergePath *>(path)->subpath;
    } else if (IsA(path, ProjectionPath)) {
      path = reinterpret_cast<ProjectionPath *>(path)->subpath;
    } else if (IsA(path, LimitPath)) {
      path = reinterpret_cast<LimitPath *>(path)->subpath;
    } else if (IsA(path, SortPath) || IsA(path, IncrementalSortPath)) {
      path = reinterpret_cast<SortPath *>(path)->subpath;
    } else {
      break;
    }
  }
  return path;
}

// The number of rows that a planned query reads for each group. The node that groups the rows may
// not be among the paths here: another server may group them, or each partition.
double rows_in_group(PlannerInfo *subroot) {
  double groups = 0.0;
  const Path *path =
      ungrouped(fetch_upper_rel(subroot, UPPERREL_FINAL, nullptr)->cheapest_total_path, &groups);
  if (!path)
    return 1.0;
  if (!IS_UPPER_REL(path->parent))
    return path->parent->rows / Max(groups, 1.0);
  const RelOptInfo *rows = relation_with(subroot, all_relations_of(subroot));
  return rows ? rows->rows / Max(groups > 0.0 ? groups : path->rows, 1.0) : 1.0;
}

Node *argument_of(const Aggref *aggregate, int number) {
  return reinterpret_cast<Node *>(list_nth_node(TargetEntry, aggregate->args, number)->expr);
}

bool is_filter(Node *node, Kind *kind) {
  return is_filter_type(getBaseType(exprType(node)), kind);
}

// The number of rows that an aggregate reads for one group.
double rows_of(PlannerInfo *subroot, const Aggref *aggregate) {
  auto *condition = reinterpret_cast<Node *>(aggregate->aggfilter);
  const double share =
      condition ? clause_selectivity(subroot, condition, 0, JOIN_INNER, nullptr) : 1.0;
  return Max(rows_in_group(subroot) * share, 1.0);
}

// The false positive rate in the third argument of bf_agg(). Only a normal aggregate is looked at:
// a user's ordered-set aggregate has direct arguments, and their types are in `aggargtypes`, but
// the arguments are not in `args`.
double requested_rate(const Aggref *aggregate) {
  if (aggregate->aggkind != AGGKIND_NORMAL || list_length(aggregate->aggargtypes) < 3 ||
      !IsA(argument_of(aggregate, 2), Const))
    return kDefaultRate;
  const auto *rate = castNode(Const, argument_of(aggregate, 2));
  const double requested =
      !rate->constisnull && rate->consttype == FLOAT8OID ? DatumGetFloat8(rate->constvalue) : 0.0;
  return requested > 0.0 && requested < 1.0 ? requested
                                            : kDefaultRate; // execution reports a wrong rate
}

// The estimate of a union of `filters` filters that are all like `one`. A bit of a union is unset
// only if it is unset in every filter. A union of cuckoo filters has the fingerprints of all of
// them.
FilterEstimate added_up(const FilterEstimate &one, double filters, Kind kind) {
  const double rate = Min(one.rate, 1.0); // rounding can make it more
  const double set = 1.0 - std::pow(1.0 - std::pow(rate, 1.0 / kBitsPerProbe), filters);
  return {one.values * filters,
          kind == Kind::cuckoo ? Min(rate * filters, 1.0) : std::pow(set, kBitsPerProbe),
          one.bytes};
}

// True if an aggregate unites filters. Its name does not tell: users can make their own.
bool unites(Oid aggregate) {
  const PGFunction step = known_function(aggregate).step;
  return step == bloomfilter_union_step || step == countingbloomfilter_union_step ||
         step == cuckoofilter_union_step;
}

// What is known of the result of an aggregate: of bf_agg(value, expected, fpr) and its siblings, or
// of an aggregate of filters.
FilterEstimate estimate_of_aggregate(PlannerInfo *subroot, const Aggref *aggregate) {
  if (list_length(aggregate->args) == 0)
    return {};
  Node *value = argument_of(aggregate, 0);
  const double rows = rows_of(subroot, aggregate);
  Kind kind;
  if (is_filter(value, &kind)) {
    // A union has the values of all filters; any other aggregate of filters gives one of them.
    const FilterEstimate one = estimate_of(subroot, value);
    return unites(aggregate->aggfnoid) ? added_up(one, rows, kind) : one;
  }
  const double values = estimate_num_groups(subroot, list_make1(value), rows, nullptr, nullptr);
  return {values, requested_rate(aggregate), kBytesPerValue * values};
}

const Selected *find_selected(const PlanningNotes *notes, const PlannerInfo *subroot, int number) {
  for (const Selected *selected : each<Selected>(notes->selected)) {
    if (selected->subquery == subroot && selected->number == number)
      return selected;
  }
  return nullptr;
}

void remember_selected(PlanningNotes *notes, const PlannerInfo *subroot, int number,
                       const FilterEstimate &estimate) {
  const MemoryContext before = MemoryContextSwitchTo(subroot->planner_cxt);
  auto *selected = make_array<Selected>(1);
  *selected = {subroot, number, estimate};
  notes->selected = lappend(notes->selected, selected);
  MemoryContextSwitchTo(before);
}

// What is known of the column with this number in a subquery's target list.
FilterEstimate estimate_of_selected(PlannerInfo *subroot, int number) {
  if (!subroot || subroot->parse->commandType != CMD_SELECT || subroot->parse->setOperations)
    return {};
  const TargetEntry *entry = get_tle_by_resno(subroot->processed_tlist, number);
  if (!entry)
    return {};
  CHECK_FOR_INTERRUPTS();
  PlanningNotes *notes = planning_notes(subroot);
  if (const Selected *selected = find_selected(notes, subroot, number))
    return selected->estimate;
  if (notes->level == kMostLevels)
    return {};
  notes->level++; // an error ends the run, and with it `notes`
  const FilterEstimate estimate = estimate_of(subroot, reinterpret_cast<Node *>(entry->expr));
  notes->level--;
  remember_selected(notes, subroot, number, estimate);
  return estimate;
}

PlannerInfo *planned(PlannerInfo *root, int plan_id) {
  return plan_id > 0 ? static_cast<PlannerInfo *>(list_nth(root->glob->subroots, plan_id - 1))
                     : nullptr;
}

FilterEstimate estimate_of_subplan(PlannerInfo *root, const SubPlan *subplan) {
  return subplan->subLinkType == EXPR_SUBLINK
             ? estimate_of_selected(planned(root, subplan->plan_id), 1)
             : FilterEstimate{};
}

// What is known of a parameter that holds the result of a scalar subquery. The subquery may belong
// to this query or to a query around it.
FilterEstimate estimate_of_parameter(PlannerInfo *root, int parameter) {
  const SubPlan *subplan = initplan_of(root, parameter);
  return subplan ? estimate_of_subplan(root, subplan) : FilterEstimate{};
}

PlannerInfo *planned_cte(PlannerInfo *root, const RangeTblEntry *entry) {
  for (Index up = entry->ctelevelsup; up > 0 && root; up--)
    root = root->parent_root;
  if (!root || entry->self_reference)
    return nullptr;
  int number = 0;
  for (const CommonTableExpr *cte : each<CommonTableExpr>(root->parse->cteList)) {
    if (strcmp(cte->ctename, entry->ctename) == 0)
      return number < list_length(root->cte_plan_ids)
                 ? planned(root, list_nth_int(root->cte_plan_ids, number))
                 : nullptr;
    number++;
  }
  return nullptr;
}

// The relation of a column. NULL if the server has not set up its relations: for some subqueries,
// it estimates costs before that.
const RelOptInfo *relation_of(PlannerInfo *root, const Var *column) {
  return column->varlevelsup == 0 && column->varno > 0 &&
                 static_cast<int>(column->varno) < root->simple_rel_array_size
             ? root->simple_rel_array[column->varno]
             : nullptr;
}

FilterEstimate estimate_of_column(PlannerInfo *root, const Var *column) {
  const RelOptInfo *relation = relation_of(root, column);
  if (!relation)
    return {};
  const RangeTblEntry *entry = planner_rt_fetch(column->varno, root);
  if (entry->security_barrier)
    return {};
  switch (entry->rtekind) {
  case RTE_SUBQUERY:
    return estimate_of_selected(relation->subroot, column->varattno);
  case RTE_CTE:
    return estimate_of_selected(planned_cte(root, entry), column->varattno);
  default:
    return column_statistics(root, reinterpret_cast<Node *>(const_cast<Var *>(column)));
  }
}

} // namespace

RelOptInfo *relation_with(PlannerInfo *root, Relids tables) {
  int table;
  return bms_get_singleton_member(tables, &table) ? find_base_rel(root, table)
                                                  : find_join_rel(root, tables);
}

FilterEstimate estimate_of(PlannerInfo *root, Node *node) {
  node = without_relabeling(node);
  switch (nodeTag(node)) {
  case T_Const:
    return estimate_of_constant(root, castNode(Const, node));
  case T_Param:
    return castNode(Param, node)->paramkind == PARAM_EXEC
               ? estimate_of_parameter(root, castNode(Param, node)->paramid)
               : FilterEstimate{};
  case T_Var:
    return estimate_of_column(root, castNode(Var, node));
  case T_SubPlan:
    return estimate_of_subplan(root, castNode(SubPlan, node));
  case T_Aggref:
    return estimate_of_aggregate(root, castNode(Aggref, node));
  case T_PlaceHolderVar:
    return estimate_of(root, reinterpret_cast<Node *>(castNode(PlaceHolderVar, node)->phexpr));
  default:
    return {};
  }
}

} // namespace bloomfilter
