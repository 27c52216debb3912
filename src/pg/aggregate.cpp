// bf_agg: filters built from rows.
//
// A state collects 64-bit hashes in an array that starts at 8 entries, so that many small groups
// stay small. What happens when the array is full depends on who chooses the size:
//
// - Given a capacity, the array is a buffer: its hashes go into the bitmap together, with their
//   lines prefetched, which is three times as fast as one by one.
// - Sizing itself, the state keeps the set of distinct hashes, because the size is a function of
//   that set alone: their exact number up to kExactDistinct, a HyperLogLog estimate plus two
//   standard errors above. When the array is full and at least half of it are repetitions, these
//   are sorted out, and from then on a table of hashes seen recently stops most of them at once;
//   else it doubles, up to the memory limit (work_mem * hash_mem_multiplier for each state);
//   beyond, its content moves to a temporary file. So the bytes of the result depend neither on
//   work_mem, nor on the plan, nor on the order of the rows.
//
// The final function changes no state: transitions may go on after it, as in a window frame.
//
// A temporary file belongs to the executor's resource owner, which closes it on an error; in the
// regular course it is closed by AggRegisterCallback, before the memory of its group is reset. A
// WindowAgg has no such callback and keeps everything in memory.

#include "pg/server.hpp"

#include "core/bytes.hpp"
#include "core/distinct.hpp"
#include "core/sizing.hpp"
#include "pg/call_site.hpp"
#include "pg/element.hpp"
#include "pg/errors.hpp"
#include "pg/filter.hpp"
#include "pg/memory.hpp"

extern "C" {
#include "storage/buffile.h"
#include "utils/memutils.h"
}

using namespace bloomfilter;

namespace {

constexpr double kDefaultRate = 0.01;
constexpr Size kFirstCapacity = 8;
constexpr Size kBuffer = 1024;                 // hashes that a sized state collects for one flush
constexpr Size kSortFrom = 128;                // smaller arrays are not worth sorting
constexpr Size kCounting = 2 * kExactDistinct; // capacity that always fits in memory
constexpr Size kMaxRecent = 262144;            // 2 MB: more would not stay in a processor's cache
constexpr Size kSpillBlock = 8192;             // hashes read back at a time

struct State {
  MemoryContext context;
  bool self_sized;
  bool may_spill;
  Header header; // geometry only if not self-sized

  uint64 *hashes;
  Size count, capacity;

  uint64 *recent; // by their low bits: hashes that need not be collected again
  Size recent_mask;

  uint8 *bitmap;    // of a sized state, from its first flush on
  uint8 *registers; // of a self-sized state, from kExactDistinct on: of all hashes ever seen
  BufFile *spill;   // hashes that left the array
  uint64 spilled;
};

// What the caller asked for: bf_agg's arguments behind the value.
struct Target {
  bool self_sized;
  int64 expected;
  double rate;
};

Target target_of(FunctionCallInfo fcinfo) {
  Target target = {true, 0, kDefaultRate};
  if (PG_NARGS() > 2 && !PG_ARGISNULL(2)) {
    target.self_sized = false;
    target.expected = PG_GETARG_INT64(2);
  }
  if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
    target.rate = PG_GETARG_FLOAT8(3);
  return target;
}

Target target_of(const State *state) {
  return {state->self_sized, static_cast<int64>(state->header.expected), state->header.rate};
}

State *make_state(MemoryContext context, bool may_spill, const Target &target) {
  Geometry geometry = {};
  if (!target.self_sized)
    geometry = geometry_for(target.expected, target.rate);
  else if (!rate_in_range(target.rate))
    raise_bad_rate(target.rate);

  auto *state = static_cast<State *>(MemoryContextAllocZero(context, sizeof(State)));
  state->context = context;
  state->self_sized = target.self_sized;
  state->may_spill = may_spill;
  state->header = empty_header(geometry, static_cast<uint64>(target.expected), target.rate, 0);
  return state;
}

[[noreturn]] void raise_parameters_differ(const State *state, const Target &target) {
  auto text_of = [](bool self_sized, int64 expected) {
    return self_sized ? pstrdup("NULL") : psprintf(INT64_FORMAT, expected);
  };
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("parameters of bf_agg differ between rows"),
           errdetail("Expected number of values and false positive rate were %s and %g, then %s "
                     "and %g.",
                     text_of(state->self_sized, static_cast<int64>(state->header.expected)),
                     state->header.rate, text_of(target.self_sized, target.expected), target.rate),
           errhint("Use the same values for all rows of a group.")));
}

void check_target(const State *state, const Target &target) {
  if (state->self_sized != target.self_sized || state->header.rate != target.rate ||
      state->header.expected != static_cast<uint64>(target.expected))
    raise_parameters_differ(state, target);
}

// A zeroed bitmap whose lines do not straddle cache lines.
uint8 *allocate_bitmap(MemoryContext context, const Geometry &geometry) {
  void *chunk; // goes with its context
  return static_cast<uint8 *>(
      allocate_aligned(context, geometry.bytes(), 0, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO, &chunk));
}

void grow(State *state, Size capacity) {
  const Size bytes = capacity * sizeof(uint64);
  state->hashes =
      static_cast<uint64 *>(state->hashes ? repalloc_huge(state->hashes, bytes)
                                          : MemoryContextAllocHuge(state->context, bytes));
  state->capacity = capacity;
}

// Moves a sized state's buffered hashes into its bitmap.
void flush(State *state) {
  if (!state->bitmap)
    state->bitmap = allocate_bitmap(state->context, state->header.geometry);
  kernel->add_many(state->header.geometry, state->bitmap, state->hashes, state->count);
  state->count = 0;
}

void start_counting(State *state) {
  state->registers = static_cast<uint8 *>(MemoryContextAllocZero(state->context, kRegisters));
  for (Size i = 0; i < state->count; i++)
    count_hash(state->registers, state->hashes[i]);
}

void close_spill(Datum argument) {
  auto *state = reinterpret_cast<State *>(DatumGetPointer(argument));
  BufFileClose(state->spill);
  state->spill = nullptr;
}

void spill(FunctionCallInfo fcinfo, State *state) {
  CHECK_FOR_INTERRUPTS();
  if (!state->spill) {
    const MemoryContext before = MemoryContextSwitchTo(state->context);
    state->spill = BufFileCreateTemp(false);
    MemoryContextSwitchTo(before);
    AggRegisterCallback(fcinfo, close_spill, PointerGetDatum(state));
  }
  BufFileWrite(state->spill, state->hashes, state->count * sizeof(uint64));
  state->spilled += state->count;
  state->count = 0;
}

// Starts or enlarges the table of recent hashes, to twice the array.
void watch_repetitions(State *state) {
  Size slots = kSortFrom;
  while (slots < Min(2 * state->capacity, kMaxRecent))
    slots *= 2;
  if (state->recent && state->recent_mask >= slots - 1)
    return;
  if (state->recent)
    pfree(state->recent);
  state->recent =
      static_cast<uint64 *>(MemoryContextAllocZero(state->context, slots * sizeof(uint64)));
  state->recent[0] = 1; // 0 would say that the hash 0 was seen; 1 belongs into another slot
  state->recent_mask = slots - 1;
}

// Is sorting the array likely to halve it? Small arrays are sorted to find out.
bool worth_sorting(const State *state) {
  if (!state->registers)
    return state->count >= kSortFrom;
  return estimate_distinct(state->registers) <=
         static_cast<double>(state->spilled + state->count) / 2;
}

// Makes room in a self-sized state's full array.
void make_room(FunctionCallInfo fcinfo, State *state) {
  const Size full = state->count;
  if (worth_sorting(state)) {
    CHECK_FOR_INTERRUPTS();
    state->count = sort_distinct(state->hashes, full);
    if (!state->registers && state->count > kExactDistinct)
      start_counting(state);
    if (state->count <= full / 2) {
      watch_repetitions(state);
      return;
    }
  }
  if (full < kCounting) {
    grow(state, full * 2);
    return;
  }
  const Size limit = Max(get_hash_memory_limit() / sizeof(uint64), kCounting);
  if (!state->may_spill || full * 2 <= limit)
    grow(state, full * 2);
  else if (full < limit)
    grow(state, limit);
  else
    spill(fcinfo, state);
}

void push(FunctionCallInfo fcinfo, State *state, uint64 hash) {
  if (state->recent) {
    uint64 *slot = &state->recent[hash & state->recent_mask];
    if (*slot == hash)
      return;
    *slot = hash;
  }
  if (state->count == state->capacity) {
    if (state->capacity == 0)
      grow(state, kFirstCapacity);
    else if (state->self_sized)
      make_room(fcinfo, state);
    else if (state->capacity < kBuffer)
      grow(state, state->capacity * 2);
    else
      flush(state);
  }
  state->hashes[state->count++] = hash;
  if (state->registers)
    count_hash(state->registers, hash);
}

// Reads a state's spilled hashes, a block at a time, and leaves the file as it was.
template <typename F> void for_each_spilled_block(State *state, F use) {
  if (!state->spill)
    return;
  int file;
  off_t offset;
  BufFileTell(state->spill, &file, &offset);
  if (BufFileSeek(state->spill, 0, 0, SEEK_SET) != 0)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not rewind temporary file: %m")));
  auto *block = static_cast<uint64 *>(palloc(kSpillBlock * sizeof(uint64)));
  for (uint64 left = state->spilled; left > 0;) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(left, kSpillBlock);
    if (BufFileRead(state->spill, block, count * sizeof(uint64)) != count * sizeof(uint64))
      ereport(ERROR, (errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
    use(block, count);
    left -= count;
  }
  pfree(block);
  if (BufFileSeek(state->spill, file, offset, SEEK_SET) != 0)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not rewind temporary file: %m")));
}

// The header of a self-sized state's result: its distinct values decide the size.
Header sized_header(State *state) {
  if (!state->registers) {
    state->count = sort_distinct(state->hashes, state->count);
    if (state->count > kExactDistinct)
      start_counting(state);
  }
  const uint64 expected = state->registers ? padded_capacity(estimate_distinct(state->registers))
                                           : Max(state->count, Size{1});
  Header header = state->header;
  header.expected = expected;
  header.flags = kFlagOwn;
  if (!size_for_capacity(expected, header.rate, &header.geometry))
    raise_too_large(expected, header.rate, ERRCODE_PROGRAM_LIMIT_EXCEEDED);
  return header;
}

State *state_arg(FunctionCallInfo fcinfo, int argument) {
  return PG_ARGISNULL(argument) ? nullptr : reinterpret_cast<State *>(PG_GETARG_POINTER(argument));
}

State *make_call_state(FunctionCallInfo fcinfo, const Target &target) {
  MemoryContext context;
  const int kind = AggCheckCallContext(fcinfo, &context);
  if (!kind)
    elog(ERROR, "aggregate function called in non-aggregate context");
  return make_state(context, kind == AGG_CONTEXT_AGGREGATE, target);
}

// A state on its way between processes: this head, then a sized state's bitmap if it has one, then
// hashes to the end.
enum WireOffset : Size {
  kAtSelfSized = 0,
  kAtHasBitmap = 1,
  kAtFamily = 2,
  kAtShape = 4,
  kAtExpected = 8,
  kAtRate = 16,
  kWireHead = 24,
};

Size wire_size(const State *state) {
  return VARHDRSZ + kWireHead + (state->bitmap ? state->header.geometry.bytes() : 0) +
         (state->spilled + state->count) * sizeof(uint64);
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_agg_trans);
Datum bf_agg_trans(PG_FUNCTION_ARGS) {
  State *state = state_arg(fcinfo, 0);
  if (!state)
    state = make_call_state(fcinfo, target_of(fcinfo));
  else if (PG_NARGS() > 2)
    check_target(state, target_of(fcinfo));

  if (!PG_ARGISNULL(1)) {
    Element *element = argument_element(fcinfo, 1);
    const Hashes hashes = hash_value(element, PG_GETARG_DATUM(1), state->header.seed);
    check_element(state->header, element, "value");
    if (state->header.family == Family::none)
      adopt_family(&state->header, member_header(element));
    for (int i = 0; i < hashes.count; i++)
      push(fcinfo, state, hashes.hash[i]);
  }
  PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(bf_agg_combine);
Datum bf_agg_combine(PG_FUNCTION_ARGS) {
  State *state = state_arg(fcinfo, 0);
  State *other = state_arg(fcinfo, 1);
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
  adopt_family(&state->header, other->header);

  if (other->bitmap) {
    if (!state->bitmap)
      state->bitmap = allocate_bitmap(state->context, state->header.geometry);
    unite_bits(state->bitmap, other->bitmap, state->header.geometry.bytes());
  }
  for (Size i = 0; i < other->count; i++) {
    if (i % kSpillBlock == 0)
      CHECK_FOR_INTERRUPTS();
    push(fcinfo, state, other->hashes[i]);
  }
  PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(bf_agg_serial);
Datum bf_agg_serial(PG_FUNCTION_ARGS) {
  auto *state = reinterpret_cast<State *>(PG_GETARG_POINTER(0));
  if (state->self_sized && worth_sorting(state))
    state->count = sort_distinct(state->hashes, state->count);
  if (state->bitmap && state->count > 0)
    flush(state);

  // What was spilled may repeat itself; a state without a file takes its part, distinct.
  if (state->spill && (worth_sorting(state) || !AllocSizeIsValid(wire_size(state)))) {
    State *distinct = make_state(CurrentMemoryContext, false, target_of(state));
    distinct->header = state->header;
    auto collect = [fcinfo, distinct](const uint64 *hashes, Size count) {
      for (Size i = 0; i < count; i++)
        push(fcinfo, distinct, hashes[i]);
    };
    collect(state->hashes, state->count);
    for_each_spilled_block(state, collect);
    distinct->count = sort_distinct(distinct->hashes, distinct->count);
    state = distinct;
  }
  const Size size = wire_size(state);
  if (!AllocSizeIsValid(size))
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("partial state of bf_agg is too large to be combined: " UINT64_FORMAT " hashes",
                    state->spilled + state->count),
             errhint("Give the expected number of values: bf_agg(value, expected).")));

  auto *result = static_cast<bytea *>(palloc(size));
  SET_VARSIZE(result, size);
  auto *wire = reinterpret_cast<uint8 *>(VARDATA(result));
  memset(wire, 0, kWireHead);
  wire[kAtSelfSized] = state->self_sized;
  wire[kAtHasBitmap] = state->bitmap != nullptr;
  wire[kAtFamily] = static_cast<uint8>(state->header.family);
  store(wire + kAtShape, state->header.shape);
  store(wire + kAtExpected, state->header.expected);
  store(wire + kAtRate, double_bits(state->header.rate));
  wire += kWireHead;
  if (state->bitmap) {
    memcpy(wire, state->bitmap, state->header.geometry.bytes());
    wire += state->header.geometry.bytes();
  }
  auto append = [&wire](const uint64 *hashes, Size count) {
    for (Size i = 0; i < count; i++, wire += sizeof(uint64))
      store(wire, hashes[i]);
  };
  append(state->hashes, state->count);
  for_each_spilled_block(state, append);
  PG_RETURN_BYTEA_P(result);
}

PG_FUNCTION_INFO_V1(bf_agg_deserial);
Datum bf_agg_deserial(PG_FUNCTION_ARGS) {
  const bytea *bytes = PG_GETARG_BYTEA_PP(0);
  const auto *wire = reinterpret_cast<const uint8 *>(VARDATA_ANY(bytes));
  Size length = VARSIZE_ANY_EXHDR(bytes);
  if (length < kWireHead || wire[kAtFamily] > static_cast<uint8>(kLastFamily))
    elog(ERROR, "invalid serialized state of bf_agg");

  const Target target = {wire[kAtSelfSized] != 0, load<int64>(wire + kAtExpected),
                         bits_double(load<uint64>(wire + kAtRate))};
  State *state = make_state(CurrentMemoryContext, false, target);
  state->header.family = static_cast<Family>(wire[kAtFamily]);
  state->header.shape = load<uint32>(wire + kAtShape);
  const bool has_bitmap = wire[kAtHasBitmap] != 0;
  wire += kWireHead;
  length -= kWireHead;

  if (has_bitmap) {
    const Size bitmap_bytes = state->header.geometry.bytes();
    if (state->self_sized || length < bitmap_bytes)
      elog(ERROR, "invalid serialized state of bf_agg");
    state->bitmap = allocate_bitmap(state->context, state->header.geometry);
    memcpy(state->bitmap, wire, bitmap_bytes);
    wire += bitmap_bytes;
    length -= bitmap_bytes;
  }
  if (length % sizeof(uint64) != 0)
    elog(ERROR, "invalid serialized state of bf_agg");
  state->count = length / sizeof(uint64);
  if (state->count > 0)
    grow(state, state->count);
  for (Size i = 0; i < state->count; i++)
    state->hashes[i] = load<uint64>(wire + i * sizeof(uint64));
  PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(bf_agg_final);
Datum bf_agg_final(PG_FUNCTION_ARGS) {
  State *state = state_arg(fcinfo, 0);
  if (!state) // no rows: nothing says which size, and the filter stays empty
    state = make_state(CurrentMemoryContext, false, {true, 0, kDefaultRate});

  Filter filter = make_filter(state->self_sized ? sized_header(state) : state->header);
  if (state->bitmap)
    memcpy(filter.bitmap(), state->bitmap, filter.header.geometry.bytes());
  auto add = [&filter](const uint64 *hashes, Size count) {
    while (count > 0) {
      CHECK_FOR_INTERRUPTS();
      const Size batch = Min(count, kSpillBlock);
      filter.add_many(hashes, batch);
      hashes += batch;
      count -= batch;
    }
  };
  add(state->hashes, state->count);
  for_each_spilled_block(state, add);
  return filter.datum();
}

SQL_FUNCTIONS_END
