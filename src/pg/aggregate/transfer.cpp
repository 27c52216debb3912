// See transfer.hpp. Only processes of the same query write and read the bytes.

#include "pg/aggregate/transfer.hpp"

#include "pg/list.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "utils/guc.h"
}

namespace bloomfilter {
namespace {

// A message is copied four times on its way. A file is faster for a bitmap of more bytes than this.
constexpr Size kMostInMessage = 1024 * 1024;

// The start of a serialized state. If the state has a bitmap, the bitmap follows, or the name of
// the file that has it. The bag comes last.
struct Head {
  bool self_sized : 1;
  bool has_bitmap : 1;
  bool bitmap_in_file : 1;
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

// A state of this process that was handed over. A callback removes it from the list when its memory
// context is reset or deleted.
struct HandedOverState {
  uint64 number;
  State *state;
  MemoryContextCallback forget;
  HandedOverState *next;
};

HandedOverState *handed_over_states = nullptr;

void forget_handed_over_state(void *argument) {
  const auto *forgotten = static_cast<HandedOverState *>(argument);
  HandedOverState **place = &handed_over_states;
  while (*place != forgotten)
    place = &(*place)->next;
  *place = forgotten->next;
}

State *find_handed_over_state(uint64 number) {
  for (const HandedOverState *entry = handed_over_states; entry; entry = entry->next)
    if (entry->number == number)
      return entry->state;
  raise_invalid_state();
}

// True if a state's bitmap is handed over in a file. It is not if temp_file_limit is set,
// because the limit must not make the query fail. If nobody reads the file, the leader's
// transaction deletes it.
bool bitmap_goes_by_file(const State *state) {
  return state->bitmap && state->header.geometry.bytes() > kMostInMessage &&
         state->bag.memory.transfer != FileTransfer::none && temp_file_limit < 0;
}

// Writes the bitmap to a file for another process.
SharedFileName give_bitmap(const State *state) {
  SharedFile *shared = create_shared_file(state->bag.memory.context, CurrentResourceOwner);
  BufFileWrite(shared->file, state->bitmap, state->header.geometry.bytes());
  return give_shared_file(shared);
}

State *received_state_of(const Head &head) {
  const Parameters parameters = {head.self_sized, static_cast<double>(head.expected), head.rate,
                                 head.layout, scheme_of(head.layout, head.family).empty};
  State *state = make_state({CurrentMemoryContext}, parameters);
  state->header.element_type = {head.family, head.shape};
  return state;
}

} // namespace

FileTransfer file_transfer(FunctionCallInfo fcinfo) {
  if (!IsA(fcinfo->context, AggState))
    return FileTransfer::none; // a window
  const auto *aggregate = castNode(AggState, fcinfo->context);
  if (!DO_AGGSPLIT_SERIALIZE(aggregate->aggsplit) || DO_AGGSPLIT_COMBINE(aggregate->aggsplit))
    return FileTransfer::none;
  // A hash table serializes its states again if a rescan finds that nothing below has changed. So
  // the file of a state must stay. In a worker it may go, because workers end before a rescan.
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

  const bool in_file = bitmap_goes_by_file(state);
  const PreparedBag bag = prepare_bag(&state->bag);
  const Head head = {state->self_sized(),
                     state->bitmap && !in_file,
                     in_file,
                     bag.form,
                     header.element_type.family,
                     layout_of(state),
                     header.element_type.shape,
                     header.capacity.values,
                     header.capacity.rate};
  bytea *result = new_value(sizeof head + (head.has_bitmap ? bitmap_bytes : 0) +
                            (in_file ? sizeof(SharedFileName) : 0) + bag.bytes());
  auto *bytes = reinterpret_cast<uint8 *>(VARDATA(result));
  memcpy(bytes, &head, sizeof head);
  bytes += sizeof head;
  if (head.has_bitmap) {
    move_memory(bytes, state->bitmap, bitmap_bytes);
    bytes += bitmap_bytes;
  }
  if (in_file) {
    const SharedFileName name = give_bitmap(state);
    memcpy(bytes, &name, sizeof name);
    bytes += sizeof name;
  }
  write_bag(bag, bytes);
  return result;
}

bytea *hand_over_state(State *state) {
  if (state->bag.spill)
    return serialize_state(state);
  state->handed_over = true;
  static uint64 handed_over_before = 0;
  auto *entry = make_array<HandedOverState>(1, state->bag.memory.context);
  *entry = {
      ++handed_over_before, state, {forget_handed_over_state, entry, nullptr}, handed_over_states};
  handed_over_states = entry;
  MemoryContextRegisterResetCallback(state->bag.memory.context, &entry->forget);

  return make_value(&entry->number, sizeof entry->number);
}

State *deserialize_state(const bytea *value) {
  const auto *bytes = reinterpret_cast<const uint8 *>(VARDATA_ANY(value));
  const Size length = VARSIZE_ANY_EXHDR(value);
  if (length == sizeof(uint64)) {
    uint64 number;
    memcpy(&number, bytes, sizeof number);
    return find_handed_over_state(number);
  }
  const Head head = checked_head(bytes, length);
  State *state = received_state_of(head);
  const uint8 *content = bytes + sizeof head;
  if (head.bitmap_in_file) {
    if (head.self_sized || length < sizeof head + sizeof(SharedFileName))
      raise_invalid_state();
    auto *name = make_array<SharedFileName>(1);
    memcpy(name, content, sizeof *name);
    state->bitmap_file = name;
    content += sizeof *name;
  }
  if (!read_content(state, head.has_bitmap, head.form, content, bytes + length - content))
    raise_invalid_state();
  return state;
}

} // namespace bloomfilter
