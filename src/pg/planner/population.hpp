// The values that a filter is asked for, as ANALYZE knows them: those of a column or an expression,
// or the elements of a column of arrays.
//
// Most common values and histograms are asked of a filter that is at hand, but only where the user
// may see them (estimates tell what they are), and where that cannot raise an error: values are
// scalars that the filter holds, and the filter is sound.
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

// What the statistics say if the filter at hand is asked; all zero if none was.
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

// The elements of arrays, which are not NULL. (NULL among them is neither found nor missed.)
Population elements_of(const Question &question, const FilterEstimate &estimate,
                       VariableStatData *variable);

double null_share(const VariableStatData &variable);

// Statistics of one kind, to be released; empty if they are not there. To ask for parts that the
// kind does not have is an error.
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
