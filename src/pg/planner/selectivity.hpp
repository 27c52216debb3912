// Which share of rows a condition of ours lets through.
#ifndef BLOOMFILTER_PG_PLANNER_SELECTIVITY_HPP
#define BLOOMFILTER_PG_PLANNER_SELECTIVITY_HPP

#include "pg/server.hpp"

#include "pg/planner/question.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// The estimated number of an array's elements.
double array_length(PlannerInfo *root, Node *array);

double restriction_selectivity(PlannerInfo *root, const Question &question, int relation);

// `semijoin` is that of EXISTS, whose rows are those of the outer side that have a partner.
double join_selectivity(PlannerInfo *root, const Question &question, JoinType type,
                        SpecialJoinInfo *join);

} // namespace bloomfilter

#endif
