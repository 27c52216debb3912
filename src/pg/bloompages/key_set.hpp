// The distinct hashes of a range of heap pages. A range has many more keys than distinct ones: of
// 64 kB of log lines, one n-gram in five is new. So copies are removed as they come. The new hashes
// go into an array, too, because reading them from the set would take longer.
#pragma once

#include "pg/server.hpp"

#include "pg/list.hpp"
#include "pg/value/hash_set.hpp"

namespace bloomfilter {

// A range with more distinct keys gets a filter of ones, so every scan reads it. Its keys would
// take 96 MB while it is read, and one large document may have as many. The last buffer of keys
// still fits into a HashSet of 2^23 slots, which does not have to grow.
constexpr Size kBufferedKeys = 1024, kMostRangeKeys = (Size{1} << 22) - kBufferedKeys;

class KeySet {
public:
  explicit KeySet(MemoryContext memory)
      : memory_(memory), set_(make_set(memory, kLeast)), distinct_{}, buffered_(0) {}

  void add(uint64 hash) {
    buffer_[buffered_++] = hash;
    if (buffered_ == kBufferedKeys)
      flush();
  }
  // The number of distinct hashes, if the set is not full.
  Size count() {
    flush();
    return set_.count;
  }
  // True if there are kMostRangeKeys or more. Later ones are then left out.
  bool is_full() { return count() >= kMostRangeKeys; }
  // All distinct hashes, until the set changes.
  GrowingArray<uint64> distinct() {
    flush();
    return distinct_;
  }
  // Empties the set.
  void clear();
  void release();

private:
  static constexpr Size kLeast = 4096;

  void flush();

  MemoryContext memory_;
  HashSet set_;
  GrowingArray<uint64> distinct_; // the hashes of the set
  Size buffered_;
  uint64 buffer_[kBufferedKeys];
};

} // namespace bloomfilter
