// Memory for a bitmap whose lines are read or written at random, many times.
//
// Its lines do not straddle cache lines. And as random lines of a large bitmap lie in as many
// pages, with pages of 4 kB each access would miss the processor's page table cache, too: where the
// system gives large pages to whoever asks for them (Linux with transparent_hugepage=madvise), this
// asks; elsewhere nothing happens. What is written once in its order gains nothing and is
// palloc'ed.
#ifndef BLOOMFILTER_PG_VALUE_MEMORY_HPP
#define BLOOMFILTER_PG_VALUE_MEMORY_HPP

#include "pg/server.hpp"

namespace bloomfilter {

// Sets bytes to zero, or moves them to a lower address or to other memory, in steps with a check
// for interrupts before each: the first touch of half a gigabyte takes long.
void clear_memory(void *memory, Size bytes);
void move_memory(void *to, const void *from, Size bytes);

// A value with a copy of so many bytes as its payload.
struct varlena *make_value(const void *payload, Size length);

// A chunk of `bytes`, of any size, whose address is `offset` bytes before a multiple of 64; not
// zeroed. The chunk to free is stored in `chunk`.
void *allocate_aligned(MemoryContext context, Size bytes, Size offset, void **chunk);

// The session's buffer: one chunk that stays, as memory only, for it is never read before it was
// written. What a transaction allocates and frees, the next one pays for again in page faults, more
// than for what it copies there. It is as large as the largest that was borrowed, at most kMostKept
// bytes and work_mem * hash_mem_multiplier; when that is set lower, the next call frees it.
//
// Its address is as above; NULL if it is lent already, or so many bytes are not kept.
constexpr Size kMostKept = 32 * 1024 * 1024;
void *borrow_buffer(Size bytes, Size offset);
void return_buffer();

} // namespace bloomfilter

#endif
