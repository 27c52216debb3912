// Kinds and layouts by the names that SQL knows them by.
#ifndef BLOOMFILTER_PG_LAYOUT_HPP
#define BLOOMFILTER_PG_LAYOUT_HPP

#include "pg/server.hpp"

#include "core/geometry.hpp"

namespace bloomfilter {

// How messages call a kind, its type, and its functions before the underscore.
const char *noun_of(Kind kind);
const char *type_of(Kind kind);
const char *prefix_of(Kind kind);

// As bf_info() shows it and bf_create() takes it. Of a bloomfilter's layouts.
const char *layout_name(Layout layout);

// The layout of a name, `lines` standing for all of our own; ERROR 22023 if there is none such, or
// if filters of it can only be read.
Layout layout_for(const text *name);

} // namespace bloomfilter

#endif
