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

Size shared_scan_size(const ScanState *node, Size own) {
  return add_size(MAXALIGN(own), table_parallelscan_estimate(node->ss_currentRelation,
                                                             node->ps.state->es_snapshot));
}

void init_shared_scan(const ScanState *node, void *memory, Size own) {
  table_parallelscan_initialize(node->ss_currentRelation, behind(memory, own),
                                node->ps.state->es_snapshot);
}

void reinit_shared_scan(const ScanState *node, void *memory, Size own) {
  table_parallelscan_reinitialize(node->ss_currentRelation, behind(memory, own));
}

TableScanDesc join_shared_scan(const ScanState *node, void *memory, Size own) {
  return table_beginscan_parallel(node->ss_currentRelation, behind(memory, own));
}

} // namespace bloomfilter
