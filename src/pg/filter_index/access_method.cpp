// The callbacks of the index access method "bloomfilter" as a whole: its storage parameters, the
// opclasses that it accepts, and the cost of a scan. What the method can do is in
// handlers/handlers.cpp.

#include "pg/filter_index/access_method.hpp"

#include <cmath>

#include "pg/compat.hpp"
#include "pg/filter_index/pages.hpp"
#include "pg/list.hpp"
#include "pg/query/probe_expr.hpp"

extern "C" {
#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/reloptions.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
#include "utils/syscache.h"
}

namespace bloomfilter {

// --- storage parameters --------------------------------------------------------------------------

namespace {

// 256 rows make two groups if their filters have one key. A longer list makes scans slower: each
// row of the list costs a scan a probe of its filter in the table.
constexpr int kListLimit = 256;
constexpr int kLeastLimit = 16, kMostLimit = 1000000;

struct IndexOptions {
  int32 vl_len_; // do not touch directly
  int list_limit;
};

relopt_kind kind;

} // namespace

void define_index_options() {
  kind = add_reloption_kind();
  add_int_reloption(kind, "list_limit", "Filters that are added before they are moved into groups.",
                    kListLimit, kLeastLimit, kMostLimit, ShareUpdateExclusiveLock);
}

namespace {

bytea *index_options(Datum options, bool validate) {
  relopt_parse_elt elements[1] = {};
  elements[0].optname = "list_limit";
  elements[0].opttype = RELOPT_TYPE_INT;
  elements[0].offset = offsetof(IndexOptions, list_limit);
  return static_cast<bytea *>(
      build_reloptions(options, validate, kind, sizeof(IndexOptions), elements, 1));
}

} // namespace

int list_limit(Relation index) {
  const auto *options = reinterpret_cast<const IndexOptions *>(index->rd_options);
  return options ? options->list_limit : kListLimit;
}

// --- costs ---------------------------------------------------------------------------------------

// A scan reads all pages of the list and of the directory. It also reads one page of each group for
// each value that it probes. The rows of the list are candidates: the executor fetches each of them
// and probes its filter, so they count in the selectivity.
//
// If the number of values is not known when the query is planned, the server's default is used.

namespace {

// The cost of probing one column of a group, in calls of an operator. A probe looks at two or three
// bits of a column.
constexpr double kOperatorsPerColumn = 0.25;

IndexMeta meta_of(const IndexOptInfo *info) {
  if (info->hypothetical)
    return {};
  Relation index = relation_open(info->indexoid, NoLock);
  const IndexMeta meta = read_meta(index);
  relation_close(index, NoLock);
  return meta;
}

// The index's predicate and the conditions as the query has them. The planner knows selectivities
// of these, and not of the scan keys made from them.
List *original_conditions(const IndexPath *path) {
  List *conditions = NIL;
  for (const IndexClause *clause : each<IndexClause>(path->indexclauses))
    conditions = lappend(conditions, clause->rinfo);
  return list_concat(list_copy(path->indexinfo->indpred), conditions);
}

// The number of values for which a scan probes each group, in all conditions together.
double values_probed_for(PlannerInfo *root, const IndexPath *path) {
  double values = 0;
  for (const IndexClause *clause : each<IndexClause>(path->indexclauses)) {
    ProbeExpr probe;
    auto *condition = reinterpret_cast<Node *>(clause->rinfo->clause);
    const bool any = is_probe(condition, &probe) && probe.target == ProbeTarget::any;
    values += any ? estimate_array_length(root, probe.value) : 1;
  }
  return values;
}

void estimate_cost(PlannerInfo *root, IndexPath *path, double loops, Cost *startup, Cost *total,
                   Selectivity *selectivity, double *correlation, double *pages) {
  const IndexOptInfo *index = path->indexinfo;
  const IndexMeta meta = meta_of(index);
  const double listed = meta.listed, groups = meta.groups;
  const double chained = 1 + std::ceil(listed / kListEntries) + std::ceil(groups / kDirectorySlots);
  const double probed_for = values_probed_for(root, path);
  const double lines = groups * probed_for;
  double random_page, sequential_page;
  get_tablespace_page_costs(index->reltablespace, &random_page, &sequential_page);
  const double read =
      loops > 1 ? index_pages_fetched(lines * loops, index->pages, index->pages, root) / loops
                : lines;
  *startup = 0;
  *total = chained * sequential_page + read * random_page +
           groups * kPageColumns * kOperatorsPerColumn * cpu_operator_cost * probed_for +
           listed * cpu_index_tuple_cost;
  const double share = clauselist_selectivity(
      root, original_conditions(path), static_cast<int>(index->rel->relid), JOIN_INNER, nullptr);
  const double rows = Max(index->rel->tuples, 1.0);
  *selectivity = Min(share + listed / rows, 1.0);
  *correlation = 1.0; // a scan returns rows in the order of the heap
  *pages = index->pages;
}

// --- opclasses -----------------------------------------------------------------------------------

constexpr int kProbeFunctions = 4;  // functions 1 to 4 of an opclass make probes
constexpr int kNeededFunctions = 2; // of these

void report(const char *problem) {
  ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                 errmsg("operator class of access method \"%s\" %s", "bloomfilter", problem)));
}

// An opclass is valid in two cases. Either it has function 5, which refuses its columns. Or it has
// the functions that make probes, and one operator whose right operand is a probe. The functions
// for values and for literals are required.
bool validate_class(Oid operator_class) {
  HeapTuple tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(operator_class));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for operator class %u", operator_class);
  const auto *entry = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(tuple));
  const Oid family = entry->opcfamily, type = entry->opcintype;
  ReleaseSysCache(tuple);
  if (OidIsValid(get_opfamily_proc(family, type, type, kOptionsFunction)))
    return true;

  Oid probe = InvalidOid;
  for (int number = 1; number <= kProbeFunctions; number++) {
    const Oid make = get_opfamily_proc(family, type, type, static_cast<int16>(number));
    if (number == 1 && OidIsValid(make))
      probe = get_func_rettype(make);
    if (OidIsValid(make) ? get_func_rettype(make) != probe : number <= kNeededFunctions) {
      report("lacks functions that make probes");
      return false;
    }
  }
  const Oid operation = get_opfamily_member(family, type, probe, 1);
  if (!OidIsValid(operation) || get_op_rettype(operation) != BOOLOID) {
    report("lacks its operator");
    return false;
  }
  return true;
}

} // namespace

} // namespace bloomfilter

using namespace bloomfilter;

// --- what SQL names ------------------------------------------------------------------------------

SQL_FUNCTIONS_BEGIN

SQL_FUNCTION(bloomfilter_unindexed) {
  (void)fcinfo;
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                  errmsg("access method \"%s\" takes only columns of type bloomfilter or "
                         "countingbloomfilter",
                         "bloomfilter"),
                  errhint("To index a column of values, use another access method, such as btree "
                          "or bloompages. A cuckoofilter cannot be indexed.")));
}

// What bloomfilter_index_handler() calls (handlers/handlers.cpp).
PGDLLEXPORT const IndexAmRoutine *bloomfilter_index_callbacks() {
  static IndexAmRoutine callbacks;
  callbacks.ambuild = build_index;
  callbacks.ambuildempty = build_empty;
  callbacks.aminsert = insert_row;
  callbacks.ambulkdelete = bulk_delete;
  callbacks.amvacuumcleanup = vacuum_cleanup;
  callbacks.amcostestimate = estimate_cost;
  callbacks.amoptions = index_options;
  callbacks.amvalidate = validate_class;
  callbacks.ambeginscan = begin_scan;
  callbacks.amrescan = rescan;
  callbacks.amgettuple = get_tuple;
  callbacks.amgetbitmap = get_bitmap;
  callbacks.amendscan = end_scan;
  return &callbacks;
}

SQL_FUNCTIONS_END
