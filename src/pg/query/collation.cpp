// See collation.hpp. Functions that add or probe values call collation_of() when they look up an
// element type or read a literal. The planner calls is_literal_or_parameter() for the conditions
// that it analyzes.

#include "pg/query/collation.hpp"

#include "pg/query/expression.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
}

namespace bloomfilter {
namespace {

List *arguments_of(Node *call) {
  switch (nodeTag(call)) {
  case T_OpExpr:
    return castNode(OpExpr, call)->args;
  case T_FuncExpr:
    return castNode(FuncExpr, call)->args;
  default:
    return NIL;
  }
}

} // namespace

bool is_literal_or_parameter(Node *value) {
  value = without_relabeling(value);
  return IsA(value, Const) ||
         (IsA(value, Param) && castNode(Param, value)->paramkind == PARAM_EXTERN);
}

Oid collation_of(FunctionCallInfo fcinfo, int argument) {
  const Oid collation = PG_GET_COLLATION();
  if (OidIsValid(collation))
    return collation;
  Node *call = fcinfo->flinfo->fn_expr;
  List *arguments = call ? arguments_of(call) : NIL;
  if (argument >= list_length(arguments))
    return InvalidOid;
  auto *value = static_cast<Node *>(list_nth(arguments, argument));
  return is_literal_or_parameter(value) ? exprCollation(value) : InvalidOid;
}

} // namespace bloomfilter
