// See set_shape.hpp.

#include "pg/sql/set_shape.hpp"

#include <cmath>

#include "core/links.hpp"
#include "core/shard.hpp"
#include "core/structure.hpp"
#include "pg/value/new_filter.hpp"

extern "C" {
#include "utils/float.h"
}

namespace bloomfilter {
namespace {

// The bytes of the bitmaps of one filter. A row of a set that forgets has five filters, and three
// such rows fill a page. So two of them leave room for the next version of one.
constexpr uint64 kGenerationBytes = 7 * kLineBytes;

// What a full shard has of the rate, by level.
constexpr double kRateShare[kMaxLevels] = {0.74, 0.2, 0.1};
constexpr double kFirstGenerationShare = 0.7, kGenerationShare = 1 / 5.0;

// How many standard deviations above its share a shard is full. A generation is smaller and varies
// more. It begins every quarter of `keep` again, so it has many more chances to be an exception.
constexpr double kDeviations = 2, kDeviationsOfGeneration = 4;

// The number of values in a shard varies by the square root of its share. Returns the share for
// which a shard is full with `full` values: share + deviations * sqrt(share) = full.
double share_of_full(double full, double deviations) {
  const double root = (std::sqrt(deviations * deviations + 4 * full) - deviations) / 2;
  return root * root;
}

[[noreturn]] void raise_too_many(const Capacity &capacity, double expected) {
  ereport(
      ERROR,
      (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
       errmsg("a set of %s values at a false positive rate of %g would need more than %d shards",
              float8out_internal(expected), capacity.rate, PG_INT32_MAX),
       errhint("Use fewer values or a higher false positive rate.")));
}

// How many children a shard has. The more there are, the fewer levels a lookup reads. But a row of
// a set that forgets has five filters, so it takes more space when it is new.
constexpr int kFanOut = 24, kFanOutOfGenerations = 8;

// The largest number of links that fit into a row.
constexpr int kLinksInRow = 4, kLinksInGeneration = 3;

double in_range(double rate) {
  return Max(Min(rate, kMaxRate), kMinRate);
}

// A series of links as growth makes it: its bytes and the number of values that it holds.
struct Series {
  uint64 bytes, values;
};

Series series_from(const Capacity &requested, int links) {
  Header header;
  header.capacity = requested;
  Link link = {{}, kFlagSelfSized, {requested.values, first_rate(requested.rate)}};
  size_for(Layout::lines, link.capacity.values, link.capacity.rate, &link.geometry);
  Series series = {link.geometry.bytes(), link.capacity.values};
  while (--links > 0) {
    Link next;
    if (!next_link(header, link, &next))
      return {PG_UINT64_MAX, 0};
    link = next;
    series.bytes += link.geometry.bytes();
    series.values += link.capacity.values;
  }
  return series;
}

// The filters of a level below the first. They begin as small as possible, but so large that
// `links` links use the bytes of the row.
Level growing_level(double rate, int links, uint64 bytes) {
  double sum = 0; // of the rates of the links, as a share of the rate asked for
  for (int i = 0; i < links; i++)
    sum += std::pow(0.75, i) / 4;
  Capacity initial = {1, in_range(rate / sum)};
  while (series_from({initial.values + 1, initial.rate}, links).bytes <= bytes)
    initial.values++;
  // The last link must not become full, because it would get another link.
  const auto values = static_cast<double>(series_from(initial, links).values);
  return {0, 0, initial, true, Max(std::floor(0.98 * values) - 1, 1)};
}

} // namespace

int32 shard_count(const Capacity &capacity, uint64 bytes, double expected) {
  const uint64 shards = shards_for(Layout::lines, capacity.values, capacity.rate, bytes);
  if (shards > PG_INT32_MAX)
    raise_too_many(capacity, expected);
  return static_cast<int32>(shards);
}

SetShape set_shape(double expected, double rate, bool forgets) {
  const Capacity capacity = checked_capacity(expected, rate);
  const double values = std::ceil(static_cast<double>(capacity.values) /
                                  (forgets ? kGenerations - 1 : 1)); // in filters of one time
  const double rate_of_full =
      in_range(capacity.rate * (forgets ? kFirstGenerationShare : kRateShare[0]));
  const double deviations = forgets ? kDeviationsOfGeneration : kDeviations;
  const uint64 bytes = forgets ? kGenerationBytes : kShardBytes;
  const auto fitting = static_cast<double>(most_values_in_lines(rate_of_full, bytes));
  const double shards = std::ceil(values / share_of_full(fitting, deviations));
  if (shards > PG_INT32_MAX)
    raise_too_many(capacity, expected);
  const double share = values / shards;
  const double full = Min(std::ceil(share + deviations * std::sqrt(share)), fitting);

  SetShape shape = {capacity, forgets ? kFanOutOfGenerations : kFanOut, 0, {}};
  int64 first = 0, number = static_cast<int64>(shards);
  while (shape.levels < kMaxLevels && first + number - 1 <= PG_INT32_MAX) {
    Level &level = shape.level[shape.levels];
    if (shape.levels == 0)
      level = {0, 0, {static_cast<uint64>(full), rate_of_full}, false, full};
    else
      level = growing_level(capacity.rate * (forgets ? kGenerationShare : kRateShare[shape.levels]),
                            forgets ? kLinksInGeneration : kLinksInRow, bytes);
    level.shards = static_cast<int32>(number);
    level.first = static_cast<int32>(first);
    shape.levels++;
    first += number;
    number *= shape.fan_out;
  }
  shape.level[shape.levels - 1].most = get_float8_infinity();
  return shape;
}

} // namespace bloomfilter
