// How a state of bf_agg and its siblings gets from the node that aggregates rows to the node that
// combines states.
//
// A worker sends the bytes of its state to the leader in a message. Content that is too large for a
// message is in temporary files that the leader takes over (pg/aggregate/shared_file.hpp). The
// leader's own state stays in memory. Only a number is handed over, and the state is found by it.
#pragma once

#include "pg/server.hpp"

#include "pg/aggregate/state.hpp"

namespace bloomfilter {

// How the state that this call makes hands over the hashes in its files. FileTransfer::none if the
// state will not be serialized.
FileTransfer file_transfer(FunctionCallInfo fcinfo);

// Returns the bytes of a state. The state must not change afterwards.
bytea *serialize_state(State *state);

// Returns the number of a state as bytes, for deserialize_state() in this process. The number is
// valid as long as the state exists. If the state has spilled, returns the bytes of the state
// instead. The state must not change until it is combined. It must have a memory context of its
// own, which is deleted once the state has been combined with another one.
bytea *hand_over_state(State *state);

// Returns the state that was handed over if the bytes are a number. Otherwise returns a state that
// can only be read, as long as the bytes exist.
State *deserialize_state(const bytea *bytes);

} // namespace bloomfilter
