// Many values of one type, which a filter is asked for at once, or which are added to it.
#ifndef BLOOMFILTER_PG_VALUE_ITEMS_HPP
#define BLOOMFILTER_PG_VALUE_ITEMS_HPP

#include "pg/element/digests.hpp"
#include "pg/value/toast_cache.hpp"

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

// Is a value possibly in a filter?
inline bool contains_any_digest(AskedFilter *filter, const Digests &digests) {
  bool found = digests.any;
  for (int i = 0; i < digests.count; i++)
    found |= filter->contains(digests.digest[i]);
  return found;
}

} // namespace bloomfilter

#endif
