// What ANALYZE keeps of a column of filters beside the usual statistics: the means of their counts,
// rates and sizes, in a slot of pg_statistic of a kind from the range for private use.
//
// (src/include/catalog/pg_statistic.h: kinds from 10000 to 30000 are for private use within a
// site.) The numbers are, in this order: mean count, mean rate, mean size in bytes, the share of
// filters of the commonest element family, and that family. pg_dump --statistics and pg_upgrade do
// not carry such kinds; until the next ANALYZE the column then counts as never analyzed.
#ifndef BLOOMFILTER_PG_PLANNER_STATISTICS_HPP
#define BLOOMFILTER_PG_PLANNER_STATISTICS_HPP

#include "pg/server.hpp"

#include "pg/planner/sample.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// What ANALYZE keeps of a column of filters; nothing is known if the expression is no such column,
// or if that was never analyzed.
FilterEstimate column_statistics(PlannerInfo *root, Node *column);

} // namespace bloomfilter

#endif
