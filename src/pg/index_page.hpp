// How the pages of our indexes are read, locked and initialized, and the lock that excludes others
// from rearranging an index. What both access methods need: pg/filter_index/ and pg/bloompages/.
#pragma once

#include "pg/server.hpp"

#include "pg/compat.hpp"

#include "core/page_head.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/amapi.h"
#include "access/generic_xlog.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
}

namespace bloomfilter {

constexpr BlockNumber kMetaBlock = 0;

// The place of a slot: its page of the directory, and its number on that page.
struct SlotPlace {
  BlockNumber block;
  uint32 number;
};

inline const uint8 *bytes_of(Buffer buffer) {
  return reinterpret_cast<const uint8 *>(BufferGetPage(buffer));
}
template <typename Content> Content *changed_content(Page page) {
  return reinterpret_cast<Content *>(reinterpret_cast<uint8 *>(page) + kContentAt);
}
inline IndexPageHead *changed_head(Page page) {
  return reinterpret_cast<IndexPageHead *>(reinterpret_cast<uint8 *>(page) + kServerHeadBytes);
}

// The content of a page is one structure, or several of one type. Returns a copy of one, and
// releases the page, which the caller has locked.
template <typename Content> Content copied_content(Buffer buffer, uint32 number) {
  const Content content = content_of<Content>(bytes_of(buffer))[number];
  UnlockReleaseBuffer(buffer);
  return content;
}
// Changes one that has a checksum, within a WAL record: change(&content). The page stays locked.
template <typename Content, typename Change>
void change_content_in(GenericXLogState *record, Buffer buffer, uint32 number, Change change) {
  Content *content =
      changed_content<Content>(GenericXLogRegisterBuffer(record, buffer, 0)) + number;
  change(content);
  content->check = check_of(*content);
}
// Changes one in a WAL record of its own, and releases the page.
template <typename Content, typename Change>
void change_content(Relation index, Buffer buffer, uint32 number, Change change) {
  GenericXLogState *record = GenericXLogStart(index);
  change_content_in<Content>(record, buffer, number, change);
  GenericXLogFinish(record);
  UnlockReleaseBuffer(buffer);
}

// Raises XX002: a page is not what it should be.
[[noreturn]] void raise_index_damaged(Relation index, BlockNumber block, const char *what);

// Reads and locks a page. Raises XX002 if is_right(page, kind) is false. The block must exist. (To
// ask the file system whether it does takes longer than all the rest of the function.)
using IsRight = bool(const uint8 *page, PageKind kind);
Buffer lock_right_page(Relation index, BlockNumber block, PageKind kind, BufferLockMode mode,
                       IsRight *is_right);

// Locks the page of an unused block exclusively, and extends the file if needed. The caller must
// register the page with GENERIC_XLOG_FULL_IMAGE and initialize it.
Buffer lock_new_page(Relation index, BlockNumber block);
// Makes an empty page. All of its content counts as used.
void initialize_page(Page page, PageKind kind);
// Sets how many bytes of a page's content are used. WAL does not log the bytes after them.
void set_used(Page page, Size bytes);

// Appends a page to a fork of an index that nobody else can see yet. fill(page) must initialize the
// page. The whole page is logged. (Generic WAL would log nothing for an unlogged index, but its
// initial fork must be logged.)
template <typename Fill> void append_to_fork(Relation index, ForkNumber fork, Fill fill) {
  const Buffer buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, nullptr);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  START_CRIT_SECTION();
  fill(BufferGetPage(buffer));
  MarkBufferDirty(buffer);
  if (fork == INIT_FORKNUM || RelationNeedsWAL(index))
    log_newpage_buffer(buffer, true);
  END_CRIT_SECTION();
  UnlockReleaseBuffer(buffer);
}

// Raises 0A000 if the server's pages are too small for an index of this access method.
void check_page_size(const char *access_method);

// The result of VACUUM for an index: the one that an earlier step has made, or a new one.
inline IndexBulkDeleteResult *started(IndexBulkDeleteResult *result) {
  return result ? result : make_zeroed<IndexBulkDeleteResult>();
}

// Counts a search of an index, for statistics and EXPLAIN ANALYZE.
inline void count_search(IndexScanDesc scan) {
  pgstat_count_index_scan(scan->indexRelation);
#if PG_VERSION_NUM >= 180000
  if (scan->instrument)
    scan->instrument->nsearches++;
#endif
}

// Raises an error (72000) if rows that the snapshot still sees may have been removed before the
// page was last changed. This can happen with old_snapshot_threshold, which servers before 17 have.
void check_snapshot(IndexScanDesc scan, const uint8 *page);

// Calls `use` with `state` for each row of a table that a snapshot sees, with the values that the
// index has for it.
void read_seen_rows(Relation table, Relation index, Snapshot snapshot, IndexBuildCallback use,
                    void *state);

// A heavyweight lock on an index. Only its holder moves rows among pages (pg/filter_index/), or
// gives ranges their filters (pg/bloompages/).
//
// It excludes other sessions. If this session has it already, try_lock_work() returns false,
// because a function that hashes a value may insert rows into the same table; lock_work() raises
// 55006. The lock does not exclude processes of the same lock group: the leader of a parallel
// operation and its workers.
void lock_work(Relation index);
bool try_lock_work(Relation index);
void unlock_work(Relation index);

// --- the rights of the owner ---------------------------------------------------------------------
//
// Calls functions of an index with the rights of the table's owner, as VACUUM and REINDEX do.
//
// Whoever reads rows that others have inserted calls the index's functions for them. With the
// caller's rights, a function of the owner could act as a superuser who calls us. With the caller's
// search_path, a caller who may only insert could put a function of his own in place of one that
// the index's function calls. It would see the rows, and could hide them from the index.

// What the caller had. An error restores it, too.
struct CallerRights {
  Oid user;
  int context;    // the security context
  int nest_level; // of the settings
};

// From now on, functions run as the table's owner, in a security-restricted operation, with a
// search_path that no user can write to. This does not undo what the session keeps from before:
// expressions of the relation cache, into which functions in SQL were inlined (stored_tree), and
// functions of other languages, which were compiled with the caller's search_path.
CallerRights act_as_owner(Relation table);
void act_as_caller(const CallerRights &rights);

// True if functions of an index may act as the table's owner in a session of the current user: if
// the user has the owner's rights, or if all of the functions are in C.
bool may_act_as_owner(Relation table, Relation index);

// The expressions of an index, or the conditions of its WHERE clause, as they are in the catalog:
// `attribute` is Anum_pg_index_indexprs or Anum_pg_index_indpred. NULL if there are none.
Node *stored_tree(Relation index, AttrNumber attribute);

} // namespace bloomfilter
