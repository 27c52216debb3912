// VACUUM of a bloompages index. Dead tuples stay in the filters, because a bit may
// belong to several values; they cost false positives only. So bulk deletion has nothing to do.
// Afterwards, VACUUM gives filters to all complete ranges that have none.

#include "pg/compat.hpp"
#include "pg/list.hpp"
#include "pg/bloompages/access_method.hpp"
#include "pg/bloompages/summarize.hpp"

extern "C" {
#include "access/table.h"
#include "commands/vacuum.h"
}

namespace bloomfilter {
IndexBulkDeleteResult *delete_nothing(IndexVacuumInfo *, IndexBulkDeleteResult *result,
                                      IndexBulkDeleteCallback, void *) {
  return started(result);
}

IndexBulkDeleteResult *vacuum_ranges(IndexVacuumInfo *info, IndexBulkDeleteResult *result) {
  if (info->analyze_only)
    return result;
  Relation index = info->index;
  Relation table = table_open(index->rd_index->indrelid, AccessShareLock);
  lock_work(index);
  summarize_all(table, index, [] { vacuum_delay_point(false); });
  unlock_work(index);
  table_close(table, AccessShareLock);
  result = started(result);
  result->num_pages = RelationGetNumberOfBlocks(index);
  result->num_index_tuples = info->num_heap_tuples;
  result->estimated_count = info->estimated_count;
  return result;
}

} // namespace bloomfilter
