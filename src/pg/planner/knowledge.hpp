// What the planner can know of an expression that gives a filter.
//
//   a constant, or a parameter of a custom plan     a sample of its bits, taken once
//   a column of filters                             the means that ANALYZE keeps
//   a column of a subquery or CTE, or the result    what that subquery selects: one of the above,
//   of a scalar subquery                            or an aggregate: bf_agg(x) has as many values
//                                                   as its input has distinct x
//
// Nothing is known of any other expression, or of a parameter of a generic plan or an outer query.
#ifndef BLOOMFILTER_PG_PLANNER_KNOWLEDGE_HPP
#define BLOOMFILTER_PG_PLANNER_KNOWLEDGE_HPP

#include "pg/server.hpp"

#include "pg/planner/sample.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// What a value takes in a filter that is made at the default rate.
constexpr double kBytesPerValue = 1.25;

FilterEstimate known_of(PlannerInfo *root, Node *filter);

// The relation of these tables, joined; NULL if the planner has not joined them.
RelOptInfo *relation_with(PlannerInfo *root, Relids tables);

} // namespace bloomfilter

#endif
