// Rows of a table R without a partner in a table S, S.key = R.asked, may be dropped in two cases.
//
// An equivalence class has expressions of both. Then the equality is evaluated in an inner join or
// a semijoin of R and S, or of what they were joined to before, and rows of R without a partner go
// no further. Equalities of outer joins and antijoins are in no class, and below an outer join all
// members of a class are below it. Nor has a class an expression of one table that an outer join
// below can make NULL: PostgreSQL 15 puts such an equality in no class (check_equivalence_delay()),
// and later servers count the outer join among the expression's relations.
//
// The equality is a condition of an outer join, S LEFT JOIN R, that has R on its nullable side.
// Then a row of R without a partner is in no row of the join, and a row of S without a partner is
// extended by NULLs whether or not the row of R was there. A condition of another outer join does
// not count, even if it compares the two: (S LEFT JOIN R) LEFT JOIN T ON S.key = R.asked keeps all
// rows of S and R.
//
// Several equalities of the same R and S are one of rows, ROW(S.key, …) = ROW(R.asked, …): if a row
// of R has a partner, then there is a row of S that fulfils all of them, because each of them is
// evaluated in the same join. A row with a NULL in it has no partner and may get any answer. The
// fields of rows are hashed as they are, without the conversions of single values, and a varchar
// that ends with a blank, which has two hashes, cannot be a field. So both sides of a field must be
// hashed alike.
//
// The equality must be the one that filters know: that of the default operators of types whose
// equal values have equal hashes, under a deterministic collation. The expressions are computed for
// rows that other conditions may reject, and so they must not be able to fail.

#include "pg/join/keys.hpp"

#include "pg/element/conversion.hpp"
#include "pg/element/element.hpp"
#include "pg/expression.hpp"
#include "pg/list.hpp"
#include "pg/table/conditions.hpp"

extern "C" {
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
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
#include "utils/typcache.h"
}

namespace bloomfilter {

// The server compares two long lists of common values for each estimate, and the same pair is
// looked at for many tables. So estimates are kept: the number of rows of the source matters to a
// semijoin.
struct KeyPair::Estimates {
  struct Estimate {
    bool known;
    double rows, selectivity;
  } inner, semi[4];
  unsigned count; // of those of a semijoin: the last ones are kept
};

namespace {

constexpr int kMostFields = 8; // of a row: each takes time for every row, and more tell little

// An equivalence class of many columns of a few tables has the square of them in pairs. So only so
// many of a table are looked at.
constexpr int kMostPairs = 256;

// --- joins ---------------------------------------------------------------------------------------

// The outer join, semijoin or antijoin that has two tables on different sides; NULL if there is
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

// Is this an operator, or a family of operators, of the server? Others may call equal what filters
// know as different.
bool is_of_server(Oid oid) {
  return OidIsValid(oid) && oid < FirstNormalObjectId;
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
  if (!is_of_server(family) || family != key->btree_opf || !list_member_oid(families, family))
    return false;
  const Element *asked_element = safe_element(pair->asked, pair->collation);
  const Element *key_element = safe_element(pair->key, pair->collation);
  if (!asked_element || !key_element ||
      (asked_element->family != key_element->family &&
       !is_converted(key_element->family, asked_element->family)))
    return false;
  pair->is_alike = asked_element->family == key_element->family && has_one_hash(asked_element) &&
                   has_one_hash(key_element);
  pair->equality = get_opfamily_member(family, asked->btree_opintype, key->btree_opintype,
                                       BTEqualStrategyNumber);
  return is_of_server(pair->equality);
}

// Adds a pair to a list if filters can answer for it.
List *with_pair(List *pairs, KeyPair pair, const List *families) {
  if (!complete(&pair, families))
    return pairs;
  auto *kept = make_array<KeyPair>(1);
  *kept = pair;
  kept->estimates = static_cast<KeyPair::Estimates *>(palloc0(sizeof(KeyPair::Estimates)));
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

// Are all equalities of a class the server's? A superuser can add others to its families.
bool is_of_server(const EquivalenceClass *equals) {
  for (const RestrictInfo *source : each<RestrictInfo>(equals->ec_sources)) {
    if (!IsA(source->clause, OpExpr) || !is_of_server(castNode(OpExpr, source->clause)->opno))
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
  for (const EquivalenceMember *asked : each<EquivalenceMember>(equals->ec_members)) {
    if (asked->em_is_child || !bms_equal(asked->em_relids, table->relids))
      continue;
    for (const EquivalenceMember *key : each<EquivalenceMember>(keys)) {
      CHECK_FOR_INTERRUPTS();
      if (--*looks < 0)
        return pairs;
      RelOptInfo *source = table_of(root, key->em_relids);
      if (!is_inner(root, table->relid, source->relid))
        continue;
      const KeyPair pair = {reinterpret_cast<Node *>(asked->em_expr),
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
  if (!is_of_scan(condition, pair.asked, table->relid) ||
      !is_of_scan(condition, pair.key, source->relid))
    return pairs;
  return with_pair(pairs, pair, condition->mergeopfamilies);
}

// --- rows ----------------------------------------------------------------------------------------

// Is an expression of a pair compared in one of some others already?
bool is_repeated(const KeyPair &pair, const List *others) {
  for (const KeyPair *other : each<KeyPair>(others)) {
    if (equal(pair.asked, other->asked) || equal(pair.key, other->key))
      return true;
  }
  return false;
}

// The equalities with a source that can be those of a row's fields.
List *fields_of(const List *pairs, const RelOptInfo *source) {
  List *fields = NIL;
  for (KeyPair *pair : each<KeyPair>(pairs)) {
    if (pair->source == source && pair->is_alike && list_length(fields) < kMostFields &&
        !is_repeated(*pair, fields))
      fields = lappend(fields, pair);
  }
  return fields;
}

// An expression as a row's field, which is hashed under the collation of its own type.
Node *field_of(Node *value, Oid collation) {
  return reinterpret_cast<Node *>(
      canonicalize_ec_expression(reinterpret_cast<Expr *>(value), exprType(value), collation));
}

// A row as the parser makes it of ROW(…).
Node *make_row(List *fields) {
  RowExpr *row = makeNode(RowExpr);
  row->args = fields;
  row->row_typeid = RECORDOID;
  row->row_format = COERCE_EXPLICIT_CALL;
  for (int i = 1; i <= list_length(fields); i++)
    row->colnames = lappend(row->colnames, makeString(psprintf("f%d", i)));
  row->location = -1;
  return reinterpret_cast<Node *>(row);
}

KeyPair *make_pair_of_rows(List *parts, RelOptInfo *source) {
  List *asked = NIL, *keys = NIL;
  for (const KeyPair *part : each<KeyPair>(parts)) {
    asked = lappend(asked, field_of(part->asked, part->collation));
    keys = lappend(keys, field_of(part->key, part->collation));
  }
  auto *pair = make_array<KeyPair>(1);
  *pair = {make_row(asked), make_row(keys), source, InvalidOid, InvalidOid, false, parts, nullptr};
  return pair;
}

// The pairs of rows, one for each source with which there are several equalities.
List *find_rows(const List *pairs) {
  List *rows = NIL;
  Relids sources = nullptr;
  for (const KeyPair *one : each<KeyPair>(pairs)) {
    RelOptInfo *source = one->source;
    if (bms_is_member(static_cast<int>(source->relid), sources))
      continue;
    sources = bms_add_member(sources, static_cast<int>(source->relid));
    List *parts = fields_of(pairs, source);
    if (list_length(parts) > 1)
      rows = lappend(rows, make_pair_of_rows(parts, source));
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
  return ::join_selectivity(root, pair.equality, list_make2(pair.asked, pair.key), pair.collation,
                            type, &join);
}

// The selectivity of an equality, in a semijoin the share of the table's rows with a partner.
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

bool is_column(Node *value, AttrNumber number) {
  Node *plain = without_relabeling(value);
  return IsA(plain, Var) && castNode(Var, plain)->varattno == number;
}

bool is_of_reference(const KeyPair &pair, const ForeignKeyOptInfo *reference) {
  for (int i = 0; i < reference->nkeys; i++)
    if (is_column(pair.asked, reference->conkey[i]) && is_column(pair.key, reference->confkey[i]))
      return true;
  return false;
}

// The foreign key from a table to the source all of whose columns are fields of rows; NULL if there
// is none.
const ForeignKeyOptInfo *find_reference(const PlannerInfo *root, const RelOptInfo *table,
                                        const KeyPair &rows) {
  for (const ForeignKeyOptInfo *reference : each<ForeignKeyOptInfo>(root->fkey_list)) {
    if (reference->con_relid != table->relid || reference->ref_relid != rows.source->relid)
      continue;
    int columns = 0;
    for (const KeyPair *part : each<KeyPair>(rows.parts))
      columns += is_of_reference(*part, reference) ? 1 : 0;
    if (columns == reference->nkeys)
      return reference;
  }
  return nullptr;
}

// The share of a table's rows that have a partner in several equalities at once. The server
// multiplies the selectivities of equalities, except that a row that refers to the source by a
// foreign key has one partner among all of its rows. In a semijoin it multiplies the shares of rows
// with a partner in each of them, in other joins the probabilities that any two rows are partners,
// from which follows how many partners a row has. No more rows than that have any.
double share_of_rows(PlannerInfo *root, const RelOptInfo *table, const KeyPair &rows) {
  double share = 1.0, partners = rows.source->rows;
  const ForeignKeyOptInfo *reference = find_reference(root, table, rows);
  if (reference) {
    partners /= Max(rows.source->tuples, 1.0);
    share = partners;
  }
  for (const KeyPair *part : each<KeyPair>(rows.parts)) {
    if (reference && is_of_reference(*part, reference))
      continue;
    share *= selectivity_of(root, table, *part, JOIN_SEMI);
    partners *= selectivity_of(root, table, *part, JOIN_INNER);
  }
  return Min(share, Min(partners, 1.0));
}

} // namespace

List *find_keys(PlannerInfo *root, RelOptInfo *table) {
  int looks = kMostPairs;
  List *pairs = NIL;
  for (int i = -1; (i = bms_next_member(table->eclass_indexes, i)) >= 0;)
    pairs =
        add_class(root, table, list_nth_node(EquivalenceClass, root->eq_classes, i), &looks, pairs);
  for (RestrictInfo *equality : each<RestrictInfo>(table->joininfo))
    pairs = add_outer_join(root, table, equality, pairs);
  return list_concat(pairs, find_rows(pairs));
}

double share_with_partner(PlannerInfo *root, const RelOptInfo *table, const KeyPair &pair,
                          double source_rows) {
  // The server's estimate knows no rows of the source but those that its relation has.
  const double rows = pair.source->rows;
  pair.source->rows = source_rows;
  const double share = pair.parts == NIL ? selectivity_of(root, table, pair, JOIN_SEMI)
                                         : share_of_rows(root, table, pair);
  pair.source->rows = rows;
  return share;
}

} // namespace bloomfilter
