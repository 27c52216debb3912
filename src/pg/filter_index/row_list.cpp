// See row_list.hpp.

#include "pg/filter_index/row_list.hpp"

#include <algorithm>

#include "pg/filter_index/access_method.hpp"
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

uint64 length_up_to(const IndexPageHead *head) {
  return uint64{head->place} * kListEntries + head->count;
}

} // namespace

uint64 append_entry(Relation index, const ListEntry &entry) {
  const BlockNumber first = read_meta(index).append;
  Buffer buffer = lock_page(index, first, PageKind::list, BUFFER_LOCK_EXCLUSIVE);
  while (head_of(bytes_of(buffer))->count == kListEntries) {
    const IndexPageHead head = *head_of(bytes_of(buffer));
    if (head.next == kNoBlock) {
      buffer = append_page(index, buffer, PageKind::list);
    } else {
      UnlockReleaseBuffer(buffer);
      CHECK_FOR_INTERRUPTS();
      buffer = lock_chained_page(index, head.next, PageKind::list, head.place + 1,
                                 BUFFER_LOCK_EXCLUSIVE);
    }
  }
  const BlockNumber block = BufferGetBlockNumber(buffer);
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
  return length >= read_meta(index).recounted + static_cast<uint64>(list_limit(index));
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

void recount_list(Relation index) {
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
    meta->recounted = length;
  });
}

} // namespace bloomfilter
