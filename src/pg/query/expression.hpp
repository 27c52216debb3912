// Helpers for the planner's expressions and for walks over its lists.
#pragma once

#include "pg/server.hpp"

#include "pg/list.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// Strips the RelabelType nodes around an expression. They only change its type or collation.
inline Node *without_relabeling(Node *node) {
  while (IsA(node, RelabelType))
    node = reinterpret_cast<Node *>(castNode(RelabelType, node)->arg);
  return node;
}

// Returns a node as a RowExpr if it is a row of type record, such as ROW(a, b); else NULL.
inline const RowExpr *anonymous_row(const Node *node) {
  const auto *row = reinterpret_cast<const RowExpr *>(node);
  return IsA(node, RowExpr) && row->row_typeid == RECORDOID ? row : nullptr;
}

// Returns the InitPlan of this query level that sets a parameter, or NULL.
inline const SubPlan *initplan_of_level(const PlannerInfo *root, int parameter) {
  for (const SubPlan *subplan : each<SubPlan>(root->init_plans))
    if (list_member_int(subplan->setParam, parameter))
      return subplan;
  return nullptr;
}

// Returns the InitPlan of this query level or an outer one that sets a parameter, or NULL.
inline const SubPlan *initplan_of(const PlannerInfo *root, int parameter) {
  const SubPlan *found = nullptr;
  for (const PlannerInfo *level = root; level && !found; level = level->parent_root)
    found = initplan_of_level(level, parameter);
  return found;
}

// Calls use(part) for each partition or child of a table, one level down, that the planner has
// opened. Stops and returns false when use() returns false.
template <typename Use>
bool for_each_child(const PlannerInfo *root, const RelOptInfo *table, Use use) {
  for (const AppendRelInfo *member : each<AppendRelInfo>(root->append_rel_list)) {
    RelOptInfo *part = member->parent_relid == table->relid
                           ? root->simple_rel_array[member->child_relid]
                           : nullptr;
    if (part && !use(part))
      return false;
  }
  return true;
}

} // namespace bloomfilter
