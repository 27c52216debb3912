// The pages of a bloompages index (access method `bloompages`): their bytes, the checks of them,
// and which heap pages belong to which filter.
//
// A *range* is a number of heap pages that follow each other. It has one Bloom filter, which holds
// the values of all rows in these pages. A *group* is 127 ranges that follow each other. The
// filters of a group have one geometry and lie side by side in bit slices (core/slices.hpp), so a
// probe reads one or two pages of the index for 127 ranges.
//
//    meta               directory, page 0         lines of group 0
//   +---------------+  +--------------------+    +-----------------------------------+
//   | settings      |  | slot of group 0 ------->| line 0, bit 0: ranges 0 ... 126   |
//   | directory 0 ---->| slot of group 1    |    |         bit 1: ranges 0 ... 126   |
//   | directory 1   |  | ...                |    |         ...                       |
//   | ...           |  | slot of group 253  |    +-----------------------------------+
//   +---------------+  +--------------------+    | line 1 ... (one page for a line)  |
//
// The range of a heap page follows from the page's number and the settings alone. Nobody has to
// look for it, and it never changes.
//
// Ranges get their filters in order. A slot has two numbers, which only grow, unless the group is
// made again with larger filters:
//
// - `ready`: the filters of the ranges before it hold all values. A scan probes them.
// - `filling`: whoever inserts a row into a range before it sets the bits of the row's values.
//
// The ranges between the two, at most eight, are being read. Ranges from `filling` on have no
// filter yet, so every scan takes their heap pages as candidates, as it does with ranges that are
// not ready.
//
// The number of pages in a range grows with the table. A lookup reads about H / (127 p) pages of
// the index and p heap pages, if the table has H pages and a range p. The sum is least where p is
// the root of H / 127. Two things make a smaller p better: in memory, a heap page costs more than a
// page of the index, and a lookup also reads the pages at the end that have no filter yet. So the
// next group has twice as many pages in a range as soon as this is at most the root of
// B / (2 * 127), where B is the group's first block, up to 256 pages.
//
// The trade-off: the index has no entry for a row, only bits for a range. So an index on ten
// million UUIDs has 30 MB, where a btree has 315 MB, and new rows at the end of a table cost next
// to nothing. A lookup costs more: 0.2 ms, where a btree takes 5 µs. BRIN makes the same bargain
// with its bloom operator classes, but reads all of its filters for each lookup: 4 to 12 ms
// (script/bench columns).
//
// What is not good about it: filters only get fuller. Values that were deleted or updated stay in
// them until REINDEX, and a range whose rows are replaced again and again is read for nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/page_head.hpp"
#include "core/slices.hpp"

namespace bloomfilter {

constexpr int kGroupRanges = kPageColumns;
// The most ranges that get their filters together. A record of WAL for a line then has the bits of
// all of them, two bytes at each place.
constexpr int kMostFilled = 8;
constexpr int kMostCopies = 8;

// How many hashes there are in a filter, 1 ... kMostCopies: of a whole value, of a key that is no
// n-gram, and of a whole value that is found by its keys, too.
struct HashCopies {
  std::uint8_t value, key, keyed_value;
};
// The pages in a range at the beginning of a table. Fewer would not make a lookup cheaper.
constexpr std::uint32_t kLeastRangePages = 8;
// The most pages in a range that the index chooses. An INSERT reads all pages of a range.
constexpr std::uint32_t kMostChosenPages = 256;

struct RangeSlot {
  std::uint32_t start; // the first page of the group's lines
  std::uint32_t units; // of the filters, like the next two
  Layout layout;       // lines or pages
  std::uint8_t k;
  std::uint8_t ready, filling;
  std::uint8_t attempts; // how often somebody began to read the range that is being read
  HashCopies copies;
  // The number of distinct hashes for which filters would be made by what the ready ranges had when
  // they were read.
  std::uint32_t usual;
  // A hash of all other fields, because wrong numbers here would hide rows.
  std::uint32_t check;
  std::uint64_t values; // the sum of the distinct hashes in the ready ranges when they were read

  Geometry geometry() const { return {layout, k, units}; }
  std::uint32_t lines() const { return layout == Layout::pages ? kPageLines * units : units; }
};
static_assert(sizeof(RangeSlot) == 32, "stored as it is");
std::uint32_t check_of(const RangeSlot &slot);
constexpr std::uint32_t kRangeSlots = kContentBytes / sizeof(RangeSlot);
static_assert(kRangeSlots == 254, "as the drawing says");

struct RangeMeta {
  std::uint32_t range_pages; // pages in a range, if it is fixed; 0: it grows
  std::uint32_t blocks;      // blocks from this number on belong to nobody
  double rate;               // false positive rate, if it is fixed; 0: as default_range_rate() says
  std::uint32_t groups;      // the number of groups with a slot
  std::uint32_t attempts;    // how often somebody began to read the first range of the next group
  std::uint32_t directories; // the number of pages of the directory
  std::uint32_t common; // room for the block of a list of keys that most ranges have; 0: no list
  // The newest transaction that deleted a row that no filter has because it was dead to all, with
  // the epoch in the upper half; 0: none. Older snapshots of a standby may see the row.
  std::uint64_t skipped;
  std::uint32_t directory[998]; // the blocks of the directory's pages
  // A hash of all fields above, because wrong numbers here would hide rows.
  std::uint64_t check;
};
static_assert(sizeof(RangeMeta) <= kContentBytes, "fits a page");
constexpr std::uint32_t kMaxDirectories = sizeof(RangeMeta::directory) / sizeof(std::uint32_t);
constexpr std::uint32_t kMaxGroups = kMaxDirectories * kRangeSlots;
std::uint64_t check_of(const RangeMeta &meta);

// Where a heap page is.
struct RangePlace {
  std::uint32_t group; // can be kMaxGroups or more; such a group has no slot
  int range;           // in the group, 0 ... 126
};
RangePlace range_place(std::uint32_t range_pages, std::uint32_t block);

// The number of ranges of a table that has `blocks` pages.
std::uint64_t range_count(std::uint32_t range_pages, std::uint32_t blocks);

// The heap pages of a group. Some may not exist yet, or have numbers that no page can have.
struct GroupBlocks {
  std::uint64_t first;
  std::uint32_t range_pages;

  std::uint64_t begin(int range) const {
    return first + static_cast<std::uint64_t>(range) * range_pages;
  }
};
GroupBlocks group_blocks(std::uint32_t range_pages, std::uint32_t group);

// The false positive rate for which a group's filters are sized, if the index chooses it. `ranges`
// is the number of ranges in the table. At this rate, a probe of all filters finds a quarter of a
// range in error. range_geometry() makes the filters a little smaller, and the rate rises to two or
// three times as much.
double default_range_rate(std::uint32_t group, std::uint64_t ranges);

// The geometry of a group of filters for this number of distinct values in each.
Geometry range_geometry(std::uint64_t values, double rate);

// The false positive rates for keys, if the index chooses them. A range has thousands of n-grams,
// and a needle has several, which are looked for together. So a rate of a tenth is enough. A
// condition on an array or a document often has a single key.
constexpr double kNgramRate = 0.1, kKeyRate = 0.0005;
// The geometry of a group of filters for this number of distinct keys in each. A key sets a quarter
// fewer bits than would be best: at a rate of 0.1, two bits of 4.8 give 0.116 where three give
// 0.100. Each bit that an INSERT sets costs WAL.
Geometry key_geometry(std::uint64_t keys, double rate);
// The number of hashes with which a value or key reaches the rate `wanted` in filters of this rate,
// or at most twice that, as range_geometry() does.
std::uint8_t copies_for(double rate, double wanted);
// The same for a value that is looked for only where its keys are found: in this share of the
// filters.
std::uint8_t copies_for(double rate, double wanted, double share);

// True if a page looks like one of this kind of this index. For a meta page, the check of its
// content must be right, too.
bool is_range_page(const std::uint8_t *page, PageKind kind);
// True if the check of a slot is right, and all fields fit together and fit an index of `blocks`
// blocks.
bool is_sound_slot(const RangeSlot &slot, std::uint32_t blocks);
// True if this is the page of a line of a group.
bool is_line_page(const std::uint8_t *page, std::uint32_t group, std::uint32_t line);

} // namespace bloomfilter
