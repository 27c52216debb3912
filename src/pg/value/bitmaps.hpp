// Operations on whole bitmaps and on whole arrays of counters. They work in steps of 1 MB and check
// for interrupts before each step, because a bitmap may be half a gigabyte long.
#pragma once

#include "pg/server.hpp"

#include "core/kernel.hpp"

namespace bloomfilter {

// The kernel for this process, which _PG_init() chooses when the library is loaded.
extern const Kernel *kernel;

// The function that callers pass to the core as its CheckInterrupts.
inline void check_for_interrupts() {
  CHECK_FOR_INTERRUPTS();
}

// The bytes of a step. A step has only whole units, in every layout but that of buckets.
constexpr Size kStep = 1024 * 1024;

// Calls use(bytes, offset, length) for each part of a bitmap, in order. Each part consists of whole
// units. A part of buckets may end in a bucket.
template <typename F> void for_each_step(const uint8 *bitmap, Size bytes, F use) {
  for (Size at = 0; at < bytes; at += kStep) {
    CHECK_FOR_INTERRUPTS();
    use(bitmap + at, at, Min(bytes - at, kStep));
  }
}

// The number of set bits.
uint64 bits_set(const uint8 *bitmap, const Geometry &geometry);

// Combine a bitmap with another one of the same length. The first function sets every bit that the
// other bitmap has. The second one clears every bit that the other bitmap lacks.
void unite_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes);
void intersect_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes);

// Adds other counters to the given ones. A counter stops at its highest value.
void unite_counters(uint8 *counters, const uint8 *other, Size bytes);

} // namespace bloomfilter
