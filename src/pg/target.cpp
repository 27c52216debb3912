#include "pg/target.hpp"

#include "core/sizing.hpp"
#include "core/structure.hpp"
#include "pg/errors.hpp"
#include "pg/layout.hpp"

extern "C" {
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/float.h"
#include "utils/syscache.h"
}

namespace bloomfilter {

Target target_args_with_layout(FunctionCallInfo fcinfo, Layout layout) {
  Target target = target_args(fcinfo, layout);
  if (PG_NARGS() > 4 && !PG_ARGISNULL(4)) {
    const Scheme &scheme = scheme_for(PG_GETARG_TEXT_PP(4));
    target.layout = scheme.layout;
    target.empty = scheme.empty;
  }
  return target;
}

Header header_for(const Target &target) {
  Geometry geometry = {target.layout, 0, 0};
  Capacity capacity = {0, target.rate};
  if (!target.self_sized) {
    capacity = checked_capacity(target.expected, target.rate);
    geometry = geometry_for(target.layout, capacity);
  } else if (!rate_in_range(target.rate))
    raise_bad_rate(target.rate);
  else if (is_foreign(target.layout))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("bf_agg does not size filters of layout \"%s\" itself",
                           layout_name(target.layout, target.empty)),
                    errhint("Give the expected number of values.")));
  Header header = empty_header(geometry, capacity, 0);
  header.element.family = target.empty;
  return header;
}

Header self_sized(Header header, uint64 values) {
  const Layout layout = header.geometry.layout;
  header.capacity.values = values;
  header.flags = kFlagOwn;
  if (!size_for(layout, values, header.capacity.rate, &header.geometry))
    raise_too_large(layout, header.capacity, ERRCODE_PROGRAM_LIMIT_EXCEEDED);
  check_size(kind_of(layout), header.geometry.bits());
  return header;
}

namespace {

// The plan node that gives the rows of another one, or one of several such that give the same
// columns.
const Plan *plan_below(const Plan *plan) {
  if (IsA(plan, Append))
    return static_cast<Plan *>(linitial(castNode(Append, plan)->appendplans));
  if (IsA(plan, MergeAppend))
    return static_cast<Plan *>(linitial(castNode(MergeAppend, plan)->mergeplans));
  return outerPlan(plan);
}

// Where an aggregate combines states that nodes below made, its call as they have it; NULL if that
// is not found. (Columns are resolved as EXPLAIN does it.)
const Aggref *call_below(const Aggref *call, const Plan *plan) {
  while (DO_AGGSPLIT_COMBINE(call->aggsplit)) {
    const Expr *argument = linitial_node(TargetEntry, call->args)->expr;
    while (IsA(argument, Var)) {
      const auto *column = reinterpret_cast<const Var *>(argument);
      plan = plan_below(plan);
      if (!plan || static_cast<int>(column->varno) != static_cast<int>(OUTER_VAR) ||
          column->varattno < 1 || column->varattno > list_length(plan->targetlist))
        return nullptr;
      argument = list_nth_node(TargetEntry, plan->targetlist, column->varattno - 1)->expr;
    }
    if (!IsA(argument, Aggref))
      return nullptr;
    call = reinterpret_cast<const Aggref *>(argument);
  }
  return call;
}

// Is this function the last step of an aggregate? It may also be called by others, such as Citus,
// in a step of an aggregate of theirs.
bool ends(FunctionCallInfo fcinfo, Oid aggregate) {
  HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
  if (!HeapTupleIsValid(tuple))
    return false;
  const auto *entry = reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple));
  const bool is_final =
      entry->aggfinalfn == fcinfo->flinfo->fn_oid || entry->aggmfinalfn == fcinfo->flinfo->fn_oid;
  ReleaseSysCache(tuple);
  return is_final;
}

// The arguments of the aggregate that a final function ends, the value first; NIL if they are not
// known. In a window, which does not tell whose turn it is, only if all calls have the same.
List *arguments_in_query(FunctionCallInfo fcinfo) {
  List *arguments = NIL;
  if (fcinfo->context && IsA(fcinfo->context, AggState)) {
    const Aggref *call = AggGetAggref(fcinfo);
    if (call && ends(fcinfo, call->aggfnoid))
      call = call_below(call, castNode(AggState, fcinfo->context)->ss.ps.plan);
    else
      call = nullptr;
    const ListCell *cell;
    if (call)
      foreach (cell, call->args)
        arguments = lappend(arguments, lfirst_node(TargetEntry, cell)->expr);
  } else if (fcinfo->context && IsA(fcinfo->context, WindowAggState)) {
    const ListCell *cell;
    foreach (cell, castNode(WindowAggState, fcinfo->context)->funcs) {
      const WindowFunc *call = lfirst_node(WindowFuncExprState, cell)->wfunc;
      if (!ends(fcinfo, call->winfnoid))
        continue;
      if (arguments != NIL && !equal(list_copy_tail(arguments, 1), list_copy_tail(call->args, 1)))
        return NIL;
      arguments = call->args;
    }
  }
  return arguments;
}

} // namespace

Target target_in_query(FunctionCallInfo fcinfo, Layout layout) {
  constexpr Oid kTypes[] = {FLOAT8OID, FLOAT8OID, TEXTOID};
  LOCAL_FCINFO(row, 5); // as a transition function would be called
  List *arguments = arguments_in_query(fcinfo);
  const int count = list_length(arguments);
  InitFunctionCallInfoData(*row, nullptr, 2, InvalidOid, nullptr, nullptr);
  for (int i = 1; i < Min(count, 1 + static_cast<int>(lengthof(kTypes))); i++) {
    auto *argument = static_cast<Expr *>(list_nth(arguments, i));
    auto *node = reinterpret_cast<Node *>(argument);
    if (exprType(node) != kTypes[i - 1])
      break;
    NullableDatum &value = row->args[row->nargs++];
    value = {0, true};
    if (contain_var_clause(node) || contain_subplans(node))
      continue;
    PlanState *state = &reinterpret_cast<ScanState *>(fcinfo->context)->ps;
    value.value =
        ExecEvalExpr(ExecInitExpr(argument, nullptr), state->ps_ExprContext, &value.isnull);
  }
  if (row->nargs > 2 && !row->args[2].isnull && DatumGetFloat8(row->args[2].value) < 1)
    row->args[2].isnull = true;
  return target_args_with_layout(row, layout);
}

Filter filter_without_values(const Target &target) {
  Header header = header_for(target);
  if (target.self_sized && kind_of(target.layout) == Kind::bloom) {
    header.capacity.values = kFirstValues;
    return make_growing(header, kFlagOwn);
  }
  if (target.self_sized)
    header = self_sized(header, kUntoldValues);
  header.flags = kFlagOwn;
  return make_filter(header);
}

void raise_parameters_differ(const Target &first, const Target &other, const char *parts) {
  const Kind kind = kind_of(first.layout);
  const auto text_of = [kind](const Target &of) {
    const char *expected = of.self_sized ? "NULL" : float8out_internal(of.expected);
    return kind == Kind::bloom
               ? psprintf("%s, %g and \"%s\"", expected, of.rate, layout_name(of.layout, of.empty))
               : psprintf("%s and %g", expected, of.rate);
  };
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("parameters of %s_agg differ between %s", prefix_of(kind), parts),
                  errdetail("Expected number of values%s were %s, then %s.",
                            kind == Kind::bloom ? ", false positive rate and layout"
                                                : " and false positive rate",
                            text_of(first), text_of(other)),
                  errhint("Use the same values for all %s of a group.", parts)));
}

} // namespace bloomfilter
