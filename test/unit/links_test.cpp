// Links: the laws of union, byte for byte over random filters; no member is lost; growth.

#include "core/links.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "core/bitmap.hpp"
#include "core/estimate.hpp"
#include "core/sizing.hpp"
#include "unit/support.hpp"

namespace bloomfilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

// A value of several links, as src/pg makes it.
Bytes make_value(const LinkView *views, int count) {
  Header header = {{Layout::lines, 0, 0},
                   {Family::integer, 0},
                   0,
                   {1, 0.01},
                   kFlagChain | kFlagGrow,
                   static_cast<std::uint32_t>(count)};
  Bytes payload(header.head_bytes());
  write_header(payload.data(), header);
  for (int i = 0; i < count; i++) {
    write_link(payload.data(), i, views[i].link);
    const std::size_t at = payload.size(), bytes = views[i].link.geometry.bytes();
    payload.resize(at + bytes);
    if (views[i].bitmap)
      std::memcpy(&payload[at], views[i].bitmap, bytes);
    if (views[i].other)
      kScalarKernel.unite(&payload[at], views[i].other, bytes / kLineBytes);
  }
  return payload;
}

Header header_of(const Bytes &payload) {
  Header header;
  const Finding finding = validate(payload.data(), payload.size(), &header);
  EXPECT_TRUE(finding.ok()) << "status " << static_cast<int>(finding.status);
  return header;
}

Bytes unite(const Bytes &a, const Bytes &b) {
  LinkView views[2 * kMaxLinks];
  int count = view_links(a.data(), header_of(a), views);
  count += view_links(b.data(), header_of(b), views + count);
  return make_value(views, normalize_links(views, count, no_pause));
}

bool contains(const Bytes &payload, std::uint64_t hash) {
  return links_contain(best_kernel(), payload.data(), header_of(payload), {hash, 0});
}

Bytes make_link(const Link &link, const std::vector<std::uint64_t> &hashes) {
  Bytes bitmap(link.geometry.bytes());
  best_kernel().add_many(link.geometry, bitmap.data(), hashes.data(), hashes.size());
  const LinkView view = {link, bitmap.data(), nullptr};
  return make_value(&view, 1);
}

// One of few geometries, capacities and sets, so that links often meet similar ones.
struct Sample {
  Bytes payload;
  std::vector<std::uint64_t> hashes;
};
Sample random_sample(Random *random) {
  static const Geometry kGeometries[] = {
      {Layout::lines, 6, 1}, {Layout::lines, 6, 2}, {Layout::lines, 4, 2}, {Layout::pages, 12, 1}};
  Sample sample;
  const std::uint64_t first = random->next() % 3, count = random->next() % 4 * 20;
  for (std::uint64_t i = first; i < first + count; i++)
    sample.hashes.push_back(hash_integer(static_cast<std::int64_t>(i), 0));
  Link link = {kGeometries[random->next() % 4], 0, {}};
  if (random->next() % 4 != 0)
    link.capacity = {1 + random->next() % 3, random->next() % 2 ? 0.01 : 0.1};
  if (random->next() % 2)
    link.flags |= kFlagOwn;
  if (random->next() % 8 == 0)
    link.flags |= kFlagIntersection;
  sample.payload = make_link(link, sample.hashes);
  return sample;
}
Sample random_union(Random *random) {
  Sample sample = random_sample(random);
  for (std::uint64_t more = random->next() % 4; more > 0; more--) {
    const Sample other = random_sample(random);
    sample.payload = unite(sample.payload, other.payload);
    sample.hashes.insert(sample.hashes.end(), other.hashes.begin(), other.hashes.end());
  }
  return sample;
}

TEST(Links, UnionIsCommutativeAssociativeIdempotent) {
  Random random(1);
  std::set<int> numbers;
  for (int round = 0; round < 20000; round++) {
    SCOPED_TRACE(round);
    const Bytes a = random_union(&random).payload, b = random_union(&random).payload,
                c = random_union(&random).payload;
    const Bytes ab = unite(a, b);
    ASSERT_EQ(ab, unite(b, a));
    ASSERT_EQ(unite(ab, c), unite(a, unite(b, c)));
    ASSERT_EQ(unite(a, a), a);
    ASSERT_EQ(unite(ab, b), ab);
    numbers.insert(header_of(unite(ab, c)).links());
  }
  EXPECT_GE(numbers.size(), 6U); // numbers of links: the samples met all kinds of similar ones
}

TEST(Links, UnionLosesNoMember) {
  Random random(2);
  for (int round = 0; round < 5000; round++) {
    SCOPED_TRACE(round);
    const Sample a = random_union(&random), b = random_union(&random);
    const Bytes united = unite(a.payload, b.payload);
    for (const Sample *sample : {&a, &b})
      for (const std::uint64_t hash : sample->hashes)
        ASSERT_TRUE(contains(united, hash));
  }
}

TEST(Links, AreInTheUnionIfAnyIs) {
  Random random(3);
  for (int round = 0; round < 2000; round++) {
    const Bytes a = random_union(&random).payload, b = random_union(&random).payload;
    const Bytes united = unite(a, b);
    for (int i = 0; i < 20; i++) {
      const std::uint64_t hash = random.next();
      ASSERT_LE(contains(a, hash) || contains(b, hash), contains(united, hash));
    }
  }
}

std::vector<std::uint64_t> integers(int first, int last) {
  std::vector<std::uint64_t> hashes;
  for (int i = first; i <= last; i++)
    hashes.push_back(hash_integer(i, 0));
  return hashes;
}

constexpr Geometry kLine = {Layout::lines, 6, 1};
constexpr Geometry kTwoLines = {Layout::lines, 6, 2};

// The rules one by one, checked by bytes.
TEST(Links, OfOneGeometryAreOredUnlessTheySizedThemselves) {
  const Link asked = {kLine, 0, {10, 0.01}}, more = {kLine, kFlagIntersection, {20, 0.001}};
  EXPECT_EQ(unite(make_link(asked, integers(1, 10)), make_link(more, integers(5, 20))),
            make_link({kLine, kFlagIntersection, {20, 0.01}}, integers(1, 20)));
  EXPECT_EQ(unite(make_link(asked, {}), make_link(asked, integers(5, 20))),
            make_link(asked, integers(5, 20)));

  const Link own = {kLine, kFlagOwn, {10, 0.01}};
  EXPECT_EQ(
      header_of(unite(make_link(own, integers(1, 9)), make_link(own, integers(5, 20)))).links(), 2);
  EXPECT_EQ(
      header_of(unite(make_link(own, integers(1, 9)), make_link(asked, integers(5, 20)))).links(),
      2);
}

TEST(Links, ThatAnotherOneCoversAreLeftOut) {
  const Link asked = {kLine, 0, {10, 0.01}}, own = {kLine, kFlagOwn, {30, 0.02}},
             large = {kTwoLines, kFlagOwn, {30, 0.01}};
  const Bytes part = make_link(own, integers(3, 9)), all = make_link(asked, integers(1, 10));
  EXPECT_EQ(unite(part, all), all);
  // The content of a link that was asked for stays in that link.
  EXPECT_EQ(
      header_of(unite(make_link(asked, integers(3, 9)), make_link(own, integers(1, 10)))).links(),
      2);
  EXPECT_EQ(unite(part, make_link({kLine, kFlagOwn, {1, 0.01}}, integers(3, 10))),
            make_link({kLine, kFlagOwn, {1, 0.01}}, integers(3, 10)));
  // With equal bits, the larger capacity and the larger rate win.
  EXPECT_EQ(unite(part, make_link({kLine, kFlagOwn, {1, 0.03}}, integers(3, 9))),
            make_link({kLine, kFlagOwn, {30, 0.03}}, integers(3, 9)));
  // Two OR-ed links cover it together.
  EXPECT_EQ(unite(unite(part, make_link(asked, integers(1, 5))), make_link(asked, integers(6, 9))),
            make_link(asked, integers(1, 9)));
  EXPECT_EQ(header_of(unite(part, make_link(large, integers(1, 30)))).links(), 2);
}

// The links have as many bits but other positions: what k = 6 covers, k = 3 does not.
TEST(Links, OfAnotherGeometryCoverNothing) {
  const Link few = {{Layout::lines, 3, 1}, kFlagOwn, {10, 0.1}},
             many = {kLine, kFlagOwn, {10, 0.01}};
  EXPECT_EQ(
      header_of(unite(make_link(few, integers(1, 9)), make_link(many, integers(1, 20)))).links(),
      2);
}

TEST(Links, WithoutValuesStayIfTheyWereAskedFor) {
  const Link asked = {kTwoLines, 0, {40, 0.01}}, own = {kLine, kFlagOwn, {1, 0.01}},
             larger = {kTwoLines, kFlagOwn, {1, 0.01}};
  const Bytes values = make_link(own, integers(1, 5));
  EXPECT_EQ(unite(make_link(larger, {}), values), values);
  EXPECT_EQ(header_of(unite(make_link(asked, {}), values)).links(), 2);
  EXPECT_EQ(unite(make_link(larger, {}), make_link(own, {})), make_link(own, {}));
}

TEST(Links, GrowWhileTheRateStays) {
  for (const double rate : {0.5, 0.1, 0.01, 0.001, 1e-6, 1e-9})
    for (const std::uint64_t expected : {1, 10, 1000, 1000000}) {
      SCOPED_TRACE(rate);
      SCOPED_TRACE(expected);
      Header header = {{}, {}, 0, {expected, rate}, kFlagChain | kFlagGrow};
      Link link = {{}, kFlagOwn, {expected, first_rate(rate)}};
      ASSERT_TRUE(size_for_capacity(expected, link.capacity.rate, &link.geometry));
      double sum = link.capacity.rate;
      for (Link next; next_link(header, link, &next); link = next) {
        EXPECT_GT(next.geometry.bits(), link.geometry.bits());
        EXPECT_EQ(next.flags, kFlagOwn);
        EXPECT_EQ(next.capacity.rate, std::max(link.capacity.rate * 3 / 4, kMinRate));
        EXPECT_GE(next.capacity.values, 2 * link.capacity.values);
        EXPECT_TRUE(next.capacity.values == 2 * link.capacity.values ||
                    link.geometry.bits() < 64 * kLineBits);
        Geometry geometry;
        ASSERT_TRUE(size_for_capacity(next.capacity.values, next.capacity.rate, &geometry));
        EXPECT_EQ(next.geometry, geometry);
        sum += next.capacity.rate;
      }
      EXPECT_GT(link.geometry.bits() * 4, kMaxBits); // until nothing larger fits
      EXPECT_TRUE(sum < rate || link.capacity.rate == kMinRate);
    }
}

TEST(Links, GrowFromALinkWithoutCapacity) {
  const Header header = {{}, {}, 0, {100, 0.01}, kFlagChain | kFlagGrow};
  const Link by_size = {{Layout::lines, 3, 1000}, 0, {}};
  Link next;
  ASSERT_TRUE(next_link(header, by_size, &next));
  EXPECT_GT(next.geometry.bits(), by_size.geometry.bits());
  EXPECT_LT(next.geometry.bits(), 2 * by_size.geometry.bits());
  EXPECT_EQ(next.capacity.rate, 0.0025);
}

// A filter with as many values as it was made for is full, more or less.
TEST(Links, AreFullAtTheirCapacity) {
  for (const double rate : {0.1, 0.01, 0.0001})
    for (const std::uint64_t expected : {1, 100, 10000, 1000000}) {
      Geometry geometry;
      ASSERT_TRUE(size_for_capacity(expected, rate, &geometry));
      Bytes bitmap(geometry.bytes());
      for (std::uint64_t i = 0; i < expected; i++)
        add(best_kernel(), geometry, bitmap.data(), hash_integer(static_cast<std::int64_t>(i), 0));
      const std::uint64_t set = count_set(best_kernel(), bitmap.data(), bitmap.size());
      const std::uint64_t full = expected_bits(geometry, expected);
      EXPECT_LE(std::fabs(static_cast<double>(set) - static_cast<double>(full)),
                6 + 2 * std::sqrt(static_cast<double>(full)));
      EXPECT_NEAR(estimate_count(geometry, full), static_cast<double>(expected),
                  1 + 1e-6 * static_cast<double>(expected));
    }
  // A folded filter is full with fewer values, in proportion to its bits.
  EXPECT_EQ(full_bits({{Layout::lines, 6, 20}, 0, 1000, 0.01}),
            expected_bits({Layout::lines, 6, 20}, 1000));
  EXPECT_EQ(full_bits({{Layout::lines, 6, 5}, 0, 1000, 0.01}),
            expected_bits({Layout::lines, 6, 5}, 250));
  EXPECT_EQ(full_bits({kLine, 0, 0, 0}), 0U);
  EXPECT_EQ(full_values({{Layout::lines, 6, 5}, 0, {1000, 0.01}}), 250U);
  EXPECT_EQ(full_values({{Layout::lines, 6, 21}, 0, {1000, 0.01}}), 1000U); // made for no others
  EXPECT_EQ(full_values({{Layout::redis, 7, 75}, 0, {1000, 0.01}}), 500U);
  EXPECT_EQ(full_values({{Layout::redis, 7, 1}, 0, {8, 0.01}}), 4U);
  EXPECT_EQ(full_values({kLine, 0, {0, 0}}), 0U);
  // There is no upper limit to the number of values.
  EXPECT_EQ(expected_bits(kLine, 0), 0U);
  EXPECT_EQ(expected_bits(kLine, kMaxBits), 512U);
}

// Bitmaps may be large, so there is a pause before the comparison of each pair.
TEST(Links, PauseBetweenPairs) {
  static int pauses;
  constexpr int kAlike = 40;
  std::vector<Bytes> bitmaps(kAlike, Bytes(kLineBytes));
  LinkView views[kAlike];
  for (int i = 0; i < kAlike; i++) {
    bitmaps[i].back() = static_cast<std::uint8_t>(1 + 5 * i); // bitmaps differ only at the end
    views[i] = {{kLine, kFlagOwn, {1, 0.01}}, bitmaps[i].data(), nullptr};
  }
  pauses = 0;
  const int left = normalize_links(views, kAlike, [] { pauses++; });
  EXPECT_GE(pauses, left * (left - 1) / 2);
  pauses = 0;
  EXPECT_EQ(drop_covered(views, left, left - 1, [] { pauses++; }), left);
  EXPECT_EQ(pauses, left - 1);
}

} // namespace
} // namespace bloomfilter
