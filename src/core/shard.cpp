// See shard.hpp.

#include "core/shard.hpp"

#include "core/structure.hpp"

namespace bloomfilter {

std::uint64_t most_values(Layout layout, double rate, std::uint64_t bytes) {
  // Sizes grow with the number of values, and no rate takes less than one bit per value.
  std::uint64_t fits = 1, too_many = 8 * bytes + 1;
  while (too_many - fits > 1) {
    const std::uint64_t middle = fits + (too_many - fits) / 2;
    Geometry geometry;
    if (size_for(layout, middle, rate, &geometry) && geometry.bytes() <= bytes)
      fits = middle;
    else
      too_many = middle;
  }
  return fits;
}

std::uint64_t shards_for(Layout layout, std::uint64_t expected, double rate, std::uint64_t bytes) {
  return expected / most_values(layout, rate, bytes) + 1;
}

} // namespace bloomfilter
