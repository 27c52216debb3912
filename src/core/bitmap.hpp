// Bitmaps as wholes, of any whole number of 64-bit words: counting, uniting and intersecting, with
// the kernel of the processor.
#ifndef BLOOMFILTER_CORE_BITMAP_HPP
#define BLOOMFILTER_CORE_BITMAP_HPP

#include <cstddef>
#include <cstdint>

#include "core/kernel.hpp"

namespace bloomfilter {

// The number of set bits.
std::uint64_t count_set(const Kernel &kernel, const std::uint8_t *bitmap, std::size_t bytes);

// The number of bits that are set in one or the other of two bitmaps of as many bytes.
std::uint64_t count_union(const Kernel &kernel, const std::uint8_t *bitmap,
                          const std::uint8_t *other, std::size_t bytes);

// Sets in a bitmap every bit that another one of as many bytes has; clears every bit that it lacks.
void unite(const Kernel &kernel, std::uint8_t *bitmap, const std::uint8_t *other,
           std::size_t bytes);
void intersect(const Kernel &kernel, std::uint8_t *bitmap, const std::uint8_t *other,
               std::size_t bytes);

} // namespace bloomfilter

#endif
