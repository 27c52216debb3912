// The inner loops over a bitmap, once for each instruction set.
//
// The scalar kernel is the reference; every other one gives the same bytes and answers, which
// test/unit/kernel_test.cpp checks. best_kernel() asks the processor, never the compiler's flags,
// so one build runs everywhere.
#ifndef BLOOMFILTER_CORE_KERNEL_HPP
#define BLOOMFILTER_CORE_KERNEL_HPP

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

struct Kernel {
  const char *name;
  // Are all bits of the hash set? Tests all of them: a mispredicted early exit costs more.
  bool (*contains)(const Geometry &geometry, const std::uint8_t *bitmap, std::uint64_t hash);
  // Sets the bits of the hash; was any of them clear?
  bool (*add)(const Geometry &geometry, std::uint8_t *bitmap, std::uint64_t hash);
  // add() for many hashes, their lines prefetched.
  void (*add_many)(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *hashes,
                   std::size_t count);
};

extern const Kernel kScalarKernel;

// Each NULL where the processor or the build has none.
const Kernel *avx2_kernel();
const Kernel *avx512_kernel();
const Kernel *neon_kernel();

// The fastest kernel of this machine.
const Kernel &best_kernel();

// The kernel of that name, or NULL if this machine has none such.
const Kernel *find_kernel(const char *name);

// The number of set bits in `length` bytes.
std::uint64_t count_bits(const std::uint8_t *bytes, std::size_t length);

// Sets in `bytes` every bit that is set in `other`.
void unite_bits(std::uint8_t *bytes, const std::uint8_t *other, std::size_t length);

} // namespace bloomfilter

#endif
