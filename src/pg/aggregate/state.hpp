// The state of bf_agg, its siblings and bf_dist_agg: what an aggregate has learnt from the rows so
// far.
//
// A state collects 64-bit hashes in a bag (pg/aggregate/hash_bag.hpp). When the bag's array is
// full, there are three cases:
//
// - A Bloom filter or a counting filter has an expected number of values. The array grows until its
//   hashes take as many bytes as the filter. So many small groups with large filters take no more
//   memory than their rows need. Then the hashes are added to a bitmap or to counters, and the
//   array becomes a buffer for later hashes: adding hashes together, with their lines prefetched,
//   takes a third of the time. A bf_partial has hashes if the distinct ones take fewer bytes than
//   the bitmap. So its array grows to twice as many hashes, and repetitions are removed before this
//   is decided.
// - A Bloom filter or a counting filter is self-sized. The state keeps the bag, because the size
//   depends on the number of distinct values. A counting filter needs as many copies of a hash as a
//   counter can count.
// - The filter is a cuckoo filter, self-sized or not. The state keeps the bag, because the filter
//   must have each distinct value once. At the end the hashes are added in ascending order. If one
//   finds no free slot, all are added to a larger table. So the bytes of the result depend only on
//   the set of values.
//
// The final function does not change a state's content, because more rows may follow, as in a
// window frame.
//
// The trade-off: nobody has to say how many values there will be, and the filter still has the size
// and the rate of one that was made for the right number. The price is memory, 8 to 32 bytes for
// each distinct value where the filter itself takes 1.2 at a rate of 1 %, and files beyond the
// limit. Ten million distinct values take 85 MB of memory, or 17 MB with a work_mem of 4 MB, and
// the rest in files (script/bench memory). Building takes 0.5 to 0.9 of the time of count(x).
//
// Tests: test/t/002_aggregate.pl, test/t/003_self_sizing.pl, test/t/004_memory.pl,
// test/t/022_parallel.pl, test/t/029_partial.pl, sql/partial.sql, test/search/plans.py.
#pragma once

#include "pg/server.hpp"

#include "pg/aggregate/hash_bag.hpp"
#include "pg/aggregate/parameters.hpp"
#include "pg/element/value_type.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/items.hpp"

namespace bloomfilter {

// What has been checked for the values of earlier rows, so that later rows skip the check. It is
// true of one state and one call site. The transition functions of bf_agg and its siblings set the
// first two fields.
struct Checked {
  const FmgrInfo *site;  // the call site whose parameters were compared and are constant, or NULL
  ValueType *value_type; // values of this element type skip all checks; NULL: none do
  Family admitted;       // an element family that another system's layout was found to hold
};

// True if a state with this header needs all hashes until the end.
inline bool keeps_bag(const Header &header) {
  return header.is_self_sized() || has<Ability::needs_all_values>(header.geometry.layout);
}

struct State {
  // make_state() sets these. The first value sets the element type in the header.
  //
  // The bag has hashes; in another system's layout it has digests of digest_size() numbers each. If
  // keeps_bag() is false, only the array of the bag is used.
  HashBag bag;
  Header header; // header_for() says what it has if it is self-sized
  // True for the state of a bf_partial, which has a bitmap only if its distinct hashes take as many
  // bytes.
  bool of_bf_partial;

  // Allocated by the first flush of a state whose expected number is known. NULL before, and if
  // keeps_bag().
  uint8 *bitmap;

  Checked checked;
};

// Where the running aggregate keeps the state of its current group. If the state will be
// serialized, the caller must set the transfer.
GroupMemory group_memory(FunctionCallInfo fcinfo);

// Makes a state without values. Raises the errors of header_for().
State *make_state(const GroupMemory &memory, const Parameters &parameters,
                  bool of_bf_partial = false);

// agrees() returns true if these are exactly the state's parameters, without comparing the layout.
// The parameters are passed by value, so that they stay in registers for the comparison in each
// row. check_parameters() rounds the expected numbers, and raises ERROR 22023 if the parameters
// still differ. `parts` names what has the parameters, such as rows.
inline bool agrees(const State *state, Parameters parameters) {
  const auto [values, rate] = state->header.capacity;
  return state->header.is_self_sized() == parameters.self_sized &&
         static_cast<double>(values) == parameters.expected && rate == parameters.rate;
}
void check_parameters(const State *state, const Parameters &parameters, const char *parts = "rows");

// Gives the state this element type if it has none yet. ERROR 42804 if it has another element type.
void admit_type(State *state, const ElementType &type);

// Moves the hashes of a state whose expected number is known into its bitmap. The array becomes a
// buffer.
void flush(State *state);

// Makes room in the full array of a state's bag.
void make_room_in_state(State *state);

inline void push(State *state, uint64 hash) {
  HashArray *array = &state->bag.array;
  if (unlikely(array->count == array->capacity))
    make_room_in_state(state);
  array->hashes[array->count++] = hash;
}

// Hashes a value, checks that the state's filter can hold it, and adds the hash. The aggregates
// call this for each row. ERROR 42804 if the state has another element type. ERROR 0A000 or 22003
// if a filter of the state's kind or layout cannot hold the value. May allocate in the current
// memory context.
void add_value(State *state, ValueType *value_type, Datum value);

// Adds items in their order. None of them may be NULL. Raises the errors of add_value(). A Bloom
// Filter Build calls this for each batch of rows.
void add_items(State *state, const Items &items);

// Add to a state what another state has collected: hashes, or a part of its bitmap or counters, at
// this offset. add_bitmap() is only for states that do not keep a bag.
void add_hashes(State *state, const uint64 *hashes, Size count);
void add_bitmap(State *state, Size offset, const uint8 *part, Size bytes);

// Makes the filter of all values of a state. The caller checks whether it is overfilled. If
// `within_limits` is true, the state is that of a self-sized bloomfilter, and a filter that would
// be too large becomes one that has every value.
Filter finish_state(State *state, bool within_limits = false);

} // namespace bloomfilter
