// See known_function.hpp.

#include "pg/query/known_function.hpp"

#include "pg/compat.hpp"
#include "pg/names.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/syscache.h"
}

namespace bloomfilter {
namespace {

HTAB *known = nullptr; // of KnownFunction; NULL if nothing is known yet
uint64 generation = 0;

void forget(Datum, SysCacheIdentifier, uint32) {
  generation++;
  if (known)
    hash_destroy(known);
  known = nullptr;
}

void watch_catalogs() {
  static bool watching = false;
  if (watching)
    return;
  watching = true;
  constexpr SysCacheIdentifier kCatalogs[] = {PROCOID, TYPEOID, OPEROID, AGGFNOID, NAMESPACEOID};
  for (const SysCacheIdentifier catalog : kCatalogs)
    CacheRegisterSyscacheCallback(catalog, forget, 0);
}

// Sets what an aggregate consists of.
void look_up_steps(KnownFunction *aggregate) {
  HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate->function));
  if (!HeapTupleIsValid(tuple))
    return;
  const FormData_pg_aggregate row = *reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple));
  aggregate->has_initial_value = !heap_attisnull(tuple, Anum_pg_aggregate_agginitval, nullptr);
  ReleaseSysCache(tuple);
  const auto code = [](Oid function) { return OidIsValid(function) ? code_of(function) : nullptr; };
  aggregate->step = code(row.aggtransfn);
  aggregate->final = code(row.aggfinalfn);
  aggregate->combine = code(row.aggcombinefn);
  aggregate->serial = code(row.aggserialfn);
  aggregate->deserial = code(row.aggdeserialfn);
}

// Tells the filter from the value by the declared types. They also identify an array and a hash. An
// argument that is declared as bf_literal is a bare literal.
KnownFunction from_catalogs(Oid function) {
  KnownFunction found = {};
  found.function = function;
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple))
    return found;
  const auto *row = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  const Oid support = row->prosupport, result = row->prorettype;
  const bool is_aggregate = row->prokind == PROKIND_AGGREGATE;
  Oid types[2] = {};
  if (row->pronargs == 2)
    memcpy(types, row->proargtypes.values, sizeof types);
  found.by_proxy = row->prosecdef || !heap_attisnull(tuple, Anum_pg_proc_proconfig, nullptr);
  ReleaseSysCache(tuple);
  Kind kind;
  if (is_aggregate && (is_filter_type(result, &kind) || is_partial_type(result)))
    look_up_steps(&found);
  if (!OidIsValid(support) || !OidIsValid(types[0]))
    return found;
  const bool is_first = is_filter_type(types[0], &kind);
  if (!is_first && !is_filter_type(types[1], &kind))
    return found;
  const PGFunction code = code_of(support);
  const Oid value = types[is_first ? 1 : 0];
  found.probes = code == filter_support || code == filter_support_all;
  found.filter = is_first ? 0 : 1;
  found.target = value == INT8OID             ? ProbeTarget::hash
                 : value == ANYOID            ? ProbeTarget::value
                 : value != ANYARRAYOID       ? ProbeTarget::literal
                 : code == filter_support_all ? ProbeTarget::all
                                              : ProbeTarget::any;
  return found;
}

} // namespace

KnownFunction known_function(Oid function) {
  watch_catalogs();
  // A hook that watches calls may choose them by the user, so then nothing is kept.
  if (needs_fmgr_hook)
    return from_catalogs(function);
  if (known)
    if (const void *entry = hash_search(known, &function, HASH_FIND, nullptr))
      return *static_cast<const KnownFunction *>(entry);
  const uint64 before = generation;
  const KnownFunction found = from_catalogs(function);
  if (generation != before) // the look-ups themselves received news
    return found;
  if (!known) {
    HASHCTL control = {};
    control.keysize = sizeof(Oid);
    control.entrysize = sizeof(KnownFunction);
    known = hash_create("bloomfilter known functions", 64, &control, HASH_ELEM | HASH_BLOBS);
  }
  *static_cast<KnownFunction *>(hash_search(known, &function, HASH_ENTER, nullptr)) = found;
  return found;
}

uint64 known_generation() {
  watch_catalogs();
  return generation;
}

PGFunction code_of(Oid function) {
  FmgrInfo info;
  fmgr_info(function, &info);
  return info.fn_addr;
}

bool may_call(Oid function) {
  return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
}

} // namespace bloomfilter
