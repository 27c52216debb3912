// What support.cpp asks other files of this room.
//
// Tests of this room: sql/planner.sql, test/t/021_planner.pl, test/t/025_shipped.pl.
#pragma once

#include "pg/server.hpp"

#include "pg/query/probe_expr.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
}

namespace bloomfilter {

constexpr double kUnknown = 0.1; // the selectivity if nothing is known

// The share of rows for which a condition that probes a filter is true (selectivity.cpp). If `type`
// says so, `join` is a semijoin or antijoin, as EXISTS makes it. The selectivity is then the share
// of outer rows that have a partner.
double restriction_selectivity(PlannerInfo *root, const ProbeExpr &probe, int relation);
double join_selectivity(PlannerInfo *root, const ProbeExpr &probe, JoinType type,
                        SpecialJoinInfo *join);

// Returns a list of one condition, `filter @>> bloomfilter_probe(value)`, for an index on a column
// of filters (index_condition.cpp). This condition is true for the same rows as the condition in
// the request. Returns NULL if the index cannot evaluate the condition, or if an index scan could
// raise an error that a sequential scan would not raise.
Node *index_conditions(SupportRequestIndexCondition *request);

// The call without its collation, so that postgres_fdw sends it (shippable.cpp). If an operator
// calls the function, the result is the operator: the server's estimates and our scans look for
// operators. NULL if the call has no collation, or needs it.
Node *shippable_form(const FuncExpr *call);

} // namespace bloomfilter
