// Kinds and layouts by the names that SQL knows them by.
#ifndef BLOOMFILTER_PG_NAMES_HPP
#define BLOOMFILTER_PG_NAMES_HPP

#include "pg/server.hpp"

#include "core/layout.hpp"

namespace bloomfilter {

// How messages call a kind, its type, and its functions before the underscore.
const char *noun_of(Kind kind);
const char *type_of(Kind kind);
const char *prefix_of(Kind kind);

// Is a type one of filters, and of which?
bool is_filter_type(Oid type, Kind *kind);

// Within an ereport() about a filter that is used as a value: what to do with two filters.
int hint_at_filters(Kind kind);

// What bf_info() shows as the layout of a filter with that family; only for a bloomfilter's
// layouts.
const char *layout_name(Layout layout, Family family);

// The scheme of a name, `lines` standing for all of our own; ERROR 22023 if there is none such.
const Scheme &scheme_for(const text *name);

} // namespace bloomfilter

#endif
