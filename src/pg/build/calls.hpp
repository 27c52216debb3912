// Calls of aggregates that a Bloom Filter Build can carry out.
#ifndef BLOOMFILTER_PG_BUILD_CALLS_HPP
#define BLOOMFILTER_PG_BUILD_CALLS_HPP

#include "pg/server.hpp"

#include "core/layout.hpp"
#include "pg/aggregate/state.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// What a call builds, and of which values.
struct BuildCall {
  Layout layout;             // unless an argument names another one
  bool takes_elements;       // is its value a bf_element, and its state a bf_partial?
  bool returns_state;        // does it end as a partial state: for a Finalize Aggregate, or as a
                             // bf_partial?
  bool is_partial;           // does a Finalize Aggregate combine its result with others?
  Filter (*finish)(State *); // makes the filter, unless it returns a state
  Node *value;               // what is hashed, of the columns of a row
  Oid collation;
  List *arguments; // the value first, those behind it the same for all rows
  List *condition; // of FILTER; NIL if there is none
};

// Can a call be carried out for all rows of a table at once? False for the aggregates of others,
// also if they use functions of ours.
bool is_build_call(const Aggref *aggregate, BuildCall *call);

// Has the plan made anew once a function that is_build_call() looks at is altered. The server does
// this for the aggregate.
void depend_on_functions(PlannerInfo *root, const Aggref *aggregate);

// May a role call a function?
bool may_call(Oid function, Oid role);

// ERROR 42501 if the user may not call the functions of a call, as the server raises it.
void check_permission(const Aggref *aggregate);

} // namespace bloomfilter

#endif
