// What bf_agg, its siblings and bf_dist_agg know of the rows so far.
//
// A state collects 64-bit hashes in a bag (pg/aggregate/hash_bag.hpp). What happens when its array
// is full depends on who chooses the size:
//
// - Given a capacity, the array grows until its hashes take as much as the filter would: many small
//   groups with large filters take what their rows take. Then they go into the bitmap or counters,
//   and what follows goes there through a buffer: together, with their lines prefetched, hashes are
//   added three times as fast as one by one. A state that is a bf_partial grows to twice as many,
//   for if it then is left with fewer, without repetitions, it is not to become a bitmap.
// - Sizing itself, the state keeps the bag, because the size is a function of the distinct values
//   alone; counters need up to as many copies of each as they can count.
// - So does a cuckoo filter in any case, for it is to have each distinct value once. They are added
//   in the order of their hashes, and if one finds no place, again to a larger table: the bytes of
//   the result depend on the set of values alone.
//
// The final function changes no state: transitions may go on after it, as in a window frame.
#ifndef BLOOMFILTER_PG_AGGREGATE_STATE_HPP
#define BLOOMFILTER_PG_AGGREGATE_STATE_HPP

#include "pg/server.hpp"

#include "pg/aggregate/hash_bag.hpp"
#include "pg/aggregate/parameters.hpp"
#include "pg/element/element.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

struct State {
  Bag bag; // hashes, or the numbers of digests, digest_size() each
  bool self_sized;
  bool partial;  // the state of a bf_partial
  bool no_rows;  // of such states, none of which saw a row
  Header header; // of the geometry only the layout if self-sized

  uint8 *bitmap;   // of a sized state, from its first flush on; then the array is a buffer
  Family admitted; // of a foreign layout: a fitting element family

  // What needs no more checks: the arguments of this call site behind the value, which are fixed,
  // and if `element` is not NULL, its values.
  const FmgrInfo *site;
  Element *element;

  Kind kind() const { return kind_of(header.geometry.layout); }
  bool keeps_bag() const { return self_sized || kind() == Kind::cuckoo; }
};

// A state without rows; errors as of header_for().
State *make_state(MemoryContext context, const Parameters &parameters);

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

// Leaves each hash of a sized state's array once, in ascending order.
void leave_distinct(State *state);

// Makes room in a full array.
void make_room_in_state(FunctionCallInfo fcinfo, State *state);

inline void push(FunctionCallInfo fcinfo, State *state, uint64 hash) {
  if (unlikely(state->bag.count == state->bag.capacity))
    make_room_in_state(fcinfo, state);
  state->bag.hashes[state->bag.count++] = hash;
}

// Adds to a state what another one has. ERROR 22023 if their parameters differ, 42804 if their
// element types do.
void combine_states(FunctionCallInfo fcinfo, State *state, const State *other);

// The filter.
Filter finish_state(FunctionCallInfo fcinfo, State *state);

} // namespace bloomfilter

#endif
