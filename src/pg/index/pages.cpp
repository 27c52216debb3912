// See pages.hpp.

#include "pg/index/pages.hpp"

extern "C" {
#include "access/xloginsert.h"
#include "storage/lmgr.h"
}

namespace bloomfilter {
namespace {

constexpr BlockNumber kFirstList = 1, kFirstDirectory = 2, kFirstFree = 3;

const char *noun_of_page(PageKind kind) {
  constexpr const char *kNouns[] = {"", "a meta page", "a page of the list",
                                    "a page of the directory", "a page of lines"};
  return kNouns[static_cast<int>(kind)];
}

void fill_page(Page page, PageKind kind) {
  initialize_page(page, kind);
  if (kind == PageKind::meta) {
    auto *meta = changed_content<IndexMeta>(page);
    meta->blocks = kFirstFree;
    meta->list = meta->append = kFirstList;
    meta->directory = meta->fill = kFirstDirectory;
    meta->making = kNoBlock;
    meta->check = check_of(*meta);
    set_used(page, sizeof(IndexMeta));
  }
}

} // namespace

void raise_index_damaged(Relation index, BlockNumber block, const char *what) {
  ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED),
                  errmsg("index \"%s\" is damaged: block %u %s", RelationGetRelationName(index),
                         block, what),
                  errhint("Rebuild the index from the table with REINDEX.")));
}

Buffer lock_page(Relation index, BlockNumber block, PageKind kind, BufferLockMode mode) {
  if (block >= RelationGetNumberOfBlocks(index))
    raise_index_damaged(index, block, "does not exist");
  const Buffer buffer = ReadBuffer(index, block);
  LockBuffer(buffer, mode);
  if (!is_index_page(bytes_of(buffer), kind))
    raise_index_damaged(index, block, psprintf("is not %s", noun_of_page(kind)));
  return buffer;
}

Buffer lock_chained_page(Relation index, BlockNumber block, PageKind kind, uint32 place,
                         BufferLockMode mode) {
  const Buffer buffer = lock_page(index, block, kind, mode);
  if (head_of(bytes_of(buffer))->place != place)
    raise_index_damaged(index, block, "is not in its place in a chain of pages");
  return buffer;
}

Buffer lock_new_page(Relation index, BlockNumber block) {
  if (block >= RelationGetNumberOfBlocks(index)) {
    if (!RELATION_IS_LOCAL(index))
      LockRelationForExtension(index, ExclusiveLock);
    while (block >= RelationGetNumberOfBlocks(index))
      ReleaseBuffer(ReadBuffer(index, P_NEW));
    if (!RELATION_IS_LOCAL(index))
      UnlockRelationForExtension(index, ExclusiveLock);
  }
  return ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_ZERO_AND_LOCK, nullptr);
}

void initialize_page(Page page, PageKind kind) {
  PageInit(page, BLCKSZ, 0);
  IndexPageHead *head = changed_head(page);
  head->magic = kIndexMagic;
  head->version = kIndexVersion;
  head->kind = kind;
  head->next = kNoBlock;
  set_used(page, kind == PageKind::list ? 0 : kContentBytes);
}

Buffer append_page(Relation index, Buffer last, PageKind kind) {
  const Buffer meta = lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_EXCLUSIVE);
  const BlockNumber block = content_of<IndexMeta>(bytes_of(meta))->blocks;
  const Buffer fresh = lock_new_page(index, block);
  GenericXLogState *record = GenericXLogStart(index);
  changed_head(GenericXLogRegisterBuffer(record, last, 0))->next = block;
  change_meta_in(record, meta, [](IndexMeta *changed) { changed->blocks++; });
  Page page = GenericXLogRegisterBuffer(record, fresh, GENERIC_XLOG_FULL_IMAGE);
  initialize_page(page, kind);
  changed_head(page)->place = head_of(bytes_of(last))->place + 1;
  GenericXLogFinish(record);
  UnlockReleaseBuffer(meta);
  UnlockReleaseBuffer(last);
  return fresh;
}

void set_used(Page page, Size bytes) {
  reinterpret_cast<PageHeader>(page)->pd_lower = static_cast<LocationIndex>(kContentAt + bytes);
}

IndexMeta read_meta(Relation index) {
  const Buffer buffer = lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_SHARE);
  const IndexMeta meta = *content_of<IndexMeta>(bytes_of(buffer));
  UnlockReleaseBuffer(buffer);
  return meta;
}

// Logs whole pages itself instead of using generic WAL. Generic WAL logs nothing for an unlogged
// index, but the initial fork of such an index must be logged.
void make_empty_index(Relation index, ForkNumber fork) {
  constexpr PageKind kPages[] = {PageKind::meta, PageKind::list, PageKind::directory};
  for (const PageKind kind : kPages) {
    const Buffer buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, nullptr);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    START_CRIT_SECTION();
    fill_page(BufferGetPage(buffer), kind);
    MarkBufferDirty(buffer);
    if (fork == INIT_FORKNUM || RelationNeedsWAL(index))
      log_newpage_buffer(buffer, true);
    END_CRIT_SECTION();
    UnlockReleaseBuffer(buffer);
  }
}

namespace {

// The mover's lock is a tuple lock on the meta page's first tuple, which does not exist. It is not
// a page lock, because the deadlock detector of servers up to 15.3 ignores page locks.
//
// The lock excludes other sessions. It does not exclude processes of the same lock group: the
// leader of a parallel operation and its workers. Only VACUUM takes it in such processes. VACUUM
// gives an index to one process at a time, and its leader waits for the workers before it goes on.
ItemPointerData movers_tag() {
  ItemPointerData tag;
  ItemPointerSet(&tag, kMetaBlock, FirstOffsetNumber);
  return tag;
}

} // namespace

void lock_moves(Relation index) {
  ItemPointerData tag = movers_tag();
  LockTuple(index, &tag, ExclusiveLock);
}

bool try_lock_moves(Relation index) {
  ItemPointerData tag = movers_tag();
  return ConditionalLockTuple(index, &tag, ExclusiveLock, false);
}

void unlock_moves(Relation index) {
  ItemPointerData tag = movers_tag();
  UnlockTuple(index, &tag, ExclusiveLock);
}

} // namespace bloomfilter
