// Builds a bloompages index (CREATE INDEX, REINDEX).
//
// A build reads the heap pages of a group, makes the filters of its ranges in memory, and writes
// their lines side by side. It needs no sort and no snapshot, so it takes a fraction of a btree's
// time. The last pages of the table, which are no complete range, get no filter.
//
// CREATE INDEX CONCURRENTLY calls insert_into_ranges() for every row again after the build, because
// bulk deletion reports no row of the index. So rows that others have added meanwhile get their
// bits.

#include "pg/list.hpp"
#include "pg/bloompages/access_method.hpp"
#include "pg/bloompages/build.hpp"
#include "pg/bloompages/summarize.hpp"
#include "pg/value/bitmaps.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/parallel.h"
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

bool is_deterministic(Oid collation) {
  return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

// True if the server's hash functions for the type give equal values different hashes under this
// collation: that of `name` always, and that of `bpchar` before 16 if blanks follow.
bool hashes_differ(Oid type, Oid collation) {
  return (type == NAMEOID || type == BPCHAROID) && !is_deterministic(collation);
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

// The same for the type of a column's keys, if it is known.
void check_key_type(Relation index, const IndexedColumn &column) {
  const Oid type = key_type_of(index, column.number);
  if (OidIsValid(type) && !column.has_values)
    check_column_type(type, column.key_collation, InvalidOid);
}

void check_definition(Relation table, Relation index) {
  if (table->rd_tableam != GetHeapamTableAmRoutine())
    raise_unsupported("tables of other access methods than heap",
                      "Use an index of another access method, such as btree.");
  const IndexedColumns columns = read_columns(index);
  for (int i = 0; i < columns.count; i++) {
    const IndexedColumn &column = columns.items[i];
    if (column.has_ngrams && !is_deterministic(column.collation))
      raise_unsupported("n-grams under a nondeterministic collation",
                        "Give the column of the index another collation, such as \"C\".");
    if (column.has_keys)
      check_key_type(index, column);
    if (column.has_values) {
      check_column_type(column.type, column.collation, column.class_type);
      check_equality(column.type, column.class_type, column.family);
    }
  }
}

uint8 *filter_of(const BuiltGroup &group, int range) {
  return group.filters + static_cast<Size>(range) * group.slot.geometry().bytes();
}

// Chooses the size of the filters by the ranges that were read, and moves their hashes into them.
void choose_size(const HeapReader &reader, const RangeMeta &meta, uint32 number,
                 BuiltGroup *group) {
  const HashCopies copies = group->slot.copies;
  group->slot = new_slot(reader, meta, number, copies,
                         usual_count(group->counts, group->ranges, reader.columns.have_keys));
  const Geometry geometry = group->slot.geometry();
  group->filters = static_cast<uint8 *>(MemoryContextAllocExtended(
      CurrentMemoryContext, kGroupRanges * geometry.bytes(), MCXT_ALLOC_ZERO | MCXT_ALLOC_HUGE));
  for (int range = 0; range < group->ranges; range++) {
    const int64 begin = range == 0 ? 0 : group->end[range - 1];
    if (group->is_full[range])
      memset(filter_of(*group, range), 0xFF, geometry.bytes());
    else
      kernel->add_many(geometry, filter_of(*group, range), group->hashes.items + begin,
                       static_cast<Size>(group->end[range] - begin));
  }
}

// Keeps the hashes of a range until the size of the filters is known.
void keep_hashes(BuiltGroup *group, int range, KeySet *hashes) {
  group->is_full[range] = hashes->is_full();
  if (!hashes->is_full())
    for (const uint64 hash : hashes->distinct())
      group->hashes.add(hash);
  group->end[range] = group->hashes.count;
}

// Builds all groups, one after the other.
BuildTotals build_alone(Relation index, HeapReader *reader, BlockNumber table_blocks) {
  const MemoryContext memory =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter group", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext before = MemoryContextSwitchTo(memory);
  BuildTotals totals = {};
  for (uint32 number = 0; number < kMaxGroups; number++) {
    MemoryContextReset(memory);
    RangeMeta meta = read_range_meta(index);
    auto *group = make_zeroed<BuiltGroup>();
    build_group(reader, meta, number, table_blocks, group);
    if (group->ranges == 0)
      break;
    group->slot.start = meta.blocks;
    for (uint32 line = 0; line < group->slot.lines(); line++) {
      uint8 slices[kContentBytes];
      make_line(*group, line, slices);
      write_line(index, group->slot, number, line, slices);
    }
    write_slot(index, meta, group->slot, number);
    totals.blocks = group_blocks(meta.range_pages, number).begin(group->ranges);
  }
  totals.rows = reader->rows;
  totals.skipped = reader->skipped;
  MemoryContextSwitchTo(before);
  MemoryContextDelete(memory);
  return totals;
}

// Builds all groups. Returns the number of rows of the table. The pages after the groups are read,
// too, to count their rows.
double build_groups(Relation table, Relation index, const IndexInfo *info) {
  const BlockNumber blocks = RelationGetNumberOfBlocks(table);
  pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, blocks);
  HeapReader reader = open_heap_reader(table, index);
  BuildTotals totals = {};
  if (!build_in_parallel(table, index, info, blocks, &totals))
    totals = build_alone(index, &reader, blocks);
  reader.rows = totals.rows;
  reader.skipped = totals.skipped;
  count_rows(&reader, totals.blocks, blocks);
  report_progress(blocks, reader.rows);
  note_skipped(reader);
  const double rows = reader.rows;
  close_reader(&reader);
  return rows;
}

// Writes an index without groups. If the index has keys, its false positive rate is fixed.
void make_empty_index(Relation index, ForkNumber fork) {
  const RangeOptions options = range_options(index);
  const IndexedColumns columns = read_columns(index);
  const double chosen = columns.have_ngrams ? kNgramRate : columns.have_keys ? kKeyRate : 0.0;
  make_empty_range_index(index, fork, static_cast<uint32>(options.pages_per_range),
                         options.fpr > 0 ? options.fpr : chosen);
}

} // namespace

void report_progress(uint64 blocks, double rows) {
  pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, static_cast<int64>(blocks));
  pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, static_cast<int64>(rows));
}

void build_group(HeapReader *reader, const RangeMeta &meta, uint32 number, BlockNumber table_blocks,
                 BuiltGroup *group) {
  const GroupBlocks blocks = group_blocks(meta.range_pages, number);
  const auto most_hashes =
      static_cast<int64>(maintenance_work_mem) * 1024 / static_cast<int64>(sizeof(uint64));
  int complete = 0;
  while (complete < kGroupRanges && blocks.begin(complete + 1) <= table_blocks)
    complete++;
  KeySet hashes(CurrentMemoryContext);
  const HashCopies copies = copies_of(reader, meta, number, complete, table_blocks, &hashes);
  group->slot.copies = copies;
  uint64 values = 0;
  for (int range = 0; range < complete; range++) {
    read_row_hashes(reader, blocks.begin(range), blocks.begin(range + 1), copies, &hashes);
    group->counts[range] = telling_count(&hashes);
    values += group->counts[range];
    if (group->slot.units > 0)
      add_to_filter(group->slot.geometry(), filter_of(*group, range), &hashes);
    else
      keep_hashes(group, range, &hashes);
    group->ranges = range + 1;
    if (group->slot.units == 0 && group->hashes.count > most_hashes)
      choose_size(*reader, meta, number, group);
    if (!IsParallelWorker()) // the leader reports what it gets from its workers
      report_progress(blocks.begin(range + 1), reader->rows);
  }
  if (group->ranges > 0 && group->slot.units == 0)
    choose_size(*reader, meta, number, group);
  group->slot.ready = group->slot.filling = static_cast<uint8>(group->ranges);
  group->slot.usual =
      static_cast<uint32>(usual_count(group->counts, group->ranges, reader->columns.have_keys));
  group->slot.values = values;
}

void make_line(const BuiltGroup &group, uint32 line, uint8 *slices) {
  const uint8 *lines[kGroupRanges];
  for (int range = 0; range < kGroupRanges; range++)
    lines[range] = filter_of(group, range) + line * kLineBytes;
  write_slices(lines, kGroupRanges, slices);
}

void write_line(Relation index, const RangeSlot &slot, uint32 number, uint32 line,
                const uint8 *slices) {
  CHECK_FOR_INTERRUPTS();
  const Buffer buffer = lock_new_page(index, slot.start + line);
  Page page = BufferGetPage(buffer);
  START_CRIT_SECTION();
  MarkBufferDirty(buffer);
  initialize_line(page, number, line);
  memcpy(changed_content<uint8>(page), slices, kContentBytes);
  END_CRIT_SECTION();
  UnlockReleaseBuffer(buffer);
}

IndexBuildResult *build_range_index(Relation table, Relation index, IndexInfo *info) {
  check_page_size("bloompages");
  check_definition(table, index);
  if (RelationGetNumberOfBlocks(index) != 0)
    elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
  make_empty_index(index, MAIN_FORKNUM);
  const MemoryContext memory =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter ranges", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext before = MemoryContextSwitchTo(memory);
  // The build acts as the owner already, but servers before 17 do not restrict search_path. An
  // expression that needs another one must fail now, and not when a later INSERT makes a filter.
  const CallerRights caller = act_as_owner(table);
  const double rows = build_groups(table, index, info);
  act_as_caller(caller);
  MemoryContextSwitchTo(before);
  MemoryContextDelete(memory);
  if (RelationNeedsWAL(index))
    log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), false);
  auto *result = make_array<IndexBuildResult>(1);
  result->heap_tuples = result->index_tuples = rows;
  return result;
}

void build_empty_range_index(Relation index) {
  make_empty_index(index, INIT_FORKNUM);
}

} // namespace bloomfilter
