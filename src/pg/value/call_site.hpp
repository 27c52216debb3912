// A call site is one place in a query that calls one of our functions or operators. This is what it
// keeps in its fn_extra from one row to the next, so that work is not repeated for each row:
// - the element type, which is looked up once;
// - the digests of the literal that it read last;
// - the filter that it probed last.
//
// A call without FmgrInfo has no fn_extra and no argument types. It raises an error.
#pragma once

#include "pg/server.hpp"

#include "pg/element/digests.hpp"
#include "pg/value/items.hpp"
#include "pg/value/probed_filter.hpp"

extern "C" {
#include "utils/array.h"
}

namespace bloomfilter {

// The bare literal or untyped parameter that a call site read last, and its digests. Most queries
// probe each row's filter for the same literal. The digests can be used again if the filter has
// this layout, family and seed.
struct LastLiteral {
  char *bytes; // NULL until a literal was read
  Size length;
  Layout layout;
  Family family;
  uint64 seed;
  Digests digests;
};

// All bytes are zero at first. Each field is set and read by the functions that its comment names.
struct CallSite {
  ValueType *value_type; // for argument_value_type() or item_value_type(); no call site uses both
  MemoryContext items;   // for item_value_type(): the memory of its element type
  LastLiteral literal;   // for cached_literal_digests()
  LastFilter probed;     // for probed_filter()
  // Only for aggregates. arguments_fixed is true if all arguments after the value are the same for
  // every row. It is valid once arguments_known is true.
  bool arguments_known, arguments_fixed;
};

// The parts of call_site() and argument_value_type() that run only for the first row.
CallSite *make_call_site(FunctionCallInfo fcinfo);
void resolve_argument(FunctionCallInfo fcinfo, CallSite *site, int argument);

inline CallSite *call_site(FunctionCallInfo fcinfo) {
  if (fcinfo->flinfo && fcinfo->flinfo->fn_extra)
    return static_cast<CallSite *>(fcinfo->flinfo->fn_extra);
  return make_call_site(fcinfo);
}

// The element type of a value argument, whose declared type is "any".
inline ValueType *argument_value_type(FunctionCallInfo fcinfo, int argument) {
  CallSite *site = call_site(fcinfo);
  if (!site->value_type)
    resolve_argument(fcinfo, site, argument);
  return site->value_type;
}

// The element type of the values in an array argument.
ValueType *item_value_type(FunctionCallInfo fcinfo, int argument, ArrayType *array);

// A value argument's element type and digests. hashed_argument() raises ERROR 42804 if the filter's
// element type is another one.
struct HashedArgument {
  ValueType *value_type;
  Digests digests;
};
HashedArgument hashed_argument(FunctionCallInfo fcinfo, const Header &header, int argument,
                               Purpose purpose);

// The values in an array argument.
Items items_of(FunctionCallInfo fcinfo, int argument);

// The result of literal_digests() for a literal argument. The call site remembers it.
Digests cached_literal_digests(FunctionCallInfo fcinfo, const Header &header, int argument,
                               Purpose purpose);

// The filter in an argument that is not NULL. It can be probed until this call site or another one
// looks up a filter.
inline ProbedFilter *probed_filter(FunctionCallInfo fcinfo, int argument) {
  return find_filter(PG_GETARG_DATUM(argument), &call_site(fcinfo)->probed);
}

} // namespace bloomfilter
