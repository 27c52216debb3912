// Tests estimates from bitmaps with a known answer. rates_test.cpp compares estimates with measured
// rates.

#include "core/estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/bitmap.hpp"
#include "core/sizing.hpp"
#include "unit/support.hpp"

namespace bloomfilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(EstimateCount, OfNoneAndOfAll) {
  for (const Geometry &geometry :
       {Geometry{Layout::lines, 6, 1}, Geometry{Layout::lines, 1, 1000},
        Geometry{Layout::pages, 12, 1}, Geometry{Layout::pages, 2, 77}}) {
    EXPECT_EQ(estimate_count(geometry, 0), 0.0);
    EXPECT_TRUE(std::isfinite(estimate_count(geometry, geometry.bits() - 1)));
    EXPECT_EQ(estimate_count(geometry, geometry.bits()), INFINITY);
  }
}

// n values leave a bit clear with probability (1 - s)^n. The estimate inverts this.
TEST(EstimateCount, InvertsTheExpectedFill) {
  for (const Layout layout : {Layout::lines, Layout::pages})
    for (const std::uint8_t k : {2, 6, 16})
      for (const std::uint32_t units : {64U, 20000U}) {
        const Geometry geometry = {layout, k, units};
        const double bits = static_cast<double>(geometry.bits());
        // A value sets k bits in one of `units` lines. In pages, it sets k/2 bits in one of four
        // lines in each half of a page.
        const bool paged = layout == Layout::pages;
        const double line_share = (paged ? 0.25 : 1.0) / units;
        const double hit = 1.0 - std::pow(511.0 / 512.0, paged ? k / 2 : k);
        for (const double n : {5.0 * units, 50.0 * units}) {
          const double set = bits * (1.0 - std::pow(1.0 - line_share * hit, n));
          EXPECT_NEAR(estimate_count(geometry, std::llround(set)) / n, 1.0, 1e-3)
              << (paged ? "pages, k " : "lines, k ") << int{k} << ", units " << units;
        }
      }
}

// From a tenth of the capacity to twice the capacity, the estimate is within 1 %.
TEST(EstimateCount, IsWithinOnePercent) {
  for (const std::int64_t capacity : {100000, 1000000})
    for (const double rate : {0.1, 0.01, 0.001, 1e-4, 1e-6}) {
      Geometry geometry;
      ASSERT_TRUE(size_for_capacity(capacity, rate, &geometry));
      Bytes bitmap(geometry.bytes());
      std::int64_t added = 0;
      for (const std::int64_t n : {capacity / 10, capacity / 2, capacity, 2 * capacity}) {
        for (; added < n; added++)
          add(best_kernel(), geometry, bitmap.data(), hash_integer(added, 3));
        const std::uint64_t set = count_set(best_kernel(), bitmap.data(), bitmap.size());
        EXPECT_NEAR(estimate_count(geometry, set) / static_cast<double>(n), 1.0, 0.01)
            << n << " values at " << rate << " for " << capacity;
      }
    }
}

// Sets the first `count` bits of a line.
void fill_line(Bytes *bitmap, std::size_t line, int count) {
  for (int i = 0; i < count; i++)
    set_bit(bitmap->data(), line * kLineBits + i);
}

double estimate_rate(const Geometry &geometry, const std::uint8_t *bitmap) {
  Survey survey(best_kernel(), geometry);
  survey.read(bitmap, geometry.units);
  return survey.rate();
}

TEST(EstimateRate, OfNoneAndOfAll) {
  for (const Geometry &geometry : {Geometry{Layout::lines, 6, 3}, Geometry{Layout::pages, 12, 3}}) {
    EXPECT_EQ(estimate_rate(geometry, Bytes(geometry.bytes(), 0x00).data()), 0.0);
    EXPECT_EQ(estimate_rate(geometry, Bytes(geometry.bytes(), 0xFF).data()), 1.0);
  }
}

// The rate is the mean over lines of (set / 512)^k. The mean fill to the power of k would be wrong.
TEST(EstimateRate, OfLines) {
  for (const std::uint8_t k : {1, 2, 6, 16}) {
    const Geometry geometry = {Layout::lines, k, 4};
    Bytes bitmap(geometry.bytes());
    fill_line(&bitmap, 0, 256);
    fill_line(&bitmap, 1, 128);
    fill_line(&bitmap, 3, 512);
    const double expected = (std::pow(0.5, k) + std::pow(0.25, k) + 0.0 + 1.0) / 4;
    EXPECT_DOUBLE_EQ(estimate_rate(geometry, bitmap.data()), expected);
  }
}

// The rate is the mean over pages of the product of the two halves' means.
TEST(EstimateRate, OfPages) {
  for (const std::uint8_t k : {2, 4, 12, 16}) {
    const Geometry geometry = {Layout::pages, k, 3};
    const double half = k / 2;
    Bytes bitmap(geometry.bytes());
    fill_line(&bitmap, 0, 256); // page 0, first half: 1/2, 1/4, 0, 0
    fill_line(&bitmap, 1, 128);
    fill_line(&bitmap, 7, 384); // second half: 0, 0, 0, 3/4
    fill_line(&bitmap, 8, 512); // page 1: one half only
    for (std::size_t line = 16; line < 24; line++)
      fill_line(&bitmap, line, 64); // page 2: 1/8 everywhere
    const double first = (std::pow(0.5, half) + std::pow(0.25, half)) / 4;
    const double second = std::pow(0.75, half) / 4;
    const double expected = (first * second + 0.0 + std::pow(0.125, 2 * half)) / 3;
    EXPECT_DOUBLE_EQ(estimate_rate(geometry, bitmap.data()), expected);
  }
}

// The answer is the same to the last bit, whatever the parts in which the bitmap is read, and
// whatever the kernel.
TEST(Survey, DoesNotDependOnPartsOrKernel) {
  for (const Geometry &geometry :
       {Geometry{Layout::lines, 6, 1500}, Geometry{Layout::pages, 12, 1500}}) {
    Random random(8);
    Bytes bitmap(geometry.bytes());
    std::uint64_t set = 0;
    for (std::uint8_t &byte : bitmap) {
      byte = static_cast<std::uint8_t>(random.next() & random.next());
      for (int bit = 0; bit < 8; bit++)
        set += byte >> bit & 1;
    }
    const double expected = estimate_rate(geometry, bitmap.data());
    for (const Kernel *kernel : all_kernels()) {
      SCOPED_TRACE(kernel->name);
      EXPECT_EQ(count_set(*kernel, bitmap.data(), bitmap.size()), set);
      for (const std::size_t part : {1, 3, 511, 512, 513, 1499, 1500}) {
        Survey survey(*kernel, geometry);
        for (std::size_t unit = 0; unit < geometry.units; unit += part)
          survey.read(bitmap.data() + unit * geometry.unit_bytes(),
                      std::min<std::size_t>(part, geometry.units - unit));
        EXPECT_EQ(survey.bits_set(), set);
        EXPECT_EQ(survey.rate(), expected);
      }
    }
  }
}

// Links that are read side by side are surveyed as if each were read alone, and so is their OR.
TEST(Survey, ReadsLinksSideBySide) {
  constexpr int kLinks = 3;
  for (const Geometry &geometry :
       {Geometry{Layout::lines, 6, 1500}, Geometry{Layout::pages, 12, 90},
        Geometry{Layout::guava, 5, 7000}}) {
    Random random(9);
    Bytes bitmaps[kLinks], united(geometry.bytes());
    for (Bytes &bitmap : bitmaps) {
      bitmap.resize(geometry.bytes());
      for (std::uint8_t &byte : bitmap)
        byte = static_cast<std::uint8_t>(random.next() & random.next());
      unite(best_kernel(), united.data(), bitmap.data(), geometry.bytes());
    }
    Survey survey(best_kernel(), geometry, kLinks);
    const std::size_t part = Survey::kMostBytes / geometry.unit_bytes();
    for (std::size_t unit = 0; unit < geometry.units; unit += part)
      for (int link = 0; link < kLinks; link++)
        survey.read(bitmaps[link].data() + unit * geometry.unit_bytes(),
                    std::min<std::size_t>(part, geometry.units - unit), link);
    for (int link = 0; link < kLinks; link++) {
      EXPECT_EQ(survey.bits_set(link),
                count_set(best_kernel(), bitmaps[link].data(), geometry.bytes()));
      EXPECT_EQ(survey.rate(link), estimate_rate(geometry, bitmaps[link].data()));
    }
    EXPECT_EQ(survey.bits_united(), count_set(best_kernel(), united.data(), geometry.bytes()));
  }
}

} // namespace
} // namespace bloomfilter
