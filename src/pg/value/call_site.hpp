// What one call site keeps from one row to the next, in its expression's fn_extra. It keeps the
// element type, which is looked up once, the literal that it read last, and the filter that it
// probed last.
#ifndef BLOOMFILTER_PG_VALUE_CALL_SITE_HPP
#define BLOOMFILTER_PG_VALUE_CALL_SITE_HPP

#include "pg/server.hpp"

#include "pg/element/digests.hpp"
#include "pg/value/items.hpp"
#include "pg/value/probe.hpp"

extern "C" {
#include "utils/array.h"
}

namespace bloomfilter {

// The bare literal or untyped parameter that a call site read last, and its digests. The digests
// are valid for filters with this layout, family and seed. Most queries have the same literal for
// all rows.
struct LiteralMemory {
  char *bytes; // NULL until a literal was read
  Size length;
  Layout layout;
  Family family;
  uint64 seed;
  Digests digests;
};

// All bytes are zero at first. Each field is set and read by the functions that its comment names.
struct CallSite {
  Element *element;      // for argument_element() or item_element(); no call site uses both
  MemoryContext items;   // for item_element(): the memory of its element type
  LiteralMemory literal; // for cached_literal_digests()
  FilterMemory asked;    // for asked_filter()
  // For an aggregate: once arguments_known is true, arguments_fixed is true if all arguments after
  // the value are known to be the same for all rows.
  bool arguments_known, arguments_fixed;
};

CallSite *make_call_site(FunctionCallInfo fcinfo);
void resolve_argument(FunctionCallInfo fcinfo, CallSite *site, int argument);

inline CallSite *call_site(FunctionCallInfo fcinfo) {
  if (fcinfo->flinfo && fcinfo->flinfo->fn_extra)
    return static_cast<CallSite *>(fcinfo->flinfo->fn_extra);
  return make_call_site(fcinfo);
}

// The element type of an argument declared "any".
inline Element *argument_element(FunctionCallInfo fcinfo, int argument) {
  CallSite *site = call_site(fcinfo);
  if (!site->element)
    resolve_argument(fcinfo, site, argument);
  return site->element;
}

// The element type of an array argument's elements.
Element *item_element(FunctionCallInfo fcinfo, int argument, ArrayType *array);

// A value argument: its element type and its digests. ERROR 42804 if the filter holds other values.
struct HashedArgument {
  Element *element;
  Digests digests;
};
HashedArgument hashed_argument(FunctionCallInfo fcinfo, const Header &header, int argument,
                               Use use);

// An array argument's elements.
Items items_of(FunctionCallInfo fcinfo, int argument);

// Like literal_digests(), for an argument that is a literal. The call site remembers the digests.
Digests cached_literal_digests(FunctionCallInfo fcinfo, const Header &header, int argument,
                               Use use);

// The filter in an argument that is not NULL. It can be probed until a filter is looked up again,
// by this call site or another one.
inline AskedFilter *asked_filter(FunctionCallInfo fcinfo, int argument) {
  return find_filter(PG_GETARG_DATUM(argument), &call_site(fcinfo)->asked);
}

} // namespace bloomfilter

#endif
