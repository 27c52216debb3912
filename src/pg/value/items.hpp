// Many values of one type that are probed together, or added to a filter.
#ifndef BLOOMFILTER_PG_VALUE_ITEMS_HPP
#define BLOOMFILTER_PG_VALUE_ITEMS_HPP

#include "pg/element/digests.hpp"
#include "pg/value/probe.hpp"

extern "C" {
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "utils/memutils.h"
}

namespace bloomfilter {

// Whoever collects the values sets all fields. Hashing an item may allocate memory in `scratch`,
// which is reset after it.
struct Items {
  Element *element;
  Datum *values;
  bool *nulls;
  int count;
  MemoryContext scratch;
};

// Frees what hashing an item took. If that was anything, the item may have been read from out of
// line or been decompressed, which may take milliseconds.
inline void reset_scratch(const Items &items) {
  if (likely(items.scratch->isReset))
    return;
  MemoryContextReset(items.scratch);
  CHECK_FOR_INTERRUPTS();
}

// The digests of an item that is not NULL.
Digests item_digests(const Header &header, const Items &items, int i, Use use);

// Probes a batch of items, from `first` on, with the filter's lines prefetched. Each gets an
// answer; that of NULL means nothing. Returns the item behind the last one of the batch.
int ask_items(AskedFilter *filter, const Items &items, int first, bool *answers);

} // namespace bloomfilter

#endif
