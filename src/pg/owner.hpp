// Calls functions of an index with the rights of the table's owner, as VACUUM and REINDEX do.
//
// Whoever reads rows that others have inserted calls the index's functions for them. With the
// caller's rights, a function of the owner could act as a superuser who calls us. With the caller's
// search_path, a caller who may only insert could put a function of his own in place of one that
// the index's function calls. It would see the rows, and could hide them from the index.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace bloomfilter {

// What the caller had. An error restores it, too.
struct CallerRights {
  Oid user;
  int context;    // the security context
  int nest_level; // of the settings
};

// From now on, functions run as the table's owner, in a security-restricted operation, with a
// search_path that no user can write to.
CallerRights act_as_owner(Relation table);
void act_as_caller(const CallerRights &rights);

} // namespace bloomfilter
