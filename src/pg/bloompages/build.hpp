// Makes the filters of one group after the other, for a build by one process or by several
// (parallel_build.cpp).
#pragma once

#include "pg/server.hpp"

#include "pg/bloompages/heap_reader.hpp"
#include "pg/bloompages/pages.hpp"

namespace bloomfilter {

// The filters of a group that is being built. The hashes of all its ranges are kept until the size
// of its filters can be chosen. If they take too much memory, the size is chosen by the ranges so
// far.
struct BuiltGroup {
  int ranges;     // that were read; 0: the group has no complete range
  RangeSlot slot; // without the place of the lines; `units` is 0 until the size is chosen
  uint8 *filters; // of all ranges, one after the other
  GrowingArray<uint64> hashes; // of the ranges that were read, distinct in each
  int64 end[kGroupRanges];     // of each range's hashes
  uint64 counts[kGroupRanges]; // of distinct hashes in each range
  bool is_full[kGroupRanges];  // the range has too many; its filter is all ones
};

// Makes the filters of the complete ranges of a group, in memory of the current context.
// `maintenance_work_mem` bounds the hashes.
void build_group(HeapReader *reader, const RangeMeta &meta, uint32 number, BlockNumber table_blocks,
                 BuiltGroup *group);

// The content of the page of one of the group's lines. `slices` has kContentBytes bytes.
void make_line(const BuiltGroup &group, uint32 line, uint8 *slices);
// Writes the page of a line. The whole index is logged when all groups are built.
void write_line(Relation index, const RangeSlot &slot, uint32 number, uint32 line,
                const uint8 *slices);

// Reports to pg_stat_progress_create_index how many blocks and rows have been read.
void report_progress(uint64 blocks, double rows);

// What a build found.
struct BuildTotals {
  uint64 blocks;         // of the groups
  double rows;           // in these blocks
  TransactionId skipped; // as HeapReader has it
};

// Builds all groups with workers. Returns false, and does nothing, if workers would not help or
// cannot be had.
bool build_in_parallel(Relation table, Relation index, const IndexInfo *info,
                       BlockNumber table_blocks, BuildTotals *totals);

} // namespace bloomfilter
