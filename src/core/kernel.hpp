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

// A function that looks up a hash in a structure of one of our own layouts.
using HashTest = bool (*)(const Geometry &geometry, const std::uint8_t *bytes, std::uint64_t hash);

// The functions for one instruction set. Bitmaps are whole lines, at any alignment; geometries are
// valid ones of our own layouts.
struct Kernel {
  const char *name;
  // Are all bits of the hash set? Tests all of them: a mispredicted early exit costs more.
  HashTest contains;
  // A faster contains() for geometries of this layout and k, to be chosen once for many calls.
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

// Each is NULL if the processor or the build does not have it.
const Kernel *avx2_kernel();
const Kernel *neon_kernel();

// The fastest kernel of this machine.
const Kernel &best_kernel();

// The kernel of that name, or NULL if this machine has no such kernel. A NULL name stands for the
// fastest one.
const Kernel *find_kernel(const char *name);

} // namespace bloomfilter

#endif
