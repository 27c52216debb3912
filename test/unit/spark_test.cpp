// Tests Spark's files. Each golden file is rebuilt bit for bit from the values in its list. Every
// kind of wrong file is refused.

#include <algorithm>
#include <set>

#include "core/foreign/file.hpp"
#include "unit/foreign.hpp"

namespace bloomfilter {
namespace {

// --- Golden files ---

// Item i of a manifest's list of values. The manifest's README describes the lists.
struct Values {
  Family family;
  Bytes (*item)(std::int64_t i);
};

Bytes of_negative(std::int64_t i) {
  return of_integer(i * -1000003);
}
Bytes of_large(std::int64_t i) {
  return of_integer(static_cast<std::int64_t>(static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15));
}
Bytes of_binary(std::int64_t i) {
  Bytes bytes;
  for (std::int64_t j = 0; j < i % 41; j++)
    bytes.push_back(static_cast<std::uint8_t>(7 * i + 13 * j + (i >> 5)));
  return bytes;
}

Values values_named(const std::string &name) {
  if (name == "string")
    return {Family::text, of_user};
  if (name == "binary")
    return {Family::bytea, of_binary};
  return {Family::integer, name == "long" ? of_integer : name == "neg" ? of_negative : of_large};
}

struct Golden {
  std::string file;
  const Scheme &scheme;
  std::uint64_t seed, expected, asked_bits;
  std::int64_t count, first_stranger, strangers;
  Values values, others;
  std::set<std::int64_t> false_positives;
};

std::vector<Golden> goldens() {
  std::vector<Golden> all;
  for (const std::string &line : lines_of("spark/manifest.jsonl")) {
    const auto number = [&line](const char *key) { return std::stoll(json_field(line, key)); };
    all.push_back(
        {json_field(line, "file"), scheme_named(number("version") == 1 ? "spark" : "spark_v2"),
         static_cast<std::uint64_t>(number("seed")), static_cast<std::uint64_t>(number("expected")),
         static_cast<std::uint64_t>(number("asked_bits")), number("n"), number("from"),
         number("count"), values_named(json_field(line, "values")),
         values_named(json_field(line, "strangers")), json_numbers(line, "false_positives")});
  }
  EXPECT_EQ(all.size(), 20U);
  return all;
}

Bytes file_of(const Geometry &geometry, std::uint64_t seed, const Bytes &bitmap) {
  Bytes file(kMaxSparkHead);
  file.resize(write_spark_head(file.data(), geometry, seed));
  const std::size_t head = file.size();
  file.resize(head + bitmap.size());
  swap_words(&file[head], bitmap.data(), geometry.units);
  return file;
}

TEST(Spark, FilesAreRebuilt) {
  for (const Golden &golden : goldens()) {
    SCOPED_TRACE(golden.file);
    const Bytes file = read_golden("spark/" + golden.file);
    FoundFilter found;
    ASSERT_EQ(read_spark(file.data(), file.size(), &found).text, nullptr);
    const Geometry geometry = found.geometry;
    EXPECT_EQ(geometry.layout, golden.scheme.layout);
    EXPECT_EQ(found.seed, golden.seed);
    ASSERT_EQ(found.end(), file.size());

    const auto digest_at = [&](const Values &values, std::int64_t i) {
      return digest(golden.scheme, values.family, values.item(i), golden.seed);
    };
    std::vector<Digest> members;
    for (std::int64_t i = 0; i < golden.count; i++)
      members.push_back(digest_at(golden.values, i));
    const Bytes bitmap = with_digests(geometry, members);
    EXPECT_EQ(file_of(geometry, golden.seed, bitmap), file);

    Bytes words(bitmap.size());
    swap_words(words.data(), &file[found.offset], geometry.units);
    EXPECT_TRUE(std::all_of(members.begin(), members.end(), [&](const Digest &member) {
      return foreign_contains(geometry, words.data(), member);
    }));
    std::set<std::int64_t> positives;
    for (std::int64_t i = golden.first_stranger; i < golden.first_stranger + golden.strangers; i++)
      if (foreign_contains(geometry, words.data(), digest_at(golden.others, i)))
        positives.insert(i);
    // For some files, the manifest has only the number of false positives.
    if (golden.values.item == of_binary)
      EXPECT_EQ((std::set<std::int64_t>{static_cast<std::int64_t>(positives.size())}),
                golden.false_positives);
    else
      EXPECT_EQ(positives, golden.false_positives);
  }
}

// create(expected, rate) gives the sizes of the files that it made.
TEST(Spark, SizesAreSparks) {
  int sized = 0;
  for (const Golden &golden : goldens())
    for (const double rate : {0.01, 0.03}) {
      const double bits =
          -static_cast<double>(golden.expected) * std::log(rate) / (std::log(2.0) * std::log(2.0));
      if (golden.asked_bits != static_cast<std::uint64_t>(bits))
        continue;
      SCOPED_TRACE(golden.file);
      const Bytes file = read_golden("spark/" + golden.file);
      FoundFilter found;
      ASSERT_EQ(read_spark(file.data(), file.size(), &found).text, nullptr);
      Geometry geometry;
      ASSERT_TRUE(size_foreign(golden.scheme.layout, golden.expected, rate, &geometry));
      EXPECT_EQ(found.geometry, geometry);
      sized++;
    }
  EXPECT_EQ(sized, 14);
}

// --- The hash ---

// The last one to three bytes are mixed in one by one as signed numbers: 0xFF is the word -1.
TEST(Spark, TailsAreMixedWithTheirSigns) {
  const Digest tail = digest("spark", Family::bytea, {0x80, 0x7F, 0xFF});
  const Digest words = digest("spark", Family::bytea,
                              {0x80, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF});
  // The words are the same, and only the length differs. The length is mixed in before the last
  // steps, which can all be inverted.
  const auto before_length = [](std::uint64_t hash, std::uint32_t length) {
    auto h = static_cast<std::uint32_t>(hash);
    h ^= h >> 16;
    h *= 0x7ED1B41D; // 0xC2B2AE35 * 0x7ED1B41D = 1 mod 2^32
    h ^= h >> 13 ^ h >> 26;
    h *= 0xA5CB9243; // 0x85EBCA6B * 0xA5CB9243 = 1 mod 2^32
    h ^= h >> 16;
    return h ^ length;
  };
  EXPECT_EQ(before_length(tail.first, 3), before_length(words.first, 12));
}

TEST(Spark, SeedsGiveOtherDigests) {
  std::set<std::string> digests;
  for (const std::int64_t seed : {0, 1, -1, 42, INT32_MIN, INT32_MAX})
    digests.insert(text_of(digest(scheme_named("spark_v2"), Family::integer, of_integer(7),
                                  static_cast<std::uint64_t>(seed))));
  EXPECT_EQ(digests.size(), 6U);
}

// --- Wrong files ---

Finding problem_of(const Bytes &bytes) {
  FoundFilter found;
  return read_spark(bytes.data(), bytes.size(), &found);
}

TEST(Spark, RefusesEveryTruncation) {
  for (const char *name : {"v1_long_n100_b768.spark", "v2_long_n100_b768.spark"}) {
    const Bytes good = read_golden("spark/" + std::string(name));
    EXPECT_EQ(problem_of(good).text, nullptr);
    for (std::size_t length = 0; length < good.size(); length++) {
      const Finding problem = problem_of({good.begin(), good.begin() + static_cast<long>(length)});
      ASSERT_NE(problem.text, nullptr) << length;
      const std::size_t head = name[1] == '1' ? 12 : 16;
      EXPECT_EQ(problem.found, length < head ? length : length - head) << length;
    }
    Bytes longer = good;
    longer.push_back(0);
    EXPECT_EQ(problem_of(longer).wanted, 96U);
  }
}

TEST(Spark, RefusesOtherHeads) {
  const auto damaged = [](const char *name, std::size_t at, const Bytes &with) {
    Bytes bytes = read_golden(std::string("spark/") + name);
    std::copy(with.begin(), with.end(), bytes.begin() + static_cast<long>(at));
    return problem_of(bytes);
  };
  const char *const first = "v1_long_n100_b768.spark", *const second = "v2_long_n100_b768.spark";
  for (const char *name : {first, second}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(damaged(name, 0, {0, 0, 0, 0}).found, 0U);
    EXPECT_NE(damaged(name, 0, {0, 0, 0, 0}).text, nullptr);
    EXPECT_EQ(damaged(name, 0, {0, 0, 0, 3}).found, 3U);
    EXPECT_EQ(damaged(name, 0, {1, 0, 0, 1}).found, (1U << 24) + 1);
    EXPECT_NE(damaged(name, 4, {0, 0, 0, 0}).text, nullptr);
    EXPECT_EQ(damaged(name, 4, {0, 0, 1, 0}).found, 256U);
    EXPECT_EQ(damaged(name, 4, {0xFF, 0xFF, 0xFF, 0xFF}).found, 0xFFFFFFFFU);
    EXPECT_EQ(damaged(name, 4, {0, 0, 0, 255}).text, nullptr);
  }
  for (const Bytes &words : std::vector<Bytes>{
           {0, 0, 0, 0}, {0, 0, 0, 11}, {0, 0, 0, 13}, {4, 0, 0, 1}, {0xFF, 0xFF, 0xFF, 0xFF}}) {
    EXPECT_NE(damaged(first, 8, words).text, nullptr);
    EXPECT_NE(damaged(second, 12, words).text, nullptr);
  }
  // The head of one version is not accepted as the head of the other.
  EXPECT_NE(damaged(first, 0, {0, 0, 0, 2}).text, nullptr);
  EXPECT_NE(damaged(second, 0, {0, 0, 0, 1}).text, nullptr);
}

TEST(Spark, SeedsAreSigned) {
  Bytes file = read_golden("spark/v2_long_n1_b64.spark");
  for (const std::int64_t seed :
       {INT64_C(0), INT64_C(1234567), INT64_C(-1), std::int64_t{INT32_MIN}}) {
    const auto number = static_cast<std::uint64_t>(seed);
    store_big(&file[8], static_cast<std::uint32_t>(number));
    FoundFilter found;
    ASSERT_EQ(read_spark(file.data(), file.size(), &found).text, nullptr);
    EXPECT_EQ(found.seed, number);
    std::uint8_t head[kMaxSparkHead];
    ASSERT_EQ(write_spark_head(head, found.geometry, found.seed), kMaxSparkHead);
    EXPECT_EQ(Bytes(head, head + kMaxSparkHead), Bytes(file.begin(), file.begin() + kMaxSparkHead));
  }
}

} // namespace
} // namespace bloomfilter
