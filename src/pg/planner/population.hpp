// What ANALYZE knows of the values that a filter is probed for. They are the values of a column or
// of an expression, or the elements of a column of arrays.
//
// If the filter's bytes are available, it is probed for the most common values and for the
// histogram. Two conditions must hold. The user may see these values, because estimates reveal
// them. And the probe cannot raise an error: the values are scalars of a type that the filter
// holds, and the filter is sound.
#pragma once

#include "pg/server.hpp"

#include "pg/query/probe_expr.hpp"
#include "pg/value/sample.hpp"

extern "C" {
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace bloomfilter {

// The result of probing the filter for the values in the statistics. All zero if it was not probed.
struct ProbeResult {
  double common, common_passed; // the most common values: shares of all rows or elements
  double values, values_passed; // the same, counted in distinct values
  double histogram, histogram_passed;
};

struct Population {
  double nulls;    // the share of rows that are NULL
  double distinct; // the number of distinct values; 0 if unknown
  ProbeResult probed;
};

Population values_of(PlannerInfo *root, const ProbeExpr &probe, const FilterEstimate &estimate,
                     Node *value, VariableStatData *variable);

// The elements of arrays that are not NULL. (A NULL element is neither found nor missed.)
Population elements_of(const ProbeExpr &probe, const FilterEstimate &estimate,
                       VariableStatData *variable);

double null_share(const VariableStatData &variable);

// Statistics of one kind in a pg_statistic row. The caller must call release(). A slot is empty if
// there are no such statistics. Reading parts that the kind does not have is an error.
class StatisticsSlot {
public:
  StatisticsSlot(const VariableStatData &variable, int kind, int parts)
      : found_(HeapTupleIsValid(variable.statsTuple) &&
               get_attstatsslot(&slot_, variable.statsTuple, kind, InvalidOid, parts)) {}
  void release() {
    if (found_)
      free_attstatsslot(&slot_);
  }
  int values() const { return found_ ? slot_.nvalues : 0; }
  int numbers() const { return found_ ? slot_.nnumbers : 0; }
  Datum value(int i) const { return slot_.values[i]; }
  double number(int i) const { return slot_.numbers[i]; }

private:
  AttStatsSlot slot_;
  bool found_;
};

} // namespace bloomfilter
