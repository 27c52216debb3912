// Tests the positions of hashes. They never change, and folding depends on them.

#include "core/bitmap.hpp"
#include "core/geometry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/support.hpp"

namespace bloomfilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

// The bits of a hash as the core computes them.
std::vector<std::uint64_t> core_bits(const Geometry &geometry, std::uint64_t hash) {
  std::vector<std::uint64_t> bits;
  const auto add_line = [&](std::size_t offset, std::uint32_t word, int count) {
    for (int i = 0; i < count; i++)
      bits.push_back(8 * offset + bit_position(word, i));
  };
  const std::size_t unit = unit_offset(geometry, hash);
  const std::uint32_t x = first_word(hash), y = second_word(hash);
  if (geometry.layout == Layout::lines) {
    add_line(unit, x, geometry.k);
  } else {
    add_line(unit + first_line_offset(x), x, geometry.k / 2);
    add_line(unit + second_line_offset(y), y, geometry.k / 2);
  }
  return bits;
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> bits) {
  std::sort(bits.begin(), bits.end());
  return bits;
}

// k = 16 and 1000 units. In pages, the first eight bits are in the first line. The positions were
// computed outside the core.
TEST(Geometry, GoldenPositions) {
  static const struct {
    std::uint64_t hash;
    Layout layout;
    std::vector<std::uint64_t> bits;
  } golden[] = {
      {0x0000000000000001,
       Layout::lines,
       {316, 454, 230, 107, 445, 8, 104, 342, 165, 313, 491, 90, 279, 311, 117, 255}},
      {0x0000000000000001,
       Layout::pages,
       {1852, 1990, 1766, 1643, 1981, 1544, 1640, 1878, 3014, 2790, 2667, 3005, 2568, 2664, 2902,
        2725}},
      {0xFFFFFFFFFFFFFFFF,
       Layout::lines,
       {511683, 511545, 511769, 511892, 511554, 511991, 511895, 511657, 511834, 511686, 511508,
        511909, 511720, 511688, 511882, 511744}},
      {0xFFFFFFFFFFFFFFFF,
       Layout::pages,
       {4092099, 4091961, 4092185, 4092308, 4091970, 4092407, 4092311, 4092073, 4095740, 4095826,
        4095661, 4095958, 4095545, 4095886, 4095553, 4095492}},
      {0x0123456789ABCDEF,
       Layout::lines,
       {2275, 2484, 2096, 2178, 2285, 2177, 2156, 2534, 2451, 2354, 2315, 2337, 2135, 2314, 2140,
        2374}},
      {0x0123456789ABCDEF,
       Layout::pages,
       {17635, 17844, 17456, 17538, 17645, 17537, 17516, 17894, 19382, 19433, 19448, 19406, 19247,
        19215, 19259, 19299}},
      {0xFEDCBA9876543210,
       Layout::lines,
       {509919, 509572, 509672, 509713, 509781, 509813, 509738, 509635, 509895, 509844, 509704,
        509571, 509585, 509885, 509741, 509881}},
      {0xFEDCBA9876543210,
       Layout::pages,
       {4077023, 4076676, 4076776, 4076817, 4076885, 4076917, 4076842, 4076739, 4079113, 4079522,
        4079566, 4079515, 4079437, 4079222, 4079261, 4079435}},
  };
  for (const auto &entry : golden) {
    SCOPED_TRACE(entry.hash);
    const Geometry geometry = {entry.layout, 16, 1000};
    EXPECT_EQ(core_bits(geometry, entry.hash), entry.bits);
    EXPECT_EQ(sorted(specified_bits(geometry, entry.hash)), sorted(entry.bits));
  }
}

TEST(Geometry, AgreesWithTheSpecification) {
  Random random(1);
  for (const Layout layout : {Layout::lines, Layout::pages})
    for (const std::uint32_t units : {1U, 2U, 3U, 63U, 64U, 19376U, 1U << 20}) {
      const Geometry geometry = {layout, 16, units};
      for (int i = 0; i < 1000; i++) {
        const std::uint64_t hash = random.next();
        ASSERT_EQ(sorted(core_bits(geometry, hash)), sorted(specified_bits(geometry, hash)))
            << hash;
      }
    }
}

TEST(Geometry, LargestFilter) {
  const Geometry lines = {Layout::lines, 6, 1U << 23};
  const Geometry pages = {Layout::pages, 12, 1U << 20};
  EXPECT_EQ(lines.bits(), kMaxBits);
  EXPECT_EQ(pages.bits(), kMaxBits);
  EXPECT_EQ(unit_offset(lines, 0), 0U);
  EXPECT_EQ(unit_offset(lines, ~0ULL), lines.bytes() - 64);
  EXPECT_EQ(unit_offset(pages, ~0ULL), pages.bytes() - 512);
}

// OR-ing d adjacent units gives, bit for bit, the filter that is built with units / d.
class Folding : public testing::TestWithParam<Geometry> {};

TEST_P(Folding, IsTheSmallerFilter) {
  const Geometry whole = GetParam();
  const std::size_t unit = whole.unit_bytes();
  const auto build = [](const Geometry &geometry) {
    Bytes bitmap(geometry.bytes());
    for (std::int64_t i = 0; i < 300; i++)
      add(kScalarKernel, geometry, bitmap.data(), hash_integer(i, 5));
    return bitmap;
  };
  const Bytes bitmap = build(whole);

  int divisors = 0;
  for (std::uint32_t d = 1; d <= whole.units; d++) {
    if (whole.units % d != 0)
      continue;
    divisors++;
    const Geometry part = {whole.layout, whole.k, whole.units / d};
    Bytes folded(part.bytes());
    for (std::uint32_t i = 0; i < whole.units; i++)
      kScalarKernel.unite(&folded[i / d * unit], &bitmap[i * unit], unit / kLineBytes);
    EXPECT_EQ(folded, build(part)) << "divided by " << d;
  }
  EXPECT_GE(divisors, 4);
}

INSTANTIATE_TEST_SUITE_P(Geometry, Folding,
                         testing::Values(Geometry{Layout::lines, 6, 64},
                                         Geometry{Layout::lines, 9, 45},
                                         Geometry{Layout::lines, 1, 360},
                                         Geometry{Layout::pages, 12, 72},
                                         Geometry{Layout::pages, 16, 35}),
                         [](const auto &info) {
                           return (info.param.layout == Layout::lines ? "lines_" : "pages_") +
                                  std::to_string(info.param.units);
                         });

TEST(FoldGeometry, IsTheLargestDivisorThatFits) {
  for (const Layout layout : {Layout::lines, Layout::pages})
    for (const std::uint32_t units : {1U, 2U, 7U, 64U, 97U, 720U, 19376U, 1U << 20}) {
      const Geometry geometry = {layout, 6, units};
      const std::size_t unit = geometry.unit_bytes();
      for (const std::size_t bytes :
           {std::size_t{0}, unit - 1, unit, 2 * unit, 3 * unit + 1, geometry.bytes() / 2,
            geometry.bytes() - 1, geometry.bytes(), geometry.bytes() + 1, SIZE_MAX}) {
        std::uint32_t expected = 0;
        for (std::uint32_t count = 1; count <= units; count++)
          if (units % count == 0 && count * unit <= bytes)
            expected = count;
        Geometry folded;
        EXPECT_EQ(fold_geometry(geometry, bytes, &folded), expected > 0);
        EXPECT_EQ(folded, (Geometry{layout, 6, std::max(expected, 1U)})) << units << " " << bytes;
      }
    }
  for (const Layout layout : {Layout::counting_lines, Layout::cuckoo}) {
    Geometry folded;
    EXPECT_FALSE(fold_geometry({layout, 8, 64}, SIZE_MAX, &folded));
  }
}

} // namespace
} // namespace bloomfilter
