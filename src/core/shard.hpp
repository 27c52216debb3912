// Shards: a set that is divided into many small filters. Each value belongs to one of them.
//
// A shard is a row of a table. Adding a value rewrites the row, so the row should be small. It must
// stay inline, and its next version should find room on the same heap page. PostgreSQL moves values
// out of a row of more than 2032 bytes. A row with an integer key and a filter of 29 lines (1896
// bytes) has 1928 bytes. Four such rows fill a page of 8 kB and leave a hundred bytes for more
// columns.
//
// Shards need no more bits than one large filter. A value falls at random into one of all lines of
// all shards. So the loads of the lines are Poisson, whatever the loads of the shards are. Filters
// are sized by this same model (sizing.hpp).
#pragma once

#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

constexpr std::uint64_t kShardBytes = 29 * kLineBytes; // of the bitmap

// The shard of a hash, 0 ... shards - 1. It never changes, because it decides in which row of a
// table a value is. The shard comes from a product with all bits of the hash. The high bits
// themselves choose the line. If they chose the shard, too, all values of a shard would share one
// or two of its lines.
inline std::uint32_t shard_of(std::uint64_t hash, std::uint32_t shards) {
  const std::uint64_t mixed = (hash * 0xD1B54A32D192ED03ULL) >> 32;
  return static_cast<std::uint32_t>((mixed * shards) >> 32);
}

// The largest number of values for which a filter of a layout fits into `bytes` bytes without its
// header. The rate is within kMinRate ... kMaxRate. No filter has more than kMaxBits bits.
std::uint64_t most_values(Layout layout, double rate, std::uint64_t bytes);
// The same for a filter that has the layout `lines` at every rate (size_in_lines()).
std::uint64_t most_values_in_lines(double rate, std::uint64_t bytes);

// The number of filters of a layout that hold `expected` values (at least 1). A filter for expected
// / number + 1 values then has at most `bytes` bytes. Rate and `bytes` are as above.
std::uint64_t shards_for(Layout layout, std::uint64_t expected, double rate, std::uint64_t bytes);

} // namespace bloomfilter
