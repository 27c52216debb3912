// RedisBloom's files, in chunks as BF.SCANDUMP gives them. A file is a chain of filters. The header
// chunk is values u64, number of links u32, options u32 and growth u32. Then it has for each link
// bytes u64, bits u64, values u64, error f64, bits per entry f64, k u32, capacity u64 and log2 of
// bits u8. All numbers are little-endian. The other chunks are the bitmaps, one after the other.
#pragma once

#include "core/foreign/file.hpp"
#include "core/format.hpp"

namespace bloomfilter {

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
