// See arguments.hpp: first the walk over the plan, then the evaluation of what it finds.

#include "pg/aggregate/arguments.hpp"

#include "pg/compat.hpp"
#include "pg/list.hpp"

extern "C" {
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/syscache.h"
}

namespace bloomfilter {

namespace {

// The plan node whose expressions are resolved, and how many columns may still be replaced. Without
// this limit, nested subqueries that each use a column of the next one twice would double the time
// with each level.
struct Resolving {
  const Plan *plan;
  int *columns;
};

constexpr int kMostColumns = 10000;

Node *column_of(Resolving below, AttrNumber number);

// Returns an expression of a plan node with its columns resolved. A column of a node below is
// replaced by the expression that computes it, if that expression is found. From the inner side of
// a join comes only a call of an aggregate: other expressions there may have values of the outer
// row.
Node *resolved(Node *node, void *context) {
  const Resolving in = *static_cast<const Resolving *>(context);
  const Plan *plan = in.plan;
  if (!node)
    return nullptr;
  if (IsA(node, Var)) {
    if (*in.columns == 0)
      return node;
    --*in.columns;
    const auto *column = reinterpret_cast<const Var *>(node);
    Node *found = nullptr;
    if (static_cast<int>(column->varno) == static_cast<int>(OUTER_VAR))
      found = column_of({outerPlan(plan), in.columns}, column->varattno);
    else if (static_cast<int>(column->varno) == static_cast<int>(INNER_VAR)) {
      found = column_of({innerPlan(plan), in.columns}, column->varattno);
      if (found && !IsA(found, Aggref))
        found = nullptr;
    } else if (IsA(plan, SubqueryScan))
      found = column_of({reinterpret_cast<const SubqueryScan *>(plan)->subplan, in.columns},
                        column->varattno);
    else if (static_cast<int>(column->varno) == static_cast<int>(INDEX_VAR) &&
             IsA(plan, CustomScan))
      found = reinterpret_cast<Node *>(
          list_nth_node(TargetEntry, reinterpret_cast<const CustomScan *>(plan)->custom_scan_tlist,
                        column->varattno - 1)
              ->expr);
    return found ? found : node;
  }
  return expression_tree_mutator(node, resolved, context);
}

// Returns the expression that computes a column of a plan node, or NULL if it is not found. If the
// node appends the rows of several nodes, all of these must have the same expression. A call of an
// aggregate is not compared: calls that make partial states were all made from one, and a parameter
// that is another call counts as NULL.
Node *column_of(Resolving below, AttrNumber number) {
  const Plan *plan = below.plan;
  if (!plan || number < 1 || number > list_length(plan->targetlist))
    return nullptr;
  const List *appended = NIL;
  if (IsA(plan, Append))
    appended = reinterpret_cast<const Append *>(plan)->appendplans;
  else if (IsA(plan, MergeAppend))
    appended = reinterpret_cast<const MergeAppend *>(plan)->mergeplans;
  if (appended == NIL) {
    const auto *entry = list_nth_node(TargetEntry, plan->targetlist, number - 1);
    return resolved(reinterpret_cast<Node *>(entry->expr), &below);
  }
  Node *first = nullptr;
  for (const Plan *part : each<Plan>(appended)) {
    Node *column = column_of({part, below.columns}, number);
    if (!column || (first && !equal(first, column)))
      return nullptr;
    first = column;
    if (IsA(column, Aggref))
      break;
  }
  return first;
}

Node *resolved_in(const PlanState *state, Node *node) {
  int columns = kMostColumns;
  Resolving in = {state->plan, &columns};
  return resolved(node, &in);
}

// True if the running function is the final function of this aggregate. It may not be:
// another extension, such as Citus, calls our final function within its own aggregate.
bool ends(FunctionCallInfo fcinfo, Oid aggregate) {
  HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
  if (!HeapTupleIsValid(tuple))
    return false;
  const auto *entry = reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple));
  const bool is_final = entry->aggfinalfn == fcinfo->flinfo->fn_oid;
  ReleaseSysCache(tuple);
  return is_final;
}

// Returns the arguments of the aggregate call that this final function ends, the value first. NIL
// if they are not found.
List *arguments_of_call(FunctionCallInfo fcinfo) {
  const Aggref *call = AggGetAggref(fcinfo);
  if (!call || !ends(fcinfo, call->aggfnoid))
    return NIL;
  const PlanState *state = &castNode(AggState, fcinfo->context)->ss.ps;
  call = castNode(Aggref, resolved_in(state, reinterpret_cast<Node *>(const_cast<Aggref *>(call))));
  while (DO_AGGSPLIT_COMBINE(call->aggsplit)) { // the argument is the call that made the state
    const Expr *argument = linitial_node(TargetEntry, call->args)->expr;
    if (!IsA(argument, Aggref))
      return NIL;
    call = reinterpret_cast<const Aggref *>(argument);
  }
  List *arguments = NIL;
  for (const TargetEntry *entry : each<TargetEntry>(call->args))
    if (!entry->resjunk) // a junk entry is an expression of the call's ORDER BY
      arguments = lappend(arguments, entry->expr);
  return arguments;
}

// Returns the arguments that all calls in a window share, because a window does not tell which of
// its calls this final function ends. The list is as long as that of the call with the fewest
// arguments. An argument in which the calls differ is NULL.
List *arguments_of_windows(FunctionCallInfo fcinfo) {
  const auto *state = castNode(WindowAggState, fcinfo->context);
  List *arguments = NIL;
  for (const WindowFuncExprState *called : each<WindowFuncExprState>(state->funcs)) {
    const WindowFunc *call = called->wfunc;
    if (!ends(fcinfo, call->winfnoid))
      continue;
    auto *others =
        reinterpret_cast<List *>(resolved_in(&state->ss.ps, reinterpret_cast<Node *>(call->args)));
    if (arguments == NIL)
      arguments = others;
    arguments = list_truncate(arguments, list_length(others));
    for (int i = 0; i < list_length(arguments); i++)
      if (!equal(list_nth(arguments, i), list_nth(others, i)))
        lfirst(list_nth_cell(arguments, i)) = nullptr;
  }
  return arguments;
}

List *arguments_in_query(FunctionCallInfo fcinfo) {
  if (fcinfo->context && IsA(fcinfo->context, AggState))
    return arguments_of_call(fcinfo);
  if (fcinfo->context && IsA(fcinfo->context, WindowAggState))
    return arguments_of_windows(fcinfo);
  return NIL;
}

constexpr int kMostArguments = 5; // of a transition function

// Sets `row` as for a call of a transition function: evaluates the arguments after the value. An
// argument that is not the same for all rows becomes NULL. Returns false if the expected number,
// the first argument after the value, is not the same for all rows.
bool evaluate_arguments(const List *arguments, ExprContext *context, FunctionCallInfo row) {
  constexpr Oid kTypes[] = {FLOAT8OID, FLOAT8OID, TEXTOID};
  InitFunctionCallInfoData(*row, nullptr, 2, InvalidOid, nullptr, nullptr);
  if (list_length(arguments) < 2)
    return true;
  // Memory of one row, because a node that runs many times must not keep the memory of each run.
  const MemoryContext before = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
  bool expected_is_known = true; // also true if the call has no expected number
  for (int i = 1; i < list_length(arguments) && i <= static_cast<int>(lengthof(kTypes)); i++) {
    auto *node = static_cast<Node *>(list_nth(arguments, i));
    if (node && exprType(node) != kTypes[i - 1])
      break; // an aggregate that a user made of our functions
    NullableDatum &value = row->args[row->nargs++];
    value = {0, true};
    if (node && is_same_for_all_rows(node)) {
      ExprState *state = ExecInitExpr(reinterpret_cast<Expr *>(node), nullptr);
      value.value = ExecEvalExpr(state, context, &value.isnull);
    } else if (i == 1)
      expected_is_known = false;
  }
  MemoryContextSwitchTo(before);
  return expected_is_known;
}

} // namespace

bool is_same_for_all_rows(Node *node) {
  return !contain_var_clause(node) && !contain_subplans(node) && !contain_agg_clause(node) &&
         !contain_window_function(node) && !expression_returns_set(node) &&
         !contain_volatile_functions(node);
}

Parameters parameters_with_rows(const List *arguments, ExprContext *context, Layout layout) {
  LOCAL_FCINFO(row, kMostArguments);
  evaluate_arguments(arguments, context, row);
  return parameters_of_row_with_layout(row, layout);
}

Parameters parameters_without_rows(const List *arguments, ExprContext *context, Layout layout) {
  LOCAL_FCINFO(row, kMostArguments);
  bool expected_is_known = evaluate_arguments(arguments, context, row);
  if (row->nargs > 2 && !row->args[2].isnull && DatumGetFloat8(row->args[2].value) < 1) {
    row->args[2].isnull = true;
    expected_is_known = false;
  }
  Parameters parameters = parameters_of_row_with_layout(row, layout);
  // A layout that does not size itself needs a number. A row would have given it.
  if (!expected_is_known && !has<Ability::sizes_itself>(parameters.layout)) {
    parameters.self_sized = false;
    parameters.expected = kDefaultExpected;
  }
  return parameters;
}

Parameters parameters_in_query(FunctionCallInfo fcinfo, Layout layout) {
  const List *arguments = arguments_in_query(fcinfo);
  ExprContext *context = arguments == NIL
                             ? nullptr
                             : reinterpret_cast<ScanState *>(fcinfo->context)->ps.ps_ExprContext;
  return parameters_without_rows(arguments, context, layout);
}

} // namespace bloomfilter
