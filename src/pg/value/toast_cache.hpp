// The cache of filters that are stored out of line.
//
// Such a value is identified by its TOAST pointer, all 16 bytes of it: a pointer means one
// immutable value for as long as that exists. What is known of these values is kept in one cache
// for all call sites of the process: 64 partitions that probe one filter share one copy.
//
// Once a value is deleted, another one can get its id, even within a transaction, for ids wrap
// around. So the cache ends with the transaction, or earlier:
// - when no snapshot is held any more, for what a snapshot can see is not deleted: under READ
//   COMMITTED after each statement, unless a cursor is open (SELECT, DO and CALL hold a snapshot to
//   their end, or to their COMMIT, whatever newer ones their inner statements take);
// - when a subtransaction is rolled back, for what it stored can be deleted at once;
// - when any table is altered, for TRUNCATE deletes all values at once, even those that a snapshot
//   can see.
//
// Detoasting a large value for one probe would be a waste, and so would reading slices of it for
// ever. So its head is read once, and then slices, until these have cost as much as detoasting;
// then the value is copied once. That costs at most twice as much as if the number of probes had
// been known (the ski rental problem). If that number is known in advance, as of an array's
// elements, it is decided at once whether to copy the value. A value that costs no more than its
// head and a slice is read as a whole. The copies take at most work_mem * hash_mem_multiplier: the
// least recently used ones leave first, but the one that was used last always stays.
//
// A copy is read straight into its place. For one filter at a time that is a buffer that the
// session keeps for its next transactions (memory.hpp). Nobody uses a copy before all of it was
// read.
#ifndef BLOOMFILTER_PG_VALUE_TOAST_CACHE_HPP
#define BLOOMFILTER_PG_VALUE_TOAST_CACHE_HPP

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

// What the cache tells of a filter.
struct CachedFilter {
  Header header;
  const uint8 *head;    // the payload's head: the header and the entries of links
  const uint8 *payload; // NULL before it was copied as a whole
};

// Finds a filter by its TOAST pointer, or reads its head and enters it. It stays there until
// cache_generation changes.
CachedFilter *cached_filter(const struct varatt_external &pointer);

// Changes whenever a filter leaves the cache, or the cache ends.
extern uint64 cache_generation;

// The generation under which a filter that was just found may be remembered. 0 if the cache ended
// while it was read: then it is for one probe alone.
uint64 generation_to_remember();

// Copies a filter, if that takes no longer than the slices have taken that were read of it,
// together with `slices` more.
void copy_if_worthwhile(CachedFilter *filter, uint64 slices);

// Reads a part of the payload, in the current memory context.
struct varlena *read_slice(CachedFilter *filter, Size offset, Size length);

} // namespace bloomfilter

#endif
