// See shared_scan.hpp.

#include "pg/table/shared_scan.hpp"

#include "pg/compat.hpp"

extern "C" {
#include "storage/shmem.h"
}

namespace bloomfilter {
namespace {

ParallelTableScanDesc scan_after(void *memory, Size own) {
  return reinterpret_cast<ParallelTableScanDesc>(static_cast<char *>(memory) + MAXALIGN(own));
}

// Since PostgreSQL 19, a scan may mark pages as all-visible while it reads them. This is allowed if
// the query does not change the table.
uint32 flags_of(ScanState *node) {
  return ScanRelIsReadOnly(node) ? SO_HINT_REL_READ_ONLY : SO_NONE;
}

} // namespace

TableScanDesc begin_own_scan(ScanState *node, Relation table) {
  return table_beginscan(table, node->ps.state->es_snapshot, 0, nullptr, flags_of(node));
}

Size shared_scan_size(Relation table, const PlanState *node, Size own) {
  return add_size(MAXALIGN(own), table_parallelscan_estimate(table, node->state->es_snapshot));
}

void init_shared_scan(Relation table, const PlanState *node, void *memory, Size own) {
  table_parallelscan_initialize(table, scan_after(memory, own), node->state->es_snapshot);
}

void reinit_shared_scan(Relation table, void *memory, Size own) {
  table_parallelscan_reinitialize(table, scan_after(memory, own));
}

TableScanDesc join_shared_scan(ScanState *node, Relation table, void *memory, Size own) {
  return table_beginscan_parallel(table, scan_after(memory, own), flags_of(node));
}

} // namespace bloomfilter
