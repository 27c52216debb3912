// The SQL functions that probe a filter: whether it may hold a value (bf_contains, the operators @>
// and <@), and how often it may hold it (cbf_multiplicity, cf_multiplicity). Also bf_hash().
//
// A filter reads a value as its own element type. A value of another type is converted first
// (pg/element/conversion.hpp). A bare literal is read as the filter's element type. Arrays are
// probed in batches, so that the lines of several values are fetched from memory at once.

#include "pg/server.hpp"

#include "core/counting.hpp"
#include "pg/element/conversion.hpp"
#include "pg/list.hpp"
#include "pg/value/call_site.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/items.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/memutils.h"
}

using namespace bloomfilter;

namespace {

// Probes for a value of another family, which must be converted. This is a separate function so
// that the common case in contains_value() stays short.
pg_noinline bool contains_converted(ProbedFilter *filter, ValueType *value_type, Datum value) {
  return contains_any_digest(filter,
                             converted_digests(value_type, value, filter->header, Purpose::probe));
}

bool contains_value(FunctionCallInfo fcinfo, int filter_argument, int value_argument) {
  ProbedFilter *filter = probed_filter(fcinfo, filter_argument);
  ValueType *value_type = argument_value_type(fcinfo, value_argument);
  const Datum value = PG_GETARG_DATUM(value_argument);
  if (unlikely(is_foreign(filter->header.geometry.layout)))
    return contains_any_digest(
        filter, hashed_argument(fcinfo, filter->header, value_argument, Purpose::probe).digests);
  const uint64 hash = first_hash(value_type, value, filter->header.seed);
  if (unlikely(!fits(filter->header, value_type)) && !holds(filter->header, value_type))
    return contains_converted(filter, value_type, value);
  bool found = filter->contains(hash);
  if (unlikely(value_type->varying)) {
    const SecondHash second = second_hash(value_type, value, filter->header.seed);
    found |= second.exists && filter->contains(second.hash);
  }
  return found;
}

bool contains_literal(FunctionCallInfo fcinfo, int filter_argument, int literal_argument) {
  ProbedFilter *filter = probed_filter(fcinfo, filter_argument);
  return contains_any_digest(
      filter, cached_literal_digests(fcinfo, filter->header, literal_argument, Purpose::probe));
}

// Returns the digests of an argument to probe for. Implemented for values and for literals.
using DigestsOf = Digests(FunctionCallInfo, const Header &filter, int argument);

Digests digests_of_value(FunctionCallInfo fcinfo, const Header &filter, int argument) {
  return hashed_argument(fcinfo, filter, argument, Purpose::probe).digests;
}

Digests digests_of_literal(FunctionCallInfo fcinfo, const Header &filter, int argument) {
  return cached_literal_digests(fcinfo, filter, argument, Purpose::probe);
}

// The largest possible multiplicity. It is the result for a value that may equal any number of the
// filter's values.
int most_of(Kind kind) {
  return kind == Kind::counting ? static_cast<int>(kMaxCounter) : PG_INT32_MAX;
}

// An upper bound for how often a value was added, up to most_of(). The value may have been added
// under any of its digests, so their multiplicities are added up.
Datum multiplicity(FunctionCallInfo fcinfo, Kind kind, DigestsOf digests_of_argument) {
  ProbedFilter *filter = probed_filter(fcinfo, 0);
  check_kind_of(filter->header, kind);
  const Digests digests = digests_of_argument(fcinfo, filter->header, 1);
  int count = digests.any ? most_of(kind) : 0;
  for (int i = 0; i < digests.count; i++)
    count += filter->multiplicity(digests.digest[i].first);
  PG_RETURN_INT32(count);
}

int count_nulls(const Items &items) {
  int nulls = 0;
  for (int i = 0; i < items.count; i++)
    nulls += items.nulls[i] ? 1 : 0;
  return nulls;
}

// Makes a boolean[] of `count` elements, all false, with a bitmap of NULLs if `has_nulls`.
ArrayType *make_answers(int count, bool has_nulls) {
  const Size overhead = has_nulls ? ARR_OVERHEAD_WITHNULLS(1, count) : ARR_OVERHEAD_NONULLS(1);
  auto *array = static_cast<ArrayType *>(palloc0(overhead + count));
  SET_VARSIZE(array, overhead + count);
  array->ndim = 1;
  array->dataoffset = has_nulls ? static_cast<int32>(overhead) : 0;
  array->elemtype = BOOLOID;
  *ARR_DIMS(array) = count;
  *ARR_LBOUND(array) = 1;
  return array;
}

// Turns the elements for NULLs into bits of the array's bitmap of NULLs. An array stores no element
// for a NULL.
void remove_nulls(ArrayType *array, const Items &items, int nulls) {
  auto *answers = reinterpret_cast<bool *>(ARR_DATA_PTR(array));
  uint8 *bitmap = ARR_NULLBITMAP(array);
  for (int i = 0; i < items.count; i++)
    if (!items.nulls[i]) {
      bitmap[i / 8] |= 1 << i % 8;
      *answers++ = reinterpret_cast<bool *>(ARR_DATA_PTR(array))[i];
    }
  SET_VARSIZE(array, VARSIZE(array) - nulls);
}

// The filter to probe for the elements of an array. Only a bloomfilter can be probed for an array.
ProbedFilter *filter_for_items(FunctionCallInfo fcinfo) {
  ProbedFilter *filter = probed_filter(fcinfo, 0);
  check_kind_of(filter->header, Kind::bloom);
  return filter;
}

// True if the result of the probe is `wanted` for any element that is not NULL.
bool any_item_is(FunctionCallInfo fcinfo, bool wanted) {
  ProbedFilter *filter = filter_for_items(fcinfo);
  const Items items = items_of(fcinfo, 1);
  auto *answers = make_array<bool>(items.count);
  for (int item = 0; item < items.count;)
    for (const int end = probe_items(filter, items, item, answers); item < end; item++)
      if (!items.nulls[item] && answers[item] == wanted)
        return true;
  return false;
}

} // namespace

SQL_FUNCTIONS_BEGIN

// Called if a list has no type: a bare literal, or what a driver sends for a list. The server's own
// error would not say what to do.
SQL_FUNCTION(filter_untyped_list) {
  (void)fcinfo;
  ereport(ERROR,
          (errcode(ERRCODE_DATATYPE_MISMATCH),
           errmsg("could not determine the type of a list of values"),
           errhint("Cast the list to an array: '{...}'::int[], or $1::text[]. For one value, "
                   "use bf_contains() or bf_add().")));
}

SQL_RESULT(filter_contains, BoolGetDatum(contains_value(fcinfo, 0, 1)));
SQL_RESULT(filter_contains_literal, BoolGetDatum(contains_literal(fcinfo, 0, 1)));
SQL_RESULT(filter_contained, BoolGetDatum(contains_value(fcinfo, 1, 0)));
SQL_RESULT(filter_contained_literal, BoolGetDatum(contains_literal(fcinfo, 1, 0)));
SQL_RESULT(bf_contains_any, BoolGetDatum(any_item_is(fcinfo, true)));
SQL_RESULT(bf_contains_all, BoolGetDatum(!any_item_is(fcinfo, false)));

SQL_FUNCTION(bf_contains_each) {
  ProbedFilter *filter = filter_for_items(fcinfo);
  const Items items = items_of(fcinfo, 1);
  if (items.count == 0)
    PG_RETURN_ARRAYTYPE_P(construct_empty_array(BOOLOID));

  const int nulls = count_nulls(items);
  filter->expect(items.count - nulls);
  ArrayType *array = make_answers(items.count, nulls > 0);
  auto *answers = reinterpret_cast<bool *>(ARR_DATA_PTR(array));
  for (int item = 0; item < items.count;)
    item = probe_items(filter, items, item, answers);
  if (nulls > 0)
    remove_nulls(array, items, nulls);
  PG_RETURN_ARRAYTYPE_P(array);
}

SQL_FUNCTION(bf_hash) {
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(1));
  const uint64 hash = first_hash(argument_value_type(fcinfo, 0), PG_GETARG_DATUM(0), seed);
  PG_RETURN_INT64(static_cast<int64>(hash));
}

SQL_FUNCTION(bf_contains_hash) {
  ProbedFilter *filter = probed_filter(fcinfo, 0);
  check_hashed_alike(filter->header);
  PG_RETURN_BOOL(filter->contains(static_cast<uint64>(PG_GETARG_INT64(1))));
}

SQL_RESULT(cbf_multiplicity, multiplicity(fcinfo, Kind::counting, digests_of_value));
SQL_RESULT(cbf_multiplicity_literal, multiplicity(fcinfo, Kind::counting, digests_of_literal));
SQL_RESULT(cf_multiplicity, multiplicity(fcinfo, Kind::cuckoo, digests_of_value));
SQL_RESULT(cf_multiplicity_literal, multiplicity(fcinfo, Kind::cuckoo, digests_of_literal));

SQL_FUNCTIONS_END
