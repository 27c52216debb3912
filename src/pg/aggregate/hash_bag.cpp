// See hash_bag.hpp for what a bag is. This file decides where its hashes are: make_room_in_bag()
// runs whenever the array is full, and chooses between a larger array, a set and the spill.

#include "pg/aggregate/hash_bag.hpp"

#include "pg/list.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace bloomfilter {

namespace {

constexpr Size kSetFrom = 128;            // smaller arrays do not become sets
constexpr Size kHashesPerCheck = 1 << 20; // that are counted between two checks for interrupts

void count_hashes(uint8 *registers, const uint64 *hashes, Size count) {
  for (Size i = 0; i < count; i++) {
    if (i % kHashesPerCheck == 0)
      CHECK_FOR_INTERRUPTS();
    count_hash(registers, hashes[i]);
  }
}

// Makes the registers if there are more than kExactDistinct distinct hashes. From then on, an
// estimate sizes the filter, not the exact number.
void start_registers(HashBag *bag, Size distinct) {
  if (bag->registers || distinct <= kExactDistinct)
    return;
  auto *registers = make_zeroed_array<uint8>(kRegisters, bag->memory.context);
  for_each_batch_in_memory(*bag, [registers](const uint64 *hashes, Size count) {
    count_hashes(registers, hashes, count);
  });
  bag->registers = registers; // only now, because counting may be interrupted
  bag->registered = bag->array.count;
}

// Sorts the array and keeps only the copies that make a difference. Returns the number of distinct
// hashes in the array.
Size sort_array(HashBag *bag) {
  HashArray *array = &bag->array;
  update_registers(bag);
  sort_array(array, bag->copies);
  bag->registered = array->count;
  const Size distinct =
      bag->copies > 1 ? count_distinct(array->hashes, array->count) : array->count;
  start_registers(bag, distinct);
  return distinct;
}

// The number of slots of a set that has room for `count` hashes.
Size slots_for(Size count) {
  Size slot_count = kSetFrom;
  while (slot_count < 2 * count)
    slot_count *= 2;
  return slot_count;
}

// Removes repetitions like sort_array(), but leaves the array in no particular order. It is faster
// if one copy counts and the array has at most kCounting hashes: a temporary set is then enough.
Size thin_array(HashBag *bag) {
  HashArray *array = &bag->array;
  if (bag->copies > 1 || array->count > kCounting)
    return sort_array(bag);
  update_registers(bag);
  HashSet set = make_set(CurrentMemoryContext, slots_for(array->count));
  array->count = insert(&set, array->hashes, array->count);
  pfree(set.slots);
  bag->registered = array->count;
  start_registers(bag, array->count);
  return array->count;
}

void free_set(HashBag *bag) {
  if (bag->set.slots)
    pfree(bag->set.slots);
  bag->set = {};
}

// Gives the bag a set of `slot_count` slots. If the bag had a set, the new set gets its hashes.
void resize_set(HashBag *bag, Size slot_count) {
  resize_set(&bag->set, bag->memory.context, slot_count);
  bag->offered = bag->accepted = 0;
}

// Moves the hashes of a full array into a set; the array becomes the buffer of the set. Returns
// false if the array has too many distinct hashes. The array then still has all of them. The set
// gets at most twice as many slots as the array has hashes. While it grows to that size, a set of
// half the size is in memory as well.
bool start_set(HashBag *bag) {
  update_registers(bag);
  const Size full = bag->array.count, buffer = Min(bag->array.capacity, kBuffer);
  resize_set(bag, slots_for(buffer));
  for (Size i = 0; i < full; i += buffer) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(full - i, buffer);
    if (!bag->set.has_room(count)) {
      if (bag->set.slot_count > full) {
        free_set(bag);
        return false;
      }
      resize_set(bag, 2 * bag->set.slot_count);
    }
    insert(&bag->set, bag->array.hashes + i, count);
  }
  bag->array.count = bag->registered = 0;
  resize_array(bag, buffer);
  start_registers(bag, bag->set.count);
  return true;
}

// Moves the hashes of the set back into the array.
void end_set(HashBag *bag) {
  HashArray *array = &bag->array;
  update_registers(bag);
  resize_array(bag, bag->in_memory());
  Size next = 0;
  while (const Size count =
             read_distinct(bag->set, &next, array->hashes + array->count, kHashesPerCheck)) {
    CHECK_FOR_INTERRUPTS();
    array->count += count;
  }
  bag->registered = array->count;
  free_set(bag);
}

// Moves the array's hashes into the set. If the set has no room and most hashes were new, moves the
// hashes of the set into the array instead.
void drain(HashBag *bag) {
  HashArray *array = &bag->array;
  CHECK_FOR_INTERRUPTS();
  if (!bag->set.has_room(array->count)) {
    if (bag->accepted > bag->offered / 2) {
      end_set(bag);
      return;
    }
    if (3 * bag->set.slot_count <= memory_limit(bag, 4 * kCounting)) // slots of both sets together
      resize_set(bag, 2 * bag->set.slot_count);
    else
      spill_memory(bag);
  }
  bag->offered += array->count;
  const Size fresh = insert(&bag->set, array->hashes, array->count);
  bag->accepted += fresh;
  array->count = bag->registered = 0;
  if (bag->registers)
    count_hashes(bag->registers, array->hashes, fresh);
  else
    start_registers(bag, bag->set.count);
}

} // namespace

HashBag make_bag(const GroupMemory &memory, int copies) {
  HashBag bag = {};
  bag.memory = memory;
  bag.copies = copies;
  return bag;
}

void resize_array(HashBag *bag, Size capacity) {
  resize_array(&bag->array, bag->memory.context, capacity);
}

void make_room_in_bag(HashBag *bag) {
  HashArray *array = &bag->array;
  if (array->capacity < kFirstCapacity) {
    resize_array(bag, kFirstCapacity);
    return;
  }
  if (bag->set.slots) {
    drain(bag);
    if (array->count < array->capacity)
      return;
  }
  const Size full = array->count;
  if (full >= kSetFrom && mostly_repeated(bag)) {
    if (bag->copies == 1 && 4 * full <= memory_limit(bag, 4 * kCounting) && start_set(bag))
      return;
    sort_array(bag);
  } else if (full >= kCounting && !bag->registers) {
    thin_array(bag);
  }
  if (array->count <= full / 4 * 3)
    return;
  const Size limit = bag->registers ? memory_limit(bag, kCounting) : SIZE_MAX;
  if (full < limit)
    resize_array(bag, Min(full * 2, limit));
  else
    spill_memory(bag);
}

bool mostly_repeated(HashBag *bag) {
  update_registers(bag);
  const double distinct = bag->registers ? estimate_distinct(bag->registers)
                                         : sample_distinct(bag->array.hashes, bag->array.count);
  return distinct * bag->copies <= static_cast<double>(bag->size()) / 2;
}

Size remove_repetitions(HashBag *bag) {
  if (bag->set.slots)
    drain(bag);
  return bag->set.slots ? bag->set.count : thin_array(bag);
}

uint64 distinct_to_size_for(HashBag *bag) {
  const Size exact = bag->registers ? 0 : remove_repetitions(bag);
  if (!bag->registers)
    return Max(exact, Size{1});
  update_registers(bag);
  return padded_capacity(estimate_distinct(bag->registers), bag->size());
}

void update_registers(HashBag *bag) {
  if (!bag->registers)
    return;
  count_hashes(bag->registers, bag->array.hashes + bag->registered,
               bag->array.count - bag->registered);
  bag->registered = bag->array.count;
}

void merge_registers(HashBag *bag, const uint8 *registers) {
  start_registers(bag, SIZE_MAX); // the other registers mean more than kExactDistinct hashes
  update_registers(bag);
  for (Size i = 0; i < kRegisters; i++)
    bag->registers[i] = Max(bag->registers[i], registers[i]);
}

Size memory_limit(const HashBag *bag, Size least) {
  return bag->memory.expr_context ? Max(get_hash_memory_limit() / sizeof(uint64), least) : SIZE_MAX;
}

Spill *spill_of(HashBag *bag) {
  if (!bag->spill)
    bag->spill = make_spill(bag->memory);
  return bag->spill;
}

void spill_memory(HashBag *bag) {
  Assert(bag->registers);
  update_registers(bag);
  Spill *spill = spill_of(bag);
  for_each_batch_in_memory(
      *bag, [spill](const uint64 *hashes, Size count) { write_spill(spill, hashes, count); });
  bag->array.count = bag->registered = 0;
  if (bag->set.slots) {
    clear_memory(bag->set.slots, bag->set.bytes());
    bag->set.count = 0;
    bag->set.has_zero = false;
  }
}

uint64 sort_bag(HashBag *bag) {
  Assert(bag->copies == 1);
  if (bag->spill) {
    if (bag->in_memory() > 0)
      spill_memory(bag);
    free_set(bag);
    if (!bag->spill->is_sorted())
      sort_spill(bag->spill, &bag->array, memory_limit(bag, kCounting));
    return bag->spill->sorted.count;
  }
  if (bag->set.slots)
    end_set(bag);
  return sort_array(bag);
}

} // namespace bloomfilter
