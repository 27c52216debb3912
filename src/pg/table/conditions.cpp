#include "pg/table/conditions.hpp"

#include "pg/element/element.hpp"
#include "pg/expression.hpp"
#include "pg/list.hpp"
#include "pg/planner/question.hpp"

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

// For each probe, the conditions before it are evaluated until it is reached first, so they are
// compiled for each. More probes are evaluated row by row, like any condition: the first ones, as
// those that the planner has placed are the last.
constexpr int kMostProbes = 32;

// Is each value of an expression hashed without an error? An anonymous row is if its fields are.
bool is_hashed(const Node *value, Oid collation) {
  const RowExpr *row = anonymous_row(value);
  if (!row)
    return is_surely_hashed(exprType(value), collation);
  for (const Node *field : each<Node>(row->args)) {
    const Oid type = exprType(field);
    if (getBaseType(type) == VARCHAROID || !is_surely_hashed(type, exprCollation(field)))
      return false;
  }
  return true;
}

// Can evaluating the filter, or computing and hashing the value, raise an error? If not, both may
// come before the other conditions, or without them.
bool can_fail(const Question &question) {
  Node *filter = without_relabeling(question.filter);
  return (!IsA(filter, Const) && !IsA(filter, Param)) || contain_leaked_vars(question.value) ||
         !is_hashed(question.value, question.collation);
}

// Is the filter the same for all rows, and the value a row's own?
bool is_of_rows(const Question &question) {
  return !contain_var_clause(question.filter) && !contain_volatile_functions(question.filter) &&
         !contain_subplans(question.filter) && is_of_columns(question.value) &&
         !contain_mutable_functions(question.value) && !contain_subplans(question.value);
}

} // namespace

bool is_of_columns(Node *node) {
  List *columns = pull_var_clause(node, PVC_INCLUDE_PLACEHOLDERS);
  for (const Node *column : each<Node>(columns))
    if (!IsA(column, Var) || reinterpret_cast<const Var *>(column)->varattno <= 0)
      return false;
  return columns != NIL;
}

Conditions conditions_of(List *restrictions) {
  Conditions conditions = {NIL, NIL, NIL, false};
  List *candidates = NIL;
  Index lowest = PG_UINT32_MAX; // security level of a candidate
  const bool alone = list_length(extract_actual_clauses(restrictions, false)) == 1;
  for (RestrictInfo *restriction : each<RestrictInfo>(restrictions)) {
    auto *condition = reinterpret_cast<Node *>(restriction->clause);
    Question question;
    if (IsA(condition, CurrentOfExpr))
      return {NIL, NIL, NIL, false}; // because only a TID scan can evaluate it
    if (!asks_for_value(condition, &question) || !is_of_rows(question))
      continue;
    const bool fails = can_fail(question);
    if (fails && !alone)
      continue; // because other conditions may keep it from failing
    conditions.can_fail |= fails;
    candidates = lappend(candidates, restriction);
    lowest = Min(lowest, restriction->security_level);
  }
  int left_out = -kMostProbes;
  for (const RestrictInfo *candidate : each<RestrictInfo>(candidates))
    left_out += candidate->security_level == lowest ? 1 : 0;
  for (RestrictInfo *restriction : each<RestrictInfo>(restrictions)) {
    if (restriction->pseudoconstant)
      continue; // because another node evaluates it, once
    if (restriction->security_level < lowest)
      conditions.before = lappend(conditions.before, restriction);
    else if (restriction->security_level == lowest && list_member_ptr(candidates, restriction) &&
             left_out-- <= 0)
      conditions.probes = lappend(conditions.probes, restriction);
    else
      conditions.others = lappend(conditions.others, restriction);
  }
  return conditions;
}

} // namespace bloomfilter
