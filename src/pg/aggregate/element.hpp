// Elements that are read at once.
//
// To allocate an element for each row, and to free it after the row, takes longer than what
// bf_dist_agg does with it. The server evaluates the argument of an aggregate's step and then calls
// the step, which keeps nothing of it. So the step announces the expression of its argument, and
// bf_element_of(), which knows its own node, returns all its results there in one place. Everybody
// else gets memory for each element, because nobody can tell how many of them are kept.
#ifndef BLOOMFILTER_PG_AGGREGATE_ELEMENT_HPP
#define BLOOMFILTER_PG_AGGREGATE_ELEMENT_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// Tells that each result of `expression` is read before the next row is evaluated. This holds as
// long as the memory context, which is reset when the query ends.
void announce_read_at_once(const Expr *expression, MemoryContext query);

} // namespace bloomfilter

#endif
