// Filters as a query asks them: in place, from the cache, or by slice.
//
// A value in place (a constant, an aggregate's result, a short stored value) is used in place. Its
// address does not identify it, for the next row's value may lie there; so nothing is kept about it
// but its header.
//
// A value stored out of line is identified by its TOAST pointer, all 16 bytes of it: a pointer
// means one immutable value for as long as that exists. What is known about such values is kept in
// one cache for all call sites of the process: 64 partitions that ask one filter share one copy.
//
// Once a value is deleted, another one can get its id, even within a transaction, for ids wrap
// around. So the cache ends with the transaction, or before,
// - when no snapshot is held any more, for what one can see is not deleted: under READ COMMITTED
//   after each statement, unless a cursor is open. (SELECT, DO and CALL hold a snapshot to their
//   end, or to their COMMIT, whatever newer ones their inner statements take.)
// - when a subtransaction is rolled back: what it stored can be deleted at once;
// - when any table is altered, for TRUNCATE deletes all values at once, even those that a snapshot
//   can see.
//
// Detoasting a large value for one probe would be a waste, and so would asking by slice for ever.
// So the head is read once, and a probe reads of each link the one or two chunks that it needs,
// until slices have cost as much as detoasting; then the value is copied once. That costs at most
// twice as much as if the number of probes were known (the ski rental problem). Where it is known,
// as of an array's elements, the value is copied at once or not at all; and one that costs no more
// than its head and a slice is read as a whole. The copies take at most work_mem *
// hash_mem_multiplier, the least recently used leaving first, but the last used always stays.
//
// A copy is read straight into its place, of one filter at a time in a buffer that the session
// keeps for the next transaction's (memory.hpp). Nobody uses a copy before all of it was read.
#ifndef BLOOMFILTER_PG_VALUE_TOAST_CACHE_HPP
#define BLOOMFILTER_PG_VALUE_TOAST_CACHE_HPP

#include "pg/server.hpp"

#include "core/format.hpp"
#include "core/structure.hpp"

namespace bloomfilter {

struct CachedFilter;

// Hashes that contains_many() takes at a time.
constexpr int kAskedAtOnce = 256;

// A filter that can be asked, until the next call for any filter.
struct AskedFilter {
  Header header;
  const uint8 *bitmap;  // of a filter in memory whose only link is asked by a hash alone
  HashTest test;        // asks it
  const uint8 *payload; // NULL: asked by slice
  CachedFilter *cached; // NULL: in place

  bool contains(uint64 hash) {
    return likely(bitmap != nullptr) ? test(header.geometry, bitmap, hash)
                                     : contains_in_links({hash, 0});
  }
  bool contains(const Digest &digest) {
    return bitmap ? contains(digest.first) : contains_in_links(digest);
  }
  // Of a counting or cuckoo filter: how often a hash was added, or more.
  int multiplicity(uint64 hash);
  // Says that it will be asked for so many hashes, if nothing else comes up.
  void expect(int count);
  // Of a filter of our own layouts.
  void contains_many(const uint64 *hashes, int count, bool *answers);

  void set_payload(const uint8 *in_memory) {
    payload = in_memory;
    const bool plain = !header.is_chain() && !is_foreign(header.geometry.layout);
    bitmap = plain ? payload + kHeaderBytes : nullptr;
  }

private:
  // Is it in memory? Moves it there once slices have cost as much, or will with that many more.
  bool in_memory(uint64 slices = 0);
  bool contains_in_links(const Digest &digest);
};

// What a call site remembers of the filter that it asked last. Zero at first.
struct FilterMemory {
  AskedFilter filter;
  // Of a stored filter: its name and the cache's generation, another one of which says that the
  // filter may be gone.
  struct varatt_external pointer;
  uint64 generation; // 0: none
  // Of a plain filter in place: its header, which need not be checked again if the next one has the
  // same.
  uint8 header[kHeaderBytes];
  Size length; // of its payload; 0: none
};

// Changes whenever a filter leaves the cache, or the cache ends.
extern uint64 cache_generation;

AskedFilter *open_another(struct varlena *value, FilterMemory *memory);

inline AskedFilter *find_filter(Datum datum, FilterMemory *memory) {
  auto *value = reinterpret_cast<struct varlena *>(DatumGetPointer(datum));
  if (VARATT_IS_EXTERNAL_ONDISK(value) && memory->generation == cache_generation &&
      memcmp(&memory->pointer, VARDATA_EXTERNAL(value), sizeof memory->pointer) == 0)
    return &memory->filter;
  return open_another(value, memory);
}

} // namespace bloomfilter

#endif
