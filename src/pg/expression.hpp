// Helpers for expressions as the planner has them.
#ifndef BLOOMFILTER_PG_EXPRESSION_HPP
#define BLOOMFILTER_PG_EXPRESSION_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// The expression without the RelabelType nodes around it, which only change its type or collation.
inline Node *without_relabeling(Node *node) {
  while (IsA(node, RelabelType))
    node = reinterpret_cast<Node *>(castNode(RelabelType, node)->arg);
  return node;
}

} // namespace bloomfilter

#endif
