// Many values of one type, which are probed or added together. They are the elements of an array,
// or the values of a column in a batch of rows.
#pragma once

#include "pg/element/digests.hpp"
#include "pg/value/probed_filter.hpp"

extern "C" {
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "utils/memutils.h"
}

namespace bloomfilter {

// The values. The caller sets all fields. Hashing an item may allocate memory in `scratch`, which
// is reset after each item.
struct Items {
  ValueType *value_type;
  Datum *values;
  bool *nulls;
  int count;
  MemoryContext scratch;
};

// Frees the memory that hashing an item took. If there was any, the item may have been detoasted,
// which may take milliseconds. So interrupts are checked for, too.
inline void reset_scratch(const Items &items) {
  if (likely(items.scratch->isReset))
    return;
  MemoryContextReset(items.scratch);
  CHECK_FOR_INTERRUPTS();
}

// The digests of an item that is not NULL.
Digests item_digests(const Header &header, const Items &items, int i, Purpose purpose);

// Probes a batch of items, from `first` on. Writes an answer for each item; the answer for a NULL
// has no meaning. Returns the number of the item after the last one of the batch.
int probe_items(ProbedFilter *filter, const Items &items, int first, bool *answers);

} // namespace bloomfilter
