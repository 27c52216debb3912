// What this library knows of SQL functions: which of them probe filters, whatever their names and
// schemas, what aggregates consist of, and whether the user may call a function.
//
// A function probes a filter if it has our support function. Its declaration tells which argument
// is the filter, and what the filter is probed for. All of this is looked up in the catalogs once,
// and kept until they change.
#pragma once

#include "pg/server.hpp"

namespace bloomfilter {

// What a filter is probed for: a value with a type of its own, a bare literal, the hash of a value,
// or any or all elements of an array.
enum class ProbeTarget : uint8 { value, literal, hash, any, all };

// True if a filter is probed for several values at once.
inline bool is_of_array(ProbeTarget target) {
  return target == ProbeTarget::any || target == ProbeTarget::all;
}

struct KnownFunction {
  Oid function;
  bool probes; // true if it probes a filter; `target` and `filter` have a meaning only then
  // True if the server calls a function of its own in its place, because the function runs with its
  // own settings or as another user.
  bool by_proxy;
  ProbeTarget target;
  uint8 filter; // the number of the argument that is the filter: 0 or 1
  // Of an aggregate whose result is of one of our types: the C functions that it consists of. NULL
  // if it has none. The functions of other aggregates are not looked up.
  PGFunction step, final, combine, serial, deserial;
  bool has_initial_value;
};

KnownFunction known_function(Oid function);

// Changes whenever something may have changed that is known of functions, types, operators or
// aggregates.
uint64 known_generation();

// Returns the C function that the server would call for an SQL function. A function may have its
// own settings, be SECURITY DEFINER or have a hook that watches its calls. Then the server calls a
// C function of its own instead. Loads the function's library, so ask only for functions of our
// types: the library of another one may be gone.
PGFunction code_of(Oid function);

// True if the user may call a function. The planner adds no call of a function that the user may
// not call.
bool may_call(Oid function);

} // namespace bloomfilter

// The support functions of functions that probe filters, and the steps of aggregates that unite
// filters.
SQL_FUNCTIONS_BEGIN

Datum filter_support(PG_FUNCTION_ARGS);
Datum filter_support_all(PG_FUNCTION_ARGS);

Datum bloomfilter_union_step(PG_FUNCTION_ARGS);
Datum countingbloomfilter_union_step(PG_FUNCTION_ARGS);
Datum cuckoofilter_union_step(PG_FUNCTION_ARGS);

SQL_FUNCTIONS_END
