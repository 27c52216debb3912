// The selectivity of a condition that probes a filter: the share of rows for which it is true.
//
// Tests of this room: sql/planner.sql, test/t/021_planner.pl, test/t/025_shipped.pl.
#pragma once

#include "pg/server.hpp"

#include "pg/query/probe_expr.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

constexpr double kUnknown = 0.1; // the selectivity if nothing is known

double restriction_selectivity(PlannerInfo *root, const ProbeExpr &probe, int relation);

// If `type` says so, `join` is a semijoin or antijoin, as EXISTS makes it. The selectivity is then
// the share of outer rows that have a partner.
double join_selectivity(PlannerInfo *root, const ProbeExpr &probe, JoinType type,
                        SpecialJoinInfo *join);

} // namespace bloomfilter
