// The pages of an index over stored filters: their bytes, what is checked of them, and how a page
// of lines is written and asked.
//
// A probe of a filter asks one line of it, or two (core/geometry.hpp). So the same line of many
// filters lies side by side, and a question reads one or two pages for all of them. A *group* is up
// to 127 filters with the same key: geometry, seed and element type. Each is a column.
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
// A page has room for 127 lines: those of one number if the group has 64 to 127 columns, of two if
// it has 43 to 63, and so on. Lines of one number are stored in *bit slices*, as in a bit-sliced
// signature file: the first bits of all columns, then the second ones, up to the last of 512, with
// nothing between them. So a question reads a slice for each bit that it asks, and no more of the
// page. (C. Faloutsos and R. Chan, "Fast text access methods for optical and large magnetic disks",
// VLDB 1988.)
//
// A group never gets another column, and a column that vacuum took out stays empty until the group
// is made anew. A countingbloomfilter has the lines of the bloomfilter with the same positions:
// those of its counters that are not 0.
//
// The list has the rows that are in no group: those that wait for others with the same key, and
// those that no group can have. Of other systems' layouts, of several links, or very large: these
// have the key 0 there.
//
// Numbers are in the machine's byte order, as in all of the server's pages. What these bytes mean
// may change with a release, after which REINDEX makes them anew.
#ifndef BLOOMFILTER_CORE_INDEX_PAGES_HPP
#define BLOOMFILTER_CORE_INDEX_PAGES_HPP

#include <cstddef>
#include <cstdint>

#include "core/format.hpp"

namespace bloomfilter {

// A page has the server's header of 24 bytes, our head of 40, and then its content.
constexpr std::size_t kIndexPageBytes = 8192;
constexpr std::size_t kServerHeadBytes = 24;
constexpr std::size_t kContentAt = 64; // so lines lie on those of the processor's cache
constexpr std::size_t kContentBytes = kIndexPageBytes - kContentAt;
constexpr int kPageColumns = kContentBytes / kLineBytes;
static_assert(kPageColumns == 127, "as the drawing says");

constexpr std::uint32_t kIndexMagic = 0xB10F1D8E;
constexpr std::uint8_t kIndexVersion = 1;
constexpr std::uint32_t kNoBlock = 0xFFFFFFFF;

enum class PageKind : std::uint8_t { meta = 1, list = 2, directory = 3, lines = 4 };

struct IndexPageHead {
  std::uint32_t magic;
  std::uint8_t version;
  PageKind kind;
  std::uint16_t count; // of a list: its entries; else 0
  std::uint32_t next;  // of a list or directory: the block of the next page, or kNoBlock
  std::uint32_t group; // of lines: the group's number
  std::uint32_t place; // which page it is of its group, of the list or of the directory
  std::uint8_t unused[20];
};
static_assert(kServerHeadBytes + sizeof(IndexPageHead) == kContentAt, "the head ends there");

// A row of the table, in the bytes of the server's ItemPointerData. 0 is no row's offset.
struct IndexedRow {
  std::uint16_t block_high, block_low, offset;

  bool is_none() const { return offset == 0; }
};

// What the filters of a group have in common.
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
  // The header of a filter with this key, with all on which a probe depends.
  Header header() const;
};
static_assert(sizeof(GroupKey) == 24, "stored as it is");
bool operator==(const GroupKey &a, const GroupKey &b);

// The key of a sound filter; false if it can be in no group.
bool key_of(const Header &header, GroupKey *key);

// What stands for a key in the list; never 0.
std::uint64_t key_hash(const GroupKey &key);

enum class SlotState : std::uint8_t { none = 0, group = 1, space = 2 };

struct GroupSlot {
  GroupKey key;
  std::uint32_t start, pages; // the extent: blocks of lines or, in a slot of space, free ones
  std::uint32_t number;       // of the group; no other group of the index ever has it
  SlotState state;
  std::uint8_t columns;
  std::uint8_t live; // columns whose row was not taken out
  std::uint8_t zero;
  IndexedRow rows[kPageColumns];
  std::uint8_t unused[6];
};
static_assert(sizeof(GroupSlot) == 808, "stored as it is");
constexpr int kDirectorySlots = kContentBytes / sizeof(GroupSlot);
static_assert(kDirectorySlots == 10, "as the drawing says");

struct ListEntry {
  IndexedRow row;
  std::uint16_t least; // how many such filters are worth a group; 0 if key_hash is
  std::uint64_t key_hash;
};
static_assert(sizeof(ListEntry) == 16, "stored as it is");
constexpr int kListEntries = kContentBytes / sizeof(ListEntry);

struct IndexMeta {
  std::uint32_t blocks;               // those from here on belong to nobody
  std::uint32_t list, directory;      // the first page of each
  std::uint32_t append;               // the page of the list where the search for room begins
  std::uint32_t fill;                 // the page of the directory where that for a slot begins
  std::uint32_t largest_space;        // no slot of free space has more pages
  std::uint32_t making, making_pages; // an extent whose lines are being written, or were when the
                                      // server stopped: in use, but in no slot
  std::uint32_t next_group;           // the number of the next group
  std::uint32_t generation;           // changes whenever rows leave a slot for another place
  std::uint32_t groups;               // how many there are
  std::uint32_t listed;               // entries of the list when it was last looked through
  std::uint64_t settled;              // the list's length then, up to where it has room
  std::uint64_t check;                // a hash of all before it: what is wrong here damages more
};
std::uint64_t check_of(const IndexMeta &meta);

// Does a page look like one of this kind? `page` has kIndexPageBytes bytes. A meta page has the
// check of its content.
bool is_index_page(const std::uint8_t *page, PageKind kind);
inline const IndexPageHead *head_of(const std::uint8_t *page) {
  return reinterpret_cast<const IndexPageHead *>(page + kServerHeadBytes);
}
template <typename Content> const Content *content_of(const std::uint8_t *page) {
  return reinterpret_cast<const Content *>(page + kContentAt);
}

// Can a slot be read: does all that it says fit together, in an index of so many blocks? (Free
// space may lie behind the end of the file, if the server stopped before it was written.)
bool is_sound_slot(const GroupSlot &slot, std::uint32_t blocks);
// Is this page of lines the one that a sound slot means?
bool is_page_of(const std::uint8_t *page, const GroupSlot &slot, std::uint32_t place);

// How many columns a group gets if so many filters with the key wait, at most `most`; 0 if a group
// would leave too much of its pages empty.
int columns_for(const GroupKey &key, int waiting, int most);
// How many filters with the key are worth a group.
int least_columns(const GroupKey &key);

constexpr int lines_per_page(int columns) {
  return kPageColumns / columns;
}
std::uint32_t group_pages(const GroupKey &key, int columns);

// Where a line of a group is.
struct LinePlace {
  std::uint32_t page;
  std::size_t offset; // in the page; there begin its slices, as many bytes as the columns' lines
};
LinePlace line_place(int columns, std::uint32_t line);

// Which of a group's columns; a bit for each.
struct Columns {
  std::uint64_t words[2];

  bool has(int column) const { return (words[column / 64] >> column % 64 & 1) != 0; }
  void add(int column) { words[column / 64] |= std::uint64_t{1} << column % 64; }
  bool is_empty() const { return (words[0] | words[1]) == 0; }
  Columns operator&(const Columns &other) const {
    return {{words[0] & other.words[0], words[1] & other.words[1]}};
  }
  Columns operator|(const Columns &other) const {
    return {{words[0] | other.words[0], words[1] | other.words[1]}};
  }
};
// Those that have a row.
Columns live_columns(const GroupSlot &slot);

// A line that a hash asks, and the bits it asks for.
struct AskedLine {
  std::uint32_t line;
  int count;
  std::uint16_t bits[kMaxK];
};
constexpr int kMaxAskedLines = 2;
// Returns how many lines a hash asks; a column whose lines have all bits may have the value.
int asked_lines(const GroupKey &key, std::uint64_t hash, AskedLine *asked);

// Writes the slices of lines of so many columns, each of kLineBytes bytes, to as many bytes.
void write_slices(const std::uint8_t *const *lines, int columns, std::uint8_t *slices);
// Reads the lines of all columns from their slices, one behind the other.
void read_slices(const std::uint8_t *slices, int columns, std::uint8_t *lines);
// The columns whose line has all bits; `slices` are those of the line, from line_place().
Columns columns_with(const std::uint8_t *slices, int columns, const AskedLine &asked);

} // namespace bloomfilter

#endif
