// A bag of hashes. An aggregate collects the hashes of its rows here until it knows the size of its
// filter.
//
// A bag keeps only the copies of a hash that make a difference. A Bloom filter or a cuckoo filter
// needs each hash once; a counting filter needs as many copies as a counter can count.
//
// Hashes are collected in an array. It starts with 8 entries, so a query with many small groups
// needs little memory. When the array is full and most of its hashes are new, its size doubles. If
// at least half of them are repetitions, these are removed, or, if the bag keeps one copy of each
// hash, the hashes move into a hash set. From then on, the array only collects hashes until there
// are enough to be looked up in the set together. A set takes more memory for each hash, but none
// for repetitions. If most of the hashes that come are new again, all hashes move back into an
// array. The memory limit is hash_mem_multiplier times work_mem. Hashes that would exceed it are
// spilled to temporary files (pg/aggregate/spill.hpp).
//
// A filter is sized for the number of distinct hashes. Up to kExactDistinct, this number is exact:
// a temporary set counts the hashes of an array, or sorting does, if copies or the order matter.
// Above that, it is a HyperLogLog estimate plus two standard errors (core/distinct.hpp); the bag
// has registers for the estimate. So the number depends only on the set of hashes, and not on
// work_mem, the plan or the order of the rows. There is one exception: somebody may choose hashes
// that mislead the estimate. Then the number is that of all kept hashes, including repetitions.
//
// Reading a bag does not change its content, because more hashes may follow, as in a window frame.
#pragma once

#include "pg/server.hpp"

#include "core/distinct.hpp"
#include "pg/aggregate/spill.hpp"
#include "pg/list.hpp"
#include "pg/value/hash_set.hpp"

namespace bloomfilter {

constexpr Size kFirstCapacity = 8;
constexpr Size kBuffer = 1024; // hashes that are added to a set or a bitmap together

// make_bag() sets the first two fields, which never change. The functions below change the others.
struct HashBag {
  GroupMemory memory;
  int copies;

  HashArray array;
  HashSet set; // has no slots while the array alone collects hashes
  // The hashes that the set was given since it got its present size, and how many were new.
  uint64 offered, accepted;
  // Count all hashes that were ever added, except those of the array from `registered` on. NULL if
  // there are no registers yet.
  uint8 *registers;
  Size registered;
  Spill *spill; // NULL until hashes are spilled

  Size in_memory() const { return array.count + set.count; }
  uint64 size() const { return (spill ? spill->count : 0) + in_memory(); }
};

// Makes an empty bag that keeps at most `copies` copies of each hash.
HashBag make_bag(const GroupMemory &memory, int copies);

void resize_array(HashBag *bag, Size capacity);

// Makes room in a full array: removes repetitions, enlarges the array, moves its hashes into a set,
// or spills them.
void make_room_in_bag(HashBag *bag);

// True if at most half of all hashes are worth keeping, according to an estimate.
bool mostly_repeated(HashBag *bag);

// Removes all repetitions from memory. Returns the number of distinct hashes in memory.
Size remove_repetitions(HashBag *bag);

// The number of distinct hashes that a filter should be sized for, at least 1.
uint64 distinct_to_size_for(HashBag *bag);

// Enters the new hashes of the array into the registers, if there are registers. merge_registers()
// adds the registers of another process, and makes the bag's own first if there are none.
void update_registers(HashBag *bag);
void merge_registers(HashBag *bag, const uint8 *registers);

// How many hashes the array, or slots the set, may have in memory. It is at least `least`, even if
// work_mem allows less: before a bag spills, it must know that it has more than kExactDistinct
// distinct hashes. There is no limit in a window, which would not tell when to close the files.
Size memory_limit(const HashBag *bag, Size least);

// Once an array has this many hashes, its distinct hashes are counted, to see whether there are
// more than kExactDistinct. This is also the size of the largest array that is counted with a
// temporary set.
constexpr Size kCounting = 2 * kExactDistinct;

// Moves all hashes in memory to the spill. The bag must have registers. spill_of() returns the
// spill, and makes it if there is none.
void spill_memory(HashBag *bag);
Spill *spill_of(HashBag *bag);

// Calls use(hashes, count) in batches: the first function for all hashes in memory, the second one
// also for spilled hashes.
template <typename Use> void for_each_batch_in_memory(const HashBag &bag, Use use) {
  for_each_batch(bag.array, use);
  if (!bag.set.slots)
    return;
  auto *batch = make_array<uint64>(kBatch);
  Size next = 0;
  while (const Size count = read_distinct(bag.set, &next, batch, kBatch)) {
    CHECK_FOR_INTERRUPTS();
    use(batch, count);
  }
  pfree(batch);
}

template <typename Use> void for_each_batch(const HashBag &bag, Use use) {
  for_each_batch_in_memory(bag, use);
  if (bag.spill)
    for_each_batch(*bag.spill, use);
}

// Sorts a bag that keeps one copy of each hash, and returns the number of distinct hashes. Until
// more hashes are added, for_each_sorted() calls use(hashes, count) for the distinct hashes in
// ascending order, in batches.
uint64 sort_bag(HashBag *bag);
template <typename Use> void for_each_sorted(const HashBag &bag, Use use) {
  if (bag.spill)
    for_each_batch(bag.spill->sorted, use);
  else
    for_each_batch(bag.array, use);
}

} // namespace bloomfilter
