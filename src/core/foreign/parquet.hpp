// Parquet's files: BloomFilterHeader (parquet.thrift) in Thrift's compact protocol, then the
// bitset.
#pragma once

#include "core/foreign/file.hpp"

namespace bloomfilter {

// Parquet's readers accept no larger bitset
constexpr std::size_t kMaxParquetBytes = 128 * 1024 * 1024;

constexpr std::size_t kMaxParquetHead = 24;
// Checks a whole file and finds its filter. If only the number of bytes is wrong, `found` is set as
// well. After any other finding, found->offset is 0.
Finding read_parquet(const std::uint8_t *bytes, std::size_t length, FoundFilter *found);
// Writes the header before the bitset; returns its length, at most kMaxParquetHead.
std::size_t write_parquet_head(std::uint8_t *bytes, const Geometry &geometry);

} // namespace bloomfilter
