// An aggregate's parameters are the arguments that follow its value: the expected number of values,
// the false positive rate and the layout. This header reads them, compares those of two rows, and
// turns them into the header of a state. If the expected number is missing, the filter is
// self-sized: its size follows from the number of distinct values.
#pragma once

#include "pg/server.hpp"

#include <cmath>

#include "core/sizing.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

struct Parameters {
  bool self_sized;
  // As SQL gave them; header_for() checks both. The expected number is 0 if self_sized.
  double expected;
  double rate;
  Layout layout; // the profile of the filter's layout, which implies the kind of filter
  Family empty;  // the family of a filter without values; it and the layout make a scheme
};

// Two expected numbers are equal if they round to the same whole number.
inline bool operator==(const Parameters &a, const Parameters &b) {
  return a.self_sized == b.self_sized && std::rint(a.expected) == std::rint(b.expected) &&
         a.rate == b.rate && a.layout == b.layout && a.empty == b.empty;
}

// The parameters in a row's arguments. The first function ignores the layout argument and uses
// `layout`. The second one reads the layout argument; if there is none, it uses `layout`, too.
inline Parameters parameters_of_row(FunctionCallInfo fcinfo, Layout layout) {
  Parameters parameters = {true, 0, kDefaultRate, layout, Family::none};
  if (PG_NARGS() > 2 && !PG_ARGISNULL(2)) {
    parameters.self_sized = false;
    parameters.expected = PG_GETARG_FLOAT8(2);
  }
  if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
    parameters.rate = PG_GETARG_FLOAT8(3);
  return parameters;
}
Parameters parameters_of_row_with_layout(FunctionCallInfo fcinfo, Layout layout);

// The header of a state without values, and the parameters of a state, or of a bf_partial, that has
// this header. If the filter is self-sized, the header has kFlagSelfSized, its geometry has only
// the layout, and its capacity no number. ERROR 22023 if a parameter is out of range, 0A000 if
// filters of the layout cannot be self-sized.
Header header_for(const Parameters &parameters);
Parameters parameters_of(const Header &header);

// sized_for() returns the header with the size for `values` distinct values. If the header has
// kFlagSelfSized, the size is rounded to its size class. ERROR 54000 if the filter would be too
// large. size_within_limits() changes a header in the same way, and returns false instead.
Header sized_for(Header header, uint64 values);
bool size_within_limits(Header *header, uint64 values);

// The filter of a state that has this header and no values, made for the expected number of values.
// If there is no expected number, a bloomfilter starts with kFirstValues and grows. The other kinds
// cannot grow; they are made for kDefaultExpected. The filter has kFlagSelfSized until it gets a
// value, so that it adds nothing to a union. ERROR 54000 if it would be too large.
constexpr uint64 kFirstValues = 100;
constexpr uint64 kDefaultExpected = 1000;
Filter filter_without_values(Header header);

// Raises ERROR 22023: the parameters differ between rows, or between the parts that `parts` names.
[[noreturn]] void raise_parameters_differ(const Parameters &first, const Parameters &other,
                                          const char *parts = "rows");

} // namespace bloomfilter
