// Helpers that the tests of other systems' filters share: values as canonical bytes, the digests of
// values, and golden files.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/foreign/foreign.hpp"
#include "core/format.hpp"
#include "unit/support.hpp"

namespace bloomfilter {

// For the messages of failed tests.
inline void PrintTo(const Geometry &geometry, std::ostream *out) {
  *out << "layout " << static_cast<int>(geometry.layout) << ", k " << int{geometry.k} << ", "
       << geometry.units << " units";
}

using Bytes = std::vector<std::uint8_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The scheme with this name in SQL.
inline const Scheme &scheme_named(std::string_view name) {
  for (const Scheme &scheme : kSchemes)
    if (scheme.name && scheme.name == name)
      return scheme;
  ADD_FAILURE() << "no scheme is called " << name;
  return kSchemes[0];
}

inline std::vector<Layout> foreign_layouts() {
  std::vector<Layout> layouts;
  for (const LayoutRow &row : kLayoutRows)
    if (row.system != System::ours)
      layouts.push_back(row.layout);
  return layouts;
}
inline std::vector<Scheme> foreign_schemes() {
  std::vector<Scheme> schemes;
  for (const Scheme &scheme : kSchemes)
    if (system_of(scheme.layout) != System::ours)
      schemes.push_back(scheme);
  return schemes;
}

inline std::string read_text(const std::string &name) {
  std::ifstream file(SOURCE_DIR "/test/golden/" + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

inline Bytes bytes_of(const std::string &text) {
  return Bytes(text.begin(), text.end());
}
inline Bytes read_golden(const std::string &name) {
  return bytes_of(read_text(name));
}

// The lines that are not comments, split into fields at tabs.
inline std::vector<std::vector<std::string>> read_table(const std::string &name) {
  std::vector<std::vector<std::string>> rows;
  std::stringstream content(read_text(name));
  for (std::string line; std::getline(content, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::vector<std::string> fields = {""};
    for (const char c : line) {
      if (c == '\t')
        fields.emplace_back();
      else
        fields.back() += c;
    }
    rows.push_back(fields);
  }
  return rows;
}

inline Bytes from_hex(const std::string &hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

inline std::vector<std::string> lines_of(const std::string &name) {
  std::vector<std::string> lines;
  std::stringstream text(read_text(name));
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  return lines;
}

// The part of a line of JSON that follows the name of the field `key`.
inline std::string json_after(const std::string &line, const std::string &key) {
  const std::string quoted = "\"" + key + "\":";
  const std::size_t at = line.find(quoted);
  EXPECT_NE(at, std::string::npos) << key;
  return line.substr(line.find_first_not_of(' ', at + quoted.size()));
}
// The field `key`: a string without its quotes, or a number.
inline std::string json_field(const std::string &line, const std::string &key) {
  const std::string value = json_after(line, key);
  return value[0] == '"' ? value.substr(1, value.find('"', 1) - 1)
                         : value.substr(0, value.find_first_of(",}"));
}
// The field `key` as a list of numbers, or of texts that end with a number.
inline std::set<std::int64_t> json_numbers(const std::string &line, const std::string &key) {
  const std::string value = json_after(line, key);
  std::set<std::int64_t> numbers;
  std::stringstream list(value.substr(1, value.find(']') - 1));
  for (std::string item; std::getline(list, item, ',');) {
    const std::size_t digit = item.find_first_of("0123456789");
    if (digit != std::string::npos)
      numbers.insert(std::stoll(item.substr(digit)));
  }
  return numbers;
}

// Canonical bytes, as pg/element/value_type.hpp describes them.
inline Bytes of_integer(std::int64_t number) {
  Bytes bytes(8);
  store(bytes.data(), static_cast<std::uint64_t>(number));
  return bytes;
}
inline Bytes of_double(double number) {
  Bytes bytes(8);
  store(bytes.data(), double_bits(number));
  return bytes;
}
inline Bytes of_user(std::int64_t number) {
  return bytes_of("user-" + std::to_string(number));
}
inline Bytes of_decimal(std::int64_t number) {
  return bytes_of(std::to_string(number));
}
inline Bytes of_big_endian(std::int64_t number) {
  const auto n = static_cast<std::uint32_t>(number);
  return {static_cast<std::uint8_t>(n >> 24), static_cast<std::uint8_t>(n >> 16),
          static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n)};
}

inline std::vector<Bytes> mapped(std::int64_t first, std::int64_t last,
                                 Bytes (*value)(std::int64_t)) {
  std::vector<Bytes> values;
  for (std::int64_t i = first; i <= last; i++)
    values.push_back(value(i));
  return values;
}

// The scratch has exactly the promised size, so that a sanitizer notices one byte too many.
inline Encoded encoded(const Scheme &scheme, Family family, const Bytes &canonical,
                       std::uint64_t seed = 0) {
  const std::unique_ptr<std::uint8_t[]> scratch(new std::uint8_t[scratch_bytes(canonical.size())]);
  const Bytes copy = canonical;
  const Family stored = stored_family(scheme, family);
  EXPECT_NE(stored, Family::none) << scheme.name << ", family " << static_cast<int>(family);
  return encode(scheme.layout, seed, {family, stored, copy.data(), copy.size(), scratch.get()});
}
inline Encoded encoded(const std::string &scheme, Family family, const Bytes &canonical) {
  return encoded(scheme_named(scheme), family, canonical);
}

inline Digest digest(const Scheme &scheme, Family family, const Bytes &canonical,
                     std::uint64_t seed = 0) {
  const Encoded value = encoded(scheme, family, canonical, seed);
  EXPECT_EQ(value.outcome, Encoded::values);
  EXPECT_EQ(value.count, 1);
  return value.digests[0];
}
inline Digest digest(const std::string &scheme, Family family, const Bytes &canonical) {
  return digest(scheme_named(scheme), family, canonical);
}

inline std::string text_of(const Digest &digest) {
  char text[48];
  std::snprintf(text, sizeof text, "%016llx %016llx", static_cast<unsigned long long>(digest.first),
                static_cast<unsigned long long>(digest.second));
  return text;
}

// The digest of plain bytes in the scheme's system.
inline std::string hashed(const std::string &scheme, const Bytes &bytes) {
  return text_of(digest_bytes(scheme_named(scheme).layout, 0, bytes.data(), bytes.size()));
}

inline Bytes with_digests(const Geometry &geometry, const std::vector<Digest> &digests) {
  std::vector<std::uint64_t> words;
  for (const Digest &one : digests) {
    words.push_back(one.first);
    if (digest_size(geometry.layout) == 2)
      words.push_back(one.second);
  }
  Bytes bitmap(geometry.bytes());
  foreign_add_many(geometry, bitmap.data(), words.data(), digests.size());
  return bitmap;
}

inline std::vector<Digest> digests_of(const Scheme &scheme, Family family,
                                      const std::vector<Bytes> &values) {
  std::vector<Digest> digests;
  for (const Bytes &value : values)
    digests.push_back(digest(scheme, family, value));
  return digests;
}

inline std::vector<Digest> random_digests(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<Digest> digests;
  for (std::size_t i = 0; i < count; i++) {
    const std::uint64_t first = random.next();
    digests.push_back({first, random.next()});
  }
  return digests;
}

// Item i of a list of values. The README in the directory of the golden files describes the lists.
struct ListedItems {
  Family family;
  Bytes (*item)(std::int64_t i);
};
inline ListedItems listed_items(const std::string &name) {
  const auto text = [](const char *bytes) { return bytes_of(std::string(bytes)); };
  static const std::int64_t kEdges[] = {0,         1,         -1,        127,       -128,
                                        32767,     -32768,    INT32_MAX, INT32_MIN, 1LL << 31,
                                        1LL << 32, INT64_MAX, INT64_MIN};
  using Limits = std::numeric_limits<double>;
  static const double kDoubles[] = {0.0,
                                    -kNaN,
                                    kInfinity,
                                    -kInfinity,
                                    Limits::denorm_min(),
                                    -Limits::denorm_min(),
                                    Limits::max(),
                                    -Limits::max(),
                                    0.1,
                                    1.0 / 3};
  static const std::vector<Bytes> kTexts = {
      text(""),      text("a"),       text("ab"),       text("abc"),     text("abcd"),
      text("abcde"), text("abcdefg"), text("abcdefgh"), text("naïve"),   text("日本語"),
      text("😀"),     text("Zażółć"),  text("ÿþ"),       Bytes(1000, 'x')};
  if (name == "int64")
    return {Family::integer, [](std::int64_t i) { return of_integer(i * 1000003 - 500); }};
  if (name == "edges")
    return {Family::integer, [](std::int64_t i) { return of_integer(kEdges[i]); }};
  if (name == "double")
    return {Family::floating,
            [](std::int64_t i) { return of_double(0.25 * static_cast<double>(i) - 10); }};
  if (name == "double_edges")
    return {Family::floating, [](std::int64_t i) { return of_double(kDoubles[i]); }};
  if (name == "minus_zero")
    return {Family::floating, [](std::int64_t) { return of_double(-0.0); }};
  if (name == "unicode")
    return {Family::text, [](std::int64_t i) { return kTexts[static_cast<std::size_t>(i)]; }};
  if (name == "bytes")
    return {Family::bytea, [](std::int64_t i) {
              Bytes bytes;
              for (std::int64_t j = 0; j < 1 + i % 40; j++)
                bytes.push_back(static_cast<std::uint8_t>(7 * i + 13 * j + (i >> 5)));
              return bytes;
            }};
  EXPECT_EQ(name, "string");
  return {Family::text, of_user};
}

// A file as its manifest describes it, and items as the file's system hashes them.
struct Listed {
  std::string line, file;
  const Scheme &scheme;
  std::uint64_t seed;

  std::int64_t number(const char *key) const { return std::stoll(json_field(line, key)); }
  // The digests of item i: those that are added or, if `to_probe`, those that are probed. An item
  // may have none.
  std::vector<Digest> digests(const ListedItems &items, std::int64_t i, bool to_probe) const {
    const Encoded value = encoded(scheme, items.family, items.item(i), seed);
    const int count = to_probe ? value.count : std::min(value.count, 1);
    return {value.digests, value.digests + count};
  }
  // The bitmap with all members.
  Bytes rebuilt(const Geometry &geometry) const {
    const ListedItems members = listed_items(json_field(line, "values"));
    std::vector<Digest> all;
    for (std::int64_t i = 0; i < number("n"); i++)
      for (const Digest &digest : digests(members, i, false))
        all.push_back(digest);
    return with_digests(geometry, all);
  }
  // Checks that the members are found, and exactly those strangers that the system itself finds.
  void expect_answers(const Geometry &geometry, const Bytes &bitmap) const {
    const auto is_found = [&](const ListedItems &items, std::int64_t i) {
      const std::vector<Digest> probed = digests(items, i, true);
      return probed.empty() || std::any_of(probed.begin(), probed.end(), [&](const Digest &one) {
               return foreign_contains(geometry, bitmap.data(), one);
             });
    };
    const ListedItems members = listed_items(json_field(line, "values"));
    for (std::int64_t i = 0; i < number("n"); i++)
      EXPECT_TRUE(is_found(members, i)) << i;
    const ListedItems strangers = listed_items(json_field(line, "strangers"));
    const std::int64_t from = number("from");
    std::set<std::int64_t> positives;
    for (std::int64_t i = from; i < from + number("count"); i++)
      if (is_found(strangers, i))
        positives.insert(i);
    EXPECT_EQ(positives, json_numbers(line, "false_positives"));
  }
};

inline std::vector<Listed> listed_goldens(const std::string &system) {
  std::vector<Listed> all;
  for (const std::string &line : lines_of(system + "/manifest.jsonl")) {
    const bool seeded = row_of(scheme_named(system).layout).seed_bits != 0;
    all.push_back({line, system + "/" + json_field(line, "file"), scheme_named(system),
                   seeded ? static_cast<std::uint64_t>(std::stoll(json_field(line, "seed"))) : 0});
  }
  return all;
}

// The families that filters of another system's layout can have, with values and without.
inline std::vector<Family> families_of(Layout layout) {
  switch (layout) {
  case Layout::guava:
  case Layout::guava_mitz32:
    return {Family::none,  Family::integer, Family::text,
            Family::bytea, Family::int32,   Family::utf16};
  case Layout::parquet:
    return {Family::none,      Family::integer,     Family::floating,  Family::date,
            Family::timestamp, Family::timestamptz, Family::time,      Family::string,
            Family::int32,     Family::float32,     Family::open_int32};
  case Layout::redis:
    return {Family::string};
  case Layout::datasketches:
  case Layout::hive:
    return {Family::none, Family::integer, Family::floating, Family::text, Family::bytea};
  case Layout::spark:
  case Layout::spark_v2:
    return {Family::none, Family::integer, Family::text, Family::bytea};
  default:
    ADD_FAILURE() << "layout " << static_cast<int>(layout);
    return {};
  }
}

} // namespace bloomfilter
