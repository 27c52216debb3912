// The state of bf_agg and its siblings on its way from one process of a parallel query to another.
#ifndef BLOOMFILTER_PG_AGGREGATE_TRANSFER_HPP
#define BLOOMFILTER_PG_AGGREGATE_TRANSFER_HPP

#include "pg/server.hpp"

#include "pg/aggregate/state.hpp"

namespace bloomfilter {

// How the state that this call makes is to pass on hashes in files, if it will be serialized.
FileTransfer file_transfer(FunctionCallInfo fcinfo);

// The bytes of a state, which must not change afterwards.
bytea *serialize_state(State *state);

// A state that can only be read, as long as the bytes are there.
State *deserialize_state(const bytea *bytes);

} // namespace bloomfilter

#endif
