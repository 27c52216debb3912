// See explain.hpp. A leader adds the numbers of its workers from shared memory.

#include "pg/table/explain.hpp"

#include <cmath>

#include "core/bytes.hpp"

extern "C" {
#include "access/parallel.h"
#include "nodes/makefuncs.h"
#include "utils/ruleutils.h"
}

namespace bloomfilter {
namespace {

// The number of digits after the point of a percentage. There are enough of them for the first two
// digits that are not zero, and at least two. A percentage that is almost zero has two.
int digits_of(double percent) {
  return percent < 1e-8 ? 2 : Max(2, 1 - static_cast<int>(std::floor(std::log10(percent))));
}

void keep_highest(ProbeStatistics *probed, const ProbeStatistics &other) {
  probed->bytes = Max(probed->bytes, other.bytes);
  probed->in_memory = Max(probed->in_memory, other.in_memory);
  probed->rate = Max(probed->rate, other.rate);
}

} // namespace

void explain_conditions(const char *label, List *conditions, CustomScanState *node, List *ancestors,
                        ExplainState *explained) {
  if (conditions == NIL)
    return;
  List *context = set_deparse_context_plan(explained->deparse_cxt, node->ss.ps.plan, ancestors);
  Node *condition = reinterpret_cast<Node *>(make_ands_explicit(conditions));
  ExplainPropertyText(label, deparse_expression(condition, context, explained->verbose, false),
                      explained);
}

void explain_decisions(const RowBatches &batches, CustomScanState *node, List *ancestors,
                       ExplainState *explained) {
  List *order = NIL, *unbuilt = NIL;
  bool is_as_planned = true;
  for (int i = 0; i < batches.condition_count; i++) {
    const FilterCondition *condition = batches.order[i];
    is_as_planned &= condition == &batches.conditions[i];
    if (condition->known || is_built(condition->parameter, batches.node))
      order = lappend(order, condition->expression);
    else
      unbuilt = lappend(unbuilt, condition->expression);
  }
  if (!is_as_planned)
    explain_conditions("Bloom Filter Order", order, node, ancestors, explained);
  explain_conditions("Bloom Filter Not Built", unbuilt, node, ancestors, explained);
}

void explain_rows(const char *label, double rows, const NodeInstrumentation *instrument,
                  ExplainState *explained) {
  if (instrument->nloops > 0 || explained->format != EXPLAIN_FORMAT_TEXT)
    ExplainPropertyFloat(label, nullptr, rows / Max(instrument->nloops, 1.0), 0, explained);
}

void explain_rate(const char *label, double rate, ExplainState *explained) {
  ExplainPropertyFloat(label, "%", 100 * rate, digits_of(100 * rate), explained);
}

void init_shared_statistics(SharedProbeStatistics *shared) {
  pg_atomic_init_u64(&shared->bytes, 0);
  pg_atomic_init_u64(&shared->in_memory, 0);
  pg_atomic_init_u64(&shared->rate_bits, 0);
  pg_atomic_init_u64(&shared->unprobed, 0);
}

void note_probes(ProbeStatistics *probed, const RowBatches &batches,
                 SharedProbeStatistics *shared) {
  ProbeStatistics sum = {};
  probed->unprobed = 0;
  for (int i = 0; i < batches.condition_count; i++) {
    const FilterCondition &condition = batches.conditions[i];
    sum.rate = Max(sum.rate, condition.rate);
    probed->unprobed += condition.control.unprobed;
    if (!condition.known || condition.is_null || !condition.value_type)
      continue;
    const ProbedFilter &filter = condition.last.filter;
    sum.bytes += VARHDRSZ + filter.header.payload_bytes();
    sum.in_memory += filter.payload ? VARHDRSZ + filter.header.payload_bytes() : 0;
  }
  keep_highest(probed, sum);
  if (!shared)
    return;
  if (!IsParallelWorker()) {
    ProbeStatistics workers = {};
    workers.bytes = pg_atomic_read_u64(&shared->bytes);
    workers.in_memory = pg_atomic_read_u64(&shared->in_memory);
    workers.rate = bits_double(pg_atomic_read_u64(&shared->rate_bits));
    keep_highest(probed, workers);
    probed->unprobed_by_workers = pg_atomic_read_u64(&shared->unprobed);
    return;
  }
  pg_atomic_fetch_add_u64(&shared->unprobed, probed->unprobed);
  if (probed->bytes > 0)
    pg_atomic_write_u64(&shared->bytes, probed->bytes);
  if (probed->in_memory > 0)
    pg_atomic_write_u64(&shared->in_memory, probed->in_memory);
  if (probed->rate > 0)
    pg_atomic_write_u64(&shared->rate_bits, double_bits(probed->rate));
}

void explain_probes(const ProbeStatistics &probed, const NodeInstrumentation *instrument,
                    ExplainState *explained) {
  const uint64 unprobed = probed.unprobed + probed.unprobed_by_workers;
  if (unprobed > 0)
    explain_rows("Rows Not Probed", static_cast<double>(unprobed), instrument, explained);
  if (probed.bytes == 0)
    return;
  ExplainPropertyInteger("Bloom Filter Size", "kB", (probed.bytes + 1023) / 1024, explained);
  ExplainPropertyText("Bloom Filter Access",
                      probed.in_memory == probed.bytes ? "in memory" : "by slice", explained);
  if (probed.rate > 0)
    explain_rate("Bloom Filter Rate", probed.rate, explained);
}

} // namespace bloomfilter
