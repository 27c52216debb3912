// A filter that a query probes. The filter is read in one of three ways: in place, from the cache's
// copy, or by slice.
//
// A value in place is probed where it is. It is a constant, an aggregate's result or a short stored
// value. The address does not identify the value, because the next row's value may be at the same
// address. So only the value's header is remembered, and it is compared for each row.
//
// A value that is stored out of line comes from the cache (toast_cache.hpp). Until the cache has
// copied the value, each probe reads slices: for each link, the one or two chunks that the probe
// needs.
#pragma once

#include "pg/server.hpp"

#include "core/kernel.hpp"
#include "pg/element/digests.hpp"
#include "pg/value/toast_cache.hpp"

namespace bloomfilter {

// The largest number of hashes that contains_many() takes.
constexpr int kProbedAtOnce = 256;

// A filter that can be probed until find_filter() is called again, even for another filter, because
// that call may evict this filter from the cache.
struct ProbedFilter {
  Header header;
  // Set only if the filter is in memory, is no chain and has one of our own layouts. Then a probe
  // needs a hash and nothing more, and calls `test`.
  const uint8 *bitmap;
  HashTest test;        // probes `bitmap`
  const uint8 *payload; // NULL: the filter is read by slice
  CachedFilter *cached; // NULL: the value is in place

  bool contains(uint64 hash) {
    return likely(bitmap != nullptr) ? test(header.geometry, bitmap, hash)
                                     : contains_in_links({hash, 0});
  }
  bool contains(const Digest &digest) {
    return bitmap ? contains(digest.first) : contains_in_links(digest);
  }
  // How often a hash was added to a counting or cuckoo filter. The result may be too high. It is
  // too low only above kMaxCounter, where counters stop.
  int multiplicity(uint64 hash);
  // Announces that `count` hashes will probably be probed, so that the cache can copy the filter at
  // once.
  void expect(int count);
  // Probes for each hash and writes one answer for each. The filter must have one of our own
  // layouts.
  void contains_many(const uint64 *hashes, int count, bool *answers);

  void set_payload(const uint8 *in_memory) {
    payload = in_memory;
    const bool plain = !header.is_chain() && !is_foreign(header.geometry.layout);
    bitmap = plain ? payload + kHeaderBytes : nullptr;
  }

private:
  // True if the filter is in memory. The cache first copies it there if slices have cost as much as
  // a copy, or will have after `slices` more.
  bool in_memory(uint64 slices = 0);
  bool contains_in_links(const Digest &digest);
};

// True if the filter possibly contains the value with these digests.
inline bool contains_any_digest(ProbedFilter *filter, const Digests &digests) {
  bool found = digests.any;
  for (int i = 0; i < digests.count; i++)
    found |= filter->contains(digests.digest[i]);
  return found;
}

// What a call site remembers of the filter that it probed last. All bytes are zero until the first
// probe.
struct LastFilter {
  ProbedFilter filter;
  // For a filter stored out of line: its TOAST pointer, and the generation of the cache. If the
  // generation has changed since, the filter may have left the cache.
  struct varatt_external pointer;
  uint64 generation; // 0: not stored out of line, or valid for one probe only
  // For a plain filter in place: its header and the length of its payload. If the next filter has
  // the same header and length, its header need not be checked again.
  uint8 header[kHeaderBytes];
  Size length; // 0: not a plain filter in place
};

ProbedFilter *open_another_filter(struct varlena *value, LastFilter *last);

inline ProbedFilter *find_filter(Datum datum, LastFilter *last) {
  auto *value = reinterpret_cast<struct varlena *>(DatumGetPointer(datum));
  if (VARATT_IS_EXTERNAL_ONDISK(value) && last->generation == cache_generation &&
      memcmp(&last->pointer, VARDATA_EXTERNAL(value), sizeof last->pointer) == 0)
    return &last->filter;
  return open_another_filter(value, last);
}

} // namespace bloomfilter
