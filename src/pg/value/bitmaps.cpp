// See bitmaps.hpp. Each function passes over a bitmap in steps and calls the core for each step.

#include "pg/value/bitmaps.hpp"

#include "core/bitmap.hpp"
#include "core/counting.hpp"

namespace bloomfilter {

const Kernel *kernel = &kScalarKernel;

namespace {

void combine(void (*in_step)(const Kernel &, uint8 *, const uint8 *, Size), uint8 *bitmap,
             const uint8 *other, Size bytes) {
  for (Size at = 0; at < bytes; at += kStep) {
    CHECK_FOR_INTERRUPTS();
    in_step(*kernel, bitmap + at, other + at, Min(bytes - at, kStep));
  }
}

} // namespace

uint64 bits_set(const uint8 *bitmap, const Geometry &geometry) {
  uint64 set = 0;
  for_each_step(bitmap, geometry.bytes(), [&set](const uint8 *bytes, Size, Size length) {
    set += count_set(*kernel, bytes, length);
  });
  return set;
}

void unite_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes) {
  combine(unite, bitmap, other, bytes);
}

void intersect_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes) {
  combine(intersect, bitmap, other, bytes);
}

void unite_counters(uint8 *counters, const uint8 *other, Size bytes) {
  combine([](const Kernel &, uint8 *to, const uint8 *from,
             Size length) { counting_unite(to, from, length); },
          counters, other, bytes);
}

} // namespace bloomfilter
