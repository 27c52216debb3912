// The collation under which a value argument is compared.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// True if a value is a literal or a parameter of the statement. Other parameters stand for columns:
// those of a joined subquery, or those of an outer query.
bool is_literal_or_parameter(Node *value);

// The collation of a call. If the call has none, it is the collation of the given argument;
// postgres_fdw can send a call in such a form (pg/planner/shippable.cpp). Returns InvalidOid if
// there is no collation, or if two collations conflict.
Oid collation_of(FunctionCallInfo fcinfo, int argument);

} // namespace bloomfilter
