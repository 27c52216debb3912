// See parcel.hpp.

#include "pg/aggregate/parcel.hpp"

#include "pg/list.hpp"
#include "pg/value/bitmaps.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "utils/guc.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// A message is copied four times on its way, and cannot have 1 GB. A file is faster for a bitmap or
// for hashes of more bytes than these.
constexpr Size kMostOfBitmap = 1024 * 1024;
constexpr Size kMostOfHashes = 8 * 1024 * 1024;

constexpr Size kFilePart = 64 * 1024; // bytes of a file that are read together

[[noreturn]] void raise_invalid_state() {
  elog(ERROR, "invalid serialized state of an aggregate");
}

// --- messages ------------------------------------------------------------------------------------

// The start of a message. The registers follow, if there are any. Then come the bitmap or the
// hashes; or the number of hashes and the name of the file; or the pointer to the state.
struct Head {
  Content content : 2;
  Place place : 2;
  bool counted : 1; // true if there are registers
  FileTransfer transfer : 2;
  Family family;
  Layout layout;
  uint32 shape;
  uint64 expected; // 0 if the state is self-sized
  double rate;
};

Size message_length(const Parcel &parcel) {
  const Size content = parcel.place == Place::bytes  ? parcel.content_bytes()
                       : parcel.place == Place::file ? sizeof parcel.count + sizeof parcel.file
                                                     : sizeof parcel.state;
  return sizeof(Head) + (parcel.registers ? kRegisters : 0) + content;
}

uint8 *append_bytes(uint8 *bytes, const void *value, Size length) {
  memcpy(bytes, value, length);
  return bytes + length;
}

bytea *write_message(const Parcel &parcel, const State *state) {
  const Header &header = parcel.header;
  const Head head = {parcel.content,
                     parcel.place,
                     parcel.registers != nullptr,
                     parcel.transfer,
                     header.element_type.family,
                     profile_of(header.geometry.layout),
                     header.element_type.shape,
                     header.capacity.values,
                     header.capacity.rate};
  bytea *message = new_value(message_length(parcel));
  uint8 *bytes = append_bytes(reinterpret_cast<uint8 *>(VARDATA(message)), &head, sizeof head);
  if (parcel.registers)
    bytes = append_bytes(bytes, parcel.registers, kRegisters);
  if (parcel.place == Place::memory)
    append_bytes(bytes, &parcel.state, sizeof parcel.state);
  else if (parcel.place == Place::file)
    append_bytes(append_bytes(bytes, &parcel.count, sizeof parcel.count), &parcel.file,
                 sizeof parcel.file);
  else if (state->bitmap)
    move_memory(bytes, state->bitmap, parcel.content_bytes());
  else
    for_each_batch(state->bag, [&bytes](const uint64 *hashes, Size count) {
      bytes = store_hashes(bytes, hashes, count);
    });
  return message;
}

// True if a message can begin with a head, whose header is this one. A process of the query has
// written the message, unless another extension calls the functions below.
bool is_sound(const Head &head, const Header &header) {
  if (head.content == Content::bitmap)
    return head.place <= Place::file && !head.counted && !keeps_bag(header);
  return head.content == Content::hashes && head.place <= Place::memory &&
         (head.counted ? keeps_bag(header) : head.place != Place::file);
}

Header header_in(const Head &head) {
  if (!is_layout(static_cast<uint8>(head.layout)) || head.family > kLastFamily ||
      !is_family_of(head.layout, head.family))
    raise_invalid_state();
  Header header = header_for({head.expected == 0, static_cast<double>(head.expected), head.rate,
                              head.layout, scheme_of(head.layout, head.family).empty});
  header.element_type = {head.family, head.shape};
  return header;
}

// --- sending -------------------------------------------------------------------------------------

// True if the content of a parcel goes to another process in a file. Hashes do if some have been
// spilled, or if they might not fit into a message. Other large content uses a file only if
// temp_file_limit is not set, because the limit must not make the query fail. If nobody reads the
// file, the leader's transaction deletes it.
bool goes_by_file(const HashBag &bag, const Parcel &parcel) {
  if (bag.memory.transfer == FileTransfer::none)
    return false;
  const Size bytes = parcel.content_bytes();
  if (parcel.content == Content::bitmap)
    return bytes > kMostOfBitmap && temp_file_limit < 0;
  return bag.registers && (bag.spill || !AllocSizeIsValid(2 * bytes) ||
                           (bytes > kMostOfHashes && temp_file_limit < 0));
}

// Writes a state's content to a file for another process: a bitmap to a new file, hashes to the
// file of the bag.
SharedFileName give_content(State *state) {
  HashBag *bag = &state->bag;
  if (!state->bitmap) {
    if (bag->in_memory() > 0)
      spill_memory(bag);
    return export_file(bag->spill);
  }
  SharedFile *shared = create_shared_file(bag->memory.context, CurrentResourceOwner);
  for_each_step(state->bitmap, state->header.geometry.bytes(),
                [shared](const uint8 *step, Size, Size length) {
                  BufFileWrite(shared->file, const_cast<uint8 *>(step), length);
                });
  return give_shared_file(shared);
}

// Prepares a state for being sent, and decides on the place of its content. The state then has
// either a bitmap or hashes.
Parcel make_parcel(State *state) {
  HashBag *bag = &state->bag;
  if (!keeps_bag(state->header)) {
    if (state->bitmap || bag->array.count * sizeof(uint64) >= state->header.geometry.bytes())
      flush(state);
  } else if (mostly_repeated(bag)) {
    remove_repetitions(bag);
  }
  update_registers(bag);
  Parcel parcel = {};
  parcel.header = state->header;
  parcel.content = state->bitmap ? Content::bitmap : Content::hashes;
  parcel.count = bag->size();
  parcel.registers = bag->registers;
  if (goes_by_file(*bag, parcel)) {
    parcel.place = Place::file;
    // Each message has a bitmap's file of its own.
    parcel.transfer = state->bitmap && bag->memory.transfer == FileTransfer::repeated
                          ? FileTransfer::by_plan
                          : bag->memory.transfer;
    parcel.file = give_content(state);
  }
  return parcel;
}

// A state of this process that was handed over. A callback removes it from the list when its memory
// context is reset or deleted.
struct HandedOverState {
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

bool is_handed_over(const State *state) {
  const HandedOverState *entry = handed_over_states;
  while (entry && entry->state != state)
    entry = entry->next;
  return entry;
}

// --- combining -----------------------------------------------------------------------------------

// True if each row of the partial aggregates below reaches the reader of this node only once. From
// 19 on, a join above a partial aggregate may repeat its rows, and on every server a sort may
// return its rows again. A file then stays until the query ends. That seldom takes more space,
// because the join or the sort holds most messages at the same time.
bool is_read_once(PlanState *node) {
  if (IsA(node, SortState) && castNode(SortState, node)->randomAccess)
    return false;
  if (IsA(node, GatherState) || IsA(node, GatherMergeState) || IsA(node, SortState) ||
      IsA(node, IncrementalSortState))
    return is_read_once(outerPlanState(node));
  if (!IsA(node, AppendState))
    return IsA(node, AggState);
  const auto *appended = castNode(AppendState, node);
  for (int i = 0; i < appended->as_nplans; i++)
    if (!is_read_once(appended->appendplans[i]))
      return false;
  return true;
}

// Adds the bitmap of a parcel. Deletes its file if it is in one that does not stay.
void add_bitmap_of(State *state, const Parcel &parcel) {
  const Size bytes = parcel.content_bytes();
  if (parcel.place == Place::bytes) {
    add_bitmap(state, 0, parcel.bytes, bytes);
    return;
  }
  SharedFile *shared = open_shared_file(CurrentMemoryContext, CurrentResourceOwner, parcel.file);
  auto *part = make_array<uint8>(kFilePart);
  for (Size offset = 0; offset < bytes; offset += kFilePart) {
    CHECK_FOR_INTERRUPTS();
    const Size length = Min(bytes - offset, kFilePart);
    read_file(shared->file, part, length);
    add_bitmap(state, offset, part, length);
  }
  pfree(part);
  BufFileClose(shared->file);
  if (parcel.transfer == FileTransfer::once)
    delete_shared_file(shared);
  pfree(shared);
}

// Calls use(hashes, count) for all hashes in the bytes, in batches.
template <typename Use> void for_each_batch(const Parcel &parcel, Use use) {
  auto *batch = make_array<uint64>(kBatch);
  for (Size i = 0; i < parcel.count; i += kBatch) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(parcel.count - i, kBatch);
    load_hashes(batch, parcel.bytes + i * sizeof(uint64), count);
    use(batch, count);
  }
  pfree(batch);
}

// Appends hashes that are already in the registers, without counting them again.
void take_counted(HashBag *bag, const Parcel &parcel) {
  HashArray *array = &bag->array;
  const Size limit = memory_limit(bag, kCounting);
  const Size count = parcel.count;
  if (array->count + count > limit && array->count > 0)
    spill_memory(bag);
  if (count > limit) {
    for_each_batch(parcel, [bag](const uint64 *hashes, Size length) {
      write_spill(spill_of(bag), hashes, length);
    });
    return;
  }
  if (array->count + count > array->capacity)
    resize_array(bag, Max(array->count + count, Min(2 * array->capacity, limit)));
  load_hashes(array->hashes + array->count, parcel.bytes, count);
  array->count += count;
  bag->registered = array->count;
}

} // namespace

FileTransfer file_transfer(FunctionCallInfo fcinfo) {
  if (!IsA(fcinfo->context, AggState))
    return FileTransfer::none; // a window
  const auto *aggregate = castNode(AggState, fcinfo->context);
  if (!DO_AGGSPLIT_SERIALIZE(aggregate->aggsplit) || DO_AGGSPLIT_COMBINE(aggregate->aggsplit))
    return FileTransfer::none;
  // A hash table serializes its states again if a rescan finds that nothing below has changed. In a
  // worker, only a join above it rescans it, and then is_read_once() is false for the reader.
  const bool rescannable = aggregate->aggstrategy == AGG_HASHED && !IsParallelWorker();
  return rescannable ? FileTransfer::repeated : FileTransfer::by_plan;
}

bytea *serialize_state(State *state) {
  return write_message(make_parcel(state), state);
}

bytea *hand_over_state(State *state) {
  if (state->bag.spill)
    return serialize_state(state);
  const MemoryContext context = state->bag.memory.context;
  auto *entry = make_array<HandedOverState>(1, context);
  *entry = {state, {forget_handed_over_state, entry, nullptr}, handed_over_states};
  handed_over_states = entry;
  MemoryContextRegisterResetCallback(context, &entry->forget);
  return write_message(parcel_of(state), state);
}

Parcel parcel_of(State *state) {
  Parcel parcel = {};
  parcel.header = state->header;
  parcel.place = Place::memory;
  parcel.state = state;
  return parcel;
}

Parcel *deserialize_state(FunctionCallInfo fcinfo, const bytea *message) {
  const auto *bytes = reinterpret_cast<const uint8 *>(VARDATA_ANY(message));
  const Size length = VARSIZE_ANY_EXHDR(message);
  Head head = {};
  memcpy(&head, bytes, Min(length, sizeof head));
  auto *parcel = make_zeroed<Parcel>();
  parcel->header = header_in(head);
  parcel->content = head.content;
  parcel->place = head.place;
  parcel->registers = head.counted ? bytes + sizeof head : nullptr;
  const Size before = sizeof head + (head.counted ? kRegisters : 0);
  parcel->bytes = bytes + before;
  parcel->count = (length - before) / sizeof(uint64);
  if (!is_sound(head, parcel->header) || length < before || length != message_length(*parcel))
    raise_invalid_state();
  if (parcel->place == Place::file) {
    memcpy(&parcel->count, parcel->bytes, sizeof parcel->count);
    memcpy(&parcel->file, parcel->bytes + sizeof parcel->count, sizeof parcel->file);
    PlanState *node = outerPlanState(&castNode(AggState, fcinfo->context)->ss.ps);
    parcel->transfer = head.transfer != FileTransfer::by_plan ? head.transfer
                       : is_read_once(node)                   ? FileTransfer::once
                                                              : FileTransfer::repeated;
  } else if (parcel->place == Place::memory) {
    memcpy(&parcel->state, parcel->bytes, sizeof parcel->state);
    if (!is_handed_over(parcel->state))
      raise_invalid_state();
  }
  return parcel;
}

void combine_states(State *state, const Parcel &parcel) {
  check_parameters(state, parameters_of(parcel.header),
                   state->of_bf_partial ? "partial states" : "rows");
  admit_type(state, parcel.header.element_type);
  if (parcel.transfer == FileTransfer::repeated)
    delete_with_query(state->bag.memory.expr_context->ecxt_estate, parcel.file);
  const auto add = [state](const uint64 *hashes, Size count) { add_hashes(state, hashes, count); };
  if (parcel.place == Place::memory) {
    const State *other = parcel.state;
    if (other->bitmap)
      add_bitmap(state, 0, other->bitmap, other->header.geometry.bytes());
    for_each_batch(other->bag, add);
    return;
  }
  if (parcel.content == Content::bitmap) {
    add_bitmap_of(state, parcel);
    return;
  }
  HashBag *bag = &state->bag;
  if (parcel.registers)
    merge_registers(bag, parcel.registers);
  if (parcel.place == Place::file)
    take_file(spill_of(bag), parcel.file, parcel.count, parcel.transfer == FileTransfer::repeated);
  else if (parcel.registers && !bag->set.slots)
    take_counted(bag, parcel);
  else
    for_each_batch(parcel, add);
}

} // namespace bloomfilter
