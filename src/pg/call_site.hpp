// What one call site (an expression's fn_extra) keeps between rows: the element type, looked up
// once, and the stored filter probed last, detoasted once.
#ifndef BLOOMFILTER_PG_CALL_SITE_HPP
#define BLOOMFILTER_PG_CALL_SITE_HPP

#include "pg/server.hpp"

#include "pg/element.hpp"
#include "pg/filter.hpp"

extern "C" {
#include "utils/array.h"
}

namespace bloomfilter {

// The element type of an argument declared "any".
Element *argument_element(FunctionCallInfo fcinfo, int argument);

// The element type of an array argument's elements.
Element *item_element(FunctionCallInfo fcinfo, ArrayType *array);

// The filter of an argument that is not NULL, to be read only and until the call site's next call.
//
// A value in place is used in place. A value stored out of line is detoasted when its TOAST
// pointer differs, in any byte, from the one of the call before: a pointer names one immutable
// value, and its id cannot come round again while an expression lives. (The address of an inline
// value names nothing: the next row may lie there.)
Filter probed_filter(FunctionCallInfo fcinfo, int argument);

} // namespace bloomfilter

#endif
