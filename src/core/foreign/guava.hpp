// Guava's files: BloomFilter.writeTo: strategy u8, k u8, number of words i32, words u64;
// big-endian.
#ifndef BLOOMFILTER_CORE_FOREIGN_GUAVA_HPP
#define BLOOMFILTER_CORE_FOREIGN_GUAVA_HPP

#include "core/foreign/file.hpp"

namespace bloomfilter {

constexpr std::size_t kGuavaHead = 6;
Problem read_guava(const std::uint8_t *bytes, std::size_t length, Found *found);
void write_guava_head(std::uint8_t *bytes, const Geometry &geometry);

} // namespace bloomfilter

#endif
