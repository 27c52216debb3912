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

// What statistics tell about the values of an expression.
struct ValueStatistics {
  double distinct; // the number of distinct values
  bool is_guess;   // true if that number is a guess, because nothing is known
  double nulls;    // the share of rows whose value is NULL
  bool is_unique;  // true if no two rows have the same value
};
ValueStatistics statistics_of(PlannerInfo *root, Node *value);

// The share of a table's rows that have a partner. Statistics of single columns do not tell which
// keys of the source occur in the table, so the share lies between two bounds.
struct PartnerShare {
  double least; // if all keys of the source occur in the table as often as the average key
  double most;  // if the selected keys of the source occur, and other keys need not
};

// What is assumed if one number is needed: the geometric mean. It is wrong by the same factor,
// whichever bound is true.
double likely_share(const PartnerShare &share);

// The share of a table's rows that have a partner among `source_rows` rows of the source. It comes
// from the same statistics as the selectivity of the join.
PartnerShare share_with_partner(PlannerInfo *root, const RelOptInfo *table, const KeyPair &pair,
                                double source_rows);

// Makes the server estimate the inner join of a pair by the likely share of rows with a partner.
// The server itself takes the least share. If this is far too small, the server chooses plans for
// very few rows above the join. Returns the factor by which the estimate was changed.
double correct_join_estimate(PlannerInfo *root, RelOptInfo *table, const KeyPair &pair);

} // namespace bloomfilter
