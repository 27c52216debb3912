// Describes what a join filter is built from: a table, its own conditions, and its neighbours. A
// neighbour is another table that the source is joined with and that leaves few of the source's
// rows.
#pragma once

#include "pg/server.hpp"

#include "pg/join/keys.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace bloomfilter {

// A table whose keys a filter holds. Only rows that fulfil the table's own conditions count. If the
// table has neighbours, a row must also have a partner in each of them, as far as filters tell.
struct KeySource {
  RelOptInfo *table;
  List *neighbours; // of Neighbour
  double tuples;    // the number of rows of the table
  double rows;      // the number of rows whose keys go into the filter
};

struct Neighbour {
  KeyPair pair; // the table's expression and the neighbour's key
  KeySource *source;
};

// What has been found out about a table in this run of the planner, because many equalities name
// the same table.
struct TableNotes {
  bool has_keys;
  List *keys; // the result of find_keys(), if `has_keys`
  bool is_judged;
  bool may_be_source; // whatever the key, if `is_judged`
};

// Bounds the time spent on finding filters. Joins of many tables have very many equalities, and few
// of them matter.
struct KeySearch {
  int looks;          // how many more equalities may be looked at for the current table
  TableNotes *tables; // an entry for each table, indexed by its number
};

// The keys of other tables by which the rows of a table may be dropped, as a list of KeyPair.
const List *keys_of(PlannerInfo *root, RelOptInfo *table, KeySearch *search);

// The number of rows of a table, including its partitions or children. For a UNION ALL, of those of
// its branches that are tables.
double tuples_of(PlannerInfo *root, const RelOptInfo *table);

// True if a table of the query, or of a UNION ALL in FROM, has the rows that its own conditions
// leave. False if another query, a policy or a sample decides which rows it has. Only the rows of a
// plain table are dropped, and only a plain table is a source.
bool is_plain_table(PlannerInfo *root, RelOptInfo *table);

// The table's own conditions, which its filter is built under, in the order in which the server
// evaluates them: an earlier one may keep a later one from failing.
List *conditions_of_source(PlannerInfo *root, const RelOptInfo *table);

// Makes the source of a pair's keys. `taken` has the table that the filter is for. NULL if the
// source's table or its conditions do not allow a filter.
KeySource *find_source(PlannerInfo *root, const KeyPair &pair, Relids taken, KeySearch *search);

} // namespace bloomfilter
