// Partial states as values of SQL: the type bf_partial (core/partial.hpp). This header has what a
// Bloom Filter Build needs of it; partial.cpp has the type and its aggregates.
#pragma once

#include "pg/server.hpp"

#include "pg/aggregate/state.hpp"

namespace bloomfilter {

// Returns a state as a flat bf_partial. `no_rows` is true if it has seen no row. The state must not
// change afterwards. ERROR 54000 if the value would exceed 1 GB.
struct varlena *flat_partial(State *state, bool no_rows);

} // namespace bloomfilter
