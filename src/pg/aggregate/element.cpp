// bf_element: a value as a filter sees it (core/hashed_value.hpp).
//
// One type stands for those of all values, because what sends an aggregate from server to server
// (Citus) knows it only by an argument's exact type, which "any" is not.

#include "pg/aggregate/element.hpp"

#include "core/hashed_value.hpp"
#include "core/text.hpp"
#include "pg/call_site.hpp"
#include "pg/element/canonical.hpp"
#include "pg/element/digests.hpp"
#include "pg/errors.hpp"
#include "pg/io.hpp"

using namespace bloomfilter;

namespace {

// Expressions of the queries that run, by their nodes.
struct ReadAtOnce {
  const Expr *expression;
  ReadAtOnce *next;
  MemoryContextCallback forget;
};
ReadAtOnce *announced;

void forget(void *argument) {
  ReadAtOnce **place = &announced;
  while (*place != argument)
    place = &(*place)->next;
  *place = (*place)->next;
}

bool is_read_at_once(const void *expression) {
  for (const ReadAtOnce *known = announced; known; known = known->next)
    if (known->expression == expression)
      return true;
  return false;
}

HashedValue *place_for_element(FunctionCallInfo fcinfo) {
  CallSite *site = call_site(fcinfo);
  if (likely(site->element_place))
    return site->element_place;
  if (!is_read_at_once(fcinfo->flinfo->fn_expr))
    return static_cast<HashedValue *>(palloc(sizeof(HashedValue)));
  return site->element_place = static_cast<HashedValue *>(
             MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(HashedValue)));
}

// A value from outside as a Datum, or NULL after a soft error.
Datum accept(FunctionCallInfo fcinfo, int sqlstate, const uint8 *bytes, Size length) {
  auto *value = static_cast<HashedValue *>(palloc0(sizeof(HashedValue)));
  const Finding finding = read_hashed_value(bytes, length, value);
  if (!finding.ok()) {
    report_malformed(fcinfo->context, "bf_element", sqlstate, finding_text(finding));
    PG_RETURN_NULL();
  }
  PG_RETURN_POINTER(value);
}

const HashedValue &value_arg(FunctionCallInfo fcinfo, int argument) {
  return *reinterpret_cast<const HashedValue *>(PG_GETARG_POINTER(argument));
}

} // namespace

namespace bloomfilter {

void announce_read_at_once(const Expr *expression, MemoryContext query) {
  if (is_read_at_once(expression))
    return;
  auto *entry = static_cast<ReadAtOnce *>(MemoryContextAlloc(query, sizeof(ReadAtOnce)));
  *entry = {expression, announced, {forget, entry, nullptr}};
  announced = entry;
  MemoryContextRegisterResetCallback(query, &entry->forget);
}

} // namespace bloomfilter

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_element_of);
Datum bf_element_of(PG_FUNCTION_ARGS) {
  Element *element = argument_element(fcinfo, 0);
  const Datum value = PG_GETARG_DATUM(0);
  HashedValue *result = place_for_element(fcinfo);
  result->hash = result->second = inline_hash(element, value, 0);
  result->type = *element; // in one piece, as it is read; of a row only now
  if (unlikely(element->varying)) {
    const SecondHash second = second_hash(element, value, 0);
    if (second.exists)
      result->second = second.hash;
  }
  PG_RETURN_POINTER(result);
}

PG_FUNCTION_INFO_V1(bloomfilter_element_in);
Datum bloomfilter_element_in(PG_FUNCTION_ARGS) {
  const char *string = PG_GETARG_CSTRING(0);
  const Size length = strlen(string);
  auto *bytes = static_cast<uint8 *>(palloc(decoded_length_limit(length) + 1));
  Size decoded;
  if (!decode_base64(string, length, bytes, &decoded)) {
    report_malformed(fcinfo->context, "bf_element", ERRCODE_INVALID_TEXT_REPRESENTATION,
                     "text is not base64");
    PG_RETURN_NULL();
  }
  return accept(fcinfo, ERRCODE_INVALID_TEXT_REPRESENTATION, bytes, decoded);
}

PG_FUNCTION_INFO_V1(bloomfilter_element_recv);
Datum bloomfilter_element_recv(PG_FUNCTION_ARGS) {
  Size length;
  const uint8 *bytes = message_bytes(fcinfo, &length);
  return accept(fcinfo, ERRCODE_INVALID_BINARY_REPRESENTATION, bytes, length);
}

PG_FUNCTION_INFO_V1(bloomfilter_element_out);
Datum bloomfilter_element_out(PG_FUNCTION_ARGS) {
  uint8 bytes[kHashedValueBytes];
  write_hashed_value(bytes, value_arg(fcinfo, 0));
  PG_RETURN_CSTRING(payload_text(bytes, sizeof bytes));
}

PG_FUNCTION_INFO_V1(bloomfilter_element_send);
Datum bloomfilter_element_send(PG_FUNCTION_ARGS) {
  uint8 bytes[kHashedValueBytes];
  write_hashed_value(bytes, value_arg(fcinfo, 0));
  PG_RETURN_BYTEA_P(cstring_to_text_with_len(reinterpret_cast<char *>(bytes), sizeof bytes));
}

PG_FUNCTION_INFO_V1(bloomfilter_element_eq);
Datum bloomfilter_element_eq(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(value_arg(fcinfo, 0) == value_arg(fcinfo, 1));
}

PG_FUNCTION_INFO_V1(bloomfilter_element_ne);
Datum bloomfilter_element_ne(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(!(value_arg(fcinfo, 0) == value_arg(fcinfo, 1)));
}

PG_FUNCTION_INFO_V1(bloomfilter_element_hash);
Datum bloomfilter_element_hash(PG_FUNCTION_ARGS) {
  PG_RETURN_INT32(static_cast<int32>(value_arg(fcinfo, 0).hash));
}

SQL_FUNCTIONS_END
