// See batch.hpp. This file begins the expressions of the conditions, evaluates conditions for each
// row, probes the filters, and lets filters rest that are not worth their time. It also writes and
// reads the plan, and begins the table scan.

#include "pg/table/batch.hpp"

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/planner/sample.hpp"
#include "pg/query/question.hpp"

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

void init_probe(Probe *probe, Node *condition, List *conditions_before, PlanState *node) {
  Question question;
  // EvalPlanQual begins late: the function may have been altered since the plan was made.
  if (!asks_for_value(condition, &question))
    elog(ERROR, "Bloom Filter Scan has a condition that asks no filter any more");
  probe->filter_expression = ExecInitExpr(reinterpret_cast<Expr *>(question.filter), node);
  probe->value = init_value(question.value, node);
  probe->reached = init_reached(question.value, conditions_before, node);
  probe->collation = question.collation;
}

// --- conditions row by row -----------------------------------------------------------------------

// Keeps the rows of the batch that fulfil the conditions.
void evaluate_conditions(Batches *batches, ExprState *conditions) {
  const int left =
      filter_rows(&batches->pages, conditions, batches->rows, batches->count, batches->rows);
  InstrCountFiltered1(batches->node, batches->count - left);
  batches->count = left;
}

// True if a sequential scan would probe the filter for any of the rows. Only then is the filter
// evaluated, and only then may its evaluation raise an error.
bool is_reached(Batches *batches, const Probe &probe) {
  for (int i = 0; i < batches->count; i++) {
    CHECK_FOR_INTERRUPTS();
    show_row(&batches->pages, batches->rows[i]);
    if (ExecQualAndReset(probe.reached, batches->pages.context))
      return true;
  }
  return false;
}

// --- rest ----------------------------------------------------------------------------------------

// A probe is judged after kJudged rows. If it is not worth its time, it rests for a multiple of
// this number. If it is still not worth its time after that, it rests twice as long, up to a limit.
// It is tried again because later rows may be different.
constexpr uint64 kJudged = 8192;
constexpr uint64 kFirstPause = 16 * kJudged, kLongestPause = 32 * kFirstPause;
// A probe is not worth its time if it lets more than this share of the rows through. Each of these
// rows has cost a probe for nothing. The planner places a filter only for a lower share. The limit
// here is higher because a filter is worth more below an expensive join.
constexpr double kWorthless = 0.85;

// True if the probe rests. The rows of the batch then pass without a probe.
bool rests(Rest *rest, uint64 rows) {
  if (rest->left == 0)
    return false;
  rest->left -= Min(rest->left, rows);
  rest->unprobed += rows;
  return true;
}

void judge(Rest *rest, uint64 probed, uint64 passed) {
  rest->probed += probed;
  rest->passed += passed;
  if (!rest->allowed || rest->probed < kJudged)
    return;
  const bool worthless = rest->passed > kWorthless * rest->probed;
  rest->pause = worthless ? Min(Max(2 * rest->pause, kFirstPause), kLongestPause) : 0;
  rest->left = rest->pause;
  rest->probed = rest->passed = 0;
}

// --- probes --------------------------------------------------------------------------------------

void evaluate_filter(Batches *batches, Probe *probe) {
  const MemoryContext before = MemoryContextSwitchTo(batches->filters);
  probe->filter = ExecEvalExpr(probe->filter_expression, batches->pages.context, &probe->is_null);
  auto *value = reinterpret_cast<struct varlena *>(DatumGetPointer(probe->filter));
  if (!probe->is_null && !VARATT_IS_EXTERNAL_ONDISK(value))
    probe->filter = PointerGetDatum(PG_DETOAST_DATUM(probe->filter));
  probe->memory = {};
  probe->known = true;
  MemoryContextSwitchTo(before);
}

// Opens the filter. It can be probed until another filter is opened.
AskedFilter *open_filter(Probe *probe, const PlanState *node) {
  if (!probe->element)
    probe->element = element_of(probe->value, probe->collation, node->state->es_query_cxt);
  return find_filter(probe->filter, &probe->memory);
}

// The false positive rate of a filter that is being probed, from a sample of its bits. 0 if it is
// unknown. A filter that is read by slice is sampled once for all scans of a statement, such as the
// scans of a table's partitions.
double rate_of(const Probe &probe, const AskedFilter &filter) {
  static struct {
    TimestampTz statement;
    struct varatt_external pointer;
    double rate;
  } sampled;
  if (filter.payload)
    return sample_payload(filter.payload, filter.header).rate;
  const TimestampTz statement = GetCurrentStatementStartTimestamp();
  const struct varatt_external &pointer = probe.memory.pointer;
  if (sampled.statement != statement || memcmp(&sampled.pointer, &pointer, sizeof pointer) != 0) {
    Header header;
    sampled = {statement, pointer, sample_filter(probe.filter, &header).rate};
  }
  return sampled.rate;
}

// Keeps the rows whose value the filter may contain.
void probe_rows(Batches *batches, Probe *probe) {
  Values *values = &batches->values;
  Items *items = &values->items;
  bool answers[kMaxRows];
  int left = 0;
  for (int next = 0; next < batches->count;) {
    next += collect_values(&batches->pages, probe->value, batches->rows + next,
                           batches->count - next, values);
    if (items->count == 0)
      continue;
    AskedFilter *filter = open_filter(probe, batches->node);
    filter->expect(Max(items->count, batches->expected));
    // The rate is sampled now, because the filter may be gone later, together with the row that
    // holds it.
    if (unlikely(!probe->sampled) && batches->node->instrument) {
      probe->sampled = true;
      probe->rate = rate_of(*probe, *filter);
    }
    items->element = probe->element;
    for (int item = 0; item < items->count;)
      item = ask_items(filter, *items, item, answers);
    for (int i = 0; i < items->count; i++) {
      batches->rows[left] = values->rows[i];
      left += answers[i] ? 1 : 0;
    }
  }
  InstrCountFiltered2(batches->node, batches->count - left);
  batches->count = left;
}

// Keeps the rows that fulfil the condition of a probe.
void apply_probe(Batches *batches, Probe *probe) {
  if (rests(&probe->rest, batches->count))
    return;
  if (!probe->known) {
    if (!is_reached(batches, *probe)) { // other conditions reject these rows
      InstrCountFiltered1(batches->node, batches->count);
      batches->count = 0;
      return;
    }
    evaluate_filter(batches, probe);
  }
  if (probe->is_null) { // NULL rejects every row of the table
    batches->count = 0;
    batches->ended = true;
    return;
  }
  const int probed = batches->count;
  probe_rows(batches, probe);
  judge(&probe->rest, probed, batches->count);
}

// --- batches -------------------------------------------------------------------------------------

// Takes the next rows as a batch: all rows of a page. If computing a value may fail, a batch is one
// row, so that the rows before it are used first. False if there are no more rows, or if it is
// certain that no other row will be left.
bool take_rows(Batches *batches) {
  batches->count = 0;
  if (batches->ended)
    return false;
  if (batches->taken == batches->pages.count) {
    batches->taken = 0;
    if (!read_rows(&batches->pages)) {
      batches->ended = true;
      return false;
    }
  }
  batches->rows = batches->pages.rows + batches->taken;
  batches->count = batches->one_by_one ? 1 : batches->pages.count - batches->taken;
  batches->taken += batches->count;
  return true;
}

// --- the plan ------------------------------------------------------------------------------------

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

ParallelTableScanDesc scan_after(void *memory, Size own) {
  return reinterpret_cast<ParallelTableScanDesc>(static_cast<char *>(memory) + MAXALIGN(own));
}

// Since PostgreSQL 19, a scan may mark pages as all-visible while it reads them. This is allowed if
// the query does not change the table.
uint32 flags_of(ScanState *node) {
  return ScanRelIsReadOnly(node) ? SO_HINT_REL_READ_ONLY : SO_NONE;
}

} // namespace

void begin_batches(Batches *batches, const BatchPlan &plan, PlanState *node) {
  const MemoryContext query = node->state->es_query_cxt;
  batches->node = node;
  batches->before = ExecInitQual(plan.before, node);
  batches->probes = static_cast<Probe *>(palloc0(list_length(plan.probes) * sizeof(Probe)));
  ListCell *cell;
  foreach (cell, plan.conditions) {
    if (!list_member_ptr(plan.probes, lfirst(cell)))
      continue;
    List *before = list_truncate(list_copy(plan.conditions), foreach_current_index(cell));
    Probe *probe = &batches->probes[batches->probe_count++];
    init_probe(probe, static_cast<Node *>(lfirst(cell)), before, node);
    probe->rest.allowed = list_member_ptr(plan.placed, lfirst(cell));
  }
  batches->after = ExecInitQual(plan.after, node);
  batches->one_by_one = plan.one_by_one;
  batches->expected = plan.expected;
  batches->filters = AllocSetContextCreate(query, "Bloom Filter Scan", ALLOCSET_DEFAULT_SIZES);
  init_values(&batches->values,
              AllocSetContextCreate(query, "Bloom Filter Scan values", ALLOCSET_DEFAULT_SIZES));
}

bool next_batch(Batches *batches) {
  while (take_rows(batches)) {
    if (batches->before)
      evaluate_conditions(batches, batches->before);
    for (int i = 0; i < batches->probe_count && batches->count > 0; i++)
      apply_probe(batches, &batches->probes[i]);
    if (batches->after)
      evaluate_conditions(batches, batches->after);
    if (batches->count > 0)
      return true;
  }
  return false;
}

void restart_batches(Batches *batches) {
  forget_rows(&batches->pages);
  batches->taken = batches->count = 0;
  batches->ended = false;
}

void forget_filters(Batches *batches) {
  for (int i = 0; i < batches->probe_count; i++) {
    Probe *probe = &batches->probes[i];
    probe->known = false;
    probe->rest = {probe->rest.allowed, 0, 0, 0, 0, probe->rest.unprobed};
  }
  MemoryContextReset(batches->filters);
}

List *describe_batch_plan(const BatchPlan &plan) {
  List *lists = list_make4(
      positions_of(plan.before, plan.conditions), positions_of(plan.probes, plan.conditions),
      positions_of(plan.placed, plan.conditions), positions_of(plan.after, plan.conditions));
  return list_concat(lists,
                     list_make2(makeInteger(plan.one_by_one ? 1 : 0), makeInteger(plan.expected)));
}

BatchPlan read_batch_plan(List *conditions, const List *description) {
  return {conditions,
          conditions_at(linitial(description), conditions),
          conditions_at(lsecond(description), conditions),
          conditions_at(lthird(description), conditions),
          conditions_at(lfourth(description), conditions),
          intVal(list_nth(description, 4)) != 0,
          intVal(list_nth(description, 5))};
}

TableScanDesc begin_own_scan(ScanState *node, Relation table) {
  return table_beginscan(table, node->ps.state->es_snapshot, 0, nullptr, flags_of(node));
}

Size shared_scan_size(Relation table, const PlanState *node, Size own) {
  return add_size(MAXALIGN(own), table_parallelscan_estimate(table, node->state->es_snapshot));
}

void init_shared_scan(Relation table, const PlanState *node, void *memory, Size own) {
  table_parallelscan_initialize(table, scan_after(memory, own), node->state->es_snapshot);
}

void reinit_shared_scan(Relation table, void *memory, Size own) {
  table_parallelscan_reinitialize(table, scan_after(memory, own));
}

TableScanDesc join_shared_scan(ScanState *node, Relation table, void *memory, Size own) {
  return table_beginscan_parallel(table, scan_after(memory, own), flags_of(node));
}

} // namespace bloomfilter
