// Tests files of Guava, Parquet and RedisBloom. Each golden file is rebuilt bit for bit from the
// values in its list. Every kind of wrong file is refused.

#include <algorithm>
#include <cstring>
#include <set>

#include "core/bitmap.hpp"
#include "core/estimate.hpp"
#include "core/foreign/file.hpp"
#include "core/links.hpp"
#include "core/sizing.hpp"
#include "unit/foreign.hpp"

namespace bloomfilter {
namespace {

// --- Guava ---

std::vector<Bytes> edge_values() {
  std::vector<Bytes> values;
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, INT64_MIN, INT64_MAX,
        std::int64_t{1} << 31, -(std::int64_t{1} << 31), std::int64_t{1} << 32})
    values.push_back(of_integer(number));
  return values;
}

struct GuavaGolden {
  const char *file;
  const char *scheme;
  Family family;
  std::uint64_t expected;
  double rate;
  std::vector<Bytes> values;
  std::int64_t first_probe, last_probe;
  Bytes (*probe)(std::int64_t);
};

std::vector<GuavaGolden> guava_goldens() {
  const auto longs = mapped(0, 999, of_integer), users = mapped(0, 999, of_user);
  return {
      {"long_0_999_fpp0.01_mitz64", "guava", Family::integer, 1000, 0.01, longs, 1000, 100999,
       of_integer},
      {"long_0_999_fpp0.01_mitz32", "guava_mitz32", Family::integer, 1000, 0.01, longs, 1000,
       100999, of_integer},
      {"int_0_999_fpp0.01_mitz64", "guava_integer", Family::integer, 1000, 0.01, longs, 1000,
       100999, of_integer},
      {"utf8_user_0_999_fpp0.01_mitz64", "guava", Family::text, 1000, 0.01, users, 1000, 100999,
       of_user},
      {"utf8_user_0_999_fpp0.01_mitz32", "guava_mitz32", Family::text, 1000, 0.01, users, 1000,
       100999, of_user},
      {"unencoded_user_0_999_fpp0.01_mitz64", "guava_chars", Family::text, 1000, 0.01, users, 1000,
       100999, of_user},
      {"long_default_fpp0.03_empty", "guava", Family::integer, 1000, 0.03, {}, 0, 999, of_integer},
      {"long_n1_fpp0.5",
       "guava",
       Family::integer,
       1,
       0.5,
       {of_integer(42)},
       1000,
       1999,
       of_integer},
      {"long_edge_fpp0.001", "guava", Family::integer, 100, 0.001, edge_values(), 1000, 100999,
       of_integer},
      {"bytes_be_ints_0_99_default", "guava", Family::bytea, 100, 0.03,
       mapped(0, 99, of_big_endian), 100, 20099, of_big_endian},
  };
}

// The false positives that Guava itself found, from the manifest.
std::set<std::int64_t> false_positives_of(const std::string &file) {
  for (const std::string &line : lines_of("guava/manifest.jsonl"))
    if (json_field(line, "file") == file)
      return json_numbers(line, "false_positives");
  ADD_FAILURE() << file;
  return {};
}

TEST(Guava, FilesAreRebuilt) {
  int files = 0;
  for (const GuavaGolden &golden : guava_goldens()) {
    SCOPED_TRACE(golden.file);
    const std::string name = golden.file + std::string(".guava");
    const Bytes file = read_golden("guava/" + name);
    const Scheme &scheme = scheme_named(golden.scheme);

    FoundFilter found;
    const Finding problem = read_guava(file.data(), file.size(), &found);
    ASSERT_EQ(problem.text, nullptr);
    EXPECT_EQ(found.offset, kGuavaHead);
    ASSERT_EQ(found.offset + found.geometry.bytes(), file.size());
    EXPECT_EQ(found.geometry.layout, scheme.layout);
    Geometry geometry;
    ASSERT_TRUE(size_foreign(scheme.layout, golden.expected, golden.rate, &geometry));
    EXPECT_EQ(found.geometry, geometry);

    const Bytes bitmap = with_digests(geometry, digests_of(scheme, golden.family, golden.values));
    Bytes rebuilt(kGuavaHead + bitmap.size()), words(bitmap.size());
    write_guava_head(rebuilt.data(), geometry);
    swap_words(&rebuilt[kGuavaHead], bitmap.data(), geometry.units);
    EXPECT_EQ(rebuilt, file);
    swap_words(words.data(), &file[kGuavaHead], geometry.units);
    EXPECT_EQ(words, bitmap);

    for (const Bytes &value : golden.values)
      EXPECT_TRUE(foreign_contains(geometry, words.data(), digest(scheme, golden.family, value)));
    std::set<std::int64_t> positives;
    for (std::int64_t i = golden.first_probe; i <= golden.last_probe; i++)
      if (foreign_contains(geometry, words.data(), digest(scheme, golden.family, golden.probe(i))))
        positives.insert(i);
    EXPECT_EQ(positives, false_positives_of(name));
    files++;
  }
  EXPECT_EQ(files, 10);
}

// The constants of Guava's own tests (BloomFilterTest): a million even numbers as strings.
TEST(Guava, PublishedFalsePositives) {
  struct {
    const char *scheme;
    int false_positives;
    std::vector<int> below_900;
  } const kPublished[] = {
      {"guava_chars_mitz32",
       29824,
       {49, 51, 59, 163, 199, 321, 325, 363, 367, 469, 545, 561, 727, 769, 773, 781}},
      {"guava_chars", 30104, {15, 25, 287, 319, 381, 399, 421, 465, 529, 697, 767, 857}},
      {"guava", 29763, {89, 129, 471, 723, 751, 835, 871}},
  };
  for (const auto &published : kPublished) {
    SCOPED_TRACE(published.scheme);
    const Scheme &scheme = scheme_named(published.scheme);
    Geometry geometry;
    ASSERT_TRUE(size_foreign(scheme.layout, 1000000, 0.03, &geometry));
    ASSERT_EQ(geometry, (Geometry{scheme.layout, 5, 114039}));

    const Family stored = stored_family(scheme, Family::text);
    const auto hash = [&](int number) {
      char text[8];
      std::uint8_t scratch[scratch_bytes(sizeof text)];
      const int length = std::snprintf(text, sizeof text, "%d", number);
      return encode(scheme.layout, 0,
                    {Family::text, stored, reinterpret_cast<const std::uint8_t *>(text),
                     static_cast<std::size_t>(length), scratch})
          .digests[0];
    };
    Bytes bitmap(geometry.bytes());
    for (int number = 0; number < 2000000; number += 2) {
      const Digest one = hash(number);
      const std::uint64_t words[] = {one.first, one.second};
      foreign_add_many(geometry, bitmap.data(), words, 1);
    }
    // With a sanitizer, the test uses only the first numbers.
    const int last = SAMPLE_DIVISOR > 1 ? 900 : 2000000;
    int false_positives = 0;
    std::vector<int> below_900;
    for (int number = 1; number < last; number += 2)
      if (foreign_contains(geometry, bitmap.data(), hash(number))) {
        false_positives++;
        if (number < 900)
          below_900.push_back(number);
      }
    EXPECT_EQ(below_900, published.below_900);
    if (SAMPLE_DIVISOR == 1) {
      EXPECT_EQ(false_positives, published.false_positives);
    }
  }
}

// The sizes that BloomFilter.create() of Guava 31.1 chooses for capacities and rates.
TEST(Guava, SizesAreGuavas) {
  struct {
    std::uint64_t expected;
    double rate;
    int k;
    std::uint32_t words;
  } static const kSizes[] = {
      {1, 0.5, 1, 1},
      {1, 0.01, 6, 1},
      {1, 1e-6, 19, 1},
      {1, 1e-9, 30, 1},
      {2, 0.01, 7, 1},
      {2, 1e-9, 30, 2},
      {3, 0.5, 1, 1},
      {3, 0.01, 6, 1},
      {3, 1e-6, 20, 2},
      {10, 0.3, 2, 1},
      {10, 0.01, 7, 2},
      {10, 1e-9, 30, 7},
      {100, 0.5, 1, 3},
      {100, 0.1, 3, 8},
      {100, 0.001, 10, 23},
      {1000, 0.3, 2, 40},
      {1000, 1e-9, 30, 674},
      {12345, 0.1, 3, 925},
      {12345, 1e-6, 20, 5547},
      {1000000, 0.5, 1, 22543},
      {1000000, 0.01, 7, 149767},
      {1000000, 1e-9, 30, 673950},
      {100000000, 0.5, 1, 2254211},
      {100000000, 0.3, 2, 3915487},
  };
  for (const auto &size : kSizes)
    for (const Layout layout : {Layout::guava, Layout::guava_mitz32}) {
      Geometry geometry;
      ASSERT_TRUE(size_foreign(layout, size.expected, size.rate, &geometry));
      EXPECT_EQ(geometry, (Geometry{layout, static_cast<std::uint8_t>(size.k), size.words}));
    }
  // Sizes go up to the largest filter and end there. At 1 %, a value takes 9.585 bits.
  Geometry geometry;
  ASSERT_TRUE(size_foreign(Layout::guava, 448000000, 0.01, &geometry));
  EXPECT_GT(geometry.bits(), kMaxBits / 100 * 99);
  EXPECT_LE(geometry.bits(), kMaxBits);
  EXPECT_FALSE(size_foreign(Layout::guava, 449000000, 0.01, &geometry));
  EXPECT_FALSE(size_foreign(Layout::guava, kMaxBits, kMinRate, &geometry));
}

TEST(Guava, RefusesWhatIsNone) {
  const Bytes good = read_golden("guava/long_edge_fpp0.001.guava");
  const auto refused = [](const Bytes &bytes, std::uint64_t number) {
    FoundFilter found;
    const Finding problem = read_guava(bytes.data(), bytes.size(), &found);
    EXPECT_NE(problem.text, nullptr);
    EXPECT_EQ(problem.found, number);
    return problem.text != nullptr;
  };
  for (std::size_t length = 0; length < good.size(); length++) {
    SCOPED_TRACE(length);
    EXPECT_TRUE(refused(Bytes(good.begin(), good.begin() + static_cast<long>(length)),
                        length < kGuavaHead ? length : length - kGuavaHead));
  }
  const auto damaged = [&good](std::size_t at, Bytes with) {
    Bytes bytes = good;
    std::copy(with.begin(), with.end(), bytes.begin() + static_cast<long>(at));
    return bytes;
  };
  Bytes longer = good;
  longer.push_back(0);
  refused(longer, 23 * 8 + 1);
  refused(damaged(0, {2}), 2);
  refused(damaged(0, {255}), 255);
  refused(damaged(1, {0}), 0);
  refused(damaged(2, {0, 0, 0, 0}), 0);
  refused(damaged(2, {0, 0, 0, 22}), 23 * 8);
  refused(damaged(2, {0, 0, 0, 24}), 23 * 8);
  refused(damaged(2, {23, 0, 0, 0}), 23U << 24);
  refused(damaged(2, {4, 0, 0, 1}), (1U << 26) + 1);
  refused(damaged(2, {0xFF, 0xFF, 0xFF, 0xFF}), ~0U);
  FoundFilter found;
  EXPECT_EQ(read_guava(damaged(1, {255}).data(), good.size(), &found).text, nullptr);
  EXPECT_EQ(found.geometry, (Geometry{Layout::guava, 255, 23}));

  // The head of the largest filter is enough to know that its size is possible.
  const Bytes head = {1, 7, 4, 0, 0, 0};
  EXPECT_EQ(read_guava(head.data(), kGuavaHead + kMaxBits / 8, &found).text, nullptr);
  EXPECT_EQ(found.geometry.bits(), kMaxBits);
}

TEST(Guava, StrategyChoosesTheLayout) {
  std::uint8_t file[14] = {1, 3, 0, 0, 0, 1};
  FoundFilter found;
  ASSERT_EQ(read_guava(file, sizeof file, &found).text, nullptr);
  EXPECT_EQ(found.geometry, (Geometry{Layout::guava, 3, 1}));
  file[0] = 0;
  ASSERT_EQ(read_guava(file, sizeof file, &found).text, nullptr);
  EXPECT_EQ(found.geometry, (Geometry{Layout::guava_mitz32, 3, 1}));
  for (const Layout layout : {Layout::guava, Layout::guava_mitz32}) {
    std::uint8_t head[kGuavaHead];
    write_guava_head(head, {layout, 200, 0x01020304});
    EXPECT_EQ(Bytes(head, head + kGuavaHead),
              (Bytes{static_cast<std::uint8_t>(layout == Layout::guava), 200, 1, 2, 3, 4}));
  }
}

// --- Parquet ---

std::vector<Bytes> texts(const std::vector<std::string> &strings) {
  std::vector<Bytes> values;
  for (const std::string &string : strings)
    values.push_back(bytes_of(string));
  return values;
}

TEST(Parquet, FilesAreRebuilt) {
  const std::vector<Bytes> phrases =
      texts({"Hello", "This is", "a", "test", "How", "are you", "doing ", "today", "the quick",
             "brown fox", "jumps", "over", "the lazy", "dog"});
  struct {
    const char *file;
    const char *scheme;
    Family family;
    std::uint32_t blocks;
    std::vector<Bytes> values, absent;
  } const kGoldens[] = {
      {"bloom_filter.xxhash.bin", "parquet", Family::text, 32,
       texts({"hello", "parquet", "bloom", "filter"}), texts({"Hello", ""})},
      {"data_index_bloom_encoding_stats.sbbf", "parquet", Family::text, 32, phrases,
       texts({"b", "c", "d", "NOT_EXISTS"})},
      {"data_index_bloom_encoding_with_length.sbbf", "parquet", Family::text, 64, phrases,
       texts({"b", "c", "d", "NOT_EXISTS"})},
      {"hyparquet_bloom_filter.rg0.sbbf",
       "parquet_int32",
       Family::integer,
       1,
       {of_integer(10), of_integer(90)},
       mapped(11, 89, of_integer)},
      {"duckdb_multi_bloom_a.sbbf",
       "parquet_int32",
       Family::integer,
       1,
       {of_integer(1)},
       mapped(2, 1999, of_integer)},
      {"duckdb_multi_bloom_b.sbbf",
       "parquet_int32",
       Family::integer,
       1,
       {of_integer(2)},
       mapped(3, 1999, of_integer)},
      {"arrowrs_fixture_a0_a9.sbbf",
       "parquet",
       Family::text,
       1,
       texts({"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"}),
       {}},
  };
  for (const auto &golden : kGoldens) {
    SCOPED_TRACE(golden.file);
    const Bytes file = read_golden("parquet/" + std::string(golden.file));
    FoundFilter found;
    ASSERT_EQ(read_parquet(file.data(), file.size(), &found).text, nullptr);
    const Scheme &scheme = scheme_named(golden.scheme);
    const Geometry geometry = {scheme.layout, 8, golden.blocks};
    ASSERT_EQ(found.geometry, geometry);
    ASSERT_EQ(found.offset + geometry.bytes(), file.size());

    const Bytes bitmap = with_digests(geometry, digests_of(scheme, golden.family, golden.values));
    Bytes rebuilt(kMaxParquetHead);
    rebuilt.resize(write_parquet_head(rebuilt.data(), geometry));
    EXPECT_EQ(rebuilt.size(), found.offset);
    rebuilt.insert(rebuilt.end(), bitmap.begin(), bitmap.end());
    EXPECT_EQ(rebuilt, file);

    const auto contains = [&](const Bytes &value) {
      return foreign_contains(geometry, &file[found.offset], digest(scheme, golden.family, value));
    };
    EXPECT_TRUE(std::all_of(golden.values.begin(), golden.values.end(), contains));
    EXPECT_TRUE(std::none_of(golden.absent.begin(), golden.absent.end(), contains));
  }
}

TEST(Parquet, RefusesHostileFiles) {
  for (const char *name : {"bloom_filter.bin", "hostile_numbytes_10000_actual_32.sbbf"}) {
    const Bytes file = read_golden("parquet/" + std::string(name));
    FoundFilter found;
    EXPECT_NE(read_parquet(file.data(), file.size(), &found).text, nullptr) << name;
  }
}

// Thrift's compact protocol, in code that shares nothing with the core.
namespace thrift {

enum Type {
  kTrue = 1,
  kFalse,
  kI8,
  kI16,
  kI32,
  kI64,
  kF64,
  kBinary,
  kList,
  kSet,
  kMap,
  kStruct,
  kUuid
};

Bytes varint(std::uint64_t value) {
  Bytes bytes;
  for (; value >= 128; value /= 128)
    bytes.push_back(static_cast<std::uint8_t>(value % 128 + 128));
  bytes.push_back(static_cast<std::uint8_t>(value));
  return bytes;
}
Bytes zigzag(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return varint(value < 0 ? ~(bits << 1) : bits << 1);
}
void append(Bytes *to, const Bytes &bytes) {
  to->insert(to->end(), bytes.begin(), bytes.end());
}

struct Field {
  std::int64_t id;
  int type;
  Bytes value;
};

// Writes the fields in the given order. An id takes the long form if it is not 1 ... 15 above the
// id before. With `long_form`, all ids do.
Bytes structure(const std::vector<Field> &fields, bool long_form = false) {
  Bytes bytes;
  std::int64_t last = 0;
  for (const Field &field : fields) {
    if (!long_form && field.id > last && field.id - last <= 15) {
      bytes.push_back(static_cast<std::uint8_t>((field.id - last) * 16 + field.type));
    } else {
      bytes.push_back(static_cast<std::uint8_t>(field.type));
      append(&bytes, zigzag(field.id));
    }
    append(&bytes, field.value);
    last = field.id;
  }
  bytes.push_back(0);
  return bytes;
}

} // namespace thrift

using thrift::Field;

Field size_field(std::int64_t size) {
  return {1, thrift::kI32, thrift::zigzag(size)};
}
Field union_field(std::int64_t id, const std::vector<std::int64_t> &variants = {1}) {
  std::vector<Field> fields;
  for (const std::int64_t variant : variants)
    fields.push_back({variant, thrift::kStruct, {0}});
  return {id, thrift::kStruct, thrift::structure(fields)};
}
std::vector<Field> known_fields(std::int64_t size = 64) {
  return {size_field(size), union_field(2), union_field(3), union_field(4)};
}

Bytes with_bitset(Bytes head, std::size_t size = 64) {
  head.resize(head.size() + size, 0xA5);
  return head;
}

bool reads(const Bytes &file) {
  FoundFilter found = {};
  const Finding problem = read_parquet(file.data(), file.size(), &found);
  if (problem.text)
    return false;
  EXPECT_EQ(found.offset + found.geometry.bytes(), file.size());
  EXPECT_EQ(found.geometry.layout, Layout::parquet);
  EXPECT_EQ(found.geometry.k, 8);
  return true;
}

// Values of every type, some of them in unusual forms.
std::vector<Field> unknown_values() {
  using namespace thrift;
  Bytes long_list = {0xF5, 20}, long_binary = varint(300);
  long_list.resize(22, 0x02);
  long_binary.resize(302, 0xFF);
  const Bytes inner = structure({{1, kI32, zigzag(-5)},
                                 {2, kTrue, {}},
                                 {30, kStruct, structure({{7, kBinary, {2, 'a', 'b'}}})},
                                 {-4, kList, {0x15, 4}}});
  Bytes list_of_structs = {0x2C}, map_of_structs = {2, 0x5C, 2};
  append(&list_of_structs, inner);
  append(&list_of_structs, inner);
  append(&map_of_structs, inner);
  map_of_structs.push_back(4);
  append(&map_of_structs, inner);
  return {
      {0, kTrue, {}},
      {0, kFalse, {}},
      {0, kI8, {0x1C}},
      {0, kI16, zigzag(-300)},
      {0, kI32, zigzag(1 << 30)},
      {0, kI64, zigzag(INT64_MIN)},
      {0, kF64, Bytes(8, 0x1C)},
      {0, kBinary, {0}},
      {0, kBinary, {3, 0x15, 0x80, 0x00}},
      {0, kBinary, long_binary},
      {0, kList, {0x05}},             // no items
      {0, kList, {0x32, 1, 2, 1}},    // booleans
      {0, kList, {0x31, 1, 2, 1}},    // booleans with their other type number
      {0, kList, long_list},          // 20 numbers
      {0, kList, {0x28, 1, 'a', 0}},  // strings
      {0, kList, {0x29, 0x13, 7, 3}}, // lists
      {0, kList, list_of_structs},
      {0, kSet, {0x33, 0, 0, 0}},
      {0, kSet, {0x1D, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
      {0, kMap, {0}},
      {0, kMap, {2, 0x58, 2, 1, 'x', 4, 0}},  // numbers and strings
      {0, kMap, {1, 0x3B, 9, 1, 0x12, 5, 1}}, // a map of a map
      {0, kMap, map_of_structs},
      {0, kStruct, {0}},
      {0, kStruct, inner},
      {0, kUuid, Bytes(16, 0x1C)},
  };
}

TEST(Parquet, SkipsUnknownFields) {
  std::set<int> types;
  for (const Field &unknown : unknown_values()) {
    SCOPED_TRACE(unknown.type);
    types.insert(unknown.type);
    for (std::size_t at = 0; at <= 4; at++)
      for (const std::int64_t id : {5, 20, 0, -1, 100, 32767, -32768})
        for (const bool long_form : {false, true}) {
          std::vector<Field> fields = known_fields();
          fields.insert(fields.begin() + static_cast<long>(at), {id, unknown.type, unknown.value});
          const Bytes file = with_bitset(thrift::structure(fields, long_form));
          EXPECT_TRUE(reads(file)) << "id " << id << " at " << at;
        }
  }
  EXPECT_EQ(types.size(), 13U);
}

TEST(Parquet, ReadsTheFieldsInAnyOrder) {
  std::vector<Field> fields = known_fields();
  std::sort(fields.begin(), fields.end(),
            [](const Field &a, const Field &b) { return a.id < b.id; });
  int orders = 0;
  do {
    EXPECT_TRUE(reads(with_bitset(thrift::structure(fields))));
    orders++;
  } while (std::next_permutation(fields.begin(), fields.end(),
                                 [](const Field &a, const Field &b) { return a.id < b.id; }));
  EXPECT_EQ(orders, 24);
}

// Any number of bytes is missing at the end, or there is one byte too many. This is tried with
// every unknown value in the header.
TEST(Parquet, RefusesEveryTruncation) {
  for (const Field &unknown : unknown_values()) {
    SCOPED_TRACE(unknown.type);
    std::vector<Field> fields = known_fields(32);
    fields.insert(fields.begin() + 2, {9, unknown.type, unknown.value});
    const Bytes file = with_bitset(thrift::structure(fields), 32);
    ASSERT_TRUE(reads(file));
    for (std::size_t length = 0; length < file.size(); length++)
      EXPECT_FALSE(reads(Bytes(file.begin(), file.begin() + static_cast<long>(length)))) << length;
    Bytes longer = file;
    longer.push_back(0);
    EXPECT_FALSE(reads(longer));
  }
}

TEST(Parquet, RefusesOtherVariantsAndMissingFields) {
  for (std::size_t at = 0; at < 4; at++) {
    SCOPED_TRACE(at);
    std::vector<Field> fields = known_fields();
    fields.erase(fields.begin() + static_cast<long>(at));
    EXPECT_FALSE(reads(with_bitset(thrift::structure(fields))));
    fields = known_fields();
    fields[at].type = fields[at].type == thrift::kStruct ? thrift::kI32 : thrift::kI64;
    if (at > 0)
      fields[at].value = {2};
    EXPECT_FALSE(reads(with_bitset(thrift::structure(fields))));
    fields = known_fields();
    fields[at].id = 5;
    EXPECT_FALSE(reads(with_bitset(thrift::structure(fields))));
  }
  const std::vector<std::int64_t> wrong[] = {{}, {2}, {0}, {-1}, {17}, {1, 2}, {2, 1}, {1, 1}};
  for (std::size_t at = 1; at < 4; at++)
    for (const auto &variants : wrong) {
      std::vector<Field> fields = known_fields();
      fields[at] = union_field(fields[at].id, variants);
      EXPECT_FALSE(reads(with_bitset(thrift::structure(fields)))) << variants.size();
    }
  // If a variant is no struct, it is refused. If it is a struct with newer fields, it is read.
  std::vector<Field> fields = known_fields();
  fields[1].value = {0x15, 0x02, 0x00};
  EXPECT_FALSE(reads(with_bitset(thrift::structure(fields))));
  fields[1].value = {0x1C, 0x15, 0x02, 0x00, 0x00};
  EXPECT_TRUE(reads(with_bitset(thrift::structure(fields))));
  EXPECT_FALSE(reads(with_bitset({0})));
  EXPECT_FALSE(reads({}));
}

TEST(Parquet, RefusesOtherSizes) {
  // First, the size of the bitset differs from the header's. Then both agree on a bad size.
  const auto max = static_cast<std::int64_t>(kMaxBits / 8);
  for (const std::int64_t size :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, std::int64_t{32}, std::int64_t{33},
        std::int64_t{63}, std::int64_t{65}, std::int64_t{96}, std::int64_t{-32}, std::int64_t{-64},
        std::int64_t{10000}, max, max + 32, (std::int64_t{1} << 32) + 64, INT64_MIN, INT64_MAX})
    EXPECT_FALSE(reads(with_bitset(thrift::structure(known_fields(size))))) << size;
  for (const std::size_t size : {0, 1, 31, 33, 48, 63})
    EXPECT_FALSE(
        reads(with_bitset(thrift::structure(known_fields(static_cast<std::int64_t>(size))), size)))
        << size;
  for (const std::size_t size : {32, 64, 96, 224, 1 << 20})
    EXPECT_TRUE(
        reads(with_bitset(thrift::structure(known_fields(static_cast<std::int64_t>(size))), size)))
        << size;
  // For the largest bitset, only the header is read.
  const Bytes head = thrift::structure(known_fields(max));
  FoundFilter found;
  EXPECT_EQ(read_parquet(head.data(), head.size() + kMaxBits / 8, &found).text, nullptr);
  EXPECT_EQ(found.geometry.bits(), kMaxBits);
  const Bytes larger = thrift::structure(known_fields(max + 32));
  EXPECT_NE(read_parquet(larger.data(), larger.size() + kMaxBits / 8 + 32, &found).text, nullptr);
}

// Once the header is understood, the end of the filter is known, whatever follows it.
TEST(Parquet, SaysWhereAFilterEnds) {
  const Bytes head = thrift::structure(known_fields(2048));
  for (const std::size_t size : {0, 1, 2047, 2049, 3000, 100000}) {
    const Bytes file = with_bitset(head, size);
    FoundFilter found;
    ASSERT_NE(read_parquet(file.data(), file.size(), &found).text, nullptr);
    EXPECT_EQ(found.offset, head.size());
    EXPECT_EQ(found.end(), head.size() + 2048);
    if (found.end() <= file.size()) {
      EXPECT_EQ(read_parquet(file.data(), found.end(), &found).text, nullptr);
    }
  }
  for (const Bytes &none : {Bytes{}, Bytes(40, 0xFF), thrift::structure(known_fields(2047))}) {
    FoundFilter found = {{}, 7};
    ASSERT_NE(read_parquet(none.data(), none.size(), &found).text, nullptr);
    EXPECT_EQ(found.offset, 0U);
  }
}

TEST(Parquet, NestingHasAnEnd) {
  const auto nested = [](std::size_t depth, const Bytes &open, std::uint8_t type,
                         const Bytes &close) {
    Bytes value;
    for (std::size_t i = 0; i < depth; i++)
      thrift::append(&value, open);
    value.push_back(0);
    for (std::size_t i = 0; i < depth; i++)
      thrift::append(&value, close);
    std::vector<Field> fields = known_fields();
    fields.insert(fields.begin(), {9, type, value});
    return reads(with_bitset(thrift::structure(fields)));
  };
  struct {
    Bytes open;
    std::uint8_t type;
    Bytes close;
  } static const kKinds[] = {
      {{0x1C}, thrift::kStruct, {0}},   // structs in a struct
      {{0x19}, thrift::kList, {}},      // lists in a list
      {{0x1A}, thrift::kSet, {}},       // sets in a set
      {{1, 0x3B, 7}, thrift::kMap, {}}, // maps in a map
      {{1, 0xBB, 0}, thrift::kMap, {}}, // with an empty map as the key
  };
  for (const auto &kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind.type));
    EXPECT_TRUE(nested(8, kind.open, kind.type, kind.close));
    for (const std::size_t depth : {100, 10000, 1000000})
      EXPECT_FALSE(nested(depth, kind.open, kind.type, kind.close)) << depth;
  }
}

// A list is refused at once if its count exceeds the number of bytes left.
TEST(Parquet, CountsBeyondTheBytesAreRefused) {
  for (const std::uint64_t count : {1000ULL, 1ULL << 31, 1ULL << 40, 1ULL << 63, ~0ULL})
    for (int type = 0; type < 16; type++) {
      Bytes list = {static_cast<std::uint8_t>(0xF0 + type)};
      thrift::append(&list, thrift::varint(count));
      Bytes map = thrift::varint(count);
      map.push_back(static_cast<std::uint8_t>(0x11 * type));
      for (const Field &field :
           {Field{9, thrift::kList, list}, Field{9, thrift::kSet, list},
            Field{9, thrift::kMap, map}, Field{9, thrift::kBinary, thrift::varint(count)}}) {
        std::vector<Field> fields = known_fields();
        fields.insert(fields.begin(), field);
        EXPECT_FALSE(reads(with_bitset(thrift::structure(fields))))
            << count << " of type " << type << " in " << field.type;
      }
    }
}

TEST(Parquet, RefusesWhatIsNotThrift) {
  for (const int type : {14, 15}) {
    std::vector<Field> fields = known_fields();
    fields.push_back({9, type, {}});
    EXPECT_FALSE(reads(with_bitset(thrift::structure(fields)))) << type;
    fields.back() = {9, thrift::kList, {static_cast<std::uint8_t>(0x10 + type), 0}};
    EXPECT_FALSE(reads(with_bitset(thrift::structure(fields)))) << type;
  }
  // A number of more than 64 bits.
  std::vector<Field> fields = known_fields();
  fields.push_back({9, thrift::kI64, Bytes(10, 0x80)});
  EXPECT_FALSE(reads(with_bitset(thrift::structure(fields))));
  Random random(5);
  for (int round = 0; round < 20000; round++) {
    Bytes file(random.next() % 100);
    for (std::uint8_t &byte : file)
      byte = static_cast<std::uint8_t>(random.next());
    EXPECT_FALSE(reads(file));
  }
}

// Field ids are i16. After a larger id, an id that is given as a difference would overflow.
TEST(Parquet, FieldIdsAreOf16Bits) {
  for (const std::int64_t id : {std::int64_t{32768}, std::int64_t{-32769}, std::int64_t{65537},
                                INT64_MAX - 1, INT64_MAX, INT64_MIN}) {
    SCOPED_TRACE(id);
    // The next field gives its id as a difference.
    Bytes head = {thrift::kI8};
    thrift::append(&head, thrift::zigzag(id));
    head.insert(head.end(), {7, 0xF3, 7});
    thrift::append(&head, thrift::structure(known_fields(), true));
    EXPECT_FALSE(reads(with_bitset(head)));
    // The same is tried within a struct that is skipped.
    Bytes inner(head.begin(),
                head.end() - static_cast<long>(thrift::structure(known_fields(), true).size()));
    inner.push_back(0);
    std::vector<Field> fields = known_fields();
    fields.push_back({9, thrift::kStruct, inner});
    EXPECT_FALSE(reads(with_bitset(thrift::structure(fields))));
  }
}

// The probability of a false positive, counted bit by bit: the mean over blocks of the product over
// words.
double obtained_rate(const Geometry &geometry, std::uint64_t values, int filters) {
  Random random(values);
  double sum = 0;
  for (int i = 0; i < filters; i++) {
    std::vector<std::uint64_t> words;
    for (std::uint64_t j = 0; j < 2 * values; j++)
      words.push_back(random.next());
    Bytes bitmap(geometry.bytes());
    foreign_add_many(geometry, bitmap.data(), words.data(), values);
    for (std::size_t at = 0; at < bitmap.size(); at += 32) {
      double product = 1;
      for (std::size_t word = at; word < at + 32; word += 4) {
        int set = 0;
        for (std::size_t bit = 8 * word; bit < 8 * word + 32; bit++)
          set += bit_at(bitmap.data(), bit);
        product *= set / 32.0;
      }
      sum += product / geometry.units;
    }
  }
  return sum / filters;
}

TEST(Parquet, RatesAreAtMostTheOnesAskedFor) {
  for (const std::uint64_t n : {1, 20, 1000, 30000, 100000})
    for (const double rate : {0.4, 0.1, 0.01, 0.001, 1e-5}) {
      SCOPED_TRACE(n);
      SCOPED_TRACE(rate);
      Geometry geometry;
      ASSERT_TRUE(size_foreign(Layout::parquet, n, rate, &geometry));
      EXPECT_EQ(geometry.layout, Layout::parquet);
      EXPECT_EQ(geometry.k, 8);
      EXPECT_EQ(geometry.units & (geometry.units - 1), 0U);
      const int filters = static_cast<int>(std::max<std::uint64_t>(100000 / n, 2));
      const double noise = 0.02 + 6 / std::sqrt(static_cast<double>(geometry.units) * filters);
      EXPECT_LE(obtained_rate(geometry, n, filters), rate * (1 + noise));
      if (geometry.units > 1) {
        geometry.units /= 2;
        EXPECT_GE(obtained_rate(geometry, n, filters), rate * (1 - noise));
      }
    }
}

TEST(Parquet, SizesEndAt128Mebibytes) {
  Geometry geometry;
  ASSERT_TRUE(size_foreign(Layout::parquet, 100000000, 0.01, &geometry)); // 10.5 bits per value
  EXPECT_EQ(geometry, (Geometry{Layout::parquet, 8, 1U << 22}));
  EXPECT_EQ(geometry.bytes(), 128U << 20);
  EXPECT_FALSE(size_foreign(Layout::parquet, 110000000, 0.01, &geometry));
  EXPECT_FALSE(size_foreign(Layout::parquet, 100000000, 0.001, &geometry));
  EXPECT_FALSE(size_foreign(Layout::parquet, kMaxBits, 0.5, &geometry));
  EXPECT_FALSE(size_foreign(Layout::parquet, kMaxBits, kMinRate, &geometry));
  ASSERT_TRUE(size_foreign(Layout::parquet, 1, 0.5, &geometry));
  EXPECT_EQ(geometry, (Geometry{Layout::parquet, 8, 1}));
  ASSERT_TRUE(size_foreign(Layout::parquet, 1, kMinRate, &geometry));
  EXPECT_EQ(geometry.layout, Layout::parquet);
}

TEST(Parquet, HeadsAreReadBack) {
  for (std::uint32_t units = 1; units <= 1U << 22; units *= 2) {
    std::uint8_t head[kMaxParquetHead];
    const Geometry geometry = {Layout::parquet, 8, units};
    const std::size_t length = write_parquet_head(head, geometry);
    ASSERT_LE(length, kMaxParquetHead);
    FoundFilter found;
    ASSERT_EQ(read_parquet(head, length + geometry.bytes(), &found).text, nullptr);
    EXPECT_EQ(found.geometry, geometry);
    EXPECT_EQ(found.offset, length);
  }
}

// --- RedisBloom ---

struct Dump {
  Bytes header, chunks;
  std::vector<Link> links;
};
Finding read_header(const Bytes &header, std::vector<Link> *links) {
  links->resize(kMaxLinks);
  int count = 0;
  const Finding problem = read_redis(header.data(), header.size(), links->data(), &count);
  links->resize(static_cast<std::size_t>(count));
  return problem;
}
Finding read_header(const Bytes &header) {
  std::vector<Link> links;
  return read_header(header, &links);
}
Finding fit(const std::vector<Link> &links, const std::vector<std::size_t> &lengths) {
  return fit_redis_chunks(links.data(), static_cast<int>(links.size()), lengths.data(),
                          static_cast<int>(lengths.size()));
}

// In the golden files, each chunk is a whole link.
std::vector<std::size_t> lengths_of(const std::vector<Link> &links) {
  std::vector<std::size_t> lengths;
  for (const Link &link : links)
    lengths.push_back(link.geometry.bytes());
  return lengths;
}

Dump read_dump(const std::string &name) {
  Dump dump = {read_golden("redisbloom/" + name + ".header"),
               read_golden("redisbloom/" + name + ".chunks"),
               {}};
  EXPECT_EQ(read_header(dump.header, &dump.links).text, nullptr);
  EXPECT_EQ(fit(dump.links, lengths_of(dump.links)).text, nullptr);
  return dump;
}

struct RedisGolden {
  const char *name;
  Family family;
  Bytes (*value)(std::int64_t);
  std::vector<std::uint64_t> capacities; // as RedisBloom gave them to the links
  double first_rate;
  int stored, false_positives, first_false_positive;
};
const RedisGolden kRedisGoldens[] = {
    {"reserve_0.01_1000_user_0_999", Family::text, of_user, {1000}, 0.005, 1000, 507, 1600},
    {"reserve_0.01_100_user_0_999_scaled",
     Family::text,
     of_user,
     {100, 200, 400, 800},
     0.005,
     992,
     898,
     1053},
    {"nonscaling_0.01_1000_int_0_999", Family::integer, of_integer, {1000}, 0.01, 997, 1035, 1035},
};

// Adds values as RedisBloom does. If no link has the value, it is added to the last link. If the
// last link is full, it is added to a new link.
TEST(Redis, DumpsAreRebuilt) {
  for (const RedisGolden &golden : kRedisGoldens) {
    SCOPED_TRACE(golden.name);
    const Dump dump = read_dump(golden.name);
    ASSERT_EQ(dump.links.size(), golden.capacities.size());
    std::vector<Bytes> bitmaps;
    for (const Link &link : dump.links)
      bitmaps.emplace_back(link.geometry.bytes());

    const auto contained = [&](std::int64_t i) {
      const Digest one = digest("redis", golden.family, golden.value(i));
      for (std::size_t j = 0; j < bitmaps.size(); j++)
        if (foreign_contains(dump.links[j].geometry, bitmaps[j].data(), one))
          return true;
      return false;
    };
    std::size_t last = 0;
    std::uint64_t in_last = 0;
    int stored = 0;
    for (std::int64_t i = 0; i < 1000; i++) {
      if (contained(i))
        continue;
      if (in_last == golden.capacities[last]) {
        last++, in_last = 0;
        ASSERT_LT(last, bitmaps.size());
      }
      const Digest one = digest("redis", golden.family, golden.value(i));
      const std::uint64_t words[] = {one.first, one.second};
      foreign_add_many(dump.links[last].geometry, bitmaps[last].data(), words, 1);
      in_last++, stored++;
    }
    EXPECT_EQ(stored, golden.stored);
    Bytes all;
    for (const Bytes &bitmap : bitmaps)
      thrift::append(&all, bitmap);
    EXPECT_EQ(all, dump.chunks);

    int false_positives = 0, first = 0;
    for (int i = 100999; i >= 1000; i--)
      if (contained(i))
        false_positives++, first = i;
    EXPECT_EQ(false_positives, golden.false_positives);
    EXPECT_EQ(first, golden.first_false_positive);
  }
}

// The field after the rate is the capacity of a link. The field before it is the number of values
// in the link, which may be less.
TEST(Redis, CapacitiesAreThoseOfTheLinks) {
  for (const RedisGolden &golden : kRedisGoldens) {
    SCOPED_TRACE(golden.name);
    const Dump dump = read_dump(golden.name);
    ASSERT_EQ(dump.links.size(), golden.capacities.size());
    double rate = golden.first_rate;
    for (std::size_t i = 0; i < dump.links.size(); i++, rate /= 2) {
      EXPECT_EQ(dump.links[i].capacity.values, golden.capacities[i]) << i;
      EXPECT_DOUBLE_EQ(dump.links[i].capacity.rate, rate);
      EXPECT_EQ(dump.links[i].flags, kFlagSelfSized);
      EXPECT_EQ(dump.links[i].geometry.layout, Layout::redis);
    }
  }
}

TEST(Redis, RefusesHostileHeaders) {
  const Dump dump = read_dump("reserve_0.01_100_user_0_999_scaled");
  for (std::size_t length = 0; length < dump.header.size(); length++)
    EXPECT_NE(
        read_header(Bytes(dump.header.begin(), dump.header.begin() + static_cast<long>(length)))
            .text,
        nullptr)
        << length;
  Bytes longer = dump.header;
  longer.push_back(0);
  EXPECT_NE(read_header(longer).text, nullptr);

  const auto refused = [&](std::size_t at, auto number) {
    Bytes header = dump.header;
    store(&header[at], number);
    const Finding problem = read_header(header);
    EXPECT_NE(problem.text, nullptr) << "at " << at << ": " << number;
    return problem.found;
  };
  const auto values = load<std::uint64_t>(dump.header.data());
  for (const std::uint64_t wrong : {std::uint64_t{0}, values - 1, values + 1, ~std::uint64_t{0}})
    EXPECT_EQ(refused(0, wrong), wrong);
  for (const std::uint32_t number : {0U, 1U, 3U, 5U, 64U, 65U, 1U << 31, ~0U})
    EXPECT_EQ(refused(8, number), number);
  for (const std::uint32_t options : {0U, 1U, 8U, 9U, 16U | 5U, 1U << 31 | 5U, ~4U, ~0U})
    EXPECT_EQ(refused(12, options), options);

  for (std::size_t i = 0; i < 4; i++) {
    SCOPED_TRACE(i);
    const std::size_t entry = kRedisHead + i * kRedisEntry;
    const auto size = load<std::uint64_t>(&dump.header[entry]);
    for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{1}, size - 1, size + 1,
                                      size - 8, size + 8, kMaxBits / 8 + 8, std::uint64_t{1} << 61,
                                      (std::uint64_t{1} << 61) + size, ~std::uint64_t{7}})
      refused(entry, wrong);
    for (const std::uint64_t wrong :
         {std::uint64_t{0}, size, 8 * size - 1, 8 * size + 1, 8 * size - 64, ~std::uint64_t{0}})
      EXPECT_EQ(refused(entry + 8, wrong), wrong);
    const auto of_link = load<std::uint64_t>(&dump.header[entry + 16]);
    for (const std::uint64_t wrong :
         {std::uint64_t{0}, of_link - 1, of_link + 1, std::uint64_t{1} << 63, ~std::uint64_t{0}})
      EXPECT_EQ(refused(entry + 16, wrong), values);
    for (const double wrong : {0.0, -0.0, -0.01, -kInfinity, 1.0, 1.5, kInfinity})
      EXPECT_EQ(refused(entry + 24, double_bits(wrong)),
                load<std::uint64_t>(&dump.header[entry + 44]))
          << wrong;
    const auto k = load<std::uint32_t>(&dump.header[entry + 40]);
    for (const double wrong :
         {0.0, -1.0, (k + 0.1) / std::log(2), (k - 1) / std::log(2), kInfinity, kNaN})
      EXPECT_EQ(refused(entry + 32, double_bits(wrong)), k) << wrong;
    for (const std::uint32_t wrong : {0U, k - 1, k + 1, 255U, 256U, 257U, 1U << 31, ~0U})
      EXPECT_EQ(refused(entry + 40, wrong), wrong);
    for (const std::uint8_t wrong : {1, 6, 10, 31, 32, 63, 64, 127, 255})
      refused(entry + 52, wrong);
  }
  // k is 0, and the bits per value agree with it.
  Bytes header = dump.header;
  store(&header[kRedisHead + 32], double_bits(0));
  store(&header[kRedisHead + 40], 0U);
  EXPECT_NE(read_header(header).text, nullptr);
  // Numbers of values with a sum that is right only because it overflows.
  header = dump.header;
  for (const std::size_t i : {0, 1}) {
    std::uint8_t *const of_link = &header[kRedisHead + i * kRedisEntry + 16];
    store(of_link, load<std::uint64_t>(of_link) + (std::uint64_t{1} << 63));
  }
  EXPECT_EQ(read_header(header).found, values);
  // A size that agrees with its bits, sizes that are not whole words, and a size beyond the limit.
  header = dump.header;
  const auto resize = [&](std::uint64_t size) {
    store(&header[kRedisHead], size);
    store(&header[kRedisHead + 8], 8 * size);
    return read_header(header);
  };
  EXPECT_EQ(resize(152).text, nullptr);
  for (std::uint64_t size = 145; size < 152; size++)
    EXPECT_EQ(resize(size).found, size);
  EXPECT_EQ(resize(kMaxBits / 8).text, nullptr);
  EXPECT_EQ(resize(kMaxBits / 8 + 8).found, kMaxBits / 8 + 8);
}

TEST(Redis, SaysThatADumpIsOld) {
  for (std::uint32_t links = 1; links <= 64; links++)
    for (const std::size_t head : {16, 20}) { // without growth and with it
      Bytes header(head + links * 49);
      store(&header[8], links);
      const Finding problem = read_header(header);
      ASSERT_NE(problem.text, nullptr);
      EXPECT_NE(std::string(problem.text).find("before 2.2.1"), std::string::npos);
      EXPECT_EQ(problem.found, links);
    }
}

TEST(Redis, BitsMayBeAPowerOfTwo) {
  Bytes header = read_golden("redisbloom/reserve_0.01_1000_user_0_999.header");
  store(&header[kRedisHead], std::uint64_t{2048});
  store(&header[kRedisHead + 8], std::uint64_t{16384});
  for (int log = 0; log < 256; log++) {
    header[kRedisHead + 52] = static_cast<std::uint8_t>(log);
    EXPECT_EQ(read_header(header).text == nullptr, log == 0 || log == 14) << log;
  }
}

// A link's capacity and rate do not affect its bits. RedisBloom loads even nonsense. If they are
// nonsense, they are read as unknown.
TEST(Redis, CapacityAndRateMayBeUnknown) {
  const Bytes good = read_golden("redisbloom/reserve_0.01_1000_user_0_999.header");
  const auto read = [](const Bytes &header) {
    std::vector<Link> links;
    EXPECT_EQ(read_header(header, &links).text, nullptr);
    EXPECT_EQ(links.size(), 1U);
    EXPECT_EQ(links[0].geometry, (Geometry{Layout::redis, 8, 1384 / 8}));
    return links[0];
  };
  EXPECT_EQ(read(good).capacity.values, 1000U);
  for (const std::uint64_t capacity : {std::uint64_t{0}, kMaxBits + 1, ~std::uint64_t{0}}) {
    Bytes header = good;
    store(&header[kRedisHead + 44], capacity);
    EXPECT_EQ(read(header).capacity.values, 0U) << capacity;
    EXPECT_EQ(double_bits(read(header).capacity.rate), 0U) << capacity;
  }
  for (const double error : {0.51, 0.999, kNaN, 1e-10, 1e-300}) {
    Bytes header = good;
    store(&header[kRedisHead + 24], double_bits(error));
    EXPECT_EQ(read(header).capacity.values, 0U) << error;
    EXPECT_EQ(double_bits(read(header).capacity.rate), 0U) << error;
  }
}

// The chunks of the links have only one possible order, and no chunk holds parts of two links.
TEST(Redis, ChunksAreThoseOfTheLinks) {
  const std::vector<Link> links = read_dump("reserve_0.01_100_user_0_999_scaled").links;
  const std::vector<std::size_t> whole = lengths_of(links);
  ASSERT_EQ(whole, (std::vector<std::size_t>{144, 312, 696, 1536}));
  std::vector<std::size_t> lengths = whole;
  while (std::next_permutation(lengths.begin(), lengths.end()))
    EXPECT_NE(fit(links, lengths).text, nullptr);

  EXPECT_EQ(fit(links, {}).found, 144U);
  EXPECT_EQ(fit(links, {144, 312, 696}).found, 1536U);
  EXPECT_EQ(fit(links, {144, 312, 696, 1528}).found, 8U);
  EXPECT_EQ(fit(links, {144 + 312 + 696 + 1536}).wanted, 144U);
  EXPECT_EQ(fit(links, {144 + 312, 696, 1536}).wanted, 144U);
  EXPECT_EQ(fit(links, {144, 144, 312, 696, 1536}).wanted, 144U); // 168 are left
  EXPECT_EQ(fit(links, {144, 312, 696, 1536, 1536}).found, 1536U);
  for (std::size_t at = 0; at <= whole.size(); at++) {
    lengths = whole;
    lengths.insert(lengths.begin() + static_cast<long>(at), 0);
    EXPECT_NE(fit(links, lengths).text, nullptr) << at;
  }
}

// A large link comes in pieces of one length. The last piece is the rest.
TEST(Redis, LargeLinksAreInPieces) {
  const auto of_bytes = [](std::size_t bytes) {
    return Link{{Layout::redis, 7, static_cast<std::uint32_t>(bytes / 8)}, kFlagSelfSized, {}};
  };
  constexpr std::size_t kMiB = 1024 * 1024;
  const std::vector<Link> links = {of_bytes(8), of_bytes(25 * kMiB), of_bytes(64 * kMiB)};
  for (const std::size_t piece : {10 * kMiB, 16 * kMiB, 511 * kMiB}) { // the pieces of all versions
    std::vector<std::size_t> lengths;
    for (const Link &link : links)
      for (std::size_t left = link.geometry.bytes(); left > 0; left -= lengths.back())
        lengths.push_back(std::min(piece, left));
    EXPECT_EQ(fit(links, lengths).text, nullptr) << piece;
    for (std::size_t i = 1; i < lengths.size(); i++) {
      if (lengths[i] == lengths[i - 1])
        continue;
      std::swap(lengths[i], lengths[i - 1]);
      EXPECT_NE(fit(links, lengths).text, nullptr) << piece << ": " << i;
      std::swap(lengths[i], lengths[i - 1]);
    }
  }
  EXPECT_EQ(fit({of_bytes(25 * kMiB)}, {9 * kMiB, 16 * kMiB}).wanted, 9 * kMiB);
  EXPECT_EQ(fit({of_bytes(40 * kMiB)}, {16 * kMiB, 8 * kMiB, 16 * kMiB}).wanted, 16 * kMiB);
}

// --- A running RedisBloom ---

// Reads an array of hexadecimal strings.
std::vector<Bytes> read_hex_array(const std::string &name) {
  std::vector<Bytes> values;
  std::stringstream text(read_text(name));
  for (std::string part; std::getline(text, part, '"');)
    if (!part.empty() && part.find_first_not_of("0123456789abcdef") == std::string::npos)
      values.push_back(from_hex(part));
  return values;
}

// Reads the header, and then the chunks.
Finding read_chunks(const std::vector<Bytes> &dump, std::vector<Link> *links) {
  const Finding problem = read_header(dump[0], links);
  if (problem.text)
    return problem;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 1; i < dump.size(); i++)
    lengths.push_back(dump[i].size());
  return fit(*links, lengths);
}

// Item i. The README in the directory of the files defines the items.
Bytes value_of(const std::string &values, std::int64_t i) {
  if (values == "text")
    return of_user(i);
  if (values == "int")
    return of_decimal(i);
  if (values == "neg")
    return of_decimal(-7919 * i);
  Bytes bytes(4 + static_cast<std::size_t>(i % 37));
  for (std::size_t j = 0; j < bytes.size(); j++)
    bytes[j] = static_cast<std::uint8_t>(j < 4 ? static_cast<std::size_t>(i) >> 8 * j
                                               : 31 * static_cast<std::size_t>(i) + 7 * j);
  return bytes;
}

TEST(RedisServer, DumpsAreRead) {
  int dumps = 0;
  for (const std::string &line : lines_of("redisbloom_server/manifest.jsonl")) {
    const std::string file = json_field(line, "file"), values = json_field(line, "values");
    SCOPED_TRACE(file);
    const std::vector<Bytes> dump = read_hex_array("redisbloom_server/" + file);
    std::vector<Link> links;
    const Finding problem = read_chunks(dump, &links);
    if (json_field(line, "must") == "error") {
      ASSERT_NE(problem.text, nullptr);
      EXPECT_NE(std::string(problem.text).find("before 2.2.1"), std::string::npos);
      continue;
    }
    ASSERT_EQ(problem.text, nullptr);
    EXPECT_EQ(std::to_string(links.size()), json_field(line, "links"));
    const auto contained = [&](std::int64_t i) {
      const Digest one = digest("redis", Family::string, value_of(values, i));
      for (std::size_t j = 0; j < links.size(); j++)
        if (foreign_contains(links[j].geometry, dump[j + 1].data(), one))
          return true;
      return false;
    };
    for (std::int64_t i = 0; i < std::stoll(json_field(line, "items")); i++)
      EXPECT_TRUE(contained(i)) << i;
    int found = 0;
    for (std::int64_t i = 5000000; i < 5100000; i++)
      found += contained(i);
    EXPECT_EQ(std::to_string(found), json_field(line, "found"));
    dumps++;
  }
  EXPECT_EQ(dumps, 16);
}

// If the server refuses a dump, it is refused. If the server loads a dump, it is read, provided
// that it is a filter as the server makes them. The server takes missing chunks for zeros; we
// report them as missing.
TEST(RedisServer, HostileDumpsAreRefusedAsThere) {
  const std::vector<Bytes> chunks = read_hex_array("redisbloom_server/hostile_chunks.json");
  int refused = 0, read = 0;
  for (const std::string &line : lines_of("redisbloom_server/hostile.jsonl")) {
    const std::string name = json_field(line, "name"), which = json_field(line, "chunks");
    SCOPED_TRACE(name);
    std::vector<Bytes> dump = {from_hex(json_field(line, "header"))};
    if (which == "header as chunk")
      dump.push_back(dump[0]);
    if (which != "no chunks")
      dump.insert(dump.end(), chunks.begin(), chunks.end());
    if (which == "a chunk twice")
      dump.push_back(chunks.back());

    std::vector<Link> links;
    const bool good = read_chunks(dump, &links).text == nullptr;
    const bool loaded = json_field(line, "redisbloom_2.8.20") == "accepted";
    EXPECT_EQ(good, loaded && name != "no chunks" && name != "n2 1" && name != "n2 6");
    (good ? read : refused)++;
    for (int i = 0; good && i < 1000; i++) {
      const Digest one = digest("redis", Family::text, of_user(i));
      bool found = false;
      for (std::size_t j = 0; j < links.size(); j++)
        found |= foreign_contains(links[j].geometry, dump[j + 1].data(), one);
      EXPECT_TRUE(found) << i;
    }
  }
  EXPECT_EQ(read, 5);
  EXPECT_EQ(refused, 36);
}

// --- RedisBloom's files, written ---

Bytes written_header(const std::vector<Link> &links, const std::vector<double> &values) {
  Bytes bytes(kMaxRedisHeader);
  bytes.resize(
      write_redis(bytes.data(), links.data(), values.data(), static_cast<int>(links.size())));
  return bytes;
}
Bytes written_header(const std::vector<Link> &links) {
  return written_header(links, std::vector<double>(links.size()));
}

// The number of values in a header chunk, and then the number in each link.
std::vector<std::uint64_t> values_in(const Bytes &header) {
  std::vector<std::uint64_t> values = {load<std::uint64_t>(header.data())};
  for (std::size_t at = kRedisHead; at < header.size(); at += kRedisEntry)
    values.push_back(load<std::uint64_t>(&header[at + 16]));
  return values;
}
Bytes with_values(Bytes header, std::uint64_t value) {
  store(header.data(), value);
  store(&header[kRedisHead + 16], value);
  return header;
}

TEST(RedisServer, SizesAreThoseOfNonscalingFilters) {
  int sizes = 0;
  for (const std::vector<std::string> &row : read_table("redisbloom_nonscaling/sizes.tsv")) {
    SCOPED_TRACE(row[0] + ", " + row[1]);
    const double error = std::stod(row[0]);
    const std::uint64_t capacity = std::stoull(row[1]);
    Geometry geometry;
    ASSERT_TRUE(size_foreign(Layout::redis, capacity, error, &geometry));
    EXPECT_EQ(std::to_string(geometry.bytes()), row[2]);
    EXPECT_EQ(std::to_string(geometry.bits()), row[3]);
    EXPECT_EQ(std::to_string(geometry.k), row[5]);
    const Bytes header = written_header({{geometry, 0, {capacity, error}}});
    EXPECT_EQ(bits_double(load<std::uint64_t>(&header[kRedisHead + 32])), std::stod(row[4]));
    sizes++;
  }
  EXPECT_EQ(sizes, 21 * 13 + 5);
  Geometry geometry = {Layout::lines, 1, 1};
  EXPECT_TRUE(size_foreign(Layout::redis, 448000000, 0.01, &geometry));
  EXPECT_FALSE(size_foreign(Layout::redis, 449000000, 0.01, &geometry));
  EXPECT_FALSE(size_foreign(Layout::redis, kMaxBits, 0.5, &geometry));
  EXPECT_FALSE(size_foreign(Layout::redis, ~std::uint64_t{0}, 1e-9, &geometry));
}

// The bytes equal the server's own, except for the number of values. We write an estimate of the
// number of values added. The server counts the values that set a bit.
TEST(RedisServer, NonscalingFiltersAreRebuilt) {
  int dumps = 0;
  for (const std::string &line : lines_of("redisbloom_nonscaling/manifest.jsonl")) {
    const std::string file = json_field(line, "file"), values = json_field(line, "values");
    SCOPED_TRACE(file);
    const std::vector<Bytes> dump = read_hex_array("redisbloom_nonscaling/" + file);
    ASSERT_EQ(dump.size(), 2U);
    Link link = {
        {}, 0, {std::stoull(json_field(line, "capacity")), std::stod(json_field(line, "error"))}};
    ASSERT_TRUE(
        size_foreign(Layout::redis, link.capacity.values, link.capacity.rate, &link.geometry));
    std::vector<Digest> digests;
    for (std::int64_t i = 0; i < std::stoll(json_field(line, "items")); i++)
      digests.push_back(digest("redis", Family::string, value_of(values, i)));
    const Bytes bitmap = with_digests(link.geometry, digests);
    EXPECT_EQ(bitmap, dump[1]);

    const std::uint64_t counted = std::stoull(json_field(line, "counted"));
    EXPECT_EQ(values_in(dump[0]), (std::vector<std::uint64_t>{counted, counted}));
    EXPECT_EQ(written_header({link}, {static_cast<double>(counted)}), dump[0]);
    const double estimate =
        estimate_count(link.geometry, count_set(best_kernel(), bitmap.data(), bitmap.size()));
    const Bytes header = written_header({link}, {estimate});
    EXPECT_EQ(with_values(header, counted), dump[0]);
    const auto most =
        static_cast<double>(std::min<std::uint64_t>(digests.size(), link.capacity.values));
    EXPECT_NEAR(static_cast<double>(values_in(header)[0]), most, 0.1 * most);
    dumps++;
  }
  EXPECT_EQ(dumps, 11);
}

TEST(Redis, NumbersOfValuesAreRoundedAndNoMoreThanTheCapacity) {
  const Link small = {{Layout::redis, 7, 2}, 0, {10, 0.01}};
  const Link large = {{Layout::redis, 7, 20}, 0, {100, 0.01}};
  const auto values = [&](double first, double second) {
    return values_in(written_header({small, large}, {first, second}));
  };
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(values(0, 0), (Numbers{0, 0, 0}));
  EXPECT_EQ(values(0.49, 99.51), (Numbers{100, 0, 100}));
  EXPECT_EQ(values(9.5, 3.4), (Numbers{13, 10, 3}));
  EXPECT_EQ(values(10.6, 101), (Numbers{110, 10, 100}));
  EXPECT_EQ(values(kInfinity, 1e300), (Numbers{110, 10, 100}));
}

// A single link does not scale. The options of several links say that they do.
TEST(Redis, SeveralLinksScale) {
  const Link link = {{Layout::redis, 7, 20}, 0, {100, 0.01}};
  for (std::size_t count = 1; count <= static_cast<std::size_t>(kMaxLinks); count++) {
    const Bytes header = written_header(std::vector<Link>(count, link));
    EXPECT_EQ(header.size(), kRedisHead + count * kRedisEntry);
    EXPECT_EQ(load<std::uint32_t>(&header[8]), count);
    EXPECT_EQ(load<std::uint32_t>(&header[12]), count == 1 ? 13U : 5U);
    EXPECT_EQ(load<std::uint32_t>(&header[16]), 2U);
  }
}

// Dumps of filters that scale are read back as well, with the capacity and the rate of each link.
TEST(Redis, LinksAreReadBack) {
  for (const RedisGolden &golden : kRedisGoldens) {
    SCOPED_TRACE(golden.name);
    const Dump dump = read_dump(golden.name);
    std::vector<double> values;
    for (std::size_t i = 0; i < dump.links.size(); i++)
      values.push_back(static_cast<double>(
          load<std::uint64_t>(&dump.header[kRedisHead + i * kRedisEntry + 16])));
    Bytes header = written_header(dump.links, values);
    // The links do not say whether a single one was made to scale.
    EXPECT_EQ(header[12], golden.capacities.size() == 1 ? 13 : dump.header[12]);
    header[12] = dump.header[12];
    EXPECT_EQ(header, dump.header);
  }
}

// Whatever a link is, both RedisBloom and we can read what is written for it, because its k follows
// from its bits per value.
TEST(Redis, EveryLinkIsReadBack) {
  for (int k = 1; k <= kMaxForeignK; k++)
    for (const std::uint32_t units : {1U, 2U, 1000U, 1U << 26})
      for (const Capacity &capacity :
           {Capacity{}, Capacity{1, kMinRate}, Capacity{kMaxBits, kMaxRate},
            Capacity{1000, std::exp2(-k)}}) {
        SCOPED_TRACE(std::to_string(k) + ", " + std::to_string(units));
        if (capacity.is_known() && !rate_in_range(capacity.rate))
          continue;
        const Link link = {
            {Layout::redis, static_cast<std::uint8_t>(k), units}, kFlagSelfSized, capacity};
        const Bytes header = written_header({link}, {1e6});
        std::vector<Link> links;
        ASSERT_EQ(read_header(header, &links).text, nullptr);
        EXPECT_EQ(links[0].geometry, link.geometry);
        EXPECT_GE(load<std::uint64_t>(&header[kRedisHead + 44]), 1U);
        if (capacity.is_known()) {
          EXPECT_EQ(links[0].capacity.values, capacity.values);
          EXPECT_EQ(links[0].capacity.rate, capacity.rate);
        }
      }
}

// If the capacity is unknown, a capacity is written for which RedisBloom would have made these
// bits.
TEST(Redis, UnknownCapacitiesSuitTheBits) {
  const Bytes header = written_header({{{Layout::redis, 7, 150}, kFlagSelfSized, {}}});
  const double error = bits_double(load<std::uint64_t>(&header[kRedisHead + 24]));
  EXPECT_NEAR(error, 1 / 90.5, 1e-4);
  const auto capacity = load<std::uint64_t>(&header[kRedisHead + 44]);
  EXPECT_EQ(capacity, 1023U); // 9600 bits, 9.38 each
  Geometry geometry;
  ASSERT_TRUE(size_foreign(Layout::redis, capacity, error, &geometry));
  EXPECT_EQ(geometry, (Geometry{Layout::redis, 7, 150}));
}

// As a value of several links, a dump finds every member. It finds no more values than RedisBloom
// finds.
TEST(Redis, DumpsAreValuesOfLinks) {
  const Dump dump = read_dump("reserve_0.01_100_user_0_999_scaled");
  const auto count = static_cast<std::uint32_t>(dump.links.size());
  Header header = {{Layout::redis, 0, 0}, {Family::string, 0}, 0, {}, kFlagChain, count}, read;
  Bytes payload(header.head_bytes());
  write_header(payload.data(), header);
  for (std::size_t i = 0; i < count; i++)
    write_link(payload.data(), static_cast<int>(i), dump.links[i]);
  thrift::append(&payload, dump.chunks);
  const Finding finding = validate(payload.data(), payload.size(), &read);
  ASSERT_TRUE(finding.ok()) << finding.text;

  int found = 0;
  for (int i = 0; i < 101000; i++)
    found += links_contain(best_kernel(), payload.data(), read,
                           digest("redis", Family::text, of_user(i)));
  EXPECT_EQ(found, 1000 + 898);
}

} // namespace
} // namespace bloomfilter
