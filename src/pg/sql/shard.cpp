// A large set can be stored as a table of small filters, its shards. bf_shard() returns the shard
// of a value; bf_shard_count() returns how many shards a set needs. doc/streaming.md shows why:
// adding a value then writes one small filter and not a large one.

#include "pg/server.hpp"

#include "core/shard.hpp"
#include "pg/element/digests.hpp"
#include "pg/sql/set_shape.hpp"
#include "pg/value/call_site.hpp"
#include "pg/value/new_filter.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
}

using namespace bloomfilter;

SQL_FUNCTIONS_BEGIN

// Raises 42P18 for a bare literal. A filter reads a bare literal as its own element type, but here
// is no filter. If the literal was read as another type, it would be probed in another shard than
// the one that the value was added to.
SQL_FUNCTION(bf_shard) {
  ValueType *value_type = argument_value_type(fcinfo, 0);
  const int32 shards = PG_GETARG_INT32(1);

  if (value_type->base == UNKNOWNOID)
    ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
                    errmsg("a bare literal does not say which shard is meant"),
                    errhint("Cast the literal to the type of the values in the filters.")));
  if (shards < 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("number of shards %d is out of range", shards),
                    errdetail("It must be at least 1.")));
  const uint64 hash = distribution_hash(value_type, PG_GETARG_DATUM(0));
  PG_RETURN_INT32(static_cast<int32>(shard_of(hash, static_cast<uint32>(shards))));
}

// The keys of the shards of a value in a set with several levels (set_shape.hpp).
SQL_FUNCTION(bf_shard_keys) {
  ValueType *value_type = argument_value_type(fcinfo, 0);
  const int32 shards = PG_GETARG_INT32(1), fan_out = PG_GETARG_INT32(2);
  const int32 levels = PG_GETARG_INT32(3);
  constexpr int32 kMost = 8;
  if (shards < 1 || fan_out < 1 || levels < 1 || levels > kMost)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("shape of a set is out of range: %d shards, %d children of each, "
                           "%d levels",
                           shards, fan_out, levels)));
  const uint64 hash = distribution_hash(value_type, PG_GETARG_DATUM(0));
  Datum keys[kMost];
  int64 first = 0, number = shards;
  for (int level = 0; level < levels; level++, first += number, number *= fan_out) {
    if (first + number > int64{PG_INT32_MAX} + 1)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("set has too many shards")));
    keys[level] =
        Int32GetDatum(static_cast<int32>(first + shard_of(hash, static_cast<uint32>(number))));
  }
  PG_RETURN_ARRAYTYPE_P(construct_array(keys, levels, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

SQL_FUNCTION(bf_shard_count) {
  const double expected = PG_GETARG_FLOAT8(0);
  PG_RETURN_INT32(
      shard_count(checked_capacity(expected, PG_GETARG_FLOAT8(1)), kShardBytes, expected));
}

SQL_FUNCTIONS_END
