// See key_set.hpp.

#include "pg/bloompages/key_set.hpp"

namespace bloomfilter {
void KeySet::flush() {
  CHECK_FOR_INTERRUPTS();
  if (set_.count < kMostRangeKeys) {
    if (!set_.has_room(buffered_))
      resize_set(&set_, memory_, 2 * set_.slot_count);
    const Size fresh = insert(&set_, buffer_, buffered_);
    for (Size i = 0; i < fresh; i++)
      distinct_.add(buffer_[i], memory_);
  }
  buffered_ = 0;
}

// A range with unusually many keys must not make it slow to clear the set after all later ranges.
void KeySet::clear() {
  buffered_ = 0;
  distinct_.count = 0;
  if (set_.slot_count > kLeast && set_.slot_count > 16 * set_.count) {
    const Size smaller = set_.slot_count / 2;
    release();
    set_ = make_set(memory_, smaller);
    distinct_ = {};
    return;
  }
  memset(set_.slots, 0, set_.slot_count * sizeof(uint64));
  set_.count = 0;
  set_.has_zero = false;
}

void KeySet::release() {
  pfree(set_.slots);
  if (distinct_.items)
    pfree(distinct_.items);
}

} // namespace bloomfilter
