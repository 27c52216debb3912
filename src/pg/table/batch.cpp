// See batch.hpp. This file begins the expressions of the conditions, evaluates conditions for each
// row, and probes the filters, as probe_control.hpp decides. It also writes and reads the plan, and
// begins the table scan.

#include "pg/table/batch.hpp"

#include <utility>

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/query/expression.hpp"
#include "pg/query/probe_expr.hpp"
#include "pg/value/sample.hpp"

extern "C" {
#include "access/xact.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// --- beginning -----------------------------------------------------------------------------------

// Compiles the check whether a row reaches a probe. A row reaches it if its value is not NULL and
// the row fulfils the conditions before the probe. Volatile conditions and those with a subplan are
// left out, because they must not be evaluated twice.
ExprState *init_reached(Node *value, List *conditions_before, PlanState *node) {
  List *stable = NIL;
  for (Node *condition : each<Node>(conditions_before)) {
    if (!contain_volatile_functions(condition) && !contain_subplans(condition))
      stable = lappend(stable, condition);
  }
  NullTest *test = makeNode(NullTest);
  test->arg = reinterpret_cast<Expr *>(value);
  test->nulltesttype = IS_NOT_NULL;
  test->location = -1;
  return ExecInitQual(lappend(stable, test), node);
}

void init_condition(FilterCondition *condition, Node *expression, List *conditions_before,
                    PlanState *node) {
  const ProbeExpr probe = probe_of_condition(expression);
  condition->expression = expression;
  condition->filter_expression = ExecInitExpr(reinterpret_cast<Expr *>(probe.filter), node);
  condition->parameter = parameter_of(probe);
  condition->value = init_value(probe.value, node);
  condition->reached = init_reached(probe.value, conditions_before, node);
  condition->collation = probe.collation;
}

// --- conditions row by row -----------------------------------------------------------------------

// Keeps the rows of the batch that fulfil the conditions.
void evaluate_conditions(RowBatches *batches, ExprState *conditions) {
  const int left =
      filter_rows(&batches->reader, conditions, batches->rows, batches->count, batches->rows);
  InstrCountFiltered1(batches->node, batches->count - left);
  batches->count = left;
}

// True if a sequential scan would probe the filter for any of the rows. Only then may evaluating
// the filter raise an error.
bool is_reached(RowBatches *batches, const FilterCondition &condition) {
  for (int i = 0; i < batches->count; i++) {
    CHECK_FOR_INTERRUPTS();
    show_row(&batches->reader, batches->rows[i]);
    if (ExecQualAndReset(condition.reached, batches->reader.context))
      return true;
  }
  return false;
}

// --- probes --------------------------------------------------------------------------------------

void evaluate_filter(RowBatches *batches, FilterCondition *condition) {
  const MemoryContext before = MemoryContextSwitchTo(batches->filters);
  condition->filter =
      ExecEvalExpr(condition->filter_expression, batches->reader.context, &condition->is_null);
  auto *value = reinterpret_cast<struct varlena *>(DatumGetPointer(condition->filter));
  if (!condition->is_null && !VARATT_IS_EXTERNAL_ONDISK(value))
    condition->filter = PointerGetDatum(PG_DETOAST_DATUM(condition->filter));
  condition->last = {};
  condition->known = true;
  MemoryContextSwitchTo(before);
}

// Opens the filter. It can be probed until another filter is opened.
ProbedFilter *open_probed_filter(FilterCondition *condition, const PlanState *node) {
  if (!condition->value_type)
    condition->value_type =
        value_type_of(condition->value, condition->collation, node->state->es_query_cxt);
  return find_filter(condition->filter, &condition->last);
}

// The false positive rate of a filter that is being probed, from a sample of its bits. 0 if it is
// unknown. A filter that is read by slice is sampled once for all scans of a statement, such as the
// scans of a table's partitions.
double rate_of(const FilterCondition &condition, const ProbedFilter &filter) {
  static struct {
    TimestampTz statement;
    struct varatt_external pointer;
    double rate;
  } sampled;
  if (filter.payload)
    return sample_payload(filter.payload, filter.header).rate;
  const TimestampTz statement = GetCurrentStatementStartTimestamp();
  const struct varatt_external &pointer = condition.last.pointer;
  if (sampled.statement != statement || memcmp(&sampled.pointer, &pointer, sizeof pointer) != 0) {
    Header header;
    sampled = {statement, pointer, sample_filter(condition.filter, &header).rate};
  }
  return sampled.rate;
}

// Keeps the rows whose value the filter may contain.
void probe_rows(RowBatches *batches, FilterCondition *condition) {
  Values *values = &batches->values;
  Items *items = &values->items;
  bool answers[kMaxRows];
  int left = 0;
  for (int next = 0; next < batches->count;) {
    next += collect_values(&batches->reader, condition->value, batches->rows + next,
                           batches->count - next, values);
    if (items->count == 0)
      continue;
    ProbedFilter *filter = open_probed_filter(condition, batches->node);
    filter->expect(Max(items->count, batches->expected));
    // The rate is sampled now, because the filter may be gone later, together with the row that
    // holds it.
    if (unlikely(!condition->sampled) && batches->node->instrument) {
      condition->sampled = true;
      condition->rate = rate_of(*condition, *filter);
    }
    items->value_type = condition->value_type;
    for (int item = 0; item < items->count;)
      item = probe_items(filter, *items, item, answers);
    for (int i = 0; i < items->count; i++) {
      batches->rows[left] = values->rows[i];
      left += answers[i] ? 1 : 0;
    }
  }
  InstrCountFiltered2(batches->node, batches->count - left);
  batches->count = left;
}

// If rows are not read by page, nobody knows how many will come.
ScanProgress progress_of(const RowBatches *batches) {
  if (batches->reader.slots)
    return {1.0, 1.0};
  return {static_cast<double>(batches->pages),
          static_cast<double>(heap_of(&batches->reader)->rs_nblocks)};
}

// Keeps the rows that fulfil the condition of a probe.
void apply_condition(RowBatches *batches, FilterCondition *condition) {
  ProbeControl *control = &condition->control;
  if (backs_off(control, batches->count))
    return;
  if (!condition->known) {
    if (!is_built(condition->parameter, batches->node) &&
        !pays_to_build(control, batches->count, progress_of(batches))) {
      control->unprobed += static_cast<uint64>(batches->count);
      return;
    }
    if (!is_reached(batches, *condition)) { // other conditions reject these rows
      InstrCountFiltered1(batches->node, batches->count);
      batches->count = 0;
      return;
    }
    evaluate_filter(batches, condition);
  }
  if (condition->is_null) { // NULL rejects every row of the table
    batches->count = 0;
    batches->ended = true;
    return;
  }
  const int probed = batches->count;
  probe_rows(batches, condition);
  judge(control, probed, batches->count);
}

// --- order ---------------------------------------------------------------------------------------

// The time of probes is measured on one page of kPagesPerTiming. The filters are sorted after
// kPagesPerSort pages; then older measurements count half.
constexpr uint64 kPagesPerTiming = 8, kPagesPerSort = 64;

void apply_and_time(RowBatches *batches, FilterCondition *condition) {
  instr_time begin, end;
  const int before = batches->count;
  INSTR_TIME_SET_CURRENT(begin);
  apply_condition(batches, condition);
  INSTR_TIME_SET_CURRENT(end);
  INSTR_TIME_SUBTRACT(end, begin);
  condition->control.dropped += before - batches->count;
  condition->control.seconds += INSTR_TIME_GET_DOUBLE(end);
}

void sort_conditions(RowBatches *batches) {
  FilterCondition **order = batches->order;
  for (int i = 1; i < batches->condition_count; i++)
    for (int j = i; j > 0 && comes_before(order[j]->control, order[j - 1]->control); j--)
      std::swap(order[j], order[j - 1]);
  for (int i = 0; i < batches->condition_count; i++) {
    order[i]->control.dropped /= 2;
    order[i]->control.seconds /= 2;
  }
}

void apply_conditions(RowBatches *batches) {
  const bool timed = batches->condition_count > 1 && batches->pages % kPagesPerTiming == 0;
  for (int i = 0; i < batches->condition_count && batches->count > 0; i++) {
    if (timed && batches->order[i]->known)
      apply_and_time(batches, batches->order[i]);
    else
      apply_condition(batches, batches->order[i]);
  }
  if (timed && batches->pages % kPagesPerSort == 0)
    sort_conditions(batches);
}

// --- batches -------------------------------------------------------------------------------------

// Takes the next rows as a batch: all rows of a page. If computing a value may fail, a batch is one
// row, so that the rows before it are used first. False if there are no more rows, or if it is
// certain that no other row will be left.
bool take_rows(RowBatches *batches) {
  batches->count = 0;
  if (batches->ended)
    return false;
  if (batches->taken == batches->reader.count) {
    batches->taken = 0;
    if (!read_rows(&batches->reader)) {
      batches->ended = true;
      return false;
    }
    batches->pages++;
  }
  batches->rows = batches->reader.rows + batches->taken;
  batches->count = batches->one_by_one ? 1 : batches->reader.count - batches->taken;
  batches->taken += batches->count;
  return true;
}

// --- the plan ------------------------------------------------------------------------------------

// The position of a condition in a list. -1 if it is not there.
int list_position(const List *list, const void *condition) {
  for (int i = 0; i < list_length(list); i++)
    if (list_nth(list, i) == condition)
      return i;
  return -1;
}

// The positions of some conditions in the list of all conditions.
List *positions_of(const List *some, const List *all) {
  List *positions = NIL;
  for (int i = 0; i < list_length(all); i++)
    if (list_member_ptr(some, list_nth(all, i)))
      positions = lappend_int(positions, i);
  return positions;
}

List *conditions_at(const void *positions, const List *all) {
  List *conditions = NIL;
  const ListCell *cell;
  foreach (cell, static_cast<const List *>(positions))
    conditions = lappend(conditions, list_nth(all, lfirst_int(cell)));
  return conditions;
}

// --- the table scan ------------------------------------------------------------------------------

ParallelTableScanDesc scan_after(void *memory, Size node_bytes) {
  return reinterpret_cast<ParallelTableScanDesc>(static_cast<char *>(memory) +
                                                 MAXALIGN(node_bytes));
}

// Since PostgreSQL 19, a scan may mark pages as all-visible while it reads them. This is allowed if
// the query does not change the table.
uint32 flags_of(ScanState *node) {
  return ScanRelIsReadOnly(node) ? SO_HINT_REL_READ_ONLY : SO_NONE;
}

} // namespace

void begin_batches(RowBatches *batches, const BatchPlan &plan, PlanState *node) {
  const MemoryContext query = node->state->es_query_cxt;
  batches->node = node;
  batches->before = ExecInitQual(plan.before, node);
  batches->conditions = make_zeroed_array<FilterCondition>(list_length(plan.probes));
  batches->order = make_zeroed_array<FilterCondition *>(list_length(plan.probes));
  ListCell *cell;
  foreach (cell, plan.conditions) {
    if (!list_member_ptr(plan.probes, lfirst(cell)))
      continue;
    // Evaluating a probe that the planner has placed would build its filter.
    List *before = list_difference_ptr(
        list_truncate(list_copy(plan.conditions), foreach_current_index(cell)), plan.by_planner);
    FilterCondition *condition = &batches->conditions[batches->condition_count++];
    init_condition(condition, static_cast<Node *>(lfirst(cell)), before, node);
    const int position = list_position(plan.by_planner, lfirst(cell));
    condition->control.by_planner = position >= 0;
    condition->control.needed = position >= 0 ? list_nth_int(plan.needed, position) : 0;
    batches->order[batches->condition_count - 1] = condition;
  }
  batches->after = ExecInitQual(plan.after, node);
  batches->one_by_one = plan.one_by_one;
  batches->expected = plan.expected;
  batches->filters = AllocSetContextCreate(query, "Bloom Filter Scan", ALLOCSET_DEFAULT_SIZES);
  init_values(&batches->values,
              AllocSetContextCreate(query, "Bloom Filter Scan values", ALLOCSET_DEFAULT_SIZES));
}

bool next_batch(RowBatches *batches) {
  while (take_rows(batches)) {
    if (batches->before)
      evaluate_conditions(batches, batches->before);
    apply_conditions(batches);
    if (batches->after)
      evaluate_conditions(batches, batches->after);
    if (batches->count > 0)
      return true;
  }
  return false;
}

void restart_batches(RowBatches *batches) {
  forget_rows(&batches->reader);
  batches->taken = batches->count = 0;
  batches->pages = 0;
  batches->ended = false;
}

void forget_filters(RowBatches *batches) {
  for (int i = 0; i < batches->condition_count; i++) {
    FilterCondition *condition = &batches->conditions[i];
    condition->known = false;
    forget_history(&condition->control);
  }
  MemoryContextReset(batches->filters);
}

ProbeExpr probe_of_condition(Node *condition) {
  ProbeExpr probe;
  // A node can begin late, as in EvalPlanQual: the function may have been altered since the plan
  // was made.
  if (!is_probe_for_value(condition, &probe))
    elog(ERROR, "condition of a scan probes no filter any more");
  return probe;
}

int parameter_of(const ProbeExpr &probe) {
  Node *filter = without_relabeling(probe.filter);
  return IsA(filter, Param) && castNode(Param, filter)->paramkind == PARAM_EXEC
             ? castNode(Param, filter)->paramid
             : -1;
}

bool is_built(int parameter, const PlanState *node) {
  return parameter < 0 || !node->ps_ExprContext->ecxt_param_exec_vals[parameter].execPlan;
}

List *describe_batch_plan(const BatchPlan &plan) {
  List *lists = list_make4(
      positions_of(plan.before, plan.conditions), positions_of(plan.probes, plan.conditions),
      positions_of(plan.by_planner, plan.conditions), positions_of(plan.after, plan.conditions));
  return list_concat(lists, list_make3(makeInteger(plan.one_by_one ? 1 : 0),
                                       makeInteger(plan.expected), plan.needed));
}

BatchPlan read_batch_plan(List *conditions, const List *description) {
  return {conditions,
          conditions_at(linitial(description), conditions),
          conditions_at(lsecond(description), conditions),
          conditions_at(lthird(description), conditions),
          conditions_at(lfourth(description), conditions),
          intVal(list_nth(description, 4)) != 0,
          intVal(list_nth(description, 5)),
          static_cast<List *>(list_nth(description, 6))};
}

TableScanDesc begin_private_scan(ScanState *node, Relation table) {
  return table_beginscan(table, node->ps.state->es_snapshot, 0, nullptr, flags_of(node));
}

Size shared_scan_size(Relation table, const PlanState *node, Size node_bytes) {
  return add_size(MAXALIGN(node_bytes),
                  table_parallelscan_estimate(table, node->state->es_snapshot));
}

void init_shared_scan(Relation table, const PlanState *node, void *memory, Size node_bytes) {
  table_parallelscan_initialize(table, scan_after(memory, node_bytes), node->state->es_snapshot);
}

void reinit_shared_scan(Relation table, void *memory, Size node_bytes) {
  table_parallelscan_reinitialize(table, scan_after(memory, node_bytes));
}

TableScanDesc join_shared_scan(ScanState *node, Relation table, void *memory, Size node_bytes) {
  return table_beginscan_parallel(table, scan_after(memory, node_bytes), flags_of(node));
}

} // namespace bloomfilter
