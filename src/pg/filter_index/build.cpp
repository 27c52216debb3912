// Builds an index (CREATE INDEX, REINDEX), and adds rows to it (INSERT, UPDATE, COPY).
//
// A build collects the table's filters in memory, in one batch for each key. It writes a group as
// soon as a batch has 127 filters. If the batches exceed maintenance_work_mem, it writes groups of
// the filters that it has. Filters that are left at the end, or can be in no group, go into the
// list.
//
// An INSERT adds the row to the list. If the list is full, the INSERT moves rows from the list into
// groups, so now and then an INSERT takes longer. A build has one process: workers do not help.

#include "pg/filter_index/access_method.hpp"
#include "pg/filter_index/move.hpp"
#include "pg/filter_index/row_list.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/tableam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "pgstat.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// An entry of the hash table of batches.
struct KeyedBatch {
  GroupKey key; // first, because a hash table of the server requires it
  ColumnBatch *batch;
};

// build_index() sets all fields.
struct IndexBuild {
  Relation index;
  HTAB *batches;
  MemoryContext memory;  // for the batches
  MemoryContext scratch; // reset after each row
  Size used;             // bytes that the batches take
  double rows;           // that were added to the index
};

HTAB *make_batch_table(MemoryContext memory) {
  HASHCTL control = {};
  control.keysize = sizeof(GroupKey);
  control.entrysize = sizeof(KeyedBatch);
  control.hcxt = memory;
  return hash_create("bloomfilter keys", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

// Makes groups of a batch's filters. Filters that are too few for a group go into the list.
void write_batch(IndexBuild *build, ColumnBatch *batch) {
  const auto nothing = [](const IndexedRow *, int) {};
  while (make_batch(build->index, batch, nothing) > 0)
    ;
  const auto least = static_cast<uint16>(least_columns(batch->key));
  for (int i = 0; i < batch->count; i++)
    (void)append_entry(build->index, {batch->columns[i].row, least, key_hash(batch->key)});
}

void flush_all(IndexBuild *build) {
  HASH_SEQ_STATUS status;
  hash_seq_init(&status, build->batches);
  while (auto *entry = static_cast<KeyedBatch *>(hash_seq_search(&status))) {
    CHECK_FOR_INTERRUPTS();
    write_batch(build, entry->batch);
  }
  MemoryContextReset(build->memory);
  build->batches = make_batch_table(build->memory);
  build->used = 0;
}

ColumnBatch *batch_for(IndexBuild *build, const GroupKey &key) {
  bool found;
  auto *entry = static_cast<KeyedBatch *>(hash_search(build->batches, &key, HASH_ENTER, &found));
  if (!found) {
    entry->batch = nullptr;
    entry->batch = make_array<ColumnBatch>(1, build->memory);
    start_batch(entry->batch, key, maintenance_work_mem);
    build->used += sizeof(ColumnBatch) + sizeof(KeyedBatch);
  }
  return entry->batch;
}

void add_filter(IndexBuild *build, const ItemPointerData &tid, const Filter &filter,
                const GroupKey &key) {
  const Size budget = static_cast<Size>(maintenance_work_mem) * 1024;
  if (build->used > 0 && build->used + key.bytes() > budget)
    flush_all(build);
  ColumnBatch *batch = batch_for(build, key);
  const MemoryContext before = MemoryContextSwitchTo(build->memory);
  uint8 *bitmap = add_column(batch, row_at(tid));
  MemoryContextSwitchTo(before);
  copy_bitmap(filter, bitmap);
  build->used += key.bytes();
  if (batch->count == batch->most) {
    const int made = make_batch(build->index, batch, [](const IndexedRow *, int) {});
    build->used -= static_cast<Size>(made) * key.bytes();
    if (made == 0)
      flush_all(build);
  }
}

void add_built_row(Relation index, ItemPointer tid, Datum *values, bool *nulls, bool, void *state) {
  auto *build = static_cast<IndexBuild *>(state);
  if (nulls[0])
    return;
  const MemoryContext before = MemoryContextSwitchTo(build->scratch);
  Filter filter;
  GroupKey key;
  filter.value = PG_DETOAST_DATUM(values[0]);
  if (parse(filter.payload(), VARSIZE(filter.value) - VARHDRSZ, &filter.header).ok() &&
      key_of(filter.header, &key))
    add_filter(build, *tid, filter, key);
  else
    (void)append_entry(index, entry_for(*tid, PointerGetDatum(filter.value)));
  MemoryContextSwitchTo(before);
  MemoryContextReset(build->scratch);
  build->rows++;
  pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, static_cast<int64>(build->rows));
}

} // namespace

IndexBuildResult *build_index(Relation table, Relation index, IndexInfo *info) {
  check_page_size("bloomfilter");
  if (RelationGetNumberOfBlocks(index) != 0)
    elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
  make_empty_index(index, MAIN_FORKNUM);
  IndexBuild build;
  build.index = index;
  build.memory =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter groups", ALLOCSET_DEFAULT_SIZES);
  build.scratch =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter filter", ALLOCSET_DEFAULT_SIZES);
  build.batches = make_batch_table(build.memory);
  build.used = 0;
  build.rows = 0;
  const bool has_pauses = VacuumCostActive; // of VACUUM FULL, which locks out all others
  VacuumCostActive = false;
  const double rows =
      table_index_build_scan(table, index, info, true, true, add_built_row, &build, nullptr);
  flush_all(&build);
  VacuumCostActive = has_pauses;
  recount_list(index);
  MemoryContextDelete(build.memory);
  MemoryContextDelete(build.scratch);
  auto *result = make_array<IndexBuildResult>(1);
  result->heap_tuples = rows;
  result->index_tuples = build.rows;
  return result;
}

void build_empty(Relation index) {
  make_empty_index(index, INIT_FORKNUM);
}

bool insert_row(Relation index, Datum *values, bool *nulls, ItemPointer tid, Relation table,
                IndexUniqueCheck, bool, IndexInfo *) {
  if (nulls[0])
    return false;
  const ListEntry entry = entry_for(*tid, values[0]);
  const uint64 length = append_entry(index, entry);
  if (entry.key_hash == 0 || !is_full(index, length) || !anybody_may_move(index) ||
      !try_lock_work(index))
    return false;
  if (is_full(index, length)) // true unless another session has moved rows since
    move_full_list(table, index);
  unlock_work(index);
  return false;
}

} // namespace bloomfilter
