#include "pg/aggregate/hash_bag.hpp"

#include "pg/aggregate/registers.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "utils/guc.h"
#include "utils/memutils.h"
}

namespace bloomfilter {

namespace {

constexpr Size kSetFrom = 128; // smaller arrays do not become sets
// Of an array of so many hashes, distinct ones are counted, to see whether they are more than
// kExactDistinct. It is also the largest that a set for a moment is made for.
constexpr Size kCounting = 2 * kExactDistinct;
// A message is copied four times on its way, and cannot have 1 GB: a file is faster for more.
constexpr Size kMostInMessage = 8 * 1024 * 1024 / sizeof(uint64);

void count_hashes(uint8 *registers, const uint64 *hashes, Size count) {
  for (Size i = 0; i < count; i++)
    count_hash(registers, hashes[i]);
}

// Makes registers, if with so many distinct hashes their exact number no longer decides.
void start_registers(Bag *bag, Size distinct) {
  if (bag->registers)
    return;
  bag->registers = make_registers(bag->context, distinct);
  if (!bag->registers)
    return;
  for_each_batch_in_memory(bag, [bag](const uint64 *hashes, Size count) {
    count_hashes(bag->registers, hashes, count);
  });
  bag->registered = bag->count;
}

// Enters the array's new hashes into the registers.
void update_registers(Bag *bag) {
  if (!bag->registers)
    return;
  count_hashes(bag->registers, bag->hashes + bag->registered, bag->count - bag->registered);
  bag->registered = bag->count;
}

// Enters what another process counted.
void merge_registers(Bag *bag, const uint8 *registers) {
  start_registers(bag, SIZE_MAX); // as many distinct ones made the other's
  update_registers(bag);
  for (Size i = 0; i < kRegisters; i++)
    bag->registers[i] = Max(bag->registers[i], registers[i]);
}

// Leaves the copies that make a difference, in ascending order; returns the number of distinct
// hashes.
Size sort_array(Bag *bag) {
  update_registers(bag);
  sort_hashes(bag->hashes, bag->count, check_for_interrupts);
  bag->count = keep_copies(bag->hashes, bag->count, bag->copies);
  bag->registered = bag->count;
  const Size distinct = bag->copies > 1 ? count_distinct(bag->hashes, bag->count) : bag->count;
  start_registers(bag, distinct);
  return distinct;
}

HashSet make_set(MemoryContext context, Size slot_count) {
  HashSet set = {};
  set.slot_count = slot_count;
  set.slots = static_cast<uint64 *>(
      MemoryContextAllocExtended(context, set.bytes(), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  return set;
}

// The slots of a set that has room for so many hashes.
Size slots_for(Size count) {
  Size slot_count = kSetFrom;
  while (slot_count < 2 * count)
    slot_count *= 2;
  return slot_count;
}

// The same in no order and faster, if a set with few hashes for a moment is enough for it.
Size thin_array(Bag *bag) {
  if (bag->copies > 1 || bag->count > kCounting)
    return sort_array(bag);
  update_registers(bag);
  HashSet set = make_set(CurrentMemoryContext, slots_for(bag->count));
  bag->count = insert_distinct(&set, bag->hashes, bag->count);
  pfree(set.slots);
  bag->registered = bag->count;
  start_registers(bag, bag->count);
  return bag->count;
}

BufFile *create_file(const Bag *bag) {
  const MemoryContext before = MemoryContextSwitchTo(bag->context);
  BufFile *file = BufFileCreateTemp(false);
  MemoryContextSwitchTo(before);
  return file;
}

void write_file(BufFile *file, const uint64 *hashes, Size count) {
  BufFileWrite(file, const_cast<uint64 *>(hashes), count * sizeof(uint64));
}

void close_spill(Datum argument) {
  auto *bag = reinterpret_cast<Bag *>(DatumGetPointer(argument));
  for (const Spill *spill = bag->spill; spill; spill = spill->next) {
    BufFileClose(spill->file);
    if (spill->shared && spill->whose != Spill::given)
      delete_shared_file(spill->shared);
  }
  bag->spill = nullptr;
  if (bag->sorted)
    BufFileClose(bag->sorted);
  bag->sorted = nullptr;
}

void add_spill(FunctionCallInfo fcinfo, Bag *bag, Spill **place, Spill spill) {
  if (!bag->spill)
    AggRegisterCallback(fcinfo, close_spill, PointerGetDatum(bag));
  auto *added = static_cast<Spill *>(MemoryContextAlloc(bag->context, sizeof(Spill)));
  *added = spill;
  added->next = *place;
  *place = added;
  bag->spilled += spill.count;
}

bool has_own_spill(const Bag *bag) {
  return bag->spill && bag->spill->whose == Spill::own;
}

// Writes hashes that the registers know to the file.
void write_spill(FunctionCallInfo fcinfo, Bag *bag, const uint64 *hashes, Size count) {
  if (!has_own_spill(bag)) {
    const bool changes_hands = bag->travels && !bag->reread;
    SharedFile *shared = changes_hands ? create_shared_file(bag->context) : nullptr;
    BufFile *file = shared ? shared->file : create_file(bag);
    add_spill(fcinfo, bag, &bag->spill, {file, 0, shared, nullptr, Spill::own});
  }
  write_file(bag->spill->file, hashes, count);
  bag->spill->count += count;
  bag->spilled += count;
}

// Moves everything in memory to the file.
void spill(FunctionCallInfo fcinfo, Bag *bag) {
  Assert(bag->registers);
  update_registers(bag);
  for_each_batch_in_memory(bag, [fcinfo, bag](const uint64 *hashes, Size count) {
    write_spill(fcinfo, bag, hashes, count);
  });
  bag->count = bag->registered = 0;
  if (bag->set.slots) {
    clear_memory(bag->set.slots, bag->set.bytes());
    bag->set.count = 0;
    bag->set.has_zero = false;
  }
}

// How many hashes and slots a bag may keep in memory. At least `least`: before it spills, it must
// know that it has more than kExactDistinct distinct hashes.
Size memory_limit(const Bag *bag, Size least) {
  return bag->may_spill ? Max(get_hash_memory_limit() / sizeof(uint64), least) : SIZE_MAX;
}

// Replaces the set, or the lack of one, by one of so many slots with the same hashes.
void resize_set(Bag *bag, Size slot_count) {
  HashSet larger = make_set(bag->context, slot_count);
  auto *batch = static_cast<uint64 *>(palloc(kBatch * sizeof(uint64)));
  Size next = 0;
  while (const Size count = read_distinct(bag->set, &next, batch, kBatch)) {
    CHECK_FOR_INTERRUPTS();
    insert_distinct(&larger, batch, count);
  }
  pfree(batch);
  if (bag->set.slots)
    pfree(bag->set.slots);
  bag->set = larger;
  bag->offered = bag->accepted = 0;
}

// From a full array to a set, whose buffer it becomes; false if the array has too many distinct
// hashes, which then are still all there. The set takes at most twice as many slots, and replaces
// one half its size.
bool start_set(Bag *bag) {
  update_registers(bag);
  const Size buffer = Min(bag->capacity, kBuffer);
  resize_set(bag, slots_for(buffer));
  for (Size i = 0; i < bag->count; i += buffer) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(bag->count - i, buffer);
    if (!bag->set.has_room(count)) {
      if (bag->set.slot_count > bag->count) {
        pfree(bag->set.slots);
        bag->set = {};
        return false;
      }
      resize_set(bag, 2 * bag->set.slot_count);
    }
    insert_distinct(&bag->set, bag->hashes + i, count);
  }
  bag->count = bag->registered = 0;
  resize_array(bag, buffer);
  start_registers(bag, bag->set.count);
  return true;
}

// From the set back to the array.
void end_set(Bag *bag) {
  update_registers(bag);
  resize_array(bag, bag->in_memory());
  Size next = 0;
  bag->count += read_distinct(bag->set, &next, bag->hashes + bag->count, SIZE_MAX);
  bag->registered = bag->count;
  pfree(bag->set.slots);
  bag->set = {};
}

// Moves the array into the set.
void drain(FunctionCallInfo fcinfo, Bag *bag) {
  CHECK_FOR_INTERRUPTS();
  if (!bag->set.has_room(bag->count)) {
    if (bag->accepted > bag->offered / 2) {
      end_set(bag);
      return;
    }
    if (3 * bag->set.slot_count <= memory_limit(bag, 4 * kCounting)) // the old and the new
      resize_set(bag, 2 * bag->set.slot_count);
    else
      spill(fcinfo, bag);
  }
  bag->offered += bag->count;
  const Size fresh = insert_distinct(&bag->set, bag->hashes, bag->count);
  bag->accepted += fresh;
  bag->count = bag->registered = 0;
  if (bag->registers)
    count_hashes(bag->registers, bag->hashes, fresh);
  else
    start_registers(bag, bag->set.count);
}

// Distributes the file's hashes by their highest bits over files that fit into the array one by one
// (but for the largest bags: there are at most 256), and sorts these. Nothing is in memory.
void sort_spill(Bag *bag) {
  constexpr int kMaxPartBits = 8;
  if (bag->set.slots) {
    pfree(bag->set.slots);
    bag->set = {};
  }
  const Size limit = memory_limit(bag, kCounting);
  int bits = 0;
  while (bits < kMaxPartBits && bag->spilled >> bits > limit / 4 * 3)
    bits++;

  BufFile *parts[1 << kMaxPartBits];
  uint64 counts[1 << kMaxPartBits] = {};
  for (int part = 0; part >> bits == 0; part++)
    parts[part] = create_file(bag);
  for_each_batch_in_files(bag, [&](const uint64 *hashes, Size count) {
    for (Size i = 0; i < count; i++) {
      const Size part = bits > 0 ? hashes[i] >> (64 - bits) : 0;
      write_file(parts[part], &hashes[i], 1);
      counts[part]++;
    }
  });

  if (bag->sorted)
    BufFileClose(bag->sorted);
  bag->sorted = create_file(bag);
  bag->sorted_count = 0;
  for (int part = 0; part >> bits == 0; part++) {
    seek_file(parts[part], {0, 0});
    for (uint64 left = counts[part]; left > 0;) {
      if (bag->count >= bag->capacity / 4 * 3)
        resize_array(bag, Max(2 * bag->capacity, limit));
      const Size length = Min(left, bag->capacity - bag->count);
      read_file(parts[part], bag->hashes + bag->count, length);
      bag->count += length;
      left -= length;
      sort_array(bag);
    }
    BufFileClose(parts[part]);
    write_file(bag->sorted, bag->hashes, bag->count);
    bag->sorted_count += bag->count;
    bag->count = bag->registered = 0;
  }
  bag->sorted_of = bag->spilled;
}

// Takes over a file; its hashes are in the registers.
void take_file(FunctionCallInfo fcinfo, Bag *bag, const Wire &wire) {
  SharedFile *shared = open_shared_file(bag->context, wire.file);
  add_spill(fcinfo, bag, has_own_spill(bag) ? &bag->spill->next : &bag->spill,
            {shared->file, wire.count, shared, nullptr, Spill::taken});
}

// Takes hashes that are in the registers, as they are.
void take_counted(FunctionCallInfo fcinfo, Bag *bag, const Bag *other) {
  const Size limit = memory_limit(bag, kCounting);
  const Size count = other->wire->count;
  if (bag->count + count > limit && bag->count > 0)
    spill(fcinfo, bag);
  if (count > limit) {
    for_each_batch_in_memory(other, [fcinfo, bag](const uint64 *hashes, Size length) {
      write_spill(fcinfo, bag, hashes, length);
    });
    return;
  }
  if (bag->count + count > bag->capacity)
    resize_array(bag, Max(bag->count + count, Min(2 * bag->capacity, limit)));
  load_hashes(bag->hashes + bag->count, other->wire->hashes, count);
  bag->count += count;
  bag->registered = bag->count;
}

// Makes a file of all hashes, for the reader alone.
void give_copy(Bag *bag) {
  SharedFile *copy = create_shared_file(bag->context);
  for_each_batch(
      bag, [copy](const uint64 *hashes, Size count) { write_file(copy->file, hashes, count); });
  publish_shared_file(copy);
  BufFileClose(copy->file);
  bag->given = copy->name;
  pfree(copy);
}

// Makes its own file the reader's.
void give_file(FunctionCallInfo fcinfo, Bag *bag) {
  if (bag->in_memory() > 0)
    spill(fcinfo, bag);
  publish_shared_file(bag->spill->shared);
  bag->spill->whose = Spill::given;
  bag->given = bag->spill->shared->name;
}

// Those in memory only if no limit of files stands in the way.
bool travels_by_file(const Bag *bag) {
  if (!bag->travels || !bag->registers)
    return false;
  return bag->spill || !AllocSizeIsValid(2 * bag->size() * sizeof(uint64)) ||
         (bag->size() > kMostInMessage && temp_file_limit < 0);
}

} // namespace

void resize_array(Bag *bag, Size capacity) {
  const Size bytes = capacity * sizeof(uint64);
  bag->hashes = static_cast<uint64 *>(bag->hashes ? repalloc_huge(bag->hashes, bytes)
                                                  : MemoryContextAllocHuge(bag->context, bytes));
  bag->capacity = capacity;
}

void make_room_in_bag(FunctionCallInfo fcinfo, Bag *bag) {
  if (bag->capacity < kFirstCapacity) {
    resize_array(bag, kFirstCapacity);
    return;
  }
  if (bag->set.slots) {
    drain(fcinfo, bag);
    if (bag->count < bag->capacity)
      return;
  }
  const Size full = bag->count;
  if (full >= kSetFrom && mostly_repeated(bag)) {
    if (bag->copies == 1 && 4 * full <= memory_limit(bag, 4 * kCounting) && start_set(bag))
      return;
    sort_array(bag);
  } else if (full >= kCounting && !bag->registers) {
    thin_array(bag);
  }
  if (bag->count <= full / 4 * 3)
    return;
  const Size limit = bag->registers ? memory_limit(bag, kCounting) : SIZE_MAX;
  if (full < limit)
    resize_array(bag, Min(full * 2, limit));
  else
    spill(fcinfo, bag);
}

bool mostly_repeated(Bag *bag) {
  update_registers(bag);
  const double distinct =
      bag->registers ? estimate_distinct(bag->registers) : sample_distinct(bag->hashes, bag->count);
  return distinct * bag->copies <= static_cast<double>(bag->size()) / 2;
}

Size remove_repetitions(FunctionCallInfo fcinfo, Bag *bag) {
  if (bag->set.slots)
    drain(fcinfo, bag);
  return bag->set.slots ? bag->set.count : thin_array(bag);
}

uint64 distinct_to_size_for(FunctionCallInfo fcinfo, Bag *bag) {
  const Size exact = bag->registers ? 0 : remove_repetitions(fcinfo, bag);
  update_registers(bag);
  return distinct_to_size_for(bag->registers, exact);
}

FilePosition rewind_file(BufFile *file) {
  FilePosition position;
  BufFileTell(file, &position.file, &position.offset);
  seek_file(file, {0, 0});
  return position;
}

void seek_file(BufFile *file, const FilePosition &position) {
  if (BufFileSeek(file, position.file, position.offset, SEEK_SET) != 0)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not rewind temporary file: %m")));
}

void read_file(BufFile *file, uint64 *hashes, Size count) {
  if (BufFileRead(file, hashes, count * sizeof(uint64)) != count * sizeof(uint64))
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
}

uint64 sort_bag(FunctionCallInfo fcinfo, Bag *bag) {
  Assert(bag->copies == 1);
  if (bag->spill) {
    if (bag->in_memory() > 0)
      spill(fcinfo, bag);
    if (bag->sorted_of != bag->spilled)
      sort_spill(bag);
    return bag->sorted_count;
  }
  if (bag->set.slots)
    end_set(bag);
  sort_array(bag);
  return bag->count;
}

void merge_bag(FunctionCallInfo fcinfo, Bag *bag, const Bag *other) {
  const Wire *wire = other->wire;
  if (wire && wire->registers)
    merge_registers(bag, wire->registers);
  if (wire && !wire->hashes)
    take_file(fcinfo, bag, *wire);
  else if (wire && wire->registers && !bag->set.slots)
    take_counted(fcinfo, bag, other);
  else
    for_each_batch(other, [fcinfo, bag](const uint64 *hashes, Size count) {
      append(bag, hashes, count, [fcinfo, bag] { make_room_in_bag(fcinfo, bag); });
    });
}

WireForm settle_wire(FunctionCallInfo fcinfo, Bag *bag) {
  update_registers(bag);
  if (!travels_by_file(bag))
    return bag->registers ? WireForm::counted : WireForm::hashes;
  if (bag->reread)
    give_copy(bag);
  else
    give_file(fcinfo, bag);
  return WireForm::file;
}

Size wire_size(const Bag *bag, WireForm form) {
  switch (form) {
  case WireForm::hashes:
    return bag->size() * sizeof(uint64);
  case WireForm::counted:
    return kRegisters + bag->size() * sizeof(uint64);
  case WireForm::file:
    return kRegisters + sizeof(uint64) + sizeof(SharedFileName);
  }
  pg_unreachable();
}

void write_wire(const Bag *bag, WireForm form, uint8 *wire) {
  if (form != WireForm::hashes) {
    memcpy(wire, bag->registers, kRegisters);
    wire += kRegisters;
  }
  if (form == WireForm::file) {
    const uint64 count = bag->size();
    memcpy(wire, &count, sizeof count);
    memcpy(wire + sizeof count, &bag->given, sizeof bag->given);
    return;
  }
  for_each_batch(bag, [&wire](const uint64 *hashes, Size count) {
    for (Size i = 0; i < count; i++, wire += sizeof(uint64))
      store(wire, hashes[i]);
  });
}

bool read_wire(Bag *bag, WireForm form, const uint8 *bytes, Size length) {
  auto *wire = static_cast<Wire *>(MemoryContextAllocZero(bag->context, sizeof(Wire)));
  bag->wire = wire;
  if (form != WireForm::hashes) {
    if (length < kRegisters)
      return false;
    wire->registers = bytes;
    bytes += kRegisters;
    length -= kRegisters;
  }
  if (form == WireForm::file) {
    if (length != sizeof(uint64) + sizeof(SharedFileName))
      return false;
    memcpy(&wire->count, bytes, sizeof(uint64));
    memcpy(&wire->file, bytes + sizeof(uint64), sizeof(SharedFileName));
    return true;
  }
  wire->hashes = bytes;
  wire->count = length / sizeof(uint64);
  return length % sizeof(uint64) == 0;
}

} // namespace bloomfilter
