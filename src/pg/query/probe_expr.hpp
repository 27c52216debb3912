// Recognises conditions that probe a filter. Estimates, batched scans and the index use this. The
// code calls such a condition a ProbeExpr: an expression that probes.
//
// A function probes a filter if it has our support function, whatever its name and schema. Its
// declaration tells which argument is the filter and what the filter is probed for.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace bloomfilter {

// What a filter is probed for: a value, the hash of a value, or any or all elements of an array.
enum class ProbeTarget : uint8 { value, hash, any, all };

// A condition that probes a filter.
struct ProbeExpr {
  Oid function; // the function that probes
  ProbeTarget target;
  Node *filter, *value;
  Oid collation; // of the value
};

// The condition that an operator stands for. False if the operator's function is not ours: a user
// may have given our estimators to any operator.
bool is_probe_by_operator(Oid operation, List *arguments, Oid collation, ProbeExpr *probe);

// The condition that a call of one of our functions stands for. `all` is true if the function
// probes for all elements of an array. Its declaration does not tell this.
ProbeExpr probe_by_function(Oid function, List *arguments, Oid collation, bool all);

// True if an expression probes a filter, unless it does so for all elements of an array. False if
// its function was altered to run with its own settings or as another user.
bool is_probe(Node *node, ProbeExpr *probe);

// True if is_probe() is true and the probe is for a value with a type of its own, not for a bare
// literal.
bool is_probe_for_value(Node *node, ProbeExpr *probe);

} // namespace bloomfilter
