// Memory for a bitmap whose lines are read or written at random, many times.
//
// Its lines do not straddle cache lines. And as random lines of a large bitmap lie in as many
// pages, with pages of 4 kB each access would miss the processor's page table cache, too: where the
// system gives large pages to whoever asks for them (Linux with transparent_hugepage=madvise), this
// asks; elsewhere nothing happens. What is written once in its order gains nothing and is
// palloc'ed.
#ifndef BLOOMFILTER_PG_MEMORY_HPP
#define BLOOMFILTER_PG_MEMORY_HPP

#include "pg/server.hpp"

namespace bloomfilter {

// A chunk of `bytes`, of any size, whose address is `offset` bytes before a multiple of 64; not
// zeroed. The chunk to free is stored in `chunk`.
void *allocate_aligned(MemoryContext context, Size bytes, Size offset, void **chunk);

} // namespace bloomfilter

#endif
