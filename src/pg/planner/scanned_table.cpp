// See scanned_table.hpp.

#include "pg/planner/scanned_table.hpp"

#include "pg/list.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
}

namespace bloomfilter {
namespace {

// True if a path reads a table in the server's own way.
bool reads_as_server(const Path *path) {
  switch (path->pathtype) {
  case T_SeqScan:
  case T_IndexScan:
  case T_IndexOnlyScan:
  case T_BitmapHeapScan:
  case T_TidScan:
  case T_TidRangeScan:
    return true;
  case T_CustomScan:
    return strcmp(reinterpret_cast<const CustomPath *>(path)->methods->CustomName, kScanName) == 0;
  case T_Gather:
    return reads_as_server(reinterpret_cast<const GatherPath *>(path)->subpath);
  case T_Result: // leaves out the columns of a join that was removed
    return IsA(path, ProjectionPath) &&
           reads_as_server(reinterpret_cast<const ProjectionPath *>(path)->subpath);
  default:
    return false;
  }
}

// True if a table's rows are where the server looks for them. Another library may have removed the
// server's paths. TimescaleDB does so if it has compressed the rows of a chunk into another table.
bool has_rows_in_place(const RelOptInfo *table) {
  for (const Path *path : each<Path>(table->pathlist))
    if (reads_as_server(path))
      return true;
  return false;
}

} // namespace

bool is_scanned(RelOptInfo *table, const RangeTblEntry *entry) {
  return entry->rtekind == RTE_RELATION && !entry->inh && !entry->tablesample &&
         (entry->relkind == RELKIND_RELATION || entry->relkind == RELKIND_MATVIEW) &&
         bms_is_empty(table->lateral_relids) && !IS_DUMMY_REL(table) && has_rows_in_place(table);
}

} // namespace bloomfilter
