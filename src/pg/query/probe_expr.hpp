// Recognises conditions that probe a filter. Estimates, batched scans and the index use this. The
// code calls such a condition a ProbeExpr: an expression that probes.
//
// Tests of this room: sql/scan.sql, sql/planner.sql, test/t/021_planner.pl.
#pragma once

#include "pg/server.hpp"

#include "pg/query/known_function.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// A condition that probes a filter.
struct ProbeExpr {
  Oid function; // the function that probes
  ProbeTarget target;
  Node *filter, *value;
  Oid collation; // of the value
};

// The condition that a call of a function stands for. False if the function probes no filter.
bool is_probe_by_function(Oid function, List *arguments, Oid collation, ProbeExpr *probe);

// The same for an operator. A user may have given our estimators to any operator.
bool is_probe_by_operator(Oid operation, List *arguments, Oid collation, ProbeExpr *probe);

// True if an expression probes a filter, unless it does so for all elements of an array. False if
// its function was altered to run with its own settings or as another user, or if a hook watches
// its calls.
bool is_probe(Node *node, ProbeExpr *probe);

// True if is_probe() is true and the probe is for a value with a type of its own, not for a bare
// literal.
bool is_probe_for_value(Node *node, ProbeExpr *probe);

} // namespace bloomfilter
