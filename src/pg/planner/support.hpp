// The support function, by which the planner recognises functions that ask filters (support.cpp).
#ifndef BLOOMFILTER_PG_PLANNER_SUPPORT_HPP
#define BLOOMFILTER_PG_PLANNER_SUPPORT_HPP

#include "pg/server.hpp"

SQL_FUNCTIONS_BEGIN

Datum filter_support(PG_FUNCTION_ARGS);

SQL_FUNCTIONS_END

#endif
