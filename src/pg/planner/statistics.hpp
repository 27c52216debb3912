// What ANALYZE keeps about a column of filters in addition to the usual statistics: the means of
// the filters' counts, rates and sizes. They are in a slot of pg_statistic whose kind is in the
// range for private use.
//
// (src/include/catalog/pg_statistic.h: kinds from 10000 to 30000 are for private use within a
// site.) The slot's numbers are, in this order: the mean count, the mean rate, the mean size in
// bytes, the share of filters that have the commonest element family, and this family. pg_dump
// --statistics and pg_upgrade do not carry such kinds over. Until the next ANALYZE, the column then
// counts as never analyzed.
#pragma once

#include "pg/server.hpp"

#include "pg/value/sample.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// The means of a column of filters. Nothing is known if the expression is no such column, or if the
// column was never analyzed.
FilterEstimate column_statistics(PlannerInfo *root, Node *column);

} // namespace bloomfilter
