// The options of an index, CREATE INDEX ... WITH (...).
#ifndef BLOOMFILTER_PG_INDEX_OPTIONS_HPP
#define BLOOMFILTER_PG_INDEX_OPTIONS_HPP

#include "pg/server.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace bloomfilter {

// Called when the library is loaded.
void define_index_options();

bytea *index_options(Datum options, bool validate);

// list_limit: how many rows may be added to the list before rows are moved.
int list_limit(Relation index);

} // namespace bloomfilter

#endif
