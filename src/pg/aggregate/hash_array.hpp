// An array of hashes that grows on demand. It is the part of a bag (hash_bag.hpp) that new hashes
// go to, and the workspace in which a spill is sorted. It may exceed 1 GB.
#pragma once

#include "pg/server.hpp"

namespace bloomfilter {

constexpr Size kBatch = 8192; // hashes handled between two checks for interrupts

struct HashArray {
  uint64 *hashes; // NULL while the capacity is 0
  Size count, capacity;
};

// Gives an array another capacity. The first call takes the array's memory from `context`; later
// calls keep that context.
void resize_array(HashArray *array, MemoryContext context, Size capacity);

// Sorts an array, and keeps at most `copies` copies of each hash.
void sort_array(HashArray *array, int copies);

// Appends hashes. Calls make_room() whenever the array is full.
template <typename MakeRoom>
void append(HashArray *array, const uint64 *hashes, Size count, MakeRoom make_room) {
  while (count > 0) {
    if (array->count == array->capacity)
      make_room();
    const Size length = Min(count, array->capacity - array->count);
    memcpy(array->hashes + array->count, hashes, length * sizeof(uint64));
    array->count += length;
    hashes += length;
    count -= length;
  }
}

// Calls use(hashes, count) for all hashes, in batches.
template <typename Use> void for_each_batch(const HashArray &array, Use use) {
  for (Size i = 0; i < array.count; i += kBatch) {
    CHECK_FOR_INTERRUPTS();
    use(array.hashes + i, Min(array.count - i, kBatch));
  }
}

} // namespace bloomfilter
