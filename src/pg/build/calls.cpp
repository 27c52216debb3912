// See calls.hpp. An aggregate is recognised by its functions, not by its name or its schema.

#include "pg/build/calls.hpp"

#include "pg/aggregate/arguments.hpp"
#include "pg/aggregate/steps.hpp"
#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/names.hpp"
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
struct AggregateRow : FormData_pg_aggregate {
  bool has_initial_value;
};

AggregateRow row_of_aggregate(Oid aggregate) {
  HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
  const AggregateRow row = {*reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple)),
                            !heap_attisnull(tuple, Anum_pg_aggregate_agginitval, nullptr)};
  ReleaseSysCache(tuple);
  return row;
}

// Returns the row of kKnownAggregates for an aggregate, or NULL if the aggregate is not ours. Our
// aggregates have no initial value. A user may make an aggregate of our functions with an initial
// value.
const KnownAggregate *find_known_aggregate(Oid aggregate) {
  const AggregateRow row = row_of_aggregate(aggregate);
  if (row.has_initial_value || !OidIsValid(row.aggfinalfn) || !OidIsValid(row.aggcombinefn) ||
      OidIsValid(row.aggserialfn) != OidIsValid(row.aggdeserialfn))
    return nullptr;
  const PGFunction step = code_of(row.aggtransfn), final = code_of(row.aggfinalfn),
                   combine = code_of(row.aggcombinefn);
  const bool has_serial = OidIsValid(row.aggserialfn);
  const bool has_our_serial = has_serial && code_of(row.aggserialfn) == filter_agg_serial &&
                              code_of(row.aggdeserialfn) == filter_agg_deserial;
  for (const KnownAggregate &known : kKnownAggregates)
    if (step == known.step && final == known.final && combine == known.combine &&
        (known.takes_elements ? !has_serial : has_our_serial))
      return &known;
  return nullptr;
}

// True if the name of the aggregate's result type is that of one of our types. The
// functions of other aggregates are not looked up.
bool may_be_ours(Oid aggregate) {
  const Oid type = get_func_rettype(aggregate);
  Kind kind;
  return is_filter_type(type, &kind) || is_partial_type(type);
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
      aggregate->args == NIL || DO_AGGSPLIT_COMBINE(aggregate->aggsplit) ||
      !may_be_ours(aggregate->aggfnoid))
    return false;
  const KnownAggregate *known = find_known_aggregate(aggregate->aggfnoid);
  if (!known)
    return false;
  call->layout = known->layout;
  call->finish = known->final == bloomfilter_join_final ? finish_within_limits : finish_state;
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
  return is_of_columns(call->value) && !contain_mutable_functions(call->value) &&
         !contain_subplans(call->value);
}

void depend_on_functions(PlannerInfo *root, const Aggref *aggregate) {
  const AggregateRow row = row_of_aggregate(aggregate->aggfnoid);
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
  const AggregateRow row = row_of_aggregate(aggregate->aggfnoid);
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
