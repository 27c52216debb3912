// Gives ranges their filters, in order (core/bloompages_pages.hpp). INSERT does it for a few ranges
// now and then, VACUUM and bf_index_tidy() for all that are complete.
//
// The ranges of a turn share a record of WAL for each line. If the index has keys, a range sets
// most bits of a line. Then eight ranges take little more WAL than one, and an INSERT waits until
// eight are complete.
//
// A range is complete if the table has all of its pages. The last pages of a table have no filter
// until then, so every scan reads them.
//
// The caller holds the lock of pg/index_page.hpp (lock_work) and a lock on the table that conflicts
// with its truncation.
#pragma once

#include "pg/server.hpp"

#include "pg/bloompages/pages.hpp"
#include "pg/bloompages/heap_reader.hpp"

namespace bloomfilter {

// The first range without a complete filter.
struct NextRange {
  RangeMeta meta;
  uint32 group;
  int range;
  bool has_slot;      // true if the group has one
  uint32 attempts;    // how often somebody began to read the range
  GroupBlocks blocks; // of the group

  // The first block after the range and the next ones, `count` in all.
  uint64 end(int count) const { return blocks.begin(range + count); }
};
NextRange next_range(Relation index);

// The false positive rate of a group's filters: the option's, or the default for the table's size.
double range_rate(const RangeMeta &meta, uint32 group, BlockNumber table_blocks);

// The number of distinct hashes for which a group's filters are made. `counts` are those of ranges
// of the group, and the result is that of the fullest range. But if a few ranges have many more
// than the others, theirs would make all filters large. So a count above twice the median is taken
// as twice the median, and the filters of such ranges become fuller than they should be. With keys,
// the result is the mean of these counts: ranges of text differ much, and a rate that is too high
// in one is made up for by others. Ranges without values are left out: after a DELETE, most ranges
// may have none. Ranges with few values are left out if an eighth of the ranges has more: after
// ALTER TABLE ... ADD COLUMN ... DEFAULT, most ranges may have one value. Returns 0 if all ranges
// have none.
uint64 usual_count(const uint64 *counts, int ranges, bool have_keys);

// The number of a range's hashes, as usual_count() takes it. It is 0 if there were too many: then
// the filter is all ones, and the number tells nothing about other ranges.
uint64 telling_count(KeySet *hashes);

// How many hashes values and keys have in a new group with this number of complete ranges.
//
// A whole value that is found by its keys, too, needs a hash of its own only against ranges that
// have all of its keys in other rows. To find out how often that happens, the first range is read,
// and a filter is made of its hashes. Then the next range is read, or several if they are small: of
// which share of its values are all keys in that filter? It is almost 0 if each value has a rare
// key, and almost 1 if there are few keys in all. If it is above one in fifty, or if there is only
// one range, each value has as many hashes as if it had no keys.
// Otherwise, `=` is as sharp as in an index on whole values on average: the few values without a
// rare key are found as sharply as a key.
HashCopies copies_of(HeapReader *reader, const RangeMeta &meta, uint32 group, int ranges,
                     BlockNumber table_blocks, KeySet *hashes);

// The slot of a new group whose filters are made for `count` distinct hashes each. If it is 0, the
// number is what the server expects of a table with such columns. The group's lines begin at the
// first free page of the index.
RangeSlot new_slot(const HeapReader &reader, const RangeMeta &meta, uint32 group, HashCopies copies,
                   uint64 count);

// Sets the bits of all hashes in a filter. If there were too many hashes, sets all bits.
void add_to_filter(const Geometry &geometry, uint8 *filter, KeySet *hashes);

// Notes the newest transaction that deleted a row that was left out.
void note_skipped(const HeapReader &reader);

// Writes the slot of a group that is new or made again, and notes in the meta page that its lines
// are in use. If the directory is full, it gets another page. The lines were written before.
void write_slot(Relation index, const RangeMeta &meta, const RangeSlot &slot, uint32 group);

// Gives the range and those after it, `ranges` in all, their filters. They are in one group. If its
// filters are far too small for them, the group is made again, and all its ranges wait. An error
// leaves the index as right as before; whoever comes next does the same again.
void summarize(HeapReader *reader, const NextRange &next, int ranges);

// Gives all complete ranges their filters. Calls pause() before each page that is read.
void summarize_all(Relation table, Relation index, void (*pause)());

// Called for a row that was put into a range without a filter. Gives ranges their filters if the
// row's page is at least one range after their end, most of their pages have rows, and nobody else
// does such work now. If the index has keys, it waits until there are as many ranges as one turn
// takes. Reads at most 256 pages, those of long values included, or one range. Ranges that begin a
// group are read twice, because the first reading chooses the size of the group's filters; if there
// are keys, the first of them are read a third time (copies_of). In a partial index, there can be
// several turns.
//
// The functions see rows of others. So they run as the table's owner, and an error does not fail
// the INSERT: it is logged, and after three of them the ranges wait for VACUUM. Does nothing if the
// session must not call them so (may_act_as_owner).
void summarize_for_insert(Relation table, Relation index, bool has_keys, bool is_partial,
                          BlockNumber block);

} // namespace bloomfilter
