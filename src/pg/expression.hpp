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

// Calls a walker for each part of an expression, until it returns true. The server declares the
// walker so that it suits C alone, before PostgreSQL 16.
inline bool walk_parts(Node *node, bool (*walker)(Node *, void *), void *context) {
#if PG_VERSION_NUM >= 160000
  return expression_tree_walker(node, walker, context);
#else
  auto *any_walker = reinterpret_cast<void *>(walker);
  return expression_tree_walker(node, reinterpret_cast<bool (*)()>(any_walker), context);
#endif
}

} // namespace bloomfilter

#endif
