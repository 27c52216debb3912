// cbf_agg in a window whose frame moves: a row that leaves the frame is removed again.
//
// Everything that the state keeps of a row can be taken back exactly. If a capacity is given, that
// is the filter's counters. They have 16 bits, which the final function clips to the 4 that a
// filter has; beyond 16 bits, a counter goes on in a hash table. If the filter sizes itself, the
// state keeps each distinct hash and how often it is there, because the size depends on their
// number.
//
// Over the same rows the result is that of cbf_agg without a window, byte for byte, unless values
// were chosen to mislead the estimate of their number (pg/aggregate/registers.hpp).

#include "pg/server.hpp"

#include "core/counting.hpp"
#include "pg/aggregate/parameters.hpp"
#include "pg/aggregate/registers.hpp"
#include "pg/element/digests.hpp"
#include "pg/element/family.hpp"
#include "pg/value/call_site.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/make.hpp"
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

struct Frame {
  Parameters parameters;
  Header header;
  uint64 values;    // in the frame, without NULLs
  uint16 *counters; // if a capacity is given
  HTAB *counts;     // of Count: for hashes, if the filter sizes itself; else for counters, from the
                    // first one beyond 16 bits on
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

// False if the key is not there.
bool count_down(HTAB *counts, uint64 key) {
  auto *count = static_cast<Count *>(hash_search(counts, &key, HASH_FIND, nullptr));
  if (!count)
    return false;
  if (--count->times == 0)
    hash_search(counts, &key, HASH_REMOVE, nullptr);
  return true;
}

Frame *make_frame(FunctionCallInfo fcinfo, const Parameters &parameters) {
  MemoryContext context;
  if (AggCheckCallContext(fcinfo, &context) != AGG_CONTEXT_WINDOW)
    elog(ERROR, "moving aggregate function called outside a window");
  const Header header = header_for(parameters);
  auto *frame = static_cast<Frame *>(MemoryContextAllocZero(context, sizeof(Frame)));
  frame->parameters = parameters;
  frame->header = header;
  if (parameters.self_sized)
    frame->counts = make_counts(context);
  else
    frame->counters = static_cast<uint16 *>(MemoryContextAllocExtended(
        context, counters_of(header.geometry) * sizeof(uint16), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  return frame;
}

Digests digests_of_row(FunctionCallInfo fcinfo, Frame *frame) {
  const HashedArgument argument = hashed_argument(fcinfo, frame->header, 1, Use::add);
  adopt_family(&frame->header, *argument.element);
  return argument.digests;
}

void enter_counter(Frame *frame, uint32 number) {
  if (frame->counters[number] < PG_UINT16_MAX) {
    frame->counters[number]++;
    return;
  }
  if (!frame->counts)
    frame->counts = make_counts(GetMemoryChunkContext(frame));
  count_up(frame->counts, number);
}

bool leave_counter(Frame *frame, uint32 number) {
  uint16 &counter = frame->counters[number];
  if (counter == PG_UINT16_MAX && frame->counts && count_down(frame->counts, number))
    return true;
  if (counter == 0)
    return false;
  counter--;
  return true;
}

void enter(Frame *frame, uint64 hash) {
  if (!frame->counters) {
    count_up(frame->counts, hash);
    return;
  }
  uint32 numbers[kMaxK];
  const int count = counter_numbers(frame->header.geometry, hash, numbers);
  for (int i = 0; i < count; i++)
    enter_counter(frame, numbers[i]);
}

// False if the hash never entered, because a function in the arguments is not as immutable as it
// says. The frame is of no use then.
bool leave(Frame *frame, uint64 hash) {
  if (!frame->counters)
    return count_down(frame->counts, hash);
  uint32 numbers[kMaxK];
  const int count = counter_numbers(frame->header.geometry, hash, numbers);
  for (int i = 0; i < count; i++)
    if (!leave_counter(frame, numbers[i]))
      return false;
  return true;
}

// Calls use(hash, times) for all hashes of a frame whose filter sizes itself.
template <typename Use> void for_each_count(const Frame *frame, Use use) {
  HASH_SEQ_STATUS scan;
  hash_seq_init(&scan, frame->counts);
  while (const auto *count = static_cast<const Count *>(hash_seq_search(&scan))) {
    CHECK_FOR_INTERRUPTS();
    use(count->key, count->times);
  }
}

Filter finish_counts(const Frame *frame) {
  const auto exact = static_cast<Size>(hash_get_num_entries(frame->counts));
  uint8 *registers = make_registers(CurrentMemoryContext, exact);
  if (registers)
    for_each_count(frame, [registers](uint64 hash, uint64) { count_hash(registers, hash); });
  const uint64 distinct = distinct_to_size_for(registers, exact);
  if (registers)
    pfree(registers);
  NewFilter filter = make_filter(self_sized(frame->header, distinct));
  for_each_count(frame, [&filter](uint64 hash, uint64 times) {
    for (uint64 i = 0; i < Min(times, uint64{kMaxCounter}); i++)
      filter.add_many(&hash, 1);
  });
  return filter;
}

Filter finish_counters(const Frame *frame) {
  NewFilter filter = make_filter(frame->header);
  const Size count = counters_of(frame->header.geometry);
  constexpr Size kCountersStep = kStep / kCounterLineBytes * kLineBits;
  for (Size at = 0; at < count; at += kCountersStep) {
    CHECK_FOR_INTERRUPTS();
    pack_counters(frame->counters + at, Min(count - at, kCountersStep),
                  filter.bitmap() + at / kLineBits * kCounterLineBytes);
  }
  if (frame->values > filter.header.capacity.values) // else no count of its bits is needed
    check_overfill(filter, Origin::built);
  return filter;
}

Frame *frame_arg(FunctionCallInfo fcinfo) {
  return PG_ARGISNULL(0) ? nullptr : reinterpret_cast<Frame *>(PG_GETARG_POINTER(0));
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(countingbloomfilter_agg_window);
Datum countingbloomfilter_agg_window(PG_FUNCTION_ARGS) {
  Frame *frame = frame_arg(fcinfo);
  const Parameters parameters = parameters_of_row(fcinfo, Layout::counting_lines);
  if (!frame)
    frame = make_frame(fcinfo, parameters);
  else if (!(parameters == frame->parameters))
    raise_parameters_differ(frame->parameters, parameters);
  if (!PG_ARGISNULL(1)) {
    const Digests digests = digests_of_row(fcinfo, frame);
    for (int i = 0; i < digests.count; i++)
      enter(frame, digests.digest[i].first);
    frame->values++;
  }
  PG_RETURN_POINTER(frame);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_agg_inverse);
Datum countingbloomfilter_agg_inverse(PG_FUNCTION_ARGS) {
  Frame *frame = frame_arg(fcinfo);
  if (!frame)
    elog(ERROR, "inverse transition function of cbf_agg called without a state");
  if (!PG_ARGISNULL(1)) {
    const Digests digests = digests_of_row(fcinfo, frame);
    bool left = frame->values > 0;
    for (int i = 0; i < digests.count && left; i++)
      left = leave(frame, digests.digest[i].first);
    if (!left)
      PG_RETURN_NULL(); // so that the server begins anew
    if (--frame->values == 0)
      frame->header.element = {};
  }
  PG_RETURN_POINTER(frame);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_agg_window_final);
Datum countingbloomfilter_agg_window_final(PG_FUNCTION_ARGS) {
  const Frame *frame = frame_arg(fcinfo);
  if (!frame)
    return filter_without_values(parameters_in_query(fcinfo, Layout::counting_lines)).datum();
  if (frame->parameters.self_sized && frame->values == 0)
    return filter_without_values(frame->parameters).datum();
  return (frame->parameters.self_sized ? finish_counts : finish_counters)(frame).datum();
}

SQL_FUNCTIONS_END
