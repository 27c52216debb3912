// Many values of one type that are probed together, or added to a filter.
#ifndef BLOOMFILTER_PG_VALUE_ITEMS_HPP
#define BLOOMFILTER_PG_VALUE_ITEMS_HPP

#include "pg/element/digests.hpp"
#include "pg/value/probe.hpp"

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

// The digests of an item that is not NULL.
Digests item_digests(const Header &header, const Items &items, int i, Use use);

// Probes a batch of items, from `first` on, with the filter's lines prefetched. Each gets an
// answer, NULL the answer false. Returns the item behind the last one of the batch.
int ask_items(AskedFilter *filter, const Items &items, int first, bool *answers);

} // namespace bloomfilter

#endif
