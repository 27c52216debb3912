// The SQL functions that show what a filter is: its parameters, size, fill and estimates (info,
// describe, count, fpr), whether its bytes are sound (check), and how large a filter would be
// (sizing). Each reads the whole filter, except sizing, which reads none.

#include "pg/server.hpp"

#include <cmath>

#include "core/cuckoo.hpp"
#include "core/shard.hpp"
#include "core/structure.hpp"
#include "pg/element/family.hpp"
#include "pg/errors.hpp"
#include "pg/names.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/measure.hpp"
#include "pg/value/new_filter.hpp"
#include "pg/value/overfill.hpp"
#include "pg/value/result_row.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "utils/float.h"
}

using namespace bloomfilter;

namespace {

void add_family(ResultRow *row, Family family) {
  const char *name = family_name(family);
  if (name)
    row->add(CStringGetTextDatum(name));
  else
    row->add_null();
}

// Returns what is wrong with the first argument, a filter of this kind, or NULL if it is sound.
Datum check(FunctionCallInfo fcinfo, Kind kind) {
  struct varlena *value = PG_GETARG_VARLENA_P(0);
  Header header;
  Finding finding = validate(reinterpret_cast<const uint8 *>(VARDATA(value)),
                             VARSIZE(value) - VARHDRSZ, &header, check_for_interrupts);
  if (finding.ok())
    finding = check_kind(header, kind);
  if (finding.ok())
    PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(finding_text(finding)));
}

// The size of a filter for a capacity. If one filter would be too large, there are several of the
// same size, and each holds its share of the values.
struct Sizing {
  Capacity capacity; // of all filters together
  Geometry geometry; // of each filter
  uint64 filters;

  int64 bits() const { return static_cast<int64>(filters * geometry.bits()); }
  int64 bytes() const {
    return static_cast<int64>(filters * (VARHDRSZ + kHeaderBytes + geometry.bytes()));
  }
  double bits_per_value() const {
    return static_cast<double>(bits()) / static_cast<double>(capacity.values);
  }
};

Sizing sizing_of(FunctionCallInfo fcinfo, Layout layout) {
  const double expected = PG_GETARG_FLOAT8(0);
  Sizing sizing = {checked_capacity(expected, PG_GETARG_FLOAT8(1)), {}, 1};
  const auto [values, rate] = sizing.capacity;
  if (!size_for(layout, values, rate, &sizing.geometry)) {
    sizing.filters = shards_for(layout, values, rate, kMaxBits / 8);
    size_for(layout, values / sizing.filters + 1, rate, &sizing.geometry);
  }
  int64 bits;
  if (__builtin_mul_overflow(sizing.filters, sizing.geometry.bits(), &bits))
    ereport(
        ERROR,
        (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
         errmsg(
             "%ss for %s values at a false positive rate of %g would have more than " INT64_FORMAT
             " bits",
             noun_of(kind_of(layout)), float8out_internal(expected), rate, PG_INT64_MAX),
         detail_of_most_values(layout, rate)));
  return sizing;
}

// The result row of a sizing function. It begins with the number of hash functions, or for a cuckoo
// filter, the bits of a fingerprint. The number of counters or buckets follows, if the kind has
// them. Then come the sizes and the number of filters.
Datum sizing_row(FunctionCallInfo fcinfo, Layout layout) {
  const Sizing sizing = sizing_of(fcinfo, layout);
  const Geometry &geometry = sizing.geometry;
  const Kind kind = kind_of(layout);
  ResultRow row(fcinfo);
  row.add(Int32GetDatum(kind == Kind::cuckoo ? geometry.fingerprint_bits() : geometry.k));
  if (kind == Kind::counting)
    row.add(Int64GetDatum(sizing.bits() / kCounterBits));
  if (kind == Kind::cuckoo)
    row.add(Int64GetDatum(static_cast<int64>(sizing.filters * geometry.units)));
  row.add(Int64GetDatum(sizing.bits()));
  row.add(Int64GetDatum(sizing.bytes()));
  row.add(Float8GetDatum(sizing.bits_per_value()));
  row.add(Int64GetDatum(static_cast<int64>(sizing.filters)));
  return row.datum();
}

// Measures how full a filter of any kind is. In a counting filter, a counter that is not 0 counts
// as a set bit; `full_counters` is set to the number of full counters. In a cuckoo filter,
// a taken slot counts as a set bit.
Fill fill_of(const Filter &filter, uint64 *full_counters = nullptr) {
  const Geometry &geometry = filter.header.geometry;
  switch (structure_of(geometry.layout)) {
  case Structure::counters:
    return measure(as_bloom(filter, full_counters));
  case Structure::bitmap:
  case Structure::foreign_bitmap:
    return measure(filter);
  case Structure::buckets:
    break;
  }
  const uint64 stored = cuckoo_stored(geometry, filter.bitmap(), check_for_interrupts);
  return {kBucketSlots * uint64{geometry.units},
          stored,
          {static_cast<double>(stored), false},
          cuckoo_rate(geometry, stored)};
}

double share_set(const Fill &fill) {
  return static_cast<double>(fill.bits_set) / static_cast<double>(fill.bits);
}

// Adds the columns that the info functions of all kinds share: element type, seed, and the capacity
// that was requested.
void add_contents(ResultRow *row, const Header &header, const Capacity &requested) {
  add_family(row, header.element_type.family);
  row->add(Int64GetDatum(static_cast<int64>(header.seed)));
  row->add_if(requested.is_known(), Int64GetDatum(static_cast<int64>(requested.values)));
  row->add_if(requested.is_known(), Float8GetDatum(requested.rate));
}

void add_size(ResultRow *row, const Header &header, uint64 bits) {
  row->add(Int64GetDatum(static_cast<int64>(bits)));
  row->add(Int64GetDatum(static_cast<int64>(VARHDRSZ + header.payload_bytes())));
}

// Appends the number of values and the capacity, such as "about 990 of 1000".
void append_count(StringInfo line, const Filter &filter, const Fill &fill,
                  const Capacity &requested) {
  if (!is_countable(filter))
    appendStringInfoString(line, "an unknown number");
  else if (std::isinf(fill.count.values))
    appendStringInfoString(line, "countless");
  else if (!has<Ability::counts_by_bits>(filter.header.geometry.layout) || fill.bits_set == 0)
    appendStringInfo(line, "%.0f", fill.count.values);
  else
    appendStringInfoString(line, count_text(fill.count));
  if (requested.is_known())
    appendStringInfo(line, " of " UINT64_FORMAT, requested.values);
  if (filter.header.grows())
    appendStringInfoString(line, " (grows)");
}

void append_bar(StringInfo line, double share) {
  constexpr int kWidth = 20;
  const int filled = static_cast<int>(std::rint(share * kWidth));
  for (int i = 0; i < kWidth; i++)
    appendStringInfoChar(line, i < filled ? '#' : '.');
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_RESULT(bf_sizing, sizing_row(fcinfo, Layout::lines));

SQL_FUNCTION(bf_count) {
  const Filter filter = filter_arg(fcinfo, 0);
  if (!is_countable(filter))
    PG_RETURN_NULL();
  PG_RETURN_FLOAT8(count_values(filter).values);
}

SQL_RESULT(bf_fpr, Float8GetDatum(measure(filter_arg(fcinfo, 0)).rate));

SQL_FUNCTION(bf_info) {
  const Filter filter = filter_arg(fcinfo, 0);
  const Header &header = filter.header;
  const Fill fill = fill_of(filter);
  const Capacity requested = capacity_of(filter);
  const Geometry largest = filter.link().geometry;
  bool one_layout = true, one_k = true;
  for_each_link(filter.payload(), header, [&](const Link &link, Size) {
    one_layout = one_layout && link.geometry.layout == largest.layout;
    one_k = one_k && link.geometry.k == largest.k;
  });

  ResultRow row(fcinfo);
  row.add(Int32GetDatum(kFormatVersion));
  row.add_if(one_layout,
             CStringGetTextDatum(layout_name(largest.layout, header.element_type.family)));
  add_contents(&row, header, requested);
  row.add_if(one_k, Int32GetDatum(largest.k));
  add_size(&row, header, fill.bits);
  row.add(Int64GetDatum(static_cast<int64>(fill.bits_set)));
  row.add(Float8GetDatum(share_set(fill)));
  row.add_if(is_countable(filter), Float8GetDatum(fill.count.values));
  row.add(Float8GetDatum(fill.rate));
  row.add_if(requested.is_known(), BoolGetDatum(is_overfilled(fill, requested)));
  row.add(Int32GetDatum(header.links()));
  return row.datum();
}

// Returns one line of text for people. Works for all kinds, and names the type if it is not
// bloomfilter.
SQL_FUNCTION(filter_describe) {
  const Filter filter = any_filter_arg(fcinfo, 0);
  const Header &header = filter.header;
  const Fill fill = fill_of(filter);
  const Capacity requested = capacity_of(filter);
  const char *family = family_name(header.element_type.family);
  const Datum bytes = Int64GetDatum(static_cast<int64>(VARHDRSZ + header.payload_bytes()));

  StringInfoData line;
  initStringInfo(&line);
  if (filter.kind() != Kind::bloom)
    appendStringInfo(&line, "%s of ", type_of(filter.kind()));
  appendStringInfo(&line, family ? "%s values, " : "values of any type, ", family);
  append_count(&line, filter, fill, requested);
  appendStringInfo(&line, ", %s", TextDatumGetCString(DirectFunctionCall1(pg_size_pretty, bytes)));
  if (header.links() > 1)
    appendStringInfo(&line, " in %d links", header.links());
  appendStringInfo(&line, ", rate %.3g %%", 100 * fill.rate);
  if (requested.is_known())
    appendStringInfo(&line, " of %.3g %% asked", 100 * requested.rate);
  appendStringInfo(&line, ", fill %.0f %% [", 100 * share_set(fill));
  append_bar(&line, share_set(fill));
  appendStringInfo(&line, "]%s", is_overfilled(fill, requested) ? ", saturated" : "");
  PG_RETURN_TEXT_P(cstring_to_text_with_len(line.data, line.len));
}

SQL_RESULT(bf_check, check(fcinfo, Kind::bloom));
SQL_RESULT(cbf_check, check(fcinfo, Kind::counting));
SQL_RESULT(cf_check, check(fcinfo, Kind::cuckoo));
SQL_RESULT(cbf_sizing, sizing_row(fcinfo, Layout::counting_lines));
SQL_RESULT(cf_sizing, sizing_row(fcinfo, Layout::cuckoo));
SQL_RESULT(cbf_count, Float8GetDatum(fill_of(filter_arg(fcinfo, 0, Kind::counting)).count.values));
SQL_RESULT(cbf_fpr, Float8GetDatum(fill_of(filter_arg(fcinfo, 0, Kind::counting)).rate));
SQL_RESULT(cf_count, Float8GetDatum(fill_of(filter_arg(fcinfo, 0, Kind::cuckoo)).count.values));
SQL_RESULT(cf_fpr, Float8GetDatum(fill_of(filter_arg(fcinfo, 0, Kind::cuckoo)).rate));

SQL_FUNCTION(cbf_info) {
  const Filter filter = filter_arg(fcinfo, 0, Kind::counting);
  uint64 full_counters = 0;
  const Fill fill = fill_of(filter, &full_counters);
  const Header &header = filter.header;
  ResultRow row(fcinfo);
  row.add(Int32GetDatum(kFormatVersion));
  add_contents(&row, header, header.capacity);
  row.add(Int32GetDatum(header.geometry.k));
  row.add(Int64GetDatum(static_cast<int64>(fill.bits)));
  add_size(&row, header, header.geometry.bits());
  row.add(Int64GetDatum(static_cast<int64>(fill.bits_set)));
  row.add(Int64GetDatum(static_cast<int64>(full_counters)));
  row.add(Float8GetDatum(share_set(fill)));
  row.add(Float8GetDatum(fill.count.values));
  row.add(Float8GetDatum(fill.rate));
  row.add(BoolGetDatum(is_overfilled(fill, header.capacity)));
  return row.datum();
}

SQL_FUNCTION(cf_info) {
  const Filter filter = filter_arg(fcinfo, 0, Kind::cuckoo);
  const Header &header = filter.header;
  const Geometry &geometry = header.geometry;
  const Fill fill = fill_of(filter);
  const uint64 stored = fill.bits_set;
  ResultRow row(fcinfo);
  row.add(Int32GetDatum(kFormatVersion));
  add_contents(&row, header, header.capacity);
  row.add(Int32GetDatum(geometry.fingerprint_bits()));
  row.add(Int64GetDatum(static_cast<int64>(geometry.units)));
  add_size(&row, header, geometry.bits());
  row.add(Int64GetDatum(static_cast<int64>(stored)));
  row.add(Int64GetDatum(
      static_cast<int64>(header.capacity.values - Min(stored, header.capacity.values))));
  row.add(Int64GetDatum(static_cast<int64>(cuckoo_kicks(filter.bitmap()))));
  row.add(Float8GetDatum(share_set(fill)));
  row.add(Float8GetDatum(fill.rate));
  return row.datum();
}

SQL_FUNCTIONS_END
