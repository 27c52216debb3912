// Hive's BloomKFilter (org.apache.hive.common.util; Murmur3), which Druid has, too. See file.hpp
// for its files.
//
// It has a hash of 64 bits: over integers and doubles as 8 big-endian bytes, text as UTF-8, and
// bytea as it is. All NaN are one value.
//
// A value's bits are in one block of 8 words of 64 bits. Let a and b be the low and high half of
// the hash. The block is (c, or ~c if it is negative) mod blocks, with c = a + b in 32 bits. Each i
// from 2 to k + 1 sets a bit. With c = a + i b, or ~c if that is negative, it is bit (c >> 3) mod
// 64 of word c mod 8.

#include "core/foreign/file.hpp"

#include "core/bytes.hpp"
#include "core/foreign/flat.hpp"
#include "core/murmur3.hpp"

namespace bloomfilter {
namespace {

inline std::uint64_t rotate(std::uint64_t x, int bits) {
  return x << bits | x >> (64 - bits);
}

// Half of MurmurHash3 x64 128 (A. Appleby, public domain): one of its two states takes all words.
std::uint64_t hive_murmur3(const std::uint8_t *bytes, std::size_t length) {
  constexpr std::uint64_t kSeed = 104729;
  std::uint64_t h = kSeed;
  const auto mix = [&h](std::uint64_t word) {
    h ^= rotate(word * 0x87C37B91114253D5, 31) * 0x4CF5AD432745937F;
  };
  const std::uint8_t *const tail = bytes + length / 8 * 8;
  for (; bytes < tail; bytes += 8) {
    mix(load<std::uint64_t>(bytes));
    h = rotate(h, 27) * 5 + 0x52DCE729;
  }
  if (length % 8 != 0)
    mix(load_first(tail, length % 8));
  return mix64(h ^ length);
}

Digest digest(std::uint64_t, const std::uint8_t *bytes, std::size_t length) {
  return {hive_murmur3(bytes, length), 0};
}

Digest digest_of_number(std::uint64_t number, std::uint8_t *scratch) {
  store(scratch, __builtin_bswap64(number));
  return digest(0, scratch, sizeof number);
}

// Encodes a number. A zero is added with its own sign. A probe looks for both zeros.
Encoded encode_number(std::uint64_t, const ForeignValue &value) {
  constexpr std::uint64_t kNaN = 0x7FF8000000000000, kSign = 1ULL << 63;
  const std::uint64_t bits = load<std::uint64_t>(value.bytes);
  if (value.family != Family::floating)
    return encoded_as(digest_of_number(bits, value.scratch));
  const double number = bits_double(bits);
  if (number != number)
    return encoded_as(digest_of_number(kNaN, value.scratch));
  Encoded encoded = encoded_as(digest_of_number(bits, value.scratch));
  if (number == 0)
    encoded.digests[encoded.count++] = digest_of_number(bits ^ kSign, value.scratch);
  return encoded;
}

struct HiveIndices {
  template <typename Use>
  [[gnu::always_inline]] static void for_each(const Geometry &geometry, const Digest &digest,
                                              Use use) {
    const auto step = static_cast<std::uint32_t>(digest.first >> 32);
    std::uint32_t c = static_cast<std::uint32_t>(digest.first) + step;
    const auto positive = [&c] { return c >> 31 ? ~c : c; };
    const std::uint64_t block = std::uint64_t{positive() % geometry.units} * kLineBits;
    for (int i = 0; i < geometry.k; i++) {
      c += step;
      use(block + (positive() & 7) * 64 + (positive() >> 3 & 63));
    }
  }
};

// BloomKFilter's size. It takes the whole words of floor(-n ln(rate) / ln(2)^2) bits and 1 to 8
// words more, up to a whole block. It has round(bits / n ln(2)) hash functions. Hive itself has
// only the rate 0.05, which is a float.
bool size_hive(Layout layout, std::uint64_t expected, double rate, Geometry *geometry) {
  const auto n = static_cast<double>(expected);
  const double log2 = std::log(2.0), precise = static_cast<float>(rate);
  const double bits = std::floor(-n * std::log(precise) / (log2 * log2));
  const double k = std::max(1.0, std::floor(bits / n * log2 + 0.5));
  const double blocks = std::floor(std::ceil(bits / 64) / 8) + 1;
  if (blocks * kLineBits > static_cast<double>(kMaxBits))
    return false;
  *geometry = {layout, static_cast<std::uint8_t>(k), static_cast<std::uint32_t>(blocks)};
  return true;
}

} // namespace

const ForeignSystem kHive = flat_system<HiveIndices>(families(Family::text, Family::bytea), 0,
                                                     digest, encode_number, size_hive);

Finding read_hive(const std::uint8_t *bytes, std::size_t length, FoundFilter *found) {
  constexpr std::uint32_t kWordsOfBlock = kLineBits / 64;
  if (length < kHiveHead)
    return {"the number of bytes is too small for a head: %lld, not %llu", length, kHiveHead};
  if (!is_possible_k(Layout::hive, bytes[0]))
    return {"the number of hash functions is not 1 to 127: %lld", bytes[0]};
  const std::uint32_t words = load_big(bytes + 1);
  if (words % kWordsOfBlock != 0)
    return {"the number of words is not a multiple of 8: %lld", words};
  *found = {{Layout::hive, bytes[0], words / kWordsOfBlock}, kHiveHead};
  return check_words(words, length - kHiveHead);
}

void write_hive_head(std::uint8_t *bytes, const Geometry &geometry) {
  bytes[0] = geometry.k;
  store_big(bytes + 1, static_cast<std::uint32_t>(geometry.bytes() / kWordBytes));
}

} // namespace bloomfilter
