#include "pg/call_site.hpp"

extern "C" {
#include "access/detoast.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

struct CallSite {
  Element *element;
  struct varatt_external pointer; // of `stored`
  struct varlena *stored;
};

CallSite *call_site(FunctionCallInfo fcinfo) {
  if (!fcinfo->flinfo->fn_extra)
    fcinfo->flinfo->fn_extra = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(CallSite));
  return static_cast<CallSite *>(fcinfo->flinfo->fn_extra);
}

} // namespace

Element *argument_element(FunctionCallInfo fcinfo, int argument) {
  CallSite *site = call_site(fcinfo);
  if (!site->element)
    site->element = resolve_element(get_fn_expr_argtype(fcinfo->flinfo, argument),
                                    PG_GET_COLLATION(), fcinfo->flinfo->fn_mcxt);
  return site->element;
}

Element *item_element(FunctionCallInfo fcinfo, ArrayType *array) {
  CallSite *site = call_site(fcinfo);
  if (!site->element || element_type(site->element) != ARR_ELEMTYPE(array))
    site->element =
        resolve_element(ARR_ELEMTYPE(array), PG_GET_COLLATION(), fcinfo->flinfo->fn_mcxt);
  return site->element;
}

Filter probed_filter(FunctionCallInfo fcinfo, int argument) {
  auto *datum = reinterpret_cast<struct varlena *>(PG_GETARG_POINTER(argument));
  if (!VARATT_IS_EXTERNAL_ONDISK(datum))
    return open_filter(PG_DETOAST_DATUM(PointerGetDatum(datum)));

  struct varatt_external pointer;
  VARATT_EXTERNAL_GET_POINTER(pointer, datum);
  CallSite *site = call_site(fcinfo);
  if (!site->stored || memcmp(&site->pointer, &pointer, sizeof pointer) != 0) {
    if (site->stored) {
      pfree(site->stored);
      site->stored = nullptr;
    }
    const MemoryContext before = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
    site->stored = detoast_attr(datum);
    MemoryContextSwitchTo(before);
    site->pointer = pointer;
  }
  return open_filter(site->stored);
}

} // namespace bloomfilter
