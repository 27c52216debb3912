// See hash_set.hpp.

#include "pg/value/hash_set.hpp"

#include "pg/list.hpp"

namespace bloomfilter {

HashSet make_set(MemoryContext context, Size slot_count) {
  static uint32 sets = 0;
  HashSet set = {};
  set.number = sets++;
  set.slot_count = slot_count;
  set.slots = static_cast<uint64 *>(
      MemoryContextAllocExtended(context, set.bytes(), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  return set;
}

// Each process has a random seed, because somebody may have chosen hashes that collide in a set.
Size insert(HashSet *set, uint64 *hashes, Size count) {
  static uint64 seed = 0;
  if (unlikely(seed == 0))
    (void)pg_strong_random(&seed, sizeof seed); // if this fails, 0 is a valid seed, too
  return insert_distinct(set, seed, hashes, count);
}

void resize_set(HashSet *set, MemoryContext context, Size slot_count) {
  constexpr Size kBatch = 1024;
  HashSet resized = make_set(context, slot_count);
  auto *batch = make_array<uint64>(kBatch);
  Size next = 0;
  while (const Size count = read_distinct(*set, &next, batch, kBatch)) {
    CHECK_FOR_INTERRUPTS();
    insert(&resized, batch, count);
  }
  pfree(batch);
  if (set->slots)
    pfree(set->slots);
  *set = resized;
}

} // namespace bloomfilter
