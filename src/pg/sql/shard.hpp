// The shards that a set is divided into.
#pragma once

#include "pg/server.hpp"

#include "core/sizing.hpp"

namespace bloomfilter {

struct Shards {
  int32 number;
  Capacity set;
  uint64 each; // the number of values that one shard is made for
};

// The shards of a set. ERROR 22023 if the number of values or the rate is out of range, or if there
// would be too many shards.
Shards checked_shards(double expected, double rate);

} // namespace bloomfilter
