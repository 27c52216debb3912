// What postgres_fdw sends to a remote server.
//
// It sends an operator or a function with an input collation only if a remote column has that
// collation. A literal or a parameter has its own, so `filter @> 'x'` would fetch the filters. But
// our functions need to know of a collation only that it is deterministic. The planner checks this
// and then removes the collation from the call; the function that executes the call still finds it
// in the argument (pg/value/collation.hpp).
#ifndef BLOOMFILTER_PG_PLANNER_SHIPPABLE_HPP
#define BLOOMFILTER_PG_PLANNER_SHIPPABLE_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// The call without its collation: as an operator if there is one, because the server's estimates
// and our scans look for operators. NULL if the call has no collation, or needs it.
Node *shippable_form(const FuncExpr *call);

} // namespace bloomfilter

#endif
