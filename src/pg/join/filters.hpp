// The join filters of a table that pay.
#ifndef BLOOMFILTER_PG_JOIN_FILTERS_HPP
#define BLOOMFILTER_PG_JOIN_FILTERS_HPP

#include "pg/server.hpp"

#include "pg/join/source.hpp"

namespace bloomfilter {

// What planning, beginning and ending an InitPlan takes, in the units of cost that
// parallel_setup_cost has, too: a filter has to save more.
constexpr double kWorthwhile = 30.0;

struct JoinFilter {
  KeyPair pair;
  double tuples; // of the table, for all of which building it is paid once
  double share;  // of the rows that come to it, those that it lets through
  double spared; // what a row that is dropped does not cost in the join
  double probe;  // what a probe costs
  double build;  // what building it costs
  // Its InitPlan, which becomes part of the plan if a path that asks the filter is chosen.
  Param *result;
  PlannerInfo *subroot;
  Path *path;
  Expr *condition; // asks it for a row of the table
};

// The filters, in the order in which they are asked; the same ones whenever it is called for the
// same table.
List *filters_for(PlannerInfo *root, RelOptInfo *table);

// Makes the InitPlan of a filter part of the plan, unless it is already.
void attach_initplan(PlannerInfo *root, const JoinFilter *filter);

} // namespace bloomfilter

#endif
