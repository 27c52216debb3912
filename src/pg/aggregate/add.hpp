// Adds the values of rows to the state of an aggregate. Each value is hashed and checked: the
// state's filter must be able to hold it. Then the state gets the hash. The aggregates call this
// for each row, and a Bloom Filter Build for each batch of rows.
#ifndef BLOOMFILTER_PG_AGGREGATE_ADD_HPP
#define BLOOMFILTER_PG_AGGREGATE_ADD_HPP

#include "pg/server.hpp"

#include "pg/aggregate/state.hpp"
#include "pg/value/items.hpp"

namespace bloomfilter {

// Adds a value. ERROR 42804 if the state has another element type. ERROR 0A000 or 22003 if a filter
// of the state's kind or layout cannot hold the value. May allocate in the current memory context.
void add_value(State *state, Element *element, Datum value);

// Adds items in their order. None of them may be NULL. Raises the errors of add_value().
void add_items(State *state, const Items &items);

} // namespace bloomfilter

#endif
