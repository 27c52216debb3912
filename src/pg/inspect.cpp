// What a filter is and how well it does: sizes, estimates, checks.

#include "pg/server.hpp"

#include <cmath>

#include "core/sizing.hpp"
#include "pg/element.hpp"
#include "pg/errors.hpp"
#include "pg/filter.hpp"
#include "pg/overfill.hpp"
#include "pg/row.hpp"

using namespace bloomfilter;

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_sizing);
Datum bf_sizing(PG_FUNCTION_ARGS) {
  const int64 expected = PG_GETARG_INT64(0);
  const Geometry geometry = geometry_for(expected, PG_GETARG_FLOAT8(1));
  Header header = {};
  header.geometry = geometry;
  Row row(fcinfo);
  row.add(Int64GetDatum(static_cast<int64>(geometry.bits())));
  row.add(Int64GetDatum(static_cast<int64>(VARHDRSZ + header.payload_bytes())));
  row.add(Int32GetDatum(geometry.hashes));
  row.add(Float8GetDatum(static_cast<double>(geometry.bits()) / static_cast<double>(expected)));
  return row.datum();
}

PG_FUNCTION_INFO_V1(bf_count);
Datum bf_count(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0);
  if (filter.header.flags & kFlagIntersection)
    PG_RETURN_NULL();
  PG_RETURN_FLOAT8(estimate_count(filter.header.geometry, bits_set(filter)));
}

PG_FUNCTION_INFO_V1(bf_fpr);
Datum bf_fpr(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0);
  PG_RETURN_FLOAT8(survey(filter).rate());
}

PG_FUNCTION_INFO_V1(bf_info);
Datum bf_info(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0);
  const Header &header = filter.header;
  const Survey surveyed = survey(filter);
  const uint64 set = surveyed.bits_set();
  const double rate = surveyed.rate();

  Row row(fcinfo);
  row.add(Int32GetDatum(kFormatVersion));
  row.add(CStringGetTextDatum(layout_name(header.geometry.layout)));
  if (header.family != Family::none)
    row.add(CStringGetTextDatum(family_name(header.family)));
  else
    row.add_null();
  row.add(Int64GetDatum(static_cast<int64>(header.seed)));
  const bool sized = header.expected != 0;
  if (sized) {
    row.add(Int64GetDatum(static_cast<int64>(header.expected)));
    row.add(Float8GetDatum(header.rate));
  } else {
    row.add_null();
    row.add_null();
  }
  row.add(Int32GetDatum(header.geometry.hashes));
  row.add(Int64GetDatum(static_cast<int64>(header.geometry.bits())));
  row.add(Int64GetDatum(static_cast<int64>(VARHDRSZ + header.payload_bytes())));
  row.add(Int64GetDatum(static_cast<int64>(set)));
  row.add(Float8GetDatum(static_cast<double>(set) / static_cast<double>(header.geometry.bits())));
  if (header.flags & kFlagIntersection)
    row.add_null();
  else
    row.add(Float8GetDatum(estimate_count(header.geometry, set)));
  row.add(Float8GetDatum(rate));
  if (sized)
    row.add(BoolGetDatum(rate > kSaturation * header.rate));
  else
    row.add_null();
  row.add(Int32GetDatum(1));
  return row.datum();
}

PG_FUNCTION_INFO_V1(bf_check);
Datum bf_check(PG_FUNCTION_ARGS) {
  struct varlena *value = PG_GETARG_VARLENA_P(0);
  Header header;
  const Finding finding =
      validate(reinterpret_cast<const uint8 *>(VARDATA(value)), VARSIZE(value) - VARHDRSZ, &header);
  if (finding.ok())
    PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(finding_text(finding)));
}

SQL_FUNCTIONS_END
