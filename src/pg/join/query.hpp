// The queries that build join filters. This file makes them, and recognises those that a user has
// written into the query as subqueries.
#pragma once

#include "pg/server.hpp"

#include "pg/join/source.hpp"

namespace bloomfilter {

// The extension's objects that a filter needs, in whichever schema the extension is installed.
struct ExtensionOids {
  Oid type;      // bloomfilter
  Oid aggregate; // bf_join_agg("any")
  Oid operation; // bloomfilter @> "any"
};

// Finds the extension's objects. False if the extension is not installed as this library made it,
// or if the user may not call its functions.
bool find_extension_oids(ExtensionOids *oids);

// Makes the condition that a filter contains a value.
Expr *make_probe(const ExtensionOids &oids, Node *filter, Node *value, Oid collation);

// Makes the query that builds a filter of the source's keys.
Query *query_for(PlannerInfo *root, const ExtensionOids &oids, const KeySource *source, Node *key,
                 Oid collation);

// The table's conditions that probe a filter which a subquery builds, for find_same_probe(). If
// there are very many, only the first ones.
List *find_subquery_probes(PlannerInfo *root, const RelOptInfo *table);

// Returns the condition in `subquery_probes` that probes a filter of the same keys, built under the
// same conditions on the source. NULL if there is none.
RestrictInfo *find_same_probe(PlannerInfo *root, const List *subquery_probes, const KeyPair &pair);

} // namespace bloomfilter
