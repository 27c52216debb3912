// The readers and writers of other systems' files, and what they share. A reader gets bytes from an
// untrusted source. It accepts a file only if it understands all of it, but for further fields of a
// header that may have some (Parquet's).
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

// --- Guava ---------------------------------------------------------------------------------------
//
// Guava's files, as BloomFilter.writeTo() writes them: strategy u8, k u8, number of words i32,
// words u64. All numbers are big-endian.

constexpr std::size_t kGuavaHead = 6;
// Checks a whole file and finds its filter.
Finding read_guava(const std::uint8_t *bytes, std::size_t length, FoundFilter *found);
// Writes the kGuavaHead bytes before the words.
void write_guava_head(std::uint8_t *bytes, const Geometry &geometry);

// --- Spark ---------------------------------------------------------------------------------------
//
// Spark's files, as BloomFilter.writeTo() writes them: version i32, k i32, the seed i32 (only in
// version 2), number of words i32, words u64. All numbers are big-endian.

constexpr std::size_t kMaxSparkHead = 16;
// Checks a whole file and finds its filter.
Finding read_spark(const std::uint8_t *bytes, std::size_t length, FoundFilter *found);
// Writes the head before the words; returns its length. Version 1 has no seed, and its filters have
// the seed 0.
std::size_t write_spark_head(std::uint8_t *bytes, const Geometry &geometry, std::uint64_t seed);

// --- Hive ----------------------------------------------------------------------------------------
//
// Hive's files, as BloomKFilter.serialize() writes them: k u8, number of words i32, words u64. All
// numbers are big-endian. Druid's files are the same, because its class is a copy of Hive's.

constexpr std::size_t kHiveHead = 5;
// Checks a whole file and finds its filter.
Finding read_hive(const std::uint8_t *bytes, std::size_t length, FoundFilter *found);
void write_hive_head(std::uint8_t *bytes, const Geometry &geometry);

// --- Parquet -------------------------------------------------------------------------------------
//
// Parquet's files: BloomFilterHeader (parquet.thrift) in Thrift's compact protocol, then the
// bitset.

// Parquet's readers accept no larger bitset.
constexpr std::size_t kMaxParquetBytes = 128 * 1024 * 1024;

constexpr std::size_t kMaxParquetHead = 24;
// Checks a whole file and finds its filter. If only the number of bytes is wrong, `found` is set as
// well. After any other finding, found->offset is 0.
Finding read_parquet(const std::uint8_t *bytes, std::size_t length, FoundFilter *found);
// Writes the header before the bitset; returns its length, at most kMaxParquetHead.
std::size_t write_parquet_head(std::uint8_t *bytes, const Geometry &geometry);

// --- DataSketches --------------------------------------------------------------------------------
//
// Apache DataSketches' files, as its BloomFilter's serialize() and toByteArray() write them. All
// numbers are little-endian: length of the head in words of 64 bits u8, version u8, family of
// sketches u8, flags u8, k u16, 0 u16, seed u64, number of words u32, 0 u32. A filter without
// values ends here. Other filters continue: number of set bits u64, or -1 if it was not counted,
// and words u64.

constexpr std::size_t kMaxDataSketchesHead = 32;
// Checks a whole file and finds its filter. If found->offset is the length of the file, the file
// has no words and the filter has no set bits.
Finding read_datasketches(const std::uint8_t *bytes, std::size_t length, FoundFilter *found,
                          CheckInterrupts check_interrupts = check_nothing);
// Writes the head of a filter with `bits_set` set bits and with a subset of kOtherFlags. Returns
// the length of the head. Words follow only a head of kMaxDataSketchesHead bytes.
std::size_t write_datasketches_head(std::uint8_t *bytes, const Geometry &geometry,
                                    std::uint64_t seed, std::uint64_t bits_set, std::uint8_t flags);

// --- RedisBloom ----------------------------------------------------------------------------------
//
// RedisBloom's files, in chunks as BF.SCANDUMP gives them. A file is a chain of filters. The header
// chunk is values u64, number of links u32, options u32 and growth u32. Then it has for each link
// bytes u64, bits u64, values u64, error f64, bits per entry f64, k u32, capacity u64 and log2 of
// bits u8. All numbers are little-endian. The other chunks are the bitmaps, one after the other.

constexpr std::size_t kRedisHead = 20, kRedisEntry = 53;
constexpr std::size_t kMaxRedisHeader = kRedisHead + kMaxLinks * kRedisEntry;
constexpr std::size_t kRedisChunk = 16 * 1024 * 1024; // of a bitmap, since RedisBloom 2.2.7

// Reads the header chunk of a dump into at most kMaxLinks links. Refuses everything that RedisBloom
// refuses to load.
Finding read_redis(const std::uint8_t *bytes, std::size_t length, Link *links, int *count);
// Checks by their lengths whether the other chunks can be the bitmaps of the links, in their order.
// A chunk does not say where it belongs. But RedisBloom cuts each link separately, into pieces of
// one length (kRedisChunk; 10 or 511 MiB in older versions) and a rest.
Finding fit_redis_chunks(const Link *links, int count, const std::size_t *lengths, int chunks);

// Writes the header chunk of links; returns its length. `values` has the approximate number of
// values in each link. A single link becomes a filter that does not scale. RedisBloom itself counts
// a value if it sets a bit when it is added. That number does not follow from the bits.
std::size_t write_redis(std::uint8_t *bytes, const Link *links, const double *values, int count);

} // namespace bloomfilter
