// Tests links: the laws of union, byte for byte over random filters; that no member is lost; and
// growth.

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
  EXPECT_TRUE(finding.ok()) << finding.text;
  return header;
}

Bytes unite(const Bytes &a, const Bytes &b) {
  LinkView views[2 * kMaxLinks];
  int count = view_links(a.data(), header_of(a), views);
  count += view_links(b.data(), header_of(b), views + count);
  return make_value(views, normalize_links(views, count, check_nothing));
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

// A random value with one of few geometries, capacities and sets, so that links often meet similar
// ones.
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
    link.flags |= kFlagSelfSized;
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
  // The samples met similar links of all kinds, as these numbers of links show.
  EXPECT_GE(numbers.size(), 6U);
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

// The rules of union one by one, checked by bytes.
TEST(Links, OfOneGeometryAreOredUnlessTheySizedThemselves) {
  const Link asked = {kLine, 0, {10, 0.01}}, more = {kLine, kFlagIntersection, {20, 0.001}};
  EXPECT_EQ(unite(make_link(asked, integers(1, 10)), make_link(more, integers(5, 20))),
            make_link({kLine, kFlagIntersection, {20, 0.01}}, integers(1, 20)));
  EXPECT_EQ(unite(make_link(asked, {}), make_link(asked, integers(5, 20))),
            make_link(asked, integers(5, 20)));

  const Link own = {kLine, kFlagSelfSized, {10, 0.01}};
  EXPECT_EQ(
      header_of(unite(make_link(own, integers(1, 9)), make_link(own, integers(5, 20)))).links(), 2);
  EXPECT_EQ(
      header_of(unite(make_link(own, integers(1, 9)), make_link(asked, integers(5, 20)))).links(),
      2);
}

TEST(Links, ThatAnotherOneCoversAreLeftOut) {
  const Link asked = {kLine, 0, {10, 0.01}}, own = {kLine, kFlagSelfSized, {30, 0.02}},
             large = {kTwoLines, kFlagSelfSized, {30, 0.01}};
  const Bytes part = make_link(own, integers(3, 9)), all = make_link(asked, integers(1, 10));
  EXPECT_EQ(unite(part, all), all);
  // A link that was made for a requested capacity keeps its content in a link of its own.
  EXPECT_EQ(
      header_of(unite(make_link(asked, integers(3, 9)), make_link(own, integers(1, 10)))).links(),
      2);
  EXPECT_EQ(unite(part, make_link({kLine, kFlagSelfSized, {1, 0.01}}, integers(3, 10))),
            make_link({kLine, kFlagSelfSized, {1, 0.01}}, integers(3, 10)));
  // If the bits are equal, the larger capacity and the larger rate win.
  EXPECT_EQ(unite(part, make_link({kLine, kFlagSelfSized, {1, 0.03}}, integers(3, 9))),
            make_link({kLine, kFlagSelfSized, {30, 0.03}}, integers(3, 9)));
  // Two OR-ed links together cover the self-sized link.
  EXPECT_EQ(unite(unite(part, make_link(asked, integers(1, 5))), make_link(asked, integers(6, 9))),
            make_link(asked, integers(1, 9)));
  EXPECT_EQ(header_of(unite(part, make_link(large, integers(1, 30)))).links(), 2);
}

// The links have the same number of bits but different positions. What a link with k = 6 covers, a
// link with k = 3 does not.
TEST(Links, OfAnotherGeometryCoverNothing) {
  const Link few = {{Layout::lines, 3, 1}, kFlagSelfSized, {10, 0.1}},
             many = {kLine, kFlagSelfSized, {10, 0.01}};
  EXPECT_EQ(
      header_of(unite(make_link(few, integers(1, 9)), make_link(many, integers(1, 20)))).links(),
      2);
}

TEST(Links, WithoutValuesStayIfTheyWereAskedFor) {
  const Link asked = {kTwoLines, 0, {40, 0.01}}, own = {kLine, kFlagSelfSized, {1, 0.01}},
             larger = {kTwoLines, kFlagSelfSized, {1, 0.01}};
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
      Link link = {{}, kFlagSelfSized, {expected, first_rate(rate)}};
      ASSERT_TRUE(size_for_capacity(expected, link.capacity.rate, &link.geometry));
      double sum = link.capacity.rate;
      for (Link next; next_link(header, link, &next); link = next) {
        EXPECT_GT(next.geometry.bits(), link.geometry.bits());
        EXPECT_EQ(next.flags, kFlagSelfSized);
        EXPECT_EQ(next.capacity.rate, std::max(link.capacity.rate * 3 / 4, kMinRate));
        EXPECT_GE(next.capacity.values, 2 * link.capacity.values);
        EXPECT_TRUE(next.capacity.values == 2 * link.capacity.values ||
                    link.geometry.bits() < 64 * kLineBits);
        Geometry geometry;
        ASSERT_TRUE(size_for_capacity(next.capacity.values, next.capacity.rate, &geometry));
        EXPECT_EQ(next.geometry, geometry);
        sum += next.capacity.rate;
      }
      EXPECT_GT(link.geometry.bits() * 4, kMaxBits); // until no larger link fits
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

// A filter with the number of values for which it was made is approximately full.
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
  EXPECT_EQ(full_values({{Layout::lines, 6, 21}, 0, {1000, 0.01}}), 1000U); // was not folded
  EXPECT_EQ(full_values({{Layout::redis, 7, 75}, 0, {1000, 0.01}}), 500U);
  EXPECT_EQ(full_values({{Layout::redis, 7, 1}, 0, {8, 0.01}}), 4U);
  EXPECT_EQ(full_values({kLine, 0, {0, 0}}), 0U);
  // The number of values has no upper limit.
  EXPECT_EQ(expected_bits(kLine, 0), 0U);
  EXPECT_EQ(expected_bits(kLine, kMaxBits), 512U);
}

// Each bit is counted once for its link, and once for all links of its geometry. The length and the
// kernel make no difference.
TEST(LinkBits, AreThoseOfEachAndOfAny) {
  const Geometry geometries[] = {kLine,
                                 {Layout::lines, 6, 63},
                                 {Layout::lines, 6, 64},
                                 {Layout::lines, 6, 1500},
                                 {Layout::pages, 12, 9},
                                 {Layout::guava, 7, 1},
                                 {Layout::guava, 7, 519},
                                 {Layout::parquet, 8, 131}};
  for (const Geometry &geometry : geometries)
    for (const int count : {1, 2, 5}) {
      SCOPED_TRACE(geometry.bytes());
      SCOPED_TRACE(count);
      Random random(geometry.bytes());
      std::vector<Bytes> bitmaps(2 * static_cast<std::size_t>(count), Bytes(geometry.bytes()));
      LinkView views[5];
      std::vector<LinkBits> expected(static_cast<std::size_t>(count), LinkBits{0, 0});
      for (Bytes &bitmap : bitmaps)
        for (std::uint8_t &byte : bitmap)
          byte = static_cast<std::uint8_t>(random.next() & random.next() & random.next());
      for (int i = 0; i < count; i++) // every other link is the OR of two bitmaps
        views[i] = {{geometry, kFlagSelfSized, {1, 0.01}},
                    bitmaps[i].data(),
                    i % 2 == 0 ? nullptr : bitmaps[i + count].data()};
      for (std::size_t bit = 0; bit < geometry.bits(); bit++) {
        const auto is_set = [bit](const std::uint8_t *bitmap) {
          return bitmap && (bitmap[bit / 8] >> bit % 8 & 1);
        };
        bool in_any = false;
        for (int i = 0; i < count; i++) {
          const bool in_link = is_set(views[i].bitmap) || is_set(views[i].other);
          expected[i].set += in_link;
          in_any = in_any || in_link;
        }
        expected[0].united += in_any;
      }
      for (const Kernel *kernel : all_kernels()) {
        SCOPED_TRACE(kernel->name);
        static int checks;
        checks = 0;
        LinkBits bits[5];
        count_bits(*kernel, views, count, bits, [] { checks++; });
        for (int i = 0; i < count; i++)
          EXPECT_EQ(bits[i].set, expected[i].set) << i;
        EXPECT_EQ(bits[0].united, expected[0].united);
        EXPECT_GE(static_cast<std::size_t>(checks) * kBytesBetweenChecks, geometry.bytes());
      }
    }
}

// Links of one geometry have some values in common. The estimate is that of the union, for up to
// eight times the number of values that each link was made for.
TEST(ValueCount, IsThatOfTheUnionOfLinksOfOneGeometry) {
  constexpr int kValues = 20000;
  for (const double rate : {0.01, 0.0001})
    for (const int count : {2, 3, 8})
      for (const int shift : {0, kValues / 2, kValues}) {
        SCOPED_TRACE(rate);
        SCOPED_TRACE(count);
        SCOPED_TRACE(shift);
        Link link = {{}, kFlagSelfSized, {kValues, rate}};
        ASSERT_TRUE(size_for_capacity(kValues, rate, &link.geometry));
        std::vector<Bytes> bitmaps(static_cast<std::size_t>(count), Bytes(link.geometry.bytes()));
        LinkView views[8];
        LinkBits bits[8];
        for (int i = 0; i < count; i++) {
          const auto hashes = integers(1 + i * shift, i * shift + kValues);
          best_kernel().add_many(link.geometry, bitmaps[i].data(), hashes.data(), hashes.size());
          views[i] = {link, bitmaps[i].data(), nullptr};
        }
        count_bits(best_kernel(), views, count, bits, check_nothing);
        const ValueCount counted = estimate_values({}, views, bits, count);
        EXPECT_NEAR(counted.values / (kValues + (count - 1) * shift), 1.0, 0.02);
        EXPECT_FALSE(counted.at_most);
      }
}

ValueCount count_of(const Header &header, const std::vector<Link> &links,
                    const std::vector<LinkBits> &bits) {
  std::vector<LinkView> views;
  views.reserve(links.size());
  for (const Link &link : links)
    views.push_back({link, nullptr, nullptr});
  return estimate_values(header, views.data(), bits.data(), static_cast<int>(links.size()));
}

TEST(ValueCount, IsAnUpperBoundIfLinksMayShareValuesUnseen) {
  const Link line = {kLine, kFlagSelfSized, {10, 0.01}},
             lines = {kTwoLines, kFlagSelfSized, {30, 0.01}};
  const auto one = [](std::uint64_t set) { return estimate_count(kLine, set); };
  const auto expect = [](const ValueCount &count, double values, bool at_most) {
    EXPECT_DOUBLE_EQ(count.values, values);
    EXPECT_EQ(count.at_most, at_most);
  };
  expect(count_of({}, {line}, {{100, 100}}), one(100), false);
  expect(count_of({}, {line}, {{0, 0}}), 0, false);
  expect(count_of({}, {line}, {{512, 512}}), INFINITY, false);
  // If all links have one geometry, the estimate is from the OR, but at most the sum.
  expect(count_of({}, {line, line}, {{100, 120}, {60, 0}}), one(120), false);
  expect(count_of({}, {line, line, line}, {{100, 140}, {60, 0}, {9, 0}}), one(140), false);
  expect(count_of({}, {line, line}, {{100, 160}, {60, 0}}), one(100) + one(60), false);
  expect(count_of({}, {line, line}, {{100, 100}, {0, 0}}), one(100), false);
  // All bits of the OR are set, so the union may have any number of values up to the sum.
  expect(count_of({}, {line, line}, {{500, 512}, {400, 0}}), one(500) + one(400), true);
  expect(count_of({}, {line, line}, {{512, 512}, {400, 0}}), INFINITY, false);
  // Links of two geometries.
  const double large = estimate_count(kTwoLines, 70);
  expect(count_of({}, {line, lines}, {{100, 100}, {70, 70}}), one(100) + large, true);
  expect(count_of({}, {line, line, lines}, {{100, 120}, {60, 0}, {70, 70}}), one(120) + large,
         true);
  // A link without values has none in common with others.
  expect(count_of({}, {line, lines}, {{0, 0}, {70, 70}}), large, false);
  expect(count_of({}, {line, lines}, {{100, 100}, {0, 0}}), one(100), false);
}

// A filter that grows adds a value only if no link has it. So its links have no values in common.
TEST(ValueCount, OfAFilterThatGrewIsTheSum) {
  const Header grows = {{}, {}, 0, {100, 0.01}, kFlagChain | kFlagGrow},
               stays = {{}, {}, 0, {}, kFlagChain};
  std::vector<Link> series = {{{}, kFlagSelfSized, {100, first_rate(0.01)}}};
  ASSERT_TRUE(size_for_capacity(100, first_rate(0.01), &series[0].geometry));
  for (int i = 0; i < 2; i++) {
    Link next;
    ASSERT_TRUE(next_link(grows, series.back(), &next));
    series.push_back(next);
  }
  std::vector<LinkBits> bits;
  double sum = 0.0;
  for (const Link &link : series) {
    const std::uint64_t set = full_bits(link);
    bits.push_back({set, set});
    sum += estimate_count(link.geometry, set);
  }
  EXPECT_DOUBLE_EQ(count_of(grows, series, bits).values, sum);
  EXPECT_FALSE(count_of(grows, series, bits).at_most);
  bits[2] = {1, 1};
  EXPECT_FALSE(count_of(grows, series, bits).at_most); // the last link need not be full
  EXPECT_TRUE(count_of(stays, series, bits).at_most);

  // Growth adds a link only when the link before is full.
  std::vector<LinkBits> not_full = bits;
  not_full[1] = {bits[1].set - 1, bits[1].set - 1};
  EXPECT_TRUE(count_of(grows, series, not_full).at_most);

  // Each of these links comes from a union.
  const auto at_most_with = [&](int number, const Link &link) {
    std::vector<Link> other = series;
    other[static_cast<std::size_t>(number)] = link;
    return count_of(grows, other, bits).at_most;
  };
  Link link = series[1];
  EXPECT_FALSE(at_most_with(1, link));
  link.flags = 0;
  EXPECT_TRUE(at_most_with(1, link));
  link = series[1];
  link.capacity.values++;
  EXPECT_TRUE(at_most_with(1, link));
  link = series[2];
  link.geometry.units++;
  EXPECT_TRUE(at_most_with(2, link));
  EXPECT_TRUE(count_of(grows, {series[0], series[2]}, {bits[0], bits[2]}).at_most);
  EXPECT_TRUE(count_of(grows, {series[0], series[0], series[1]},
                       {{bits[0].set, bits[0].set + 1}, bits[0], bits[2]})
                  .at_most);
  // From a link of unknown capacity, growth continues like this. But a union with a filter that
  // grows may look the same.
  const Link by_size = {{Layout::lines, 3, 1}, 0, {}};
  Link next;
  ASSERT_TRUE(next_link(grows, by_size, &next));
  EXPECT_TRUE(count_of(grows, {by_size, next}, {{9, 9}, {9, 9}}).at_most);
}

// Bitmaps may be large, so interrupts are checked before each pair is compared.
TEST(Links, ChecksBetweenPairs) {
  static int checks;
  constexpr int kAlike = 40;
  std::vector<Bytes> bitmaps(kAlike, Bytes(kLineBytes));
  LinkView views[kAlike];
  for (int i = 0; i < kAlike; i++) {
    bitmaps[i].back() = static_cast<std::uint8_t>(1 + 5 * i); // bitmaps differ only at the end
    views[i] = {{kLine, kFlagSelfSized, {1, 0.01}}, bitmaps[i].data(), nullptr};
  }
  checks = 0;
  const int left = normalize_links(views, kAlike, [] { checks++; });
  EXPECT_GE(checks, left * (left - 1) / 2);
  checks = 0;
  EXPECT_EQ(drop_covered(views, left, left - 1, [] { checks++; }), left);
  EXPECT_EQ(checks, left - 1);
}

} // namespace
} // namespace bloomfilter
