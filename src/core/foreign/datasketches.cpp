// Apache DataSketches' BloomFilter (C++ and Java). See file.hpp for its files.
//
// It hashes with XXH64: integers as 8 bytes, doubles with one zero and one NaN, text as UTF-8, and
// bytea as it is. It leaves out empty texts and bytea. The digest is h0, the hash with the filter's
// seed, and h1, the hash with h0 as its seed. For i = 1 ... k, a position is (h0 + i h1 mod 2^64)
// >> 1 mod bits.
//
// Where the two libraries differ, we add values as C++ does. Java takes -0 for a value of its own,
// and adds an empty array of bytes.

#include "core/foreign/file.hpp"

#include "core/bitmap.hpp"
#include "core/bytes.hpp"
#include "core/foreign/flat.hpp"
#include "core/hash.hpp"

namespace bloomfilter {
namespace {

Digest digest(std::uint64_t seed, const std::uint8_t *bytes, std::size_t length) {
  const std::uint64_t first = XXH64(bytes, length, seed);
  return {first, XXH64(bytes, length, first)};
}

Digest digest_of_bits(std::uint64_t seed, std::uint64_t bits, std::uint8_t *scratch) {
  store(scratch, bits);
  return digest(seed, scratch, sizeof bits);
}

// Encodes a double. Other values that come here are empty texts and bytea, which are always found:
// no bit tells whether they were added.
Encoded encode_double(std::uint64_t seed, const ForeignValue &value) {
  constexpr std::uint64_t kNaN = 0x7FF8000000000000, kMinusZero = 1ULL << 63;
  if (value.family != Family::floating)
    return {Encoded::any, 0, {}};
  const std::uint64_t bits = load<std::uint64_t>(value.bytes);
  const double number = bits_double(bits);
  if (number != number)
    return encoded_as(digest_of_bits(seed, kNaN, value.scratch));
  if (number != 0)
    return encoded_as(digest_of_bits(seed, bits, value.scratch));
  return {
      Encoded::values,
      2,
      {digest_of_bits(seed, 0, value.scratch), digest_of_bits(seed, kMinusZero, value.scratch)}};
}

struct DataSketchesIndices {
  template <typename Use>
  [[gnu::always_inline]] static void for_each(const Geometry &geometry, const Digest &digest,
                                              Use use) {
    const std::uint64_t bits = geometry.bits();
    std::uint64_t c = digest.first;
    for (int i = 0; i < geometry.k; i++) {
      c += digest.second;
      use((c >> 1) % bits);
    }
  }
};

// BloomFilterBuilder's size: ceil(-n ln(rate) / ln(2)^2) bits and ceil(-ln(rate) / ln(2)) hash
// functions.
bool size_datasketches(Layout layout, std::uint64_t expected, double rate, Geometry *geometry) {
  const auto n = static_cast<double>(expected);
  const double log2 = std::log(2.0);
  const double bits = std::ceil(-n * std::log(rate) / (log2 * log2));
  if (bits > static_cast<double>(kMaxBits))
    return false;
  const double k = std::ceil(-std::log(rate) / log2);
  *geometry = {layout, static_cast<std::uint8_t>(k),
               static_cast<std::uint32_t>(std::ceil(bits / 64))};
  return true;
}

enum : std::uint8_t {
  kVersion = 1,
  kSketchFamily = 21,
  kEmpty = 4, // the only flag
};
constexpr std::size_t kEmptyHead = 24;
constexpr std::uint64_t kNotCounted = ~0ULL;

} // namespace

const ForeignSystem kDataSketches =
    flat_system<DataSketchesIndices>(kPlainFamilies, 1, digest, encode_double, size_datasketches);

Finding read_datasketches(const std::uint8_t *bytes, std::size_t length, FoundFilter *found,
                          CheckInterrupts check_interrupts) {
  if (length < kEmptyHead)
    return {"the number of bytes is too small for a head: %lld, not %llu", length, kEmptyHead};
  if (bytes[1] != kVersion)
    return {"the version is not known: %lld, not %llu", bytes[1], kVersion};
  if (bytes[2] != kSketchFamily)
    return {"the family is not that of Bloom filters: %lld, not %llu", bytes[2], kSketchFamily};
  if ((bytes[3] & ~unsigned{kEmpty}) != 0)
    return {"the flags are unknown: %lld", bytes[3]};
  const std::size_t head = bytes[3] == kEmpty ? kEmptyHead : kMaxDataSketchesHead;
  if (bytes[0] != head / 8)
    return {"the number of words of the head does not fit the flags: %lld, not %llu", bytes[0],
            head / 8};
  const auto k = load<std::uint16_t>(bytes + 4);
  if (k == 0 || k > kMaxForeignK)
    return {kForeignKOutOfRange, k};
  const auto words = load<std::uint32_t>(bytes + 16);
  const std::uint64_t unused =
      load<std::uint16_t>(bytes + 6) | std::uint64_t{load<std::uint32_t>(bytes + 20)} << 16;
  if (unused != 0)
    return {"unused bytes of the head are not 0: %lld", unused};
  *found = {{Layout::datasketches, static_cast<std::uint8_t>(k), words},
            head,
            load<std::uint64_t>(bytes + 8)};
  if (words == 0 || words > kMaxBits / 64)
    return {kWordsOutOfRange, words};
  if (head == kEmptyHead)
    return length == head ? kSound
                          : Finding{"bytes follow a filter without values; the length of the file "
                                    "is: %lld, not %llu",
                                    length, head};
  if (length < head)
    return {"the number of bytes is too small for a head: %lld, not %llu", length, head};
  const Finding finding = check_words(words, length - head);
  if (!finding.ok())
    return finding;

  const auto counted = load<std::uint64_t>(bytes + kEmptyHead);
  if (counted == kNotCounted) {
    found->flags = kFlagUncounted;
    return kSound;
  }
  std::uint64_t set = 0;
  for (std::size_t at = head; at < length; at += kBytesBetweenChecks) {
    check_interrupts();
    set += count_set(best_kernel(), bytes + at, std::min(length - at, kBytesBetweenChecks));
  }
  if (counted != set)
    return {"the number of set bits is not that of the words: %lld, not %llu", counted, set};
  return kSound;
}

std::size_t write_datasketches_head(std::uint8_t *bytes, const Geometry &geometry,
                                    std::uint64_t seed, std::uint64_t bits_set,
                                    std::uint8_t flags) {
  const bool uncounted = (flags & kFlagUncounted) != 0;
  const bool empty = bits_set == 0 && !uncounted;
  const std::size_t head = empty ? kEmptyHead : kMaxDataSketchesHead;
  bytes[0] = static_cast<std::uint8_t>(head / 8);
  bytes[1] = kVersion;
  bytes[2] = kSketchFamily;
  bytes[3] = empty ? kEmpty : 0;
  store(bytes + 4, std::uint32_t{geometry.k});
  store(bytes + 8, seed);
  store(bytes + 16, std::uint64_t{geometry.units});
  if (!empty)
    store(bytes + kEmptyHead, uncounted ? kNotCounted : bits_set);
  return head;
}

} // namespace bloomfilter
