// VACUUM of an index: removes dead tuples, then tidies the index (pg/filter_index/move.hpp).
//
// Each call of bulk_delete() reads the whole list and directory, but no pages of lines. Tidying
// moves all rows that can be moved, so VACUUM also writes groups.

#include "pg/compat.hpp"
#include "pg/filter_index/access_method.hpp"
#include "pg/filter_index/groups.hpp"
#include "pg/filter_index/move.hpp"
#include "pg/filter_index/row_list.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/index.h"
#include "commands/vacuum.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

void count_pages_and_rows(Relation index, IndexBulkDeleteResult *result) {
  result->num_pages = RelationGetNumberOfBlocks(index);
  result->pages_free = 0;
  result->num_index_tuples = read_meta(index).listed;
  for_each_slot(index, [result](SlotPlace, const GroupSlot &slot) {
    if (slot.state == SlotState::space)
      result->pages_free += slot.pages;
    if (slot.state == SlotState::group)
      result->num_index_tuples += slot.live;
  });
}

} // namespace

// Nobody moves rows while this removes some; pages.hpp says why.
IndexBulkDeleteResult *bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *result,
                                   IndexBulkDeleteCallback is_dead, void *state) {
  Relation index = info->index;
  result = started(result);
  const auto is_gone = [=](const IndexedRow &row) {
    ItemPointerData tid = tid_of(row);
    return is_dead(&tid, state);
  };
  lock_work(index);
  uint64 removed =
      remove_entries(index, [=](const ListEntry &entry) { return is_gone(entry.row); });
  for_each_page(index, read_meta(index).directory, PageKind::directory,
                [&](BlockNumber block, const uint8 *page) {
                  vacuum_delay_point(false);
                  check_slots(index, block, page);
                  removed += remove_rows(index, block, page, is_gone);
                });
  unlock_work(index);
  result->tuples_removed += static_cast<double>(removed);
  count_pages_and_rows(index, result);
  return result;
}

namespace {

void tidy(Relation index) {
  Relation table = table_open(IndexGetRelation(RelationGetRelid(index), false), AccessShareLock);
  tidy_index(table, index);
  table_close(table, AccessShareLock);
}

} // namespace

IndexBulkDeleteResult *vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *result) {
  if (info->analyze_only)
    return result;
  Relation index = info->index;
  result = started(result);
  lock_work(index);
  if (anybody_may_move(index))
    tidy(index);
  else
    recount_list(index);
  unlock_work(index);
  count_pages_and_rows(index, result);
  return result;
}

} // namespace bloomfilter
