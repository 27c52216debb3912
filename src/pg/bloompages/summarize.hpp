// Gives ranges their filters, one after the other (core/bloompages_pages.hpp). INSERT does it for
// one range now and then, VACUUM and bf_index_tidy() for all that are complete.
//
// A range is complete if the table has all of its pages. The last pages of a table have no filter
// until then, so every scan reads them.
//
// The caller holds the lock of pg/index_page.hpp (lock_work) and a lock on the table that conflicts
// with its truncation.
#pragma once

#include "pg/server.hpp"

#include "pg/bloompages/pages.hpp"
#include "pg/bloompages/values.hpp"

namespace bloomfilter {

// The first range without a complete filter.
struct NextRange {
  RangeMeta meta;
  uint32 group;
  int range;
  bool has_slot;      // of the group
  uint32 attempts;    // how often somebody began to read the range
  GroupBlocks blocks; // of the group

  uint64 end() const { return blocks.begin(range + 1); } // the first block after the range
};
NextRange next_range(Relation index);

// The false positive rate of a group's filters: the option's, or the default for the table's size.
double range_rate(const RangeMeta &meta, uint32 group, BlockNumber table_blocks);

// The slot of a new group whose filters are made for this number of values each. If it is 0, the
// number is what the server expects of a table with such columns. The group's lines begin at the
// first free page of the index.
RangeSlot new_slot(Relation table, Relation index, const RangeMeta &meta, uint32 group,
                   uint64 values);

// Puts a new group's slot into the directory, which gets another page if it is full. The pages of
// the group's lines were written before.
void write_slot(Relation index, const RangeMeta &meta, const RangeSlot &slot, uint32 group);

// Gives the range its filter. An error leaves the index as right as before; whoever comes next does
// the same again.
void summarize(HeapReader *reader, const NextRange &next);

// Gives all complete ranges their filters. Calls pause() before each page that is read.
void summarize_all(Relation table, Relation index, void (*pause)());

// Called for a row that was put into a range without a filter. Gives one range its filter if the
// row's page has passed the end of the next range by another range, the range has at most 256
// pages, most of them have rows, and nobody else does such work now. Hash functions run as the
// table's owner, because they see rows of others.
void summarize_for_insert(Relation table, Relation index, BlockNumber block);

} // namespace bloomfilter
