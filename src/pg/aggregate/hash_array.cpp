// See hash_array.hpp.

#include "pg/aggregate/hash_array.hpp"

#include "core/distinct.hpp"
#include "pg/value/filter.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace bloomfilter {

void resize_array(HashArray *array, MemoryContext context, Size capacity) {
  const Size bytes = capacity * sizeof(uint64);
  array->hashes = static_cast<uint64 *>(array->hashes ? repalloc_huge(array->hashes, bytes)
                                                      : MemoryContextAllocHuge(context, bytes));
  array->capacity = capacity;
}

void sort_array(HashArray *array, int copies) {
  sort_hashes(array->hashes, array->count, check_for_interrupts);
  array->count = keep_copies(array->hashes, array->count, copies);
}

} // namespace bloomfilter
