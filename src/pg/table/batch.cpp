// See batch.hpp. This file begins the expressions of the conditions, evaluates conditions for each
// row, and probes the filters, as probe_control.hpp decides. It also writes and reads the plan.

#include "pg/table/batch.hpp"

#include <utility>

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/query/expression.hpp"
#include "pg/query/probe_expr.hpp"

extern "C" {
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// --- beginning -----------------------------------------------------------------------------------

// Compiles the check whether a row reaches a probe. A row reaches it if its value is not NULL and
// the row fulfils the conditions before the probe. A volatile condition, or one with a subplan,
// must not be evaluated twice. It is left out with those after it, which it may keep from failing.
ExprState *init_reached(Node *value, List *conditions_before, PlanState *node) {
  List *stable = NIL;
  for (Node *condition : each<Node>(conditions_before)) {
    if (contain_volatile_functions(condition) || contain_subplans(condition))
      break;
    stable = lappend(stable, condition);
  }
  NullTest *test = makeNode(NullTest);
  test->arg = reinterpret_cast<Expr *>(value);
  test->nulltesttype = IS_NOT_NULL;
  test->location = -1;
  return ExecInitQual(lappend(stable, test), node);
}

void init_condition(RowBatches *batches, Node *expression, List *earlier, int needed) {
  PlanState *node = batches->node;
  FilterCondition *condition = &batches->conditions[batches->condition_count];
  batches->order[batches->condition_count++] = condition;
  const ProbeExpr probe = probe_of_condition(expression);
  condition->expression = expression;
  condition->filter_expression = ExecInitExpr(reinterpret_cast<Expr *>(probe.filter), node);
  condition->parameter = parameter_of(probe);
  condition->value = init_value(probe.value, node);
  if (batches->reader.input)
    condition->for_row = ExecInitQual(list_make1(expression), node);
  else
    condition->reached = init_reached(probe.value, earlier, node);
  condition->collation = probe.collation;
  condition->memory =
      AllocSetContextCreate(node->state->es_query_cxt, "Bloom Filter Scan", ALLOCSET_SMALL_SIZES);
  condition->control.by_planner = needed != kNamedByQuery;
  condition->control.by_row = batches->reader.input != nullptr;
  condition->control.needed = Max(needed, 0);
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
  const MemoryContext before = MemoryContextSwitchTo(condition->memory);
  condition->filter =
      ExecEvalExpr(condition->filter_expression, batches->reader.context, &condition->is_null);
  auto *value = reinterpret_cast<struct varlena *>(DatumGetPointer(condition->filter));
  if (!condition->is_null && !VARATT_IS_EXTERNAL_ONDISK(value))
    condition->filter = PointerGetDatum(PG_DETOAST_DATUM(condition->filter));
  condition->last = {};
  condition->known = true;
  MemoryContextSwitchTo(before);
}

// Keeps the row of another node if the filter may contain its value.
void probe_row(RowBatches *batches, const FilterCondition &condition) {
  if (ExecQual(condition.for_row, batches->reader.context))
    return;
  InstrCountFiltered2(batches->node, 1);
  batches->count = 0;
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
    if (!condition->value_type)
      condition->value_type =
          value_type_of(condition->value, condition->collation, batches->node->state->es_query_cxt);
    items->value_type = condition->value_type;
    ProbedFilter *filter = find_filter(condition->filter, &condition->last);
    filter->expect(Max(items->count, batches->expected));
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

// Keeps the rows that fulfil the condition of a probe. Evaluates the filter before, if it is not
// known yet. Keeps all rows if the filter is not built yet or rests (probe_control.hpp).
void apply_condition(RowBatches *batches, FilterCondition *condition) {
  ProbeControl *control = &condition->control;
  if (!condition->known) {
    if (!is_built(condition->parameter, batches->node) &&
        !pays_to_build(control, batches->count, progress_of(batches))) {
      control->unprobed += static_cast<uint64>(batches->count);
      return;
    }
    if (condition->reached && !is_reached(batches, *condition)) { // other conditions reject them
      InstrCountFiltered1(batches->node, batches->count);
      batches->count = 0;
      return;
    }
    evaluate_filter(batches, condition);
  }
  if (backs_off(control, batches->count))
    return;
  if (condition->is_null) { // NULL rejects every row of the table
    batches->count = 0;
    batches->ended = true;
    return;
  }
  const int probed = batches->count;
  if (condition->for_row)
    probe_row(batches, *condition);
  else
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
  const bool timed = batches->condition_count > 1 && !batches->reader.input &&
                     !batches->one_by_one && batches->pages % kPagesPerTiming == 0;
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

// Takes the next rows as a batch: all rows of a page, or one row (BatchPlan). False if there are no
// more rows, or if it is certain that no other row will be left.
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

} // namespace

void begin_batches(RowBatches *batches, const BatchPlan &plan, PlanState *node) {
  const List *probes = plan.conditions_with(Role::probe);
  batches->node = node;
  batches->before = ExecInitQual(plan.conditions_with(Role::before), node);
  batches->conditions = make_zeroed_array<FilterCondition>(list_length(probes));
  batches->order = make_zeroed_array<FilterCondition *>(list_length(probes));
  List *earlier = NIL; // without the planner's: evaluating one would build its filter
  for (int i = 0; i < list_length(plan.conditions); i++) {
    auto *expression = static_cast<Node *>(list_nth(plan.conditions, i));
    const int needed = list_nth_int(plan.needed, i);
    if (list_member_ptr(probes, expression))
      init_condition(batches, expression, earlier, needed);
    if (needed == kNamedByQuery)
      earlier = lappend(earlier, expression);
  }
  batches->after = ExecInitQual(plan.conditions_with(Role::after), node);
  batches->one_by_one = plan.one_by_one;
  batches->expected = plan.expected;
  init_values(&batches->values,
              AllocSetContextCreate(node->state->es_query_cxt, "Bloom Filter Scan values",
                                    ALLOCSET_DEFAULT_SIZES));
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

void forget_filters(RowBatches *batches, const Bitmapset *parameters) {
  for (int i = 0; i < batches->condition_count; i++) {
    FilterCondition *condition = &batches->conditions[i];
    if (batches->reader.input && !bms_is_member(condition->parameter, parameters))
      continue;
    condition->known = false;
    forget_history(&condition->control);
    MemoryContextReset(condition->memory);
  }
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

void BatchPlan::add(void *condition, Role role, int needed_rows) {
  conditions = lappend(conditions, condition);
  roles = lappend_int(roles, static_cast<int>(role));
  needed = lappend_int(needed, needed_rows);
}

List *BatchPlan::conditions_with(Role role) const {
  List *found = NIL;
  for (int i = 0; i < list_length(conditions); i++)
    if (list_nth_int(roles, i) == static_cast<int>(role))
      found = lappend(found, list_nth(conditions, i));
  return found;
}

// The calls and conditions of a build have columns of the table, but the node makes other rows. The
// server recognises these columns only in custom_scan_tlist, which describes the rows that the node
// makes. So this list has the calls, and the conditions after them. The calls are the columns to
// which the select list and HAVING refer. The server looks for parameters only in custom_exprs, so
// that list has the same expressions.
CustomScan *make_batch_scan(const CustomScanMethods *methods, Index table, List *targets,
                            List *qual, const BatchPlan &plan) {
  CustomScan *scan = makeNode(CustomScan);
  scan->scan.plan.targetlist = targets;
  scan->scan.plan.qual = qual;
  scan->scan.scanrelid = table;
  scan->methods = methods;
  scan->custom_exprs = list_concat_copy(plan.calls, plan.conditions);
  scan->custom_private =
      list_make3(list_make3_int(list_length(plan.calls), plan.one_by_one ? 1 : 0, plan.expected),
                 plan.roles, plan.needed);
  if (plan.calls == NIL)
    return scan;
  for (Expr *expression : each<Expr>(scan->custom_exprs))
    scan->custom_scan_tlist =
        lappend(scan->custom_scan_tlist,
                makeTargetEntry(static_cast<Expr *>(copyObjectImpl(expression)),
                                list_length(scan->custom_scan_tlist) + 1, nullptr, false));
  return scan;
}

BatchPlan read_batch_plan(const CustomScan *node) {
  const auto *numbers = static_cast<const List *>(linitial(node->custom_private));
  const int calls = linitial_int(numbers);
  List *expressions =
      calls > 0 ? get_tlist_exprs(node->custom_scan_tlist, true) : list_copy(node->custom_exprs);
  BatchPlan plan = {};
  plan.conditions = list_copy_tail(expressions, calls);
  plan.calls = list_truncate(expressions, calls);
  plan.roles = static_cast<List *>(lsecond(node->custom_private));
  plan.needed = static_cast<List *>(lthird(node->custom_private));
  plan.one_by_one = lsecond_int(numbers) != 0;
  plan.expected = lthird_int(numbers);
  return plan;
}

} // namespace bloomfilter
