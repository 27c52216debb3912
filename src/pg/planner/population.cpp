// See population.hpp.

#include "pg/planner/population.hpp"

#include "pg/element/family.hpp"
#include "pg/list.hpp"
#include "pg/value/probed_filter.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
}

namespace bloomfilter {
namespace {

constexpr int kProbedValues = 1000; // of each kind of statistics; by default, each kind has 100

// A filter whose bytes are available, and the element type of the values that it is probed for.
struct Prober {
  ProbedFilter *filter;
  ValueType *value_type;

  bool passes(Datum value) const {
    return contains_any_digest(filter,
                               digests_of(value_type, value, filter->header, Purpose::probe));
  }
};

void probe_common(const StatisticsSlot &slot, const Prober &prober, ProbeResult *probed) {
  for (int i = 0; i < Min(Min(slot.values(), slot.numbers()), kProbedValues); i++) {
    CHECK_FOR_INTERRUPTS();
    const bool passes = prober.passes(slot.value(i));
    probed->common += slot.number(i);
    probed->common_passed += passes ? slot.number(i) : 0.0;
    probed->values++;
    probed->values_passed += passes ? 1 : 0;
  }
}

void probe_histogram(const StatisticsSlot &slot, const Prober &prober, ProbeResult *probed) {
  const int stride = Max(slot.values() / kProbedValues, 1);
  for (int i = 0; i < slot.values(); i += stride) {
    CHECK_FOR_INTERRUPTS();
    probed->histogram++;
    probed->histogram_passed += prober.passes(slot.value(i)) ? 1 : 0;
  }
}

// Calls use(prober) if the filter may be probed for statistics of this type. The filter is sound if
// its estimate is known.
template <typename Use>
void probe_if_allowed(const ProbeExpr &probe, const FilterEstimate &estimate, Oid type,
                      VariableStatData *variable, Use use) {
  if (!estimate.is_known() || !IsA(probe.filter, Const) || probe.target == ProbeTarget::hash ||
      !HeapTupleIsValid(variable->statsTuple) ||
      !statistic_proc_security_check(variable, probe.function))
    return;
  ValueType *value_type = scalar_value_type(type, probe.collation, CurrentMemoryContext);
  if (!value_type)
    return;
  LastFilter last = {};
  ProbedFilter *filter = find_filter(castNode(Const, probe.filter)->constvalue, &last);
  if (fits(filter->header, value_type) || holds(filter->header, value_type))
    use(Prober{filter, value_type});
}

// Estimates the number of distinct values of an expression without statistics. The estimate is the
// number of combinations of its columns' values, but at most the number of rows. 0 if nothing is
// known.
double combinations(PlannerInfo *root, Node *value, const RelOptInfo *relation) {
  List *columns = pull_var_clause(value, PVC_RECURSE_PLACEHOLDERS | PVC_RECURSE_AGGREGATES |
                                             PVC_RECURSE_WINDOWFUNCS);
  double result = columns == NIL ? 0.0 : 1.0;
  for (Node *variable : each<Node>(columns)) {
    VariableStatData column;
    bool guess;
    examine_variable(root, variable, 0, &column);
    const double distinct = get_variable_numdistinct(&column, &guess);
    ReleaseVariableStats(column);
    result *= guess ? 0.0 : distinct;
  }
  return relation && relation->tuples >= 1 ? Min(result, relation->tuples) : result;
}

double distinct_values(PlannerInfo *root, Node *value, VariableStatData *variable) {
  bool guess;
  const double distinct = get_variable_numdistinct(variable, &guess);
  return guess ? combinations(root, value, variable->rel) : distinct;
}

} // namespace

double null_share(const VariableStatData &variable) {
  return HeapTupleIsValid(variable.statsTuple)
             ? reinterpret_cast<Form_pg_statistic>(GETSTRUCT(variable.statsTuple))->stanullfrac
             : 0.0;
}

Population values_of(PlannerInfo *root, const ProbeExpr &probe, const FilterEstimate &estimate,
                     Node *value, VariableStatData *variable) {
  Population population = {null_share(*variable), distinct_values(root, value, variable), {}};
  probe_if_allowed(probe, estimate, variable->vartype, variable, [&](const Prober &prober) {
    StatisticsSlot common(*variable, STATISTIC_KIND_MCV,
                          ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS);
    StatisticsSlot histogram(*variable, STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES);
    probe_common(common, prober, &population.probed);
    probe_histogram(histogram, prober, &population.probed);
    common.release();
    histogram.release();
  });
  return population;
}

// ANALYZE keeps the elements that are in the most arrays, with the share of arrays that have each
// of them. All other elements are assumed to be as common as the least common element in that list.
// Their number follows from the mean number of distinct elements of an array.
Population elements_of(const ProbeExpr &probe, const FilterEstimate &estimate,
                       VariableStatData *variable) {
  Population population = {};
  StatisticsSlot common(*variable, STATISTIC_KIND_MCELEM,
                        ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS);
  StatisticsSlot lengths(*variable, STATISTIC_KIND_DECHIST, ATTSTATSSLOT_NUMBERS);
  const int count = common.values();
  const double length = lengths.numbers() > 0 ? lengths.number(lengths.numbers() - 1) : 0.0;
  if (count > 0 && common.numbers() > count && length > 0) {
    double listed = 0.0;
    for (int i = 0; i < count; i++)
      listed += common.number(i);
    const double least = common.number(count); // it follows the frequencies of the elements
    population.distinct = count + (least > 0 ? Max(length - listed, 0.0) / least : 0.0);
    probe_if_allowed(
        probe, estimate, get_base_element_type(variable->vartype), variable,
        [&](const Prober &prober) { probe_common(common, prober, &population.probed); });
    population.probed.common /= length;
    population.probed.common_passed /= length;
  }
  common.release();
  lengths.release();
  return population;
}

} // namespace bloomfilter
