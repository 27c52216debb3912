// The cache of filters that are stored out of line.
//
// A stored value is identified by all 16 bytes of its TOAST pointer. As long as the value exists,
// the pointer stands for it alone, and the value never changes. All call sites of a process share
// one cache. For example, 64 partitions that probe one filter share one copy.
//
// A deleted value's id can be given to another value, even within a transaction, because ids wrap
// around. So the cache must not outlive the values. It ends with the transaction, or earlier in
// these cases:
// - No snapshot is held any more. While a snapshot is held, no value that it can see is deleted.
//   Under READ COMMITTED, the cache ends after each statement, unless a cursor is open. SELECT, DO
//   and CALL hold a snapshot to their end, or to their COMMIT, whatever newer snapshots their inner
//   statements take.
// - A subtransaction is rolled back, because the values that it stored can be deleted at once.
// - Any table is altered, because TRUNCATE deletes all values at once, even those that a snapshot
//   can see.
//
// It would be wasteful to detoast a large value for a single probe, and also to read slices of it
// for every probe. So the cache reads the value's head once, and then slices, until the slices have
// cost as much as detoasting the value. Then it copies the value once. This costs at most twice as
// much as if the number of probes had been known (the ski rental problem). If the number of probes
// is known in advance, as for the elements of an array, the cache decides at once whether to copy.
// A value that costs no more to read than its head and one slice is read as a whole.
//
// The copies take at most work_mem * hash_mem_multiplier. The least recently used filters are
// evicted first; the filter that was used last always stays.
//
// A copy is read straight into its place. For one filter at a time, the place is a buffer that the
// session keeps for its next transactions (memory.hpp). A copy is not used before it is complete.
//
// The trade-off: without a cache, each call would detoast the whole value, which needs no rules
// about its life. With it, the first probe of a statement takes 5.0 µs for a filter of 120 MB, and
// each further one 3.5 µs (script/bench lookup).
//
// What is not good about it: the rules above follow from what the server does with TOAST, and only
// tests notice if the server changes that.
//
// Tests: test/t/007_stored.pl, test/t/008_probing.pl, test/t/017_toast_ids.pl,
// specs/snapshots.spec.
#pragma once

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

// What the cache tells about a filter.
struct CachedFilter {
  Header header;
  const uint8 *head;    // the payload's head: the header and the entries of links
  const uint8 *payload; // NULL until the whole value is copied
};

// Finds a filter by its TOAST pointer, or reads its head and adds it to the cache. The result is
// valid until cache_generation changes.
CachedFilter *cached_filter(const struct varatt_external &pointer);

// Changes whenever a filter leaves the cache, or the cache ends.
extern uint64 cache_generation;

// The generation under which the filter that was just found may be remembered. 0 if the cache ended
// while the filter was read. Then the filter may be used for one probe only.
uint64 generation_to_remember();

// Copies a filter if a copy costs no more than the slices read so far and `slices` more.
void copy_if_worthwhile(CachedFilter *filter, uint64 slices);

// Reads a part of the payload, into the current memory context.
struct varlena *read_slice(CachedFilter *filter, Size offset, Size length);

} // namespace bloomfilter
