// How an index's pages (core/filter_index_pages.hpp) are read, changed, locked and logged in the
// server.
//
// Three rules hold at every moment:
//
// - Each indexed row is in the list, in a group, or in both. A mover first writes a new group and
//   then removes the rows from the list, or frees the old group. A scan reads the list before the
//   directory, so it finds a row that is being moved once or twice. If rows left a group while the
//   scan read the directory, the meta page's generation has changed, and the scan reads the list
//   and the directory again. Then it probes only groups that are newer than its last reading.
// - A row in the list is a candidate: the executor probes its filter in the table (recheck). A row
//   in a group is decided by its column.
// - VACUUM removes a dead tuple's TID from the whole index before the table uses the TID again. So
//   nobody may move rows while VACUUM removes some. Both hold the *mover's lock*, lock_work() of
//   pg/index_page.hpp. Scans and insertions into the list do not need it. An insertion that finds
//   the list full moves rows if the lock is free. If it is not, others move them later.
//
// A row is moved with the filter that the table has under its TID now. The list has no copy of the
// filter, so an insertion logs each filter twice instead of three times. This is safe: all versions
// of a row under one TID (its HOT chain) have the same filter, and a TID gets another row only
// after VACUUM. Only a row that is visible to SnapshotSelf is moved, because its TOAST data still
// exists. (VACUUM is an exception, because its snapshot does not keep dead tuples; see
// table_rows.cpp.) Other rows, such as those of uncommitted transactions, stay in the list.
//
// Every change is one generic WAL record of up to three pages, so recovery and standbys do not need
// the library. A group's lines are written into an extent that is in no slot yet; the meta page
// records the extent (`making`). One WAL record then puts the group into a slot. If the server
// stops before that, or the mover fails, the next mover turns the extent into free space.
//
// Buffers are locked in this order: a page of the list or directory, the next page of its chain,
// the meta page, a new page. A scan copies a page of the directory, and locks one page at a time.
// It may find that a page of lines does not belong to the group of its copied slot. If the slot
// still has the group, the page is damaged. Else the group was freed, and its extent used again.
// Its rows are in a new group, so the scan reads the index again; or VACUUM removed all of them.
//
// The index file never shrinks, and the list never has fewer pages; both reuse their space. A free
// extent that is larger than needed is split, and adjacent free extents are merged. Only REINDEX
// makes the file smaller.
//
// The trade-off: the index has every line of every filter, so it is as large as the filters. A
// query then reads one line of each filter instead of the table: 100 000 filters of 12.8 KB are
// probed in 1.1 ms with 1361 pages, where a scan takes 575 ms with 550 637 (script/bench
// directory).
//
// What is not good about it: it is no search tree. A query reads one page for each group of 127
// filters, and the whole list.
//
// Tests: sql/filter_index.sql, specs/filter_index_sessions.spec, test/t/036_filter_index.pl,
// test/search/filter_index.py.
#pragma once

#include "pg/server.hpp"

#include "core/filter_index_pages.hpp"
#include "pg/index_page.hpp"

extern "C" {
#include "access/htup_details.h"
#include "storage/itemptr.h"
}

namespace bloomfilter {

// Reads and locks a page. Raises XX002 if it is not of the given kind.
Buffer lock_page(Relation index, BlockNumber block, PageKind kind, BufferLockMode mode);
// Also raises XX002 if the page does not have the given place in its chain. So a damaged chain
// cannot make its reader go round in a circle.
Buffer lock_chained_page(Relation index, BlockNumber block, PageKind kind, uint32 place,
                         BufferLockMode mode);

IndexMeta read_meta(Relation index);

// Changes only the meta page, in a WAL record of its own.
template <typename Change> void change_meta(Relation index, Change change) {
  change_content<IndexMeta>(
      index, lock_page(index, kMetaBlock, PageKind::meta, BUFFER_LOCK_EXCLUSIVE), 0, change);
}

// Appends a page to the list or to the directory. `last` is the last page there, locked; this
// function releases it. Returns the new page, locked.
Buffer append_page(Relation index, Buffer last, PageKind kind);

// Writes the first three pages of an index without rows: meta page, list and directory.
void make_empty_index(Relation index, ForkNumber fork);

// Calls use(block, page) with a copy of each page of a chain.
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
// True if the offset is one that a TIDBitmap accepts.
inline bool is_possible(const IndexedRow &row) {
  return row.offset >= FirstOffsetNumber && row.offset <= MaxHeapTuplesPerPage;
}

} // namespace bloomfilter
