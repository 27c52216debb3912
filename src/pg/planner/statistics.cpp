// See statistics.hpp. The filters are sampled from the rows that ANALYZE has sampled, up to the two
// limits below.

#include "pg/planner/statistics.hpp"

#include "pg/compat.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/detoast.h"
#include "catalog/pg_statistic.h"
#include "commands/vacuum.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace bloomfilter {
namespace {

constexpr int16 kStatisticKind = 20742;
// The limits of what one ANALYZE of a column reads.
constexpr Size kReadBytes = 8 * 1024 * 1024;
constexpr int kReadFilters = 1000;

enum Number { kValues, kRate, kBytes, kShare, kFamily, kNumbers };

// What std_typanalyze() chose to compute the usual statistics.
struct Standard {
  AnalyzeAttrComputeStatsFunc compute;
  void *extra;
};

struct ColumnSums {
  int filters;
  double values, rate, bytes;
  int of_family[static_cast<int>(kLastFamily) + 1];
};

// The number of bytes that sampling a value reads.
Size memory_of(Datum value) {
  return Min(toast_raw_datum_size(value), kSampledParts * kPartBytes);
}

ColumnSums sample_rows(VacAttrStats *stats, AnalyzeAttrFetchFunc fetch, int rows) {
  ColumnSums sums = {};
  Size read = 0;
  // Rows come in the order of the table. A stride spreads the rows that are read over the whole
  // table.
  constexpr int kStride = 7919; // a prime number
  const int64 stride = rows % kStride == 0 ? 1 : kStride;
  for (int i = 0; i < rows && read < kReadBytes && sums.filters < kReadFilters; i++) {
    vacuum_delay_point(true);
    bool is_null;
    const Datum value = fetch(stats, static_cast<int>(i * stride % rows), &is_null);
    if (is_null)
      continue;
    read += memory_of(value);
    Header header;
    const FilterEstimate estimate = sample_filter(value, &header);
    if (!estimate.is_known())
      continue;
    sums.filters++;
    sums.values += estimate.values;
    sums.rate += estimate.rate;
    sums.bytes += estimate.bytes;
    sums.of_family[static_cast<int>(header.element_type.family)]++;
  }
  return sums;
}

void set_slot(VacAttrStats *stats, int slot, const ColumnSums &sums) {
  auto *numbers = make_array<float4>(kNumbers, stats->anl_context);
  int commonest = 0;
  for (int family = 0; family <= static_cast<int>(kLastFamily); family++)
    if (sums.of_family[family] > sums.of_family[commonest])
      commonest = family;
  numbers[kValues] = static_cast<float4>(sums.values / sums.filters);
  numbers[kRate] = static_cast<float4>(sums.rate / sums.filters);
  numbers[kBytes] = static_cast<float4>(sums.bytes / sums.filters);
  numbers[kShare] = static_cast<float4>(sums.of_family[commonest]) / sums.filters;
  numbers[kFamily] = static_cast<float4>(commonest);
  stats->stakind[slot] = kStatisticKind;
  stats->stanumbers[slot] = numbers;
  stats->numnumbers[slot] = kNumbers;
}

void compute_statistics(VacAttrStats *stats, AnalyzeAttrFetchFunc fetch, int rows,
                        double total_rows) {
  auto *standard = static_cast<Standard *>(stats->extra_data);
  stats->extra_data = standard->extra;
  standard->compute(stats, fetch, rows, total_rows);
  stats->extra_data = standard;
  if (!stats->stats_valid)
    return;
  const ColumnSums sums = sample_rows(stats, fetch, rows);
  int slot = 0;
  while (slot < STATISTIC_NUM_SLOTS && stats->stakind[slot] != 0)
    slot++;
  if (sums.filters > 0 && slot < STATISTIC_NUM_SLOTS)
    set_slot(stats, slot, sums);
}

} // namespace

FilterEstimate column_statistics(PlannerInfo *root, Node *column) {
  VariableStatData variable;
  examine_variable(root, column, 0, &variable);
  AttStatsSlot slot;
  FilterEstimate estimate = {};
  if (HeapTupleIsValid(variable.statsTuple) &&
      get_attstatsslot(&slot, variable.statsTuple, kStatisticKind, InvalidOid,
                       ATTSTATSSLOT_NUMBERS)) {
    if (slot.nnumbers == kNumbers)
      estimate = {slot.numbers[kValues], slot.numbers[kRate], slot.numbers[kBytes]};
    free_attstatsslot(&slot);
  }
  ReleaseVariableStats(variable);
  return estimate;
}

} // namespace bloomfilter

using namespace bloomfilter;

SQL_FUNCTIONS_BEGIN

SQL_FUNCTION(filter_typanalyze) {
  auto *stats = reinterpret_cast<VacAttrStats *>(PG_GETARG_POINTER(0));
  if (!std_typanalyze(stats))
    PG_RETURN_BOOL(false);
  auto *standard = make_array<Standard>(1);
  standard->compute = stats->compute_stats;
  standard->extra = stats->extra_data;
  stats->compute_stats = compute_statistics;
  stats->extra_data = standard;
  PG_RETURN_BOOL(true);
}

SQL_FUNCTIONS_END
