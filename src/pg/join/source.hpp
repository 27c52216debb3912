// What a join filter is built from.
#ifndef BLOOMFILTER_PG_JOIN_SOURCE_HPP
#define BLOOMFILTER_PG_JOIN_SOURCE_HPP

#include "pg/server.hpp"

#include "pg/join/keys.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// A table whose keys a filter holds: of the rows that fulfil its own conditions and, if it has
// neighbours, that have a partner in each of them, as far as filters tell.
struct Source {
  RelOptInfo *table;
  List *neighbours; // of Neighbour
  double tuples;    // of the table
  double rows;      // whose keys go into the filter
};

struct Neighbour {
  KeyPair pair; // of the table and the neighbour's
  Source *source;
};

// What find_keys() found for a table, once it was called.
struct TableKeys {
  bool known;
  List *pairs;
};

// What bounds the time that looking for filters takes in joins of many tables, which have very many
// equalities, of which few matter.
struct Search {
  int looks;       // how many equalities may still be looked at for one table
  TableKeys *keys; // of each table, by its number
};

// The names of this extension's that a filter needs, wherever it is installed.
struct OwnNames {
  Oid type;      // bloomfilter
  Oid aggregate; // bf_join_agg("any")
  Oid operation; // bloomfilter @> "any"
};

// The keys of other tables by which the rows of a table may be dropped, as a list of KeyPair.
const List *keys_of(PlannerInfo *root, RelOptInfo *table, Search *search);

// How many rows a table has, with its partitions or children.
double tuples_of(PlannerInfo *root, const RelOptInfo *table);

// May a table take part in join filters, as the one whose rows are dropped, or as a source? It may
// not if another query, a policy or a sample decides which rows it has.
bool takes_part(PlannerInfo *root, RelOptInfo *table);

// The source that keys of a table make, for a table that is among `taken`. NULL if the table or its
// conditions do not allow it.
Source *find_source(PlannerInfo *root, const KeyPair &pair, Relids taken, Search *search);

// Finds the names. False if the extension is not installed as it was made, or if the user may not
// call its functions.
bool find_names(OwnNames *names);

// The condition that a filter has a value.
Expr *ask_for(const OwnNames &names, Node *filter, Node *value, Oid collation);

// The conditions of a table that ask a filter which any subquery builds, for find_written(). Of
// very many, the first ones.
List *find_asked(PlannerInfo *root, const RelOptInfo *table);

// The one of these conditions that asks a filter of the same keys, built under the same conditions
// on the source; NULL if there is none.
RestrictInfo *find_written(PlannerInfo *root, const List *asked, const KeyPair &pair);

// The query that builds a filter.
Query *query_for(PlannerInfo *root, const OwnNames &names, const Source *source, Node *key,
                 Oid collation);

} // namespace bloomfilter

#endif
