// See estimate.hpp.

#include "core/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/bitmap.hpp"
#include "core/bytes.hpp"

namespace bloomfilter {
namespace {

constexpr std::size_t kCountedLines = 512; // lines per call of count_bits(): whole pages

double power(double base, std::uint64_t exponent) {
  double result = 1.0;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

// The share of the whole bitmap's bits that one value sets on average.
double touched_share(const Geometry &geometry) {
  constexpr double kMissed = 1.0 - 1.0 / kLineBits;
  const auto bits = static_cast<double>(geometry.bits());
  switch (spread_of(geometry.layout)) {
  case Spread::line:
    return (1.0 - power(kMissed, geometry.k)) / geometry.units;
  case Spread::halves:
    return (1.0 - (0.75 + 0.25 * power(kMissed, geometry.k / 2))) / geometry.units;
  case Spread::words:
    return kBlockWords / bits;
  case Spread::anywhere:
  case Spread::slots: // has no bits to count
    break;
  }
  return 1.0 - power(1.0 - 1.0 / bits, geometry.k);
}

double block_rate(const std::uint8_t *block) {
  double rate = 1.0;
  for (int word = 0; word < kBlockWords; word++)
    rate *= __builtin_popcount(load<std::uint32_t>(block + 4 * word)) / 32.0;
  return rate;
}

} // namespace

double estimate_count(const Geometry &geometry, std::uint64_t bits_set) {
  const std::uint64_t bits = geometry.bits();
  if (bits_set >= bits)
    return INFINITY;

  const double set_share = static_cast<double>(bits_set) / static_cast<double>(bits);
  return std::log1p(-set_share) / std::log1p(-touched_share(geometry));
}

std::uint64_t expected_bits(const Geometry &geometry, std::uint64_t count) {
  const double clear_share = power(1.0 - touched_share(geometry), count);
  const double set = static_cast<double>(geometry.bits()) * (1.0 - clear_share);
  return static_cast<std::uint64_t>(std::ceil(set));
}

Survey::Survey(const Kernel &kernel, const Geometry &geometry, int links)
    : kernel_(kernel), geometry_(geometry), links_(links) {
  std::fill_n(sums_, links, Sums{0, 0, 0.0});
  std::fill_n(pass_rates_, kLineBits + 1, -1.0);
}

double Survey::rate(int link) const {
  const Sums &sums = sums_[link];
  const auto units = static_cast<double>(sums.units);
  if (spread_of(geometry_.layout) == Spread::anywhere)
    return power(static_cast<double>(sums.bits_set) / (64.0 * units), geometry_.k);
  return sums.rates / units;
}

// Counts the set bits of lines. Returns the mean over these lines of (set bits / 512)^k, or in
// pages, of (set bits / 512)^(k/2).
double Survey::pass_rate(const std::uint16_t *set, int lines, Sums *sums) {
  double sum = 0.0;
  for (int i = 0; i < lines; i++) {
    sums->bits_set += set[i];
    double &rate = pass_rates_[set[i]];
    if (rate < 0.0)
      rate = power(static_cast<double>(set[i]) / kLineBits,
                   static_cast<std::uint64_t>(lines > 1 ? geometry_.k / 2 : geometry_.k));
    sum += rate;
  }
  return sum / lines;
}

// Adds a part of a link to the OR of this part of all links. Counts the bits after the last link.
void Survey::unite_part(const std::uint8_t *part, std::size_t bytes, int link) {
  if (link == 0)
    std::memcpy(united_, part, bytes);
  else
    unite(kernel_, united_, part, bytes);
  if (link == links_ - 1)
    bits_united_ += count_set(kernel_, united_, bytes);
}

void Survey::read(const std::uint8_t *units, std::size_t count, int link) {
  const Spread spread = spread_of(geometry_.layout);
  Sums *sums = &sums_[link];
  sums->units += count;
  if (links_ > 1)
    unite_part(units, count * geometry_.unit_bytes(), link);
  if (spread == Spread::anywhere || spread == Spread::words) {
    sums->bits_set += count_set(kernel_, units, count * geometry_.unit_bytes());
    if (spread == Spread::words)
      for (std::size_t i = 0; i < count; i++)
        sums->rates += block_rate(units + i * kBlockBytes);
    return;
  }
  std::uint16_t set[kCountedLines];
  const std::size_t lines = spread == Spread::halves ? kPageLines : 1;
  while (count > 0) {
    const std::size_t batch = std::min(count, kCountedLines / lines);
    kernel_.count_bits(units, batch * lines, set);
    for (std::size_t i = 0; i < batch; i++) {
      const std::uint16_t *unit = set + i * lines;
      if (lines == 1)
        sums->rates += pass_rate(unit, 1, sums);
      else
        sums->rates += pass_rate(unit, kHalfPageLines, sums) *
                       pass_rate(unit + kHalfPageLines, kPageLines - kHalfPageLines, sums);
    }
    units += batch * geometry_.unit_bytes();
    count -= batch;
  }
}

} // namespace bloomfilter
