#include "pg/aggregate/state.hpp"

#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "core/partial.hpp"
#include "core/sizing.hpp"
#include "pg/element/family.hpp"
#include "pg/errors.hpp"
#include "pg/value/memory.hpp"
#include "pg/value/overfill.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// A zeroed bitmap whose lines do not straddle cache lines.
uint8 *allocate_bitmap(MemoryContext context, const Geometry &geometry) {
  void *chunk; // goes with its context
  void *bitmap = allocate_aligned(context, geometry.bytes(), 0, &chunk);
  clear_memory(bitmap, geometry.bytes());
  return static_cast<uint8 *>(bitmap);
}

// How many hashes a sized state keeps before it has a bitmap: whole digests of as many bytes, or a
// buffer.
Size hashes_without_bitmap(const State *state) {
  const Geometry &geometry = state->header.geometry;
  const Size digests = geometry.bytes() / (digest_size(geometry.layout) * sizeof(uint64));
  const Size hashes = Max(digests * digest_size(geometry.layout), kBuffer);
  return state->partial ? 2 * hashes : hashes;
}

// Is a partial state whose array is full to stay without a bitmap? It is looked for repetitions,
// unless an estimate has so many distinct hashes that these are more bytes without doubt: its
// standard error is at most an eighth.
bool stays_without_bitmap(State *state) {
  const Bag &bag = state->bag;
  const Geometry &geometry = state->header.geometry;
  if (!state->partial || state->bitmap ||
      sample_distinct(bag.hashes, bag.count) * sizeof(uint64) > 1.75 * geometry.bytes())
    return false;
  leave_distinct(state);
  return content_for(false, geometry, bag.count) == Content::hashes;
}

Filter finish_bits(FunctionCallInfo fcinfo, State *state) {
  Header header = state->header;
  if (state->self_sized)
    header = self_sized(header, distinct_to_size_for(fcinfo, &state->bag));
  void *chunk;
  OwnFilter filter = make_filter_to_fill(header, &chunk);
  if (state->bitmap)
    move_memory(filter.bitmap(), state->bitmap, header.geometry.bytes());
  for_each_batch(&state->bag,
                 [&filter](const uint64 *hashes, Size count) { filter.add_many(hashes, count); });
  move_memory(chunk, filter.value, VARSIZE(filter.value));
  filter.value = static_cast<struct varlena *>(chunk);
  if (!state->self_sized)
    check_overfill(filter, Origin::built);
  return filter;
}

// The table gets larger, a self-sized one by a size class, until all distinct hashes have a place.
// If twice the size is not enough, the values were chosen to look alike.
Filter finish_cuckoo(FunctionCallInfo fcinfo, State *state) {
  const uint64 distinct = sort_bag(fcinfo, &state->bag);
  Header header = state->header;
  header.flags = state->self_sized ? kFlagOwn : 0;
  header = sized_for(header, Max(distinct, Max(header.capacity.values, uint64{1})));
  const uint64 most = 2 * uint64{header.geometry.units} + kMinBuckets;
  for (;;) {
    OwnFilter filter = make_filter(header);
    bool stored = true;
    for_each_sorted(&state->bag, [&](const uint64 *hashes, Size count) {
      stored = stored && cuckoo_add_many(header.geometry, filter.bitmap(), hashes, count) == count;
    });
    if (stored)
      return filter;
    filter.release();
    header.geometry.units += header.geometry.units / 32 + 1;
    if (state->self_sized)
      header.geometry = size_class(header.geometry);
    if (header.geometry.units > most)
      raise_alike(distinct);
    if (header.geometry.bits() > kMaxBits)
      raise_too_large(Layout::cuckoo, header.capacity, ERRCODE_PROGRAM_LIMIT_EXCEEDED);
    check_size(Kind::cuckoo, header.geometry.bits());
  }
}

// Adds another state's hashes to a sized one.
void add_hashes_of(FunctionCallInfo fcinfo, State *state, const State *other) {
  for_each_batch(&other->bag, [fcinfo, state](const uint64 *hashes, Size count) {
    if (state->bitmap)
      structure_add_many(*kernel, state->header.geometry, state->bitmap, hashes, count);
    else
      append(&state->bag, hashes, count, [fcinfo, state] { make_room_in_state(fcinfo, state); });
  });
}

} // namespace

State *make_state(MemoryContext context, const Parameters &parameters) {
  const Header header = header_for(parameters);
  auto *state = static_cast<State *>(MemoryContextAllocZero(context, sizeof(State)));
  state->bag.context = context;
  state->bag.copies = kind_of(parameters.layout) == Kind::counting ? kMaxCounter : 1;
  state->self_sized = parameters.self_sized;
  state->header = header;
  return state;
}

Layout layout_of(const State *state) {
  return profile_of(state->header.geometry.layout);
}

Parameters parameters_of(const State *state) {
  const auto [values, rate] = state->header.capacity;
  return {state->self_sized, static_cast<double>(values), rate, layout_of(state),
          scheme_of(layout_of(state), state->header.element.family).empty};
}

void check_parameters(const State *state, const Parameters &parameters, const char *parts) {
  if (!(parameters_of(state) == parameters))
    raise_parameters_differ(parameters_of(state), parameters, parts);
}

void admit_type(State *state, const ElementType &type) {
  Header added = state->header;
  added.element = type;
  check_family(state->header, added);
  adopt_family(&state->header, type);
}

void flush(State *state) {
  Bag *bag = &state->bag;
  if (!state->bitmap)
    state->bitmap = allocate_bitmap(bag->context, state->header.geometry);
  for_each_batch_in_memory(bag, [state](const uint64 *hashes, Size count) {
    structure_add_many(*kernel, state->header.geometry, state->bitmap, hashes, count);
  });
  bag->count = 0;
  if (bag->capacity > kBuffer) {
    pfree(bag->hashes);
    bag->hashes = nullptr;
    resize_array(bag, kBuffer);
  }
}

void leave_distinct(State *state) {
  Bag *bag = &state->bag;
  sort_hashes(bag->hashes, bag->count, check_for_interrupts);
  bag->count = keep_copies(bag->hashes, bag->count, bag->copies);
}

pg_noinline void make_room_in_state(FunctionCallInfo fcinfo, State *state) {
  Bag *bag = &state->bag;
  if (state->keeps_bag()) {
    make_room_in_bag(fcinfo, bag);
    return;
  }
  const Size limit = state->bitmap ? kBuffer : hashes_without_bitmap(state);
  if (bag->capacity < limit)
    resize_array(bag, Min(Max(2 * bag->capacity, kFirstCapacity), limit));
  else if (!stays_without_bitmap(state))
    flush(state);
}

void combine_states(FunctionCallInfo fcinfo, State *state, const State *other) {
  check_parameters(state, parameters_of(other), state->partial ? "partial states" : "rows");
  admit_type(state, other->header.element);
  state->no_rows = state->no_rows && other->no_rows;

  if (other->bitmap) {
    flush(state);
    (state->kind() == Kind::counting ? unite_counters : unite_bitmaps)(
        state->bitmap, other->bitmap, state->header.geometry.bytes());
  }
  if (state->keeps_bag())
    merge_bag(fcinfo, &state->bag, &other->bag);
  else
    add_hashes_of(fcinfo, state, other);
}

Filter finish_state(FunctionCallInfo fcinfo, State *state) {
  if (state->no_rows || (state->self_sized && state->bag.size() == 0))
    return filter_without_values(parameters_of(state));
  return (state->kind() == Kind::cuckoo ? finish_cuckoo : finish_bits)(fcinfo, state);
}

} // namespace bloomfilter
