// Expressions, looked at as the planner has them.
#ifndef BLOOMFILTER_PG_EXPRESSION_HPP
#define BLOOMFILTER_PG_EXPRESSION_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// What a value is before it is called one of another type, or of another collation.
inline Node *without_relabeling(Node *node) {
  while (IsA(node, RelabelType))
    node = reinterpret_cast<Node *>(castNode(RelabelType, node)->arg);
  return node;
}

} // namespace bloomfilter

#endif
