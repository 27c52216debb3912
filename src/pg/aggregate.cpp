// bf_agg, cbf_agg and cf_agg: filters built from rows.
//
// A state collects 64-bit hashes in a bag (pg/bag.hpp). What happens when its array is full depends
// on who chooses the size:
//
// - Given a capacity, the array grows until its hashes take as much as the filter would: many small
//   groups with large filters take what their rows take. Then they go into the bitmap or counters,
//   and what follows goes there through a buffer: together, with their lines prefetched, hashes are
//   added three times as fast as one by one.
// - Sizing itself, the state keeps the bag, because the size is a function of the distinct values
//   alone; counters need up to as many copies of each as they can count.
// - So does a cuckoo filter in any case, for it is to have each distinct value once. They are added
//   in the order of their hashes, and if one finds no place, again to a larger table: the bytes of
//   the result depend on the set of values alone.
//
// The final function changes no state: transitions may go on after it, as in a window frame.

#include "pg/server.hpp"

#include "core/bytes.hpp"
#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "core/sizing.hpp"
#include "pg/bag.hpp"
#include "pg/call_site.hpp"
#include "pg/element/canonical.hpp"
#include "pg/element/digests.hpp"
#include "pg/element/family.hpp"
#include "pg/errors.hpp"
#include "pg/filter.hpp"
#include "pg/memory.hpp"
#include "pg/overfill.hpp"
#include "pg/target.hpp"

extern "C" {
#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"
#include "utils/memutils.h"
}

using namespace bloomfilter;

namespace {

struct State {
  Bag bag; // hashes, or the numbers of digests, digest_size() each
  bool self_sized;
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

Layout layout_of(const State *state) {
  return profile_of(state->header.geometry.layout);
}

Target target_of(const State *state) {
  const auto [values, rate] = state->header.capacity;
  return {state->self_sized, static_cast<double>(values), rate, layout_of(state),
          scheme_of(layout_of(state), state->header.element.family).empty};
}

State *make_state(MemoryContext context, const Target &target) {
  const Header header = header_for(target);
  auto *state = static_cast<State *>(MemoryContextAllocZero(context, sizeof(State)));
  state->bag.context = context;
  state->bag.copies = kind_of(target.layout) == Kind::counting ? kMaxCounter : 1;
  state->self_sized = target.self_sized;
  state->header = header;
  return state;
}

// By value: what a call for every row compares stays in registers. False is for check_target() to
// judge, which rounds.
inline bool agrees(const State *state, Target target) {
  const auto [values, rate] = state->header.capacity;
  return state->self_sized == target.self_sized && static_cast<double>(values) == target.expected &&
         rate == target.rate;
}

void check_target(const State *state, const Target &target) {
  if (!(target_of(state) == target))
    raise_parameters_differ(target_of(state), target);
}

// Are the arguments behind the value the same in all rows of a state, because they are constants or
// parameters? Comparing them in each row takes as long as hashing a number, and a layout longer.
bool arguments_are_fixed(FunctionCallInfo fcinfo) {
  CallSite *site = call_site(fcinfo);
  if (!site->arguments_known) {
    const Aggref *aggref = AggGetAggref(fcinfo); // NULL in a window
    site->arguments_known = true;
    site->arguments_fixed = aggref != nullptr;
    for (int i = 2; i < PG_NARGS() && site->arguments_fixed; i++) {
      const Expr *argument = static_cast<TargetEntry *>(list_nth(aggref->args, i - 1))->expr;
      site->arguments_fixed = IsA(argument, Const) || IsA(argument, Param);
    }
  }
  return site->arguments_fixed;
}

// A zeroed bitmap whose lines do not straddle cache lines.
uint8 *allocate_bitmap(MemoryContext context, const Geometry &geometry) {
  void *chunk; // goes with its context
  void *bitmap = allocate_aligned(context, geometry.bytes(), 0, &chunk);
  return static_cast<uint8 *>(memset(bitmap, 0, geometry.bytes()));
}

// How many hashes a sized state keeps before it has a bitmap: whole digests of as many bytes, or a
// buffer.
Size hashes_without_bitmap(const State *state) {
  const Geometry &geometry = state->header.geometry;
  const Size digests = geometry.bytes() / (digest_size(geometry.layout) * sizeof(uint64));
  return Max(digests * digest_size(geometry.layout), kBuffer);
}

// Moves a sized state's hashes into its bitmap; the array becomes a buffer.
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

// Makes room in a full array.
pg_noinline void make_room_in_state(FunctionCallInfo fcinfo, State *state) {
  Bag *bag = &state->bag;
  if (state->keeps_bag()) {
    make_room_in_bag(fcinfo, bag);
    return;
  }
  const Size limit = state->bitmap ? kBuffer : hashes_without_bitmap(state);
  if (bag->capacity < limit)
    resize_array(bag, Min(Max(2 * bag->capacity, kFirstCapacity), limit));
  else
    flush(state);
}

// Takes in a family, or raises an error.
pg_noinline void admit(State *state, const Element *element) {
  check_element(state->header, element, Use::add);
  adopt_family(&state->header, *element);
}

inline void push(FunctionCallInfo fcinfo, State *state, uint64 hash) {
  if (unlikely(state->bag.count == state->bag.capacity))
    make_room_in_state(fcinfo, state);
  state->bag.hashes[state->bag.count++] = hash;
}

// A cuckoo filter has each hash once, so removing a value with two would take what another one
// with the same second hash needs.
[[noreturn]] void raise_two_hashes() {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("cf_agg does not support character varying values that end with a blank"),
                  errhint("Cast the values to text.")));
}

pg_noinline void push_second(FunctionCallInfo fcinfo, State *state, Element *element) {
  const SecondHash second = second_hash(element, PG_GETARG_DATUM(1), state->header.seed);
  if (!second.exists)
    return;
  if (state->kind() == Kind::cuckoo)
    raise_two_hashes();
  push(fcinfo, state, second.hash);
}

inline void push_digest(FunctionCallInfo fcinfo, State *state, const Digest &digest) {
  push(fcinfo, state, digest.first);
  if (digest_size(state->header.geometry.layout) > 1)
    push(fcinfo, state, digest.second);
}

// A value's digests, of a state for another system's layout.
pg_noinline void push_foreign(FunctionCallInfo fcinfo, State *state, Element *element) {
  const Datum value = PG_GETARG_DATUM(1);
  Digest digest;
  if (likely(state->admitted == element->family && !element->varying &&
             try_foreign_digest(element, value, state->header, &digest))) {
    push_digest(fcinfo, state, digest);
    return;
  }
  const Digests digests = foreign_digests(element, value, state->header, Use::add);
  check_element(state->header, element, Use::add);
  if (unlikely(digests.no_value))
    raise_no_value(state->header);
  adopt_family(&state->header, *element);
  state->admitted = element->family;
  for (int i = 0; i < digests.count; i++)
    push_digest(fcinfo, state, digests.digest[i]);
}

Filter finish_bits(FunctionCallInfo fcinfo, State *state) {
  Header header = state->header;
  if (state->self_sized)
    header = self_sized(header, distinct_to_size_for(fcinfo, &state->bag));
  void *chunk;
  OwnFilter filter = make_filter_to_fill(header, &chunk);
  if (state->bitmap)
    memcpy(filter.bitmap(), state->bitmap, header.geometry.bytes());
  for_each_batch(&state->bag,
                 [&filter](const uint64 *hashes, Size count) { filter.add_many(hashes, count); });
  filter.value = static_cast<struct varlena *>(memmove(chunk, filter.value, VARSIZE(filter.value)));
  if (!state->self_sized)
    check_overfill(filter, Origin::built);
  return filter;
}

// The table gets larger until all distinct hashes have a place, but not more than twice as large:
// then they were chosen to look alike.
Filter finish_cuckoo(FunctionCallInfo fcinfo, State *state) {
  const uint64 distinct = sort_bag(fcinfo, &state->bag);
  Header header =
      self_sized(state->header, Max(distinct, Max(state->header.capacity.values, uint64{1})));
  header.flags = state->self_sized ? kFlagOwn : 0;
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
    if (header.geometry.units > most)
      raise_alike(distinct);
    if (header.geometry.bits() > kMaxBits)
      raise_too_large(Layout::cuckoo, header.capacity, ERRCODE_PROGRAM_LIMIT_EXCEEDED);
    check_size(Kind::cuckoo, header.geometry.bits());
  }
}

State *state_arg(FunctionCallInfo fcinfo, int argument) {
  return PG_ARGISNULL(argument) ? nullptr : reinterpret_cast<State *>(PG_GETARG_POINTER(argument));
}

// Is the state for another process?
bool is_partial(FunctionCallInfo fcinfo) {
  const AggSplit split = castNode(AggState, fcinfo->context)->aggsplit;
  return DO_AGGSPLIT_SERIALIZE(split) && !DO_AGGSPLIT_COMBINE(split);
}

// Is it in a hash table, which hands its states out again if a rescan finds nothing below it
// changed? Workers end before a rescan.
bool may_be_reread(FunctionCallInfo fcinfo) {
  return castNode(AggState, fcinfo->context)->aggstrategy == AGG_HASHED && !IsParallelWorker();
}

pg_noinline State *make_call_state(FunctionCallInfo fcinfo, Target target) {
  MemoryContext context;
  const int kind = AggCheckCallContext(fcinfo, &context);
  if (!kind)
    elog(ERROR, "aggregate function called in non-aggregate context");
  State *state = make_state(context, target);
  state->bag.may_spill = kind == AGG_CONTEXT_AGGREGATE;
  state->bag.travels = state->bag.may_spill && is_partial(fcinfo);
  state->bag.reread = state->bag.travels && may_be_reread(fcinfo);
  return state;
}

// A state on its way between processes: this head, then a sized state's bitmap if it has one, then
// its bag's wire form.
enum WireOffset : Size {
  kAtFlags = 0,
  kAtForm = 1,
  kAtFamily = 2,
  kAtLayout = 3,
  kAtShape = 4,
  kAtExpected = 8,
  kAtRate = 16,
  kWireHead = 24,
};
enum WireFlags : uint8 { kSelfSized = 1, kHasBitmap = 2 };

[[noreturn]] void raise_invalid_wire() {
  elog(ERROR, "invalid serialized state of an aggregate");
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

// A row's value goes into the state, which is made for the first one.
pg_noinline Datum checked_transition(FunctionCallInfo fcinfo, Layout layout) {
  State *state = state_arg(fcinfo, 0);
  const bool fixed = arguments_are_fixed(fcinfo);
  if (!state)
    state = make_call_state(fcinfo, target_args_with_layout(fcinfo, layout));
  else if (PG_NARGS() > 2 && state->site != fcinfo->flinfo) {
    if (unlikely(!agrees(state, target_args(fcinfo, layout))) || PG_NARGS() > 4)
      check_target(state, target_args_with_layout(fcinfo, layout));
  }
  if (fixed && state->site != fcinfo->flinfo) {
    state->site = fcinfo->flinfo;
    state->element = nullptr;
  }

  if (!PG_ARGISNULL(1)) {
    Element *element = argument_element(fcinfo, 1);
    if (unlikely(is_foreign(state->header.geometry.layout))) {
      push_foreign(fcinfo, state, element);
      PG_RETURN_POINTER(state);
    }
    const uint64 hash = first_hash(element, PG_GETARG_DATUM(1), state->header.seed);
    if (unlikely(!fits(state->header, element)))
      admit(state, element);
    push(fcinfo, state, hash);
    if (unlikely(element->varying))
      push_second(fcinfo, state, element);
    if (fixed && has_one_hash(element))
      state->element = element;
  }
  PG_RETURN_POINTER(state);
}

inline Datum transition(FunctionCallInfo fcinfo, Layout layout) {
  State *state = state_arg(fcinfo, 0);
  if (unlikely(!state || state->site != fcinfo->flinfo || !state->element || PG_ARGISNULL(1)))
    return checked_transition(fcinfo, layout);
  push(fcinfo, state, inline_hash(state->element, PG_GETARG_DATUM(1), state->header.seed));
  PG_RETURN_POINTER(state);
}

Datum finish(FunctionCallInfo fcinfo, Layout layout) {
  State *state = state_arg(fcinfo, 0);
  if (!state)
    return make_filter(empty_of(layout)).datum();
  return (state->kind() == Kind::cuckoo ? finish_cuckoo : finish_bits)(fcinfo, state).datum();
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bloomfilter_agg_trans);
Datum bloomfilter_agg_trans(PG_FUNCTION_ARGS) {
  return transition(fcinfo, Layout::lines);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_agg_trans);
Datum countingbloomfilter_agg_trans(PG_FUNCTION_ARGS) {
  return transition(fcinfo, Layout::counting_lines);
}

PG_FUNCTION_INFO_V1(cuckoofilter_agg_trans);
Datum cuckoofilter_agg_trans(PG_FUNCTION_ARGS) {
  return transition(fcinfo, Layout::cuckoo);
}

PG_FUNCTION_INFO_V1(filter_agg_combine);
Datum filter_agg_combine(PG_FUNCTION_ARGS) {
  State *state = state_arg(fcinfo, 0);
  State *other = state_arg(fcinfo, 1);
  expect_shared_files();
  if (!other) {
    if (!state)
      PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }

  const Target target = target_of(other);
  if (!state)
    state = make_call_state(fcinfo, target);
  else
    check_target(state, target);
  check_family(state->header, other->header);
  adopt_family(&state->header, other->header.element);

  if (other->bitmap) {
    flush(state);
    (state->kind() == Kind::counting ? unite_counters : unite_bitmaps)(
        state->bitmap, other->bitmap, state->header.geometry.bytes());
  }
  if (state->keeps_bag())
    merge_bag(fcinfo, &state->bag, &other->bag);
  else
    add_hashes_of(fcinfo, state, other);
  PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(filter_agg_serial);
Datum filter_agg_serial(PG_FUNCTION_ARGS) {
  auto *state = reinterpret_cast<State *>(PG_GETARG_POINTER(0));
  if (state->keeps_bag() && mostly_repeated(&state->bag))
    remove_repetitions(fcinfo, &state->bag);
  const Size bitmap_bytes = state->header.geometry.bytes();
  if (!state->keeps_bag() && (state->bitmap || state->bag.count * sizeof(uint64) >= bitmap_bytes))
    flush(state);

  const WireForm form = settle_wire(fcinfo, &state->bag);
  const Size size =
      VARHDRSZ + kWireHead + (state->bitmap ? bitmap_bytes : 0) + wire_size(&state->bag, form);
  auto *result = static_cast<bytea *>(palloc(size));
  SET_VARSIZE(result, size);
  auto *wire = reinterpret_cast<uint8 *>(VARDATA(result));
  memset(wire, 0, kWireHead);
  wire[kAtFlags] = (state->self_sized ? kSelfSized : 0) | (state->bitmap ? kHasBitmap : 0);
  wire[kAtForm] = static_cast<uint8>(form);
  wire[kAtFamily] = static_cast<uint8>(state->header.element.family);
  wire[kAtLayout] = static_cast<uint8>(layout_of(state));
  store(wire + kAtShape, state->header.element.shape);
  store(wire + kAtExpected, state->header.capacity.values);
  store(wire + kAtRate, double_bits(state->header.capacity.rate));
  wire += kWireHead;
  if (state->bitmap) {
    memcpy(wire, state->bitmap, bitmap_bytes);
    wire += bitmap_bytes;
  }
  write_wire(&state->bag, form, wire);
  PG_RETURN_BYTEA_P(result);
}

PG_FUNCTION_INFO_V1(filter_agg_deserial);
Datum filter_agg_deserial(PG_FUNCTION_ARGS) {
  const bytea *bytes = PG_GETARG_BYTEA_PP(0);
  const auto *wire = reinterpret_cast<const uint8 *>(VARDATA_ANY(bytes));
  Size length = VARSIZE_ANY_EXHDR(bytes);
  if (length < kWireHead || wire[kAtFamily] > static_cast<uint8>(kLastFamily) ||
      wire[kAtForm] > static_cast<uint8>(WireForm::file) || !is_layout(wire[kAtLayout]))
    raise_invalid_wire();
  const auto layout = static_cast<Layout>(wire[kAtLayout]);
  const auto family = static_cast<Family>(wire[kAtFamily]);
  if (!is_family_of(layout, family))
    raise_invalid_wire();

  const Target target = {
      (wire[kAtFlags] & kSelfSized) != 0, static_cast<double>(load<uint64>(wire + kAtExpected)),
      bits_double(load<uint64>(wire + kAtRate)), layout, scheme_of(layout, family).empty};
  State *state = make_state(CurrentMemoryContext, target);
  state->header.element.family = family;
  state->header.element.shape = load<uint32>(wire + kAtShape);
  const bool has_bitmap = (wire[kAtFlags] & kHasBitmap) != 0;
  const auto form = static_cast<WireForm>(wire[kAtForm]);
  wire += kWireHead;
  length -= kWireHead;

  if (has_bitmap) {
    const Size bitmap_bytes = state->header.geometry.bytes();
    if (state->self_sized || length < bitmap_bytes)
      raise_invalid_wire();
    state->bitmap = allocate_bitmap(state->bag.context, state->header.geometry);
    memcpy(state->bitmap, wire, bitmap_bytes);
    wire += bitmap_bytes;
    length -= bitmap_bytes;
  }
  if (!read_wire(&state->bag, form, wire, length) ||
      (!state->keeps_bag() && form == WireForm::file))
    raise_invalid_wire();
  PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(bloomfilter_agg_final);
Datum bloomfilter_agg_final(PG_FUNCTION_ARGS) {
  return finish(fcinfo, Layout::lines);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_agg_final);
Datum countingbloomfilter_agg_final(PG_FUNCTION_ARGS) {
  return finish(fcinfo, Layout::counting_lines);
}

PG_FUNCTION_INFO_V1(cuckoofilter_agg_final);
Datum cuckoofilter_agg_final(PG_FUNCTION_ARGS) {
  return finish(fcinfo, Layout::cuckoo);
}

SQL_FUNCTIONS_END
