// Spark's files, as BloomFilter.writeTo() writes them: version i32, k i32, in version 2 the seed
// i32, number of words i32, words u64; all big-endian.
#ifndef BLOOMFILTER_CORE_FOREIGN_SPARK_HPP
#define BLOOMFILTER_CORE_FOREIGN_SPARK_HPP

#include "core/foreign/file.hpp"

namespace bloomfilter {

constexpr std::size_t kMaxSparkHead = 16;
// Checks a whole file and finds its filter.
Problem read_spark(const std::uint8_t *bytes, std::size_t length, Found *found);
// Writes the head before the words, in version 1 without the seed, which is 0; returns its length.
std::size_t write_spark_head(std::uint8_t *bytes, const Geometry &geometry, std::uint64_t seed);

} // namespace bloomfilter

#endif
