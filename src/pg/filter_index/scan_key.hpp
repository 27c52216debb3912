// The type bf_probe: the scan key of a filter index, and the right operand of @>>.
//
// In `filter @> x`, x is declared "any", so an index cannot know its type. The planner turns the
// condition into `filter @>> bloomfilter_probe(x)` (pg/planner/index_condition.cpp). A bf_probe
// carries the value with its type and collation. The value is hashed during the scan, when a group
// or a filter gives the seed. @>> gives the same results and errors as @>. bloomfilter_probe_any()
// and bloomfilter_probe_hash() do the same for bf_contains_any() and bf_contains_hash().
#pragma once

#include "pg/server.hpp"

#include "core/format.hpp"
#include "pg/element/digests.hpp"
#include "pg/query/probe_expr.hpp"

namespace bloomfilter {

// A bf_probe as a scan uses it: for one value, a bare literal, a hash, or any element of an array.
// read_scan_key() sets all fields.
struct ScanKeyValue {
  ProbeTarget target;    // never ProbeTarget::all
  Oid type;              // of the values; InvalidOid for a bare literal
  Oid collation;         // of the values
  ValueType *value_type; // the element type of the values; NULL for a literal or a hash
  Datum *values;         // not NULL, of type `type`; a text for a literal
  int count;             // of the values
};

// Reads a bf_probe, and returns false if another command made it. The result points into the
// bf_probe, which must stay in memory. `context` is for the element type.
bool read_scan_key(Datum datum, MemoryContext context, ScanKeyValue *key);

// True if probing a filter with this header raises no error. Before PostgreSQL 16, this cannot be
// known of every literal; if it is not known, the result is false.
bool can_probe_for(const Header &header, const ScanKeyValue &key);

// The digests under which a filter may have one of the values. Raises the same errors as @>.
Digests digests_of_scan_key(const Header &header, const ScanKeyValue &key, int value);

} // namespace bloomfilter
