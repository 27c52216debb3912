// What the readers of other systems' files return and share. A reader gets bytes from an untrusted
// source. It accepts a file only if it understands all of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/bytes.hpp"
#include "core/format.hpp"

namespace bloomfilter {

// The filter in a file, and the offset of its bitmap in the file.
struct FoundFilter {
  Geometry geometry;
  std::size_t offset;
  std::uint64_t seed = 0;
  std::uint8_t flags = 0; // a subset of kOtherFlags

  std::size_t end() const { return offset + geometry.bytes(); }
};

inline std::uint32_t load_big(const std::uint8_t *bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3];
}
inline void store_big(std::uint8_t *bytes, std::uint32_t number) {
  for (int i = 0; i < 4; i++)
    bytes[i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
}

static_assert(kMaxForeignK == 255 && kMaxBits / 64 == 67108864, "as the texts say");
constexpr char kForeignKOutOfRange[] = "the number of hash functions is not 1 to 255: %lld";
constexpr char kWordsOutOfRange[] = "the number of words is not 1 to 67108864: %lld";

// Checks that the bitmap after a head has the number of 64-bit words that the head says. The bitmap
// has `bytes` bytes.
inline Finding check_words(std::uint32_t words, std::size_t bytes) {
  if (words == 0 || words > kMaxBits / 64)
    return {kWordsOutOfRange, words};
  if (bytes != std::size_t{8} * words)
    return {"the number of bytes that follow the head is not that of its words: %lld, not %llu",
            bytes, std::size_t{8} * words};
  return kSound;
}

// Converts a bitmap of big-endian words of 64 bits to little-endian words, or the reverse.
inline void swap_words(std::uint8_t *to, const std::uint8_t *from, std::size_t words,
                       CheckInterrupts check_interrupts = check_nothing) {
  constexpr std::size_t kPart = kBytesBetweenChecks / 8;
  for (std::size_t first = 0; first < words; first += kPart) {
    check_interrupts();
    const std::size_t end = std::min(words, first + kPart);
    for (std::size_t i = first; i < end; i++)
      store(to + 8 * i, __builtin_bswap64(load<std::uint64_t>(from + 8 * i)));
  }
}

} // namespace bloomfilter
