// Answers what the server wants to know about our operators and functions during planning. The
// RESTRICT and JOIN functions estimate the selectivity of operators. The support functions estimate
// the selectivity of function calls, and the cost of both. They also find index conditions and
// simplify calls.
//
// The answer to a request of an unknown kind is NULL, as the server expects.

#include "pg/server.hpp"

#include "pg/compat.hpp"
#include "pg/planner/cost.hpp"
#include "pg/planner/filter_estimate.hpp"
#include "pg/planner/support.hpp"

extern "C" {
#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
}

using namespace bloomfilter;

namespace {

// The assumed number of elements of an array about which nothing is known.
constexpr double kElements = 10.0;

Node *answer_selectivity(SupportRequestSelectivity *request) {
  ProbeExpr probe;
  if (!is_probe_by_function(request->funcid, request->args, request->inputcollid, &probe))
    return nullptr;
  request->selectivity =
      request->is_join ? join_selectivity(request->root, probe, request->jointype, request->sjinfo)
                       : restriction_selectivity(request->root, probe, request->varRelid);
  return reinterpret_cast<Node *>(request);
}

// True if each row has another filter. False if a join brings one filter together with many values.
bool changes_with_row(PlannerInfo *root, const ProbeExpr &probe) {
  Relids filters = pull_varnos(root, probe.filter);
  return !bms_is_empty(filters) && bms_is_subset(pull_varnos(root, probe.value), filters);
}

// The number of probes for one row: more than one for an array. For some subqueries, the server
// estimates costs before it has set up its relations.
double probes_of(PlannerInfo *root, const ProbeExpr &probe) {
  if (!is_of_array(probe.target))
    return 1.0;
  return root && root->simple_rel_array ? estimate_array_length(root, probe.value) : kElements;
}

double filter_bytes_of(PlannerInfo *root, Node *filter) {
  if (IsA(filter, Const) && !castNode(Const, filter)->constisnull)
    return static_cast<double>(toast_raw_datum_size(castNode(Const, filter)->constvalue));
  return root ? estimate_of(root, filter).bytes : 0.0;
}

Node *answer_cost(SupportRequestCost *request) {
  ProbeExpr probe;
  if (request->node && IsA(request->node, OpExpr)) {
    const auto *call = castNode(OpExpr, request->node);
    if (!is_probe_by_operator(call->opno, call->args, call->inputcollid, &probe))
      return nullptr;
  } else if (request->node && IsA(request->node, FuncExpr)) {
    const auto *call = castNode(FuncExpr, request->node);
    if (!is_probe_by_function(call->funcid, call->args, call->inputcollid, &probe))
      return nullptr;
  } else {
    return nullptr;
  }
  const double bytes = filter_bytes_of(request->root, probe.filter);
  const double first = changes_with_row(request->root, probe) ? cost_of_another_filter(bytes) : 0.0;
  request->startup = 0;
  request->per_tuple = first + probes_of(request->root, probe) * cost_of_probe(bytes);
  return reinterpret_cast<Node *>(request);
}

// The condition whose operator a RESTRICT or JOIN function is called for.
bool is_estimated_probe(FunctionCallInfo fcinfo, ProbeExpr *probe) {
  return is_probe_by_operator(PG_GETARG_OID(1), reinterpret_cast<List *>(PG_GETARG_POINTER(2)),
                              PG_GET_COLLATION(), probe);
}

Node *answer_simplify(Node *request) {
  return IsA(request, SupportRequestSimplify)
             ? shippable_form(reinterpret_cast<SupportRequestSimplify *>(request)->fcall)
             : nullptr;
}

Node *request_of(FunctionCallInfo fcinfo) {
  return reinterpret_cast<Node *>(PG_GETARG_POINTER(0));
}

Node *answer(Node *request) {
  switch (nodeTag(request)) {
  case T_SupportRequestSelectivity:
    return answer_selectivity(reinterpret_cast<SupportRequestSelectivity *>(request));
  case T_SupportRequestCost:
    return answer_cost(reinterpret_cast<SupportRequestCost *>(request));
  case T_SupportRequestIndexCondition:
    return index_conditions(reinterpret_cast<SupportRequestIndexCondition *>(request));
  default:
    return answer_simplify(request);
  }
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_FUNCTION(filter_restrict) {
  ProbeExpr probe;
  if (!is_estimated_probe(fcinfo, &probe))
    PG_RETURN_FLOAT8(kUnknown);
  PG_RETURN_FLOAT8(restriction_selectivity(reinterpret_cast<PlannerInfo *>(PG_GETARG_POINTER(0)),
                                           probe, PG_GETARG_INT32(3)));
}

SQL_FUNCTION(filter_join) {
  ProbeExpr probe;
  if (!is_estimated_probe(fcinfo, &probe))
    PG_RETURN_FLOAT8(kUnknown);
  PG_RETURN_FLOAT8(join_selectivity(reinterpret_cast<PlannerInfo *>(PG_GETARG_POINTER(0)), probe,
                                    static_cast<JoinType>(PG_GETARG_INT16(3)),
                                    reinterpret_cast<SpecialJoinInfo *>(PG_GETARG_POINTER(4))));
}

// The next two answer alike. Which of them a function has tells whether it probes for any or for
// all elements of an array (known_function.cpp).
SQL_RESULT(filter_support, PointerGetDatum(answer(request_of(fcinfo))));
SQL_RESULT(filter_support_all, PointerGetDatum(answer(request_of(fcinfo))));

SQL_RESULT(filter_support_value, PointerGetDatum(answer_simplify(request_of(fcinfo))));

SQL_FUNCTIONS_END
