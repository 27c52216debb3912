// Which of a table's conditions can probe a filter for many rows at once.
#ifndef BLOOMFILTER_PG_TABLE_CONDITIONS_HPP
#define BLOOMFILTER_PG_TABLE_CONDITIONS_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

namespace bloomfilter {

// A table's conditions, as batches evaluate them: lists of RestrictInfo.
struct Conditions {
  List *before;  // of a lower security level than the probes, which must not see what they reject
  List *probes;  // for many rows at once; empty if the table cannot be read by batches
  List *others;  // of each row that is left
  bool can_fail; // can a probe raise an error? Then it is the only condition.
};

Conditions conditions_of(List *restrictions);

// Does an expression have columns of a table, and no system column or whole row?
bool is_of_columns(Node *node);

} // namespace bloomfilter

#endif
