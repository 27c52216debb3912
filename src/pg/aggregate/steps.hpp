// The C functions that our aggregates consist of, and the C function of bf_element_of(). The
// executor calls them through SQL.
//
// They are declared here because the planner compares their addresses. A Bloom Filter Build
// (pg/build/build.hpp) is an executor node that replaces aggregates. The planner recognises an
// aggregate that the node can replace by its functions, not by its name (pg/build/calls.cpp).
#pragma once

#include "pg/server.hpp"

SQL_FUNCTIONS_BEGIN

Datum bloomfilter_agg_trans(PG_FUNCTION_ARGS);
Datum countingbloomfilter_agg_trans(PG_FUNCTION_ARGS);
Datum cuckoofilter_agg_trans(PG_FUNCTION_ARGS);
Datum bloomfilter_partial_add(PG_FUNCTION_ARGS);

Datum bloomfilter_agg_final(PG_FUNCTION_ARGS);
Datum bloomfilter_join_final(PG_FUNCTION_ARGS);
Datum countingbloomfilter_agg_final(PG_FUNCTION_ARGS);
Datum cuckoofilter_agg_final(PG_FUNCTION_ARGS);
Datum bloomfilter_partial_final(PG_FUNCTION_ARGS);
Datum bloomfilter_partial_agg_final(PG_FUNCTION_ARGS);

Datum filter_agg_combine(PG_FUNCTION_ARGS);
Datum bloomfilter_partial_combine(PG_FUNCTION_ARGS);
Datum filter_agg_serial(PG_FUNCTION_ARGS);
Datum filter_agg_deserial(PG_FUNCTION_ARGS);

Datum bf_element_of(PG_FUNCTION_ARGS);

SQL_FUNCTIONS_END
