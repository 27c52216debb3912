// An index that a function is called for, opened together with its table.
//
// Only their owner may call such functions. Expressions of the index are evaluated as the table's
// owner, who could otherwise have a superuser call any function.
#ifndef BLOOMFILTER_PG_INDEX_OPENED_HPP
#define BLOOMFILTER_PG_INDEX_OPENED_HPP

#include "pg/server.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace bloomfilter {

struct OpenIndex {
  Relation table, index;
  Oid user;       // who called
  int context;    // in which security context
  int nest_level; // of settings
};

// 42809 unless it is an index of this access method; 42501 unless the user owns it; 0A000 if it is
// another session's temporary one; 55000 unless it is valid: if it is being built CONCURRENTLY, its
// pages are not all there.
OpenIndex open_index(Oid oid, LOCKMODE mode);
void close_index(const OpenIndex &open, LOCKMODE mode);

// 55000 on a standby.
void check_not_in_recovery();

} // namespace bloomfilter

#endif
