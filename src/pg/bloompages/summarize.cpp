// See summarize.hpp.
//
// The steps for one or more ranges, each in WAL records of its own:
//
// 1. If they are the first of their group: read their rows, choose the geometry of the group, write
//    empty pages of lines, and then the group's slot.
// 2. `filling` grows. From now on, whoever inserts a row into these ranges sets its bits.
// 3. Read the rows, note the newest deletion of one that is left out, and set their bits, line by
//    line.
// 4. `ready` grows to the end of these ranges.
//
// If the filters of the group turn out far too small in step 3, the group gets new lines instead,
// as in step 1, and a slot in which no range is ready.
//
// A crash or an error after step 2 leaves ranges that are being filled. Filling them again needs no
// cleanup, because bits are only set.

#include "pg/bloompages/summarize.hpp"

#include <algorithm>

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/bloompages/access_method.hpp"
#include "pg/value/bitmaps.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "commands/vacuum.h"
#include "optimizer/clauses.h"
#include "utils/guc.h"
#include "utils/resowner.h"
}

namespace bloomfilter {
namespace {

constexpr uint32 kMostAttempts = 3; // of INSERTs; VACUUM tries again
// A range with empty pages gets its filter when this number of ranges follows it.
constexpr uint64 kRangesToWait = 8;

// Writes empty pages of a group's lines after all pages that are in use. They are in no slot yet,
// so after a crash they are written again.
void write_empty_lines(Relation index, const RangeSlot &slot, uint32 group) {
  for (uint32 line = 0; line < slot.lines(); line++) {
    CHECK_FOR_INTERRUPTS();
    const Buffer buffer = lock_new_page(index, slot.start + line);
    GenericXLogState *record = GenericXLogStart(index);
    initialize_line(GenericXLogRegisterBuffer(record, buffer, GENERIC_XLOG_FULL_IMAGE), group,
                    line);
    GenericXLogFinish(record);
    UnlockReleaseBuffer(buffer);
  }
}

// The number of hashes that a range is expected to get, by the size of the table. For a group whose
// first ranges have no rows now, as after a DELETE.
uint64 expected_count(const HeapReader &reader, uint32 range_pages) {
  constexpr double kRowsOfPage = 64; // if the server does not know either
  constexpr double kKeysOfValue = 4; // that are new in the range
  BlockNumber pages = 0;
  double rows = 0, all_visible;
  table_relation_estimate_size(reader.table, nullptr, &pages, &rows, &all_visible);
  const double rows_of_page = rows > 0 ? rows / pages : kRowsOfPage;
  return static_cast<uint64>(rows_of_page * range_pages * reader.columns.count *
                             (reader.columns.have_keys ? kKeysOfValue : 1));
}

// The number of hashes for which the filters of a group are sized. `counts` are those of its first
// ranges. Later ranges may have more, so the group before counts, too, up to twice its mean: one
// range with unusually many hashes must not decide.
uint64 count_to_size_for(const HeapReader &reader, const NextRange &next, const uint64 *counts,
                         int ranges) {
  const bool have_keys = reader.columns.have_keys;
  const uint64 usual = usual_count(counts, ranges, have_keys);
  if (next.group == 0)
    return usual;
  const RangeSlot before =
      read_range_slot(reader.index, slot_place(next.meta.directory, next.group - 1));
  const uint32 pages_before = group_blocks(next.meta.range_pages, next.group - 1).range_pages;
  const uint64 mean = before.values / Max(before.ready, uint8{1});
  const uint64 usual_before = Min(uint64{before.usual}, 2 * mean);
  return Max(usual, usual_before * next.blocks.range_pages / pages_before);
}

// Reads ranges to find out how large the filters of their group have to be, and makes the group.
RangeMeta add_group(HeapReader *reader, const NextRange &next, int ranges, KeySet *hashes) {
  Relation index = reader->index;
  change_range_meta(index, [](RangeMeta *changed) { changed->attempts++; });
  const HashCopies copies = copies_of(reader, next.meta, next.group, ranges,
                                      RelationGetNumberOfBlocks(reader->table), hashes);
  uint64 counts[kMostFilled];
  for (int i = 0; i < ranges; i++) {
    read_row_hashes(reader, next.blocks.begin(i), next.blocks.begin(i + 1), copies, hashes);
    counts[i] = telling_count(hashes);
  }
  const RangeSlot slot = new_slot(*reader, next.meta, next.group, copies,
                                  count_to_size_for(*reader, next, counts, ranges));
  write_empty_lines(index, slot, next.group);
  write_slot(index, next.meta, slot, next.group);
  return read_range_meta(index);
}

// Lets whoever inserts a row into the ranges before `end` set its bits. Returns the slot.
RangeSlot begin_filling(Relation index, const SlotPlace &place, int end) {
  change_slot(index, place, [=](RangeSlot *slot) {
    slot->filling = Max(slot->filling, static_cast<uint8>(end));
    slot->attempts = static_cast<uint8>(Min(slot->attempts + 1U, kMostAttempts));
  });
  return read_range_slot(index, place);
}

// The filters of the ranges of one turn, in memory, one after the other.
struct RangeFilters {
  uint8 *bits;
  uint64 values; // hashes in all of them
  uint64 usual;  // usual_count() of them
};

RangeFilters make_filters(HeapReader *reader, const NextRange &next, const RangeSlot &slot,
                          int ranges, KeySet *hashes) {
  const Geometry geometry = slot.geometry();
  RangeFilters filters = {};
  filters.bits = static_cast<uint8 *>(MemoryContextAllocExtended(
      CurrentMemoryContext, ranges * geometry.bytes(), MCXT_ALLOC_ZERO | MCXT_ALLOC_HUGE));
  uint64 counts[kMostFilled];
  for (int i = 0; i < ranges; i++) {
    const int range = next.range + i;
    read_row_hashes(reader, next.blocks.begin(range), next.blocks.begin(range + 1), slot.copies,
                    hashes);
    add_to_filter(geometry, filters.bits + i * geometry.bytes(), hashes);
    counts[i] = telling_count(hashes);
    filters.values += counts[i];
  }
  filters.usual = usual_count(counts, ranges, reader->columns.have_keys);
  return filters;
}

// Makes a group again if its ranges, which usually have this number of hashes, need much larger
// filters. This happens if its first ranges had one value in all rows, as after ALTER TABLE ... ADD
// COLUMN ... DEFAULT. True if the group was made again. Then the ranges get their filters in later
// turns. The old lines stay as they are for scans that read them just now, and belong to nothing.
bool make_group_again(const HeapReader &reader, uint32 group, const RangeSlot &slot, uint64 usual) {
  constexpr uint32 kMuchLarger = 2;
  if (usual == 0)
    return false;
  const RangeMeta meta = read_range_meta(reader.index);
  const RangeSlot better = new_slot(reader, meta, group, slot.copies, usual);
  if (better.lines() <= kMuchLarger * slot.lines())
    return false;
  write_empty_lines(reader.index, better, group);
  write_slot(reader.index, meta, better, group);
  return true;
}

// Sets in a group's lines the bits of the filters of some ranges. The filters follow each other.
void set_filter_bits(Relation index, const RangeSlot &slot, const NextRange &next,
                     const uint8 *filters, int ranges) {
  const Size bytes = slot.geometry().bytes();
  auto *bits = make_array<LineBit>(static_cast<Size>(kLineBits) * kMostFilled);
  for (uint32 line = 0; line < slot.lines(); line++) {
    CHECK_FOR_INTERRUPTS();
    int count = 0;
    for (int bit = 0; bit < kLineBits; bit++)
      for (int i = 0; i < ranges; i++)
        if (filters[i * bytes + line * kLineBytes + bit / 8] >> bit % 8 & 1)
          bits[count++] = {static_cast<uint16>(bit), static_cast<uint8>(next.range + i)};
    if (count > 0)
      set_line_bits(index, slot, next.group, line, bits, count);
  }
  pfree(bits);
}

// Lets scans read the filters of the ranges before `end`.
void end_filling(Relation index, const SlotPlace &place, int end, const RangeFilters &filters) {
  change_slot(index, place, [&](RangeSlot *slot) {
    slot->ready = static_cast<uint8>(end);
    slot->attempts = 0;
    slot->usual = Max(slot->usual, static_cast<uint32>(filters.usual));
    slot->values += filters.values;
  });
}

// How many of the next ranges, one after the other, have pages to which no rows are just being
// added. Servers from 16 on extend a table by many pages at once, so the pages before a row may
// still be empty. But pages that are empty after a crash must not stop all later ranges from
// getting their filters.
int ranges_at_rest(Relation table, const NextRange &next, int ranges, BlockNumber block) {
  int count = 0;
  while (count < ranges &&
         (next.end(count + 1) + kRangesToWait * next.blocks.range_pages <= block ||
          mostly_have_rows(table, next.blocks.begin(next.range + count), next.end(count + 1))))
    count++;
  return count;
}

// The most ranges that get their filters in one turn: eight, but no more than are left in the
// group, and no more heap pages than an INSERT should read.
int ranges_of_turn(const NextRange &next) {
  const auto pages = static_cast<int>(kMostChosenPages / next.blocks.range_pages);
  return Min(Min(kMostFilled, kGroupRanges - next.range), Max(pages, 1));
}

// The number of pages that are read for each heap page, with those of long values.
double pages_per_heap_page(Relation table) {
  if (!OidIsValid(table->rd_rel->reltoastrelid))
    return 1;
  Relation toast = table_open(table->rd_rel->reltoastrelid, AccessShareLock);
  const double pages = RelationGetNumberOfBlocks(toast);
  table_close(toast, AccessShareLock);
  return 1 + pages / Max(RelationGetNumberOfBlocks(table), 1U);
}

// True if all functions of the index may be called while VACUUM has workers. One in PL/pgSQL with
// EXCEPTION, for example, begins a subtransaction, and that would be an error.
bool may_be_parallel(Relation index) {
  Query *expressions = makeNode(Query);
  expressions->targetList =
      list_concat(RelationGetIndexExpressions(index), RelationGetIndexPredicate(index));
  return max_parallel_hazard(expressions) != PROPARALLEL_UNSAFE &&
         are_parallel_safe(read_columns(index));
}

IndexBulkDeleteResult *statistics_of(const IndexVacuumInfo *info, IndexBulkDeleteResult *result) {
  result = started(result);
  result->num_pages = RelationGetNumberOfBlocks(info->index);
  result->num_index_tuples = info->num_heap_tuples;
  result->estimated_count = info->estimated_count;
  return result;
}

// True if an error does not come from the index's functions: somebody wants the statement to end,
// or the server is in trouble, as with a full disk or a damaged page. Then the INSERT must fail.
// Lack of memory is no such error: a function may need it for a row of somebody else.
bool ends_statement(int code) {
  const int category = ERRCODE_TO_CATEGORY(code);
  return category == ERRCODE_OPERATOR_INTERVENTION || category == ERRCODE_SYSTEM_ERROR ||
         code == ERRCODE_DISK_FULL || code == ERRCODE_DATA_CORRUPTED ||
         code == ERRCODE_INDEX_CORRUPTED;
}

// Gives ranges their filters in a subtransaction. An error is logged and does not fail the INSERT:
// the functions of the index may have been called for a row that is not the caller's. Cancels,
// shutdowns, full disks and damaged pages end the INSERT all the same. The caller does not see what
// the functions say of such rows, either, unless they say it with RAISE INFO, which the server
// always sends. False if an error was logged.
bool summarize_or_log(Relation table, Relation index, const NextRange &next, int ranges) {
  const MemoryContext before = CurrentMemoryContext;
  const ResourceOwner owner = CurrentResourceOwner;
  const MemoryContext memory =
      AllocSetContextCreate(before, "bloomfilter range", ALLOCSET_DEFAULT_SIZES);
  volatile bool is_done = true;
  BeginInternalSubTransaction(nullptr);
  PG_TRY();
  {
    MemoryContextSwitchTo(memory);
    const CallerRights caller = act_as_owner(table);
    (void)set_config_option("client_min_messages", "error", PGC_USERSET, PGC_S_SESSION,
                            GUC_ACTION_SAVE, true, 0, false);
    HeapReader reader = open_heap_reader(table, index);
    summarize(&reader, next, ranges);
    close_reader(&reader);
    act_as_caller(caller);
    ReleaseCurrentSubTransaction();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(memory);
    ErrorData *error = CopyErrorData();
    FlushErrorState();
    RollbackAndReleaseCurrentSubTransaction();
    CurrentResourceOwner = owner;
    if (ends_statement(error->sqlerrcode))
      ReThrowError(error);
    // The caller's client_min_messages holds again, and the message may quote somebody's row.
    ereport(LOG_SERVER_ONLY,
            (errcode(error->sqlerrcode),
             errmsg("could not make filters of index \"%s\": %s", RelationGetRelationName(index),
                    error->message),
             errhint("The rows stay in the part that every scan reads, until VACUUM or "
                     "bf_index_tidy() makes the filters.")));
    is_done = false;
  }
  PG_END_TRY();
  MemoryContextSwitchTo(before);
  CurrentResourceOwner = owner;
  MemoryContextDelete(memory);
  return is_done;
}

// The number of ranges that get their filters because a row was put into a heap page; often 0.
int ranges_due(const NextRange &next, bool has_keys, BlockNumber block) {
  if (next.group >= kMaxGroups || next.blocks.range_pages > kMostChosenPages ||
      next.attempts >= kMostAttempts)
    return 0;
  const int most = ranges_of_turn(next), least = has_keys ? most : 1;
  int ranges = 0;
  while (ranges < most && next.end(ranges + 1) + next.blocks.range_pages <= block)
    ranges++;
  return ranges < least ? 0 : ranges;
}

} // namespace

uint64 usual_count(const uint64 *counts, int ranges, bool have_keys) {
  constexpr uint64 kFewHashes = 64; // have room in a filter that was made for more
  constexpr int kLeastShare = 8;    // of the ranges with values have more, for these to decide
  uint64 sorted[kGroupRanges];
  const auto not_empty = ranges - std::count(counts, counts + ranges, uint64{0});
  uint64 *end = std::copy_if(counts, counts + ranges, sorted,
                             [](uint64 count) { return count > kFewHashes; });
  if (kLeastShare * (end - sorted) < not_empty)
    end = std::remove_copy(counts, counts + ranges, sorted, uint64{0});
  if (end == sorted)
    return 0;
  // Newer compilers export what std::sort() makes without a comparison of our own.
  std::sort(sorted, end, [](uint64 a, uint64 b) { return a < b; });
  const uint64 most = 2 * sorted[(end - sorted - 1) / 2];
  if (!have_keys)
    return Min(end[-1], most);
  uint64 sum = 0;
  for (const uint64 *count = sorted; count != end; count++)
    sum += Min(*count, most);
  return sum / static_cast<uint64>(end - sorted);
}

uint64 telling_count(KeySet *hashes) {
  return hashes->is_full() ? 0 : hashes->count();
}

HashCopies copies_of(HeapReader *reader, const RangeMeta &meta, uint32 group, int ranges,
                     BlockNumber table_blocks, KeySet *hashes) {
  HashCopies copies = {1, 1, 1};
  if (!reader->columns.have_keys)
    return copies;
  const double wanted = default_range_rate(group, range_count(meta.range_pages, table_blocks));
  copies.value = copies_for(meta.rate, wanted);
  copies.key = reader->columns.have_ngrams ? copies_for(meta.rate, kKeyRate) : uint8{1};
  if (copies.value == 1)
    return copies;
  constexpr double kManyValues = 0.02; // with this share, `=` is to be sharp for each of them
  constexpr uint32 kLeastPages = 8;    // fewer have too few values to tell a share
  double share = 1;
  if (ranges > 1) {
    const GroupBlocks blocks = group_blocks(meta.range_pages, group);
    const double rows = reader->rows;
    read_row_hashes(reader, blocks.begin(0), blocks.begin(1), copies, hashes);
    reader->rows = rows;
    const Geometry geometry = key_geometry(hashes->count(), meta.rate);
    auto *filter = static_cast<uint8 *>(MemoryContextAllocExtended(
        CurrentMemoryContext, geometry.bytes(), MCXT_ALLOC_ZERO | MCXT_ALLOC_HUGE));
    add_to_filter(geometry, filter, hashes);
    const int end = Min(ranges, 1 + static_cast<int>(Max(kLeastPages / blocks.range_pages, 1U)));
    share = share_with_keys(reader, blocks.begin(1), blocks.begin(end), geometry, filter);
    pfree(filter);
  }
  copies.keyed_value = copies_for(meta.rate, wanted, share > kManyValues ? 1 : share);
  return copies;
}

RangeSlot new_slot(const HeapReader &reader, const RangeMeta &meta, uint32 group, HashCopies copies,
                   uint64 count) {
  const BlockNumber table_blocks = RelationGetNumberOfBlocks(reader.table);
  if (count == 0)
    count = expected_count(reader, group_blocks(meta.range_pages, group).range_pages);
  const double rate = range_rate(meta, group, table_blocks);
  const Geometry geometry =
      reader.columns.have_keys ? key_geometry(count, rate) : range_geometry(count, rate);
  RangeSlot slot = {};
  slot.start = meta.blocks;
  slot.units = geometry.units;
  slot.layout = geometry.layout;
  slot.k = geometry.k;
  slot.copies = copies;
  return slot;
}

void add_to_filter(const Geometry &geometry, uint8 *filter, KeySet *hashes) {
  if (hashes->is_full())
    memset(filter, 0xFF, geometry.bytes());
  else
    kernel->add_many(geometry, filter, hashes->distinct().items, hashes->count());
}

void note_skipped(const HeapReader &reader) {
  if (!TransactionIdIsValid(reader.skipped))
    return;
  const uint64 skipped = full_transaction_id(reader.skipped);
  change_range_meta(reader.index,
                    [=](RangeMeta *meta) { meta->skipped = Max(meta->skipped, skipped); });
}

void write_slot(Relation index, const RangeMeta &meta, const RangeSlot &slot, uint32 group) {
  const bool extends = group / kRangeSlots == meta.directories;
  const BlockNumber after = slot.start + slot.lines();
  const BlockNumber block = extends ? after : meta.directory[group / kRangeSlots];
  const Buffer directory =
      extends ? lock_new_page(index, block)
              : lock_range_page(index, block, PageKind::range_directory, BUFFER_LOCK_EXCLUSIVE);
  const Buffer meta_buffer =
      lock_range_page(index, kMetaBlock, PageKind::range_meta, BUFFER_LOCK_EXCLUSIVE);
  GenericXLogState *record = GenericXLogStart(index);
  Page page = GenericXLogRegisterBuffer(record, directory, extends ? GENERIC_XLOG_FULL_IMAGE : 0);
  if (extends)
    initialize_page(page, PageKind::range_directory);
  RangeSlot *written = &changed_content<RangeSlot>(page)[group % kRangeSlots];
  *written = slot;
  written->check = check_of(slot);
  change_content_in<RangeMeta>(record, meta_buffer, 0, [=](RangeMeta *changed) {
    changed->groups = group + 1;
    changed->attempts = 0;
    changed->blocks = after + (extends ? 1 : 0);
    if (extends)
      changed->directory[changed->directories++] = block;
  });
  GenericXLogFinish(record);
  UnlockReleaseBuffer(meta_buffer);
  UnlockReleaseBuffer(directory);
}

NextRange next_range(Relation index) {
  NextRange next = {};
  next.meta = read_range_meta(index);
  next.attempts = next.meta.attempts;
  if (next.meta.groups > 0) {
    next.group = next.meta.groups - 1;
    const RangeSlot slot = read_range_slot(index, slot_place(next.meta.directory, next.group));
    next.has_slot = slot.ready < kGroupRanges;
    next.group += next.has_slot ? 0 : 1;
    next.range = next.has_slot ? slot.ready : 0;
    next.attempts = next.has_slot ? slot.attempts : next.meta.attempts;
  }
  next.blocks = group_blocks(next.meta.range_pages, next.group);
  return next;
}

double range_rate(const RangeMeta &meta, uint32 group, BlockNumber table_blocks) {
  return meta.rate != 0 ? meta.rate
                        : default_range_rate(group, range_count(meta.range_pages, table_blocks));
}

void summarize(HeapReader *reader, const NextRange &next, int ranges) {
  Relation index = reader->index;
  KeySet hashes(CurrentMemoryContext);
  const RangeMeta meta = next.has_slot ? next.meta : add_group(reader, next, ranges, &hashes);
  const SlotPlace place = slot_place(meta.directory, next.group);
  const RangeSlot slot = begin_filling(index, place, next.range + ranges);
  const RangeFilters filters = make_filters(reader, next, slot, ranges, &hashes);
  hashes.release();
  note_skipped(*reader);
  if (!make_group_again(*reader, next.group, slot, filters.usual)) {
    set_filter_bits(index, slot, next, filters.bits, ranges);
    end_filling(index, place, next.range + ranges, filters);
  }
  pfree(filters.bits);
}

void summarize_all(Relation table, Relation index, void (*pause)()) {
  HeapReader reader = open_heap_reader(table, index, pause);
  for (;;) {
    const NextRange next = next_range(index);
    const BlockNumber blocks = RelationGetNumberOfBlocks(table);
    int ranges = 0;
    while (ranges < ranges_of_turn(next) && next.end(ranges + 1) <= blocks)
      ranges++;
    if (next.group >= kMaxGroups || ranges == 0)
      break;
    summarize(&reader, next, ranges);
  }
  close_reader(&reader);
}

void summarize_for_insert(Relation table, Relation index, bool has_keys, bool is_partial,
                          BlockNumber block) {
  if (IsInParallelMode() || ranges_due(next_range(index), has_keys, block) == 0 ||
      !may_act_as_owner(table, index) || !try_lock_work(index))
    return;
  const double pages_of_page = pages_per_heap_page(table);
  double pages = kMostChosenPages; // that are left to read
  do {
    const NextRange next = next_range(index); // somebody else may have been faster
    const double pages_of_range = next.blocks.range_pages * pages_of_page;
    const int most = Max(static_cast<int>(pages / pages_of_range), 1);
    const int ranges =
        ranges_at_rest(table, next, Min(ranges_due(next, has_keys, block), most), block);
    if (ranges == 0 || !summarize_or_log(table, index, next, ranges))
      break;
    pages -= ranges * pages_of_range;
  } while (is_partial && pages > 0); // the next row of the index may be far away
  unlock_work(index);
}

// Dead tuples stay in the filters, because a bit may belong to several values. They cost only false
// positives. So bulk deletion has nothing to do.
IndexBulkDeleteResult *delete_nothing(IndexVacuumInfo *, IndexBulkDeleteResult *result,
                                      IndexBulkDeleteCallback, void *) {
  return started(result);
}

IndexBulkDeleteResult *vacuum_ranges(IndexVacuumInfo *info, IndexBulkDeleteResult *result) {
  if (info->analyze_only)
    return result;
  Relation index = info->index;
  if (IsInParallelMode() && !may_be_parallel(index)) {
    ereport(WARNING,
            (errmsg("index \"%s\" gets no filters from a VACUUM with parallel workers, because not "
                    "all of its functions are parallel safe",
                    RelationGetRelationName(index)),
             errhint("Use VACUUM (PARALLEL 0), or bf_index_tidy().")));
    return statistics_of(info, result);
  }
  Relation table = table_open(index->rd_index->indrelid, AccessShareLock);
  // VACUUM acts as the owner already, but restricts search_path only from 17 on.
  const CallerRights caller = act_as_owner(table);
  lock_work(index);
  summarize_all(table, index, [] { vacuum_delay_point(false); });
  unlock_work(index);
  act_as_caller(caller);
  table_close(table, AccessShareLock);
  return statistics_of(info, result);
}

} // namespace bloomfilter
