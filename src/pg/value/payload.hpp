// Input and output of values as text, as binary and as bytea. All three forms carry the bytes that
// doc/format.md describes. Everything that comes from outside is checked as a whole.
#pragma once

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

// A type whose values are a length word and a payload.
struct PayloadType {
  const char *name; // in SQL
  const char *noun; // in messages
  Finding (*check)(const uint8 *payload, Size length);
  const char *prefix; // of the functions that make and probe filters; NULL for other types
};

// The result of an input function for its argument. ERROR 22P02 if the argument is not base64 of a
// sound payload. If the call asks for soft errors, the error is soft and the result is NULL. If the
// text looks like a value that was given instead of a filter, a hint says how to use a filter.
Datum payload_in(FunctionCallInfo fcinfo, const PayloadType &type);

// The same for a receive function, and for a cast from bytea. Their errors have the code 22P03.
Datum payload_recv(FunctionCallInfo fcinfo, const PayloadType &type);
Datum payload_from_bytea(FunctionCallInfo fcinfo, const PayloadType &type);

// The result of an output function: base64, zero-terminated.
char *payload_text(const uint8 *payload, Size length);

} // namespace bloomfilter
