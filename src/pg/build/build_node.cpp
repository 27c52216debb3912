// The executor's part of a Bloom Filter Build. The node adds the rows of batches to the states of
// its calls. The states become the one row that the node returns. This file also has what the
// processes of a parallel query share, and what EXPLAIN shows.

#include "pg/server.hpp"

#include "pg/aggregate/arguments.hpp"
#include "pg/aggregate/partial.hpp"
#include "pg/aggregate/transfer.hpp"
#include "pg/build/build.hpp"
#include "pg/build/calls.hpp"
#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/table/batch.hpp"
#include "pg/table/explain.hpp"
#include "pg/value/measure.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "port/atomics.h"
#include "utils/memutils.h"
#include "utils/rel.h"
}

namespace bloomfilter {
namespace {

// An aggregate call that the node computes. All fields are zero at first.
struct CallState {
  // Set by init_call().
  BuildCall call;
  ExprState *condition; // the condition of FILTER; NULL if there is none
  RowValue value;
  State *state;          // set when the call gets its first row
  ValueType *value_type; // set when the call gets its first value
};

// What EXPLAIN ANALYZE shows, for all calls together.
struct BuildStatistics {
  uint64 rows;    // rows added to states; a row added to several states counts several times
  uint64 memory;  // the most bytes that the states of one process took
  uint64 spilled; // bytes spilled to temporary files
};

// What the processes of a parallel query share. In shared memory it precedes the shared part of the
// table scan.
struct SharedBuild {
  SharedProbeStatistics filters;
  pg_atomic_uint64 rows, memory, spilled; // as in BuildStatistics; `memory` is that of one worker
};

// The state of the node in the executor. All fields are zero at first.
struct BuildState {
  CustomScanState node; // must be first, because the server casts the pointer
  // Set by begin().
  Relation table;
  TupleTableSlot *row; // a slot for a row of the table
  ExprContext *states; // has the memory of the states until the row is returned
  CallState *calls;
  int call_count;
  RowBatches batches; // begun by begin(), opened by make_result_row() or join_shared()
  bool done;          // true once the row has been returned
  bool hands_over;    // true if other nodes of this process use the states
  // For EXPLAIN ANALYZE. Set by add_batch(), note_states(), result_of(), shutdown() and explain().
  ProbeStatistics probed;
  BuildStatistics shown;
  Size bytes;  // the size of the largest filter
  double rate; // the false positive rate of the largest filter; 0 if it is not known
  // Set by join_shared() and reset by shutdown(). NULL if the query is not parallel.
  SharedBuild *shared;
};

BuildState *build_of(CustomScanState *node) {
  return reinterpret_cast<BuildState *>(node);
}

// --- rows ----------------------------------------------------------------------------------------

// Where the state of a call is kept. If the state will be serialized, its reader takes over its
// file. If the state may be handed over to another node of this process, it has a memory context of
// its own.
GroupMemory memory_for(const BuildState *build, const CallState &call_state) {
  MemoryContext context = build->states->ecxt_per_tuple_memory;
  if (!call_state.call.is_partial || call_state.call.takes_elements)
    return {context, build->states, FileTransfer::none};
  if (!IsParallelWorker())
    context = AllocSetContextCreate(context, "Bloom Filter Build state", ALLOCSET_SMALL_SIZES);
  return {context, build->states, FileTransfer::move};
}

State *make_build_call_state(const BuildState *build, const CallState &call_state,
                             const Parameters &parameters) {
  State *state = make_state(memory_for(build, call_state), parameters);
  state->partial = call_state.call.takes_elements;
  return state;
}

void add_rows(BuildState *build, CallState *call_state, const uint16 *rows, int count) {
  RowBatches *batches = &build->batches;
  ExprContext *context = batches->reader.context;
  if (!call_state->state)
    call_state->state = make_build_call_state(
        build, *call_state,
        parameters_with_rows(call_state->call.arguments, context, call_state->call.layout));
  Values *values = &batches->values;
  for (int next = 0; next < count;) {
    next += collect_values(&batches->reader, call_state->value, rows + next, count - next, values);
    if (values->items.count == 0)
      continue;
    if (!call_state->value_type)
      call_state->value_type = value_type_of(call_state->value, call_state->call.collation,
                                             build->node.ss.ps.state->es_query_cxt);
    values->items.value_type = call_state->value_type;
    add_items(call_state->state, values->items);
  }
}

void add_batch(BuildState *build) {
  RowBatches *batches = &build->batches;
  for (int i = 0; i < build->call_count; i++) {
    CallState *call_state = &build->calls[i];
    uint16 chosen[kMaxRows];
    const uint16 *rows = batches->rows;
    int count = batches->count;
    if (call_state->condition) {
      count = filter_rows(&batches->reader, call_state->condition, rows, count, chosen);
      rows = chosen;
    }
    if (count > 0)
      add_rows(build, call_state, rows, count);
    build->shown.rows += count;
  }
}

// --- the row -------------------------------------------------------------------------------------

// Returns the result of a call that saw no row.
NullableDatum result_without_rows(const BuildState *build, const CallState &call_state) {
  if (call_state.call.is_partial)
    return {0, true};
  const Parameters parameters = parameters_without_rows(
      call_state.call.arguments, build->node.ss.ps.ps_ExprContext, call_state.call.layout);
  if (!call_state.call.takes_elements || !call_state.call.returns_state)
    return {filter_without_values(parameters).datum(), false};
  State *state = make_build_call_state(build, call_state, parameters);
  state->no_rows = true;
  return {PointerGetDatum(flat_partial(state)), false};
}

// Notes how much memory and how many temporary files the states take, before they are finished.
void note_states(BuildState *build) {
  BuildStatistics *shown = &build->shown;
  const Size memory = MemoryContextMemAllocated(build->states->ecxt_per_tuple_memory, true);
  shown->memory = Max(shown->memory, memory);
  for (int i = 0; i < build->call_count; i++) {
    const State *state = build->calls[i].state;
    if (state && state->bag.spill)
      shown->spilled += state->bag.spill->count * sizeof(uint64);
  }
}

// Notes the size and the rate of a filter if it is the largest so far. Computing the rate reads all
// bits, so this is done only if EXPLAIN ANALYZE may show it.
void note_filter(BuildState *build, const Filter &filter) {
  if (!build->node.ss.ps.instrument || VARSIZE(filter.value) < build->bytes)
    return;
  build->bytes = VARSIZE(filter.value);
  build->rate = filter.kind() == Kind::bloom ? measure(filter).rate : 0;
}

NullableDatum result_of(BuildState *build, const CallState &call_state) {
  if (!call_state.state)
    return result_without_rows(build, call_state);
  if (!call_state.call.returns_state) {
    const Filter filter = call_state.call.finish(call_state.state);
    note_filter(build, filter);
    return {filter.datum(), false};
  }
  if (call_state.call.takes_elements)
    return {PointerGetDatum(flat_partial(call_state.state)), false};
  build->hands_over = !IsParallelWorker();
  return {PointerGetDatum(build->hands_over ? hand_over_state(call_state.state)
                                            : serialize_state(call_state.state)),
          false};
}

void free_states(BuildState *build) {
  for (int i = 0; i < build->call_count; i++)
    build->calls[i].state = nullptr;
  ReScanExprContext(build->states);
}

void set_table_scan(BuildState *build, TableScanDesc table_scan) {
  open_reader(&build->batches.reader, table_scan, &build->node.ss.ps, build->row);
}

// Reads the table. Stores the results of the calls as the row that the expressions of the node see.
void make_result_row(BuildState *build) {
  ScanState *state = &build->node.ss;
  ExprContext *context = state->ps.ps_ExprContext;
  if (!build->batches.reader.scan) // no process shares a scan with this one, so it needs its own
    set_table_scan(build, begin_private_scan(state, build->table));
  while (next_batch(&build->batches))
    add_batch(build);

  note_states(build);
  TupleTableSlot *row = ExecClearTuple(state->ss_ScanTupleSlot);
  MemoryContextReset(context->ecxt_per_tuple_memory);
  const MemoryContext before = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
  memset(row->tts_isnull, true, row->tts_tupleDescriptor->natts * sizeof(bool));
  for (int i = 0; i < build->call_count; i++) {
    const NullableDatum result = result_of(build, build->calls[i]);
    row->tts_values[i] = result.value;
    row->tts_isnull[i] = result.isnull;
  }
  MemoryContextSwitchTo(before);
  if (!build->hands_over)
    free_states(build);
  context->ecxt_scantuple = ExecStoreVirtualTuple(row);
}

TupleTableSlot *exec(CustomScanState *node) {
  BuildState *build = build_of(node);
  PlanState *state = &node->ss.ps;
  if (build->done)
    return nullptr;
  build->done = true;
  make_result_row(build);
  if (!ExecQual(state->qual, state->ps_ExprContext)) // HAVING
    return nullptr;
  return state->ps_ProjInfo ? ExecProject(state->ps_ProjInfo) : node->ss.ss_ScanTupleSlot;
}

// --- the node ------------------------------------------------------------------------------------

BuildPlan plan_of(const CustomScanState *node) {
  return read_build_plan(reinterpret_cast<const CustomScan *>(node->ss.ps.plan));
}

void init_call(CallState *call_state, Aggref *aggregate, PlanState *node) {
  // A function of the aggregate may have been altered since the plan was made.
  if (!is_build_call(aggregate, &call_state->call))
    elog(ERROR, "Bloom Filter Build has an aggregate that builds no filter any more");
  check_permission(aggregate);
  call_state->condition = ExecInitQual(call_state->call.condition, node);
  call_state->value = init_value(call_state->call.value, node);
}

// Initializes the expressions that are evaluated for rows of the table. The server has initialized
// the expressions for the node's own row. That row has another slot, so the node gets the slot of
// the table only while this function runs.
void init_for_rows(BuildState *build, const BuildPlan &plan, EState *estate) {
  ScanState *scan = &build->node.ss;
  PlanState *state = &scan->ps;
  TupleTableSlot *result = scan->ss_ScanTupleSlot;
  const TupleDesc descriptor = state->scandesc;
  const TupleTableSlotOps *callbacks = state->scanops;
  const bool fixed = state->scanopsfixed, set = state->scanopsset;

  build->table = scan->ss_currentRelation;
  ExecInitScanTupleSlot(estate, scan, RelationGetDescr(build->table),
                        table_slot_callbacks(build->table), TTS_FLAG_OBEYS_NOT_NULL_CONSTRAINTS);
  build->row = scan->ss_ScanTupleSlot;
  begin_batches(&build->batches, plan.batches, state);
  build->call_count = list_length(plan.calls);
  build->calls = make_zeroed_array<CallState>(build->call_count);
  for (int i = 0; i < build->call_count; i++)
    init_call(&build->calls[i], list_nth_node(Aggref, plan.calls, i), state);

  scan->ss_ScanTupleSlot = result;
  state->scandesc = descriptor;
  state->scanops = callbacks;
  state->scanopsfixed = fixed;
  state->scanopsset = set;
}

void begin(CustomScanState *node, EState *estate, int) {
  BuildState *build = build_of(node);
  build->states = CreateExprContext(estate);
  init_for_rows(build, plan_of(node), estate);
  // Otherwise WHERE CURRENT OF would expect a row of the table in the slot.
  node->ss.ss_currentRelation = nullptr;
}

void end(CustomScanState *node) {
  BuildState *build = build_of(node);
  free_states(build);
  if (build->batches.reader.scan)
    table_endscan(build->batches.reader.scan);
}

void rescan(CustomScanState *node) {
  BuildState *build = build_of(node);
  if (node->ss.ps.chgParam)
    forget_filters(&build->batches);
  restart_batches(&build->batches);
  free_states(build);
  build->done = false;
  ExecClearTuple(node->ss.ss_ScanTupleSlot);
  if (build->batches.reader.scan)
    table_rescan(build->batches.reader.scan, nullptr);
}

// --- in parallel ---------------------------------------------------------------------------------

Size estimate_shared(CustomScanState *node, ParallelContext *) {
  return shared_scan_size(build_of(node)->table, &node->ss.ps, sizeof(SharedBuild));
}

void join_shared(CustomScanState *node, shm_toc *, void *memory) {
  BuildState *build = build_of(node);
  build->shared = static_cast<SharedBuild *>(memory);
  set_table_scan(build, join_shared_scan(&node->ss, build->table, memory, sizeof(SharedBuild)));
}

void init_shared(CustomScanState *node, ParallelContext *, void *memory) {
  auto *shared = static_cast<SharedBuild *>(memory);
  init_shared_statistics(&shared->filters);
  pg_atomic_init_u64(&shared->rows, 0);
  pg_atomic_init_u64(&shared->memory, 0);
  pg_atomic_init_u64(&shared->spilled, 0);
  init_shared_scan(build_of(node)->table, &node->ss.ps, memory, sizeof(SharedBuild));
  join_shared(node, nullptr, memory);
}

void reinit_shared(CustomScanState *node, ParallelContext *, void *memory) {
  reinit_shared_scan(build_of(node)->table, memory, sizeof(SharedBuild));
}

// Passes on what EXPLAIN ANALYZE shows, before the shared memory is freed. A worker adds its
// numbers to the shared ones. The leader adds the shared numbers to its own.
void shutdown(CustomScanState *node) {
  BuildState *build = build_of(node);
  SharedBuild *shared = build->shared;
  BuildStatistics *shown = &build->shown;
  note_probes(&build->probed, build->batches, shared ? &shared->filters : nullptr);
  if (!shared)
    return;
  build->shared = nullptr;
  if (IsParallelWorker()) {
    pg_atomic_fetch_add_u64(&shared->rows, shown->rows);
    pg_atomic_fetch_add_u64(&shared->spilled, shown->spilled);
    pg_atomic_write_u64(&shared->memory, shown->memory);
    return;
  }
  shown->rows += pg_atomic_read_u64(&shared->rows);
  shown->spilled += pg_atomic_read_u64(&shared->spilled);
  shown->memory = Max(shown->memory, pg_atomic_read_u64(&shared->memory));
}

// --- EXPLAIN -------------------------------------------------------------------------------------

uint64 kilobytes(uint64 bytes) {
  return (bytes + 1023) / 1024;
}

void explain(CustomScanState *node, List *ancestors, ExplainState *explained) {
  BuildState *build = build_of(node);
  const BatchPlan plan = plan_of(node).batches;
  const NodeInstrumentation *instrument = explained->analyze ? node->ss.ps.instrument : nullptr;
  explain_conditions("Row Filter", plan.before, node, ancestors, explained);
  explain_conditions("Bloom Filter", plan.probes, node, ancestors, explained);
  explain_conditions("Row Filter After", plan.after, node, ancestors, explained);
  if (!instrument)
    return;
  if (plan.before != NIL || plan.after != NIL)
    explain_rows("Rows Removed by Row Filter", instrument->nfiltered1, instrument, explained);
  if (plan.probes != NIL)
    explain_rows("Rows Removed by Bloom Filter", instrument->nfiltered2, instrument, explained);
  note_probes(&build->probed, build->batches, nullptr);
  explain_probes(build->probed, instrument, explained);
  if (instrument->nloops == 0)
    return;
  explain_rows("Rows Added", build->shown.rows, instrument, explained);
  ExplainPropertyInteger("Build Memory", "kB", kilobytes(build->shown.memory), explained);
  if (build->shown.spilled > 0)
    ExplainPropertyInteger("Build Disk", "kB", kilobytes(build->shown.spilled), explained);
  if (build->bytes > 0)
    ExplainPropertyInteger("Built Filter Size", "kB", kilobytes(build->bytes), explained);
  if (build->rate > 0)
    explain_rate("Built Filter Rate", build->rate, explained);
}

constexpr CustomExecMethods kExecMethods = {
    "Bloom Filter Build", begin,       exec,          end,         rescan,   nullptr, nullptr,
    estimate_shared,      init_shared, reinit_shared, join_shared, shutdown, explain};

Node *create_state(CustomScan *) {
  auto *build = make_zeroed<BuildState>();
  NodeSetTag(&build->node, T_CustomScanState);
  build->node.methods = &kExecMethods;
  return reinterpret_cast<Node *>(build);
}

} // namespace

const CustomScanMethods kBuildMethods = {"Bloom Filter Build", create_state};

} // namespace bloomfilter
