// Turns a condition that probes a stored filter into a scan key of an index. The planner calls this
// through our support function, for each such condition on an indexed column.
//
// The index's operator family defines both parts of the scan key: the index's one operator, and the
// functions that make the operator's right side. There is one function each for a value, a bare
// literal, an array and a hash.

#include "pg/planner/support.hpp"

#include "pg/element/value_type.hpp"
#include "pg/query/collation.hpp"
#include "pg/query/known_function.hpp"

extern "C" {
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace bloomfilter {
namespace {

constexpr StrategyNumber kContains = 1;

// The number, in the operator family, of the function that makes the right side. 0 if there is
// none.
int function_for(ProbeTarget target) {
  switch (target) {
  case ProbeTarget::value:
    return 1;
  case ProbeTarget::literal:
    return 2;
  case ProbeTarget::any:
    return 3;
  case ProbeTarget::hash:
    return 4;
  case ProbeTarget::all:
    break;
  }
  return 0;
}

// True if hashing a field of a row cannot raise an error. A bare literal is hashed as a text that
// needs no collation.
bool is_field_surely_hashed(const FormData_pg_attribute &field) {
  return field.atttypid == UNKNOWNOID && !OidIsValid(field.attcollation)
             ? is_surely_hashed_field(TEXTOID, C_COLLATION_OID)
             : is_surely_hashed_field(field.atttypid, field.attcollation);
}

// True if hashing the rows that an expression returns cannot raise an error, judging by their type.
bool is_row_surely_hashed(Node *row) {
  const TupleDesc fields = get_expr_result_tupdesc(row, true);
  if (!fields)
    return false;
  for (int i = 0; i < fields->natts; i++)
    if (!TupleDescAttr(fields, i)->attisdropped &&
        !is_field_surely_hashed(*TupleDescAttr(fields, i)))
      return false;
  return true;
}

// True if making the scan key's right side from `value` cannot raise an error.
bool can_be_scan_key(ProbeTarget target, Node *value, Oid type, Oid collation) {
  if (target == ProbeTarget::hash)
    return true;
  if (target == ProbeTarget::any)
    return is_surely_hashed(get_base_element_type(type), collation);
  return is_surely_hashed(type, collation) ||
         (type_is_rowtype(type) && is_row_surely_hashed(value));
}

} // namespace

Node *index_conditions(SupportRequestIndexCondition *request) {
  ProbeExpr probe;
  if (!is_probe(request->node, &probe))
    return nullptr;
  List *arguments = IsA(request->node, OpExpr) ? castNode(OpExpr, request->node)->args
                                               : castNode(FuncExpr, request->node)->args;
  if (list_nth(arguments, request->indexarg) != probe.filter ||
      !is_pseudo_constant_for_index(request->root, probe.value, request->index))
    return nullptr;

  request->root->glob->dependsOnRole = true; // another role may have other privileges
  const Oid type = exprType(probe.value);
  const Oid collation = OidIsValid(probe.collation)            ? probe.collation
                        : is_literal_or_parameter(probe.value) ? exprCollation(probe.value)
                                                               : InvalidOid;
  if (type == UNKNOWNOID ||
      !can_be_scan_key(probe.target, probe.value,
                       probe.target == ProbeTarget::literal ? TEXTOID : type, collation))
    return nullptr;

  const Oid indexed = request->index->opcintype[request->indexcol];
  const int number = function_for(probe.target);
  const Oid make =
      number == 0 ? InvalidOid : get_opfamily_proc(request->opfamily, indexed, indexed, number);
  if (!OidIsValid(make))
    return nullptr;
  const Oid key_type = get_func_rettype(make);
  const Oid operation = get_opfamily_member(request->opfamily, indexed, key_type, kContains);
  // If the user may not call one of the functions, the condition stays and raises the usual error.
  if (!OidIsValid(operation) || !may_call(request->funcid) || !may_call(make) ||
      !may_call(get_opcode(operation)))
    return nullptr;
  auto *made = makeFuncExpr(make, key_type, list_make1(probe.value), InvalidOid, collation,
                            COERCE_EXPLICIT_CALL);
  auto *condition = make_opclause(operation, BOOLOID, false, reinterpret_cast<Expr *>(probe.filter),
                                  reinterpret_cast<Expr *>(made), InvalidOid, InvalidOid);
  set_opfuncid(reinterpret_cast<OpExpr *>(condition));
  request->lossy = false;
  return reinterpret_cast<Node *>(list_make1(condition));
}

} // namespace bloomfilter
