// See pages.hpp.

#include "pg/filter_index/pages.hpp"

namespace bloomfilter {
namespace {

constexpr BlockNumber kFirstList = 1, kFirstDirectory = 2, kFirstFree = 3;

void fill_page(Page page, PageKind kind) {
  initialize_page(page, kind);
  if (kind == PageKind::list)
    set_used(page, 0);
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

Buffer lock_page(Relation index, BlockNumber block, PageKind kind, BufferLockMode mode) {
  if (block >= RelationGetNumberOfBlocks(index))
    raise_index_damaged(index, block, "does not exist");
  return lock_right_page(index, block, kind, mode, is_index_page);
}

Buffer lock_chained_page(Relation index, BlockNumber block, PageKind kind, uint32 place,
                         BufferLockMode mode) {
  const Buffer buffer = lock_page(index, block, kind, mode);
  if (head_of(bytes_of(buffer))->place != place)
    raise_index_damaged(index, block, "is not in its place in a chain of pages");
  return buffer;
}

Buffer append_page(Relation index, Buffer last, PageKind kind) {
  const Buffer meta = lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_EXCLUSIVE);
  const BlockNumber block = content_of<IndexMeta>(bytes_of(meta))->blocks;
  const Buffer fresh = lock_new_page(index, block);
  GenericXLogState *record = GenericXLogStart(index);
  changed_head(GenericXLogRegisterBuffer(record, last, 0))->next = block;
  change_content_in<IndexMeta>(record, meta, 0, [](IndexMeta *changed) { changed->blocks++; });
  Page page = GenericXLogRegisterBuffer(record, fresh, GENERIC_XLOG_FULL_IMAGE);
  initialize_page(page, kind);
  if (kind == PageKind::list)
    set_used(page, 0);
  changed_head(page)->place = head_of(bytes_of(last))->place + 1;
  GenericXLogFinish(record);
  UnlockReleaseBuffer(meta);
  UnlockReleaseBuffer(last);
  return fresh;
}

IndexMeta read_meta(Relation index) {
  return copied_content<IndexMeta>(lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_SHARE),
                                   0);
}

void make_empty_index(Relation index, ForkNumber fork) {
  constexpr PageKind kPages[] = {PageKind::meta, PageKind::list, PageKind::directory};
  for (const PageKind kind : kPages)
    append_to_fork(index, fork, [kind](Page page) { fill_page(page, kind); });
}

} // namespace bloomfilter
