// Tests the second promise: the false positive rate obtained is the requested one.
//
// Filters are filled to their capacity and probed for keys that were never added. The keys are
// regular, because regular keys reveal a weak hash or weak positions. All seeds are fixed, so every
// run is the same.
//
// The tolerance is three standard errors of the measurement. For a count of F false positives, the
// relative standard error is 1/sqrt(F). For a mean over L lines, it is 1/sqrt(L), because the rates
// of the lines scatter by about as much as their own size.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "core/estimate.hpp"
#include "core/sizing.hpp"
#include "unit/support.hpp"

namespace bloomfilter {
namespace {

std::uint64_t integer(std::uint64_t i, std::uint64_t seed) {
  return hash_integer(static_cast<std::int64_t>(i), seed);
}

// Timestamps in microseconds, one second apart, from 2024 on.
std::uint64_t timestamp(std::uint64_t i, std::uint64_t seed) {
  return hash_integer(1704067200000000 + static_cast<std::int64_t>(i) * 1000000, seed);
}

std::uint64_t url(std::uint64_t i, std::uint64_t seed) {
  char text[] = "https://www.example.org/articles/000000000/index.html";
  for (char *digit = std::strchr(text, '0') + 8; i > 0; i /= 10)
    *digit-- = static_cast<char>('0' + i % 10);
  return hash_bytes(text, sizeof text - 1, seed);
}

struct Keys {
  const char *name;
  std::uint64_t (*hash)(std::uint64_t i, std::uint64_t seed);
};

constexpr Keys kKeys[] = {{"integers", integer}, {"timestamps", timestamp}, {"urls", url}};

class Rates : public testing::TestWithParam<std::tuple<Keys, std::uint64_t>> {};

TEST_P(Rates, AreTheRatesAskedFor) {
  const auto [keys, n] = GetParam();
  const Kernel &kernel = best_kernel();
  // At least half a million values in all filters together, to average out the differences between
  // small filters.
  const std::uint64_t filters =
      std::max<std::uint64_t>(SAMPLE_DIVISOR > 1 ? 1 : 3, 500000 / n / SAMPLE_DIVISOR);

  for (const double requested : {0.1, 0.01, 0.001, 1e-4}) {
    SCOPED_TRACE(requested);
    Geometry geometry;
    ASSERT_TRUE(size_for_capacity(n, requested, &geometry));
    // Enough probes for 2500 false positives, and at least a million.
    const auto probes = static_cast<std::uint64_t>(std::max(2500 / requested, 1e6) /
                                                   SAMPLE_DIVISOR / static_cast<double>(filters));
    std::uint64_t false_negatives = 0, false_positives = 0;
    double estimated = 0.0;
    for (std::uint64_t seed = 0; seed < filters; seed++) {
      std::vector<std::uint8_t> bitmap(geometry.bytes());
      for (std::uint64_t i = 0; i < n; i++)
        add(kernel, geometry, bitmap.data(), keys.hash(i, seed));
      for (std::uint64_t i = 0; i < n; i++)
        false_negatives += !kernel.contains(geometry, bitmap.data(), keys.hash(i, seed));
      for (std::uint64_t i = n; i < n + probes; i++)
        false_positives += kernel.contains(geometry, bitmap.data(), keys.hash(i, seed));
      Survey survey(kernel, geometry);
      survey.read(bitmap.data(), geometry.units);
      estimated += survey.rate() / static_cast<double>(filters);
    }
    EXPECT_EQ(false_negatives, 0U);

    const double asked_for = requested * static_cast<double>(probes * filters);
    const double obtained = static_cast<double>(false_positives) / asked_for;
    const double lines = static_cast<double>(geometry.bytes() / kLineBytes * filters);
    const double counting_noise = 3 / std::sqrt(asked_for), line_noise = 3 / std::sqrt(lines);
    const double tolerance = 0.05 + std::hypot(counting_noise, line_noise);
    EXPECT_LE(obtained, 1 + tolerance);
    if (n >= 1000000) {
      EXPECT_GE(obtained, 1 - tolerance);
    }
    EXPECT_NEAR(estimated / requested / obtained, 1.0, 0.03 + counting_noise);
  }
}

INSTANTIATE_TEST_SUITE_P(Core, Rates,
                         testing::Combine(testing::ValuesIn(kKeys),
                                          testing::Values(1000, 10000, 100000, 1000000)),
                         [](const auto &info) {
                           return std::get<0>(info.param).name +
                                  ("_" + std::to_string(std::get<1>(info.param)));
                         });

} // namespace
} // namespace bloomfilter
