// Tests cuckoo filters. A value that was added and not removed is always found, wherever kicks
// moved it. The stored buckets are checked one by one.

#include "core/cuckoo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "core/format.hpp"
#include "core/sizing.hpp"
#include "core/structure.hpp"
#include "unit/support.hpp"

namespace bloomfilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

Geometry cuckoo(int bits, std::uint32_t buckets) {
  return {Layout::cuckoo, static_cast<std::uint8_t>(bits), buckets};
}

// Follows the specification of the format word for word, without any code of the core.
std::uint64_t specified_mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xFF51AFD7ED558CCD;
  x ^= x >> 33;
  x *= 0xC4CEB9FE1A85EC53;
  return x ^ x >> 33;
}
CuckooPlace specified_place(const Geometry &geometry, std::uint64_t h) {
  const std::uint64_t word = 1ULL << 32, m = geometry.units;
  const std::uint64_t fingerprint =
      h % word * ((1ULL << geometry.fingerprint_bits()) - 1) / word + 1;
  const std::uint64_t first = h / word * m / word;
  const std::uint64_t sum = specified_mix(fingerprint) / word * m / word;
  return {static_cast<std::uint32_t>(fingerprint),
          {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>((sum + m - first) % m)}};
}

std::uint32_t slot_at(const Geometry &geometry, const std::uint8_t *table, std::uint32_t bucket,
                      int slot) {
  std::uint32_t fingerprint = 0;
  const std::uint64_t start =
      8 * kKicksBytes + (4ULL * bucket + static_cast<unsigned>(slot)) * geometry.fingerprint_bits();
  for (int bit = 0; bit < geometry.fingerprint_bits(); bit++)
    fingerprint |= std::uint32_t{bit_at(table, start + static_cast<unsigned>(bit))} << bit;
  return fingerprint;
}

// A hash with the given first bucket and fingerprint.
std::uint64_t hash_for(const Geometry &geometry, std::uint32_t bucket, std::uint32_t fingerprint) {
  const std::uint64_t fingerprints = (1ULL << geometry.fingerprint_bits()) - 1;
  const auto least = [](std::uint64_t part, std::uint64_t of) {
    return ((part << 32) + of - 1) / of;
  };
  return least(bucket, geometry.units) << 32 | least(fingerprint - 1, fingerprints);
}

std::vector<std::uint64_t> random_hashes(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint64_t> hashes(count);
  for (std::uint64_t &hash : hashes)
    hash = random.next();
  return hashes;
}

bool add(const Geometry &geometry, Bytes &table, std::uint64_t hash) {
  return cuckoo_add(geometry, table.data(), cuckoo_place(geometry, hash));
}

// The bytes after the number of kicks.
Bytes buckets_of(const Bytes &table) {
  return {table.begin() + kKicksBytes, table.end()};
}

bool is_sound(const Geometry &geometry, const Bytes &table, std::uint64_t stored) {
  std::uint64_t found;
  return check_buckets(geometry, table.data(), &found) && found == stored;
}

TEST(Cuckoo, PlacesAreTheSpecified) {
  Random random(1);
  for (const std::uint32_t m : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 97U, 250U, 1024U, 1025U, 65537U,
                                263158U, 1U << 24, (1U << 24) - 3, 178956970U})
    for (const int f : {6, 7, 13, 16, 17, 31, 32}) {
      const Geometry geometry = cuckoo(f, m);
      SCOPED_TRACE(std::to_string(m) + " buckets, f = " + std::to_string(f));
      for (int i = 0; i < 2000; i++) {
        const std::uint64_t hash = i == 0 ? 0 : i == 1 ? ~0ULL : random.next();
        const CuckooPlace place = cuckoo_place(geometry, hash);
        const CuckooPlace specified = specified_place(geometry, hash);
        ASSERT_EQ(place.fingerprint, specified.fingerprint);
        ASSERT_EQ(place.bucket[0], specified.bucket[0]);
        ASSERT_EQ(place.bucket[1], specified.bucket[1]);
        ASSERT_NE(place.fingerprint, 0U);
        ASSERT_LT(place.bucket[1], m);
        // The other bucket leads back to the first.
        const CuckooPlace back =
            cuckoo_place(geometry, hash_for(geometry, place.bucket[1], place.fingerprint));
        ASSERT_EQ(back.fingerprint, place.fingerprint);
        ASSERT_EQ(back.bucket[0], place.bucket[1]);
        ASSERT_EQ(back.bucket[1], place.bucket[0]);
      }
    }
}

TEST(Cuckoo, Sizes) {
  const double below = std::nextafter(std::ldexp(1.0, -29), 0.0);
  const struct {
    std::uint64_t expected;
    double rate;
    int bits;
    std::uint32_t buckets;
  } cases[] = {
      {1, 0.5, 6, 2},
      {3, 0.125, 6, 2},
      {17, std::nextafter(0.125, 0.0), 7, 6},
      {18, 0.1, 7, 7},
      {946, 0.01, 10, 280}, // 3.8 values per bucket would need only 249
      {947, 0.01, 10, 250},
      {950, 0.01, 10, 250},
      {951, 0.01, 10, 251},
      {1000, 0.001, 13, 264},
      {1000000, 1e-4, 17, 263158},
      {1000, std::ldexp(1.0, -29), 32, 264},
      {1000, below, 32, 528},
      {1, 1e-9, 32, 4},
      {680036486, 0.5, 6, 178956970},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(c.expected);
    Geometry geometry;
    ASSERT_TRUE(size_for(Layout::cuckoo, c.expected, c.rate, &geometry));
    EXPECT_EQ(geometry, cuckoo(c.bits, c.buckets));
  }
  Geometry untouched = cuckoo(9, 9);
  for (const std::uint64_t expected : {std::uint64_t{680036487}, kMaxBits, kMaxBits + 1,
                                       std::numeric_limits<std::uint64_t>::max()})
    EXPECT_FALSE(size_cuckoo(expected, 0.5, &untouched));
  EXPECT_EQ(untouched, cuckoo(9, 9));
}

TEST(Cuckoo, SixPercentMoreThanTheFingerprints) {
  for (int f = kMinFingerprintBits; f <= kMaxFingerprintBits; f++)
    for (std::uint64_t expected = 1000; expected < 100000000;
         expected += expected < 3000 ? 1 : expected / 7) {
      Geometry geometry;
      ASSERT_TRUE(size_cuckoo(expected, std::ldexp(1.0, 3 - f), &geometry));
      ASSERT_EQ(geometry.fingerprint_bits(), f);
      ASSERT_LE(static_cast<double>(geometry.bits()), 1.06 * f * static_cast<double>(expected));
      ASSERT_LE(static_cast<double>(expected), 0.95 * kBucketSlots * geometry.units);
    }
}

// Computed by another implementation of the specification, in another language.
TEST(Cuckoo, GoldenTables) {
  const struct {
    int bits;
    std::uint32_t buckets;
    std::uint64_t values;
    const char *table;
  } cases[] = {
      {6, 2, 5, "00000000ffff01e00700"},
      {7, 3, 9, "000000007f9f0fe007f600fdfe0f00"},
      {19, 5, 14,
       "0000000046c71f1d9f90ed0000704aff25ec01000000004fe977dffd3cf3000070df7d4bd853e96f33"
       "789fd2e7771f0000000000"},
      {32, 2, 6, "000000002af894fe54f029fd696c747c000000007ee8befb157c4a7f3f74df7d00000000"},
  };
  for (const auto &c : cases) {
    const Geometry geometry = cuckoo(c.bits, c.buckets);
    SCOPED_TRACE(c.table);
    Bytes table(geometry.bytes());
    for (std::uint64_t i = 1; i <= c.values; i++)
      ASSERT_TRUE(add(geometry, table, i * 0x9E3779B97F4A7C15));
    std::string hex;
    for (const std::uint8_t byte : table)
      for (const int digit : {byte >> 4, byte & 15})
        hex += "0123456789abcdef"[digit];
    EXPECT_EQ(hex, c.table);
  }
}

// The kicks are the same on every machine and in every release.
TEST(Cuckoo, KicksAreGolden) {
  for (const auto &[f, kicks, hash] :
       {std::tuple<int, std::uint64_t, std::uint64_t>{10, 481, 6322684886555236713U},
        {17, 730, 8111546024887264013U}}) {
    const Geometry geometry = cuckoo(f, 264);
    Bytes table(geometry.bytes());
    for (const std::uint64_t value : random_hashes(1000, 2))
      ASSERT_TRUE(add(geometry, table, value));
    EXPECT_EQ(cuckoo_kicks(table.data()), kicks);
    EXPECT_EQ(hash_bytes(table.data(), table.size(), 0), hash);
  }
}

TEST(Cuckoo, FillsToItsCapacity) {
  const std::size_t sizes[] = {1, 3, 100, 500, 1000, 3000, 100000, 1000000};
  for (const std::size_t n : sizes)
    for (const double rate : {0.1, 1e-4}) {
      SCOPED_TRACE(n);
      Geometry geometry;
      ASSERT_TRUE(size_cuckoo(n, rate, &geometry));
      std::vector<std::uint64_t> hashes = random_hashes(n, n);
      // In the given order, then sorted, as an aggregate adds them.
      for (int order = 0; order < 2; order++) {
        Bytes table(geometry.bytes());
        for (const std::uint64_t hash : hashes)
          ASSERT_TRUE(add(geometry, table, hash));
        EXPECT_TRUE(is_sound(geometry, table, n));
        EXPECT_TRUE(n < 100000 || cuckoo_kicks(table.data()) <= n);
        std::sort(hashes.begin(), hashes.end());
      }
    }
}

// cuckoo_add_many() does what single additions do, up to the first hash that finds no room.
TEST(Cuckoo, AddsManyLikeOneByOne) {
  for (const int f : {10, 20})
    for (const std::size_t count : {0, 1, 8, 9, 700, 4000}) {
      const Geometry geometry = cuckoo(f, 200);
      SCOPED_TRACE(std::to_string(count) + " hashes, f = " + std::to_string(f));
      const auto hashes = random_hashes(count, 3);
      Bytes one_by_one(geometry.bytes()), many(geometry.bytes());
      std::size_t stored = 0;
      while (stored < count && add(geometry, one_by_one, hashes[stored]))
        stored++;
      EXPECT_EQ(stored < count, (count > 800));
      EXPECT_EQ(cuckoo_add_many(geometry, many.data(), hashes.data(), count), stored);
      EXPECT_EQ(many, one_by_one);
    }
}

// The smallest tables with 95 % load. One set of values in 10000 has no arrangement. With at most
// 500 kicks, one set in 500 would fail.
TEST(Cuckoo, FillsTheFewestBuckets) {
  Geometry geometry;
  ASSERT_TRUE(size_cuckoo(950, 0.01, &geometry));
  ASSERT_EQ(geometry, cuckoo(10, 250));
  int failed = 0;
  for (std::uint64_t seed = 0; seed < 2000 / SAMPLE_DIVISOR; seed++) {
    Bytes table(geometry.bytes());
    for (const std::uint64_t hash : random_hashes(950, seed))
      if (!add(geometry, table, hash)) {
        failed++;
        break;
      }
  }
  EXPECT_LE(failed, 1);
}

TEST(Cuckoo, RatesAreTheRatesAskedFor) {
  const std::size_t n = 100000;
  for (const double requested : {0.1, 0.01, 0.001, 1e-4}) {
    SCOPED_TRACE(requested);
    Geometry geometry;
    ASSERT_TRUE(size_cuckoo(n, requested, &geometry));
    Bytes table(geometry.bytes());
    for (std::size_t i = 0; i < n; i++)
      ASSERT_TRUE(add(geometry, table, hash_integer(static_cast<std::int64_t>(i), 0)));
    const auto probes =
        static_cast<std::uint64_t>(std::max(2500 / requested, 1e6) / SAMPLE_DIVISOR);
    std::uint64_t positives = 0;
    for (std::uint64_t i = n; i < n + probes; i++)
      positives +=
          cuckoo_contains(geometry, table.data(), hash_integer(static_cast<std::int64_t>(i), 0));
    const double noise = 3 / std::sqrt(requested * static_cast<double>(probes));
    const double obtained = static_cast<double>(positives) / static_cast<double>(probes);
    EXPECT_LE(obtained, requested * (1.05 + noise));
    EXPECT_NEAR(obtained / cuckoo_rate(geometry, n), 1.0, 0.05 + 2 * noise);
    EXPECT_LE(cuckoo_rate(geometry, n), requested);
  }
}

TEST(Cuckoo, RateFollowsTheLoad) {
  EXPECT_EQ(cuckoo_rate(cuckoo(8, 100), 0), 0.0);
  EXPECT_NEAR(cuckoo_rate(cuckoo(8, 100), 400), 1 - std::pow(1 - 1.0 / 255, 8), 1e-15);
  EXPECT_NEAR(cuckoo_rate(cuckoo(32, 100), 200), 4 / (std::ldexp(1.0, 32) - 1), 1e-18);
  Geometry geometry;
  for (const double requested : {0.5, 0.125, std::ldexp(1.0, -29), 1.8e-9, kMinRate}) {
    ASSERT_TRUE(size_cuckoo(1000000, requested, &geometry));
    EXPECT_LE(cuckoo_rate(geometry, 1000000), requested);
  }
}

// A multiset of hashes. Hashes with the same fingerprint and the same pair of buckets count
// together.
class Model {
public:
  Model(const Geometry &geometry, std::size_t values, std::uint64_t seed)
      : hashes_(random_hashes(values, seed)) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> numbers;
    for (const std::uint64_t hash : hashes_) {
      const CuckooPlace place = specified_place(geometry, hash);
      const auto [low, high] = std::minmax({place.bucket[0], place.bucket[1]});
      number_.push_back(
          numbers.insert({{place.fingerprint, low, high}, numbers.size()}).first->second);
    }
    copies_.resize(numbers.size());
  }

  std::size_t values() const { return hashes_.size(); }
  std::uint64_t hash(std::size_t value) const { return hashes_[value]; }
  int copies(std::size_t value) const { return copies_[number_[value]]; }
  const std::vector<std::size_t> &members() const { return members_; }

  void add(std::size_t value) {
    members_.push_back(value);
    copies_[number_[value]]++;
  }
  // `member` is an index of members().
  void remove(std::size_t member) {
    copies_[number_[members_[member]]]--;
    members_[member] = members_.back();
    members_.pop_back();
  }

private:
  std::vector<std::uint64_t> hashes_;
  std::vector<std::size_t> number_, members_;
  std::vector<int> copies_;
};

class CuckooModel : public testing::TestWithParam<std::tuple<Geometry, int>> {};

// The table grows until an addition finds no room, shrinks to a random size, and so on.
TEST_P(CuckooModel, HoldsAMultiset) {
  const auto [geometry, operations] = GetParam();
  Model model(geometry, 3 * std::size_t{geometry.units} + 2, geometry.units);
  Bytes table(geometry.bytes());
  Random random(3);
  std::size_t target = std::numeric_limits<std::size_t>::max();
  int failed = 0, kicked = 0;
  const auto check_all = [&, &geometry = geometry] {
    ASSERT_TRUE(is_sound(geometry, table, model.members().size()));
    ASSERT_EQ(cuckoo_stored(geometry, table.data()), model.members().size());
    for (std::size_t value = 0; value < model.values(); value++) {
      ASSERT_EQ(cuckoo_copies(geometry, table.data(), model.hash(value)), model.copies(value));
      ASSERT_EQ(cuckoo_contains(geometry, table.data(), model.hash(value)),
                model.copies(value) > 0);
    }
  };
  for (int i = 0; i < operations / SAMPLE_DIVISOR; i++) {
    const std::size_t value = random.next() % model.values();
    const std::uint64_t hash = model.hash(value);
    ASSERT_EQ(cuckoo_contains(geometry, table.data(), hash), model.copies(value) > 0);
    if (random.next() % 4 == 0) {
      ASSERT_EQ(cuckoo_copies(geometry, table.data(), hash), model.copies(value));
    } else if ((random.next() % 4 == 0) != (target < model.members().size())) {
      if (model.members().empty())
        continue;
      const std::size_t member = random.next() % model.members().size();
      const std::uint64_t leaving = model.hash(model.members()[member]);
      ASSERT_TRUE(cuckoo_remove(geometry, table.data(), leaving));
      model.remove(member);
    } else {
      const Bytes before = table;
      if (add(geometry, table, hash)) {
        model.add(value);
        ASSERT_LE(model.copies(value), cuckoo_max_copies(cuckoo_place(geometry, hash)));
        kicked += cuckoo_kicks(table.data()) > cuckoo_kicks(before.data());
      } else {
        ASSERT_EQ(table, before);
        target = random.next() % model.members().size();
        failed++;
      }
    }
    if (model.members().size() <= target)
      target = std::numeric_limits<std::size_t>::max();
    if (i % (64 * static_cast<int>(geometry.units)) == 0)
      check_all();
  }
  check_all();
  EXPECT_GT(failed, 0);
  EXPECT_GT(kicked, 0);
  while (!model.members().empty()) {
    ASSERT_TRUE(cuckoo_remove(geometry, table.data(), model.hash(model.members()[0])));
    model.remove(0);
  }
  check_all();
  EXPECT_EQ(buckets_of(table), Bytes(table.size() - kKicksBytes));
  EXPECT_FALSE(cuckoo_remove(geometry, table.data(), model.hash(0)));
}

INSTANTIATE_TEST_SUITE_P(
    Core, CuckooModel,
    testing::Values(std::tuple{cuckoo(6, 4), 100000}, std::tuple{cuckoo(6, 2), 200000},
                    std::tuple{cuckoo(6, 3), 200000}, std::tuple{cuckoo(7, 4), 200000},
                    std::tuple{cuckoo(15, 5), 200000}, std::tuple{cuckoo(32, 2), 100000},
                    std::tuple{cuckoo(17, 3), 200000}, std::tuple{cuckoo(31, 5), 200000},
                    std::tuple{cuckoo(6, 250), 800000}, std::tuple{cuckoo(9, 97), 800000},
                    std::tuple{cuckoo(16, 256), 800000}, std::tuple{cuckoo(23, 301), 800000}),
    [](const auto &info) {
      const Geometry geometry = std::get<0>(info.param);
      return std::to_string(geometry.fingerprint_bits()) + "_bits_" +
             std::to_string(geometry.units) + "_buckets";
    });

TEST(Cuckoo, CopiesFillBothBuckets) {
  int coincide = 0;
  for (const int f : {6, 12, 16, 17, 32})
    for (std::uint32_t m = kMinBuckets; m <= 24; m++) {
      const Geometry geometry = cuckoo(f, m);
      for (const std::uint64_t hash : random_hashes(20, m)) {
        const CuckooPlace place = cuckoo_place(geometry, hash);
        const int most = place.bucket[0] == place.bucket[1] ? 4 : 8;
        EXPECT_EQ(cuckoo_max_copies(place), most);
        coincide += most == 4;
        Bytes table(geometry.bytes());
        for (int copies = 0; copies < most; copies++) {
          ASSERT_EQ(cuckoo_copies(geometry, table.data(), hash), copies);
          ASSERT_TRUE(add(geometry, table, hash));
        }
        const Bytes full = table;
        EXPECT_FALSE(add(geometry, table, hash));
        EXPECT_EQ(table, full);
        EXPECT_EQ(cuckoo_kicks(table.data()), 0U);
        for (int copies = most; copies > 0; copies--) {
          ASSERT_EQ(cuckoo_copies(geometry, table.data(), hash), copies);
          ASSERT_TRUE(cuckoo_contains(geometry, table.data(), hash));
          ASSERT_TRUE(cuckoo_remove(geometry, table.data(), hash));
        }
        EXPECT_EQ(table, Bytes(geometry.bytes()));
      }
    }
  EXPECT_GT(coincide, 100);
}

// Other fingerprints make room for up to eight copies of one hash, however many copies are there
// already.
TEST(Cuckoo, CopiesKickOthers) {
  const Geometry geometry = cuckoo(12, 50);
  for (const std::uint64_t hash : random_hashes(200, 4)) {
    const CuckooPlace place = cuckoo_place(geometry, hash);
    Bytes table(geometry.bytes());
    std::uint32_t other = 1;
    for (const std::uint32_t bucket : place.bucket)
      for (int others = 0; others < kBucketSlots; other++) {
        const std::uint64_t guest = hash_for(geometry, bucket, other);
        const std::uint32_t elsewhere = cuckoo_place(geometry, guest).bucket[1];
        if (elsewhere == place.bucket[0] || elsewhere == place.bucket[1])
          continue;
        ASSERT_TRUE(add(geometry, table, guest));
        others++;
      }
    for (int copies = 0; copies < cuckoo_max_copies(place); copies++) {
      const std::uint64_t kicks = cuckoo_kicks(table.data());
      ASSERT_TRUE(add(geometry, table, hash));
      // Another fingerprint is kicked, or a copy is kicked first.
      EXPECT_LE(cuckoo_kicks(table.data()), kicks + 2);
    }
    EXPECT_FALSE(add(geometry, table, hash));
  }
}

// Buckets do not show the order in which they were filled.
TEST(Cuckoo, BucketsAreInOrder) {
  for (const int f : {6, 11, 17, 32}) {
    const Geometry geometry = cuckoo(f, 3);
    std::vector<std::uint32_t> fingerprints = {1, 7, 7, 35};
    const std::uint32_t descending[] = {35, 7, 7, 1};
    Bytes first;
    do {
      Bytes table(geometry.bytes());
      for (const std::uint32_t fingerprint : fingerprints)
        ASSERT_TRUE(add(geometry, table, hash_for(geometry, 1, fingerprint)));
      if (first.empty())
        first = table;
      ASSERT_EQ(table, first);
      for (int slot = 0; slot < 4; slot++) {
        EXPECT_EQ(slot_at(geometry, table.data(), 0, slot), 0U);
        EXPECT_EQ(slot_at(geometry, table.data(), 1, slot), descending[slot]);
        EXPECT_EQ(slot_at(geometry, table.data(), 2, slot), 0U);
      }
    } while (std::next_permutation(fingerprints.begin(), fingerprints.end()));
  }
}

TEST(Cuckoo, RemovingUndoesAdding) {
  const Geometry geometry = cuckoo(9, 101);
  Bytes table(geometry.bytes());
  int undone = 0;
  for (const std::uint64_t hash : random_hashes(380, 5)) {
    const Bytes before = table;
    const bool fresh = !cuckoo_contains(geometry, table.data(), hash);
    ASSERT_TRUE(add(geometry, table, hash));
    if (!fresh || cuckoo_kicks(table.data()) != cuckoo_kicks(before.data()))
      continue;
    const Bytes after = table;
    ASSERT_TRUE(cuckoo_remove(geometry, table.data(), hash));
    ASSERT_EQ(table, before);
    table = after;
    undone++;
  }
  EXPECT_GT(undone, 200);
}

TEST(Cuckoo, KicksAreCountedAndSaturate) {
  const Geometry geometry = cuckoo(13, 250);
  Bytes table(geometry.bytes()), hostile = table;
  store(hostile.data(), ~0U - 2);
  std::uint64_t kicks = 0;
  for (const std::uint64_t hash : random_hashes(950, 6)) {
    ASSERT_TRUE(add(geometry, table, hash));
    ASSERT_TRUE(add(geometry, hostile, hash));
    ASSERT_EQ(buckets_of(table), buckets_of(hostile));
    ASSERT_GE(cuckoo_kicks(table.data()), kicks);
    kicks = cuckoo_kicks(table.data());
    ASSERT_EQ(cuckoo_kicks(hostile.data()), kicks < 2 ? ~0U - 2 + kicks : ~0U);
  }
  EXPECT_GT(kicks, 100U);
}

TEST(Cuckoo, UnionIsTheSum) {
  for (const Geometry &geometry : {cuckoo(6, 40), cuckoo(10, 280), cuckoo(21, 33), cuckoo(8, 4)}) {
    Bytes a(geometry.bytes()), b = a;
    std::vector<std::uint64_t> hashes = random_hashes(geometry.units, geometry.units);
    std::map<std::uint64_t, int> in_a, in_b;
    for (std::size_t i = 0; i < hashes.size(); i++) { // some in both
      ASSERT_TRUE(i % 3 == 0 || add(geometry, a, hashes[i]));
      ASSERT_TRUE(i % 3 == 1 || add(geometry, b, hashes[i]));
    }
    for (const std::uint64_t hash : hashes) {
      in_a[hash] = cuckoo_copies(geometry, a.data(), hash);
      in_b[hash] = cuckoo_copies(geometry, b.data(), hash);
    }
    const std::uint64_t sum = cuckoo_stored(geometry, a.data()) + cuckoo_stored(geometry, b.data());
    const Bytes before = b;
    ASSERT_TRUE(cuckoo_unite(geometry, a.data(), b.data(), 0, geometry.units));
    EXPECT_EQ(b, before);
    EXPECT_TRUE(is_sound(geometry, a, sum));
    for (const std::uint64_t hash : hashes)
      EXPECT_EQ(cuckoo_copies(geometry, a.data(), hash), in_a[hash] + in_b[hash]);

    Bytes empty(geometry.bytes());
    ASSERT_TRUE(cuckoo_unite(geometry, empty.data(), b.data(), 0, geometry.units));
    EXPECT_EQ(buckets_of(empty), buckets_of(b));
    Bytes full(geometry.bytes());
    for (std::uint64_t hash = 0; add(geometry, full, specified_mix(hash)); hash++)
      ;
    EXPECT_FALSE(cuckoo_unite(geometry, full.data(), a.data(), 0, geometry.units));
  }
}

// A table ends where its memory ends. The bytes before it belong to others.
TEST(Cuckoo, AnyAlignmentAndNothingOutside) {
  for (int f = kMinFingerprintBits; f <= kMaxFingerprintBits; f++)
    for (std::uint32_t m = kMinBuckets; m <= 9; m++)
      for (std::size_t before = 0; before < 8; before++) {
        const Geometry geometry = cuckoo(f, m);
        Bytes memory(before + geometry.bytes());
        std::fill_n(memory.begin(), before, std::uint8_t{0xA5});
        Bytes aligned(geometry.bytes());
        std::uint8_t *table = memory.data() + before;
        std::uint64_t stored = 0;
        for (const std::uint64_t hash : random_hashes(3 * m, m)) {
          const bool added = add(geometry, aligned, hash);
          ASSERT_EQ(cuckoo_add(geometry, table, cuckoo_place(geometry, hash)), added);
          stored += added;
          ASSERT_TRUE(!added || cuckoo_contains(geometry, table, hash));
        }
        ASSERT_TRUE(std::equal(aligned.begin(), aligned.end(), table));
        ASSERT_TRUE(std::all_of(memory.data(), table, [](int byte) { return byte == 0xA5; }));
        ASSERT_EQ(cuckoo_stored(geometry, table), stored);
        ASSERT_TRUE(is_sound(geometry, aligned, stored));
        for (const std::uint64_t hash : random_hashes(3 * m, m))
          stored -= cuckoo_remove(geometry, table, hash);
        ASSERT_EQ(stored, 0U);
      }
}

// The counts are the same for a caller that has only the bytes of a hash's two buckets.
TEST(Cuckoo, CountsInSingleBuckets) {
  for (const Geometry &geometry : {cuckoo(6, 2), cuckoo(6, 7), cuckoo(7, 9), cuckoo(15, 8),
                                   cuckoo(16, 5), cuckoo(17, 6), cuckoo(31, 8), cuckoo(32, 3)}) {
    Bytes table(geometry.bytes());
    const std::vector<std::uint64_t> hashes = random_hashes(3 * geometry.units, 7);
    for (const std::uint64_t hash : hashes)
      add(geometry, table, hash);
    std::size_t end = kKicksBytes;
    for (std::uint32_t bucket = 0; bucket < geometry.units; bucket++) {
      const BucketSpan span = bucket_span(geometry, bucket);
      ASSERT_EQ(span.offset, end - (span.shift != 0));
      end = span.offset + span.length;
      ASSERT_LE(end, table.size());
      const Bytes bytes(table.begin() + static_cast<std::ptrdiff_t>(span.offset),
                        table.begin() + static_cast<std::ptrdiff_t>(end));
      for (int slot = 0; slot < 4; slot++) {
        const std::uint32_t fingerprint = slot_at(geometry, table.data(), bucket, slot);
        int copies = 0;
        for (int other = 0; other < 4; other++)
          copies += slot_at(geometry, table.data(), bucket, other) == fingerprint;
        EXPECT_EQ(count_in_bucket(geometry, bytes.data(), span, fingerprint), copies);
      }
    }
    EXPECT_EQ(end, table.size());
  }
}

TEST(Cuckoo, DisorderIsFound) {
  for (const Geometry &geometry : {cuckoo(6, 3), cuckoo(9, 5), cuckoo(17, 4), cuckoo(31, 3)}) {
    SCOPED_TRACE(geometry.fingerprint_bits());
    Bytes table(geometry.bytes());
    for (std::uint32_t bucket = 0; bucket < geometry.units; bucket++)
      for (const std::uint32_t fingerprint : {40U, 30U, 20U, 10U})
        ASSERT_TRUE(add(geometry, table, hash_for(geometry, bucket, fingerprint)));
    ASSERT_TRUE(is_sound(geometry, table, 4 * std::uint64_t{geometry.units}));
    std::uint64_t stored;
    for (std::uint32_t bucket = 0; bucket < geometry.units; bucket++)
      for (unsigned slot = 0; slot < 4; slot++) {
        const std::uint64_t start =
            8 * kKicksBytes + (4ULL * bucket + slot) * geometry.fingerprint_bits();
        Bytes emptied = table, raised = table;
        for (unsigned bit = 0; bit < geometry.fingerprint_bits(); bit++) {
          clear_bit(emptied.data(), start + bit);
          set_bit(raised.data(), start + bit);
        }
        // The first slot may hold a greater number, and the last may be 0. Any other change breaks
        // the order.
        EXPECT_EQ(check_buckets(geometry, emptied.data(), &stored), slot == 3);
        EXPECT_EQ(stored, 4 * std::uint64_t{geometry.units} - 1);
        EXPECT_EQ(check_buckets(geometry, raised.data(), &stored), slot == 0);
      }
    for (std::uint64_t bit = 8 * kKicksBytes + geometry.bits(); bit < 8 * geometry.bytes(); bit++) {
      Bytes stray = table;
      set_bit(stray.data(), bit);
      EXPECT_FALSE(check_buckets(geometry, stray.data(), &stored));
    }
  }
}

// A payload of integers: three buckets of 7-bit fingerprints. The last bucket ends within a byte.
Bytes payload_of(const Geometry &geometry) {
  const Header header = {geometry, {Family::integer, 0}, 7, {8, 0.1}};
  Bytes payload(header.payload_bytes());
  write_header(payload.data(), header);
  for (const std::uint64_t hash : random_hashes(8, 8))
    EXPECT_TRUE(cuckoo_add(geometry, payload.data() + kHeaderBytes, cuckoo_place(geometry, hash)));
  return payload;
}

const char *status_of(const Bytes &payload) {
  Header header;
  return validate(payload.data(), payload.size(), &header).text;
}

TEST(Cuckoo, StoredValuesAreValidated) {
  const Geometry geometry = cuckoo(7, 3);
  const Bytes good = payload_of(geometry);
  Header header;
  ASSERT_TRUE(validate(good.data(), good.size(), &header).ok());
  EXPECT_EQ(header.geometry, geometry);
  EXPECT_TRUE(check_kind(header, Kind::cuckoo).ok());
  EXPECT_EQ(check_kind(header, Kind::bloom).text, Fault::other_kind);
  EXPECT_EQ(header.payload_bytes(), kHeaderBytes + kKicksBytes + 11);

  const auto with = [&good](std::size_t at, int byte) {
    Bytes payload = good;
    payload[at] = static_cast<std::uint8_t>(byte);
    return payload;
  };
  for (const int f : {0, 5, 33, 255})
    EXPECT_EQ(status_of(with(3, f)), Fault::bad_k);
  EXPECT_EQ(status_of(with(32, kFlagSelfSized)), nullptr);
  for (const int flags :
       {kFlagChain | 0, kFlagChain | kFlagSelfSized, kFlagGrow | 0, 0x08, 0x10, 0x80})
    EXPECT_EQ(status_of(with(32, flags)), Fault::unknown_flags);
  for (const int units : {0, 1})
    EXPECT_EQ(status_of(with(28, units)), Fault::bad_units);
  EXPECT_EQ(status_of(with(28, 4)), Fault::wrong_length);
  EXPECT_EQ(status_of(with(3, 6)), Fault::wrong_length);
  EXPECT_EQ(status_of(with(2, 0)), Fault::stray_bits);
  EXPECT_EQ(status_of(with(kHeaderBytes, 200)), nullptr); // any number of kicks
  EXPECT_EQ(status_of(with(good.size() - 1, 0x10)), Fault::bad_buckets);

  Bytes shorter = good, longer = good, disorder = good;
  shorter.pop_back();
  longer.push_back(0);
  EXPECT_EQ(status_of(shorter), Fault::wrong_length);
  EXPECT_EQ(status_of(longer), Fault::wrong_length);
  std::fill_n(disorder.begin() + kHeaderBytes + kKicksBytes, 4, std::uint8_t{0});
  disorder[kHeaderBytes + kKicksBytes + 2] = 1;
  EXPECT_EQ(status_of(disorder), Fault::bad_buckets);

  // Without values, a filter has no element type yet.
  Bytes empty = with(2, 0);
  std::fill(empty.begin() + kHeaderBytes, empty.end(), std::uint8_t{0});
  EXPECT_EQ(status_of(empty), nullptr);

  // 2^32 bits of buckets, and one bucket more.
  Bytes vast = good;
  vast[3] = 32;
  store<std::uint32_t>(&vast[28], 1U << 25);
  EXPECT_EQ(status_of(vast), Fault::wrong_length);
  store<std::uint32_t>(&vast[28], (1U << 25) + 1);
  EXPECT_EQ(status_of(vast), Fault::bad_units);
}

} // namespace
} // namespace bloomfilter
