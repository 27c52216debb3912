// The list: the rows that are in no group (core/index_pages.hpp).
#ifndef BLOOMFILTER_PG_INDEX_LIST_HPP
#define BLOOMFILTER_PG_INDEX_LIST_HPP

#include "pg/server.hpp"

#include "pg/index/pages.hpp"
#include "pg/list.hpp"

namespace bloomfilter {

// An entry for a row with that filter, which is not NULL. Only the filter's head is read. A filter
// that is damaged gets an entry, too, and an error when it is asked.
ListEntry entry_for(const ItemPointerData &tid, Datum filter);

// Adds an entry. Returns how long the list is up to it, counting the room on pages before it.
uint64 append_entry(Relation index, const ListEntry &entry);
// Has a list of that length got as many rows as list_limit allows since it was looked through?
bool is_full(Relation index, uint64 length);

// Copies of all entries whose filters can be in a group.
GrowingArray<ListEntry> groupable_entries(Relation index);

// Takes out the entries for which `is_gone` is true; returns how many. `keep` is called for others.
template <typename IsGone> uint64 remove_entries(Relation index, IsGone is_gone);

// Takes rows out that are in a group now; they are in order.
void remove_moved(Relation index, const IndexedRow *rows, int count);

// Looks through the list when rows have left it: finds where the next entry goes, and how many
// entries there are.
void settle_list(Relation index);

inline bool is_before(const IndexedRow &a, const IndexedRow &b) {
  const auto number = [](const IndexedRow &row) {
    return uint64{row.block_high} << 32 | uint64{row.block_low} << 16 | row.offset;
  };
  return number(a) < number(b);
}

// `is_gone` is called without a lock on the page and then its answers are used, because only the
// holder of the mover's lock takes entries out: meanwhile others only append.
template <typename IsGone> uint64 remove_entries(Relation index, IsGone is_gone) {
  uint64 removed = 0;
  for_each_page(
      index, read_meta(index).list, PageKind::list, [&](BlockNumber block, const uint8 *copy) {
        const auto *entries = content_of<ListEntry>(copy);
        const int count = head_of(copy)->count;
        bool gone[kListEntries];
        int leaving = 0;
        for (int i = 0; i < count; i++)
          leaving += gone[i] = is_gone(entries[i]);
        if (leaving == 0)
          return;
        removed += leaving;
        const Buffer buffer = lock_page(index, block, PageKind::list, BUFFER_LOCK_EXCLUSIVE);
        GenericXLogState *record = GenericXLogStart(index);
        Page page = GenericXLogRegisterBuffer(record, buffer, 0);
        auto *changed = changed_content<ListEntry>(page);
        IndexPageHead *head = changed_head(page);
        int kept = 0;
        for (int i = 0; i < head->count; i++)
          if (i >= count || !gone[i])
            changed[kept++] = changed[i];
        memset(changed + kept, 0, (head->count - kept) * sizeof(ListEntry));
        head->count = static_cast<uint16>(kept);
        set_used(page, kept * sizeof(ListEntry));
        GenericXLogFinish(record);
        UnlockReleaseBuffer(buffer);
      });
  return removed;
}

} // namespace bloomfilter

#endif
