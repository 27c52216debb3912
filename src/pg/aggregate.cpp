// bf_agg: filters built from rows.
//
// A state collects 64-bit hashes in an array that starts at 8 entries, so that many small groups
// stay small. What happens when the array is full depends on who chooses the size:
//
// - Given a capacity, the array is a buffer: its hashes go into the bitmap together, with their
//   lines prefetched, which is three times as fast as one by one.
// - Sizing itself, the state keeps the distinct hashes, because the size is a function of that set
//   alone: their exact number up to kExactDistinct, a HyperLogLog estimate plus two standard errors
//   above. A full array doubles. But if at least half of it are repetitions, its content becomes a
//   hash set, which takes more memory for each hash and none for repetitions, and the array its
//   buffer; until most hashes are new again. What exceeds the memory limit (work_mem *
//   hash_mem_multiplier for each state) moves to a temporary file. So the bytes of the result
//   depend neither on work_mem, nor on the plan, nor on the order of the rows.
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
#include "pg/overfill.hpp"

extern "C" {
#include "nodes/primnodes.h"
#include "storage/buffile.h"
#include "utils/memutils.h"
}

using namespace bloomfilter;

namespace {

constexpr double kDefaultRate = 0.01;
constexpr Size kFirstCapacity = 8;
constexpr Size kBuffer = 1024;                 // hashes that a sized state collects for one flush
constexpr Size kSetFrom = 128;                 // smaller arrays do not become sets
constexpr Size kCounting = 2 * kExactDistinct; // from here on an array knows if it has more
constexpr Size kBlock = 8192;                  // hashes handled between two looks for interrupts

struct State {
  MemoryContext context;
  bool self_sized;
  bool may_spill;
  Header header; // geometry only if not self-sized

  uint64 *hashes; // or digests, of one or two words each
  Size count, capacity;

  uint8 *bitmap;   // of a sized state, from its first flush on
  Family admitted; // of a foreign layout: a fitting element family

  // Of a self-sized state:
  HashSet set;              // without slots while the array collects
  uint64 offered, accepted; // hashes for the set since its size was decided, and new ones of these
  uint8 *registers;         // from kExactDistinct on: of all hashes ever seen
  Size registered;          // hashes of the array that the registers know
  BufFile *spill;           // hashes that left memory
  uint64 spilled;

  // Of a state that came from another process: hashes in its wire form, which is read once.
  const uint8 *wire;
  Size wire_count;
};

// What the caller asked for: bf_agg's arguments behind the value.
struct Target {
  bool self_sized;
  int64 expected;
  double rate;
  Layout layout;
};

// Without the layout, which target_with_layout() reads.
Target target_of(FunctionCallInfo fcinfo) {
  Target target = {true, 0, kDefaultRate, Layout::lines};
  if (PG_NARGS() > 2 && !PG_ARGISNULL(2)) {
    target.self_sized = false;
    target.expected = PG_GETARG_INT64(2);
  }
  if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
    target.rate = PG_GETARG_FLOAT8(3);
  return target;
}

Layout layout_of(const State *state) {
  return state->self_sized ? Layout::lines : profile_of(state->header.geometry.layout);
}

Target target_with_layout(FunctionCallInfo fcinfo) {
  Target target = target_of(fcinfo);
  if (PG_NARGS() > 4 && !PG_ARGISNULL(4))
    target.layout = layout_for(PG_GETARG_TEXT_PP(4));
  return target;
}

Target target_of(const State *state) {
  return {state->self_sized, static_cast<int64>(state->header.expected), state->header.rate,
          layout_of(state)};
}

State *make_state(MemoryContext context, bool may_spill, const Target &target) {
  Geometry geometry = {};
  if (!target.self_sized)
    geometry = geometry_for(target.layout, target.expected, target.rate);
  else if (!rate_in_range(target.rate))
    raise_bad_rate(target.rate);
  else if (is_foreign(target.layout))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("bf_agg does not size filters of layout \"%s\" itself",
                           layout_name(target.layout)),
                    errhint("Give the expected number of values.")));

  auto *state = static_cast<State *>(MemoryContextAllocZero(context, sizeof(State)));
  state->context = context;
  state->self_sized = target.self_sized;
  state->may_spill = may_spill;
  state->header = empty_header(geometry, static_cast<uint64>(target.expected), target.rate, 0);
  return state;
}

[[noreturn]] void raise_parameters_differ(const State *state, Target target) {
  auto text_of = [](bool self_sized, int64 expected) {
    return self_sized ? pstrdup("NULL") : psprintf(INT64_FORMAT, expected);
  };
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("parameters of bf_agg differ between rows"),
           errdetail("Expected number of values, false positive rate and layout were %s, %g and "
                     "\"%s\", then %s, %g and \"%s\".",
                     text_of(state->self_sized, static_cast<int64>(state->header.expected)),
                     state->header.rate, layout_name(layout_of(state)),
                     text_of(target.self_sized, target.expected), target.rate,
                     layout_name(target.layout)),
           errhint("Use the same values for all rows of a group.")));
}

// By value: what a call for every row compares stays in registers.
inline bool agrees(const State *state, Target target) {
  return state->self_sized == target.self_sized && state->header.rate == target.rate &&
         state->header.expected == static_cast<uint64>(target.expected);
}

void check_target(const State *state, const Target &target) {
  if (!agrees(state, target) || layout_of(state) != target.layout)
    raise_parameters_differ(state, target);
}

// Is the layout the same in all rows because it is a constant? Comparing a text in each takes as
// long as hashing a number.
bool layout_is_constant(FunctionCallInfo fcinfo) {
  CallSite *site = call_site(fcinfo);
  if (!site->layout_known) {
    const Aggref *aggref = AggGetAggref(fcinfo); // NULL in a window
    constexpr int kLayout = 3;
    site->layout_known = true;
    site->layout_constant =
        aggref && IsA(static_cast<TargetEntry *>(list_nth(aggref->args, kLayout))->expr, Const);
  }
  return site->layout_constant;
}

// A zeroed bitmap whose lines do not straddle cache lines.
uint8 *allocate_bitmap(MemoryContext context, const Geometry &geometry) {
  void *chunk; // goes with its context
  void *bitmap = allocate_aligned(context, geometry.bytes(), 0, &chunk);
  return static_cast<uint8 *>(memset(bitmap, 0, geometry.bytes()));
}

void resize_array(State *state, Size capacity) {
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
  add_words(state->header.geometry, state->bitmap, state->hashes, state->count);
  state->count = 0;
}

// Calls use(hashes, count) for everything in memory, in blocks.
template <typename F> void for_each_block_in_memory(const State *state, F use) {
  for (Size i = 0; i < state->count; i += kBlock) {
    CHECK_FOR_INTERRUPTS();
    use(state->hashes + i, Min(state->count - i, kBlock));
  }
  if (!state->set.slots && !state->wire)
    return;
  auto *block = static_cast<uint64 *>(palloc(kBlock * sizeof(uint64)));
  for (Size i = 0; i < state->wire_count; i += kBlock) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(state->wire_count - i, kBlock);
    for (Size j = 0; j < count; j++)
      block[j] = load<uint64>(state->wire + (i + j) * sizeof(uint64));
    use(block, count);
  }
  Size next = 0;
  while (const Size count = read_distinct(state->set, &next, block, kBlock)) {
    CHECK_FOR_INTERRUPTS();
    use(block, count);
  }
  pfree(block);
}

Size in_memory(const State *state) {
  return state->count + state->set.count;
}

void count_hashes(uint8 *registers, const uint64 *hashes, Size count) {
  for (Size i = 0; i < count; i++)
    count_hash(registers, hashes[i]);
}

// Makes registers, if the exact number does no longer decide.
void start_registers(State *state) {
  if (state->registers || in_memory(state) <= kExactDistinct)
    return;
  state->registers = static_cast<uint8 *>(MemoryContextAllocZero(state->context, kRegisters));
  for_each_block_in_memory(state, [state](const uint64 *hashes, Size count) {
    count_hashes(state->registers, hashes, count);
  });
  state->registered = state->count;
}

// Enters the array's new hashes into the registers.
void update_registers(State *state) {
  if (!state->registers)
    return;
  count_hashes(state->registers, state->hashes + state->registered,
               state->count - state->registered);
  state->registered = state->count;
}

// Radix exchange down to parts that take milliseconds.
void sort_interruptibly(uint64 *hashes, Size count, int bit) {
  CHECK_FOR_INTERRUPTS();
  if (count <= kCounting || bit < 0) {
    sort_hashes(hashes, count);
    return;
  }
  const Size clear = split_hashes(hashes, count, bit);
  sort_interruptibly(hashes, clear, bit - 1);
  sort_interruptibly(hashes + clear, count - clear, bit - 1);
}

void sort_array(State *state) {
  update_registers(state);
  sort_interruptibly(state->hashes, state->count, 63);
  state->count = unique_hashes(state->hashes, state->count);
  state->registered = state->count;
  start_registers(state);
}

void close_spill(Datum argument) {
  auto *state = reinterpret_cast<State *>(DatumGetPointer(argument));
  BufFileClose(state->spill);
  state->spill = nullptr;
}

// Moves everything in memory to the file.
void spill(FunctionCallInfo fcinfo, State *state) {
  Assert(state->registers);
  update_registers(state);
  if (!state->spill) {
    const MemoryContext before = MemoryContextSwitchTo(state->context);
    state->spill = BufFileCreateTemp(false);
    MemoryContextSwitchTo(before);
    AggRegisterCallback(fcinfo, close_spill, PointerGetDatum(state));
  }
  for_each_block_in_memory(state, [state](const uint64 *hashes, Size count) {
    BufFileWrite(state->spill, const_cast<uint64 *>(hashes), count * sizeof(uint64));
  });
  state->spilled += in_memory(state);
  state->count = state->registered = 0;
  if (state->set.slots) {
    memset(state->set.slots, 0, state->set.bytes());
    state->set.count = 0;
    state->set.has_zero = false;
  }
}

// How many hashes and slots a self-sized state may keep in memory. At least `least`: before it
// spills, it must know that it has more than kExactDistinct distinct hashes.
Size memory_limit(const State *state, Size least) {
  return state->may_spill ? Max(get_hash_memory_limit() / sizeof(uint64), least) : SIZE_MAX;
}

// Replaces the set, or the lack of one, by one of so many slots with the same hashes.
void resize_set(State *state, Size slot_count) {
  HashSet larger = {};
  larger.slot_count = slot_count;
  larger.slots = static_cast<uint64 *>(MemoryContextAllocExtended(
      state->context, larger.bytes(), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  auto *block = static_cast<uint64 *>(palloc(kBlock * sizeof(uint64)));
  Size next = 0;
  while (const Size count = read_distinct(state->set, &next, block, kBlock)) {
    CHECK_FOR_INTERRUPTS();
    insert_distinct(&larger, block, count);
  }
  pfree(block);
  if (state->set.slots)
    pfree(state->set.slots);
  state->set = larger;
  state->offered = state->accepted = 0;
}

// From a full array to a set, whose buffer it becomes; false if the array has too many distinct
// hashes, which then are still all there. The set takes at most twice as many slots, and replaces
// one half its size.
bool start_set(State *state) {
  update_registers(state);
  const Size buffer = Min(state->capacity, kBuffer);
  Size slot_count = kSetFrom;
  while (slot_count < 2 * buffer)
    slot_count *= 2;
  resize_set(state, slot_count);
  for (Size i = 0; i < state->count; i += buffer) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(state->count - i, buffer);
    if (!state->set.has_room(count)) {
      if (state->set.slot_count > state->count) {
        pfree(state->set.slots);
        state->set = {};
        return false;
      }
      resize_set(state, 2 * state->set.slot_count);
    }
    insert_distinct(&state->set, state->hashes + i, count);
  }
  state->count = state->registered = 0;
  resize_array(state, buffer);
  start_registers(state);
  return true;
}

// From the set back to the array.
void end_set(State *state) {
  update_registers(state);
  resize_array(state, in_memory(state));
  Size next = 0;
  state->count += read_distinct(state->set, &next, state->hashes + state->count, SIZE_MAX);
  state->registered = state->count;
  pfree(state->set.slots);
  state->set = {};
}

// Moves the array into the set.
void drain(FunctionCallInfo fcinfo, State *state) {
  CHECK_FOR_INTERRUPTS();
  if (!state->set.has_room(state->count)) {
    if (state->accepted > state->offered / 2) {
      end_set(state);
      return;
    }
    if (3 * state->set.slot_count <= memory_limit(state, 4 * kCounting)) // the old and the new
      resize_set(state, 2 * state->set.slot_count);
    else
      spill(fcinfo, state);
  }
  state->offered += state->count;
  const Size fresh = insert_distinct(&state->set, state->hashes, state->count);
  state->accepted += fresh;
  state->count = state->registered = 0;
  if (state->registers)
    count_hashes(state->registers, state->hashes, fresh);
  else
    start_registers(state);
}

// Are at most half of all hashes distinct?
bool mostly_repeated(State *state) {
  update_registers(state);
  const double distinct = state->registers ? estimate_distinct(state->registers)
                                           : sample_distinct(state->hashes, state->count);
  return distinct <= static_cast<double>(state->spilled + in_memory(state)) / 2;
}

// Leaves each hash in memory once.
void remove_repetitions(FunctionCallInfo fcinfo, State *state) {
  if (state->set.slots)
    drain(fcinfo, state);
  if (!state->set.slots)
    sort_array(state);
}

// Makes room in a self-sized state's full array.
void make_room_for_distinct(FunctionCallInfo fcinfo, State *state) {
  if (state->set.slots) {
    drain(fcinfo, state);
    if (state->count < state->capacity)
      return;
  }
  const Size full = state->count;
  if (full >= kSetFrom && mostly_repeated(state)) {
    if (4 * full <= memory_limit(state, 4 * kCounting) && start_set(state))
      return;
    sort_array(state);
  } else if (full >= kCounting && !state->registers) {
    sort_array(state);
  }
  if (state->count <= full / 4 * 3)
    return;
  const Size limit = state->registers ? memory_limit(state, kCounting) : SIZE_MAX;
  if (full < limit)
    resize_array(state, Min(full * 2, limit));
  else
    spill(fcinfo, state);
}

// Makes room in a full array.
pg_noinline void make_room(FunctionCallInfo fcinfo, State *state) {
  if (state->capacity == 0)
    resize_array(state, kFirstCapacity);
  else if (state->self_sized)
    make_room_for_distinct(fcinfo, state);
  else if (state->capacity < kBuffer)
    resize_array(state, state->capacity * 2);
  else
    flush(state);
}

// Takes in a family, or raises an error.
pg_noinline void admit(State *state, const Element *element) {
  check_element(state->header, element, "value");
  adopt_family(&state->header, member_header(element));
}

inline void push(FunctionCallInfo fcinfo, State *state, uint64 hash) {
  if (unlikely(state->count == state->capacity))
    make_room(fcinfo, state);
  state->hashes[state->count++] = hash;
}

pg_noinline void push_second(FunctionCallInfo fcinfo, State *state, Element *element) {
  const SecondHash second = second_hash(element, PG_GETARG_DATUM(1), state->header.seed);
  if (second.exists)
    push(fcinfo, state, second.hash);
}

inline void push_digest(FunctionCallInfo fcinfo, State *state, const Digest &digest) {
  push(fcinfo, state, digest.first);
  if (digest_words(state->header.geometry.layout) > 1)
    push(fcinfo, state, digest.second);
}

// A value's digests, of a state for another system's layout.
pg_noinline void push_foreign(FunctionCallInfo fcinfo, State *state, Element *element) {
  const Layout layout = state->header.geometry.layout;
  const Datum value = PG_GETARG_DATUM(1);
  Digest digest;
  if (likely(state->admitted == element->family && !element->varying &&
             hash_quickly(element, value, layout, &digest))) {
    push_digest(fcinfo, state, digest);
    return;
  }
  const Hashes hashes = hash_foreign(element, value, layout, true);
  check_element(state->header, element, "value");
  if (unlikely(hashes.no_value))
    raise_no_value(state->header);
  adopt_family(&state->header, member_header(element));
  state->admitted = element->family;
  for (int i = 0; i < hashes.count; i++)
    push_digest(fcinfo, state, hashes.digest[i]);
}

// Calls use(hashes, count) for all hashes that a state keeps, in blocks, and leaves it as it was.
template <typename F> void for_each_block(State *state, F use) {
  for_each_block_in_memory(state, use);
  if (!state->spill)
    return;
  int file;
  off_t offset;
  BufFileTell(state->spill, &file, &offset);
  if (BufFileSeek(state->spill, 0, 0, SEEK_SET) != 0)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not rewind temporary file: %m")));
  auto *block = static_cast<uint64 *>(palloc(kBlock * sizeof(uint64)));
  for (uint64 left = state->spilled; left > 0;) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(left, kBlock);
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
Header sized_header(FunctionCallInfo fcinfo, State *state) {
  if (!state->registers)
    remove_repetitions(fcinfo, state);
  update_registers(state);
  const uint64 expected = state->registers ? padded_capacity(estimate_distinct(state->registers))
                                           : Max(in_memory(state), Size{1});
  Header header = state->header;
  header.expected = expected;
  header.flags = kFlagOwn;
  if (!size_for_capacity(expected, header.rate, &header.geometry))
    raise_too_large(Layout::lines, expected, header.rate, ERRCODE_PROGRAM_LIMIT_EXCEEDED);
  return header;
}

State *state_arg(FunctionCallInfo fcinfo, int argument) {
  return PG_ARGISNULL(argument) ? nullptr : reinterpret_cast<State *>(PG_GETARG_POINTER(argument));
}

pg_noinline State *make_call_state(FunctionCallInfo fcinfo, Target target) {
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
  kAtLayout = 3,
  kAtShape = 4,
  kAtExpected = 8,
  kAtRate = 16,
  kWireHead = 24,
};

Size wire_size(const State *state) {
  return VARHDRSZ + kWireHead + (state->bitmap ? state->header.geometry.bytes() : 0) +
         (state->spilled + in_memory(state)) * sizeof(uint64);
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_agg_trans);
Datum bf_agg_trans(PG_FUNCTION_ARGS) {
  State *state = state_arg(fcinfo, 0);
  if (unlikely(!state))
    state = make_call_state(fcinfo, target_with_layout(fcinfo));
  else if (PG_NARGS() > 2) {
    if (unlikely(!agrees(state, target_of(fcinfo))) ||
        (PG_NARGS() > 4 && !layout_is_constant(fcinfo)))
      check_target(state, target_with_layout(fcinfo));
  }

  if (!PG_ARGISNULL(1)) {
    Element *element = argument_element(fcinfo, 1);
    if (unlikely(is_foreign(state->header.geometry.layout))) {
      push_foreign(fcinfo, state, element);
      PG_RETURN_POINTER(state);
    }
    const uint64 hash = hash_element(element, PG_GETARG_DATUM(1), state->header.seed);
    if (unlikely(!fits(state->header, element)))
      admit(state, element);
    push(fcinfo, state, hash);
    if (unlikely(element->varying))
      push_second(fcinfo, state, element);
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
    unite_bitmaps(state->bitmap, other->bitmap, state->header.geometry.bytes());
  }
  for_each_block(other, [fcinfo, state](const uint64 *hashes, Size count) {
    for (Size i = 0; i < count; i++)
      push(fcinfo, state, hashes[i]);
  });
  PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(bf_agg_serial);
Datum bf_agg_serial(PG_FUNCTION_ARGS) {
  auto *state = reinterpret_cast<State *>(PG_GETARG_POINTER(0));
  if (state->self_sized && mostly_repeated(state))
    remove_repetitions(fcinfo, state);
  if (state->bitmap && state->count > 0)
    flush(state);

  // What was spilled may repeat itself; a state without a file takes its part, distinct.
  if (state->spill && (mostly_repeated(state) || !AllocSizeIsValid(wire_size(state)))) {
    State *distinct = make_state(CurrentMemoryContext, false, target_of(state));
    distinct->header = state->header;
    for_each_block(state, [fcinfo, distinct](const uint64 *hashes, Size count) {
      for (Size i = 0; i < count; i++)
        push(fcinfo, distinct, hashes[i]);
    });
    remove_repetitions(fcinfo, distinct);
    state = distinct;
  }
  const Size size = wire_size(state);
  if (!AllocSizeIsValid(size))
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("partial state of bf_agg is too large to be combined: " UINT64_FORMAT " hashes",
                    state->spilled + in_memory(state)),
             errhint("Give the expected number of values: bf_agg(value, expected).")));

  auto *result = static_cast<bytea *>(palloc(size));
  SET_VARSIZE(result, size);
  auto *wire = reinterpret_cast<uint8 *>(VARDATA(result));
  memset(wire, 0, kWireHead);
  wire[kAtSelfSized] = state->self_sized;
  wire[kAtHasBitmap] = state->bitmap != nullptr;
  wire[kAtFamily] = static_cast<uint8>(state->header.family);
  wire[kAtLayout] = static_cast<uint8>(layout_of(state));
  store(wire + kAtShape, state->header.shape);
  store(wire + kAtExpected, state->header.expected);
  store(wire + kAtRate, double_bits(state->header.rate));
  wire += kWireHead;
  if (state->bitmap) {
    memcpy(wire, state->bitmap, state->header.geometry.bytes());
    wire += state->header.geometry.bytes();
  }
  for_each_block(state, [&wire](const uint64 *hashes, Size count) {
    for (Size i = 0; i < count; i++, wire += sizeof(uint64))
      store(wire, hashes[i]);
  });
  PG_RETURN_BYTEA_P(result);
}

PG_FUNCTION_INFO_V1(bf_agg_deserial);
Datum bf_agg_deserial(PG_FUNCTION_ARGS) {
  const bytea *bytes = PG_GETARG_BYTEA_PP(0);
  const auto *wire = reinterpret_cast<const uint8 *>(VARDATA_ANY(bytes));
  Size length = VARSIZE_ANY_EXHDR(bytes);
  if (length < kWireHead || wire[kAtFamily] > static_cast<uint8>(kLastFamily) ||
      wire[kAtLayout] > static_cast<uint8>(kLastLayout))
    elog(ERROR, "invalid serialized state of bf_agg");

  const Target target = {wire[kAtSelfSized] != 0, load<int64>(wire + kAtExpected),
                         bits_double(load<uint64>(wire + kAtRate)),
                         static_cast<Layout>(wire[kAtLayout])};
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
  state->wire = wire;
  state->wire_count = length / sizeof(uint64);
  PG_RETURN_POINTER(state);
}

PG_FUNCTION_INFO_V1(bf_agg_final);
Datum bf_agg_final(PG_FUNCTION_ARGS) {
  State *state = state_arg(fcinfo, 0);
  if (!state) // no rows: nothing says which size, and the filter stays empty
    state = make_state(CurrentMemoryContext, false, {true, 0, kDefaultRate, Layout::lines});

  Filter filter = make_filter(state->self_sized ? sized_header(fcinfo, state) : state->header);
  if (state->bitmap)
    memcpy(filter.bitmap(), state->bitmap, filter.header.geometry.bytes());
  for_each_block(state,
                 [&filter](const uint64 *hashes, Size count) { filter.add_many(hashes, count); });
  if (!state->self_sized)
    check_overfill(filter);
  return filter.datum();
}

SQL_FUNCTIONS_END
