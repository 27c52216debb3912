// See payload.hpp. The input function decodes the text into the memory of the new value and checks
// the bytes there, so a large filter is not copied a second time.

#include "pg/value/payload.hpp"

#include "core/text.hpp"
#include "pg/errors.hpp"
#include "pg/list.hpp"
#include "pg/value/bitmaps.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// Makes a value from a payload that a client or a bytea holds, and copies the payload. ERROR 22P03
// if the payload is damaged.
Datum accept_binary(FunctionCallInfo fcinfo, const PayloadType &type, const uint8 *payload,
                    Size length) {
  const Finding finding = type.check(payload, length);
  if (!finding.ok()) {
    report_malformed(fcinfo->context, type.name, ERRCODE_INVALID_BINARY_REPRESENTATION,
                     finding_text(finding), nullptr);
    PG_RETURN_NULL();
  }
  return PointerGetDatum(make_value(payload, length));
}

// True if the text is what SQL shows of a bytea.
bool is_bytea_text(const char *string) {
  return strncmp(string, "\\x", 2) == 0;
}

char *hint_at_use(const PayloadType &type, const char *string) {
  if (type.prefix && is_bytea_text(string))
    return psprintf("The text of a bytea needs a cast: '\\x...'::bytea::%s.", type.name);
  return type.prefix
             ? psprintf("To make a filter of a value, write %s_create(expected) + value. To "
                        "probe a filter for it, write %s_contains(filter, value) or filter "
                        "@> value.",
                        type.prefix, type.prefix)
             : nullptr;
}

} // namespace

Datum payload_in(FunctionCallInfo fcinfo, const PayloadType &type) {
  const char *string = PG_GETARG_CSTRING(0);
  const Size length = strlen(string);
  const auto report = [&](const char *detail, const char *hint) {
    report_malformed(fcinfo->context, type.name, ERRCODE_INVALID_TEXT_REPRESENTATION, detail, hint);
    PG_RETURN_NULL();
  };
  if (decoded_length_limit(length) > MaxAllocSize - VARHDRSZ)
    return report(psprintf("text is too long for the largest %s", type.noun), nullptr);

  struct varlena *value = new_value(decoded_length_limit(length));
  auto *payload = reinterpret_cast<uint8 *>(VARDATA(value));
  Size decoded;
  if (!decode_base64(string, length, payload, &decoded, check_for_interrupts))
    return report("text is not base64", hint_at_use(type, string));
  const Finding finding = type.check(payload, decoded);
  if (!finding.ok()) {
    // The user may have written an ordinary value where a filter is expected. Some words are valid
    // base64, such as words of four letters. Their bytes are too few for a header, or begin with
    // another byte than the version. In these two cases the error has the hint.
    const bool no_filter =
        finding.text == Fault::truncated || finding.text == Fault::unknown_version;
    return report(finding_text(finding), no_filter ? hint_at_use(type, string) : nullptr);
  }
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

Datum payload_from_bytea(FunctionCallInfo fcinfo, const PayloadType &type) {
  const bytea *bytes = PG_GETARG_BYTEA_PP(0);
  return accept_binary(fcinfo, type, reinterpret_cast<const uint8 *>(VARDATA_ANY(bytes)),
                       VARSIZE_ANY_EXHDR(bytes));
}

char *payload_text(const uint8 *payload, Size length) {
  const Size chars = encoded_length(length);
  auto *string = make_array<char>(chars + 1);
  encode_base64(payload, length, string, check_for_interrupts);
  string[chars] = '\0';
  return string;
}

} // namespace bloomfilter
