// The list of an index: the rows that are in no group (core/filter_index_pages.hpp). Each INSERT
// appends an entry. A mover removes entries whose rows it has put into groups; VACUUM removes dead
// ones.
//
// The list is a chain of pages. Removing entries leaves room on its pages but frees no page.
// Entries do not hold filters, so a scan must probe the filter of each row of the list in the
// table: a long list makes scans slow.
#pragma once

#include "pg/server.hpp"

#include "pg/filter_index/pages.hpp"
#include "pg/list.hpp"

namespace bloomfilter {

// Makes the entry for a row with the given filter, which is not NULL. Only the filter's head is
// read. A damaged filter gets an entry, too; a probe of it raises the error.
ListEntry entry_for(const ItemPointerData &tid, Datum filter);

// Appends an entry. Returns the list's length up to the entry. Room on earlier pages counts as if
// it held entries.
uint64 append_entry(Relation index, const ListEntry &entry);
// True if a list of this length has grown by list_limit entries or more since recount_list().
bool is_full(Relation index, uint64 length);

// Copies of all entries whose filters can be in a group.
GrowingArray<ListEntry> groupable_entries(Relation index);

// Removes the entries for which is_gone(entry) is true. Returns the number of entries removed.
template <typename IsGone> uint64 remove_entries(Relation index, IsGone is_gone);

// Removes the entries of rows that are in a group now. `rows` is sorted by is_before().
void remove_moved(Relation index, const IndexedRow *rows, int count);

// Called when rows have left the list. Reads the whole list, and records in the meta page where the
// next entry goes and how many entries there are.
void recount_list(Relation index);

inline bool is_before(const IndexedRow &a, const IndexedRow &b) {
  const auto number = [](const IndexedRow &row) {
    return uint64{row.block_high} << 32 | uint64{row.block_low} << 16 | row.offset;
  };
  return number(a) < number(b);
}

// is_gone() is called on a copy of the page, without a lock on the page. The results still hold
// when the page is locked: only the holder of the mover's lock removes entries, and others only
// append.
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
