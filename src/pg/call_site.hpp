// What one call site (an expression's fn_extra) keeps between rows: the element type, looked up
// once, and the stored filter that it probed last.
#ifndef BLOOMFILTER_PG_CALL_SITE_HPP
#define BLOOMFILTER_PG_CALL_SITE_HPP

#include "pg/server.hpp"

#include "pg/element.hpp"
#include "pg/stored.hpp"

extern "C" {
#include "utils/array.h"
}

namespace bloomfilter {

// The element type of an argument declared "any".
Element *argument_element(FunctionCallInfo fcinfo, int argument);

// The element type of an array argument's elements.
Element *item_element(FunctionCallInfo fcinfo, ArrayType *array);

// The filter of an argument that is not NULL, to be asked until the next call for any filter.
ProbedFilter probed_filter(FunctionCallInfo fcinfo, int argument);

} // namespace bloomfilter

#endif
