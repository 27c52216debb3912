// Operations on whole bitmaps: counting bits, union and intersection. They use the kernel that the
// caller passes. A bitmap can have any whole number of 64-bit words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernel.hpp"

namespace bloomfilter {

// The number of set bits.
std::uint64_t count_set(const Kernel &kernel, const std::uint8_t *bitmap, std::size_t bytes);

// unite() sets in `bitmap` every bit that is set in `other`. intersect() clears every bit that is
// clear in `other`. Both bitmaps have `bytes` bytes.
void unite(const Kernel &kernel, std::uint8_t *bitmap, const std::uint8_t *other,
           std::size_t bytes);
void intersect(const Kernel &kernel, std::uint8_t *bitmap, const std::uint8_t *other,
               std::size_t bytes);

} // namespace bloomfilter
