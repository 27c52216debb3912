// See state.hpp.

#include "pg/aggregate/state.hpp"

#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "core/partial.hpp"
#include "core/sizing.hpp"
#include "pg/element/canonical.hpp"
#include "pg/element/digests.hpp"
#include "pg/element/family.hpp"
#include "pg/errors.hpp"
#include "pg/list.hpp"
#include "pg/value/memory.hpp"
#include "pg/value/new_filter.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

constexpr Size kInserted = 1024; // hashes between checks for interrupts, with up to 4000 kicks each

// Allocates a zeroed bitmap. It is aligned, so that its lines do not straddle cache lines.
uint8 *allocate_bitmap(MemoryContext context, const Geometry &geometry) {
  void *chunk; // goes with its context
  void *bitmap = allocate_aligned(context, geometry.bytes(), 0, &chunk);
  clear_memory(bitmap, geometry.bytes());
  return static_cast<uint8 *>(bitmap);
}

// How many hashes a state whose expected number is known keeps before it makes a bitmap. Whole
// digests are kept until they take the bytes of the bitmap. The number is at least kBuffer. The
// state of a bf_partial keeps twice as many.
Size hashes_without_bitmap(const State *state) {
  const Geometry &geometry = state->header.geometry;
  const Size digests = geometry.bytes() / (digest_size(geometry.layout) * sizeof(uint64));
  const Size hashes = Max(digests * digest_size(geometry.layout), kBuffer);
  return state->of_bf_partial ? 2 * hashes : hashes;
}

// Removes repetitions from the full array of a bf_partial. True if it stays without a bitmap. An
// estimate comes first, with a standard error of at most an eighth. If it is so high that the
// distinct hashes surely take more bytes than the bitmap, the result is false, and nothing is
// removed. Otherwise the number of distinct hashes decides.
bool thin_without_bitmap(State *state) {
  HashArray *array = &state->bag.array;
  const Geometry &geometry = state->header.geometry;
  if (!state->of_bf_partial || state->bitmap ||
      sample_distinct(array->hashes, array->count) * sizeof(uint64) > 1.75 * geometry.bytes())
    return false;
  sort_array(array, state->bag.copies);
  return content_for(false, geometry, array->count) == Content::hashes;
}

// Makes the filter of a state's values, with this header.
Filter fill_bits(const State *state, const Header &header) {
  void *chunk;
  NewFilter filter = make_filter_to_fill(header, &chunk);
  if (state->bitmap)
    move_memory(filter.bitmap(), state->bitmap, header.geometry.bytes());
  for_each_batch(state->bag,
                 [&filter](const uint64 *hashes, Size count) { filter.add_many(hashes, count); });
  move_memory(chunk, filter.value, VARSIZE(filter.value));
  filter.value = static_cast<struct varlena *>(chunk);
  return filter;
}

// Makes a filter that has every value of the state's element type.
Filter filter_of_everything(const State *state) {
  NewFilter filter = make_filter(sized_for(state->header, 1));
  memset(filter.bitmap(), 0xff, filter.header.geometry.bytes());
  return filter;
}

// Makes a cuckoo filter. The table grows until all distinct hashes have a place; a self-sized table
// grows by one size class each time. If twice the size is not enough, somebody has chosen values
// that look alike.
Filter finish_cuckoo(State *state) {
  const uint64 distinct = sort_bag(&state->bag);
  Header header = sized_for(state->header, Max(distinct, state->header.capacity.values));
  const uint64 most = 2 * uint64{header.geometry.units} + kMinBuckets;
  for (;;) {
    NewFilter filter = make_filter(header);
    bool stored = true;
    for_each_sorted(state->bag, [&](const uint64 *hashes, Size count) {
      for (Size i = 0; i < count && stored; i += kInserted) {
        CHECK_FOR_INTERRUPTS();
        const Size part = Min(count - i, kInserted);
        stored = cuckoo_add_many(header.geometry, filter.bitmap(), hashes + i, part) == part;
      }
    });
    if (stored)
      return filter;
    filter.release();
    header.geometry.units += header.geometry.units / 32 + 1;
    if (state->header.is_self_sized())
      header.geometry = size_class(header.geometry);
    if (header.geometry.units > most)
      raise_alike(distinct);
    if (header.geometry.bits() > kMaxBits)
      raise_too_large(Layout::cuckoo, static_cast<double>(header.capacity.values),
                      header.capacity.rate, ERRCODE_PROGRAM_LIMIT_EXCEEDED);
    check_size(Kind::cuckoo, header.geometry.bits());
  }
}

// Checks that the state holds values of this element type; raises ERROR 42804 if it does not. If
// the state has no family yet, it gets the family of this value.
pg_noinline void admit_value(State *state, const ValueType *value_type) {
  check_holds(state->header, value_type, Purpose::change);
  adopt_family(&state->header, *value_type);
}

// A cuckoo filter cannot hold a value with two hashes. It keeps each hash once. Removing the value
// would remove its second hash, although another value may have the same second hash.
[[noreturn]] void raise_two_hashes() {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("cf_agg does not support character varying values that end with a blank"),
                  errhint("Cast the values to text.")));
}

pg_noinline void push_second(State *state, ValueType *value_type, Datum value) {
  const SecondHash second = second_hash(value_type, value, state->header.seed);
  if (!second.exists)
    return;
  if (structure_of(state->header.geometry.layout) == Structure::buckets)
    raise_two_hashes();
  push(state, second.hash);
}

inline void push_digest(State *state, const Digest &digest) {
  push(state, digest.first);
  if (digest_size(state->header.geometry.layout) > 1)
    push(state, digest.second);
}

// Adds a value's digests to a state for another system's layout.
pg_noinline void push_foreign(State *state, ValueType *value_type, Datum value) {
  Digest digest;
  if (likely(state->checked.admitted == value_type->family && !value_type->varying &&
             try_foreign_digest(value_type, value, state->header, &digest))) {
    push_digest(state, digest);
    return;
  }
  const Digests digests = foreign_digests(value_type, value, state->header, Purpose::change);
  admit_value(state, value_type);
  if (unlikely(digests.no_value))
    raise_no_value(state->header);
  state->checked.admitted = value_type->family;
  for (int i = 0; i < digests.count; i++)
    push_digest(state, digests.digest[i]);
}

} // namespace

GroupMemory group_memory(FunctionCallInfo fcinfo) {
  GroupMemory memory = {};
  const int call_context = AggCheckCallContext(fcinfo, &memory.context);
  if (!call_context)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("aggregate function called in non-aggregate context")));
  if (call_context == AGG_CONTEXT_AGGREGATE) // a window does not tell when its files can be closed
    memory.expr_context = castNode(AggState, fcinfo->context)->curaggcontext;
  return memory;
}

State *make_state(const GroupMemory &memory, const Parameters &parameters, bool of_bf_partial) {
  const Header header = header_for(parameters);
  auto *state = make_zeroed<State>(memory.context);
  const bool counts = structure_of(parameters.layout) == Structure::counters;
  state->bag = make_bag(memory, counts ? kMaxCounter : 1);
  state->header = header;
  state->of_bf_partial = of_bf_partial;
  return state;
}

void check_parameters(const State *state, const Parameters &parameters, const char *parts) {
  if (!(parameters_of(state->header) == parameters))
    raise_parameters_differ(parameters_of(state->header), parameters, parts);
}

void admit_type(State *state, const ElementType &type) {
  Header added = state->header;
  added.element_type = type;
  check_family(state->header, added);
  adopt_family(&state->header, type);
}

void flush(State *state) {
  HashArray *array = &state->bag.array;
  if (!state->bitmap)
    state->bitmap = allocate_bitmap(state->bag.memory.context, state->header.geometry);
  for_each_batch(*array, [state](const uint64 *hashes, Size count) {
    structure_add_many(*kernel, state->header.geometry, state->bitmap, hashes, count);
  });
  array->count = 0;
  if (array->capacity > kBuffer) {
    free_array(array);
    resize_array(&state->bag, kBuffer);
  }
}

pg_noinline void make_room_in_state(State *state) {
  if (keeps_bag(state->header)) {
    make_room_in_bag(&state->bag);
    return;
  }
  const Size capacity = state->bag.array.capacity;
  const Size limit = state->bitmap ? kBuffer : hashes_without_bitmap(state);
  if (capacity < limit)
    resize_array(&state->bag, Min(Max(2 * capacity, kFirstCapacity), limit));
  else if (!thin_without_bitmap(state))
    flush(state);
}

void add_hashes(State *state, const uint64 *hashes, Size count) {
  if (state->bitmap)
    structure_add_many(*kernel, state->header.geometry, state->bitmap, hashes, count);
  else
    append(&state->bag.array, hashes, count, [state] { make_room_in_state(state); });
}

void add_bitmap(State *state, Size offset, const uint8 *part, Size bytes) {
  Assert(!keeps_bag(state->header) && offset + bytes <= state->header.geometry.bytes());
  if (!state->bitmap)
    flush(state);
  const bool by_or = has<Ability::unites_by_or>(state->header.geometry.layout);
  (by_or ? unite_bitmaps : unite_counters)(state->bitmap + offset, part, bytes);
}

Filter finish_state(State *state, bool within_limits) {
  Header header = state->header;
  if (header.is_self_sized() && state->bag.size() == 0)
    return filter_without_values(header);
  if (structure_of(header.geometry.layout) == Structure::buckets)
    return finish_cuckoo(state);
  if (!header.is_self_sized())
    return fill_bits(state, header);
  const uint64 values = distinct_to_size_for(&state->bag);
  if (within_limits && !size_within_limits(&header, values))
    return filter_of_everything(state);
  return fill_bits(state, sized_for(state->header, values));
}

void add_value(State *state, ValueType *value_type, Datum value) {
  if (unlikely(is_foreign(state->header.geometry.layout))) {
    push_foreign(state, value_type, value);
    return;
  }
  const uint64 hash = first_hash(value_type, value, state->header.seed);
  if (unlikely(!fits(state->header, value_type)))
    admit_value(state, value_type);
  push(state, hash);
  if (unlikely(value_type->varying))
    push_second(state, value_type, value);
}

void add_items(State *state, const Items &items) {
  const MemoryContext before = MemoryContextSwitchTo(items.scratch);
  // If every value of the element type has one hash, checking the first value checks all of them.
  const bool alike = has_one_hash(items.value_type) && !is_foreign(state->header.geometry.layout);
  for (int i = 0; i < items.count; i++) {
    if (alike && i > 0)
      push(state, inline_hash(items.value_type, items.values[i], state->header.seed));
    else
      add_value(state, items.value_type, items.values[i]);
    reset_scratch(items);
  }
  MemoryContextSwitchTo(before);
}

} // namespace bloomfilter
