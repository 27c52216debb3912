// Adds to the cost of a whole plan what the paths in it leave out.
//
// A path that probes join filters is given a lower cost than it has, because the server compares
// the paths of a table before it knows the joins above, where dropped rows save most. This is right
// within a query. But the cost of the whole plan is compared with others: with those of the query
// around it, and with that of a plan for other parameters. So it has to be what the plan costs, and
// is never less than the cost of an InitPlan.
//
// The server adds the cost of its own InitPlans at the same place (SS_charge_for_initplans()).
// Those of join filters are attached only when the plan is made.

#include "pg/join/filters.hpp"
#include "pg/join/join.hpp"
#include "pg/list.hpp"

extern "C" {
#include "miscadmin.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
}

namespace bloomfilter {
namespace {

create_upper_paths_hook_type previous_hook = nullptr;

Cost uncharged_in(const Path *path);

Cost uncharged_in(const List *paths) {
  Cost sum = 0.0;
  for (const Path *path : each<Path>(paths))
    sum += uncharged_in(path);
  return sum;
}

// The cost that a path and the paths below it leave out. All kinds of paths with a single path
// below have it in the same place.
Cost uncharged_in(const Path *path) {
  check_stack_depth();
  switch (nodeTag(path)) {
  case T_NestPath:
  case T_MergePath:
  case T_HashPath: {
    const auto *join = reinterpret_cast<const JoinPath *>(path);
    return uncharged_in(join->outerjoinpath) + uncharged_in(join->innerjoinpath);
  }
  case T_ModifyTablePath:
    return uncharged_in(reinterpret_cast<const ModifyTablePath *>(path)->subpath);
  case T_AppendPath:
    return uncharged_in(reinterpret_cast<const AppendPath *>(path)->subpaths);
  case T_MergeAppendPath:
    return uncharged_in(reinterpret_cast<const MergeAppendPath *>(path)->subpaths);
  case T_CustomPath: {
    const auto *custom = reinterpret_cast<const CustomPath *>(path);
    const bool is_ours =
        custom->methods == &kFilteredScanMethods || custom->methods == &kFilteredLookupMethods;
    return uncharged_in(custom->custom_paths) + (is_ours ? filtered_path(custom)->uncharged : 0.0);
  }
  case T_MaterialPath:
  case T_MemoizePath:
  case T_UniquePath:
#if PG_VERSION_NUM < 190000
  case T_UpperUniquePath:
#endif
  case T_GatherPath:
  case T_GatherMergePath:
  case T_ProjectionPath:
  case T_ProjectSetPath:
  case T_SortPath:
  case T_IncrementalSortPath:
  case T_GroupPath:
  case T_AggPath:
  case T_GroupingSetsPath:
  case T_WindowAggPath:
  case T_LimitPath:
    return uncharged_in(reinterpret_cast<const MaterialPath *>(path)->subpath);
  default:
    return 0.0;
  }
}

// Changes the cost of a LIMIT: the share of the rows that it reads, with those of OFFSET, becomes
// what it would be if the estimates of joins had not been changed.
void uncorrect(LimitPath *path, double correction) {
  const Path *input = path->subpath;
  const Cost run = input->total_cost - input->startup_cost;
  const double skipped = run > 0.0 ? (path->path.startup_cost - input->startup_cost) / run : 0.0;
  const double read = skipped + path->path.rows / Max(input->rows, 1.0);
  const Cost cost = input->startup_cost + Min(correction * read, 1.0) * run;
  path->path.total_cost = Max(path->path.total_cost, cost);
}

// If the estimates of joins were changed, the server expects more rows, and a LIMIT seems to take a
// smaller share of them. It may then have chosen a plan that returns its first rows soon, and takes
// long for all. So that plan is compared once more with the one that is cheapest for all rows. The
// server puts nothing between LIMIT and such a plan, unless rows are locked or changed.
void reconsider_limit(PlannerInfo *root, const RelOptInfo *input, RelOptInfo *output,
                      const FinalPathExtraData &extra) {
  const Query *query = root->parse;
  if (!extra.limit_needed || query->commandType != CMD_SELECT || query->rowMarks != NIL)
    return;
  const double correction = correction_of_estimates(root);
  if (correction <= 1.0)
    return;
  LimitPath *whole =
      create_limit_path(root, output, cheapest(input->pathlist), query->limitOffset,
                        query->limitCount, query->limitOption, extra.offset_est, extra.count_est);
  output->pathlist = lappend(output->pathlist, whole);
  for (Path *path : each<Path>(output->pathlist))
    if (IsA(path, LimitPath))
      uncorrect(reinterpret_cast<LimitPath *>(path), correction);
}

void charge(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output,
            void *extra) {
  if (previous_hook)
    previous_hook(root, stage, input, output, extra);
  if (stage != UPPERREL_FINAL || !join_filters_are_enabled())
    return;
  reconsider_limit(root, input, output, *static_cast<const FinalPathExtraData *>(extra));
  for (Path *path : each<Path>(output->pathlist)) {
    const Cost more = uncharged_in(path);
    path->startup_cost += more;
    path->total_cost += more;
  }
}

} // namespace

void define_plan_cost() {
  previous_hook = create_upper_paths_hook;
  create_upper_paths_hook = charge;
}

} // namespace bloomfilter
