// The callbacks of the index access method "bloompages" as a whole: which storage parameters and
// opclasses it accepts. What the method can do is in handlers/handlers.cpp.

#include "pg/bloompages/access_method.hpp"

#include "core/sizing.hpp"
#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/names.hpp"
#include "pg/planner/scanned_table.hpp"
#include "pg/bloompages/pages.hpp"
#include "pg/bloompages/columns.hpp"

extern "C" {
#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace bloomfilter {

// --- storage parameters --------------------------------------------------------------------------

namespace {

// A build keeps the hashes of 127 ranges in memory.
constexpr int kMostRangePages = 4096;

relopt_kind option_kind;

bytea *parse_options(Datum options, bool validate) {
  constexpr int kOptions = 3;
  relopt_parse_elt elements[kOptions] = {};
  elements[0].optname = "pages_per_range";
  elements[0].opttype = RELOPT_TYPE_INT;
  elements[0].offset = offsetof(RangeOptions, pages_per_range);
  elements[1].optname = "fpr";
  elements[1].opttype = RELOPT_TYPE_REAL;
  elements[1].offset = offsetof(RangeOptions, fpr);
  elements[2].optname = "autosummarize";
  elements[2].opttype = RELOPT_TYPE_BOOL;
  elements[2].offset = offsetof(RangeOptions, autosummarize);
  return static_cast<bytea *>(
      build_reloptions(options, validate, option_kind, sizeof(RangeOptions), elements, kOptions));
}

} // namespace

RangeOptions range_options(Relation index) {
  const auto *options = reinterpret_cast<const RangeOptions *>(index->rd_options);
  RangeOptions result = {0, 0, true, 0};
  if (options)
    result = *options;
  if (result.fpr > 0)
    result.fpr = Max(result.fpr, kMinRate);
  return result;
}

// --- paths ---------------------------------------------------------------------------------------

namespace {

bool share_column(const IndexOptInfo *a, const IndexOptInfo *b) {
  for (int i = 0; i < a->nkeycolumns; i++)
    for (int j = 0; j < b->nkeycolumns; j++)
      if (a->indexkeys[i] == b->indexkeys[j] && a->indexkeys[i] != 0)
        return true;
  return false;
}

set_rel_pathlist_hook_type previous_hook;

// Of two indexes that the same conditions use, the server makes bitmap scans only of the one that
// costs less to read, whatever heap pages it finds. A BRIN index costs little and may find the
// whole table. A btree costs more for a value of many rows, and finds fewer pages than a bloompages
// index. So if a table has both bloompages and other indexes, each of the two is offered once more,
// alone.
void add_index_paths(PlannerInfo *root, RelOptInfo *table, Index number, RangeTblEntry *entry) {
  if (previous_hook)
    previous_hook(root, table, number, entry);
  if (!is_scanned(table, entry))
    return;
  const Oid method = access_method_of("bloompages");
  List *all = table->indexlist, *bloompages = NIL, *others = NIL;
  for (IndexOptInfo *index : each<IndexOptInfo>(all)) {
    List **same = index->relam == method ? &bloompages : &others;
    *same = lappend(*same, index);
  }
  bool are_rivals = false;
  for (const IndexOptInfo *index : each<IndexOptInfo>(bloompages))
    for (const IndexOptInfo *other : each<IndexOptInfo>(others))
      are_rivals |= other->amhasgetbitmap && share_column(index, other);
  if (!are_rivals)
    return;
  List *const offered[] = {bloompages, others};
  for (List *indexes : offered) {
    table->indexlist = indexes;
    create_index_paths(root, table);
  }
  table->indexlist = all;
}

// --- opclasses -----------------------------------------------------------------------------------

bool report_missing(const char *name, const char *problem) {
  ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                 errmsg("operator class \"%s\" of access method \"%s\" %s", name, "bloompages",
                        problem)));
  return false;
}

// What is known of an operator class.
struct OperatorClass {
  Oid family, type;
  const char *name;

  // An operator or a function for a polymorphic type, such as anyarray, takes values of the
  // class's.
  Oid operand(Oid operand_type) const {
    return IsPolymorphicType(operand_type) ? type : operand_type;
  }
  Oid function(uint16 number) const { return get_opfamily_proc(family, type, type, number); }
  bool has(uint16 number) const { return OidIsValid(function(number)); }
};

OperatorClass read_class(Oid operator_class) {
  HeapTuple tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(operator_class));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for operator class %u", operator_class);
  const auto *entry = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(tuple));
  const OperatorClass found = {entry->opcfamily, entry->opcintype,
                               pstrdup(NameStr(entry->opcname))};
  ReleaseSysCache(tuple);
  return found;
}

// True if the functions for keys have GIN's signatures, as far as there are such functions.
bool have_signatures(const OperatorClass &of) {
  const Oid consistent = of.function(kConsistent), ternary = of.function(kTriConsistent);
  const auto is_ternary = [&](Oid function) {
    return check_amproc_signature(function, CHAROID, false, 7, 7, INTERNALOID, INT2OID, of.type,
                                  INT4OID, INTERNALOID, INTERNALOID, INTERNALOID);
  };
  const auto is_consistent = [&](Oid function) {
    return check_amproc_signature(function, BOOLOID, false, 6, 8, INTERNALOID, INT2OID, of.type,
                                  INT4OID, INTERNALOID, INTERNALOID, INTERNALOID, INTERNALOID);
  };
  return (!of.has(kExtractValue) ||
          check_amproc_signature(of.function(kExtractValue), INTERNALOID, false, 2, 3, of.type,
                                 INTERNALOID, INTERNALOID)) &&
         (!of.has(kExtractQuery) ||
          check_amproc_signature(of.function(kExtractQuery), INTERNALOID, false, 5, 7, of.type,
                                 INTERNALOID, INT2OID, INTERNALOID, INTERNALOID, INTERNALOID,
                                 INTERNALOID)) &&
         (!OidIsValid(consistent) || is_consistent(consistent) || is_ternary(consistent)) &&
         (!OidIsValid(ternary) || is_ternary(ternary)) &&
         (!of.has(kKeyHashFunction) || get_func_rettype(of.function(kKeyHashFunction)) == INT8OID);
}

// An operator class is valid if it has an extended hash function for each type that an operator of
// its family compares as a whole, or GIN's support functions, or both.
bool validate_range_class(Oid operator_class) {
  const OperatorClass of = read_class(operator_class);
  const bool has_keys = of.has(kExtractValue);
  if (has_keys != of.has(kExtractQuery) ||
      has_keys != (of.has(kConsistent) || of.has(kTriConsistent)))
    return report_missing(of.name, "lacks a support function for keys");
  if (!have_signatures(of))
    return report_missing(of.name, "has a support function with a wrong signature");
  const auto hashes = [&](Oid operand_type) {
    const Oid operand = of.operand(operand_type);
    const Oid function = get_opfamily_proc(of.family, operand, operand, kHashFunction);
    return OidIsValid(function) && get_func_rettype(function) == INT8OID;
  };
  bool has_operator = false, valid = has_keys || hashes(of.type);
  CatCList *operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(of.family));
  for (int i = 0; i < operators->n_members; i++) {
    const auto *member = reinterpret_cast<Form_pg_amop>(GETSTRUCT(&operators->members[i]->tuple));
    const bool is_whole = !has_keys || member->amopstrategy == kWholeValueStrategy;
    has_operator |= of.operand(member->amoplefttype) == of.type;
    valid &= get_op_rettype(member->amopopr) == BOOLOID &&
             (!is_whole || (hashes(member->amoplefttype) && hashes(member->amoprighttype)));
  }
  ReleaseCatCacheList(operators);
  if (!has_operator)
    return report_missing(of.name, "lacks its operator");
  return valid || report_missing(of.name, "lacks an extended hash function");
}

} // namespace

void define_bloompages() {
  option_kind = add_reloption_kind();
  add_int_reloption(option_kind, "pages_per_range",
                    "Heap pages that have one filter; 0 chooses by the size of the table.", 0, 0,
                    kMostRangePages, AccessExclusiveLock);
  add_real_reloption(option_kind, "fpr",
                     "False positive rate of a filter; 0 chooses by the number of filters.", 0, 0,
                     kMaxRate, AccessExclusiveLock);
  add_bool_reloption(option_kind, "autosummarize", "Whether INSERT makes filters of full ranges.",
                     true, ShareUpdateExclusiveLock);
  previous_hook = set_rel_pathlist_hook;
  set_rel_pathlist_hook = add_index_paths;
}

} // namespace bloomfilter

using namespace bloomfilter;

// --- what SQL names ------------------------------------------------------------------------------

SQL_FUNCTIONS_BEGIN

// What bloomfilter_pages_handler() calls (handlers/handlers.cpp).
PGDLLEXPORT const IndexAmRoutine *bloomfilter_pages_callbacks() {
  static IndexAmRoutine callbacks;
  callbacks.ambuild = build_range_index;
  callbacks.ambuildempty = build_empty_range_index;
  callbacks.aminsert = insert_into_ranges;
  callbacks.ambulkdelete = delete_nothing;
  callbacks.amvacuumcleanup = vacuum_ranges;
  callbacks.amcostestimate = estimate_range_cost;
  callbacks.amoptions = parse_options;
  callbacks.amvalidate = validate_range_class;
  callbacks.ambeginscan = begin_range_scan;
  callbacks.amrescan = rescan_ranges;
  callbacks.amgetbitmap = find_pages;
  callbacks.amendscan = end_range_scan;
  return &callbacks;
}

SQL_FUNCTIONS_END
