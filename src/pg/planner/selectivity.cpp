// The selectivity of a condition that probes a filter. This runs in our RESTRICT and JOIN
// estimators and in our support functions.
//
// If the filter's bytes are available, it is probed for the most common values of the column. The
// other values that are not NULL are estimated. The share of members among them is the filter's
// count divided by the number of distinct values. This assumes that the smaller of the two sets is
// part of the larger one, as the server does for joins. The false positive rate applies to the
// values that are not members.
//
// The filter is also probed for the values in the column's histogram. This sample of some 100
// values says little by itself. But the estimate must lie within two standard deviations of the
// sample's result.
//
// The elements of arrays are estimated in the same way. The lengths of the arrays then tell how
// often any element passes, or all elements pass.
//
// If nothing is known, the selectivity is a tenth: kUnknown.

#include "pg/planner/support.hpp"

#include <cmath>

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/planner/filter_estimate.hpp"
#include "pg/planner/population.hpp"

extern "C" {
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
}

namespace bloomfilter {
namespace {

constexpr int kLengths = 100; // of arrays; the default statistics have this number
constexpr int kListed = 100;  // the elements of an array that are looked at

double clamped(double share) {
  CLAMP_PROBABILITY(share);
  return share;
}

// Moves an estimated share into the range that a sample allows.
double bounded(double share, double probed, double passed) {
  if (probed == 0)
    return share;
  const double deviation = 2 * std::sqrt(passed);
  return Min(Max(share, (passed - deviation) / probed), (passed + Max(deviation, 3)) / probed);
}

// The share that passes among the values that are not NULL and were not probed.
double passing_others(const FilterEstimate &estimate, const Population &population) {
  if (!estimate.is_known())
    return kUnknown;
  const ProbeResult &probed = population.probed;
  const double distinct = population.distinct - probed.values;
  const double values = Max(estimate.values - probed.values_passed, 0.0);
  const double members = distinct >= 1 ? Min(values / distinct, 1.0) : values > 0 ? kUnknown : 0.0;
  return bounded(members + (1.0 - members) * estimate.rate, probed.histogram,
                 probed.histogram_passed);
}

// The share of all values that pass. (The server rounds the shares of common values, and their sum
// may exceed 1.)
double passing(const FilterEstimate &estimate, const Population &population) {
  const ProbeResult &probed = population.probed;
  const double others = Max(1.0 - population.nulls - probed.common, 0.0);
  return clamped(probed.common_passed + others * passing_others(estimate, population));
}

double value_share(PlannerInfo *root, const ProbeExpr &probe, const FilterEstimate &estimate,
                   Node *value, int relation) {
  VariableStatData variable;
  examine_variable(root, value, relation, &variable);
  const Population population = values_of(root, probe, estimate, value, &variable);
  ReleaseVariableStats(variable);
  return passing(estimate, population);
}

// The probability that any or all of `length` elements pass, if each one passes with probability
// `share`.
double array_passes(ProbeTarget target, double share, double length) {
  return target == ProbeTarget::all ? std::pow(share, length) : 1.0 - std::pow(1.0 - share, length);
}

// The probability that an array passes whose elements are written in the query. Each element has
// its own probability. In a long array, the later elements are assumed to be like the first ones.
double listed_share(PlannerInfo *root, const ProbeExpr &probe, const FilterEstimate &estimate,
                    const List *elements, int relation) {
  double none = 1.0, every = 1.0;
  int looked_at = 0;
  for (Node *element : each<Node>(elements)) {
    if (looked_at++ == kListed)
      break;
    const double share = value_share(root, probe, estimate, element, relation);
    none *= 1.0 - share;
    every *= share;
  }
  const double times = Max(list_length(elements) / static_cast<double>(kListed), 1.0);
  return probe.target == ProbeTarget::all ? std::pow(every, times) : 1.0 - std::pow(none, times);
}

// The share of a column's arrays that pass. This is the mean over the histogram of the arrays'
// lengths. Each entry of the histogram stands for the same number of arrays. The last number after
// the entries is the mean length.
double array_share(PlannerInfo *root, const ProbeExpr &probe, const FilterEstimate &estimate,
                   int relation) {
  VariableStatData variable;
  examine_variable(root, probe.value, relation, &variable);
  const double share = passing(estimate, elements_of(probe, estimate, &variable));
  StatisticsSlot lengths(variable, STATISTIC_KIND_DECHIST, ATTSTATSSLOT_NUMBERS);
  const int count = lengths.numbers() - 1, stride = Max(count / kLengths, 1);
  double sum = 0.0, arrays = 0.0;
  for (int i = 0; i < count; i += stride, arrays++)
    sum += array_passes(probe.target, share, lengths.number(i));
  if (arrays == 0) {
    sum = array_passes(probe.target, share, estimate_array_length(root, probe.value));
    arrays = 1.0;
  }
  const double nulls = null_share(variable);
  lengths.release();
  ReleaseVariableStats(variable);
  return (1.0 - nulls) * sum / arrays;
}

double share_that_passes(PlannerInfo *root, const ProbeExpr &probe, const FilterEstimate &estimate,
                         int relation) {
  if (!is_of_array(probe.target))
    return value_share(root, probe, estimate, probe.value, relation);
  return IsA(probe.value, ArrayExpr)
             ? listed_share(root, probe, estimate, castNode(ArrayExpr, probe.value)->elements,
                            relation)
             : array_share(root, probe, estimate, relation);
}

// The share of rows whose filter is NULL.
double filter_nulls(PlannerInfo *root, Node *filter, int relation) {
  if (IsA(filter, Const))
    return castNode(Const, filter)->constisnull ? 1.0 : 0.0;
  VariableStatData variable;
  examine_variable(root, filter, relation, &variable);
  const double nulls = null_share(variable);
  ReleaseVariableStats(variable);
  return nulls;
}

// The equalities between the two sides of a semijoin or antijoin. They come from equivalence
// classes and from conditions that are evaluated at an antijoin at the earliest.
List *equalities(PlannerInfo *root, const SpecialJoinInfo *join, RelOptInfo *inner) {
  Relids both = bms_union(join->min_lefthand, join->min_righthand);
  List *found = generate_join_implied_equalities(root, both, join->min_lefthand, inner, nullptr);
  for (RestrictInfo *condition : each<RestrictInfo>(inner->joininfo)) {
    if (condition->mergeopfamilies != NIL && bms_is_subset(condition->required_relids, both))
      found = lappend(found, condition);
  }
  return found;
}

// The number of inner rows that the equalities of a semijoin leave for one outer row. The filter is
// probed for each of these rows. 1 if the number is not known.
double partners(PlannerInfo *root, SpecialJoinInfo *join) {
  RelOptInfo *inner = relation_with(root, join->min_righthand);
  if (!inner)
    return 1.0;
  SpecialJoinInfo pairs = *join; // the rows of this join are pairs
  pairs.jointype = JOIN_INNER;
  double rows = inner->rows;
  for (Node *equality : each<Node>(equalities(root, join, inner)))
    rows *= clause_selectivity(root, equality, 0, JOIN_INNER, &pairs);
  return Max(rows, 1.0);
}

} // namespace

double restriction_selectivity(PlannerInfo *root, const ProbeExpr &probe, int relation) {
  const double nulls = filter_nulls(root, probe.filter, relation);
  const FilterEstimate estimate = estimate_of(root, probe.filter);
  return clamped((1.0 - nulls) * share_that_passes(root, probe, estimate, relation));
}

double join_selectivity(PlannerInfo *root, const ProbeExpr &probe, JoinType type,
                        SpecialJoinInfo *join) {
  const double share = restriction_selectivity(root, probe, 0);
  if ((type != JOIN_SEMI && type != JOIN_ANTI) || !join)
    return share;
  return clamped(1.0 - std::pow(1.0 - share, partners(root, join)));
}

} // namespace bloomfilter
