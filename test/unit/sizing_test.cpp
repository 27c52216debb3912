// Tests sizing, which never changes: two stored filters can be OR-ed only if their geometry is the
// same.

#include "core/sizing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace bloomfilter {
namespace {

Geometry sized(std::uint64_t expected, double rate) {
  Geometry geometry = {};
  EXPECT_TRUE(size_for_capacity(expected, rate, &geometry)) << expected << " at " << rate;
  return geometry;
}

double above(double rate) {
  return std::nextafter(rate, 1.0);
}
double below(double rate) {
  return std::nextafter(rate, 0.0);
}

// Some rates 2^(-1 - i/16) of the table that are not powers of two, rounded as in the format.
const double kGrid1 = std::ldexp(8625323556245722.0, -54);
const double kGrid7 = std::ldexp(6651033680544135.0, -54); // from here on k is 2
const double kGrid143 = std::ldexp(4702991017412879.0, -62);

// No row of this table may ever change. It was computed with exact fractions, outside the core.
TEST(Sizing, GoldenGeometries) {
  static const struct {
    std::uint64_t expected;
    double rate;
    Layout layout;
    int k;
    std::uint32_t units;
  } golden[] = {
      {1, 0.5, Layout::lines, 1, 1},
      {1, 0.01, Layout::lines, 6, 1},
      {1, 1e-9, Layout::lines, 16, 1},
      {10, 0.5, Layout::lines, 1, 1},
      {10, 0.01, Layout::lines, 6, 1},
      {10, 1e-4, Layout::lines, 12, 1},
      {10, 1e-6, Layout::lines, 16, 1},
      {10, 1e-9, Layout::lines, 16, 2},
      {1000, 0.5, Layout::lines, 1, 3},
      {1000, 0.1, Layout::lines, 3, 10},
      {1000, 0.05, Layout::lines, 4, 13},
      {1000, 0.01, Layout::lines, 6, 20},
      {1000, 0.001, Layout::lines, 9, 31},
      {1000, 1e-4, Layout::pages, 12, 5},
      {1000, 1e-6, Layout::pages, 16, 8},
      {1000, 1e-9, Layout::pages, 16, 15},
      // lines or pages; 64 units and more
      {204, 1e-4, Layout::pages, 12, 1},
      {205, 1e-4, Layout::lines, 12, 9},
      {400, 1e-4, Layout::pages, 12, 2},
      {409, 1e-4, Layout::lines, 12, 18},
      {3000, 1e-4, Layout::pages, 12, 15},
      {1000, below(0.001), Layout::lines, 10, 31},
      {51, 0.01, Layout::lines, 6, 1},
      {52, 0.01, Layout::lines, 6, 2},
      {3251, 0.01, Layout::lines, 6, 63},
      {3252, 0.01, Layout::lines, 6, 64},
      {3303, 0.01, Layout::lines, 6, 64},
      {3304, 0.01, Layout::lines, 6, 72},
      // rates on, next to and between the rates of the table
      {1000000, 0.5, Layout::lines, 1, 2824},
      {1000000, below(0.5), Layout::lines, 1, 2824},
      {1000000, above(kGrid1), Layout::lines, 1, 3000},
      {1000000, kGrid1, Layout::lines, 1, 3000},
      {1000000, below(kGrid1), Layout::lines, 1, 3000},
      {1000000, above(kGrid7), Layout::lines, 1, 4248},
      {1000000, kGrid7, Layout::lines, 2, 4248},
      {1000000, below(kGrid7), Layout::lines, 2, 4248},
      {1000000, above(0.25), Layout::lines, 2, 5648},
      {1000000, 0.25, Layout::lines, 2, 5648},
      {1000000, below(0.25), Layout::lines, 2, 5648},
      {1000000, 0.1, Layout::lines, 3, 9456},
      {1000000, 0.05, Layout::lines, 4, 12352},
      {1000000, 0.03, Layout::lines, 5, 14512},
      {1000000, 0.02, Layout::lines, 6, 16320},
      {1000000, 0.01, Layout::lines, 6, 19376},
      {1000000, 0.003, Layout::lines, 8, 24936},
      {1000000, kGrid143, Layout::lines, 9, 30264},
      {1000000, below(kGrid143), Layout::lines, 9, 30264},
      {1000000, above(0.001), Layout::lines, 9, 30368},
      {1000000, 0.001, Layout::lines, 9, 30368},
      {1000000, below(0.001), Layout::pages, 10, 3600},
      {1000000, above(0x1p-10), Layout::pages, 10, 3608},
      {1000000, 0x1p-10, Layout::pages, 10, 3608},
      {1000000, below(0x1p-10), Layout::pages, 10, 3608},
      {1000000, 5e-4, Layout::pages, 10, 3984},
      {1000000, 1e-4, Layout::pages, 12, 4896},
      {1000000, 1e-5, Layout::pages, 16, 6272},
      {1000000, 1e-6, Layout::pages, 16, 7808},
      {1000000, 1e-7, Layout::pages, 16, 9648},
      {1000000, 1e-8, Layout::pages, 16, 11864},
      {1000000, above(1e-9), Layout::pages, 16, 14552},
      {1000000, 1e-9, Layout::pages, 16, 14552},
      // large filters
      {100000000, 0.5, Layout::lines, 1, 281840},
      {100000000, 0.01, Layout::lines, 6, 1937312},
      {100000000, 1e-6, Layout::pages, 16, 780672},
      {432000000, 0.01, Layout::lines, 6, 8369160},
  };
  for (const auto &entry : golden) {
    SCOPED_TRACE(std::to_string(entry.expected) + " at " + std::to_string(entry.rate));
    const Geometry geometry = sized(entry.expected, entry.rate);
    EXPECT_EQ(geometry.layout, entry.layout);
    EXPECT_EQ(geometry.k, entry.k);
    EXPECT_EQ(geometry.units, entry.units);
  }
}

// In lines, a filter has more bits than in pages, and otherwise the same.
TEST(Sizing, InLines) {
  for (double rate = kMaxRate; rate >= kMinRate; rate *= 0.8)
    for (std::uint64_t expected : {1, 300, 5000, 1000000}) {
      SCOPED_TRACE(std::to_string(expected) + " at " + std::to_string(rate));
      const Geometry usual = sized(expected, rate);
      Geometry lines = {};
      ASSERT_TRUE(size_in_lines(expected, rate, &lines));
      EXPECT_EQ(lines.layout, Layout::lines);
      if (usual.layout == Layout::lines)
        EXPECT_EQ(lines, usual);
      else
        EXPECT_GE(lines.bits(), usual.bits());
      EXPECT_EQ(lines.k, usual.k);
    }
  Geometry unchanged = {};
  EXPECT_FALSE(size_in_lines(kMaxBits, 1e-6, &unchanged));
  EXPECT_EQ(unchanged.units, 0U);
}

// The table in the documentation: bits per value at a million values, within 2 %.
TEST(Sizing, BitsPerValue) {
  static const struct {
    double rate, bits_per_value;
    int k;
  } documented[] = {
      {0.1, 4.84, 3}, {0.01, 9.92, 6}, {0.001, 15.55, 9}, {1e-4, 20.04, 12}, {1e-6, 31.98, 16}};
  for (const auto &entry : documented) {
    SCOPED_TRACE(entry.rate);
    const Geometry geometry = sized(1000000, entry.rate);
    EXPECT_NEAR(static_cast<double>(geometry.bits()) / 1e6, entry.bits_per_value,
                0.02 * entry.bits_per_value);
    EXPECT_EQ(geometry.k, entry.k);
  }
}

// More values never take fewer bits. k does not depend on the number of values.
TEST(Sizing, GrowsWithTheCapacity) {
  for (double rate = kMaxRate; rate >= kMinRate; rate *= 0.9) {
    const int k = sized(1, rate).k;
    std::uint64_t bits = 0;
    for (std::uint64_t expected = 1; expected < 20000000; expected += 1 + expected / 50) {
      const Geometry geometry = sized(expected, rate);
      ASSERT_GE(geometry.bits(), bits) << expected << " at " << rate;
      ASSERT_EQ(geometry.k, k) << expected << " at " << rate;
      bits = geometry.bits();
    }
  }
}

// Within a layout, a lower rate never takes fewer bits. Pages are chosen from just below 0.1 %, and
// take fewer bits than lines.
TEST(Sizing, GrowsAsTheRateFalls) {
  for (const std::uint64_t expected : {10ULL, 100ULL, 1000ULL, 54321ULL, 10000000ULL}) {
    std::uint64_t bits = 0;
    Layout layout = Layout::lines;
    for (double rate = kMaxRate; rate >= kMinRate; rate *= 0.999) {
      const Geometry geometry = sized(expected, rate);
      if (geometry.layout == layout) {
        ASSERT_GE(geometry.bits(), bits) << expected << " at " << rate;
      }
      bits = geometry.bits();
      layout = geometry.layout;
    }
  }
}

// Pages are chosen only below 0.1 %. At these rates, lines are chosen only if fewer than 64 suffice
// and take fewer bits.
TEST(Sizing, ChoosesTheSmallerLayout) {
  for (std::uint64_t expected = 1; expected < 100000; expected += 1 + expected / 100) {
    EXPECT_EQ(sized(expected, 0.001).layout, Layout::lines) << expected;
    for (const double rate : {below(0.001), 1e-4, 1e-6, 1e-9}) {
      const Geometry geometry = sized(expected, rate);
      if (geometry.layout == Layout::lines) {
        EXPECT_LT(geometry.units, 64U) << expected << " at " << rate;
        EXPECT_NE(geometry.units % 8, 0U) << expected << " at " << rate; // else pages would do
      } else {
        EXPECT_EQ(geometry.k % 2, 0) << expected << " at " << rate;
      }
    }
  }
}

TEST(Sizing, ManyUnitsAreAMultipleOfEight) {
  for (const double rate : {0.5, 0.01, 0.001, 1e-4, 1e-9})
    for (std::uint64_t expected = 1; expected < 3000000; expected += 1 + expected / 200) {
      const Geometry geometry = sized(expected, rate);
      if (geometry.units >= 64) {
        ASSERT_EQ(geometry.units % 8, 0U) << expected << " at " << rate;
      }
    }
}

TEST(Sizing, RefusesWhatExceedsTheCap) {
  static const struct {
    double rate;
    std::uint64_t largest; // computed from the golden bits per value, outside the core
  } caps[] = {
      {0.5, 2976415312}, {0.01, 433004062}, {0.001, 276256981}, {1e-4, 214362512}, {1e-9, 72070465},
  };
  for (const auto &cap : caps) {
    SCOPED_TRACE(cap.rate);
    EXPECT_EQ(sized(cap.largest, cap.rate).bits(), kMaxBits);
    for (const std::uint64_t expected :
         {cap.largest + 1, std::uint64_t{kMaxBits}, kMaxBits + 1, ~std::uint64_t{0}}) {
      Geometry geometry = {Layout::lines, 7, 77};
      EXPECT_FALSE(size_for_capacity(expected, cap.rate, &geometry)) << expected;
      EXPECT_TRUE((geometry == Geometry{Layout::lines, 7, 77})) << "changed for " << expected;
    }
  }
}

TEST(Sizing, RatesInRange) {
  for (const double rate : {kMinRate, above(kMinRate), 0.01, below(kMaxRate), kMaxRate})
    EXPECT_TRUE(rate_in_range(rate)) << rate;
  for (const double rate : {below(kMinRate), above(kMaxRate), 0.0, -0.0, -0.01, 1.0, 1.5, HUGE_VAL,
                            -HUGE_VAL, std::nan("")})
    EXPECT_FALSE(rate_in_range(rate)) << rate;
}

TEST(Sizing, ForBitsRoundsUpToLines) {
  static const struct {
    std::uint64_t bits;
    std::uint32_t lines;
  } sizes[] = {{1, 1},
               {511, 1},
               {512, 1},
               {513, 2},
               {1000000, 1954},
               {kMaxBits - 1, 1U << 23},
               {kMaxBits, 1U << 23}};
  for (const auto &size : sizes)
    for (const int k : {1, 7, 16}) {
      const Geometry geometry = size_for_bits(size.bits, k);
      EXPECT_EQ(geometry.layout, Layout::lines) << size.bits;
      EXPECT_EQ(geometry.units, size.lines) << size.bits;
      EXPECT_EQ(geometry.k, k) << size.bits;
    }
}

// No row of this table may ever change. It was computed with exact fractions, outside the core.
TEST(SizeClass, GoldenUnits) {
  static const struct {
    std::uint32_t units, rounded;
  } golden[] = {
      {1, 1},
      {31, 31},
      {32, 32},
      {33, 34},
      {63, 64},
      {64, 64},
      {72, 72},
      {120, 120},
      {128, 128},
      {136, 136},
      {256, 256},
      {264, 272},
      {1944, 1984},
      {1984, 1984},
      {1992, 2048},
      {19376, 19456},
      {(1U << 22) + 1, (1U << 22) + (1U << 18)},
      {(1U << 23) - 7, 1U << 23},
      {1U << 23, 1U << 23},
  };
  for (const auto &entry : golden)
    EXPECT_EQ(size_class({Layout::lines, 6, entry.units}).units, entry.rounded) << entry.units;
}

// A size class is the next number with at most five significant bits, whatever the layout.
// Everything else in the geometry stays the same.
TEST(SizeClass, IsTheNextOfSixteenToEachDoubling) {
  std::uint32_t next = 1;
  int classes = 0; // from 1024 to below 2048
  for (std::uint32_t units = 1; units <= 1U << 16; units++) {
    if (units > next) {
      do
        next++;
      while (next >> __builtin_ctz(next) >= 32); // more than five significant bits
      classes += next >= 1024 && next < 2048;
    }
    for (const Layout layout : {Layout::lines, Layout::pages, Layout::counting_lines})
      ASSERT_TRUE((size_class({layout, 8, units}) == Geometry{layout, 8, next})) << units;
    ASSERT_TRUE((size_class({Layout::cuckoo, 10, units}) == Geometry{Layout::cuckoo, 10, next}))
        << units;
  }
  EXPECT_EQ(classes, 16);
}

// Only for cuckoo tables, the largest number of units is no size class.
TEST(SizeClass, StaysBelowTheLargestFilter) {
  const auto most = static_cast<std::uint32_t>(kMaxBits / 40);
  const Geometry largest = {Layout::cuckoo, 10, most};
  EXPECT_TRUE(size_class(largest) == largest);
  EXPECT_LE(size_class({Layout::cuckoo, 10, most / 32 * 31}).bits(), kMaxBits);
}

// The committed table is the output of its generator.
TEST(SizingTable, IsTheGenerators) {
  std::ifstream file(SOURCE_DIR "/src/core/sizing_table/table.inc");
  std::stringstream committed;
  committed << file.rdbuf();

  std::FILE *generator = popen("'" SIZING_TABLE_GENERATOR "'", "r");
  ASSERT_NE(generator, nullptr);
  std::string generated;
  for (int c; (c = std::fgetc(generator)) != EOF;)
    generated += static_cast<char>(c);
  EXPECT_EQ(pclose(generator), 0);
  EXPECT_EQ(generated, committed.str());
}

// The table of doc/format.md has the same numbers. Other programs are written from it.
TEST(SizingTable, IsThatOfThePage) {
  const auto numbers_of = [](const char *name, const char *begin) {
    std::ifstream file(std::string(SOURCE_DIR) + name);
    std::string line, numbers;
    while (std::getline(file, line) && line != begin) {
    }
    while (std::getline(file, line)) {
      if (line.compare(0, 4, "    ") != 0)
        continue;
      for (char &c : line)
        if (c < '0' || (c > '9' && c != ':'))
          c = ' ';
      std::stringstream words(line);
      for (std::string word; words >> word;)
        if (word.back() != ':') // the number of an entry
          numbers += word + ' ';
    }
    return numbers;
  };
  const std::string page = numbers_of("/doc/format.md", "## The sizing table");
  EXPECT_FALSE(page.empty());
  EXPECT_EQ(page, numbers_of("/src/core/sizing_table/table.inc", ""));
}

} // namespace
} // namespace bloomfilter
