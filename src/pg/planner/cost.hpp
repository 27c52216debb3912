// The planner's estimates of what a probe costs. script/bench measures single probes, and
// script/bench scan measures probes in a batch.
//
// If a filter is larger than the processor's cache, a probe waits for memory. The wait is longer
// for each doubling of the filter's size. It is shorter if many values are probed together, because
// the filter's cache lines are then prefetched.
//
// The planner compares a single probe with the other conditions on a row, so its cost is a multiple
// of cpu_operator_cost. It compares a batch with a sequential scan, which pays cpu_tuple_cost for
// each row. So the cost of a probe in a batch is a multiple of cpu_tuple_cost.
//
// The estimates assume the same size of the processor's cache on every machine.
#pragma once

#include "pg/server.hpp"

namespace bloomfilter {

// How often the processor's cache would have to double until it held this number of bytes. The
// result is a binary logarithm. It is 0 if the cache is large enough already.
double doublings_beyond_cache(double bytes);

// The cost of a single probe. The filter has this number of bytes, and earlier rows have probed the
// same filter.
double cost_of_probe(double bytes);

// The cost of a probe in a batch, including the hash of a number.
double cost_of_batched_probe(double bytes);

// The cost of opening a filter of this number of bytes, if each row has another filter.
double cost_of_another_filter(double bytes);

} // namespace bloomfilter
