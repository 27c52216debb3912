// Tests the hashes of other systems, for every type of value that their layouts know.

#include <set>

#include "unit/foreign.hpp"

namespace bloomfilter {
namespace {

TEST(Digest, IsGuavasMurmur3) {
  int vectors = 0;
  for (const auto &row : read_table("guava/murmur3_128_vectors.tsv")) {
    ASSERT_EQ(row.size(), 3U);
    const Bytes input = from_hex(row[0]), output = from_hex(row[1]);
    ASSERT_EQ(output.size(), 16U);
    SCOPED_TRACE(row[0]);
    for (const char *scheme : {"guava", "guava_mitz32"}) {
      const Digest found = digest(scheme, Family::bytea, input);
      EXPECT_EQ(found.first, load<std::uint64_t>(&output[0]));
      EXPECT_EQ(found.second, load<std::uint64_t>(&output[8]));
      EXPECT_EQ(static_cast<std::int64_t>(found.first), std::stoll(row[2]));
    }
    vectors++;
  }
  EXPECT_EQ(vectors, 41);
}

TEST(Digest, IsParquetsXxh64) {
  int vectors = 0;
  for (const auto &row : read_table("parquet/xxh64_seed0_looping_bytes.tsv")) {
    ASSERT_EQ(row.size(), 3U);
    Bytes input;
    for (int i = 0; i < std::stoi(row[0]); i++)
      input.push_back(static_cast<std::uint8_t>(i));
    const Digest found = digest("parquet", Family::bytea, input);
    EXPECT_EQ(found.first, std::stoull(row[2], nullptr, 16)) << row[0];
    EXPECT_EQ(static_cast<std::int64_t>(found.first), std::stoll(row[1])) << row[0];
    vectors++;
  }
  EXPECT_EQ(vectors, 32);
}

TEST(Digest, IsOfUtf16InGuavaChars) {
  struct {
    const char *utf8, *utf16; // hexadecimal; UTF-16 as numbers
  } static const kCases[] = {
      {"", ""},
      {"41", "0041"},
      {"00", "0000"},
      {"7f", "007f"},
      {"c280", "0080"},
      {"dfbf", "07ff"},
      {"e0a080", "0800"},
      {"ed9fbf", "d7ff"},
      {"ee8080", "e000"},
      {"efbfbf", "ffff"},
      {"f0908080", "d800dc00"},
      {"f09f9880", "d83dde00"},
      {"f48fbfbf", "dbffdfff"},
      {"61c3a9e282acf09d849e7a", "006100e920acd834dd1e007a"},
      // A single byte that is not UTF-8.
      {"80", "fffd"},
      {"41bf42", "0041fffd0042"},
      {"c3", "fffd"},
      {"c341", "fffd0041"},
      {"c2c280", "fffd0080"},
      {"e2", "fffd"},
      {"e241", "fffd0041"},
      {"f041", "fffd0041"},
      {"ff", "fffd"},
      {"c080", "fffdfffd"},
      {"f5808080", "fffdfffdfffdfffd"},
      {"f8888080", "fffdfffdfffdfffd"},
  };
  for (const auto &one : kCases) {
    SCOPED_TRACE(one.utf8);
    Bytes utf16 = from_hex(one.utf16);
    for (std::size_t i = 0; i < utf16.size(); i += 2)
      std::swap(utf16[i], utf16[i + 1]);
    for (const char *scheme : {"guava_chars", "guava_chars_mitz32"})
      EXPECT_EQ(text_of(digest(scheme, Family::text, from_hex(one.utf8))), hashed(scheme, utf16));
  }
}

// The result of `new String(bytes, UTF_8)` of OpenJDK 17. A truncated sequence gives one U+FFFD. An
// overlong encoding, or one with too large a number, gives one for each byte.
TEST(Digest, OfBrokenUtf8IsJavas) {
  struct {
    const char *utf8, *utf16;
  } static const kCases[] = {
      {"e282", "fffd"},
      {"e28241", "fffd0041"},
      {"e282e282ac", "fffd20ac"},
      {"f09f", "fffd"},
      {"f09f98", "fffd"},
      {"f09f41", "fffd0041"},
      {"f09f9841", "fffd0041"},
      {"e08080", "fffdfffdfffd"},
      {"e09f80", "fffdfffdfffd"},
      {"f0808080", "fffdfffdfffdfffd"},
      {"f08f8080", "fffdfffdfffdfffd"},
      {"f4908080", "fffdfffdfffdfffd"},
      {"eda0", "fffd"},
      {"eda041", "fffd0041"},
      {"eda080", "fffd"},
      {"edbfbf", "fffd"},
      {"eda080edb080", "fffdfffd"},
  };
  for (const auto &one : kCases) {
    SCOPED_TRACE(one.utf8);
    Bytes utf16 = from_hex(one.utf16);
    for (std::size_t i = 0; i < utf16.size(); i += 2)
      std::swap(utf16[i], utf16[i + 1]);
    EXPECT_EQ(text_of(digest("guava_chars", Family::text, from_hex(one.utf8))),
              hashed("guava_chars", utf16));
  }
}

// The scratch has room for the longest text that any byte can become.
TEST(Digest, OfUtf16StaysInItsScratch) {
  for (const std::uint8_t byte : {0x41, 0x80, 0xC3, 0xE2, 0xF0, 0xFF})
    for (std::size_t length = 0; length < 100; length++) {
      const Encoded value = encoded("guava_chars", Family::text, Bytes(length, byte));
      EXPECT_EQ(value.outcome, Encoded::values);
    }
}

TEST(Digest, OfTextInOtherLayoutsIsOfItsBytes) {
  const Bytes text = bytes_of("gr\xC3\xBC\xC3\x9F");
  for (const char *scheme :
       {"guava", "guava_mitz32", "parquet", "redis", "spark", "spark_v2", "datasketches", "hive"})
    EXPECT_EQ(text_of(digest(scheme, Family::text, text)), hashed(scheme, text));
}

TEST(Digest, OfIntegersIsOfEightBytes) {
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1},
                                    std::int64_t{1} << 40, INT64_MIN, INT64_MAX})
    for (const char *scheme :
         {"guava", "guava_mitz32", "parquet", "spark", "spark_v2", "datasketches"})
      EXPECT_EQ(text_of(digest(scheme, Family::integer, of_integer(number))),
                hashed(scheme, of_integer(number)))
          << number;
}

TEST(Digest, OfIntegersOf32BitsIsOfFourBytes) {
  for (const char *scheme : {"guava_integer", "guava_integer_mitz32", "parquet_int32"}) {
    SCOPED_TRACE(scheme);
    for (const std::int64_t number : {0, 1, -1, 258, -129, INT32_MIN, INT32_MAX}) {
      const auto bits = static_cast<std::uint32_t>(number);
      const Bytes bytes = {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8),
                           static_cast<std::uint8_t>(bits >> 16),
                           static_cast<std::uint8_t>(bits >> 24)};
      EXPECT_EQ(text_of(digest(scheme, Family::integer, of_integer(number))), hashed(scheme, bytes))
          << number;
    }
    for (const std::int64_t number : {std::int64_t{INT32_MIN} - 1, std::int64_t{UINT32_MAX} + 1,
                                      -std::int64_t{UINT32_MAX}, INT64_MIN, INT64_MAX}) {
      const Encoded value = encoded(scheme, Family::integer, of_integer(number));
      EXPECT_EQ(value.outcome, Encoded::none) << number;
      EXPECT_EQ(value.count, 0);
    }
  }
  // Unsigned columns of Parquet hash the same 4 bytes. Guava's funnel takes only an int.
  for (const std::int64_t number :
       {std::int64_t{INT32_MAX} + 1, std::int64_t{4000000000}, std::int64_t{UINT32_MAX}}) {
    EXPECT_EQ(text_of(digest("parquet_int32", Family::integer, of_integer(number))),
              text_of(digest("parquet_int32", Family::integer,
                             of_integer(number - (std::int64_t{1} << 32)))))
        << number;
    for (const char *scheme : {"guava_integer", "guava_integer_mitz32"})
      EXPECT_EQ(encoded(scheme, Family::integer, of_integer(number)).outcome, Encoded::none)
          << number;
  }
  // Dates already have 32 bits.
  const Bytes days = {0x15, 0x4D, 0, 0};
  EXPECT_EQ(text_of(digest("parquet_int32", Family::date, days)), hashed("parquet", days));
}

TEST(Digest, OfNumbersInRedisIsOfDecimalText) {
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{7}, std::int64_t{-1}, std::int64_t{10}, std::int64_t{-1000},
        std::int64_t{1234567890123456789}, INT64_MIN, INT64_MAX})
    EXPECT_EQ(text_of(digest("redis", Family::integer, of_integer(number))),
              hashed("redis", of_decimal(number)))
        << number;
}

TEST(Digest, OfFloats) {
  const auto of_float = [](float number) {
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    Bytes bytes(4);
    store(bytes.data(), bits);
    return bytes;
  };
  const auto check = [&](double number) {
    SCOPED_TRACE(number);
    EXPECT_EQ(text_of(digest("parquet", Family::floating, of_double(number))),
              hashed("parquet", of_double(number)));
    EXPECT_EQ(text_of(digest("parquet_float", Family::floating, of_double(number))),
              hashed("parquet", of_float(static_cast<float>(number))));
  };
  for (const double number : {1.5, -1.5, 16777216.0, kInfinity, -kInfinity,
                              static_cast<double>(std::numeric_limits<float>::max()),
                              static_cast<double>(std::numeric_limits<float>::denorm_min())})
    check(number);

  // If a filter has one of the two zeros, a probe for the other zero finds it, too.
  for (const double zero : {0.0, -0.0}) {
    for (const char *scheme : {"parquet", "parquet_float"}) {
      const Encoded value = encoded(scheme, Family::floating, of_double(zero));
      EXPECT_EQ(value.outcome, Encoded::values);
      ASSERT_EQ(value.count, 2);
      const bool narrow = scheme == std::string("parquet_float");
      const std::multiset<std::string> wanted = {
          hashed(scheme, narrow ? of_float(0.0F) : of_double(0.0)),
          hashed(scheme, narrow ? of_float(-0.0F) : of_double(-0.0))};
      EXPECT_EQ((std::multiset<std::string>{text_of(value.digests[0]), text_of(value.digests[1])}),
                wanted);
    }
  }
  for (const char *scheme : {"parquet", "parquet_float"})
    for (const double nan : {kNaN, -kNaN})
      EXPECT_EQ(encoded(scheme, Family::floating, of_double(nan)).outcome, Encoded::any);

  for (const double number : {0.1, 16777217.0, 1e-60, std::nextafter(1.5, 2.0)}) {
    EXPECT_EQ(encoded("parquet_float", Family::floating, of_double(number)).outcome, Encoded::none)
        << number;
    EXPECT_EQ(encoded("parquet", Family::floating, of_double(number)).outcome, Encoded::values);
  }
}

} // namespace
} // namespace bloomfilter
