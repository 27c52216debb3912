// The server adjusts the expressions in custom_exprs to the finished plan, but leaves
// custom_private as it is. So custom_exprs has each condition once, and custom_private the rest of
// the plan: the positions in custom_exprs of `before` and `probes`, and two numbers.

#include "pg/table/batch_plan.hpp"

extern "C" {
#include "nodes/value.h"
}

namespace bloomfilter {
namespace {

List *positions_of(const List *some, const List *all) {
  List *positions = NIL;
  const ListCell *cell;
  foreach (cell, all)
    if (list_member_ptr(some, lfirst(cell)))
      positions = lappend_int(positions, foreach_current_index(cell));
  return positions;
}

List *conditions_at(const void *positions, const List *all) {
  List *conditions = NIL;
  const ListCell *cell;
  foreach (cell, static_cast<const List *>(positions))
    conditions = lappend(conditions, list_nth(all, lfirst_int(cell)));
  return conditions;
}

} // namespace

void write_batch_plan(const BatchPlan &plan, CustomScan *node) {
  node->custom_exprs = plan.conditions;
  node->custom_private = list_make4(
      positions_of(plan.before, plan.conditions), positions_of(plan.probes, plan.conditions),
      makeInteger(plan.one_by_one ? 1 : 0), makeInteger(plan.expected));
}

BatchPlan read_batch_plan(const CustomScan *node) {
  const List *all = node->custom_exprs, *stored = node->custom_private;
  return {node->custom_exprs, conditions_at(linitial(stored), all),
          conditions_at(lsecond(stored), all), intVal(lthird(stored)) != 0,
          intVal(lfourth(stored))};
}

} // namespace bloomfilter
