// Describes what a join filter is built from: a table, its own conditions, and its neighbours. A
// neighbour is another table that the source is joined with and that leaves few of the source's
// rows.
#ifndef BLOOMFILTER_PG_JOIN_SOURCE_HPP
#define BLOOMFILTER_PG_JOIN_SOURCE_HPP

#include "pg/server.hpp"

#include "pg/join/keys.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// A table whose keys a filter holds. Only rows that fulfil the table's own conditions count. If the
// table has neighbours, a row must also have a partner in each of them, as far as filters tell.
struct Source {
  RelOptInfo *table;
  List *neighbours; // of Neighbour
  double tuples;    // the number of rows of the table
  double rows;      // the number of rows whose keys go into the filter
};

struct Neighbour {
  KeyPair pair; // the table's expression and the neighbour's key
  Source *source;
};

// The result of find_keys() for a table, if it was called already.
struct TableKeys {
  bool known;
  List *pairs;
};

// Bounds the time spent on finding filters. Joins of many tables have very many equalities, and few
// of them matter.
struct Search {
  int looks;       // how many more equalities may be looked at for the current table
  TableKeys *keys; // an entry for each table, indexed by its number
};

// The extension's objects that a filter needs, in whichever schema the extension is installed.
struct OwnNames {
  Oid type;      // bloomfilter
  Oid aggregate; // bf_join_agg("any")
  Oid operation; // bloomfilter @> "any"
};

// The keys of other tables by which the rows of a table may be dropped, as a list of KeyPair.
const List *keys_of(PlannerInfo *root, RelOptInfo *table, Search *search);

// The number of rows of a table, including its partitions or children.
double tuples_of(PlannerInfo *root, const RelOptInfo *table);

// True if a table may take part in join filters, as the table whose rows are dropped or as a
// source. False if another query, a policy or a sample decides which rows it has.
bool takes_part(PlannerInfo *root, RelOptInfo *table);

// Makes the source of a pair's keys. `taken` has the table that the filter is for. NULL if the
// source's table or its conditions do not allow a filter.
Source *find_source(PlannerInfo *root, const KeyPair &pair, Relids taken, Search *search);

// Finds the extension's objects. False if the extension is not installed as this library made it,
// or if the user may not call its functions.
bool find_names(OwnNames *names);

// Makes the condition that a filter contains a value.
Expr *ask_for(const OwnNames &names, Node *filter, Node *value, Oid collation);

// The table's conditions that probe a filter which a subquery builds, for find_written(). If there
// are very many, only the first ones.
List *find_asked(PlannerInfo *root, const RelOptInfo *table);

// Returns the condition in `asked` that probes a filter of the same keys, built under the same
// conditions on the source. NULL if there is none.
RestrictInfo *find_written(PlannerInfo *root, const List *asked, const KeyPair &pair);

// Makes the query that builds a filter of the source's keys.
Query *query_for(PlannerInfo *root, const OwnNames &names, const Source *source, Node *key,
                 Oid collation);

} // namespace bloomfilter

#endif
