#include "pg/call_site.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

struct CallSite {
  Element *element;
  ProbeMemory probed;
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

ProbedFilter probed_filter(FunctionCallInfo fcinfo, int argument) {
  return probe_filter(PG_GETARG_DATUM(argument), &call_site(fcinfo)->probed);
}

} // namespace bloomfilter
