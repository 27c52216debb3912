// Keys of other tables by which the rows of a table may be dropped.
#ifndef BLOOMFILTER_PG_JOIN_KEYS_HPP
#define BLOOMFILTER_PG_JOIN_KEYS_HPP

#include "pg/server.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// An equality between a table and another one, the source, by which rows of the table that have no
// partner in the source may be dropped.
struct KeyPair {
  struct Estimates; // of its selectivity
  Node *asked;      // an expression of the table
  Node *key;        // one of the source
  RelOptInfo *source;
  Oid equality, collation; // the operator, as `asked` = `key`, and how it compares; none of rows
  bool is_alike;           // do equal values have the same hash also as fields of rows?
  List *parts;             // if the expressions are rows: a KeyPair for each field; otherwise NIL
  Estimates *estimates;    // NULL if they are rows
};

// All such equalities of a table, as a list of KeyPair, the one that has several ones with a source
// together as rows behind those of single values.
List *find_keys(PlannerInfo *root, RelOptInfo *table);

// The share of a table's rows that have a partner among so many rows of the source, from the same
// statistics as the selectivity of the join.
double share_with_partner(PlannerInfo *root, const RelOptInfo *table, const KeyPair &pair,
                          double source_rows);

} // namespace bloomfilter

#endif
