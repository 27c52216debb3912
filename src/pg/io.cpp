// Filters of any kind as text, as binary and as bytea. All three carry the payload
// (core/format.hpp), and everything that comes from outside passes validate().

#include "pg/server.hpp"

#include "core/text.hpp"
#include "pg/errors.hpp"
#include "pg/filter.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/memutils.h"
}

using namespace bloomfilter;

namespace {

// Is a payload from outside a sound filter of this kind? If not, and soft errors are asked for,
// reports so and returns false.
bool accept(FunctionCallInfo fcinfo, Kind kind, int sqlstate, const uint8 *payload, Size length) {
  Header header;
  Finding finding = validate(payload, length, &header);
  if (finding.ok())
    finding = check_kind(header, kind);
  if (!finding.ok())
    report_malformed(fcinfo->context, kind, sqlstate, finding_text(finding));
  return finding.ok();
}

// A copy of a payload from outside as a value, or 22P03.
Datum accept_binary(FunctionCallInfo fcinfo, Kind kind, const char *bytes, Size length) {
  if (!accept(fcinfo, kind, ERRCODE_INVALID_BINARY_REPRESENTATION,
              reinterpret_cast<const uint8 *>(bytes), length))
    PG_RETURN_NULL();
  return PointerGetDatum(cstring_to_text_with_len(bytes, static_cast<int>(length)));
}

Datum in(FunctionCallInfo fcinfo, Kind kind) {
  const char *string = PG_GETARG_CSTRING(0);
  const Size length = strlen(string);
  if (decoded_length_limit(length) > MaxAllocSize - VARHDRSZ) {
    report_malformed(fcinfo->context, kind, ERRCODE_INVALID_TEXT_REPRESENTATION,
                     psprintf("text is too long for the largest %s", noun_of(kind)));
    PG_RETURN_NULL();
  }

  auto *value = static_cast<struct varlena *>(palloc(VARHDRSZ + decoded_length_limit(length)));
  auto *payload = reinterpret_cast<uint8 *>(VARDATA(value));
  Size decoded;
  if (!decode_base64(string, length, payload, &decoded, check_for_interrupts)) {
    report_malformed(fcinfo->context, kind, ERRCODE_INVALID_TEXT_REPRESENTATION,
                     "text is not base64");
    PG_RETURN_NULL();
  }
  if (!accept(fcinfo, kind, ERRCODE_INVALID_TEXT_REPRESENTATION, payload, decoded))
    PG_RETURN_NULL();
  SET_VARSIZE(value, VARHDRSZ + decoded);
  PG_RETURN_POINTER(value);
}

Datum recv(FunctionCallInfo fcinfo, Kind kind) {
  auto buffer = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int length = buffer->len - buffer->cursor;
  return accept_binary(fcinfo, kind, pq_getmsgbytes(buffer, length), static_cast<Size>(length));
}

Datum from_bytea(FunctionCallInfo fcinfo, Kind kind) {
  const bytea *bytes = PG_GETARG_BYTEA_PP(0);
  return accept_binary(fcinfo, kind, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bloomfilter_in);
Datum bloomfilter_in(PG_FUNCTION_ARGS) {
  return in(fcinfo, Kind::bloom);
}

PG_FUNCTION_INFO_V1(bloomfilter_recv);
Datum bloomfilter_recv(PG_FUNCTION_ARGS) {
  return recv(fcinfo, Kind::bloom);
}

PG_FUNCTION_INFO_V1(bloomfilter_from_bytea);
Datum bloomfilter_from_bytea(PG_FUNCTION_ARGS) {
  return from_bytea(fcinfo, Kind::bloom);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_in);
Datum countingbloomfilter_in(PG_FUNCTION_ARGS) {
  return in(fcinfo, Kind::counting);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_recv);
Datum countingbloomfilter_recv(PG_FUNCTION_ARGS) {
  return recv(fcinfo, Kind::counting);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_from_bytea);
Datum countingbloomfilter_from_bytea(PG_FUNCTION_ARGS) {
  return from_bytea(fcinfo, Kind::counting);
}

PG_FUNCTION_INFO_V1(cuckoofilter_in);
Datum cuckoofilter_in(PG_FUNCTION_ARGS) {
  return in(fcinfo, Kind::cuckoo);
}

PG_FUNCTION_INFO_V1(cuckoofilter_recv);
Datum cuckoofilter_recv(PG_FUNCTION_ARGS) {
  return recv(fcinfo, Kind::cuckoo);
}

PG_FUNCTION_INFO_V1(cuckoofilter_from_bytea);
Datum cuckoofilter_from_bytea(PG_FUNCTION_ARGS) {
  return from_bytea(fcinfo, Kind::cuckoo);
}

// Of all kinds.
PG_FUNCTION_INFO_V1(filter_out);
Datum filter_out(PG_FUNCTION_ARGS) {
  const Filter filter = any_filter_arg(fcinfo, 0);
  const Size length = filter.header.payload_bytes();
  auto *string = static_cast<char *>(palloc(encoded_length(length) + 1));
  encode_base64(filter.payload(), length, string, check_for_interrupts);
  string[encoded_length(length)] = '\0';
  PG_RETURN_CSTRING(string);
}

PG_FUNCTION_INFO_V1(filter_send);
Datum filter_send(PG_FUNCTION_ARGS) {
  const Filter filter = any_filter_arg(fcinfo, 0);
  PG_RETURN_BYTEA_P(cstring_to_text_with_len(VARDATA(filter.value),
                                             static_cast<int>(filter.header.payload_bytes())));
}

SQL_FUNCTIONS_END
