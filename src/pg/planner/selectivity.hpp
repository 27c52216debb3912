// Which share of rows a condition of ours lets through.
#ifndef BLOOMFILTER_PG_PLANNER_SELECTIVITY_HPP
#define BLOOMFILTER_PG_PLANNER_SELECTIVITY_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// What a filter is asked for: a value, a hash of one, or any or all elements of an array.
enum class Asked : uint8 { value, hash, any, all };

// A condition that asks a filter.
struct Question {
  Oid function; // that answers it
  Asked asked;
  Node *filter, *value;
  Oid collation; // of the value
};

// The estimated number of an array's elements.
double array_length(PlannerInfo *root, Node *array);

double restriction_selectivity(PlannerInfo *root, const Question &question, int relation);

// `semijoin` is that of EXISTS, whose rows are those of the outer side that have a partner.
double join_selectivity(PlannerInfo *root, const Question &question, JoinType type,
                        SpecialJoinInfo *join);

} // namespace bloomfilter

#endif
