// Tests base64: a text is either the only text of a value, or it is refused.

#include "core/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/support.hpp"

namespace bloomfilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string encode(const Bytes &bytes) {
  std::string text(encoded_length(bytes.size()), '\0');
  encode_base64(bytes.data(), bytes.size(), text.data());
  return text;
}

// Decodes into a buffer of exactly the promised size, which AddressSanitizer watches.
bool decode(const std::string &text, Bytes *bytes) {
  bytes->assign(decoded_length_limit(text.size()), 0);
  std::size_t decoded = ~std::size_t{0};
  if (!decode_base64(text.data(), text.size(), bytes->data(), &decoded))
    return false;
  EXPECT_LE(decoded, bytes->size());
  bytes->resize(decoded);
  return true;
}

Bytes bytes_of(const std::string &text) {
  return {text.begin(), text.end()};
}

TEST(Text, VectorsOfTheStandard) { // RFC 4648, section 10
  static const struct {
    const char *bytes, *text;
  } vectors[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto &vector : vectors) {
    SCOPED_TRACE(vector.text);
    EXPECT_EQ(encode(bytes_of(vector.bytes)), vector.text);
    Bytes decoded;
    ASSERT_TRUE(decode(vector.text, &decoded));
    EXPECT_EQ(decoded, bytes_of(vector.bytes));
  }
}

TEST(Text, WholeAlphabet) {
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Bytes decoded;
  ASSERT_TRUE(decode(alphabet, &decoded));
  EXPECT_EQ(decoded.front(), 0x00);
  EXPECT_EQ(decoded.back(), 0xBF);
  EXPECT_EQ(encode(decoded), alphabet);
}

TEST(Text, RoundTripOfEveryLength) {
  Random random(1);
  for (std::size_t length = 0; length <= 100; length++) {
    Bytes bytes(length), decoded;
    for (std::uint8_t &byte : bytes)
      byte = static_cast<std::uint8_t>(random.next());
    ASSERT_TRUE(decode(encode(bytes), &decoded)) << length;
    ASSERT_EQ(decoded, bytes) << length;
  }
}

TEST(Text, SkipsWhiteSpace) {
  for (const char *text : {"Zm9vYg==", " Zm9vYg==", "Zm9vYg== \n",
                           "Z m\t9\nv\rY g==", "Zm9vYg = =", "Zm9v\r\nYg==\r\n"}) {
    SCOPED_TRACE(text);
    Bytes decoded;
    ASSERT_TRUE(decode(text, &decoded));
    EXPECT_EQ(decoded, bytes_of("foob"));
  }
  Bytes decoded;
  ASSERT_TRUE(decode(" \t\r\n", &decoded));
  EXPECT_TRUE(decoded.empty());
}

TEST(Text, RefusesWhatIsNotBase64) {
  using namespace std::string_literals;
  static const struct {
    const char *defect;
    std::string text;
  } malformed[] = {
      {"one digit", "Z"},
      {"one digit in the second group", "Zm9vZ"},
      {"two digits without padding", "Zg"},
      {"two digits with half the padding", "Zg="},
      {"three digits without padding", "Zm8"},
      {"one digit padded", "Z==="},
      {"too much padding after two", "Zg==="},
      {"too much padding after three", "Zm8=="},
      {"padding after a full group", "Zm9v="},
      {"a group of padding", "===="},
      {"padding alone", "="},
      {"padding first", "=Zg="},
      {"padding in the middle", "Zg==Zm9v"},
      {"padding inside a group", "Zg=v"},
      {"unused bits after two digits", "Zh=="},
      {"the highest unused bit after two digits", "Zo=="},
      {"unused bits after three digits", "Zm9="},
      {"the highest unused bit after three digits", "Zm+="},
      {"URL alphabet, minus", "Zm-v"},
      {"URL alphabet, underscore", "Zm_v"},
      {"a zero byte", "Zm\0v"s},
      {"a zero byte at the end", "Zm9v\0"s},
      {"beyond ASCII", "Zm\xC3\xA9"},
      {"form feed", "Zm9v\f"},
      {"vertical tab", "Zm9v\v"},
      {"bytea's hexadecimal form", "\\x0101"},
  };
  for (const auto &entry : malformed) {
    Bytes decoded;
    EXPECT_FALSE(decode(entry.text, &decoded)) << entry.defect;
  }
}

// Whatever the text is, no byte is written beyond the promised limit.
TEST(Text, StaysWithinItsLimit) {
  const std::string characters = "ABab09+/==  \n*";
  constexpr std::uint8_t kGuard = 0xA5;
  Random random(2);
  int accepted = 0;
  for (int round = 0; round < 20000; round++) {
    std::string text(round % 24, ' ');
    for (char &c : text)
      c = characters[random.next() % characters.size()];
    Bytes buffer(decoded_length_limit(text.size()) + 8, kGuard);
    std::size_t decoded = 0;
    if (decode_base64(text.data(), text.size(), buffer.data(), &decoded)) {
      accepted++;
      ASSERT_LE(decoded, decoded_length_limit(text.size())) << text;
    }
    ASSERT_EQ(std::count(buffer.end() - 8, buffer.end(), kGuard), 8) << text;
  }
  EXPECT_GT(accepted, 1000); // good and bad texts were both tried
}

// Decoding a large filter's text takes seconds, so there is a check in every megabyte.
TEST(Text, ChecksForInterrupts) {
  static int checks;
  std::vector<std::uint8_t> bytes(5 * kBytesBetweenChecks);
  std::vector<char> text(encoded_length(bytes.size()));
  checks = 0;
  encode_base64(bytes.data(), bytes.size(), text.data(), [] { checks++; });
  EXPECT_GE(checks, 5);
  std::size_t decoded;
  checks = 0;
  EXPECT_TRUE(decode_base64(text.data(), text.size(), bytes.data(), &decoded, [] { checks++; }));
  EXPECT_GE(checks, 6);
  EXPECT_EQ(decoded, bytes.size());
}

} // namespace
} // namespace bloomfilter
