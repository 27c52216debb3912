// The names of kinds and layouts in SQL and in messages, and the recognition of our types by name.
#pragma once

#include "pg/server.hpp"

#include "core/layout.hpp"

namespace bloomfilter {

// A kind's noun in messages ("bloom filter"), the name of its type ("bloomfilter"), and the prefix
// of its functions without the underscore ("bf").
const char *noun_of(Kind kind);
const char *type_of(Kind kind);
const char *prefix_of(Kind kind);

// True if a type is one of the three filter types. Sets `kind`.
bool is_filter_type(Oid type, Kind *kind);

// The OID of our index access method with this name. The database has no other one of the name.
Oid access_method_of(const char *name);

// True if a type is bf_partial.
bool is_partial_type(Oid type);

// Part of an ereport() about a filter that is used as a value: a hint that names the functions for
// two filters.
int hint_at_filters(Kind kind);

// The name that bf_info() shows for a layout. Some layouts have several names, and the family
// decides. Only for layouts of a bloomfilter.
const char *layout_name(Layout layout, Family family);

// The scheme with the given name; `lines` stands for all of our own layouts. Raises 22023 if there
// is no such scheme. `has_type` is true if the name may have been meant for an argument `type`.
const Scheme &scheme_for(const text *name, bool has_type);

} // namespace bloomfilter
