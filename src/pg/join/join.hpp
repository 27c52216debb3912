// Join filters: filters that the planner places by itself.
//
// A join drops the rows of one table, R, whose key is not among those of another one, S. Often a
// few rows of S are left after its own conditions, and nearly all rows of R are read, and perhaps
// sent to other processes and sorted, only to be dropped. So the planner is offered another path
// for R: a Bloom Filter Scan (pg/table/) that asks a filter of S's keys, and an InitPlan that
// builds the filter:
//
//   SELECT bf_join_agg(S.key) FROM S WHERE <the conditions on S alone>
//
// which a Bloom Filter Build (pg/build/) executes. (This aggregate is bf_agg, but for a filter that
// would be too large: it then has every value, and drops no rows.) It is a path as any other. It
// returns fewer rows than the server's paths, and costs what it costs; but the server's estimate of
// R's rows stays, so that the join, which is still carried out, is estimated as before. The
// executor knows nothing of join filters: it has a scan with a condition, and a parameter that an
// InitPlan sets.
//
// Why the result is the same: the filter is only placed where rows of R without a partner among the
// rows of S that fulfil S's conditions add nothing to the result (keys.cpp). Because this is true
// whatever rows the tables have, it may be applied again and again: S's rows for the filter may in
// turn be those that have a partner in a third table (source.cpp). R, S and the rest of the query
// see the same snapshot.
//
//   keys.cpp         which keys of other tables the rows of a table may be dropped by
//   source.cpp       what a filter is built from: a table, its conditions, its neighbours
//   filters.cpp      which filters pay for a table, and their InitPlans
//   join_path.cpp    paths and plans of scans that ask them
#ifndef BLOOMFILTER_PG_JOIN_JOIN_HPP
#define BLOOMFILTER_PG_JOIN_JOIN_HPP

#include "pg/server.hpp"

namespace bloomfilter {

// Defines bloomfilter.join_filter, and takes part in planning.
void define_join_filters();

} // namespace bloomfilter

#endif
