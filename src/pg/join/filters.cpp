#include "pg/join/filters.hpp"

#include "core/sizing.hpp"
#include "pg/compat.hpp"
#include "pg/expression.hpp"
#include "pg/list.hpp"
#include "pg/planner/cost.hpp"
#include "pg/planner/knowledge.hpp"
#include "pg/planner/run.hpp"
#include "pg/table/scan.hpp"
#include "pg/value/make.hpp"

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

constexpr double kAdded = 0.4; // what adding a key costs at least, in cpu_tuple_cost

// A row that is dropped is not looked up in the hash table of a join. This costs more if the table
// is larger than the processor's cache. (The server's own cost does not know that.) In
// cpu_tuple_cost:
constexpr double kSpared = 0.4, kSparedPerDoubling = 0.25, kMostSpared = 3.0;
constexpr double kBytesPerHashedRow = 48.0;

// Starting and ending workers takes as long as building a filter of so many rows alone, for each
// unit of parallel_setup_cost. (This cost is meant to be that of longer plans.)
constexpr double kRowsPerSetupCost = 5000.0;

// Bounds of the time that planning may take.
constexpr int kMostFilters = 8;  // on one scan
constexpr int kMostPlanned = 16; // for all scans of a query
constexpr int kMostLooks = 64;   // at equalities, for one scan

// --- candidates ----------------------------------------------------------------------------------

// What decides whether filters pay for a table.
struct Scanned {
  PlannerInfo *root;
  RelOptInfo *table;
  double tuples;
  double conditions; // what its own conditions cost for a row
  double joined;     // the share of the rows that fulfil these
  List *asked;       // the filters that the query asks itself: find_asked()
};

struct Candidate {
  JoinFilter filter;
  Source *source;
  double gain; // if it were the only one
};

double spared_by(const Source *source) {
  const double bytes = source->rows * (kBytesPerHashedRow + source->table->reltarget->width);
  return cpu_tuple_cost *
         Min(kSpared + kSparedPerDoubling * doublings_beyond_cache(bytes), kMostSpared);
}

// What a filter saves that is asked for so many rows, without what it costs to build it.
double saved_by(const Scanned &scanned, const JoinFilter &filter, double rows) {
  const double dropped = cost_of_row_left() + scanned.conditions + scanned.joined * filter.spared;
  return rows * ((1.0 - filter.share) * dropped - filter.probe);
}

// What the first filter of a table saves beyond that, because rows are then read a page at a time.
double saved_by_batches(const Scanned &scanned) {
  return scanned.tuples * (cpu_tuple_cost - cost_of_row_left());
}

// Has a table so many rows that a filter may pay at all?
bool may_pay(const Scanned &scanned) {
  JoinFilter best = {};
  best.spared = kMostSpared * cpu_tuple_cost;
  return saved_by(scanned, best, scanned.tuples) + saved_by_batches(scanned) >= kWorthwhile;
}

// May a filter of so many keys be built? It must not fail, however many of the table's keys are
// different, and it should not take more memory than a node of a plan may. (A build that has more
// hashes writes them to temporary files, and fails if these may not be so large.)
bool has_allowed_size(const Source *source) {
  return kBytesPerValue * source->rows <= work_mem * 1024.0 &&
         is_allowed_size(2 * BITS_PER_BYTE * kBytesPerValue * source->tuples) &&
         (temp_file_limit < 0 || sizeof(uint64) * source->tuples <= get_hash_memory_limit());
}

// Looks at an equality. NULL if a filter of these keys surely does not pay.
Candidate *look_at(const Scanned &scanned, const KeyPair &pair, Search *search) {
  Source *source = find_source(scanned.root, pair, scanned.table->relids, search);
  if (!source || !has_allowed_size(source) || find_written(scanned.root, scanned.asked, pair))
    return nullptr;
  const double bytes = kBytesPerValue * source->rows;
  auto *candidate = make_zeroed<Candidate>();
  candidate->source = source;
  JoinFilter *filter = &candidate->filter;
  filter->pair = pair;
  filter->tuples = scanned.tuples;
  filter->spared = spared_by(source);
  filter->probe =
      cost_of_batched_probe(bytes) + cost_of_value(scanned.root, scanned.table, pair.asked);
  filter->build = kAdded * cpu_tuple_cost * source->rows; // at least
  filter->share = 0.0;                                    // at most
  const auto gain = [&] {
    return saved_by(scanned, *filter, scanned.tuples) + saved_by_batches(scanned) - filter->build;
  };
  if (gain() < kWorthwhile)
    return nullptr;
  const double partners = share_with_partner(scanned.root, scanned.table, pair, source->rows);
  filter->share = partners + (1.0 - partners) * kDefaultRate;
  candidate->gain = gain();
  return candidate->gain < kWorthwhile ? nullptr : candidate;
}

int by_gain(const ListCell *a, const ListCell *b) {
  const double one = static_cast<Candidate *>(lfirst(a))->gain,
               other = static_cast<Candidate *>(lfirst(b))->gain;
  return one > other ? -1 : one < other ? 1 : 0;
}

// The best candidate of each source, the best ones first.
List *find_candidates(const Scanned &scanned, Search *search) {
  List *candidates = NIL;
  for (const KeyPair *pair : each<KeyPair>(keys_of(scanned.root, scanned.table, search))) {
    if (search->looks <= 0)
      break;
    if (Candidate *candidate = look_at(scanned, *pair, search))
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

// Plans the InitPlan of a filter, as the server's planagg.c plans those of MIN and MAX.
void plan_initplan(PlannerInfo *root, const OwnNames &names, Candidate *candidate) {
  JoinFilter *filter = &candidate->filter;
  const KeyPair &pair = filter->pair;
  Query *query = query_for(root, names, candidate->source, pair.key, pair.collation);
  const bool may_be_parallel = root->glob->parallelModeOK;
  root->glob->parallelModeOK =
      may_be_parallel && candidate->source->tuples >= kRowsPerSetupCost * parallel_setup_cost;
  char *name = choose_plan_name(root->glob, "bloom_filter", true);
  filter->subroot = subquery_planner(root->glob, query, name, root, nullptr, false, 0.0, nullptr);
  root->glob->parallelModeOK = may_be_parallel;
  filter->path = fetch_upper_rel(filter->subroot, UPPERREL_FINAL, nullptr)->cheapest_total_path;
  filter->build = filter->path->total_cost;
  filter->result = SS_make_initplan_output_param(root, names.type, -1, InvalidOid);
  filter->condition = ask_for(names, reinterpret_cast<Node *>(filter->result),
                              static_cast<Node *>(copyObjectImpl(pair.asked)), pair.collation);
}

// Takes the candidates that pay, each for the rows that those before it let through.
List *choose(const Scanned &scanned, List *candidates, int *planned) {
  List *filters = NIL;
  OwnNames names;
  if (candidates == NIL)
    return NIL;
  scanned.root->glob->dependsOnRole = true; // another one may not be allowed to call the functions
  if (!find_names(&names))
    return NIL;
  double rows = scanned.tuples;
  for (Candidate *candidate : each<Candidate>(candidates)) {
    JoinFilter *filter = &candidate->filter;
    const double saved =
        saved_by(scanned, *filter, rows) + (filters == NIL ? saved_by_batches(scanned) : 0.0);
    if (saved - filter->build < kWorthwhile)
      continue;
    if (list_length(filters) == kMostFilters || *planned == kMostPlanned)
      break;
    ++*planned;
    const PlannedSubqueries before = planned_subqueries(scanned.root->glob);
    plan_initplan(scanned.root, names, candidate);
    if (saved - filter->build < kWorthwhile) {
      forget_subqueries_after(scanned.root->glob, before); // those of the source's neighbours
      continue;
    }
    filters = lappend(filters, filter);
    rows *= filter->share;
  }
  return filters;
}

// --- one run of the planner ----------------------------------------------------------------------

// What is remembered while a query is planned: the filters of the table that was planned last, for
// which each of its partitions asks, and how many InitPlans were planned.
struct Placed {
  int planned;
  Search search;
  Index table; // 0: none yet
  List *filters;
};

TableKeys *room_for_keys(const PlannerInfo *root) {
  return static_cast<TableKeys *>(
      MemoryContextAllocZero(root->planner_cxt, root->simple_rel_array_size * sizeof(TableKeys)));
}

} // namespace

List *filters_for(PlannerInfo *root, RelOptInfo *table) {
  auto *placed = Run<Placed>::notes_of(root, root->planner_cxt);
  if (placed->table == table->relid)
    return placed->filters;
  if (!placed->search.keys)
    placed->search.keys = room_for_keys(root);
  placed->search.looks = kMostLooks;
  const double tuples = Max(tuples_of(root, table), 1.0);
  const Scanned scanned = {root,
                           table,
                           tuples,
                           table->baserestrictcost.per_tuple,
                           Min(table->rows / tuples, 1.0),
                           find_asked(root, table)};
  placed->table = table->relid;
  // Volatile conditions are to be computed for the rows for which they would be without filters.
  const bool may_be_filtered =
      may_pay(scanned) &&
      !contain_volatile_functions(reinterpret_cast<Node *>(table->baserestrictinfo));
  placed->filters =
      may_be_filtered ? choose(scanned, find_candidates(scanned, &placed->search), &placed->planned)
                      : NIL;
  return placed->filters;
}

void attach_initplan(PlannerInfo *root, const JoinFilter *filter) {
  if (initplan_of_level(root, filter->result->paramid))
    return;
  SS_make_initplan_from_plan(root, filter->subroot, create_plan(filter->subroot, filter->path),
                             filter->result);
}

} // namespace bloomfilter
