// A bag of hashes: what an aggregate keeps of its rows until it knows how large its filter must be.
//
// Of each hash a bag keeps as many copies as make a difference: one for a set, more for counters.
// They are collected in an array that starts with 8 entries, so that many small groups stay small.
// A full array doubles, unless at least half of it are repetitions. Then these are left out, and if
// one copy counts, the content moves into a hash set, whose buffer the array becomes: a set takes
// more memory for each hash, but none for repetitions. Once most hashes are new again, the content
// moves back. What exceeds the memory limit, hash_mem_multiplier times work_mem, goes to temporary
// files (pg/aggregate/spill.hpp).
//
// A filter is sized for the number of distinct hashes. Up to kExactDistinct, this is their exact
// number: a temporary set counts those of an array, or sorting does, where copies or order count.
// With more, it is a HyperLogLog estimate plus two standard errors (core/distinct.hpp), for which
// the bag has registers. So the number depends on the set of hashes alone, and not on work_mem, the
// plan or the order of the rows. Hashes that were chosen to mislead the estimate are an exception:
// then the number is that of the hashes that were kept, repeated ones among them.
//
// Reading a bag does not change its content: more hashes may follow, as in a window frame.
#ifndef BLOOMFILTER_PG_AGGREGATE_HASH_BAG_HPP
#define BLOOMFILTER_PG_AGGREGATE_HASH_BAG_HPP

#include "pg/server.hpp"

#include "core/distinct.hpp"
#include "pg/aggregate/hash_array.hpp"
#include "pg/aggregate/spill.hpp"
#include "pg/list.hpp"

namespace bloomfilter {

constexpr Size kFirstCapacity = 8;
constexpr Size kBuffer = 1024; // hashes that go together into a set, or a bitmap

// make_bag() sets the first two fields for good; the functions below change the others.
struct HashBag {
  GroupMemory memory;
  int copies;

  HashArray array;
  HashSet set;              // without slots while the array collects
  uint64 offered, accepted; // hashes for the set since its size was decided, and new ones of these
  uint8 *registers;         // of all hashes that were ever added; NULL: none yet
  Size registered;          // hashes of the array that the registers know
  Spill *spill;             // NULL until hashes leave memory

  Size in_memory() const { return array.count + set.count; }
  uint64 size() const { return (spill ? spill->count : 0) + in_memory(); }
};

// A bag without hashes, which keeps at most so many copies of each.
HashBag make_bag(const GroupMemory &memory, int copies);

// Gives the array another capacity.
void resize_array(HashBag *bag, Size capacity);

// Makes room in a full array.
void make_room_in_bag(HashBag *bag);

// Are at most half of all hashes worth keeping?
bool mostly_repeated(HashBag *bag);

// Leaves no repetition in memory; returns the number of distinct hashes there.
Size remove_repetitions(HashBag *bag);

// The number of distinct hashes that a filter is to be sized for, at least 1.
uint64 distinct_to_size_for(HashBag *bag);

// Enters hashes into the registers: those of the array, or those that another process counted.
void update_registers(HashBag *bag);
void merge_registers(HashBag *bag, const uint8 *registers);

// How many hashes and slots a bag may keep in memory. At least `least`: before it spills, it must
// know that it has more than kExactDistinct distinct hashes.
Size memory_limit(const HashBag *bag, Size least);

// In an array of this many hashes the distinct ones are counted, to see whether they are more than
// kExactDistinct. It is also the largest array that a temporary set is made for.
constexpr Size kCounting = 2 * kExactDistinct;

// Moves all hashes in memory to the spill, which needs registers. spill_of() makes it if there is
// none.
void spill_memory(HashBag *bag);
Spill *spill_of(HashBag *bag);

// Calls use(hashes, count) for all hashes that a bag keeps, or keeps in memory, in batches.
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

// Sorts a bag that keeps one copy, and returns the number of distinct hashes. Until others are
// added, for_each_sorted() calls use(hashes, count) for these in ascending order, in batches.
uint64 sort_bag(HashBag *bag);
template <typename Use> void for_each_sorted(const HashBag &bag, Use use) {
  if (bag.spill)
    for_each_batch(bag.spill->sorted, use);
  else
    for_each_batch(bag.array, use);
}

} // namespace bloomfilter

#endif
