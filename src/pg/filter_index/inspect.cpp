// See inspect.hpp.

#include "pg/filter_index/inspect.hpp"

#include "pg/filter_index/access_method.hpp"
#include "pg/filter_index/groups.hpp"
#include "pg/filter_index/move.hpp"
#include "pg/filter_index/row_list.hpp"

extern "C" {
#include "access/amapi.h"
}

namespace bloomfilter {

bool is_filter_index(Relation index) {
  return index->rd_indam->ambuild == build_index;
}

FilterIndexInfo filter_index_info(Relation index) {
  FilterIndexInfo info = {};
  for_each_page(index, read_meta(index).list, PageKind::list, [&](BlockNumber, const uint8 *page) {
    for (int i = 0; i < head_of(page)->count; i++)
      ++(content_of<ListEntry>(page)[i].key_hash != 0 ? info.pending : info.loose);
  });
  for_each_slot(index, [&](SlotPlace, const GroupSlot &slot) {
    if (slot.state == SlotState::space)
      info.free_pages += slot.pages;
    if (slot.state == SlotState::group) {
      info.groups++;
      info.grouped += slot.live;
    }
  });
  return info;
}

void tidy_filter_index(Relation table, Relation index) {
  lock_work(index);
  tidy_index(table, index);
  unlock_work(index);
}

} // namespace bloomfilter
