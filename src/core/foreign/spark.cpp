// Spark's BloomFilter (org.apache.spark.util.sketch). BloomFilterImpl of Spark 2.0 to 4.0 is
// version 1, and BloomFilterImplV2 of Spark 4.1 is version 2. See file.hpp for their files.
//
// It has a hash of 32 bits: over integers as 8 bytes, text as UTF-8, and bytea as it is. The digest
// is h1, the hash with the filter's seed, and h2, the hash with h1 as its seed. For i = 1 ... k, a
// position is (c, or ~c if it is negative) mod bits, where
//
//   spark      c = h1 + i h2, in 32 bits
//   spark_v2   c = h1 (2^31 - 1) + i h2, in 64 bits, with h1 and h2 as signed numbers

#include "core/foreign/file.hpp"

#include "core/bytes.hpp"
#include "core/foreign/flat.hpp"

namespace bloomfilter {
namespace {

inline std::uint32_t rotate(std::uint32_t x, int bits) {
  return x << bits | x >> (32 - bits);
}

// MurmurHash3 x86 32 (A. Appleby, public domain) with a different end: the last one to three bytes
// are mixed in one by one, like words, with their signs.
std::uint32_t spark_murmur3(const std::uint8_t *bytes, std::size_t length, std::uint32_t seed) {
  std::uint32_t h = seed;
  const auto mix = [&h](std::uint32_t word) {
    h ^= rotate(word * 0xCC9E2D51, 15) * 0x1B873593;
    h = rotate(h, 13) * 5 + 0xE6546B64;
  };
  const std::uint8_t *const end = bytes + length, *const tail = end - length % 4;
  for (; bytes < tail; bytes += 4)
    mix(load<std::uint32_t>(bytes));
  for (; bytes < end; bytes++)
    mix(static_cast<std::uint32_t>(static_cast<std::int8_t>(*bytes)));
  h ^= static_cast<std::uint32_t>(length);
  h = (h ^ h >> 16) * 0x85EBCA6B;
  h = (h ^ h >> 13) * 0xC2B2AE35;
  return h ^ h >> 16;
}

Digest digest(std::uint64_t seed, const std::uint8_t *bytes, std::size_t length) {
  const std::uint32_t first = spark_murmur3(bytes, length, static_cast<std::uint32_t>(seed));
  return {first, spark_murmur3(bytes, length, first)};
}

// The low half as a signed number, extended to 64 bits.
inline std::uint64_t sign_extended(std::uint64_t half) {
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(half)});
}

struct SparkIndices {
  template <typename Use>
  [[gnu::always_inline]] static void for_each(const Geometry &geometry, const Digest &digest,
                                              Use use) {
    const std::uint64_t bits = geometry.bits();
    if (geometry.layout == Layout::spark) {
      auto c = static_cast<std::uint32_t>(digest.first);
      for (int i = 0; i < geometry.k; i++) {
        c += static_cast<std::uint32_t>(digest.second);
        use((c >> 31 ? ~c : c) % bits);
      }
      return;
    }
    std::uint64_t c = sign_extended(digest.first) * 0x7FFFFFFF;
    for (int i = 0; i < geometry.k; i++) {
      c += sign_extended(digest.second);
      use((c >> 63 ? ~c : c) % bits);
    }
  }
};

} // namespace

const ForeignSystem kSpark =
    flat_system<SparkIndices>(kPlainFamilies, 0, digest, nullptr, size_flat);

Finding read_spark(const std::uint8_t *bytes, std::size_t length, FoundFilter *found) {
  constexpr std::size_t kLeastHead = 12;
  if (length < kLeastHead)
    return {"the number of bytes is too small for a head: %lld, not %llu", length, kLeastHead};
  const std::uint32_t version = load_big(bytes);
  if (version != 1 && version != 2)
    return {"the version is neither 1 nor 2: %lld", version};
  const std::size_t head = version == 1 ? kLeastHead : 16;
  if (length < head)
    return {"the number of bytes is too small for a head: %lld, not %llu", length, head};
  const std::uint32_t k = load_big(bytes + 4), words = load_big(bytes + head - 4);
  if (k == 0 || k > kMaxForeignK)
    return {kForeignKOutOfRange, k};
  found->seed = version == 1 ? 0 : sign_extended(load_big(bytes + 8));
  found->geometry = {version == 1 ? Layout::spark : Layout::spark_v2, static_cast<std::uint8_t>(k),
                     words};
  found->offset = head;
  return check_words(words, length - head);
}

std::size_t write_spark_head(std::uint8_t *bytes, const Geometry &geometry, std::uint64_t seed) {
  const bool first = geometry.layout == Layout::spark;
  store_big(bytes, first ? 1 : 2);
  store_big(bytes + 4, geometry.k);
  store_big(bytes + 8, static_cast<std::uint32_t>(seed));
  const std::size_t head = first ? 12 : 16;
  store_big(bytes + head - 4, geometry.units);
  return head;
}

} // namespace bloomfilter
