// Finds the keys of other tables by which the rows of a table may be dropped, and estimates how
// many rows remain. keys.cpp explains when this leaves the result of the query unchanged.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// An equality between a table and another table, the source. Rows of the table that have no partner
// in the source may be dropped.
struct KeyPair {
  struct Estimates; // of the equality's selectivity
  Node *probed;     // an expression of the table; the filter is probed for its value
  Node *key;        // an expression of the source; the filter holds its values
  RelOptInfo *source;
  Oid equality, collation; // of `probed` = `key`: the operator and its collation; not set for rows
  bool is_alike;           // true if equal values have the same hash as fields of rows, too
  List *fields;            // for rows: a KeyPair for each field; otherwise NIL
  Estimates *estimates;    // NULL for rows
};

// The relation that the joins of the query compare: a table, or the UNION ALL that has the table as
// a branch.
RelOptInfo *joined_relation(const PlannerInfo *root, RelOptInfo *table);

// All such equalities of a table, as a list of KeyPair. Equalities of single values come first.
// Then each source with several equalities has one KeyPair that compares them together as rows.
List *find_keys(PlannerInfo *root, RelOptInfo *table);

// The share of a table's rows that have a partner among `source_rows` rows of the source. It comes
// from the same statistics as the selectivity of the join.
double share_with_partner(PlannerInfo *root, const RelOptInfo *table, const KeyPair &pair,
                          double source_rows);

} // namespace bloomfilter
