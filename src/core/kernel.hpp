// The inner loops over a bitmap, once for each instruction set.
//
// The scalar kernel is the reference. Every other kernel gives the same bytes and answers, which
// test/unit/kernel_test.cpp checks. best_kernel() looks at the processor, never at the compiler's
// flags, so one build runs everywhere.
//
// A value's bits all lie in one line of 64 bytes, or in two, so a probe waits for memory once. The
// trade-off: lines fill unevenly, and the fuller ones give more false positives. So a filter takes
// 9.92 bits per value at 1 %, where an ideal Bloom filter takes 9.59. A probe of a filter of a
// million values takes 1.77 ns alone and 1.06 ns in a batch. Boost.Bloom takes 1.54 and 1.29 ns,
// with 10.10 bits (script/bench core).
//
// What is not good about it: the loops exist once for each instruction set, and few machines can
// run all of them.
//
// Tests: test/unit/kernel_test.cpp, script/matrix processors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

// A function that probes a structure of one of our own layouts for a hash.
using HashTest = bool (*)(const Geometry &geometry, const std::uint8_t *bytes, std::uint64_t hash);

// The functions for one instruction set. Bitmaps are whole lines, at any alignment. Geometries must
// be valid and of our own layouts.
struct Kernel {
  const char *name;
  // True if all bits of the hash are set. Tests all of them, because an early exit would be
  // mispredicted and cost more.
  HashTest contains;
  // A faster contains() for geometries of this layout and k. Choose it once for many calls.
  HashTest (*contains_for)(const Geometry &geometry);
  // contains() for many hashes. Writes one answer for each.
  void (*contains_many)(const Geometry &geometry, const std::uint8_t *bitmap,
                        const std::uint64_t *hashes, std::size_t count, bool *answers);
  // contains() for counters (core/counting.hpp): true if all counters of the hash are above 0.
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

// NULL if the processor or the build does not have the kernel.
const Kernel *avx2_kernel();
const Kernel *avx512_kernel();
const Kernel *neon_kernel();

// The fastest kernel of this machine.
const Kernel &best_kernel();

// The kernel with this name, or NULL if this machine has no such kernel. If the name is NULL, the
// fastest kernel.
const Kernel *find_kernel(const char *name);

} // namespace bloomfilter
