// Values as text, as binary and as bytea: all three carry the bytes that doc/format.md describes,
// and everything that comes from outside is checked.
#ifndef BLOOMFILTER_PG_VALUE_PAYLOAD_HPP
#define BLOOMFILTER_PG_VALUE_PAYLOAD_HPP

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

// A type whose values are a payload behind a length word.
struct PayloadType {
  const char *name; // in SQL
  const char *noun; // in messages
  Finding (*check)(const uint8 *payload, Size length);
  const char *prefix; // of the functions that make and ask a filter; NULL if the type is no filter
};

// What an input function returns for its argument. ERROR 22P02 if that is not base64 of a sound
// payload; if the call asks for soft errors, the error is soft and the result is NULL. A hint says
// how to use a filter if the text looks like a value that was given in place of one.
Datum payload_in(FunctionCallInfo fcinfo, const PayloadType &type);

// The same for a receive function, and for a cast from bytea. Their error is 22P03.
Datum payload_recv(FunctionCallInfo fcinfo, const PayloadType &type);
Datum payload_from_bytea(FunctionCallInfo fcinfo, const PayloadType &type);

// What an output function returns: base64, zero-terminated.
char *payload_text(const uint8 *payload, Size length);

} // namespace bloomfilter

#endif
