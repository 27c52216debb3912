// What the server learns of the index access method "bloompages": which functions it has, which
// storage parameters and opclasses it accepts, and what a scan costs.
//
// An index has one or more columns and one operator (=). It supports bitmap scans only. It has no
// ORDER BY, no uniqueness, no INCLUDE and no index-only scans.

#include "pg/bloompages/access_method.hpp"

#include <cmath>

#include "core/sizing.hpp"
#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/planner/scanned_table.hpp"
#include "pg/bloompages/pages.hpp"
#include "pg/bloompages/summarize.hpp"

extern "C" {
#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/reloptions.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
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

// --- costs ---------------------------------------------------------------------------------------

// A scan reads the directory, and one or two pages of each group for each value. The executor then
// reads all pages of the ranges that were found, and the pages that have no filter.
//
// The server derives the number of heap pages from the selectivity that this function returns. It
// assumes that the rows lie anywhere in the table; but a range is a few pages together. So the
// function returns the selectivity for which the server arrives at the right number of pages.

namespace {

// The cost of looking at one column of a group, in calls of an operator.
constexpr double kOperatorsPerColumn = 0.05;

// What the cost of a scan depends on, whatever the scan looks for.
struct IndexState {
  double range_pages; // in the ranges of the last group
  double ranges;      // with a filter
  double groups;
  double unfiltered; // heap pages that have no filter
  double lines;      // that are read for one value in a group
  double rate;       // false positive rate of a filter
};

IndexState index_state_of(const IndexOptInfo *info) {
  const auto blocks = static_cast<BlockNumber>(info->rel->pages);
  RangeMeta meta = {};
  RangeSlot slot = {};
  if (!info->hypothetical) {
    Relation index = relation_open(info->indexoid, NoLock);
    meta = read_range_meta(index);
    if (meta.groups > 0)
      slot = read_range_slot(index, slot_place(meta.directory, meta.groups - 1));
    relation_close(index, NoLock);
  }
  const RangePlace end = range_place(meta.range_pages, blocks);
  const uint32 last = info->hypothetical ? end.group : Max(meta.groups, 1U) - 1;
  const int ready = info->hypothetical ? end.range : slot.ready;
  const GroupBlocks last_blocks = group_blocks(meta.range_pages, last);
  const double filtered = static_cast<double>(last_blocks.begin(ready));
  return {static_cast<double>(last_blocks.range_pages),
          static_cast<double>(last) * kGroupRanges + ready,
          static_cast<double>(last) + 1,
          Max(blocks - filtered, 0.0),
          slot.layout == Layout::lines ? 1.0 : 2.0,
          range_rate(meta, last, blocks)};
}

// The correlation between the order of a column's values and the order of the heap.
double correlation_of(PlannerInfo *root, const IndexOptInfo *index, int column) {
  const RangeTblEntry *table = planner_rt_fetch(index->rel->relid, root);
  HeapTuple tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(table->relid),
                                    Int16GetDatum(static_cast<int16>(index->indexkeys[column])),
                                    BoolGetDatum(false));
  if (!HeapTupleIsValid(tuple))
    return 0;
  double correlation = 0;
  AttStatsSlot slot;
  if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, InvalidOid,
                       ATTSTATSSLOT_NUMBERS)) {
    correlation = slot.nnumbers > 0 ? slot.numbers[0] : 0;
    free_attstatsslot(&slot);
  }
  ReleaseSysCache(tuple);
  return std::fabs(correlation);
}

// The share of ranges that have a row for which a condition is true. It lies between two extremes:
// the rows are together, or they are scattered. The nearer the correlation is to 1, the nearer they
// are to being together. But rows of equal values count as ordered. So if each value has a share of
// the rows, and they are scattered, the correlation is this share.
double share_of_ranges(PlannerInfo *root, const IndexOptInfo *index, const IndexState &state,
                       const IndexClause *clause) {
  const double ranges = Max(state.ranges, 1.0);
  const double rows = index->rel->tuples *
                      clause_selectivity(root, reinterpret_cast<Node *>(clause->rinfo),
                                         static_cast<int>(index->rel->relid), JOIN_INNER, nullptr);
  const double frequency = rows / Max(index->rel->tuples, 1.0);
  const double excess = correlation_of(root, index, clause->indexcol) - frequency;
  const double ordered = std::pow(Max(excess, 0.0) / Max(1 - frequency, 0.001), 2);
  const double together = 1 + rows / Max(index->rel->tuples / ranges, 1.0);
  const double scattered = ranges * (1 - std::exp(-rows / ranges));
  return Min((ordered * together + (1 - ordered) * scattered) / ranges, 1.0);
}

// The number of values that a condition looks for.
double value_count_of(PlannerInfo *root, const IndexClause *clause) {
  const auto *condition = reinterpret_cast<Node *>(clause->rinfo->clause);
  return IsA(condition, ScalarArrayOpExpr)
             ? Max(estimate_array_length(
                       root, static_cast<Node *>(lsecond(
                                 reinterpret_cast<const ScalarArrayOpExpr *>(condition)->args))),
                   1.0)
             : 1.0;
}

List *index_conditions_of(const IndexPath *path) {
  List *conditions = NIL;
  for (const IndexClause *clause : each<IndexClause>(path->indexclauses))
    conditions = lappend(conditions, clause->rinfo);
  return conditions;
}

void estimate_range_cost(PlannerInfo *root, IndexPath *path, double loops, Cost *startup,
                         Cost *total, Selectivity *selectivity, double *correlation,
                         double *index_pages) {
  const IndexOptInfo *index = path->indexinfo;
  const IndexState state = index_state_of(index);
  const double table_pages = Max(index->rel->pages, 1.0), rows = Max(index->rel->tuples, 1.0);

  double share = 1, values = 1, false_share = 1;
  for (const IndexClause *clause : each<IndexClause>(path->indexclauses)) {
    const double number = value_count_of(root, clause);
    share *= share_of_ranges(root, index, state, clause);
    false_share *= Min(state.rate * number, 1.0);
    values *= number;
  }
  const double wanted = clauselist_selectivity(
      root, index_conditions_of(path), static_cast<int>(index->rel->relid), JOIN_INNER, nullptr);
  const double hits = Max(share * state.ranges, Min(wanted * rows, 1.0));
  const double pages =
      Min(state.range_pages * (hits + false_share * state.ranges) + state.unfiltered, table_pages);
  // The inverse of the server's formula (Mackert and Lohman): the rows for which it reads `pages`.
  const double fetched =
      pages < table_pages ? 2 * table_pages * pages / (2 * table_pages - pages) : rows;
  *selectivity = Min(fetched / rows, 1.0);

  double random_page, sequential_page;
  get_tablespace_page_costs(index->reltablespace, &random_page, &sequential_page);
  const double lines = state.groups * state.lines * values;
  const double read =
      loops * values > 1
          ? index_pages_fetched(lines * loops, index->pages, index->pages, root) / loops
          : lines;
  QualCost quals;
  cost_qual_eval(&quals, index->rel->baserestrictinfo, root);
  const double others = Max(pages / table_pages * rows - *selectivity * rows, 0.0);
  *total = read * random_page + (1 + state.groups / kRangeSlots) * sequential_page +
           state.groups * kGroupRanges * kOperatorsPerColumn * cpu_operator_cost * values +
           others * (cpu_tuple_cost + quals.per_tuple);
  *startup = 0;
  *correlation = 0; // there are only bitmap scans
  *index_pages = index->pages;
}

// --- paths ---------------------------------------------------------------------------------------

bool is_bloompages(const IndexOptInfo *index) {
  return reinterpret_cast<void *>(index->amcostestimate) ==
         reinterpret_cast<void *>(estimate_range_cost);
}

bool share_column(const IndexOptInfo *a, const IndexOptInfo *b) {
  for (int i = 0; i < a->nkeycolumns; i++)
    for (int j = 0; j < b->nkeycolumns; j++)
      if (a->indexkeys[i] == b->indexkeys[j])
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
  List *all = table->indexlist, *bloompages = NIL, *others = NIL;
  for (IndexOptInfo *index : each<IndexOptInfo>(all)) {
    List **same = is_bloompages(index) ? &bloompages : &others;
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

// An opclass is valid if it has the equality operator of its type, and an extended hash function
// for each type that an operator of its family compares.
bool validate_range_class(Oid operator_class) {
  HeapTuple tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(operator_class));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for operator class %u", operator_class);
  const auto *entry = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(tuple));
  const Oid family = entry->opcfamily, type = entry->opcintype;
  const char *name = pstrdup(NameStr(entry->opcname));
  ReleaseSysCache(tuple);
  if (!OidIsValid(get_opfamily_member(family, type, type, HTEqualStrategyNumber)))
    return report_missing(name, "lacks its operator");
  const auto hashes = [family](Oid operand) {
    const Oid function = get_opfamily_proc(family, operand, operand, kHashFunction);
    return OidIsValid(function) && get_func_rettype(function) == INT8OID;
  };
  bool valid = hashes(type);
  CatCList *operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
  for (int i = 0; i < operators->n_members; i++) {
    const auto *member = reinterpret_cast<Form_pg_amop>(GETSTRUCT(&operators->members[i]->tuple));
    valid &= hashes(member->amoplefttype) && hashes(member->amoprighttype) &&
             member->amopstrategy == HTEqualStrategyNumber &&
             get_op_rettype(member->amopopr) == BOOLOID;
  }
  ReleaseCatCacheList(operators);
  return valid || report_missing(name, "lacks an extended hash function");
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

SQL_FUNCTION(bloomfilter_pages_handler) {
  (void)fcinfo;
  static IndexAmRoutine kept;
  IndexAmRoutine *method = new_routine(&kept);
  method->amstrategies = HTEqualStrategyNumber;
  method->amsupport = kHashFunction;
  method->amcanmulticol = true;
  method->amoptionalkey = true;
#if PG_VERSION_NUM >= 160000
  method->amsummarizing = true;
#endif
  method->amkeytype = InvalidOid;
  method->ambuild = build_range_index;
  method->ambuildempty = build_empty_range_index;
  method->aminsert = insert_into_ranges;
  method->ambulkdelete = delete_nothing;
  method->amvacuumcleanup = vacuum_ranges;
  method->amcostestimate = estimate_range_cost;
  method->amoptions = parse_options;
  method->amvalidate = validate_range_class;
  method->ambeginscan = begin_range_scan;
  method->amrescan = rescan_ranges;
  method->amgetbitmap = find_pages;
  method->amendscan = end_range_scan;
  PG_RETURN_POINTER(method);
}

SQL_FUNCTIONS_END
