// Lookups inlined into the loop that makes them, as in a C++ program that includes a kernel's file,
// and as in Boost.Bloom: without a call, and with a constant number of hash functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

constexpr std::uint8_t kInlinedK = 6; // as for 1 %

// Is there such a loop for a geometry, on the machine that this was compiled for?
bool is_inlined(const Geometry &geometry);

// How many of the hashes are possibly in a filter.
std::size_t count_inlined(const Geometry &geometry, const std::uint8_t *bitmap,
                          const std::uint64_t *hashes, std::size_t count);

} // namespace bloomfilter
