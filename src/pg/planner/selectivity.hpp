// The share of rows for which a condition that asks a filter is true.
#ifndef BLOOMFILTER_PG_PLANNER_SELECTIVITY_HPP
#define BLOOMFILTER_PG_PLANNER_SELECTIVITY_HPP

#include "pg/server.hpp"

#include "pg/planner/question.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

constexpr double kUnknown = 0.1; // the share if nothing is known

double restriction_selectivity(PlannerInfo *root, const Question &question, int relation);

// `join` is that of EXISTS if `type` says so: its rows are those of the outer side with a partner.
double join_selectivity(PlannerInfo *root, const Question &question, JoinType type,
                        SpecialJoinInfo *join);

} // namespace bloomfilter

#endif
