// The pages of a filter index (access method `bloomfilter`): their bytes, the checks of them, and
// how a page of lines is written and probed.
//
// A probe of a filter reads one or two of its lines (core/geometry.hpp). So the index stores the
// same line of many filters side by side, and a probe reads one or two pages for all of them. A
// *group* is up to 127 filters with the same key: geometry, seed and element type. Each filter is a
// column of the group.
//
//    meta              directory          directory          list              list
//   +-----------+     +----------+       +----------+       +----------+      +----------+
//   | directory ----->| 10 slots |------>| 10 slots |       | row, key |----->| row, key |
//   | list ------ - - |  - - - - | - - - | - - - - -| - - ->| row, key |      |          |
//   | blocks .. |     +--|-------+       +----------+       +----------+      +----------+
//   +-----------+        |  a slot: the key, the rows (TIDs) of its columns, and its extent
//                        v
//   lines, page 0                           lines, page 1          ... as many as it takes
//   +------------------------------------+  +------------------------------------+
//   | line 0, bit 0: columns 0 ... 62    |  | line 2, bit 0: columns 0 ... 62    |
//   |         bit 1: columns 0 ... 62    |  |         bit 1: columns 0 ... 62    |
//   |         ...                        |  |         ...                        |
//   | line 1, bit 0: columns 0 ... 62    |  | line 3, bit 0: columns 0 ... 62    |
//   |         ...                        |  |         ...                        |
//   +------------------------------------+  +------------------------------------+
//
// Lines of one number are stored in bit slices (core/slices.hpp).
//
// A countingbloomfilter has the lines of the bloomfilter with the same positions, in which a bit is
// set if its counter is not 0.
//
// The list has the rows that are in no group. Some wait for other rows with the same key. Others
// can be in no group: filters of other systems' layouts, filters of several links and very large
// filters. Their key in the list is 0.
//
// Numbers are in the machine's byte order, as in all pages of the server. A release may change the
// meaning of these bytes; the index then needs a REINDEX.
//
// What is not good about it: a group never gets another column. A column whose row VACUUM removed
// stays empty until the group is made again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/format.hpp"
#include "core/page_head.hpp"
#include "core/slices.hpp"

namespace bloomfilter {

// A row of the table, in the bytes of the server's ItemPointerData. No row has the offset 0.
struct IndexedRow {
  std::uint16_t block_high, block_low, offset;

  bool is_none() const { return offset == 0; }
};

// The key of a group: what its filters have in common.
struct GroupKey {
  std::uint64_t seed;
  std::uint32_t units;
  std::uint32_t shape;
  Layout layout; // lines or pages
  std::uint8_t k;
  Family family;
  std::uint8_t zero[5];

  Geometry geometry() const { return {layout, k, units}; }
  std::uint32_t lines() const { return layout == Layout::pages ? kPageLines * units : units; }
  std::size_t bytes() const { return std::size_t{lines()} * kLineBytes; }
  // The header of a filter with this key. It has everything on which a probe depends.
  Header header() const;
};
static_assert(sizeof(GroupKey) == 24, "stored as it is");
bool operator==(const GroupKey &a, const GroupKey &b);

// The key of a sound filter. False if the filter can be in no group.
bool key_of(const Header &header, GroupKey *key);

// The hash that stands for a key in the list. It is never 0.
std::uint64_t key_hash(const GroupKey &key);

enum class SlotState : std::uint8_t { none = 0, group = 1, space = 2 };

struct GroupSlot {
  GroupKey key;
  std::uint32_t start, pages; // the extent: blocks of lines or, in a slot of space, free blocks
  std::uint32_t number;       // of the group; no other group of the index ever has it
  SlotState state;
  std::uint8_t columns;
  std::uint8_t live; // the number of columns that have a row
  std::uint8_t zero;
  IndexedRow rows[kPageColumns];
  std::uint8_t unused[6];
};
static_assert(sizeof(GroupSlot) == 808, "stored as it is");
constexpr int kDirectorySlots = kContentBytes / sizeof(GroupSlot);
static_assert(kDirectorySlots == 10, "as the drawing says");

struct ListEntry {
  IndexedRow row;
  // The number of filters with the key that are worth a group; 0 if key_hash is 0.
  std::uint16_t least;
  std::uint64_t key_hash;
};
static_assert(sizeof(ListEntry) == 16, "stored as it is");
constexpr int kListEntries = kContentBytes / sizeof(ListEntry);

struct IndexMeta {
  std::uint32_t blocks;          // blocks from this number on belong to nobody
  std::uint32_t list, directory; // the first page of each
  std::uint32_t append;          // the page of the list where the search for room begins
  // The page of the directory where the search for a free slot begins.
  std::uint32_t fill;
  std::uint32_t largest_space; // no slot of free space has more pages
  // An extent that is in use but in no slot. Its lines are being written, or were being written
  // when the server stopped.
  std::uint32_t making, making_pages;
  std::uint32_t next_group; // the number of the next group
  std::uint32_t generation; // changes whenever rows leave a slot for another place
  std::uint32_t groups;     // the number of groups
  // The number of entries in the list when the list was last looked through.
  std::uint32_t listed;
  std::uint64_t recounted; // the length of the list at that time, up to its first page with room
  // A hash of all fields above, because wrong numbers here would damage other blocks.
  std::uint64_t check;
};
std::uint64_t check_of(const IndexMeta &meta);

// True if a page looks like one of this kind. `page` has kIndexPageBytes bytes. For a meta page,
// the check of its content must be right, too.
bool is_index_page(const std::uint8_t *page, PageKind kind);
// True if a slot can be read: all its fields fit together and fit an index of `blocks` blocks.
// (Free space may lie beyond the end of the file, if the server stopped before it was written.)
bool is_sound_slot(const GroupSlot &slot, std::uint32_t blocks);
// True if this page of lines is page `place` of a sound slot's group.
bool is_page_of(const std::uint8_t *page, const GroupSlot &slot, std::uint32_t place);

// The number of columns of a group, at most `most`, if `waiting` filters with the key wait. 0 if a
// group would leave too much of its pages empty.
int columns_for(const GroupKey &key, int waiting, int most);
// The smallest number of filters with the key that are worth a group.
int least_columns(const GroupKey &key);

std::uint32_t group_pages(const GroupKey &key, int columns);

// The columns that have a row.
FilterSet live_filters(const GroupSlot &slot);

} // namespace bloomfilter
