// Parquet's split-block filters (parquet-format, BloomFilter.md). See file.hpp for their files.
//
// They hash with XXH64 and seed 0 over Parquet's plain encoding. Numbers are little-endian. They
// have 4 bytes in Family::float32 and in Family::int32, whether signed or not. Byte strings are
// hashed without their length.
//
// A bitmap is an array of blocks of 8 words of 32 bits. A value sets one bit in each word of one
// block. The block is (first >> 32) · blocks >> 32, and the bit is (low half of first · salt of the
// word) >> 27. OR-ing d adjacent blocks folds the filter, as in our own layouts.

#include "core/foreign/file.hpp"

#include <cstring>

#include "core/bytes.hpp"
#include "core/foreign/flat.hpp"
#include "core/foreign/thrift.hpp"
#include "core/hash.hpp"

namespace bloomfilter {
namespace {

// Most numbers have 8 bytes. For this constant the compiler unrolls the hash.
Digest digest(std::uint64_t, const std::uint8_t *bytes, std::size_t length) {
  return {length == 8 ? XXH64(bytes, 8, 0) : XXH64(bytes, length, 0), 0};
}

Encoded encode_int32(std::uint64_t seed, const ForeignValue &value) {
  const auto number = static_cast<std::int64_t>(load<std::uint64_t>(value.bytes));
  const auto narrow = static_cast<std::uint32_t>(number);
  if (static_cast<std::int32_t>(narrow) != number && static_cast<std::int64_t>(narrow) != number)
    return kNotEncoded;
  store(value.scratch, narrow);
  return encoded_as(digest(seed, value.scratch, sizeof narrow));
}

Digest digest_of_float(std::uint64_t seed, Family stored, double number, std::uint8_t *scratch) {
  if (stored != Family::float32) {
    store(scratch, double_bits(number));
    return digest(seed, scratch, sizeof number);
  }
  const auto narrow = static_cast<float>(number);
  std::uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  store(scratch, bits);
  return digest(seed, scratch, sizeof bits);
}

Encoded encode_parquet(std::uint64_t seed, const ForeignValue &value) {
  if (value.stored == Family::int32)
    return encode_int32(seed, value);
  const double number = bits_double(load<std::uint64_t>(value.bytes));
  const bool is_nan = number != number;
  if (value.stored == Family::float32 && !is_nan &&
      static_cast<double>(static_cast<float>(number)) != number)
    return kNotEncoded;
  Encoded encoded = encoded_as(digest_of_float(seed, value.stored, number, value.scratch));
  if (is_nan)
    encoded.outcome = Encoded::any;
  if (number == 0)
    encoded.digests[encoded.count++] = digest_of_float(seed, value.stored, -number, value.scratch);
  return encoded;
}

// Odd constants from the specification (BloomFilter.md).
constexpr std::uint32_t kSalts[kBlockWords] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                               0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
constexpr std::uint64_t kMaxBlocks = kMaxParquetBytes / kBlockBytes;

// e^-x for x >= 0. Uses only arithmetic, so that the result is the same on every machine.
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

// The rate of a split-block filter with `load` values in a block on average. The load of a block is
// Poisson. A value that was never added finds its bit set in each of the 8 words with probability 1
// - (31/32)^(values in the block).
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

struct BlockIndices {
  template <typename Use>
  [[gnu::always_inline]] static void for_each(const Geometry &geometry, const Digest &digest,
                                              Use use) {
    const std::uint64_t block = ((digest.first >> 32) * geometry.units) >> 32;
    const auto key = static_cast<std::uint32_t>(digest.first);
    for (int word = 0; word < kBlockWords; word++)
      use(block * kBlockBytes * 8 + static_cast<std::uint64_t>(word) * 32 +
          ((key * kSalts[word]) >> 27));
  }
};
using Blocks = Flat<BlockIndices>;

constexpr std::size_t kBlocksAhead = 64;

void add_to_blocks(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *digests,
                   std::size_t count) {
  const std::uint32_t blocks = geometry.units;
  const auto block_of = [=](std::size_t i) {
    return bitmap + (((digests[i] >> 32) * blocks) >> 32) * kBlockBytes;
  };
  for (std::size_t i = 0; i < count + kBlocksAhead; i++) {
    if (i < count)
      __builtin_prefetch(block_of(i), 1);
    if (i < kBlocksAhead)
      continue;
    std::uint8_t *const block = block_of(i - kBlocksAhead);
    const auto key = static_cast<std::uint32_t>(digests[i - kBlocksAhead]);
    for (int word = 0; word < kBlockWords; word++)
      store(block + 4 * word,
            load<std::uint32_t>(block + 4 * word) | 1U << ((key * kSalts[word]) >> 27));
  }
}

// The smallest number of blocks with a rate of at most the requested one. It is a power of two, as
// Parquet's readers require.
bool size_blocks(Layout layout, std::uint64_t expected, double rate, Geometry *geometry) {
  const auto n = static_cast<double>(expected);
  for (std::uint64_t blocks = 1; blocks <= kMaxBlocks; blocks *= 2)
    if (n / static_cast<double>(blocks) <= 512 &&
        split_block_rate(n / static_cast<double>(blocks)) <= rate) {
      *geometry = {layout, kBlockWords, static_cast<std::uint32_t>(blocks)};
      return true;
    }
  return false;
}

// Reads a union and returns the field number of its variant. 0 if the union does not have exactly
// one variant, or if the variant is no struct. The only known variant is field 1, an empty struct.
std::int64_t read_variant(ThriftReader *reader) {
  std::int64_t id = 0, variant = 0;
  int variants = 0;
  for (ThriftReader::Type type = reader->field(&id); reader->good() && type != ThriftReader::stop;
       type = reader->field(&id)) {
    variant = type == ThriftReader::structure ? id : 0;
    variants++;
    reader->skip(type);
  }
  return variants == 1 ? variant : 0;
}

std::size_t write_varint(std::uint8_t *bytes, std::uint64_t value) {
  std::size_t count = 0;
  for (; value >= 0x80; value >>= 7)
    bytes[count++] = static_cast<std::uint8_t>(value | 0x80);
  bytes[count++] = static_cast<std::uint8_t>(value);
  return count;
}

// A header has some 20 bytes. What is much longer is none, and reading it must not take long.
constexpr std::size_t kMostHeadBytes = 64 * 1024;

constexpr Families kPlain =
    families(Family::integer, Family::date, Family::timestamp, Family::timestamptz, Family::time,
             Family::text, Family::bytea, Family::uuid, Family::string);

} // namespace

const ForeignSystem kParquet = {
    kPlain,        0,          digest, encode_parquet, Blocks::positions, Blocks::contains,
    add_to_blocks, size_blocks};

Finding read_parquet(const std::uint8_t *bytes, std::size_t length, FoundFilter *found) {
  *found = {};
  ThriftReader reader(bytes, std::min(length, kMostHeadBytes));
  std::int64_t id = 0, size = 0, algorithm = -1, hash = -1, compression = -1;
  bool sized = false;
  for (ThriftReader::Type type = reader.field(&id); reader.good() && type != ThriftReader::stop;
       type = reader.field(&id)) {
    if (id == 1 && type == ThriftReader::i32) {
      size = reader.integer();
      sized = true;
    } else if (id >= 2 && id <= 4 && type == ThriftReader::structure) {
      std::int64_t *const variant = id == 2 ? &algorithm : id == 3 ? &hash : &compression;
      *variant = read_variant(&reader);
    } else {
      reader.skip(type);
    }
  }
  if (!reader.good())
    return {"the header ends early or is not Thrift's compact protocol, at byte: %lld",
            reader.offset()};
  if (!sized || algorithm < 0 || hash < 0 || compression < 0)
    return {"the header lacks a field; its length is: %lld", reader.offset()};
  if (algorithm != 1)
    return {"the algorithm is not BLOCK (1): %lld", static_cast<std::uint64_t>(algorithm)};
  if (hash != 1)
    return {"the hash is not XXHASH (1): %lld", static_cast<std::uint64_t>(hash)};
  if (compression != 1)
    return {"the compression is not UNCOMPRESSED (1): %lld",
            static_cast<std::uint64_t>(compression)};
  if (size < kBlockBytes || size % kBlockBytes != 0 ||
      static_cast<std::uint64_t>(size) > kMaxBits / 8)
    return {"the number of bytes is not a multiple of 32 within the limits: %lld",
            static_cast<std::uint64_t>(size)};
  found->geometry = {Layout::parquet, kBlockWords, static_cast<std::uint32_t>(size / kBlockBytes)};
  found->offset = reader.offset();
  if (length != found->end())
    return {"the number of bytes in the head is not the number that follows it: %lld, not %llu",
            static_cast<std::uint64_t>(size), length - reader.offset()};
  return kSound;
}

std::size_t write_parquet_head(std::uint8_t *bytes, const Geometry &geometry) {
  // Fields 2, 3 and 4 are each a union with variant 1, an empty struct.
  static constexpr std::uint8_t kVariant[] = {0x1C, 0x1C, 0x00, 0x00};
  std::size_t length = 0;
  bytes[length++] = 0x15;                                       // field 1: i32
  length += write_varint(bytes + length, 2 * geometry.bytes()); // zigzag
  for (int field = 2; field <= 4; field++)
    for (const std::uint8_t byte : kVariant)
      bytes[length++] = byte;
  bytes[length++] = 0x00; // no more fields
  return length;
}

} // namespace bloomfilter
