// See probe_expr.hpp.

#include "pg/query/probe_expr.hpp"

extern "C" {
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

// Tells the filter from the value of a call. False if the function probes no filter.
bool take_apart(const KnownFunction &known, List *arguments, Oid collation, ProbeExpr *probe) {
  if (!known.probes || list_length(arguments) != 2)
    return false;
  *probe = {known.function, known.target, static_cast<Node *>(list_nth(arguments, known.filter)),
            static_cast<Node *>(list_nth(arguments, 1 - known.filter)), collation};
  return true;
}

} // namespace

bool is_probe_by_function(Oid function, List *arguments, Oid collation, ProbeExpr *probe) {
  return take_apart(known_function(function), arguments, collation, probe);
}

bool is_probe_by_operator(Oid operation, List *arguments, Oid collation, ProbeExpr *probe) {
  return is_probe_by_function(get_opcode(operation), arguments, collation, probe);
}

bool is_probe(Node *node, ProbeExpr *probe) {
  KnownFunction known;
  if (IsA(node, OpExpr)) {
    auto *call = castNode(OpExpr, node);
    set_opfuncid(call);
    known = known_function(call->opfuncid);
    if (!take_apart(known, call->args, call->inputcollid, probe))
      return false;
  } else if (IsA(node, FuncExpr)) {
    const auto *call = castNode(FuncExpr, node);
    known = known_function(call->funcid);
    if (!take_apart(known, call->args, call->inputcollid, probe))
      return false;
  } else {
    return false;
  }
  return known.target != ProbeTarget::all && !known.by_proxy && !FmgrHookIsNeeded(known.function);
}

bool is_probe_for_value(Node *node, ProbeExpr *probe) {
  return is_probe(node, probe) && probe->target == ProbeTarget::value;
}

} // namespace bloomfilter
