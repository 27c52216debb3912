// See keys.hpp. This comment explains when rows of a table R may be dropped. They are rows without
// a partner in a table S, where S.key = R.probed is the equality. There are two cases.
//
// Case 1: an equivalence class has expressions of both tables. Then the equality is evaluated in an
// inner join or a semijoin, where R and S meet, each perhaps joined with other tables before. Rows
// of R without a partner get no further than this join. Equalities of outer joins and antijoins are
// in no class. If a class is below an outer join, all its members are below it. A class also has no
// expression of a single table that a lower outer join can make NULL. PostgreSQL 15 puts such an
// equality in no class (check_equivalence_delay()). Later servers count the outer join among the
// expression's relations.
//
// Case 2: the equality is a condition of an outer join, S LEFT JOIN R, with R on the nullable side.
// Then a row of R without a partner is in no row of the join. A row of S without a partner is
// extended by NULLs, with or without this row of R. A condition of any other outer join does not
// count, even if it compares R and S. For example, (S LEFT JOIN R) LEFT JOIN T ON S.key = R.probed
// keeps all rows of S and R.
//
// Several equalities of the same R and S are treated as one equality of rows, ROW(S.key, …) =
// ROW(R.probed, …). All of them are evaluated in the same join. So if a row of R has a partner, one
// row of S fulfils all of them. A row with a NULL in it has no partner, and the filter may answer
// either way. The fields of rows are hashed as they are, without the conversions of single values.
// So both sides of a field must be hashed alike. A varchar that ends with a blank has two hashes,
// and so it cannot be a field.
//
// R may also be a branch of a UNION ALL in FROM, U. A row of U is a row of one branch, and joins
// compare only columns of U. So the rules above are applied to U. Then each column of U is replaced
// by R's expression for it, which R's scan computes. The expression has the column's type. But it
// may be a constant, or it may fail for some rows, so it is checked as well. If an outer join makes
// U's columns NULL, R's expressions do not matter any more. U is no table, so it is never an S.
//
// The equality must be the one that filters know. It belongs to the default operators of types
// whose equal values have equal hashes, under a deterministic collation. The expressions must not
// be able to fail, because they are computed for rows that other conditions may reject.

#include "pg/join/keys.hpp"

#include <cmath>

#include "pg/compat.hpp"
#include "pg/element/conversion.hpp"
#include "pg/element/value_type.hpp"
#include "pg/list.hpp"
#include "pg/planner/population.hpp"
#include "pg/query/expression.hpp"
#include "pg/table/conditions.hpp"
#include "pg/table/scan.hpp"

extern "C" {
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planmain.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"
}

namespace bloomfilter {

// Estimates are kept here, because the same pair is looked at for many tables. For each estimate,
// the server compares two long lists of common values. The estimate of a semijoin depends on the
// number of rows of the source.
struct KeyPair::Estimates {
  bool has_statistics;
  ValueStatistics probed, key; // set if `has_statistics`
  struct Estimate {
    bool known;
    double rows, selectivity;
  } inner, semi[4];
  unsigned count; // the number of estimates of a semijoin; the last ones are kept
};

namespace {

constexpr int kMostFields =
    8; // of a row; each takes time for every row, and more fields tell little

// The greatest number of pairs that are looked at for a table. An equivalence class of n columns of
// a few tables has about n² pairs.
constexpr int kMostPairs = 256;

// The rows that ANALYZE samples, for each unit of default_statistics_target.
constexpr double kRowsPerTarget = 300.0;

// Two estimates are the same if they differ by less than rounding does.
constexpr double kSameEstimate = 0.999;

// --- joins ---------------------------------------------------------------------------------------

// The outer join, semijoin or antijoin that has the two tables on different sides. NULL if there is
// none.
const SpecialJoinInfo *join_between(const PlannerInfo *root, Index one, Index other) {
  for (const SpecialJoinInfo *join : each<SpecialJoinInfo>(root->join_info_list)) {
    const bool left = bms_is_member(one, join->syn_lefthand);
    const bool right = bms_is_member(one, join->syn_righthand);
    if ((left && bms_is_member(other, join->syn_righthand)) ||
        (right && bms_is_member(other, join->syn_lefthand)))
      return join;
  }
  return nullptr;
}

// True if two tables are joined by an inner join or a semijoin, or not joined at all.
bool is_inner(const PlannerInfo *root, Index one, Index other) {
  const SpecialJoinInfo *join = join_between(root, one, other);
  return !join || join->jointype == JOIN_SEMI;
}

// True if an equality is a condition of the outer join that has the table on its nullable side and
// the source on the other. A join above that one can also compare the two tables, but both are then
// on its preserved side.
bool is_of_nullable_side(const PlannerInfo *root, const RestrictInfo *equality, Index table,
                         Index source) {
  if (!bms_is_member(source, equality->outer_relids) ||
      bms_is_member(table, equality->outer_relids))
    return false;
  const SpecialJoinInfo *join = join_between(root, table, source);
  return join && join->jointype == JOIN_LEFT;
}

// True if the value is the one that the table's scan returns, or NULL. `value` is either expression
// of a pair. A lower outer join can make the columns NULL. An expression that is not strict can
// then have any other value. Since PostgreSQL 16, such an expression does not belong to the table
// alone, so it never gets here.
bool is_of_scan(const RestrictInfo *equality, Node *value, Index table) {
#if PG_VERSION_NUM >= 160000
  (void)equality, (void)value, (void)table;
  return true;
#else
  return !bms_is_member(table, equality->nullable_relids) || !contain_nonstrict_functions(value);
#endif
}

// --- equality ------------------------------------------------------------------------------------

// What the server knows of a type. Filters agree with the operators in the family of the type's
// default operators.
const TypeCacheEntry *type_entry_of(Oid type) {
  return lookup_type_cache(getBaseType(type), TYPECACHE_BTREE_OPFAMILY);
}

// True if an operator, or a family of operators, is the server's. Others may call values equal that
// are different to a filter.
bool is_of_server(Oid oid) {
  return OidIsValid(oid) && oid < FirstNormalObjectId;
}

// Returns the element type of an expression that can be computed and hashed for any row without an
// error, and always with the same hash. NULL if it cannot. (The hash of an enum value is that of
// its label, which another session can rename while the query runs.)
const ValueType *safe_value_type(Node *value, Oid collation) {
  return is_of_columns(value) && !contain_mutable_functions(value) && !contain_subplans(value) &&
                 !contain_leaked_vars(value) && !type_is_enum(getBaseType(exprType(value)))
             ? scalar_value_type(exprType(value), collation, CurrentMemoryContext)
             : nullptr;
}

// Completes a pair that has its expressions, source and collation already. False if a filter of the
// keys does not find all values that are equal to them.
bool complete(KeyPair *pair, const List *families) {
  const TypeCacheEntry *probed = type_entry_of(exprType(pair->probed)),
                       *key = type_entry_of(exprType(pair->key));
  const Oid family = probed->btree_opf;
  if (!is_of_server(family) || family != key->btree_opf || !list_member_oid(families, family))
    return false;
  const ValueType *probed_type = safe_value_type(pair->probed, pair->collation);
  const ValueType *key_type = safe_value_type(pair->key, pair->collation);
  if (!probed_type || !key_type ||
      (probed_type->family != key_type->family &&
       !is_converted(key_type->family, probed_type->family)))
    return false;
  pair->is_alike = probed_type->family == key_type->family && has_one_hash(probed_type) &&
                   has_one_hash(key_type);
  pair->equality = get_opfamily_member(family, probed->btree_opintype, key->btree_opintype,
                                       BTEqualStrategyNumber);
  return is_of_server(pair->equality);
}

// Adds a pair to a list if a filter can test its equality.
List *with_pair(List *pairs, KeyPair pair, const List *families) {
  if (!complete(&pair, families))
    return pairs;
  auto *kept = make_array<KeyPair>(1);
  *kept = pair;
  kept->estimates = make_zeroed<KeyPair::Estimates>();
  return lappend(pairs, kept);
}

// The only table of an expression. NULL if the expression has several tables or none.
RelOptInfo *table_of(const PlannerInfo *root, Relids relids) {
  int number;
  return bms_get_singleton_member(relids, &number) && number < root->simple_rel_array_size
             ? root->simple_rel_array[number]
             : nullptr;
}

// --- where the equalities are --------------------------------------------------------------------

// True if all equalities of a class are the server's. A superuser can add other operators to the
// server's families.
bool is_of_server(const EquivalenceClass *equals) {
  for (const RestrictInfo *member : each<RestrictInfo>(equals->ec_sources)) {
    if (!IsA(member->clause, OpExpr) || !is_of_server(castNode(OpExpr, member->clause)->opno))
      return false;
  }
  return true;
}

List *add_class(const PlannerInfo *root, const RelOptInfo *table, const EquivalenceClass *equals,
                int *looks, List *pairs) {
  if (equals->ec_has_const || equals->ec_has_volatile || equals->ec_broken || equals->ec_merged ||
      !is_of_server(equals))
    return pairs;
  List *keys = NIL; // of other tables
  for (EquivalenceMember *key : each<EquivalenceMember>(equals->ec_members))
    if (!key->em_is_child && !bms_equal(key->em_relids, table->relids) &&
        table_of(root, key->em_relids))
      keys = lappend(keys, key);
  for (const EquivalenceMember *probed : each<EquivalenceMember>(equals->ec_members)) {
    if (probed->em_is_child || !bms_equal(probed->em_relids, table->relids))
      continue;
    for (const EquivalenceMember *key : each<EquivalenceMember>(keys)) {
      CHECK_FOR_INTERRUPTS();
      if (--*looks < 0)
        return pairs;
      RelOptInfo *source = table_of(root, key->em_relids);
      if (!is_inner(root, table->relid, source->relid))
        continue;
      const KeyPair pair = {reinterpret_cast<Node *>(probed->em_expr),
                            reinterpret_cast<Node *>(key->em_expr),
                            source,
                            InvalidOid,
                            equals->ec_collation,
                            false,
                            NIL,
                            nullptr};
      pairs = with_pair(pairs, pair, equals->ec_opfamilies);
    }
  }
  return pairs;
}

List *add_outer_join(const PlannerInfo *root, const RelOptInfo *table,
                     const RestrictInfo *condition, List *pairs) {
  if (condition->mergeopfamilies == NIL || !condition->can_join || !IsA(condition->clause, OpExpr))
    return pairs;
  const auto *equality = reinterpret_cast<const OpExpr *>(condition->clause);
  if (!is_of_server(equality->opno))
    return pairs;
  const bool is_left = bms_equal(condition->left_relids, table->relids);
  if (!is_left && !bms_equal(condition->right_relids, table->relids))
    return pairs;
  RelOptInfo *source = table_of(root, is_left ? condition->right_relids : condition->left_relids);
  if (!source || !is_of_nullable_side(root, condition, table->relid, source->relid))
    return pairs;
  auto *left = static_cast<Node *>(linitial(equality->args));
  auto *right = static_cast<Node *>(lsecond(equality->args));
  const KeyPair pair = {is_left ? left : right,
                        is_left ? right : left,
                        source,
                        InvalidOid,
                        equality->inputcollid,
                        false,
                        NIL,
                        nullptr};
  if (!is_of_scan(condition, pair.probed, table->relid) ||
      !is_of_scan(condition, pair.key, source->relid))
    return pairs;
  return with_pair(pairs, pair, condition->mergeopfamilies);
}

// Changes the pairs of a UNION ALL into pairs of one of its branches. The types stay the same, and
// so do the equalities. Pairs whose value cannot be computed for every row of the branch are left
// out.
List *for_branch(PlannerInfo *root, const List *pairs, RelOptInfo *branch, RelOptInfo *united) {
  List *kept = NIL;
  for (KeyPair *pair : each<KeyPair>(pairs)) {
    pair->probed = for_part(root, pair->probed, branch, united);
    if (safe_value_type(pair->probed, pair->collation))
      kept = lappend(kept, pair);
  }
  return kept;
}

// --- rows ----------------------------------------------------------------------------------------

// True if an expression of the pair is already in one of the other pairs.
bool is_repeated(const KeyPair &pair, const List *others) {
  for (const KeyPair *other : each<KeyPair>(others)) {
    if (equal(pair.probed, other->probed) || equal(pair.key, other->key))
      return true;
  }
  return false;
}

// The equalities with a source that can be the equalities of a row's fields.
List *fields_of(const List *pairs, const RelOptInfo *source) {
  List *fields = NIL;
  for (KeyPair *pair : each<KeyPair>(pairs)) {
    if (pair->source == source && pair->is_alike && list_length(fields) < kMostFields &&
        !is_repeated(*pair, fields))
      fields = lappend(fields, pair);
  }
  return fields;
}

// An expression as a field of a row. A field is hashed under the collation of its own type.
Node *field_of(Node *value, Oid collation) {
  return reinterpret_cast<Node *>(
      canonicalize_ec_expression(reinterpret_cast<Expr *>(value), exprType(value), collation));
}

// Makes a row as the parser does for ROW(…).
Node *make_row_expr(List *fields) {
  RowExpr *row = makeNode(RowExpr);
  row->args = fields;
  row->row_typeid = RECORDOID;
  row->row_format = COERCE_EXPLICIT_CALL;
  for (int i = 1; i <= list_length(fields); i++)
    row->colnames = lappend(row->colnames, makeString(psprintf("f%d", i)));
  row->location = -1;
  return reinterpret_cast<Node *>(row);
}

KeyPair *make_pair_of_rows(List *fields, RelOptInfo *source) {
  List *probed = NIL, *keys = NIL;
  for (const KeyPair *field : each<KeyPair>(fields)) {
    probed = lappend(probed, field_of(field->probed, field->collation));
    keys = lappend(keys, field_of(field->key, field->collation));
  }
  auto *pair = make_array<KeyPair>(1);
  *pair = {make_row_expr(probed),
           make_row_expr(keys),
           source,
           InvalidOid,
           InvalidOid,
           false,
           fields,
           nullptr};
  return pair;
}

// Makes the pairs of rows: one for each source that has several equalities.
List *find_row_pairs(const List *pairs) {
  List *rows = NIL;
  Relids sources = nullptr;
  for (const KeyPair *one : each<KeyPair>(pairs)) {
    RelOptInfo *source = one->source;
    if (bms_is_member(static_cast<int>(source->relid), sources))
      continue;
    sources = bms_add_member(sources, static_cast<int>(source->relid));
    List *fields = fields_of(pairs, source);
    if (list_length(fields) > 1)
      rows = lappend(rows, make_pair_of_rows(fields, source));
  }
  return rows;
}

// --- selectivity ---------------------------------------------------------------------------------

double estimate(PlannerInfo *root, const RelOptInfo *table, const KeyPair &pair, JoinType type) {
  SpecialJoinInfo join = {};
  join.type = T_SpecialJoinInfo;
  join.min_lefthand = join.syn_lefthand = table->relids;
  join.min_righthand = join.syn_righthand = pair.source->relids;
  join.jointype = type;
  return ::join_selectivity(root, pair.equality, list_make2(pair.probed, pair.key), pair.collation,
                            type, &join);
}

// The selectivity of an equality. For a semijoin, it is the share of the table's rows with a
// partner.
double selectivity_of(PlannerInfo *root, const RelOptInfo *table, const KeyPair &pair,
                      JoinType type) {
  KeyPair::Estimates *kept = pair.estimates;
  const double rows = pair.source->rows;
  if (type == JOIN_INNER) {
    if (!kept->inner.known)
      kept->inner = {true, rows, estimate(root, table, pair, type)};
    return kept->inner.selectivity;
  }
  for (const auto &semi : kept->semi)
    if (semi.known && semi.rows == rows)
      return semi.selectivity;
  const double share = estimate(root, table, pair, type);
  kept->semi[kept->count++ % lengthof(kept->semi)] = {true, rows, share};
  return share;
}

// The share of a table's rows that have a partner in one equality.
//
// The server's estimate of a semijoin is at most its estimate of the inner join, which assumes that
// all keys of the source occur in the table. A calendar of 200 years has many more days than the
// sales of five years. If this limit decides, it is the least share. The selected days may all be
// days with sales. Then the share is the number of selected days, divided by that of days with
// sales.
//
// No value of a unique key is common. Then the server's two estimates (eqjoinsel() in selfuncs.c)
// are simple formulas, which take a sixth of the time of its calls.
PartnerShare share_of_values(PlannerInfo *root, const RelOptInfo *table, const KeyPair &pair) {
  const double rows = pair.source->rows;
  KeyPair::Estimates *kept = pair.estimates;
  if (!kept->has_statistics) {
    kept->probed = statistics_of(root, pair.probed);
    kept->key = statistics_of(root, pair.key);
    kept->has_statistics = true;
  }
  const ValueStatistics &probed = kept->probed, &key = kept->key;
  const double occurring =
      (1.0 - probed.nulls) * Min(Min(key.distinct, rows) / Max(probed.distinct, 1.0), 1.0);
  const bool is_guess = probed.is_guess || key.is_guess;
  if (key.is_unique && !is_guess) {
    const double inner =
        (1.0 - probed.nulls) * (1.0 - key.nulls) / Max(Max(probed.distinct, key.distinct), 1.0);
    kept->inner = {true, rows, inner};
    return {Min(occurring, rows * inner), occurring};
  }
  const double share = selectivity_of(root, table, pair, JOIN_SEMI);
  if (is_guess || share < kSameEstimate * rows * selectivity_of(root, table, pair, JOIN_INNER))
    return {share, share};
  return {share, Max(share, occurring)};
}

bool is_column(Node *value, AttrNumber number) {
  Node *plain = without_relabeling(value);
  return IsA(plain, Var) && castNode(Var, plain)->varattno == number;
}

bool is_of_reference(const KeyPair &pair, const ForeignKeyOptInfo *reference) {
  for (int i = 0; i < reference->nkeys; i++)
    if (is_column(pair.probed, reference->conkey[i]) && is_column(pair.key, reference->confkey[i]))
      return true;
  return false;
}

// The foreign key from a table to the source that has all its columns among the fields of `rows`.
// NULL if there is none.
const ForeignKeyOptInfo *find_reference(const PlannerInfo *root, const RelOptInfo *table,
                                        const KeyPair &rows) {
  for (const ForeignKeyOptInfo *reference : each<ForeignKeyOptInfo>(root->fkey_list)) {
    if (reference->con_relid != table->relid || reference->ref_relid != rows.source->relid)
      continue;
    int columns = 0;
    for (const KeyPair *field : each<KeyPair>(rows.fields))
      columns += is_of_reference(*field, reference) ? 1 : 0;
    if (columns == reference->nkeys)
      return reference;
  }
  return nullptr;
}

// The share of a table's rows that have a partner in several equalities at once. This follows the
// server's estimates of joins.
//
// The server multiplies the selectivities of the equalities. There is one exception: if a row
// refers to the source by a foreign key, it has one partner among all rows of the source. In a
// semijoin, the selectivity is the share of rows that have a partner. In other joins, it is the
// probability that any two rows are partners. The second gives the mean number of partners of a
// row. No more rows than this number can have a partner.
//
// This product is the least share. The columns may also depend on each other: if a row has a
// partner in one equality, the same row of the source may fulfil the others.
PartnerShare share_of_rows(PlannerInfo *root, const RelOptInfo *table, const KeyPair &rows) {
  double share = 1.0, most = 1.0, partners = rows.source->rows;
  const ForeignKeyOptInfo *reference = find_reference(root, table, rows);
  if (reference) {
    partners /= Max(rows.source->tuples, 1.0);
    share = partners;
  }
  for (const KeyPair *field : each<KeyPair>(rows.fields)) {
    most = Min(most, share_of_values(root, table, *field).most);
    if (reference && is_of_reference(*field, reference))
      continue;
    share *= selectivity_of(root, table, *field, JOIN_SEMI);
    partners *= selectivity_of(root, table, *field, JOIN_INNER);
  }
  const double least = Min(share, Min(partners, 1.0));
  return {least, Max(least, most)};
}

// --- estimates of joins --------------------------------------------------------------------------

// Sets the selectivity of a pair's equality in the joins of these two relations. The server keeps
// the selectivity of an inner join with each condition, and computes it only if it is not there.
void set_selectivity(PlannerInfo *root, RelOptInfo *outer, RelOptInfo *inner, const KeyPair &pair,
                     double selectivity) {
  const Relids both = bms_union(outer->relids, inner->relids);
  List *equalities = generate_join_implied_equalities(root, both, outer->relids, inner, nullptr);
  for (RestrictInfo *equality : each<RestrictInfo>(equalities)) {
    const List *sides = reinterpret_cast<const OpExpr *>(equality->clause)->args;
    if (list_member(sides, pair.probed) && list_member(sides, pair.key))
      equality->norm_selec = selectivity;
  }
}

// True if all rows of a table may have a partner, as if there were a foreign key: no condition
// restricts the source, and the source is large. Only the number of distinct keys says otherwise.
// ANALYZE has guessed this number from a sample, and it is often far too low.
bool may_cover_table(const RelOptInfo *source) {
  return source->rows >= source->tuples &&
         source->rows > kRowsPerTarget * default_statistics_target;
}

} // namespace

RelOptInfo *joined_relation(const PlannerInfo *root, RelOptInfo *table) {
  return table->reloptkind == RELOPT_BASEREL
             ? table
             : root->simple_rel_array[bms_singleton_member(table->top_parent_relids)];
}

double correct_join_estimate(PlannerInfo *root, RelOptInfo *table, const KeyPair &pair) {
  const RelOptInfo *source = pair.source;
  if (table->reloptkind != RELOPT_BASEREL) // a branch of a UNION ALL, which is joined as a whole
    return 1.0;
  const PartnerShare share = share_with_partner(root, table, pair, source->rows);
  // If no condition restricts the source, the number of rows that have a partner says nothing about
  // the number of partners.
  const bool is_restricted = source->rows < source->tuples || pair.fields != NIL;
  if (!is_restricted || share.least <= 0.0 || share.most <= share.least)
    return 1.0;
  // The server multiplies the selectivities of several equalities, so one of them is enough.
  const KeyPair &one =
      pair.fields == NIL ? pair : *static_cast<const KeyPair *>(linitial(pair.fields));
  const double factor = likely_share(share) / share.least,
               selectivity = Min(selectivity_of(root, table, one, JOIN_INNER) * factor, 1.0);
  set_selectivity(root, table, pair.source, one, selectivity);
  set_selectivity(root, pair.source, table, one, selectivity);
  return factor;
}

ValueStatistics statistics_of(PlannerInfo *root, Node *value) {
  VariableStatData data;
  examine_variable(root, value, 0, &data);
  ValueStatistics statistics;
  statistics.distinct = get_variable_numdistinct(&data, &statistics.is_guess);
  statistics.nulls = null_share(data);
  statistics.is_unique = data.isunique;
  ReleaseVariableStats(data);
  return statistics;
}

double likely_share(const PartnerShare &share) {
  return std::sqrt(share.least * share.most);
}

List *find_keys(PlannerInfo *root, RelOptInfo *table) {
  RelOptInfo *joined = joined_relation(root, table);
  int looks = kMostPairs;
  List *pairs = NIL;
  for (int i = -1; (i = bms_next_member(joined->eclass_indexes, i)) >= 0;)
    pairs = add_class(root, joined, list_nth_node(EquivalenceClass, root->eq_classes, i), &looks,
                      pairs);
  for (RestrictInfo *equality : each<RestrictInfo>(joined->joininfo))
    pairs = add_outer_join(root, joined, equality, pairs);
  if (joined != table)
    pairs = for_branch(root, pairs, table, joined);
  return list_concat(pairs, find_row_pairs(pairs));
}

PartnerShare share_with_partner(PlannerInfo *root, const RelOptInfo *table, const KeyPair &pair,
                                double source_rows) {
  // The server's estimate uses the number of rows in the source's relation. So the number is
  // changed for the time of the estimate.
  const double rows = pair.source->rows;
  pair.source->rows = source_rows;
  PartnerShare share;
  if (pair.fields != NIL) {
    share = share_of_rows(root, table, pair);
  } else {
    share = share_of_values(root, table, pair);
    if (may_cover_table(pair.source))
      share.most = 1.0;
  }
  pair.source->rows = rows;
  return share;
}

} // namespace bloomfilter
