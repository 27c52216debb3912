// Helpers for expressions as the planner has them.
#ifndef BLOOMFILTER_PG_EXPRESSION_HPP
#define BLOOMFILTER_PG_EXPRESSION_HPP

#include "pg/server.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
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

} // namespace bloomfilter

#endif
