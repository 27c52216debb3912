// See items.hpp. If a filter is larger than the processor's caches, each probe waits for memory. So
// a batch hashes its values first and prefetches the lines of each, and probes afterwards.

#include "pg/value/items.hpp"

#include "pg/element/canonical.hpp"
#include "pg/element/conversion.hpp"
#include "pg/element/family.hpp"

namespace bloomfilter {
namespace {

// A filter of at least this many bytes is larger than the processor's caches. While its lines are
// fetched, other values are hashed.
constexpr Size kFar = 32 * 1024 * 1024;

bool is_far(const ProbedFilter *filter) {
  const Geometry &geometry = filter->header.geometry;
  return filter->bitmap && structure_of(geometry.layout) == Structure::bitmap &&
         geometry.bytes() >= kFar;
}

// Hashes the items from `first` up to, but not including, `end`. Each item must have one hash. The
// hash of a NULL is 0 and has no meaning.
void hash_items(const ProbedFilter *filter, const Items &items, int first, int end,
                uint64 *hashes) {
  const MemoryContext before = MemoryContextSwitchTo(items.scratch);
  const bool far = is_far(filter);
  for (int item = first; item < end; item++) {
    const uint64 seed = filter->header.seed;
    const uint64 hash =
        items.nulls[item] ? 0 : inline_hash(items.value_type, items.values[item], seed);
    if (far)
      prefetch(filter->header.geometry, filter->bitmap, hash);
    *hashes++ = hash;
    reset_scratch(items);
  }
  MemoryContextSwitchTo(before);
}

} // namespace

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
    hash_items(filter, items, first, end, hashes);
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
