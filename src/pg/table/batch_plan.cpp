// See batch_plan.hpp. A condition is written as its position in the list of all conditions.

#include "pg/table/batch_plan.hpp"

extern "C" {
#include "nodes/value.h"
}

namespace bloomfilter {
namespace {

// The positions of some conditions in the list of all conditions.
List *positions_of(const List *some, const List *all) {
  List *positions = NIL;
  for (int i = 0; i < list_length(all); i++)
    if (list_member_ptr(some, list_nth(all, i)))
      positions = lappend_int(positions, i);
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

List *describe_batch_plan(const BatchPlan &plan) {
  List *lists = list_make4(
      positions_of(plan.before, plan.conditions), positions_of(plan.probes, plan.conditions),
      positions_of(plan.placed, plan.conditions), positions_of(plan.after, plan.conditions));
  return list_concat(lists,
                     list_make2(makeInteger(plan.one_by_one ? 1 : 0), makeInteger(plan.expected)));
}

BatchPlan read_batch_plan(List *conditions, const List *description) {
  return {conditions,
          conditions_at(linitial(description), conditions),
          conditions_at(lsecond(description), conditions),
          conditions_at(lthird(description), conditions),
          conditions_at(lfourth(description), conditions),
          intVal(list_nth(description, 4)) != 0,
          intVal(list_nth(description, 5))};
}

} // namespace bloomfilter
