// The distinct hashes of a range of heap pages. A range has many more keys than distinct ones: of
// 64 kB of log lines, one n-gram in five is new. So copies are removed as they come.
#pragma once

#include "pg/server.hpp"

#include "pg/value/hash_set.hpp"

namespace bloomfilter {

// A range with more distinct keys gets a filter of ones, so every scan reads it. Its keys would
// take 64 MB while it is read, and one large document may have as many.
constexpr Size kMostRangeKeys = Size{1} << 22;

class KeySet {
public:
  explicit KeySet(MemoryContext memory)
      : memory_(memory), set_(make_set(memory, kLeast)), buffered_(0) {}

  void add(uint64 hash) {
    buffer_[buffered_++] = hash;
    if (buffered_ == kBuffered)
      flush();
  }
  // The number of distinct hashes, if the set is not full.
  Size count() {
    flush();
    return set_.count;
  }
  // True if there are kMostRangeKeys or more. Later ones are then left out.
  bool is_full() { return count() >= kMostRangeKeys; }
  // Calls use(hashes, count) for all distinct hashes, in batches.
  template <typename Use> void for_each_batch(Use use) {
    flush();
    uint64 batch[kBuffered];
    Size next = 0;
    while (const Size read = read_distinct(set_, &next, batch, kBuffered))
      use(batch, read);
  }
  // Empties the set. A range with unusually many keys must not make it slow to clear the set after
  // all later ranges.
  void clear() {
    buffered_ = 0;
    if (set_.slot_count > kLeast && set_.slot_count > 16 * set_.count) {
      const Size smaller = set_.slot_count / 2;
      pfree(set_.slots);
      set_ = make_set(memory_, smaller);
      return;
    }
    memset(set_.slots, 0, set_.slot_count * sizeof(uint64));
    set_.count = 0;
    set_.has_zero = false;
  }
  void release() { pfree(set_.slots); }

private:
  static constexpr Size kLeast = 4096;
  static constexpr Size kBuffered = 1024;

  void flush() {
    CHECK_FOR_INTERRUPTS();
    if (set_.count < kMostRangeKeys) {
      if (!set_.has_room(buffered_))
        resize_set(&set_, memory_, 2 * set_.slot_count);
      (void)insert(&set_, buffer_, buffered_);
    }
    buffered_ = 0;
  }

  MemoryContext memory_;
  HashSet set_;
  Size buffered_;
  uint64 buffer_[kBuffered];
};

} // namespace bloomfilter
