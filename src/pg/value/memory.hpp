// Memory for a bitmap that is read or written at random lines, many times.
//
// The memory is aligned so that no line of the bitmap straddles two cache lines. Large pages are
// requested, because random lines of a large bitmap lie on different pages. With pages of 4 kB,
// each access would also miss the processor's page table cache. The system must give large pages to
// programs that request them (Linux with transparent_hugepage=madvise); elsewhere, normal pages are
// used.
//
// A bitmap that is written once, in order, gains nothing from this. Such bitmaps are palloc'ed.
#ifndef BLOOMFILTER_PG_VALUE_MEMORY_HPP
#define BLOOMFILTER_PG_VALUE_MEMORY_HPP

#include "pg/server.hpp"

namespace bloomfilter {

// Set bytes to zero, or move bytes to a lower address or to other memory. They work in steps and
// check for interrupts before each step, because the first access to half a gigabyte takes long.
void clear_memory(void *memory, Size bytes);
void move_memory(void *to, const void *from, Size bytes);

// A value whose payload is a copy of the `length` bytes at `payload`.
struct varlena *make_value(const void *payload, Size length);

// Allocates memory of any size. Its address is `offset` bytes before a multiple of 64. The memory
// is not zeroed. Sets `chunk` to the pointer that must be freed.
void *allocate_aligned(MemoryContext context, Size bytes, Size offset, void **chunk);

// Lends the session's buffer, which is one chunk of memory that outlives the transaction. Without
// it, each transaction would allocate and free the memory, and the page faults would take longer
// than copying to the memory. Only the memory is kept, not what is in it: no transaction reads what
// another one wrote.
//
// The buffer is as large as the largest one that was borrowed, but at most kMostKept bytes and at
// most work_mem * hash_mem_multiplier. If that setting is lowered, the next call of borrow_buffer()
// frees the buffer.
//
// The address is as for allocate_aligned(). Returns NULL if the buffer is lent already, or if the
// size is too small or too large to be kept.
constexpr Size kMostKept = 32 * 1024 * 1024;
void *borrow_buffer(Size bytes, Size offset);
void return_buffer();

} // namespace bloomfilter

#endif
