// Making filters, adding to them and asking them.
//
// Every function has the same order: take the filter, resolve the element type, hash, check that
// filter and element fit, touch the bits, return. No argument is ever changed.

#include "pg/server.hpp"

#include "core/sizing.hpp"
#include "pg/call_site.hpp"
#include "pg/element.hpp"
#include "pg/errors.hpp"
#include "pg/filter.hpp"
#include "pg/row.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
}

using namespace bloomfilter;

namespace {

// A value argument: its hash and what it is.
struct Probe {
  Element *element;
  uint64 hash;
};

Probe probe_of(FunctionCallInfo fcinfo, const Header &header, int argument, const char *role) {
  Element *element = argument_element(fcinfo, argument);
  const uint64 hash = hash_element(element, PG_GETARG_DATUM(argument), header.seed);
  check_element(header, element, role);
  return {element, hash};
}

bool contains_value(FunctionCallInfo fcinfo, int filter_argument, int value_argument) {
  ProbedFilter filter = probed_filter(fcinfo, filter_argument);
  const Probe probe = probe_of(fcinfo, filter.header, value_argument, "probe");
  return filter.contains(probe.hash);
}

bool contains_literal(FunctionCallInfo fcinfo, int filter_argument, int literal_argument) {
  ProbedFilter filter = probed_filter(fcinfo, filter_argument);
  const LiteralHashes hashes =
      hash_literal(filter.header, PG_GETARG_TEXT_PP(literal_argument), PG_GET_COLLATION());
  bool found = false;
  for (int i = 0; i < hashes.count; i++)
    found |= filter.contains(hashes.hash[i]);
  return found;
}

// An array argument's elements. Hashing may allocate; `scratch` is emptied after each element.
struct Items {
  Element *element;
  Datum *values;
  bool *nulls;
  int count;
  MemoryContext scratch;
};

Items items_of(FunctionCallInfo fcinfo, int argument) {
  ArrayType *array = PG_GETARG_ARRAYTYPE_P(argument);
  Items items;
  items.element = item_element(fcinfo, array);
  items.scratch =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter elements", ALLOCSET_DEFAULT_SIZES);
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
  deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &items.values,
                    &items.nulls, &items.count);
  return items;
}

uint64 hash_item(const Header &header, const Items &items, int i, const char *role) {
  const MemoryContext before = MemoryContextSwitchTo(items.scratch);
  const uint64 hash = hash_element(items.element, items.values[i], header.seed);
  MemoryContextSwitchTo(before);
  MemoryContextReset(items.scratch);
  check_element(header, items.element, role);
  return hash;
}

// The filter plus hashes, in a copy unless nothing changes.
struct Addition {
  Filter filter;
  bool changed;
};

Addition add_to_copy(const Filter &filter, const Header &member, const uint64 *hashes, int count) {
  bool known = filter.header.family != Family::none;
  for (int i = 0; i < count; i++)
    known = known && filter.contains(hashes[i]);
  if (known)
    return {filter, false};

  Filter copy = copy_filter(filter);
  bool changed = false;
  for (int i = 0; i < count; i++)
    changed |= copy.add(hashes[i]);
  adopt_family(&copy.header, member);
  copy.write_back();
  return {copy, changed};
}

Addition add_value(FunctionCallInfo fcinfo) {
  const Filter filter = filter_arg(fcinfo, 0);
  const Probe probe = probe_of(fcinfo, filter.header, 1, "value");
  return add_to_copy(filter, member_header(probe.element), &probe.hash, 1);
}

Addition add_literal(FunctionCallInfo fcinfo) {
  const Filter filter = filter_arg(fcinfo, 0);
  const LiteralHashes hashes =
      hash_literal(filter.header, PG_GETARG_TEXT_PP(1), PG_GET_COLLATION());
  return add_to_copy(filter, member_header(Family::text), hashes.hash, hashes.count);
}

Addition add_items(FunctionCallInfo fcinfo) {
  const Filter filter = filter_arg(fcinfo, 0);
  const Items items = items_of(fcinfo, 1);
  Filter copy = copy_filter(filter);
  uint64 hashes[256];
  Size count = 0;
  for (int i = 0; i < items.count; i++) {
    if (items.nulls[i])
      continue;
    hashes[count++] = hash_item(copy.header, items, i, "value");
    adopt_family(&copy.header, member_header(items.element));
    if (count == lengthof(hashes)) {
      CHECK_FOR_INTERRUPTS();
      copy.add_many(hashes, count);
      count = 0;
    }
  }
  copy.add_many(hashes, count);
  copy.write_back();
  return {copy, true};
}

// NULL never destroys a filter: a NULL filter gives NULL, a NULL addition the filter as it is.
Datum add_or_keep(FunctionCallInfo fcinfo, Addition (*add)(FunctionCallInfo)) {
  if (PG_ARGISNULL(0))
    PG_RETURN_NULL();
  if (PG_ARGISNULL(1))
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  return add(fcinfo).filter.datum();
}

// The same with the result of bf_put, the row (filter, changed).
Datum put_or_keep(FunctionCallInfo fcinfo, Addition (*add)(FunctionCallInfo)) {
  if (PG_ARGISNULL(0))
    PG_RETURN_NULL();
  Row row(fcinfo);
  if (PG_ARGISNULL(1)) {
    row.add(PG_GETARG_DATUM(0));
    row.add(BoolGetDatum(false));
  } else {
    const Addition addition = add(fcinfo);
    row.add(addition.filter.datum());
    row.add(BoolGetDatum(addition.changed));
  }
  return row.datum();
}

bool contains_item(ProbedFilter &filter, const Items &items, int i) {
  return filter.contains(hash_item(filter.header, items, i, "probe"));
}

// Is the answer `wanted` for any element that is not NULL?
bool any_item_is(FunctionCallInfo fcinfo, bool wanted) {
  ProbedFilter filter = probed_filter(fcinfo, 0);
  const Items items = items_of(fcinfo, 1);
  for (int i = 0; i < items.count; i++)
    if (!items.nulls[i] && contains_item(filter, items, i) == wanted)
      return true;
  return false;
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_create);
Datum bf_create(PG_FUNCTION_ARGS) {
  const int64 expected = PG_GETARG_INT64(0);
  const double rate = PG_GETARG_FLOAT8(1);
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(2));
  const bool grow = PG_GETARG_BOOL(3);
  const char *layout = text_to_cstring(PG_GETARG_TEXT_PP(4));

  if (grow)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("growing bloom filters are not supported")));
  if (strcmp(layout, "lines") != 0)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("bloom filter layout \"%s\" is not supported", layout),
                    errhint("The supported layout is \"lines\".")));
  const Geometry geometry = geometry_for(expected, rate);
  return make_filter(empty_header(geometry, static_cast<uint64>(expected), rate, seed)).datum();
}

PG_FUNCTION_INFO_V1(bf_create_by_size);
Datum bf_create_by_size(PG_FUNCTION_ARGS) {
  const int64 bits = PG_GETARG_INT64(0);
  const int32 hashes = PG_GETARG_INT32(1);
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(2));

  if (bits < 1 || static_cast<uint64>(bits) > kMaxBits)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("number of bits " INT64_FORMAT " is out of range", bits),
                    errdetail("It must be between 1 and " UINT64_FORMAT ".", kMaxBits)));
  if (hashes < 1 || hashes > kMaxHashes)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("number of hash functions %d is out of range", hashes),
                    errdetail("It must be between 1 and %d.", kMaxHashes)));
  const Geometry geometry = size_for_bits(static_cast<uint64>(bits), hashes);
  return make_filter(empty_header(geometry, 0, 0, seed)).datum();
}

PG_FUNCTION_INFO_V1(bf_clear);
Datum bf_clear(PG_FUNCTION_ARGS) {
  return make_filter(filter_arg(fcinfo, 0).header).datum();
}

PG_FUNCTION_INFO_V1(bf_add);
Datum bf_add(PG_FUNCTION_ARGS) {
  return add_or_keep(fcinfo, add_value);
}

PG_FUNCTION_INFO_V1(bf_add_literal);
Datum bf_add_literal(PG_FUNCTION_ARGS) {
  return add_or_keep(fcinfo, add_literal);
}

PG_FUNCTION_INFO_V1(bf_add_all);
Datum bf_add_all(PG_FUNCTION_ARGS) {
  return add_or_keep(fcinfo, add_items);
}

PG_FUNCTION_INFO_V1(bf_put);
Datum bf_put(PG_FUNCTION_ARGS) {
  return put_or_keep(fcinfo, add_value);
}

PG_FUNCTION_INFO_V1(bf_put_literal);
Datum bf_put_literal(PG_FUNCTION_ARGS) {
  return put_or_keep(fcinfo, add_literal);
}

PG_FUNCTION_INFO_V1(bf_contains);
Datum bf_contains(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(contains_value(fcinfo, 0, 1));
}

PG_FUNCTION_INFO_V1(bf_contains_literal);
Datum bf_contains_literal(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(contains_literal(fcinfo, 0, 1));
}

PG_FUNCTION_INFO_V1(bf_contained);
Datum bf_contained(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(contains_value(fcinfo, 1, 0));
}

PG_FUNCTION_INFO_V1(bf_contained_literal);
Datum bf_contained_literal(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(contains_literal(fcinfo, 1, 0));
}

PG_FUNCTION_INFO_V1(bf_contains_any);
Datum bf_contains_any(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(any_item_is(fcinfo, true));
}

PG_FUNCTION_INFO_V1(bf_contains_all);
Datum bf_contains_all(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(!any_item_is(fcinfo, false));
}

PG_FUNCTION_INFO_V1(bf_contains_each);
Datum bf_contains_each(PG_FUNCTION_ARGS) {
  ProbedFilter filter = probed_filter(fcinfo, 0);
  const Items items = items_of(fcinfo, 1);
  if (items.count == 0)
    PG_RETURN_ARRAYTYPE_P(construct_empty_array(BOOLOID));

  auto *answers = static_cast<Datum *>(palloc(items.count * sizeof(Datum)));
  for (int i = 0; i < items.count; i++)
    answers[i] = BoolGetDatum(!items.nulls[i] && contains_item(filter, items, i));
  int dimension = items.count, lower_bound = 1;
  PG_RETURN_ARRAYTYPE_P(construct_md_array(answers, items.nulls, 1, &dimension, &lower_bound,
                                           BOOLOID, sizeof(bool), true, TYPALIGN_CHAR));
}

PG_FUNCTION_INFO_V1(bf_hash);
Datum bf_hash(PG_FUNCTION_ARGS) {
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(1));
  const uint64 hash = hash_element(argument_element(fcinfo, 0), PG_GETARG_DATUM(0), seed);
  PG_RETURN_INT64(static_cast<int64>(hash));
}

PG_FUNCTION_INFO_V1(bf_add_hash);
Datum bf_add_hash(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0);
  const auto hash = static_cast<uint64>(PG_GETARG_INT64(1));
  return add_to_copy(filter, member_header(Family::hash), &hash, 1).filter.datum();
}

PG_FUNCTION_INFO_V1(bf_contains_hash);
Datum bf_contains_hash(PG_FUNCTION_ARGS) {
  ProbedFilter filter = probed_filter(fcinfo, 0);
  PG_RETURN_BOOL(filter.contains(static_cast<uint64>(PG_GETARG_INT64(1))));
}

SQL_FUNCTIONS_END
