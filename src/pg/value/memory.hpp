// Memory for a bitmap whose lines are read or written at random, many times.
//
// The lines of such a bitmap do not straddle cache lines. And as random lines of a large bitmap lie
// in as many pages, with pages of 4 kB each access would miss the processor's page table cache,
// too. So large pages are asked for, where the system gives them to whoever asks (Linux with
// transparent_hugepage=madvise). A bitmap that is written once, in order, gains nothing by all this
// and is palloc'ed.
#ifndef BLOOMFILTER_PG_VALUE_MEMORY_HPP
#define BLOOMFILTER_PG_VALUE_MEMORY_HPP

#include "pg/server.hpp"

namespace bloomfilter {

// Sets bytes to zero, or moves them to a lower address or to other memory, in steps with a check
// for interrupts before each: the first touch of half a gigabyte takes long.
void clear_memory(void *memory, Size bytes);
void move_memory(void *to, const void *from, Size bytes);

// A value whose payload is a copy of so many bytes.
struct varlena *make_value(const void *payload, Size length);

// Memory of any size, whose address is `offset` bytes before a multiple of 64. It is not zeroed.
// `chunk` is set to what is to be freed.
void *allocate_aligned(MemoryContext context, Size bytes, Size offset, void **chunk);

// The session's buffer is one chunk that outlives the transaction. Memory that each transaction
// allocates and frees is paid for again in page faults, which take longer than copying to
// it. Nothing but the memory is kept: no transaction reads what another one wrote. The buffer is
// as large as the largest that was borrowed, but at most kMostKept bytes and work_mem *
// hash_mem_multiplier; when that is set lower, the next call of borrow_buffer() frees it.
//
// The address is as above. NULL if the buffer is lent already, or if so many bytes are not kept.
constexpr Size kMostKept = 32 * 1024 * 1024;
void *borrow_buffer(Size bytes, Size offset);
void return_buffer();

} // namespace bloomfilter

#endif
