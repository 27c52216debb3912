// The aggregate calls that a Bloom Filter Build can compute. The planner finds them here. The
// executor uses the same functions when the node begins, and checks the permissions that the server
// checks for an aggregate.
#pragma once

#include "pg/server.hpp"

#include "core/layout.hpp"
#include "pg/aggregate/state.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// What an aggregate call builds, and from which values.
struct BuildCall {
  Layout layout;       // the layout of the filter, if no argument names another one
  bool takes_elements; // true if the value is a bf_element and the state is a bf_partial
  bool returns_state;  // true if the result is a state: of bf_partial_agg, or of a partial call
  bool is_partial;     // true if a Finalize Aggregate combines the result with others
  bool within_limits;  // for finish_state(), if returns_state is false
  Node *value;         // the expression that is hashed; has columns of the table
  Oid collation;
  List *arguments; // the value first; the arguments after it are the same for all rows
  List *condition; // the condition of FILTER; NIL if there is none
};

// True if a build can compute a call for all rows of a table, and sets `call`. The result
// is false for any other extension's or user's aggregate that uses only some functions of ours.
bool is_build_call(const Aggref *aggregate, BuildCall *call);

// Makes the plan depend on the functions of an aggregate that is_build_call() looks at. If one of
// them is altered, the server plans the query again. The server does the same for the aggregate.
void depend_on_functions(PlannerInfo *root, const Aggref *aggregate);

// Checks the permissions for the functions of an aggregate call. Raises the same ERROR 42501 as the
// server.
void check_permission(const Aggref *aggregate);

} // namespace bloomfilter
