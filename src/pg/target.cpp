#include "pg/target.hpp"

#include "core/sizing.hpp"
#include "core/structure.hpp"
#include "pg/errors.hpp"
#include "pg/filter.hpp"
#include "pg/layout.hpp"

extern "C" {
#include "utils/float.h"
}

namespace bloomfilter {

Target target_args_with_layout(FunctionCallInfo fcinfo, Layout layout) {
  Target target = target_args(fcinfo, layout);
  if (PG_NARGS() > 4 && !PG_ARGISNULL(4)) {
    const Scheme &scheme = scheme_for(PG_GETARG_TEXT_PP(4));
    target.layout = scheme.layout;
    target.empty = scheme.empty;
  }
  return target;
}

Header header_for(const Target &target) {
  Geometry geometry = {target.layout, 0, 0};
  Capacity capacity = {0, target.rate};
  if (!target.self_sized) {
    capacity = checked_capacity(target.expected, target.rate);
    geometry = geometry_for(target.layout, capacity);
  } else if (!rate_in_range(target.rate))
    raise_bad_rate(target.rate);
  else if (is_foreign(target.layout))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("bf_agg does not size filters of layout \"%s\" itself",
                           layout_name(target.layout, target.empty)),
                    errhint("Give the expected number of values.")));
  Header header = empty_header(geometry, capacity, 0);
  header.element.family = target.empty;
  return header;
}

Header self_sized(Header header, uint64 values) {
  const Layout layout = header.geometry.layout;
  header.capacity.values = values;
  header.flags = kFlagOwn;
  if (!size_for(layout, values, header.capacity.rate, &header.geometry))
    raise_too_large(layout, header.capacity, ERRCODE_PROGRAM_LIMIT_EXCEEDED);
  check_size(kind_of(layout), header.geometry.bits());
  return header;
}

Header empty_of(Layout layout) {
  return self_sized(header_for({true, 0, kDefaultRate, layout, Family::none}), 1);
}

void raise_parameters_differ(const Target &first, const Target &other, const char *parts) {
  const Kind kind = kind_of(first.layout);
  const auto text_of = [kind](const Target &of) {
    const char *expected = of.self_sized ? "NULL" : float8out_internal(of.expected);
    return kind == Kind::bloom
               ? psprintf("%s, %g and \"%s\"", expected, of.rate, layout_name(of.layout, of.empty))
               : psprintf("%s and %g", expected, of.rate);
  };
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("parameters of %s_agg differ between %s", prefix_of(kind), parts),
                  errdetail("Expected number of values%s were %s, then %s.",
                            kind == Kind::bloom ? ", false positive rate and layout"
                                                : " and false positive rate",
                            text_of(first), text_of(other)),
                  errhint("Use the same values for all %s of a group.", parts)));
}

} // namespace bloomfilter
