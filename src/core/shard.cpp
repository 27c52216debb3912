#include "core/shard.hpp"

#include "core/sizing.hpp"

namespace bloomfilter {

std::uint64_t shards_for(std::uint64_t expected, double rate) {
  // The most values that a shard can hold: sizes grow with the number of values, and no rate takes
  // less than a bit per value.
  std::uint64_t fits = 1, too_many = 8 * kShardBytes + 1;
  while (too_many - fits > 1) {
    const std::uint64_t middle = fits + (too_many - fits) / 2;
    Geometry geometry;
    if (size_for_capacity(middle, rate, &geometry) && geometry.bytes() <= kShardBytes)
      fits = middle;
    else
      too_many = middle;
  }
  return expected / fits + 1;
}

} // namespace bloomfilter
