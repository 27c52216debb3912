// Appends entries to the list, looks them up and removes them. See list.hpp.

#include "pg/index/list.hpp"

#include <algorithm>

#include "pg/index/access_method.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/detoast.h"
}

namespace bloomfilter {

ListEntry entry_for(const ItemPointerData &tid, Datum filter) {
  auto *value = reinterpret_cast<struct varlena *>(DatumGetPointer(filter));
  struct varlena *head = PG_DETOAST_DATUM_SLICE(filter, 0, kMaxHeadBytes);
  const Size length = toast_raw_datum_size(PointerGetDatum(value)) - VARHDRSZ;
  ListEntry entry = {row_at(tid), 0, 0};
  Header header;
  GroupKey key;
  if (parse(reinterpret_cast<const uint8 *>(VARDATA_ANY(head)), length, &header).ok() &&
      key_of(header, &key)) {
    entry.least = static_cast<uint16>(least_columns(key));
    entry.key_hash = key_hash(key);
  }
  if (head != value)
    pfree(head);
  return entry;
}

namespace {

// Appends a page to the list and returns its block. `last` is the last page, locked; this function
// releases it.
BlockNumber extend_list(Relation index, Buffer last) {
  const Buffer meta = lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_EXCLUSIVE);
  const BlockNumber block = content_of<IndexMeta>(bytes_of(meta))->blocks;
  const Buffer fresh = lock_new_page(index, block);
  GenericXLogState *record = GenericXLogStart(index);
  Page last_page = GenericXLogRegisterBuffer(record, last, 0);
  change_meta_in(record, meta, [](IndexMeta *changed) { changed->blocks++; });
  Page page = GenericXLogRegisterBuffer(record, fresh, GENERIC_XLOG_FULL_IMAGE);
  initialize_page(page, PageKind::list);
  changed_head(page)->place = changed_head(last_page)->place + 1;
  changed_head(last_page)->next = block;
  GenericXLogFinish(record);
  UnlockReleaseBuffer(fresh);
  UnlockReleaseBuffer(meta);
  UnlockReleaseBuffer(last);
  return block;
}

uint64 length_up_to(const IndexPageHead *head) {
  return uint64{head->place} * kListEntries + head->count;
}

} // namespace

uint64 append_entry(Relation index, const ListEntry &entry) {
  const BlockNumber first = read_meta(index).append;
  BlockNumber block = first;
  Buffer buffer = lock_page(index, block, PageKind::list, BUFFER_LOCK_EXCLUSIVE);
  while (head_of(bytes_of(buffer))->count == kListEntries) {
    const IndexPageHead head = *head_of(bytes_of(buffer));
    if (head.next == kNoBlock) {
      block = extend_list(index, buffer);
    } else {
      block = head.next;
      UnlockReleaseBuffer(buffer);
    }
    buffer = lock_chained_page(index, block, PageKind::list, head.place + 1, BUFFER_LOCK_EXCLUSIVE);
  }
  GenericXLogState *record = GenericXLogStart(index);
  Page page = GenericXLogRegisterBuffer(record, buffer, 0);
  IndexPageHead *head = changed_head(page);
  changed_content<ListEntry>(page)[head->count++] = entry;
  set_used(page, head->count * sizeof(ListEntry));
  GenericXLogFinish(record);
  const uint64 length = length_up_to(head_of(bytes_of(buffer)));
  UnlockReleaseBuffer(buffer);
  if (block != first)
    change_meta(index, [=](IndexMeta *meta) { meta->append = block; });
  return length;
}

bool is_full(Relation index, uint64 length) {
  return length >= read_meta(index).settled + static_cast<uint64>(list_limit(index));
}

GrowingArray<ListEntry> groupable_entries(Relation index) {
  GrowingArray<ListEntry> listed = {};
  for_each_page(index, read_meta(index).list, PageKind::list, [&](BlockNumber, const uint8 *page) {
    for (int i = 0; i < head_of(page)->count; i++)
      if (content_of<ListEntry>(page)[i].key_hash != 0)
        listed.add(content_of<ListEntry>(page)[i]);
  });
  return listed;
}

void remove_moved(Relation index, const IndexedRow *rows, int count) {
  remove_entries(index, [=](const ListEntry &entry) {
    return std::binary_search(rows, rows + count, entry.row, is_before);
  });
}

void settle_list(Relation index) {
  const BlockNumber first = read_meta(index).list;
  BlockNumber append = kNoBlock;
  uint64 listed = 0, length = 0;
  for_each_page(index, first, PageKind::list, [&](BlockNumber block, const uint8 *page) {
    const IndexPageHead *head = head_of(page);
    listed += head->count;
    if (append == kNoBlock && (head->count < kListEntries || head->next == kNoBlock)) {
      append = block;
      length = length_up_to(head);
    }
  });
  change_meta(index, [=](IndexMeta *meta) {
    meta->append = append;
    meta->listed = static_cast<uint32>(Min(listed, PG_UINT32_MAX));
    meta->settled = length;
  });
}

} // namespace bloomfilter
