// Hive's files, as BloomKFilter.serialize() writes them: k u8, number of words i32, words u64. All
// numbers are big-endian. Druid's files are the same, because its class is a copy of Hive's.
#pragma once

#include "core/foreign/file.hpp"

namespace bloomfilter {

constexpr std::size_t kHiveHead = 5;
// Checks a whole file and finds its filter.
Finding read_hive(const std::uint8_t *bytes, std::size_t length, FoundFilter *found);
void write_hive_head(std::uint8_t *bytes, const Geometry &geometry);

} // namespace bloomfilter
