// The executor's part of a Bloom Filter Build. The node adds the rows of batches to the states of
// its calls. The states become the one row that the node returns. pg/table/batch_node.hpp has what
// the node does like other nodes that read batches.

#include "pg/server.hpp"

#include "pg/aggregate/arguments.hpp"
#include "pg/aggregate/parcel.hpp"
#include "pg/build/build.hpp"
#include "pg/build/calls.hpp"
#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/table/batch_node.hpp"
#include "pg/value/measure.hpp"
#include "pg/value/overfill.hpp"

extern "C" {
#include "access/parallel.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
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

// The state of the node in the executor. All fields are zero at first.
struct BuildState : BatchNode {
  // Set by begin().
  TupleTableSlot *row; // the row that the node returns
  ExprContext *states; // has the memory of the states until the row is returned
  CallState *calls;
  int call_count;
  bool done;       // true once the row has been returned
  bool hands_over; // true if other nodes of this process use the states
  // For EXPLAIN ANALYZE. Set by note_filter().
  Size bytes;  // the size of the largest filter
  double rate; // the false positive rate of the largest filter; 0 if it is not known
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
  return {context, build->states, FileTransfer::once};
}

State *make_build_call_state(const BuildState *build, const CallState &call_state,
                             const Parameters &parameters) {
  return make_state(memory_for(build, call_state), parameters, call_state.call.takes_elements);
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
    build->own.rows += values->items.count;
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
    return {filter_without_values(header_for(parameters)).datum(), false};
  State *state = make_build_call_state(build, call_state, parameters);
  return {PointerGetDatum(flat_partial(state, true)), false};
}

// Notes how many bytes of memory and of temporary files the states take, before they are finished.
void note_states(BuildState *build) {
  const Size memory = MemoryContextMemAllocated(build->states->ecxt_per_tuple_memory, true);
  build->own.memory = Max(build->own.memory, memory);
  for (int i = 0; i < build->call_count; i++) {
    const State *state = build->calls[i].state;
    if (state && state->bag.spill)
      build->own.spilled += state->bag.spill->count * sizeof(uint64);
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
    const Filter filter = finish_state(call_state.state, call_state.call.within_limits);
    check_overfill(filter, Origin::built);
    note_filter(build, filter);
    return {filter.datum(), false};
  }
  if (call_state.call.takes_elements)
    return {PointerGetDatum(flat_partial(call_state.state, false)), false};
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

// Reads the table. Stores the results of the calls as the row that the expressions of the node see.
void make_result_row(BuildState *build) {
  ExprContext *context = build->node.ss.ps.ps_ExprContext;
  NodeInstrumentation *instrument = build->node.ss.ps.instrument;
  const double removed = instrument ? instrument->nfiltered1 : 0;
  if (!build->batches.reader.scan) // no other process shares the scan
    open_table(build);
  while (read_batch(build))
    add_batch(build);
  if (instrument) { // only what HAVING rejects is left in the server's number
    build->own.removed += instrument->nfiltered1 - removed;
    instrument->nfiltered1 = removed;
  }

  note_states(build);
  TupleTableSlot *row = ExecClearTuple(build->row);
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
  if (!ExecQual(state->qual, state->ps_ExprContext)) { // HAVING
    InstrCountFiltered1(node, 1);
    return nullptr;
  }
  return state->ps_ProjInfo ? ExecProject(state->ps_ProjInfo) : build->row;
}

// --- the node ------------------------------------------------------------------------------------

void init_call(CallState *call_state, Aggref *aggregate, PlanState *node) {
  // A function of the aggregate may have been altered since the plan was made.
  if (!is_build_call(aggregate, &call_state->call))
    elog(ERROR, "Bloom Filter Build has an aggregate that builds no filter any more");
  check_permission(aggregate);
  call_state->condition = ExecInitQual(call_state->call.condition, node);
  call_state->value = init_value(call_state->call.value, node);
}

// The server has initialized the expressions that are evaluated for the node's own row. Those that
// are evaluated for rows of the table are initialized now.
void begin(CustomScanState *node, EState *estate, int flags) {
  BuildState *build = build_of(node);
  build->states = CreateExprContext(estate);
  build->row = node->ss.ss_ScanTupleSlot;
  begin_node(build, estate, flags);
  // Batches probe filters without calling the function. This checks that the user may call it.
  (void)ExecInitQual(build->plan.conditions_with(Role::probe), &node->ss.ps);
  build->calls = make_zeroed_array<CallState>(list_length(build->plan.calls));
  for (Aggref *aggregate : each<Aggref>(build->plan.calls))
    init_call(&build->calls[build->call_count++], aggregate, &node->ss.ps);
  // Otherwise WHERE CURRENT OF would expect a row of the table in the slot.
  node->ss.ss_currentRelation = nullptr;
}

void rescan(CustomScanState *node) {
  BuildState *build = build_of(node);
  rescan_node(node);
  free_states(build);
  ExecClearTuple(build->row);
  build->done = false;
}

// --- EXPLAIN -------------------------------------------------------------------------------------

void explain(CustomScanState *node, List *ancestors, ExplainState *explained) {
  BuildState *build = build_of(node);
  const BatchPlan &plan = build->plan;
  List *before = plan.conditions_with(Role::before), *after = plan.conditions_with(Role::after),
       *probes = plan.conditions_with(Role::probe);
  const NodeInstrumentation *instrument = explained->analyze ? node->ss.ps.instrument : nullptr;
  explain_conditions("Row Filter", before, build, ancestors, explained);
  explain_conditions("Bloom Filter", probes, build, ancestors, explained);
  explain_conditions("Row Filter After", after, build, ancestors, explained);
  if (!instrument)
    return;
  if (before != NIL || after != NIL)
    explain_rows("Rows Removed by Row Filter", build->own.removed + build->workers.removed,
                 instrument, explained);
  if (probes != NIL)
    explain_rows("Rows Removed by Bloom Filter", instrument->nfiltered2, instrument, explained);
  const BatchStatistics all = explain_probes(build, explained);
  if (instrument->nloops == 0)
    return;
  explain_rows("Rows Added", static_cast<double>(all.rows), instrument, explained);
  explain_bytes("Build Memory", all.memory, explained);
  explain_bytes("Build Disk", all.spilled, explained);
  explain_bytes("Built Filter Size", build->bytes, explained);
  if (build->rate > 0)
    explain_rate("Built Filter Rate", build->rate, explained);
}

constexpr CustomExecMethods kBuild = node_methods(begin, exec, rescan, explain);

Node *create_state(CustomScan *) {
  return reinterpret_cast<Node *>(make_node_state<BuildState>(&kBuild));
}

} // namespace

const CustomScanMethods kBuildMethods = {"Bloom Filter Build", create_state};

} // namespace bloomfilter
