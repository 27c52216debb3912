// The files in which other systems keep Bloom filters: read, checked, and written byte for byte.
//
//   Guava     BloomFilter.writeTo: strategy u8, k u8, number of words i32, words u64; big-endian
//   Parquet   BloomFilterHeader (parquet.thrift) in Thrift's compact protocol, then the bitset
//   Redis     BF.SCANDUMP of RedisBloom: a chain of filters. The header chunk is values u64, number
//             of links u32, options u32, growth u32, and for each link bytes u64, bits u64, values
//             u64, error f64, bits per entry f64, k u32, capacity u64, log2 of bits u8;
//             little-endian. The other chunks are the bitmaps, one after the other.
//
// A reader gets bytes from anywhere. It accepts what it understands as a whole, and nothing else.
#ifndef BLOOMFILTER_CORE_INTEROP_HPP
#define BLOOMFILTER_CORE_INTEROP_HPP

#include <cstddef>
#include <cstdint>

#include "core/format.hpp"

namespace bloomfilter {

// What is wrong with a file: a phrase, the number that it is about, and one that it does not agree
// with, or 0. NULL: nothing.
struct Problem {
  const char *phrase;
  std::uint64_t found;
  std::uint64_t other = 0;
};

// Where a file has the bitmap of the filter that it holds.
struct Found {
  Geometry geometry;
  std::size_t offset;

  std::size_t end() const { return offset + geometry.bytes(); }
};

constexpr std::size_t kGuavaHead = 6;
// `layout` is the one of the funnel, for MURMUR128_MITZ_64.
Problem read_guava(const std::uint8_t *bytes, std::size_t length, Layout layout, Found *found);
void write_guava_head(std::uint8_t *bytes, const Geometry &geometry);
// A bitmap of big-endian words from a little-endian one, or the reverse.
void swap_words(std::uint8_t *to, const std::uint8_t *from, std::size_t words);

constexpr std::size_t kMaxParquetHead = 24;
// `found` is known as well when nothing but the number of bytes is wrong; else its offset is 0.
Problem read_parquet(const std::uint8_t *bytes, std::size_t length, Layout layout, Found *found);
// Returns the head's length.
std::size_t write_parquet_head(std::uint8_t *bytes, const Geometry &geometry);

// Reads the header chunk of a dump. What RedisBloom refuses to load is refused.
Problem read_redis(const std::uint8_t *bytes, std::size_t length, Link *links, int *count);
// Can other chunks of these lengths be the bitmaps of the links, in their order? None says where it
// belongs; but RedisBloom cuts each link by itself, into pieces of one length (16 MiB; 10 or 511
// before 2.2.7) and what is left.
Problem fit_redis_chunks(const Link *links, int count, const std::size_t *lengths, int chunks);

} // namespace bloomfilter

#endif
