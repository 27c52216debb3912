// What the tests of other systems' filters share: values as canonical bytes, their digests, golden
// files.
#ifndef BLOOMFILTER_TEST_UNIT_FOREIGN_HPP
#define BLOOMFILTER_TEST_UNIT_FOREIGN_HPP

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/digest.hpp"
#include "core/foreign.hpp"
#include "core/format.hpp"
#include "unit/support.hpp"

namespace bloomfilter {

// For failures' messages.
inline void PrintTo(const Geometry &geometry, std::ostream *out) {
  *out << "layout " << static_cast<int>(geometry.layout) << ", k " << int{geometry.hashes} << ", "
       << geometry.units << " units";
}
inline void PrintTo(Status status, std::ostream *out) {
  *out << "status " << static_cast<int>(status);
}

using Bytes = std::vector<std::uint8_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr Layout kGuavaLayouts[] = {
    Layout::guava,        Layout::guava_integer,        Layout::guava_chars,
    Layout::guava_mitz32, Layout::guava_integer_mitz32, Layout::guava_chars_mitz32};
constexpr Layout kParquetLayouts[] = {Layout::parquet, Layout::parquet_int32,
                                      Layout::parquet_float};

inline std::vector<Layout> foreign_layouts() {
  std::vector<Layout> layouts;
  for (int number = static_cast<int>(Layout::guava); number <= static_cast<int>(kLastBloomLayout);
       number++)
    layouts.push_back(static_cast<Layout>(number));
  return layouts;
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

// Lines that are not comments, as fields between tabs.
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

// Canonical bytes, as pg/element.hpp describes them.
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

// With memory of just the promised size, so that a sanitizer sees a byte too many.
inline Encoded encoded(Layout layout, Family family, const Bytes &canonical) {
  const std::unique_ptr<std::uint8_t[]> scratch(new std::uint8_t[scratch_bytes(canonical.size())]);
  const Bytes copy = canonical;
  return encode(layout, family, copy.data(), copy.size(), scratch.get());
}

inline Digest digest(Layout layout, Family family, const Bytes &canonical) {
  const Encoded value = encoded(layout, family, canonical);
  EXPECT_EQ(value.kind, Encoded::values);
  EXPECT_EQ(value.count, 1);
  return value.digests[0];
}

inline std::string text_of(const Digest &digest) {
  char text[48];
  std::snprintf(text, sizeof text, "%016llx %016llx", static_cast<unsigned long long>(digest.first),
                static_cast<unsigned long long>(digest.second));
  return text;
}

// The digest of plain bytes in the same system.
inline std::string hashed(Layout layout, const Bytes &bytes) {
  const Layout plain = is_parquet(layout)        ? Layout::parquet
                       : layout == Layout::redis ? Layout::redis
                       : is_mitz32(layout)       ? Layout::guava_mitz32
                                                 : Layout::guava;
  return text_of(digest(plain, Family::bytea, bytes));
}

inline Bytes with_digests(const Geometry &geometry, const std::vector<Digest> &digests) {
  std::vector<std::uint64_t> words;
  for (const Digest &one : digests) {
    words.push_back(one.first);
    if (digest_words(geometry.layout) == 2)
      words.push_back(one.second);
  }
  Bytes bitmap(geometry.bytes());
  foreign_add_many(geometry, bitmap.data(), words.data(), digests.size());
  return bitmap;
}

inline std::vector<Digest> digests_of(Layout layout, Family family,
                                      const std::vector<Bytes> &values) {
  std::vector<Digest> digests;
  for (const Bytes &value : values)
    digests.push_back(digest(layout, family, value));
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

// The families that a layout keeps, each with the one that it keeps it under.
struct Kept {
  Family family, as;
};
inline std::vector<Kept> kept_families(Layout layout) {
  const Kept none = {Family::none, Family::none}, integer = {Family::integer, Family::integer};
  switch (layout) {
  case Layout::guava:
  case Layout::guava_mitz32:
    return {none, integer, {Family::text, Family::text}, {Family::bytea, Family::bytea}};
  case Layout::guava_integer:
  case Layout::guava_integer_mitz32:
    return {none, integer};
  case Layout::guava_chars:
  case Layout::guava_chars_mitz32:
    return {none, {Family::text, Family::text}};
  case Layout::parquet:
    return {none,
            integer,
            {Family::floating, Family::floating},
            {Family::text, Family::string},
            {Family::bytea, Family::string},
            {Family::uuid, Family::string},
            {Family::timestamp, Family::timestamp},
            {Family::timestamptz, Family::timestamptz},
            {Family::time, Family::time},
            {Family::string, Family::string}};
  case Layout::parquet_int32:
    return {none, integer, {Family::date, Family::date}};
  case Layout::parquet_float:
    return {none, {Family::floating, Family::floating}};
  case Layout::redis:
    return {none,
            {Family::integer, Family::string},
            {Family::text, Family::string},
            {Family::bytea, Family::string},
            {Family::string, Family::string}};
  default: {
    std::vector<Kept> own;
    for (int number = 0; number < static_cast<int>(Family::string); number++)
      own.push_back({static_cast<Family>(number), static_cast<Family>(number)});
    return own;
  }
  }
}

} // namespace bloomfilter

#endif
