// A filter as text, as binary and as bytea. All three carry the payload (see core/format.hpp), and
// everything that comes from outside passes validate().

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

// A copy of a payload from outside as a value, or 22P03.
Datum accept_payload(FunctionCallInfo fcinfo, const char *bytes, Size length) {
  Header header;
  const Finding finding = validate(reinterpret_cast<const uint8 *>(bytes), length, &header);
  if (!finding.ok()) {
    report_malformed(fcinfo->context, ERRCODE_INVALID_BINARY_REPRESENTATION, finding_text(finding));
    PG_RETURN_NULL();
  }
  return PointerGetDatum(cstring_to_text_with_len(bytes, static_cast<int>(length)));
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bloomfilter_in);
Datum bloomfilter_in(PG_FUNCTION_ARGS) {
  const char *string = PG_GETARG_CSTRING(0);
  const Size length = strlen(string);
  if (decoded_length_limit(length) > MaxAllocSize - VARHDRSZ) {
    report_malformed(fcinfo->context, ERRCODE_INVALID_TEXT_REPRESENTATION,
                     "text is too long for the largest bloom filter");
    PG_RETURN_NULL();
  }

  auto *value = static_cast<struct varlena *>(palloc(VARHDRSZ + decoded_length_limit(length)));
  auto *payload = reinterpret_cast<uint8 *>(VARDATA(value));
  Size decoded;
  if (!decode_base64(string, length, payload, &decoded)) {
    report_malformed(fcinfo->context, ERRCODE_INVALID_TEXT_REPRESENTATION, "text is not base64");
    PG_RETURN_NULL();
  }
  Header header;
  const Finding finding = validate(payload, decoded, &header);
  if (!finding.ok()) {
    report_malformed(fcinfo->context, ERRCODE_INVALID_TEXT_REPRESENTATION, finding_text(finding));
    PG_RETURN_NULL();
  }
  SET_VARSIZE(value, VARHDRSZ + decoded);
  PG_RETURN_POINTER(value);
}

PG_FUNCTION_INFO_V1(bloomfilter_out);
Datum bloomfilter_out(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0);
  const Size length = filter.header.payload_bytes();
  auto *string = static_cast<char *>(palloc(encoded_length(length) + 1));
  encode_base64(filter.payload(), length, string);
  string[encoded_length(length)] = '\0';
  PG_RETURN_CSTRING(string);
}

PG_FUNCTION_INFO_V1(bloomfilter_recv);
Datum bloomfilter_recv(PG_FUNCTION_ARGS) {
  auto buffer = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int length = buffer->len - buffer->cursor;
  return accept_payload(fcinfo, pq_getmsgbytes(buffer, length), static_cast<Size>(length));
}

PG_FUNCTION_INFO_V1(bloomfilter_send);
Datum bloomfilter_send(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0);
  PG_RETURN_BYTEA_P(cstring_to_text_with_len(VARDATA(filter.value),
                                             static_cast<int>(filter.header.payload_bytes())));
}

PG_FUNCTION_INFO_V1(bloomfilter_from_bytea);
Datum bloomfilter_from_bytea(PG_FUNCTION_ARGS) {
  const bytea *bytes = PG_GETARG_BYTEA_PP(0);
  return accept_payload(fcinfo, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

SQL_FUNCTIONS_END
