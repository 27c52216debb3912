// The SQL functions of two filters: union and intersection (pg/value/algebra.hpp), and estimates of
// how many values their sets share. Also bf_fold(), which makes a smaller filter.
//
// The number of shared values is estimated by inclusion and exclusion, |A| + |B| - |A or B|.
// Counting the bits that both filters have would overestimate it, because different values set some
// bits in common. The estimate needs links of one geometry; bf_fold() needs a filter of one link.

#include "pg/server.hpp"

#include <cmath>

#include "core/bitmap.hpp"
#include "pg/errors.hpp"
#include "pg/names.hpp"
#include "pg/value/algebra.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/measure.hpp"
#include "pg/value/new_filter.hpp"
#include "pg/value/overfill.hpp"

using namespace bloomfilter;

namespace {

// A step of a union or intersection aggregate. It changes the state in place. But if the first
// state is a value that was stored compressed or out of line, `state` is its detoasted copy.
Datum step(FunctionCallInfo fcinfo, Kind kind,
           Filter (*combine)(const FirstOperand &, const Filter &)) {
  const Filter state = filter_arg(fcinfo, 0, kind);
  const bool in_place = AggCheckCallContext(fcinfo, nullptr) == AGG_CONTEXT_AGGREGATE &&
                        PointerGetDatum(state.value) == PG_GETARG_DATUM(0);
  return combine({state, in_place}, filter_arg(fcinfo, 1, kind)).datum();
}

// The union of two arguments. A NULL argument adds nothing; the union of two NULLs is NULL.
Datum unite_arguments(FunctionCallInfo fcinfo, Kind kind) {
  if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
    PG_RETURN_NULL();
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
    PG_RETURN_DATUM(PG_GETARG_DATUM(PG_ARGISNULL(0) ? 1 : 0));
  const FirstOperand first = {filter_arg(fcinfo, 0, kind), false};
  const Filter result = unite_filters(first, filter_arg(fcinfo, 1, kind));
  check_overfill(result, Origin::united);
  return result.datum();
}

// Estimates the number of distinct values in the union of two filters, as bf_count(bf_union(a, b))
// does. Returns false if the number is unknown, because a filter is the result of an intersection.
bool count_union(const Filter &a, const Filter &b, ValueCount *united) {
  LinkView links[2 * kMaxLinks];
  const int count = compared_links(a, b, links);
  for (int i = 0; i < count; i++)
    if (links[i].link.flags & kFlagIntersection)
      return false;
  *united = count_values(a.header, links, count);
  return true;
}

// Estimates the number of distinct values in both filters (`common`) and in their union
// (`together`). Returns false if these numbers are unknown.
bool count_common(FunctionCallInfo fcinfo, double *common, double *together) {
  const Filter a = filter_arg(fcinfo, 0), b = filter_arg(fcinfo, 1);
  ValueCount united;
  if (!count_union(a, b, &united) || !is_countable(a) || !is_countable(b) || united.at_most ||
      std::isinf(united.values))
    return false;
  // The three estimates have errors, so their difference is clamped to what is possible.
  const double both = count_values(a).values + count_values(b).values - united.values;
  *together = united.values;
  *common = Min(Max(both, 0.0), united.values);
  return true;
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_FUNCTION(bf_compatible) {
  const Header a = filter_arg(fcinfo, 0).header, b = filter_arg(fcinfo, 1).header;
  PG_RETURN_BOOL(are_compatible(a, b));
}

SQL_RESULT(bf_union, unite_arguments(fcinfo, Kind::bloom));
SQL_RESULT(cbf_union, unite_arguments(fcinfo, Kind::counting));
SQL_RESULT(cf_union, unite_arguments(fcinfo, Kind::cuckoo));

SQL_FUNCTION(bf_intersect) {
  const FirstOperand first = {filter_arg(fcinfo, 0), false};
  return intersect_filters(first, filter_arg(fcinfo, 1)).datum();
}

SQL_RESULT(bloomfilter_union_step, step(fcinfo, Kind::bloom, unite_filters));
SQL_RESULT(countingbloomfilter_union_step, step(fcinfo, Kind::counting, unite_filters));
SQL_RESULT(cuckoofilter_union_step, step(fcinfo, Kind::cuckoo, unite_filters));

SQL_FUNCTION(bloomfilter_union_final) {
  check_overfill(filter_arg(fcinfo, 0), Origin::united);
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

SQL_FUNCTION(countingbloomfilter_union_final) {
  check_overfill(filter_arg(fcinfo, 0, Kind::counting), Origin::united);
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

SQL_RESULT(bloomfilter_intersect_step, step(fcinfo, Kind::bloom, intersect_filters));

SQL_FUNCTION(bf_fold) {
  const Filter filter = filter_arg(fcinfo, 0);
  const int64 target = PG_GETARG_INT64(1);
  constexpr int64 kHead = VARHDRSZ + kHeaderBytes;
  if (filter.header.is_chain())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filter of several links, or that grows, cannot be folded"),
                    errdetail("The number of links is %d.", filter.header.links()),
                    errhint("Fold filters before they are united or grow.")));
  Header header = filter.header;
  check_able<Ability::folds>(header, "be folded");
  if (!fold_geometry(filter.header.geometry, target > kHead ? target - kHead : 0, &header.geometry))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filter cannot be folded into " INT64_FORMAT " bytes", target),
                    errdetail("The smallest size that it can be folded to is %zu bytes.",
                              VARHDRSZ + header.payload_bytes())));
  const uint32 units = filter.header.geometry.units, adjacent = units / header.geometry.units;
  if (adjacent == 1)
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));

  NewFilter folded = make_filter(header);
  const Size unit_bytes = header.geometry.unit_bytes();
  uint8 *to = folded.bitmap();
  const uint8 *from = filter.bitmap();
  if (choice_of(header.geometry.layout) == Choice::remainder) {
    for (uint32 part = 0; part < adjacent; part++)
      unite_bitmaps(to, from + part * header.geometry.bytes(), header.geometry.bytes());
    return folded.datum();
  }
  for (uint32 unit = 0; unit < units; unit++) {
    if (unit % (kStep / kLineBytes) == 0)
      CHECK_FOR_INTERRUPTS();
    unite(*kernel, to + unit / adjacent * unit_bytes, from + unit * unit_bytes, unit_bytes);
  }
  return folded.datum();
}

SQL_FUNCTION(bf_union_count) {
  ValueCount united;
  if (!count_union(filter_arg(fcinfo, 0), filter_arg(fcinfo, 1), &united))
    PG_RETURN_NULL();
  PG_RETURN_FLOAT8(united.values);
}

SQL_FUNCTION(bf_intersect_count) {
  double common, together;
  if (!count_common(fcinfo, &common, &together))
    PG_RETURN_NULL();
  PG_RETURN_FLOAT8(common);
}

SQL_FUNCTION(bf_jaccard) {
  double common, together;
  if (!count_common(fcinfo, &common, &together) || together == 0)
    PG_RETURN_NULL();
  PG_RETURN_FLOAT8(common / together);
}

// The operator && of all kinds. It only raises an error, whose hint says what to use instead.
SQL_FUNCTION(filter_overlaps) {
  const Kind kind = any_filter_arg(fcinfo, 0).kind();
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("%ss do not show whether they have values in common", noun_of(kind)),
                  hint_at_filters(kind)));
}

SQL_FUNCTIONS_END
