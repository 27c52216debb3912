// See shard.hpp.

#include "core/shard.hpp"

#include "core/sizing.hpp"
#include "core/structure.hpp"

namespace bloomfilter {
namespace {

// The largest number of values for which size(values, &geometry) fits into `bytes` bytes.
template <typename Size> std::uint64_t most_that_fit(std::uint64_t bytes, Size size) {
  // Sizes grow with the number of values, and no rate takes less than one bit per value.
  std::uint64_t fits = 1, too_many = 8 * bytes + 1;
  while (too_many - fits > 1) {
    const std::uint64_t middle = fits + (too_many - fits) / 2;
    Geometry geometry;
    if (size(middle, &geometry) && geometry.bytes() <= bytes)
      fits = middle;
    else
      too_many = middle;
  }
  return fits;
}

} // namespace

std::uint64_t most_values(Layout layout, double rate, std::uint64_t bytes) {
  return most_that_fit(bytes, [=](std::uint64_t values, Geometry *geometry) {
    return size_for(layout, values, rate, geometry);
  });
}

std::uint64_t most_values_in_lines(double rate, std::uint64_t bytes) {
  return most_that_fit(bytes, [=](std::uint64_t values, Geometry *geometry) {
    return size_in_lines(values, rate, geometry);
  });
}

std::uint64_t shards_for(Layout layout, std::uint64_t expected, double rate, std::uint64_t bytes) {
  return expected / most_values(layout, rate, bytes) + 1;
}

} // namespace bloomfilter
