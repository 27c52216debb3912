// Finds out whether the server reads a table better by an index than by a scan that probes filters.
//
// Such a scan is given a low cost, because it stands for a scan whose rows all go through the joins
// above (join_path.cpp). But the server may do without such a scan. There are two cases.
//
// Another table can drive an index scan that looks up its partners. The server assumes that every
// row of the other table finds rows. If few do, these lookups cost much less than the server
// expects. So their cost is multiplied by the share of the expected rows that are likely to come.
//
// An index can return all rows in the order of a key, so that a merge join needs no sort and no
// hash table. A dropped row then saves little.

#include "pg/join/filters.hpp"
#include "pg/join/join.hpp"
#include "pg/list.hpp"

extern "C" {
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
}

namespace bloomfilter {
namespace {

// The costs of lookups and of a scan with a hash join must differ by this factor, so that it is
// certain which of them the server prefers.
constexpr double kClearly = 1.25;
// Rows that lookups return go through the joins above, and the filters of other tables may drop
// most of them. If there are such filters, lookups are only better if they cost less by this
// factor.
constexpr double kLookupsMargin = 2.0;

// The only table that drives an index scan. NULL if there are several.
const RelOptInfo *driver_of(const PlannerInfo *root, const Path *path) {
  int number;
  return bms_get_singleton_member(PATH_REQ_OUTER(path), &number) &&
                 number < root->simple_rel_array_size
             ? root->simple_rel_array[number]
             : nullptr;
}

// True if a table is the source of all filters. Then its lookups return no more rows than a scan
// that probes the filters.
bool is_only_source(const RelOptInfo *table, const List *filters) {
  for (const JoinFilter *filter : each<JoinFilter>(filters))
    if (filter->source->table != table)
      return false;
  return true;
}

bool are_lookups_better(PlannerInfo *root, const RelOptInfo *part, RelOptInfo *table,
                        const List *filters, const Path *path, const Path &plain, Cost cost) {
  const RelOptInfo *driver = driver_of(root, path);
  if (!driver)
    return false;
  const Driven driven = driven_by(root, table, driver);
  const Cost planned = driven.executions * path->total_cost;
  if (kClearly * planned >= plain.total_cost + cpu_operator_cost * plain.rows)
    return false;
  const double expected = Max(driven.executions * path->rows, 1.0);
  const double likely = part->rows * driven.share;
  const double margin = is_only_source(driver, filters) ? 1.0 : kLookupsMargin;
  return margin * planned * Min(likely / expected, 1.0) < cost;
}

// True if a path returns the rows in the order of a key for which one of the filters is probed.
bool is_sorted_by_key(const Path *path, const List *filters) {
  if (path->pathkeys == NIL)
    return false;
  const EquivalenceClass *equals = linitial_node(PathKey, path->pathkeys)->pk_eclass;
  for (const JoinFilter *filter : each<JoinFilter>(filters))
    if (bms_is_member(static_cast<int>(filter->source->table->relid), equals->ec_relids))
      return true;
  return false;
}

} // namespace

bool has_better_access(PlannerInfo *root, RelOptInfo *part, RelOptInfo *table, const List *filters,
                       const Path &plain, Cost cost) {
  for (const Path *path : each<Path>(part->pathlist)) {
    if (path->pathtype == T_CustomScan || path == &plain)
      continue;
    if (path->param_info ? are_lookups_better(root, part, table, filters, path, plain, cost)
                         : path->total_cost < cost && is_sorted_by_key(path, filters))
      return true;
  }
  return false;
}

} // namespace bloomfilter
