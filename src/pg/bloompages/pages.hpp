// How the pages of a bloompages index (core/bloompages_pages.hpp) are read and changed.
//
// Rules that keep every row in the index:
//
// - Nothing that a slot says is remembered. Whoever inserts a row puts it into the heap first, and
//   then reads `filling` from the shared page. Whoever gives a range its filter writes `filling`
//   first, and then reads the heap pages. So one of them sees what the other has done: either the
//   inserter sets the bits of the row, or the reader of the heap page finds the row.
// - Bits are only set, and `ready` and `filling` only grow, as long as a group has its lines. So a
//   scan that reads a slot first and lines afterwards finds at least what the slot promised.
// - The lines of a group are in the file before a slot says so, and its first `filling` comes after
//   that.
//
// A group gets other lines only once in a while, because its first ranges said little about the
// later ones. All its ranges are then without a filter again. Its old lines stay as they are until
// REINDEX, and have all values that the old slot promised. So a scan may use a copy of a slot.
//
// Tests: sql/bloompages.sql, sql/bloompages_changes.sql, specs/bloompages_sessions.spec and
// bloompages_remade.spec, test/t/042_bloompages.pl to 044, test/search/bloompages.py.
#pragma once

#include "pg/server.hpp"

#include "core/bloompages_pages.hpp"
#include "pg/index_page.hpp"

namespace bloomfilter {

// Reads and locks a page. Raises XX002 if it is not of the given kind.
Buffer lock_range_page(Relation index, BlockNumber block, PageKind kind, BufferLockMode mode);

RangeMeta read_range_meta(Relation index);

// Changes only the meta page, in a WAL record of its own.
template <typename Change> void change_range_meta(Relation index, Change change) {
  change_content<RangeMeta>(
      index, lock_range_page(index, kMetaBlock, PageKind::range_meta, BUFFER_LOCK_EXCLUSIVE), 0,
      change);
}

// Where the slot of a group is.
inline SlotPlace slot_place(const BlockNumber *directory, uint32 group) {
  return {directory[group / kRangeSlots], group % kRangeSlots};
}

// A copy of a slot. All its bytes are zero if its group does not exist yet. Raises XX002 if its
// fields do not fit together. Whether its pages exist is seen when they are read.
RangeSlot read_range_slot(Relation index, SlotPlace place);
// Raises XX002: a slot's fields do not fit together, or do not fit the index.
[[noreturn]] void raise_wrong_slot(Relation index, SlotPlace place);

// Changes a slot in a WAL record of its own: change(&slot).
template <typename Change> void change_slot(Relation index, SlotPlace place, Change change) {
  change_content<RangeSlot>(
      index, lock_range_page(index, place.block, PageKind::range_directory, BUFFER_LOCK_EXCLUSIVE),
      place.number, change);
}

// Reads and locks the page of a line of a group. Raises XX002 if the page does not belong there.
Buffer lock_line(Relation index, const RangeSlot &slot, uint32 group, uint32 line,
                 BufferLockMode mode);

// The ranges of `among`, a subset of a group's ranges, that may have a value with this hash.
FilterSet probe_ranges(Relation index, const RangeSlot &slot, uint32 group, uint64 hash,
                       FilterSet among);

// Makes an empty page of a group's line.
void initialize_line(Page page, uint32 group, uint32 line);

// A bit of a line, in the filter of a range.
struct LineBit {
  uint16 bit; // 0 ... 511
  uint8 range;
};
// Sets bits in a line's page, unless they are set already. The bits are in ascending order, and
// those of one number in the order of their ranges.
void set_line_bits(Relation index, const RangeSlot &slot, uint32 group, uint32 line,
                   const LineBit *bits, int count);

// Copies the filter of a range from its group's lines. Bits may be set meanwhile. `filter` has
// slot.geometry().bytes() bytes.
void read_range_filter(Relation index, const RangeSlot &slot, uint32 group, int range,
                       uint8 *filter);

// A transaction's number with its epoch, as RangeMeta::skipped has it.
uint64 full_transaction_id(TransactionId transaction);

// Writes the meta page, and the first page of the directory. `range_pages` and `rate` are 0 if the
// index chooses them.
void make_empty_range_index(Relation index, ForkNumber fork, uint32 range_pages, double rate);

} // namespace bloomfilter
