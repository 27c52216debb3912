// Guava's BloomFilter (31.1; Funnels, BloomFilterStrategies). See file.hpp for its files.
//
// It hashes with MurmurHash3 x64 128 and seed 0, over the bytes that a funnel makes. Integers have
// 8 bytes, or 4 in Family::int32. Text is UTF-8, or UTF-16 in Family::utf16. Bytea is taken as it
// is. The positions of a value follow from the two numbers of its digest:
//
//   guava          c = first; k times: index (c mod 2^63) mod bits; c += second
//   guava_mitz32   a, b = low and high half of first; for i = 1 ... k, in 32 bits:
//                  index (c, or ~c if it is negative) mod bits, with c = a + i b

#include "core/foreign/file.hpp"

#include "core/bytes.hpp"
#include "core/foreign/flat.hpp"
#include "core/murmur3.hpp"

namespace bloomfilter {
namespace {

Digest digest(std::uint64_t, const std::uint8_t *bytes, std::size_t length) {
  const Murmur3 hash = murmur3(bytes, length, 0);
  return {hash.first, hash.second};
}

// Converts UTF-8 to little-endian UTF-16, the chars of a Java string. Returns the length in bytes.
// Only SQL_ASCII databases have bytes that are not UTF-8. These become U+FFFD as in Java: one for a
// sequence that breaks off or is a surrogate, and otherwise one for each byte.
std::size_t utf16_of(const std::uint8_t *bytes, std::size_t length, std::uint8_t *out) {
  std::size_t written = 0;
  const auto put = [&](std::uint32_t unit) {
    store(out + written, static_cast<std::uint16_t>(unit));
    written += 2;
  };
  for (std::size_t i = 0; i < length;) {
    const std::uint8_t lead = bytes[i++];
    int more = lead < 0xC2 || lead > 0xF4 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    std::uint32_t point = more == 0 ? lead : lead & (0x3F >> more);
    bool good = lead < 0x80 || more > 0;
    // A code point has only one encoding, and U+10FFFF is the last code point.
    std::uint8_t least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    std::uint8_t most = lead == 0xF4 ? 0x8F : 0xBF;
    for (; more > 0 && good; more--, least = 0x80, most = 0xBF) {
      good = i < length && bytes[i] >= least && bytes[i] <= most;
      if (good)
        point = point << 6 | (bytes[i++] & 0x3F);
    }
    if (!good || (point >= 0xD800 && point < 0xE000))
      put(0xFFFD);
    else if (point < 0x10000)
      put(point);
    else {
      put(0xD800 + ((point - 0x10000) >> 10));
      put(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
  }
  return written;
}

Encoded encode_guava(std::uint64_t seed, const ForeignValue &value) {
  if (value.stored == Family::utf16)
    return encoded_as(
        digest(seed, value.scratch, utf16_of(value.bytes, value.length, value.scratch)));
  const auto number = static_cast<std::int64_t>(load<std::uint64_t>(value.bytes));
  const auto narrow = static_cast<std::int32_t>(number);
  if (narrow != number)
    return kNotEncoded;
  store(value.scratch, narrow);
  return encoded_as(digest(seed, value.scratch, sizeof narrow));
}

struct GuavaIndices {
  template <typename Use>
  [[gnu::always_inline]] static void for_each(const Geometry &geometry, const Digest &digest,
                                              Use use) {
    const std::uint64_t bits = geometry.bits();
    if (geometry.layout == Layout::guava_mitz32) {
      auto c = static_cast<std::uint32_t>(digest.first);
      const auto step = static_cast<std::uint32_t>(digest.first >> 32);
      for (int i = 0; i < geometry.k; i++) {
        c += step;
        use((c >> 31 ? ~c : c) % bits);
      }
      return;
    }
    std::uint64_t c = digest.first;
    for (int i = 0; i < geometry.k; i++, c += digest.second)
      use((c & ~0ULL >> 1) % bits);
  }
};

} // namespace

const ForeignSystem kGuava =
    flat_system<GuavaIndices>(kPlainFamilies, 0, digest, encode_guava, size_flat);

Finding read_guava(const std::uint8_t *bytes, std::size_t length, FoundFilter *found) {
  if (length < kGuavaHead)
    return {"the number of bytes is too small for a head: %lld, not %llu", length, kGuavaHead};
  if (bytes[0] > 1)
    return {"the strategy is neither MURMUR128_MITZ_32 (0) nor MURMUR128_MITZ_64 (1): %lld",
            bytes[0]};
  if (bytes[1] == 0)
    return {kForeignKOutOfRange, bytes[1]};
  const std::uint32_t words = load_big(bytes + 2);
  found->geometry = {bytes[0] == 0 ? Layout::guava_mitz32 : Layout::guava, bytes[1], words};
  found->offset = kGuavaHead;
  return check_words(words, length - kGuavaHead);
}

void write_guava_head(std::uint8_t *bytes, const Geometry &geometry) {
  bytes[0] = geometry.layout == Layout::guava_mitz32 ? 0 : 1;
  bytes[1] = geometry.k;
  store_big(bytes + 2, geometry.units);
}

} // namespace bloomfilter
