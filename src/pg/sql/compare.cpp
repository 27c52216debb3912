// The SQL functions that compare two filters of one type by their bytes: for equality, for the
// order of a btree opclass, and for hashing. The order has no meaning, but DISTINCT, GROUP BY and
// ANALYZE need one.
//
// Equal filters have the same parameters and the same bits, so every probe of one gives the same
// result as a probe of the other. Two filters of the same values differ if their parameters differ.
//
// These functions do not interpret the header. So a table with a damaged filter can still be
// sorted, grouped and analyzed. An order or a hash needs both filters in full: sorting many filters
// of megabytes is slow.

#include "pg/server.hpp"

#include "core/hash.hpp"
#include "pg/value/filter.hpp"

extern "C" {
#include "access/detoast.h"
}

using namespace bloomfilter;

namespace {

int compare(FunctionCallInfo fcinfo) {
  struct varlena *a = PG_GETARG_VARLENA_PP(0), *b = PG_GETARG_VARLENA_PP(1);
  const int order = compare_payloads(a, b);
  PG_FREE_IF_COPY(a, 0);
  PG_FREE_IF_COPY(b, 1);
  return order;
}

// Compares the sizes first, because they are known without detoasting the filters.
bool equal(FunctionCallInfo fcinfo) {
  return toast_raw_datum_size(PG_GETARG_DATUM(0)) == toast_raw_datum_size(PG_GETARG_DATUM(1)) &&
         compare(fcinfo) == 0;
}

uint64 hash(FunctionCallInfo fcinfo, uint64 seed) {
  struct varlena *value = PG_GETARG_VARLENA_PP(0);
  const uint64 result = hash_bytes(reinterpret_cast<const uint8 *>(VARDATA_ANY(value)),
                                   VARSIZE_ANY_EXHDR(value), seed);
  PG_FREE_IF_COPY(value, 0);
  return result;
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_RESULT(filter_eq, BoolGetDatum(equal(fcinfo)));
SQL_RESULT(filter_ne, BoolGetDatum(!equal(fcinfo)));
SQL_RESULT(filter_lt, BoolGetDatum(compare(fcinfo) < 0));
SQL_RESULT(filter_le, BoolGetDatum(compare(fcinfo) <= 0));
SQL_RESULT(filter_gt, BoolGetDatum(compare(fcinfo) > 0));
SQL_RESULT(filter_ge, BoolGetDatum(compare(fcinfo) >= 0));
SQL_RESULT(filter_cmp, Int32GetDatum(compare(fcinfo)));
SQL_RESULT(filter_hash, UInt32GetDatum(static_cast<uint32>(hash(fcinfo, 0))));

SQL_FUNCTION(filter_hash_extended) {
  PG_RETURN_UINT64(hash(fcinfo, static_cast<uint64>(PG_GETARG_INT64(1))));
}

SQL_FUNCTIONS_END
