// Tests the counting of distinct values: the registers, their estimate, and the exact count.

#include "core/distinct.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "unit/support.hpp"

namespace bloomfilter {
namespace {

constexpr double kStandardError = 1.04 / 256;

std::vector<std::uint64_t> integer_hashes(std::int64_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> hashes;
  for (std::int64_t i = 0; i < count; i++)
    hashes.push_back(hash_integer(i, seed));
  return hashes;
}

std::vector<std::uint8_t> registers_of(const std::vector<std::uint64_t> &hashes) {
  std::vector<std::uint8_t> registers(kRegisters);
  for (const std::uint64_t hash : hashes)
    count_hash(registers.data(), hash);
  return registers;
}

double estimate(const std::vector<std::uint64_t> &hashes) {
  return estimate_distinct(registers_of(hashes).data());
}

// The high 16 bits choose the register. The rank is the position of the first 1 in the other 48
// bits, or 49 if there is none.
TEST(Distinct, GoldenRegisters) {
  static const struct {
    std::uint64_t hash;
    std::size_t entry;
    int rank;
  } golden[] = {
      {0x0000000000000000, 0x0000, 49}, {0x0000000000000001, 0x0000, 48},
      {0x0000000000000002, 0x0000, 47}, {0x0000800000000000, 0x0000, 1},
      {0x00007FFFFFFFFFFF, 0x0000, 2},  {0x1234000000000000, 0x1234, 49},
      {0x1235012345678901, 0x1235, 8},  {0xFFFFFFFFFFFFFFFF, 0xFFFF, 1},
  };
  for (const auto &entry : golden) {
    SCOPED_TRACE(entry.hash);
    const auto registers = registers_of({entry.hash});
    EXPECT_EQ(registers[entry.entry], entry.rank);
    EXPECT_EQ(std::count(registers.begin(), registers.end(), 0), kRegisters - 1);
  }
  EXPECT_EQ(registers_of({0x0000800000000000, 0, 0x00007FFFFFFFFFFF})[0], 49); // the maximum
}

// The estimates equal numbers from outside the core to the last bit. So a self-sized filter has one
// size on every machine.
TEST(Distinct, GoldenEstimates) {
  EXPECT_EQ(estimate(integer_hashes(1000, 0)), 0x1.f55021b3fc3e9p+9);
  EXPECT_EQ(estimate(integer_hashes(100000, 0)), 0x1.83c8859abdcb9p+16);
  EXPECT_EQ(estimate(integer_hashes(300000, 0)), 0x1.258ff30a17d01p+18);

  // Registers at the end of their range: a thousand have the highest rank, and the others have the
  // rank below.
  std::vector<std::uint64_t> full;
  for (std::uint64_t i = 0; i < kRegisters; i++)
    full.push_back(i << 48 | (i < 1000 ? 0 : 1));
  EXPECT_EQ(estimate(full), 0x1.752138da8c354p+63);
}

// The estimate for each of 40 fixed sets is within three standard errors.
TEST(Distinct, EstimatesWithinThreeStandardErrors) {
  EXPECT_EQ(estimate({}), 0.0);
  EXPECT_NEAR(estimate({42}), 1.0, 0.001);
  for (const std::int64_t n : {10, 100, 1000, 10000, 50000, 65536, 100000, 200000, 500000, 1000000})
    for (std::uint64_t seed = 0; seed < (SAMPLE_DIVISOR > 1 ? 1 : 4); seed++)
      EXPECT_NEAR(estimate(integer_hashes(n, seed)) / static_cast<double>(n), 1.0,
                  3 * kStandardError)
          << n << " values, seed " << seed;
}

TEST(Distinct, DependsOnTheSetAlone) {
  const auto hashes = integer_hashes(70000, 9);
  const auto registers = registers_of(hashes);

  auto reversed = hashes;
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(registers_of(reversed), registers);

  auto repeated = hashes;
  repeated.insert(repeated.end(), hashes.begin(), hashes.begin() + 50000);
  EXPECT_EQ(registers_of(repeated), registers);

  // The registers of two workers are combined by maximum.
  auto left = registers_of({hashes.begin(), hashes.begin() + 30000});
  const auto right = registers_of({hashes.begin() + 30000, hashes.end()});
  for (std::size_t i = 0; i < kRegisters; i++)
    left[i] = std::max(left[i], right[i]);
  EXPECT_EQ(left, registers);

  EXPECT_NE(registers_of({hashes.begin(), hashes.end() - 10000}), registers);
}

TEST(Distinct, CapacityIsPaddedByTwoStandardErrors) {
  static const struct {
    double distinct;
    std::uint64_t capacity;
  } golden[] = {{0, 0}, {1, 2}, {123.4, 125}, {65536, 66069}, {1e6, 1008125}, {1e9, 1008125000}};
  for (const auto &entry : golden)
    EXPECT_EQ(padded_capacity(entry.distinct, 1 << 30), entry.capacity) << entry.distinct;
}

// Each register gets two hashes, and one of them gives it the highest rank. So the estimate is
// infinite.
TEST(Distinct, CapacityIsBoundedByTheHashes) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < kRegisters; i++) {
    hashes.push_back(i << (64 - kRegisterBits));
    hashes.push_back(i << (64 - kRegisterBits) | 1);
  }
  EXPECT_TRUE(std::isinf(estimate(hashes)));
  EXPECT_EQ(padded_capacity(estimate(hashes), hashes.size()), hashes.size());
  EXPECT_EQ(padded_capacity(1e6, 916478), 1008125U);
  EXPECT_EQ(padded_capacity(1e6, 916477), 916477U);
  EXPECT_EQ(padded_capacity(NAN, 70000), 70000U);
}

// Uniform hashes, few different hashes, and hashes that differ only in their lowest bits.
TEST(Distinct, SortsAndRemovesRepetitions) {
  sort_hashes(nullptr, 0, check_nothing);
  EXPECT_EQ(keep_copies(nullptr, 0, 1), 0U);
  Random random(1);
  for (const std::size_t count : {1, 2, 10, 24, 25, 100, 1000, 20000, 300000})
    for (const std::uint64_t values : {1ULL, 5ULL, 1000ULL, ~0ULL}) {
      SCOPED_TRACE(count);
      std::vector<std::uint64_t> hashes(count);
      for (std::uint64_t &hash : hashes)
        hash = ~(random.next() % values); // the highest ones, because the order is unsigned
      hashes[0] = 1;
      const std::multiset<std::uint64_t> all(hashes.begin(), hashes.end());
      const std::set<std::uint64_t> expected(hashes.begin(), hashes.end());
      sort_hashes(hashes.data(), count, check_nothing);
      EXPECT_EQ(hashes, std::vector<std::uint64_t>(all.begin(), all.end()));
      EXPECT_EQ(count_distinct(hashes.data(), count), expected.size());

      hashes.resize(keep_copies(hashes.data(), count, 3));
      std::vector<std::uint64_t> up_to_three;
      for (const std::uint64_t hash : expected)
        up_to_three.insert(up_to_three.end(), std::min<std::size_t>(all.count(hash), 3), hash);
      EXPECT_EQ(hashes, up_to_three);

      hashes.resize(keep_copies(hashes.data(), hashes.size(), 1));
      EXPECT_EQ(hashes, std::vector<std::uint64_t>(expected.begin(), expected.end()));
    }
}

// Each pass over the hashes checks for interrupts at least once in kBytesBetweenChecks bytes.
std::size_t checks;
TEST(Distinct, SortChecksForInterrupts) {
  auto hashes = integer_hashes(1000000, 1);
  checks = 0;
  sort_hashes(hashes.data(), hashes.size(), [] { checks++; });
  EXPECT_GE(checks, 2 * hashes.size() * sizeof(std::uint64_t) / kBytesBetweenChecks);
}

// A check may end the sort for good. So the array must have all hashes at each check.
const std::vector<std::uint64_t> *sorting;
std::uint64_t sum_of_sorting;
std::uint64_t sum(const std::vector<std::uint64_t> &hashes) {
  return std::accumulate(hashes.begin(), hashes.end(), std::uint64_t{0});
}
TEST(Distinct, SortHasAllHashesWhereItChecks) {
  auto hashes = integer_hashes(1000000, 3);
  sorting = &hashes;
  sum_of_sorting = sum(hashes);
  sort_hashes(hashes.data(), hashes.size(), [] { EXPECT_EQ(sum(*sorting), sum_of_sorting); });
}

// A set and its memory.
struct OwnedSet : HashSet {
  OwnedSet(std::size_t slot_count, std::uint32_t number) : HashSet{}, memory(slot_count) {
    this->number = number;
    slots = memory.data();
    this->slot_count = slot_count;
  }
  std::vector<std::uint64_t> memory;
};

std::vector<std::uint64_t> content(const HashSet &set, std::size_t limit) {
  std::vector<std::uint64_t> all, part(limit);
  std::size_t next = 0;
  while (const std::size_t count = read_distinct(set, &next, part.data(), limit))
    all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

// Compares the set with std::set. The batches are random, with repetitions, with 0, and with hashes
// that compete for one slot.
TEST(HashSet, HoldsWhatWasInserted) {
  Random random(6);
  for (const std::size_t slot_count : {8, 64, 4096}) {
    SCOPED_TRACE(slot_count);
    constexpr std::uint64_t kSeed = 77;
    OwnedSet set(slot_count, 5);
    std::vector<std::uint64_t> candidates = {0};
    while (candidates.size() < slot_count / 2)
      candidates.push_back(random.next());
    while (candidates.size() < slot_count) {
      const std::uint64_t hash = random.next();
      if (set.slot_of(hash, set.multiplier(kSeed)) == slot_count - 1)
        candidates.push_back(hash);
    }
    std::set<std::uint64_t> model;
    while (set.has_room(slot_count / 8)) {
      std::vector<std::uint64_t> batch;
      for (std::size_t i = 0; i < slot_count / 8; i++)
        batch.push_back(candidates[random.next() % candidates.size()]);
      std::vector<std::uint64_t> fresh; // in the order of their first appearance
      for (const std::uint64_t hash : batch)
        if (model.insert(hash).second)
          fresh.push_back(hash);
      batch.resize(insert_distinct(&set, kSeed, batch.data(), batch.size()));
      EXPECT_EQ(batch, fresh);
      EXPECT_EQ(set.count, model.size());
    }
    EXPECT_GT(set.count, slot_count / 4);
    for (const std::size_t limit : {std::size_t{2}, std::size_t{3}, slot_count})
      EXPECT_EQ(content(set, limit), std::vector<std::uint64_t>(model.begin(), model.end()));
  }
}

// Hashes from a large set are in the order of its slots. They are added to a smaller set.
TEST(HashSet, HasNoLongRuns) {
  auto hashes = integer_hashes(100000, 8);
  OwnedSet large(1 << 18, 1), small(1 << 15, 2);
  insert_distinct(&large, 0, hashes.data(), hashes.size());
  std::vector<std::uint64_t> part(10000);
  std::size_t next = 0;
  EXPECT_EQ(read_distinct(large, &next, part.data(), part.size()), part.size());
  insert_distinct(&small, 0, part.data(), part.size());
  std::size_t run = 0, longest = 0;
  for (std::size_t i = 0; i < small.slot_count; i++) {
    run = small.slots[i] != 0 ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  EXPECT_LT(longest, 100U);
}

TEST(HashSet, KnowsZero) {
  OwnedSet set(16, 0);
  std::uint64_t zero = 0;
  EXPECT_TRUE(content(set, 2).empty());
  EXPECT_EQ(insert_distinct(&set, 3, &zero, 1), 1U);
  EXPECT_EQ(insert_distinct(&set, 3, &zero, 1), 0U);
  EXPECT_EQ(content(set, 2), std::vector<std::uint64_t>{0});
}

// Hashes that differ only in their lowest, highest or middle bits still spread over thousands of
// slots.
TEST(HashSet, SpreadsHashesThatAreAlike) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  for (const int shift : {0, 17, 30, 48}) {
    OwnedSet set(65536, 0);
    std::set<std::size_t> slots;
    for (std::uint64_t i = 0; i < 32768; i++)
      slots.insert(set.slot_of((i << shift) ^ 5, kOdd));
    EXPECT_GT(slots.size(), 5000U) << shift;
    EXPECT_LT(*slots.rbegin(), 65536U);
  }
}

TEST(SampleDistinct, TellsFewRepetitionsFromMany) {
  Random random(7);
  for (const std::size_t count : {0, 1, 100, 256})
    EXPECT_EQ(sample_distinct(integer_hashes(256, 1).data(), count), static_cast<double>(count));
  for (const std::size_t count : {1000, 30000, 1000000})
    for (const double share : {0.1, 0.3, 0.7, 1.0}) {
      SCOPED_TRACE(std::to_string(count) + " hashes, distinct " + std::to_string(share));
      const auto values = static_cast<std::uint64_t>(share * static_cast<double>(count));
      auto hashes = integer_hashes(static_cast<std::int64_t>(values), 2);
      while (hashes.size() < count)
        hashes.push_back(hashes[random.next() % values]);
      EXPECT_EQ(sample_distinct(hashes.data(), count) <= static_cast<double>(count) / 2,
                share < 0.5);
      // If one value makes up nearly all hashes, it does not hide the others, and they do not hide
      // it.
      std::fill(hashes.begin(), hashes.end() - static_cast<std::ptrdiff_t>(count / 100), hashes[0]);
      EXPECT_LT(sample_distinct(hashes.data(), count), static_cast<double>(count) / 4);
    }
}

} // namespace
} // namespace bloomfilter
