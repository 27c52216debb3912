// Stored elements, and those that are read at once.
//
// To allocate an element for each row, and to free it after the row, takes longer than what
// bf_dist_agg does with it. The server evaluates the argument of an aggregate's step and then calls
// the step, which keeps nothing of it. So the step announces the expression of its argument, and
// bf_element_of(), which knows its own node, returns all its results there in one place. Everybody
// else gets memory for each element, because nobody can tell how many of them are kept.
#ifndef BLOOMFILTER_PG_AGGREGATE_ELEMENT_HPP
#define BLOOMFILTER_PG_AGGREGATE_ELEMENT_HPP

#include "pg/server.hpp"

#include "core/hashed_value.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// XX001 if an element is not one that bf_element_of() or the input functions can have made.
void check_stored_element(const HashedValue &value);

// Tells that each result of `expression` is read before the next row is evaluated. This holds as
// long as the memory context, which is reset when the query ends.
void announce_read_at_once(const Expr *expression, MemoryContext query);

} // namespace bloomfilter

#endif
