// See source.hpp. This file decides which tables may be sources and finds their neighbours.

#include "pg/join/source.hpp"

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/query/expression.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

// A neighbour's filter needs another scan. It is made only if it leaves at most this share of the
// keys, and if the neighbour's conditions leave at most this share of the neighbour's rows. The
// neighbour must also be no larger than the source.
constexpr double kWorthwhileShare = 0.7;
constexpr int kMostNeighbours = 4;
constexpr int kMostConditions = 64; // of a source; they are looked at for each of its keys
// The length of a chain of sources and neighbours. Four allow region → nation → customer → orders,
// with a filter that is probed for a key of lineitem.
constexpr int kDepth = 4;

// --- tables --------------------------------------------------------------------------------------

// True if another library has marked a table of the query, in fields that the server leaves empty.
// Citus does so to find what the query needs from a distributed table. TimescaleDB does so for
// tables whose chunks it finds itself. An InitPlan would have a second table with the same mark.
bool is_marked(const RangeTblEntry *entry) {
  return entry->values_lists != NIL || entry->ctename;
}

// True if a table is a foreign table, or one of its partitions or children that are read.
bool has_foreign_part(PlannerInfo *root, const RelOptInfo *table) {
  const RangeTblEntry *entry = planner_rt_fetch(table->relid, root);
  if (!entry->inh)
    return entry->relkind == RELKIND_FOREIGN_TABLE;
  return !for_each_child(root, table,
                         [root](const RelOptInfo *part) { return !has_foreign_part(root, part); });
}

// True if an expression depends on a row of a query around this one, or of another part of this
// query. InitPlans of this query and of the queries around it do not count, because their results
// are the same for all rows.
bool depends_on_rows(Node *node, void *context) {
  if (!node)
    return false;
  if (IsA(node, PlaceHolderVar))
    return true;
  if (!IsA(node, Param))
    return expression_tree_walker(node, depends_on_rows, context);
  const auto *parameter = castNode(Param, node);
  if (parameter->paramkind != PARAM_EXEC)
    return parameter->paramkind != PARAM_EXTERN;
  return !initplan_of(static_cast<PlannerInfo *>(context), parameter->paramid);
}

// True if a function is declared immutable, but its result depends on a setting:
// extra_float_digits, bytea_output or quote_all_identifiers. An output function of an extension's
// type may print a number as the server does.
bool depends_on_setting(Oid function) {
  switch (function) {
  case F_FLOAT4OUT:
  case F_FLOAT8OUT:
  case F_POINT_OUT:
  case F_LSEG_OUT:
  case F_PATH_OUT:
  case F_BOX_OUT:
  case F_POLY_OUT:
  case F_LINE_OUT:
  case F_CIRCLE_OUT:
  case F_BYTEAOUT:
  case F_QUOTE_IDENT:
    return true;
  default:
    return function >= FirstGenbkiObjectId && get_func_rettype(function) == CSTRINGOID;
  }
}

// True if a function that is not volatile may have another result later in the same query: a
// cursor's user can change a setting or the role between two FETCH. The server's own functions of
// dates and times are taken for constant, because conditions often have them, unless they make a
// text. They depend on the start of the transaction and on TimeZone, and a text also depends on
// DateStyle and other settings.
bool may_change_function(Oid function, void *) {
  if (func_volatile(function) == PROVOLATILE_IMMUTABLE)
    return depends_on_setting(function);
  if (function == F_NOW || function == F_TRANSACTION_TIMESTAMP)
    return false;
  const Oid result = get_func_rettype(function);
  if (function >= FirstGenbkiObjectId || result == CSTRINGOID || result == TEXTOID)
    return true;
  Oid *types;
  int count;
  (void)get_func_signature(function, &types, &count);
  for (int i = 0; i < count; i++) {
    char category;
    bool preferred;
    get_type_category_preferred(types[i], &category, &preferred);
    if (category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_TIMESPAN)
      return false;
  }
  return true;
}

// The same for an expression. CURRENT_USER and its like are no functions. Nor is what makes XML or
// JSON of values, which depends on the same settings as output functions.
bool may_change(Node *node, void *context) {
  if (!node)
    return false;
  if (IsA(node, XmlExpr))
    return true;
#if PG_VERSION_NUM >= 160000
  if (IsA(node, JsonConstructorExpr))
    return true;
#endif
  if (IsA(node, SQLValueFunction))
    return castNode(SQLValueFunction, node)->op > SVFOP_LOCALTIMESTAMP_N;
  return check_functions_in_node(node, may_change_function, context) ||
         expression_tree_walker(node, may_change, context);
}

// True if expressions of a table can be evaluated a second time, elsewhere and later, with the same
// results.
bool can_be_repeated(PlannerInfo *root, List *expressions) {
  auto *all = reinterpret_cast<Node *>(expressions);
  return !contain_volatile_functions(all) && !may_change(all, nullptr) && !contain_subplans(all) &&
         !depends_on_rows(all, root);
}

// True if each condition that the server evaluates only once, such as `$1 <> 0`, belongs to all of
// the tables that depend on a filter if it belongs to the filter's source. If such a condition is
// false, a plan reads none of the tables that it belongs to. The filter must then not be built: it
// would be built for nothing, and could raise an error. A filter is built only when a scan that
// probes it is executed, so a condition of that scan's table prevents it.
bool has_same_guards(Relids dependent, List *conditions) {
  for (const RestrictInfo *condition : each<RestrictInfo>(conditions))
    if (condition->pseudoconstant && !bms_is_subset(dependent, condition->required_relids))
      return false;
  return true;
}

// True if all conditions of a table have one security level. They have several if some come from
// the policies of another table, and the server then evaluates the lower levels first.
bool has_one_security_level(const RelOptInfo *table) {
  for (const RestrictInfo *condition : each<RestrictInfo>(table->baserestrictinfo))
    if (condition->security_level != table->baserestrict_min_security)
      return false;
  return true;
}

// True if filters of a table's keys may be built: it is a plain table without foreign parts, and
// its conditions can be evaluated a second time.
bool may_be_source(PlannerInfo *root, RelOptInfo *table) {
  return is_plain_table(root, table) && list_length(table->baserestrictinfo) <= kMostConditions &&
         has_one_security_level(table) && !has_foreign_part(root, table) &&
         can_be_repeated(root, conditions_of_source(root, table));
}

// True if a filter of a pair's keys may be built. `dependent` are the tables that depend on it.
bool may_be_source(PlannerInfo *root, const KeyPair &pair, Relids dependent, KeySearch *search) {
  RelOptInfo *table = pair.source;
  TableNotes *notes = &search->tables[table->relid];
  if (!notes->is_judged) {
    notes->is_judged = true;
    notes->may_be_source = may_be_source(root, table);
  }
  return notes->may_be_source && can_be_repeated(root, list_make1(pair.key)) &&
         (!root->hasPseudoConstantQuals || (has_same_guards(dependent, table->baserestrictinfo) &&
                                            has_same_guards(dependent, table->joininfo)));
}

// --- neighbours ----------------------------------------------------------------------------------

KeySource *make_source(PlannerInfo *root, const KeyPair &pair, Relids taken, int depth,
                       KeySearch *search);

// True if an expression of a source is its key, or a field of its key.
bool is_of_key(const Node *value, const KeyPair &pair) {
  for (const KeyPair *field : each<KeyPair>(pair.fields))
    if (equal(value, field->key))
      return true;
  return equal(value, pair.key);
}

// Adds neighbours to a source: other tables whose join with the source leaves few of its keys. A
// table in `taken` is not added, because the keys of the source are probed for its rows.
void find_neighbours(PlannerInfo *root, KeySource *source, const KeyPair &key, Relids taken,
                     int depth, KeySearch *search) {
  const List *pairs = keys_of(root, source->table, search);
  for (const KeyPair *pair : each<KeyPair>(pairs)) {
    if (search->looks <= 0 || list_length(source->neighbours) == kMostNeighbours)
      return;
    // A neighbour that restricts the key itself can restrict the filtered table directly.
    if (is_of_key(pair->probed, key) || bms_is_member(pair->source->relid, taken) ||
        !can_be_repeated(root, list_make1(pair->probed)))
      continue;
    KeySource *other = make_source(root, *pair, taken, depth - 1, search);
    if (!other || other->tuples > source->tuples || other->rows > kWorthwhileShare * other->tuples)
      continue;
    const double share = share_with_partner(root, source->table, *pair, other->rows).most;
    if (share > kWorthwhileShare)
      continue;
    auto *neighbour = make_array<Neighbour>(1);
    *neighbour = {*pair, other};
    source->neighbours = lappend(source->neighbours, neighbour);
    source->rows = clamp_row_est(source->rows * share);
    taken = bms_add_member(bms_copy(taken), other->table->relid);
  }
}

KeySource *make_source(PlannerInfo *root, const KeyPair &pair, Relids taken, int depth,
                       KeySearch *search) {
  RelOptInfo *table = pair.source;
  CHECK_FOR_INTERRUPTS();
  search->looks--;
  if (!may_be_source(root, pair, taken, search))
    return nullptr;
  auto *source = make_array<KeySource>(1);
  *source = {table, NIL, Max(tuples_of(root, table), 1.0), table->rows};
  if (depth > 1)
    find_neighbours(root, source, pair, bms_add_member(bms_copy(taken), table->relid), depth,
                    search);
  return source;
}

} // namespace

bool is_plain_table(PlannerInfo *root, RelOptInfo *table) {
  const RangeTblEntry *entry = planner_rt_fetch(table->relid, root);
  return IS_SIMPLE_REL(table) && entry->rtekind == RTE_RELATION &&
         (entry->relkind == RELKIND_RELATION || entry->relkind == RELKIND_PARTITIONED_TABLE ||
          entry->relkind == RELKIND_MATVIEW) &&
         !entry->tablesample && entry->securityQuals == NIL && !entry->lateral &&
         !is_marked(entry) && bms_is_empty(table->lateral_relids) && !IS_DUMMY_REL(table);
}

// The server sorts them by cost (order_qual_clauses()). All have one security level.
List *conditions_of_source(PlannerInfo *root, const RelOptInfo *table) {
  const auto cost_of = [root](const void *condition) {
    QualCost cost;
    cost_qual_eval_node(&cost, static_cast<Node *>(const_cast<void *>(condition)), root);
    return cost.per_tuple;
  };
  List *sorted = NIL;
  for (RestrictInfo *condition : each<RestrictInfo>(table->baserestrictinfo)) {
    int at = list_length(sorted);
    while (at > 0 && cost_of(list_nth(sorted, at - 1)) > cost_of(condition))
      at--;
    sorted = list_insert_nth(sorted, at, condition);
  }
  return extract_actual_clauses(sorted, false);
}

const List *keys_of(PlannerInfo *root, RelOptInfo *table, KeySearch *search) {
  TableNotes *notes = &search->tables[table->relid];
  if (!notes->has_keys) {
    notes->has_keys = true;
    notes->keys = find_keys(root, table);
  }
  return notes->keys;
}

double tuples_of(PlannerInfo *root, const RelOptInfo *table) {
  if (!planner_rt_fetch(table->relid, root)->inh)
    return table->rtekind == RTE_RELATION ? table->tuples : 0.0;
  double tuples = 0.0;
  (void)for_each_child(root, table, [root, &tuples](RelOptInfo *part) {
    if (!IS_DUMMY_REL(part))
      tuples += tuples_of(root, part);
    return true;
  });
  return tuples;
}

KeySource *find_source(PlannerInfo *root, const KeyPair &pair, Relids taken, KeySearch *search) {
  return make_source(root, pair, taken, kDepth, search);
}

} // namespace bloomfilter
