// See probe_expr.hpp.

#include "pg/query/probe_expr.hpp"

#include "pg/names.hpp"
#include "pg/query/function.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace bloomfilter {
namespace {

// Finds the function that a node calls, its arguments and its input collation. False if the node
// calls no function with two arguments.
bool get_call(Node *node, Oid *function, List **arguments, Oid *collation) {
  if (IsA(node, OpExpr)) {
    auto *call = castNode(OpExpr, node);
    set_opfuncid(call);
    *function = call->opfuncid;
    *arguments = call->args;
    *collation = call->inputcollid;
  } else if (IsA(node, FuncExpr)) {
    auto *call = castNode(FuncExpr, node);
    *function = call->funcid;
    *arguments = call->args;
    *collation = call->inputcollid;
  } else {
    return false;
  }
  return list_length(*arguments) == 2;
}

bool is_of_filter(Node *node) {
  Kind kind;
  return is_filter_type(exprType(node), &kind);
}

// True if a function probes a filter. False for functions that probe for all elements of an array,
// because they have another support function.
bool probes_filter(Oid function) {
  const Oid support = get_func_support(function);
  if (!OidIsValid(support))
    return false;
  return code_of(support) == filter_support;
}

// True if the server calls a function as another user, with the function's own settings, or through
// a hook.
bool is_called_by_proxy(Oid function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for function %u", function);
  const bool by_proxy = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prosecdef ||
                        !heap_attisnull(tuple, Anum_pg_proc_proconfig, nullptr) ||
                        FmgrHookIsNeeded(function);
  ReleaseSysCache(tuple);
  return by_proxy;
}

// True if one of a function's two arguments is declared as "any".
bool takes_any(Oid function) {
  Oid *types;
  int count;
  get_func_signature(function, &types, &count);
  const bool any = types[0] == ANYOID || types[1] == ANYOID;
  pfree(types);
  return any;
}

// Tells the filter from the value by the declared types. The declaration also identifies an array
// and a hash. An argument that is declared as "any" or bf_literal is a value.
ProbeExpr probe_of(Oid function, const Oid *types, List *arguments, Oid collation, bool all) {
  Kind kind;
  const bool first = is_filter_type(types[0], &kind);
  const Oid type = types[first ? 1 : 0];
  auto *one = static_cast<Node *>(linitial(arguments));
  auto *other = static_cast<Node *>(lsecond(arguments));
  const ProbeTarget target = type == INT8OID       ? ProbeTarget::hash
                             : type != ANYARRAYOID ? ProbeTarget::value
                             : all                 ? ProbeTarget::all
                                                   : ProbeTarget::any;
  return {function, target, first ? one : other, first ? other : one, collation};
}

} // namespace

bool is_probe_by_operator(Oid operation, List *arguments, Oid collation, ProbeExpr *probe) {
  const Oid function = get_opcode(operation);
  if (list_length(arguments) != 2 || !probes_filter(function))
    return false;
  Oid types[2];
  op_input_types(operation, &types[0], &types[1]);
  *probe = probe_of(function, types, arguments, collation, false);
  return true;
}

ProbeExpr probe_by_function(Oid function, List *arguments, Oid collation, bool all) {
  Oid *types;
  int count;
  get_func_signature(function, &types, &count);
  const ProbeExpr probe = probe_of(function, types, arguments, collation, all);
  pfree(types);
  return probe;
}

bool is_probe(Node *node, ProbeExpr *probe) {
  Oid function, collation;
  List *arguments;
  if (!get_call(node, &function, &arguments, &collation))
    return false;
  if (!is_of_filter(static_cast<Node *>(linitial(arguments))) &&
      !is_of_filter(static_cast<Node *>(lsecond(arguments))))
    return false; // checked first, because fmgr_info() loads a library that may be gone
  if (!probes_filter(function) || is_called_by_proxy(function))
    return false;
  *probe = probe_by_function(function, arguments, collation, false);
  return true;
}

bool is_probe_for_value(Node *node, ProbeExpr *probe) {
  return is_probe(node, probe) && takes_any(probe->function);
}

} // namespace bloomfilter
