// Memory in which a filter's lines do not straddle cache lines.
#ifndef BLOOMFILTER_PG_MEMORY_HPP
#define BLOOMFILTER_PG_MEMORY_HPP

#include "pg/server.hpp"

namespace bloomfilter {

// A chunk of `bytes` whose address is `offset` bytes before a multiple of 64. The chunk to free is
// stored in `chunk`. `flags` as of MemoryContextAllocExtended().
void *allocate_aligned(MemoryContext context, Size bytes, Size offset, int flags, void **chunk);

} // namespace bloomfilter

#endif
