// The values that a filter is asked for, as ANALYZE knows them: those of a column or an expression,
// or the elements of a column of arrays.
//
// A filter whose bytes are available is probed for the most common values and for the histogram.
// This is done only if the user may see these values, because estimates reveal them, and if it
// cannot raise an error: the values are scalars of a type that the filter holds, and the filter is
// sound.
#ifndef BLOOMFILTER_PG_PLANNER_POPULATION_HPP
#define BLOOMFILTER_PG_PLANNER_POPULATION_HPP

#include "pg/server.hpp"

#include "pg/planner/sample.hpp"
#include "pg/planner/question.hpp"

extern "C" {
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace bloomfilter {

// What probing the filter for the values in the statistics gave; all zero if it was not probed.
struct Probed {
  double common, common_passed; // the most common values: shares of all rows or elements
  double values, values_passed; // the same, counted in distinct values
  double histogram, histogram_passed;
};

struct Population {
  double nulls;    // share of rows
  double distinct; // values; 0 if that is not known
  Probed probed;
};

Population values_of(PlannerInfo *root, const Question &question, const FilterEstimate &estimate,
                     Node *value, VariableStatData *variable);

// The elements of arrays that are not NULL. (A NULL element counts neither as found nor as missed.)
Population elements_of(const Question &question, const FilterEstimate &estimate,
                       VariableStatData *variable);

double null_share(const VariableStatData &variable);

// Statistics of one kind, which the caller releases; empty if there are none. It is an error to ask
// for parts that the kind does not have.
class Slot {
public:
  Slot(const VariableStatData &variable, int kind, int parts)
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

#endif
