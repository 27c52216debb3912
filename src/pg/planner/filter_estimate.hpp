// What the planner can know of an expression that returns a filter. Estimates of rows and costs are
// made from this.
//
//   a constant, or a parameter of a custom plan     a sample of its bits, taken once
//   a column of filters                             the means that ANALYZE keeps
//   a column of a subquery or CTE, or the result    what that subquery selects: one of the above,
//   of a scalar subquery                            or an aggregate. bf_agg(x) has as many values
//                                                   as its input has distinct x.
//
// Nothing is known of any other expression. Nothing is known of a parameter of a generic plan or of
// an outer query either.
#pragma once

#include "pg/server.hpp"

#include "pg/value/sample.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// The number of bytes for each value in a filter of the default rate.
constexpr double kBytesPerValue = 1.25;

FilterEstimate estimate_of(PlannerInfo *root, Node *filter);

// The relation of one table, or of the join of several tables. NULL if the planner has not joined
// them.
RelOptInfo *relation_with(PlannerInfo *root, Relids tables);

} // namespace bloomfilter
