// The state of bf_agg, its siblings and bf_dist_agg: what they know of the rows so far.
//
// A state collects 64-bit hashes in a bag (pg/aggregate/hash_bag.hpp). What happens when the bag's
// array is full depends on who chooses the filter's size:
//
// - If a capacity is given, the array grows until its hashes take as many bytes as the filter, so
//   that many small groups with large filters take no more than their rows do. Then the hashes go
//   into the bitmap or the counters, and the array becomes a buffer for those that follow: hashes
//   that are added together, with their lines prefetched, take a third of the time. The array of a
//   bf_partial grows to twice as many hashes, because a state that has fewer without repetitions is
//   not to become a bitmap.
// - A state that sizes itself keeps the bag, because the size depends on the distinct values alone.
//   A counting filter needs up to as many copies of each hash as it can count.
// - So does the state of any cuckoo filter, which is to have each distinct value once. The hashes
//   are added in ascending order, and if one finds no place, again to a larger table: the bytes of
//   the result depend on the set of values alone.
//
// The final function does not change a state's content: more rows may follow, as in a window frame.
#ifndef BLOOMFILTER_PG_AGGREGATE_STATE_HPP
#define BLOOMFILTER_PG_AGGREGATE_STATE_HPP

#include "pg/server.hpp"

#include "pg/aggregate/parameters.hpp"
#include "pg/aggregate/serialized_bag.hpp"
#include "pg/element/element.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

struct State {
  // make_state() sets these; the element type in the header comes with the first value.
  HashBag bag; // hashes, or the numbers of digests, digest_size() each; unless keeps_bag(), only in
               // its array
  bool self_sized;
  Header header; // if self-sized, its geometry has only the layout

  // Whoever makes the state of a bf_partial sets these.
  bool partial; // this is one
  bool no_rows; // it has not seen a row

  bool passed; // set by pass_state(): it is combined once, and ends then with its context

  uint8 *bitmap;                 // once a sized state was flushed; else NULL
  const SerializedBag *received; // in place of the bag, if read_content() made the state; else NULL
  const SharedFileName *bitmap_file; // of a bitmap that another process wrote; else NULL

  // The transition functions of bf_agg and its siblings set these.
  Family admitted; // an element family that the foreign layout was found to hold
  // What needs no more checks: the parameters at this call site, which are fixed, and if `element`
  // is not NULL, its values.
  const FmgrInfo *site;
  Element *element;

  Kind kind() const { return kind_of(header.geometry.layout); }
  bool keeps_bag() const { return self_sized || kind() == Kind::cuckoo; }
};

// Where the aggregate that the server calls keeps the state of its current group. The transfer is
// for the caller to set, if the state is to be serialized.
GroupMemory group_memory(FunctionCallInfo fcinfo);

// A state without rows; errors as of header_for().
State *make_state(const GroupMemory &memory, const Parameters &parameters);

// Gives a state without rows the content that is in these bytes, for as long as they are there: a
// bitmap if it has one, then its bag. The state can only be read. False if the bytes make no sense.
bool read_content(State *state, bool has_bitmap, BagForm form, const uint8 *bytes, Size length);

Layout layout_of(const State *state);
Parameters parameters_of(const State *state);

// Are these exactly the state's parameters? They are passed by value, so that what is compared for
// every row stays in registers. If not, check_parameters() rounds the numbers, and raises 22023 if
// they still differ; `parts` names what has the other parameters.
inline bool agrees(const State *state, Parameters parameters) {
  const auto [values, rate] = state->header.capacity;
  return state->self_sized == parameters.self_sized &&
         static_cast<double>(values) == parameters.expected && rate == parameters.rate;
}
void check_parameters(const State *state, const Parameters &parameters, const char *parts = "rows");

// Gives the state this element type if it has none yet. ERROR 42804 if it has another one.
void admit_type(State *state, const ElementType &type);

// Moves a sized state's hashes into its bitmap; the array becomes a buffer.
void flush(State *state);

// Makes room in a full array.
void make_room_in_state(State *state);

inline void push(State *state, uint64 hash) {
  HashArray *array = &state->bag.array;
  if (unlikely(array->count == array->capacity))
    make_room_in_state(state);
  array->hashes[array->count++] = hash;
}

// Adds to a state what another one has. ERROR 22023 if their parameters differ, 42804 if their
// element types do.
void combine_states(State *state, const State *other);

// The filter.
Filter finish_state(State *state);

// The filter of a bloomfilter's state that sizes itself, or one that has every value, if that would
// be too large.
Filter finish_within_limits(State *state);

} // namespace bloomfilter

#endif
