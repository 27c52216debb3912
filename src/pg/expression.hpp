// Helpers for expressions as the planner has them, and for walks over the planner's lists.
#ifndef BLOOMFILTER_PG_EXPRESSION_HPP
#define BLOOMFILTER_PG_EXPRESSION_HPP

#include "pg/server.hpp"

#include "pg/list.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// The expression without the RelabelType nodes around it, which only change its type or collation.
inline Node *without_relabeling(Node *node) {
  while (IsA(node, RelabelType))
    node = reinterpret_cast<Node *>(castNode(RelabelType, node)->arg);
  return node;
}

// A row of expressions, ROW(a, b), whose type has no name; NULL if a node is something else.
inline const RowExpr *anonymous_row(const Node *node) {
  const auto *row = reinterpret_cast<const RowExpr *>(node);
  return IsA(node, RowExpr) && row->row_typeid == RECORDOID ? row : nullptr;
}

// The InitPlan of a query whose result is a parameter; NULL if there is none.
inline const SubPlan *initplan_of_level(const PlannerInfo *root, int parameter) {
  for (const SubPlan *subplan : each<SubPlan>(root->init_plans))
    if (list_member_int(subplan->setParam, parameter))
      return subplan;
  return nullptr;
}

// The InitPlan of a query, or of a query around it, whose result is a parameter; NULL if there is
// none.
inline const SubPlan *initplan_of(const PlannerInfo *root, int parameter) {
  const SubPlan *found = nullptr;
  for (const PlannerInfo *level = root; level && !found; level = level->parent_root)
    found = initplan_of_level(level, parameter);
  return found;
}

// Calls use(part) for the partitions and children of a table, one level down, that the planner has
// opened, until it returns false. False if it did.
template <typename Use>
bool for_each_part(const PlannerInfo *root, const RelOptInfo *table, Use use) {
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

#endif
