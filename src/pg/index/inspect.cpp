// What an operator asks of an index: what is in it, whether it is sound, and to tidy it now.

#include "pg/server.hpp"

#include <algorithm>

#include "pg/index/access_method.hpp"
#include "pg/index/groups.hpp"
#include "pg/index/list.hpp"
#include "pg/index/move.hpp"
#include "pg/value/row.hpp"

extern "C" {
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
}

using namespace bloomfilter;

namespace {

void check_owner(Oid index) {
#if PG_VERSION_NUM >= 160000
  const bool owns = object_ownercheck(RelationRelationId, index, GetUserId());
#else
  const bool owns = pg_class_ownercheck(index, GetUserId());
#endif
  if (!owns)
    aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, get_rel_name(index));
}

// An index of this access method and its table. Expressions of the index are evaluated as the
// table's owner, who could otherwise have a superuser call any function.
struct OpenIndex {
  Relation table, index;
  Oid user;       // who called
  int context;    // in which security context
  int nest_level; // of settings
};

OpenIndex open_index(Oid oid, LOCKMODE mode) {
  // The table is locked first, as everywhere.
  const Oid table =
      get_rel_relkind(oid) == RELKIND_INDEX ? IndexGetRelation(oid, true) : InvalidOid;
  OpenIndex open = {};
  GetUserIdAndSecContext(&open.user, &open.context);
  open.nest_level = NewGUCNestLevel();
  if (OidIsValid(table)) {
    check_owner(oid);
    open.table = table_open(table, mode);
    SetUserIdAndSecContext(open.table->rd_rel->relowner,
                           open.context | SECURITY_RESTRICTED_OPERATION);
#if PG_VERSION_NUM >= 170000
    RestrictSearchPath();
#endif
  }
  open.index = relation_open(oid, mode);
  if (!open.table || open.index->rd_indam->ambuild != build_index)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("\"%s\" is not an index of access method \"%s\"",
                           RelationGetRelationName(open.index), "bloomfilter")));
  if (RELATION_IS_OTHER_TEMP(open.index))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot access temporary indexes of other sessions")));
  return open;
}

void close_index(const OpenIndex &open, LOCKMODE mode) {
  relation_close(open.index, mode);
  table_close(open.table, mode);
  AtEOXact_GUC(false, open.nest_level);
  SetUserIdAndSecContext(open.user, open.context);
}

void check_not_in_recovery() {
  if (RecoveryInProgress())
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("recovery is in progress"),
             errhint("Call this function on the primary server.")));
}

// --- bf_index_check ----------------------------------------------------------------------------

// An extent of the index that belongs to something.
struct Extent {
  BlockNumber start, pages;
};

// Where a row is in the index.
struct Indexed {
  IndexedRow row;
  uint8 column;
  bool listed;
  SlotPlace place; // unless it is listed
  uint64 key_hash; // if it is
};

// Both grow; all memory is that of the call.
template <typename Item> struct Growing {
  Item *items;
  int64 count, room;

  void add(const Item &item) {
    if (count == room) {
      room = Max(2 * room, 1024);
      const Size bytes = static_cast<Size>(room) * sizeof(Item);
      items = static_cast<Item *>(items ? repalloc_huge(items, bytes)
                                        : MemoryContextAllocHuge(CurrentMemoryContext, bytes));
    }
    items[count++] = item;
  }
};

struct Check {
  Relation index;
  Growing<Extent> extents;
  Growing<Indexed> rows; // in order, once all are there
  MemoryContext scratch;
};

bool comes_before(const Indexed &a, const Indexed &b) {
  return is_before(a.row, b.row);
}

void collect_list(Check *check, const IndexMeta &meta) {
  for_each_page(check->index, meta.list, PageKind::list, [&](BlockNumber block, const uint8 *page) {
    check->extents.add({block, 1});
    for (int i = 0; i < head_of(page)->count; i++) {
      const ListEntry &entry = content_of<ListEntry>(page)[i];
      check->rows.add({entry.row, 0, true, {}, entry.key_hash});
    }
  });
}

void check_lines(Relation index, const GroupSlot &slot) {
  for (uint32 place = 0; place < slot.pages; place++) {
    CHECK_FOR_INTERRUPTS();
    const Buffer buffer = lock_lines(index, slot, place);
    if (!BufferIsValid(buffer))
      raise_index_damaged(index, slot.start + place, "is not a page of its group");
    UnlockReleaseBuffer(buffer);
  }
}

uint32 collect_groups(Check *check, const IndexMeta &meta) {
  uint32 groups = 0;
  for_each_page(check->index, meta.directory, PageKind::directory,
                [&](BlockNumber block, const uint8 *) {
                  check->extents.add({block, 1});
                });
  for_each_slot(check->index, [&](SlotPlace place, const GroupSlot &slot) {
    if (slot.state == SlotState::none)
      return;
    check->extents.add({slot.start, slot.pages});
    if (slot.state == SlotState::space)
      return;
    groups++;
    check_lines(check->index, slot);
    for (int column = 0; column < slot.columns; column++)
      if (!slot.rows[column].is_none())
        check->rows.add({slot.rows[column], static_cast<uint8>(column), false, place, 0});
  });
  return groups;
}

// Each block belongs to one thing.
void check_extents(Check *check, const IndexMeta &meta) {
  Extent *end = check->extents.items + check->extents.count;
  std::sort(check->extents.items, end,
            [](const Extent &a, const Extent &b) { return a.start < b.start; });
  BlockNumber next = 0;
  for (const Extent *extent = check->extents.items; extent < end; extent++) {
    if (extent->start != next)
      raise_index_damaged(check->index, Min(extent->start, next),
                          extent->start < next ? "belongs to two things" : "belongs to nothing");
    next += extent->pages;
  }
  if (next != meta.blocks)
    raise_index_damaged(check->index, Min(next, meta.blocks), "is not where the index ends");
}

void check_pages(Check *check) {
  const IndexMeta meta = read_meta(check->index);
  check->extents.add({kMetaBlock, 1});
  if (meta.making != kNoBlock)
    check->extents.add({meta.making, meta.making_pages});
  collect_list(check, meta);
  if (collect_groups(check, meta) != meta.groups)
    raise_index_damaged(check->index, kMetaBlock, "has another number of groups");
  check_extents(check, meta);
  std::sort(check->rows.items, check->rows.items + check->rows.count, comes_before);
}

// Has the index a filter at that place that answers as this one?
bool is_same(Relation index, const Indexed &indexed, const Filter &filter, bool sound) {
  GroupKey key;
  const bool groupable = sound && key_of(filter.header, &key);
  if (indexed.listed)
    return indexed.key_hash == (groupable ? key_hash(key) : 0);
  const Buffer buffer =
      lock_page(index, indexed.place.block, PageKind::directory, BUFFER_LOCK_SHARE);
  const GroupSlot slot = content_of<GroupSlot>(bytes_of(buffer))[indexed.place.number];
  UnlockReleaseBuffer(buffer);
  if (!groupable || !(slot.key == key))
    return false;
  Column column = {indexed.row, static_cast<uint8 *>(palloc(key.bytes()))};
  const int number = indexed.column;
  read_columns(index, slot, &column, &number, 1);
  auto *bitmap = static_cast<uint8 *>(palloc(key.bytes()));
  copy_bitmap(filter, bitmap);
  return memcmp(bitmap, column.bitmap, key.bytes()) == 0;
}

// Is a row of the table in the index, and wherever it is, with its filter?
void check_row(Relation index, ItemPointer tid, Datum *values, bool *nulls, bool, void *state) {
  const auto *check = static_cast<const Check *>(state);
  if (nulls[0])
    return;
  CHECK_FOR_INTERRUPTS();
  const MemoryContext before = MemoryContextSwitchTo(check->scratch);
  Filter filter;
  filter.value = PG_DETOAST_DATUM(values[0]);
  const bool sound = parse(filter.payload(), VARSIZE(filter.value) - VARHDRSZ, &filter.header).ok();
  Indexed wanted = {};
  wanted.row = row_at(*tid);
  const auto places = std::equal_range(check->rows.items, check->rows.items + check->rows.count,
                                       wanted, comes_before);
  bool same = true;
  for (const Indexed *place = places.first; place < places.second; place++)
    same &= is_same(index, *place, filter, sound);
  if (places.first == places.second || !same)
    ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED),
                    errmsg("index \"%s\" is damaged: it has %s row (%u,%u) of the table",
                           RelationGetRelationName(index), same ? "no" : "another filter for",
                           ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid)),
                    errhint("REINDEX makes the index anew from the table.")));
  MemoryContextSwitchTo(before);
  MemoryContextReset(check->scratch);
}

void check_table(Check *check, Relation table, Snapshot snapshot) {
  IndexInfo *info = BuildIndexInfo(check->index);
  info->ii_Concurrent = true; // the snapshot says which rows there are
  TableScanDesc scan = table_beginscan_strat(table, snapshot, 0, nullptr, true, true);
  (void)table_index_build_scan(table, check->index, info, true, false, check_row, check, scan);
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_index_info);
Datum bf_index_info(PG_FUNCTION_ARGS) {
  const OpenIndex open = open_index(PG_GETARG_OID(0), AccessShareLock);
  int64 groups = 0, grouped = 0, pending = 0, loose = 0, space = 0;
  for_each_page(open.index, read_meta(open.index).list, PageKind::list,
                [&](BlockNumber, const uint8 *page) {
                  for (int i = 0; i < head_of(page)->count; i++)
                    ++(content_of<ListEntry>(page)[i].key_hash != 0 ? pending : loose);
                });
  for_each_slot(open.index, [&](SlotPlace, const GroupSlot &slot) {
    if (slot.state == SlotState::space)
      space += slot.pages;
    if (slot.state == SlotState::group) {
      groups++;
      grouped += slot.live;
    }
  });
  const int64 blocks = RelationGetNumberOfBlocks(open.index);
  close_index(open, AccessShareLock);
  Row row(fcinfo);
  row.add(Int64GetDatum(groups));
  row.add(Int64GetDatum(grouped));
  row.add(Int64GetDatum(pending));
  row.add(Int64GetDatum(loose));
  row.add(Int64GetDatum(blocks * BLCKSZ));
  row.add(Int64GetDatum(space * BLCKSZ));
  return row.datum();
}

PG_FUNCTION_INFO_V1(bf_index_check);
Datum bf_index_check(PG_FUNCTION_ARGS) {
  check_not_in_recovery();
  const OpenIndex open = open_index(PG_GETARG_OID(0), AccessShareLock);
  if (!open.index->rd_index->indisvalid)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("index \"%s\" is not valid", RelationGetRelationName(open.index))));
  Check check = {};
  check.index = open.index;
  check.scratch =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter check", ALLOCSET_DEFAULT_SIZES);
  lock_moves(open.index);
  // A row that the snapshot shows was in the index before.
  const Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
  check_pages(&check);
  check_table(&check, open.table, snapshot);
  UnregisterSnapshot(snapshot);
  unlock_moves(open.index);
  close_index(open, AccessShareLock);
  PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(bf_index_tidy);
Datum bf_index_tidy(PG_FUNCTION_ARGS) {
  check_not_in_recovery();
  const OpenIndex open = open_index(PG_GETARG_OID(0), RowExclusiveLock);
  lock_moves(open.index);
  tidy_index(open.table, open.index);
  unlock_moves(open.index);
  close_index(open, RowExclusiveLock);
  PG_RETURN_VOID();
}

SQL_FUNCTIONS_END
