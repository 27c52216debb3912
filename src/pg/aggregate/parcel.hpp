// What travels of an aggregate's state to the place where states are combined.
//
// A parcel is the head of a partial state (core/partial.hpp), its content, and the place of the
// content. There are three kinds of parcels:
//
// - A worker, or another Partial Aggregate, sends a message to the node that combines states: a
//   head and the content. Content that is too large for a message is in a temporary file that the
//   reader takes over (pg/aggregate/shared_file.hpp).
// - A node of the process that combines states hands its state over in memory. The message has only
//   a pointer. Without this, the leader takes 1.10 times the CPU time when it and one worker build
//   a self-sized filter of four million bigints, and 1.06 times if the number is given.
// - A bf_partial has the bytes of doc/format.md, or is a state in memory while an aggregate runs.
//
// Only processes of the same query write and read messages, so their bytes may change in any
// release.
//
// Tests: test/t/003_self_sizing.pl, test/t/022_parallel.pl, test/t/029_partial.pl,
// test/t/031_cancelled.pl.
#pragma once

#include "pg/server.hpp"

#include "core/bytes.hpp"
#include "core/partial.hpp"
#include "pg/aggregate/state.hpp"

namespace bloomfilter {

enum class Place : uint8 {
  bytes,  // after the registers, or in a bf_partial
  file,   // in a file that another process wrote
  memory, // in a state of this process
};

// The header is that of a state or of a bf_partial. The reader need not count the hashes again if
// there are registers, which have counted them. The pointers are valid as long as the message, the
// bf_partial or the state that they point into.
struct Parcel : Partial {
  Place place;
  const uint8 *registers; // NULL if there are none
  const uint8 *bytes;     // if the place is bytes: the bitmap, or hashes for load_hashes()
  uint64 count;           // of the hashes, if the place is not memory
  SharedFileName file;    // if the place is a file
  FileTransfer transfer;  // of the file; its reader knows the plan, and has once or repeated
  State *state; // if the place is memory, otherwise NULL; may have a bitmap and a few hashes

  Size content_bytes() const {
    return content == Content::bitmap ? header.geometry.bytes() : count * sizeof(uint64);
  }
};

// How the state that this call makes hands over the hashes in its files. FileTransfer::none if the
// state will not be serialized.
FileTransfer file_transfer(FunctionCallInfo fcinfo);

// Returns a message with the content of a state. The state must not change afterwards.
bytea *serialize_state(State *state);

// Returns a message for a reader in this process, who finds the state itself in the parcel. The
// state must exist and must not change until then. It must have a memory context of its own, which
// is deleted once the state has been combined with another one. If the state has spilled, the
// result is that of serialize_state().
bytea *hand_over_state(State *state);

// Returns a state as a flat bf_partial (partial.cpp). `no_rows` is true if it has seen no row. The
// state must not change afterwards. ERROR 54000 if the value would exceed 1 GB.
struct varlena *flat_partial(State *state, bool no_rows);

// Reads a message for the aggregate that is called. A join or a sort between the aggregates may
// repeat a message, and then its file stays until the query ends.
Parcel *deserialize_state(FunctionCallInfo fcinfo, const bytea *message);

// The parcel of a state in this process.
Parcel parcel_of(State *state);

// Adds the content of a parcel to a state. A file that does not stay can be added only once. ERROR
// 22023 if their parameters differ, 42804 if their element types differ.
void combine_states(State *state, const Parcel &parcel);

// Write and read hashes in the byte order of the format, at any alignment. store_hashes() returns
// the end of the written bytes.
inline uint8 *store_hashes(uint8 *bytes, const uint64 *hashes, Size count) {
  for (Size i = 0; i < count; i++)
    store(bytes + i * sizeof(uint64), hashes[i]);
  return bytes + count * sizeof(uint64);
}
inline void load_hashes(uint64 *hashes, const uint8 *bytes, Size count) {
  for (Size i = 0; i < count; i++)
    hashes[i] = load<uint64>(bytes + i * sizeof(uint64));
}

} // namespace bloomfilter
