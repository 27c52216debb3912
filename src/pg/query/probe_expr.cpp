// See probe_expr.hpp.

#include "pg/query/probe_expr.hpp"

extern "C" {
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {

bool is_probe_by_function(Oid function, List *arguments, Oid collation, ProbeExpr *probe) {
  const KnownFunction known = known_function(function);
  if (!known.probes || list_length(arguments) != 2)
    return false;
  *probe = {function, known.target, static_cast<Node *>(list_nth(arguments, known.filter)),
            static_cast<Node *>(list_nth(arguments, 1 - known.filter)), collation};
  return true;
}

bool is_probe_by_operator(Oid operation, List *arguments, Oid collation, ProbeExpr *probe) {
  return is_probe_by_function(get_opcode(operation), arguments, collation, probe);
}

bool is_probe(Node *node, ProbeExpr *probe) {
  if (IsA(node, OpExpr)) {
    auto *call = castNode(OpExpr, node);
    set_opfuncid(call);
    if (!is_probe_by_function(call->opfuncid, call->args, call->inputcollid, probe))
      return false;
  } else if (IsA(node, FuncExpr)) {
    auto *call = castNode(FuncExpr, node);
    if (!is_probe_by_function(call->funcid, call->args, call->inputcollid, probe))
      return false;
  } else {
    return false;
  }
  return probe->target != ProbeTarget::all && !known_function(probe->function).by_proxy &&
         !FmgrHookIsNeeded(probe->function);
}

bool is_probe_for_value(Node *node, ProbeExpr *probe) {
  return is_probe(node, probe) && probe->target == ProbeTarget::value;
}

} // namespace bloomfilter
