// Elements that are read at once.
//
// Memory for the element of each row, and emptying it behind the row, takes longer than what
// bf_dist_agg does with it. The server evaluates the argument of an aggregate's step and then calls
// the step, which keeps nothing of it. So the step announces the expression, and bf_element_of(),
// which knows its own node, has one place for all that it returns there. Everybody else gets memory
// for each: who can tell how many of them are kept?
#ifndef BLOOMFILTER_PG_AGGREGATE_ELEMENT_HPP
#define BLOOMFILTER_PG_AGGREGATE_ELEMENT_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// What `expression` gives is read by its caller before the next row. That holds as long as the
// memory context does, which the query's end resets.
void announce_read_at_once(const Expr *expression, MemoryContext query);

} // namespace bloomfilter

#endif
