// A set that is divided into many small filters, the shards. Each value belongs to one of them.
//
// A shard is a row of a table. An addition rewrites its row, so a row should be small: it must stay
// inline, and its next version should find room on the same page. PostgreSQL moves values out of a
// row above 2032 bytes. A row of an integer key and a filter of 29 lines (1896 bytes) has 1928
// bytes. Four such rows fill a page of 8 kB, and leave a hundred bytes for more columns.
//
// Shards need no more bits than one large filter. A value falls into one of all lines of all shards
// at random, so the loads of the lines are Poisson, whatever the loads of the shards are. That is
// the model by which filters are sized (sizing.hpp).
#ifndef BLOOMFILTER_CORE_SHARD_HPP
#define BLOOMFILTER_CORE_SHARD_HPP

#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

constexpr std::uint64_t kShardBytes = 29 * kLineBytes; // of the bitmap

// The shard of a hash, 0 ... shards - 1. It is fixed for ever, because tables are filled by it. The
// shard comes from a product with all bits of the hash. If it came from the high bits themselves,
// which choose the line, all values of a shard would share one or two of its lines.
inline std::uint32_t shard_of(std::uint64_t hash, std::uint32_t shards) {
  const std::uint64_t mixed = (hash * 0xD1B54A32D192ED03ULL) >> 32;
  return static_cast<std::uint32_t>((mixed * shards) >> 32);
}

// For how many values a filter of a layout can be made at a rate within kMinRate ... kMaxRate, if
// it may have `bytes` bytes without its header. No filter has more than kMaxBits bits.
std::uint64_t most_values(Layout layout, double rate, std::uint64_t bytes);

// How many filters of a layout hold `expected` values (at least 1), so that a filter for expected /
// number + 1 values has at most `bytes` bytes. Rate and `bytes` are as above.
std::uint64_t shards_for(Layout layout, std::uint64_t expected, double rate, std::uint64_t bytes);

} // namespace bloomfilter

#endif
