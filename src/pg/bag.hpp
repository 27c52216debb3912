// A bag of hashes: what an aggregate keeps of its rows until it knows how large its filter must be.
//
// Of each hash a bag keeps so many copies as make a difference: one for a set, more for counters.
// They are collected in an array that starts at 8 entries, so that many small groups stay small. A
// full array doubles. But if at least half of it are repetitions, these are left out; of a set, its
// content then becomes a hash set, which takes more memory for each hash and none for repetitions,
// and the array its buffer; until most hashes are new again. What exceeds the memory limit of a
// bag, hash_mem_multiplier times work_mem, moves to a temporary file.
//
// What a filter's size depends on is the set of distinct hashes alone: their exact number up to
// kExactDistinct, a HyperLogLog estimate plus two standard errors above. So neither work_mem, nor
// the plan, nor the order of the rows decides.
//
// Reading changes no content: more hashes may follow, as in a window frame.
//
// A temporary file belongs to the executor's resource owner, which closes it on an error; in the
// regular course it is closed by AggRegisterCallback, before the memory of its group is reset. A
// WindowAgg has no such callback and keeps everything in memory.
#ifndef BLOOMFILTER_PG_BAG_HPP
#define BLOOMFILTER_PG_BAG_HPP

#include "pg/server.hpp"

#include "core/distinct.hpp"

extern "C" {
#include "storage/buffile.h"
}

namespace bloomfilter {

constexpr Size kFirstCapacity = 8;
constexpr Size kBuffer = 1024; // hashes that go together into a set, or a bitmap
constexpr Size kBlock = 8192;  // hashes handled between two looks for interrupts

// Zero at first, but for the first three.
struct Bag {
  MemoryContext context;
  bool may_spill;
  int copies;

  uint64 *hashes;
  Size count, capacity;
  HashSet set;              // without slots while the array collects
  uint64 offered, accepted; // hashes for the set since its size was decided, and new ones of these
  uint8 *registers;         // from kExactDistinct on: of all hashes ever seen
  Size registered;          // hashes of the array that the registers know
  BufFile *spill;           // hashes that left memory
  uint64 spilled;

  // Of a bag that came from another process: hashes in its wire form, which is read once.
  const uint8 *wire;
  Size wire_count;

  Size in_memory() const { return count + set.count; }
  uint64 size() const { return spilled + in_memory(); }
};

void resize_array(Bag *bag, Size capacity);

// Makes room in a full array.
void make_room(FunctionCallInfo fcinfo, Bag *bag);

// Are at most half of all hashes worth keeping?
bool mostly_repeated(Bag *bag);

// Leaves no repetition in memory.
void remove_repetitions(FunctionCallInfo fcinfo, Bag *bag);

// The number of distinct hashes that a filter is to be sized for, at least 1.
uint64 distinct_to_size_for(FunctionCallInfo fcinfo, Bag *bag);

// Calls use(hashes, count) for all hashes that a bag keeps, in blocks.
template <typename Use> void for_each_block_in_memory(const Bag *bag, Use use);
template <typename Use> void for_each_block(const Bag *bag, Use use);

// The same for the distinct hashes in ascending order, of a bag that keeps one copy.
template <typename Use> void for_each_sorted(FunctionCallInfo fcinfo, Bag *bag, Use use);

// --- what the templates are made of --------------------------------------------------------------

// A position in a bag's file; rewind_spill() returns the one to come back to.
struct SpillPosition {
  int file;
  off_t offset;
};
SpillPosition rewind_spill(const Bag *bag);
void read_spill(const Bag *bag, uint64 *hashes, Size count);
void seek_spill(const Bag *bag, const SpillPosition &position);

// Hashes from the wire form.
void read_wire(const Bag *bag, Size from, uint64 *hashes, Size count);

// Splits the space of hashes into parts, numbered by their highest bits, that fit into the array
// one by one, and moves everything in memory to the file if there is one. Returns the number of
// bits.
int split_bag(FunctionCallInfo fcinfo, Bag *bag);

// Sorted distinct hashes of one part, in the array. `release_part` empties it where there is a
// file.
void gather_part(Bag *bag, int bits, uint64 part);
void release_part(Bag *bag);

template <typename Use> void for_each_block_in_memory(const Bag *bag, Use use) {
  for (Size i = 0; i < bag->count; i += kBlock) {
    CHECK_FOR_INTERRUPTS();
    use(bag->hashes + i, Min(bag->count - i, kBlock));
  }
  if (!bag->set.slots && !bag->wire)
    return;
  auto *block = static_cast<uint64 *>(palloc(kBlock * sizeof(uint64)));
  for (Size i = 0; i < bag->wire_count; i += kBlock) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(bag->wire_count - i, kBlock);
    read_wire(bag, i, block, count);
    use(block, count);
  }
  Size next = 0;
  while (const Size count = read_distinct(bag->set, &next, block, kBlock)) {
    CHECK_FOR_INTERRUPTS();
    use(block, count);
  }
  pfree(block);
}

template <typename Use> void for_each_block(const Bag *bag, Use use) {
  for_each_block_in_memory(bag, use);
  if (!bag->spill)
    return;
  const SpillPosition before = rewind_spill(bag);
  auto *block = static_cast<uint64 *>(palloc(kBlock * sizeof(uint64)));
  for (uint64 left = bag->spilled; left > 0;) {
    CHECK_FOR_INTERRUPTS();
    const Size count = Min(left, kBlock);
    read_spill(bag, block, count);
    use(block, count);
    left -= count;
  }
  pfree(block);
  seek_spill(bag, before);
}

template <typename Use> void for_each_sorted(FunctionCallInfo fcinfo, Bag *bag, Use use) {
  const int bits = split_bag(fcinfo, bag);
  for (uint64 part = 0; part >> bits == 0; part++) {
    gather_part(bag, bits, part);
    for (Size i = 0; i < bag->count; i += kBlock) {
      CHECK_FOR_INTERRUPTS();
      use(bag->hashes + i, Min(bag->count - i, kBlock));
    }
    release_part(bag);
  }
}

} // namespace bloomfilter

#endif
