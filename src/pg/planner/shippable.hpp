// What postgres_fdw sends to a remote server.
//
// It sends an operator or a function that has an input collation only if that is a remote column's.
// That of a literal or a parameter is its own, so `filter @> 'x'` would fetch the filters. But all
// that the functions need to know of a collation is that it is deterministic. Once the planner has
// looked at it, the call goes without one, and the argument still tells which it was to the
// function that executes it (pg/value/collation.hpp).
#ifndef BLOOMFILTER_PG_PLANNER_SHIPPABLE_HPP
#define BLOOMFILTER_PG_PLANNER_SHIPPABLE_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// The call without a collation, as an operator if there is one, which is what the server estimates
// and what scans look for. NULL: it has none, or needs it.
Node *shippable_form(const FuncExpr *call);

} // namespace bloomfilter

#endif
