#include "core/foreign.hpp"

#include <algorithm>
#include <cmath>

#include "core/bytes.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

// Odd constants of the specification (BloomFilter.md).
constexpr std::uint32_t kSalts[kBlockWords] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                               0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
constexpr std::uint64_t kMaxBlocks = kMaxParquetBytes / kBlockBytes;

// e^-x for x >= 0, with additions and multiplications alone: the same on every machine.
double exp_minus(double x) {
  int halvings = 0;
  while (x > 0.125) {
    x /= 2;
    halvings++;
  }
  double term = 1.0, sum = 1.0;
  for (int i = 1; i < 12; i++)
    sum += term *= -x / i;
  for (; halvings > 0; halvings--)
    sum *= sum;
  return sum;
}

// The rate of a split-block filter with `load` values in a block on average: a block's load is
// Poisson's, and a stranger finds each of 8 words' bits set with probability 1 - (31/32)^load.
double split_block_rate(double load) {
  double probability = exp_minus(load), clear = 1.0, rate = 0.0, covered = probability;
  for (int values = 1; covered < 1.0 - 1e-15 && values < 2000; values++) {
    probability *= load / values;
    covered += probability;
    clear *= 31.0 / 32.0;
    const double set = 1.0 - clear;
    const double four = set * set * set * set;
    rate += probability * four * four;
  }
  return rate;
}

// Calls use(position) for each bit, in order.
template <typename Use>
[[gnu::always_inline]] inline void for_each_index(const Geometry &geometry, const Digest &digest,
                                                  Use use) {
  const std::uint64_t bits = geometry.bits();
  if (is_parquet(geometry.layout)) {
    const std::uint64_t block = ((digest.first >> 32) * geometry.units) >> 32;
    const auto key = static_cast<std::uint32_t>(digest.first);
    for (int word = 0; word < kBlockWords; word++)
      use(block * kBlockBytes * 8 + static_cast<std::uint64_t>(word) * 32 +
          ((key * kSalts[word]) >> 27));
  } else if (is_mitz32(geometry.layout)) {
    auto c = static_cast<std::uint32_t>(digest.first);
    const auto step = static_cast<std::uint32_t>(digest.first >> 32);
    for (int i = 0; i < geometry.hashes; i++) {
      c += step;
      use((c >> 31 ? ~c : c) % bits);
    }
  } else {
    const std::uint64_t mask = geometry.layout == Layout::redis ? ~0ULL : ~0ULL >> 1;
    std::uint64_t c = digest.first;
    for (int i = 0; i < geometry.hashes; i++, c += digest.second)
      use((c & mask) % bits);
  }
}

// Bits that are prefetched together: from memory they arrive side by side.
constexpr std::size_t kPrefetched = 512;
static_assert(kPrefetched >= kMaxForeignHashes, "all bits of a value");
constexpr std::size_t kBlocksAhead = 64;

void add_to_flat(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *words,
                 std::size_t count) {
  std::uint64_t positions[kPrefetched];
  const std::size_t together = kPrefetched / geometry.hashes;
  for (std::size_t i = 0; i < count; i += together) {
    std::uint64_t *end = positions;
    for (std::size_t j = i; j < std::min(i + together, count); j++)
      for_each_index(geometry, {words[2 * j], words[2 * j + 1]}, [&](std::uint64_t position) {
        __builtin_prefetch(bitmap + (position >> 3), 1);
        *end++ = position;
      });
    for (const std::uint64_t *position = positions; position < end; position++)
      bitmap[*position >> 3] =
          static_cast<std::uint8_t>(bitmap[*position >> 3] | 1U << (*position & 7));
  }
}

void add_to_blocks(std::uint32_t blocks, std::uint8_t *bitmap, const std::uint64_t *words,
                   std::size_t count) {
  const auto block_of = [=](std::size_t i) {
    return bitmap + (((words[i] >> 32) * blocks) >> 32) * kBlockBytes;
  };
  for (std::size_t i = 0; i < count + kBlocksAhead; i++) {
    if (i < count)
      __builtin_prefetch(block_of(i), 1);
    if (i < kBlocksAhead)
      continue;
    std::uint8_t *const block = block_of(i - kBlocksAhead);
    const auto key = static_cast<std::uint32_t>(words[i - kBlocksAhead]);
    for (int word = 0; word < kBlockWords; word++)
      store(block + 4 * word,
            load<std::uint32_t>(block + 4 * word) | 1U << ((key * kSalts[word]) >> 27));
  }
}

} // namespace

void foreign_positions(const Geometry &geometry, const Digest &digest, std::uint64_t *positions) {
  for_each_index(geometry, digest, [&](std::uint64_t position) { *positions++ = position; });
}

bool foreign_contains(const Geometry &geometry, const std::uint8_t *bitmap, const Digest &digest) {
  unsigned all = 1;
  for_each_index(geometry, digest,
                 [&](std::uint64_t position) { all &= bitmap[position >> 3] >> (position & 7); });
  return all & 1;
}

void foreign_add_many(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *words,
                      std::size_t count) {
  if (is_parquet(geometry.layout))
    add_to_blocks(geometry.units, bitmap, words, count);
  else
    add_to_flat(geometry, bitmap, words, count);
}

bool size_foreign(Layout layout, std::uint64_t expected, double rate, Geometry *geometry) {
  const auto n = static_cast<double>(expected);
  if (is_parquet(layout)) {
    for (std::uint64_t blocks = 1; blocks <= kMaxBlocks; blocks *= 2)
      if (n / static_cast<double>(blocks) <= 512 &&
          split_block_rate(n / static_cast<double>(blocks)) <= rate) {
        *geometry = {layout, kBlockWords, static_cast<std::uint32_t>(blocks)};
        return true;
      }
    return false;
  }
  const double log2 = std::log(2.0);
  const double bits = std::floor(-n * std::log(rate) / (log2 * log2));
  if (bits > static_cast<double>(kMaxBits))
    return false;
  const double hashes = std::max(1.0, std::floor(bits / n * log2 + 0.5));
  const auto words = static_cast<std::uint32_t>(std::ceil(bits / 64));
  *geometry = {layout, static_cast<std::uint8_t>(hashes), std::max(words, 1U)};
  return true;
}

} // namespace bloomfilter
