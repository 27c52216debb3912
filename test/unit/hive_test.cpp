// Tests Hive's files. Each golden file is rebuilt bit for bit from the values in its list. Every
// kind of wrong file is refused.

#include <algorithm>

#include "core/foreign/file.hpp"
#include "unit/foreign.hpp"

namespace bloomfilter {
namespace {

Bytes swapped(const Bytes &words) {
  Bytes bitmap(words.size());
  swap_words(bitmap.data(), words.data(), words.size() / 8);
  return bitmap;
}

TEST(Hive, FilesAreRebuilt) {
  const std::vector<Listed> goldens = listed_goldens("hive");
  EXPECT_EQ(goldens.size(), 13U);
  for (const Listed &golden : goldens) {
    SCOPED_TRACE(golden.file);
    const Bytes file = read_golden(golden.file);
    FoundFilter found;
    ASSERT_EQ(read_hive(file.data(), file.size(), &found).text, nullptr);
    const Geometry &geometry = found.geometry;
    EXPECT_EQ(geometry, (Geometry{Layout::hive, static_cast<std::uint8_t>(golden.number("k")),
                                  static_cast<std::uint32_t>(golden.number("bits") / kLineBits)}));
    EXPECT_EQ(found.seed, 0U);
    ASSERT_EQ(found.end(), file.size());

    const Bytes bitmap = swapped({file.begin() + kHiveHead, file.end()});
    EXPECT_EQ(golden.rebuilt(geometry), bitmap);
    golden.expect_answers(geometry, bitmap);

    Bytes written(kHiveHead);
    write_hive_head(written.data(), geometry);
    const Bytes words = swapped(bitmap);
    written.insert(written.end(), words.begin(), words.end());
    EXPECT_EQ(written, file);
  }
}

// BloomKFilter(expected) has a rate of 5 %.
TEST(Hive, SizesAreHives) {
  int sized = 0;
  for (const Listed &golden : listed_goldens("hive")) {
    const auto expected = static_cast<std::uint64_t>(golden.number("expected"));
    if (expected == 0)
      continue;
    SCOPED_TRACE(golden.file);
    Geometry geometry;
    ASSERT_TRUE(size_foreign(Layout::hive, expected, 0.05, &geometry));
    EXPECT_EQ(geometry.k, golden.number("k"));
    EXPECT_EQ(geometry.bits(), static_cast<std::uint64_t>(golden.number("bits")));
    sized++;
  }
  EXPECT_EQ(sized, 10);
  // If the words fill whole blocks, BloomKFilter adds another block.
  Geometry geometry;
  for (const auto &[expected, blocks] :
       {std::pair<int, std::uint32_t>{1, 1}, {72, 1}, {73, 2}, {1632, 20}, {1633, 21}}) {
    ASSERT_TRUE(size_foreign(Layout::hive, static_cast<std::uint64_t>(expected), 0.05, &geometry));
    EXPECT_EQ(geometry.units, blocks) << expected;
  }
  EXPECT_TRUE(size_foreign(Layout::hive, 680000000, 0.05, &geometry));
  EXPECT_FALSE(size_foreign(Layout::hive, 690000000, 0.05, &geometry));
}

// Numbers are hashed as eight bytes, the highest first. All NaN are one value.
TEST(Hive, NumbersAreBigEndian) {
  EXPECT_EQ(text_of(digest("hive", Family::integer, of_integer(0x0102030405060708))),
            hashed("hive", {1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(text_of(digest("hive", Family::integer, of_integer(-2))),
            hashed("hive", {255, 255, 255, 255, 255, 255, 255, 254}));
  EXPECT_EQ(text_of(digest("hive", Family::floating, of_double(1.5))),
            hashed("hive", {0x3F, 0xF8, 0, 0, 0, 0, 0, 0}));
  Bytes signalling = of_double(kNaN);
  signalling[0] ^= 1;
  for (const Bytes &nan : {of_double(kNaN), of_double(-kNaN), signalling})
    EXPECT_EQ(text_of(digest("hive", Family::floating, nan)),
              hashed("hive", {0x7F, 0xF8, 0, 0, 0, 0, 0, 0}));
  for (const double zero : {0.0, -0.0}) { // the first one is added
    const Encoded value = encoded("hive", Family::floating, of_double(zero));
    ASSERT_EQ(value.count, 2);
    const bool minus = std::signbit(zero);
    const std::string plus_zero = hashed("hive", Bytes(8)),
                      minus_zero = hashed("hive", {128, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(text_of(value.digests[0]), minus ? minus_zero : plus_zero);
    EXPECT_EQ(text_of(value.digests[1]), minus ? plus_zero : minus_zero);
  }
}

// --- Wrong files ---

Finding problem_of(const Bytes &bytes) {
  FoundFilter found;
  return read_hive(bytes.data(), bytes.size(), &found);
}

TEST(Hive, RefusesEveryOtherLength) {
  const Bytes good = read_golden("hive/edges_100.hive");
  EXPECT_EQ(problem_of(good).text, nullptr);
  for (std::size_t length = 0; length < good.size() + 65; length++) {
    Bytes other = good;
    other.resize(length);
    if (length == good.size())
      continue;
    ASSERT_NE(problem_of(other).text, nullptr) << length;
    EXPECT_EQ(problem_of(other).found, length < kHiveHead ? length : length - kHiveHead);
    EXPECT_EQ(problem_of(other).wanted, length < kHiveHead ? kHiveHead : 128);
  }
}

TEST(Hive, RefusesOtherHeads) {
  const auto damaged = [](std::size_t at, const Bytes &with) {
    Bytes bytes = read_golden("hive/edges_100.hive");
    std::copy(with.begin(), with.end(), bytes.begin() + static_cast<long>(at));
    return problem_of(bytes);
  };
  EXPECT_NE(damaged(0, {0}).text, nullptr);
  EXPECT_EQ(damaged(0, {127}).text, nullptr);
  EXPECT_EQ(damaged(0, {128}).found, 128U); // -128 in Hive
  EXPECT_EQ(damaged(0, {255}).found, 255U);
  EXPECT_NE(damaged(1, {0, 0, 0, 0}).text, nullptr);
  for (const std::uint32_t words : {1U, 7U, 8U, 15U, 17U, 24U, 0x04000008U, 0xFFFFFFF8U}) {
    Bytes with(4);
    store_big(with.data(), words);
    const Finding problem = damaged(1, with);
    ASSERT_NE(problem.text, nullptr) << words;
    if (problem.wanted == 0)
      EXPECT_EQ(problem.found, words);
    else
      EXPECT_EQ(problem.wanted, 8 * words);
  }
  EXPECT_EQ(damaged(1, {16, 0, 0, 0}).found, 0x10000000U); // in the other byte order
}

} // namespace
} // namespace bloomfilter
