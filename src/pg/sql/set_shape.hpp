// The shape of a set: its levels of shards, and the filters in each shard.
//
// A set is a tree of shards. Level 0 has the number of shards that the expected number of values
// needs. A shard that is full stays as it is, and its further values go to its children on the next
// level. Each child is a shard of its own, in a row of its own. So an addition writes a row of
// about two kilobytes, however large the set is, and a lookup reads one row of each level.
//
// The shards of a level are numbered as bf_shard() numbers them. A level has a fixed multiple of
// the shards of the level above it, so all values of a shard belong to the same shard of each level
// above. The shards of all levels have one sequence of keys, level after level.
//
// Sizes and rates. The rates of all levels together stay within the rate r of the set; after a
// hundredfold growth, 0.73 r was measured:
// - On level 0, a shard has a plain filter. The loads of shards vary, so it is sized for two
//   standard deviations more than the shard's share of the expected values. Then it is full, and
//   its rate is 0.74 r. At r = 1 %, it has 0.57 r when it holds just its share.
// - On deeper levels, a shard has a growing filter, which begins small and adds links in the row.
//   So a set that has just begun to grow does not take many times the space. With the
//   links that fit into its row, a shard has 0.2 r on level 1 and 0.1 r on level 2.
// - Shards of the deepest level are never full. Their filters grow as far as a filter can.
//
// A set that forgets has five generations in each shard, each with a filter of its own. A new value
// goes to one generation, and a value is looked for in all five. A generation is small, so its
// loads vary more, and it is sized for four standard deviations more than its share. Then it has
// 0.7 r, and with its share 0.23 r or less. So the rate is above r while all generations have
// nearly as many values as fit, a quarter more than expected. When a shard is full, no generation
// of it gets more values, and the values that it holds are soon forgotten. So the rates of levels
// do not add up for long, and each level has a fifth of r for each generation.
//
// The trade-off: a set that will never grow pays for the possibility. It takes 1.13 times the bits
// that one filter of the same rate takes, 1.24 times at 0.0001, and 1.5 times at a millionth.
//
// Tests: sql/sets.sql, sql/set_growth.sql, test/t/045_sets.pl,
// test/t/046_set_generations.pl.
#pragma once

#include "pg/server.hpp"

#include "core/sizing.hpp"

namespace bloomfilter {

constexpr int kMaxLevels = 3;
constexpr int kGenerations = 5; // of a set that forgets: the current one, and four before it

// The filters of the shards of one level.
struct Level {
  int32 shards;      // on this level
  int32 first;       // key of the level's first shard
  Capacity capacity; // of an empty filter
  bool grows;        // true if the filter gets more links; otherwise it has the layout `lines`
  double most;       // the number of values at which a shard is full; infinite on the deepest level
};

struct SetShape {
  Capacity capacity; // of the set; of one that forgets: per `keep`
  int fan_out;       // children of a shard
  int levels;
  Level level[kMaxLevels];
};

// The number of shards that hold a number of values at a rate, each in a bitmap of at most `bytes`
// bytes. ERROR 22023 if there would be too many; `expected` is the number of values that SQL gave.
int32 shard_count(const Capacity &capacity, uint64 bytes, double expected);

// The shape of a set. ERROR 22023 if the number of values or the rate is out of range, or if there
// would be too many shards.
SetShape set_shape(double expected, double rate, bool forgets);

} // namespace bloomfilter
