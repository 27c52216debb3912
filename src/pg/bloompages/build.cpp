// Builds a bloompages index (CREATE INDEX, REINDEX).
//
// A build reads the heap pages of a group, makes the filters of its ranges in memory, and writes
// their lines side by side. It needs no sort and no snapshot, so it takes a fraction of a btree's
// time. The last pages of the table, which are no complete range, get no filter. A build has one
// process: workers do not help.
//
// CREATE INDEX CONCURRENTLY calls insert_into_ranges() for every row again after the build, because
// bulk deletion reports no row of the index. So rows that others have added meanwhile get their
// bits.

#include <algorithm>

#include "pg/list.hpp"
#include "pg/bloompages/access_method.hpp"
#include "pg/bloompages/summarize.hpp"
#include "pg/value/bitmaps.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/xloginsert.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "nodes/execnodes.h"
#include "pgstat.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace bloomfilter {
namespace {

// Raises 0A000 for what such an index cannot have.
[[noreturn]] void raise_unsupported(const char *what, const char *hint) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("access method \"%s\" does not support %s", "bloompages", what),
                  errhint("%s", hint)));
}

// True if the server's hash functions for the type give equal values different hashes under this
// collation: that of `name` always, and that of `bpchar` before 16 if blanks follow.
bool hashes_differ(Oid type, Oid collation) {
  return (type == NAMEOID || type == BPCHAROID) && OidIsValid(collation) &&
         !get_collation_isdeterministic(collation);
}

// Raises 0A000 if a value of the type is a row or consists of rows. ALTER TYPE ... ADD ATTRIBUTE
// changes the hash of a stored row, so the index would lose it. Raises 0A000, too, if equal values
// can have different hashes. Raises 42883 if a part of the type has no hash function, so that no
// INSERT can fail later. If the operator class is for the type itself, it has the hash function.
void check_column_type(Oid column_type, Oid collation, Oid class_type) {
  const Oid type = getBaseType(column_type);
  const Oid element = get_base_element_type(type);
  if (OidIsValid(element))
    return check_column_type(element, collation, class_type);
  if (type_is_range(type))
    return check_column_type(get_range_subtype(type), get_range_collation(type), class_type);
  if (type_is_multirange(type))
    return check_column_type(get_multirange_range(type), collation, class_type);
  if (type_is_rowtype(type))
    raise_unsupported("rows", "Index the columns of the row, each for itself.");
  if (hashes_differ(type, collation))
    raise_unsupported(psprintf("type %s under a nondeterministic collation", format_type_be(type)),
                      "Index a column of type text, which can be a stored generated column.");
  if (type != class_type &&
      !OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("could not identify an extended hash function for type %s",
                           format_type_be(type)),
                    errhint("An index of access method \"%s\" hashes the values of its columns.",
                            "bloompages")));
}

// Raises 42704 if the server took the operator class of another type, to which it can convert the
// column's values, but whose equality is another. For citext, that is the operator class of text.
// No condition on such a column could use the index.
void check_equality(Oid column_type, Oid class_type, Oid family) {
  const Oid type = getBaseType(column_type);
  const Oid equality = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
  if (type != class_type && OidIsValid(equality) && !op_in_opfamily(equality, family))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                    errmsg("data type %s has no operator class for access method \"%s\"",
                           format_type_be(type), "bloompages"),
                    errdetail("The operator class for type %s has another equality operator.",
                              format_type_be(class_type)),
                    errhint("Create an operator class for the data type.")));
}

void check_definition(Relation table, Relation index, const IndexInfo *info) {
  if (table->rd_tableam != GetHeapamTableAmRoutine())
    raise_unsupported("tables of other access methods than heap",
                      "Use an index of another access method, such as btree.");
  if (info->ii_Predicate != NIL)
    raise_unsupported("partial indexes", "Leave out the WHERE clause of CREATE INDEX.");
  if (info->ii_Expressions != NIL)
    raise_unsupported("indexes on expressions",
                      "Index a stored generated column that has the expression.");
  const TupleDesc columns = RelationGetDescr(index);
  for (int i = 0; i < columns->natts; i++) {
    const Oid type = TupleDescAttr(columns, i)->atttypid;
    check_column_type(type, index->rd_indcollation[i], index->rd_opcintype[i]);
    check_equality(type, index->rd_opcintype[i], index->rd_opfamily[i]);
  }
}

// The filters of a group that is being built.
struct BuiltGroup {
  GrowingArray<uint64> hashes; // of all ranges that were read, distinct in each
  int64 end[kGroupRanges];     // of each range's hashes
  uint64 values[kGroupRanges]; // the number of distinct values of each range
  int ranges;
};

// Reads the complete ranges of a group.
void read_group(HeapReader *reader, const GroupBlocks &blocks, BlockNumber table_blocks,
                BuiltGroup *group) {
  group->hashes.count = 0;
  group->ranges = 0;
  GrowingArray<uint64> hashes = {};
  for (int range = 0; range < kGroupRanges && blocks.begin(range + 1) <= table_blocks; range++) {
    read_row_hashes(reader, blocks.begin(range), blocks.begin(range + 1), &hashes);
    for (const uint64 hash : hashes)
      group->hashes.add(hash);
    group->end[range] = group->hashes.count;
    group->values[range] = static_cast<uint64>(hashes.count);
    group->ranges = range + 1;
    pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE,
                                 static_cast<int64>(blocks.begin(range + 1)));
    pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, static_cast<int64>(reader->rows));
  }
  if (hashes.items)
    pfree(hashes.items);
}

// The number of values for which a group's filters are made. A few ranges with many more values
// than the others would make all filters large, so theirs become fuller than they should be. Ranges
// without values do not count: after a DELETE, most ranges may have none.
uint64 usual_values(const BuiltGroup &group) {
  uint64 sorted[kGroupRanges];
  uint64 *end = std::remove_copy(group.values, group.values + group.ranges, sorted, uint64{0});
  if (end == sorted)
    return 0;
  // Newer compilers export what std::sort() makes without a comparison of our own.
  std::sort(sorted, end, [](uint64 a, uint64 b) { return a < b; });
  return Min(end[-1], 2 * sorted[(end - sorted) / 2]);
}

// Writes the lines of a group. The whole index is logged when all groups are built.
void write_group_lines(Relation index, const RangeSlot &slot, uint32 number,
                       const BuiltGroup &group) {
  const Geometry geometry = slot.geometry();
  const Size bytes = geometry.bytes();
  auto *bitmaps = static_cast<uint8 *>(MemoryContextAllocExtended(
      CurrentMemoryContext, kGroupRanges * bytes, MCXT_ALLOC_ZERO | MCXT_ALLOC_HUGE));
  for (int range = 0; range < group.ranges; range++) {
    const int64 begin = range == 0 ? 0 : group.end[range - 1];
    kernel->add_many(geometry, bitmaps + range * bytes, group.hashes.items + begin,
                     static_cast<Size>(group.end[range] - begin));
  }
  for (uint32 line = 0; line < slot.lines(); line++) {
    CHECK_FOR_INTERRUPTS();
    const uint8 *lines[kGroupRanges];
    for (int range = 0; range < kGroupRanges; range++)
      lines[range] = bitmaps + range * bytes + line * kLineBytes;
    const Buffer buffer = lock_new_page(index, slot.start + line);
    Page page = BufferGetPage(buffer);
    START_CRIT_SECTION();
    MarkBufferDirty(buffer);
    initialize_line(page, number, line);
    write_slices(lines, kGroupRanges, changed_content<uint8>(page));
    END_CRIT_SECTION();
    UnlockReleaseBuffer(buffer);
  }
  pfree(bitmaps);
}

// Builds all groups, one after the other. The pages after them are read, too, because the caller
// has to know how many rows the table has.
void build_groups(Relation index, HeapReader *reader, BlockNumber table_blocks) {
  RangeMeta meta = read_range_meta(index);
  auto *group = make_zeroed<BuiltGroup>();
  uint64 built = 0; // the heap pages of the groups so far
  for (uint32 number = 0; number < kMaxGroups; number++) {
    const GroupBlocks blocks = group_blocks(meta.range_pages, number);
    read_group(reader, blocks, table_blocks, group);
    if (group->ranges == 0)
      break;
    built = blocks.begin(group->ranges);
    RangeSlot slot = new_slot(reader->table, index, meta, number, usual_values(*group));
    slot.ready = slot.filling = static_cast<uint8>(group->ranges);
    slot.most =
        static_cast<uint32>(*std::max_element(group->values, group->values + group->ranges));
    slot.values = static_cast<uint64>(group->hashes.count);
    write_group_lines(index, slot, number, *group);
    write_slot(index, meta, slot, number);
    meta = read_range_meta(index);
  }
  count_rows(reader, built, table_blocks);
}

} // namespace

IndexBuildResult *build_range_index(Relation table, Relation index, IndexInfo *info) {
  check_page_size("bloompages");
  check_definition(table, index, info);
  if (RelationGetNumberOfBlocks(index) != 0)
    elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
  const RangeOptions options = range_options(index);
  make_empty_range_index(index, MAIN_FORKNUM, static_cast<uint32>(options.pages_per_range),
                         options.fpr);
  const BlockNumber blocks = RelationGetNumberOfBlocks(table);
  pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, blocks);
  const MemoryContext memory =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter ranges", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext before = MemoryContextSwitchTo(memory);
  HeapReader reader = open_heap_reader(table, index);
  build_groups(index, &reader, blocks);
  const double rows = reader.rows;
  close_reader(&reader);
  MemoryContextSwitchTo(before);
  MemoryContextDelete(memory);
  if (RelationNeedsWAL(index))
    log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), false);
  auto *result = make_array<IndexBuildResult>(1);
  result->heap_tuples = result->index_tuples = rows;
  return result;
}

void build_empty_range_index(Relation index) {
  const RangeOptions options = range_options(index);
  make_empty_range_index(index, INIT_FORKNUM, static_cast<uint32>(options.pages_per_range),
                         options.fpr);
}

} // namespace bloomfilter
