// See items.hpp. If a filter is larger than the processor's caches, each probe waits for memory. So
// a batch hashes its values first, and then the kernel probes for all hashes, with their lines
// prefetched. Prefetching the lines already while values are hashed would take 1.03 to 1.10 of the
// time with filters of 240 MB.

#include "pg/value/items.hpp"

#include "pg/element/canonical.hpp"
#include "pg/element/conversion.hpp"
#include "pg/element/family.hpp"

namespace bloomfilter {

Digests item_digests(const Header &header, const Items &items, int i, Purpose purpose) {
  const MemoryContext before = MemoryContextSwitchTo(items.scratch);
  const Digests digests = digests_for(items.value_type, items.values[i], header, purpose);
  MemoryContextSwitchTo(before);
  MemoryContextReset(items.scratch);
  CHECK_FOR_INTERRUPTS();
  return digests;
}

int probe_items(ProbedFilter *filter, const Items &items, int first, bool *answers) {
  const int end = Min(items.count, first + kProbedAtOnce);
  const bool foreign = is_foreign(filter->header.geometry.layout);
  const bool alike = has_one_hash(items.value_type) && fits(filter->header, items.value_type);
  uint64 hashes[kProbedAtOnce];
  CHECK_FOR_INTERRUPTS();
  // A filter that is read by slice goes on below, which skips NULLs: each probe could cost a read.
  if (alike && !foreign && filter->payload) {
    const MemoryContext before = MemoryContextSwitchTo(items.scratch);
    const uint64 seed = filter->header.seed;
    for (int i = first; i < end; i++) {
      hashes[i - first] = items.nulls[i] ? 0 : inline_hash(items.value_type, items.values[i], seed);
      reset_scratch(items);
    }
    MemoryContextSwitchTo(before);
    filter->contains_many(hashes, end - first, answers + first);
    return end;
  }
  int owners[kProbedAtOnce], count = 0, item = first;
  for (; item < end && count + kMaxDigests <= kProbedAtOnce; item++) {
    answers[item] = false;
    if (items.nulls[item])
      continue;
    const Digests of_item = item_digests(filter->header, items, item, Purpose::probe);
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
  bool found[kProbedAtOnce];
  filter->contains_many(hashes, count, found);
  for (int i = 0; i < count; i++)
    answers[owners[i]] |= found[i];
  return item;
}

} // namespace bloomfilter
