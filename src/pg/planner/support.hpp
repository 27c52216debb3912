// The C functions by which the planner recognises what SQL calls: the support function of functions
// that probe filters (support.cpp), and the steps of aggregates that unite filters.
#ifndef BLOOMFILTER_PG_PLANNER_SUPPORT_HPP
#define BLOOMFILTER_PG_PLANNER_SUPPORT_HPP

#include "pg/server.hpp"

SQL_FUNCTIONS_BEGIN

Datum filter_support(PG_FUNCTION_ARGS);

Datum bloomfilter_union_step(PG_FUNCTION_ARGS);
Datum countingbloomfilter_union_step(PG_FUNCTION_ARGS);
Datum cuckoofilter_union_step(PG_FUNCTION_ARGS);

SQL_FUNCTIONS_END

#endif
