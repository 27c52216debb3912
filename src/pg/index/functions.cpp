// bf_index_info() counts what is in an index. bf_index_tidy() moves its rows into groups now.
//
// Both read the whole list and directory. bf_index_info() does not take the mover's lock, so its
// counts are approximate while another session moves rows.

#include "pg/server.hpp"

#include "pg/index/groups.hpp"
#include "pg/index/move.hpp"
#include "pg/index/open_index.hpp"
#include "pg/index/row_list.hpp"
#include "pg/value/result_row.hpp"

extern "C" {
#include "storage/bufmgr.h"
}

using namespace bloomfilter;

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
  ResultRow row(fcinfo);
  row.add(Int64GetDatum(groups));
  row.add(Int64GetDatum(grouped));
  row.add(Int64GetDatum(pending));
  row.add(Int64GetDatum(loose));
  row.add(Int64GetDatum(blocks * BLCKSZ));
  row.add(Int64GetDatum(space * BLCKSZ));
  return row.datum();
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
