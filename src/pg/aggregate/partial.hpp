// Partial states as values of SQL.
#ifndef BLOOMFILTER_PG_AGGREGATE_PARTIAL_HPP
#define BLOOMFILTER_PG_AGGREGATE_PARTIAL_HPP

#include "pg/server.hpp"

#include "pg/aggregate/state.hpp"

namespace bloomfilter {

// The bf_partial that a state is, which must not change any more. ERROR 54000 if it would exceed 1
// GB.
struct varlena *flat_partial(State *state);

} // namespace bloomfilter

#endif
