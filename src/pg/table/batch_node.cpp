// See batch_node.hpp.

#include "pg/table/batch_node.hpp"

#include <cmath>

#include "pg/value/sample.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
}

namespace bloomfilter {

// What the processes of a parallel query share. In shared memory, the shared table scan comes after
// it.
struct SharedBatches {
  slock_t lock;
  BatchStatistics workers;
};

namespace {

BatchNode *node_of(CustomScanState *state) {
  return reinterpret_cast<BatchNode *>(state);
}

// --- the life of the node ------------------------------------------------------------------------

// Gives the node a slot for rows of the table. If the node returns these rows, the server has given
// it a slot already. If that is of another kind than the table's, everything that depends on it is
// made again. A build returns other rows, for which it keeps the server's slot.
void init_slot(BatchNode *node, EState *estate) {
  ScanState *state = &node->node.ss;
  const TupleTableSlotOps *callbacks = table_slot_callbacks(node->table);
  const bool returns_rows = node->plan.calls == NIL;
  if (returns_rows && state->ps.scanops == callbacks)
    return;
  ExecInitScanTupleSlot(estate, state, RelationGetDescr(node->table), callbacks,
                        TTS_FLAG_OBEYS_NOT_NULL_CONSTRAINTS);
  if (!returns_rows)
    return;
  state->ps.subPlan = NIL; // they belong to the expressions that are replaced now
  ExecAssignScanProjectionInfo(state);
  state->ps.qual = ExecInitQual(state->ps.plan->qual, &state->ps);
}

// Begins the other node. This node passes on its slots, which may be of any kind.
void init_input(BatchNode *node, Plan *plan, EState *estate, int flags) {
  PlanState *state = &node->node.ss.ps, *input = ExecInitNode(plan, estate, flags);
  node->node.custom_ps = list_make1(input);
  open_input(&node->batches.reader, input, state);
  state->scanops = ExecGetResultSlotOps(input, &state->scanopsfixed);
  state->scanopsset = true;
  if (state->ps_ProjInfo) {
    ExecAssignScanProjectionInfoWithVarno(&node->node.ss, INDEX_VAR);
    return;
  }
  state->resultops = state->scanops;
  state->resultopsfixed = state->scanopsfixed;
  state->resultopsset = true;
}

void set_table_scan(BatchNode *node, TableScanDesc table_scan) {
  ScanState *state = &node->node.ss;
  open_reader(&node->batches.reader, table_scan, &state->ps, state->ss_ScanTupleSlot);
}

// Since PostgreSQL 19, a scan may mark pages as all-visible while it reads them. This is allowed if
// the query does not change the table.
uint32 flags_of(BatchNode *node) {
  return ScanRelIsReadOnly(&node->node.ss) ? SO_HINT_REL_READ_ONLY : SO_NONE;
}

Snapshot snapshot_of(const BatchNode *node) {
  return node->node.ss.ps.state->es_snapshot;
}

// --- statistics ----------------------------------------------------------------------------------

// Adds the statistics of other processes.
void add_statistics(BatchStatistics *sum, const BatchStatistics &others) {
  sum->bytes = Max(sum->bytes, others.bytes);
  sum->in_memory = Max(sum->in_memory, others.in_memory);
  sum->rate = Max(sum->rate, others.rate);
  sum->unprobed += others.unprobed;
  sum->removed += others.removed;
  sum->rows += others.rows;
  sum->memory = Max(sum->memory, others.memory);
  sum->spilled += others.spilled;
}

// The false positive rate of a condition's filter, from a sample of its bits. 0 if it is unknown. A
// filter that is read by slice is sampled once for all scans of a statement, such as the scans of a
// table's partitions.
double rate_of(FilterCondition *condition) {
  static struct {
    TimestampTz statement;
    struct varatt_external pointer;
    double rate;
  } sampled;
  const ProbedFilter *filter = find_filter(condition->filter, &condition->last);
  if (filter->payload)
    return sample_payload(filter->payload, filter->header).rate;
  const TimestampTz statement = GetCurrentStatementStartTimestamp();
  const struct varatt_external &pointer = condition->last.pointer;
  if (sampled.statement != statement || memcmp(&sampled.pointer, &pointer, sizeof pointer) != 0) {
    Header header;
    sampled = {statement, pointer, sample_filter(condition->filter, &header).rate};
  }
  return sampled.rate;
}

// Notes what this process has probed so far. Of a filter that is probed for the rows of another
// node, only the rows that passed without a probe are shown.
void note_probes(BatchNode *node) {
  BatchStatistics probed = {};
  const RowBatches &batches = node->batches;
  node->own.unprobed = 0;
  for (int i = 0; i < batches.condition_count; i++) {
    const FilterCondition &condition = batches.conditions[i];
    probed.unprobed += condition.control.unprobed;
    if (batches.reader.input || !condition.known || condition.is_null || !condition.value_type)
      continue;
    const ProbedFilter &filter = condition.last.filter;
    const uint64 bytes = VARHDRSZ + filter.header.payload_bytes();
    probed.bytes += bytes;
    probed.in_memory += filter.payload ? bytes : 0;
  }
  add_statistics(&node->own, probed);
}

// --- in parallel ---------------------------------------------------------------------------------

ParallelTableScanDesc shared_scan(void *memory) {
  return reinterpret_cast<ParallelTableScanDesc>(static_cast<char *>(memory) +
                                                 MAXALIGN(sizeof(SharedBatches)));
}

// --- EXPLAIN -------------------------------------------------------------------------------------

// The number of digits after the point of a percentage. There are enough of them for the first two
// digits that are not zero, and at least two. A percentage that is almost zero has two.
int digits_of(double percent) {
  return percent < 1e-8 ? 2 : Max(2, 1 - static_cast<int>(std::floor(std::log10(percent))));
}

} // namespace

void begin_node(BatchNode *node, EState *estate, int flags) {
  ScanState *state = &node->node.ss;
  const auto *plan = castNode(CustomScan, state->ps.plan);
  node->plan = read_batch_plan(plan);
  if (plan->custom_plans == NIL) {
    node->table = state->ss_currentRelation;
    init_slot(node, estate);
  } else { // the node below reads the table
    state->ss_currentRelation = nullptr;
    init_input(node, static_cast<Plan *>(linitial(plan->custom_plans)), estate, flags);
  }
  begin_batches(&node->batches, node->plan, &state->ps);
}

void open_table(BatchNode *node) {
  set_table_scan(node, table_beginscan(node->table, snapshot_of(node), 0, nullptr, flags_of(node)));
}

// The rates are sampled now, because a filter may be gone later, together with the row that holds
// it.
bool read_batch(BatchNode *node) {
  RowBatches *batches = &node->batches;
  const bool has_rows = next_batch(batches);
  for (int i = 0; i < batches->condition_count && node->node.ss.ps.instrument; i++) {
    FilterCondition *condition = &batches->conditions[i];
    if (condition->sampled || !condition->value_type) // the first probe sets the type
      continue;
    condition->sampled = true;
    node->own.rate = Max(node->own.rate, rate_of(condition));
  }
  return has_rows;
}

void rescan_node(CustomScanState *state) {
  RowBatches *batches = &node_of(state)->batches;
  Bitmapset *changed = state->ss.ps.chgParam;
  PlanState *input = batches->reader.input;
  if (changed)
    forget_filters(batches, changed);
  restart_batches(batches);
  if (batches->reader.scan)
    table_rescan(batches->reader.scan, nullptr);
  if (input && changed)
    UpdateChangedParamSet(input, changed);
  if (input && !input->chgParam)
    ExecReScan(input);
  ExecScanReScan(&state->ss);
}

void end_node(CustomScanState *state) {
  const PageReader &reader = node_of(state)->batches.reader;
  if (reader.scan)
    table_endscan(reader.scan);
  if (reader.input)
    ExecEndNode(reader.input);
}

Size estimate_shared(CustomScanState *state, ParallelContext *) {
  const BatchNode *node = node_of(state);
  return add_size(MAXALIGN(sizeof(SharedBatches)),
                  table_parallelscan_estimate(node->table, snapshot_of(node)));
}

void init_shared(CustomScanState *state, ParallelContext *, void *memory) {
  auto *shared = static_cast<SharedBatches *>(memory);
  SpinLockInit(&shared->lock);
  shared->workers = {};
  const BatchNode *node = node_of(state);
  table_parallelscan_initialize(node->table, shared_scan(memory), snapshot_of(node));
  join_shared(state, nullptr, memory);
}

void reinit_shared(CustomScanState *state, ParallelContext *, void *memory) {
  table_parallelscan_reinitialize(node_of(state)->table, shared_scan(memory));
}

void join_shared(CustomScanState *state, shm_toc *, void *memory) {
  BatchNode *node = node_of(state);
  node->shared = static_cast<SharedBatches *>(memory);
  set_table_scan(node, table_beginscan_parallel(node->table, shared_scan(memory), flags_of(node)));
}

// Passes on what EXPLAIN ANALYZE shows, before the shared memory is freed. What workers did is
// missing if a LIMIT ends the query while they run, because the leader comes here first.
void shutdown_node(CustomScanState *state) {
  BatchNode *node = node_of(state);
  SharedBatches *shared = node->shared;
  note_probes(node);
  if (!shared)
    return;
  node->shared = nullptr;
  SpinLockAcquire(&shared->lock);
  if (IsParallelWorker())
    add_statistics(&shared->workers, node->own);
  else
    add_statistics(&node->workers, shared->workers);
  SpinLockRelease(&shared->lock);
}

void explain_conditions(const char *label, List *conditions, BatchNode *node, List *ancestors,
                        ExplainState *explained) {
  if (conditions == NIL)
    return;
  List *context =
      set_deparse_context_plan(explained->deparse_cxt, node->node.ss.ps.plan, ancestors);
  auto *condition = reinterpret_cast<Node *>(make_ands_explicit(conditions));
  ExplainPropertyText(label, deparse_expression(condition, context, explained->verbose, false),
                      explained);
}

void explain_rows(const char *label, double rows, const NodeInstrumentation *instrument,
                  ExplainState *explained) {
  if (instrument->nloops > 0 || explained->format != EXPLAIN_FORMAT_TEXT)
    ExplainPropertyFloat(label, nullptr, rows / Max(instrument->nloops, 1.0), 0, explained);
}

void explain_bytes(const char *label, uint64 bytes, ExplainState *explained) {
  if (bytes > 0)
    ExplainPropertyInteger(label, "kB", (bytes + 1023) / 1024, explained);
}

void explain_rate(const char *label, double rate, ExplainState *explained) {
  ExplainPropertyFloat(label, "%", 100 * rate, digits_of(100 * rate), explained);
}

BatchStatistics explain_probes(BatchNode *node, ExplainState *explained) {
  note_probes(node);
  BatchStatistics all = node->own;
  add_statistics(&all, node->workers);
  if (all.unprobed > 0)
    explain_rows("Rows Not Probed", static_cast<double>(all.unprobed), node->node.ss.ps.instrument,
                 explained);
  if (all.bytes == 0)
    return all;
  explain_bytes("Bloom Filter Size", all.bytes, explained);
  ExplainPropertyText("Bloom Filter Access", all.in_memory == all.bytes ? "in memory" : "by slice",
                      explained);
  if (all.rate > 0)
    explain_rate("Bloom Filter Rate", all.rate, explained);
  return all;
}

} // namespace bloomfilter
