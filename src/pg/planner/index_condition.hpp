// Conditions that an index over stored filters can answer.
#ifndef BLOOMFILTER_PG_PLANNER_INDEX_CONDITION_HPP
#define BLOOMFILTER_PG_PLANNER_INDEX_CONDITION_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/supportnodes.h"
}

namespace bloomfilter {

// A list of one condition, `filter @>> bloomfilter_probe(value)`, that is true of the same rows as
// the one that the request is about; NULL if the index cannot answer that, or if it could raise an
// error that a scan would not raise.
Node *index_conditions(SupportRequestIndexCondition *request);

} // namespace bloomfilter

#endif
