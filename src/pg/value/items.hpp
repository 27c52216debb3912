// Many values of one type, which a filter is asked for at once, or which are added to it.
#ifndef BLOOMFILTER_PG_VALUE_ITEMS_HPP
#define BLOOMFILTER_PG_VALUE_ITEMS_HPP

#include "pg/element/digests.hpp"
#include "pg/value/probe.hpp"

namespace bloomfilter {

// Hashing may allocate; `scratch` is emptied after each item.
struct Items {
  Element *element;
  Datum *values;
  bool *nulls;
  int count;
  MemoryContext scratch;
};

Digests item_digests(const Header &header, const Items &items, int i, Use use);

// Asks for items from `first` on, as many as make a batch, whose lines are then prefetched. Returns
// the item behind the last. NULL gets the answer false.
int ask_items(AskedFilter *filter, const Items &items, int first, bool *answers);

} // namespace bloomfilter

#endif
