// Guava's files, as BloomFilter.writeTo() writes them: strategy u8, k u8, number of words i32,
// words u64. All numbers are big-endian.
#pragma once

#include "core/foreign/file.hpp"

namespace bloomfilter {

constexpr std::size_t kGuavaHead = 6;
// Checks a whole file and finds its filter.
Finding read_guava(const std::uint8_t *bytes, std::size_t length, FoundFilter *found);
// Writes the kGuavaHead bytes before the words.
void write_guava_head(std::uint8_t *bytes, const Geometry &geometry);

} // namespace bloomfilter
