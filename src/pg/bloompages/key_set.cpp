// See key_set.hpp.

#include "pg/bloompages/key_set.hpp"

namespace bloomfilter {
namespace {

// Each process has a random seed, because somebody may have chosen keys that collide in a set.
uint64 process_seed() {
  static uint64 seed = 0;
  if (unlikely(seed == 0))
    (void)pg_strong_random(&seed, sizeof seed); // if this fails, 0 is a valid seed, too
  return seed;
}

} // namespace

void KeySet::resize(Size slots) {
  const HashSet old = set_;
  set_ = {};
  set_.slots = static_cast<uint64 *>(MemoryContextAllocExtended(memory_, slots * sizeof(uint64),
                                                                MCXT_ALLOC_ZERO | MCXT_ALLOC_HUGE));
  set_.slot_count = slots;
  set_.number = old.number + 1;
  if (!old.slots)
    return;
  uint64 batch[kBuffered];
  Size next = 0;
  while (const Size read = read_distinct(old, &next, batch, kBuffered))
    (void)insert_distinct(&set_, process_seed(), batch, read);
  pfree(old.slots);
}

void KeySet::flush() {
  CHECK_FOR_INTERRUPTS();
  if (set_.count < kMostRangeKeys) {
    if (!set_.has_room(buffered_))
      resize(2 * set_.slot_count);
    (void)insert_distinct(&set_, process_seed(), buffer_, buffered_);
  }
  buffered_ = 0;
}

// A range with unusually many keys must not make it slow to clear the set after all later ranges.
void KeySet::clear() {
  buffered_ = 0;
  if (set_.slot_count > kLeast && set_.slot_count > 16 * set_.count) {
    pfree(set_.slots);
    set_.slots = nullptr;
    resize(set_.slot_count / 2);
    return;
  }
  memset(set_.slots, 0, set_.slot_count * sizeof(uint64));
  set_.count = 0;
  set_.has_zero = false;
}

} // namespace bloomfilter
