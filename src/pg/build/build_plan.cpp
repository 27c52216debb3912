// How the plan of a Bloom Filter Build is stored in its node. The planner writes it, and the
// executor reads it when the node begins.
//
// The aggregate calls and the conditions are expressions with columns of the table. The server
// recognises these columns only in custom_scan_tlist, which describes the rows that the node makes.
// So this list has the calls, and the conditions after them. The calls are the columns to which the
// select list and HAVING refer. The server looks for parameters only in custom_exprs, so that list
// has the same expressions.

#include "pg/build/build.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/value.h"
}

namespace bloomfilter {
namespace {

List *expressions_of(const List *targets, int first, int count) {
  List *expressions = NIL;
  for (int i = first; i < first + count; i++)
    expressions = lappend(expressions, list_nth_node(TargetEntry, targets, i)->expr);
  return expressions;
}

} // namespace

void write_build_plan(const BuildPlan &plan, CustomScan *node) {
  List *expressions = list_concat_copy(plan.calls, plan.batches.conditions);
  const ListCell *cell;
  foreach (cell, expressions)
    node->custom_scan_tlist = lappend(
        node->custom_scan_tlist, makeTargetEntry(static_cast<Expr *>(copyObjectImpl(lfirst(cell))),
                                                 foreach_current_index(cell) + 1, nullptr, false));
  node->custom_exprs = expressions;
  node->custom_private =
      list_make2(makeInteger(list_length(plan.calls)), describe_batch_plan(plan.batches));
}

BuildPlan read_build_plan(const CustomScan *node) {
  const int calls = intVal(linitial(node->custom_private)),
            all = list_length(node->custom_scan_tlist);
  return {expressions_of(node->custom_scan_tlist, 0, calls),
          read_batch_plan(expressions_of(node->custom_scan_tlist, calls, all - calls),
                          static_cast<List *>(lsecond(node->custom_private)))};
}

} // namespace bloomfilter
