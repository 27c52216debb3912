#include "pg/table/shared_scan.hpp"

extern "C" {
#include "storage/shmem.h"
}

namespace bloomfilter {
namespace {

ParallelTableScanDesc behind(void *memory, Size own) {
  return reinterpret_cast<ParallelTableScanDesc>(static_cast<char *>(memory) + MAXALIGN(own));
}

} // namespace

Size shared_scan_size(Relation table, const PlanState *node, Size own) {
  return add_size(MAXALIGN(own), table_parallelscan_estimate(table, node->state->es_snapshot));
}

void init_shared_scan(Relation table, const PlanState *node, void *memory, Size own) {
  table_parallelscan_initialize(table, behind(memory, own), node->state->es_snapshot);
}

void reinit_shared_scan(Relation table, void *memory, Size own) {
  table_parallelscan_reinitialize(table, behind(memory, own));
}

TableScanDesc join_shared_scan(Relation table, void *memory, Size own) {
  return table_beginscan_parallel(table, behind(memory, own));
}

} // namespace bloomfilter
