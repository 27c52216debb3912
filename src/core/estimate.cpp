#include "core/estimate.hpp"

#include <cmath>

#include "core/kernel.hpp"

namespace bloomfilter {
namespace {

// (set / 512)^k for every number of set bits.
struct PassRates {
  double at[kLineBits + 1];

  explicit PassRates(int k) {
    for (int set = 0; set <= kLineBits; set++) {
      double power = 1.0;
      for (int i = 0; i < k; i++)
        power *= static_cast<double>(set) / kLineBits;
      at[set] = power;
    }
  }

  double mean(const std::uint8_t *lines, std::uint32_t count) const {
    double sum = 0.0;
    for (std::uint32_t i = 0; i < count; i++)
      sum += at[count_bits(lines + static_cast<std::size_t>(i) * kLineBytes, kLineBytes)];
    return sum / count;
  }
};

} // namespace

double estimate_count(const Geometry &geometry, std::uint64_t bits_set) {
  const std::uint64_t bits = geometry.bits();
  if (bits_set >= bits)
    return INFINITY;

  // Share of its unit's bits that a value leaves as they are.
  double untouched;
  if (geometry.layout == Layout::lines)
    untouched = std::pow(1.0 - 1.0 / kLineBits, geometry.hashes);
  else
    untouched = 0.75 + 0.25 * std::pow(1.0 - 1.0 / kLineBits, geometry.hashes / 2);
  const double set_share = static_cast<double>(bits_set) / static_cast<double>(bits);
  return std::log1p(-set_share) / std::log1p(-(1.0 - untouched) / geometry.units);
}

double estimate_rate(const Geometry &geometry, const std::uint8_t *bitmap) {
  if (geometry.layout == Layout::lines)
    return PassRates(geometry.hashes).mean(bitmap, geometry.units);

  const PassRates rates(geometry.hashes / 2);
  double sum = 0.0;
  for (std::uint32_t page = 0; page < geometry.units; page++) {
    const std::uint8_t *first = bitmap + page * geometry.unit_bytes();
    sum += rates.mean(first, kHalfPageLines) *
           rates.mean(first + kHalfPageLines * kLineBytes, kPageLines - kHalfPageLines);
  }
  return sum / geometry.units;
}

} // namespace bloomfilter
