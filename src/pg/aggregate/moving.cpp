// cbf_agg in a window whose frame moves: a row that leaves the frame is removed again.
//
// What a state keeps can be taken back exactly. Given a capacity, these are the filter's counters,
// of 16 bits each, which the final function clips to the 4 that a filter has; beyond its highest, a
// counter goes on in a hash table. Sizing itself, the state keeps each distinct hash and how often
// it is there, for the size depends on their number.
//
// Over the same rows the result is that of cbf_agg without a window, byte for byte.

#include "pg/server.hpp"

#include "core/counting.hpp"
#include "core/distinct.hpp"
#include "pg/aggregate/parameters.hpp"
#include "pg/element/digests.hpp"
#include "pg/element/family.hpp"
#include "pg/value/call_site.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/overfill.hpp"

extern "C" {
#include "utils/hsearch.h"
#include "utils/memutils.h"
}

using namespace bloomfilter;

namespace {

struct Count {
  uint64 key; // a hash, or the number of a counter
  uint64 times;
};

struct Window {
  Parameters parameters;
  Header header;
  uint64 values;    // in the frame, of those that are not NULL
  uint16 *counters; // given a capacity
  HTAB *counts; // of Count: sizing itself, of hashes; else, once needed, of counters beyond 16 bits
};

Size counters_of(const Geometry &geometry) {
  return static_cast<Size>(geometry.bits() / kCounterBits);
}

HTAB *make_counts(MemoryContext context) {
  HASHCTL control = {};
  control.keysize = sizeof(uint64);
  control.entrysize = sizeof(Count);
  control.hcxt = context;
  return hash_create("cbf_agg window", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

void count_up(HTAB *counts, uint64 key) {
  bool found;
  auto *count = static_cast<Count *>(hash_search(counts, &key, HASH_ENTER, &found));
  count->times = found ? count->times + 1 : 1;
}

// False if it is not there.
bool count_down(HTAB *counts, uint64 key) {
  auto *count = static_cast<Count *>(hash_search(counts, &key, HASH_FIND, nullptr));
  if (!count)
    return false;
  if (--count->times == 0)
    hash_search(counts, &key, HASH_REMOVE, nullptr);
  return true;
}

Window *make_window(FunctionCallInfo fcinfo, const Parameters &parameters) {
  MemoryContext context;
  if (AggCheckCallContext(fcinfo, &context) != AGG_CONTEXT_WINDOW)
    elog(ERROR, "moving aggregate function called outside a window");
  const Header header = header_for(parameters);
  auto *window = static_cast<Window *>(MemoryContextAllocZero(context, sizeof(Window)));
  window->parameters = parameters;
  window->header = header;
  if (parameters.self_sized)
    window->counts = make_counts(context);
  else
    window->counters = static_cast<uint16 *>(MemoryContextAllocExtended(
        context, counters_of(header.geometry) * sizeof(uint16), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  return window;
}

Digests digests_of_row(FunctionCallInfo fcinfo, Window *window) {
  const HashedArgument argument = hashed_argument(fcinfo, window->header, 1, Use::add);
  adopt_family(&window->header, *argument.element);
  return argument.digests;
}

void enter_counter(Window *window, uint32 number) {
  if (window->counters[number] < PG_UINT16_MAX) {
    window->counters[number]++;
    return;
  }
  if (!window->counts)
    window->counts = make_counts(GetMemoryChunkContext(window));
  count_up(window->counts, number);
}

bool leave_counter(Window *window, uint32 number) {
  uint16 &counter = window->counters[number];
  if (counter == PG_UINT16_MAX && window->counts && count_down(window->counts, number))
    return true;
  if (counter == 0)
    return false;
  counter--;
  return true;
}

void enter(Window *window, uint64 hash) {
  if (!window->counters) {
    count_up(window->counts, hash);
    return;
  }
  uint32 numbers[kMaxK];
  const int count = counter_numbers(window->header.geometry, hash, numbers);
  for (int i = 0; i < count; i++)
    enter_counter(window, numbers[i]);
}

// False if the hash did not enter: a function in the arguments need not be as immutable as it says.
// The window is then good for nothing.
bool leave(Window *window, uint64 hash) {
  if (!window->counters)
    return count_down(window->counts, hash);
  uint32 numbers[kMaxK];
  const int count = counter_numbers(window->header.geometry, hash, numbers);
  for (int i = 0; i < count; i++)
    if (!leave_counter(window, numbers[i]))
      return false;
  return true;
}

// Calls use(hash, times) for all hashes of a window that sizes itself.
template <typename Use> void for_each_count(const Window *window, Use use) {
  HASH_SEQ_STATUS scan;
  hash_seq_init(&scan, window->counts);
  while (const auto *count = static_cast<const Count *>(hash_seq_search(&scan))) {
    CHECK_FOR_INTERRUPTS();
    use(count->key, count->times);
  }
}

Filter finish_counts(const Window *window) {
  auto expected = static_cast<uint64>(hash_get_num_entries(window->counts));
  if (expected > kExactDistinct) {
    auto *registers = static_cast<uint8 *>(palloc0(kRegisters));
    for_each_count(window, [registers](uint64 hash, uint64) { count_hash(registers, hash); });
    expected = padded_capacity(estimate_distinct(registers));
    pfree(registers);
  }
  OwnFilter filter = make_filter(self_sized(window->header, expected));
  for_each_count(window, [&filter](uint64 hash, uint64 times) {
    for (uint64 i = 0; i < Min(times, uint64{kMaxCounter}); i++)
      filter.add_many(&hash, 1);
  });
  return filter;
}

Filter finish_counters(const Window *window) {
  OwnFilter filter = make_filter(window->header);
  const Size count = counters_of(window->header.geometry);
  constexpr Size kCountersStep = kStep / kCounterLineBytes * kLineBits;
  for (Size at = 0; at < count; at += kCountersStep) {
    CHECK_FOR_INTERRUPTS();
    pack_counters(window->counters + at, Min(count - at, kCountersStep),
                  filter.bitmap() + at / kLineBits * kCounterLineBytes);
  }
  if (window->values > filter.header.capacity.values) // else there is no need to count
    check_overfill(filter, Origin::built);
  return filter;
}

Window *window_arg(FunctionCallInfo fcinfo) {
  return PG_ARGISNULL(0) ? nullptr : reinterpret_cast<Window *>(PG_GETARG_POINTER(0));
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(countingbloomfilter_agg_window);
Datum countingbloomfilter_agg_window(PG_FUNCTION_ARGS) {
  Window *window = window_arg(fcinfo);
  const Parameters parameters = parameters_of_row(fcinfo, Layout::counting_lines);
  if (!window)
    window = make_window(fcinfo, parameters);
  else if (!(parameters == window->parameters))
    raise_parameters_differ(window->parameters, parameters);
  if (!PG_ARGISNULL(1)) {
    const Digests digests = digests_of_row(fcinfo, window);
    for (int i = 0; i < digests.count; i++)
      enter(window, digests.digest[i].first);
    window->values++;
  }
  PG_RETURN_POINTER(window);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_agg_inverse);
Datum countingbloomfilter_agg_inverse(PG_FUNCTION_ARGS) {
  Window *window = window_arg(fcinfo);
  if (!window)
    elog(ERROR, "inverse transition function of cbf_agg called without a state");
  if (!PG_ARGISNULL(1)) {
    const Digests digests = digests_of_row(fcinfo, window);
    bool left = window->values > 0;
    for (int i = 0; i < digests.count && left; i++)
      left = leave(window, digests.digest[i].first);
    if (!left)
      PG_RETURN_NULL(); // begin anew
    if (--window->values == 0)
      window->header.element = {};
  }
  PG_RETURN_POINTER(window);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_agg_window_final);
Datum countingbloomfilter_agg_window_final(PG_FUNCTION_ARGS) {
  const Window *window = window_arg(fcinfo);
  if (!window)
    return filter_without_values(parameters_in_query(fcinfo, Layout::counting_lines)).datum();
  if (window->parameters.self_sized && window->values == 0)
    return filter_without_values(window->parameters).datum();
  return (window->parameters.self_sized ? finish_counts : finish_counters)(window).datum();
}

SQL_FUNCTIONS_END
