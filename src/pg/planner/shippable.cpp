// Makes our calls acceptable to postgres_fdw, so that it sends them to the remote server.
//
// postgres_fdw sends an operator or a function with an input collation only if a remote column has
// that collation. The collation of a literal or a parameter comes from no remote column, so `filter
// @> 'x'` would fetch the filters. But our functions need to know only that the collation is
// deterministic. So the planner checks this and then removes the collation from the call. When the
// call is executed, our function still finds the collation in the argument
// (pg/query/collation.hpp).

#include "pg/planner/support.hpp"

#include "pg/list.hpp"
#include "pg/query/collation.hpp"
#include "pg/query/expression.hpp"

extern "C" {
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace bloomfilter {
namespace {

constexpr const char *kOperators[] = {"@>", "<@", "+", "-"};

// Returns a value that the server leaves in place. In the nodes of a plan, the server replaces an
// expression by the column of a lower node that computes an equal expression. A parameter with
// another collation equals none of them, so a parameter gets another collation.
Node *kept_value(Node *value) {
  if (!IsA(without_relabeling(value), Param))
    return value;
  auto *copy = static_cast<Node *>(copyObjectImpl(value));
  auto *parameter = castNode(Param, without_relabeling(copy));
  parameter->paramcollid =
      parameter->paramcollid == C_COLLATION_OID ? DEFAULT_COLLATION_OID : C_COLLATION_OID;
  return copy;
}

// The operator that calls a function. It is looked up in the function's schema, which is the schema
// of the extension. InvalidOid if there is none.
Oid operator_of(Oid function) {
  Oid *types, found = InvalidOid;
  int count;
  get_func_signature(function, &types, &count);
  for (Size i = 0; count == 2 && !OidIsValid(found) && i < lengthof(kOperators); i++) {
    found = GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid, CStringGetDatum(kOperators[i]),
                            ObjectIdGetDatum(types[0]), ObjectIdGetDatum(types[1]),
                            ObjectIdGetDatum(get_func_namespace(function)));
    if (OidIsValid(found) && get_opcode(found) != function)
      found = InvalidOid;
  }
  pfree(types);
  return found;
}

} // namespace

Node *shippable_form(const FuncExpr *call) {
  if (!OidIsValid(call->inputcollid) || !get_collation_isdeterministic(call->inputcollid))
    return nullptr;
  List *arguments = NIL;
  for (Node *argument : each<Node>(call->args)) {
    const bool is_value = type_is_collatable(exprType(argument));
    if (is_value &&
        (!is_literal_or_parameter(argument) || exprCollation(argument) != call->inputcollid))
      return nullptr;
    arguments = lappend(arguments, is_value ? kept_value(argument) : argument);
  }
  const Oid operation = operator_of(call->funcid);
  if (!OidIsValid(operation))
    return reinterpret_cast<Node *>(makeFuncExpr(call->funcid, call->funcresulttype, arguments,
                                                 call->funccollid, InvalidOid, call->funcformat));
  auto *form = makeNode(OpExpr);
  form->opno = operation;
  form->opfuncid = call->funcid;
  form->opresulttype = call->funcresulttype;
  form->args = arguments;
  form->location = call->location;
  return reinterpret_cast<Node *>(form);
}

} // namespace bloomfilter
