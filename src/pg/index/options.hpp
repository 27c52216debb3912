// The storage parameters of an index, as in CREATE INDEX ... WITH (list_limit = 1000). There is
// only one, list_limit.
#ifndef BLOOMFILTER_PG_INDEX_OPTIONS_HPP
#define BLOOMFILTER_PG_INDEX_OPTIONS_HPP

#include "pg/server.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace bloomfilter {

// Registers the options. Called once, when the library is loaded.
void define_index_options();

// The callback amoptions: parses the options of an index.
bytea *index_options(Datum options, bool validate);

// The number of rows that may be added to the list before an INSERT moves rows into groups.
int list_limit(Relation index);

} // namespace bloomfilter

#endif
