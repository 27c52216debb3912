// What a question to an index costs: the pages of the list and of the directory, one page for each
// group, and the filters that are asked in the table because their rows are candidates.

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

// A column is asked two or three bits.
constexpr double kOperatorsPerColumn = 0.25;

IndexMeta meta_of(const IndexOptInfo *info) {
  if (info->hypothetical)
    return {};
  Relation index = relation_open(info->indexoid, NoLock);
  const IndexMeta meta = read_meta(index);
  relation_close(index, NoLock);
  return meta;
}

// The conditions as the query has them, whose selectivities are known.
List *original_conditions(const IndexPath *path) {
  List *conditions = NIL;
  for (const IndexClause *clause : each<IndexClause>(path->indexclauses))
    conditions = lappend(conditions, clause->rinfo);
  return list_concat(list_copy(path->indexinfo->indpred), conditions);
}

// How many values a group is asked for, in all conditions.
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
  *correlation = 1.0; // rows come in the order of the table
  *pages = index->pages;
}

} // namespace bloomfilter
