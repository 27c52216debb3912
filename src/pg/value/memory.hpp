// Memory for a bitmap whose lines are read or written many times, in random order. It also has
// functions that clear or copy large values and can be interrupted.
//
// The memory is aligned so that no line of the bitmap straddles two cache lines. Large pages are
// requested, because random lines of a large bitmap lie on different pages. With pages of 4 kB,
// nearly each access would also miss the processor's cache of page addresses (the TLB). Only some
// systems give large pages to programs that request them, such as Linux with
// transparent_hugepage=madvise. On other systems, the memory has normal pages.
//
// A bitmap that is written once from start to end gains nothing from this. It is palloc'ed.
#pragma once

#include "pg/server.hpp"

namespace bloomfilter {

// clear_memory() sets bytes to zero. move_memory() moves bytes to other memory, or to a lower
// address of the same memory. Both work in steps and check for interrupts before each step, because
// the first access to half a gigabyte takes long.
void clear_memory(void *memory, Size bytes);
void move_memory(void *to, const void *from, Size bytes);

// A new value with room for a payload of `length` bytes, which are not set.
struct varlena *new_value(Size length);

// A value whose payload is a copy of the `length` bytes at `payload`.
struct varlena *make_value(const void *payload, Size length);

// Allocates memory of any size. Its address is `offset` bytes before a multiple of 64. The memory
// is not zeroed. Sets `chunk` to the pointer that must be freed.
void *allocate_aligned(MemoryContext context, Size bytes, Size offset, void **chunk);

// Lends the session's buffer, which is one chunk of memory that outlives the transaction.
// return_buffer() gives it back. Without the buffer, each transaction would allocate and free such
// memory. The page faults of new memory take longer than copying a value into it. The content of
// the buffer is not used again: each borrower writes the bytes that it reads.
//
// The buffer has the largest size that was borrowed so far. This is at most kMostKept bytes and at
// most work_mem * hash_mem_multiplier. If these settings are lowered and the buffer is too large
// now, the next call of borrow_buffer() frees it.
//
// The returned address is `offset` bytes before a multiple of 64. Returns NULL if the buffer is
// lent already, or if the size is too small or too large for the buffer.
constexpr Size kMostKept = 32 * 1024 * 1024;
void *borrow_buffer(Size bytes, Size offset);
void return_buffer();

} // namespace bloomfilter
