// SQL functions as the planner sees them: the C function of each, and whether the user may call it.
// Some functions are recognised by their C functions, whatever their names and schemas.
#pragma once

#include "pg/server.hpp"

namespace bloomfilter {

// Returns the C function that the server would call for an SQL function. A function may have its
// own settings, be SECURITY DEFINER or have a hook that watches its calls. Then the server calls a
// C function of its own instead.
PGFunction code_of(Oid function);

// True if the user may call a function. The planner adds no call of a function that the user may
// not call.
bool may_call(Oid function);

} // namespace bloomfilter

// The support function of functions that probe filters, and the steps of aggregates that unite
// filters.
SQL_FUNCTIONS_BEGIN

Datum filter_support(PG_FUNCTION_ARGS);

Datum bloomfilter_union_step(PG_FUNCTION_ARGS);
Datum countingbloomfilter_union_step(PG_FUNCTION_ARGS);
Datum cuckoofilter_union_step(PG_FUNCTION_ARGS);

SQL_FUNCTIONS_END
