// See calls.hpp. An aggregate is recognised by its functions, not by its name or its schema.

#include "pg/build/calls.hpp"

#include "pg/aggregate/arguments.hpp"
#include "pg/aggregate/steps.hpp"
#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/query/known_function.hpp"
#include "pg/table/conditions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace bloomfilter {
namespace {

// One of our aggregates: its functions, and what its calls build.
struct KnownAggregate {
  PGFunction step, final, combine;
  Layout layout;
  bool takes_elements, returns_state;
};

const KnownAggregate kKnownAggregates[] = {
    {bloomfilter_agg_trans, bloomfilter_agg_final, filter_agg_combine, Layout::lines, false, false},
    {bloomfilter_agg_trans, bloomfilter_join_final, filter_agg_combine, Layout::lines, false,
     false},
    {countingbloomfilter_agg_trans, countingbloomfilter_agg_final, filter_agg_combine,
     Layout::counting_lines, false, false},
    {cuckoofilter_agg_trans, cuckoofilter_agg_final, filter_agg_combine, Layout::cuckoo, false,
     false},
    {bloomfilter_partial_add, bloomfilter_partial_final, bloomfilter_partial_combine, Layout::lines,
     true, false},
    {bloomfilter_partial_add, bloomfilter_partial_agg_final, bloomfilter_partial_combine,
     Layout::lines, true, true},
};

// The row of an aggregate in pg_aggregate.
FormData_pg_aggregate row_of_aggregate(Oid aggregate) {
  HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
  const FormData_pg_aggregate row = *reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  return row;
}

// Returns the row of kKnownAggregates for an aggregate, or NULL if the aggregate is not ours. Our
// aggregates have no initial value. A user may make an aggregate of our functions with an initial
// value.
const KnownAggregate *find_known_aggregate(Oid aggregate) {
  const KnownFunction found = known_function(aggregate);
  for (const KnownAggregate &known : kKnownAggregates) {
    const bool has_serial = !known.takes_elements;
    if (found.step == known.step && found.final == known.final && found.combine == known.combine &&
        found.serial == (has_serial ? filter_agg_serial : nullptr) &&
        found.deserial == (has_serial ? filter_agg_deserial : nullptr) && !found.has_initial_value)
      return &known;
  }
  return nullptr;
}

void check_may_call(Oid function, Oid role, ObjectType type) {
  const AclResult result = object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE);
  if (result != ACLCHECK_OK)
    aclcheck_error(result, type, get_func_name(function));
  InvokeFunctionExecuteHook(function);
}

} // namespace

bool is_build_call(const Aggref *aggregate, BuildCall *call) {
  if (aggregate->aggkind != AGGKIND_NORMAL || aggregate->agglevelsup > 0 ||
      aggregate->aggorder != NIL || aggregate->aggdistinct != NIL || aggregate->aggvariadic ||
      aggregate->args == NIL || DO_AGGSPLIT_COMBINE(aggregate->aggsplit))
    return false;
  const KnownAggregate *known = find_known_aggregate(aggregate->aggfnoid);
  if (!known)
    return false;
  call->layout = known->layout;
  call->within_limits = known->final == bloomfilter_join_final;
  call->takes_elements = known->takes_elements;
  call->is_partial = DO_AGGSPLIT_SKIPFINAL(aggregate->aggsplit);
  call->returns_state = call->is_partial || known->returns_state;
  call->arguments = NIL;
  for (const TargetEntry *entry : each<TargetEntry>(aggregate->args)) {
    auto *argument = reinterpret_cast<Node *>(entry->expr);
    if (call->arguments != NIL && !is_same_for_all_rows(argument))
      return false;
    call->arguments = lappend(call->arguments, argument);
  }
  call->value = reinterpret_cast<Node *>(linitial_node(TargetEntry, aggregate->args)->expr);
  call->collation = aggregate->inputcollid;
  if (known->takes_elements) {
    if (!IsA(call->value, FuncExpr))
      return false;
    const auto *element = castNode(FuncExpr, call->value);
    if (code_of(element->funcid) != bf_element_of)
      return false;
    call->value = static_cast<Node *>(linitial(element->args));
    call->collation = element->inputcollid;
  }
  call->condition =
      aggregate->aggfilter ? make_ands_implicit(const_cast<Expr *>(aggregate->aggfilter)) : NIL;
  // A volatile condition must be evaluated row by row with those of the other calls.
  return is_of_columns(call->value) && !contain_mutable_functions(call->value) &&
         !contain_subplans(call->value) &&
         !contain_volatile_functions(reinterpret_cast<Node *>(call->condition));
}

void depend_on_functions(PlannerInfo *root, const Aggref *aggregate) {
  const FormData_pg_aggregate row = row_of_aggregate(aggregate->aggfnoid);
  const Oid functions[] = {row.aggtransfn, row.aggfinalfn, row.aggcombinefn, row.aggserialfn,
                           row.aggdeserialfn};
  for (const Oid function : functions)
    record_plan_function_dependency(root, function);
}

// Makes the same checks as ExecInitAgg() and ExecInitFunc().
void check_permission(const Aggref *aggregate) {
  check_may_call(aggregate->aggfnoid, GetUserId(), OBJECT_AGGREGATE);
  HeapTuple procedure = SearchSysCache1(PROCOID, ObjectIdGetDatum(aggregate->aggfnoid));
  if (!HeapTupleIsValid(procedure))
    elog(ERROR, "cache lookup failed for aggregate %u", aggregate->aggfnoid);
  const Oid owner = reinterpret_cast<Form_pg_proc>(GETSTRUCT(procedure))->proowner;
  ReleaseSysCache(procedure);
  const FormData_pg_aggregate row = row_of_aggregate(aggregate->aggfnoid);
  check_may_call(row.aggtransfn, owner, OBJECT_FUNCTION);
  if (!DO_AGGSPLIT_SKIPFINAL(aggregate->aggsplit))
    check_may_call(row.aggfinalfn, owner, OBJECT_FUNCTION);
  else if (OidIsValid(row.aggserialfn))
    check_may_call(row.aggserialfn, owner, OBJECT_FUNCTION);
  const Expr *value = linitial_node(TargetEntry, aggregate->args)->expr;
  if (IsA(value, FuncExpr)) // bf_element_of(): a build does not call it, but the query names it
    check_may_call(reinterpret_cast<const FuncExpr *>(value)->funcid, GetUserId(), OBJECT_FUNCTION);
}

} // namespace bloomfilter
