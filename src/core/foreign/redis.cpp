// RedisBloom's hashes, bits and files. See file.hpp for the bytes of its files.
//
// A byte string's digest is its MurmurHash64A, and another MurmurHash64A with the first as its
// seed. Integers are hashed as decimal text. Position i of a value, for i = 0 ... k - 1, is (first
// + i second) mod 2^64 mod bits.

#include "core/foreign/file.hpp"

#include <algorithm>
#include <cmath>

#include "core/bytes.hpp"
#include "core/foreign/flat.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

// MurmurHash64A (A. Appleby, public domain). RedisBloom calls it twice.
std::uint64_t murmur64a(const std::uint8_t *bytes, std::size_t length, std::uint64_t seed) {
  constexpr std::uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  std::uint64_t h = seed ^ (length * kMultiplier);
  const std::uint8_t *const tail = bytes + length / 8 * 8;
  for (; bytes < tail; bytes += 8) {
    std::uint64_t k = load<std::uint64_t>(bytes) * kMultiplier;
    k = (k ^ k >> kShift) * kMultiplier;
    h = (h ^ k) * kMultiplier;
  }
  if (length % 8 != 0)
    h = (h ^ load_first(tail, length % 8)) * kMultiplier;
  h = (h ^ h >> kShift) * kMultiplier;
  return h ^ h >> kShift;
}

Digest digest(std::uint64_t, const std::uint8_t *bytes, std::size_t length) {
  const std::uint64_t first = murmur64a(bytes, length, 0xc6a4a7935bd1e995);
  return {first, murmur64a(bytes, length, first)};
}

std::size_t decimal_of(std::int64_t number, std::uint8_t *out) {
  std::uint8_t digits[20];
  std::size_t count = 0, written = 0;
  std::uint64_t left =
      number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  do
    digits[count++] = static_cast<std::uint8_t>('0' + left % 10);
  while ((left /= 10) != 0);
  if (number < 0)
    out[written++] = '-';
  while (count > 0)
    out[written++] = digits[--count];
  return written;
}

Encoded encode_decimal(std::uint64_t seed, const ForeignValue &value) {
  const auto number = static_cast<std::int64_t>(load<std::uint64_t>(value.bytes));
  return encoded_as(digest(seed, value.scratch, decimal_of(number, value.scratch)));
}

struct RedisIndices {
  template <typename Use>
  [[gnu::always_inline]] static void for_each(const Geometry &geometry, const Digest &digest,
                                              Use use) {
    const std::uint64_t bits = geometry.bits();
    std::uint64_t c = digest.first;
    for (int i = 0; i < geometry.k; i++, c += digest.second)
      use(c % bits);
  }
};

// These constants have the same number of digits as in RedisBloom.
constexpr double kLn2 = 0.693147180559945, kLn2Squared = 0.480453013918201;

double bits_per_value_for(double error) {
  return -std::log(error) / kLn2Squared;
}
double k_for(double bits_per_value) {
  return std::ceil(kLn2 * bits_per_value);
}

// Sizes a filter as BF.RESERVE with NONSCALING does: first in whole bits, then in whole words.
bool size_redis(Layout layout, std::uint64_t expected, double rate, Geometry *geometry) {
  const double bits_per_value = bits_per_value_for(rate);
  const double bits = std::floor(static_cast<double>(expected) * bits_per_value);
  if (bits > static_cast<double>(kMaxBits))
    return false;
  const auto words = static_cast<std::uint32_t>(std::ceil(bits / 64));
  *geometry = {layout, static_cast<std::uint8_t>(k_for(bits_per_value)), std::max(words, 1U)};
  return true;
}

// Options of a filter. With NOROUND, its number of bits need not be a power of two.
constexpr std::uint32_t kNoRound = 1, kForce64 = 4, kNoScaling = 8, kKnownOptions = 15;

// Reads a link's entry in the header chunk. RedisBloom loads any capacity, and even an error that
// is NaN. So does this function, because the positions of bits do not depend on them.
Finding read_redis_link(const std::uint8_t *entry, Link *link) {
  const auto size = load<std::uint64_t>(entry), bits = load<std::uint64_t>(entry + 8);
  const double error = bits_double(load<std::uint64_t>(entry + 24));
  const double bits_per_value = bits_double(load<std::uint64_t>(entry + 32));
  const auto k = load<std::uint32_t>(entry + 40);
  const auto capacity = load<std::uint64_t>(entry + 44);
  const std::uint8_t log = entry[52];
  if (size == 0 || size % kWordBytes != 0 || size > kMaxBits / 8)
    return {"the number of bytes of a link is not a multiple of 8 within the limits: %lld", size};
  if (bits != 8 * size)
    return {"the number of bits of a link does not fit its bytes: %lld", bits};
  if (log != 0 && (log > 63 || bits != std::uint64_t{1} << log))
    return {"the number of bits of a link is not the power of two that it says: %lld", log};
  if (k == 0 || k > kMaxForeignK)
    return {"the number of hash functions of a link is out of range: %lld", k};
  if (k != k_for(bits_per_value))
    return {"the number of hash functions of a link does not fit its bits per value: %lld", k};
  if (error <= 0 || error >= 1)
    return {"the error of a link is not between 0 and 1; its capacity is: %lld", capacity};
  const bool known = capacity >= 1 && capacity <= kMaxBits && rate_in_range(error);
  *link = {
      {Layout::redis, static_cast<std::uint8_t>(k), static_cast<std::uint32_t>(size / kWordBytes)},
      kFlagSelfSized,
      known ? Capacity{capacity, error} : Capacity{}};
  return kSound;
}

// Writes a link's entry. RedisBloom loads the entry only if k follows from the bits per value. If
// capacity and error are unknown, they are chosen to suit k and the bits: the error is in the
// middle of the errors that have this k. Returns the number of values that it wrote. This is at
// most the capacity, because RedisBloom never counts more.
std::uint64_t write_redis_link(std::uint8_t *entry, const Link &link, double values) {
  const Geometry &geometry = link.geometry;
  const bool known = link.capacity.is_known();
  const double suited = std::exp2(0.5 - geometry.k);
  const double error = known ? link.capacity.rate : suited;
  double bits_per_value = bits_per_value_for(error);
  if (k_for(bits_per_value) != geometry.k)
    bits_per_value = bits_per_value_for(suited);
  const auto bits = static_cast<double>(geometry.bits());
  const double capacity = known ? static_cast<double>(link.capacity.values)
                                : std::max(std::floor(bits / bits_per_value), 1.0);
  const auto counted = static_cast<std::uint64_t>(std::min(std::round(values), capacity));

  store(entry, std::uint64_t{geometry.bytes()});
  store(entry + 8, geometry.bits());
  store(entry + 16, counted);
  store(entry + 24, double_bits(error));
  store(entry + 32, double_bits(bits_per_value));
  store(entry + 40, std::uint32_t{geometry.k});
  store(entry + 44, static_cast<std::uint64_t>(capacity));
  store(entry + 52, std::uint8_t{0}); // 0: the number of bits is taken as it is
  return counted;
}

} // namespace

const ForeignSystem kRedis = flat_system<RedisIndices>(
    families(Family::text, Family::bytea, Family::string), 0, digest, encode_decimal, size_redis);

Finding read_redis(const std::uint8_t *bytes, std::size_t length, Link *links, int *count) {
  // The old head has no growth, and the capacity in an old entry is a u32.
  constexpr std::size_t kOldHead = 16, kOldEntry = 49;
  if (length < kOldHead)
    return {"the number of bytes of the header chunk is too small for a head: %lld, not %llu",
            length, kOldHead};
  const std::uint32_t number = load<std::uint32_t>(bytes + 8);
  const std::uint32_t options = load<std::uint32_t>(bytes + 12);
  if (number == 0 || number > static_cast<std::uint32_t>(kMaxLinks))
    return {"the number of links is out of range: %lld", number};
  if (length == kOldHead + number * kOldEntry || length == kRedisHead + number * kOldEntry)
    return {"the header chunk was made by RedisBloom before 2.2.1; its number of links is: %lld",
            number};
  if (length != kRedisHead + number * kRedisEntry)
    return {"the number of links does not fit the length of the header chunk: %lld", number};
  if (options & ~kKnownOptions)
    return {"the options are unknown: %lld", options};
  if (!(options & kForce64))
    return {"the filter does not use 64-bit hashes; its options are: %lld", options};

  const auto values = load<std::uint64_t>(bytes);
  const Finding unequal = {"the links' values do not add up to those of the filter: %lld", values};
  std::uint64_t left = values;
  for (std::uint32_t i = 0; i < number; i++) {
    const std::uint8_t *entry = bytes + kRedisHead + i * kRedisEntry;
    const Finding finding = read_redis_link(entry, &links[i]);
    if (!finding.ok())
      return finding;
    const auto of_link = load<std::uint64_t>(entry + 16);
    if (of_link > left)
      return unequal;
    left -= of_link;
  }
  if (left != 0)
    return unequal;
  *count = static_cast<int>(number);
  return kSound;
}

Finding fit_redis_chunks(const Link *links, int count, const std::size_t *lengths, int chunks) {
  int chunk = 0;
  for (int i = 0; i < count; i++) {
    std::size_t left = links[i].geometry.bytes();
    const std::size_t piece = chunk < chunks ? lengths[chunk] : 0;
    for (; left > 0; left -= lengths[chunk++]) {
      if (chunk == chunks)
        return {"chunks are missing; the number of bytes that a link lacks is: %lld", left};
      const std::size_t next = std::min(piece, left);
      if (lengths[chunk] != next || next == 0)
        return {"the number of bytes of a chunk is not that of its place: %lld, not %llu",
                lengths[chunk], next};
    }
  }
  if (chunk < chunks)
    return {"a chunk follows those of the last link; the number of its bytes is: %lld",
            lengths[chunk]};
  return kSound;
}

std::size_t write_redis(std::uint8_t *bytes, const Link *links, const double *values, int count) {
  constexpr std::uint32_t kGrowth = 2; // RedisBloom's default
  std::uint64_t sum = 0;
  std::uint8_t *entry = bytes + kRedisHead;
  for (int i = 0; i < count; i++, entry += kRedisEntry)
    sum += write_redis_link(entry, links[i], values[i]);
  store(bytes, sum);
  store(bytes + 8, static_cast<std::uint32_t>(count));
  store(bytes + 12, kNoRound | kForce64 | (count == 1 ? kNoScaling : 0));
  store(bytes + 16, kGrowth);
  return static_cast<std::size_t>(entry - bytes);
}

} // namespace bloomfilter
