// Bitmaps and counters as wholes, worked on in steps with a check for interrupts before each.
#ifndef BLOOMFILTER_PG_VALUE_BITMAPS_HPP
#define BLOOMFILTER_PG_VALUE_BITMAPS_HPP

#include "pg/server.hpp"

#include "core/kernel.hpp"

namespace bloomfilter {

// The kernel for this process, which _PG_init() chooses when the library is loaded.
extern const Kernel *kernel;

// A CheckInterrupts for functions of the core.
inline void check_for_interrupts() {
  CHECK_FOR_INTERRUPTS();
}

// The bytes of a step: whole units of every layout.
constexpr Size kStep = 1024 * 1024;

// Calls use(bytes, offset, length) for each part of a bitmap, in order. Parts are whole units.
template <typename F> void for_each_part(const uint8 *bitmap, Size bytes, F use) {
  for (Size at = 0; at < bytes; at += kStep) {
    CHECK_FOR_INTERRUPTS();
    use(bitmap + at, at, Min(bytes - at, kStep));
  }
}

// The number of set bits.
uint64 bits_set(const uint8 *bitmap, const Geometry &geometry);

// Sets in a bitmap every bit that another one of as many bytes has; clears every bit that it lacks.
void unite_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes);
void intersect_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes);

// Adds other counters to counters, each up to the highest that a counter can be.
void unite_counters(uint8 *counters, const uint8 *other, Size bytes);

} // namespace bloomfilter

#endif
