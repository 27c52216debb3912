// See filters.hpp.
//
// The choice has three steps. Equalities of the table become candidates if a filter of the keys may
// pay. The candidates are sorted by gain, and the best of each source is kept. The cost of the
// InitPlan of each decides whether the filter is taken. The time for planning is bounded by
// the constants below.

#include "pg/join/filters.hpp"

#include "core/sizing.hpp"
#include "pg/compat.hpp"
#include "pg/join/initplan.hpp"
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
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"
}

namespace bloomfilter {
namespace {

// A dropped row does not go through the joins above until one of them would drop it. Nobody knows
// yet which join does, so each join of the query counts, up to a limit. A join costs more if its
// hash table is larger than the processor's cache: by this amount each time the table's size
// doubles. (The server's own cost ignores this.) The first four are in cpu_tuple_cost.
constexpr double kSavingPerJoin = 9.0, kMostSavingOfJoins = 26.0;
constexpr double kSavingPerDoubling = 0.5, kMostSavingOfDoublings = 6.0;
constexpr double kBytesPerHashedRow = 48.0;

// Estimates of joins are often wrong. So a filter of a restricted source is tried although the
// estimate says that it drops few rows, if trying it costs little: it is built, and probed for
// kTriedRows rows. This may cost at most the share kRisk of what it costs to scan the table and to
// join all of its rows. If the estimate is right, that much is lost.
constexpr double kRisk = 0.02;
constexpr double kTriedRows = 8192.0;
// The server does not see what a dropped row saves in the joins, so it cannot weigh the cost of
// building against it. Therefore building may cost at most this much, in cpu_tuple_cost for each
// row of the table. Reading the table costs about two.
constexpr double kDearestBuild = 7.0;
// What building costs is nearly certain, and what it saves is an estimate. So an estimated saving
// has to be larger than the cost of building by this factor.
constexpr double kMargin = 1.25;
// A table of fewer rows gets no filter, whatever its rows cost: to plan and to start an InitPlan
// takes as long as to join some hundred rows.
constexpr double kFewestRows = 100.0;

// These bound the time for planning.
constexpr int kMostFilters = 8;       // on one scan
constexpr int kMostPlanned = 16;      // for all scans of a query
constexpr int kMostLooks = 64;        // equalities that are looked at for one scan
constexpr int kMostUnitedLooks = 512; // for all branches of a UNION ALL

// --- candidates ----------------------------------------------------------------------------------

// The facts about a table that decide whether filters pay.
struct TableFacts {
  PlannerInfo *root;
  RelOptInfo *table;
  double tuples;         // JoinFilter::tuples
  double condition_cost; // of the table's own conditions for a row
  double selected;       // the share of rows that fulfil these conditions
  List *subquery_probes; // what find_subquery_probes() found
};

struct Candidate {
  JoinFilter filter;
  double gain; // what the filter would save if it were the only one
};

// The tables of the joins that a row of the table may go through until it is joined with the
// source. If an outer join or a semijoin has both on its inner side, only the joins of that side
// come first. If all joins of the query counted, TPC-DS 83 with indexes would take 1.11 of the time
// without filters.
Relids joined_before(const PlannerInfo *root, const RelOptInfo *table, const KeySource *source) {
  const Relids both = bms_union(table->relids, source->table->relids);
  Relids joined = root->all_baserels;
  for (const SpecialJoinInfo *join : each<SpecialJoinInfo>(root->join_info_list)) {
    const Relids inner = bms_intersect(join->syn_righthand, root->all_baserels);
    if (bms_is_subset(both, inner) && bms_num_members(inner) < bms_num_members(joined))
      joined = inner;
  }
  return joined;
}

// What a filter saves if it is probed for `rows` rows. The cost of building the filter is not
// subtracted.
double saved_by(const TableFacts &facts, const JoinFilter &filter, double rows) {
  const double dropped =
      cost_of_row_left() + facts.condition_cost + facts.selected * filter.join_saving;
  return rows * ((1.0 - filter.share) * dropped - filter.probe_cost);
}

// What the first filter of a table saves in addition: the table is then read a page at a time.
double saved_by_batches(const TableFacts &facts) {
  return facts.tuples * (cpu_tuple_cost - cost_of_row_left());
}

// True if a filter may be tried, whatever the estimate says.
bool is_cheap(const TableFacts &facts, const Candidate &candidate) {
  const JoinFilter &filter = candidate.filter;
  const double scan = facts.tuples * (cpu_tuple_cost + facts.selected * filter.join_saving);
  return filter.source->rows < filter.source->tuples &&
         filter.build_cost + kTriedRows * filter.probe_cost <= kRisk * scan;
}

// True if a filter is placed that saves this much when it is probed.
bool is_placed(const TableFacts &facts, const Candidate &candidate, double saved) {
  const Cost build = candidate.filter.build_cost;
  return (saved >= kMargin * build + kWorthwhile &&
          build <= kDearestBuild * cpu_tuple_cost * facts.tuples) ||
         is_cheap(facts, candidate);
}

// The rows that must reach a filter so that building it pays. A filter that costs little is built
// at once. A filter is assumed to drop half of the rows at least, even if the estimate says less.
double rows_needed(const TableFacts &facts, const Candidate &candidate) {
  if (is_cheap(facts, candidate))
    return 0.0;
  JoinFilter filter = candidate.filter;
  filter.share = Min(filter.share, 0.5);
  return filter.build_cost / Max(saved_by(facts, filter, 1.0), 0.1 * cpu_tuple_cost);
}

// True if a table has enough rows for a filter to pay at all.
bool may_pay(const TableFacts &facts) {
  if (facts.tuples < kFewestRows)
    return false;
  JoinFilter best = {};
  best.join_saving = cpu_tuple_cost * (kMostSavingOfJoins + kMostSavingOfDoublings);
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

// The share of rows that a filter lets through, if this share of rows has a partner.
double passed_share(double partners) {
  return partners + (1.0 - partners) * kDefaultRate;
}

// Makes the candidate of an equality. NULL if the source allows no filter, if the query probes such
// a filter itself, or if the filter is not expected to pay.
Candidate *judge_pair(const TableFacts &facts, const KeyPair &pair, KeySearch *search) {
  const KeySource *source =
      find_source(facts.root, pair, joined_relation(facts.root, facts.table)->relids, search);
  if (!source || !has_allowed_size(source) ||
      find_same_probe(facts.root, facts.subquery_probes, pair))
    return nullptr;
  const double bytes = kBytesPerValue * source->rows;
  auto *candidate = make_zeroed<Candidate>();
  JoinFilter *filter = &candidate->filter;
  filter->pair = pair;
  filter->source = source;
  filter->tuples = facts.tuples;
  filter->joined_tables =
      joined_before(facts.root, joined_relation(facts.root, facts.table), source);
  filter->join_saving = saving_of_joins(source, bms_num_members(filter->joined_tables) - 1);
  filter->probe_cost =
      cost_of_batched_probe(bytes) + cost_of_value(facts.root, facts.table, pair.probed);
  filter->build_cost = least_build_cost(facts.root, source);
  filter->share = 0.0; // the least possible
  const auto gain = [&] {
    return saved_by(facts, *filter, facts.tuples) + saved_by_batches(facts) - filter->build_cost;
  };
  if (gain() < kWorthwhile)
    return nullptr;
  const PartnerShare partners = share_with_partner(facts.root, facts.table, pair, source->rows);
  filter->share = passed_share(likely_share(partners));
  filter->most = passed_share(partners.most);
  candidate->gain = gain();
  return candidate->gain >= kWorthwhile || is_cheap(facts, *candidate) ? candidate : nullptr;
}

int by_gain(const ListCell *a, const ListCell *b) {
  const double one = static_cast<Candidate *>(lfirst(a))->gain,
               other = static_cast<Candidate *>(lfirst(b))->gain;
  return one > other ? -1 : one < other ? 1 : 0;
}

// Returns the best candidate of each source, sorted by gain, largest first.
List *find_candidates(const TableFacts &facts, KeySearch *search) {
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
    const int source = static_cast<int>(candidate->filter.source->table->relid);
    if (!bms_is_member(source, sources))
      best = lappend(best, candidate);
    sources = bms_add_member(sources, source);
  }
  return best;
}

// --- the choice ----------------------------------------------------------------------------------

int by_need(const ListCell *a, const ListCell *b) {
  const double one = static_cast<JoinFilter *>(lfirst(a))->needed,
               other = static_cast<JoinFilter *>(lfirst(b))->needed;
  return one < other ? -1 : one > other ? 1 : 0;
}

// Plans the InitPlan of a candidate that would save `saved`. False if the candidate is not placed,
// because building it costs too much or because too many InitPlans were planned before.
bool plan_candidate(const TableFacts &facts, Candidate *candidate, double saved, List **planned) {
  if (list_length(*planned) == kMostPlanned)
    return false;
  *planned = lcons(&candidate->filter, *planned);
  const PlannedSubqueries before = planned_subqueries(facts.root->glob);
  plan_initplan(facts.root, &candidate->filter);
  if (is_placed(facts, *candidate, saved))
    return true;
  candidate->filter.result = nullptr;
  // This forgets the subqueries that the source's neighbours have added, too.
  forget_subqueries_after(facts.root->glob, before);
  return false;
}

// Takes the candidates that pay. Each is judged for the rows that the filters before it let
// through. `planned` are the filters of this and other tables whose InitPlans were planned.
// Multiplies `correction` by each factor by which it changes the estimate of a join.
List *choose(const TableFacts &facts, List *candidates, List **planned, double *correction) {
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
    filter->oids = oids;
    const JoinFilter *same = find_same_keys(facts.root, *planned, *filter);
    if (same)
      filter->build_cost = same->build_cost;
    if (!is_placed(facts, *candidate, saved))
      continue;
    if (list_length(filters) == kMostFilters)
      break;
    if (same && same->result)
      share_initplan(*same, filter);
    else if (!plan_candidate(facts, candidate, saved, planned))
      continue;
    filter->needed = rows_needed(facts, *candidate);
    *correction *= correct_join_estimate(facts.root, facts.table, filter->pair);
    filters = lappend(filters, filter);
    rows *= filter->most;
  }
  list_sort(filters, by_need);
  return filters;
}

// --- one run of the planner ----------------------------------------------------------------------

// What is remembered while a query is planned. The filters of the table that was planned last are
// kept, because each of its partitions needs them. The filters whose InitPlans were planned
// are kept because other tables may share an InitPlan, and because their number is limited.
struct PlannedFilters {
  List *planned; // newest first
  KeySearch search;
  Index table; // 0 if no table was planned yet
  List *filters;
  Index joined; // the relation that has the table; 0 if no table was planned yet
  double tuples;
  double correction; // the product of all corrections of estimates
  bool has_volatile_join;
};

bool has_volatile_join(const PlannerInfo *root) {
  for (int i = 1; i < root->simple_rel_array_size; i++) {
    const RelOptInfo *table = root->simple_rel_array[i];
    if (table && contain_volatile_functions(reinterpret_cast<Node *>(table->joininfo)))
      return true;
  }
  return false;
}

PlannedFilters *notes_of(const PlannerInfo *root) {
  auto *notes = PerPlanning<PlannedFilters>::notes_of(root, root->planner_cxt);
  if (!notes->search.tables) {
    notes->search.tables =
        make_zeroed_array<TableNotes>(root->simple_rel_array_size, root->planner_cxt);
    notes->correction = 1.0;
    notes->has_volatile_join = has_volatile_join(root);
  }
  return notes;
}

// The only subquery in FROM, if it returns the rows of its joins as they are: without grouping,
// DISTINCT, set operations or LIMIT. NULL if there is none.
const PlannerInfo *only_subquery(const PlannerInfo *root) {
  int number;
  if (!bms_get_singleton_member(root->all_baserels, &number))
    return nullptr;
  const PlannerInfo *subroot = root->simple_rel_array[number]->subroot;
  if (!subroot)
    return nullptr;
  const Query *query = subroot->parse;
  return query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
                 query->distinctClause != NIL || query->setOperations || query->limitCount ||
                 query->limitOffset
             ? nullptr
             : subroot;
}

} // namespace

List *filters_for(PlannerInfo *root, RelOptInfo *table) {
  PlannedFilters *notes = notes_of(root);
  if (notes->table == table->relid)
    return notes->filters;
  const RelOptInfo *joined = joined_relation(root, table);
  const double tuples = Max(tuples_of(root, table), 1.0);
  if (notes->joined != joined->relid) {
    notes->joined = joined->relid;
    notes->tuples = joined == table ? tuples : Max(tuples_of(root, joined), 1.0);
    notes->search.looks = joined == table ? kMostLooks : kMostUnitedLooks;
  }
  notes->table = table->relid;
  notes->filters = NIL;
  TableFacts facts = {
      root, table, notes->tuples, table->baserestrictcost.per_tuple, Min(table->rows / tuples, 1.0),
      NIL};
  // A volatile condition must be evaluated for the same rows as without filters. So a table with
  // one gets no filters, and no table gets any if a join has one.
  if (!may_pay(facts) || notes->has_volatile_join ||
      contain_volatile_functions(reinterpret_cast<Node *>(table->baserestrictinfo)))
    return NIL;
  if (keys_of(root, table, &notes->search) == NIL)
    return NIL;
  facts.subquery_probes = find_subquery_probes(root, table);
  List *candidates = find_candidates(facts, &notes->search);
  notes->filters = choose(facts, candidates, &notes->planned, &notes->correction);
  return notes->filters;
}

Cost saving_of_joins(const KeySource *source, double joins) {
  const double bytes = source->rows * (kBytesPerHashedRow + source->table->reltarget->width);
  return cpu_tuple_cost *
         (Min(kSavingPerJoin * joins, kMostSavingOfJoins) +
          Min(kSavingPerDoubling * doublings_beyond_cache(bytes), kMostSavingOfDoublings));
}

double correction_of_estimates(const PlannerInfo *root) {
  while (const PlannerInfo *subquery = only_subquery(root))
    root = subquery;
  return notes_of(root)->correction;
}

Driven driven_by(PlannerInfo *root, RelOptInfo *table, const RelOptInfo *driver) {
  Driven driven = {driver->rows, 1.0};
  const List *pairs = keys_of(root, table, &notes_of(root)->search);
  for (const KeyPair *pair : each<KeyPair>(pairs)) {
    if (pair->source != driver || pair->fields != NIL)
      continue;
    // The driving table may be joined first with other tables that have the same keys.
    double keys = statistics_of(root, pair->key).distinct, left = keys;
    for (const KeyPair *other : each<KeyPair>(pairs))
      if (other->source != driver && equal(other->probed, pair->probed))
        left = Min(left, other->source->rows);
    driven.executions = Min(driven.executions, driver->rows * left / Max(keys, 1.0));
    const PartnerShare share = share_with_partner(root, table, *pair, driven.executions);
    driven.share = Min(driven.share, likely_share(share));
  }
  return driven;
}

} // namespace bloomfilter
