#include "pg/memory.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace bloomfilter {

void *allocate_aligned(MemoryContext context, Size bytes, Size offset, int flags, void **chunk) {
  constexpr Size kAlignment = 64;
  *chunk = MemoryContextAllocExtended(context, bytes + kAlignment, flags);
  const auto address = reinterpret_cast<uintptr_t>(*chunk);
  return reinterpret_cast<void *>(TYPEALIGN(kAlignment, address + offset) - offset);
}

} // namespace bloomfilter
