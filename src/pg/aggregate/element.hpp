// The check of an element that was stored, or that came from another server.
#ifndef BLOOMFILTER_PG_AGGREGATE_ELEMENT_HPP
#define BLOOMFILTER_PG_AGGREGATE_ELEMENT_HPP

#include "pg/server.hpp"

#include "core/hashed_value.hpp"

namespace bloomfilter {

// XX001 if an element is not one that bf_element_of() or the input functions can have made.
void check_stored_element(const HashedValue &value);

} // namespace bloomfilter

#endif
