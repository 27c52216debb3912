// See cost.hpp.

#include "pg/planner/cost.hpp"

#include <cmath>

extern "C" {
#include "optimizer/optimizer.h"
}

namespace bloomfilter {
namespace {

constexpr double kCacheBytes = 512.0 * 1024.0;

// Multiples of cpu_operator_cost, the cost of comparing two numbers.
constexpr double kOperatorsPerProbe = 2.0;
constexpr double kOperatorsPerDoubling = 3.0;
// Checking the header of a filter.
constexpr double kOperatorsPerFilter = 40.0;

// Multiples of cpu_tuple_cost.
constexpr double kTuplesPerProbe = 0.6;
constexpr double kTuplesPerDoubling = 0.04;

// A filter of more bytes is stored out of line. A probe then reads two slices of the filter.
// Reading them takes six to eight buffers, which are in the server's buffer cache.
constexpr double kInlineBytes = 2000.0;
constexpr double kBuffers = 7.0;
constexpr double kPagesPerBuffer = 0.25; // in seq_page_cost

} // namespace

double doublings_beyond_cache(double bytes) {
  return std::log2(Max(bytes / kCacheBytes, 1.0));
}

double cost_of_probe(double bytes) {
  return (kOperatorsPerProbe + kOperatorsPerDoubling * doublings_beyond_cache(bytes)) *
         cpu_operator_cost;
}

double cost_of_batched_probe(double bytes) {
  return (kTuplesPerProbe + kTuplesPerDoubling * doublings_beyond_cache(bytes)) * cpu_tuple_cost;
}

double cost_of_another_filter(double bytes) {
  return kOperatorsPerFilter * cpu_operator_cost +
         (bytes > kInlineBytes ? kBuffers * kPagesPerBuffer * seq_page_cost : 0.0);
}

} // namespace bloomfilter
