// What an index is asked for: the right side of its operator, of type bf_probe.
//
// `filter @> x` does not tell an index of which type x is, for x is declared "any". So the planner
// turns it into `filter @>> bloomfilter_probe(x)` (pg/planner/index_condition.hpp), whose right
// side carries the value with its type and collation. It is hashed when a group, or a filter, says
// with which seed. The operator gives the same answers and raises the same errors as @>. There are
// functions like bloomfilter_probe() for what bf_contains_any() and bf_contains_hash() take.
#ifndef BLOOMFILTER_PG_INDEX_PROBE_HPP
#define BLOOMFILTER_PG_INDEX_PROBE_HPP

#include "pg/server.hpp"

#include "core/format.hpp"
#include "pg/element/digests.hpp"
#include "pg/planner/question.hpp"

namespace bloomfilter {

// One value, a bare literal, a hash, or any of an array's elements. read_probe() sets all fields.
struct IndexProbe {
  Asked asked; // never for all elements
  Oid type;    // of the values; InvalidOid: a bare literal
  Oid collation;
  Element *element; // of the values; NULL for a literal or a hash
  Datum *values;    // of that type, none of them NULL; a text if it is a literal
  int count;
};

// Reads a probe, which must stay where it is; false if it is of another command. `context` is for
// the element type.
bool read_probe(Datum datum, MemoryContext context, IndexProbe *probe);

// Can filters with that header be asked without an error? It is not known of all literals before
// PostgreSQL 16; then the answer is no.
bool can_ask(const Header &header, const IndexProbe &probe);

// The digests under which a filter may have one of the values. Raises what @> would raise.
Digests digests_of_probe(const Header &header, const IndexProbe &probe, int value);

} // namespace bloomfilter

#endif
