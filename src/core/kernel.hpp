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

// A function that asks a structure of ours by a hash alone.
using HashTest = bool (*)(const Geometry &geometry, const std::uint8_t *bytes, std::uint64_t hash);

// A bitmap is whole lines, at any alignment; geometries are possible ones of our own layouts.
struct Kernel {
  const char *name;
  // Are all bits of the hash set? Tests all of them: a mispredicted early exit costs more.
  HashTest contains;
  // contains() for geometries of this layout and k: a faster one, to be chosen once for many calls.
  HashTest (*contains_for)(const Geometry &geometry);
  // contains() for many hashes, one answer each.
  void (*contains_many)(const Geometry &geometry, const std::uint8_t *bitmap,
                        const std::uint64_t *hashes, std::size_t count, bool *answers);
  // contains() for counters (core/counting.hpp): are all counters of the hash above 0?
  HashTest counting_contains;
  // Sets the bits of many hashes.
  void (*add_many)(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *hashes,
                   std::size_t count);
  // Sets in `lines` every bit that is set in `other`.
  void (*unite)(std::uint8_t *lines, const std::uint8_t *other, std::size_t count);
  // Clears in `lines` every bit that is clear in `other`.
  void (*intersect)(std::uint8_t *lines, const std::uint8_t *other, std::size_t count);
  // The number of set bits, 0 ... 512, of each line.
  void (*count_bits)(const std::uint8_t *lines, std::size_t count, std::uint16_t *set);
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

} // namespace bloomfilter

#endif
