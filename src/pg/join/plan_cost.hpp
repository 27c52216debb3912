// Adds to the cost of a whole plan what the paths in it leave out.
//
// A path that probes join filters is given a lower cost than it has, because the server compares
// the paths of a table before it knows the joins above, where dropped rows save most. This is right
// within a query. But the cost of the whole plan is compared with others: with those of the query
// around it, and with that of a plan for other parameters. So it has to be what the plan costs, and
// is never less than the cost of an InitPlan.
#pragma once

#include "pg/server.hpp"

namespace bloomfilter {

// Sets the planner's hook for the paths of a whole query.
void define_plan_cost();

} // namespace bloomfilter
