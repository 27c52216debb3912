// The number of distinct hashes that a filter is sized for.
//
// Up to kExactDistinct it is their exact number, above that a HyperLogLog estimate plus two
// standard errors (core/distinct.hpp). So it depends on the set of hashes alone: not on work_mem,
// the plan or the order of the rows. (Hashes that were chosen to mislead the estimate are an
// exception: then it is the number of those that were kept, repeated ones among them.)
#ifndef BLOOMFILTER_PG_AGGREGATE_REGISTERS_HPP
#define BLOOMFILTER_PG_AGGREGATE_REGISTERS_HPP

#include "pg/server.hpp"

#include "core/distinct.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace bloomfilter {

// Registers without a hash, for at least so many distinct ones; NULL as long as their exact number
// decides.
inline uint8 *make_registers(MemoryContext context, Size distinct) {
  return distinct > kExactDistinct
             ? static_cast<uint8 *>(MemoryContextAllocZero(context, kRegisters))
             : nullptr;
}

// The number to size for, at least 1: what the registers say of so many hashes or, if there are no
// registers, the number of hashes, of which none is repeated.
inline uint64 distinct_to_size_for(const uint8 *registers, uint64 hashes) {
  return registers ? padded_capacity(estimate_distinct(registers), hashes) : Max(hashes, uint64{1});
}

} // namespace bloomfilter

#endif
