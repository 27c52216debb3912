// The state of bf_agg and its siblings on its way from where rows are aggregated to where states
// are combined.
//
// From a worker, its bytes go to the leader in a message; what is too large for one is in temporary
// files that change hands (pg/aggregate/shared_file.hpp). The leader's own state stays where it is:
// only a number is passed on, by which it is found.
#ifndef BLOOMFILTER_PG_AGGREGATE_TRANSFER_HPP
#define BLOOMFILTER_PG_AGGREGATE_TRANSFER_HPP

#include "pg/server.hpp"

#include "pg/aggregate/state.hpp"

namespace bloomfilter {

// How the state that this call makes is to pass on hashes in files, if it will be serialized.
FileTransfer file_transfer(FunctionCallInfo fcinfo);

// The bytes of a state, which must not change afterwards.
bytea *serialize_state(State *state);

// The number of a state, as bytes for deserialize_state() in this process, for as long as the state
// is there; or, if the state has files, its bytes. The state must not change until then. It has a
// memory context of its own, with which it ends when it has been combined with another.
bytea *pass_state(State *state);

// A state that can only be read, as long as the bytes are there; or the one that was passed.
State *deserialize_state(const bytea *bytes);

} // namespace bloomfilter

#endif
