// Tests both promises with many values. First, a probe finds every value that was added, whatever
// the layout, the size, the rate and the kernel. Second, the false positive rate obtained is the
// requested one, from 0.1 down to one in a million.
//
// BLOOMFILTER_COUNT=N makes N probes for added values. At each rate, it also makes the necessary
// number of probes for other values, but at most N. Without it, N is a million. Runs with the same
// N are identical. script/matrix has the runs of 10^9.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/estimate.hpp"
#include "core/sizing.hpp"
#include "core/structure.hpp"
#include "unit/support.hpp"

namespace bloomfilter {
namespace {

constexpr double kRates[] = {0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6};
constexpr std::uint64_t kCapacities[] = {1, 10, 100, 1000, 10000, 100000, 1000000};

std::uint64_t volume() {
  const char *asked = std::getenv("BLOOMFILTER_COUNT");
  return asked ? std::strtoull(asked, nullptr, 10) : 1000000 / SAMPLE_DIVISOR;
}

Digest next(Random &random) {
  const std::uint64_t first = random.next();
  return {first, random.next()};
}

// A structure filled with the values of a seed.
struct Filled {
  Geometry geometry;
  std::vector<std::uint8_t> bytes;
  std::uint64_t values;

  Filled(Layout layout, std::uint64_t capacity, double rate, std::uint64_t seed)
      : values(capacity) {
    EXPECT_TRUE(size_for(layout, capacity, rate, &geometry));
    bytes.resize(geometry.bytes());
    Random random(seed);
    std::vector<std::uint64_t> words;
    for (std::uint64_t i = 0; i < capacity; i++) {
      const Digest digest = next(random);
      words.push_back(digest.first);
      if (digest_size(layout) == 2)
        words.push_back(digest.second);
      if (words.size() >= 4096 || i + 1 == capacity) {
        add(words);
        words.clear();
      }
    }
  }

  bool contains(const Kernel &kernel, const Digest &digest) const {
    return structure_contains(kernel, geometry, bytes.data(), digest);
  }

private:
  void add(const std::vector<std::uint64_t> &words) {
    if (geometry.layout == Layout::cuckoo)
      EXPECT_EQ(cuckoo_add_many(geometry, bytes.data(), words.data(), words.size()), words.size());
    else
      structure_add_many(best_kernel(), geometry, bytes.data(), words.data(), words.size());
  }
};

// The layouts for which size_for() is called. Where it chooses among several layouts, the first of
// them.
constexpr Layout kSized[] = {Layout::lines,          Layout::guava,        Layout::guava_mitz32,
                             Layout::parquet,        Layout::redis,        Layout::spark,
                             Layout::spark_v2,       Layout::datasketches, Layout::hive,
                             Layout::counting_lines, Layout::cuckoo};

class Count : public testing::TestWithParam<Layout> {};

TEST_P(Count, NoAddedValueIsDenied) {
  const std::uint64_t wanted = volume() / std::size(kSized);
  const std::vector<const Kernel *> kernels = all_kernels();
  std::uint64_t asked = 0, denied = 0;
  for (std::uint64_t seed = 0; asked < wanted; seed++) {
    const std::uint64_t capacity = kCapacities[seed % std::size(kCapacities)];
    const double rate = kRates[seed % std::size(kRates)];
    constexpr std::uint64_t kPairs = std::size(kCapacities) * std::size(kRates);
    // Every kernel gets every pair of a capacity and a rate.
    const Kernel &kernel = *kernels[(seed + seed / kPairs) % kernels.size()];
    const Filled filter(GetParam(), capacity, rate, seed);
    Random again(seed);
    for (std::uint64_t i = 0; i < capacity; i++)
      denied += !filter.contains(kernel, next(again));
    asked += capacity;
  }
  EXPECT_EQ(denied, 0U);
  std::printf("%llu added values asked\n", static_cast<unsigned long long>(asked));
}

// The false positive rate that the filter's content predicts.
double estimated_rate(const Filled &filter) {
  if (filter.geometry.layout == Layout::cuckoo)
    return cuckoo_rate(filter.geometry, filter.values);
  std::vector<std::uint8_t> bitmap = filter.bytes;
  Geometry geometry = filter.geometry;
  if (kind_of(geometry.layout) == Kind::counting) {
    bitmap.resize(bitmap.size() / kCounterBits);
    counting_bits(filter.bytes.data(), filter.bytes.size(), bitmap.data());
    geometry = plain_geometry(geometry);
  }
  Survey survey(best_kernel(), geometry);
  survey.read(bitmap.data(), geometry.units);
  return survey.rate();
}

// At rates below Hive's own, Hive gives more false positives than its number of bits would explain.
// The reason is that the bits of a value have equal distances within a block (doc/interop.md).
double lowest_kept_rate(Layout layout) {
  return layout == Layout::hive ? 0.05 : 0.0;
}

// The rate obtained is within 5 % of the estimate, and at most 5 % above the requested rate. It may
// be lower, because sizes come in whole bits of fingerprints or in powers of two. The probes and
// the loads of lines are left to chance, so the tolerance adds three standard errors
// (rates_test.cpp).
TEST_P(Count, RatesDownToOneInAMillion) {
  for (const double rate : kRates) {
    if (rate < lowest_kept_rate(GetParam()))
      continue;
    SCOPED_TRACE(rate);
    const std::uint64_t capacity = std::min<std::uint64_t>(1000000, volume() / 10);
    const Filled filter(GetParam(), capacity, rate, 1);
    // With 20 000 false positives, three standard errors are 2 %.
    const std::uint64_t probes = std::min(volume(), static_cast<std::uint64_t>(20000 / rate));
    Random strangers(2);
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < probes; i++)
      found += filter.contains(best_kernel(), next(strangers));
    const double obtained = static_cast<double>(found) / static_cast<double>(probes);
    const double estimated = estimated_rate(filter);
    const double noise = 3 * std::sqrt(estimated / static_cast<double>(probes));
    const double line_noise = 3 * rate / std::sqrt(static_cast<double>(filter.geometry.units));
    EXPECT_NEAR(obtained, estimated, 0.05 * estimated + noise);
    EXPECT_LE(obtained, 1.05 * rate + std::hypot(noise, line_noise));
    std::printf("asked %g, estimated %.4g, obtained %.4g, %llu of %llu\n", rate, estimated,
                obtained, static_cast<unsigned long long>(found),
                static_cast<unsigned long long>(probes));
  }
}

INSTANTIATE_TEST_SUITE_P(Core, Count, testing::ValuesIn(kSized), [](const auto &info) {
  return "layout_" + std::to_string(static_cast<int>(info.param));
});

} // namespace
} // namespace bloomfilter
