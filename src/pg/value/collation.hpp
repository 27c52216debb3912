// The collation under which a value argument is compared.
#ifndef BLOOMFILTER_PG_VALUE_COLLATION_HPP
#define BLOOMFILTER_PG_VALUE_COLLATION_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// Is a value a literal or a parameter of the statement? Other parameters stand for columns, of a
// subquery that is joined or of a query around this one.
bool is_given(Node *value);

// The collation of a call. If the call has none, as in the form in which postgres_fdw can send it
// (pg/planner/shippable.hpp), it is the argument's. InvalidOid if there is no collation, or if
// there are two at odds.
Oid collation_of(FunctionCallInfo fcinfo, int argument);

} // namespace bloomfilter

#endif
