#include "pg/items.hpp"

#include "pg/element/conversion.hpp"
#include "pg/element/family.hpp"

extern "C" {
#include "nodes/memnodes.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// A shortcut for what is asked: the only hash of an element whose type is that of the filter. False
// if it takes more than that; then call item_digests().
bool try_item_hash(const Header &header, const Items &items, int i, uint64 *hash) {
  if (items.element->varying || is_foreign(header.geometry.layout))
    return false;
  const MemoryContext before = MemoryContextSwitchTo(items.scratch);
  *hash = first_hash(items.element, items.values[i], header.seed);
  MemoryContextSwitchTo(before);
  if (!items.scratch->isReset)
    MemoryContextReset(items.scratch);
  return fits(header, items.element);
}

} // namespace

Digests item_digests(const Header &header, const Items &items, int i, Use use) {
  const MemoryContext before = MemoryContextSwitchTo(items.scratch);
  const Digests digests = digests_for(items.element, items.values[i], header, use);
  MemoryContextSwitchTo(before);
  MemoryContextReset(items.scratch);
  return digests;
}

int ask_items(AskedFilter *filter, const Items &items, int first, bool *answers) {
  uint64 hashes[kAskedAtOnce];
  int owners[kAskedAtOnce], count = 0, item = first;
  const bool foreign = is_foreign(filter->header.geometry.layout);
  CHECK_FOR_INTERRUPTS();
  for (; item < items.count && item < first + kAskedAtOnce && count + kMaxDigests <= kAskedAtOnce;
       item++) {
    answers[item] = false;
    if (items.nulls[item])
      continue;
    if (likely(try_item_hash(filter->header, items, item, &hashes[count]))) {
      owners[count++] = item;
      continue;
    }
    const Digests of_item = item_digests(filter->header, items, item, Use::ask);
    answers[item] = of_item.any;
    if (foreign) {
      answers[item] = contains_any_digest(filter, of_item);
      continue;
    }
    for (int i = 0; i < of_item.count; i++) {
      owners[count] = item;
      hashes[count++] = of_item.digest[i].first;
    }
  }
  bool found[kAskedAtOnce];
  filter->contains_many(hashes, count, found);
  for (int i = 0; i < count; i++)
    answers[owners[i]] |= found[i];
  return item;
}

} // namespace bloomfilter
