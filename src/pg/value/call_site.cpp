// See call_site.hpp. The functions here run when a call site has nothing usable from the row
// before, and to hash a call's arguments.

#include "pg/value/call_site.hpp"

#include "pg/element/conversion.hpp"
#include "pg/element/literal.hpp"
#include "pg/list.hpp"
#include "pg/query/collation.hpp"

extern "C" {
#include "utils/lsyscache.h"
}

namespace bloomfilter {

CallSite *make_call_site(FunctionCallInfo fcinfo) {
  if (!fcinfo->flinfo)
    ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
                    errmsg("could not determine the type of a bloom filter's value")));
  auto *site = make_zeroed<CallSite>(fcinfo->flinfo->fn_mcxt);
  fcinfo->flinfo->fn_extra = site;
  return site;
}

void resolve_argument(FunctionCallInfo fcinfo, CallSite *site, int argument) {
  site->value_type = resolve_value_type(get_fn_expr_argtype(fcinfo->flinfo, argument),
                                        collation_of(fcinfo, argument), fcinfo->flinfo->fn_mcxt);
}

// The type of the elements is read from the array, because a column of type anyarray can hold
// arrays of different types.
ValueType *item_value_type(FunctionCallInfo fcinfo, int argument, ArrayType *array) {
  CallSite *site = call_site(fcinfo);
  const Oid type = ARR_ELEMTYPE(array);
  if (site->value_type && site->value_type->type == type)
    return site->value_type;
  site->value_type = nullptr; // in case replace_value_type() raises an error
  return site->value_type = replace_value_type(type, collation_of(fcinfo, argument),
                                               fcinfo->flinfo->fn_mcxt, &site->items);
}

HashedArgument hashed_argument(FunctionCallInfo fcinfo, const Header &header, int argument,
                               Purpose purpose) {
  ValueType *value_type = argument_value_type(fcinfo, argument);
  return {value_type, digests_for(value_type, PG_GETARG_DATUM(argument), header, purpose)};
}

Items items_of(FunctionCallInfo fcinfo, int argument) {
  ArrayType *array = PG_GETARG_ARRAYTYPE_P(argument);
  Items items;
  items.value_type = item_value_type(fcinfo, argument, array);
  items.scratch =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter elements", ALLOCSET_DEFAULT_SIZES);
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
  deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &items.values,
                    &items.nulls, &items.count);
  return items;
}

Digests cached_literal_digests(FunctionCallInfo fcinfo, const Header &header, int argument,
                               Purpose purpose) {
  text *literal = PG_GETARG_TEXT_PP(argument);
  const Size length = VARSIZE_ANY_EXHDR(literal);
  LastLiteral *last = &call_site(fcinfo)->literal;
  const Layout layout = profile_of(header.geometry.layout);
  if (last->bytes && last->length == length && last->layout == layout &&
      last->family == header.element_type.family && last->seed == header.seed &&
      memcmp(last->bytes, VARDATA_ANY(literal), length) == 0)
    return last->digests;

  const Digests digests = literal_digests(header, literal, collation_of(fcinfo, argument), purpose);
  if (last->bytes)
    pfree(last->bytes);
  last->bytes = nullptr;
  last->bytes = make_array<char>(length + 1, fcinfo->flinfo->fn_mcxt);
  memcpy(last->bytes, VARDATA_ANY(literal), length);
  last->length = length;
  last->layout = layout;
  last->family = header.element_type.family;
  last->seed = header.seed;
  return last->digests = digests;
}

} // namespace bloomfilter
