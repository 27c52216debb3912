// Makes our calls acceptable to postgres_fdw, so that it sends them to the remote server.
//
// postgres_fdw sends an operator or a function with an input collation only if a remote column has
// that collation. The collation of a literal or a parameter comes from no remote column, so `filter
// @> 'x'` would fetch the filters. But our functions need to know only that the collation is
// deterministic. So the planner checks this and then removes the collation from the call. When the
// call is executed, our function still finds the collation in the argument
// (pg/query/collation.hpp).
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// The call without its collation. If an operator calls the function, the result is the operator:
// the server's estimates and our scans look for operators. NULL if the call has no collation, or
// needs it.
Node *shippable_form(const FuncExpr *call);

} // namespace bloomfilter
