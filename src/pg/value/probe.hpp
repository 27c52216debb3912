// A filter that a query probes: in place, as the cache's copy, or by slice.
//
// A value in place (a constant, an aggregate's result, a short stored value) is probed where it is.
// Its address does not identify it, for the next row's value may lie there. So only its header is
// remembered.
//
// A value stored out of line comes from the cache (toast_cache.hpp). Before the cache has copied
// it, each probe reads of each link the one or two chunks that it needs.
#ifndef BLOOMFILTER_PG_VALUE_PROBE_HPP
#define BLOOMFILTER_PG_VALUE_PROBE_HPP

#include "pg/server.hpp"

#include "core/structure.hpp"
#include "pg/element/digests.hpp"
#include "pg/value/toast_cache.hpp"

namespace bloomfilter {

// How many hashes contains_many() takes at most.
constexpr int kAskedAtOnce = 256;

// A filter that can be probed until find_filter() is called again, for whichever filter.
struct AskedFilter {
  Header header;
  const uint8 *bitmap;  // if it is in memory and a probe of its only link takes no more than a hash
  HashTest test;        // probes that bitmap
  const uint8 *payload; // NULL: it is probed by slice
  CachedFilter *cached; // NULL: it is in place

  bool contains(uint64 hash) {
    return likely(bitmap != nullptr) ? test(header.geometry, bitmap, hash)
                                     : contains_in_links({hash, 0});
  }
  bool contains(const Digest &digest) {
    return bitmap ? contains(digest.first) : contains_in_links(digest);
  }
  // How often a hash was added to a counting or cuckoo filter, or more.
  int multiplicity(uint64 hash);
  // Announces that so many hashes will be probed, unless something else comes up.
  void expect(int count);
  // Probes hashes, one answer each. The filter is of one of our own layouts.
  void contains_many(const uint64 *hashes, int count, bool *answers);

  void set_payload(const uint8 *in_memory) {
    payload = in_memory;
    const bool plain = !header.is_chain() && !is_foreign(header.geometry.layout);
    bitmap = plain ? payload + kHeaderBytes : nullptr;
  }

private:
  // Is it in memory? The cache moves it there once slices have cost as much, or will with so many
  // more.
  bool in_memory(uint64 slices = 0);
  bool contains_in_links(const Digest &digest);
};

// Is a value with these digests possibly in a filter?
inline bool contains_any_digest(AskedFilter *filter, const Digests &digests) {
  bool found = digests.any;
  for (int i = 0; i < digests.count; i++)
    found |= filter->contains(digests.digest[i]);
  return found;
}

// What a call site remembers of the filter that it probed last. All bytes are zero before the
// first.
struct FilterMemory {
  AskedFilter filter;
  // If the filter is stored: its TOAST pointer, and the cache's generation. If the cache has
  // another one by now, the filter may be gone.
  struct varatt_external pointer;
  uint64 generation; // 0: it is not a stored filter, or for one probe alone
  // If it is a plain filter in place: its header and the length of its payload. If the next filter
  // has the same, it need not be checked again.
  uint8 header[kHeaderBytes];
  Size length; // 0: it is not a plain filter in place
};

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
