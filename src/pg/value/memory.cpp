// See memory.hpp. Large pages are only a hint to the system; if madvise() fails, nothing else
// changes.

#include "pg/value/memory.hpp"

#include <sys/mman.h>

extern "C" {
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

constexpr Size kAlignment = 64;
constexpr Size kMoved = 8 * 1024 * 1024; // bytes between two checks for interrupts
// Smaller chunks are not kept here, because the system's allocator keeps them itself.
constexpr Size kLeastKept = 64 * 1024;

struct Buffer {
  MemoryContext context; // NULL until the first buffer is allocated
  void *chunk;
  Size bytes; // that can be borrowed; 0 if there is no buffer
  bool lent;
};
Buffer buffer;

void request_large_pages(void *memory, Size bytes) {
#ifdef MADV_HUGEPAGE
  constexpr Size kLargePage = 2 * 1024 * 1024;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = TYPEALIGN(kLargePage, begin);
  const uintptr_t end = TYPEALIGN_DOWN(kLargePage, begin + bytes);
  if (first < end)
    (void)madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
#endif
}

void *allocate(MemoryContext context, Size bytes) {
  void *chunk = MemoryContextAllocHuge(context, bytes + kAlignment);
  request_large_pages(chunk, bytes + kAlignment);
  return chunk;
}

void *align(void *chunk, Size offset) {
  const auto address = reinterpret_cast<uintptr_t>(chunk);
  return reinterpret_cast<void *>(TYPEALIGN(kAlignment, address + offset) - offset);
}

void free_buffer() {
  buffer.bytes = 0;
  if (buffer.context)
    MemoryContextReset(buffer.context);
}

void enlarge_buffer(Size bytes) {
  free_buffer();
  if (!buffer.context)
    buffer.context =
        AllocSetContextCreate(TopMemoryContext, "bloomfilter buffer", ALLOCSET_SMALL_SIZES);
  buffer.chunk = allocate(buffer.context, bytes);
  buffer.bytes = bytes;
}

} // namespace

void clear_memory(void *memory, Size bytes) {
  for (Size at = 0; at < bytes; at += kMoved) {
    CHECK_FOR_INTERRUPTS();
    memset(static_cast<uint8 *>(memory) + at, 0, Min(bytes - at, kMoved));
  }
}

void move_memory(void *to, const void *from, Size bytes) {
  for (Size at = 0; at < bytes; at += kMoved) {
    CHECK_FOR_INTERRUPTS();
    memmove(static_cast<uint8 *>(to) + at, static_cast<const uint8 *>(from) + at,
            Min(bytes - at, kMoved));
  }
}

struct varlena *new_value(Size length) {
  auto *value = static_cast<struct varlena *>(palloc(VARHDRSZ + length));
  SET_VARSIZE(value, VARHDRSZ + length);
  return value;
}

struct varlena *make_value(const void *payload, Size length) {
  struct varlena *value = new_value(length);
  move_memory(VARDATA(value), payload, length);
  return value;
}

void *allocate_aligned(MemoryContext context, Size bytes, Size offset, void **chunk) {
  *chunk = allocate(context, bytes);
  return align(*chunk, offset);
}

void *borrow_buffer(Size bytes, Size offset) {
  const Size most = Min(kMostKept, get_hash_memory_limit());
  if (buffer.lent)
    return nullptr;
  if (buffer.bytes > most)
    free_buffer();
  if (bytes < kLeastKept || bytes > most)
    return nullptr;
  if (buffer.bytes < bytes)
    enlarge_buffer(bytes);
  buffer.lent = true;
  return align(buffer.chunk, offset);
}

void return_buffer() {
  buffer.lent = false;
}

} // namespace bloomfilter
