// See filters.hpp.
//
// The choice has three steps. Equalities of the table become candidates if a filter of the keys may
// pay. The candidates are sorted by gain, and the best of each source is kept. The InitPlan of each
// is planned, and its cost decides whether the filter is taken. The time for planning is bounded by
// the constants below.

#include "pg/join/filters.hpp"

#include "core/sizing.hpp"
#include "pg/compat.hpp"
#include "pg/join/query.hpp"
#include "pg/list.hpp"
#include "pg/planner/cost.hpp"
#include "pg/planner/filter_estimate.hpp"
#include "pg/planner/per_planning.hpp"
#include "pg/query/expression.hpp"
#include "pg/table/scan.hpp"
#include "pg/value/new_filter.hpp"

extern "C" {
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/planner.h"
#include "optimizer/subselect.h"
#include "utils/guc.h"
}

namespace bloomfilter {
namespace {

constexpr double kAdded = 0.4; // the least cost of adding a key, in cpu_tuple_cost

// What a dropped row saves, in cpu_tuple_cost. The row is not looked up in the hash table of a
// join. A lookup costs more if the hash table is larger than the processor's cache. (The server's
// own cost ignores this.)
constexpr double kJoinSaving = 0.4, kJoinSavingPerDoubling = 0.25, kMostJoinSaving = 3.0;
constexpr double kBytesPerHashedRow = 48.0;

// For each unit of parallel_setup_cost, the number of rows from which a build may be parallel.
// Starting and ending workers takes as long as building a filter of this number of rows without
// workers. (parallel_setup_cost is meant for longer plans.)
constexpr double kRowsPerSetupCost = 5000.0;

// These bound the time for planning.
constexpr int kMostFilters = 8;  // on one scan
constexpr int kMostPlanned = 16; // for all scans of a query
constexpr int kMostLooks = 64;   // equalities that are looked at for one scan

// --- candidates ----------------------------------------------------------------------------------

// The facts about a table that decide whether filters pay.
struct TableFacts {
  PlannerInfo *root;
  RelOptInfo *table;
  double tuples;
  double conditions;     // the cost of the table's own conditions for a row
  double joined;         // the share of rows that fulfil the table's own conditions
  List *subquery_probes; // what find_subquery_probes() found
};

struct Candidate {
  JoinFilter filter;
  KeySource *source;
  double gain; // what the filter would save if it were the only one
};

double join_saving_of(const KeySource *source) {
  const double bytes = source->rows * (kBytesPerHashedRow + source->table->reltarget->width);
  return cpu_tuple_cost *
         Min(kJoinSaving + kJoinSavingPerDoubling * doublings_beyond_cache(bytes), kMostJoinSaving);
}

// What a filter saves if it is probed for `rows` rows. The cost of building the filter is not
// subtracted.
double saved_by(const TableFacts &facts, const JoinFilter &filter, double rows) {
  const double dropped = cost_of_row_left() + facts.conditions + facts.joined * filter.join_saving;
  return rows * ((1.0 - filter.share) * dropped - filter.probe_cost);
}

// What the first filter of a table saves in addition: the table is then read a page at a time.
double saved_by_batches(const TableFacts &facts) {
  return facts.tuples * (cpu_tuple_cost - cost_of_row_left());
}

// True if a table has enough rows for a filter to pay at all.
bool may_pay(const TableFacts &facts) {
  JoinFilter best = {};
  best.join_saving = kMostJoinSaving * cpu_tuple_cost;
  return saved_by(facts, best, facts.tuples) + saved_by_batches(facts) >= kWorthwhile;
}

// True if a filter of the source's keys may be built. The build must not fail, however many of the
// table's keys are different. It should not take more memory than a node of a plan may take. (If a
// build has more hashes than fit into memory, it spills them to temporary files. It fails if these
// would exceed their limit.)
bool has_allowed_size(const KeySource *source) {
  return kBytesPerValue * source->rows <= work_mem * 1024.0 &&
         is_allowed_size(2 * BITS_PER_BYTE * kBytesPerValue * source->tuples) &&
         (temp_file_limit < 0 || sizeof(uint64) * source->tuples <= get_hash_memory_limit());
}

// Looks at an equality. Returns NULL if a filter of its keys certainly does not pay.
Candidate *judge_pair(const TableFacts &facts, const KeyPair &pair, Search *search) {
  KeySource *source = find_source(facts.root, pair, facts.table->relids, search);
  if (!source || !has_allowed_size(source) ||
      find_same_probe(facts.root, facts.subquery_probes, pair))
    return nullptr;
  const double bytes = kBytesPerValue * source->rows;
  auto *candidate = make_zeroed<Candidate>();
  candidate->source = source;
  JoinFilter *filter = &candidate->filter;
  filter->pair = pair;
  filter->tuples = facts.tuples;
  filter->join_saving = join_saving_of(source);
  filter->probe_cost =
      cost_of_batched_probe(bytes) + cost_of_value(facts.root, facts.table, pair.probed);
  filter->build_cost = kAdded * cpu_tuple_cost * source->rows; // the least possible
  filter->share = 0.0;                                         // the least possible
  const auto gain = [&] {
    return saved_by(facts, *filter, facts.tuples) + saved_by_batches(facts) - filter->build_cost;
  };
  if (gain() < kWorthwhile)
    return nullptr;
  const double partners = share_with_partner(facts.root, facts.table, pair, source->rows);
  filter->share = partners + (1.0 - partners) * kDefaultRate;
  candidate->gain = gain();
  return candidate->gain < kWorthwhile ? nullptr : candidate;
}

int by_gain(const ListCell *a, const ListCell *b) {
  const double one = static_cast<Candidate *>(lfirst(a))->gain,
               other = static_cast<Candidate *>(lfirst(b))->gain;
  return one > other ? -1 : one < other ? 1 : 0;
}

// Returns the best candidate of each source, sorted by gain, largest first.
List *find_candidates(const TableFacts &facts, Search *search) {
  List *candidates = NIL;
  for (const KeyPair *pair : each<KeyPair>(keys_of(facts.root, facts.table, search))) {
    if (search->looks <= 0)
      break;
    if (Candidate *candidate = judge_pair(facts, *pair, search))
      candidates = lappend(candidates, candidate);
  }
  list_sort(candidates, by_gain);
  List *best = NIL;
  Relids sources = nullptr;
  for (Candidate *candidate : each<Candidate>(candidates)) {
    const int source = static_cast<int>(candidate->source->table->relid);
    if (!bms_is_member(source, sources))
      best = lappend(best, candidate);
    sources = bms_add_member(sources, source);
  }
  return best;
}

// --- InitPlans -----------------------------------------------------------------------------------

// Plans the InitPlan of a filter. The server's planagg.c plans those of MIN and MAX in the same
// way.
void plan_initplan(PlannerInfo *root, const ExtensionOids &oids, Candidate *candidate) {
  JoinFilter *filter = &candidate->filter;
  const KeyPair &pair = filter->pair;
  Query *query = query_for(root, oids, candidate->source, pair.key, pair.collation);
  const bool may_be_parallel = root->glob->parallelModeOK;
  root->glob->parallelModeOK =
      may_be_parallel && candidate->source->tuples >= kRowsPerSetupCost * parallel_setup_cost;
  char *name = choose_plan_name(root->glob, "bloom_filter", true);
  filter->subroot = subquery_planner(root->glob, query, name, root, nullptr, false, 0.0, nullptr);
  root->glob->parallelModeOK = may_be_parallel;
  filter->path = fetch_upper_rel(filter->subroot, UPPERREL_FINAL, nullptr)->cheapest_total_path;
  filter->build_cost = filter->path->total_cost;
  filter->result = SS_make_initplan_output_param(root, oids.type, -1, InvalidOid);
  filter->condition = make_probe(oids, reinterpret_cast<Node *>(filter->result),
                                 static_cast<Node *>(copyObjectImpl(pair.probed)), pair.collation);
}

// Takes the candidates that pay. Each is judged for the rows that the filters before it let
// through.
List *choose(const TableFacts &facts, List *candidates, int *planned) {
  List *filters = NIL;
  ExtensionOids oids;
  if (candidates == NIL)
    return NIL;
  facts.root->glob->dependsOnRole = true; // another role may not be allowed to call the functions
  if (!find_extension_oids(&oids))
    return NIL;
  double rows = facts.tuples;
  for (Candidate *candidate : each<Candidate>(candidates)) {
    JoinFilter *filter = &candidate->filter;
    const double saved =
        saved_by(facts, *filter, rows) + (filters == NIL ? saved_by_batches(facts) : 0.0);
    if (saved - filter->build_cost < kWorthwhile)
      continue;
    if (list_length(filters) == kMostFilters || *planned == kMostPlanned)
      break;
    ++*planned;
    const PlannedSubqueries before = planned_subqueries(facts.root->glob);
    plan_initplan(facts.root, oids, candidate);
    if (saved - filter->build_cost < kWorthwhile) {
      forget_subqueries_after(facts.root->glob,
                              before); // those that the source's neighbours have added
      continue;
    }
    filters = lappend(filters, filter);
    rows *= filter->share;
  }
  return filters;
}

// --- one run of the planner ----------------------------------------------------------------------

// What is remembered while a query is planned. The filters of the table that was planned last are
// kept, because each of its partitions needs them. The number of InitPlans planned is kept because
// it is limited.
struct PlannedFilters {
  int planned;
  Search search;
  Index table; // 0 if no table was planned yet
  List *filters;
};

TableKeys *room_for_keys(const PlannerInfo *root) {
  return make_zeroed_array<TableKeys>(root->simple_rel_array_size, root->planner_cxt);
}

} // namespace

List *filters_for(PlannerInfo *root, RelOptInfo *table) {
  auto *notes = PerPlanning<PlannedFilters>::notes_of(root, root->planner_cxt);
  if (notes->table == table->relid)
    return notes->filters;
  if (!notes->search.keys)
    notes->search.keys = room_for_keys(root);
  notes->search.looks = kMostLooks;
  const double tuples = Max(tuples_of(root, table), 1.0);
  const TableFacts facts = {root,
                            table,
                            tuples,
                            table->baserestrictcost.per_tuple,
                            Min(table->rows / tuples, 1.0),
                            find_subquery_probes(root, table)};
  notes->table = table->relid;
  // A volatile condition must be evaluated for the same rows as without filters. So a table with
  // one gets no filters.
  const bool may_be_filtered =
      may_pay(facts) &&
      !contain_volatile_functions(reinterpret_cast<Node *>(table->baserestrictinfo));
  notes->filters = may_be_filtered
                       ? choose(facts, find_candidates(facts, &notes->search), &notes->planned)
                       : NIL;
  return notes->filters;
}

void attach_initplan(PlannerInfo *root, const JoinFilter *filter) {
  if (initplan_of_level(root, filter->result->paramid))
    return;
  SS_make_initplan_from_plan(root, filter->subroot, create_plan(filter->subroot, filter->path),
                             filter->result);
}

} // namespace bloomfilter
