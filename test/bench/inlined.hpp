// Lookups that are inlined into their loop, without a call and with a constant number of hash
// functions. A C++ program that includes a kernel's file has such lookups, and so has Boost.Bloom.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

constexpr std::uint8_t kInlinedK = 6; // as for 1 %

// Returns whether there is such a loop for the geometry, on the machine that this was compiled for.
bool is_inlined(const Geometry &geometry);

// Returns the number of hashes that are possibly in the filter.
std::size_t count_inlined(const Geometry &geometry, const std::uint8_t *bitmap,
                          const std::uint64_t *hashes, std::size_t count);

} // namespace bloomfilter
