// The state of bf_agg and its siblings on its way from one process of a parallel query to another.
#ifndef BLOOMFILTER_PG_AGGREGATE_TRANSFER_HPP
#define BLOOMFILTER_PG_AGGREGATE_TRANSFER_HPP

#include "pg/server.hpp"

#include "pg/aggregate/state.hpp"

namespace bloomfilter {

// The bytes of a state, which must not change afterwards.
bytea *serialize_state(FunctionCallInfo fcinfo, State *state);

// A state that can only be read, as long as the bytes are there.
State *deserialize_state(const bytea *bytes);

} // namespace bloomfilter

#endif
