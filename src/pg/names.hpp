// The names of kinds and layouts in SQL and in messages.
#ifndef BLOOMFILTER_PG_NAMES_HPP
#define BLOOMFILTER_PG_NAMES_HPP

#include "pg/server.hpp"

#include "core/layout.hpp"

namespace bloomfilter {

// A kind's noun in messages ("bloom filter"), its type ("bloomfilter"), and what the names of its
// functions begin with before the underscore ("bf").
const char *noun_of(Kind kind);
const char *type_of(Kind kind);
const char *prefix_of(Kind kind);

// Is a type one of the three filter types? Sets `kind` to which one.
bool is_filter_type(Oid type, Kind *kind);

// Is a type bf_partial?
bool is_partial_type(Oid type);

// For an ereport() about a filter that is used as a value: a hint at what two filters can be used
// for.
int hint_at_filters(Kind kind);

// The name that bf_info() shows for the layout of a filter with that family; only for a
// bloomfilter's layouts.
const char *layout_name(Layout layout, Family family);

// The scheme with that name, where `lines` stands for all of our own layouts. Raises 22023 if there
// is none.
const Scheme &scheme_for(const text *name);

} // namespace bloomfilter

#endif
