// The type bf_element: a value in the form in which a filter takes it, which is the value's element
// type and hashes. This file has its input and output functions, its operators, and
// bf_element_of(), which makes one from a value.
//
// One type stands for values of all types. An extension that sends an aggregate from server to
// server, such as Citus, finds the aggregate by the exact types of its arguments. The argument type
// "any" of bf_agg is not exact.

#include "pg/server.hpp"

#include "core/partial.hpp"
#include "pg/element/canonical.hpp"
#include "pg/element/digests.hpp"
#include "pg/list.hpp"
#include "pg/value/call_site.hpp"
#include "pg/value/payload.hpp"

using namespace bloomfilter;

namespace {

Finding validate_element(const uint8 *bytes, Size length) {
  HashedValue value;
  return read_hashed_value(bytes, length, &value);
}
const PayloadType kElementType = {"bf_element", "element", validate_element, nullptr};

// Returns the element in a payload that has been checked, or NULL after a soft error.
Datum element_of_payload(FunctionCallInfo fcinfo, Datum payload) {
  if (fcinfo->isnull)
    PG_RETURN_NULL();
  auto *value = make_zeroed<HashedValue>();
  read_hashed_value(reinterpret_cast<const uint8 *>(VARDATA(DatumGetPointer(payload))),
                    kHashedValueBytes, value);
  PG_RETURN_POINTER(value);
}

const HashedValue &value_arg(FunctionCallInfo fcinfo, int argument) {
  return *reinterpret_cast<const HashedValue *>(PG_GETARG_POINTER(argument));
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_FUNCTION(bf_element_of) {
  ValueType *value_type = argument_value_type(fcinfo, 0);
  const Datum value = PG_GETARG_DATUM(0);
  auto *result = make_array<HashedValue>(1);
  result->hash = result->second = inline_hash(value_type, value, 0);
  // Written in one piece, because it will be read so. A row's shape is known only after hashing.
  result->type = *value_type;
  if (unlikely(value_type->varying)) {
    const SecondHash second = second_hash(value_type, value, 0);
    if (second.exists)
      result->second = second.hash;
  }
  PG_RETURN_POINTER(result);
}

SQL_RESULT(bloomfilter_element_in, element_of_payload(fcinfo, payload_in(fcinfo, kElementType)));
SQL_RESULT(bloomfilter_element_recv,
           element_of_payload(fcinfo, payload_recv(fcinfo, kElementType)));

SQL_FUNCTION(bloomfilter_element_out) {
  uint8 bytes[kHashedValueBytes];
  write_hashed_value(bytes, value_arg(fcinfo, 0));
  PG_RETURN_CSTRING(payload_text(bytes, sizeof bytes));
}

SQL_FUNCTION(bloomfilter_element_send) {
  uint8 bytes[kHashedValueBytes];
  write_hashed_value(bytes, value_arg(fcinfo, 0));
  PG_RETURN_BYTEA_P(cstring_to_text_with_len(reinterpret_cast<char *>(bytes), sizeof bytes));
}

SQL_RESULT(bloomfilter_element_eq, BoolGetDatum(value_arg(fcinfo, 0) == value_arg(fcinfo, 1)));
SQL_RESULT(bloomfilter_element_ne, BoolGetDatum(!(value_arg(fcinfo, 0) == value_arg(fcinfo, 1))));
SQL_RESULT(bloomfilter_element_hash, Int32GetDatum(static_cast<int32>(value_arg(fcinfo, 0).hash)));

SQL_FUNCTIONS_END
