// Values as text, as binary and as bytea: all three carry the bytes that doc/format.md describes,
// and everything that comes from outside is checked.
#ifndef BLOOMFILTER_PG_VALUE_PAYLOAD_HPP
#define BLOOMFILTER_PG_VALUE_PAYLOAD_HPP

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

// How the bytes behind a varlena's length word are called, and what tells whether they are sound.
struct PayloadType {
  const char *name;
  const char *noun;
  Finding (*check)(const uint8 *payload, Size length);
};

// The argument of an input function: 22P02 if it is not base64 of a sound payload. NULL, and the
// error is soft, if the call asks for that.
Datum payload_in(FunctionCallInfo fcinfo, const PayloadType &type);

// The same of a receive function: 22P03.
Datum payload_recv(FunctionCallInfo fcinfo, const PayloadType &type);

// The same of a cast from bytea: 22P03.
Datum payload_from_bytea(FunctionCallInfo fcinfo, const PayloadType &type);

// What output functions return: base64, zero-terminated.
char *payload_text(const uint8 *payload, Size length);

} // namespace bloomfilter

#endif
