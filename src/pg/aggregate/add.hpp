// Adding values to the state of an aggregate.
#ifndef BLOOMFILTER_PG_AGGREGATE_ADD_HPP
#define BLOOMFILTER_PG_AGGREGATE_ADD_HPP

#include "pg/server.hpp"

#include "pg/aggregate/state.hpp"
#include "pg/value/items.hpp"

namespace bloomfilter {

// Adds a value. ERROR 42804 if the state has another element type, 0A000 or 22003 if a filter of
// its kind or layout cannot hold the value. May allocate in the current memory context.
void add_value(State *state, Element *element, Datum value);

// Adds items, none of which is NULL, in their order; errors as of add_value().
void add_items(State *state, const Items &items);

} // namespace bloomfilter

#endif
