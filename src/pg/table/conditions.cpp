#include "pg/table/scan.hpp"

#include "pg/element/element.hpp"
#include "pg/expression.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace bloomfilter {
namespace {

// Is a value's hash computed without an error, whatever the value? Not of rows: one with a varchar
// that ends with a blank cannot be hashed.
bool hashes_all_values(Oid type, Oid collation) {
  type = getBaseType(type);
  if (type_is_multirange(type))
    type = get_multirange_range(type);
  if (type_is_range(type))
    return hashes_all_values(get_range_subtype(type), get_range_collation(type));
  const Oid item = get_element_type(type);
  return OidIsValid(item) ? hashes_all_values(item, collation)
                          : scalar_element(type, collation, CurrentMemoryContext) != nullptr;
}

// Can the two be evaluated before, or without, the other conditions?
bool cannot_fail(const Question &question) {
  Node *filter = without_relabeling(question.filter);
  return (IsA(filter, Const) || IsA(filter, Param)) && !contain_leaked_vars(question.value) &&
         hashes_all_values(exprType(question.value), question.collation);
}

// Are there columns in an expression, and all of them the table's own?
bool is_of_columns(Node *node) {
  List *columns = pull_var_clause(node, PVC_INCLUDE_PLACEHOLDERS);
  ListCell *cell;
  foreach (cell, columns)
    if (!IsA(lfirst(cell), Var) || lfirst_node(Var, cell)->varattno <= 0)
      return false;
  return columns != NIL;
}

// Is the filter the same for all rows, and the value a row's own?
bool is_of_rows(const Question &question) {
  return !contain_var_clause(question.filter) && !contain_volatile_functions(question.filter) &&
         !contain_subplans(question.filter) && is_of_columns(question.value) &&
         !contain_mutable_functions(question.value) && !contain_subplans(question.value);
}

bool is_asked_at_once(Node *condition, bool alone) {
  Question question;
  return asks_for_value(condition, &question) && is_of_rows(question) &&
         (alone || cannot_fail(question));
}

} // namespace

AttrNumber column_of(Node *value) {
  value = without_relabeling(value);
  return IsA(value, Var) ? castNode(Var, value)->varattno : InvalidAttrNumber;
}

Conditions conditions_of(List *restrictions) {
  Conditions conditions = {false, NIL, NIL, NIL};
  Index lowest = PG_UINT32_MAX;
  const bool alone = list_length(extract_actual_clauses(restrictions, false)) == 1;
  ListCell *cell;
  foreach (cell, restrictions) {
    const auto *restriction = lfirst_node(RestrictInfo, cell);
    auto *condition = reinterpret_cast<Node *>(restriction->clause);
    if (IsA(condition, CurrentOfExpr))
      return {false, NIL, NIL, NIL}; // which only a TID scan knows
    if (is_asked_at_once(condition, alone))
      lowest = Min(lowest, restriction->security_level);
  }
  foreach (cell, restrictions) {
    auto *restriction = lfirst_node(RestrictInfo, cell);
    if (restriction->pseudoconstant)
      continue; // asked once, by another node
    List **list = restriction->security_level < lowest ? &conditions.before : &conditions.others;
    if (restriction->security_level == lowest &&
        is_asked_at_once(reinterpret_cast<Node *>(restriction->clause), alone))
      list = &conditions.asks;
    *list = lappend(*list, restriction);
    Question question;
    conditions.can_fail =
        alone && asks_for_value(reinterpret_cast<Node *>(restriction->clause), &question) &&
        !cannot_fail(question);
  }
  return conditions;
}

} // namespace bloomfilter
