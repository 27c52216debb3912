#include "pg/memory.hpp"

#include <sys/mman.h>

extern "C" {
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

void ask_for_large_pages(void *memory, Size bytes) {
#ifdef MADV_HUGEPAGE
  constexpr Size kLargePage = 2 * 1024 * 1024;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = TYPEALIGN(kLargePage, begin);
  const uintptr_t end = TYPEALIGN_DOWN(kLargePage, begin + bytes);
  if (first < end)
    (void)madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
#endif
}

} // namespace

void *allocate_aligned(MemoryContext context, Size bytes, Size offset, void **chunk) {
  constexpr Size kAlignment = 64;
  *chunk = MemoryContextAllocHuge(context, bytes + kAlignment);
  ask_for_large_pages(*chunk, bytes + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(*chunk);
  return reinterpret_cast<void *>(TYPEALIGN(kAlignment, address + offset) - offset);
}

} // namespace bloomfilter
