#include "pg/stored.hpp"

#include "core/structure.hpp"
#include "pg/errors.hpp"
#include "pg/memory.hpp"

extern "C" {
#include "access/detoast.h"
#include "lib/ilist.h"
#if PG_VERSION_NUM < 150000
#include "storage/proc.h"
#endif
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
}

namespace bloomfilter {

struct CachedFilter {
  struct varatt_external pointer; // the key
  dlist_node recent;
  Header header;
  Size paid;             // bytes that detoasting would have read at the cost of the slices so far
  uint8 *head;           // header and entries
  struct varlena *value; // the copy; NULL before one was begun
  void *chunk;           // its memory
  bool copied;

  const uint8 *payload() const { return reinterpret_cast<const uint8 *>(VARDATA(value)); }
};

uint64 cache_generation = 1;

namespace {

// A slice takes about as long as detoasting this many bytes; script/bench measures both.
constexpr Size kSliceCost = 8192;
// Bytes that are copied at a time: a copy needs no second one of its size beside it.
constexpr Size kCopyStep = 1024 * 1024;
// What an entry itself takes, roughly.
Size entry_bytes(const Header &header) {
  return 256 + header.head_bytes();
}

// Lives and dies with its memory context, a child of the transaction's. Once it ended it stays
// until the next filter is looked up, for a probe may be using it.
struct Cache {
  MemoryContext context;
  HTAB *filters;
  dlist_head recent; // first: last used
  Size bytes;
  bool ended;
  MemoryContextCallback reset;
};
Cache *cache = nullptr;

void forget_cache(void *) {
  cache = nullptr;
  cache_generation++;
}

void end_cache() {
  cache->ended = true;
  cache_generation++;
}

// Is a snapshot held, other than that of the catalogs, which comes and goes?
bool holds_snapshot() {
#if PG_VERSION_NUM >= 150000
  return HaveRegisteredOrActiveSnapshot();
#else
  InvalidateCatalogSnapshotConditionally();
  return TransactionIdIsValid(MyProc->xmin);
#endif
}

// A portal, which is a statement or a cursor, or a subtransaction ends.
void at_release(ResourceReleasePhase, bool is_commit, bool, void *) {
  if (cache && !(is_commit && holds_snapshot()))
    end_cache();
}

// A table is altered, here or in another process.
void at_invalidation(Datum, Oid) {
  if (cache)
    end_cache();
}

void watch_for_ends() {
  static bool watching = false;
  if (watching)
    return;
  CacheRegisterRelcacheCallback(at_invalidation, 0);
  RegisterResourceReleaseCallback(at_release, nullptr);
  watching = true;
}

Cache *current_cache() {
  if (cache && cache->ended)
    MemoryContextDelete(cache->context);
  if (cache)
    return cache;
  watch_for_ends();
  MemoryContext context =
      AllocSetContextCreate(TopTransactionContext, "bloomfilter cache", ALLOCSET_DEFAULT_SIZES);
  auto *created = static_cast<Cache *>(MemoryContextAllocZero(context, sizeof(Cache)));
  created->context = context;
  dlist_init(&created->recent);
  HASHCTL control = {};
  control.keysize = sizeof(struct varatt_external);
  control.entrysize = sizeof(CachedFilter);
  control.hcxt = context;
  created->filters =
      hash_create("bloomfilter cache", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  created->reset.func = forget_cache;
  MemoryContextRegisterResetCallback(context, &created->reset);
  return cache = created;
}

void evict(CachedFilter *filter) {
  cache->bytes -= entry_bytes(filter->header);
  if (filter->value) {
    cache->bytes -= VARSIZE(filter->value);
    pfree(filter->chunk);
  }
  pfree(filter->head);
  dlist_delete(&filter->recent);
  hash_search(cache->filters, &filter->pointer, HASH_REMOVE, nullptr);
  cache_generation++;
}

CachedFilter *least_recent() { // the server's macro for this is C only
  char *node = reinterpret_cast<char *>(dlist_tail_node(&cache->recent));
  return reinterpret_cast<CachedFilter *>(node - offsetof(CachedFilter, recent));
}

// Makes room for as many bytes more, sparing the filter that was used last.
void make_room(Size bytes) {
  const Size limit = get_hash_memory_limit();
  while (cache->bytes + bytes > limit &&
         dlist_has_next(&cache->recent, dlist_head_node(&cache->recent)))
    evict(least_recent());
}

// A TOAST pointer as a datum.
struct ToastDatum {
  alignas(8) char bytes[VARHDRSZ_EXTERNAL + sizeof(struct varatt_external)];

  explicit ToastDatum(const struct varatt_external &pointer) {
    SET_VARTAG_EXTERNAL(bytes, VARTAG_ONDISK);
    memcpy(VARDATA_EXTERNAL(bytes), &pointer, sizeof pointer);
  }
  // Part of the payload, in the current memory context.
  struct varlena *slice(Size offset, Size length) {
    return detoast_attr_slice(reinterpret_cast<struct varlena *>(bytes), static_cast<int32>(offset),
                              static_cast<int32>(length));
  }
};

// Not as the type stores it, but a column's storage can be changed.
bool is_compressed(const CachedFilter *filter) {
  return VARATT_EXTERNAL_GET_EXTSIZE(filter->pointer) < filter->header.payload_bytes();
}

void copy_stored(CachedFilter *filter) {
  const Size length = filter->header.payload_bytes(), size = VARHDRSZ + length;
  dlist_move_head(&cache->recent, &filter->recent);
  if (!filter->value) { // else an earlier attempt was interrupted
    make_room(size);
    filter->value = static_cast<struct varlena *>(allocate_aligned(
        cache->context, size, VARHDRSZ + filter->header.head_bytes(), &filter->chunk));
    SET_VARSIZE(filter->value, size);
    cache->bytes += size;
  }
  ToastDatum stored(filter->pointer);
  const Size step = is_compressed(filter) ? length : kCopyStep;
  for (Size done = 0; done < length; done += step) {
    CHECK_FOR_INTERRUPTS();
    struct varlena *part = stored.slice(done, Min(step, length - done));
    memcpy(VARDATA(filter->value) + done, VARDATA_ANY(part), VARSIZE_ANY_EXHDR(part));
    pfree(part);
  }
  filter->copied = true;
}

// Reads the head of a value that the cache does not know, and enters it.
CachedFilter *enter(const struct varatt_external &pointer) {
  struct varlena *start = ToastDatum(pointer).slice(0, kMaxHeadBytes);
  const auto *payload = reinterpret_cast<const uint8 *>(VARDATA_ANY(start));
  Header header;
  const Finding finding = parse(payload, static_cast<Size>(pointer.va_rawsize) - VARHDRSZ, &header);
  if (!finding.ok())
    raise_damaged(finding, stated_kind(payload, VARSIZE_ANY_EXHDR(start)));
  const Size head_bytes = header.head_bytes();
  auto *head = static_cast<uint8 *>(MemoryContextAlloc(cache->context, head_bytes));
  memcpy(head, payload, head_bytes);
  pfree(start);

  make_room(entry_bytes(header));
  auto *filter =
      static_cast<CachedFilter *>(hash_search(cache->filters, &pointer, HASH_ENTER, nullptr));
  filter->header = header;
  filter->paid = kSliceCost; // for this one
  filter->head = head;
  filter->value = nullptr;
  filter->copied = false;
  dlist_push_head(&cache->recent, &filter->recent);
  cache->bytes += entry_bytes(header);
  return filter;
}

CachedFilter *find_or_enter(const struct varatt_external &pointer) {
  auto *filter = static_cast<CachedFilter *>(
      hash_search(current_cache()->filters, &pointer, HASH_FIND, nullptr));
  if (!filter)
    return enter(pointer);
  dlist_move_head(&cache->recent, &filter->recent);
  return filter;
}

} // namespace

AskedFilter *open_another(struct varlena *value, FilterMemory *memory) {
  if (VARATT_IS_EXTERNAL_ONDISK(value)) {
    memory->generation = memory->length = 0;
    VARATT_EXTERNAL_GET_POINTER(memory->pointer, value);
    CachedFilter *filter = find_or_enter(memory->pointer);
    memory->filter = {filter->header, nullptr, hash_test(*kernel, filter->header.geometry), nullptr,
                      filter};
    if (filter->copied)
      memory->filter.set_payload(filter->payload());
    // What was read while the cache ended is for this probe alone.
    memory->generation = cache->ended ? 0 : cache_generation;
    return &memory->filter;
  }

  value = PG_DETOAST_DATUM(PointerGetDatum(value));
  const Size length = VARSIZE(value) - VARHDRSZ;
  if (length != memory->length || memcmp(memory->header, VARDATA(value), kHeaderBytes) != 0) {
    memory->generation = memory->length = 0;
    const Header header = open_filter(value).header;
    memory->filter = {header, nullptr, hash_test(*kernel, header.geometry), nullptr, nullptr};
    memcpy(memory->header, VARDATA(value), kHeaderBytes);
    if (!memory->filter.header.is_chain()) // of which the header does not tell all
      memory->length = length;
  }
  memory->filter.set_payload(reinterpret_cast<const uint8 *>(VARDATA(value)));
  return &memory->filter;
}

// Fetches parts of a stored link, one at a time.
class Slices {
public:
  Slices(CachedFilter *filter, Size link) : filter_(filter), link_(link), last_(nullptr) {}

  const uint8 *operator()(Size offset, Size length) {
    release();
    filter_->paid += kSliceCost;
    last_ = ToastDatum(filter_->pointer).slice(link_ + offset, length);
    return reinterpret_cast<const uint8 *>(VARDATA_ANY(last_));
  }
  void release() {
    if (last_)
      pfree(last_);
    last_ = nullptr;
  }

private:
  CachedFilter *filter_;
  Size link_; // its offset in the payload
  struct varlena *last_;
};

bool AskedFilter::in_memory() {
  if (payload)
    return true;
  if (!cached->copied && (cached->paid >= header.payload_bytes() || is_compressed(cached)))
    copy_stored(cached);
  if (cached->copied)
    set_payload(cached->payload());
  return payload != nullptr;
}

int AskedFilter::multiplicity(uint64 hash) {
  const Geometry &geometry = header.geometry;
  if (!in_memory()) {
    Slices slices(cached, kHeaderBytes);
    const int copies = multiplicity_in_parts<Slices &>(geometry, hash, slices);
    slices.release();
    return copies;
  }
  return structure_multiplicity(geometry, bitmap, hash);
}

bool AskedFilter::contains_in_links(const Digest &digest) {
  if (in_memory())
    return links_contain(*kernel, payload, header, digest);
  return any_link(cached->head, header, [&](const Link &link, Size offset) {
    Slices slices(cached, offset);
    const bool found = contains_in_parts<Slices &>(*kernel, link.geometry, digest, slices);
    slices.release();
    return found;
  });
}

void AskedFilter::contains_many(const uint64 *hashes, int count, bool *answers) {
  Assert(count <= kAskedAtOnce);
  while (count > 0 && !payload) {
    *answers++ = contains(*hashes++);
    count--;
  }
  if (bitmap) {
    kernel->contains_many(header.geometry, bitmap, hashes, static_cast<Size>(count), answers);
    return;
  }
  if (count == 0)
    return;
  bool found[kAskedAtOnce];
  memset(answers, 0, count);
  for_each_link(payload, header, [&](const Link &link, Size offset) {
    kernel->contains_many(link.geometry, payload + offset, hashes, static_cast<Size>(count), found);
    for (int i = 0; i < count; i++)
      answers[i] |= found[i];
  });
}

} // namespace bloomfilter
