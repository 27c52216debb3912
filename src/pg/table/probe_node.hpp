// Bloom Filter Probe: drops rows of another scan by filters that the planner has placed.
//
// A Bloom Filter Scan reads a whole table. If a join drives an index scan instead, the table's rows
// come a few at a time, from wherever the index finds them. This node probes the filters for each
// row that the index scan returns. What it drops would be dropped by a later join.
//
// It decides at run time whether a filter is built and whether it rests (probe_control.hpp). Nobody
// knows before how many rows such scans return in total. So a filter is built when the rows that
// have come would have paid for it: a filter that is built too late or in vain costs at most as
// much again.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// Makes the plan of a node that probes filters for the rows of `input`. For each of the conditions,
// `needed` has the number of rows that must come so that building the filter pays.
Plan *make_probe_plan(Plan *input, List *targets, List *conditions, List *needed);

// Registers the node.
void define_probe_node();

} // namespace bloomfilter
