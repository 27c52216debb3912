// Spark's files: BloomFilter.writeTo: version i32, k i32, in version 2 the seed i32, number of
// words i32, words u64; big-endian.
#ifndef BLOOMFILTER_CORE_FOREIGN_SPARK_HPP
#define BLOOMFILTER_CORE_FOREIGN_SPARK_HPP

#include "core/foreign/file.hpp"

namespace bloomfilter {

constexpr std::size_t kMaxSparkHead = 16;
Problem read_spark(const std::uint8_t *bytes, std::size_t length, Found *found);
// Of version 1 without the seed, which is 0. Returns the head's length.
std::size_t write_spark_head(std::uint8_t *bytes, const Geometry &geometry, std::uint64_t seed);

} // namespace bloomfilter

#endif
