// Conditions that an index on a column of filters can evaluate.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/supportnodes.h"
}

namespace bloomfilter {

// Returns a list of one condition, `filter @>> bloomfilter_probe(value)`. This condition is true
// for the same rows as the condition in the request. Returns NULL if the index cannot evaluate the
// condition, or if an index scan could raise an error that a sequential scan would not raise.
Node *index_conditions(SupportRequestIndexCondition *request);

} // namespace bloomfilter
