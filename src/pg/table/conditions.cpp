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
#include "pg/table/batch.hpp"

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

// True if the server may evaluate one of some conditions before a probe. It sorts conditions by
// cost, which it has computed already.
bool may_follow(const RestrictInfo *probe, List *conditions) {
  for (const RestrictInfo *other : each<RestrictInfo>(conditions))
    if (other->security_level >= probe->security_level &&
        other->eval_cost.per_tuple <= probe->eval_cost.per_tuple)
      return true;
  return false;
}

// Of some probes, those before which the server may evaluate a condition that may be evaluated only
// once for a row, because it is volatile or has a subplan.
List *after_once_only(List *probes, List *restrictions) {
  List *once_only = NIL, *found = NIL;
  for (RestrictInfo *restriction : each<RestrictInfo>(restrictions)) {
    auto *condition = reinterpret_cast<Node *>(restriction->clause);
    if (!restriction->pseudoconstant &&
        (contain_volatile_functions(condition) || contain_subplans(condition)))
      once_only = lappend(once_only, restriction);
  }
  for (RestrictInfo *probe : each<RestrictInfo>(probes))
    if (may_follow(probe, once_only))
      found = lappend(found, probe);
  return found;
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
  const Conditions none = {NIL, NIL, NIL, false, false};
  Conditions conditions = none;
  List *candidates = NIL, *late = NIL; // late: a subquery of the query computes the filter
  Index lowest = PG_UINT32_MAX;        // the lowest security level of a candidate
  const bool alone = list_length(extract_actual_clauses(restrictions, false)) == 1;
  int of_query = list_length(restrictions) - by_planner;
  for (RestrictInfo *restriction : each<RestrictInfo>(restrictions)) {
    const bool is_of_query = of_query-- > 0;
    auto *condition = reinterpret_cast<Node *>(restriction->clause);
    ProbeExpr probe;
    if (IsA(condition, CurrentOfExpr))
      return none; // only a TID scan can evaluate it
    if (!is_probe_for_value(condition, &probe) || !is_of_rows(probe))
      continue;
    const bool fails = can_fail(probe);
    if (fails && !alone)
      continue; // other conditions may keep it from failing
    conditions.can_fail |= fails;
    candidates = lappend(candidates, restriction);
    if (is_of_query && parameter_of(probe) >= 0)
      late = lappend(late, restriction);
  }
  // Conditions before a probe may keep the filter's subquery from running, which can fail, too.
  if (late != NIL)
    candidates = list_difference_ptr(candidates, after_once_only(late, restrictions));
  for (const RestrictInfo *candidate : each<RestrictInfo>(candidates))
    lowest = Min(lowest, candidate->security_level);
  int left_out = -kMostProbes;
  for (const RestrictInfo *candidate : each<RestrictInfo>(candidates))
    left_out += candidate->security_level == lowest ? 1 : 0;
  for (RestrictInfo *restriction : each<RestrictInfo>(restrictions)) {
    auto *condition = reinterpret_cast<Node *>(restriction->clause);
    if (restriction->pseudoconstant)
      continue; // another node evaluates it, once
    if (restriction->security_level < lowest) {
      if (contain_volatile_functions(condition))
        return none; // it must be evaluated for one row at a time
      conditions.before_can_fail |= contain_leaked_vars(condition);
      conditions.before = lappend(conditions.before, restriction);
    } else if (restriction->security_level == lowest && list_member_ptr(candidates, restriction) &&
               left_out-- <= 0) {
      conditions.probes = lappend(conditions.probes, restriction);
    } else {
      conditions.others = lappend(conditions.others, restriction);
    }
  }
  return conditions;
}

} // namespace bloomfilter
