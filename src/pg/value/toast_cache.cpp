// See toast_cache.hpp. The cache is one list of filters in the order of their last use. If it has
// more than a few filters, it also has a hash table by TOAST pointer.
//
// Altering any table ends the whole cache, although it can only affect entries whose values that
// table stores.

#include "pg/value/toast_cache.hpp"

#include "pg/errors.hpp"
#include "pg/list.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "lib/ilist.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
}

namespace bloomfilter {

uint64 cache_generation = 1;

namespace {

// Reading a slice takes about as long as detoasting this many bytes. script/bench measures both.
constexpr Size kSliceCost = 8192;
// A value of at most this many bytes is read as a whole, because its head and one slice would cost
// as much.
constexpr Size kReadAtOnce = 2 * kSliceCost;
// The bytes that are copied between two checks for interrupts. They are whole TOAST chunks.
constexpr int32 kCopyStep = 512 * TOAST_MAX_CHUNK_SIZE;
// With at most this many filters, the cache has no hash table and finds a filter by walking the
// list. For a single filter, making a table would take longer than it saves.
constexpr int kWalked = 8;

// A filter in the cache. The payload's head follows the entry in memory.
struct CacheEntry {
  CachedFilter filter;            // first, so that its address is the entry's
  struct varatt_external pointer; // the key
  dlist_node recent;
  Size paid; // the bytes that could have been detoasted at the cost of all slices so far
  struct varlena *value; // the copy, which may be incomplete; NULL: no copy was begun
  void *chunk;           // the memory of the copy; NULL if it is in the session's buffer
};

CacheEntry *entry_of(CachedFilter *filter) {
  return reinterpret_cast<CacheEntry *>(filter);
}

// The approximate memory of an entry without its copy.
Size entry_bytes(const Header &header) {
  return 256 + header.head_bytes();
}

// The cache. It lives as long as its memory context, which is a child of the transaction's. A cache
// that has ended stays in memory until the next filter is looked up, because a probe may still be
// using it.
struct Cache {
  MemoryContext context;
  HTAB *table;       // NULL while there are few filters
  dlist_head recent; // the entry that was used last comes first
  Size bytes;
  MemoryContextCallback reset;
  int filters;
  bool ended;
};
Cache *cache = nullptr;

// An entry of the hash table.
struct TableEntry {
  struct varatt_external pointer; // the key
  CacheEntry *entry;
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

// Called when a portal (a statement or a cursor) or a subtransaction ends.
void at_release(ResourceReleasePhase, bool is_commit, bool, void *) {
  if (cache && !(is_commit && HaveRegisteredOrActiveSnapshot()))
    end_cache();
}

// Called when this process or another one has altered a table.
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
  auto *created = make_zeroed<Cache>(context);
  created->context = context;
  dlist_init(&created->recent);
  created->reset.func = forget_cache;
  MemoryContextRegisterResetCallback(context, &created->reset);
  return cache = created;
}

CacheEntry *entry_at(dlist_node *node) { // the server's macro does not compile in C++
  return reinterpret_cast<CacheEntry *>(reinterpret_cast<char *>(node) -
                                        offsetof(CacheEntry, recent));
}

void put_in_table(CacheEntry *entry) {
  auto *place =
      static_cast<TableEntry *>(hash_search(cache->table, &entry->pointer, HASH_ENTER, nullptr));
  place->entry = entry;
}

void make_table() {
  HASHCTL control = {};
  control.keysize = sizeof(struct varatt_external);
  control.entrysize = sizeof(TableEntry);
  control.hcxt = cache->context;
  cache->table =
      hash_create("bloomfilter cache", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  dlist_node *end = &cache->recent.head;
  for (dlist_node *node = end->next; node != end; node = node->next)
    put_in_table(entry_at(node));
}

CacheEntry *find(const struct varatt_external &pointer) {
  if (cache->table) {
    auto *place =
        static_cast<TableEntry *>(hash_search(cache->table, &pointer, HASH_FIND, nullptr));
    return place ? place->entry : nullptr;
  }
  dlist_node *end = &cache->recent.head;
  for (dlist_node *node = end->next; node != end; node = node->next)
    if (memcmp(&entry_at(node)->pointer, &pointer, sizeof pointer) == 0)
      return entry_at(node);
  return nullptr;
}

void free_copy(const CacheEntry *entry) {
  cache->bytes -= VARSIZE(entry->value);
  if (entry->chunk)
    pfree(entry->chunk);
  else
    return_buffer();
}

void evict(CacheEntry *entry) {
  cache->bytes -= entry_bytes(entry->filter.header);
  cache->filters--;
  if (entry->value)
    free_copy(entry);
  if (cache->table)
    hash_search(cache->table, &entry->pointer, HASH_REMOVE, nullptr);
  dlist_delete(&entry->recent);
  pfree(entry);
  cache_generation++;
}

// Evicts filters until `bytes` more bytes fit. The filter that was used last is never evicted.
void make_room(Size bytes) {
  const Size limit = get_hash_memory_limit();
  while (cache->bytes + bytes > limit &&
         dlist_has_next(&cache->recent, dlist_head_node(&cache->recent)))
    evict(entry_at(dlist_tail_node(&cache->recent)));
}

// A TOAST pointer as a datum.
struct ToastDatum {
  alignas(8) char bytes[VARHDRSZ_EXTERNAL + sizeof(struct varatt_external)];

  explicit ToastDatum(const struct varatt_external &pointer) {
    SET_VARTAG_EXTERNAL(bytes, VARTAG_ONDISK);
    memcpy(VARDATA_EXTERNAL(bytes), &pointer, sizeof pointer);
  }
  // Reads a part of the payload, into the current memory context.
  struct varlena *slice(Size offset, Size length) {
    return detoast_attr_slice(reinterpret_cast<struct varlena *>(bytes), static_cast<int32>(offset),
                              static_cast<int32>(length));
  }
};

// True if the stored value is compressed. The types store their values uncompressed, but a user can
// change a column's storage.
bool is_compressed(const CacheEntry *entry) {
  return VARATT_EXTERNAL_GET_EXTSIZE(entry->pointer) < entry->filter.header.payload_bytes();
}

void allocate_copy(CacheEntry *entry) {
  const Size size = VARHDRSZ + entry->filter.header.payload_bytes();
  const Size offset = VARHDRSZ + entry->filter.header.head_bytes();
  make_room(size);
  void *chunk = nullptr, *memory = borrow_buffer(size, offset);
  if (!memory)
    memory = allocate_aligned(cache->context, size, offset, &chunk);
  entry->chunk = chunk;
  entry->value = static_cast<struct varlena *>(memory);
  SET_VARSIZE(entry->value, size);
  cache->bytes += size;
}

// Marks the copy as complete. From now on, probes use it.
void complete_copy(CacheEntry *entry) {
  entry->filter.payload = reinterpret_cast<const uint8 *>(VARDATA(entry->value));
}

void fill_copy(CacheEntry *entry, const void *payload) {
  memcpy(VARDATA(entry->value), payload, entry->filter.header.payload_bytes());
  complete_copy(entry);
}

// Copies the chunks straight from the server's shared buffers.
void copy_chunks(CacheEntry *entry) {
  const auto length = static_cast<int32>(entry->filter.header.payload_bytes());
  Relation chunks = table_open(entry->pointer.va_toastrelid, AccessShareLock);
  for (int32 done = 0; done < length; done += kCopyStep) {
    CHECK_FOR_INTERRUPTS();
    // The server treats each part as a value: it writes the bytes after a length word, and does not
    // change the length word.
    char *part = reinterpret_cast<char *>(entry->value) + done;
    table_relation_fetch_toast_slice(chunks, entry->pointer.va_valueid, length, done,
                                     Min(kCopyStep, length - done),
                                     reinterpret_cast<struct varlena *>(part));
  }
  table_close(chunks, AccessShareLock);
  complete_copy(entry);
}

void copy_stored(CacheEntry *entry) {
  dlist_move_head(&cache->recent, &entry->recent);
  if (!entry->value) // it is set if an earlier attempt was interrupted
    allocate_copy(entry);
  if (!is_compressed(entry)) {
    copy_chunks(entry);
    return;
  }
  CHECK_FOR_INTERRUPTS();
  struct varlena *whole = ToastDatum(entry->pointer).slice(0, entry->filter.header.payload_bytes());
  fill_copy(entry, VARDATA_ANY(whole));
  pfree(whole);
}

CacheEntry *make_entry(const struct varatt_external &pointer, const Header &header,
                       const uint8 *payload) {
  const Size head_bytes = header.head_bytes();
  make_room(entry_bytes(header));
  if (cache->filters == kWalked && !cache->table)
    make_table();
  auto *entry = static_cast<CacheEntry *>(
      MemoryContextAllocZero(cache->context, sizeof(CacheEntry) + head_bytes));
  auto *head = reinterpret_cast<uint8 *>(entry + 1);
  memcpy(head, payload, head_bytes);
  entry->pointer = pointer;
  entry->filter.header = header;
  entry->filter.head = head;
  if (cache->table)
    put_in_table(entry);
  dlist_push_head(&cache->recent, &entry->recent);
  cache->bytes += entry_bytes(header);
  cache->filters++;
  return entry;
}

// Adds a value to the cache. Reads its head, or all of it if it is short.
CacheEntry *enter(const struct varatt_external &pointer) {
  const Size length = static_cast<Size>(pointer.va_rawsize) - VARHDRSZ;
  const bool at_once = length <= kReadAtOnce;
  struct varlena *start = ToastDatum(pointer).slice(0, at_once ? length : kMaxHeadBytes);
  const auto *payload = reinterpret_cast<const uint8 *>(VARDATA_ANY(start));
  Header header;
  const Finding finding = parse(payload, length, &header);
  if (!finding.ok())
    raise_damaged(finding, stated_kind(payload, VARSIZE_ANY_EXHDR(start)));
  CacheEntry *entry = make_entry(pointer, header, payload);
  entry->paid = kSliceCost; // for the head
  if (at_once) {
    allocate_copy(entry);
    fill_copy(entry, payload);
  }
  pfree(start);
  return entry;
}

} // namespace

CachedFilter *cached_filter(const struct varatt_external &pointer) {
  current_cache();
  CacheEntry *entry = find(pointer);
  if (!entry)
    return &enter(pointer)->filter;
  dlist_move_head(&cache->recent, &entry->recent);
  return &entry->filter;
}

uint64 generation_to_remember() {
  return cache->ended ? 0 : cache_generation;
}

void copy_if_worthwhile(CachedFilter *filter, uint64 slices) {
  CacheEntry *entry = entry_of(filter);
  if (!filter->payload &&
      (entry->paid + slices * kSliceCost >= filter->header.payload_bytes() || is_compressed(entry)))
    copy_stored(entry);
}

struct varlena *read_slice(CachedFilter *filter, Size offset, Size length) {
  CacheEntry *entry = entry_of(filter);
  entry->paid += kSliceCost;
  return ToastDatum(entry->pointer).slice(offset, length);
}

} // namespace bloomfilter
