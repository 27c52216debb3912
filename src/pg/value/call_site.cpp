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
  site->element = resolve_element(get_fn_expr_argtype(fcinfo->flinfo, argument),
                                  collation_of(fcinfo, argument), fcinfo->flinfo->fn_mcxt);
}

// The type of the elements is read from the array, because a column of type anyarray can hold
// arrays of different types.
Element *item_element(FunctionCallInfo fcinfo, int argument, ArrayType *array) {
  CallSite *site = call_site(fcinfo);
  const Oid type = ARR_ELEMTYPE(array);
  if (site->element && site->element->type == type)
    return site->element;
  site->element = nullptr; // in case replace_element() raises an error
  return site->element = replace_element(type, collation_of(fcinfo, argument),
                                         fcinfo->flinfo->fn_mcxt, &site->items);
}

HashedArgument hashed_argument(FunctionCallInfo fcinfo, const Header &header, int argument,
                               Use use) {
  Element *element = argument_element(fcinfo, argument);
  return {element, digests_for(element, PG_GETARG_DATUM(argument), header, use)};
}

Items items_of(FunctionCallInfo fcinfo, int argument) {
  ArrayType *array = PG_GETARG_ARRAYTYPE_P(argument);
  Items items;
  items.element = item_element(fcinfo, argument, array);
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
                               Use use) {
  text *literal = PG_GETARG_TEXT_PP(argument);
  const Size length = VARSIZE_ANY_EXHDR(literal);
  LiteralMemory *memory = &call_site(fcinfo)->literal;
  const Layout layout = profile_of(header.geometry.layout);
  if (memory->bytes && memory->length == length && memory->layout == layout &&
      memory->family == header.element.family && memory->seed == header.seed &&
      memcmp(memory->bytes, VARDATA_ANY(literal), length) == 0)
    return memory->digests;

  const Digests digests = literal_digests(header, literal, collation_of(fcinfo, argument), use);
  if (memory->bytes)
    pfree(memory->bytes);
  memory->bytes = nullptr;
  memory->bytes = static_cast<char *>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, length + 1));
  memcpy(memory->bytes, VARDATA_ANY(literal), length);
  memory->length = length;
  memory->layout = layout;
  memory->family = header.element.family;
  memory->seed = header.seed;
  return memory->digests = digests;
}

} // namespace bloomfilter
