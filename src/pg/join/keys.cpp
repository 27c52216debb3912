// Rows of a table R without a partner in a table S, S.key = R.asked, may be dropped in two cases.
//
// An equivalence class has expressions of both. Then the equality is evaluated in an inner join or
// a semijoin of R and S, or of what they were joined to before, and rows of R without a partner go
// no further. Equalities of outer joins and antijoins are in no class, and below an outer join all
// members of a class are below it.
//
// The equality is a condition of an outer join, S LEFT JOIN R, that has R on its nullable side.
// Then a row of R without a partner is in no row of the join, and a row of S without a partner is
// extended by NULLs whether or not the row of R was there. A condition of another outer join does
// not count, even if it compares the two: (S LEFT JOIN R) LEFT JOIN T ON S.key = R.asked keeps all
// rows of S and R.
//
// The equality must be the one that filters know: that of the default operators of types whose
// equal values have equal hashes, under a deterministic collation. The expressions are computed for
// rows that other conditions may reject, and so they must not be able to fail.

#include "pg/join/keys.hpp"

#include "pg/element/conversion.hpp"
#include "pg/element/element.hpp"
#include "pg/table/conditions.hpp"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "optimizer/planmain.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace bloomfilter {
namespace {

// --- joins ---------------------------------------------------------------------------------------

// The outer join, semijoin or antijoin that has two tables on different sides; NULL if there is
// none.
const SpecialJoinInfo *join_between(const PlannerInfo *root, Index one, Index other) {
  const ListCell *cell;
  foreach (cell, root->join_info_list) {
    const auto *join = lfirst_node(SpecialJoinInfo, cell);
    const bool left = bms_is_member(one, join->syn_lefthand);
    const bool right = bms_is_member(one, join->syn_righthand);
    if ((left && bms_is_member(other, join->syn_righthand)) ||
        (right && bms_is_member(other, join->syn_lefthand)))
      return join;
  }
  return nullptr;
}

// Are two tables joined by an inner join or a semijoin, as far as they are joined?
bool is_inner(const PlannerInfo *root, Index one, Index other) {
  const SpecialJoinInfo *join = join_between(root, one, other);
  return !join || join->jointype == JOIN_SEMI;
}

// Is an equality a condition of the outer join that has a table on its nullable side and the source
// on the other? A join above that one can compare two tables that are both on its preserved side.
bool is_of_nullable_side(const PlannerInfo *root, const RestrictInfo *equality, Index table,
                         Index source) {
  if (!bms_is_member(source, equality->outer_relids) ||
      bms_is_member(table, equality->outer_relids))
    return false;
  const SpecialJoinInfo *join = join_between(root, table, source);
  return join && join->jointype == JOIN_LEFT;
}

// Is the value that a pair asks for, or that is a key, the one that the table's scan gives, or else
// NULL? An outer join below can make NULLs of the columns, and something else of an expression that
// is not strict. Since PostgreSQL 16 such an expression is not one of the table alone.
bool is_of_scan(const RestrictInfo *equality, Node *value, Index table) {
#if PG_VERSION_NUM >= 160000
  (void)equality, (void)value, (void)table;
  return true;
#else
  return !bms_is_member(table, equality->nullable_relids) || !contain_nonstrict_functions(value);
#endif
}

// --- equality ------------------------------------------------------------------------------------

// What the server knows of a type: the family of the operators that filters agree with is that of
// its default operators.
const TypeCacheEntry *entry_of(Oid type) {
  return lookup_type_cache(getBaseType(type), TYPECACHE_BTREE_OPFAMILY);
}

// Can an expression be computed and hashed for any row? NULL if not.
const Element *safe_element(Node *value, Oid collation) {
  return is_of_columns(value) && !contain_mutable_functions(value) && !contain_subplans(value) &&
                 !contain_leaked_vars(value)
             ? scalar_element(exprType(value), collation, CurrentMemoryContext)
             : nullptr;
}

// Completes a pair whose expressions, source and collation are set. False if a filter of the keys
// does not find all values that are equal to them.
bool complete(KeyPair *pair, const List *families) {
  const TypeCacheEntry *asked = entry_of(exprType(pair->asked)),
                       *key = entry_of(exprType(pair->key));
  const Oid family = asked->btree_opf;
  if (!OidIsValid(family) || family != key->btree_opf || !list_member_oid(families, family))
    return false;
  const Element *asked_element = safe_element(pair->asked, pair->collation);
  const Element *key_element = safe_element(pair->key, pair->collation);
  if (!asked_element || !key_element ||
      (asked_element->family != key_element->family &&
       !is_converted(key_element->family, asked_element->family)))
    return false;
  pair->equality = get_opfamily_member(family, asked->btree_opintype, key->btree_opintype,
                                       BTEqualStrategyNumber);
  return OidIsValid(pair->equality);
}

// Adds a pair to a list if filters can answer for it.
List *with_pair(List *pairs, KeyPair pair, const List *families) {
  if (!complete(&pair, families))
    return pairs;
  auto *kept = static_cast<KeyPair *>(palloc(sizeof(KeyPair)));
  *kept = pair;
  return lappend(pairs, kept);
}

// The only table of an expression; NULL if it has several or none.
RelOptInfo *table_of(const PlannerInfo *root, Relids relids) {
  int number;
  return bms_get_singleton_member(relids, &number) && number < root->simple_rel_array_size
             ? root->simple_rel_array[number]
             : nullptr;
}

// --- where the equalities are --------------------------------------------------------------------

List *add_class(const PlannerInfo *root, const RelOptInfo *table, const EquivalenceClass *equals,
                List *pairs) {
  if (equals->ec_has_const || equals->ec_has_volatile || equals->ec_broken || equals->ec_merged)
    return pairs;
  const ListCell *cell, *other;
  foreach (cell, equals->ec_members) {
    const auto *asked = lfirst_node(EquivalenceMember, cell);
    if (asked->em_is_child || !bms_equal(asked->em_relids, table->relids))
      continue;
    foreach (other, equals->ec_members) {
      const auto *key = lfirst_node(EquivalenceMember, other);
      RelOptInfo *source = table_of(root, key->em_relids);
      if (key->em_is_child || !source || source == table ||
          !is_inner(root, table->relid, source->relid))
        continue;
      const KeyPair pair = {reinterpret_cast<Node *>(asked->em_expr),
                            reinterpret_cast<Node *>(key->em_expr), source, InvalidOid,
                            equals->ec_collation};
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
  const bool is_left = bms_equal(condition->left_relids, table->relids);
  if (!is_left && !bms_equal(condition->right_relids, table->relids))
    return pairs;
  RelOptInfo *source = table_of(root, is_left ? condition->right_relids : condition->left_relids);
  if (!source || !is_of_nullable_side(root, condition, table->relid, source->relid))
    return pairs;
  auto *left = static_cast<Node *>(linitial(equality->args));
  auto *right = static_cast<Node *>(lsecond(equality->args));
  const KeyPair pair = {is_left ? left : right, is_left ? right : left, source, InvalidOid,
                        equality->inputcollid};
  if (!is_of_scan(condition, pair.asked, table->relid) ||
      !is_of_scan(condition, pair.key, source->relid))
    return pairs;
  return with_pair(pairs, pair, condition->mergeopfamilies);
}

} // namespace

List *find_keys(PlannerInfo *root, RelOptInfo *table) {
  List *pairs = NIL;
  for (int i = -1; (i = bms_next_member(table->eclass_indexes, i)) >= 0;)
    pairs = add_class(root, table, list_nth_node(EquivalenceClass, root->eq_classes, i), pairs);
  const ListCell *cell;
  foreach (cell, table->joininfo)
    pairs = add_outer_join(root, table, lfirst_node(RestrictInfo, cell), pairs);
  return pairs;
}

double share_with_partner(PlannerInfo *root, const RelOptInfo *table, const KeyPair &pair,
                          double source_rows) {
  SpecialJoinInfo join = {};
  join.type = T_SpecialJoinInfo;
  join.min_lefthand = join.syn_lefthand = table->relids;
  join.min_righthand = join.syn_righthand = pair.source->relids;
  join.jointype = JOIN_SEMI;
  // The server's estimate knows no rows of the source but those that its relation has.
  const double rows = pair.source->rows;
  pair.source->rows = source_rows;
  const double share = ::join_selectivity(root, pair.equality, list_make2(pair.asked, pair.key),
                                          pair.collation, JOIN_SEMI, &join);
  pair.source->rows = rows;
  return share;
}

} // namespace bloomfilter
