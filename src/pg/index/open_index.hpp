// Opens an index, together with its table, for a function that takes the index as its argument.
//
// Only the owner may call these functions. They evaluate the index's expressions as the table's
// owner, in a security-restricted operation. Otherwise, if a superuser called such a function, any
// function that the owner has put into an expression would run as the superuser.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace bloomfilter {

struct OpenIndex {
  Relation table, index;
  Oid user;       // the caller, restored by close_index()
  int context;    // the caller's security context
  int nest_level; // of the settings that close_index() restores
};

// Raises 42809 if `oid` is no index of this access method, 42501 if the user does not own it, and
// 0A000 if it is another session's temporary index. Raises 55000 if the index is not valid: while
// it is built CONCURRENTLY, some of its pages are missing.
OpenIndex open_index(Oid oid, LOCKMODE mode);
void close_index(const OpenIndex &open, LOCKMODE mode);

// Raises 55000 on a standby.
void check_not_in_recovery();

} // namespace bloomfilter
