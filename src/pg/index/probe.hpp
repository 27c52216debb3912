// What an index is asked for: the right side of its operator, of type bf_probe.
//
// `filter @> x` does not tell an index of which type x is, for x is declared "any". So the planner
// turns it into `filter @>> bloomfilter_probe(x)` (pg/planner/index_condition.hpp), whose right
// side carries the value with its type and collation. It is hashed when a group, or a filter, says
// with which seed. The operator gives the same answers and raises the same errors as @>.
#ifndef BLOOMFILTER_PG_INDEX_PROBE_HPP
#define BLOOMFILTER_PG_INDEX_PROBE_HPP

#include "pg/server.hpp"

#include "core/format.hpp"
#include "pg/element/digests.hpp"

namespace bloomfilter {

// A value, or a bare literal. read_probe() sets all fields.
struct Probe {
  Oid type; // InvalidOid: a bare literal
  Oid collation;
  Datum value;      // of that type; a text if it is a literal
  Element *element; // NULL for a literal
};

// Reads a probe, which must stay where it is. `context` is for the element type.
Probe read_probe(Datum datum, MemoryContext context);

// Can filters with that header be asked without an error? Those of the types' own functions that
// read literals are not foreseen before PostgreSQL 16.
bool can_ask(const Header &header, const Probe &probe);

// The digests under which a filter may have the value. Raises what @> would raise.
Digests digests_of_probe(const Header &header, const Probe &probe);

} // namespace bloomfilter

#endif
