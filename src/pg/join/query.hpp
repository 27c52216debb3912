// The queries that build join filters. This file makes them, and recognises those that a user has
// written into the query as subqueries.
#pragma once

#include "pg/server.hpp"

#include "pg/join/source.hpp"

namespace bloomfilter {

// The extension's objects that a filter needs, in whichever schema the extension is installed.
struct OwnNames {
  Oid type;      // bloomfilter
  Oid aggregate; // bf_join_agg("any")
  Oid operation; // bloomfilter @> "any"
};

// Finds the extension's objects. False if the extension is not installed as this library made it,
// or if the user may not call its functions.
bool find_names(OwnNames *names);

// Makes the condition that a filter contains a value.
Expr *ask_for(const OwnNames &names, Node *filter, Node *value, Oid collation);

// Makes the query that builds a filter of the source's keys.
Query *query_for(PlannerInfo *root, const OwnNames &names, const Source *source, Node *key,
                 Oid collation);

// The table's conditions that probe a filter which a subquery builds, for find_written(). If there
// are very many, only the first ones.
List *find_asked(PlannerInfo *root, const RelOptInfo *table);

// Returns the condition in `asked` that probes a filter of the same keys, built under the same
// conditions on the source. NULL if there is none.
RestrictInfo *find_written(PlannerInfo *root, const List *asked, const KeyPair &pair);

} // namespace bloomfilter
