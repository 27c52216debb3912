// See probe_node.hpp.

#include "pg/table/probe_node.hpp"

#include "pg/list.hpp"
#include "pg/table/batch.hpp"
#include "pg/table/explain.hpp"
#include "pg/table/probe_control.hpp"

extern "C" {
#include "executor/executor.h"
}

namespace bloomfilter {
namespace {

// The decision whether a filter rests is made for this number of rows at once.
constexpr int kRowsPerDecision = 64;

struct RowProbe {
  Node *expression;
  ExprState *condition;
  int parameter; // the number of the parameter that is the filter
  ProbeControl control;
  int rows, passed; // of those for which the last decision was made: how many came and passed
  bool rests;       // the last decision
};

// Starts at zero.
struct FilterProbe {
  CustomScanState node; // first, because the server casts the pointer
  RowProbe *probes;
  int count;
};

FilterProbe *scan_of(CustomScanState *node) {
  return reinterpret_cast<FilterProbe *>(node);
}

PlanState *input_of(const CustomScanState *node) {
  return static_cast<PlanState *>(linitial(node->custom_ps));
}

// --- rows ----------------------------------------------------------------------------------------

// True if the filter may contain the row's value, or if it is not probed for this row.
bool passes(RowProbe *probe, const PlanState *node) {
  if (!is_built(probe->parameter, node) && !pays_to_build(&probe->control, 1, {1.0, 1.0})) {
    probe->control.unprobed++;
    return true;
  }
  if (probe->rows == 0)
    probe->rests = backs_off(&probe->control, kRowsPerDecision);
  const bool passed = probe->rests || ExecQual(probe->condition, node->ps_ExprContext);
  probe->passed += passed ? 1 : 0;
  if (++probe->rows == kRowsPerDecision) {
    if (!probe->rests)
      judge(&probe->control, probe->rows, probe->passed);
    probe->rows = probe->passed = 0;
  }
  return passed;
}

bool passes_all(FilterProbe *probe) {
  for (int i = 0; i < probe->count; i++)
    if (!passes(&probe->probes[i], &probe->node.ss.ps))
      return false;
  return true;
}

// --- the node ------------------------------------------------------------------------------------

TupleTableSlot *exec(CustomScanState *node) {
  PlanState *state = &node->ss.ps;
  ExprContext *context = state->ps_ExprContext;
  for (;;) {
    TupleTableSlot *slot = ExecProcNode(input_of(node));
    if (TupIsNull(slot))
      return nullptr;
    ResetExprContext(context);
    context->ecxt_scantuple = slot;
    if (passes_all(scan_of(node)))
      return state->ps_ProjInfo ? ExecProject(state->ps_ProjInfo) : slot;
    InstrCountFiltered2(node, 1);
  }
}

// The node passes on the slots of its input, which may be of any kind.
void take_slots_of(PlanState *state, const PlanState *input) {
  state->scanops = ExecGetResultSlotOps(const_cast<PlanState *>(input), &state->scanopsfixed);
  state->scanopsset = true;
  if (state->ps_ProjInfo) {
    ExecAssignScanProjectionInfoWithVarno(reinterpret_cast<ScanState *>(state), INDEX_VAR);
    return;
  }
  state->resultops = state->scanops;
  state->resultopsfixed = state->scanopsfixed;
  state->resultopsset = true;
}

void begin(CustomScanState *node, EState *estate, int flags) {
  FilterProbe *probe = scan_of(node);
  PlanState *state = &node->ss.ps;
  const auto *plan = reinterpret_cast<const CustomScan *>(state->plan);
  PlanState *input = ExecInitNode(static_cast<Plan *>(linitial(plan->custom_plans)), estate, flags);
  node->custom_ps = list_make1(input);
  take_slots_of(state, input);
  probe->probes = make_zeroed_array<RowProbe>(list_length(plan->custom_exprs));
  for (Node *expression : each<Node>(plan->custom_exprs)) {
    RowProbe *one = &probe->probes[probe->count];
    one->expression = expression;
    one->condition = ExecInitQual(list_make1(expression), state);
    one->parameter = parameter_of(probe_of_condition(expression));
    one->control.by_planner = true;
    one->control.needed = list_nth_int(plan->custom_private, probe->count);
    probe->count++;
  }
}

void end(CustomScanState *node) {
  ExecEndNode(input_of(node));
}

void rescan(CustomScanState *node) {
  FilterProbe *probe = scan_of(node);
  PlanState *input = input_of(node);
  const Bitmapset *changed = node->ss.ps.chgParam;
  for (int i = 0; i < probe->count; i++) {
    RowProbe *one = &probe->probes[i];
    if (bms_is_member(one->parameter, changed)) { // the filter is another one now
      forget_history(&one->control);
      one->rows = one->passed = 0;
    }
  }
  if (changed)
    UpdateChangedParamSet(input, const_cast<Bitmapset *>(changed));
  if (!input->chgParam)
    ExecReScan(input);
}

// --- EXPLAIN -------------------------------------------------------------------------------------

void explain(CustomScanState *node, List *ancestors, ExplainState *explained) {
  const FilterProbe *probe = scan_of(node);
  List *all = NIL, *unbuilt = NIL;
  uint64 unprobed = 0;
  for (int i = 0; i < probe->count; i++) {
    const RowProbe &one = probe->probes[i];
    all = lappend(all, one.expression);
    if (!is_built(one.parameter, &node->ss.ps))
      unbuilt = lappend(unbuilt, one.expression);
    unprobed += one.control.unprobed;
  }
  explain_conditions("Bloom Filter", all, node, ancestors, explained);
  const NodeInstrumentation *instrument = explained->analyze ? node->ss.ps.instrument : nullptr;
  if (!instrument)
    return;
  if (instrument->nloops > 0)
    explain_conditions("Bloom Filter Not Built", unbuilt, node, ancestors, explained);
  explain_rows("Rows Removed by Bloom Filter", instrument->nfiltered2, instrument, explained);
  if (unprobed > 0)
    explain_rows("Rows Not Probed", static_cast<double>(unprobed), instrument, explained);
}

constexpr CustomExecMethods kExecMethods = {"Bloom Filter Probe",
                                            begin,
                                            exec,
                                            end,
                                            rescan,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            explain};

Node *create_state(CustomScan *) {
  auto *probe = make_zeroed<FilterProbe>();
  NodeSetTag(&probe->node, T_CustomScanState);
  probe->node.methods = &kExecMethods;
  return reinterpret_cast<Node *>(probe);
}

constexpr CustomScanMethods kMethods = {"Bloom Filter Probe", create_state};

} // namespace

Plan *make_probe_plan(Plan *input, List *targets, List *conditions, List *needed) {
  CustomScan *scan = makeNode(CustomScan);
  scan->scan.plan.targetlist = targets;
  scan->custom_scan_tlist = static_cast<List *>(copyObjectImpl(input->targetlist));
  scan->custom_plans = list_make1(input);
  scan->custom_exprs = conditions;
  scan->custom_private = needed;
  scan->methods = &kMethods;
  return &scan->scan.plan;
}

void define_probe_node() {
  RegisterCustomScanMethods(&kMethods);
}

} // namespace bloomfilter
