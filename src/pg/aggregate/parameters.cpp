// See parameters.hpp.

#include "pg/aggregate/parameters.hpp"

#include "core/sizing.hpp"
#include "core/structure.hpp"
#include "pg/errors.hpp"
#include "pg/names.hpp"
#include "pg/value/chain.hpp"
#include "pg/value/new_filter.hpp"

extern "C" {
#include "utils/float.h"
}

namespace bloomfilter {

Parameters parameters_of_row_with_layout(FunctionCallInfo fcinfo, Layout layout) {
  Parameters parameters = parameters_of_row(fcinfo, layout);
  if (PG_NARGS() > 4 && !PG_ARGISNULL(4)) {
    const Scheme &scheme = scheme_for(PG_GETARG_TEXT_PP(4), false);
    parameters.layout = scheme.layout;
    parameters.empty = scheme.empty;
  }
  return parameters;
}

Header header_for(const Parameters &parameters) {
  const Layout layout = parameters.layout;
  Header header;
  if (!parameters.self_sized)
    header = empty_header(layout, parameters.expected, parameters.rate, 0);
  else if (!rate_in_range(parameters.rate))
    raise_bad_rate(parameters.rate);
  else if (!has<Ability::sizes_itself>(layout))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("bf_agg does not size filters of layout \"%s\" itself",
                           layout_name(layout, parameters.empty)),
                    errhint("Give the expected number of values.")));
  else
    header = empty_header({layout, 0, 0}, {0, parameters.rate}, 0);
  header.element_type.family = parameters.empty;
  header.flags = parameters.self_sized ? kFlagSelfSized : 0;
  return header;
}

Parameters parameters_of(const Header &header) {
  const auto [values, rate] = header.capacity;
  const bool self_sized = header.is_self_sized();
  const Layout layout = profile_of(header.geometry.layout);
  return {self_sized, self_sized ? 0 : static_cast<double>(values), rate, layout,
          scheme_of(layout, header.element_type.family).empty};
}

namespace {

bool set_size(Header *header, uint64 values) {
  header->capacity.values = values;
  if (!size_for(header->geometry.layout, values, header->capacity.rate, &header->geometry))
    return false;
  if (header->is_self_sized())
    header->geometry = size_class(header->geometry);
  return true;
}

} // namespace

Header sized_for(Header header, uint64 values) {
  const Layout layout = header.geometry.layout;
  if (!set_size(&header, values))
    raise_too_large(layout, static_cast<double>(values), header.capacity.rate,
                    ERRCODE_PROGRAM_LIMIT_EXCEEDED);
  check_size(kind_of(layout), header.geometry.bits());
  return header;
}

bool size_within_limits(Header *header, uint64 values) {
  return set_size(header, values) && is_allowed_size(header->geometry.bits());
}

Filter filter_without_values(Header header) {
  const bool self_sized = header.is_self_sized();
  const Layout layout = header.geometry.layout;
  header.element_type = {scheme_of(profile_of(layout), header.element_type.family).empty, 0};
  header.flags = 0; // so that the size is not rounded
  if (self_sized && has<Ability::grows>(layout)) {
    header.capacity.values = kFirstValues;
    return make_growing(header, kFlagSelfSized);
  }
  if (self_sized)
    header = sized_for(header, kDefaultExpected);
  check_size(kind_of(layout), header.geometry.bits()); // a stored bf_partial may be older
  header.flags = kFlagSelfSized;
  return make_filter(header);
}

void raise_parameters_differ(const Parameters &first, const Parameters &other, const char *parts) {
  const Kind kind = kind_of(first.layout);
  const auto text_of = [kind](const Parameters &of) {
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
