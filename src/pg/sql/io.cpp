#include "pg/sql/io.hpp"

#include "core/text.hpp"
#include "pg/errors.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// Is a payload from outside sound? If not, and soft errors are asked for, reports so and returns
// false.
bool accept(FunctionCallInfo fcinfo, const PayloadType &type, int sqlstate, const uint8 *payload,
            Size length) {
  const Finding finding = type.check(payload, length);
  if (!finding.ok())
    report_malformed(fcinfo->context, type.name, sqlstate, finding_text(finding));
  return finding.ok();
}

// A copy of a payload from outside as a value, or 22P03.
Datum accept_binary(FunctionCallInfo fcinfo, const PayloadType &type, const uint8 *payload,
                    Size length) {
  if (!accept(fcinfo, type, ERRCODE_INVALID_BINARY_REPRESENTATION, payload, length))
    PG_RETURN_NULL();
  return PointerGetDatum(make_value(payload, length));
}

template <Kind kKind> Finding check_filter(const uint8 *payload, Size length) {
  Header header;
  const Finding finding = validate(payload, length, &header, check_for_interrupts);
  return finding.ok() ? check_kind(header, kKind) : finding;
}

template <Kind kKind> PayloadType filter_type() {
  return {type_of(kKind), noun_of(kKind), check_filter<kKind>};
}

template <Kind kKind> Datum from_bytea(FunctionCallInfo fcinfo) {
  const bytea *bytes = PG_GETARG_BYTEA_PP(0);
  return accept_binary(fcinfo, filter_type<kKind>(),
                       reinterpret_cast<const uint8 *>(VARDATA_ANY(bytes)),
                       VARSIZE_ANY_EXHDR(bytes));
}

} // namespace

Datum payload_in(FunctionCallInfo fcinfo, const PayloadType &type) {
  const char *string = PG_GETARG_CSTRING(0);
  const Size length = strlen(string);
  const auto report = [&](const char *detail) {
    report_malformed(fcinfo->context, type.name, ERRCODE_INVALID_TEXT_REPRESENTATION, detail);
    PG_RETURN_NULL();
  };
  if (decoded_length_limit(length) > MaxAllocSize - VARHDRSZ)
    return report(psprintf("text is too long for the largest %s", type.noun));

  auto *value = static_cast<struct varlena *>(palloc(VARHDRSZ + decoded_length_limit(length)));
  auto *payload = reinterpret_cast<uint8 *>(VARDATA(value));
  Size decoded;
  if (!decode_base64(string, length, payload, &decoded, check_for_interrupts))
    return report("text is not base64");
  if (!accept(fcinfo, type, ERRCODE_INVALID_TEXT_REPRESENTATION, payload, decoded))
    PG_RETURN_NULL();
  SET_VARSIZE(value, VARHDRSZ + decoded);
  PG_RETURN_POINTER(value);
}

Datum payload_recv(FunctionCallInfo fcinfo, const PayloadType &type) {
  auto buffer = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int length = buffer->len - buffer->cursor;
  return accept_binary(fcinfo, type,
                       reinterpret_cast<const uint8 *>(pq_getmsgbytes(buffer, length)),
                       static_cast<Size>(length));
}

char *payload_text(const uint8 *payload, Size length) {
  const Size chars = encoded_length(length);
  auto *string = static_cast<char *>(palloc(chars + 1));
  encode_base64(payload, length, string, check_for_interrupts);
  string[chars] = '\0';
  return string;
}

} // namespace bloomfilter

using namespace bloomfilter;

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bloomfilter_in);
Datum bloomfilter_in(PG_FUNCTION_ARGS) {
  return payload_in(fcinfo, filter_type<Kind::bloom>());
}

PG_FUNCTION_INFO_V1(bloomfilter_recv);
Datum bloomfilter_recv(PG_FUNCTION_ARGS) {
  return payload_recv(fcinfo, filter_type<Kind::bloom>());
}

PG_FUNCTION_INFO_V1(bloomfilter_from_bytea);
Datum bloomfilter_from_bytea(PG_FUNCTION_ARGS) {
  return from_bytea<Kind::bloom>(fcinfo);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_in);
Datum countingbloomfilter_in(PG_FUNCTION_ARGS) {
  return payload_in(fcinfo, filter_type<Kind::counting>());
}

PG_FUNCTION_INFO_V1(countingbloomfilter_recv);
Datum countingbloomfilter_recv(PG_FUNCTION_ARGS) {
  return payload_recv(fcinfo, filter_type<Kind::counting>());
}

PG_FUNCTION_INFO_V1(countingbloomfilter_from_bytea);
Datum countingbloomfilter_from_bytea(PG_FUNCTION_ARGS) {
  return from_bytea<Kind::counting>(fcinfo);
}

PG_FUNCTION_INFO_V1(cuckoofilter_in);
Datum cuckoofilter_in(PG_FUNCTION_ARGS) {
  return payload_in(fcinfo, filter_type<Kind::cuckoo>());
}

PG_FUNCTION_INFO_V1(cuckoofilter_recv);
Datum cuckoofilter_recv(PG_FUNCTION_ARGS) {
  return payload_recv(fcinfo, filter_type<Kind::cuckoo>());
}

PG_FUNCTION_INFO_V1(cuckoofilter_from_bytea);
Datum cuckoofilter_from_bytea(PG_FUNCTION_ARGS) {
  return from_bytea<Kind::cuckoo>(fcinfo);
}

// Of all kinds.
PG_FUNCTION_INFO_V1(filter_out);
Datum filter_out(PG_FUNCTION_ARGS) {
  const Filter filter = any_filter_arg(fcinfo, 0);
  PG_RETURN_CSTRING(payload_text(filter.payload(), filter.header.payload_bytes()));
}

PG_FUNCTION_INFO_V1(filter_send);
Datum filter_send(PG_FUNCTION_ARGS) {
  const Filter filter = any_filter_arg(fcinfo, 0);
  PG_RETURN_BYTEA_P(make_value(filter.payload(), filter.header.payload_bytes()));
}

SQL_FUNCTIONS_END
