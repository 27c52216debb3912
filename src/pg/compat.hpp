// The differences between the C interfaces of PostgreSQL 15 to 19, each in one place.
//
// All other files call the server as PostgreSQL 19 is called. For an older server, this file
// defines the missing names and arguments. They are in the namespace bloomfilter, so the compiler
// finds them before the server's own. When a new release changes an interface, its calls are
// changed to the new form, and this file gets the old form.
//
// Only differences in form belong here. If servers behave differently (soft errors, disabled paths,
// old_snapshot_threshold), the code that depends on the behaviour has the #if.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_proc_d.h"
#include "commands/explain.h"
#include "commands/vacuum.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/appendinfo.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
}

namespace bloomfilter {

// --- before 19 -----------------------------------------------------------------------------------

#if PG_VERSION_NUM < 190000

using BufferLockMode = int;
using NodeInstrumentation = Instrumentation;
using SysCacheIdentifier = int;

// Flags of slots and table scans. Older servers do not have them, and the functions below do not
// pass them on.
constexpr uint16 TTS_FLAG_OBEYS_NOT_NULL_CONSTRAINTS = 0;
constexpr uint32 SO_NONE = 0;
constexpr uint32 SO_HINT_REL_READ_ONLY = 0;

inline bool ScanRelIsReadOnly(ScanState *) {
  return false;
}

inline TupleTableSlot *ExecAllocTableSlot(List **slots, TupleDesc columns,
                                          const TupleTableSlotOps *callbacks, uint16) {
  return ::ExecAllocTableSlot(slots, columns, callbacks);
}

inline void ExecInitScanTupleSlot(EState *state, ScanState *scan, TupleDesc columns,
                                  const TupleTableSlotOps *callbacks, uint16) {
  ::ExecInitScanTupleSlot(state, scan, columns, callbacks);
}

inline TableScanDesc table_beginscan(Relation table, Snapshot snapshot, int key_count,
                                     ScanKeyData *keys, uint32) {
  return ::table_beginscan(table, snapshot, key_count, keys);
}

inline TableScanDesc table_beginscan_parallel(Relation table, ParallelTableScanDesc shared,
                                              uint32) {
  return ::table_beginscan_parallel(table, shared);
}

inline IndexFetchTableData *table_index_fetch_begin(Relation table, uint32) {
  return ::table_index_fetch_begin(table);
}

struct AppendPathInput {
  List *subpaths;
  List *partial_subpaths;
  List *child_append_relid_sets;
};

inline AppendPath *create_append_path(PlannerInfo *root, RelOptInfo *relation,
                                      AppendPathInput input, List *order, Relids outer, int workers,
                                      bool parallel_aware, double rows) {
  return ::create_append_path(root, relation, input.subpaths, input.partial_subpaths, order, outer,
                              workers, parallel_aware, rows);
}

// Older servers number their subplans and do not name them.
inline char *choose_plan_name(PlannerGlobal *, const char *, bool) {
  return nullptr;
}

inline PlannerInfo *subquery_planner(PlannerGlobal *query, Query *subquery, char *,
                                     PlannerInfo *parent, PlannerInfo *, bool has_recursion,
                                     double fraction, void *) {
#if PG_VERSION_NUM >= 170000
  return ::subquery_planner(query, subquery, parent, has_recursion, fraction, nullptr);
#else
  return ::subquery_planner(query, subquery, parent, has_recursion, fraction);
#endif
}

#endif

// The number of subplans that a query's plan has so far, and the number of their names.
struct PlannedSubqueries {
  int plans;
  int names;
};

inline PlannedSubqueries planned_subqueries(const PlannerGlobal *query) {
#if PG_VERSION_NUM >= 190000
  return {list_length(query->subplans), list_length(query->subplanNames)};
#else
  return {list_length(query->subplans), 0};
#endif
}

// Removes the subplans that were planned after `kept` was taken from the query's plan.
inline void forget_subqueries_after(PlannerGlobal *query, PlannedSubqueries kept) {
  query->subplans = list_truncate(query->subplans, kept.plans);
  query->subroots = list_truncate(query->subroots, kept.plans);
#if PG_VERSION_NUM >= 170000
  query->subpaths = list_truncate(query->subpaths, kept.plans);
#endif
#if PG_VERSION_NUM >= 190000
  query->subplanNames = list_truncate(query->subplanNames, kept.names);
#endif
}

// --- before 18 -----------------------------------------------------------------------------------

#if PG_VERSION_NUM < 180000

inline void vacuum_delay_point(bool) {
  ::vacuum_delay_point();
}

inline bool ConditionalLockTuple(Relation relation, const ItemPointerData *tuple, LOCKMODE mode,
                                 bool) {
  return ::ConditionalLockTuple(relation, const_cast<ItemPointer>(tuple), mode);
}

inline Snapshot get_toast_snapshot() {
  static SnapshotData snapshot;
  init_toast_snapshot(&snapshot);
  return &snapshot;
}

#endif

// --- before 17 -----------------------------------------------------------------------------------

#if PG_VERSION_NUM < 170000

inline void RestrictSearchPath() {
  (void)set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
                          GUC_ACTION_SAVE, true, 0, false);
}

inline double estimate_array_length(PlannerInfo *, Node *array) {
  return ::estimate_array_length(array);
}

inline bool LockHeldByMe(const LOCKTAG *tag, LOCKMODE mode, bool) {
  return ::LockHeldByMe(tag, mode);
}

#endif

// The local id of the transaction that a process runs. It is unique within the process.
inline LocalTransactionId local_transaction_of(const PGPROC *process) {
#if PG_VERSION_NUM >= 170000
  return process->vxid.lxid;
#else
  return process->lxid;
#endif
}

// --- before 16 -----------------------------------------------------------------------------------

#if PG_VERSION_NUM < 160000

// These servers have no soft errors, so each error is raised.
#define errsave(context, ...)                                                                      \
  do {                                                                                             \
    (void)(context);                                                                               \
    ereport(ERROR, __VA_ARGS__);                                                                   \
  } while (0)

// The setting's later name, and its default.
#define debug_parallel_query force_parallel_mode
#define DEBUG_PARALLEL_OFF FORCE_PARALLEL_OFF

// The server declares these callbacks without parameters. C accepts functions with parameters for
// them; C++ needs a cast.
inline bool expression_tree_walker(Node *node, bool (*walker)(Node *, void *), void *context) {
  auto *any = reinterpret_cast<void *>(walker);
  return ::expression_tree_walker(node, reinterpret_cast<bool (*)()>(any), context);
}

inline Node *expression_tree_mutator(Node *node, Node *(*mutator)(Node *, void *), void *context) {
  auto *any = reinterpret_cast<void *>(mutator);
  return ::expression_tree_mutator(node, reinterpret_cast<Node *(*)()>(any), context);
}

inline AclResult object_aclcheck(Oid class_id, Oid object, Oid role, AclMode mode) {
  Assert(class_id == ProcedureRelationId);
  (void)class_id;
  return pg_proc_aclcheck(object, role, mode);
}

inline bool object_ownercheck(Oid class_id, Oid object, Oid role) {
  Assert(class_id == RelationRelationId);
  (void)class_id;
  return pg_class_ownercheck(object, role);
}

inline List *generate_join_implied_equalities(PlannerInfo *root, Relids join, Relids outer,
                                              RelOptInfo *inner, SpecialJoinInfo *) {
  return ::generate_join_implied_equalities(root, join, outer, inner);
}

inline Node *adjust_appendrel_attrs_multilevel(PlannerInfo *root, Node *node, RelOptInfo *child,
                                               RelOptInfo *parent) {
  return ::adjust_appendrel_attrs_multilevel(root, node, child->relids, parent->relids);
}

#endif

// All relations that a query joins.
inline Relids all_relations_of(const PlannerInfo *root) {
#if PG_VERSION_NUM >= 160000
  return root->all_query_rels;
#else
  return root->all_baserels;
#endif
}

} // namespace bloomfilter
