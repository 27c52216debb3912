// See conditions.hpp. A condition can be batched if its filter is the same for all rows, if its
// value depends only on the row's columns, and if the probe cannot raise an error.
//
// If it is the table's only condition, the probe may raise an error. A scan then has batches of one
// row, so that the rows before it are returned first.

#include "pg/table/conditions.hpp"

#include "pg/element/value_type.hpp"
#include "pg/list.hpp"
#include "pg/query/expression.hpp"
#include "pg/query/probe_expr.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

// The greatest number of batched probes. For each probe, all conditions before it are compiled once
// more, to find out whether any row reaches the probe. Beyond this number, the first probes are
// evaluated row by row, like any other condition. The planner's own probes come last and so stay
// batched.
constexpr int kMostProbes = 32;

// True if hashing a value of the expression cannot raise an error. For an anonymous row, this must
// hold for all its fields.
bool is_hashed(const Node *value, Oid collation) {
  const RowExpr *row = anonymous_row(value);
  if (!row)
    return is_surely_hashed(exprType(value), collation);
  for (const Node *field : each<Node>(row->args))
    if (!is_surely_hashed_field(exprType(field), exprCollation(field)))
      return false;
  return true;
}

// True if evaluating the filter can raise an error, or computing and hashing the value. If none
// can, the probe may come before the other conditions, or be evaluated without them.
bool can_fail(const ProbeExpr &probe) {
  Node *filter = without_relabeling(probe.filter);
  return (!IsA(filter, Const) && !IsA(filter, Param)) || contain_leaked_vars(probe.value) ||
         !is_hashed(probe.value, probe.collation);
}

// True if the filter is the same for all rows and the value is computed from columns of the row.
bool is_of_rows(const ProbeExpr &probe) {
  return !contain_var_clause(probe.filter) && !contain_volatile_functions(probe.filter) &&
         !contain_subplans(probe.filter) && is_of_columns(probe.value) &&
         !contain_mutable_functions(probe.value) && !contain_subplans(probe.value);
}

// True if a subquery of the query computes the filter, when a row first reaches the probe.
bool is_computed_late(const RestrictInfo *candidate) {
  ProbeExpr probe;
  if (!is_probe_for_value(reinterpret_cast<Node *>(candidate->clause), &probe))
    return false;
  Node *filter = without_relabeling(probe.filter);
  return IsA(filter, Param) && castNode(Param, filter)->paramkind == PARAM_EXEC;
}

// The conditions up to the last one that precedes such a probe and must be evaluated only once for
// a row: it is volatile or has a subplan. If these reject all rows, the subquery must not run,
// because it could raise an error. Filters that the planner has placed cannot fail in this way.
List *first_conditions(List *restrictions, List *candidates, int by_planner) {
  int last = 0, once = 0;
  for (int i = 0; i < list_length(restrictions) - by_planner; i++) {
    const auto *restriction = static_cast<RestrictInfo *>(list_nth(restrictions, i));
    auto *condition = reinterpret_cast<Node *>(restriction->clause);
    if (list_member_ptr(candidates, restriction)) {
      if (is_computed_late(restriction))
        last = once;
    } else if (contain_volatile_functions(condition) || contain_subplans(condition)) {
      once = i + 1;
    }
  }
  return list_truncate(list_copy(restrictions), last);
}

} // namespace

bool is_of_columns(Node *node) {
  List *columns = pull_var_clause(node, PVC_INCLUDE_PLACEHOLDERS);
  for (const Node *column : each<Node>(columns))
    if (!IsA(column, Var) || reinterpret_cast<const Var *>(column)->varattno <= 0)
      return false;
  return columns != NIL;
}

Conditions conditions_of(List *restrictions, int by_planner) {
  Conditions conditions = {NIL, NIL, NIL, false, false};
  List *candidates = NIL;
  const bool alone = list_length(extract_actual_clauses(restrictions, false)) == 1;
  for (RestrictInfo *restriction : each<RestrictInfo>(restrictions)) {
    auto *condition = reinterpret_cast<Node *>(restriction->clause);
    ProbeExpr probe;
    if (IsA(condition, CurrentOfExpr))
      return {NIL, NIL, NIL, false, false}; // only a TID scan can evaluate it
    if (!is_probe_for_value(condition, &probe) || !is_of_rows(probe))
      continue;
    const bool fails = can_fail(probe);
    if (fails && !alone)
      continue; // other conditions may keep it from failing
    conditions.can_fail |= fails;
    candidates = lappend(candidates, restriction);
  }
  List *first = first_conditions(restrictions, candidates, by_planner), *batched = NIL;
  candidates = list_difference_ptr(candidates, first);
  Index lowest = PG_UINT32_MAX; // the lowest security level of a candidate
  for (const RestrictInfo *candidate : each<RestrictInfo>(candidates))
    lowest = Min(lowest, candidate->security_level);
  for (RestrictInfo *candidate : each<RestrictInfo>(candidates))
    if (candidate->security_level == lowest)
      batched = lappend(batched, candidate);
  conditions.probes = list_copy_tail(batched, Max(list_length(batched) - kMostProbes, 0));
  for (RestrictInfo *restriction : each<RestrictInfo>(restrictions)) {
    if (restriction->pseudoconstant || list_member_ptr(conditions.probes, restriction))
      continue; // another node evaluates a pseudoconstant, once
    auto *condition = reinterpret_cast<Node *>(restriction->clause);
    if (restriction->security_level >= lowest && !list_member_ptr(first, restriction)) {
      conditions.others = lappend(conditions.others, restriction);
      continue;
    }
    conditions.before = lappend(conditions.before, restriction);
    conditions.before_acts |=
        contain_volatile_functions(condition) || contain_leaked_vars(condition);
  }
  return conditions;
}

} // namespace bloomfilter
