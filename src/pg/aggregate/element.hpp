// The type bf_element: a value as a filter sees it, that is its element type and its hashes. This
// header has the check for a bf_element that was stored, or that came from another server.
#ifndef BLOOMFILTER_PG_AGGREGATE_ELEMENT_HPP
#define BLOOMFILTER_PG_AGGREGATE_ELEMENT_HPP

#include "pg/server.hpp"

#include "core/hashed_value.hpp"

namespace bloomfilter {

// Raises ERROR XX001 if neither bf_element_of() nor an input function can have made this element.
void check_stored_element(const HashedValue &value);

} // namespace bloomfilter

#endif
