// Filters that values can leave: counting and cuckoo filters.
//
// Both are added to, removed from and counted in the same way. What asks them is what asks a
// bloomfilter (pg/functions.cpp), and so is how a value becomes hashes. Where it has two of them,
// it was added under both and must be there under both to be removed.
//
// A filter that the last value left has no element type any more, as before the first one came.

#include "pg/server.hpp"

#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "core/sizing.hpp"
#include "pg/call_site.hpp"
#include "pg/element.hpp"
#include "pg/errors.hpp"
#include "pg/filter.hpp"
#include "pg/overfill.hpp"
#include "pg/row.hpp"

using namespace bloomfilter;

namespace {

bool all_zero(const uint8 *bytes, Size length) {
  return bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

bool is_empty(const Filter &filter) {
  const Size before = filter.kind() == Kind::cuckoo ? kKicksBytes : 0;
  return all_zero(filter.bitmap() + before, filter.header.geometry.bytes() - before);
}

// An argument plus or minus values.
class Change : public Draft {
public:
  Change(FunctionCallInfo fcinfo, Kind kind) : Draft(fcinfo, kind) {}

  Kind kind() const { return filter().kind(); }

  bool contains_all(const Hashes &hashes) const {
    bool all = true;
    for (int i = 0; i < hashes.count; i++)
      all = all && filter().contains(hashes.digest[i]);
    return all;
  }

  void add(const Header &member, const Hashes &hashes) {
    OwnFilter &filter = own();
    if (filter.header.family == Family::none) {
      adopt_family(&filter.header, member);
      filter.write_back();
    }
    for (int i = 0; i < hashes.count; i++) {
      const uint64 hash = hashes.digest[i].first;
      if (kind() == Kind::counting)
        filter.add_many(&hash, 1);
      else
        store(filter, hash);
    }
  }

  // Of a counting filter that got many values: are they too many?
  void check() const {
    if (changed() && kind() == Kind::counting)
      check_overfill(filter());
  }

  // False, and nothing is changed, if it is not there.
  bool remove(const Hashes &hashes) {
    if (!contains_all(hashes))
      return false;
    OwnFilter &filter = own();
    for (int i = 0; i < hashes.count; i++) {
      const uint64 hash = hashes.digest[i].first;
      if (!filter.contains(hashes.digest[i])) { // any more
        give_up();
        return false;
      }
      if (kind() == Kind::counting)
        counting_remove(filter.header.geometry, filter.bitmap(), hash);
      else
        cuckoo_remove(filter.header.geometry, filter.bitmap(), hash);
    }
    if (is_empty(filter)) {
      filter.header.family = Family::none;
      filter.header.shape = 0;
      filter.write_back();
    }
    return true;
  }

private:
  static void store(OwnFilter &filter, uint64 hash) {
    const Header &header = filter.header;
    const Geometry &geometry = header.geometry;
    const CuckooPlace place = cuckoo_place(geometry, hash);
    if (cuckoo_add(geometry, filter.bitmap(), place))
      return;
    const int copies = cuckoo_copies(geometry, filter.bitmap(), hash);
    if (copies == cuckoo_max_copies(place))
      raise_too_many_copies(copies);
    raise_full(header.expected, cuckoo_stored(geometry, filter.bitmap()) + 1);
  }
};

// What is to be added, removed or counted: a value, or a literal as the filter's own element type.
struct Member {
  Header header;
  Hashes hashes;
};
using MemberOf = Member(FunctionCallInfo, const Header &filter, Use use);

Member value_of(FunctionCallInfo fcinfo, const Header &filter, Use use) {
  const Probe probe = probe_of(fcinfo, filter, 1, use);
  return {member_header(probe.element), probe.hashes};
}

Member literal_of(FunctionCallInfo fcinfo, const Header &filter, Use use) {
  return {member_header(Family::text), literal_hashes(fcinfo, filter, 1, use)};
}

// NULL never destroys a filter: a NULL filter gives NULL, a NULL value the filter as it is.
template <typename Use> Datum change_or_keep(FunctionCallInfo fcinfo, Kind kind, Use use) {
  if (PG_ARGISNULL(0))
    PG_RETURN_NULL();
  if (PG_ARGISNULL(1))
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  Change change(fcinfo, kind);
  use(&change);
  return change.datum();
}

Datum add(FunctionCallInfo fcinfo, Kind kind, MemberOf member_of) {
  return change_or_keep(fcinfo, kind, [=](Change *change) {
    const Member member = member_of(fcinfo, change->header(), Use::add);
    change->add(member.header, member.hashes);
  });
}

Datum add_all(FunctionCallInfo fcinfo, Kind kind) {
  return change_or_keep(fcinfo, kind, [=](Change *change) {
    const Items items = items_of(fcinfo, 1);
    for (int i = 0; i < items.count; i++) {
      CHECK_FOR_INTERRUPTS();
      if (items.nulls[i])
        continue;
      const Hashes hashes = hash_item(change->header(), items, i, Use::add);
      change->add(member_header(items.element), hashes);
    }
    change->check();
  });
}

Datum remove(FunctionCallInfo fcinfo, Kind kind, MemberOf member_of) {
  const bool missing_ok = PG_NARGS() > 2 && !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);
  return change_or_keep(fcinfo, kind, [=](Change *change) {
    const Member member = member_of(fcinfo, change->header(), Use::add);
    if (!change->remove(member.hashes) && !missing_ok)
      raise_absent(kind);
  });
}

// Adding a value unless it seems to be there; the result is the row (filter, added).
Datum add_unique(FunctionCallInfo fcinfo, MemberOf member_of) {
  if (PG_ARGISNULL(0))
    PG_RETURN_NULL();
  Row row(fcinfo);
  if (PG_ARGISNULL(1)) {
    row.add(PG_GETARG_DATUM(0));
    row.add(BoolGetDatum(false));
    return row.datum();
  }
  Change change(fcinfo, Kind::cuckoo);
  const Member member = member_of(fcinfo, change.header(), Use::add);
  const bool added = !change.contains_all(member.hashes);
  if (added)
    change.add(member.header, member.hashes);
  row.add(change.datum());
  row.add(BoolGetDatum(added));
  return row.datum();
}

// How often a value was added, or more. Any of its hashes may be what it was added under.
Datum multiplicity(FunctionCallInfo fcinfo, Kind kind, MemberOf member_of) {
  ProbedFilter *filter = probed_filter(fcinfo, 0);
  check_kind_of(filter->header, kind);
  const Hashes hashes = member_of(fcinfo, filter->header, Use::ask).hashes;
  int count = 0;
  for (int i = 0; i < hashes.count; i++)
    count += filter->multiplicity(hashes.digest[i].first);
  PG_RETURN_INT32(count);
}

Datum create(FunctionCallInfo fcinfo, Layout layout) {
  const int64 expected = PG_GETARG_INT64(0);
  const double rate = PG_GETARG_FLOAT8(1);
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(2));
  const Geometry geometry = geometry_for(layout, expected, rate);
  return make_filter(empty_header(geometry, static_cast<uint64>(expected), rate, seed)).datum();
}

// Counters and hash functions, or buckets and bits of a fingerprint; then the size.
Datum sizing(FunctionCallInfo fcinfo, Layout layout) {
  const int64 expected = PG_GETARG_INT64(0);
  const Geometry geometry = geometry_for(layout, expected, PG_GETARG_FLOAT8(1));
  const auto bits = static_cast<int64>(geometry.bits());
  Row row(fcinfo);
  row.add(Int64GetDatum(layout == Layout::cuckoo ? static_cast<int64>(geometry.units)
                                                 : bits / kCounterBits));
  row.add(Int32GetDatum(geometry.hashes));
  row.add(Int64GetDatum(bits));
  row.add(Int64GetDatum(static_cast<int64>(VARHDRSZ + kHeaderBytes + geometry.bytes())));
  row.add(Float8GetDatum(static_cast<double>(bits) / static_cast<double>(expected)));
  return row.datum();
}

// The columns that both kinds have.
void add_common_info(Row *row, const Header &header) {
  row->add(Int32GetDatum(kFormatVersion));
  if (header.family != Family::none)
    row->add(CStringGetTextDatum(family_name(header.family)));
  else
    row->add_null();
  row->add(Int64GetDatum(static_cast<int64>(header.seed)));
  row->add(Int64GetDatum(static_cast<int64>(header.expected)));
  row->add(Float8GetDatum(header.rate));
  row->add(Int64GetDatum(static_cast<int64>(VARHDRSZ + header.payload_bytes())));
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(cbf_create);
Datum cbf_create(PG_FUNCTION_ARGS) {
  return create(fcinfo, Layout::counting_lines);
}

PG_FUNCTION_INFO_V1(cbf_add);
Datum cbf_add(PG_FUNCTION_ARGS) {
  return add(fcinfo, Kind::counting, value_of);
}

PG_FUNCTION_INFO_V1(cbf_add_literal);
Datum cbf_add_literal(PG_FUNCTION_ARGS) {
  return add(fcinfo, Kind::counting, literal_of);
}

PG_FUNCTION_INFO_V1(cbf_add_all);
Datum cbf_add_all(PG_FUNCTION_ARGS) {
  return add_all(fcinfo, Kind::counting);
}

PG_FUNCTION_INFO_V1(cbf_remove);
Datum cbf_remove(PG_FUNCTION_ARGS) {
  return remove(fcinfo, Kind::counting, value_of);
}

PG_FUNCTION_INFO_V1(cbf_remove_literal);
Datum cbf_remove_literal(PG_FUNCTION_ARGS) {
  return remove(fcinfo, Kind::counting, literal_of);
}

PG_FUNCTION_INFO_V1(cbf_multiplicity);
Datum cbf_multiplicity(PG_FUNCTION_ARGS) {
  return multiplicity(fcinfo, Kind::counting, value_of);
}

PG_FUNCTION_INFO_V1(cbf_multiplicity_literal);
Datum cbf_multiplicity_literal(PG_FUNCTION_ARGS) {
  return multiplicity(fcinfo, Kind::counting, literal_of);
}

PG_FUNCTION_INFO_V1(cf_create);
Datum cf_create(PG_FUNCTION_ARGS) {
  return create(fcinfo, Layout::cuckoo);
}

PG_FUNCTION_INFO_V1(cf_add);
Datum cf_add(PG_FUNCTION_ARGS) {
  return add(fcinfo, Kind::cuckoo, value_of);
}

PG_FUNCTION_INFO_V1(cf_add_literal);
Datum cf_add_literal(PG_FUNCTION_ARGS) {
  return add(fcinfo, Kind::cuckoo, literal_of);
}

PG_FUNCTION_INFO_V1(cf_add_all);
Datum cf_add_all(PG_FUNCTION_ARGS) {
  return add_all(fcinfo, Kind::cuckoo);
}

PG_FUNCTION_INFO_V1(cf_remove);
Datum cf_remove(PG_FUNCTION_ARGS) {
  return remove(fcinfo, Kind::cuckoo, value_of);
}

PG_FUNCTION_INFO_V1(cf_remove_literal);
Datum cf_remove_literal(PG_FUNCTION_ARGS) {
  return remove(fcinfo, Kind::cuckoo, literal_of);
}

PG_FUNCTION_INFO_V1(cf_multiplicity);
Datum cf_multiplicity(PG_FUNCTION_ARGS) {
  return multiplicity(fcinfo, Kind::cuckoo, value_of);
}

PG_FUNCTION_INFO_V1(cf_multiplicity_literal);
Datum cf_multiplicity_literal(PG_FUNCTION_ARGS) {
  return multiplicity(fcinfo, Kind::cuckoo, literal_of);
}

PG_FUNCTION_INFO_V1(cf_add_unique);
Datum cf_add_unique(PG_FUNCTION_ARGS) {
  return add_unique(fcinfo, value_of);
}

PG_FUNCTION_INFO_V1(cf_add_unique_literal);
Datum cf_add_unique_literal(PG_FUNCTION_ARGS) {
  return add_unique(fcinfo, literal_of);
}

PG_FUNCTION_INFO_V1(cbf_to_bloom);
Datum cbf_to_bloom(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0, Kind::counting);
  check_size(Kind::bloom, plain_geometry(filter.header.geometry).bits());
  return as_bloom(filter).datum();
}

PG_FUNCTION_INFO_V1(cbf_sizing);
Datum cbf_sizing(PG_FUNCTION_ARGS) {
  return sizing(fcinfo, Layout::counting_lines);
}

PG_FUNCTION_INFO_V1(cf_sizing);
Datum cf_sizing(PG_FUNCTION_ARGS) {
  return sizing(fcinfo, Layout::cuckoo);
}

PG_FUNCTION_INFO_V1(cbf_info);
Datum cbf_info(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0, Kind::counting);
  uint64 saturated;
  const Filter plain = as_bloom(filter, &saturated);
  const Fill fill = measure(plain);
  Row row(fcinfo);
  add_common_info(&row, filter.header);
  row.add(Int32GetDatum(filter.header.geometry.hashes));
  row.add(Int64GetDatum(static_cast<int64>(fill.bits)));
  row.add(Int64GetDatum(static_cast<int64>(fill.bits_set)));
  row.add(Int64GetDatum(static_cast<int64>(saturated)));
  row.add(Float8GetDatum(static_cast<double>(fill.bits_set) / static_cast<double>(fill.bits)));
  row.add(Float8GetDatum(fill.count));
  row.add(Float8GetDatum(fill.rate));
  row.add(BoolGetDatum(fill.rate > kSaturation * filter.header.rate));
  return row.datum();
}

PG_FUNCTION_INFO_V1(cf_info);
Datum cf_info(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0, Kind::cuckoo);
  const Header &header = filter.header;
  const Geometry &geometry = header.geometry;
  const uint64 stored = cuckoo_stored(geometry, filter.bitmap());
  Row row(fcinfo);
  add_common_info(&row, header);
  row.add(Int32GetDatum(geometry.hashes));
  row.add(Int64GetDatum(static_cast<int64>(geometry.units)));
  row.add(Int64GetDatum(static_cast<int64>(stored)));
  row.add(Float8GetDatum(static_cast<double>(stored) /
                         (static_cast<double>(kBucketSlots) * geometry.units)));
  row.add(Int64GetDatum(static_cast<int64>(cuckoo_kicks(filter.bitmap()))));
  row.add(Int64GetDatum(static_cast<int64>(header.expected - Min(stored, header.expected))));
  row.add(Float8GetDatum(cuckoo_rate(geometry, stored)));
  return row.datum();
}

SQL_FUNCTIONS_END
