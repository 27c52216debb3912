// Tests that XXH3 stays XXH3. If xxHash hashed differently, every stored value would be lost.

#include "core/hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/support.hpp"

namespace bloomfilter {
namespace {

TEST(Hash, OfKnownValues) {
  EXPECT_EQ(hash_bytes("", 0, 0), 0x2D06800538D394C2); // from xxHash's own sanity tests
  EXPECT_EQ(hash_bytes("", 0, 7), 0x913AE0873E9B7EB8);
  EXPECT_EQ(hash_bytes("abc", 3, 0), 0x78AF5F94892F3950);
  EXPECT_EQ(hash_bytes("abc", 3, 7), 0x48FF56F569E39912);
  const std::uint8_t forty_two[8] = {42, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(hash_bytes(forty_two, 8, 0), 0xD5A6F8C838DF27C8);
  EXPECT_EQ(hash_bytes(forty_two, 8, 7), 0xB117E48CA46DC725);
  EXPECT_EQ(hash_integer(42, 0), 0xD5A6F8C838DF27C8);
}

// The ends of each range of lengths for which XXH3 takes a different path.
TEST(Hash, OfEveryLength) {
  static const struct {
    std::size_t length;
    std::uint64_t seed_0, seed_7, seed_max;
  } vectors[] = {
      {1, 0x8A21D78B1538B1C0, 0x4CD8AACF0E844AA6, 0x5614DBD5ADE629E6},
      {3, 0x5F1FA6D2A3AA5A3B, 0xB4F8013971E6CF06, 0x12CD6FA5257E1951},
      {4, 0xA8A9B82C81542A43, 0xA769BF40D668FC6C, 0x9E9CC4B34CF65576},
      {8, 0x67B8F67A80D308A6, 0xD9BFC6393ACF01F1, 0x028AB67B4F634E0B},
      {9, 0x7DF166798FE37670, 0xF82AF855EEC34E50, 0xB8E6369CB862F533},
      {16, 0xC0967FEE676A5837, 0xEEBF8FA52EF4F441, 0x4A7817D5FB5AABCC},
      {17, 0xBC307578D06E9D93, 0x3AB4B37AB8E612FC, 0xEB85115F03663FEF},
      {128, 0xA45617BFE9BB88D6, 0xEFC6EED80EC427F6, 0x4EA82A178C4F9088},
      {129, 0x4CA31F6B2CFD9A3E, 0x98C707F1817D0335, 0x3909246215C02D89},
      {240, 0x2817ED3CDF9547E7, 0x5807D682D3E7BB1B, 0x88A584F5FE5FC5A3},
      {241, 0x02F838DD48200EE8, 0x7BABC38AC2DBEF6B, 0xF417C89420D44EC3},
      {1000, 0xB8B188B256D63F3D, 0x22B2668844B12E31, 0xD25B706C0F3A1ECB},
      {5000, 0x4E105B8B18465DA3, 0x523201612E2EF4D2, 0x9C10F957ADB0C430},
  };
  for (const auto &vector : vectors) {
    SCOPED_TRACE(vector.length);
    std::vector<std::uint8_t> bytes(vector.length);
    for (std::size_t i = 0; i < bytes.size(); i++)
      bytes[i] = static_cast<std::uint8_t>(167 * i + 13);
    EXPECT_EQ(hash_bytes(bytes.data(), bytes.size(), 0), vector.seed_0);
    EXPECT_EQ(hash_bytes(bytes.data(), bytes.size(), 7), vector.seed_7);
    EXPECT_EQ(hash_bytes(bytes.data(), bytes.size(), ~0ULL), vector.seed_max);
  }
}

// The hash of parts is the hash of all bytes together, wherever they are cut.
TEST(Hasher, OfParts) {
  std::vector<std::uint8_t> bytes(10000);
  for (std::size_t i = 0; i < bytes.size(); i++)
    bytes[i] = static_cast<std::uint8_t>(167 * i + 13);
  for (const std::uint64_t seed : {0ULL, 7ULL, ~0ULL})
    for (std::size_t length = 0; length <= bytes.size(); length += length < 600 ? 1 : 97)
      for (const std::size_t part : {1, 3, 8, 4095, 4096, 4097, 10000}) {
        Hasher hasher(seed);
        for (std::size_t at = 0; at < length; at += part)
          hasher.add(bytes.data() + at, std::min(part, length - at));
        ASSERT_EQ(hasher.hash(), hash_bytes(bytes.data(), length, seed))
            << length << " bytes in parts of " << part << ", seed " << seed;
      }
}

// A part nested in parts. Its length precedes it, even if the buffer has no room for the part.
struct Part {
  std::size_t before, after; // bytes around the part nested in this one
};

void add_nested(Hasher *hasher, const std::vector<std::uint8_t> &bytes,
                const std::vector<Part> &parts, std::size_t depth) {
  if (depth == parts.size())
    return;
  hasher->add(bytes.data(), parts[depth].before);
  hasher->add_part([=] { add_nested(hasher, bytes, parts, depth + 1); });
  hasher->add(bytes.data(), parts[depth].after);
}

std::vector<std::uint8_t> nested(const std::vector<std::uint8_t> &bytes,
                                 const std::vector<Part> &parts, std::size_t depth) {
  if (depth == parts.size())
    return {};
  const auto at = [&](std::size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); };
  std::vector<std::uint8_t> out(at(0), at(parts[depth].before));
  const std::vector<std::uint8_t> part = nested(bytes, parts, depth + 1);
  for (int i = 0; i < 4; i++)
    out.push_back(static_cast<std::uint8_t>(part.size() >> 8 * i));
  out.insert(out.end(), part.begin(), part.end());
  out.insert(out.end(), at(0), at(parts[depth].after));
  return out;
}

TEST(Hasher, OfNestedParts) {
  std::vector<std::uint8_t> bytes(10000);
  for (std::size_t i = 0; i < bytes.size(); i++)
    bytes[i] = static_cast<std::uint8_t>(167 * i + 13);
  const std::size_t lengths[] = {0, 1, 4080, 4088, 4089, 4091, 4092, 4093, 4096, 4097, 9000};
  for (const std::size_t first : lengths)
    for (const std::size_t second : lengths)
      for (const std::size_t third : lengths) {
        const std::vector<Part> parts = {{first, 3}, {second, third}, {third, first}, {5, second}};
        Hasher hasher(7);
        add_nested(&hasher, bytes, parts, 0);
        add_nested(&hasher, bytes, parts, 1);
        std::vector<std::uint8_t> all = nested(bytes, parts, 0);
        const std::vector<std::uint8_t> more = nested(bytes, parts, 1);
        all.insert(all.end(), more.begin(), more.end());
        ASSERT_EQ(hasher.hash(), hash_bytes(all.data(), all.size(), 7))
            << first << ", " << second << ", " << third;
      }
}

// Enough parts, some of them nested, to fill the buffer many times.
TEST(Hasher, OfManyParts) {
  std::vector<std::uint8_t> all;
  Hasher hasher(7);
  for (std::uint32_t i = 0; i < 10000; i++) {
    const std::uint32_t length = i % 37;
    const std::string bytes(length, static_cast<char>(i));
    hasher.add_part([&] {
      hasher.add_number<std::uint8_t>(1);
      hasher.add_part([&] { hasher.add(&i, 2, bytes.data(), length); });
    });
    for (const std::uint32_t number : {length + 7, (length + 2) << 8 | 1})
      for (int byte = 0; byte < 4; byte++)
        all.push_back(static_cast<std::uint8_t>(number >> 8 * byte));
    all.push_back(static_cast<std::uint8_t>((length + 2) >> 24));
    const auto *head = reinterpret_cast<const std::uint8_t *>(&i);
    all.insert(all.end(), head, head + 2);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  EXPECT_EQ(hasher.hash(), hash_bytes(all.data(), all.size(), 7));
}

} // namespace
} // namespace bloomfilter
