// What a probe costs. script/bench measures it, and script/bench scan that of a batch.
//
// A filter larger than the processor's cache makes a probe wait for memory, longer with each
// doubling of its size; less so if many values are probed together, for the lines of the filter are
// then prefetched. A probe that stands alone is compared with the other conditions of a row, so its
// cost is a multiple of cpu_operator_cost. Probes of a batch are compared with a sequential scan,
// which takes cpu_tuple_cost for a row, so their cost is a multiple of that.
#ifndef BLOOMFILTER_PG_PLANNER_COST_HPP
#define BLOOMFILTER_PG_PLANNER_COST_HPP

#include "pg/server.hpp"

namespace bloomfilter {

// The binary logarithm of how many times larger than the processor's cache so many bytes are; 0 if
// they are not larger.
double doublings_beyond_cache(double bytes);

// A probe of a filter of so many bytes that other rows have probed before.
double cost_of_probe(double bytes);

// The same in a batch, with hashing a number.
double cost_of_batched_probe(double bytes);

// Finding a filter of so many bytes, if each row has another one.
double cost_of_another_filter(double bytes);

} // namespace bloomfilter

#endif
