#include "pg/table/scan.hpp"

#include "pg/element/element.hpp"
#include "pg/expression.hpp"
#include "pg/names.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

Datum filter_contains(PG_FUNCTION_ARGS);
Datum filter_contained(PG_FUNCTION_ARGS);
}

namespace bloomfilter {
namespace {

// The function that a node calls, and its arguments; false of any other node.
bool called(Node *node, Oid *function, List **arguments, Oid *collation) {
  if (IsA(node, OpExpr)) {
    auto *call = castNode(OpExpr, node);
    set_opfuncid(call);
    *function = call->opfuncid;
    *arguments = call->args;
    *collation = call->inputcollid;
  } else if (IsA(node, FuncExpr)) {
    auto *call = castNode(FuncExpr, node);
    *function = call->funcid;
    *arguments = call->args;
    *collation = call->inputcollid;
  } else {
    return false;
  }
  return list_length(*arguments) == 2;
}

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
bool cannot_fail(const AskCall &call) {
  Node *filter = without_relabeling(call.filter);
  return (IsA(filter, Const) || IsA(filter, Param)) && !contain_leaked_vars(call.value) &&
         hashes_all_values(exprType(call.value), call.collation);
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
bool is_of_rows(const AskCall &call) {
  return !contain_var_clause(call.filter) && !contain_volatile_functions(call.filter) &&
         !contain_subplans(call.filter) && is_of_columns(call.value) &&
         !contain_mutable_functions(call.value) && !contain_subplans(call.value);
}

bool is_asked_at_once(Node *condition, bool alone) {
  AskCall call;
  return is_ask(condition, &call) && is_of_rows(call) && (alone || cannot_fail(call));
}

bool is_of_filter(Node *node) {
  Kind kind;
  return is_filter_type(exprType(node), &kind);
}

} // namespace

bool is_ask(Node *node, AskCall *call) {
  Oid function, collation;
  List *arguments;
  if (!called(node, &function, &arguments, &collation))
    return false;
  auto *one = static_cast<Node *>(linitial(arguments));
  auto *other = static_cast<Node *>(lsecond(arguments));
  if (!is_of_filter(one) && !is_of_filter(other))
    return false; // before fmgr_info() looks for a library that may be gone
  FmgrInfo info;
  fmgr_info(function, &info);
  if (info.fn_addr == filter_contains)
    *call = {one, other, collation};
  else if (info.fn_addr == filter_contained)
    *call = {other, one, collation};
  else
    return false;
  return true;
}

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
    AskCall call;
    conditions.can_fail =
        alone && is_ask(reinterpret_cast<Node *>(restriction->clause), &call) && !cannot_fail(call);
  }
  return conditions;
}

} // namespace bloomfilter
