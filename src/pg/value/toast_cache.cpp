#include "pg/value/toast_cache.hpp"

#include "core/links.hpp"
#include "pg/errors.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/table.h"
#include "access/tableam.h"
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
  uint8 *head;           // header and entries, behind this
  struct varlena *value; // the copy; NULL before one was begun
  void *chunk;           // its memory; NULL: the session's buffer
  bool copied;

  const uint8 *payload() const { return reinterpret_cast<const uint8 *>(VARDATA(value)); }
};

uint64 cache_generation = 1;

namespace {

// A slice takes about as long as detoasting this many bytes; script/bench measures both.
constexpr Size kSliceCost = 8192;
// What is read at once: its head and one slice would cost as much.
constexpr Size kReadAtOnce = 2 * kSliceCost;
// Bytes that are copied between two checks for interrupts; whole chunks.
constexpr int32 kCopyStep = 512 * TOAST_MAX_CHUNK_SIZE;
// As many filters are found by walking over them: one needs no table, which takes longer to make.
constexpr int kWalked = 8;
// What an entry itself takes, roughly.
Size entry_bytes(const Header &header) {
  return 256 + header.head_bytes();
}

// Lives and dies with its memory context, a child of the transaction's. Once it ended it stays
// until the next filter is looked up, for a probe may be using it.
struct Cache {
  MemoryContext context;
  HTAB *table;       // NULL: few filters
  dlist_head recent; // first: last used
  Size bytes;
  MemoryContextCallback reset;
  int filters;
  bool ended;
};
Cache *cache = nullptr;

// An entry of the table.
struct Place {
  struct varatt_external pointer; // the key
  CachedFilter *filter;
};

void forget_cache(void *) {
  return_buffer();
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
  created->reset.func = forget_cache;
  MemoryContextRegisterResetCallback(context, &created->reset);
  return cache = created;
}

CachedFilter *filter_of(dlist_node *node) { // the server's macro for this is C only
  return reinterpret_cast<CachedFilter *>(reinterpret_cast<char *>(node) -
                                          offsetof(CachedFilter, recent));
}

void put_in_table(CachedFilter *filter) {
  auto *place =
      static_cast<Place *>(hash_search(cache->table, &filter->pointer, HASH_ENTER, nullptr));
  place->filter = filter;
}

void make_table() {
  HASHCTL control = {};
  control.keysize = sizeof(struct varatt_external);
  control.entrysize = sizeof(Place);
  control.hcxt = cache->context;
  cache->table =
      hash_create("bloomfilter cache", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  dlist_node *end = &cache->recent.head;
  for (dlist_node *node = end->next; node != end; node = node->next)
    put_in_table(filter_of(node));
}

CachedFilter *find(const struct varatt_external &pointer) {
  if (cache->table) {
    auto *place = static_cast<Place *>(hash_search(cache->table, &pointer, HASH_FIND, nullptr));
    return place ? place->filter : nullptr;
  }
  dlist_node *end = &cache->recent.head;
  for (dlist_node *node = end->next; node != end; node = node->next)
    if (memcmp(&filter_of(node)->pointer, &pointer, sizeof pointer) == 0)
      return filter_of(node);
  return nullptr;
}

void free_copy(const CachedFilter *filter) {
  cache->bytes -= VARSIZE(filter->value);
  if (filter->chunk)
    pfree(filter->chunk);
  else
    return_buffer();
}

void evict(CachedFilter *filter) {
  cache->bytes -= entry_bytes(filter->header);
  cache->filters--;
  if (filter->value)
    free_copy(filter);
  if (cache->table)
    hash_search(cache->table, &filter->pointer, HASH_REMOVE, nullptr);
  dlist_delete(&filter->recent);
  pfree(filter);
  cache_generation++;
}

// Makes room for as many bytes more, sparing the filter that was used last.
void make_room(Size bytes) {
  const Size limit = get_hash_memory_limit();
  while (cache->bytes + bytes > limit &&
         dlist_has_next(&cache->recent, dlist_head_node(&cache->recent)))
    evict(filter_of(dlist_tail_node(&cache->recent)));
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

void allocate_copy(CachedFilter *filter) {
  const Size size = VARHDRSZ + filter->header.payload_bytes();
  const Size offset = VARHDRSZ + filter->header.head_bytes();
  make_room(size);
  void *chunk = nullptr, *memory = borrow_buffer(size, offset);
  if (!memory)
    memory = allocate_aligned(cache->context, size, offset, &chunk);
  filter->chunk = chunk;
  filter->value = static_cast<struct varlena *>(memory);
  SET_VARSIZE(filter->value, size);
  cache->bytes += size;
}

void keep_copy(CachedFilter *filter, const void *payload) {
  memcpy(VARDATA(filter->value), payload, filter->header.payload_bytes());
  filter->copied = true;
}

// Straight from the chunks in the server's buffers.
void copy_chunks(CachedFilter *filter) {
  const auto length = static_cast<int32>(filter->header.payload_bytes());
  Relation chunks = table_open(filter->pointer.va_toastrelid, AccessShareLock);
  for (int32 done = 0; done < length; done += kCopyStep) {
    CHECK_FOR_INTERRUPTS();
    // A part's bytes belong behind what would be its own length word, which nobody writes.
    char *part = reinterpret_cast<char *>(filter->value) + done;
    table_relation_fetch_toast_slice(chunks, filter->pointer.va_valueid, length, done,
                                     Min(kCopyStep, length - done),
                                     reinterpret_cast<struct varlena *>(part));
  }
  table_close(chunks, AccessShareLock);
  filter->copied = true;
}

void copy_stored(CachedFilter *filter) {
  dlist_move_head(&cache->recent, &filter->recent);
  if (!filter->value) // else an earlier attempt was interrupted
    allocate_copy(filter);
  if (!is_compressed(filter)) {
    copy_chunks(filter);
    return;
  }
  CHECK_FOR_INTERRUPTS();
  struct varlena *whole = ToastDatum(filter->pointer).slice(0, filter->header.payload_bytes());
  keep_copy(filter, VARDATA_ANY(whole));
  pfree(whole);
}

CachedFilter *make_entry(const struct varatt_external &pointer, const Header &header,
                         const uint8 *payload) {
  const Size head_bytes = header.head_bytes();
  make_room(entry_bytes(header));
  if (cache->filters == kWalked && !cache->table)
    make_table();
  auto *filter = static_cast<CachedFilter *>(
      MemoryContextAllocZero(cache->context, sizeof(CachedFilter) + head_bytes));
  filter->pointer = pointer;
  filter->header = header;
  filter->head = reinterpret_cast<uint8 *>(filter + 1);
  memcpy(filter->head, payload, head_bytes);
  if (cache->table)
    put_in_table(filter);
  dlist_push_head(&cache->recent, &filter->recent);
  cache->bytes += entry_bytes(header);
  cache->filters++;
  return filter;
}

// Reads the head of a value that the cache does not know, or all of it if it is short, and enters
// it.
CachedFilter *enter(const struct varatt_external &pointer) {
  const Size length = static_cast<Size>(pointer.va_rawsize) - VARHDRSZ;
  const bool at_once = length <= kReadAtOnce;
  struct varlena *start = ToastDatum(pointer).slice(0, at_once ? length : kMaxHeadBytes);
  const auto *payload = reinterpret_cast<const uint8 *>(VARDATA_ANY(start));
  Header header;
  const Finding finding = parse(payload, length, &header);
  if (!finding.ok())
    raise_damaged(finding, stated_kind(payload, VARSIZE_ANY_EXHDR(start)));
  CachedFilter *filter = make_entry(pointer, header, payload);
  filter->paid = kSliceCost; // for this one
  if (at_once) {
    allocate_copy(filter);
    keep_copy(filter, payload);
  }
  pfree(start);
  return filter;
}

CachedFilter *find_or_enter(const struct varatt_external &pointer) {
  current_cache();
  CachedFilter *filter = find(pointer);
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
  if (length == 0 || length != memory->length ||
      memcmp(memory->header, VARDATA(value), kHeaderBytes) != 0) {
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

bool AskedFilter::in_memory(uint64 slices) {
  if (payload)
    return true;
  if (!cached->copied &&
      (cached->paid + slices * kSliceCost >= header.payload_bytes() || is_compressed(cached)))
    copy_stored(cached);
  if (cached->copied)
    set_payload(cached->payload());
  return payload != nullptr;
}

void AskedFilter::expect(int count) {
  (void)in_memory(static_cast<uint64>(count) * header.links());
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
  expect(count);
  while (count > 0 && !payload) {
    *answers++ = contains(*hashes++);
    count--;
  }
  if (bitmap && kind_of(header.geometry.layout) == Kind::bloom) {
    kernel->contains_many(header.geometry, bitmap, hashes, static_cast<Size>(count), answers);
    return;
  }
  if (bitmap || count == 0) {
    for (int i = 0; i < count; i++)
      answers[i] = contains(hashes[i]);
    return;
  }
  bool found[kAskedAtOnce];
  memset(answers, 0, count);
  for_each_link(payload, header, [&](const Link &link, Size offset) {
    kernel->contains_many(link.geometry, payload + offset, hashes, static_cast<Size>(count), found);
    for (int i = 0; i < count; i++)
      answers[i] |= found[i];
  });
}

} // namespace bloomfilter
