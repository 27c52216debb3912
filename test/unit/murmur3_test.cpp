// Tests that MurmurHash3 gives the reference's hash for every length and seed. Guava's filters
// depend on it.

#include "core/murmur3.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "unit/support.hpp"

#ifdef HAVE_LIBMURMURHASH
#include <murmurhash.h>
#endif

namespace bloomfilter {
namespace {

// Hashes a copy that ends where the bytes end, so that a sanitizer notices one byte too many.
Murmur3 hash_of(const std::vector<std::uint8_t> &bytes, std::size_t length, std::uint32_t seed) {
  const std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[length]);
  std::copy_n(bytes.begin(), length, copy.get());
  return murmur3(copy.get(), length, seed);
}

// SMHasher's own check. It hashes no bytes, {0}, {0, 1} … up to 255 bytes, with the seeds 256, 255
// … 1. Then it hashes all these hashes once more. The first 32 bits of the result are published
// with the function.
TEST(Murmur3, IsTheReferences) {
  std::vector<std::uint8_t> key, hashes(256 * 16);
  for (std::size_t length = 0; length < 256; length++) {
    const Murmur3 hash = hash_of(key, length, static_cast<std::uint32_t>(256 - length));
    store(&hashes[length * 16], hash.first);
    store(&hashes[length * 16 + 8], hash.second);
    key.push_back(static_cast<std::uint8_t>(length));
  }
  EXPECT_EQ(static_cast<std::uint32_t>(hash_of(hashes, hashes.size(), 0).first), 0x6384BA69);
}

TEST(Murmur3, OfNothingIsItsSeedMixed) {
  EXPECT_EQ(murmur3(nullptr, 0, 0).first, 0U);
  EXPECT_EQ(murmur3(nullptr, 0, 0).second, 0U);
  EXPECT_EQ(murmur3(nullptr, 0, 5).first, mix64(10) + mix64(15));
  EXPECT_EQ(murmur3(nullptr, 0, 5).second, mix64(10) + 2 * mix64(15));
}

TEST(Murmur3, IsLibmurmurhashs) {
#ifdef HAVE_LIBMURMURHASH
  Random random(1);
  std::vector<std::uint8_t> bytes(300);
  for (std::uint8_t &byte : bytes)
    byte = static_cast<std::uint8_t>(random.next());
  for (std::size_t length = 0; length <= bytes.size(); length++)
    for (const std::uint32_t seed : {0U, 1U, 0x80000000U, ~0U}) {
      std::uint64_t theirs[2];
      lmmh_x64_128(bytes.data(), static_cast<unsigned>(length), seed, theirs);
      const Murmur3 ours = hash_of(bytes, length, seed);
      EXPECT_EQ(ours.first, theirs[0]) << length << " bytes, seed " << seed;
      EXPECT_EQ(ours.second, theirs[1]) << length << " bytes, seed " << seed;
    }
#else
  GTEST_SKIP() << "libmurmurhash is not installed";
#endif
}

} // namespace
} // namespace bloomfilter
