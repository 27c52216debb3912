// Tests shards. The shard of a hash never changes, because it decides in which row of a table a
// value is.

#include "core/shard.hpp"

#include <gtest/gtest.h>

#include "core/sizing.hpp"
#include "core/structure.hpp"

namespace bloomfilter {
namespace {

TEST(Shard, Fixed) {
  EXPECT_EQ(shard_of(0, 1000), 0U);
  EXPECT_EQ(shard_of(1, 1000), 819U); // 0xD1B54A32 / 2^32 = 0.8192
  EXPECT_EQ(shard_of(~std::uint64_t{0}, 1000), 180U);
  EXPECT_EQ(shard_of(0x0123456789ABCDEF, 2147483647), 110518329U);
}

TEST(Shard, Range) {
  for (std::uint64_t hash = 1; hash != 0; hash <<= 1)
    for (std::uint32_t shards : {1U, 2U, 3U, 669U, 2147483647U})
      EXPECT_LT(shard_of(hash, shards), shards);
}

TEST(Shard, CountFitsAndIsSmallest) {
  for (double rate = kMaxRate; rate >= kMinRate; rate *= 0.77)
    for (std::uint64_t expected = 1; expected < 4000000000000; expected = expected * 3 / 2 + 1) {
      const std::uint64_t shards = shards_for(Layout::lines, expected, rate, kShardBytes);
      Geometry geometry;
      ASSERT_TRUE(size_for_capacity(expected / shards + 1, rate, &geometry));
      EXPECT_LE(geometry.bytes(), kShardBytes) << expected << " at " << rate;
      if (shards == 1)
        continue;
      ASSERT_TRUE(!size_for_capacity(expected / (shards - 1) + 1, rate, &geometry) ||
                  geometry.bytes() > kShardBytes)
          << expected << " at " << rate;
    }
}

// Without another limit, the largest number of values is the largest for which size_for() has a
// size.
TEST(Shard, MostValuesOfOneFilter) {
  constexpr std::uint64_t kNoLimit = kMaxBits / 8 + kKicksBytes;
  for (const LayoutRow &row : kLayoutRows)
    for (double rate : {0.5, 0.1, 0.01, 0.001, 1e-4, 1e-9}) {
      if (row.layout != row.profile)
        continue;
      const std::uint64_t most = most_values(row.layout, rate, kNoLimit);
      Geometry geometry;
      EXPECT_TRUE(size_for(row.layout, most, rate, &geometry)) << most << " at " << rate;
      EXPECT_FALSE(size_for(row.layout, most + 1, rate, &geometry)) << most << " at " << rate;
    }
}

} // namespace
} // namespace bloomfilter
