// Spark's files, as BloomFilter.writeTo() writes them: version i32, k i32, the seed i32 (only in
// version 2), number of words i32, words u64. All numbers are big-endian.
#pragma once

#include "core/foreign/file.hpp"

namespace bloomfilter {

constexpr std::size_t kMaxSparkHead = 16;
// Checks a whole file and finds its filter.
Finding read_spark(const std::uint8_t *bytes, std::size_t length, FoundFilter *found);
// Writes the head before the words; returns its length. Version 1 has no seed, and its filters have
// the seed 0.
std::size_t write_spark_head(std::uint8_t *bytes, const Geometry &geometry, std::uint64_t seed);

} // namespace bloomfilter
