// What one call site (an expression's fn_extra) keeps between rows: the element type, which it
// looks up once, the literal that it read last, and the filter that it probed last.
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

// The bare literal or untyped parameter that a call site read last, with its digests, and the
// layout, family and seed under which it has these. A query has one literal for all rows.
struct LiteralMemory {
  char *bytes; // NULL: none yet
  Size length;
  Layout layout;
  Family family;
  uint64 seed;
  Digests digests;
};

// All bytes are zero at first. Each field is set by the function that it is for.
struct CallSite {
  Element *element;      // for argument_element() and item_element(), which no call site has both
  MemoryContext items;   // for item_element(): the memory of its element type
  LiteralMemory literal; // for cached_literal_digests()
  FilterMemory asked;    // for asked_filter()
  bool arguments_known, arguments_fixed; // for an aggregate: are its other arguments constant?
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

// The same as literal_digests() of a literal argument; the call site remembers it.
Digests cached_literal_digests(FunctionCallInfo fcinfo, const Header &header, int argument,
                               Use use);

// The filter of an argument that is not NULL. It can be probed until the next call for any filter.
inline AskedFilter *asked_filter(FunctionCallInfo fcinfo, int argument) {
  return find_filter(PG_GETARG_DATUM(argument), &call_site(fcinfo)->asked);
}

} // namespace bloomfilter

#endif
