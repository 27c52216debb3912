// The index's operator family says what an index is asked: its one operator, and the functions that
// make the operator's right side of a value (1) and of a bare literal (2).

#include "pg/planner/index_condition.hpp"

#include "pg/element/element.hpp"
#include "pg/planner/question.hpp"
#include "pg/value/collation.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

constexpr int kProbeOfValue = 1, kProbeOfLiteral = 2;
constexpr StrategyNumber kContains = 1;

// Is a value asked for that has a type of its own, rather than a bare literal?
bool is_of_any_type(Oid function, int argument) {
  Oid *types;
  int count;
  get_func_signature(function, &types, &count);
  const bool any = types[argument] == ANYOID;
  pfree(types);
  return any;
}

} // namespace

Node *index_conditions(SupportRequestIndexCondition *request) {
  Question question;
  if (!asks_filter(request->node, &question) || question.asked != Asked::value)
    return nullptr;
  List *arguments = IsA(request->node, OpExpr) ? castNode(OpExpr, request->node)->args
                                               : castNode(FuncExpr, request->node)->args;
  if (list_nth(arguments, request->indexarg) != question.filter ||
      !is_pseudo_constant_for_index(request->root, question.value, request->index))
    return nullptr;

  const Oid type = exprType(question.value);
  const Oid collation = OidIsValid(question.collation) ? question.collation
                        : is_given(question.value)     ? exprCollation(question.value)
                                                       : InvalidOid;
  const bool any = is_of_any_type(request->funcid, 1 - request->indexarg);
  if (type == UNKNOWNOID || !scalar_element(any ? type : TEXTOID, collation, CurrentMemoryContext))
    return nullptr;

  const Oid indexed = request->index->opcintype[request->indexcol];
  const Oid make =
      get_opfamily_proc(request->opfamily, indexed, indexed, any ? kProbeOfValue : kProbeOfLiteral);
  if (!OidIsValid(make))
    return nullptr;
  const Oid probe = get_func_rettype(make);
  const Oid operation = get_opfamily_member(request->opfamily, indexed, probe, kContains);
  if (!OidIsValid(operation))
    return nullptr;
  auto *made = makeFuncExpr(make, probe, list_make1(question.value), InvalidOid, collation,
                            COERCE_EXPLICIT_CALL);
  auto *condition =
      make_opclause(operation, BOOLOID, false, reinterpret_cast<Expr *>(question.filter),
                    reinterpret_cast<Expr *>(made), InvalidOid, InvalidOid);
  set_opfuncid(reinterpret_cast<OpExpr *>(condition));
  request->lossy = false;
  return reinterpret_cast<Node *>(list_make1(condition));
}

} // namespace bloomfilter
