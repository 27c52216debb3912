// What the caller of an aggregate asked for: its arguments behind the value.
#ifndef BLOOMFILTER_PG_AGGREGATE_PARAMETERS_HPP
#define BLOOMFILTER_PG_AGGREGATE_PARAMETERS_HPP

#include "pg/server.hpp"

#include <cmath>

#include "core/sizing.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

struct Target {
  bool self_sized;
  double expected; // as SQL gave it, as the rate: header_for() checks both; 0 if self-sized
  double rate;
  Layout layout; // its profile, and so the kind of filter
  Family empty;  // of a filter without values: with the layout, the scheme
};

// Numbers of values are the same if they are rounded to the same.
inline bool operator==(const Target &a, const Target &b) {
  return a.self_sized == b.self_sized && std::rint(a.expected) == std::rint(b.expected) &&
         a.rate == b.rate && a.layout == b.layout && a.empty == b.empty;
}

// The arguments of a row, with the layout that is given; target_args_with_layout() reads another
// one.
inline Target target_args(FunctionCallInfo fcinfo, Layout layout) {
  Target target = {true, 0, kDefaultRate, layout, Family::none};
  if (PG_NARGS() > 2 && !PG_ARGISNULL(2)) {
    target.self_sized = false;
    target.expected = PG_GETARG_FLOAT8(2);
  }
  if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
    target.rate = PG_GETARG_FLOAT8(3);
  return target;
}
Target target_args_with_layout(FunctionCallInfo fcinfo, Layout layout);

// The header of a filter without values; of a self-sized one with no geometry but the layout. ERROR
// 22023 if a parameter is out of range, 0A000 if filters of the layout do not size themselves.
Header header_for(const Target &target);

// A header with the size for so many distinct values: that of its size class if it has the flag
// own. ERROR 54000 if the filter would be too large.
Header sized_for(Header header, uint64 values);

// The header of a filter that sized itself for so many distinct values; errors as of sized_for().
Header self_sized(Header header, uint64 values);

// The arguments of an aggregate behind the value as the query has them, for a final function that
// saw no row. One is as if it were NULL if it depends on a row or is not found, and so is an
// expected number below 1, as a count of no rows is; another system's layout then gets
// kUntoldValues.
Target target_in_query(FunctionCallInfo fcinfo, Layout layout);

// The filter of no values: for as many as the target says. Where it says nothing, a bloomfilter
// grows from kFirstValues on, and others, which cannot, are for kUntoldValues. It has the flag own
// until it gets a value, and so adds nothing to a union. Errors as of header_for().
constexpr uint64 kFirstValues = 100;
constexpr uint64 kUntoldValues = 1000;
Filter filter_without_values(const Target &target);

// 22023: the arguments of a row, or of what `parts` says, are not those of the first one.
[[noreturn]] void raise_parameters_differ(const Target &first, const Target &other,
                                          const char *parts = "rows");

} // namespace bloomfilter

#endif
