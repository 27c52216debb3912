// Arguments that must not be NULL, of functions that are not STRICT.
//
// Tests of this room: sql/surface.sql, sql/nulls.sql, sql/hints.sql, sql/guesses.sql, sql/sets.sql,
// test/search/statements.py, test/search/histories.py.
#pragma once

#include "pg/server.hpp"

namespace bloomfilter {

// An argument that must not be NULL, and the hint for the error if it is NULL.
struct Argument {
  const char *name, *hint;
};
constexpr const char *kHasDefault = "Leave the argument out to get its default.";

// Raises 22004 if an argument is NULL. `arguments` describes the function's first arguments.
template <int kCount>
void check_given(FunctionCallInfo fcinfo, const char *function,
                 const Argument (&arguments)[kCount]) {
  for (int i = 0; i < kCount; i++)
    if (PG_ARGISNULL(i))
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                      errmsg("argument \"%s\" of %s must not be null", arguments[i].name, function),
                      errhint("%s", arguments[i].hint)));
}

} // namespace bloomfilter
