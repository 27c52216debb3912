// See query.hpp. The extension's objects are found by name and checked by their C functions: a user
// may have made functions of the same names.

#include "pg/join/query.hpp"

#include "pg/build/calls.hpp"
#include "pg/list.hpp"
#include "pg/names.hpp"
#include "pg/query/expression.hpp"
#include "pg/query/known_function.hpp"
#include "pg/query/probe_expr.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace bloomfilter {
namespace {

// --- the extension's objects ---------------------------------------------------------------------

Aggref *call_of(const ExtensionOids &oids, Node *value, Oid collation) {
  Aggref *call = makeNode(Aggref);
  call->aggfnoid = oids.aggregate;
  call->aggtype = oids.type;
  call->inputcollid = collation;
  call->aggargtypes = list_make1_oid(exprType(value));
  call->args = list_make1(makeTargetEntry(reinterpret_cast<Expr *>(value), 1, nullptr, false));
  call->aggkind = AGGKIND_NORMAL;
  call->aggsplit = AGGSPLIT_SIMPLE;
  call->aggno = call->aggtransno = -1;
  call->location = -1;
  return call;
}

// True if these are the objects that this library has made.
bool are_ours(const ExtensionOids &oids) {
  auto *value = reinterpret_cast<Node *>(makeVar(1, 1, INT4OID, -1, InvalidOid, 0));
  auto *filter = reinterpret_cast<Node *>(makeNullConst(oids.type, -1, InvalidOid));
  BuildCall call;
  ProbeExpr probe;
  return is_build_call(call_of(oids, value, InvalidOid), &call) && call.layout == Layout::lines &&
         !call.returns_state &&
         is_probe_for_value(reinterpret_cast<Node *>(make_probe(oids, filter, value, InvalidOid)),
                            &probe);
}

// True if a function with the aggregate's name is the one that this library has made. Sets the
// OIDs.
bool are_oids_of(const FormData_pg_proc &function, ExtensionOids *oids) {
  Kind kind;
  if (function.prokind != PROKIND_AGGREGATE || function.pronargs != 1 ||
      function.proargtypes.values[0] != ANYOID || !is_filter_type(function.prorettype, &kind) ||
      kind != Kind::bloom)
    return false;
  oids->aggregate = function.oid;
  oids->type = function.prorettype;
  oids->operation = GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid, CStringGetDatum("@>"),
                                    ObjectIdGetDatum(oids->type), ObjectIdGetDatum(ANYOID),
                                    ObjectIdGetDatum(function.pronamespace));
  return OidIsValid(oids->operation) && are_ours(*oids);
}

// --- filters that the query itself builds --------------------------------------------------------

constexpr int kMostSubqueryProbes = 64; // of a table; each is compared with each key

struct SubqueryProbe {
  RestrictInfo *condition;
  Node *value;
  PlannerInfo *subquery; // builds the filter
};

// The planned subquery that sets a parameter of this query. NULL if there is none.
PlannerInfo *subquery_of(PlannerInfo *root, const Node *parameter) {
  if (!IsA(parameter, Param) || reinterpret_cast<const Param *>(parameter)->paramkind != PARAM_EXEC)
    return nullptr;
  const SubPlan *subplan =
      initplan_of_level(root, reinterpret_cast<const Param *>(parameter)->paramid);
  return subplan ? static_cast<PlannerInfo *>(list_nth(root->glob->subroots, subplan->plan_id - 1))
                 : nullptr;
}

// Copies an expression of a table into a query in which the table has another number.
Node *numbered(const void *expression, const RelOptInfo *table, Index number) {
  auto *copy = static_cast<Node *>(copyObjectImpl(expression));
  ChangeVarNodes(copy, static_cast<int>(table->relid), static_cast<int>(number), 0);
  return copy;
}

bool are_same(const List *one, const List *other) {
  return list_length(one) == list_length(other) && list_difference(one, other) == NIL &&
         list_difference(other, one) == NIL;
}

// True if a subquery selects only a filter of the source's keys, under the source's conditions.
bool builds_same(PlannerInfo *root, PlannerInfo *subquery, const KeyPair &pair) {
  const List *from = subquery->parse->jointree->fromlist;
  const Query *query = subquery->parse;
  if (list_length(from) != 1 || !IsA(linitial(from), RangeTblRef) ||
      list_length(query->targetList) != 1 || query->groupClause != NIL ||
      query->groupingSets != NIL || query->havingQual || query->limitCount || query->limitOffset)
    return false;
  const Index number = static_cast<Index>(linitial_node(RangeTblRef, from)->rtindex);
  RelOptInfo *table = subquery->simple_rel_array[number];
  Expr *selected = linitial_node(TargetEntry, query->targetList)->expr;
  BuildCall call;
  return table && table->rtekind == RTE_RELATION &&
         planner_rt_fetch(number, subquery)->relid ==
             planner_rt_fetch(pair.source->relid, root)->relid &&
         is_plain_table(subquery, table) && IsA(selected, Aggref) &&
         is_build_call(reinterpret_cast<Aggref *>(selected), &call) && call.condition == NIL &&
         equal(call.value, numbered(pair.key, pair.source, number)) &&
         are_same(conditions_of_source(subquery, table),
                  reinterpret_cast<List *>(
                      numbered(conditions_of_source(root, pair.source), pair.source, number)));
}

} // namespace

bool find_extension_oids(ExtensionOids *oids) {
  static ExtensionOids kept;
  static bool found = false;
  static uint64 generation = PG_UINT64_MAX;
  const uint64 before = known_generation(); // the look-ups may themselves receive news
  if (generation != before) {
    found = false;
    CatCList *functions = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum("bf_join_agg"));
    for (int i = 0; i < functions->n_members && !found; i++)
      found = are_oids_of(*reinterpret_cast<Form_pg_proc>(GETSTRUCT(&functions->members[i]->tuple)),
                          &kept);
    ReleaseSysCacheList(functions);
    generation = before;
  }
  *oids = kept;
  const Oid probe = get_opcode(kept.operation);
  return found && may_call(kept.aggregate) && may_call(probe) && !FmgrHookIsNeeded(probe);
}

Expr *make_probe(const ExtensionOids &oids, Node *filter, Node *value, Oid collation) {
  Expr *condition = make_opclause(oids.operation, BOOLOID, false, reinterpret_cast<Expr *>(filter),
                                  reinterpret_cast<Expr *>(value), InvalidOid, collation);
  set_opfuncid(reinterpret_cast<OpExpr *>(condition));
  return condition;
}

Query *query_for(PlannerInfo *root, const ExtensionOids &oids, const KeySource *source, Node *key,
                 Oid collation) {
  const RelOptInfo *table = source->table;
  const RangeTblEntry *original = planner_rt_fetch(table->relid, root);
  Query *query = makeNode(Query);
  query->commandType = CMD_SELECT;
  query->canSetTag = true;
  query->hasAggs = true;
  // The planner sets fields of the entry, but does not change what they point to.
  RangeTblEntry *entry = makeNode(RangeTblEntry);
  *entry = *original;
  query->rtable = list_make1(entry);
#if PG_VERSION_NUM >= 160000
  if (entry->perminfoindex > 0) {
    query->rteperminfos = list_make1(copyObjectImpl(
        getRTEPermissionInfo(root->parse->rteperminfos, const_cast<RangeTblEntry *>(original))));
    entry->perminfoindex = 1;
  }
#endif
  auto *conditions =
      reinterpret_cast<List *>(numbered(conditions_of_source(root, table), table, 1));
  for (const Neighbour *neighbour : each<Neighbour>(source->neighbours)) {
    const KeyPair &pair = neighbour->pair;
    SubLink *filter = makeNode(SubLink);
    filter->subLinkType = EXPR_SUBLINK;
    filter->subselect = reinterpret_cast<Node *>(
        query_for(root, oids, neighbour->source, pair.key, pair.collation));
    filter->location = -1;
    query->hasSubLinks = true;
    conditions = lappend(conditions, make_probe(oids, reinterpret_cast<Node *>(filter),
                                                numbered(pair.probed, table, 1), pair.collation));
  }
  RangeTblRef *reference = makeNode(RangeTblRef);
  reference->rtindex = 1;
  query->jointree = makeFromExpr(
      list_make1(reference),
      conditions == NIL ? nullptr : reinterpret_cast<Node *>(make_ands_explicit(conditions)));
  Aggref *call = call_of(oids, numbered(key, table, 1), collation);
  query->targetList =
      list_make1(makeTargetEntry(reinterpret_cast<Expr *>(call), 1, pstrdup("filter"), false));
  return query;
}

List *find_subquery_probes(PlannerInfo *root, const RelOptInfo *table) {
  List *subquery_probes = NIL;
  for (RestrictInfo *condition : each<RestrictInfo>(table->baserestrictinfo)) {
    CHECK_FOR_INTERRUPTS();
    ProbeExpr probe;
    if (!is_probe_for_value(reinterpret_cast<Node *>(condition->clause), &probe))
      continue;
    PlannerInfo *subquery = subquery_of(root, probe.filter);
    if (!subquery)
      continue;
    auto *one = make_array<SubqueryProbe>(1);
    *one = {condition, probe.value, subquery};
    subquery_probes = lappend(subquery_probes, one);
    if (list_length(subquery_probes) == kMostSubqueryProbes)
      break;
  }
  return subquery_probes;
}

RestrictInfo *find_same_probe(PlannerInfo *root, const List *subquery_probes, const KeyPair &pair) {
  for (const SubqueryProbe *one : each<SubqueryProbe>(subquery_probes)) {
    CHECK_FOR_INTERRUPTS();
    if (equal(one->value, pair.probed) && builds_same(root, one->subquery, pair))
      return one->condition;
  }
  return nullptr;
}

} // namespace bloomfilter
