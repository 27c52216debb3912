// The pages of an index (core/index_pages.hpp) in the server: how they are read, changed and
// locked.
//
// What must hold, whatever happens in between:
//
// - Each row that is in the index is in the list or in a group at every moment; it may be in both.
//   Whoever moves rows writes the group first and then takes them from the list, or writes the new
//   group and then frees the old one. A scan reads the list before the directory, so it meets a row
//   that is being moved once or twice. If rows left a group while it read the directory (the meta
//   page's generation tells), it reads all once more.
// - A row in the list is a candidate: its filter is asked in the table. A row in a group has the
//   answer of its column.
// - A row that vacuum took out is nowhere, before the table uses its TID again. So nobody moves
//   rows while vacuum takes them out: both hold the *mover's lock*, a heavyweight lock (pages.cpp).
//   Insertions into the list, and scans, do without it. An insertion that finds the list full moves
//   its rows if the lock is free, and leaves that to others if not.
//
// Rows are moved with the filter that the table has under their TID now. The list has no copy of
// it, so an insertion logs each filter twice and not three times. All versions of a row under one
// TID (its HOT chain) have the same filter, and a TID gets another row only after vacuum. Only a
// row that is visible now, to SnapshotSelf, is moved, for what it has in TOAST is there as well.
// (Even so it can vanish during VACUUM, whose snapshot holds nothing back; table_rows.cpp.) Others,
// such as those of transactions that have not committed, stay in the list.
//
// Every change is one generic WAL record of up to four pages, so that recovery and standbys need no
// library. A group's lines are written into an extent that no slot has yet; the meta page remembers
// it (`making`). One record then puts the group into a slot. If the server stops in between, or the
// mover fails, the next mover makes a slot of free space of the extent.
//
// Locks of buffers are taken in this order: a page of the list or directory, the page behind it,
// the meta page, a new page. A scan copies a page of the directory and locks one page at a time. If
// a page of lines is not the one that the copied slot means, the group was freed and its extent
// used again: then its rows are in a new group, so that the scan reads all once more, or vacuum
// took all of them out. If the slot is still there, the page is damaged.
//
// The list never gets shorter by a page, and the index by none; both reuse their space. An extent
// that is larger than needed is split, and free ones side by side are united. REINDEX makes all
// anew.
#ifndef BLOOMFILTER_PG_INDEX_PAGES_HPP
#define BLOOMFILTER_PG_INDEX_PAGES_HPP

#include "pg/server.hpp"

#include "pg/compat.hpp"

#include "core/index_pages.hpp"

extern "C" {
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "utils/rel.h"
}

namespace bloomfilter {

constexpr BlockNumber kMetaBlock = 0;

inline const uint8 *bytes_of(Buffer buffer) {
  return reinterpret_cast<const uint8 *>(BufferGetPage(buffer));
}
template <typename Content> Content *changed_content(Page page) {
  return reinterpret_cast<Content *>(reinterpret_cast<uint8 *>(page) + kContentAt);
}
inline IndexPageHead *changed_head(Page page) {
  return reinterpret_cast<IndexPageHead *>(reinterpret_cast<uint8 *>(page) + kServerHeadBytes);
}

// XX002: a page is not what it should be.
[[noreturn]] void raise_index_damaged(Relation index, BlockNumber block, const char *what);

// A page of that kind, locked; XX002 if it is none.
Buffer lock_page(Relation index, BlockNumber block, PageKind kind, BufferLockMode mode);
// Also XX002 unless the page has that place in its chain, so that none is followed in a circle.
Buffer lock_chained_page(Relation index, BlockNumber block, PageKind kind, uint32 place,
                         BufferLockMode mode);

// The page of a block that belongs to nobody, locked exclusively. It is to be registered with
// GENERIC_XLOG_FULL_IMAGE and initialized.
Buffer lock_new_page(Relation index, BlockNumber block);
void initialize_page(Page page, PageKind kind);
// Says how much of a page's content is used; what is behind it is not logged.
void set_used(Page page, Size bytes);

IndexMeta read_meta(Relation index);

// Changes the meta page in a record. It is locked.
template <typename Change>
void change_meta_in(GenericXLogState *record, Buffer buffer, Change change) {
  auto *meta = changed_content<IndexMeta>(GenericXLogRegisterBuffer(record, buffer, 0));
  change(meta);
  meta->check = check_of(*meta);
}

// Changes the meta page alone, in a record of its own.
template <typename Change> void change_meta(Relation index, Change change) {
  const Buffer buffer = lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_EXCLUSIVE);
  GenericXLogState *record = GenericXLogStart(index);
  change_meta_in(record, buffer, change);
  GenericXLogFinish(record);
  UnlockReleaseBuffer(buffer);
}

// Writes the pages of an index without rows, the first of its blocks.
void make_empty_index(Relation index, ForkNumber fork);

// The mover's lock.
void lock_moves(Relation index);
bool try_lock_moves(Relation index);
void unlock_moves(Relation index);

// Calls use(page) with a copy of each page of a chain.
template <typename Use>
void for_each_page(Relation index, BlockNumber first, PageKind kind, Use use) {
  alignas(MAXIMUM_ALIGNOF) uint8 copy[kIndexPageBytes];
  uint32 place = 0;
  for (BlockNumber block = first; block != kNoBlock;) {
    CHECK_FOR_INTERRUPTS();
    const Buffer buffer = lock_chained_page(index, block, kind, place++, BUFFER_LOCK_SHARE);
    memcpy(copy, bytes_of(buffer), kIndexPageBytes);
    UnlockReleaseBuffer(buffer);
    use(block, static_cast<const uint8 *>(copy));
    block = head_of(copy)->next;
  }
}

inline IndexedRow row_at(const ItemPointerData &tid) {
  return {tid.ip_blkid.bi_hi, tid.ip_blkid.bi_lo, tid.ip_posid};
}
inline ItemPointerData tid_of(const IndexedRow &row) {
  return {{row.block_high, row.block_low}, row.offset};
}
// Can a table have a row there? As in a TIDBitmap.
inline bool is_possible(const IndexedRow &row) {
  return row.offset >= FirstOffsetNumber && row.offset <= MaxHeapTuplesPerPage;
}

} // namespace bloomfilter

#endif
