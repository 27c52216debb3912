#include "pg/memory.hpp"

extern "C" {
#include "executor/nodeHash.h"
#include "utils/memutils.h"
}

namespace bloomfilter {

Size hash_memory_limit() {
#if PG_VERSION_NUM >= 150000
  return get_hash_memory_limit();
#else
  return static_cast<Size>(get_hash_mem()) * 1024;
#endif
}

void *allocate_aligned(MemoryContext context, Size bytes, Size offset, int flags, void **chunk) {
  constexpr Size kAlignment = 64;
  *chunk = MemoryContextAllocExtended(context, bytes + kAlignment, flags);
  const auto address = reinterpret_cast<uintptr_t>(*chunk);
  return reinterpret_cast<void *>(TYPEALIGN(kAlignment, address + offset) - offset);
}

} // namespace bloomfilter
