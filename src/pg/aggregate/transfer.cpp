#include "pg/aggregate/transfer.hpp"

#include "pg/value/memory.hpp"

extern "C" {
#include "access/parallel.h"
#include "nodes/execnodes.h"
}

namespace bloomfilter {
namespace {

// What a serialized state begins with. A sized state's bitmap follows if it has one, then its bag.
struct Head {
  bool self_sized : 1;
  bool has_bitmap : 1;
  BagForm form;
  Family family;
  Layout layout;
  uint32 shape;
  uint64 expected;
  double rate;
};

[[noreturn]] void raise_invalid_state() {
  elog(ERROR, "invalid serialized state of an aggregate");
}

Head checked_head(const uint8 *bytes, Size length) {
  Head head;
  if (length < sizeof head)
    raise_invalid_state();
  memcpy(&head, bytes, sizeof head);
  if (head.family > kLastFamily || head.form > BagForm::file ||
      !is_layout(static_cast<uint8>(head.layout)) || !is_family_of(head.layout, head.family))
    raise_invalid_state();
  return head;
}

State *state_of(const Head &head) {
  const Parameters parameters = {head.self_sized, static_cast<double>(head.expected), head.rate,
                                 head.layout, scheme_of(head.layout, head.family).empty};
  State *state = make_state({CurrentMemoryContext}, parameters);
  state->header.element = {head.family, head.shape};
  return state;
}

} // namespace

FileTransfer file_transfer(FunctionCallInfo fcinfo) {
  if (!IsA(fcinfo->context, AggState))
    return FileTransfer::none; // a window
  const auto *aggregate = castNode(AggState, fcinfo->context);
  if (!DO_AGGSPLIT_SERIALIZE(aggregate->aggsplit) || DO_AGGSPLIT_COMBINE(aggregate->aggsplit))
    return FileTransfer::none;
  // A hash table hands its states out again if a rescan finds nothing changed below it. Workers end
  // before a rescan.
  const bool rescannable = aggregate->aggstrategy == AGG_HASHED && !IsParallelWorker();
  return rescannable ? FileTransfer::copy : FileTransfer::move;
}

bytea *serialize_state(State *state) {
  if (state->keeps_bag() && mostly_repeated(&state->bag))
    remove_repetitions(&state->bag);
  const Header &header = state->header;
  const Size bitmap_bytes = header.geometry.bytes();
  if (!state->keeps_bag() &&
      (state->bitmap || state->bag.array.count * sizeof(uint64) >= bitmap_bytes))
    flush(state);

  const SettledBag bag = settle_bag(&state->bag);
  const Head head = {state->self_sized,      state->bitmap != nullptr, bag.form,
                     header.element.family,  layout_of(state),         header.element.shape,
                     header.capacity.values, header.capacity.rate};
  const Size size = VARHDRSZ + sizeof head + (state->bitmap ? bitmap_bytes : 0) + bag.bytes();
  auto *result = static_cast<bytea *>(palloc(size));
  SET_VARSIZE(result, size);
  auto *bytes = reinterpret_cast<uint8 *>(VARDATA(result));
  memcpy(bytes, &head, sizeof head);
  bytes += sizeof head;
  if (state->bitmap) {
    move_memory(bytes, state->bitmap, bitmap_bytes);
    bytes += bitmap_bytes;
  }
  write_bag(bag, bytes);
  return result;
}

State *deserialize_state(const bytea *value) {
  const auto *bytes = reinterpret_cast<const uint8 *>(VARDATA_ANY(value));
  const Size length = VARSIZE_ANY_EXHDR(value);
  const Head head = checked_head(bytes, length);
  State *state = state_of(head);
  if (!read_content(state, head.has_bitmap, head.form, bytes + sizeof head, length - sizeof head))
    raise_invalid_state();
  return state;
}

} // namespace bloomfilter
