// See sizing.hpp.

#include "core/sizing.hpp"

#include <algorithm>

#include "core/bytes.hpp"

namespace bloomfilter {
namespace {

struct CoarseEntry {
  std::uint8_t k;
  std::uint32_t line_bits;
};
struct FineEntry {
  std::uint8_t k;
  std::uint32_t page_bits;
  std::uint32_t line_bits;
};

#include "core/sizing_table/table.inc"

// At this rate or a higher one, a value takes one line. At lower rates, filters are smaller if a
// value takes two lines of a page.
constexpr double kCoarseRate = 0.001;
// From this number of units on, rounding the number up to a multiple costs almost nothing.
constexpr std::uint32_t kManyUnits = 64;
constexpr std::uint32_t kUnitMultiple = 8;
// There are 2^kClassBits size classes between two powers of two.
constexpr int kClassBits = 4;

// A rate's place on the grid of the table: `part` / `whole` of the way from entry `index` to entry
// `index + 1`.
struct GridPlace {
  int index;
  std::uint64_t part, whole;
};

GridPlace place_on_grid(double rate) {
  // rate = significand * 2^(exponent - 53), with the significand in (2^52, 2^53]
  std::uint64_t bits = double_bits(rate);
  int exponent = static_cast<int>(bits >> 52) - 1022;
  std::uint64_t significand = (bits & ((1ULL << 52) - 1)) | (1ULL << 52);
  if (significand == kSignificands[16]) {
    significand = kSignificands[0];
    exponent--;
  }
  int r = 0;
  while (significand <= kSignificands[r + 1])
    r++;
  return {16 * (-1 - exponent) + r, kSignificands[r] - significand,
          kSignificands[r] - kSignificands[r + 1]};
}

// Thousandths of a bit per value: linear between two entries, rounded up.
std::uint64_t interpolate(std::uint32_t from, std::uint32_t to, const GridPlace &place) {
  return from + ((to - from) * place.part + place.whole - 1) / place.whole;
}

// The number of units of `unit_bits` bits for all values. It can exceed what a filter may have.
std::uint64_t units_for(std::uint64_t expected, std::uint64_t thousandths,
                        std::uint64_t unit_bits) {
  std::uint64_t units = (expected * thousandths + 1000 * unit_bits - 1) / (1000 * unit_bits);
  if (units < kManyUnits)
    return units;
  return (units + kUnitMultiple - 1) / kUnitMultiple * kUnitMultiple;
}

} // namespace

bool size_in_lines(std::uint64_t expected, double rate, Geometry *geometry) {
  if (expected > kMaxBits) // no rate in range takes less than one bit per value
    return false;
  const GridPlace place = place_on_grid(rate);
  std::uint64_t thousandths;
  std::uint8_t k;
  if (rate >= kCoarseRate) {
    const CoarseEntry *entry = &kCoarse[place.index];
    thousandths = interpolate(entry[0].line_bits, entry[1].line_bits, place);
    k = entry->k;
  } else {
    const FineEntry *entry = &kFine[place.index - kFirstFine];
    thousandths = interpolate(entry[0].line_bits, entry[1].line_bits, place);
    k = entry->k;
  }
  const std::uint64_t units = units_for(expected, thousandths, kLineBits);
  if (units > kMaxBits / kLineBits)
    return false;
  *geometry = {Layout::lines, k, static_cast<std::uint32_t>(units)};
  return true;
}

bool size_for_capacity(std::uint64_t expected, double rate, Geometry *geometry) {
  if (rate >= kCoarseRate)
    return size_in_lines(expected, rate, geometry);
  if (expected > kMaxBits)
    return false;
  const GridPlace place = place_on_grid(rate);
  const FineEntry *entry = &kFine[place.index - kFirstFine];
  const std::uint64_t pages = units_for(
      expected, interpolate(entry[0].page_bits, entry[1].page_bits, place), kPageLines * kLineBits);
  Geometry lines;
  if (size_in_lines(expected, rate, &lines) && lines.units < kManyUnits &&
      lines.units < pages * kPageLines) {
    *geometry = lines;
    return true;
  }
  if (pages > kMaxBits / (kPageLines * kLineBits))
    return false;
  *geometry = {Layout::pages, entry->k, static_cast<std::uint32_t>(pages)};
  return true;
}

Geometry size_class(const Geometry &geometry) {
  const std::uint64_t units = geometry.units;
  const int exponent = 63 - __builtin_clzll(units);
  const std::uint64_t step = std::uint64_t{1} << std::max(exponent - kClassBits, 0);
  const std::uint64_t rounded = (units + step - 1) / step * step;
  if (rounded > kMaxBits / geometry.unit_bits())
    return geometry;
  return {geometry.layout, geometry.k, static_cast<std::uint32_t>(rounded)};
}

Geometry size_for_bits(std::uint64_t bits, int k) {
  return {Layout::lines, static_cast<std::uint8_t>(k),
          static_cast<std::uint32_t>((bits + kLineBits - 1) / kLineBits)};
}

} // namespace bloomfilter
