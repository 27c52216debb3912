// Memory that the server's settings bound, and lines that do not straddle cache lines.
#ifndef BLOOMFILTER_PG_MEMORY_HPP
#define BLOOMFILTER_PG_MEMORY_HPP

#include "pg/server.hpp"

namespace bloomfilter {

// work_mem * hash_mem_multiplier, in bytes.
Size hash_memory_limit();

// A chunk of `bytes` whose address is `offset` bytes before a multiple of 64. The chunk to free is
// stored in `chunk`. `flags` as of MemoryContextAllocExtended().
void *allocate_aligned(MemoryContext context, Size bytes, Size offset, int flags, void **chunk);

} // namespace bloomfilter

#endif
