// What a scan of a bloompages index costs.
//
// A scan reads the directory, and one or more pages of each group. The executor then reads all
// pages of the ranges that were found, and the pages that have no filter.
//
// The server's estimates of rows say little about keys inside values: for an absent needle of a
// LIKE they say one row in ten thousand, which in a large table is a row in every range. So if what
// a condition looks for is a constant, the planner looks for it: in up to 16 groups, or in fewer if
// it has many keys. That takes about 50 µs for a needle. The share of ranges that it finds includes
// the false positives, and holds for the rare needle and for the frequent word alike.
//
// The server derives the number of heap pages from the selectivity that this function returns. It
// assumes that the rows lie anywhere in the table; but a range is a few pages together. So the
// function returns the selectivity for which the server arrives at the right number of pages.

#include <cmath>

#include "pg/bloompages/access_method.hpp"
#include "pg/bloompages/search.hpp"
#include "pg/bloompages/summarize.hpp"
#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/planner/per_planning.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_statistic.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
#include "utils/syscache.h"
}

namespace bloomfilter {
namespace {

// The cost of looking at one column of a group, in calls of an operator.
constexpr double kOperatorsPerColumn = 0.05;
constexpr uint32 kMostSampledGroups = 16;
constexpr int kMostSampledElements = 16; // of an array of constants
constexpr int64 kMostSampledLines = 512; // after these, no other group is looked at

// What is not known, as in a join, is assumed to be in at most this share of the ranges. The server
// assumes a fixed share of the rows, 0.005 for arrays, which is all ranges of nearly every table.
// If it is right, an index scan takes a little longer than reading the table; if the key is rare, a
// small part of the time.
constexpr double kMostOfUnknown = 0.5;

// What the cost of a scan depends on, whatever the scan looks for.
struct IndexState {
  double range_pages; // in the ranges of the last group
  double ranges;      // with a filter
  double groups;
  double unfiltered; // heap pages that have no filter
  double lines;      // that are read for one value in a group
  double rate;       // false positive rate of a filter for a whole value
  double key_rate;   // and for a key
};

IndexState index_state_of(const IndexOptInfo *info) {
  const auto blocks = static_cast<BlockNumber>(info->rel->pages);
  RangeMeta meta = {};
  RangeSlot slot = {};
  if (!info->hypothetical) {
    Relation index = relation_open(info->indexoid, NoLock);
    meta = read_range_meta(index);
    if (meta.groups > 0)
      slot = read_range_slot(index, slot_place(meta.directory, meta.groups - 1));
    relation_close(index, NoLock);
  }
  const RangePlace end = range_place(meta.range_pages, blocks);
  const uint32 last = info->hypothetical ? end.group : Max(meta.groups, 1U) - 1;
  const int ready = info->hypothetical ? end.range : slot.ready;
  const GroupBlocks last_blocks = group_blocks(meta.range_pages, last);
  const double filtered = static_cast<double>(last_blocks.begin(ready));
  const double rate = range_rate(meta, last, blocks);
  return {static_cast<double>(last_blocks.range_pages),
          static_cast<double>(last) * kGroupRanges + ready,
          static_cast<double>(last) + 1,
          Max(blocks - filtered, 0.0),
          slot.layout == Layout::lines && slot.copies.value <= 1 ? 1.0 : 2.0,
          std::pow(rate, Max(slot.copies.value, uint8{1})),
          std::pow(rate, Max(slot.copies.key, uint8{1}))};
}

// --- conditions with constants -------------------------------------------------------------------

// What looking for constants in some groups found.
struct Sample {
  double share; // of the ranges
  double lines; // that were read in a group
};

// The operator and the other side of an index condition.
struct Comparison {
  Oid op;
  Node *other;
  bool is_array; // `column op ANY (array)`
};

// The condition as the index has it, with the column on the left.
Comparison comparison_of(const IndexClause *clause) {
  const auto *condition = linitial_node(RestrictInfo, clause->indexquals);
  if (IsA(condition->clause, OpExpr)) {
    const auto *call = reinterpret_cast<const OpExpr *>(condition->clause);
    return {call->opno, static_cast<Node *>(lsecond(call->args)), false};
  }
  if (IsA(condition->clause, ScalarArrayOpExpr)) {
    const auto *call = reinterpret_cast<const ScalarArrayOpExpr *>(condition->clause);
    return {call->opno, static_cast<Node *>(lsecond(call->args)), true};
  }
  return {InvalidOid, nullptr, false};
}

// The constant that a condition looks for, or NULL.
const Const *constant_of(PlannerInfo *root, const Comparison &comparison) {
  if (!OidIsValid(comparison.op))
    return nullptr;
  Node *value = estimate_expression_value(root, comparison.other);
  if (!IsA(value, Const) || reinterpret_cast<Const *>(value)->constisnull)
    return nullptr;
  return reinterpret_cast<Const *>(value);
}

// Looks for what the search has in some groups, spread over the index, or in the first of these if
// there are many keys.
Sample look_in_groups(Search *search, const RangeMeta &meta) {
  const uint32 most = Min(meta.groups, kMostSampledGroups);
  uint32 looks = 0;
  double ranges = 0, found = 0, first = 0;
  search->lines = 0;
  for (; looks < most && search->lines <= kMostSampledLines; looks++) {
    const auto group = static_cast<uint32>(uint64{looks} * meta.groups / most);
    const RangeSlot slot = read_range_slot(search->index, slot_place(meta.directory, group));
    found += search_group(search, slot, group, first_filters(slot.ready)).count();
    ranges += slot.ready;
    first = looks == 0 ? static_cast<double>(search->lines) : first;
  }
  const double later = static_cast<double>(search->lines) - first;
  return {ranges > 0 ? found / ranges : 1.0, looks > 1 ? later / (looks - 1) : first};
}

// The elements of an array are looked for one after the other, by one scan each. Looks for some of
// them.
Sample look_for_elements(Search *search, const RangeMeta &meta, int column, StrategyNumber strategy,
                         Oid type, const Const *array) {
  Datum *elements;
  bool *nulls;
  int count;
  int16 length;
  bool by_value;
  char alignment;
  ArrayType *values = DatumGetArrayTypeP(array->constvalue);
  get_typlenbyvalalign(ARR_ELEMTYPE(values), &length, &by_value, &alignment);
  deconstruct_array(values, ARR_ELEMTYPE(values), length, by_value, alignment, &elements, &nulls,
                    &count);
  Sample sum = {0, 0};
  const int looks = Min(count, kMostSampledElements);
  for (int i = 0; i < looks; i++) {
    const auto at = static_cast<int>(int64{i} * count / looks);
    if (nulls[at])
      continue;
    clear_conditions(search);
    add_condition(search, column, strategy, type, elements[at]);
    const Sample one = look_in_groups(search, meta);
    sum.share += one.share * count / looks;
    sum.lines += one.lines * count / looks;
  }
  return {Min(sum.share, 1.0), sum.lines};
}

// Looks for the constant of a condition.
Sample look_for(Relation relation, const IndexClause *clause, const Comparison &comparison,
                const Const *constant) {
  const MemoryContext memory =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter sample", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext before = MemoryContextSwitchTo(memory);
  int strategy;
  Oid left, right;
  get_op_opfamily_properties(comparison.op, relation->rd_opfamily[clause->indexcol], false,
                             &strategy, &left, &right);
  const RangeMeta meta = read_range_meta(relation);
  Search *search = begin_search(relation);
  Sample sample;
  if (comparison.is_array) {
    sample = look_for_elements(search, meta, clause->indexcol,
                               static_cast<StrategyNumber>(strategy), right, constant);
  } else {
    add_condition(search, clause->indexcol, static_cast<StrategyNumber>(strategy), right,
                  constant->constvalue);
    sample = search->finds_all() ? Sample{1, 0} : look_in_groups(search, meta);
  }
  MemoryContextSwitchTo(before);
  MemoryContextDelete(memory);
  return sample;
}

// What was found for the conditions of a query.
struct Note {
  const RestrictInfo *condition;
  Oid index;
  bool is_sampled;
  Sample sample;
};
struct Notes {
  GrowingArray<Note> found;
};

// Looks for the constant of a condition on keys or on an expression, of which the server often has
// no statistics. Does it once while a query is planned. Returns NULL if the condition has no
// constant or is on the whole values of a column.
const Sample *sample_of(PlannerInfo *root, const IndexOptInfo *index, const IndexClause *clause) {
  if (index->hypothetical)
    return nullptr;
  Notes *notes = PerPlanning<Notes>::notes_of(root, root->planner_cxt);
  for (const Note &note : notes->found)
    if (note.condition == clause->rinfo && note.index == index->indexoid)
      return note.is_sampled ? &note.sample : nullptr;
  Note note = {clause->rinfo, index->indexoid, false, {1, 1}};
  Relation relation = relation_open(index->indexoid, NoLock);
  const Comparison comparison = comparison_of(clause);
  const Const *constant = constant_of(root, comparison);
  const auto column = static_cast<AttrNumber>(clause->indexcol + 1);
  if (constant && (index->indexkeys[clause->indexcol] == 0 ||
                   OidIsValid(index_getprocid(relation, column, kExtractValue)))) {
    note.is_sampled = true;
    note.sample = look_for(relation, clause, comparison, constant);
  }
  relation_close(relation, NoLock);
  notes->found.add(note, root->planner_cxt);
  return note.is_sampled ? &notes->found.items[notes->found.count - 1].sample : nullptr;
}

// --- other conditions ----------------------------------------------------------------------------

// The correlation between the order of a column's values and the order of the heap. That of values
// with keys says nothing of the keys. An expression has none.
double correlation_of(PlannerInfo *root, const IndexOptInfo *index, int column) {
  const RangeTblEntry *table = planner_rt_fetch(index->rel->relid, root);
  HeapTuple tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(table->relid),
                                    Int16GetDatum(static_cast<int16>(index->indexkeys[column])),
                                    BoolGetDatum(false));
  if (!HeapTupleIsValid(tuple))
    return 0;
  double correlation = 0;
  AttStatsSlot slot;
  if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, InvalidOid,
                       ATTSTATSSLOT_NUMBERS)) {
    correlation = slot.nnumbers > 0 ? slot.numbers[0] : 0;
    free_attstatsslot(&slot);
  }
  ReleaseSysCache(tuple);
  return std::fabs(correlation);
}

// The share of ranges that have a row for which a condition is true. It lies between two extremes:
// the rows are together, or they are scattered. The nearer the correlation is to 1, the nearer they
// are to being together. But rows of equal values count as ordered. So if each value has a share of
// the rows, and they are scattered, the correlation is this share.
double share_of_ranges(PlannerInfo *root, const IndexOptInfo *index, const IndexState &state,
                       const IndexClause *clause, bool is_whole) {
  const double ranges = Max(state.ranges, 1.0);
  const double rows = index->rel->tuples *
                      clause_selectivity(root, reinterpret_cast<Node *>(clause->rinfo),
                                         static_cast<int>(index->rel->relid), JOIN_INNER, nullptr);
  const double frequency = rows / Max(index->rel->tuples, 1.0);
  const double excess = is_whole ? correlation_of(root, index, clause->indexcol) - frequency : 0.0;
  const double ordered = std::pow(Max(excess, 0.0) / Max(1 - frequency, 0.001), 2);
  const double together = 1 + rows / Max(index->rel->tuples / ranges, 1.0);
  const double scattered = ranges * (1 - std::exp(-rows / ranges));
  return Min((ordered * together + (1 - ordered) * scattered) / ranges, 1.0);
}

// The number of values that a condition looks for.
double value_count_of(PlannerInfo *root, const IndexClause *clause) {
  const auto *condition = reinterpret_cast<Node *>(clause->rinfo->clause);
  return IsA(condition, ScalarArrayOpExpr)
             ? Max(estimate_array_length(
                       root, static_cast<Node *>(lsecond(
                                 reinterpret_cast<const ScalarArrayOpExpr *>(condition)->args))),
                   1.0)
             : 1.0;
}

// True if a condition on a column is one on whole values.
bool is_whole_value(const IndexOptInfo *index, const IndexClause *clause) {
  const Oid op = comparison_of(clause).op;
  const int strategy =
      OidIsValid(op) ? get_op_opfamily_strategy(op, index->opfamily[clause->indexcol]) : 0;
  return strategy == HTEqualStrategyNumber || strategy == kWholeValueStrategy;
}

} // namespace

void estimate_range_cost(PlannerInfo *root, IndexPath *path, double loops, Cost *startup,
                         Cost *total, Selectivity *selectivity, double *correlation,
                         double *index_pages) {
  const IndexOptInfo *index = path->indexinfo;
  const IndexState state = index_state_of(index);
  const double table_pages = Max(index->rel->pages, 1.0), rows = Max(index->rel->tuples, 1.0);

  double share = 1, values = 1, false_share = 1, sampled_lines = 0;
  bool all_sampled = true;
  for (const IndexClause *clause : each<IndexClause>(path->indexclauses)) {
    if (const Sample *sample = sample_of(root, index, clause)) {
      share *= sample->share;
      false_share *= sample->share;
      sampled_lines += sample->lines;
      continue;
    }
    all_sampled = false;
    const bool is_whole = is_whole_value(index, clause);
    const double number = value_count_of(root, clause);
    const bool is_unknown = !is_whole && !constant_of(root, comparison_of(clause));
    share *= Min(share_of_ranges(root, index, state, clause, is_whole),
                 is_unknown ? kMostOfUnknown : 1.0);
    false_share *= Min((is_whole ? state.rate : state.key_rate) * number, 1.0);
    values *= number;
  }
  const double hits = Max(share * state.ranges, 1.0);
  const double false_hits = all_sampled ? 0.0 : false_share * state.ranges;
  const double pages = Min(state.range_pages * (hits + false_hits) + state.unfiltered, table_pages);
  // The inverse of the server's formula (Mackert and Lohman): the rows for which it reads `pages`.
  const double fetched =
      pages < table_pages ? 2 * table_pages * pages / (2 * table_pages - pages) : rows;
  *selectivity = Min(fetched / rows, 1.0);

  double random_page, sequential_page;
  get_tablespace_page_costs(index->reltablespace, &random_page, &sequential_page);
  const double lines = state.groups * (sampled_lines + (all_sampled ? 0.0 : state.lines * values));
  const double read =
      loops * values > 1
          ? index_pages_fetched(lines * loops, index->pages, index->pages, root) / loops
          : lines;
  QualCost quals;
  cost_qual_eval(&quals, index->rel->baserestrictinfo, root);
  const double others = Max(pages / table_pages * rows - *selectivity * rows, 0.0);
  *total = read * random_page + (1 + state.groups / kRangeSlots) * sequential_page +
           state.groups * kGroupRanges * kOperatorsPerColumn * cpu_operator_cost * values +
           others * (cpu_tuple_cost + quals.per_tuple);
  *startup = 0;
  *correlation = 0; // there are only bitmap scans
  *index_pages = index->pages;
}

} // namespace bloomfilter
