// Tests DataSketches' files. Each golden file is rebuilt bit for bit from the values in its list.
// Every kind of wrong file is refused.

#include <algorithm>

#include "core/bitmap.hpp"
#include "core/foreign/file.hpp"
#include "unit/foreign.hpp"

namespace bloomfilter {
namespace {

const char *const kCounted = "datasketches/int64_size640_3_seed7.ds";
const char *const kEmptyFile = "datasketches/int64_empty_acc100_seed5.ds";

Finding problem_of(const Bytes &bytes) {
  FoundFilter found;
  return read_datasketches(bytes.data(), bytes.size(), &found);
}

TEST(DataSketches, FilesAreRebuilt) {
  const std::vector<Listed> goldens = listed_goldens("datasketches");
  EXPECT_EQ(goldens.size(), 27U);
  for (const Listed &golden : goldens) {
    SCOPED_TRACE(golden.file);
    const Bytes file = read_golden(golden.file);
    FoundFilter found;
    ASSERT_EQ(read_datasketches(file.data(), file.size(), &found).text, nullptr);
    const Geometry &geometry = found.geometry;
    EXPECT_EQ(geometry,
              (Geometry{Layout::datasketches, static_cast<std::uint8_t>(golden.number("k")),
                        static_cast<std::uint32_t>(golden.number("bits") / 64)}));
    EXPECT_EQ(found.seed, golden.seed);
    const bool counted = json_field(golden.line, "counted") == "true";
    EXPECT_EQ(found.flags, counted ? 0 : kFlagUncounted);
    const bool empty = golden.number("bits_set") == 0;
    ASSERT_EQ(empty ? found.offset : found.end(), file.size());

    Bytes bitmap(geometry.bytes());
    std::copy(file.begin() + static_cast<long>(found.offset), file.end(), bitmap.begin());
    // Java keeps -0 as a value of its own. We probe for it, but do not add it.
    if (golden.file.find("java_minus_zero") == std::string::npos) {
      EXPECT_EQ(golden.rebuilt(geometry), bitmap);
    }
    golden.expect_answers(geometry, bitmap);

    const std::uint64_t set = count_set(kScalarKernel, bitmap.data(), bitmap.size());
    EXPECT_EQ(set, static_cast<std::uint64_t>(golden.number("bits_set")));
    Bytes written(kMaxDataSketchesHead);
    written.resize(write_datasketches_head(written.data(), geometry, found.seed, set, found.flags));
    if (!empty)
      written.insert(written.end(), bitmap.begin(), bitmap.end());
    EXPECT_EQ(written, file);
  }
}

// Tests a file with words that are all 0. If the file does not say how many bits are set, it is
// written as it was read. Otherwise it is written as the library writes a filter without values.
TEST(DataSketches, WordsWithoutBitsAreWrittenIfUncounted) {
  for (const std::uint64_t counted : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    Bytes file = read_golden(kCounted);
    std::fill(file.begin() + 24, file.end(), 0);
    store(file.data() + 24, counted);
    FoundFilter found;
    ASSERT_EQ(read_datasketches(file.data(), file.size(), &found).text, nullptr);
    Bytes head(kMaxDataSketchesHead);
    head.resize(write_datasketches_head(head.data(), found.geometry, found.seed, 0, found.flags));
    if (counted == 0)
      EXPECT_EQ(head.size(), 24U);
    else
      EXPECT_EQ(head, Bytes(file.begin(), file.begin() + kMaxDataSketchesHead));
  }
}

// create_by_accuracy(expected, rate) gives the sizes of the files that it made.
TEST(DataSketches, SizesAreDataSketches) {
  int sized = 0;
  for (const Listed &golden : listed_goldens("datasketches")) {
    const std::size_t at = golden.file.find("acc");
    int expected;
    double rate;
    if (at == std::string::npos ||
        std::sscanf(golden.file.c_str() + at, "acc%d_%lf", &expected, &rate) != 2)
      continue;
    SCOPED_TRACE(golden.file);
    Geometry geometry;
    ASSERT_TRUE(
        size_foreign(Layout::datasketches, static_cast<std::uint64_t>(expected), rate, &geometry));
    EXPECT_EQ(geometry.k, golden.number("k"));
    EXPECT_EQ(geometry.bits(), static_cast<std::uint64_t>(golden.number("bits")));
    sized++;
  }
  EXPECT_EQ(sized, 19);
  Geometry geometry;
  EXPECT_FALSE(size_foreign(Layout::datasketches, 1ULL << 30, 0.01, &geometry));
}

// --- Values ---

TEST(DataSketches, EmptyStringsAreAlwaysFound) {
  for (const Family family : {Family::text, Family::bytea}) {
    const Encoded none = encoded("datasketches", family, {});
    EXPECT_EQ(none.outcome, Encoded::any);
    EXPECT_EQ(none.count, 0);
    EXPECT_EQ(encoded("datasketches", family, {0}).outcome, Encoded::values);
  }
}

TEST(DataSketches, ZerosAndNaN) {
  const std::string plus = hashed("datasketches", of_double(0.0)),
                    minus = hashed("datasketches", of_double(-0.0));
  for (const double zero : {0.0, -0.0}) { // the first one is added
    const Encoded value = encoded("datasketches", Family::floating, of_double(zero));
    ASSERT_EQ(value.count, 2);
    EXPECT_EQ(text_of(value.digests[0]), plus);
    EXPECT_EQ(text_of(value.digests[1]), minus);
  }
  Bytes signalling = of_double(kNaN);
  signalling[0] ^= 1;
  for (const Bytes &nan : {of_double(kNaN), of_double(-kNaN), signalling})
    EXPECT_EQ(text_of(digest("datasketches", Family::floating, nan)),
              hashed("datasketches", {0, 0, 0, 0, 0, 0, 0xF8, 0x7F}));
}

TEST(DataSketches, SeedsGiveOtherDigests) {
  std::set<std::string> digests;
  for (const std::uint64_t seed : {0ULL, 1ULL, ~0ULL, 1ULL << 32, 1ULL << 63})
    digests.insert(
        text_of(digest(scheme_named("datasketches"), Family::integer, of_integer(7), seed)));
  EXPECT_EQ(digests.size(), 5U);
}

// --- Wrong files ---

TEST(DataSketches, RefusesEveryOtherLength) {
  for (const char *name : {kCounted, kEmptyFile}) {
    SCOPED_TRACE(name);
    const Bytes good = read_golden(name);
    EXPECT_EQ(problem_of(good).text, nullptr);
    for (std::size_t length = 0; length < good.size(); length++) {
      const Finding problem = problem_of({good.begin(), good.begin() + static_cast<long>(length)});
      ASSERT_NE(problem.text, nullptr) << length;
      EXPECT_EQ(problem.found,
                length < kMaxDataSketchesHead ? length : length - kMaxDataSketchesHead);
    }
    for (const std::size_t more : {1, 7, 8, 64}) {
      Bytes longer = good;
      longer.resize(good.size() + more);
      EXPECT_NE(problem_of(longer).text, nullptr) << more;
    }
  }
}

TEST(DataSketches, RefusesOtherHeads) {
  struct Damage {
    std::size_t at;
    Bytes with;
    std::uint64_t found, other;
  };
  const Damage damages[] = {
      {0, {0}, 0, 4},
      {0, {3}, 3, 4},
      {0, {5}, 5, 4},
      {1, {0}, 0, 1},
      {1, {2}, 2, 1},
      {2, {7}, 7, 21},
      {3, {1}, 1, 0},
      {3, {4}, 4, 3}, // a filter without values has a head of 3 words
      {3, {0x84}, 0x84, 0},
      {4, {0, 0}, 0, 0},
      {4, {0, 1}, 256, 0},
      {4, {0, 3}, 768, 0}, // 3 in the other byte order
      {4, {0xFF, 0xFF}, 65535, 0},
      {6, {1}, 1, 0},
      {7, {1}, 256, 0},
      {20, {1}, 1 << 16, 0},
      {23, {1}, 1ULL << 40, 0},
      {16, {0}, 0, 0},
      {16, {9}, 80, 72},
      {16, {11}, 80, 88},
      {16, {0, 0, 0, 10}, 10 << 24, 0},
      {16, {1, 0, 0, 4}, (1 << 26) + 1, 0},
      {16, {0xFF, 0xFF, 0xFF, 0xFF}, 0xFFFFFFFF, 0},
      {24, {131}, 131, 132},
      {24, {133}, 133, 132},
      {24, {0}, 0, 132},
      {31, {1}, (1ULL << 56) + 132, 132},
      {32, {0}, 132, 130}, // clears bits
  };
  for (const Damage &damage : damages) {
    SCOPED_TRACE(damage.at);
    Bytes file = read_golden(kCounted);
    std::copy(damage.with.begin(), damage.with.end(), file.begin() + static_cast<long>(damage.at));
    const Finding problem = problem_of(file);
    ASSERT_NE(problem.text, nullptr);
    EXPECT_EQ(problem.found, damage.found) << problem.text;
    EXPECT_EQ(problem.wanted, damage.other) << problem.text;
  }
  Bytes file = read_golden(kCounted);
  file[4] = 255;
  EXPECT_EQ(problem_of(file).text, nullptr);
  std::fill_n(file.begin() + 24, 8, 0xFF);
  EXPECT_EQ(problem_of(file).text, nullptr);
  // The head is that of a filter with values, but the filter has none.
  std::fill(file.begin() + 24, file.end(), 0);
  EXPECT_EQ(problem_of(file).text, nullptr);
  Bytes empty = read_golden(kEmptyFile);
  empty[3] = 0;
  EXPECT_EQ(problem_of(empty).wanted, 4U);
  empty[0] = 4;
  EXPECT_EQ(problem_of(empty).found, 24U);
}

} // namespace
} // namespace bloomfilter
