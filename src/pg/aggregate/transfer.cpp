#include "pg/aggregate/transfer.hpp"

#include "pg/value/memory.hpp"

namespace bloomfilter {
namespace {

// What a serialized state begins with. A sized state's bitmap follows if it has one, then its bag.
struct Head {
  bool self_sized : 1;
  bool has_bitmap : 1;
  WireForm form;
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
  if (head.family > kLastFamily || head.form > WireForm::file ||
      !is_layout(static_cast<uint8>(head.layout)) || !is_family_of(head.layout, head.family))
    raise_invalid_state();
  return head;
}

State *state_of(const Head &head) {
  const Parameters parameters = {head.self_sized, static_cast<double>(head.expected), head.rate,
                                 head.layout, scheme_of(head.layout, head.family).empty};
  State *state = make_state(CurrentMemoryContext, parameters);
  state->header.element = {head.family, head.shape};
  return state;
}

} // namespace

bytea *serialize_state(FunctionCallInfo fcinfo, State *state) {
  if (state->keeps_bag() && mostly_repeated(&state->bag))
    remove_repetitions(fcinfo, &state->bag);
  const Header &header = state->header;
  const Size bitmap_bytes = header.geometry.bytes();
  if (!state->keeps_bag() && (state->bitmap || state->bag.count * sizeof(uint64) >= bitmap_bytes))
    flush(state);

  const WireForm form = settle_wire(fcinfo, &state->bag);
  const Head head = {state->self_sized,      state->bitmap != nullptr, form,
                     header.element.family,  layout_of(state),         header.element.shape,
                     header.capacity.values, header.capacity.rate};
  const Size size =
      VARHDRSZ + sizeof head + (state->bitmap ? bitmap_bytes : 0) + wire_size(&state->bag, form);
  auto *result = static_cast<bytea *>(palloc(size));
  SET_VARSIZE(result, size);
  auto *bytes = reinterpret_cast<uint8 *>(VARDATA(result));
  memcpy(bytes, &head, sizeof head);
  bytes += sizeof head;
  if (state->bitmap) {
    move_memory(bytes, state->bitmap, bitmap_bytes);
    bytes += bitmap_bytes;
  }
  write_wire(&state->bag, form, bytes);
  return result;
}

State *deserialize_state(const bytea *value) {
  const auto *bytes = reinterpret_cast<const uint8 *>(VARDATA_ANY(value));
  Size length = VARSIZE_ANY_EXHDR(value);
  const Head head = checked_head(bytes, length);
  State *state = state_of(head);
  bytes += sizeof head;
  length -= sizeof head;

  if (head.has_bitmap) {
    const Size bitmap_bytes = state->header.geometry.bytes();
    if (state->self_sized || length < bitmap_bytes)
      raise_invalid_state();
    state->bitmap = const_cast<uint8 *>(bytes); // nothing writes into what is read
    bytes += bitmap_bytes;
    length -= bitmap_bytes;
  }
  if (!read_wire(&state->bag, head.form, bytes, length) ||
      (!state->keeps_bag() && head.form == WireForm::file))
    raise_invalid_state();
  return state;
}

} // namespace bloomfilter
