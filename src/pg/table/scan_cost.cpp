// Estimates the cost of a Bloom Filter Scan, of a row that it leaves, and of reading and hashing a
// value. The planner's part of the scan calls this for each path, and so do pg/build/ and pg/join/.
//
// The cost starts from the server's cost of a sequential scan. The constants below were measured
// with script/bench.

#include "pg/list.hpp"
#include "pg/table/batch.hpp"
#include "pg/table/scan.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

#include "pg/planner/cost.hpp"
#include "pg/planner/filter_estimate.hpp"
#include "pg/query/expression.hpp"

namespace bloomfilter {
namespace {

// Costs in units of cpu_tuple_cost, which a sequential scan pays for each row. script/bench scan
// measures the cost of a row that is left.
constexpr double kLeft = 0.8;
constexpr double kRowsOfPage = 200.0; // probed before the first of them is returned
// The extra cost of hashing a value, compared with a number. script/bench values measures it.
constexpr double kHashVarying = 0.3;
constexpr double kHashComposed = 2.0;
constexpr double kHashField =
    0.4; // for a field of a row that is not formed, in addition to the field's own value
constexpr double kPerByte = 0.005; // for each stored byte of a value; compressed bytes cost more
// If the values of a column are wider than this on average, few of them are out of line: a TOAST
// pointer has 18 bytes.
constexpr int kWidestPointers = 24;

// The number of pages of a table's TOAST table for each row of the table.
double toast_pages_per_row(Oid relation, double rows) {
  HeapTuple table = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(table))
    return 0.0;
  const Oid toast = reinterpret_cast<Form_pg_class>(GETSTRUCT(table))->reltoastrelid;
  ReleaseSysCache(table);
  HeapTuple chunks = SearchSysCache1(RELOID, ObjectIdGetDatum(toast));
  if (!HeapTupleIsValid(chunks))
    return 0.0;
  const int32 pages = reinterpret_cast<Form_pg_class>(GETSTRUCT(chunks))->relpages;
  ReleaseSysCache(chunks);
  return pages / Max(rows, 1.0);
}

double cost_of_conditions(PlannerInfo *root, List *conditions) {
  QualCost cost;
  cost_qual_eval(&cost, conditions, root);
  return cost.per_tuple;
}

double share_of(PlannerInfo *root, List *conditions) {
  return clauselist_selectivity(root, conditions, 0, JOIN_INNER, nullptr);
}

// The cost of the probes of one row: in a sequential scan (`plain`) and in this scan (`together`).
struct ProbeCosts {
  double plain, together;
};

// If one filter rejects a row, the next filters are not probed for it.
ProbeCosts cost_of_probes(PlannerInfo *root, List *probes, const RelOptInfo *table) {
  ProbeCosts costs = {0.0, 0.0};
  double share = 1.0;
  for (RestrictInfo *condition : each<RestrictInfo>(probes)) {
    const ProbeExpr probe = probe_of_condition(reinterpret_cast<Node *>(condition->clause));
    const double bytes = estimate_of(root, probe.filter).bytes;
    const double value = cost_of_value(root, table, probe.value);
    QualCost evaluation; // of the value; the cost of the condition includes it
    cost_qual_eval_node(&evaluation, probe.value, root);
    List *alone = list_make1(condition);
    costs.plain += share * (cost_of_conditions(root, alone) + value);
    costs.together += share * (cost_of_batched_probe(bytes) + evaluation.per_tuple + value);
    share *= share_of(root, alone);
  }
  return costs;
}

// The cost for a process to read the filters for this number of rows. The process reads a page for
// each row, until it reads the whole filter. A constant is in memory already.
double cost_of_filters(PlannerInfo *root, List *probes, double rows) {
  double pages = 0.0;
  for (RestrictInfo *condition : each<RestrictInfo>(probes)) {
    const ProbeExpr probe = probe_of_condition(reinterpret_cast<Node *>(condition->clause));
    if (!IsA(probe.filter, Const))
      pages += Min(estimate_of(root, probe.filter).bytes / BLCKSZ, rows);
    rows *= share_of(root, list_make1(condition));
  }
  return seq_page_cost * pages;
}

// The conditions that cost less than a limit. A sequential scan evaluates these before a probe.
List *cheaper_than(PlannerInfo *root, double limit, List *conditions) {
  List *cheaper = NIL;
  for (Node *condition : each<Node>(conditions))
    if (cost_of_conditions(root, list_make1(condition)) < limit)
      cheaper = lappend(cheaper, condition);
  return cheaper;
}

} // namespace

double cost_of_row_left() {
  return kLeft * cpu_tuple_cost;
}

double cost_of_value(PlannerInfo *root, const RelOptInfo *table, Node *value) {
  double per_row = 0.0;
  if (const RowExpr *row = anonymous_row(value)) {
    for (Node *field : each<Node>(row->args))
      per_row += kHashField * cpu_tuple_cost + cost_of_value(root, table, field);
    return per_row;
  }
  const Oid type = getBaseType(exprType(value)),
            relation = planner_rt_fetch(table->relid, root)->relid;
  if (type == JSONBOID || type_is_rowtype(type) || type_is_range(type) ||
      type_is_multirange(type) || OidIsValid(get_element_type(type)))
    per_row += kHashComposed * cpu_tuple_cost;
  else if (get_typlen(type) < 0)
    per_row += kHashVarying * cpu_tuple_cost;
  bool out_of_line = false;
  List *columns = pull_var_clause(value, PVC_INCLUDE_PLACEHOLDERS);
  for (const Var *column : each<Var>(columns)) {
    if (get_typlen(column->vartype) != -1)
      continue;
    const int32 width = get_attavgwidth(relation, column->varattno);
    per_row += kPerByte * width * cpu_tuple_cost;
    out_of_line |= width <= kWidestPointers;
  }
  return out_of_line ? per_row + seq_page_cost * toast_pages_per_row(relation, table->tuples)
                     : per_row;
}

double divisor_of(int workers) {
  const double leader = parallel_leader_participation ? Max(1.0 - 0.3 * workers, 0.0) : 0.0;
  return workers > 0 ? workers + leader : 1.0;
}

// Starts from the cost of a sequential scan and replaces the part for rows and their conditions. In
// both scans, a row costs what is spent on it until a condition rejects it. The server's own
// estimate evaluates all conditions for every row. That would hide that a cheap condition spares a
// sequential scan most probes.
void set_cost(PlannerInfo *root, RelOptInfo *table, const Conditions &conditions, Path *path) {
  const Path *plain = create_seqscan_path(root, table, nullptr, path->parallel_workers);
  const ProbeCosts probes = cost_of_probes(root, conditions.probes, table);
  List *cheaper = cheaper_than(root, probes.plain, conditions.others);
  List *dearer = list_difference_ptr(conditions.others, cheaper);
  const double left = share_of(root, conditions.before), passed = share_of(root, conditions.probes),
               passed_cheaper = share_of(root, cheaper);

  const double plain_row =
      cpu_tuple_cost + cost_of_conditions(root, conditions.before) +
      left * (cost_of_conditions(root, cheaper) +
              passed_cheaper * (probes.plain + passed * cost_of_conditions(root, dearer)));
  const double before = conditions.before == NIL
                            ? 0.0
                            : kLeft * cpu_tuple_cost + cost_of_conditions(root, conditions.before);
  const double row =
      before + left * (probes.together +
                       passed * (kLeft * cpu_tuple_cost + cost_of_conditions(root, cheaper) +
                                 passed_cheaper * cost_of_conditions(root, dearer)));
  const double rows = table->tuples / divisor_of(path->parallel_workers);
  const double read_more = cost_of_filters(root, conditions.probes, left * rows) -
                           cost_of_filters(root, conditions.probes, left * passed_cheaper * rows);
  const double saved = (plain_row - row) * rows - read_more;

  path->rows = plain->rows;
#if PG_VERSION_NUM >= 180000
  path->disabled_nodes = plain->disabled_nodes;
#endif
  const double run = Max(plain->total_cost - plain->startup_cost - saved, 0.0);
  path->startup_cost = plain->startup_cost + run * Min(kRowsOfPage / Max(table->tuples, 1.0), 1.0);
  path->total_cost = plain->startup_cost + run;
}

} // namespace bloomfilter
