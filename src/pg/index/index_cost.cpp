// Estimates the cost of an index scan, and its selectivity, for the planner.
//
// A scan reads all pages of the list and of the directory. It also reads one page of each group for
// each value that it probes. The rows of the list are candidates: the executor fetches each of them
// and probes its filter, so they count in the selectivity.
//
// If the number of values is not known when the query is planned, the server's default is used.

#include "pg/server.hpp"

#include <cmath>

#include "pg/compat.hpp"
#include "pg/index/access_method.hpp"
#include "pg/index/pages.hpp"
#include "pg/list.hpp"
#include "pg/planner/question.hpp"
#include "pg/planner/selectivity.hpp"

extern "C" {
#include "access/relation.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
}

namespace bloomfilter {
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
double asked_values(PlannerInfo *root, const IndexPath *path) {
  double values = 0;
  for (const IndexClause *clause : each<IndexClause>(path->indexclauses)) {
    Question question;
    auto *condition = reinterpret_cast<Node *>(clause->rinfo->clause);
    const bool any = asks_filter(condition, &question) && question.asked == Asked::any;
    values += any ? estimate_array_length(root, question.value) : 1;
  }
  return values;
}

} // namespace

void estimate_cost(PlannerInfo *root, IndexPath *path, double loops, Cost *startup, Cost *total,
                   Selectivity *selectivity, double *correlation, double *pages) {
  const IndexOptInfo *index = path->indexinfo;
  const IndexMeta meta = meta_of(index);
  const double listed = meta.listed, groups = meta.groups;
  const double chained = 1 + std::ceil(listed / kListEntries) + std::ceil(groups / kDirectorySlots);
  const double asked = asked_values(root, path);
  const double lines = groups * asked;
  double random_page, sequential_page;
  get_tablespace_page_costs(index->reltablespace, &random_page, &sequential_page);
  const double read =
      loops > 1 ? index_pages_fetched(lines * loops, index->pages, index->pages, root) / loops
                : lines;
  *startup = 0;
  *total = chained * sequential_page + read * random_page +
           groups * kPageColumns * kOperatorsPerColumn * cpu_operator_cost * asked +
           listed * cpu_index_tuple_cost;
  const double share = clauselist_selectivity(
      root, original_conditions(path), static_cast<int>(index->rel->relid), JOIN_INNER, nullptr);
  const double rows = Max(index->rel->tuples, 1.0);
  *selectivity = Min(share + listed / rows, 1.0);
  *correlation = 1.0; // a scan returns rows in the order of the heap
  *pages = index->pages;
}

} // namespace bloomfilter
