// The shards that a set is divided into.
#pragma once

#include "pg/server.hpp"

#include "core/sizing.hpp"

namespace bloomfilter {

// The number of shards that hold a number of values at a rate, each in a bitmap of at most `bytes`
// bytes. ERROR 22023 if there would be too many; `expected` is the number of values that SQL gave.
int32 shard_count(const Capacity &capacity, uint64 bytes, double expected);

} // namespace bloomfilter
