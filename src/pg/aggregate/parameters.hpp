// An aggregate's parameters: the arguments that follow its value.
#ifndef BLOOMFILTER_PG_AGGREGATE_PARAMETERS_HPP
#define BLOOMFILTER_PG_AGGREGATE_PARAMETERS_HPP

#include "pg/server.hpp"

#include <cmath>

#include "core/sizing.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

struct Parameters {
  bool self_sized;
  double expected; // as SQL gave it, like the rate: header_for() checks both; 0 if self-sized
  double rate;
  Layout layout; // its profile, and so the kind of filter
  Family empty;  // the family of a filter without values, which with the layout is a scheme
};

// Two expected numbers are equal if they round to the same whole number.
inline bool operator==(const Parameters &a, const Parameters &b) {
  return a.self_sized == b.self_sized && std::rint(a.expected) == std::rint(b.expected) &&
         a.rate == b.rate && a.layout == b.layout && a.empty == b.empty;
}

// The parameters that a row has, without a layout argument: the layout is the one given here.
// parameters_of_row_with_layout() reads that argument, too.
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

// The header of a filter without values; that of a self-sized one has no geometry but the layout.
// ERROR 22023 if a parameter is out of range, 0A000 if filters of the layout do not size
// themselves.
Header header_for(const Parameters &parameters);

// The header with the size for so many distinct values, rounded to its size class if the header has
// kFlagSelfSized. ERROR 54000 if the filter would be too large.
Header sized_for(Header header, uint64 values);

// The header of a filter that sized itself for so many distinct values; errors as of sized_for().
Header self_sized(Header header, uint64 values);

// Sets this header. False if the filter would be too large.
bool self_sized_within_limits(Header *header, uint64 values);

// The filter without values, made for the expected number of them. If there is no such number, a
// bloomfilter grows, from kFirstValues on; the other kinds, which cannot grow, are for
// kUntoldValues. The filter has kFlagSelfSized until it gets a value, so that it adds nothing to a
// union. Errors as of header_for().
constexpr uint64 kFirstValues = 100;
constexpr uint64 kUntoldValues = 1000;
Filter filter_without_values(const Parameters &parameters);

// ERROR 22023: a row has other parameters than the first one, or whatever `parts` names does.
[[noreturn]] void raise_parameters_differ(const Parameters &first, const Parameters &other,
                                          const char *parts = "rows");

} // namespace bloomfilter

#endif
